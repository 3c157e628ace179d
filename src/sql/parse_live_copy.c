/* SPDX-License-Identifier: Apache-2.0 */
/* parse_live_copy.c - COPY [INTO] t FROM 's3://…' (FORMAT …, AWS CONNECTION = c, …): objects of a bucket, by somebody's connection.  Any other text in that place is no place. */
#include "sql/parse_live_int.h"

static LiveOptionName OPTIONS[] = { "AWS CONNECTION", "DELIMITER", "ESCAPE", "FILES", "FORMAT", "HEADER", "NULL", "PATTERN", "QUOTE", NULL };

bool lp_copy_files(Parser *p, Stmt *s)
{
    if (p->dialect != DIALECT_POSTGRES || !p_is_kind(p, TK_STRING) || !str_starts(p_peek(p, 0)->text, S("s3://")))
        return false;
    s->location = p_string(p);
    s->live = arena_new(p->a, LiveStmt);
    s->live->kind = LK_TABLE;
    p_take(p, K_WITH);
    lp_options(p, OPTIONS, &s->live->options);
    return true;
}

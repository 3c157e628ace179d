/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_sql.c - any bytes as statements. The first byte chooses the dialect ('p': postgres, 't': trino), the rest is the text.
 *
 * A query is bound without tables and printed: no failure of ours may come of it.
 * A failure must carry a message and a position inside the text; what parses must survive a walk, a copy with as many
 * expressions, and the rules on definitions; each statement's range must lie in the text, in order.  The normalised text of
 * a statement of the live side parses again, to the same text. */
#include "sql/live_stmt.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count(void *ctx, Expr *e)
{
    (void)e;
    ++*(size_t *)ctx;
    return 1;
}

static void check_query(Arena *a, Query *q)
{
    size_t n = 0, m = 0;
    TableRefs tables = {0};
    Error err;

    sql_walk_query(q, count, &n);
    sql_walk_query(sql_copy_query(a, q), count, &m);
    sql_tables(a, q, &tables);
    if (n != m || (sql_check_definition(a, q, &err) != OK && err.position < 1))
        abort();
}

/* Bound without tables: names fail, the rest is typed and printed. */
static void check_binding(Arena *a, Dialect d, Str text)
{
    Binder b = { .dialect = d, .text = text, .now_has = 1, .now_us = 1700000000000000, .current_user = S("u"), .current_catalog = S("c"), .current_namespace = S("n") };
    Printer none = {0};
    Query *q;
    Str out;
    Error err;

    if (sql_parse_query(a, d, text, &q, &err) != OK)
        return;
    if (sql_bind_query(a, &b, q, &err) != OK) {
        if (!err.message[0] || err.code == E_INTERNAL)
            abort();
        return;
    }
    if (sql_print_query(a, &none, q, &out, &err) != OK && err.code == E_INTERNAL)
        abort();
}

static void check_types(Arena *a, const Stmt *s)
{
    for (size_t i = 0; i < s->columns.n; i++) {
        Str name = sql_type_name(a, DIALECT_SPARK, &s->columns.p[i].type);
        DataType t;
        Error err;
        if (s->columns.p[i].type.kind && s->columns.p[i].type.kind != DT_OTHER && !str_starts(name, S("unknown")) &&
            s->kind == ST_CREATE_TABLE && str_find(name, S("decimal(0,")) < 0 &&
            sql_parse_type(a, DIALECT_SPARK, name, &t, &err) != OK && err.code != E_LIMIT)
            abort();
    }
}

static void check_live(Arena *a, const Stmt *s)
{
    StmtVec v = {0};
    Error err;
    Str text = s->live ? sql_live_text(a, s, LIVE_TEXT_WHOLE) : S("");

    if (!text.n || text.n > LIMIT_SQL_BYTES)
        return;
    if (sql_parse(a, DIALECT_POSTGRES, text, &v, &err) != OK) {
        if (err.code != E_LIMIT)
            abort();
        return;
    }
    if (v.n != 1 || !str_eq(sql_live_text(a, v.p[0], LIVE_TEXT_WHOLE), text))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StmtVec v = {0};
    Error err;

    if (!size)
        return 0;
    Dialect d = data[0] == 'p' ? DIALECT_POSTGRES : data[0] == 't' ? DIALECT_TRINO : DIALECT_SPARK;
    Str text = str_n((const char *)data + 1, size - 1);
    if (sql_parse(a, d, text, &v, &err) != OK) {
        if (!err.message[0] || err.position < 0 || (size_t)err.position > text.n + 1)
            abort();
        return 0;
    }
    check_binding(a, d, text);
    int last = 0;
    for vec_each(Stmt *, s, &v) {
        if ((*s)->start < last || (*s)->end < (*s)->start || (size_t)(*s)->end > text.n)
            abort();
        last = (*s)->end;
        check_types(a, *s);
        check_live(a, *s);
        if ((*s)->query)
            check_query(a, (*s)->query);
    }
    return 0;
}

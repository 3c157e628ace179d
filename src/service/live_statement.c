/* SPDX-License-Identifier: Apache-2.0 */
/* live_statement.c - which statements are the live side's: asked once, before the lake's own way with them. */
#include "service/live_sql.h"

static Status create_table(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err) { return live_create_table(r, ret, err); }
static Status create_view(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err) { return live_create_view(r, ret, err); }
static Status create_mv(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err) { return live_create_mv(r, ret, err); }
static Status drop_table(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err) { return live_drop_object(r, OBJ_TABLE, ret, err); }
static Status drop_view(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err) { return live_drop_object(r, OBJ_VIEW, ret, err); }
static Status drop_mv(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err) { return live_drop_object(r, OBJ_MVIEW, ret, err); }

Status live_statement(Run *r, Rows *rows, LiveDone *ret, Error *err)
{
    static const struct { StmtKind kind; const char *tag; Status (*run)(Run *r, Rows *rows, LiveDone *ret, Error *err); } table[] = {
        { ST_CREATE_TABLE, "CREATE TABLE", create_table }, { ST_CREATE_VIEW, "CREATE VIEW", create_view }, { ST_CREATE_MV, "CREATE MATERIALIZED VIEW", create_mv },
        { ST_DROP_TABLE, "DROP TABLE", drop_table }, { ST_DROP_VIEW, "DROP VIEW", drop_view }, { ST_DROP_MV, "DROP MATERIALIZED VIEW", drop_mv }, { ST_SHOW, "SHOW", live_show },
    };

    ret->done = 0;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (r->st->kind == table[i].kind) {
            TRY(table[i].run(r, rows, ret, err));
            if (ret->done)
                rows_command(rows, table[i].tag);
            return OK;
        }
    return OK;
}

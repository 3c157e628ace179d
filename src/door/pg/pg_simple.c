/* SPDX-License-Identifier: Apache-2.0 */
/* pg_simple.c - the simple query: a text of statements, each run and sent, up to the first error. */
#include "door/pg/pg_int.h"

#include <stdio.h>

static Status run_cursor(PgConn *c, Arena *a, PgCursor *cur, Error *err)
{
    int64_t rows = 0;
    int more;

    if (cur->forget_all || cur->forget.n)
        TRY(pg_forget(c, cur, err));
    if (cur->copy_in) {
        TRY(pg_run_copy_in(c, cur, &rows, err));
    } else if (cur->copy_out) {
        TRY(pg_run_copy_out(c, cur, &rows, err));
    } else if (cur->columns.n) {
        pg_send_columns(c, &cur->columns, NULL, 0);
        TRY(pg_run_rows(c, cur, 0, NULL, 0, &rows, &more, err));
    }
    pg_send_notices(c);
    pg_send_tag(c, cur, a, rows);
    return OK;
}

static Status run_statement(PgConn *c, void *batch, size_t i, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PgCursor cur = { 0 };

    TRY(pg_check_cancel(c, err));
    Status s = c->door->hooks.run(c->session, a, batch, i, &cur, err);
    if (s == OK)
        s = run_cursor(c, a, &cur, err);
    pg_cursor_close(&cur);
    return s;
}

static Status run_text(PgConn *c, Arena *a, Str text, Error *err)
{
    size_t n = 0;
    void *batch = NULL;

    if (!str_is_utf8(text)) {
        RAISE(err, E_INVALID, "invalid byte sequence for encoding \"UTF8\" in the query");
        snprintf(err->sqlstate, sizeof err->sqlstate, "22021");
        return E_INVALID;
    }
    TRY(c->door->hooks.split(c->session, a, text, &n, &batch, err));
    for (size_t i = 0; i < n; i++)
        TRY(run_statement(c, batch, i, err));
    if (!n)
        pg_send_simple(c, 'I');
    return OK;
}

void pg_simple_query(PgConn *c, Str body)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;

    c->text = str_dup(a, body);
    if (run_text(c, a, c->text, &err) != OK) {
        pg_send_notices(c);
        pg_send_error(c, "ERROR", &err);
    }
    if (c->door->hooks.sync)
        c->door->hooks.sync(c->session);
    c->text = (Str){ 0 };
}

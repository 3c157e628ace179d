/* SPDX-License-Identifier: Apache-2.0 */
/* pg_extended.c - the extended protocol: Parse, Describe, Execute, Close (PostgreSQL 15, 55.2.3).
 *
 * Invariant: portals end with the transaction and with an error. */
#include "door/pg/pg_int.h"

#include <stdio.h>

/* ---- Parse ---------------------------------------------------------------------------------------------------------------- */

static bool is_blank(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr(" \t\n\r\f\v;", s.p[i]))
            return false;
    return true;
}

static Status read_oids(PgIn *in, PgStatement *s, Error *err)
{
    int16_t n = pg_in_i16(in);

    if (in->bad || (size_t)(uint16_t)n * 4 != pg_in_left(in))
        return pg_violation("Parse", err);
    for (int i = 0; i < (uint16_t)n; i++)
        vec_push(s->arena, &s->oids, pg_in_i32(in));
    return OK;
}

static Status check_name(PgConn *c, Str name, Error *err)
{
    if (name.n && pg_statement_of(c, name)) {
        RAISE(err, E_EXISTS, "prepared statement \"" STR_FMT "\" already exists", STR_ARG(str_sub(name, 0, 100)));
        return pg_fail_state(err, E_EXISTS, "42P05");
    }
    if (c->nstatements >= PG_STATEMENTS)
        return FAIL(err, E_LIMIT, "more than %d prepared statements in one connection", PG_STATEMENTS);
    return OK;
}

static Status prepare(PgConn *c, PgStatement *s, PgIn *in, Error *err)
{
    c->text = pg_in_cstr(in);                            /* the message's own: it outlives a failed statement */
    s->text = str_dup(s->arena, c->text);
    if (!str_is_utf8(s->text)) {
        RAISE(err, E_INVALID, "invalid byte sequence for encoding \"UTF8\" in the query");
        return pg_fail_state(err, E_INVALID, "22021");
    }
    TRY(read_oids(in, s, err));
    s->empty = is_blank(s->text);
    if (s->empty)
        return OK;
    DataType *types = arena_array(s->arena, DataType, s->oids.n + 1);
    for (size_t i = 0; i < s->oids.n; i++)
        types[i] = pg_oid_type(s->oids.p[i]);
    return c->door->hooks.prepare(c->session, s->text, types, s->oids.n, &s->prepared, err);
}

static Status on_parse(PgConn *c, PgIn *in, Error *err)
{
    Str name = pg_in_cstr(in);
    PgStatement *old = name.n ? NULL : pg_statement_of(c, name);

    if (in->bad)
        return pg_violation("Parse", err);
    if (old)
        pg_statement_free(c, old);
    TRY(check_name(c, name, err));
    Arena *a = arena_create();
    PgStatement *s = arena_new(a, PgStatement);
    s->arena = a;
    s->name = str_dup(a, name);
    Status status = prepare(c, s, in, err);
    if (status != OK) {
        arena_destroy(a);
        return status;
    }
    pg_keep_statement(c, s);
    pg_send_simple(c, '1');
    return OK;
}

/* ---- Describe ---------------------------------------------------------------------------------------------------------------- */

static void describe_params(PgConn *c, const PgStatement *s)
{
    PgOut *o = &c->wire.out;
    int n = s->empty ? 0 : s->prepared.nparams;

    pg_out_begin(o, 't');
    pg_out_i16(o, n);
    for (int i = 0; i < n; i++)
        pg_out_i32(o, pg_param_oid(s, (size_t)i));
    pg_out_end(o);
}

static void describe_columns(PgConn *c, const PgStatement *s, const int16_t *formats, size_t nformats)
{
    if (s->empty || !s->prepared.columns.n)
        pg_send_simple(c, 'n');
    else
        pg_send_columns(c, &s->prepared.columns, formats, nformats);
}

/* Statements' cursors are portals too, for who describes them (psycopg's ServerCursor does). */
static Status describe_cursor(PgConn *c, Str name, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PgColumns columns = { 0 };
    Error unknown;

    if (!c->door->hooks.cursor || c->door->hooks.cursor(c->session, a, name, &columns, &unknown) != OK)
        return pg_no_portal(name, err);
    pg_send_columns(c, &columns, NULL, 0);
    return OK;
}

static Status on_describe(PgConn *c, PgIn *in, Error *err)
{
    char kind = (char)pg_in_u8(in);
    Str name = pg_in_cstr(in);
    PgStatement *s;
    PgPortal *p;

    if (!pg_in_done(in) || (kind != 'S' && kind != 'P'))
        return pg_violation("Describe", err);
    if (kind == 'S') {
        TRY(pg_find_statement(c, name, &s, err));
        describe_params(c, s);
        describe_columns(c, s, NULL, 0);
        return OK;
    }
    if (!pg_portal_of(c, name))
        return describe_cursor(c, name, err);
    TRY(pg_find_portal(c, name, &p, err));
    describe_columns(c, p->statement, p->formats.p, p->formats.n);
    return OK;
}

/* ---- Execute ------------------------------------------------------------------------------------------------------------------- */

static Status open_portal(PgConn *c, PgPortal *p, Error *err)
{
    PgStatement *s = p->statement;

    TRY(c->door->hooks.execute(c->session, p->arena, &s->prepared, p->params, p->nparams, &p->cursor, err));
    p->open = 1;
    if (p->cursor.forget_all || p->cursor.forget.n) {        /* the portal's own statement may be among them */
        PgCursor cur = p->cursor;
        cur.forget = str_dup(p->arena, cur.forget);
        p->statement = NULL;
        return pg_forget(c, &cur, err);
    }
    if (!p->cursor.copy_in && !p->cursor.copy_out && p->cursor.columns.n != s->prepared.columns.n)
        return FAIL(err, E_UNSUPPORTED, "cached plan must not change result type");
    return OK;
}

static Status run_portal(PgConn *c, PgPortal *p, int64_t max, int *more, Error *err)
{
    PgCursor *cur = &p->cursor;

    *more = 0;
    if (cur->copy_in)
        return pg_run_copy_in(c, cur, &p->rows, err);
    if (cur->copy_out)
        return pg_run_copy_out(c, cur, &p->rows, err);
    if (!cur->columns.n || p->done)
        return OK;
    return pg_run_rows(c, cur, max, p->formats.p, p->formats.n, &p->rows, more, err);
}

static Status on_execute(PgConn *c, PgIn *in, Error *err)
{
    Str name = pg_in_cstr(in);
    int32_t max = pg_in_i32(in);
    PgPortal *p;
    int more;

    if (!pg_in_done(in))
        return pg_violation("Execute", err);
    TRY(pg_find_portal(c, name, &p, err));
    if (p->statement && p->statement->empty) {
        pg_send_simple(c, 'I');
        return OK;
    }
    if (p->done && !p->cursor.columns.n) {
        RAISE(err, E_INVALID, "portal \"" STR_FMT "\" cannot be run", STR_ARG(str_sub(name, 0, 100)));
        return pg_fail_state(err, E_INVALID, "55000");
    }
    if (p->statement)
        c->text = p->statement->text;
    TRY(pg_check_cancel(c, err));
    if (!p->open)
        TRY(open_portal(c, p, err));
    int64_t before = p->rows;
    TRY(run_portal(c, p, max, &more, err));
    pg_send_notices(c);
    if (more) {
        pg_send_simple(c, 's');
        return OK;
    }
    p->done = 1;
    pg_send_tag(c, &p->cursor, p->arena, p->rows - (p->cursor.copy_in || p->cursor.copy_out ? 0 : before));
    return OK;
}

/* ---- Close, and which is which -------------------------------------------------------------------------------------------------- */

static Status on_close(PgConn *c, PgIn *in, Error *err)
{
    char kind = (char)pg_in_u8(in);
    Str name = pg_in_cstr(in);

    if (!pg_in_done(in) || (kind != 'S' && kind != 'P'))
        return pg_violation("Close", err);
    if (kind == 'S') {
        PgStatement *s = pg_statement_of(c, name);
        if (s)
            pg_statement_free(c, s);
    } else {
        PgPortal *p = pg_portal_of(c, name);
        if (p)
            pg_portal_free(c, p);
    }
    pg_send_simple(c, '3');
    return OK;
}

Status pg_extended(PgConn *c, char type, Str body, Error *err)
{
    PgIn in = pg_in(body);

    c->text = (Str){ 0 };
    switch (type) {
    case 'P': return on_parse(c, &in, err);
    case 'B': return pg_on_bind(c, &in, err);
    case 'D': return on_describe(c, &in, err);
    case 'E': return on_execute(c, &in, err);
    case 'C': return on_close(c, &in, err);
    default: return pg_violation("protocol", err);
    }
}

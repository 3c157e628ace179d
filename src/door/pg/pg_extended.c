/* SPDX-License-Identifier: Apache-2.0 */
/* pg_extended.c - the extended protocol: prepared statements and portals (PostgreSQL 15, 55.2.3).
 *
 * Invariants: (1) a portal keeps its statement's session handle only while the statement lives: closing a statement closes
 * its portals; (2) portals end with the transaction and with an error; (3) every count in a message is checked against the
 * bytes that are left before anything is allocated. */
#include "door/pg/pg_int.h"

#include <stdio.h>
#include <stdlib.h>

static Status fail_state(Error *err, Status s, const char *sqlstate)
{
    snprintf(err->sqlstate, sizeof err->sqlstate, "%s", sqlstate);
    return s;
}

static Status violation(const char *message, Error *err)
{
    (void)FAIL(err, E_INVALID, "invalid %s message", message);
    return fail_state(err, E_INVALID, "08P01");
}

/* ---- the two lists ------------------------------------------------------------------------------------------------------ */

static PgStatement *statement_of(const PgConn *c, Str name)
{
    for (PgStatement *s = c->statements; s; s = s->next)
        if (str_eq(s->name, name))
            return s;
    return NULL;
}

static PgPortal *portal_of(const PgConn *c, Str name)
{
    for (PgPortal *p = c->portals; p; p = p->next)
        if (str_eq(p->name, name))
            return p;
    return NULL;
}

static void portal_free(PgConn *c, PgPortal *p)
{
    PgPortal **at = &c->portals;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    c->nportals--;
    pg_cursor_close(&p->cursor);
    arena_destroy(p->arena);
}

static void statement_free(PgConn *c, PgStatement *s)
{
    PgStatement **at = &c->statements;

    for (PgPortal *p = c->portals, *next; p; p = next) {
        next = p->next;
        if (p->statement == s)
            portal_free(c, p);
    }
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    c->nstatements--;
    if (!s->empty && c->door->hooks.unprepare)
        c->door->hooks.unprepare(c->session, &s->prepared);
    arena_destroy(s->arena);
}

void pg_drop_portals(PgConn *c)
{
    while (c->portals)
        portal_free(c, c->portals);
}

void pg_drop_statements(PgConn *c)
{
    while (c->statements)
        statement_free(c, c->statements);
}

void pg_drop_unnamed(PgConn *c)
{
    PgStatement *s = statement_of(c, S(""));
    PgPortal *p = portal_of(c, S(""));

    if (p)
        portal_free(c, p);                               /* the statement may be another, and live on */
    if (s)
        statement_free(c, s);
}

Status pg_forget(PgConn *c, const PgCursor *cur, Error *err)
{
    PgStatement *s = statement_of(c, cur->forget);

    c->text = (Str){ 0 };                                /* may be the statement's */
    if (cur->forget_all)
        pg_drop_statements(c);
    else if (s)
        statement_free(c, s);
    if (cur->forget_all || s)
        return OK;
    (void)FAIL(err, E_NOT_FOUND, "prepared statement \"" STR_FMT "\" does not exist", STR_ARG(str_sub(cur->forget, 0, 100)));
    return fail_state(err, E_NOT_FOUND, "26000");
}

static Status find_statement(PgConn *c, Str name, PgStatement **ret, Error *err)
{
    *ret = statement_of(c, name);
    if (*ret)
        return OK;
    if (name.n)
        (void)FAIL(err, E_NOT_FOUND, "prepared statement \"" STR_FMT "\" does not exist", STR_ARG(str_sub(name, 0, 100)));
    else
        (void)FAIL(err, E_NOT_FOUND, "unnamed prepared statement does not exist");
    return fail_state(err, E_NOT_FOUND, "26000");
}

static Status no_portal(Str name, Error *err)
{
    (void)FAIL(err, E_NOT_FOUND, "portal \"" STR_FMT "\" does not exist", STR_ARG(str_sub(name, 0, 100)));
    return fail_state(err, E_NOT_FOUND, "34000");
}

static Status find_portal(PgConn *c, Str name, PgPortal **ret, Error *err)
{
    *ret = portal_of(c, name);
    return *ret ? OK : no_portal(name, err);
}

static void keep_statement(PgConn *c, PgStatement *s)
{
    s->next = c->statements;
    c->statements = s;
    c->nstatements++;
}

static void keep_portal(PgConn *c, PgPortal *p)
{
    p->next = c->portals;
    c->portals = p;
    c->nportals++;
}

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
        return violation("Parse", err);
    for (int i = 0; i < (uint16_t)n; i++)
        vec_push(s->arena, &s->oids, pg_in_i32(in));
    return OK;
}

static Status check_name(PgConn *c, Str name, Error *err)
{
    if (name.n && statement_of(c, name)) {
        (void)FAIL(err, E_EXISTS, "prepared statement \"" STR_FMT "\" already exists", STR_ARG(str_sub(name, 0, 100)));
        return fail_state(err, E_EXISTS, "42P05");
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
        (void)FAIL(err, E_INVALID, "invalid byte sequence for encoding \"UTF8\" in the query");
        return fail_state(err, E_INVALID, "22021");
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
    PgStatement *old = name.n ? NULL : statement_of(c, name);

    if (in->bad)
        return violation("Parse", err);
    if (old)
        statement_free(c, old);
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
    keep_statement(c, s);
    pg_send_simple(c, '1');
    return OK;
}

/* ---- Bind ------------------------------------------------------------------------------------------------------------------ */

typedef struct { int16_t *p; size_t n, cap; } Formats;

static Status read_formats(Arena *a, PgIn *in, Formats *ret, Error *err)
{
    size_t n = (uint16_t)pg_in_i16(in);

    if (in->bad || n * 2 > pg_in_left(in))
        return violation("Bind", err);
    for (size_t i = 0; i < n; i++) {
        int16_t f = pg_in_i16(in);
        if (f != 0 && f != 1) {
            (void)FAIL(err, E_INVALID, "unsupported format code: %d", f);
            return fail_state(err, E_INVALID, "08P01");
        }
        vec_push(a, ret, f);
    }
    return OK;
}

static int32_t param_oid(const PgStatement *s, size_t i)
{
    return i < s->oids.n && s->oids.p[i] ? s->oids.p[i] : pg_type_oid(&s->prepared.param_types[i]);
}

static Status read_param(PgPortal *p, PgIn *in, size_t i, int format, Error *err)
{
    const DataType *t = &p->statement->prepared.param_types[i];
    int32_t size = pg_in_i32(in);

    if (size == -1 && !in->bad) {
        p->params[i] = (Value){ .kind = DT_NULL, .type = t };
        return OK;
    }
    Str bytes = size < 0 ? (Str){ 0 } : pg_in_bytes(in, (size_t)size);
    if (in->bad || size < 0)
        return violation("Bind", err);
    TRY_CTX(pg_value_parse(p->arena, t, param_oid(p->statement, i), format, bytes, &p->params[i], err), err, "parameter $%zu", i + 1);
    return OK;
}

static Status read_params(PgPortal *p, PgIn *in, const Formats *formats, Error *err)
{
    size_t n = (uint16_t)pg_in_i16(in), want = p->statement->empty ? 0 : (size_t)p->statement->prepared.nparams;

    if (in->bad || n * 4 > pg_in_left(in))
        return violation("Bind", err);
    if (formats->n > 1 && formats->n != n) {
        (void)FAIL(err, E_INVALID, "bind message has %zu parameter formats but %zu parameters", formats->n, n);
        return fail_state(err, E_INVALID, "08P01");
    }
    if (n != want) {
        (void)FAIL(err, E_INVALID, "bind message supplies %zu parameters, but the prepared statement requires %zu", n, want);
        return fail_state(err, E_INVALID, "08P01");
    }
    p->nparams = n;
    p->params = arena_array(p->arena, Value, n + 1);
    for (size_t i = 0; i < n; i++)
        TRY(read_param(p, in, i, pg_format_of(formats->p, formats->n, i), err));
    return OK;
}

static Status bind(PgPortal *p, PgIn *in, Error *err)
{
    Formats params = { 0 }, results = { 0 };
    size_t columns = p->statement->prepared.columns.n;

    TRY(read_formats(p->arena, in, &params, err));
    TRY(read_params(p, in, &params, err));
    TRY(read_formats(p->arena, in, &results, err));
    if (!pg_in_done(in))
        return violation("Bind", err);
    if (results.n > 1 && results.n != columns) {
        (void)FAIL(err, E_INVALID, "bind message has %zu result formats but query has %zu columns", results.n, columns);
        return fail_state(err, E_INVALID, "08P01");
    }
    p->formats.p = results.p;
    p->formats.n = results.n;
    return OK;
}

static Status on_bind(PgConn *c, PgIn *in, Error *err)
{
    Str name = pg_in_cstr(in), statement = pg_in_cstr(in);
    PgStatement *s;

    if (in->bad)
        return violation("Bind", err);
    TRY(find_statement(c, statement, &s, err));
    c->text = s->text;
    PgPortal *old = portal_of(c, name);
    if (old && name.n) {
        (void)FAIL(err, E_EXISTS, "cursor \"" STR_FMT "\" already exists", STR_ARG(str_sub(name, 0, 100)));
        return fail_state(err, E_EXISTS, "42P03");
    }
    if (old)
        portal_free(c, old);
    if (c->nportals >= PG_PORTALS)
        return FAIL(err, E_LIMIT, "more than %d open portals in one connection", PG_PORTALS);
    Arena *a = arena_create();
    PgPortal *p = arena_new(a, PgPortal);
    p->arena = a;
    p->name = str_dup(a, name);
    p->statement = s;
    Status status = bind(p, in, err);
    if (status != OK) {
        arena_destroy(a);
        return status;
    }
    keep_portal(c, p);
    pg_send_simple(c, '2');
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
        pg_out_i32(o, param_oid(s, (size_t)i));
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
        return no_portal(name, err);
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
        return violation("Describe", err);
    if (kind == 'S') {
        TRY(find_statement(c, name, &s, err));
        describe_params(c, s);
        describe_columns(c, s, NULL, 0);
        return OK;
    }
    if (!portal_of(c, name))
        return describe_cursor(c, name, err);
    TRY(find_portal(c, name, &p, err));
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
        return violation("Execute", err);
    TRY(find_portal(c, name, &p, err));
    if (p->statement && p->statement->empty) {
        pg_send_simple(c, 'I');
        return OK;
    }
    if (p->done && !p->cursor.columns.n) {
        (void)FAIL(err, E_INVALID, "portal \"" STR_FMT "\" cannot be run", STR_ARG(str_sub(name, 0, 100)));
        return fail_state(err, E_INVALID, "55000");
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
        return violation("Close", err);
    if (kind == 'S') {
        PgStatement *s = statement_of(c, name);
        if (s)
            statement_free(c, s);
    } else {
        PgPortal *p = portal_of(c, name);
        if (p)
            portal_free(c, p);
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
    case 'B': return on_bind(c, &in, err);
    case 'D': return on_describe(c, &in, err);
    case 'E': return on_execute(c, &in, err);
    case 'C': return on_close(c, &in, err);
    default: return violation("protocol", err);
    }
}

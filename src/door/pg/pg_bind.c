/* SPDX-License-Identifier: Apache-2.0 */
/* pg_bind.c - the Bind message: a statement with its parameters becomes a portal.
 *
 * Invariant: every count in the message is checked against the bytes that are left before anything is allocated. */
#include "door/pg/pg_int.h"

#include <stdio.h>

typedef struct { int16_t *p; size_t n, cap; } Formats;

static Status read_formats(Arena *a, PgIn *in, Formats *ret, Error *err)
{
    size_t n = (uint16_t)pg_in_i16(in);

    if (in->bad || n * 2 > pg_in_left(in))
        return pg_violation("Bind", err);
    for (size_t i = 0; i < n; i++) {
        int16_t f = pg_in_i16(in);
        if (f != 0 && f != 1) {
            RAISE(err, E_INVALID, "unsupported format code: %d", f);
            return pg_fail_state(err, E_INVALID, "08P01");
        }
        vec_push(a, ret, f);
    }
    return OK;
}

int32_t pg_param_oid(const PgStatement *s, size_t i)
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
        return pg_violation("Bind", err);
    TRY_CTX(pg_value_parse(p->arena, t, pg_param_oid(p->statement, i), format, bytes, &p->params[i], err), err, "parameter $%zu", i + 1);
    return OK;
}

static Status read_params(PgPortal *p, PgIn *in, const Formats *formats, Error *err)
{
    size_t n = (uint16_t)pg_in_i16(in), want = p->statement->empty ? 0 : (size_t)p->statement->prepared.nparams;

    if (in->bad || n * 4 > pg_in_left(in))
        return pg_violation("Bind", err);
    if (formats->n > 1 && formats->n != n) {
        RAISE(err, E_INVALID, "bind message has %zu parameter formats but %zu parameters", formats->n, n);
        return pg_fail_state(err, E_INVALID, "08P01");
    }
    if (n != want) {
        RAISE(err, E_INVALID, "bind message supplies %zu parameters, but the prepared statement requires %zu", n, want);
        return pg_fail_state(err, E_INVALID, "08P01");
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
        return pg_violation("Bind", err);
    if (results.n > 1 && results.n != columns) {
        RAISE(err, E_INVALID, "bind message has %zu result formats but query has %zu columns", results.n, columns);
        return pg_fail_state(err, E_INVALID, "08P01");
    }
    p->formats.p = results.p;
    p->formats.n = results.n;
    return OK;
}

Status pg_on_bind(PgConn *c, PgIn *in, Error *err)
{
    Str name = pg_in_cstr(in), statement = pg_in_cstr(in);
    PgStatement *s;

    if (in->bad)
        return pg_violation("Bind", err);
    TRY(pg_find_statement(c, statement, &s, err));
    c->text = s->text;
    PgPortal *old = pg_portal_of(c, name);
    if (old && name.n) {
        RAISE(err, E_EXISTS, "cursor \"" STR_FMT "\" already exists", STR_ARG(str_sub(name, 0, 100)));
        return pg_fail_state(err, E_EXISTS, "42P03");
    }
    if (old)
        pg_portal_free(c, old);
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
    pg_keep_portal(c, p);
    pg_send_simple(c, '2');
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* wire_pg.c - the SQL door's hooks over service sessions.
 *
 * A prepared statement keeps its parsed batch in an arena of its own; a run's rows keep theirs.  User = access key id, password = its
 * secret; with sql.trust_local the users materialize and firn are the account root, from loopback. */
#include "access/iam.h"
#include "main/wire.h"

#include <stdio.h>

typedef struct Prepared { Arena *a; Batch *batch; size_t n; } Prepared;

static Status pg_secret(void *ctx, Arena *a, const PgLogin *l, Str *secret, int *trust, Error *err)
{
    PgWire *w = ctx;
    Principal ignored;
    bool local_name = str_eq(l->user, S("materialize")) || str_eq(l->user, S("firn"));

    if (w->trust_local && l->loopback && local_name) {
        *trust = 1;
        return OK;
    }
    return access_by_key_alone(w->svc->access, a, l->user, secret, &ignored, err);
}

static void start_settings(Arena *a, const PgLogin *l, Props *ret)
{
    static const char *const not_settings[] = { "user", "database", "replication", "options", "firn.role" };
    for (size_t i = 0; i < l->options.n; i++) {
        bool skip = false;
        for (size_t k = 0; k < COUNT_OF(not_settings); k++)
            skip |= str_eq(l->options.p[i].key, str_c(not_settings[k]));
        if (!skip)
            props_set(a, ret, l->options.p[i].key, l->options.p[i].value);
    }
}

/* firn.role: the session acts as that role, as a Glue job of it would. */
static Status take_role(PgWire *w, Arena *a, const PgLogin *l, Principal *p, Error *err)
{
    Str role = props_get(&l->options, S("firn.role"), (Str){0});
    Principal taken = {0};

    if (!role.n)
        return OK;
    TRY(iam_pass_role(w->svc->access, a, p, role, "glue.amazonaws.com", err));
    TRY(iam_assume_service(w->svc->access, a, role, "glue.amazonaws.com", S("GlueJobRunnerSession"), &taken, err));
    *p = taken;
    return OK;
}

static Status pg_open(void *ctx, const PgLogin *l, void **session, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PgWire *w = ctx;
    SessionOptions o = { .dialect = str_eq(l->database, S("spark")) ? DIALECT_SPARK : str_eq(l->database, S("athena")) ? DIALECT_TRINO : DIALECT_POSTGRES, .database = l->database, .application = l->application };
    Props settings = {0};
    Session *ss;
    Str secret;
    int trust = 0;

    if (w->trust_local && l->loopback && (str_eq(l->user, S("materialize")) || str_eq(l->user, S("firn"))))
        trust = 1;
    if (trust)
        o.principal = access_root(a, w->svc->access);
    else
        TRY(access_by_key_alone(w->svc->access, a, l->user, &secret, &o.principal, err));
    if (l->loopback)
        o.principal.source_ip = S("127.0.0.1");
    iam_used(w->svc->access, &o.principal, S("sql"), cat_region(w->svc->catalog));
    TRY(take_role(w, a, l, &o.principal, err));
    start_settings(a, l, &settings);
    o.settings = &settings;
    o.backend = l->id;
    o.peer = l->peer;
    TRY(session_open(w->svc, &o, &ss, err));
    *session = ss;
    return OK;
}

static void pg_close(void *session) { session_close(session); }
static void pg_cancel(void *session) { session_cancel(session); }
static char pg_tx(void *session) { return session_tx(session); }

/* ---- cursors ---------------------------------------------------------------------------------------------------------- */

static Status cursor_next(PgCursor *c, Arena *a, Value *cells, int *has, Error *err) { return rows_next(c->impl, a, cells, has, err); }
static Str cursor_tag(PgCursor *c, Arena *a, int64_t n) { return rows_tag(c->impl, a, n); }
static void cursor_close(PgCursor *c) { rows_close(c->impl); }

static Status cursor_copy_row(PgCursor *c, Arena *a UNUSED, const Str *fields, const int *nulls, size_t n, Error *err) { return rows_copy_row(c->impl, fields, nulls, n, err); }

static Status cursor_copy_done(PgCursor *c, Arena *a UNUSED, int64_t *n, Error *err) { return rows_copy_done(c->impl, n, err); }

static void fill_cursor(Arena *a, Rows *rows, PgCursor *ret)
{
    const Stmt *copy = rows_copy(rows);

    *ret = (PgCursor){ .impl = rows, .tag = cursor_tag, .close = cursor_close };
    for (size_t i = 0; i < rows_ncols(rows); i++)
        vec_push(a, &ret->columns, ((PgColumn){ .name = str_dup(a, rows_col(rows, i)->name), .type = rows_col(rows, i)->type }));
    if (ret->columns.n)
        ret->next = cursor_next;
    ret->forget_all = rows_forgets(rows, &ret->forget) && !ret->forget.n;
    if (!copy)
        return;
    ret->copy_out = str_eq(copy->what, S("to"));
    ret->copy_in = !ret->copy_out;
    ret->copy_options = copy->copy_options;
    ret->copy_row = cursor_copy_row;
    ret->copy_done = cursor_copy_done;
}

/* ---- simple protocol ------------------------------------------------------------------------------------------------------ */

static Status pg_split(void *session, Arena *a, Str text, size_t *n, void **batch, Error *err)
{
    Batch *b;
    Status s = session_parse(session, a, text, &b, n, err);
    if (s != OK)
        session_failed(session);
    else
        *batch = b;
    return s;
}

static Status pg_run(void *session, Arena *a, void *batch, size_t i, PgCursor *ret, Error *err)
{
    Rows *rows;
    TRY(session_run(session, batch, i, NULL, 0, &rows, err));
    fill_cursor(a, rows, ret);
    return OK;
}

/* ---- extended protocol ------------------------------------------------------------------------------------------------------- */

static Status prepare_in(void *session, Prepared *p, Str text, const DataType *declared, size_t n, PgPrepared *ret, Error *err)
{
    RowColumns cols = {0};

    TRY(session_parse(session, p->a, text, &p->batch, &p->n, err));
    if (p->n > 1)
        return FAIL(err, E_SYNTAX, "cannot insert multiple commands into a prepared statement");
    size_t nparams = (size_t)batch_nparams(p->batch);
    DataType *types = arena_array(p->a, DataType, nparams + n + 1);
    for (size_t i = 0; i < n; i++)
        types[i] = declared[i];
    if (n > nparams)
        nparams = n;
    TRY(session_describe(session, p->a, p->batch, types, nparams, &cols, &ret->returns_rows, err));
    for (size_t i = 0; i < cols.n; i++)
        vec_push(p->a, &ret->columns, ((PgColumn){ .name = cols.p[i].name, .type = cols.p[i].type }));
    ret->nparams = (int)nparams;
    ret->param_types = types;
    return OK;
}

static Status pg_prepare(void *session, Str text, const DataType *declared, size_t n, PgPrepared *ret, Error *err)
{
    Arena *a = arena_create();
    Prepared *p = arena_new(a, Prepared);

    *ret = (PgPrepared){ .impl = p };
    p->a = a;
    Status s = prepare_in(session, p, text, declared, n, ret, err);
    if (s != OK) {
        session_failed(session);
        arena_destroy(a);
    }
    return s;
}

static void pg_unprepare(void *session UNUSED, PgPrepared *p)
{
    Prepared *mine = p->impl;
    if (mine)
        arena_destroy(mine->a);
    p->impl = NULL;
}

static Status pg_cursor(void *session, Arena *a, Str name, PgColumns *ret, Error *err)
{
    RowColumns cols = {0};

    TRY(session_cursor_columns(session, a, name, &cols, err));
    for (size_t i = 0; i < cols.n; i++)
        vec_push(a, ret, ((PgColumn){ .name = cols.p[i].name, .type = cols.p[i].type }));
    return OK;
}

static Status pg_execute(void *session, Arena *a, PgPrepared *p, const Value *params, size_t n, PgCursor *ret, Error *err)
{
    Prepared *mine = p->impl;
    Rows *rows;

    if (!mine->n)
        return FAIL(err, E_INTERNAL, "an empty statement was executed");
    TRY(session_run(session, mine->batch, 0, n ? params : NULL, n, &rows, err));
    fill_cursor(a, rows, ret);
    return OK;
}

static int pg_notice(void *session, PgNotice *ret)
{
    Notice n;
    if (!session_notice(session, &n))
        return 0;
    *ret = (PgNotice){0};
    memcpy(ret->severity, n.severity, sizeof ret->severity);
    memcpy(ret->sqlstate, n.sqlstate, sizeof ret->sqlstate);
    memcpy(ret->message, n.message, sizeof ret->message);
    memcpy(ret->detail, n.detail, sizeof ret->detail);
    memcpy(ret->hint, n.hint, sizeof ret->hint);
    return 1;
}

static void pg_parameters(void *session, Arena *a, Props *ret) { session_parameters(session, a, ret); }
static void pg_sync(void *session UNUSED) { }

PgHooks pg_wire_hooks(PgWire *w)
{
    return (PgHooks){ .ctx = w, .secret = pg_secret, .open = pg_open, .close = pg_close, .cancel = pg_cancel, .tx_status = pg_tx, .split = pg_split, .run = pg_run,
                      .prepare = pg_prepare, .unprepare = pg_unprepare, .cursor = pg_cursor, .execute = pg_execute, .notice = pg_notice, .parameters = pg_parameters, .sync = pg_sync };
}

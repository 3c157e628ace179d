/* SPDX-License-Identifier: Apache-2.0 */
/* live_dml.c - INSERT, UPDATE, DELETE, MERGE and COPY into internal tables, behind the same steps as for tables of the lake (dml_int.h).
 *
 * Rows are staged and become one tick.  A statement that reads what it writes has the live side to itself from its first read to its tick. */
#include "service/dml_int.h"
#include "service/live_source.h"
#include "service/live_sql.h"

/* INSERT of rows that are made out of nothing (VALUES, generate_series) reads no table. */
static bool reads_first(Run *r)
{
    TableRefs tables = {0};

    if (r->st->kind != ST_INSERT || !r->st->query)
        return r->st->kind != ST_COPY;
    sql_tables(r->a, r->st->query, &tables);
    return tables.n > 0;
}

static const char *what_is_run(const Stmt *st)
{
    switch (st->kind) {
    case ST_UPDATE: return "UPDATE";
    case ST_DELETE: return "DELETE";
    case ST_MERGE: return "MERGE";
    case ST_TRUNCATE: return "TRUNCATE";
    default: return "INSERT INTO ... SELECT";
    }
}

static Status not_a_table(const Object *o, const char *api, Error *err)
{
    RAISE(err, E_INVALID, "cannot %s %s \"" STR_FMT "." STR_FMT "." STR_FMT "\": only tables are written", api, obj_kind_name(o->kind), STR_ARG(o->database), STR_ARG(o->schema), STR_ARG(o->name));
    memcpy(err->sqlstate, "42809", 6);
    return E_INVALID;
}

/* What the statement does to the table, each with its own privilege; reading what is changed needs SELECT besides. */
static Status ask_all(Run *r, const Object *o, Error *err)
{
    const char *letters = r->st->kind == ST_UPDATE ? "wr" : r->st->kind == ST_DELETE ? "dr" : r->st->kind == ST_TRUNCATE ? "d" : r->st->kind == ST_MERGE ? "awdr" : "a";

    for (; *letters; letters++)
        TRY(live_ask(r, *letters, o, err));
    return OK;
}

Status dml_live_open(Dml *d, const char *api, int *live, Error *err)
{
    Run *r = d->r;
    Object *o = arena_new(r->a, Object);
    Error absent;

    *live = live_find_object(r, r->a, &r->st->name, o, &absent) == OK;
    if (!*live)
        return OK;
    if (o->kind != OBJ_TABLE)
        return not_a_table(o, api, err);
    if (source_owns(o))
        return live_refuse(FAIL(err, E_INVALID, "cannot change table '" STR_FMT "': it is written by a source", STR_ARG(live_full(r->a, o))), "0A000", err);
    TRY(ask_all(r, o, err));
    if (r->st->overwrite)
        return FAIL(err, E_UNSUPPORTED, "INSERT OVERWRITE is for tables of the lake");
    d->live = o;
    d->name = (Name){ .catalog_name = o->database, .namespace = o->schema, .name = o->name };
    for (size_t i = 0; i < o->columns.n; i++) {
        BoundColumn c = { .name = o->columns.p[i].name, .engine = o->columns.p[i].engine, .type = o->columns.p[i].type, .nullable = !o->columns.p[i].not_null, .field_id = (int32_t)i + 1 };
        vec_push(r->a, &d->columns, c);
    }
    if (!reads_first(r))
        return OK;
    TRY(live_tx_may_change(r->ss, what_is_run(r->st), err));
    return live_exclusive(r->svc->live, &r->live_exclusive, err);
}

static Status check_nulls(Dml *d, const LiveWrite *w, Error *err)
{
    for (size_t i = 0; i < d->live->columns.n; i++) {
        const ObjColumn *c = &d->live->columns.p[i];
        int64_t nulls = 0;
        bool has;
        if (!c->not_null)
            continue;
        TRY(duck_scalar_i64(d->r->c, str_fmt(d->r->a, "SELECT count(*) FROM " STR_FMT " WHERE " STR_FMT " IS NULL", STR_ARG(w->stage), STR_ARG(sql_ident_str(d->r->a, c->engine))), &nulls, &has, err));
        if (nulls) {
            RAISE(err, E_INVALID, "null value in column \"" STR_FMT "\" violates not-null constraint", STR_ARG(c->name));
            memcpy(err->sqlstate, "23502", 6);
            return E_INVALID;
        }
    }
    return OK;
}

/* varchar(n), char(n): the engine does not count. */
static Status check_lengths(Dml *d, const LiveWrite *w, Error *err)
{
    for (size_t i = 0; i < d->live->columns.n; i++) {
        const ObjColumn *c = &d->live->columns.p[i];
        int64_t n = 0;
        bool has;
        if (c->type.kind != DT_STRING || c->type.length <= 0)
            continue;
        TRY(duck_scalar_i64(d->r->c, str_fmt(d->r->a, "SELECT count(*) FROM " STR_FMT " WHERE length(" STR_FMT ") > %d", STR_ARG(w->stage), STR_ARG(sql_ident_str(d->r->a, c->engine)), c->type.length), &n, &has, err));
        if (n) {
            RAISE(err, E_INVALID, "value too long for type " STR_FMT, STR_ARG(sql_type_name(d->r->a, DIALECT_POSTGRES, &c->type)));
            memcpy(err->sqlstate, "22001", 6);
            return E_INVALID;
        }
    }
    return OK;
}

static bool is_few_values(const Run *r)
{
    const Query *q = r->st->kind == ST_INSERT ? r->st->query : NULL;
    return q && q->body == BODY_VALUES && q->rows.n <= LIVE_VALUES;
}

Status dml_live_write(Dml *d, Str sql, int64_t *rows, Error *err)
{
    LiveWrite w;

    TRY((is_few_values(d->r) ? live_stage_values : live_stage_inserts)(d->r->svc->live, d->r->a, d->r->c, d->live->id, sql, &w, err));
    vec_push(d->r->a, &d->live_writes, w);
    *rows = w.rows;
    Status s = check_nulls(d, &w, err);
    if (s == OK)
        s = check_lengths(d, &w, err);
    if (s != OK)
        dml_live_forget(d);
    return s;
}

Status dml_live_delete(Dml *d, Str sql, int64_t *n, Error *err)
{
    LiveWrite w;

    TRY(live_stage_changes(d->r->svc->live, d->r->a, d->r->c, d->live->id, str_fmt(d->r->a, "SELECT __pos AS __rid FROM (" STR_FMT ") q", STR_ARG(sql)), (Str){0}, &w, err));
    vec_push(d->r->a, &d->live_writes, w);
    *n = w.rows;
    return OK;
}

Str dml_live_target(Dml *d)
{
    return str_fmt(d->r->a, "(SELECT * EXCLUDE (__rid), CAST('' AS VARCHAR) AS __file, __rid AS __pos FROM " STR_FMT " q)", STR_ARG(live_rows_sql(d->r->a, d->live->id)));
}

/* The default as text, cast to the column's type. */
Expr *dml_live_default(Dml *d, size_t col)
{
    const ObjColumn *c = &d->live->columns.p[col];
    Expr *text = arena_new(d->r->a, Expr), *cast = arena_new(d->r->a, Expr);

    *text = (Expr){ .kind = EX_LITERAL, .type = { .kind = DT_STRING } };
    text->value = (Value){ .kind = DT_STRING, .type = &text->type, .string = c->default_ };
    *cast = (Expr){ .kind = EX_CAST, .type = c->type };
    vec_push(d->r->a, &cast->args, text);
    return c->default_.n ? cast : dml_null(d->r->a);
}

static int64_t staged(const Dml *d)
{
    int64_t n = 0;
    for (size_t i = 0; i < d->live_writes.n; i++)
        n += d->live_writes.p[i].rows;
    return n;
}

void dml_live_forget(Dml *d)
{
    for (size_t i = 0; i < d->live_writes.n; i++)
        live_unstage(d->r->svc->live, &d->live_writes.p[i]);
    d->live_writes.n = 0;
}

Status dml_live_commit(Dml *d, Error *err)
{
    Run *r = d->r;
    int64_t t;

    if (!staged(d)) {
        dml_live_forget(d);
        return OK;
    }
    if (live_tx_open(r->ss)) {
        live_tx_add(r->ss, d->live_writes.p, d->live_writes.n);
        r->live_staged = 1;
        return OK;
    }
    Status s = r->live_exclusive ? live_exclusive_commit(r->live_exclusive, d->live_writes.p, d->live_writes.n, &t, err)
                                 : live_commit(r->svc->live, d->live_writes.p, d->live_writes.n, &t, err);
    if (s != OK)
        dml_live_forget(d);
    run_live_end(r);
    return s;
}

void run_live_end(Run *r)
{
    if (r->live_exclusive)
        live_exclusive_end(r->live_exclusive);
    r->live_exclusive = NULL;
}

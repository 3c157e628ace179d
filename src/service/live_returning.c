/* SPDX-License-Identifier: Apache-2.0 */
/* live_returning.c - INSERT … RETURNING into internal tables: the expressions over the staged rows, worked out before the tick and given after it. */
#include "service/dml_int.h"
#include "service/live_sql.h"

Query *live_returning_query(Arena *a, const Stmt *st)
{
    Query *q = arena_new(a, Query);
    TableRef *t = arena_new(a, TableRef);

    *t = (TableRef){ .kind = TR_TABLE, .name = st->name, .alias = st->alias };
    q->body = BODY_SELECT;
    q->select = arena_new(a, Select);
    q->select->items = st->returning;
    q->select->from = t;
    return q;
}

typedef struct StagePrinter { const Dml *d; Printer inner; } StagePrinter;

static Status print_stage(void *ctx, StrBuf *out, const TableRef *ref, Error *err)
{
    StagePrinter *p = ctx;
    int64_t id;

    if (!ref->table || !live_is_table(ref->table, &id) || id != p->d->live->id)
        return p->inner.table(p->inner.ctx, out, ref, err);
    for (size_t i = 0; i < p->d->live_writes.n; i++)
        sb_fmt(out, "%sSELECT * FROM " STR_FMT, i ? " UNION ALL " : "(", STR_ARG(p->d->live_writes.p[i].stage));
    sb_addc(out, ")");
    return OK;
}

static int is_query(void *ctx, Expr *e)
{
    int *found = ctx;
    *found |= e->query != NULL;
    return !*found;
}

static Status check(const Stmt *st, Error *err)
{
    int found = 0;

    for (size_t i = 0; i < st->returning.n; i++)
        sql_walk_expr(st->returning.p[i].expr, is_query, &found);
    return found ? live_refuse(FAIL(err, E_UNSUPPORTED, "RETURNING clause does not allow subqueries"), "0A000", err) : OK;
}

Status dml_live_returning(Dml *d, Rows *rows, Error *err)
{
    Run *r = d->r;
    Query *q = live_returning_query(r->a, r->st);
    StagePrinter ctx = { d, run_printer(r) };
    Printer p = { .ctx = &ctx, .table = print_stage };
    Binder b;
    Str sql;

    if (!r->st->returning.n)
        return OK;
    TRY(check(r->st, err));
    run_binder(r, &b);
    r->live_returning = 1;
    Status s = sql_bind_query(r->a, &b, q, err);
    r->live_returning = 0;
    TRY(s);
    TRY(sql_print_query(r->a, &p, q, &sql, err));
    for (size_t i = 0; i < q->columns.n; i++)
        vec_push(r->a, &rows->columns, ((RowColumn){ q->columns.p[i].name, q->columns.p[i].type }));
    return duck_exec(r->c, str_fmt(r->a, "CREATE OR REPLACE TEMP TABLE firn_returning AS " STR_FMT, STR_ARG(sql)), err);
}

Status dml_live_returned(Dml *d, Rows *rows, Error *err)
{
    return d->r->st->returning.n ? duck_query(d->r->c, S("SELECT * FROM firn_returning"), &rows->result, err) : OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - SELECT, and what a statement's columns are without running it. */
#include "service/call.h"
#include "service/live_sql.h"
#include "service/mzcatalog.h"
#include "service/prune.h"

static void query_columns(Rows *rows, const Query *q)
{
    for (size_t i = 0; i < q->columns.n; i++)
        vec_push(rows->run.a, &rows->columns, ((RowColumn){ q->columns.p[i].name, q->columns.p[i].type }));
}

/* Then there is nothing to stream. */
static bool gives_one_row(const Query *q)
{
    return q->body == BODY_SELECT && q->select->aggregated && q->select->grouping == GROUP_NONE && !q->select->group_by.n;
}

Status do_query(Run *r, Rows *rows, Error *err)
{
    Printer p = run_printer(r);
    const Query *asked;
    Binder b;
    Str sql;

    TRY(run_cancel_backend(r, err));
    run_binder(r, &b);
    TRY(sql_bind_query(r->a, &b, r->st->query, err));
    if (r->st->as_of.has)
        TRY(live_as_of_begin(r, err));
    prune_query(r, r->st->query);
    TRY(count_query(r, r->st->query, &asked, err));
    TRY(sql_print_query(r->a, &p, asked, &sql, err));
    query_columns(rows, r->st->query);
    TRY(run_need_pg_catalog(r, sql, err));
    Status s = gives_one_row(asked) ? duck_query_held(r->c, sql, &rows->result, err) : duck_query(r->c, sql, &rows->result, err);
    run_live_end(r);
    TRY(s);
    if (duck_ncols(rows->result) != rows->columns.n)
        return FAIL(err, E_INTERNAL, "the engine gave %zu columns instead of %zu", duck_ncols(rows->result), rows->columns.n);
    return OK;
}

/* ---- describe ------------------------------------------------------------------------------------------------------------- */

static bool has_rows(const Stmt *st)
{
    switch (st->kind) {
    case ST_QUERY: case ST_SHOW: case ST_DESCRIBE: case ST_EXPLAIN: case ST_CALL: case ST_SHOW_SETTING: case ST_SUBSCRIBE: return true;
    case ST_SET: return !st->setting_value.n && !st->setting.n;
    default: return false;
    }
}

static Status describe_query(Session *ss, Arena *a, DuckConn *c, const Stmt *st, Dialect d, Str text, DataType *types, size_t n, RowColumns *ret, Error *err)
{
    Run r = { .ss = ss, .svc = ss->svc, .a = a, .c = c, .st = st, .dialect = d, .text = text, .now_us = clock_us() };
    Binder b;

    run_binder(&r, &b);
    b.param_types = types;
    b.nparams = n;
    TRY(sql_bind_query(a, &b, st->query, err));
    for (size_t i = 0; i < st->query->columns.n; i++)
        vec_push(a, ret, ((RowColumn){ st->query->columns.p[i].name, st->query->columns.p[i].type }));
    return OK;
}

/* Statements other than queries that give rows only look at things: they are run to see their columns, but for CALL. */
static Status describe_by_running(Session *ss, Arena *a, Batch *b, RowColumns *ret, Error *err)
{
    Rows *rows;

    if (b->stmts.p[0]->kind == ST_CALL)
        return call_describe(a, b->stmts.p[0], ret, err);
    TRY(session_run(ss, b, 0, NULL, 0, &rows, err));
    for (size_t i = 0; i < rows->columns.n; i++) {
        RowColumn c = rows->columns.p[i];
        c.name = str_dup(a, c.name);
        vec_push(a, ret, c);
    }
    rows_close(rows);
    return OK;
}

/* INSERT … RETURNING: its columns are those of a query over the table. */
static Status describe_returning(Session *ss, Arena *a, Batch *b, DataType *types, size_t n, RowColumns *ret, int *returns_rows, Error *err)
{
    CLEANUP(duck_disconnectp) DuckConn *c = NULL;
    StmtVec again = {0};

    for (size_t i = 0; i < n; i++)
        if (types[i].kind == DT_INVALID)
            types[i].kind = DT_STRING;
    TRY(sql_parse(a, b->dialect, b->text, &again, err));
    TRY(duck_connect(ss->svc->engine, &c, err));
    Stmt of = { .kind = ST_QUERY, .query = live_returning_query(a, again.p[0]) };
    *returns_rows = 1;
    return describe_query(ss, a, c, &of, b->dialect, b->text, types, n, ret, err);
}

/* ---- parameters of statements that change rows: what they are cast to, else what they are put into ---------------------------- */

typedef struct Params { Run *r; const Binder *b; DataType *types; size_t n; } Params;

static void settle_param(Params *p, const Expr *e, const DataType *t)
{
    if (e && e->kind == EX_PARAM && e->param >= 1 && (size_t)e->param <= p->n && p->types[e->param - 1].kind == DT_INVALID)
        p->types[e->param - 1] = data_type_copy(p->r->a, t);
}

static int see_cast(void *ctx, Expr *e)
{
    Params *p = ctx;
    Error ignored;

    if (e->kind == EX_CAST && sql_resolve_type(p->r->a, p->b, &e->type, &ignored) == OK)
        settle_param(p, e->args.p[0], &e->type);
    return 1;
}

/* The columns that the statement names, or all. */
static Query *its_columns(Arena *a, const Stmt *st)
{
    Query *q = arena_new(a, Query);
    TableRef *t = arena_new(a, TableRef);
    Expr *all = arena_new(a, Expr);

    *t = (TableRef){ .kind = TR_TABLE, .name = st->name };
    *q = (Query){ .body = BODY_SELECT, .select = arena_new(a, Select) };
    q->select->from = t;
    for (size_t i = 0; i < st->column_names.n; i++) {
        Expr *e = arena_new(a, Expr);
        e->kind = EX_COLUMN;
        vec_push(a, &e->name, st->column_names.p[i]);
        vec_push(a, &q->select->items, ((SelectItem){ .expr = e }));
    }
    all->kind = EX_STAR;
    if (!st->column_names.n)
        vec_push(a, &q->select->items, ((SelectItem){ .expr = all }));
    return q;
}

static void settle_rows(Params *p, const Stmt *st, const BoundColumns *c)
{
    for (size_t i = 0; st->query && st->query->body == BODY_VALUES && i < st->query->rows.n; i++)
        for (size_t k = 0; k < st->query->rows.p[i].n && k < c->n; k++)
            settle_param(p, st->query->rows.p[i].p[k], &c->p[k].type);
    for (size_t i = 0; i < st->set.n; i++)
        for (size_t k = 0; k < c->n && st->set.p[i].column.n == 1; k++)
            if (str_eq(c->p[k].name, st->set.p[i].column.p[0]))
                settle_param(p, st->set.p[i].value, &c->p[k].type);
}

/* What is not found out here, and what is wrong with the statement, its run will say. */
static Status describe_changes(Session *ss, Arena *a, Batch *b, DataType *types, size_t n, Error *err)
{
    CLEANUP(duck_disconnectp) DuckConn *c = NULL;
    StmtVec again = {0};
    Error ignored;
    Binder binder;

    TRY(sql_parse(a, b->dialect, b->text, &again, err));
    TRY(duck_connect(ss->svc->engine, &c, err));
    const Stmt *st = again.p[0];
    Run r = { .ss = ss, .svc = ss->svc, .a = a, .c = c, .st = st, .dialect = b->dialect, .text = b->text, .now_us = clock_us() };
    Params p = { &r, &binder, types, n };
    run_binder(&r, &binder);
    binder.params = NULL;
    if (st->query)
        (void)sql_walk_query(st->query, see_cast, &p);
    if (st->where)
        (void)sql_walk_expr(st->where, see_cast, &p);
    for (size_t i = 0; i < st->set.n; i++)
        (void)sql_walk_expr(st->set.p[i].value, see_cast, &p);
    Query *q = its_columns(a, st);
    if (n && (st->kind == ST_INSERT || st->kind == ST_UPDATE) && sql_bind_query(a, &binder, q, &ignored) == OK)
        settle_rows(&p, st, &q->columns);
    for (size_t i = 0; i < n; i++)
        if (types[i].kind == DT_INVALID)
            types[i].kind = DT_STRING;                /* values are cast on assignment */
    return OK;
}

Status session_describe(Session *ss, Arena *a, Batch *b, DataType *types, size_t ntypes, RowColumns *ret, int *returns_rows, Error *err)
{
    CLEANUP(duck_disconnectp) DuckConn *c = NULL;
    StmtVec again = {0};

    *returns_rows = 0;
    if (!b->stmts.n)
        return OK;
    const Stmt *first = b->stmts.p[0];
    if (first->kind == ST_FETCH && !first->what.n) {
        *returns_rows = 1;
        return session_cursor_columns(ss, a, first->stmt_name, ret, err);
    }
    *returns_rows = has_rows(b->stmts.p[0]);
    if (first->kind == ST_INSERT && first->returning.n)
        return describe_returning(ss, a, b, types, ntypes, ret, returns_rows, err);
    if (*returns_rows && b->stmts.p[0]->kind != ST_QUERY)
        return describe_by_running(ss, a, b, ret, err);
    if (b->stmts.p[0]->kind != ST_QUERY)
        return describe_changes(ss, a, b, types, ntypes, err);
    TRY(sql_parse(a, b->dialect, b->text, &again, err));
    TRY(duck_connect(ss->svc->engine, &c, err));
    return describe_query(ss, a, c, again.p[0], b->dialect, b->text, types, ntypes, ret, err);
}

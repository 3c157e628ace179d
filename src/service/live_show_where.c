/* SPDX-License-Identifier: Apache-2.0 */
/* live_show_where.c - SHOW … WHERE: the rows become a VALUES list, the condition is bound over it like any other. */
#include "service/live_show_int.h"

enum { SHOW_WHERE_ROWS_MAX = 100000 };

static Expr *literal(Arena *a, const Value *v, const DataType *t)
{
    Expr *e = arena_new(a, Expr), *cast = arena_new(a, Expr);

    *e = (Expr){ .kind = EX_LITERAL, .type = *t };
    e->value = *v;
    e->value.type = &e->type;
    if (v->kind != DT_NULL)
        return e;
    *cast = (Expr){ .kind = EX_CAST, .type = *t };
    vec_push(a, &cast->args, e);
    return cast;
}

static TableRef *values_of(Arena *a, const Rows *rows)
{
    TableRef *t = arena_new(a, TableRef);

    *t = (TableRef){ .kind = TR_VALUES, .alias = S("shown") };
    for (size_t i = 0; i < rows->columns.n; i++)
        vec_push(a, &t->column_aliases, rows->columns.p[i].name);
    for (size_t i = 0; i < rows->memory.n; i++) {
        ExprVec row = {0};
        for (size_t k = 0; k < rows->columns.n; k++)
            vec_push(a, &row, literal(a, &rows->memory.p[i][k], &rows->columns.p[k].type));
        vec_push(a, &t->rows, row);
    }
    return t;
}

Status show_where(Run *r, Rows *rows, Error *err)
{
    Query *q = arena_new(r->a, Query);
    Expr *star = arena_new(r->a, Expr);
    Printer p = run_printer(r);
    Binder b;
    Str sql;

    if (!rows->memory.n)
        return OK;
    if (rows->memory.n > SHOW_WHERE_ROWS_MAX)
        return FAIL(err, E_LIMIT, "SHOW ... WHERE is for at most %d rows", SHOW_WHERE_ROWS_MAX);
    star->kind = EX_STAR;
    q->body = BODY_SELECT;
    q->select = arena_new(r->a, Select);
    q->select->from = values_of(r->a, rows);
    q->select->where = r->st->where;
    vec_push(r->a, &q->select->items, ((SelectItem){ .expr = star }));
    run_binder(r, &b);
    TRY(sql_bind_query(r->a, &b, q, err));
    TRY(sql_print_query(r->a, &p, q, &sql, err));
    rows->memory.n = 0;
    return duck_query(r->c, sql, &rows->result, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* truth.c - EXISTS, IN and quantified subqueries as values: a query of one row that says TRUE, FALSE or NULL.
 *
 * They become aggregates over the subquery, so that what maintains those maintains them:
 *   EXISTS q        count(*) > 0
 *   x op ANY q      TRUE if the comparison is true for a row, else NULL if it is unknown for one, else FALSE
 *   x op ALL q      the same by the opposite: FALSE, NULL, TRUE
 * x IN q is x = ANY q. */
#include "ivm/ivm_int.h"

static Expr *new_expr(Compiler *c, ExprKind kind, DataTypeKind type)
{
    Expr *e = arena_new(c->a, Expr);
    e->kind = kind;
    e->type.kind = type;
    e->nullable = 1;
    return e;
}

static Expr *number(Compiler *c, int64_t v)
{
    Expr *e = new_expr(c, EX_LITERAL, DT_INT64);
    e->value = (Value){ .kind = DT_INT64, .integer = v };
    e->nullable = 0;
    return e;
}

static Expr *truth(Compiler *c, int v)
{
    Expr *e = new_expr(c, EX_LITERAL, DT_BOOL);
    e->value = (Value){ .kind = v < 0 ? DT_NULL : DT_BOOL, .boolean = v > 0 };
    return e;
}

/* count(*) FILTER (WHERE filter) > 0 */
static Expr *any_row(Compiler *c, Expr *filter)
{
    Expr *count = new_expr(c, EX_FUNCTION, DT_INT64);
    count->func = arena_new(c->a, FuncCall);
    count->func->canonical = count->func->engine = S("count");
    count->func->class = FN_AGGREGATE;
    count->func->star = 1;
    count->func->filter = filter;
    count->nullable = 0;
    return expr_binary(c, OP_GT, count, number(c, 0));
}

static Expr *negate(Compiler *c, Expr *x)
{
    Expr *e = new_expr(c, EX_UNARY, DT_BOOL);
    e->op = OP_NOT;
    vec_push(c->a, &e->args, x);
    return e;
}

static Expr *column_of(Compiler *c, TableRef *t, size_t i)
{
    Expr *e = arena_new(c->a, Expr);
    e->kind = EX_COLUMN;
    e->rel = t;
    e->col = (int)i;
    e->type = t->columns.p[i].type;
    e->nullable = 1;
    vec_push(c->a, &e->name, t->columns.p[i].name);
    return e;
}

/* The comparison of the left side with a row of the subquery. */
static Expr *comparison(Compiler *c, const Expr *e, TableRef *t)
{
    Op op = e->kind == EX_QUANTIFIED ? e->op : OP_EQ;
    Expr *all = NULL;
    for (size_t i = 0; i < e->args.n && i < t->columns.n; i++) {
        Expr *one = expr_binary(c, op, e->args.p[i], column_of(c, t, i));
        all = all ? expr_binary(c, OP_AND, all, one) : one;
    }
    return all;
}

/* CASE WHEN a row says so THEN answer WHEN one is unknown THEN NULL ELSE the opposite END */
static Expr *quantified(Compiler *c, const Expr *e, TableRef *t)
{
    int all = e->kind == EX_QUANTIFIED && e->all;
    Expr *test = comparison(c, e, t), *x = new_expr(c, EX_CASE, DT_BOOL);
    vec_push(c->a, &x->args, any_row(c, all ? negate(c, test) : test));
    vec_push(c->a, &x->args, truth(c, !all));
    vec_push(c->a, &x->args, any_row(c, expr_is(c, OP_IS_NULL, test, 0)));
    vec_push(c->a, &x->args, truth(c, -1));
    x->else_ = truth(c, all);
    return x;
}

Status truth_query(Compiler *c, const Expr *e, const Query **ret, Error *err)
{
    TableRef *t = arena_new(c->a, TableRef);
    Query *q = arena_new(c->a, Query);
    if (e->kind == EX_QUANTIFIED && e->args.n != 1)
        return not_incremental(e, err, "quantified comparison of rows");
    t->kind = TR_QUERY;
    t->lateral = 1;
    t->position = e->position;
    t->query = e->query;
    t->columns = e->query->columns;
    q->body = BODY_SELECT;
    q->position = e->position;
    q->select = arena_new(c->a, Select);
    q->select->from = t;
    q->select->aggregated = 1;
    Expr *x = e->kind == EX_EXISTS ? any_row(c, NULL) : quantified(c, e, t);
    SelectItem item = { e->negated ? negate(c, x) : x, S("t") };
    BoundColumn col = { .name = S("t"), .engine = S("t"), .type = { .kind = DT_BOOL }, .nullable = 1 };
    vec_push(c->a, &q->select->items, item);
    vec_push(c->a, &q->columns, col);
    *ret = q;
    return OK;
}

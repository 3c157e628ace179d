/* SPDX-License-Identifier: Apache-2.0 */
/* expr.c - expressions of plan nodes.
 *
 * A bound expression names columns of TableRefs; a plan's expression names columns of nodes.  expr_rewrite copies a
 * tree and lets a callback replace parts; expr_bind is the callback that turns the former into the latter and refuses
 * what cannot be maintained.  Bound trees are never changed: they may be shared. */
#include "ivm/ivm_int.h"

#include <stdio.h>

/* ---- copying ------------------------------------------------------------------------------------------- */

static Status rewrite_all(Compiler *c, const ExprVec *in, ExprSwap swap, void *ctx, ExprVec *ret, Error *err)
{
    ExprVec out = {0};
    for vec_each(Expr *, x, in) {
        Expr *y = NULL;
        TRY(expr_rewrite(c, *x, swap, ctx, &y, err));
        vec_push(c->a, &out, y);
    }
    *ret = out;
    return OK;
}

static Status rewrite_order(Compiler *c, const OrderVec *in, ExprSwap swap, void *ctx, OrderVec *ret, Error *err)
{
    OrderVec out = {0};
    for vec_each(OrderItem, o, in) {
        OrderItem item = *o;
        TRY(expr_rewrite(c, o->expr, swap, ctx, &item.expr, err));
        vec_push(c->a, &out, item);
    }
    *ret = out;
    return OK;
}

static Status rewrite_over(Compiler *c, const WindowSpec *w, ExprSwap swap, void *ctx, WindowSpec **ret, Error *err)
{
    WindowSpec *x = arena_new(c->a, WindowSpec);
    *x = *w;
    TRY(rewrite_all(c, &w->partition, swap, ctx, &x->partition, err));
    TRY(rewrite_order(c, &w->order, swap, ctx, &x->order, err));
    if (w->frame.from_n)
        TRY(expr_rewrite(c, w->frame.from_n, swap, ctx, &x->frame.from_n, err));
    if (w->frame.to_n)
        TRY(expr_rewrite(c, w->frame.to_n, swap, ctx, &x->frame.to_n, err));
    *ret = x;
    return OK;
}

static Status rewrite_func(Compiler *c, const FuncCall *f, ExprSwap swap, void *ctx, FuncCall **ret, Error *err)
{
    FuncCall *g = arena_new(c->a, FuncCall);
    *g = *f;
    if (f->filter)
        TRY(expr_rewrite(c, f->filter, swap, ctx, &g->filter, err));
    if (f->over)
        TRY(rewrite_over(c, f->over, swap, ctx, &g->over, err));
    *ret = g;
    return rewrite_order(c, &f->order, swap, ctx, &g->order, err);
}

Status expr_rewrite(Compiler *c, const Expr *e, ExprSwap swap, void *ctx, Expr **ret, Error *err)
{
    Expr *x = NULL;
    TRY(swap(ctx, e, &x, err));
    if (x) {
        *ret = x;
        return OK;
    }
    if (++c->nexprs > IVM_MAX_EXPRS)
        return FAIL(err, E_UNSUPPORTED, "a query of more than %d expressions", IVM_MAX_EXPRS);
    x = arena_new(c->a, Expr);
    *x = *e;
    TRY(rewrite_all(c, &e->args, swap, ctx, &x->args, err));
    if (e->else_)
        TRY(expr_rewrite(c, e->else_, swap, ctx, &x->else_, err));
    if (e->func)
        TRY(rewrite_func(c, e->func, swap, ctx, &x->func, err));
    *ret = x;
    return OK;
}

/* ---- binding to nodes ---------------------------------------------------------------------------------- */

/* Where a column of a relation stands in the scope's node. */
int scope_find(const Scope *s, const TableRef *rel, size_t col, size_t *at)
{
    if (!s)
        return 0;
    for vec_each(ScopeEntry, r, &s->rels)
        if (r->rel == rel) {
            *at = r->base + col;
            return 1;
        }
    for vec_each(ColumnEntry, x, &s->cols)
        if (x->rel == rel && x->col == col) {
            *at = x->at;
            return 1;
        }
    return 0;
}

static Status bind_column(Names *n, const Expr *e, Expr **ret, Error *err)
{
    size_t at = 0;
    if (!e->rel)                                        /* a lambda's parameter */
        return OK;
    if (scope_find(n->own, e->rel, (size_t)e->col, &at)) {
        *ret = expr_column(n->c, n->own_node, at);
        return OK;
    }
    if (scope_find(n->outer, e->rel, (size_t)e->col, &at)) {
        *ret = expr_column(n->c, n->outer_node, at);
        return OK;
    }
    return not_incremental(e, err, "correlated reference");
}

static Status bind_scalar(Names *n, const Expr *e, Expr **ret, Error *err)
{
    if (n->own)
        for vec_each(ScalarEntry, s, &n->own->scalars)
            if (s->expr == e) {
                *ret = expr_column(n->c, n->own_node, s->col);
                return OK;
            }
    if (n->aggregates) {                                /* stands beside the groups: see aggregate.c */
        *ret = (Expr *)e;
        return OK;
    }
    return not_incremental(e, err, "subquery in an expression");
}

static Status check_function(Names *n, const Expr *e, Error *err)
{
    const FuncCall *f = e->func;
    Str name = f->canonical;
    if (f->volatile_ && !(n->c->v->target == IVM_LIVE && str_eq(name, S("mz_now"))))
        return not_incremental(e, err, "volatile function " STR_FMT "()", STR_ARG(name));
    if (f->over || f->class == FN_WINDOW)
        return live_only(n->c, e, err, "window function " STR_FMT "()", STR_ARG(name));
    if (f->class == FN_AGGREGATE && !n->aggregates)
        return not_incremental(e, err, "aggregate " STR_FMT "() out of place", STR_ARG(name));
    if (f->class == FN_AGGREGATE)
        construct_met(n->c, name);
    return OK;
}

static Status bind_swap(void *ctx, const Expr *e, Expr **ret, Error *err)
{
    Names *n = ctx;
    switch (e->kind) {
    case EX_COLUMN:
        return bind_column(n, e, ret, err);
    case EX_FUNCTION:
        return e->func ? check_function(n, e, err) : OK;
    case EX_SUBQUERY:
    case EX_EXISTS:
    case EX_IN_QUERY:
        return bind_scalar(n, e, ret, err);
    case EX_QUANTIFIED:
        return e->query ? bind_scalar(n, e, ret, err) : OK;
    case EX_ARRAY:
        return e->query ? not_incremental(e, err, "ARRAY subquery") : OK;
    case EX_PARAM:
        return not_incremental(e, err, "parameter $%d", e->param);
    case EX_STAR:
        return e->func ? OK : not_incremental(e, err, "unexpanded *");
    default:
        return OK;
    }
}

Status expr_bind(Names *n, const Expr *e, Expr **ret, Error *err)
{
    return expr_rewrite(n->c, e, bind_swap, n, ret, err);
}

/* ---- making -------------------------------------------------------------------------------------------- */

Expr *expr_column(Compiler *c, Node *n, size_t col)
{
    Expr *x = arena_new(c->a, Expr);
    x->kind = EX_COLUMN;
    x->rel = &n->ref;
    x->col = (int)col;
    x->type = *node_type(n, col);
    x->nullable = node_nullable(n, col);
    vec_push(c->a, &x->name, n->ref.columns.p[col].name);
    return x;
}

static Expr *new_bool(Compiler *c, ExprKind kind, Op op)
{
    Expr *x = arena_new(c->a, Expr);
    x->kind = kind;
    x->op = op;
    x->type.kind = DT_BOOL;
    x->nullable = 1;
    return x;
}

Expr *expr_binary(Compiler *c, Op op, Expr *l, Expr *r)
{
    Expr *x = new_bool(c, EX_BINARY, op);
    vec_push(c->a, &x->args, l);
    vec_push(c->a, &x->args, r);
    return x;
}

Expr *expr_is(Compiler *c, Op op, Expr *arg, int negated)
{
    Expr *x = new_bool(c, EX_IS, op);
    x->negated = negated;
    x->nullable = 0;
    vec_push(c->a, &x->args, arg);
    return x;
}

Expr *expr_cast(Compiler *c, Expr *arg, DataType type)
{
    Expr *x = arena_new(c->a, Expr);
    x->kind = EX_CAST;
    x->type = type;
    x->nullable = expr_nullable(arg);
    vec_push(c->a, &x->args, arg);
    return x;
}

Expr *expr_same(Compiler *c, Expr *l, Expr *r)
{
    if (!expr_nullable(l) && !expr_nullable(r))
        return expr_binary(c, OP_EQ, l, r);
    Expr *x = expr_is(c, OP_IS_DISTINCT, l, 1);
    vec_push(c->a, &x->args, r);
    return x;
}

void expr_conjuncts(Compiler *c, const Expr *e, ExprVec *ret)
{
    if (!e)
        return;
    if (e->kind == EX_BINARY && e->op == OP_AND) {
        expr_conjuncts(c, e->args.p[0], ret);
        expr_conjuncts(c, e->args.p[1], ret);
        return;
    }
    vec_push(c->a, ret, (Expr *)e);
}

int expr_has_query(const Expr *e)
{
    if (!e)
        return 0;
    if (e->query)
        return 1;
    for vec_each(Expr *, x, &e->args)
        if (expr_has_query(*x))
            return 1;
    if (e->func && e->func->over) {
        for vec_each(Expr *, x, &e->func->over->partition)
            if (expr_has_query(*x))
                return 1;
        for vec_each(OrderItem, o, &e->func->over->order)
            if (expr_has_query(o->expr))
                return 1;
    }
    return expr_has_query(e->else_) || (e->func && expr_has_query(e->func->filter));
}

/* ---- asking -------------------------------------------------------------------------------------------- */

uint64_t expr_visit_columns(const Expr *e, void (*visit)(void *ctx, const Expr *column), void *ctx)
{
    uint64_t n = 0;
    if (!e)
        return 0;
    if (e->kind == EX_COLUMN && e->rel) {
        if (visit)
            visit(ctx, e);
        return 1;
    }
    for vec_each(Expr *, x, &e->args)
        n += expr_visit_columns(*x, visit, ctx);
    n += expr_visit_columns(e->else_, visit, ctx);
    if (!e->func)
        return n;
    n += expr_visit_columns(e->func->filter, visit, ctx);
    for vec_each(OrderItem, o, &e->func->order)
        n += expr_visit_columns(o->expr, visit, ctx);
    if (!e->func->over)
        return n;
    for vec_each(Expr *, x, &e->func->over->partition)
        n += expr_visit_columns(*x, visit, ctx);
    for vec_each(OrderItem, o, &e->func->over->order)
        n += expr_visit_columns(o->expr, visit, ctx);
    return n;
}

static void see_nullable(void *ctx, const Expr *col)
{
    *(int *)ctx |= node_nullable(node_of(col), (size_t)col->col);
}

/* The binder's word counts only where no column below can be NULL: it may not know of padding by outer joins. */
int expr_nullable(const Expr *e)
{
    int any = 0;
    if (e->kind == EX_IS || e->kind == EX_EXISTS)
        return 0;
    if (e->kind == EX_FUNCTION && e->func && e->func->class == FN_AGGREGATE)
        return agg_kind(e) != AGG_COUNT && agg_kind(e) != AGG_COUNT_STAR;
    expr_visit_columns(e, see_nullable, &any);
    return any || (e->kind == EX_COLUMN ? 0 : e->nullable);
}

static void see_fuzzy(void *ctx, const Expr *col)
{
    *(int *)ctx |= node_of(col)->fuzzy[col->col];
}

int expr_fuzzy(const Expr *e)
{
    int any = 0;
    expr_visit_columns(e, see_fuzzy, &any);
    return any;
}

static Status no_table(void *ctx UNUSED, StrBuf *out UNUSED, const TableRef *ref UNUSED, Error *err)
{
    return FAIL(err, E_INTERNAL, "a table inside an expression of a plan");
}

Status expr_text(Arena *a, const Expr *e, Str *ret, Error *err)
{
    Printer p = { NULL, no_table };
    return sql_print_expr(a, &p, e, ret, err);
}

/* ---- aggregates ---------------------------------------------------------------------------------------- */

static const struct { const char *name; AggKind kind; } AGGREGATES[] = {
    { "count_star", AGG_COUNT_STAR }, { "count", AGG_COUNT }, { "sum", AGG_SUM }, { "avg", AGG_AVG }, { "mean", AGG_AVG },
    { "min", AGG_MIN }, { "max", AGG_MAX }, { "bool_and", AGG_BOOL_AND }, { "every", AGG_BOOL_AND },
    { "bool_or", AGG_BOOL_OR }, { "some", AGG_BOOL_OR }, { "any", AGG_BOOL_OR },
};

AggKind agg_kind(const Expr *e)
{
    const FuncCall *f = e->func;
    if (f->star && str_eq(f->canonical, S("count")))
        return AGG_COUNT_STAR;
    for (size_t i = 0; i < COUNT_OF(AGGREGATES); i++)
        if (str_eq(f->canonical, str_c(AGGREGATES[i].name)))
            return AGGREGATES[i].kind == AGG_COUNT && !e->args.n ? AGG_COUNT_STAR : AGGREGATES[i].kind;
    return AGG_OTHER;
}

static int exact_number(const DataType *t)
{
    return (t->kind >= DT_INT8 && t->kind <= DT_INT64) || (t->kind >= DT_UINT8 && t->kind <= DT_UINT64) || t->kind == DT_DECIMAL;
}

int agg_mergeable(const Expr *e)
{
    if (e->func->order.n || expr_fuzzy(e))
        return 0;
    switch (agg_kind(e)) {
    case AGG_COUNT_STAR:
    case AGG_BOOL_AND:
    case AGG_BOOL_OR:
        return 1;
    case AGG_COUNT:
        return !e->func->distinct && e->args.n == 1;
    case AGG_SUM:
        return !e->func->distinct && exact_number(&e->args.p[0]->type) && exact_number(&e->type);
    case AGG_AVG:
        return !e->func->distinct && exact_number(&e->args.p[0]->type) &&
               (e->type.kind == DT_DECIMAL || e->args.p[0]->type.kind != DT_DECIMAL);
    case AGG_MIN:
    case AGG_MAX:
        return e->args.n == 1;
    case AGG_OTHER:
        break;
    }
    return 0;
}

/* Aggregates that are functions of the bag of their inputs, bit for bit; that are but for rounding, or the order of a list. */
static const char *const EXACT[] = { "bit_and", "bit_or", "bit_xor", "count_if", "approx_count_distinct" };
static const char *const ROUNDED[] = {
    "stddev_samp", "stddev_pop", "var_samp", "var_pop", "covar_pop", "covar_samp", "corr", "skewness", "kurtosis", "regr_count", "regr_slope", "regr_intercept",
    "regr_r2", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy", "median", "percentile", "percentile_cont", "percentile_disc", "collect_list",
    "collect_set", "array_agg", "json_agg", "jsonb_agg", "list_agg",
};

static int among(Str name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(name, str_c(names[i])))
            return 1;
    return 0;
}

/* array_agg(x ORDER BY x): equal elements are the same. */
static int is_ordered_by_itself(const Expr *e)
{
    Arena *a = arena_create();
    Str x = {0}, y = {0};
    Error err = {0};
    int yes = e->func->order.n && e->args.n && expr_text(a, e->args.p[0], &x, &err) == OK && expr_text(a, e->func->order.p[0].expr, &y, &err) == OK && str_eq(x, y);
    arena_destroy(a);
    return yes && (str_eq(e->func->canonical, S("array_agg")) || str_eq(e->func->canonical, S("string_agg")) || str_eq(e->func->canonical, S("jsonb_agg")));
}

int agg_is_fuzzy(const Expr *e)
{
    int below = expr_fuzzy(e);
    if (below)
        return below;
    AggKind kind = agg_kind(e);
    if (kind == AGG_SUM || kind == AGG_AVG)
        return exact_number(&e->args.p[0]->type) ? 0 : FUZZY_NUMBER;
    if (kind != AGG_OTHER || among(e->func->canonical, EXACT, COUNT_OF(EXACT)) || is_ordered_by_itself(e))
        return 0;
    return among(e->func->canonical, ROUNDED, COUNT_OF(ROUNDED)) ? FUZZY_NUMBER : FUZZY_PICK;
}

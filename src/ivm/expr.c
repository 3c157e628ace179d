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

static Status rewrite_func(Compiler *c, const FuncCall *f, ExprSwap swap, void *ctx, FuncCall **ret, Error *err)
{
    FuncCall *g = arena_new(c->a, FuncCall);
    *g = *f;
    if (f->filter)
        TRY(expr_rewrite(c, f->filter, swap, ctx, &g->filter, err));
    g->order = (OrderVec){0};
    for vec_each(OrderItem, o, &f->order) {
        OrderItem item = *o;
        TRY(expr_rewrite(c, o->expr, swap, ctx, &item.expr, err));
        vec_push(c->a, &g->order, item);
    }
    *ret = g;
    return OK;
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

static int find_rel(const Scope *s, const TableRef *rel, size_t *base)
{
    if (!s)
        return 0;
    for vec_each(ScopeEntry, r, &s->rels)
        if (r->rel == rel) {
            *base = r->base;
            return 1;
        }
    return 0;
}

static Status bind_column(Names *n, const Expr *e, Expr **ret, Error *err)
{
    size_t base = 0;
    if (!e->rel)                                        /* a lambda's parameter */
        return OK;
    if (find_rel(n->own, e->rel, &base)) {
        *ret = expr_column(n->c, n->own_node, base + (size_t)e->col);
        return OK;
    }
    if (find_rel(n->outer, e->rel, &base)) {
        *ret = expr_column(n->c, n->outer_node, base + (size_t)e->col);
        return OK;
    }
    return not_incremental(e, err, "correlated reference");
}

static Status bind_scalar(Names *n, const Expr *e, Expr **ret, Error *err)
{
    if (n->aggregates) {                                /* stands beside the groups: see aggregate.c */
        *ret = (Expr *)e;
        return OK;
    }
    if (n->own)
        for vec_each(ScalarEntry, s, &n->own->scalars)
            if (s->expr == e) {
                *ret = expr_column(n->c, n->own_node, s->col);
                return OK;
            }
    return not_incremental(e, err, "scalar subquery");
}

static Status check_function(Names *n, const Expr *e, Error *err)
{
    const FuncCall *f = e->func;
    Str name = f->canonical;
    if (f->over || f->class == FN_WINDOW)
        return not_incremental(e, err, "window function " STR_FMT "()", STR_ARG(name));
    if (f->volatile_)
        return not_incremental(e, err, "volatile function " STR_FMT "()", STR_ARG(name));
    if (f->class == FN_TABLE)
        return not_incremental(e, err, "table function " STR_FMT "()", STR_ARG(name));
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
        return bind_scalar(n, e, ret, err);
    case EX_EXISTS:
    case EX_IN_QUERY:
        return not_incremental(e, err, "%s subquery outside of the conjuncts of WHERE", e->kind == EX_EXISTS ? "EXISTS" : "IN");
    case EX_QUANTIFIED:
        return e->query ? not_incremental(e, err, "quantified subquery outside of the conjuncts of WHERE") : OK;
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

/* Aggregates that are functions of the bag of their inputs, bit for bit. */
static const char *const EXACT[] = { "bit_and", "bit_or", "bit_xor", "count_if", "approx_count_distinct" };

int agg_is_fuzzy(const Expr *e)
{
    if (expr_fuzzy(e))
        return 1;
    AggKind kind = agg_kind(e);
    if (kind == AGG_SUM || kind == AGG_AVG)
        return !exact_number(&e->args.p[0]->type);
    if (kind != AGG_OTHER)
        return 0;
    for (size_t i = 0; i < COUNT_OF(EXACT); i++)
        if (str_eq(e->func->canonical, str_c(EXACT[i])))
            return 0;
    return 1;
}

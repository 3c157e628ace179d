/* SPDX-License-Identifier: Apache-2.0 */
/* aggregate.c - GROUP BY: a node whose columns are the keys and then every distinct aggregate call.
 *
 * The select list and HAVING become expressions over those columns: a part equal to a key (compared as engine text) is
 * that key, an aggregate call is its column, and whatever column remains was not grouped.  Scalar subqueries are joined
 * to the groups. */
#include "ivm/ivm_int.h"

typedef struct Grouping { Compiler *c; Node *agg; StrVec texts; NodeVec scalars; } Grouping;

static int find_text(const Grouping *g, Str text, size_t from, size_t to, size_t *ret)
{
    for (size_t i = from; i < to; i++)
        if (str_eq(g->texts.p[i], text)) {
            *ret = i;
            return 1;
        }
    return 0;
}

static Status add_output(Grouping *g, Expr *x, size_t *col, Error *err)
{
    Str text = {0};
    TRY(expr_text(g->c->a, x, &text, err));
    size_t from = x->kind == EX_FUNCTION && x->func->class == FN_AGGREGATE ? g->agg->nkeys : 0;
    if (from && find_text(g, text, from, g->texts.n, col))
        return OK;
    *col = g->texts.n;
    vec_push(g->c->a, &g->texts, text);
    vec_push(g->c->a, &g->agg->exprs, x);
    int fuzzy = x->kind == EX_FUNCTION && x->func->class == FN_AGGREGATE ? agg_is_fuzzy(x) : expr_fuzzy(x);
    node_add_column(g->c, g->agg, x->type, expr_nullable(x), fuzzy);
    return OK;
}

static Status group_aggregate(Grouping *g, const Expr *e, Expr **ret, Error *err)
{
    size_t col = 0;
    if (expr_has_query(e))
        return not_incremental(e, err, "subquery inside an aggregate");
    TRY(add_output(g, (Expr *)e, &col, err));
    *ret = expr_column(g->c, g->agg, col);
    return OK;
}

static Status group_scalar(Grouping *g, const Expr *e, Expr **ret, Error *err)
{
    Node *n = NULL;
    TRY(plan_scalar_node(g->c, e, &n, err));
    vec_push(g->c->a, &g->scalars, n);
    *ret = expr_column(g->c, n, 0);
    return OK;
}

static Status group_swap(void *ctx, const Expr *e, Expr **ret, Error *err)
{
    Grouping *g = ctx;
    Str text = {0};
    size_t col = 0;
    if (e->kind == EX_FUNCTION && e->func && e->func->class == FN_AGGREGATE)
        return group_aggregate(g, e, ret, err);
    if (e->kind == EX_SUBQUERY)
        return group_scalar(g, e, ret, err);
    if (e->kind == EX_LITERAL || expr_has_query(e))
        return OK;
    if (g->agg->nkeys) {
        TRY(expr_text(g->c->a, e, &text, err));
        if (find_text(g, text, 0, g->agg->nkeys, &col)) {
            *ret = expr_column(g->c, g->agg, col);
            return OK;
        }
    }
    return e->kind == EX_COLUMN && e->rel ? not_incremental(e, err, "column that is not grouped") : OK;
}

static Status over_groups(Grouping *g, ExprVec *exprs, Error *err)
{
    for vec_each(Expr *, x, exprs)
        TRY(expr_rewrite(g->c, *x, group_swap, g, x, err));
    return OK;
}

static Status add_keys(Grouping *g, const Select *sel, Scope *s, Error *err)
{
    Names names = { .c = g->c, .own = s, .own_node = s->node };
    for vec_each(Expr *, k, &sel->group_by) {
        Expr *x = NULL;
        size_t col = 0;
        TRY(expr_bind(&names, *k, &x, err));
        TRY(add_output(g, x, &col, err));
        g->agg->nkeys++;
    }
    return OK;
}

/* ---- scalar subqueries beside the groups -------------------------------------------------------------------- */

typedef struct Beside { Compiler *c; const Node *sub; Node *join; size_t at; } Beside;

static Status beside_swap(void *ctx, const Expr *e, Expr **ret, Error *err UNUSED)
{
    const Beside *b = ctx;
    if (e->kind == EX_COLUMN && e->rel == &b->sub->ref)
        *ret = expr_column(b->c, b->join, b->at);
    return OK;
}

static Status join_scalar(Grouping *g, Node *sub, Scope *s, ExprVec *exprs[2], Error *err)
{
    Beside b = { g->c, sub, NULL, node_ncols(s->node) };
    TRY(node_join(g->c, s->node, sub, &b.join, err));
    for (size_t i = 0; i < 2; i++) {
        TRY(node_reseat(g->c, s->node, b.join, exprs[i], err));
        for vec_each(Expr *, x, exprs[i])
            TRY(expr_rewrite(g->c, *x, beside_swap, &b, x, err));
    }
    s->node = b.join;
    return OK;
}

Status plan_aggregate(Compiler *c, const Select *sel, Scope *s, ExprVec *items, ExprVec *having, Error *err)
{
    Grouping g = { .c = c };
    TRY(node_new(c, NODE_AGG, &g.agg, err));
    node_add_input(c, g.agg, s->node);
    g.agg->monotone = 0;
    construct_met(c, sel->group_by.n ? S("group by") : S("aggregate without keys"));
    TRY(add_keys(&g, sel, s, err));
    TRY(over_groups(&g, items, err));
    TRY(over_groups(&g, having, err));
    s->node = g.agg;
    ExprVec *exprs[2] = { items, having };
    for vec_each(Node *, sub, &g.scalars)
        TRY(join_scalar(&g, *sub, s, exprs, err));
    return OK;
}

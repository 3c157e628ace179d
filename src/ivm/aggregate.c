/* SPDX-License-Identifier: Apache-2.0 */
/* aggregate.c - GROUP BY: a node whose columns are the keys and then every distinct aggregate call.
 *
 * What stands over the groups (the select list, HAVING …) become expressions over those columns: a part equal to a key
 * (compared as engine text) is that key, an aggregate call is its column, and whatever column remains was not grouped.
 * Subqueries are joined to the groups.  In a correlated subquery the domain's columns are keys in front; without other
 * keys a row of the domain without input has its group too, which an outer join gives: counts are 0 then, the rest NULL. */
#include "ivm/ivm_int.h"

static int find_text(const Grouping *g, Str text, size_t from, size_t to, size_t *ret)
{
    for (size_t i = from; i < to; i++)
        if (str_eq(g->texts.p[i], text)) {
            *ret = i;
            return 1;
        }
    return 0;
}

static int is_aggregate(const Expr *e) { return e->kind == EX_FUNCTION && e->func && e->func->class == FN_AGGREGATE && !e->func->over; }

static Status add_output(Grouping *g, Expr *x, size_t *col, Error *err)
{
    Str text = {0};
    TRY(expr_text(g->c->a, x, &text, err));
    size_t from = is_aggregate(x) ? g->agg->nkeys : 0;
    if (from && find_text(g, text, from, g->texts.n, col))
        return OK;
    *col = g->texts.n;
    vec_push(g->c->a, &g->texts, text);
    vec_push(g->c->a, &g->agg->exprs, x);
    node_add_column(g->c, g->agg, x->type, expr_nullable(x), is_aggregate(x) ? agg_is_fuzzy(x) : expr_fuzzy(x));
    return OK;
}

static Status group_aggregate(Grouping *g, const Expr *e, Expr **ret, Error *err)
{
    size_t col = 0;
    if (g->groupings && (str_eq(e->func->canonical, S("grouping")) || str_eq(e->func->canonical, S("grouping_id")))) {
        node_add_column(g->c, g->groupings, e->type, 0, 0);
        *ret = expr_column(g->c, g->groupings, node_ncols(g->groupings) - 1);
        vec_push(g->c->a, &g->groupings->exprs, (Expr *)e);
        return OK;
    }
    if (expr_has_query(e))
        return not_incremental(e, err, "subquery inside an aggregate");
    TRY(add_output(g, (Expr *)e, &col, err));
    *ret = expr_column(g->c, g->agg, col);
    return OK;
}

static int is_subquery(const Expr *e)
{
    return e->kind == EX_SUBQUERY || e->kind == EX_EXISTS || e->kind == EX_IN_QUERY || (e->kind == EX_QUANTIFIED && e->query);
}

static Status group_swap(void *ctx, const Expr *e, Expr **ret, Error *err)
{
    Grouping *g = ctx;
    Str text = {0};
    size_t col = 0;
    if (is_aggregate(e))
        return group_aggregate(g, e, ret, err);
    if (is_subquery(e)) {
        g->queries = 1;
        *ret = (Expr *)e;
        return OK;
    }
    if (e->kind == EX_LITERAL || expr_has_query(e) || is_window_call(e))
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

Status group_lists(Grouping *g, ExprVec *lists[], size_t n, Error *err)
{
    for (size_t i = 0; i < n; i++) {
        ExprVec out = {0};
        for vec_each(Expr *, x, lists[i]) {
            Expr *y = NULL;
            TRY(expr_rewrite(g->c, *x, group_swap, g, &y, err));
            vec_push(g->c->a, &out, y);
        }
        *lists[i] = out;
    }
    return OK;
}

Status group_key(Grouping *g, const Expr *k, Scope *s, Error *err)
{
    Names names = { .c = g->c, .own = s, .own_node = s->node };
    Expr *x = NULL;
    size_t col = 0;
    TRY(expr_bind(&names, k, &x, err));
    TRY(add_output(g, x, &col, err));
    g->agg->nkeys++;
    return OK;
}

Status group_begin(Grouping *g, Scope *s, Error *err)
{
    size_t col = 0;
    TRY(node_new(g->c, NODE_AGG, &g->agg, err));
    node_add_input(g->c, g->agg, s->node);
    g->agg->monotone = 0;
    for (size_t i = 0; i < s->ndom; i++) {
        TRY(add_output(g, expr_column(g->c, s->node, i), &col, err));
        g->agg->nkeys++;
    }
    return OK;
}

/* ---- a group for each row of the domain -------------------------------------------------------------------------- */

static Expr *zero_if_null(Compiler *c, Expr *x)
{
    Expr *e = arena_new(c->a, Expr), *zero = arena_new(c->a, Expr);
    *zero = (Expr){ .kind = EX_LITERAL, .value = { .kind = DT_INT64, .integer = 0 }, .type = { .kind = DT_INT64 } };
    e->kind = EX_FUNCTION;
    e->type = x->type;
    e->func = arena_new(c->a, FuncCall);
    e->func->canonical = S("coalesce");
    e->func->engine = S("coalesce");
    e->func->class = FN_SCALAR;
    vec_push(c->a, &e->args, x);
    vec_push(c->a, &e->args, zero);
    return e;
}

static int null_when_empty(const Expr *agg)
{
    static const char *const others[] = { "count_if", "collect_list", "collect_set", "approx_count_distinct", "regr_count", "grouping" };
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (str_eq(agg->func->canonical, str_c(others[i])))
            return 0;
    return 1;
}

static int is_count(const Expr *agg) { return agg_kind(agg) == AGG_COUNT || agg_kind(agg) == AGG_COUNT_STAR; }

static Status every_domain_row(Compiler *c, Scope *s, ExprVec *lists[], size_t n, Error *err)
{
    Node *agg = s->node, *outer = NULL, *whole = NULL;
    ExprVec all = {0};
    TRY(node_outer(c, s->dom, agg, PAD_LEFT, &outer, err));
    for (size_t i = 0; i < s->ndom; i++)
        vec_push(c->a, &outer->preds, expr_same(c, expr_column(c, s->dom, i), expr_column(c, agg, i)));
    for (size_t i = 0; i < node_ncols(agg); i++) {
        Expr *x = expr_column(c, outer, i < s->ndom ? i : s->ndom + i);
        if (i >= s->ndom && !null_when_empty(agg->exprs.p[i]))
            return not_incremental(agg->exprs.p[i], err, STR_FMT "() in a correlated subquery", STR_ARG(agg->exprs.p[i]->func->canonical));
        vec_push(c->a, &all, i >= s->ndom && is_count(agg->exprs.p[i]) ? zero_if_null(c, x) : x);
    }
    TRY(node_project(c, outer, &all, &whole, err));
    for (size_t i = 0; i < n; i++)
        TRY(node_reseat(c, agg, whole, lists[i], err));
    s->node = whole;
    return OK;
}

/* ---- subqueries beside the groups --------------------------------------------------------------------------------- */

static Status beside_swap(void *ctx, const Expr *e, Expr **ret, Error *err)
{
    Names *n = ctx;
    return is_subquery(e) ? expr_bind(n, e, ret, err) : OK;
}

/* The outer columns that a subquery over groups may name are keys. */
Status group_subqueries(Grouping *g, const Select *sel, Scope *s, ExprVec *lists[], size_t n, Error *err)
{
    Compiler *c = g->c;
    Scope over = { .node = s->node, .ndom = s->ndom, .dom = s->dom };
    Node *before = s->node;
    for vec_each(ColumnEntry, x, &s->cols)
        if (x->at < s->ndom)
            vec_push(c->a, &over.cols, *x);
    for (size_t i = 0; i < sel->group_by.n; i++) {
        const Expr *k = sel->group_by.p[i];
        ColumnEntry x = { k->rel, (size_t)k->col, s->ndom + i };
        if (k->kind == EX_COLUMN && k->rel)
            vec_push(c->a, &over.cols, x);
    }
    *s = over;
    if (!g->queries)
        return OK;
    for (size_t i = 0; i < n; i++)
        for vec_each(Expr *, x, lists[i])
            TRY(plan_scalars(c, *x, s, err));
    Names names = { .c = c, .own = s, .own_node = s->node };
    for (size_t i = 0; i < n; i++) {
        for vec_each(Expr *, x, lists[i])
            TRY(expr_rewrite(c, *x, beside_swap, &names, x, err));
        TRY(node_reseat(c, before, s->node, lists[i], err));
    }
    return OK;
}

Status plan_aggregate(Compiler *c, const Select *sel, Scope *s, ExprVec *lists[], size_t n, Error *err)
{
    Grouping g = { .c = c };
    construct_met(c, sel->group_by.n ? S("group by") : S("aggregate without keys"));
    TRY(group_begin(&g, s, err));
    for vec_each(Expr *, k, &sel->group_by)
        TRY(group_key(&g, *k, s, err));
    TRY(group_lists(&g, lists, n, err));
    s->node = g.agg;
    if (s->ndom && !sel->group_by.n)
        TRY(every_domain_row(c, s, lists, n, err));
    return group_subqueries(&g, sel, s, lists, n, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* grouping.c - GROUPING SETS, ROLLUP, CUBE: one aggregate a set over the same input, put together by UNION ALL.
 *
 * All sets have the columns of one aggregate over every key; the keys that a set has not are NULL.  GROUPING() is a
 * constant in each set, and a column of the union, so a NULL that was a key and one that was rolled up stay apart. */
#include "ivm/ivm_int.h"

enum { MAX_SETS = 64 };

typedef struct Sets { size_t n, nkeys; uint64_t sets[MAX_SETS]; } Sets;       /* bits: which keys */

static Status add_set(Sets *x, uint64_t set, const Select *sel, Error *err)
{
    Expr at = { .position = sel->group_by.n ? sel->group_by.p[0]->position : 0 };
    if (x->n == MAX_SETS)
        return not_incremental(&at, err, "more than %d grouping sets", MAX_SETS);
    x->sets[x->n++] = set;
    return OK;
}

/* The key's number; keys that are equal as text are one. */
static Status key_bit(Grouping *g, Scope *s, const Expr *k, uint64_t *set, Error *err)
{
    Names names = { .c = g->c, .own = s, .own_node = s->node };
    Expr *x = NULL;
    Str text = {0};
    if (!expr_visit_columns(k, NULL, NULL))
        return not_incremental(k, err, "constant as a grouping key");
    TRY(expr_bind(&names, k, &x, err));
    TRY(expr_text(g->c->a, x, &text, err));
    for (size_t i = s->ndom; i < g->agg->nkeys; i++)
        if (str_eq(g->texts.p[i], text)) {
            *set |= (uint64_t)1 << (i - s->ndom);
            return OK;
        }
    if (g->agg->nkeys - s->ndom >= 60)
        return not_incremental(k, err, "more than 60 grouping keys");
    *set |= (uint64_t)1 << (g->agg->nkeys - s->ndom);
    return group_key(g, k, s, err);
}

static Status listed_sets(Grouping *g, const Select *sel, Scope *s, Sets *ret, Error *err)
{
    for (size_t i = 0; i < sel->group_sets.n; i++) {
        uint64_t set = 0;
        for vec_each(Expr *, k, &sel->group_sets.p[i])
            TRY(key_bit(g, s, *k, &set, err));
        TRY(add_set(ret, set, sel, err));
    }
    return OK;
}

/* ROLLUP: every prefix; CUBE: every subset. */
static Status made_sets(Grouping *g, const Select *sel, Scope *s, Sets *ret, Error *err)
{
    uint64_t bits[60] = {0};
    size_t n = sel->group_by.n;
    if (n > (sel->grouping == GROUP_CUBE ? 6u : 60u))
        return not_incremental(sel->group_by.p[0], err, "CUBE or ROLLUP of %zu keys", n);
    for (size_t i = 0; i < n; i++)
        TRY(key_bit(g, s, sel->group_by.p[i], &bits[i], err));
    for (size_t k = 0; sel->grouping == GROUP_ROLLUP && k <= n; k++) {
        uint64_t set = 0;
        for (size_t i = 0; i < n - k; i++)
            set |= bits[i];
        TRY(add_set(ret, set, sel, err));
    }
    for (uint64_t m = 0; sel->grouping == GROUP_CUBE && m < (uint64_t)1 << n; m++) {
        uint64_t set = 0;
        for (size_t i = 0; i < n; i++)
            set |= m >> i & 1 ? bits[i] : 0;
        TRY(add_set(ret, set, sel, err));
    }
    return OK;
}

/* ---- one set -------------------------------------------------------------------------------------------------------- */

static Expr *literal(Compiler *c, DataType type, int null, int64_t v)
{
    Expr *x = arena_new(c->a, Expr), *cast = NULL;
    *x = (Expr){ .kind = EX_LITERAL, .value = { .kind = null ? DT_NULL : DT_INT64, .integer = v }, .type = null ? type : (DataType){ .kind = DT_INT64 } };
    cast = expr_cast(c, x, type);
    cast->nullable = null;
    return cast;
}

/* GROUPING(a, b): a bit an argument, set where the set has not the key; the first is the highest. */
static Status grouping_value(Grouping *g, const Scope *s, const Expr *call, uint64_t set, int64_t *ret, Error *err)
{
    *ret = 0;
    for vec_each(Expr *, arg, &call->args) {
        Str text = {0};
        size_t i = s->ndom;
        TRY(expr_text(g->c->a, *arg, &text, err));
        while (i < g->agg->nkeys && !str_eq(g->texts.p[i], text))
            i++;
        if (i == g->agg->nkeys)
            return not_incremental(call, err, "GROUPING of what is not a key");
        *ret = *ret * 2 + !(set >> (i - s->ndom) & 1);
    }
    return OK;
}

static Status set_node(Grouping *g, const Scope *s, uint64_t set, Node **ret, size_t *at, Error *err)
{
    Node *all = g->agg, *n = NULL;
    TRY(node_new(g->c, NODE_AGG, &n, err));
    node_add_input(g->c, n, s->node);
    n->monotone = 0;
    for (size_t i = 0; i < all->exprs.n; i++) {
        at[i] = SIZE_MAX;
        if (i >= s->ndom && i < all->nkeys && !(set >> (i - s->ndom) & 1))
            continue;
        at[i] = n->exprs.n;
        vec_push(g->c->a, &n->exprs, all->exprs.p[i]);
        node_add_column(g->c, n, *node_type(all, i), node_nullable(all, i), all->fuzzy[i]);
        n->nkeys += i < all->nkeys;
    }
    *ret = n;
    return OK;
}

static Status set_rows(Grouping *g, const Scope *s, uint64_t set, Node **ret, Error *err)
{
    Compiler *c = g->c;
    size_t *at = arena_array(c->a, size_t, g->agg->exprs.n + 1);
    ExprVec out = {0};
    Node *n = NULL;
    TRY(set_node(g, s, set, &n, at, err));
    for (size_t i = 0; i < g->agg->exprs.n; i++)
        vec_push(c->a, &out, at[i] == SIZE_MAX ? literal(c, *node_type(g->agg, i), 1, 0) : expr_column(c, n, at[i]));
    for vec_each(Expr *, call, &g->groupings->exprs) {
        int64_t v = 0;
        TRY(grouping_value(g, s, *call, set, &v, err));
        vec_push(c->a, &out, literal(c, (*call)->type, 0, v));
    }
    return node_project(c, n, &out, ret, err);
}

/* ---- all of them ------------------------------------------------------------------------------------------------------ */

typedef struct ToUnion { Grouping *g; Node *all; } ToUnion;

static Status union_swap(void *ctx, const Expr *e, Expr **ret, Error *err UNUSED)
{
    const ToUnion *u = ctx;
    if (e->kind == EX_COLUMN && e->rel == &u->g->agg->ref)
        *ret = expr_column(u->g->c, u->all, (size_t)e->col);
    else if (e->kind == EX_COLUMN && e->rel == &u->g->groupings->ref)
        *ret = expr_column(u->g->c, u->all, u->g->agg->exprs.n + (size_t)e->col);
    return OK;
}

static Status over_union(Grouping *g, Node *all, ExprVec *lists[], size_t n, Error *err)
{
    ToUnion u = { g, all };
    for (size_t i = 0; i < n; i++)
        for vec_each(Expr *, x, lists[i])
            TRY(expr_rewrite(g->c, *x, union_swap, &u, x, err));
    return OK;
}

Status plan_grouping_sets(Compiler *c, const Select *sel, Scope *s, ExprVec *lists[], size_t n, Error *err)
{
    Grouping g = { .c = c };
    Sets sets = {0};
    Node *all = NULL;
    construct_met(c, S("grouping sets"));
    TRY(group_begin(&g, s, err));
    TRY(node_new(c, NODE_ONE, &g.groupings, err));
    TRY(sel->grouping == GROUP_SETS ? listed_sets(&g, sel, s, &sets, err) : made_sets(&g, sel, s, &sets, err));
    TRY(group_lists(&g, lists, n, err));
    if (g.queries && g.agg->nkeys - s->ndom != sel->group_by.n)
        return not_incremental(NULL, err, "subquery over GROUPING SETS");
    for (size_t i = 0; i < sets.n; i++) {
        Node *rows = NULL;
        if (s->ndom && !sets.sets[i])
            return not_incremental(NULL, err, "empty grouping set in a correlated subquery");
        TRY(set_rows(&g, s, sets.sets[i], &rows, err));
        if (i)
            TRY(node_union(c, all, rows, &rows, err));
        all = rows;
    }
    TRY(over_union(&g, all, lists, n, err));
    s->node = all;
    return group_subqueries(&g, sel, s, lists, n, err);
}

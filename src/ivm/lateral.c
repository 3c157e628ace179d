/* SPDX-License-Identifier: Apache-2.0 */
/* lateral.c - relations and subqueries that name columns of what stands beside or around them, and functions that give rows.
 *
 * A function is applied to each row: NODE_FLAT.  A query is unnested: its domain is the distinct values of the outer columns that it
 * names; it is planned once over the whole domain, whose columns come first in each of its nodes (group keys, partitions and compared
 * rows have them too), and the result is joined back to the outer rows by them.  So nothing is evaluated row by row, and the delta
 * rules of the plain operators hold. */
#include "ivm/ivm_int.h"

/* ---- who names whom --------------------------------------------------------------------------------------------------- */

typedef struct Referred { Compiler *c; const Scope *s; ColumnEntries *found; int any; } Referred;

static int see_reference(void *ctx, Expr *e)
{
    Referred *r = ctx;
    size_t at = 0;
    if (e->kind != EX_COLUMN || !e->rel || !scope_find(r->s, e->rel, (size_t)e->col, &at))
        return 1;
    r->any = 1;
    if (!r->found)
        return 0;
    for vec_each(ColumnEntry, x, r->found)
        if (x->rel == e->rel && x->col == (size_t)e->col)
            return 1;
    ColumnEntry x = { e->rel, (size_t)e->col, at };
    vec_push(r->c->a, r->found, x);
    return 1;
}

int refers_query(const Query *q, const Scope *s)
{
    Referred r = { .s = s };
    (void)sql_walk_query((Query *)q, see_reference, &r);
    return r.any;
}

int refers_table(const TableRef *t, const Scope *s)
{
    Select sel = { .from = (TableRef *)t };
    Query q = { .body = BODY_SELECT, .select = &sel };
    if (refers_query(&q, s))
        return 1;
    if (t->kind == TR_CTE)
        return refers_query(t->query, s);
    return t->kind == TR_JOIN && (refers_table(t->left, s) || refers_table(t->right, s));
}

/* ---- the domain ----------------------------------------------------------------------------------------------------------- */

/* Distinct values of the columns of s that q names. at: where they stand in s's node. */
static Status make_domain(Compiler *c, const Query *q, const Scope *s, Scope *dom, size_t **at, Error *err)
{
    ColumnEntries found = {0};
    Referred r = { c, s, &found, 0 };
    Node *base = s->base ? s->base : s->node, *n = NULL;
    ExprVec exprs = {0};
    (void)sql_walk_query((Query *)q, see_reference, &r);
    *at = arena_array(c->a, size_t, found.n + 1);
    for vec_each(ColumnEntry, x, &found) {
        size_t k = 0;
        while (k < exprs.n && (*at)[k] != x->at)
            k++;
        if (k == exprs.n) {
            (*at)[k] = x->at;
            vec_push(c->a, &exprs, expr_column(c, base, x->at));
        }
        ColumnEntry moved = { x->rel, x->col, k };
        vec_push(c->a, &dom->cols, moved);
    }
    TRY(node_project(c, base, &exprs, &n, err));
    TRY(node_distinct(c, n, &dom->node, err));
    dom->dom = dom->node;
    dom->ndom = exprs.n;
    return OK;
}

static Status bind_both(Compiler *c, const Expr *on, Scope *s, Node *pair, ExprVec *ret, Error *err)
{
    Names names = { .c = c, .own = s, .own_node = pair };
    ExprVec parts = {0};
    expr_conjuncts(c, on, &parts);
    for vec_each(Expr *, p, &parts) {
        Expr *x = NULL, *in = NULL;
        TRY(expr_bind(&names, *p, &x, err));
        TRY(node_to_inputs(c, pair, x, &in, err));
        vec_push(c->a, ret, in);
    }
    return OK;
}

static void add_relation(Compiler *c, Scope *s, const TableRef *as, size_t base)
{
    ScopeEntry entry = { as, base };
    if (as)
        vec_push(c->a, &s->rels, entry);
}

static Status join_back(Compiler *c, Scope *s, Node *sub, size_t ndom, const size_t *at, Node **ret, Error *err)
{
    ExprVec same = {0};
    TRY(node_join(c, s->node, sub, ret, err));
    for (size_t i = 0; i < ndom; i++)
        vec_push(c->a, &same, expr_same(c, expr_column(c, *ret, at[i]), expr_column(c, *ret, node_ncols(s->node) + i)));
    return node_join_add(c, *ret, &same, err);
}

/* s becomes s joined with the query, for each of its rows; *col: the query's first column. */
Status plan_correlated(Compiler *c, const Query *q, Scope *s, Padding padding, const TableRef *as, const Expr *on, size_t *col, Error *err)
{
    Scope dom = {0};
    Node *sub = NULL, *join = NULL;
    size_t *at = NULL;
    Expr place = { .position = q->position };
    TRY(live_only(c, &place, err, "correlated subquery"));
    TRY(make_domain(c, q, s, &dom, &at, err));
    TRY(plan_query(c, q, &dom, &sub, err));
    construct_met(c, as ? S("lateral join") : S("correlated subquery"));
    *col = node_ncols(s->node) + dom.ndom;
    add_relation(c, s, as, *col);
    if (padding == PAD_NONE) {
        TRY(join_back(c, s, sub, dom.ndom, at, &join, err));
        s->node = join;
        return OK;
    }
    TRY(node_outer(c, s->node, sub, PAD_LEFT, &join, err));
    for (size_t i = 0; i < dom.ndom; i++)
        vec_push(c->a, &join->preds, expr_same(c, expr_column(c, s->node, at[i]), expr_column(c, sub, i)));
    TRY(bind_both(c, on, s, join, &join->preds, err));
    s->node = join;
    return OK;
}

/* ---- joins ---------------------------------------------------------------------------------------------------------------------- */

static Status join_apart(Compiler *c, const TableRef *t, Scope *s, Error *err)
{
    Scope r = {0};
    Node *join = NULL;
    size_t shift = node_ncols(s->node);
    TRY(plan_from(c, t, &r, err));
    TRY(node_join(c, s->node, r.node, &join, err));
    s->node = join;
    scope_append(c, s, &r, shift);
    return OK;
}

static Status refuse_lateral(const TableRef *t, Error *err)
{
    Expr at = { .position = t->position };
    return not_incremental(&at, err, "lateral relation of this form");
}

Status lateral_join(Compiler *c, const TableRef *t, Scope *s, Error *err)
{
    size_t base = node_ncols(s->node);
    if (!refers_table(t, s))
        return join_apart(c, t, s, err);
    switch (t->kind) {
    case TR_FUNCTION:
        TRY(plan_function(c, t, s, s->node, PAD_NONE, &s->node, err));
        add_relation(c, s, t, base);
        return OK;
    case TR_QUERY:
    case TR_CTE:
        return plan_correlated(c, t->query, s, PAD_NONE, t, NULL, &base, err);
    case TR_JOIN:
        TRY(lateral_join(c, t->left, s, err));
        return lateral_step(c, t, s, err);
    default:
        return refuse_lateral(t, err);
    }
}

static Status left_join_apart(Compiler *c, const TableRef *t, const Expr *on, Scope *s, Error *err)
{
    Scope r = {0};
    Node *join = NULL;
    size_t shift = node_ncols(s->node);
    TRY(plan_from(c, t, &r, err));
    TRY(node_outer(c, s->node, r.node, PAD_LEFT, &join, err));
    scope_append(c, s, &r, shift);
    TRY(bind_both(c, on, s, join, &join->preds, err));
    s->node = join;
    return OK;
}

static int is_true(const Expr *e)
{
    return !e || (e->kind == EX_LITERAL && e->value.kind == DT_BOOL && e->value.boolean);
}

Status lateral_left_join(Compiler *c, const TableRef *t, const Expr *on, Scope *s, Error *err)
{
    size_t base = node_ncols(s->node);
    if (!refers_table(t, s))
        return left_join_apart(c, t, on, s, err);
    if (t->kind == TR_QUERY || t->kind == TR_CTE)
        return plan_correlated(c, t->query, s, PAD_LEFT, t, on, &base, err);
    if (t->kind != TR_FUNCTION || !is_true(on))
        return refuse_lateral(t, err);
    TRY(plan_function(c, t, s, s->node, PAD_LEFT, &s->node, err));
    add_relation(c, s, t, base);
    return OK;
}

/* ---- functions that give rows ------------------------------------------------------------------------------------------------------ */

static Status flat_node(Compiler *c, Node *in, Node **ret, Error *err)
{
    TRY(node_new(c, NODE_FLAT, ret, err));
    node_add_input(c, *ret, in);
    for (size_t i = 0; i < node_ncols(in); i++)
        node_add_column(c, *ret, *node_type(in, i), node_nullable(in, i), in->fuzzy[i]);
    return OK;
}

/* The function's arguments name columns of `names`, whose node is in; NULL: of nothing. */
Status plan_function(Compiler *c, const TableRef *t, const Scope *names, Node *in, Padding padding, Node **ret, Error *err)
{
    Expr at = { .position = t->position };
    Names n = { .c = c, .own = (Scope *)names, .own_node = in };
    TableRef *f = arena_new(c->a, TableRef);
    int fuzzy = 0;
    TRY(live_only(c, &at, err, "table function"));
    TRY(flat_node(c, in, ret, err));
    *f = *t;
    f->args = (ExprVec){0};
    f->columns = (BoundColumns){0};
    for vec_each(Expr *, arg, &t->args) {
        Expr *x = NULL;
        TRY(expr_bind(&n, *arg, &x, err));
        fuzzy |= expr_fuzzy(x);
        vec_push(c->a, &f->args, x);
    }
    for vec_each(BoundColumn, col, &t->columns) {
        BoundColumn named = *col;
        named.engine = str_fmt(c->a, "c%zu", node_ncols(*ret) + 1);
        vec_push(c->a, &f->columns, named);
        node_add_column(c, *ret, col->type, 1, fuzzy);
    }
    f->engine = str_fmt(c->a, "f%d", (*ret)->id);
    (*ret)->func = f;
    (*ret)->outer = padding == PAD_LEFT || f->outer;
    f->outer = 0;
    construct_met(c, S("table function"));
    return OK;
}

typedef struct Calls { Compiler *c; ExprVec calls; StrVec texts; Node *flat; size_t base; int inside; } Calls;

static int is_set_returning(const Expr *e) { return e->kind == EX_FUNCTION && e->func && e->func->class == FN_TABLE; }

static int see_call(void *ctx, Expr *e)
{
    *(int *)ctx |= is_set_returning(e);
    return 1;
}

static int returns_sets(const Expr *e)
{
    int any = 0;
    (void)sql_walk_expr((Expr *)e, see_call, &any);
    return any;
}

static Status call_swap(void *ctx, const Expr *e, Expr **ret, Error *err)
{
    Calls *k = ctx;
    Str text = {0};
    size_t i = 0;
    if (!is_set_returning(e))
        return OK;
    for vec_each(Expr *, arg, &e->args)
        if (returns_sets(*arg))
            return not_incremental(e, err, "function that gives rows inside of another");
    TRY(expr_text(k->c->a, e, &text, err));
    while (i < k->texts.n && !str_eq(k->texts.p[i], text))
        i++;
    if (i == k->texts.n) {
        vec_push(k->c->a, &k->texts, text);
        vec_push(k->c->a, &k->calls, (Expr *)e);
    }
    if (k->flat)
        *ret = expr_column(k->c, k->flat, k->base + i);
    else
        *ret = (Expr *)e;
    return OK;
}

static Status swap_calls(Calls *k, ExprVec *lists[], size_t n, Error *err)
{
    for (size_t i = 0; i < n; i++)
        for vec_each(Expr *, x, lists[i])
            TRY(expr_rewrite(k->c, *x, call_swap, k, x, err));
    return OK;
}

/* Functions that give rows in a select list: the longest decides how many rows there are. */
Status plan_set_returning(Compiler *c, Scope *s, ExprVec *lists[], size_t n, Error *err)
{
    Calls k = { .c = c };
    Node *in = s->node;
    TRY(swap_calls(&k, lists, n, err));
    if (!k.calls.n)
        return OK;
    TRY(flat_node(c, in, &k.flat, err));
    k.base = node_ncols(in);
    for vec_each(Expr *, call, &k.calls) {
        vec_push(c->a, &k.flat->exprs, *call);
        node_add_column(c, k.flat, (*call)->type, 1, expr_fuzzy(*call));
    }
    TRY(swap_calls(&k, lists, n, err));
    for (size_t i = 0; i < n; i++)
        TRY(node_reseat(c, in, k.flat, lists[i], err));
    construct_met(c, S("rows from a function in the select list"));
    s->node = k.flat;
    return OK;
}

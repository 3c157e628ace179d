/* SPDX-License-Identifier: Apache-2.0 */
/* node.c - plan nodes: making them, and the few rewrites that shape a plan.
 *
 * Rewrites keep the meaning and serve one end each: filters go into inner joins (a term of the delta must see its join
 * conditions), below projections and group keys (so that HAVING is told from WHERE); projections over projections
 * become one (so that the aggregate below is seen); inner joins of inner joins become one node of many inputs (so that
 * the engine orders them).  Nodes do not change once something stands on them. */
#include "ivm/ivm_int.h"

Status node_new(Compiler *c, NodeKind kind, Node **ret, Error *err)
{
    if (c->v->nodes.n >= IVM_MAX_NODES)
        return FAIL(err, E_UNSUPPORTED, "a query of more than %d operators", IVM_MAX_NODES);
    Node *n = arena_new(c->a, Node);
    n->kind = kind;
    n->id = (int)c->v->nodes.n;
    n->monotone = 1;
    n->ref.kind = TR_QUERY;
    n->ref.engine = str_fmt(c->a, "n%d", n->id);
    vec_push(c->a, &c->v->nodes, n);
    *ret = n;
    return OK;
}

void node_add_input(Compiler *c, Node *n, Node *in)
{
    vec_push(c->a, &n->in, in);
    n->sources |= in->sources;
    n->monotone &= in->monotone;
}

void node_add_column(Compiler *c, Node *n, DataType type, int nullable, int fuzzy)
{
    size_t i = n->ref.columns.n;
    Str name = str_fmt(c->a, "c%zu", i + 1);
    BoundColumn col = { .name = name, .engine = name, .type = type, .nullable = nullable };
    vec_push(c->a, &n->ref.columns, col);
    n->used = arena_grow(c->a, n->used, i, i + 1);
    n->fuzzy = arena_grow(c->a, n->fuzzy, i, i + 1);
    n->used[i] = 0;
    n->fuzzy[i] = (uint8_t)fuzzy;
    c->ncolumns++;
}

static void copy_columns(Compiler *c, Node *n, const Node *in, int padded)
{
    for (size_t i = 0; i < node_ncols(in); i++)
        node_add_column(c, n, *node_type(in, i), node_nullable(in, i) || padded, in->fuzzy[i]);
}

/* ---- rewriting expressions from one node's columns to others -------------------------------------------- */

typedef struct Swap { Compiler *c; const Node *from; const ExprVec *exprs; } Swap;

static Status swap_to_inputs(void *ctx, const Expr *e, Expr **ret, Error *err)
{
    Swap *s = ctx;
    if (e->kind != EX_COLUMN || e->rel != &s->from->ref)
        return OK;
    size_t col = (size_t)e->col;
    for vec_each(Node *, in, &s->from->in) {
        if (col < node_ncols(*in)) {
            *ret = expr_column(s->c, *in, col);
            return OK;
        }
        col -= node_ncols(*in);
    }
    return FAIL(err, E_INTERNAL, "column %d of node %d has no input", e->col, s->from->id);
}

Status node_to_inputs(Compiler *c, const Node *n, const Expr *e, Expr **ret, Error *err)
{
    Swap s = { c, n, NULL };
    return expr_rewrite(c, e, swap_to_inputs, &s, ret, err);
}

static Status swap_exprs(void *ctx, const Expr *e, Expr **ret, Error *err UNUSED)
{
    Swap *s = ctx;
    if (e->kind == EX_COLUMN && e->rel == &s->from->ref)
        *ret = s->exprs->p[e->col];
    return OK;
}

/* Columns of `n` in preds replaced by what exprs says of them. */
static Status substitute(Compiler *c, const Node *n, const ExprVec *exprs, const ExprVec *in, ExprVec *ret, Error *err)
{
    Swap s = { c, n, exprs };
    for vec_each(Expr *, x, in) {
        Expr *y = NULL;
        TRY(expr_rewrite(c, *x, swap_exprs, &s, &y, err));
        vec_push(c->a, ret, y);
    }
    return OK;
}

Status node_substitute(Compiler *c, const Node *project, ExprVec *exprs, Error *err)
{
    ExprVec moved = {0};
    TRY(substitute(c, project, &project->exprs, exprs, &moved, err));
    *exprs = moved;
    return OK;
}

Status node_reseat(Compiler *c, const Node *from, Node *to, ExprVec *exprs, Error *err)
{
    ExprVec columns = {0}, moved = {0};
    if (from == to)
        return OK;
    for (size_t i = 0; i < node_ncols(from); i++)
        vec_push(c->a, &columns, expr_column(c, to, i));
    TRY(substitute(c, from, &columns, exprs, &moved, err));
    *exprs = moved;
    return OK;
}

typedef struct RefCount { const Node *node; uint8_t *n; int heavy; } RefCount;

static void count_ref(void *ctx, const Expr *col)
{
    RefCount *r = ctx;
    const Expr *under = r->node->exprs.p[col->col];
    if (under->kind != EX_COLUMN && under->kind != EX_LITERAL && r->n[col->col]++)
        r->heavy = 1;
}

/* Merging must not write an expression twice: chains of such queries would double at each level. */
static int may_merge(Compiler *c, const Node *project, const ExprVec *uses)
{
    RefCount r = { project, arena_alloc(c->a, project->exprs.n + 1), 0 };
    for vec_each(Expr *, x, uses)
        expr_visit_columns(*x, count_ref, &r);
    return !r.heavy;
}

/* ---- filters ------------------------------------------------------------------------------------------- */

static Status new_filter(Compiler *c, Node *in, const ExprVec *preds, Node **ret, Error *err)
{
    Node *n = NULL;
    TRY(node_new(c, NODE_FILTER, &n, err));
    node_add_input(c, n, in);
    copy_columns(c, n, in, 0);
    n->preds = *preds;
    *ret = n;
    return OK;
}

typedef struct KeysOnly { const Node *agg; int ok; } KeysOnly;
static void see_key(void *ctx, const Expr *col)
{
    KeysOnly *k = ctx;
    if ((size_t)col->col >= k->agg->nkeys)
        k->ok = 0;
}

static Status agg_over_filter(Compiler *c, const Node *agg, const ExprVec *preds, Node **ret, Error *err)
{
    Node *in = NULL, *n = NULL;
    TRY(node_filter(c, agg->in.p[0], preds, &in, err));
    TRY(node_new(c, NODE_AGG, &n, err));
    node_add_input(c, n, in);
    copy_columns(c, n, agg, 0);
    n->exprs = agg->exprs;
    n->nkeys = agg->nkeys;
    n->monotone = 0;
    TRY(node_reseat(c, agg->in.p[0], in, &n->exprs, err));
    *ret = n;
    return OK;
}

/* A condition on group keys alone may be decided before grouping. */
static Status filter_agg(Compiler *c, Node *agg, const ExprVec *preds, Node **ret, Error *err)
{
    ExprVec below = {0}, above = {0}, moved = {0};
    for vec_each(Expr *, x, preds) {
        KeysOnly k = { agg, agg->nkeys > 0 };
        uint64_t columns = expr_visit_columns(*x, see_key, &k);
        vec_push(c->a, k.ok && columns ? &below : &above, *x);
    }
    if (below.n) {
        Node *again = NULL;
        TRY(substitute(c, agg, &agg->exprs, &below, &moved, err));
        TRY(agg_over_filter(c, agg, &moved, &again, err));
        TRY(node_reseat(c, agg, again, &above, err));
        agg = again;
    }
    if (!above.n) {
        *ret = agg;
        return OK;
    }
    return new_filter(c, agg, &above, ret, err);
}

static Status filter_project(Compiler *c, Node *in, const ExprVec *preds, Node **ret, Error *err)
{
    ExprVec moved = {0}, exprs = in->exprs;
    Node *below = in->in.p[0], *filtered = NULL;
    TRY(substitute(c, in, &in->exprs, preds, &moved, err));
    TRY(node_filter(c, below, &moved, &filtered, err));
    TRY(node_reseat(c, below, filtered, &exprs, err));
    return node_project(c, filtered, &exprs, ret, err);
}

/* A join under construction may still take conditions; it is copied, as others may stand on it. */
static Status filter_join(Compiler *c, Node *in, const ExprVec *preds, Node **ret, Error *err)
{
    Node *n = NULL;
    ExprVec moved = *preds;
    TRY(node_new(c, NODE_JOIN, &n, err));
    for vec_each(Node *, x, &in->in)
        node_add_input(c, n, *x);
    copy_columns(c, n, in, 0);
    for vec_each(Expr *, p, &in->preds)
        vec_push(c->a, &n->preds, *p);
    TRY(node_reseat(c, in, n, &moved, err));
    TRY(node_join_add(c, n, &moved, err));
    *ret = n;
    return OK;
}

Status node_filter(Compiler *c, Node *in, const ExprVec *preds, Node **ret, Error *err)
{
    *ret = in;
    if (!preds->n)
        return OK;
    if (in->kind == NODE_JOIN)
        return filter_join(c, in, preds, ret, err);
    if (in->kind == NODE_AGG)
        return filter_agg(c, in, preds, ret, err);
    if (in->kind == NODE_PROJECT && may_merge(c, in, preds))
        return filter_project(c, in, preds, ret, err);
    return new_filter(c, in, preds, ret, err);
}

/* ---- projections --------------------------------------------------------------------------------------- */

Status node_project(Compiler *c, Node *in, const ExprVec *exprs, Node **ret, Error *err)
{
    Node *n = NULL;
    ExprVec merged = {0};
    if (in->kind == NODE_PROJECT && may_merge(c, in, exprs)) {
        TRY(substitute(c, in, &in->exprs, exprs, &merged, err));
        return node_project(c, in->in.p[0], &merged, ret, err);
    }
    TRY(node_new(c, NODE_PROJECT, &n, err));
    node_add_input(c, n, in);
    n->exprs = *exprs;
    for vec_each(Expr *, x, exprs)
        node_add_column(c, n, (*x)->type, expr_nullable(*x), expr_fuzzy(*x));
    *ret = n;
    return OK;
}

/* The same rows with the types wanted: set operations and VALUES unify the types of their inputs. */
Status node_rename(Compiler *c, Node *n, const BoundColumns *want, Node **ret, Error *err)
{
    ExprVec exprs = {0};
    int casts = 0;
    if (want->n > node_ncols(n))
        return FAIL(err, E_INTERNAL, "a set operation over %zu and %zu columns", node_ncols(n), want->n);
    size_t ndom = node_ncols(n) - want->n;                  /* a domain's columns stand in front */
    for (size_t i = 0; i < node_ncols(n); i++) {
        Expr *x = expr_column(c, n, i);
        if (i >= ndom && !data_type_equal(&want->p[i - ndom].type, &x->type)) {
            x = expr_cast(c, x, want->p[i - ndom].type);
            casts = 1;
        }
        vec_push(c->a, &exprs, x);
    }
    *ret = n;
    return casts ? node_project(c, n, &exprs, ret, err) : OK;
}

/* ---- joins --------------------------------------------------------------------------------------------- */

/* Inputs and conditions of an inner join are taken over; anything else is one input. */
static void join_take(Compiler *c, Node *join, Node *in)
{
    copy_columns(c, join, in, 0);
    if (in->kind != NODE_JOIN) {
        node_add_input(c, join, in);
        return;
    }
    for vec_each(Node *, x, &in->in)
        node_add_input(c, join, *x);
    for vec_each(Expr *, p, &in->preds)
        vec_push(c->a, &join->preds, *p);
}

static int shares_input(const Node *l, const Node *r)
{
    const Node *one[2] = { l, r };
    for (size_t i = 0; i < (l->kind == NODE_JOIN ? l->in.n : 1); i++)
        for (size_t j = 0; j < (r->kind == NODE_JOIN ? r->in.n : 1); j++)
            if ((l->kind == NODE_JOIN ? l->in.p[i] : one[0]) == (r->kind == NODE_JOIN ? r->in.p[j] : one[1]))
                return 1;
    return 0;
}

Status node_join(Compiler *c, Node *l, Node *r, Node **ret, Error *err)
{
    Node *n = NULL;
    if (shares_input(l, r))
        return FAIL(err, E_INTERNAL, "a plan node joined with itself");
    TRY(node_new(c, NODE_JOIN, &n, err));
    join_take(c, n, l);
    join_take(c, n, r);
    *ret = n;
    return OK;
}

Status node_join_add(Compiler *c, Node *join, const ExprVec *preds, Error *err)
{
    for vec_each(Expr *, p, preds) {
        Expr *x = NULL;
        if (expr_fuzzy(*p))
            return FAIL(err, E_UNSUPPORTED, "join condition on a floating-point or order-dependent aggregate");
        TRY(node_to_inputs(c, join, *p, &x, err));
        vec_push(c->a, &join->preds, x);
    }
    return OK;
}

Status node_outer(Compiler *c, Node *l, Node *r, Padding padding, Node **ret, Error *err)
{
    Node *n = NULL;
    TRY(node_new(c, NODE_OUTER, &n, err));
    node_add_input(c, n, l);
    node_add_input(c, n, r);
    copy_columns(c, n, l, padding == PAD_BOTH);
    copy_columns(c, n, r, 1);
    n->full = padding == PAD_BOTH;
    n->monotone = 0;
    *ret = n;
    return OK;
}

Status node_semi(Compiler *c, Node *l, Node *r, Keep keep, Node **ret, Error *err)
{
    Node *n = NULL;
    TRY(node_new(c, NODE_SEMI, &n, err));
    node_add_input(c, n, l);
    node_add_input(c, n, r);
    copy_columns(c, n, l, 0);
    n->anti = keep == KEEP_UNMATCHED;
    n->monotone &= !n->anti;
    *ret = n;
    return OK;
}

/* ---- distinct rows and set operations ------------------------------------------------------------------- */

Status node_distinct(Compiler *c, Node *in, Node **ret, Error *err)
{
    Node *n = NULL;
    TRY(node_new(c, NODE_DISTINCT, &n, err));
    node_add_input(c, n, in);
    copy_columns(c, n, in, 0);
    *ret = n;
    return OK;
}

Status node_setop(Compiler *c, const Query *q, Node *l, Node *r, Node **ret, Error *err)
{
    Node *n = NULL;
    TRY(node_new(c, q->setop == SETOP_UNION ? NODE_UNION : NODE_SETOP, &n, err));
    node_add_input(c, n, l);
    node_add_input(c, n, r);
    for (size_t i = 0; i < node_ncols(l); i++)
        node_add_column(c, n, *node_type(l, i), node_nullable(l, i) || node_nullable(r, i), l->fuzzy[i] || r->fuzzy[i]);
    n->setop = q->setop;
    n->all = q->all;
    n->monotone &= q->setop != SETOP_EXCEPT;
    *ret = n;
    return OK;
}

Status node_union(Compiler *c, Node *l, Node *r, Node **ret, Error *err)
{
    Query q = { .setop = SETOP_UNION, .all = 1 };
    return node_setop(c, &q, l, r, ret, err);
}

/* ---- which columns are read ----------------------------------------------------------------------------- */

static void mark_column(void *ctx, const Expr *col);

static void mark(Node *n, size_t col)
{
    if (n->used[col])
        return;
    n->used[col] = 1;
    size_t at = col;
    switch (n->kind) {
    case NODE_FILTER:
    case NODE_SEMI:
    case NODE_DISTINCT:
    case NODE_TEMPORAL:
        mark(n->in.p[0], col);
        break;
    case NODE_WINDOW:
        if (at < node_ncols(n->in.p[0]))
            mark(n->in.p[0], at);
        else
            expr_visit_columns(n->exprs.p[at - node_ncols(n->in.p[0])], mark_column, NULL);
        break;
    case NODE_FLAT:
        if (at < node_ncols(n->in.p[0]))
            mark(n->in.p[0], at);
        break;
    case NODE_PROJECT:
    case NODE_AGG:
        expr_visit_columns(n->exprs.p[col], mark_column, NULL);
        break;
    case NODE_UNION:
    case NODE_SETOP:
        mark(n->in.p[0], col);
        mark(n->in.p[1], col);
        break;
    case NODE_JOIN:
    case NODE_OUTER:
        for vec_each(Node *, in, &n->in) {
            if (at < node_ncols(*in)) {
                mark(*in, at);
                break;
            }
            at -= node_ncols(*in);
        }
        break;
    case NODE_ONE:
    case NODE_VALUES:
    case NODE_SCAN:
        break;
    }
}

static void mark_column(void *ctx UNUSED, const Expr *col)
{
    mark(node_of(col), (size_t)col->col);
}

/* What a node reads whatever is asked of it: conditions, group keys, all columns where whole rows are compared. */
static void mark_always(Node *n)
{
    for vec_each(Expr *, p, &n->preds)
        expr_visit_columns(*p, mark_column, NULL);
    for (size_t i = 0; i < n->nparts; i++)                   /* so that a restriction to partitions can name them above, too */
        mark(n, n->parts[i]);
    for (size_t i = 0; n->kind == NODE_FLAT && i < n->exprs.n; i++)
        expr_visit_columns(n->exprs.p[i], mark_column, NULL);
    for (size_t i = 0; n->func && i < n->func->args.n; i++)
        expr_visit_columns(n->func->args.p[i], mark_column, NULL);
    size_t all = n->kind == NODE_DISTINCT || n->kind == NODE_SETOP ? node_ncols(n) : n->kind == NODE_AGG ? n->nkeys : 0;
    for (size_t i = 0; i < all; i++)
        mark(n, i);
}

static void mark_reachable(Node *n, uint8_t *seen)
{
    if (seen[n->id])
        return;
    seen[n->id] = 1;
    mark_always(n);
    for vec_each(Node *, in, &n->in) {
        (*in)->refs++;
        mark_reachable(*in, seen);
    }
}

void nodes_mark_used(IvmView *v)
{
    uint8_t seen[IVM_MAX_NODES] = {0};
    mark_reachable(v->root, seen);
    for (size_t i = 0; i < node_ncols(v->root); i++)
        mark(v->root, i);
    for (size_t i = 0; v->agg && i < v->agg->nkeys; i++)      /* keys that are not visible are stored hidden */
        mark(v->root->in.p[0], i);
    for (size_t i = 0; v->topk && i < node_ncols(v->topk->in.p[0]); i++)         /* all that is read of the input is stored */
        if (v->topk->in.p[0]->used[i])
            mark(v->root->in.p[0], i);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* arrange.c - aggregates and windows below the top as views of their own, for the live side.
 *
 * An aggregate in the middle of a plan has no state: its groups are computed again from its rows, before and after each change.  Where it would merge on top of a view it is cut out
 * as an inner view, as is a window whose rows are asked for by what stands on it, which is kept and stored like any other, and what stood on it reads a table: the outer view.  Cuts go from below, so an inner view may read earlier ones.
 * count(DISTINCT x) becomes two aggregates first, how often each x is there and how many are, so that both merge; they are joined by their keys with the other aggregates.
 * Sources keep their numbers: inner tables come behind those of the query, in the outer view and in all inner ones. */
#include "ivm/ivm_int.h"

/* ---- count(DISTINCT …) --------------------------------------------------------------------------------------------------------- */

static Expr *count_rows(Compiler *c, Expr *filter)
{
    Expr *e = arena_new(c->a, Expr);
    e->kind = EX_FUNCTION;
    e->type.kind = DT_INT64;
    e->func = arena_new(c->a, FuncCall);
    e->func->canonical = e->func->engine = S("count");
    e->func->class = FN_AGGREGATE;
    e->func->star = 1;
    e->func->filter = filter;
    return e;
}

/* x IS NOT NULL AND n > 0 */
static Expr *is_there(Compiler *c, Expr *x, Expr *n)
{
    Expr *zero = arena_new(c->a, Expr);
    *zero = (Expr){ .kind = EX_LITERAL, .value = { .kind = DT_INT64, .integer = 0 }, .type = { .kind = DT_INT64 } };
    return expr_binary(c, OP_AND, expr_is(c, OP_IS_NULL, x, 1), expr_binary(c, OP_GT, n, zero));
}

static int counts_distinct(const Expr *e)
{
    return agg_kind(e) == AGG_COUNT && e->func->distinct && e->args.n == 1 && !e->func->order.n && !expr_fuzzy(e) && e->type.kind == DT_INT64;
}

/* All of them can be kept, and some count what differs. */
static int splits(const Node *n)
{
    int any = 0;
    for (size_t i = 0; i < n->nkeys; i++)
        if (n->fuzzy[i])
            return 0;
    for (size_t i = n->nkeys; i < n->exprs.n; i++) {
        if (counts_distinct(n->exprs.p[i]))
            any = 1;
        else if (!agg_mergeable(n->exprs.p[i]))
            return 0;
    }
    return any;
}

/* `node` is the aggregate `n` in parts: which part has each column, and where. */
typedef struct Split { Compiler *c; Node *n; NodeVec parts; size_t *part, *at; } Split;

static Status group_node(Compiler *c, Node *in, Node **ret, Error *err)
{
    TRY(node_new(c, NODE_AGG, ret, err));
    node_add_input(c, *ret, in);
    (*ret)->monotone = 0;
    return OK;
}

static void add_output(Compiler *c, Node *agg, Expr *x)
{
    int call = x->kind == EX_FUNCTION && x->func && x->func->class == FN_AGGREGATE;
    vec_push(c->a, &agg->exprs, x);
    node_add_column(c, agg, x->type, expr_nullable(x), call ? agg_is_fuzzy(x) : expr_fuzzy(x));
}

static void add_keys(Split *s, Node *part)
{
    for (size_t i = 0; i < s->n->nkeys; i++)
        add_output(s->c, part, s->n->exprs.p[i]);
    part->nkeys = s->n->nkeys;
}

/* What is no count of what differs stays together. */
static Status plain_part(Split *s, Error *err)
{
    Node *part = NULL;
    for (size_t i = s->n->nkeys; i < s->n->exprs.n; i++) {
        if (counts_distinct(s->n->exprs.p[i]))
            continue;
        if (!part) {
            TRY(group_node(s->c, s->n->in.p[0], &part, err));
            add_keys(s, part);
            vec_push(s->c->a, &s->parts, part);
        }
        s->part[i] = 0;
        s->at[i] = node_ncols(part);
        add_output(s->c, part, s->n->exprs.p[i]);
    }
    return OK;
}

/* The counts of what `first` counts: how often each value is there, for each of their filters. */
static Status distinct_part(Split *s, size_t first, uint8_t *done, Error *err)
{
    Compiler *c = s->c;
    Node *values = NULL, *part = NULL;
    Str x = {0}, y = {0};
    size_t nkeys = s->n->nkeys;
    TRY(group_node(c, s->n->in.p[0], &values, err));
    add_keys(s, values);
    add_output(c, values, s->n->exprs.p[first]->args.p[0]);
    values->nkeys++;
    TRY(group_node(c, values, &part, err));
    for (size_t i = 0; i < nkeys; i++)
        add_output(c, part, expr_column(c, values, i));
    part->nkeys = nkeys;
    TRY(expr_text(c->a, s->n->exprs.p[first]->args.p[0], &x, err));
    for (size_t i = first; i < s->n->exprs.n; i++) {
        if (!counts_distinct(s->n->exprs.p[i]))
            continue;
        TRY(expr_text(c->a, s->n->exprs.p[i]->args.p[0], &y, err));
        if (!str_eq(x, y))
            continue;
        add_output(c, values, count_rows(c, s->n->exprs.p[i]->func->filter));
        s->part[i] = s->parts.n;
        s->at[i] = node_ncols(part);
        add_output(c, part, count_rows(c, is_there(c, expr_column(c, values, nkeys), expr_column(c, values, node_ncols(values) - 1))));
        done[i] = 1;
    }
    vec_push(c->a, &s->parts, part);
    return OK;
}

/* Every part has every group: they are joined by their keys. */
static Status join_parts(Split *s, Node **ret, size_t *base, Error *err)
{
    Compiler *c = s->c;
    ExprVec same = {0};
    Node *all = s->parts.p[0];
    base[0] = 0;
    for (size_t i = 1; i < s->parts.n; i++) {
        base[i] = node_ncols(all);
        TRY(node_join(c, all, s->parts.p[i], &all, err));
    }
    for (size_t i = 1; i < s->parts.n; i++)
        for (size_t k = 0; k < s->n->nkeys; k++)
            vec_push(c->a, &same, expr_same(c, expr_column(c, all, k), expr_column(c, all, base[i] + k)));
    if (s->parts.n > 1)
        TRY(node_join_add(c, all, &same, err));
    *ret = all;
    return OK;
}

static Status split(Compiler *c, Node *n, Error *err)
{
    Split s = { .c = c, .n = n, .part = arena_array(c->a, size_t, n->exprs.n + 1), .at = arena_array(c->a, size_t, n->exprs.n + 1) };
    uint8_t *done = arena_array(c->a, uint8_t, n->exprs.n + 1);
    size_t *base = arena_array(c->a, size_t, n->exprs.n + 2);
    ExprVec out = {0};
    Node *all = NULL;
    memset(done, 0, n->exprs.n + 1);
    TRY(plain_part(&s, err));
    for (size_t i = n->nkeys; i < n->exprs.n; i++)
        if (!done[i] && counts_distinct(n->exprs.p[i]))
            TRY(distinct_part(&s, i, done, err));
    TRY(join_parts(&s, &all, base, err));
    for (size_t i = 0; i < n->exprs.n; i++)
        vec_push(c->a, &out, expr_column(c, all, i < n->nkeys ? i : base[s.part[i]] + s.at[i]));
    n->kind = NODE_PROJECT;
    n->nkeys = 0;
    n->exprs = out;
    n->in.n = 0;
    vec_push(c->a, &n->in, all);
    return OK;
}

static Status split_below(Compiler *c, Node *n, uint8_t *seen, Error *err)
{
    if (seen[n->id])
        return OK;
    seen[n->id] = 1;
    for (size_t i = 0; i < n->in.n; i++)
        TRY(split_below(c, n->in.p[i], seen, err));
    return n->kind == NODE_AGG && splits(n) ? split(c, n, err) : OK;
}

Status arrange_distinct(Compiler *c, Node *n, Error *err)
{
    uint8_t seen[IVM_MAX_NODES] = {0};
    return split_below(c, n, seen, err);
}

/* ---- what is cut --------------------------------------------------------------------------------------------------------------- */

/* A merged aggregate follows from the change alone, unless an extreme goes. */
static int agg_asks(const IvmView *v, const Node *n)
{
    if (n == v->agg && v->shape != IVM_MERGE)
        return 1;
    for (size_t i = n->nkeys; i < n->exprs.n; i++) {
        AggKind k = agg_kind(n->exprs.p[i]);
        if (n->used[i] && (k == AGG_MIN || k == AGG_MAX || !agg_mergeable(n->exprs.p[i])))
            return 1;
    }
    return 0;
}

/* Nodes whose rows, before or after a change, somebody above asks for have 2: by id. */
static void need_rows(const IvmView *v, const Node *n, int asked, uint8_t *need)
{
    if (need[n->id] > asked)
        return;
    need[n->id] = (uint8_t)(1 + asked);
    int passes = n->kind == NODE_FILTER || n->kind == NODE_PROJECT || n->kind == NODE_UNION || n->kind == NODE_FLAT;
    for vec_each(Node *, in, &n->in)
        need_rows(v, *in, passes ? asked : n->kind == NODE_AGG ? agg_asks(v, n) : 1, need);
}

/* Some rows of each partition, where they are asked for. */
static int is_window_asked(const Node *n, const uint8_t *need)
{
    const Node *w = n->kind == NODE_FILTER ? n->in.p[0] : NULL;
    return w && w->kind == NODE_WINDOW && w->nparts && w->refs == 1 && need[n->id] == 2;
}

static int can_cut(const IvmView *v, const Node *n, const uint8_t *need)
{
    size_t used = 0;
    if ((n->kind != NODE_AGG && n->kind != NODE_DISTINCT && !is_window_asked(n, need)) || n == v->agg || n->sources >> IVM_TIME & 1 || !n->sources)
        return 0;
    for (size_t i = 0; i < node_ncols(n); i++) {
        if (!n->used[i])
            continue;
        used++;
        if (n->fuzzy[i] || (n->kind == NODE_AGG && i >= n->nkeys && !agg_mergeable(n->exprs.p[i])))
            return 0;
    }
    return used > 0;
}

/* ---- the same aggregate twice --------------------------------------------------------------------------------------------------- */

static void list_below(Arena *a, Node *n, NodeVec *ret)
{
    for vec_each(Node *, x, ret)
        if (*x == n)
            return;
    vec_push(a, ret, n);
    for vec_each(Node *, in, &n->in)
        list_below(a, *in, ret);
}

static void number_as(Arena *a, Node *n, int id)
{
    n->id = id;
    n->ref.engine = str_fmt(a, "n%d", id);
    if (n->func)
        n->func->engine = str_fmt(a, "f%d", id);
}

/* Its rows as text, whatever the numbers of its nodes are. */
static Status text_of(Compiler *c, Node *n, Str *ret, Error *err)
{
    NodeVec all = {0};
    list_below(c->a, n, &all);
    int *ids = arena_array(c->a, int, all.n);
    for (size_t i = 0; i < all.n; i++) {
        ids[i] = all.p[i]->id;
        number_as(c->a, all.p[i], (int)i);
    }
    Emit e = emit_new(c->a, c->v, NULL, NULL);
    Status s = state_sql(&e, n, SIDE_NEW, NULL, ret, err);
    for (size_t i = 0; i < all.n; i++)
        number_as(c->a, all.p[i], ids[i]);
    return s;
}

/* ---- inner views --------------------------------------------------------------------------------------------------------------- */

/* DISTINCT is an aggregate without aggregates. */
static void distinct_to_keys(Compiler *c, Node *n)
{
    if (n->kind != NODE_DISTINCT)
        return;
    n->kind = NODE_AGG;
    n->nkeys = node_ncols(n);
    for (size_t i = 0; i < n->nkeys; i++)
        vec_push(c->a, &n->exprs, expr_column(c, n->in.p[0], i));
}

static void show_columns(Compiler *c, Node *n, ExprVec *ret)
{
    for (size_t i = 0; i < node_ncols(n); i++) {
        IvmColumn col = { .name = str_fmt(c->a, "c%zu", i + 1), .type = *node_type(n, i), .nullable = node_nullable(n, i) };
        col.engine = col.name;
        if (!n->used[i])
            continue;
        vec_push(c->a, &c->v->visible, col);
        vec_push(c->a, ret, expr_column(c, n, i));
    }
}

static Status inner_view(const Compiler *outer, const Node *n, IvmView **ret, Error *err)
{
    Arena *a = outer->a;
    IvmView *v = arena_new(a, IvmView);
    Compiler c = { .a = a, .v = v };
    ExprVec shown = {0};
    Node *top = arena_new(a, Node);
    *v = (IvmView){ .target = outer->v->target, .shape = n->kind == NODE_AGG ? IVM_MERGE : IVM_BAG };
    for vec_each(const BoundTable *, t, &outer->v->tables)
        vec_push(a, &v->tables, *t);
    for vec_each(Node *, x, &outer->v->nodes)
        vec_push(a, &v->nodes, *x);
    *top = *n;
    show_columns(&c, top, &shown);
    TRY(node_project(&c, top, &shown, &v->root, err));
    for (size_t i = 0; i < node_ncols(v->root); i++)
        v->root->used[i] = 1;
    *ret = v;
    v->agg = n->kind == NODE_AGG ? top : NULL;
    v->reason = ivm_kept_how(v);
    return v->agg ? merge_compile(&c, err) : OK;
}

static void to_scan(Node *n, size_t source)
{
    n->kind = NODE_SCAN;
    n->source = source;
    n->sources = (uint64_t)1 << source;
    n->in.n = 0;
    n->exprs = n->preds = (ExprVec){0};
    n->nkeys = n->nparts = 0;
}

static Status cut(Compiler *c, Node *n, Error *err)
{
    IvmView *v = c->v;
    IvmInner inner = {0};
    Str text = {0};
    distinct_to_keys(c, n);
    TRY(text_of(c, n, &text, err));
    size_t first = v->tables.n - v->inner.n;
    for (size_t i = 0; i < v->inner.n; i++)
        if (str_eq(text, v->inner.p[i].text)) {
            to_scan(n, first + i);
            return OK;
        }
    if (v->tables.n >= IVM_MAX_SOURCES)
        return FAIL(err, E_UNSUPPORTED, "more than %d tables and aggregates", IVM_MAX_SOURCES);
    TRY(inner_view(c, n, &inner.view, err));
    inner.text = text;
    inner.table = arena_new(c->a, BoundTable);
    inner.table->id = inner.table->display = str_fmt(c->a, "part %zu", v->inner.n + 1);
    for vec_each(BoundColumn, col, &n->ref.columns)
        vec_push(c->a, &inner.table->columns, *col);
    to_scan(n, v->tables.n);
    vec_push(c->a, &v->tables, inner.table);
    vec_push(c->a, &v->inner, inner);
    return OK;
}

/* From below; what stands on a cut has other sources then. */
static Status cut_below(Compiler *c, Node *n, const uint8_t *need, uint8_t *seen, Error *err)
{
    if (seen[n->id])
        return OK;
    seen[n->id] = 1;
    uint64_t sources = n->sources & (uint64_t)1 << IVM_TIME;
    for (size_t i = 0; i < n->in.n; i++) {
        TRY(cut_below(c, n->in.p[i], need, seen, err));
        sources |= n->in.p[i]->sources;
    }
    if (n->in.n)
        n->sources = sources;
    return can_cut(c->v, n, need) ? cut(c, n, err) : OK;
}

Status arrange_cut(Compiler *c, Error *err)
{
    uint8_t seen[IVM_MAX_NODES] = {0}, need[IVM_MAX_NODES] = {0};
    need_rows(c->v, c->v->root, c->v->shape == IVM_REPLACE && !c->v->agg, need);
    return cut_below(c, c->v->root, need, seen, err);
}

IvmView *ivm_arranged(const IvmView *v) { return v->arranged; }
const IvmInners *ivm_inner(const IvmView *v) { return &v->inner; }

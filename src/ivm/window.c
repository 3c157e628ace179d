/* SPDX-License-Identifier: Apache-2.0 */
/* window.c - window functions and top-k: the partitions that a change touches are computed before and after it.
 *
 * Calls with the same partition keys share a node; a correlated subquery's domain is part of the keys.  Both states of a partition must be
 * functions of its rows, or what goes would not be what is stored.  So where the order of peers shows (row_number, lag, rows of a frame …) the
 * columns that anybody reads are added to the order: rows that are equal then are equal in everything.  That is one of the results that SQL
 * allows.  Where peers matter themselves (rank, sums over the default frame) the order stays as written; what fits neither is refused.
 * Top-k (LIMIT, DISTINCT ON) is row_number() and a filter.  Without partition keys everything is one partition; on top of a view it is cheaper to
 * compute the view anew (ivm.c refuses). */
#include "ivm/ivm_int.h"

int is_window_call(const Expr *e) { return e->kind == EX_FUNCTION && e->func && (e->func->over || e->func->class == FN_WINDOW); }

/* ---- ties ------------------------------------------------------------------------------------------------------------- */

typedef enum { TIES_STAY, TIES_BROKEN, TIES_LAST_PEER, TIES_UNKNOWN } Ties;

static int named(const Expr *e, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(e->func->canonical, str_c(names[i])))
            return 1;
    return 0;
}

static int by_rows(const WindowFrame *f) { return str_ieq(f->mode, S("rows")); }
static int from_start(const WindowFrame *f) { return !f->mode.n || str_ieq(f->from, S("unbounded preceding")); }
static int to_end(const WindowFrame *f) { return f->mode.n && str_ieq(f->to, S("unbounded following")); }
static int to_current(const WindowFrame *f) { return !f->mode.n || !f->to.n || str_ieq(f->to, S("current row")); }

/* first_value, last_value, nth_value: a row of the frame. */
static Ties ties_of_pick(const Expr *e)
{
    const WindowSpec *w = e->func->over;
    const WindowFrame *f = &w->frame;
    if (by_rows(f) || (from_start(f) && to_end(f)))
        return TIES_BROKEN;
    if (str_eq(e->func->canonical, S("first")) && from_start(f) && !e->func->ignore_nulls)
        return TIES_BROKEN;
    if (str_eq(e->func->canonical, S("last")) && from_start(f) && to_current(f) && !e->func->ignore_nulls)
        return TIES_LAST_PEER;
    return TIES_UNKNOWN;
}

static Ties ties_of(const Expr *e)
{
    static const char *const order[] = { "row_number", "ntile", "lag", "lead" };
    static const char *const peers[] = { "rank", "dense_rank", "percent_rank", "cume_dist" };
    static const char *const picks[] = { "first", "last", "first_value", "last_value", "nth_value" };
    static const char *const sums[] = { "sum", "avg", "count", "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor", "stddev_samp", "stddev_pop", "var_samp", "var_pop" };
    if (e->func->over->frame.exclude.n || e->func->order.n)
        return TIES_UNKNOWN;
    if (named(e, order, COUNT_OF(order)))
        return TIES_BROKEN;
    if (named(e, peers, COUNT_OF(peers)))
        return TIES_STAY;
    if (named(e, picks, COUNT_OF(picks)))
        return ties_of_pick(e);
    if (named(e, sums, COUNT_OF(sums)))
        return by_rows(&e->func->over->frame) ? TIES_BROKEN : TIES_STAY;
    return TIES_UNKNOWN;
}

/* ---- compiling ------------------------------------------------------------------------------------------------------------ */

typedef struct Windows { Compiler *c; Str key; ExprVec calls; StrVec texts; Node *node; size_t base; } Windows;

static Status key_text(Arena *a, const Expr *call, Str *ret, Error *err)
{
    StrBuf b = sb_new(a);
    for vec_each(Expr *, k, &call->func->over->partition) {
        TRY(put_expr(&b, *k, err));
        sb_addc(&b, ";");
    }
    *ret = sb_str(&b);
    return OK;
}

/* First pass: the calls with one key.  Second pass, when the node is there: their columns. */
static Status window_swap(void *ctx, const Expr *e, Expr **ret, Error *err)
{
    Windows *w = ctx;
    Str key = {0}, text = {0};
    size_t i = 0;
    if (!is_window_call(e))
        return OK;
    TRY(key_text(w->c->a, e, &key, err));
    if (!w->node && !w->calls.n)
        w->key = key;
    if (!str_eq(key, w->key)) {
        *ret = w->node ? NULL : (Expr *)e;
        return OK;
    }
    TRY(expr_text(w->c->a, e, &text, err));
    while (i < w->texts.n && !str_eq(w->texts.p[i], text))
        i++;
    if (i == w->texts.n) {
        vec_push(w->c->a, &w->texts, text);
        vec_push(w->c->a, &w->calls, (Expr *)e);
    }
    *ret = w->node ? expr_column(w->c, w->node, w->base + i) : (Expr *)e;
    return OK;
}

static Status swap_lists(Windows *w, ExprVec *lists[], size_t n, Error *err)
{
    for (size_t i = 0; i < n; i++) {
        ExprVec out = {0};
        for vec_each(Expr *, x, lists[i]) {
            Expr *y = NULL;
            TRY(expr_rewrite(w->c, *x, window_swap, w, &y, err));
            vec_push(w->c->a, &out, y);
        }
        *lists[i] = out;
    }
    return OK;
}

static Status reseat_lists(Compiler *c, const Node *from, Node *to, ExprVec *lists[], size_t n, Error *err)
{
    for (size_t i = 0; i < n; i++)
        TRY(node_reseat(c, from, to, lists[i], err));
    return OK;
}

/* The keys as columns of the node: others are computed below. */
static Status key_columns(Compiler *c, Scope *s, const ExprVec *keys, Node **in, size_t **parts, size_t *nparts, Error *err)
{
    ExprVec all = {0};
    size_t n = node_ncols(s->node);
    *parts = arena_array(c->a, size_t, s->ndom + keys->n + 1);
    for (size_t i = 0; i < n; i++)
        vec_push(c->a, &all, expr_column(c, s->node, i));
    for (*nparts = 0; *nparts < s->ndom; ++*nparts)
        (*parts)[*nparts] = *nparts;
    for vec_each(Expr *, k, keys) {
        if (expr_fuzzy(*k))
            return FAIL(err, E_UNSUPPORTED, "partition by a floating-point or order-dependent aggregate");
        if ((*k)->kind == EX_LITERAL)
            continue;
        (*parts)[(*nparts)++] = (*k)->kind == EX_COLUMN ? (size_t)(*k)->col : all.n;
        if ((*k)->kind != EX_COLUMN)
            vec_push(c->a, &all, *k);
    }
    *in = s->node;
    return all.n > n ? node_project(c, s->node, &all, in, err) : OK;
}

static Status window_node(Compiler *c, Node *in, const size_t *parts, size_t nparts, Node **ret, Error *err)
{
    TRY(node_new(c, NODE_WINDOW, ret, err));
    node_add_input(c, *ret, in);
    for (size_t i = 0; i < node_ncols(in); i++)
        node_add_column(c, *ret, *node_type(in, i), node_nullable(in, i), in->fuzzy[i]);
    (*ret)->parts = arena_array(c->a, size_t, nparts + 1);
    memcpy((*ret)->parts, parts, nparts * sizeof(size_t));
    (*ret)->nparts = nparts;
    (*ret)->monotone = 0;
    return OK;
}

static int any_column_fuzzy(const Node *n)
{
    for (size_t i = 0; i < node_ncols(n); i++)
        if (n->fuzzy[i])
            return 1;
    return 0;
}

static int order_is_fuzzy(const WindowSpec *w)
{
    for vec_each(OrderItem, o, &w->order)
        if (expr_fuzzy(o->expr))
            return 1;
    return 0;
}

/* The last of the current row's peers: peers become partitions, their order the whole one. */
static void last_peer(Compiler *c, WindowSpec *w)
{
    for vec_each(OrderItem, o, &w->order)
        vec_push(c->a, &w->partition, o->expr);
    w->order = (OrderVec){0};
    w->frame = (WindowFrame){ .mode = S("rows"), .from = S("unbounded preceding"), .to = S("unbounded following") };
}

static int call_is_fuzzy(const Expr *e) { return e->func->class == FN_AGGREGATE && agg_kind(e) != AGG_COUNT && agg_kind(e) != AGG_COUNT_STAR ? agg_is_fuzzy(e) : expr_fuzzy(e); }

static int is_pick(const Expr *e) { return str_eq(e->func->canonical, S("first")) || str_eq(e->func->canonical, S("last")); }

/* One call, over in's columns, as a column of the node. */
static Status add_call(Compiler *c, const Scope *s, Node *n, const Expr *call, Error *err)
{
    Expr *x = arena_new(c->a, Expr);
    FuncCall *f = arena_new(c->a, FuncCall);
    WindowSpec *w = arena_new(c->a, WindowSpec);
    Ties ties = ties_of(call);
    Node *in = n->in.p[0];
    if (ties == TIES_UNKNOWN || order_is_fuzzy(call->func->over) || (ties != TIES_STAY && any_column_fuzzy(in)))
        return not_incremental(call, err, "window function " STR_FMT "() that depends on the order of peers", STR_ARG(call->func->canonical));
    *x = *call;
    *f = *call->func;
    *w = *call->func->over;
    x->func = f;
    f->over = w;
    w->partition = (ExprVec){0};
    w->base = (Str){0};
    for (size_t i = 0; i < s->ndom; i++)
        vec_push(c->a, &w->partition, expr_column(c, in, i));
    for vec_each(Expr *, k, &call->func->over->partition)
        vec_push(c->a, &w->partition, *k);
    if (ties == TIES_LAST_PEER)
        last_peer(c, w);
    n->ties = arena_grow(c->a, n->ties, n->exprs.n, n->exprs.n + 1);
    n->ties[n->exprs.n] = ties != TIES_STAY;
    vec_push(c->a, &n->exprs, x);
    node_add_column(c, n, x->type, !(f->class == FN_WINDOW && !x->args.n), is_pick(call) ? expr_fuzzy(call) : call_is_fuzzy(call));
    construct_met(c, str_fmt(c->a, STR_FMT "() over", STR_ARG(f->canonical)));
    return OK;
}

static Status one_node(Windows *w, Scope *s, ExprVec *lists[], size_t n, Error *err)
{
    Compiler *c = w->c;
    const Expr *first = w->calls.p[0];
    size_t *parts = NULL, nparts = 0;
    Node *in = NULL;
    Windows again = { .c = c };
    TRY(key_columns(c, s, &first->func->over->partition, &in, &parts, &nparts, err));
    TRY(reseat_lists(c, s->node, in, lists, n, err));
    TRY(swap_lists(&again, lists, n, err));
    TRY(window_node(c, in, parts, nparts, &again.node, err));
    again.node->position = first->position;
    again.base = node_ncols(in);
    for vec_each(Expr *, call, &again.calls)
        TRY(add_call(c, s, again.node, *call, err));
    TRY(swap_lists(&again, lists, n, err));
    TRY(reseat_lists(c, in, again.node, lists, n, err));
    s->node = again.node;
    return OK;
}

Status plan_windows(Compiler *c, Scope *s, ExprVec *lists[], size_t n, Error *err)
{
    for (;;) {
        Windows w = { .c = c };
        TRY(swap_lists(&w, lists, n, err));
        if (!w.calls.n)
            return OK;
        TRY(one_node(&w, s, lists, n, err));
    }
}

/* ---- top-k ------------------------------------------------------------------------------------------------------------------ */

static Expr *row_number(Compiler *c, const TopK *k)
{
    Expr *e = arena_new(c->a, Expr);
    e->kind = EX_FUNCTION;
    e->position = k->position;
    e->type.kind = DT_INT64;
    e->func = arena_new(c->a, FuncCall);
    e->func->canonical = e->func->engine = S("row_number");
    e->func->class = FN_WINDOW;
    e->func->over = arena_new(c->a, WindowSpec);
    e->func->over->partition = k->by;
    e->func->over->order = k->order;
    return e;
}

static Status constant(const Expr *e, int64_t none, int64_t *ret, Error *err)
{
    *ret = none;
    while (e && e->kind == EX_CAST)
        e = e->args.p[0];
    if (!e || (e->kind == EX_LITERAL && e->value.kind == DT_NULL))
        return OK;
    if (e->kind != EX_LITERAL || e->value.kind < DT_INT8 || e->value.kind > DT_INT64)
        return not_incremental(e, err, "LIMIT that is not a constant");
    *ret = e->value.integer;
    return OK;
}

static Expr *row_test(Compiler *c, Op op, Expr *rn, int64_t v)
{
    Expr *x = arena_new(c->a, Expr);
    *x = (Expr){ .kind = EX_LITERAL, .value = { .kind = DT_INT64, .integer = v }, .type = { .kind = DT_INT64 } };
    return expr_binary(c, op, rn, x);
}

Status plan_topk(Compiler *c, Scope *s, const TopK *k, ExprVec *lists[], size_t n, Error *err)
{
    int64_t limit, offset;
    ExprVec number = {0}, preds = {0}, *all[8] = { &number };
    Node *filtered = NULL;
    TRY(constant(k->limit, INT64_MAX, &limit, err));
    TRY(constant(k->offset, 0, &offset, err));
    for (size_t i = 0; i < n; i++)
        all[i + 1] = lists[i];
    vec_push(c->a, &number, row_number(c, k));
    TRY(plan_windows(c, s, all, n + 1, err));
    if (offset)
        vec_push(c->a, &preds, row_test(c, OP_GT, number.p[0], offset));
    if (limit < INT64_MAX - offset)
        vec_push(c->a, &preds, row_test(c, OP_LE, number.p[0], limit + offset));
    TRY(node_filter(c, s->node, &preds, &filtered, err));
    TRY(reseat_lists(c, s->node, filtered, lists, n, err));
    s->node = filtered;
    construct_met(c, k->by.n || s->ndom ? S("top-k of a group") : S("top-k"));
    return OK;
}

/* ---- state -------------------------------------------------------------------------------------------------------------------- */

static int is_column(const Expr *x, const Node *in, size_t col) { return x->kind == EX_COLUMN && node_of(x) == in && (size_t)x->col == col; }

/* One that is the same in all of the partition, or ordered by already, orders nothing more. */
static int orders_nothing(const WindowSpec *w, const Node *in, size_t col)
{
    for vec_each(Expr *, x, &w->partition)
        if (is_column(*x, in, col))
            return 1;
    for vec_each(OrderItem, o, &w->order)
        if (is_column(o->expr, in, col))
            return 1;
    return 0;
}

/* The columns of in that are read, behind the order as written. */
static Expr *call_in_order(Emit *e, const Node *n, size_t i)
{
    Compiler c = { .a = e->a, .v = (IvmView *)e->v };
    Node *in = n->in.p[0];
    Expr *x = arena_new(e->a, Expr);
    *x = *n->exprs.p[i];
    if (!n->ties[i])
        return x;
    x->func = arena_new(e->a, FuncCall);
    *x->func = *n->exprs.p[i]->func;
    x->func->over = arena_new(e->a, WindowSpec);
    *x->func->over = *n->exprs.p[i]->func->over;
    x->func->over->order = (OrderVec){0};
    for vec_each(OrderItem, o, &n->exprs.p[i]->func->over->order)
        vec_push(e->a, &x->func->over->order, *o);
    for (size_t k = 0; k < node_ncols(in); k++) {
        OrderItem o = { expr_column(&c, in, k), 0, 0 };
        if (in->used[k] && !orders_nothing(x->func->over, in, k))
            vec_push(e->a, &x->func->over->order, o);
    }
    if (!n->exprs.p[i]->func->over->order.n && !x->func->over->frame.mode.n && n->exprs.p[i]->func->class == FN_AGGREGATE)
        x->func->over->frame = (WindowFrame){ .mode = S("rows"), .from = S("unbounded preceding"), .to = S("unbounded following") };
    return x;
}

Status put_window_call(Emit *e, const Node *n, size_t i, StrBuf *b, Error *err) { return put_expr(b, call_in_order(e, n, i), err); }

static int is_part(const Node *n, size_t col)
{
    for (size_t i = 0; i < n->nparts; i++)
        if (n->parts[i] == col)
            return 1;
    return 0;
}

/* A restriction of whole partitions may go below. */
static Restrict of_partitions(Emit *e, const Node *n, const Restrict *only, int *whole)
{
    size_t *cols = arena_array(e->a, size_t, only->n + 1);
    Str *names = arena_array(e->a, Str, only->n + 1);
    Restrict r = { only->table, 0, cols, names, only->strict };
    *whole = 1;
    for (size_t i = 0; i < only->n; i++) {
        if (!is_part(n, only->cols[i])) {
            *whole = 0;
            continue;
        }
        cols[r.n] = only->cols[i];
        names[r.n++] = only->names[i];
    }
    return r;
}

static Status put_window_columns(Emit *e, const Node *n, StrBuf *b, Error *err)
{
    const Node *in = n->in.p[0];
    int any = 0;
    for (size_t i = 0; i < node_ncols(n); i++) {
        if (!n->used[i])
            continue;
        sb_addc(b, any++ ? ", " : "");
        if (i < node_ncols(in))
            sb_fmt(b, "n%d.c%zu", in->id, i + 1);
        else
            TRY(put_expr(b, call_in_order(e, n, i - node_ncols(in)), err));
        sb_fmt(b, " AS c%zu", i + 1);
    }
    if (!any)
        sb_addc(b, "1 AS c0");
    return OK;
}

Status state_window(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    Restrict below = {0};
    Str rows = {0};
    int whole = 1;
    if (only)
        below = of_partitions(e, n, only, &whole);
    sb_addc(b, "SELECT ");
    TRY(put_window_columns(e, n, b, err));
    TRY(state_sql(e, n->in.p[0], side, below.n ? &below : NULL, &rows, err));
    sb_fmt(b, " FROM (" STR_FMT ") n%d", STR_ARG(rows), n->in.p[0]->id);
    if (only && !whole)
        restrict_above(e, n, only, b);
    return OK;
}

/* ---- change ---------------------------------------------------------------------------------------------------------------------- */

static Status changed_partitions(Emit *e, const Node *n, Str *ret, Error *err)
{
    Str change = {0};
    StrBuf b = sb_new(e->a);
    TRY(delta_table(e, n->in.p[0], &change, err));
    sb_addc(&b, n->nparts ? "SELECT DISTINCT " : "SELECT 1 AS k0");
    for (size_t i = 0; i < n->nparts; i++)
        sb_fmt(&b, "%sx.c%zu AS k%zu", i ? ", " : "", n->parts[i] + 1, i + 1);
    sb_fmt(&b, " FROM " STR_FMT " x%s", STR_ARG(change), n->nparts ? "" : " LIMIT 1");
    *ret = str_fmt(e->a, "ivm_k%d", n->id);
    return emit_step(e, *ret, sb_str(&b), err);
}

Status delta_window(Emit *e, const Node *n, Str *ret, Error *err)
{
    StrBuf b = sb_new(e->a);
    Restrict only = { .n = n->nparts, .cols = n->parts };
    Str *names = arena_array(e->a, Str, n->nparts + 1);
    TRY(changed_partitions(e, n, &only.table, err));
    for (size_t i = 0; i < n->nparts; i++)
        names[i] = str_fmt(e->a, "k%zu", i + 1);
    only.names = names;
    for (int side = 0; side < 2; side++) {
        Str rows = {0};
        TRY(state_sql(e, n, side ? SIDE_NEW : SIDE_OLD, &only, &rows, err));
        sb_addc(&b, side ? " UNION ALL SELECT " : "SELECT ");
        put_columns(&b, n, "x");
        sb_fmt(&b, ", %s AS w FROM (" STR_FMT ") x", side ? "1" : "-1", STR_ARG(rows));
        if (!n->nparts)
            sb_fmt(&b, " WHERE EXISTS (SELECT 1 FROM " STR_FMT ")", STR_ARG(only.table));
    }
    *ret = sb_str(&b);
    return OK;
}

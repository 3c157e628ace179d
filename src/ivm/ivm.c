/* SPDX-License-Identifier: Apache-2.0 */
/* ivm.c - the door: compile a query into a view, choose its shape, give out its texts and plans.
 *
 * Shapes.  An aggregate (or DISTINCT) on top whose aggregates all merge: IVM_MERGE.  Another aggregate on top, HAVING or
 * not: IVM_REPLACE by its keys.  Anything else: IVM_BAG, or IVM_REPLACE by row when a visible column is fuzzy.
 * Columns are fuzzy when a second computation over the same rows may differ (sums of floats depend on order): they may
 * be shown, but neither be compared nor decide which rows exist, below the top. */
#include "ivm/ivm_int.h"

#include <stdio.h>

/* ---- the sources and columns ------------------------------------------------------------------------------ */

static Status list_sources(Compiler *c, Error *err)
{
    TableRefs refs = {0};
    IvmView *v = c->v;
    sql_tables(c->a, v->query, &refs);
    for vec_each(TableRef *, r, &refs) {
        int known = (*r)->table == NULL;
        for (size_t i = 0; i < v->tables.n && !known; i++)
            known = str_eq(v->tables.p[i]->id, (*r)->table->id);
        if (!known)
            vec_push(c->a, &v->tables, (*r)->table);
    }
    if (v->tables.n > IVM_MAX_SOURCES)
        return FAIL(err, E_UNSUPPORTED, "a query over more than %d tables", IVM_MAX_SOURCES);
    return OK;
}

static void list_columns(Compiler *c)
{
    for vec_each(BoundColumn, col, &c->v->query->columns) {
        IvmColumn x = { col->name, col->engine, col->type, col->nullable };
        vec_push(c->a, &c->v->visible, x);
    }
}

/* ---- the shape ---------------------------------------------------------------------------------------------- */

/* DISTINCT on top is an aggregate without aggregates. */
static Status distinct_to_groups(Compiler *c, Node *distinct, Node **ret, Error *err)
{
    Node *in = distinct->in.p[0], *agg = NULL;
    ExprVec outputs = {0};
    TRY(node_new(c, NODE_AGG, &agg, err));
    node_add_input(c, agg, in);
    for (size_t i = 0; i < node_ncols(in); i++) {
        vec_push(c->a, &agg->exprs, expr_column(c, in, i));
        node_add_column(c, agg, *node_type(in, i), node_nullable(in, i), in->fuzzy[i]);
    }
    agg->nkeys = node_ncols(in);
    agg->monotone = 0;
    for (size_t i = 0; i < node_ncols(agg); i++)
        vec_push(c->a, &outputs, expr_column(c, agg, i));
    return node_project(c, agg, &outputs, ret, err);
}

/* The root is always a projection: shapes print its expressions. */
static Status normal_root(Compiler *c, Node *n, Error *err)
{
    ExprVec outputs = {0};
    if (n->kind == NODE_DISTINCT && node_ncols(n))
        return distinct_to_groups(c, n, &c->v->root, err);
    for (size_t i = 0; i < node_ncols(n); i++)
        vec_push(c->a, &outputs, expr_column(c, n, i));
    return n->kind == NODE_PROJECT ? (c->v->root = n, OK) : node_project(c, n, &outputs, &c->v->root, err);
}

static int all_merge(const Node *agg)
{
    for (size_t i = agg->nkeys; i < agg->exprs.n; i++)
        if (!agg_mergeable(agg->exprs.p[i]))
            return 0;
    return 1;
}

static int any_fuzzy(const Node *n)
{
    for (size_t i = 0; i < node_ncols(n); i++)
        if (n->fuzzy[i])
            return 1;
    return 0;
}

static void choose_shape(IvmView *v)
{
    Node *top = v->root->in.p[0];
    v->shape = IVM_BAG;
    if (top->kind == NODE_FILTER && top->in.p[0]->kind == NODE_AGG) {
        v->having = top;
        v->agg = top->in.p[0];
        v->shape = IVM_REPLACE;
    } else if (top->kind == NODE_AGG) {
        v->agg = top;
        v->shape = all_merge(top) ? IVM_MERGE : IVM_REPLACE;
    } else if (is_topk(v)) {
        v->shape = IVM_REPLACE;
    } else if (any_fuzzy(v->root)) {
        v->shape = IVM_REPLACE;
        v->by_row = 1;
    }
}

/* One window over everything, on top: both its states would be computed whole. */
static Status check_partitions(const Node *n, Error *err)
{
    Expr at = {0};
    while (n->kind == NODE_PROJECT || n->kind == NODE_FILTER || n->kind == NODE_TEMPORAL || n->kind == NODE_FLAT || n->kind == NODE_WINDOW) {
        at.position = n->position;
        if (n->kind == NODE_WINDOW && !n->nparts)
            return not_incremental(&at, err, "window or LIMIT without partition");
        n = n->in.p[0];
    }
    return OK;
}

/* Rows that are recomputed one by one may differ in a number, not in what was picked: the stored pick may be gone. */
static Status check_picks(const IvmView *v, Error *err)
{
    for (size_t i = 0; v->by_row && i < node_ncols(v->root); i++)
        if (v->root->fuzzy[i] & FUZZY_PICK)
            return FAIL(err, E_UNSUPPORTED, "aggregate that picks one of its rows, below the top");
    return OK;
}

/* Whether anything fuzzy decides which rows there are. */
static int compares_fuzzy(const IvmView *v, const Node *n)
{
    for vec_each(Expr *, p, &n->preds)
        if (expr_fuzzy(*p) && n != v->having)
            return 1;
    if (n->kind == NODE_DISTINCT || n->kind == NODE_SETOP)
        return any_fuzzy(n);
    for (size_t i = 0; n->kind == NODE_AGG && i < n->nkeys; i++)
        if (n->fuzzy[i])
            return 1;
    return 0;
}

static Status check_fuzzy(const IvmView *v, const Node *n, uint8_t *seen, Error *err)
{
    if (seen[n->id])
        return OK;
    seen[n->id] = 1;
    if (compares_fuzzy(v, n))
        return FAIL(err, E_UNSUPPORTED, "floating-point or order-dependent aggregate compared below the top");
    for vec_each(Node *, in, &n->in)
        TRY(check_fuzzy(v, *in, seen, err));
    return OK;
}

Str ivm_kept_how(const IvmView *v)
{
    switch (v->shape) {
    case IVM_BAG:
        return S("rows by their change");
    case IVM_MERGE:
        return v->agg->exprs.n > v->agg->nkeys ? S("aggregate merged by hidden state") : S("distinct rows counted by hidden state");
    case IVM_REPLACE:
        return v->topk ? S("first rows kept, read again when one of them goes") : v->by_row ? S("affected rows recomputed") : S("affected groups recomputed");
    case IVM_FULL_ONLY:
        break;
    }
    return S("in full");
}

/* mz_now() stands in temporal filters only. */
static Status check_now(IvmView *v, Error *err)
{
    for (size_t i = 0; i < v->nodes.n; i++) {
        const Node *n = v->nodes.p[i];
        v->uses_now |= n->kind == NODE_TEMPORAL;
        for (size_t k = 0; n->kind != NODE_TEMPORAL && k < n->preds.n; k++)
            if (has_now(n->preds.p[k]))
                return not_incremental(n->preds.p[k], err, "mz_now() outside of the conditions of WHERE and HAVING");
        for (size_t k = 0; k < n->exprs.n; k++)
            if (has_now(n->exprs.p[k]))
                return not_incremental(n->exprs.p[k], err, "mz_now() outside of the conditions of WHERE and HAVING");
    }
    return OK;
}

/* A plan that no engine would take is found out now. */
static Status check_size(Arena *a, const IvmView *v, Error *err)
{
    Error why = {0};
    Str text = {0};
    Status s = ivm_full_sql(a, v, &text, &why);
    IvmChange *all = arena_array(a, IvmChange, v->tables.n + 1);
    IvmPlan *p = NULL;
    for (size_t i = 0; i <= v->tables.n; i++)
        all[i] = (IvmChange){ .changed = 1, .has_deletes = 1 };
    if (s == OK)
        s = ivm_plan(a, v, all, &p, &why);
    if (s == E_LIMIT)
        return FAIL(err, E_UNSUPPORTED, "%s", why.message);
    if (s != OK)
        *err = why;
    return s;
}

static Status compile(Compiler *c, Error *err)
{
    IvmView *v = c->v;
    Node *n = NULL;
    uint8_t seen[IVM_MAX_NODES] = {0};
    TRY(list_sources(c, err));
    TRY(plan_query(c, v->query, NULL, &n, err));
    TRY(node_rename(c, n, &v->query->columns, &n, err));
    if (c->arranges)
        TRY(arrange_distinct(c, n, err));
    TRY(normal_root(c, n, err));
    choose_shape(v);
    TRY(check_picks(v, err));
    if (!v->topk)
        TRY(check_partitions(v->root, err));
    TRY(check_fuzzy(v, v->root, seen, err));
    nodes_mark_used(v);
    if (c->arranges)
        TRY(arrange_cut(c, err));
    if (v->shape == IVM_MERGE)
        TRY(merge_compile(c, err));
    if (v->shape == IVM_REPLACE && !v->by_row)
        TRY(replace_compile(c, err));
    v->reason = ivm_kept_how(v);
    TRY(check_now(v, err));
    return v->target == IVM_LIVE ? check_size(c->a, v, err) : OK;
}

static int see_any_now(void *ctx, Expr *e)
{
    *(int *)ctx |= e->kind == EX_FUNCTION && e->func && str_eq(e->func->canonical, S("mz_now"));
    return 1;
}

/* The view in its other form, where it has one. */
static void arrange(Arena *a, IvmView *v)
{
    IvmView *other = arena_new(a, IvmView);
    Compiler c = { .a = a, .v = other, .arranges = 1 };
    Error ignored = {0};
    other->query = v->query;
    other->target = v->target;
    if (v->uses_now || v->shape == IVM_FULL_ONLY)
        return;
    list_columns(&c);
    if (compile(&c, &ignored) == OK && other->inner.n)
        v->arranged = other;
}

Status ivm_compile(Arena *a, const Query *q, IvmView **ret, Error *err) { return ivm_compile_for(a, q, IVM_STORED, ret, err); }

Status ivm_compile_for(Arena *a, const Query *q, IvmTarget target, IvmView **ret, Error *err)
{
    Error why = {0};
    IvmView *v = arena_new(a, IvmView);
    Compiler c = { .a = a, .v = v };
    v->query = q;
    v->target = target;
    (void)sql_walk_query((Query *)q, see_any_now, &v->uses_now);
    list_columns(&c);
    Status s = compile(&c, &why);
    if (s != OK && s != E_UNSUPPORTED) {
        *err = why;
        return s;
    }
    if (s == E_UNSUPPORTED) {
        v->shape = IVM_FULL_ONLY;
        v->reason = str_dup(a, str_c(why.message));
        v->hidden = (IvmColumns){0};
    }
    if (target == IVM_LIVE)
        arrange(a, v);
    *ret = v;
    return OK;
}

/* ---- asking --------------------------------------------------------------------------------------------------- */

void ivm_give_up(IvmView *v, Str why)
{
    v->shape = IVM_FULL_ONLY;
    v->reason = why;
    v->hidden = (IvmColumns){0};
}

IvmShape ivm_shape(const IvmView *v) { return v->shape; }
Str ivm_reason(const IvmView *v) { return v->reason; }
const StrVec *ivm_constructs(const IvmView *v) { return &v->constructs; }
const IvmColumns *ivm_visible(const IvmView *v) { return &v->visible; }
const IvmColumns *ivm_hidden(const IvmView *v) { return &v->hidden; }
int ivm_uses_now(const IvmView *v) { return v->uses_now; }
size_t ivm_nsources(const IvmView *v) { return v->tables.n; }
const BoundTable *ivm_source(const IvmView *v, size_t i) { return v->tables.p[i]; }

int ivm_source_reads(const IvmView *v, size_t source, size_t column)
{
    for (size_t i = 0; i < v->nodes.n; i++) {
        const Node *n = v->nodes.p[i];
        if (n->kind == NODE_SCAN && n->source == source && n->used && n->used[column])
            return 1;
    }
    return 0;
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

static Status print_source(void *ctx, StrBuf *out, const TableRef *ref, Error *err)
{
    const IvmView *v = ctx;
    for (size_t i = 0; ref->table && i < v->tables.n; i++)
        if (str_eq(v->tables.p[i]->id, ref->table->id)) {
            sb_fmt(out, "s%zu_new", i);
            return OK;
        }
    return FAIL(err, E_INTERNAL, "a table that is not among the view's sources");
}

Status ivm_query_sql(Arena *a, const IvmView *v, Str *ret, Error *err)
{
    Printer p = { (void *)v, print_source };
    return sql_print_query(a, &p, v->query, ret, err);
}

Status ivm_full_sql(Arena *a, const IvmView *v, Str *ret, Error *err)
{
    Emit e = emit_new(a, v, NULL, NULL);
    switch (v->shape) {
    case IVM_BAG:
        return plain_full_sql(&e, ret, err);
    case IVM_MERGE:
        return merge_full_sql(&e, ret, err);
    case IVM_REPLACE:
        return replace_full_sql(&e, ret, err);
    case IVM_FULL_ONLY:
        break;
    }
    return ivm_query_sql(a, v, ret, err);
}

Status ivm_plan(Arena *a, const IvmView *v, const IvmChange *changes, IvmPlan **ret, Error *err)
{
    IvmPlan *plan = arena_new(a, IvmPlan);
    Emit e = emit_new(a, v, changes, plan);
    if (v->shape == IVM_FULL_ONLY)
        return FAIL(err, E_UNSUPPORTED, "not incremental: " STR_FMT, STR_ARG(v->reason));
    *ret = plan;
    if (!emit_changed(&e, v->root))
        return OK;
    switch (v->shape) {
    case IVM_MERGE:
        return merge_plan(&e, err);
    case IVM_REPLACE:
        return replace_plan(&e, err);
    default:
        return bag_plan(&e, err);
    }
}

Str ivm_plan_text(Arena *a, const IvmView *v, const IvmPlan *p)
{
    static const char *const SHAPES[] = { "bag", "merge", "replace", "full only" };
    StrBuf b = sb_new(a);
    sb_fmt(&b, "%s: " STR_FMT "\n", SHAPES[v->shape], STR_ARG(v->reason));
    for (size_t i = 0; i < p->steps.n; i++)
        sb_fmt(&b, STR_FMT ":\n  " STR_FMT "\n", STR_ARG(p->steps.p[i].name), STR_ARG(p->steps.p[i].sql));
    sb_fmt(&b, "delete:\n  " STR_FMT "\ninsert:\n  " STR_FMT "\ncheck:\n  " STR_FMT "\n", STR_ARG(p->delete_sql), STR_ARG(p->insert_sql),
           STR_ARG(p->check_sql));
    return sb_str(&b);
}

/* The plans of the inner views of an arranged one. */
static Status explain_inner(Arena *a, const IvmView *v, const IvmChange *all, StrBuf *b, Error *err)
{
    for (size_t i = 0; i < v->inner.n; i++) {
        IvmPlan *p = NULL;
        TRY(ivm_plan(a, v->inner.p[i].view, all, &p, err));
        sb_fmt(b, "Part %zu has a table of its own, s%zu. ", i + 1, v->tables.n - v->inner.n + i);
        sb_add(b, ivm_plan_text(a, v->inner.p[i].view, p));
    }
    return OK;
}

Status ivm_explain(Arena *a, const IvmView *v, Str *ret, Error *err)
{
    StrBuf b = sb_new(a);
    StrVec sources = {0};
    const IvmView *kept = v->arranged ? v->arranged : v;
    IvmChange *all = arena_array(a, IvmChange, kept->tables.n + 1);
    IvmPlan *p = NULL;
    for (size_t i = 0; i <= kept->tables.n; i++)
        all[i] = (IvmChange){ .changed = 1, .has_deletes = 1 };
    for vec_each(const BoundTable *, t, &v->tables)
        vec_push(a, &sources, (*t)->display);
    sb_fmt(&b, "%s: " STR_FMT "\n", v->shape == IVM_FULL_ONLY ? "Computed anew" : "Incremental", STR_ARG(kept->reason));
    sb_fmt(&b, "Constructs: " STR_FMT "\n", STR_ARG(str_join(a, &v->constructs, S(", "))));
    sb_fmt(&b, "Sources: " STR_FMT "%s\n", STR_ARG(str_join(a, &sources, S(", "))), v->uses_now ? ", time" : "");
    TRY(explain_inner(a, kept, all, &b, err));
    if (v->shape == IVM_FULL_ONLY) {
        Str query = {0};
        TRY(ivm_query_sql(a, v, &query, err));
        sb_fmt(&b, "query:\n  " STR_FMT "\n", STR_ARG(query));
    } else {
        TRY(ivm_plan(a, kept, all, &p, err));
        sb_add(&b, ivm_plan_text(a, kept, p));
    }
    *ret = sb_str(&b);
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* algebra.c - bound queries to plan nodes.
 *
 * The plan is the query's meaning in few operators.  ORDER BY without LIMIT is dropped (a view is a bag); right joins
 * are turned round; UNION is DISTINCT over UNION ALL; a CTE is planned anew at each reference, so each use of a table
 * is a leaf of its own.  What is not in these operators is refused by E_UNSUPPORTED, with its name and place. */
#include "ivm/ivm_int.h"

#include <stdarg.h>
#include <stdio.h>

static Status refuse_at(const Expr *e, Error *err, const char *what)
{
    if (!e || !e->position)
        return FAIL(err, E_UNSUPPORTED, "%s", what);
    Status s = FAIL(err, E_UNSUPPORTED, "%s at position %d", what, e->position);
    err->position = e->position;
    return s;
}

Status not_incremental(const Expr *e, Error *err, const char *fmt, ...)
{
    char what[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return refuse_at(e, err, what);
}

Status live_only(Compiler *c, const Expr *e, Error *err, const char *fmt, ...)
{
    char what[256];
    va_list ap;
    if (c->v->target == IVM_LIVE)
        return OK;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return refuse_at(e, err, what);
}

static Status refuse(int position, Error *err, const char *what)
{
    Expr at = { .position = position };
    return not_incremental(&at, err, "%s", what);
}

void construct_met(Compiler *c, Str name)
{
    if (!strvec_has(&c->v->constructs, name))
        vec_push(c->a, &c->v->constructs, name);
}

/* ---- leaves -------------------------------------------------------------------------------------------- */

static size_t source_of(const Compiler *c, const BoundTable *t)
{
    size_t i = 0;
    while (i < c->v->tables.n && !str_eq(c->v->tables.p[i]->id, t->id))
        i++;
    return i;
}

static Status plan_scan(Compiler *c, const TableRef *t, Node **ret, Error *err)
{
    Node *n = NULL;
    size_t source = source_of(c, t->table);
    if (source >= c->v->tables.n)
        return FAIL(err, E_INTERNAL, "table '" STR_FMT "' is not among the query's sources", STR_ARG(t->table->id));
    TRY(node_new(c, NODE_SCAN, &n, err));
    n->source = source;
    n->sources = (uint64_t)1 << source;
    for vec_each(BoundColumn, col, &t->table->columns)
        node_add_column(c, n, col->type, col->nullable, 0);
    *ret = n;
    return OK;
}

/* VALUES whose rows name columns of the domain: each row is a projection of it. */
static Status plan_domain_values(Compiler *c, const Query *q, const Scope *dom, Node **ret, Error *err)
{
    Scope s = {0};
    scope_copy(c, dom, &s);
    for (size_t i = 0; i < q->rows.n; i++) {
        Names names = { .c = c, .own = &s, .own_node = s.node };
        ExprVec exprs = {0};
        Node *n = NULL;
        for (size_t k = 0; k < s.ndom; k++)
            vec_push(c->a, &exprs, expr_column(c, s.node, k));
        for (size_t k = 0; k < q->rows.p[i].n; k++) {
            Expr *x = NULL;
            TRY(expr_bind(&names, q->rows.p[i].p[k], &x, err));
            vec_push(c->a, &exprs, data_type_equal(&x->type, &q->columns.p[k].type) ? x : expr_cast(c, x, q->columns.p[k].type));
        }
        TRY(node_project(c, s.node, &exprs, &n, err));
        if (i)
            TRY(node_union(c, *ret, n, &n, err));
        *ret = n;
    }
    construct_met(c, S("values"));
    return OK;
}

static Status plan_values(Compiler *c, const ExprVec *rows, size_t nrows, const BoundColumns *cols, Node **ret, Error *err)
{
    Node *n = NULL;
    Names names = { .c = c };
    TRY(node_new(c, NODE_VALUES, &n, err));
    ExprVec *bound = arena_array(c->a, ExprVec, nrows + 1);
    for (size_t i = 0; i < nrows; i++)
        for (size_t j = 0; j < rows[i].n; j++) {
            Expr *x = NULL;
            TRY(expr_bind(&names, rows[i].p[j], &x, err));
            if (!data_type_equal(&x->type, &cols->p[j].type))
                x = expr_cast(c, x, cols->p[j].type);
            vec_push(c->a, &bound[i], x);
        }
    for vec_each(BoundColumn, col, cols)
        node_add_column(c, n, col->type, 1, 0);
    n->rows = bound;
    n->nrows = nrows;
    construct_met(c, S("values"));
    *ret = n;
    return OK;
}

/* ---- FROM ---------------------------------------------------------------------------------------------- */

static Status plan_leaf(Compiler *c, const TableRef *t, Node **ret, Error *err)
{
    switch (t->kind) {
    case TR_TABLE:
        return t->table->view ? plan_query(c, t->table->view, NULL, ret, err) : plan_scan(c, t, ret, err);
    case TR_CTE:
        construct_met(c, S("cte"));
        return plan_query(c, t->query, NULL, ret, err);
    case TR_QUERY:
        construct_met(c, S("derived table"));
        return plan_query(c, t->query, NULL, ret, err);
    case TR_VALUES:
        return plan_values(c, t->rows.p, t->rows.n, &t->columns, ret, err);
    case TR_FUNCTION: {
        Node *one = NULL;
        TRY(node_new(c, NODE_ONE, &one, err));
        return plan_function(c, t, NULL, one, PAD_NONE, ret, err);
    }
    case TR_FILE:
        return refuse(t->position, err, "file as a table");
    case TR_JOIN:
        break;
    }
    return FAIL(err, E_INTERNAL, "unknown kind of relation %d", (int)t->kind);
}

void scope_append(Compiler *c, Scope *to, const Scope *from, size_t shift)
{
    for vec_each(ScopeEntry, r, &from->rels) {
        ScopeEntry moved = { r->rel, r->base + shift };
        vec_push(c->a, &to->rels, moved);
    }
    for vec_each(ColumnEntry, x, &from->cols) {
        ColumnEntry moved = { x->rel, x->col, x->at + shift };
        vec_push(c->a, &to->cols, moved);
    }
}

void scope_copy(Compiler *c, const Scope *from, Scope *to)
{
    *to = (Scope){ .node = from->node, .ndom = from->ndom, .dom = from->dom };
    scope_append(c, to, from, 0);
}

/* ON, as conjuncts over the two inputs in a row. */
static Status bind_on(Compiler *c, const TableRef *t, Scope *l, Scope *r, Node *pair, ExprVec *ret, Error *err)
{
    Scope both = { .node = pair };
    ExprVec parts = {0};
    scope_append(c, &both, l, 0);
    scope_append(c, &both, r, node_ncols(l->node));
    Names names = { .c = c, .own = &both, .own_node = pair };
    expr_conjuncts(c, t->on, &parts);
    for vec_each(Expr *, p, &parts) {
        Expr *x = NULL;
        TRY(expr_bind(&names, *p, &x, err));
        vec_push(c->a, ret, x);
    }
    return OK;
}

static Status to_inputs(Compiler *c, const Node *pair, const ExprVec *in, ExprVec *ret, Error *err)
{
    for vec_each(Expr *, p, in) {
        Expr *x = NULL;
        TRY(node_to_inputs(c, pair, *p, &x, err));
        vec_push(c->a, ret, x);
    }
    return OK;
}

static Status from_inner(Compiler *c, const TableRef *t, Scope *l, Scope *r, Scope *s, Error *err)
{
    ExprVec on = {0};
    Node *join = NULL;
    TRY(node_join(c, l->node, r->node, &join, err));
    TRY(bind_on(c, t, l, r, join, &on, err));
    TRY(node_join_add(c, join, &on, err));
    s->node = join;
    scope_append(c, s, l, 0);
    scope_append(c, s, r, node_ncols(l->node));
    return OK;
}

/* Left and full joins; a right join is a left one whose columns are put back in order by the scope. */
static Status from_outer(Compiler *c, const TableRef *t, Scope *l, Scope *r, Scope *s, Error *err)
{
    ExprVec on = {0};
    Node *join = NULL;
    Scope *kept = t->join == JOIN_RIGHT ? r : l, *other = t->join == JOIN_RIGHT ? l : r;
    TRY(node_outer(c, kept->node, other->node, t->join == JOIN_FULL ? PAD_BOTH : PAD_LEFT, &join, err));
    TRY(bind_on(c, t, kept, other, join, &on, err));
    TRY(to_inputs(c, join, &on, &join->preds, err));
    s->node = join;
    scope_append(c, s, kept, 0);
    scope_append(c, s, other, node_ncols(kept->node));
    return OK;
}

static Status from_semi(Compiler *c, const TableRef *t, Scope *l, Scope *r, Scope *s, Error *err)
{
    ExprVec on = {0};
    Node *pair = NULL, *semi = NULL;
    TRY(node_outer(c, l->node, r->node, PAD_LEFT, &pair, err));            /* only to name both sides in ON */
    TRY(bind_on(c, t, l, r, pair, &on, err));
    TRY(node_semi(c, l->node, r->node, t->join == JOIN_ANTI ? KEEP_UNMATCHED : KEEP_MATCHED, &semi, err));
    TRY(to_inputs(c, pair, &on, &semi->preds, err));
    s->node = semi;
    scope_append(c, s, l, 0);
    return OK;
}

static const char *const JOIN_NAMES[] = {
    [JOIN_INNER] = "inner join", [JOIN_LEFT] = "left join", [JOIN_RIGHT] = "right join", [JOIN_FULL] = "full join",
    [JOIN_CROSS] = "cross join", [JOIN_SEMI] = "semi join", [JOIN_ANTI] = "anti join",
};

/* The right side of a join names columns of the left. */
Status lateral_step(Compiler *c, const TableRef *t, Scope *s, Error *err)
{
    Expr at = { .position = t->position };
    Names names = { .c = c, .own = s };
    ExprVec parts = {0}, on = {0};
    TRY(live_only(c, &at, err, "lateral join"));
    if (t->join == JOIN_LEFT)
        return lateral_left_join(c, t->right, t->on, s, err);
    if (t->join != JOIN_INNER && t->join != JOIN_CROSS)
        return not_incremental(&at, err, "%s with a lateral right side", JOIN_NAMES[t->join]);
    TRY(lateral_join(c, t->right, s, err));
    names.own_node = s->node;
    expr_conjuncts(c, t->on, &parts);
    for vec_each(Expr *, p, &parts) {
        Expr *x = NULL;
        TRY(expr_bind(&names, *p, &x, err));
        vec_push(c->a, &on, x);
    }
    return node_filter(c, s->node, &on, &s->node, err);
}

Status plan_from(Compiler *c, const TableRef *t, Scope *s, Error *err)
{
    Scope l = {0}, r = {0};
    if (t->kind != TR_JOIN) {
        ScopeEntry entry = { t, 0 };
        vec_push(c->a, &s->rels, entry);
        return plan_leaf(c, t, &s->node, err);
    }
    TRY(plan_from(c, t->left, &l, err));
    if (refers_table(t->right, &l)) {
        scope_copy(c, &l, s);
        return lateral_step(c, t, s, err);
    }
    TRY(plan_from(c, t->right, &r, err));
    construct_met(c, str_c(JOIN_NAMES[t->join]));
    switch (t->join) {
    case JOIN_INNER:
    case JOIN_CROSS:
        return from_inner(c, t, &l, &r, s, err);
    case JOIN_SEMI:
    case JOIN_ANTI:
        return from_semi(c, t, &l, &r, s, err);
    default:
        return from_outer(c, t, &l, &r, s, err);
    }
}

static Status limit_output(Compiler *c, const Query *q, const Scope *dom, Node **ret, Error *err);

/* ---- SELECT -------------------------------------------------------------------------------------------- */

/* The parts of a SELECT that stand over its FROM and WHERE, as expressions over the scope's node. */
typedef struct Parts { ExprVec items, having, qualify, by, order; } Parts;

static int is_grouped_by_sets(const Select *sel)
{
    return sel->grouping == GROUP_ROLLUP || sel->grouping == GROUP_CUBE || sel->grouping == GROUP_SETS;
}

static Status check_select(Compiler *c, const Query *q, const Select *sel, Error *err)
{
    Expr at = { .position = q->position };
    if (sel->qualify)
        TRY(live_only(c, sel->qualify, err, "QUALIFY"));
    if (sel->distinct_on.n)
        TRY(live_only(c, &at, err, "DISTINCT ON"));
    return is_grouped_by_sets(sel) ? live_only(c, &at, err, "GROUPING SETS") : OK;
}

/* ORDER BY decides something: which rows there are. */
static int order_matters(const Query *q) { return q->limit || q->offset || q->select->distinct_on.n; }

static Status bind_each(Names *names, const ExprVec *in, ExprVec *ret, Error *err)
{
    for vec_each(Expr *, p, in) {
        Expr *x = NULL;
        TRY(expr_bind(names, *p, &x, err));
        vec_push(names->c->a, ret, x);
    }
    return OK;
}

/* An ORDER BY item that is an output column is that column's expression. */
static const Expr *order_expr(const Query *q, const OrderItem *o)
{
    return o->expr->kind == EX_COLUMN && !o->expr->rel && q->select ? q->select->items.p[o->expr->col].expr : o->expr;
}

static Status bind_parts(Compiler *c, const Query *q, Scope *s, Parts *ret, Error *err)
{
    const Select *sel = q->select;
    ExprVec items = {0}, having = {0}, qualify = {0}, order = {0};
    Names names = { .c = c, .own = s, .own_node = s->node, .aggregates = sel->aggregated };
    for vec_each(SelectItem, it, &sel->items)
        vec_push(c->a, &items, it->expr);
    expr_conjuncts(c, sel->having, &having);
    expr_conjuncts(c, sel->qualify, &qualify);
    for (size_t i = 0; order_matters(q) && i < q->order.n; i++)
        vec_push(c->a, &order, (Expr *)order_expr(q, &q->order.p[i]));
    TRY(bind_each(&names, &items, &ret->items, err));
    TRY(bind_each(&names, &having, &ret->having, err));
    TRY(bind_each(&names, &qualify, &ret->qualify, err));
    TRY(bind_each(&names, &sel->distinct_on, &ret->by, err));
    return bind_each(&names, &order, &ret->order, err);
}

/* Subqueries inside of aggregate calls stand before the groups, others behind them. */
static Status scalars_of_aggregates(Compiler *c, const Expr *e, Scope *s, Error *err)
{
    if (!e || !expr_has_query(e))
        return OK;
    if (e->kind == EX_FUNCTION && e->func && e->func->class == FN_AGGREGATE && !e->func->over)
        return plan_scalars(c, e, s, err);
    for vec_each(Expr *, x, &e->args)
        TRY(scalars_of_aggregates(c, *x, s, err));
    return scalars_of_aggregates(c, e->else_, s, err);
}

static Status scalars_of(Compiler *c, const Select *sel, const Expr *e, Scope *s, Error *err)
{
    return sel->aggregated ? scalars_of_aggregates(c, e, s, err) : plan_scalars(c, e, s, err);
}

static Status plan_all_scalars(Compiler *c, const Query *q, Scope *s, Error *err)
{
    const Select *sel = q->select;
    s->base = NULL;
    for vec_each(Expr *, k, &sel->group_by)
        TRY(plan_scalars(c, *k, s, err));
    for vec_each(SelectItem, it, &sel->items)
        TRY(scalars_of(c, sel, it->expr, s, err));
    TRY(scalars_of(c, sel, sel->having, s, err));
    TRY(scalars_of(c, sel, sel->qualify, s, err));
    for (size_t i = 0; order_matters(q) && i < q->order.n; i++)
        TRY(scalars_of(c, sel, order_expr(q, &q->order.p[i]), s, err));
    return OK;
}

/* HAVING and QUALIFY: conditions on mz_now() apart. */
static Status filter_parts(Compiler *c, Scope *s, const ExprVec *preds, ExprVec *lists[], size_t n, Error *err)
{
    ExprVec plain = {0}, now = {0};
    Node *filtered = NULL;
    for vec_each(Expr *, p, preds)
        vec_push(c->a, has_now(*p) ? &now : &plain, *p);
    TRY(node_filter(c, s->node, &plain, &filtered, err));
    TRY(node_reseat(c, s->node, filtered, &now, err));
    if (now.n)
        TRY(node_temporal(c, filtered, &now, &filtered, err));
    for (size_t i = 0; i < n; i++)
        TRY(node_reseat(c, s->node, filtered, lists[i], err));
    s->node = filtered;
    return OK;
}

static void order_of(Compiler *c, const Query *q, const ExprVec *exprs, OrderVec *ret)
{
    for (size_t i = 0; i < exprs->n; i++) {
        OrderItem o = q->order.p[i];
        o.expr = exprs->p[i];
        vec_push(c->a, ret, o);
    }
}

/* DISTINCT ON: the first row of each key. */
static Status plan_distinct_on(Compiler *c, const Query *q, Scope *s, Parts *p, Error *err)
{
    ExprVec *lists[] = { &p->items, &p->order };
    Expr one = { .kind = EX_LITERAL, .value = { .kind = DT_INT64, .integer = 1 }, .type = { .kind = DT_INT64 } };
    TopK k = { .by = p->by, .limit = &one, .position = q->position };
    if (!p->by.n)
        return OK;
    order_of(c, q, &p->order, &k.order);
    construct_met(c, S("distinct on"));
    return plan_topk(c, s, &k, lists, 2, err);
}

static Status plan_limit(Compiler *c, const Query *q, Scope *s, ExprVec *items, ExprVec *order, Error *err)
{
    ExprVec *lists[] = { items, order };
    TopK k = { .limit = q->limit, .offset = q->offset, .position = (q->limit ? q->limit : q->offset)->position };
    order_of(c, q, order, &k.order);
    return plan_topk(c, s, &k, lists, 2, err);
}

static Status project_items(Compiler *c, const Scope *s, const ExprVec *items, Node **ret, Error *err)
{
    ExprVec all = {0};
    for (size_t i = 0; i < s->ndom; i++)
        vec_push(c->a, &all, expr_column(c, s->node, i));
    for vec_each(Expr *, x, items)
        vec_push(c->a, &all, *x);
    return node_project(c, s->node, &all, ret, err);
}

static Status plan_groups(Compiler *c, const Select *sel, Scope *s, Parts *p, Error *err)
{
    ExprVec *lists[] = { &p->items, &p->having, &p->qualify, &p->by, &p->order };
    if (!sel->aggregated)
        return OK;
    return is_grouped_by_sets(sel) ? plan_grouping_sets(c, sel, s, lists, 5, err) : plan_aggregate(c, sel, s, lists, 5, err);
}

static Status plan_over_groups(Compiler *c, const Query *q, Scope *s, Parts *p, Error *err)
{
    const Select *sel = q->select;
    ExprVec *after_having[] = { &p->items, &p->qualify, &p->by, &p->order }, *after[] = { &p->items, &p->by, &p->order };
    TRY(plan_groups(c, sel, s, p, err));
    if (p->having.n)
        construct_met(c, S("having"));
    TRY(filter_parts(c, s, &p->having, after_having, 4, err));
    TRY(plan_windows(c, s, after_having, 4, err));
    TRY(filter_parts(c, s, &p->qualify, after, 3, err));
    TRY(plan_set_returning(c, s, after, 3, err));
    return plan_distinct_on(c, q, s, p, err);
}

static Status plan_select(Compiler *c, const Query *q, const Scope *dom, Node **ret, Error *err)
{
    const Select *sel = q->select;
    Scope s = {0};
    Parts p = {0};
    TRY(check_select(c, q, sel, err));
    if (dom)
        scope_copy(c, dom, &s);
    if (sel->from)
        TRY(dom ? lateral_join(c, sel->from, &s, err) : plan_from(c, sel->from, &s, err));
    else if (!dom)
        TRY(node_new(c, NODE_ONE, &s.node, err));
    TRY(plan_where(c, sel->where, &s, err));
    TRY(plan_all_scalars(c, q, &s, err));
    TRY(bind_parts(c, q, &s, &p, err));
    TRY(plan_over_groups(c, q, &s, &p, err));
    int distinct = sel->distinct && !sel->distinct_on.n;
    if ((q->limit || q->offset) && !distinct)
        TRY(plan_limit(c, q, &s, &p.items, &p.order, err));
    TRY(project_items(c, &s, &p.items, ret, err));
    if (!distinct)
        return OK;
    construct_met(c, S("distinct"));
    TRY(node_distinct(c, *ret, ret, err));
    return q->limit || q->offset ? limit_output(c, q, dom, ret, err) : OK;
}

/* ---- set operations, whole queries ---------------------------------------------------------------------- */

typedef struct OutputRef { Compiler *c; Node *node; size_t shift; } OutputRef;

static Status output_swap(void *ctx, const Expr *e, Expr **ret, Error *err UNUSED)
{
    const OutputRef *o = ctx;
    if (e->kind == EX_COLUMN && !e->rel)
        *ret = expr_column(o->c, o->node, o->shift + (size_t)e->col);
    return OK;
}

/* LIMIT over what a DISTINCT, a set operation or VALUES gives. */
static Status limit_output(Compiler *c, const Query *q, const Scope *dom, Node **ret, Error *err)
{
    Scope s = { .node = *ret, .ndom = dom ? dom->ndom : 0 };
    OutputRef o = { c, s.node, s.ndom };
    ExprVec items = {0}, order = {0};
    for (size_t i = s.ndom; i < node_ncols(s.node); i++)
        vec_push(c->a, &items, expr_column(c, s.node, i));
    for vec_each(OrderItem, it, &q->order) {
        Expr *x = NULL;
        TRY(expr_rewrite(c, it->expr, output_swap, &o, &x, err));
        vec_push(c->a, &order, x);
    }
    TRY(plan_limit(c, q, &s, &items, &order, err));
    return project_items(c, &s, &items, ret, err);
}

static const char *const SETOP_NAMES[3][2] = {
    [SETOP_UNION] = { "union", "union all" }, [SETOP_INTERSECT] = { "intersect", "intersect all" },
    [SETOP_EXCEPT] = { "except", "except all" },
};

static Status plan_setop(Compiler *c, const Query *q, const Scope *dom, Node **ret, Error *err)
{
    Node *l = NULL, *r = NULL, *n = NULL;
    TRY(plan_query(c, q->left, dom, &l, err));
    TRY(plan_query(c, q->right, dom, &r, err));
    TRY(node_rename(c, l, &q->columns, &l, err));
    TRY(node_rename(c, r, &q->columns, &r, err));
    construct_met(c, str_c(SETOP_NAMES[q->setop][q->all != 0]));
    TRY(node_setop(c, q, l, r, &n, err));
    *ret = n;
    return q->setop == SETOP_UNION && !q->all ? node_distinct(c, n, ret, err) : OK;
}

static Status plan_values_query(Compiler *c, const Query *q, const Scope *dom, Node **ret, Error *err)
{
    return dom ? plan_domain_values(c, q, dom, ret, err) : plan_values(c, q->rows.p, q->rows.n, &q->columns, ret, err);
}

static Status plan_body(Compiler *c, const Query *q, const Scope *dom, Node **ret, Error *err)
{
    switch (q->body) {
    case BODY_SELECT:
        return plan_select(c, q, dom, ret, err);
    case BODY_SETOP:
        TRY(plan_setop(c, q, dom, ret, err));
        return q->limit || q->offset ? limit_output(c, q, dom, ret, err) : OK;
    case BODY_VALUES:
        TRY(plan_values_query(c, q, dom, ret, err));
        return q->limit || q->offset ? limit_output(c, q, dom, ret, err) : OK;
    }
    return FAIL(err, E_INTERNAL, "unknown body of a query");
}

Status plan_query(Compiler *c, const Query *q, const Scope *dom, Node **ret, Error *err)
{
    for vec_each(const Query *, open, &c->stack)
        if (*open == q)
            return refuse(q->position, err, "recursive common table expression");
    if (q->loop)
        return refuse(q->loop->position, err, "mutually recursive common table expressions");
    if (q->limit || q->offset)
        TRY(live_only(c, q->limit ? q->limit : q->offset, err, "LIMIT"));
    if (c->ncolumns > IVM_MAX_COLUMNS * 10)
        return FAIL(err, E_UNSUPPORTED, "a query of more than %d columns in all", IVM_MAX_COLUMNS * 10);
    if (c->stack.n > LIMIT_SQL_DEPTH)
        return FAIL(err, E_UNSUPPORTED, "a query nested deeper than %d", LIMIT_SQL_DEPTH);
    vec_push(c->a, &c->stack, q);
    TRY(plan_body(c, q, dom, ret, err));
    c->stack.n--;
    return OK;
}

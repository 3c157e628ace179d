/* SPDX-License-Identifier: Apache-2.0 */
/* algebra.c - bound queries to plan nodes.
 *
 * The plan is the query's meaning in few operators.  ORDER BY without LIMIT is dropped (a view is a bag); right joins
 * are turned round; UNION is DISTINCT over UNION ALL; a CTE is planned anew at each reference, so each use of a table
 * is a leaf of its own.  What is not in these operators is refused by E_UNSUPPORTED, with its name and place. */
#include "ivm/ivm_int.h"

#include <stdarg.h>
#include <stdio.h>

Status not_incremental(const Expr *e, Error *err, const char *fmt, ...)
{
    char what[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    if (!e || !e->position)
        return FAIL(err, E_UNSUPPORTED, "%s", what);
    Status s = FAIL(err, E_UNSUPPORTED, "%s at position %d", what, e->position);
    err->position = e->position;
    return s;
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
        return t->table->view ? plan_query(c, t->table->view, ret, err) : plan_scan(c, t, ret, err);
    case TR_CTE:
        construct_met(c, S("cte"));
        return plan_query(c, t->query, ret, err);
    case TR_QUERY:
        construct_met(c, S("derived table"));
        return plan_query(c, t->query, ret, err);
    case TR_VALUES:
        return plan_values(c, t->rows.p, t->rows.n, &t->columns, ret, err);
    case TR_FUNCTION:
        return refuse(t->position, err, "table function");
    case TR_FILE:
        return refuse(t->position, err, "file as a table");
    case TR_JOIN:
        break;
    }
    return FAIL(err, E_INTERNAL, "unknown kind of relation %d", (int)t->kind);
}

static void scope_append(Compiler *c, Scope *to, const Scope *from, size_t shift)
{
    for vec_each(ScopeEntry, r, &from->rels) {
        ScopeEntry moved = { r->rel, r->base + shift };
        vec_push(c->a, &to->rels, moved);
    }
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

Status plan_from(Compiler *c, const TableRef *t, Scope *s, Error *err)
{
    Scope l = {0}, r = {0};
    if (t->kind != TR_JOIN) {
        ScopeEntry entry = { t, 0 };
        vec_push(c->a, &s->rels, entry);
        return plan_leaf(c, t, &s->node, err);
    }
    TRY(plan_from(c, t->left, &l, err));
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

/* ---- SELECT -------------------------------------------------------------------------------------------- */

static Status check_select(const Query *q, const Select *sel, Error *err)
{
    if (sel->qualify)
        return not_incremental(sel->qualify, err, "QUALIFY");
    if (sel->distinct_on.n)
        return refuse(q->position, err, "DISTINCT ON");
    if (sel->grouping == GROUP_ROLLUP || sel->grouping == GROUP_CUBE || sel->grouping == GROUP_SETS)
        return refuse(q->position, err, "GROUPING SETS");
    return OK;
}

static Status bind_items(Compiler *c, const Select *sel, Scope *s, ExprVec *items, ExprVec *having, Error *err)
{
    ExprVec parts = {0};
    Names names = { .c = c, .own = s, .own_node = s->node, .aggregates = sel->aggregated };
    for vec_each(SelectItem, it, &sel->items) {
        Expr *x = NULL;
        TRY(expr_bind(&names, it->expr, &x, err));
        vec_push(c->a, items, x);
    }
    expr_conjuncts(c, sel->having, &parts);
    for vec_each(Expr *, p, &parts) {
        Expr *x = NULL;
        TRY(expr_bind(&names, *p, &x, err));
        vec_push(c->a, having, x);
    }
    return OK;
}

static Status scalars_of_items(Compiler *c, const Select *sel, Scope *s, Error *err)
{
    if (sel->aggregated)
        return OK;
    for vec_each(SelectItem, it, &sel->items)
        TRY(plan_scalars(c, it->expr, s, err));
    return OK;
}

static Status plan_select(Compiler *c, const Query *q, Node **ret, Error *err)
{
    const Select *sel = q->select;
    Scope s = {0};
    ExprVec items = {0}, having = {0};
    Node *n = NULL;
    TRY(check_select(q, sel, err));
    TRY(sel->from ? plan_from(c, sel->from, &s, err) : node_new(c, NODE_ONE, &s.node, err));
    TRY(plan_where(c, sel->where, &s, err));
    TRY(scalars_of_items(c, sel, &s, err));
    TRY(bind_items(c, sel, &s, &items, &having, err));
    if (sel->aggregated)
        TRY(plan_aggregate(c, sel, &s, &items, &having, err));
    if (having.n)
        construct_met(c, S("having"));
    TRY(node_filter(c, s.node, &having, &n, err));
    TRY(node_reseat(c, s.node, n, &items, err));
    TRY(node_project(c, n, &items, ret, err));
    if (!sel->distinct)
        return OK;
    construct_met(c, S("distinct"));
    return node_distinct(c, *ret, ret, err);
}

/* ---- set operations, whole queries ---------------------------------------------------------------------- */

static const char *const SETOP_NAMES[3][2] = {
    [SETOP_UNION] = { "union", "union all" }, [SETOP_INTERSECT] = { "intersect", "intersect all" },
    [SETOP_EXCEPT] = { "except", "except all" },
};

static Status plan_setop(Compiler *c, const Query *q, Node **ret, Error *err)
{
    Node *l = NULL, *r = NULL, *n = NULL;
    TRY(plan_query(c, q->left, &l, err));
    TRY(plan_query(c, q->right, &r, err));
    TRY(node_rename(c, l, &q->columns, &l, err));
    TRY(node_rename(c, r, &q->columns, &r, err));
    construct_met(c, str_c(SETOP_NAMES[q->setop][q->all != 0]));
    TRY(node_setop(c, q, l, r, &n, err));
    *ret = n;
    return q->setop == SETOP_UNION && !q->all ? node_distinct(c, n, ret, err) : OK;
}

static Status plan_body(Compiler *c, const Query *q, Node **ret, Error *err)
{
    switch (q->body) {
    case BODY_SELECT:
        return plan_select(c, q, ret, err);
    case BODY_SETOP:
        return plan_setop(c, q, ret, err);
    case BODY_VALUES:
        return plan_values(c, q->rows.p, q->rows.n, &q->columns, ret, err);
    }
    return FAIL(err, E_INTERNAL, "unknown body of a query");
}

Status plan_query(Compiler *c, const Query *q, Node **ret, Error *err)
{
    for vec_each(const Query *, open, &c->stack)
        if (*open == q)
            return refuse(q->position, err, "recursive common table expression");
    if (q->limit || q->offset)
        return refuse((q->limit ? q->limit : q->offset)->position, err, "LIMIT");
    if (c->ncolumns > IVM_MAX_COLUMNS * 10)
        return FAIL(err, E_UNSUPPORTED, "a query of more than %d columns in all", IVM_MAX_COLUMNS * 10);
    if (c->stack.n > LIMIT_SQL_DEPTH)
        return FAIL(err, E_UNSUPPORTED, "a query nested deeper than %d", LIMIT_SQL_DEPTH);
    vec_push(c->a, &c->stack, q);
    TRY(plan_body(c, q, ret, err));
    c->stack.n--;
    return OK;
}

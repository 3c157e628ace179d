/* SPDX-License-Identifier: Apache-2.0 */
/* subquery.c - subqueries: in conjuncts of WHERE they become semi and anti joins, uncorrelated scalar ones cross joins.
 *
 * A subquery that is a plain SELECT is opened: its FROM and its own conditions make the right side, conditions that
 * name the outer query become the join's.  So correlation one level up needs nothing more.  Any other subquery is
 * planned whole and may not be correlated.
 *   EXISTS q            semi(TRUE)               NOT EXISTS q     anti(TRUE)
 *   x IN q              semi(x = s)              x op ANY q       semi(x op s)
 *   x NOT IN q          anti(s IS NULL), anti(x IS NULL), anti(x = s): joins that hash or need one look, not one that cannot
 *   x op ALL q          anti((x op s) IS NOT TRUE) */
#include "ivm/ivm_int.h"

/* The subquery's side of a semi join. */
typedef struct SubSide { Scope scope; ExprVec outputs, correlated; } SubSide;

static const Expr *strip_not(const Expr *e, int *negated)
{
    while (e->kind == EX_UNARY && e->op == OP_NOT && e->args.n == 1) {
        *negated = !*negated;
        e = e->args.p[0];
    }
    return e;
}

int is_subquery_conjunct(const Expr *e)
{
    int negated = 0;
    e = strip_not(e, &negated);
    return e->kind == EX_EXISTS || e->kind == EX_IN_QUERY || (e->kind == EX_QUANTIFIED && e->query);
}

/* ---- subqueries in expressions --------------------------------------------------------------------------- */

static int gives_one_row(const Node *n)
{
    while (n->kind == NODE_PROJECT)
        n = n->in.p[0];
    return n->kind == NODE_ONE || (n->kind == NODE_AGG && !n->nkeys);
}

static int see_rows(void *ctx, Expr *e)
{
    *(int *)ctx |= e->kind == EX_FUNCTION && e->func && e->func->class == FN_TABLE;
    return 1;
}

typedef enum { ROWS_ONE, ROWS_MAYBE_ONE, ROWS_MANY } HowMany;

static int has_limit_one(const Query *q)
{
    const Expr *e = q->limit;
    while (e && e->kind == EX_CAST)
        e = e->args.p[0];
    return e && e->kind == EX_LITERAL && e->value.kind >= DT_INT8 && e->value.kind <= DT_INT64 && e->value.integer <= 1;
}

/* How many rows a query can give, for each value of what it names of others. */
static HowMany rows_of(const Query *q)
{
    const Select *s = q->body == BODY_SELECT ? q->select : NULL;
    int rows = 0;
    if (has_limit_one(q))
        return ROWS_MAYBE_ONE;
    if (!s || q->limit || q->offset)
        return ROWS_MANY;
    for vec_each(SelectItem, it, &s->items)
        (void)sql_walk_expr(it->expr, see_rows, &rows);
    if (rows)
        return ROWS_MANY;
    if (s->aggregated && !s->group_by.n && !s->group_sets.n)
        return s->having || s->qualify ? ROWS_MAYBE_ONE : ROWS_ONE;
    if (s->aggregated)
        return ROWS_MANY;
    HowMany from = !s->from ? ROWS_ONE : s->from->kind == TR_QUERY && !s->from->table ? rows_of(s->from->query) : ROWS_MANY;
    return from == ROWS_ONE && (s->where || s->qualify) ? ROWS_MAYBE_ONE : from;
}

static Status join_one(Compiler *c, const Expr *e, const Query *q, Scope *s, size_t *col, Error *err)
{
    Node *sub = NULL;
    *col = node_ncols(s->node);
    TRY(plan_query(c, q, NULL, &sub, err));
    if (gives_one_row(sub))
        return node_join(c, s->node, sub, &s->node, err);
    if (rows_of(q) == ROWS_MANY)
        return not_incremental(e, err, "scalar subquery that is not one aggregate");
    TRY(live_only(c, e, err, "scalar subquery that is not one aggregate"));
    return node_outer(c, s->node, sub, PAD_LEFT, &s->node, err);
}

static const char *subquery_name(const Expr *e)
{
    return e->kind == EX_EXISTS ? "EXISTS subquery" : e->kind == EX_IN_QUERY ? "IN subquery" : "quantified subquery";
}

static Status plan_scalar(Compiler *c, const Expr *e, Scope *s, Error *err)
{
    const Query *q = e->query;
    ScalarEntry entry = { e, 0 };
    for vec_each(ScalarEntry, known, &s->scalars)
        if (known->expr == e)
            return OK;
    if (e->kind != EX_SUBQUERY) {
        TRY(live_only(c, e, err, "%s outside of the conjuncts of WHERE", subquery_name(e)));
        TRY(truth_query(c, e, &q, err));
    }
    if (!s->base)
        s->base = s->node;
    if (!refers_query(q, s)) {
        TRY(join_one(c, e, q, s, &entry.col, err));
    } else {
        HowMany n = rows_of(q);
        if (n == ROWS_MANY)
            return not_incremental(e, err, "correlated scalar subquery that may give several rows");
        TRY(plan_correlated(c, q, s, n == ROWS_ONE ? PAD_NONE : PAD_LEFT, NULL, NULL, &entry.col, err));
    }
    construct_met(c, e->kind == EX_SUBQUERY ? S("scalar subquery") : S("subquery as a truth value"));
    vec_push(c->a, &s->scalars, entry);
    return OK;
}

static Status plan_scalar_list(Compiler *c, const ExprVec *v, Scope *s, Error *err)
{
    for vec_each(Expr *, x, v)
        TRY(plan_scalars(c, *x, s, err));
    return OK;
}

static Status plan_scalars_of_call(Compiler *c, const FuncCall *f, Scope *s, Error *err)
{
    TRY(plan_scalars(c, f->filter, s, err));
    for vec_each(OrderItem, o, &f->order)
        TRY(plan_scalars(c, o->expr, s, err));
    if (!f->over)
        return OK;
    TRY(plan_scalar_list(c, &f->over->partition, s, err));
    for vec_each(OrderItem, o, &f->over->order)
        TRY(plan_scalars(c, o->expr, s, err));
    return OK;
}

Status plan_scalars(Compiler *c, const Expr *e, Scope *s, Error *err)
{
    if (!e || !expr_has_query(e))
        return OK;
    if (e->kind == EX_SUBQUERY || e->kind == EX_EXISTS || e->kind == EX_IN_QUERY || (e->kind == EX_QUANTIFIED && e->query))
        return plan_scalar(c, e, s, err);
    TRY(plan_scalar_list(c, &e->args, s, err));
    if (e->func)
        TRY(plan_scalars_of_call(c, e->func, s, err));
    return plan_scalars(c, e->else_, s, err);
}

/* ---- the right side -------------------------------------------------------------------------------------- */

static int may_open(const Query *q)
{
    return q->body == BODY_SELECT && !q->limit && !q->offset && !q->select->aggregated && !q->select->distinct_on.n &&
           !q->select->qualify && !q->select->having && q->select->from;
}

typedef struct Outside { const Scope *own; int yes; } Outside;

static void see_outside(void *ctx, const Expr *col)
{
    Outside *o = ctx;
    size_t at = 0;
    if (!scope_find(o->own, col->rel, (size_t)col->col, &at))
        o->yes = 1;
}

static int names_outer(const Expr *e, const Scope *own)
{
    Outside o = { own, 0 };
    expr_visit_columns(e, see_outside, &o);
    return o.yes;
}

/* WHERE of an opened subquery: its own conditions stay below, the correlated ones go up. */
static Status open_where(Compiler *c, const Expr *where, SubSide *side, Error *err)
{
    ExprVec parts = {0}, own = {0}, bound = {0};
    expr_conjuncts(c, where, &parts);
    for vec_each(Expr *, p, &parts)
        vec_push(c->a, !is_subquery_conjunct(*p) && names_outer(*p, &side->scope) ? &side->correlated : &own, *p);
    for vec_each(Expr *, p, &own) {
        if (is_subquery_conjunct(*p))
            continue;
        TRY(plan_scalars(c, *p, &side->scope, err));
    }
    Names names = { .c = c, .own = &side->scope, .own_node = side->scope.node };
    for vec_each(Expr *, p, &own) {
        Expr *x = NULL;
        if (is_subquery_conjunct(*p))
            continue;
        TRY(expr_bind(&names, *p, &x, err));
        vec_push(c->a, &bound, x);
    }
    TRY(node_filter(c, side->scope.node, &bound, &side->scope.node, err));
    for vec_each(Expr *, p, &own)
        if (is_subquery_conjunct(*p))
            TRY(plan_subquery(c, *p, &side->scope, err));
    return OK;
}

typedef struct Unwrap { const TableRef *t; const SelectItems *items; } Unwrap;

static Status unwrap_swap(void *ctx, const Expr *e, Expr **ret, Error *err UNUSED)
{
    const Unwrap *u = ctx;
    if (e->kind == EX_COLUMN && e->rel == u->t)
        *ret = u->items->p[e->col].expr;
    return OK;
}

/* The binder's cast of a whole subquery: SELECT casts FROM (subquery). */
static const Query *wrapped(const Query *q)
{
    const Select *s = q->select;
    int plain = may_open(q) && !s->where && !s->distinct && s->from->kind == TR_QUERY && !s->from->table && !s->from->lateral;
    return plain && may_open(s->from->query) ? s->from->query : NULL;
}

static Status open_wrapped(Compiler *c, const Query *q, SubSide *side, Error *err)
{
    const Query *in = wrapped(q);
    Unwrap u = { q->select->from, &in->select->items };
    TRY(plan_from(c, in->select->from, &side->scope, err));
    TRY(open_where(c, in->select->where, side, err));
    for vec_each(SelectItem, it, &q->select->items) {
        Expr *x = NULL;
        TRY(expr_rewrite(c, it->expr, unwrap_swap, &u, &x, err));
        vec_push(c->a, &side->outputs, x);
    }
    return OK;
}

static Status open_subquery(Compiler *c, const Query *q, SubSide *side, Error *err)
{
    if (wrapped(q))
        return open_wrapped(c, q, side, err);
    TRY(plan_from(c, q->select->from, &side->scope, err));
    TRY(open_where(c, q->select->where, side, err));
    for vec_each(SelectItem, it, &q->select->items)
        vec_push(c->a, &side->outputs, it->expr);
    return OK;
}

/* A subquery planned whole: its outputs are nodes' columns already. */
static Status whole_subquery(Compiler *c, const Query *q, SubSide *side, Error *err)
{
    TRY(plan_query(c, q, NULL, &side->scope.node, err));
    for (size_t i = 0; i < node_ncols(side->scope.node); i++)
        vec_push(c->a, &side->outputs, expr_column(c, side->scope.node, i));
    return OK;
}

/* ---- semi and anti joins ---------------------------------------------------------------------------------- */

typedef struct SemiBuild { Compiler *c; Scope *left; SubSide *side; Names names; int opened; } SemiBuild;

static Status output(SemiBuild *b, size_t i, Expr **ret, Error *err)
{
    if (i >= b->side->outputs.n)
        return FAIL(err, E_INTERNAL, "a subquery with %zu columns is asked for column %zu", b->side->outputs.n, i + 1);
    *ret = b->side->outputs.p[i];
    b->names.outer_node = b->left->node;
    return b->opened ? expr_bind(&b->names, *ret, ret, err) : OK;
}

static Status left_arg(SemiBuild *b, const Expr *e, Expr **ret, Error *err)
{
    Names names = { .c = b->c, .own = b->left, .own_node = b->left->node };
    return expr_bind(&names, e, ret, err);
}

/* One join: rows of the left node kept by `pred` (NULL: TRUE) and the correlated conditions. */
static Status add_semi(SemiBuild *b, Keep keep, Expr *pred, Error *err)
{
    Node *n = NULL;
    TRY(node_semi(b->c, b->left->node, b->side->scope.node, keep, &n, err));
    for vec_each(Expr *, p, &b->side->correlated) {
        Expr *x = NULL;
        Names names = b->names;
        names.outer_node = b->left->node;
        TRY(expr_bind(&names, *p, &x, err));
        vec_push(b->c->a, &n->preds, x);
    }
    if (pred)
        vec_push(b->c->a, &n->preds, pred);
    construct_met(b->c, keep == KEEP_MATCHED ? S("semi join") : S("anti join"));
    b->left->node = n;
    return OK;
}

static Status row_equality(SemiBuild *b, const Expr *cond, Expr **ret, Error *err)
{
    Expr *all = NULL;
    for (size_t i = 0; i < cond->args.n; i++) {
        Expr *l = NULL, *r = NULL;
        TRY(left_arg(b, cond->args.p[i], &l, err));
        TRY(output(b, i, &r, err));
        Expr *eq = expr_binary(b->c, OP_EQ, l, r);
        all = all ? expr_binary(b->c, OP_AND, all, eq) : eq;
    }
    *ret = all;
    return OK;
}

static Status plan_in(SemiBuild *b, const Expr *cond, Error *err)
{
    ExprVec eq = {0};
    Expr *all = NULL;
    TRY(row_equality(b, cond, &all, err));
    expr_conjuncts(b->c, all, &eq);
    TRY(add_semi(b, KEEP_MATCHED, NULL, err));
    for vec_each(Expr *, p, &eq)
        vec_push(b->c->a, &b->left->node->preds, *p);
    return OK;
}

static Status plan_not_in(SemiBuild *b, const Expr *cond, Error *err)
{
    Expr *all = NULL, *l = NULL, *r = NULL;
    if (cond->args.n != 1) {
        TRY(row_equality(b, cond, &all, err));
        return add_semi(b, KEEP_UNMATCHED, expr_is(b->c, OP_IS_FALSE, all, 1), err);
    }
    TRY(output(b, 0, &r, err));
    if (expr_nullable(r))
        TRY(add_semi(b, KEEP_UNMATCHED, expr_is(b->c, OP_IS_NULL, r, 0), err));
    TRY(left_arg(b, cond->args.p[0], &l, err));
    if (expr_nullable(l))
        TRY(add_semi(b, KEEP_UNMATCHED, expr_is(b->c, OP_IS_NULL, l, 0), err));
    TRY(row_equality(b, cond, &all, err));
    return add_semi(b, KEEP_UNMATCHED, all, err);
}

/* x op ANY q and x op ALL q; = ANY is IN, <> ALL is NOT IN. */
static Status plan_quantified(SemiBuild *b, const Expr *cond, int negated, Error *err)
{
    Expr *l = NULL, *r = NULL;
    if (cond->op == OP_EQ && !cond->all)
        return negated ? plan_not_in(b, cond, err) : plan_in(b, cond, err);
    if (cond->op == OP_NE && cond->all)
        return negated ? plan_in(b, cond, err) : plan_not_in(b, cond, err);
    TRY(left_arg(b, cond->args.p[0], &l, err));
    TRY(output(b, 0, &r, err));
    Expr *test = expr_binary(b->c, cond->op, l, r);
    if (cond->all && !negated)
        return add_semi(b, KEEP_UNMATCHED, expr_is(b->c, OP_IS_TRUE, test, 1), err);
    if (cond->all)
        return add_semi(b, KEEP_MATCHED, expr_is(b->c, OP_IS_FALSE, test, 0), err);
    if (!negated)
        return add_semi(b, KEEP_MATCHED, test, err);
    return add_semi(b, KEEP_UNMATCHED, expr_is(b->c, OP_IS_FALSE, test, 1), err);
}

Status plan_subquery(Compiler *c, const Expr *cond, Scope *s, Error *err)
{
    int negated = 0;
    SubSide side = {0};
    const Expr *e = strip_not(cond, &negated);
    negated ^= e->negated;
    for vec_each(Expr *, x, &e->args)
        TRY(plan_scalars(c, *x, s, err));
    int opened = may_open(e->query);
    TRY(opened ? open_subquery(c, e->query, &side, err) : whole_subquery(c, e->query, &side, err));
    SemiBuild b = { c, s, &side, { .c = c, .own = &side.scope, .outer = s, .own_node = side.scope.node, .outer_node = s->node }, opened };
    if (e->kind == EX_EXISTS)
        return add_semi(&b, negated ? KEEP_UNMATCHED : KEEP_MATCHED, NULL, err);
    if (e->kind == EX_IN_QUERY)
        return negated ? plan_not_in(&b, e, err) : plan_in(&b, e, err);
    return plan_quantified(&b, e, negated, err);
}

/* ---- WHERE ------------------------------------------------------------------------------------------------ */

/* A subquery that names the outer query deep inside is no semi join. */
static int is_semi(Compiler *c, const Expr *p, const Scope *s)
{
    int negated = 0;
    if (!is_subquery_conjunct(p))
        return 0;
    const Expr *e = strip_not(p, &negated);
    return c->v->target != IVM_LIVE || may_open(e->query) || !refers_query(e->query, s);
}

static Status filter_where(Compiler *c, const ExprVec *parts, Scope *s, Error *err)
{
    Names names = { .c = c, .own = s };
    ExprVec plain = {0}, now = {0};
    Node *n = NULL;
    s->base = NULL;
    for vec_each(Expr *, p, parts)
        TRY(plan_scalars(c, *p, s, err));
    names.own_node = s->node;
    for vec_each(Expr *, p, parts) {
        Expr *x = NULL;
        TRY(expr_bind(&names, *p, &x, err));
        vec_push(c->a, has_now(x) ? &now : &plain, x);
    }
    if (plain.n)
        construct_met(c, S("filter"));
    TRY(node_filter(c, s->node, &plain, &n, err));
    TRY(node_reseat(c, s->node, n, &now, err));
    s->node = n;
    return now.n ? node_temporal(c, n, &now, &s->node, err) : OK;
}

/* As a semi join, or, where that is not possible, by its truth value. */
static Status filter_query(Compiler *c, Expr *p, Scope *s, Error *err)
{
    Scope before = *s;
    size_t depth = c->stack.n;
    ExprVec alone = {0};
    Error why = {0};
    Status st = plan_subquery(c, p, s, &why);
    if (st == E_UNSUPPORTED && c->v->target == IVM_LIVE) {
        *s = before;
        c->stack.n = depth;
        vec_push(c->a, &alone, p);
        return filter_where(c, &alone, s, err);
    }
    if (st != OK)
        *err = why;
    return st;
}

Status plan_where(Compiler *c, const Expr *where, Scope *s, Error *err)
{
    ExprVec parts = {0}, plain = {0};
    expr_conjuncts(c, where, &parts);
    for vec_each(Expr *, p, &parts)
        if (!is_semi(c, *p, s))
            vec_push(c->a, &plain, *p);
    TRY(filter_where(c, &plain, s, err));
    for vec_each(Expr *, p, &parts)
        if (is_semi(c, *p, s))
            TRY(filter_query(c, *p, s, err));
    return OK;
}

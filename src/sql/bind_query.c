/* SPDX-License-Identifier: Apache-2.0 */
/* bind_query.c - whole queries: WITH, set operations, VALUES, ORDER BY, LIMIT.
 *
 * A query's `columns` are what its reader sees: names as written, engine names unique, types after unification. */
#include "sql/bind_int.h"

/* ---- WITH -------------------------------------------------------------------------------------------------------- */

static Status name_cte_columns(Bind *b, Cte *c, BoundColumns *cols)
{
    if (c->columns.n > cols->n || (c->columns.n && c->columns.n < cols->n && b->spark))
        return BIND_FAIL(b, c->position, b->spark ? "42602" : "42P10", "%s",
                         b->spark ? "[ASSIGNMENT_ARITY_MISMATCH] Number of column aliases does not match number of columns."
                                  : "WITH query has fewer columns available than columns specified");
    for (size_t i = 0; i < c->columns.n; i++)
        cols->p[i].name = c->columns.p[i];
    return OK;
}

static bool may_recurse(const Cte *c) { return c->recursive && c->query->body == BODY_SETOP && c->query->setop == SETOP_UNION && !c->query->ctes.n; }

static void copy_columns(Bind *b, const BoundColumns *from, BoundColumns *to)
{
    *to = (BoundColumns){ 0 };
    for (size_t i = 0; i < from->n; i++)
        vec_push(b->a, to, from->p[i]);
}

static Status bind_setop(Bind *b, Level *outer, Query *q, BoundColumns *anchor, Cte *cte);

/* anchor UNION step: the anchor gives names and types, then the step may refer to the CTE. */
static Status bind_recursive(Bind *b, Level *outer, Cte *c, CteScope *scope)
{
    BoundColumns *cols = arena_new(b->a, BoundColumns);
    CteScope *saved = b->ctes;

    scope->recursive = 1;
    scope->outer = saved;
    c->recursive = 0;                              /* set again by a reference to itself */
    b->ctes = scope;
    scope->columns = NULL;
    scope->columns = cols;
    Status s = bind_setop(b, outer, c->query, cols, c);
    b->ctes = saved;
    TRY(s);
    return OK;
}

static Status bind_cte(Bind *b, Level *outer, Cte *c)
{
    CteScope *scope = arena_new(b->a, CteScope);
    int recursive = may_recurse(c);

    *scope = (CteScope){ .outer = b->ctes, .cte = c, .query = c->query };
    c->engine = str_fmt(b->a, "c%d", ++b->next_cte);
    if (recursive) {
        TRY(bind_recursive(b, outer, c, scope));
    } else {
        TRY(bind_query(b, outer, c->query));
        c->recursive = 0;
    }
    scope->recursive = 0;
    scope->columns = arena_new(b->a, BoundColumns);
    copy_columns(b, &c->query->columns, scope->columns);
    TRY(name_cte_columns(b, c, scope->columns));
    scope->outer = b->ctes;
    b->ctes = scope;
    return OK;
}

/* ---- set operations ------------------------------------------------------------------------------------------------ */

static Status fail_arity(Bind *b, const Query *q, size_t l, size_t r)
{
    static const char *const names[] = { "UNION", "INTERSECT", "EXCEPT" };

    if (b->spark)
        return BIND_FAIL(b, q->position, "42826", "[NUM_COLUMNS_MISMATCH] %s can only be performed on inputs with the same number of columns, but the "
                         "first input has %zu columns and the second input has %zu columns.", names[q->setop], l, r);
    return BIND_FAIL(b, q->position, "42601", "each %s query must have the same number of columns", names[q->setop]);
}

static Status unify_column(Bind *b, const Query *q, BoundColumn *l, const BoundColumn *r)
{
    DataType t;

    if (!ty_common(b, &l->type, &r->type, &t)) {
        if (b->spark)
            return BIND_FAIL(b, q->position, "42825", "[INCOMPATIBLE_COLUMN_TYPE] Set operations can only be performed on tables with compatible column "
                             "types: \"" STR_FMT "\" is not \"" STR_FMT "\".", STR_ARG(bind_type_name(b, &l->type)), STR_ARG(bind_type_name(b, &r->type)));
        return BIND_FAIL(b, q->position, "42804", "UNION types " STR_FMT " and " STR_FMT " cannot be matched",
                         STR_ARG(bind_type_name(b, &l->type)), STR_ARG(bind_type_name(b, &r->type)));
    }
    l->type = t;
    l->nullable = l->nullable || r->nullable;
    return OK;
}

/* Put casts where the side's columns differ from the result: into its select list or around it. */
void bind_cast_query(Bind *b, Query **side, const BoundColumns *to)
{
    Query *q = *side;
    int differs = 0;

    for (size_t i = 0; i < to->n; i++)
        differs |= !data_type_equal(&q->columns.p[i].type, &to->p[i].type);
    if (!differs)
        return;
    TableRef *t = arena_new(b->a, TableRef);
    t->kind = TR_QUERY;
    t->query = q;
    t->engine = bind_new_alias(b);
    copy_columns(b, &q->columns, &t->columns);
    Query *w = arena_new(b->a, Query);
    w->body = BODY_SELECT;
    w->position = q->position;
    w->end = q->end;
    w->select = arena_new(b->a, Select);
    w->select->from = t;
    copy_columns(b, &q->columns, &w->columns);
    for (size_t i = 0; i < to->n; i++) {
        Expr *e = bx_column(b->a, t, (int)i);
        bind_to(b, &e, to->p[i].type);
        vec_push(b->a, &w->select->items, ((SelectItem){ e, q->columns.p[i].name }));
        w->columns.p[i].type = to->p[i].type;
    }
    *side = w;
}

/* BY NAME: the right side's columns in the order of the left's. */
static Status order_by_name(Bind *b, Query *q)
{
    TableRef *t = arena_new(b->a, TableRef);
    Query *w = arena_new(b->a, Query);

    t->kind = TR_QUERY;
    t->query = q->right;
    t->engine = bind_new_alias(b);
    copy_columns(b, &q->right->columns, &t->columns);
    w->body = BODY_SELECT;
    w->select = arena_new(b->a, Select);
    w->select->from = t;
    for (size_t i = 0; i < q->left->columns.n; i++) {
        size_t k = 0;
        while (k < t->columns.n && !bind_name_eq(b, t->columns.p[k].name, q->left->columns.p[i].name))
            k++;
        if (k == t->columns.n)
            return BIND_FAIL(b, q->position, "42703", "[UNRESOLVED_COLUMN.WITHOUT_SUGGESTION] column `" STR_FMT "` is missing on the right side of UNION BY NAME",
                             STR_ARG(q->left->columns.p[i].name));
        vec_push(b->a, &w->select->items, ((SelectItem){ bx_column(b->a, t, (int)k), t->columns.p[k].name }));
        vec_push(b->a, &w->columns, t->columns.p[k]);
    }
    q->right = w;
    return OK;
}

static Status bind_setop(Bind *b, Level *outer, Query *q, BoundColumns *anchor, Cte *cte)
{
    TRY(bind_query(b, outer, q->left));
    if (anchor) {
        copy_columns(b, &q->left->columns, anchor);
        TRY(name_cte_columns(b, cte, anchor));
    }
    TRY(bind_query(b, outer, q->right));
    if (q->by_name && q->left->columns.n == q->right->columns.n)
        TRY(order_by_name(b, q));
    if (q->left->columns.n != q->right->columns.n)
        return fail_arity(b, q, q->left->columns.n, q->right->columns.n);
    copy_columns(b, &q->left->columns, &q->columns);
    for (size_t i = 0; i < q->columns.n; i++) {
        if (anchor)
            continue;                              /* the anchor's types stand; the step is cast to them */
        TRY(unify_column(b, q, &q->columns.p[i], &q->right->columns.p[i]));
    }
    bind_cast_query(b, &q->left, &q->columns);
    bind_cast_query(b, &q->right, &q->columns);
    Level l = { .outer = outer, .output = &q->columns };
    TRY(bind_order(b, &l, q));
    return bind_limit(b, q);
}

/* ---- VALUES -------------------------------------------------------------------------------------------------------- */

Status bind_rows(Bind *b, Level *l, ExprVec *rows, size_t n, BoundColumns *ret, int position)
{
    size_t width = n ? rows[0].n : 0;

    for (size_t i = 0; i < n; i++) {
        if (rows[i].n != width)
            return BIND_FAIL(b, position, "42601", "%s", b->spark ? "[INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH] Invalid inline table: rows have different numbers of columns."
                                                                  : "VALUES lists must all be the same length");
        for (size_t j = 0; j < width; j++)
            TRY(bind_expr(b, l, &rows[i].p[j]));
    }
    Expr ***column = arena_array(b->a, Expr **, n + 1);
    for (size_t j = 0; j < width; j++) {
        BoundColumn c = { .name = str_fmt(b->a, b->trino ? "_col%zu" : b->spark ? "col%zu" : "column%zu", b->trino ? j : j + 1), .nullable = 0 };
        for (size_t i = 0; i < n; i++) {
            column[i] = &rows[i].p[j];
            c.nullable |= rows[i].p[j]->nullable || ty_unknown(&rows[i].p[j]->type);
        }
        TRY(bind_unify(b, column, n, position, &c.type));
        vec_push(b->a, ret, c);
    }
    return OK;
}

/* ---- ORDER BY, LIMIT -------------------------------------------------------------------------------------------------- */

/* An integer literal is the number of an output column. */
static Status ordinal(Bind *b, const Expr *e, size_t ncols, int *ret)
{
    *ret = -1;
    if (e->kind != EX_LITERAL || e->value.kind < DT_INT8 || e->value.kind > DT_INT64)
        return OK;
    if (e->value.integer < 1 || e->value.integer > (int64_t)ncols) {
        if (b->spark)
            return BIND_FAIL(b, e->position, "42805", "[ORDER_BY_POS_OUT_OF_RANGE] ORDER BY position %lld is not in select list (valid range is [1, %zu]).",
                             (long long)e->value.integer, ncols);
        return BIND_FAIL(b, e->position, "42P10", "ORDER BY position %lld is not in select list", (long long)e->value.integer);
    }
    *ret = (int)e->value.integer - 1;
    return OK;
}

static Expr *output_ref(Bind *b, const Query *q, int col, int position)
{
    Expr *e = bx_new(b->a, EX_COLUMN, position);
    e->col = col;
    e->type = q->columns.p[col].type;
    e->nullable = q->columns.p[col].nullable;
    vec_push(b->a, &e->name, q->columns.p[col].engine);
    return e;
}

static int same_item(const Select *s, const Expr *e)
{
    for (size_t i = 0; s && i < s->items.n; i++)
        if (expr_equal(s->items.p[i].expr, e))
            return (int)i;
    return -1;
}

/* Spark: NULLs are smallest; PostgreSQL: largest; Trino: last in both directions. */
static void settle_nulls(Bind *b, OrderItem *o)
{
    if (o->nulls_first < 0)
        o->nulls_first = b->trino ? 0 : b->spark ? !o->descending : o->descending;
}

void bind_order_nulls(Bind *b, OrderVec *order)
{
    for (size_t i = 0; i < order->n; i++)
        settle_nulls(b, &order->p[i]);
}

Status bind_order(Bind *b, Level *l, Query *q)
{
    for (size_t i = 0; i < q->order.n; i++) {
        OrderItem *o = &q->order.p[i];
        int col, bare = o->expr->kind == EX_COLUMN && o->expr->name.n == 1;
        l->clause = b->spark || b->trino || bare ? CL_ORDER : CL_ITEM;      /* PostgreSQL: a bare output name, or an expression over the input */
        TRY(ordinal(b, o->expr, q->columns.n, &col));
        if (col < 0) {
            TRY(bind_expr(b, l, &o->expr));
            col = same_item(q->select, o->expr);
        }
        if (col >= 0)
            o->expr = output_ref(b, q, col, o->expr->position);
        settle_nulls(b, o);
    }
    return OK;
}

static Status bind_count(Bind *b, Expr **e, const char *what)
{
    Level none = { .clause = CL_WHERE };

    if (!*e)
        return OK;
    TRY(bind_expr(b, &none, e));
    TRY(bind_coerce(b, e, ty(DT_INT64), what));
    if ((*e)->kind == EX_LITERAL && (*e)->value.kind != DT_NULL && (*e)->value.integer < 0)
        return BIND_FAIL(b, (*e)->position, b->spark ? "42K0E" : "2201W", "%s must not be negative", what);
    return OK;
}

Status bind_limit(Bind *b, Query *q)
{
    TRY(bind_count(b, &q->limit, "LIMIT"));
    return bind_count(b, &q->offset, "OFFSET");
}

/* ---- queries ------------------------------------------------------------------------------------------------------------ */

static Status bind_values_query(Bind *b, Level *outer, Query *q)
{
    Level l = { .outer = outer, .clause = CL_ITEM }, out = { .outer = outer, .output = &q->columns };

    TRY(bind_rows(b, &l, q->rows.p, q->rows.n, &q->columns, q->position));
    bind_engine_names(b, &q->columns);
    TRY(bind_order(b, &out, q));
    return bind_limit(b, q);
}

static Status bind_body(Bind *b, Level *outer, Query *q)
{
    switch (q->body) {
    case BODY_SELECT: return bind_select(b, outer, q);
    case BODY_SETOP: return bind_setop(b, outer, q, NULL, NULL);
    case BODY_VALUES: return bind_values_query(b, outer, q);
    }
    return FAIL(b->err, E_INTERNAL, "unknown kind of query");
}

Status bind_query(Bind *b, Level *outer, Query *q)
{
    CteScope *saved = b->ctes;

    if (++b->depth > LIMIT_SQL_DEPTH)
        return BIND_FAIL(b, q->position, "54001", "the query is nested more than %d levels deep", LIMIT_SQL_DEPTH);
    if (q->loop)
        TRY(bind_loop(b, outer, q));
    for (size_t i = 0; !q->loop && i < q->ctes.n; i++)
        TRY(bind_cte(b, outer, &q->ctes.p[i]));
    TRY(bind_body(b, outer, q));
    b->ctes = saved;
    b->depth--;
    return OK;
}

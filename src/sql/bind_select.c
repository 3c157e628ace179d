/* SPDX-License-Identifier: Apache-2.0 */
/* bind_select.c - one SELECT: items, GROUP BY, HAVING, QUALIFY, DISTINCT ON, named windows.
 *
 * Order of binding: FROM, WHERE, items (stars expanded, aliases filled), GROUP BY (ordinals, aliases), HAVING,
 * QUALIFY, ORDER BY; then every expression over a grouped query is checked to be a group key, an aggregate, or
 * made of these. */
#include "sql/bind_int.h"

/* ---- items ---------------------------------------------------------------------------------------------------- */

/* PostgreSQL names a cast by its column, else by the type's internal name. */
static Str cast_name(Bind *b, const Expr *e)
{
    static const char *const names[] = {
        [DT_BOOL] = "bool", [DT_INT16] = "int2", [DT_INT32] = "int4", [DT_INT64] = "int8", [DT_FLOAT] = "float4", [DT_DOUBLE] = "float8",
        [DT_DECIMAL] = "numeric", [DT_STRING] = "text", [DT_BINARY] = "bytea", [DT_DATE] = "date", [DT_TIME] = "time", [DT_TIMESTAMP] = "timestamp",
        [DT_TIMESTAMPTZ] = "timestamptz", [DT_INTERVAL] = "interval", [DT_UUID] = "uuid", [DT_JSON] = "jsonb",
    };
    Str inner = e->args.n ? bind_auto_name(b, e->args.p[0]) : S("?column?");

    if (!str_eq(inner, S("?column?")) || (size_t)e->type.kind >= COUNT_OF(names) || !names[e->type.kind])
        return inner;
    return e->type.length && e->type.kind == DT_STRING ? S("varchar") : str_c(names[e->type.kind]);
}

Str bind_auto_name(Bind *b, const Expr *e)
{
    switch (e->kind) {
    case EX_COLUMN: case EX_FIELD: return e->name.n ? vec_last(&e->name) : S("");
    case EX_FUNCTION:
        if (!b->spark)
            return e->func->name.n ? vec_last(&e->func->name) : S("?column?");
        break;
    case EX_CAST:
        if (!b->spark)
            return cast_name(b, e);
        if (e->args.n && e->args.p[0]->kind == EX_COLUMN)
            return bind_auto_name(b, e->args.p[0]);
        break;
    case EX_CASE:
        if (!b->spark)
            return S("case");
        break;
    case EX_EXISTS:
        if (!b->spark)
            return S("exists");
        break;
    case EX_SUBQUERY:
        if (b->spark)
            return S("scalarsubquery()");
        return e->query && e->query->columns.n ? e->query->columns.p[0].name : S("?column?");
    default:
        break;
    }
    return b->spark ? bind_text_name(b, e) : S("?column?");
}

/* Trino names by place what is no column or field. */
static Str trino_auto_name(Bind *b, const Expr *e, size_t place)
{
    if ((e->kind == EX_COLUMN || e->kind == EX_FIELD) && e->name.n)
        return vec_last(&e->name);
    return str_fmt(b->a, "_col%zu", place);
}

/* (row).*: a field each; of a function that gives rows, of all of them. */
static Status bind_row_star(Bind *b, Level *l, const SelectItem *item, SelectItems *ret)
{
    Expr *row = item->expr->args.p[0];

    TRY(bind_expr(b, l, &row));
    if (row->type.kind != DT_STRUCT)
        return BIND_FAIL(b, item->expr->position, "42809", "type " STR_FMT " is not composite", STR_ARG(bind_type_name(b, &row->type)));
    for (size_t i = 0; i < row->type.nchildren; i++) {
        SelectItem out = { .alias = row->type.names[i] };
        TRY(bind_field(b, row, row->type.names[i], item->expr->position, &out.expr));
        vec_push(b->a, ret, out);
    }
    return OK;
}

/* Spark names an item by its text before implicit casts are put in. */
static Status bind_item(Bind *b, Level *l, const SelectItem *item, SelectItems *ret)
{
    SelectItem out = *item;

    if (item->expr->kind == EX_STAR && item->expr->args.n)
        return bind_row_star(b, l, item, ret);
    if (item->expr->kind == EX_STAR && !item->expr->func)
        return bind_star(b, l, item, ret);
    Str name = item->alias.n ? item->alias : b->trino ? trino_auto_name(b, item->expr, ret->n) : bind_auto_name(b, item->expr);
    TRY(bind_expr(b, l, &out.expr));
    if (b->trino && trino_is_zoned(&out.expr->type))
        return BIND_FAIL(b, item->expr->position, "0A000", "a timestamp in a time zone other than UTC cannot be a column; cast it to timestamp, date or varchar");
    if (!item->alias.n && !b->trino && out.expr->kind == EX_SUBQUERY)
        name = bind_auto_name(b, out.expr);
    if (ty_unknown(&out.expr->type) && !b->spark && !b->trino && out.expr->kind != EX_PARAM)
        bind_to(b, &out.expr, ty(DT_STRING));
    out.alias = name;
    vec_push(b->a, ret, out);
    return OK;
}

static Status bind_items(Bind *b, Level *l)
{
    Select *s = l->select;
    SelectItems written = s->items;

    l->clause = CL_ITEM;
    s->items = (SelectItems){ 0 };
    for (size_t i = 0; i < written.n; i++) {
        TRY(bind_item(b, l, &written.p[i], &s->items));
        l->nitems = s->items.n;
    }
    if (!s->items.n)
        return BIND_FAIL(b, written.n ? written.p[0].expr->position : 0, "42601", "the select list is empty");
    return OK;
}

static void set_columns(Bind *b, Query *q)
{
    for (size_t i = 0; i < q->select->items.n; i++) {
        const SelectItem *s = &q->select->items.p[i];
        BoundColumn c = { .name = s->alias, .type = s->expr->type, .nullable = s->expr->nullable };
        if (s->expr->kind == EX_COLUMN && s->expr->rel)
            c.field_id = s->expr->rel->columns.p[s->expr->col].field_id;
        vec_push(b->a, &q->columns, c);
    }
    bind_engine_names(b, &q->columns);
}

/* ---- GROUP BY --------------------------------------------------------------------------------------------------- */

typedef struct HasAggregate { int found; } HasAggregate;

static int see_aggregate(void *ctx, Expr *e)
{
    if (e->kind == EX_FUNCTION && e->func->class == FN_AGGREGATE && !e->func->over)
        ((HasAggregate *)ctx)->found = 1;
    return 1;
}

static bool has_aggregate(Expr *e)
{
    HasAggregate h = { 0 };
    (void)sql_walk_expr(e, see_aggregate, &h);
    return h.found;
}

static Status group_ordinal(Bind *b, Level *l, Expr **e, int *done)
{
    const Expr *x = *e;

    *done = 0;
    if (x->kind != EX_LITERAL || x->value.kind < DT_INT8 || x->value.kind > DT_INT64)
        return OK;
    if (x->value.integer < 1 || x->value.integer > (int64_t)l->select->items.n) {
        if (b->spark)
            return BIND_FAIL(b, x->position, "42805", "[GROUP_BY_POS_OUT_OF_RANGE] GROUP BY position %lld is not in select list (valid range is [1, %zu]).",
                             (long long)x->value.integer, l->select->items.n);
        return BIND_FAIL(b, x->position, "42P10", "GROUP BY position %lld is not in select list", (long long)x->value.integer);
    }
    *e = l->select->items.p[x->value.integer - 1].expr;
    *done = 1;
    return OK;
}

static Status bind_key(Bind *b, Level *l, Expr **e)
{
    int done, before = l->aggregates;

    TRY(group_ordinal(b, l, e, &done));
    if (!done)
        TRY(bind_expr(b, l, e));
    if (l->aggregates != before || has_aggregate(*e))
        return BIND_FAIL(b, (*e)->position, b->spark ? "42903" : "42803", "%s", b->spark
                         ? "[GROUP_BY_AGGREGATE] Aggregate functions are not allowed in GROUP BY." : "aggregate functions are not allowed in GROUP BY");
    return OK;
}

/* GROUP BY ALL: every item that holds no aggregate. */
static void group_all(Bind *b, Select *s)
{
    for (size_t i = 0; i < s->items.n; i++)
        if (!has_aggregate(s->items.p[i].expr))
            vec_push(b->a, &s->group_by, s->items.p[i].expr);
    s->grouping = s->group_by.n ? GROUP_PLAIN : GROUP_NONE;
}

static Status bind_groups(Bind *b, Level *l)
{
    Select *s = l->select;

    l->clause = CL_GROUP;
    if (s->grouping == GROUP_ALL) {
        group_all(b, s);
        return OK;
    }
    for (size_t i = 0; i < s->group_by.n; i++)
        TRY(bind_key(b, l, &s->group_by.p[i]));
    for (size_t i = 0; i < s->group_sets.n; i++)
        for (size_t j = 0; j < s->group_sets.p[i].n; j++)
            TRY(bind_key(b, l, &s->group_sets.p[i].p[j]));
    return OK;
}

/* ---- the check of a grouped query ------------------------------------------------------------------------------------ */

typedef struct Check { Bind *b; Level *l; Select *s; } Check;

static bool is_key(const Check *c, const Expr *e)
{
    for (size_t i = 0; i < c->s->group_by.n; i++)
        if (expr_equal(c->s->group_by.p[i], e))
            return true;
    for (size_t i = 0; i < c->s->group_sets.n; i++)
        for (size_t j = 0; j < c->s->group_sets.p[i].n; j++)
            if (expr_equal(c->s->group_sets.p[i].p[j], e))
                return true;
    return false;
}

/* The same column seen from a subquery. */
static bool is_key_column(const Check *c, const Expr *e)
{
    Expr own = *e;

    own.outer = 0;
    return is_key(c, &own);
}

static Status fail_not_grouped(const Check *c, const Expr *e)
{
    Str name = vec_last(&e->name);

    if (c->b->trino)
        return BIND_FAIL(c->b, e->position, "42803", "'" STR_FMT "' must be an aggregate expression or appear in GROUP BY clause", STR_ARG(name));
    if (!c->b->spark)
        return BIND_FAIL(c->b, e->position, "42803", "column \"" STR_FMT "\" must appear in the GROUP BY clause or be used in an aggregate function", STR_ARG(name));
    if (!c->s->group_by.n && !c->s->group_sets.n)
        return BIND_FAIL(c->b, e->position, "42803", "[MISSING_GROUP_BY] The query does not include a GROUP BY clause. Add GROUP BY or turn it into the "
                         "window functions using OVER clauses: `" STR_FMT "`.", STR_ARG(name));
    return BIND_FAIL(c->b, e->position, "42803", "[MISSING_AGGREGATION] The non-aggregating expression \"" STR_FMT "\" is based on columns which are not "
                     "participating in the GROUP BY clause. Add the columns or the expression to the GROUP BY, aggregate the expression, or use "
                     "\"any_value(" STR_FMT ")\" if you do not care which of the values within a group is returned.", STR_ARG(name), STR_ARG(name));
}

static Status check(const Check *c, const Expr *e);

static Status check_all(const Check *c, const ExprVec *v)
{
    for (size_t i = 0; i < v->n; i++)
        TRY(check(c, v->p[i]));
    return OK;
}

typedef struct Inner { const Check *c; const Expr *hit; } Inner;

static int see_own_column(void *ctx, Expr *e)
{
    Inner *in = ctx;
    const Visibles *v = &in->c->l->visible;

    if (e->kind == EX_COLUMN && e->outer && e->rel && !is_key_column(in->c, e))
        for (size_t i = 0; i < v->n && !in->hit; i++)
            if (v->p[i].rel == e->rel && v->p[i].col == e->col)
                in->hit = e;
    return !in->hit;
}

/* A subquery's references to this level's columns must be keys too. */
static Status check_query(const Check *c, const Expr *e)
{
    Inner in = { .c = c };

    (void)sql_walk_query(e->query, see_own_column, &in);
    return in.hit ? fail_not_grouped(c, in.hit) : OK;
}

static Status check(const Check *c, const Expr *e)
{
    if (!e || is_key(c, e))
        return OK;
    if (e->kind == EX_COLUMN)
        return e->outer || !e->rel ? OK : fail_not_grouped(c, e);
    if (e->kind == EX_FUNCTION && e->func->class == FN_AGGREGATE && !e->func->over)
        return OK;
    if (e->kind == EX_FUNCTION && e->func->over) {
        TRY(check_all(c, &e->func->over->partition));
        for (size_t i = 0; i < e->func->over->order.n; i++)
            TRY(check(c, e->func->over->order.p[i].expr));
    }
    TRY(check_all(c, &e->args));
    if (e->query)
        TRY(check_query(c, e));
    return check(c, e->else_);
}

Status bind_grouping_check(Bind *b, Level *l, Query *q)
{
    Check c = { b, l, q->select };

    for (size_t i = 0; i < q->select->items.n; i++)
        TRY(check(&c, q->select->items.p[i].expr));
    TRY(check(&c, q->select->having));
    TRY(check(&c, q->select->qualify));
    for (size_t i = 0; i < q->order.n; i++)
        TRY(check(&c, q->order.p[i].expr));
    return OK;
}

/* ---- the rest -------------------------------------------------------------------------------------------------------- */

static Status bind_condition(Bind *b, Level *l, Clause clause, Expr **e, const char *what)
{
    int before = l->aggregates, windows = l->windows;

    if (!*e)
        return OK;
    l->clause = clause;
    TRY(bind_expr(b, l, e));
    if (clause == CL_WHERE && (l->aggregates != before || l->windows != windows)) {
        const char *kind = l->aggregates != before ? "aggregate" : "window";
        if (b->spark)
            return BIND_FAIL(b, (*e)->position, "42903", "[INVALID_WHERE_CONDITION] The WHERE condition contains invalid expressions: %s functions. Rewrite "
                             "the query to avoid them.", kind);
        return BIND_FAIL(b, (*e)->position, l->aggregates != before ? "42803" : "42P20", "%s functions are not allowed in WHERE", kind);
    }
    return bind_coerce(b, e, ty(DT_BOOL), what);
}

static Status bind_distinct_on(Bind *b, Level *l, Query *q)
{
    l->clause = CL_ORDER;
    for (size_t i = 0; i < q->select->distinct_on.n; i++)
        TRY(bind_expr(b, l, &q->select->distinct_on.p[i]));
    return OK;
}

/* ORDER BY of a DISTINCT query must be made of its output. */
static Status check_distinct(Bind *b, const Query *q)
{
    for (size_t i = 0; q->select->distinct && !q->select->distinct_on.n && i < q->order.n; i++) {
        const Expr *e = q->order.p[i].expr;
        if (e->kind == EX_COLUMN && !e->rel)
            continue;
        return BIND_FAIL(b, e->position, b->spark ? "42703" : "42P10", "%s", b->spark
                         ? "[UNRESOLVED_COLUMN.WITHOUT_SUGGESTION] for SELECT DISTINCT, ORDER BY expressions must appear in select list"
                         : "for SELECT DISTINCT, ORDER BY expressions must appear in select list");
    }
    return OK;
}

Status bind_select(Bind *b, Level *outer, Query *q)
{
    Select *s = q->select;
    Level l = { .outer = outer, .select = s };

    if (s->from) {
        Visibles v = { 0 };
        TRY(bind_from(b, &l, s->from, &v));
        l.visible = v;
    }
    TRY(bind_condition(b, &l, CL_WHERE, &s->where, "WHERE"));
    l.aggregates = l.windows = 0;
    TRY(bind_items(b, &l));
    set_columns(b, q);
    int before = l.aggregates;
    l.aggregates = 0;
    TRY(bind_groups(b, &l));
    l.aggregates = before;
    TRY(bind_condition(b, &l, CL_HAVING, &s->having, "HAVING"));
    TRY(bind_condition(b, &l, CL_HAVING, &s->qualify, "QUALIFY"));
    TRY(bind_distinct_on(b, &l, q));
    TRY(bind_order(b, &l, q));
    TRY(bind_limit(b, q));
    s->aggregated = l.aggregates > 0 || s->grouping != GROUP_NONE || s->group_by.n || s->having;
    if (s->aggregated)
        TRY(bind_grouping_check(b, &l, q));
    return check_distinct(b, q);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* func_trino_agg.c - Trino's aggregates and windows whose type or text depends on the argument.
 *
 * The approximate ones are computed exactly: that is within their promise. */
#include "sql/func_int.h"

static Status sum(FuncArgs *c)
{
    DataType *t = func_arg(c, 0);

    if (t->kind == DT_DECIMAL)
        return func_done(c, ty_decimal(38, t->scale));
    if (ty_is_integer(t))
        return func_done(c, t->kind > DT_INT64 ? ty_decimal(38, 0) : ty(DT_INT64));
    return t->kind == DT_INTERVAL || ty_is_real(t) ? func_done(c, *t) : trino_mismatch(c);
}

static Status avg(FuncArgs *c)
{
    DataType *t = func_arg(c, 0);

    if (ty_is_integer(t))
        return func_done(c, ty(DT_DOUBLE));
    return t->kind == DT_INTERVAL || ty_is_numeric(t) ? func_done(c, *t) : trino_mismatch(c);
}

/* NaN is the engine's greatest number; Trino's maximum is NaN only when there is nothing else. The call becomes coalesce(itself without
 * the rows whose argument `by` is NaN, itself). */
static Status without_nan(FuncArgs *c, size_t by)
{
    Arena *a = c->b->a;
    Expr *rest = bx_new(a, EX_FUNCTION, c->e->position), *number = bx_new(a, EX_UNARY, c->e->position);

    number->op = OP_NOT;
    number->type = ty(DT_BOOL);
    vec_push(a, &number->args, bx_call(a, "isnan", "isnan($1)", ty(DT_BOOL), c->e->args.p[by], NULL));
    *rest = *c->e;
    rest->func = arena_new(a, FuncCall);
    *rest->func = *c->e->func;
    rest->func->filter = c->e->func->filter ? bx_binary(a, OP_AND, c->e->func->filter, number, ty(DT_BOOL)) : number;
    *c->pe = bx_call(a, "coalesce", "coalesce($1, $2)", c->e->type, rest, c->e);
    return OK;
}

/* max(x), max(x, n): the n greatest as an array. */
static Status extreme(FuncArgs *c)
{
    DataType t = *func_arg(c, 0);
    bool max = str_eq(c->e->func->canonical, S("max"));

    if (t.kind == DT_MAP || t.kind == DT_JSON || ty_unknown(&t))
        return trino_mismatch(c);
    c->e->type = t;
    if (ty_is_real(&t) && c->e->args.n == 2)
        return trino_refuse(c, "a number of values of type " STR_FMT " is not supported", STR_ARG(bind_type_name(c->b, &t)));
    if (max && ty_is_real(&t))
        return without_nan(c, 0);
    return func_done(c, c->e->args.n == 2 ? ty_list(c->b->a, t) : t);
}

/* The value may be NULL where the order is greatest, so there is no falling back: with NaN around it is refused at run time. */
static Status extreme_by(FuncArgs *c)
{
    DataType t = *func_arg(c, 1);
    bool max = str_eq(c->e->func->canonical, S("max_by"));

    if (t.nchildren || t.kind == DT_JSON || ty_unknown(&t))
        return trino_mismatch(c);
    if (ty_is_real(&t))
        c->e->args.p[1] = bx_call(c->b->a, "no_nan", "(CASE WHEN isnan($1) THEN CAST(firn_error('NOT_SUPPORTED: max_by and min_by over NaN SQLSTATE: 0A000') AS $T) ELSE $1 END)", t, c->e->args.p[1], NULL);
    return func_with(c, max ? "arg_max_null" : "arg_min_null", *func_arg(c, 0));
}

static Status approx_distinct(FuncArgs *c)
{
    c->e->args.n = 1;
    if (c->e->func->distinct)
        return trino_mismatch(c);
    c->e->func->distinct = 1;
    return func_with(c, "count", ty(DT_INT64));
}

static Status approx_percentile(FuncArgs *c)
{
    DataType t = *func_arg(c, 0), *p = func_arg(c, 1);

    if (p->kind == DT_LIST) {
        bind_to(c->b, &c->e->args.p[1], ty_list(c->b->a, ty(DT_DOUBLE)));
        return func_with(c, "quantile_disc($1, $2)", ty_list(c->b->a, t));
    }
    if (!ty_is_numeric(p))
        return trino_mismatch(c);
    bind_to(c->b, &c->e->args.p[1], ty(DT_DOUBLE));
    return func_with(c, "quantile_disc($1, $2)", t);
}

static Status list_of_arg(FuncArgs *c) { return func_done(c, ty_list(c->b->a, *func_arg(c, 0))); }

static DataType map_of(FuncArgs *c, DataType k, DataType v)
{
    DataType t = { .kind = DT_MAP, .nchildren = 2, .children = arena_array(c->b->a, DataType, 2) };
    t.children[0] = k;
    t.children[1] = v;
    return t;
}

/* The printer writes the three maps: print_call.c. */
static Status map_agg(FuncArgs *c)
{
    bool many = str_eq(c->e->func->canonical, S("multimap_agg"));

    if (c->e->func->distinct || c->e->func->over)
        return trino_refuse(c, "DISTINCT and OVER are not supported");
    return func_done(c, map_of(c, *func_arg(c, 0), many ? ty_list(c->b->a, *func_arg(c, 1)) : *func_arg(c, 1)));
}

static Status histogram(FuncArgs *c) { return func_done(c, map_of(c, *func_arg(c, 0), ty(DT_INT64))); }

static Status grouping(FuncArgs *c)
{
    const Select *s = c->l->select;

    if (!s || (!s->group_by.n && !s->group_sets.n && s->grouping == GROUP_NONE))
        return BIND_FAIL(c->b, c->e->position, "42803", "A GROUPING() operation can only be used with a corresponding GROUPING SET/CUBE/ROLLUP/GROUP BY clause");
    return func_with(c, "grouping($*)", ty(DT_INT64));
}

static const FuncRow rows[] = {
    { "sum", FD_TRINO, sum }, { "avg", FD_TRINO, avg }, { "min_by", FD_TRINO, extreme_by }, { "max_by", FD_TRINO, extreme_by }, { "min", FD_TRINO, extreme }, { "max", FD_TRINO, extreme },
    { "approx_distinct", FD_TRINO, approx_distinct }, { "approx_percentile", FD_TRINO, approx_percentile }, { "array_agg", FD_TRINO, list_of_arg },
    { "map_agg", FD_TRINO, map_agg }, { "multimap_agg", FD_TRINO, map_agg }, { "histogram", FD_TRINO, histogram }, { "grouping", FD_TRINO, grouping },
    { "lag", FD_TRINO, func_lag }, { "lead", FD_TRINO, func_lag },
};

FuncWorker func_trino_agg(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }

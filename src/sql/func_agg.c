/* SPDX-License-Identifier: Apache-2.0 */
/* func_agg.c - aggregates and windows: SUM and AVG by Spark's rules (Sum.resultType, Average.resultType).
 *
 * The printer adds the cast that raises on overflow. */
#include "sql/func_int.h"

static Status sum(FuncArgs *c)
{
    Bind *b = c->b;
    DataType *t = func_arg(c, 0);

    if (ty_is_text(t) || ty_unknown(t))
        bind_to(b, &c->e->args.p[0], ty(DT_DOUBLE));
    t = func_arg(c, 0);
    if (t->kind == DT_DECIMAL && t->mark == MARK_NUMERIC)
        return func_done(c, (DataType){ .kind = DT_DECIMAL, .precision = 38, .scale = t->scale, .mark = MARK_NUMERIC });
    if (t->kind == DT_DECIMAL)
        return func_done(c, ty_decimal(b->spark ? func_min(38, t->precision + 10) : 38, t->scale));
    if (t->kind == DT_INT64 && !b->spark)
        return func_done(c, ty_decimal(38, 0));
    if (ty_is_integer(t))
        return func_done(c, t->kind == DT_INT128 || t->kind == DT_UINT64 || t->kind == DT_UINT128 ? ty_decimal(38, 0) : ty(DT_INT64));
    if (t->kind == DT_INTERVAL)
        return func_done(c, ty(DT_INTERVAL));
    if (!ty_is_real(t))
        return func_fail(c, "a numeric or interval argument");
    return func_done(c, ty(t->kind == DT_FLOAT && !b->spark ? DT_FLOAT : DT_DOUBLE));
}

static Status avg(FuncArgs *c)
{
    Bind *b = c->b;
    DataType *t = func_arg(c, 0);

    if (ty_is_text(t) || ty_unknown(t))
        bind_to(b, &c->e->args.p[0], ty(DT_DOUBLE));
    t = func_arg(c, 0);
    if (t->kind == DT_DECIMAL && b->spark)
        return func_done(c, ty_bounded(t->precision + 4, t->scale + 4));
    if (t->kind == DT_DECIMAL || (ty_is_integer(t) && !b->spark))
        return func_done(c, ty_decimal(38, t->kind == DT_DECIMAL && t->scale > 16 ? t->scale : 16));
    if (t->kind == DT_INTERVAL)
        return func_done(c, ty(DT_INTERVAL));
    return ty_is_numeric(t) ? func_done(c, ty(DT_DOUBLE)) : func_fail(c, "a numeric or interval argument");
}

/* first(x[, ignore]) */
static Status first(FuncArgs *c)
{
    Expr *flag = c->e->args.n > 1 ? c->e->args.p[1] : NULL;

    if (flag && flag->kind != EX_LITERAL)
        return func_fail(c, "a constant as second argument");
    if (flag && flag->value.kind == DT_BOOL && flag->value.boolean)
        c->e->func->ignore_nulls = 1;
    c->e->args.n = 1;
    return func_done(c, *func_arg(c, 0));
}

static Status list_of_arg(FuncArgs *c) { return func_done(c, ty_list(c->b->a, *func_arg(c, 0))); }

static Status collect(FuncArgs *c)
{
    if (str_eq(c->e->func->canonical, S("collect_set")))
        c->e->func->distinct = 1;
    return list_of_arg(c);
}

/* percentile_cont(0.5) WITHIN GROUP (ORDER BY x) */
static Status within_group(FuncArgs *c)
{
    FuncCall *f = c->e->func;

    if (f->order.n != 1)
        return func_fail(c, "WITHIN GROUP (ORDER BY …)");
    if (str_eq(f->canonical, S("percentile_cont"))) {
        bind_to(c->b, &f->order.p[0].expr, ty(DT_DOUBLE));
        return func_done(c, ty(DT_DOUBLE));
    }
    return func_done(c, f->order.p[0].expr->type);
}

static Status mode(FuncArgs *c)
{
    FuncCall *f = c->e->func;

    if (!c->e->args.n && f->order.n == 1) {
        vec_push(c->b->a, &c->e->args, f->order.p[0].expr);
        f->order.n = 0;
    }
    return c->e->args.n == 1 ? func_done(c, *func_arg(c, 0)) : func_fail(c, "one argument");
}

static Status grouping(FuncArgs *c)
{
    const Select *s = c->l->select;

    if (!s || (!s->group_by.n && !s->group_sets.n && s->grouping == GROUP_NONE))
        return BIND_FAIL(c->b, c->e->position, c->b->spark ? "42K0E" : "42803", "%s", c->b->spark
                         ? "[UNSUPPORTED_GROUPING_EXPRESSION] grouping()/grouping_id() can only be used with GroupingSets/Cube/Rollup."
                         : "arguments to GROUPING must be grouping expressions of the associated query level");
    if (str_eq(c->e->func->canonical, S("grouping_id"))) {
        if (!c->e->args.n)
            for (size_t i = 0; c->l->select && i < c->l->select->group_by.n; i++)
                vec_push(c->b->a, &c->e->args, c->l->select->group_by.p[i]);
        return func_with(c, "grouping($*)", ty(DT_INT64));
    }
    return func_with(c, "grouping($*)", ty(c->b->spark ? DT_INT8 : DT_INT32));
}

Status func_lag(FuncArgs *c)
{
    DataType t = *func_arg(c, 0);

    if (c->e->args.n == 3) {
        Expr **both[] = { &c->e->args.p[0], &c->e->args.p[2] };
        TRY(bind_unify(c->b, both, 2, c->e->position, &t));
    }
    return func_done(c, t);
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

static const FuncRow rows[] = {
    { "sum", FD_BOTH, sum }, { "try_sum", FD_BOTH, sum }, { "avg", FD_BOTH, avg }, { "first", FD_BOTH, first },
    { "last", FD_BOTH, first }, { "any_value", FD_BOTH, first }, { "collect_list", FD_BOTH, collect },
    { "collect_set", FD_BOTH, collect }, { "array_agg", FD_BOTH, list_of_arg },
    { "percentile_cont", FD_BOTH, within_group }, { "percentile_disc", FD_BOTH, within_group },
    { "mode", FD_BOTH, mode }, { "grouping", FD_BOTH, grouping }, { "grouping_id", FD_BOTH, grouping },
    { "lag", FD_BOTH, func_lag }, { "lead", FD_BOTH, func_lag },
};

FuncWorker func_agg(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }

/* SPDX-License-Identifier: Apache-2.0 */
/* print_narrow.c - sums over products of short decimals.
 *
 * price * (1 - discount) is DECIMAL(32,4) by Spark's rule, and the engine's 128-bit multiplication costs four times its
 * 64-bit one.  Values almost always fit 18 digits, so a sum is split: the rows whose product fits are summed narrow, the
 * others (firn_times gave NULL) wide.  The value is the same in all cases.  The engine's TRY does not do for this: it
 * moves common parts of expressions out of it. */
#include "sql/print_int.h"

enum { NARROW = 18 };

static bool is_narrow_literal(const Expr *e)
{
    return e->kind == EX_LITERAL && e->value.kind != DT_NULL && (e->type.kind == DT_DECIMAL || ty_is_integer(&e->type)) && ty_of_literal(e).precision <= NARROW;
}

static bool is_product(const Expr *e)
{
    const DataType *x = e->args.n == 2 ? &e->args.p[0]->type : NULL, *y = x ? &e->args.p[1]->type : NULL;

    if (e->kind != EX_BINARY || !x || x->kind != DT_DECIMAL || y->kind != DT_DECIMAL || e->type.scale > NARROW)
        return false;
    return e->op == OP_MUL && x->scale + y->scale == e->type.scale;
}

/* Can the engine compute e in 18 digits? */
static bool is_narrow(const Expr *e)
{
    if (e->type.kind != DT_DECIMAL)
        return is_narrow_literal(e);
    if (is_product(e))
        return is_narrow(e->args.p[0]) && is_narrow(e->args.p[1]);
    if (e->kind == EX_CAST && is_narrow_literal(e->args.p[0]) && !e->try_cast)
        return true;
    if (e->kind == EX_CASE && !e->has_operand && e->else_) {
        for (size_t i = 1; i < e->args.n; i += 2)
            if (!is_narrow(e->args.p[i]))
                return false;
        return is_narrow(e->else_);
    }
    return e->type.precision <= NARROW;
}

static void narrow(Print *p, const Expr *e);

static void narrow_case(Print *p, const Expr *e)
{
    sb_addc(&p->out, "(CASE");
    for (size_t i = 0; i + 1 < e->args.n; i += 2) {
        sb_addc(&p->out, " WHEN ");
        print_expr(p, e->args.p[i]);
        sb_addc(&p->out, " THEN ");
        narrow(p, e->args.p[i + 1]);
    }
    sb_addc(&p->out, " ELSE ");
    narrow(p, e->else_);
    sb_addc(&p->out, " END)");
}

static void narrow_literal(Print *p, const Expr *e)
{
    DataType t = ty_of_literal(e);

    sb_addc(&p->out, "CAST(");
    print_expr(p, e);
    sb_addc(&p->out, " AS ");
    print_type(p, &t);
    sb_addc(&p->out, ")");
}

static void narrow(Print *p, const Expr *e)
{
    if (is_product(e) && (e->type.precision > NARROW)) {
        sb_fmt(&p->out, "firn_times_s%d(", e->type.scale);
        narrow(p, e->args.p[0]);
        sb_addc(&p->out, ", ");
        narrow(p, e->args.p[1]);
        sb_addc(&p->out, ")");
    } else if (e->kind == EX_CAST && is_narrow_literal(e->args.p[0]) && e->type.precision > NARROW) {
        narrow_literal(p, e->args.p[0]);
    } else if (e->kind == EX_CASE && e->type.precision > NARROW) {
        narrow_case(p, e);
    } else if (is_narrow_literal(e)) {
        narrow_literal(p, e);
    } else {
        print_expr(p, e);
    }
}

/* What is written twice must give the same twice, and should be cheap. */
static int see_obstacle(void *ctx, Expr *e)
{
    *(int *)ctx |= e->query != NULL || (e->func && (e->func->volatile_ || e->func->class != FN_SCALAR));
    return !*(int *)ctx;
}

bool print_can_narrow(const Expr *e)
{
    int obstacle = 0;

    if (e->type.kind != DT_DECIMAL || e->type.precision <= NARROW || e->kind == EX_CAST || !is_narrow(e))
        return false;
    (void)sql_walk_expr((Expr *)(uintptr_t)e, see_obstacle, &obstacle);
    return !obstacle;
}

void print_fitting(Print *p, const Expr *e) { narrow(p, e); }

void print_rest(Print *p, const Expr *e)
{
    sb_addc(&p->out, "CASE WHEN ");
    narrow(p, e);
    sb_addc(&p->out, " IS NULL THEN ");
    print_expr(p, e);
    sb_addc(&p->out, " END");
}

void print_presence(Print *p, const Expr *e)
{
    sb_addc(&p->out, "CASE WHEN ");
    narrow(p, e);
    sb_addc(&p->out, " IS NOT NULL THEN 1 WHEN ");
    print_expr(p, e);
    sb_addc(&p->out, " IS NOT NULL THEN 1 END");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* func_number.c - numbers: rounding by Spark's rules (RoundBase, RoundCeil), operators in the form of functions. */
#include "sql/func_int.h"

static Status whole(FuncArgs *c)
{
    DataType t = *func_arg(c, 0);

    if (t.kind == DT_DECIMAL)
        return func_done(c, c->b->spark ? ty_bounded(t.precision - t.scale + 1, 0) : ty_decimal(t.precision - t.scale + 1 > 38 ? 38 : t.precision - t.scale + 1, 0));
    if (ty_is_integer(&t))
        return func_with(c, "$1", c->b->spark ? ty(DT_INT64) : t);
    return func_done(c, ty(c->b->spark ? DT_INT64 : DT_DOUBLE));
}

/* RoundBase.dataType */
static Status round_(FuncArgs *c)
{
    DataType t = *func_arg(c, 0);
    const Expr *d = c->e->args.n > 1 ? c->e->args.p[1] : NULL;
    int n = d && d->kind == EX_LITERAL ? (int)d->value.integer : 0;

    if (d && c->b->spark && d->kind != EX_LITERAL && d->kind != EX_UNARY)
        return func_fail(c, "a constant scale");
    if (d && d->kind == EX_UNARY && d->args.p[0]->kind == EX_LITERAL)
        n = -(int)d->args.p[0]->value.integer;
    if (t.kind != DT_DECIMAL)
        return func_done(c, ty_is_real(&t) && !c->b->spark ? ty(DT_DOUBLE) : t);
    int digits = t.precision - t.scale + 1;
    if (n < 0)
        return func_done(c, ty_bounded(digits > 1 - n ? digits : 1 - n, 0));
    int s = func_min(n, t.scale);
    return func_done(c, ty_bounded(digits + s, s));
}

static Status trunc_pg(FuncArgs *c)
{
    if (c->e->args.n == 2 && func_arg(c, 0)->kind == DT_DECIMAL)
        return func_with(c, "(trunc($1 * pow(10, $2)) / pow(10, $2))", *func_arg(c, 0));
    return func_done(c, *func_arg(c, 0));
}

static Status log_(FuncArgs *c)
{
    if (!c->b->spark)
        return func_with(c, c->e->args.n == 1 ? "firn_math_log10" : "firn_math_log", ty(DT_DOUBLE));
    if (c->e->args.n == 1)
        return func_with(c, "(CASE WHEN $1 > 0 THEN ln($1) END)", ty(DT_DOUBLE));
    return func_with(c, "(CASE WHEN $1 > 0 AND $2 > 0 THEN ln($2) / ln($1) END)", ty(DT_DOUBLE));
}

static Status mod(FuncArgs *c) { return func_operator(c, OP_MOD); }
static Status div_(FuncArgs *c) { return func_operator(c, OP_INT_DIV); }
static Status shift_left(FuncArgs *c) { return func_operator(c, OP_SHL); }
static Status shift_right(FuncArgs *c) { return func_operator(c, OP_SHR); }

static Status pmod(FuncArgs *c)
{
    Expr *e = c->e;

    TRY(func_operator(c, OP_MOD));
    DataType t = (*c->pe)->type;
    Expr *m = *c->pe;
    *c->pe = bx_call(c->b->a, "pmod", "(CASE WHEN $1 < 0 THEN ($1 + abs($2)) ELSE $1 END)", t, m, e->args.p[1]);
    return OK;
}

/* try_add and its kin: the operator, with errors turned into NULL. */
static Status try_op(FuncArgs *c)
{
    static const struct { const char *name; Op op; } ops[] = {
        { "try_add", OP_ADD }, { "try_subtract", OP_SUB }, { "try_multiply", OP_MUL }, { "try_divide", OP_DIV }, { "try_mod", OP_MOD },
    };
    size_t i = 0;

    while (strcmp(ops[i].name, c->spec->name) != 0)
        i++;
    TRY(func_operator(c, ops[i].op));
    *c->pe = bx_call(c->b->a, "try", "TRY($1)", (*c->pe)->type, *c->pe, NULL);
    return OK;
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

static const FuncRow rows[] = {
    { "trunc", FD_POSTGRES, trunc_pg }, { "ceil", FD_BOTH, whole }, { "floor", FD_BOTH, whole },
    { "round", FD_BOTH, round_ }, { "bround", FD_BOTH, round_ }, { "log", FD_BOTH, log_ }, { "mod", FD_BOTH, mod },
    { "div", FD_BOTH, div_ }, { "pmod", FD_BOTH, pmod }, { "shiftleft", FD_BOTH, shift_left },
    { "shiftright", FD_BOTH, shift_right }, { "try_add", FD_BOTH, try_op }, { "try_subtract", FD_BOTH, try_op },
    { "try_multiply", FD_BOTH, try_op }, { "try_divide", FD_BOTH, try_op }, { "try_mod", FD_BOTH, try_op },
};

FuncWorker func_number(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }

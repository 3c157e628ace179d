/* SPDX-License-Identifier: Apache-2.0 */
/* func_trino_number.c - Trino's rounding and its kin: integers and reals keep their type, decimals lose their fraction. */
#include "sql/func_int.h"

static DataType whole_decimal(const DataType *t)
{
    int p = t->precision - t->scale + (t->scale > 0);
    return ty_decimal(p < 1 ? 1 : p > 38 ? 38 : p, 0);
}

static Status whole(FuncArgs *c)
{
    DataType t = *func_arg(c, 0);

    if (ty_is_integer(&t))
        return func_with(c, "$1", t);
    return func_done(c, t.kind == DT_DECIMAL ? whole_decimal(&t) : t);
}

static Status sign(FuncArgs *c)
{
    DataType t = *func_arg(c, 0);

    if (ty_is_real(&t))
        return func_with(c, "(CASE WHEN isnan($1) THEN $1 ELSE sign($1) END)", t);
    return func_with(c, "sign($1)", t.kind == DT_DECIMAL ? ty_decimal(1, 0) : t);
}

/* round(x, n) keeps a decimal's scale and gains a digit. */
static Status round_(FuncArgs *c)
{
    DataType t = *func_arg(c, 0);

    if (t.kind == DT_DECIMAL && c->e->args.n == 1)
        return func_with(c, "round($1)", whole_decimal(&t));
    if (t.kind == DT_DECIMAL) {
        const Expr *n = c->e->args.p[1];
        if (n->kind != EX_LITERAL || n->value.kind == DT_NULL)
            return trino_refuse(c, "decimals are rounded to a constant number of digits only");
        return func_with(c, "round($1, $2)", ty_decimal(t.precision < 38 ? t.precision + 1 : 38, t.scale));
    }
    if (ty_is_integer(&t) && c->e->args.n == 1)
        return func_with(c, "$1", t);
    return func_with(c, "round($*)", t);
}

static Status truncate_(FuncArgs *c)
{
    DataType t = *func_arg(c, 0);

    if (c->e->args.n == 2)
        return trino_refuse(c, "a number of digits is not supported");
    if (ty_is_integer(&t))
        return func_with(c, "$1", t);
    if (t.kind == DT_DECIMAL) {
        int p = t.precision - t.scale;
        return func_with(c, "trunc($1)", ty_decimal(p < 1 ? 1 : p, 0));
    }
    return func_with(c, "trunc($1)", t);
}

static Status mod(FuncArgs *c) { return func_operator(c, OP_MOD); }

static Status random_(FuncArgs *c)
{
    if (!c->e->args.n)
        return func_with(c, "random()", ty(DT_DOUBLE));
    return func_with(c, c->e->args.n == 1 ? "CAST(floor(random() * $1) AS BIGINT)" : "CAST($1 + floor(random() * ($2 - $1)) AS BIGINT)", ty(DT_INT64));
}

/* NULL when any is. */
static Status extreme(FuncArgs *c)
{
    StrBuf b = sb_new(c->b->a);
    DataType t = *func_arg(c, 0);

    if (t.nchildren || t.kind == DT_JSON)
        return trino_mismatch(c);
    for (size_t i = 0; i < c->e->args.n; i++)
        sb_fmt(&b, "%s$%zu IS NULL", i ? " OR " : "(CASE WHEN ", i + 1);
    sb_addc(&b, " THEN NULL");
    for (size_t i = 0; ty_is_real(&t) && i < c->e->args.n; i++)            /* NaN has no agreed place */
        sb_fmt(&b, " WHEN isnan($%zu) THEN CAST(firn_error('NOT_SUPPORTED: %s over NaN SQLSTATE: 0A000') AS $T)", i + 1, c->spec->name);
    sb_fmt(&b, " ELSE %s($*) END)", c->spec->name);
    return func_with(c, sb_str(&b).p, t);
}

static const FuncRow rows[] = {
    { "ceiling", FD_TRINO, whole }, { "floor", FD_TRINO, whole }, { "sign", FD_TRINO, sign }, { "round", FD_TRINO, round_ },
    { "truncate", FD_TRINO, truncate_ }, { "mod", FD_TRINO, mod }, { "random", FD_TRINO, random_ }, { "greatest", FD_TRINO, extreme },
    { "least", FD_TRINO, extreme },
};

FuncWorker func_trino_number(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }

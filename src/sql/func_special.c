/* SPDX-License-Identifier: Apache-2.0 */
/* func_special.c - entries of the list whose result type or meaning needs more than a letter: the way to their workers. */
#include "sql/func_int.h"

DataType *func_arg(FuncArgs *c, size_t i) { return &c->e->args.p[i]->type; }

Status func_done(FuncArgs *c, DataType t)
{
    c->e->type = t;
    return OK;
}

Status func_with(FuncArgs *c, const char *engine, DataType t)
{
    c->e->func->engine = str_c(engine);
    return func_done(c, t);
}

Status func_fail(FuncArgs *c, const char *needs)
{
    if (c->b->spark)
        return BIND_FAIL(c->b, c->e->position, "42K09", "[DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE] Cannot resolve \"%s\" due to data type mismatch: it requires %s.",
                         c->spec->name, needs);
    return BIND_FAIL(c->b, c->e->position, "42883", "function %s(" STR_FMT ") does not exist", c->spec->name,
                     STR_ARG(c->e->args.n ? bind_type_name(c->b, func_arg(c, 0)) : S("")));
}

Status func_operator(FuncArgs *c, Op op)
{
    Expr *e = bx_binary(c->b->a, op, c->e->args.p[0], c->e->args.p[1], ty(DT_NULL));
    e->position = c->e->position;
    *c->pe = e;
    return bind_binary(c->b, c->pe);
}

Status func_constant(FuncArgs *c, size_t i, Str *ret)
{
    const Expr *e = c->e->args.p[i];

    if (e->kind != EX_LITERAL || e->value.kind != DT_STRING)
        return BIND_FAIL(c->b, e->position, "0A000", "argument %zu of %s must be a string literal", i + 1, c->spec->name);
    *ret = e->value.string;
    return OK;
}

Status func_unsupported(FuncArgs *c) { return BIND_FAIL(c->b, c->e->position, "0A000", "function %s is not supported with these arguments", c->spec->name); }

int func_dialect(const Bind *b) { return b->spark ? FD_SPARK : b->trino ? FD_TRINO : FD_POSTGRES; }

FuncWorker func_row(const FuncRow *rows, size_t n, Str canonical, int dialect)
{
    for (size_t i = 0; i < n; i++)
        if ((rows[i].dialects & dialect) && str_eq(canonical, str_c(rows[i].canonical)))
            return rows[i].worker;
    return NULL;
}

Status func_special(Bind *b, Level *l, Expr **pe, const FuncSpec *spec)
{
    static FuncWorker (*const files[])(Str, int) = { func_trino, func_agg, func_text, func_number, func_time, func_nested, func_jsonb, func_regex, func_range, func_list };
    FuncArgs c = { b, l, pe, *pe, spec };

    for (size_t i = 0; i < COUNT_OF(files); i++) {
        FuncWorker w = files[i]((*pe)->func->canonical, func_dialect(b));
        if (w)
            return w(&c);
    }
    return FAIL(b->err, E_INTERNAL, "function '%s' has no typing rule", spec->name);
}

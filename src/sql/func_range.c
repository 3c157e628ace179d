/* SPDX-License-Identifier: Apache-2.0 */
/* func_range.c - functions on ranges, and lower and upper, which are of texts too. */
#include "sql/func_int.h"

static RangeKind kind_by_name(Str name)
{
    for (RangeKind k = RANGE_INT4; k < RANGE_KINDS; k++)
        if (str_eq(name, str_c(range_name(k))))
            return k;
    return RANGE_NONE;
}

/* int4range(lower, upper[, '[)']) */
static Status make(FuncArgs *c)
{
    RangeKind k = kind_by_name(c->e->func->canonical);
    const DataType *t = data_type_of_range(k);

    for (size_t i = 0; i < 2; i++)
        TRY(bind_coerce(c->b, &c->e->args.p[i], t->children[RANGE_LO], c->spec->name));
    if (c->e->args.n > 2)
        TRY(bind_coerce(c->b, &c->e->args.p[2], ty(DT_STRING), c->spec->name));
    return func_with(c, str_fmt(c->b->a, "firn_%s_of($1, $2, $3{'[)'})", range_name(k)).p, *t);
}

static Status of_range(FuncArgs *c)
{
    static const struct { const char *name, *engine; } rows[] = {
        { "isempty", "(struct_extract($1, '%s') = 0)" }, { "lower_inf", "(struct_extract($1, '%s') = 1)" }, { "lower_inc", "(struct_extract($1, '%s') = 2 AND NOT struct_extract($1, 'lx'))" },
        { "upper_inf", "(struct_extract($1, '%s') <> 0 AND struct_extract($1, 'hi') IS NULL)" }, { "upper_inc", "struct_extract($1, 'hi_in')" },
    };
    RangeKind k = data_type_range(func_arg(c, 0));

    if (!k)
        return func_fail(c, "a range");
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (str_eq(c->e->func->canonical, str_c(rows[i].name))) {
            const char *at = strstr(rows[i].engine, "%s");
            Str engine = str_fmt(c->b->a, "%.*s%s%s", at ? (int)(at - rows[i].engine) : (int)strlen(rows[i].engine), rows[i].engine, at ? range_name(k) : "", at ? at + 2 : "");
            return func_with(c, engine.p, ty(DT_BOOL));
        }
    return func_unsupported(c);
}

static Status bound(FuncArgs *c)
{
    bool is_lower = str_eq(c->e->func->canonical, S("lower"));

    if (ty_is_range(func_arg(c, 0)))
        return func_with(c, is_lower ? "struct_extract($1, 'lo')" : "struct_extract($1, 'hi')", func_arg(c, 0)->children[RANGE_LO]);
    TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_STRING), c->spec->name));
    return func_done(c, ty(DT_STRING));
}

static const FuncRow rows[] = {
    { "int4range", FD_POSTGRES, make }, { "int8range", FD_POSTGRES, make }, { "numrange", FD_POSTGRES, make }, { "daterange", FD_POSTGRES, make }, { "tsrange", FD_POSTGRES, make },
    { "tstzrange", FD_POSTGRES, make }, { "isempty", FD_POSTGRES, of_range }, { "lower_inc", FD_POSTGRES, of_range }, { "upper_inc", FD_POSTGRES, of_range },
    { "lower_inf", FD_POSTGRES, of_range }, { "upper_inf", FD_POSTGRES, of_range }, { "lower", FD_POSTGRES, bound }, { "upper", FD_POSTGRES, bound },
};

FuncWorker func_range(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }

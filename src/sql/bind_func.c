/* SPDX-License-Identifier: Apache-2.0 */
/* bind_func.c - calls: looked up in the list, arguments coerced by its letters, result typed by its letter. */
#include "sql/bind_int.h"

#include <stdio.h>

static Status fail_unknown(Bind *b, const Expr *e)
{
    StrBuf s = sb_new(b->a), types = sb_new(b->a);

    for (size_t i = 0; i < e->func->name.n; i++)
        sb_fmt(&s, b->spark ? "%s`" STR_FMT "`" : "%s" STR_FMT, i ? "." : "", STR_ARG(e->func->name.p[i]));
    if (b->trino)
        return BIND_FAIL(b, e->position, "42883", "Function '" STR_FMT "' not registered", STR_ARG(sb_str(&s)));
    if (b->spark)
        return BIND_FAIL(b, e->position, "42883", "[UNRESOLVED_ROUTINE] Cannot resolve routine " STR_FMT " on search path [`system`.`builtin`, `system`.`session`].",
                         STR_ARG(sb_str(&s)));
    for (size_t i = 0; i < e->args.n; i++)
        sb_fmt(&types, "%s" STR_FMT, i ? ", " : "", STR_ARG(ty_unknown(&e->args.p[i]->type) ? S("unknown") : bind_type_name(b, &e->args.p[i]->type)));
    return BIND_FAIL(b, e->position, "42883", "function " STR_FMT "(" STR_FMT ") does not exist", STR_ARG(sb_str(&s)), STR_ARG(sb_str(&types)));
}

static Status fail_count(Bind *b, const Expr *e, const FuncSpec *f)
{
    if (b->trino) {
        StrBuf types = sb_new(b->a);
        for (size_t i = 0; i < e->args.n; i++)
            sb_fmt(&types, "%s" STR_FMT, i ? ", " : "", STR_ARG(trino_type_of(b, e->args.p[i])));
        return BIND_FAIL(b, e->position, "42K09", "Unexpected parameters (" STR_FMT ") for function %s", STR_ARG(sb_str(&types)), f->name);
    }
    if (!b->spark)
        return fail_unknown(b, e);
    StrBuf want = sb_new(b->a);
    if (f->max < 0)
        sb_fmt(&want, "> %d", f->min - 1);
    else if (f->max == f->min)
        sb_fmt(&want, "%d", f->min);
    else
        sb_fmt(&want, "[%d, %d]", f->min, f->max);
    return BIND_FAIL(b, e->position, "42605", "[WRONG_NUM_ARGS.WITHOUT_SUGGESTION] The `%s` requires " STR_FMT " parameters but the actual number is %zu.",
                     f->name, STR_ARG(sb_str(&want)), e->args.n);
}

/* pg_catalog.f, builtin.f, system.builtin.f; anything else is no function of ours. */
static bool plain_name(Bind *b, const StrVec *name, Str *ret)
{
    *ret = str_lower(b->a, vec_last(name));
    if (name->n == 1)
        return true;
    if (!b->spark)
        return !b->trino && name->n == 2 && (str_ieq(name->p[0], S("pg_catalog")) || str_ieq(name->p[0], S("information_schema")) ||
                                               str_ieq(name->p[0], S("mz_catalog")) || str_ieq(name->p[0], S("mz_internal")));
    return str_ieq(name->p[name->n - 2], S("builtin")) && (name->n == 2 || (name->n == 3 && str_ieq(name->p[0], S("system"))));
}

/* ---- Spark's casts in the form of functions: int('1') ---------------------------------------------------------------- */

static bool cast_function(Str name, DataType *ret)
{
    static const struct { const char *name; DataTypeKind kind; } casts[] = {
        { "boolean", DT_BOOL }, { "tinyint", DT_INT8 }, { "smallint", DT_INT16 }, { "int", DT_INT32 }, { "bigint", DT_INT64 },
        { "float", DT_FLOAT }, { "double", DT_DOUBLE }, { "string", DT_STRING }, { "binary", DT_BINARY }, { "date", DT_DATE },
        { "timestamp", DT_TIMESTAMPTZ },
    };

    for (size_t i = 0; i < COUNT_OF(casts); i++)
        if (str_eq(name, str_c(casts[i].name))) {
            *ret = ty(casts[i].kind);
            return true;
        }
    *ret = ty_decimal(10, 0);
    return str_eq(name, S("decimal"));
}

/* ---- arguments -------------------------------------------------------------------------------------------------------------- */

static char letter_at(const char *letters, size_t i)
{
    size_t n = strlen(letters);

    if (!n)
        return 'x';
    if (letters[n - 1] == '*')
        return letters[i < n - 1 ? i : n - 2];
    return i < n ? letters[i] : 'x';
}

static DataType letter_type(char c)
{
    switch (c) {
    case 's': return ty(DT_STRING);
    case 'i': return ty(DT_INT32);
    case 'l': return ty(DT_INT64);
    case 'd': return ty(DT_DOUBLE);
    case 'b': return ty(DT_BOOL);
    case 'D': return ty(DT_DATE);
    case 'T': return ty(DT_TIMESTAMPTZ);
    case 'B': return ty(DT_BINARY);
    case 'j': return ty(DT_JSON);
    case 'V': return ty(DT_INTERVAL);
    default: return ty(DT_NULL);
    }
}

static Status coerce_number(Bind *b, Expr **e, const char *name)
{
    if (ty_is_numeric(&(*e)->type) || (*e)->type.kind == DT_INTERVAL)
        return OK;
    return bind_coerce(b, e, ty(DT_DOUBLE), name);
}

static Status coerce_time(Bind *b, Expr **e, const char *name)
{
    DataTypeKind k = (*e)->type.kind;

    if (ty_is_time(&(*e)->type) || k == DT_TIME || k == DT_INTERVAL || k == DT_TIMETZ)
        return OK;
    return bind_coerce(b, e, ty(b->spark ? DT_TIMESTAMPTZ : DT_TIMESTAMP), name);
}

static Status coerce_arg(Bind *b, Expr **e, char c, const FuncSpec *f)
{
    switch (c) {
    case 'x': case 'c': return OK;
    case 'n': return coerce_number(b, e, f->name);
    case 't': return coerce_time(b, e, f->name);
    case 'a':
        if ((*e)->type.kind != DT_LIST && !ty_unknown(&(*e)->type))
            return bind_coerce(b, e, ty_list(b->a, ty(DT_STRING)), f->name);
        return OK;
    case 'm':
        return (*e)->type.kind == DT_MAP || ty_unknown(&(*e)->type) ? OK : bind_coerce(b, e, (DataType){ .kind = DT_MAP }, f->name);
    case 's':
        if (b->trino)
            break;
        if ((*e)->type.kind == DT_UUID || (*e)->type.kind == DT_JSON) {
            bind_to(b, e, ty(DT_STRING));
            return OK;
        }
        break;
    case 'B':
        if (ty_is_text(&(*e)->type) && !b->trino) {
            bind_to(b, e, ty(DT_BINARY));
            return OK;
        }
        break;
    default:
        break;
    }
    return bind_coerce(b, e, letter_type(c), f->name);
}

static Status coerce_args(Bind *b, Expr *e, const FuncSpec *f, DataType *common)
{
    Expr ***same = arena_array(b->a, Expr **, e->args.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < e->args.n; i++) {
        char c = letter_at(f->args, i);
        if (e->args.p[i]->kind == EX_LAMBDA)
            continue;
        TRY(coerce_arg(b, &e->args.p[i], c, f));
        if (c == 'c')
            same[n++] = &e->args.p[i];
    }
    return n ? bind_unify(b, same, n, e->position, common) : OK;
}

static Status bind_call_args(Bind *b, Level *l, Expr *e)
{
    for (size_t i = 0; i < e->args.n; i++)
        if (e->args.p[i]->kind == EX_LAMBDA && b->trino)
            TRY(trino_lambda(b, l, e, i));
        else if (e->args.p[i]->kind == EX_LAMBDA)
            TRY(bind_lambda(b, l, e->args.p[i], i ? &e->args.p[0]->type : NULL));
        else
            TRY(bind_expr(b, l, &e->args.p[i]));
    return OK;
}

/* count(*), and count(t.*) which counts rows too. */
static Status bind_star_arg(Bind *b, Level *l, Expr *e, Str name)
{
    if (e->func->star && !str_eq(name, S("count")))
        return fail_unknown(b, e);
    for (size_t i = 0; i < e->args.n; i++) {
        if (e->args.p[i]->kind != EX_STAR)
            continue;
        SelectItems items = { 0 };
        ExprVec args = { 0 };
        TRY(bind_star(b, l, &(SelectItem){ .expr = e->args.p[i] }, &items));
        for (size_t k = 0; k < e->args.n; k++) {
            if (k != i)
                vec_push(b->a, &args, e->args.p[k]);
            for (size_t m = 0; k == i && m < items.n; m++)
                vec_push(b->a, &args, items.p[m].expr);
        }
        e->args = args;
        return OK;
    }
    return OK;
}

static Status check_aggregate(Bind *b, Level *l, Expr *e)
{
    if (l->in_aggregate && !e->func->over)
        return BIND_FAIL(b, e->position, b->spark ? "42607" : "42803", "%s", b->spark
                         ? "[NESTED_AGGREGATE_FUNCTION] It is not allowed to use an aggregate function in the argument of another aggregate function. Please use "
                           "the inner aggregate function in a sub-query."
                         : "aggregate function calls cannot be nested");
    if (l->clause == CL_FROM)
        return BIND_FAIL(b, e->position, b->spark ? "42903" : "42803", "aggregate functions are not allowed in JOIN conditions");
    return OK;
}

static Status bind_modifiers(Bind *b, Level *l, Expr *e)
{
    FuncCall *f = e->func;

    if (f->filter) {
        TRY(bind_expr(b, l, &f->filter));
        TRY(bind_coerce(b, &f->filter, ty(DT_BOOL), "FILTER"));
    }
    for (size_t i = 0; i < f->order.n; i++)
        TRY(bind_expr(b, l, &f->order.p[i].expr));
    bind_order_nulls(b, &f->order);
    return OK;
}

static Status bind_inside(Bind *b, Level *l, Expr *e, const FuncSpec *spec)
{
    int is_aggregate = spec->class == FN_AGGREGATE && !e->func->over;
    int before = l->in_aggregate;

    if (spec->class == FN_AGGREGATE)
        TRY(check_aggregate(b, l, e));
    l->in_aggregate |= is_aggregate;
    Status s = bind_call_args(b, l, e);
    if (s == OK)
        s = bind_modifiers(b, l, e);
    l->in_aggregate = before;
    TRY(s);
    if (is_aggregate)
        l->aggregates++;
    return OK;
}

/* ---- the result ------------------------------------------------------------------------------------------------------------------ */

static Status result_type(Bind *b, Level *l, Expr **pe, const FuncSpec *f, DataType common)
{
    Expr *e = *pe;

    switch (f->ret[0]) {
    case '!': return func_special(b, l, pe, f);
    case '?': return bind_probe(b, e, e->func->engine, &e->type);
    case 'c': e->type = common; return OK;
    case 'A': e->type = ty_list(b->a, common); return OK;
    case '1': e->type = e->args.p[0]->type; return OK;
    case '2': e->type = e->args.p[1]->type; return OK;
    case 'e':
        e->type = e->args.p[0]->type.nchildren ? e->args.p[0]->type.children[0] : ty(DT_NULL);
        return OK;
    default: e->type = letter_type(f->ret[0]); return OK;
    }
}

static int is_nullable(const Expr *e, const FuncSpec *f)
{
    if (f->class == FN_AGGREGATE)
        return strcmp(f->name, "count") != 0 && strcmp(f->name, "count_if") != 0;
    if (strcmp(f->name, "coalesce") == 0 || strcmp(f->name, "nvl") == 0 || strcmp(f->name, "ifnull") == 0)
        return vec_last(&e->args)->nullable;
    return 1;
}

Status bind_function(Bind *b, Level *l, Expr **pe)
{
    Expr *e = *pe;
    FuncCall *f = e->func;
    DataType common = ty(DT_NULL), to;
    Str name;

    if (f->class != FN_UNBOUND)
        return OK;                                       /* bound already: shared with an alias */
    bool known = plain_name(b, &f->name, &name);
    if (known && b->spark && e->args.n == 1 && cast_function(name, &to)) {
        Expr *c = bx_new(b->a, EX_CAST, e->position);
        c->type = to;
        c->args = e->args;
        *pe = c;
        return bind_expr(b, l, pe);
    }
    const FuncSpec *spec = known ? func_find(name, b->b->dialect) : NULL;
    if (!spec) {
        if (!b->spark)
            TRY(bind_call_args(b, l, e));
        return fail_unknown(b, e);
    }
    TRY(bind_star_arg(b, l, e, name));
    if ((int)e->args.n < spec->min || (spec->max >= 0 && (int)e->args.n > spec->max)) {
        if (!b->spark)
            TRY(bind_call_args(b, l, e));
        return fail_count(b, e, spec);
    }
    if (f->over && spec->class == FN_SCALAR)
        return BIND_FAIL(b, e->position, "42809", "OVER specified, but %s is not a window function nor an aggregate function", spec->name);
    if ((f->distinct || f->filter) && spec->class != FN_AGGREGATE)
        return BIND_FAIL(b, e->position, "42809", "DISTINCT or FILTER specified, but %s is not an aggregate function", spec->name);
    if (spec->class == FN_WINDOW && !f->over)
        return BIND_FAIL(b, e->position, "42P20", b->spark ? "[WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE] Window function %s() requires an OVER clause."
                                                           : "window function %s requires an OVER clause", spec->name);
    TRY(bind_inside(b, l, e, spec));
    if (f->over)
        TRY(bind_over(b, l, e));
    f->class = (FuncClass)spec->class;
    f->canonical = str_c(spec->canonical ? spec->canonical : spec->name);
    f->engine = str_c(spec->engine ? spec->engine : spec->name);
    f->volatile_ = spec->flags & FF_VOLATILE ? 1 : 0;
    TRY(coerce_args(b, e, spec, &common));
    e->nullable = is_nullable(e, spec);
    return result_type(b, l, pe, spec, common);
}

/* ---- lambdas ----------------------------------------------------------------------------------------------------------------------- */

/* The parameters are columns of a relation without an engine alias: printed by their bare names. */
Status bind_lambda(Bind *b, Level *l, Expr *e, const DataType *list)
{
    DataType *types = arena_array(b->a, DataType, e->name.n + 1);

    for (size_t i = 0; i < e->name.n; i++)
        types[i] = i == 0 && list && list->kind == DT_LIST ? list->children[0] : ty(DT_INT32);
    return bind_lambda_typed(b, l, e, types);
}

Status bind_lambda_typed(Bind *b, Level *l, Expr *e, const DataType *types)
{
    TableRef *t = arena_new(b->a, TableRef);
    Visibles outside = l->visible, inside = { 0 };

    t->kind = TR_VALUES;
    for (size_t i = 0; i < e->name.n; i++) {
        BoundColumn c = { .name = e->name.p[i], .engine = str_fmt(b->a, "firn_l%d", ++b->next_alias), .nullable = 1, .type = types[i] };
        vec_push(b->a, &t->columns, c);
        vec_push(b->a, &inside, ((Visible){ .name = c.name, .rel = t, .col = (int)i }));
    }
    for (size_t i = 0; i < outside.n; i++) {
        Visible v = outside.p[i];
        for (size_t k = 0; k < e->name.n; k++)
            v.hidden |= bind_name_eq(b, v.name, e->name.p[k]);
        vec_push(b->a, &inside, v);
    }
    l->visible = inside;
    Status s = bind_expr(b, l, &e->args.p[0]);
    l->visible = outside;
    TRY(s);
    for (size_t i = 0; i < e->name.n; i++)
        e->name.p[i] = t->columns.p[i].engine;
    e->type = e->args.p[0]->type;
    return OK;
}

/* ---- types that only the engine knows --------------------------------------------------------------------------------------------------- */

/* f over typed NULLs (constants stay): described, not run. */
Status bind_probe(Bind *b, const Expr *e, Str engine, DataType *ret)
{
    Expr call = *e;
    FuncCall f = *e->func;
    Printer none = { 0 };
    Str text;
    DuckColumns cols;

    if (!b->b->probe)
        return BIND_FAIL(b, e->position, "0A000", "the type of function " STR_FMT " is not known", STR_ARG(e->func->canonical));
    call.args = (ExprVec){ 0 };
    f.engine = engine;
    f.over = NULL;
    call.func = &f;
    call.type = ty(DT_INVALID);
    for (size_t i = 0; i < e->args.n; i++) {
        Expr *arg = e->args.p[i];
        if (arg->kind != EX_LITERAL && arg->kind != EX_LAMBDA) {
            arg = bx_new(b->a, EX_LITERAL, 0);
            arg->value.kind = DT_NULL;
            arg->type = e->args.p[i]->type;
        }
        vec_push(b->a, &call.args, arg);
    }
    TRY(sql_print_expr(b->a, &none, &call, &text, b->err));
    DataType *known = map_get(&b->probes, text);
    if (!known) {
        TRY(duck_describe(b->b->probe, b->a, str_fmt(b->a, "SELECT " STR_FMT, STR_ARG(text)), &cols, b->err));
        known = arena_new(b->a, DataType);
        *known = cols.p[0].type;
        map_put(&b->probes, text, known);
    }
    *ret = *known;
    return OK;
}

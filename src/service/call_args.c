/* SPDX-License-Identifier: Apache-2.0 */
/* call_args.c - arguments of CALL, by position or by name, as constants.
 *
 * An argument is any expression without columns: it is bound like every other, so functions go through the allow-list, and the engine gives its
 * value. */
#include "service/call_int.h"

/* ---- constants -------------------------------------------------------------------------------------------------------------------------- */

static Value keep_value(Arena *a, Value v)
{
    if (v.kind == DT_STRING || v.kind == DT_BINARY || v.kind == DT_UUID || v.kind == DT_JSON)
        v.string = str_dup(a, v.string);
    return v;
}

Status run_constant(Run *r, const Expr *given, const DataType *to, Str what, Value *ret, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *res = NULL;
    Expr *e = sql_copy_expr(r->a, given);
    Printer p = run_printer(r);
    Binder b;
    Str text;
    size_t n;

    run_binder(r, &b);
    TRY(sql_bind_expr(r->a, &b, NULL, e, err));
    if (to)
        TRY(sql_assign_cast(r->a, r->ss->dialect, &e, to, what, err));
    TRY(sql_print_expr(r->a, &p, e, &text, err));
    TRY(duck_query_held(r->c, str_fmt(r->a, "SELECT " STR_FMT, STR_ARG(text)), &res, err));
    TRY(duck_next(res, &n, err));
    *ret = n ? keep_value(r->a, duck_value(r->a, res, 0, 0)) : (Value){ .kind = DT_NULL };
    return OK;
}

/* ---- one argument ------------------------------------------------------------------------------------------------------------------------ */

static bool is_integer(const Value *v) { return v->kind >= DT_INT8 && v->kind <= DT_INT64; }

static Status wrong_type(const ArgDef *d, const char *want, Error *err)
{
    Status s = FAIL(err, E_INVALID, "argument '%s' must be %s", d->name, want);
    memcpy(err->sqlstate, "42804", 6);
    return s;
}

static Status time_of(Call *c, const ArgDef *d, const Value *v, int64_t *ret, Error *err)
{
    bool has;

    if (v->kind == DT_TIMESTAMP || v->kind == DT_TIMESTAMPTZ) {
        *ret = v->integer / 1000;
        return OK;
    }
    if (v->kind == DT_DATE) {
        *ret = v->integer * 86400000;
        return OK;
    }
    if (is_integer(v)) {
        *ret = v->integer;
        return OK;
    }
    if (v->kind != DT_STRING)
        return wrong_type(d, "a timestamp", err);
    Str sql = str_fmt(c->r->a, "SELECT epoch_ms(CAST(" STR_FMT " AS TIMESTAMPTZ))", STR_ARG(sql_lit_str(c->r->a, v->string)));
    TRY_CTX(duck_scalar_i64(c->r->c, sql, ret, &has, err), err, "argument '%s'", d->name);
    return OK;
}

static Status map_of(Call *c, const ArgDef *d, const Value *v, Arg *ret, Error *err)
{
    if (v->kind != DT_MAP)
        return wrong_type(d, "a map of strings, as map('key', 'value')", err);
    for (size_t i = 0; i + 1 < v->items.n; i += 2) {
        if (v->items.p[i].kind != DT_STRING || v->items.p[i + 1].kind != DT_STRING)
            return wrong_type(d, "a map of strings, as map('key', 'value')", err);
        props_set(c->r->a, &ret->map, str_dup(c->r->a, v->items.p[i].string), str_dup(c->r->a, v->items.p[i + 1].string));
    }
    return OK;
}

static Status longs_of(Call *c, const ArgDef *d, const Value *v, Arg *ret, Error *err)
{
    if (v->kind != DT_LIST)
        return wrong_type(d, "an array of integers", err);
    for (size_t i = 0; i < v->items.n; i++) {
        if (!is_integer(&v->items.p[i]))
            return wrong_type(d, "an array of integers", err);
        vec_push(c->r->a, &ret->longs, v->items.p[i].integer);
    }
    return OK;
}

static Status convert(Call *c, const ArgDef *d, const Value *v, Arg *ret, Error *err)
{
    if (v->kind == DT_NULL)
        return OK;
    ret->has = 1;
    switch (d->kind) {
    case ARG_TEXT:
        if (v->kind != DT_STRING)
            return wrong_type(d, "a string", err);
        ret->text = v->string;
        return OK;
    case ARG_LONG:
        if (!is_integer(v))
            return wrong_type(d, "an integer", err);
        ret->number = v->integer;
        return OK;
    case ARG_BOOL:
        if (v->kind != DT_BOOL)
            return wrong_type(d, "true or false", err);
        ret->number = v->boolean;
        return OK;
    case ARG_TIME: return time_of(c, d, v, &ret->number, err);
    case ARG_LONGS: return longs_of(c, d, v, ret, err);
    case ARG_MAP: return map_of(c, d, v, ret, err);
    }
    return FAIL(err, E_INTERNAL, "argument kind %d", (int)d->kind);
}

/* ---- all of them ---------------------------------------------------------------------------------------------------------------------------- */

static Status place_of(const Call *c, const Assign *x, size_t position, bool named_before, size_t *ret, Error *err)
{
    size_t n = 0;

    while (n < CALL_ARGS_MAX && c->def->args[n].name)
        n++;
    if (!x->column.n && named_before)
        return FAIL(err, E_INVALID, "[UNEXPECTED_POSITIONAL_ARGUMENT] a positional argument follows a named one in CALL %s", c->def->name);
    if (!x->column.n && position >= n)
        return FAIL(err, E_INVALID, "[WRONG_NUM_ARGS] procedure %s takes at most %zu arguments", c->def->name, n);
    if (!x->column.n) {
        *ret = position;
        return OK;
    }
    for (size_t i = 0; i < n; i++)
        if (str_ieq(x->column.p[0], str_c(c->def->args[i].name))) {
            *ret = i;
            return OK;
        }
    return FAIL(err, E_INVALID, "[UNRECOGNIZED_PARAMETER_NAME] procedure %s has no argument '" STR_FMT "'", c->def->name, STR_ARG(x->column.p[0]));
}

Status call_read_args(Call *c, Error *err)
{
    const AssignVec *given = &c->r->st->call_args;
    bool seen[CALL_ARGS_MAX] = {0}, named = false;

    for (size_t i = 0; i < given->n; i++) {
        size_t at;
        Value v;
        TRY(place_of(c, &given->p[i], i, named, &at, err));
        named |= given->p[i].column.n > 0;
        if (seen[at])
            return FAIL(err, E_INVALID, "[DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT] argument '%s' is given twice", c->def->args[at].name);
        seen[at] = true;
        TRY_CTX(run_constant(c->r, given->p[i].value, NULL, (Str){0}, &v, err), err, "argument '%s'", c->def->args[at].name);
        TRY(convert(c, &c->def->args[at], &v, &c->args[at], err));
    }
    for (size_t i = 0; i < CALL_ARGS_MAX && c->def->args[i].name; i++)
        if (c->def->args[i].required && !c->args[i].has)
            return FAIL(err, E_INVALID, "[REQUIRED_PARAMETER_NOT_FOUND] procedure %s needs argument '%s'", c->def->name, c->def->args[i].name);
    return OK;
}

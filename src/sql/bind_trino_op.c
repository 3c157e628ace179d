/* SPDX-License-Identifier: Apache-2.0 */
/* bind_trino_op.c - Trino's operators: strict about types, integers stay integers, decimals exact, reals by IEEE 754.
 *
 * A division of reals by zero is infinite, and NaN is not equal to itself: the engine sorts NaN above everything, so comparisons of
 * reals that could meet one are guarded. */
#include "sql/bind_int.h"

static int max_int(int x, int y) { return x > y ? x : y; }
static int min_int(int x, int y) { return x < y ? x : y; }

static const char *op_name(Op op)
{
    static const char *const names[] = {
        [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/", [OP_MOD] = "%", [OP_CONCAT] = "||", [OP_EQ] = "=", [OP_NE] = "<>",
        [OP_LT] = "<", [OP_LE] = "<=", [OP_GT] = ">", [OP_GE] = ">=", [OP_AND] = "AND", [OP_OR] = "OR", [OP_NEG] = "-",
    };
    return (size_t)op < COUNT_OF(names) && names[op] ? names[op] : "?";
}

static Status fail_types(Bind *b, const Expr *e)
{
    return BIND_FAIL(b, e->position, "42K09", "Cannot apply operator: " STR_FMT " %s " STR_FMT, STR_ARG(trino_type_of(b, e->args.p[0])), op_name(e->op),
                     STR_ARG(trino_type_of(b, e->args.p[1])));
}

static void finish(Expr *e, DataType t)
{
    e->type = t;
    e->nullable = 0;
    for (size_t i = 0; i < e->args.n; i++)
        e->nullable |= e->args.p[i]->nullable;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------ */

/* DecimalOperators. */
static DataType decimal_result(Op op, DataType x, DataType y)
{
    int scale = max_int(x.scale, y.scale);

    switch (op) {
    case OP_MUL: return ty_decimal(min_int(38, x.precision + y.precision), x.scale + y.scale);
    case OP_DIV: return ty_decimal(min_int(38, x.precision + y.scale + max_int(0, y.scale - x.scale)), scale);
    case OP_MOD: return ty_decimal(max_int(1, min_int(38, min_int(y.precision - y.scale, x.precision - x.scale) + scale)), scale);
    default: return ty_decimal(min_int(38, max_int(x.precision - x.scale, y.precision - y.scale) + scale + 1), scale);
    }
}

static Status bind_decimal(Bind *b, Expr *e)
{
    for (int i = 0; i < 2; i++)
        if (e->args.p[i]->type.kind != DT_DECIMAL)
            bind_to(b, &e->args.p[i], trino_decimal_of(&e->args.p[i]->type));
    DataType t = decimal_result(e->op, e->args.p[0]->type, e->args.p[1]->type);
    if (t.scale > 38)
        return BIND_FAIL(b, e->position, "42K09", "DECIMAL scale must be in range [0, precision (38)]: %d", t.scale);
    finish(e, t);
    return OK;
}

/* As a call, because the printer's division refuses zero. */
static void bind_ieee(Bind *b, Expr **pe, DataType t)
{
    Expr *e = *pe;

    if (e->op != OP_DIV && e->op != OP_MOD) {
        finish(e, t);
        return;
    }
    Expr *call = bx_call(b->a, e->op == OP_DIV ? "real_divide" : "real_modulus", e->op == OP_DIV ? "($1 / $2)" : "($1 % $2)", t, e->args.p[0], e->args.p[1]);
    call->nullable = e->args.p[0]->nullable || e->args.p[1]->nullable;
    *pe = call;
}

static Status bind_numbers(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    DataType t;

    if (!trino_common(b, &e->args.p[0]->type, &e->args.p[1]->type, &t) || !ty_is_numeric(&t))
        return fail_types(b, e);
    if (t.kind == DT_DECIMAL)
        return bind_decimal(b, e);
    bind_to(b, &e->args.p[0], t);
    bind_to(b, &e->args.p[1], t);
    if (ty_is_real(&t))
        bind_ieee(b, pe, t);
    else
        finish(e, t);
    return OK;
}

/* ---- dates and intervals --------------------------------------------------------------------------------------------------- */

static bool is_interval(const Expr *e) { return e->type.kind == DT_INTERVAL; }

static Status interval_alone(Bind *b, Expr *e, int *done)
{
    Expr **l = &e->args.p[0], **r = &e->args.p[1];

    *done = 1;
    if (is_interval(*l) && is_interval(*r) && (e->op == OP_ADD || e->op == OP_SUB)) {
        finish(e, ty(DT_INTERVAL));
    } else if ((e->op == OP_MUL || e->op == OP_DIV) && is_interval(*l) && ty_is_numeric(&(*r)->type)) {
        bind_to(b, r, ty(ty_is_integer(&(*r)->type) ? DT_INT64 : DT_DOUBLE));
        finish(e, ty(DT_INTERVAL));
    } else if (e->op == OP_MUL && is_interval(*r) && ty_is_numeric(&(*l)->type)) {
        bind_to(b, l, ty(ty_is_integer(&(*l)->type) ? DT_INT64 : DT_DOUBLE));
        finish(e, ty(DT_INTERVAL));
    } else {
        *done = 0;
    }
    return OK;
}

/* A date takes whole days and months only. */
static Status date_and_interval(Bind *b, Expr *e, const Expr *interval)
{
    if (interval->kind != EX_LITERAL)
        return BIND_FAIL(b, e->position, "0A000", "an interval that is added to a date must be a literal");
    if (interval->value.kind == DT_INTERVAL && interval->value.interval.micros)
        return BIND_FAIL(b, e->position, "22023", "Cannot add hour, minutes or seconds to a date");
    finish(e, ty(DT_DATE));
    return OK;
}

/* INTERVAL '1' MONTH counts in the zone in which the time is shown. */
static Status time_and_interval(Bind *b, Expr *e, const Expr *time, const Expr *interval)
{
    if (time->type.kind == DT_DATE)
        return date_and_interval(b, e, interval);
    if (time->type.scale)
        return BIND_FAIL(b, e->position, "0A000", "arithmetic on timestamps in a zone other than UTC is not supported");
    DataType t = time->type;
    if (t.kind != DT_TIME && t.length && t.length < 4)
        t.length = 4;                                              /* intervals have milliseconds */
    finish(e, t);
    return OK;
}

static Status bind_temporal(Bind *b, Expr *e, int *done)
{
    Expr **l = &e->args.p[0], **r = &e->args.p[1];
    DataType t;

    TRY(interval_alone(b, e, done));
    if (*done || (e->op != OP_ADD && e->op != OP_SUB))
        return OK;
    *done = 1;
    if (e->op == OP_ADD && is_interval(*l) && (ty_is_time(&(*r)->type) || (*r)->type.kind == DT_TIME)) {
        Expr *swap = *l;
        *l = *r;
        *r = swap;
    }
    if ((ty_is_time(&(*l)->type) || (*l)->type.kind == DT_TIME) && is_interval(*r))
        return time_and_interval(b, e, *l, *r);
    if (e->op == OP_SUB && ty_is_time(&(*l)->type) && ty_is_time(&(*r)->type) && trino_common(b, &(*l)->type, &(*r)->type, &t)) {
        if (t.kind == DT_DATE)
            t = ty(DT_TIMESTAMP);
        bind_to(b, l, t);
        bind_to(b, r, t);
        finish(e, ty(DT_INTERVAL));
        return OK;
    }
    *done = 0;
    return OK;
}

static Status bind_arithmetic(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    int done;

    for (int i = 0; i < 2; i++)
        if (ty_unknown(&e->args.p[i]->type)) {
            const DataType *other = &e->args.p[1 - i]->type;
            bind_to(b, &e->args.p[i], ty_is_time(other) ? ty(DT_INTERVAL) : ty_unknown(other) ? ty(DT_INT64) : *other);
        }
    TRY(bind_temporal(b, e, &done));
    if (done)
        return OK;
    for (int i = 0; i < 2; i++)
        if (!ty_is_numeric(&e->args.p[i]->type))
            return fail_types(b, e);
    return bind_numbers(b, pe);
}

/* ---- comparison -------------------------------------------------------------------------------------------------------------- */

static bool may_be_nan(const Expr *e) { return e->kind != EX_LITERAL || e->value.real != e->value.real; }

/* The engine's answer with the greater side's NaN taken out. */
static const char *guard(const Expr *e)
{
    bool l = may_be_nan(e->args.p[0]), r = may_be_nan(e->args.p[1]);

    switch (e->op) {
    case OP_EQ: return l && r ? "($1 = $2 AND NOT isnan($1))" : NULL;
    case OP_NE: return l && r ? "($1 <> $2 OR isnan($1))" : NULL;
    case OP_GT: return l ? "($1 > $2 AND NOT isnan($1))" : NULL;
    case OP_GE: return l ? "($1 >= $2 AND NOT isnan($1))" : NULL;
    case OP_LT: return r ? "($1 < $2 AND NOT isnan($2))" : NULL;
    case OP_LE: return r ? "($1 <= $2 AND NOT isnan($2))" : NULL;
    default: return NULL;
    }
}

static Status bind_comparison(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    DataType t;

    if (!trino_common(b, &e->args.p[0]->type, &e->args.p[1]->type, &t))
        return fail_types(b, e);
    if (t.kind == DT_JSON && e->op != OP_EQ && e->op != OP_NE)
        return fail_types(b, e);
    if (t.kind == DT_MAP || (t.nchildren && e->op != OP_EQ && e->op != OP_NE && t.kind == DT_STRUCT))
        return BIND_FAIL(b, e->position, "0A000", "comparing values of type " STR_FMT " is not supported", STR_ARG(bind_type_name(b, &t)));
    Expr **both[] = { &e->args.p[0], &e->args.p[1] };
    TRY(bind_unify_compared(b, both, 2, e->position, &t));
    finish(e, ty(DT_BOOL));
    const char *guarded = ty_is_real(&t) ? guard(e) : NULL;
    if (guarded) {
        int nullable = e->nullable;
        *pe = bx_call(b->a, "compare_real", guarded, ty(DT_BOOL), e->args.p[0], e->args.p[1]);
        (*pe)->nullable = nullable;
    }
    return OK;
}

/* ---- ||, dispatch --------------------------------------------------------------------------------------------------------------- */

static Status bind_concat(Bind *b, Expr *e)
{
    Expr **l = &e->args.p[0], **r = &e->args.p[1];
    DataType *x = &(*l)->type, *y = &(*r)->type, t;

    if (x->kind == DT_LIST || y->kind == DT_LIST) {
        DataType left = x->kind == DT_LIST ? *x : ty_list(b->a, *x), right = y->kind == DT_LIST ? *y : ty_list(b->a, *y);
        if (!trino_common(b, &left, &right, &t))
            return fail_types(b, e);
        bind_to(b, l, x->kind == DT_LIST ? t : t.children[0]);
        bind_to(b, r, y->kind == DT_LIST ? t : t.children[0]);
        if ((*l)->type.kind == DT_LIST && (*r)->type.kind == DT_LIST)
            return finish(e, t), OK;
        const char *engine = (*l)->type.kind == DT_LIST ? "($1 || [$2])" : "([$1] || $2)";
        *e = *bx_call(b->a, "array_element_concat", engine, t, *l, *r);
        return OK;
    }
    if (x->kind == DT_BINARY && y->kind == DT_BINARY)
        return finish(e, ty(DT_BINARY)), OK;
    if ((!ty_is_text(x) && !ty_unknown(x)) || (!ty_is_text(y) && !ty_unknown(y)))
        return BIND_FAIL(b, e->position, "42K09", "Unexpected parameters (" STR_FMT ", " STR_FMT ") for function concat. Expected: concat(char(x), char(y)), concat(array(E), E) E, "
                         "concat(E, array(E)) E, concat(array(E)) E, concat(varchar), concat(varbinary)", STR_ARG(trino_type_of(b, *l)), STR_ARG(trino_type_of(b, *r)));
    bind_to(b, l, ty(DT_STRING));
    bind_to(b, r, ty(DT_STRING));
    finish(e, ty(DT_STRING));
    return OK;
}

static Status bind_logic(Bind *b, Expr *e)
{
    for (size_t i = 0; i < e->args.n; i++) {
        if (!trino_may_coerce(b, &e->args.p[i]->type, &(DataType){ .kind = DT_BOOL }))
            return BIND_FAIL(b, e->args.p[i]->position, "42K09", "%s must evaluate to a boolean (actual: " STR_FMT ")",
                             e->op == OP_NOT ? "Value of logical NOT expression" : "Logical expression term", STR_ARG(trino_type_of(b, e->args.p[i])));
        bind_to(b, &e->args.p[i], ty(DT_BOOL));
    }
    finish(e, ty(DT_BOOL));
    return OK;
}

Status trino_binary(Bind *b, Expr **pe)
{
    switch ((*pe)->op) {
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_DIV: case OP_MOD: return bind_arithmetic(b, pe);
    case OP_EQ: case OP_NE: case OP_LT: case OP_LE: case OP_GT: case OP_GE: return bind_comparison(b, pe);
    case OP_AND: case OP_OR: return bind_logic(b, *pe);
    case OP_CONCAT: return bind_concat(b, *pe);
    default: return BIND_FAIL(b, (*pe)->position, "42601", "operator is not known");
    }
}

Status trino_unary(Bind *b, Expr **pe)
{
    Expr *e = *pe, **x = &e->args.p[0];

    if (e->op == OP_NOT)
        return bind_logic(b, e);
    if (ty_unknown(&(*x)->type))
        bind_to(b, x, ty(DT_INT64));
    if (!ty_is_numeric(&(*x)->type) && !is_interval(*x))
        return BIND_FAIL(b, e->position, "42K09", "Cannot negate " STR_FMT, STR_ARG(trino_type_of(b, *x)));
    finish(e, (*x)->type);
    if (e->op == OP_PLUS)
        *pe = *x;
    return OK;
}

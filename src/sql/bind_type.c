/* SPDX-License-Identifier: Apache-2.0 */
/* bind_type.c - types: their families, the common type of two, and the casts that nobody wrote.
 *
 * Spark's rules are those of ANSI mode (Spark 4's default): AnsiTypeCoercion, DecimalPrecision. */
#include "codec/codec.h"
#include "sql/bind_int.h"

#include <stdlib.h>

DataType ty(DataTypeKind k) { return (DataType){ .kind = k }; }
DataType ty_decimal(int precision, int scale) { return (DataType){ .kind = DT_DECIMAL, .precision = precision, .scale = scale }; }

/* DecimalType.adjustPrecisionScale: keep at least six digits behind the point when digits before it are lost. */
DataType ty_bounded(int precision, int scale)
{
    if (precision <= 38)
        return ty_decimal(precision < 1 ? 1 : precision, scale);
    int whole = precision - scale, least = scale < 6 ? scale : 6;
    int s = 38 - whole > least ? 38 - whole : least;
    return ty_decimal(38, s);
}

DataType ty_list(Arena *a, DataType element)
{
    DataType t = { .kind = DT_LIST, .nchildren = 1, .children = arena_new(a, DataType) };
    t.children[0] = element;
    return t;
}

bool ty_is_integer(const DataType *t) { return t->kind >= DT_INT8 && t->kind <= DT_UINT128; }
bool ty_is_real(const DataType *t) { return t->kind == DT_FLOAT || t->kind == DT_DOUBLE; }
bool ty_is_numeric(const DataType *t) { return ty_is_integer(t) || ty_is_real(t) || t->kind == DT_DECIMAL; }
bool ty_is_text(const DataType *t) { return t->kind == DT_STRING || t->kind == DT_ENUM; }
bool ty_unknown(const DataType *t) { return t->kind == DT_NULL || t->kind == DT_INVALID; }

bool ty_is_time(const DataType *t)
{
    return t->kind == DT_DATE || t->kind == DT_TIMESTAMP || t->kind == DT_TIMESTAMPTZ || t->kind == DT_TIMESTAMP_NS;
}

DataType ty_as_decimal(const DataType *t)
{
    switch (t->kind) {
    case DT_DECIMAL: return *t;
    case DT_INT8: case DT_UINT8: return ty_decimal(3, 0);
    case DT_INT16: case DT_UINT16: return ty_decimal(5, 0);
    case DT_INT32: case DT_UINT32: return ty_decimal(10, 0);
    case DT_INT64: case DT_UINT64: return ty_decimal(20, 0);
    default: return ty_decimal(38, 0);
    }
}

static int digits_of(int64_t v)
{
    int n = 1;
    while (v /= 10)
        n++;
    return n;
}

DataType ty_of_literal(const Expr *e)
{
    if (e->kind == EX_LITERAL && e->value.kind >= DT_INT8 && e->value.kind <= DT_INT64)
        return ty_decimal(digits_of(e->value.integer), 0);
    return ty_as_decimal(&e->type);
}

/* ---- the common type ---------------------------------------------------------------------------------------- */

static DataType wider_decimal(DataType x, DataType y)
{
    int scale = x.scale > y.scale ? x.scale : y.scale;
    int whole = x.precision - x.scale > y.precision - y.scale ? x.precision - x.scale : y.precision - y.scale;
    return ty_bounded(whole + scale, scale);
}

/* Width order of integers, signed and unsigned; 0: none. */
static int rank(const DataType *t)
{
    switch (t->kind) {
    case DT_INT8: return 1;
    case DT_UINT8: case DT_INT16: return 2;
    case DT_UINT16: case DT_INT32: return 3;
    case DT_UINT32: case DT_INT64: return 4;
    default: return 5;
    }
}

static DataType common_numeric(const DataType *x, const DataType *y)
{
    static const DataTypeKind of_rank[] = { DT_INT8, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_INT128 };

    if (ty_is_real(x) || ty_is_real(y))
        return ty(x->kind == DT_FLOAT && y->kind == DT_FLOAT ? DT_FLOAT : DT_DOUBLE);
    if (x->kind == DT_DECIMAL || y->kind == DT_DECIMAL)
        return wider_decimal(ty_as_decimal(x), ty_as_decimal(y));
    int r = rank(x) > rank(y) ? rank(x) : rank(y);
    return ty(of_rank[r]);
}

static DataType common_time(const DataType *x, const DataType *y)
{
    if (x->kind == DT_TIMESTAMPTZ || y->kind == DT_TIMESTAMPTZ)
        return ty(DT_TIMESTAMPTZ);
    if (x->kind == DT_TIMESTAMP_NS || y->kind == DT_TIMESTAMP_NS)
        return ty(DT_TIMESTAMP_NS);
    return ty(DT_TIMESTAMP);
}

/* Text with something else: the other side's type, numbers as BIGINT or DOUBLE (Spark, ANSI). */
static bool common_with_text(Bind *b, const DataType *other, DataType *ret)
{
    if (!b->spark) {
        *ret = *other;
        return true;
    }
    if (ty_is_integer(other))
        *ret = ty(DT_INT64);
    else if (ty_is_numeric(other))
        *ret = ty(DT_DOUBLE);
    else
        *ret = *other;
    return other->nchildren == 0;
}

static bool common_nested(Bind *b, const DataType *x, const DataType *y, DataType *ret)
{
    if (x->kind != y->kind || x->nchildren != y->nchildren || ty_range_clash(x, y))
        return false;
    *ret = *x;
    ret->children = arena_array(b->a, DataType, x->nchildren + 1);
    for (size_t i = 0; i < x->nchildren; i++)
        if (!ty_common(b, &x->children[i], &y->children[i], &ret->children[i]))
            return false;
    return x->nchildren > 0;
}

bool ty_common(Bind *b, const DataType *x, const DataType *y, DataType *ret)
{
    if (b->trino)
        return trino_common(b, x, y, ret);
    *ret = *x;
    if (data_type_equal(x, y) || ty_unknown(y))
        return true;
    *ret = *y;
    if (ty_unknown(x))
        return true;
    if (ty_is_numeric(x) && ty_is_numeric(y)) {
        *ret = common_numeric(x, y);
        return true;
    }
    if (ty_is_time(x) && ty_is_time(y)) {
        *ret = common_time(x, y);
        return true;
    }
    if (ty_is_text(x) && ty_is_text(y)) {
        *ret = ty(DT_STRING);
        return true;
    }
    if (ty_is_text(x) || ty_is_text(y))
        return common_with_text(b, ty_is_text(x) ? y : x, ret);
    return common_nested(b, x, y, ret);
}

/* ---- casts --------------------------------------------------------------------------------------------------- */

static void type_param(Bind *b, Expr *e, DataType t)
{
    Binder *o = b->b;

    e->type = t;
    if (o->param_types && e->param >= 1 && (size_t)e->param <= o->nparams && ty_unknown(&o->param_types[e->param - 1]))
        o->param_types[e->param - 1] = t;
}

static Expr *cast_node(Bind *b, Expr *e, DataType t)
{
    Expr *c = bx_new(b->a, EX_CAST, e->position);

    c->type = t;
    c->nullable = e->nullable;
    vec_push(b->a, &c->args, e);
    return c;
}

/* 1.5::DOUBLE -> INT is truncated by Spark and rounded by the engine. */
static bool is_truncating(Bind *b, const DataType *from, const DataType *to)
{
    return b->spark && ty_is_integer(to) && (ty_is_real(from) || (from->kind == DT_DECIMAL && from->scale > 0));
}

/* A literal stays one: what is compared with it shows which files to read. */
static Expr *plain_time(Bind *b, Expr *x)
{
    Str text;

    if (x->kind != EX_LITERAL || x->value.kind != DT_STRING)
        return bx_call(b->a, "time_text", "firn_time_text($1)", ty(DT_STRING), x, NULL);
    if (!instant_text(b->a, x->value.string, &text))
        return x;
    Expr *plain = bx_str(b->a, text);
    plain->position = x->position;
    return plain;
}

/* Spark writes a point in time in the session's zone without naming it (the zone is UTC), and bytes as UTF-8. */
Expr *bind_cast_source(Bind *b, Expr *x, const DataType *to)
{
    if (ty_is_real(&x->type) && to->kind == DT_STRING)
        return bx_call(b->a, "text", b->spark ? "firn_double_text" : "firn_float8_text", ty(DT_STRING), x, NULL);
    if (x->type.kind == DT_INTERVAL && to->kind == DT_STRING && !b->spark && !b->trino)
        return bx_call(b->a, "text", "firn_interval_text", ty(DT_STRING), x, NULL);
    if (x->type.kind == DT_DECIMAL && x->type.mark == MARK_NUMERIC && x->type.scale && to->kind == DT_STRING && !b->spark)
        return bx_call(b->a, "text", "rtrim(rtrim(CAST($1 AS VARCHAR), '0'), '.')", ty(DT_STRING), x, NULL);
    if (x->type.kind == DT_DECIMAL && x->type.precision == x->type.scale && x->type.scale < 38 && to->kind == DT_STRING)
        return cast_node(b, x, ty_decimal(x->type.precision + 1, x->type.scale));       /* the engine writes .05 otherwise */
    if (!b->spark && !b->trino && ty_is_text(&x->type) && to->nchildren)
        return bind_nested_in(b, x, to);
    if (!b->spark && !b->trino && x->type.nchildren && to->kind == DT_STRING)
        return bind_nested_out(b, x);
    if (!b->spark && !b->trino && bind_by_place(&x->type, to))
        return bind_nested_as(b, x, to);
    if (!b->spark && !b->trino && x->type.kind == DT_INTERVAL && to->kind == DT_TIME)      /* what is left of whole days */
        return bx_call(b->a, "time_of", "(TIME '00:00:00' + to_microseconds(((epoch_us($1 - to_days(datepart('day', $1)) - to_months(CAST(datepart('year', $1) * 12 + datepart('month', $1) AS INTEGER))) % 86400000000) "
                       "+ 86400000000) % 86400000000))", ty(DT_TIME), x, NULL);
    if (!b->spark && !b->trino && x->type.kind == DT_TIME && to->kind == DT_INTERVAL)
        return bx_call(b->a, "interval_of", "to_microseconds(epoch_us($1))", ty(DT_INTERVAL), x, NULL);
    if (!b->spark && !b->trino && ty_is_text(&x->type) && (to->kind == DT_DATE || to->kind == DT_TIMESTAMP || to->kind == DT_TIMESTAMPTZ))
        return plain_time(b, x);
    if (!b->spark && !b->trino && ty_is_text(&x->type) && to->kind == DT_INTERVAL)
        return bx_call(b->a, "interval_in", "firn_interval_in($1)", ty(DT_INTERVAL), x, NULL);
    if (!b->spark && !b->trino && ty_is_text(&x->type) && to->kind == DT_JSON)
        return bind_jsonb_in(b, x);
    if (!b->spark && !b->trino && x->type.kind == DT_JSON && (ty_is_numeric(to) || to->kind == DT_BOOL)) {
        x = bind_jsonb_scalar(b, x, to);
        return ty_is_integer(to) ? cast_node(b, x, ty_decimal(38, 4)) : x;
    }
    if (!b->spark && !b->trino && x->type.kind == DT_FLOAT && to->kind == DT_DECIMAL)      /* 1.3, not 1.29999995 */
        return bx_call(b->a, "text", "firn_float8_text", ty(DT_STRING), x, NULL);
    if (!b->spark && ty_is_text(&x->type) && to->kind == DT_BINARY)    /* '\x01ab' */
        return bx_call(b->a, "bytea_in", "firn_bytea_in", ty(DT_BINARY), x, NULL);
    if (!b->spark && x->type.kind == DT_BINARY && to->kind == DT_STRING)
        return bx_call(b->a, "bytea_out", "('\\x' || lower(hex($1)))", ty(DT_STRING), x, NULL);
    if (!b->spark)
        return x;
    if (x->type.kind == DT_TIMESTAMPTZ && to->kind == DT_STRING)
        return cast_node(b, x, ty(DT_TIMESTAMP));
    if (x->type.kind == DT_BINARY && to->kind == DT_STRING)
        return bx_call(b->a, "decode", "decode($1)", ty(DT_STRING), x, NULL);
    if (ty_is_text(&x->type) && to->kind == DT_BINARY)
        return bx_call(b->a, "encode", "encode($1)", ty(DT_BINARY), x, NULL);
    return x;
}

void bind_to(Bind *b, Expr **e, DataType t)
{
    Expr *x = *e;

    if (data_type_equal(&x->type, &t))
        return;
    if (x->kind == EX_PARAM && ty_unknown(&x->type)) {
        type_param(b, x, t);
        return;
    }
    if (x->kind == EX_LITERAL && x->value.kind == DT_NULL) {
        Expr *n = bx_new(b->a, EX_LITERAL, x->position);
        *n = *x;
        n->type = t;
        n->value.type = NULL;
        *e = n;
        return;
    }
    if (b->trino) {
        *e = trino_implicit_cast(b, x, t);
        return;
    }
    x = bind_cast_source(b, x, &t);
    if (is_truncating(b, &x->type, &t))
        x = bx_call(b->a, "trunc", "trunc", x->type, x, NULL);
    *e = cast_node(b, x, t);
}

/* May `from` become `to` without being asked? */
static bool may_coerce(Bind *b, const Expr *e, const DataType *to)
{
    const DataType *from = &e->type;

    if (b->trino)
        return trino_may_coerce(b, from, to);
    if (ty_unknown(from) || (from->kind == to->kind && !ty_range_clash(from, to)))
        return true;
    if (ty_is_numeric(from) && ty_is_numeric(to))
        return true;
    if (ty_is_time(from) && ty_is_time(to))
        return true;
    if (ty_is_text(from))
        return b->spark ? to->nchildren == 0 : e->kind == EX_LITERAL || to->kind == DT_JSON;
    if (ty_is_text(to))
        return b->spark ? from->nchildren == 0 && from->kind != DT_BINARY : false;
    return from->kind == DT_JSON || to->kind == DT_JSON;
}

Status bind_coerce(Bind *b, Expr **e, DataType t, const char *what)
{
    if (!may_coerce(b, *e, &t)) {
        if (b->spark)
            return BIND_FAIL(b, (*e)->position, "42K09", "[DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE] Cannot resolve \"%s\" due to data type "
                             "mismatch: the parameter requires the \"" STR_FMT "\" type, however it has the type \"" STR_FMT "\".",
                             what, STR_ARG(bind_type_name(b, &t)), STR_ARG(bind_type_name(b, &(*e)->type)));
        if (b->trino)
            return BIND_FAIL(b, (*e)->position, "42K09", "Unexpected parameters (" STR_FMT ") for %s. Expected: " STR_FMT, STR_ARG(trino_type_of(b, *e)), what,
                             STR_ARG(bind_type_name(b, &t)));
        return BIND_FAIL(b, (*e)->position, "42883", "%s does not take an argument of type " STR_FMT, what,
                         STR_ARG(bind_type_name(b, &(*e)->type)));
    }
    bind_to(b, e, t);
    return OK;
}

Status bind_unify(Bind *b, Expr **const *es, size_t n, int position, DataType *ret)
{
    DataType t = ty(DT_NULL), next;

    for (size_t i = 0; i < n; i++) {
        if (!ty_common(b, &t, &(*es[i])->type, &next)) {
            if (b->spark)
                return BIND_FAIL(b, position, "42K09", "[DATATYPE_MISMATCH.DATA_DIFF_TYPES] Cannot resolve the expression due to data type "
                                 "mismatch: the inputs should all be of the same type, but \"" STR_FMT "\" and \"" STR_FMT "\" are not.",
                                 STR_ARG(bind_type_name(b, &t)), STR_ARG(bind_type_name(b, &(*es[i])->type)));
            if (b->trino)
                return BIND_FAIL(b, position, "42K09", "All items must be the same type or coercible to a common type: " STR_FMT " and " STR_FMT,
                                 STR_ARG(bind_type_name(b, &t)), STR_ARG(trino_type_of(b, *es[i])));
            return BIND_FAIL(b, position, "42804", "types " STR_FMT " and " STR_FMT " cannot be matched",
                             STR_ARG(bind_type_name(b, &t)), STR_ARG(bind_type_name(b, &(*es[i])->type)));
        }
        t = next;
    }
    for (size_t i = 0; i < n; i++)
        bind_to(b, es[i], t);
    *ret = t;
    return OK;
}

/* Does the literal have exactly this value in type t? */
static bool literal_fits(const Expr *e, const DataType *t)
{
    static const int64_t most[] = { [DT_INT8] = INT8_MAX, [DT_INT16] = INT16_MAX, [DT_INT32] = INT32_MAX, [DT_INT64] = INT64_MAX };
    const Value *v = &e->value;

    if (v->kind == DT_NULL || data_type_equal(&e->type, t))
        return true;
    if (v->kind >= DT_INT8 && v->kind <= DT_INT64 && t->kind >= DT_INT8 && t->kind <= DT_INT64)
        return v->integer <= most[t->kind] && v->integer >= -most[t->kind];
    if (t->kind != DT_DECIMAL || !((v->kind >= DT_INT8 && v->kind <= DT_INT64) || v->kind == DT_DECIMAL))
        return false;
    DataType own = ty_of_literal(e);
    return own.scale <= t->scale && own.precision - own.scale <= t->precision - t->scale;
}

static bool is_now(const Expr *e)
{
    while (e->kind == EX_CAST)
        e = e->args.p[0];
    return e->kind == EX_FUNCTION && e->func->class != FN_UNBOUND && str_eq(e->func->canonical, S("mz_now"));
}

/* Points in time beside mz_now() are milliseconds. */
void bind_now_compared(Bind *b, Expr **const *es, size_t n)
{
    bool any = false;

    for (size_t i = 0; i < n && !b->spark && !b->trino; i++)
        any |= is_now(*es[i]);
    for (size_t i = 0; any && i < n; i++) {
        Expr *x = *es[i];
        if (!ty_is_time(&x->type))
            continue;
        if (x->type.kind == DT_DATE)
            bind_to(b, &x, ty(DT_TIMESTAMP));
        *es[i] = bx_call(b->a, "epoch_ms", "epoch_ms", ty(DT_INT64), x, NULL);
    }
}

/* Compared literals take the type of the columns beside them when they have their value in it: a cast around the column
 * would hide it from the engine's file statistics. */
Status bind_unify_compared(Bind *b, Expr **const *es, size_t n, int position, DataType *ret)
{
    DataType t = ty(DT_NULL), next;
    size_t literals = 0;

    for (size_t i = 0; i < n; i++) {
        if ((*es[i])->kind == EX_LITERAL) {
            literals++;
            continue;
        }
        if (!ty_common(b, &t, &(*es[i])->type, &next))
            return bind_unify(b, es, n, position, ret);
        t = next;
    }
    if (!literals || literals == n)
        return bind_unify(b, es, n, position, ret);
    for (size_t i = 0; i < n; i++)
        if ((*es[i])->kind == EX_LITERAL && !literal_fits(*es[i], &t))
            return bind_unify(b, es, n, position, ret);
    for (size_t i = 0; i < n; i++)
        bind_to(b, es[i], t);
    *ret = t;
    return OK;
}

/* ---- nodes --------------------------------------------------------------------------------------------------- */

Expr *bx_new(Arena *a, ExprKind kind, int position)
{
    Expr *e = arena_new(a, Expr);
    e->kind = kind;
    e->position = position;
    return e;
}

Expr *bx_int(Arena *a, int64_t v)
{
    Expr *e = bx_new(a, EX_LITERAL, 0);
    e->value = (Value){ .kind = DT_INT32, .integer = v };
    e->type = ty(DT_INT32);
    return e;
}

Expr *bx_str(Arena *a, Str s)
{
    Expr *e = bx_new(a, EX_LITERAL, 0);
    e->value = (Value){ .kind = DT_STRING, .string = s };
    e->type = ty(DT_STRING);
    return e;
}

Expr *bx_bool(Arena *a, int v)
{
    Expr *e = bx_new(a, EX_LITERAL, 0);
    e->value = (Value){ .kind = DT_BOOL, .boolean = v != 0 };
    e->type = ty(DT_BOOL);
    return e;
}

Expr *bx_column(Arena *a, TableRef *rel, int col)
{
    Expr *e = bx_new(a, EX_COLUMN, 0);
    e->rel = rel;
    e->col = col;
    e->type = rel->columns.p[col].type;
    e->nullable = rel->columns.p[col].nullable;
    vec_push(a, &e->name, rel->columns.p[col].name);
    return e;
}

Expr *bx_binary(Arena *a, Op op, Expr *l, Expr *r, DataType t)
{
    Expr *e = bx_new(a, EX_BINARY, l->position);
    e->op = op;
    e->type = t;
    e->nullable = l->nullable || r->nullable;
    vec_push(a, &e->args, l);
    vec_push(a, &e->args, r);
    return e;
}

Expr *bx_call(Arena *a, const char *canonical, const char *engine, DataType t, Expr *x, Expr *y)
{
    Expr *e = bx_new(a, EX_FUNCTION, x ? x->position : 0);
    e->func = arena_new(a, FuncCall);
    e->func->canonical = str_c(canonical);
    e->func->engine = str_c(engine);
    e->func->class = FN_SCALAR;
    vec_push(a, &e->func->name, str_c(canonical));
    e->type = t;
    e->nullable = 1;
    if (x)
        vec_push(a, &e->args, x);
    if (y)
        vec_push(a, &e->args, y);
    return e;
}

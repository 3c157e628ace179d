/* SPDX-License-Identifier: Apache-2.0 */
/* bind_cast.c - casts that were written, and those that storing into a column needs.
 *
 * Where Spark's cast is not the engine's (truncation, points in time as numbers, bytes as text) the operand is wrapped. */
#include "sql/bind_int.h"

/* numeric without modifiers: as exact as the source, with room. */
static DataType any_numeric(const Expr *x)
{
    if (x->type.kind == DT_DECIMAL || ty_is_integer(&x->type))
        return ty_as_decimal(&x->type);
    return ty_decimal(38, 10);
}

static bool may_cast(Bind *b, const DataType *from, const DataType *to)
{
    if (!ty_unknown(from) && !ty_is_text(from) && !ty_is_text(to) && ty_range_clash(from, to))
        return false;
    if (!b->spark && !b->trino && from->kind == DT_STRUCT && to->kind == DT_STRUCT)
        return from->nchildren == to->nchildren;
    if (!b->spark && !b->trino && (from->kind == DT_JSON || to->kind == DT_JSON))
        return bind_jsonb_may_cast(from, to);
    if (ty_unknown(from) || from->kind == to->kind || ty_is_text(from) || ty_is_text(to) || from->kind == DT_JSON || to->kind == DT_JSON)
        return from->kind != to->kind || !from->nchildren || from->nchildren == to->nchildren || from->kind == DT_STRUCT;
    if (ty_is_numeric(from) && ty_is_numeric(to))
        return true;
    if (!b->spark && !b->trino && (from->kind == DT_BOOL || to->kind == DT_BOOL))
        return from->kind == DT_INT32 || from->kind == DT_INT64 || to->kind == DT_INT32;
    if (!b->spark && !b->trino && from->kind == DT_INTERVAL && to->kind == DT_TIME)
        return true;
    if (from->kind == DT_BOOL || to->kind == DT_BOOL)
        return ty_is_numeric(from) || ty_is_numeric(to);
    if (ty_is_time(from) && ty_is_time(to))
        return true;
    if ((from->kind == DT_TIMESTAMPTZ && ty_is_numeric(to)) || (to->kind == DT_TIMESTAMPTZ && ty_is_numeric(from)))
        return b->spark;
    if (ty_is_time(from) && to->kind == DT_TIME)
        return true;
    if (from->kind == DT_TIME && to->kind == DT_INTERVAL)
        return true;
    return from->kind == DT_BINARY && ty_is_text(to);
}

/* Casts between numbers and points in time, and from numbers to BOOLEAN, are written as functions. */
static bool special_cast(Bind *b, Expr **pe)
{
    Expr *e = *pe, *x = e->args.p[0];
    DataType to = e->type;
    const char *template = NULL;

    if (!b->spark)
        return false;
    if (x->type.kind == DT_TIMESTAMPTZ && ty_is_integer(&to))
        template = "CAST(floor(epoch($1)) AS BIGINT)";
    else if (x->type.kind == DT_TIMESTAMPTZ && ty_is_numeric(&to))
        template = "epoch($1)";
    else if (to.kind == DT_TIMESTAMPTZ && ty_is_integer(&x->type))
        template = "make_timestamptz(CAST($1 AS BIGINT) * 1000000)";
    else if (to.kind == DT_TIMESTAMPTZ && ty_is_numeric(&x->type))
        template = "make_timestamptz(CAST(trunc(CAST($1 AS DOUBLE) * 1000000) AS BIGINT))";
    else if (to.kind == DT_BOOL && ty_is_numeric(&x->type))
        template = "($1 <> 0)";
    if (!template)
        return false;
    Expr *f = bx_call(b->a, "cast", template, strncmp(template, "CAST", 4) == 0 ? ty(DT_INT64) : strncmp(template, "epoch", 5) == 0 ? ty(DT_DOUBLE) : to, x, NULL);
    bind_to(b, &f, to);
    *pe = f;
    return true;
}

/* PostgreSQL's reg… types are numbers with names: only the door knows them. */
static bool is_reg(const Expr *e, Str *ret)
{
    Str t = e->name.n ? e->name.p[0] : S("");

    if (e->type.kind != DT_UINT32 || !t.n)
        return false;
    ptrdiff_t dot = str_rchr(t, '.');
    *ret = dot >= 0 ? str_from(t, (size_t)dot + 1) : t;
    return str_ieq(str_sub(*ret, 0, 3), S("reg"));
}

/* A value of a reg type: a cast to it, or what has become of one. */
static bool from_reg(const Expr *x, Str *ret)
{
    const size_t head = sizeof "firn_pg_to_" - 1, tail = sizeof "($1)" - 1;

    if (x->kind == EX_CAST)
        return is_reg(x, ret);
    if (x->kind != EX_FUNCTION || !str_eq(x->func->canonical, S("to_reg")))
        return false;
    *ret = str_sub(x->func->engine, head, x->func->engine.n - tail);
    return true;
}

static Status no_such_type(const MadeType *m, Error *err)
{
    RAISE(err, E_INVALID, "type \"" STR_FMT "\" does not exist", STR_ARG(m->name));
    memcpy(err->sqlstate, "42704", 6);
    err->position = m->position;
    return E_INVALID;
}

Status sql_resolve_type(Arena *a, const Binder *b, DataType *t, Error *err)
{
    if (t->mark == MARK_NAMED) {
        const MadeType *m = t->made;
        Status s = b->resolve_type ? b->resolve_type(b->ctx, a, m, t, err) : E_NOT_FOUND;
        return s == E_NOT_FOUND ? no_such_type(m, err) : s;
    }
    for (size_t i = 0; i < t->nchildren; i++)
        TRY(sql_resolve_type(a, b, &t->children[i], err));
    return OK;
}

/* A cast that is written cuts: varchar(n) and char(n); char(n) has no blanks at its end. */
static Expr *cut_text(Bind *b, Expr *x, const DataType *to)
{
    if (!ty_is_text(&x->type) && x->kind != EX_FUNCTION && (to->length > 0 || to->mark == MARK_BPCHAR)) {
        Expr *c = bx_new(b->a, EX_CAST, x->position);
        c->type = ty(DT_STRING);
        c->nullable = x->nullable;
        vec_push(b->a, &c->args, x);
        x = c;
    }
    if (to->length > 0)
        x = bx_call(b->a, "cut", str_fmt(b->a, "left($1, %d)", to->length).p, ty(DT_STRING), x, NULL);
    return to->mark == MARK_BPCHAR ? bx_call(b->a, "bpchar", "rtrim($1, ' ')", ty(DT_STRING), x, NULL) : x;
}

Status bind_cast(Bind *b, Expr **pe)
{
    Expr *e = *pe, *x = e->args.p[0];
    Str reg;

    TRY(sql_resolve_type(b->a, b->b, &e->type, b->err));

    e->nullable = x->nullable || e->try_cast;
    if (b->trino)
        return trino_cast(b, pe);
    if (is_reg(e, &reg) && (ty_is_text(&x->type) || ty_unknown(&x->type))) {
        Str engine = str_fmt(b->a, "firn_pg_to_" STR_FMT "($1)", STR_ARG(str_lower(b->a, reg)));
        *pe = bx_call(b->a, "to_reg", engine.p, e->type, x, NULL);
        return OK;
    }
    if (from_reg(x, &reg) && e->type.kind == DT_STRING && str_ieq(reg, S("regclass"))) {
        *pe = bx_call(b->a, "from_regclass", "firn_pg_from_regclass($1)", ty(DT_STRING), x, NULL);
        return OK;
    }
    if (from_reg(x, &reg) && e->type.kind == DT_STRING && str_ieq(reg, S("regtype"))) {
        *pe = bx_call(b->a, "format_type", "firn_pg_format_type($1, NULL)", ty(DT_STRING), x, NULL);
        return OK;
    }
    if (e->type.kind == DT_DECIMAL && !e->type.precision)
        e->type = any_numeric(x);
    if (!may_cast(b, &x->type, &e->type)) {
        if (b->spark)
            return BIND_FAIL(b, e->position, "42K09", "[DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION] Cannot resolve the cast due to data type mismatch: cannot "
                             "cast \"" STR_FMT "\" to \"" STR_FMT "\".", STR_ARG(bind_type_name(b, &x->type)), STR_ARG(bind_type_name(b, &e->type)));
        return BIND_FAIL(b, e->position, "42846", "cannot cast type " STR_FMT " to " STR_FMT, STR_ARG(bind_type_name(b, &x->type)), STR_ARG(bind_type_name(b, &e->type)));
    }
    if (x->kind == EX_PARAM && ty_unknown(&x->type)) {
        bind_to(b, &e->args.p[0], e->type);
        return OK;
    }
    if (special_cast(b, pe))
        return OK;
    if (b->spark)
        e->type.length = 0;
    x = e->args.p[0] = bind_cast_source(b, x, &e->type);
    if (b->spark && ty_is_integer(&e->type) && (ty_is_real(&x->type) || (x->type.kind == DT_DECIMAL && x->type.scale)))
        e->args.p[0] = bx_call(b->a, "trunc", "trunc", x->type, x, NULL);
    if (!b->spark && e->type.kind == DT_STRING)
        e->args.p[0] = cut_text(b, e->args.p[0], &e->type);
    return OK;
}

/* ---- storing ------------------------------------------------------------------------------------------ */

/* Spark's ANSI store assignment refuses what loses its meaning. */
static bool may_assign(Dialect d, const DataType *from, const DataType *to)
{
    if (ty_unknown(from) || data_type_equal(from, to) || (ty_is_numeric(from) && ty_is_numeric(to)))
        return true;
    if (ty_is_time(from) && ty_is_time(to))
        return true;
    if (ty_is_text(to) && !from->nchildren)
        return d == DIALECT_SPARK ? from->kind != DT_BINARY : true;
    if (ty_is_text(from) && d == DIALECT_POSTGRES)
        return true;
    if (ty_is_text(from) && (to->kind == DT_BINARY || to->kind == DT_UUID || to->kind == DT_JSON))
        return true;
    if (from->kind == DT_JSON || to->kind == DT_JSON)
        return ty_is_text(from) || ty_is_text(to);
    if (from->kind != to->kind || from->nchildren != to->nchildren || ty_range_clash(from, to))
        return false;
    for (size_t i = 0; i < from->nchildren; i++)
        if (!may_assign(d, &from->children[i], &to->children[i]))
            return false;
    return true;
}

static bool fits_trino(Bind *b, const DataType *from, const DataType *to)
{
    if (!trino_may_coerce(b, from, to))
        return false;
    if (ty_is_integer(from) && ty_is_integer(to))
        return from->kind <= to->kind;
    if (ty_is_numeric(from) && to->kind == DT_DECIMAL) {
        DataType d = trino_decimal_of(from);
        return d.scale <= to->scale && d.precision - d.scale <= to->precision - to->scale;
    }
    return true;
}

/* Only what Trino casts without being asked. */
static Status assign_trino(Bind *b, Expr **e, const DataType *to, Str column)
{
    if (!fits_trino(b, &(*e)->type, to))
        return BIND_FAIL(b, (*e)->position, "42804", "Insert query has mismatched column types: Table: [" STR_FMT " " STR_FMT "], Query: [" STR_FMT "]", STR_ARG(column),
                         STR_ARG(sql_type_name(b->a, DIALECT_TRINO, to)), STR_ARG(trino_type_of(b, *e)));
    bind_to(b, e, *to);
    return OK;
}

Status sql_assign_cast(Arena *a, Dialect d, Expr **e, const DataType *to, Str column, Error *err)
{
    Binder none = { .dialect = d };
    Bind b = { .a = a, .b = &none, .err = err, .spark = d == DIALECT_SPARK, .trino = d == DIALECT_TRINO };

    if (b.trino)
        return assign_trino(&b, e, to, column);
    if (!b.spark && to->mark == MARK_BPCHAR && may_assign(d, &(*e)->type, to)) {
        bind_to(&b, e, ty(DT_STRING));
        *e = bx_call(a, "bpchar", "rtrim($1, ' ')", *to, *e, NULL);
        return OK;
    }
    if ((*e)->kind == EX_LITERAL && !b.spark && ty_is_text(&(*e)->type)) {
        bind_to(&b, e, *to);
        return OK;
    }
    if (may_assign(d, &(*e)->type, to)) {
        bind_to(&b, e, *to);
        return OK;
    }
    Str from_name = sql_type_name(a, d, &(*e)->type), to_name = sql_type_name(a, d, to);
    if (b.spark)
        return BIND_FAIL(&b, (*e)->position, "KD000", "[INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST] Cannot write incompatible data for "
                         "the table: Cannot safely cast `" STR_FMT "` \"" STR_FMT "\" to \"" STR_FMT "\".", STR_ARG(column),
                         STR_ARG(str_upper(a, from_name)), STR_ARG(str_upper(a, to_name)));
    return BIND_FAIL(&b, (*e)->position, "42804", "column \"" STR_FMT "\" is of type " STR_FMT " but expression is of type " STR_FMT,
                     STR_ARG(column), STR_ARG(to_name), STR_ARG(from_name));
}

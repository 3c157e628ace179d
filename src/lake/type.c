/* SPDX-License-Identifier: Apache-2.0 */
/* type.c - Iceberg's types and the engine's, and values between them.
 *
 * Invariant: a type that the engine cannot hold exactly is an error here, never an approximation. */
#include "lake/lake_int.h"

#include <stdlib.h>

static const struct { IceTypeKind ice; DataTypeKind engine; } scalar_types[] = {
    { ICE_BOOLEAN, DT_BOOL }, { ICE_INT, DT_INT32 }, { ICE_LONG, DT_INT64 }, { ICE_FLOAT, DT_FLOAT }, { ICE_DOUBLE, DT_DOUBLE },
    { ICE_DECIMAL, DT_DECIMAL }, { ICE_DATE, DT_DATE }, { ICE_TIME, DT_TIME }, { ICE_TIMESTAMP, DT_TIMESTAMP },
    { ICE_TIMESTAMPTZ, DT_TIMESTAMPTZ }, { ICE_TIMESTAMP_NS, DT_TIMESTAMP_NS }, { ICE_STRING, DT_STRING }, { ICE_UUID, DT_UUID },
    { ICE_FIXED, DT_BINARY }, { ICE_BINARY, DT_BINARY }, { ICE_UNKNOWN, DT_INT32 },
};

static Status nested_type(Arena *a, const IceType *t, DataType *ret, Error *err)
{
    *ret = (DataType){ .kind = t->kind == ICE_STRUCT ? DT_STRUCT : t->kind == ICE_LIST ? DT_LIST : DT_MAP, .nchildren = t->fields.n };
    ret->children = arena_array(a, DataType, t->fields.n);
    ret->names = arena_array(a, Str, t->fields.n);
    for (size_t i = 0; i < t->fields.n; i++) {
        ret->names[i] = t->fields.p[i].name;
        TRY_CTX(lake_type(a, t->fields.p[i].type, &ret->children[i], err), err, "field '" STR_FMT "'", STR_ARG(t->fields.p[i].name));
    }
    return OK;
}

Status lake_type(Arena *a, const IceType *t, DataType *ret, Error *err)
{
    if (t->kind == ICE_STRUCT || t->kind == ICE_LIST || t->kind == ICE_MAP)
        return nested_type(a, t, ret, err);
    for (size_t i = 0; i < COUNT_OF(scalar_types); i++)
        if (scalar_types[i].ice == t->kind) {
            *ret = (DataType){ .kind = scalar_types[i].engine, .precision = t->precision, .scale = t->scale, .length = t->length };
            return OK;
        }
    return FAIL(err, E_UNSUPPORTED, "columns of Iceberg type '%s' cannot be read in SQL", json_text(a, ice_type_json(a, t)).p);
}

static Status ice_nested(Arena *a, const DataType *t, int32_t *next_id, IceType *ret, Error *err)
{
    static const char *const map_names[] = { "key", "value" };

    for (size_t i = 0; i < t->nchildren; i++) {
        IceField f = { .id = (*next_id)++, .required = t->kind == DT_MAP && i == 0 };
        f.name = t->kind == DT_LIST ? S("element") : t->kind == DT_MAP ? str_c(map_names[i]) : t->names[i];
        vec_push(a, &ret->fields, f);
    }
    for (size_t i = 0; i < t->nchildren; i++)
        TRY(lake_ice_type(a, &t->children[i], next_id, &ret->fields.p[i].type, err));
    return OK;
}

Status lake_ice_type(Arena *a, const DataType *t, int32_t *next_id, IceType **ret, Error *err)
{
    IceType *r = arena_new(a, IceType);

    *ret = r;
    switch (t->kind) {
    case DT_BOOL: r->kind = ICE_BOOLEAN; return OK;
    case DT_INT8: case DT_INT16: case DT_INT32: case DT_UINT8: case DT_UINT16: r->kind = ICE_INT; return OK;
    case DT_INT64: case DT_UINT32: r->kind = ICE_LONG; return OK;
    case DT_FLOAT: r->kind = ICE_FLOAT; return OK;
    case DT_DOUBLE: r->kind = ICE_DOUBLE; return OK;
    case DT_DECIMAL: r->kind = ICE_DECIMAL; r->precision = t->precision; r->scale = t->scale; return OK;
    case DT_INT128: case DT_UINT64: case DT_UINT128: r->kind = ICE_DECIMAL; r->precision = 38; return OK;
    case DT_DATE: r->kind = ICE_DATE; return OK;
    case DT_TIME: r->kind = ICE_TIME; return OK;
    case DT_TIMESTAMP: r->kind = ICE_TIMESTAMP; return OK;
    case DT_TIMESTAMPTZ: r->kind = ICE_TIMESTAMPTZ; return OK;
    case DT_TIMESTAMP_NS: r->kind = ICE_TIMESTAMP_NS; return OK;
    case DT_STRING: case DT_JSON: case DT_ENUM: r->kind = ICE_STRING; return OK;
    case DT_UUID: r->kind = ICE_UUID; return OK;
    case DT_BINARY: r->kind = t->length > 0 ? ICE_FIXED : ICE_BINARY; r->length = t->length; return OK;
    case DT_LIST: r->kind = ICE_LIST; return ice_nested(a, t, next_id, r, err);
    case DT_MAP: r->kind = ICE_MAP; return ice_nested(a, t, next_id, r, err);
    case DT_STRUCT: r->kind = ICE_STRUCT; return ice_nested(a, t, next_id, r, err);
    case DT_NULL: return FAIL(err, E_INVALID, "a column of type void cannot be stored: give it a type by CAST");
    default: return FAIL(err, E_UNSUPPORTED, "type %s has no Iceberg type", data_type_sql(a, t).p);
    }
}

/* Engine names are unique without regard to case: the engine folds, Iceberg does not. */
static Str unique_name(Arena *a, const BoundColumns *have, Str name)
{
    Str try = name;
    for (int n = 2; ; n++) {
        bool taken = false;
        for (size_t i = 0; i < have->n && !taken; i++)
            taken = str_ieq(have->p[i].engine, try);
        if (!taken)
            return try;
        try = str_fmt(a, STR_FMT "__%d", STR_ARG(name), n);
    }
}

Status lake_columns(Arena *a, const IceSchema *s, BoundColumns *ret, Error *err)
{
    for (size_t i = 0; i < s->fields.n; i++) {
        const IceField *f = &s->fields.p[i];
        BoundColumn col = { .name = f->name, .nullable = !f->required, .field_id = f->id };
        TRY_CTX(lake_type(a, f->type, &col.type, err), err, "column '" STR_FMT "'", STR_ARG(f->name));
        col.engine = unique_name(a, ret, f->name);
        vec_push(a, ret, col);
    }
    return OK;
}

Value lake_value(Arena *a UNUSED, const DataType *t, const IceValue *v)
{
    Value r = { .kind = v->null ? DT_NULL : t->kind, .type = t };

    if (v->null)
        return r;
    switch (t->kind) {
    case DT_BOOL: r.boolean = v->integer != 0; break;
    case DT_FLOAT: case DT_DOUBLE: r.real = v->real; break;
    case DT_DECIMAL: r.wide = v->decimal; break;
    case DT_STRING: case DT_BINARY: case DT_UUID: r.string = v->bytes; break;
    default: r.integer = v->integer; break;
    }
    return r;
}

/* ---- values as text -------------------------------------------------------------------------------------- */

static bool parse_decimal(Str text, int scale, __int128 *ret)
{
    bool negative = text.n && text.p[0] == '-', point = false;
    int seen = 0;

    *ret = 0;
    for (size_t i = negative; i < text.n; i++) {
        if (text.p[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        *ret = *ret * 10 + (text.p[i] - '0');
        seen += point;
    }
    for (; seen < scale; seen++)
        *ret *= 10;
    if (negative)
        *ret = -*ret;
    return text.n > (size_t)negative && seen == scale;
}

/* [-]YYYY-MM-DD, with years of any length and " (BC)" as the engine writes them. */
static bool parse_days(Str text, int64_t *ret)
{
    bool bc = str_ends(text, S(" (BC)"));
    if (bc)
        text.n -= 5;
    ptrdiff_t last = str_rchr(text, '-'), mid = last > 0 ? str_rchr(str_sub(text, 0, (size_t)last), '-') : -1;
    int64_t y, m, d;
    if (mid <= 0 || !str_to_i64(str_sub(text, 0, (size_t)mid), &y) || !str_to_i64(str_sub(text, (size_t)mid + 1, (size_t)last), &m) ||
        !str_to_i64(str_from(text, (size_t)last + 1), &d))
        return false;
    if (bc)
        y = 1 - y;
    *ret = calendar_days(y, m, d);
    return true;
}

/* hh:mm:ss[.fraction] in units of 10^-digits seconds. */
static bool parse_clock(Str text, int digits, int64_t *ret)
{
    int64_t h, m, s, frac = 0;
    Str whole, rest;

    if (text.n < 8 || !str_to_i64(str_sub(text, 0, 2), &h) || !str_to_i64(str_sub(text, 3, 5), &m))
        return false;
    str_cut(str_from(text, 6), '.', &whole, &rest);
    if (!str_to_i64(whole, &s) || rest.n > (size_t)digits || (rest.n && !str_to_i64(rest, &frac)))
        return false;
    for (size_t i = rest.n; i < (size_t)digits; i++)
        frac *= 10;
    int64_t unit = 1;
    for (int i = 0; i < digits; i++)
        unit *= 10;
    *ret = (h * 3600 + m * 60 + s) * unit + frac;
    return true;
}

static bool parse_timestamp(Str text, int digits, int64_t *ret)
{
    Str day, clock;
    int64_t days, time = 0, unit = digits == 9 ? 86400000000000 : 86400000000;

    if (str_ends(text, S("+00")))
        text.n -= 3;
    str_cut(text, ' ', &day, &clock);
    return parse_days(day, &days) && (!clock.n || parse_clock(clock, digits, &time)) && !__builtin_mul_overflow(days, unit, ret) &&
           !__builtin_add_overflow(*ret, time, ret);
}

static bool parse_uuid(Arena *a, Str text, Str *ret)
{
    StrVec parts = {0};
    str_split(a, text, '-', &parts);
    return hex_decode(a, str_join(a, &parts, S("")), ret) && ret->n == 16;
}

/* The engine escapes bytes that do not print as \xNN in the text form of a blob; statistics give plain hex. */
static bool parse_blob(Arena *a, Str text, Str *ret)
{
    return hex_decode(a, text, ret);
}

bool lake_value_parse(Arena *a, const IceType *t, Str text, IceValue *ret)
{
    *ret = (IceValue){ .kind = t->kind, .scale = t->scale };
    switch (t->kind) {
    case ICE_BOOLEAN:
        ret->integer = str_ieq(text, S("true")) || str_eq(text, S("1"));
        return true;
    case ICE_INT: case ICE_LONG: return str_to_i64(text, &ret->integer);
    case ICE_FLOAT: case ICE_DOUBLE: return str_to_f64(text, &ret->real);
    case ICE_DECIMAL: return parse_decimal(text, t->scale, &ret->decimal);
    case ICE_DATE: return parse_days(text, &ret->integer);
    case ICE_TIME: return parse_clock(text, 6, &ret->integer);
    case ICE_TIMESTAMP: case ICE_TIMESTAMPTZ: return parse_timestamp(text, 6, &ret->integer);
    case ICE_TIMESTAMP_NS: return parse_timestamp(text, 9, &ret->integer);
    case ICE_STRING: ret->bytes = str_dup(a, text); return true;
    case ICE_UUID: return parse_uuid(a, text, &ret->bytes);
    case ICE_BINARY: case ICE_FIXED: return parse_blob(a, text, &ret->bytes);
    default: return false;
    }
}

Status lake_value_literal(Arena *a, const IceType *t, const IceValue *v, Str *ret, Error *err)
{
    DataType type;
    StrBuf b = sb_new(a);

    TRY(lake_type(a, t, &type, err));
    Value value = lake_value(a, &type, v);
    sql_value(&b, &value);
    *ret = sb_str(&b);
    return OK;
}

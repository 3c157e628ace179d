/* SPDX-License-Identifier: Apache-2.0 */
/* avro_value.c - partition values in Avro (Iceberg spec, Appendix A "Avro").
 *
 * Writers differ in the Avro type they choose for a type of ours; by the value's own kind we take what can be
 * understood and refuse the rest. */
#include "iceberg/fields_int.h"

#include <stdio.h>

/* ---- types ----------------------------------------------------------------------------------------------------- */

static Json *logical(Arena *a, const char *type, const char *name)
{
    Json *o = json_object(a);
    json_set(a, o, "type", json_str(a, str_c(type)));
    json_set(a, o, "logicalType", json_str(a, str_c(name)));
    return o;
}

static Json *moment(Arena *a, const IceType *t)
{
    bool nanos = t->kind == ICE_TIMESTAMP_NS || t->kind == ICE_TIMESTAMPTZ_NS;
    Json *o = logical(a, "long", nanos ? "timestamp-nanos" : "timestamp-micros");
    json_set(a, o, "adjust-to-utc", json_bool(a, t->kind == ICE_TIMESTAMPTZ || t->kind == ICE_TIMESTAMPTZ_NS));
    return o;
}

static Json *fixed(Arena *a, Str name, int size)
{
    Json *o = json_object(a);
    json_set(a, o, "type", json_str(a, S("fixed")));
    json_set(a, o, "name", json_str(a, name));
    json_set(a, o, "size", json_int(a, size));
    return o;
}

static Json *decimal(Arena *a, const IceType *t, Str name)
{
    Json *o = fixed(a, name, ice_decimal_width(t->precision));
    json_set(a, o, "logicalType", json_str(a, S("decimal")));
    json_set(a, o, "precision", json_int(a, t->precision));
    json_set(a, o, "scale", json_int(a, t->scale));
    return o;
}

Json *ice_avro_type(Arena *a, const IceType *t, Str name)
{
    switch (t->kind) {
    case ICE_BOOLEAN: return json_str(a, S("boolean"));
    case ICE_INT: return json_str(a, S("int"));
    case ICE_LONG: return json_str(a, S("long"));
    case ICE_FLOAT: return json_str(a, S("float"));
    case ICE_DOUBLE: return json_str(a, S("double"));
    case ICE_DATE: return logical(a, "int", "date");
    case ICE_TIME: return logical(a, "long", "time-micros");
    case ICE_TIMESTAMP:
    case ICE_TIMESTAMPTZ:
    case ICE_TIMESTAMP_NS:
    case ICE_TIMESTAMPTZ_NS: return moment(a, t);
    case ICE_BINARY: return json_str(a, S("bytes"));
    case ICE_FIXED: return fixed(a, name, t->length);
    case ICE_DECIMAL: return decimal(a, t, name);
    case ICE_UUID: {
        Json *o = fixed(a, name, 16);
        json_set(a, o, "logicalType", json_str(a, S("uuid")));
        return o;
    }
    default: return json_str(a, S("string"));
    }
}

/* A name that Avro forbids is written as the reference does: _x and the hex code for a wrong character. */
Str ice_avro_name(Arena *a, Str name)
{
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool digit = c >= '0' && c <= '9', letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (digit && !i)
            sb_byte(&b, '_');
        if (letter || digit)
            sb_byte(&b, c);
        else
            sb_fmt(&b, "_x%X", (unsigned)(uint8_t)c);
    }
    if (!name.n)
        sb_byte(&b, '_');
    return sb_str(&b);
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

AvroValue ice_avro_value(Arena *a, const IceType *t, const IceValue *v)
{
    if (v->null)
        return (AvroValue){ .kind = AVRO_NULL };
    switch (t->kind) {
    case ICE_BOOLEAN: return (AvroValue){ .kind = AVRO_BOOL, .boolean = v->integer != 0 };
    case ICE_INT:
    case ICE_DATE: return (AvroValue){ .kind = AVRO_INT, .integer = v->integer };
    case ICE_FLOAT: return (AvroValue){ .kind = AVRO_FLOAT, .real = v->real };
    case ICE_DOUBLE: return (AvroValue){ .kind = AVRO_DOUBLE, .real = v->real };
    case ICE_STRING: return (AvroValue){ .kind = AVRO_STRING, .bytes = v->bytes };
    case ICE_BINARY: return (AvroValue){ .kind = AVRO_BYTES, .bytes = v->bytes };
    case ICE_UUID:
    case ICE_FIXED: return (AvroValue){ .kind = AVRO_FIXED, .bytes = v->bytes };
    case ICE_DECIMAL:
        return (AvroValue){ .kind = AVRO_FIXED, .bytes = ice_decimal_bytes_of(a, v->decimal, (size_t)ice_decimal_width(t->precision)) };
    default: return (AvroValue){ .kind = AVRO_LONG, .integer = v->integer };
    }
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static bool is_integral(IceTypeKind k)
{
    return k <= ICE_LONG || (k >= ICE_DATE && k <= ICE_TIMESTAMPTZ_NS);
}

static bool read_integer(const IceType *t, const AvroValue *v, IceValue *ret)
{
    ret->integer = v->integer;
    if (t->kind == ICE_FLOAT || t->kind == ICE_DOUBLE) {
        ret->real = (double)v->integer;
        return true;
    }
    if (v->schema && str_ends(v->schema->logical, S("-millis")))
        return is_integral(t->kind) && !__builtin_mul_overflow(v->integer, (int64_t)1000, &ret->integer);
    if ((t->kind == ICE_INT || t->kind == ICE_DATE) && (v->integer < INT32_MIN || v->integer > INT32_MAX))
        return false;
    return is_integral(t->kind);
}

static bool read_bytes(Arena *a, const IceType *t, const AvroValue *v, IceValue *ret)
{
    Json text = { .kind = JSON_STRING, .string = v->bytes };
    Error ignored;

    switch (t->kind) {
    case ICE_DECIMAL:
        if (v->kind == AVRO_STRING || !v->bytes.n || v->bytes.n > 16)
            return false;
        ret->decimal = ice_decimal_from_bytes(v->bytes);
        return true;
    case ICE_UUID:
        if (v->kind == AVRO_STRING)
            return ice_value_from_json(a, t, &text, ret, &ignored) == OK;
        ret->bytes = str_dup(a, v->bytes);
        return v->bytes.n == 16;
    case ICE_FIXED:
    case ICE_BINARY:
    case ICE_STRING: ret->bytes = str_dup(a, v->bytes); return true;
    default: return false;
    }
}

/* The source column is unknown: what Avro says must do. */
static IceTypeKind kind_of(const AvroValue *v)
{
    switch (v->kind) {
    case AVRO_BOOL: return ICE_BOOLEAN;
    case AVRO_INT: return ICE_INT;
    case AVRO_FLOAT: return ICE_FLOAT;
    case AVRO_DOUBLE: return ICE_DOUBLE;
    case AVRO_STRING: return ICE_STRING;
    case AVRO_BYTES:
    case AVRO_FIXED: return ICE_BINARY;
    default: return ICE_LONG;
    }
}

static bool read_any(Arena *a, const IceType *t, const AvroValue *v, IceValue *ret)
{
    switch (v->kind) {
    case AVRO_BOOL: ret->integer = v->boolean; return t->kind == ICE_BOOLEAN;
    case AVRO_INT:
    case AVRO_LONG: return read_integer(t, v, ret);
    case AVRO_FLOAT:
    case AVRO_DOUBLE: ret->real = v->real; return t->kind == ICE_FLOAT || t->kind == ICE_DOUBLE;
    case AVRO_STRING:
    case AVRO_BYTES:
    case AVRO_FIXED: return read_bytes(a, t, v, ret);
    default: return false;
    }
}

Status ice_avro_read_value(Arena *a, const IceType *t, const AvroValue *v, IceValue *ret, Error *err)
{
    IceType guess = { 0 };

    if (!v || v->kind == AVRO_NULL) {
        *ret = (IceValue){ .null = 1, .kind = t ? t->kind : ICE_STRING, .scale = t ? t->scale : 0 };
        return OK;
    }
    if (!t) {
        guess.kind = kind_of(v);
        t = &guess;
    }
    *ret = (IceValue){ .kind = t->kind, .scale = t->scale };
    if (!read_any(a, t, v, ret)) {
        Str type = ice_type_text(a, t);
        return FAIL(err, E_CORRUPT, "a partition value of Avro kind %d is no " STR_FMT, (int)v->kind, STR_ARG(type));
    }
    return OK;
}

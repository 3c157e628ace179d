/* SPDX-License-Identifier: Apache-2.0 */
/* pg_binary.c - values in PostgreSQL's binary form: what each type's send and receive functions exchange.
 *
 * The wire type (oid) decides the form, the value's own type is converted to it.  Invariant: whatever is received is
 * checked to its last byte before it becomes a value. */
#include "door/pg/pg_int.h"

#include <stdio.h>

static void float_out(PgOut *o, double v, int32_t oid)
{
    union { float f; uint32_t i; } f = { .f = (float)v };
    union { double d; uint64_t i; } d = { .d = v };

    if (oid == OID_FLOAT4)
        pg_out_i32(o, f.i);
    else
        pg_out_i64(o, (int64_t)d.i);
}

static Status no_binary(const Value *v, int32_t oid, Error *err)
{
    return FAIL(err, E_UNSUPPORTED, "no binary form of type %d for a value of kind %d", oid, (int)v->kind);
}

static bool wide_of(const Value *v, __int128 *ret)
{
    switch (v->kind) {
    case DT_BOOL: *ret = v->boolean; return true;
    case DT_INT8: case DT_INT16: case DT_INT32: case DT_INT64: case DT_UINT8: case DT_UINT16: case DT_UINT32:
        *ret = v->integer;
        return true;
    case DT_INT128: case DT_UINT64: *ret = v->wide; return true;
    default: return false;
    }
}

static Status int_out(PgOut *o, const Value *v, int32_t oid, Error *err)
{
    __int128 x;

    if (!wide_of(v, &x))
        return no_binary(v, oid, err);
    bool is_unsigned = oid == OID_OID || oid == OID_UINT2 || oid == OID_UINT4 || oid == OID_UINT8;
    __int128 top = oid == OID_INT2 ? INT16_MAX : oid == OID_INT4 ? INT32_MAX : oid == OID_UINT2 ? UINT16_MAX : oid == OID_UINT8 ? (__int128)UINT64_MAX : is_unsigned ? UINT32_MAX : INT64_MAX;
    if (x > top || x < (is_unsigned ? 0 : -top - 1))
        return FAIL(err, E_OVERFLOW, "value out of range for its binary type");
    if (oid == OID_INT2 || oid == OID_UINT2)
        pg_out_i16(o, (int)x);
    else if (oid == OID_INT8 || oid == OID_UINT8)
        pg_out_i64(o, (int64_t)x);
    else
        pg_out_i32(o, (int64_t)x);
    return OK;
}

static Status numeric_out(PgOut *o, const Value *v, Error *err)
{
    __int128 x;

    if (v->kind == DT_DECIMAL)
        pg_numeric_pack(o, v->wide, v->type->scale);
    else if (wide_of(v, &x))
        pg_numeric_pack(o, x, 0);
    else if (v->kind == DT_UINT128 && v->wide >= 0)
        pg_numeric_pack(o, v->wide, 0);
    else
        return no_binary(v, OID_NUMERIC, err);
    return OK;
}

static Status timestamp_out(PgOut *o, const Value *v, int32_t oid, Error *err)
{
    int64_t us = v->integer;

    if (v->kind == DT_TIMESTAMP_NS)
        us = pg_floor_micros(us);
    else if (v->kind == DT_DATE)
        us *= US_PER_DAY;
    else if (v->kind != DT_TIMESTAMP && v->kind != DT_TIMESTAMPTZ)
        return no_binary(v, oid, err);
    if (us == INT64_MAX || us == -INT64_MAX)
        pg_out_i64(o, us > 0 ? INT64_MAX : INT64_MIN);
    else if (us < INT64_MIN + PG_EPOCH_US)
        return FAIL(err, E_OVERFLOW, "timestamp out of range");
    else
        pg_out_i64(o, us - PG_EPOCH_US);
    return OK;
}

static Status date_out(PgOut *o, const Value *v, Error *err)
{
    if (v->kind != DT_DATE)
        return no_binary(v, OID_DATE, err);
    if (v->integer == INT32_MAX || v->integer == -INT32_MAX)
        pg_out_i32(o, v->integer > 0 ? INT32_MAX : INT32_MIN);
    else
        pg_out_i32(o, v->integer - PG_EPOCH_DAYS);
    return OK;
}

static Status timetz_out(PgOut *o, const Value *v, Error *err)
{
    int64_t us;
    int zone;

    if (v->kind != DT_TIMETZ || !pg_time_parse(v->string, &us, &zone))
        return no_binary(v, OID_TIMETZ, err);
    pg_out_i64(o, us);
    pg_out_i32(o, -zone);                                /* seconds west of Greenwich */
    return OK;
}

static void interval_out(PgOut *o, const Value *v)
{
    pg_out_i64(o, v->interval.micros);
    pg_out_i32(o, v->interval.days);
    pg_out_i32(o, v->interval.months);
}

/* ---- arrays and records -------------------------------------------------------------------------------------------- */

enum { MAX_DIMENSIONS = 6 };

typedef struct { int n; size_t size[MAX_DIMENSIONS]; int nulls; } Shape;

/* The shape of a rectangular nested list, read off its first elements. */
static bool shape_of(const Value *v, Shape *s)
{
    for (; v->kind == DT_LIST; v = &v->items.p[0]) {
        if (s->n == MAX_DIMENSIONS)
            return false;
        s->size[s->n++] = v->items.n;
        if (!v->items.n)
            break;
    }
    return true;
}

static Status elements_out(PgOut *o, const Value *v, const DataType *t, const Shape *s, int depth, int32_t oid, Error *err)
{
    if (v->kind != DT_LIST || v->items.n != s->size[depth])
        return FAIL(err, E_UNSUPPORTED, "a list of lists of different lengths has no binary form; ask for text");
    for (size_t i = 0; i < v->items.n; i++) {
        const Value *item = &v->items.p[i];
        const DataType *part = pg_part_type(v, t, i);
        if (depth + 1 < s->n) {
            TRY(elements_out(o, item, part, s, depth + 1, oid, err));
        } else if (item->kind == DT_NULL) {
            pg_out_i32(o, -1);
        } else {
            size_t at = pg_out_len_begin(o);
            TRY(pg_binary_as(o, item, part, oid, err));
            pg_out_len_end(o, at);
        }
    }
    return OK;
}

static Status array_out(PgOut *o, const Value *v, const DataType *t, int32_t oid, Error *err)
{
    int32_t element = oid == OID_INT2VECTOR ? OID_INT2 : pg_element_oid(oid);
    const DataType *inner = t && t->kind == DT_LIST ? t : v->type;
    Shape s = { 0 };

    while (inner && inner->kind == DT_LIST)
        inner = &inner->children[0];
    if (!element && inner && inner->made)                /* an array of a type that was made */
        element = pg_type_oid(inner);

    if (!element)
        return no_binary(v, oid, err);
    if (!shape_of(v, &s))
        return FAIL(err, E_UNSUPPORTED, "a list nested deeper than %d has no binary form; ask for text", MAX_DIMENSIONS);
    if (!v->items.n)
        s.n = 0;
    pg_out_i32(o, s.n);
    pg_out_i32(o, 1);                                    /* may hold nulls */
    pg_out_i32(o, element);
    for (int i = 0; i < s.n; i++) {
        pg_out_i32(o, (int64_t)s.size[i]);
        pg_out_i32(o, 1);
    }
    return s.n ? elements_out(o, v, t, &s, 0, element, err) : OK;
}

Status pg_binary_out(PgOut *o, const Value *v, int32_t oid, Error *err) { return pg_binary_as(o, v, v->type, oid, err); }

/* What has parts, and texts. */
static Status other_out(PgOut *o, const Value *v, const DataType *t, int32_t oid, Error *err)
{
    if (v->kind == DT_LIST)
        return array_out(o, v, t, oid, err);
    if (v->kind == DT_STRUCT)
        return pg_range_of_oid(oid) ? pg_range_binary(o, v, oid, err) : pg_record_binary(o, v, t, err);
    if (v->kind == DT_MAP && oid == OID_MAP)
        return FAIL(err, E_UNSUPPORTED, "a map has no binary form; ask for text");
    return no_binary(v, oid, err);
}

Status pg_binary_as(PgOut *o, const Value *v, const DataType *t, int32_t oid, Error *err)
{
    switch (oid) {
    case OID_BOOL:
        if (v->kind != DT_BOOL)
            return no_binary(v, oid, err);
        pg_out_u8(o, v->boolean);
        return OK;
    case OID_INT2: case OID_INT4: case OID_INT8: case OID_OID: case OID_UINT2: case OID_UINT4: case OID_UINT8: return int_out(o, v, oid, err);
    case OID_FLOAT4: case OID_FLOAT8:
        if (v->kind != DT_FLOAT && v->kind != DT_DOUBLE)
            return no_binary(v, oid, err);
        float_out(o, v->real, oid);
        return OK;
    case OID_NUMERIC: return numeric_out(o, v, err);
    case OID_BYTEA: case OID_UUID:
        if (v->kind != (oid == OID_UUID ? DT_UUID : DT_BINARY))
            return no_binary(v, oid, err);
        pg_out_bytes(o, v->string);
        return OK;
    case OID_DATE: return date_out(o, v, err);
    case OID_TIME:
        if (v->kind != DT_TIME)
            return no_binary(v, oid, err);
        pg_out_i64(o, v->integer);
        return OK;
    case OID_TIMESTAMP: case OID_TIMESTAMPTZ: return timestamp_out(o, v, oid, err);
    case OID_TIMETZ: return timetz_out(o, v, err);
    case OID_INTERVAL:
        if (v->kind != DT_INTERVAL)
            return no_binary(v, oid, err);
        interval_out(o, v);
        return OK;
    case OID_JSONB:
        pg_out_u8(o, 1);
        pg_text_as(o, v, t);
        return OK;
    case OID_MZ_TIMESTAMP: case OID_JSON: case OID_TEXT: case OID_VARCHAR: case OID_BPCHAR: case OID_NAME: case OID_CHAR: case OID_UNKNOWN:
        pg_text_as(o, v, t);
        return OK;
    default: return other_out(o, v, t, oid, err);
    }
}

Status pg_value_binary(Arena *a, const Value *v, int32_t oid, Str *ret, Error *err)
{
    PgOut o = { 0 };
    Status s = pg_binary_out(&o, v, oid || !v->type ? oid : pg_type_oid(v->type), err);

    if (s == OK && o.bad)
        s = FAIL(err, E_LIMIT, "a value is longer than %d bytes", PG_ROW_BYTES);
    if (s == OK)
        *ret = str_dup(a, str_n(o.p, o.n));
    pg_out_free(&o);
    return s;
}

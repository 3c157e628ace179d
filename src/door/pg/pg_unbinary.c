/* SPDX-License-Identifier: Apache-2.0 */
/* pg_unbinary.c - values received in binary form.
 *
 * Decoded by the wire type first, then converted to the type that the statement wants.  Invariant: every length is
 * checked and no byte is left over. */
#include "door/pg/pg_int.h"

#include <stdio.h>

static Status malformed(int32_t oid, Error *err)
{
    RAISE(err, E_INVALID, "incorrect binary data format for a value of type %d", oid);
    snprintf(err->sqlstate, sizeof err->sqlstate, "22P03");
    return E_INVALID;
}

static double double_of(int64_t bits)
{
    union { int64_t i; double d; } u = { .i = bits };
    return u.d;
}

static double float_of(int32_t bits)
{
    union { int32_t i; float f; } u = { .i = bits };
    return u.f;
}

static Str timetz_text(Arena *a, int64_t us, int32_t west)
{
    PgOut o = { 0 };
    int32_t east = -west, abs = east < 0 ? -east : east;

    pg_time_out(&o, us);
    pg_out_fmt(&o, "%c%02d:%02d:%02d", east < 0 ? '-' : '+', abs / 3600, abs / 60 % 60, abs % 60);
    Str s = str_dup(a, str_n(o.p, o.n));
    pg_out_free(&o);
    return s;
}

static bool read_date(PgIn *in, Value *v)
{
    int32_t d = pg_in_i32(in);

    v->integer = d == INT32_MAX ? INT32_MAX : d == INT32_MIN ? -INT32_MAX : (int64_t)d + PG_EPOCH_DAYS;
    return v->integer <= INT32_MAX;
}

static bool read_timestamp(PgIn *in, Value *v)
{
    int64_t us = pg_in_i64(in);

    if (us == INT64_MAX || us == INT64_MIN)
        v->integer = us > 0 ? INT64_MAX : -INT64_MAX;
    else if (__builtin_add_overflow(us, PG_EPOCH_US, &v->integer))
        return false;
    return true;
}

static bool read_time(Arena *a, PgIn *in, int32_t oid, Value *v)
{
    int64_t us = pg_in_i64(in);
    int32_t west = oid == OID_TIMETZ ? pg_in_i32(in) : 0;

    if (us < 0 || us > US_PER_DAY || west <= -57600 || west >= 57600)
        return false;
    if (oid == OID_TIMETZ)
        v->string = timetz_text(a, us, west);
    else
        v->integer = us;
    return true;
}

static bool read_text(Arena *a, PgIn *in, Value *v)
{
    Str s = pg_in_bytes(in, pg_in_left(in));

    if (!str_is_utf8(s) || memchr(s.p ? s.p : "", 0, s.n))
        return false;
    v->string = str_dup(a, s);
    return true;
}

static bool read_interval(PgIn *in, Value *v)
{
    v->interval.micros = pg_in_i64(in);
    v->interval.days = pg_in_i32(in);
    v->interval.months = pg_in_i32(in);
    return true;
}

/* A scalar by its wire type; false: malformed or not known. */
static bool read_scalar(Arena *a, PgIn *in, int32_t oid, Value *v)
{
    switch (oid) {
    case OID_BOOL: v->boolean = pg_in_u8(in) != 0; return true;
    case OID_INT2: v->integer = pg_in_i16(in); return true;
    case OID_INT4: v->integer = pg_in_i32(in); return true;
    case OID_UINT2: v->integer = (uint16_t)pg_in_i16(in); return true;
    case OID_UINT4: v->integer = (uint32_t)pg_in_i32(in); return true;
    case OID_UINT8: v->wide = (uint64_t)pg_in_i64(in); return true;
    case OID_OID: case OID_REGPROC: v->integer = (uint32_t)pg_in_i32(in); return true;
    case OID_INT8: v->integer = pg_in_i64(in); return true;
    case OID_FLOAT4: v->real = float_of(pg_in_i32(in)); return true;
    case OID_FLOAT8: v->real = double_of(pg_in_i64(in)); return true;
    case OID_BYTEA: v->string = str_dup(a, pg_in_bytes(in, pg_in_left(in))); return true;
    case OID_UUID: v->string = str_dup(a, pg_in_bytes(in, 16)); return true;
    case OID_DATE: return read_date(in, v);
    case OID_TIME: case OID_TIMETZ: return read_time(a, in, oid, v);
    case OID_TIMESTAMP: case OID_TIMESTAMPTZ: return read_timestamp(in, v);
    case OID_INTERVAL: return read_interval(in, v);
    case OID_JSONB: return pg_in_u8(in) == 1 && read_text(a, in, v);
    case OID_JSON: case OID_TEXT: case OID_VARCHAR: case OID_BPCHAR: case OID_NAME: case OID_CHAR: case OID_UNKNOWN:
        return read_text(a, in, v);
    default: return false;
    }
}

/* ---- arrays ----------------------------------------------------------------------------------------------------- */

typedef struct { Arena *a; PgIn *in; int32_t oid; int ndims; int32_t size[6]; } ArrayRead;

static Status read_elements(ArrayRead *r, int depth, const DataType *t, Value *ret, Error *err)
{
    size_t n = (size_t)r->size[depth];
    const DataType *child = &t->children[0];

    if (t->kind != DT_LIST || n > pg_in_left(r->in) / 4)         /* four bytes of length each at least */
        return malformed(r->oid, err);
    *ret = (Value){ .kind = DT_LIST, .type = t };
    ret->items.p = arena_array(r->a, Value, n + 1);
    ret->items.n = n;
    for (size_t i = 0; i < n; i++) {
        if (depth + 1 < r->ndims) {
            TRY(read_elements(r, depth + 1, child, &ret->items.p[i], err));
            continue;
        }
        int32_t size = pg_in_i32(r->in);
        if (size == -1) {
            ret->items.p[i] = (Value){ .kind = DT_NULL, .type = child };
            continue;
        }
        Str bytes = pg_in_bytes(r->in, size < 0 ? SIZE_MAX : (size_t)size);
        if (r->in->bad)
            return malformed(r->oid, err);
        TRY(pg_binary_parse(r->a, child, r->oid, bytes, &ret->items.p[i], err));
    }
    return OK;
}

/* A list type of as many levels as the array has dimensions, when the statement's own has fewer. */
static const DataType *nest(Arena *a, const DataType *t, int ndims)
{
    int levels = 0;
    for (const DataType *e = t; e->kind == DT_LIST; e = &e->children[0])
        levels++;
    for (; levels < ndims; levels++) {
        DataType *outer = arena_new(a, DataType);
        *outer = (DataType){ .kind = DT_LIST, .nchildren = 1, .children = (DataType *)t };
        t = outer;
    }
    return t;
}

static Status read_array(Arena *a, const DataType *t, int32_t oid, PgIn *in, Value *ret, Error *err)
{
    ArrayRead r = { .a = a, .in = in, .ndims = pg_in_i32(in) };

    pg_in_i32(in);                                       /* whether there are nulls: seen below */
    r.oid = pg_in_i32(in);
    if (in->bad || r.ndims < 0 || r.ndims > 6 || t->kind != DT_LIST)
        return malformed(oid, err);
    for (int i = 0; i < r.ndims; i++) {
        r.size[i] = pg_in_i32(in);
        pg_in_i32(in);                                   /* lower bound */
        if (in->bad || r.size[i] < 0)
            return malformed(oid, err);
    }
    if (!r.ndims) {
        *ret = (Value){ .kind = DT_LIST, .type = t };
        return OK;
    }
    return read_elements(&r, 0, nest(a, t, r.ndims), ret, err);
}

/* What a decoded value is, by its wire type. */
static const DataType *wire_type(Arena *a, int32_t oid)
{
    DataType *t = arena_new(a, DataType);
    *t = pg_oid_type(oid);
    if (t->kind == DT_INVALID)
        t->kind = DT_STRING;
    if (oid == OID_REGPROC)
        t->kind = DT_UINT32;
    return t;
}

static Status as_text(Arena *a, Value *v, Error *err)
{
    static const DataType text = { .kind = DT_STRING };
    Str s;

    TRY(pg_value_text(a, v, &s, err));
    *v = (Value){ .kind = DT_STRING, .type = &text, .string = s };
    return OK;
}

Status pg_binary_parse(Arena *a, const DataType *t, int32_t oid, Str bytes, Value *ret, Error *err)
{
    static const DataType item = { .kind = DT_STRING }, texts = { .kind = DT_LIST, .nchildren = 1, .children = (DataType *)&item };
    PgIn in = pg_in(bytes);

    if (!oid)
        oid = pg_type_oid(t);
    if (oid == OID_NUMERIC) {
        TRY(pg_numeric_unpack(a, bytes, ret, err));
        return pg_value_coerce(a, t, ret, err);
    }
    if (pg_is_nested_oid(oid) || (t->kind == DT_STRUCT && t->made && (int32_t)t->made->oid == oid))
        return pg_nested_unbinary(a, t, oid, bytes, ret, err);
    if (pg_element_oid(oid) || t->kind == DT_LIST) {
        const DataType *list = t->kind == DT_LIST && !pg_has_fields(t) ? t : pg_has_fields(t) || pg_is_nested_oid(pg_element_oid(oid)) ? &texts : wire_type(a, oid);
        TRY(read_array(a, list, oid, &in, ret, err));
        if (!pg_in_done(&in))
            return malformed(oid, err);
        return list == &texts ? as_text(a, ret, err) : OK;
    }
    const DataType *wire = wire_type(a, oid);
    *ret = (Value){ .kind = wire->kind, .type = wire };
    if (!read_scalar(a, &in, oid, ret) || !pg_in_done(&in))
        return malformed(oid, err);
    return pg_value_coerce(a, t, ret, err);
}

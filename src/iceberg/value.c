/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - single values: the binary form of bounds, order, equality keys (Iceberg spec, Appendix D).
 *
 * A value knows its kind, so comparing needs no type.  A shorter binary form of a promoted type is read as what it
 * was written from: 4 bytes for a long were an int, 4 bytes for a timestamp were a date. */
#include "iceberg/iceberg_int.h"

#include <math.h>

/* ---- little-endian integers and decimals ------------------------------------------------------------------ */

static uint64_t le_read(Str bytes)
{
    uint64_t v = 0;
    for (size_t i = bytes.n; i-- > 0;)
        v = v << 8 | (uint8_t)bytes.p[i];
    return v;
}

static Str le_write(Arena *a, uint64_t v, size_t n)
{
    char *p = arena_alloc(a, n);
    for (size_t i = 0; i < n; i++, v >>= 8)
        p[i] = (char)(v & 0xff);
    return (Str){ p, n };
}

__int128 ice_decimal_from_bytes(Str bytes)
{
    unsigned __int128 v = bytes.n && (bytes.p[0] & 0x80) ? ~(unsigned __int128)0 : 0;
    for (size_t i = 0; i < bytes.n; i++)
        v = v << 8 | (uint8_t)bytes.p[i];
    return (__int128)v;
}

Str ice_decimal_bytes_of(Arena *a, __int128 v, size_t n)
{
    char *p = arena_alloc(a, n);
    for (size_t i = n; i-- > 0; v >>= 8)
        p[i] = (char)(v & 0xff);
    return (Str){ p, n };
}

Str ice_decimal_bytes(Arena *a, __int128 v)
{
    size_t n = 1;
    while (n < 16 && (v >> (n * 8 - 1)) != 0 && (v >> (n * 8 - 1)) != -1)
        n++;
    return ice_decimal_bytes_of(a, v, n);
}

int ice_decimal_width(int precision)
{
    unsigned __int128 largest = 1;
    int n = 1;

    for (int i = 0; i < precision; i++)
        largest *= 10;
    while (n < 16 && (largest - 1) >> (n * 8 - 1))
        n++;
    return n;
}

/* ---- binary form --------------------------------------------------------------------------------------------- */

static bool decode_integer(Str bytes, size_t width, int64_t *ret)
{
    if (bytes.n == 4)
        *ret = (int32_t)le_read(bytes);
    else if (bytes.n == 8 && width == 8)
        *ret = (int64_t)le_read(bytes);
    else
        return false;
    return true;
}

/* A date's 4 bytes as a moment. */
static bool decode_moment(const IceType *t, Str bytes, int64_t *ret)
{
    bool nanos = t->kind == ICE_TIMESTAMP_NS || t->kind == ICE_TIMESTAMPTZ_NS;

    if (!decode_integer(bytes, 8, ret))
        return false;
    return bytes.n == 8 || !__builtin_mul_overflow(*ret, nanos ? 86400000000000 : 86400000000, ret);
}

static bool decode_real(Str bytes, IceTypeKind kind, double *ret)
{
    union { uint32_t u; float f; } x4;
    union { uint64_t u; double d; } x8;

    if (bytes.n == 4) {
        x4.u = (uint32_t)le_read(bytes);
        *ret = x4.f;
    } else if (bytes.n == 8 && kind == ICE_DOUBLE) {
        x8.u = le_read(bytes);
        *ret = x8.d;
    } else {
        return false;
    }
    return true;
}

bool ice_value_decode(Arena *a, const IceType *t, Str bytes, IceValue *ret)
{
    *ret = (IceValue){ .kind = t->kind, .scale = t->scale };
    switch (t->kind) {
    case ICE_BOOLEAN:
        ret->integer = bytes.n && bytes.p[0] != 0;
        return bytes.n == 1;
    case ICE_INT:
    case ICE_DATE: return decode_integer(bytes, 4, &ret->integer);
    case ICE_LONG:
    case ICE_TIME: return decode_integer(bytes, 8, &ret->integer);
    case ICE_TIMESTAMP:
    case ICE_TIMESTAMPTZ:
    case ICE_TIMESTAMP_NS:
    case ICE_TIMESTAMPTZ_NS: return decode_moment(t, bytes, &ret->integer);
    case ICE_FLOAT:
    case ICE_DOUBLE: return decode_real(bytes, t->kind, &ret->real);
    case ICE_DECIMAL:
        if (!bytes.n || bytes.n > 16)
            return false;
        ret->decimal = ice_decimal_from_bytes(bytes);
        return true;
    case ICE_UUID: ret->bytes = str_dup(a, bytes); return bytes.n == 16;
    case ICE_FIXED:
    case ICE_BINARY:
    case ICE_STRING: ret->bytes = str_dup(a, bytes); return true;
    default: return false;
    }
}

Str ice_value_encode(Arena *a, const IceType *t, const IceValue *v)
{
    union { uint32_t u; float f; } x4 = { .f = (float)v->real };
    union { uint64_t u; double d; } x8 = { .d = v->real };

    switch (t->kind) {
    case ICE_BOOLEAN: return le_write(a, v->integer != 0, 1);
    case ICE_INT:
    case ICE_DATE: return le_write(a, (uint64_t)v->integer, 4);
    case ICE_FLOAT: return le_write(a, x4.u, 4);
    case ICE_DOUBLE: return le_write(a, x8.u, 8);
    case ICE_DECIMAL: return ice_decimal_bytes(a, v->decimal);
    case ICE_STRING:
    case ICE_UUID:
    case ICE_FIXED:
    case ICE_BINARY: return v->bytes;
    default: return le_write(a, (uint64_t)v->integer, 8);
    }
}

typedef enum { AS_INTEGER, AS_REAL, AS_DECIMAL, AS_BYTES, AS_NONE } Representation;

static Representation representation(IceTypeKind k)
{
    switch (k) {
    case ICE_FLOAT:
    case ICE_DOUBLE: return AS_REAL;
    case ICE_DECIMAL: return AS_DECIMAL;
    case ICE_STRING:
    case ICE_UUID:
    case ICE_FIXED:
    case ICE_BINARY: return AS_BYTES;
    default: return k < ICE_UNKNOWN ? AS_INTEGER : AS_NONE;
    }
}

bool ice_value_fits(const IceType *t, const IceValue *v)
{
    if (v->null)
        return true;
    Representation r = representation(t->kind);
    if (r == AS_NONE || r != representation(v->kind))
        return false;
    return (t->kind != ICE_UUID || v->bytes.n == 16) && (t->kind != ICE_FIXED || v->bytes.n == (size_t)t->length);
}

/* ---- order ------------------------------------------------------------------------------------------------------ */

static int cmp_real(double x, double y)
{
    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    return (x > y) - (x < y);
}

static bool times_ten(__int128 *v, int n)
{
    for (; n > 0; n--)
        if (__builtin_mul_overflow(*v, (__int128)10, v))
            return false;
    return true;
}

static int cmp_decimal(const IceValue *x, const IceValue *y)
{
    __int128 p = x->decimal, q = y->decimal;

    if (!times_ten(&p, y->scale - x->scale))
        return x->decimal < 0 ? -1 : 1;
    if (!times_ten(&q, x->scale - y->scale))
        return y->decimal < 0 ? 1 : -1;
    return (p > q) - (p < q);
}

int ice_value_cmp(const IceValue *x, const IceValue *y)
{
    if (x->null || y->null)
        return (y->null != 0) - (x->null != 0);
    switch (x->kind) {
    case ICE_FLOAT:
    case ICE_DOUBLE: return cmp_real(x->real, y->real);
    case ICE_DECIMAL: return cmp_decimal(x, y);
    case ICE_STRING:
    case ICE_UUID:
    case ICE_FIXED:
    case ICE_BINARY: return str_cmp(x->bytes, y->bytes);
    default: return (x->integer > y->integer) - (x->integer < y->integer);
    }
}

/* ---- keys of partitions ------------------------------------------------------------------------------------------ */

static Str key_bytes(Arena *a, const IceValue *v)
{
    union { double d; char c[8]; } x;

    switch (v->kind) {
    case ICE_FLOAT:
    case ICE_DOUBLE:
        x.d = isnan(v->real) ? NAN : v->real + 0.0;
        if (x.d == 0)
            x.d = 0;
        return str_dup(a, str_n(x.c, 8));
    case ICE_DECIMAL: return ice_decimal_bytes_of(a, v->decimal, 16);
    case ICE_STRING:
    case ICE_UUID:
    case ICE_FIXED:
    case ICE_BINARY: return v->bytes;
    default: return le_write(a, (uint64_t)v->integer, 8);
    }
}

Str ice_partition_key(Arena *a, int32_t spec_id, const IceValue *values, size_t n)
{
    StrBuf b = sb_new(a);

    sb_fmt(&b, "%d", (int)spec_id);
    for (size_t i = 0; i < n; i++) {
        if (values[i].null) {
            sb_addc(&b, "/-");
            continue;
        }
        Str bytes = key_bytes(a, &values[i]);
        sb_fmt(&b, "/%zu:", bytes.n);
        sb_add(&b, bytes);
    }
    return sb_str(&b);
}

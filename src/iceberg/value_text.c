/* SPDX-License-Identifier: Apache-2.0 */
/* value_text.c - single values as JSON (Iceberg spec, Appendix D "JSON single-value serialization") and as the text
 * that partition paths show. */
#include "iceberg/iceberg_int.h"

#include <math.h>
#include <stdio.h>

/* ---- decimals ------------------------------------------------------------------------------------------------- */

static Str decimal_text(Arena *a, __int128 v, int scale)
{
    char text[64], *p = text + sizeof text;
    unsigned __int128 u = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;

    for (int i = 0; u || i <= scale; i++) {
        if (i == scale && scale)
            *--p = '.';
        *--p = (char)('0' + (int)(u % 10));
        u /= 10;
    }
    if (v < 0)
        *--p = '-';
    return str_dup(a, str_n(p, (size_t)(text + sizeof text - p)));
}

/* Digits with at most `scale` of them after the point; no exponent. */
static bool decimal_read(Str s, const IceType *t, __int128 *ret)
{
    bool negative = s.n && s.p[0] == '-';
    int after = -1, digits = 0;
    __int128 v = 0;

    for (size_t i = negative; i < s.n; i++) {
        if (s.p[i] == '.' && after < 0) {
            after = 0;
            continue;
        }
        if (s.p[i] < '0' || s.p[i] > '9' || digits > 38)
            return false;
        v = v * 10 + (s.p[i] - '0');
        digits += v != 0;
        after += after >= 0;
    }
    if (s.n == (size_t)negative || after > t->scale)
        return false;
    for (int i = after < 0 ? 0 : after; i < t->scale; i++, digits++)
        v *= digits <= 38 ? 10 : 0;
    *ret = negative ? -v : v;
    return digits <= 38;
}

/* ---- moments --------------------------------------------------------------------------------------------------- */

static bool is_nanos(IceTypeKind k) { return k == ICE_TIMESTAMP_NS || k == ICE_TIMESTAMPTZ_NS; }
static bool is_utc(IceTypeKind k) { return k == ICE_TIMESTAMPTZ || k == ICE_TIMESTAMPTZ_NS; }

static Str moment_text(Arena *a, const IceType *t, int64_t v, IceFraction f)
{
    StrBuf b = sb_new(a);
    int64_t day = is_nanos(t->kind) ? 86400000000000 : 86400000000;

    ice_date_write(&b, ice_floor_div(v, day));
    sb_byte(&b, 'T');
    ice_time_write(&b, ice_floor_mod(v, day), is_nanos(t->kind) ? 9 : 6, f);
    if (is_utc(t->kind))
        sb_addc(&b, "+00:00");
    return sb_str(&b);
}

static bool take_offset(Str *s, int64_t *seconds)
{
    int64_t nanos = 0;
    bool negative;

    *seconds = 0;
    if (str_eq(*s, S("Z"))) {
        *s = S("");
        return true;
    }
    if (!s->n || (s->p[0] != '+' && s->p[0] != '-'))
        return false;
    negative = s->p[0] == '-';
    *s = str_from(*s, 1);
    if (!ice_time_read(s, &nanos))
        return false;
    *seconds = (negative ? -nanos : nanos) / 1000000000;
    return true;
}

static bool moment_read(Str s, const IceType *t, int64_t *ret)
{
    int64_t days, nanos, offset = 0, seconds;

    if (!ice_date_read(&s, &days) || !s.n || (s.p[0] != 'T' && s.p[0] != ' '))
        return false;
    s = str_from(s, 1);
    if (!ice_time_read(&s, &nanos) || (is_utc(t->kind) && !take_offset(&s, &offset)) || s.n)
        return false;
    seconds = days * 86400 - offset;
    if (is_nanos(t->kind))
        return !__builtin_mul_overflow(seconds, (int64_t)1000000000, ret) && !__builtin_add_overflow(*ret, nanos, ret);
    return !__builtin_mul_overflow(seconds, (int64_t)1000000, ret) && !__builtin_add_overflow(*ret, nanos / 1000, ret);
}

/* ---- uuid ------------------------------------------------------------------------------------------------------- */

static bool uuid_read(Arena *a, Str s, Str *ret)
{
    StrBuf hex = sb_new(a);

    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '-')
            sb_byte(&hex, s.p[i]);
    return hex_decode(a, sb_str(&hex), ret) && ret->n == 16;
}

static Str uuid_text(Arena *a, Str bytes)
{
    Str h = hex_encode(a, bytes);
    return str_fmt(a, STR_FMT "-" STR_FMT "-" STR_FMT "-" STR_FMT "-" STR_FMT, STR_ARG(str_sub(h, 0, 8)),
                   STR_ARG(str_sub(h, 8, 12)), STR_ARG(str_sub(h, 12, 16)), STR_ARG(str_sub(h, 16, 20)), STR_ARG(str_from(h, 20)));
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------- */

static bool read_text(Arena *a, const IceType *t, Str s, IceValue *v)
{
    int64_t nanos;

    switch (t->kind) {
    case ICE_DECIMAL: return decimal_read(s, t, &v->decimal);
    case ICE_DATE: return ice_date_read(&s, &v->integer) && !s.n && v->integer >= INT32_MIN && v->integer <= INT32_MAX;
    case ICE_TIME:
        if (!ice_time_read(&s, &nanos) || s.n)
            return false;
        v->integer = nanos / 1000;
        return true;
    case ICE_TIMESTAMP:
    case ICE_TIMESTAMPTZ:
    case ICE_TIMESTAMP_NS:
    case ICE_TIMESTAMPTZ_NS: return moment_read(s, t, &v->integer);
    case ICE_STRING: v->bytes = str_dup(a, s); return true;
    case ICE_UUID: return uuid_read(a, s, &v->bytes);
    case ICE_FIXED: return hex_decode(a, s, &v->bytes) && v->bytes.n == (size_t)t->length;
    case ICE_BINARY: return hex_decode(a, s, &v->bytes);
    default: return false;
    }
}

static bool read_json(Arena *a, const IceType *t, const Json *j, IceValue *v)
{
    switch (j->kind) {
    case JSON_BOOL: v->integer = j->boolean; return t->kind == ICE_BOOLEAN;
    case JSON_REAL: v->real = j->real; return t->kind == ICE_FLOAT || t->kind == ICE_DOUBLE;
    case JSON_STRING: return read_text(a, t, j->string, v);
    case JSON_INT: break;
    default: return false;
    }
    if (t->kind == ICE_FLOAT || t->kind == ICE_DOUBLE) {
        v->real = (double)j->integer;
        return true;
    }
    v->integer = j->integer;
    return t->kind == ICE_LONG || (t->kind == ICE_INT && j->integer >= INT32_MIN && j->integer <= INT32_MAX);
}

Status ice_value_from_json(Arena *a, const IceType *t, const Json *j, IceValue *ret, Error *err)
{
    IceValue v = { .kind = t->kind, .scale = t->scale };

    if (!j || json_is(j, JSON_NULL)) {
        v.null = 1;
    } else if (!read_json(a, t, j, &v)) {
        Str type = ice_type_text(a, t), text = json_text(a, j);
        return FAIL(err, E_INVALID, "Cannot parse default as a " STR_FMT " value: " STR_FMT, STR_ARG(type), STR_ARG(text));
    }
    *ret = v;
    return OK;
}

static Str time_text(Arena *a, int64_t micros, IceFraction f)
{
    StrBuf b = sb_new(a);
    ice_time_write(&b, ice_floor_mod(micros, 86400000000), 6, f);
    return sb_str(&b);
}

static Str date_text(Arena *a, int64_t days)
{
    StrBuf b = sb_new(a);
    ice_date_write(&b, days);
    return sb_str(&b);
}

Json *ice_value_json(Arena *a, const IceType *t, const IceValue *v)
{
    if (v->null)
        return json_null(a);
    switch (t->kind) {
    case ICE_BOOLEAN: return json_bool(a, v->integer != 0);
    case ICE_INT:
    case ICE_LONG: return json_int(a, v->integer);
    case ICE_FLOAT:
    case ICE_DOUBLE: return isfinite(v->real) ? json_real(a, v->real) : json_str(a, ice_value_text(a, t, v));
    case ICE_TIME: return json_str(a, time_text(a, v->integer, FRACTION_FIXED));
    case ICE_TIMESTAMP:
    case ICE_TIMESTAMPTZ:
    case ICE_TIMESTAMP_NS:
    case ICE_TIMESTAMPTZ_NS: return json_str(a, moment_text(a, t, v->integer, FRACTION_FIXED));
    case ICE_FIXED:
    case ICE_BINARY: return json_str(a, str_upper(a, hex_encode(a, v->bytes)));
    default: return json_str(a, ice_value_text(a, t, v));
    }
}

/* The shortest text that reads back as the same number. */
static Str real_text(Arena *a, double v, int is_float)
{
    char text[40];

    if (isnan(v))
        return S("NaN");
    if (isinf(v))
        return v > 0 ? S("Infinity") : S("-Infinity");
    for (int digits = 1; digits <= 17; digits++) {
        double back;
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (str_to_f64(str_c(text), &back) && (is_float ? (float)back == (float)v : back == v))
            break;
    }
    Str s = str_dup(a, str_c(text));
    return str_chr(s, '.') < 0 && str_chr(s, 'e') < 0 ? str_cat(a, s, S(".0")) : s;
}

Str ice_value_text(Arena *a, const IceType *t, const IceValue *v)
{
    if (v->null)
        return S("null");
    switch (t->kind) {
    case ICE_BOOLEAN: return v->integer ? S("true") : S("false");
    case ICE_FLOAT:
    case ICE_DOUBLE: return real_text(a, v->real, t->kind == ICE_FLOAT);
    case ICE_DECIMAL: return decimal_text(a, v->decimal, t->scale);
    case ICE_DATE: return date_text(a, v->integer);
    case ICE_TIME: return time_text(a, v->integer, FRACTION_NEEDED);
    case ICE_TIMESTAMP:
    case ICE_TIMESTAMPTZ:
    case ICE_TIMESTAMP_NS:
    case ICE_TIMESTAMPTZ_NS: return moment_text(a, t, v->integer, FRACTION_NEEDED);
    case ICE_STRING: return v->bytes;
    case ICE_UUID: return uuid_text(a, v->bytes);
    case ICE_FIXED:
    case ICE_BINARY: return base64_encode(a, v->bytes);
    default: return str_fmt(a, "%lld", (long long)v->integer);
    }
}

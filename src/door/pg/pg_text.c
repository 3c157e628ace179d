/* SPDX-License-Identifier: Apache-2.0 */
/* pg_text.c - a value as PostgreSQL's text: scalars, arrays in braces, records in parentheses, maps as JSON. */
#include "door/pg/pg_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void bytea_out(PgOut *o, Str s)
{
    static const char digits[] = "0123456789abcdef";

    pg_out_z(o, "\\x");
    for (size_t i = 0; i < s.n && !o->bad; i++) {
        char pair[2] = { digits[(unsigned char)s.p[i] >> 4], digits[s.p[i] & 15] };
        pg_out_bytes(o, str_n(pair, 2));
    }
}

static void uuid_out(PgOut *o, Str s)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < s.n && i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            pg_out_u8(o, '-');
        pg_out_u8(o, digits[(unsigned char)s.p[i] >> 4]);
        pg_out_u8(o, digits[s.p[i] & 15]);
    }
}

/* The fewest digits that read back as the same number: "d.ddde±x" in `ret`. */
static void shortest(double v, int is_float, char ret[40])
{
    int from = fabs(v) < 2.3e-308 ? 0 : is_float ? 5 : 14;

    for (int places = from; places <= 16; places++) {
        snprintf(ret, 40, "%.*e", places, v);
        if (is_float ? strtof(ret, NULL) == (float)v : strtod(ret, NULL) == v)
            return;
    }
}

/* As PostgreSQL lays it out: plain for exponents from -4 up to the type's digits, else d.ddde+xx. */
static void real_out(PgOut *o, double v, int is_float)
{
    char text[40], digits[24];
    int n = 0, exponent, plain_to = is_float ? 6 : 15;

    if (isnan(v) || isinf(v)) {
        pg_out_z(o, isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
        return;
    }
    if (v == 0) {
        pg_out_z(o, signbit(v) ? "-0" : "0");
        return;
    }
    shortest(v, is_float, text);
    const char *e = strchr(text, 'e');
    for (const char *p = text; p < e; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    exponent = atoi(e + 1);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    if (v < 0)
        pg_out_u8(o, '-');
    if (exponent < -4 || exponent >= plain_to) {
        pg_out_fmt(o, "%c%s%.*se%c%02d", digits[0], n > 1 ? "." : "", n - 1, digits + 1, exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        pg_out_fmt(o, "0.%.*s%.*s", -exponent - 1, "0000", n, digits);
    } else {
        for (int i = 0; i <= exponent || i < n; i++) {
            if (i == exponent + 1)
                pg_out_u8(o, '.');
            pg_out_u8(o, i < n ? digits[i] : '0');
        }
    }
}

/* ---- arrays and records --------------------------------------------------------------------------------------- */

static bool needs_quotes(Str s, const char *special)
{
    if (!s.n)
        return true;
    for (size_t i = 0; i < s.n; i++)
        if (!s.p[i] || strchr(special, s.p[i]))
            return true;
    return false;
}

/* The text that began at `from`, quoted in place. A record doubles, an array escapes. */
static void quote_from(PgOut *o, size_t from, int in_record)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str s = str_dup(a, str_n(o->p + from, o->n - from));

    o->n = from;
    pg_out_u8(o, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"' || s.p[i] == '\\')
            pg_out_u8(o, in_record ? s.p[i] : '\\');
        pg_out_u8(o, s.p[i]);
    }
    pg_out_u8(o, '"');
}

static void array_out(PgOut *o, const Value *v)
{
    pg_out_u8(o, '{');
    for (size_t i = 0; i < v->items.n && !o->bad; i++) {
        const Value *item = &v->items.p[i];
        if (i)
            pg_out_u8(o, ',');
        if (item->kind == DT_NULL) {
            pg_out_z(o, "NULL");
            continue;
        }
        size_t from = o->n;
        pg_text_out(o, item);
        if (o->bad || item->kind == DT_LIST)
            continue;
        Str s = str_n(o->p + from, o->n - from);
        if (needs_quotes(s, "{},\"\\ \t\n\r\v\f") || str_ieq(s, S("NULL")))
            quote_from(o, from, 0);
    }
    pg_out_u8(o, '}');
}

static void record_out(PgOut *o, const Value *v)
{
    pg_out_u8(o, '(');
    for (size_t i = 0; i < v->items.n && !o->bad; i++) {
        if (i)
            pg_out_u8(o, ',');
        if (v->items.p[i].kind == DT_NULL)
            continue;
        size_t from = o->n;
        pg_text_out(o, &v->items.p[i]);
        if (!o->bad && needs_quotes(str_n(o->p + from, o->n - from), "(),\"\\ \t\n\r\v\f"))
            quote_from(o, from, 1);
    }
    pg_out_u8(o, ')');
}

void pg_text_out(PgOut *o, const Value *v)
{
    switch (v->kind) {
    case DT_BOOL: pg_out_u8(o, v->boolean ? 't' : 'f'); return;
    case DT_INT8: case DT_INT16: case DT_INT32: case DT_INT64: case DT_UINT8: case DT_UINT16: case DT_UINT32:
        pg_out_fmt(o, "%lld", (long long)v->integer);
        return;
    case DT_INT128: case DT_UINT64: pg_numeric_out(o, v->wide, 0); return;
    case DT_UINT128: pg_unsigned_out(o, (unsigned __int128)v->wide); return;
    case DT_DECIMAL: pg_numeric_out(o, v->wide, v->type->scale); return;
    case DT_FLOAT: real_out(o, v->real, 1); return;
    case DT_DOUBLE: real_out(o, v->real, 0); return;
    case DT_STRING: case DT_JSON: case DT_ENUM: case DT_OTHER: case DT_TIMETZ: pg_out_bytes(o, v->string); return;
    case DT_BINARY: bytea_out(o, v->string); return;
    case DT_UUID: uuid_out(o, v->string); return;
    case DT_DATE: pg_date_out(o, v->integer); return;
    case DT_TIME: pg_time_out(o, v->integer); return;
    case DT_TIMESTAMP: case DT_TIMESTAMPTZ: pg_timestamp_out(o, v->integer, v->kind); return;
    case DT_TIMESTAMP_NS: pg_timestamp_out(o, pg_floor_micros(v->integer), DT_TIMESTAMP); return;
    case DT_INTERVAL: pg_interval_out(o, v); return;
    case DT_LIST: array_out(o, v); return;
    case DT_STRUCT: record_out(o, v); return;
    case DT_MAP: pg_json_out(o, v); return;
    case DT_NULL: case DT_INVALID: return;
    }
}

Status pg_value_text(Arena *a, const Value *v, Str *ret, Error *err)
{
    PgOut o = { 0 };

    pg_text_out(&o, v);
    if (!o.bad)
        *ret = str_dup(a, str_n(o.p, o.n));
    int bad = o.bad;
    pg_out_free(&o);
    return bad ? FAIL(err, E_LIMIT, "a value is longer than %d bytes", PG_ROW_BYTES) : OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* pg_text.c - a value as PostgreSQL's text: scalars, arrays in braces, records in parentheses, maps as JSON (those of Materialize in braces: pg_nested.c).
 *
 * A value comes with the type that was declared, whose marks the engine's own type has lost; where the two differ in shape the value's own counts. */
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

const DataType *pg_part_type(const Value *v, const DataType *t, size_t i)
{
    if (!t || t->kind != v->kind || (t->kind == DT_STRUCT && t->nchildren != v->items.n))
        t = v->type;
    if (!t || !t->nchildren || t->kind != v->kind)
        return v->items.p[i].type;
    size_t k = v->kind == DT_LIST ? 0 : v->kind == DT_MAP ? i % 2 : i;
    return k < t->nchildren ? &t->children[k] : v->items.p[i].type;
}

/* The text that began at `from`, quoted in place where that is needed. */
void pg_quote_from(PgOut *o, size_t from, NestedText in)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrBuf b = sb_new(a);

    if (o->bad)
        return;
    nested_quote(&b, in, str_n(o->p + from, o->n - from));
    o->n = from;
    pg_out_bytes(o, sb_str(&b));
}

static void array_out(PgOut *o, const Value *v, const DataType *t)
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
        const DataType *part = pg_part_type(v, t, i);
        pg_text_as(o, item, part);
        if (item->kind != DT_LIST && (item->kind != DT_MAP || !part || part->mark != MARK_MAP))
            pg_quote_from(o, from, NESTED_ARRAY);
    }
    pg_out_u8(o, '}');
}

static void record_out(PgOut *o, const Value *v, const DataType *t)
{
    pg_out_u8(o, '(');
    for (size_t i = 0; i < v->items.n && !o->bad; i++) {
        if (i)
            pg_out_u8(o, ',');
        if (v->items.p[i].kind == DT_NULL)
            continue;
        size_t from = o->n;
        pg_text_as(o, &v->items.p[i], pg_part_type(v, t, i));
        pg_quote_from(o, from, NESTED_RECORD);
    }
    pg_out_u8(o, ')');
}

/* char(n): blanks up to n characters. */
static void padded_out(PgOut *o, Str s, int length)
{
    pg_out_bytes(o, s);
    for (size_t i = 0; i < s.n; i++)
        length -= ((unsigned char)s.p[i] & 0xC0) != 0x80;
    for (; length > 0 && !o->bad; length--)
        pg_out_u8(o, ' ');
}

/* numeric without modifiers: no zeros behind the last digit. */
static void trimmed_out(PgOut *o, const Value *v)
{
    __int128 n = v->wide;
    int scale = v->type->scale;

    for (; scale > 0 && n % 10 == 0; scale--)
        n /= 10;
    pg_numeric_out(o, n, scale);
}

static void struct_out(PgOut *o, const Value *v, const DataType *t)
{
    if (v->type && data_type_range(v->type) && v->items.n == RANGE_FIELDS)
        pg_range_out(o, v, t);
    else
        record_out(o, v, t);
}

void pg_text_out(PgOut *o, const Value *v) { pg_text_as(o, v, v->type); }

void pg_text_as(PgOut *o, const Value *v, const DataType *t)
{
    TypeMark mark = t && t->kind == v->kind ? t->mark : MARK_NONE;

    switch (v->kind) {
    case DT_BOOL: pg_out_u8(o, v->boolean ? 't' : 'f'); return;
    case DT_INT8: case DT_INT16: case DT_INT32: case DT_INT64: case DT_UINT8: case DT_UINT16: case DT_UINT32:
        pg_out_fmt(o, "%lld", (long long)v->integer);
        return;
    case DT_INT128: case DT_UINT64: pg_numeric_out(o, v->wide, 0); return;
    case DT_UINT128: pg_unsigned_out(o, (unsigned __int128)v->wide); return;
    case DT_DECIMAL:
        if (mark == MARK_NUMERIC)
            trimmed_out(o, v);
        else
            pg_numeric_out(o, v->wide, v->type->scale);
        return;
    case DT_FLOAT: real_out(o, v->real, 1); return;
    case DT_DOUBLE: real_out(o, v->real, 0); return;
    case DT_STRING:
        if (mark == MARK_BPCHAR) {
            padded_out(o, v->string, t->length);
            return;
        }
        pg_out_bytes(o, v->string);
        return;
    case DT_JSON: case DT_ENUM: case DT_OTHER: case DT_TIMETZ: pg_out_bytes(o, v->string); return;
    case DT_BINARY: bytea_out(o, v->string); return;
    case DT_UUID: uuid_out(o, v->string); return;
    case DT_DATE: pg_date_out(o, v->integer); return;
    case DT_TIME: pg_time_out(o, v->integer); return;
    case DT_TIMESTAMP: case DT_TIMESTAMPTZ: pg_timestamp_out(o, v->integer, v->kind); return;
    case DT_TIMESTAMP_NS: pg_timestamp_out(o, pg_floor_micros(v->integer), DT_TIMESTAMP); return;
    case DT_INTERVAL: pg_interval_out(o, v); return;
    case DT_LIST: array_out(o, v, t); return;
    case DT_STRUCT: struct_out(o, v, t); return;
    case DT_MAP:
        if (mark == MARK_MAP)
            pg_map_out(o, v, t);
        else
            pg_json_out(o, v);
        return;
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

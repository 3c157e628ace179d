/* SPDX-License-Identifier: Apache-2.0 */
/* duck_quote.c - names and values as SQL text that cannot be anything else.
 *
 * Invariant: whatever the bytes of the input, the output is one token (or one parenthesised or cast expression). */
#include "duck/duck_int.h"

#include <math.h>
#include <stdio.h>

static void quoted(StrBuf *b, Str s, char quote)
{
    sb_byte(b, quote);
    for (size_t i = 0; i < s.n; i++) {
        if (!s.p[i])
            continue;
        if (s.p[i] == quote)
            sb_byte(b, quote);
        sb_byte(b, s.p[i]);
    }
    sb_byte(b, quote);
}

void sql_ident(StrBuf *b, Str name) { quoted(b, name, '"'); }
void sql_lit(StrBuf *b, Str text) { quoted(b, text, '\''); }

Str sql_ident_str(Arena *a, Str name)
{
    StrBuf b = sb_new(a);
    sql_ident(&b, name);
    return sb_str(&b);
}

Str sql_lit_str(Arena *a, Str text)
{
    StrBuf b = sb_new(a);
    sql_lit(&b, text);
    return sb_str(&b);
}

/* ---- values ----------------------------------------------------------------------------------------------- */

static void digits(StrBuf *b, __int128 v, int is_unsigned)
{
    char text[48], *p = text + sizeof text;
    unsigned __int128 u = (unsigned __int128)v;
    int negative = !is_unsigned && v < 0;

    if (negative)
        u = -u;
    *--p = 0;
    do
        *--p = (char)('0' + (int)(u % 10));
    while (u /= 10);
    if (negative)
        *--p = '-';
    sb_addc(b, p);
}

static void decimal_text(StrBuf *b, __int128 v, int scale)
{
    StrBuf d = sb_new(b->a);
    unsigned __int128 u = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;

    digits(&d, (__int128)u, 1);
    Str s = sb_str(&d);
    if (v < 0)
        sb_byte(b, '-');
    if ((int)s.n <= scale) {
        sb_addc(b, "0.");
        for (int i = (int)s.n; i < scale; i++)
            sb_byte(b, '0');
        sb_add(b, s);
        return;
    }
    sb_add(b, str_sub(s, 0, s.n - (size_t)scale));
    if (scale) {
        sb_byte(b, '.');
        sb_add(b, str_from(s, s.n - (size_t)scale));
    }
}

static void real_text(StrBuf *b, double v, int is_float)
{
    if (isnan(v))
        sb_addc(b, "nan");
    else if (isinf(v))
        sb_addc(b, v > 0 ? "inf" : "-inf");
    else
        sb_fmt(b, is_float ? "%.9g" : "%.17g", v);
}

static void blob(StrBuf *b, Str s)
{
    static const char hex[] = "0123456789abcdef";

    sb_addc(b, "from_hex('");
    for (size_t i = 0; i < s.n; i++) {
        sb_byte(b, hex[(unsigned char)s.p[i] >> 4]);
        sb_byte(b, hex[(unsigned char)s.p[i] & 15]);
    }
    sb_addc(b, "')");
}

static void uuid(StrBuf *b, Str s)
{
    sb_byte(b, '\'');
    for (size_t i = 0; i < s.n && i < 16; i++)
        sb_fmt(b, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)s.p[i]);
    sb_addc(b, "'::UUID");
}

static const DataType *item_type(const Value *v, size_t i)
{
    if (!v->type || !v->type->nchildren)
        return NULL;
    if (v->kind == DT_LIST)
        return &v->type->children[0];
    if (v->kind == DT_MAP)
        return &v->type->children[i % 2];
    return i < v->type->nchildren ? &v->type->children[i] : NULL;
}

static void item(StrBuf *b, const Value *v, size_t i)
{
    Value x = v->items.p[i];
    if (!x.type)
        x.type = item_type(v, i);
    sql_value(b, &x);
}

static void list(StrBuf *b, const Value *v, size_t from, size_t step)
{
    sb_byte(b, '[');
    for (size_t i = from; i < v->items.n; i += step) {
        if (i != from)
            sb_addc(b, ", ");
        item(b, v, i);
    }
    sb_byte(b, ']');
}

static void structure(StrBuf *b, const Value *v)
{
    sb_byte(b, '{');
    for (size_t i = 0; i < v->items.n; i++) {
        if (i)
            sb_addc(b, ", ");
        sql_lit(b, v->type->names[i]);
        sb_addc(b, ": ");
        item(b, v, i);
    }
    sb_byte(b, '}');
}

static void nested(StrBuf *b, const Value *v)
{
    if (v->kind == DT_MAP) {
        sb_addc(b, "map(");
        list(b, v, 0, 2);
        sb_addc(b, ", ");
        list(b, v, 1, 2);
        sb_byte(b, ')');
    } else if (v->kind == DT_STRUCT && v->type) {
        structure(b, v);
    } else {
        list(b, v, 0, 1);
    }
}

static void instant(StrBuf *b, const Value *v)
{
    switch (v->kind) {
    case DT_DATE: sb_fmt(b, "(DATE '1970-01-01' + (%lld)::INTEGER)", (long long)v->integer); return;
    case DT_TIME: sb_fmt(b, "(TIME '00:00:00' + to_microseconds(%lld))", (long long)v->integer); return;
    case DT_TIMESTAMP: sb_fmt(b, "make_timestamp(%lld)", (long long)v->integer); return;
    case DT_TIMESTAMP_NS: sb_fmt(b, "make_timestamp_ns(%lld)", (long long)v->integer); return;
    default: sb_fmt(b, "make_timestamptz(%lld)", (long long)v->integer);
    }
}

static void null_value(StrBuf *b, const Value *v)
{
    sb_addc(b, "NULL");
    if (v->type && v->type->kind != DT_NULL && v->type->kind != DT_INVALID) {
        sb_addc(b, "::");
        sb_add(b, data_type_sql(b->a, v->type));
    }
}

static void interval(StrBuf *b, const Value *v)
{
    sb_fmt(b, "(to_months(%d) + to_days(%d) + to_microseconds(%lld))", (int)v->interval.months, (int)v->interval.days,
           (long long)v->interval.micros);
}

void sql_value(StrBuf *b, const Value *v)
{
    DataType plain = { .kind = v->kind };
    const DataType *t = v->type && v->type->kind == v->kind ? v->type : &plain;

    switch (v->kind) {
    case DT_INVALID: case DT_NULL: null_value(b, v); return;
    case DT_BOOL: sb_addc(b, v->boolean ? "true" : "false"); return;
    case DT_INTERVAL: interval(b, v); return;
    case DT_BINARY: blob(b, v->string); return;
    case DT_UUID: uuid(b, v->string); return;
    case DT_STRING: case DT_ENUM: case DT_OTHER: sql_lit(b, v->string); return;
    case DT_DATE: case DT_TIME: case DT_TIMESTAMP: case DT_TIMESTAMPTZ: case DT_TIMESTAMP_NS: instant(b, v); return;
    case DT_LIST: case DT_MAP: case DT_STRUCT: nested(b, v); break;
    case DT_JSON: case DT_TIMETZ: sql_lit(b, v->string); break;
    default: {
        sb_byte(b, '\'');
        if (v->kind == DT_DECIMAL)
            decimal_text(b, v->wide, t->scale);
        else if (v->kind == DT_FLOAT || v->kind == DT_DOUBLE)
            real_text(b, v->real, v->kind == DT_FLOAT);
        else if (v->kind == DT_INT128 || v->kind == DT_UINT64 || v->kind == DT_UINT128)
            digits(b, v->wide, v->kind != DT_INT128);
        else
            sb_fmt(b, "%lld", (long long)v->integer);
        sb_byte(b, '\'');
    }
    }
    if (t->kind == DT_DECIMAL && !t->precision)
        return;
    if ((t->kind == DT_LIST || t->kind == DT_MAP || t->kind == DT_STRUCT) && !t->nchildren)
        return;
    sb_addc(b, "::");
    sb_add(b, data_type_sql(b->a, t));
}

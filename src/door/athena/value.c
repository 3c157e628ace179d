/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - values and types as Athena writes them in results.
 *
 * Scalars have Trino's text (doubles Java's), arrays [a, b], maps {k=v}, rows {f=v}, bytes in hex with blanks between.  Timestamps have six digits: the
 * tables' own precision, and the same in every row of a column. */
#include "door/athena/athena_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- numbers ------------------------------------------------------------------------------------------------------------------ */

/* The shortest digits that give the same number back, as d.ddde±xx. */
static void shortest(double v, int is_float, char *out, size_t size)
{
    for (int digits = 0; digits <= 17; digits++) {
        snprintf(out, size, "%.*e", digits, v);
        if (is_float ? strtof(out, NULL) == (float)v : strtod(out, NULL) == v)
            return;
    }
}

/* Java's Double.toString: 1.0, 0.001, 1.0E10, 1.2345E-5. */
static void real_text(StrBuf *b, double v, int is_float)
{
    char text[48], digits[32];
    size_t n = 0;

    if (isnan(v) || isinf(v)) {
        sb_addc(b, isnan(v) ? "NaN" : v < 0 ? "-Infinity" : "Infinity");
        return;
    }
    if (v == 0) {
        sb_addc(b, signbit(v) ? "-0.0" : "0.0");
        return;
    }
    shortest(fabs(v), is_float, text, sizeof text);
    char *e = strchr(text, 'e');
    int exp = atoi(e + 1);
    for (const char *p = text; p < e; p++)
        if (*p != '.')
            digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    sb_addc(b, v < 0 ? "-" : "");
    if (exp < -3 || exp >= 7) {
        sb_fmt(b, "%c.%.*sE%d", digits[0], n > 1 ? (int)n - 1 : 1, n > 1 ? digits + 1 : "0", exp);
        return;
    }
    int whole = exp < 0 ? 0 : exp + 1;                  /* digits before the point */
    for (int i = 0; i < whole; i++)
        sb_byte(b, i < (int)n ? digits[i] : '0');
    sb_addc(b, whole ? "." : "0.");
    for (int i = exp + 1; i < 0; i++)
        sb_byte(b, '0');
    sb_add(b, whole < (int)n ? str_n(digits + whole, n - (size_t)whole) : S("0"));
}

static void wide_text(StrBuf *b, __int128 v, int scale)
{
    char text[64];
    size_t at = sizeof text;
    bool minus = v < 0;
    unsigned __int128 u = minus ? -(unsigned __int128)v : (unsigned __int128)v;
    int digits = 0;

    do {
        if (digits == scale && scale > 0)
            text[--at] = '.';
        text[--at] = (char)('0' + (int)(u % 10));
        u /= 10;
        digits++;
    } while (u || digits <= scale);
    if (minus)
        text[--at] = '-';
    sb_add(b, str_n(text + at, sizeof text - at));
}

/* ---- times ---------------------------------------------------------------------------------------------------------------------- */

/* Civil date of a day count from 1970-01-01. */
static void date_text(StrBuf *b, int64_t days)
{
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365, doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    int64_t d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9, y = yoe + era * 400 + (m <= 2);

    sb_fmt(b, "%s%04lld-%02lld-%02lld", y < 0 ? "-" : "", (long long)(y < 0 ? -y : y), (long long)m, (long long)d);
}

static void time_text(StrBuf *b, int64_t micros, int digits)
{
    int64_t s = micros / 1000000, frac = micros % 1000000;

    sb_fmt(b, "%02lld:%02lld:%02lld", (long long)(s / 3600), (long long)(s / 60 % 60), (long long)(s % 60));
    for (int i = digits; i < 6; i++)
        frac /= 10;
    if (digits > 0)
        sb_fmt(b, ".%0*lld", digits, (long long)frac);
}

static void timestamp_text(StrBuf *b, int64_t micros, const DataType *t)
{
    const int64_t day = (int64_t)86400 * 1000000;
    int64_t days = micros / day - (micros % day < 0);

    date_text(b, days);
    sb_byte(b, ' ');
    time_text(b, micros - days * day, t ? sql_time_digits(t) : 6);
}

static void interval_text(StrBuf *b, const Value *v)
{
    int64_t micros = v->interval.micros, days = v->interval.days;

    if (v->interval.months) {
        long long m = v->interval.months;
        sb_fmt(b, "%s%lld-%lld", m < 0 ? "-" : "", (m < 0 ? -m : m) / 12, (m < 0 ? -m : m) % 12);
        return;
    }
    days += micros / ((int64_t)86400 * 1000000);
    micros %= (int64_t)86400 * 1000000;
    bool minus = days < 0 || micros < 0;
    sb_fmt(b, "%s%lld ", minus ? "-" : "", (long long)(days < 0 ? -days : days));
    time_text(b, micros < 0 ? -micros : micros, 3);
}

/* ---- all ---------------------------------------------------------------------------------------------------------------------------- */

static void hex_text(StrBuf *b, Str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        sb_fmt(b, "%s%02x", i ? " " : "", (unsigned char)bytes.p[i]);
}

static void uuid_text(StrBuf *b, Str bytes)
{
    if (bytes.n != 16) {
        sb_add(b, bytes);
        return;
    }
    for (size_t i = 0; i < 16; i++)
        sb_fmt(b, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)bytes.p[i]);
}

static void item_text(StrBuf *b, const Value *v)
{
    if (v->kind == DT_NULL)
        sb_addc(b, "null");
    else
        value_text(b, v);
}

static void items_text(StrBuf *b, const Value *v)
{
    bool map = v->kind == DT_MAP, list = v->kind == DT_LIST;

    sb_byte(b, list ? '[' : '{');
    for (size_t i = 0; i < v->items.n; i++) {
        if (i && !(map && i % 2))
            sb_addc(b, ", ");
        if (v->kind == DT_STRUCT) {
            sb_add(b, v->type && v->type->names && i < v->type->nchildren ? v->type->names[i] : S("field"));
            sb_byte(b, '=');
        }
        if (map && i % 2)
            sb_byte(b, '=');
        item_text(b, &v->items.p[i]);
    }
    sb_byte(b, list ? ']' : '}');
}

/* The engine's types know nothing of a timestamp's digits: the statement's do. */
void value_as(Value *v, const DataType *t)
{
    if (v->kind != t->kind)
        return;
    v->type = t;
    for (size_t i = 0; t->nchildren && i < v->items.n; i++)
        value_as(&v->items.p[i], &t->children[v->kind == DT_LIST ? 0 : v->kind == DT_MAP ? i % 2 : i < t->nchildren ? i : 0]);
}

void value_text(StrBuf *b, const Value *v)
{
    switch (v->kind) {
    case DT_NULL: break;
    case DT_BOOL: sb_addc(b, v->boolean ? "true" : "false"); break;
    case DT_INT8: case DT_INT16: case DT_INT32: case DT_INT64: case DT_UINT8: case DT_UINT16: case DT_UINT32: sb_fmt(b, "%lld", (long long)v->integer); break;
    case DT_INT128: case DT_UINT64: case DT_UINT128: wide_text(b, v->wide, 0); break;
    case DT_DECIMAL: wide_text(b, v->wide, v->type ? v->type->scale : 0); break;
    case DT_FLOAT: case DT_DOUBLE: real_text(b, v->real, v->kind == DT_FLOAT); break;
    case DT_DATE: date_text(b, v->integer); break;
    case DT_TIME: time_text(b, v->integer, v->type ? sql_time_digits(v->type) : 6); break;
    case DT_TIMESTAMP: timestamp_text(b, v->integer, v->type); break;
    case DT_TIMESTAMP_NS: timestamp_text(b, v->integer / 1000 - (v->integer % 1000 < 0), v->type); break;
    case DT_TIMESTAMPTZ: timestamp_text(b, v->integer, v->type); sb_addc(b, " UTC"); break;
    case DT_INTERVAL: interval_text(b, v); break;
    case DT_UUID: uuid_text(b, v->string); break;
    case DT_BINARY: hex_text(b, v->string); break;
    case DT_LIST: case DT_MAP: case DT_STRUCT: items_text(b, v); break;
    default: sb_add(b, v->string);
    }
}

/* ---- types ------------------------------------------------------------------------------------------------------------------------------ */

typedef struct TypeRow { DataTypeKind kind; const char *name; int precision, scale, case_sensitive; } TypeRow;
static const TypeRow TYPES[] = {
    { DT_NULL, "unknown", 0, 0, 0 }, { DT_BOOL, "boolean", 0, 0, 0 }, { DT_INT8, "tinyint", 3, 0, 0 }, { DT_INT16, "smallint", 5, 0, 0 }, { DT_UINT8, "smallint", 5, 0, 0 },
    { DT_INT32, "integer", 10, 0, 0 }, { DT_UINT16, "integer", 10, 0, 0 }, { DT_INT64, "bigint", 19, 0, 0 }, { DT_UINT32, "bigint", 19, 0, 0 },
    { DT_INT128, "decimal", 38, 0, 0 }, { DT_UINT64, "decimal", 20, 0, 0 }, { DT_UINT128, "decimal", 38, 0, 0 }, { DT_FLOAT, "float", 17, 0, 0 },
    { DT_DOUBLE, "double", 17, 0, 0 }, { DT_DATE, "date", 0, 0, 0 }, { DT_TIME, "time", 3, 0, 1 }, { DT_TIMESTAMP, "timestamp", 3, 0, 0 },
    { DT_TIMESTAMP_NS, "timestamp", 3, 0, 0 }, { DT_TIMESTAMPTZ, "timestamp with time zone", 3, 0, 0 }, { DT_BINARY, "varbinary", 1073741824, 0, 0 },
    { DT_LIST, "array", 0, 0, 0 }, { DT_MAP, "map", 0, 0, 0 }, { DT_STRUCT, "row", 0, 0, 0 }, { DT_JSON, "json", 0, 0, 0 }, { DT_UUID, "uuid", 0, 0, 0 },
    { DT_INTERVAL, "interval day to second", 0, 0, 0 },
};

const char *value_type(const DataType *t, int *precision, int *scale, int *case_sensitive)
{
    *scale = *case_sensitive = 0;
    if (t->kind == DT_DECIMAL) {
        *precision = t->precision;
        *scale = t->scale;
        return "decimal";
    }
    for (size_t i = 0; i < COUNT_OF(TYPES); i++)
        if (TYPES[i].kind == t->kind) {
            *precision = TYPES[i].precision;
            *case_sensitive = TYPES[i].case_sensitive;
            return TYPES[i].name;
        }
    *precision = t->kind == DT_STRING && t->length > 0 ? t->length : 2147483647;
    *case_sensitive = 1;
    return "varchar";
}

static Json *info(Arena *a, Str name, const char *type, int precision, int scale, int case_sensitive)
{
    Json *v = json_object(a);

    name = str_dup(a, name);                            /* the statement's end takes its own away */
    json_set(a, v, "CatalogName", json_str(a, S("hive")));
    json_set(a, v, "SchemaName", json_str(a, S("")));
    json_set(a, v, "TableName", json_str(a, S("")));
    json_set(a, v, "Name", json_str(a, name));
    json_set(a, v, "Label", json_str(a, name));
    json_set(a, v, "Type", json_str(a, str_c(type)));
    json_set(a, v, "Precision", json_int(a, precision));
    json_set(a, v, "Scale", json_int(a, scale));
    json_set(a, v, "Nullable", json_str(a, S("UNKNOWN")));
    json_set(a, v, "CaseSensitive", json_bool(a, case_sensitive != 0));
    return v;
}

Json *column_info(Arena *a, Str name, const DataType *t)
{
    int precision, scale, case_sensitive;

    if (!t)                                             /* what DDL statements answer */
        return info(a, name, "string", 0, 0, 0);
    const char *type = value_type(t, &precision, &scale, &case_sensitive);
    return info(a, name, type, precision, scale, case_sensitive);
}

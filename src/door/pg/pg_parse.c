/* SPDX-License-Identifier: Apache-2.0 */
/* pg_parse.c - values received as text, and conversions between types where a client's idea differs from the statement's. */
#include "door/pg/pg_int.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *type_word(DataTypeKind k)
{
    static const char *const words[] = {
        [DT_BOOL] = "boolean", [DT_INT8] = "smallint", [DT_INT16] = "smallint", [DT_INT32] = "integer", [DT_INT64] = "bigint",
        [DT_UINT32] = "oid", [DT_FLOAT] = "real", [DT_DOUBLE] = "double precision", [DT_DECIMAL] = "numeric",
        [DT_BINARY] = "bytea", [DT_DATE] = "date", [DT_TIME] = "time", [DT_TIMESTAMP] = "timestamp",
        [DT_TIMESTAMPTZ] = "timestamp with time zone", [DT_TIMESTAMP_NS] = "timestamp", [DT_TIMETZ] = "time with time zone",
        [DT_INTERVAL] = "interval", [DT_UUID] = "uuid", [DT_JSON] = "json", [DT_LIST] = "array", [DT_STRUCT] = "record",
        [DT_MAP] = "json",
    };
    return (size_t)k < COUNT_OF(words) && words[k] ? words[k] : "numeric";
}

static Status bad(const DataType *t, Str text, const char *sqlstate, Error *err)
{
    RAISE(err, E_INVALID, "invalid input syntax for type %s: \"" STR_FMT "\"", type_word(t->kind), STR_ARG(str_sub(text, 0, 80)));
    snprintf(err->sqlstate, sizeof err->sqlstate, "%s", sqlstate);
    return E_INVALID;
}

static Status out_of_range(const DataType *t, Error *err)
{
    return FAIL(err, E_OVERFLOW, "value out of range for type %s", type_word(t->kind));
}

/* ---- scalars --------------------------------------------------------------------------------------------------------- */

static bool bool_of(Str s, bool *ret)
{
    static const struct { const char *word; bool value; } words[] = {
        { "t", true }, { "true", true }, { "1", true }, { "on", true }, { "y", true }, { "yes", true },
        { "f", false }, { "false", false }, { "0", false }, { "off", false }, { "n", false }, { "no", false },
    };
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_ieq(s, str_c(words[i].word))) {
            *ret = words[i].value;
            return true;
        }
    return false;
}

static bool int_range(DataTypeKind k, __int128 *low, __int128 *high)
{
    int bits = 0, is_signed = 1;

    switch (k) {
    case DT_INT8: bits = 7; break;
    case DT_INT16: bits = 15; break;
    case DT_INT32: bits = 31; break;
    case DT_INT64: bits = 63; break;
    case DT_UINT8: bits = 8, is_signed = 0; break;
    case DT_UINT16: bits = 16, is_signed = 0; break;
    case DT_UINT32: bits = 32, is_signed = 0; break;
    case DT_UINT64: bits = 64, is_signed = 0; break;
    case DT_INT128: case DT_UINT128: bits = 126; break;
    default: return false;
    }
    *high = ((__int128)1 << bits) - 1;
    *low = is_signed ? -*high - 1 : 0;
    return true;
}

static bool is_wide(DataTypeKind k) { return k == DT_INT128 || k == DT_UINT64 || k == DT_UINT128; }

static Status set_int(const DataType *t, __int128 x, Value *ret, Error *err)
{
    __int128 low, high;

    if (!int_range(t->kind, &low, &high) || x < low || x > high)
        return out_of_range(t, err);
    *ret = (Value){ .kind = t->kind, .type = t };
    if (is_wide(t->kind))
        ret->wide = x;
    else
        ret->integer = (int64_t)x;
    return OK;
}

static Status parse_int(const DataType *t, Str text, Value *ret, Error *err)
{
    Str s = str_trim(text);
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+');
    __int128 x = 0;

    if (i == s.n)
        return bad(t, text, "22P02", err);
    for (size_t k = i; k < s.n; k++) {
        if (s.p[k] < '0' || s.p[k] > '9')
            return bad(t, text, "22P02", err);
        if (x > (__int128)1 << 120)
            return out_of_range(t, err);
        x = x * 10 + (s.p[k] - '0');
    }
    return set_int(t, s.p[0] == '-' ? -x : x, ret, err);
}

static Status parse_real(Arena *a, const DataType *t, Str text, Value *ret, Error *err)
{
    Str s = str_trim(text);
    char *z = str_z(a, s), *end;

    if (!s.n || s.n > 400 || strpbrk(z, "xXpP("))         /* C's hexadecimal forms and nan(...) are not PostgreSQL's */
        return bad(t, text, "22P02", err);
    errno = 0;
    double v = strtod(z, &end);
    if (*end || strlen(z) != s.n)
        return bad(t, text, "22P02", err);
    if (errno == ERANGE && (isinf(v) || v == 0))
        return out_of_range(t, err);
    if (t->kind == DT_FLOAT && !isinf(v) && isinf((float)v))
        return out_of_range(t, err);
    ret->real = t->kind == DT_FLOAT ? (float)v : v;
    return OK;
}

static Status parse_bytea(Arena *a, const DataType *t, Str s, Value *ret, Error *err)
{
    if (str_starts(s, S("\\x")))
        return hex_decode(a, str_from(s, 2), &ret->string) ? OK : bad(t, s, "22023", err);
    StrBuf b = sb_new(a);                                /* the older escape form: \\ and \ooo */
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '\\') {
            sb_byte(&b, s.p[i]);
        } else if (i + 1 < s.n && s.p[i + 1] == '\\') {
            sb_byte(&b, '\\');
            i++;
        } else if (i + 3 < s.n && s.p[i + 1] >= '0' && s.p[i + 1] <= '3' && (s.p[i + 2] & ~7) == '0' && (s.p[i + 3] & ~7) == '0') {
            sb_byte(&b, (char)((s.p[i + 1] - '0') << 6 | (s.p[i + 2] - '0') << 3 | (s.p[i + 3] - '0')));
            i += 3;
        } else {
            return bad(t, s, "22P02", err);
        }
    }
    ret->string = sb_str(&b);
    return OK;
}

static Status parse_uuid(Arena *a, const DataType *t, Str text, Value *ret, Error *err)
{
    Str s = str_trim(text);
    StrBuf b = sb_new(a);

    if (s.n >= 2 && s.p[0] == '{' && s.p[s.n - 1] == '}')
        s = str_sub(s, 1, s.n - 1);
    for (size_t i = 0; i < s.n && s.n <= 64; i++)
        if (s.p[i] != '-')
            sb_byte(&b, s.p[i]);
    Str hex = sb_str(&b);
    return hex.n == 32 && hex_decode(a, hex, &ret->string) ? OK : bad(t, text, "22P02", err);
}

static Status parse_timetz(Arena *a, const DataType *t, Str s, Value *ret, Error *err)
{
    int64_t us;
    int zone;

    if (!pg_time_parse(s, &us, &zone))
        return bad(t, s, "22007", err);
    ret->string = str_dup(a, str_trim(s));
    return OK;
}

static Status parse_time(const DataType *t, Str s, Value *ret, Error *err)
{
    int zone;
    bool ok;

    switch (t->kind) {
    case DT_DATE: ok = pg_date_parse(s, &ret->integer); break;
    case DT_TIME: ok = pg_time_parse(s, &ret->integer, &zone); break;
    case DT_INTERVAL:
        ok = pg_interval_parse(s, ret);
        ret->type = t;
        break;
    default: ok = pg_timestamp_parse(s, &ret->integer); break;
    }
    if (ok && t->kind == DT_TIMESTAMP_NS)
        ok = !__builtin_mul_overflow(ret->integer, 1000, &ret->integer);
    return ok ? OK : bad(t, s, "22007", err);
}

static Status parse_json(Arena *a, const DataType *t, Str s, Value *ret, Error *err)
{
    Json *tree;
    Error why;

    if (json_parse(a, s, &tree, &why) != OK) {
        (void)bad(t, s, "22P02", err);
        error_detail(err, "%s", why.message);
        return E_INVALID;
    }
    ret->string = str_dup(a, s);
    return OK;
}

/* ---- arrays: {a,"b c",NULL,{…}} ---------------------------------------------------------------------------------------- */

typedef struct { Arena *a; Str s; size_t at; int depth; } ArrayText;

static void blanks(ArrayText *r)
{
    while (r->at < r->s.n && strchr(" \t\n\r\v\f", r->s.p[r->at]) && r->s.p[r->at])
        r->at++;
}

static bool next_is(ArrayText *r, char c)
{
    blanks(r);
    if (r->at >= r->s.n || r->s.p[r->at] != c)
        return false;
    r->at++;
    return true;
}

/* One element's text; *quoted tells "NULL" from NULL. */
static bool element_text(ArrayText *r, Str *ret, int *quoted)
{
    StrBuf b = sb_new(r->a);
    size_t keep = 0;

    *quoted = next_is(r, '"');
    for (; r->at < r->s.n; r->at++) {
        char c = r->s.p[r->at];
        if (*quoted ? c == '"' : c == ',' || c == '}')
            break;
        if (!*quoted && (c == '{' || c == '"'))
            return false;
        if (c == '\\') {
            if (++r->at == r->s.n)
                return false;
            sb_byte(&b, r->s.p[r->at]);
            keep = b.n;
            continue;
        }
        sb_byte(&b, c);
        if (*quoted || !strchr(" \t\n\r\v\f", c))
            keep = b.n;
    }
    if (r->at == r->s.n)
        return false;
    r->at += *quoted ? 1 : 0;
    *ret = str_sub(sb_str(&b), 0, keep);                 /* blanks behind a bare element are not its own */
    return *quoted || keep > 0;
}

static const DataType *list_of(Arena *a, const DataType *element)
{
    DataType *t = arena_new(a, DataType);
    *t = (DataType){ .kind = DT_LIST, .nchildren = 1, .children = (DataType *)element };
    return t;
}

static Status parse_array(ArrayText *r, const DataType *t, Value *ret, Error *err);

static Status parse_element(ArrayText *r, const DataType *child, Value *ret, Error *err)
{
    Str text;
    int quoted;

    blanks(r);
    if (r->at < r->s.n && r->s.p[r->at] == '{') {
        if (child->kind == DT_LIST)
            return parse_array(r, child, ret, err);
        return parse_array(r, list_of(r->a, child), ret, err);
    }
    if (!element_text(r, &text, &quoted))
        return bad(&(DataType){ .kind = DT_LIST }, r->s, "22P02", err);
    if (!quoted && str_ieq(text, S("NULL"))) {
        *ret = (Value){ .kind = DT_NULL, .type = child };
        return OK;
    }
    return pg_text_parse(r->a, child, text, ret, err);
}

static Status parse_array(ArrayText *r, const DataType *t, Value *ret, Error *err)
{
    struct { Value *p; size_t n, cap; } items = { 0 };

    if (!next_is(r, '{') || ++r->depth > PG_VALUE_DEPTH)
        return bad(t, r->s, "22P02", err);
    while (!next_is(r, '}')) {
        Value v;
        if (items.n && !next_is(r, ','))
            return bad(t, r->s, "22P02", err);
        TRY(parse_element(r, &t->children[0], &v, err));
        vec_push(r->a, &items, v);
    }
    r->depth--;
    if (items.n && items.p[0].kind == DT_LIST && t->children[0].kind != DT_LIST)
        t = list_of(r->a, items.p[0].type);               /* more dimensions than the type shows */
    *ret = (Value){ .kind = DT_LIST, .type = t };
    ret->items.p = items.p;
    ret->items.n = items.n;
    return OK;
}

static Status parse_whole_array(Arena *a, const DataType *t, Str s, Value *ret, Error *err)
{
    ArrayText r = { .a = a, .s = s };

    TRY(parse_array(&r, t, ret, err));
    blanks(&r);
    return r.at == s.n ? OK : bad(t, s, "22P02", err);
}

Status pg_text_parse(Arena *a, const DataType *t, Str s, Value *ret, Error *err)
{
    *ret = (Value){ .kind = t->kind, .type = t };
    if (!s.p)
        s = S("");                                       /* the scanners point into it */
    if (pg_has_fields(t)) {                              /* the statement casts it */
        static const DataType text = { .kind = DT_STRING };
        *ret = (Value){ .kind = DT_STRING, .type = &text, .string = str_dup(a, s) };
        return OK;
    }
    switch (t->kind) {
    case DT_BOOL: return bool_of(str_trim(s), &ret->boolean) ? OK : bad(t, s, "22P02", err);
    case DT_INT8: case DT_INT16: case DT_INT32: case DT_INT64: case DT_INT128: case DT_UINT8: case DT_UINT16: case DT_UINT32:
    case DT_UINT64: case DT_UINT128:
        return parse_int(t, s, ret, err);
    case DT_FLOAT: case DT_DOUBLE: return parse_real(a, t, s, ret, err);
    case DT_DECIMAL: return pg_numeric_parse(a, t, s, ret, err);
    case DT_BINARY: return parse_bytea(a, t, s, ret, err);
    case DT_UUID: return parse_uuid(a, t, s, ret, err);
    case DT_DATE: case DT_TIME: case DT_TIMESTAMP: case DT_TIMESTAMPTZ: case DT_TIMESTAMP_NS: case DT_INTERVAL:
        return parse_time(t, s, ret, err);
    case DT_TIMETZ: return parse_timetz(a, t, s, ret, err);
    case DT_JSON: return parse_json(a, t, s, ret, err);
    case DT_LIST: return parse_whole_array(a, t, s, ret, err);
    case DT_STRUCT: case DT_MAP: case DT_NULL: case DT_INVALID: case DT_STRING: case DT_ENUM: case DT_OTHER: break;
    }
    ret->kind = DT_STRING;
    ret->string = str_dup(a, s);
    return OK;
}

/* ---- conversions -------------------------------------------------------------------------------------------------------- */

static bool integral(const Value *v, __int128 *x)
{
    __int128 low, high;
    if (!int_range(v->kind, &low, &high))
        return false;
    *x = is_wide(v->kind) ? v->wide : v->integer;
    return true;
}

static bool is_text(DataTypeKind k) { return k == DT_STRING || k == DT_ENUM || k == DT_OTHER || k == DT_INVALID || k == DT_NULL; }

static Status by_text(Arena *a, const DataType *t, Value *v, Error *err)
{
    Str text;
    TRY(pg_value_text(a, v, &text, err));
    return pg_text_parse(a, t, text, v, err);
}

static Status to_decimal(Arena *a, const DataType *t, __int128 x, Value *v, Error *err)
{
    DataType *plain = arena_new(a, DataType);
    *plain = (DataType){ .kind = DT_DECIMAL, .precision = 38 };
    *v = (Value){ .kind = DT_DECIMAL, .type = plain, .wide = x };
    return pg_numeric_rescale(t, v, err);
}

static Status to_real(const DataType *t, double d, Value *v, Error *err)
{
    if (t->kind == DT_FLOAT && isfinite(d) && !isfinite((float)d))
        return out_of_range(t, err);
    *v = (Value){ .kind = t->kind, .type = t, .real = t->kind == DT_FLOAT ? (float)d : d };
    return OK;
}

Status pg_value_coerce(Arena *a, const DataType *t, Value *v, Error *err)
{
    __int128 x, low, high;
    DataTypeKind from = v->kind;

    if (t->kind == DT_INVALID || t->kind == DT_NULL || from == DT_NULL)
        return OK;
    if (t->kind == DT_DECIMAL && from == DT_DECIMAL)
        return pg_numeric_rescale(t, v, err);
    if (t->kind == from) {
        v->type = t;
        return OK;
    }
    if (integral(v, &x)) {
        if (int_range(t->kind, &low, &high))
            return set_int(t, x, v, err);
        if (t->kind == DT_DECIMAL)
            return to_decimal(a, t, x, v, err);
        if (t->kind == DT_DOUBLE || t->kind == DT_FLOAT)
            return to_real(t, (double)x, v, err);
    }
    if ((from == DT_DOUBLE || from == DT_FLOAT) && (t->kind == DT_DOUBLE || t->kind == DT_FLOAT))
        return to_real(t, v->real, v, err);
    if (from == DT_DATE && (t->kind == DT_TIMESTAMP || t->kind == DT_TIMESTAMPTZ)) {
        *v = (Value){ .kind = t->kind, .type = t, .integer = v->integer * US_PER_DAY };
        return OK;
    }
    if ((from == DT_TIMESTAMP || from == DT_TIMESTAMPTZ) && (t->kind == DT_TIMESTAMP || t->kind == DT_TIMESTAMPTZ)) {
        v->kind = t->kind;
        v->type = t;
        return OK;
    }
    if (is_text(from) || is_text(t->kind) || t->kind == DT_DECIMAL || t->kind == DT_DOUBLE || t->kind == DT_DATE
        || t->kind == DT_JSON || t->kind == DT_TIMESTAMP_NS || int_range(t->kind, &low, &high))
        return by_text(a, t, v, err);
    return FAIL(err, E_INVALID, "a parameter of type %s cannot be used as %s", type_word(from), type_word(t->kind));
}

Status pg_value_parse(Arena *a, const DataType *t, int32_t oid, int format, Str bytes, Value *ret, Error *err)
{
    if (format == 1)
        return pg_binary_parse(a, t, oid, bytes, ret, err);
    if (!str_is_utf8(bytes) || (bytes.n && memchr(bytes.p, 0, bytes.n))) {
        RAISE(err, E_INVALID, "invalid byte sequence for encoding \"UTF8\" in a parameter");
        snprintf(err->sqlstate, sizeof err->sqlstate, "22021");
        return E_INVALID;
    }
    return pg_text_parse(a, t, bytes, ret, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* hive_type.c - Hive's type texts, as the Glue catalog has them, to Iceberg types and back. */
#include "lake/lake.h"

enum { TYPE_DEPTH_MAX = 64, TYPE_TEXT_MAX = 131072 };

typedef struct TypeScan { Arena *a; Str text; size_t at; int depth; int32_t *next_id; } TypeScan;

static const struct { const char *name; IceTypeKind kind; } names[] = {
    { "boolean", ICE_BOOLEAN }, { "tinyint", ICE_INT }, { "smallint", ICE_INT }, { "int", ICE_INT }, { "integer", ICE_INT }, { "bigint", ICE_LONG },
    { "long", ICE_LONG }, { "float", ICE_FLOAT }, { "real", ICE_FLOAT }, { "double", ICE_DOUBLE }, { "string", ICE_STRING }, { "date", ICE_DATE },
    { "timestamp", ICE_TIMESTAMP }, { "binary", ICE_BINARY }, { "decimal", ICE_DECIMAL }, { "varchar", ICE_STRING }, { "char", ICE_STRING },
};

static void blanks(TypeScan *s)
{
    while (s->at < s->text.n && s->text.p[s->at] == ' ')
        s->at++;
}

static bool take(TypeScan *s, char c)
{
    blanks(s);
    if (s->at >= s->text.n || s->text.p[s->at] != c)
        return false;
    s->at++;
    return true;
}

static Status wrong(const TypeScan *s, Error *err)
{
    return FAIL(err, E_INVALID, "'" STR_FMT "' is not a type: it stops being one at character %zu", STR_ARG(str_sub(s->text, 0, 200)), s->at + 1);
}

/* Up to one of these characters. */
static Str until(TypeScan *s, const char *stops)
{
    size_t from = s->at;
    while (s->at < s->text.n && !strchr(stops, s->text.p[s->at]))
        s->at++;
    return str_trim(str_sub(s->text, from, s->at));
}

static Status number(TypeScan *s, int *ret, Error *err)
{
    int64_t n;
    if (!str_to_i64(until(s, ",)"), &n) || n < 0 || n > 65535)
        return wrong(s, err);
    *ret = (int)n;
    return OK;
}

/* decimal(p,s), varchar(n), char(n) */
static Status arguments(TypeScan *s, IceType *t, Error *err)
{
    int length = 0;

    if (t->kind == ICE_DECIMAL) {
        t->precision = 10;
        if (!take(s, '('))
            return OK;
        TRY(number(s, &t->precision, err));
        if (take(s, ','))
            TRY(number(s, &t->scale, err));
        if (t->precision < 1 || t->precision > 38 || t->scale > t->precision)
            return wrong(s, err);
        return take(s, ')') ? OK : wrong(s, err);
    }
    if (t->kind != ICE_STRING || !take(s, '('))
        return OK;
    TRY(number(s, &length, err));
    return take(s, ')') ? OK : wrong(s, err);
}

static Status parse(TypeScan *s, IceType **ret, Error *err);

static Status nested(TypeScan *s, IceType *t, Str name, Error *err)
{
    IceField f = { .id = (*s->next_id)++, .name = name };

    TRY(parse(s, &f.type, err));
    f.required = t->kind == ICE_MAP && t->fields.n == 0;
    vec_push(s->a, &t->fields, f);
    return OK;
}

static Status structure(TypeScan *s, IceType *t, Error *err)
{
    do {
        blanks(s);
        Str name = until(s, ":<>,()");
        if (!name.n || !take(s, ':'))
            return wrong(s, err);
        TRY(nested(s, t, name, err));
    } while (take(s, ','));
    return OK;
}

static Status container(TypeScan *s, Str word, IceType *t, Error *err)
{
    if (!take(s, '<'))
        return wrong(s, err);
    if (str_ieq(word, S("array"))) {
        t->kind = ICE_LIST;
        TRY(nested(s, t, S("element"), err));
    } else if (str_ieq(word, S("map"))) {
        t->kind = ICE_MAP;
        TRY(nested(s, t, S("key"), err));
        if (!take(s, ','))
            return wrong(s, err);
        TRY(nested(s, t, S("value"), err));
    } else {
        t->kind = ICE_STRUCT;
        TRY(structure(s, t, err));
    }
    return take(s, '>') ? OK : wrong(s, err);
}

static Status parse(TypeScan *s, IceType **ret, Error *err)
{
    IceType *t = arena_new(s->a, IceType);
    Status st;

    blanks(s);
    Str word = until(s, "<>(),: ");
    if (++s->depth > TYPE_DEPTH_MAX)
        return FAIL(err, E_LIMIT, "a type is nested deeper than %d levels", TYPE_DEPTH_MAX);
    *ret = t;
    if (str_ieq(word, S("array")) || str_ieq(word, S("map")) || str_ieq(word, S("struct"))) {
        st = container(s, word, t, err);
        s->depth--;
        return st;
    }
    s->depth--;
    if (str_ieq(word, S("uniontype")))
        return FAIL(err, E_UNSUPPORTED, "union types cannot be read");
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_ieq(word, str_c(names[i].name))) {
            t->kind = names[i].kind;
            return arguments(s, t, err);
        }
    return wrong(s, err);
}

Status hive_type_parse(Arena *a, Str text, int32_t *next_id, IceType **ret, Error *err)
{
    TypeScan s = { .a = a, .text = text, .next_id = next_id };

    if (text.n > TYPE_TEXT_MAX)
        return FAIL(err, E_LIMIT, "a type of %zu characters, limit is %d", text.n, TYPE_TEXT_MAX);
    TRY(parse(&s, ret, err));
    blanks(&s);
    return s.at == text.n ? OK : wrong(&s, err);
}

/* ---- and back --------------------------------------------------------------------------------------------------------- */

static void write_type(StrBuf *b, const IceType *t);

static void write_fields(StrBuf *b, const IceType *t, const char *open, int named)
{
    sb_addc(b, open);
    for (size_t i = 0; i < t->fields.n; i++) {
        sb_addc(b, i ? "," : "");
        if (named)
            sb_fmt(b, STR_FMT ":", STR_ARG(t->fields.p[i].name));
        write_type(b, t->fields.p[i].type);
    }
    sb_byte(b, '>');
}

static void write_type(StrBuf *b, const IceType *t)
{
    switch (t->kind) {
    case ICE_BOOLEAN: sb_addc(b, "boolean"); break;
    case ICE_INT: sb_addc(b, "int"); break;
    case ICE_LONG: sb_addc(b, "bigint"); break;
    case ICE_FLOAT: sb_addc(b, "float"); break;
    case ICE_DOUBLE: sb_addc(b, "double"); break;
    case ICE_DECIMAL: sb_fmt(b, "decimal(%d,%d)", t->precision, t->scale); break;
    case ICE_DATE: sb_addc(b, "date"); break;
    case ICE_TIMESTAMP: case ICE_TIMESTAMPTZ: case ICE_TIMESTAMP_NS: case ICE_TIMESTAMPTZ_NS: sb_addc(b, "timestamp"); break;
    case ICE_FIXED: case ICE_BINARY: case ICE_GEOMETRY: case ICE_GEOGRAPHY: sb_addc(b, "binary"); break;
    case ICE_STRUCT: write_fields(b, t, "struct<", 1); break;
    case ICE_LIST: write_fields(b, t, "array<", 0); break;
    case ICE_MAP: write_fields(b, t, "map<", 0); break;
    case ICE_VARIANT: sb_addc(b, "variant"); break;
    case ICE_TIME: case ICE_STRING: case ICE_UUID: case ICE_UNKNOWN: sb_addc(b, "string"); break;
    }
}

Str hive_type_text(Arena *a, const IceType *t)
{
    StrBuf b = sb_new(a);
    write_type(&b, t);
    return sb_str(&b);
}

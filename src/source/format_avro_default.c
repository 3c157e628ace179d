/* SPDX-License-Identifier: Apache-2.0 */
/* format_avro_default.c - the JSON of an Avro default to the value that it stands for (Avro 1.11, "Complex Types", table of field defaults).
 *
 * A union's default is of the first branch that takes it; bytes are written as the code points 0 to 255 of a string. */
#include "source/format_int.h"

enum { MAX_DEFAULT_VALUES = 100 * 1000 };            /* of one default; also what ends those of recursive types */

typedef struct { Arena *a; size_t values; Error *err; } Builder;

static Status build(Builder *b, const AvroSchema *t, const Json *j, AvroValue *ret);

Status avro_default(Arena *a, const AvroSchema *t, const Json *j, AvroValue *ret, Error *err)
{
    Builder b = { .a = a, .err = err };
    return build(&b, t, j, ret);
}

static Status wrong(Builder *b, const AvroSchema *t, const Json *j)
{
    return FAIL(b->err, E_INVALID, "a value of kind %d for a type of kind %d", (int)j->kind, (int)t->kind);
}

static Status bytes_default(Builder *b, const Json *j, AvroValue *ret)
{
    StrBuf out = sb_new(b->a);

    for (size_t i = 0; i < j->string.n; i++) {
        unsigned char c = (unsigned char)j->string.p[i];
        if (c >= 0x80) {
            if (c > 0xC3 || ++i == j->string.n)
                return FAIL(b->err, E_INVALID, "bytes hold a character above 255");
            c = (unsigned char)(c << 6 | ((unsigned char)j->string.p[i] & 0x3F));
        }
        sb_byte(&out, (char)c);
    }
    ret->bytes = sb_str(&out);
    return OK;
}

static Status fixed_default(Builder *b, const AvroSchema *t, const Json *j, AvroValue *ret)
{
    TRY(bytes_default(b, j, ret));
    return ret->bytes.n == (size_t)t->size ? OK : FAIL(b->err, E_INVALID, "%zu bytes for a fixed of %d", ret->bytes.n, t->size);
}

static Status enum_default(Builder *b, const AvroSchema *t, const Json *j, AvroValue *ret)
{
    for (size_t i = 0; i < t->symbols.n; i++)
        if (str_eq(t->symbols.p[i], j->string)) {
            ret->integer = (int64_t)i;
            return OK;
        }
    return FAIL(b->err, E_INVALID, "'" STR_FMT "' is no symbol of the enum", STR_ARG(str_sub(j->string, 0, 100)));
}

static Status array_default(Builder *b, const AvroSchema *t, const Json *j, AvroValue *ret)
{
    ret->items.n = json_len(j);
    ret->items.p = arena_array(b->a, AvroValue, ret->items.n + 1);
    for (size_t i = 0; i < ret->items.n; i++)
        TRY(build(b, t->element, json_at(j, i), &ret->items.p[i]));
    return OK;
}

static Status map_default(Builder *b, const AvroSchema *t, const Json *j, AvroValue *ret)
{
    ret->map.n = json_len(j);
    ret->map.p = arena_array(b->a, AvroValue, ret->map.n + 1);
    ret->map.keys = arena_array(b->a, Str, ret->map.n + 1);
    for (size_t i = 0; i < ret->map.n; i++) {
        ret->map.keys[i] = j->object.p[i].key;
        TRY(build(b, t->element, j->object.p[i].value, &ret->map.p[i]));
    }
    return OK;
}

static Status record_default(Builder *b, const AvroSchema *t, const Json *j, AvroValue *ret)
{
    ret->items.n = t->fields.n;
    ret->items.p = arena_array(b->a, AvroValue, t->fields.n + 1);
    for (size_t i = 0; i < t->fields.n; i++) {
        const Json *v = json_get_s(j, t->fields.p[i].name);
        if (!v)
            v = t->fields.p[i].fallback;
        if (!v)
            return FAIL(b->err, E_INVALID, "no value for field '" STR_FMT "'", STR_ARG(str_sub(t->fields.p[i].name, 0, 100)));
        TRY(build(b, t->fields.p[i].type, v, &ret->items.p[i]));
    }
    return OK;
}

static Status union_default(Builder *b, const AvroSchema *t, const Json *j, AvroValue *ret)
{
    for (size_t i = 0; i < t->branches.n; i++)
        if (build(b, t->branches.p[i], j, ret) == OK)
            return OK;
    return wrong(b, t, j);
}

static Status number_default(Builder *b, const AvroSchema *t, const Json *j, AvroValue *ret)
{
    bool real = t->kind == AVRO_FLOAT || t->kind == AVRO_DOUBLE;

    if (!real && (j->kind != JSON_INT || j->above_i64 || (t->kind == AVRO_INT && (j->integer < INT32_MIN || j->integer > INT32_MAX))))
        return wrong(b, t, j);
    if (j->kind != JSON_INT && j->kind != JSON_REAL)
        return wrong(b, t, j);
    if (real)
        ret->real = j->kind == JSON_INT ? (double)j->integer : j->real;
    else
        ret->integer = j->integer;
    return OK;
}

static Status build(Builder *b, const AvroSchema *t, const Json *j, AvroValue *ret)
{
    static const JsonKind wanted[] = {
        [AVRO_NULL] = JSON_NULL, [AVRO_BOOL] = JSON_BOOL, [AVRO_BYTES] = JSON_STRING, [AVRO_STRING] = JSON_STRING, [AVRO_FIXED] = JSON_STRING,
        [AVRO_ENUM] = JSON_STRING, [AVRO_ARRAY] = JSON_ARRAY, [AVRO_MAP] = JSON_OBJECT, [AVRO_RECORD] = JSON_OBJECT,
    };

    if (++b->values > MAX_DEFAULT_VALUES)
        return FAIL(b->err, E_LIMIT, "more than %d values", MAX_DEFAULT_VALUES);
    if (t->kind == AVRO_UNION)
        return union_default(b, t, j, ret);
    *ret = (AvroValue){ .kind = t->kind, .schema = t };
    if (t->kind == AVRO_INT || t->kind == AVRO_LONG || t->kind == AVRO_FLOAT || t->kind == AVRO_DOUBLE)
        return number_default(b, t, j, ret);
    if (j->kind != wanted[t->kind])
        return wrong(b, t, j);
    switch (t->kind) {
    case AVRO_BOOL: ret->boolean = j->boolean; return OK;
    case AVRO_STRING: ret->bytes = j->string; return OK;
    case AVRO_BYTES: return bytes_default(b, j, ret);
    case AVRO_FIXED: return fixed_default(b, t, j, ret);
    case AVRO_ENUM: return enum_default(b, t, j, ret);
    case AVRO_ARRAY: return array_default(b, t, j, ret);
    case AVRO_MAP: return map_default(b, t, j, ret);
    case AVRO_RECORD: return record_default(b, t, j, ret);
    default: return OK;
    }
}

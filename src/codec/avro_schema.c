/* SPDX-License-Identifier: Apache-2.0 */
/* avro_schema.c - the JSON text of an Avro schema to a tree (Avro 1.11, "Schema Declaration"), with the ids that
 * Iceberg adds (Iceberg spec, appendix A).
 *
 * Named types are shared: a reference points at the one definition, so a recursive record makes a cycle in the
 * tree and whoever walks values bounds the depth.
 *
 * Invariants: (1) `min_bytes` is a lower bound of the encoded size, computed when a type is complete; a record
 * still open counts 0.  (2) A union holds no union.  (3) Every -1 id means "none". */
#include "codec/codec.h"
#include "codec/codec_int.h"

typedef struct { Arena *a; Map names; int depth; Error *err; } Builder;

static Status build(Builder *b, const Json *j, Str space, AvroSchema **ret);

static const struct { const char *name; AvroKind kind; int min_bytes; } primitives[] = {
    { "null", AVRO_NULL, 0 },   { "boolean", AVRO_BOOL, 1 },  { "int", AVRO_INT, 1 },     { "long", AVRO_LONG, 1 },
    { "float", AVRO_FLOAT, 4 }, { "double", AVRO_DOUBLE, 8 }, { "bytes", AVRO_BYTES, 1 }, { "string", AVRO_STRING, 1 },
};

const char *avro_kind_name(AvroKind kind)
{
    static const char *const names[] = { "null", "boolean", "int", "long", "float", "double", "bytes", "string",
                                         "fixed", "enum", "array", "map", "record", "union" };
    return names[kind];
}

Status avro_schema_parse(Arena *a, Str json, AvroSchema **ret, Error *err)
{
    return avro_schema_parse_with(a, &(StrVec){0}, json, ret, err);
}

Status avro_schema_parse_with(Arena *a, const StrVec *others, Str json, AvroSchema **ret, Error *err)
{
    Builder b = { .a = a, .names = map_new(a), .err = err };
    Json *j;

    for vec_each(Str, text, others) {
        TRY_CTX(json_parse(a, *text, &j, err), err, "Avro schema that is referred to");
        TRY(build(&b, j, S(""), ret));
    }
    TRY_CTX(json_parse(a, json, &j, err), err, "Avro schema");
    return build(&b, j, S(""), ret);
}

static AvroSchema *schema_new(Builder *b, AvroKind kind, int min_bytes)
{
    AvroSchema *s = arena_new(b->a, AvroSchema);
    s->kind = kind;
    s->min_bytes = min_bytes;
    s->element_id = s->key_id = s->value_id = -1;
    return s;
}

static Status bad(Builder *b, const char *what, Str where)
{
    return FAIL(b->err, E_INVALID, "Avro schema: %s '" STR_FMT "'", what, STR_ARG(str_sub(where, 0, 200)));
}

static Status need_int(Builder *b, const Json *j, const char *key, int64_t low, int64_t high, int64_t fallback, int32_t *ret)
{
    const Json *v = json_get(j, key);
    int64_t n = v && v->kind == JSON_INT ? v->integer : fallback;

    if ((v && v->kind != JSON_INT) || n < low || n > high)
        return FAIL(b->err, E_INVALID, "Avro schema: '%s' is missing or out of range", key);
    *ret = (int32_t)n;
    return OK;
}

/* "a.b.C" stays; "C" becomes "space.C". */
static Str full_name(Builder *b, Str name, Str space)
{
    if (str_chr(name, '.') >= 0 || !space.n)
        return name;
    return str_fmt(b->a, STR_FMT "." STR_FMT, STR_ARG(space), STR_ARG(name));
}

static Str space_of(Str full)
{
    ptrdiff_t dot = str_rchr(full, '.');
    return dot < 0 ? S("") : str_sub(full, 0, (size_t)dot);
}

static Status by_name(Builder *b, Str name, Str space, AvroSchema **ret)
{
    for (size_t i = 0; i < COUNT_OF(primitives); i++)
        if (str_eq(name, str_c(primitives[i].name))) {
            *ret = schema_new(b, primitives[i].kind, primitives[i].min_bytes);
            return OK;
        }
    *ret = map_get(&b->names, full_name(b, name, space));
    if (!*ret)
        *ret = map_get(&b->names, name);
    return *ret ? OK : bad(b, "unknown type", name);
}

/* The strings of an array; whatever else stands there is not ours. */
static StrVec strings_of(Builder *b, const Json *array)
{
    StrVec v = {0};
    for (size_t i = 0; json_is(array, JSON_ARRAY) && i < json_len(array); i++)
        if (json_is(json_at(array, i), JSON_STRING))
            vec_push(b->a, &v, json_at(array, i)->string);
    return v;
}

/* Gives the type its name and makes it known. `space` becomes the namespace of what is inside. */
static Status declare(Builder *b, const Json *j, AvroSchema *s, Str *space)
{
    Str name, own = json_get_str(j, "namespace", *space);

    TRY_CTX(json_need_str(j, "name", &name, b->err), b->err, "Avro schema");
    Str full = full_name(b, name, own);
    if (map_has(&b->names, full))
        return bad(b, "type defined twice:", full);
    map_put(&b->names, full, s);
    s->name = full;
    s->aliases = strings_of(b, json_get(j, "aliases"));
    *space = space_of(full);
    return OK;
}

static Status build_field(Builder *b, const Json *j, Str space, AvroSchema *record)
{
    AvroField f = { .id = -1, .fallback = json_get(j, "default"), .aliases = strings_of(b, json_get(j, "aliases")) };

    TRY_CTX(json_need_str(j, "name", &f.name, b->err), b->err, "Avro schema, field of '" STR_FMT "'", STR_ARG(record->name));
    TRY(need_int(b, j, "field-id", INT32_MIN, INT32_MAX, -1, &f.id));
    if (!json_get(j, "type"))
        return bad(b, "no type for field", f.name);
    TRY(build(b, json_get(j, "type"), space, &f.type));
    for vec_each(AvroField, other, &record->fields)
        if (str_eq(other->name, f.name) || (f.id >= 0 && other->id == f.id))
            return bad(b, "name or id used twice by field", f.name);
    vec_push(b->a, &record->fields, f);
    return OK;
}

static Status build_record(Builder *b, const Json *j, Str space, AvroSchema **ret)
{
    AvroSchema *s = schema_new(b, AVRO_RECORD, 0);
    Json *fields;
    int64_t least = 0;

    TRY(declare(b, j, s, &space));
    TRY_CTX(json_need(j, "fields", JSON_ARRAY, &fields, b->err), b->err, "Avro schema, record '" STR_FMT "'", STR_ARG(s->name));
    if (json_len(fields) > AVRO_MAX_FIELDS)
        return FAIL(b->err, E_LIMIT, "Avro schema: %zu fields, limit is %d", json_len(fields), AVRO_MAX_FIELDS);
    for (size_t i = 0; i < json_len(fields); i++)
        TRY(build_field(b, json_at(fields, i), space, s));
    for vec_each(AvroField, f, &s->fields)
        least += f->type->min_bytes;
    s->min_bytes = (int32_t)min_i64(least, INT32_MAX);                          /* (1) */
    *ret = s;
    return OK;
}

static Status build_enum(Builder *b, const Json *j, Str space, AvroSchema **ret)
{
    AvroSchema *s = schema_new(b, AVRO_ENUM, 1);
    Json *symbols;

    TRY(declare(b, j, s, &space));
    TRY_CTX(json_need(j, "symbols", JSON_ARRAY, &symbols, b->err), b->err, "Avro schema, enum '" STR_FMT "'", STR_ARG(s->name));
    for (size_t i = 0; i < json_len(symbols); i++) {
        if (!json_is(json_at(symbols, i), JSON_STRING))
            return bad(b, "a symbol that is no string in", s->name);
        vec_push(b->a, &s->symbols, json_at(symbols, i)->string);
    }
    s->symbol_default = json_get_str(j, "default", S(""));
    *ret = s;
    return OK;
}

static Status build_fixed(Builder *b, const Json *j, Str space, AvroSchema **ret)
{
    AvroSchema *s = schema_new(b, AVRO_FIXED, 0);

    TRY(declare(b, j, s, &space));
    TRY(need_int(b, j, "size", 0, AVRO_MAX_FIXED, -1, &s->size));
    s->min_bytes = s->size;
    *ret = s;
    return OK;
}

static Status build_array(Builder *b, const Json *j, Str space, AvroSchema **ret)
{
    AvroSchema *s = schema_new(b, AVRO_ARRAY, 1);

    TRY(need_int(b, j, "element-id", INT32_MIN, INT32_MAX, -1, &s->element_id));
    if (!json_get(j, "items"))
        return bad(b, "no 'items' in", S("array"));
    TRY(build(b, json_get(j, "items"), space, &s->element));
    *ret = s;
    return OK;
}

static Status build_map(Builder *b, const Json *j, Str space, AvroSchema **ret)
{
    AvroSchema *s = schema_new(b, AVRO_MAP, 1);

    TRY(need_int(b, j, "key-id", INT32_MIN, INT32_MAX, -1, &s->key_id));
    TRY(need_int(b, j, "value-id", INT32_MIN, INT32_MAX, -1, &s->value_id));
    if (!json_get(j, "values"))
        return bad(b, "no 'values' in", S("map"));
    TRY(build(b, json_get(j, "values"), space, &s->element));
    *ret = s;
    return OK;
}

static Status build_union(Builder *b, const Json *j, Str space, AvroSchema **ret)
{
    AvroSchema *s = schema_new(b, AVRO_UNION, 1), *branch;

    if (!json_len(j) || json_len(j) > AVRO_MAX_FIELDS)
        return bad(b, "no or too many branches in", S("union"));
    for (size_t i = 0; i < json_len(j); i++) {
        TRY(build(b, json_at(j, i), space, &branch));
        if (branch->kind == AVRO_UNION)
            return bad(b, "a union within", S("union"));                        /* (2) */
        vec_push(b->a, &s->branches, branch);
    }
    *ret = s;
    return OK;
}

/* {"type": …}: the type is a word, or again a schema with attributes around it. */
static Status build_object(Builder *b, const Json *j, Str space, AvroSchema **ret)
{
    const Json *type = json_get(j, "type");
    Str word = json_get_str(j, "type", S(""));

    if (!type)
        return bad(b, "no 'type' in", S("object"));
    if (str_eq(word, S("record")) || str_eq(word, S("error")))
        return build_record(b, j, space, ret);
    if (str_eq(word, S("enum")))
        return build_enum(b, j, space, ret);
    if (str_eq(word, S("fixed")))
        return build_fixed(b, j, space, ret);
    if (str_eq(word, S("array")))
        return build_array(b, j, space, ret);
    if (str_eq(word, S("map")))
        return build_map(b, j, space, ret);
    return build(b, type, space, ret);
}

/* Attributes of a type that is not shared by name: a reference must not change its definition. */
static Status annotate(Builder *b, const Json *j, AvroSchema *s)
{
    Str logical = json_get_str(j, "logicalType", S(""));

    if (s->name.n && !json_get(j, "name"))
        return OK;
    s->connect = json_get_str(j, "connect.name", S(""));
    if (!logical.n)
        return OK;
    s->logical = logical;
    s->adjust_to_utc = json_get_bool(j, "adjust-to-utc", false);
    if (!str_eq(logical, S("decimal")))
        return OK;
    TRY(need_int(b, j, "precision", 1, AVRO_MAX_PRECISION, -1, &s->precision));
    return need_int(b, j, "scale", 0, s->precision, 0, &s->scale);
}

static Status build(Builder *b, const Json *j, Str space, AvroSchema **ret)
{
    if (++b->depth > AVRO_MAX_DEPTH)
        return FAIL(b->err, E_LIMIT, "Avro schema nested deeper than %d", AVRO_MAX_DEPTH);
    switch (j->kind) {
    case JSON_STRING: TRY(by_name(b, j->string, space, ret)); break;
    case JSON_ARRAY: TRY(build_union(b, j, space, ret)); break;
    case JSON_OBJECT:
        TRY(build_object(b, j, space, ret));
        TRY(annotate(b, j, *ret));
        break;
    default: return bad(b, "a type must be a string, an array or an object", S(""));
    }
    b->depth--;
    return OK;
}

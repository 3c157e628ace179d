/* SPDX-License-Identifier: Apache-2.0 */
/* type.c - types and their JSON (Iceberg spec, Appendix C "Data types").
 *
 * One table names the primitive types and the format version that brought each. A list is a type with one field
 * (element), a map one with two (key, value): so walks over nested fields need no cases. */
#include "iceberg/iceberg_int.h"

#include <stdio.h>

static const struct { const char *name; IceTypeKind kind; int since; } PRIMITIVES[] = {
    { "boolean", ICE_BOOLEAN, 1 },           { "int", ICE_INT, 1 },
    { "long", ICE_LONG, 1 },                 { "float", ICE_FLOAT, 1 },
    { "double", ICE_DOUBLE, 1 },             { "decimal", ICE_DECIMAL, 1 },
    { "date", ICE_DATE, 1 },                 { "time", ICE_TIME, 1 },
    { "timestamp", ICE_TIMESTAMP, 1 },       { "timestamptz", ICE_TIMESTAMPTZ, 1 },
    { "timestamp_ns", ICE_TIMESTAMP_NS, 3 }, { "timestamptz_ns", ICE_TIMESTAMPTZ_NS, 3 },
    { "string", ICE_STRING, 1 },             { "uuid", ICE_UUID, 1 },
    { "fixed", ICE_FIXED, 1 },               { "binary", ICE_BINARY, 1 },
    { "unknown", ICE_UNKNOWN, 3 },           { "variant", ICE_VARIANT, 3 },
    { "geometry", ICE_GEOMETRY, 3 },         { "geography", ICE_GEOGRAPHY, 3 },
};

IceType *ice_type_new(Arena *a, IceTypeKind kind)
{
    IceType *t = arena_new(a, IceType);
    t->kind = kind;
    return t;
}

bool ice_is_nested(const IceType *t) { return t->kind >= ICE_STRUCT; }

/* ---- parsing -------------------------------------------------------------------------------------------- */

/* "decimal(9, 2)": the two numbers inside. */
static bool two_numbers(Str s, int *x, int *y)
{
    Str left, right;
    int64_t p, q;

    if (!str_cut(s, ',', &left, &right) || !str_to_i64(str_trim(left), &p) || !str_to_i64(str_trim(right), &q))
        return false;
    if (p < 1 || p > 38 || q < 0 || q > p)
        return false;
    *x = (int)p;
    *y = (int)q;
    return true;
}

static Status parameters(IceType *t, Str text, Str inside, Error *err)
{
    int64_t length;

    switch (t->kind) {
    case ICE_DECIMAL:
        if (!two_numbers(inside, &t->precision, &t->scale))
            return FAIL(err, E_INVALID, "Invalid decimal type '" STR_FMT "'", STR_ARG(text));
        return OK;
    case ICE_FIXED:
        if (!str_to_i64(inside, &length) || length < 1 || length > INT32_MAX)
            return FAIL(err, E_INVALID, "Invalid fixed type '" STR_FMT "'", STR_ARG(text));
        t->length = (int)length;
        return OK;
    case ICE_GEOMETRY:
    case ICE_GEOGRAPHY:
        t->text = text;
        return OK;
    default:
        if (inside.n)
            return FAIL(err, E_INVALID, "Cannot parse type string to primitive: " STR_FMT, STR_ARG(text));
        return OK;
    }
}

static Status primitive(Arena *a, Str text, IceType **ret, Error *err)
{
    size_t n = 0;

    while (n < text.n && text.p[n] != '(' && text.p[n] != '[')
        n++;
    Str name = str_trim(str_sub(text, 0, n));
    Str inside = n + 1 < text.n ? str_trim(str_sub(text, n + 1, text.n - 1)) : S("");
    for (size_t i = 0; i < COUNT_OF(PRIMITIVES); i++) {
        if (!str_ieq(name, str_c(PRIMITIVES[i].name)))
            continue;
        IceType *t = ice_type_new(a, PRIMITIVES[i].kind);
        TRY(parameters(t, text, inside, err));
        *ret = t;
        return OK;
    }
    return FAIL(err, E_INVALID, "Cannot parse type string to primitive: " STR_FMT, STR_ARG(text));
}

static Status type_at(Arena *a, const Json *j, int depth, IceType **ret, Error *err);

static Status child(Arena *a, const Json *j, const char *name, int depth, IceType *t, Error *err)
{
    char id[32], required[32];
    const Json *type = json_get(j, name);
    IceField f = { .name = str_c(name) };

    snprintf(id, sizeof id, "%s-id", name);
    snprintf(required, sizeof required, "%s-required", name);
    TRY(ice_need_i32(j, id, &f.id, err));
    f.required = !strcmp(name, "key") || json_get_bool(j, required, false);
    if (!type)
        return FAIL(err, E_INVALID, "missing field '%s'", name);
    TRY(type_at(a, type, depth + 1, &f.type, err));
    vec_push(a, &t->fields, f);
    return OK;
}

static Status nested(Arena *a, const Json *j, int depth, IceType **ret, Error *err)
{
    Str kind;

    TRY(json_need_str(j, "type", &kind, err));
    IceType *t = ice_type_new(a, ICE_STRUCT);
    if (str_eq(kind, S("struct"))) {
        TRY(ice_field_parse_all(a, j, depth, &t->fields, err));
    } else if (str_eq(kind, S("list"))) {
        t->kind = ICE_LIST;
        TRY(child(a, j, "element", depth, t, err));
    } else if (str_eq(kind, S("map"))) {
        t->kind = ICE_MAP;
        TRY(child(a, j, "key", depth, t, err));
        TRY(child(a, j, "value", depth, t, err));
    } else {
        return FAIL(err, E_INVALID, "unknown type '" STR_FMT "'", STR_ARG(kind));
    }
    *ret = t;
    return OK;
}

static Status type_at(Arena *a, const Json *j, int depth, IceType **ret, Error *err)
{
    if (depth > LIMIT_TYPE_DEPTH)
        return FAIL(err, E_LIMIT, "types are nested deeper than %d", LIMIT_TYPE_DEPTH);
    if (json_is(j, JSON_STRING))
        return primitive(a, j->string, ret, err);
    if (json_is(j, JSON_OBJECT))
        return nested(a, j, depth, ret, err);
    return FAIL(err, E_INVALID, "a type must be a string or an object");
}

Status ice_type_parse(Arena *a, const Json *j, IceType **ret, Error *err)
{
    return type_at(a, j, 0, ret, err);
}

static Status field(Arena *a, const Json *j, int depth, IceField *f, Error *err)
{
    const Json *type = json_get(j, "type"), *doc = json_get(j, "doc");

    if (!json_is(j, JSON_OBJECT))
        return FAIL(err, E_INVALID, "a field must be an object");
    TRY(json_need_str(j, "name", &f->name, err));
    TRY_CTX(ice_need_i32(j, "id", &f->id, err), err, "field '" STR_FMT "'", STR_ARG(f->name));
    f->required = json_get_bool(j, "required", false);
    f->has_doc = json_is(doc, JSON_STRING);
    f->doc = json_get_str(j, "doc", S(""));
    f->initial_default = json_is(json_get(j, "initial-default"), JSON_NULL) ? NULL : json_get(j, "initial-default");
    f->write_default = json_is(json_get(j, "write-default"), JSON_NULL) ? NULL : json_get(j, "write-default");
    if (!type)
        return FAIL(err, E_INVALID, "field '" STR_FMT "' has no type", STR_ARG(f->name));
    TRY_CTX(type_at(a, type, depth + 1, &f->type, err), err, "field '" STR_FMT "'", STR_ARG(f->name));
    return OK;
}

Status ice_field_parse_all(Arena *a, const Json *j, int depth, IceFields *ret, Error *err)
{
    Json *list;
    Map names = map_new(a);

    TRY(json_need(j, "fields", JSON_ARRAY, &list, err));
    for (size_t i = 0; i < list->array.n; i++) {
        IceField f = { 0 };
        TRY(field(a, list->array.p[i], depth, &f, err));
        if (map_has(&names, f.name))
            return FAIL(err, E_INVALID, "Invalid schema: multiple fields for name " STR_FMT, STR_ARG(f.name));
        map_put(&names, f.name, (void *)1);
        vec_push(a, ret, f);
    }
    return OK;
}

/* ---- writing -------------------------------------------------------------------------------------------- */

static const char *primitive_name(IceTypeKind kind)
{
    for (size_t i = 0; i < COUNT_OF(PRIMITIVES); i++)
        if (PRIMITIVES[i].kind == kind)
            return PRIMITIVES[i].name;
    return kind == ICE_STRUCT ? "struct" : kind == ICE_LIST ? "list" : "map";
}

Str ice_type_text(Arena *a, const IceType *t)
{
    switch (t->kind) {
    case ICE_DECIMAL: return str_fmt(a, "decimal(%d, %d)", t->precision, t->scale);
    case ICE_FIXED: return str_fmt(a, "fixed[%d]", t->length);
    case ICE_GEOMETRY:
    case ICE_GEOGRAPHY: return t->text.n ? t->text : str_c(primitive_name(t->kind));
    default: return str_c(primitive_name(t->kind));
    }
}

static Json *field_json(Arena *a, const IceField *f)
{
    Json *o = json_object(a);

    json_set(a, o, "id", json_int(a, f->id));
    json_set(a, o, "name", json_str(a, f->name));
    json_set(a, o, "required", json_bool(a, f->required));
    json_set(a, o, "type", ice_type_json(a, f->type));
    if (f->has_doc)
        json_set(a, o, "doc", json_str(a, f->doc));
    if (f->initial_default)
        json_set(a, o, "initial-default", f->initial_default);
    if (f->write_default)
        json_set(a, o, "write-default", f->write_default);
    return o;
}

static Json *struct_json(Arena *a, const IceFields *fields)
{
    Json *o = json_object(a), *list = json_array(a);

    json_set(a, o, "type", json_str(a, S("struct")));
    for vec_each(const IceField, f, fields)
        json_push(a, list, field_json(a, f));
    json_set(a, o, "fields", list);
    return o;
}

static void child_json(Arena *a, Json *o, const IceField *f, const char *name)
{
    json_set_s(a, o, str_fmt(a, "%s-id", name), json_int(a, f->id));
    json_set(a, o, name, ice_type_json(a, f->type));
    if (strcmp(name, "key"))
        json_set_s(a, o, str_fmt(a, "%s-required", name), json_bool(a, f->required));
}

Json *ice_type_json(Arena *a, const IceType *t)
{
    if (t->kind == ICE_STRUCT)
        return struct_json(a, &t->fields);
    if (!ice_is_nested(t))
        return json_str(a, ice_type_text(a, t));
    Json *o = json_object(a);
    json_set(a, o, "type", json_str(a, str_c(primitive_name(t->kind))));
    if (t->kind == ICE_LIST) {
        child_json(a, o, &t->fields.p[0], "element");
    } else {
        child_json(a, o, &t->fields.p[0], "key");
        child_json(a, o, &t->fields.p[1], "value");
    }
    return o;
}

/* ---- comparing ------------------------------------------------------------------------------------------- */

static bool field_equal(const IceField *x, const IceField *y)
{
    return x->id == y->id && x->required == y->required && str_eq(x->name, y->name) && str_eq(x->doc, y->doc)
        && ice_type_equal(x->type, y->type) && ice_json_same(x->initial_default, y->initial_default)
        && ice_json_same(x->write_default, y->write_default);
}

bool ice_fields_equal(const IceFields *x, const IceFields *y)
{
    if (x->n != y->n)
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (!field_equal(&x->p[i], &y->p[i]))
            return false;
    return true;
}

bool ice_type_equal(const IceType *x, const IceType *y)
{
    return x->kind == y->kind && x->precision == y->precision && x->scale == y->scale && x->length == y->length
        && str_eq(x->text, y->text) && ice_fields_equal(&x->fields, &y->fields);
}

bool ice_type_promotes(const IceType *from, const IceType *to, int format_version)
{
    if (ice_type_equal(from, to))
        return true;
    switch (from->kind) {
    case ICE_INT: return to->kind == ICE_LONG;
    case ICE_FLOAT: return to->kind == ICE_DOUBLE;
    case ICE_DECIMAL: return to->kind == ICE_DECIMAL && from->scale == to->scale && from->precision <= to->precision;
    case ICE_DATE: return format_version >= 3 && (to->kind == ICE_TIMESTAMP || to->kind == ICE_TIMESTAMP_NS);
    case ICE_UNKNOWN: return format_version >= 3;
    default: return false;
    }
}

int ice_type_since(const IceType *t)
{
    for (size_t i = 0; i < COUNT_OF(PRIMITIVES); i++)
        if (PRIMITIVES[i].kind == t->kind)
            return PRIMITIVES[i].since;
    return 1;
}

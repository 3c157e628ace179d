/* SPDX-License-Identifier: Apache-2.0 */
/* name_mapping.c - columns of files without ids, by name (Iceberg spec "Name Mapping Serialization").
 *
 * A name with a dot is one name; a mapping may have no id (its children may) and no names at all. */
#include "iceberg/iceberg_int.h"

static Status parse_list(Arena *a, const Json *j, int depth, IceNameMapping *ret, Error *err);

static Status parse_one(Arena *a, const Json *j, int depth, IceMappedField *f, Error *err)
{
    const Json *names = json_get(j, "names"), *fields = json_get(j, "fields");
    IceNameMapping children = { 0 };

    if (!json_is(j, JSON_OBJECT))
        return FAIL(err, E_INVALID, "name mapping: a field must be an object");
    f->id = ice_opt_i32(j, "field-id");
    for (size_t i = 0; i < json_len(names); i++) {
        if (!json_is(json_at(names, i), JSON_STRING))
            return FAIL(err, E_INVALID, "name mapping: names must be strings");
        vec_push(a, &f->names, json_at(names, i)->string);
    }
    if (fields)
        TRY(parse_list(a, fields, depth + 1, &children, err));
    f->fields.p = children.p;
    f->fields.n = children.n;
    f->fields.cap = children.cap;
    return OK;
}

static Status parse_list(Arena *a, const Json *j, int depth, IceNameMapping *ret, Error *err)
{
    if (depth > LIMIT_TYPE_DEPTH)
        return FAIL(err, E_LIMIT, "name mapping is nested deeper than %d", LIMIT_TYPE_DEPTH);
    if (!json_is(j, JSON_ARRAY))
        return FAIL(err, E_INVALID, "name mapping: must be a list of fields");
    for (size_t i = 0; i < j->array.n; i++) {
        IceMappedField f = { 0 };
        TRY(parse_one(a, j->array.p[i], depth, &f, err));
        vec_push(a, ret, f);
    }
    return OK;
}

Status ice_name_mapping_parse(Arena *a, Str json, IceNameMapping *ret, Error *err)
{
    IceNameMapping m = { 0 };
    Json *j = NULL;

    TRY_CTX(json_parse(a, json, &j, err), err, "name mapping");
    TRY(parse_list(a, j, 0, &m, err));
    *ret = m;
    return OK;
}

static Json *mapping_json(Arena *a, const IceFields *fields)
{
    Json *list = json_array(a);

    for vec_each(const IceField, f, fields) {
        Json *o = json_object(a), *names = json_array(a);
        json_set(a, o, "field-id", json_int(a, f->id));
        json_push(a, names, json_str(a, f->name));
        json_set(a, o, "names", names);
        if (ice_is_nested(f->type))
            json_set(a, o, "fields", mapping_json(a, &f->type->fields));
        json_push(a, list, o);
    }
    return list;
}

Str ice_name_mapping_of(Arena *a, const IceSchema *s) { return json_text(a, mapping_json(a, &s->fields)); }

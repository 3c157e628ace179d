/* SPDX-License-Identifier: Apache-2.0 */
/* s3t_schema.c - the metadata of CreateTable as Iceberg's own structures.
 *
 * S3 Tables writes schema, partition spec and sort order nearly as table metadata does; what differs is put right and the table format's parsers decide. */
#include "door/s3tables/s3t_schema.h"

static Status objects(const Json *list, const char *what, Error *err)
{
    if (list && !json_is(list, JSON_ARRAY))
        return FAIL(err, E_INVALID, "%s must be a list", what);
    for (size_t i = 0; i < json_len(list); i++)
        if (!json_is(json_at(list, i), JSON_OBJECT))
            return FAIL(err, E_INVALID, "%s must hold structures", what);
    return OK;
}

/* A field without an id gets the next that none has. */
static int64_t highest_id(const Json *fields)
{
    int64_t n = 0;
    for (size_t i = 0; i < json_len(fields); i++)
        n = max_i64(n, json_get_int(json_at(fields, i), "id", 0));
    return n;
}

static Json *schema_v1(Arena *a, const Json *schema)
{
    const Json *fields = json_get(schema, "fields");
    Json *s = json_object(a), *list = json_array(a);
    int64_t next = highest_id(fields);

    for (size_t i = 0; i < json_len(fields); i++) {
        const Json *f = json_at(fields, i);
        Json *o = json_object(a);
        json_set(a, o, "id", json_int(a, json_get(f, "id") ? json_get_int(f, "id", 0) : ++next));
        json_set(a, o, "name", json_str(a, json_get_str(f, "name", (Str){0})));
        json_set(a, o, "required", json_bool(a, json_get_bool(f, "required", false)));
        json_set(a, o, "type", json_str(a, json_get_str(f, "type", (Str){0})));
        json_push(a, list, o);
    }
    json_set(a, s, "type", json_str(a, S("struct")));
    json_set(a, s, "schema-id", json_int(a, 0));
    json_set(a, s, "fields", list);
    return s;
}

static Status schema_of(Arena *a, const Json *iceberg, IceSchema **ret, Error *err)
{
    const Json *v1 = json_get(iceberg, "schema"), *v2 = json_get(iceberg, "schemaV2");
    Json *s;

    if (v1 && v2)
        return FAIL(err, E_INVALID, "The table metadata holds both schema and schemaV2.");
    if (!v1 && !v2)
        return FAIL(err, E_INVALID, "The table metadata holds no schema.");
    TRY(objects(json_get(v1 ? v1 : v2, "fields"), "fields", err));
    s = v1 ? schema_v1(a, v1) : json_copy(a, v2);
    if (!json_is(s, JSON_OBJECT))
        return FAIL(err, E_INVALID, "schemaV2 must be a structure");
    if (!json_get(s, "schema-id"))
        json_set(a, s, "schema-id", json_int(a, 0));
    return ice_schema_parse(a, s, ret, err);
}

static Status spec_of(Arena *a, const Json *given, IceSpec **ret, Error *err)
{
    Json *spec = json_copy(a, given), *fields = json_get(spec, "fields");

    if (!json_is(spec, JSON_OBJECT))
        return FAIL(err, E_INVALID, "it must be a structure");
    TRY(objects(fields, "fields", err));
    if (!json_get(spec, "spec-id"))
        json_set(a, spec, "spec-id", json_int(a, 0));
    for (size_t i = 0; i < json_len(fields); i++)
        if (!json_get(json_at(fields, i), "field-id"))
            json_set(a, json_at(fields, i), "field-id", json_int(a, 1000 + (int64_t)i));
    return ice_spec_parse(a, spec, ret, err);
}

Status s3t_schema(Arena *a, const Json *iceberg, SvcNewTable *ret, Error *err)
{
    const Json *spec = json_get(iceberg, "partitionSpec"), *order = json_get(iceberg, "writeOrder"), *props = json_get(iceberg, "properties");

    TRY_CTX(schema_of(a, iceberg, &ret->schema, err), err, "schema");
    if (spec)
        TRY_CTX(spec_of(a, spec, &ret->spec, err), err, "partitionSpec");
    if (order)
        TRY_CTX(ice_order_parse(a, order, &ret->order, err), err, "writeOrder");
    for (size_t i = 0; json_is(props, JSON_OBJECT) && i < json_len(props); i++) {
        if (!json_is(props->object.p[i].value, JSON_STRING))
            return FAIL(err, E_INVALID, "properties must be strings");
        props_set(a, &ret->properties, props->object.p[i].key, props->object.p[i].value->string);
    }
    return OK;
}

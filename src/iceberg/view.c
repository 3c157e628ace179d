/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - view metadata: JSON and lookups (Iceberg view spec, and the `storage-table` of the materialized view proposal). */
#include "iceberg/view_int.h"

static const char *const VIEW_MEMBERS[] = {
    "view-uuid", "format-version", "location", "schemas", "current-version-id", "versions", "version-log", "properties", NULL
};
static const char *const VERSION_MEMBERS[] = {
    "version-id", "schema-id", "timestamp-ms", "summary", "representations", "default-catalog", "default-namespace",
    "storage-table", NULL
};

/* ---- parsing ---------------------------------------------------------------------------------------------------- */

static Status representations(Arena *a, const Json *j, IceViewVersion *v, Error *err)
{
    Json *list;

    TRY(json_need(j, "representations", JSON_ARRAY, &list, err));
    for (size_t i = 0; i < list->array.n; i++) {
        IceViewRepr r;
        Str type;
        TRY(json_need_str(list->array.p[i], "type", &type, err));
        if (!str_ieq(type, S("sql")))
            return FAIL(err, E_UNSUPPORTED, "view representation of type '" STR_FMT "'", STR_ARG(type));
        TRY(json_need_str(list->array.p[i], "sql", &r.sql, err));
        TRY(json_need_str(list->array.p[i], "dialect", &r.dialect, err));
        vec_push(a, &v->reprs, r);
    }
    return OK;
}

static Status namespace_of(Arena *a, const Json *j, IceViewVersion *v, Error *err)
{
    Json *list;

    TRY(json_need(j, "default-namespace", JSON_ARRAY, &list, err));
    for (size_t i = 0; i < list->array.n; i++) {
        if (!json_is(list->array.p[i], JSON_STRING))
            return FAIL(err, E_INVALID, "field 'default-namespace' must be a list of strings");
        vec_push(a, &v->default_namespace, list->array.p[i]->string);
    }
    return OK;
}

Status ice_view_version_parse(Arena *a, const Json *j, IceViewVersion **ret, Error *err)
{
    IceViewVersion *v = arena_new(a, IceViewVersion);
    const Json *storage = json_get(j, "storage-table");

    TRY_CTX(ice_need_i32(j, "version-id", &v->id, err), err, "view version");
    TRY_CTX(ice_need_i32(j, "schema-id", &v->schema_id, err), err, "view version %d", (int)v->id);
    TRY_CTX(json_need_int(j, "timestamp-ms", &v->timestamp_ms, err), err, "view version %d", (int)v->id);
    TRY(ice_props_parse(a, json_get(j, "summary"), "summary", &v->summary, err));
    TRY_CTX(representations(a, j, v, err), err, "view version %d", (int)v->id);
    TRY_CTX(namespace_of(a, j, v, err), err, "view version %d", (int)v->id);
    v->default_catalog = json_get_str(j, "default-catalog", S(""));
    v->storage_table = json_is(storage, JSON_OBJECT) ? json_get(j, "storage-table") : NULL;
    v->extra = ice_unknown_members(a, j, VERSION_MEMBERS);
    *ret = v;
    return OK;
}

static Status lists(Arena *a, const Json *j, IceView *v, Error *err)
{
    Json *schemas, *versions;
    const Json *log = json_get(j, "version-log");

    TRY(json_need(j, "schemas", JSON_ARRAY, &schemas, err));
    TRY(json_need(j, "versions", JSON_ARRAY, &versions, err));
    for (size_t i = 0; i < schemas->array.n; i++) {
        IceSchema *s;
        TRY(ice_schema_parse(a, schemas->array.p[i], &s, err));
        vec_push(a, &v->schemas, s);
    }
    for (size_t i = 0; i < versions->array.n; i++) {
        IceViewVersion *x;
        TRY(ice_view_version_parse(a, versions->array.p[i], &x, err));
        vec_push(a, &v->versions, x);
    }
    for (size_t i = 0; i < json_len(log); i++) {
        IceLogEntry e = { .file = S("") };
        TRY_CTX(json_need_int(json_at(log, i), "timestamp-ms", &e.timestamp_ms, err), err, "version-log");
        TRY_CTX(json_need_int(json_at(log, i), "version-id", &e.snapshot_id, err), err, "version-log");
        vec_push(a, &v->version_log, e);
    }
    return OK;
}

Status ice_view_parse(Arena *a, Str bytes, IceView **ret, Error *err)
{
    IceView *v = arena_new(a, IceView);
    Json *j = NULL;

    TRY(ice_json_load(a, bytes, &j, err));
    TRY(json_need_str(j, "view-uuid", &v->uuid, err));
    TRY(ice_need_i32(j, "format-version", &v->format_version, err));
    if (v->format_version != VIEW_FORMAT_VERSION)
        return FAIL(err, E_UNSUPPORTED, "Unsupported format version: %d", (int)v->format_version);
    TRY(json_need_str(j, "location", &v->location, err));
    TRY(ice_need_i32(j, "current-version-id", &v->current_version_id, err));
    TRY(lists(a, j, v, err));
    TRY(ice_props_parse(a, json_get(j, "properties"), "properties", &v->properties, err));
    if (!ice_view_version(v, v->current_version_id))
        return FAIL(err, E_INVALID, "Cannot find current version %d in view versions", (int)v->current_version_id);
    v->extra = ice_unknown_members(a, j, VIEW_MEMBERS);
    *ret = v;
    return OK;
}

Status ice_view_read(Arena *a, Store *st, Str location, IceView **ret, Error *err)
{
    Str bytes;
    Status s = store_read(st, a, location, LIMIT_JSON_BYTES, &bytes, err);

    if (s == E_NOT_FOUND)
        return FAIL(err, E_NOT_FOUND, "Failed to open input stream for file: " STR_FMT, STR_ARG(location));
    TRY_CTX(s, err, "reading view metadata");
    TRY_CTX(ice_view_parse(a, bytes, ret, err), err, "view metadata '" STR_FMT "'", STR_ARG(location));
    return OK;
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static Json *version_json(Arena *a, const IceViewVersion *v)
{
    Json *o = json_object(a), *reprs = json_array(a), *names = json_array(a);

    for vec_each(const IceViewRepr, r, &v->reprs) {
        Json *j = json_object(a);
        json_set(a, j, "type", json_str(a, S("sql")));
        json_set(a, j, "sql", json_str(a, r->sql));
        json_set(a, j, "dialect", json_str(a, r->dialect));
        json_push(a, reprs, j);
    }
    for vec_each(const Str, name, &v->default_namespace)
        json_push(a, names, json_str(a, *name));
    json_set(a, o, "version-id", json_int(a, v->id));
    json_set(a, o, "timestamp-ms", json_int(a, v->timestamp_ms));
    json_set(a, o, "schema-id", json_int(a, v->schema_id));
    json_set(a, o, "summary", ice_props_json(a, &v->summary));
    if (v->default_catalog.n)
        json_set(a, o, "default-catalog", json_str(a, v->default_catalog));
    json_set(a, o, "default-namespace", names);
    json_set(a, o, "representations", reprs);
    if (v->storage_table)
        json_set(a, o, "storage-table", v->storage_table);
    ice_add_members(a, o, v->extra);
    return o;
}

static Json *log_json(Arena *a, const IceView *v)
{
    Json *list = json_array(a);
    for vec_each(const IceLogEntry, e, &v->version_log) {
        Json *j = json_object(a);
        json_set(a, j, "timestamp-ms", json_int(a, e->timestamp_ms));
        json_set(a, j, "version-id", json_int(a, e->snapshot_id));
        json_push(a, list, j);
    }
    return list;
}

Json *ice_view_json(Arena *a, const IceView *v)
{
    Json *o = json_object(a), *schemas = json_array(a), *versions = json_array(a);

    for (size_t i = 0; i < v->schemas.n; i++)
        json_push(a, schemas, ice_schema_json(a, v->schemas.p[i]));
    for (size_t i = 0; i < v->versions.n; i++)
        json_push(a, versions, version_json(a, v->versions.p[i]));
    json_set(a, o, "view-uuid", json_str(a, v->uuid));
    json_set(a, o, "format-version", json_int(a, v->format_version));
    json_set(a, o, "location", json_str(a, v->location));
    json_set(a, o, "schemas", schemas);
    json_set(a, o, "current-version-id", json_int(a, v->current_version_id));
    json_set(a, o, "versions", versions);
    json_set(a, o, "version-log", log_json(a, v));
    json_set(a, o, "properties", ice_props_json(a, &v->properties));
    ice_add_members(a, o, v->extra);
    return o;
}

Status ice_view_write(Arena *a, Store *st, const IceView *v, Str location, Error *err)
{
    TRY_CTX(ice_json_put(a, st, ice_view_json(a, v), location, err), err, "writing view metadata '" STR_FMT "'", STR_ARG(location));
    return OK;
}

Str ice_view_next_location(Arena *a, const IceView *v, Str previous)
{
    Str codec = props_get(&v->properties, S("write.metadata.compression-codec"), S("none"));
    return ice_next_file(a, v->location, &v->properties, codec, previous);
}

/* ---- lookups --------------------------------------------------------------------------------------------------------- */

const IceViewVersion *ice_view_version(const IceView *v, int32_t id)
{
    for (size_t i = 0; i < v->versions.n; i++)
        if (v->versions.p[i]->id == id)
            return v->versions.p[i];
    return NULL;
}

const IceViewVersion *ice_view_current(const IceView *v) { return ice_view_version(v, v->current_version_id); }

const IceSchema *ice_view_schema(const IceView *v, int32_t id)
{
    for (size_t i = 0; i < v->schemas.n; i++)
        if (v->schemas.p[i]->id == id)
            return v->schemas.p[i];
    return NULL;
}

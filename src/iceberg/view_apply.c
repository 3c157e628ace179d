/* SPDX-License-Identifier: Apache-2.0 */
/* view_apply.c - updates applied to a view (the rules and texts of the reference's ViewMetadata.Builder).
 *
 * 1. An identical version or schema is not added again.  2. -1 means what this request added last.  3. The version log
 * gets one entry a request: the version that is current at its end.  4. At most version.history.num-entries versions
 * stay, but always the current one and those of this request. */
#include "iceberg/view_int.h"

#include <stdlib.h>

typedef struct Build {
    Arena *a;
    IceView *v;
    int64_t now;
    int changed;
    OptI32 added_schema, added_version;
    VEC(int32_t) added;
    IceLogEntry moved;
    int has_moved;
} Build;

static IceView *copy_of(Arena *a, const IceView *v)
{
    IceView *c = arena_new(a, IceView);

    *c = *v;
    c->versions.p = NULL, c->versions.n = c->versions.cap = 0;
    c->version_log.p = NULL, c->version_log.n = c->version_log.cap = 0;
    c->schemas.p = NULL, c->schemas.n = c->schemas.cap = 0;
    c->properties = (Props){ 0 };
    for (size_t i = 0; i < v->versions.n; i++)
        vec_push(a, &c->versions, v->versions.p[i]);
    for vec_each(const IceLogEntry, e, &v->version_log)
        vec_push(a, &c->version_log, *e);
    for (size_t i = 0; i < v->schemas.n; i++)
        vec_push(a, &c->schemas, v->schemas.p[i]);
    for vec_each(const KeyValue, kv, &v->properties)
        vec_push(a, &c->properties, *kv);
    return c;
}

/* ---- schemas and versions ------------------------------------------------------------------------------------- */

static void add_schema(Build *b, const IceSchema *s)
{
    int32_t id = 0;

    for (size_t i = 0; i < b->v->schemas.n; i++) {
        const IceSchema *have = b->v->schemas.p[i];
        if (ice_same_schema(have, s)) {
            b->added_schema = SOME_I32(have->id);
            return;
        }
        id = have->id >= id ? ice_next_id(have->id) : id;
    }
    IceSchema *added = arena_new(b->a, IceSchema);
    *added = *s;
    added->id = id;
    vec_push(b->a, &b->v->schemas, added);
    b->added_schema = SOME_I32(id);
    b->changed = 1;
}

static bool same_props(const Props *x, const Props *y)
{
    if (x->n != y->n)
        return false;
    for vec_each(const KeyValue, kv, x)
        if (!props_has(y, kv->key) || !str_eq(kv->value, props_get(y, kv->key, S(""))))
            return false;
    return true;
}

static bool same_reprs(const IceViewVersion *x, const IceViewVersion *y)
{
    if (x->reprs.n != y->reprs.n || x->default_namespace.n != y->default_namespace.n)
        return false;
    for (size_t i = 0; i < x->reprs.n; i++)
        if (!str_eq(x->reprs.p[i].sql, y->reprs.p[i].sql) || !str_eq(x->reprs.p[i].dialect, y->reprs.p[i].dialect))
            return false;
    for (size_t i = 0; i < x->default_namespace.n; i++)
        if (!str_eq(x->default_namespace.p[i], y->default_namespace.p[i]))
            return false;
    return true;
}

/* A storage table tells a materialized view from an ordinary one. */
static bool same_version(const IceViewVersion *x, const IceViewVersion *y)
{
    return x->schema_id == y->schema_id && str_eq(x->default_catalog, y->default_catalog) && same_reprs(x, y)
        && same_props(&x->summary, &y->summary) && ice_json_same(x->storage_table, y->storage_table);
}

static Status one_query_a_dialect(Build *b, const IceViewVersion *v, Error *err)
{
    Map seen = map_new(b->a);

    for vec_each(const IceViewRepr, r, &v->reprs) {
        Str dialect = str_lower(b->a, r->dialect);
        if (map_has(&seen, dialect))
            return FAIL(err, E_INVALID, "Invalid view version: Cannot add multiple queries for dialect " STR_FMT, STR_ARG(dialect));
        map_put(&seen, dialect, b);
    }
    return OK;
}

static Status check_schema_id(Build *b, IceViewVersion *v, Error *err)
{
    if (v->schema_id == -1 && !b->added_schema.has)
        return FAIL(err, E_INVALID, "Cannot set last added schema: no schema has been added");
    if (v->schema_id == -1)
        v->schema_id = b->added_schema.v;
    if (!ice_view_schema(b->v, v->schema_id))
        return FAIL(err, E_INVALID, "Cannot add version with unknown schema: %d", (int)v->schema_id);
    return OK;
}

static Status add_version(Build *b, const IceViewVersion *given, Error *err)
{
    IceViewVersion *v = arena_new(b->a, IceViewVersion);

    *v = *given;
    TRY(check_schema_id(b, v, err));
    for (size_t i = 0; i < b->v->versions.n; i++) {
        const IceViewVersion *have = b->v->versions.p[i];
        if (same_version(have, v)) {
            b->added_version = SOME_I32(have->id);
            return OK;
        }
        v->id = have->id >= v->id ? ice_next_id(have->id) : v->id;
    }
    TRY(one_query_a_dialect(b, v, err));
    vec_push(b->a, &b->v->versions, v);
    vec_push(b->a, &b->added, v->id);
    b->added_version = SOME_I32(v->id);
    b->changed = 1;
    return OK;
}

static bool is_added(const Build *b, int32_t id)
{
    for vec_each(const int32_t, x, &b->added)
        if (*x == id)
            return true;
    return false;
}

static Status set_current(Build *b, int32_t id, Error *err)
{
    if (id == -1 && !b->added_version.has)
        return FAIL(err, E_INVALID, "Cannot set last version id: no current version id has been set");
    id = id == -1 ? b->added_version.v : id;
    const IceViewVersion *v = ice_view_version(b->v, id);
    if (!v)
        return FAIL(err, E_INVALID, "Cannot set current version to unknown version: %d", (int)id);
    if (b->v->current_version_id == id && b->v->version_log.n)
        return OK;
    b->v->current_version_id = id;
    b->moved = (IceLogEntry){ is_added(b, id) ? v->timestamp_ms : b->now, id, S("") };
    b->has_moved = b->changed = 1;
    return OK;
}

/* ---- the other updates --------------------------------------------------------------------------------------------- */

static Status set_properties(Build *b, const Json *j, Error *err)
{
    Props p = { 0 };

    TRY(ice_props_parse(b->a, json_get(j, "updates"), "updates", &p, err));
    for vec_each(const KeyValue, kv, &p) {
        if (props_has(&b->v->properties, kv->key) && str_eq(props_get(&b->v->properties, kv->key, S("")), kv->value))
            continue;
        props_set(b->a, &b->v->properties, kv->key, kv->value);
        b->changed = 1;
    }
    return OK;
}

static Status remove_properties(Build *b, const Json *j, Error *err)
{
    Json *list;

    TRY(json_need(j, "removals", JSON_ARRAY, &list, err));
    for (size_t i = 0; i < list->array.n; i++)
        if (json_is(list->array.p[i], JSON_STRING))
            b->changed |= props_del(&b->v->properties, list->array.p[i]->string);
    return OK;
}

static Status upgrade(const Json *j, Error *err)
{
    int32_t version;

    TRY(ice_need_i32(j, "format-version", &version, err));
    if (version < VIEW_FORMAT_VERSION)
        return FAIL(err, E_INVALID, "Cannot downgrade v%d view to v%d", VIEW_FORMAT_VERSION, (int)version);
    if (version > VIEW_FORMAT_VERSION)
        return FAIL(err, E_INVALID, "Unsupported format version: %d", (int)version);
    return OK;
}

static Status assign_uuid(Build *b, const Json *j, Error *err)
{
    Str uuid;

    TRY(json_need_str(j, "uuid", &uuid, err));
    if (b->v->uuid.n && !str_ieq(b->v->uuid, uuid))
        return FAIL(err, E_INVALID, "Cannot reassign uuid");
    b->changed |= !b->v->uuid.n;
    b->v->uuid = b->v->uuid.n ? b->v->uuid : uuid;
    return OK;
}

static Status set_location(Build *b, const Json *j, Error *err)
{
    Str location;

    TRY(json_need_str(j, "location", &location, err));
    b->changed |= !str_eq(location, b->v->location);
    b->v->location = location;
    return OK;
}

static Status parse_add_schema(Build *b, const Json *j, Error *err)
{
    IceSchema *s;

    TRY(ice_schema_parse(b->a, json_get(j, "schema"), &s, err));
    add_schema(b, s);
    return OK;
}

static Status parse_add_version(Build *b, const Json *j, Error *err)
{
    IceViewVersion *v;

    TRY(ice_view_version_parse(b->a, json_get(j, "view-version"), &v, err));
    return add_version(b, v, err);
}

static Status parse_set_current(Build *b, const Json *j, Error *err)
{
    int32_t id;

    TRY(ice_need_i32(j, "view-version-id", &id, err));
    return set_current(b, id, err);
}

typedef enum { V_UUID, V_UPGRADE, V_SCHEMA, V_LOCATION, V_SET, V_REMOVE, V_VERSION, V_CURRENT } Action;
static const struct { const char *name; Action action; } ACTIONS[] = {
    { "assign-uuid", V_UUID },          { "upgrade-format-version", V_UPGRADE },
    { "add-schema", V_SCHEMA },         { "set-location", V_LOCATION },
    { "set-properties", V_SET },        { "remove-properties", V_REMOVE },
    { "add-view-version", V_VERSION },  { "set-current-view-version", V_CURRENT },
};

static Status run(Build *b, Action action, const Json *j, Error *err)
{
    switch (action) {
    case V_UUID: return assign_uuid(b, j, err);
    case V_UPGRADE: return upgrade(j, err);
    case V_SCHEMA: return parse_add_schema(b, j, err);
    case V_LOCATION: return set_location(b, j, err);
    case V_SET: return set_properties(b, j, err);
    case V_REMOVE: return remove_properties(b, j, err);
    case V_VERSION: return parse_add_version(b, j, err);
    case V_CURRENT: return parse_set_current(b, j, err);
    }
    return FAIL(err, E_INTERNAL, "view update %d", (int)action);
}

static Status apply_one(Build *b, const Json *j, Error *err)
{
    Str action;

    TRY(json_need_str(j, "action", &action, err));
    for (size_t i = 0; i < COUNT_OF(ACTIONS); i++)
        if (str_eq(action, str_c(ACTIONS[i].name)))
            return run(b, ACTIONS[i].action, j, err);
    return FAIL(err, E_INVALID, "Cannot convert metadata update action to field: unknown view action " STR_FMT, STR_ARG(action));
}

/* ---- finishing --------------------------------------------------------------------------------------------------------- */

static Str dialects(Arena *a, const IceViewVersion *v)
{
    StrVec names = { 0 };
    for vec_each(const IceViewRepr, r, &v->reprs)
        vec_push(a, &names, str_lower(a, r->dialect));
    return str_join(a, &names, S(", "));
}

static Status keeps_dialects(Build *b, const IceViewVersion *old, Error *err)
{
    const IceViewVersion *now = ice_view_current(b->v);
    StrVec have = { 0 };

    if (!old || ice_prop_is(&b->v->properties, "replace.drop-dialect.allowed", "true", "false"))
        return OK;
    for vec_each(const IceViewRepr, r, &now->reprs)
        vec_push(b->a, &have, str_lower(b->a, r->dialect));
    for vec_each(const IceViewRepr, r, &old->reprs)
        if (!strvec_has(&have, str_lower(b->a, r->dialect))) {
            Str before = dialects(b->a, old), after = dialects(b->a, now);
            return FAIL(err, E_INVALID, "Cannot replace view due to loss of view dialects (replace.drop-dialect.allowed=false): "
                        "Previous dialects: [" STR_FMT "] New dialects: [" STR_FMT "]", STR_ARG(before), STR_ARG(after));
        }
    return OK;
}

static int by_id_down(const void *x, const void *y)
{
    int32_t p = (*(IceViewVersion *const *)x)->id, q = (*(IceViewVersion *const *)y)->id;
    return (p < q) - (p > q);
}

static void trim_log(Build *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->v->version_log.n; i++) {
        if (ice_view_version(b->v, (int32_t)b->v->version_log.p[i].snapshot_id))
            b->v->version_log.p[n++] = b->v->version_log.p[i];
        else
            n = 0;
    }
    b->v->version_log.n = n;
}

static Status expire_versions(Build *b, Error *err)
{
    int64_t keep = ice_prop_i64(&b->v->properties, "version.history.num-entries", 10);
    size_t at_least = b->added.n + !is_added(b, b->v->current_version_id), n = 0;

    if (keep <= 0)
        return FAIL(err, E_INVALID, "version.history.num-entries must be positive but was %lld", (long long)keep);
    size_t limit = (size_t)keep > at_least ? (size_t)keep : at_least;
    if (b->v->versions.n <= limit)
        return OK;
    IceViewVersion **sorted = arena_array(b->a, IceViewVersion *, b->v->versions.n);
    memcpy(sorted, b->v->versions.p, b->v->versions.n * sizeof *sorted);
    qsort(sorted, b->v->versions.n, sizeof *sorted, by_id_down);
    int32_t current = b->v->current_version_id, lowest = INT32_MAX;
    for (size_t i = 0, kept = 1; kept < limit && i < b->v->versions.n; i++)
        if (sorted[i]->id != current) {
            lowest = sorted[i]->id;
            kept++;
        }
    for (size_t i = 0; i < b->v->versions.n; i++) {
        IceViewVersion *v = b->v->versions.p[i];
        if (v->id >= lowest || v->id == current)
            b->v->versions.p[n++] = v;
    }
    b->v->versions.n = n;
    trim_log(b);
    return OK;
}

static Status finish(Build *b, const IceViewVersion *old, Error *err)
{
    if (!b->v->location.n)
        return FAIL(err, E_INVALID, "Invalid location: null");
    if (!b->v->versions.n)
        return FAIL(err, E_INVALID, "Invalid view: no versions were added");
    if (!ice_view_current(b->v))
        return FAIL(err, E_INVALID, "Cannot find current version %d in view versions", (int)b->v->current_version_id);
    if (b->has_moved)
        vec_push(b->a, &b->v->version_log, b->moved);
    TRY(keeps_dialects(b, old, err));
    return expire_versions(b, err);
}

/* ---- public -------------------------------------------------------------------------------------------------------------- */

Status ice_view_new(Arena *a, Str location, const IceSchema *s, const IceViewVersion *version, const Props *props, int64_t now_ms,
                    IceView **ret, Error *err)
{
    IceView *v = arena_new(a, IceView);
    Build b = { .a = a, .v = v, .now = now_ms };
    IceViewVersion first = *version;

    v->uuid = uuid_v4(a);
    v->location = location;
    v->format_version = VIEW_FORMAT_VERSION;
    for (size_t i = 0; props && i < props->n; i++)
        vec_push(a, &v->properties, props->p[i]);
    add_schema(&b, s);
    first.schema_id = b.added_schema.v;
    first.id = first.id > 0 ? first.id : 1;
    first.timestamp_ms = first.timestamp_ms ? first.timestamp_ms : now_ms;
    TRY(add_version(&b, &first, err));
    TRY(set_current(&b, -1, err));
    TRY(finish(&b, NULL, err));
    *ret = v;
    return OK;
}

static Status check_requirement(const IceView *v, const Json *r, Error *err)
{
    Str type, uuid;

    TRY(json_need_str(r, "type", &type, err));
    if (str_eq(type, S("assert-create")))
        return FAIL(err, E_CONFLICT, "Requirement failed: view already exists");
    if (!str_eq(type, S("assert-view-uuid")))
        return FAIL(err, E_INVALID, "Cannot convert view requirement type: unknown type " STR_FMT, STR_ARG(type));
    TRY(json_need_str(r, "uuid", &uuid, err));
    if (!str_ieq(uuid, v->uuid))
        return FAIL(err, E_CONFLICT, "Requirement failed: view UUID does not match: expected " STR_FMT " != " STR_FMT,
                    STR_ARG(v->uuid), STR_ARG(uuid));
    return OK;
}

Status ice_view_apply(Arena *a, const IceView *v, const Json *requirements, const Json *updates, int64_t now_ms, IceView **ret,
                      int *changed, Error *err)
{
    Build b = { .a = a, .v = copy_of(a, v), .now = now_ms };

    for (size_t i = 0; i < json_len(requirements); i++)
        TRY(check_requirement(v, json_at(requirements, i), err));
    for (size_t i = 0; i < json_len(updates); i++)
        TRY(apply_one(&b, json_at(updates, i), err));
    TRY(finish(&b, ice_view_current(v), err));
    *changed = b.changed;
    *ret = b.v;
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - snapshots and refs: JSON, lookups, ancestry.
 *
 * Snapshot ids are positive in what we write, but negative ones and ones above int64 exist.  Parent chains may end at
 * an expired snapshot, and in broken metadata may be cyclic: walks are bounded by the number of snapshots. */
#include "iceberg/iceberg_int.h"

static const char *const SNAPSHOT_MEMBERS[] = {
    "snapshot-id", "parent-snapshot-id", "sequence-number", "timestamp-ms", "manifest-list", "manifests", "summary",
    "schema-id", "first-row-id", "added-rows", NULL
};

static Status summary(Arena *a, const Json *j, IceSnapshot *s, Error *err)
{
    Props all = { 0 };

    s->operation = S("");
    TRY(ice_props_parse(a, json_get(j, "summary"), "summary", &all, err));
    for vec_each(const KeyValue, kv, &all) {
        if (str_eq(kv->key, S("operation")))
            s->operation = kv->value;
        else
            vec_push(a, &s->summary, *kv);
    }
    return OK;
}

static Status manifests(Arena *a, const Json *j, IceSnapshot *s, Error *err)
{
    const Json *list = json_get(j, "manifests");

    s->manifest_list = json_get_str(j, "manifest-list", S(""));
    for (size_t i = 0; i < json_len(list); i++) {
        const Json *path = json_at(list, i);
        if (!json_is(path, JSON_STRING))
            return FAIL(err, E_INVALID, "snapshot %lld: manifests must be strings", (long long)s->id);
        vec_push(a, &s->manifests, path->string);
    }
    if (!s->manifest_list.n && !json_is(list, JSON_ARRAY))
        return FAIL(err, E_INVALID, "snapshot %lld has no manifest-list", (long long)s->id);
    return OK;
}

Status ice_snapshot_parse(Arena *a, const Json *j, IceSnapshot **ret, int *above, Error *err)
{
    IceSnapshot *s = arena_new(a, IceSnapshot);
    const Json *parent = json_get(j, "parent-snapshot-id");

    TRY_CTX(ice_need_id(j, "snapshot-id", &s->id, above, err), err, "snapshot");
    TRY_CTX(json_need_int(j, "timestamp-ms", &s->timestamp_ms, err), err, "snapshot %lld", (long long)s->id);
    s->parent_id = ice_opt_i64(j, "parent-snapshot-id");
    *above |= parent && parent->above_i64;
    s->sequence_number = json_get_int(j, "sequence-number", 0);
    s->schema_id = ice_opt_i32(j, "schema-id");
    s->first_row_id = ice_opt_i64(j, "first-row-id");
    s->added_rows = ice_opt_i64(j, "added-rows");
    TRY(summary(a, j, s, err));
    TRY(manifests(a, j, s, err));
    s->extra = ice_unknown_members(a, j, SNAPSHOT_MEMBERS);
    *ret = s;
    return OK;
}

Json *ice_id_json(Arena *a, const IceMetadata *m, int64_t id)
{
    Json *j = json_int(a, id);
    j->above_i64 = m && m->unsigned_ids && id < 0;
    return j;
}

static Json *summary_json(Arena *a, const IceSnapshot *s)
{
    Json *o = json_object(a);

    json_set(a, o, "operation", json_str(a, s->operation));
    for vec_each(const KeyValue, kv, &s->summary)
        json_set_s(a, o, kv->key, json_str(a, kv->value));
    return o;
}

static Json *paths_json(Arena *a, const StrVec *paths)
{
    Json *list = json_array(a);
    for vec_each(const Str, p, paths)
        json_push(a, list, json_str(a, *p));
    return list;
}

Json *ice_snapshot_json(Arena *a, const IceMetadata *m, const IceSnapshot *s)
{
    Json *o = json_object(a);

    if (s->sequence_number > 0 || m->format_version > 1)
        json_set(a, o, "sequence-number", json_int(a, s->sequence_number));
    json_set(a, o, "snapshot-id", ice_id_json(a, m, s->id));
    if (s->parent_id.has)
        json_set(a, o, "parent-snapshot-id", ice_id_json(a, m, s->parent_id.v));
    json_set(a, o, "timestamp-ms", json_int(a, s->timestamp_ms));
    if (s->operation.n || s->summary.n)
        json_set(a, o, "summary", summary_json(a, s));
    if (s->manifest_list.n)
        json_set(a, o, "manifest-list", json_str(a, s->manifest_list));
    else
        json_set(a, o, "manifests", paths_json(a, &s->manifests));
    if (s->schema_id.has)
        json_set(a, o, "schema-id", json_int(a, s->schema_id.v));
    ice_set_opt(a, o, "first-row-id", s->first_row_id);
    ice_set_opt(a, o, "added-rows", s->added_rows);
    ice_add_members(a, o, s->extra);
    return o;
}

/* ---- refs ------------------------------------------------------------------------------------------------------ */

Status ice_ref_parse(const Json *j, Str name, IceRef *ret, int *above, Error *err)
{
    IceRef r = { .name = name };

    TRY_CTX(ice_need_id(j, "snapshot-id", &r.snapshot_id, above, err), err, "ref '" STR_FMT "'", STR_ARG(name));
    TRY_CTX(json_need_str(j, "type", &r.type, err), err, "ref '" STR_FMT "'", STR_ARG(name));
    if (str_ieq(r.type, S("branch")))
        r.type = S("branch");
    else if (str_ieq(r.type, S("tag")))
        r.type = S("tag");
    else
        return FAIL(err, E_INVALID, "Invalid snapshot ref type: " STR_FMT, STR_ARG(r.type));
    r.max_ref_age_ms = ice_opt_i64(j, "max-ref-age-ms");
    r.max_snapshot_age_ms = ice_opt_i64(j, "max-snapshot-age-ms");
    r.min_snapshots = ice_opt_i32(j, "min-snapshots-to-keep");
    *ret = r;
    return OK;
}

static bool opt_equal(OptI64 x, OptI64 y) { return x.has == y.has && (!x.has || x.v == y.v); }

bool ice_ref_equal(const IceRef *x, const IceRef *y)
{
    return str_eq(x->type, y->type) && x->snapshot_id == y->snapshot_id && opt_equal(x->max_ref_age_ms, y->max_ref_age_ms)
        && opt_equal(x->max_snapshot_age_ms, y->max_snapshot_age_ms) && x->min_snapshots.has == y->min_snapshots.has
        && (!x->min_snapshots.has || x->min_snapshots.v == y->min_snapshots.v);
}

/* ---- lookups ----------------------------------------------------------------------------------------------------- */

const IceSnapshot *ice_snapshot(const IceMetadata *m, int64_t id)
{
    for (size_t i = m->snapshots.n; i-- > 0;)
        if (m->snapshots.p[i]->id == id)
            return m->snapshots.p[i];
    return NULL;
}

const IceSnapshot *ice_current_snapshot(const IceMetadata *m)
{
    return m->current_snapshot_id.has ? ice_snapshot(m, m->current_snapshot_id.v) : NULL;
}

const IceRef *ice_ref(const IceMetadata *m, Str name)
{
    for vec_each(const IceRef, r, &m->refs)
        if (str_eq(r->name, name))
            return r;
    return NULL;
}

const IceSnapshot *ice_snapshot_at(const IceMetadata *m, int64_t timestamp_ms)
{
    const IceSnapshot *at = NULL;

    for vec_each(const IceLogEntry, e, &m->snapshot_log)
        if (e->timestamp_ms <= timestamp_ms)
            at = ice_snapshot(m, e->snapshot_id);
    return at;
}

bool ice_is_ancestor(const IceMetadata *m, int64_t ancestor, int64_t of)
{
    const IceSnapshot *s = ice_snapshot(m, of);

    for (size_t i = 0; s && i <= m->snapshots.n; i++) {
        if (s->id == ancestor)
            return true;
        s = s->parent_id.has ? ice_snapshot(m, s->parent_id.v) : NULL;
    }
    return false;
}

const IceSchema *ice_schema(const IceMetadata *m, int32_t id)
{
    for (size_t i = 0; i < m->schemas.n; i++)
        if (m->schemas.p[i]->id == id)
            return m->schemas.p[i];
    return NULL;
}

const IceSchema *ice_current_schema(const IceMetadata *m) { return ice_schema(m, m->current_schema_id); }

const IceSpec *ice_spec(const IceMetadata *m, int32_t id)
{
    for (size_t i = 0; i < m->specs.n; i++)
        if (m->specs.p[i]->id == id)
            return m->specs.p[i];
    return NULL;
}

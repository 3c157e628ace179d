/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - tables of a catalog elsewhere: load, create, commit, drop.
 *
 * Invariants: (1) a commit is E_OK only when the answer is of this table and holds the snapshot that was committed; an answer of success that says otherwise is E_UNKNOWN;
 * (2) a failed call leaves the RemoteTable as it was. */
#include "remote/remote_int.h"

static Str table_token(const TableAnswer *t);
static Status answered(RemoteCatalog *c, Arena *a, Str ns, Str name, Str body, Str etag, RemoteTable *ret, Error *err);
static Json *new_table(Arena *a, Str name, const RemoteNew *n);
static Json *commit_body(const RemoteTable *t, Arena *a, const IceUpdates *ups, const IceRequirements *rqs);
static Status committed(const RemoteTable *t, Arena *a, const IceUpdates *ups, Str body, TableAnswer *ret, Error *err);

Status remote_table_load(RemoteCatalog *c, Arena *a, Str ns, Str name, RemoteTable *ret, Error *err)
{
    Str body = {0}, etag = {0};
    RemoteCall q = { .method = "GET", .path = remote_table_path(c, a, ns, name), .max = LIMIT_JSON_BYTES, .delegates = remote_delegates(c), .etag = &etag };

    TRY(remote_call(c, a, &q, &body, err));
    return answered(c, a, ns, name, body, etag, ret, err);
}

Status remote_table_reload(RemoteTable *t, Arena *a, Error *err)
{
    int ignored = 0;
    t->etag = (Str){0};
    return remote_table_poll(t, a, &ignored, err);
}

Status remote_table_poll(RemoteTable *t, Arena *a, int *changed, Error *err)
{
    TableAnswer now = {0};
    StrVec places = {0};
    Str body = {0}, etag = {0};
    RemoteCall q = { .method = "GET", .path = remote_table_path(t->catalog, a, t->ns, t->name), .max = LIMIT_JSON_BYTES, .delegates = remote_delegates(t->catalog), .unless = t->etag, .etag = &etag };

    *changed = 0;
    TRY(remote_call(t->catalog, a, &q, &body, err));
    if (t->etag.n && !body.n)
        return OK;
    TRY(remote_parse_table(a, body, &now, err));
    if (!str_ieq(now.meta->uuid, t->meta->uuid)) {
        RAISE(err, E_NOT_FOUND, "the table was dropped and made anew: its uuid is " STR_FMT ", it was " STR_FMT, STR_ARG(now.meta->uuid), STR_ARG(t->meta->uuid));
        strcpy(err->kind, "NoSuchTable");
        return E_NOT_FOUND;
    }
    TRY(remote_places(a, now.meta, now.metadata_location, &places, err));
    *changed = 1;
    t->ns = str_dup(a, t->ns);
    t->name = str_dup(a, t->name);
    t->meta = now.meta;
    t->metadata_location = now.metadata_location;
    t->etag = etag;
    t->token = table_token(&now);
    return OK;
}

Status remote_table_create(RemoteCatalog *c, Arena *a, Str ns, Str name, const RemoteNew *n, RemoteTable *ret, Error *err)
{
    Str body = {0};
    RemoteCall q = { .method = "POST", .path = str_cat(a, remote_namespace_path(c, a, ns), S("/tables")), .body = new_table(a, name, n), .does = DOES_CREATE, .max = LIMIT_JSON_BYTES,
                     .delegates = remote_delegates(c) };

    TRY(remote_call(c, a, &q, &body, err));
    return answered(c, a, ns, name, body, (Str){0}, ret, err);
}

Status remote_table_commit(RemoteTable *t, Arena *a, const IceUpdates *ups, const IceRequirements *rqs, Error *err)
{
    Str body = {0};
    TableAnswer now = {0};
    RemoteCall q = { .method = "POST", .path = remote_table_path(t->catalog, a, t->ns, t->name), .body = commit_body(t, a, ups, rqs), .does = DOES_COMMIT, .max = LIMIT_JSON_BYTES,
                     .token = t->token };

    TRY(remote_call(t->catalog, a, &q, &body, err));
    if (committed(t, a, ups, body, &now, err) != OK) {
        err->code = E_UNKNOWN;                               /* (1) */
        return error_context(err, "the catalog said that the commit is done, but");
    }
    t->ns = str_dup(a, t->ns);
    t->name = str_dup(a, t->name);
    t->meta = now.meta;
    t->metadata_location = now.metadata_location;
    t->etag = (Str){0};
    t->token = table_token(&now).n ? table_token(&now) : str_dup(a, t->token);
    return OK;
}

Status remote_table_drop(RemoteCatalog *c, Str ns, Str name, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str body = {0};
    RemoteCall q = { .method = "DELETE", .path = remote_table_path(c, a, ns, name), .does = DOES_DROP,
                     .query = c->o.kind == REMOTE_S3TABLES ? S("purgeRequested=true") : S("purgeRequested=false") };

    return remote_call(c, a, &q, &body, err);
}

void remote_table_end(RemoteTable *t)
{
    store_close(t->store);
    *t = (RemoteTable){0};
}

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

static Str table_token(const TableAnswer *t)
{
    Str token = props_get(&t->config, S("token"), (Str){0});
    return remote_is_token(token) ? token : (Str){0};
}

/* A catalog that vends nothing may sign: it is asked for that when there is nothing else. */
static Status signed_instead(RemoteCatalog *c, Arena *a, Str ns, Str name, TableAnswer *t, Store **ret, Error *err)
{
    Error why;
    Str body = {0};
    RemoteCall q = { .method = "GET", .path = remote_table_path(c, a, ns, name), .max = LIMIT_JSON_BYTES, .delegates = DELEGATES_SIGNING };

    if (remote_call(c, a, &q, &body, &why) != OK || remote_parse_table(a, body, t, &why) != OK)
        return err->code;
    return remote_storage_open(c, ns, name, t, ret, err);
}

static Status answered(RemoteCatalog *c, Arena *a, Str ns, Str name, Str body, Str etag, RemoteTable *ret, Error *err)
{
    TableAnswer t = {0};
    Store *store = NULL;

    TRY(remote_parse_table(a, body, &t, err));
    Status st = remote_storage_open(c, ns, name, &t, &store, err);
    if (st == E_AUTH && c->o.delegation == REMOTE_VENDED && str_eq(str_c(err->kind), S("NoCredentials")))
        st = signed_instead(c, a, ns, name, &t, &store, err);
    TRY(st);
    *ret = (RemoteTable){ .catalog = c, .ns = str_dup(a, ns), .name = str_dup(a, name), .metadata_location = t.metadata_location, .meta = t.meta, .store = store, .etag = etag,
                          .token = table_token(&t) };
    return OK;
}

static Json *new_table(Arena *a, Str name, const RemoteNew *n)
{
    Json *j = json_object(a), *props = json_object(a);

    json_set(a, j, "name", json_str(a, name));
    if (n->location.n)
        json_set(a, j, "location", json_str(a, n->location));
    json_set(a, j, "schema", ice_schema_json(a, n->schema));
    if (n->spec)
        json_set(a, j, "partition-spec", ice_spec_json(a, n->spec));
    if (n->order)
        json_set(a, j, "write-order", ice_order_json(a, n->order));
    json_set(a, j, "stage-create", json_bool(a, false));
    for vec_each(const KeyValue, kv, &n->props)
        json_set_s(a, props, kv->key, json_str(a, kv->value));
    json_set(a, j, "properties", props);
    return j;
}

static Json *commit_body(const RemoteTable *t, Arena *a, const IceUpdates *ups, const IceRequirements *rqs)
{
    Json *j = json_object(a), *id = json_object(a), *updates = json_array(a), *requirements = json_array(a);

    json_set(a, id, "namespace", remote_namespace_json(a, t->ns));
    json_set(a, id, "name", json_str(a, t->name));
    for vec_each(const IceUpdate, u, ups)
        json_push(a, updates, ice_update_json(a, t->meta, u));
    for vec_each(const IceRequirement, r, rqs)
        json_push(a, requirements, ice_requirement_json(a, t->meta, r));
    json_set(a, j, "identifier", id);
    json_set(a, j, "requirements", requirements);
    json_set(a, j, "updates", updates);
    return j;
}

static Status committed(const RemoteTable *t, Arena *a, const IceUpdates *ups, Str body, TableAnswer *ret, Error *err)
{
    StrVec places = {0};

    TRY(remote_parse_table(a, body, ret, err));
    if (!str_ieq(ret->meta->uuid, t->meta->uuid))
        return FAIL(err, E_INVALID, "its answer is of another table, with uuid " STR_FMT, STR_ARG(ret->meta->uuid));
    for vec_each(const IceUpdate, u, ups)
        if (u->kind == UP_ADD_SNAPSHOT && !ice_snapshot(ret->meta, u->snapshot->id))
            return FAIL(err, E_INVALID, "its answer does not have snapshot %lld", (long long)u->snapshot->id);
    return remote_places(a, ret->meta, ret->metadata_location, &places, err);
}

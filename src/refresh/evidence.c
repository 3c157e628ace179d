/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c - the record that a refresh leaves (design idea 2).
 *
 * A record's body names the definition's hash, the pinned sources, every file of the new state with its SHA-256, the order-free
 * hash of the rows, and the snapshot.  Its hash covers body and the previous record's hash; the hash is signed by the server's key.
 *
 * Invariants: (1) the text that is hashed is json_text of the body as stored; (2) records of a view form one chain by prev_hash. */
#include "refresh/refresh_int.h"

Str evidence_text(Arena *a, const Json *body, Str prev_hash)
{
    return str_fmt(a, STR_FMT "\n" STR_FMT, STR_ARG(prev_hash), STR_ARG(json_text(a, body)));
}

bool evidence_sound(Arena *a, Str public_key, const CatEvidence *e)
{
    Str sig;
    return str_eq(e->hash, hash_hex(a, HASH_SHA256, evidence_text(a, e->body, e->prev_hash))) && hex_decode(a, e->signature, &sig) && ed25519_verify(public_key, e->hash, sig);
}

Str evidence_differs(Arena *a, const CatMview *v, const CatEvidence *e)
{
    const Json *view = json_get(e->body, "view");

    if (!str_eq(json_get_str(view, "definition-sha256", (Str){0}), hash_hex(a, HASH_SHA256, v->definition)))
        return S("definition: it is not the one that was refreshed");
    if (json_get_bool(view, "managed", 0) != (v->managed != 0))
        return v->managed ? S("protection: the view is managed now, it was not when it was refreshed") : S("protection: the view was managed when it was refreshed, it is not now");
    return (Str){0};
}

static Status add_file(Job *j, Json *list, Str kind, Str path, int64_t records, Error *err)
{
    Json *f = json_object(j->a);
    ObjectInfo info;

    TRY(store_stat(lake_store(j->r->lake), j->a, path, &info, err));
    json_set(j->a, f, "kind", json_str(j->a, kind));
    json_set(j->a, f, "path", json_str(j->a, path));
    json_set(j->a, f, "size", json_int(j->a, info.size));
    json_set(j->a, f, "sha256", json_str(j->a, info.sha256));
    if (records >= 0)
        json_set(j->a, f, "records", json_int(j->a, records));
    json_push(j->a, list, f);
    return OK;
}

static Status add_scan_files(Job *j, const LakeTable *t, const IceSnapshot *s, Json *list, Error *err)
{
    IceScan scan = {0};
    Map seen = map_new(j->a);

    TRY(ice_scan(j->a, lake_store(j->r->lake), t->meta, s, NULL, &scan, err));
    for (size_t i = 0; i < scan.tasks.n; i++) {
        TRY(add_file(j, list, S("data"), scan.tasks.p[i].data->file.path, scan.tasks.p[i].data->file.record_count, err));
        for (size_t k = 0; k < scan.tasks.p[i].deletes.n; k++) {
            const IceFile *d = &scan.tasks.p[i].deletes.p[k]->file;
            if (map_has(&seen, d->path))
                continue;
            map_put(&seen, d->path, list);
            TRY(add_file(j, list, S("deletes"), d->path, d->record_count, err));
        }
    }
    return OK;
}

static Status state_files(Job *j, const LakeTable *t, Json **ret, Error *err)
{
    const IceSnapshot *s = ice_current_snapshot(t->meta);
    IceManifests manifests = {0};

    *ret = json_array(j->a);
    TRY(add_file(j, *ret, S("metadata"), t->relation.metadata_location, -1, err));
    if (!s)
        return OK;
    TRY(add_file(j, *ret, S("manifest-list"), s->manifest_list, -1, err));
    TRY(ice_manifest_list_read(j->a, lake_store(j->r->lake), t->meta, s, &manifests, err));
    for (size_t i = 0; i < manifests.n; i++)
        TRY(add_file(j, *ret, S("manifest"), manifests.p[i].path, -1, err));
    return add_scan_files(j, t, s, *ret, err);
}

static Status sources_json(Job *j, Json **ret, Error *err)
{
    *ret = json_array(j->a);
    for (size_t i = 0; i < j->bound.sources.n; i++) {
        const LakeSource *s = j->bound.sources.p[i];
        const CatRelation *r = &s->table.relation;
        Json *o = json_object(j->a);
        ObjectInfo info = {0};
        if (!s->table.external)                       /* else the snapshot's id is a hash of the files that were read */
            TRY(store_stat(lake_store(j->r->lake), j->a, r->metadata_location, &info, err));
        json_set(j->a, o, "catalog", json_str(j->a, r->catalog));
        json_set(j->a, o, "namespace", json_str(j->a, r->namespace));
        json_set(j->a, o, "name", json_str(j->a, r->name));
        json_set(j->a, o, "uuid", json_str(j->a, s->table.meta->uuid));
        json_set(j->a, o, "snapshot-id", json_int(j->a, s->snapshot ? s->snapshot->id : -1));
        json_set(j->a, o, "metadata-location", json_str(j->a, r->metadata_location));
        json_set(j->a, o, "metadata-sha256", json_str(j->a, info.sha256));
        json_push(j->a, *ret, o);
    }
    return OK;
}

/* Hash and count of the whole state: what was there before, plus what this run changed; a rewrite of a full run starts anew. */
static void row_state(Job *j, const Json *previous, __int128 *hash, int64_t *count)
{
    *hash = j->hash_delta;
    *count = j->count_delta;
    if (j->type == RUN_FULL || !previous)
        return;
    __int128 before = 0;
    if (wide_parse(json_get_str(previous, "row-hash", S("0")), &before))
        *hash += before;
    *count += json_get_int(previous, "row-count", 0);
}

static Json *view_json(Job *j)
{
    const CatRelation *r = &j->table.relation;
    Json *o = json_object(j->a);

    json_set(j->a, o, "catalog", json_str(j->a, r->catalog));
    json_set(j->a, o, "namespace", json_str(j->a, r->namespace));
    json_set(j->a, o, "name", json_str(j->a, r->name));
    json_set(j->a, o, "uuid", json_str(j->a, j->table.meta->uuid));
    json_set(j->a, o, "managed", json_bool(j->a, j->mview.managed));
    json_set(j->a, o, "definition-sha256", json_str(j->a, hash_hex(j->a, HASH_SHA256, j->mview.definition)));
    return o;
}

static Status body_of(Job *j, const LakeTable *next, const CatEvidence *head, Json **ret, Error *err)
{
    const IceSnapshot *s = ice_current_snapshot(next->meta);
    Json *b = json_object(j->a), *sources, *files;
    __int128 hash;
    int64_t count;

    row_state(j, head ? head->body : NULL, &hash, &count);
    TRY(sources_json(j, &sources, err));
    TRY(state_files(j, next, &files, err));
    json_set(j->a, b, "version", json_int(j->a, 1));
    json_set(j->a, b, "sequence", json_int(j->a, head ? head->seq + 1 : 1));
    json_set(j->a, b, "view", view_json(j));
    if (j->mend)                                       /* the chain begins anew: what was before may be broken */
        json_set(j->a, b, "restart", json_bool(j->a, 1));
    json_set(j->a, b, "run-id", json_str(j->a, j->run.id));
    json_set(j->a, b, "type", json_str(j->a, j->run.type));
    json_set(j->a, b, "time-ms", json_int(j->a, clock_ms()));
    json_set(j->a, b, "snapshot-id", json_int(j->a, s ? s->id : -1));
    json_set(j->a, b, "sources", sources);
    json_set(j->a, b, "files", files);
    json_set(j->a, b, "row-count", json_int(j->a, count));
    json_set(j->a, b, "row-hash", json_str(j->a, wide_text(j->a, hash)));
    json_set(j->a, b, "row-hash-algorithm", json_str(j->a, str_fmt(j->a, "%s/%s", ROW_HASH_ALGORITHM, duck_version())));
    *ret = b;
    return OK;
}

Status evidence_make(Job *j, const LakeTable *next, CatEvidence *ret, Error *err)
{
    Catalog *c = lake_catalog(j->r->lake);
    CatEvidence head, *prev = NULL;
    Str seed, pub, sig;
    Error none;

    if (j->mview.relation_id) {
        Status s = cat_evidence_head(c, j->a, j->mview.relation_id, &head, &none);
        if (s != OK && s != E_NOT_FOUND)
            return error_set(err, s, none.origin, "%s", none.message);
        prev = s == OK ? &head : NULL;
    }
    *ret = (CatEvidence){ .relation_id = j->mview.relation_id, .seq = prev ? prev->seq + 1 : 1, .created_ms = clock_ms(), .prev_hash = prev ? prev->hash : (Str){0} };
    TRY(body_of(j, next, prev, &ret->body, err));
    ret->hash = hash_hex(j->a, HASH_SHA256, evidence_text(j->a, ret->body, ret->prev_hash));
    TRY(cat_signing_key(c, j->a, &seed, &pub, err));
    TRY(ed25519_sign(j->a, seed, ret->hash, &sig, err));
    ret->signature = hex_encode(j->a, sig);
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* lake.c - opening tables.
 *
 * A LakeTable is a relation of the catalog and its metadata as it stood at one moment: everything done with it is done
 * with that state, and commits are checked against it. */
#include "lake/lake_int.h"

#include <stdlib.h>

Lake *lake_new(Catalog *c, Store *s, const LakeHooks *hooks)
{
    Lake *l = calloc(1, sizeof *l);
    *l = (Lake){ .catalog = c, .store = s, .layouts = layout_cache_new(), .deleted = deleted_cache_new(), .manifests = ice_manifest_cache_new(), .hooks = hooks ? *hooks : (LakeHooks){0},
                .serial = rand_u64() >> 24 };         /* several lakes may have tables on one connection */
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void lake_free(Lake *l)
{
    if (!l)
        return;
    layout_cache_free(l->layouts);
    cache_free(l->deleted);
    cache_free(l->manifests);
    hot_cache_free(l->hot);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

void lake_keep_hot(Lake *l, DuckEngine *e, int64_t bytes) { l->hot = bytes > 0 ? hot_cache_new(e, bytes) : NULL; }

Catalog *lake_catalog(Lake *l) { return l->catalog; }
Store *lake_store(Lake *l) { return l->store; }

uint64_t lake_serial(Lake *l)
{
    pthread_mutex_lock(&l->lock);
    uint64_t n = ++l->serial;
    pthread_mutex_unlock(&l->lock);
    return n;
}

/* A managed view's pointer and record change in one transaction: when they disagree, somebody else moved the pointer. */
static Status as_published(Lake *l, Arena *a, const CatRelation *r, const IceMetadata *m, Error *err)
{
    const IceSnapshot *now = ice_current_snapshot(m);
    CatRelation again;
    Error ignored;
    CatMview v;

    if (r->kind != REL_MVIEW || cat_mview_get(l->catalog, a, r->id, &v, &ignored) != OK || !v.managed)
        return OK;
    if (str_eq(m->uuid, r->uuid) && (now ? now->id : 0) == v.snapshot_id)
        return OK;
    if (cat_relation_by_id(l->catalog, a, r->id, &again, &ignored) != OK || !str_eq(again.metadata_location, r->metadata_location))
        return OK;                                    /* a refresh was published in between: r was right when it was read */
    RAISE(err, E_QUARANTINED, "materialized view " STR_FMT "." STR_FMT " is quarantined: its pointer leads to a state that no refresh published, " STR_FMT,
          STR_ARG(r->namespace), STR_ARG(r->name), STR_ARG(r->metadata_location));
    error_hint(err, "REFRESH MATERIALIZED VIEW … FULL repairs it.");
    return E_QUARANTINED;
}

Status lake_open_relation(Lake *l, Arena *a, const CatRelation *r, LakeTable *ret, Error *err)
{
    ret->rights = NULL;
    ret->relation = *r;
    if (!r->metadata_location.n && r->kind == REL_TABLE)
        return FAIL(err, E_INVALID, "table " STR_FMT "." STR_FMT " has no metadata yet: it was created without a schema", STR_ARG(r->namespace), STR_ARG(r->name));
    ret->external = NULL;
    if (r->kind == REL_EXTERNAL)
        return FAIL(err, E_UNSUPPORTED, STR_FMT "." STR_FMT " is not an Iceberg table: it can be read, not written", STR_ARG(r->namespace), STR_ARG(r->name));
    Status s = ice_metadata_read(a, l->store, r->metadata_location, &ret->meta, err);
    if (s == E_SYNTAX)
        s = err->code = E_CORRUPT;                    /* the file's syntax, not the statement's */
    if (s != OK)
        return error_context(err, "table " STR_FMT "." STR_FMT, STR_ARG(r->namespace), STR_ARG(r->name));
    TRY(as_published(l, a, r, ret->meta, err));
    return cat_metadata_keeps_place(l->catalog, a, r, ret->meta, err);
}

Status lake_open(Lake *l, Arena *a, Str catalog, Str ns, Str name, LakeTable *ret, Error *err)
{
    CatRelation r;
    TRY(cat_relation_get(l->catalog, a, catalog, ns, name, &r, err));
    if (r.kind == REL_VIEW)
        return FAIL(err, E_INVALID, STR_FMT "." STR_FMT " is a view, not a table", STR_ARG(ns), STR_ARG(name));
    return lake_open_relation(l, a, &r, ret, err);
}

Status lake_open_location(Lake *l, Arena *a, Str metadata_location, LakeTable *ret, Error *err)
{
    *ret = (LakeTable){0};
    TRY(ice_metadata_read(a, l->store, metadata_location, &ret->meta, err));
    ret->relation = (CatRelation){ .metadata_location = metadata_location, .uuid = ret->meta->uuid, .location = ret->meta->location };
    return OK;
}

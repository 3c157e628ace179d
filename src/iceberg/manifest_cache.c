/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_cache.c - manifests that were decoded, kept for the scans to come.
 *
 * A file of the store never changes under its local path, and what an entry inherits comes from the manifest's line in the list: both
 * together are the key, with the spec and the schema that partition values are read by.
 * Invariant: entries that were given out are the receiver's own; what they point to is shared, and lives as long as the receiver's arena. */
#include "iceberg/iceberg_int.h"

enum { KEPT_BYTES = 64 << 20 };

typedef struct Kept { Arena *arena; IceEntries entries; int refs; } Kept;

static void *kept_ref(void *what)
{
    Kept *k = what;
    __atomic_add_fetch(&k->refs, 1, __ATOMIC_RELAXED);
    return k;
}

static void kept_unref(void *what)
{
    Kept *k = what;
    if (__atomic_sub_fetch(&k->refs, 1, __ATOMIC_ACQ_REL) == 0)
        arena_destroy(k->arena);
}

Cache *ice_manifest_cache_new(void) { return cache_new(KEPT_BYTES, kept_ref, kept_unref); }

static Str key_of(Arena *a, const IceMetadata *m, const IceManifest *mf, Str local)
{
    return str_fmt(a, STR_FMT " %d %d %lld %lld %lld", STR_ARG(local), (int)mf->spec_id, (int)m->current_schema_id, (long long)mf->sequence_number,
                   (long long)(mf->added_snapshot_id.has ? mf->added_snapshot_id.v : -1), (long long)(mf->first_row_id.has ? mf->first_row_id.v : -1));
}

/* One reference is the caller's. */
static Status decode(Store *st, const IceMetadata *m, const IceManifest *mf, Kept **ret, Error *err)
{
    Arena *own = arena_create();
    Kept *k = arena_new(own, Kept);

    *k = (Kept){ .arena = own, .refs = 1 };
    Status s = ice_manifest_read(own, st, m, mf, &k->entries, err);
    if (s != OK) {
        arena_destroy(own);
        return s;
    }
    *ret = k;
    return OK;
}

Status ice_manifest_read_kept(Arena *a, Store *st, Cache *kept, const IceMetadata *m, const IceManifest *mf, IceEntries *ret, Error *err)
{
    Error ignored;
    Str local;

    if (!kept || mf->key_metadata.n || store_local_path(st, a, mf->path, &local, &ignored) != OK)
        return ice_manifest_read(a, st, m, mf, ret, err);
    Str key = key_of(a, m, mf, local);
    Kept *k = cache_get(kept, key);
    if (!k) {
        TRY(decode(st, m, mf, &k, err));
        cache_put(kept, key, k, arena_used(k->arena));
    }
    arena_keep(a, kept_unref, k);
    *ret = (IceEntries){0};
    for vec_each(const IceEntry, e, &k->entries)
        vec_push(a, ret, *e);
    return OK;
}

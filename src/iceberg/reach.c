/* SPDX-License-Identifier: Apache-2.0 */
/* reach.c - the files that metadata reaches.
 *
 * A data or delete file is reached by a live entry of a manifest of any snapshot; a DELETED entry reaches nothing.
 * Each manifest is read once, however many snapshots list it. */
#include "iceberg/reach_int.h"

static void put(Map *m, Str key, const char *kind)
{
    if (key.n && !map_has(m, key))
        map_put(m, key, (void *)(uintptr_t)kind);
}

Status ice_reach_manifest(Arena *a, Store *st, const IceMetadata *m, const IceManifest *mf, Map *ret, Error *err)
{
    IceEntries entries;

    TRY(ice_manifest_read(a, st, m, mf, &entries, err));
    for vec_each(const IceEntry, e, &entries)
        if (ice_is_live(e))
            put(ret, e->file.path, e->file.content == CONTENT_DATA ? "data" : "delete");
    return OK;
}

Status ice_reach_snapshot(Arena *a, Store *st, const IceMetadata *m, const IceSnapshot *s, Map *manifests, Map *ret, Error *err)
{
    IceManifests list;

    TRY(ice_manifest_list_read(a, st, m, s, &list, err));
    put(ret, s->manifest_list, "manifest-list");
    for vec_each(IceManifest, mf, &list) {
        if (map_has(manifests, mf->path))
            continue;
        map_put(manifests, mf->path, mf);
        put(ret, mf->path, "manifest");
    }
    return OK;
}

static void statistics(const Json *list, Map *ret)
{
    for (size_t i = 0; i < json_len(list); i++)
        put(ret, json_get_str(json_at(list, i), "statistics-path", S("")), "statistics");
}

Status ice_reachable(Arena *a, Store *st, const IceMetadata *m, Str metadata_location, Map *ret, Error *err)
{
    Map manifests = map_new(a);

    *ret = map_new(a);
    put(ret, metadata_location, "metadata");
    for vec_each(const IceLogEntry, e, &m->metadata_log)
        put(ret, e->file, "metadata");
    statistics(m->statistics, ret);
    statistics(m->partition_statistics, ret);
    for (size_t i = 0; i < m->snapshots.n; i++)
        TRY(ice_reach_snapshot(a, st, m, m->snapshots.p[i], &manifests, ret, err));
    for (size_t i = 0; i < manifests.n; i++)
        TRY(ice_reach_manifest(a, st, m, manifests.entries[i].value, ret, err));
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* expire.c - which snapshots and refs go, and which files nothing reaches any more (Iceberg spec "Snapshot Retention Policy").
 *
 * 1. `main` is never dropped; other refs go when their snapshot is older than max-ref-age.  2. A branch keeps its head,
 * and ancestors while there are fewer than min-snapshots-to-keep or they are young enough.  3. A tag keeps its snapshot.
 * 4. A snapshot that no ref reaches is kept while it is young.  5. Pinned snapshots are kept.
 * Files are compared as sets, expired against kept: nothing is taken from the log or from DELETED entries. */
#include "iceberg/reach_int.h"

enum { DAY_MS = 86400000 };

typedef VEC(int64_t) Ids;
typedef struct Retention { int64_t older_than, now; int32_t min_keep; Ids keep, reached; } Retention;

static bool has(const Ids *ids, int64_t id)
{
    for vec_each(const int64_t, x, ids)
        if (*x == id)
            return true;
    return false;
}

static void add(Arena *a, Ids *ids, int64_t id)
{
    if (!has(ids, id))
        vec_push(a, ids, id);
}

/* ---- what stays ------------------------------------------------------------------------------------------------- */

static void keep_branch(Arena *a, const IceMetadata *m, const IceRef *r, Retention *k)
{
    int64_t older = r->max_snapshot_age_ms.has ? ice_sub_sat(k->now, r->max_snapshot_age_ms.v) : k->older_than;
    int32_t least = r->min_snapshots.has ? r->min_snapshots.v : k->min_keep, n = 0;
    const IceSnapshot *s = ice_snapshot(m, r->snapshot_id);

    for (size_t i = 0; s && i < m->snapshots.n; i++) {
        add(a, &k->reached, s->id);
        if (n < least || s->timestamp_ms >= older || !i) {
            add(a, &k->keep, s->id);
            n++;
        }
        s = s->parent_id.has ? ice_snapshot(m, s->parent_id.v) : NULL;
    }
}

static bool ref_is_old(const IceMetadata *m, const IceRef *r, const Retention *k)
{
    const IceSnapshot *s = ice_snapshot(m, r->snapshot_id);
    int64_t age = r->max_ref_age_ms.has ? r->max_ref_age_ms.v : ice_prop_i64(&m->properties, "history.expire.max-ref-age-ms", INT64_MAX);

    return !str_eq(r->name, ICE_MAIN) && (!s || ice_sub_sat(k->now, s->timestamp_ms) > age);
}

static void apply_refs(Arena *a, const IceMetadata *m, Retention *k, IceUpdates *ups)
{
    for vec_each(const IceRef, r, &m->refs) {
        if (ref_is_old(m, r, k)) {
            vec_push(a, ups, ((IceUpdate){ .kind = UP_REMOVE_REF, .text = r->name }));
        } else if (str_eq(r->type, S("tag"))) {
            add(a, &k->keep, r->snapshot_id);
            add(a, &k->reached, r->snapshot_id);
        } else {
            keep_branch(a, m, r, k);
        }
    }
}

static Retention retention(const IceMetadata *m, const IceExpire *e)
{
    int64_t age = ice_prop_i64(&m->properties, "history.expire.max-snapshot-age-ms", 5 * (int64_t)DAY_MS);
    int64_t least = ice_prop_i64(&m->properties, "history.expire.min-snapshots-to-keep", 1);
    Retention k = { .now = e->now_ms, .older_than = e->older_than_ms ? e->older_than_ms : ice_sub_sat(e->now_ms, age) };

    if (e->ids.n && !e->older_than_ms)
        k.older_than = INT64_MIN;                        /* only the named ones go */
    k.min_keep = e->retain_last > 0 ? e->retain_last : (int32_t)max_i64(1, min_i64(least, INT32_MAX));
    return k;
}

static Status named_snapshots(Arena *a, const IceMetadata *m, const IceExpire *e, const Ids *pins, Ids *gone, Error *err)
{
    for (size_t i = 0; i < e->ids.n; i++) {
        int64_t id = e->ids.p[i];
        for vec_each(const IceRef, r, &m->refs)
            if (r->snapshot_id == id)
                return FAIL(err, E_INVALID, "Cannot expire %lld. Still referenced by refs: [" STR_FMT "]", (long long)id, STR_ARG(r->name));
        if (ice_snapshot(m, id) && !has(pins, id))
            add(a, gone, id);
    }
    return OK;
}

static void old_snapshots(Arena *a, const IceMetadata *m, const Retention *k, const Ids *pins, Ids *gone)
{
    for (size_t i = 0; i < m->snapshots.n; i++) {
        const IceSnapshot *s = m->snapshots.p[i];
        bool young = !has(&k->reached, s->id) && s->timestamp_ms >= k->older_than;
        if (!has(&k->keep, s->id) && !has(pins, s->id) && !young)
            add(a, gone, s->id);
    }
}

/* ---- files -------------------------------------------------------------------------------------------------------------- */

static void statistics(const Json *list, const Ids *gone, Map *expired, Map *kept)
{
    for (size_t i = 0; i < json_len(list); i++) {
        Str path = json_get_str(json_at(list, i), "statistics-path", S(""));
        bool goes = has(gone, json_get_int(json_at(list, i), "snapshot-id", 0));
        if (path.n)
            map_put(goes ? expired : kept, path, (void *)1);
    }
}

/* An expired snapshot whose list is gone already has nothing left to tell. */
static Status walk(Arena *a, Store *st, const IceMetadata *m, const Ids *gone, int expired, Map *manifests, Map *files, Error *err)
{
    for (size_t i = 0; i < m->snapshots.n; i++) {
        const IceSnapshot *s = m->snapshots.p[i];
        if (has(gone, s->id) != expired)
            continue;
        Status got = ice_reach_snapshot(a, st, m, s, manifests, files, err);
        if (got != OK && !(expired && got == E_NOT_FOUND))
            return got;
    }
    return OK;
}

static Status lost_files(Arena *a, Store *st, const IceMetadata *m, const Ids *gone, StrVec *ret, Error *err)
{
    Map expired = map_new(a), kept = map_new(a), expired_manifests = map_new(a), kept_manifests = map_new(a);
    size_t only_expired = 0;

    TRY(walk(a, st, m, gone, 1, &expired_manifests, &expired, err));
    TRY(walk(a, st, m, gone, 0, &kept_manifests, &kept, err));
    statistics(m->statistics, gone, &expired, &kept);
    statistics(m->partition_statistics, gone, &expired, &kept);
    for (size_t i = 0; i < expired_manifests.n; i++) {
        if (map_has(&kept_manifests, expired_manifests.entries[i].key))
            continue;
        only_expired++;
        Status got = ice_reach_manifest(a, st, m, expired_manifests.entries[i].value, &expired, err);
        if (got != OK && got != E_NOT_FOUND)
            return got;
    }
    for (size_t i = 0; only_expired && i < kept_manifests.n; i++)
        TRY(ice_reach_manifest(a, st, m, kept_manifests.entries[i].value, &kept, err));
    for (size_t i = 0; i < expired.n; i++)
        if (!map_has(&kept, expired.entries[i].key))
            vec_push(a, ret, expired.entries[i].key);
    return OK;
}

/* ---- public --------------------------------------------------------------------------------------------------------------- */

Status ice_expire(Arena *a, Store *st, const IceMetadata *m, const IceExpire *e, const int64_t *pinned, size_t npinned,
                  IceUpdates *ups, StrVec *unreachable, Error *err)
{
    Retention k = retention(m, e);
    Ids pins = { 0 }, gone = { 0 };

    if (ice_prop_is(&m->properties, "gc.enabled", "false", "true"))
        return FAIL(err, E_INVALID, "Cannot expire snapshots: GC is disabled (deleting files may corrupt other tables)");
    for (size_t i = 0; i < npinned; i++)
        vec_push(a, &pins, pinned[i]);
    apply_refs(a, m, &k, ups);
    TRY(named_snapshots(a, m, e, &pins, &gone, err));
    old_snapshots(a, m, &k, &pins, &gone);
    if (!gone.n)
        return OK;
    IceUpdate u = { .kind = UP_REMOVE_SNAPSHOTS };
    for vec_each(const int64_t, id, &gone)
        vec_push(a, &u.ids, *id);
    vec_push(a, ups, u);
    return lost_files(a, st, m, &gone, unreachable, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* upkeep_work.c - what maintenance does to one table.
 *
 * Invariants: (1) rows stay as they are; (2) a materialized view's files are its refresh's alone: they are never rewritten here, and what its evidence names
 * is never removed; (3) snapshots that a view still needs as a base stay. */
#include "lake/maintain.h"
#include "service/tablebuckets.h"
#include "service/upkeep_int.h"

enum { HOUR_MS = 3600000, STAGED_DAYS = 7 };
#define DAY_MS (24ll * HOUR_MS)

static void tell(UpkeepJob *j, const char *what, const char *x, int64_t nx, const char *y, int64_t ny)
{
    const CatRelation *r = &j->table.relation;

    if (nx > 0)
        log_event(LOG_INFO, what, "table", str_fmt(j->a, STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(r->catalog), STR_ARG(r->namespace), STR_ARG(r->name)).p,
                  x, str_fmt(j->a, "%lld", (long long)nx).p, y, str_fmt(j->a, "%lld", (long long)ny).p, NULL);
}

/* ---- compaction ------------------------------------------------------------------------------------------------------- */

static const IceSortOrder *table_order(const IceMetadata *m)
{
    for (size_t i = 0; i < m->orders.n; i++)
        if (m->orders.p[i]->id == m->default_order_id && m->orders.p[i]->fields.n)
            return m->orders.p[i];
    return NULL;
}

Status upkeep_compact(UpkeepJob *j, Str *skipped, Error *err)
{
    Str strategy = json_get_str(j->settings, "strategy", S("auto"));
    LakeRewrite rw = { .target_bytes = json_get_int(j->settings, "targetFileSizeMB", 512) << 20 };
    LakeRewritten done;

    if (j->table.relation.kind == REL_MVIEW) {         /* (2) */
        *skipped = S("a materialized view is kept compact by its own refreshes: its files are not rewritten by others");
        return OK;
    }
    if (!str_eq(strategy, S("binpack")))
        rw.order = table_order(j->table.meta);
    if (str_eq(strategy, S("sort")) && !rw.order)
        return FAIL(err, E_INVALID, "strategy sort needs a sort order of the table");
    TRY(lake_rewrite_files(j->svc->lake, j->a, j->conn, &j->table, &rw, &done, err));
    tell(j, "table compacted", "files", done.rewritten_files, "into", done.added_files);
    return OK;
}

/* ---- snapshots ---------------------------------------------------------------------------------------------------------- */

Status upkeep_pinned(Service *s, Arena *a, const LakeTable *t, SnapshotIds *ret, Error *err)
{
    CatMviews readers = {0};
    CatMview self;

    TRY(cat_mview_readers(s->catalog, a, t->meta->uuid, &readers, err));
    for (size_t i = 0; i < readers.n; i++)
        for (size_t k = 0; k < json_len(readers.p[i].sources); k++) {
            const Json *source = json_at(readers.p[i].sources, k);
            if (str_eq(json_get_str(source, "uuid", (Str){0}), t->meta->uuid) && json_get_int(source, "snapshot-id", -1) >= 0)
                vec_push(a, ret, json_get_int(source, "snapshot-id", -1));
        }
    if (t->relation.kind != REL_MVIEW)
        return OK;
    TRY(cat_mview_get(s->catalog, a, t->relation.id, &self, err));
    if (self.snapshot_id)
        vec_push(a, ret, self.snapshot_id);
    return OK;
}

Status upkeep_expire(UpkeepJob *j, Str *skipped UNUSED, Error *err)
{
    int64_t hours = json_get_int(j->settings, "maxSnapshotAgeHours", 120), now = clock_ms();
    IceExpire e = { .now_ms = now, .older_than_ms = max_i64(1, now - hours * HOUR_MS), .retain_last = (int)json_get_int(j->settings, "minSnapshotsToKeep", 1) };
    SnapshotIds pinned = {0};
    LakeExpired done;

    TRY(upkeep_pinned(j->svc, j->a, &j->table, &pinned, err));                                   /* (3) */
    TRY(lake_expire(j->svc->lake, j->a, &j->table, &e, pinned.p, pinned.n, &done, err));
    tell(j, "snapshots expired", "snapshots", done.snapshots, "files", done.data_files + done.manifests + done.manifest_lists);
    return OK;
}

/* ---- unreferenced files ------------------------------------------------------------------------------------------------------ */

/* What the newest record of a view's evidence names. */
static Status evidence_files(UpkeepJob *j, Map *ret, Error *err)
{
    CatEvidence head;
    Status s = j->table.relation.kind == REL_MVIEW ? cat_evidence_head(j->svc->catalog, j->a, j->table.relation.id, &head, err) : E_NOT_FOUND;

    if (s == E_NOT_FOUND)
        return OK;
    TRY(s);
    const Json *files = json_get(head.body, "files");
    for (size_t i = 0; i < json_len(files); i++)
        map_put(ret, json_get_str(json_at(files, i), "path", (Str){0}), j);
    return OK;
}

Status upkeep_remove_unreferenced(UpkeepJob *j, Str *skipped UNUSED, Error *err)
{
    int64_t days = min_i64(json_get_int(j->settings, "unreferencedDays", 3), 1000000) + min_i64(json_get_int(j->settings, "nonCurrentDays", 10), 1000000);
    Map keep = map_new(j->a);
    StrVec found = {0};
    int64_t removed = 0;
    Error ignored;

    TRY(evidence_files(j, &keep, err));                                                          /* (2) */
    TRY(lake_remove_orphans(j->svc->lake, j->a, &j->table, (Str){0}, clock_ms() - days * DAY_MS, ORPHANS_LIST, &found, err));
    for vec_each(Str, uri, &found)
        removed += !map_has(&keep, *uri) && store_delete(j->svc->store, *uri, &ignored) == OK;
    tell(j, "unreferenced files removed", "files", removed, "found", (int64_t)found.n);
    return OK;
}

/* ---- storage of tables that never came ---------------------------------------------------------------------------------------- */

void upkeep_remove_staged(Service *s, Arena *a)
{
    BucketInfos all = {0};
    Error ignored;

    if (store_bucket_list(s->store, a, &all, &ignored) != OK)
        return;
    for vec_each(BucketInfo, b, &all)
        if (svc_is_table_storage(b->name) && b->created_ms < clock_ms() - STAGED_DAYS * DAY_MS)
            svc_table_storage_remove(s->catalog, s->store, a, b->name);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* decide.c - full, incremental or nothing, and why (design idea 5).
 *
 * The reason is a sentence that a user reads in DESCRIBE EXTENDED and in <view>.refreshes.  Anything that is not surely
 * incremental is full.  What is cheaper is decided in cost.c. */
#include "refresh/refresh_int.h"

static Status full(Job *j, Str why)
{
    j->type = RUN_FULL;
    j->reason = why;
    return OK;
}

static Str source_name(Job *j, size_t i) { return ivm_source(j->bound.view, i)->display; }

/* Reasons that need no look at the data. Empty: none. */
static Str plain_reason(Job *j, int force_full)
{
    const CatMview *v = &j->mview;
    const IceSnapshot *now = ice_current_snapshot(j->table.meta);

    if (force_full)
        return S("FULL was asked for");
    if (!v->snapshot_id)
        return S("first refresh");
    if (v->quarantine.n)
        return str_fmt(j->a, "repair of a quarantined view: " STR_FMT, STR_ARG(v->quarantine));
    if (j->schema_changes)
        return S("the type of a result column was widened");
    if (ivm_shape(j->bound.view) == IVM_FULL_ONLY)
        return str_fmt(j->a, "not incremental: " STR_FMT, STR_ARG(ivm_reason(j->bound.view)));
    if (!now || now->id != v->snapshot_id)
        return S("the view's rows were changed by another writer since the last refresh");
    return (Str){0};
}

static Str source_reason(Job *j, size_t i)
{
    const LakeSource *s = j->bound.sources.p[i];
    Pinned p = pinned_source(&j->mview, s->table.meta->uuid);

    if (!p.has)
        return str_fmt(j->a, "source " STR_FMT " was created anew", STR_ARG(source_name(j, i)));
    if (s->table.external && p.snapshot_id != s->snapshot->id)
        return str_fmt(j->a, "the files of source " STR_FMT " changed, which is not an Iceberg table", STR_ARG(source_name(j, i)));
    if (p.snapshot_id >= 0 && !ice_snapshot(s->table.meta, p.snapshot_id))
        return str_fmt(j->a, "snapshot %lld of source " STR_FMT ", read by the last refresh, has expired", (long long)p.snapshot_id, STR_ARG(source_name(j, i)));
    return (Str){0};
}

static const IceSnapshot *old_snapshot(Job *j, size_t i)
{
    const LakeSource *s = j->bound.sources.p[i];
    Pinned p = pinned_source(&j->mview, s->table.meta->uuid);
    return p.snapshot_id >= 0 ? ice_snapshot(s->table.meta, p.snapshot_id) : NULL;
}

static Status measure(Job *j, int64_t *changed, Error *err)
{
    size_t n = j->bound.sources.n;

    j->changes = arena_array(j->a, IvmChange, n + 1);
    j->deltas = arena_array(j->a, LakeChanges, n + 1);
    for (size_t i = 0; i < n; i++) {
        const LakeSource *s = j->bound.sources.p[i];
        TRY(lake_changes(j->r->lake, j->a, j->c, &s->table, old_snapshot(j, i), s->snapshot, s->schema, job_source_reads(j, i), &j->deltas[i], err));
        j->changes[i] = (IvmChange){ .changed = !j->deltas[i].nothing, .has_deletes = j->deltas[i].has_deletes, .unit = !j->deltas[i].has_deletes,
                                    .rows = snapshot_total(s->snapshot, S("total-records")) };
        *changed += j->deltas[i].nothing ? 0 : j->deltas[i].rows_upper;
    }
    return OK;
}

Status job_decide(Job *j, int force_full, Error *err)
{
    int64_t changed = 0;
    int cheaper;
    Str why = plain_reason(j, force_full);

    for (size_t i = 0; i < j->bound.sources.n && !why.n; i++)
        why = source_reason(j, i);
    if (why.n)
        return full(j, why);
    TRY(measure(j, &changed, err));
    if (!changed) {
        j->type = RUN_NONE;
        j->reason = S("the sources did not change");
        return OK;
    }
    for (size_t i = 0; i < j->bound.sources.n; i++)
        if (j->bound.sources.p[i]->table.external)
            return full(j, str_fmt(j->a, "source " STR_FMT " is not an Iceberg table", STR_ARG(source_name(j, i))));
    TRY(job_full_is_cheaper(j, changed, &cheaper, &why, err));
    if (cheaper)
        return full(j, why);
    j->type = RUN_INCREMENTAL;
    j->reason = ivm_reason(j->bound.view);
    return OK;
}

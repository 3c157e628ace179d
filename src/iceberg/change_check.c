/* SPDX-License-Identifier: Apache-2.0 */
/* change_check.c - may this change go on top of what others committed since it was decided?
 *
 * The rules of the reference's MergingSnapshotProducer, RowDelta and OverwriteFiles. `replace` snapshots of others
 * change no rows: their new files are no conflict, the files that they removed may be.
 * Only the manifests that each snapshot since the base wrote itself are read. */
#include "iceberg/change_int.h"

typedef struct Since { IceEntries added_data, removed_data, added_deletes; } Since;

/* ---- what happened since the base -------------------------------------------------------------------------------- */

static Status read_own(Commit *c, const IceSnapshot *s, const IceManifest *mf, Since *since, Error *err)
{
    bool replace = str_eq(s->operation, S("replace"));
    IceEntries entries;

    TRY(ice_manifest_read(c->a, c->st, c->m, mf, &entries, err));
    for vec_each(const IceEntry, e, &entries) {
        if (!e->snapshot_id.has || e->snapshot_id.v != s->id)
            continue;
        if (mf->deletes && e->status == ENTRY_ADDED)
            vec_push(c->a, &since->added_deletes, *e);
        else if (!mf->deletes && e->status == ENTRY_DELETED)
            vec_push(c->a, &since->removed_data, *e);
        else if (!mf->deletes && e->status == ENTRY_ADDED && !replace)
            vec_push(c->a, &since->added_data, *e);
    }
    return OK;
}

static Status read_snapshot(Commit *c, const IceSnapshot *s, Since *since, Error *err)
{
    IceManifests list;

    TRY(ice_manifest_list_read(c->a, c->st, c->m, s, &list, err));
    for vec_each(const IceManifest, mf, &list)
        if (mf->added_snapshot_id.has && mf->added_snapshot_id.v == s->id)
            TRY(read_own(c, s, mf, since, err));
    return OK;
}

static Status read_since(Commit *c, Since *since, Error *err)
{
    OptI64 base = c->ch->base_snapshot;
    const IceSnapshot *s = c->parent;

    for (size_t i = 0; s && i <= c->m->snapshots.n; i++) {
        if (base.has && s->id == base.v)
            return OK;
        TRY(read_snapshot(c, s, since, err));
        if (!s->parent_id.has && !base.has)
            return OK;
        s = s->parent_id.has ? ice_snapshot(c->m, s->parent_id.v) : NULL;
    }
    if (!c->parent && !base.has)
        return OK;
    return FAIL(err, E_CONFLICT, "Cannot determine history between starting snapshot %lld and the last known ancestor",
                (long long)base.v);
}

/* ---- rules --------------------------------------------------------------------------------------------------------------- */

static const char *filter_text(const Commit *c) { return c->ch->conflict_filter.n ? "the change's filter" : "true"; }

static Status none_may_match(Commit *c, const IceEntries *entries, const char *what, Error *err)
{
    for vec_each(const IceEntry, e, entries)
        if (ice_file_may_match(c->a, c->m, &e->file, &c->ch->conflict_filter))
            return FAIL(err, E_CONFLICT, "%s matching %s: [" STR_FMT "]", what, filter_text(c), STR_ARG(e->file.path));
    return OK;
}

static bool same_partition(Commit *c, const IceFile *x, const IceFile *y)
{
    return str_eq(ice_partition_key(c->a, x->spec_id, x->partition, x->npartition),
                  ice_partition_key(c->a, y->spec_id, y->partition, y->npartition));
}

/* Could a delete that came since apply to a data file that this change takes away? */
static bool may_apply(Commit *c, const IceEntry *del, const IceEntry *data)
{
    const IceSpec *spec = ice_spec(c->m, del->file.spec_id);

    if (del->file.referenced_data_file.n)
        return str_eq(del->file.referenced_data_file, data->file.path);
    if (del->file.content == CONTENT_EQUALITY_DELETES && spec && ice_is_unpartitioned(spec))
        return true;
    return same_partition(c, &del->file, &data->file);
}

static Status removed_data_untouched(Commit *c, const Since *since, Error *err)
{
    for vec_each(const IceEntry, data, &c->removed) {
        if (data->file.content != CONTENT_DATA)
            continue;
        for vec_each(const IceEntry, del, &since->added_deletes)
            if (may_apply(c, del, data))
                return FAIL(err, E_CONFLICT, "Cannot commit, found new delete for replaced data file: " STR_FMT, STR_ARG(data->file.path));
    }
    return OK;
}

/* What the added deletes point at must still be there, and no other deletion vector may have come for it. */
static Status delete_targets_live(Commit *c, const Since *since, Error *err)
{
    for vec_each(const IceFile, f, &c->ch->add_deletes) {
        if (f->content != CONTENT_POSITION_DELETES)
            continue;
        Str data = f->referenced_data_file;
        for vec_each(const IceEntry, e, &since->removed_data)
            if (!data.n || str_eq(data, e->file.path))
                return FAIL(err, E_CONFLICT, "Cannot commit, missing data files: [" STR_FMT "]", STR_ARG(e->file.path));
        for vec_each(const IceEntry, e, &since->added_deletes)
            if (data.n && ice_is_dv(&e->file) && str_eq(data, e->file.referenced_data_file))
                return FAIL(err, E_CONFLICT, "Found concurrently added DV for " STR_FMT, STR_ARG(data));
    }
    return OK;
}

Status ice_commit_check(Commit *c, Error *err)
{
    const IceChange *ch = c->ch;
    bool removes = ch->remove_data.n || ch->replace_all, rewrite = str_eq(ch->operation, S("replace"));
    Since since = { 0 };

    if (!ch->check_conflicts)
        return OK;
    TRY(read_since(c, &since, err));
    TRY(delete_targets_live(c, &since, err));
    TRY(removed_data_untouched(c, &since, err));
    if (rewrite)
        return OK;
    if (ch->isolation == ISOLATION_SERIALIZABLE)
        TRY(none_may_match(c, &since.added_data, "Found conflicting files that can contain records", err));
    if (!str_eq(ch->operation, S("delete")) || removes)
        TRY(none_may_match(c, &since.added_deletes, "Found new conflicting delete files that can apply to records", err));
    if (removes)
        TRY(none_may_match(c, &since.removed_data, "Found conflicting deleted files that can contain records", err));
    return OK;
}

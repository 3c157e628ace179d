/* SPDX-License-Identifier: Apache-2.0 */
/* change_merge.c - small manifests merged, so that their number stays bounded under many small commits.
 *
 * Manifests of one spec are packed from the oldest on into bins of the target size.  The newest bin is left alone
 * until it has commit.manifest.min-count-to-merge manifests. */
#include "iceberg/change_int.h"

typedef struct Bin { IceManifests list; int64_t size; } Bin;
typedef VEC(Bin) Bins;

/* The bins of a spec, oldest first; list has the newest first. */
static Bins pack(Commit *c, const IceManifests *list, int32_t spec_id, int64_t target)
{
    Bins bins = { 0 };

    for (size_t i = list->n; i-- > 0;) {
        const IceManifest *mf = &list->p[i];
        if (mf->spec_id != spec_id)
            continue;
        if (!bins.n || ice_add_sat(vec_last(&bins).size, mf->length) > target)
            vec_push(c->a, &bins, ((Bin){ 0 }));
        vec_push(c->a, &vec_last(&bins).list, *mf);
        vec_last(&bins).size = ice_add_sat(vec_last(&bins).size, max_i64(0, mf->length));
    }
    return bins;
}

/* What this commit added goes on as added; what it deleted is kept; other deletions have been told long ago. */
static bool merged_entry(const Commit *c, const IceManifest *mf, IceEntry *e)
{
    bool ours = e->snapshot_id.has && e->snapshot_id.v == c->id;

    if (e->status == ENTRY_DELETED)
        return ours;
    if (e->status == ENTRY_ADDED && ours) {
        e->file_sequence_number = (OptI64){ 0 };
        e->sequence_number = mf->deletes ? (OptI64){ 0 } : c->ch->data_sequence_number;
    } else {
        e->status = ENTRY_EXISTING;
    }
    return true;
}

static Status merge_bin(Commit *c, const Bin *bin, IceManifests *out, Error *err)
{
    IceEntries all = { 0 };
    IceManifest merged;

    for (size_t i = bin->list.n; i-- > 0;) {
        const IceManifest *mf = &bin->list.p[i];
        IceEntries entries;
        TRY(ice_manifest_read(c->a, c->st, c->m, mf, &entries, err));
        for vec_each(IceEntry, e, &entries)
            if (merged_entry(c, mf, e))
                vec_push(c->a, &all, *e);
    }
    TRY(ice_commit_write(c, bin->list.p[0].spec_id, bin->list.p[0].deletes, &all, &merged, err));
    if (!merged.deletes)
        ice_commit_keep_row_ids(&bin->list.p[0], &all, &merged);
    vec_push(c->a, out, merged);
    return OK;
}

static Status merge_spec(Commit *c, const IceManifests *list, int32_t spec_id, IceManifests *out, Error *err)
{
    int64_t target = ice_prop_i64(&c->m->properties, "commit.manifest.target-size-bytes", 8 * 1024 * 1024);
    int64_t least = ice_prop_i64(&c->m->properties, "commit.manifest.min-count-to-merge", 100);
    Bins bins = pack(c, list, spec_id, target);

    for (size_t i = bins.n; i-- > 0;) {
        const Bin *b = &bins.p[i];
        bool newest = i + 1 == bins.n;
        if (b->list.n > 1 && (!newest || (int64_t)b->list.n >= least)) {
            TRY(merge_bin(c, b, out, err));
            continue;
        }
        for (size_t k = b->list.n; k-- > 0;)
            vec_push(c->a, out, b->list.p[k]);
    }
    return OK;
}

Status ice_check_specs(const IceMetadata *m, const IceManifests *list, Error *err)
{
    for vec_each(const IceManifest, mf, list)
        if (!ice_spec(m, mf->spec_id))
            return FAIL(err, E_CORRUPT, "manifest '" STR_FMT "' has an unknown partition spec: %d", STR_ARG(mf->path), (int)mf->spec_id);
    return OK;
}

Status ice_commit_merge(Commit *c, IceManifests *list, Error *err)
{
    IceManifests out = { 0 };

    if (!ice_prop_is(&c->m->properties, "commit.manifest-merge.enabled", "true", "true") || list->n < 2)
        return OK;
    for (size_t i = c->m->specs.n; i-- > 0;)
        TRY(merge_spec(c, list, c->m->specs.p[i]->id, &out, err));
    *list = out;
    return OK;
}

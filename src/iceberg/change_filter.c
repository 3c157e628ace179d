/* SPDX-License-Identifier: Apache-2.0 */
/* change_filter.c - the parent's manifests on their way into the new list.
 *
 * Only manifests that may hold a removed file are read; only those that do hold one are written again. Delete files
 * go with the data that they name, with the vector that replaces them, and when all data is newer than they are. */
#include "iceberg/change_int.h"

static bool found_in(Map *doomed, Str path, size_t *nfound)
{
    if (!map_has(doomed, path))
        return false;
    if (map_get(doomed, path) != doomed) {
        map_put(doomed, path, doomed);
        (*nfound)++;
    }
    return true;
}

/* ---- which files go --------------------------------------------------------------------------------------------- */

static bool data_goes(Commit *c, const IceEntry *e)
{
    return found_in(&c->doomed_data, e->file.path, &c->nfound_data) || c->ch->replace_all;
}

/* min_data: the lowest sequence number of live data. */
static bool delete_goes(Commit *c, const IceEntry *e, int64_t min_data)
{
    Str data = e->file.referenced_data_file;
    bool obsolete = e->sequence_number.v > 0 && e->sequence_number.v < min_data;

    if (found_in(&c->doomed_deletes, e->file.path, &c->nfound_deletes) || c->ch->replace_all || obsolete)
        return true;
    return data.n && e->file.content == CONTENT_POSITION_DELETES && (map_has(&c->doomed_data, data) || map_has(&c->vectored, data));
}

/* ---- one manifest ------------------------------------------------------------------------------------------------- */

static IceEntry carried(const Commit *c, const IceEntry *e, int goes)
{
    IceEntry out = *e;

    out.status = goes ? ENTRY_DELETED : ENTRY_EXISTING;
    if (goes)
        out.snapshot_id = SOME_I64(c->id);
    return out;
}

static Status filter_one(Commit *c, const IceManifest *mf, int64_t min_data, IceManifests *out, Error *err)
{
    IceEntries entries, next = { 0 };
    size_t gone = c->removed.n;
    IceManifest rewritten;

    TRY(ice_manifest_read(c->a, c->st, c->m, mf, &entries, err));
    for vec_each(const IceEntry, e, &entries) {
        if (!ice_is_live(e))
            continue;
        int goes = mf->deletes ? delete_goes(c, e, min_data) : data_goes(c, e);
        vec_push(c->a, &next, carried(c, e, goes));
        if (goes)
            vec_push(c->a, &c->removed, *e);
    }
    if (gone == c->removed.n) {
        if (next.n)
            vec_push(c->a, out, *mf);
        return OK;
    }
    TRY(ice_commit_write(c, mf->spec_id, mf->deletes, &next, &rewritten, err));
    if (!mf->deletes)
        ice_commit_keep_row_ids(mf, &next, &rewritten);
    vec_push(c->a, out, rewritten);
    return OK;
}

static bool has_live(const IceManifest *mf)
{
    return !mf->added_files.has || !mf->existing_files.has || mf->added_files.v || mf->existing_files.v;
}

/* ---- all ------------------------------------------------------------------------------------------------------------- */

static Status filter_data(Commit *c, const IceManifests *list, Error *err)
{
    for vec_each(const IceManifest, mf, list) {
        if (mf->deletes || !has_live(mf))
            continue;
        if (c->ch->replace_all || c->nfound_data < c->doomed_data.n)
            TRY(filter_one(c, mf, 0, &c->data, err));
        else
            vec_push(c->a, &c->data, *mf);
    }
    return OK;
}

/* Data that is added later counts with the new sequence number, or with the one that the change gives it. */
static int64_t lowest_data(const Commit *c)
{
    int64_t lowest = c->ch->data_sequence_number.has ? c->ch->data_sequence_number.v : c->sequence_number;

    for vec_each(const IceManifest, mf, &c->data)
        if (has_live(mf))
            lowest = min_i64(lowest, mf->min_sequence_number);
    return lowest;
}

static Status filter_deletes(Commit *c, const IceManifests *list, Error *err)
{
    bool removing = c->ch->replace_all || c->doomed_data.n || c->doomed_deletes.n || c->vectored.n;
    int64_t min_data = removing ? lowest_data(c) : 0;

    for vec_each(const IceManifest, mf, list) {
        if (!mf->deletes || !has_live(mf))
            continue;
        if (removing)
            TRY(filter_one(c, mf, min_data, &c->deletes, err));
        else
            vec_push(c->a, &c->deletes, *mf);
    }
    return OK;
}

static Status all_found(Commit *c, Map *doomed, Error *err)
{
    for (size_t i = 0; i < doomed->n; i++)
        if (doomed->entries[i].value != doomed)
            return FAIL(err, E_CONFLICT, "Missing required files to delete: " STR_FMT, STR_ARG(doomed->entries[i].key));
    (void)c;
    return OK;
}

Status ice_commit_filter(Commit *c, Error *err)
{
    IceManifests list = { 0 };

    for vec_each(const Str, path, &c->ch->remove_data)
        map_put(&c->doomed_data, *path, (void *)1);
    for vec_each(const Str, path, &c->ch->remove_deletes)
        map_put(&c->doomed_deletes, *path, (void *)1);
    if (c->parent)
        TRY(ice_manifest_list_read(c->a, c->st, c->m, c->parent, &list, err));
    TRY(ice_check_specs(c->m, &list, err));
    TRY(filter_data(c, &list, err));
    TRY(filter_deletes(c, &list, err));
    TRY(all_found(c, &c->doomed_data, err));
    return all_found(c, &c->doomed_deletes, err);
}

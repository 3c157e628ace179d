/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c - the files that a snapshot's rows are in, each with the deletes that apply to it (spec/iceberg.md 3.5).
 *
 * 1. A position delete applies to older or equally old data of its spec and partition, or to the one file it names.
 * 2. A deletion vector applies to the one file it names and takes the place of all its position deletes.
 * 3. An equality delete applies to strictly older data of its spec and partition; everywhere when its spec is
 *    unpartitioned.
 * Deletes are found through maps by data file and by partition, so the work is linear in the number of files. */
#include "iceberg/iceberg_int.h"

typedef struct EntryList { VEC(IceEntry *) list; } EntryList;
typedef struct DeleteIndex {
    Arena *a;
    Map vectors, positions_by_file, positions_by_partition, equality_by_partition;
    EntryList equality_global;
} DeleteIndex;

static void add_to(DeleteIndex *x, Map *m, Str key, IceEntry *e)
{
    EntryList *l = map_get(m, key);

    if (!l) {
        l = arena_new(x->a, EntryList);
        map_put(m, key, l);
    }
    vec_push(x->a, &l->list, e);
}

static Str partition_of(Arena *a, const IceFile *f) { return ice_partition_key(a, f->spec_id, f->partition, f->npartition); }

/* A position delete file whose bounds of file_path are one same path deletes from that file alone. Bounds may be cut
 * to 16 characters: then they say nothing, and the partition decides. */
static Str single_path(const IceFile *f)
{
    Str lower = S(""), upper = S("");

    if (f->referenced_data_file.n)
        return f->referenced_data_file;
    for vec_each(const IceBound, b, &f->lower)
        if (b->id == DELETE_FILE_PATH_ID)
            lower = b->bytes;
    for vec_each(const IceBound, b, &f->upper)
        if (b->id == DELETE_FILE_PATH_ID)
            upper = b->bytes;
    return lower.n > 16 && str_eq(lower, upper) ? lower : S("");
}

static Status index_delete(DeleteIndex *x, const IceMetadata *m, IceEntry *e, Error *err)
{
    const IceSpec *spec = ice_spec(m, e->file.spec_id);
    Str path = single_path(&e->file);

    if (ice_is_dv(&e->file)) {
        IceEntry *other = map_get(&x->vectors, path);
        if (!e->file.referenced_data_file.n)
            return FAIL(err, E_CORRUPT, "deletion vector in '" STR_FMT "' names no data file", STR_ARG(e->file.path));
        if (other)
            return FAIL(err, E_CORRUPT, "Can't index multiple DVs for " STR_FMT, STR_ARG(path));
        map_put(&x->vectors, path, e);
    } else if (e->file.content == CONTENT_POSITION_DELETES) {
        if (path.n)
            add_to(x, &x->positions_by_file, path, e);
        else
            add_to(x, &x->positions_by_partition, partition_of(x->a, &e->file), e);
    } else if (spec && ice_is_unpartitioned(spec)) {
        vec_push(x->a, &x->equality_global.list, e);
    } else {
        add_to(x, &x->equality_by_partition, partition_of(x->a, &e->file), e);
    }
    return OK;
}

static void take(Arena *a, IceTask *t, const EntryList *l, int strictly)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->list.n; i++) {
        int64_t data = t->data->sequence_number.v, del = l->list.p[i]->sequence_number.v;
        if (data < del || (data == del && !strictly))
            vec_push(a, &t->deletes, l->list.p[i]);
    }
}

static void match(DeleteIndex *x, IceTask *t)
{
    Str partition = partition_of(x->a, &t->data->file), path = t->data->file.path;
    IceEntry *vector = map_get(&x->vectors, path);

    if (vector && t->data->sequence_number.v <= vector->sequence_number.v) {
        vec_push(x->a, &t->deletes, vector);
    } else {
        take(x->a, t, map_get(&x->positions_by_partition, partition), 0);
        take(x->a, t, map_get(&x->positions_by_file, path), 0);
    }
    take(x->a, t, map_get(&x->equality_by_partition, partition), 1);
    take(x->a, t, &x->equality_global, 1);
}

/* ---- reading -------------------------------------------------------------------------------------------------------- */

static bool surely_empty(const IceManifest *mf)
{
    return mf->added_files.has && mf->existing_files.has && mf->added_files.v == 0 && mf->existing_files.v == 0;
}

/* For counting only: as the list says. */
static size_t files_in(const IceManifest *mf)
{
    int64_t n = ice_add_sat(mf->added_files.v, mf->existing_files.v);
    return mf->deletes || n < 0 || n > INT32_MAX ? 0 : (size_t)n;
}

static Status scan_entries(Arena *a, const IceMetadata *m, const IceManifest *mf, IceEntries entries, const IcePredicates *where,
                           DeleteIndex *x, IceScan *scan, Error *err)
{
    for vec_each(IceEntry, e, &entries) {
        if (!ice_is_live(e))
            continue;
        if (e->file.key_metadata.n)
            return FAIL(err, E_UNSUPPORTED, "file '" STR_FMT "' is encrypted", STR_ARG(e->file.path));
        if (mf->deletes) {
            TRY(index_delete(x, m, e, err));
            continue;
        }
        scan->files_total++;
        if (ice_file_may_match(a, m, &e->file, where))
            vec_push(a, &scan->tasks, ((IceTask){ .data = e }));
        else
            scan->files_skipped++;
    }
    return OK;
}

Status ice_scan(Arena *a, Store *st, const IceMetadata *m, const IceSnapshot *s, const IcePredicates *where, IceScan *ret, Error *err)
{
    return ice_scan_kept(a, st, NULL, m, s, where, ret, err);
}

Status ice_scan_kept(Arena *a, Store *st, Cache *manifests, const IceMetadata *m, const IceSnapshot *s, const IcePredicates *where, IceScan *ret, Error *err)
{
    DeleteIndex x = { .a = a, .vectors = map_new(a), .positions_by_file = map_new(a), .positions_by_partition = map_new(a),
                      .equality_by_partition = map_new(a) };
    IceScan scan = { 0 };
    IceManifests list = { 0 };

    if (s)
        TRY(ice_manifest_list_read(a, st, m, s, &list, err));
    for vec_each(const IceManifest, mf, &list) {
        scan.manifests_total++;
        vec_push(a, &scan.manifests, mf->path);
        if (surely_empty(mf) || !ice_manifest_may_match(a, m, mf, where)) {
            scan.manifests_skipped++;
            scan.files_total += files_in(mf);
            scan.files_skipped += files_in(mf);
            continue;
        }
        IceEntries entries;
        TRY(ice_manifest_read_kept(a, st, manifests, m, mf, &entries, err));
        TRY(scan_entries(a, m, mf, entries, where, &x, &scan, err));
    }
    for vec_each(IceTask, t, &scan.tasks)
        match(&x, t);
    *ret = scan;
    return OK;
}

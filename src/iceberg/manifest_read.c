/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_read.c - manifest lists and manifests (Iceberg spec "Manifests", "Manifest Lists").
 *
 * What an entry inherits from its manifest's line in the list is filled in here, at each reading: a retried commit may
 * put the same manifest into another list with another sequence number.
 * Avro's generic values are many times larger than ours: they are decoded into an arena that ends with the function. */
#include "iceberg/fields_int.h"

static Status load(Arena *a, Store *st, Str path, const char *what, AvroFile *ret, Error *err)
{
    Str bytes;

    TRY_CTX(store_read(st, a, path, LIMIT_MANIFEST_BYTES, &bytes, err), err, "reading %s '" STR_FMT "'", what, STR_ARG(path));
    TRY_CTX(avro_read(a, bytes, ret, err), err, "decoding %s '" STR_FMT "'", what, STR_ARG(path));
    return OK;
}

/* ---- lists --------------------------------------------------------------------------------------------------------- */

/* v1: the snapshot names its manifests itself; what a list would say of them is in their headers. */
static Status inline_manifests(Arena *a, Store *st, const IceSnapshot *s, IceManifests *ret, Error *err)
{
    for vec_each(const Str, path, &s->manifests) {
        CLEANUP(arena_destroyp) Arena *scratch = arena_create();
        AvroFile f = { 0 };
        int64_t spec = 0;
        TRY(load(scratch, st, *path, "manifest", &f, err));
        str_to_i64(props_get(&f.meta, S("partition-spec-id"), S("0")), &spec);
        IceManifest mf = { .path = *path, .spec_id = (int32_t)spec, .added_snapshot_id = SOME_I64(s->id) };
        vec_push(a, ret, mf);
    }
    return OK;
}

Status ice_manifest_list_read(Arena *a, Store *st, const IceMetadata *m, const IceSnapshot *s, IceManifests *ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *scratch = arena_create();
    AvroFile f = { 0 };
    IceManifests list = { 0 };

    (void)m;
    *ret = list;
    if (!s->manifest_list.n)
        return inline_manifests(a, st, s, ret, err);
    if (json_get(s->extra, "key-id"))
        return FAIL(err, E_UNSUPPORTED, "snapshot %lld has an encrypted manifest list", (long long)s->id);
    TRY(load(scratch, st, s->manifest_list, "manifest list", &f, err));
    for (size_t i = 0; i < f.rows.n; i++) {
        IceManifest mf = { 0 };
        TRY_CTX(ice_record_read(a, &MANIFEST_FIELDS, NULL, &f.rows.p[i], &mf, err), err, "manifest list '" STR_FMT "'",
                STR_ARG(s->manifest_list));
        if (mf.deletes != 0 && mf.deletes != 1)
            return FAIL(err, E_CORRUPT, "manifest '" STR_FMT "' has content %d", STR_ARG(mf.path), mf.deletes);
        vec_push(a, &list, mf);
    }
    *ret = list;
    return OK;
}

Status ice_snapshot_rows_end(Arena *a, Store *st, const IceMetadata *m, const IceSnapshot *s, int64_t *ret, Error *err)
{
    IceManifests list;
    int64_t end = ice_add_sat(s->first_row_id.v, s->added_rows.v);

    TRY(ice_manifest_list_read(a, st, m, s, &list, err));
    for vec_each(const IceManifest, mf, &list) {
        int64_t rows = ice_add_sat(mf->added_rows.v, mf->existing_rows.v);
        if (!mf->deletes && mf->first_row_id.has)
            end = max_i64(end, ice_add_sat(mf->first_row_id.v, max_i64(0, rows)));
    }
    *ret = end;
    return OK;
}

/* ---- manifests ------------------------------------------------------------------------------------------------------- */

static Status shape_of(Arena *a, const IceMetadata *m, const IceManifest *mf, PartitionShape *ret, Error *err)
{
    ret->spec = ice_spec(m, mf->spec_id);
    if (!ret->spec)
        return FAIL(err, E_CORRUPT, "manifest '" STR_FMT "' has an unknown partition spec: %d", STR_ARG(mf->path), (int)mf->spec_id);
    ret->types = arena_array(a, IceType *, ret->spec->fields.n + 1);
    for (size_t i = 0; i < ret->spec->fields.n; i++) {
        const IcePartitionField *f = &ret->spec->fields.p[i];
        if (f->transform.kind != TRANSFORM_UNKNOWN)
            ret->types[i] = ice_partition_type(a, m, f);
    }
    return OK;
}

static Status check_entry(const IceEntry *e, Error *err)
{
    if (e->status > ENTRY_DELETED)
        return FAIL(err, E_CORRUPT, "file '" STR_FMT "' has status %d", STR_ARG(e->file.path), (int)e->status);
    if (e->file.content > CONTENT_EQUALITY_DELETES)
        return FAIL(err, E_CORRUPT, "file '" STR_FMT "' has content %d", STR_ARG(e->file.path), (int)e->file.content);
    if (e->file.record_count < 0)
        return FAIL(err, E_CORRUPT, "file '" STR_FMT "' has a negative record count", STR_ARG(e->file.path));
    return OK;
}

/* next_row: the manifest's running row id; moves over live entries that have none of their own. */
static Status inherit(const IceManifest *mf, IceEntry *e, OptI64 *next_row, Error *err)
{
    OptI64 *row = &e->file.first_row_id;

    if (!e->snapshot_id.has)
        e->snapshot_id = mf->added_snapshot_id;
    if (!e->sequence_number.has)
        e->sequence_number = SOME_I64(mf->sequence_number);
    if (!e->file_sequence_number.has)
        e->file_sequence_number = SOME_I64(mf->sequence_number);
    if (mf->deletes) {
        *row = (OptI64){ 0 };
    } else if (!row->has && next_row->has && e->status != ENTRY_DELETED) {
        *row = *next_row;
        if (__builtin_add_overflow(next_row->v, e->file.record_count, &next_row->v))
            return FAIL(err, E_CORRUPT, "row ids overflow in manifest '" STR_FMT "'", STR_ARG(mf->path));
    }
    return OK;
}

static Status read_entry(Arena *a, const IceManifest *mf, const PartitionShape *shape, const AvroValue *v, OptI64 *next_row,
                         IceEntry *e, Error *err)
{
    TRY(ice_record_read(a, &ENTRY_FIELDS, shape, v, e, err));
    TRY(check_entry(e, err));
    e->file.spec_id = mf->spec_id;
    e->file.format = e->file.format.n ? str_upper(a, e->file.format) : S("PARQUET");
    return inherit(mf, e, next_row, err);
}

Status ice_manifest_read(Arena *a, Store *st, const IceMetadata *m, const IceManifest *mf, IceEntries *ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *scratch = arena_create();
    AvroFile f = { 0 };
    PartitionShape shape;
    OptI64 next_row = mf->first_row_id;

    if (mf->key_metadata.n)
        return FAIL(err, E_UNSUPPORTED, "manifest '" STR_FMT "' is encrypted", STR_ARG(mf->path));
    TRY(shape_of(a, m, mf, &shape, err));
    TRY(load(scratch, st, mf->path, "manifest", &f, err));
    *ret = (IceEntries){ 0 };
    for (size_t i = 0; i < f.rows.n; i++) {
        IceEntry e = { 0 };
        TRY_CTX(read_entry(a, mf, &shape, &f.rows.p[i], &next_row, &e, err), err, "manifest '" STR_FMT "', entry %zu",
                STR_ARG(mf->path), i);
        vec_push(a, ret, e);
    }
    return OK;
}

bool ice_is_live(const IceEntry *e) { return e->status != ENTRY_DELETED; }

bool ice_is_dv(const IceFile *f)
{
    return f->content == CONTENT_POSITION_DELETES && str_ieq(f->format, S("PUFFIN"));
}

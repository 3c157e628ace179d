/* SPDX-License-Identifier: Apache-2.0 */
/* fields.c - the tables of manifest entries, data files, manifest lists and summaries, and how records are read by them.
 *
 * Fields are read by id, and by name where a writer gave no ids.  Others write everything nullable, leave fields out
 * and add their own: only a file's path is insisted on. */
#include "iceberg/fields_int.h"

#define AT(T, m) offsetof(T, m)

static const FieldDef FILE_DEFS[] = {
    { 134, "content", F_I32, AT(IceFile, content), 0, 2, 0, 0 },
    { 100, "file_path", F_TEXT, AT(IceFile, path), 0, 1, 0, 0 },
    { 101, "file_format", F_TEXT, AT(IceFile, format), 0, 1, 0, 0 },
    { 102, "partition", F_PARTITION, 0, 0, 1, 0, 0 },
    { 103, "record_count", F_I64, AT(IceFile, record_count), 0, 1, 0, 0 },
    { 104, "file_size_in_bytes", F_I64, AT(IceFile, size), 0, 1, 0, 0 },
    { 108, "column_sizes", F_COUNTS, AT(IceFile, column_sizes), 0, 1, 117, 118 },
    { 109, "value_counts", F_COUNTS, AT(IceFile, value_counts), 0, 1, 119, 120 },
    { 110, "null_value_counts", F_COUNTS, AT(IceFile, null_counts), 0, 1, 121, 122 },
    { 137, "nan_value_counts", F_COUNTS, AT(IceFile, nan_counts), 0, 1, 138, 139 },
    { 125, "lower_bounds", F_BOUNDS, AT(IceFile, lower), 0, 1, 126, 127 },
    { 128, "upper_bounds", F_BOUNDS, AT(IceFile, upper), 0, 1, 129, 130 },
    { 131, "key_metadata", F_OPT_BYTES, AT(IceFile, key_metadata), 0, 1, 0, 0 },
    { 132, "split_offsets", F_LONGS, AT(IceFile, split_offsets), 0, 1, 133, 0 },
    { 135, "equality_ids", F_INTS, AT(IceFile, equality_ids), 0, 2, 136, 0 },
    { 140, "sort_order_id", F_OPT_I32, AT(IceFile, sort_order_id), 0, 1, 0, 0 },
    { 142, "first_row_id", F_OPT_I64, AT(IceFile, first_row_id), 0, 3, 0, 0 },
    { 143, "referenced_data_file", F_OPT_TEXT, AT(IceFile, referenced_data_file), 0, 2, 0, 0 },
    { 144, "content_offset", F_OPT_I64, AT(IceFile, content_offset), 0, 3, 0, 0 },
    { 145, "content_size_in_bytes", F_OPT_I64, AT(IceFile, content_size), 0, 3, 0, 0 },
};
const FieldTable FILE_FIELDS = { FILE_DEFS, COUNT_OF(FILE_DEFS), "r2" };

static const FieldDef ENTRY_DEFS[] = {
    { 0, "status", F_I32, AT(IceEntry, status), 0, 1, 0, 0 },
    { 1, "snapshot_id", F_OPT_I64, AT(IceEntry, snapshot_id), 0, 1, 0, 0 },
    { 3, "sequence_number", F_OPT_I64, AT(IceEntry, sequence_number), 0, 2, 0, 0 },
    { 4, "file_sequence_number", F_OPT_I64, AT(IceEntry, file_sequence_number), 0, 2, 0, 0 },
    { 2, "data_file", F_FILE, AT(IceEntry, file), 0, 1, 0, 0 },
};
const FieldTable ENTRY_FIELDS = { ENTRY_DEFS, COUNT_OF(ENTRY_DEFS), "manifest_entry" };

static const FieldDef SUMMARY_DEFS[] = {
    { 509, "contains_null", F_BOOL, AT(IceSummary, contains_null), 0, 1, 0, 0 },
    { 518, "contains_nan", F_HAS_BOOL, AT(IceSummary, contains_nan), AT(IceSummary, has_nan), 1, 0, 0 },
    { 510, "lower_bound", F_HAS_BYTES, AT(IceSummary, lower), AT(IceSummary, has_lower), 1, 0, 0 },
    { 511, "upper_bound", F_HAS_BYTES, AT(IceSummary, upper), AT(IceSummary, has_upper), 1, 0, 0 },
};
const FieldTable SUMMARY_FIELDS = { SUMMARY_DEFS, COUNT_OF(SUMMARY_DEFS), "r508" };

static const FieldDef MANIFEST_DEFS[] = {
    { 500, "manifest_path", F_TEXT, AT(IceManifest, path), 0, 1, 0, 0 },
    { 501, "manifest_length", F_I64, AT(IceManifest, length), 0, 1, 0, 0 },
    { 502, "partition_spec_id", F_I32, AT(IceManifest, spec_id), 0, 1, 0, 0 },
    { 517, "content", F_I32, AT(IceManifest, deletes), 0, 2, 0, 0 },
    { 515, "sequence_number", F_I64, AT(IceManifest, sequence_number), 0, 2, 0, 0 },
    { 516, "min_sequence_number", F_I64, AT(IceManifest, min_sequence_number), 0, 2, 0, 0 },
    { 503, "added_snapshot_id", F_REQ_I64, AT(IceManifest, added_snapshot_id), 0, 1, 0, 0 },
    { 504, "added_files_count", F_COUNT_I32, AT(IceManifest, added_files), 0, 1, 0, 0 },
    { 505, "existing_files_count", F_COUNT_I32, AT(IceManifest, existing_files), 0, 1, 0, 0 },
    { 506, "deleted_files_count", F_COUNT_I32, AT(IceManifest, deleted_files), 0, 1, 0, 0 },
    { 512, "added_rows_count", F_REQ_I64, AT(IceManifest, added_rows), 0, 1, 0, 0 },
    { 513, "existing_rows_count", F_REQ_I64, AT(IceManifest, existing_rows), 0, 1, 0, 0 },
    { 514, "deleted_rows_count", F_REQ_I64, AT(IceManifest, deleted_rows), 0, 1, 0, 0 },
    { 507, "partitions", F_SUMMARIES, AT(IceManifest, partitions), 0, 1, 508, 0 },
    { 519, "key_metadata", F_OPT_BYTES, AT(IceManifest, key_metadata), 0, 1, 0, 0 },
    { 520, "first_row_id", F_OPT_I64, AT(IceManifest, first_row_id), 0, 3, 0, 0 },
};
const FieldTable MANIFEST_FIELDS = { MANIFEST_DEFS, COUNT_OF(MANIFEST_DEFS), "manifest_file" };

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static bool is_integer(const AvroValue *v) { return v->kind == AVRO_INT || v->kind == AVRO_LONG; }
static bool is_bytes(const AvroValue *v) { return v->kind == AVRO_BYTES || v->kind == AVRO_STRING || v->kind == AVRO_FIXED; }

/* One pair of a map column: a record {key, value}. */
static bool read_pair(const AvroValue *v, const FieldDef *f, int32_t *key, const AvroValue **value)
{
    const AvroValue *k = avro_field(v, f->key_id, "key");

    *value = avro_field(v, f->value_id, "value");
    if (!k || !is_integer(k) || k->integer < INT32_MIN || k->integer > INT32_MAX || !*value)
        return false;
    *key = (int32_t)k->integer;
    return true;
}

/* Decoded values live in the reader's scratch arena: what is kept is copied, in lists of just the right size. */
#define RESERVE(a, v, count) do { \
    (v)->p = arena_alloc((a), (count) * sizeof *(v)->p); \
    (v)->n = 0; \
    (v)->cap = (count); \
} while (0)

static bool read_counts(Arena *a, const FieldDef *f, const AvroValue *v, Counts *ret)
{
    RESERVE(a, ret, v->items.n);
    for (size_t i = 0; i < v->items.n; i++) {
        const AvroValue *value;
        IceCount c;
        if (!read_pair(&v->items.p[i], f, &c.id, &value) || !is_integer(value))
            return false;
        c.n = value->integer;
        vec_push(a, ret, c);
    }
    return true;
}

static bool read_bounds(Arena *a, const FieldDef *f, const AvroValue *v, Bounds *ret)
{
    RESERVE(a, ret, v->items.n);
    for (size_t i = 0; i < v->items.n; i++) {
        const AvroValue *value;
        IceBound b;
        if (!read_pair(&v->items.p[i], f, &b.id, &value) || !is_bytes(value))
            return false;
        b.bytes = str_dup(a, value->bytes);
        vec_push(a, ret, b);
    }
    return true;
}

static bool read_longs(Arena *a, const AvroValue *v, Longs *ret)
{
    RESERVE(a, ret, v->items.n);
    for (size_t i = 0; i < v->items.n; i++) {
        if (!is_integer(&v->items.p[i]))
            return false;
        vec_push(a, ret, v->items.p[i].integer);
    }
    return true;
}

static bool read_ints(Arena *a, const AvroValue *v, Ints *ret)
{
    RESERVE(a, ret, v->items.n);
    for (size_t i = 0; i < v->items.n; i++) {
        if (!is_integer(&v->items.p[i]))
            return false;
        vec_push(a, ret, (int32_t)v->items.p[i].integer);
    }
    return true;
}

static bool read_list(Arena *a, const FieldDef *f, const AvroValue *v, void *at)
{
    if (v->kind != AVRO_ARRAY)
        return false;
    switch (f->kind) {
    case F_COUNTS: return read_counts(a, f, v, at);
    case F_BOUNDS: return read_bounds(a, f, v, at);
    case F_LONGS: return read_longs(a, v, at);
    default: return read_ints(a, v, at);
    }
}

static bool read_integer(const FieldDef *f, const AvroValue *v, void *at)
{
    if (!is_integer(v))
        return false;
    bool narrow = f->kind == F_I32 || f->kind == F_OPT_I32;
    if (narrow && (v->integer < INT32_MIN || v->integer > INT32_MAX))
        return false;
    switch (f->kind) {
    case F_I32: *(int32_t *)at = (int32_t)v->integer; return true;
    case F_I64: *(int64_t *)at = v->integer; return true;
    case F_OPT_I32: *(OptI32 *)at = SOME_I32((int32_t)v->integer); return true;
    default: *(OptI64 *)at = SOME_I64(v->integer); return true;
    }
}

static bool read_scalar(Arena *a, const FieldDef *f, const AvroValue *v, char *obj)
{
    void *at = obj + f->offset;

    switch (f->kind) {
    case F_TEXT:
    case F_OPT_TEXT:
    case F_OPT_BYTES:
    case F_HAS_BYTES:
        if (!is_bytes(v))
            return false;
        *(Str *)at = str_dup(a, v->bytes);
        if (f->kind == F_HAS_BYTES)
            *(int *)(obj + f->has) = 1;
        return true;
    case F_BOOL:
    case F_HAS_BOOL:
        *(int *)at = v->kind == AVRO_BOOL && v->boolean;
        if (f->kind == F_HAS_BOOL)
            *(int *)(obj + f->has) = 1;
        return v->kind == AVRO_BOOL;
    default: return read_integer(f, v, at);
    }
}

static Status read_partition(Arena *a, const PartitionShape *shape, const AvroValue *v, IceFile *file, Error *err)
{
    file->npartition = shape->spec->fields.n;
    file->partition = arena_array(a, IceValue, file->npartition + 1);
    for (size_t i = 0; i < file->npartition; i++) {
        const IcePartitionField *f = &shape->spec->fields.p[i];
        const AvroValue *value = avro_field(v, f->field_id, NULL);
        if (!value)
            value = avro_field(v, -1, str_z(a, ice_avro_name(a, f->name)));
        TRY_CTX(ice_avro_read_value(a, shape->types[i], value, &file->partition[i], err), err, "partition field '" STR_FMT "'",
                STR_ARG(f->name));
    }
    return OK;
}

static Status read_summaries(Arena *a, const AvroValue *v, IceManifest *mf, Error *err)
{
    if (v->kind != AVRO_ARRAY)
        return FAIL(err, E_CORRUPT, "field 'partitions' is no list");
    mf->partitions.n = v->items.n;
    mf->partitions.p = arena_array(a, IceSummary, v->items.n + 1);
    for (size_t i = 0; i < v->items.n; i++)
        TRY(ice_record_read(a, &SUMMARY_FIELDS, NULL, &v->items.p[i], &mf->partitions.p[i], err));
    return OK;
}

static Status read_field(Arena *a, const FieldDef *f, const PartitionShape *shape, const AvroValue *v, char *obj, Error *err)
{
    bool good;

    switch (f->kind) {
    case F_FILE: return ice_record_read(a, &FILE_FIELDS, shape, v, obj + f->offset, err);
    case F_PARTITION: return read_partition(a, shape, v, (IceFile *)obj, err);
    case F_SUMMARIES: return read_summaries(a, v, (IceManifest *)obj, err);
    case F_COUNTS:
    case F_BOUNDS:
    case F_LONGS:
    case F_INTS: good = read_list(a, f, v, obj + f->offset); break;
    default: good = read_scalar(a, f, v, obj);
    }
    return good ? OK : FAIL(err, E_CORRUPT, "field '%s' has the wrong type", f->name);
}

Status ice_record_read(Arena *a, const FieldTable *t, const PartitionShape *shape, const AvroValue *v, void *obj, Error *err)
{
    if (!v || v->kind != AVRO_RECORD)
        return FAIL(err, E_CORRUPT, "no '%s' record", t->record);
    for (const FieldDef *f = t->p; f < t->p + t->n; f++) {
        const AvroValue *value = avro_field(v, f->id, f->name);
        bool absent = !value || value->kind == AVRO_NULL;
        if (absent && (f->id == 100 || f->id == 500 || f->kind == F_FILE))
            return FAIL(err, E_CORRUPT, "field '%s' is missing", f->name);
        if (absent && f->kind != F_PARTITION)
            continue;
        TRY(read_field(a, f, shape, value, obj, err));
    }
    return OK;
}

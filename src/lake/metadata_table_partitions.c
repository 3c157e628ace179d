/* SPDX-License-Identifier: Apache-2.0 */
/* metadata_table_partitions.c - metadata tables of manifests as a whole, of partitions, and of position deletes. */
#include "lake/metadata_table_int.h"

/* ---- manifests ---------------------------------------------------------------------------------------------------------------- */

/* A bound as people read it: 2024, 2024-05, 2024-05-17, 2024-05-17-13. */
static Str human(Arena *a, const IceTransform *t, const IceType *type, const IceValue *v)
{
    IceType date = { .kind = ICE_DATE };
    IceValue day = { .kind = ICE_DATE };
    int64_t n = v->integer;

    switch (t->kind) {
    case TRANSFORM_YEAR:
        return str_fmt(a, "%lld", 1970 + (long long)n);
    case TRANSFORM_MONTH:
        return str_fmt(a, "%lld-%02lld", 1970 + (long long)(n >= 0 ? n / 12 : -((11 - n) / 12)), (long long)(((n % 12) + 12) % 12 + 1));
    case TRANSFORM_HOUR:
        day.integer = n >= 0 ? n / 24 : -((23 - n) / 24);
        return str_fmt(a, STR_FMT "-%02lld", STR_ARG(ice_value_text(a, &date, &day)), (long long)(((n % 24) + 24) % 24));
    default:
        return ice_value_text(a, type, v);
    }
}

static const IceField *field_of(const IceMetadata *m, int32_t id)
{
    const IceField *f = ice_field_by_id(ice_current_schema(m), id);
    for (size_t i = m->schemas.n; !f && i-- > 0; )
        f = ice_field_by_id(m->schemas.p[i], id);
    return f;
}

static void summary_bound(MdCells *c, const char *name, const IceMetadata *m, const IcePartitionField *f, Str bytes)
{
    const IceField *source = field_of(m, f->source_id);
    const IceType *type = source ? ice_transform_result(c->a, &f->transform, source->type) : NULL;
    IceValue v;

    if (type && ice_value_decode(c->a, type, bytes, &v))
        md_str(c, name, human(c->a, &f->transform, type, &v));
}

static Value summaries(MdFill *f, const DataType *type, const IceManifest *mf)
{
    const IceSpec *spec = ice_spec(f->t->meta, mf->spec_id);
    Value v = { .kind = DT_LIST, .type = type, .items = { arena_array(f->a, Value, mf->partitions.n + 1), mf->partitions.n } };

    for (size_t i = 0; i < mf->partitions.n; i++) {
        const IceSummary *s = &mf->partitions.p[i];
        MdCells c = md_cells(f->a, &type->children[0]);
        md_i64(&c, "contains_null", s->contains_null);
        if (s->has_nan)
            md_i64(&c, "contains_nan", s->contains_nan);
        if (spec && i < spec->fields.n && s->has_lower)
            summary_bound(&c, "lower_bound", f->t->meta, &spec->fields.p[i], s->lower);
        if (spec && i < spec->fields.n && s->has_upper)
            summary_bound(&c, "upper_bound", f->t->meta, &spec->fields.p[i], s->upper);
        v.items.p[i] = md_struct(&c);
    }
    return v;
}

static void manifest_row(MdFill *f, const IceManifest *mf, const IceSnapshot *s)
{
    MdCells c = md_cells(f->a, &f->shape->row);
    OptI64 none = { .v = 0, .has = 1 };

    md_i64(&c, "content", mf->deletes != 0);
    md_str(&c, "path", mf->path);
    md_i64(&c, "length", mf->length);
    md_i64(&c, "partition_spec_id", mf->spec_id);
    md_opt(&c, "added_snapshot_id", mf->added_snapshot_id);
    md_opt(&c, "added_data_files_count", mf->deletes ? none : mf->added_files);
    md_opt(&c, "existing_data_files_count", mf->deletes ? none : mf->existing_files);
    md_opt(&c, "deleted_data_files_count", mf->deletes ? none : mf->deleted_files);
    md_opt(&c, "added_delete_files_count", mf->deletes ? mf->added_files : none);
    md_opt(&c, "existing_delete_files_count", mf->deletes ? mf->existing_files : none);
    md_opt(&c, "deleted_delete_files_count", mf->deletes ? mf->deleted_files : none);
    md_set(&c, "partition_summaries", summaries(f, md_type(&c, "partition_summaries"), mf));
    md_i64(&c, "reference_snapshot_id", s->id);
    md_row(f, &c);
}

static Status manifests_of(MdFill *f, const IceSnapshot *s, Error *err)
{
    IceManifests list = {0};
    StrVec none = {0};

    TRY(ice_manifest_list_read(f->a, f->lake->store, f->t->meta, s, &list, err));
    TRY(lake_manifests_allowed(f->lake, f->a, f->t, s, &none, err));
    for (size_t i = 0; i < list.n; i++)
        TRY(lake_file_allowed(f->lake, f->a, f->t, list.p[i].path, err));
    for (size_t i = 0; i < list.n; i++)
        manifest_row(f, &list.p[i], s);
    return OK;
}

Status md_fill_manifests(MdFill *f, Error *err)
{
    return f->snapshot ? manifests_of(f, f->snapshot, err) : OK;
}

Status md_fill_all_manifests(MdFill *f, Error *err)
{
    for (size_t i = 0; i < f->t->meta->snapshots.n; i++)
        TRY(manifests_of(f, f->t->meta->snapshots.p[i], err));
    return OK;
}

/* ---- partitions ------------------------------------------------------------------------------------------------------------------ */

typedef struct PartitionSum {
    Value partition;
    int32_t spec_id;
    int64_t rows, files, bytes, pos_rows, pos_files, eq_rows, eq_files;
    const IceSnapshot *last;
} PartitionSum;
typedef struct PartitionSums { MdFill *f; Map by_key; } PartitionSums;

/* The tuple as text, to tell partitions apart; its values are copied to live as long as the sums. */
static Str partition_key(Arena *a, const Value *v)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; i < v->items.n; i++) {
        sb_addc(&b, i ? "," : "");
        sql_value(&b, &v->items.p[i]);
    }
    return sb_str(&b);
}

static void keep_bytes(Arena *a, Value *v)
{
    for (size_t i = 0; i < v->items.n; i++) {
        Value *x = &v->items.p[i];
        if (x->kind == DT_STRING || x->kind == DT_BINARY || x->kind == DT_UUID)
            x->string = str_dup(a, x->string);
    }
}

static PartitionSum *sum_of(PartitionSums *s, Arena *scratch, const IceFile *file)
{
    const DataType *type = NULL;
    for (size_t i = 0; i < s->f->shape->row.nchildren; i++)
        if (str_eq(s->f->shape->row.names[i], S("partition")))
            type = &s->f->shape->row.children[i];
    Value v = type ? md_partition(s->f->a, s->f, type, file) : (Value){ .kind = DT_NULL };
    Str key = type ? partition_key(scratch, &v) : S("");
    PartitionSum *sum = map_get(&s->by_key, key);

    if (sum)
        return sum;
    sum = arena_new(s->f->a, PartitionSum);
    if (type)
        keep_bytes(s->f->a, &v);
    sum->partition = v;
    map_put(&s->by_key, str_dup(s->f->a, key), sum);
    return sum;
}

static Status add_to_partition(void *ctx, Arena *scratch, const IceManifest *mf UNUSED, const IceEntry *e, Error *err UNUSED)
{
    PartitionSums *s = ctx;

    if (e->status == ENTRY_DELETED)
        return OK;
    PartitionSum *sum = sum_of(s, scratch, &e->file);
    const IceSnapshot *made = e->snapshot_id.has ? ice_snapshot(s->f->t->meta, e->snapshot_id.v) : NULL;
    sum->rows += e->file.content == CONTENT_DATA ? e->file.record_count : 0;
    sum->files += e->file.content == CONTENT_DATA;
    sum->bytes += e->file.content == CONTENT_DATA ? e->file.size : 0;
    sum->pos_rows += e->file.content == CONTENT_POSITION_DELETES ? e->file.record_count : 0;
    sum->pos_files += e->file.content == CONTENT_POSITION_DELETES;
    sum->eq_rows += e->file.content == CONTENT_EQUALITY_DELETES ? e->file.record_count : 0;
    sum->eq_files += e->file.content == CONTENT_EQUALITY_DELETES;
    if (!sum->last || (made && made->timestamp_ms > sum->last->timestamp_ms)) {
        sum->last = made ? made : sum->last;
        sum->spec_id = e->file.spec_id;
    }
    return OK;
}

Status md_fill_partitions(MdFill *f, Error *err)
{
    PartitionSums sums = { .f = f, .by_key = map_new(f->a) };

    TRY(md_walk(f, MD_THIS_SNAPSHOT, MD_DATA | MD_DELETES, add_to_partition, &sums, err));
    for (size_t i = 0; i < sums.by_key.n; i++) {
        const PartitionSum *s = sums.by_key.entries[i].value;
        MdCells c = md_cells(f->a, &f->shape->row);
        md_set(&c, "partition", s->partition);
        md_i64(&c, "spec_id", s->spec_id);
        md_i64(&c, "record_count", s->rows);
        md_i64(&c, "file_count", s->files);
        md_i64(&c, "total_data_file_size_in_bytes", s->bytes);
        md_i64(&c, "position_delete_record_count", s->pos_rows);
        md_i64(&c, "position_delete_file_count", s->pos_files);
        md_i64(&c, "equality_delete_record_count", s->eq_rows);
        md_i64(&c, "equality_delete_file_count", s->eq_files);
        if (s->last) {
            md_time(&c, "last_updated_at", s->last->timestamp_ms);
            md_i64(&c, "last_updated_snapshot_id", s->last->id);
        }
        md_row(f, &c);
    }
    return OK;
}

/* ---- position deletes -------------------------------------------------------------------------------------------------------------- */

static void position_row(MdFill *f, Arena *scratch, const IceFile *file, Str data_file, int64_t pos)
{
    MdCells c = md_cells(scratch, &f->shape->row);

    md_str(&c, "file_path", data_file);
    md_i64(&c, "pos", pos);
    if (md_type(&c, "partition"))
        md_set(&c, "partition", md_partition(scratch, f, md_type(&c, "partition"), file));
    md_i64(&c, "spec_id", file->spec_id);
    md_str(&c, "delete_file_path", file->path);
    md_opt(&c, "content_offset", file->content_offset);
    md_opt(&c, "content_size_in_bytes", file->content_size);
    md_row(f, &c);
}

static Status vector_rows(MdFill *f, Arena *scratch, const IceFile *file, Error *err)
{
    Positions positions = {0};

    TRY(ice_dv_read(scratch, f->lake->store, file, &positions, err));
    for (size_t i = 0; i < positions.n; i++)
        position_row(f, scratch, file, file->referenced_data_file, (int64_t)positions.p[i]);
    return OK;
}

static Status position_file_rows(MdFill *f, Arena *scratch, const IceFile *file, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    Str local;
    size_t n;

    TRY(store_local_path(f->lake->store, scratch, file->path, &local, err));
    Str sql = str_fmt(scratch, "SELECT file_path, pos FROM read_parquet(" STR_FMT ", hive_partitioning = false)", STR_ARG(sql_lit_str(scratch, local)));
    TRY_CTX(duck_query_held(f->c, sql, &r, err), err, "reading position deletes '" STR_FMT "'", STR_ARG(file->path));
    for (;;) {
        TRY(duck_next(r, &n, err));
        if (!n)
            return OK;
        for (size_t i = 0; i < n; i++)
            position_row(f, scratch, file, duck_value(scratch, r, 0, i).string, duck_value(scratch, r, 1, i).integer);
    }
}

static Status position_rows(void *ctx, Arena *scratch, const IceManifest *mf UNUSED, const IceEntry *e, Error *err)
{
    MdFill *f = ctx;

    if (e->status == ENTRY_DELETED || e->file.content != CONTENT_POSITION_DELETES)
        return OK;
    if (str_eq(e->file.format, S("PUFFIN")))
        return vector_rows(f, scratch, &e->file, err);
    if (!str_eq(e->file.format, S("PARQUET")))
        return FAIL(err, E_UNSUPPORTED, "'" STR_FMT "' is an " STR_FMT " file: only Parquet delete files can be read", STR_ARG(e->file.path), STR_ARG(e->file.format));
    return position_file_rows(f, scratch, &e->file, err);
}

Status md_fill_position_deletes(MdFill *f, Error *err) { return md_walk(f, MD_THIS_SNAPSHOT, MD_DELETES, position_rows, f, err); }

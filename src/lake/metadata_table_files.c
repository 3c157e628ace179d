/* SPDX-License-Identifier: Apache-2.0 */
/* metadata_table_files.c - metadata tables that are read from manifests: files, entries, partitions, position deletes.
 *
 * A manifest is read into an arena of its own, so memory is bounded by the largest manifest and not by the table.
 * The all_* tables read each manifest that any snapshot names once. */
#include "lake/metadata_table_int.h"

/* ---- walking ---------------------------------------------------------------------------------------------------------------- */

static Status walk_manifest(MdFill *f, const IceManifest *mf, MdVisit visit, void *ctx, Error *err)
{
    CLEANUP(arena_destroyp) Arena *scratch = arena_create();
    IceEntries entries = {0};

    TRY(ice_manifest_read(scratch, f->lake->store, f->t->meta, mf, &entries, err));
    for (size_t i = 0; i < entries.n; i++)
        TRY(visit(ctx, scratch, mf, &entries.p[i], err));
    return OK;
}

static Status walk_snapshot(MdFill *f, const IceSnapshot *s, Map *seen, int contents, MdVisit visit, void *ctx, Error *err)
{
    IceManifests list = {0};
    StrVec none = {0};

    TRY(ice_manifest_list_read(f->a, f->lake->store, f->t->meta, s, &list, err));
    TRY(lake_manifests_allowed(f->lake, f->a, f->t, s, &none, err));
    for (size_t i = 0; i < list.n; i++)
        TRY(lake_file_allowed(f->lake, f->a, f->t, list.p[i].path, err));
    for (size_t i = 0; i < list.n; i++) {
        const IceManifest *mf = &list.p[i];
        if (!(contents & (mf->deletes ? MD_DELETES : MD_DATA)) || map_has(seen, mf->path))
            continue;
        map_put(seen, mf->path, f);
        TRY(walk_manifest(f, mf, visit, ctx, err));
    }
    return OK;
}

Status md_walk(MdFill *f, MdReach reach, int contents, MdVisit visit, void *ctx, Error *err)
{
    const IceMetadata *m = f->t->meta;
    Map seen = map_new(f->a);

    if (reach == MD_THIS_SNAPSHOT)
        return f->snapshot ? walk_snapshot(f, f->snapshot, &seen, contents, visit, ctx, err) : OK;
    for (size_t i = 0; i < m->snapshots.n; i++)
        TRY(walk_snapshot(f, m->snapshots.p[i], &seen, contents, visit, ctx, err));
    return OK;
}

/* ---- a file's cells ---------------------------------------------------------------------------------------------------------- */

Value md_partition(Arena *a, const MdFill *f, const DataType *type, const IceFile *file)
{
    const IceSpec *spec = ice_spec(f->t->meta, file->spec_id);
    MdCells c = md_cells(a, type);

    for (size_t i = 0; spec && i < spec->fields.n && i < file->npartition; i++)
        for (size_t k = 0; k < f->shape->partition.n; k++) {
            const MdPartField *p = &f->shape->partition.p[k];
            if (p->id == spec->fields.p[i].field_id && spec->fields.p[i].transform.kind != TRANSFORM_VOID)
                c.values[k] = lake_value(a, &type->children[k], &file->partition[i]);
        }
    return md_struct(&c);
}

static void set_counts(MdCells *c, const char *name, const IceCount *p, size_t n)
{
    const DataType *t = md_type(c, name);
    Value v = { .kind = DT_MAP, .type = t, .items = { arena_array(c->a, Value, 2 * n + 1), 2 * n } };

    if (!t || !n)
        return;
    for (size_t i = 0; i < n; i++) {
        v.items.p[2 * i] = (Value){ .kind = DT_INT32, .type = &t->children[0], .integer = p[i].id };
        v.items.p[2 * i + 1] = (Value){ .kind = DT_INT64, .type = &t->children[1], .integer = p[i].n };
    }
    md_set(c, name, v);
}

static void set_bounds(MdCells *c, const char *name, const IceBound *p, size_t n)
{
    const DataType *t = md_type(c, name);
    Value v = { .kind = DT_MAP, .type = t, .items = { arena_array(c->a, Value, 2 * n + 1), 2 * n } };

    if (!t || !n)
        return;
    for (size_t i = 0; i < n; i++) {
        v.items.p[2 * i] = (Value){ .kind = DT_INT32, .type = &t->children[0], .integer = p[i].id };
        v.items.p[2 * i + 1] = (Value){ .kind = DT_BINARY, .type = &t->children[1], .string = p[i].bytes };
    }
    md_set(c, name, v);
}

static void set_lists(MdCells *c, const IceFile *file)
{
    const DataType *t = md_type(c, "split_offsets");
    Value v = { .kind = DT_LIST, .type = t, .items = { arena_array(c->a, Value, file->split_offsets.n + 1), file->split_offsets.n } };

    for (size_t i = 0; i < file->split_offsets.n; i++)
        v.items.p[i] = (Value){ .kind = DT_INT64, .type = &t->children[0], .integer = file->split_offsets.p[i] };
    if (file->split_offsets.n)
        md_set(c, "split_offsets", v);
    t = md_type(c, "equality_ids");
    v = (Value){ .kind = DT_LIST, .type = t, .items = { arena_array(c->a, Value, file->equality_ids.n + 1), file->equality_ids.n } };
    for (size_t i = 0; i < file->equality_ids.n; i++)
        v.items.p[i] = (Value){ .kind = DT_INT32, .type = &t->children[0], .integer = file->equality_ids.p[i] };
    if (file->equality_ids.n)
        md_set(c, "equality_ids", v);
}

static void set_count_of(MdCells *c, const char *name, const IceCount *p, size_t n, int32_t id)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].id == id)
            md_i64(c, name, p[i].n);
}

static void set_bound_of(MdCells *c, const char *name, const IceBound *p, size_t n, const IceField *f)
{
    for (size_t i = 0; i < n; i++) {
        IceValue v;
        if (p[i].id == f->id && ice_value_decode(c->a, f->type, p[i].bytes, &v))
            md_set(c, name, lake_value(c->a, md_type(c, name), &v));
    }
}

static Value metrics_value(Arena *a, const MdFill *f, const DataType *type, const IceFile *file)
{
    MdCells all = md_cells(a, type);

    for (size_t i = 0; i < type->nchildren; i++) {
        const IceField *field = f->shape->metrics.p[i].field;
        MdCells c = md_cells(a, &type->children[i]);
        set_count_of(&c, "column_size", file->column_sizes.p, file->column_sizes.n, field->id);
        set_count_of(&c, "value_count", file->value_counts.p, file->value_counts.n, field->id);
        set_count_of(&c, "null_value_count", file->null_counts.p, file->null_counts.n, field->id);
        set_count_of(&c, "nan_value_count", file->nan_counts.p, file->nan_counts.n, field->id);
        set_bound_of(&c, "lower_bound", file->lower.p, file->lower.n, field);
        set_bound_of(&c, "upper_bound", file->upper.p, file->upper.n, field);
        all.values[i] = md_struct(&c);
    }
    return md_struct(&all);
}

static void file_cells(const MdFill *f, MdCells *c, const IceFile *file)
{
    md_i64(c, "content", file->content);
    md_str(c, "file_path", file->path);
    md_str(c, "file_format", file->format);
    md_i64(c, "spec_id", file->spec_id);
    if (md_type(c, "partition"))
        md_set(c, "partition", md_partition(c->a, f, md_type(c, "partition"), file));
    md_i64(c, "record_count", file->record_count);
    md_i64(c, "file_size_in_bytes", file->size);
    set_counts(c, "column_sizes", file->column_sizes.p, file->column_sizes.n);
    set_counts(c, "value_counts", file->value_counts.p, file->value_counts.n);
    set_counts(c, "null_value_counts", file->null_counts.p, file->null_counts.n);
    set_counts(c, "nan_value_counts", file->nan_counts.p, file->nan_counts.n);
    set_bounds(c, "lower_bounds", file->lower.p, file->lower.n);
    set_bounds(c, "upper_bounds", file->upper.p, file->upper.n);
    md_str_or_null(c, "key_metadata", file->key_metadata);
    set_lists(c, file);
    if (file->sort_order_id.has)
        md_i64(c, "sort_order_id", file->sort_order_id.v);
    md_opt(c, "first_row_id", file->first_row_id);
    md_str_or_null(c, "referenced_data_file", file->referenced_data_file);
    md_opt(c, "content_offset", file->content_offset);
    md_opt(c, "content_size_in_bytes", file->content_size);
    if (md_type(c, "readable_metrics"))
        md_set(c, "readable_metrics", metrics_value(c->a, f, md_type(c, "readable_metrics"), file));
}

/* ---- files, entries -------------------------------------------------------------------------------------------------------------- */

static Status file_row(void *ctx, Arena *scratch, const IceManifest *mf UNUSED, const IceEntry *e, Error *err UNUSED)
{
    MdFill *f = ctx;
    MdCells c = md_cells(scratch, &f->shape->row);

    if (e->status == ENTRY_DELETED)
        return OK;
    file_cells(f, &c, &e->file);
    md_row(f, &c);
    return OK;
}

static Status entry_row(void *ctx, Arena *scratch, const IceManifest *mf UNUSED, const IceEntry *e, Error *err UNUSED)
{
    MdFill *f = ctx;
    MdCells c = md_cells(scratch, &f->shape->row);
    MdCells file = md_cells(scratch, md_type(&c, "data_file"));

    md_i64(&c, "status", e->status);
    md_opt(&c, "snapshot_id", e->snapshot_id);
    md_opt(&c, "sequence_number", e->sequence_number);
    md_opt(&c, "file_sequence_number", e->file_sequence_number);
    file_cells(f, &file, &e->file);
    md_set(&c, "data_file", md_struct(&file));
    if (md_type(&c, "readable_metrics"))
        md_set(&c, "readable_metrics", metrics_value(scratch, f, md_type(&c, "readable_metrics"), &e->file));
    md_row(f, &c);
    return OK;
}

Status md_fill_files(MdFill *f, Error *err) { return md_walk(f, MD_THIS_SNAPSHOT, MD_DATA | MD_DELETES, file_row, f, err); }
Status md_fill_data_files(MdFill *f, Error *err) { return md_walk(f, MD_THIS_SNAPSHOT, MD_DATA, file_row, f, err); }
Status md_fill_delete_files(MdFill *f, Error *err) { return md_walk(f, MD_THIS_SNAPSHOT, MD_DELETES, file_row, f, err); }
Status md_fill_all_files(MdFill *f, Error *err) { return md_walk(f, MD_ALL_SNAPSHOTS, MD_DATA | MD_DELETES, file_row, f, err); }
Status md_fill_all_data_files(MdFill *f, Error *err) { return md_walk(f, MD_ALL_SNAPSHOTS, MD_DATA, file_row, f, err); }
Status md_fill_all_delete_files(MdFill *f, Error *err) { return md_walk(f, MD_ALL_SNAPSHOTS, MD_DELETES, file_row, f, err); }
Status md_fill_entries(MdFill *f, Error *err) { return md_walk(f, MD_THIS_SNAPSHOT, MD_DATA | MD_DELETES, entry_row, f, err); }
Status md_fill_all_entries(MdFill *f, Error *err) { return md_walk(f, MD_ALL_SNAPSHOTS, MD_DATA | MD_DELETES, entry_row, f, err); }

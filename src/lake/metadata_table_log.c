/* SPDX-License-Identifier: Apache-2.0 */
/* metadata_table_log.c - metadata tables that the metadata file alone answers: snapshots, history, refs, the metadata log. */
#include "lake/metadata_table_int.h"

static Value text_map(Arena *a, const DataType *t, const Props *p)
{
    Value v = { .kind = DT_MAP, .type = t, .items = { arena_array(a, Value, 2 * p->n + 1), 2 * p->n } };
    for (size_t i = 0; i < p->n; i++) {
        v.items.p[2 * i] = (Value){ .kind = DT_STRING, .type = &t->children[0], .string = p->p[i].key };
        v.items.p[2 * i + 1] = (Value){ .kind = DT_STRING, .type = &t->children[1], .string = p->p[i].value };
    }
    return v;
}

Status md_fill_snapshots(MdFill *f, Error *err UNUSED)
{
    const IceMetadata *m = f->t->meta;

    for (size_t i = 0; i < m->snapshots.n; i++) {
        const IceSnapshot *s = m->snapshots.p[i];
        MdCells c = md_cells(f->a, &f->shape->row);
        md_time(&c, "committed_at", s->timestamp_ms);
        md_i64(&c, "snapshot_id", s->id);
        md_opt(&c, "parent_id", s->parent_id);
        md_str_or_null(&c, "operation", s->operation);
        md_str_or_null(&c, "manifest_list", s->manifest_list);
        md_set(&c, "summary", text_map(f->a, md_type(&c, "summary"), &s->summary));
        md_row(f, &c);
    }
    return OK;
}

Status md_fill_history(MdFill *f, Error *err UNUSED)
{
    const IceMetadata *m = f->t->meta;

    for (size_t i = 0; i < m->snapshot_log.n; i++) {
        const IceLogEntry *e = &m->snapshot_log.p[i];
        const IceSnapshot *s = ice_snapshot(m, e->snapshot_id);
        MdCells c = md_cells(f->a, &f->shape->row);
        md_time(&c, "made_current_at", e->timestamp_ms);
        md_i64(&c, "snapshot_id", e->snapshot_id);
        if (s)
            md_opt(&c, "parent_id", s->parent_id);
        md_i64(&c, "is_current_ancestor", m->current_snapshot_id.has && ice_is_ancestor(m, e->snapshot_id, m->current_snapshot_id.v));
        md_row(f, &c);
    }
    return OK;
}

Status md_fill_refs(MdFill *f, Error *err UNUSED)
{
    const IceMetadata *m = f->t->meta;

    for (size_t i = 0; i < m->refs.n; i++) {
        const IceRef *r = &m->refs.p[i];
        MdCells c = md_cells(f->a, &f->shape->row);
        md_str(&c, "name", r->name);
        md_str(&c, "type", str_upper(f->a, r->type));
        md_i64(&c, "snapshot_id", r->snapshot_id);
        md_opt(&c, "max_reference_age_in_ms", r->max_ref_age_ms);
        if (r->min_snapshots.has)
            md_i64(&c, "min_snapshots_to_keep", r->min_snapshots.v);
        md_opt(&c, "max_snapshot_age_in_ms", r->max_snapshot_age_ms);
        md_row(f, &c);
    }
    return OK;
}

static void log_row(MdFill *f, int64_t ms, Str file)
{
    const IceSnapshot *s = ice_snapshot_at(f->t->meta, ms);
    MdCells c = md_cells(f->a, &f->shape->row);

    md_time(&c, "timestamp", ms);
    md_str(&c, "file", file);
    if (s) {
        md_i64(&c, "latest_snapshot_id", s->id);
        md_i64(&c, "latest_sequence_number", s->sequence_number);
        if (s->schema_id.has)
            md_i64(&c, "latest_schema_id", s->schema_id.v);
    }
    md_row(f, &c);
}

Status md_fill_metadata_log(MdFill *f, Error *err UNUSED)
{
    const IceMetadata *m = f->t->meta;

    for (size_t i = 0; i < m->metadata_log.n; i++)
        log_row(f, m->metadata_log.p[i].timestamp_ms, m->metadata_log.p[i].file);
    log_row(f, m->last_updated_ms, f->t->relation.metadata_location);
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_write.c - entries to a manifest, manifests to a manifest list.
 *
 * What the list says of a manifest (counts, partition summaries, lowest sequence number) is computed from the entries
 * that are written, never copied. */
#include "iceberg/fields_int.h"

#include <math.h>

/* ---- the partition tuple -------------------------------------------------------------------------------------------- */

/* For a source column that is gone, and for a transform that we do not know: as the values are. */
static IceType *type_of_values(Arena *a, const IceEntries *entries, size_t field)
{
    IceType *t = ice_type_new(a, ICE_STRING);

    for vec_each(const IceEntry, e, entries) {
        const IceValue *v = field < e->file.npartition ? &e->file.partition[field] : NULL;
        if (!v || v->null)
            continue;
        t->kind = v->kind;
        t->precision = 38;
        t->scale = v->scale;
        t->length = (int)v->bytes.n;
        break;
    }
    return t;
}

static Status shape_of(Arena *a, const IceMetadata *m, int32_t spec_id, const IceEntries *entries, PartitionShape *ret, Error *err)
{
    ret->spec = ice_spec(m, spec_id);
    if (!ret->spec)
        return FAIL(err, E_INVALID, "unknown partition spec: %d", (int)spec_id);
    ret->types = arena_array(a, IceType *, ret->spec->fields.n + 1);
    for (size_t i = 0; i < ret->spec->fields.n; i++) {
        const IcePartitionField *f = &ret->spec->fields.p[i];
        IceType *t = f->transform.kind == TRANSFORM_UNKNOWN ? NULL : ice_partition_type(a, m, f);
        ret->types[i] = t ? t : type_of_values(a, entries, i);
    }
    return OK;
}

/* ---- what the list will say -------------------------------------------------------------------------------------------- */

typedef struct Span { IceValue lower, upper; int any, null, nan; } Span;

static void widen(Span *s, const IceValue *v)
{
    bool real = v->kind == ICE_FLOAT || v->kind == ICE_DOUBLE;

    if (v->null) {
        s->null = 1;
    } else if (real && isnan(v->real)) {
        s->nan = 1;
    } else {
        if (!s->any || ice_value_cmp(v, &s->lower) < 0)
            s->lower = *v;
        if (!s->any || ice_value_cmp(v, &s->upper) > 0)
            s->upper = *v;
        s->any = 1;
    }
}

static void summarise(Arena *a, const PartitionShape *shape, const IceEntries *entries, IceManifest *mf)
{
    mf->partitions.n = shape->spec->fields.n;
    mf->partitions.p = arena_array(a, IceSummary, mf->partitions.n + 1);
    for (size_t i = 0; i < mf->partitions.n; i++) {
        Span s = { 0 };
        for vec_each(const IceEntry, e, entries)
            if (i < e->file.npartition)
                widen(&s, &e->file.partition[i]);
        IceSummary *out = &mf->partitions.p[i];
        *out = (IceSummary){ .contains_null = s.null, .contains_nan = s.nan, .has_nan = 1, .has_lower = s.any, .has_upper = s.any };
        if (s.any) {
            out->lower = ice_value_encode(a, shape->types[i], &s.lower);
            out->upper = ice_value_encode(a, shape->types[i], &s.upper);
        }
    }
}

static void count(const IceManifestPlan *plan, const IceEntries *entries, IceManifest *mf)
{
    OptI64 *files[] = { &mf->existing_files, &mf->added_files, &mf->deleted_files };
    OptI64 *rows[] = { &mf->existing_rows, &mf->added_rows, &mf->deleted_rows };
    OptI64 lowest = { 0 };

    for (int i = 0; i < 3; i++)
        *files[i] = *rows[i] = SOME_I64(0);
    for vec_each(const IceEntry, e, entries) {
        files[e->status]->v++;
        rows[e->status]->v = ice_add_sat(rows[e->status]->v, e->file.record_count);
        int64_t seq = e->sequence_number.has ? e->sequence_number.v : plan->sequence_number;
        if (ice_is_live(e) && (!lowest.has || seq < lowest.v))
            lowest = SOME_I64(seq);
    }
    mf->min_sequence_number = lowest.has ? lowest.v : plan->sequence_number;
}

/* ---- manifests ------------------------------------------------------------------------------------------------------------ */

static Props manifest_header(Arena *a, const IceMetadata *m, const IceManifestPlan *plan, const PartitionShape *shape)
{
    const IceSchema *s = ice_current_schema(m);
    Props p = { 0 };

    props_set(a, &p, S("schema"), json_text(a, ice_schema_json(a, s)));
    props_set(a, &p, S("schema-id"), str_fmt(a, "%d", (int)s->id));
    props_set(a, &p, S("partition-spec"), json_text(a, json_get(ice_spec_json(a, shape->spec), "fields")));
    props_set(a, &p, S("partition-spec-id"), str_fmt(a, "%d", (int)plan->spec_id));
    props_set(a, &p, S("format-version"), str_fmt(a, "%d", m->format_version));
    props_set(a, &p, S("content"), plan->deletes ? S("deletes") : S("data"));
    return p;
}

static Status writable(const IceMetadata *m, Error *err)
{
    if (m->format_version >= 2)
        return OK;
    Status s = FAIL(err, E_UNSUPPORTED, "format version 1 is read only");
    error_hint(err, "set the table property format-version to 2 first");
    return s;
}

Status ice_manifest_write(Arena *a, Store *st, const IceMetadata *m, const IceManifestPlan *plan, const IceEntries *entries,
                          IceManifest *ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *scratch = arena_create();      /* Avro's values are large and short-lived */
    PartitionShape shape;
    Str bytes;

    TRY(writable(m, err));
    TRY(shape_of(a, m, plan->spec_id, entries, &shape, err));
    AvroValue *rows = arena_array(scratch, AvroValue, entries->n + 1);
    for (size_t i = 0; i < entries->n; i++)
        rows[i] = ice_record_value(scratch, &ENTRY_FIELDS, m->format_version, &shape, &entries->p[i]);
    Str schema = json_text(a, ice_record_schema(a, &ENTRY_FIELDS, m->format_version, &shape));
    Props header = manifest_header(a, m, plan, &shape);
    TRY_CTX(avro_write(scratch, schema, &header, "deflate", rows, entries->n, &bytes, err), err, "encoding manifest");
    TRY_CTX(store_put_new(st, plan->path, bytes, err), err, "writing manifest '" STR_FMT "'", STR_ARG(plan->path));

    IceManifest mf = { .path = plan->path, .length = (int64_t)bytes.n, .sequence_number = plan->sequence_number,
                       .added_snapshot_id = SOME_I64(plan->snapshot_id), .spec_id = plan->spec_id, .deletes = plan->deletes };
    count(plan, entries, &mf);
    summarise(a, &shape, entries, &mf);
    *ret = mf;
    return OK;
}

/* ---- lists --------------------------------------------------------------------------------------------------------------- */

static Props list_header(Arena *a, const IceMetadata *m, const IceSnapshot *s)
{
    Props p = { 0 };

    props_set(a, &p, S("snapshot-id"), str_fmt(a, "%lld", (long long)s->id));
    props_set(a, &p, S("parent-snapshot-id"), s->parent_id.has ? str_fmt(a, "%lld", (long long)s->parent_id.v) : S("null"));
    props_set(a, &p, S("sequence-number"), str_fmt(a, "%lld", (long long)s->sequence_number));
    props_set(a, &p, S("format-version"), str_fmt(a, "%d", m->format_version));
    if (m->format_version >= 3)
        props_set(a, &p, S("first-row-id"), str_fmt(a, "%lld", (long long)s->first_row_id.v));
    return p;
}

Status ice_manifest_list_write(Arena *a, Store *st, const IceMetadata *m, const IceSnapshot *s, Str path, const IceManifests *list, Error *err)
{
    AvroValue *rows = arena_array(a, AvroValue, list->n + 1);
    Props header = list_header(a, m, s);
    Str bytes;

    TRY(writable(m, err));
    for (size_t i = 0; i < list->n; i++)
        rows[i] = ice_record_value(a, &MANIFEST_FIELDS, m->format_version, NULL, &list->p[i]);
    Str schema = json_text(a, ice_record_schema(a, &MANIFEST_FIELDS, m->format_version, NULL));
    TRY_CTX(avro_write(a, schema, &header, "deflate", rows, list->n, &bytes, err), err, "encoding manifest list");
    TRY_CTX(store_put_new(st, path, bytes, err), err, "writing manifest list '" STR_FMT "'", STR_ARG(path));
    return OK;
}

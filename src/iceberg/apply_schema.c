/* SPDX-License-Identifier: Apache-2.0 */
/* apply_schema.c - updates of schemas, partition specs and sort orders.
 *
 * What is the same as something that is there is not added again; its id counts as the one added last. */
#include "iceberg/apply_int.h"

static void rising(int32_t *last, int32_t id) { *last = id > *last ? id : *last; }

Status ice_add_schema(Build *b, const IceSchema *s, Error *err)
{
    IceMetadata *m = b->m;
    int32_t id = m->current_schema_id, top = ice_schema_highest_id(s);

    TRY(ice_schema_check_version(b->a, s, m->format_version, err));
    for (size_t i = 0; i < m->schemas.n; i++) {
        if (ice_same_schema(m->schemas.p[i], s)) {
            b->added_schema = SOME_I32(m->schemas.p[i]->id);
            return OK;
        }
        id = m->schemas.p[i]->id >= id ? ice_next_id(m->schemas.p[i]->id) : id;
    }
    IceSchema *added = arena_new(b->a, IceSchema);
    *added = *s;
    added->id = id;
    vec_push(b->a, &m->schemas, added);
    rising(&m->last_column_id, top);
    b->added_schema = SOME_I32(id);
    b->changed = 1;
    return OK;
}

static Status last_added(OptI32 added, int64_t asked, const char *what, const char *whats, int32_t *ret, Error *err)
{
    if (asked == -1 && !added.has)
        return FAIL(err, E_INVALID, "Cannot set last added %s: no %s has been added", what, whats);
    *ret = asked == -1 ? added.v : (int32_t)asked;
    return OK;
}

Status ice_set_current_schema(Build *b, int64_t asked, Error *err)
{
    int32_t id;

    TRY(last_added(b->added_schema, asked, "schema", "schema", &id, err));
    if (!ice_schema(b->m, id))
        return FAIL(err, E_INVALID, "Cannot set current schema to unknown schema: %d", (int)id);
    b->changed |= id != b->m->current_schema_id;
    b->m->current_schema_id = id;
    return OK;
}

static Status source_exists(Build *b, int32_t source, const char *what, Str name, Error *err)
{
    if (ice_field_by_id(ice_current_schema(b->m), source))
        return OK;
    return FAIL(err, E_INVALID, "Cannot find source column for %s field: " STR_FMT " (id %d)", what, STR_ARG(name), (int)source);
}

static Status check_transform(Build *b, const IcePartitionField *f, Error *err)
{
    const IceField *source = ice_field_by_id(ice_current_schema(b->m), f->source_id);
    IceValue null = { .null = 1 }, out;

    if (f->transform.kind == TRANSFORM_UNKNOWN)
        return FAIL(err, E_INVALID, "Cannot use unknown transform: " STR_FMT, STR_ARG(f->transform.text));
    return ice_transform_apply(b->a, &f->transform, source->type, &null, &out, err);
}

/* An id that another spec gave to the same source and transform is used again. */
static int32_t partition_id(Build *b, const IcePartitionField *f)
{
    for (size_t i = 0; i < b->m->specs.n; i++)
        for vec_each(const IcePartitionField, g, &b->m->specs.p[i]->fields)
            if (g->source_id == f->source_id && g->transform.kind == f->transform.kind && g->transform.width == f->transform.width)
                return g->field_id;
    b->m->last_partition_id = ice_next_id(b->m->last_partition_id);
    return b->m->last_partition_id;
}

static Status fresh_spec(Build *b, const IceSpec *s, int32_t id, IceSpec **ret, Error *err)
{
    IceSpec *added = arena_new(b->a, IceSpec);

    *added = *s;
    added->id = id;
    COPY_LIST(b->a, added->fields);
    for vec_each(IcePartitionField, f, &added->fields) {
        TRY(source_exists(b, f->source_id, "partition", f->name, err));
        TRY(check_transform(b, f, err));
        if (!f->field_id)
            f->field_id = partition_id(b, f);
        rising(&b->m->last_partition_id, f->field_id);
    }
    for (size_t i = 0; b->m->format_version == 1 && i < added->fields.n; i++)
        if (added->fields.p[i].field_id != FIRST_PARTITION_ID + (int32_t)i)
            return FAIL(err, E_INVALID, "Spec does not use sequential IDs that are required in v1");
    *ret = added;
    return OK;
}

Status ice_add_spec(Build *b, const IceSpec *s, Error *err)
{
    IceMetadata *m = b->m;
    int32_t id = m->default_spec_id;
    IceSpec *added;

    if (!m->schemas.n)
        return FAIL(err, E_INVALID, "Attempting to add a partition spec before a schema is added");
    for (size_t i = 0; i < m->specs.n; i++) {
        if (ice_spec_compatible(m->specs.p[i], s)) {
            b->added_spec = SOME_I32(m->specs.p[i]->id);
            return OK;
        }
        id = m->specs.p[i]->id >= id ? ice_next_id(m->specs.p[i]->id) : id;
    }
    TRY(fresh_spec(b, s, id, &added, err));
    vec_push(b->a, &m->specs, added);
    b->added_spec = SOME_I32(id);
    b->changed = 1;
    return OK;
}

Status ice_set_default_spec(Build *b, int64_t asked, Error *err)
{
    int32_t id;

    TRY(last_added(b->added_spec, asked, "spec", "spec", &id, err));
    if (!ice_spec(b->m, id))
        return FAIL(err, E_INVALID, "Cannot set default spec to unknown spec: %d", (int)id);
    b->changed |= id != b->m->default_spec_id;
    b->m->default_spec_id = id;
    return OK;
}

Status ice_add_order(Build *b, const IceSortOrder *o, Error *err)
{
    IceMetadata *m = b->m;
    int32_t id = o->fields.n ? 1 : 0;

    for (size_t i = 0; i < m->orders.n; i++) {
        if (ice_order_same(m->orders.p[i], o)) {
            b->added_order = SOME_I32(m->orders.p[i]->id);
            return OK;
        }
        id = o->fields.n && m->orders.p[i]->id >= id ? ice_next_id(m->orders.p[i]->id) : id;
    }
    for vec_each(const IceSortField, f, &o->fields)
        TRY(source_exists(b, f->source_id, "sort", f->transform.text, err));
    IceSortOrder *added = arena_new(b->a, IceSortOrder);
    *added = *o;
    added->id = id;
    vec_push(b->a, &m->orders, added);
    b->added_order = SOME_I32(id);
    b->changed = 1;
    return OK;
}

Status ice_set_default_order(Build *b, int64_t asked, Error *err)
{
    bool found = false;
    int32_t id;

    TRY(last_added(b->added_order, asked, "sort order", "sort order", &id, err));
    for (size_t i = 0; i < b->m->orders.n; i++)
        found |= b->m->orders.p[i]->id == id;
    if (!found)
        return FAIL(err, E_INVALID, "Cannot set default sort order to unknown sort order: %d", (int)id);
    b->changed |= id != b->m->default_order_id;
    b->m->default_order_id = id;
    return OK;
}

Status ice_remove_schemas(Build *b, const IceUpdate *u, Error *err)
{
    size_t before = b->m->schemas.n;

    if (HAS_ID(u->ids, b->m->current_schema_id))
        return FAIL(err, E_INVALID, "Cannot remove the current schema");
    FILTER(IceSchema *, b->m->schemas, !HAS_ID(u->ids, it->id));
    b->changed |= before != b->m->schemas.n;
    return OK;
}

Status ice_remove_specs(Build *b, const IceUpdate *u, Error *err)
{
    size_t before = b->m->specs.n;

    if (HAS_ID(u->ids, b->m->default_spec_id))
        return FAIL(err, E_INVALID, "Cannot remove the default partition spec");
    FILTER(IceSpec *, b->m->specs, !HAS_ID(u->ids, it->id));
    b->changed |= before != b->m->specs.n;
    return OK;
}

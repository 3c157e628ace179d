/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - updates applied to metadata give new metadata (the rules of the reference's TableMetadata.Builder).
 *
 * The builder works on a copy whose lists are its own; the value it started from is never touched.
 * 1. An identical schema, spec or order is not added again: its id is reused.  2. -1 means what this request added
 * last.  3. Only a snapshot newer than the last sequence number is added.  4. `main` and the current snapshot move
 * together and leave a log entry; snapshots that were current only inside of this commit leave none. */
#include "iceberg/apply_int.h"

static IceMetadata *copy_of(Arena *a, const IceMetadata *m)
{
    IceMetadata *c = arena_new(a, IceMetadata);

    *c = *m;
    COPY_LIST(a, c->schemas);
    COPY_LIST(a, c->specs);
    COPY_LIST(a, c->orders);
    COPY_LIST(a, c->properties);
    COPY_LIST(a, c->snapshots);
    COPY_LIST(a, c->snapshot_log);
    COPY_LIST(a, c->metadata_log);
    COPY_LIST(a, c->refs);
    return c;
}

/* ---- the rest -------------------------------------------------------------------------------------------------- */

static Status upgrade(Build *b, int64_t version, Error *err)
{
    if (version > FORMAT_VERSION_MAX)
        return FAIL(err, E_INVALID, "Cannot upgrade table to unsupported format version: v%lld (supported: v%d)", (long long)version,
                    FORMAT_VERSION_MAX);
    if (version < b->m->format_version)
        return FAIL(err, E_INVALID, "Cannot downgrade v%d table to v%lld", b->m->format_version, (long long)version);
    b->changed |= version != b->m->format_version;
    b->m->format_version = (int)version;
    return OK;
}

static void set_text(Build *b, Str *field, Str value)
{
    b->changed |= !str_eq(*field, value);
    *field = value;
}

static Status properties(Build *b, const IceUpdate *u, Error *err)
{
    (void)err;
    for vec_each(const KeyValue, kv, &u->props) {
        if (props_has(&b->m->properties, kv->key) && str_eq(props_get(&b->m->properties, kv->key, S("")), kv->value))
            continue;
        props_set(b->a, &b->m->properties, kv->key, kv->value);
        b->changed = 1;
    }
    for vec_each(const Str, key, &u->keys)
        b->changed |= props_del(&b->m->properties, *key);
    return OK;
}

static void encryption_key(Build *b, const IceUpdate *u)
{
    Json *out = json_array(b->a), *old = b->m->encryption_keys;

    for (size_t i = 0; i < json_len(old); i++)
        if (!str_eq(json_get_str(json_at(old, i), "key-id", S("")), u->text))
            json_push(b->a, out, json_at(old, i));
    if (u->json)
        json_push(b->a, out, u->json);
    b->changed |= u->json || json_len(out) != json_len(old);
    b->m->encryption_keys = json_len(out) || old ? out : NULL;
}

static Status apply_one(Build *b, const IceUpdate *u, Error *err)
{
    switch (u->kind) {
    case UP_ASSIGN_UUID: set_text(b, &b->m->uuid, u->text); return OK;
    case UP_UPGRADE_FORMAT: return upgrade(b, u->number, err);
    case UP_ADD_SCHEMA: return ice_add_schema(b, u->schema, err);
    case UP_SET_CURRENT_SCHEMA: return ice_set_current_schema(b, u->number, err);
    case UP_ADD_SPEC: return ice_add_spec(b, u->spec, err);
    case UP_SET_DEFAULT_SPEC: return ice_set_default_spec(b, u->number, err);
    case UP_ADD_ORDER: return ice_add_order(b, u->order, err);
    case UP_SET_DEFAULT_ORDER: return ice_set_default_order(b, u->number, err);
    case UP_ADD_SNAPSHOT: return ice_add_snapshot(b, u->snapshot, err);
    case UP_SET_REF: return ice_set_ref(b, &u->ref, err);
    case UP_REMOVE_SNAPSHOTS: ice_remove_snapshots(b, u); return OK;
    case UP_REMOVE_REF: ice_remove_ref(b, u->text); return OK;
    case UP_SET_LOCATION: set_text(b, &b->m->location, u->text); return OK;
    case UP_SET_PROPERTIES:
    case UP_REMOVE_PROPERTIES: return properties(b, u, err);
    case UP_SET_STATISTICS: ice_set_statistics(b, &b->m->statistics, u); return OK;
    case UP_REMOVE_STATISTICS: ice_remove_statistics(b, &b->m->statistics, u->number); return OK;
    case UP_SET_PARTITION_STATISTICS: ice_set_statistics(b, &b->m->partition_statistics, u); return OK;
    case UP_REMOVE_PARTITION_STATISTICS: ice_remove_statistics(b, &b->m->partition_statistics, u->number); return OK;
    case UP_REMOVE_SPECS: return ice_remove_specs(b, u, err);
    case UP_REMOVE_SCHEMAS: return ice_remove_schemas(b, u, err);
    case UP_ADD_ENCRYPTION_KEY:
    case UP_REMOVE_ENCRYPTION_KEY: encryption_key(b, u); return OK;
    }
    return FAIL(err, E_INTERNAL, "update kind %d", (int)u->kind);
}

/* ---- finishing ---------------------------------------------------------------------------------------------------- */

static void log_previous(Build *b, const IceMetadata *old, Str location)
{
    IceMetadata *m = b->m;
    int64_t keep = max_i64(1, ice_prop_i64(&m->properties, "write.metadata.previous-versions-max", 100));

    if (location.n)
        vec_push(b->a, &m->metadata_log, ((IceLogEntry){ old->last_updated_ms, 0, location }));
    if ((int64_t)m->metadata_log.n > keep) {
        size_t drop = m->metadata_log.n - (size_t)keep;
        m->metadata_log.p += drop;
        m->metadata_log.n -= drop;
        m->metadata_log.cap = m->metadata_log.n;
    }
}

static Status complete(Build *b, Error *err)
{
    IceMetadata *m = b->m;

    if (!m->location.n)
        return FAIL(err, E_INVALID, "Cannot build table metadata: no location");
    if (!ice_current_schema(m))
        return FAIL(err, E_INVALID, "Cannot build table metadata: no current schema");
    if (!ice_spec(m, m->default_spec_id))
        return FAIL(err, E_INVALID, "Cannot build table metadata: no default partition spec");
    if (!m->orders.n)
        vec_push(b->a, &m->orders, arena_new(b->a, IceSortOrder));
    if (!m->uuid.n)
        m->uuid = uuid_v4(b->a);
    return ice_schema_check_version(b->a, ice_current_schema(m), m->format_version, err);
}

/* Nothing yet: the first upgrade of the request says the format version. */
static IceMetadata *empty(Arena *a, const IceUpdates *ups)
{
    IceMetadata *m = arena_new(a, IceMetadata);

    m->format_version = 2;
    m->last_partition_id = FIRST_PARTITION_ID - 1;
    for vec_each(const IceUpdate, u, ups) {
        if (u->kind != UP_UPGRADE_FORMAT)
            continue;
        if (u->number >= 1 && u->number <= FORMAT_VERSION_MAX)
            m->format_version = (int)u->number;
        break;
    }
    return m;
}

Status ice_metadata_apply(Arena *a, const IceMetadata *m, Str previous_location, const IceUpdates *ups, int64_t now_ms,
                          IceMetadata **ret, int *changed, Error *err)
{
    Build b = { .a = a, .m = m ? copy_of(a, m) : empty(a, ups), .now = now_ms, .changed = !m };

    /* Time never goes back, whatever a writer's clock said: the reference refuses to read such metadata. */
    if (m)
        b.now = max_i64(now_ms, m->last_updated_ms);

    for vec_each(const IceUpdate, u, ups)
        TRY(apply_one(&b, u, err));
    TRY(complete(&b, err));
    ice_finish_snapshot_log(&b);
    if (b.changed && !b.timed)
        b.m->last_updated_ms = b.now;
    if (b.changed && m)
        log_previous(&b, m, previous_location);
    *changed = b.changed;
    *ret = b.m;
    return OK;
}

/* ---- new tables ------------------------------------------------------------------------------------------------------ */

static Status new_spec(Build *b, const IceNewTable *t, const IceSchema *fresh, Error *err)
{
    static const IceSpec UNPARTITIONED = { 0 };
    const IceSpec *given = t->spec ? t->spec : &UNPARTITIONED;
    IceSpec spec = *given;
    int32_t id = FIRST_PARTITION_ID;

    COPY_LIST(b->a, spec.fields);
    for vec_each(IcePartitionField, f, &spec.fields) {
        int32_t twin = ice_id_twin(&t->schema->fields, &fresh->fields, f->source_id);
        if (twin < 0)
            return FAIL(err, E_INVALID, "Cannot find source column for partition field: " STR_FMT, STR_ARG(f->name));
        f->source_id = twin;
        f->field_id = id++;
    }
    return ice_add_spec(b, &spec, err);
}

static Status new_order(Build *b, const IceNewTable *t, const IceSchema *fresh, Error *err)
{
    static const IceSortOrder UNSORTED = { 0 };
    IceSortOrder order = t->order ? *t->order : UNSORTED;

    COPY_LIST(b->a, order.fields);
    for vec_each(IceSortField, f, &order.fields) {
        int32_t twin = ice_id_twin(&t->schema->fields, &fresh->fields, f->source_id);
        if (twin < 0)
            return FAIL(err, E_INVALID, "Cannot find source column for sort field with id %d", (int)f->source_id);
        f->source_id = twin;
    }
    return ice_add_order(b, &order, err);
}

static Status new_version(const IceNewTable *t, int *ret, Error *err)
{
    Str text = props_get(&t->properties, S("format-version"), S(""));
    int64_t version = t->format_version ? t->format_version : 2;

    if (text.n && !str_to_i64(text, &version))
        return FAIL(err, E_INVALID, "Invalid format-version: '" STR_FMT "'", STR_ARG(text));
    if (version < 1 || version > FORMAT_VERSION_MAX)
        return FAIL(err, E_INVALID, "Unsupported format version: v%lld (supported: v%d)", (long long)version, FORMAT_VERSION_MAX);
    *ret = (int)version;
    return OK;
}

Status ice_metadata_new(Arena *a, const IceNewTable *t, IceMetadata **ret, Error *err)
{
    IceMetadata *m = arena_new(a, IceMetadata);
    Build b = { .a = a, .m = m };

    TRY(new_version(t, &m->format_version, err));
    m->uuid = t->uuid.n ? t->uuid : uuid_v4(a);
    m->location = t->location;
    m->last_updated_ms = clock_ms();
    m->last_partition_id = FIRST_PARTITION_ID - 1;
    IceSchema *fresh = ice_schema_assign_ids(a, t->schema, &m->last_column_id);
    TRY(ice_add_schema(&b, fresh, err));
    TRY(new_spec(&b, t, fresh, err));
    TRY(new_order(&b, t, fresh, err));
    m->default_order_id = b.added_order.v;
    for vec_each(const KeyValue, kv, &t->properties)
        if (!str_eq(kv->key, S("format-version")))
            props_set(a, &m->properties, kv->key, kv->value);
    if (!props_has(&m->properties, S("write.parquet.compression-codec")))
        props_set(a, &m->properties, S("write.parquet.compression-codec"), S("zstd"));
    *ret = m;
    return OK;
}

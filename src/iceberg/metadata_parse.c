/* SPDX-License-Identifier: Apache-2.0 */
/* metadata_parse.c - table metadata JSON to a value (Iceberg spec "Table Metadata").
 *
 * All three format versions come out alike: v1's single `schema` and `partition-spec` become lists, missing field ids
 * are counted from 1000, a current snapshot without refs gets its `main`.  Invariants of what is returned: the current
 * schema, the default spec, the default order and the current snapshot exist; `main` is the current snapshot. */
#include "iceberg/iceberg_int.h"

static const char *const MEMBERS[] = {
    "format-version", "table-uuid", "location", "last-sequence-number", "last-updated-ms", "last-column-id", "schema", "schemas",
    "current-schema-id", "partition-spec", "partition-specs", "default-spec-id", "last-partition-id", "properties",
    "current-snapshot-id", "snapshots", "snapshot-log", "metadata-log", "sort-orders", "default-sort-order-id", "refs",
    "statistics", "partition-statistics", "next-row-id", "encryption-keys", NULL
};

static Status head(const Json *j, IceMetadata *m, Error *err)
{
    int32_t version;

    TRY(ice_need_i32(j, "format-version", &version, err));
    if (version < 1 || version > FORMAT_VERSION_MAX)
        return FAIL(err, E_UNSUPPORTED, "Cannot read unsupported version %d", (int)version);
    m->format_version = version;
    m->uuid = json_get_str(j, "table-uuid", S(""));
    if (!m->uuid.n && version > 1)
        return FAIL(err, E_INVALID, "missing field 'table-uuid'");
    TRY(json_need_str(j, "location", &m->location, err));
    m->last_sequence_number = json_get_int(j, "last-sequence-number", 0);
    TRY(json_need_int(j, "last-updated-ms", &m->last_updated_ms, err));
    TRY(ice_need_i32(j, "last-column-id", &m->last_column_id, err));
    return OK;
}

/* What v1 may leave out, later versions may not. */
static Status members_of_v2(const Json *j, const IceMetadata *m, Error *err)
{
    static const char *const LISTS[] = { "schemas", "partition-specs", "sort-orders" };
    static const char *const NUMBERS[] = { "current-schema-id", "default-spec-id", "default-sort-order-id", "last-partition-id",
                                           "last-sequence-number" };

    for (size_t i = 0; m->format_version > 1 && i < COUNT_OF(LISTS); i++)
        if (!json_is(json_get(j, LISTS[i]), JSON_ARRAY))
            return FAIL(err, E_INVALID, "%s must exist in format v%d", LISTS[i], m->format_version);
    for (size_t i = 0; m->format_version > 1 && i < COUNT_OF(NUMBERS); i++)
        if (!json_is(json_get(j, NUMBERS[i]), JSON_INT))
            return FAIL(err, E_INVALID, "%s must exist in format v%d", NUMBERS[i], m->format_version);
    return OK;
}

static Status schemas(Arena *a, const Json *j, IceMetadata *m, Error *err)
{
    const Json *list = json_get(j, "schemas");
    IceSchema *s;

    for (size_t i = 0; i < json_len(list); i++) {
        TRY(ice_schema_parse(a, json_at(list, i), &s, err));
        vec_push(a, &m->schemas, s);
    }
    m->current_schema_id = ice_opt_i32(j, "current-schema-id").v;
    if (!m->schemas.n) {
        if (!json_get(j, "schema"))
            return FAIL(err, E_INVALID, "missing field 'schemas'");
        TRY(ice_schema_parse(a, json_get(j, "schema"), &s, err));
        vec_push(a, &m->schemas, s);
        m->current_schema_id = s->id;
    }
    if (!ice_current_schema(m))
        return FAIL(err, E_INVALID, "Cannot find schema with current-schema-id=%d from schemas", (int)m->current_schema_id);
    return OK;
}

static void number_fields(IceSpec *s)
{
    for (size_t i = 0; i < s->fields.n; i++)
        if (!s->fields.p[i].field_id)
            s->fields.p[i].field_id = FIRST_PARTITION_ID + (int32_t)i;
}

static Status specs(Arena *a, const Json *j, IceMetadata *m, Error *err)
{
    const Json *list = json_get(j, "partition-specs");
    IceSpec *s;

    for (size_t i = 0; i < json_len(list); i++) {
        TRY(ice_spec_parse(a, json_at(list, i), &s, err));
        vec_push(a, &m->specs, s);
    }
    m->default_spec_id = ice_opt_i32(j, "default-spec-id").v;
    if (!m->specs.n) {
        const Json *old = json_get(j, "partition-spec");
        if (!old)
            return FAIL(err, E_INVALID, "missing field 'partition-specs'");
        TRY(ice_spec_parse(a, old, &s, err));
        vec_push(a, &m->specs, s);
    }
    m->last_partition_id = FIRST_PARTITION_ID - 1;
    for (size_t i = 0; i < m->specs.n; i++) {
        number_fields(m->specs.p[i]);
        int32_t last = ice_spec_last_id(m->specs.p[i]);
        m->last_partition_id = last > m->last_partition_id ? last : m->last_partition_id;
    }
    OptI32 given = ice_opt_i32(j, "last-partition-id");
    m->last_partition_id = given.has && given.v > m->last_partition_id ? given.v : m->last_partition_id;
    if (!ice_spec(m, m->default_spec_id))
        return FAIL(err, E_INVALID, "Cannot find partition spec with default-spec-id=%d", (int)m->default_spec_id);
    return OK;
}

static Status orders(Arena *a, const Json *j, IceMetadata *m, Error *err)
{
    const Json *list = json_get(j, "sort-orders");
    IceSortOrder *o;
    bool found = false;

    for (size_t i = 0; i < json_len(list); i++) {
        TRY(ice_order_parse(a, json_at(list, i), &o, err));
        vec_push(a, &m->orders, o);
    }
    m->default_order_id = ice_opt_i32(j, "default-sort-order-id").v;
    if (!m->orders.n)
        vec_push(a, &m->orders, arena_new(a, IceSortOrder));
    for (size_t i = 0; i < m->orders.n; i++)
        found |= m->orders.p[i]->id == m->default_order_id;
    if (!found)
        return FAIL(err, E_INVALID, "Cannot find sort order with default-sort-order-id=%d", (int)m->default_order_id);
    return OK;
}

static Status log_entries(Arena *a, const Json *list, const char *member, IceMetadata *m, Error *err)
{
    for (size_t i = 0; i < json_len(list); i++) {
        const Json *j = json_at(list, i);
        IceLogEntry e = { .file = S("") };
        TRY_CTX(json_need_int(j, "timestamp-ms", &e.timestamp_ms, err), err, "%s", member);
        if (!strcmp(member, "snapshot-log")) {
            TRY_CTX(ice_need_id(j, "snapshot-id", &e.snapshot_id, &m->unsigned_ids, err), err, "%s", member);
            vec_push(a, &m->snapshot_log, e);
        } else {
            TRY_CTX(json_need_str(j, "metadata-file", &e.file, err), err, "%s", member);
            vec_push(a, &m->metadata_log, e);
        }
    }
    return OK;
}

static Status snapshots(Arena *a, const Json *j, IceMetadata *m, Error *err)
{
    const Json *list = json_get(j, "snapshots"), *current = json_get(j, "current-snapshot-id");

    for (size_t i = 0; i < json_len(list); i++) {
        IceSnapshot *s;
        TRY(ice_snapshot_parse(a, json_at(list, i), &s, &m->unsigned_ids, err));
        vec_push(a, &m->snapshots, s);
    }
    if (json_is(current, JSON_INT) && (current->integer != -1 || current->above_i64)) {
        m->current_snapshot_id = SOME_I64(current->integer);
        m->unsigned_ids |= current->above_i64;
        if (!ice_current_snapshot(m))
            return FAIL(err, E_INVALID, "Cannot find current snapshot %lld in snapshots", (long long)current->integer);
    }
    return OK;
}

static Status refs(Arena *a, const Json *j, IceMetadata *m, Error *err)
{
    const Json *all = json_get(j, "refs");

    for (size_t i = 0; json_is(all, JSON_OBJECT) && i < all->object.n; i++) {
        IceRef r;
        TRY(ice_ref_parse(all->object.p[i].value, all->object.p[i].key, &r, &m->unsigned_ids, err));
        if (!ice_snapshot(m, r.snapshot_id))
            return FAIL(err, E_INVALID, "Snapshot for reference " STR_FMT " does not exist in the existing snapshots list", STR_ARG(r.name));
        vec_push(a, &m->refs, r);
    }
    const IceRef *head_ref = ice_ref(m, ICE_MAIN);
    if (!head_ref && m->current_snapshot_id.has)
        vec_push(a, &m->refs, ((IceRef){ .name = ICE_MAIN, .type = S("branch"), .snapshot_id = m->current_snapshot_id.v }));
    else if (head_ref && (!m->current_snapshot_id.has || m->current_snapshot_id.v != head_ref->snapshot_id))
        return FAIL(err, E_INVALID, "Current snapshot ID does not match main branch (%lld != %lld)",
                    (long long)m->current_snapshot_id.v, (long long)head_ref->snapshot_id);
    return OK;
}

/* A v3 table that another writer left without it: nothing below what its snapshots assigned. */
static int64_t next_row_id(const Json *j, const IceMetadata *m)
{
    int64_t next = json_get_int(j, "next-row-id", 0);

    for (size_t i = 0; i < m->snapshots.n; i++) {
        const IceSnapshot *s = m->snapshots.p[i];
        int64_t end = 0;
        if (s->first_row_id.has && !__builtin_add_overflow(s->first_row_id.v, s->added_rows.v, &end))
            next = max_i64(next, end);
    }
    return next;
}

static Status parse(Arena *a, const Json *j, IceMetadata *m, Error *err)
{
    if (!json_is(j, JSON_OBJECT))
        return FAIL(err, E_INVALID, "Cannot parse metadata from a non-object");
    TRY(head(j, m, err));
    TRY(members_of_v2(j, m, err));
    TRY(schemas(a, j, m, err));
    TRY(specs(a, j, m, err));
    TRY(orders(a, j, m, err));
    TRY(ice_props_parse(a, json_get(j, "properties"), "properties", &m->properties, err));
    TRY(snapshots(a, j, m, err));
    TRY(log_entries(a, json_get(j, "snapshot-log"), "snapshot-log", m, err));
    TRY(log_entries(a, json_get(j, "metadata-log"), "metadata-log", m, err));
    TRY(refs(a, j, m, err));
    m->next_row_id = m->format_version >= 3 ? next_row_id(j, m) : 0;
    m->statistics = json_get(j, "statistics");
    m->partition_statistics = json_get(j, "partition-statistics");
    m->encryption_keys = json_get(j, "encryption-keys");
    m->extra = ice_unknown_members(a, j, MEMBERS);
    return OK;
}

Status ice_json_load(Arena *a, Str bytes, Json **ret, Error *err)
{
    if (bytes.n >= 2 && (uint8_t)bytes.p[0] == 0x1f && (uint8_t)bytes.p[1] == 0x8b)
        TRY(gzip_unpack(a, bytes, LIMIT_METADATA_UNPACKED, &bytes, err));
    return json_parse(a, bytes, ret, err);
}

Status ice_metadata_from_json(Arena *a, const Json *j, IceMetadata **ret, Error *err)
{
    IceMetadata *m = arena_new(a, IceMetadata);

    TRY(parse(a, j, m, err));
    *ret = m;
    return OK;
}

Status ice_metadata_parse(Arena *a, Str bytes, IceMetadata **ret, Error *err)
{
    Json *j = NULL;

    TRY(ice_json_load(a, bytes, &j, err));
    return ice_metadata_from_json(a, j, ret, err);
}

Status ice_metadata_read(Arena *a, Store *st, Str location, IceMetadata **ret, Error *err)
{
    Str bytes;
    Status s = store_read(st, a, location, LIMIT_JSON_BYTES, &bytes, err);

    if (s == E_NOT_FOUND)
        return FAIL(err, E_NOT_FOUND, "Failed to open input stream for file: " STR_FMT, STR_ARG(location));
    TRY_CTX(s, err, "reading table metadata");
    TRY_CTX(ice_metadata_parse(a, bytes, ret, err), err, "table metadata '" STR_FMT "'", STR_ARG(location));
    return OK;
}

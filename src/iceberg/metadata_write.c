/* SPDX-License-Identifier: Apache-2.0 */
/* metadata_write.c - a metadata value to JSON, and where the files of a table go. */
#include "iceberg/iceberg_int.h"

static Json *schemas_json(Arena *a, const IceMetadata *m)
{
    Json *list = json_array(a);
    for (size_t i = 0; i < m->schemas.n; i++)
        json_push(a, list, ice_schema_json(a, m->schemas.p[i]));
    return list;
}

static Json *specs_json(Arena *a, const IceMetadata *m)
{
    Json *list = json_array(a);
    for (size_t i = 0; i < m->specs.n; i++)
        json_push(a, list, ice_spec_json(a, m->specs.p[i]));
    return list;
}

static Json *orders_json(Arena *a, const IceMetadata *m)
{
    Json *list = json_array(a);
    for (size_t i = 0; i < m->orders.n; i++)
        json_push(a, list, ice_order_json(a, m->orders.p[i]));
    return list;
}

static Json *refs_json(Arena *a, const IceMetadata *m)
{
    Json *o = json_object(a);

    for vec_each(const IceRef, r, &m->refs) {
        Json *j = json_object(a);
        json_set(a, j, "snapshot-id", ice_id_json(a, m, r->snapshot_id));
        json_set(a, j, "type", json_str(a, r->type));
        if (r->min_snapshots.has)
            json_set(a, j, "min-snapshots-to-keep", json_int(a, r->min_snapshots.v));
        ice_set_opt(a, j, "max-snapshot-age-ms", r->max_snapshot_age_ms);
        ice_set_opt(a, j, "max-ref-age-ms", r->max_ref_age_ms);
        json_set_s(a, o, r->name, j);
    }
    return o;
}

static Json *snapshots_json(Arena *a, const IceMetadata *m)
{
    Json *list = json_array(a);
    for (size_t i = 0; i < m->snapshots.n; i++)
        json_push(a, list, ice_snapshot_json(a, m, m->snapshots.p[i]));
    return list;
}

static Json *snapshot_log_json(Arena *a, const IceMetadata *m)
{
    Json *list = json_array(a);
    for vec_each(const IceLogEntry, e, &m->snapshot_log) {
        Json *j = json_object(a);
        json_set(a, j, "timestamp-ms", json_int(a, e->timestamp_ms));
        json_set(a, j, "snapshot-id", ice_id_json(a, m, e->snapshot_id));
        json_push(a, list, j);
    }
    return list;
}

static Json *metadata_log_json(Arena *a, const IceMetadata *m)
{
    Json *list = json_array(a);
    for vec_each(const IceLogEntry, e, &m->metadata_log) {
        Json *j = json_object(a);
        json_set(a, j, "timestamp-ms", json_int(a, e->timestamp_ms));
        json_set(a, j, "metadata-file", json_str(a, e->file));
        json_push(a, list, j);
    }
    return list;
}

static Json *current_snapshot_json(Arena *a, const IceMetadata *m)
{
    if (m->current_snapshot_id.has)
        return ice_id_json(a, m, m->current_snapshot_id.v);
    return m->format_version >= 3 ? json_null(a) : json_int(a, -1);
}

/* What v1 readers look for besides the lists. */
static void v1_members(Arena *a, Json *o, const IceMetadata *m)
{
    json_set(a, o, "schema", ice_schema_json(a, ice_current_schema(m)));
    json_set(a, o, "partition-spec", json_get(ice_spec_json(a, ice_spec(m, m->default_spec_id)), "fields"));
}

static void schema_members(Arena *a, Json *o, const IceMetadata *m)
{
    if (m->format_version == 1)
        v1_members(a, o, m);
    json_set(a, o, "current-schema-id", json_int(a, m->current_schema_id));
    json_set(a, o, "schemas", schemas_json(a, m));
    json_set(a, o, "default-spec-id", json_int(a, m->default_spec_id));
    json_set(a, o, "partition-specs", specs_json(a, m));
    json_set(a, o, "last-partition-id", json_int(a, m->last_partition_id));
    json_set(a, o, "default-sort-order-id", json_int(a, m->default_order_id));
    json_set(a, o, "sort-orders", orders_json(a, m));
}

static void snapshot_members(Arena *a, Json *o, const IceMetadata *m)
{
    json_set(a, o, "current-snapshot-id", current_snapshot_json(a, m));
    if (m->format_version >= 3)
        json_set(a, o, "next-row-id", json_int(a, m->next_row_id));
    if (m->encryption_keys)
        json_set(a, o, "encryption-keys", m->encryption_keys);
    json_set(a, o, "refs", refs_json(a, m));
    json_set(a, o, "snapshots", snapshots_json(a, m));
    json_set(a, o, "statistics", m->statistics ? m->statistics : json_array(a));
    json_set(a, o, "partition-statistics", m->partition_statistics ? m->partition_statistics : json_array(a));
    json_set(a, o, "snapshot-log", snapshot_log_json(a, m));
    json_set(a, o, "metadata-log", metadata_log_json(a, m));
}

Json *ice_metadata_json(Arena *a, const IceMetadata *m)
{
    Json *o = json_object(a);

    json_set(a, o, "format-version", json_int(a, m->format_version));
    if (m->uuid.n)
        json_set(a, o, "table-uuid", json_str(a, m->uuid));
    json_set(a, o, "location", json_str(a, m->location));
    if (m->format_version > 1)
        json_set(a, o, "last-sequence-number", json_int(a, m->last_sequence_number));
    json_set(a, o, "last-updated-ms", json_int(a, m->last_updated_ms));
    json_set(a, o, "last-column-id", json_int(a, m->last_column_id));
    schema_members(a, o, m);
    json_set(a, o, "properties", ice_props_json(a, &m->properties));
    snapshot_members(a, o, m);
    ice_add_members(a, o, m->extra);
    return o;
}

/* ---- places --------------------------------------------------------------------------------------------------------- */

static Str no_slash(Str s)
{
    while (s.n > 1 && s.p[s.n - 1] == '/' && !str_ends(s, S("://")))
        s.n--;
    return s;
}

static Str join(Arena *a, Str folder, Str name)
{
    folder = no_slash(folder);
    return str_fmt(a, STR_FMT "/" STR_FMT, STR_ARG(folder), STR_ARG(name));
}

Str ice_folder_file(Arena *a, Str location, const Props *props, Str name)
{
    Str folder = props_get(props, S("write.metadata.path"), S(""));
    return join(a, folder.n ? folder : join(a, location, S("metadata")), name);
}

Str ice_metadata_file(Arena *a, const IceMetadata *m, Str name) { return ice_folder_file(a, m->location, &m->properties, name); }

/* The number before the first dash of the file's name; a name of another form counts as none. */
static int64_t version_of(Str file)
{
    Str name = str_from(file, (size_t)(str_rchr(file, '/') + 1)), number, rest;
    int64_t n;

    return str_cut(name, '-', &number, &rest) && str_to_i64(number, &n) && n >= 0 && n < 100000000 ? n : -1;
}

Str ice_next_file(Arena *a, Str location, const Props *props, Str codec, Str previous)
{
    int64_t n = previous.n ? version_of(previous) + 1 : 0;
    const char *suffix = str_ieq(codec, S("gzip")) ? ".gz.metadata.json" : ".metadata.json";
    Str uuid = uuid_v4(a);

    return ice_folder_file(a, location, props, str_fmt(a, "%05lld-" STR_FMT "%s", (long long)n, STR_ARG(uuid), suffix));
}

Str ice_metadata_next_location(Arena *a, const IceMetadata *m, Str previous)
{
    Str codec = props_get(&m->properties, S("write.metadata.compression-codec"), S("none"));
    return ice_next_file(a, m->location, &m->properties, codec, previous);
}

Status ice_json_put(Arena *a, Store *st, const Json *j, Str location, Error *err)
{
    Str bytes = json_text(a, j);

    if (str_ends(location, S(".gz.metadata.json")) || str_ends(location, S(".metadata.json.gz")))
        TRY(gzip_pack(a, bytes, &bytes, err));
    if (bytes.n > LIMIT_JSON_BYTES)
        return FAIL(err, E_LIMIT, "metadata is %zu bytes, limit is %d", bytes.n, LIMIT_JSON_BYTES);
    return store_put_new(st, location, bytes, err);
}

Status ice_metadata_write(Arena *a, Store *st, const IceMetadata *m, Str location, Error *err)
{
    TRY_CTX(ice_json_put(a, st, ice_metadata_json(a, m), location, err), err, "writing table metadata '" STR_FMT "'", STR_ARG(location));
    return OK;
}

/* ---- data files -------------------------------------------------------------------------------------------------------- */

/* Twenty bits of the name's hash as 0101/0110/1001/10110010: spreads objects over the store's partitions. */
static Str hash_folders(Arena *a, Str name)
{
    uint32_t h = murmur3_32(name);
    StrBuf b = sb_new(a);

    for (int i = 0; i < 20; i++) {
        if (i == 4 || i == 8 || i == 12)
            sb_byte(&b, '/');
        sb_byte(&b, h >> (19 - i) & 1 ? '1' : '0');
    }
    return sb_str(&b);
}

static Str data_folder(Arena *a, const IceMetadata *m)
{
    static const char *const KEYS[] = { "write.data.path", "write.object-storage.path", "write.folder-storage.path" };

    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
        Str folder = props_get(&m->properties, str_c(KEYS[i]), S(""));
        if (folder.n)
            return folder;
    }
    return join(a, m->location, S("data"));
}

Str ice_data_location(Arena *a, const IceMetadata *m, Str partition_path, Str name)
{
    Str folder = data_folder(a, m);
    Str file = partition_path.n ? join(a, partition_path, name) : name;

    if (!ice_prop_is(&m->properties, "write.object-storage.enabled", "true", "false"))
        return join(a, folder, file);
    Str hash = hash_folders(a, name);
    if (ice_prop_is(&m->properties, "write.object-storage.partitioned-paths", "false", "true"))
        return join(a, folder, str_fmt(a, STR_FMT "-" STR_FMT, STR_ARG(hash), STR_ARG(name)));
    return join(a, join(a, folder, hash), file);
}

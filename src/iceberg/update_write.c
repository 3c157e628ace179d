/* SPDX-License-Identifier: Apache-2.0 */
/* update_write.c - updates and requirements as the REST specification writes them: what update.c reads. */
#include "iceberg/iceberg_int.h"

static Json *number_list(Arena *a, const IceMetadata *m, const IceUpdate *u)
{
    Json *list = json_array(a);
    for (size_t i = 0; i < u->ids.n; i++)
        json_push(a, list, u->kind == UP_REMOVE_SNAPSHOTS ? ice_id_json(a, m, u->ids.p[i]) : json_int(a, u->ids.p[i]));
    return list;
}

static Json *key_list(Arena *a, const IceUpdate *u)
{
    Json *list = json_array(a);
    for vec_each(const Str, k, &u->keys)
        json_push(a, list, json_str(a, *k));
    return list;
}

static void snapshot_ref(Arena *a, const IceMetadata *m, Json *o, const IceUpdate *u)
{
    json_set(a, o, "ref-name", json_str(a, u->text));
    json_set(a, o, "type", json_str(a, u->ref.type));
    json_set(a, o, "snapshot-id", ice_id_json(a, m, u->ref.snapshot_id));
    if (u->ref.min_snapshots.has)
        json_set(a, o, "min-snapshots-to-keep", json_int(a, u->ref.min_snapshots.v));
    ice_set_opt(a, o, "max-snapshot-age-ms", u->ref.max_snapshot_age_ms);
    ice_set_opt(a, o, "max-ref-age-ms", u->ref.max_ref_age_ms);
}

static void statistics(Arena *a, const IceMetadata *m, Json *o, const IceUpdate *u, const char *key)
{
    json_set(a, o, "snapshot-id", ice_id_json(a, m, u->number));
    json_set(a, o, key, u->json);
}

static void body(Arena *a, const IceMetadata *m, Json *o, const IceUpdate *u)
{
    switch (u->kind) {
    case UP_ASSIGN_UUID: json_set(a, o, "uuid", json_str(a, u->text)); return;
    case UP_UPGRADE_FORMAT: json_set(a, o, "format-version", json_int(a, u->number)); return;
    case UP_ADD_SCHEMA: json_set(a, o, "schema", ice_schema_json(a, u->schema)); return;
    case UP_SET_CURRENT_SCHEMA: json_set(a, o, "schema-id", json_int(a, u->number)); return;
    case UP_ADD_SPEC: json_set(a, o, "spec", ice_spec_json(a, u->spec)); return;
    case UP_SET_DEFAULT_SPEC: json_set(a, o, "spec-id", json_int(a, u->number)); return;
    case UP_ADD_ORDER: json_set(a, o, "sort-order", ice_order_json(a, u->order)); return;
    case UP_SET_DEFAULT_ORDER: json_set(a, o, "sort-order-id", json_int(a, u->number)); return;
    case UP_ADD_SNAPSHOT: json_set(a, o, "snapshot", ice_snapshot_json(a, m, u->snapshot)); return;
    case UP_SET_REF: snapshot_ref(a, m, o, u); return;
    case UP_REMOVE_SNAPSHOTS: json_set(a, o, "snapshot-ids", number_list(a, m, u)); return;
    case UP_REMOVE_REF: json_set(a, o, "ref-name", json_str(a, u->text)); return;
    case UP_SET_LOCATION: json_set(a, o, "location", json_str(a, u->text)); return;
    case UP_SET_PROPERTIES: json_set(a, o, "updates", ice_props_json(a, &u->props)); return;
    case UP_REMOVE_PROPERTIES: json_set(a, o, "removals", key_list(a, u)); return;
    case UP_SET_STATISTICS: statistics(a, m, o, u, "statistics"); return;
    case UP_SET_PARTITION_STATISTICS: statistics(a, m, o, u, "partition-statistics"); return;
    case UP_REMOVE_STATISTICS:
    case UP_REMOVE_PARTITION_STATISTICS: json_set(a, o, "snapshot-id", ice_id_json(a, m, u->number)); return;
    case UP_REMOVE_SPECS: json_set(a, o, "spec-ids", number_list(a, m, u)); return;
    case UP_REMOVE_SCHEMAS: json_set(a, o, "schema-ids", number_list(a, m, u)); return;
    case UP_ADD_ENCRYPTION_KEY: json_set(a, o, "encryption-key", u->json); return;
    case UP_REMOVE_ENCRYPTION_KEY: json_set(a, o, "key-id", json_str(a, u->text)); return;
    }
}

Json *ice_update_json(Arena *a, const IceMetadata *m, const IceUpdate *u)
{
    Json *o = json_object(a);

    json_set(a, o, "action", json_str(a, str_c(ice_update_name(u->kind))));
    body(a, m, o, u);
    return o;
}

Json *ice_requirement_json(Arena *a, const IceMetadata *m, const IceRequirement *r)
{
    Json *o = json_object(a);
    const char *member = NULL;

    json_set(a, o, "type", json_str(a, str_c(ice_requirement_name(r->kind, &member))));
    switch (r->kind) {
    case RQ_CREATE: return o;
    case RQ_UUID: json_set(a, o, member, json_str(a, r->text)); return o;
    case RQ_REF_SNAPSHOT:
        json_set(a, o, member, json_str(a, r->text));
        json_set(a, o, "snapshot-id", r->number.has ? ice_id_json(a, m, r->number.v) : json_null(a));
        return o;
    default: json_set(a, o, member, json_int(a, r->number.v)); return o;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* update.c - updates and requirements of the REST specification: JSON to typed values, and checking requirements.
 *
 * The texts of failed requirements are the reference implementation's: clients and its compatibility kit compare
 * them (spec/iceberg.md 1.3). */
#include "iceberg/iceberg_int.h"

static const struct { const char *name; IceUpdateKind kind; } UPDATES[] = {
    { "assign-uuid", UP_ASSIGN_UUID },
    { "upgrade-format-version", UP_UPGRADE_FORMAT },
    { "add-schema", UP_ADD_SCHEMA },
    { "set-current-schema", UP_SET_CURRENT_SCHEMA },
    { "add-spec", UP_ADD_SPEC },
    { "set-default-spec", UP_SET_DEFAULT_SPEC },
    { "add-sort-order", UP_ADD_ORDER },
    { "set-default-sort-order", UP_SET_DEFAULT_ORDER },
    { "add-snapshot", UP_ADD_SNAPSHOT },
    { "set-snapshot-ref", UP_SET_REF },
    { "remove-snapshots", UP_REMOVE_SNAPSHOTS },
    { "remove-snapshot-ref", UP_REMOVE_REF },
    { "set-location", UP_SET_LOCATION },
    { "set-properties", UP_SET_PROPERTIES },
    { "remove-properties", UP_REMOVE_PROPERTIES },
    { "set-statistics", UP_SET_STATISTICS },
    { "remove-statistics", UP_REMOVE_STATISTICS },
    { "set-partition-statistics", UP_SET_PARTITION_STATISTICS },
    { "remove-partition-statistics", UP_REMOVE_PARTITION_STATISTICS },
    { "remove-partition-specs", UP_REMOVE_SPECS },
    { "remove-schemas", UP_REMOVE_SCHEMAS },
    { "add-encryption-key", UP_ADD_ENCRYPTION_KEY },
    { "remove-encryption-key", UP_REMOVE_ENCRYPTION_KEY },
};

const char *ice_update_name(IceUpdateKind kind)
{
    for (size_t i = 0; i < COUNT_OF(UPDATES); i++)
        if (UPDATES[i].kind == kind)
            return UPDATES[i].name;
    return "";
}

static Status ids(Arena *a, const Json *j, const char *key, IceUpdate *u, Error *err)
{
    Json *list;

    TRY(json_need(j, key, JSON_ARRAY, &list, err));
    for (size_t i = 0; i < list->array.n; i++) {
        if (!json_is(list->array.p[i], JSON_INT))
            return FAIL(err, E_INVALID, "field '%s' must be a list of integers", key);
        vec_push(a, &u->ids, list->array.p[i]->integer);
    }
    return OK;
}

/* Older clients call the members `updated` and `removed`. */
static Status property_updates(Arena *a, const Json *j, IceUpdate *u, Error *err)
{
    const Json *all = json_get(j, "updates") ? json_get(j, "updates") : json_get(j, "updated");

    if (!json_is(all, JSON_OBJECT))
        return FAIL(err, E_INVALID, "missing field 'updates'");
    return ice_props_parse(a, all, "updates", &u->props, err);
}

static Status property_removals(Arena *a, const Json *j, IceUpdate *u, Error *err)
{
    const Json *all = json_get(j, "removals") ? json_get(j, "removals") : json_get(j, "removed");

    if (!json_is(all, JSON_ARRAY))
        return FAIL(err, E_INVALID, "missing field 'removals'");
    for (size_t i = 0; i < all->array.n; i++) {
        if (!json_is(all->array.p[i], JSON_STRING))
            return FAIL(err, E_INVALID, "field 'removals' must be a list of strings");
        vec_push(a, &u->keys, all->array.p[i]->string);
    }
    return OK;
}

static Status number(const Json *j, const char *key, IceUpdate *u, Error *err)
{
    int32_t n;

    TRY(ice_need_i32(j, key, &n, err));
    u->number = n;
    return OK;
}

static Status statistics(const Json *j, const char *key, IceUpdate *u, Error *err)
{
    TRY(json_need(j, key, JSON_OBJECT, &u->json, err));
    return json_need_int(u->json, "snapshot-id", &u->number, err);
}

static Status snapshot_ref(const Json *j, IceUpdate *u, Error *err)
{
    int above = 0;

    TRY(json_need_str(j, "ref-name", &u->text, err));
    return ice_ref_parse(j, u->text, &u->ref, &above, err);
}

static Status encryption_key(const Json *j, IceUpdate *u, Error *err)
{
    TRY(json_need(j, "encryption-key", JSON_OBJECT, &u->json, err));
    return json_need_str(u->json, "key-id", &u->text, err);
}

static Status body(Arena *a, const Json *j, IceUpdate *u, Error *err)
{
    int above = 0;

    switch (u->kind) {
    case UP_ASSIGN_UUID: return json_need_str(j, "uuid", &u->text, err);
    case UP_UPGRADE_FORMAT: return number(j, "format-version", u, err);
    case UP_ADD_SCHEMA: return ice_schema_parse(a, json_get(j, "schema"), &u->schema, err);
    case UP_SET_CURRENT_SCHEMA: return number(j, "schema-id", u, err);
    case UP_ADD_SPEC: return ice_spec_parse(a, json_get(j, "spec"), &u->spec, err);
    case UP_SET_DEFAULT_SPEC: return number(j, "spec-id", u, err);
    case UP_ADD_ORDER: return ice_order_parse(a, json_get(j, "sort-order"), &u->order, err);
    case UP_SET_DEFAULT_ORDER: return number(j, "sort-order-id", u, err);
    case UP_ADD_SNAPSHOT: return ice_snapshot_parse(a, json_get(j, "snapshot"), &u->snapshot, &above, err);
    case UP_SET_REF: return snapshot_ref(j, u, err);
    case UP_REMOVE_SNAPSHOTS: return ids(a, j, "snapshot-ids", u, err);
    case UP_REMOVE_REF: return json_need_str(j, "ref-name", &u->text, err);
    case UP_SET_LOCATION: return json_need_str(j, "location", &u->text, err);
    case UP_SET_PROPERTIES: return property_updates(a, j, u, err);
    case UP_REMOVE_PROPERTIES: return property_removals(a, j, u, err);
    case UP_SET_STATISTICS: return statistics(j, "statistics", u, err);
    case UP_SET_PARTITION_STATISTICS: return statistics(j, "partition-statistics", u, err);
    case UP_REMOVE_STATISTICS:
    case UP_REMOVE_PARTITION_STATISTICS: return json_need_int(j, "snapshot-id", &u->number, err);
    case UP_REMOVE_SPECS: return ids(a, j, "spec-ids", u, err);
    case UP_REMOVE_SCHEMAS: return ids(a, j, "schema-ids", u, err);
    case UP_ADD_ENCRYPTION_KEY: return encryption_key(j, u, err);
    case UP_REMOVE_ENCRYPTION_KEY: return json_need_str(j, "key-id", &u->text, err);
    }
    return FAIL(err, E_INTERNAL, "update kind %d", (int)u->kind);
}

Status ice_update_parse(Arena *a, const Json *j, IceUpdate *ret, Error *err)
{
    Str action;

    TRY(json_need_str(j, "action", &action, err));
    for (size_t i = 0; i < COUNT_OF(UPDATES); i++) {
        if (!str_eq(action, str_c(UPDATES[i].name)))
            continue;
        IceUpdate u = { .kind = UPDATES[i].kind };
        TRY_CTX(body(a, j, &u, err), err, "update %s", UPDATES[i].name);
        *ret = u;
        return OK;
    }
    return FAIL(err, E_INVALID, "Cannot convert metadata update action to field: unknown action " STR_FMT, STR_ARG(action));
}

/* ---- requirements --------------------------------------------------------------------------------------------- */

static const struct { const char *name, *member; IceRequirementKind kind; } REQUIREMENTS[] = {
    { "assert-create", NULL, RQ_CREATE },
    { "assert-table-uuid", "uuid", RQ_UUID },
    { "assert-ref-snapshot-id", "ref", RQ_REF_SNAPSHOT },
    { "assert-last-assigned-field-id", "last-assigned-field-id", RQ_LAST_FIELD_ID },
    { "assert-current-schema-id", "current-schema-id", RQ_CURRENT_SCHEMA },
    { "assert-last-assigned-partition-id", "last-assigned-partition-id", RQ_LAST_PARTITION_ID },
    { "assert-default-spec-id", "default-spec-id", RQ_DEFAULT_SPEC },
    { "assert-default-sort-order-id", "default-sort-order-id", RQ_DEFAULT_ORDER },
};

const char *ice_requirement_name(IceRequirementKind kind, const char **member)
{
    for (size_t i = 0; i < COUNT_OF(REQUIREMENTS); i++)
        if (REQUIREMENTS[i].kind == kind) {
            *member = REQUIREMENTS[i].member;
            return REQUIREMENTS[i].name;
        }
    return "";
}

static Status requirement_body(const Json *j, const char *member, IceRequirement *r, Error *err)
{
    switch (r->kind) {
    case RQ_CREATE: return OK;
    case RQ_UUID: return json_need_str(j, member, &r->text, err);
    case RQ_REF_SNAPSHOT:
        r->number = ice_opt_i64(j, "snapshot-id");
        return json_need_str(j, member, &r->text, err);
    default:
        r->number.has = true;
        return json_need_int(j, member, &r->number.v, err);
    }
}

Status ice_requirement_parse(Arena *a, const Json *j, IceRequirement *ret, Error *err)
{
    Str type;

    (void)a;
    TRY(json_need_str(j, "type", &type, err));
    for (size_t i = 0; i < COUNT_OF(REQUIREMENTS); i++) {
        if (!str_eq(type, str_c(REQUIREMENTS[i].name)))
            continue;
        IceRequirement r = { .kind = REQUIREMENTS[i].kind };
        TRY_CTX(requirement_body(j, REQUIREMENTS[i].member, &r, err), err, "requirement %s", REQUIREMENTS[i].name);
        *ret = r;
        return OK;
    }
    return FAIL(err, E_INVALID, "Cannot convert update requirement type: unknown type " STR_FMT, STR_ARG(type));
}

static Status check_number(const char *what, const IceRequirement *r, int64_t have, Error *err)
{
    if (r->number.v == have)
        return OK;
    return FAIL(err, E_CONFLICT, "Requirement failed: %s changed: expected id %lld != %lld", what, (long long)r->number.v, (long long)have);
}

static Status check_ref(const IceMetadata *m, const IceRequirement *r, Error *err)
{
    const IceRef *ref = ice_ref(m, r->text);

    if (!ref && r->number.has)
        return FAIL(err, E_CONFLICT, "Requirement failed: branch or tag " STR_FMT " is missing, expected %lld", STR_ARG(r->text),
                    (long long)r->number.v);
    if (ref && !r->number.has)
        return FAIL(err, E_CONFLICT, "Requirement failed: " STR_FMT " " STR_FMT " was created concurrently", STR_ARG(ref->type),
                    STR_ARG(r->text));
    if (ref && ref->snapshot_id != r->number.v)
        return FAIL(err, E_CONFLICT, "Requirement failed: " STR_FMT " " STR_FMT " has changed: expected id %lld != %lld",
                    STR_ARG(ref->type), STR_ARG(r->text), (long long)r->number.v, (long long)ref->snapshot_id);
    return OK;
}

static Status check(const IceMetadata *m, const IceRequirement *r, Error *err)
{
    if (r->kind == RQ_CREATE)
        return m ? FAIL(err, E_CONFLICT, "Requirement failed: table already exists") : OK;
    if (!m)
        return FAIL(err, E_CONFLICT, "Requirement failed: current table metadata is missing");
    switch (r->kind) {
    case RQ_UUID:
        if (!str_ieq(m->uuid, r->text))
            return FAIL(err, E_CONFLICT, "Requirement failed: UUID does not match: expected " STR_FMT " != " STR_FMT,
                        STR_ARG(m->uuid), STR_ARG(r->text));
        return OK;
    case RQ_REF_SNAPSHOT: return check_ref(m, r, err);
    case RQ_LAST_FIELD_ID: return check_number("last assigned field id", r, m->last_column_id, err);
    case RQ_CURRENT_SCHEMA: return check_number("current schema", r, m->current_schema_id, err);
    case RQ_LAST_PARTITION_ID: return check_number("last assigned partition id", r, m->last_partition_id, err);
    case RQ_DEFAULT_SPEC: return check_number("default partition spec", r, m->default_spec_id, err);
    default: return check_number("default sort order", r, m->default_order_id, err);
    }
}

Status ice_requirements_check(const IceMetadata *m, const IceRequirements *rq, Error *err)
{
    for vec_each(const IceRequirement, r, rq)
        TRY(check(m, r, err));
    return OK;
}

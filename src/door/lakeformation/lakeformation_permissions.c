/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_permissions.c - grant, revoke, in batches too, and lists of what is granted.
 *
 * Who may not read all grants (administrators may) sees his own. */
#include "door/lakeformation/lakeformation_door_int.h"

typedef Status (*Change)(Access *x, Arena *a, const LfGrant *g, Error *err);

/* ---- grant and revoke --------------------------------------------------------------------------------------------------- */

static Status read_grant(AwsCall *c, const Json *o, LfGrant *g, Error *err)
{
    *g = (LfGrant){ .updated_ms = clock_ms(), .updated_by = c->who.arn };
    if (!json_get(o, "Principal") || !json_get(o, "Resource") || !json_get(o, "Permissions"))
        return AWS_FAIL(err, E_INVALID, "InvalidInputException", "Principal, Resource and Permissions are required");
    if (json_get_str(json_get(o, "Condition"), "Expression", (Str){0}).n)
        return AWS_FAIL(err, E_UNSUPPORTED, "InvalidInputException", "Conditions of grants are not supported");
    TRY(door_principal(json_get(o, "Principal"), &g->principal, err));
    TRY(door_resource(c, json_get(o, "Resource"), &g->resource, err));
    TRY(door_permissions(c, json_get(o, "Permissions"), &g->permissions, err));
    return door_permissions(c, json_get(o, "PermissionsWithGrantOption"), &g->grantable, err);
}

static Status change_one(AwsCall *c, const Json *o, Change change, Error *err)
{
    LfGrant g;

    TRY(read_grant(c, o, &g, err));
    TRY(lf_may_grant(c->access, c->a, &c->who, &g, err));
    return change(c->access, c->a, &g, err);
}

Status door_grant(AwsCall *c, Error *err)
{
    TRY(aws_allow(c, "lakeformation:GrantPermissions", S("*"), NULL, err));
    return change_one(c, c->in, lf_grant, err);
}

Status door_revoke(AwsCall *c, Error *err)
{
    TRY(aws_allow(c, "lakeformation:RevokePermissions", S("*"), NULL, err));
    return change_one(c, c->in, lf_revoke, err);
}

static Json *failure(AwsCall *c, const Json *entry, const Error *why)
{
    Json *o = json_object(c->a), *e = json_object(c->a);

    json_set(c->a, e, "ErrorCode", json_str(c->a, str_dup(c->a, str_c(door_error_code(why)))));
    json_set(c->a, e, "ErrorMessage", json_str(c->a, str_dup(c->a, str_c(why->message))));
    json_set(c->a, o, "RequestEntry", json_copy(c->a, entry));
    json_set(c->a, o, "Error", e);
    return o;
}

static void change_all(AwsCall *c, Change change)
{
    const Json *entries = aws_get(c, "Entries");
    Json *failures = json_array(c->a);

    for (size_t i = 0; i < json_len(entries); i++) {
        Error why = {0};
        if (change_one(c, json_at(entries, i), change, &why) != OK)
            json_push(c->a, failures, failure(c, json_at(entries, i), &why));
    }
    aws_put(c, "Failures", failures);
}

Status door_batch_grant(AwsCall *c, Error *err)
{
    TRY(aws_allow(c, "lakeformation:BatchGrantPermissions", S("*"), NULL, err));
    change_all(c, lf_grant);
    return OK;
}

Status door_batch_revoke(AwsCall *c, Error *err)
{
    TRY(aws_allow(c, "lakeformation:BatchRevokePermissions", S("*"), NULL, err));
    change_all(c, lf_revoke);
    return OK;
}

/* ---- lists ---------------------------------------------------------------------------------------------------------------- */

static Json *grant_json(AwsCall *c, const LfGrant *g)
{
    Json *o = json_object(c->a), *who = json_object(c->a);

    json_set(c->a, who, "DataLakePrincipalIdentifier", json_str(c->a, g->principal));
    json_set(c->a, o, "Principal", who);
    json_set(c->a, o, "Resource", door_resource_json(c, &g->resource));
    json_set(c->a, o, "Permissions", door_permissions_json(c, g->permissions));
    json_set(c->a, o, "PermissionsWithGrantOption", door_permissions_json(c, g->grantable));
    if (g->updated_ms)
        json_set(c->a, o, "LastUpdated", aws_time(c, g->updated_ms));
    if (g->updated_by.n)
        json_set(c->a, o, "LastUpdatedBy", json_str(c->a, g->updated_by));
    return o;
}

static bool is_of_type(const LfResource *r, Str type)
{
    static const char *const names[] = { [LF_CATALOG] = "CATALOG", [LF_DATABASE] = "DATABASE", [LF_TABLE] = "TABLE", [LF_COLUMNS] = "TABLE", [LF_LOCATION] = "DATA_LOCATION", [LF_TAG] = "LF_TAG", [LF_TAG_POLICY] = "LF_TAG_POLICY" };

    if (!type.n || str_eq(type, str_c(names[r->kind])))
        return true;
    if (r->kind != LF_TAG_POLICY)
        return false;
    return str_eq(type, r->policy_on == LF_DATABASE ? S("LF_TAG_POLICY_DATABASE") : S("LF_TAG_POLICY_TABLE"));
}

static bool is_wanted(const LfGrant *g, const LfResource *of, Str type)
{
    if (!is_of_type(&g->resource, type))
        return false;
    if (!of || of->kind != LF_COLUMNS)
        return true;
    return g->resource.kind == LF_COLUMNS;
}

/* IncludeRelated: for a table, grants on all tables of its database too. */
static Status related(AwsCall *c, const LfResource *of, Str principal, LfGrants *ret, Error *err)
{
    Str given = aws_str(c, "IncludeRelated");
    LfResource wild = { .kind = LF_TABLE, .catalog = of->catalog, .database = of->database, .wildcard = 1 };

    if (!str_ieq(given, S("true")) || (of->kind != LF_TABLE && of->kind != LF_COLUMNS) || of->wildcard)
        return OK;
    return lf_grants(c->access, c->a, of->catalog, &wild, principal, ret, err);
}

/* Whose grants may be listed: those asked for, or the caller's own. */
static Status whose(AwsCall *c, Str *ret, Error *err)
{
    const Json *o = aws_get(c, "Principal");

    *ret = (Str){0};
    if (o)
        TRY(door_principal(o, ret, err));
    if (o && !aws_has(c, "Resource"))
        return AWS_FAIL(err, E_INVALID, "InvalidInputException", "Resource is mandatory if Principal is set in the input.");
    if (!lf_is_reader(c->access, c->a, &c->who))
        *ret = principal_owner(&c->who);
    return OK;
}

Status door_list_permissions(AwsCall *c, Error *err)
{
    LfResource r, *of = NULL;
    LfGrants all = {0};
    Str catalog, principal;
    Json *items = json_array(c->a);

    TRY(aws_allow(c, "lakeformation:ListPermissions", S("*"), NULL, err));
    TRY(door_catalog(c, aws_str(c, "CatalogId"), &catalog, err));
    TRY(whose(c, &principal, err));
    if (aws_has(c, "Resource")) {
        TRY(door_resource(c, aws_get(c, "Resource"), &r, err));
        of = &r;
    }
    TRY(lf_grants(c->access, c->a, aws_has(c, "CatalogId") ? catalog : (Str){0}, of, principal, &all, err));
    if (of)
        TRY(related(c, of, principal, &all, err));
    for vec_each(LfGrant, g, &all)
        if (is_wanted(g, of, aws_str(c, "ResourceType")))
            json_push(c->a, items, grant_json(c, g));
    return aws_page(c, "PrincipalResourcePermissions", items, "NextToken", "MaxResults", 1000, "NextToken", err);
}

/* ---- for a path ---------------------------------------------------------------------------------------------------------------- */

/* Grants on the location, and on tables and databases whose storage is there. */
static Status of_relations(AwsCall *c, Str uri, LfGrants *ret, Error *err)
{
    Catalog *catalog = door_service(c)->catalog;
    CatRelation rel;
    LfGrants all = {0};

    TRY(lf_grants(c->access, c->a, (Str){0}, NULL, (Str){0}, &all, err));
    for vec_each(LfGrant, g, &all) {
        const LfResource *r = &g->resource;
        if ((r->kind != LF_TABLE && r->kind != LF_COLUMNS) || r->wildcard)
            continue;
        if (cat_relation_get(catalog, c->a, r->catalog, r->database, r->table, &rel, err) == OK && (str_eq(rel.location, uri) || str_starts(rel.location, str_cat(c->a, uri, S("/")))))
            vec_push(c->a, ret, *g);
    }
    return OK;
}

Status door_effective_permissions(AwsCall *c, Error *err)
{
    LfResource place = { .kind = LF_LOCATION, .location = aws_str(c, "ResourceArn") };
    Json *items = json_array(c->a);
    LfGrants all = {0};
    Str uri;

    TRY(aws_allow(c, "lakeformation:GetEffectivePermissionsForPath", S("*"), NULL, err));
    TRY(door_catalog(c, aws_str(c, "CatalogId"), &place.catalog, err));
    TRY(door_location_uri(c, place.location, &uri, err));
    TRY(door_registered(c, place.location, err));
    if (!lf_is_reader(c->access, c->a, &c->who))
        return AWS_FAIL(err, E_DENIED, "AccessDeniedException", "Only data lake administrators may see the permissions of a path");
    TRY(lf_grants(c->access, c->a, place.catalog, &place, (Str){0}, &all, err));
    TRY(of_relations(c, uri, &all, err));
    for vec_each(LfGrant, g, &all)
        json_push(c->a, items, grant_json(c, g));
    return aws_page(c, "Permissions", items, "NextToken", "MaxResults", 1000, "NextToken", err);
}

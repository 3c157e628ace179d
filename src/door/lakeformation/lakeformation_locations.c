/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_locations.c - registered locations: records of the catalog, by ARN. */
#include "door/lakeformation/lakeformation_door_int.h"

static const char LOCATION[] = "lf.location";

static Status find(AwsCall *c, Str arn, Json **ret, Error *err)
{
    Status s = cat_doc_get(door_service(c)->catalog, c->a, str_c(LOCATION), arn, ret, err);
    if (s == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Entity not found");
    return s;
}

static Status keep(AwsCall *c, Str arn, Json *record, Error *err)
{
    CatChange ch = { .kind = CH_DOC, .doc_kind = str_c(LOCATION), .doc_key = arn, .doc = record };
    return cat_commit(door_service(c)->catalog, &ch, 1, err);
}

Status door_registered(AwsCall *c, Str arn, Error *err)
{
    Str known;

    TRY(lf_registered(c->access, c->a, arn, &known, err));
    return known.n ? OK : AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Resource is not registered with Lake Formation: " STR_FMT, STR_ARG(arn));
}

/* ---- operations ----------------------------------------------------------------------------------------------------------- */

static void take_flags(AwsCall *c, Json *o)
{
    static const char *const flags[] = { "WithFederation", "HybridAccessEnabled", "WithPrivilegedAccess" };

    for (size_t i = 0; i < COUNT_OF(flags); i++)
        if (aws_has(c, flags[i]))
            json_set(c->a, o, flags[i], json_bool(c->a, aws_bool(c, flags[i], false)));
    if (aws_has(c, "RoleArn"))
        json_set(c->a, o, "RoleArn", json_str(c->a, aws_str(c, "RoleArn")));
    if (aws_has(c, "ExpectedResourceOwnerAccount"))
        json_set(c->a, o, "ExpectedResourceOwnerAccount", json_str(c->a, aws_str(c, "ExpectedResourceOwnerAccount")));
    json_set(c->a, o, "modified_ms", json_int(c->a, clock_ms()));
}

static Str service_role(AwsCall *c)
{
    return str_fmt(c->a, "arn:aws:iam::" STR_FMT ":role/aws-service-role/lakeformation.amazonaws.com/AWSServiceRoleForLakeFormationDataAccess", STR_ARG(cat_account(door_service(c)->catalog)));
}

Status door_register(AwsCall *c, Error *err)
{
    Str arn = aws_str(c, "ResourceArn"), uri;
    Json *o = json_object(c->a), *there = NULL;

    TRY(aws_allow(c, "lakeformation:RegisterResource", S("*"), NULL, err));
    TRY(door_location_uri(c, arn, &uri, err));
    if (!aws_has(c, "RoleArn") && !aws_bool(c, "UseServiceLinkedRole", false))
        return AWS_FAIL(err, E_INVALID, "InvalidInputException", "Either RoleArn or UseServiceLinkedRole must be given");
    if (find(c, arn, &there, err) == OK)
        return AWS_FAIL(err, E_EXISTS, "AlreadyExistsException", "Resource is already registered");
    take_flags(c, o);
    if (!aws_has(c, "RoleArn"))
        json_set(c->a, o, "RoleArn", json_str(c->a, service_role(c)));
    return keep(c, arn, o, err);
}

Status door_update_location(AwsCall *c, Error *err)
{
    Json *o = NULL;

    TRY(aws_allow(c, "lakeformation:UpdateResource", S("*"), NULL, err));
    TRY(find(c, aws_str(c, "ResourceArn"), &o, err));
    take_flags(c, o);
    return keep(c, aws_str(c, "ResourceArn"), o, err);
}

Status door_deregister(AwsCall *c, Error *err)
{
    Json *o = NULL;

    TRY(aws_allow(c, "lakeformation:DeregisterResource", S("*"), NULL, err));
    TRY(find(c, aws_str(c, "ResourceArn"), &o, err));
    return keep(c, aws_str(c, "ResourceArn"), NULL, err);
}

static Json *info(AwsCall *c, Str arn, Json *record)
{
    Json *o = json_object(c->a);

    json_set(c->a, o, "ResourceArn", json_str(c->a, arn));
    for (size_t i = 0; i < json_len(record); i++)
        if (!str_eq(record->object.p[i].key, S("modified_ms")))
            json_set_s(c->a, o, record->object.p[i].key, record->object.p[i].value);
    json_set(c->a, o, "LastModified", aws_time(c, json_get_int(record, "modified_ms", 0)));
    return o;
}

Status door_describe_location(AwsCall *c, Error *err)
{
    Json *o = NULL;

    TRY(aws_allow(c, "lakeformation:DescribeResource", S("*"), NULL, err));
    TRY(find(c, aws_str(c, "ResourceArn"), &o, err));
    aws_put(c, "ResourceInfo", info(c, aws_str(c, "ResourceArn"), o));
    return OK;
}

/* ---- list, filtered --------------------------------------------------------------------------------------------------------- */

static bool holds_one(Str op, Str have, Str want)
{
    if (str_eq(op, S("EQ")) || str_eq(op, S("IN")))
        return str_eq(have, want);
    if (str_eq(op, S("NE")))
        return !str_eq(have, want);
    if (str_eq(op, S("CONTAINS")))
        return str_find(have, want) >= 0;
    if (str_eq(op, S("NOT_CONTAINS")))
        return str_find(have, want) < 0;
    if (str_eq(op, S("BEGINS_WITH")))
        return str_starts(have, want);
    int order = str_cmp(have, want);
    return str_eq(op, S("LT")) ? order < 0 : str_eq(op, S("LE")) ? order <= 0 : str_eq(op, S("GT")) ? order > 0 : order >= 0;
}

static bool holds(const Json *f, Str have)
{
    const Json *values = json_get(f, "StringValueList");
    Str op = json_get_str(f, "ComparisonOperator", S("EQ"));
    bool every = str_eq(op, S("NE")) || str_eq(op, S("NOT_CONTAINS"));

    if (str_eq(op, S("BETWEEN")))
        return json_len(values) == 2 && str_cmp(have, json_at(values, 0)->string) >= 0 && str_cmp(have, json_at(values, 1)->string) <= 0;
    for (size_t i = 0; i < json_len(values); i++)
        if (holds_one(op, have, json_at(values, i)->string) != every)
            return !every;
    return every;
}

static bool is_wanted(AwsCall *c, Str arn, const Json *record)
{
    const Json *filters = aws_get(c, "FilterConditionList");

    for (size_t i = 0; i < json_len(filters); i++) {
        Str field = json_get_str(json_at(filters, i), "Field", (Str){0});
        Str have = str_eq(field, S("RESOURCE_ARN")) ? arn : str_eq(field, S("ROLE_ARN")) ? json_get_str(record, "RoleArn", (Str){0})
                 : time_iso8601(c->a, json_get_int(record, "modified_ms", 0));
        if (!holds(json_at(filters, i), have))
            return false;
    }
    return true;
}

Status door_list_locations(AwsCall *c, Error *err)
{
    CatDocs all = {0};
    Json *items = json_array(c->a);

    TRY(aws_allow(c, "lakeformation:ListResources", S("*"), NULL, err));
    TRY(cat_doc_list(door_service(c)->catalog, c->a, str_c(LOCATION), (Str){0}, &all, err));
    for vec_each(CatDoc, d, &all)
        if (is_wanted(c, d->key, d->value))
            json_push(c->a, items, info(c, d->key, d->value));
    return aws_page(c, "ResourceInfoList", items, "NextToken", "MaxResults", 1000, "NextToken", err);
}

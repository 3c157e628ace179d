/* SPDX-License-Identifier: Apache-2.0 */
/* logs_records.c - metric filters, resource policies and destinations: documents of the catalog, given back as they came. */
#include "door/logs/logs_pattern.h"
#include "door/logs/logsdoor_int.h"

enum { POLICIES_MAX = 10 };
static const char *const FILTERS = "logs.metric-filter", *const POLICIES = "logs.policy", *const DESTINATIONS = "logs.destination";

static Status save(AwsCall *c, const char *kind, Str key, Json *value, Error *err)
{
    CatChange ch = { .kind = CH_DOC, .doc_kind = str_c(kind), .doc_key = key, .doc = value };
    LOGS_TRY(c, cat_commit(logs_service(c)->catalog, &ch, 1, err), err);
    return OK;
}

static Status load(AwsCall *c, const char *kind, Str key, Json **ret, Error *err)
{
    return cat_doc_get(logs_service(c)->catalog, c->a, str_c(kind), key, ret, err);
}

static Status all(AwsCall *c, const char *kind, Str prefix, CatDocs *ret, Error *err)
{
    LOGS_TRY(c, cat_doc_list(logs_service(c)->catalog, c->a, str_c(kind), prefix, ret, err), err);
    return OK;
}

static void copy(AwsCall *c, Json *to, const char *name) { if (aws_has(c, name)) json_set(c->a, to, name, (Json *)aws_get(c, name)); }

/* ---- metric filters --------------------------------------------------------------------------------------------------- */

static Str filter_key(AwsCall *c) { return str_fmt(c->a, STR_FMT ":" STR_FMT, STR_ARG(aws_str(c, "logGroupName")), STR_ARG(aws_str(c, "filterName"))); }

static Status check_filter_name(Str name, Error *err)
{
    if (!name.n || name.n > 512)
        return LOGS_BAD(err, "1 validation error detected: Value '" STR_FMT "' at 'filterName' failed to satisfy constraint: Minimum length of 1. Maximum length of 512.", STR_ARG(name));
    if (str_chr(name, ':') >= 0 || str_chr(name, '*') >= 0)
        return LOGS_BAD(err, "1 validation error detected: Value '" STR_FMT "' at 'filterName' failed to satisfy constraint: Must match pattern: [^:*]*", STR_ARG(name));
    return OK;
}

HANDLER(logs_put_metric_filter)
{
    static const char *const kept[] = { "filterName", "filterPattern", "logGroupName", "metricTransformations", "applyOnTransformedLogs", "fieldSelectionCriteria", "emitSystemFieldDimensions" };
    Json *o = json_object(c->a);
    LogPattern *ignored;
    LogGroup g;
    Str group;

    TRY(logs_group_named(c, &group, err));
    TRY(check_filter_name(aws_str(c, "filterName"), err));
    TRY(logs_allow(c, "logs:PutMetricFilter", group, (Str){0}, err));
    LOGS_TRY(c, log_pattern_parse(c->a, aws_str(c, "filterPattern"), &ignored, err), err);
    LOGS_TRY(c, logs_group_get(logs_of(c), c->a, group, &g, err), err);
    for (size_t i = 0; i < COUNT_OF(kept); i++)
        copy(c, o, kept[i]);
    json_set(c->a, o, "creationTime", json_int(c->a, clock_ms()));
    return save(c, FILTERS, filter_key(c), o, err);
}

HANDLER(logs_delete_metric_filter)
{
    Json *there;
    Str group;

    TRY(check_filter_name(aws_str(c, "filterName"), err));
    TRY(logs_group_named(c, &group, err));
    TRY(logs_allow(c, "logs:DeleteMetricFilter", group, (Str){0}, err));
    if (load(c, FILTERS, filter_key(c), &there, err) != OK)
        return AWS_FAIL(err, E_NOT_FOUND, "ResourceNotFoundException", "The specified metric filter does not exist.");
    return save(c, FILTERS, filter_key(c), NULL, err);
}

static bool has_metric(const Json *filter, Str name, Str space)
{
    const Json *list = json_get(filter, "metricTransformations");

    for (size_t i = 0; i < json_len(list); i++)
        if (str_eq(json_get_str(json_at(list, i), "metricName", (Str){0}), name) && str_eq(json_get_str(json_at(list, i), "metricNamespace", (Str){0}), space))
            return true;
    return !name.n;
}

HANDLER(logs_describe_metric_filters)
{
    Str group = aws_str(c, "logGroupName"), metric = aws_str(c, "metricName"), space = aws_str(c, "metricNamespace");
    Json *out = json_array(c->a);
    CatDocs docs = {0};

    TRY(logs_check_group_name(group, "logGroupName", err));
    if (metric.n != 0 && !space.n)
        return LOGS_BAD(err, "metricNamespace must be given with metricName.");
    TRY(logs_allow(c, "logs:DescribeMetricFilters", group.n ? group : S("*"), (Str){0}, err));
    TRY(all(c, FILTERS, group.n ? str_cat(c->a, group, S(":")) : (Str){0}, &docs, err));
    for (size_t i = 0; i < docs.n; i++)
        if (str_starts(json_get_str(docs.p[i].value, "filterName", (Str){0}), aws_str(c, "filterNamePrefix")) && has_metric(docs.p[i].value, metric, space))
            json_push(c->a, out, docs.p[i].value);
    return aws_page(c, "metricFilters", out, "nextToken", "limit", 50, "nextToken", err);
}

HANDLER(logs_test_metric_filter)
{
    const Json *messages = aws_get(c, "logEventMessages");
    Json *out = json_array(c->a);
    LogPattern *p;

    TRY(aws_allow(c, "logs:TestMetricFilter", S("*"), NULL, err));
    LOGS_TRY(c, log_pattern_parse(c->a, aws_str(c, "filterPattern"), &p, err), err);
    for (size_t i = 0; i < json_len(messages); i++) {
        if (!log_pattern_matches(p, c->a, json_at(messages, i)->string))
            continue;
        Json *o = json_object(c->a);
        json_set(c->a, o, "eventNumber", json_int(c->a, (int64_t)i + 1));
        json_set(c->a, o, "eventMessage", json_at(messages, i));
        json_set(c->a, o, "extractedValues", json_object(c->a));
        json_push(c->a, out, o);
    }
    aws_put(c, "matches", out);
    return OK;
}

/* ---- resource policies ---------------------------------------------------------------------------------------------------- */

HANDLER(logs_put_policy)
{
    Str name = aws_str(c, "policyName");
    Json *o = json_object(c->a), *there;
    CatDocs docs = {0};
    Error absent;

    TRY(aws_allow(c, "logs:PutResourcePolicy", S("*"), NULL, err));
    if (!name.n || aws_has(c, "resourceArn"))
        return AWS_FAIL(err, E_UNSUPPORTED, "InvalidParameterException", "only policies of the account are supported: give policyName and no resourceArn");
    if (json_parse(c->a, aws_str(c, "policyDocument"), &there, err) != OK)
        return LOGS_BAD(err, "The policy document is not valid JSON.");
    TRY(all(c, POLICIES, (Str){0}, &docs, err));
    if (docs.n >= POLICIES_MAX && load(c, POLICIES, name, &there, &absent) != OK)
        return AWS_FAIL(err, E_LIMIT, "LimitExceededException", "Resource limit exceeded.");
    json_set(c->a, o, "policyName", json_str(c->a, name));
    copy(c, o, "policyDocument");
    json_set(c->a, o, "lastUpdatedTime", json_int(c->a, clock_ms()));
    TRY(save(c, POLICIES, name, o, err));
    aws_put(c, "resourcePolicy", o);
    return OK;
}

HANDLER(logs_delete_policy)
{
    Str name = aws_str(c, "policyName");
    Json *there;

    TRY(aws_allow(c, "logs:DeleteResourcePolicy", S("*"), NULL, err));
    if (load(c, POLICIES, name, &there, err) != OK)
        return AWS_FAIL(err, E_NOT_FOUND, "ResourceNotFoundException", "Policy with name [" STR_FMT "] does not exist", STR_ARG(name));
    return save(c, POLICIES, name, NULL, err);
}

static Status describe(AwsCall *c, const char *kind, Str prefix, const char *list, Error *err)
{
    Json *out = json_array(c->a);
    CatDocs docs = {0};

    TRY(all(c, kind, prefix, &docs, err));
    for (size_t i = 0; i < docs.n; i++)
        json_push(c->a, out, docs.p[i].value);
    return aws_page(c, list, out, "nextToken", "limit", 50, "nextToken", err);
}

HANDLER(logs_describe_policies)
{
    TRY(aws_allow(c, "logs:DescribeResourcePolicies", S("*"), NULL, err));
    return describe(c, POLICIES, (Str){0}, "resourcePolicies", err);
}

/* ---- destinations ------------------------------------------------------------------------------------------------------------ */

static Str destination_arn(AwsCall *c, Str name)
{
    const Catalog *cat = logs_service(c)->catalog;
    return str_fmt(c->a, "arn:aws:logs:" STR_FMT ":" STR_FMT ":destination:" STR_FMT, STR_ARG(cat_region(cat)), STR_ARG(cat_account(cat)), STR_ARG(name));
}

HANDLER(logs_put_destination)
{
    Str name = aws_str(c, "destinationName");
    Json *o = json_object(c->a), *old;
    Error absent;

    TRY(aws_allow(c, "logs:PutDestination", destination_arn(c, name), NULL, err));
    copy(c, o, "destinationName");
    copy(c, o, "targetArn");
    copy(c, o, "roleArn");
    json_set(c->a, o, "arn", json_str(c->a, destination_arn(c, name)));
    json_set(c->a, o, "creationTime", json_int(c->a, clock_ms()));
    copy(c, o, "tags");
    if (load(c, DESTINATIONS, name, &old, &absent) == OK) {
        static const char *const stay[] = { "creationTime", "accessPolicy", "tags" };
        for (size_t i = 0; i < COUNT_OF(stay); i++)
            if (json_get(old, stay[i]))
                json_set(c->a, o, stay[i], json_get(old, stay[i]));
    }
    TRY(save(c, DESTINATIONS, name, o, err));
    json_del(o, S("tags"));
    aws_put(c, "destination", o);
    return OK;
}

Status logs_destination_tags(AwsCall *c, const char *action, Str name, Json **destination, Props *tags, Error *err)
{
    const Json *map;

    TRY(aws_allow(c, action, destination_arn(c, name), NULL, err));
    if (load(c, DESTINATIONS, name, destination, err) != OK)
        return AWS_FAIL(err, E_NOT_FOUND, "ResourceNotFoundException", "The specified destination does not exist.");
    map = json_get(*destination, "tags");
    for (size_t i = 0; i < json_len(map); i++)
        props_set(c->a, tags, map->object.p[i].key, map->object.p[i].value->string);
    return OK;
}

Status logs_destination_retag(AwsCall *c, Json *destination, const Props *tags, Error *err)
{
    Json *map = json_object(c->a);

    for vec_each(KeyValue, kv, tags)
        json_set_s(c->a, map, kv->key, json_str(c->a, kv->value));
    json_set(c->a, destination, "tags", map);
    return save(c, DESTINATIONS, json_get_str(destination, "destinationName", (Str){0}), destination, err);
}

static Status open_destination(AwsCall *c, const char *action, Json **ret, Error *err)
{
    Str name = aws_str(c, "destinationName");

    TRY(aws_allow(c, action, destination_arn(c, name), NULL, err));
    if (load(c, DESTINATIONS, name, ret, err) != OK)
        return AWS_FAIL(err, E_NOT_FOUND, "ResourceNotFoundException", "The specified destination does not exist.");
    return OK;
}

HANDLER(logs_put_destination_policy)
{
    Json *o;
    TRY(open_destination(c, "logs:PutDestinationPolicy", &o, err));
    copy(c, o, "accessPolicy");
    return save(c, DESTINATIONS, aws_str(c, "destinationName"), o, err);
}

HANDLER(logs_delete_destination)
{
    Json *o;
    TRY(open_destination(c, "logs:DeleteDestination", &o, err));
    return save(c, DESTINATIONS, aws_str(c, "destinationName"), NULL, err);
}

HANDLER(logs_describe_destinations)
{
    TRY(aws_allow(c, "logs:DescribeDestinations", destination_arn(c, S("*")), NULL, err));
    TRY(describe(c, DESTINATIONS, aws_str(c, "DestinationNamePrefix"), "destinations", err));
    for (size_t i = 0; i < json_len(json_get(c->out, "destinations")); i++)
        json_del(json_at(json_get(c->out, "destinations"), i), S("tags"));
    return OK;
}

HANDLER(logs_describe_subscriptions)
{
    LogGroup g;
    Str group;

    TRY(logs_group_named(c, &group, err));
    TRY(logs_allow(c, "logs:DescribeSubscriptionFilters", group, (Str){0}, err));
    LOGS_TRY(c, logs_group_get(logs_of(c), c->a, group, &g, err), err);
    aws_put(c, "subscriptionFilters", json_array(c->a));
    return OK;
}

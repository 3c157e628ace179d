/* SPDX-License-Identifier: Apache-2.0 */
/* logs_group.c - log groups: life, retention, keys, protection, tags. */
#include "door/logs/logsdoor_int.h"

static const int retention_days[] = { 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653 };

static Props tags_of(AwsCall *c, const Json *map)
{
    Props ret = {0};
    for (size_t i = 0; i < json_len(map); i++)
        if (json_is(map->object.p[i].value, JSON_STRING))
            props_set(c->a, &ret, map->object.p[i].key, map->object.p[i].value->string);
    return ret;
}

HANDLER(logs_create_group)
{
    LogGroup g = { .name = aws_str(c, "logGroupName"), .kms_key = aws_str(c, "kmsKeyId"), .class_ = aws_str(c, "logGroupClass"),
                   .deletion_protected = aws_bool(c, "deletionProtectionEnabled", false), .tags = tags_of(c, aws_get(c, "tags")) };

    TRY(logs_check_group_name(g.name, "logGroupName", err));
    if (str_starts(g.name, S("aws/")))
        return LOGS_BAD(err, "Log groups starting with aws/ are reserved for AWS.");
    TRY(logs_allow(c, "logs:CreateLogGroup", g.name, (Str){0}, err));
    LOGS_TRY(c, logs_group_create(logs_of(c), &g, err), err);
    return OK;
}

HANDLER(logs_delete_group)
{
    Str name;
    LogGroup g;

    TRY(logs_group_named(c, &name, err));
    TRY(logs_allow(c, "logs:DeleteLogGroup", name, (Str){0}, err));
    LOGS_TRY(c, logs_group_get(logs_of(c), c->a, name, &g, err), err);
    if (g.deletion_protected)
        return AWS_FAIL(err, E_CONFLICT, "InvalidOperationException", "Log group '" STR_FMT "' cannot be deleted: its deletion protection is on", STR_ARG(name));
    LOGS_TRY(c, logs_group_delete(logs_of(c), name, err), err);
    return OK;
}

/* ---- listing ----------------------------------------------------------------------------------------------------------- */

static Json *group_json(AwsCall *c, const LogGroup *g)
{
    Json *o = json_object(c->a);
    Str arn = logs_group_arn(c, g->name);

    json_set(c->a, o, "logGroupName", json_str(c->a, g->name));
    json_set(c->a, o, "creationTime", json_int(c->a, g->created_ms));
    if (g->retention_days)
        json_set(c->a, o, "retentionInDays", json_int(c->a, g->retention_days));
    json_set(c->a, o, "metricFilterCount", json_int(c->a, 0));
    json_set(c->a, o, "arn", json_str(c->a, str_cat(c->a, arn, S(":*"))));
    json_set(c->a, o, "storedBytes", json_int(c->a, g->stored_bytes));
    if (g->kms_key.n)
        json_set(c->a, o, "kmsKeyId", json_str(c->a, g->kms_key));
    json_set(c->a, o, "logGroupClass", json_str(c->a, g->class_));
    json_set(c->a, o, "logGroupArn", json_str(c->a, arn));
    json_set(c->a, o, "deletionProtectionEnabled", json_bool(c->a, g->deletion_protected));
    return o;
}

static Status count_filters(AwsCall *c, Json *group, Str name, Error *err)
{
    CatDocs docs = {0};
    TRY(cat_doc_list(logs_service(c)->catalog, c->a, S("logs.metric-filter"), str_cat(c->a, name, S(":")), &docs, err));
    json_set(c->a, group, "metricFilterCount", json_int(c->a, (int64_t)docs.n));
    return OK;
}

static bool named(AwsCall *c, Str name)
{
    const Json *ids = aws_get(c, "logGroupIdentifiers");

    for (size_t i = 0; i < json_len(ids); i++) {
        Str id = json_at(ids, i)->string;
        if (str_eq(id, name) || str_eq(id, logs_group_arn(c, name)))
            return true;
    }
    return !ids;
}

static bool wanted(AwsCall *c, const LogGroup *g, Str pattern)
{
    Str class_ = aws_str(c, "logGroupClass");
    bool fits = str_starts(pattern, S("^")) ? str_starts(g->name, str_from(pattern, 1)) : str_find(g->name, pattern) >= 0;
    return fits && (!class_.n || str_eq(class_, g->class_)) && named(c, g->name);
}

/* Groups after `position` that the call asks for, at most `limit`; *next: the last one's name when there are more. */
static Status list(AwsCall *c, Str position, int64_t limit, LogGroups *ret, Str *next, Error *err)
{
    LogGroups all;

    *next = (Str){0};
    LOGS_TRY(c, logs_group_list(logs_of(c), c->a, aws_str(c, "logGroupNamePrefix"), position, 0, &all, err), err);
    for vec_each(LogGroup, g, &all) {
        if (!wanted(c, g, aws_str(c, "logGroupNamePattern")))
            continue;
        if ((int64_t)ret->n == limit) {
            *next = vec_last(ret).name;
            return OK;
        }
        vec_push(c->a, ret, *g);
    }
    return OK;
}

HANDLER(logs_describe_groups)
{
    LogGroups groups = {0};
    Json *out = json_array(c->a);
    Str position, next;

    if (aws_has(c, "logGroupNamePrefix") && aws_has(c, "logGroupNamePattern"))
        return LOGS_BAD(err, "LogGroup name prefix and LogGroup name pattern are mutually exclusive parameters.");
    TRY(logs_check_group_name(aws_str(c, "logGroupNamePrefix"), "logGroupNamePrefix", err));
    TRY(logs_allow(c, "logs:DescribeLogGroups", S("*"), (Str){0}, err));
    TRY(aws_page_start(c, "nextToken", &position, err));
    TRY(list(c, position, aws_int(c, "limit", PAGE_GROUPS), &groups, &next, err));
    for vec_each(LogGroup, g, &groups) {
        Json *o = group_json(c, g);
        LOGS_TRY(c, count_filters(c, o, g->name, err), err);
        json_push(c->a, out, o);
    }
    aws_put(c, "logGroups", out);
    if (next.n)
        aws_put_str(c, "nextToken", aws_page_token(c, next));
    return OK;
}

HANDLER(logs_list_groups)
{
    LogGroups groups = {0};
    Json *out = json_array(c->a);
    Str position, next;

    TRY(logs_allow(c, "logs:ListLogGroups", S("*"), (Str){0}, err));
    TRY(aws_page_start(c, "nextToken", &position, err));
    TRY(list(c, position, aws_int(c, "limit", PAGE_GROUPS), &groups, &next, err));
    for vec_each(LogGroup, g, &groups) {
        Json *o = json_object(c->a);
        json_set(c->a, o, "logGroupName", json_str(c->a, g->name));
        json_set(c->a, o, "logGroupArn", json_str(c->a, logs_group_arn(c, g->name)));
        json_set(c->a, o, "logGroupClass", json_str(c->a, g->class_));
        json_push(c->a, out, o);
    }
    aws_put(c, "logGroups", out);
    if (next.n)
        aws_put_str(c, "nextToken", aws_page_token(c, next));
    return OK;
}

/* ---- changing ------------------------------------------------------------------------------------------------------------ */

static Status open_for(AwsCall *c, const char *action, Str name, LogGroup *ret, Error *err)
{
    TRY(logs_allow(c, action, name, (Str){0}, err));
    LOGS_TRY(c, logs_group_get(logs_of(c), c->a, name, ret, err), err);
    return OK;
}

static Status open_named(AwsCall *c, const char *action, LogGroup *ret, Error *err)
{
    Str name;
    TRY(logs_group_named(c, &name, err));
    return open_for(c, action, name, ret, err);
}

static Status save(AwsCall *c, const LogGroup *g, Error *err)
{
    LOGS_TRY(c, logs_group_update(logs_of(c), g, err), err);
    return OK;
}

HANDLER(logs_put_retention)
{
    LogGroup g;
    int64_t days = aws_int(c, "retentionInDays", 0);
    bool known = false;

    for (size_t i = 0; i < COUNT_OF(retention_days); i++)
        known |= retention_days[i] == days;
    if (!known)
        return LOGS_BAD(err, "1 validation error detected: Value '%lld' at 'retentionInDays' failed to satisfy constraint: Member must satisfy enum value set: "
                             "[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653]", (long long)days);
    TRY(open_named(c, "logs:PutRetentionPolicy", &g, err));
    g.retention_days = days;
    return save(c, &g, err);
}

HANDLER(logs_delete_retention)
{
    LogGroup g;
    TRY(open_named(c, "logs:DeleteRetentionPolicy", &g, err));
    g.retention_days = 0;
    return save(c, &g, err);
}

HANDLER(logs_put_protection)
{
    LogGroup g;
    TRY(open_named(c, "logs:PutLogGroupDeletionProtection", &g, err));
    g.deletion_protected = aws_bool(c, "deletionProtectionEnabled", false);
    return save(c, &g, err);
}

static Status set_key(AwsCall *c, const char *action, Str key, Error *err)
{
    LogGroup g;
    if (aws_has(c, "resourceIdentifier"))
        return AWS_FAIL(err, E_UNSUPPORTED, "InvalidParameterException", "only log groups have keys here: give logGroupName");
    TRY(open_named(c, action, &g, err));
    g.kms_key = key;
    return save(c, &g, err);
}

HANDLER(logs_associate_key) { return set_key(c, "logs:AssociateKmsKey", aws_str(c, "kmsKeyId"), err); }
HANDLER(logs_disassociate_key) { return set_key(c, "logs:DisassociateKmsKey", (Str){0}, err); }

/* ---- tags ---------------------------------------------------------------------------------------------------------------- */

/* What has tags: a log group, or a destination. */
typedef struct Tagged { LogGroup group; Json *destination; Props tags; } Tagged;

static Status save_tags(AwsCall *c, Tagged *t, Error *err)
{
    if (t->tags.n > TAGS_MAX)
        return AWS_FAIL(err, E_LIMIT, "TooManyTagsException", "a resource has at most %d tags", TAGS_MAX);
    if (t->destination)
        return logs_destination_retag(c, t->destination, &t->tags, err);
    t->group.tags = t->tags;
    return save(c, &t->group, err);
}

static Status add_tags(AwsCall *c, Tagged *t, Error *err)
{
    Props more = tags_of(c, aws_get(c, "tags"));

    for vec_each(KeyValue, kv, &more)
        props_set(c->a, &t->tags, kv->key, kv->value);
    return save_tags(c, t, err);
}

static Status remove_tags(AwsCall *c, Tagged *t, const Json *keys, Error *err)
{
    for (size_t i = 0; i < json_len(keys); i++)
        props_del(&t->tags, json_at(keys, i)->string);
    return save_tags(c, t, err);
}

static Status put_tags(AwsCall *c, const Props *tags)
{
    Json *o = json_object(c->a);
    for vec_each(KeyValue, kv, tags)
        json_set_s(c->a, o, kv->key, json_str(c->a, kv->value));
    aws_put(c, "tags", o);
    return OK;
}

static Status open_group(AwsCall *c, const char *action, Tagged *t, Error *err)
{
    TRY(open_named(c, action, &t->group, err));
    t->tags = t->group.tags;
    return OK;
}

HANDLER(logs_tag_group)
{
    Tagged t = {0};
    TRY(open_group(c, "logs:TagLogGroup", &t, err));
    return add_tags(c, &t, err);
}

HANDLER(logs_untag_group)
{
    Tagged t = {0};
    TRY(open_group(c, "logs:UntagLogGroup", &t, err));
    return remove_tags(c, &t, aws_get(c, "tags"), err);
}

HANDLER(logs_tags_of_group)
{
    Tagged t = {0};
    TRY(open_group(c, "logs:ListTagsLogGroup", &t, err));
    return put_tags(c, &t.tags);
}

/* arn:aws:logs:…:log-group:NAME with or without ":*", or …:destination:NAME */
static Status open_resource(AwsCall *c, const char *action, Tagged *t, Error *err)
{
    const Str group = S(":log-group:"), destination = S(":destination:");
    Str arn = aws_str(c, "resourceArn");

    if (str_ends(arn, S(":*")))
        arn = str_sub(arn, 0, arn.n - 2);
    ptrdiff_t g = str_find(arn, group), d = str_find(arn, destination);
    if (!str_starts(arn, S("arn:aws:logs:")) || (g < 0 && d < 0))
        return LOGS_BAD(err, "log groups and destinations have tags: '" STR_FMT "' is not the ARN of one", STR_ARG(aws_str(c, "resourceArn")));
    if (g < 0)
        return logs_destination_tags(c, action, str_from(arn, (size_t)d + destination.n), &t->destination, &t->tags, err);
    TRY(open_for(c, action, str_from(arn, (size_t)g + group.n), &t->group, err));
    t->tags = t->group.tags;
    return OK;
}

HANDLER(logs_tag_resource)
{
    Tagged t = {0};
    TRY(open_resource(c, "logs:TagResource", &t, err));
    return add_tags(c, &t, err);
}

HANDLER(logs_untag_resource)
{
    Tagged t = {0};
    TRY(open_resource(c, "logs:UntagResource", &t, err));
    return remove_tags(c, &t, aws_get(c, "tagKeys"), err);
}

HANDLER(logs_tags_of_resource)
{
    Tagged t = {0};
    TRY(open_resource(c, "logs:ListTagsForResource", &t, err));
    return put_tags(c, &t.tags);
}

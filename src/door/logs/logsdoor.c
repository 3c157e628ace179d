/* SPDX-License-Identifier: Apache-2.0 */
/* logsdoor.c - the operations of CloudWatch Logs as a table, and what their handlers share.
 *
 * Groups, streams and events are catalog/logs.h.  Metric filters, resource policies and destinations are kept as records: they are returned as
 * they were given, and nothing is delivered anywhere; operations that would have to deliver (subscriptions, exports, live tails) answer that they
 * are not supported. */
#include "door/logs/logsdoor_int.h"

#define GROUP "logGroupName! s1-512"
#define PICK "logGroupName s1-512, logGroupIdentifier s1-2048"

static const AwsOp ops[] = {
    { .name = "CreateLogGroup", .handler = logs_create_group, .fields = GROUP ", kmsKeyId s0-256, tags <s0-256>0-50, logGroupClass e(STANDARD|INFREQUENT_ACCESS|DELIVERY|ESSENTIALS), deletionProtectionEnabled b" },
    { .name = "DeleteLogGroup", .handler = logs_delete_group, .fields = GROUP },
    { .name = "DescribeLogGroups", .handler = logs_describe_groups, .fields = "accountIdentifiers [s]0-20, logGroupNamePrefix s1-512, logGroupNamePattern s0-512, nextToken s1-4096, limit i1-50, includeLinkedAccounts b,"
      " logGroupClass e(STANDARD|INFREQUENT_ACCESS|DELIVERY|ESSENTIALS), logGroupIdentifiers [s1-2048]1-50" },
    { .name = "ListLogGroups", .handler = logs_list_groups, .fields = "logGroupNamePattern s0-129, logGroupClass e(STANDARD|INFREQUENT_ACCESS|DELIVERY|ESSENTIALS), includeLinkedAccounts b, accountIdentifiers [s]0-20, nextToken s1-4096, limit i1-1000",
      .note = "patterns are substrings or ^prefixes" },
    { .name = "PutRetentionPolicy", .handler = logs_put_retention, .fields = GROUP ", retentionInDays! i" },
    { .name = "DeleteRetentionPolicy", .handler = logs_delete_retention, .fields = GROUP },
    { .name = "PutLogGroupDeletionProtection", .handler = logs_put_protection, .fields = "logGroupIdentifier! s1-2048, deletionProtectionEnabled! b" },
    { .name = "AssociateKmsKey", .handler = logs_associate_key, .fields = "logGroupName s1-512, resourceIdentifier s1-2048, kmsKeyId! s0-256", .note = "the key is recorded, and encrypts nothing" },
    { .name = "DisassociateKmsKey", .handler = logs_disassociate_key, .fields = "logGroupName s1-512, resourceIdentifier s1-2048" },
    { .name = "TagLogGroup", .handler = logs_tag_group, .fields = GROUP ", tags! <s0-256>1-50" },
    { .name = "UntagLogGroup", .handler = logs_untag_group, .fields = GROUP ", tags! [s1-128]1-50" },
    { .name = "ListTagsLogGroup", .handler = logs_tags_of_group, .fields = GROUP },
    { .name = "TagResource", .handler = logs_tag_resource, .fields = "resourceArn! s1-1011, tags! <s0-256>1-50" },
    { .name = "UntagResource", .handler = logs_untag_resource, .fields = "resourceArn! s1-1011, tagKeys! [s1-128]0-50" },
    { .name = "ListTagsForResource", .handler = logs_tags_of_resource, .fields = "resourceArn! s1-1011" },
    { .name = "CreateLogStream", .handler = logs_create_stream, .fields = GROUP ", logStreamName! s1-512" },
    { .name = "DeleteLogStream", .handler = logs_delete_stream, .fields = GROUP ", logStreamName! s1-512" },
    { .name = "DescribeLogStreams", .handler = logs_describe_streams, .fields = PICK ", logStreamNamePrefix s1-512, orderBy e(LogStreamName|LastEventTime), descending b, nextToken s1-4096, limit i1-50" },
    { .name = "PutLogEvents", .handler = logs_put_events, .fields = GROUP ", logStreamName! s1-512, logEvents! [{InputLogEvent}]1-10000, sequenceToken s, entity *" },
    { .name = "GetLogEvents", .handler = logs_get_events, .fields = PICK ", logStreamName! s1-512, startTime l, endTime l, nextToken s1-4096, limit i1-10000, startFromHead b, unmask b" },
    { .name = "FilterLogEvents", .handler = logs_filter_events, .fields = PICK ", logStreamNames [s1-512]1-100, logStreamNamePrefix s1-512, startTime l, endTime l, filterPattern s0-1024, nextToken s1-4096, limit i1-10000,"
      " startFromHead b, interleaved b, unmask b", .note = "terms, JSON and word patterns; no regular expressions" },
    { .name = "PutMetricFilter", .handler = logs_put_metric_filter, .fields = "logGroupName! s1-512, filterName! s1-512, filterPattern! s0-1024, metricTransformations! [{MetricTransformation}]1-1, applyOnTransformedLogs b,"
      " fieldSelectionCriteria s, emitSystemFieldDimensions [s]", .note = "kept as a record: no metric is written" },
    { .name = "DeleteMetricFilter", .handler = logs_delete_metric_filter, .fields = "logGroupName! s1-512, filterName! s" },
    { .name = "DescribeMetricFilters", .handler = logs_describe_metric_filters, .fields = "logGroupName s1-512, filterNamePrefix s1-512, nextToken s1-4096, limit i1-50, metricName s0-255, metricNamespace s0-255" },
    { .name = "TestMetricFilter", .handler = logs_test_metric_filter, .fields = "filterPattern! s0-1024, logEventMessages! [s1-262144]1-50" },
    { .name = "PutResourcePolicy", .handler = logs_put_policy, .fields = "policyName s, policyDocument s1-5120, resourceArn s, expectedRevisionId s", .note = "kept as a record" },
    { .name = "DeleteResourcePolicy", .handler = logs_delete_policy, .fields = "policyName s, resourceArn s, expectedRevisionId s" },
    { .name = "DescribeResourcePolicies", .handler = logs_describe_policies, .fields = "nextToken s1-4096, limit i1-50, resourceArn s, policyScope e(ACCOUNT|RESOURCE)" },
    { .name = "PutDestination", .handler = logs_put_destination, .fields = "destinationName! s1-512, targetArn! s1-2048, roleArn! s1-2048, tags <s0-256>0-50", .note = "kept as a record" },
    { .name = "PutDestinationPolicy", .handler = logs_put_destination_policy, .fields = "destinationName! s1-512, accessPolicy! s1-5120, forceUpdate b" },
    { .name = "DeleteDestination", .handler = logs_delete_destination, .fields = "destinationName! s1-512" },
    { .name = "DescribeDestinations", .handler = logs_describe_destinations, .fields = "DestinationNamePrefix s1-512, nextToken s1-4096, limit i1-50" },
    { .name = "DescribeSubscriptionFilters", .handler = logs_describe_subscriptions, .fields = GROUP ", filterNamePrefix s1-512, nextToken s1-4096, limit i1-50", .note = "there are none" },
    { .name = "PutSubscriptionFilter", .note = "there is nothing to deliver to" },
    { .name = "DeleteSubscriptionFilter" },
    { .name = "StartLiveTail", .note = "event streams" },
    { .name = "CreateExportTask" }, { .name = "CancelExportTask" }, { .name = "DescribeExportTasks" },
    { .name = "StartQuery", .note = "CloudWatch Logs Insights" }, { .name = "StopQuery" }, { .name = "GetQueryResults" }, { .name = "DescribeQueries" },
    { .name = "PutQueryDefinition" }, { .name = "DeleteQueryDefinition" }, { .name = "DescribeQueryDefinitions" },
    { .name = "GetLogRecord" }, { .name = "GetLogGroupFields" }, { .name = "GetLogObject" },
    { .name = "PutDeliverySource" }, { .name = "GetDeliverySource" }, { .name = "DeleteDeliverySource" }, { .name = "DescribeDeliverySources" },
    { .name = "PutDeliveryDestination" }, { .name = "GetDeliveryDestination" }, { .name = "DeleteDeliveryDestination" }, { .name = "DescribeDeliveryDestinations" },
    { .name = "PutDeliveryDestinationPolicy" }, { .name = "GetDeliveryDestinationPolicy" }, { .name = "DeleteDeliveryDestinationPolicy" },
    { .name = "CreateDelivery" }, { .name = "GetDelivery" }, { .name = "DeleteDelivery" }, { .name = "DescribeDeliveries" }, { .name = "UpdateDeliveryConfiguration" }, { .name = "DescribeConfigurationTemplates" },
    { .name = "PutDataProtectionPolicy" }, { .name = "GetDataProtectionPolicy" }, { .name = "DeleteDataProtectionPolicy" },
    { .name = "PutAccountPolicy" }, { .name = "DeleteAccountPolicy" }, { .name = "DescribeAccountPolicies" },
    { .name = "PutIndexPolicy" }, { .name = "DeleteIndexPolicy" }, { .name = "DescribeIndexPolicies" }, { .name = "DescribeFieldIndexes" },
    { .name = "PutTransformer" }, { .name = "GetTransformer" }, { .name = "DeleteTransformer" }, { .name = "TestTransformer" },
    { .name = "CreateLogAnomalyDetector" }, { .name = "DeleteLogAnomalyDetector" }, { .name = "GetLogAnomalyDetector" }, { .name = "ListLogAnomalyDetectors" },
    { .name = "UpdateLogAnomalyDetector" }, { .name = "ListAnomalies" }, { .name = "UpdateAnomaly" },
    { .name = "PutIntegration" }, { .name = "GetIntegration" }, { .name = "DeleteIntegration" }, { .name = "ListIntegrations" }, { .name = "ListLogGroupsForQuery" },
};

static const AwsShape shapes[] = {
    { "InputLogEvent", "timestamp! l, message! s1-1048576" },
    { "MetricTransformation", "metricName! s0-255, metricNamespace! s0-255, metricValue! s0-100, defaultValue d, dimensions <s0-255>0-3, unit s" },
};

static const AwsCode codes[] = {
    { "InvalidParameterException", 400 }, { "ResourceAlreadyExistsException", 400 }, { "ResourceNotFoundException", 400 }, { "LimitExceededException", 400 }, { "OperationAbortedException", 400 },
    { "InvalidOperationException", 400 }, { "ServiceUnavailableException", 500 }, { "UnrecognizedClientException", 400 }, { "AccessDeniedException", 400 }, { "UnsupportedOperationException", 400 },
    { "TooManyTagsException", 400 }, { "ValidationException", 400 },
};

const AwsService logs_service_table = {
    .scope = "logs", .title = "Amazon CloudWatch Logs", .protocol = AWS_JSON, .target = "Logs_20140328", .version = "2014-03-28", .message_key = "message",
    .ops = ops, .nops = COUNT_OF(ops), .shapes = shapes, .nshapes = COUNT_OF(shapes), .codes = codes, .ncodes = COUNT_OF(codes), .validation = "InvalidParameterException",
    .code_of = { [E_NOT_FOUND] = "ResourceNotFoundException", [E_EXISTS] = "ResourceAlreadyExistsException", [E_INVALID] = "InvalidParameterException", [E_SYNTAX] = "InvalidParameterException",
                 [E_LIMIT] = "InvalidParameterException", [E_DENIED] = "AccessDeniedException", [E_CONFLICT] = "OperationAbortedException", [E_UNAVAILABLE] = "ServiceUnavailableException",
                 [E_UNSUPPORTED] = "InvalidParameterException" },
};

Status logsdoor_open(Service *svc, AwsMount *ret, Error *err UNUSED)
{
    *ret = (AwsMount){ .service = &logs_service_table, .ctx = svc };
    return OK;
}

/* ---- shared by the handlers ---------------------------------------------------------------------------------------------- */

Status logs_fail(const AwsCall *c, Status s, Error *err)
{
    const char *code = c->service->code_of[s];
    if (code)
        aws_code(err, code);
    return s;
}

Str logs_group_arn(const AwsCall *c, Str group)
{
    const Catalog *cat = logs_service(c)->catalog;
    return str_fmt(c->a, "arn:aws:logs:" STR_FMT ":" STR_FMT ":log-group:" STR_FMT, STR_ARG(cat_region(cat)), STR_ARG(cat_account(cat)), STR_ARG(group));
}

Status logs_allow(AwsCall *c, const char *action, Str group, Str stream, Error *err)
{
    Str arn = logs_group_arn(c, group);
    return aws_allow(c, action, stream.n ? str_fmt(c->a, STR_FMT ":log-stream:" STR_FMT, STR_ARG(arn), STR_ARG(stream)) : str_cat(c->a, arn, S(":*")), NULL, err);
}

Status logs_check_group_name(Str name, const char *field, Error *err)
{
    for (size_t i = 0; i < name.n; i++) {
        char ch = name.p[i];
        bool fine = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || strchr(".-_/#", ch);
        if (!fine || !ch)
            return LOGS_BAD(err, "1 validation error detected: Value '" STR_FMT "' at '%s' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\.\\-_/#A-Za-z0-9]+", STR_ARG(name), field);
    }
    return OK;
}

Status logs_check_stream_name(Str name, Error *err)
{
    if (str_chr(name, ':') >= 0 || str_chr(name, '*') >= 0)
        return LOGS_BAD(err, "1 validation error detected: Value '" STR_FMT "' at 'logStreamName' failed to satisfy constraint: Member must satisfy regular expression pattern: [^:*]*", STR_ARG(name));
    return OK;
}

static Status name_of_identifier(AwsCall *c, Str id, Str *ret, Error *err)
{
    Str own = logs_group_arn(c, (Str){0});

    if (str_chr(id, '*') >= 0)
        return LOGS_BAD(err, "1 validation error detected: Value at 'logGroupIdentifier' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\w#+=/:,.@-]*");
    *ret = id;
    if (!str_starts(id, S("arn:")))
        return logs_check_group_name(id, "logGroupIdentifier", err);
    ptrdiff_t at = str_find(id, S(":log-group:"));
    if (at < 0)
        return LOGS_BAD(err, "The specified logGroupIdentifier is not the ARN of a log group.");
    *ret = str_from(id, (size_t)at + strlen(":log-group:"));
    StrVec mine = {0}, theirs = {0};
    str_split(c->a, own, ':', &mine);
    str_split(c->a, id, ':', &theirs);
    if (theirs.n < 5 || !str_eq(mine.p[4], theirs.p[4]))
        return AWS_FAIL(err, E_NOT_FOUND, "ResourceNotFoundException", "The specified log group does not exist.");
    return OK;
}

Status logs_group_named(AwsCall *c, Str *ret, Error *err)
{
    Str name = aws_str(c, "logGroupName"), id = aws_str(c, "logGroupIdentifier");

    if (name.n && id.n)
        return LOGS_BAD(err, "Only one of logGroupName and logGroupIdentifier may be given.");
    if (!name.n && !id.n)
        return LOGS_BAD(err, "Either logGroupName or logGroupIdentifier must be given.");
    *ret = name;
    return name.n ? logs_check_group_name(name, "logGroupName", err) : name_of_identifier(c, id, ret, err);
}

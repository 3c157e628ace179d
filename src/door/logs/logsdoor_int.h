/* SPDX-License-Identifier: Apache-2.0 */
/* logsdoor_int.h - what the files of the CloudWatch Logs door share. */
#ifndef FIRN_LOGSDOOR_INT_H
#define FIRN_LOGSDOOR_INT_H

#include "catalog/logs.h"
#include "door/logs/logsdoor.h"

enum { PAGE_GROUPS = 50, PAGE_STREAMS = 50, PAGE_EVENTS = 10000, ANSWER_BYTES = 1024 * 1024, TAGS_MAX = 50 };

static inline Service *logs_service(const AwsCall *c) { return c->door; }
static inline Logs *logs_of(const AwsCall *c) { return logs_service(c)->logs; }

/* The service's words for what the catalog says. */
Status logs_fail(const AwsCall *c, Status s, Error *err);
#define LOGS_TRY(c, expr, err) do { Status logs_s_ = (expr); if (logs_s_ != OK) return logs_fail((c), logs_s_, (err)); } while (0)
#define LOGS_BAD(err, ...) AWS_FAIL(err, E_INVALID, "InvalidParameterException", __VA_ARGS__)

Str logs_group_arn(const AwsCall *c, Str group);                       /* arn:aws:logs:<region>:<account>:log-group:<name> */
/* May the caller do this to the group; stream empty: to the group itself. */
NODISCARD Status logs_allow(AwsCall *c, const char *action, Str group, Str stream, Error *err);
/* The group that logGroupName or logGroupIdentifier (a name or an ARN) names. */
NODISCARD Status logs_group_named(AwsCall *c, Str *ret, Error *err);
/* Names as the service allows them: [.\-_/#A-Za-z0-9]{1,512}; streams: no ':' and '*'. */
NODISCARD Status logs_check_group_name(Str name, const char *field, Error *err);
NODISCARD Status logs_check_stream_name(Str name, Error *err);

/* Tags of a destination: read with its record, and written back into it. */
NODISCARD Status logs_destination_tags(AwsCall *c, const char *action, Str name, Json **destination, Props *tags, Error *err);
NODISCARD Status logs_destination_retag(AwsCall *c, Json *destination, const Props *tags, Error *err);

#define HANDLER(name) Status name(AwsCall *c, Error *err)
HANDLER(logs_create_group);
HANDLER(logs_delete_group);
HANDLER(logs_describe_groups);
HANDLER(logs_list_groups);
HANDLER(logs_put_retention);
HANDLER(logs_delete_retention);
HANDLER(logs_associate_key);
HANDLER(logs_disassociate_key);
HANDLER(logs_put_protection);
HANDLER(logs_tag_group);
HANDLER(logs_untag_group);
HANDLER(logs_tags_of_group);
HANDLER(logs_tag_resource);
HANDLER(logs_untag_resource);
HANDLER(logs_tags_of_resource);
HANDLER(logs_create_stream);
HANDLER(logs_delete_stream);
HANDLER(logs_describe_streams);
HANDLER(logs_put_events);
HANDLER(logs_get_events);
HANDLER(logs_filter_events);
HANDLER(logs_put_metric_filter);
HANDLER(logs_delete_metric_filter);
HANDLER(logs_describe_metric_filters);
HANDLER(logs_test_metric_filter);
HANDLER(logs_put_policy);
HANDLER(logs_delete_policy);
HANDLER(logs_describe_policies);
HANDLER(logs_put_destination);
HANDLER(logs_delete_destination);
HANDLER(logs_describe_destinations);
HANDLER(logs_put_destination_policy);
HANDLER(logs_describe_subscriptions);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* logs.h - CloudWatch Logs' groups, streams and events, and the list of notices (EventBridge's shape).
 *
 * Owns logs.db (SQLite, WAL, synchronous=NORMAL: the last moments before a power cut may be lost, order and structure are not).  Any thread may call.
 * Retention is applied by logs_expire.  Limits: an event and a batch are at most 1 MiB, a batch has at most 10,000 events (the service's own quotas).
 * E_NOT_FOUND says "The specified log group does not exist." or "… log stream …", E_EXISTS "The specified log group already exists" as the service does. */
#ifndef FIRN_LOGS_H
#define FIRN_LOGS_H

#include "base/base.h"
#include "codec/codec.h"

enum { LOGS_EVENT_BYTES = 1024 * 1024, LOGS_BATCH_BYTES = 1024 * 1024, LOGS_BATCH_EVENTS = 10000, LOGS_EVENT_OVERHEAD = 26, LOGS_NOTICES_KEPT = 10000 };

typedef struct Logs Logs;
NODISCARD Status logs_open(Str path, Logs **ret, Error *err);
void logs_close(Logs *l);
NODISCARD Status logs_reset(Logs *l, Error *err);

typedef struct LogGroup { Str name; int64_t created_ms, retention_days, stored_bytes; Props tags; Str class_, kms_key; int deletion_protected; } LogGroup;
typedef VEC(LogGroup) LogGroups;
NODISCARD Status logs_group_create(Logs *l, const LogGroup *g, Error *err);                             /* E_EXISTS */
NODISCARD Status logs_group_get(Logs *l, Arena *a, Str name, LogGroup *ret, Error *err);                /* E_NOT_FOUND */
/* By name, exclusively after `after`; max 0: all. */
NODISCARD Status logs_group_list(Logs *l, Arena *a, Str prefix, Str after, int max, LogGroups *ret, Error *err);
NODISCARD Status logs_group_update(Logs *l, const LogGroup *g, Error *err);                             /* retention, tags, key, protection */
NODISCARD Status logs_group_delete(Logs *l, Str name, Error *err);

typedef struct LogStream { Str group, name; int64_t created_ms, first_ms, last_ms, last_ingestion_ms, stored_bytes; } LogStream;
typedef VEC(LogStream) LogStreams;
NODISCARD Status logs_stream_create(Logs *l, Str group, Str name, Error *err);                          /* E_EXISTS, E_NOT_FOUND */
NODISCARD Status logs_stream_get(Logs *l, Arena *a, Str group, Str name, LogStream *ret, Error *err);   /* E_NOT_FOUND: of the group or of the stream */
/* By name, or by the time of the last event; `after` (and after_ms): the last one seen, exclusive; max 0: all. */
typedef struct LogStreamQuery { Str group, prefix; int by_time, descending; Str after; int64_t after_ms; int max; } LogStreamQuery;
NODISCARD Status logs_stream_list(Logs *l, Arena *a, const LogStreamQuery *q, LogStreams *ret, Error *err);
NODISCARD Status logs_stream_delete(Logs *l, Str group, Str name, Error *err);

typedef struct LogEvent { int64_t id, time_ms, ingested_ms; Str stream, message; } LogEvent;            /* id: ascending in the order of arrival */
typedef VEC(LogEvent) LogEvents;
NODISCARD Status logs_put(Logs *l, Str group, Str stream, const LogEvents *events, Error *err);
/* Makes group and stream when absent: what our own runs use. A message over the limit is cut. */
NODISCARD Status logs_write(Logs *l, Str group, Str stream, Str message, Error *err);
/* The same for many lines in one transaction, with their own times. `retention_days` is of a group made now; 0: kept for ever. */
NODISCARD Status logs_write_all(Logs *l, Str group, int64_t retention_days, Str stream, const LogEvents *events, Error *err);
/* from_ms inclusive, to_ms exclusive (0: no end).  With after_id set: those after (backward: before) the position (after_time_ms, after_id).
 * Always oldest first; backward gives the last `max` ones.  Streams named and not there are ignored. E_NOT_FOUND: the group. */
typedef struct LogQuery { Str group; StrVec streams; Str stream_prefix; int64_t from_ms, to_ms; int64_t after_time_ms, after_id; int backward; int max; } LogQuery;
NODISCARD Status logs_read(Logs *l, Arena *a, const LogQuery *q, LogEvents *ret, Error *err);
/* Applies retention: old events go, and streams that have none left and took none since. */
NODISCARD Status logs_expire(Logs *l, int64_t now_ms, Error *err);

/* Notices: EventBridge's envelope {"id", "time", "source": "aws.glue", "detail-type", "account", "region", "resources", "detail"}. The newest 10,000 are kept. */
NODISCARD Status logs_notice(Logs *l, const Json *event, Error *err);
NODISCARD Status logs_notices(Logs *l, Arena *a, int64_t after, int max, Json **ret, Error *err);       /* oldest first; each with its "sequence" */
/* How far a reader of the notices came: a number by name; 0 when never set. */
NODISCARD Status logs_mark_get(Logs *l, Str name, int64_t *ret, Error *err);
NODISCARD Status logs_mark_set(Logs *l, Str name, int64_t value, Error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* notices.h - what refreshes do, told to the outside: log lines, an event list, a webhook.
 *
 * Every run writes a few lines to the log group /aws-glue/materialized-views, stream = run id, and its start and end to the list of notices in
 * EventBridge's shape.  A webhook, when there is one, gets each notice by POST: in order, at least once, retried with backoff; nothing waits for it. */
#ifndef FIRN_NOTICES_H
#define FIRN_NOTICES_H

#include "service/service.h"

enum { REFRESH_LOG_DAYS = 30 };       /* retention of the log group, when we make it */
#define REFRESH_LOG_GROUP "/aws-glue/materialized-views"

typedef struct Notices Notices;
Notices *notices_new(Service *s, Str webhook);        /* webhook: URL or empty */
RefreshHooks notices_hooks(Notices *n);
NODISCARD Status notices_start(Notices *n, Error *err);
void notices_free(Notices *n);                        /* NULL is fine */
/* Its thread also applies log retention, every hour. */
typedef struct NoticesState { int64_t sent, failed, dropped; } NoticesState;      /* of the webhook */
NoticesState notices_state(Notices *n);
/* Puts {"id", "time", "source", "account", "region", "resources"} around a detail, stores it and wakes the webhook. */
void notices_post(Notices *n, Arena *a, Str detail_type, Str resource, Json *detail, int64_t at_ms);

/* May the view's definer still read its sources and refresh it? The root account passes; a role is taken as Glue would take it (definer.c). */
NODISCARD Status definer_authorize(Service *svc, Arena *a, const CatRelation *view, const CatMview *v, Error *err);
/* The IAM action that refreshing it asks for: Glue's run of a managed view; a regular one is written by who may write it anyway. */
const char *definer_refresh_action(const CatMview *v);
/* May the definer list or read this object of a source that is not Iceberg? */
NODISCARD Status definer_may_read(Service *svc, Arena *a, Str definer, LakeMay what, Str bucket, Str key, Error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* managedoor.c - health and metrics.
 *
 * /healthz: the process lives.  /readyz: catalog and store can be written now (one tiny write each).  /metrics: counters of the rooms.
 * /api needs an access key (manage_auth.c, manage_events.c), but for webhooks: manage_webhook.c. */
#include "door/manage/manage_int.h"
#include "sched/sched.h"
#include "service/guard.h"
#include "service/notices.h"
#include "service/reset.h"

#include <stdlib.h>
#include <sys/resource.h>

struct ManageDoor { Service *svc; int reset; HttpServer *http; int64_t started_us; atomic_int webhooks; };

static void text(HttpRequest *r, HttpAnswer *ret, int status, Str body)
{
    ret->status = status;
    ret->body = body;
    http_answer_header(r, ret, "content-type", S("text/plain; version=0.0.4; charset=utf-8"));
}

static void ready(ManageDoor *d, HttpRequest *r, HttpAnswer *ret)
{
    Error err;

    if (cat_probe(d->svc->catalog, &err) != OK || store_probe(d->svc->store, &err) != OK)
        text(r, ret, 503, str_fmt(r->arena, "not ready: %s\n", err.message));
    else
        text(r, ret, 200, S("ready\n"));
}

/* ---- metrics ---------------------------------------------------------------------------------------------------------- */

static void metric(StrBuf *b, const char *name, const char *type, const char *help, double value)
{
    sb_fmt(b, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", name, help, name, type, name, value);
}

static void view_metrics(ManageDoor *d, Arena *a, StrBuf *b)
{
    CatMviews views = {0};
    Error ignored;
    int64_t managed = 0, quarantined = 0, scheduled = 0;

    if (cat_mview_list(d->svc->catalog, a, &views, &ignored) != OK)
        return;
    for (size_t i = 0; i < views.n; i++) {
        managed += views.p[i].managed != 0;
        quarantined += views.p[i].quarantine.n > 0;
        scheduled += views.p[i].schedule_s > 0;
    }
    metric(b, "firn_materialized_views", "gauge", "Materialized views.", (double)views.n);
    metric(b, "firn_managed_views", "gauge", "System-managed materialized views.", (double)managed);
    metric(b, "firn_quarantined_views", "gauge", "Views whose evidence does not match.", (double)quarantined);
    metric(b, "firn_scheduled_views", "gauge", "Views with a refresh schedule.", (double)scheduled);
}

static void process_metrics(ManageDoor *d, StrBuf *b)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    metric(b, "process_resident_memory_max_bytes", "gauge", "Largest resident set so far.", (double)u.ru_maxrss * 1024);
    metric(b, "process_cpu_seconds_total", "counter", "User and system CPU time.",
           (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
    metric(b, "firn_uptime_seconds", "gauge", "Time since start.", (double)(clock_mono_us() - d->started_us) / 1e6);
}

static void metrics(ManageDoor *d, HttpRequest *r, HttpAnswer *ret)
{
    StrBuf b = sb_new(r->arena);
    SchedulerState s = sched_state(d->svc->scheduler);
    GuardState g = guard_state(d->svc->guard);
    RefreshCounts c = refresh_counts(d->svc->refresher);
    NoticesState n = notices_state(d->svc->notices);

    metric(&b, "firn_refresh_full_total", "counter", "Full refreshes.", (double)c.full);
    metric(&b, "firn_refresh_incremental_total", "counter", "Incremental refreshes.", (double)c.incremental);
    metric(&b, "firn_refresh_none_total", "counter", "Refreshes that had nothing to do.", (double)c.none);
    metric(&b, "firn_refresh_failed_total", "counter", "Refreshes that failed.", (double)c.failed);
    metric(&b, "firn_refresh_seconds", "counter", "Time spent in refreshes.", (double)c.us / 1e6);
    metric(&b, "firn_scheduled_queued", "gauge", "Scheduled refreshes that wait.", (double)s.queued);
    metric(&b, "firn_scheduled_running", "gauge", "Scheduled refreshes that run.", (double)s.running);
    metric(&b, "firn_scheduled_done_total", "counter", "Scheduled refreshes that ended well.", (double)s.done);
    metric(&b, "firn_scheduled_failed_total", "counter", "Scheduled refreshes that failed.", (double)s.failed);
    metric(&b, "firn_scheduled_skipped_total", "counter", "Scheduled refreshes that were due while no source had changed.", (double)s.skipped);
    metric(&b, "firn_scheduled_stopped_total", "counter", "Scheduled refreshes that were stopped.", (double)s.stopped);
    metric(&b, "firn_scheduled_cancelled_total", "counter", "Scheduled refreshes whose schedule went while they were queued.", (double)s.cancelled);
    metric(&b, "firn_scheduled_late_seconds", "gauge", "How late the scheduled refresh that began last was.", (double)s.late_ms / 1000);
    metric(&b, "firn_webhook_sent_total", "counter", "Notices that the webhook took.", (double)n.sent);
    metric(&b, "firn_webhook_failed_total", "counter", "Attempts that failed and are repeated.", (double)n.failed);
    metric(&b, "firn_webhook_dropped_total", "counter", "Notices that the webhook refused, or that were too many.", (double)n.dropped);
    metric(&b, "firn_verified_files_total", "counter", "Files of managed views hashed.", (double)g.files);
    metric(&b, "firn_verified_bytes_total", "counter", "Bytes of managed views hashed.", (double)g.bytes);
    metric(&b, "firn_verify_mismatch_total", "counter", "Mismatches found.", (double)g.mismatches);
    view_metrics(d, r->arena, &b);
    manage_sink_metrics(d->svc, r->arena, &b);
    process_metrics(d, &b);
    text(r, ret, 200, sb_str(&b));
}

static void reset(ManageDoor *d, HttpRequest *r, HttpAnswer *ret)
{
    Error err;

    if (!d->reset)
        text(r, ret, 403, S("reset needs test.reset = on\n"));
    else if (service_reset(d->svc, &err) != OK)
        text(r, ret, status_http(err.code), str_fmt(r->arena, "%s\n", err.message));
    else
        text(r, ret, 200, S("empty\n"));
}

static void handle(void *ctx, HttpRequest *r, HttpAnswer *ret)
{
    ManageDoor *d = ctx;
    bool get = str_eq(r->method, S("GET")) || str_eq(r->method, S("HEAD"));

    if (get && str_eq(r->path, S("/healthz")))
        text(r, ret, 200, S("ok\n"));
    else if (get && str_eq(r->path, S("/readyz")))
        ready(d, r, ret);
    else if (get && str_eq(r->path, S("/metrics")))
        metrics(d, r, ret);
    else if (str_eq(r->method, S("POST")) && str_eq(r->path, S("/reset")))
        reset(d, r, ret);
    else if (get && str_eq(r->path, S("/api/events")))
        manage_events(d->svc, r, ret);
    else if (manage_is_webhook(r))
        manage_webhook(d->svc, &d->webhooks, r, ret);
    else if (get && str_eq(r->path, S("/")))
        text(r, ret, 200, S("firn: /healthz /readyz /metrics (the web console is not in this version yet)\n"));
    else
        text(r, ret, 404, S("not found: /healthz /readyz /metrics\n"));
}

Status manage_open(const ManageOptions *o, ManageDoor **ret, Error *err)
{
    HttpServerOptions ho = { .addr = o->addr, .port = o->port, .max_connections = 512, .name = "manage" };
    ManageDoor *d = calloc(1, sizeof *d);

    *d = (ManageDoor){ .svc = o->service, .reset = o->reset, .started_us = clock_mono_us() };
    Status s = http_serve(&ho, handle, d, &d->http, err);
    if (s != OK) {
        free(d);
        return s;
    }
    *ret = d;
    return OK;
}

int manage_port(const ManageDoor *d) { return http_server_port(d->http); }

void manage_close(ManageDoor *d)
{
    if (!d)
        return;
    http_server_stop(d->http, 1);
    free(d);
}

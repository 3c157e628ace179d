/* SPDX-License-Identifier: Apache-2.0 */
/* notices.c - log lines and events of refresh runs, and the webhook that carries the events out.
 *
 * The hook runs in the refresh's own thread and only writes to logs.db.  The webhook's thread reads the stored notices after the last one
 * that was delivered, so its queue is the list itself, bounded by what the list keeps; a mark in logs.db says how far it came.
 * Invariants: (1) notices are delivered in order, the next one only after the last was taken or given up; (2) a failure to log or notify never
 * fails a refresh; (3) what an endpoint refuses for good (a 4xx but 408, 425 and 429) is dropped and counted. */
#include "service/notices.h"
#include "catalog/logs.h"
#include "net/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SEND_BATCH = 20, SEND_TIMEOUT_MS = 4000 /* the server's end waits for one */, RETRY_FIRST_MS = 1000, RETRY_MAX_MS = 300000, EXPIRE_EVERY_MS = 3600000, ANSWER_MAX = 65536 };
static const char *const MARK = "webhook";

struct Notices {
    Service *svc;
    Arena *arena;
    Str webhook;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    int started, stop, news;
    NoticesState state;
};

/* ---- lines of a run ------------------------------------------------------------------------------------------------------- */

typedef struct Lines { Arena *a; LogEvents events; } Lines;

static void line(Lines *l, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void line(Lines *l, const char *fmt, ...)
{
    char buf[LIMIT_ERROR_TEXT + 1024];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    LogEvent e = { .time_ms = clock_ms(), .message = str_dup(l->a, str_n(buf, min_size((size_t)max_i64(0, n), sizeof buf - 1))) };
    vec_push(l->a, &l->events, e);
}

static Str view_name(Arena *a, const CatRelation *view) { return str_fmt(a, STR_FMT "." STR_FMT, STR_ARG(view->namespace), STR_ARG(view->name)); }

static void lines_start(Lines *l, const CatRelation *view, const CatRun *run)
{
    line(l, "INFO refresh of " STR_FMT " (catalog " STR_FMT ") started: run " STR_FMT ", trigger " STR_FMT ", role " STR_FMT, STR_ARG(view_name(l->a, view)),
         STR_ARG(view->catalog), STR_ARG(run->id), STR_ARG(run->trigger), STR_ARG(run->role));
}

static void lines_success(Notices *n, Lines *l, const CatMview *v, const CatRun *run)
{
    CatEvidence head;
    Error ignored;

    for (size_t i = 0; i < json_len(v->sources); i++) {
        const Json *s = json_at(v->sources, i);
        line(l, "INFO source " STR_FMT "." STR_FMT " (catalog " STR_FMT ") pinned at snapshot %lld", STR_ARG(json_get_str(s, "namespace", (Str){0})), STR_ARG(json_get_str(s, "name", (Str){0})),
             STR_ARG(json_get_str(s, "catalog", (Str){0})), (long long)json_get_int(s, "snapshot-id", -1));
    }
    line(l, "INFO decision " STR_FMT ": " STR_FMT, STR_ARG(run->type), STR_ARG(run->reason));
    line(l, "INFO %lld source rows read, %lld rows changed, %lld bytes processed", (long long)run->rows_in, (long long)run->rows_changed, (long long)run->bytes);
    if (cat_evidence_head(n->svc->catalog, l->a, v->relation_id, &head, &ignored) == OK)
        line(l, "INFO the view is at snapshot %lld: %zu files, evidence %lld, hash " STR_FMT, (long long)run->snapshot_id, json_len(json_get(head.body, "files")), (long long)head.seq, STR_ARG(head.hash));
    line(l, "INFO succeeded in %lld ms", (long long)(run->finished_ms - run->started_ms));
}

static void write_lines(Notices *n, Lines *l, const CatRun *run)
{
    Error err;
    if (l->events.n && logs_write_all(n->svc->logs, S(REFRESH_LOG_GROUP), REFRESH_LOG_DAYS, run->id, &l->events, &err) != OK)
        log_error(&err, "the log of a refresh run could not be written", "run", str_z(l->a, run->id), NULL);
}

/* ---- events -------------------------------------------------------------------------------------------------------------------- */

static void wake(Notices *n)
{
    pthread_mutex_lock(&n->lock);
    n->news = 1;
    pthread_cond_broadcast(&n->wake);
    pthread_mutex_unlock(&n->lock);
}

void notices_post(Notices *n, Arena *a, Str detail_type, Str resource, Json *detail, int64_t at_ms)
{
    Json *e = json_object(a), *resources = json_array(a);
    Error err;

    if (resource.n)
        json_push(a, resources, json_str(a, resource));
    json_set(a, e, "version", json_str(a, S("0")));
    json_set(a, e, "id", json_str(a, uuid_v4(a)));
    json_set(a, e, "detail-type", json_str(a, detail_type));
    json_set(a, e, "source", json_str(a, S("aws.glue")));
    json_set(a, e, "account", json_str(a, cat_account(n->svc->catalog)));
    json_set(a, e, "time", json_str(a, time_iso8601(a, at_ms)));
    json_set(a, e, "region", json_str(a, cat_region(n->svc->catalog)));
    json_set(a, e, "resources", resources);
    json_set(a, e, "detail", detail);
    if (logs_notice(n->svc->logs, e, &err) != OK)
        log_error(&err, "a notice could not be stored", NULL);
    wake(n);
}

static void set_text(Arena *a, Json *o, const char *key, Str v)
{
    if (v.n)
        json_set(a, o, key, json_str(a, v));
}

static void set_time(Arena *a, Json *o, const char *key, int64_t ms)
{
    if (ms)
        json_set(a, o, key, json_str(a, time_iso8601(a, ms)));
}

static Json *detail_of(Arena *a, const CatRelation *view, const CatRun *run)
{
    Json *d = json_object(a);

    set_text(a, d, "catalogId", view->catalog);
    set_text(a, d, "databaseName", view->namespace);
    set_text(a, d, "tableName", view->name);
    set_text(a, d, "materializedViewRefreshTaskRunId", run->id);
    set_text(a, d, "status", run->status);
    set_text(a, d, "trigger", run->trigger);
    set_text(a, d, "role", run->role);
    set_text(a, d, "refreshType", run->type);
    set_text(a, d, "reason", run->reason);
    set_time(a, d, "startTime", run->started_ms);
    set_time(a, d, "endTime", run->finished_ms);
    if (run->bytes)
        json_set(a, d, "processedBytes", json_int(a, run->bytes));
    set_text(a, d, "errorMessage", run->error);
    return d;
}

static void post_run(Notices *n, Arena *a, const char *type, const CatRelation *view, const CatRun *run)
{
    Str arn = str_fmt(a, "arn:aws:glue:" STR_FMT ":" STR_FMT ":table/" STR_FMT "/" STR_FMT, STR_ARG(cat_region(n->svc->catalog)), STR_ARG(view->catalog),
                      STR_ARG(view->namespace), STR_ARG(view->name));
    notices_post(n, a, str_c(type), arn, detail_of(a, view, run), run->finished_ms ? run->finished_ms : run->started_ms);
}

static void told(void *ctx, const CatRelation *view, const CatMview *v, const CatRun *run)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Notices *n = ctx;
    Lines l = { .a = a };

    if (str_eq(run->status, S("RUNNING"))) {
        lines_start(&l, view, run);
        post_run(n, a, "Glue Materialized View Refresh Task Started", view, run);
    } else if (str_eq(run->status, S("SUCCEEDED"))) {
        lines_success(n, &l, v, run);
        post_run(n, a, "Glue Materialized View Refresh Task Succeeded", view, run);
    } else if (str_eq(run->status, S("FAILED")) && !run->started_ms && str_eq(run->trigger, S("SCHEDULED"))) {
        line(&l, "ERROR the scheduled refresh of " STR_FMT " could not be started: " STR_FMT, STR_ARG(view_name(a, view)), STR_ARG(run->error));
        post_run(n, a, "Glue Materialized View Auto-Refresh Invocation Failure", view, run);
    } else if (str_eq(run->status, S("FAILED")) || str_eq(run->status, S("STOPPED"))) {
        line(&l, "%s " STR_FMT " of " STR_FMT ": " STR_FMT, str_eq(run->status, S("FAILED")) ? "ERROR" : "WARN", STR_ARG(run->status), STR_ARG(view_name(a, view)), STR_ARG(run->error));
        post_run(n, a, "Glue Materialized View Refresh Task Failed", view, run);
    }
    write_lines(n, &l, run);
}

static Status authorize(void *ctx, Arena *a, const CatRelation *view, const CatMview *v, Error *err)
{
    Notices *n = ctx;
    return definer_authorize(n->svc, a, view, v, err);
}

static Status may_read(void *ctx, Arena *a, Str definer, LakeMay what, Str bucket, Str key, Error *err)
{
    Notices *n = ctx;
    return definer_may_read(n->svc, a, definer, what, bucket, key, err);
}

RefreshHooks notices_hooks(Notices *n) { return (RefreshHooks){ .ctx = n, .authorize = authorize, .may_read = may_read, .told = told }; }

/* ---- the webhook ------------------------------------------------------------------------------------------------------------------ */

static bool stopping(Notices *n)
{
    pthread_mutex_lock(&n->lock);
    bool stop = n->stop;
    pthread_mutex_unlock(&n->lock);
    return stop;
}

/* Sleeps; woken by the end of the server, and, where news count, by a new notice. */
static void pause_for(Notices *n, int64_t ms, int until_news)
{
    int64_t until = clock_mono_us() + ms * 1000;
    struct timespec ts = { .tv_sec = until / 1000000, .tv_nsec = until % 1000000 * 1000 };

    pthread_mutex_lock(&n->lock);
    while (!n->stop && !(until_news && n->news) && clock_mono_us() < until)
        pthread_cond_timedwait(&n->wake, &n->lock, &ts);
    n->news = until_news ? 0 : n->news;
    pthread_mutex_unlock(&n->lock);
}

static void count(Notices *n, int64_t *counter, int64_t by)
{
    pthread_mutex_lock(&n->lock);
    *counter += by;
    pthread_mutex_unlock(&n->lock);
}

typedef enum { TAKEN, REFUSED, LATER } Delivery;

static Delivery deliver(Notices *n, Arena *a, const Json *notice)
{
    HttpCall call = { .method = "POST", .url = n->webhook, .body = json_text(a, notice), .timeout_ms = SEND_TIMEOUT_MS, .max_bytes = ANSWER_MAX };
    HttpReply reply;
    Error err;

    props_set(a, &call.headers, S("content-type"), S("application/json"));
    if (http_call(a, &call, &reply, &err) != OK)
        return LATER;
    if (reply.status >= 200 && reply.status < 300)
        return TAKEN;
    return reply.status >= 400 && reply.status < 500 && reply.status != 408 && reply.status != 425 && reply.status != 429 ? REFUSED : LATER;
}

/* Until it is taken or refused for good; false: the server stops. */
static bool deliver_surely(Notices *n, Arena *a, const Json *notice)
{
    int64_t wait = RETRY_FIRST_MS;

    while (!stopping(n)) {
        Delivery d = deliver(n, a, notice);
        if (d != LATER) {
            count(n, d == TAKEN ? &n->state.sent : &n->state.dropped, 1);
            return true;
        }
        count(n, &n->state.failed, 1);
        log_event(LOG_WARN, "the events webhook does not answer", "notice", str_z(a, json_get_str(notice, "id", S("?"))), NULL);
        pause_for(n, wait, 0);
        wait = min_i64(RETRY_MAX_MS, wait * 2);
    }
    return false;
}

/* false: nothing was left to send. */
static bool send_some(Notices *n, int64_t *mark)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *list = NULL;
    Error err;

    if (logs_notices(n->svc->logs, a, *mark, SEND_BATCH, &list, &err) != OK)
        return false;
    for (size_t i = 0; i < json_len(list); i++) {
        Json *notice = json_at(list, i);
        int64_t sequence = json_get_int(notice, "sequence", *mark);
        if (*mark && sequence > *mark + 1)
            count(n, &n->state.dropped, sequence - *mark - 1);      /* the list kept no more */
        if (!deliver_surely(n, a, notice))
            return false;                             /* (1) */
        *mark = sequence;
        if (logs_mark_set(n->svc->logs, str_c(MARK), sequence, &err) != OK)
            log_error(&err, "the webhook's place could not be stored", NULL);
    }
    return json_len(list) == SEND_BATCH;
}

static void expire(Notices *n)
{
    Error err;
    if (logs_expire(n->svc->logs, clock_ms(), &err) != OK)
        log_error(&err, "log retention could not be applied", NULL);
}

static void *run(void *arg)
{
    Notices *n = arg;
    int64_t mark = 0, expire_at = 0;
    Error ignored;

    if (n->webhook.n && logs_mark_get(n->svc->logs, str_c(MARK), &mark, &ignored) != OK)
        mark = 0;
    while (!stopping(n)) {
        if (clock_ms() >= expire_at) {
            expire(n);
            expire_at = clock_ms() + EXPIRE_EVERY_MS;
        }
        bool more = n->webhook.n && send_some(n, &mark);
        if (!more)
            pause_for(n, expire_at - clock_ms(), n->webhook.n > 0);
    }
    return NULL;
}

/* ---- life ----------------------------------------------------------------------------------------------------------------------------- */

Notices *notices_new(Service *s, Str webhook)
{
    Notices *n = calloc(1, sizeof *n);
    pthread_condattr_t attr;

    *n = (Notices){ .svc = s, .arena = arena_create() };
    n->webhook = str_dup(n->arena, webhook);
    pthread_mutex_init(&n->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&n->wake, &attr);
    pthread_condattr_destroy(&attr);
    return n;
}

Status notices_start(Notices *n, Error *err)
{
    if (pthread_create(&n->thread, NULL, run, n) != 0)
        return FAIL(err, E_IO, "the notices' thread cannot be started");
    n->started = 1;
    return OK;
}

NoticesState notices_state(Notices *n)
{
    if (!n)
        return (NoticesState){0};
    pthread_mutex_lock(&n->lock);
    NoticesState s = n->state;
    pthread_mutex_unlock(&n->lock);
    return s;
}

void notices_free(Notices *n)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    n->stop = 1;
    pthread_cond_broadcast(&n->wake);
    pthread_mutex_unlock(&n->lock);
    if (n->started)
        pthread_join(n->thread, NULL);
    arena_destroy(n->arena);
    pthread_mutex_destroy(&n->lock);
    pthread_cond_destroy(&n->wake);
    free(n);
}

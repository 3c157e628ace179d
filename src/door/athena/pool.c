/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - queries that wait and run: a bounded queue, a few threads, what is known of each while it lives.
 *
 * Invariants: (1) an execution is in the list of the living from before its id is told until its end is recorded, so whoever does not find it there finds
 * its end in the catalog; (2) a record that says QUEUED of an execution that does not live was left by a server that died: it failed; (3) fields
 * marked so in Exec change under the lock alone; (4) an execution whose record is gone (everything was emptied) leaves nothing. */
#include "door/athena/athena_int.h"

#include <stdlib.h>
#include <time.h>

static Exec *find(AthDoor *d, Str id)
{
    for (Exec *x = d->live; x; x = x->live)
        if (str_eq(x->id, id))
            return x;
    return NULL;
}

static void unlink_live(AthDoor *d, Exec *x)
{
    for (Exec **at = &d->live; *at; at = &(*at)->live)
        if (*at == x) {
            *at = x->live;
            return;
        }
}

static bool unlink_queued(AthDoor *d, Exec *x)
{
    for (Exec **at = &d->queue; *at; at = &(*at)->next)
        if (*at == x) {
            *at = x->next;
            if (d->queue_end == &x->next)
                d->queue_end = at;
            d->queued--;
            return true;
        }
    return false;
}

/* ---- the end --------------------------------------------------------------------------------------------------------------------- */

static Json *error_shape(Arena *a, const AthEnd *end)
{
    Json *v = json_object(a);

    json_set(a, v, "ErrorCategory", json_int(a, end->category));
    json_set(a, v, "ErrorType", json_int(a, end->type));
    json_set(a, v, "Retryable", json_bool(a, end->retryable != 0));
    json_set(a, v, "ErrorMessage", json_str(a, end->reason));
    return v;
}

static Json *statistics(Arena *a, const AthEnd *end)
{
    Json *v = json_object(a);

    json_set(a, v, "EngineExecutionTimeInMillis", json_int(a, end->engine_ms));
    json_set(a, v, "DataScannedInBytes", json_int(a, end->scanned));
    if (end->manifest.n)
        json_set(a, v, "DataManifestLocation", json_str(a, end->manifest));
    json_set(a, v, "TotalExecutionTimeInMillis", json_int(a, end->total_ms));
    json_set(a, v, "QueryQueueTimeInMillis", json_int(a, end->queue_ms));
    json_set(a, v, "ServicePreProcessingTimeInMillis", json_int(a, 0));
    json_set(a, v, "QueryPlanningTimeInMillis", json_int(a, end->plan_ms));
    json_set(a, v, "ServiceProcessingTimeInMillis", json_int(a, end->service_ms));
    return v;
}

static Json *rows_shape(Arena *a, const AthEnd *end)
{
    Json *v = json_object(a);

    json_set(a, v, "InputRows", json_int(a, end->rows_in));
    json_set(a, v, "InputBytes", json_int(a, end->scanned));
    json_set(a, v, "OutputRows", json_int(a, end->rows_out));
    json_set(a, v, "OutputBytes", json_int(a, end->bytes_out));
    return v;
}

Json *record_ended(Arena *a, const Json *record, const AthEnd *end)
{
    Json *v = json_copy(a, record);

    json_set(a, v, "State", json_str(a, str_c(end->state)));
    json_set(a, v, "CompletedMs", json_int(a, clock_ms()));
    if (end->reason.n)
        json_set(a, v, "Reason", json_str(a, end->reason));
    if (end->category)
        json_set(a, v, "AthenaError", error_shape(a, end));
    json_set(a, v, "Statistics", statistics(a, end));
    json_set(a, v, "Rows", rows_shape(a, end));
    if (end->columns)
        json_set(a, v, "Columns", end->columns);
    if (end->has_update_count)
        json_set(a, v, "UpdateCount", json_int(a, end->update_count));
    return v;
}

/* What a later query with ResultReuseConfiguration may use. */
static CatChange reusable(Arena *a, const Exec *x, Str key)
{
    Json *v = json_object(a);

    json_set(a, v, "id", json_str(a, x->id));
    json_set(a, v, "ms", json_int(a, clock_ms()));
    return (CatChange){ .kind = CH_DOC, .doc_kind = S(K_REUSE), .doc_key = key, .doc = v };
}

static void record_end(const Exec *x, Arena *a, const AthEnd *end)
{
    CatChange changes[2] = { { .kind = CH_DOC, .doc_kind = S(K_QUERY), .doc_key = x->id, .doc = record_ended(a, x->record, end) } };
    Str reuse = json_get_str(x->record, "ReuseKey", (Str){0});
    size_t n = 1;
    Json *was;
    Error err;

    if (rec_get(x->door->svc, a, K_QUERY, x->id, &was, &err) == OK && !was)
        return;                                          /* (4) */
    if (strcmp(end->state, "SUCCEEDED") == 0 && reuse.n)
        changes[n++] = reusable(a, x, reuse);
    if (cat_commit(x->door->svc->catalog, changes, n, &err) != OK)
        log_error(&err, "the end of a query is not recorded", "id", x->id.p, NULL);
}

static void finish(Exec *x, Arena *a, AthEnd *end)
{
    AthDoor *d = x->door;
    int64_t total = (clock_mono_us() - x->started_us) / 1000;

    end->total_ms = total;
    end->service_ms = max_i64(0, total - end->queue_ms - end->plan_ms - end->engine_ms);
    record_end(x, a, end);
    pthread_mutex_lock(&d->lock);
    unlink_live(d, x);                                   /* (1) */
    pthread_cond_broadcast(&d->done);
    pthread_mutex_unlock(&d->lock);
    arena_destroy(x->a);
    free(x);
}

/* ---- threads --------------------------------------------------------------------------------------------------------------------- */

static void run(Exec *x)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    int64_t waited = (clock_mono_us() - x->started_us) / 1000;
    AthEnd end;

    exec_run(x, a, &end);
    end.queue_ms = waited;
    finish(x, a, &end);
}

static void *worker(void *ctx)
{
    AthDoor *d = ctx;

    pthread_mutex_lock(&d->lock);
    while (!d->stop) {
        Exec *x = d->queue;
        if (!x) {
            pthread_cond_wait(&d->work, &d->lock);
            continue;
        }
        unlink_queued(d, x);
        x->running = 1;
        pthread_mutex_unlock(&d->lock);
        run(x);
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* Under the lock. Threads begin with the first query. */
static Status need_threads(AthDoor *d, Error *err)
{
    while (d->nthreads < ATH_WORKERS) {
        if (pthread_create(&d->threads[d->nthreads], NULL, worker, d) == 0)
            d->nthreads++;
        else if (d->nthreads)
            return OK;                                   /* fewer do */
        else
            return FAIL(err, E_UNAVAILABLE, "no thread to run queries");
    }
    return OK;
}

static void cancelled(Exec *x)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    AthEnd end = { .state = "CANCELLED", .reason = S("Query cancelled by user") };

    end.queue_ms = (clock_mono_us() - x->started_us) / 1000;
    finish(x, a, &end);
}

/* Under the lock. Waits a moment for an execution to end; false: none did. */
static bool wait_done(AthDoor *d, int64_t ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return pthread_cond_timedwait(&d->done, &d->lock, &until) == 0;
}

/* A statement that is about to begin does not hear the first call: all are told until none runs. */
static void stop_running(AthDoor *d)
{
    for (int running = 1; running; ) {
        running = 0;
        for (Exec *x = d->live; x; x = x->live) {
            x->cancel = 1;
            running |= x->running;
            if (x->session)
                session_cancel(x->session);
        }
        if (running)
            (void)wait_done(d, 50);
    }
}

void pool_close(AthDoor *d)
{
    pthread_mutex_lock(&d->lock);
    d->stop = 1;
    pthread_cond_broadcast(&d->work);
    stop_running(d);
    pthread_mutex_unlock(&d->lock);
    for (int i = 0; i < d->nthreads; i++)
        pthread_join(d->threads[i], NULL);
    while (d->queue) {
        Exec *x = d->queue;
        unlink_queued(d, x);
        cancelled(x);
    }
}

/* ---- in and out ------------------------------------------------------------------------------------------------------------------- */

static Status take_place(AthDoor *d, Exec *x, Error *err)
{
    Status s = OK;

    pthread_mutex_lock(&d->lock);
    if (d->stop)
        s = FAIL(err, E_UNAVAILABLE, "the server is stopping");
    else if (d->queued >= ATH_QUEUE_MAX)
        s = AWS_FAIL(err, E_UNAVAILABLE, "TooManyRequestsException", "You have exceeded the limit for the number of queries you can run concurrently. Please reduce the number of concurrent queries");
    else
        s = need_threads(d, err);
    if (s == OK) {
        x->live = d->live;
        d->live = x;                                     /* (1) */
        d->starts++;
    }
    pthread_mutex_unlock(&d->lock);
    return s;
}

static void drop(AthDoor *d, Exec *x)
{
    pthread_mutex_lock(&d->lock);
    unlink_live(d, x);
    pthread_mutex_unlock(&d->lock);
    arena_destroy(x->a);
    free(x);
}

Status pool_submit(AthDoor *d, Exec *x, CatChange *also, size_t nalso, Error *err)
{
    Status s = take_place(d, x, err);

    if (s != OK) {
        arena_destroy(x->a);
        free(x);
        return s;
    }
    s = cat_commit(d->svc->catalog, also, nalso, err);
    if (s != OK) {
        drop(d, x);
        return s;
    }
    pthread_mutex_lock(&d->lock);
    x->next = NULL;
    *d->queue_end = x;
    d->queue_end = &x->next;
    d->queued++;
    bool prune = d->starts % ATH_PRUNE_EVERY == 0;
    pthread_cond_signal(&d->work);
    pthread_mutex_unlock(&d->lock);
    if (prune)
        pool_prune(d);
    return OK;
}

void pool_wait(AthDoor *d, Str id, int64_t ms)
{
    int64_t end = clock_mono_us() + ms * 1000;

    pthread_mutex_lock(&d->lock);
    for (int64_t left = ms; left > 0 && find(d, id); left = (end - clock_mono_us()) / 1000)
        (void)wait_done(d, left);
    pthread_mutex_unlock(&d->lock);
}

bool pool_cancel(AthDoor *d, Str id)
{
    pthread_mutex_lock(&d->lock);
    Exec *x = find(d, id);
    bool there = x != NULL, queued = x && !x->running && unlink_queued(d, x);
    if (x)
        x->cancel = 1;
    if (x && x->session)
        session_cancel(x->session);
    pthread_mutex_unlock(&d->lock);
    if (queued)
        cancelled(x);
    return there;
}

bool pool_is_cancelled(Exec *x)
{
    pthread_mutex_lock(&x->door->lock);
    bool yes = x->cancel != 0;
    pthread_mutex_unlock(&x->door->lock);
    return yes;
}

bool pool_session(Exec *x, Session *ss)
{
    pthread_mutex_lock(&x->door->lock);
    x->session = ss;
    bool go_on = !x->cancel;
    pthread_mutex_unlock(&x->door->lock);
    return go_on;
}

Json *pool_look(AthDoor *d, Arena *a, Str id)
{
    Json *v = NULL;

    pthread_mutex_lock(&d->lock);
    const Exec *x = find(d, id);
    if (x) {
        v = json_copy(a, x->record);
        json_set(a, v, "State", json_str(a, x->running ? S("RUNNING") : S("QUEUED")));
        json_set(a, v, "ElapsedMs", json_int(a, (clock_mono_us() - x->started_us) / 1000));
    }
    pthread_mutex_unlock(&d->lock);
    return v;
}

/* ---- forgetting --------------------------------------------------------------------------------------------------------------------- */

static void forget(AthDoor *d, Arena *a, Str index_key, Str id)
{
    CatChange ch[] = { { .kind = CH_DOC, .doc_kind = S(K_QUERY), .doc_key = id }, { .kind = CH_DOC, .doc_kind = S(K_INDEX), .doc_key = index_key },
                       { .kind = CH_DOC, .doc_kind = S(K_TOKEN) }, { .kind = CH_DOC, .doc_kind = S(K_REUSE) } };
    Json *record = NULL, *reuse = NULL;
    Error err;

    if (rec_get(d->svc, a, K_QUERY, id, &record, &err) != OK)
        return;
    ch[2].doc_key = json_get_str(record, "TokenKey", S("-"));
    ch[3].doc_key = json_get_str(record, "ReuseKey", S("-"));
    if (rec_get(d->svc, a, K_REUSE, ch[3].doc_key, &reuse, &err) != OK || !str_eq(json_get_str(reuse, "id", (Str){0}), id))
        ch[3].doc_key = S("-");                          /* a newer query's */
    if (cat_commit(d->svc->catalog, ch, COUNT_OF(ch), &err) != OK)
        log_error(&err, "an old query execution is not forgotten", NULL);
}

void pool_prune(AthDoor *d)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    int64_t oldest = clock_ms() - (int64_t)ATH_HISTORY_DAYS * 86400 * 1000;
    CatDocs docs;
    Error err;

    if (cat_doc_list(d->svc->catalog, a, S(K_INDEX), (Str){0}, &docs, &err) != OK)
        return;
    size_t excess = docs.n > ATH_HISTORY_MAX ? docs.n - ATH_HISTORY_MAX : 0;
    for (size_t i = docs.n; i-- > 0; ) {                 /* within a workgroup the oldest are last */
        bool old = json_get_int(docs.p[i].value, "ms", 0) < oldest;
        if (old || excess)
            forget(d, a, docs.p[i].key, json_get_str(docs.p[i].value, "id", (Str){0}));
        excess -= excess && !old;
    }
}

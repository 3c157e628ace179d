/* SPDX-License-Identifier: Apache-2.0 */
/* sched.c - a ticker and a few workers.
 *
 * The ticker reads due views from the catalog and queues each once.  A worker takes one whose sources are not themselves queued or
 * running (so a view over views sees their new rows), refreshes it and writes the next due time.
 *
 * Invariants: (1) a view is in the queue or running at most once; (2) the next due time is written after every run, also a failed
 * one: now + schedule, or now + a doubling backoff up to the schedule; (3) a schedule that was dropped while its run was queued
 * cancels it. */
#include "sched/sched.h"

#include <stdlib.h>
#include <time.h>

enum { WORKERS_MAX = 16, BACKOFF_FIRST_MS = 5000 };

typedef struct Item { int64_t relation_id; int running; struct Item *next; } Item;
typedef struct Backoff { int64_t relation_id; int failures; struct Backoff *next; } Backoff;

struct Scheduler {
    Refresher *refresher;
    Catalog *catalog;
    SchedulerOptions options;
    pthread_mutex_t lock;
    pthread_cond_t wake;              /* ticker and workers */
    pthread_t ticker, workers[WORKERS_MAX];
    int nworkers, stop;
    Item *items;                      /* queued and running, oldest first */
    Backoff *backoffs;
    SchedulerState state;
};

static Item *find(Scheduler *s, int64_t id)
{
    Item *i = s->items;
    while (i && i->relation_id != id)
        i = i->next;
    return i;
}

static void enqueue(Scheduler *s, int64_t id)
{
    Item **at = &s->items;

    if (find(s, id))
        return;                                       /* (1) */
    while (*at)
        at = &(*at)->next;
    *at = calloc(1, sizeof **at);
    (*at)->relation_id = id;
    s->state.queued++;
}

static void sleep_until(Scheduler *s, int64_t ms)
{
    int64_t until = clock_mono_us() + ms * 1000;
    struct timespec ts = { .tv_sec = until / 1000000, .tv_nsec = until % 1000000 * 1000 };
    pthread_cond_timedwait(&s->wake, &s->lock, &ts);
}

static void *tick(void *arg)
{
    Scheduler *s = arg;

    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        pthread_mutex_unlock(&s->lock);
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        CatMviews due = {0};
        Error err;
        Status st = cat_mview_due(s->catalog, a, clock_ms(), &due, &err);
        if (st != OK)
            log_error(&err, "due views could not be read", NULL);
        pthread_mutex_lock(&s->lock);
        for (size_t i = 0; st == OK && i < due.n; i++)
            enqueue(s, due.p[i].relation_id);
        if (due.n)
            pthread_cond_broadcast(&s->wake);
        if (!s->stop)
            sleep_until(s, s->options.tick_ms);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- a run ------------------------------------------------------------------------------------------------------------------ */

static int failures(Scheduler *s, int64_t id, int delta)
{
    Backoff *b = s->backoffs;
    while (b && b->relation_id != id)
        b = b->next;
    if (!b) {
        b = calloc(1, sizeof *b);
        *b = (Backoff){ .relation_id = id, .next = s->backoffs };
        s->backoffs = b;
    }
    b->failures = delta ? b->failures + delta : 0;
    return b->failures;
}

static void write_next_due(Scheduler *s, Arena *a, int64_t id, int nfailed)
{
    CatMview v;
    Error err;
    int64_t wait;

    if (cat_mview_get(s->catalog, a, id, &v, &err) != OK || !v.schedule_s)
        return;                                       /* dropped meanwhile */
    wait = v.schedule_s * 1000;
    if (nfailed)
        wait = min_i64(wait, (int64_t)BACKOFF_FIRST_MS << (nfailed < 12 ? nfailed - 1 : 12));
    v.next_due_ms = clock_ms() + wait;
    CatChange ch = { .kind = CH_MVIEW, .mview = &v };
    if (cat_commit(s->catalog, &ch, 1, &err) != OK)
        log_error(&err, "the next refresh time could not be stored", NULL);
}

/* 1: it ran and succeeded or had nothing to do; 0: it failed. */
static int run_view(Scheduler *s, Arena *a, int64_t id)
{
    RefreshRequest q = { .no_wait = 1, .trigger = S("SCHEDULED") };
    RefreshReport rep;
    Staleness st;
    CatMview v;
    Error err;

    if (cat_mview_get(s->catalog, a, id, &v, &err) != OK || !v.schedule_s)
        return 1;                                     /* (3) */
    q.role = v.definer;
    if (refresh_staleness(s->refresher, a, &v, &st, &err) == OK && !st.stale)
        return 1;
    if (refresh_run(s->refresher, a, id, &q, &rep, &err) == OK)
        return 1;
    if (err.code == E_CONFLICT)
        return 1;                                     /* someone refreshes it right now */
    log_error(&err, "a scheduled refresh failed", "run", "scheduled", NULL);
    return 0;
}

static bool source_pending(Scheduler *s, Arena *a, int64_t id)
{
    CatMview v;
    CatRelation rel;
    Error ignored;

    if (cat_mview_get(s->catalog, a, id, &v, &ignored) != OK)
        return false;
    for (size_t i = 0; i < json_len(v.sources); i++)
        if (cat_relation_by_uuid(s->catalog, a, json_get_str(json_at(v.sources, i), "uuid", (Str){0}), &rel, &ignored) == OK && find(s, rel.id))
            return true;
    return false;
}

static Item *take(Scheduler *s)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    for (Item *i = s->items; i; i = i->next)
        if (!i->running && !source_pending(s, a, i->relation_id)) {
            i->running = 1;
            s->state.queued--;
            s->state.running++;
            return i;
        }
    return NULL;
}

static void finish(Scheduler *s, Item *item, int ok)
{
    Item **at = &s->items;
    while (*at != item)
        at = &(*at)->next;
    *at = item->next;
    free(item);
    s->state.running--;
    s->state.done += ok;
    s->state.failed += !ok;
    pthread_cond_broadcast(&s->wake);
}

static void *work(void *arg)
{
    Scheduler *s = arg;

    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        Item *item = take(s);
        if (!item) {
            pthread_cond_wait(&s->wake, &s->lock);
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        int ok = run_view(s, a, item->relation_id);
        pthread_mutex_lock(&s->lock);
        int n = failures(s, item->relation_id, ok ? 0 : 1);
        pthread_mutex_unlock(&s->lock);
        write_next_due(s, a, item->relation_id, n);   /* (2) */
        pthread_mutex_lock(&s->lock);
        finish(s, item, ok);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- life --------------------------------------------------------------------------------------------------------------------- */

Status sched_start(Refresher *r, Catalog *c, const SchedulerOptions *o, Scheduler **ret, Error *err)
{
    Scheduler *s = calloc(1, sizeof *s);
    pthread_condattr_t attr;

    *s = (Scheduler){ .refresher = r, .catalog = c, .options = o ? *o : (SchedulerOptions){0} };
    if (s->options.workers <= 0 || s->options.workers > WORKERS_MAX)
        s->options.workers = 2;
    if (s->options.tick_ms <= 0)
        s->options.tick_ms = 1000;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&s->ticker, NULL, tick, s) != 0) {
        free(s);
        return FAIL(err, E_IO, "the scheduler's thread cannot be started");
    }
    while (s->nworkers < s->options.workers && pthread_create(&s->workers[s->nworkers], NULL, work, s) == 0)
        s->nworkers++;
    *ret = s;
    return OK;
}

void sched_wake(Scheduler *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    pthread_cond_broadcast(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

SchedulerState sched_state(Scheduler *s)
{
    if (!s)
        return (SchedulerState){0};
    pthread_mutex_lock(&s->lock);
    SchedulerState st = s->state;
    pthread_mutex_unlock(&s->lock);
    return st;
}

void sched_stop(Scheduler *s)
{
    Error ignored;

    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = 1;
    for (Item *i = s->items; i; i = i->next)
        if (i->running && refresh_stop(s->refresher, i->relation_id, &ignored) != OK)
            continue;
    pthread_cond_broadcast(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->ticker, NULL);
    for (int i = 0; i < s->nworkers; i++)
        pthread_join(s->workers[i], NULL);
    for (Item *i = s->items, *next; i; i = next) {
        next = i->next;
        free(i);
    }
    for (Backoff *b = s->backoffs, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->wake);
    free(s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sched.c - a ticker and a few workers.
 *
 * The ticker reads due views from the catalog and queues each once.  A worker takes one whose sources are not themselves queued or
 * running (so a view over views sees their new rows), refreshes it and writes the next due time.
 *
 * Invariants: (1) a view is in the queue or running at most once; (2) the next due time is written after every run, also a failed
 * one, and not when the server stops a run: what was due then is due at the next start; (3) a schedule that was dropped or moved while its
 * run was queued cancels it; (4) due times keep their rhythm: a multiple of the schedule after the last one, however long the run took. */
#include "sched/sched.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MAX = 8, BACKOFF_FIRST_MS = 5000, BACKOFF_DOUBLINGS = 12, STOP_AGAIN_MS = 50 };

typedef struct Item { int64_t relation_id, due_ms; int running; int64_t *sources; size_t nsources; struct Item *next; } Item;
typedef struct Backoff { int64_t relation_id; int failures; struct Backoff *next; } Backoff;
typedef enum { RAN, SKIPPED, CANCELLED, STOPPED, FAILED } Outcome;

struct Scheduler {
    Refresher *refresher;
    Catalog *catalog;
    SchedulerOptions options;
    pthread_mutex_t lock;
    pthread_cond_t wake;              /* ticker and workers */
    pthread_t ticker, workers[WORKERS_MAX];
    int nworkers, stop;
    Item *items;                      /* queued and running, oldest first */
    Backoff *backoffs;                /* of views that failed last time */
    SchedulerState state;
};

/* ---- the queue, under the lock ----------------------------------------------------------------------------------------- */

static Item *find(Scheduler *s, int64_t id)
{
    Item *i = s->items;
    while (i && i->relation_id != id)
        i = i->next;
    return i;
}

static void item_free(Item *i)
{
    free(i->sources);
    free(i);
}

static void enqueue(Scheduler *s, Item *item)
{
    Item **at = &s->items;

    if (find(s, item->relation_id)) {                 /* (1) */
        item_free(item);
        return;
    }
    while (*at)
        at = &(*at)->next;
    *at = item;
    s->state.queued++;
}

static bool source_pending(Scheduler *s, const Item *item)
{
    for (size_t i = 0; i < item->nsources; i++)
        if (item->sources[i] != item->relation_id && find(s, item->sources[i]))
            return true;
    return false;
}

/* The oldest one that waits for nobody. Where views wait for each other in a circle and nothing runs, the oldest of all. */
static Item *take(Scheduler *s)
{
    Item *found = NULL, *oldest = NULL;

    for (Item *i = s->items; i && !found; i = i->next) {
        if (i->running)
            continue;
        if (!oldest)
            oldest = i;
        if (!source_pending(s, i))
            found = i;
    }
    if (!found && !s->state.running)
        found = oldest;
    if (!found)
        return NULL;
    found->running = 1;
    s->state.queued--;
    s->state.running++;
    s->state.late_ms = max_i64(0, clock_ms() - found->due_ms);
    return found;
}

static void finish(Scheduler *s, Item *item, Outcome o)
{
    int64_t *const counts[] = { [RAN] = &s->state.done, [SKIPPED] = &s->state.skipped, [CANCELLED] = &s->state.cancelled,
                                [STOPPED] = &s->state.stopped, [FAILED] = &s->state.failed };
    Item **at = &s->items;

    while (*at != item)
        at = &(*at)->next;
    *at = item->next;
    item_free(item);
    s->state.running--;
    ++*counts[o];
    pthread_cond_broadcast(&s->wake);
}

/* How often in a row the view failed, this time included; success forgets. */
static int failures(Scheduler *s, int64_t id, Outcome o)
{
    Backoff **at = &s->backoffs;

    while (*at && (*at)->relation_id != id)
        at = &(*at)->next;
    if (o == FAILED && !*at) {
        *at = calloc(1, sizeof **at);
        **at = (Backoff){ .relation_id = id };
    }
    if (o == FAILED)
        return ++(*at)->failures;
    if (*at) {
        Backoff *gone = *at;
        *at = gone->next;
        free(gone);
    }
    return 0;
}

/* ---- the ticker ------------------------------------------------------------------------------------------------------------- */

static Item *item_of(Scheduler *s, Arena *a, const CatMview *v)
{
    Item *item = calloc(1, sizeof *item);
    CatRelation rel;
    Error ignored;

    *item = (Item){ .relation_id = v->relation_id, .due_ms = v->next_due_ms, .sources = calloc(json_len(v->sources) + 1, sizeof *item->sources) };
    for (size_t i = 0; i < json_len(v->sources); i++)
        if (cat_relation_by_uuid(s->catalog, a, json_get_str(json_at(v->sources, i), "uuid", (Str){0}), &rel, &ignored) == OK && rel.kind == REL_MVIEW)
            item->sources[item->nsources++] = rel.id;
    return item;
}

static void enqueue_due(Scheduler *s)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatMviews due = {0};
    Error err;

    if (cat_mview_due(s->catalog, a, clock_ms(), &due, &err) != OK) {
        log_error(&err, "due views could not be read", NULL);
        return;
    }
    for (size_t i = 0; i < due.n; i++) {
        Item *item = item_of(s, a, &due.p[i]);
        pthread_mutex_lock(&s->lock);
        enqueue(s, item);
        pthread_mutex_unlock(&s->lock);
    }
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
        enqueue_due(s);
        pthread_mutex_lock(&s->lock);
        if (s->state.queued)
            pthread_cond_broadcast(&s->wake);
        if (!s->stop)
            sleep_until(s, s->options.tick_ms);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- a run ------------------------------------------------------------------------------------------------------------------ */

/* (4) */
static int64_t next_in_rhythm(int64_t due_ms, int64_t every_ms)
{
    int64_t now = clock_ms();
    return due_ms > now ? due_ms : due_ms + ((now - due_ms) / every_ms + 1) * every_ms;
}

static void write_next_due(Scheduler *s, const CatMview *v, int nfailed)
{
    int64_t every_ms = v->schedule_s * 1000, due = next_in_rhythm(v->next_due_ms, every_ms);
    Error err;

    if (nfailed)
        due = clock_ms() + min_i64(every_ms, (int64_t)BACKOFF_FIRST_MS << (nfailed < BACKOFF_DOUBLINGS ? nfailed - 1 : BACKOFF_DOUBLINGS));
    if (cat_mview_postpone(s->catalog, v->relation_id, v->schedule_s, due, &err) != OK)
        log_error(&err, "the next refresh time could not be stored", NULL);
}

static Outcome run_view(Scheduler *s, Arena *a, const CatMview *v)
{
    RefreshRequest q = { .no_wait = 1, .trigger = S("SCHEDULED"), .role = v->definer };
    RefreshReport rep;
    Staleness st;
    Error err;

    if (refresh_staleness(s->refresher, a, v, &st, &err) == OK && !st.stale)
        return SKIPPED;
    Status status = refresh_run(s->refresher, a, v->relation_id, &q, &rep, &err);
    if (status == OK)
        return RAN;
    if (status == E_CANCELLED)
        return STOPPED;
    if (status != E_CONFLICT)                         /* someone refreshes or writes it right now: soon again */
        log_error(&err, "a scheduled refresh failed", "run", "scheduled", NULL);
    return FAILED;
}

static bool stopping(Scheduler *s)
{
    pthread_mutex_lock(&s->lock);
    bool stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    return stop;
}

static Outcome handle(Scheduler *s, const Item *item)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatMview v;
    Error err;

    if (cat_mview_get(s->catalog, a, item->relation_id, &v, &err) != OK || !v.schedule_s || v.next_due_ms > clock_ms())
        return CANCELLED;                             /* (3) */
    Outcome o = run_view(s, a, &v);
    pthread_mutex_lock(&s->lock);
    int nfailed = failures(s, item->relation_id, o);
    pthread_mutex_unlock(&s->lock);
    if (o != STOPPED || !stopping(s))                 /* (2) */
        write_next_due(s, &v, nfailed);
    return o;
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
        Outcome o = handle(s, item);
        pthread_mutex_lock(&s->lock);
        finish(s, item, o);
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
    if (s->options.workers <= 0)
        s->options.workers = (int)max_i64(2, sysconf(_SC_NPROCESSORS_ONLN));
    if (s->options.workers > WORKERS_MAX)
        s->options.workers = WORKERS_MAX;
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

static void cancel_running(Scheduler *s)
{
    Error ignored;
    for (Item *i = s->items; i; i = i->next)
        if (i->running && refresh_stop(s->refresher, i->relation_id, &ignored) != OK)
            continue;
}

void sched_stop(Scheduler *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = 1;
    pthread_cond_broadcast(&s->wake);
    while (s->state.running) {                        /* again: a worker may be on its way into a run */
        cancel_running(s);
        sleep_until(s, STOP_AGAIN_MS);
    }
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->ticker, NULL);
    for (int i = 0; i < s->nworkers; i++)
        pthread_join(s->workers[i], NULL);
    for (Item *i = s->items, *next; i; i = next) {
        next = i->next;
        item_free(i);
    }
    for (Backoff *b = s->backoffs, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->wake);
    free(s);
}

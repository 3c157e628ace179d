/* SPDX-License-Identifier: Apache-2.0 */
/* live_clock.c - what the live side does by the clock: views that are refreshed at their times, clusters that run for that alone, histories that are forgotten.
 *
 * One thread of the service; it sleeps until the next of these, or is woken when an object came or changed.  When a view was last refreshed stands in a note beside its rows, so
 * a time that passed while the server was down is made up for at its start. */
#include "live/live.h"
#include "service/live_sql.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum { PRUNE_MS = 5000 };

struct LiveClock {
    Service *svc;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int runs, stop, woken;
};

static Str note_key(Arena *a, int64_t id) { return str_fmt(a, "refreshed/%lld", (long long)id); }

int64_t live_refreshed(Service *s, Arena *a, int64_t id)
{
    int64_t at = 0;
    Error ignored;
    Str note = {0};

    if (live_note_get(s->live, a, note_key(a, id), &note, &ignored) == OK)
        (void)!str_to_i64(note, &at);
    return at;
}

Status live_note_refreshed(Service *s, Arena *a, int64_t id, int64_t at_ms, Error *err)
{
    LiveNote n = { note_key(a, id), str_fmt(a, "%lld", (long long)at_ms) };
    int64_t t;
    return live_commit_noted(s->live, NULL, 0, &n, 1, &t, err);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------------------- */

static void refresh_one(Service *s, Arena *a, const Object *o, int64_t now)
{
    Error why;
    Status st = live_view_refresh(s->live, o->id, &why);

    if (st == OK)
        st = live_note_refreshed(s, a, o->id, now, &why);
    if (st != OK)
        log_error(&why, "a view was not refreshed at its time", "view", str_z(a, live_full(a, o)), NULL);
}

/* The next time that something is due. */
static int64_t round_of(Service *s, int prune)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    int64_t now = clock_ms(), next = INT64_MAX;
    ObjectVec all = {0};
    Error why;

    (void)live_schedule(s, a);
    objects_list(s->objects, a, &all);
    for (size_t i = 0; i < all.n; i++) {
        const Object *o = &all.p[i];
        int64_t retain = json_get_int(o->detail, "retain-ms", 0);
        if (retain && prune && live_has(s->live, o->id) && live_retain_prune(s->live, o->id, retain, &why) != OK)
            log_error(&why, "the history of a relation was not pruned", "relation", str_z(a, live_full(a, o)), NULL);
        if (o->kind != OBJ_MVIEW || !json_get(o->detail, "refresh"))
            continue;
        int64_t due = live_next_refresh(o, max_i64(o->created_ms, live_refreshed(s, a, o->id)));
        if (!live_runs(s, o))                             /* whoever lets it run again wakes the clock */
            continue;
        if (due <= now) {
            refresh_one(s, a, o, now);
            due = live_next_refresh(o, now);
        }
        next = min_i64(next, max_i64(due, now + 10));
    }
    return min_i64(next, live_schedule(s, a));
}

static void sleep_until(struct LiveClock *c, int64_t ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    pthread_mutex_lock(&c->lock);
    while (!c->stop && !c->woken && pthread_cond_timedwait(&c->wake, &c->lock, &t) != ETIMEDOUT)
        ;
    c->woken = 0;
    pthread_mutex_unlock(&c->lock);
}

static bool stopping(struct LiveClock *c)
{
    pthread_mutex_lock(&c->lock);
    bool stop = c->stop;
    pthread_mutex_unlock(&c->lock);
    return stop;
}

static void *run(void *ctx)
{
    struct LiveClock *c = ctx;
    int64_t pruned = 0;

    while (!stopping(c)) {
        int64_t now = clock_ms(), prune = now - pruned >= PRUNE_MS;
        int64_t next = round_of(c->svc, prune != 0);
        if (prune)
            pruned = now;
        sleep_until(c, min_i64(next, pruned + PRUNE_MS));
    }
    return NULL;
}

/* ---- life ----------------------------------------------------------------------------------------------------------------------- */

struct LiveClock *live_clock_new(Service *s)
{
    struct LiveClock *c = calloc(1, sizeof *c);

    if (!c)
        abort();
    c->svc = s;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    return c;
}

Status live_clock_start(struct LiveClock *c, Error *err)
{
    if (pthread_create(&c->thread, NULL, run, c))
        return FAIL(err, E_IO, "no thread for the live side's clock");
    c->runs = 1;
    return OK;
}

void live_clock_wake(struct LiveClock *c)
{
    pthread_mutex_lock(&c->lock);
    c->woken = 1;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
}

void live_clock_free(struct LiveClock *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->stop = 1;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    if (c->runs)
        pthread_join(c->thread, NULL);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->wake);
    free(c);
}

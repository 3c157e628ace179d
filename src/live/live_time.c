/* SPDX-License-Identifier: Apache-2.0 */
/* live_time.c - time for views that read mz_now(): a thread that runs an empty tick each second while there are some; a read runs one of its own.
 *
 * The thread begins with the first such view and ends with the room. */
#include "live/live_int.h"

enum { TIME_STEP_MS = 1000 };

/* As the leader. */
static bool any_view_reads_time(Live *l)
{
    for (size_t i = 0; i < l->rels.n; i++)
        if (l->rels.p[i]->view && !l->rels.p[i]->paused && ivm_uses_now(l->rels.p[i]->view))
            return true;
    return false;
}

static void step(Live *l)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Tick t = { .l = l, .a = a };
    Error err = {0};

    live_lead(l);
    if (any_view_reads_time(l) && tick_run(&t, &err) != OK)
        log_event(LOG_WARN, "time could not go on for views that read mz_now()", "error", err.message, NULL);
    live_unlead(l);
}

Status live_freshen(Live *l, int64_t id, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Tick t = { .l = l, .a = a };

    pthread_mutex_lock(&l->lock);
    const Relation *r = live_find(l, id);
    bool late = r && r->timed && clock_ms() > l->now;
    pthread_mutex_unlock(&l->lock);
    if (!late)
        return OK;
    live_lead(l);
    Status s = clock_ms() > l->now ? tick_run(&t, err) : OK;
    live_unlead(l);
    return s;
}

static struct timespec in_ms(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

/* Others broadcast `changed`, too: only the time counts. */
static bool wait_step(Live *l)
{
    struct timespec until = in_ms(TIME_STEP_MS);

    pthread_mutex_lock(&l->lock);
    while (!l->closing && pthread_cond_timedwait(&l->changed, &l->lock, &until) == 0)
        ;
    bool on = !l->closing;
    pthread_mutex_unlock(&l->lock);
    return on;
}

static void *run(void *ctx)
{
    Live *l = ctx;

    while (wait_step(l))
        step(l);
    return NULL;
}

void time_begin(Live *l)
{
    if (!l->clock_runs && pthread_create(&l->clock, NULL, run, l) == 0)
        l->clock_runs = 1;
}

void time_end(Live *l)
{
    if (!l->clock_runs)
        return;
    pthread_mutex_lock(&l->lock);
    l->closing = 1;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->clock, NULL);
    l->clock_runs = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - statement timeouts.
 *
 * One thread for all sessions, asleep until the nearest deadline.  Invariant: a session is cancelled only while its entry is in
 * the list, and watch_end takes it out under the same lock: a later statement is never hit. */
#include "service/watch.h"
#include "service/session_int.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

typedef struct Entry { uint64_t ticket; Session *ss; int64_t deadline_us; int fired; struct Entry *next; } Entry;

struct Watch { pthread_mutex_t lock; pthread_cond_t wake; pthread_t thread; int started, stop; uint64_t serial; Entry *entries; };

Watch *watch_new(void)
{
    Watch *w = calloc(1, sizeof *w);
    pthread_condattr_t attr;

    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &attr);
    pthread_condattr_destroy(&attr);
    return w;
}

static int64_t fire_due(Watch *w)
{
    int64_t now = clock_mono_us(), nearest = now + 3600000000;

    for (Entry *e = w->entries; e; e = e->next)
        if (!e->fired && e->deadline_us <= now) {
            e->fired = 1;
            session_cancel(e->ss);
        } else if (!e->fired) {
            nearest = min_i64(nearest, e->deadline_us);
        }
    return nearest;
}

static void *run(void *arg)
{
    Watch *w = arg;

    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        int64_t until = fire_due(w);
        struct timespec ts = { .tv_sec = until / 1000000, .tv_nsec = until % 1000000 * 1000 };
        pthread_cond_timedwait(&w->wake, &w->lock, &ts);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

int64_t watch_deadline(const Session *ss)
{
    int64_t ms = 0;
    Str v = setting_get(ss, S("statement_timeout"), (Str){0});

    if (!v.n)
        ms = ss->svc->options.statement_timeout_ms;
    else if (!str_to_i64(v, &ms))
        ms = 0;
    return ms > 0 ? clock_mono_us() + ms * 1000 : 0;
}

uint64_t watch_begin(Watch *w, Session *ss, int64_t deadline_us)
{
    if (!deadline_us)
        return 0;
    Entry *e = calloc(1, sizeof *e);
    pthread_mutex_lock(&w->lock);
    *e = (Entry){ .ticket = ++w->serial, .ss = ss, .deadline_us = deadline_us, .next = w->entries };
    w->entries = e;
    if (!w->started)
        w->started = pthread_create(&w->thread, NULL, run, w) == 0;
    pthread_cond_signal(&w->wake);
    uint64_t ticket = e->ticket;
    pthread_mutex_unlock(&w->lock);
    return ticket;
}

int watch_end(Watch *w, uint64_t ticket)
{
    int fired = 0;

    if (!ticket)
        return 0;
    pthread_mutex_lock(&w->lock);
    for (Entry **at = &w->entries; *at; at = &(*at)->next)
        if ((*at)->ticket == ticket) {
            Entry *e = *at;
            *at = e->next;
            fired = e->fired;
            free(e);
            break;
        }
    pthread_mutex_unlock(&w->lock);
    return fired;
}

void watch_free(Watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = 1;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (w->started)
        pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->wake);
    free(w);
}

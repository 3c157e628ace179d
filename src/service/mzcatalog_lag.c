/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog_lag.c - how far each object is behind the wall clock: a sample a minute, the smallest of the minute counts, a day of them is kept.
 *
 * One thread samples.  A question samples too, so an object shows as soon as it is there.  Each full minute is written as a note of live.db in a ring of a day's minutes, so
 * the history outlives a restart.  Lag is told in whole seconds; NULL of an object that has not begun (spec/materialize.md 1.11).
 * Invariant: minutes stand in ascending order, at most LAG_MINUTES of them, and LAG_SAMPLES samples in all. */
#include "service/mzcatalog_int.h"

#include <stdio.h>
#include <stdlib.h>

enum { MINUTE_MS = 60000, LAG_MINUTES = 1440, LAG_SAMPLES = 2000000, NEWEST_MS = 5 * MINUTE_MS, FIRST_AFTER_MS = 1000, UNKNOWN = -1 };

typedef struct Sample { int64_t object, lag_ms; } Sample;                       /* lag UNKNOWN: not begun */
typedef struct Minute { int64_t at_ms; Sample *p; size_t n; } Minute;
typedef struct Last { int64_t object, frontier; } Last;

struct MzLag {
    Service *svc;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    int running, stop, loaded;
    Minute minutes[LAG_MINUTES];                                                /* oldest first */
    size_t n, samples;
    Last *last;                                                                 /* by object: the frontier seen last */
    size_t nlast;
};

/* ---- samples; under the lock ------------------------------------------------------------------------------------------------------ */

static void forget_oldest(struct MzLag *l)
{
    l->samples -= l->minutes[0].n;
    free(l->minutes[0].p);
    memmove(l->minutes, l->minutes + 1, --l->n * sizeof *l->minutes);
}

static Minute *minute_at(struct MzLag *l, int64_t at_ms)
{
    if (l->n && l->minutes[l->n - 1].at_ms >= at_ms)
        return &l->minutes[l->n - 1];
    while (l->n == LAG_MINUTES || (l->n && l->samples > LAG_SAMPLES))
        forget_oldest(l);
    l->minutes[l->n] = (Minute){ .at_ms = at_ms };
    return &l->minutes[l->n++];
}

static void *grown(void *p, size_t n, size_t size)
{
    p = realloc(p, (n ? n : 1) * size);
    if (!p)
        abort();
    return p;
}

static void note_sample(struct MzLag *l, Minute *m, Sample s)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->p[i].object == s.object) {
            if (s.lag_ms != UNKNOWN && (m->p[i].lag_ms == UNKNOWN || s.lag_ms < m->p[i].lag_ms))
                m->p[i].lag_ms = s.lag_ms;
            return;
        }
    m->p = grown(m->p, m->n + 1, sizeof *m->p);
    m->p[m->n++] = s;
    l->samples++;
}

static void note_last(struct MzLag *l, int64_t object, int64_t write)
{
    for (size_t i = 0; i < l->nlast; i++)
        if (l->last[i].object == object) {
            l->last[i].frontier = max_i64(l->last[i].frontier, write);
            return;
        }
    l->last = grown(l->last, l->nlast + 1, sizeof *l->last);
    l->last[l->nlast++] = (Last){ object, write };
}

int64_t mz_lag_last(struct MzLag *l, int64_t object)
{
    int64_t write = 0;

    if (!l)
        return 0;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->nlast; i++)
        if (l->last[i].object == object)
            write = l->last[i].frontier;
    pthread_mutex_unlock(&l->lock);
    return write;
}

/* Objects that are no more are forgotten. */
static void keep_known(struct MzLag *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->nlast; i++)
        if (objects_known(l->svc->objects, l->last[i].object))
            l->last[n++] = l->last[i];
    l->nlast = n;
}

static void sample(struct MzLag *l)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    ObjectVec all = {0};

    objects_list(l->svc->objects, a, &all);
    MzFrontier *f = arena_array(a, MzFrontier, all.n + 1);
    for (size_t i = 0; i < all.n; i++)
        f[i] = mz_frontier(l->svc, &all.p[i]);
    int64_t now = clock_ms();
    pthread_mutex_lock(&l->lock);
    Minute *m = minute_at(l, now - now % MINUTE_MS);
    for (size_t i = 0; i < all.n; i++) {
        if (!f[i].known)
            continue;
        note_sample(l, m, (Sample){ all.p[i].id, f[i].sealed ? 0 : f[i].write > 0 ? max_i64(0, now - f[i].write) : UNKNOWN });
        if (f[i].write > 0)
            note_last(l, all.p[i].id, f[i].write);
    }
    keep_known(l);
    pthread_mutex_unlock(&l->lock);
}

/* ---- the ring of notes --------------------------------------------------------------------------------------------------------------- */

static Str ring_key(Arena *a, int64_t at_ms) { return str_fmt(a, "mz.lag.%lld", (long long)(at_ms / MINUTE_MS % LAG_MINUTES)); }

/* The minute before the present one, when it has not been written. */
static void save(struct MzLag *l, int64_t *saved)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrBuf b = sb_new(a);
    int64_t at = 0, t;
    Error err;

    pthread_mutex_lock(&l->lock);
    const Minute *m = l->n > 1 ? &l->minutes[l->n - 2] : NULL;
    if (m && m->at_ms > *saved) {
        at = m->at_ms;
        sb_fmt(&b, "%lld", (long long)at);
        for (size_t i = 0; i < m->n; i++)
            sb_fmt(&b, " %lld:%lld", (long long)m->p[i].object, (long long)m->p[i].lag_ms);
    }
    pthread_mutex_unlock(&l->lock);
    if (!at)
        return;
    LiveNote note = { ring_key(a, at), sb_str(&b) };
    if (live_commit_noted(l->svc->live, NULL, 0, &note, 1, &t, &err) == OK)
        *saved = at;
    else
        log_error(&err, "lag history not written", NULL);
}

static bool parse_sample(Str text, Sample *s)
{
    Str head, rest;
    return str_cut(text, ':', &head, &rest) && str_to_i64(head, &s->object) && str_to_i64(rest, &s->lag_ms);
}

static void load_minute(struct MzLag *l, Arena *a, Str text, int64_t not_before)
{
    StrVec parts = {0};
    Sample s;
    int64_t at;

    str_split(a, text, ' ', &parts);
    if (!parts.n || !str_to_i64(parts.p[0], &at) || at < not_before || (l->n && l->minutes[l->n - 1].at_ms >= at))
        return;
    Minute *m = minute_at(l, at);
    for (size_t i = 1; i < parts.n; i++)
        if (parse_sample(parts.p[i], &s))
            note_sample(l, m, s);
}

/* The last day's minutes, in order. */
static void load(struct MzLag *l)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    int64_t now = clock_ms(), first = now - now % MINUTE_MS - (int64_t)LAG_MINUTES * MINUTE_MS + MINUTE_MS;
    Error err;
    Str text;

    for (int64_t at = first; at <= now && live_note_get(l->svc->live, a, ring_key(a, at), &text, &err) == OK; at += MINUTE_MS) {
        pthread_mutex_lock(&l->lock);
        if (text.n)
            load_minute(l, a, text, first);
        pthread_mutex_unlock(&l->lock);
    }
}

/* ---- the thread -------------------------------------------------------------------------------------------------------------------------- */

/* false: to stop. */
static bool sleep_until(struct MzLag *l, int64_t at_ms)
{
    struct timespec t = { .tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000 };

    pthread_mutex_lock(&l->lock);
    while (!l->stop && clock_ms() < at_ms)
        pthread_cond_timedwait(&l->wake, &l->lock, &t);
    bool stop = l->stop;
    pthread_mutex_unlock(&l->lock);
    return !stop;
}

static void *run(void *arg)
{
    struct MzLag *l = arg;
    int64_t next = clock_ms() + FIRST_AFTER_MS, saved = 0;

    load(l);
    while (sleep_until(l, next)) {
        sample(l);
        save(l, &saved);
        next = clock_ms();
        next += MINUTE_MS - next % MINUTE_MS + FIRST_AFTER_MS;
    }
    return NULL;
}

struct MzLag *mz_lag_start(Service *s)
{
    struct MzLag *l = calloc(1, sizeof *l);

    if (!l)
        abort();
    l->svc = s;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->wake, NULL);
    l->running = pthread_create(&l->thread, NULL, run, l) == 0;
    return l;
}

void mz_lag_forget(struct MzLag *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    while (l->n)
        forget_oldest(l);
    l->nlast = 0;
    pthread_mutex_unlock(&l->lock);
}

void mz_lag_stop(struct MzLag *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->stop = 1;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->lock);
    if (l->running)
        pthread_join(l->thread, NULL);
    mz_lag_forget(l);
    free(l->last);
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* ---- the relations --------------------------------------------------------------------------------------------------------------------------- */

/* A copy, so that rows are made without the lock; with a sample of now. */
static size_t copy_minutes(MzFill *f, Minute **ret)
{
    struct MzLag *l = f->r->svc->mz_lag;

    *ret = NULL;
    if (!l)
        return 0;
    sample(l);
    pthread_mutex_lock(&l->lock);
    size_t n = l->n;
    Minute *m = *ret = arena_array(f->a, Minute, n + 1);
    for (size_t i = 0; i < n; i++) {
        m[i] = l->minutes[i];
        m[i].p = arena_array(f->a, Sample, m[i].n + 1);
        for (size_t k = 0; k < m[i].n; k++)
            m[i].p[k] = l->minutes[i].p[k];
    }
    pthread_mutex_unlock(&l->lock);
    return n;
}

static void lag_cell(MzFill *f, int64_t lag_ms) { mz_interval(f, lag_ms == UNKNOWN ? -1 : lag_ms - lag_ms % 1000); }

/* The newest of each object within five minutes. */
Status mzf_lag(MzFill *f)
{
    Map seen = map_new(f->a);
    Minute *m;
    size_t n = copy_minutes(f, &m);

    for (size_t i = n; i-- && m[i].at_ms >= f->now_ms - NEWEST_MS;)
        for (size_t k = 0; k < m[i].n; k++) {
            Str id = mz_id(f->a, m[i].p[k].object);
            if (map_has(&seen, id))
                continue;
            map_put(&seen, id, f);
            mz_str(f, id);
            lag_cell(f, m[i].p[k].lag_ms);
            mz_end(f);
        }
    return OK;
}

static Str replica_of(MzFill *f, int64_t object)
{
    const Object *o = mz_object_by_id(f->w, object);
    bool per_replica = o && (o->kind == OBJ_INDEX || o->kind == OBJ_SINK);

    for (size_t i = 0; per_replica && i < f->w->clusters.n; i++)
        if (str_eq(f->w->clusters.p[i].id, o->cluster) && f->w->clusters.p[i].replicas.n)
            return f->w->clusters.p[i].replicas.p[0].id;
    return (Str){0};
}

typedef enum { HISTORY_GLOBAL, HISTORY_REPLICA } HistoryOf;

static Status history(MzFill *f, HistoryOf of)
{
    Minute *m;
    size_t n = copy_minutes(f, &m);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m[i].n; k++) {
            mz_ident(f, m[i].p[k].object);
            if (of == HISTORY_REPLICA)
                mz_opt(f, replica_of(f, m[i].p[k].object));
            lag_cell(f, m[i].p[k].lag_ms);
            mz_time(f, m[i].at_ms);
            mz_end(f);
        }
    return OK;
}

Status mzf_lag_history(MzFill *f) { return history(f, HISTORY_GLOBAL); }
Status mzf_lag_recent(MzFill *f) { return history(f, HISTORY_GLOBAL); }
Status mzf_lag_replicas(MzFill *f) { return history(f, HISTORY_REPLICA); }

/* Lags of one object of one minute fall into one bucket: powers of two of seconds. */
Status mzf_lag_histogram(MzFill *f)
{
    Minute *m;
    size_t n = copy_minutes(f, &m);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m[i].n; k++) {
            uint64_t seconds = (uint64_t)max_i64(0, m[i].p[k].lag_ms) / 1000, bucket = 1;
            while (bucket < seconds)
                bucket *= 2;
            mz_time(f, m[i].at_ms);
            mz_time(f, m[i].at_ms + MINUTE_MS);
            mz_ident(f, m[i].p[k].object);
            if (m[i].p[k].lag_ms == UNKNOWN)
                mz_null(f);
            else
                mz_u64(f, bucket);
            mz_json(f, S("{}"));
            mz_int(f, 1);
            mz_end(f);
        }
    return OK;
}

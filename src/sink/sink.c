/* SPDX-License-Identifier: Apache-2.0 */
/* sink.c - the sinks that run: started, stopped, asked.
 *
 * A started sink's log has begun before its thread does, under the name that its id gives, so a restart finds what came meanwhile.  After SET FROM the older relation's log
 * is read up to the moment of the change, then the newer one's from there on. */
#include "sink/sink_int.h"

#include <stdio.h>
#include <stdlib.h>

enum { STOP_MS = 3000, STOP_ALL_MS = 7000 };

/* ---- a sink ------------------------------------------------------------------------------------------------------------------ */

static Props copy_props(Arena *a, const Props *p)
{
    Props r = {0};
    for (size_t i = 0; i < p->n; i++)
        props_set(a, &r, str_dup(a, p->p[i].key), str_dup(a, p->p[i].value));
    return r;
}

static void copy_spec(Arena *a, const SinkSpec *from, SinkSpec *to)
{
    *to = *from;
    to->columns.p = arena_array(a, SinkColumn, from->columns.n + 1);
    for (size_t i = 0; i < from->columns.n; i++) {
        const SinkColumn *c = &from->columns.p[i];
        to->columns.p[i] = (SinkColumn){ str_dup(a, c->name), str_dup(a, c->engine), data_type_copy(a, &c->type), c->not_null, str_dup(a, c->sql_type) };
    }
    to->key = (StrVec){0};
    for vec_each(const Str, k, &from->key)
        vec_push(a, &to->key, str_dup(a, *k));
    to->partitions.p = arena_array(a, SinkPartition, from->partitions.n + 1);
    for (size_t i = 0; i < from->partitions.n; i++)
        to->partitions.p[i] = (SinkPartition){ str_dup(a, from->partitions.p[i].transform), from->partitions.p[i].width, str_dup(a, from->partitions.p[i].column) };
    to->order.p = arena_array(a, SinkOrder, from->order.n + 1);
    for (size_t i = 0; i < from->order.n; i++)
        to->order.p[i] = (SinkOrder){ str_dup(a, from->order.p[i].column), from->order.p[i].descending, from->order.p[i].nulls_first };
    to->ns = str_dup(a, from->ns);
    to->table = str_dup(a, from->table);
    to->props = copy_props(a, &from->props);
}

static Sink *sink_new(Sinks *all, const SinkSpec *spec)
{
    Arena *a = arena_create();
    Sink *s = arena_new(a, Sink);
    pthread_condattr_t attr;

    *s = (Sink){ .all = all, .a = a, .want = spec->paused ? WANT_PAUSE : WANT_RUN, .report = { .id = spec->id } };
    copy_spec(a, spec, &s->spec);
    s->name = str_fmt(a, "sink u%lld", (long long)spec->id);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->keep, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
    return s;
}

static void sink_free(Sink *s)
{
    duck_disconnect(s->conn);
    arena_destroy(s->note_arena);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->keep);
    pthread_cond_destroy(&s->changed);
    arena_destroy(s->a);
}

static void wish(Sink *s, Want w)
{
    pthread_mutex_lock(&s->lock);
    s->want = w;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* ---- the log --------------------------------------------------------------------------------------------------------------------- */

/* The relation is another one: what the older one has had up to now comes first. */
static Status change_relation(Sinks *all, const Sink *s, int64_t from, Note *n, Error *err)
{
    if (n->frontier && n->rebuilt >= s->spec.rebuild && !n->cut_relation) {
        n->cut_relation = n->relation;
        n->cut_upto = from;
        return OK;
    }
    if (n->frontier)
        n->gap = from;                                /* changed twice before the first change was carried out */
    else
        n->from = from;
    return live_log_end(all->o.live, n->relation, s->name, err);
}

static Status follow(Sinks *all, const Sink *s, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    int64_t from;
    Note n;

    TRY(note_read(all->o.live, a, s->spec.id, &n, err));
    TRY(live_log_begin(all->o.live, s->spec.relation, s->name, &from, err));
    if (n.relation && n.relation != s->spec.relation)
        TRY(change_relation(all, s, from, &n, err));
    else if (n.frontier && from > n.from && !n.cut_relation)
        n.gap = from;                                 /* the log was given up and begins anew */
    else if (!n.frontier)
        n.from = from;
    n.relation = s->spec.relation;
    return note_write(all->o.live, s->spec.id, &n, err);
}

/* ---- all of them ------------------------------------------------------------------------------------------------------------------- */

Sinks *sinks_new(const SinksOptions *o)
{
    Sinks *s = calloc(1, sizeof *s);

    if (!s)
        abort();
    s->o = *o;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

static Sink *find(Sinks *all, int64_t id)
{
    Sink *s = all->first;
    while (s && s->spec.id != id)
        s = s->next;
    return s;
}

static Sink *take(Sinks *all, int64_t id)
{
    pthread_mutex_lock(&all->lock);
    Sink *r = NULL;
    for (Sink **at = &all->first; *at && !r; )
        if ((*at)->spec.id == id) {
            r = *at;
            *at = r->next;
        } else
            at = &(*at)->next;
    pthread_mutex_unlock(&all->lock);
    return r;
}

static void join(Sink *s)
{
    pthread_join(s->thread, NULL);
    sink_free(s);
}

/* Orphans that have ended meanwhile. */
static void reap(Sinks *all)
{
    pthread_mutex_lock(&all->lock);
    for (Sink **at = &all->orphans; *at; ) {
        Sink *s = *at;
        if (!sink_ended(s, 0)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        join(s);
    }
    pthread_mutex_unlock(&all->lock);
}

static void end(Sinks *all, Sink *s)
{
    wish(s, WANT_STOP);
    reap(all);
    if (sink_ended(s, STOP_MS)) {
        join(s);
        return;
    }
    pthread_mutex_lock(&s->keep);
    s->orphan = 1;
    pthread_mutex_unlock(&s->keep);
    pthread_mutex_lock(&all->lock);
    s->next = all->orphans;
    all->orphans = s;
    pthread_mutex_unlock(&all->lock);
}

static Status start(Sinks *all, Sink *s, Error *err)
{
    TRY(sink_check(s->a, &s->spec, err));
    TRY(follow(all, s, err));
    live_status_put(all->o.live, s->spec.id, "starting", (Str){0}, (Str){0});
    pthread_mutex_lock(&all->lock);
    bool known = find(all, s->spec.id) != NULL;
    int rc = known ? 0 : pthread_create(&s->thread, NULL, sink_thread, s);
    if (!known && rc == 0) {
        s->next = all->first;
        all->first = s;
    }
    pthread_mutex_unlock(&all->lock);
    if (known)
        return FAIL(err, E_EXISTS, "sink u%lld runs", (long long)s->spec.id);
    return rc == 0 ? OK : FAIL(err, E_LIMIT, "no thread for sink u%lld", (long long)s->spec.id);
}

Status sink_start(Sinks *all, const SinkSpec *spec, Error *err)
{
    Sink *s = sink_new(all, spec);

    Status st = start(all, s, err);
    if (st != OK)
        sink_free(s);
    return st;
}

void sink_stop(Sinks *all, int64_t id)
{
    Sink *s = take(all, id);
    if (s)
        end(all, s);
}

void sink_drop(Sinks *all, int64_t id)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str reader = str_fmt(a, "sink u%lld", (long long)id);
    Error ignored;
    Note n = {0};

    sink_stop(all, id);
    (void)!note_read(all->o.live, a, id, &n, &ignored);
    if (n.cut_relation)
        (void)!live_log_end(all->o.live, n.cut_relation, reader, &ignored);
    if (n.relation)
        (void)!live_log_end(all->o.live, n.relation, reader, &ignored);
    (void)!note_forget(all->o.live, id, &ignored);
    live_status_put(all->o.live, id, "dropped", (Str){0}, (Str){0});
}

static void wish_by_id(Sinks *all, int64_t id, Want w)
{
    pthread_mutex_lock(&all->lock);
    Sink *s = find(all, id);
    if (s)
        wish(s, w);
    pthread_mutex_unlock(&all->lock);
}

void sink_pause(Sinks *all, int64_t id) { wish_by_id(all, id, WANT_PAUSE); }
void sink_resume(Sinks *all, int64_t id) { wish_by_id(all, id, WANT_RUN); }

bool sink_report(Sinks *all, int64_t id, SinkReport *ret)
{
    pthread_mutex_lock(&all->lock);
    Sink *s = find(all, id);
    if (s) {
        pthread_mutex_lock(&s->lock);
        *ret = s->report;
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_unlock(&all->lock);
    return s != NULL;
}

/* How many have not ended by then. */
static size_t end_all(Sink *first, int64_t until_ms)
{
    size_t left = 0;

    for (Sink *s = first, *next; s; s = next) {
        next = s->next;
        if (sink_ended(s, max_i64(0, until_ms - clock_mono_us() / 1000)))
            join(s);
        else
            left++;
    }
    return left;
}

void sinks_free(Sinks *all)
{
    if (!all)
        return;
    int64_t until = clock_mono_us() / 1000 + STOP_ALL_MS;
    size_t left = 0;

    for (Sink *s = all->first; s; s = s->next)
        wish(s, WANT_STOP);
    left += end_all(all->first, until);
    left += end_all(all->orphans, until);
    if (left)
        return;                                       /* threads that hang in a catalog's answer: the process ends, and they with it */
    pthread_mutex_destroy(&all->lock);
    free(all);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* live_watch.c - readers of a relation's changes as they happen.
 *
 * A tick copies the changes of a watched relation once, before it commits; every watch holds a reference.  A reader that lets too many wait is told so and gets
 * nothing more: ticks never wait for readers. */
#include "live/live_int.h"

#include <stdlib.h>
#include <time.h>

void chunk_release(Chunk *c)
{
    if (c && --c->refs == 0)
        arena_destroy(c->a);
}

bool watch_wants(Live *l, int64_t id)
{
    pthread_mutex_lock(&l->lock);
    const LiveWatch *w = l->watches;
    while (w && w->id != id)
        w = w->next;
    pthread_mutex_unlock(&l->lock);
    return w != NULL;
}

static Status fill_chunk(Chunk *c, DuckResult *r, Error *err)
{
    DataType *types = arena_array(c->a, DataType, c->cols + 1);
    struct { Value *p; size_t n, cap; } cells = {0};
    struct { int64_t *p; size_t n, cap; } weights = {0};
    size_t n;

    for (size_t k = 0; k < c->cols; k++)
        types[k] = data_type_copy(c->a, &duck_col(r, k)->type);
    do {
        TRY(duck_next(r, &n, err));
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < c->cols; k++) {
                Value v = duck_value(c->a, r, k, i);
                v = value_copy(c->a, &v, &types[k]);
                vec_push(c->a, &cells, v);
            }
            int64_t weight = duck_value(c->a, r, c->cols, i).integer;
            vec_push(c->a, &weights, weight);
        }
    } while (n);
    c->cells = cells.p;
    c->weights = weights.p;
    c->rows = weights.n;
    return OK;
}

static Status collect(Tick *t, Delta *d, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    Arena *a = arena_create();
    Chunk *c = arena_new(a, Chunk);

    *c = (Chunk){ .t = t->t, .a = a, .cols = d->rel->cols.n, .refs = 1 };
    d->chunk = c;
    TRY(duck_query(t->l->conn, str_fmt(t->a, "SELECT " STR_FMT ", __w FROM " STR_FMT, STR_ARG(live_columns_sql(t->a, &d->rel->cols, "")), STR_ARG(d->chg)), &r, err));
    return fill_chunk(c, r, err);
}

Status watch_collect(Tick *t, Error *err)
{
    for (size_t i = 0; i < t->deltas.n; i++)
        if (watch_wants(t->l, t->deltas.p[i].rel->id))
            TRY(collect(t, &t->deltas.p[i], err));
    return OK;
}

static void push_chunk(LiveWatch *w, Chunk *c)
{
    if (w->waiting + c->rows > WATCH_CHANGES_MAX) {
        w->overflowed = 1;
        return;
    }
    if (w->chunks.n == w->chunks.cap) {
        size_t cap = w->chunks.cap ? w->chunks.cap * 2 : 8;
        Chunk **p = realloc(w->chunks.p, cap * sizeof *p);
        if (!p) {
            w->overflowed = 1;
            return;
        }
        w->chunks.p = p;
        w->chunks.cap = cap;
    }
    w->chunks.p[w->chunks.n++] = c;
    w->waiting += c->rows;
    c->refs++;
}

/* All under the lock: references of chunks are counted there. */
void watch_publish(Tick *t)
{
    Live *l = t->l;

    pthread_mutex_lock(&l->lock);
    for (LiveWatch *w = l->watches; w; w = w->next) {
        const Delta *d = tick_delta(t, w->id);
        if (d && d->chunk && d->chunk->rows && !w->overflowed) {
            push_chunk(w, d->chunk);
            pthread_cond_signal(&w->heard);
        }
        w->progress = t->t + 1;
    }
    for (size_t i = 0; i < t->deltas.n; i++)
        chunk_release(t->deltas.p[i].chunk);
    pthread_mutex_unlock(&l->lock);
}

void watch_forget(Live *l, int64_t id)
{
    for (LiveWatch *w = l->watches; w; w = w->next)
        if (w->id == id) {
            w->dropped = 1;
            pthread_cond_signal(&w->heard);
        }
}

/* past NULL: from now on. */
typedef struct WatchFrom { int64_t as_of; DuckResult **past; } WatchFrom;

/* ---- for readers ------------------------------------------------------------------------------------------------------------------ */

/* What changed between a time that has passed and now: all of it is read before the snapshot streams on the same connection. */
static Status read_past(Live *l, Arena *a, int64_t id, int64_t as_of, DuckConn *conn, DuckResult **past, Error *err)
{
    const Relation *r = live_find(l, id);

    if (!past || as_of >= r->changed)
        return OK;
    return duck_query_held(conn, str_fmt(a, "SELECT __t, __w, " STR_FMT " FROM " STR_FMT " WHERE __t > %lld ORDER BY __t", STR_ARG(live_columns_sql(a, &r->cols, "")), STR_ARG(live_log_table(a, id)),
                                         (long long)as_of), past, err);
}

/* As the leader: no tick comes between the snapshot and the registration. The stream keeps the state it began with. */
static Status begin(Live *l, LiveWatch *w, const WatchFrom *f, DuckConn *conn, DuckResult **snapshot, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str sql;

    if (f->past) {
        TRY(live_state_sql(l, a, w->id, f->as_of, &sql, err));
        TRY(read_past(l, a, w->id, f->as_of, conn, f->past, err));
    } else
        TRY(live_relation_sql(l, a, w->id, &sql, err));
    if (snapshot)
        TRY(duck_query(conn, str_fmt(a, "SELECT * FROM " STR_FMT " q", STR_ARG(sql)), snapshot, err));
    pthread_mutex_lock(&l->lock);
    w->start = f->past ? min_i64(f->as_of, l->now) : l->now;
    w->progress = l->now + 1;
    w->next = l->watches;
    l->watches = w;
    pthread_mutex_unlock(&l->lock);
    return OK;
}

static Status watch(Live *l, int64_t id, const WatchFrom *f, DuckConn *conn, DuckResult **snapshot, LiveWatch **ret, Error *err)
{
    LiveWatch *w = calloc(1, sizeof *w);

    if (!w)
        return FAIL(err, E_LIMIT, "out of memory");
    w->l = l;
    w->id = id;
    pthread_cond_init(&w->heard, NULL);
    live_lead(l);
    Status s = begin(l, w, f, conn, snapshot, err);
    live_unlead(l);
    if (s == OK) {
        *ret = w;
        return OK;
    }
    pthread_cond_destroy(&w->heard);
    free(w);
    return s;
}

Status live_watch(Live *l, int64_t id, DuckConn *conn, DuckResult **snapshot, LiveWatch **ret, Error *err)
{
    WatchFrom now = {0};
    return watch(l, id, &now, conn, snapshot, ret, err);
}

Status live_watch_from(Live *l, int64_t id, int64_t as_of, DuckConn *conn, DuckResult **snapshot, DuckResult **past, LiveWatch **ret, Error *err)
{
    WatchFrom f = { as_of, past };
    return watch(l, id, &f, conn, snapshot, ret, err);
}

int64_t live_advance(Live *l)
{
    pthread_mutex_lock(&l->lock);
    if (!l->leading)
        l->now = max_i64(l->now, clock_ms() - 1);
    int64_t below = l->leading ? 0 : l->now + 1;
    for (LiveWatch *w = l->watches; w && below; w = w->next)
        w->progress = below;
    pthread_mutex_unlock(&l->lock);
    return below;
}

int64_t live_watch_start(const LiveWatch *w) { return w->start; }

static void drop_first(LiveWatch *w)
{
    Chunk *c = w->chunks.p[0];
    w->waiting -= c->rows;
    w->chunks.n--;
    memmove(w->chunks.p, w->chunks.p + 1, w->chunks.n * sizeof *w->chunks.p);
    w->at = 0;
    chunk_release(c);
}

/* A chunk is kept until the call after its last row: its cells are read until then. */
static bool take(LiveWatch *w, LiveChange *ret)
{
    while (w->chunks.n && w->at == w->chunks.p[0]->rows)
        drop_first(w);
    if (!w->chunks.n)
        return false;
    const Chunk *c = w->chunks.p[0];
    *ret = (LiveChange){ .t = c->t, .cells = c->cells + w->at * c->cols, .weight = c->weights[w->at] };
    w->at++;
    return true;
}

static void wait_until(LiveWatch *w, int64_t ms)
{
    struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    pthread_cond_timedwait(&w->heard, &w->l->lock, &ts);
}

Status live_watch_next(LiveWatch *w, int wait_ms, LiveChange *ret, int *has, int64_t *progress, Error *err)
{
    int64_t until = clock_ms() + wait_ms;
    Status s = OK;

    pthread_mutex_lock(&w->l->lock);
    *has = take(w, ret);
    while (!*has && !w->dropped && !w->overflowed && !w->woken && clock_ms() < until) {
        wait_until(w, until);
        *has = take(w, ret);
    }
    w->woken = 0;
    *progress = w->progress;
    if (!*has && w->overflowed)
        s = FAIL(err, E_LIMIT, "the reader is too slow: more than %d changes wait for it", WATCH_CHANGES_MAX);
    else if (!*has && w->dropped)
        s = FAIL(err, E_NOT_FOUND, "the relation was dropped");
    pthread_mutex_unlock(&w->l->lock);
    return s;
}

void live_watch_wake(LiveWatch *w)
{
    pthread_mutex_lock(&w->l->lock);
    w->woken = 1;
    pthread_cond_signal(&w->heard);
    pthread_mutex_unlock(&w->l->lock);
}

void live_watch_end(LiveWatch *w)
{
    pthread_mutex_lock(&w->l->lock);
    LiveWatch **at = &w->l->watches;
    while (*at && *at != w)
        at = &(*at)->next;
    if (*at)
        *at = w->next;
    while (w->chunks.n)
        drop_first(w);
    pthread_mutex_unlock(&w->l->lock);
    pthread_cond_destroy(&w->heard);
    free(w->chunks.p);
    free(w);
}

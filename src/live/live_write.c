/* SPDX-License-Identifier: Apache-2.0 */
/* live_write.c - staging, and who gets into which tick.
 *
 * Writers stage on their own connections, in parallel; then they queue.  Whoever finds nobody leading leads: it takes the whole queue into one tick, wakes the others with
 * their outcome, and leads on while more came.  When a tick of several writers fails, each is tried alone, so that one's bad rows are its own matter. */
#include "live/live_int.h"

#include <stdlib.h>

struct LiveExclusive { Live *l; int committed; };

/* ---- staging --------------------------------------------------------------------------------------------------------------- */

static Str new_stage(Live *l, Arena *a)
{
    pthread_mutex_lock(&l->lock);
    int64_t n = ++l->stages;
    pthread_mutex_unlock(&l->lock);
    return str_fmt(a, "stage.w%lld", (long long)n);
}

static Status columns_of(Live *l, Arena *a, int64_t id, LiveColumns *ret, Error *err)
{
    Status s = OK;

    pthread_mutex_lock(&l->lock);
    const Relation *r = live_find(l, id);
    if (!r || r->view)
        s = FAIL(err, E_NOT_FOUND, "table %lld does not exist", (long long)id);
    for (size_t i = 0; s == OK && i < r->cols.n; i++) {
        LiveColumn c = { .engine = str_dup(a, r->cols.p[i].engine), .not_null = r->cols.p[i].not_null };
        vec_push(a, ret, c);
    }
    pthread_mutex_unlock(&l->lock);
    return s;
}

Status live_stage_inserts(Live *l, Arena *a, DuckConn *conn, int64_t id, Str sql, LiveWrite *ret, Error *err)
{
    LiveColumns cols = {0};
    bool has;

    *ret = (LiveWrite){ .relation = id, .stage = new_stage(l, a) };
    TRY(columns_of(l, a, id, &cols, err));
    Str make = str_fmt(a, "CREATE TABLE " STR_FMT " AS SELECT * FROM (" STR_FMT ") q(" STR_FMT ")", STR_ARG(ret->stage), STR_ARG(sql), STR_ARG(live_columns_sql(a, &cols, "")));
    return duck_scalar_i64(conn, make, &ret->rows, &has, err);      /* it answers with the number of rows */
}

Status live_stage_values(Live *l, Arena *a, DuckConn *conn, int64_t id, Str sql, LiveWrite *ret, Error *err)
{
    LiveColumns cols = {0};
    bool fit;

    *ret = (LiveWrite){ .relation = id };
    TRY(columns_of(l, a, id, &cols, err));
    TRY(stage_text(a, conn, sql, live_columns_sql(a, &cols, ""), ret, &fit, err));
    return fit ? OK : live_stage_inserts(l, a, conn, id, sql, ret, err);
}

Status live_stage_changes(Live *l, Arena *a, DuckConn *conn, int64_t id, Str rids_sql, Str new_sql, LiveWrite *ret, Error *err)
{
    LiveColumns cols = {0};
    StrBuf b = sb_new(a), nulls = sb_new(a);
    bool has;

    *ret = (LiveWrite){ .relation = id, .stage = new_stage(l, a), .deletes = 1 };
    TRY(columns_of(l, a, id, &cols, err));
    Str names = live_columns_sql(a, &cols, "");
    for (size_t i = 0; i < cols.n; i++)
        sb_addc(&nulls, "NULL, ");
    if (!new_sql.n)
        new_sql = str_fmt(a, "SELECT " STR_FMT " FROM " STR_FMT " WHERE false", STR_ARG(names), STR_ARG(live_table(a, id)));
    sb_fmt(&b, "CREATE TABLE " STR_FMT " AS SELECT " STR_FMT ", CAST(NULL AS BIGINT) AS __rid FROM (" STR_FMT ") q(" STR_FMT ") UNION ALL SELECT " STR_FMT "r.__rid FROM (SELECT DISTINCT __rid FROM (" STR_FMT ") d) r",
           STR_ARG(ret->stage), STR_ARG(names), STR_ARG(new_sql), STR_ARG(names), STR_ARG(sb_str(&nulls)), STR_ARG(rids_sql));
    TRY(duck_exec(conn, sb_str(&b), err));
    return duck_scalar_i64(conn, str_fmt(a, "SELECT count(__rid) FROM " STR_FMT, STR_ARG(ret->stage)), &ret->rows, &has, err);
}

void live_unstage(Live *l, const LiveWrite *w)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(duck_disconnectp) DuckConn *c = NULL;
    Error ignored;

    if (!w->as_text && duck_connect(l->engine, &c, &ignored) == OK)
        (void)!duck_exec(c, str_fmt(a, "DROP TABLE IF EXISTS " STR_FMT, STR_ARG(w->stage)), &ignored);
}

/* ---- the queue ------------------------------------------------------------------------------------------------------------------ */

static void set_outcome(Live *l, Waiter *w, Status s, int64_t t, const Error *err)
{
    pthread_mutex_lock(&l->lock);
    w->status = s;
    w->t = t;
    if (s != OK)
        w->err = *err;
    w->done = 1;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void run_alone(Live *l, Waiter *w)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Tick t = { .l = l, .a = a, .waiters = w, .only = 1 };
    Error err = {0};

    Status s = tick_run(&t, &err);
    set_outcome(l, w, s, t.t, &err);
}

/* The queue as a list of its own. A waiter's memory is its thread's: it is not touched after its outcome is set. */
static void run_queue(Live *l, Waiter *queue, const Waiter *extra, Tick *t, Status *s, Error *err)
{
    const Tick alone = { .l = l, .a = t->a, .extra = extra ? extra->writes : NULL, .nextra = extra ? extra->n : 0, .extra_notes = extra ? extra->notes : NULL, .nextra_notes = extra ? extra->nnotes : 0 };
    *t = alone;
    t->waiters = queue;
    *s = tick_run(t, err);
    if (*s != OK && (extra ? queue != NULL : queue && queue->next)) {
        if (extra) {
            *t = alone;
            *s = tick_run(t, err);
        }
        for (Waiter *w = queue, *next; w; w = next) {
            next = w->next;
            run_alone(l, w);
        }
        return;
    }
    for (Waiter *w = queue, *next; w; w = next) {
        next = w->next;
        set_outcome(l, w, *s, t->t, err);
    }
}

static Waiter *take_queue(Live *l)
{
    pthread_mutex_lock(&l->lock);
    Waiter *q = l->queue;
    l->queue = NULL;
    pthread_mutex_unlock(&l->lock);
    return q;
}

static void lead_queue(Live *l)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Waiter *q = take_queue(l);
    Tick t = { .a = a };
    Error err = {0};
    Status s;

    if (q)
        run_queue(l, q, NULL, &t, &s, &err);
}

static void enqueue(Live *l, Waiter *w)
{
    Waiter **at = &l->queue;
    while (*at)
        at = &(*at)->next;
    *at = w;
}

static void count_writes(Live *l, const LiveWrite *w, size_t n)
{
    pthread_mutex_lock(&l->lock);
    l->counts.writes++;
    for (size_t i = 0; i < n; i++)
        l->counts.rows += w[i].rows;
    pthread_mutex_unlock(&l->lock);
}

Status live_commit(Live *l, const LiveWrite *w, size_t n, int64_t *t, Error *err) { return live_commit_noted(l, w, n, NULL, 0, t, err); }

Status live_commit_noted(Live *l, const LiveWrite *w, size_t n, const LiveNote *notes, size_t nnotes, int64_t *t, Error *err)
{
    Waiter me = { .writes = w, .n = n, .notes = notes, .nnotes = nnotes };

    pthread_mutex_lock(&l->lock);
    enqueue(l, &me);
    while (!me.done) {
        if (l->leading) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        l->leading = 1;
        pthread_mutex_unlock(&l->lock);
        lead_queue(l);
        pthread_mutex_lock(&l->lock);
        l->leading = 0;
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    *t = me.t;
    if (me.status == OK)
        count_writes(l, w, n);
    else
        *err = me.err;
    return me.status;
}

/* ---- read, then write --------------------------------------------------------------------------------------------------------------- */

Status live_exclusive(Live *l, LiveExclusive **ret, Error *err)
{
    LiveExclusive *x = calloc(1, sizeof *x);

    if (!x)
        return FAIL(err, E_LIMIT, "out of memory");
    x->l = l;
    live_lead(l);
    *ret = x;
    return OK;
}

Status live_exclusive_commit(LiveExclusive *x, const LiveWrite *w, size_t n, int64_t *t, Error *err) { return live_exclusive_commit_noted(x, w, n, NULL, 0, t, err); }

Status live_exclusive_commit_noted(LiveExclusive *x, const LiveWrite *w, size_t n, const LiveNote *notes, size_t nnotes, int64_t *t, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Waiter me = { .writes = w, .n = n, .notes = notes, .nnotes = nnotes };
    Tick tick = { .a = a };
    Status s;

    run_queue(x->l, take_queue(x->l), &me, &tick, &s, err);      /* those who wait ride along */
    *t = tick.t;
    if (s == OK)
        count_writes(x->l, w, n);
    return s;
}

void live_exclusive_end(LiveExclusive *x)
{
    live_unlead(x->l);
    free(x);
}

void live_exclusive_endp(LiveExclusive **x)
{
    if (*x)
        live_exclusive_end(*x);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* live_tick.c - one tick: all of it or none.
 *
 * First what each table's writes come to, then each view behind those that it reads, then everything is applied, logged and
 * committed.  Until it is applied live.r<id> is the old state, so old and new need no copies: new is old without `del`, and `ins`.
 * Invariant: a view that fails is left out of another attempt, together with those that read it; the writes do not fail for it. */
#include "live/live_int.h"

static bool is_skipped(const Tick *t, const Relation *r)
{
    for (size_t i = 0; i < t->skipped.n; i++)
        if (t->skipped.p[i] == r)
            return true;
    return false;
}

/* ---- writes of tables ------------------------------------------------------------------------------------------------------ */

typedef struct Writes { StrVec ins, del; struct { const LiveWrite **p; size_t n, cap; } few; } Writes;

static void gather_one(Tick *t, const LiveWrite *w, int64_t id, Writes *ret)
{
    if (w->relation != id)
        return;
    const Relation *r = live_find(t->l, id);
    Str part = str_fmt(t->a, "SELECT " STR_FMT " FROM " STR_FMT "%s", STR_ARG(live_columns_sql(t->a, &r->cols, "")), STR_ARG(w->stage), w->deletes ? " WHERE __rid IS NULL" : "");
    vec_push(t->a, &ret->ins, part);
    t->rows += w->rows;
    if (w->cells && w->ncells == (size_t)w->rows * r->cols.n)          /* it may have got a column meanwhile */
        vec_push(t->a, &ret->few, w);
    if (w->deletes) {
        part = str_fmt(t->a, "SELECT __rid AS rid FROM " STR_FMT " WHERE __rid IS NOT NULL", STR_ARG(w->stage));
        vec_push(t->a, &ret->del, part);
    }
}

static void each_write(Tick *t, int64_t id, Writes *ret)
{
    for (size_t i = 0; i < t->nextra; i++)
        gather_one(t, &t->extra[i], id, ret);
    for (const Waiter *w = t->waiters; w; w = t->only ? NULL : w->next)
        for (size_t i = 0; i < w->n; i++)
            gather_one(t, &w->writes[i], id, ret);
}

/* chg of a table without deletes is what comes; else rows that go and come again cancel out. */
static Status table_change(Tick *t, Delta *d, Error *err)
{
    long long id = (long long)d->rel->id;

    if (!tick_heard(t, d->rel))
        return OK;
    Str cols = live_columns_sql(t->a, &d->rel->cols, "");

    if (!d->has_deletes) {
        d->chg = str_fmt(t->a, "c%lld", id);
        return tick_temp_view(t, d->chg, str_fmt(t->a, "SELECT " STR_FMT ", CAST(1 AS BIGINT) AS __w FROM " STR_FMT, STR_ARG(cols), STR_ARG(d->ins)), err);
    }
    return tick_difference(t, d, str_fmt(t->a, "cd%lld", id), err);
}

static Status table_delta(Tick *t, Relation *r, Error *err)
{
    Writes w = {0};
    Delta d = { .rel = r, .rows = -1 };

    each_write(t, r->id, &w);
    if (!w.ins.n)
        return OK;
    r->changed = t->t;
    d.has_deletes = w.del.n > 0;
    d.unit = !d.has_deletes;
    d.ins = str_fmt(t->a, "i%lld", (long long)r->id);
    TRY(tick_temp_view(t, d.ins, str_join(t->a, &w.ins, S(" UNION ALL ")), err));
    if (d.has_deletes) {
        d.del = str_fmt(t->a, "x%lld", (long long)r->id);
        TRY(tick_temp_view(t, d.del, str_join(t->a, &w.del, S(" UNION ")), err));
    }
    TRY(table_change(t, &d, err));
    for (size_t i = 0; w.few.n == w.ins.n && i < w.few.n; i++)
        vec_push(t->a, &d.few, w.few.p[i]);
    vec_push(t->a, &t->deltas, d);
    return OK;
}

/* ---- applying --------------------------------------------------------------------------------------------------------------- */

Status tick_delete(Tick *t, const Delta *d, Error *err)
{
    return d->del.n ? live_exec(t->l, str_fmt(t->a, "DELETE FROM " STR_FMT " WHERE rowid IN (SELECT rid FROM " STR_FMT ")", STR_ARG(live_table(t->a, d->rel->id)), STR_ARG(d->del)), err) : OK;
}

static Status apply(Tick *t, const Delta *d, Error *err)
{
    Str table = live_table(t->a, d->rel->id);

    if (d->rel == t->replace)
        TRY(live_exec(t->l, str_fmt(t->a, "DROP TABLE " STR_FMT "; " STR_FMT, STR_ARG(table), STR_ARG(t->replaced)), err));
    else
        TRY(tick_delete(t, d, err));
    if (d->few.n)
        return rows_append(t, d, err);
    return d->ins.n ? live_exec(t->l, str_fmt(t->a, "INSERT INTO " STR_FMT " SELECT * FROM " STR_FMT, STR_ARG(table), STR_ARG(d->ins)), err) : OK;
}

/* The clock's end moves rarely; between, a tick writes nothing for it. */
static Status move_clock(Tick *t, int64_t *end, Error *err)
{
    *end = t->l->clock_end;
    if (t->t < t->l->clock_end)
        return OK;
    *end = t->t + CLOCK_RESERVE_MS;
    return live_exec(t->l, str_fmt(t->a, "DELETE FROM live.clock; INSERT INTO live.clock VALUES (%lld)", (long long)*end), err);
}

static bool fails_alone(Status s)
{
    return s == E_OVERFLOW || s == E_DIVISION || s == E_INVALID || s == E_LIMIT || s == E_INTERNAL || s == E_UNSUPPORTED || s == E_SYNTAX;
}

/* At start, while those that would hear of a change are not there yet, what a view needs is made without the others. */
static bool is_made_alone(const Tick *t) { return t->fill && (live_is_inner(t->fill->id) || t->fill == t->replace); }

static Status each_view(Tick *t, Relation **failed, Error *err)
{
    for (size_t i = 0; !is_made_alone(t) && i < t->l->order.n; i++) {
        Relation *r = t->l->order.p[i];
        if (is_skipped(t, r))
            continue;
        *failed = r;
        TRY(tick_view(t, r, err));
    }
    *failed = t->fill;
    if (t->fill)
        TRY(tick_view(t, t->fill, err));
    *failed = NULL;
    return OK;
}

static Status inside(Tick *t, Relation **failed, Error *err)
{
    for (size_t i = 0; i < t->l->rels.n; i++)
        if (!t->l->rels.p[i]->view)
            TRY(table_delta(t, t->l->rels.p[i], err));
    TRY(each_view(t, failed, err));
    for (size_t i = 0; i < t->deltas.n; i++)
        TRY(apply(t, &t->deltas.p[i], err));
    TRY(log_append(t, err));
    TRY(notes_write(t, err));
    return watch_collect(t, err);
}

static Status attempt(Tick *t, Relation **failed, Error *err)
{
    Error ignored;
    int64_t end;

    t->deltas.n = 0;
    t->rows = 0;
    TRY(live_exec(t->l, S("BEGIN TRANSACTION"), err));
    Status s = inside(t, failed, err);
    if (s == OK)
        s = move_clock(t, &end, err);
    if (s == OK)
        s = live_exec(t->l, S("COMMIT"), err);
    if (s != OK) {
        for (size_t i = 0; i < t->deltas.n; i++)
            chunk_release(t->deltas.p[i].chunk);
        (void)!live_exec(t->l, S("ROLLBACK"), &ignored);
        tick_forget_views(t->l);
        return s;
    }
    t->l->clock_end = end;
    return OK;
}

/* ---- views that fail ----------------------------------------------------------------------------------------------------------- */

static void skip(Tick *t, Relation *r)
{
    if (!is_skipped(t, r))
        vec_push(t->a, &t->skipped, r);
}

/* A view that reads one that is left out is left out with it. */
static void skip_readers(Tick *t)
{
    for (size_t i = 0; i < t->l->order.n; i++) {
        Relation *r = t->l->order.p[i];
        for (size_t k = 0; k < r->sources.n; k++) {
            const Relation *s = live_find(t->l, r->sources.p[k]);
            if (s && is_skipped(t, s))
                skip(t, r);
        }
    }
}

/* A delta plan may fail where the query does not: the engine refuses it, or an expression meets a row that a filter of the query would have kept from it.
 * Such a view is computed anew, from now on or just this time. */
static bool try_whole(const Tick *t, Relation *r, Status s, const Error *why)
{
    if (r == t->fill || r == t->refresh || r == t->replace || r->error || r->whole || ivm_shape(r->view) == IVM_FULL_ONLY)
        return false;
    r->whole = s == E_DIVISION || s == E_OVERFLOW || strcmp(why->sqlstate, CONTRADICTION) == 0 ? WHOLE_ONCE : WHOLE_ALWAYS;
    log_event(LOG_WARN, "a view's delta plan failed: the view is computed anew", "view", str_fmt(t->a, "%lld", (long long)r->id).p, "error", why->message, NULL);
    return true;
}

static void settle_times(Tick *t)
{
    for (size_t i = 0; i < t->l->rels.n; i++) {
        Relation *r = t->l->rels.p[i];
        if (!r->view)
            continue;
        if (r->whole == WHOLE_ONCE || is_skipped(t, r))
            r->whole = WHOLE_NO;
        if (r->time_next == t->t && !is_skipped(t, r))
            r->time = t->t;
    }
    if (t->fill)
        t->fill->time = t->t;
}

/* Errors of views after a tick: those that failed have one, those that were made anew have none any more. */
static void settle(Tick *t, const Error *why)
{
    for (size_t i = 0; i < t->skipped.n; i++)
        if (!t->skipped.p[i]->error || t->skipped.p[i] == t->refresh)
            relation_error(t->l, t->skipped.p[i], why);
    for (size_t i = 0; i < t->deltas.n; i++)
        if (t->deltas.p[i].rel->error)
            relation_error(t->l, t->deltas.p[i].rel, NULL);
}

static void count(Tick *t, int64_t us)
{
    pthread_mutex_lock(&t->l->lock);
    t->l->now = t->t;
    t->l->counts.ticks++;
    t->l->counts.us += us;
    pthread_mutex_unlock(&t->l->lock);
}

static void drop_stage(Tick *t, const LiveWrite *w)
{
    Error ignored;

    if (!w->as_text)
        (void)!live_exec(t->l, str_fmt(t->a, "DROP TABLE IF EXISTS " STR_FMT, STR_ARG(w->stage)), &ignored);
}

static void drop_stages(Tick *t)
{
    for (size_t i = 0; i < t->nextra; i++)
        drop_stage(t, &t->extra[i]);
    for (const Waiter *w = t->waiters; w; w = t->only ? NULL : w->next)
        for (size_t i = 0; i < w->n; i++)
            drop_stage(t, &w->writes[i]);
}

Status tick_run(Tick *t, Error *err)
{
    int64_t begun = clock_mono_us();
    Error why = {0};
    Relation *failed = NULL;

    t->t = max_i64(clock_ms(), t->l->now + 1);
    live_order(t->l);
    Status s = attempt(t, &failed, err);
    while (s != OK && failed && failed != t->fill && failed != t->replace && fails_alone(s)) {
        if (!try_whole(t, failed, s, err)) {
            if (!why.message[0])
                why = *err;
            skip(t, failed);
            skip_readers(t);
        }
        s = attempt(t, &failed, err);
    }
    TRY(s);
    settle(t, &why);
    settle_times(t);
    notes_settle(t);
    count(t, clock_mono_us() - begun);
    watch_publish(t);
    drop_stages(t);
    statuses_flush(t->l);
    return OK;
}

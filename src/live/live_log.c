/* SPDX-License-Identifier: Apache-2.0 */
/* live_log.c - changes kept on disk for readers that come back.
 *
 * live.log<id> holds __t, __w and the visible columns; live.readers says who has read up to where.  What everyone has read is removed; when nobody reads the log it goes.
 * Appending is part of the tick, so a log has all of a tick or none. */
#include "live/live_int.h"

#include <stdio.h>
#include <stdlib.h>

static Status append(Tick *t, const Delta *d, Error *err)
{
    return live_exec(t->l, str_fmt(t->a, "INSERT INTO " STR_FMT " SELECT CAST(%lld AS BIGINT), __w, " STR_FMT " FROM " STR_FMT, STR_ARG(live_log_table(t->a, d->rel->id)), (long long)t->t,
                                   STR_ARG(live_columns_sql(t->a, &d->rel->cols, "")), STR_ARG(d->chg)), err);
}

/* A tick that is rolled back leaves a time that is too late: who looks finds nothing. */
static void mark(Tick *t, Relation *r)
{
    pthread_mutex_lock(&t->l->lock);
    for (size_t i = 0; i < r->readers.n; i++)
        r->readers.p[i].last = t->t;
    pthread_mutex_unlock(&t->l->lock);
}

Status log_append(Tick *t, Error *err)
{
    for (size_t i = 0; i < t->deltas.n; i++) {
        if (!t->deltas.p[i].rel->readers.n || t->deltas.p[i].rows == 0)
            continue;
        TRY(append(t, &t->deltas.p[i], err));
        mark(t, t->deltas.p[i].rel);
    }
    return OK;
}

static Status add_reader(Relation *r, Str name, int64_t done, int64_t last, Error *err)
{
    LogReader reader = { .done = done, .last = last };

    if (name.n >= sizeof reader.name)
        return FAIL(err, E_LIMIT, "the name of a log's reader is longer than %zu bytes", sizeof reader.name - 1);
    snprintf(reader.name, sizeof reader.name, STR_FMT, STR_ARG(name));
    if (r->readers.n == r->readers.cap) {
        size_t cap = r->readers.cap ? r->readers.cap * 2 : 4;
        LogReader *p = realloc(r->readers.p, cap * sizeof *p);
        if (!p)
            return FAIL(err, E_LIMIT, "out of memory");
        r->readers.p = p;
        r->readers.cap = cap;
    }
    r->readers.p[r->readers.n++] = reader;
    return OK;
}

/* Others than the leader look at readers under the lock. */
static Status keep_reader(Live *l, Relation *r, Str name, int64_t done, int64_t last, Error *err)
{
    pthread_mutex_lock(&l->lock);
    Status s = add_reader(r, name, done, last, err);
    pthread_mutex_unlock(&l->lock);
    return s;
}

static LogReader *reader_of(Relation *r, Str name)
{
    for (size_t i = 0; r && i < r->readers.n; i++)
        if (str_eq(name, str_c(r->readers.p[i].name)))
            return &r->readers.p[i];
    return NULL;
}

/* At start. */
Status log_open(Live *l, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    size_t n;

    TRY(duck_query_held(l->conn, S("SELECT id, reader, done FROM live.readers"), &r, err));
    do {
        TRY(duck_next(r, &n, err));
        for (size_t i = 0; i < n; i++) {
            Relation *rel = live_find(l, duck_value(a, r, 0, i).integer);
            if (rel)
                TRY(keep_reader(l, rel, duck_value(a, r, 1, i).string, duck_value(a, r, 2, i).integer, INT64_MAX, err));      /* not known: it is looked for */
        }
    } while (n);
    return OK;
}

static Str reader_row(Arena *a, int64_t id, Str reader) { return str_fmt(a, "id = %lld AND reader = " STR_FMT, (long long)id, STR_ARG(sql_lit_str(a, reader))); }

static Status begin(Live *l, Arena *a, int64_t id, Str reader, int64_t *from, Error *err)
{
    Relation *r = live_find(l, id);
    StrBuf b = sb_new(a);
    LogReader *known = reader_of(r, reader);

    if (!r)
        return FAIL(err, E_NOT_FOUND, "relation %lld does not exist", (long long)id);
    *from = known ? known->done : l->now;
    if (known)
        return OK;
    sb_fmt(&b, "CREATE TABLE IF NOT EXISTS " STR_FMT " AS SELECT CAST(0 AS BIGINT) AS __t, CAST(0 AS BIGINT) AS __w, " STR_FMT " FROM " STR_FMT " WHERE false", STR_ARG(live_log_table(a, id)),
           STR_ARG(live_columns_sql(a, &r->cols, "")), STR_ARG(live_table(a, id)));
    sb_fmt(&b, "; INSERT INTO live.readers VALUES (%lld, " STR_FMT ", %lld)", (long long)id, STR_ARG(sql_lit_str(a, reader)), (long long)*from);
    if (l->now > l->clock_end)                        /* idle time is not written ahead; after a crash no change may have a time that was passed by */
        sb_fmt(&b, "; DELETE FROM live.clock; INSERT INTO live.clock VALUES (%lld)", (long long)l->now);
    TRY(live_together(l, sb_str(&b), err));
    l->clock_end = max_i64(l->clock_end, l->now);
    return keep_reader(l, r, reader, *from, *from, err);
}

Status live_log_begin(Live *l, int64_t id, Str reader, int64_t *from, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    live_lead(l);
    Status s = begin(l, a, id, reader, from, err);
    live_unlead(l);
    return s;
}

Status live_log_sql(Live *l, Arena *a, int64_t id, int64_t from, int64_t to, Str *ret, Error *err)
{
    pthread_mutex_lock(&l->lock);
    Relation *r = live_find(l, id);
    bool kept = r && r->readers.n;
    pthread_mutex_unlock(&l->lock);
    if (!kept)
        return FAIL(err, E_NOT_FOUND, "the changes of relation %lld are not kept", (long long)id);
    *ret = str_fmt(a, "(SELECT * FROM " STR_FMT " WHERE __t > %lld AND __t <= %lld)", STR_ARG(live_log_table(a, id)), (long long)from, (long long)to);
    return OK;
}

int64_t live_log_last(Live *l, int64_t id)
{
    pthread_mutex_lock(&l->lock);
    const Relation *r = live_find(l, id);
    int64_t last = r && r->readers.n ? r->readers.p[0].last : INT64_MAX;
    pthread_mutex_unlock(&l->lock);
    return last;
}

void live_log_readers(Live *l, Arena *a, LiveLogReaders *ret)
{
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->rels.n; i++)
        for (size_t k = 0; k < l->rels.p[i]->readers.n; k++)
            vec_push(a, ret, ((LiveLogReader){ .relation = l->rels.p[i]->id, .reader = str_dup(a, str_c(l->rels.p[i]->readers.p[k].name)) }));
    pthread_mutex_unlock(&l->lock);
}

static int64_t least_done(const Relation *r)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < r->readers.n; i++)
        least = min_i64(least, r->readers.p[i].done);
    return least;
}

static Status done(Live *l, Arena *a, int64_t id, Str reader, int64_t upto, Error *err)
{
    Relation *r = live_find(l, id);
    LogReader *me = reader_of(r, reader);

    if (!me)
        return FAIL(err, E_NOT_FOUND, "nobody called '" STR_FMT "' reads the changes of relation %lld", STR_ARG(reader), (long long)id);
    if (upto <= me->done)
        return OK;
    int64_t before = me->done;
    me->done = upto;
    Status s = live_together(l, str_fmt(a, "UPDATE live.readers SET done = %lld WHERE " STR_FMT "; DELETE FROM " STR_FMT " WHERE __t <= %lld", (long long)upto, STR_ARG(reader_row(a, id, reader)),
                                   STR_ARG(live_log_table(a, id)), (long long)least_done(r)), err);
    if (s != OK)
        me->done = before;
    return s;
}

Status live_log_done(Live *l, int64_t id, Str reader, int64_t upto, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    live_lead(l);
    Status s = done(l, a, id, reader, upto, err);
    live_unlead(l);
    return s;
}

static Status end(Live *l, Arena *a, int64_t id, Str reader, Error *err)
{
    Relation *r = live_find(l, id);
    LogReader *me = reader_of(r, reader);
    StrBuf b = sb_new(a);

    if (!me)
        return OK;
    sb_fmt(&b, "DELETE FROM live.readers WHERE " STR_FMT, STR_ARG(reader_row(a, id, reader)));
    if (r->readers.n == 1)
        sb_fmt(&b, "; DROP TABLE IF EXISTS " STR_FMT, STR_ARG(live_log_table(a, id)));
    TRY(live_together(l, sb_str(&b), err));
    pthread_mutex_lock(&l->lock);
    *me = r->readers.p[--r->readers.n];
    pthread_mutex_unlock(&l->lock);
    return OK;
}

Status live_log_end(Live *l, int64_t id, Str reader, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    live_lead(l);
    Status s = end(l, a, id, reader, err);
    live_unlead(l);
    return s;
}

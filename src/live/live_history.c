/* SPDX-License-Identifier: Apache-2.0 */
/* live_history.c - states of the past: a relation's rows as of a time are those of now without what has changed since.
 *
 * The changes are those of its log, kept by a reader of our own (RETAIN HISTORY), or for as long as a sink needs them.  Without a log the state is known since the last change. */
#include "live/live_int.h"

static const char *const READER = "history";

static LogReader *history_of(Relation *r)
{
    for (size_t i = 0; r && i < r->readers.n; i++)
        if (str_eq(str_c(r->readers.p[i].name), str_c(READER)))
            return &r->readers.p[i];
    return NULL;
}

Status live_retain(Live *l, int64_t id, int64_t ms, Error *err)
{
    int64_t from;
    return ms > 0 ? live_log_begin(l, id, str_c(READER), &from, err) : live_log_end(l, id, str_c(READER), err);
}

Status live_retain_prune(Live *l, int64_t id, int64_t ms, Error *err)
{
    int64_t upto = live_advance(l) - ms;

    pthread_mutex_lock(&l->lock);
    const LogReader *mine = history_of(live_find(l, id));
    bool due = mine && mine->done < upto && mine->last > mine->done;            /* nothing has changed: nothing to forget */
    pthread_mutex_unlock(&l->lock);
    return due ? live_log_done(l, id, str_c(READER), upto, err) : OK;
}

/* Without a log, what it is now it has been since it last changed. */
static int64_t oldest_of(const Live *l, const Relation *r)
{
    int64_t oldest = r ? r->changed : l->now;
    for (size_t i = 0; r && i < r->readers.n; i++)
        oldest = min_i64(oldest, r->readers.p[i].done);
    return oldest;
}

int64_t live_oldest(Live *l, int64_t id)
{
    pthread_mutex_lock(&l->lock);
    int64_t oldest = oldest_of(l, live_find(l, id));
    pthread_mutex_unlock(&l->lock);
    return oldest;
}

static Str without_later(Arena *a, const Relation *r, int64_t t)
{
    Str cols = live_columns_sql(a, &r->cols, "");
    return str_fmt(a, "(SELECT " STR_FMT " FROM (SELECT " STR_FMT ", CAST(sum(__w) AS BIGINT) AS __n FROM (SELECT " STR_FMT ", 1 AS __w FROM " STR_FMT " UNION ALL SELECT " STR_FMT ", -__w FROM " STR_FMT
                      " WHERE __t > %lld) __c GROUP BY ALL HAVING sum(__w) > 0) __s, range(__s.__n) __k(__i))",
                   STR_ARG(cols), STR_ARG(cols), STR_ARG(cols), STR_ARG(live_table(a, r->id)), STR_ARG(cols), STR_ARG(live_log_table(a, r->id)), (long long)t);
}

static Status state_sql(Live *l, Arena *a, int64_t id, int64_t t, Str *ret, Error *err)
{
    const Relation *r = live_find(l, id);

    if (!r)
        return FAIL(err, E_NOT_FOUND, "relation %lld does not exist", (long long)id);
    if (r->error) {
        *err = *r->error;
        return err->code;
    }
    if (t < oldest_of(l, r)) {
        RAISE(err, E_INVALID, "Timestamp (%lld) is not valid for all inputs: [Antichain { elements: [%lld] }]", (long long)t, (long long)oldest_of(l, r));
        memcpy(err->sqlstate, "22000", 6);
        return E_INVALID;
    }
    *ret = t >= r->changed ? str_fmt(a, "(SELECT " STR_FMT " FROM " STR_FMT ")", STR_ARG(live_columns_sql(a, &r->cols, "")), STR_ARG(live_table(a, id))) : without_later(a, r, t);
    return OK;
}

Status live_state_sql(Live *l, Arena *a, int64_t id, int64_t t, Str *ret, Error *err)
{
    pthread_mutex_lock(&l->lock);
    Status s = state_sql(l, a, id, t, ret, err);
    pthread_mutex_unlock(&l->lock);
    return s;
}

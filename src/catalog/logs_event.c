/* SPDX-License-Identifier: Apache-2.0 */
/* logs_event.c - events in and out, retention, and notices.
 *
 * A position in a stream or group is (time, id): time as the writer said, id as the events came.  Reading goes by the index of the one
 * stream that is asked for, else by the group's, leaving out streams that were not asked for. */
#include "catalog/logs_int.h"

/* ---- in -------------------------------------------------------------------------------------------------------------------- */

static Status event_insert(Db *db, int64_t group_id, int64_t stream_id, const LogEvent *e, int64_t now, Error *err)
{
    QUERY(q, db, "INSERT INTO log_event(group_id, stream_id, time_ms, ingested_ms, message) VALUES(?, ?, ?, ?, ?)", err);
    cq_int(&q, group_id);
    cq_int(&q, stream_id);
    cq_int(&q, e->time_ms);
    cq_int(&q, now);
    cq_text(&q, str_sub(e->message, 0, LOGS_EVENT_BYTES));
    return cq_run(&q);
}

static Status stream_grew(Db *db, int64_t stream_id, int64_t first, int64_t last, int64_t now, Error *err)
{
    QUERY(q, db, "UPDATE log_stream SET first_ms = CASE WHEN last_ingestion_ms = 0 THEN ?1 ELSE min(first_ms, ?1) END,"
                 " last_ms = CASE WHEN last_ingestion_ms = 0 THEN ?2 ELSE max(last_ms, ?2) END, last_ingestion_ms = ?3 WHERE id = ?4", err);
    cq_int(&q, first);
    cq_int(&q, last);
    cq_int(&q, now);
    cq_int(&q, stream_id);
    return cq_run(&q);
}

static Status add_events(Db *db, int64_t group_id, int64_t stream_id, const LogEvents *events, Error *err)
{
    int64_t now = clock_ms(), first = INT64_MAX, last = INT64_MIN, bytes = 0;

    for vec_each(LogEvent, e, events) {
        TRY(event_insert(db, group_id, stream_id, e, now, err));
        first = min_i64(first, e->time_ms);
        last = max_i64(last, e->time_ms);
        bytes += (int64_t)min_size(e->message.n, LOGS_EVENT_BYTES) + LOGS_EVENT_OVERHEAD;
    }
    if (!events->n)
        return OK;
    TRY(stream_grew(db, stream_id, first, last, now, err));
    return logs_group_shrink(db, group_id, -bytes, err);
}

static Status check_batch(const LogEvents *events, Error *err)
{
    size_t bytes = 0;

    if (events->n > LOGS_BATCH_EVENTS)
        return FAIL(err, E_LIMIT, "a batch has %zu log events, the limit is %d", events->n, LOGS_BATCH_EVENTS);
    for vec_each(LogEvent, e, events) {
        if (e->message.n + LOGS_EVENT_OVERHEAD > LOGS_EVENT_BYTES)
            return FAIL(err, E_LIMIT, "Log event too large: %zu bytes exceeds limit of %d", e->message.n + LOGS_EVENT_OVERHEAD, LOGS_EVENT_BYTES);
        bytes += e->message.n + LOGS_EVENT_OVERHEAD;
    }
    return bytes <= LOGS_BATCH_BYTES ? OK : FAIL(err, E_LIMIT, "Upload too large: %zu bytes exceeds limit of %d", bytes, LOGS_BATCH_BYTES);
}

Status logs_put(Logs *l, Str group, Str stream, const LogEvents *events, Error *err)
{
    CLEANUP(logs_tx_endp) Logs *tx = NULL;
    int64_t group_id, stream_id;

    TRY(check_batch(events, err));
    TRY(logs_tx_begin(l, &tx, err));
    TRY(logs_group_id(&l->writer, group, &group_id, err));
    TRY(logs_stream_id(&l->writer, group_id, stream, &stream_id, err));
    TRY(add_events(&l->writer, group_id, stream_id, events, err));
    return logs_tx_commit(&tx, err);
}

static Status ensure(Db *db, Str group, int64_t retention_days, Str stream, int64_t *group_id, int64_t *stream_id, Error *err)
{
    LogGroup g = { .name = group, .retention_days = retention_days };
    Status s = logs_group_id(db, group, group_id, err);

    if (s == E_NOT_FOUND) {
        TRY(logs_group_insert(db, &g, err));
        s = logs_group_id(db, group, group_id, err);
    }
    TRY(s);
    s = logs_stream_id(db, *group_id, stream, stream_id, err);
    if (s == E_NOT_FOUND) {
        TRY(logs_stream_insert(db, *group_id, stream, err));
        s = logs_stream_id(db, *group_id, stream, stream_id, err);
    }
    return s;
}

Status logs_write_all(Logs *l, Str group, int64_t retention_days, Str stream, const LogEvents *events, Error *err)
{
    CLEANUP(logs_tx_endp) Logs *tx = NULL;
    int64_t group_id, stream_id;

    TRY(logs_tx_begin(l, &tx, err));
    TRY(ensure(&l->writer, group, retention_days, stream, &group_id, &stream_id, err));
    TRY(add_events(&l->writer, group_id, stream_id, events, err));
    return logs_tx_commit(&tx, err);
}

Status logs_write(Logs *l, Str group, Str stream, Str message, Error *err)
{
    LogEvent e = { .time_ms = clock_ms(), .message = message };
    LogEvents one = { .p = &e, .n = 1 };

    return logs_write_all(l, group, 0, stream, &one, err);
}

/* ---- out ------------------------------------------------------------------------------------------------------------------- */

#define EVENT_QUERY(by, cmp, order) "SELECT e.id, e.time_ms, e.ingested_ms, s.name, e.message FROM log_event e JOIN log_stream s ON s.id = e.stream_id" \
    " WHERE e." by " = ? AND (e.time_ms, e.id) " cmp " (?, ?) AND e.time_ms >= ? AND e.time_ms < ? ORDER BY e.time_ms " order ", e.id " order

static const char *const queries[2][2] = {
    { EVENT_QUERY("group_id", ">", "ASC"), EVENT_QUERY("group_id", "<", "DESC") },
    { EVENT_QUERY("stream_id", ">", "ASC"), EVENT_QUERY("stream_id", "<", "DESC") },
};

static bool wanted(const LogQuery *q, Str stream)
{
    if (q->streams.n && !strvec_has(&q->streams, stream))
        return false;
    return str_starts(stream, q->stream_prefix);
}

static void turn_around(LogEvents *v)
{
    for (size_t i = 0; i < v->n / 2; i++) {
        LogEvent t = v->p[i];
        v->p[i] = v->p[v->n - 1 - i];
        v->p[v->n - 1 - i] = t;
    }
}

/* A stream's name is looked at before the message is copied. */
static Status collect(Db *db, Arena *a, int by_stream, int64_t id, const LogQuery *q, LogEvents *ret, Error *err)
{
    QUERY(c, db, queries[by_stream][q->backward != 0], err);
    int none = !q->after_id;

    cq_int(&c, id);
    cq_int(&c, none ? (q->backward ? INT64_MAX : INT64_MIN) : q->after_time_ms);
    cq_int(&c, none ? (q->backward ? INT64_MAX : 0) : q->after_id);
    cq_int(&c, q->from_ms);
    cq_int(&c, q->to_ms ? q->to_ms : INT64_MAX);
    while ((q->max <= 0 || ret->n < (size_t)q->max) && cq_next(&c)) {
        LogEvent e = {0};
        e.id = cq_i64(&c);
        e.time_ms = cq_i64(&c);
        e.ingested_ms = cq_i64(&c);
        e.stream = cq_str(&c, a);
        if (!wanted(q, e.stream))
            continue;
        e.message = cq_str(&c, a);
        vec_push(a, ret, e);
    }
    return cq_status(&c);
}

Status logs_read(Logs *l, Arena *a, const LogQuery *q, LogEvents *ret, Error *err)
{
    CLEANUP(logs_unlockp) pthread_mutex_t *lock UNUSED = logs_lock(&l->read_lock);
    int64_t group_id, stream_id = 0;
    int one = q->streams.n == 1;

    *ret = (LogEvents){0};
    TRY(logs_group_id(&l->reader, q->group, &group_id, err));
    if (one) {
        Status s = logs_stream_id(&l->reader, group_id, q->streams.p[0], &stream_id, err);
        if (s == E_NOT_FOUND)
            return OK;
        TRY(s);
    }
    TRY(collect(&l->reader, a, one, one ? stream_id : group_id, q, ret, err));
    if (q->backward)
        turn_around(ret);
    return OK;
}

/* ---- retention ---------------------------------------------------------------------------------------------------------- */

enum { EXPIRE_BATCH = 2000 };
static const int64_t DAY_MS = 86400000;

/* One batch, so that writers never wait long. *more: there may be others. */
static Status expire_some(Logs *l, int64_t group_id, int64_t before_ms, int *more, Error *err)
{
    CLEANUP(logs_tx_endp) Logs *tx = NULL;
    int64_t n = 0, bytes = 0;

    TRY(logs_tx_begin(l, &tx, err));
    {
        QUERY(q, &l->writer, "DELETE FROM log_event WHERE id IN (SELECT id FROM log_event WHERE group_id = ? AND time_ms < ? LIMIT ?) RETURNING length(CAST(message AS BLOB)) + 26", err);
        cq_int(&q, group_id);
        cq_int(&q, before_ms);
        cq_int(&q, EXPIRE_BATCH);
        while (cq_next(&q)) {
            bytes += cq_i64(&q);
            n++;
        }
        TRY(cq_status(&q));
    }
    TRY(logs_group_shrink(&l->writer, group_id, bytes, err));
    *more = n == EXPIRE_BATCH;
    return logs_tx_commit(&tx, err);
}

static Status expire_streams(Logs *l, int64_t group_id, int64_t before_ms, Error *err)
{
    CLEANUP(logs_tx_endp) Logs *tx = NULL;

    TRY(logs_tx_begin(l, &tx, err));
    {
        QUERY(q, &l->writer, "DELETE FROM log_stream WHERE group_id = ?1 AND created_ms < ?2 AND last_ingestion_ms < ?2"
                             " AND NOT EXISTS (SELECT 1 FROM log_event e WHERE e.stream_id = log_stream.id)", err);
        cq_int(&q, group_id);
        cq_int(&q, before_ms);
        TRY(cq_run(&q));
    }
    return logs_tx_commit(&tx, err);
}

static Status expire_group(Logs *l, const LogGroup *g, int64_t now_ms, Error *err)
{
    int64_t id, before_ms = now_ms - g->retention_days * DAY_MS;
    int more = 1;

    {
        CLEANUP(logs_unlockp) pthread_mutex_t *lock UNUSED = logs_lock(&l->read_lock);
        TRY(logs_group_id(&l->reader, g->name, &id, err));
    }
    while (more)
        TRY(expire_some(l, id, before_ms, &more, err));
    return expire_streams(l, id, before_ms, err);
}

Status logs_expire(Logs *l, int64_t now_ms, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    LogGroups groups;

    TRY(logs_group_list(l, a, (Str){0}, (Str){0}, 0, &groups, err));
    for vec_each(LogGroup, g, &groups) {
        Status s = g->retention_days > 0 ? expire_group(l, g, now_ms, err) : OK;
        if (s != OK && s != E_NOT_FOUND)              /* deleted meanwhile */
            return s;
    }
    return OK;
}

/* ---- notices ---------------------------------------------------------------------------------------------------------------- */

Status logs_notice(Logs *l, const Json *event, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(logs_tx_endp) Logs *tx = NULL;

    TRY(logs_tx_begin(l, &tx, err));
    {
        QUERY(q, &l->writer, "INSERT INTO notice(body) VALUES(?)", err);
        cq_json(&q, a, event);
        TRY(cq_run(&q));
    }
    {
        QUERY(q, &l->writer, "DELETE FROM notice WHERE sequence <= (SELECT max(sequence) FROM notice) - ?", err);
        cq_int(&q, LOGS_NOTICES_KEPT);
        TRY(cq_run(&q));
    }
    return logs_tx_commit(&tx, err);
}

Status logs_notices(Logs *l, Arena *a, int64_t after, int max, Json **ret, Error *err)
{
    CLEANUP(logs_unlockp) pthread_mutex_t *lock UNUSED = logs_lock(&l->read_lock);
    Json *list = json_array(a);

    QUERY(q, &l->reader, "SELECT sequence, body FROM notice WHERE sequence > ? ORDER BY sequence LIMIT ?", err);
    cq_int(&q, after);
    cq_int(&q, max > 0 ? max : -1);
    while (cq_next(&q)) {
        int64_t sequence = cq_i64(&q);
        Json *body = cq_doc(&q, a);
        if (!json_is(body, JSON_OBJECT))
            continue;
        json_set(a, body, "sequence", json_int(a, sequence));
        json_push(a, list, body);
    }
    *ret = list;
    return cq_status(&q);
}

Status logs_mark_get(Logs *l, Str name, int64_t *ret, Error *err)
{
    CLEANUP(logs_unlockp) pthread_mutex_t *lock UNUSED = logs_lock(&l->read_lock);
    QUERY(q, &l->reader, "SELECT value FROM mark WHERE name = ?", err);
    cq_text(&q, name);
    *ret = cq_next(&q) ? cq_i64(&q) : 0;
    return cq_status(&q);
}

Status logs_mark_set(Logs *l, Str name, int64_t value, Error *err)
{
    CLEANUP(logs_tx_endp) Logs *tx = NULL;

    TRY(logs_tx_begin(l, &tx, err));
    {
        QUERY(q, &l->writer, "INSERT INTO mark(name, value) VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET value = ?2", err);
        cq_text(&q, name);
        cq_int(&q, value);
        TRY(cq_run(&q));
    }
    return logs_tx_commit(&tx, err);
}

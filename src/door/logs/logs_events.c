/* SPDX-License-Identifier: Apache-2.0 */
/* logs_events.c - events put, got by position, and filtered.
 *
 * A GetLogEvents token is "f/" or "b/" and 56 digits: time and id of the event that the next page lies behind or before.  At an end the same token comes
 * again, as clients expect who poll.  FilterLogEvents reads in chunks and looks at a bounded number of events a call; when the bound is met
 * it answers what it has and a token, as the service does. */
#include "door/logs/logs_pattern.h"
#include "door/logs/logsdoor_int.h"

enum { TIME_DIGITS = 20, ID_DIGITS = 36, CHUNK_EVENTS = 1000, SCAN_EVENTS = 100000 };
static const int64_t HOUR_MS = 3600000, DAY_MS = 86400000;

/* ---- put ------------------------------------------------------------------------------------------------------------------ */

/* Events before `from` are too old or past retention, those after `to` too new. */
typedef struct Window { int64_t oldest, expired, newest; size_t from, to, nold, nexpired; } Window;

static Status order_and_window(const LogEvents *v, Window *w, Error *err)
{
    for (size_t i = 1; i < v->n; i++)
        if (v->p[i].time_ms < v->p[i - 1].time_ms)
            return LOGS_BAD(err, "Log events in a single PutLogEvents request must be in chronological order.");
    w->to = v->n;
    while (w->to > 0 && v->p[w->to - 1].time_ms > w->newest)
        w->to--;
    while (w->nold < w->to && v->p[w->nold].time_ms < w->oldest)
        w->nold++;
    while (w->nexpired < w->to && v->p[w->nexpired].time_ms < w->expired)
        w->nexpired++;
    w->from = w->nold > w->nexpired ? w->nold : w->nexpired;
    if (w->to > w->from && v->p[w->to - 1].time_ms - v->p[w->from].time_ms > DAY_MS)
        return LOGS_BAD(err, "The batch of log events in a single PutLogEvents request cannot span more than 24 hours.");
    return OK;
}

static void put_rejected(AwsCall *c, const Window *w, size_t n)
{
    Json *o = json_object(c->a);

    if (w->to < n)
        json_set(c->a, o, "tooNewLogEventStartIndex", json_int(c->a, (int64_t)w->to));
    if (w->nold)
        json_set(c->a, o, "tooOldLogEventEndIndex", json_int(c->a, (int64_t)w->nold));
    if (w->nexpired)
        json_set(c->a, o, "expiredLogEventEndIndex", json_int(c->a, (int64_t)w->nexpired));
    if (json_len(o))
        aws_put(c, "rejectedLogEventsInfo", o);
}

static void events_of(AwsCall *c, LogEvents *ret)
{
    const Json *in = aws_get(c, "logEvents");
    for (size_t i = 0; i < json_len(in); i++)
        vec_push(c->a, ret, ((LogEvent){ .time_ms = json_get_int(json_at(in, i), "timestamp", 0), .message = json_get_str(json_at(in, i), "message", (Str){0}) }));
}

HANDLER(logs_put_events)
{
    Str group, stream = aws_str(c, "logStreamName");
    int64_t now = clock_ms();
    Window w = { .oldest = now - 14 * DAY_MS, .newest = now + 2 * HOUR_MS };
    LogEvents all = {0};
    LogGroup g;

    TRY(logs_group_named(c, &group, err));
    TRY(logs_check_stream_name(stream, err));
    TRY(logs_allow(c, "logs:PutLogEvents", group, stream, err));
    LOGS_TRY(c, logs_group_get(logs_of(c), c->a, group, &g, err), err);
    w.expired = g.retention_days ? now - g.retention_days * DAY_MS : INT64_MIN;
    events_of(c, &all);
    TRY(order_and_window(&all, &w, err));
    LogEvents accepted = { .p = all.p + w.from, .n = w.to - w.from };
    LOGS_TRY(c, logs_put(logs_of(c), group, stream, &accepted, err), err);
    aws_put_str(c, "nextSequenceToken", str_fmt(c->a, "%056lld", (long long)now));
    put_rejected(c, &w, all.n);
    return OK;
}

/* ---- get ------------------------------------------------------------------------------------------------------------------ */

static Str token(AwsCall *c, char way, int64_t time_ms, int64_t id)
{
    return str_fmt(c->a, "%c/%0*lld%0*lld", way, TIME_DIGITS, (long long)time_ms, ID_DIGITS, (long long)id);
}

/* Zeros in front, then a number. */
static bool padded(Str s, int64_t *ret)
{
    while (s.n > 1 && s.p[0] == '0')
        s = str_from(s, 1);
    return str_to_i64(s, ret) && *ret >= 0;
}

static Status token_parse(Str t, LogQuery *q, Error *err)
{
    bool form = t.n == 2 + TIME_DIGITS + ID_DIGITS && (t.p[0] == 'f' || t.p[0] == 'b') && t.p[1] == '/';

    if (!form || !padded(str_sub(t, 2, 2 + TIME_DIGITS), &q->after_time_ms) || !padded(str_from(t, 2 + TIME_DIGITS), &q->after_id))
        return LOGS_BAD(err, "The specified nextToken is invalid.");
    q->backward = t.p[0] == 'b';
    return OK;
}

/* At most a MiB goes into one answer; what is left out is at the far end of the way that the reader goes. */
static void cut_to_size(LogEvents *v, int backward)
{
    size_t bytes = 0, n = 0;

    while (n < v->n) {
        const LogEvent *e = backward ? &v->p[v->n - 1 - n] : &v->p[n];
        bytes += e->message.n + LOGS_EVENT_OVERHEAD;
        if (n && bytes > ANSWER_BYTES)
            break;
        n++;
    }
    if (backward)
        v->p += v->n - n;
    v->n = n;
}

static Json *event_json(AwsCall *c, const LogEvent *e)
{
    Json *o = json_object(c->a);
    json_set(c->a, o, "timestamp", json_int(c->a, e->time_ms));
    json_set(c->a, o, "message", json_str(c->a, e->message));
    json_set(c->a, o, "ingestionTime", json_int(c->a, e->ingested_ms));
    return o;
}

static Status get_query(AwsCall *c, LogQuery *q, Error *err)
{
    Str stream = aws_str(c, "logStreamName");
    LogStream ignored;

    TRY(logs_group_named(c, &q->group, err));
    TRY(logs_allow(c, "logs:GetLogEvents", q->group, stream, err));
    LOGS_TRY(c, logs_stream_get(logs_of(c), c->a, q->group, stream, &ignored, err), err);
    vec_push(c->a, &q->streams, stream);
    q->from_ms = aws_int(c, "startTime", 0);
    q->to_ms = aws_int(c, "endTime", 0);
    q->max = (int)aws_int(c, "limit", PAGE_EVENTS);
    q->backward = !aws_bool(c, "startFromHead", false);
    return aws_has(c, "nextToken") ? token_parse(aws_str(c, "nextToken"), q, err) : OK;
}

HANDLER(logs_get_events)
{
    LogQuery q = {0};
    LogEvents v;
    Json *out = json_array(c->a);

    TRY(get_query(c, &q, err));
    LOGS_TRY(c, logs_read(logs_of(c), c->a, &q, &v, err), err);
    cut_to_size(&v, q.backward);
    for vec_each(LogEvent, e, &v)
        json_push(c->a, out, event_json(c, e));
    aws_put(c, "events", out);
    LogEvent last = v.n ? vec_last(&v) : (LogEvent){ .time_ms = q.after_time_ms, .id = q.after_id };
    LogEvent first = v.n ? v.p[0] : last;
    aws_put_str(c, "nextForwardToken", token(c, 'f', last.time_ms, last.id));
    aws_put_str(c, "nextBackwardToken", token(c, 'b', first.time_ms, first.id));
    return OK;
}

/* ---- filter ------------------------------------------------------------------------------------------------------------------ */

typedef struct Filter { AwsCall *c; LogQuery q; LogPattern *pattern; int64_t limit, scanned; size_t bytes; Json *out; int full; } Filter;

static void add_match(Filter *f, const LogEvent *e)
{
    AwsCall *c = f->c;
    Json *o = json_object(c->a);

    json_set(c->a, o, "logStreamName", json_str(c->a, str_dup(c->a, e->stream)));
    json_set(c->a, o, "timestamp", json_int(c->a, e->time_ms));
    json_set(c->a, o, "message", json_str(c->a, str_dup(c->a, e->message)));
    json_set(c->a, o, "ingestionTime", json_int(c->a, e->ingested_ms));
    json_set(c->a, o, "eventId", json_str(c->a, str_fmt(c->a, "%056lld", (long long)e->id)));
    json_push(c->a, f->out, o);
    f->bytes += e->message.n + LOGS_EVENT_OVERHEAD;
}

/* One chunk. *end: nothing is left behind it. */
static Status filter_chunk(Filter *f, int *end, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    LogEvents v;

    LOGS_TRY(f->c, logs_read(logs_of(f->c), a, &f->q, &v, err), err);
    for vec_each(LogEvent, e, &v) {
        if ((int64_t)json_len(f->out) == f->limit || (f->bytes && f->bytes + e->message.n > ANSWER_BYTES)) {
            f->full = 1;
            return OK;
        }
        if (log_pattern_matches(f->pattern, a, e->message))
            add_match(f, e);
        f->q.after_time_ms = e->time_ms;
        f->q.after_id = e->id;
        f->scanned++;
    }
    *end = v.n < CHUNK_EVENTS;
    return OK;
}

static Status filter_query(AwsCall *c, LogQuery *q, Error *err)
{
    const Json *streams = aws_get(c, "logStreamNames");
    Str position, time, id;

    TRY(logs_group_named(c, &q->group, err));
    q->stream_prefix = aws_str(c, "logStreamNamePrefix");
    if (streams && q->stream_prefix.n)
        return LOGS_BAD(err, "The logStreamNames and logStreamNamePrefix parameters are mutually exclusive.");
    TRY(logs_allow(c, "logs:FilterLogEvents", q->group, (Str){0}, err));
    for (size_t i = 0; i < json_len(streams); i++)
        vec_push(c->a, &q->streams, json_at(streams, i)->string);
    q->from_ms = aws_int(c, "startTime", 0);
    q->to_ms = aws_has(c, "endTime") && aws_int(c, "endTime", 0) < INT64_MAX ? aws_int(c, "endTime", 0) + 1 : 0;
    q->max = CHUNK_EVENTS;
    TRY(aws_page_start(c, "nextToken", &position, err));
    if (position.n && (!str_cut(position, '/', &time, &id) || !str_to_i64(time, &q->after_time_ms) || !str_to_i64(id, &q->after_id)))
        return LOGS_BAD(err, "The specified nextToken is invalid.");
    return OK;
}

HANDLER(logs_filter_events)
{
    Filter f = { .c = c, .limit = aws_int(c, "limit", PAGE_EVENTS), .out = json_array(c->a) };
    int end = 0;

    TRY(filter_query(c, &f.q, err));
    LOGS_TRY(c, log_pattern_parse(c->a, aws_str(c, "filterPattern"), &f.pattern, err), err);
    while (!end && !f.full && f.scanned < SCAN_EVENTS)
        TRY(filter_chunk(&f, &end, err));
    aws_put(c, "events", f.out);
    aws_put(c, "searchedLogStreams", json_array(c->a));
    if (!end)
        aws_put_str(c, "nextToken", aws_page_token(c, str_fmt(c->a, "%lld/%lld", (long long)f.q.after_time_ms, (long long)f.q.after_id)));
    return OK;
}

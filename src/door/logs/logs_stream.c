/* SPDX-License-Identifier: Apache-2.0 */
/* logs_stream.c - log streams: made, listed, deleted. */
#include "door/logs/logsdoor_int.h"

HANDLER(logs_create_stream)
{
    Str group, stream = aws_str(c, "logStreamName");

    TRY(logs_group_named(c, &group, err));
    TRY(logs_check_stream_name(stream, err));
    TRY(logs_allow(c, "logs:CreateLogStream", group, (Str){0}, err));
    LOGS_TRY(c, logs_stream_create(logs_of(c), group, stream, err), err);
    return OK;
}

HANDLER(logs_delete_stream)
{
    Str group, stream = aws_str(c, "logStreamName");

    TRY(logs_group_named(c, &group, err));
    TRY(logs_allow(c, "logs:DeleteLogStream", group, stream, err));
    LOGS_TRY(c, logs_stream_delete(logs_of(c), group, stream, err), err);
    return OK;
}

static Json *stream_json(AwsCall *c, const LogStream *s)
{
    Json *o = json_object(c->a);

    json_set(c->a, o, "logStreamName", json_str(c->a, s->name));
    json_set(c->a, o, "creationTime", json_int(c->a, s->created_ms));
    if (s->last_ingestion_ms) {
        json_set(c->a, o, "firstEventTimestamp", json_int(c->a, s->first_ms));
        json_set(c->a, o, "lastEventTimestamp", json_int(c->a, s->last_ms));
        json_set(c->a, o, "lastIngestionTime", json_int(c->a, s->last_ingestion_ms));
    }
    json_set(c->a, o, "uploadSequenceToken", json_str(c->a, str_fmt(c->a, "%056lld", (long long)s->last_ingestion_ms)));
    json_set(c->a, o, "arn", json_str(c->a, str_fmt(c->a, STR_FMT ":log-stream:" STR_FMT, STR_ARG(logs_group_arn(c, s->group)), STR_ARG(s->name))));
    json_set(c->a, o, "storedBytes", json_int(c->a, 0));            /* as the service says of streams since 2019 */
    return o;
}

/* A position is "<time of the last event>/<name>". */
static Status position_of(AwsCall *c, LogStreamQuery *q, Error *err)
{
    Str position, time;

    TRY(aws_page_start(c, "nextToken", &position, err));
    if (position.n && (!str_cut(position, '/', &time, &q->after) || !str_to_i64(time, &q->after_ms)))
        return LOGS_BAD(err, "The specified nextToken is invalid.");
    return OK;
}

HANDLER(logs_describe_streams)
{
    LogStreamQuery q = { .by_time = str_eq(aws_str(c, "orderBy"), S("LastEventTime")), .descending = aws_bool(c, "descending", false), .prefix = aws_str(c, "logStreamNamePrefix") };
    Json *out = json_array(c->a);
    int limit = (int)aws_int(c, "limit", PAGE_STREAMS);
    LogStreams streams;

    TRY(logs_group_named(c, &q.group, err));
    if (q.by_time && q.prefix.n)
        return LOGS_BAD(err, "Cannot order by LastEventTime with a logStreamNamePrefix.");
    TRY(logs_allow(c, "logs:DescribeLogStreams", q.group, (Str){0}, err));
    TRY(position_of(c, &q, err));
    q.max = limit + 1;
    LOGS_TRY(c, logs_stream_list(logs_of(c), c->a, &q, &streams, err), err);
    bool more = streams.n > (size_t)limit;
    if (more)
        streams.n--;
    for vec_each(LogStream, s, &streams)
        json_push(c->a, out, stream_json(c, s));
    aws_put(c, "logStreams", out);
    if (more)
        aws_put_str(c, "nextToken", aws_page_token(c, str_fmt(c->a, "%lld/" STR_FMT, (long long)vec_last(&streams).last_ms, STR_ARG(vec_last(&streams).name))));
    return OK;
}

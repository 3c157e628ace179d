/* SPDX-License-Identifier: Apache-2.0 */
/* source_kafka_topic.c - one topic of a source: its options, where its partitions begin, what is looked after from time to time.
 *
 * What must not happen unseen: a topic that was deleted, made anew, or whose messages went before they were read.  Offsets beyond the end or before the beginning say
 * so, and at each start the last message is looked at once more, if it is still there (compaction may have taken it). */
#include "source/source_kafka_int.h"

enum {
    GROUP_US   = 1000 * 1000,              /* the group's offsets are told at most so often */
    PROBE_US   = 2 * 1000 * 1000,          /* a cluster that went away is asked so often */
    REFRESH_US = 60 * 1000 * 1000,
    INTERVAL_MAX_US = INT64_C(3600) * 1000 * 1000,
};

/* ---- options -------------------------------------------------------------------------------------------------------------------------------------- */

/* "30s", "5 minutes", "500ms". */
static Status refresh_interval(const Json *options, int64_t *ret, Error *err)
{
    Str s = str_trim(json_get_str(options, "topic_metadata_refresh_interval", S("")));

    *ret = REFRESH_US;
    if (s.n && (!source_interval(s, ret) || *ret < 1000 || *ret > INTERVAL_MAX_US))
        return FAIL(err, E_INVALID, "invalid TOPIC METADATA REFRESH INTERVAL: cannot be greater than 1 hour or less than 1 millisecond: '" STR_FMT "'", STR_ARG(s));
    return OK;
}

/* START OFFSET of a partition; has false: none. */
static Status start_offset(const Json *options, size_t partition, OptI64 *ret, Error *err)
{
    const Json *v = json_get(options, "start_offset");
    const Json *one = json_is(v, JSON_ARRAY) ? json_at(v, partition) : partition ? NULL : v;

    *ret = (OptI64){0};
    if (!one)
        return OK;
    ret->has = true;
    bool number = one->kind == JSON_INT ? (ret->v = one->integer, true) : one->kind == JSON_STRING && str_to_i64(str_trim(one->string), &ret->v);
    return number && ret->v >= 0 ? OK : FAIL(err, E_INVALID, "START OFFSET must be a nonnegative integer");
}

Status kafka_topic_check(KafkaTopic *t, int partitions, Error *err)
{
    const Json *v = json_get(t->options, "start_offset");
    int64_t ms;
    OptI64 o;

    TRY(refresh_interval(t->options, &t->refresh_us, err));
    if (json_is(v, JSON_ARRAY) && json_len(v) > (size_t)partitions)
        return FAIL(err, E_INVALID, "START OFFSET specified more partitions (%zu) than topic (" STR_FMT ") contains (%d)", json_len(v), STR_ARG(t->k.topic), partitions);
    for (int i = 0; i < partitions; i++)
        TRY(start_offset(t->options, (size_t)i, &o, err));
    if (!format_option_int(t->options, "start_timestamp", 0, &ms))
        return FAIL(err, E_INVALID, "START TIMESTAMP must be an integer");
    if (v && json_get(t->options, "start_timestamp"))
        return FAIL(err, E_INVALID, "cannot specify START TIMESTAMP and START OFFSET at same time");
    return OK;
}

/* ---- opening ------------------------------------------------------------------------------------------------------------------------------------------ */

/* Names may be others: CREATE SOURCE s (a, b) FROM … */
static Status same_columns(const KafkaShape *s, const SourceOutput *out, Error *err)
{
    bool same = s->columns.n == out->columns.n && s->key_names.n == out->key.n;

    for (size_t i = 0; same && i < out->columns.n; i++)
        same = data_type_equal(&s->columns.p[i].type, &out->columns.p[i].type);
    return same ? OK : FAIL(err, E_INTERNAL, "the source's columns are not those that it was made with");
}

Status kafka_topic_open(KafkaTopic *t, Str note, Error *err)
{
    const SourceOutput *out = &source_spec(t->r)->outputs->p[t->output];

    TRY(refresh_interval(t->options, &t->refresh_us, err));
    TRY(kafka_places_read(t->a, note, t->relation, &t->places, err));
    TRY(kafka_bad_read(t->a, note, t->relation, &t->bad, err));
    kafka_bad_tell(t);
    t->first = !t->places.n;
    TRY(kafka_open(t->a, json_get(t->options, "connection"), &t->k, err));
    TRY(kafka_use(t->a, &t->k, json_get_str(t->options, "topic", S("")), err));
    TRY(kafka_shape(t->a, t->options, out->pinned, &t->shape, err));
    return same_columns(t->shape, out, err);
}

/* ---- where to begin ------------------------------------------------------------------------------------------------------------------------------------------ */

static Status lost(const KafkaTopic *t, int32_t partition, int64_t next, int64_t low, Error *err)
{
    RAISE(err, E_CORRUPT, "topic " STR_FMT ", partition %d: messages from offset %lld on were to be read, the oldest there is now %lld: some went unread, by retention or by hand", STR_ARG(t->k.topic),
          partition, (long long)next, (long long)low);
    error_hint(err, "Nothing can bring them back: drop the source and create it anew, with a START OFFSET if need be.");
    return err->code;
}

Status kafka_topic_made_anew(const KafkaTopic *t, int32_t partition, const char *how, Error *err)
{
    RAISE(err, E_CORRUPT, "topic " STR_FMT ", partition %d: %s: the topic was deleted and made anew, or truncated", STR_ARG(t->k.topic), partition, how);
    error_hint(err, "The source holds what it read before. Drop it and create it anew to read the topic from its beginning.");
    return err->code;
}

/* A partition that was not read yet. Those that came later are read from their beginning. */
static Status first_offset(KafkaTopic *t, int32_t partition, int64_t low, int64_t high, int64_t *ret, Error *err)
{
    int64_t ms;
    OptI64 given;

    *ret = low;
    if (!t->first)
        return OK;
    TRY(start_offset(t->options, (size_t)partition, &given, err));
    if (given.has && given.v > high)
        return FAIL(err, E_INVALID, "topic " STR_FMT ", partition %d: START OFFSET %lld is beyond the end, %lld", STR_ARG(t->k.topic), partition, (long long)given.v, (long long)high);
    if (given.has)
        *ret = max_i64(given.v, low);
    if (!json_get(t->options, "start_timestamp"))
        return OK;
    if (!format_option_int(t->options, "start_timestamp", 0, &ms))
        return FAIL(err, E_INVALID, "START TIMESTAMP must be an integer");
    return kafka_offset_at(&t->k, partition, ms < 0 ? max_i64(clock_ms() + ms, 0) : ms, ret, err);
}

/* The offset to fetch from: the last message that was read, when it is still there, to see that it is the same. */
static Status begin(KafkaTopic *t, int32_t partition, int64_t low, int64_t end, int64_t *from, Error *err)
{
    KafkaPlace *p = kafka_place(&t->places, partition);

    if (!p) {
        KafkaPlace fresh = { .partition = partition, .last = -1 };
        TRY(first_offset(t, partition, low, end, &fresh.next, err));
        vec_push(t->a, &t->places, fresh);
        *from = fresh.next;
        return OK;
    }
    if (p->next > end)
        return kafka_topic_made_anew(t, partition, str_fmt(t->a, "it was read to offset %lld and ends at %lld now", (long long)p->next, (long long)end).p, err);
    if (p->next < low)
        return lost(t, partition, p->next, low, err);
    p->verify = p->last >= low;
    *from = p->verify ? p->last : p->next;
    return OK;
}

static Status start_partition(KafkaTopic *t, int32_t partition, int64_t low, int64_t end, Error *err)
{
    int64_t from = 0;

    TRY(begin(t, partition, low, end, &from, err));
    TRY(kafka_start(&t->k, partition, from, err));
    vec_push(t->a, &t->targets, end);
    t->behind += kafka_place(&t->places, partition)->next < end;
    return OK;
}

static Status start_from(KafkaTopic *t, size_t first, size_t n, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    int64_t *low = arena_array(a, int64_t, n), *high = arena_array(a, int64_t, n);

    TRY(kafka_ends(&t->k, (int32_t)first, n, low, high, err));
    for (size_t i = 0; i < n && !source_stopping(t->r); i++)
        TRY(start_partition(t, (int32_t)(first + i), low[i], high[i], err));
    return OK;
}

Status kafka_topic_start(KafkaTopic *t, Error *err)
{
    int partitions = 0;

    TRY(kafka_partitions(&t->k, &partitions, err));
    for vec_each(KafkaPlace, p, &t->places)
        if (p->partition >= partitions)
            return kafka_topic_made_anew(t, p->partition, "it is not there any more", err);
    if (t->targets.n < (size_t)partitions)
        TRY(start_from(t, t->targets.n, (size_t)partitions - t->targets.n, err));
    t->first = 0;
    t->refreshed_us = clock_mono_us();
    return OK;
}

/* ---- from time to time ------------------------------------------------------------------------------------------------------------------------------------------------- */

void kafka_topic_running(KafkaTopic *t)
{
    t->k.down = 0;
    if (!*t->running)
        source_status(t->r, "running", (Str){0}, (Str){0});
    *t->running = 1;
}

static void probe(KafkaTopic *t)
{
    int64_t low, high;
    Error why;

    if (*t->running) {
        source_status(t->r, "stalled", str_fmt(t->a, "Kafka: no broker can be reached: %s", t->k.error), S("The source goes on by itself when a broker is there again."));
        *t->running = 0;
    }
    if (kafka_watermarks(&t->k, 0, &low, &high, &why) == OK)
        kafka_topic_running(t);
}

static Status refresh(KafkaTopic *t, Error *err)
{
    Status s = kafka_topic_start(t, err);

    t->refreshed_us = clock_mono_us();
    return s == E_UNAVAILABLE || s == E_TIMEOUT ? OK : s;      /* the status says so by other ways */
}

Status kafka_topic_upkeep(KafkaTopic *t, Error *err)
{
    int64_t now = clock_mono_us();

    if (t->group.n && t->moved && now - t->group_us >= GROUP_US) {
        t->group_us = now;
        t->moved = !kafka_tell_group(&t->k, t->group, &t->places);      /* for those who watch the lag of groups; an error is of no matter */
    }
    if (t->k.down && now - t->probe_us >= PROBE_US) {
        probe(t);
        t->probe_us = clock_mono_us();
    }
    return !t->k.down && now - t->refreshed_us >= t->refresh_us ? refresh(t, err) : OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* source_kafka.c - a topic as a live relation, exactly once.
 *
 * Partitions are read from the places that are written with the rows: what Kafka thinks of the group is for people to look at.  A batch is bounded by
 * messages, bytes and time, and is one tick.  A message that cannot be read is counted with its place, once its batch is durable; what cannot be asked now (a registry
 * that is down) ends the batch before it and stalls.
 * What must not happen unseen: a topic that was deleted, made anew, or whose messages went before they were read.  Offsets beyond the end or before the beginning say
 * so, and at each start the last message is looked at once more, if it is still there (compaction may have taken it).
 *
 * Options (resolved; words of SQL in lower case, of connections with blanks, of sources with underscores; numbers may be texts):
 *   "connection": {"broker": "h:9092" | "brokers": "h:9092,…" or ["h:9092", …], "security protocol", "sasl mechanisms", "sasl username", "sasl password",
 *                  "ssl certificate authority", "ssl certificate", "ssl key"}
 *   "topic", "group_id_prefix", "start_offset": [n, …] or n, "start_timestamp": ms (below 0: before now), "topic_metadata_refresh_interval": "30s"
 *   "format": {…} of both or, with "key_format": {…}, of the value: format.h
 *   "include": [{"name": "key" | "partition" | "offset" | "timestamp" | "headers" | "header:x" | "header bytes:x", "alias": "k"}, …]
 *   "envelope": "none" | "upsert" | "debezium", "value_decoding_errors": "error" (the column's name; absent: not inline)
 * Output: one, named "", external the topic, pinned the schemas. */
#include "source/source_kafka_int.h"

enum {
    BATCH_MESSAGES = 50 * 1000,
    BATCH_BYTES    = 32 * 1024 * 1024,
    BATCH_US       = 200 * 1000,
    POLL_MS        = 100,
    GROUP_US       = 1000 * 1000,          /* the group's offsets are told at most so often */
    PROBE_US       = 2 * 1000 * 1000,      /* a cluster that went away is asked so often */
    REFRESH_US     = 60 * 1000 * 1000,
    BATCH_ERRORS   = 1000,                 /* told one by one of a batch; the others are counted */
    SCRATCH_BYTES  = 8 * 1024 * 1024,      /* of decoded messages, before it is given back */
};

typedef VEC(int64_t) Targets;
typedef struct Poison { Str place, error; } Poison;
typedef struct Batch {
    Arena *a, *scratch;                   /* scratch: of the message at hand */
    SourceBatch *rows;
    int64_t messages, bytes, began_us;
    VEC(Poison) poison;
    Status blocked;                       /* why the next message cannot be read now */
    Error why;
} Batch;

typedef struct Topic {
    SourceRun *r;
    Arena *a;
    const Json *options;
    Kafka k;
    KafkaShape *shape;
    KafkaPlaces places;
    Targets targets;                      /* where each partition that was started ended then */
    size_t behind;                        /* partitions that have not come so far */
    int first;                            /* nothing was read before */
    int running;                          /* the status says so */
    int moved;                            /* the group was not told of the last commit */
    Str group;
    int64_t refresh_us, refreshed_us, group_us, probe_us;
} Topic;

static Status poll_batch(Topic *t, Batch *b, Error *err);
static Status commit_batch(Topic *t, Batch *b, Error *err);
static Status upkeep(Topic *t, Error *err);
static Status start_partitions(Topic *t, Error *err);

/* ---- options -------------------------------------------------------------------------------------------------------------------------------------- */

/* "30s", "5 minutes", "500ms". */
static Status refresh_interval(const Json *options, int64_t *ret, Error *err)
{
    static const struct { const char *unit; int64_t us; } units[] = { { "ms", 1000 }, { "milli", 1000 }, { "s", 1000000 }, { "m", 60000000 }, { "h", 3600000000 } };
    Str s = str_trim(json_get_str(options, "topic_metadata_refresh_interval", S(""))), unit;
    size_t n = 0;
    int64_t v;

    *ret = REFRESH_US;
    if (!s.n)
        return OK;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    unit = str_trim(str_from(s, n));
    for (size_t i = 0; str_to_i64(str_sub(s, 0, n), &v) && v <= 3600000 && i < COUNT_OF(units); i++)
        if (str_starts(unit, str_c(units[i].unit))) {
            *ret = v * units[i].us;
            break;
        }
    if (!n || *ret < 1000 || *ret > 3600000000)
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

static Status check_options(Topic *t, int partitions, Error *err)
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

/* ---- CREATE SOURCE, VALIDATE CONNECTION -------------------------------------------------------------------------------------------------------------- */

static void output_of(Arena *a, const KafkaShape *s, Str topic, SourceOutput *ret)
{
    *ret = (SourceOutput){ .name = S(""), .external = str_dup(a, topic), .pinned = s->pinned, .key = s->key_names };
    for vec_each(SourceColumn, c, &s->columns)
        vec_push(a, &ret->columns, *c);
}

static Status discover_kafka(Arena *a, const SourceSpec *spec, SourceOutputs *ret, Error *err)
{
    Topic t = { .a = a, .options = spec->options };
    Str topic = str_dup(a, json_get_str(spec->options, "topic", S("")));
    CLEANUP(kafka_closep) Kafka k = {0};
    SourceOutput out;
    int partitions;

    TRY(kafka_open(a, json_get(spec->options, "connection"), &k, err));
    TRY(kafka_use(a, &k, topic, err));
    TRY(kafka_partitions(&k, &partitions, err));
    t.k.topic = topic;
    TRY(check_options(&t, partitions, err));
    TRY(kafka_shape(a, spec->options, S(""), &t.shape, err));
    output_of(a, t.shape, topic, &out);
    vec_push(a, ret, out);
    return OK;
}

static Status validate_kafka(Arena *a, const Json *connection, Error *err)
{
    CLEANUP(kafka_closep) Kafka k = {0};

    TRY(kafka_open(a, connection, &k, err));
    return kafka_check(&k, err);
}

/* ---- a source's thread ---------------------------------------------------------------------------------------------------------------------------------- */

static Str group_of(Arena *a, const SourceSpec *spec)
{
    return str_fmt(a, STR_FMT "materialize-firn-u%lld", STR_ARG(json_get_str(spec->options, "group_id_prefix", S(""))), (long long)spec->id);
}

static Status same_columns(const KafkaShape *s, const SourceOutput *out, Error *err)
{
    bool same = s->columns.n == out->columns.n;

    for (size_t i = 0; same && i < out->columns.n; i++)
        same = str_eq(s->columns.p[i].name, out->columns.p[i].name) && data_type_equal(&s->columns.p[i].type, &out->columns.p[i].type);
    return same ? OK : FAIL(err, E_INTERNAL, "the source's columns are not those that it was made with");
}

static Status open_topic(Topic *t, Error *err)
{
    const SourceSpec *spec = source_spec(t->r);
    const SourceOutput *out = &spec->outputs->p[0];

    if (spec->outputs->n != 1)
        return FAIL(err, E_INTERNAL, "a Kafka source with %zu outputs", spec->outputs->n);
    TRY(refresh_interval(t->options, &t->refresh_us, err));
    TRY(kafka_places_read(t->a, source_offsets(t->r, t->a), &t->places, err));
    t->first = !t->places.n;
    t->group = group_of(t->a, spec);
    TRY(kafka_open(t->a, json_get(t->options, "connection"), &t->k, err));
    TRY(kafka_use(t->a, &t->k, json_get_str(t->options, "topic", S("")), err));
    TRY(kafka_shape(t->a, t->options, out->pinned, &t->shape, err));
    return same_columns(t->shape, out, err);
}

static void batch_endp(Batch *b)
{
    if (b->rows)
        source_abandon(b->rows);
    arena_destroy(b->scratch);
    arena_destroy(b->a);
    *b = (Batch){0};
}

static Status one_batch(Topic *t, Error *err)
{
    CLEANUP(batch_endp) Batch b = { .a = arena_create(), .scratch = arena_create() };

    TRY(poll_batch(t, &b, err));
    TRY(commit_batch(t, &b, err));
    if (b.blocked != OK)
        *err = b.why;
    return b.blocked;
}

static Status run_kafka(SourceRun *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Topic *t = arena_new(a, Topic);
    Status s;

    *t = (Topic){ .r = r, .a = a, .options = source_spec(r)->options };
    s = open_topic(t, err);
    if (s == OK)
        s = start_partitions(t, err);
    while (s == OK && !source_stopping(r)) {
        s = one_batch(t, err);
        if (s == OK)
            s = upkeep(t, err);
    }
    kafka_closep(&t->k);
    return s;
}

/* ---- where to begin ------------------------------------------------------------------------------------------------------------------------------------------ */

static Status lost(const Topic *t, int32_t partition, int64_t next, int64_t low, Error *err)
{
    RAISE(err, E_CORRUPT, "topic " STR_FMT ", partition %d: messages from offset %lld on were to be read, the oldest there is now %lld: some went unread, by retention or by hand", STR_ARG(t->k.topic),
          partition, (long long)next, (long long)low);
    error_hint(err, "Nothing can bring them back: drop the source and create it anew, with a START OFFSET if need be.");
    return err->code;
}

static Status made_anew(const Topic *t, int32_t partition, const char *how, Error *err)
{
    RAISE(err, E_CORRUPT, "topic " STR_FMT ", partition %d: %s: the topic was deleted and made anew, or truncated", STR_ARG(t->k.topic), partition, how);
    error_hint(err, "The source holds what it read before. Drop it and create it anew to read the topic from its beginning.");
    return err->code;
}

/* A partition that was not read yet. Those that came later are read from their beginning. */
static Status first_offset(Topic *t, int32_t partition, int64_t low, int64_t high, int64_t *ret, Error *err)
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
static Status begin(Topic *t, int32_t partition, int64_t *from, int64_t *end, Error *err)
{
    KafkaPlace *p = kafka_place(&t->places, partition);
    int64_t low;

    TRY(kafka_watermarks(&t->k, partition, &low, end, err));
    if (!p) {
        KafkaPlace fresh = { .partition = partition, .last = -1 };
        TRY(first_offset(t, partition, low, *end, &fresh.next, err));
        vec_push(t->a, &t->places, fresh);
        *from = fresh.next;
        return OK;
    }
    if (p->next > *end)
        return made_anew(t, partition, str_fmt(t->a, "it was read to offset %lld and ends at %lld now", (long long)p->next, (long long)*end).p, err);
    if (p->next < low)
        return lost(t, partition, p->next, low, err);
    p->verify = p->last >= low;
    *from = p->verify ? p->last : p->next;
    return OK;
}

static Status start_partition(Topic *t, int32_t partition, Error *err)
{
    int64_t from = 0, end = 0;

    TRY(begin(t, partition, &from, &end, err));
    TRY(kafka_start(&t->k, partition, from, err));
    vec_push(t->a, &t->targets, end);
    t->behind += kafka_place(&t->places, partition)->next < end;
    return OK;
}

/* Those that are there and were not started yet, each from its place. */
static Status start_partitions(Topic *t, Error *err)
{
    int partitions = 0;

    TRY(kafka_partitions(&t->k, &partitions, err));
    for vec_each(KafkaPlace, p, &t->places)
        if (p->partition >= partitions)
            return made_anew(t, p->partition, "it is not there any more", err);
    while (t->targets.n < (size_t)partitions && !source_stopping(t->r))
        TRY(start_partition(t, (int32_t)t->targets.n, err));
    t->first = 0;
    t->refreshed_us = clock_mono_us();
    return OK;
}

/* ---- messages ------------------------------------------------------------------------------------------------------------------------------------------------- */

static void status_running(Topic *t)
{
    t->k.down = 0;
    if (!t->running)
        source_status(t->r, "running", (Str){0}, (Str){0});
    t->running = 1;
}

static void reached(Topic *t, const KafkaPlace *p, int64_t before)
{
    size_t i = (size_t)p->partition;

    if (i < t->targets.n && before < t->targets.p[i] && p->next >= t->targets.p[i])
        t->behind--;
}

static void move_on(Topic *t, KafkaPlace *p, int64_t next)
{
    int64_t before = p->next;
    p->next = max_i64(next, before);
    reached(t, p, before);
}

static void read_headers(Arena *a, const rd_kafka_message_t *rkm, KafkaMessage *m)
{
    rd_kafka_headers_t *h;
    const char *name;
    const void *value;
    size_t n;

    if (rd_kafka_message_headers(rkm, &h) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    for (size_t i = 0; i <= KAFKA_HEADERS_MAX && rd_kafka_header_get_all(h, i, &name, &value, &n) == RD_KAFKA_RESP_ERR_NO_ERROR; i++) {
        KafkaHeader x = { .name = str_dup(a, str_c(name)), .value = str_dup(a, str_n(value, value ? n : 0)), .is_null = !value };
        vec_push(a, &m->headers, x);
    }
}

static KafkaMessage message_of(const Topic *t, Arena *a, const rd_kafka_message_t *rkm)
{
    rd_kafka_timestamp_type_t type;
    KafkaMessage m = { .key = str_n(rkm->key, rkm->key ? rkm->key_len : 0), .value = str_n(rkm->payload, rkm->payload ? rkm->len : 0), .has_key = rkm->key != NULL,
                       .has_value = rkm->payload != NULL, .partition = rkm->partition, .offset = rkm->offset };

    m.timestamp_ms = rd_kafka_message_timestamp(rkm, &type);
    if (t->shape->metas.n)
        read_headers(a, rkm, &m);
    return m;
}

static Status open_batch(Topic *t, Batch *b, Error *err)
{
    if (b->rows)
        return OK;
    b->began_us = clock_mono_us();
    return source_batch(t->r, &b->rows, err);
}

static void put_row(Batch *b, const KafkaRow *row)
{
    if (row->verb == KAFKA_INSERT)
        source_row(b->rows, 0, 1, row->cells);
    else if (row->verb != KAFKA_SKIP)
        source_upsert(b->rows, 0, row->key, row->verb == KAFKA_DELETE ? NULL : row->cells);
}

static void poisoned(const Topic *t, Batch *b, const KafkaMessage *m, const Error *why)
{
    Poison p = {0};

    if (b->poison.n < BATCH_ERRORS) {
        p.place = str_fmt(b->a, "topic " STR_FMT ", partition %d, offset %lld", STR_ARG(t->k.topic), m->partition, (long long)m->offset);
        p.error = str_dup(b->a, str_c(why->message));
    } else {
        p = vec_last(&b->poison);
    }
    vec_push(b->a, &b->poison, p);
}

/* The last message of the time before, once more. */
static Status verify(Topic *t, KafkaPlace *p, const KafkaMessage *m, Error *err)
{
    bool same = m->offset > p->last || (m->timestamp_ms == p->last_ms && (int64_t)(m->key.n + m->value.n) == p->last_bytes);

    p->verify = 0;
    return same ? OK : made_anew(t, p->partition, str_fmt(t->a, "the message at offset %lld is not the one that was read", (long long)m->offset).p, err);
}

/* What the rows hold was copied already. */
static Arena *scratch_of(Batch *b)
{
    if (arena_used(b->scratch) > SCRATCH_BYTES) {
        arena_destroy(b->scratch);
        b->scratch = arena_create();
    }
    return b->scratch;
}

static Status take_message(Topic *t, Batch *b, const rd_kafka_message_t *rkm, Error *err)
{
    KafkaPlace *p = kafka_place(&t->places, rkm->partition);
    KafkaMessage m = message_of(t, scratch_of(b), rkm);
    KafkaRow row;
    Error why = {0};

    if (!p)
        return FAIL(err, E_INTERNAL, "a message of partition %d, which was not started", rkm->partition);
    if (p->verify)
        TRY(verify(t, p, &m, err));
    if (m.offset < p->next)
        return OK;
    TRY(open_batch(t, b, err));
    Status s = kafka_row(t->shape, b->scratch, &m, &row, &why);
    if (s != OK && !format_is_poison(s)) {
        b->blocked = s;
        b->why = why;
        return OK;
    }
    if (s == OK)
        put_row(b, &row);
    else
        poisoned(t, b, &m, &why);
    b->messages++;
    b->bytes += (int64_t)(m.key.n + m.value.n);
    p->last = m.offset;
    p->last_ms = m.timestamp_ms;
    p->last_bytes = (int64_t)(m.key.n + m.value.n);
    move_on(t, p, m.offset + 1);
    return OK;
}

static Status take_event(Topic *t, Batch *b, const rd_kafka_message_t *rkm, Error *err)
{
    KafkaPlace *p;

    switch (rkm->err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        status_running(t);
        return take_message(t, b, rkm, err);
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        status_running(t);
        p = kafka_place(&t->places, rkm->partition);
        if (p)
            move_on(t, p, rkm->offset);
        return OK;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET: case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        return made_anew(t, rkm->partition, "the offset to read from is not there", err);
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC: case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        return FAIL(err, E_NOT_FOUND, "topic " STR_FMT " does not exist any more", STR_ARG(t->k.topic));
    default:
        return kafka_failed(&t->k, rkm->err, "reading", err);
    }
}

static bool is_full(const Batch *b)
{
    return b->blocked != OK || b->messages >= BATCH_MESSAGES || b->bytes >= BATCH_BYTES || (b->rows && clock_mono_us() - b->began_us >= BATCH_US);
}

static Status poll_batch(Topic *t, Batch *b, Error *err)
{
    bool more = true;

    while (more && !is_full(b) && !source_stopping(t->r)) {
        rd_kafka_message_t *rkm = kafka_poll(&t->k, b->rows ? 10 : POLL_MS);
        more = rkm || b->rows;
        if (!rkm)
            continue;
        Status s = take_event(t, b, rkm, err);
        rd_kafka_message_destroy(rkm);
        TRY(s);
    }
    return OK;
}

/* ---- commit ---------------------------------------------------------------------------------------------------------------------------------------------------------- */

static void tell_progress(Topic *t)
{
    int64_t known = 0, committed = 0, low, high;

    for vec_each(KafkaPlace, p, &t->places) {
        high = 0;
        (void)!rd_kafka_get_watermark_offsets(t->k.rk, t->k.topic.p, p->partition, &low, &high);
        known += max_i64(high, p->next);
        committed += p->next;
    }
    source_progress(t->r, known, committed);
    if (!t->behind && t->targets.n)
        source_snapshot_done(t->r);
}

static Status commit_batch(Topic *t, Batch *b, Error *err)
{
    if (!b->rows) {
        tell_progress(t);
        return OK;
    }
    SourceBatch *rows = b->rows;
    b->rows = NULL;                                        /* it is free after the commit, whatever comes of it */
    TRY(source_commit(rows, kafka_places_write(b->a, &t->places), err));
    t->moved = 1;
    source_received(t->r, b->messages, b->bytes);
    for vec_each(Poison, p, &b->poison)
        source_error(t->r, p->place, p->error);
    tell_progress(t);
    return OK;
}

/* ---- from time to time ------------------------------------------------------------------------------------------------------------------------------------------------- */

static void probe(Topic *t)
{
    int64_t low, high;
    Error why;

    if (t->running) {
        source_status(t->r, "stalled", str_fmt(t->a, "Kafka: no broker can be reached: %s", t->k.error), S("The source goes on by itself when a broker is there again."));
        t->running = 0;
    }
    if (kafka_watermarks(&t->k, 0, &low, &high, &why) == OK)
        status_running(t);
}

static Status refresh(Topic *t, Error *err)
{
    Status s = start_partitions(t, err);

    t->refreshed_us = clock_mono_us();
    return s == E_UNAVAILABLE || s == E_TIMEOUT ? OK : s;      /* the status says so by other ways */
}

static Status upkeep(Topic *t, Error *err)
{
    int64_t now = clock_mono_us();

    if (t->moved && now - t->group_us >= GROUP_US) {
        t->group_us = now;
        t->moved = !kafka_tell_group(&t->k, t->group, &t->places);      /* for those who watch the lag of groups; an error is of no matter */
    }
    if (t->k.down && now - t->probe_us >= PROBE_US) {
        probe(t);
        t->probe_us = clock_mono_us();
    }
    return !t->k.down && now - t->refreshed_us >= t->refresh_us ? refresh(t, err) : OK;
}

const SourceConnector source_kafka = { "kafka", discover_kafka, run_kafka, validate_kafka, NULL };

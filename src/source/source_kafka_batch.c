/* SPDX-License-Identifier: Apache-2.0 */
/* source_kafka_batch.c - messages to a batch of rows, and the batch to one tick.
 *
 * A batch is bounded by messages, bytes and time.  A message that cannot be read is counted with its place, once its batch is durable; what cannot be asked now (a
 * registry that is down) ends the batch before it and stalls.  If the tick fails, nothing of the batch happened: the next attempt reads it again. */
#include "source/source_kafka_int.h"

enum {
    BATCH_MESSAGES = 50 * 1000,
    BATCH_BYTES    = 32 * 1024 * 1024,
    BATCH_US       = 200 * 1000,
    MOMENT_MS      = 20,
    BATCH_ERRORS   = 1000,                 /* told one by one of a batch; the others are counted */
    SCRATCH_BYTES  = 8 * 1024 * 1024,      /* of decoded messages, before it is given back */
};

typedef struct Poison { Str place, error; } Poison;
typedef struct Batch {
    Arena *a, *scratch;                   /* scratch: of the message at hand */
    SourceBatch *rows;
    int64_t messages, bytes, began_us;
    VEC(Poison) poison;
    Status blocked;                       /* why the next message cannot be read now */
    Error why;
} Batch;

static void batch_endp(Batch *b)
{
    if (b->rows)
        source_abandon(b->rows);
    arena_destroy(b->scratch);
    arena_destroy(b->a);
    *b = (Batch){0};
}

static Batch batch_new(void) { return (Batch){ .a = arena_create(), .scratch = arena_create() }; }

/* ---- messages ------------------------------------------------------------------------------------------------------------------------------------------------- */

static void reached(KafkaTopic *t, const KafkaPlace *p, int64_t before)
{
    size_t i = (size_t)p->partition;

    if (i < t->targets.n && before < t->targets.p[i] && p->next >= t->targets.p[i])
        t->behind--;
}

static void move_on(KafkaTopic *t, KafkaPlace *p, int64_t next)
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

static KafkaMessage message_of(const KafkaTopic *t, Arena *a, const rd_kafka_message_t *rkm)
{
    rd_kafka_timestamp_type_t type;
    KafkaMessage m = { .key = str_n(rkm->key, rkm->key ? rkm->key_len : 0), .value = str_n(rkm->payload, rkm->payload ? rkm->len : 0), .has_key = rkm->key != NULL,
                       .has_value = rkm->payload != NULL, .partition = rkm->partition, .offset = rkm->offset };

    m.timestamp_ms = rd_kafka_message_timestamp(rkm, &type);
    if (t->shape->metas.n)
        read_headers(a, rkm, &m);
    return m;
}

static Status open_batch(KafkaTopic *t, Batch *b, Error *err)
{
    if (b->rows)
        return OK;
    b->began_us = clock_mono_us();
    return source_batch(t->r, &b->rows, err);
}

static void put_row(const KafkaTopic *t, Batch *b, const KafkaRow *row)
{
    if (row->verb == KAFKA_INSERT)
        source_row(b->rows, t->output, 1, row->cells);
    else if (row->verb != KAFKA_SKIP)
        source_upsert(b->rows, t->output, row->key, row->verb == KAFKA_DELETE ? NULL : row->cells);
}

static void poisoned(const KafkaTopic *t, Batch *b, const KafkaMessage *m, const Error *why)
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

static void put_good(KafkaTopic *t, Batch *b, const KafkaMessage *m, const KafkaRow *row)
{
    kafka_bad_clear(t, b->scratch, m);
    put_row(t, b, row);
}

/* In an upsert a key whose value cannot be decoded has no row any more. */
static Status put_bad(KafkaTopic *t, Batch *b, const KafkaMessage *m, const KafkaRow *row, const Error *why, Error *err)
{
    poisoned(t, b, m, why);
    if (t->shape->envelope != KAFKA_UPSERT || !row->key)
        return OK;
    TRY(kafka_bad_mark(t, b->scratch, m, why, err));
    source_upsert(b->rows, t->output, row->key, NULL);
    return OK;
}

/* The last message of the time before, once more. */
static Status verify(KafkaTopic *t, KafkaPlace *p, const KafkaMessage *m, Error *err)
{
    bool same = m->offset > p->last || (m->timestamp_ms == p->last_ms && (int64_t)(m->key.n + m->value.n) == p->last_bytes);

    p->verify = 0;
    return same ? OK : kafka_topic_made_anew(t, p->partition, str_fmt(t->a, "the message at offset %lld is not the one that was read", (long long)m->offset).p, err);
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

static Status take_message(KafkaTopic *t, Batch *b, const rd_kafka_message_t *rkm, Error *err)
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
        put_good(t, b, &m, &row);
    else
        TRY(put_bad(t, b, &m, &row, &why, err));
    b->messages++;
    b->bytes += (int64_t)(m.key.n + m.value.n);
    p->last = m.offset;
    p->last_ms = m.timestamp_ms;
    p->last_bytes = (int64_t)(m.key.n + m.value.n);
    move_on(t, p, m.offset + 1);
    return OK;
}

static Status take_event(KafkaTopic *t, Batch *b, const rd_kafka_message_t *rkm, Error *err)
{
    KafkaPlace *p;

    switch (rkm->err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        kafka_topic_running(t);
        return take_message(t, b, rkm, err);
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        kafka_topic_running(t);
        p = kafka_place(&t->places, rkm->partition);
        if (p)
            move_on(t, p, rkm->offset);
        return OK;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET: case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        return kafka_topic_made_anew(t, rkm->partition, "the offset to read from is not there", err);
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

/* A batch that has rows ends when nothing more comes for a moment. */
static Status poll_batch(KafkaTopic *t, Batch *b, int idle_ms, Error *err)
{
    bool more = true;

    while (more && !is_full(b) && !source_stopping(t->r)) {
        rd_kafka_message_t *rkm = kafka_poll(&t->k, b->rows ? MOMENT_MS : idle_ms);
        more = rkm != NULL;
        Status s = more ? take_event(t, b, rkm, err) : OK;
        if (more)
            rd_kafka_message_destroy(rkm);
        TRY(s);
    }
    return OK;
}

/* ---- commit ---------------------------------------------------------------------------------------------------------------------------------------------------------- */

static Str note_of(Arena *a, const KafkaTopics *all)
{
    StrBuf b = sb_new(a);
    Json *bad = json_object(a);

    for vec_each(KafkaTopic, t, all) {
        kafka_places_write(&b, t->relation, &t->places);
        if (t->bad.n)
            json_set(a, bad, str_fmt(a, "%lld", (long long)t->relation).p, kafka_bad_json(a, &t->bad));
    }
    return kafka_places_end(&b, bad);
}

static void add_progress(KafkaTopic *t, int64_t *known, int64_t *committed)
{
    for vec_each(KafkaPlace, p, &t->places) {
        int64_t low, high = 0;
        (void)!rd_kafka_get_watermark_offsets(t->k.rk, t->k.topic.p, p->partition, &low, &high);
        *known += max_i64(high, p->next);
        *committed += p->next;
    }
}

void kafka_tell_progress(KafkaTopics *all)
{
    int64_t known = 0, committed = 0;
    bool behind = false;

    for vec_each(KafkaTopic, t, all) {
        add_progress(t, &known, &committed);
        behind |= t->behind > 0;
    }
    source_progress(all->p[0].r, known, committed);
    if (!behind)
        source_snapshot_done(all->p[0].r);
}

static Status commit_batch(KafkaTopics *all, KafkaTopic *t, Batch *b, Error *err)
{
    SourceBatch *rows = b->rows;

    if (!rows)
        return OK;
    b->rows = NULL;                                        /* it is free after the commit, whatever comes of it */
    TRY(source_commit(rows, note_of(b->a, all), err));
    t->moved = 1;
    kafka_bad_tell(t);
    source_received(t->r, b->messages, b->bytes);
    for vec_each(Poison, p, &b->poison)
        source_error(t->r, p->place, p->error);
    return OK;
}

Status kafka_batch(KafkaTopics *all, KafkaTopic *t, int idle_ms, Error *err)
{
    CLEANUP(batch_endp) Batch b = batch_new();

    TRY(poll_batch(t, &b, idle_ms, err));
    TRY(commit_batch(all, t, &b, err));
    if (b.blocked != OK)
        *err = b.why;
    return b.blocked;
}

Status kafka_batch_none(KafkaTopics *all, Error *err)
{
    CLEANUP(batch_endp) Batch b = batch_new();

    TRY(open_batch(&all->p[0], &b, err));
    return commit_batch(all, &all->p[0], &b, err);
}

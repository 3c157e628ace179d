/* SPDX-License-Identifier: Apache-2.0 */
/* source_kafka.c - a topic as a live relation, exactly once.
 *
 * Partitions are read from the places that are written with the rows (source_kafka_place.c): what Kafka thinks of the group is for people to look at.  Each output (the
 * source itself, or tables that were made from it) reads the topic by itself, from its own places.
 *
 * Options (resolved; words of SQL in lower case, of connections with blanks, of sources with underscores; numbers may be texts):
 *   "connection": {"broker": "h:9092" | "brokers": "h:9092,…" or ["h:9092", …], "security protocol", "sasl mechanisms", "sasl username", "sasl password",
 *                  "ssl certificate authority", "ssl certificate", "ssl key"}
 *   "topic", "group_id_prefix", "start_offset": [n, …] or n, "start_timestamp": ms (below 0: before now), "topic_metadata_refresh_interval": "30s"
 *   "format": {…} of both or, with "key_format": {…}, of the value: format.h
 *   "include": [{"name": "key" | "partition" | "offset" | "timestamp" | "headers" | "header:x" | "header bytes:x", "alias": "k"}, …]
 *   "envelope": "none" | "upsert" | "debezium", "value_decoding_errors": "error" (the column's name; absent: not inline)
 *   "table_options": {"<relation>": {"format", "key_format", "include", "envelope", "value_decoding_errors"}, …}: what outputs that are tables have for themselves
 * Output: one, named "" (the topic's name, when there is no format, or "tables" names it), external the topic, pinned the schemas. */
#include "source/source_kafka_int.h"

enum { IDLE_MS = 100 };

/* ---- CREATE SOURCE, VALIDATE CONNECTION -------------------------------------------------------------------------------------------------------------- */

static void output_of(Arena *a, const Json *options, const KafkaShape *s, Str topic, SourceOutput *ret)
{
    *ret = (SourceOutput){ .name = json_get(options, "tables") || !s ? topic : S(""), .external = topic };
    if (!s)
        return;
    ret->pinned = s->pinned;
    ret->key = s->key_names;
    for vec_each(SourceColumn, c, &s->columns)
        vec_push(a, &ret->columns, *c);
}

static Status discover_kafka(Arena *a, const SourceSpec *spec, SourceOutputs *ret, Error *err)
{
    KafkaTopic t = { .a = a, .options = spec->options };
    CLEANUP(kafka_closep) Kafka k = {0};
    SourceOutput out;
    int partitions;

    TRY(kafka_open(a, json_get(spec->options, "connection"), &k, err));
    TRY(kafka_use(a, &k, json_get_str(spec->options, "topic", S("")), err));
    TRY(kafka_partitions(&k, &partitions, err));
    t.k.topic = k.topic;
    TRY(kafka_topic_check(&t, partitions, err));
    if (json_get(spec->options, "format"))
        TRY(kafka_shape(a, spec->options, S(""), &t.shape, err));
    output_of(a, spec->options, t.shape, k.topic, &out);
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

static const char *const own_options[] = { "format", "key_format", "include", "envelope", "value_decoding_errors" };

/* The source's options, with those of the output in place of what the source says of formats. */
static const Json *options_of(Arena *a, const Json *options, int64_t relation)
{
    const Json *own = json_get(json_get(options, "table_options"), str_fmt(a, "%lld", (long long)relation).p);
    Json *all;

    if (!own)
        return options;
    all = json_copy(a, options);
    for (size_t i = 0; i < COUNT_OF(own_options); i++) {
        Json *v = json_get(own, own_options[i]);
        (void)json_del(all, str_c(own_options[i]));
        if (v)
            json_set(a, all, own_options[i], v);
    }
    return all;
}

static Str group_of(Arena *a, const SourceSpec *spec)
{
    return str_fmt(a, STR_FMT "materialize-firn-u%lld", STR_ARG(json_get_str(spec->options, "group_id_prefix", S(""))), (long long)spec->id);
}

static KafkaTopics topics_of(SourceRun *r, Arena *a)
{
    const SourceSpec *spec = source_spec(r);
    KafkaTopics all = { arena_array(a, KafkaTopic, spec->outputs->n + 1), spec->outputs->n };
    int *running = arena_new(a, int);

    for (size_t i = 0; i < all.n; i++) {
        int64_t relation = spec->outputs->p[i].relation;
        all.p[i] = (KafkaTopic){ .r = r, .a = a, .output = i, .relation = relation, .options = options_of(a, spec->options, relation), .running = running };
    }
    if (all.n)
        all.p[0].group = group_of(a, spec);
    return all;
}

static Status open_all(KafkaTopics *all, Arena *a, Error *err)
{
    Str note = source_offsets(all->p[0].r, a);
    int first = 0;

    for vec_each(KafkaTopic, t, all) {
        TRY(kafka_topic_open(t, note, err));
        first |= t->first;
        TRY(kafka_topic_start(t, err));
    }
    return first && !source_stopping(all->p[0].r) ? kafka_batch_none(all, err) : OK;
}

static Status read_all(KafkaTopics *all, Error *err)
{
    while (!source_stopping(all->p[0].r)) {
        for vec_each(KafkaTopic, t, all) {
            TRY(kafka_batch(all, t, IDLE_MS / (int)all->n + 1, err));
            TRY(kafka_topic_upkeep(t, err));
        }
        kafka_tell_progress(all);
    }
    return OK;
}

static Status run_kafka(SourceRun *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    KafkaTopics all = topics_of(r, a);

    if (!all.n) {
        source_status(r, "running", (Str){0}, (Str){0});   /* its tables are still to come */
        return OK;
    }
    Status s = open_all(&all, a, err);
    if (s == OK)
        s = read_all(&all, err);
    for vec_each(KafkaTopic, t, &all)
        kafka_closep(&t->k);
    return s;
}

const SourceConnector source_kafka = { "kafka", discover_kafka, run_kafka, validate_kafka, NULL };

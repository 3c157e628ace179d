/* SPDX-License-Identifier: Apache-2.0 */
/* source_kafka_int.h - inside of the Kafka source: a topic's columns, the places up to which it was read, the client. */
#ifndef FIRN_SOURCE_KAFKA_INT_H
#define FIRN_SOURCE_KAFKA_INT_H

#include <librdkafka/rdkafka.h>

#include "source/format.h"
#include "source/source_int.h"

enum {
    KAFKA_PARTITIONS_MAX = 10000,
    KAFKA_INCLUDES_MAX   = 100,
    KAFKA_HEADERS_MAX    = 10000,       /* of one message */
};

/* ---- columns and rows (source_kafka_shape.c, source_kafka_row.c) ------------------------------------------------------------------------------------------ */

typedef enum { KAFKA_NONE, KAFKA_UPSERT, KAFKA_DEBEZIUM } KafkaEnvelope;
typedef enum { KAFKA_PARTITION, KAFKA_OFFSET, KAFKA_TIMESTAMP, KAFKA_HEADERS, KAFKA_HEADER, KAFKA_HEADER_BYTES } KafkaMetaKind;
typedef struct KafkaMeta { KafkaMetaKind kind; Str header; } KafkaMeta;

typedef struct KafkaHeader { Str name, value; int is_null; } KafkaHeader;
typedef struct KafkaMessage {
    Str key, value;
    int has_key, has_value;
    int32_t partition;
    int64_t offset, timestamp_ms;
    VEC(KafkaHeader) headers;
} KafkaMessage;

typedef struct KafkaShape {
    Arena *a;
    KafkaEnvelope envelope;
    Format *key, *value;                  /* key NULL: it is not decoded */
    int key_in_row;                       /* the key's columns stand in front */
    int key_named;                        /* … as one column, a record of several */
    int inline_errors;
    VEC(KafkaMeta) metas;
    FormatColumns columns;                /* [key] [value] [error] [metas] */
    size_t nkey, nvalue;                  /* columns of each in the row */
    size_t key_cells;                     /* that decoding the key gives */
    StrVec key_names;                     /* the row's key: UPSERT, DEBEZIUM */
    Str pinned;
} KafkaShape;

/* pinned "": the source is being made, the registry is asked; else the schemas are those. */
NODISCARD Status kafka_shape(Arena *a, const Json *options, Str pinned, KafkaShape **ret, Error *err);

typedef enum { KAFKA_SKIP, KAFKA_INSERT, KAFKA_PUT, KAFKA_DELETE } KafkaVerb;       /* PUT, DELETE: by key */
typedef struct KafkaRow { KafkaVerb verb; Value *cells, *key; } KafkaRow;
/* An error that format_is_poison is of this message alone; with a key in `ret`, of its value. */
NODISCARD Status kafka_row(KafkaShape *s, Arena *a, const KafkaMessage *m, KafkaRow *ret, Error *err);

/* ---- places (source_kafka_place.c) -------------------------------------------------------------------------------------------------------- */

/* next: the offset to go on from. last: of the message that came before, and what it looked like, by which a topic that was made anew is found out. */
typedef struct KafkaPlace { int32_t partition; int64_t next, last, last_ms, last_bytes; int verify; } KafkaPlace;      /* last -1: none */
typedef struct KafkaPlaces { KafkaPlace *p; size_t n, cap; } KafkaPlaces;
NODISCARD Status kafka_places_read(Arena *a, Str note, int64_t relation, KafkaPlaces *ret, Error *err);
void kafka_places_write(StrBuf *b, int64_t relation, const KafkaPlaces *p);        /* into an empty buffer, one after the other, then the end */
Str kafka_places_end(StrBuf *b, const Json *bad);                          /* bad: by relation, kafka_bad_json; NULL: none */
KafkaPlace *kafka_place(KafkaPlaces *p, int32_t partition);               /* NULL: none */

/* ---- keys whose value cannot be decoded (source_kafka_bad.c) ------------------------------------------------------------------------------ */

typedef struct KafkaBadKey { Str key, error; } KafkaBadKey;
typedef VEC(KafkaBadKey) KafkaBad;
NODISCARD Status kafka_bad_read(Arena *a, Str note, int64_t relation, KafkaBad *ret, Error *err);
Json *kafka_bad_json(Arena *a, const KafkaBad *b);

/* ---- the client (source_kafka_client.c) -------------------------------------------------------------------------------------------------------- */

/* queue: messages of the partitions that were started; told: answers about a group's offsets; code, error: the newest that librdkafka said; down: no broker is there. */
typedef struct Kafka { rd_kafka_t *rk; rd_kafka_topic_t *handle; rd_kafka_queue_t *queue, *told; Str topic; char error[512]; rd_kafka_resp_err_t code; int down, telling; } Kafka;
NODISCARD Status kafka_open(Arena *a, const Json *connection, Kafka *ret, Error *err);
NODISCARD Status kafka_use(Arena *a, Kafka *k, Str topic, Error *err);
void kafka_closep(Kafka *k);
NODISCARD Status kafka_start(Kafka *k, int32_t partition, int64_t offset, Error *err);
rd_kafka_message_t *kafka_poll(Kafka *k, int ms);         /* NULL: nothing came; rd_kafka_message_destroy */
/* Tells the group's offsets; returns at once. false: the last ones are still on their way. */
bool kafka_tell_group(Kafka *k, Str group, const KafkaPlaces *places);
/* E_NOT_FOUND: no such topic. */
NODISCARD Status kafka_partitions(Kafka *k, int *ret, Error *err);
NODISCARD Status kafka_watermarks(Kafka *k, int32_t partition, int64_t *low, int64_t *high, Error *err);
NODISCARD Status kafka_ends(Kafka *k, int32_t first, size_t n, int64_t *low, int64_t *high, Error *err);        /* of n partitions at once */
NODISCARD Status kafka_offset_at(Kafka *k, int32_t partition, int64_t ms, int64_t *ret, Error *err);       /* of the first message not before; the end when there is none */
/* Any broker, and what it says to these credentials. */
NODISCARD Status kafka_check(Kafka *k, Error *err);
Status kafka_failed(const Kafka *k, rd_kafka_resp_err_t code, const char *what, Error *err);

/* ---- a topic on its way into one output (source_kafka_topic.c, source_kafka_batch.c) ------------------------------------------------------------ */

typedef struct KafkaTopic {
    SourceRun *r;
    Arena *a;
    const Json *options;
    size_t output;
    int64_t relation;
    Kafka k;
    KafkaShape *shape;
    KafkaPlaces places;
    KafkaBad bad;
    int failing;                          /* reads of the output were told to fail */
    VEC(int64_t) targets;                 /* where each partition that was started ended then */
    size_t behind;                        /* partitions that have not come so far */
    int first;                            /* nothing was read before */
    int *running;                         /* the source's status says so */
    int moved;                            /* the group was not told of the last commit */
    Str group;                            /* empty: it is not told */
    int64_t refresh_us, refreshed_us, group_us, probe_us;
} KafkaTopic;
typedef struct KafkaTopics { KafkaTopic *p; size_t n; } KafkaTopics;       /* one for each output, in their order */

NODISCARD Status kafka_topic_check(KafkaTopic *t, int partitions, Error *err);             /* its options, for CREATE SOURCE */
NODISCARD Status kafka_topic_open(KafkaTopic *t, Str note, Error *err);
/* Partitions that are there and were not started yet, each from its place. */
NODISCARD Status kafka_topic_start(KafkaTopic *t, Error *err);
/* New partitions, brokers that are back, the group's offsets: from time to time. */
NODISCARD Status kafka_topic_upkeep(KafkaTopic *t, Error *err);
void kafka_topic_running(KafkaTopic *t);
NODISCARD Status kafka_bad_mark(KafkaTopic *t, Arena *scratch, const KafkaMessage *m, const Error *why, Error *err);     /* E_LIMIT */
void kafka_bad_clear(KafkaTopic *t, Arena *scratch, const KafkaMessage *m);
void kafka_bad_tell(KafkaTopic *t);
Status kafka_topic_made_anew(const KafkaTopic *t, int32_t partition, const char *how, Error *err);

/* Messages of one topic until a batch is full or nothing comes for `idle_ms`, then one tick with the places of all. */
NODISCARD Status kafka_batch(KafkaTopics *all, KafkaTopic *t, int idle_ms, Error *err);
/* The places alone, before anything is read: what START TIMESTAMP came to stays so. */
NODISCARD Status kafka_batch_none(KafkaTopics *all, Error *err);
void kafka_tell_progress(KafkaTopics *all);

#endif

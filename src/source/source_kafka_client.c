/* SPDX-License-Identifier: Apache-2.0 */
/* source_kafka_client.c - librdkafka set up by a connection's options, and what is asked of a cluster besides messages.
 *
 * librdkafka tries again by itself and logs to standard error unless told otherwise: here it says what is wrong to `Kafka.error`, which is part of our errors.
 * Only committed transactions are read, and positions are ours: nothing is committed or reset by the library.  Partitions are started one by one, outside of any group:
 * a consumer of a group cannot be closed while its topic is gone or its coordinator does not answer (librdkafka 2.0).  The group's offsets are told as an administrator does. */
#include "source/source_kafka_int.h"

enum { ASK_MS = 5000, STEP_MS = 500 };

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque);
static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text);

/* ---- configuration ---------------------------------------------------------------------------------------------------------------------------- */

static Status set(rd_kafka_conf_t *conf, Arena *a, const char *name, Str value, Error *err)
{
    char why[400];

    if (!value.n)
        return OK;
    if (rd_kafka_conf_set(conf, name, str_z(a, value), why, sizeof why) != RD_KAFKA_CONF_OK)
        return FAIL(err, E_INVALID, "Kafka: %s", why);
    return OK;
}

/* The option is a text, or a list of texts. */
static Str brokers(Arena *a, const Json *connection)
{
    const Json *list = json_get(connection, "brokers");
    StrVec all = {0};

    if (json_is(list, JSON_STRING))
        return list->string;
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < json_len(list); i++)
        if (json_is(json_at(list, i), JSON_STRING))
            vec_push(a, &all, json_at(list, i)->string);
    return all.n ? str_join(a, &all, S(",")) : json_get_str(connection, "broker", S(""));
}

static Str protocol(Arena *a, const Json *connection)
{
    Str given = json_get_str(connection, "security protocol", S(""));

    if (given.n)
        return str_lower(a, given);
    return json_get_str(connection, "sasl mechanisms", S("")).n ? S("sasl_ssl") : S("ssl");
}

static Status set_security(rd_kafka_conf_t *conf, Arena *a, const Json *connection, Error *err)
{
    static const struct { const char *option, *name; } texts[] = {
        { "sasl mechanisms", "sasl.mechanisms" }, { "sasl username", "sasl.username" }, { "sasl password", "sasl.password" },
        { "ssl certificate authority", "ssl.ca.pem" }, { "ssl certificate", "ssl.certificate.pem" }, { "ssl key", "ssl.key.pem" },
    };

    TRY(set(conf, a, "security.protocol", protocol(a, connection), err));
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        TRY_CTX(set(conf, a, texts[i].name, json_get_str(connection, texts[i].option, S("")), err), err, "%s", texts[i].option);
    return OK;
}

/* What is fetched ahead lies in one queue for all partitions, and its bound is that of the whole queue. */
static Status set_all(rd_kafka_conf_t *conf, Arena *a, const Json *connection, Error *err)
{
    static const struct { const char *name, *value; } fixed[] = {
        { "client.id", "firn" }, { "enable.auto.commit", "false" }, { "auto.offset.reset", "error" },
        { "isolation.level", "read_committed" }, { "enable.partition.eof", "true" }, { "allow.auto.create.topics", "false" },
        { "queued.max.messages.kbytes", "65536" }, { "fetch.max.bytes", "16777216" }, { "receive.message.max.bytes", "134217728" },
        { "socket.keepalive.enable", "true" }, { "reconnect.backoff.max.ms", "5000" }, { "topic.metadata.refresh.interval.ms", "30000" },
    };
    Str all = brokers(a, connection);

    if (!all.n)
        return FAIL(err, E_INVALID, "Kafka: the connection has no BROKER");
    TRY(set(conf, a, "bootstrap.servers", all, err));
    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        TRY(set(conf, a, fixed[i].name, str_c(fixed[i].value), err));
    return set_security(conf, a, connection, err);
}

static void conf_freep(rd_kafka_conf_t **conf)
{
    if (*conf)
        rd_kafka_conf_destroy(*conf);
}

Status kafka_open(Arena *a, const Json *connection, Kafka *ret, Error *err)
{
    CLEANUP(conf_freep) rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char why[400];

    *ret = (Kafka){0};
    TRY(set_all(conf, a, connection, err));
    rd_kafka_conf_set_opaque(conf, ret);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, on_log);
    ret->rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    if (!ret->rk)
        return FAIL(err, E_INVALID, "Kafka: %s", why);
    conf = NULL;                                          /* the client owns it now */
    return OK;
}

Status kafka_use(Arena *a, Kafka *k, Str topic, Error *err)
{
    if (!topic.n)
        return FAIL(err, E_INVALID, "KAFKA CONNECTION without TOPIC");
    k->topic = str_dup(a, topic);
    k->handle = rd_kafka_topic_new(k->rk, k->topic.p, NULL);
    if (!k->handle)
        return kafka_failed(k, rd_kafka_last_error(), "the topic's name", err);
    k->queue = rd_kafka_queue_new(k->rk);
    k->told = rd_kafka_queue_new(k->rk);
    return OK;
}

void kafka_closep(Kafka *k)
{
    if (k->queue)
        rd_kafka_queue_destroy(k->queue);
    if (k->told)
        rd_kafka_queue_destroy(k->told);
    if (k->handle)
        rd_kafka_topic_destroy(k->handle);
    if (k->rk)
        rd_kafka_destroy_flags(k->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    k->rk = NULL;
    k->handle = NULL;
    k->queue = k->told = NULL;
}

/* ---- messages, the group's offsets -------------------------------------------------------------------------------------------------------------- */

Status kafka_start(Kafka *k, int32_t partition, int64_t offset, Error *err)
{
    return rd_kafka_consume_start_queue(k->handle, partition, offset, k->queue) == 0 ? OK : kafka_failed(k, rd_kafka_last_error(), "reading a partition", err);
}

rd_kafka_message_t *kafka_poll(Kafka *k, int ms)
{
    (void)!rd_kafka_poll(k->rk, 0);                       /* errors */
    return rd_kafka_consume_queue(k->queue, ms);
}

bool kafka_tell_group(Kafka *k, Str group, const KafkaPlaces *places)
{
    rd_kafka_event_t *done;
    rd_kafka_AlterConsumerGroupOffsets_t *q;
    rd_kafka_topic_partition_list_t *list;

    while ((done = rd_kafka_queue_poll(k->told, 0)) != NULL) {
        rd_kafka_event_destroy(done);
        k->telling = 0;
    }
    if (k->telling)
        return false;
    list = rd_kafka_topic_partition_list_new((int)places->n);
    for vec_each(KafkaPlace, p, places)
        rd_kafka_topic_partition_list_add(list, k->topic.p, p->partition)->offset = p->next;
    q = rd_kafka_AlterConsumerGroupOffsets_new(group.p, list);
    rd_kafka_AlterConsumerGroupOffsets(k->rk, &q, 1, NULL, k->told);
    rd_kafka_AlterConsumerGroupOffsets_destroy(q);
    rd_kafka_topic_partition_list_destroy(list);
    k->telling = 1;
    return true;
}

static void on_error(rd_kafka_t *rk UNUSED, int code, const char *reason, void *opaque)
{
    Kafka *k = opaque;
    size_t n = min_size(strlen(reason), sizeof k->error - 1);

    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        k->down = 1;
        return;                                           /* it came with reasons before */
    }
    k->code = code;
    memcpy(k->error, reason, n);
    k->error[n] = 0;
}

static void on_log(const rd_kafka_t *rk UNUSED, int level UNUSED, const char *facility UNUSED, const char *text UNUSED)
{
}

/* ---- errors ------------------------------------------------------------------------------------------------------------------------------------- */

static Status status_of(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART: case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC: case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: return E_NOT_FOUND;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED: case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED: case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED: return E_DENIED;
    case RD_KAFKA_RESP_ERR__AUTHENTICATION: case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED: case RD_KAFKA_RESP_ERR__SSL: return E_AUTH;
    default: return E_UNAVAILABLE;
    }
}

static bool is_waiting(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR__TIMED_OUT || code == RD_KAFKA_RESP_ERR__TRANSPORT || code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
}

/* The reason that brokers gave is worth more than "timed out". */
Status kafka_failed(const Kafka *k, rd_kafka_resp_err_t code, const char *what, Error *err)
{
    bool waited = is_waiting(code) || status_of(code) == E_AUTH;

    RAISE(err, status_of(code), "Kafka: %s: %s%s%s", what, rd_kafka_err2str(code), waited && k->error[0] ? ": " : "", waited ? k->error : "");
    if (waited)
        error_hint(err, "Check the connection's brokers, security protocol and credentials, and that the brokers can be reached from here.");
    return err->code;
}

/* ---- questions ---------------------------------------------------------------------------------------------------------------------------------------- */

/* No broker is there, or none lets us in: more waiting is of no use. */
static bool hopeless(const Kafka *k) { return k->down || k->code == RD_KAFKA_RESP_ERR__AUTHENTICATION || k->code == RD_KAFKA_RESP_ERR__SSL; }

static Status metadata(Kafka *k, rd_kafka_topic_t *topic, const struct rd_kafka_metadata **ret, Error *err)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;

    k->code = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int ms = 0; is_waiting(code) && ms < ASK_MS && !hopeless(k); ms += STEP_MS) {
        code = rd_kafka_metadata(k->rk, 0, topic, ret, STEP_MS);
        (void)!rd_kafka_poll(k->rk, 0);                   /* errors */
    }
    if (is_waiting(code) && status_of(k->code) == E_AUTH)
        code = k->code;
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? OK : kafka_failed(k, code, "asking the cluster", err);
}

static Status count_partitions(Kafka *k, const struct rd_kafka_metadata *md, int *ret, Error *err)
{
    if (md->topic_cnt != 1 || md->topics[0].err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        return FAIL(err, E_NOT_FOUND, "topic " STR_FMT " does not exist", STR_ARG(k->topic));
    if (md->topics[0].err)
        return kafka_failed(k, md->topics[0].err, "asking for the topic", err);
    *ret = md->topics[0].partition_cnt;
    if (*ret < 1 || *ret > KAFKA_PARTITIONS_MAX)
        return FAIL(err, E_LIMIT, "topic " STR_FMT " has %d partitions, the limit is %d", STR_ARG(k->topic), *ret, KAFKA_PARTITIONS_MAX);
    return OK;
}

Status kafka_partitions(Kafka *k, int *ret, Error *err)
{
    const struct rd_kafka_metadata *md = NULL;

    TRY(metadata(k, k->handle, &md, err));
    Status s = count_partitions(k, md, ret, err);
    rd_kafka_metadata_destroy(md);
    return s;
}

Status kafka_check(Kafka *k, Error *err)
{
    const struct rd_kafka_metadata *md = NULL;

    TRY(metadata(k, NULL, &md, err));
    int brokers_there = md->broker_cnt;
    rd_kafka_metadata_destroy(md);
    return brokers_there > 0 ? OK : FAIL(err, E_UNAVAILABLE, "Kafka: the cluster names no broker");
}

Status kafka_watermarks(Kafka *k, int32_t partition, int64_t *low, int64_t *high, Error *err)
{
    rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(k->rk, k->topic.p, partition, low, high, ASK_MS);

    (void)!rd_kafka_poll(k->rk, 0);                       /* errors */
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? OK : kafka_failed(k, code, "asking for a partition's offsets", err);
}

/* Of partitions first, first + 1 … at once; `which` is one of the times that stand for an end. */
static Status ends(Kafka *k, int32_t first, size_t n, int64_t which, int64_t *ret, Error *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)n);

    for (size_t i = 0; i < n; i++)
        rd_kafka_topic_partition_list_add(list, k->topic.p, first + (int32_t)i)->offset = which;
    rd_kafka_resp_err_t code = rd_kafka_offsets_for_times(k->rk, list, ASK_MS);
    for (int i = 0; i < list->cnt && !code; i++) {
        code = list->elems[i].err;
        ret[list->elems[i].partition - first] = list->elems[i].offset;
    }
    rd_kafka_topic_partition_list_destroy(list);
    (void)!rd_kafka_poll(k->rk, 0);                       /* errors */
    return code ? kafka_failed(k, code, "asking for the partitions' offsets", err) : OK;
}

Status kafka_ends(Kafka *k, int32_t first, size_t n, int64_t *low, int64_t *high, Error *err)
{
    TRY(ends(k, first, n, RD_KAFKA_OFFSET_BEGINNING, low, err));
    return ends(k, first, n, RD_KAFKA_OFFSET_END, high, err);
}

Status kafka_offset_at(Kafka *k, int32_t partition, int64_t ms, int64_t *ret, Error *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    int64_t low;

    rd_kafka_topic_partition_list_add(list, k->topic.p, partition)->offset = ms;
    rd_kafka_resp_err_t code = rd_kafka_offsets_for_times(k->rk, list, ASK_MS);
    if (!code)
        code = list->elems[0].err;
    *ret = list->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(list);
    if (code)
        return kafka_failed(k, code, "asking for the offset at a time", err);
    return *ret >= 0 ? OK : kafka_watermarks(k, partition, &low, ret, err);
}

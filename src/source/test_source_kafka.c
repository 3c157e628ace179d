/* SPDX-License-Identifier: Apache-2.0 */
/* test_source_kafka.c - Kafka sources against librdkafka's own mock of a cluster: restarts, poison, topics that are gone or were made anew, brokers that go away. */
#include "source/source_world_test.h"
#include "source/format_test.h"
#include "source/source_kafka_int.h"

#include <librdkafka/rdkafka_mock.h>

enum { ID = 7, RELATION = 20, WAIT_US = 20 * 1000 * 1000 };

static void quiet(const rd_kafka_t *rk UNUSED, int level UNUSED, const char *facility UNUSED, const char *text UNUSED)
{
}

static void new_cluster(World *w)
{
    char why[400];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    rd_kafka_conf_set_log_cb(conf, quiet);
    w->producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    w->cluster = rd_kafka_mock_cluster_new(w->producer, 1);
    assert_int_equal(rd_kafka_brokers_add(w->producer, rd_kafka_mock_cluster_bootstraps(w->cluster)), 1);
}

static void end_cluster(World *w)
{
    rd_kafka_mock_cluster_destroy(w->cluster);
    rd_kafka_destroy(w->producer);
}

static void begin(World *w)
{
    *w = (World){ .a = arena_create() };
    snprintf(w->path, sizeof w->path, "/tmp/firn-kafka-%d.db", (int)getpid());
    remove_files(w);
    open_world(w);
    new_cluster(w);
}

static void end_world(World *w)
{
    close_world(w);
    end_cluster(w);
    remove_files(w);
    arena_destroy(w->a);
}

static void topic(World *w, const char *name, int partitions)
{
    assert_int_equal(rd_kafka_mock_topic_create(w->cluster, name, partitions, 1), 0);
}

static void produce(World *w, const char *topic_name, int partition, const char *key, const char *value)
{
    rd_kafka_resp_err_t e = rd_kafka_producev(w->producer, RD_KAFKA_V_TOPIC(topic_name), RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_KEY((void *)(uintptr_t)key, key ? strlen(key) : 0),
                                              RD_KAFKA_V_VALUE((void *)(uintptr_t)value, value ? strlen(value) : 0), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    assert_int_equal(e, 0);
}

static void flush(World *w) { assert_int_equal(rd_kafka_flush(w->producer, 10000), 0); }

static void set_options(World *w, const char *rest)
{
    w->options = str_fmt(w->a, "{\"type\": \"kafka\", \"connection\": {\"broker\": \"%s\", \"security protocol\": \"PLAINTEXT\"}, %s}", rd_kafka_mock_cluster_bootstraps(w->cluster), rest);
}

static Status discover(World *w, Error *err)
{
    Json *j;
    assert_ok(json_parse(w->a, w->options, &j, err), err);
    SourceSpec spec = { .id = ID, .type = S("kafka"), .options = j };
    w->outputs.n = 0;
    return source_kafka.discover(w->a, &spec, &w->outputs, err);
}

static void create(World *w, const char *rest)
{
    LiveColumns cols = {0};
    Error err;

    set_options(w, rest);
    assert_ok(discover(w, &err), &err);
    assert_int_equal(w->outputs.n, 1);
    for (size_t c = 0; c < w->outputs.p[0].columns.n; c++) {
        LiveColumn col = { str_fmt(w->a, "c%zu", c + 1), w->outputs.p[0].columns.p[c].type, w->outputs.p[0].columns.p[c].not_null };
        vec_push(w->a, &cols, col);
    }
    w->outputs.p[0].relation = RELATION;
    assert_ok(live_table_create(w->live, RELATION, &cols, &err), &err);
}

static void start(World *w)
{
    Error err;
    assert_ok(source_start(w->sources, ID, S("kafka"), &w->outputs, &err), &err);
}

static int64_t scalar(World *w, const char *what)
{
    Error err;
    Str sql;
    int64_t n = 0;
    bool has;

    assert_ok(live_relation_sql(w->live, w->a, RELATION, &sql, &err), &err);
    assert_ok(duck_scalar_i64(w->db, str_fmt(w->a, "SELECT CAST(%s AS BIGINT) FROM " STR_FMT " q", what, STR_ARG(sql)), &n, &has, &err), &err);
    return n;
}

static Str last_status(World *w)
{
    LiveStatuses all = {0};
    Error err;

    assert_ok(live_status_list(w->live, w->a, &all, &err), &err);
    return all.n ? str_fmt(w->a, STR_FMT " " STR_FMT, STR_ARG(vec_last(&all).status), STR_ARG(vec_last(&all).error)) : S("none");
}

static void wait_for(World *w, const char *what, int64_t wanted)
{
    int64_t until = clock_mono_us() + WAIT_US, n;

    while ((n = scalar(w, what)) != wanted && clock_mono_us() < until)
        usleep(20000);
    if (n != wanted)
        fail_msg("%s is %lld, not %lld; status " STR_FMT, what, (long long)n, (long long)wanted, STR_ARG(last_status(w)));
}

static SourceReport report(World *w)
{
    SourceReport r = {0};
    assert_true(source_report(w->sources, ID, &r));
    return r;
}

static Str status_with(World *w, const char *status, const char *text)
{
    LiveStatuses all = {0};
    Error err;

    assert_ok(live_status_list(w->live, w->a, &all, &err), &err);
    for (size_t i = all.n; i > 0; i--)
        if (all.p[i - 1].object == ID && str_eq(all.p[i - 1].status, str_c(status)) && str_find(all.p[i - 1].error, str_c(text)) >= 0)
            return S("found");
    return all.n ? vec_last(&all).error : S("");
}

static void wait_status(World *w, const char *status, const char *text)
{
    int64_t until = clock_mono_us() + WAIT_US;
    Str s;

    while (!str_eq(s = status_with(w, status, text), S("found")) && clock_mono_us() < until)
        usleep(50000);
    if (!str_eq(s, S("found")))
        fail_msg("no status %s with '%s' but '" STR_FMT "'", status, text, STR_ARG(s));
}

static void restart_world(World *w)
{
    close_world(w);
    open_world(w);
}

/* ---- tests -------------------------------------------------------------------------------------------------------------------------------- */

static void append_over_restarts(void **state UNUSED)
{
    World w;
    char v[40];

    begin(&w);
    topic(&w, "t", 3);
    create(&w, "\"topic\": \"t\", \"format\": {\"format\": \"text\"}, \"include\": [{\"name\": \"partition\"}, {\"name\": \"offset\"}]");
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 500; i++) {
            snprintf(v, sizeof v, "%d", round * 500 + i);
            produce(&w, "t", i % 3, NULL, v);
        }
        flush(&w);
        start(&w);
        wait_for(&w, "count(*)", (round + 1) * 500);
        if (round % 2)
            source_stop(w.sources, ID);
        else
            restart_world(&w);
    }
    assert_int_equal(scalar(&w, "count(DISTINCT c1)"), 2000);
    assert_int_equal(scalar(&w, "sum(c1::BIGINT)"), 1999 * 1000);
    assert_int_equal(scalar(&w, "count(DISTINCT (c2, c3))"), 2000);
    end_world(&w);
}

static void reports(void **state UNUSED)
{
    World w;

    begin(&w);
    topic(&w, "t", 2);
    create(&w, "\"topic\": \"t\", \"format\": {\"format\": \"json\"}");
    produce(&w, "t", 0, NULL, "{\"a\": 1}");
    produce(&w, "t", 0, NULL, "{\"a\": ");
    produce(&w, "t", 1, NULL, "\xff");
    produce(&w, "t", 1, NULL, "[2]");
    flush(&w);
    start(&w);
    wait_for(&w, "count(*)", 2);
    wait_status(&w, "running", "");
    for (int i = 0; i < 200 && (report(&w).errors < 2 || !report(&w).snapshot_done); i++)
        usleep(50000);
    SourceReport r = report(&w);
    assert_int_equal(r.errors, 2);
    assert_int_equal(r.messages_received, 4);
    assert_int_equal(r.offset_known.v, 4);
    assert_int_equal(r.offset_committed.v, 4);
    assert_true(r.snapshot_done);
    SourceErrors e = {0};
    source_errors(w.sources, w.a, ID, &e);
    assert_int_equal(e.n, 2);
    bool found = false;
    for vec_each(SourceError, x, &e)
        found |= str_eq(x->place, S("topic t, partition 0, offset 1")) && str_starts(x->error, S("value: JSON: no value at byte 6"));
    assert_true(found);
    end_world(&w);
}

static void upsert_and_tombstones(void **state UNUSED)
{
    World w;

    begin(&w);
    topic(&w, "t", 1);
    create(&w, "\"topic\": \"t\", \"key_format\": {\"format\": \"text\"}, \"format\": {\"format\": \"text\"}, \"envelope\": \"upsert\"");
    produce(&w, "t", 0, "a", "1");
    produce(&w, "t", 0, "b", "2");
    produce(&w, "t", 0, "a", "3");
    produce(&w, "t", 0, "c", "4");
    flush(&w);
    start(&w);
    wait_for(&w, "sum(c2::BIGINT)", 9);
    produce(&w, "t", 0, "b", NULL);
    produce(&w, "t", 0, "c", "5");
    produce(&w, "t", 0, "a", "\xff");                    /* cannot be read, and soon can be */
    produce(&w, "t", 0, "a", "3");
    produce(&w, "t", 0, NULL, "6");
    produce(&w, "t", 0, "z", NULL);
    flush(&w);
    wait_for(&w, "sum(c2::BIGINT)", 8);
    assert_int_equal(scalar(&w, "count(*)"), 2);
    for (int i = 0; i < 200 && report(&w).errors < 2; i++)
        usleep(50000);
    assert_int_equal(report(&w).errors, 2);
    end_world(&w);
}

static bool fails(World *w)
{
    Error err = {0};
    Str sql;

    return live_relation_sql(w->live, w->a, RELATION, &sql, &err) != OK && strstr(err.message, "Envelope error: Upsert: Value error: value");
}

static void wait_fails(World *w, bool wanted)
{
    int64_t until = clock_mono_us() + WAIT_US;

    while (fails(w) != wanted && clock_mono_us() < until)
        usleep(50000);
    assert_int_equal(fails(w), wanted);
}

/* Until it gets another value, or a tombstone; over a restart, too. */
static void a_value_that_cannot_be_decoded_is_its_keys_error(void **state UNUSED)
{
    World w;

    begin(&w);
    topic(&w, "t", 1);
    create(&w, "\"topic\": \"t\", \"key_format\": {\"format\": \"text\"}, \"format\": {\"format\": \"text\"}, \"envelope\": \"upsert\"");
    produce(&w, "t", 0, "a", "1");
    produce(&w, "t", 0, "b", "2");
    flush(&w);
    start(&w);
    wait_for(&w, "sum(c2::BIGINT)", 3);
    produce(&w, "t", 0, "a", "\xff");
    produce(&w, "t", 0, "b", "\xfe");
    flush(&w);
    wait_fails(&w, true);
    produce(&w, "t", 0, "a", "5");
    produce(&w, "t", 0, "c", "6");
    flush(&w);
    usleep(500000);
    assert_true(fails(&w));                              /* b is left */
    restart_world(&w);
    start(&w);
    wait_fails(&w, true);
    produce(&w, "t", 0, "b", NULL);
    flush(&w);
    wait_fails(&w, false);
    wait_for(&w, "sum(c2::BIGINT)", 11);
    assert_int_equal(scalar(&w, "count(*)"), 2);
    end_world(&w);
}

static void where_to_start(void **state UNUSED)
{
    World w;
    Error err;

    begin(&w);
    topic(&w, "t", 2);
    for (int i = 0; i < 10; i++)
        produce(&w, "t", i % 2, NULL, "x");
    flush(&w);
    create(&w, "\"topic\": \"t\", \"format\": {\"format\": \"text\"}, \"start_offset\": [\"3\", 4]");
    start(&w);
    wait_for(&w, "count(*)", 3);
    set_options(&w, "\"topic\": \"t\", \"format\": {\"format\": \"text\"}, \"start_offset\": [1, 2, 3]");
    assert_status(discover(&w, &err), E_INVALID);
    assert_non_null(strstr(err.message, "START OFFSET specified more partitions (3)"));
    set_options(&w, "\"topic\": \"t\", \"format\": {\"format\": \"text\"}, \"start_offset\": -1");
    assert_status(discover(&w, &err), E_INVALID);
    set_options(&w, "\"topic\": \"t\", \"format\": {\"format\": \"text\"}, \"topic_metadata_refresh_interval\": \"2h\"");
    assert_status(discover(&w, &err), E_INVALID);
    rd_kafka_mock_topic_set_error(w.cluster, "nothing", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    set_options(&w, "\"topic\": \"nothing\", \"format\": {\"format\": \"text\"}");
    assert_status(discover(&w, &err), E_NOT_FOUND);
    end_world(&w);
}

static void a_topic_made_anew_stalls(void **state UNUSED)
{
    World w;

    begin(&w);
    topic(&w, "t", 1);
    create(&w, "\"topic\": \"t\", \"format\": {\"format\": \"text\"}");
    for (int i = 0; i < 5; i++)
        produce(&w, "t", 0, NULL, "old");
    flush(&w);
    start(&w);
    wait_for(&w, "count(*)", 5);
    source_stop(w.sources, ID);
    end_cluster(&w);
    new_cluster(&w);                                      /* shorter than it was */
    topic(&w, "t", 1);
    produce(&w, "t", 0, NULL, "new");
    flush(&w);
    set_options(&w, "\"topic\": \"t\", \"format\": {\"format\": \"text\"}");
    start(&w);
    wait_status(&w, "stalled", "it was read to offset 5 and ends at 1 now");
    source_stop(w.sources, ID);
    for (int i = 0; i < 20; i++)                          /* longer: the last message is another one */
        produce(&w, "t", 0, NULL, "new");
    flush(&w);
    start(&w);
    wait_status(&w, "stalled", "the message at offset 4 is not the one that was read");
    assert_int_equal(scalar(&w, "count(*)"), 5);
    end_world(&w);
}

static void brokers_that_go_away(void **state UNUSED)
{
    World w;

    begin(&w);
    topic(&w, "t", 1);
    create(&w, "\"topic\": \"t\", \"format\": {\"format\": \"text\"}");
    produce(&w, "t", 0, NULL, "1");
    flush(&w);
    start(&w);
    wait_for(&w, "count(*)", 1);
    rd_kafka_mock_broker_set_down(w.cluster, 1);
    wait_status(&w, "stalled", "no broker can be reached");
    rd_kafka_mock_broker_set_up(w.cluster, 1);
    produce(&w, "t", 0, NULL, "2");
    flush(&w);
    wait_for(&w, "count(*)", 2);
    for (int i = 0; i < 200; i++) {
        LiveStatuses all = {0};
        Error err;
        assert_ok(live_status_list(w.live, w.a, &all, &err), &err);
        if (str_eq(vec_last(&all).status, S("running")))
            break;
        assert_true(i < 199);
        usleep(50000);
    }
    end_world(&w);
}

/* What cannot be read now is not passed over. */
static void a_registry_that_is_down_stalls(void **state UNUSED)
{
    static const char first[] = "\0\0\0\0\1\2", second[] = "\0\0\0\0\2\4";
    World w;
    TestRegistry r = {0};

    begin(&w);
    topic(&w, "t", 1);
    Json *at = test_registry(w.a, &r);
    test_register(&r, 1, "AVRO", "\"long\"");
    create(&w, str_fmt(w.a, "\"topic\": \"t\", \"format\": {\"format\": \"avro\", \"registry\": " STR_FMT "}", STR_ARG(json_text(w.a, at))).p);
    assert_int_equal(rd_kafka_producev(w.producer, RD_KAFKA_V_TOPIC("t"), RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_VALUE((void *)(uintptr_t)first, 6), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END), 0);
    flush(&w);
    start(&w);
    wait_for(&w, "sum(c1)", 1);
    r.down = 1;
    assert_int_equal(rd_kafka_producev(w.producer, RD_KAFKA_V_TOPIC("t"), RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_VALUE((void *)(uintptr_t)second, 6), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END), 0);
    flush(&w);
    wait_status(&w, "stalled", "schema registry");
    assert_int_equal(report(&w).errors, 0);
    test_register(&r, 2, "AVRO", "\"int\"");
    r.down = 0;
    wait_for(&w, "sum(c1)", 3);
    http_server_stop(r.server, 0);
    end_world(&w);
}

static void connections(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    World w;
    Error err;
    TestRegistry r = {0};

    begin(&w);
    set_options(&w, "\"x\": 1");
    assert_ok(source_kafka.validate(a, json_get(test_json(a, w.options.p), "connection"), &err), &err);
    assert_status(source_kafka.validate(a, test_json(a, "{}"), &err), E_INVALID);
    assert_status(source_kafka.validate(a, test_json(a, "{\"broker\": \"127.0.0.1:1\", \"security protocol\": \"PLAINTEXT\"}"), &err), E_UNAVAILABLE);
    assert_non_null(strstr(err.message, "Connection refused"));
    assert_status(source_kafka.validate(a, test_json(a, "{\"broker\": \"127.0.0.1:1\", \"security protocol\": \"CARRIER PIGEON\"}"), &err), E_INVALID);
    assert_status(source_kafka.validate(a, test_json(a, "{\"broker\": \"127.0.0.1:1\", \"ssl certificate authority\": \"no certificate\"}"), &err), E_INVALID);
    Json *at = test_registry(a, &r);
    props_set(a, &r.documents, S("/subjects"), S("[]"));
    assert_ok(source_validate_registry(a, at, &err), &err);
    props_set(a, &r.documents, S("/subjects"), S("<html>"));
    assert_status(source_validate_registry(a, at, &err), E_UNAVAILABLE);
    http_server_stop(r.server, 0);
    assert_status(source_validate_registry(a, at, &err), E_UNAVAILABLE);
    end_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(append_over_restarts), cmocka_unit_test(reports), cmocka_unit_test(upsert_and_tombstones), cmocka_unit_test(a_value_that_cannot_be_decoded_is_its_keys_error), cmocka_unit_test(where_to_start),
        cmocka_unit_test(a_topic_made_anew_stalls), cmocka_unit_test(brokers_that_go_away), cmocka_unit_test(a_registry_that_is_down_stalls), cmocka_unit_test(connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

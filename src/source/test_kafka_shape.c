/* SPDX-License-Identifier: Apache-2.0 */
/* test_kafka_shape.c - a topic's columns, its messages' rows, and the note of places; no cluster. */
#include "test.h"
#include "source/format_test.h"
#include "source/source_kafka_int.h"

static KafkaShape *shape_of(Arena *a, const char *options, Error *err)
{
    KafkaShape *s = NULL;
    return kafka_shape(a, test_json(a, options), S(""), &s, err) == OK ? s : NULL;
}

static KafkaShape *shape(Arena *a, const char *options)
{
    Error err;
    KafkaShape *s = shape_of(a, options, &err);
    if (!s)
        fail_msg("%s", err.message);
    return s;
}

static Str columns_of(Arena *a, const KafkaShape *s)
{
    StrBuf b = sb_new(a);
    for vec_each(SourceColumn, c, &s->columns)
        sb_fmt(&b, "%s" STR_FMT ":" STR_FMT "%s", c == s->columns.p ? "" : "; ", STR_ARG(c->name), STR_ARG(c->sql_type), c->not_null ? "!" : "");
    return sb_str(&b);
}

static KafkaMessage message(const char *key, const char *value)
{
    return (KafkaMessage){ .key = str_c(key), .value = str_c(value), .has_key = key != NULL, .has_value = value != NULL, .partition = 3, .offset = 9, .timestamp_ms = 1000 };
}

static Str row_of(Arena *a, KafkaShape *s, const KafkaMessage *m)
{
    static const char *const verbs[] = { "skip", "insert", "put", "delete" };
    StrBuf b = sb_new(a);
    Error err = {0};
    KafkaRow r;

    if (kafka_row(s, a, m, &r, &err) != OK)
        return str_fmt(a, "%s", err.message);
    sb_addc(&b, verbs[r.verb]);
    for (size_t i = 0; i < s->key_names.n; i++) {
        sb_addc(&b, i ? ", " : " [");
        sql_value(&b, &r.key[i]);
        sb_addc(&b, i + 1 == s->key_names.n ? "]" : "");
    }
    for (size_t i = 0; i < s->columns.n && (r.verb == KAFKA_INSERT || r.verb == KAFKA_PUT); i++) {
        sb_addc(&b, i ? "; " : " ");
        sql_value(&b, &r.cells[i]);
    }
    return sb_str(&b);
}

static void append_only(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    KafkaShape *s = shape(a, "{\"topic\": \"t\", \"format\": {\"format\": \"json\"}}");
    KafkaMessage m = message("k", "{\"a\": 1}");

    assert_str(columns_of(a, s), "data:jsonb!");
    assert_str(row_of(a, s, &m), "insert '{\"a\":1}'::JSON");
    m.has_value = 0;
    assert_str(row_of(a, s, &m), "skip");
    m = message("k", "{");
    assert_str(row_of(a, s, &m), "value: JSON: no string at byte 1");
}

static void metadata(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    KafkaShape *s = shape(a, "{\"topic\": \"t\", \"key_format\": {\"format\": \"text\"}, \"format\": {\"format\": \"text\"}, \"include\": [{\"name\": \"offset\", \"alias\": \"o\"}, {\"name\": \"key\"},"
                             "{\"name\": \"partition\"}, {\"name\": \"timestamp\"}, {\"name\": \"headers\"}, {\"name\": \"header:h\", \"alias\": \"one\"}, {\"name\": \"header bytes:b\"}]}");
    KafkaMessage m = message(NULL, "v");
    KafkaHeader h[] = { { S("h"), S("first"), 0 }, { S("b"), S("\xff"), 0 }, { S("h"), S("last"), 0 }, { S("n"), S(""), 1 } };

    assert_str(columns_of(a, s), "key:text; text:text!; o:uint8!; partition:integer!; timestamp:timestamp without time zone!; headers:record(key: text, value: bytea) list!; one:text; b:bytea");
    assert_str(row_of(a, s, &m), "a message without header 'h'");
    for (size_t i = 0; i < COUNT_OF(h); i++)
        vec_push(a, &m.headers, h[i]);
    assert_str(row_of(a, s, &m), "insert NULL::VARCHAR; 'v'; '9'::UBIGINT; '3'::INTEGER; make_timestamp(1000000); [{'key': 'h', 'value': from_hex('6669727374')}::STRUCT(\"key\" VARCHAR, \"value\" BLOB), "
               "{'key': 'b', 'value': from_hex('ff')}::STRUCT(\"key\" VARCHAR, \"value\" BLOB), {'key': 'h', 'value': from_hex('6c617374')}::STRUCT(\"key\" VARCHAR, \"value\" BLOB), "
               "{'key': 'n', 'value': NULL::BLOB}::STRUCT(\"key\" VARCHAR, \"value\" BLOB)]::STRUCT(\"key\" VARCHAR, \"value\" BLOB)[]; 'last'; from_hex('ff')");
}

static void upsert(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    KafkaShape *s = shape(a, "{\"topic\": \"t\", \"key_format\": {\"format\": \"text\"}, \"format\": {\"format\": \"csv\", \"columns\": 2}, \"envelope\": \"upsert\", \"include\": [{\"name\": \"offset\"}]}");
    KafkaMessage m = message("k", "1,2");

    assert_str(columns_of(a, s), "key:text!; column1:text!; column2:text!; offset:uint8!");
    assert_str(row_of(a, s, &m), "put ['k'] 'k'; '1'; '2'; '9'::UBIGINT");
    m.has_value = 0;
    assert_str(row_of(a, s, &m), "delete ['k']");
    m = message(NULL, "1,2");
    assert_true(str_starts(row_of(a, s, &m), S("record with NULL key in UPSERT source")));
    m = message("\xff", "1,2");
    assert_str(row_of(a, s, &m), "key: a text that is not UTF-8");
    m = message("k", "1");
    assert_str(row_of(a, s, &m), "value: CSV: expected 2 columns, got 1");
}

static void upsert_with_inline_errors(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    KafkaShape *s = shape(a, "{\"topic\": \"t\", \"key_format\": {\"format\": \"csv\", \"columns\": 2}, \"format\": {\"format\": \"json\"}, \"envelope\": \"upsert\", \"value_decoding_errors\": \"oops\","
                             "\"include\": [{\"name\": \"key\", \"alias\": \"id\"}, {\"name\": \"partition\"}]}");
    KafkaMessage m = message("a,b", "7");

    assert_str(columns_of(a, s), "id:record(column1: text, column2: text)!; data:jsonb; oops:record(description: text); partition:integer!");
    assert_str(row_of(a, s, &m), "put [{'column1': 'a', 'column2': 'b'}::STRUCT(\"column1\" VARCHAR, \"column2\" VARCHAR)] {'column1': 'a', 'column2': 'b'}::STRUCT(\"column1\" VARCHAR, \"column2\" VARCHAR); "
               "'7'::JSON; NULL::STRUCT(\"description\" VARCHAR); '3'::INTEGER");
    m = message("a,b", "x");
    assert_str(row_of(a, s, &m), "put [{'column1': 'a', 'column2': 'b'}::STRUCT(\"column1\" VARCHAR, \"column2\" VARCHAR)] {'column1': 'a', 'column2': 'b'}::STRUCT(\"column1\" VARCHAR, \"column2\" VARCHAR); "
               "NULL::JSON; {'description': 'JSON: no value at byte 0'}::STRUCT(\"description\" VARCHAR); '3'::INTEGER");
}

#define ENVELOPE "{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"e\\\",\\\"fields\\\":[{\\\"name\\\":\\\"before\\\",\\\"type\\\":[\\\"null\\\",{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"v\\\",\\\"fields\\\":[" \
                 "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"int\\\"},{\\\"name\\\":\\\"s\\\",\\\"type\\\":\\\"string\\\"}]}]},{\\\"name\\\":\\\"after\\\",\\\"type\\\":[\\\"null\\\",\\\"v\\\"]}]}"
#define KEY(name) "{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"k\\\",\\\"fields\\\":[{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":\\\"int\\\"}]}"
#define DEBEZIUM(name) "{\"topic\": \"t\", \"key_format\": {\"format\": \"avro\", \"schema\": \"" KEY(name) "\", \"confluent_wire_format\": false}, \"format\": {\"format\": \"avro\", \"schema\": \"" ENVELOPE \
                       "\", \"confluent_wire_format\": false}, \"envelope\": \"debezium\"}"

static void debezium(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    KafkaShape *s = shape(a, DEBEZIUM("id"));
    KafkaMessage m = message("", "");
    Error err;

    assert_str(columns_of(a, s), "id:integer!; s:text!");
    m.key = test_hex(a, "02");
    m.value = test_hex(a, "0002020278");
    assert_str(row_of(a, s, &m), "put ['1'::INTEGER] '1'::INTEGER; 'x'");
    m.value = test_hex(a, "0202027800");
    assert_str(row_of(a, s, &m), "delete ['1'::INTEGER]");
    m.has_value = 0;
    assert_str(row_of(a, s, &m), "delete ['1'::INTEGER]");
    assert_null(shape_of(a, DEBEZIUM("other"), &err));
    assert_non_null(strstr(err.message, "the key's column \"other\" is not among"));
}

static void a_registry_gives_both_sides(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    TestRegistry r = {0};
    Json *o = test_json(a, "{\"topic\": \"t\", \"format\": {\"format\": \"avro\"}, \"envelope\": \"upsert\"}"), *registry = test_registry(a, &r);
    KafkaShape *s, *again;
    Error err;

    json_set(a, json_get(o, "format"), "registry", registry);
    test_register(&r, 1, "AVRO", "{\"type\": \"record\", \"name\": \"v\", \"fields\": [{\"name\": \"x\", \"type\": \"long\"}]}");
    assert_status(kafka_shape(a, o, S(""), &s, &err), E_INVALID);
    assert_string_equal(err.message, "ENVELOPE [DEBEZIUM] UPSERT requires that KEY FORMAT be specified");
    props_set(a, &r.documents, S("/subjects/t-key/versions/latest"), S("{\"id\": 2, \"schema\": \"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"k\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"int\\\"}]}\"}"));
    assert_ok(kafka_shape(a, o, S(""), &s, &err), &err);
    assert_str(columns_of(a, s), "id:integer!; x:bigint!");
    http_server_stop(r.server, 0);
    assert_ok(kafka_shape(a, o, s->pinned, &again, &err), &err);          /* nobody is asked again */
    assert_str(columns_of(a, again), "id:integer!; x:bigint!");
}

static void refused(void **state UNUSED)
{
    static const struct { const char *options, *why; } bad[] = {
        { "{\"topic\": \"t\"}", "Source format must be specified" },
        { "{\"format\": {\"format\": \"text\"}}", "without TOPIC" },
        { "{\"topic\": \"t\", \"format\": {\"format\": \"text\"}, \"envelope\": \"upsert\"}", "requires that KEY FORMAT be specified" },
        { "{\"topic\": \"t\", \"format\": {\"format\": \"text\"}, \"include\": [{\"name\": \"key\"}]}", "got bare FORMAT" },
        { "{\"topic\": \"t\", \"format\": {\"format\": \"text\"}, \"envelope\": \"materialize\"}", "not supported" },
        { "{\"topic\": \"t\", \"format\": {\"format\": \"text\"}, \"envelope\": \"debezium\"}", "requires FORMAT AVRO" },
        { "{\"topic\": \"t\", \"format\": {\"format\": \"text\"}, \"include\": [{\"name\": \"moon\"}]}", "INCLUDE moon is not possible" },
        { "{\"topic\": \"t\", \"format\": {\"format\": \"text\"}, \"include\": [{\"name\": \"offset\", \"alias\": \"text\"}]}", "column \"text\" specified more than once" },
        { "{\"topic\": \"t\", \"format\": {\"format\": \"text\"}, \"include\": [{\"name\": \"header:\", \"alias\": \"text\"}]}", "column \"text\" specified more than once" },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        if (shape_of(a, bad[i].options, &err))
            fail_msg("%s was taken", bad[i].options);
        if (!strstr(err.message, bad[i].why))
            fail_msg("%s: %s", bad[i].options, err.message);
    }
}

static void places(void **state UNUSED)
{
    static const char *const bad[] = { "{", "[]", "{}", "{\"outputs\": []}", "{\"outputs\": {\"5\": [[0, 1]]}}", "{\"outputs\": {\"5\": [[0, -1, -1, 0, 0]]}}", "{\"outputs\": {\"5\": [[0, 1, 1, 0, 0]]}}",
                                       "{\"outputs\": {\"5\": [[-1, 1, 0, 0, 0]]}}", "{\"outputs\": {\"5\": [[0, 1, 0, 0, 0], [0, 2, 0, 0, 0]]}}", "{\"outputs\": {\"5\": [[100000, 1, 0, 0, 0]]}}",
                                       "{\"outputs\": {\"5\": [[\"0\", 1, 0, 0, 0]]}}" };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    KafkaPlaces p;
    Error err;

    assert_ok(kafka_places_read(a, S(""), 5, &p, &err), &err);
    assert_int_equal(p.n, 0);
    vec_push(a, &p, ((KafkaPlace){ .partition = 1, .next = 7, .last = 5, .last_ms = 123, .last_bytes = 9 }));
    vec_push(a, &p, ((KafkaPlace){ .partition = 0, .next = 0, .last = -1 }));
    StrBuf b = sb_new(a);
    kafka_places_write(&b, 4, &(KafkaPlaces){0});
    kafka_places_write(&b, 5, &p);
    Str note = kafka_places_end(&b, NULL);
    assert_ok(kafka_places_read(a, note, 4, &p, &err), &err);
    assert_int_equal(p.n, 0);
    assert_ok(kafka_places_read(a, note, 6, &p, &err), &err);
    assert_int_equal(p.n, 0);
    assert_ok(kafka_places_read(a, note, 5, &p, &err), &err);
    assert_int_equal(kafka_place(&p, 1)->last_bytes, 9);
    assert_true(kafka_place(&p, 1)->verify);
    assert_false(kafka_place(&p, 0)->verify);
    assert_null(kafka_place(&p, 2));
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (kafka_places_read(a, str_c(bad[i]), 5, &p, &err) == OK)
            fail_msg("%s was read", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(append_only), cmocka_unit_test(metadata), cmocka_unit_test(upsert), cmocka_unit_test(upsert_with_inline_errors), cmocka_unit_test(debezium),
        cmocka_unit_test(a_registry_gives_both_sides), cmocka_unit_test(refused), cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

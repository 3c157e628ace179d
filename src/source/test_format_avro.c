/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "source/format_test.h"

/* Messages written by fastavro. */
static const char all_types[] =
    "{\"type\": \"record\", \"name\": \"ns.row\", \"fields\": [{\"name\": \"b\", \"type\": \"boolean\"}, {\"name\": \"i\", \""
    "type\": \"int\"}, {\"name\": \"l\", \"type\": \"long\"}, {\"name\": \"f\", \"type\": \"float\"}, {\"name\": \"d\", \"typ"
    "e\": \"double\"}, {\"name\": \"by\", \"type\": \"bytes\"}, {\"name\": \"s\", \"type\": \"string\"}, {\"name\": \"fx\", "
    "\"type\": {\"type\": \"fixed\", \"name\": \"fx4\", \"size\": 4}}, {\"name\": \"en\", \"type\": {\"type\": \"enum\", \"na"
    "me\": \"color\", \"symbols\": [\"red\", \"green\", \"blue\"]}}, {\"name\": \"dec\", \"type\": {\"type\": \"bytes\", \"lo"
    "gicalType\": \"decimal\", \"precision\": 10, \"scale\": 2}}, {\"name\": \"dt\", \"type\": {\"type\": \"int\", \"logicalT"
    "ype\": \"date\"}}, {\"name\": \"tm\", \"type\": {\"type\": \"int\", \"logicalType\": \"time-millis\"}}, {\"name\": \"tu"
    "\", \"type\": {\"type\": \"long\", \"logicalType\": \"time-micros\"}}, {\"name\": \"ts\", \"type\": {\"type\": \"long\","
    " \"logicalType\": \"timestamp-millis\"}}, {\"name\": \"tsu\", \"type\": {\"type\": \"long\", \"logicalType\": \"timestam"
    "p-micros\"}}, {\"name\": \"u\", \"type\": {\"type\": \"string\", \"logicalType\": \"uuid\"}}, {\"name\": \"n\", \"type\""
    ": [\"null\", \"string\"], \"default\": null}, {\"name\": \"arr\", \"type\": {\"type\": \"array\", \"items\": [\"null\", "
    "\"int\"]}}, {\"name\": \"m\", \"type\": {\"type\": \"map\", \"values\": \"long\"}}, {\"name\": \"rec\", \"type\": [\"nul"
    "l\", {\"type\": \"record\", \"name\": \"inner\", \"fields\": [{\"name\": \"x\", \"type\": \"int\"}, {\"name\": \"y\", \""
    "type\": [\"null\", \"string\"]}]}]}, {\"name\": \"un\", \"type\": [\"null\", \"int\", \"string\"]}]}";
static const char all_types_row[] =
    "010d8080808080400000c03f000000000000d0bf0400ff0668c3a9616263640406ed2979e6c402f8bbc603feffbadd8305f695adbec5680148303031"
    "31323233332d343435352d363637372d383839392d616162626363646465656666000602020002060002026b0a00021202027a040874657874";
static const char user_v1[] = "{\"type\": \"record\", \"name\": \"user\", \"fields\": [{\"name\": \"name\", \"type\": \"string\"}, {\"name\": \"age\", \"type\": \"int\"}, {\"name\": \"gone\", \"type\": \"string\"}]}";
static const char user_v1_row[] = "06616e6e520278";
static const char debezium[] =
    "{\"type\": \"record\", \"name\": \"Envelope\", \"fields\": [{\"name\": \"before\", \"type\": [\"null\", {\"type\": \"rec"
    "ord\", \"name\": \"Value\", \"fields\": [{\"name\": \"id\", \"type\": \"int\"}, {\"name\": \"v\", \"type\": [\"null\", "
    "\"string\"]}]}]}, {\"name\": \"after\", \"type\": [\"null\", \"Value\"]}, {\"name\": \"op\", \"type\": \"string\"}, {\"n"
    "ame\": \"ts_ms\", \"type\": [\"null\", \"long\"]}]}";

static Format *open_with(Arena *a, const Json *registry, const char *schema, FormatPart part, Status wanted, Error *err)
{
    Json *options = json_object(a);
    FormatOptions o = { .options = options, .part = part, .subject = S("t-value") };
    Format *f = NULL;

    json_set(a, options, "format", json_str(a, S("avro")));
    if (registry)
        json_set(a, options, "registry", json_copy(a, registry));
    if (!registry)
        json_set(a, options, "confluent_wire_format", json_str(a, S("false")));
    if (schema)
        json_set(a, options, "schema", json_str(a, str_c(schema)));
    Status s = format_open(a, &o, &f, err);
    if (s != wanted)
        fail_msg("%s: %s", status_name(s), s == OK ? "" : err->message);
    return f;
}

static void each_type(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Format *f = open_with(a, NULL, all_types, FORMAT_WHOLE, OK, &err);

    assert_true(format_is_composite(f));
    assert_str(test_columns(a, f), "b:boolean!; i:integer!; l:bigint!; f:real!; d:double precision!; by:bytea!; s:text!; fx:bytea!; en:text!; dec:numeric(10,2)!; dt:date!; "
               "tm:time without time zone!; tu:time without time zone!; ts:timestamp without time zone!; tsu:timestamp without time zone!; u:uuid!; n:text; arr:integer list!; "
               "m:map[text=>bigint]!; rec:record(x: integer, y: text); un1:integer; un2:text");
    assert_str(test_row(a, f, test_hex(a, all_types_row)), "true; '-7'::INTEGER; '1099511627776'::BIGINT; '1.5'::FLOAT; '-0.25'::DOUBLE; from_hex('00ff'); 'h\xc3\xa9'; from_hex('61626364'); 'blue'; '-12345.67'::DECIMAL(10,2); "
               "(DATE '1970-01-01' + (20787)::INTEGER); (TIME '00:00:00' + to_microseconds(3723004000)); (TIME '00:00:00' + to_microseconds(86399999999)); "
               "make_timestamp(1796032800123000); make_timestamp(-1); '00112233-4455-6677-8899-aabbccddeeff'::UUID; NULL::VARCHAR; ['1'::INTEGER, NULL::INTEGER, '3'::INTEGER]::INTEGER[]; "
               "map(['k'], ['5'::BIGINT])::MAP(VARCHAR, BIGINT); {'x': '9'::INTEGER, 'y': 'z'}::STRUCT(\"x\" INTEGER, \"y\" VARCHAR); NULL::INTEGER; 'text'");
}

static void cut_anywhere_is_an_error(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Format *f = open_with(a, NULL, all_types, FORMAT_WHOLE, OK, &err);
    Str whole = test_hex(a, all_types_row);
    Value *cells = arena_array(a, Value, format_columns(f)->n);
    int gone;

    for (size_t n = 0; n < whole.n; n++)
        assert_true(format_is_poison(format_decode(f, a, str_sub(whole, 0, n), cells, &gone, &err)));
    assert_status(format_decode(f, a, str_cat(a, whole, S("x")), cells, &gone, &err), E_CORRUPT);
}

/* The reader's schema has a field more, one less, another order, a wider number, an alias. */
static void the_writers_schema_is_resolved(void **state UNUSED)
{
    static const char reader[] = "{\"type\": \"record\", \"name\": \"other\", \"fields\": [{\"name\": \"age\", \"type\": \"double\"}, {\"name\": \"full_name\", \"aliases\": [\"name\"], \"type\": [\"null\", \"string\"]},"
                                 "{\"name\": \"tags\", \"type\": {\"type\": \"array\", \"items\": \"string\"}, \"default\": [\"x\"]}, {\"name\": \"more\", \"type\": [\"null\", \"int\"], \"default\": null},"
                                 "{\"name\": \"rec\", \"type\": {\"type\": \"record\", \"name\": \"r\", \"fields\": [{\"name\": \"b\", \"type\": \"bytes\", \"default\": \"\\u00ff\"}]}, \"default\": {}}]}";
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    TestRegistry r = {0};
    Error err;
    Json *at = test_registry(a, &r);

    test_register(&r, 7, "AVRO", user_v1);
    json_set(a, at, "username", json_str(a, S("u")));
    json_set(a, at, "password", json_str(a, S("p:w")));
    Format *f = open_with(a, at, reader, FORMAT_WHOLE, OK, &err);
    assert_str(test_columns(a, f), "age:double precision!; full_name:text; tags:text list!; more:integer; rec:record(b: bytea)!");
    Str message = test_framed(a, 7, test_hex(a, user_v1_row));
    assert_str(test_row(a, f, message), "'41'::DOUBLE; 'ann'; ['x']::VARCHAR[]; NULL::INTEGER; {'b': from_hex('ff')}::STRUCT(\"b\" BLOB)");
    assert_str(r.authorization, "Basic dTpwOnc=");
    int asked = r.asked;
    test_row(a, f, message);
    assert_int_equal(r.asked, asked);
    http_server_stop(r.server, 0);
}

static void a_registry_that_is_away_is_not_the_messages_fault(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    TestRegistry r = {0};
    Error err;
    Json *at = test_registry(a, &r);
    Format *f;

    open_with(a, at, NULL, FORMAT_WHOLE, E_NOT_FOUND, &err);
    assert_string_equal(err.message, "No schema found in the registry for subject 't-value'");
    test_register(&r, 7, "AVRO", user_v1);
    f = open_with(a, at, NULL, FORMAT_WHOLE, OK, &err);
    Str message = test_framed(a, 7, test_hex(a, user_v1_row));
    assert_str(test_row(a, f, str_sub(message, 0, 4)), "E_CORRUPT the message of 4 bytes is too short for the schema registry's frame");
    assert_str(test_row(a, f, test_hex(a, "0100000007")), "E_CORRUPT the message does not begin with the schema registry's magic byte 0 but with 1");
    assert_str(test_row(a, f, test_framed(a, 8, S("x"))), "E_INVALID the schema registry knows no schema with id 8");
    int asked = r.asked;
    test_row(a, f, test_framed(a, 8, S("x")));
    assert_int_equal(r.asked, asked);
    r.down = 1;
    assert_true(str_starts(test_row(a, f, message), S("E_UNAVAILABLE ")));
    r.down = 0;
    assert_str(test_row(a, f, message), "'ann'; '41'::INTEGER; 'x'");
    test_register(&r, 9, "PROTOBUF", "syntax = \"proto3\";");
    assert_str(test_row(a, f, test_framed(a, 9, S("x"))), "E_INVALID schema 9 of the registry is PROTOBUF, not AVRO");
    http_server_stop(r.server, 0);
    assert_true(str_starts(test_row(a, f, test_framed(a, 10, S("x"))), S("E_UNAVAILABLE ")));
}

/* What was pinned stays, whatever the registry says later. */
static void pinned_schemas(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    TestRegistry r = {0};
    Error err;
    Format *f, *again;
    Json *options = json_object(a);

    json_set(a, options, "format", json_str(a, S("avro")));
    json_set(a, options, "registry", test_registry(a, &r));
    test_register(&r, 1, "AVRO", user_v1);
    FormatOptions o = { .options = options, .subject = S("t-value") };
    assert_ok(format_open(a, &o, &f, &err), &err);
    test_register(&r, 2, "AVRO", "\"long\"");
    o.pinned = format_pinned(f);
    assert_ok(format_open(a, &o, &again, &err), &err);
    assert_str(test_columns(a, again), "name:text!; age:integer!; gone:text!");
    http_server_stop(r.server, 0);
}

static void schemas_that_refer_to_others(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    TestRegistry r = {0};
    Error err;
    Json *at = test_registry(a, &r);

    props_set(a, &r.documents, S("/subjects/t-value/versions/latest"), S("{\"id\": 3, \"schema\": \"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"o\\\",\\\"fields\\\":[{\\\"name\\\":\\\"p\\\",\\\"type\\\":\\\"ns.point\\\"}]}\","
              " \"references\": [{\"name\": \"ns.point\", \"subject\": \"a b\", \"version\": 2}]}"));
    props_set(a, &r.documents, S("/subjects/a%20b/versions/2"), S("{\"id\": 2, \"schema\": \"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"point\\\",\\\"namespace\\\":\\\"ns\\\",\\\"fields\\\":[{\\\"name\\\":\\\"x\\\",\\\"type\\\":\\\"int\\\"}]}\"}"));
    Format *f = open_with(a, at, NULL, FORMAT_WHOLE, OK, &err);
    assert_str(test_columns(a, f), "p:record(x: integer)!");
    http_server_stop(r.server, 0);
}

static void debezium_envelope(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Format *f = open_with(a, NULL, debezium, FORMAT_AFTER, OK, &err);

    assert_str(test_columns(a, f), "id:integer!; v:text");
    assert_str(test_row(a, f, test_hex(a, "00020202026102630202")), "'1'::INTEGER; 'a'");
    assert_str(test_row(a, f, test_hex(a, "020202026100026400")), "gone");
    open_with(a, NULL, user_v1, FORMAT_AFTER, E_INVALID, &err);
    assert_non_null(strstr(err.message, "'before' column missing"));
}

static void schemas_without_a_relation(void **state UNUSED)
{
    static const char *const bad[] = {
        "\"null\"", "[\"int\", \"string\"]", "{\"type\": \"record\", \"name\": \"r\", \"fields\": []}",
        "{\"type\": \"record\", \"name\": \"r\", \"fields\": [{\"name\": \"next\", \"type\": [\"null\", \"r\"]}]}",
        "{\"type\": \"record\", \"name\": \"r\", \"fields\": [{\"name\": \"x\", \"type\": \"null\"}]}",
        "{\"type\": \"record\", \"name\": \"r\", \"fields\": [{\"name\": \"x\", \"type\": \"int\", \"default\": \"a\"}]}",
        "{\"type\": \"record\", \"name\": \"r\", \"fields\": [{\"name\": \"x\", \"type\": {\"type\": \"array\", \"items\": [\"int\", \"string\"]}}]}",
        "{\"type\": \"bytes\", \"logicalType\": \"decimal\", \"precision\": 50}",
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        FormatOptions o = { .options = json_object(a) };
        Format *f;
        json_set(a, (Json *)(uintptr_t)o.options, "format", json_str(a, S("avro")));
        json_set(a, (Json *)(uintptr_t)o.options, "schema", json_str(a, str_c(bad[i])));
        if (format_open(a, &o, &f, &err) == OK)
            fail_msg("%s has columns " STR_FMT, bad[i], STR_ARG(test_columns(a, f)));
    }
}

static void a_schema_without_a_registry(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Format *f = test_open(a, "{\"format\": \"avro\", \"schema\": \"\\\"long\\\"\"}");

    assert_str(test_columns(a, f), "data:bigint!");
    assert_str(test_row(a, f, test_framed(a, 123, test_hex(a, "02"))), "'1'::BIGINT");
    assert_true(str_starts(test_row(a, f, test_hex(a, "02")), S("E_CORRUPT ")));
}

static void poison(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Format *f = open_with(a, NULL, "{\"type\": \"enum\", \"name\": \"e\", \"symbols\": [\"a\", \"b\"]}", FORMAT_WHOLE, OK, &err);

    assert_str(test_columns(a, f), "data:text!");
    assert_false(format_is_composite(f));
    assert_str(test_row(a, f, test_hex(a, "02")), "'b'");
    assert_true(str_starts(test_row(a, f, test_hex(a, "04")), S("E_CORRUPT ")));
    f = open_with(a, NULL, "{\"type\": \"bytes\", \"logicalType\": \"decimal\", \"precision\": 2}", FORMAT_WHOLE, OK, &err);
    assert_str(test_row(a, f, test_hex(a, "029d")), "'-99'::DECIMAL(2,0)");
    f = open_with(a, NULL, "{\"type\": \"long\", \"logicalType\": \"timestamp-millis\"}", FORMAT_WHOLE, OK, &err);
    assert_true(str_starts(test_row(a, f, test_hex(a, "feffffffffffffffff01")), S("E_OVERFLOW ")));
    f = open_with(a, NULL, "{\"type\": \"string\", \"logicalType\": \"uuid\"}", FORMAT_WHOLE, OK, &err);
    assert_str(test_row(a, f, test_hex(a, "0661622d")), "E_INVALID Avro: 'ab-' is no uuid");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type), cmocka_unit_test(cut_anywhere_is_an_error), cmocka_unit_test(the_writers_schema_is_resolved),
        cmocka_unit_test(a_registry_that_is_away_is_not_the_messages_fault), cmocka_unit_test(pinned_schemas), cmocka_unit_test(schemas_that_refer_to_others),
        cmocka_unit_test(debezium_envelope), cmocka_unit_test(schemas_without_a_relation), cmocka_unit_test(poison), cmocka_unit_test(a_schema_without_a_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* test_sink_type.c - what SQL types become in Iceberg, what their values become, and what is done with those that do not fit (spec/materialize.md 2.9). */
#include "sink/sink_int.h"
#include "test.h"

#include <stdlib.h>

typedef struct World { Arena *a; DuckEngine *e; DuckConn *c; Error err; } World;

static int set_up(void **state)
{
    World *w = calloc(1, sizeof *w);
    DuckOptions o = { .threads = 1, .memory_limit = S("300MB") };

    w->a = arena_create();
    assert_ok(duck_open(&o, &w->e, &w->err), &w->err);
    assert_ok(duck_connect(w->e, &w->c, &w->err), &w->err);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    World *w = *state;
    duck_disconnect(w->c);
    duck_close(w->e);
    arena_destroy(w->a);
    free(w);
    return 0;
}

static DataType engine_type(World *w, const char *expr)
{
    DuckColumns cols = {0};
    assert_ok(duck_describe(w->c, w->a, str_fmt(w->a, "SELECT %s AS x", expr), &cols, &w->err), &w->err);
    return cols.p[0].type;
}

static Encoding *encoding(World *w, SinkPoison p, const char *sql_type, const char *expr)
{
    SinkSpec s = { .poison = p };
    DataType t = engine_type(w, expr);
    int32_t id = 2;
    return sink_encoding(w->a, &s, str_c(sql_type), &t, &id);
}

static void type_is(World *w, const char *sql_type, const char *expr, const char *want)
{
    Encoding *e = encoding(w, SINK_POISON_FAIL, sql_type, expr);
    if (!e)
        fail_msg("%s has no type", sql_type);
    Str got = json_text(w->a, ice_type_json(w->a, e->ice));
    if (!str_eq(got, str_c(want)))
        fail_msg("%s: %s instead of %s", sql_type, got.p, want);
}

static Status encoded(World *w, SinkPoison p, const char *sql_type, const char *expr, Str *ret)
{
    SinkSpec s = { .poison = p };
    Encoding *e = encoding(w, p, sql_type, expr);
    bool has = false;

    *ret = (Str){0};
    assert_non_null(e);
    Str sql = str_fmt(w->a, "SELECT CAST(y AS VARCHAR) FROM (SELECT " STR_FMT " AS y FROM (SELECT %s AS x) q) q", STR_ARG(sink_encode(w->a, &s, e, S("x"))), expr);
    Status st = duck_scalar_str(w->c, w->a, sql, ret, &has, &w->err);
    if (st == OK && !has)
        *ret = S("NULL");
    return st;
}

static void value_is(World *w, const char *sql_type, const char *expr, const char *want)
{
    Str got;
    assert_ok(encoded(w, SINK_POISON_FAIL, sql_type, expr, &got), &w->err);
    if (!str_eq(got, str_c(want)))
        fail_msg("%s %s: '" STR_FMT "' instead of '%s'", sql_type, expr, STR_ARG(got), want);
}

static void fails_with(World *w, const char *sql_type, const char *expr, const char *words)
{
    Str got;
    if (encoded(w, SINK_POISON_FAIL, sql_type, expr, &got) == OK)
        fail_msg("%s %s went through as '" STR_FMT "'", sql_type, expr, STR_ARG(got));
    if (!strstr(w->err.message, words))
        fail_msg("'%s' has no '%s'", w->err.message, words);
}

static void test_types(void **state)
{
    World *w = *state;

    type_is(w, "boolean", "true", "\"boolean\"");
    type_is(w, "smallint", "1::SMALLINT", "\"int\"");
    type_is(w, "integer", "1", "\"int\"");
    type_is(w, "bigint", "1::BIGINT", "\"long\"");
    type_is(w, "uint2", "1::USMALLINT", "\"int\"");
    type_is(w, "uint4", "1::UINTEGER", "\"long\"");
    type_is(w, "uint8", "1::UBIGINT", "\"decimal(20, 0)\"");
    type_is(w, "mz_timestamp", "1::UBIGINT", "\"decimal(20, 0)\"");
    type_is(w, "real", "1::FLOAT", "\"float\"");
    type_is(w, "double precision", "1::DOUBLE", "\"double\"");
    type_is(w, "numeric", "1::DECIMAL(38,12)", "\"decimal(38, 10)\"");
    type_is(w, "numeric(12,3)", "1::DECIMAL(12,3)", "\"decimal(38, 3)\"");
    type_is(w, "date", "DATE '2026-01-01'", "\"date\"");
    type_is(w, "time", "TIME '10:00:00'", "\"time\"");
    type_is(w, "timestamp", "TIMESTAMP '2026-01-01 00:00:00'", "\"timestamp\"");
    type_is(w, "timestamp with time zone", "TIMESTAMPTZ '2026-01-01 00:00:00+00'", "\"timestamptz\"");
    type_is(w, "interval", "INTERVAL 1 DAY", "\"string\"");
    type_is(w, "text", "'x'", "\"string\"");
    type_is(w, "bytea", "'x'::BLOB", "\"binary\"");
    type_is(w, "uuid", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID", "\"string\"");
    type_is(w, "jsonb", "'{}'::JSON", "\"string\"");
    type_is(w, "integer list", "[1]", "{\"type\":\"list\",\"element-id\":2,\"element\":\"int\",\"element-required\":false}");
    type_is(w, "integer[]", "[[1]]", "{\"type\":\"struct\",\"fields\":[{\"id\":2,\"name\":\"items\",\"required\":true,\"type\":{\"type\":\"list\",\"element-id\":3,\"element\":\"int\","
            "\"element-required\":false}},{\"id\":4,\"name\":\"dimensions\",\"required\":true,\"type\":\"int\"}]}");
    type_is(w, "map[text=>uint8]", "MAP {'a': 1::UBIGINT}", "{\"type\":\"map\",\"key-id\":2,\"key\":\"string\",\"value-id\":3,\"value\":\"decimal(20, 0)\",\"value-required\":false}");
    type_is(w, "record", "{'a': 1, 'b': {'c': 'x'}}", "{\"type\":\"struct\",\"fields\":[{\"id\":2,\"name\":\"a\",\"required\":false,\"type\":\"int\"},{\"id\":3,\"name\":\"b\",\"required\":false,"
            "\"type\":{\"type\":\"struct\",\"fields\":[{\"id\":4,\"name\":\"c\",\"required\":false,\"type\":\"string\"}]}}]}");
    assert_null(encoding(w, SINK_POISON_FAIL, "oid", "1::UINTEGER"));
    assert_null(encoding(w, SINK_POISON_FAIL, "numeric(39,39)", "1::DECIMAL(38,10)"));
}

static void test_values(void **state)
{
    World *w = *state;

    value_is(w, "uint8", "18446744073709551615::UBIGINT", "18446744073709551615");
    value_is(w, "numeric", "1.5::DECIMAL(38,12)", "1.5000000000");
    value_is(w, "numeric(12,3)", "-2.125::DECIMAL(12,3)", "-2.125");
    value_is(w, "numeric", "NULL::DECIMAL(38,12)", "NULL");
    value_is(w, "real", "'NaN'::FLOAT", "nan");
    value_is(w, "jsonb", "'{ \"a\" : [1, 2] }'::JSON", "{\"a\":[1,2]}");
    value_is(w, "uuid", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::UUID", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
    value_is(w, "interval", "INTERVAL '1 day 02:03:04'", "1 day 02:03:04");
    value_is(w, "uint8 list", "[1::UBIGINT, NULL]", "[1, NULL]");
    value_is(w, "integer[]", "[[1, 2], [3, 4]]", "{'items': [1, 2, 3, 4], 'dimensions': 2}");
    value_is(w, "integer[]", "[]::INTEGER[]", "{'items': [], 'dimensions': 0}");
    value_is(w, "integer[]", "NULL::INTEGER[]", "NULL");
    value_is(w, "map[text=>uint8]", "MAP {'a': 1::UBIGINT}", "{a=1}");
    value_is(w, "record", "{'a': 1, 'b': {'c': NULL::VARCHAR}}", "{'a': 1, 'b': {'c': NULL}}");
    value_is(w, "record", "NULL::STRUCT(a INTEGER)", "NULL");
    value_is(w, "int4range", "'[1,11)'", "{'lower': 1, 'upper': 11, 'lower_inclusive': true, 'upper_inclusive': false, 'empty': false}");
    value_is(w, "int4range", "'(,5]'", "{'lower': NULL, 'upper': 5, 'lower_inclusive': false, 'upper_inclusive': true, 'empty': false}");
    value_is(w, "int4range", "'empty'", "{'lower': NULL, 'upper': NULL, 'lower_inclusive': false, 'upper_inclusive': false, 'empty': true}");
    value_is(w, "tsrange", "'[\"2026-01-01 00:00:00\",\"2026-02-01 00:00:00\")'",
             "{'lower': '2026-01-01 00:00:00', 'upper': '2026-02-01 00:00:00', 'lower_inclusive': true, 'upper_inclusive': false, 'empty': false}");
}

static void test_poison(void **state)
{
    World *w = *state;
    Str got;

    fails_with(w, "numeric", "1.12345678901::DECIMAL(38,12)", "cannot represent decimal value 1.123456789010 in column with scale 10");
    fails_with(w, "numeric", "12345678901234567890123456789012345::DECIMAL(38,0)", "Decimal value 12345678901234567890123456789012345 out of range for column with precision 38");
    fails_with(w, "numeric", "'NaN'", "Cannot represent special numeric value NaN in parquet");
    fails_with(w, "timestamp", "'infinity'::TIMESTAMP", "Cannot represent special value infinity");
    fails_with(w, "numeric list", "[1.12345678901::DECIMAL(38,12)]", "cannot represent decimal value");
    assert_ok(encoded(w, SINK_POISON_NULL, "numeric", "1.12345678901::DECIMAL(38,12)", &got), &w->err);
    assert_str(got, "NULL");
    assert_ok(encoded(w, SINK_POISON_NULL, "numeric", "1.5::DECIMAL(38,12)", &got), &w->err);
    assert_str(got, "1.5000000000");
    assert_ok(encoded(w, SINK_POISON_TEXT, "numeric", "1.12345678901::DECIMAL(38,12)", &got), &w->err);
    assert_str(got, "1.123456789010");
    assert_int_equal(encoding(w, SINK_POISON_TEXT, "numeric", "1::DECIMAL(38,12)")->ice->kind, ICE_STRING);
    assert_int_equal(encoding(w, SINK_POISON_TEXT, "numeric(10,2)", "1::DECIMAL(10,2)")->ice->kind, ICE_DECIMAL);
}

static SinkColumn column(const char *name, DataTypeKind k, int not_null) { return (SinkColumn){ .name = str_c(name), .engine = str_c(name), .type = { .kind = k }, .not_null = not_null }; }

static void test_schema(void **state)
{
    World *w = *state;
    SinkSpec s = { .mode = SINK_UPSERT };
    IceSchema *schema;

    vec_push(w->a, &s.columns, column("id", DT_INT32, 1));
    vec_push(w->a, &s.columns, column("name", DT_STRING, 0));
    vec_push(w->a, &s.columns, column("at", DT_TIMESTAMP, 0));
    vec_push(w->a, &s.key, S("id"));
    assert_ok(sink_schema(w->a, &s, &schema, &w->err), &w->err);
    assert_int_equal(schema->identifiers.n, 1);
    assert_true(schema->fields.p[0].required && !schema->fields.p[1].required);
    vec_push(w->a, &s.key, S("name"));
    assert_ok(sink_schema(w->a, &s, &schema, &w->err), &w->err);
    assert_int_equal(schema->identifiers.n, 0);       /* a key that may be NULL */
    s.mode = SINK_APPEND;
    assert_ok(sink_schema(w->a, &s, &schema, &w->err), &w->err);
    assert_str(schema->fields.p[3].name, "_mz_diff");
    assert_true(schema->fields.p[4].required && schema->fields.p[4].type->kind == ICE_LONG);
    vec_push(w->a, &s.columns, column("bad", DT_TIMETZ, 0));
    assert_status(sink_schema(w->a, &s, &schema, &w->err), E_UNSUPPORTED);
    assert_non_null(strstr(w->err.message, "Cannot encode the following columns/types: [\"bad\""));
}

static void partition_fails(World *w, const SinkSpec *base, const char *transform, int width, const char *col, const char *words)
{
    SinkSpec s = *base;

    s.partitions.n = 0;
    s.partitions.cap = 0;
    vec_push(w->a, &s.partitions, ((SinkPartition){ str_c(transform), width, str_c(col) }));
    Status st = sink_check(w->a, &s, &w->err);
    if (!words)
        assert_ok(st, &w->err);
    else if (st == OK || !strstr(w->err.message, words))
        fail_msg("%s(%s): '%s' has no '%s'", transform, col, w->err.message, words);
}

static void test_partitions(void **state)
{
    World *w = *state;
    SinkSpec s = { .mode = SINK_UPSERT };

    vec_push(w->a, &s.columns, column("id", DT_INT32, 1));
    vec_push(w->a, &s.columns, column("region", DT_STRING, 0));
    vec_push(w->a, &s.columns, column("at", DT_TIMESTAMP, 0));
    vec_push(w->a, &s.columns, column("at_day", DT_INT32, 0));
    vec_push(w->a, &s.key, S("id"));
    partition_fails(w, &s, "identity", 0, "region", NULL);
    partition_fails(w, &s, "bucket", 16, "id", NULL);
    partition_fails(w, &s, "truncate", 4, "region", NULL);
    partition_fails(w, &s, "month", 0, "at", NULL);
    partition_fails(w, &s, "day", 0, "nope", "column referenced in PARTITION BY does not exist: nope");
    partition_fails(w, &s, "day", 0, "region", "PARTITION BY transform \"day\"");
    partition_fails(w, &s, "bucket", 0, "id", "PARTITION BY transform \"bucket\"");
    partition_fails(w, &s, "cube", 0, "id", "PARTITION BY transform \"cube\"");
    partition_fails(w, &s, "day", 0, "at", "conflicts with schema field \"at_day\"");
}

static void add_snapshot(World *w, IceMetadata *m, int64_t id, const char *operation, const char *frontier, const char *sink, const char *version)
{
    IceSnapshot *s = arena_new(w->a, IceSnapshot);

    s->id = s->sequence_number = id;
    s->operation = str_c(operation);
    if (id > 1)
        s->parent_id = SOME_I64(id - 1);
    if (frontier) {
        props_set(w->a, &s->summary, S("mz-frontier"), str_c(frontier));
        props_set(w->a, &s->summary, S("mz-sink-id"), str_c(sink));
        props_set(w->a, &s->summary, S("mz-sink-version"), str_c(version));
    }
    vec_push(w->a, &m->snapshots, s);
    m->current_snapshot_id = SOME_I64(id);
}

static void test_progress(void **state)
{
    World *w = *state;
    IceMetadata m = {0};
    Progress p;

    assert_ok(progress_read(&m, &p, &w->err), &w->err);
    assert_false(p.has);
    add_snapshot(w, &m, 1, "append", "[1754900000000]", "u7", "3");
    add_snapshot(w, &m, 2, "replace", NULL, NULL, NULL);
    assert_ok(progress_read(&m, &p, &w->err), &w->err);
    assert_true(p.has && p.frontier == 1754900000000 && p.sink == 7 && p.version == 3 && p.snapshot == 1 && !p.sealed);
    add_snapshot(w, &m, 3, "append", "[]", "u7", "3");
    assert_ok(progress_read(&m, &p, &w->err), &w->err);
    assert_true(p.sealed);
    add_snapshot(w, &m, 4, "append", NULL, NULL, NULL);
    assert_status(progress_read(&m, &p, &w->err), E_CORRUPT);
    assert_non_null(strstr(w->err.message, "snapshot 4 has operation 'append' but is missing 'mz-frontier' property"));
    add_snapshot(w, &m, 5, "append", "[1, 2]", "u7", "3");
    assert_status(progress_read(&m, &p, &w->err), E_CORRUPT);
    add_snapshot(w, &m, 6, "append", "[1]", "u7", "-3");
    assert_status(progress_read(&m, &p, &w->err), E_CORRUPT);
    assert_non_null(strstr(w->err.message, "Failed to parse mz-sink-version"));
}

static void test_note(void **state)
{
    World *w = *state;
    Note n = { .relation = 5, .frontier = 17, .from = 16, .snapshot = 9, .sequence = 4, .version = 2, .gap = 3, .cut_relation = 8, .cut_upto = 12, .rebuilt = 1, .uuid = S("x-y") }, back;

    vec_push(w->a, &n.intents, ((Intent){ .base = ANY_BASE, .upper = 20 }));
    assert_ok(note_parse(w->a, note_text(w->a, &n), &back, &w->err), &w->err);
    assert_str(note_text(w->a, &back), note_text(w->a, &n).p);
    assert_int_equal(back.intents.p[0].base, ANY_BASE);
    assert_ok(note_parse(w->a, (Str){0}, &back, &w->err), &w->err);
    assert_int_equal(back.frontier, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types), cmocka_unit_test(test_values), cmocka_unit_test(test_poison), cmocka_unit_test(test_schema), cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_progress), cmocka_unit_test(test_note),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

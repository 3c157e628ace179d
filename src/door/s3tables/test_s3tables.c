/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test.h"
#include "aws/aws.h"
#include "door/s3tables/s3t_schema.h"
#include "service/tablebuckets.h"
#include "service/upkeep.h"

extern const AwsService s3tables_service;

static void test_fields_compile(void **state UNUSED)
{
    aws_check_service(&s3tables_service);
    assert_int_equal(s3tables_service.nops, 49);
    for (size_t i = 0; i < s3tables_service.nops; i++)
        assert_non_null(s3tables_service.ops[i].handler);
}

static void test_names(void **state UNUSED)
{
    assert_int_equal(svc_table_bucket_name_problem(S("a_1")).n, 0);
    assert_true(svc_table_bucket_name_problem(S("")).n > 0);
    assert_true(svc_table_bucket_name_problem(S("_a")).n > 0);
    assert_true(svc_table_bucket_name_problem(S("a-b")).n > 0);
    assert_true(svc_table_bucket_name_problem(S("A")).n > 0);
    assert_true(svc_is_table_bucket(S("123456789012:s3tablescatalog/b")));
    assert_false(svc_is_table_bucket(S("123456789012")));
}

static Status schema_of(Arena *a, const char *text, SvcNewTable *t, Error *err)
{
    Json *j = NULL;
    TRY(json_parse(a, str_c(text), &j, err));
    *t = (SvcNewTable){0};
    return s3t_schema(a, j, t, err);
}

static void test_schema(void **state)
{
    Arena *a = *state;
    SvcNewTable t;
    Error err;

    assert_ok(schema_of(a, "{\"schema\":{\"fields\":[{\"name\":\"a\",\"type\":\"int\",\"required\":true},{\"id\":7,\"name\":\"b\",\"type\":\"decimal(10, 2)\"}]},"
                           "\"partitionSpec\":{\"fields\":[{\"source-id\":7,\"transform\":\"identity\",\"name\":\"b\"}]},"
                           "\"writeOrder\":{\"order-id\":1,\"fields\":[{\"source-id\":7,\"transform\":\"identity\",\"direction\":\"asc\",\"null-order\":\"nulls-first\"}]},"
                           "\"properties\":{\"k\":\"v\"}}", &t, &err), &err);
    assert_int_equal(t.schema->fields.n, 2);
    assert_int_equal(t.schema->fields.p[0].id, 8);
    assert_int_equal(t.schema->fields.p[1].id, 7);
    assert_true(t.schema->fields.p[0].required);
    assert_int_equal(t.spec->fields.n, 1);
    assert_int_equal(t.order->fields.n, 1);
    assert_ok(schema_of(a, "{\"schemaV2\":{\"type\":\"struct\",\"fields\":[{\"id\":1,\"name\":\"l\",\"required\":false,"
                           "\"type\":{\"type\":\"list\",\"element-id\":2,\"element\":\"string\",\"element-required\":false}}]}}", &t, &err), &err);
    assert_int_equal(t.schema->fields.n, 1);
    assert_int_equal(schema_of(a, "{}", &t, &err), E_INVALID);
    assert_int_equal(schema_of(a, "{\"schema\":{\"fields\":[{\"name\":\"a\",\"type\":\"nonsense\"}]}}", &t, &err), E_INVALID);
    assert_int_equal(schema_of(a, "{\"schema\":{\"fields\":[]},\"schemaV2\":{\"type\":\"struct\",\"fields\":[]}}", &t, &err), E_INVALID);
}

static void test_wishes(void **state)
{
    Arena *a = *state;
    Json *config = NULL;
    Error err;

    Json *w = upkeep_wanted(a, NULL, UPKEEP_COMPACTION);
    assert_int_equal(json_get_int(json_get(json_get(w, "settings"), UPKEEP_COMPACTION), "targetFileSizeMB", 0), 512);
    assert_ok(json_parse(a, S("{\"maintenance\":{\"icebergSnapshotManagement\":{\"status\":\"disabled\",\"settings\":{\"icebergSnapshotManagement\":{\"minSnapshotsToKeep\":3}}}}}"), &config, &err), &err);
    w = upkeep_wanted(a, config, UPKEEP_SNAPSHOTS);
    assert_true(str_eq(json_get_str(w, "status", (Str){0}), S("disabled")));
    assert_int_equal(json_get_int(json_get(json_get(w, "settings"), UPKEEP_SNAPSHOTS), "minSnapshotsToKeep", 0), 3);
    assert_int_equal(json_get_int(json_get(json_get(w, "settings"), UPKEEP_SNAPSHOTS), "maxSnapshotAgeHours", 0), 120);
    assert_int_equal(upkeep_check(a, UPKEEP_COMPACTION, json_get(config, "maintenance"), &err), OK);
    assert_int_equal(upkeep_check(a, UPKEEP_COMPACTION, json_get(json_get(config, "maintenance"), UPKEEP_SNAPSHOTS), &err), E_INVALID);
}

static int setup(void **state) { *state = arena_create(); return 0; }
static int teardown(void **state) { arena_destroy(*state); return 0; }

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = { T(test_fields_compile), T(test_names), T(test_schema), T(test_wishes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* test_view.c - view metadata and the reference's rules for changing it. */
#include "iceberg/iceberg_int.h"
#include "test.h"

static int setup(void **state) { *state = arena_create(); return 0; }
static int teardown(void **state) { arena_destroy(*state); return 0; }

static Json *json(Arena *a, const char *text)
{
    Error err;
    Json *j;
    assert_ok(json_parse(a, str_c(text), &j, &err), &err);
    return j;
}

static const char *const SCHEMA = "{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"a\",\"type\":\"int\",\"required\":false}]}";

static const char *version(Arena *a, int id, const char *schema_id, const char *sql)
{
    return str_fmt(a, "{\"version-id\":%d,\"schema-id\":%s,\"timestamp-ms\":10,\"summary\":{\"engine-name\":\"x\"},\"default-namespace\":[\"ns\"],"
                      "\"representations\":[%s]}", id, schema_id, sql).p;
}

static const char *sql(Arena *a, const char *text, const char *dialect)
{
    return str_fmt(a, "{\"type\":\"sql\",\"sql\":\"%s\",\"dialect\":\"%s\"}", text, dialect).p;
}

static IceView *view(Arena *a)
{
    Error err;
    IceSchema *s;
    IceViewVersion *v;
    IceView *ret;
    Props props = { 0 };

    props_set(a, &props, S("comment"), S("c"));
    assert_ok(ice_schema_parse(a, json(a, SCHEMA), &s, &err), &err);
    assert_ok(ice_view_version_parse(a, json(a, version(a, 1, "0", sql(a, "select 1", "spark"))), &v, &err), &err);
    assert_ok(ice_view_new(a, S("s3://w/v"), s, v, &props, 99, &ret, &err), &err);
    return ret;
}

static IceView *LAST;
static int CHANGED;

static void applies(Arena *a, const IceView *v, const char *updates)
{
    Error err;
    assert_ok(ice_view_apply(a, v, NULL, json(a, updates), 99, &LAST, &CHANGED, &err), &err);
}

static void fails(Arena *a, const IceView *v, const char *requirements, const char *updates, Status status, const char *text)
{
    Error err = { 0 };
    assert_status(ice_view_apply(a, v, json(a, requirements), json(a, updates), 99, &LAST, &CHANGED, &err), status);
    if (!strstr(err.message, text))
        fail_msg("'%s' is not in '%s'", text, err.message);
}

static const char *replace(Arena *a, const char *representations)
{
    return str_fmt(a, "[{\"action\":\"add-schema\",\"schema\":%s},{\"action\":\"add-view-version\",\"view-version\":%s},"
                      "{\"action\":\"set-current-view-version\",\"view-version-id\":-1}]", SCHEMA, version(a, 1, "-1", representations)).p;
}

static void test_round_trip(void **state)
{
    Arena *a = *state;
    Error err;
    IceView *v = view(a), *back;
    Json *j = ice_view_json(a, v);

    json_set(a, j, "x-unknown", json_int(a, 7));
    json_set(a, json_at(json_get(j, "versions"), 0), "storage-table", json(a, "{\"namespace\":[\"n\"],\"name\":\"v__storage\"}"));
    assert_ok(ice_view_parse(a, json_text(a, j), &back, &err), &err);
    assert_true(json_equal(j, ice_view_json(a, back)));
    assert_non_null(ice_view_current(back)->storage_table);
    assert_int_equal(back->version_log.p[0].snapshot_id, 1);
    assert_int_equal(back->version_log.p[0].timestamp_ms, 10);
    assert_str(ice_view_schema(back, 0)->fields.p[0].name, "a");
}

static void test_replace(void **state)
{
    Arena *a = *state;
    IceView *v = view(a);

    applies(a, v, replace(a, sql(a, "select 2", "spark")));
    assert_int_equal(CHANGED, 1);
    assert_int_equal(LAST->current_version_id, 2);
    assert_int_equal(LAST->versions.n, 2);
    assert_int_equal(LAST->schemas.n, 1);
    assert_int_equal(LAST->version_log.n, 2);
    IceView *second = LAST;
    applies(a, second, replace(a, sql(a, "select 1", "spark")));
    assert_int_equal(LAST->current_version_id, 1);
    assert_int_equal(LAST->versions.n, 2);
    assert_int_equal(LAST->version_log.p[2].timestamp_ms, 99);
    applies(a, second, replace(a, sql(a, "select 2", "spark")));
    assert_int_equal(CHANGED, 0);
    assert_int_equal(v->versions.n, 1);
}

static void test_dialects(void **state)
{
    Arena *a = *state;
    IceView *v = view(a);
    const char *twice = str_fmt(a, "%s,%s", sql(a, "select 3", "trino"), sql(a, "select 4", "Trino")).p;

    fails(a, v, "[]", replace(a, twice), E_INVALID, "Invalid view version: Cannot add multiple queries for dialect trino");
    fails(a, v, "[]", replace(a, sql(a, "select 3", "trino")), E_INVALID, "Cannot replace view due to loss of view dialects");
    applies(a, v, "[{\"action\":\"set-properties\",\"updates\":{\"replace.drop-dialect.allowed\":\"true\"}}]");
    applies(a, LAST, replace(a, sql(a, "select 3", "trino")));
    assert_str(ice_view_current(LAST)->reprs.p[0].dialect, "trino");
}

static void test_refusals(void **state)
{
    Arena *a = *state;
    IceView *v = view(a);

    fails(a, v, "[{\"type\":\"assert-view-uuid\",\"uuid\":\"other\"}]", "[]", E_CONFLICT, "Requirement failed: view UUID does not match: expected");
    fails(a, v, "[{\"type\":\"assert-nothing\"}]", "[]", E_INVALID, "unknown type");
    fails(a, v, "[]", "[{\"action\":\"explode\"}]", E_INVALID, "unknown view action");
    fails(a, v, "[]", "[{\"action\":\"assign-uuid\",\"uuid\":\"other\"}]", E_INVALID, "Cannot reassign uuid");
    fails(a, v, "[]", "[{\"action\":\"set-current-view-version\",\"view-version-id\":-1}]", E_INVALID, "Cannot set last version id: no current version id has been set");
    fails(a, v, "[]", "[{\"action\":\"set-current-view-version\",\"view-version-id\":23}]", E_INVALID, "Cannot set current version to unknown version: 23");
    fails(a, v, "[]", "[{\"action\":\"upgrade-format-version\",\"format-version\":0}]", E_INVALID, "Cannot downgrade v1 view to v0");
    const char *unknown = str_fmt(a, "[{\"action\":\"add-view-version\",\"view-version\":%s}]", version(a, 1, "5", sql(a, "x", "spark"))).p;
    fails(a, v, "[]", unknown, E_INVALID, "Cannot add version with unknown schema: 5");
}

static void test_history_length(void **state)
{
    Arena *a = *state;
    IceView *v = view(a);

    applies(a, v, "[{\"action\":\"set-properties\",\"updates\":{\"version.history.num-entries\":\"3\"}}]");
    for (int i = 2; i < 9; i++)
        applies(a, LAST, replace(a, sql(a, str_fmt(a, "select %d", i).p, "spark")));
    assert_int_equal(LAST->versions.n, 3);
    assert_int_equal(LAST->current_version_id, 8);
    assert_int_equal(LAST->version_log.n, 3);
    IceView *three = LAST;
    applies(a, three, "[{\"action\":\"set-properties\",\"updates\":{\"version.history.num-entries\":\"1\"}},"
                      "{\"action\":\"set-current-view-version\",\"view-version-id\":6}]");
    assert_int_equal(LAST->versions.n, 1);
    assert_int_equal(LAST->versions.p[0]->id, 6);
    LAST = three;
    applies(a, LAST, "[{\"action\":\"remove-properties\",\"removals\":[\"comment\"]}]");
    assert_int_equal(CHANGED, 1);
    fails(a, LAST, "[]", "[{\"action\":\"set-properties\",\"updates\":{\"version.history.num-entries\":\"0\"}}]", E_INVALID, "must be positive but was 0");
}

static void test_bad_views(void **state)
{
    static const char *const BAD[] = {
        "{}", "[]", "{\"view-uuid\":\"u\",\"format-version\":2,\"location\":\"l\"}",
        "{\"view-uuid\":\"u\",\"format-version\":1,\"location\":\"l\",\"current-version-id\":4,\"schemas\":[],\"versions\":[]}",
    };
    Arena *a = *state;
    IceView *v;
    Error err;

    for (size_t i = 0; i < COUNT_OF(BAD); i++)
        assert_int_not_equal(ice_view_parse(a, str_c(BAD[i]), &v, &err), OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
        T(test_round_trip), T(test_replace), T(test_dialects), T(test_refusals), T(test_history_length), T(test_bad_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* test_values.c - types, single values, transforms, pruning of ranges; the spec's own hash values. */
#include <math.h>

#include "iceberg/iceberg_int.h"
#include "test.h"

static int setup(void **state) { *state = arena_create(); return 0; }
static int teardown(void **state) { arena_destroy(*state); return 0; }

static IceType *type(Arena *a, const char *text)
{
    Error err;
    IceType *t;
    assert_ok(ice_type_parse(a, json_str(a, str_c(text)), &t, &err), &err);
    return t;
}

static IceValue value(Arena *a, const char *type_text, const char *json)
{
    Error err;
    Json *j;
    IceValue v;
    assert_ok(json_parse(a, str_c(json), &j, &err), &err);
    assert_ok(ice_value_from_json(a, type(a, type_text), j, &v, &err), &err);
    return v;
}

static IceValue apply(Arena *a, const char *transform, const char *type_text, const char *json)
{
    Error err;
    IceValue v = value(a, type_text, json), out;
    IceTransform t = ice_transform_parse(str_c(transform));
    assert_ok(ice_transform_apply(a, &t, type(a, type_text), &v, &out, &err), &err);
    return out;
}

static void test_type_text(void **state)
{
    static const char *const TEXTS[] = { "boolean", "int", "long", "float", "double", "decimal(38, 10)", "date", "time", "timestamp",
        "timestamptz", "timestamp_ns", "timestamptz_ns", "string", "uuid", "fixed[16]", "binary", "unknown", "variant",
        "geometry(srid:4326)", "geography" };
    static const char *const BAD[] = { "decimal(39,2)", "decimal(2,3)", "decimal", "fixed[0]", "fixed", "text", "int[3]", "" };
    Error err;
    IceType *t;

    for (size_t i = 0; i < COUNT_OF(TEXTS); i++)
        assert_str(ice_type_text(*state, type(*state, TEXTS[i])), TEXTS[i]);
    for (size_t i = 0; i < COUNT_OF(BAD); i++)
        assert_status(ice_type_parse(*state, json_str(*state, str_c(BAD[i])), &t, &err), E_INVALID);
}

static void test_promotion(void **state)
{
    Arena *a = *state;
    assert_true(ice_type_promotes(type(a, "int"), type(a, "long"), 2));
    assert_false(ice_type_promotes(type(a, "long"), type(a, "int"), 2));
    assert_true(ice_type_promotes(type(a, "decimal(9,2)"), type(a, "decimal(18,2)"), 1));
    assert_false(ice_type_promotes(type(a, "decimal(9,2)"), type(a, "decimal(18,3)"), 2));
    assert_false(ice_type_promotes(type(a, "date"), type(a, "timestamp"), 2));
    assert_true(ice_type_promotes(type(a, "date"), type(a, "timestamp"), 3));
    assert_false(ice_type_promotes(type(a, "date"), type(a, "timestamptz"), 3));
}

static void test_json_and_binary(void **state)
{
    static const char *const CASES[][2] = {
        { "boolean", "true" }, { "int", "-5" }, { "long", "9223372036854775807" }, { "double", "1.5" }, { "float", "0.25" },
        { "decimal(9, 2)", "\"14.20\"" }, { "decimal(38, 4)", "\"-9999999999999999999999999999999999.9999\"" },
        { "decimal(4, 4)", "\"-0.0001\"" }, { "date", "\"1969-12-31\"" }, { "date", "\"2024-02-29\"" },
        { "time", "\"22:31:08.123456\"" }, { "timestamp", "\"1969-12-31T23:59:59.999999\"" },
        { "timestamptz", "\"2017-11-16T22:31:08.000001+00:00\"" }, { "timestamp_ns", "\"2017-11-16T22:31:08.000000001\"" },
        { "string", "\"h\\u00e9\"" }, { "uuid", "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"" }, { "fixed[3]", "\"00FF10\"" },
        { "binary", "\"\"" },
    };
    Arena *a = *state;

    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        IceType *t = type(a, CASES[i][0]);
        IceValue v = value(a, CASES[i][0], CASES[i][1]), back;
        Error err;
        Json *want;
        assert_ok(json_parse(a, str_c(CASES[i][1]), &want, &err), &err);
        assert_str(json_text(a, ice_value_json(a, t, &v)), json_text(a, want).p);
        assert_true(ice_value_decode(a, t, ice_value_encode(a, t, &v), &back));
        assert_int_equal(ice_value_cmp(&v, &back), 0);
    }
}

static void test_bad_json(void **state)
{
    static const char *const CASES[][2] = {
        { "int", "2147483648" }, { "int", "\"1\"" }, { "decimal(4, 2)", "\"1.234\"" }, { "decimal(4, 2)", "\"1e2\"" },
        { "date", "\"2023-02-29\"" }, { "date", "\"2023-02-01x\"" }, { "date", "\"99999999-01-01\"" }, { "timestamp", "\"2023-02-01T00:00:00+00:00\"" },
        { "timestamptz", "\"2023-02-01T00:00:00\"" }, { "uuid", "\"f79c3e09\"" }, { "fixed[2]", "\"00\"" }, { "boolean", "1" },
    };
    Arena *a = *state;

    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        Error err;
        Json *j;
        IceValue v;
        assert_ok(json_parse(a, str_c(CASES[i][1]), &j, &err), &err);
        assert_status(ice_value_from_json(a, type(a, CASES[i][0]), j, &v, &err), E_INVALID);
    }
}

static void test_promoted_bounds(void **state)
{
    Arena *a = *state;
    IceValue v;

    assert_true(ice_value_decode(a, type(a, "long"), (Str){ "\xff\xff\xff\xff", 4 }, &v));
    assert_int_equal(v.integer, -1);
    assert_true(ice_value_decode(a, type(a, "timestamp"), (Str){ "\x01\0\0\0", 4 }, &v));
    assert_int_equal(v.integer, 86400000000);
    assert_true(ice_value_decode(a, type(a, "double"), (Str){ "\0\0\x80\x3f", 4 }, &v));
    assert_true(v.real == 1.0);
    assert_false(ice_value_decode(a, type(a, "int"), (Str){ "\0\0\0\0\0\0\0\0", 8 }, &v));
    assert_false(ice_value_decode(a, type(a, "decimal(38,0)"), (Str){ "", 0 }, &v));
    assert_false(ice_value_decode(a, type(a, "uuid"), S("short"), &v));
}

/* Appendix B of the spec; `want` is the hash before the modulus. */
static void test_hashes(void **state)
{
    static const struct { const char *type, *json; int32_t hash; } CASES[] = {
        { "int", "34", 2017239379 }, { "long", "34", 2017239379 }, { "decimal(9, 2)", "\"14.20\"", -500754589 },
        { "date", "\"2017-11-16\"", -653330422 }, { "time", "\"22:31:08\"", -662762989 },
        { "timestamp", "\"2017-11-16T22:31:08\"", -2047944441 }, { "timestamp", "\"2017-11-16T22:31:08.000001\"", -1207196810 },
        { "timestamptz", "\"2017-11-16T14:31:08-08:00\"", -2047944441 },
        { "timestamp_ns", "\"2017-11-16T22:31:08.000001001\"", -1207196810 }, { "string", "\"iceberg\"", 1210000089 },
        { "uuid", "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"", 1488055340 }, { "fixed[4]", "\"00010203\"", -188683207 },
        { "binary", "\"00010203\"", -188683207 },
    };

    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        IceValue v = apply(*state, "bucket[2147483647]", CASES[i].type, CASES[i].json);
        assert_int_equal(v.integer, (CASES[i].hash & 0x7fffffff) % 2147483647);
        assert_int_equal(apply(*state, "bucket[16]", CASES[i].type, CASES[i].json).integer, (CASES[i].hash & 0x7fffffff) % 16);
    }
}

static void test_truncate(void **state)
{
    Arena *a = *state;

    assert_int_equal(apply(a, "truncate[10]", "int", "-1").integer, -10);
    assert_int_equal(apply(a, "truncate[10]", "int", "19").integer, 10);
    assert_int_equal(apply(a, "truncate[10]", "long", "-9223372036854775808").integer, INT64_MAX - 1);
    assert_int_equal(apply(a, "truncate[50]", "decimal(9,2)", "\"10.65\"").decimal, 1050);
    assert_int_equal(apply(a, "truncate[50]", "decimal(9,2)", "\"-0.05\"").decimal, -50);
    assert_str(apply(a, "truncate[3]", "string", "\"a\\u00e9\\ud83d\\ude00z\"").bytes, "a\xc3\xa9\xf0\x9f\x98\x80");
    assert_int_equal(apply(a, "truncate[1]", "binary", "\"FF00\"").bytes.n, 1);
}

static void test_calendar(void **state)
{
    static const char *const LAST = "\"1969-12-31T23:59:59.999999\"";
    Arena *a = *state;

    assert_int_equal(apply(a, "year", "timestamp", LAST).integer, -1);
    assert_int_equal(apply(a, "month", "timestamp", LAST).integer, -1);
    assert_int_equal(apply(a, "day", "timestamp", LAST).integer, -1);
    assert_int_equal(apply(a, "hour", "timestamp", LAST).integer, -1);
    assert_int_equal(apply(a, "year", "date", "\"2017-12-01\"").integer, 47);
    assert_int_equal(apply(a, "month", "date", "\"2017-12-01\"").integer, 575);
    assert_int_equal(apply(a, "day", "date", "\"2017-12-01\"").integer, 17501);
    assert_int_equal(apply(a, "hour", "timestamptz", "\"2017-12-01T10:30:00+00:00\"").integer, 420034);
}

static void test_wrong_sources(void **state)
{
    static const char *const CASES[][2] = { { "hour", "date" }, { "bucket[4]", "double" }, { "bucket[4]", "boolean" }, { "year", "int" },
        { "truncate[4]", "double" }, { "identity", "variant" }, { "zorder", "int" }, { "bucket[0]", "int" }, { "day", "time" } };
    Arena *a = *state;
    IceValue null = { .null = 1 }, out;
    Error err;

    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        IceTransform t = ice_transform_parse(str_c(CASES[i][0]));
        assert_status(ice_transform_apply(a, &t, type(a, CASES[i][1]), &null, &out, &err), E_INVALID);
    }
    IceTransform t = ice_transform_parse(S("void"));
    assert_ok(ice_transform_apply(a, &t, type(a, "int"), &null, &out, &err), &err);
    assert_int_equal(out.null, 1);
}

static void test_dates_round_trip(void **state)
{
    (void)state;
    for (int64_t day = -800000; day < 800000; day += 37) {
        CalendarDay d = calendar_day(day);
        assert_int_equal(calendar_days(d.year, d.month, d.day), day);
    }
}

static void test_partition_path(void **state)
{
    Arena *a = *state;
    IceSchema s = { 0 };
    IceSpec spec = { 0 };
    IceValue v[3] = { { .kind = ICE_STRING, .bytes = S("x/y z") }, { .kind = ICE_INT, .integer = -1 }, { .null = 1 } };

    vec_push(a, &s.fields, ((IceField){ .id = 1, .name = S("a"), .type = type(a, "string") }));
    vec_push(a, &s.fields, ((IceField){ .id = 2, .name = S("t"), .type = type(a, "timestamp") }));
    vec_push(a, &spec.fields, ((IcePartitionField){ .source_id = 1, .name = S("a"), .transform = ice_transform_parse(S("identity")) }));
    vec_push(a, &spec.fields, ((IcePartitionField){ .source_id = 2, .name = S("h"), .transform = ice_transform_parse(S("hour")) }));
    vec_push(a, &spec.fields, ((IcePartitionField){ .source_id = 2, .name = S("m"), .transform = ice_transform_parse(S("month")) }));
    assert_str(ice_partition_path(a, &spec, &s, v), "a=x%2Fy%20z/h=1969-12-31-23/m=null");
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static bool may(IcePredOp op, double v, const IceRange *r)
{
    IceValue x = { .kind = ICE_DOUBLE, .real = v };
    IcePredicate p = { .op = op, .values = &x, .n = 1 };
    return ice_range_may_match(&p, r);
}

static void test_ranges(void **state)
{
    (void)state;
    IceRange r = { .may_value = 1, .has_lower = 1, .has_upper = 1, .lower = { .kind = ICE_DOUBLE, .real = 1 }, .upper = { .kind = ICE_DOUBLE, .real = 5 } };

    assert_true(may(PRED_EQ, 1, &r));
    assert_false(may(PRED_EQ, 0, &r));
    assert_false(may(PRED_EQ, 6, &r));
    assert_false(may(PRED_LT, 1, &r));
    assert_true(may(PRED_LE, 1, &r));
    assert_false(may(PRED_GT, 5, &r));
    assert_true(may(PRED_GE, 5, &r));
    assert_true(may(PRED_NE, 5, &r));
    assert_false(may(PRED_IS_NULL, 0, &r));
    assert_true(may(PRED_NOT_NULL, 0, &r));
    r.may_nan = 1;                                       /* NaN is above every bound */
    assert_true(may(PRED_GT, 5, &r));
    assert_true(may(PRED_EQ, NAN, &r));
    assert_false(may(PRED_LT, 1, &r));
    assert_false(may(PRED_EQ, 6, &r));
    r.lower.kind = r.upper.kind = ICE_STRING;            /* bounds of another kind say nothing */
    assert_true(may(PRED_EQ, 6, &r));
}

static void test_starts(void **state)
{
    (void)state;
    IceValue x = { .kind = ICE_STRING, .bytes = S("abc") };
    IcePredicate p = { .op = PRED_STARTS, .values = &x, .n = 1 };
    IceRange r = { .may_value = 1, .has_lower = 1, .has_upper = 1, .lower = { .kind = ICE_STRING, .bytes = S("abd") }, .upper = { .kind = ICE_STRING, .bytes = S("z") } };

    assert_false(ice_range_may_match(&p, &r));
    r.lower.bytes = S("ab");
    assert_true(ice_range_may_match(&p, &r));
    r.upper.bytes = S("abb");
    assert_false(ice_range_may_match(&p, &r));
    r.upper.bytes = S("abcx");
    assert_true(ice_range_may_match(&p, &r));
}

static void test_garbage_bounds(void **state)
{
    Arena *a = *state;
    IceMetadata m = { 0 };
    IceSchema s = { 0 };
    IceFile f = { .path = S("x"), .record_count = 1 };
    IceValue v = { .kind = ICE_LONG, .integer = 7 };
    IcePredicates where = { 0 };
    IceType *t = type(a, "long");
    IceValue lower = { .kind = ICE_LONG, .integer = 9 }, upper = { .kind = ICE_LONG, .integer = 8 };

    vec_push(a, &s.fields, ((IceField){ .id = 1, .name = S("a"), .type = t }));
    vec_push(a, &m.schemas, &s);
    vec_push(a, &where, ((IcePredicate){ .field_id = 1, .op = PRED_EQ, .values = &v, .n = 1 }));
    assert_true(ice_file_may_match(a, &m, &f, &where));
    vec_push(a, &f.lower, ((IceBound){ 1, ice_value_encode(a, t, &lower) }));
    assert_false(ice_file_may_match(a, &m, &f, &where));
    vec_push(a, &f.upper, ((IceBound){ 1, ice_value_encode(a, t, &upper) }));
    assert_true(ice_file_may_match(a, &m, &f, &where));  /* inverted: ignored */
    f.upper.n = 0;
    f.lower.p[0].bytes = S("odd");
    assert_true(ice_file_may_match(a, &m, &f, &where));  /* does not decode: ignored */
}

/* Random rows of one partition: whenever a row fulfils the predicate, neither the file nor its manifest is pruned. */
static bool accepts(IcePredOp op, int64_t row, const IceValue *v, size_t n)
{
    bool in = false;
    switch (op) {
    case PRED_EQ: return row == v->integer;
    case PRED_NE: return row != v->integer;
    case PRED_LT: return row < v->integer;
    case PRED_LE: return row <= v->integer;
    case PRED_GT: return row > v->integer;
    case PRED_GE: return row >= v->integer;
    case PRED_NOT_NULL: return true;
    case PRED_IN:
        for (size_t i = 0; i < n; i++)
            in |= row == v[i].integer;
        return in;
    default: return false;
    }
}

static void test_pruning_is_safe(void **state)
{
    static const char *const TRANSFORMS[] = { "identity", "bucket[3]", "truncate[10]", "void", "day", "month", "year", "hour" };
    Arena *a = *state;
    Error err;
    size_t dropped = 0;

    for (int round = 0; round < 20000; round++) {
        size_t which = rand_u64() % COUNT_OF(TRANSFORMS);
        IceType *t = type(a, which < 4 ? "long" : "timestamp");
        int64_t unit = which < 4 ? 1 : 3600000000 * 7;
        IceTransform tr = ice_transform_parse(str_c(TRANSFORMS[which]));
        IceMetadata m = { 0 };
        IceSchema s = { 0 };
        IceSpec spec = { .id = 0 };
        IceValue first = { .kind = t->kind, .integer = ((int64_t)(rand_u64() % 200) - 100) * unit }, part, wanted[2];
        IceFile f = { .path = S("x"), .npartition = 1, .partition = &part };
        IcePredicate p = { .field_id = 1, .op = (IcePredOp)(rand_u64() % PRED_STARTS), .values = wanted };
        IcePredicates where = { .p = &p, .n = 1 };
        IceValue lowest = first, highest = first;
        bool any = false;

        vec_push(a, &s.fields, ((IceField){ .id = 1, .name = S("a"), .type = t }));
        vec_push(a, &m.schemas, &s);
        vec_push(a, &spec.fields, ((IcePartitionField){ .source_id = 1, .field_id = 1000, .name = S("p"), .transform = tr }));
        vec_push(a, &m.specs, &spec);
        assert_ok(ice_transform_apply(a, &tr, t, &first, &part, &err), &err);
        for (int i = 0; i < 2; i++)
            wanted[i] = (IceValue){ .kind = t->kind, .integer = ((int64_t)(rand_u64() % 200) - 100) * unit };
        p.n = p.op == PRED_IN ? 2 : p.op == PRED_IS_NULL || p.op == PRED_NOT_NULL ? 0 : 1;
        for (int i = 0; i < 8; i++) {
            IceValue row = { .kind = t->kind, .integer = first.integer + ((int64_t)(rand_u64() % 21) - 10) * unit }, q;
            assert_ok(ice_transform_apply(a, &tr, t, &row, &q, &err), &err);
            if (i && ice_value_cmp(&q, &part))
                continue;
            row = i ? row : first;
            lowest = ice_value_cmp(&row, &lowest) < 0 ? row : lowest;
            highest = ice_value_cmp(&row, &highest) > 0 ? row : highest;
            any |= accepts(p.op, row.integer, wanted, p.n);
        }
        vec_push(a, &f.lower, ((IceBound){ 1, ice_value_encode(a, t, &lowest) }));
        vec_push(a, &f.upper, ((IceBound){ 1, ice_value_encode(a, t, &highest) }));
        IceType *result = ice_transform_result(a, &tr, t);
        IceSummary sum = { .contains_null = part.null, .has_lower = !part.null, .has_upper = !part.null };
        if (!part.null)
            sum.lower = sum.upper = ice_value_encode(a, result, &part);
        IceManifest mf = { .path = S("m") };
        mf.partitions.p = &sum;
        mf.partitions.n = 1;
        bool file_may = ice_file_may_match(a, &m, &f, &where), manifest_may = ice_manifest_may_match(a, &m, &mf, &where);
        if (any && !(file_may && manifest_may))
            fail_msg("%s, op %d, first %lld, wanted %lld: pruned", TRANSFORMS[which], (int)p.op, (long long)first.integer, (long long)wanted[0].integer);
        dropped += !file_may + !manifest_may;
    }
    assert_true(dropped > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
        T(test_type_text), T(test_promotion), T(test_json_and_binary), T(test_bad_json), T(test_promoted_bounds), T(test_hashes),
        T(test_truncate), T(test_calendar), T(test_wrong_sources), T(test_dates_round_trip), T(test_partition_path), T(test_ranges),
        T(test_starts), T(test_garbage_bounds), T(test_pruning_is_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

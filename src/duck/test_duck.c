/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "duck/duck.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

typedef struct Fixture { DuckEngine *e; DuckConn *c; Arena *a; } Fixture;

static int set_up(void **state)
{
    static Fixture f;
    Error err;
    DuckOptions o = { .memory_limit = S("300MB"), .threads = 2 };

    assert_ok(duck_open(&o, &f.e, &err), &err);
    assert_ok(duck_connect(f.e, &f.c, &err), &err);
    f.a = arena_create();
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    duck_disconnect(f->c);
    duck_close(f->e);
    arena_destroy(f->a);
    return 0;
}

/* One cell as text by the engine, so that a wrong value read or written is seen from the other side. */
static Str text(Fixture *f, const char *sql)
{
    Error err;
    Str s = S("");
    bool has;
    assert_ok(duck_scalar_str(f->c, f->a, str_c(sql), &s, &has, &err), &err);
    return has ? s : S("<null>");
}

static Value one(Fixture *f, const char *sql, DuckResult **keep)
{
    Error err;
    size_t n;
    assert_ok(duck_query(f->c, str_c(sql), keep, &err), &err);
    assert_ok(duck_next(*keep, &n, &err), &err);
    assert_int_equal(n, 1);
    return duck_value(f->a, *keep, 0, 0);
}

/* A value read from the engine and printed by sql_value is the same value again. */
static void round_trip(void **state)
{
    Fixture *f = *state;
    static const char *const exprs[] = {
        "true", "(-128)::TINYINT", "(-32768)::SMALLINT", "-2147483648", "(-9223372036854775808)::BIGINT",
        "170141183460469231731687303715884105727::HUGEINT", "255::UTINYINT", "65535::USMALLINT", "4294967295::UINTEGER",
        "18446744073709551615::UBIGINT", "340282366920938463463374607431768211455::UHUGEINT", "0.1::FLOAT", "0.1::DOUBLE",
        "'nan'::DOUBLE", "'-inf'::DOUBLE", "(-0.05)::DECIMAL(4,2)", "123456.789::DECIMAL(9,3)", "(-1.5)::DECIMAL(18,6)",
        "99999999999999999999999999999999999999::DECIMAL(38,0)", "'it''s \"q\" ünï'", "''", "from_hex('00ff27')",
        "DATE '1969-12-31'", "DATE '9999-12-31'", "TIME '23:59:59.999999'", "TIMESTAMP '1969-12-31 23:59:59.999999'",
        "TIMESTAMPTZ '2024-02-29 12:00:00+00'", "make_timestamp_ns(1700000000123456789)", "'12:30:00+02:00'::TIMETZ",
        "INTERVAL '14 months 3 days 4.5 seconds'", "UUID 'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
        "UUID '00000000-0000-0000-0000-000000000001'", "'{\"a\": [1]}'::JSON", "[1, NULL, 3]", "[]::INTEGER[]",
        "{'a': 1, 'B b': 'x', 'c': [1.5, 2.5]}", "map(['k1', 'k2'], [1, NULL])", "[{'a': 'deep'}, NULL]",
        "NULL::DECIMAL(10,2)", "[['a'], ['b', NULL]]", "TIMESTAMP_S '2024-01-01 00:00:01'", "TIMESTAMP_MS '2024-01-01 00:00:01.5'",
        "'b'::ENUM('a', 'b')", "[1, 2]::INTEGER[2]",
    };

    for (size_t i = 0; i < COUNT_OF(exprs); i++) {
        CLEANUP(duck_result_freep) DuckResult *r = NULL;
        Value v = one(f, str_fmt(f->a, "SELECT %s", exprs[i]).p, &r);
        StrBuf b = sb_new(f->a);
        sql_value(&b, &v);
        Str again = text(f, str_fmt(f->a, "SELECT (%s)::VARCHAR", sb_str(&b).p).p);
        Str want = text(f, str_fmt(f->a, "SELECT (%s)::VARCHAR", exprs[i]).p);
        if (!str_eq(again, want))
            fail_msg("%s became %s: " STR_FMT, exprs[i], sb_str(&b).p, STR_ARG(again));
    }
}

static void types(void **state)
{
    Fixture *f = *state;
    Error err;
    DuckColumns cols;

    assert_ok(duck_describe(f->c, f->a, S("SELECT 1::DECIMAL(20,4) AS \"A b\", {'x': [1]} s, map([1],['a']) m, '1'::JSON j"),
                            &cols, &err), &err);
    assert_int_equal(cols.n, 4);
    assert_str(cols.p[0].name, "A b");
    assert_str(data_type_sql(f->a, &cols.p[0].type), "DECIMAL(20,4)");
    assert_str(data_type_sql(f->a, &cols.p[1].type), "STRUCT(\"x\" INTEGER[])");
    assert_str(data_type_sql(f->a, &cols.p[2].type), "MAP(INTEGER, VARCHAR)");
    assert_int_equal(cols.p[3].type.kind, DT_JSON);
    assert_status(duck_describe(f->c, f->a, S("SELECT nothing"), &cols, &err), E_INTERNAL);
}

static void errors_by_type(void **state)
{
    Fixture *f = *state;
    Error err;

    assert_status(duck_exec(f->c, S("SELEKT 1"), &err), E_SYNTAX);
    assert_status(duck_exec(f->c, S("SELECT * FROM absent"), &err), E_INTERNAL);
    assert_status(duck_exec(f->c, S("SELECT CAST('x' AS INTEGER)"), &err), E_INVALID);
    assert_string_equal(err.sqlstate, "22018");
    assert_null(strchr(err.message, '\n'));
    assert_status(duck_exec(f->c, S("SELECT 2147483647::INTEGER + 1::INTEGER"), &err), E_OVERFLOW);
    assert_status(duck_exec(f->c, S("SELECT error('[DIVIDE_BY_ZERO] no. SQLSTATE: 22012')"), &err), E_DIVISION);
    assert_string_equal(err.sqlstate, "22012");
    assert_non_null(strstr(err.message, "[DIVIDE_BY_ZERO] no."));
    assert_status(duck_exec(f->c, S("SELECT * FROM read_csv('/nonexistent/x.csv')"), &err), E_IO);
    assert_status(duck_exec(f->c, S("SELECT list(range) FROM range(200000000)"), &err), E_LIMIT);
}

static void locked(void **state)
{
    Fixture *f = *state;
    Error err;
    static const char *const hostile[] = {
        "SET threads = 1", "SET enable_external_access = true", "RESET memory_limit", "SET lock_configuration = false",
        "PRAGMA memory_limit = '1GB'", "INSTALL httpfs", "LOAD httpfs", "SET TimeZone = 'Asia/Tokyo'",
    };

    for (size_t i = 0; i < COUNT_OF(hostile); i++)
        if (duck_exec(f->c, str_c(hostile[i]), &err) == OK)
            fail_msg("%s was taken", hostile[i]);
    assert_str(text(f, "SELECT current_setting('TimeZone')"), "UTC");
}

static void streaming(void **state)
{
    Fixture *f = *state;
    Error err;
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    size_t n, rows = 0;
    int64_t sum = 0;

    /* 4 GB of rows under a limit of 300 MB: only a streamed result can pass */
    assert_ok(duck_query(f->c, S("SELECT range AS i, repeat('x', 1000) AS s FROM range(4000000)"), &r, &err), &err);
    do {
        assert_ok(duck_next(r, &n, &err), &err);
        rows += n;
        if (n)
            sum += duck_value(f->a, r, 0, 0).integer % 2;
    } while (n && rows < 4000000);
    assert_int_equal(rows, 4000000);
    assert_true(sum >= 0);
}

static void late_error(void **state)
{
    Fixture *f = *state;
    Error err;
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    size_t n = 1;
    Status s = duck_query(f->c, S("SELECT CASE WHEN range = 900000 THEN error('late SQLSTATE: 22003') ELSE 'x' END FROM range(1000000)"), &r, &err);

    while (s == OK && n)
        s = duck_next(r, &n, &err);
    assert_status(s, E_OVERFLOW);
}

static void appender(void **state)
{
    Fixture *f = *state;
    Error err;
    DuckAppender *ap;
    DataType ints = { .kind = DT_INT32 };
    DuckColumn cols[] = {
        { S("i"), { .kind = DT_INT64 } }, { S("we\"ird"), { .kind = DT_STRING } },
        { S("d"), { .kind = DT_DECIMAL, .precision = 38, .scale = 2 } },
        { S("l"), { .kind = DT_LIST, .nchildren = 1, .children = &ints } }, { S("u"), { .kind = DT_UUID } },
        { S("b"), { .kind = DT_BINARY } },
    };
    Value items[2] = { { .kind = DT_INT32, .integer = 7 }, { .kind = DT_NULL } };
    Value d = { .kind = DT_DECIMAL, .type = &cols[2].type, .wide = (__int128)-12345 };
    Value l = { .kind = DT_LIST, .type = &cols[3].type, .items = { items, 2 } };
    Value u = { .kind = DT_UUID, .string = { "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7", 16 } };

    assert_ok(duck_temp_table(f->c, S("t\"1"), cols, COUNT_OF(cols), &ap, &err), &err);
    for (int i = 0; i < 3000; i++) {
        duck_append_i64(ap, i);
        duck_append_str(ap, S("a\0b"));
        duck_append(ap, &d);
        duck_append(ap, &l);
        duck_append(ap, &u);
        duck_append_str(ap, S("\xff"));
        duck_end_row(ap);
    }
    assert_ok(duck_append_done(ap, &err), &err);
    assert_str(text(f, "SELECT (count(*), sum(i), min(\"we\"\"ird\" = 'a' || chr(0) || 'b'), min(d), max(l), max(u), max(b))::VARCHAR FROM \"t\"\"1\""),
               "(3000, 4498500, true, -123.45, [7, NULL], f79c3e09-677c-4bbd-a479-3f349cb785e7, \\xFF)");
}

static void appender_is_sticky(void **state)
{
    Fixture *f = *state;
    Error err;
    DuckAppender *ap;
    DuckColumn cols[] = { { S("i"), { .kind = DT_INT8 } }, { S("j"), { .kind = DT_INT8 } } };

    assert_ok(duck_temp_table(f->c, S("t2"), cols, 2, &ap, &err), &err);
    duck_append_i64(ap, 1000);
    duck_append_i64(ap, 1);
    duck_end_row(ap);
    if (duck_append_done(ap, &err) == OK)
        fail_msg("1000 was taken as a TINYINT");
    assert_ok(duck_temp_table(f->c, S("t2"), cols, 2, &ap, &err), &err);
    duck_append_i64(ap, 1);
    duck_end_row(ap);
    assert_status(duck_append_done(ap, &err), E_INTERNAL);
}

static void *interrupt_soon(void *c)
{
    usleep(200000);
    duck_interrupt(c);
    return NULL;
}

static void cancel(void **state)
{
    Fixture *f = *state;
    Error err;
    pthread_t t;

    pthread_create(&t, NULL, interrupt_soon, f->c);
    Status s = duck_exec(f->c, S("SELECT count(*) FROM range(100000000) a, range(100000) b WHERE a.range % 7 = b.range % 11"), &err);
    pthread_join(t, NULL);
    assert_status(s, E_CANCELLED);
    assert_str(text(f, "SELECT 'alive'"), "alive");
}

static int64_t number(Fixture *f, const char *sql)
{
    Error err;
    int64_t v = 0;
    bool has;
    assert_ok(duck_scalar_i64(f->c, str_c(sql), &v, &has, &err), &err);
    assert_true(has);
    return v;
}

/* Values of the Iceberg spec's Appendix B, through a bucket count of 2^31 - 1 where the hash is positive. */
static void bucket(void **state)
{
    Fixture *f = *state;
    enum { MOST = 2147483647 };
    static const struct { const char *expr; int64_t hash; } known[] = {
        { "34::INTEGER", 2017239379 }, { "34::BIGINT", 2017239379 }, { "14.20::DECIMAL(9,2)", -500754589 },
        { "14.20::DECIMAL(38,2)", -500754589 }, { "DATE '2017-11-16'", -653330422 }, { "TIME '22:31:08'", -662762989 },
        { "TIMESTAMP '2017-11-16 22:31:08'", -2047944441 }, { "TIMESTAMP '2017-11-16 22:31:08.000001'", -1207196810 },
        { "make_timestamp_ns(1510871468000001001)", -1207196810 }, { "'iceberg'", 1210000089 },
        { "UUID 'f79c3e09-677c-4bbd-a479-3f349cb785e7'", 1488055340 }, { "from_hex('00010203')", -188683207 },
    };

    for (size_t i = 0; i < COUNT_OF(known); i++) {
        int64_t want = ((uint32_t)known[i].hash & 0x7fffffff) % MOST;
        int64_t got = number(f, str_fmt(f->a, "SELECT firn_bucket(2147483647, %s)", known[i].expr).p);
        if (got != want)
            fail_msg("%s: %lld is not %lld", known[i].expr, (long long)got, (long long)want);
    }
    assert_int_equal(number(f, "SELECT count(*) FROM (SELECT firn_bucket(16, NULLIF(range, 3)) b FROM range(5000)) WHERE b IS NULL"), 1);
    Error err;
    assert_true(duck_exec(f->c, S("SELECT firn_bucket(16, 1.5::DOUBLE)"), &err) != OK);
    assert_true(duck_exec(f->c, S("SELECT firn_bucket(0, 1)"), &err) != OK);
}

static void truncate_and_narrow(void **state)
{
    Fixture *f = *state;
    Error err;

    assert_int_equal(number(f, "SELECT firn_truncate(10, -1)"), -10);
    assert_int_equal(number(f, "SELECT firn_truncate(10, 19::BIGINT)"), 10);
    assert_str(text(f, "SELECT firn_truncate(3, 'äöü€x')"), "äöü");
    assert_str(text(f, "SELECT firn_truncate(2, from_hex('010203'))::VARCHAR"), "\\x01\\x02");
    assert_int_equal(number(f, "SELECT firn_long(sum(x)) FROM (VALUES (9223372036854775800), (7)) v(x)"), INT64_MAX);
    assert_status(duck_exec(f->c, S("SELECT firn_long(sum(x)) FROM (VALUES (9223372036854775800), (8)) v(x)"), &err), E_OVERFLOW);
    assert_string_equal(err.sqlstate, "22003");
    assert_str(text(f, "SELECT typeof(firn_long(sum(x))) FROM (VALUES (1)) v(x)"), "BIGINT");
}

/* Exact decimals: values checked by hand or by 200-digit arithmetic elsewhere. */
static void exact_decimals(void **state)
{
    Fixture *f = *state;
    Error err;
    static const char *const cases[][2] = {
        { "firn_div_s6(1::DECIMAL(10,2), 3::DECIMAL(10,2))", "0.333333" }, { "firn_div_s6(2::DECIMAL(10,2), 3)", "0.666667" },
        { "firn_div_s0((-5)::DECIMAL(10,0), 2)", "-3" }, { "firn_div_s0(5::DECIMAL(10,0), 2)", "3" }, { "firn_div_s2(0::DECIMAL(10,2), 7)", "0.00" },
        { "firn_div_s18(1::DECIMAL(38,0), 99999999999999999999999999999999999999::DECIMAL(38,0))", "0.000000000000000000" },
        { "firn_div_s0(99999999999999999999999999999999999999::DECIMAL(38,0), 3::DECIMAL(38,0))", "33333333333333333333333333333333333333" },
        { "firn_mul_s6(1.2345678901234567890::DECIMAL(38,19), 9.8765432109876543210::DECIMAL(38,19))", "12.193263" },
        { "firn_mul_s37(0.5::DECIMAL(38,38), 0.5::DECIMAL(38,38))", "0.2500000000000000000000000000000000000" },
        { "firn_mul_s0((-0.5)::DECIMAL(2,1), 1)", "-1" }, { "firn_round_s1(2.25::DECIMAL(10,2))", "2.3" }, { "firn_round_s1((-2.25)::DECIMAL(10,2))", "-2.3" },
        { "firn_fit_s1(99.94::DECIMAL(10,2), 3)", "99.9" }, { "firn_div_s2(NULL::DECIMAL(10,2), 3)", "<null>" }, { "firn_nonzero(5)", "5" },
    };
    static const char *const overflows[] = {
        "firn_mul_s0(99999999999999999999::DECIMAL(38,0), 9999999999999999999::DECIMAL(38,0))", "firn_fit_s1(99.95::DECIMAL(10,2), 3)",
        "firn_div_s38(1::DECIMAL(10,0), 1)", "firn_tinyint(128::BIGINT)", "firn_bigint(9223372036854775808::HUGEINT)", "firn_bigint(9.3e18::DOUBLE)",
        "firn_integer('nan'::DOUBLE)",
    };
    static const char *const zeros[] = { "firn_div_s2(1::DECIMAL(10,2), 0)", "firn_nonzero(0)", "firn_nonzero(-0.0::DOUBLE)", "firn_nonzero_s2(0::DECIMAL(38,2))" };

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_str(text(f, str_fmt(f->a, "SELECT CAST(%s AS VARCHAR)", cases[i][0]).p), cases[i][1]);
    for (size_t i = 0; i < COUNT_OF(overflows); i++)
        assert_status(duck_exec(f->c, str_fmt(f->a, "SELECT %s", overflows[i]), &err), E_OVERFLOW);
    for (size_t i = 0; i < COUNT_OF(zeros); i++)
        assert_status(duck_exec(f->c, str_fmt(f->a, "SELECT %s", zeros[i]), &err), E_DIVISION);
}

static void strict_casts(void **state)
{
    Fixture *f = *state;
    Error err;

    assert_int_equal(number(f, "SELECT firn_bigint(' -9223372036854775808 ')"), INT64_MIN);
    assert_int_equal(number(f, "SELECT firn_tinyint('+127')"), 127);
    static const char *const bad[] = { "", " ", "-", "1.0", "1e3", "0x1F", "9223372036854775808", "1 2" };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_status(duck_exec(f->c, str_fmt(f->a, "SELECT firn_bigint('%s')", bad[i]), &err), E_INVALID);
        assert_string_equal(err.sqlstate, "22018");
        assert_str(text(f, str_fmt(f->a, "SELECT CAST(firn_try_bigint('%s') AS VARCHAR)", bad[i]).p), "<null>");
    }
    assert_str(text(f, "SELECT firn_double_text(1e7::DOUBLE) || ' ' || firn_double_text(0.1::FLOAT) || ' ' || firn_double_text(-1.5e-7::DOUBLE)"), "1.0E7 0.1 -1.5E-7");
    assert_str(text(f, "SELECT firn_float8_text(1e15::DOUBLE) || ' ' || firn_float8_text(123456.0::DOUBLE) || ' ' || firn_float8_text('inf'::DOUBLE)"), "1e+15 123456 Infinity");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip), cmocka_unit_test(types), cmocka_unit_test(errors_by_type), cmocka_unit_test(locked),
        cmocka_unit_test(streaming), cmocka_unit_test(late_error), cmocka_unit_test(appender),
        cmocka_unit_test(appender_is_sticky), cmocka_unit_test(cancel), cmocka_unit_test(bucket),
        cmocka_unit_test(truncate_and_narrow), cmocka_unit_test(exact_decimals), cmocka_unit_test(strict_casts),
    };
    return cmocka_run_group_tests_name("duck", tests, set_up, tear_down);
}

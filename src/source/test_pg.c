/* SPDX-License-Identifier: Apache-2.0 */
/* test_pg.c - PostgreSQL's messages, lines of COPY and values' texts, without a server. */
#include "source/pg_int.h"
#include "test.h"

static Str B(Arena *a, const char *hex)
{
    Str s;
    StrBuf b = sb_new(a);
    for (; *hex; hex++)
        if (*hex != ' ')
            sb_byte(&b, *hex);
    assert_true(hex_decode(a, sb_str(&b), &s));
    return s;
}

static void test_messages(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PgMessage m;
    Error err;

    assert_ok(pg_message(a, B(a, "42 0000000001000028 0002a3b4c5d6e7f8 000002f1"), &m, &err), &err);
    assert_int_equal(m.kind, 'B');
    assert_int_equal(m.final_lsn, 0x1000028);
    assert_ok(pg_message(a, B(a, "43 00 0000000001000028 0000000001000058 0002a3b4c5d6e7f8"), &m, &err), &err);
    assert_int_equal(m.end_lsn, 0x1000058);
    assert_ok(pg_message(a, B(a, "52 00004001 7075626c696300 7400 66 0002 01 696400 00000017 ffffffff 00 7600 00000019 ffffffff"), &m, &err), &err);
    assert_true(str_eq(m.ns, S("public")) && str_eq(m.name, S("t")) && m.identity == 'f' && m.columns.n == 2);
    assert_int_equal(m.columns.p[0].type, 23);
    assert_int_equal(m.columns.p[1].mod, -1);
    assert_ok(pg_message(a, B(a, "49 00004001 4e 0003 74 00000001 37 6e 75"), &m, &err), &err);
    assert_true(m.after.n == 3 && str_eq(m.after.p[0].text, S("7")) && m.after.p[1].kind == 'n' && m.after.p[2].kind == 'u' && !m.old_kind);
    assert_ok(pg_message(a, B(a, "55 00004001 4f 0001 74 00000001 37 4e 0001 74 00000001 38"), &m, &err), &err);
    assert_true(m.old_kind == 'O' && str_eq(m.before.p[0].text, S("7")) && str_eq(m.after.p[0].text, S("8")));
    assert_ok(pg_message(a, B(a, "55 00004001 4e 0001 74 00000001 38"), &m, &err), &err);
    assert_true(!m.old_kind && m.after.n == 1);
    assert_ok(pg_message(a, B(a, "44 00004001 4b 0001 74 00000001 38"), &m, &err), &err);
    assert_true(m.old_kind == 'K' && m.before.n == 1);
    assert_ok(pg_message(a, B(a, "54 00000002 01 00004001 00004002"), &m, &err), &err);
    assert_true(m.truncated.n == 2 && m.truncated.p[1] == 0x4002);
    assert_ok(pg_message(a, B(a, "59 00004001 ff"), &m, &err), &err);
    PgFrame f;
    assert_ok(pg_frame(B(a, "77 0000000000000001 0000000000000002 0000000000000003 4243"), &f, &err), &err);
    assert_true(f.kind == 'w' && f.start == 1 && f.end == 2 && str_eq(f.body, S("BC")));
    assert_ok(pg_frame(B(a, "6b 0000000000000002 0000000000000003 01"), &f, &err), &err);
    assert_true(f.kind == 'k' && f.end == 2 && f.reply);
}

/* Every prefix of a message, and every message with a byte too much, is refused. */
static void test_broken_messages(void **state UNUSED)
{
    static const char *const whole[] = {
        "42 0000000001000028 0002a3b4c5d6e7f8 000002f1", "52 00004001 7075626c696300 7400 66 0001 01 696400 00000017 ffffffff", "49 00004001 4e 0002 74 00000002 3737 6e",
        "55 00004001 4f 0001 74 00000001 37 4e 0001 74 00000001 38", "44 00004001 4f 0001 6e", "54 00000001 00 00004001",
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PgMessage m;
    Error err;

    for (size_t i = 0; i < COUNT_OF(whole); i++) {
        Str s = B(a, whole[i]);
        for (size_t n = 0; n < s.n; n++)
            assert_int_equal(pg_message(a, str_sub(s, 0, n), &m, &err), E_CORRUPT);
        assert_int_equal(pg_message(a, str_cat(a, s, S("x")), &m, &err), E_CORRUPT);
    }
    assert_int_equal(pg_message(a, B(a, "49 00004001 4e 0001 74 7fffffff 37"), &m, &err), E_CORRUPT);
    assert_int_equal(pg_message(a, B(a, "5a"), &m, &err), E_CORRUPT);
    assert_int_equal(pg_message(a, B(a, "55 00004001 58"), &m, &err), E_CORRUPT);
}

static void test_copy_lines(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PgTuple t = {0};
    Error err;

    assert_ok(pg_copy_line(a, S("1\t\\N\t\ta\\tb\\nc\\\\d\\x41\\101\\q\t\\\\N\n"), &t, &err), &err);
    assert_int_equal(t.n, 5);
    assert_int_equal(t.p[1].kind, 'n');
    assert_true(t.p[2].kind == 't' && t.p[2].text.n == 0);
    assert_true(str_eq(t.p[3].text, S("a\tb\nc\\dAAq")));
    assert_true(str_eq(t.p[4].text, S("\\N")));
}

static Value value(Arena *a, uint32_t oid, int32_t mod, const char *text)
{
    DataType *t = arena_new(a, DataType);
    Str name;
    Value v;
    Error err;

    assert_true(pg_type(a, oid, mod, t, &name));
    assert_ok(pg_value(a, oid, t, str_c(text), &v, &err), &err);
    return v;
}

static void refused(Arena *a, uint32_t oid, int32_t mod, const char *text)
{
    DataType t;
    Str name;
    Value v;
    Error err;

    assert_true(pg_type(a, oid, mod, &t, &name));
    if (pg_value(a, oid, &t, str_c(text), &v, &err) == OK)
        fail_msg("'%s' of type %u was taken", text, oid);
}

enum { BOOL = 16, BYTEA = 17, INT8 = 20, INT2 = 21, INT4 = 23, TEXT = 25, JSONB = 3802, FLOAT8 = 701, DATE = 1082, TIME = 1083, TIMESTAMP = 1114, TIMESTAMPTZ = 1184, INTERVAL = 1186, NUMERIC = 1700,
       UUID = 2950, INT4S = 1007, TEXTS = 1009, NUMERIC_10_2 = (10 << 16 | 2) + 4 };

static void test_values(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Value v;

    assert_true(value(a, BOOL, -1, "t").boolean && !value(a, BOOL, -1, "f").boolean);
    assert_int_equal(value(a, INT8, -1, "-9223372036854775808").integer, INT64_MIN);
    assert_true(value(a, NUMERIC, NUMERIC_10_2, "-12345.60").wide == -1234560);
    assert_true(value(a, NUMERIC, NUMERIC_10_2, "7").wide == 700);
    assert_true(value(a, NUMERIC, -1, "0.5").wide == (__int128)5000000000);
    assert_int_equal(value(a, DATE, -1, "2000-02-29").integer, 11016);
    assert_int_equal(value(a, DATE, -1, "0001-12-31 BC").integer, -719163);
    assert_int_equal(value(a, TIME, -1, "23:59:59.000001").integer, 86399000001);
    assert_int_equal(value(a, TIMESTAMP, -1, "1970-01-02 00:00:01.5").integer, 86401500000);
    assert_int_equal(value(a, TIMESTAMPTZ, -1, "1970-01-01 01:00:00+01").integer, 0);
    assert_int_equal(value(a, TIMESTAMPTZ, -1, "1969-12-31 18:29:52-05:30:08").integer, 0);
    v = value(a, INTERVAL, -1, "1 year 2 mons -3 days -04:05:06.789");
    assert_true(v.interval.months == 14 && v.interval.days == -3 && v.interval.micros == -14706789000);
    v = value(a, INTERVAL, -1, "-1 years +1 day");
    assert_true(v.interval.months == -12 && v.interval.days == 1);
    assert_true(value(a, FLOAT8, -1, "-Infinity").real < 0);
    assert_true(str_eq(value(a, BYTEA, -1, "\\x00ff").string, str_n("\0\xff", 2)));
    assert_int_equal(value(a, UUID, -1, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11").string.n, 16);
    assert_true(str_eq(value(a, JSONB, -1, "{\"b\": 1, \"a\": [ ]}").string, S("{\"a\":[],\"b\":1}")));
    v = value(a, INT4S, -1, "{1,NULL,-3}");
    assert_true(v.items.n == 3 && v.items.p[1].kind == DT_NULL && v.items.p[2].integer == -3);
    v = value(a, TEXTS, -1, "{\"a,b\",\"q\\\"x\",NULL,\"NULL\",\"\"}");
    assert_true(v.items.n == 5 && str_eq(v.items.p[1].string, S("q\"x")) && v.items.p[2].kind == DT_NULL && v.items.p[3].kind == DT_STRING && v.items.p[4].string.n == 0);
    assert_int_equal(value(a, INT4S, -1, "{}").items.n, 0);
}

static void test_ranges(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Value *f = value(a, 3904, -1, "[1,11)").items.p;

    assert_true(f[RANGE_STATE].integer == RANGE_HAS_LOWER && f[RANGE_LO].integer == 1 && f[RANGE_HI].integer == 11 && !f[RANGE_LO_EXCLUSIVE].boolean && !f[RANGE_HI_INCLUSIVE].boolean);
    f = value(a, 3926, -1, "(,)").items.p;
    assert_true(f[RANGE_STATE].integer == RANGE_NO_LOWER && f[RANGE_LO].kind == DT_NULL && f[RANGE_HI].kind == DT_NULL && f[RANGE_LO_EXCLUSIVE].boolean && !f[RANGE_HI_INCLUSIVE].boolean);
    f = value(a, 3906, -1, "empty").items.p;
    assert_true(f[RANGE_STATE].integer == RANGE_IS_EMPTY && f[RANGE_LO].kind == DT_NULL && !f[RANGE_LO_EXCLUSIVE].boolean);
    f = value(a, 3910, -1, "(\"1970-01-01 01:00:00+01\",infinity]").items.p;
    assert_true(f[RANGE_LO].integer == 0 && f[RANGE_LO_EXCLUSIVE].boolean && f[RANGE_HI].integer == INT64_MAX && f[RANGE_HI_INCLUSIVE].boolean);
    assert_int_equal(value(a, 3905, -1, "{\"[1,3)\",NULL,empty}").items.n, 3);
    refused(a, 3904, -1, "[1,2");
    refused(a, 3904, -1, "[a,2)");
    refused(a, 3904, -1, "[1,2,3)");
    refused(a, 3906, -1, "[0.00000000001,1)");
    refused(a, 3926, -1, "");
}

static void test_values_that_have_no_place(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    static const struct { uint32_t oid; int32_t mod; const char *text; } bad[] = {
        { BOOL, -1, "true" }, { INT2, -1, "32768" }, { INT4, -1, "" }, { INT4, -1, "1x" }, { NUMERIC, NUMERIC_10_2, "NaN" }, { NUMERIC, NUMERIC_10_2, "123456789.00" }, { NUMERIC, NUMERIC_10_2, "1.005" },
        { NUMERIC, -1, "123456789012345678901234567890" }, { NUMERIC, -1, "-" }, { DATE, -1, "infinity" }, { DATE, -1, "2020-13-01" }, { DATE, -1, "2020-01-01x" }, { TIMESTAMP, -1, "-infinity" },
        { TIMESTAMP, -1, "2020-01-01" }, { TIME, -1, "12:60:00" }, { INTERVAL, -1, "" }, { INTERVAL, -1, "3 weeks" }, { INTERVAL, -1, "P1Y" }, { UUID, -1, "a0eebc99" }, { BYTEA, -1, "abc" },
        { BYTEA, -1, "\\x0" }, { JSONB, -1, "{" }, { TEXT, -1, "\xff" }, { INT4S, -1, "{{1,2},{3,4}}" }, { INT4S, -1, "[2:3]={1,2}" }, { INT4S, -1, "{1,2" }, { INT4S, -1, "{1,}" }, { INT4S, -1, "{\"1\"2}" },
        { TEXTS, -1, "{\"a}" }, { TEXTS, -1, "{a\\" }, { INT4S, -1, "" },
    };
    DataType t;
    Str name;

    for (size_t i = 0; i < COUNT_OF(bad); i++)
        refused(a, bad[i].oid, bad[i].mod, bad[i].text);
    assert_false(pg_type(a, 600, -1, &t, &name));     /* point */
    assert_false(pg_type(a, 16385, -1, &t, &name));
}

static void test_lsn(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    uint64_t n;

    assert_true(pg_lsn(S("16/B374D848"), &n) && n == 0x16b374d848);
    assert_true(str_eq(pg_lsn_text(a, n), S("16/B374D848")));
    assert_false(pg_lsn(S("16"), &n) || pg_lsn(S("16/1x"), &n) || pg_lsn((Str){0}, &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages), cmocka_unit_test(test_broken_messages), cmocka_unit_test(test_copy_lines), cmocka_unit_test(test_values), cmocka_unit_test(test_ranges), cmocka_unit_test(test_values_that_have_no_place),
        cmocka_unit_test(test_lsn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

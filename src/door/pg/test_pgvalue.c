/* SPDX-License-Identifier: Apache-2.0 */
/* test_pgvalue.c - values as text and binary and back, COPY rows in and out, SCRAM against a client of our own.
 * Expected texts are PostgreSQL 15's. */
#include "test.h"

#include "door/pg/pg_int.h"

static Arena *arena;
static Error err;

static int setup(void **state UNUSED) { arena = arena_create(); return 0; }
static int teardown(void **state UNUSED) { arena_destroy(arena); return 0; }

static DataType scalar(DataTypeKind k) { return (DataType){ .kind = k }; }

/* Text in, text out; and through the binary form. */
static void round_trip(DataType t, const char *in, const char *out)
{
    Value v, w;
    Str s;

    assert_ok(pg_value_parse(arena, &t, 0, 0, str_c(in), &v, &err), &err);
    assert_ok(pg_value_text(arena, &v, &s, &err), &err);
    assert_str(s, out);
    assert_ok(pg_value_binary(arena, &v, pg_type_oid(&t), &s, &err), &err);
    assert_ok(pg_value_parse(arena, &t, pg_type_oid(&t), 1, s, &w, &err), &err);
    assert_ok(pg_value_text(arena, &w, &s, &err), &err);
    assert_str(s, out);
}

static void refused(DataType t, const char *in, Status status)
{
    Value v;
    assert_status(pg_value_parse(arena, &t, 0, 0, str_c(in), &v, &err), status);
}

static void test_numbers(void **state UNUSED)
{
    round_trip(scalar(DT_INT16), " -32768 ", "-32768");
    round_trip(scalar(DT_INT64), "9223372036854775807", "9223372036854775807");
    refused(scalar(DT_INT16), "32768", E_OVERFLOW);
    refused(scalar(DT_INT32), "99999999999999999999999999999999999999999999999999", E_OVERFLOW);
    refused(scalar(DT_INT32), "1x", E_INVALID);
    refused(scalar(DT_INT32), "", E_INVALID);
    round_trip(scalar(DT_BOOL), "YES", "t");
    refused(scalar(DT_BOOL), "2", E_INVALID);
    static const char *const doubles[][2] = {
        { "0", "0" }, { "-0", "-0" }, { "0.1", "0.1" }, { "1e14", "100000000000000" }, { "1e15", "1e+15" },
        { "0.0001", "0.0001" }, { "0.00001", "1e-05" }, { "123456789012345678", "1.2345678901234568e+17" },
        { "1234567890123456", "1.234567890123456e+15" }, { "NaN", "NaN" }, { "-infinity", "-Infinity" },
        { "5e-324", "5e-324" }, { "1.7976931348623157e308", "1.7976931348623157e+308" }, { "-12.5", "-12.5" }, { "100", "100" },
    };
    for (size_t i = 0; i < COUNT_OF(doubles); i++)
        round_trip(scalar(DT_DOUBLE), doubles[i][0], doubles[i][1]);
    round_trip(scalar(DT_FLOAT), "0.1", "0.1");
    round_trip(scalar(DT_FLOAT), "1234567", "1.234567e+06");
    refused(scalar(DT_DOUBLE), "0x10", E_INVALID);
    refused(scalar(DT_DOUBLE), "1e400", E_OVERFLOW);
    refused(scalar(DT_FLOAT), "1e39", E_OVERFLOW);
}

static void test_numeric(void **state UNUSED)
{
    DataType d10_2 = { .kind = DT_DECIMAL, .precision = 10, .scale = 2 }, any = scalar(DT_DECIMAL);
    DataType d38 = { .kind = DT_DECIMAL, .precision = 38 }, d38_38 = { .kind = DT_DECIMAL, .precision = 38, .scale = 38 };

    round_trip(d10_2, "1.005", "1.01");
    round_trip(d10_2, "-1.005", "-1.01");
    round_trip(d10_2, "1e3", "1000.00");
    round_trip(d10_2, "99999999.99", "99999999.99");
    refused(d10_2, "99999999.995", E_OVERFLOW);
    refused(d10_2, "1e300", E_OVERFLOW);
    refused(d10_2, "NaN", E_INVALID);
    refused(d10_2, "1.2.3", E_INVALID);
    round_trip(any, "0.00010", "0.00010");
    round_trip(any, "0.0000000001", "0.0000000001");
    round_trip(any, "100000000", "100000000");
    round_trip(any, "123456789.000012345", "123456789.000012345");
    round_trip(any, "0", "0");
    round_trip(any, "0.000", "0.000");
    round_trip(any, "1.5e-3", "0.0015");
    round_trip(d38, "-99999999999999999999999999999999999999", "-99999999999999999999999999999999999999");
    round_trip(d38_38, "0.00000000000000000000000000000000000001", "0.00000000000000000000000000000000000001");
    refused(d38, "100000000000000000000000000000000000000", E_OVERFLOW);
    refused(d38_38, "1", E_OVERFLOW);
}

static void test_times(void **state UNUSED)
{
    round_trip(scalar(DT_DATE), "2000-02-29", "2000-02-29");
    round_trip(scalar(DT_DATE), "0044-03-15 BC", "0044-03-15 BC");
    round_trip(scalar(DT_DATE), "infinity", "infinity");
    round_trip(scalar(DT_DATE), "2020-02-29 +00", "2020-02-29");                  /* pgjdbc's way */
    round_trip(scalar(DT_DATE), "2020-02-29 01:02:03+01", "2020-02-29");
    refused(scalar(DT_DATE), "1900-02-29", E_INVALID);
    refused(scalar(DT_DATE), "2020-02-29 x", E_INVALID);
    refused(scalar(DT_DATE), "2000-13-01", E_INVALID);
    round_trip(scalar(DT_TIME), "24:00", "24:00:00");
    round_trip(scalar(DT_TIME), "01:02:03.1234567", "01:02:03.123457");
    refused(scalar(DT_TIME), "24:00:01", E_INVALID);
    round_trip(scalar(DT_TIMETZ), "12:30:00+02:00:00", "12:30:00+02:00:00");
    round_trip(scalar(DT_TIMESTAMP), "1969-12-31T23:59:59.5", "1969-12-31 23:59:59.5");
    round_trip(scalar(DT_TIMESTAMP), "-infinity", "-infinity");
    round_trip(scalar(DT_TIMESTAMPTZ), "2024-01-01 00:00:00+05:30", "2023-12-31 18:30:00+00");
    round_trip(scalar(DT_TIMESTAMPTZ), "2024-01-01 00:00:00 UTC", "2024-01-01 00:00:00+00");
    round_trip(scalar(DT_TIMESTAMPTZ), "0001-01-01 00:00:00+00 BC", "0001-01-01 00:00:00+00 BC");
    refused(scalar(DT_TIMESTAMP), "2024-01-01 25:00", E_INVALID);
    refused(scalar(DT_TIMESTAMP), "now or so", E_INVALID);
    static const char *const intervals[][2] = {
        { "1 year 2 mons 3 days 04:05:06.789", "1 year 2 mons 3 days 04:05:06.789" }, { "-1 year +3 days", "-1 years +3 days" },
        { "P1Y2M3DT4H5M6S", "1 year 2 mons 3 days 04:05:06" }, { "1 day ago", "-1 days" }, { "00:00:00", "00:00:00" },
        { "-00:00:01", "-00:00:01" }, { "1.5 hours", "01:30:00" }, { "1 mon -1 day 1 sec", "1 mon -1 days +00:00:01" },
    };
    for (size_t i = 0; i < COUNT_OF(intervals); i++)
        round_trip(scalar(DT_INTERVAL), intervals[i][0], intervals[i][1]);
    refused(scalar(DT_INTERVAL), "5 parsecs", E_INVALID);
    refused(scalar(DT_INTERVAL), "999999999999 years", E_INVALID);
}

static void test_texts(void **state UNUSED)
{
    round_trip(scalar(DT_STRING), "h\303\251llo", "h\303\251llo");
    refused(scalar(DT_STRING), "\303", E_INVALID);
    round_trip(scalar(DT_BINARY), "\\x00fF", "\\x00ff");
    round_trip(scalar(DT_BINARY), "a\\\\b\\001", "\\x615c6201");
    refused(scalar(DT_BINARY), "\\x0", E_INVALID);
    round_trip(scalar(DT_UUID), "{A0EEBC99-9C0B4EF8-BB6D6BB9BD380A11}", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
    refused(scalar(DT_UUID), "a0eebc99", E_INVALID);
    round_trip(scalar(DT_JSON), "{\"a\": [1, 2]}", "{\"a\": [1, 2]}");
    refused(scalar(DT_JSON), "{\"a\":", E_INVALID);
}

static void test_array_forms(void **state UNUSED)
{
    DataType text = scalar(DT_STRING), i32 = scalar(DT_INT32);
    DataType texts = { .kind = DT_LIST, .nchildren = 1, .children = &text }, ints = { .kind = DT_LIST, .nchildren = 1, .children = &i32 };

    round_trip(texts, "{ a b , \"c \\\"d\\\\\" ,NULL, \"NULL\", \"\"}", "{\"a b\",\"c \\\"d\\\\\",NULL,\"NULL\",\"\"}");
    round_trip(ints, "{}", "{}");
    round_trip(ints, "{1,NULL,-3}", "{1,NULL,-3}");
    round_trip(ints, "{{1,2},{3,4}}", "{{1,2},{3,4}}");
    refused(ints, "{1,", E_INVALID);
    refused(ints, "{1,2}x", E_INVALID);
    refused(ints, "{1,,2}", E_INVALID);
    refused(ints, "1", E_INVALID);
    char deep[201];
    memset(deep, '{', 200);
    deep[200] = 0;
    refused(ints, deep, E_INVALID);
}

static void test_nested_out(void **state UNUSED)
{
    DataType fields[] = { { .kind = DT_INT32 }, { .kind = DT_STRING }, { .kind = DT_STRING } };
    Str names[] = { S("a"), S("b"), S("c") }, s;
    DataType record = { .kind = DT_STRUCT, .nchildren = 3, .children = fields, .names = names };
    Value cells[] = { { .kind = DT_INT32, .integer = 1 }, { .kind = DT_STRING, .string = S("x \"y") }, { .kind = DT_NULL } };
    Value row = { .kind = DT_STRUCT, .type = &record, .items = { cells, 3 } };
    Value pair[] = { { .kind = DT_STRING, .string = S("k\"\n") }, row };
    Value map = { .kind = DT_MAP, .items = { pair, 2 } };
    Value list = { .kind = DT_LIST, .items = { &row, 1 } };

    assert_ok(pg_value_text(arena, &row, &s, &err), &err);
    assert_str(s, "(1,\"x \"\"y\",)");
    assert_ok(pg_value_text(arena, &map, &s, &err), &err);
    assert_str(s, "{\"k\\\"\\u000a\":{\"a\":1,\"b\":\"x \\\"y\",\"c\":null}}");
    assert_ok(pg_value_text(arena, &list, &s, &err), &err);
    assert_str(s, "{\"(1,\\\"x \\\"\\\"y\\\",)\"}");
    assert_ok(pg_value_binary(arena, &row, OID_RECORD, &s, &err), &err);
    assert_int_equal(s.n, 4 + 8 + 4 + 8 + 4 + 8);
    assert_status(pg_value_binary(arena, &map, OID_INT4, &s, &err), E_UNSUPPORTED);
    Value ragged_items[] = { { .kind = DT_LIST, .items = { cells, 1 } }, { .kind = DT_LIST, .items = { NULL, 0 } } };
    Value ragged = { .kind = DT_LIST, .items = { ragged_items, 2 } };
    assert_status(pg_value_binary(arena, &ragged, 1007, &s, &err), E_UNSUPPORTED);
    assert_ok(pg_value_text(arena, &ragged, &s, &err), &err);
    assert_str(s, "{{1},{}}");
}

/* A range as the engine gives it: its text, its binary form, and that read again as a text. */
static void range_is(RangeKind k, int state, int64_t lo, int lx, int64_t hi, int hi_in, const char *want)
{
    const DataType *t = data_type_of_range(k), *bound = &t->children[RANGE_LO];
    Value cells[RANGE_FIELDS] = { { .kind = DT_INT8, .integer = state }, { .kind = bound->kind, .type = bound, .integer = lo }, { .kind = DT_BOOL, .boolean = lx },
                                  { .kind = bound->kind, .type = bound, .integer = hi }, { .kind = DT_BOOL, .boolean = hi_in } };
    Value v = { .kind = DT_STRUCT, .type = t, .items = { cells, RANGE_FIELDS } }, w;
    Str s;

    cells[RANGE_LO].kind = state == RANGE_HAS_LOWER ? bound->kind : DT_NULL;
    cells[RANGE_HI].kind = hi == INT64_MAX ? DT_NULL : bound->kind;
    assert_ok(pg_value_text(arena, &v, &s, &err), &err);
    assert_str(s, want);
    assert_ok(pg_value_binary(arena, &v, pg_type_oid(t), &s, &err), &err);
    assert_ok(pg_value_parse(arena, t, pg_type_oid(t), 1, s, &w, &err), &err);
    assert_int_equal(w.kind, DT_STRING);
    assert_str(w.string, want);
    assert_status(pg_value_parse(arena, t, pg_type_oid(t), 1, str_sub(s, 0, s.n - (s.n > 1)), &w, &err), s.n > 1 ? E_INVALID : OK);
}

static void test_ranges(void **state UNUSED)
{
    range_is(RANGE_INT4, RANGE_HAS_LOWER, 1, 0, 10, 0, "[1,10)");
    range_is(RANGE_INT8, RANGE_NO_LOWER, 0, 1, 10, 0, "(,10)");
    range_is(RANGE_INT4, RANGE_IS_EMPTY, 0, 0, INT64_MAX, 0, "empty");
    range_is(RANGE_DATE, RANGE_HAS_LOWER, 18262, 0, INT64_MAX, 0, "[2020-01-01,)");
    range_is(RANGE_TS, RANGE_HAS_LOWER, 0, 1, 1000000, 1, "(\"1970-01-01 00:00:00\",\"1970-01-01 00:00:01\"]");
    DataType list = { .kind = DT_LIST, .nchildren = 1, .children = (DataType *)data_type_of_range(RANGE_INT4) };
    assert_int_equal(pg_type_oid(&list), 3905);
    assert_int_equal(data_type_range(&(DataType){ .kind = DT_STRUCT }), RANGE_NONE);
    Value v;
    assert_status(pg_value_parse(arena, data_type_of_range(RANGE_INT4), OID_INT4RANGE, 1, str_n("\2\0\0\0\4\0\0\0\1", 9), &v, &err), E_INVALID);       /* no upper bound, and no word that there is none */
    assert_status(pg_value_parse(arena, data_type_of_range(RANGE_INT4), OID_INT4RANGE, 1, str_n("\1x", 2), &v, &err), E_INVALID);
}

/* The declared type says how a value looks. */
static void looks(const Value *v, DataType t, const char *want)
{
    PgOut o = { 0 };

    pg_text_as(&o, v, &t);
    assert_str(str_n(o.p, o.n), want);
    pg_out_free(&o);
}

static void test_marks(void **state UNUSED)
{
    DataType d = { .kind = DT_DECIMAL, .precision = 38, .scale = 10 }, text = scalar(DT_STRING), i32 = scalar(DT_INT32), pair[] = { text, i32 };
    Value cells[] = { { .kind = DT_STRING, .type = &text, .string = S("a b") }, { .kind = DT_INT32, .type = &i32, .integer = 1 }, { .kind = DT_STRING, .type = &text, .string = S("k") }, { .kind = DT_NULL } };
    DataType map = { .kind = DT_MAP, .nchildren = 2, .children = pair }, marked = map;
    Value m = { .kind = DT_MAP, .type = &map, .items = { cells, 4 } };

    looks(&(Value){ .kind = DT_DECIMAL, .type = &d, .wide = 15000000000 }, d, "1.5000000000");
    looks(&(Value){ .kind = DT_DECIMAL, .type = &d, .wide = 15000000000 }, (DataType){ .kind = DT_DECIMAL, .mark = MARK_NUMERIC }, "1.5");
    looks(&(Value){ .kind = DT_DECIMAL, .type = &d, .wide = 0 }, (DataType){ .kind = DT_DECIMAL, .mark = MARK_NUMERIC }, "0");
    looks(&(Value){ .kind = DT_STRING, .type = &text, .string = S("\303\244") }, (DataType){ .kind = DT_STRING, .mark = MARK_BPCHAR, .length = 3 }, "\303\244  ");
    looks(&m, map, "{\"a b\":1,\"k\":null}");
    marked.mark = MARK_MAP;
    looks(&m, marked, "{\"a b\"=>1,k=>NULL}");
    looks(&m, scalar(DT_STRING), "{\"a b\":1,\"k\":null}");
    assert_int_equal(pg_type_oid(&marked), OID_MAP);
    assert_int_equal(pg_type_oid(&(DataType){ .kind = DT_UINT64, .mark = MARK_MZ_TIMESTAMP }), OID_MZ_TIMESTAMP);
}

static void test_binary_refused(void **state UNUSED)
{
    static const struct { int32_t oid; DataTypeKind kind; const char *bytes; size_t n; } cases[] = {
        { OID_INT4, DT_INT32, "\0\0\1", 3 }, { OID_INT4, DT_INT32, "\0\0\0\0\0", 5 }, { OID_INT4, DT_INT16, "\0\1\0\0", 4 },
        { OID_NUMERIC, DT_DECIMAL, "\0\1\0\0\0\0\0\0\x27\x10", 10 }, { OID_NUMERIC, DT_DECIMAL, "\x7f\xff\0\0\0\0\0\0", 8 },
        { OID_NUMERIC, DT_DECIMAL, "\0\1\x7f\xff\0\0\0\0\0\1", 10 }, { OID_NUMERIC, DT_DECIMAL, "\0\0\0\0\xc0\0\0\0", 8 },
        { OID_TEXT, DT_STRING, "a\0b", 3 }, { OID_TEXT, DT_STRING, "\xff", 1 }, { OID_JSONB, DT_JSON, "\2{}", 3 },
        { OID_UUID, DT_UUID, "short", 5 }, { OID_TIME, DT_TIME, "\xff\xff\xff\xff\xff\xff\xff\xff", 8 },
        { 1007, DT_LIST, "\0\0\0\1\0\0\0\0\0\0\0\x17\x7f\xff\xff\xff\0\0\0\1", 20 },
        { 1007, DT_LIST, "\0\0\0\7\0\0\0\0\0\0\0\x17", 12 }, { 1007, DT_LIST, "\0\0\0\1\0\0\0\0\0\0\0\x17\xff\xff\xff\xff\0\0\0\1", 20 },
    };
    DataType element = scalar(DT_INT32);
    Value v;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        DataType t = { .kind = cases[i].kind, .nchildren = 1, .children = &element };
        if (pg_value_parse(arena, &t, cases[i].oid, 1, str_n(cases[i].bytes, cases[i].n), &v, &err) == OK)
            fail_msg("case %zu was accepted", i);
    }
}

static void test_coerce(void **state UNUSED)
{
    DataType i64 = scalar(DT_INT64), dec = { .kind = DT_DECIMAL, .precision = 5, .scale = 2 }, text = scalar(DT_STRING);
    Value v;

    assert_ok(pg_value_parse(arena, &i64, OID_INT2, 1, str_n("\xff\xfe", 2), &v, &err), &err);
    assert_int_equal(v.integer, -2);
    assert_ok(pg_value_parse(arena, &dec, OID_INT4, 1, str_n("\0\0\0\x07", 4), &v, &err), &err);
    assert_true(v.wide == 700 && v.kind == DT_DECIMAL);
    assert_status(pg_value_parse(arena, &dec, OID_INT4, 1, str_n("\0\1\0\0", 4), &v, &err), E_OVERFLOW);
    assert_ok(pg_value_parse(arena, &text, OID_INT4, 1, str_n("\0\0\0\x07", 4), &v, &err), &err);
    assert_str(v.string, "7");
    assert_int_equal(pg_typmod(&dec), (5 << 16 | 2) + 4);
}

/* ---- COPY --------------------------------------------------------------------------------------------------------- */

static Props options(const char *const *kv)
{
    Props p = { 0 };
    for (; *kv; kv += 2)
        props_set(arena, &p, str_c(kv[0]), str_c(kv[1]));
    return p;
}

/* All rows of `text`, fed in portions of `step` bytes, as "field|field;" with ~ for null. */
static Status copy_all(const char *const *kv, Str text, size_t step, Str *ret)
{
    PgCopyIn in = { .limit = 1000 };
    Props p = options(kv);
    StrBuf b = sb_new(arena);
    Status s = pg_copy_options(&p, &in.copy, &err);

    for (size_t at = 0; s == OK && at <= text.n; at += step) {
        PgFields f;
        int has = 1;
        in.at_end = at + step > text.n;
        s = pg_copy_feed(&in, str_sub(text, at, at + step), &err);
        while (s == OK && has && (s = pg_copy_take(&in, arena, &f, &has, &err)) == OK && has) {
            for (size_t i = 0; i < f.n; i++) {
                sb_addc(&b, i ? "|" : "");
                sb_add(&b, f.nulls[i] ? S("~") : f.fields[i]);
            }
            sb_byte(&b, ';');
        }
    }
    pg_copy_in_done(&in);
    *ret = sb_str(&b);
    return s;
}

static void copy_gives(const char *const *kv, const char *text, const char *rows)
{
    for (size_t step = 1; step < 40; step++) {
        Str s;
        assert_ok(copy_all(kv, str_c(text), step, &s), &err);
        assert_str(s, rows);
    }
}

static void copy_refuses(const char *const *kv, const char *text, Status status)
{
    Str s;
    assert_status(copy_all(kv, str_c(text), 7, &s), status);
}

static const char *const text_format[] = { NULL };
static const char *const csv_format[] = { "format", "csv", NULL };

static void test_copy_in(void **state UNUSED)
{
    copy_gives(text_format, "a\tb\n\\N\t\n\\.\nrest", "a|b;~|;");
    copy_gives(text_format, "a\\tb\\\\\\n\\x41\\101\\q\n", "a\tb\\\nAAq;");
    copy_gives(text_format, "a\\\nb\r\nlast", "a\nb;last;");
    copy_gives(csv_format, "a,\"b,\"\"c\"\"\nd\",,\"\"\r\n1,2,3,4", "a|b,\"c\"\nd|~|;1|2|3|4;");
    const char *const odd[] = { "format", "csv", "delimiter", ";", "quote", "'", "escape", "\\", "null", "-", "header", "", NULL };
    copy_gives(odd, "h1;h2\n'it\\'s';-\n'-';x\n", "it's|~;-|x;");
    copy_refuses(csv_format, "a,\"open", E_INVALID);
    copy_refuses(text_format, "\\xff\n", E_INVALID);
    copy_refuses(text_format, "\377\n", E_INVALID);
    char big[2001];
    memset(big, 'x', 2000);
    big[2000] = 0;
    copy_refuses(text_format, big, E_LIMIT);
    const char *const bad1[] = { "delimiter", "ab", NULL }, *const bad2[] = { "format", "xml", NULL }, *const bad3[] = { "quote", "'", NULL };
    copy_refuses(bad1, "", E_INVALID);
    copy_refuses(bad2, "", E_INVALID);
    copy_refuses(bad3, "", E_INVALID);
}

static void test_copy_binary(void **state UNUSED)
{
    PgColumns columns = { 0 };
    PgCopy copy = { .format = PG_COPY_BINARY };
    PgOut o = { 0 };
    Value cells[] = { { .kind = DT_INT32, .integer = 7 }, { .kind = DT_NULL } };

    vec_push(arena, &columns, ((PgColumn){ .name = S("a"), .type = { .kind = DT_INT32 } }));
    vec_push(arena, &columns, ((PgColumn){ .name = S("b"), .type = { .kind = DT_STRING } }));
    pg_copy_header_out(&copy, &o, &columns);
    assert_ok(pg_copy_row_out(&copy, &o, &columns, cells, &err), &err);
    for (size_t step = 1; step < 50; step++) {
        PgCopyIn in = { .copy = copy, .columns = &columns, .limit = 1000 };
        int rows = 0;
        if (step == 25)                                      /* the first half comes without the trailer, as pgx sends it */
            pg_out_i16(&o, -1);
        for (size_t at = 0; at < o.n; at += step) {
            PgFields f;
            int has = 1;
            in.at_end = at + step >= o.n;
            assert_ok(pg_copy_feed(&in, str_sub(str_n(o.p, o.n), at, at + step), &err), &err);
            for (;;) {
                assert_ok(pg_copy_take(&in, arena, &f, &has, &err), &err);
                if (!has)
                    break;
                rows++;
                assert_str(f.fields[0], "7");
                assert_true(f.nulls[1] && f.n == 2);
            }
        }
        assert_int_equal(rows, 1);
        assert_true(in.ended == (step >= 25));
        pg_copy_in_done(&in);
    }
    pg_out_free(&o);
}

/* ---- SCRAM ---------------------------------------------------------------------------------------------------------- */

/* A client: answers the server's first message for `secret`. */
static Str client_final(Str secret, Str gs2, Str binding, Str bare, Str server_first)
{
    StrVec parts = { 0 };
    Str salt;
    str_split(arena, server_first, ',', &parts);
    assert_ok(base64_decode(arena, str_from(parts.p[1], 2), &salt, &err), &err);
    Str salted = pbkdf2_sha256(arena, secret, salt, PG_SCRAM_ROUNDS), key = hmac_sha256(arena, salted, S("Client Key"));
    Str without = str_fmt(arena, "c=" STR_FMT "," STR_FMT, STR_ARG(base64_encode(arena, str_cat(arena, gs2, binding))), STR_ARG(parts.p[0]));
    Str auth = str_fmt(arena, STR_FMT "," STR_FMT "," STR_FMT, STR_ARG(bare), STR_ARG(server_first), STR_ARG(without));
    Str sig = hmac_sha256(arena, hash_bytes(arena, HASH_SHA256, key), auth);
    char *proof = arena_alloc(arena, 32);
    for (int i = 0; i < 32; i++)
        proof[i] = (char)(key.p[i] ^ sig.p[i]);
    return str_fmt(arena, STR_FMT ",p=" STR_FMT, STR_ARG(without), STR_ARG(base64_encode(arena, str_n(proof, 32))));
}

static Status exchange(PgScram *s, Str gs2, Str secret, Str binding)
{
    Str bare = S("n=,r=clientnonce"), reply;
    TRY(pg_scram_first(arena, s, str_cat(arena, gs2, bare), &reply, &err));
    return pg_scram_final(arena, s, client_final(secret, gs2, binding, bare, reply), &reply, &err);
}

static void test_scram(void **state UNUSED)
{
    PgScram base = { .secret = S("s3cret/+"), .salt = S("0123456789abcdef") }, s;
    Str reply;

    s = base;
    assert_ok(exchange(&s, S("n,,"), S("s3cret/+"), S("")), &err);
    s = base;
    assert_status(exchange(&s, S("n,,"), S("wrong"), S("")), E_AUTH);
    s = base;
    s.sham = 1;
    assert_status(exchange(&s, S("n,,"), S("s3cret/+"), S("")), E_AUTH);
    s = base;
    s.end_point = S("hash-of-certificate");
    s.plus = 1;
    assert_ok(exchange(&s, S("p=tls-server-end-point,,"), S("s3cret/+"), S("hash-of-certificate")), &err);
    s = base;
    s.end_point = S("hash-of-certificate");
    s.plus = 1;
    assert_status(exchange(&s, S("p=tls-server-end-point,,"), S("s3cret/+"), S("another-certificate")), E_INVALID);
    s = base;
    s.end_point = S("x");
    assert_status(exchange(&s, S("y,,"), S("s3cret/+"), S("")), E_INVALID);       /* a downgrade */
    static const char *const bad[] = { "", "n", "n,,", "n,,n=x", "n,,n=,r=", "n,a=b,n=,r=x", "x,,n=,r=x", "n,,r=x,n=", "n,,n=,r=a b" };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        s = base;
        if (pg_scram_first(arena, &s, str_c(bad[i]), &reply, &err) == OK)
            fail_msg("'%s' was accepted", bad[i]);
    }
}

static void test_options(void **state UNUSED)
{
    Props p = { 0 };

    assert_ok(pg_login_options(arena, S("-c a=1 --search-path=x\\ y -cspark.sql.mv=\\\\z  "), &p, &err), &err);
    assert_str(props_get(&p, S("a"), S("")), "1");
    assert_str(props_get(&p, S("search_path"), S("")), "x y");
    assert_str(props_get(&p, S("spark.sql.mv"), S("")), "\\z");
    assert_status(pg_login_options(arena, S("-c"), &p, &err), E_INVALID);
    assert_status(pg_login_options(arena, S("-W"), &p, &err), E_INVALID);
}

static void test_writer(void **state UNUSED)
{
    PgOut o = { 0 };

    pg_out_begin(&o, 'A');
    pg_out_cstr(&o, str_n("a\0b", 3));
    pg_out_end(&o);
    assert_memory_equal(o.p, "A\0\0\0\7ab\0", 8);
    pg_out_begin(&o, 'B');
    pg_out_i16(&o, 1);
    pg_out_undo(&o);
    assert_int_equal(o.n, 8);
    PgIn in = pg_in(str_n("\0\5abc", 5));
    assert_int_equal(pg_in_i16(&in), 5);
    assert_int_equal(pg_in_cstr(&in).n, 0);
    assert_true(in.bad && !pg_in_done(&in));
    pg_out_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_numeric), cmocka_unit_test(test_times), cmocka_unit_test(test_texts),
        cmocka_unit_test(test_array_forms), cmocka_unit_test(test_nested_out), cmocka_unit_test(test_ranges), cmocka_unit_test(test_marks), cmocka_unit_test(test_binary_refused),
        cmocka_unit_test(test_coerce), cmocka_unit_test(test_copy_in), cmocka_unit_test(test_copy_binary),
        cmocka_unit_test(test_scram), cmocka_unit_test(test_options), cmocka_unit_test(test_writer),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

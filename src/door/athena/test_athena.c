/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what the Athena door computes without a server: texts of values, result files, prepared statements, patterns. */
#include "door/athena/athena_int.h"

#include "base/test.h"

static Arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static const char *text_of(Value v)
{
    StrBuf b = sb_new(arena);
    value_text(&b, &v);
    return sb_str(&b).p;
}

static void reals(void **state)
{
    static const struct { double v; const char *text; } cases[] = {
        { 0, "0.0" }, { 1, "1.0" }, { -1.5, "-1.5" }, { 100, "100.0" }, { 1234567.25, "1234567.25" }, { 9999999, "9999999.0" }, { 10000000, "1.0E7" },
        { 0.001, "0.001" }, { 0.00099, "9.9E-4" }, { 0.1, "0.1" }, { 1e100, "1.0E100" }, { 123456789012.5, "1.234567890125E11" }, { 0.3333333333333333, "0.3333333333333333" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(text_of((Value){ .kind = DT_DOUBLE, .real = cases[i].v }), cases[i].text);
    assert_string_equal(text_of((Value){ .kind = DT_FLOAT, .real = (double)0.1f }), "0.1");
    assert_string_equal(text_of((Value){ .kind = DT_FLOAT, .real = (double)16777216.0f }), "1.6777216E7");
}

static void numbers_and_times(void **state)
{
    DataType dec = { .kind = DT_DECIMAL, .precision = 10, .scale = 2 };
    (void)state;
    assert_string_equal(text_of((Value){ .kind = DT_DECIMAL, .type = &dec, .wide = -5 }), "-0.05");
    assert_string_equal(text_of((Value){ .kind = DT_DECIMAL, .type = &dec, .wide = 123400 }), "1234.00");
    assert_string_equal(text_of((Value){ .kind = DT_INT128, .wide = (__int128)INT64_MAX * 1000 }), "9223372036854775807000");
    assert_string_equal(text_of((Value){ .kind = DT_DATE, .integer = 0 }), "1970-01-01");
    assert_string_equal(text_of((Value){ .kind = DT_DATE, .integer = -1 }), "1969-12-31");
    assert_string_equal(text_of((Value){ .kind = DT_DATE, .integer = 19782 }), "2024-02-29");
    assert_string_equal(text_of((Value){ .kind = DT_TIMESTAMP, .integer = -1 }), "1969-12-31 23:59:59.999999");
    assert_string_equal(text_of((Value){ .kind = DT_TIMESTAMPTZ, .integer = 86400000000 }), "1970-01-02 00:00:00.000000 UTC");
    assert_string_equal(text_of((Value){ .kind = DT_BOOL, .boolean = true }), "true");
    assert_string_equal(text_of((Value){ .kind = DT_BINARY, .string = S("a\xff") }), "61 ff");
}

static void nested(void **state)
{
    Value items[] = { { .kind = DT_INT32, .integer = 1 }, { .kind = DT_NULL }, { .kind = DT_STRING, .string = S("x, y") } };
    Str names[] = { S("a"), S("b"), S("c") };
    DataType row = { .kind = DT_STRUCT, .nchildren = 3, .names = names };
    (void)state;
    assert_string_equal(text_of((Value){ .kind = DT_LIST, .items = { items, 3 } }), "[1, null, x, y]");
    assert_string_equal(text_of((Value){ .kind = DT_STRUCT, .type = &row, .items = { items, 3 } }), "{a=1, b=null, c=x, y}");
    assert_string_equal(text_of((Value){ .kind = DT_MAP, .items = { items, 2 } }), "{1=null}");
}

static void lines_round_trip(void **state)
{
    static const char *const cells[] = { "plain", "with \"quotes\", commas", "two\nlines", "", NULL, "\xc3\xa9" };
    StrBuf b = sb_new(arena);
    CsvLine line;
    Error err;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cells); i++) {
        sb_addc(&b, i ? "," : "");
        if (cells[i])
            csv_cell(&b, str_c(cells[i]));
    }
    sb_addc(&b, "\n\"next\"\n");
    Str all = sb_str(&b);
    assert_int_equal(csv_line(arena, all, &line, &err), OK);
    assert_int_equal(line.has, 1);
    assert_int_equal(line.cells.n, COUNT_OF(cells));
    for (size_t i = 0; i < COUNT_OF(cells); i++) {
        assert_true((line.cells.p[i].p != NULL) == (cells[i] != NULL));
        if (cells[i])
            assert_true(str_eq(line.cells.p[i], str_c(cells[i])));
    }
    for (size_t cut = 0; cut < line.used; cut++) {          /* a line that is not whole is not there */
        CsvLine part;
        assert_int_equal(csv_line(arena, str_sub(all, 0, cut), &part, &err), OK);
        assert_int_equal(part.has, 0);
    }
    assert_int_equal(csv_line(arena, S("\"a\"b\n"), &line, &err), E_CORRUPT);
}

static void prepared(void **state)
{
    Prep p;
    Error err;
    (void)state;
    assert_int_equal(prep_parse(arena, S("SELECT 1"), &p, &err), OK);
    assert_int_equal(p.kind, PREP_NONE);
    assert_int_equal(prep_parse(arena, S("-- why\nprepare p1 FROM select ? from t;"), &p, &err), OK);
    assert_int_equal(p.kind, PREP_PREPARE);
    assert_true(str_eq(p.name, S("p1")) && str_eq(p.query, S("select ? from t")));
    assert_int_equal(prep_parse(arena, S("EXECUTE p1 USING 'a,b', f(1, 2), array[3, 4]"), &p, &err), OK);
    assert_int_equal(p.params.n, 3);
    assert_true(str_eq(p.params.p[0], S("'a,b'")) && str_eq(p.params.p[1], S("f(1, 2)")) && str_eq(p.params.p[2], S("array[3, 4]")));
    assert_int_equal(prep_parse(arena, S("execute p1"), &p, &err), OK);
    assert_int_equal(p.params.n, 0);
    assert_int_equal(prep_parse(arena, S("DEALLOCATE PREPARE p1"), &p, &err), OK);
    assert_int_equal(p.kind, PREP_DEALLOCATE);
    assert_int_equal(prep_parse(arena, S("EXECUTE p1 USING 1,,2"), &p, &err), E_SYNTAX);
    assert_int_equal(prep_parse(arena, S("PREPARE p1 AS select 1"), &p, &err), E_SYNTAX);
    assert_int_equal(prep_parse(arena, S("EXECUTE p1 p2"), &p, &err), E_SYNTAX);
}

static void patterns(void **state)
{
    Error err;
    (void)state;
    assert_true(pattern_match(S("a.*"), S("abc")));
    assert_true(pattern_match(S("a.c|x"), S("abc")));
    assert_true(pattern_match(S("a.c|x"), S("x")));
    assert_true(pattern_match(S("ab*c"), S("ac")));
    assert_true(pattern_match(S("ab*c"), S("abbbc")));
    assert_false(pattern_match(S("ab*c"), S("abd")));
    assert_false(pattern_match(S("a"), S("ab")));
    assert_true(pattern_match(S(".*"), S("")));
    assert_int_equal(pattern_check(S("(a+)+"), &err), E_INVALID);
    assert_int_equal(pattern_check(S("a**"), &err), E_INVALID);
    assert_int_equal(pattern_check(S("sales.*|t_1"), &err), OK);
}

static void types(void **state)
{
    int precision, scale, cased;
    DataType dec = { .kind = DT_DECIMAL, .precision = 20, .scale = 2 }, text = { .kind = DT_STRING };
    (void)state;
    assert_string_equal(value_type(&dec, &precision, &scale, &cased), "decimal");
    assert_int_equal(precision, 20);
    assert_int_equal(scale, 2);
    assert_string_equal(value_type(&text, &precision, &scale, &cased), "varchar");
    assert_int_equal(precision, 2147483647);
    assert_int_equal(cased, 1);
}

static void statements(void **state)
{
    static const struct { const char *sql, *type, *sub; OutKind out; } cases[] = {
        { "SELECT 1", "DML", "SELECT", OUT_CSV }, { "INSERT INTO t SELECT 1", "DML", "INSERT", OUT_NONE }, { "CREATE TABLE t WITH (table_type = 'ICEBERG', is_external = false, location = 's3://b/t') AS SELECT 1 AS x", "DML", "CREATE_TABLE_AS_SELECT", OUT_NONE },
        { "DROP TABLE t", "DDL", "DROP_TABLE", OUT_TXT }, { "CREATE DATABASE d", "DDL", "CREATE_DATABASE", OUT_TXT }, { "SHOW TABLES", "UTILITY", "SHOW_TABLES", OUT_TXT },
    };
    AthStmt st;
    Error err = {0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(stmt_classify(arena, str_c(cases[i].sql), &st, &err), OK);
        assert_string_equal(str_z(arena, st.type), cases[i].type);
        assert_string_equal(str_z(arena, st.substatement), cases[i].sub);
        assert_int_equal(st.out, cases[i].out);
    }
    assert_int_equal(stmt_classify(arena, S("SELECT 1; SELECT 2"), &st, &err), E_SYNTAX);
    assert_int_equal(stmt_classify(arena, S("selec 1"), &st, &err), E_SYNTAX);
    assert_int_equal(stmt_classify(arena, S(""), &st, &err), E_SYNTAX);
}

static void service_is_whole(void **state)
{
    (void)state;
    aws_check_service(&athena_service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reals, setup, teardown), cmocka_unit_test_setup_teardown(numbers_and_times, setup, teardown),
        cmocka_unit_test_setup_teardown(nested, setup, teardown), cmocka_unit_test_setup_teardown(lines_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(prepared, setup, teardown), cmocka_unit_test_setup_teardown(patterns, setup, teardown),
        cmocka_unit_test_setup_teardown(types, setup, teardown), cmocka_unit_test_setup_teardown(statements, setup, teardown),
        cmocka_unit_test_setup_teardown(service_is_whole, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

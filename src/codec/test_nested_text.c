/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

static void arrays(void **state UNUSED)
{
    static const struct { const char *text, *want; } cases[] = {                 /* NULL: malformed */
        { "{}", "[]" }, { " { } ", "[]" }, { "{a, b ,\"c \\\"d\",NULL,\"NULL\",\"\"}", "[\"a\",\"b\",\"c \\\"d\",null,\"NULL\",\"\"]" },
        { "{{1,2},{\"}\",4}}", "[\"{1,2}\",\"{\\\"}\\\",4}\"]" }, { "{\\N,\\ }", "[\"N\",\" \"]" }, { "{(1,x),\"[1,2)\"}", "[\"(1\",\"x)\",\"[1,2)\"]" },
        { "", NULL }, { "1", NULL }, { "{", NULL }, { "{1", NULL }, { "{1,}", NULL }, { "{,1}", NULL }, { "{1}x", NULL }, { "{\"a", NULL }, { "{a{b}}", NULL }, { "{a\\", NULL },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Json *items;
        assert_int_equal(array_items(a, str_c(cases[i].text), &items), cases[i].want != NULL);
        if (cases[i].want)
            assert_str(json_text(a, items), cases[i].want);
    }
}

static void records(void **state UNUSED)
{
    static const struct { const char *text, *want; } cases[] = {
        { "(1,x)", "[\"1\",\"x\"]" }, { " (1,\"x \"\"y\",) ", "[\"1\",\"x \\\"y\",null]" }, { "()", "[null]" }, { "(,)", "[null,null]" }, { "( a ,\"\")", "[\" a \",\"\"]" },
        { "(1,\"(2,\"\"z\"\")\")", "[\"1\",\"(2,\\\"z\\\")\"]" }, { "(a\\,b)", "[\"a,b\"]" }, { "1,2", NULL }, { "(1", NULL }, { "(1))", NULL }, { "(\"1)", NULL },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Json *fields;
        assert_int_equal(record_fields(a, str_c(cases[i].text), &fields), cases[i].want != NULL);
        if (cases[i].want)
            assert_str(json_text(a, fields), cases[i].want);
    }
}

static void maps(void **state UNUSED)
{
    static const struct { const char *text, *keys, *values; } cases[] = {
        { "{}", "[]", "[]" }, { "{a=>1, b => NULL,\"c=>\"=>\"NULL\"}", "[\"a\",\"b\",\"c=>\"]", "[\"1\",null,\"NULL\"]" }, { "{a=>{b=>1}}", "[\"a\"]", "[\"{b=>1}\"]" },
        { "{a=1=>x}", "[\"a=1\"]", "[\"x\"]" }, { "{a}", NULL, NULL }, { "{a=>}", NULL, NULL }, { "{=>1}", NULL, NULL }, { "{NULL=>1}", NULL, NULL }, { "{a=>1=>2}", NULL, NULL },
        { "{a=>1", NULL, NULL }, { "a=>1", NULL, NULL },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Json *keys, *values;
        assert_int_equal(map_items(a, str_c(cases[i].text), &keys, &values), cases[i].keys != NULL);
        if (cases[i].keys) {
            assert_str(json_text(a, keys), cases[i].keys);
            assert_str(json_text(a, values), cases[i].values);
        }
    }
}

static void ranges(void **state UNUSED)
{
    static const struct { const char *text, *lower, *upper; int li, ui; } cases[] = {
        { "[1,2)", "1", "2", 1, 0 }, { " (1,2] ", "1", "2", 0, 1 }, { "[,2)", NULL, "2", 1, 0 }, { "(,)", NULL, NULL, 0, 0 }, { "[\"2020-01-01 00:00:00\",)", "2020-01-01 00:00:00", NULL, 1, 0 },
        { "[\"a\"\"b\",c\\,d)", "a\"b", "c,d", 1, 0 }, { "[\"\",a]", "", "a", 1, 1 },
    };
    static const char *const bad[] = { "", "[", "[1", "[1,", "[1,2", "1,2", "[1]", "[1,2,3]", "[1,2)x", "[\"1,2)", "emptyx" };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    RangeText r;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_true(range_parts(a, str_c(cases[i].text), &r) && !r.empty);
        assert_true(r.lower_inclusive == cases[i].li && r.upper_inclusive == cases[i].ui);
        assert_true(r.lower.n == (cases[i].lower != NULL) && r.upper.n == (cases[i].upper != NULL));
        if (cases[i].lower)
            assert_str(r.lower.p[0], cases[i].lower);
        if (cases[i].upper)
            assert_str(r.upper.p[0], cases[i].upper);
    }
    assert_true(range_parts(a, S(" Empty "), &r) && r.empty);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (range_parts(a, str_c(bad[i]), &r))
            fail_msg("'%s' is a range", bad[i]);
}

static void quotes(void **state UNUSED)
{
    static const struct { NestedText in; const char *part, *want; } cases[] = {
        { NESTED_ARRAY, "a", "a" }, { NESTED_ARRAY, "null", "\"null\"" }, { NESTED_ARRAY, "a \"b\\", "\"a \\\"b\\\\\"" }, { NESTED_ARRAY, "", "\"\"" }, { NESTED_RECORD, "null", "null" },
        { NESTED_RECORD, "a\"b", "\"a\"\"b\"" }, { NESTED_MAP, "a=", "\"a=\"" }, { NESTED_RANGE, "2020-01-01 00:00:00", "\"2020-01-01 00:00:00\"" }, { NESTED_RANGE, "-1.5", "-1.5" },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        StrBuf b = sb_new(a);
        nested_quote(&b, cases[i].in, str_c(cases[i].part));
        assert_str(sb_str(&b), cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(arrays), cmocka_unit_test(records), cmocka_unit_test(maps), cmocka_unit_test(ranges), cmocka_unit_test(quotes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

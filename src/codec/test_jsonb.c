/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

static void texts(void **state UNUSED)
{
    static const struct { const char *text, *want; } cases[] = {                             /* NULL: no JSON */
        { " { \"b\" : 1 , \"a\" : [ ] , \"b\" : { } } ", "{\"a\":[],\"b\":{}}" }, { "[1.50,-0,0.0,1e2,12E-3,-1.0e+1,100,0.001]", "[1.5,0,0,100,0.012,-10,100,0.001]" },
        { "1e500", "1e500" }, { "12.5e-500", "125e-501" }, { "\"\\u0041\\n\\/\\u00e9\"", "\"A\\n/\xc3\xa9\"" }, { "{\"\\u0061\":1,\"a\":2}", "{\"a\":2}" }, { "null", "null" },
        { "01", NULL }, { "1.", NULL }, { ".5", NULL }, { "+1", NULL }, { "1e", NULL }, { "1e9999999999", NULL }, { "-", NULL }, { "[1,]", NULL }, { "{\"a\"}", NULL }, { "{a:1}", NULL },
        { "\"a", NULL }, { "\"\\x\"", NULL }, { "nul", NULL }, { "1 2", NULL }, { "", NULL }, { "NaN", NULL }, { "truex", NULL }, { "\"\n\"", NULL },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str s;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(jsonb_text(a, str_c(cases[i].text), JSONB_STRICT, &s), cases[i].want != NULL);
        if (cases[i].want)
            assert_str(s, cases[i].want);
    }
    assert_true(jsonb_text(a, S("[NaN,-Infinity,inf,1]"), JSONB_LENIENT, &s));
    assert_str(s, "[\"NaN\",\"-Infinity\",\"Infinity\",1]");
    StrBuf deep = sb_new(a);
    for (int i = 0; i < 5000; i++)
        sb_byte(&deep, '[');
    assert_false(jsonb_text(a, sb_str(&deep), JSONB_STRICT, &s));
}

static void containment(void **state UNUSED)
{
    static const struct { const char *whole, *part; bool want; } cases[] = {
        { "{\"a\":1,\"b\":[1,2,2]}", "{\"b\":[2]}", true }, { "[1,2]", "[2,2,1]", true }, { "[1,[2,3]]", "[[3]]", true }, { "[1,2]", "2", true }, { "2", "[2]", false },
        { "{\"a\":1}", "{\"a\":1.0}", true }, { "{\"a\":null}", "{\"b\":null}", false }, { "[1,2]", "[3]", false }, { "{}", "[]", false }, { "[{\"a\":1}]", "[{}]", true },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    bool yes;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_true(jsonb_contains(a, str_c(cases[i].whole), str_c(cases[i].part), &yes));
        assert_int_equal(yes, cases[i].want);
    }
    assert_true(jsonb_has_key(a, S("{\"k\":1}"), S("k"), &yes) && yes);
    assert_true(jsonb_has_key(a, S("[\"k\",1]"), S("1"), &yes) && !yes);
    assert_true(jsonb_has_key(a, S("\"k\""), S("k"), &yes) && yes);
    assert_false(jsonb_contains(a, S("{"), S("1"), &yes));
}

static void changes(void **state UNUSED)
{
    static const struct { const char *left, *right, *want; } sums[] = {
        { "{\"a\":1,\"b\":2}", "{\"b\":3}", "{\"a\":1,\"b\":3}" }, { "[1]", "[2]", "[1,2]" }, { "1", "\"x\"", "[1,\"x\"]" }, { "{}", "[1]", "[{},1]" }, { "[]", "{}", "[{}]" },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str s;

    for (size_t i = 0; i < COUNT_OF(sums); i++) {
        assert_true(jsonb_concat(a, str_c(sums[i].left), str_c(sums[i].right), &s));
        assert_str(s, sums[i].want);
    }
    assert_int_equal(jsonb_without_key(a, S("{\"a\":1,\"b\":2}"), S("a"), &s), JSONB_DONE);
    assert_str(s, "{\"b\":2}");
    assert_int_equal(jsonb_without_key(a, S("[\"a\",1,\"a\"]"), S("a"), &s), JSONB_DONE);
    assert_str(s, "[1]");
    assert_int_equal(jsonb_without_key(a, S("1"), S("a"), &s), JSONB_FROM_SCALAR);
    assert_int_equal(jsonb_without_item(a, S("[1,2,3]"), -1, &s), JSONB_DONE);
    assert_str(s, "[1,2]");
    assert_int_equal(jsonb_without_item(a, S("[1]"), 5, &s), JSONB_DONE);
    assert_str(s, "[1]");
    assert_int_equal(jsonb_without_item(a, S("{}"), 0, &s), JSONB_FROM_OBJECT);
    assert_int_equal(jsonb_without_item(a, S("{"), 0, &s), JSONB_MALFORMED);
}

static void paths(void **state UNUSED)
{
    const Str doc = S("{\"a\":{\"b\":[10,\"x\",null]},\"\":1,\"$.a\":2}");
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str s;

    assert_true(jsonb_path(a, doc, S("[\"a\",\"b\",\"-2\"]"), JSONB_AS_TEXT, &s));
    assert_str(s, "x");
    assert_true(jsonb_path(a, doc, S("[\"a\",\"b\",\"1\"]"), JSONB_AS_JSON, &s));
    assert_str(s, "\"x\"");
    assert_false(jsonb_path(a, doc, S("[\"a\",\"b\",\"2\"]"), JSONB_AS_TEXT, &s));
    assert_false(jsonb_path(a, doc, S("[\"a\",null]"), JSONB_AS_JSON, &s));
    assert_true(jsonb_path(a, doc, S("[]"), JSONB_AS_JSON, &s) && s.n > 10);
    assert_true(jsonb_member(a, doc, S(""), JSONB_AS_TEXT, &s));
    assert_str(s, "1");
    assert_true(jsonb_member(a, doc, S("$.a"), JSONB_AS_JSON, &s));
    assert_str(s, "2");
    assert_false(jsonb_member(a, doc, S("b"), JSONB_AS_JSON, &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts), cmocka_unit_test(containment), cmocka_unit_test(changes), cmocka_unit_test(paths) };
    return cmocka_run_group_tests_name("jsonb", tests, NULL, NULL);
}

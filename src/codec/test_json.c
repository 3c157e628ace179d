/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

#include <math.h>

static Status parse(Arena *a, const char *text, Json **ret)
{
    static Error err;
    return json_parse(a, str_c(text), ret, &err);
}

static void round_trips(void **state UNUSED)
{
    static const char *const same[] = {
        "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "9876543210123456789",
        "18446744073709551615", "1.5", "-0.0", "1e+300", "2.2250738585072014e-308", "0.1", "\"\"", "\"gr\xc3\xbc\xc3\x9f\"",
        "\"a\\\"\\\\\\n\\t\\u0001\"", "[]", "{}", "[1,[2,[3]],{}]", "{\"b\":1,\"a\":{\"c\":[null]}}",
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        Json *v;
        assert_ok(json_parse(a, str_c(same[i]), &v, &err), &err);
        assert_str(json_text(a, v), same[i]);
        assert_true(json_equal(v, json_copy(a, v)));
    }
}

static void decodes_escapes(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *v;
    Error err;
    assert_ok(json_parse(a, S(" [ \"\\u00fc\\ud83d\\ude00\\/\\b\\f\" , 1 ] "), &v, &err), &err);
    assert_str(json_at(v, 0)->string, "\xc3\xbc\xf0\x9f\x98\x80/\b\f");
    assert_int_equal(json_at(v, 1)->integer, 1);
}

static void refuses_bad_text(void **state UNUSED)
{
    static const char *const bad[] = {
        "", " ", "{", "[1,]", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "01", "-", "1.", ".5", "1e", "+1", "nul", "truex",
        "[1 2]", "\"\\x\"", "\"\\u12\"", "\"\\u0000\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\x01\"",
        "\"open", "\"open\\", "\"\\u", "18446744073709551616", "-9223372036854775809", "1e999", "1 2", "\xff", "\"\xff\"",
        "{\"a\":1,\"b\":2,\"a\":3}", "[\"\xed\xa0\x80\"]", "// x\n1", "NaN", "'a'",
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        Json *v;
        if (parse(a, bad[i], &v) != E_SYNTAX)
            fail_msg("%s is not refused", bad[i]);
    }
}

static void says_where(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *v;
    Error err;
    assert_status(json_parse(a, S("{\n  \"a\": x}"), &v, &err), E_SYNTAX);
    assert_non_null(strstr(err.message, "line 2 column 8"));
}

static void limits_depth_and_nodes(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrBuf b = sb_new(a);
    Json *v;
    for (int i = 0; i < LIMIT_JSON_DEPTH; i++)
        sb_byte(&b, '[');
    StrBuf deeper = sb_new(a);
    sb_add(&deeper, sb_str(&b));
    sb_byte(&deeper, '[');
    for (int i = 0; i < LIMIT_JSON_DEPTH; i++)
        sb_byte(&b, ']');
    assert_status(parse(a, sb_str(&b).p, &v), OK);
    assert_status(parse(a, sb_str(&deeper).p, &v), E_LIMIT);

    StrBuf many = sb_new(a);
    sb_byte(&many, '[');
    for (int i = 0; i < 5000000; i++)
        sb_addc(&many, "1,");
    assert_status(parse(a, sb_str(&many).p, &v), E_LIMIT);
}

static void finds_duplicates_among_many(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrBuf b = sb_new(a);
    Json *v;
    sb_byte(&b, '{');
    for (int i = 0; i < 1000; i++)
        sb_fmt(&b, "\"k%d\":%d,", i, i);
    StrBuf twice = sb_new(a);
    sb_add(&twice, sb_str(&b));
    sb_addc(&b, "\"last\":0}");
    sb_addc(&twice, "\"k500\":0}");
    assert_status(parse(a, sb_str(&b).p, &v), OK);
    assert_int_equal(json_len(v), 1001);
    assert_int_equal(json_get_int(v, "k999", -1), 999);
    assert_status(parse(a, sb_str(&twice).p, &v), E_SYNTAX);
}

static void looks_up_and_changes(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *o = json_object(a), *got;
    Error err;
    Str s;
    int64_t n;

    json_set(a, o, "x", json_int(a, 1));
    json_set(a, o, "s", json_str(a, S("text")));
    json_set(a, o, "x", json_int(a, 2));
    assert_str(json_text(a, o), "{\"x\":2,\"s\":\"text\"}");
    assert_ok(json_need_str(o, "s", &s, &err), &err);
    assert_str(s, "text");
    assert_ok(json_need_int(o, "x", &n, &err), &err);
    assert_int_equal(n, 2);
    assert_status(json_need_str(o, "x", &s, &err), E_INVALID);
    assert_string_equal(err.message, "field 'x' must be a string");
    assert_status(json_need(o, "y", JSON_ARRAY, &got, &err), E_INVALID);
    assert_string_equal(err.message, "missing field 'y'");
    assert_status(json_need(NULL, "y", JSON_ARRAY, &got, &err), E_INVALID);
    assert_null(json_get(json_get(o, "none"), "deeper"));
    assert_int_equal(json_get_int(json_at(o, 3), "k", 7), 7);
    assert_true(json_get_bool(o, "x", true));
    assert_true(json_del(o, S("x")));
    assert_false(json_del(o, S("x")));
    assert_str(json_text(a, o), "{\"s\":\"text\"}");
}

static void equality_ignores_order(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *x, *y, *z;
    assert_status(parse(a, "{\"a\":1,\"b\":[1,2]}", &x), OK);
    assert_status(parse(a, "{\"b\":[1,2],\"a\":1}", &y), OK);
    assert_status(parse(a, "{\"b\":[2,1],\"a\":1}", &z), OK);
    assert_true(json_equal(x, y));
    assert_false(json_equal(x, z));
    assert_false(json_equal(x, NULL));
}

static void writes_only_valid_json(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    assert_str(json_text(a, json_str(a, S("a\xff" "b\xc3\"\xc3\xbc"))), "\"a\xEF\xBF\xBD" "b\xEF\xBF\xBD\\\"\xc3\xbc\"");
    assert_str(json_text(a, json_real(a, NAN)), "null");
    assert_str(json_text(a, json_real(a, 100)), "100.0");
    assert_str(json_text(a, json_str(a, str_n("\0", 1))), "\"\\u0000\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips), cmocka_unit_test(decodes_escapes), cmocka_unit_test(refuses_bad_text),
        cmocka_unit_test(says_where), cmocka_unit_test(limits_depth_and_nodes),
        cmocka_unit_test(finds_duplicates_among_many), cmocka_unit_test(looks_up_and_changes),
        cmocka_unit_test(equality_ignores_order), cmocka_unit_test(writes_only_valid_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

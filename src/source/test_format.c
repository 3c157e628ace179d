/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "source/format_test.h"

static void text_and_bytes(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Format *t = test_open(a, "{\"format\": \"text\"}"), *b = test_open(a, "{\"format\": \"bytes\"}");

    assert_str(test_columns(a, t), "text:text!");
    assert_str(test_columns(a, b), "data:bytea!");
    assert_false(format_is_composite(t));
    assert_str(test_row(a, t, S("h\xc3\xa9")), "'h\xc3\xa9'");
    assert_str(test_row(a, t, S("")), "''");
    assert_str(test_row(a, t, S("h\xc3")), "E_CORRUPT a text that is not UTF-8");
    assert_str(test_row(a, t, (Str){ "a\0b", 3 }), "E_CORRUPT a text with a NUL byte in it");
    assert_str(test_row(a, b, (Str){ "\0\xff", 2 }), "from_hex('00ff')");
    Str huge = { "x", FORMAT_MESSAGE_MAX + 1ull };
    assert_true(str_starts(test_row(a, b, huge), S("E_LIMIT ")));
}

static Str json(Arena *a, const char *text)
{
    Str s;
    Error err;
    return format_json_text(a, str_c(text), &s, &err) == OK ? s : str_fmt(a, "%s", err.message);
}

static void json_has_one_text_for_each_value(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    assert_str(json(a, " { \"b\" : [ 1 , -2.50e+3, true ] , \"a\" : { } , \"c\" : [ ] } "), "{\"a\":{},\"b\":[1,-2500,true],\"c\":[]}");
    assert_str(json(a, "{\"a\":1,\"b\":2,\"\\u0061\":3}"), "{\"a\":3,\"b\":2}");
    assert_str(json(a, "\"\\u00e9\\ud83d\\ude00\\/\\n\\u001f\\\"\""), "\"\xc3\xa9\xf0\x9f\x98\x80/\\n\\u001f\\\"\"");
    assert_str(json(a, "123456789012345678901234567890"), "123456789012345678901234567890");
    assert_str(json(a, "null"), "null");
    assert_str(json(a, "[[[]]]"), "[[[]]]");
}

static void json_that_is_none(void **state UNUSED)
{
    static const char *const bad[] = { "", " ", "{", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":1,}", "{a:1}", "01", "1.", "-", "1e", "tru", "nullx", "\"a", "\"\\x\"", "\"\\u12\"",
                                       "\"\\ud800\"", "\"\\udc00\"", "\"\\u0000\"", "\"\t\"", "1 2", "\"\xff\"", "'a'", "{\"a\":1 \"b\":2}" };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Str s;

    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (format_json_text(a, str_c(bad[i]), &s, &err) != E_SYNTAX)
            fail_msg("%s was taken as JSON", bad[i]);
    StrBuf deep = sb_new(a);
    for (int i = 0; i < 100000; i++)
        sb_byte(&deep, '[');
    assert_status(format_json_text(a, sb_str(&deep), &s, &err), E_SYNTAX);
    assert_non_null(strstr(err.message, "too deeply"));
}

static void csv(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Format *f = test_open(a, "{\"format\": \"csv\", \"columns\": \"3\"}");

    assert_str(test_columns(a, f), "column1:text!; column2:text!; column3:text!");
    assert_true(format_is_composite(f));
    assert_str(test_row(a, f, S("a,b,c")), "'a'; 'b'; 'c'");
    assert_str(test_row(a, f, S(",,\n")), "''; ''; ''");
    assert_str(test_row(a, f, S("\"a,\"\"b\"\"\n\",x\"y,\"\"\r\n")), "'a,\"b\"\n'; 'x\"y'; ''");
    assert_str(test_row(a, f, S("a,b")), "E_INVALID CSV: expected 3 columns, got 2");
    assert_str(test_row(a, f, S("")), "E_INVALID CSV: expected 3 columns, got 1");
    assert_str(test_row(a, f, S("a,b,c,d")), "E_INVALID CSV: expected 3 columns, got 4");
    assert_str(test_row(a, f, S("a,b,c\nd,e,f")), "E_SYNTAX CSV: more than one record in a message");
    assert_str(test_row(a, f, S("a,\"b,c")), "E_SYNTAX CSV: a quoted field does not end");
    assert_str(test_row(a, f, S("a,\"b\"x,c")), "E_SYNTAX CSV: something behind the closing quote of a field");
    assert_str(test_row(a, f, S("a,\xff,c")), "E_CORRUPT a text that is not UTF-8");
    f = test_open(a, "{\"format\": \"csv\", \"header\": [\"id\", \"name\"], \"delimited_by\": \"|\"}");
    assert_str(test_columns(a, f), "id:text!; name:text!");
    assert_str(test_row(a, f, S("1|a,b")), "'1'; 'a,b'");
}

static void formats_refused(void **state UNUSED)
{
    static const char *const bad[] = { "{}", "{\"format\": \"regex\"}", "{\"format\": \"csv\"}", "{\"format\": \"csv\", \"columns\": 100000}", "{\"format\": \"csv\", \"header\": true}",
                                       "{\"format\": \"csv\", \"columns\": 2, \"delimited_by\": \"ab\"}", "{\"format\": \"csv\", \"columns\": 2, \"delimited_by\": \"\\\"\"}", "{\"format\": \"avro\"}",
                                       "{\"format\": \"avro\", \"registry\": {\"url\": \"ftp://x\"}}", "{\"format\": \"protobuf\"}" };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Format *f;
    Error err;

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        FormatOptions o = { .options = test_json(a, bad[i]), .subject = S("t-value") };
        if (format_open(a, &o, &f, &err) == OK)
            fail_msg("%s was opened", bad[i]);
    }
    FormatOptions o = { .options = test_json(a, "{\"format\": \"json\"}"), .part = FORMAT_AFTER };
    assert_status(format_open(a, &o, &f, &err), E_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_bytes), cmocka_unit_test(json_has_one_text_for_each_value), cmocka_unit_test(json_that_is_none), cmocka_unit_test(csv),
        cmocka_unit_test(formats_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

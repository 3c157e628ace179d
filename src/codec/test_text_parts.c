/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

static void names(void **state UNUSED)
{
    static const struct { const char *text, *alone, *anything; } cases[] = {                 /* NULL: no name */
        { "a", "[\"a\"]", "[\"a\"]" }, { " Ab . \"C\"\"d\" .e_1$ ", "[\"ab\",\"C\\\"d\",\"e_1$\"]", "[\"ab\",\"C\\\"d\",\"e_1$\"]" },
        { "a.b[1]", NULL, "[\"a\",\"b\"]" }, { "a b", NULL, "[\"a\"]" }, { "\xc3\x84x", "[\"\xc3\x84x\"]", "[\"\xc3\x84x\"]" },
        { "", NULL, NULL }, { "a.", NULL, NULL }, { ".a", NULL, NULL }, { "1a", NULL, NULL }, { "\"\"", NULL, NULL }, { "\"a", NULL, NULL }, { "\"a\"\"", NULL, NULL },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (IdentEnd end = IDENT_ALONE; end <= IDENT_THEN_ANYTHING; end++) {
            const char *want = end == IDENT_ALONE ? cases[i].alone : cases[i].anything;
            Json *parts;
            assert_int_equal(ident_parts(a, str_c(cases[i].text), end, &parts), want != NULL);
            if (want)
                assert_str(json_text(a, parts), want);
        }
}

static void csv(void **state UNUSED)
{
    static const struct { size_t n; const char *text, *want; } cases[] = {
        { 2, "a,b", "[[\"a\",\"b\"]]" }, { 2, "\n\r\na,\"b,\"\"c\"\r\rd,\n", "[[\"a\",\"b,\\\"c\"],[\"d\",\"\"]]" }, { 1, "", "[]" }, { 1, "\n", "[]" },
        { 2, "a,b\nc\nd,e", "[[\"a\",\"b\"],[\"d\",\"e\"]]" }, { 2, "a\nb,c", "[]" },                        /* the first record rules */
        { 1, "\"a\nb\"c\"d", "[[\"a\\nbc\\\"d\"]]" }, { 1, "a\"b\"", "[[\"a\\\"b\\\"\"]]" }, { 1, "\"open", "[[\"open\"]]" }, { 2, ",", "[[\"\",\"\"]]" },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_str(json_text(a, csv_records(a, str_c(cases[i].text), cases[i].n)), cases[i].want);
}

static void nulls(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str s;

    assert_true(json_without_nulls(a, S(" {\"b\": null, \"a\": [null, {\"x\": null}], \"c\": \"null\", \"d\": 1, \"d\": null}"), &s));
    assert_str(s, "{\"a\":[null,{}],\"c\":\"null\"}");
    assert_true(json_sorted(a, S("{\"b\": null, \"a\": 1}"), &s));
    assert_str(s, "{\"a\":1,\"b\":null}");
    assert_false(json_without_nulls(a, S("{\"a\": null"), &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(names), cmocka_unit_test(csv), cmocka_unit_test(nulls) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

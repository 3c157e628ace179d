/* SPDX-License-Identifier: Apache-2.0 */
/* test_glue.c - patterns, partition expressions, what is kept of an input; operations are tested by real clients in tests/e2e/test_glue.py. */
#include "door/glue/glue_int.h"
#include "test.h"

static void test_operations(void **state UNUSED) { aws_check_service(&glue_service); }

/* ---- patterns ---------------------------------------------------------------------------------------------------------- */

static void test_patterns(void **state UNUSED)
{
    static const struct { const char *pattern, *name; bool matches; } cases[] = {
        { "abc", "abc", true }, { "abc", "abcd", false }, { "a.c", "abc", true }, { "a*", "abc", true }, { "*", "", true }, { "*b*", "abc", true },
        { ".*c", "abc", true }, { "[a-c]+", "abcab", true }, { "[^a-c]+", "abc", false }, { "(ab|c)*", "abcab", true }, { "(ab|c)*", "abca", false },
        { "a|b|c|d", "d", true }, { "a|b|c|d", "c", true }, { "a|b|c|d", "ab", false }, { "(a|b|c)x", "cx", true }, { "\\w+_\\d{2}", "t_12", true },
        { "\\w+_\\d{2}", "t_1", false }, { "a{2,3}", "aaaa", false }, { "a{2,3}", "aaa", true }, { "a{2,}", "aaaaa", true }, { "a{0}b", "b", true },
        { "x?y", "y", true }, { "^abc$", "abc", true }, { "a\\.b", "a.b", true }, { "a\\.b", "axb", false }, { "[]]", "]", true }, { "[a-]", "-", true },
        { "\\S*", "a b", false }, { "(?:ab)+", "abab", true }, { "()*", "", true }, { "(a*)*b", "aaab", true }, { "", "", true }, { "", "a", false },
    };
    Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        GluePattern *p;
        Error err;
        assert_ok(glue_pattern(a, str_c(cases[i].pattern), &p, &err), &err);
        if (glue_matches(a, p, str_c(cases[i].name)) != cases[i].matches)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].name);
    }
    arena_destroy(a);
}

static void test_bad_patterns(void **state UNUSED)
{
    static const char *const bad[] = { "(", ")", "[a", "a{", "a{x}", "a{3,2}", "a{1001}", "[b-a]", "\\", "[\\", "((a{500}){500}){500}" };
    Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        GluePattern *p;
        Error err;
        assert_status(glue_pattern(a, str_c(bad[i]), &p, &err), E_INVALID);
    }
    arena_destroy(a);
}

/* ---- partition expressions ------------------------------------------------------------------------------------------------ */

static const char *const keys_text = "[{\"Name\": \"n\", \"Type\": \"int\"}, {\"Name\": \"s\", \"Type\": \"string\"}, {\"Name\": \"d\", \"Type\": \"date\"},"
                                     " {\"Name\": \"t\", \"Type\": \"timestamp\"}, {\"Name\": \"x\", \"Type\": \"decimal(10,2)\"}, {\"Name\": \"f\", \"Type\": \"float\"}, {\"Name\": \"z\", \"Type\": \"int\"}]";
static const char *const values_text = "[\"7\", \"it's\", \"2026-11-30\", \"2026-11-30 10:00:00.500\", \"1.50\", \"1\", \"__HIVE_DEFAULT_PARTITION__\"]";

static void test_expressions(void **state UNUSED)
{
    static const struct { const char *text; bool holds; } cases[] = {
        { "n = 7", true }, { "n = '7'", true }, { "N <> 7", false }, { "n != 8", true }, { "n > -1 and n < 10", true }, { "n in (1, 7)", true }, { "n not in (1, 7)", false },
        { "n between 7 and 7", true }, { "not n between 7 and 7", false }, { "s = 'it''s'", true }, { "s like 'it%'", true }, { "s like '____'", true }, { "s not like 'x%'", true },
        { "d >= '2026-01-01'", true }, { "t = '2026-11-30 10:00:00.5'", true }, { "t > '2026-11-30 10:00:00.499999999'", true }, { "x = 1.5", true }, { "x < 1e1", true },
        { "n = 1 or n = 7 and s = 'no' or n = 7", true }, { "(n = 1 or n = 7) and s = 'no'", false }, { "s is not null", true }, { "s is null", false },
        { "((n)) = ((7)) (AND) (not (n = 1))", true }, { "\"n\" = 7 and `s` = 'it''s'", true }, { "", true }, { "  ", true },
        { "z is null", true }, { "z is not null", false }, { "z = 1", false }, { "not z = 1", false }, { "z <> 1", false }, { "z not in (1)", false }, { "z = 1 or n = 7", true },
        { "not (z = 1 and n = 8)", true }, { "not (z = 1 or n = 8)", false },
    };
    Arena *a = arena_create();
    Json *keys, *values;
    Error err;

    assert_ok(json_parse(a, str_c(keys_text), &keys, &err), &err);
    assert_ok(json_parse(a, str_c(values_text), &values, &err), &err);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        GlueExpr *e;
        bool holds = false;
        if (glue_expr_parse(a, str_c(cases[i].text), keys, &e, &err) != OK || glue_expr_holds(e, values, &holds, &err) != OK)
            fail_msg("'%s': %s", cases[i].text, err.message);
        if (holds != cases[i].holds)
            fail_msg("'%s'", cases[i].text);
    }
    arena_destroy(a);
}

static void test_bad_expressions(void **state UNUSED)
{
    static const char *const bad[] = {
        "n", "n =", "= 7", "n = 7 8", "(n = 7", "n = 7)", "n = 'x'", "n = 7.5", "n like '7'", "d = '2026-02-30'", "d = 'x'", "t = '2026-11-30'", "t = '2026-11-30 10:00:00.'",
        "nothing = 1", "f = 1", "n in ()", "n in (1", "n between 1", "n between 1 or 2", "s is", "s is not", "s not is null", "not", "and", "s = 'open", "n == 7", "n = n", "7 = n", "n;",
    };
    Arena *a = arena_create();
    Json *keys;
    Error err;

    assert_ok(json_parse(a, str_c(keys_text), &keys, &err), &err);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        GlueExpr *e;
        if (glue_expr_parse(a, str_c(bad[i]), keys, &e, &err) != E_INVALID)
            fail_msg("'%s' was taken", bad[i]);
    }
    arena_destroy(a);
}

/* ---- what is kept ------------------------------------------------------------------------------------------------------------ */

static void test_kept_inputs(void **state UNUSED)
{
    Arena *a = arena_create();
    Json *input, *more;
    Error err;

    assert_ok(json_parse(a, S("{\"Name\": \"t\", \"Description\": \"d\", \"TableType\": \"EXTERNAL_TABLE\", \"Parameters\": {\"table_type\": \"ICEBERG\", \"metadata_location\": \"s3://b/m\", \"k\": \"v\"},"
                              " \"StorageDescriptor\": {\"Location\": \"s3://b\", \"Columns\": [{\"Name\": \"c\", \"Comment\": \"what\"}]}}"), &input, &err), &err);
    assert_ok(json_parse(a, S("{\"Name\": \"t\", \"Description\": \"e\", \"Parameters\": {\"table_type\": \"ICEBERG\"}}"), &more, &err), &err);
    const Json *kept = json_get(glue_keep(a, input, NULL), "glue");
    assert_str(json_text(a, kept), "{\"Description\":\"d\",\"Parameters\":{\"k\":\"v\"},\"StorageDescriptor\":{},\"Comments\":{\"c\":\"what\"}}");
    const Json *patched = json_get(glue_patch(a, more, glue_keep(a, input, NULL)), "glue");
    assert_str(json_get_str(patched, "Description", (Str){0}), "e");
    assert_str(json_get_str(json_get(patched, "Comments"), "c", (Str){0}), "what");
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations), cmocka_unit_test(test_patterns), cmocka_unit_test(test_bad_patterns), cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_bad_expressions), cmocka_unit_test(test_kept_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

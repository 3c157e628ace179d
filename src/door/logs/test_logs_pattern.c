/* SPDX-License-Identifier: Apache-2.0 */
/* test_logs_pattern.c - what each filter pattern takes and leaves. */
#include "base/test.h"
#include "door/logs/logs_pattern.h"

static int matches(const char *pattern, const char *message)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    LogPattern *p;
    Error err;

    if (log_pattern_parse(a, str_c(pattern), &p, &err) != OK)
        return -1;
    return log_pattern_matches(p, a, str_c(message));
}

typedef struct Case { const char *pattern, *message; int expected; } Case;

static void run(const Case *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (matches(c[i].pattern, c[i].message) != c[i].expected)
            fail_msg("'%s' on '%s': not %d", c[i].pattern, c[i].message, c[i].expected);
}

static void terms(void **state UNUSED)
{
    static const Case cases[] = {
        { "", "anything", 1 }, { "  ", "", 1 }, { "*", "x", 1 }, { "ERROR", "an ERROR here", 1 }, { "ERROR", "an error here", 0 }, { "a b", "xbax", 1 }, { "a b", "b only", 0 },
        { "\"a b\"", "b a", 0 }, { "\"a b\"", "xa bx", 1 }, { "a -b", "a", 1 }, { "a -b", "ab", 0 }, { "- \"x y\"", "x y", 0 }, { "- \"x y\"", "z", 1 },
        { "?a ?b", "b", 1 }, { "?a ?b", "c", 0 }, { "x ?a ?b", "x", 1 }, { "?a -c", "a c", 0 }, { "\"say \\\"hi\\\"\"", "say \"hi\"", 1 },
        { "\"open", "open", -1 }, { "a -", "a", -1 }, { "?", "a", -1 }, { "%re%", "re", -1 },
    };
    run(cases, COUNT_OF(cases));
}

static void json(void **state UNUSED)
{
    static const Case cases[] = {
        { "{ $.a = \"x\" }", "{\"a\": \"x\"}", 1 }, { "{ $.a = \"x\" }", "{\"a\": \"y\"}", 0 }, { "{ $.a = x }", "not json", 0 }, { "{$.a=1}", "{\"a\": 1.0}", 1 },
        { "{ $.a > 5 }", "{\"a\": 6}", 1 }, { "{ $.a >= 5 }", "{\"a\": 4}", 0 }, { "{ $.a = 4* }", "{\"a\": \"404\"}", 1 }, { "{ $.a = *04 }", "{\"a\": \"404\"}", 1 },
        { "{ $.a = \"*mid*\" }", "{\"a\": \"amidst\"}", 1 }, { "{ $.a != x }", "{\"a\": \"y\"}", 1 }, { "{ $.a != x }", "{}", 0 },
        { "{ $.a.b[1].c = 2 }", "{\"a\": {\"b\": [0, {\"c\": 2}]}}", 1 }, { "{ $.a[7] = 2 }", "{\"a\": [1]}", 0 }, { "{ $[\"a.b\"] = 2 }", "{\"a.b\": 2}", 1 },
        { "{ ($.a = 1 || $.b = 2) && $.c IS TRUE }", "{\"b\": 2, \"c\": true}", 1 }, { "{ $.a = 1 || $.b = 2 && $.c IS TRUE }", "{\"a\": 1}", 1 },
        { "{ $.a IS NULL }", "{\"a\": null}", 1 }, { "{ $.a IS NULL }", "{}", 0 }, { "{ $.a NOT EXISTS }", "{}", 1 }, { "{ $.a IS FALSE }", "{\"a\": false}", 1 },
        { "{ $.a = }", "{}", -1 }, { "{ $.a }", "{}", -1 }, { "{ $.a = 1", "{}", -1 }, { "{ a = 1 }", "{}", -1 }, { "{ $.a = 1 } x", "{}", -1 }, { "{ $.a[x] = 1 }", "{}", -1 }, { "{", "", -1 },
    };
    run(cases, COUNT_OF(cases));
}

static void words(void **state UNUSED)
{
    static const Case cases[] = {
        { "[ip, user, status]", "1.2.3.4 joe 404", 1 }, { "[ip, user]", "1.2.3.4 joe 404", 0 }, { "[ip, user, status = 4*]", "1.2.3.4 joe 404", 1 }, { "[ip, user, status = 5*]", "1.2.3.4 joe 404", 0 },
        { "[ip, ..., status > 400]", "1.2.3.4 a b c 404", 1 }, { "[ip, ..., status]", "a b", 1 }, { "[ip, ..., status]", "a", 0 }, { "[ip, request, status]", "1.2.3.4 \"GET /x y\" 200", 1 },
        { "[ip, when, n >= 10 && n < 20]", "i [a b] 15", 1 }, { "[ip, when, n >= 10 && n < 20]", "i [a b] 20", 0 }, { "[a", "a", -1 }, { "[..., b, ...]", "a", -1 },
    };
    run(cases, COUNT_OF(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(terms), cmocka_unit_test(json), cmocka_unit_test(words) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

static Str parsed(Arena *a, const char *text, const IntervalFields *f)
{
    Interval v;

    switch (interval_parse(a, str_c(text), f, &v)) {
    case INTERVAL_PARSED: return str_fmt(a, "%d %d %lld", v.months, v.days, (long long)v.micros);
    case INTERVAL_MALFORMED: return S("malformed");
    default: return S("too large");
    }
}

static void texts(void **state UNUSED)
{
    static const struct { const char *text, *want; } cases[] = {
        { "1-2 3 4:5:6.7", "14 3 14706700000" }, { "-1-2 3 -4:5:6.7", "-14 3 -14706700000" }, { " 1 year\t2 mons -3 days ", "14 -3 0" }, { "1y 2mon 3d 4h 5m 6.7s", "14 3 14706700000" },
        { "@ 1 day ago", "0 -1 0" }, { "P1Y2M3DT4H5M6S", "14 3 14706000000" }, { "PT-1M", "0 0 -60000000" }, { "5", "0 0 5000000" }, { "3 4:00", "0 3 14400000000" },
        { "0:.27", "0 0 270000" }, { "4::.5", "0 0 14400500000" }, { "1.5 months", "1 15 0" }, { "1.75 years", "21 0 0" }, { "10.333 years", "123 0 0" }, { "1.5555555 day", "0 1 47999995200" },
        { "1.5 weeks", "0 10 43200000000" }, { "0.5 microseconds", "0 0 1" }, { "1.2345678 s", "0 0 1234568" }, { "2 decades 1 century", "1440 0 0" }, { "-0.5 days", "0 0 -43200000000" },
        { "9223372036854.775807 s", "0 0 9223372036854775807" }, { "9223372036854.775808 s", "too large" }, { "2147483647 days", "0 2147483647 0" }, { "2147483648 days", "too large" },
        { "-178956970-8", "-2147483648 0 0" }, { "", "malformed" }, { "ago", "malformed" }, { "1 year 2 years", "malformed" }, { "1:2 3 hours", "malformed" }, { "1-2 3 mons", "malformed" },
        { "1 2", "malformed" }, { "1-13", "malformed" }, { "1:60", "malformed" }, { "1:00:61", "malformed" }, { "1:2:3:4", "malformed" }, { "1:-2", "malformed" }, { "1.5:2", "malformed" },
        { "1 fortnight", "malformed" }, { "1..5 s", "malformed" }, { "P", "malformed" }, { "P1X", "malformed" }, { "PT1D1D", "malformed" }, { "99999999999999999999 s", "malformed" },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_str(parsed(a, cases[i].text, NULL), cases[i].want);
}

static void fields(void **state UNUSED)
{
    static const struct { const char *text; IntervalFields f; const char *want; } cases[] = {
        { "1-2 3 4:5:6.7", { INTERVAL_YEAR, INTERVAL_YEAR, -1 }, "12 0 0" }, { "1-2 3 4:5:6.7", { INTERVAL_DAY, INTERVAL_DAY, -1 }, "14 3 0" },
        { "1-2 3 4:5:6.7", { INTERVAL_MONTH, INTERVAL_MINUTE, -1 }, "2 3 14700000000" }, { "1-2 3 4:5:6.7", { INTERVAL_DAY, INTERVAL_HOUR, -1 }, "0 3 14400000000" },
        { "12:34:56", { INTERVAL_MINUTE, INTERVAL_SECOND, -1 }, "0 0 2096000000" }, { "10:20", { INTERVAL_MINUTE, INTERVAL_SECOND, -1 }, "0 0 620000000" },
        { "10:20", { INTERVAL_MINUTE, INTERVAL_MINUTE, -1 }, "0 0 37200000000" }, { "7", { INTERVAL_MONTH, INTERVAL_MONTH, -1 }, "7 0 0" }, { "1 2", { INTERVAL_DAY, INTERVAL_HOUR, -1 }, "0 1 7200000000" },
        { "1 2", { INTERVAL_DAY, INTERVAL_DAY, -1 }, "malformed" }, { "1.23456", { INTERVAL_SECOND, INTERVAL_SECOND, 2 }, "0 0 1230000" }, { "1.999999", { INTERVAL_SECOND, INTERVAL_SECOND, 0 }, "0 0 2000000" },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_str(parsed(a, cases[i].text, &cases[i].f), cases[i].want);
    assert_int_equal(interval_field(S("Months")), INTERVAL_MONTH);
    assert_int_equal(interval_field(S("s")), INTERVAL_ANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts), cmocka_unit_test(fields) };
    return cmocka_run_group_tests_name("interval_text", tests, NULL, NULL);
}

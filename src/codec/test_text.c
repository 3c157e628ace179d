/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

static void base64(void **state UNUSED)
{
    static const char *const pairs[][2] = {
        { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" }, { "\xff\xef\xbe", "/+++" },
    };
    static const char *const bad[] = { "Z", "Zg=", "Zg==x", "Z===", "Zm9v=", "Zm 9", "Zm9v\n", "====", "Zg=g" };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Str got;
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        assert_str(base64_encode(a, str_c(pairs[i][0])), pairs[i][1]);
        assert_ok(base64_decode(a, str_c(pairs[i][1]), &got, &err), &err);
        assert_str(got, pairs[i][0]);
    }
    assert_ok(base64_decode(a, S("_--_"), &got, &err), &err);
    assert_str(got, "\xff\xef\xbf");
    assert_ok(base64_decode(a, S("Zm9vYg"), &got, &err), &err);
    assert_str(got, "foob");
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (base64_decode(a, str_c(bad[i]), &got, &err) != E_SYNTAX)
            fail_msg("'%s' is not refused", bad[i]);
}

static void percent(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Str got;
    assert_str(url_encode(a, S("a/b c~-_.\xc3\xbc+"), 0), "a%2Fb%20c~-_.%C3%BC%2B");
    assert_str(url_encode(a, S("a/b"), 1), "a/b");
    assert_ok(url_decode(a, S("a%2fb+%C3%bc"), 0, &got, &err), &err);
    assert_str(got, "a/b+\xc3\xbc");
    assert_ok(url_decode(a, S("a+b"), 1, &got, &err), &err);
    assert_str(got, "a b");
    assert_status(url_decode(a, S("a%2"), 0, &got, &err), E_SYNTAX);
    assert_status(url_decode(a, S("%zz"), 0, &got, &err), E_SYNTAX);
}

static void query(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Props p;
    assert_ok(url_query_parse(a, S("uploads&&x=1&x=a%3Db&y=&=v"), &p, &err), &err);
    assert_int_equal(p.n, 5);
    assert_str(p.p[0].key, "uploads");
    assert_str(p.p[0].value, "");
    assert_str(p.p[1].value, "1");
    assert_str(p.p[2].value, "a=b");
    assert_str(p.p[4].key, "");
    assert_ok(url_query_parse(a, S(""), &p, &err), &err);
    assert_int_equal(p.n, 0);
}

static void dates(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    int64_t ms;
    assert_str(http_date(a, 784111777000), "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_str(http_date(a, 0), "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_str(http_date(a, -1), "Wed, 31 Dec 1969 23:59:59 GMT");
    assert_true(http_date_parse(S("Sun, 06 Nov 1994 08:49:37 GMT"), &ms));
    assert_int_equal(ms, 784111777000);
    assert_true(http_date_parse(S("Sun, 06 Nov 1994 08:49:37 +0000"), &ms));
    assert_true(http_date_parse(S("Thu, 29 Feb 2024 00:00:00 GMT"), &ms));
    assert_int_equal(ms, 1709164800000);
    assert_false(http_date_parse(S("Wed, 29 Feb 2023 00:00:00 GMT"), &ms));
    assert_false(http_date_parse(S("Sun, 06 Nov 1994 08:49:37"), &ms));
    assert_false(http_date_parse(S("yesterday"), &ms));
}

static void iso_dates(void **state UNUSED)
{
    static const struct { const char *text; int64_t ms; } good[] = {
        { "2026-11-30T10:22:17Z", 1796034137000 }, { "2026-11-30T10:22:17.123Z", 1796034137123 },
        { "2026-11-30T10:22:17.1239999Z", 1796034137123 }, { "2026-11-30T11:22:17+01:00", 1796034137000 },
        { "2026-11-30T09:52:17-00:30", 1796034137000 }, { "20261130T102217Z", 1796034137000 },
        { "1969-12-31T23:59:59.999Z", -1 }, { "0001-01-01T00:00:00Z", -62135596800000 },
    };
    static const char *const bad[] = { "", "2026-11-30", "2026-11-30T10:22:17", "2026-13-30T10:22:17Z",
        "2026-02-29T10:22:17Z", "2026-11-30T24:22:17Z", "2026-11-30T10:22:17.Z", "2026-11-30T10:22:17Zx",
        "2026-1130T102217Z", "20261130T10:22:17Z", "2026-11-30T10:22:17+99:00" };
    int64_t ms;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        if (!iso8601_parse(str_c(good[i].text), &ms) || ms != good[i].ms)
            fail_msg("%s gives %lld", good[i].text, (long long)ms);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (iso8601_parse(str_c(bad[i]), &ms))
            fail_msg("'%s' is not refused", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64), cmocka_unit_test(percent), cmocka_unit_test(query), cmocka_unit_test(dates),
        cmocka_unit_test(iso_dates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

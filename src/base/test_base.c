/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"
#include "test.h"

#include <errno.h>

static void arena_gives_zeroed_aligned_memory(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    for (size_t n = 1; n < 100000; n = n * 3 + 1) {
        char *p = arena_alloc(a, n);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xAA, n);
    }
}

static void vectors_grow_and_keep(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    VEC(int) v = {0};
    for (int i = 0; i < 10000; i++)
        vec_push(a, &v, i);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(v.p[i], i);
}

static void strings(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str head, tail;
    int64_t n;
    StrVec parts = {0};

    assert_true(str_cut(S("a=b=c"), '=', &head, &tail));
    assert_str(head, "a");
    assert_str(tail, "b=c");
    assert_false(str_cut(S("abc"), '=', &head, &tail));
    assert_true(str_to_i64(S("-9223372036854775808"), &n));
    assert_false(str_to_i64(S("9223372036854775808"), &n));
    assert_false(str_to_i64(S("1x"), &n));
    str_split(a, S("a,,b"), ',', &parts);
    assert_int_equal(parts.n, 3);
    assert_str(str_join(a, &parts, S("|")), "a||b");
    assert_true(str_like(S("customer_summary"), S("cust%mary")));
    assert_false(str_like(S("customer"), S("cust_")));
    assert_true(str_is_utf8(S("gr\xc3\xbc\xc3\x9f")));
    assert_false(str_is_utf8(S("\xed\xa0\x80")));
    assert_int_equal(str_find(S("hello"), S("llo")), 2);
}

static void maps_keep_order_and_replace(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Map m = map_new(a);
    for (int i = 0; i < 1000; i++)
        map_put(&m, str_fmt(a, "key%d", i), (void *)(intptr_t)(i + 1));
    map_put(&m, S("key7"), (void *)(intptr_t)99);
    assert_int_equal(m.n, 1000);
    assert_int_equal((intptr_t)map_get(&m, S("key7")), 99);
    assert_true(map_del(&m, S("key0")));
    assert_str(m.entries[0].key, "key1");
    assert_null(map_get(&m, S("key0")));
    assert_int_equal((intptr_t)map_get(&m, S("key999")), 1000);
}

static void errors_chain(void **state UNUSED)
{
    Error err = {0};
    assert_int_equal(FAIL(&err, E_LIMIT, "too long: %d", 7), E_LIMIT);
    error_context(&err, "reading '%s'", "x");
    assert_string_equal(err.message, "reading 'x': too long: 7");
    assert_int_equal(error_errno(&err, ENOSPC, ORIGIN, "writing"), E_FULL);
    for (int s = 0; s < STATUS_COUNT; s++)
        assert_non_null(status_name((Status)s));
}

static void hex_round_trip(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str back;
    assert_str(hex_encode(a, S("\x01\xff")), "01ff");
    assert_true(hex_decode(a, S("01FF"), &back));
    assert_int_equal(back.n, 2);
    assert_false(hex_decode(a, S("0g"), &back));
    assert_int_equal(uuid_v4(a).n, 36);
    assert_str(time_iso8601(a, 0), "1970-01-01T00:00:00.000Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_zeroed_aligned_memory), cmocka_unit_test(vectors_grow_and_keep),
        cmocka_unit_test(strings), cmocka_unit_test(maps_keep_order_and_replace),
        cmocka_unit_test(errors_chain), cmocka_unit_test(hex_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

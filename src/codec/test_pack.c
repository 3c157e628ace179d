/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

typedef Status Pack(Arena *a, Str bytes, Str *ret, Error *err);
typedef Status Unpack(Arena *a, Str bytes, size_t limit, Str *ret, Error *err);

static const struct { const char *name; Pack *pack; Unpack *unpack; } forms[] = {
    { "gzip", gzip_pack, gzip_unpack }, { "deflate", deflate_pack, deflate_unpack }, { "zstd", zstd_pack, zstd_unpack },
};

static Str sample(Arena *a, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(i * i >> 7);
    return str_n(p, n);
}

static void round_trips(void **state UNUSED)
{
    static const size_t sizes[] = { 0, 1, 100, 4096, 70000, 3000000 };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    for (size_t f = 0; f < COUNT_OF(forms); f++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            Str plain = sample(a, sizes[i]), packed, again;
            assert_ok(forms[f].pack(a, plain, &packed, &err), &err);
            assert_ok(forms[f].unpack(a, packed, sizes[i], &again, &err), &err);
            assert_true(str_eq(plain, again));
        }
}

static void limits_hold(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Str packed, again;
    for (size_t f = 0; f < COUNT_OF(forms); f++) {
        assert_ok(forms[f].pack(a, str_n(arena_alloc(a, 1 << 20), 1 << 20), &packed, &err), &err);
        assert_status(forms[f].unpack(a, packed, (1 << 20) - 1, &again, &err), E_LIMIT);
        assert_status(forms[f].unpack(a, packed, 0, &again, &err), E_LIMIT);
        assert_ok(forms[f].unpack(a, packed, 1 << 20, &again, &err), &err);
    }
}

static void cut_or_changed_input_fails(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Str packed, again;
    for (size_t f = 0; f < COUNT_OF(forms); f++) {
        assert_ok(forms[f].pack(a, sample(a, 5000), &packed, &err), &err);
        for (size_t n = 0; n < packed.n; n += 1 + n / 20)
            assert_status(forms[f].unpack(a, str_sub(packed, 0, n), 1 << 20, &again, &err), E_CORRUPT);
        assert_status(forms[f].unpack(a, S("\xff\xff\xff\xff"), 1 << 20, &again, &err), E_CORRUPT);
    }
}

static void joined_streams(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Str x, y, again;
    assert_ok(gzip_pack(a, S("one "), &x, &err), &err);
    assert_ok(gzip_pack(a, S("two"), &y, &err), &err);
    assert_ok(gzip_unpack(a, str_cat(a, x, y), 100, &again, &err), &err);
    assert_str(again, "one two");
    assert_status(gzip_unpack(a, str_cat(a, x, S("junk")), 100, &again, &err), E_CORRUPT);
    assert_ok(deflate_pack(a, S("raw"), &x, &err), &err);          /* some writers leave a checksum behind */
    assert_ok(deflate_unpack(a, str_cat(a, x, S("\1\2\3")), 100, &again, &err), &err);
    assert_str(again, "raw");
}

static void snappy(void **state UNUSED)
{
    static const char packed[] = "\xa0\x01\x1ciceberg \xfe\x08\x00\xfe\x08\x00\x5e\x08";   /* 20 times "iceberg " */
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Str plain, all = str_n(packed, sizeof packed);                 /* the NUL of C belongs to it */
    assert_ok(snappy_unpack(a, all, 160, &plain, &err), &err);
    assert_int_equal(plain.n, 160);
    assert_str(str_sub(plain, 152, 160), "iceberg ");
    assert_status(snappy_unpack(a, all, 159, &plain, &err), E_LIMIT);
    assert_status(snappy_unpack(a, str_sub(all, 0, all.n - 1), 160, &plain, &err), E_CORRUPT);
    assert_status(snappy_unpack(a, S("\xff\xff\xff\x0f" "a"), SIZE_MAX, &plain, &err), E_CORRUPT);
    assert_status(snappy_unpack(a, (Str){ 0 }, 10, &plain, &err), E_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips), cmocka_unit_test(limits_hold), cmocka_unit_test(cut_or_changed_input_fails),
        cmocka_unit_test(joined_streams), cmocka_unit_test(snappy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

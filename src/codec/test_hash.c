/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

static void check_values(void **state UNUSED)
{
    static const struct { HashKind kind; const char *hex; } want[] = {      /* of "123456789" */
        { HASH_MD5, "25f9e794323b453885f5181f1b624d0b" },
        { HASH_SHA1, "f7c3bc1d808e04732adf679965ccc34ca7ae3441" },
        { HASH_SHA256, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225" },
        { HASH_SHA224, "9b3e61bf29f17c75572fae2e86e17809a4513d07c8a18152acf34521" },
        { HASH_SHA384, "eb455d56d2c1a69de64e832011f3393d45f3fa31d6842f21af92d2fe469c499da5e3179847334a18479c8d1dedea1be3" },
        { HASH_CRC32, "cbf43926" }, { HASH_CRC32C, "e3069283" }, { HASH_CRC64NVME, "ae8b14860a799888" },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_str(hash_hex(a, want[i].kind, S("123456789")), want[i].hex);
    assert_str(hash_hex(a, HASH_CRC32C, S("")), "00000000");
    assert_str(hash_hex(a, HASH_SHA256, S("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void pieces_equal_the_whole(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    char bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    for (HashKind kind = HASH_MD5; kind <= HASH_CRC64NVME; kind++) {
        CLEANUP(hasher_freep) Hasher *h = hasher_new(kind);
        for (size_t at = 0, n = 0; at < sizeof bytes; at += n, n++)
            hasher_add(h, str_sub(str_n(bytes, sizeof bytes), at, at + n));
        assert_true(str_eq(hasher_done(h, a), hash_bytes(a, kind, str_n(bytes, sizeof bytes))));
    }
}

static void keyed(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    assert_str(hex_encode(a, hmac_sha256(a, S("Jefe"), S("what do ya want for nothing?"))),      /* RFC 4231 */
               "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    assert_str(hex_encode(a, pbkdf2_sha256(a, S("password"), S("salt"), 4096)),
               "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a");
    assert_int_equal(hmac_sha256(a, S(""), S("")).n, 32);
    assert_true(str_eq_const_time(S("abc"), S("abc")));
    assert_false(str_eq_const_time(S("abc"), S("abd")));
    assert_false(str_eq_const_time(S("abc"), S("ab")));
}

static int32_t of_long(int64_t v) { return (int32_t)murmur3_32(str_n((const char *)&v, 8)); }

static void murmur3(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str uuid;
    assert_int_equal(of_long(34), 2017239379);
    assert_int_equal(of_long(17486), -653330422);                    /* 2017-11-16 */
    assert_int_equal(of_long(81068000000), -662762989);              /* 22:31:08 */
    assert_int_equal(of_long(1510871468000000), -2047944441);
    assert_int_equal(of_long(1510871468000001), -1207196810);
    assert_int_equal((int32_t)murmur3_32(S("\x05\x8c")), -500754589); /* 14.20 */
    assert_int_equal((int32_t)murmur3_32(S("iceberg")), 1210000089);
    assert_true(hex_decode(a, S("f79c3e09677c4bbda4793f349cb785e7"), &uuid));
    assert_int_equal((int32_t)murmur3_32(uuid), 1488055340);
    assert_int_equal((int32_t)murmur3_32(str_n("\0\1\2\3", 4)), -188683207);
    assert_int_equal(murmur3_32(S("")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_values), cmocka_unit_test(pieces_equal_the_whole), cmocka_unit_test(keyed),
        cmocka_unit_test(murmur3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

static void add_range(Arena *a, Positions *p, uint64_t from, uint64_t n, uint64_t step)
{
    for (uint64_t i = 0; i < n; i++)
        vec_push(a, p, from + i * step);
}

static void assert_round_trip(Arena *a, const Positions *p)
{
    Positions again;
    Error err;
    assert_ok(roaring_read(a, roaring_write(a, p), &again, &err), &err);
    assert_int_equal(p->n, again.n);
    for (size_t i = 0; i < p->n; i++)
        assert_int_equal(p->p[i], again.p[i]);
}

static void each_container_round_trips(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Positions p = {0};
    assert_round_trip(a, &p);
    add_range(a, &p, 5, 1, 1);                               /* array */
    assert_round_trip(a, &p);
    add_range(a, &p, 65536, 5000, 3);                        /* bit set */
    assert_round_trip(a, &p);
    add_range(a, &p, 3 * 65536, 65536, 1);                   /* runs, full */
    add_range(a, &p, 5 * 65536 - 3, 6, 1);                   /* runs over a border */
    assert_round_trip(a, &p);
    add_range(a, &p, 7ull << 32, 4096, 15);                  /* next upper half; the largest array */
    add_range(a, &p, (7ull << 32) + 65536, 4097, 15);
    add_range(a, &p, INT64_MAX, 1, 1);
    assert_round_trip(a, &p);
}

static void random_sets_round_trip(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    uint64_t seed = 42;
    for (int round = 0; round < 50; round++) {
        Positions p = {0};
        uint64_t at = 0, spread = 1ull << (round % 20);
        for (int i = 0; i < 3000; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            at += 1 + (seed >> 33) % spread;
            vec_push(a, &p, at);
        }
        assert_round_trip(a, &p);
    }
}

static Str unhex(Arena *a, const char *hex)
{
    Str s = {0};
    assert_true(hex_decode(a, str_c(hex), &s));
    return s;
}

static void bytes_of_other_writers(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Positions p;
    Error err;
    /* a bare deletion vector as older writers left it: position 1 */
    assert_ok(dv_blob_read(a, unhex(a, "00000022d1d339640100000000000000000000003a300000010000000000000010000000"
                                       "0100eebd85f4"), &p, &err), &err);
    assert_int_equal(p.n, 1);
    assert_int_equal(p.p[0], 1);
    assert_str(hex_encode(a, dv_blob_write(a, &p)), "00000022d1d339640100000000000000000000003a300000010000000000000010000000"
                                                    "0100eebd85f4");
    /* CRoaring: 0..9 as one run, 2^32 + 1 and + 3 as an array */
    assert_ok(roaring_read(a, unhex(a, "0200000000000000" "00000000" "3b30000001" "00000900" "010000000900"
                                       "01000000" "3a300000" "01000000" "00000100" "10000000" "01000300"), &p, &err), &err);
    assert_int_equal(p.n, 12);
    assert_int_equal(p.p[9], 9);
    assert_int_equal(p.p[11], (1ull << 32) + 3);
}

static void refuses_broken_bitmaps(void **state UNUSED)
{
    static const char *const bad[] = {
        "", "01", "0100000000000000", "ffffffffffffffff",
        "0100000000000000" "00000080" "3a30000001000000" "00000000" "10000000" "0100",       /* upper half 2^31 */
        "0100000000000000" "00000000" "3930000001000000" "00000000" "10000000" "0100",       /* cookie */
        "0100000000000000" "00000000" "3a30000001000100" "00000000" "10000000" "0100",       /* 65537 containers */
        "0100000000000000" "00000000" "3a30000001000000" "00000000" "11000000" "0100",       /* offset */
        "0100000000000000" "00000000" "3a30000001000000" "00000000" "10000000" "01",         /* cut */
        "0100000000000000" "00000000" "3a30000001000000" "00000000" "10000000" "010000",     /* too long */
        "0100000000000000" "00000000" "3a30000001000000" "00000100" "10000000" "02000200",   /* not ascending */
        "0100000000000000" "00000000" "3a30000002000000" "0000000000000000" "1800000018000000" "01000200",
        "0200000000000000" "00000000" "3a30000000000000" "00000000" "3a30000000000000",      /* upper half twice */
        "0100000000000000" "00000000" "3b30000001" "00000900" "010000000800",                /* run too short */
        "0100000000000000" "00000000" "3b30000001" "00000900" "010000000a00",                /* run too long */
        "0100000000000000" "00000000" "3b30000001" "00000900" "0100fcff0900",                /* over the border */
        "0100000000000000" "00000000" "3b30000001" "00000900" "02000500040000000400",        /* not ascending */
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Positions p;
    Error err;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (roaring_read(a, unhex(a, bad[i]), &p, &err) != E_CORRUPT)
            fail_msg("%s is not refused", bad[i]);
}

static void refuses_too_many_positions(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrBuf b = sb_new(a);
    Positions p;
    Error err;
    sb_add(&b, unhex(a, "0100000000000000" "00000000" "3b30ffff"));         /* 65536 full runs: 2^32 positions */
    for (int i = 0; i < 8192; i++)
        sb_byte(&b, (char)0xFF);
    for (int i = 0; i < 65536; i++)
        sb_add(&b, str_n((char[]){ (char)i, (char)(i >> 8), (char)0xFF, (char)0xFF }, 4));
    for (int i = 0; i < 65536; i++)
        sb_add(&b, str_n("\0\0\0\0", 4));
    for (int i = 0; i < 65536; i++)
        sb_add(&b, str_n("\1\0\0\0\xff\xff", 6));
    assert_status(roaring_read(a, sb_str(&b), &p, &err), E_LIMIT);
}

static void deletion_vectors_are_checked(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Positions p = {0}, again;
    Error err;
    add_range(a, &p, 100, 500, 7);
    Str blob = dv_blob_write(a, &p);
    assert_ok(dv_blob_read(a, blob, &again, &err), &err);
    assert_int_equal(again.n, 500);
    for (size_t i = 0; i < blob.n; i += 3) {
        char *bad = str_z(a, blob);
        bad[i] ^= 0x10;
        assert_status(dv_blob_read(a, str_n(bad, blob.n), &again, &err), E_CORRUPT);
        assert_status(dv_blob_read(a, str_sub(blob, 0, i), &again, &err), E_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_container_round_trips), cmocka_unit_test(random_sets_round_trip),
        cmocka_unit_test(bytes_of_other_writers), cmocka_unit_test(refuses_broken_bitmaps),
        cmocka_unit_test(refuses_too_many_positions), cmocka_unit_test(deletion_vectors_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

static PuffinBlob blob_of(const char *type, const char *codec, Str bytes)
{
    return (PuffinBlob){ .type = str_c(type), .codec = str_c(codec), .bytes = bytes, .snapshot_id = 7, .sequence_number = 3 };
}

static Str sample(Arena *a)
{
    PuffinBlobs blobs = {0};
    Props props = {0};
    Positions p = {0};
    Error err;
    Str file;

    vec_push(a, &p, 12345);
    PuffinBlob dv = blob_of("deletion-vector-v1", "", dv_blob_write(a, &p));
    dv.snapshot_id = dv.sequence_number = -1;
    vec_push(a, &dv.fields, 2147483645);
    props_set(a, &dv.props, S("cardinality"), S("1"));
    vec_push(a, &blobs, dv);
    vec_push(a, &blobs, blob_of("some-statistics", "zstd", str_n(arena_alloc(a, 1000), 1000)));
    vec_push(a, &blobs, blob_of("empty", "", (Str){ 0 }));
    props_set(a, &props, S("created-by"), S("firn"));
    assert_ok(puffin_write(a, &blobs, &props, &file, &err), &err);
    assert_int_equal(blobs.p[0].offset, 4);
    assert_int_equal(blobs.p[1].offset, blobs.p[0].length + 4);
    return file;
}

static void round_trip(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PuffinBlobs got;
    Positions p;
    Props props;
    Error err;
    Str file = sample(a);
    assert_ok(puffin_read(a, file, &got, &props, &err), &err);
    assert_int_equal(got.n, 3);
    assert_str(props_get(&props, S("created-by"), S("")), "firn");
    assert_str(props_get(&got.p[0].props, S("cardinality"), S("")), "1");
    assert_int_equal(got.p[0].fields.p[0], 2147483645);
    assert_int_equal(got.p[0].snapshot_id, -1);
    assert_int_equal(got.p[1].bytes.n, 1000);
    assert_true(got.p[1].length < 1000);
    assert_ok(dv_blob_read(a, str_sub(file, (size_t)got.p[0].offset, (size_t)(got.p[0].offset + got.p[0].length)), &p, &err), &err);
    assert_int_equal(p.p[0], 12345);
}

static void cut_files(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str file = sample(a);
    PuffinBlobs got;
    Props props;
    Error err;
    for (size_t n = 0; n < file.n; n++)
        assert_status(puffin_read(a, str_sub(file, 0, n), &got, &props, &err), E_CORRUPT);
}

static Str with_footer(Arena *a, const char *footer, char flag)
{
    StrBuf b = sb_new(a);
    uint32_t n = (uint32_t)strlen(footer);
    sb_addc(&b, "PFA1datadataPFA1");
    sb_addc(&b, footer);
    sb_add(&b, str_n((const char *)&n, 4));
    sb_byte(&b, flag);
    sb_add(&b, str_n("\0\0\0PFA1", 7));
    return sb_str(&b);
}

#define BLOB(rest) "{\"blobs\":[{\"type\":\"t\",\"fields\":[1],\"snapshot-id\":1,\"sequence-number\":1," rest "}]}"

static void footers(void **state UNUSED)
{
    static const struct { const char *text; Status want; } cases[] = {
        { BLOB("\"offset\":4,\"length\":8"), OK },
        { BLOB("\"offset\":12,\"length\":0"), OK },
        { BLOB("\"offset\":4,\"length\":9"), E_CORRUPT },
        { BLOB("\"offset\":0,\"length\":4"), E_CORRUPT },
        { BLOB("\"offset\":-4,\"length\":8"), E_CORRUPT },
        { BLOB("\"offset\":4,\"length\":-1"), E_CORRUPT },
        { BLOB("\"offset\":9223372036854775807,\"length\":9223372036854775807"), E_CORRUPT },
        { BLOB("\"offset\":4"), E_CORRUPT },
        { BLOB("\"offset\":4,\"length\":8,\"compression-codec\":\"lz4\""), E_UNSUPPORTED },
        { BLOB("\"offset\":4,\"length\":8,\"compression-codec\":\"zstd\""), E_CORRUPT },
        { BLOB("\"offset\":4,\"length\":8,\"properties\":{\"a\":1}"), E_CORRUPT },
        { "{\"blobs\":[3]}", E_CORRUPT }, { "{\"blobs\":3}", E_CORRUPT }, { "{}", E_CORRUPT }, { "[", E_CORRUPT },
        { "{\"blobs\":[]}", OK },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PuffinBlobs got;
    Props props;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Error err = {0};
        Status s = puffin_read(a, with_footer(a, cases[i].text, 0), &got, &props, &err);
        if (s != cases[i].want)
            fail_msg("%s: %s (%s)", cases[i].text, status_name(s), err.message);
    }
    Error err;
    assert_status(puffin_read(a, with_footer(a, "{\"blobs\":[]}", 1), &got, &props, &err), E_UNSUPPORTED);
}

static void deletion_vectors_stay_plain(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PuffinBlobs blobs = {0};
    Error err;
    Str file;
    vec_push(a, &blobs, blob_of("deletion-vector-v1", "zstd", S("x")));
    assert_status(puffin_write(a, &blobs, NULL, &file, &err), E_INVALID);
    blobs.p[0] = blob_of("other", "lz4", S("x"));
    assert_status(puffin_write(a, &blobs, NULL, &file, &err), E_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip), cmocka_unit_test(cut_files), cmocka_unit_test(footers),
        cmocka_unit_test(deletion_vectors_stay_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

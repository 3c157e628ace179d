/* SPDX-License-Identifier: Apache-2.0 */
/* duck_partition_hash.c - hashes by which rows are spread over partitions, and the UUID of a name; each argument VARCHAR or BLOB.
 *
 *   firn_kafka_murmur2(x)        INTEGER  Murmur2 with the seed of Kafka's default partitioner, the sign bit cleared
 *   firn_seahash(x)              UBIGINT  SeaHash with its default seeds
 *   firn_crc32_of(x)             UINTEGER CRC-32 (IEEE 802.3)
 *   firn_uuid_v5(space, name)    UUID     RFC 9562, version 5 (SHA-1)
 * Null in, null out. */
#include "duck/duck_scalar.h"

#include "codec/codec.h"

/* Up to eight bytes, the first one lowest. */
static uint64_t little_endian(const char *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = n; i > 0; i--)
        v = v << 8 | (unsigned char)p[i - 1];
    return v;
}

static uint32_t kafka_murmur2(Str s)
{
    static const uint32_t SEED = 0x9747b28cu, M = 0x5bd1e995u;
    uint32_t h = SEED ^ (uint32_t)s.n;
    size_t at = 0;

    for (; s.n - at >= 4; at += 4) {
        uint32_t k = (uint32_t)little_endian(s.p + at, 4) * M;
        h = h * M ^ (k ^ k >> 24) * M;
    }
    if (at < s.n)
        h = (h ^ (uint32_t)little_endian(s.p + at, s.n - at)) * M;
    h = (h ^ h >> 13) * M;
    return (h ^ h >> 15) & 0x7fffffffu;
}

static uint64_t diffuse(uint64_t x)
{
    static const uint64_t P = 0x6eed0e9da4d94a4fu;
    x *= P;
    x ^= (x >> 32) >> (x >> 60);
    return x * P;
}

/* Four lanes take words in turn; the last word may be short. */
static uint64_t seahash(Str s)
{
    uint64_t lane[4] = { 0x16f11fe89b0d677cu, 0xb480a793d8e6c86cu, 0x6fe2e5aaf078ebc9u, 0x14f994a4c5259381u };
    size_t turn = 0;

    for (size_t at = 0; at < s.n; at += 8, turn++)
        lane[turn % 4] = diffuse(lane[turn % 4] ^ little_endian(s.p + at, min_size(8, s.n - at)));
    return diffuse(lane[0] ^ lane[1] ^ lane[2] ^ lane[3] ^ s.n);
}

static uint32_t crc32_of(Str s)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str h = hash_bytes(a, HASH_CRC32, s);
    return (uint32_t)(unsigned char)h.p[0] << 24 | (uint32_t)(unsigned char)h.p[1] << 16 | (uint32_t)(unsigned char)h.p[2] << 8 | (unsigned char)h.p[3];
}

#define HASHED(name, type, of) \
    static void run_##name(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out) \
    { \
        ScalarArgs a = scalar_args(in); \
        type *to = duckdb_vector_get_data(out); \
        for (size_t i = 0; i < a.n; i++) \
            if (scalar_has(&a, 0, i)) \
                to[i] = (type)of(scalar_text(&a, 0, i)); \
            else \
                scalar_null(out, i); \
    }
HASHED(murmur, int32_t, kafka_murmur2)
HASHED(seahash, uint64_t, seahash)
HASHED(crc32, uint32_t, crc32_of)

/* The engine keeps a UUID's first bit flipped, so that it sorts as signed numbers do. */
static const uint64_t FIRST_BIT = UINT64_C(1) << 63;

static uint64_t big_endian(const char *p)
{
    uint64_t v = 0;
    for (size_t i = 0; i < 8; i++)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

static duckdb_hugeint uuid_of_name(Arena *a, duckdb_hugeint space, Str name)
{
    uint64_t parts[2] = { (uint64_t)space.upper ^ FIRST_BIT, space.lower };
    char bytes[16];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(parts[i / 8] >> (56 - 8 * (i % 8)));
    Str h = hash_bytes(a, HASH_SHA1, str_cat(a, str_n(bytes, sizeof bytes), name));
    uint64_t high = (big_endian(h.p) & ~UINT64_C(0xF000)) | UINT64_C(0x5000), low = (big_endian(h.p + 8) & ~(UINT64_C(3) << 62)) | FIRST_BIT;
    return (duckdb_hugeint){ .upper = (int64_t)(high ^ FIRST_BIT), .lower = low };
}

static void run_uuid(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out)
{
    CLEANUP(arena_destroyp) Arena *arena = arena_create();
    ScalarArgs a = scalar_args(in);
    const duckdb_hugeint *space = a.data[0];
    duckdb_hugeint *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++)
        if (scalar_has(&a, 0, i) && scalar_has(&a, 1, i))
            to[i] = uuid_of_name(arena, space[i], scalar_text(&a, 1, i));
        else
            scalar_null(out, i);
}

static Status register_hash(duckdb_connection con, const char *name, duckdb_type result, duckdb_scalar_function_t run, Error *err)
{
    const ScalarSpec specs[] = {
        { .name = name, .nargs = 1, .args = { DUCKDB_TYPE_VARCHAR }, .result = result, .run = run },
        { .name = name, .nargs = 1, .args = { DUCKDB_TYPE_BLOB }, .result = result, .run = run },
    };
    return scalar_register(con, specs, COUNT_OF(specs), err);
}

Status duck_partition_hash_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec uuid = { .name = "firn_uuid_v5", .nargs = 2, .args = { DUCKDB_TYPE_UUID, DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_UUID, .run = run_uuid };

    TRY(register_hash(con, "firn_kafka_murmur2", DUCKDB_TYPE_INTEGER, run_murmur, err));
    TRY(register_hash(con, "firn_seahash", DUCKDB_TYPE_UBIGINT, run_seahash, err));
    TRY(register_hash(con, "firn_crc32_of", DUCKDB_TYPE_UINTEGER, run_crc32, err));
    return scalar_register(con, &uuid, 1, err);
}

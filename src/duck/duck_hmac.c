/* SPDX-License-Identifier: Apache-2.0 */
/* duck_hmac.c - keyed hashes and comparisons for those who check what comes from outside.
 *
 *   firn_hmac_md5|sha1|sha224|sha256|sha384|sha512(data, key)   BLOB; each argument VARCHAR or BLOB
 *   firn_digest_md5|sha1|sha224|sha256|sha384|sha512(data)      BLOB
 *   firn_constant_time_eq(x, y)                   BOOLEAN, in a time that tells nothing but the lengths
 * Null in, null out. */
#include "duck/duck_scalar.h"

#include "codec/codec.h"

static void hmac_cells(duckdb_data_chunk in, duckdb_vector out, HashKind kind)
{
    CLEANUP(arena_destroyp) Arena *arena = arena_create();
    ScalarArgs a = scalar_args(in);

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i) || !scalar_has(&a, 1, i)) {
            scalar_null(out, i);
            continue;
        }
        Str h = hmac_bytes(arena, kind, scalar_text(&a, 1, i), scalar_text(&a, 0, i));
        duckdb_vector_assign_string_element_len(out, i, h.p, h.n);
    }
}

static void digest_cells(duckdb_data_chunk in, duckdb_vector out, HashKind kind)
{
    CLEANUP(arena_destroyp) Arena *arena = arena_create();
    ScalarArgs a = scalar_args(in);

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        Str h = hash_bytes(arena, kind, scalar_text(&a, 0, i));
        duckdb_vector_assign_string_element_len(out, i, h.p, h.n);
    }
}

static void equal_cells(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    bool *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++)
        if (!scalar_has(&a, 0, i) || !scalar_has(&a, 1, i))
            scalar_null(out, i);
        else
            to[i] = str_eq_const_time(scalar_text(&a, 0, i), scalar_text(&a, 1, i));
}

#define HASHED(name, kind) \
    static void hmac_##name(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out) { hmac_cells(in, out, kind); } \
    static void digest_##name(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out) { digest_cells(in, out, kind); }
HASHED(md5, HASH_MD5)
HASHED(sha1, HASH_SHA1)
HASHED(sha224, HASH_SHA224)
HASHED(sha256_, HASH_SHA256)
HASHED(sha384, HASH_SHA384)
HASHED(sha512, HASH_SHA512)

#define V DUCKDB_TYPE_VARCHAR
#define B DUCKDB_TYPE_BLOB

static Status register_pairs(duckdb_connection con, const char *name, duckdb_scalar_function_t run, Error *err)
{
    const ScalarSpec specs[] = {
        { .name = name, .nargs = 2, .args = { V, V }, .result = B, .run = run }, { .name = name, .nargs = 2, .args = { V, B }, .result = B, .run = run },
        { .name = name, .nargs = 2, .args = { B, V }, .result = B, .run = run }, { .name = name, .nargs = 2, .args = { B, B }, .result = B, .run = run },
    };
    return scalar_register(con, specs, COUNT_OF(specs), err);
}

static Status register_digest(duckdb_connection con, const char *name, duckdb_scalar_function_t run, Error *err)
{
    const ScalarSpec specs[] = { { .name = name, .nargs = 1, .args = { V }, .result = B, .run = run }, { .name = name, .nargs = 1, .args = { B }, .result = B, .run = run } };
    return scalar_register(con, specs, COUNT_OF(specs), err);
}

Status duck_hmac_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec equal[] = {
        { .name = "firn_constant_time_eq", .nargs = 2, .args = { V, V }, .result = DUCKDB_TYPE_BOOLEAN, .run = equal_cells },
        { .name = "firn_constant_time_eq", .nargs = 2, .args = { B, B }, .result = DUCKDB_TYPE_BOOLEAN, .run = equal_cells },
    };

    TRY(register_pairs(con, "firn_hmac_md5", hmac_md5, err));
    TRY(register_pairs(con, "firn_hmac_sha1", hmac_sha1, err));
    TRY(register_pairs(con, "firn_hmac_sha224", hmac_sha224, err));
    TRY(register_pairs(con, "firn_hmac_sha256", hmac_sha256_, err));
    TRY(register_pairs(con, "firn_hmac_sha384", hmac_sha384, err));
    TRY(register_pairs(con, "firn_hmac_sha512", hmac_sha512, err));
    TRY(register_digest(con, "firn_digest_md5", digest_md5, err));
    TRY(register_digest(con, "firn_digest_sha1", digest_sha1, err));
    TRY(register_digest(con, "firn_digest_sha224", digest_sha224, err));
    TRY(register_digest(con, "firn_digest_sha256", digest_sha256_, err));
    TRY(register_digest(con, "firn_digest_sha384", digest_sha384, err));
    TRY(register_digest(con, "firn_digest_sha512", digest_sha512, err));
    return scalar_register(con, equal, COUNT_OF(equal), err);
}

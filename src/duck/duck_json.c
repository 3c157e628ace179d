/* SPDX-License-Identifier: Apache-2.0 */
/* duck_json.c - firn_json_scalar(json VARCHAR, path VARCHAR): the scalar at a path as the text has it, NULL where there is none; firn_json_sorted(json
 * VARCHAR): the same JSON without blanks, members in order of their names (both: codec, json_walk.c); and hashes that the engine lacks:
 * firn_sha512(BLOB), firn_crc32(BLOB). */
#include "duck/duck_scalar.h"

#include "codec/codec.h"

static void run_scalar(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    ScalarArgs args = scalar_args(in);

    for (size_t i = 0; i < args.n; i++) {
        Str s;
        if (scalar_has(&args, 0, i) && scalar_has(&args, 1, i) && json_scalar_at(a, scalar_text(&args, 0, i), scalar_text(&args, 1, i), &s))
            duckdb_vector_assign_string_element_len(out, i, s.p, s.n);
        else
            scalar_null(out, i);
    }
}

static void rewrite_cells(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out, bool (*rewrite)(Arena *, Str, Str *))
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    ScalarArgs args = scalar_args(in);

    for (size_t i = 0; i < args.n; i++) {
        if (!scalar_has(&args, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        Str s;
        if (!rewrite(a, scalar_text(&args, 0, i), &s)) {
            duckdb_scalar_function_set_error(info, "INVALID_FUNCTION_ARGUMENT: the text is not JSON, or nested too deeply SQLSTATE: 22023");
            return;
        }
        duckdb_vector_assign_string_element_len(out, i, s.p, s.n);
    }
}

static void run_sorted(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { rewrite_cells(info, in, out, json_sorted); }
static void run_without_nulls(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { rewrite_cells(info, in, out, json_without_nulls); }

static void run_hash(duckdb_data_chunk in, duckdb_vector out, HashKind kind)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    ScalarArgs args = scalar_args(in);

    for (size_t i = 0; i < args.n; i++) {
        if (!scalar_has(&args, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        Str h = hash_bytes(a, kind, scalar_text(&args, 0, i));
        if (kind != HASH_CRC32) {
            duckdb_vector_assign_string_element_len(out, i, h.p, h.n);
            continue;
        }
        uint32_t v = 0;
        for (size_t k = 0; k < 4; k++)
            v = v << 8 | (unsigned char)h.p[k];
        ((int64_t *)duckdb_vector_get_data(out))[i] = v;
    }
}

static void run_sha512(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out) { run_hash(in, out, HASH_SHA512); }
static void run_crc32(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out) { run_hash(in, out, HASH_CRC32); }

Status duck_json_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec specs[] = {
        { .name = "firn_json_scalar", .nargs = 2, .args = { DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_VARCHAR, .run = run_scalar },
        { .name = "firn_json_sorted", .nargs = 1, .args = { DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_VARCHAR, .run = run_sorted },
        { .name = "firn_json_without_nulls", .nargs = 1, .args = { DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_VARCHAR, .run = run_without_nulls },
        { .name = "firn_sha512", .nargs = 1, .args = { DUCKDB_TYPE_BLOB }, .result = DUCKDB_TYPE_BLOB, .run = run_sha512 },
        { .name = "firn_crc32", .nargs = 1, .args = { DUCKDB_TYPE_BLOB }, .result = DUCKDB_TYPE_BIGINT, .run = run_crc32 },
    };
    return scalar_register_each(con, specs, COUNT_OF(specs), err);
}

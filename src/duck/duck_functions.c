/* SPDX-License-Identifier: Apache-2.0 */
/* duck_functions.c - scalar functions of ours that generated SQL may call.
 *
 *   firn_bucket(n INTEGER, v)   Iceberg's bucket transform: (murmur3(v) & 0x7fffffff) % n; INTEGER
 *   firn_truncate(w INTEGER, v) Iceberg's truncate transform for INTEGER, BIGINT, VARCHAR (code points), BLOB (bytes);
 *                               a DECIMAL is truncated by arithmetic in the generated text
 *   firn_long(v HUGEINT)        v as BIGINT, firn_int(v HUGEINT) as INTEGER: overflow raises [ARITHMETIC_OVERFLOW] 22003
 * Null in, null out.  Iceberg spec, Appendix B (hashes) and "Partition Transforms". */
#include "duck/duck_scalar.h"

#include "codec/codec.h"

#include <stdio.h>

/* ---- bucket ----------------------------------------------------------------------------------------------- */

typedef struct Hashed { duckdb_type id, internal; } Hashed;

static uint32_t hash_long(int64_t v)
{
    char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)((uint64_t)v >> (8 * i));
    return murmur3_32(str_n(bytes, 8));
}

/* Smallest big-endian two's complement that holds v. */
static uint32_t hash_decimal(__int128 v)
{
    char bytes[16];
    size_t from = 0;

    for (int i = 0; i < 16; i++)
        bytes[i] = (char)(v >> (120 - 8 * i));
    while (from < 15 && ((bytes[from] == 0 && !(bytes[from + 1] & 0x80)) || (bytes[from] == -1 && (bytes[from + 1] & 0x80))))
        from++;
    return murmur3_32(str_n(bytes + from, 16 - from));
}

static uint32_t hash_uuid(duckdb_hugeint h)
{
    uint64_t parts[2] = { (uint64_t)h.upper ^ (UINT64_C(1) << 63), h.lower };
    char bytes[16];

    for (int i = 0; i < 16; i++)
        bytes[i] = (char)(parts[i / 8] >> (56 - 8 * (i % 8)));
    return murmur3_32(str_n(bytes, 16));
}

static __int128 unscaled(duckdb_type internal, const void *data, size_t row)
{
    switch (internal) {
    case DUCKDB_TYPE_SMALLINT: return ((const int16_t *)data)[row];
    case DUCKDB_TYPE_INTEGER: return ((const int32_t *)data)[row];
    case DUCKDB_TYPE_BIGINT: return ((const int64_t *)data)[row];
    default: return scalar_hugeint(((const duckdb_hugeint *)data)[row]);
    }
}

static int64_t floor_micros(int64_t nanos) { return nanos / 1000 - (nanos % 1000 < 0); }

static uint32_t hash_cell(Hashed t, const void *data, size_t row)
{
    switch (t.id) {
    case DUCKDB_TYPE_TINYINT: return hash_long(((const int8_t *)data)[row]);
    case DUCKDB_TYPE_SMALLINT: return hash_long(((const int16_t *)data)[row]);
    case DUCKDB_TYPE_INTEGER: case DUCKDB_TYPE_DATE: return hash_long(((const int32_t *)data)[row]);   /* 8 bytes for dates too */
    case DUCKDB_TYPE_TIMESTAMP_NS: return hash_long(floor_micros(((const int64_t *)data)[row]));
    case DUCKDB_TYPE_DECIMAL: return hash_decimal(unscaled(t.internal, data, row));
    case DUCKDB_TYPE_UUID: return hash_uuid(((const duckdb_hugeint *)data)[row]);
    case DUCKDB_TYPE_VARCHAR: case DUCKDB_TYPE_BLOB: {
        duckdb_string_t *s = (duckdb_string_t *)(uintptr_t)data + row;
        return murmur3_32(str_n(duckdb_string_t_data(s), duckdb_string_t_length(*s)));
    }
    default: return hash_long(((const int64_t *)data)[row]);
    }
}

static Hashed hashed_type(duckdb_vector v)
{
    CLEANUP(duck_logical_type_done) duckdb_logical_type t = duckdb_vector_get_column_type(v);
    Hashed h = { .id = duckdb_get_type_id(t) };

    if (h.id == DUCKDB_TYPE_DECIMAL)
        h.internal = duckdb_decimal_internal_type(t);
    return h;
}

static void bucket(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    Hashed t = hashed_type(a.v[1]);
    int32_t *n = a.data[0], *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i) || !scalar_has(&a, 1, i) || t.id == DUCKDB_TYPE_SQLNULL) {
            scalar_null(out, i);
        } else if (n[i] <= 0) {
            duckdb_scalar_function_set_error(info, "the number of buckets must be positive");
            return;
        } else {
            to[i] = (int32_t)((hash_cell(t, a.data[1], i) & 0x7fffffff) % (uint32_t)n[i]);
        }
    }
}

static void bucket_bind(duckdb_bind_info info)
{
    static const duckdb_type known[] = {
        DUCKDB_TYPE_TINYINT, DUCKDB_TYPE_SMALLINT, DUCKDB_TYPE_INTEGER, DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_DECIMAL,
        DUCKDB_TYPE_DATE, DUCKDB_TYPE_TIME, DUCKDB_TYPE_TIMESTAMP, DUCKDB_TYPE_TIMESTAMP_TZ, DUCKDB_TYPE_TIMESTAMP_NS,
        DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_BLOB, DUCKDB_TYPE_UUID, DUCKDB_TYPE_SQLNULL,
    };
    duckdb_expression e = duckdb_scalar_function_bind_get_argument(info, 1);
    CLEANUP(duck_logical_type_done) duckdb_logical_type t = duckdb_expression_return_type(e);
    duckdb_type id = duckdb_get_type_id(t);

    duckdb_destroy_expression(&e);
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (known[i] == id)
            return;
    duckdb_scalar_function_bind_set_error(info, "bucket is not defined for this type");
}

/* ---- truncate --------------------------------------------------------------------------------------------- */

/* v - (((v % w) + w) % w), with the smallest values wrapped as two's complement does. */
static int64_t floor_to(int64_t v, int64_t w) { return (int64_t)((uint64_t)v - (uint64_t)(((v % w) + w) % w)); }

static size_t code_points(Str s, size_t n)
{
    size_t i = 0;
    while (i < s.n) {
        if (((unsigned char)s.p[i] & 0xC0) != 0x80 && n-- == 0)
            break;
        i++;
    }
    return i;
}

static void truncate_string(duckdb_vector out, const ScalarArgs *a, size_t row, size_t width, int is_blob)
{
    Str v = scalar_text(a, 1, row);

    duckdb_vector_assign_string_element_len(out, row, v.p, is_blob ? min_size(v.n, width) : code_points(v, width));
}

static void truncate_cells(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    duckdb_type id = hashed_type(a.v[1]).id;
    int32_t *w = a.data[0];
    void *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i) || !scalar_has(&a, 1, i)) {
            scalar_null(out, i);
        } else if (w[i] <= 0) {
            duckdb_scalar_function_set_error(info, "the truncation width must be positive");
            return;
        } else if (id == DUCKDB_TYPE_INTEGER) {
            ((int32_t *)to)[i] = (int32_t)floor_to(((int32_t *)a.data[1])[i], w[i]);
        } else if (id == DUCKDB_TYPE_BIGINT) {
            ((int64_t *)to)[i] = floor_to(((int64_t *)a.data[1])[i], w[i]);
        } else {
            truncate_string(out, &a, i, (size_t)w[i], id == DUCKDB_TYPE_BLOB);
        }
    }
}

/* ---- narrowing -------------------------------------------------------------------------------------------- */

static void narrow(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out, __int128 low, __int128 high)
{
    ScalarArgs a = scalar_args(in);
    void *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        __int128 v = scalar_hugeint(((duckdb_hugeint *)a.data[0])[i]);
        if (v < low || v > high) {
            duckdb_scalar_function_set_error(info, high == INT32_MAX
                ? "[ARITHMETIC_OVERFLOW] integer overflow. Use 'try_sum' to tolerate overflow and return NULL instead. SQLSTATE: 22003"
                : "[ARITHMETIC_OVERFLOW] long overflow. Use 'try_sum' to tolerate overflow and return NULL instead. SQLSTATE: 22003");
            return;
        }
        if (high == INT32_MAX)
            ((int32_t *)to)[i] = (int32_t)v;
        else
            ((int64_t *)to)[i] = (int64_t)v;
    }
}

static void to_long(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { narrow(info, in, out, INT64_MIN, INT64_MAX); }
static void to_int(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { narrow(info, in, out, INT32_MIN, INT32_MAX); }

/* ---- registration ----------------------------------------------------------------------------------------- */

#define INT DUCKDB_TYPE_INTEGER

Status duck_functions_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec buckets[] = {
        { .name = "firn_bucket", .nargs = 2, .args = { INT, DUCKDB_TYPE_ANY }, .result = INT, .run = bucket, .bind = bucket_bind },
    };
    static const ScalarSpec truncates[] = {
        { .name = "firn_truncate", .nargs = 2, .args = { INT, INT }, .result = INT, .run = truncate_cells },
        { .name = "firn_truncate", .nargs = 2, .args = { INT, DUCKDB_TYPE_BIGINT }, .result = DUCKDB_TYPE_BIGINT, .run = truncate_cells },
        { .name = "firn_truncate", .nargs = 2, .args = { INT, DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_VARCHAR, .run = truncate_cells },
        { .name = "firn_truncate", .nargs = 2, .args = { INT, DUCKDB_TYPE_BLOB }, .result = DUCKDB_TYPE_BLOB, .run = truncate_cells },
    };
    static const ScalarSpec longs[] = { { .name = "firn_long", .nargs = 1, .args = { DUCKDB_TYPE_HUGEINT }, .result = DUCKDB_TYPE_BIGINT, .run = to_long } };
    static const ScalarSpec ints[] = { { .name = "firn_int", .nargs = 1, .args = { DUCKDB_TYPE_HUGEINT }, .result = INT, .run = to_int } };

    TRY(scalar_register(con, buckets, COUNT_OF(buckets), err));
    TRY(scalar_register(con, truncates, COUNT_OF(truncates), err));
    TRY(scalar_register(con, longs, COUNT_OF(longs), err));
    TRY(scalar_register(con, ints, COUNT_OF(ints), err));
    TRY(duck_decimal_register(con, err));
    TRY(duck_real_register(con, err));
    TRY(duck_error_register(con, err));
    TRY(duck_math_register(con, err));
    TRY(duck_jsonb_register(con, err));
    TRY(duck_bytea_register(con, err));
    TRY(duck_json_register(con, err));
    TRY(duck_hmac_register(con, err));
    TRY(duck_interval_register(con, err));
    TRY(duck_time_char_register(con, err));
    TRY(duck_text_parts_register(con, err));
    TRY(duck_nested_text_register(con, err));
    TRY(duck_range_register(con, err));
    TRY(duck_partition_hash_register(con, err));
    return duck_strict_register(con, err);
}

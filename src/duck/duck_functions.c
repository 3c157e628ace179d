/* SPDX-License-Identifier: Apache-2.0 */
/* duck_functions.c - scalar functions of ours that generated SQL may call.
 *
 *   firn_bucket(n INTEGER, v)   Iceberg's bucket transform: (murmur3(v) & 0x7fffffff) % n; INTEGER
 *   firn_truncate(w INTEGER, v) Iceberg's truncate transform for INTEGER, BIGINT, VARCHAR (code points), BLOB (bytes);
 *                               a DECIMAL is truncated by arithmetic in the generated text
 *   firn_long(v HUGEINT)        v as BIGINT, firn_int(v HUGEINT) as INTEGER: overflow raises [ARITHMETIC_OVERFLOW] 22003
 * Null in, null out.  Iceberg spec, Appendix B (hashes) and "Partition Transforms". */
#include "duck/duck_int.h"

#include "codec/codec.h"

#include <stdio.h>

typedef struct Args { size_t n; duckdb_vector v[2]; uint64_t *valid[2]; void *data[2]; } Args;

static void function_done(duckdb_scalar_function *f) { duckdb_destroy_scalar_function(f); }
static void set_done(duckdb_scalar_function_set *s) { duckdb_destroy_scalar_function_set(s); }

static Args args_of(duckdb_data_chunk in)
{
    Args a = { .n = duckdb_data_chunk_get_size(in) };

    for (size_t i = 0; i < duckdb_data_chunk_get_column_count(in) && i < 2; i++) {
        a.v[i] = duckdb_data_chunk_get_vector(in, i);
        a.valid[i] = duckdb_vector_get_validity(a.v[i]);
        a.data[i] = duckdb_vector_get_data(a.v[i]);
    }
    return a;
}

static bool has(const Args *a, int col, size_t row)
{
    return !a->valid[col] || (a->valid[col][row / 64] >> (row % 64) & 1);
}

static void put_null(duckdb_vector out, size_t row)
{
    duckdb_vector_ensure_validity_writable(out);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(out), row);
}

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

static __int128 hugeint(duckdb_hugeint h) { return (__int128)(((unsigned __int128)(uint64_t)h.upper << 64) | h.lower); }

static __int128 unscaled(duckdb_type internal, const void *data, size_t row)
{
    switch (internal) {
    case DUCKDB_TYPE_SMALLINT: return ((const int16_t *)data)[row];
    case DUCKDB_TYPE_INTEGER: return ((const int32_t *)data)[row];
    case DUCKDB_TYPE_BIGINT: return ((const int64_t *)data)[row];
    default: return hugeint(((const duckdb_hugeint *)data)[row]);
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
    Args a = args_of(in);
    Hashed t = hashed_type(a.v[1]);
    int32_t *n = a.data[0], *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        if (!has(&a, 0, i) || !has(&a, 1, i) || t.id == DUCKDB_TYPE_SQLNULL) {
            put_null(out, i);
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

static void truncate_string(duckdb_vector out, const Args *a, size_t row, size_t width, int is_blob)
{
    duckdb_string_t *s = (duckdb_string_t *)a->data[1] + row;
    Str v = str_n(duckdb_string_t_data(s), duckdb_string_t_length(*s));

    duckdb_vector_assign_string_element_len(out, row, v.p, is_blob ? min_size(v.n, width) : code_points(v, width));
}

static void truncate_cells(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    Args a = args_of(in);
    duckdb_type id = hashed_type(a.v[1]).id;
    int32_t *w = a.data[0];
    void *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        if (!has(&a, 0, i) || !has(&a, 1, i)) {
            put_null(out, i);
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
    Args a = args_of(in);
    void *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        if (!has(&a, 0, i)) {
            put_null(out, i);
            continue;
        }
        __int128 v = hugeint(((duckdb_hugeint *)a.data[0])[i]);
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

typedef struct Spec {
    const char *name;
    duckdb_type args[2], result;                  /* args[1] INVALID: one argument */
    duckdb_scalar_function_t run;
    duckdb_scalar_function_bind_t bind;
} Spec;

static void add_parameter(duckdb_scalar_function f, duckdb_type id)
{
    CLEANUP(duck_logical_type_done) duckdb_logical_type t = duckdb_create_logical_type(id);
    duckdb_scalar_function_add_parameter(f, t);
}

static Status add_spec(duckdb_scalar_function_set set, const Spec *s, Error *err)
{
    CLEANUP(function_done) duckdb_scalar_function f = duckdb_create_scalar_function();
    CLEANUP(duck_logical_type_done) duckdb_logical_type result = duckdb_create_logical_type(s->result);

    duckdb_scalar_function_set_name(f, s->name);
    for (int i = 0; i < 2 && s->args[i] != DUCKDB_TYPE_INVALID; i++)
        add_parameter(f, s->args[i]);
    duckdb_scalar_function_set_return_type(f, result);
    duckdb_scalar_function_set_function(f, s->run);
    duckdb_scalar_function_set_special_handling(f);           /* NULLs come to us: see has() */
    if (s->bind)
        duckdb_scalar_function_set_bind(f, s->bind);
    if (duckdb_add_scalar_function_to_set(set, f) != DuckDBSuccess)
        return FAIL(err, E_INTERNAL, "cannot add function '%s'", s->name);
    return OK;
}

static Status add_set(duckdb_connection con, const Spec *specs, size_t n, Error *err)
{
    CLEANUP(set_done) duckdb_scalar_function_set set = duckdb_create_scalar_function_set(specs[0].name);

    for (size_t i = 0; i < n; i++)
        TRY(add_spec(set, &specs[i], err));
    if (duckdb_register_scalar_function_set(con, set) != DuckDBSuccess)
        return FAIL(err, E_INTERNAL, "cannot register function '%s'", specs[0].name);
    return OK;
}

Status duck_functions_register(duckdb_connection con, Error *err)
{
    static const Spec buckets[] = { { "firn_bucket", { DUCKDB_TYPE_INTEGER, DUCKDB_TYPE_ANY }, DUCKDB_TYPE_INTEGER, bucket, bucket_bind } };
    static const Spec truncates[] = {
        { "firn_truncate", { DUCKDB_TYPE_INTEGER, DUCKDB_TYPE_INTEGER }, DUCKDB_TYPE_INTEGER, truncate_cells, NULL },
        { "firn_truncate", { DUCKDB_TYPE_INTEGER, DUCKDB_TYPE_BIGINT }, DUCKDB_TYPE_BIGINT, truncate_cells, NULL },
        { "firn_truncate", { DUCKDB_TYPE_INTEGER, DUCKDB_TYPE_VARCHAR }, DUCKDB_TYPE_VARCHAR, truncate_cells, NULL },
        { "firn_truncate", { DUCKDB_TYPE_INTEGER, DUCKDB_TYPE_BLOB }, DUCKDB_TYPE_BLOB, truncate_cells, NULL },
    };
    static const Spec longs[] = { { "firn_long", { DUCKDB_TYPE_HUGEINT, DUCKDB_TYPE_INVALID }, DUCKDB_TYPE_BIGINT, to_long, NULL } };
    static const Spec ints[] = { { "firn_int", { DUCKDB_TYPE_HUGEINT, DUCKDB_TYPE_INVALID }, DUCKDB_TYPE_INTEGER, to_int, NULL } };

    TRY(add_set(con, buckets, COUNT_OF(buckets), err));
    TRY(add_set(con, truncates, COUNT_OF(truncates), err));
    TRY(add_set(con, longs, COUNT_OF(longs), err));
    return add_set(con, ints, COUNT_OF(ints), err);
}

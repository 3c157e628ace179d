/* SPDX-License-Identifier: Apache-2.0 */
/* duck_scalar.h - how our scalar functions read their arguments and are registered; private to the duck room. */
#ifndef FIRN_DUCK_SCALAR_H
#define FIRN_DUCK_SCALAR_H

#include "duck/duck_int.h"

typedef struct ScalarArgs { size_t n; duckdb_vector v[2]; uint64_t *valid[2]; void *data[2]; } ScalarArgs;
ScalarArgs scalar_args(duckdb_data_chunk in);
bool scalar_has(const ScalarArgs *a, int col, size_t row);
void scalar_null(duckdb_vector out, size_t row);
__int128 scalar_hugeint(duckdb_hugeint h);
Str scalar_text(const ScalarArgs *a, int col, size_t row);     /* VARCHAR or BLOB; lives as long as the chunk */
void scalar_set_text(duckdb_vector out, size_t row, Str s);
Str scalar_shown(Str text);                                    /* as much of it as a message shows, whole characters */

/* One overload. DECIMAL in args is DECIMAL(38, arg_scale), as result DECIMAL(result_width or 38, result_scale). NULLs come to `run`. */
typedef struct ScalarSpec {
    const char *name;
    int nargs;
    duckdb_type args[2], result;
    int arg_scale, result_scale, result_width;
    duckdb_scalar_function_t run;
    duckdb_scalar_function_bind_t bind;
    void *extra;                                  /* a number, not owned */
} ScalarSpec;
/* Registers n overloads of one name. */
NODISCARD Status scalar_register(duckdb_connection con, const ScalarSpec *specs, size_t n, Error *err);
/* Registers n functions of one overload each. */
NODISCARD Status scalar_register_each(duckdb_connection con, const ScalarSpec *specs, size_t n, Error *err);

NODISCARD Status duck_decimal_register(duckdb_connection con, Error *err);
NODISCARD Status duck_real_register(duckdb_connection con, Error *err);
NODISCARD Status duck_strict_register(duckdb_connection con, Error *err);
NODISCARD Status duck_error_register(duckdb_connection con, Error *err);
NODISCARD Status duck_math_register(duckdb_connection con, Error *err);
NODISCARD Status duck_jsonb_register(duckdb_connection con, Error *err);
NODISCARD Status duck_bytea_register(duckdb_connection con, Error *err);
NODISCARD Status duck_json_register(duckdb_connection con, Error *err);
NODISCARD Status duck_partition_hash_register(duckdb_connection con, Error *err);
NODISCARD Status duck_text_parts_register(duckdb_connection con, Error *err);
NODISCARD Status duck_time_char_register(duckdb_connection con, Error *err);
NODISCARD Status duck_interval_register(duckdb_connection con, Error *err);
NODISCARD Status duck_hmac_register(duckdb_connection con, Error *err);
NODISCARD Status duck_range_register(duckdb_connection con, Error *err);
NODISCARD Status duck_nested_text_register(duckdb_connection con, Error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* duck_scalar.c - arguments and registration of our scalar functions. */
#include "duck/duck_scalar.h"

static void function_done(duckdb_scalar_function *f) { duckdb_destroy_scalar_function(f); }
static void set_done(duckdb_scalar_function_set *s) { duckdb_destroy_scalar_function_set(s); }

ScalarArgs scalar_args(duckdb_data_chunk in)
{
    ScalarArgs a = { .n = duckdb_data_chunk_get_size(in) };

    for (size_t i = 0; i < duckdb_data_chunk_get_column_count(in) && i < COUNT_OF(a.v); i++) {
        a.v[i] = duckdb_data_chunk_get_vector(in, i);
        a.valid[i] = duckdb_vector_get_validity(a.v[i]);
        a.data[i] = duckdb_vector_get_data(a.v[i]);
    }
    return a;
}

bool scalar_has(const ScalarArgs *a, int col, size_t row)
{
    return !a->valid[col] || (a->valid[col][row / 64] >> (row % 64) & 1);
}

void scalar_null(duckdb_vector out, size_t row)
{
    duckdb_vector_ensure_validity_writable(out);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(out), row);
}

Str scalar_text(const ScalarArgs *a, int col, size_t row)
{
    duckdb_string_t *s = (duckdb_string_t *)a->data[col] + row;
    return str_n(duckdb_string_t_data(s), duckdb_string_t_length(*s));
}

void scalar_set_text(duckdb_vector out, size_t row, Str s) { duckdb_vector_assign_string_element_len(out, row, s.p ? s.p : "", s.n); }

enum { SHOWN_BYTES = 200 };

Str scalar_shown(Str text)
{
    size_t n = min_size(text.n, SHOWN_BYTES);

    while (n < text.n && n && ((unsigned char)text.p[n] & 0xC0) == 0x80)
        n--;
    return str_sub(text, 0, n);
}

__int128 scalar_hugeint(duckdb_hugeint h) { return (__int128)(((unsigned __int128)(uint64_t)h.upper << 64) | h.lower); }

static duckdb_logical_type type_of(duckdb_type id, int width, int scale)
{
    return id == DUCKDB_TYPE_DECIMAL ? duckdb_create_decimal_type((uint8_t)width, (uint8_t)scale) : duckdb_create_logical_type(id);
}

static Status add_overload(duckdb_scalar_function_set set, const ScalarSpec *s, Error *err)
{
    CLEANUP(function_done) duckdb_scalar_function f = duckdb_create_scalar_function();
    CLEANUP(duck_logical_type_done) duckdb_logical_type result = type_of(s->result, s->result_width ? s->result_width : 38, s->result_scale);

    duckdb_scalar_function_set_name(f, s->name);
    for (int i = 0; i < s->nargs; i++) {
        CLEANUP(duck_logical_type_done) duckdb_logical_type t = type_of(s->args[i], 38, s->arg_scale);
        duckdb_scalar_function_add_parameter(f, t);
    }
    duckdb_scalar_function_set_return_type(f, result);
    duckdb_scalar_function_set_function(f, s->run);
    duckdb_scalar_function_set_special_handling(f);           /* NULLs come to us: see scalar_has */
    if (s->extra)
        duckdb_scalar_function_set_extra_info(f, s->extra, NULL);
    if (s->bind)
        duckdb_scalar_function_set_bind(f, s->bind);
    if (duckdb_add_scalar_function_to_set(set, f) != DuckDBSuccess)
        return FAIL(err, E_INTERNAL, "cannot add function '%s'", s->name);
    return OK;
}

Status scalar_register(duckdb_connection con, const ScalarSpec *specs, size_t n, Error *err)
{
    CLEANUP(set_done) duckdb_scalar_function_set set = duckdb_create_scalar_function_set(specs[0].name);

    for (size_t i = 0; i < n; i++)
        TRY(add_overload(set, &specs[i], err));
    if (duckdb_register_scalar_function_set(con, set) != DuckDBSuccess)
        return FAIL(err, E_INTERNAL, "cannot register function '%s'", specs[0].name);
    return OK;
}

Status scalar_register_each(duckdb_connection con, const ScalarSpec *specs, size_t n, Error *err)
{
    for (size_t i = 0; i < n; i++)
        TRY(scalar_register(con, &specs[i], 1, err));
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* duck_error.c - firn_error(text VARCHAR) raises the text, with its "SQLSTATE: xxxxx" as every error of ours; NULL gives NULL.
 *
 * The engine's own error() counts as volatile: it keeps a statement from being optimised and may not stand in TRY(). */
#include "duck/duck_scalar.h"

#include <stdio.h>

static void raise_text(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    char text[1000];

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        duckdb_string_t *s = (duckdb_string_t *)a.data[0] + i;
        snprintf(text, sizeof text, "%.*s", (int)duckdb_string_t_length(*s), duckdb_string_t_data(s));
        duckdb_scalar_function_set_error(info, text);
        return;
    }
}

Status duck_error_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec specs[] = { { .name = "firn_error", .nargs = 1, .args = { DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_VARCHAR, .run = raise_text } };
    return scalar_register(con, specs, COUNT_OF(specs), err);
}

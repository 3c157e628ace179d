/* SPDX-License-Identifier: Apache-2.0 */
/* duck_time_char.c - firn_to_char(t TIMESTAMP or TIMESTAMPTZ, pattern VARCHAR): a point in time by a pattern of PostgreSQL's to_char (codec, time_char.c).
 *
 * Null in, null out; infinite times and an empty pattern give null, as there. */
#include "duck/duck_scalar.h"

#include "codec/codec.h"

enum { PATTERN_MAX = 65536 };                      /* what comes out is not much longer than 9 times that */

static void run_to_char(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    const char *zone = duckdb_scalar_function_get_extra_info(info) ? "UTC" : "";
    ScalarArgs args = scalar_args(in);
    const int64_t *t = args.data[0];

    for (size_t i = 0; i < args.n; i++) {
        bool known = scalar_has(&args, 0, i) && scalar_has(&args, 1, i) && t[i] != INT64_MAX && t[i] != -INT64_MAX;
        Str pattern = known ? scalar_text(&args, 1, i) : (Str){0};
        if (pattern.n > PATTERN_MAX) {
            duckdb_scalar_function_set_error(info, "the pattern of to_char is too long SQLSTATE: 54000");
            return;
        }
        if (pattern.n)
            scalar_set_text(out, i, time_char(a, t[i], zone, pattern));
        else
            scalar_null(out, i);
    }
}

Status duck_time_char_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec specs[] = {
        { .name = "firn_to_char", .nargs = 2, .args = { DUCKDB_TYPE_TIMESTAMP, DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_VARCHAR, .run = run_to_char },
        { .name = "firn_to_char", .nargs = 2, .args = { DUCKDB_TYPE_TIMESTAMP_TZ, DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_VARCHAR, .run = run_to_char, .extra = (void *)1 },
    };

    return scalar_register(con, specs, COUNT_OF(specs), err);
}

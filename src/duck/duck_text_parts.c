/* SPDX-License-Identifier: Apache-2.0 */
/* duck_text_parts.c - texts taken apart, as JSON text, which the generated SQL casts to lists: a function of ours gives no lists.
 *
 *   firn_parse_ident(name VARCHAR, strict BOOLEAN)   ["schema","table"]: the parts of a qualified name as PostgreSQL's parse_ident has them;
 *                                                    22023 when it is none
 *   firn_csv_records(text VARCHAR, n INTEGER)        [["a","b"],…]: the records of n fields of a CSV text, when its first record has as many
 * Null in, null out; the work is codec's (text_parts.c). */
#include "duck/duck_scalar.h"

#include "codec/codec.h"

static void run_ident(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    ScalarArgs args = scalar_args(in);
    const bool *strict = args.data[1];

    for (size_t i = 0; i < args.n; i++) {
        if (!scalar_has(&args, 0, i) || !scalar_has(&args, 1, i)) {
            scalar_null(out, i);
            continue;
        }
        Json *parts;
        if (!ident_parts(a, scalar_text(&args, 0, i), strict[i] ? IDENT_ALONE : IDENT_THEN_ANYTHING, &parts)) {
            Str shown = scalar_shown(scalar_text(&args, 0, i));
            duckdb_scalar_function_set_error(info, str_fmt(a, "string is not a valid identifier: \"" STR_FMT "\" SQLSTATE: 22023", STR_ARG(shown)).p);
            return;
        }
        scalar_set_text(out, i, json_text(a, parts));
    }
}

static void run_csv(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs args = scalar_args(in);
    const int32_t *n = args.data[1];

    for (size_t i = 0; i < args.n; i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();      /* one text may be large */
        if (scalar_has(&args, 0, i) && scalar_has(&args, 1, i) && n[i] > 0)
            scalar_set_text(out, i, json_text(a, csv_records(a, scalar_text(&args, 0, i), (size_t)n[i])));
        else
            scalar_null(out, i);
    }
}

#define V DUCKDB_TYPE_VARCHAR

Status duck_text_parts_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec ident = { .name = "firn_parse_ident", .nargs = 2, .args = { V, DUCKDB_TYPE_BOOLEAN }, .result = V, .run = run_ident };
    static const ScalarSpec csv = { .name = "firn_csv_records", .nargs = 2, .args = { V, DUCKDB_TYPE_INTEGER }, .result = V, .run = run_csv };

    TRY(scalar_register(con, &ident, 1, err));
    return scalar_register(con, &csv, 1, err);
}

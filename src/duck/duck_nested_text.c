/* SPDX-License-Identifier: Apache-2.0 */
/* duck_nested_text.c - the texts of arrays, lists, maps and records, taken apart as JSON text, which the generated SQL casts to lists of texts and those in turn to
 * what their types are (sql/bind_nested.c).
 *
 *   firn_array_items(text, type)    ["a",null,"{b}"]: type is a word for messages, "array" or "list"; 22P02 when it is malformed
 *   firn_record_fields(text, type)  ["1",null]: type is how many fields there have to be
 *   firn_map_keys(text), firn_map_values(text)    of equal length, sorted by key; of one key the last pair
 *   firn_array_quote(part), firn_record_quote(part), firn_map_quote(part)    the part as it stands in such a text
 * Null in, null out; the work is codec's (nested_text.c). */
#include "duck/duck_scalar.h"

#include "codec/codec.h"

#include <stdlib.h>

static void fail_text(Arena *a, duckdb_function_info info, Str what, Str text, const char *detail)
{
    Str shown = scalar_shown(text), why = str_fmt(a, "malformed " STR_FMT " literal: \"" STR_FMT "\"%s SQLSTATE: 22P02", STR_ARG(what), STR_ARG(shown), detail);
    duckdb_scalar_function_set_error(info, why.p);
}

/* What takes one text apart: NULL, or the error is set. */
typedef Json *(*Apart)(Arena *a, duckdb_function_info info, Str text, Str type);

static void apart_cells(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out, Apart apart)
{
    ScalarArgs args = scalar_args(in);
    bool typed = duckdb_data_chunk_get_column_count(in) > 1;

    for (size_t i = 0; i < args.n; i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        if (!scalar_has(&args, 0, i) || (typed && !scalar_has(&args, 1, i))) {
            scalar_null(out, i);
            continue;
        }
        const Json *parts = apart(a, info, scalar_text(&args, 0, i), typed ? scalar_text(&args, 1, i) : (Str){0});
        if (!parts)
            return;
        scalar_set_text(out, i, json_text(a, parts));
    }
}

static Json *items(Arena *a, duckdb_function_info info, Str text, Str type)
{
    Json *r;

    if (array_items(a, text, &r))
        return r;
    fail_text(a, info, type, text, "");
    return NULL;
}

static Json *fields(Arena *a, duckdb_function_info info, Str text, Str type)
{
    int64_t n = 0;
    Json *r;

    if (!record_fields(a, text, &r)) {
        fail_text(a, info, S("record"), text, "");
        return NULL;
    }
    if (!str_to_i64(type, &n) || (int64_t)json_len(r) == n)
        return r;
    fail_text(a, info, S("record"), text, (int64_t)json_len(r) < n ? ": Too few columns." : ": Too many columns.");
    return NULL;
}

typedef struct Entry { Str key; size_t at; Json *value; } Entry;

static int by_key(const void *x, const void *y)
{
    const Entry *a = x, *b = y;
    int c = str_cmp(a->key, b->key);
    return c ? c : (a->at > b->at) - (a->at < b->at);
}

static Json *map_part(Arena *a, duckdb_function_info info, Str text, bool wants_values)
{
    Json *keys, *values, *r = json_array(a);

    if (!map_items(a, text, &keys, &values)) {
        fail_text(a, info, S("map"), text, "");
        return NULL;
    }
    size_t n = json_len(keys);
    Entry *e = arena_array(a, Entry, n + 1);
    for (size_t i = 0; i < n; i++)
        e[i] = (Entry){ json_at(keys, i)->string, i, json_at(values, i) };
    qsort(e, n, sizeof *e, by_key);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || !str_eq(e[i].key, e[i + 1].key))
            json_push(a, r, wants_values ? e[i].value : json_str(a, e[i].key));
    return r;
}

static Json *map_keys(Arena *a, duckdb_function_info info, Str text, Str type UNUSED) { return map_part(a, info, text, false); }
static Json *map_values(Arena *a, duckdb_function_info info, Str text, Str type UNUSED) { return map_part(a, info, text, true); }

static void run_items(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { apart_cells(info, in, out, items); }
static void run_fields(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { apart_cells(info, in, out, fields); }
static void run_keys(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { apart_cells(info, in, out, map_keys); }
static void run_values(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { apart_cells(info, in, out, map_values); }

static void quote_cells(duckdb_data_chunk in, duckdb_vector out, NestedText how)
{
    ScalarArgs args = scalar_args(in);

    for (size_t i = 0; i < args.n; i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        StrBuf b = sb_new(a);
        if (!scalar_has(&args, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        nested_quote(&b, how, scalar_text(&args, 0, i));
        scalar_set_text(out, i, sb_str(&b));
    }
}

static void run_array_quote(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out) { quote_cells(in, out, NESTED_ARRAY); }
static void run_record_quote(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out) { quote_cells(in, out, NESTED_RECORD); }
static void run_map_quote(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out) { quote_cells(in, out, NESTED_MAP); }

#define V DUCKDB_TYPE_VARCHAR

Status duck_nested_text_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec specs[] = {
        { .name = "firn_array_items", .nargs = 2, .args = { V, V }, .result = V, .run = run_items }, { .name = "firn_record_fields", .nargs = 2, .args = { V, V }, .result = V, .run = run_fields },
        { .name = "firn_map_keys", .nargs = 1, .args = { V }, .result = V, .run = run_keys }, { .name = "firn_map_values", .nargs = 1, .args = { V }, .result = V, .run = run_values },
        { .name = "firn_array_quote", .nargs = 1, .args = { V }, .result = V, .run = run_array_quote }, { .name = "firn_record_quote", .nargs = 1, .args = { V }, .result = V, .run = run_record_quote },
        { .name = "firn_map_quote", .nargs = 1, .args = { V }, .result = V, .run = run_map_quote },
    };

    return scalar_register_each(con, specs, COUNT_OF(specs), err);
}

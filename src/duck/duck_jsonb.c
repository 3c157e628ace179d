/* SPDX-License-Identifier: Apache-2.0 */
/* duck_jsonb.c - PostgreSQL's jsonb over the engine's texts: firn_jsonb(text), the one text of a value (22P02: it is none); firn_jsonb_made(text), the same of
 * what the engine wrote, where NaN and Infinity become strings; firn_jsonb_contains(whole, part), firn_jsonb_has_key(json, key), firn_jsonb_concat(x, y),
 * firn_jsonb_without_key(json, key), firn_jsonb_without_item(json, place), firn_jsonb_member(json, key) and _text, firn_jsonb_path(json, path) and _text,
 * the path as a JSON array of strings.
 *
 * Null in, null out; the work is codec's (jsonb.c). */
#include "duck/duck_scalar.h"

#include "codec/codec.h"

typedef struct Row { duckdb_function_info info; Arena *a; Str left, right; int64_t number; Str text; bool truth, null; } Row;
/* false: the error is set. */
typedef bool (*Operator)(Row *r);

static bool fail(Row *r, const char *why)
{
    duckdb_scalar_function_set_error(r->info, why);
    return false;
}

static bool malformed(Row *r)
{
    Str shown = scalar_shown(r->left);
    return fail(r, str_fmt(r->a, "invalid input syntax for type jsonb: \"" STR_FMT "\" SQLSTATE: 22P02", STR_ARG(shown)).p);
}

/* Materialize: from what has no such parts NULL is left; PostgreSQL raises. */
static bool deleted(Row *r, JsonbDelete d)
{
    r->null = d == JSONB_FROM_SCALAR || d == JSONB_FROM_OBJECT;
    return d == JSONB_DONE || r->null || malformed(r);
}

static bool op_text(Row *r) { return jsonb_text(r->a, r->left, JSONB_STRICT, &r->text) || malformed(r); }
static bool op_made(Row *r) { return jsonb_text(r->a, r->left, JSONB_LENIENT, &r->text) || malformed(r); }
static bool op_contains(Row *r) { return jsonb_contains(r->a, r->left, r->right, &r->truth) || malformed(r); }
static bool op_has_key(Row *r) { return jsonb_has_key(r->a, r->left, r->right, &r->truth) || malformed(r); }
static bool op_concat(Row *r) { return jsonb_concat(r->a, r->left, r->right, &r->text) || malformed(r); }
static bool op_without_key(Row *r) { return deleted(r, jsonb_without_key(r->a, r->left, r->right, &r->text)); }
static bool op_without_item(Row *r) { return deleted(r, jsonb_without_item(r->a, r->left, r->number, &r->text)); }

static bool op_member(Row *r)
{
    r->null = !jsonb_member(r->a, r->left, r->right, JSONB_AS_JSON, &r->text);
    return true;
}

static bool op_member_text(Row *r)
{
    r->null = !jsonb_member(r->a, r->left, r->right, JSONB_AS_TEXT, &r->text);
    return true;
}

static bool op_path(Row *r)
{
    r->null = !jsonb_path(r->a, r->left, r->right, JSONB_AS_JSON, &r->text);
    return true;
}

static bool op_path_text(Row *r)
{
    r->null = !jsonb_path(r->a, r->left, r->right, JSONB_AS_TEXT, &r->text);
    return true;
}

/* What an operator takes beside the JSON text, and what it gives. */
typedef enum { TAKES_NOTHING, TAKES_TEXT, TAKES_NUMBER } Takes;
typedef enum { GIVES_TEXT, GIVES_TRUTH } Gives;

static void run(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out, Operator op, Takes takes, Gives gives)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    ScalarArgs args = scalar_args(in);

    for (size_t i = 0; i < args.n; i++) {
        Row r = { .info = info, .a = a };
        r.null = !scalar_has(&args, 0, i) || (takes != TAKES_NOTHING && !scalar_has(&args, 1, i));
        if (!r.null) {
            r.left = scalar_text(&args, 0, i);
            if (takes == TAKES_TEXT)
                r.right = scalar_text(&args, 1, i);
            if (takes == TAKES_NUMBER)
                r.number = ((int64_t *)args.data[1])[i];
            if (!op(&r))
                return;
        }
        if (r.null)
            scalar_null(out, i);
        else if (gives == GIVES_TRUTH)
            ((bool *)duckdb_vector_get_data(out))[i] = r.truth;
        else
            duckdb_vector_assign_string_element_len(out, i, r.text.p, r.text.n);
    }
}

#define RUNNER(op, takes, gives) static void run_##op(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { run(info, in, out, op, takes, gives); }
RUNNER(op_text, TAKES_NOTHING, GIVES_TEXT)
RUNNER(op_made, TAKES_NOTHING, GIVES_TEXT)
RUNNER(op_contains, TAKES_TEXT, GIVES_TRUTH)
RUNNER(op_has_key, TAKES_TEXT, GIVES_TRUTH)
RUNNER(op_concat, TAKES_TEXT, GIVES_TEXT)
RUNNER(op_without_key, TAKES_TEXT, GIVES_TEXT)
RUNNER(op_without_item, TAKES_NUMBER, GIVES_TEXT)
RUNNER(op_member, TAKES_TEXT, GIVES_TEXT)
RUNNER(op_member_text, TAKES_TEXT, GIVES_TEXT)
RUNNER(op_path, TAKES_TEXT, GIVES_TEXT)
RUNNER(op_path_text, TAKES_TEXT, GIVES_TEXT)

#define TEXT DUCKDB_TYPE_VARCHAR

Status duck_jsonb_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec functions[] = {
        { .name = "firn_jsonb", .nargs = 1, .args = { TEXT }, .result = TEXT, .run = run_op_text },
        { .name = "firn_jsonb_made", .nargs = 1, .args = { TEXT }, .result = TEXT, .run = run_op_made },
        { .name = "firn_jsonb_contains", .nargs = 2, .args = { TEXT, TEXT }, .result = DUCKDB_TYPE_BOOLEAN, .run = run_op_contains },
        { .name = "firn_jsonb_has_key", .nargs = 2, .args = { TEXT, TEXT }, .result = DUCKDB_TYPE_BOOLEAN, .run = run_op_has_key },
        { .name = "firn_jsonb_concat", .nargs = 2, .args = { TEXT, TEXT }, .result = TEXT, .run = run_op_concat },
        { .name = "firn_jsonb_without_key", .nargs = 2, .args = { TEXT, TEXT }, .result = TEXT, .run = run_op_without_key },
        { .name = "firn_jsonb_without_item", .nargs = 2, .args = { TEXT, DUCKDB_TYPE_BIGINT }, .result = TEXT, .run = run_op_without_item },
        { .name = "firn_jsonb_member", .nargs = 2, .args = { TEXT, TEXT }, .result = TEXT, .run = run_op_member },
        { .name = "firn_jsonb_member_text", .nargs = 2, .args = { TEXT, TEXT }, .result = TEXT, .run = run_op_member_text },
        { .name = "firn_jsonb_path", .nargs = 2, .args = { TEXT, TEXT }, .result = TEXT, .run = run_op_path },
        { .name = "firn_jsonb_path_text", .nargs = 2, .args = { TEXT, TEXT }, .result = TEXT, .run = run_op_path_text },
    };

    return scalar_register_each(con, functions, COUNT_OF(functions), err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* duck_text_parts.c - texts taken apart, as JSON text, which the generated SQL casts to lists: a function of ours gives no lists.
 *
 *   firn_parse_ident(name VARCHAR, strict BOOLEAN)   ["schema","table"]: the parts of a qualified name as PostgreSQL's parse_ident has them;
 *                                                    22023 when it is none
 *   firn_csv_records(text VARCHAR, n INTEGER)        [["a","b"],…]: the records of n fields of a CSV text, when its first record has as many
 * Null in, null out. */
#include "duck/duck_scalar.h"

#include "codec/codec.h"

#include <ctype.h>
#include <stdio.h>

enum { SHOWN_BYTES = 200 };

typedef struct Scan { const char *p, *end; } Scan;

static Str cell(const ScalarArgs *a, int col, size_t row)
{
    duckdb_string_t *s = (duckdb_string_t *)a->data[col] + row;
    return str_n(duckdb_string_t_data(s), duckdb_string_t_length(*s));
}

static int peek(const Scan *s) { return s->p < s->end ? (unsigned char)*s->p : -1; }

static bool take(Scan *s, char c)
{
    if (peek(s) != (unsigned char)c)
        return false;
    s->p++;
    return true;
}

/* From behind the first quote to behind the closing one; two are one.  false: it does not end. */
static bool quoted(Scan *s, StrBuf *out)
{
    for (; peek(s) >= 0; s->p++) {
        if (*s->p == '"' && (s->p + 1 == s->end || s->p[1] != '"')) {
            s->p++;
            return true;
        }
        s->p += *s->p == '"';
        sb_byte(out, *s->p);
    }
    return false;
}

static void set_json(Arena *a, duckdb_vector out, size_t row, const Json *v)
{
    Str s = json_text(a, v);
    duckdb_vector_assign_string_element_len(out, row, s.p, s.n);
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

static void blanks(Scan *s)
{
    while (peek(s) > 0 && strchr(" \t\n\r\f\v", peek(s)))
        s->p++;
}

static bool starts_name(int c) { return c >= 0x80 || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool in_name(int c) { return starts_name(c) || (c >= '0' && c <= '9') || c == '$'; }

static bool plain(Scan *s, StrBuf *out)
{
    if (!starts_name(peek(s)))
        return false;
    for (; in_name(peek(s)); s->p++)
        sb_byte(out, (char)(peek(s) < 0x80 ? tolower(peek(s)) : peek(s)));
    return true;
}

static bool parse_name(Arena *a, Str text, bool strict, Json *parts)
{
    Scan s = { text.p, text.p + text.n };

    do {
        StrBuf part = sb_new(a);
        blanks(&s);
        if (take(&s, '"') ? !quoted(&s, &part) || !part.n : !plain(&s, &part))
            return false;
        json_push(a, parts, json_str(a, sb_str(&part)));
        blanks(&s);
    } while (take(&s, '.'));
    return !strict || peek(&s) < 0;
}

static void fail_name(Arena *a, duckdb_function_info info, Str text)
{
    size_t n = min_size(text.n, SHOWN_BYTES);

    while (n < text.n && n && ((unsigned char)text.p[n] & 0xC0) == 0x80)
        n--;
    duckdb_scalar_function_set_error(info, str_fmt(a, "string is not a valid identifier: \"" STR_FMT "\" SQLSTATE: 22023", STR_ARG(str_sub(text, 0, n))).p);
}

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
        Json *parts = json_array(a);
        if (!parse_name(a, cell(&args, 0, i), strict[i], parts)) {
            fail_name(a, info, cell(&args, 0, i));
            return;
        }
        set_json(a, out, i, parts);
    }
}

/* ---- CSV ------------------------------------------------------------------------------------------------------ */

static bool ends_field(int c) { return c < 0 || c == ',' || c == '\n' || c == '\r'; }

/* A quote counts at the start of a field alone; what follows a closing one belongs to the field. */
static Str csv_field(Arena *a, Scan *s)
{
    StrBuf out = sb_new(a);

    if (take(s, '"'))
        (void)quoted(s, &out);                          /* the end of the text ends the field, too */
    for (; !ends_field(peek(s)); s->p++)
        sb_byte(&out, *s->p);
    return sb_str(&out);
}

/* NULL: there is none any more.  Empty lines are no records. */
static Json *csv_record(Arena *a, Scan *s)
{
    Json *fields = json_array(a);

    while (peek(s) == '\n' || peek(s) == '\r')
        s->p++;
    if (peek(s) < 0)
        return NULL;
    do
        json_push(a, fields, json_str(a, csv_field(a, s)));
    while (take(s, ','));
    return fields;
}

static Json *csv_records(Arena *a, Str text, size_t n)
{
    Scan s = { text.p, text.p + text.n };
    Json *all = json_array(a), *record = csv_record(a, &s);

    if (!record || json_len(record) != n)
        return all;                                     /* the first record says how long the others must be */
    for (; record; record = csv_record(a, &s))
        if (json_len(record) == n)
            json_push(a, all, record);
    return all;
}

static void run_csv(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs args = scalar_args(in);
    const int32_t *n = args.data[1];

    for (size_t i = 0; i < args.n; i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();      /* one text may be large */
        if (scalar_has(&args, 0, i) && scalar_has(&args, 1, i) && n[i] > 0)
            set_json(a, out, i, csv_records(a, cell(&args, 0, i), (size_t)n[i]));
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

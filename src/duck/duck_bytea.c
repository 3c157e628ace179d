/* SPDX-License-Identifier: Apache-2.0 */
/* duck_bytea.c - bytes as PostgreSQL writes and reads them: firn_bytea_in(text), \x01ab or the escape form; firn_bytea_escape(bytes), \000 and above 0x7e in octal,
 * a backslash doubled; firn_bytea_from_escape, _from_hex, _from_base64(text), the last two with blanks in between.
 *
 * Null in, null out; a text that is none: 22P02 or 22023. */
#include "duck/duck_scalar.h"

typedef struct Decoding { Arena *a; Str text; StrBuf out; Str error; } Decoding;
typedef bool (*Decode)(Decoding *d);

static bool fail(Decoding *d, const char *text)
{
    d->error = str_c(text);
    return false;
}

static bool bad_symbol(Decoding *d, const char *fmt, unsigned char c)
{
    Str shown = c >= ' ' && c < 0x7f ? str_fmt(d->a, "%c", c) : str_fmt(d->a, "\\x%02x", c);

    d->error = str_fmt(d->a, fmt, STR_ARG(shown));
    return false;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1; }

/* Pairs of digits; blanks may stand between pairs. */
static bool from_hex(Decoding *d)
{
    for (size_t i = 0; i < d->text.n; i++) {
        if (is_blank(d->text.p[i]))
            continue;
        int high = hex_digit(d->text.p[i]);
        if (high < 0)
            return bad_symbol(d, "invalid hexadecimal digit: \"" STR_FMT "\" SQLSTATE: 22023", (unsigned char)d->text.p[i]);
        if (++i == d->text.n)
            return fail(d, "invalid hexadecimal data: odd number of digits SQLSTATE: 22023");
        int low = hex_digit(d->text.p[i]);
        if (low < 0)
            return bad_symbol(d, "invalid hexadecimal digit: \"" STR_FMT "\" SQLSTATE: 22023", (unsigned char)d->text.p[i]);
        sb_byte(&d->out, (char)(high * 16 + low));
    }
    return true;
}

static int octal(Str s)
{
    if (s.n < 3 || s.p[0] < '0' || s.p[0] > '3' || s.p[1] < '0' || s.p[1] > '7' || s.p[2] < '0' || s.p[2] > '7')
        return -1;
    return (s.p[0] - '0') * 64 + (s.p[1] - '0') * 8 + (s.p[2] - '0');
}

static bool from_escape(Decoding *d)
{
    for (size_t i = 0; i < d->text.n; i++) {
        char c = d->text.p[i];
        int byte = c == '\\' ? octal(str_from(d->text, i + 1)) : -1;
        if (c == '\\' && byte < 0 && (i + 1 == d->text.n || d->text.p[i + 1] != '\\'))
            return fail(d, "invalid input syntax for type bytea SQLSTATE: 22P02");
        sb_byte(&d->out, byte >= 0 ? (char)byte : c);
        if (c == '\\')
            i += byte >= 0 ? 3 : 1;
    }
    return true;
}

static bool from_text(Decoding *d)
{
    if (!str_starts(d->text, S("\\x")))
        return from_escape(d);
    d->text = str_from(d->text, 2);
    return from_hex(d);
}

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Groups of four; = fills the last one. */
static bool from_base64(Decoding *d)
{
    uint32_t group = 0;
    int n = 0, fill = 0;

    for (size_t i = 0; i < d->text.n; i++) {
        char c = d->text.p[i];
        if (is_blank(c))
            continue;
        if (c == '=' ? n < 2 : fill > 0)
            return bad_symbol(d, "unexpected \"" STR_FMT "\" while decoding base64 sequence SQLSTATE: 22023", (unsigned char)c);
        int digit = c == '=' ? 0 : base64_digit(c);
        if (digit < 0)
            return bad_symbol(d, "invalid symbol \"" STR_FMT "\" found while decoding base64 sequence SQLSTATE: 22023", (unsigned char)c);
        fill += c == '=';
        group = group << 6 | (uint32_t)digit;
        if (++n < 4)
            continue;
        for (int k = 0; k < 3 - fill; k++)
            sb_byte(&d->out, (char)(group >> (16 - 8 * k)));
        n = 0;
        group = 0;
    }
    return !n || fail(d, "invalid base64 end sequence SQLSTATE: 22023");
}

static void run(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out, Decode decode)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    ScalarArgs args = scalar_args(in);

    for (size_t i = 0; i < args.n; i++) {
        if (!scalar_has(&args, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        Decoding d = { .a = a, .text = scalar_text(&args, 0, i), .out = sb_new(a) };
        if (!decode(&d)) {
            duckdb_scalar_function_set_error(info, str_fmt(a, STR_FMT, STR_ARG(d.error)).p);
            return;
        }
        scalar_set_text(out, i, d.out.n ? sb_str(&d.out) : (Str){0});
    }
}

static bool to_escape(Decoding *d)
{
    for (size_t i = 0; i < d->text.n; i++) {
        unsigned char c = (unsigned char)d->text.p[i];
        if (c == '\\')
            sb_addc(&d->out, "\\\\");
        else if (!c || c > 0x7f)
            sb_fmt(&d->out, "\\%03o", c);
        else
            sb_byte(&d->out, (char)c);
    }
    return true;
}

static void run_in(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { run(info, in, out, from_text); }
static void run_hex(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { run(info, in, out, from_hex); }
static void run_base64(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { run(info, in, out, from_base64); }
static void run_from_escape(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { run(info, in, out, from_escape); }
static void run_escape(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { run(info, in, out, to_escape); }

Status duck_bytea_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec functions[] = {
        { .name = "firn_bytea_in", .nargs = 1, .args = { DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_BLOB, .run = run_in },
        { .name = "firn_bytea_from_hex", .nargs = 1, .args = { DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_BLOB, .run = run_hex },
        { .name = "firn_bytea_from_base64", .nargs = 1, .args = { DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_BLOB, .run = run_base64 },
        { .name = "firn_bytea_from_escape", .nargs = 1, .args = { DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_BLOB, .run = run_from_escape },
        { .name = "firn_bytea_escape", .nargs = 1, .args = { DUCKDB_TYPE_BLOB }, .result = DUCKDB_TYPE_VARCHAR, .run = run_escape },
    };

    return scalar_register_each(con, functions, COUNT_OF(functions), err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* lex_string.c - quoted things: strings with each dialect's escapes, quoted identifiers, $tag$ strings, bytes.
 *
 * Invariant: no decoded string holds a NUL byte, which neither PostgreSQL's text nor the engine's can carry, and all
 * of them are UTF-8 (the text is; escapes are checked). */
#include "sql/parse_int.h"

#include <stdlib.h>

typedef struct Decoder { Lexer *l; StrBuf out; size_t at, end; const char *bad; } Decoder;

static Token finish(Lexer *l, TokenKind kind, size_t start, Str text);
static Token lex_unicode(Lexer *l);
static void add_rune(Decoder *d, uint32_t c);
static bool digits(Decoder *d, unsigned base, size_t min, size_t max, uint32_t *ret);
static bool find_close(const Lexer *l, size_t from, char quote, bool escapes, size_t *ret);
static Str decode(Lexer *l, size_t from, size_t to, char quote, bool escapes, const char **bad);

Token lex_string(Lexer *l)
{
    size_t start = l->at, close;
    bool spark = l->dialect == DIALECT_SPARK;

    if (l->dialect == DIALECT_TRINO && l->text.p[start] != '\'')
        return lex_unicode(l);
    bool prefixed = l->text.p[start] != '\'' && l->text.p[start] != '"';
    size_t open = start + prefixed;
    char quote = l->text.p[open];
    bool escapes = spark != prefixed;             /* r'' has none in Spark; E'' has them in PostgreSQL */
    const char *bad = NULL;

    if (!find_close(l, open + 1, quote, escapes, &close)) {
        l->at = l->text.n;
        return lex_bad(l, start, "unterminated quoted string");
    }
    Str text = decode(l, open + 1, close, quote, escapes, &bad);
    l->at = close + 1;
    return bad ? lex_bad(l, start, "%s", bad) : finish(l, TK_STRING, start, text);
}

Token lex_quoted(Lexer *l, char quote)
{
    size_t start = l->at, close;
    const char *bad = NULL;

    if (!find_close(l, start + 1, quote, false, &close)) {
        l->at = l->text.n;
        return lex_bad(l, start, "unterminated quoted identifier");
    }
    Str text = decode(l, start + 1, close, quote, false, &bad);
    l->at = close + 1;
    if (!text.n)
        return lex_bad(l, start, "zero-length delimited identifier");
    return finish(l, TK_QUOTED, start, text);
}

static bool is_tag(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80 || (!first && c >= '0' && c <= '9');
}

static Token parameter(Lexer *l, size_t start)
{
    size_t end = start + 1;
    int64_t n;

    while (end < l->text.n && l->text.p[end] >= '0' && l->text.p[end] <= '9')
        end++;
    l->at = end;
    if (!str_to_i64(str_sub(l->text, start + 1, end), &n) || n < 1 || n > PARSE_PARAMS)
        return lex_bad(l, start, "there is no parameter " STR_FMT, STR_ARG(str_sub(l->text, start, end)));
    Token t = finish(l, TK_PARAM, start, str_sub(l->text, start, end));
    t.id = (int)n;
    return t;
}

Token lex_dollar(Lexer *l)
{
    size_t start = l->at, end = start + 1;

    if (end < l->text.n && l->text.p[end] >= '0' && l->text.p[end] <= '9')
        return parameter(l, start);
    while (end < l->text.n && is_tag(l->text.p[end], end == start + 1))
        end++;
    if (l->dialect != DIALECT_POSTGRES || end >= l->text.n || l->text.p[end] != '$') {
        l->at = end;
        return lex_bad(l, start, "unexpected character 0x24");
    }
    Str tag = str_sub(l->text, start, end + 1);
    ptrdiff_t close = str_find(str_from(l->text, end + 1), tag);
    if (close < 0) {
        l->at = l->text.n;
        return lex_bad(l, start, "unterminated dollar-quoted string");
    }
    Str text = str_n(l->text.p + end + 1, (size_t)close);
    l->at = end + 1 + (size_t)close + tag.n;
    return finish(l, TK_STRING, start, text);
}

Token lex_bytes(Lexer *l)
{
    size_t start = l->at, close;
    Str bytes = {0};

    if (!find_close(l, start + 2, '\'', false, &close)) {
        l->at = l->text.n;
        return lex_bad(l, start, "unterminated hexadecimal string literal");
    }
    Str hex = str_sub(l->text, start + 2, close);
    l->at = close + 1;
    if (hex.n % 2)
        hex = str_cat(l->a, S("0"), hex);
    if (hex.n && !hex_decode(l->a, hex, &bytes))
        return lex_bad(l, start, "invalid hexadecimal string literal");
    return finish(l, TK_BYTES, start, bytes);
}

/* Trino's \\XXXX and \\+XXXXXX; two backslashes are one. */
static void escape_trino(Decoder *d)
{
    bool wide = d->at < d->end && d->l->text.p[d->at] == '+';
    uint32_t c;

    if (d->at < d->end && d->l->text.p[d->at] == '\\') {
        d->at++;
        sb_byte(&d->out, '\\');
        return;
    }
    d->at += wide;
    if (digits(d, 16, wide ? 6 : 4, wide ? 6 : 4, &c))
        add_rune(d, c);
    else
        d->bad = "Incomplete escape sequence";
}

/* U&'…' */
static Token lex_unicode(Lexer *l)
{
    size_t start = l->at, close;
    Decoder d = { .l = l, .out = sb_new(l->a), .at = start + 3 };

    if (!find_close(l, start + 3, '\'', false, &close)) {
        l->at = l->text.n;
        return lex_bad(l, start, "unterminated quoted string");
    }
    d.end = close;
    while (d.at < d.end && !d.bad) {
        char c = l->text.p[d.at++];
        if (c == '\\') {
            escape_trino(&d);
        } else {
            sb_byte(&d.out, c);
            d.at += c == '\'';
        }
    }
    l->at = close + 1;
    return d.bad ? lex_bad(l, start, "%s", d.bad) : finish(l, TK_STRING, start, sb_str(&d.out));
}

static Token finish(Lexer *l, TokenKind kind, size_t start, Str text)
{
    return (Token){ .kind = kind, .start = (int)start, .end = (int)l->at, .text = text };
}

/* The closing quote; a doubled quote does not close. */
static bool find_close(const Lexer *l, size_t from, char quote, bool escapes, size_t *ret)
{
    for (size_t i = from; i < l->text.n; i++) {
        if (escapes && l->text.p[i] == '\\') {
            i++;
        } else if (l->text.p[i] == quote) {
            if (i + 1 >= l->text.n || l->text.p[i + 1] != quote) {
                *ret = i;
                return true;
            }
            i++;
        }
    }
    return false;
}

static void add_rune(Decoder *d, uint32_t c)
{
    if (!c)
        d->bad = "a string cannot hold the NUL character";
    else if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        d->bad = "invalid Unicode escape value";
    if (d->bad)
        return;
    if (c < 0x80) {
        sb_byte(&d->out, (char)c);
        return;
    }
    int n = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = { 0, 0xC0, 0xE0, 0xF0 };
    sb_byte(&d->out, (char)(lead[n] | (c >> (6 * n))));
    while (n--)
        sb_byte(&d->out, (char)(0x80 | ((c >> (6 * n)) & 0x3F)));
}

/* Up to `max` digits of the base; false when there are fewer than `min`. */
static bool digits(Decoder *d, unsigned base, size_t min, size_t max, uint32_t *ret)
{
    size_t n = 0;

    *ret = 0;
    for (; n < max && d->at < d->end; n++, d->at++) {
        char c = d->l->text.p[d->at];
        unsigned v = c >= '0' && c <= '9' ? (unsigned)(c - '0') : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (unsigned)((c | 0x20) - 'a' + 10) : 99;
        if (v >= base)
            break;
        *ret = *ret * base + v;
    }
    return n >= min;
}

/* A lone UTF-16 half is completed by the other half's escape: 😀. */
static void unicode(Decoder *d, size_t width)
{
    uint32_t c, low;

    if (!digits(d, 16, width, width, &c)) {
        d->bad = "invalid Unicode escape";
        return;
    }
    if (c >= 0xD800 && c < 0xDC00 && d->at + 6 <= d->end && d->l->text.p[d->at] == '\\' && d->l->text.p[d->at + 1] == 'u') {
        d->at += 2;
        if (digits(d, 16, 4, 4, &low) && low >= 0xDC00 && low < 0xE000)
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    add_rune(d, c);
}

static const struct { char letter, byte; } SIMPLE[] = { { 'b', '\b' }, { 'n', '\n' }, { 'r', '\r' }, { 't', '\t' } };

static void escape_spark(Decoder *d, char c)
{
    uint32_t v;
    size_t at = d->at;

    if (c == 'u') {
        unicode(d, 4);
    } else if (c == 'U') {
        unicode(d, 8);
    } else if (c >= '0' && c <= '1' && digits(d, 8, 2, 2, &v)) {
        add_rune(d, (uint32_t)(c - '0') * 64 + v);
    } else if (c == '%' || c == '_') {            /* kept for LIKE */
        sb_byte(&d->out, '\\');
        sb_byte(&d->out, c);
    } else if (c == 'Z') {
        sb_byte(&d->out, 0x1A);
    } else if (c == '0') {
        add_rune(d, 0);
    } else {
        d->at = at;
        sb_byte(&d->out, c);
    }
}

static void escape_postgres(Decoder *d, char c)
{
    uint32_t v = 0;

    if (c == 'u' || c == 'U') {
        unicode(d, c == 'u' ? 4 : 8);
    } else if (c == 'f') {
        sb_byte(&d->out, '\f');
    } else if (c == 'x' && digits(d, 16, 1, 2, &v)) {
        sb_byte(&d->out, (char)v);
    } else if (c >= '0' && c <= '7') {
        d->at--;
        digits(d, 8, 1, 3, &v);
        sb_byte(&d->out, (char)v);
    } else {
        sb_byte(&d->out, c);
        return;
    }
    if ((c == 'x' || (c >= '0' && c <= '7')) && !(v & 0xFF))
        d->bad = "invalid byte sequence for encoding \"UTF8\": 0x00";
}

static void escape(Decoder *d)
{
    char c = d->l->text.p[d->at++];

    for (size_t i = 0; i < COUNT_OF(SIMPLE); i++)
        if (SIMPLE[i].letter == c) {
            sb_byte(&d->out, SIMPLE[i].byte);
            return;
        }
    if (d->l->dialect == DIALECT_SPARK)
        escape_spark(d, c);
    else
        escape_postgres(d, c);
}

static Str decode(Lexer *l, size_t from, size_t to, char quote, bool escapes, const char **bad)
{
    Decoder d = { .l = l, .out = sb_new(l->a), .at = from, .end = to };
    Str raw = str_sub(l->text, from, to);

    if (str_chr(raw, quote) < 0 && (!escapes || str_chr(raw, '\\') < 0))
        return raw;
    while (d.at < d.end && !d.bad) {
        char c = l->text.p[d.at++];
        if (c == '\\' && escapes && d.at < d.end) {
            escape(&d);
        } else {
            sb_byte(&d.out, c);
            d.at += c == quote;                   /* doubled */
        }
    }
    Str text = sb_str(&d.out);
    if (!d.bad && !str_is_utf8(text))
        d.bad = "invalid byte sequence for encoding \"UTF8\"";
    *bad = d.bad;
    return text;
}

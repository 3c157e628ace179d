/* SPDX-License-Identifier: Apache-2.0 */
/* text_parts.c - texts taken apart: qualified SQL names, and CSV.
 *
 * Invariant: nothing is read beyond the text, and every step takes a byte or ends. */
#include "codec/codec.h"

#include <ctype.h>

typedef struct Scan { const char *p, *end; } Scan;

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

bool ident_parts(Arena *a, Str text, IdentEnd end, Json **ret)
{
    Scan s = { text.p, text.p + text.n };
    Json *parts = json_array(a);

    do {
        StrBuf part = sb_new(a);
        blanks(&s);
        if (take(&s, '"') ? !quoted(&s, &part) || !part.n : !plain(&s, &part))
            return false;
        json_push(a, parts, json_str(a, sb_str(&part)));
        blanks(&s);
    } while (take(&s, '.'));
    *ret = parts;
    return end == IDENT_THEN_ANYTHING || peek(&s) < 0;
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

Json *csv_records(Arena *a, Str text, size_t n)
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

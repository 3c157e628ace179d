/* SPDX-License-Identifier: Apache-2.0 */
/* json_write.c - the JSON tree to text.
 *
 * The only place that writes JSON punctuation.  What comes out always parses: a string that is not UTF-8 gets
 * U+FFFD for each bad byte, and a real that is not finite becomes null. */
#include "codec/codec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void write_string(StrBuf *b, Str s);
static void write_real(StrBuf *b, double v);

void json_write(StrBuf *b, const Json *v)
{
    switch (v ? v->kind : JSON_NULL) {
    case JSON_NULL: sb_addc(b, "null"); break;
    case JSON_BOOL: sb_addc(b, v->boolean ? "true" : "false"); break;
    case JSON_INT:
        if (v->above_i64)
            sb_fmt(b, "%llu", (unsigned long long)v->integer);
        else
            sb_fmt(b, "%lld", (long long)v->integer);
        break;
    case JSON_REAL: write_real(b, v->real); break;
    case JSON_STRING: write_string(b, v->string); break;
    case JSON_ARRAY:
        sb_byte(b, '[');
        for (size_t i = 0; i < v->array.n; i++) {
            sb_addc(b, i ? "," : "");
            json_write(b, v->array.p[i]);
        }
        sb_byte(b, ']');
        break;
    case JSON_OBJECT:
        sb_byte(b, '{');
        for (size_t i = 0; i < v->object.n; i++) {
            sb_addc(b, i ? "," : "");
            write_string(b, v->object.p[i].key);
            sb_byte(b, ':');
            json_write(b, v->object.p[i].value);
        }
        sb_byte(b, '}');
        break;
    }
}

Str json_text(Arena *a, const Json *v)
{
    StrBuf b = sb_new(a);
    json_write(&b, v);
    return sb_str(&b);
}

static void write_real(StrBuf *b, double v)
{
    char buf[40];

    if (!isfinite(v)) {
        sb_addc(b, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, v);
        if (strtod(buf, NULL) == v)
            break;
    }
    sb_addc(b, buf);
    if (!strpbrk(buf, ".e"))
        sb_addc(b, ".0");
}

static void write_escape(StrBuf *b, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *hit = c ? strchr(from, c) : NULL;

    if (hit)
        sb_fmt(b, "\\%c", to[hit - from]);
    else
        sb_fmt(b, "\\u%04x", c);
}

/* Length of the valid UTF-8 sequence at s, 0: none. */
static size_t sequence(Str s)
{
    for (size_t n = 1; n <= 4 && n <= s.n; n++)
        if (str_is_utf8(str_sub(s, 0, n)))
            return n;
    return 0;
}

static void write_repaired(StrBuf *b, Str s)
{
    while (s.n) {
        size_t n = sequence(s);
        sb_add(b, n ? str_sub(s, 0, n) : S("\xEF\xBF\xBD"));
        s = str_from(s, n ? n : 1);
    }
}

static void write_string(StrBuf *b, Str s)
{
    bool valid = str_is_utf8(s);

    sb_byte(b, '"');
    while (s.n) {
        size_t n = 0;
        while (n < s.n && (unsigned char)s.p[n] >= 0x20 && s.p[n] != '"' && s.p[n] != '\\')
            n++;
        if (valid)
            sb_add(b, str_sub(s, 0, n));
        else
            write_repaired(b, str_sub(s, 0, n));
        if (n < s.n)
            write_escape(b, (unsigned char)s.p[n++]);
        s = str_from(s, n);
    }
    sb_byte(b, '"');
}

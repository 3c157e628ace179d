/* SPDX-License-Identifier: Apache-2.0 */
/* format_json.c - JSON from outside to the one text that stands for its value, as jsonb compares it.
 *
 * One pass over the bytes, strict after RFC 8259; numbers stay as they were written, however long.  What PostgreSQL's jsonb cannot hold is refused: \u0000 and
 * lone surrogates.  Members are sorted by the bytes of their decoded names, so escapes do not matter. */
#include <stdlib.h>

#include "source/format_int.h"

typedef struct { Arena *a; const char *start, *p, *end; int depth; Error *err; } Reader;
typedef struct { Str name, value; size_t place; } Member;
typedef VEC(Member) Members;

static Status value(Reader *r, StrBuf *out);

static Status bad(Reader *r, const char *what)
{
    return FAIL(r->err, E_SYNTAX, "JSON: %s at byte %zu", what, (size_t)(r->p - r->start));
}

static void blank(Reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
        r->p++;
}

static bool take(Reader *r, char c)
{
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

/* ---- strings ------------------------------------------------------------------------------------------------------------------------ */

static bool hex4(Reader *r, uint32_t *ret)
{
    *ret = 0;
    for (int i = 0; i < 4; i++, r->p++) {
        char c = r->p < r->end ? *r->p : 0;
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0)
            return false;
        *ret = *ret << 4 | (uint32_t)digit;
    }
    return true;
}

static void put_utf8(StrBuf *b, uint32_t c)
{
    if (c < 0x80) {
        sb_byte(b, (char)c);
        return;
    }
    if (c < 0x800) {
        sb_byte(b, (char)(0xC0 | c >> 6));
    } else if (c < 0x10000) {
        sb_byte(b, (char)(0xE0 | c >> 12));
        sb_byte(b, (char)(0x80 | (c >> 6 & 0x3F)));
    } else {
        sb_byte(b, (char)(0xF0 | c >> 18));
        sb_byte(b, (char)(0x80 | (c >> 12 & 0x3F)));
        sb_byte(b, (char)(0x80 | (c >> 6 & 0x3F)));
    }
    sb_byte(b, (char)(0x80 | (c & 0x3F)));
}

static Status unicode_escape(Reader *r, StrBuf *out)
{
    uint32_t c, low;

    if (!hex4(r, &c))
        return bad(r, "an escape that is none");
    if (c >= 0xD800 && c < 0xDC00) {
        if (!take(r, '\\') || !take(r, 'u') || !hex4(r, &low) || low < 0xDC00 || low > 0xDFFF)
            return bad(r, "half of a surrogate pair");
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    } else if (c >= 0xDC00 && c < 0xE000) {
        return bad(r, "half of a surrogate pair");
    }
    if (!c)
        return bad(r, "\\u0000, which no text can hold,");
    put_utf8(out, c);
    return OK;
}

static Status escape(Reader *r, StrBuf *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = r->p < r->end ? *r->p++ : 0;
    const char *at = c ? strchr(from, c) : NULL;

    if (at)
        sb_byte(out, to[at - from]);
    else if (c != 'u')
        return bad(r, "an escape that is none");
    return at ? OK : unicode_escape(r, out);
}

/* The decoded text. */
static Status string(Reader *r, StrBuf *out)
{
    if (!take(r, '"'))
        return bad(r, "no string");
    for (;;) {
        const char *from = r->p;
        while (r->p < r->end && *r->p != '"' && *r->p != '\\' && (unsigned char)*r->p >= 0x20)
            r->p++;
        sb_add(out, str_n(from, (size_t)(r->p - from)));
        if (r->p == r->end || (unsigned char)*r->p < 0x20)
            return bad(r, "a string that does not end");
        if (*r->p++ == '"')
            return OK;
        TRY(escape(r, out));
    }
}

static void put_string(StrBuf *b, Str s)
{
    static const char named[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";

    sb_byte(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        const char *at = strchr(named, s.p[i]);
        if (at) {
            sb_byte(b, '\\');
            sb_byte(b, letters[at - named]);
        } else if ((unsigned char)s.p[i] < 0x20) {
            sb_fmt(b, "\\u%04x", (unsigned)s.p[i]);
        } else {
            sb_byte(b, s.p[i]);
        }
    }
    sb_byte(b, '"');
}

/* ---- numbers and words ---------------------------------------------------------------------------------------------------------------- */

static size_t digits(Reader *r)
{
    const char *from = r->p;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
        r->p++;
    return (size_t)(r->p - from);
}

static Status number(Reader *r, StrBuf *out)
{
    const char *from = r->p;
    bool zero;

    (void)take(r, '-');
    zero = r->p < r->end && *r->p == '0';
    size_t n = digits(r);
    if (!n || (zero && n > 1))
        return bad(r, "no value");
    if (take(r, '.') && !digits(r))
        return bad(r, "a number without digits");
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '+'))
            (void)take(r, '-');
        if (!digits(r))
            return bad(r, "a number without digits");
    }
    sb_add(out, str_n(from, (size_t)(r->p - from)));
    return OK;
}

static bool word(Reader *r, StrBuf *out, Str w)
{
    if ((size_t)(r->end - r->p) < w.n || memcmp(r->p, w.p, w.n) != 0)
        return false;
    r->p += w.n;
    sb_add(out, w);
    return true;
}

/* ---- arrays and objects ------------------------------------------------------------------------------------------------------------------ */

static Status array(Reader *r, StrBuf *out)
{
    sb_byte(out, '[');
    blank(r);
    for (size_t n = 0; !take(r, ']'); n++) {
        if (n && !take(r, ','))
            return bad(r, "no comma");
        sb_addc(out, n ? "," : "");
        TRY(value(r, out));
        blank(r);
    }
    sb_byte(out, ']');
    return OK;
}

static int by_name(const void *x, const void *y)
{
    const Member *l = x, *r = y;
    int c = str_cmp(l->name, r->name);
    return c ? c : (l->place > r->place) - (l->place < r->place);
}

static Status member(Reader *r, Member *ret)
{
    StrBuf name = sb_new(r->a), text = sb_new(r->a);

    blank(r);
    TRY(string(r, &name));
    blank(r);
    if (!take(r, ':'))
        return bad(r, "no colon");
    TRY(value(r, &text));
    ret->name = sb_str(&name);
    ret->value = sb_str(&text);
    return OK;
}

static Status members_of(Reader *r, Members *ret)
{
    blank(r);
    while (!take(r, '}')) {
        Member m = { .place = ret->n };
        if (ret->n && !take(r, ','))
            return bad(r, "no comma");
        TRY(member(r, &m));
        vec_push(r->a, ret, m);
        blank(r);
    }
    return OK;
}

static Status object(Reader *r, StrBuf *out)
{
    Members members = {0};

    TRY(members_of(r, &members));
    if (members.n > 1)
        qsort(members.p, members.n, sizeof *members.p, by_name);
    sb_byte(out, '{');
    for (size_t i = 0, n = 0; i < members.n; i++) {
        if (i + 1 < members.n && str_eq(members.p[i].name, members.p[i + 1].name))
            continue;
        sb_addc(out, n++ ? "," : "");
        put_string(out, members.p[i].name);
        sb_byte(out, ':');
        sb_add(out, members.p[i].value);
    }
    sb_byte(out, '}');
    return OK;
}

static Status text(Reader *r, StrBuf *out)
{
    StrBuf s = sb_new(r->a);

    TRY(string(r, &s));
    put_string(out, sb_str(&s));
    return OK;
}

static Status nested(Reader *r, StrBuf *out)
{
    if (++r->depth > FORMAT_MAX_DEPTH)
        return bad(r, "values nested too deeply");
    if (take(r, '{'))
        TRY(object(r, out));
    else if (take(r, '['))
        TRY(array(r, out));
    r->depth--;
    return OK;
}

static Status value(Reader *r, StrBuf *out)
{
    blank(r);
    char c = r->p < r->end ? *r->p : 0;
    if (c == '{' || c == '[')
        return nested(r, out);
    if (c == '"')
        return text(r, out);
    if (word(r, out, S("true")) || word(r, out, S("false")) || word(r, out, S("null")))
        return OK;
    return number(r, out);
}

Status format_json_text(Arena *a, Str bytes, Str *ret, Error *err)
{
    const char *p = bytes.p ? bytes.p : "";
    Reader r = { a, p, p, p + bytes.n, 0, err };
    StrBuf out = sb_new(a);

    if (!str_is_utf8(bytes))
        return FAIL(err, E_SYNTAX, "JSON: the text is not UTF-8");
    TRY(value(&r, &out));
    blank(&r);
    if (r.p != r.end)
        return bad(&r, "something behind the value");
    if (!jsonb_text(a, sb_str(&out), JSONB_STRICT, ret))
        return FAIL(err, E_LIMIT, "JSON: nested too deeply");
    return OK;
}

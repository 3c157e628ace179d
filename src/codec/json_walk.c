/* SPDX-License-Identifier: Apache-2.0 */
/* json_walk.c - JSON text looked at without making values of it: the scalar at a path as the text has it (1.50 stays 1.50), and the same
 * JSON with its members in order of their names.
 *
 * Invariants: (1) nothing is read beyond the text; (2) values are skipped without recursion, nesting is bounded everywhere.
 * A text is checked as far as brackets, quotes and separators say, not beyond. */
#include "codec/codec.h"

#include <stdlib.h>

enum { NEST_MAX = 1000, SORT_NEST_MAX = 200 };

typedef enum { KEEP_NULLS, DROP_NULLS } Nulls;                /* members that are null, as json_sorted leaves them */
typedef struct Walk { const char *p, *end; Nulls nulls; } Walk;

static void blank(Walk *w)
{
    while (w->p < w->end && (*w->p == ' ' || *w->p == '\t' || *w->p == '\n' || *w->p == '\r'))
        w->p++;
}

static bool take(Walk *w, char c)
{
    blank(w);
    if (w->p >= w->end || *w->p != c)
        return false;
    w->p++;
    return true;
}

/* At a quote: to behind the closing one. The raw text lies between. */
static bool string(Walk *w, Str *raw)
{
    if (!take(w, '"'))
        return false;
    const char *from = w->p;
    while (w->p < w->end && *w->p != '"')
        w->p += *w->p == '\\' ? 2 : 1;
    if (w->p >= w->end)
        return false;
    *raw = str_n(from, (size_t)(w->p - from));
    w->p++;
    return true;
}

/* A number, true, false or null. */
static Str word(Walk *w)
{
    blank(w);
    const char *from = w->p;
    while (w->p < w->end && *w->p > ' ' && !strchr(",]}:[{\"", *w->p))
        w->p++;
    return str_n(from, (size_t)(w->p - from));
}

/* Behind any value. */
static bool skip(Walk *w)
{
    int depth = 0;
    Str s;

    do {
        blank(w);
        if (w->p >= w->end)
            return false;
        char c = *w->p;
        if (c == '{' || c == '[') {
            depth++;
            w->p++;
        } else if (c == '}' || c == ']') {
            depth--;
            w->p++;
        } else if (c == '"') {
            if (!string(w, &s))
                return false;
        } else if (c == ',' || c == ':') {
            if (!depth)
                return false;
            w->p++;
        } else if (!word(w).n) {
            return false;
        }
        if (depth > NEST_MAX)
            return false;
    } while (depth > 0);
    return depth == 0;
}

static int hex(const char *p)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        int d = p[i] >= '0' && p[i] <= '9' ? p[i] - '0' : (p[i] | 0x20) >= 'a' && (p[i] | 0x20) <= 'f' ? (p[i] | 0x20) - 'a' + 10 : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

static void rune(StrBuf *b, uint32_t c)
{
    if (c < 0x80) {
        sb_byte(b, (char)c);
    } else if (c < 0x800) {
        sb_byte(b, (char)(0xC0 | c >> 6));
        sb_byte(b, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        sb_byte(b, (char)(0xE0 | c >> 12));
        sb_byte(b, (char)(0x80 | (c >> 6 & 0x3F)));
        sb_byte(b, (char)(0x80 | (c & 0x3F)));
    } else {
        sb_byte(b, (char)(0xF0 | c >> 18));
        sb_byte(b, (char)(0x80 | (c >> 12 & 0x3F)));
        sb_byte(b, (char)(0x80 | (c >> 6 & 0x3F)));
        sb_byte(b, (char)(0x80 | (c & 0x3F)));
    }
}

/* A string's escapes; false: it has one that is none. NUL and lone surrogates cannot be text here. */
static bool unescape(StrBuf *b, Str raw)
{
    static const char FROM[] = "\"\\/bfnrt", TO[] = "\"\\/\b\f\n\r\t";

    for (size_t i = 0; i < raw.n; i++) {
        if (raw.p[i] != '\\') {
            sb_byte(b, raw.p[i]);
            continue;
        }
        const char *at = i + 1 < raw.n && raw.p[i + 1] ? strchr(FROM, raw.p[i + 1]) : NULL;
        if (at) {
            sb_byte(b, TO[at - FROM]);
            i++;
            continue;
        }
        int c = i + 5 < raw.n && raw.p[i + 1] == 'u' ? hex(raw.p + i + 2) : -1;
        if (c <= 0)
            return false;
        i += 5;
        if (c >= 0xD800 && c < 0xDC00) {
            int low = i + 6 < raw.n && raw.p[i + 1] == '\\' && raw.p[i + 2] == 'u' ? hex(raw.p + i + 3) : -1;
            if (low < 0xDC00 || low > 0xDFFF)
                return false;
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            i += 6;
        } else if (c >= 0xDC00 && c < 0xE000) {
            return false;
        }
        rune(b, (uint32_t)c);
    }
    return true;
}

/* Into the member `name`, the first of that name. */
static bool enter_member(Walk *w, Str name, Arena *a)
{
    Str raw;

    if (!take(w, '{'))
        return false;
    while (string(w, &raw) && take(w, ':')) {
        StrBuf key = sb_new(a);
        bool plain = memchr(raw.p, '\\', raw.n) == NULL;
        if (plain ? str_eq(raw, name) : unescape(&key, raw) && str_eq(sb_str(&key), name))
            return true;
        if (!skip(w) || !take(w, ','))
            return false;
    }
    return false;
}

static bool enter_item(Walk *w, int64_t n)
{
    if (!take(w, '['))
        return false;
    for (; n > 0; n--)
        if (!skip(w) || !take(w, ','))
            return false;
    blank(w);
    return w->p < w->end && *w->p != ']';
}

/* $."name"[3] step by step. */
static bool follow(Walk *w, Str path, Arena *a)
{
    for (size_t i = 1; i < path.n;) {
        size_t from = i + 1;
        if (path.p[i] == '[') {
            int64_t n;
            while (i < path.n && path.p[i] != ']')
                i++;
            if (!str_to_i64(str_sub(path, from, i), &n) || !enter_item(w, n))
                return false;
        } else {
            for (i = from + 1; i < path.n && path.p[i] != '"'; i++)
                ;
            if (i >= path.n || !enter_member(w, str_sub(path, from + 1, i), a))
                return false;
        }
        i++;
    }
    return true;
}

/* Is the whole text one value, as far as its brackets and quotes say? */
static bool is_one_value(Str text)
{
    Walk w = { text.p, text.p + text.n, KEEP_NULLS };
    if (!skip(&w))
        return false;
    blank(&w);
    return w.p == w.end;
}

bool json_scalar_at(Arena *a, Str text, Str path, Str *ret)
{
    Walk w = { text.p, text.p + text.n, KEEP_NULLS };
    StrBuf b = sb_new(a);
    Str raw;

    if (!is_one_value(text) || !follow(&w, path, a))
        return false;
    blank(&w);
    if (w.p >= w.end || *w.p == '{' || *w.p == '[')
        return false;
    if (*w.p == '"') {
        if (!string(&w, &raw) || !unescape(&b, raw))
            return false;
        *ret = sb_str(&b);
        return str_is_utf8(*ret);
    }
    *ret = word(&w);
    return ret->n && !str_eq(*ret, S("null"));
}

/* ---- members in order ------------------------------------------------------------------------------------------------- */

typedef struct Member { Str raw, value; size_t place; } Member;

static int by_name(const void *x, const void *y)
{
    const Member *l = x, *r = y;
    int c = str_cmp(l->raw, r->raw);
    return c ? c : (l->place > r->place) - (l->place < r->place);
}

static bool sorted(Walk *w, StrBuf *out, int depth);

/* Members by name; of one name the last. Names are compared as they are written. */
static bool sorted_object(Walk *w, StrBuf *out, int depth)
{
    VEC(Member) members = {0};

    take(w, '{');
    while (!take(w, '}')) {
        Member m = { .place = members.n };
        StrBuf value = sb_new(out->a);
        if ((members.n && !take(w, ',')) || !string(w, &m.raw) || !take(w, ':') || !sorted(w, &value, depth))
            return false;
        m.value = sb_str(&value);
        vec_push(out->a, &members, m);
    }
    if (members.n)
        qsort(members.p, members.n, sizeof *members.p, by_name);
    sb_byte(out, '{');
    bool first = true;
    for (size_t i = 0; i < members.n; i++) {
        if (i + 1 < members.n && str_eq(members.p[i].raw, members.p[i + 1].raw))
            continue;
        if (w->nulls == DROP_NULLS && str_eq(members.p[i].value, S("null")))
            continue;
        sb_addc(out, first ? "\"" : ",\"");
        sb_add(out, members.p[i].raw);                              /* no format: a text may hold NUL */
        sb_addc(out, "\":");
        sb_add(out, members.p[i].value);
        first = false;
    }
    sb_byte(out, '}');
    return true;
}

static bool sorted_array(Walk *w, StrBuf *out, int depth)
{
    take(w, '[');
    sb_byte(out, '[');
    for (size_t n = 0; !take(w, ']'); n++) {
        if (n && !take(w, ','))
            return false;
        sb_addc(out, n ? "," : "");
        if (!sorted(w, out, depth))
            return false;
    }
    sb_byte(out, ']');
    return true;
}

static bool sorted(Walk *w, StrBuf *out, int depth)
{
    Str s;

    if (depth >= SORT_NEST_MAX)
        return false;
    blank(w);
    if (w->p < w->end && *w->p == '{')
        return sorted_object(w, out, depth + 1);
    if (w->p < w->end && *w->p == '[')
        return sorted_array(w, out, depth + 1);
    if (w->p < w->end && *w->p == '"') {
        if (!string(w, &s))
            return false;
        sb_byte(out, '"');
        sb_add(out, s);
        sb_byte(out, '"');
        return true;
    }
    s = word(w);
    sb_add(out, s);
    return s.n > 0;
}

static bool all_sorted(Arena *a, Str text, Nulls nulls, Str *ret)
{
    Walk w = { text.p, text.p + text.n, nulls };
    StrBuf b = sb_new(a);

    if (!sorted(&w, &b, 0))
        return false;
    blank(&w);
    *ret = sb_str(&b);
    return w.p == w.end;
}

bool json_sorted(Arena *a, Str text, Str *ret) { return all_sorted(a, text, KEEP_NULLS, ret); }
bool json_without_nulls(Arena *a, Str text, Str *ret) { return all_sorted(a, text, DROP_NULLS, ret); }

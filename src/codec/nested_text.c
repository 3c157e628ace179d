/* SPDX-License-Identifier: Apache-2.0 */
/* nested_text.c - PostgreSQL's and Materialize's texts of arrays, lists, maps, records and ranges, taken apart and quoted.
 *
 * A part is read by the same steps in all of them; what ends one, and what its quotes mean, is the form's.  A part with braces of its own is not looked into: whoever
 * knows its type takes it apart in turn.  Invariants: nothing is read beyond the text; every step takes a byte or ends; no recursion. */
#include "codec/codec.h"

typedef struct Scan { Arena *a; const char *p, *end; NestedText in; } Scan;
typedef struct Part { Str text; bool quoted; } Part;

static int peek(const Scan *s) { return s->p < s->end ? (unsigned char)*s->p : -1; }
static bool is_blank(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void blanks(Scan *s)
{
    while (is_blank(peek(s)))
        s->p++;
}

static bool take(Scan *s, char c)
{
    if (peek(s) != (unsigned char)c)
        return false;
    s->p++;
    return true;
}

static bool at_arrow(const Scan *s) { return s->end - s->p >= 2 && s->p[0] == '=' && s->p[1] == '>'; }

/* ---- one part ---------------------------------------------------------------------------------------------------- */

/* From behind the opening quote; a backslash keeps what follows it, and outside of arrays and maps two quotes are one. */
static bool quoted(Scan *s, StrBuf *b)
{
    bool doubles = s->in == NESTED_RECORD || s->in == NESTED_RANGE;

    for (; peek(s) >= 0; s->p++) {
        if (*s->p == '"' && (!doubles || s->p + 1 == s->end || s->p[1] != '"')) {
            s->p++;
            return true;
        }
        if ((*s->p == '"' || *s->p == '\\') && ++s->p == s->end)
            return false;
        sb_byte(b, *s->p);
    }
    return false;
}

static bool ends_part(const Scan *s)
{
    int c = peek(s);

    if (c < 0 || c == ',')
        return true;
    switch (s->in) {
    case NESTED_ARRAY: return c == '}';
    case NESTED_MAP: return c == '}' || at_arrow(s);
    case NESTED_RECORD: return c == ')';
    case NESTED_RANGE: return c == ')' || c == ']';
    }
    return true;
}

/* {…} with all that is in it, as it is written. */
static bool braces(Scan *s, Part *ret)
{
    const char *from = s->p;
    size_t depth = 0;
    bool in_quotes = false;

    for (; peek(s) >= 0; s->p++) {
        int c = peek(s);
        if (c == '\\' && s->p + 1 < s->end)
            s->p++;
        else if (c == '"')
            in_quotes = !in_quotes;
        else if (!in_quotes && c == '{')
            depth++;
        else if (!in_quotes && c == '}' && !--depth) {
            s->p++;
            *ret = (Part){ str_n(from, (size_t)(s->p - from)), true };
            return true;
        }
    }
    return false;
}

/* Pieces in quotes and without; blanks around one without quotes do not count in arrays and maps. */
static bool plain(Scan *s, Part *ret)
{
    bool trims = s->in == NESTED_ARRAY || s->in == NESTED_MAP;
    StrBuf b = sb_new(s->a);
    size_t keep = 0;

    *ret = (Part){0};
    while (!ends_part(s)) {
        int c = peek(s);
        s->p++;
        if (c == '"') {
            if (!quoted(s, &b))
                return false;
            ret->quoted = true;
            keep = b.n;
            continue;
        }
        if (trims && c == '{')
            return false;
        if (c == '\\') {
            if (peek(s) < 0)
                return false;
            c = (unsigned char)*s->p++;
            ret->quoted = true;
        }
        sb_byte(&b, (char)c);
        if (!trims || !is_blank(c) || ret->quoted)
            keep = b.n;
    }
    ret->text = str_sub(sb_str(&b), 0, keep);
    return true;
}

static bool part(Scan *s, Part *ret)
{
    bool trims = s->in == NESTED_ARRAY || s->in == NESTED_MAP;

    if (trims)
        blanks(s);
    bool ok = trims && peek(s) == '{' ? braces(s, ret) : plain(s, ret);
    if (trims)
        blanks(s);
    return ok;
}

static Json *null_or(Arena *a, const Part *p, bool is_null) { return is_null ? json_null(a) : json_str(a, p->text); }
static bool is_null_word(const Part *p) { return !p->quoted && str_ieq(p->text, S("NULL")); }

static bool at_end(Scan *s)
{
    blanks(s);
    return peek(s) < 0;
}

static Scan start(Arena *a, Str text, NestedText in)
{
    Scan s = { a, text.p, text.p + text.n, in };
    blanks(&s);
    return s;
}

/* ---- the forms ----------------------------------------------------------------------------------------------------- */

bool array_items(Arena *a, Str text, Json **ret)
{
    Scan s = start(a, text, NESTED_ARRAY);
    Json *items = *ret = json_array(a);
    Part p;

    if (!take(&s, '{'))
        return false;
    blanks(&s);
    if (take(&s, '}'))
        return at_end(&s);
    do {
        if (!part(&s, &p) || (!p.text.n && !p.quoted))
            return false;
        json_push(a, items, null_or(a, &p, is_null_word(&p)));
    } while (take(&s, ','));
    return take(&s, '}') && at_end(&s);
}

bool record_fields(Arena *a, Str text, Json **ret)
{
    Scan s = start(a, text, NESTED_RECORD);
    Json *fields = *ret = json_array(a);
    Part p;

    if (!take(&s, '('))
        return false;
    do {
        if (!part(&s, &p))
            return false;
        json_push(a, fields, null_or(a, &p, !p.quoted && !p.text.n));
    } while (take(&s, ','));
    return take(&s, ')') && at_end(&s);
}

bool map_items(Arena *a, Str text, Json **keys, Json **values)
{
    Scan s = start(a, text, NESTED_MAP);
    Part key, value;

    *keys = json_array(a);
    *values = json_array(a);
    if (!take(&s, '{'))
        return false;
    blanks(&s);
    if (take(&s, '}'))
        return at_end(&s);
    do {
        if (!part(&s, &key) || (!key.text.n && !key.quoted) || is_null_word(&key) || !at_arrow(&s))
            return false;
        s.p += 2;
        if (!part(&s, &value) || (!value.text.n && !value.quoted) || at_arrow(&s))
            return false;
        json_push(a, *keys, json_str(a, key.text));
        json_push(a, *values, null_or(a, &value, is_null_word(&value)));
    } while (take(&s, ','));
    return take(&s, '}') && at_end(&s);
}

static bool bound(Scan *s, StrVec *ret)
{
    Part p;

    if (!part(s, &p))
        return false;
    if (p.text.n || p.quoted)
        vec_push(s->a, ret, p.text);
    return true;
}

bool range_parts(Arena *a, Str text, RangeText *ret)
{
    Scan s = start(a, text, NESTED_RANGE);

    *ret = (RangeText){ .empty = str_ieq(str_trim(text), S("empty")) };
    if (ret->empty)
        return true;
    ret->lower_inclusive = take(&s, '[');
    if (!ret->lower_inclusive && !take(&s, '('))
        return false;
    if (!bound(&s, &ret->lower) || !take(&s, ',') || !bound(&s, &ret->upper))
        return false;
    ret->upper_inclusive = take(&s, ']');
    return (ret->upper_inclusive || take(&s, ')')) && at_end(&s);
}

/* ---- quotes ---------------------------------------------------------------------------------------------------------- */

static bool needs_quotes(NestedText in, Str s)
{
    static const char *const special[] = { [NESTED_ARRAY] = "{},\"\\", [NESTED_RECORD] = "(),\"\\", [NESTED_MAP] = "{},\"\\=>", [NESTED_RANGE] = "()[],\"\\" };
    bool word = in == NESTED_ARRAY || in == NESTED_MAP;

    if (!s.n || (word && str_ieq(s, S("NULL"))))
        return true;
    for (size_t i = 0; i < s.n; i++)
        if (!s.p[i] || is_blank((unsigned char)s.p[i]) || strchr(special[in], s.p[i]))
            return true;
    return false;
}

void nested_quote(StrBuf *b, NestedText in, Str s)
{
    bool doubles = in == NESTED_RECORD || in == NESTED_RANGE;

    if (!needs_quotes(in, s)) {
        sb_add(b, s);
        return;
    }
    sb_byte(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"' || s.p[i] == '\\')
            sb_byte(b, doubles ? s.p[i] : '\\');
        sb_byte(b, s.p[i]);
    }
    sb_byte(b, '"');
}

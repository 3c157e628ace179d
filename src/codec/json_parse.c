/* SPDX-License-Identifier: Apache-2.0 */
/* json_parse.c - text to the JSON tree.
 *
 * The parser is ours and not jansson's for three reasons: real table metadata holds ids between 2^63 and 2^64,
 * which jansson refuses; the number of nodes must be bounded while reading, not after; and jansson exports
 * functions with the names of ours.
 *
 * The text is copied into the arena once; strings are decoded in place in the copy (escapes only shrink) and the
 * tree points into it.  Children wait on two stacks until their parent closes, so that every array and object
 * gets exactly the memory it needs.
 *
 * Invariants: (1) the text is valid UTF-8 before the first token is read; (2) `at` never passes `n`, and
 * text[n] is NUL, which no token accepts; (3) a string in the tree has a NUL behind it. */
#include "codec/codec.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_NODES = 4 * 1024 * 1024, SORT_KEYS_FROM = 16, NUMBER_MAX = 1024 };

typedef struct {
    Arena *a;
    char *text;
    size_t n, at, nodes, depth;
    Arena *scratch;
    struct { Json **p; size_t n, cap; } items;
    struct { JsonMember *p; size_t n, cap; } members;
    Error *err;
} Parser;

static Status read_value(Parser *ps, Json **ret);
static Status syntax(Parser *ps, size_t at, const char *what);
static void skip_space(Parser *ps);

Status json_parse(Arena *a, Str text, Json **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *scratch = arena_create();
    Json *v = NULL;

    if (text.n > LIMIT_JSON_BYTES)
        return FAIL(err, E_LIMIT, "JSON of %zu bytes, limit is %d", text.n, LIMIT_JSON_BYTES);
    if (!str_is_utf8(text))                                                     /* (1) */
        return FAIL(err, E_SYNTAX, "JSON is not valid UTF-8");
    Parser ps = { .a = a, .text = str_z(a, text), .n = text.n, .scratch = scratch, .err = err };
    TRY(read_value(&ps, &v));
    skip_space(&ps);
    if (ps.at < ps.n)
        return syntax(&ps, ps.at, "text after the end of the value");
    *ret = v;
    return OK;
}

static Status syntax(Parser *ps, size_t at, const char *what)
{
    int line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        column++;
        if (ps->text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    return FAIL(ps->err, E_SYNTAX, "JSON line %d column %d (byte %zu): %s", line, column, at, what);
}

static void skip_space(Parser *ps)
{
    while (ps->at < ps->n && strchr(" \t\r\n", ps->text[ps->at]) && ps->text[ps->at])
        ps->at++;
}

/* Takes one punctuation character if it comes next. */
static bool take(Parser *ps, char c)
{
    skip_space(ps);
    if (ps->at >= ps->n || ps->text[ps->at] != c)
        return false;
    ps->at++;
    return true;
}

static Status new_node(Parser *ps, JsonKind kind, Json **ret)
{
    if (++ps->nodes > MAX_NODES)
        return FAIL(ps->err, E_LIMIT, "JSON with more than %d values", MAX_NODES);
    *ret = arena_new(ps->a, Json);
    (*ret)->kind = kind;
    return OK;
}

/* ---- strings ------------------------------------------------------------------------------------------- */

static int hex4(const char *p)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
              : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (d < 0)
            return -1;
        v = v << 4 | d;
    }
    return v;
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)(lead[n] | c);
    return n;
}

/* \uXXXX, with the second half when the first is a high surrogate. `at` is behind the 'u'; text[n] is NUL, so
 * that hex4 stops there (2). */
static Status read_unicode(Parser *ps, uint32_t *ret)
{
    const char *p = ps->text + ps->at;
    int c = hex4(p);

    if (c < 0)
        return syntax(ps, ps->at, "\\u without four hex digits");
    if (c == 0)
        return syntax(ps, ps->at, "NUL in a string");
    ps->at += 4;
    *ret = (uint32_t)c;
    if (c < 0xD800 || c > 0xDFFF)
        return OK;
    int low = c < 0xDC00 && p[4] == '\\' && p[5] == 'u' ? hex4(p + 6) : -1;
    if (low < 0xDC00 || low > 0xDFFF)
        return syntax(ps, ps->at - 4, "half of a surrogate pair");
    ps->at += 6;
    *ret = 0x10000 + (((uint32_t)c - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
    return OK;
}

static Status read_escape(Parser *ps, uint32_t *ret)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = ps->text[ps->at++];
    const char *hit = c ? strchr(from, c) : NULL;

    if (c == 'u')
        return read_unicode(ps, ret);
    if (!hit)
        return syntax(ps, ps->at - 1, "unknown escape");
    *ret = (unsigned char)to[hit - from];
    return OK;
}

static Status read_string(Parser *ps, Str *ret)
{
    if (!take(ps, '"'))
        return syntax(ps, ps->at, "a string was expected");
    size_t start = ps->at, to = start;
    for (;;) {
        if (ps->at >= ps->n)
            return syntax(ps, start - 1, "string without an end");
        unsigned char c = (unsigned char)ps->text[ps->at++];
        uint32_t code = 0;
        if (c == '"')
            break;
        if (c < 0x20)
            return syntax(ps, ps->at - 1, "control character in a string");
        if (c != '\\') {
            ps->text[to++] = (char)c;
            continue;
        }
        TRY(read_escape(ps, &code));
        to += put_utf8(ps->text + to, code);
    }
    ps->text[to] = 0;                                                           /* (3) at most the closing quote */
    *ret = str_n(ps->text + start, to - start);
    return OK;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static size_t digits(Parser *ps)
{
    size_t from = ps->at;
    while (ps->text[ps->at] >= '0' && ps->text[ps->at] <= '9')
        ps->at++;
    return ps->at - from;
}

/* Moves over a number by the grammar of RFC 8259; says whether it is an integer. */
static Status scan_number(Parser *ps, bool *integer)
{
    size_t start = ps->at;
    bool negative = ps->text[ps->at] == '-';

    ps->at += negative;
    bool zero = ps->text[ps->at] == '0';
    size_t n = digits(ps);
    if (!n || (zero && n > 1))
        return syntax(ps, start, "a value was expected");
    *integer = !(negative && zero);                                             /* -0 is a real */
    if (ps->text[ps->at] == '.') {
        *integer = false;
        ps->at++;
        if (!digits(ps))
            return syntax(ps, ps->at, "digits were expected");
    }
    if (ps->text[ps->at] == 'e' || ps->text[ps->at] == 'E') {
        *integer = false;
        ps->at++;
        ps->at += ps->text[ps->at] == '+' || ps->text[ps->at] == '-';
        if (!digits(ps))
            return syntax(ps, ps->at, "digits were expected");
    }
    return OK;
}

static Status read_integer(Parser *ps, Str text, Json *v)
{
    bool negative = text.p[0] == '-';
    uint64_t u = 0;

    for (size_t i = negative; i < text.n; i++)
        if (__builtin_mul_overflow(u, 10, &u) || __builtin_add_overflow(u, (uint64_t)(text.p[i] - '0'), &u))
            return syntax(ps, (size_t)(text.p - ps->text), "integer over 64 bits");
    if (negative && u > (uint64_t)INT64_MAX + 1)
        return syntax(ps, (size_t)(text.p - ps->text), "integer over 64 bits");
    v->integer = (int64_t)(negative ? 0 - u : u);
    v->above_i64 = !negative && u > INT64_MAX;
    return OK;
}

static Status read_real(Parser *ps, Str text, Json *v)
{
    char buf[NUMBER_MAX];

    if (text.n >= sizeof buf)
        return syntax(ps, (size_t)(text.p - ps->text), "number is too long");
    memcpy(buf, text.p, text.n);
    buf[text.n] = 0;
    v->kind = JSON_REAL;
    v->real = strtod(buf, NULL);
    if (v->real > 1.7976931348623157e308 || v->real < -1.7976931348623157e308)
        return syntax(ps, (size_t)(text.p - ps->text), "number is out of range");
    return OK;
}

static Status read_number(Parser *ps, Json **ret)
{
    size_t start = ps->at;
    bool integer = false;
    Json *v = NULL;

    TRY(scan_number(ps, &integer));
    TRY(new_node(ps, JSON_INT, &v));
    Str text = str_n(ps->text + start, ps->at - start);
    if (integer)
        TRY(read_integer(ps, text, v));
    else
        TRY(read_real(ps, text, v));
    *ret = v;
    return OK;
}

/* ---- arrays, objects ----------------------------------------------------------------------------------- */

static Status read_array(Parser *ps, Json **ret)
{
    size_t base = ps->items.n;
    Json *v = NULL;

    TRY(new_node(ps, JSON_ARRAY, &v));
    if (!take(ps, ']')) {
        do {
            Json *item = NULL;
            TRY(read_value(ps, &item));
            vec_push(ps->scratch, &ps->items, item);
        } while (take(ps, ','));
        if (!take(ps, ']'))
            return syntax(ps, ps->at, "',' or ']' was expected");
    }
    size_t n = v->array.n = v->array.cap = ps->items.n - base;
    if (n) {
        v->array.p = arena_array(ps->a, Json *, n);
        memcpy(v->array.p, ps->items.p + base, n * sizeof *v->array.p);
    }
    ps->items.n = base;
    *ret = v;
    return OK;
}

static int by_key(const void *x, const void *y)
{
    return str_cmp((*(const JsonMember *const *)x)->key, (*(const JsonMember *const *)y)->key);
}

static Status duplicate(Parser *ps, Str key)
{
    return FAIL(ps->err, E_SYNTAX, "JSON object closed at byte %zu has the key '" STR_FMT "' twice", ps->at,
                STR_ARG(str_sub(key, 0, 200)));
}

/* Sorting, not hashing: nobody can choose keys that make it slow. */
static Status check_keys(Parser *ps, const Json *v)
{
    size_t n = v->object.n;
    const JsonMember *m = v->object.p;

    if (n < SORT_KEYS_FROM) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                if (str_eq(m[i].key, m[j].key))
                    return duplicate(ps, m[i].key);
        return OK;
    }
    CLEANUP(arena_destroyp) Arena *scratch = arena_create();
    const JsonMember **sorted = arena_array(scratch, const JsonMember *, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &m[i];
    qsort(sorted, n, sizeof *sorted, by_key);
    for (size_t i = 1; i < n; i++)
        if (str_eq(sorted[i - 1]->key, sorted[i]->key))
            return duplicate(ps, sorted[i]->key);
    return OK;
}

static Status read_member(Parser *ps)
{
    JsonMember m = {0};

    TRY(read_string(ps, &m.key));
    if (!take(ps, ':'))
        return syntax(ps, ps->at, "':' was expected");
    TRY(read_value(ps, &m.value));
    vec_push(ps->scratch, &ps->members, m);
    return OK;
}

static Status read_object(Parser *ps, Json **ret)
{
    size_t base = ps->members.n;
    Json *v = NULL;

    TRY(new_node(ps, JSON_OBJECT, &v));
    if (!take(ps, '}')) {
        do
            TRY(read_member(ps));
        while (take(ps, ','));
        if (!take(ps, '}'))
            return syntax(ps, ps->at, "',' or '}' was expected");
    }
    size_t n = v->object.n = v->object.cap = ps->members.n - base;
    if (n) {
        v->object.p = arena_array(ps->a, JsonMember, n);
        memcpy(v->object.p, ps->members.p + base, n * sizeof *v->object.p);
    }
    ps->members.n = base;
    *ret = v;
    return check_keys(ps, v);
}

/* ---- values -------------------------------------------------------------------------------------------- */

static Status read_word(Parser *ps, Str word, JsonKind kind, Json **ret)
{
    if (!str_starts(str_n(ps->text + ps->at, ps->n - ps->at), word))
        return syntax(ps, ps->at, "a value was expected");
    TRY(new_node(ps, kind, ret));
    (*ret)->boolean = kind == JSON_BOOL && word.p[0] == 't';
    ps->at += word.n;
    return OK;
}

static Status read_nested(Parser *ps, Json **ret)
{
    if (++ps->depth > LIMIT_JSON_DEPTH)
        return FAIL(ps->err, E_LIMIT, "JSON nested deeper than %d", LIMIT_JSON_DEPTH);
    bool object = ps->text[ps->at++] == '{';
    TRY(object ? read_object(ps, ret) : read_array(ps, ret));
    ps->depth--;
    return OK;
}

static Status read_value(Parser *ps, Json **ret)
{
    Str text;

    skip_space(ps);
    switch (ps->text[ps->at]) {
    case '{':
    case '[': return read_nested(ps, ret);
    case 't': return read_word(ps, S("true"), JSON_BOOL, ret);
    case 'f': return read_word(ps, S("false"), JSON_BOOL, ret);
    case 'n': return read_word(ps, S("null"), JSON_NULL, ret);
    case '"':
        TRY(read_string(ps, &text));
        TRY(new_node(ps, JSON_STRING, ret));
        (*ret)->string = text;
        return OK;
    default: return read_number(ps, ret);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* logs_pattern.c - filter patterns parsed into a small tree, and messages held against it.
 *
 * Three languages share the comparison of a value with a literal: terms (substrings), JSON and words.  A JSON or word pattern says no to
 * a message of another form. */
#include "door/logs/logs_pattern_int.h"

/* ---- literals ----------------------------------------------------------------------------------------------------------- */

/* `pattern` may begin and end with stars. */
static bool wild_equal(Str s, Str pattern)
{
    bool front = pattern.n && pattern.p[0] == '*', back = pattern.n > 1 && pattern.p[pattern.n - 1] == '*';
    Str core = str_sub(pattern, front, pattern.n - back);

    if (front && back)
        return str_find(s, core) >= 0;
    if (front)
        return str_ends(s, core);
    return back ? str_starts(s, core) : str_eq(s, core);
}

static bool by_order(LogCompare op, double x, double y)
{
    switch (op) {
    case LC_EQ: return x == y;
    case LC_NE: return x != y;
    case LC_LT: return x < y;
    case LC_LE: return x <= y;
    case LC_GT: return x > y;
    case LC_GE: return x >= y;
    default: return false;
    }
}

static bool text_matches(const LogTest *t, Str value)
{
    double x;

    if (t->numeric && str_to_f64(value, &x))
        return by_order(t->op, x, t->number);
    if (t->op == LC_EQ || t->op == LC_NE)
        return wild_equal(value, t->text) == (t->op == LC_EQ);
    return false;
}

static bool json_value_matches(const LogTest *t, const Json *v)
{
    switch (t->op) {
    case LC_NOT_EXISTS: return !v;
    case LC_IS_NULL: return json_is(v, JSON_NULL);
    case LC_IS_TRUE: return json_is(v, JSON_BOOL) && v->boolean;
    case LC_IS_FALSE: return json_is(v, JSON_BOOL) && !v->boolean;
    default: break;
    }
    if (json_is(v, JSON_INT) || json_is(v, JSON_REAL))
        return t->numeric && by_order(t->op, v->kind == JSON_INT ? (double)v->integer : v->real, t->number);
    return json_is(v, JSON_STRING) && text_matches(t, v->string);
}

/* ---- terms ----------------------------------------------------------------------------------------------------------------- */

static bool terms_match(const LogPattern *p, Str message)
{
    bool plain = false, some = false, any = false;

    for vec_each(LogTerm, t, &p->terms) {
        bool there = str_find(message, t->text) >= 0;
        if (t->mark == '-' && there)
            return false;
        if (!t->mark && !there)
            return false;
        plain |= !t->mark;
        some |= t->mark == '?';
        any |= t->mark == '?' && there;
    }
    return plain || !some || any;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------------------- */

static const Json *find(const Json *v, const LogPath *path)
{
    for (size_t i = 0; i < path->n && v; i++)
        v = path->p[i].name.p ? json_get_s(v, path->p[i].name) : json_is(v, JSON_ARRAY) ? json_at(v, path->p[i].index) : NULL;
    return v;
}

static bool node_matches(const LogNode *n, const Json *v)
{
    switch (n->kind) {
    case LN_AND: return node_matches(n->left, v) && node_matches(n->right, v);
    case LN_OR: return node_matches(n->left, v) || node_matches(n->right, v);
    case LN_TEST: return json_value_matches(&n->test, find(v, &n->path));
    }
    return false;
}

static bool json_matches(const LogPattern *p, Arena *scratch, Str message)
{
    Json *v;
    Error ignored;

    if (!str_starts(str_trim(message), S("{")))
        return false;
    return json_parse(scratch, message, &v, &ignored) == OK && json_is(v, JSON_OBJECT) && node_matches(p->root, v);
}

/* ---- words --------------------------------------------------------------------------------------------------------------------- */

static Str next_word(Str s, size_t *at)
{
    while (*at < s.n && (s.p[*at] == ' ' || s.p[*at] == '\t'))
        ++*at;
    size_t from = *at;
    char open = *at < s.n ? s.p[*at] : 0, close = open == '"' ? '"' : open == '[' ? ']' : 0;
    if (close) {
        ptrdiff_t end = str_chr(str_from(s, from + 1), close);
        if (end >= 0) {
            *at = from + 1 + (size_t)end + 1;
            return str_sub(s, from + 1, *at - 1);
        }
    }
    while (*at < s.n && s.p[*at] != ' ' && s.p[*at] != '\t')
        ++*at;
    return str_sub(s, from, *at);
}

static void words_of(Arena *a, Str message, StrVec *ret)
{
    Str s = str_trim(message);
    for (size_t at = 0; at < s.n; ) {
        vec_push(a, ret, next_word(s, &at));
    }
}

/* "..." stands for any number of words. */
static bool words_match(const LogPattern *p, Arena *scratch, Str message)
{
    StrVec words = {0};
    size_t rest = 0, k = 0;

    words_of(scratch, message, &words);
    if (p->has_rest ? words.n + 1 < p->fields.n : words.n != p->fields.n)
        return false;
    rest = p->has_rest ? words.n + 1 - p->fields.n : 0;
    for vec_each(LogField, f, &p->fields) {
        if (f->rest) {
            k += rest;
            continue;
        }
        Str word = words.p[k++];
        for vec_each(LogTest, t, &f->tests)
            if (!text_matches(t, word))
                return false;
    }
    return true;
}

bool log_pattern_matches(const LogPattern *p, Arena *scratch, Str message)
{
    switch (p->kind) {
    case LP_TERMS: return terms_match(p, message);
    case LP_JSON: return json_matches(p, scratch, message);
    case LP_WORDS: return words_match(p, scratch, message);
    }
    return false;
}

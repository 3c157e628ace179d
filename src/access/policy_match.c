/* SPDX-License-Identifier: Apache-2.0 */
/* policy_match.c - wildcards, policy variables and ARNs.
 *
 * A pattern is compiled into bytes where MANY and ONE stand for the wildcards, so that what a variable brought in is text, never
 * a wildcard.  Matching remembers one place to go back to: text times pattern at most, whatever the pattern. */
#include "access/policy_int.h"

#include <ctype.h>

enum { MANY = 1, ONE = 2, OTHER = 3 };                 /* control bytes of a policy's own text become OTHER, which no ARN holds */

static size_t step(Str s, size_t i)                    /* over one UTF-8 character */
{
    for (i++; i < s.n && ((unsigned char)s.p[i] & 0xC0) == 0x80; i++)
        ;
    return i;
}

static unsigned char fold(char c, int nocase) { return (unsigned char)(nocase ? tolower((unsigned char)c) : c); }

static bool like(Str t, Str p, char many, char one, int nocase)
{
    size_t i = 0, k = 0, back_i = 0, back_k = 0;
    bool starred = false;

    while (i < t.n) {
        if (k < p.n && p.p[k] == many) {
            starred = true;
            back_i = i;
            back_k = ++k;
        } else if (k < p.n && p.p[k] == one) {
            i = step(t, i);
            k++;
        } else if (k < p.n && fold(p.p[k], nocase) == fold(t.p[i], nocase)) {
            i++;
            k++;
        } else if (starred) {
            i = back_i = step(t, back_i);
            k = back_k;
        } else {
            return false;
        }
    }
    while (k < p.n && p.p[k] == many)
        k++;
    return k == p.n;
}

bool policy_like(Str text, Str pattern) { return like(text, pattern, '*', '?', 0); }

bool policy_match_nocase(Str text, Str pattern) { return like(text, pattern, '*', '?', 1); }

/* ---- variables ----------------------------------------------------------------------------------------------------------- */

static Str context_value(const Eval *e, Str key, bool *known)
{
    const Props *c = e->ask->context;
    for (size_t i = 0; c && i < c->n; i++)
        if (str_ieq(c->p[i].key, key)) {
            *known = true;
            return c->p[i].value;
        }
    *known = false;
    return (Str){0};
}

/* "key" or "key, 'default'". */
static Str variable(const Eval *e, Str inside, bool *known)
{
    Str key, fallback;
    bool has_default = str_cut(inside, ',', &key, &fallback);
    Str v = context_value(e, str_trim(key), known);

    fallback = str_trim(fallback);
    if (*known || !has_default || fallback.n < 2 || fallback.p[0] != '\'' || fallback.p[fallback.n - 1] != '\'')
        return v;
    *known = true;
    return str_sub(fallback, 1, fallback.n - 1);
}

static bool is_escape(Str inside) { return inside.n == 1 && (inside.p[0] == '*' || inside.p[0] == '?' || inside.p[0] == '$'); }

/* The text of `pattern` with its variables; wildcards as `many` and `one`. */
static bool compile(Eval *e, Str pattern, char many, char one, Str *ret)
{
    if (!e->a)
        e->a = arena_create();
    StrBuf b = sb_new(e->a);
    for (size_t i = 0; i < pattern.n; i++) {
        char c = pattern.p[i];
        Str rest = str_from(pattern, i);
        ptrdiff_t end = str_starts(rest, S("${")) ? str_chr(rest, '}') : -1;
        if (end < 0) {
            sb_byte(&b, c == '*' ? many : c == '?' ? one : many != '*' && c >= 1 && c <= 3 ? OTHER : c);
            continue;
        }
        bool known = true;
        Str inside = str_sub(rest, 2, (size_t)end);
        sb_add(&b, is_escape(inside) ? inside : variable(e, inside, &known));
        if (!known)
            return false;
        i += (size_t)end;
    }
    *ret = sb_str(&b);
    return true;
}

static bool has_variable(const Eval *e, Str s) { return e->variables && str_find(s, S("${")) >= 0; }

bool policy_expand(Eval *e, Str text, Str *ret)
{
    *ret = text;
    return !has_variable(e, text) || compile(e, text, '*', '?', ret);
}

bool policy_match(Eval *e, Str text, Str pattern)
{
    Str compiled;
    if (!has_variable(e, pattern))
        return policy_like(text, pattern);
    return compile(e, pattern, MANY, ONE, &compiled) && like(text, compiled, MANY, ONE, 0);
}

/* Five parts between colons, and the rest. */
static bool next_part(Str *s, int i, Str *ret)
{
    Str rest;
    if (i == 5) {
        *ret = *s;
        return true;
    }
    if (!str_cut(*s, ':', ret, &rest))
        return false;
    *s = rest;
    return true;
}

static bool like_arn(Str arn, Str pattern, char many, char one)
{
    Str x, y;
    for (int i = 0; i < 6; i++)
        if (!next_part(&arn, i, &x) || !next_part(&pattern, i, &y) || !like(x, y, many, one, 0))
            return false;
    return true;
}

bool policy_match_arn(Eval *e, Str arn, Str pattern)
{
    Str compiled;
    if (str_eq(pattern, S("*")))
        return true;
    if (!has_variable(e, pattern))
        return like_arn(arn, pattern, '*', '?');
    return compile(e, pattern, MANY, ONE, &compiled) && like_arn(arn, compiled, MANY, ONE);
}

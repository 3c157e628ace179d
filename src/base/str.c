/* SPDX-License-Identifier: Apache-2.0 */
/* str.c - views of bytes, and the buffer that grows them. */
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

Str str_c(const char *z) { return (Str){ z, z ? strlen(z) : 0 }; }
Str str_n(const char *p, size_t n) { return (Str){ p, n }; }

Str str_dup(Arena *a, Str s) { return (Str){ str_z(a, s), s.n }; }

char *str_z(Arena *a, Str s)
{
    char *p = arena_alloc(a, s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    return p;
}

static Str format(Arena *a, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return (Str){ p, (size_t)n };
}

Str str_fmt(Arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    Str s = format(a, fmt, ap);
    va_end(ap);
    return s;
}

Str str_cat(Arena *a, Str x, Str y)
{
    char *p = arena_alloc(a, x.n + y.n + 1);
    if (x.n)
        memcpy(p, x.p, x.n);
    if (y.n)
        memcpy(p + x.n, y.p, y.n);
    return (Str){ p, x.n + y.n };
}

bool str_eq(Str x, Str y) { return x.n == y.n && (!x.n || memcmp(x.p, y.p, x.n) == 0); }

static char fold(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

bool str_ieq(Str x, Str y)
{
    if (x.n != y.n)
        return false;
    for (size_t i = 0; i < x.n; i++)
        if (fold(x.p[i]) != fold(y.p[i]))
            return false;
    return true;
}

int str_cmp(Str x, Str y)
{
    size_t n = min_size(x.n, y.n);
    int c = n ? memcmp(x.p, y.p, n) : 0;
    return c ? c : (x.n > y.n) - (x.n < y.n);
}

bool str_starts(Str s, Str prefix) { return s.n >= prefix.n && str_eq(str_n(s.p, prefix.n), prefix); }
bool str_ends(Str s, Str suffix) { return s.n >= suffix.n && str_eq(str_n(s.p + s.n - suffix.n, suffix.n), suffix); }

Str str_sub(Str s, size_t from, size_t to)
{
    to = min_size(to, s.n);
    from = min_size(from, to);
    return (Str){ s.p ? s.p + from : NULL, to - from };
}

Str str_from(Str s, size_t from) { return str_sub(s, from, s.n); }

Str str_trim(Str s)
{
    while (s.n && isspace((unsigned char)s.p[0]))
        s = str_from(s, 1);
    while (s.n && isspace((unsigned char)s.p[s.n - 1]))
        s.n--;
    return s;
}

Str str_lower(Arena *a, Str s)
{
    char *p = str_z(a, s);
    for (size_t i = 0; i < s.n; i++)
        p[i] = fold(p[i]);
    return (Str){ p, s.n };
}

Str str_upper(Arena *a, Str s)
{
    char *p = str_z(a, s);
    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'a' && p[i] <= 'z')
            p[i] = (char)(p[i] - 32);
    return (Str){ p, s.n };
}

ptrdiff_t str_find(Str s, Str needle)
{
    if (!needle.n)
        return 0;
    if (s.n < needle.n)
        return -1;
    const char *at = memmem(s.p, s.n, needle.p, needle.n);
    return at ? at - s.p : -1;
}

ptrdiff_t str_chr(Str s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;
    return at ? at - s.p : -1;
}

ptrdiff_t str_rchr(Str s, char c)
{
    const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;
    return at ? at - s.p : -1;
}

bool str_cut(Str s, char sep, Str *head, Str *tail)
{
    ptrdiff_t at = str_chr(s, sep);
    *head = at < 0 ? s : str_sub(s, 0, (size_t)at);
    *tail = at < 0 ? (Str){ 0 } : str_from(s, (size_t)at + 1);
    return at >= 0;
}

bool str_to_i64(Str s, int64_t *ret)
{
    char buf[32], *end;
    if (!s.n || s.n >= sizeof buf || isspace((unsigned char)s.p[0]))
        return false;
    memcpy(buf, s.p, s.n);
    buf[s.n] = 0;
    errno = 0;
    *ret = strtoll(buf, &end, 10);
    return !errno && end == buf + s.n;
}

bool str_to_f64(Str s, double *ret)
{
    char buf[512], *end;
    if (!s.n || s.n >= sizeof buf || isspace((unsigned char)s.p[0]))
        return false;
    memcpy(buf, s.p, s.n);
    buf[s.n] = 0;
    *ret = strtod(buf, &end);
    return end == buf + s.n;
}

/* Length of the well-formed UTF-8 sequence at p, 0 if there is none (Unicode 15, table 3-7). */
static size_t utf8_len(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80)
        return 1;
    size_t len = p[0] >= 0xC2 && p[0] <= 0xDF ? 2 : p[0] >= 0xE0 && p[0] <= 0xEF ? 3 : p[0] >= 0xF0 && p[0] <= 0xF4 ? 4 : 0;
    if (!len || n < len)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) || (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    return len;
}

bool str_is_utf8(Str s)
{
    for (size_t i = 0, len; i < s.n; i += len)
        if (!(len = utf8_len((const unsigned char *)s.p + i, s.n - i)))
            return false;
    return true;
}

bool str_like(Str s, Str pattern)
{
    size_t i = 0, j = 0, star = SIZE_MAX, mark = 0;
    while (i < s.n) {
        if (j < pattern.n && pattern.p[j] == '%') {
            star = j++;
            mark = i;
        } else if (j < pattern.n && (pattern.p[j] == '_' || pattern.p[j] == s.p[i])) {
            i++, j++;
        } else if (star != SIZE_MAX) {
            j = star + 1;
            i = ++mark;
        } else {
            return false;
        }
    }
    while (j < pattern.n && pattern.p[j] == '%')
        j++;
    return j == pattern.n;
}

/* ---- growing ------------------------------------------------------------------------------------------ */

StrBuf sb_new(Arena *a) { return (StrBuf){ .a = a }; }

static void reserve(StrBuf *b, size_t more)
{
    if (b->n + more + 1 <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < b->n + more + 1)
        cap *= 2;
    b->p = arena_grow(b->a, b->p, b->cap, cap);
    b->cap = cap;
}

void sb_add(StrBuf *b, Str s)
{
    reserve(b, s.n);
    if (s.n)
        memcpy(b->p + b->n, s.p, s.n);
    b->n += s.n;
    b->p[b->n] = 0;
}

void sb_addc(StrBuf *b, const char *z) { sb_add(b, str_c(z)); }
void sb_byte(StrBuf *b, char c) { sb_add(b, str_n(&c, 1)); }

void sb_fmt(StrBuf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    reserve(b, (size_t)n);
    vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
    b->n += (size_t)n;
    va_end(again);
    va_end(ap);
}

Str sb_str(StrBuf *b)
{
    reserve(b, 0);
    b->p[b->n] = 0;
    return (Str){ b->p, b->n };
}

Str str_join(Arena *a, const StrVec *v, Str sep)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; i < v->n; i++) {
        if (i)
            sb_add(&b, sep);
        sb_add(&b, v->p[i]);
    }
    return sb_str(&b);
}

void str_split(Arena *a, Str s, char sep, StrVec *ret)
{
    Str head, tail = s;
    for (bool more = true; more; ) {
        more = str_cut(tail, sep, &head, &tail);
        vec_push(a, ret, head);
    }
}

bool strvec_has(const StrVec *v, Str s)
{
    for (size_t i = 0; i < v->n; i++)
        if (str_eq(v->p[i], s))
            return true;
    return false;
}

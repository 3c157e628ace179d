/* SPDX-License-Identifier: Apache-2.0 */
/* pg_decode.c - pgoutput's messages (PostgreSQL manual, "Logical Replication Message Formats", version 1), and lines of COPY.
 *
 * Every length is checked against what is there before it is believed; the reader is sticky: after the first lack it gives zeros, and the end asks once. */
#include "source/pg_int.h"

typedef struct Reader { Str s; size_t at; bool bad; } Reader;

static uint64_t number(Reader *r, size_t n)
{
    uint64_t v = 0;

    if (r->bad || r->s.n - r->at < n) {
        r->bad = true;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        v = v << 8 | (unsigned char)r->s.p[r->at++];
    return v;
}

static char letter(Reader *r) { return (char)number(r, 1); }

static Str bytes(Reader *r, size_t n)
{
    if (r->bad || r->s.n - r->at < n) {
        r->bad = true;
        return (Str){0};
    }
    r->at += n;
    return str_n(r->s.p + r->at - n, n);
}

static Str zero_ended(Reader *r)
{
    const char *end = r->bad ? NULL : memchr(r->s.p + r->at, 0, r->s.n - r->at);

    if (!end) {
        r->bad = true;
        return (Str){0};
    }
    Str s = bytes(r, (size_t)(end - (r->s.p + r->at)));
    r->at++;
    return s;
}

static void tuple(Arena *a, Reader *r, PgTuple *ret)
{
    size_t n = number(r, 2);

    if (n > PG_COLUMNS_MAX)
        r->bad = true;
    for (size_t i = 0; i < n && !r->bad; i++) {
        PgCell c = { .kind = letter(r) };
        if (c.kind == 't')
            c.text = bytes(r, number(r, 4));
        else if (c.kind != 'n' && c.kind != 'u')
            r->bad = true;
        vec_push(a, ret, c);
    }
}

static void relation(Arena *a, Reader *r, PgMessage *m)
{
    m->relation = (uint32_t)number(r, 4);
    m->ns = zero_ended(r);
    m->name = zero_ended(r);
    m->identity = letter(r);
    size_t n = number(r, 2);
    if (n > PG_COLUMNS_MAX)
        r->bad = true;
    for (size_t i = 0; i < n && !r->bad; i++) {
        PgRelColumn c = {0};
        number(r, 1);                                 /* part of the replica identity */
        c.name = zero_ended(r);
        c.type = (uint32_t)number(r, 4);
        c.mod = (int32_t)number(r, 4);
        vec_push(a, &m->columns, c);
    }
}

static void change(Arena *a, Reader *r, PgMessage *m)
{
    m->relation = (uint32_t)number(r, 4);
    char part = letter(r);

    if (m->kind != 'I' && (part == 'K' || part == 'O')) {
        m->old_kind = part;
        tuple(a, r, &m->before);
        part = m->kind == 'U' ? letter(r) : 0;
    }
    if (m->kind == 'D' ? m->old_kind == 0 : part != 'N')
        r->bad = true;
    else if (m->kind != 'D')
        tuple(a, r, &m->after);
}

static void truncate_(Arena *a, Reader *r, PgMessage *m)
{
    size_t n = number(r, 4);

    number(r, 1);                                     /* CASCADE, RESTART IDENTITY: nothing to us */
    if (n > PG_TABLES_MAX)
        r->bad = true;
    for (size_t i = 0; i < n && !r->bad; i++)
        vec_push(a, &m->truncated, (uint32_t)number(r, 4));
}

static void body(Arena *a, Reader *r, PgMessage *m)
{
    switch (m->kind) {
    case 'B':
        m->final_lsn = number(r, 8);
        number(r, 8);
        number(r, 4);
        break;
    case 'C':
        number(r, 1);
        m->final_lsn = number(r, 8);
        m->end_lsn = number(r, 8);
        number(r, 8);
        break;
    case 'R': relation(a, r, m); break;
    case 'I': case 'U': case 'D': change(a, r, m); break;
    case 'T': truncate_(a, r, m); break;
    case 'Y': case 'O': case 'M': r->at = r->s.n; break;
    default: r->bad = true;
    }
}

Status pg_message(Arena *a, Str s, PgMessage *ret, Error *err)
{
    Reader r = { .s = s };

    *ret = (PgMessage){0};
    ret->kind = letter(&r);
    body(a, &r, ret);
    if (r.bad || r.at != s.n)
        return FAIL(err, E_CORRUPT, "a replication message of kind '%c' with %zu bytes is not as it must be (at byte %zu)", ret->kind >= ' ' && ret->kind < 127 ? ret->kind : '?', s.n, r.at);
    return OK;
}

Status pg_frame(Str s, PgFrame *ret, Error *err)
{
    Reader r = { .s = s };

    *ret = (PgFrame){ .kind = letter(&r) };
    if (ret->kind == 'w')
        ret->start = number(&r, 8);
    if (ret->kind == 'w' || ret->kind == 'k') {
        ret->end = number(&r, 8);
        number(&r, 8);
    }
    if (ret->kind == 'k')
        ret->reply = (int)number(&r, 1);
    if (r.bad || (ret->kind != 'w' && ret->kind != 'k'))
        return FAIL(err, E_CORRUPT, "a replication frame of %zu bytes is not as it must be", s.n);
    ret->body = str_from(s, r.at);
    return OK;
}

/* ---- COPY, text ------------------------------------------------------------------------------------------------------------ */

static int digit(char c, int base)
{
    int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
    return d < base ? d : -1;
}

static char escaped(Str s, size_t *at)
{
    char c = s.p[(*at)++];
    int v = 0, base = c == 'x' ? 16 : 8, most = c == 'x' ? 2 : 3, n = 0;
    static const char from[] = "bfnrtv", to[] = "\b\f\n\r\t\v";
    const char *known = strchr(from, c);

    if (c && known)
        return to[known - from];
    size_t k = c == 'x' ? *at : *at - 1;
    for (; n < most && k < s.n && digit(s.p[k], base) >= 0; n++)
        v = v * base + digit(s.p[k++], base);
    if (!n)
        return c;
    *at = k;
    return (char)v;
}

static Str unescape(Arena *a, Str s)
{
    if (str_chr(s, '\\') < 0)
        return s;
    char *p = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n;) {
        char c = s.p[i++];
        p[n++] = c == '\\' && i < s.n ? escaped(s, &i) : c;
    }
    return str_n(p, n);
}

Status pg_copy_line(Arena *a, Str line, PgTuple *ret, Error *err)
{
    Str rest = line.n && line.p[line.n - 1] == '\n' ? str_sub(line, 0, line.n - 1) : line, field;
    bool more = true;

    while (more) {
        more = str_cut(rest, '\t', &field, &rest);
        PgCell c = { .kind = str_eq(field, S("\\N")) ? 'n' : 't' };
        if (c.kind == 't')
            c.text = unescape(a, field);
        vec_push(a, ret, c);
        if (ret->n > PG_COLUMNS_MAX)
            return FAIL(err, E_CORRUPT, "a line of COPY has more than %d fields", PG_COLUMNS_MAX);
    }
    return OK;
}

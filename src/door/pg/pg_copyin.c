/* SPDX-License-Identifier: Apache-2.0 */
/* pg_copyin.c - COPY FROM STDIN: bytes that arrive in any portions, to rows of fields.
 *
 * Invariants: (1) a row is taken only when all of it is there, or no more bytes will come; (2) what waits is at most one
 * row and one portion, and a row is limited by the message limit. */
#include "door/pg/pg_int.h"

#include <stdio.h>
#include <stdlib.h>

enum { COPY_FIELDS = 10000 };

void pg_copy_in_done(PgCopyIn *c)
{
    free(c->p);
    c->p = NULL;
}

static Status bad(PgCopyIn *c, const char *what, Error *err)
{
    RAISE(err, E_INVALID, "COPY line %lld: %s", (long long)c->line + 1, what);
    snprintf(err->sqlstate, sizeof err->sqlstate, "22P04");
    return E_INVALID;
}

static Str waiting(const PgCopyIn *c) { return c->p ? str_n(c->p + c->at, c->n - c->at) : (Str){ 0 }; }
static bool is_text(Str s) { return str_is_utf8(s) && (!s.n || !memchr(s.p, 0, s.n)); }

Status pg_copy_feed(PgCopyIn *c, Str bytes, Error *err)
{
    if (c->ended)
        return OK;
    if (c->at) {
        memmove(c->p, c->p + c->at, c->n - c->at);
        c->n -= c->at;
        c->at = 0;
    }
    if (c->n > c->limit)
        return FAIL(err, E_LIMIT, "COPY line %lld is longer than the limit of %zu bytes", (long long)c->line + 1, c->limit);
    if (c->n + bytes.n > c->cap) {
        size_t cap = c->cap ? c->cap : PG_BUFFER_BYTES;
        while (cap < c->n + bytes.n)
            cap *= 2;
        char *p = realloc(c->p, cap);
        if (!p)
            abort();
        c->p = p;
        c->cap = cap;
    }
    if (bytes.n)
        memcpy(c->p + c->n, bytes.p, bytes.n);
    c->n += bytes.n;
    return OK;
}

/* ---- lines ------------------------------------------------------------------------------------------------------------ */

/* The next line without its end, *next behind it. A quoted newline belongs to the line, as does one behind a backslash in
 * text format. false: not whole yet. */
static bool find_line(const PgCopyIn *c, size_t *end, size_t *next)
{
    const PgCopy *o = &c->copy;
    bool quoted = false, csv = o->format == PG_COPY_CSV;

    for (size_t i = c->at; i < c->n; i++) {
        char ch = c->p[i];
        if (csv && quoted && ch == o->escape && o->escape != o->quote && i + 1 < c->n
            && (c->p[i + 1] == o->escape || c->p[i + 1] == o->quote))
            i++;
        else if (csv && ch == o->quote)
            quoted = !quoted;
        else if (!csv && ch == '\\')
            i++;
        else if (!quoted && (ch == '\n' || ch == '\r')) {
            if (ch == '\r' && i + 1 == c->n && !c->at_end)
                return false;                            /* the \n may be in the next portion */
            *end = i;
            *next = i + 1 + (ch == '\r' && i + 1 < c->n && c->p[i + 1] == '\n');
            return true;
        }
    }
    *end = *next = c->n;
    return c->at_end && c->at < c->n;
}

static void add_field(Arena *a, PgFields *f, size_t *nulls_cap, Str s, bool null)
{
    size_t n = f->n, cap = *nulls_cap;
    struct { int *p; size_t n, cap; } nulls = { f->nulls, n, cap };
    struct { Str *p; size_t n, cap; } fields = { f->fields, n, f->cap };

    vec_push(a, &fields, s);
    vec_push(a, &nulls, null);
    f->fields = fields.p;
    f->cap = fields.cap;
    f->nulls = nulls.p;
    *nulls_cap = nulls.cap;
    f->n = n + 1;
}

/* ---- text format -------------------------------------------------------------------------------------------------------- */

static int octal(Str s, size_t *i)
{
    int v = 0;
    for (int k = 0; k < 3 && *i < s.n && s.p[*i] >= '0' && s.p[*i] <= '7'; k++)
        v = v * 8 + (s.p[(*i)++] - '0');
    return v & 255;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int hexadecimal(Str s, size_t *i)
{
    int v = 0;
    for (int k = 0; k < 2 && *i < s.n && hex_digit(s.p[*i]) >= 0; k++)
        v = v * 16 + hex_digit(s.p[(*i)++]);
    return v;
}

static char unescape(Str s, size_t *i)
{
    static const char letter[] = "bfnrtv", special[] = "\b\f\n\r\t\v";
    char c = s.p[(*i)++];
    const char *hit = c ? strchr(letter, c) : NULL;

    if (hit)
        return special[hit - letter];
    if (c >= '0' && c <= '7') {
        (*i)--;
        return (char)octal(s, i);
    }
    if (c == 'x' && *i < s.n && hex_digit(s.p[*i]) >= 0)
        return (char)hexadecimal(s, i);
    return c;
}

static Str unescaped(Arena *a, Str raw)
{
    if (str_chr(raw, '\\') < 0)
        return str_dup(a, raw);
    StrBuf b = sb_new(a);
    for (size_t i = 0; i < raw.n;) {
        char c = raw.p[i++];
        sb_byte(&b, c == '\\' && i < raw.n ? unescape(raw, &i) : c);
    }
    return sb_str(&b);
}

static Status split_text(PgCopyIn *c, Arena *a, Str line, PgFields *ret, Error *err)
{
    size_t from = 0, nulls_cap = 0;

    for (size_t i = 0;; i++) {
        if (i < line.n && line.p[i] == '\\')
            i++;                                         /* a backslash at the end of the line stands for itself */
        else if (i >= line.n || line.p[i] == c->copy.delimiter) {
            if (ret->n == COPY_FIELDS)
                return bad(c, "too many columns", err);
            Str raw = str_sub(line, from, i);
            bool null = str_eq(raw, c->copy.null);
            Str s = null ? S("") : unescaped(a, raw);
            if (!is_text(s))
                return bad(c, "invalid byte sequence for encoding \"UTF8\"", err);
            add_field(a, ret, &nulls_cap, s, null);
            if (i >= line.n)
                return OK;
            from = i + 1;
        }
    }
}

/* ---- CSV ------------------------------------------------------------------------------------------------------------------- */

static Status split_csv(PgCopyIn *c, Arena *a, Str line, PgFields *ret, Error *err)
{
    const PgCopy *o = &c->copy;
    size_t i = 0, nulls_cap = 0;

    for (;;) {
        StrBuf b = sb_new(a);
        bool quoted = false, was_quoted = false;
        for (; i < line.n; i++) {
            char ch = line.p[i];
            if (quoted && ch == o->escape && i + 1 < line.n && (line.p[i + 1] == o->quote || line.p[i + 1] == o->escape))
                sb_byte(&b, line.p[++i]);
            else if (ch == o->quote)
                was_quoted = true, quoted = !quoted;
            else if (!quoted && ch == o->delimiter)
                break;
            else
                sb_byte(&b, ch);
        }
        if (quoted)
            return bad(c, "unterminated CSV quoted field", err);
        Str s = sb_str(&b);
        if (ret->n == COPY_FIELDS)
            return bad(c, "too many columns", err);
        add_field(a, ret, &nulls_cap, s, !was_quoted && str_eq(s, o->null));
        if (i++ == line.n)
            return OK;
    }
}

/* ---- binary ---------------------------------------------------------------------------------------------------------------- */

static Status binary_start(PgCopyIn *c, int *ready, Error *err)
{
    static const char signature[] = "PGCOPY\n\377\r\n";
    PgIn in = pg_in(waiting(c));

    *ready = 0;
    if (c->n - c->at < 19)
        return c->at_end ? bad(c, "COPY file signature not recognized", err) : OK;
    if (!str_eq(pg_in_bytes(&in, 11), str_n(signature, 11)))
        return bad(c, "COPY file signature not recognized", err);
    if (pg_in_i32(&in) != 0)
        return bad(c, "unrecognized flags in COPY file header", err);
    int32_t extension = pg_in_i32(&in);
    if (extension < 0 || (size_t)extension > c->limit)
        return bad(c, "invalid COPY file header", err);
    if (pg_in_left(&in) < (size_t)extension)
        return c->at_end ? bad(c, "invalid COPY file header", err) : OK;
    c->at += 19 + (size_t)extension;
    *ready = c->started = 1;
    return OK;
}

static Status binary_field(PgCopyIn *c, Arena *a, size_t i, Str bytes, Str *ret, Error *err)
{
    const PgColumn *col = &c->columns->p[i];
    Value v;

    TRY_CTX(pg_binary_parse(a, &col->type, col->pg_oid, bytes, &v, err), err, "COPY line %lld, column " STR_FMT,
            (long long)c->line + 1, STR_ARG(col->name));
    return pg_value_text(a, &v, ret, err);
}

static Status binary_row(PgCopyIn *c, Arena *a, PgFields *ret, int *has, Error *err)
{
    PgIn in = pg_in(waiting(c));
    int n = pg_in_i16(&in);
    size_t nulls_cap = 0;

    if (in.bad)                                          /* the end may come without a trailer */
        return c->at_end && in.n ? bad(c, "unexpected end of COPY data", err) : OK;
    if (n == -1) {
        c->ended = 1;
        c->at = c->n;
        return OK;
    }
    if (n < 0 || (size_t)n != c->columns->n)
        return bad(c, "row field count does not match the columns", err);
    for (int i = 0; i < n; i++) {
        int32_t size = pg_in_i32(&in);
        if (!in.bad && (size < -1 || (size > 0 && (size_t)size > c->limit)))
            return bad(c, "unexpected field size", err);
        Str bytes = size > 0 ? pg_in_bytes(&in, (size_t)size) : (Str){ 0 }, text = { 0 };
        if (in.bad)
            return c->at_end ? bad(c, "unexpected end of COPY data", err) : OK;
        if (size >= 0)
            TRY(binary_field(c, a, (size_t)i, bytes, &text, err));
        add_field(a, ret, &nulls_cap, text, size < 0);
    }
    c->at += in.at;
    c->line++;
    *has = 1;
    return OK;
}

static Status take_binary(PgCopyIn *c, Arena *a, PgFields *ret, int *has, Error *err)
{
    int ready = 1;

    if (!c->started)
        TRY(binary_start(c, &ready, err));
    return ready ? binary_row(c, a, ret, has, err) : OK;
}

Status pg_copy_take(PgCopyIn *c, Arena *a, PgFields *ret, int *has, Error *err)
{
    size_t end, next;

    *has = 0;
    *ret = (PgFields){ 0 };
    if (c->ended)
        return OK;
    if (c->copy.format == PG_COPY_BINARY)
        return take_binary(c, a, ret, has, err);
    while (find_line(c, &end, &next)) {
        Str line = str_n(c->p + c->at, end - c->at);
        c->at = next;
        if (!c->started && c->copy.header) {
            c->started = 1;
            continue;
        }
        c->started = 1;
        if (str_eq(line, S("\\."))) {
            c->ended = 1;
            return OK;
        }
        if (!is_text(line))
            return bad(c, "invalid byte sequence for encoding \"UTF8\"", err);
        if (c->copy.format == PG_COPY_CSV)
            TRY(split_csv(c, a, line, ret, err));
        else
            TRY(split_text(c, a, line, ret, err));
        c->line++;
        *has = 1;
        return OK;
    }
    return OK;
}

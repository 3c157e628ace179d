/* SPDX-License-Identifier: Apache-2.0 */
/* pg_packet.c - reading and writing the bytes of messages, big-endian as the protocol wants them.
 *
 * Both are sticky: a reader that ran over the end, or a writer over its limit, does nothing more and says so once at
 * the end.  Invariants: (1) a reader never touches a byte outside of its message; (2) a message in the writer is either
 * whole or taken back. */
#include "door/pg/pg_int.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- reader ------------------------------------------------------------------------------------------------ */

PgIn pg_in(Str bytes) { return (PgIn){ .p = (const unsigned char *)(bytes.p ? bytes.p : ""), .n = bytes.n }; }

static const unsigned char *take(PgIn *in, size_t n)
{
    if (in->bad || n > in->n - in->at) {
        in->bad = 1;
        return NULL;
    }
    in->at += n;
    return in->p + in->at - n;
}

static uint64_t take_uint(PgIn *in, size_t n)
{
    const unsigned char *p = take(in, n);
    uint64_t v = 0;

    for (size_t i = 0; p && i < n; i++)
        v = v << 8 | p[i];
    return v;
}

uint8_t pg_in_u8(PgIn *in) { return (uint8_t)take_uint(in, 1); }
int16_t pg_in_i16(PgIn *in) { return (int16_t)take_uint(in, 2); }
int32_t pg_in_i32(PgIn *in) { return (int32_t)take_uint(in, 4); }
int64_t pg_in_i64(PgIn *in) { return (int64_t)take_uint(in, 8); }
size_t pg_in_left(const PgIn *in) { return in->bad ? 0 : in->n - in->at; }
bool pg_in_done(const PgIn *in) { return !in->bad && in->at == in->n; }

Str pg_in_cstr(PgIn *in)
{
    const unsigned char *end = in->bad || in->at == in->n ? NULL : memchr(in->p + in->at, 0, in->n - in->at);

    if (!end) {
        in->bad = 1;
        return (Str){ 0 };
    }
    Str s = str_n((const char *)in->p + in->at, (size_t)(end - in->p) - in->at);
    in->at += s.n + 1;
    return s;
}

Str pg_in_bytes(PgIn *in, size_t n)
{
    const unsigned char *p = take(in, n);
    return p ? str_n((const char *)p, n) : (Str){ 0 };
}

/* ---- writer ------------------------------------------------------------------------------------------------ */

static char *room(PgOut *o, size_t n)
{
    if (o->bad || n > PG_ROW_BYTES || o->n - o->start > PG_ROW_BYTES - n) {
        o->bad = 1;
        return NULL;
    }
    if (o->n + n > o->cap) {
        size_t cap = o->cap ? o->cap : PG_BUFFER_BYTES;
        while (cap < o->n + n)
            cap *= 2;
        char *p = realloc(o->p, cap);
        if (!p)
            abort();
        o->p = p;
        o->cap = cap;
    }
    o->n += n;
    return o->p + o->n - n;
}

static void put_uint(PgOut *o, uint64_t v, size_t n)
{
    char *p = room(o, n);
    for (size_t i = 0; p && i < n; i++)
        p[i] = (char)(v >> (8 * (n - 1 - i)));
}

static void set_i32(PgOut *o, size_t at, size_t v)
{
    for (size_t i = 0; i < 4; i++)
        o->p[at + i] = (char)(v >> (8 * (3 - i)));
}

void pg_out_u8(PgOut *o, int v) { put_uint(o, (uint64_t)v, 1); }
void pg_out_i16(PgOut *o, int v) { put_uint(o, (uint64_t)v, 2); }
void pg_out_i32(PgOut *o, int64_t v) { put_uint(o, (uint64_t)v, 4); }
void pg_out_i64(PgOut *o, int64_t v) { put_uint(o, (uint64_t)v, 8); }
void pg_out_z(PgOut *o, const char *z) { pg_out_bytes(o, str_c(z)); }

void pg_out_bytes(PgOut *o, Str s)
{
    char *p = s.n ? room(o, s.n) : NULL;
    if (p)
        memcpy(p, s.p, s.n);
}

void pg_out_cstr(PgOut *o, Str s)
{
    for (size_t at = 0; at < s.n;) {
        size_t n = strnlen(s.p + at, s.n - at);
        pg_out_bytes(o, str_n(s.p + at, n));
        at += n + 1;
    }
    pg_out_u8(o, 0);
}

void pg_out_fmt(PgOut *o, const char *fmt, ...)
{
    char text[512];                                   /* numbers and times only: nothing from outside has this form */
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pg_out_bytes(o, str_n(text, min_size((size_t)n, sizeof text - 1)));
}

void pg_out_begin(PgOut *o, char type)
{
    o->start = o->n;
    pg_out_u8(o, type);
    pg_out_i32(o, 0);
}

void pg_out_end(PgOut *o)
{
    if (o->bad) {
        pg_out_undo(o);
        o->bad = 1;
        return;
    }
    set_i32(o, o->start + 1, o->n - o->start - 1);
    o->start = o->n;
}

void pg_out_undo(PgOut *o)
{
    o->n = o->start;
    o->bad = 0;
}

size_t pg_out_len_begin(PgOut *o)
{
    pg_out_i32(o, 0);
    return o->n;
}

void pg_out_len_end(PgOut *o, size_t at)
{
    if (!o->bad)
        set_i32(o, at - 4, o->n - at);
}

void pg_out_free(PgOut *o)
{
    free(o->p);
    *o = (PgOut){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_pgoutput.c - what a PostgreSQL server sends to a source: the first byte says what it is (frame and message, a line of COPY, a value of some type).
 *
 * Nothing that is decoded lies outside of the bytes; what a value of a type came to can be written as a literal. */
#include "source/pg_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(Str whole, Str part)
{
    if (part.n && (part.p < whole.p || part.p + part.n > whole.p + whole.n))
        abort();
}

static void tuple(Str whole, const PgTuple *t)
{
    for (size_t i = 0; i < t->n; i++)
        inside(whole, t->p[i].text);
}

static void message(Arena *a, Str s)
{
    PgFrame f;
    PgMessage m;
    Error err;

    if (pg_frame(s, &f, &err) == OK)
        inside(s, f.body);
    else
        f.body = s;
    if (pg_message(a, f.body, &m, &err) != OK)
        return;
    tuple(s, &m.before);
    tuple(s, &m.after);
    inside(s, m.ns);
    inside(s, m.name);
}

static void line(Arena *a, Str s)
{
    PgTuple t = {0};
    Error err;

    if (pg_copy_line(a, s, &t, &err) == OK && !t.n)
        abort();
}

static void value(Arena *a, uint8_t which, Str s)
{
    static const uint32_t oids[] = { 16, 17, 19, 20, 21, 23, 25, 26, 114, 3802, 700, 701, 1042, 1082, 1083, 1114, 1184, 1186, 1700, 2950, 1007, 1009, 1231, 1182, 3807, 1187, 2951 };
    DataType t;
    Str name;
    Value v;
    Error err;

    if (!pg_type(a, oids[which % COUNT_OF(oids)], which & 0x40 ? (10 << 16 | 2) + 4 : -1, &t, &name) || pg_value(a, 0, &t, s, &v, &err) != OK)
        return;
    StrBuf b = sb_new(a);
    v = value_copy(a, &v, &t);
    sql_value(&b, &v);
    if (!b.n)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    Arena *a = arena_create();
    Str rest = str_n((const char *)data + 2, size - 2);

    if (data[0] % 3 == 0)
        message(a, rest);
    else if (data[0] % 3 == 1)
        line(a, rest);
    else
        value(a, data[1], rest);
    arena_destroy(a);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_roaring.c - a bitmap that is read is ascending, and is written and read again unchanged; the same bytes also
 * as a deletion vector whose length and checksum are put right. */
#include "codec/codec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(Arena *a, const Positions *p)
{
    Positions again;
    Error err;

    for (size_t i = 1; i < p->n; i++)
        if (p->p[i] <= p->p[i - 1])
            abort();
    if (roaring_read(a, roaring_write(a, p), &again, &err) != OK || again.n != p->n
        || (p->n && memcmp(again.p, p->p, p->n * sizeof *p->p)))
        abort();
}

static Str as_vector(Arena *a, Str bitmap)
{
    StrBuf b = sb_new(a);
    uint32_t n = __builtin_bswap32((uint32_t)bitmap.n + 4);
    sb_add(&b, str_n((const char *)&n, 4));
    sb_add(&b, S("\xD1\xD3\x39\x64"));
    sb_add(&b, bitmap);
    sb_add(&b, hash_bytes(a, HASH_CRC32, str_from(sb_str(&b), 4)));
    return sb_str(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str bytes = str_n((const char *)data, size);
    Positions p, q;
    Error err;

    bool good = roaring_read(a, bytes, &p, &err) == OK;
    if (good && p.n < 1000000)
        check(a, &p);
    if ((dv_blob_read(a, as_vector(a, bytes), &q, &err) == OK) != good)
        abort();
    if (dv_blob_read(a, bytes, &q, &err) == OK && q.n < 1000000)
        check(a, &q);
    return 0;
}

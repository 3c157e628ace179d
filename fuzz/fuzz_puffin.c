/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_puffin.c - a file that is read is written and read again with as many blobs; the bytes also as the footer of
 * a file whose framing is right. */
#include "codec/codec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_and_write(Arena *a, Str file)
{
    PuffinBlobs blobs, again;
    Props props, props2;
    Error err;
    Str text;

    if (puffin_read(a, file, &blobs, &props, &err) != OK)
        return;
    Status s = puffin_write(a, &blobs, &props, &text, &err);
    if (s == E_INVALID || s == E_LIMIT)                       /* a compressed deletion vector can be read only */
        return;
    if (s != OK || puffin_read(a, text, &again, &props2, &err) != OK || again.n != blobs.n || props2.n != props.n)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str bytes = str_n((const char *)data, size);
    uint32_t tail[2] = { (uint32_t)size, 0 };
    StrBuf b = sb_new(a);

    read_and_write(a, bytes);
    sb_addc(&b, "PFA1some bytes of blobsPFA1");
    sb_add(&b, bytes);
    sb_add(&b, str_n((const char *)tail, sizeof tail));
    sb_addc(&b, "PFA1");
    read_and_write(a, sb_str(&b));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_avro.c - a container that is read is written and read again with as many rows; and the bytes taken as the
 * rows of one block, behind a header and marker that are right, so that mutations reach the decoder. */
#include "codec/codec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char schema[] =
    "{\"type\":\"record\",\"name\":\"row\",\"fields\":[{\"name\":\"a\",\"type\":\"long\"},"
    "{\"name\":\"b\",\"type\":[\"null\",\"string\",\"row\"]},{\"name\":\"c\",\"type\":{\"type\":\"array\",\"items\":\"int\"}},"
    "{\"name\":\"d\",\"type\":{\"type\":\"map\",\"values\":[\"null\",\"bytes\",\"boolean\"]}},"
    "{\"name\":\"e\",\"type\":{\"type\":\"fixed\",\"name\":\"f\",\"size\":3}},"
    "{\"name\":\"g\",\"type\":{\"type\":\"array\",\"items\":\"null\"}},{\"name\":\"h\",\"type\":[\"double\",\"float\"]}]}";

static void read_and_write(Arena *a, Str file)
{
    AvroFile f, again;
    Error err;
    Str text;

    if (avro_read(a, file, &f, &err) != OK || f.rows.n > 100000)
        return;
    Str own = props_get(&f.meta, S("avro.schema"), S(""));
    Status s = avro_write(a, own, &f.meta, "null", f.rows.p, f.rows.n, &text, &err);
    if (s != OK && s != E_LIMIT)
        abort();
    if (s == OK)
        s = avro_read(a, text, &again, &err);                 /* fewer bytes allow fewer values */
    if (s != E_LIMIT && (s != OK || again.rows.n != f.rows.n))
        abort();
}

/* A length as a zig-zag varint. */
static void put_long(StrBuf *b, uint64_t v)
{
    for (v <<= 1; v >= 0x80; v >>= 7)
        sb_byte(b, (char)(v | 0x80));
    sb_byte(b, (char)v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Str header;

    read_and_write(a, str_n((const char *)data, size));
    if (!size || avro_write(a, str_c(schema), NULL, "null", NULL, 0, &header, &err) != OK)
        return 0;
    StrBuf b = sb_new(a);
    sb_add(&b, header);
    put_long(&b, data[0]);
    put_long(&b, size - 1);
    sb_add(&b, str_n((const char *)data + 1, size - 1));
    sb_add(&b, str_from(header, header.n - 16));
    read_and_write(a, sb_str(&b));
    return 0;
}

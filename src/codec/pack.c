/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c - gzip, raw deflate, zstd and snappy over whole buffers.
 *
 * Unpacking grows a scratch buffer no further than the caller's limit, whatever the input claims, and copies the
 * result once.  Invariant: output of more than `limit` bytes is E_LIMIT before it is ever held. */
#include "codec/codec.h"

#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

enum { WINDOW_RAW = -15, WINDOW_GZIP = 15 + 16, FIRST_GUESS = 4096, SNAPPY_MAX_RATIO = 32 };

/* ---- a bounded output buffer --------------------------------------------------------------------------- */

typedef struct { Arena *scratch; char *p; size_t n, cap, limit; } Out;

static Out out_new(Arena *scratch, size_t input, size_t limit)
{
    size_t cap = min_size(limit < SIZE_MAX ? limit + 1 : limit, input * 4 + FIRST_GUESS);
    return (Out){ scratch, arena_alloc(scratch, cap), 0, cap, limit };
}

/* Makes room for at least one byte more; the buffer may hold limit + 1, to tell full from over. */
static Status out_room(Out *o, Error *err)
{
    if (o->n > o->limit)
        return FAIL(err, E_LIMIT, "unpacked data is over the limit of %zu bytes", o->limit);
    if (o->n < o->cap)
        return OK;
    size_t cap = min_size(o->cap * 2, o->limit + 1);
    o->p = arena_grow(o->scratch, o->p, o->cap, cap);
    o->cap = cap;
    return OK;
}

static Status out_done(Out *o, Arena *a, Str *ret, Error *err)
{
    if (o->n > o->limit)
        return FAIL(err, E_LIMIT, "unpacked data is over the limit of %zu bytes", o->limit);
    *ret = str_dup(a, str_n(o->p, o->n));
    return OK;
}

/* ---- zlib ---------------------------------------------------------------------------------------------- */

static void inflate_done(z_stream *z) { inflateEnd(z); }
static void deflate_done(z_stream *z) { deflateEnd(z); }

static Status inflate_stream(z_stream *z, Str bytes, Out *o, Error *err)
{
    uInt in_max = 1u << 30;
    z->next_in = (Bytef *)(uintptr_t)bytes.p;
    for (;;) {
        size_t used = (size_t)((const char *)z->next_in - bytes.p);
        TRY(out_room(o, err));
        z->avail_in = (uInt)min_size(bytes.n - used, in_max);
        uInt given_in = z->avail_in, given_out = (uInt)min_size(o->cap - o->n, in_max);
        z->next_out = (Bytef *)o->p + o->n;
        z->avail_out = given_out;
        int rc = inflate(z, Z_NO_FLUSH);
        o->n += given_out - z->avail_out;
        if (rc == Z_STREAM_END)
            return OK;
        if (rc != Z_OK && rc != Z_BUF_ERROR)
            return FAIL(err, E_CORRUPT, "deflate data is corrupt at byte %zu: %s", used, z->msg ? z->msg : "no reason given");
        if (z->avail_in == given_in && z->avail_out == given_out)
            return FAIL(err, E_CORRUPT, "deflate data ends early");
    }
}

Status deflate_unpack(Arena *a, Str raw, size_t limit, Str *ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *scratch = arena_create();
    CLEANUP(inflate_done) z_stream z = {0};
    Out o = out_new(scratch, raw.n, limit);

    if (inflateInit2(&z, WINDOW_RAW) != Z_OK)
        return FAIL(err, E_INTERNAL, "zlib does not start");
    TRY(inflate_stream(&z, raw, &o, err));
    return out_done(&o, a, ret, err);
}

Status gzip_unpack(Arena *a, Str bytes, size_t limit, Str *ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *scratch = arena_create();
    CLEANUP(inflate_done) z_stream z = {0};
    Out o = out_new(scratch, bytes.n, limit);

    if (inflateInit2(&z, WINDOW_GZIP) != Z_OK)
        return FAIL(err, E_INTERNAL, "zlib does not start");
    do {                                                                        /* members follow one another */
        TRY(inflate_stream(&z, bytes, &o, err));
        bytes = str_from(bytes, (size_t)((const char *)z.next_in - bytes.p));
        if (inflateReset(&z) != Z_OK)
            return FAIL(err, E_INTERNAL, "zlib does not start again");
    } while (bytes.n);
    return out_done(&o, a, ret, err);
}

static Status zlib_pack(Arena *a, Str bytes, int window, Str *ret, Error *err)
{
    CLEANUP(deflate_done) z_stream z = {0};

    if (bytes.n > INT32_MAX)
        return FAIL(err, E_LIMIT, "%zu bytes are too many for one deflate buffer", bytes.n);
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return FAIL(err, E_INTERNAL, "zlib does not start");
    size_t cap = deflateBound(&z, bytes.n);
    char *p = arena_alloc(a, cap);
    z.next_in = (Bytef *)(uintptr_t)(bytes.n ? bytes.p : "");
    z.avail_in = (uInt)bytes.n;
    z.next_out = (Bytef *)p;
    z.avail_out = (uInt)cap;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        return FAIL(err, E_INTERNAL, "deflate does not finish");
    *ret = str_n(p, cap - z.avail_out);
    return OK;
}

Status deflate_pack(Arena *a, Str bytes, Str *ret, Error *err) { return zlib_pack(a, bytes, WINDOW_RAW, ret, err); }
Status gzip_pack(Arena *a, Str bytes, Str *ret, Error *err) { return zlib_pack(a, bytes, WINDOW_GZIP, ret, err); }

/* ---- zstd ---------------------------------------------------------------------------------------------- */

static void dstream_freep(ZSTD_DStream **d) { ZSTD_freeDStream(*d); }

Status zstd_unpack(Arena *a, Str bytes, size_t limit, Str *ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *scratch = arena_create();
    CLEANUP(dstream_freep) ZSTD_DStream *d = ZSTD_createDStream();
    Out o = out_new(scratch, bytes.n, limit);
    ZSTD_inBuffer in = { bytes.p, bytes.n, 0 };
    size_t left = 1;

    if (!d)
        return FAIL(err, E_INTERNAL, "zstd does not start");
    do {
        TRY(out_room(&o, err));
        ZSTD_outBuffer out = { o.p, o.cap, o.n };
        size_t read_before = in.pos;
        left = ZSTD_decompressStream(d, &out, &in);
        if (ZSTD_isError(left))
            return FAIL(err, E_CORRUPT, "zstd data is corrupt at byte %zu: %s", in.pos, ZSTD_getErrorName(left));
        if (left && in.pos == read_before && out.pos == o.n)
            return FAIL(err, E_CORRUPT, "zstd data ends early");
        o.n = out.pos;
    } while (left || in.pos < in.size);
    return out_done(&o, a, ret, err);
}

Status zstd_pack(Arena *a, Str bytes, Str *ret, Error *err)
{
    size_t cap = ZSTD_compressBound(bytes.n);
    if (ZSTD_isError(cap))
        return FAIL(err, E_LIMIT, "%zu bytes are too many for one zstd buffer", bytes.n);
    char *p = arena_alloc(a, cap);
    size_t n = ZSTD_compress(p, cap, bytes.n ? bytes.p : "", bytes.n, ZSTD_CLEVEL_DEFAULT);
    if (ZSTD_isError(n))
        return FAIL(err, E_INTERNAL, "zstd: %s", ZSTD_getErrorName(n));
    *ret = str_n(p, n);
    return OK;
}

/* ---- snappy -------------------------------------------------------------------------------------------- */

Status snappy_unpack(Arena *a, Str bytes, size_t limit, Str *ret, Error *err)
{
    size_t n;

    if (snappy_uncompressed_length(bytes.p, bytes.n, &n) != SNAPPY_OK)
        return FAIL(err, E_CORRUPT, "snappy data has no length");
    if (n > limit)
        return FAIL(err, E_LIMIT, "unpacked data is over the limit of %zu bytes", limit);
    if (n > bytes.n * SNAPPY_MAX_RATIO)                          /* three bytes give at most 64 */
        return FAIL(err, E_CORRUPT, "snappy data of %zu bytes claims %zu", bytes.n, n);
    char *p = arena_alloc(a, n + 1);
    if (snappy_uncompress(bytes.p, bytes.n, p, &n) != SNAPPY_OK)
        return FAIL(err, E_CORRUPT, "snappy data is corrupt");
    *ret = str_n(p, n);
    return OK;
}

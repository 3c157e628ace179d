/* SPDX-License-Identifier: Apache-2.0 */
/* roaring.c - 64-bit roaring bitmaps in the portable form, and the deletion vector around one.
 *
 * Outside: a count, then for each upper half of the positions a 32-bit bitmap (RoaringFormatSpec, "Extension for
 * 64-bit implementations").  A 32-bit bitmap is a header that lists containers, one for each 2^16 values, as a
 * sorted array, a bit set, or runs.
 *
 * The bytes may be hostile: a run of four bytes stands for 65,536 positions, so the number of positions has a limit
 * that is checked from the headers before anything is stored.
 * Invariants: (1) positions come out strictly ascending, which is checked at each level by itself: keys, then values
 * within a container; (2) each container holds just as many values as its header says; (3) all bytes are used. */
#include "codec/codec_int.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    COOKIE_PLAIN = 12346, COOKIE_RUNS = 12347, NO_OFFSETS_BELOW = 4, ARRAY_MAX = 4096, BITSET_BYTES = 8192,
    CONTAINERS_MAX = 65536, MAX_POSITIONS = 64 * 1024 * 1024, DV_OVERHEAD = 12,
};

static const char DV_MAGIC[4] = { (char)0xD1, (char)0xD3, 0x39, 0x64 };

typedef struct { const unsigned char *start, *at, *end; Status status; Error *err; } Reader;
typedef struct { int32_t key; uint32_t count; bool runs; } Container;

/* ---- reading ------------------------------------------------------------------------------------------- */

/* `n` bytes, or NULL and a failure. */
static const unsigned char *take(Reader *r, size_t n)
{
    const unsigned char *p = r->at;
    if (r->status == OK && n > (size_t)(r->end - r->at))
        r->status = FAIL(r->err, E_CORRUPT, "bitmap ends at byte %zu within a part of %zu bytes that starts at byte %zu",
                         (size_t)(r->end - r->start), n, (size_t)(p - r->start));
    if (r->status != OK)
        return NULL;
    r->at += n;
    return p;
}

static uint64_t little_endian(const unsigned char *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = n; i > 0; i--)
        v = v << 8 | p[i - 1];
    return v;
}

static uint64_t take_uint(Reader *r, size_t n)
{
    const unsigned char *p = take(r, n);
    return p ? little_endian(p, n) : 0;
}

static void broken(Reader *r, const char *what)
{
    if (r->status == OK)
        r->status = FAIL(r->err, E_CORRUPT, "bitmap before byte %zu: %s", (size_t)(r->at - r->start), what);
}

/* Makes room for `more` positions, within the limit. */
static Status reserve(Arena *a, Positions *out, uint64_t more, Error *err)
{
    if (more > MAX_POSITIONS - out->n)
        return FAIL(err, E_LIMIT, "bitmap with more than %d positions", MAX_POSITIONS);
    size_t want = out->n + (size_t)more, cap = want > out->cap * 2 ? want : out->cap * 2;
    if (want > out->cap) {
        out->p = arena_grow(a, out->p, out->cap * sizeof *out->p, cap * sizeof *out->p);
        out->cap = cap;
    }
    return OK;
}

static void read_array(Reader *r, const Container *c, uint64_t base, Positions *out)
{
    const unsigned char *p = take(r, (size_t)c->count * 2);
    int64_t last = -1;

    for (size_t i = 0; p && i < c->count; i++, p += 2) {
        int64_t v = (int64_t)little_endian(p, 2);
        if (v <= last) {
            broken(r, "an array is not ascending");
            return;
        }
        out->p[out->n++] = base + (uint64_t)v;
        last = v;
    }
}

static void read_bitset(Reader *r, const Container *c, uint64_t base, Positions *out)
{
    const unsigned char *p = take(r, BITSET_BYTES);
    size_t set = 0;

    for (size_t i = 0; p && i < BITSET_BYTES / 8; i++)
        set += (size_t)__builtin_popcountll(little_endian(p + 8 * i, 8));
    if (p && set != c->count) {
        broken(r, "a bit set does not hold what its header says");                       /* (2) */
        return;
    }
    for (size_t i = 0; p && i < BITSET_BYTES / 8; i++)
        for (uint64_t word = little_endian(p + 8 * i, 8); word; word &= word - 1)
            out->p[out->n++] = base + 64 * i + (uint64_t)__builtin_ctzll(word);
}

static void read_runs(Reader *r, const Container *c, uint64_t base, Positions *out)
{
    size_t runs = (size_t)take_uint(r, 2);
    const unsigned char *p = take(r, runs * 4);
    uint64_t left = c->count;
    int64_t last = -1;

    for (size_t i = 0; p && i < runs; i++, p += 4) {
        int64_t from = (int64_t)little_endian(p, 2);
        uint64_t n = little_endian(p + 2, 2) + 1;
        if (from <= last || from + (int64_t)n > CONTAINERS_MAX || n > left) {
            broken(r, "runs are not ascending or hold more than their header says");
            return;
        }
        for (uint64_t k = 0; k < n; k++)
            out->p[out->n++] = base + (uint64_t)from + k;
        left -= n;
        last = from + (int64_t)n - 1;
    }
    if (left)
        broken(r, "runs hold less than their header says");
}

/* The cookie: how many containers, and the bit for each that says whether it holds runs. */
static size_t read_cookie(Reader *r, const unsigned char **run_bits)
{
    uint32_t cookie = (uint32_t)take_uint(r, 4);
    size_t n;

    *run_bits = NULL;
    if (cookie == COOKIE_PLAIN) {
        n = (size_t)take_uint(r, 4);
    } else if ((cookie & 0xFFFF) == COOKIE_RUNS) {
        n = (cookie >> 16) + 1;
        *run_bits = take(r, (n + 7) / 8);
    } else {
        broken(r, "unknown cookie");
        return 0;
    }
    if (n > CONTAINERS_MAX)
        broken(r, "more than 65536 containers");
    return r->status == OK ? n : 0;
}

static Container container_at(const unsigned char *list, const unsigned char *run_bits, size_t i)
{
    return (Container){ (int32_t)little_endian(list + 4 * i, 2), (uint32_t)little_endian(list + 4 * i + 2, 2) + 1,
                        run_bits && (run_bits[i / 8] >> i % 8 & 1) };
}

/* The number of values that the list of containers promises. */
static uint64_t check_list(Reader *r, const unsigned char *list, const unsigned char *run_bits, size_t n)
{
    uint64_t total = 0;
    int64_t last = -1;

    for (size_t i = 0; i < n; i++) {
        Container c = container_at(list, run_bits, i);
        if (c.key <= last)
            broken(r, "containers are not ascending");
        last = c.key;
        total += c.count;
    }
    return total;
}

static void read_container(Reader *r, const Container *c, uint64_t base, Positions *out)
{
    if (c->runs)
        read_runs(r, c, base, out);
    else if (c->count > ARRAY_MAX)
        read_bitset(r, c, base, out);
    else
        read_array(r, c, base, out);
}

static Status read_bitmap32(Arena *a, Reader *r, uint64_t high, Positions *out)
{
    const unsigned char *start = r->at, *run_bits, *list, *offsets = NULL;
    size_t n = read_cookie(r, &run_bits);

    list = take(r, n * 4);
    if (!run_bits || n >= NO_OFFSETS_BELOW)
        offsets = take(r, n * 4);
    TRY(r->status);
    TRY(reserve(a, out, check_list(r, list, run_bits, n), r->err));
    for (size_t i = 0; i < n && r->status == OK; i++) {
        Container c = container_at(list, run_bits, i);
        if (offsets && little_endian(offsets + 4 * i, 4) != (uint64_t)(r->at - start))
            broken(r, "a container is not where the offsets say");
        else
            read_container(r, &c, high << 32 | (uint64_t)c.key << 16, out);
    }
    return r->status;
}

Status roaring_read(Arena *a, Str bytes, Positions *ret, Error *err)
{
    const unsigned char *p = (const unsigned char *)(bytes.n ? bytes.p : "");
    Reader r = { .start = p, .at = p, .end = p + bytes.n, .err = err };
    uint64_t n = take_uint(&r, 8);
    int64_t last = -1;
    Positions out = {0};

    for (uint64_t i = 0; i < n && r.status == OK; i++) {                        /* ends with the bytes at the latest */
        int64_t key = (int64_t)take_uint(&r, 4);
        if (r.status == OK && (key <= last || key > INT32_MAX))
            broken(&r, "upper halves are not ascending or not below 2^31");
        TRY(r.status);
        TRY(read_bitmap32(a, &r, (uint64_t)key, &out));
        last = key;
    }
    TRY(r.status);
    if (r.at != r.end)                                                          /* (3) */
        return FAIL(err, E_CORRUPT, "%zu bytes after the end of a bitmap", (size_t)(r.end - r.at));
    *ret = out;
    return OK;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

typedef struct { const uint64_t *p; size_t n, runs; } Group;          /* the values of one container */
typedef VEC(Group) Groups;

static void put_uint(StrBuf *b, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sb_byte(b, (char)(v >> 8 * i));
}

/* A bitmap of unsorted positions would delete wrong rows: rather stop. */
static void must_ascend(const Positions *p)
{
    for (size_t i = 0; i < p->n; i++)
        if ((i && p->p[i] <= p->p[i - 1]) || p->p[i] > INT64_MAX) {
            fprintf(stderr, "firn: positions for a bitmap are not ascending\n");
            abort();
        }
}

static size_t plain_size(const Group *g) { return g->n > ARRAY_MAX ? BITSET_BYTES : g->n * 2; }
static bool as_runs(const Group *g) { return g->runs * 4 + 2 < plain_size(g); }
static size_t group_size(const Group *g) { return as_runs(g) ? g->runs * 4 + 2 : plain_size(g); }

static Group next_group(const uint64_t *p, const uint64_t *end)
{
    Group g = { .p = p };
    for (; p < end && *p >> 16 == *g.p >> 16; p++, g.n++)
        g.runs += !g.n || *p != p[-1] + 1;
    return g;
}

static void put_runs(StrBuf *b, const Group *g)
{
    put_uint(b, g->runs, 2);
    for (size_t i = 0; i < g->n; ) {
        size_t from = i;
        while (++i < g->n && g->p[i] == g->p[i - 1] + 1)
            ;
        put_uint(b, g->p[from] & 0xFFFF, 2);
        put_uint(b, i - from - 1, 2);
    }
}

static void put_bitset(StrBuf *b, const Group *g)
{
    char bits[BITSET_BYTES] = {0};
    for (size_t i = 0; i < g->n; i++)
        bits[(g->p[i] & 0xFFFF) / 8] |= (char)(1 << g->p[i] % 8);
    sb_add(b, str_n(bits, sizeof bits));
}

static void put_group(StrBuf *b, const Group *g)
{
    if (as_runs(g))
        put_runs(b, g);
    else if (g->n > ARRAY_MAX)
        put_bitset(b, g);
    else
        for (size_t i = 0; i < g->n; i++)
            put_uint(b, g->p[i] & 0xFFFF, 2);
}

static void put_cookie(StrBuf *b, const Groups *groups, bool any_runs)
{
    if (!any_runs) {
        put_uint(b, COOKIE_PLAIN, 4);
        put_uint(b, groups->n, 4);
        return;
    }
    put_uint(b, COOKIE_RUNS | (uint64_t)(groups->n - 1) << 16, 4);
    for (size_t i = 0; i < groups->n; i += 8) {
        unsigned byte = 0;
        for (size_t k = i; k < groups->n && k < i + 8; k++)
            byte |= (unsigned)as_runs(&groups->p[k]) << (k - i);
        sb_byte(b, (char)byte);
    }
}

/* One 32-bit bitmap. */
static void put_groups(StrBuf *b, const Groups *groups)
{
    size_t start = b->n;
    bool any_runs = false;

    for vec_each(Group, g, groups)
        any_runs |= as_runs(g);
    put_cookie(b, groups, any_runs);
    for vec_each(Group, g, groups) {
        put_uint(b, *g->p >> 16 & 0xFFFF, 2);
        put_uint(b, g->n - 1, 2);
    }
    if (!any_runs || groups->n >= NO_OFFSETS_BELOW) {
        size_t at = b->n - start + groups->n * 4;
        for vec_each(Group, g, groups) {
            put_uint(b, at, 4);
            at += group_size(g);
        }
    }
    for vec_each(Group, g, groups)
        put_group(b, g);
}

static void put_bitmap64(StrBuf *b, const Positions *p)
{
    const uint64_t *v = p->p;
    uint64_t halves = 0;

    must_ascend(p);
    for (size_t i = 0; i < p->n; i++)
        halves += !i || v[i] >> 32 != v[i - 1] >> 32;
    put_uint(b, halves, 8);
    for (size_t at = 0; at < p->n; ) {
        CLEANUP(arena_destroyp) Arena *scratch = arena_create();
        Groups groups = {0};
        uint64_t high = v[at] >> 32;
        while (at < p->n && v[at] >> 32 == high) {
            vec_push(scratch, &groups, next_group(v + at, v + p->n));
            at += vec_last(&groups).n;
        }
        put_uint(b, high, 4);
        put_groups(b, &groups);
    }
}

Str roaring_write(Arena *a, const Positions *p)
{
    StrBuf b = sb_new(a);
    put_bitmap64(&b, p);
    return sb_str(&b);
}

/* ---- deletion-vector-v1 (Puffin spec) ------------------------------------------------------------------- */

static uint32_t big_endian32(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

Status dv_blob_read(Arena *a, Str blob, Positions *ret, Error *err)
{
    if (blob.n < DV_OVERHEAD || big_endian32(blob.p) != blob.n - 8)
        return FAIL(err, E_CORRUPT, "deletion vector of %zu bytes does not have the length it says", blob.n);
    Str body = str_sub(blob, 4, blob.n - 4);
    if (!str_starts(body, str_n(DV_MAGIC, sizeof DV_MAGIC)))
        return FAIL(err, E_CORRUPT, "deletion vector has a wrong magic number");
    if (!str_eq(hash_bytes(a, HASH_CRC32, body), str_from(blob, blob.n - 4)))
        return FAIL(err, E_CORRUPT, "deletion vector has a wrong checksum");
    TRY_CTX(roaring_read(a, str_from(body, sizeof DV_MAGIC), ret, err), err, "deletion vector");
    return OK;
}

Str dv_blob_write(Arena *a, const Positions *p)
{
    StrBuf b = sb_new(a);

    put_uint(&b, 0, 4);
    sb_add(&b, str_n(DV_MAGIC, sizeof DV_MAGIC));
    put_bitmap64(&b, p);
    uint32_t n = __builtin_bswap32((uint32_t)(b.n - 4));
    memcpy(b.p, &n, 4);
    sb_add(&b, hash_bytes(a, HASH_CRC32, str_n(b.p + 4, b.n - 4)));
    return sb_str(&b);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* avro_read.c - an Avro object container to rows (Avro 1.11, "Object Container Files" and "Binary Encoding").
 *
 * The bytes may be hostile.  Three bounds hold whatever they say: the unpacked blocks of a file stay within
 * LIMIT_MANIFEST_BYTES, the decoded values within AVRO_MAX_VALUES and within AVRO_VALUES_A_BYTE times the bytes, the
 * nesting within AVRO_MAX_DEPTH.  A count is believed only if the bytes that are left can hold so many elements;
 * elements that take no bytes at all have a limit of their own.
 *
 * A Decoder is sticky: after the first failure it stands at its end and gives zeros; `status` tells.
 * Invariants: (1) at <= end always; (2) a block is consumed to its last byte; (3) rows point into the arena only. */
#include "codec/codec_int.h"

typedef struct {
    Arena *a;
    const unsigned char *start, *at, *end;
    size_t values, max_values;            /* decoded so far, and allowed, in the whole file */
    int depth;
    Status status;
    Error *err;
} Decoder;

typedef struct {
    Arena *a;
    Str file;
    size_t at, unpacked, values;
    Str codec;
    const char *sync;
    Error *err;
} Container;

static void decode(Decoder *d, const AvroSchema *s, AvroValue *ret);

/* ---- the decoder's ground floor ------------------------------------------------------------------------ */

#define BROKEN(d, code, ...) do { \
    if ((d)->status == OK) \
        (d)->status = FAIL((d)->err, (code), __VA_ARGS__); \
    (d)->at = (d)->end; } while (0)

static Decoder decoder(Arena *a, Str bytes, Error *err)
{
    const unsigned char *p = (const unsigned char *)(bytes.n ? bytes.p : "");
    return (Decoder){ .a = a, .start = p, .at = p, .end = p + bytes.n, .err = err };
}

static size_t left(const Decoder *d) { return (size_t)(d->end - d->at); }
static size_t where(const Decoder *d) { return (size_t)(d->at - d->start); }

/* A zig-zag varint. Some writers encode ids of 2^63 and more, which take 65 bits: they come out as their two's
 * complement, as JSON's do. */
static int64_t read_long(Decoder *d)
{
    unsigned __int128 v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (d->at == d->end)
            break;
        unsigned char byte = *d->at++;
        if (shift == 63 && byte > 3)
            break;
        v |= (unsigned __int128)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return (int64_t)((uint64_t)(v >> 1) ^ (0 - (uint64_t)(v & 1)));
    }
    BROKEN(d, E_CORRUPT, "Avro: an integer at byte %zu does not end", where(d));
    return 0;
}

static int64_t read_int(Decoder *d)
{
    int64_t v = read_long(d);
    if (v < INT32_MIN || v > INT32_MAX)
        BROKEN(d, E_CORRUPT, "Avro: an int at byte %zu is over 32 bits", where(d));
    return d->status == OK ? v : 0;
}

static Str read_raw(Decoder *d, uint64_t n)
{
    if (n > left(d)) {
        BROKEN(d, E_CORRUPT, "Avro: %llu bytes wanted at byte %zu, %zu are left", (unsigned long long)n, where(d), left(d));
        return (Str){ 0 };
    }
    Str s = str_n((const char *)d->at, n);
    d->at += n;
    return s;
}

/* A negative length becomes a huge one, which read_raw refuses. */
static Str read_bytes(Decoder *d) { return read_raw(d, (uint64_t)read_long(d)); }

static Str read_text(Decoder *d)
{
    Str s = read_bytes(d);
    if (!str_is_utf8(s))
        BROKEN(d, E_CORRUPT, "Avro: a string before byte %zu is not UTF-8", where(d));
    return s;
}

static double read_float(Decoder *d)
{
    float v = 0;
    Str s = read_raw(d, sizeof v);
    if (s.n)
        memcpy(&v, s.p, sizeof v);
    return (double)v;
}

static double read_double(Decoder *d)
{
    double v = 0;
    Str s = read_raw(d, sizeof v);
    if (s.n)
        memcpy(&v, s.p, sizeof v);
    return v;
}

static bool read_bool(Decoder *d)
{
    Str s = read_raw(d, 1);
    if (s.n && (unsigned char)s.p[0] > 1)
        BROKEN(d, E_CORRUPT, "Avro: a boolean before byte %zu is %d", where(d), (unsigned char)s.p[0]);
    return s.n && s.p[0];
}

/* An index into something of `n` members. */
static size_t read_index(Decoder *d, size_t n, const char *what)
{
    int64_t v = read_long(d);
    if (d->status == OK && (v < 0 || (uint64_t)v >= n))
        BROKEN(d, E_CORRUPT, "Avro: %s %lld of %zu before byte %zu", what, (long long)v, n, where(d));
    return d->status == OK ? (size_t)v : 0;
}

/* ---- arrays, maps, records ----------------------------------------------------------------------------- */

/* Counts `n` values more; false after a failure. */
static bool charge(Decoder *d, size_t n)
{
    if (n > d->max_values - d->values)
        BROKEN(d, E_LIMIT, "Avro: more than %zu values in %zu bytes", d->max_values, (size_t)(d->end - d->start));
    if (d->status == OK)
        d->values += n;
    return d->status == OK;
}

/* Can `count` elements of at least `least` bytes be here? */
static bool believable(Decoder *d, int64_t count, int64_t least)
{
    if (count >= 0 && (least ? (uint64_t)count <= left(d) / (uint64_t)least : count <= AVRO_MAX_EMPTY))
        return true;
    BROKEN(d, least || count < 0 ? E_CORRUPT : E_LIMIT, "Avro: %lld elements claimed at byte %zu, %zu bytes are left",
           (long long)count, where(d), left(d));
    return false;
}

/* The count of the next block of an array or map; 0: the end. A negative count is followed by the block's size. */
static size_t read_count(Decoder *d, int64_t least)
{
    int64_t n = read_long(d);
    if (n < 0) {
        n = n == INT64_MIN ? -1 : -n;
        read_long(d);
    }
    return d->status == OK && believable(d, n, least) ? (size_t)n : 0;
}

/* Room for `more` elements behind the `n` that are there; most arrays are one block, so that this is one call. */
static void *grow(Arena *a, void *old, size_t n, size_t more, size_t *cap, size_t size)
{
    if (n + more <= *cap)
        return old;
    size_t want = n + more > *cap * 2 ? n + more : *cap * 2;
    void *p = arena_grow(a, old, *cap * size, want * size);
    *cap = want;
    return p;
}

static void decode_array(Decoder *d, const AvroSchema *s, AvroValue *v)
{
    size_t cap = 0;
    for (size_t more; (more = read_count(d, s->element->min_bytes)) != 0 && charge(d, more); ) {
        if (!s->element->min_bytes && v->items.n + more > AVRO_MAX_EMPTY) {
            BROKEN(d, E_LIMIT, "Avro: more than %d elements without bytes before byte %zu", AVRO_MAX_EMPTY, where(d));
            return;
        }
        v->items.p = grow(d->a, v->items.p, v->items.n, more, &cap, sizeof *v->items.p);
        for (size_t i = 0; i < more && d->status == OK; i++)
            decode(d, s->element, &v->items.p[v->items.n++]);
    }
}

static void decode_map(Decoder *d, const AvroSchema *s, AvroValue *v)
{
    size_t cap = 0, keys_cap = 0;
    for (size_t more; (more = read_count(d, (int64_t)s->element->min_bytes + 1)) != 0 && charge(d, more); ) {
        v->map.p = grow(d->a, v->map.p, v->map.n, more, &cap, sizeof *v->map.p);
        v->map.keys = grow(d->a, v->map.keys, v->map.n, more, &keys_cap, sizeof *v->map.keys);
        for (size_t i = 0; i < more && d->status == OK; i++) {
            v->map.keys[v->map.n] = read_text(d);
            decode(d, s->element, &v->map.p[v->map.n++]);
        }
    }
}

static void decode_record(Decoder *d, const AvroSchema *s, AvroValue *v)
{
    if (!charge(d, s->fields.n))
        return;
    v->items.p = arena_array(d->a, AvroValue, s->fields.n);
    v->items.n = s->fields.n;
    for (size_t i = 0; i < v->items.n && d->status == OK; i++)
        decode(d, s->fields.p[i].type, &v->items.p[i]);
}

static void decode(Decoder *d, const AvroSchema *s, AvroValue *v)
{
    if (s->kind == AVRO_UNION)
        s = s->branches.p[read_index(d, s->branches.n, "union branch")];
    *v = (AvroValue){ .kind = s->kind, .schema = s };
    if (++d->depth > AVRO_MAX_DEPTH)
        BROKEN(d, E_LIMIT, "Avro: values nested deeper than %d", AVRO_MAX_DEPTH);
    if (d->status != OK)
        return;
    switch (s->kind) {
    case AVRO_NULL:
    case AVRO_UNION: break;
    case AVRO_BOOL: v->boolean = read_bool(d); break;
    case AVRO_INT: v->integer = read_int(d); break;
    case AVRO_LONG: v->integer = read_long(d); break;
    case AVRO_FLOAT: v->real = read_float(d); break;
    case AVRO_DOUBLE: v->real = read_double(d); break;
    case AVRO_BYTES: v->bytes = read_bytes(d); break;
    case AVRO_STRING: v->bytes = read_text(d); break;
    case AVRO_FIXED: v->bytes = read_raw(d, (uint64_t)s->size); break;
    case AVRO_ENUM: v->integer = (int64_t)read_index(d, s->symbols.n, "enum symbol"); break;
    case AVRO_ARRAY: decode_array(d, s, v); break;
    case AVRO_MAP: decode_map(d, s, v); break;
    case AVRO_RECORD: decode_record(d, s, v); break;
    }
    d->depth--;
}

/* ---- the container ------------------------------------------------------------------------------------- */

/* A file with a wrong schema is a corrupt file, not a wrong request. */
static Status read_schema(Container *c, Str json, AvroFile *ret)
{
    Error why;
    Status s = avro_schema_parse(c->a, json, &ret->schema, &why);

    if (s == OK)
        return OK;
    return FAIL(c->err, s == E_LIMIT ? E_LIMIT : E_CORRUPT, "header: %.1000s", why.message);
}

static Status read_header(Container *c, AvroFile *ret)
{
    Decoder d = decoder(c->a, c->file, c->err);

    if (!str_eq(read_raw(&d, AVRO_MAGIC.n), AVRO_MAGIC))
        return FAIL(c->err, E_CORRUPT, "not an Avro file");
    for (size_t n; (n = read_count(&d, 2)) != 0; )
        for (size_t i = 0; i < n && d.status == OK; i++) {
            KeyValue kv = { .key = str_dup(c->a, read_text(&d)) };
            kv.value = str_dup(c->a, read_bytes(&d));
            vec_push(c->a, &ret->meta, kv);
        }
    c->sync = read_raw(&d, AVRO_SYNC).p;
    c->at = where(&d);
    TRY_CTX(d.status, c->err, "header");
    c->codec = props_get(&ret->meta, S("avro.codec"), S("null"));
    return read_schema(c, props_get(&ret->meta, S("avro.schema"), S("")), ret);
}

/* Snappy blocks end in the CRC-32 of the plain bytes, big-endian. */
static Status unpack_snappy(Container *c, Str packed, size_t limit, Str *ret)
{
    if (packed.n < 4)
        return FAIL(c->err, E_CORRUPT, "snappy block of %zu bytes", packed.n);
    TRY(snappy_unpack(c->a, str_sub(packed, 0, packed.n - 4), limit, ret, c->err));
    if (!str_eq(hash_bytes(c->a, HASH_CRC32, *ret), str_from(packed, packed.n - 4)))
        return FAIL(c->err, E_CORRUPT, "snappy block has a wrong checksum");
    return OK;
}

static Status unpack(Container *c, Str packed, Str *ret)
{
    size_t limit = LIMIT_MANIFEST_BYTES - c->unpacked;

    if (str_eq(c->codec, S("deflate")))
        TRY(deflate_unpack(c->a, packed, limit, ret, c->err));
    else if (str_eq(c->codec, S("snappy")))
        TRY(unpack_snappy(c, packed, limit, ret));
    else if (str_eq(c->codec, S("zstandard")))
        TRY(zstd_unpack(c->a, packed, limit, ret, c->err));
    else if (str_eq(c->codec, S("null")))
        *ret = str_dup(c->a, packed);                          /* (3); no larger than the file */
    else
        return FAIL(c->err, E_UNSUPPORTED, "Avro codec '" STR_FMT "'", STR_ARG(str_sub(c->codec, 0, 100)));
    c->unpacked += min_size(ret->n, limit);
    return OK;
}

static Status read_rows(Container *c, AvroFile *ret, int64_t count, Str bytes)
{
    Decoder d = decoder(c->a, bytes, c->err);

    d.values = c->values;
    d.max_values = min_size(AVRO_MAX_VALUES, AVRO_MAX_EMPTY + c->unpacked * AVRO_VALUES_A_BYTE);
    if (!believable(&d, count, ret->schema->min_bytes) || !charge(&d, (size_t)count))
        return d.status;
    for (int64_t i = 0; i < count && d.status == OK; i++) {
        AvroValue row;
        decode(&d, ret->schema, &row);
        vec_push(c->a, &ret->rows, row);
    }
    c->values = d.values;
    if (d.status == OK && left(&d))                                             /* (2) */
        return FAIL(c->err, E_CORRUPT, "Avro: %zu bytes after the last row of a block", left(&d));
    return d.status;
}

static Status read_block(Container *c, AvroFile *ret)
{
    size_t start = c->at;
    Decoder d = decoder(c->a, str_from(c->file, start), c->err);
    int64_t count = read_long(&d);
    Str packed = read_bytes(&d), sync = read_raw(&d, AVRO_SYNC), plain = { 0 };

    c->at += where(&d);
    TRY_CTX(d.status, c->err, "block at byte %zu", start);
    if (!str_eq(sync, str_n(c->sync, AVRO_SYNC)))
        return FAIL(c->err, E_CORRUPT, "block at byte %zu does not end in the sync marker", start);
    TRY_CTX(unpack(c, packed, &plain), c->err, "block at byte %zu", start);
    TRY_CTX(read_rows(c, ret, count, plain), c->err, "block at byte %zu", start);
    return OK;
}

Status avro_value_read(Arena *a, const AvroSchema *s, Str bytes, AvroValue *ret, Error *err)
{
    Decoder d = decoder(a, bytes, err);

    d.max_values = min_size(AVRO_MAX_VALUES, AVRO_MAX_EMPTY + bytes.n * AVRO_VALUES_A_BYTE);
    decode(&d, s, ret);
    if (d.status == OK && left(&d))
        return FAIL(err, E_CORRUPT, "Avro: %zu bytes after the value", left(&d));
    return d.status;
}

Status avro_read(Arena *a, Str file, AvroFile *ret, Error *err)
{
    Container c = { .a = a, .file = file, .err = err };
    AvroFile f = {0};

    if (file.n > LIMIT_MANIFEST_BYTES)
        return FAIL(err, E_LIMIT, "Avro file of %zu bytes, limit is %d", file.n, LIMIT_MANIFEST_BYTES);
    TRY(read_header(&c, &f));
    while (c.at < file.n)
        TRY(read_block(&c, &f));
    *ret = f;
    return OK;
}

const AvroValue *avro_field(const AvroValue *record, int32_t id, const char *name)
{
    if (!record || record->kind != AVRO_RECORD)
        return NULL;
    const AvroSchema *s = record->schema;
    for (size_t i = 0; id >= 0 && i < s->fields.n; i++)
        if (s->fields.p[i].id == id)
            return &record->items.p[i];
    for (size_t i = 0; name && i < s->fields.n; i++)
        if ((id < 0 || s->fields.p[i].id < 0) && str_eq(s->fields.p[i].name, str_c(name)))
            return &record->items.p[i];
    return NULL;
}

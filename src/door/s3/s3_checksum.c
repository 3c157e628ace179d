/* SPDX-License-Identifier: Apache-2.0 */
/* s3_checksum.c - Content-MD5 and the x-amz-checksum family: what a request promises, whether it holds, and the checksum of
 * an object made of parts.
 *
 * FULL_OBJECT: the CRC of the whole, computed from the parts' CRCs and lengths without reading a byte (as zlib combines
 * CRCs: by the matrix that appends zeros).  COMPOSITE: the hash of the parts' hashes, with "-<parts>" behind it. */
#include "door/s3/s3_int.h"

const Algo ALGOS[] = {
    { "CRC32",     "x-amz-checksum-crc32",     "ChecksumCRC32",     HASH_CRC32,     0, 32, 0xedb88320 },
    { "CRC32C",    "x-amz-checksum-crc32c",    "ChecksumCRC32C",    HASH_CRC32C,    0, 32, 0x82f63b78 },
    { "CRC64NVME", "x-amz-checksum-crc64nvme", "ChecksumCRC64NVME", HASH_CRC64NVME, 1, 64, 0x9a6c9329ac4bc9b5 },
    { "SHA1",      "x-amz-checksum-sha1",      "ChecksumSHA1",      HASH_SHA1,      0, 0, 0 },
    { "SHA256",    "x-amz-checksum-sha256",    "ChecksumSHA256",    HASH_SHA256,    0, 0, 0 },
};
const size_t ALGO_COUNT = COUNT_OF(ALGOS);

static Status md5_of_request(S3Req *q, Str *ret, Error *err);
static uint64_t crc_append(const Algo *algo, uint64_t crc, uint64_t next, int64_t next_len);
static uint64_t matrix_times(const uint64_t *m, uint64_t v);
static void matrix_square(uint64_t *to, const uint64_t *m, int bits);
static uint64_t from_bytes(Str raw);
static Str to_bytes(Arena *a, uint64_t v, int bits);

const Algo *algo_by_name(Str name)
{
    for (size_t i = 0; i < ALGO_COUNT; i++)
        if (str_ieq(name, str_c(ALGOS[i].name)))
            return &ALGOS[i];
    return NULL;
}

const Algo *algo_of_headers(const Props *headers)
{
    for (size_t i = 0; i < ALGO_COUNT; i++)
        if (props_has(headers, str_c(ALGOS[i].header)))
            return &ALGOS[i];
    return NULL;
}

Status checks_of_request(S3Req *q, Checks *ret, Error *err)
{
    Str trailer = http_header(q->r, "x-amz-trailer");
    *ret = (Checks){0};
    TRY(md5_of_request(q, &ret->md5, err));
    for (size_t i = 0; i < ALGO_COUNT; i++) {
        bool in_header = http_has_header(q->r, ALGOS[i].header), in_trailer = str_ieq(str_trim(trailer), str_c(ALGOS[i].header));
        if (!in_header && !in_trailer)
            continue;
        if (ret->algo)
            return s3_fail(err, "InvalidRequest", "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.");
        *ret = (Checks){ ret->md5, &ALGOS[i], http_header(q->r, ALGOS[i].header), in_trailer && !in_header };
    }
    return OK;
}

Status checks_verify(S3Req *q, const Checks *c, Str md5, Str sum, const Props *trailers, Props *headers, Error *err)
{
    if (c->md5.n && !str_eq(c->md5, md5))
        return s3_fail(err, "BadDigest", "The Content-MD5 you specified did not match what we received.");
    if (!c->algo)
        return OK;
    Str name = str_c(c->algo->header), text = base64_encode(q->a, sum);
    Str value = c->in_trailer ? props_get(trailers, name, (Str){0}) : c->value;
    if (c->in_trailer && !value.n)
        return s3_fail(err, "MalformedTrailerError", "The trailer %s that x-amz-trailer promised did not come", c->algo->header);
    if (!str_eq(text, value))
        return s3_fail(err, "BadDigest", "The %s you specified did not match the calculated checksum.", c->algo->name);
    props_set(q->a, headers, name, text);
    props_set(q->a, headers, S("x-amz-checksum-type"), S("FULL_OBJECT"));
    return OK;
}

Str checksum_combined(Arena *a, const Algo *algo, int whole, const StrVec *parts, const StrVec *sizes)
{
    StrBuf all = sb_new(a);
    uint64_t crc = 0;
    Error err;
    for (size_t i = 0; i < parts->n; i++) {
        Str raw = {0};
        int64_t size = 0;
        if (base64_decode(a, parts->p[i], &raw, &err) != OK || !str_to_i64(sizes->p[i], &size))
            return (Str){0};
        sb_add(&all, raw);
        crc = i ? crc_append(algo, crc, from_bytes(raw), size) : from_bytes(raw);
    }
    if (whole)
        return base64_encode(a, to_bytes(a, crc, algo->bits));
    return str_fmt(a, STR_FMT "-%zu", STR_ARG(base64_encode(a, hash_bytes(a, algo->kind, sb_str(&all)))), parts->n);
}

void checksum_xml(XmlWriter *w, const Props *headers, int with_type)
{
    const Algo *algo = algo_of_headers(headers);
    if (!algo)
        return;
    xw_elem(w, algo->element, props_get(headers, str_c(algo->header), (Str){0}));
    if (with_type)
        xw_elem(w, "ChecksumType", props_get(headers, S("x-amz-checksum-type"), S("FULL_OBJECT")));
}

void checksum_headers(S3Req *q, const Props *headers)
{
    const Algo *algo = algo_of_headers(headers);
    if (!algo)
        return;
    s3_header(q, algo->header, props_get(headers, str_c(algo->header), (Str){0}));
    s3_header(q, "x-amz-checksum-type", props_get(headers, S("x-amz-checksum-type"), S("FULL_OBJECT")));
}

static Status md5_of_request(S3Req *q, Str *ret, Error *err)
{
    if (!http_has_header(q->r, "content-md5"))
        return OK;
    if (base64_decode(q->a, str_trim(http_header(q->r, "content-md5")), ret, err) != OK || ret->n != 16)
        return s3_fail(err, "InvalidDigest", "The Content-MD5 you specified was invalid.");
    return OK;
}

/* The CRC of x followed by y, from crc(x), crc(y) and y's length. */
static uint64_t crc_append(const Algo *algo, uint64_t crc, uint64_t next, int64_t next_len)
{
    uint64_t odd[64], even[64];
    odd[0] = algo->poly;                                     /* one zero bit */
    for (int i = 1; i < algo->bits; i++)
        odd[i] = (uint64_t)1 << (i - 1);
    matrix_square(even, odd, algo->bits);                    /* two zero bits */
    matrix_square(odd, even, algo->bits);                    /* four */
    for (uint64_t n = (uint64_t)next_len, flip = 1; n; n >>= 1, flip = !flip) {
        uint64_t *to = flip ? even : odd;
        matrix_square(to, flip ? odd : even, algo->bits);    /* eight zero bits: one byte; then doubled */
        if (n & 1)
            crc = matrix_times(to, crc);
    }
    return crc ^ next;
}

static uint64_t matrix_times(const uint64_t *m, uint64_t v)
{
    uint64_t sum = 0;
    for (; v; v >>= 1, m++)
        if (v & 1)
            sum ^= *m;
    return sum;
}

static void matrix_square(uint64_t *to, const uint64_t *m, int bits)
{
    for (int i = 0; i < bits; i++)
        to[i] = matrix_times(m, m[i]);
}

static uint64_t from_bytes(Str raw)
{
    uint64_t v = 0;
    for (size_t i = 0; i < raw.n && i < 8; i++)
        v = v << 8 | (unsigned char)raw.p[i];
    return v;
}

static Str to_bytes(Arena *a, uint64_t v, int bits)
{
    char p[8];
    for (int i = 0; i < bits / 8; i++)
        p[i] = (char)(v >> (bits - 8 - 8 * i));
    return str_dup(a, str_n(p, (size_t)bits / 8));
}

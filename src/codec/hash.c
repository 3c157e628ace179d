/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - digests, checksums, HMAC, key derivation, murmur3.
 *
 * MD5 and the SHAs are OpenSSL's, CRC-32 is zlib's.  CRC-32C (Castagnoli) and CRC-64/NVME are here: both are
 * reflected, so one routine serves them, eight bytes at a time over eight tables that each hasher builds for
 * itself (4,000 steps, so that no table is shared or written late). */
#include "codec/codec.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

typedef struct { uint64_t t[8][256]; } CrcTables;

struct Hasher {
    HashKind kind;
    EVP_MD_CTX *md;
    uint64_t crc;
    CrcTables *tables;
};

static const uint64_t CRC32C_POLY = 0x82F63B78u, CRC64NVME_POLY = 0x9A6C9329AC4BC9B5u;   /* reflected */

/* OpenSSL fails here only without memory or without the algorithm: there is nothing to go on with. */
static void must(int ok)
{
    if (!ok) {
        fprintf(stderr, "firn: a digest of the crypto library failed\n");
        abort();
    }
}

static const EVP_MD *digest(HashKind kind)
{
    switch (kind) {
    case HASH_MD5: return EVP_md5();
    case HASH_SHA1: return EVP_sha1();
    case HASH_SHA224: return EVP_sha224();
    case HASH_SHA256: return EVP_sha256();
    case HASH_SHA384: return EVP_sha384();
    case HASH_SHA512: return EVP_sha512();
    default: return NULL;
    }
}

static CrcTables *tables_new(uint64_t poly)
{
    CrcTables *c = malloc(sizeof *c);
    must(c != NULL);
    for (unsigned i = 0; i < 256; i++) {
        uint64_t v = i;
        for (int bit = 0; bit < 8; bit++)
            v = v & 1 ? v >> 1 ^ poly : v >> 1;
        c->t[0][i] = v;
    }
    for (int k = 1; k < 8; k++)
        for (unsigned i = 0; i < 256; i++)
            c->t[k][i] = c->t[k - 1][i] >> 8 ^ c->t[0][c->t[k - 1][i] & 255];
    return c;
}

static uint64_t crc_add(const CrcTables *c, uint64_t crc, Str s)
{
    const unsigned char *p = (const unsigned char *)s.p, *end = p + s.n;

    for (; end - p >= 8; p += 8) {
        uint64_t v;
        memcpy(&v, p, 8);                                     /* little-endian machines only, as all of firn */
        v ^= crc;
        crc = c->t[7][v & 255] ^ c->t[6][v >> 8 & 255] ^ c->t[5][v >> 16 & 255] ^ c->t[4][v >> 24 & 255]
            ^ c->t[3][v >> 32 & 255] ^ c->t[2][v >> 40 & 255] ^ c->t[1][v >> 48 & 255] ^ c->t[0][v >> 56];
    }
    for (; p < end; p++)
        crc = crc >> 8 ^ c->t[0][(crc ^ *p) & 255];
    return crc;
}

Hasher *hasher_new(HashKind kind)
{
    Hasher *h = calloc(1, sizeof *h);
    must(h != NULL);
    h->kind = kind;
    if (digest(kind)) {
        h->md = EVP_MD_CTX_new();
        must(h->md && EVP_DigestInit_ex(h->md, digest(kind), NULL));
    } else if (kind == HASH_CRC32C) {
        h->tables = tables_new(CRC32C_POLY);
        h->crc = UINT32_MAX;
    } else if (kind == HASH_CRC64NVME) {
        h->tables = tables_new(CRC64NVME_POLY);
        h->crc = UINT64_MAX;
    }
    return h;
}

void hasher_add(Hasher *h, Str bytes)
{
    if (!bytes.n)
        return;
    if (h->md)
        must(EVP_DigestUpdate(h->md, bytes.p, bytes.n));
    else if (h->tables)
        h->crc = crc_add(h->tables, h->crc, bytes);
    else
        h->crc = crc32_z(h->crc, (const unsigned char *)bytes.p, bytes.n);
}

static Str big_endian(Arena *a, uint64_t v, size_t n)
{
    char *p = arena_alloc(a, n);
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(v >> 8 * (n - 1 - i));
    return str_n(p, n);
}

Str hasher_done(Hasher *h, Arena *a)
{
    unsigned n = EVP_MAX_MD_SIZE;
    switch (h->kind) {
    case HASH_CRC32: return big_endian(a, h->crc, 4);
    case HASH_CRC32C: return big_endian(a, h->crc ^ UINT32_MAX, 4);
    case HASH_CRC64NVME: return big_endian(a, ~h->crc, 8);
    default: break;
    }
    unsigned char *p = arena_alloc(a, n);
    must(EVP_DigestFinal_ex(h->md, p, &n));
    return str_n((char *)p, n);
}

void hasher_free(Hasher *h)
{
    if (!h)
        return;
    EVP_MD_CTX_free(h->md);
    free(h->tables);
    free(h);
}

void hasher_freep(Hasher **h)
{
    hasher_free(*h);
    *h = NULL;
}

Str hash_bytes(Arena *a, HashKind kind, Str bytes)
{
    CLEANUP(hasher_freep) Hasher *h = hasher_new(kind);
    hasher_add(h, bytes);
    return hasher_done(h, a);
}

Str hash_hex(Arena *a, HashKind kind, Str bytes) { return hex_encode(a, hash_bytes(a, kind, bytes)); }

Str hmac_bytes(Arena *a, HashKind kind, Str key, Str bytes)
{
    const EVP_MD *md = digest(kind);
    unsigned n = EVP_MAX_MD_SIZE;
    unsigned char *p = arena_alloc(a, n);
    must(md && key.n <= INT32_MAX && HMAC(md, key.n ? key.p : "", (int)key.n, (const unsigned char *)(bytes.n ? bytes.p : ""), bytes.n, p, &n) != NULL);
    return str_n((char *)p, n);
}

Str hmac_sha256(Arena *a, Str key, Str bytes) { return hmac_bytes(a, HASH_SHA256, key, bytes); }

Str pbkdf2_sha256(Arena *a, Str password, Str salt, int rounds)
{
    unsigned char *p = arena_alloc(a, 32);
    must(password.n <= INT32_MAX && salt.n <= INT32_MAX
         && PKCS5_PBKDF2_HMAC(password.n ? password.p : "", (int)password.n, (const unsigned char *)salt.p, (int)salt.n,
                              rounds, EVP_sha256(), 32, p));
    return str_n((char *)p, 32);
}

bool str_eq_const_time(Str x, Str y) { return x.n == y.n && (!x.n || CRYPTO_memcmp(x.p, y.p, x.n) == 0); }

/* ---- murmur3, x86, 32 bits (Iceberg spec, appendix B) --------------------------------------------------- */

static uint32_t rotl(uint32_t v, int by) { return v << by | v >> (32 - by); }

uint32_t murmur3_32(Str bytes)
{
    const unsigned char *p = (const unsigned char *)bytes.p;
    uint32_t h = 0, k;
    size_t n = bytes.n;

    for (; n >= 4; n -= 4, p += 4) {
        memcpy(&k, p, 4);
        h ^= rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u;
        h = rotl(h, 13) * 5 + 0xe6546b64u;
    }
    k = 0;
    for (size_t i = n; i > 0; i--)
        k = k << 8 | p[i - 1];
    h ^= rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u;
    h ^= (uint32_t)bytes.n;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

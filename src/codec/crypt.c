/* SPDX-License-Identifier: Apache-2.0 */
/* crypt.c - Ed25519 signatures and AES-256-GCM boxes, by OpenSSL.
 *
 * A sealed box is nonce (12 bytes), ciphertext, tag (16 bytes); the nonce is random and never reused. */
#include "codec/codec.h"

#include <openssl/evp.h>

enum { SEED = 32, PUB = 32, SIG = 64, KEY = 32, NONCE = 12, TAG = 16, SEAL_MAX = 1 << 30 };

static void pkey_freep(EVP_PKEY **k) { EVP_PKEY_free(*k); }
static void md_freep(EVP_MD_CTX **c) { EVP_MD_CTX_free(*c); }
static void cipher_freep(EVP_CIPHER_CTX **c) { EVP_CIPHER_CTX_free(*c); }

static const unsigned char *bytes_of(Str s) { return (const unsigned char *)(s.n ? s.p : ""); }

/* ---- Ed25519 (RFC 8032) -------------------------------------------------------------------------------- */

static Status key_of(Str seed, EVP_PKEY **ret, Error *err)
{
    if (seed.n != SEED)
        return FAIL(err, E_INVALID, "an Ed25519 seed has %d bytes, not %zu", SEED, seed.n);
    *ret = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, bytes_of(seed), SEED);
    return *ret ? OK : FAIL(err, E_INTERNAL, "the crypto library refuses an Ed25519 key");
}

Status ed25519_generate(Arena *a, Str *seed, Str *pub, Error *err)
{
    char *p = arena_alloc(a, SEED);
    rand_bytes(p, SEED);
    TRY(ed25519_public(a, str_n(p, SEED), pub, err));
    *seed = str_n(p, SEED);
    return OK;
}

Status ed25519_public(Arena *a, Str seed, Str *pub, Error *err)
{
    CLEANUP(pkey_freep) EVP_PKEY *key = NULL;
    unsigned char *p = arena_alloc(a, PUB);
    size_t n = PUB;

    TRY(key_of(seed, &key, err));
    if (!EVP_PKEY_get_raw_public_key(key, p, &n))
        return FAIL(err, E_INTERNAL, "the crypto library gives no public key");
    *pub = str_n((char *)p, n);
    return OK;
}

Status ed25519_sign(Arena *a, Str seed, Str message, Str *sig, Error *err)
{
    CLEANUP(pkey_freep) EVP_PKEY *key = NULL;
    CLEANUP(md_freep) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    unsigned char *p = arena_alloc(a, SIG);
    size_t n = SIG;

    TRY(key_of(seed, &key, err));
    if (!ctx || EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) != 1
        || EVP_DigestSign(ctx, p, &n, bytes_of(message), message.n) != 1)
        return FAIL(err, E_INTERNAL, "the crypto library does not sign");
    *sig = str_n((char *)p, n);
    return OK;
}

bool ed25519_verify(Str pub, Str message, Str sig)
{
    if (pub.n != PUB || sig.n != SIG)
        return false;
    CLEANUP(pkey_freep) EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes_of(pub), PUB);
    CLEANUP(md_freep) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    return key && ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1
        && EVP_DigestVerify(ctx, bytes_of(sig), SIG, bytes_of(message), message.n) == 1;
}

/* ---- AES-256-GCM (NIST SP 800-38D) --------------------------------------------------------------------- */

Status aes_seal(Arena *a, Str key32, Str plain, Str *ret, Error *err)
{
    CLEANUP(cipher_freep) EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n = 0, tail = 0;

    if (key32.n != KEY || plain.n > SEAL_MAX)
        return FAIL(err, E_INVALID, "an AES key has %d bytes, not %zu, and a box holds at most %d", KEY, key32.n, SEAL_MAX);
    unsigned char *p = arena_alloc(a, NONCE + plain.n + TAG);
    rand_bytes(p, NONCE);
    if (!ctx || EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, bytes_of(key32), p) != 1
        || EVP_EncryptUpdate(ctx, p + NONCE, &n, bytes_of(plain), (int)plain.n) != 1
        || EVP_EncryptFinal_ex(ctx, p + NONCE + n, &tail) != 1
        || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, TAG, p + NONCE + plain.n) != 1)
        return FAIL(err, E_INTERNAL, "the crypto library does not encrypt");
    *ret = str_n((char *)p, NONCE + plain.n + TAG);
    return OK;
}

Status aes_open(Arena *a, Str key32, Str sealed, Str *ret, Error *err)
{
    CLEANUP(cipher_freep) EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    unsigned char tag[TAG];
    int n = 0, tail = 0;

    if (key32.n != KEY)
        return FAIL(err, E_INVALID, "an AES key has %d bytes, not %zu", KEY, key32.n);
    if (sealed.n < NONCE + TAG || sealed.n > (size_t)SEAL_MAX + NONCE + TAG)
        return FAIL(err, E_CORRUPT, "a sealed box of %zu bytes", sealed.n);
    size_t size = sealed.n - NONCE - TAG;
    unsigned char *p = arena_alloc(a, size + 1);
    memcpy(tag, sealed.p + NONCE + size, TAG);
    if (!ctx || EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, bytes_of(key32), bytes_of(sealed)) != 1
        || EVP_DecryptUpdate(ctx, p, &n, bytes_of(sealed) + NONCE, (int)size) != 1
        || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, TAG, tag) != 1)
        return FAIL(err, E_INTERNAL, "the crypto library does not decrypt");
    if (EVP_DecryptFinal_ex(ctx, p + n, &tail) != 1)
        return FAIL(err, E_CORRUPT, "a sealed box does not match its key or was changed");
    *ret = str_n((char *)p, size);
    return OK;
}

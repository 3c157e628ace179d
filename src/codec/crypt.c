/* SPDX-License-Identifier: Apache-2.0 */
/* crypt.c - Ed25519 and RSA signatures and AES-256-GCM boxes, by OpenSSL.
 *
 * A sealed box is nonce (12 bytes), ciphertext, tag (16 bytes); the nonce is random and never reused. */
#include "codec/codec.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

enum { SEED = 32, PUB = 32, SIG = 64, KEY = 32, NONCE = 12, TAG = 16, SEAL_MAX = 1 << 30, PEM_MAX = 65536, RSA_BITS_MIN = 2048, RSA_BITS_MAX = 8192 };

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

/* ---- RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017; RS256 of RFC 7518) ---------------------------------------- */

static void bio_freep(BIO **b) { BIO_free(*b); }

/* A key that has a passphrase is none: nobody is asked for it. */
static int no_passphrase(char *buf, int size, int writing, void *u)
{
    (void)buf, (void)size, (void)writing, (void)u;
    return -1;
}

static Status rsa_key_of(Str pem, EVP_PKEY **ret, Error *err)
{
    CLEANUP(bio_freep) BIO *bio = BIO_new_mem_buf(bytes_of(pem), (int)pem.n);

    if (!bio)
        return FAIL(err, E_INTERNAL, "the crypto library gives no buffer");
    *ret = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    if (*ret && EVP_PKEY_get_base_id(*ret) == EVP_PKEY_RSA && EVP_PKEY_get_bits(*ret) >= RSA_BITS_MIN && EVP_PKEY_get_bits(*ret) <= RSA_BITS_MAX)
        return OK;
    return FAIL(err, E_INVALID, "the private key is no RSA key of %d to %d bits in PEM", RSA_BITS_MIN, RSA_BITS_MAX);
}

Status rs256_sign(Arena *a, Str pem, Str message, Str *sig, Error *err)
{
    CLEANUP(pkey_freep) EVP_PKEY *key = NULL;
    CLEANUP(md_freep) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t n = RSA_BITS_MAX / 8;
    unsigned char *p = arena_alloc(a, n);

    if (pem.n > PEM_MAX)
        return FAIL(err, E_LIMIT, "a private key of %zu bytes, the limit is %d", pem.n, PEM_MAX);
    TRY(rsa_key_of(pem, &key, err));
    if (!ctx || EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) != 1 || EVP_DigestSign(ctx, p, &n, bytes_of(message), message.n) != 1)
        return FAIL(err, E_INTERNAL, "the crypto library does not sign");
    *sig = str_n((char *)p, n);
    return OK;
}

/* URL alphabet, no padding. */
static Str part(Arena *a, Str bytes)
{
    Str std = base64_encode(a, bytes);
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < std.n && std.p[i] != '='; i++)
        sb_byte(&b, std.p[i] == '+' ? '-' : std.p[i] == '/' ? '_' : std.p[i]);
    return sb_str(&b);
}

Status jwt_rs256(Arena *a, Str pem, Str kid, const Json *claims, Str *ret, Error *err)
{
    Json *head = json_object(a);
    Str sig;

    json_set(a, head, "alg", json_str(a, S("RS256")));
    if (kid.n)
        json_set(a, head, "kid", json_str(a, kid));
    json_set(a, head, "typ", json_str(a, S("JWT")));
    Str text = str_fmt(a, STR_FMT "." STR_FMT, STR_ARG(part(a, json_text(a, head))), STR_ARG(part(a, json_text(a, claims))));
    TRY(rs256_sign(a, pem, text, &sig, err));
    *ret = str_fmt(a, STR_FMT "." STR_FMT, STR_ARG(text), STR_ARG(part(a, sig)));
    return OK;
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

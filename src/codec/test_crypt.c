/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

#include <openssl/pem.h>
#include <openssl/rsa.h>

static Str hex(Arena *a, const char *text)
{
    Str s = {0};
    assert_true(hex_decode(a, str_c(text), &s));
    return s;
}

static void ed25519(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();     /* RFC 8032, 7.1, test 2 */
    Str seed = hex(a, "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"), pub, sig;
    Error err;
    assert_ok(ed25519_public(a, seed, &pub, &err), &err);
    assert_str(hex_encode(a, pub), "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    assert_ok(ed25519_sign(a, seed, S("\x72"), &sig, &err), &err);
    assert_str(hex_encode(a, sig), "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                                   "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
    assert_true(ed25519_verify(pub, S("\x72"), sig));
    assert_false(ed25519_verify(pub, S("\x73"), sig));
    assert_false(ed25519_verify(pub, S("\x72"), str_sub(sig, 0, 63)));
    assert_status(ed25519_sign(a, S("short"), S("m"), &sig, &err), E_INVALID);
}

static void fresh_keys_sign_anything(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str seed, pub, seed2, pub2, sig;
    Error err;
    assert_ok(ed25519_generate(a, &seed, &pub, &err), &err);
    assert_ok(ed25519_generate(a, &seed2, &pub2, &err), &err);
    assert_false(str_eq(seed, seed2));
    assert_ok(ed25519_sign(a, seed, (Str){ 0 }, &sig, &err), &err);
    assert_true(ed25519_verify(pub, (Str){ 0 }, sig));
    assert_false(ed25519_verify(pub2, (Str){ 0 }, sig));
}

static Str pem_of(Arena *a, EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *p;

    assert_int_equal(PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL), 1);
    long n = BIO_get_mem_data(bio, &p);
    Str pem = str_dup(a, str_n(p, (size_t)n));
    BIO_free(bio);
    return pem;
}

static bool verifies(EVP_PKEY *key, Str text, Str sig)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, key) == 1
             && EVP_DigestVerify(ctx, (const unsigned char *)sig.p, sig.n, (const unsigned char *)text.p, text.n) == 1;
    EVP_MD_CTX_free(ctx);
    return good;
}

static void tokens(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    EVP_PKEY *key = EVP_RSA_gen(2048), *other = EVP_RSA_gen(2048), *ec = EVP_EC_gen("P-256");
    Str pem = pem_of(a, key), jwt, head, rest = {0}, claims = {0}, sig = {0}, plain;
    Json *in = json_object(a), *out;
    Error err;

    json_set(a, in, "iss", json_str(a, S("x@y.iam.gserviceaccount.com")));
    json_set(a, in, "exp", json_int(a, 1800000000));
    assert_ok(jwt_rs256(a, pem, S("k1"), in, &jwt, &err), &err);
    assert_true(str_chr(jwt, '=') < 0 && str_chr(jwt, '+') < 0 && str_chr(jwt, '/') < 0);
    assert_true(str_cut(jwt, '.', &head, &rest) && str_cut(rest, '.', &claims, &sig));
    assert_ok(base64_decode(a, head, &plain, &err), &err);
    assert_str(plain, "{\"alg\":\"RS256\",\"kid\":\"k1\",\"typ\":\"JWT\"}");
    assert_ok(base64_decode(a, claims, &plain, &err), &err);
    assert_ok(json_parse(a, plain, &out, &err), &err);
    assert_true(json_equal(in, out));
    assert_ok(base64_decode(a, sig, &plain, &err), &err);
    assert_true(verifies(key, str_sub(jwt, 0, head.n + 1 + claims.n), plain));
    assert_false(verifies(key, head, plain));
    assert_false(verifies(other, str_sub(jwt, 0, head.n + 1 + claims.n), plain));
    assert_status(rs256_sign(a, S("-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n"), S("m"), &sig, &err), E_INVALID);
    assert_status(rs256_sign(a, pem_of(a, ec), S("m"), &sig, &err), E_INVALID);
    assert_true(strstr(err.message, "no RSA key") != NULL);
    EVP_PKEY_free(key);
    EVP_PKEY_free(other);
    EVP_PKEY_free(ec);
}

static void sealed_boxes(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str key = hash_bytes(a, HASH_SHA256, S("key")), other = hash_bytes(a, HASH_SHA256, S("other")), box, box2, plain;
    Error err;
    assert_ok(aes_seal(a, key, S("secret"), &box, &err), &err);
    assert_ok(aes_seal(a, key, S("secret"), &box2, &err), &err);
    assert_int_equal(box.n, 6 + 12 + 16);
    assert_false(str_eq(box, box2));
    assert_ok(aes_open(a, key, box, &plain, &err), &err);
    assert_str(plain, "secret");
    assert_status(aes_open(a, other, box, &plain, &err), E_CORRUPT);
    for (size_t i = 0; i < box.n; i++) {
        char *bad = str_z(a, box);
        bad[i] ^= 1;
        assert_status(aes_open(a, key, str_n(bad, box.n), &plain, &err), E_CORRUPT);
    }
    assert_status(aes_open(a, key, str_sub(box, 0, 27), &plain, &err), E_CORRUPT);
    assert_ok(aes_seal(a, key, (Str){ 0 }, &box, &err), &err);
    assert_ok(aes_open(a, key, box, &plain, &err), &err);
    assert_int_equal(plain.n, 0);
    assert_status(aes_seal(a, S("short"), S("x"), &box, &err), E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ed25519), cmocka_unit_test(fresh_keys_sign_anything), cmocka_unit_test(tokens), cmocka_unit_test(sealed_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sig_v2.c - presigned S3 URLs of Signature Version 2: what boto3 makes by default in us-east-1.
 *
 * Only the query form is known: header requests of every SDK are SigV4.  Format: Amazon S3 Developer Guide, "Signing and
 * Authenticating REST Requests", query string request authentication alternative. */
#include <stdlib.h>

#include "net/net_int.h"

enum { SHA1_BLOCK = 64 };

static Str string_to_sign(Arena *a, const HttpRequest *r, const SigClaim *c);
static void add_amz_headers(Arena *a, StrBuf *b, const HttpRequest *r, const SigClaim *c);
static void add_resource(Arena *a, StrBuf *b, const HttpRequest *r);
static bool is_subresource(Str name);
static int by_key(const void *x, const void *y);
static Str hmac_sha1(Arena *a, Str key, Str bytes);

bool sig_v2_present(const HttpRequest *r)
{
    return http_has_arg(r, "AWSAccessKeyId") && http_has_arg(r, "Signature") && http_has_arg(r, "Expires");
}

Status sig_v2_parse(const HttpRequest *r, SigClaim *ret, Error *err)
{
    int64_t until = 0;
    if (!str_to_i64(http_arg(r, "Expires", (Str){0}), &until) || until < 0)
        return sig_fail(err, "AccessDenied", "Invalid date (should be seconds since epoch): " STR_FMT, STR_ARG(http_arg(r, "Expires", (Str){0})));
    ret->presigned = 1;
    ret->version2 = 1;
    ret->access_key = http_arg(r, "AWSAccessKeyId", (Str){0});
    ret->signature = http_arg(r, "Signature", (Str){0});
    ret->session_token = http_arg(r, "x-amz-security-token", http_header(r, "x-amz-security-token"));
    ret->service = S("s3");
    ret->expires_s = until;
    return OK;
}

Status sig_v2_verify(Arena *a, const HttpRequest *r, const SigClaim *c, Str secret, int64_t now_ms, Error *err)
{
    if (now_ms / 1000 > c->expires_s)
        return sig_fail(err, "AccessDenied", "Request has expired");
    Str want = base64_encode(a, hmac_sha1(a, secret, string_to_sign(a, r, c)));
    if (!str_eq_const_time(want, c->signature))
        return sig_fail(err, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided. "
                                                      "Check your key and signing method.");
    return OK;
}

static Str string_to_sign(Arena *a, const HttpRequest *r, const SigClaim *c)
{
    StrBuf b = sb_new(a);
    sb_add(&b, r->method);
    sb_byte(&b, '\n');
    sb_add(&b, http_header(r, "content-md5"));
    sb_byte(&b, '\n');
    sb_add(&b, http_header(r, "content-type"));
    sb_fmt(&b, "\n%lld\n", (long long)c->expires_s);
    add_amz_headers(a, &b, r, c);
    add_resource(a, &b, r);
    return sb_str(&b);
}

static void add_amz_headers(Arena *a, StrBuf *b, const HttpRequest *r, const SigClaim *c)
{
    Props amz = {0};
    for vec_each(KeyValue, h, &r->headers)
        if (str_starts(h->key, S("x-amz-")))
            props_set(a, &amz, h->key, str_trim(h->value));
    if (c->session_token.n)
        props_set(a, &amz, S("x-amz-security-token"), c->session_token);
    if (amz.n)
        qsort(amz.p, amz.n, sizeof *amz.p, by_key);
    for vec_each(KeyValue, h, &amz) {
        sb_add(b, h->key);
        sb_byte(b, ':');
        sb_add(b, h->value);
        sb_byte(b, '\n');
    }
}

static void add_resource(Arena *a, StrBuf *b, const HttpRequest *r)
{
    Props subs = {0};
    char sep = '?';
    sb_add(b, r->path);
    for vec_each(KeyValue, arg, &r->args)
        if (is_subresource(arg->key))
            props_set(a, &subs, arg->key, arg->value);
    if (subs.n)
        qsort(subs.p, subs.n, sizeof *subs.p, by_key);
    for vec_each(KeyValue, arg, &subs) {
        sb_byte(b, sep);
        sb_add(b, arg->key);
        if (arg->value.n) {
            sb_byte(b, '=');
            sb_add(b, arg->value);
        }
        sep = '&';
    }
}

static bool is_subresource(Str name)
{
    static const char *const names[] = { "acl", "cors", "delete", "lifecycle", "location", "logging", "notification", "partNumber", "policy",
        "requestPayment", "tagging", "torrent", "uploadId", "uploads", "versionId", "versioning", "versions", "website", "replication",
        "accelerate", "restore" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_eq(name, str_c(names[i])))
            return true;
    return str_starts(name, S("response-"));
}

static int by_key(const void *x, const void *y)
{
    return str_cmp(((const KeyValue *)x)->key, ((const KeyValue *)y)->key);
}

/* RFC 2104 */
static Str hmac_sha1(Arena *a, Str key, Str bytes)
{
    char inner[SHA1_BLOCK] = {0}, outer[SHA1_BLOCK];
    if (key.n > SHA1_BLOCK)
        key = hash_bytes(a, HASH_SHA1, key);
    if (key.n)
        memcpy(inner, key.p, key.n);
    for (size_t i = 0; i < SHA1_BLOCK; i++) {
        outer[i] = (char)(inner[i] ^ 0x5c);
        inner[i] = (char)(inner[i] ^ 0x36);
    }
    Str hash = hash_bytes(a, HASH_SHA1, str_cat(a, str_n(inner, SHA1_BLOCK), bytes));
    return hash_bytes(a, HASH_SHA1, str_cat(a, str_n(outer, SHA1_BLOCK), hash));
}

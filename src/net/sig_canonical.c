/* SPDX-License-Identifier: Apache-2.0 */
/* sig_canonical.c - the canonical request of SigV4, made alike for signing and for verifying.
 *
 * S3 signs the path once encoded, every other service encodes it again (%3A becomes %253A) after removing dot segments;
 * an S3 path is brought to one form byte by byte, so that clients which leave "!" or "'" unencoded agree with those that don't. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "net/net_int.h"

typedef VEC(KeyValue) Pairs;

static void add_encoded(StrBuf *b, Str raw, int in_query);
static int hex_digit(char c);
static bool unreserved(unsigned char c);
static Str without_dots(Arena *a, Str path);
static int by_key_and_value(const void *x, const void *y);
static Str folded(Arena *a, Str value);

Str sig_canonical_path(Arena *a, Str raw_path, Str service)
{
    StrBuf b = sb_new(a);
    if (!str_eq(service, S("s3")))
        return url_encode(a, without_dots(a, raw_path), 1);
    add_encoded(&b, raw_path, 0);
    return b.n ? sb_str(&b) : S("/");
}

Str sig_canonical_query(Arena *a, Str raw_query, Str leave_out)
{
    Pairs pairs = {0};
    StrVec parts = {0};
    StrBuf out = sb_new(a);
    str_split(a, raw_query, '&', &parts);
    for vec_each(Str, part, &parts) {
        KeyValue raw;
        StrBuf k = sb_new(a), v = sb_new(a);
        if (!part->n)
            continue;
        str_cut(*part, '=', &raw.key, &raw.value);
        add_encoded(&k, raw.key, 1);
        add_encoded(&v, raw.value, 1);
        KeyValue kv = { sb_str(&k), sb_str(&v) };
        if (!leave_out.n || !str_eq(kv.key, leave_out))
            vec_push(a, &pairs, kv);
    }
    if (pairs.n)
        qsort(pairs.p, pairs.n, sizeof *pairs.p, by_key_and_value);
    for vec_each(KeyValue, kv, &pairs) {
        sb_addc(&out, kv == pairs.p ? "" : "&");
        sb_add(&out, kv->key);
        sb_byte(&out, '=');
        sb_add(&out, kv->value);
    }
    return sb_str(&out);
}

Str sig_canonical_headers(Arena *a, const Props *headers, const StrVec *names)
{
    StrBuf b = sb_new(a);
    for vec_each(Str, name, names) {
        sb_add(&b, *name);
        sb_byte(&b, ':');
        sb_add(&b, folded(a, props_get(headers, *name, (Str){0})));
        sb_byte(&b, '\n');
    }
    return sb_str(&b);
}

Str sig_scope(Arena *a, Str date, Str region, Str service)
{
    return str_fmt(a, STR_FMT "/" STR_FMT "/" STR_FMT "/aws4_request", STR_ARG(date), STR_ARG(region), STR_ARG(service));
}

Str sig_key(Arena *a, Str secret, Str date, Str region, Str service)
{
    Str k = hmac_sha256(a, str_cat(a, S("AWS4"), secret), date);
    k = hmac_sha256(a, k, region);
    k = hmac_sha256(a, k, service);
    return hmac_sha256(a, k, S("aws4_request"));
}

Str sig_of_request(Arena *a, Str key, Str amz_date, Str scope, Str canonical_request)
{
    StrBuf b = sb_new(a);
    sb_addc(&b, "AWS4-HMAC-SHA256\n");
    sb_add(&b, amz_date);
    sb_byte(&b, '\n');
    sb_add(&b, scope);
    sb_byte(&b, '\n');
    sb_add(&b, hash_hex(a, HASH_SHA256, canonical_request));
    return hex_encode(a, hmac_sha256(a, key, sb_str(&b)));
}

Status sig_fail(Error *err, const char *kind, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)FAIL(err, E_AUTH, "%s", text);
    snprintf(err->kind, sizeof err->kind, "%s", kind);
    return E_AUTH;
}

/* Bytes that are encoded stay so (upper-case hex) unless they need not be; the others are encoded where they must be. */
static void add_encoded(StrBuf *b, Str raw, int in_query)
{
    for (size_t i = 0; i < raw.n; i++) {
        unsigned char c = (unsigned char)raw.p[i];
        if (c == '%' && i + 2 < raw.n && hex_digit(raw.p[i + 1]) >= 0 && hex_digit(raw.p[i + 2]) >= 0) {
            c = (unsigned char)(hex_digit(raw.p[i + 1]) << 4 | hex_digit(raw.p[i + 2]));
            i += 2;
        } else if (c == '/' && !in_query) {
            sb_byte(b, '/');
            continue;
        } else if (c == '+' && in_query) {
            c = ' ';
        }
        if (unreserved(c))
            sb_byte(b, (char)c);
        else
            sb_fmt(b, "%%%02X", c);
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool unreserved(unsigned char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

/* RFC 3986 5.2.4, and doubled slashes made one: what SDKs do before they sign for services other than S3. */
static Str without_dots(Arena *a, Str path)
{
    StrVec parts = {0}, kept = {0};
    str_split(a, path, '/', &parts);
    for vec_each(Str, p, &parts) {
        if (str_eq(*p, S("..")))
            kept.n -= kept.n > 0;
        else if (p->n && !str_eq(*p, S(".")))
            vec_push(a, &kept, *p);
    }
    Str joined = str_cat(a, S("/"), str_join(a, &kept, S("/")));
    return str_ends(path, S("/")) && joined.n > 1 ? str_cat(a, joined, S("/")) : joined;
}

static int by_key_and_value(const void *x, const void *y)
{
    const KeyValue *p = x, *q = y;
    int c = str_cmp(p->key, q->key);
    return c ? c : str_cmp(p->value, q->value);
}

/* Trimmed, inner runs of blanks made one. */
static Str folded(Arena *a, Str value)
{
    StrBuf b = sb_new(a);
    value = str_trim(value);
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] != ' ' || value.p[i - 1] != ' ')
            sb_byte(&b, value.p[i]);
    return sb_str(&b);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sig_verify.c - what a signed request claims, and whether the claim holds.
 *
 * Parsing needs no key: doors route by the service in the scope and look the access key up; only then the signature is
 * recomputed and compared in constant time.  Header and presigned form meet in one SigClaim. */
#include "net/net_int.h"

enum {
    SKEW_MS            = 15 * 60 * 1000,
    EXPIRES_MAX_S      = 7 * 24 * 3600,
    SIGNED_HEADERS_MAX = 256,
};
#define ALGORITHM "AWS4-HMAC-SHA256"

static Status parse_header(Arena *a, const HttpRequest *r, Str text, SigClaim *ret, Error *err);
static Status parse_query(Arena *a, const HttpRequest *r, SigClaim *ret, Error *err);
static Status parse_credential(Str text, const char *kind, SigClaim *ret, Error *err);
static Status parse_signed_headers(Arena *a, Str text, const char *kind, SigClaim *ret, Error *err);
static Status parse_date(const HttpRequest *r, SigClaim *ret, const char *kind, Error *err);
static Status check_time(const SigClaim *c, int64_t now_ms, Error *err);
static Status check_signed_headers(const HttpRequest *r, const SigClaim *c, Error *err);
static Str canonical_request(Arena *a, const HttpRequest *r, const SigClaim *c, Str payload_hash);

Status sig_parse(Arena *a, const HttpRequest *r, SigClaim *ret, Error *err)
{
    Str auth = http_header(r, "authorization");
    *ret = (SigClaim){ .payload_hash = http_header(r, "x-amz-content-sha256") };
    if (str_starts(auth, S(ALGORITHM)))
        return parse_header(a, r, str_from(auth, sizeof ALGORITHM - 1), ret, err);
    if (sig_v2_present(r))
        return sig_v2_parse(r, ret, err);
    if (str_starts(auth, S("AWS ")))
        return sig_fail(err, "InvalidRequest", "The authorization mechanism you have provided is not supported. Please use " ALGORITHM ".");
    if (http_has_arg(r, "X-Amz-Algorithm") || http_has_arg(r, "X-Amz-Signature") || http_has_arg(r, "X-Amz-Credential"))
        return parse_query(a, r, ret, err);
    return OK;
}

Status sig_verify(Arena *a, const HttpRequest *r, const SigClaim *c, Str secret, int64_t now_ms, Str body_sha256_hex, Error *err)
{
    if (c->version2)
        return sig_v2_verify(a, r, c, secret, now_ms, err);
    Str payload = c->payload_hash.n ? c->payload_hash : c->presigned && str_eq(c->service, S("s3")) ? S("UNSIGNED-PAYLOAD") : body_sha256_hex;
    TRY(check_time(c, now_ms, err));
    TRY(check_signed_headers(r, c, err));
    Str key = sig_key(a, secret, c->date, c->region, c->service);
    Str want = sig_of_request(a, key, c->amz_date, sig_scope(a, c->date, c->region, c->service), canonical_request(a, r, c, payload));
    if (!str_eq_const_time(want, c->signature))
        return sig_fail(err, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided. "
                                                      "Check your key and signing method.");
    return OK;
}

/* ---- parsing ---------------------------------------------------------------------------------------------------- */

static Status parse_header(Arena *a, const HttpRequest *r, Str text, SigClaim *ret, Error *err)
{
    const char *kind = "AuthorizationHeaderMalformed";
    StrVec parts = {0};
    Str credential = {0}, signed_headers = {0};
    str_split(a, text, ',', &parts);
    for vec_each(Str, part, &parts) {
        Str name, value;
        str_cut(str_trim(*part), '=', &name, &value);
        if (str_eq(name, S("Credential")))
            credential = value;
        else if (str_eq(name, S("SignedHeaders")))
            signed_headers = value;
        else if (str_eq(name, S("Signature")))
            ret->signature = value;
    }
    TRY(parse_credential(credential, kind, ret, err));
    TRY(parse_signed_headers(a, signed_headers, kind, ret, err));
    if (ret->signature.n != 64)
        return sig_fail(err, kind, "The authorization header is malformed; the Signature is not 64 hex digits");
    ret->session_token = http_header(r, "x-amz-security-token");
    ret->amz_date = http_header(r, "x-amz-date");
    if (!ret->amz_date.n) {
        int64_t ms;
        if (!http_date_parse(http_header(r, "date"), &ms))
            return sig_fail(err, "AccessDenied", "AWS authentication requires a valid Date or x-amz-date header");
        Str iso = time_iso8601(a, ms);
        ret->amz_date = str_fmt(a, "%.4s%.2s%.2sT%.2s%.2s%.2sZ", iso.p, iso.p + 5, iso.p + 8, iso.p + 11, iso.p + 14, iso.p + 17);
    }
    return parse_date(r, ret, kind, err);
}

static Status parse_query(Arena *a, const HttpRequest *r, SigClaim *ret, Error *err)
{
    const char *kind = "AuthorizationQueryParametersError";
    ret->presigned = 1;
    if (!str_eq(http_arg(r, "X-Amz-Algorithm", (Str){0}), S(ALGORITHM)))
        return sig_fail(err, kind, "X-Amz-Algorithm only supports \"" ALGORITHM "\"");
    TRY(parse_credential(http_arg(r, "X-Amz-Credential", (Str){0}), kind, ret, err));
    TRY(parse_signed_headers(a, http_arg(r, "X-Amz-SignedHeaders", (Str){0}), kind, ret, err));
    ret->signature = http_arg(r, "X-Amz-Signature", (Str){0});
    ret->amz_date = http_arg(r, "X-Amz-Date", (Str){0});
    ret->session_token = http_arg(r, "X-Amz-Security-Token", (Str){0});
    if (ret->signature.n != 64)
        return sig_fail(err, kind, "X-Amz-Signature is not 64 hex digits");
    if (!str_to_i64(http_arg(r, "X-Amz-Expires", (Str){0}), &ret->expires_s) || ret->expires_s < 0)
        return sig_fail(err, kind, "X-Amz-Expires should be a number of seconds");
    if (ret->expires_s > EXPIRES_MAX_S)
        return sig_fail(err, kind, "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds");
    return parse_date(r, ret, kind, err);
}

/* <access key>/<date>/<region>/<service>/aws4_request; the key may contain slashes. */
static Status parse_credential(Str text, const char *kind, SigClaim *ret, Error *err)
{
    Str part[4];
    for (int i = 3; i >= 0; i--) {
        ptrdiff_t at = str_rchr(text, '/');
        if (at < 0)
            return sig_fail(err, kind, "The Credential is malformed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\"");
        part[i] = str_from(text, (size_t)at + 1);
        text = str_sub(text, 0, (size_t)at);
    }
    if (!text.n || part[0].n != 8 || !part[2].n || !str_eq(part[3], S("aws4_request")))
        return sig_fail(err, kind, "The Credential is malformed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\"");
    ret->access_key = text;
    ret->date = part[0];
    ret->region = part[1];
    ret->service = part[2];
    return OK;
}

static Status parse_signed_headers(Arena *a, Str text, const char *kind, SigClaim *ret, Error *err)
{
    if (!text.n)
        return sig_fail(err, kind, "SignedHeaders is missing");
    str_split(a, text, ';', &ret->signed_headers);
    if (ret->signed_headers.n > SIGNED_HEADERS_MAX)
        return sig_fail(err, kind, "more than %d signed headers", SIGNED_HEADERS_MAX);
    return OK;
}

static Status parse_date(const HttpRequest *r, SigClaim *ret, const char *kind, Error *err)
{
    (void)r;
    if (ret->amz_date.n != 16 || !iso8601_parse(ret->amz_date, &ret->time_ms))
        return sig_fail(err, ret->presigned ? kind : "AccessDenied", "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
    if (!str_eq(str_sub(ret->amz_date, 0, 8), ret->date))
        return sig_fail(err, kind, "Invalid credential date \"" STR_FMT "\". This date is not the same as X-Amz-Date: \"" STR_FMT "\".",
                        STR_ARG(ret->date), STR_ARG(str_sub(ret->amz_date, 0, 8)));
    return OK;
}

/* ---- checking ------------------------------------------------------------------------------------------------------ */

static Status check_time(const SigClaim *c, int64_t now_ms, Error *err)
{
    int64_t age = now_ms - c->time_ms;
    if (c->presigned && age > c->expires_s * 1000)
        return sig_fail(err, "AccessDenied", "Request has expired");
    if (c->presigned && age < -SKEW_MS)
        return sig_fail(err, "AccessDenied", "Request is not valid yet");
    if (!c->presigned && (age > SKEW_MS || age < -SKEW_MS))
        return sig_fail(err, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.");
    return OK;
}

/* The host and, for S3, every x-amz- header must be under the signature; a header that is not could be added by anyone on the way. */
static Status check_signed_headers(const HttpRequest *r, const SigClaim *c, Error *err)
{
    if (!strvec_has(&c->signed_headers, S("host")) && !strvec_has(&c->signed_headers, S(":authority")))
        return sig_fail(err, "AccessDenied", "There were headers present in the request which were not signed: host");
    if (!str_eq(c->service, S("s3")))
        return OK;
    for vec_each(KeyValue, h, &r->headers)
        if (str_starts(h->key, S("x-amz-")) && !strvec_has(&c->signed_headers, h->key) && !str_eq(h->key, S("x-amz-content-sha256")))
            return sig_fail(err, "AccessDenied", "There were headers present in the request which were not signed: " STR_FMT, STR_ARG(h->key));
    return OK;
}

static Str canonical_request(Arena *a, const HttpRequest *r, const SigClaim *c, Str payload_hash)
{
    StrBuf b = sb_new(a);
    const Str part[] = {
        r->method,
        sig_canonical_path(a, r->path, c->service),
        sig_canonical_query(a, r->query, c->presigned ? S("X-Amz-Signature") : (Str){0}),
        sig_canonical_headers(a, &r->headers, &c->signed_headers),
        str_join(a, &c->signed_headers, S(";")),
        payload_hash,
    };
    for (size_t i = 0; i < COUNT_OF(part); i++) {
        sb_addc(&b, i ? "\n" : "");
        sb_add(&b, part[i]);
    }
    return sb_str(&b);
}

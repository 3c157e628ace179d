/* SPDX-License-Identifier: Apache-2.0 */
/* store_s3_call.c - one request to an object store: its URL, its signature, its repetition, and what its answer means.
 *
 * Invariants: (1) a request that may have been done is repeated only when doing it twice comes to the same; (2) redirects are not followed: signed requests go where the options
 * say and nowhere else, but that AWS is asked at the region where it says that a bucket lies; (3) keys that were refused as expired are asked for anew once a request, a region and a
 * clock that the server tells are taken once a request. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store_s3_int.h"

typedef struct CodeMeaning { const char *code; Status status; } CodeMeaning;

static const CodeMeaning MEANINGS[] = {
    { "NoSuchKey", E_NOT_FOUND }, { "NoSuchBucket", E_NOT_FOUND }, { "NoSuchUpload", E_NOT_FOUND },
    { "AccessDenied", E_DENIED }, { "AllAccessDisabled", E_DENIED }, { "AccountProblem", E_DENIED },
    { "InvalidAccessKeyId", E_AUTH }, { "SignatureDoesNotMatch", E_AUTH }, { "ExpiredToken", E_AUTH }, { "InvalidToken", E_AUTH }, { "TokenRefreshRequired", E_AUTH },
    { "RequestTimeTooSkewed", E_AUTH }, { "AuthorizationHeaderMalformed", E_AUTH },
    { "PreconditionFailed", E_CONFLICT }, { "ConditionalRequestConflict", E_UNAVAILABLE }, { "OperationAborted", E_UNAVAILABLE },
    { "SlowDown", E_UNAVAILABLE }, { "ServiceUnavailable", E_UNAVAILABLE }, { "TooManyRequests", E_UNAVAILABLE }, { "RequestLimitExceeded", E_UNAVAILABLE }, { "RequestTimeout", E_UNAVAILABLE },
    { "InvalidRange", E_INVALID }, { "EntityTooLarge", E_LIMIT }, { "KeyTooLongError", E_LIMIT },
    { "NotImplemented", E_UNSUPPORTED }, { "MethodNotAllowed", E_UNSUPPORTED }, { "QuotaExceeded", E_FULL }, { "InternalError", E_UNKNOWN },
};

typedef struct Target { Str region, endpoint; int64_t skew_ms; } Target;

static Str url_of(S3Side *t, Arena *a, const S3Call *q, Str endpoint);
static bool adapts(S3Side *t, const S3Call *q, const HttpReply *r, const Error *err);
static Status try_once(S3Side *t, Arena *a, const S3Call *q, HttpReply *ret, Error *err);
static Status signed_elsewhere(S3Side *t, Arena *a, HttpCall *c, Error *err);
static Status judge(S3Side *t, Arena *a, const S3Call *q, const HttpReply *r, Error *err);
static Status by_http(int http);
static bool keys_are_old(S3Side *t, const S3Call *q, const HttpReply *r, Status st, const Error *err);
static void pause_before(const S3Side *t, int try);

Status s3s_call(Store *s, Arena *a, const S3Call *q, HttpReply *ret, Error *err)
{
    S3Side *t = s->s3;
    int tries = t->o.tries ? t->o.tries : S3_TRIES, renewed = 0, adapted = 0;

    for (int i = 1; ; i++) {
        *ret = (HttpReply){0};
        Status st = try_once(t, a, q, ret, err);
        if (st == OK)
            return OK;
        bool unsure = st == E_UNKNOWN || st == E_TIMEOUT;
        if (!renewed && keys_are_old(t, q, ret, st, err)) {
            renewed = 1;                                     /* (3) */
            t->o.refused(t->o.ctx);
        } else if (adapted < 2 && adapts(t, q, ret, err)) {
            adapted++;
        } else if (i >= tries || !(st == E_UNAVAILABLE || unsure) || (unsure && q->once)) {     /* (1) */
            return st;
        } else {
            pause_before(t, i);
        }
        if (q->again)
            q->again(q->sink_ctx);
    }
}

Str s3s_header(const HttpReply *r, const char *name)
{
    return props_get(&r->headers, str_c(name), (Str){0});
}

void s3s_object_info(Arena *a, Str bucket, Str key, const HttpReply *r, ObjectInfo *ret)
{
    Str etag = s3s_header(r, "etag");
    if (str_starts(etag, S("W/")))
        etag = str_from(etag, 2);
    if (etag.n >= 2 && etag.p[0] == '"' && etag.p[etag.n - 1] == '"')
        etag = str_sub(etag, 1, etag.n - 1);
    *ret = (ObjectInfo){ .bucket = str_dup(a, bucket), .key = str_dup(a, key), .etag = str_dup(a, etag) };
    if (!str_to_i64(s3s_header(r, "content-length"), &ret->size) || ret->size < 0)
        ret->size = -1;
    if (!http_date_parse(s3s_header(r, "last-modified"), &ret->modified_ms))
        ret->modified_ms = 0;
    for vec_each(KeyValue, h, &r->headers)
        if (str_starts(h->key, S("x-amz-meta-")) || str_eq(h->key, S("content-type")))
            props_set(a, &ret->headers, h->key, h->value);
}

/* Below a prefix: the same, or a slash follows. */
static bool below(const Location *at, const Location *top)
{
    Str key = top->key;
    while (str_ends(key, S("/")))
        key.n--;
    if (top->file || !str_eq(at->bucket, top->bucket) || !str_starts(at->key, key))
        return false;
    return !key.n || at->key.n == key.n || at->key.p[key.n] == '/';
}

Status s3s_place(Store *s, Arena *a, Str uri, Location *ret, Error *err)
{
    const StrVec *within = s->s3->o.within;

    TRY(store_parse_location(a, uri, ret, err));
    if (ret->file)
        return FAIL(err, E_UNSUPPORTED, "'" STR_FMT "' is a local file, and this table's files lie in an object store", STR_ARG(uri));
    for (size_t i = 0; within && i < within->n; i++) {
        Location top;
        if (store_parse_location(a, within->p[i], &top, err) == OK && below(ret, &top))
            return OK;
    }
    if (!within)
        return OK;
    return FAIL(err, E_DENIED, "'" STR_FMT "' lies outside of the table's storage '" STR_FMT "': it is not touched", STR_ARG(uri),
                STR_ARG(within->n ? within->p[0] : S("")));
}

/* ---- checksums -------------------------------------------------------------------------------------------------- */

void s3s_check_start(S3Check *c, Arena *a, const HttpReply *r)
{
    static const struct { const char *header; HashKind kind; } KINDS[] = {
        { "x-amz-checksum-crc64nvme", HASH_CRC64NVME }, { "x-amz-checksum-crc32c", HASH_CRC32C }, { "x-amz-checksum-crc32", HASH_CRC32 },
        { "x-amz-checksum-sha256", HASH_SHA256 }, { "x-amz-checksum-sha1", HASH_SHA1 },
    };
    Error ignored;

    s3s_check_done(c);
    bool of_parts = str_ieq(s3s_header(r, "x-amz-checksum-type"), S("COMPOSITE"));
    for (size_t i = 0; !c->h && !of_parts && i < COUNT_OF(KINDS); i++) {
        Str v = s3s_header(r, KINDS[i].header);
        if (v.n && str_chr(v, '-') < 0 && base64_decode(a, v, &c->want, &ignored) == OK)
            c->h = hasher_new(KINDS[i].kind);
    }
}

Status s3s_check_end(S3Check *c, Arena *a, Str what, Error *err)
{
    if (c->h && !str_eq(hasher_done(c->h, a), c->want))
        return FAIL(err, E_CORRUPT, "the bytes of '" STR_FMT "' do not have the checksum that the object store gives for them", STR_ARG(what));
    return OK;
}

void s3s_check_done(S3Check *c)
{
    hasher_freep(&c->h);
}

/* A body in chunks says itself where it ends. */
Status s3s_whole(const HttpReply *r, int64_t got, Str what, Error *err)
{
    int64_t told = -1;
    Str length = s3s_header(r, "content-length");

    if (r->status != 200)
        return FAIL(err, E_IO, "the object store sent a part of '" STR_FMT "' (HTTP status %d) where the whole was asked for", STR_ARG(what), r->status);
    if (!length.n && str_ieq(s3s_header(r, "transfer-encoding"), S("chunked")))
        return OK;
    if (str_to_i64(length, &told) && told == got)
        return OK;
    return FAIL(err, E_IO, "the object store sent %lld bytes of '" STR_FMT "' and announced %lld", (long long)got, STR_ARG(what), (long long)told);
}

/* ---- one try ---------------------------------------------------------------------------------------------------- */

static Str url_of(S3Side *t, Arena *a, const S3Call *q, Str endpoint)
{
    StrBuf b = sb_new(a);
    ptrdiff_t host = str_find(endpoint, S("://")) + 3;
    bool dotted = str_chr(q->bucket, '.') >= 0 && str_starts(endpoint, S("https:"));      /* no certificate covers it */

    if (t->o.path_style || dotted) {
        sb_add(&b, endpoint);
        sb_byte(&b, '/');
        sb_add(&b, url_encode(a, q->bucket, 0));
    } else {
        sb_add(&b, str_sub(endpoint, 0, (size_t)host));
        sb_add(&b, url_encode(a, q->bucket, 0));
        sb_byte(&b, '.');
        sb_add(&b, str_from(endpoint, (size_t)host));
    }
    sb_byte(&b, '/');
    sb_add(&b, url_encode(a, q->key, 1));
    if (q->query.n) {
        sb_byte(&b, '?');
        sb_add(&b, q->query);
    }
    return sb_str(&b);
}

static Target target_of(S3Side *t)
{
    pthread_mutex_lock(&t->mu);
    Target now = { t->region, t->endpoint, t->skew_ms };
    pthread_mutex_unlock(&t->mu);
    return now;
}

static Status try_once(S3Side *t, Arena *a, const S3Call *q, HttpReply *ret, Error *err)
{
    Target to = target_of(t);
    int timeout = t->o.timeout_ms ? t->o.timeout_ms : S3_TIMEOUT_MS;
    AwsKeys keys = {0};
    HttpCall c = { .method = q->method, .url = url_of(t, a, q, to.endpoint), .headers = {0}, .body = q->body, .service = S("s3"), .region = to.region, .skew_ms = to.skew_ms,
                   .sink = q->sink, .sink_ctx = q->sink_ctx,
                   .max_bytes = q->max_bytes ? q->max_bytes : S3_ANSWER_MAX, .pool = q->once ? NULL : t->pool,
                   .timeout_ms = q->moves_much ? S3_BODY_TIMEOUT_MS : timeout, .stall_s = (int)max_i64(1, min_i64(S3_STALL_S, timeout / 1000)) };

    for vec_each(const KeyValue, h, &q->headers)
        vec_push(a, &c.headers, *h);
    if (t->o.sign) {
        TRY(signed_elsewhere(t, a, &c, err));
    } else if (t->o.keys) {
        TRY_CTX(t->o.keys(t->o.ctx, a, q->bucket, q->key.n ? q->key : q->below, &keys, err), err, "keys for the object store");
        c.sign = keys.access_key.n ? &keys : NULL;
    }
    TRY(http_call(a, &c, ret, err));
    return ret->status / 100 == 2 ? OK : judge(t, a, q, ret, err);
}

static Str before_query(Str url)
{
    Str head, tail;
    return str_cut(url, '?', &head, &tail) ? head : url;
}

/* Whoever signs may add to query and headers; where the request goes stays (2). */
static Status signed_elsewhere(S3Side *t, Arena *a, HttpCall *c, Error *err)
{
    StoreS3Request r = { .method = c->method, .region = c->region, .url = c->url, .headers = c->headers };

    TRY_CTX(t->o.sign(t->o.ctx, a, &r, err), err, "having a request to the object store signed");
    if (!str_eq(before_query(r.url), before_query(c->url)))
        return FAIL(err, E_INVALID, "the signer signed another request: '" STR_FMT "' for '" STR_FMT "'", STR_ARG(before_query(r.url)), STR_ARG(before_query(c->url)));
    c->url = r.url;
    c->headers = r.headers;
    return OK;
}

S3Fault s3s_fault(Arena *a, Str body)
{
    S3Fault f = {0};
    Xml *x = NULL;
    Error ignored;

    if (!body.n || xml_parse(a, body, &x, &ignored) != OK || !str_eq(x->name, S("Error")))
        return f;
    f.code = xml_child_text(x, "Code", (Str){0});
    f.message = xml_child_text(x, "Message", (Str){0});
    f.region = xml_child_text(x, "Region", (Str){0});
    return f;
}

static Status judge(S3Side *t, Arena *a, const S3Call *q, const HttpReply *r, Error *err)
{
    S3Fault f = s3s_fault(a, r->body);
    Status st = by_http(r->status);
    Str region = f.region.n ? f.region : s3s_header(r, "x-amz-bucket-region");

    for (size_t i = 0; i < COUNT_OF(MEANINGS); i++)
        if (str_eq(f.code, str_c(MEANINGS[i].code)))
            st = MEANINGS[i].status;
    if (!f.code.n && r->status == 404)
        f.code = q->key.n ? S("NoSuchKey") : S("NoSuchBucket");
    if (!f.message.n)
        f.message = str_fmt(a, "HTTP status %d", r->status);
    RAISE(err, st, "%s s3://" STR_FMT "/" STR_FMT ": " STR_FMT "%s" STR_FMT, q->method, STR_ARG(q->bucket), STR_ARG(q->key), STR_ARG(f.code), f.code.n ? ": " : "",
          STR_ARG(f.message));
    snprintf(err->kind, sizeof err->kind, STR_FMT, STR_ARG(f.code));
    if (region.n && str_eq(region, target_of(t).region) && r->status / 100 == 3)
        error_hint(err, "The object store asks for another address: name the endpoint of region " STR_FMT ".", STR_ARG(region));
    else if (region.n && !str_eq(region, target_of(t).region))
        error_hint(err, "The bucket lies in region " STR_FMT ", the request was made for " STR_FMT ".", STR_ARG(region), STR_ARG(target_of(t).region));
    return st;
}

static Status by_http(int http)
{
    switch (http) {
    case 401: return E_AUTH;
    case 403: return E_DENIED;
    case 404: return E_NOT_FOUND;
    case 405: case 501: return E_UNSUPPORTED;
    case 412: return E_CONFLICT;
    case 429: case 503: return E_UNAVAILABLE;
    default: return http >= 500 ? E_UNKNOWN : http >= 400 ? E_INVALID : E_IO;       /* (2): 3xx */
    }
}

static bool is_region(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(s.p[i] >= 'a' && s.p[i] <= 'z') && !(s.p[i] >= '0' && s.p[i] <= '9') && s.p[i] != '-')
            return false;
    return s.n && s.n <= S3_REGION_MAX;
}

/* The bucket lies elsewhere: the signature is of that region from now on, and at AWS the host too. */
static bool takes_region(S3Side *t, const HttpReply *r)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str region = s3s_fault(a, r->body).region;

    if (!region.n)
        region = s3s_header(r, "x-amz-bucket-region");
    if ((r->status != 301 && r->status != 307 && r->status != 400) || !is_region(region))
        return false;
    pthread_mutex_lock(&t->mu);
    bool other = !str_eq(region, t->region) && t->moves < S3_MOVES_MAX;
    if (other) {
        t->moves++;
        t->region = str_dup(t->a, region);
        t->endpoint = t->own_endpoint ? s3s_aws_endpoint(t->a, region) : t->endpoint;
    }
    pthread_mutex_unlock(&t->mu);
    return other;
}

/* The server's clock is another: signatures have its time from now on. An answer to HEAD only says 403. */
static bool takes_clock(S3Side *t, const S3Call *q, const HttpReply *r, const Error *err)
{
    int64_t theirs = 0;
    bool skewed = str_eq(str_c(err->kind), S("RequestTimeTooSkewed")) || (r->status == 403 && str_eq(str_c(q->method), S("HEAD")));

    if (!skewed || !http_date_parse(s3s_header(r, "date"), &theirs))
        return false;
    pthread_mutex_lock(&t->mu);
    int64_t skew = theirs - clock_ms();
    bool other = llabs(skew - t->skew_ms) > S3_SKEW_MS;
    if (other)
        t->skew_ms = skew;
    pthread_mutex_unlock(&t->mu);
    return other;
}

static bool adapts(S3Side *t, const S3Call *q, const HttpReply *r, const Error *err)
{
    return r->status && (takes_region(t, r) || takes_clock(t, q, r, err));
}

/* An answer to HEAD has no body that could name the reason. */
static bool keys_are_old(S3Side *t, const S3Call *q, const HttpReply *r, Status st, const Error *err)
{
    static const char *const OLD[] = { "ExpiredToken", "InvalidToken", "TokenRefreshRequired" };
    Str kind = str_c(err->kind);

    if (!t->o.refused || !t->o.keys || !r->status)
        return false;
    for (size_t i = 0; i < COUNT_OF(OLD); i++)
        if (st == E_AUTH && str_eq(kind, str_c(OLD[i])))
            return true;
    return str_eq(str_c(q->method), S("HEAD")) && (r->status == 400 || r->status == 401);
}

/* Half of the pause is chance, so that many who wait do not come back together. */
static void pause_before(const S3Side *t, int try)
{
    int64_t ms = t->o.pause_ms ? t->o.pause_ms : S3_PAUSE_MS;
    for (int i = 1; i < try && ms < S3_PAUSE_MAX_MS; i++)
        ms *= 2;
    ms = min_i64(ms, S3_PAUSE_MAX_MS);
    usleep((useconds_t)(ms * 500 + (int64_t)(rand_u64() % (uint64_t)(ms * 500 + 1))));
}

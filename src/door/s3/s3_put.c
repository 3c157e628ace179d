/* SPDX-License-Identifier: Apache-2.0 */
/* s3_put.c - PutObject, and how a request body gets into the store: read, decoded, hashed, checked, then published.
 *
 * The right to write is asked again between the last byte and the commit. */
#include "door/s3/s3_int.h"

#define OBJECT_BYTES_MAX ((int64_t)5 * 1024 * 1024 * 1024)

static Status read_text(S3Req *q, const Checks *c, size_t limit, Str *ret, Error *err);
static Status need_length(S3Req *q, Error *err);
static Str without_aws_chunked(Arena *a, Str encoding);

Status op_put(S3Req *q, Error *err)
{
    CLEANUP(store_put_abandonp) StoreWriter *w = NULL;
    Props headers = {0}, tags = {0};
    PutCondition cond = {0};
    Checks checks = {0};
    ObjectInfo o = {0};

    TRY(s3_acl_check(q, err));
    TRY(need_length(q, err));
    TRY(s3_headers_of_request(q, &headers, err));
    TRY(s3_tags_of_header(q, &tags, err));
    TRY(s3_put_condition(q, &cond, err));
    TRY(checks_of_request(q, &checks, err));
    TRY(store_put_open(q->st, q->bucket, q->key, &w, err));
    TRY(s3_pump(q, w, &checks, &headers, err));
    store_put_headers(w, &headers, &tags);
    TRY(s3_allow_again(q, err));
    StoreWriter *mine = w;
    w = NULL;
    TRY(store_put_commit(mine, &cond, q->a, &o, err));
    s3_header(q, "ETag", s3_etag(q->a, o.etag));
    s3_version_header(q, o.version);
    checksum_headers(q, &o.headers);
    return OK;
}

Status s3_pump(S3Req *q, StoreWriter *w, const Checks *c, Props *headers, Error *err)
{
    CLEANUP(sig_body_closep) SigBody *body = NULL;
    char *buf = arena_alloc(q->a, PUMP_BYTES);
    TRY(need_length(q, err));
    TRY(sig_body_open(q->r, &q->claim, q->secret, &body, err));
    if (sig_body_length(body).has && sig_body_length(body).v > OBJECT_BYTES_MAX)
        return s3_fail(err, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed object size of 5 GiB");
    if (c->algo)
        store_put_want(w, c->algo->kind);
    for (size_t n = 1; n;) {
        TRY(sig_body_read(body, buf, PUMP_BYTES, &n, err));
        TRY(store_put_add(w, str_n(buf, n), err));
    }
    Str sum = c->algo ? store_put_hash(w, q->a, c->algo->kind) : (Str){0};
    return checks_verify(q, c, store_put_hash(w, q->a, HASH_MD5), sum, sig_body_trailers(body), headers, err);
}

Status s3_body_text(S3Req *q, size_t limit, Str *ret, Error *err)
{
    Checks c = {0};
    TRY(checks_of_request(q, &c, err));
    return read_text(q, &c, limit, ret, err);
}

Status s3_body_text_unchecked(S3Req *q, size_t limit, Str *ret, Error *err)
{
    return read_text(q, &(Checks){0}, limit, ret, err);
}

Status s3_body_xml(S3Req *q, Xml **ret, Error *err)
{
    Str text;
    TRY(s3_body_text(q, XML_BODY_MAX, &text, err));
    if (xml_parse(q->a, text, ret, err) != OK)
        return s3_fail(err, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema");
    return OK;
}

/* The headers that an object keeps. */
Status s3_headers_of_request(S3Req *q, Props *ret, Error *err)
{
    static const char *const kept[] = { "cache-control", "content-disposition", "content-language", "content-type", "expires" };
    size_t meta = 0;
    for vec_each(KeyValue, h, &q->r->headers) {
        if (str_starts(h->key, S("x-amz-meta-"))) {
            meta += h->key.n - 11 + h->value.n;
            props_set(q->a, ret, h->key, h->value);
        }
    }
    if (meta > META_BYTES_MAX)
        return s3_fail(err, "MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size of %d bytes", META_BYTES_MAX);
    for (size_t i = 0; i < COUNT_OF(kept); i++)
        if (http_header(q->r, kept[i]).n)
            props_set(q->a, ret, str_c(kept[i]), http_header(q->r, kept[i]));
    Str encoding = without_aws_chunked(q->a, http_header(q->r, "content-encoding"));
    if (encoding.n)
        props_set(q->a, ret, S("content-encoding"), encoding);
    return OK;
}

Status s3_put_condition(S3Req *q, PutCondition *ret, Error *err)
{
    Str match = s3_unquote(http_header(q->r, "if-match")), none = s3_unquote(http_header(q->r, "if-none-match"));
    if (match.n && none.n)
        return s3_fail(err, "NotImplemented", "If-Match and If-None-Match cannot be combined on a write");
    ret->if_match = match;
    ret->if_none_match = str_eq(none, S("*"));
    ret->unless_etag = ret->if_none_match ? (Str){0} : none;
    return OK;
}

static Status read_text(S3Req *q, const Checks *c, size_t limit, Str *ret, Error *err)
{
    CLEANUP(sig_body_closep) SigBody *body = NULL;
    StrBuf b = sb_new(q->a);
    char *buf = arena_alloc(q->a, 16 * 1024);
    Props unused = {0};
    TRY(sig_body_open(q->r, &q->claim, q->secret, &body, err));
    for (size_t n = 1; n;) {
        TRY(sig_body_read(body, buf, 16 * 1024, &n, err));
        if (b.n + n > limit)
            return s3_fail(err, "EntityTooLarge", "The request body exceeds the maximum of %zu bytes", limit);
        sb_add(&b, str_n(buf, n));
    }
    *ret = sb_str(&b);
    Str sum = c->algo ? hash_bytes(q->a, c->algo->kind, *ret) : (Str){0};
    return checks_verify(q, c, hash_bytes(q->a, HASH_MD5, *ret), sum, sig_body_trailers(body), &unused, err);
}

static Status need_length(S3Req *q, Error *err)
{
    if (!q->r->length.has && !http_has_header(q->r, "transfer-encoding"))
        return s3_fail(err, "MissingContentLength", "You must provide the Content-Length HTTP header.");
    return OK;
}

/* aws-chunked is the transfer's, not the object's. */
static Str without_aws_chunked(Arena *a, Str encoding)
{
    StrVec parts = {0}, kept = {0};
    str_split(a, encoding, ',', &parts);
    for vec_each(Str, p, &parts)
        if (str_trim(*p).n && !str_ieq(str_trim(*p), S("aws-chunked")))
            vec_push(a, &kept, str_trim(*p));
    return str_join(a, &kept, S(", "));
}

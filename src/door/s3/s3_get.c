/* SPDX-License-Identifier: Apache-2.0 */
/* s3_get.c - GetObject and HeadObject: conditions (RFC 9110 13.2.2), one range, one part, overridden headers.
 *
 * The bytes go from the file to the socket by the server; here only offset and length are chosen. */
#include "door/s3/s3_int.h"

typedef struct Span { int64_t from, n; int partial; const char *part; size_t part_index; } Span;

static Status choose_span(S3Req *q, const ObjectInfo *o, Span *ret, Error *err);
static Status span_of_part(S3Req *q, const ObjectInfo *o, Span *ret, Error *err);
static Status span_of_range(Str text, int64_t size, Span *ret, Error *err);
static void answer_checksum(S3Req *q, const ObjectInfo *o, const Span *span);
static Conditions conditions_of_request(const S3Req *q);
static void overrides(S3Req *q, Props *headers);

Status op_get(S3Req *q, Error *err)
{
    CLEANUP(file_closep) int fd = -1;
    ObjectInfo o = {0};
    Span span = {0};
    int not_modified = 0;
    bool head = str_eq(q->r->method, S("HEAD"));
    Conditions cond = conditions_of_request(q);

    TRY(s3_find(q, head ? NULL : &fd, &o, err));
    TRY(conditions_check(&cond, &o, &not_modified, err));
    if (not_modified) {
        q->ans->status = 304;
        s3_header(q, "ETag", s3_etag(q->a, o.etag));
        s3_header(q, "Last-Modified", http_date(q->a, o.modified_ms));
        return OK;
    }
    TRY(choose_span(q, &o, &span, err));
    overrides(q, &o.headers);
    s3_object_headers(q, &o);
    answer_checksum(q, &o, &span);
    if (span.partial) {
        q->ans->status = 206;
        s3_header(q, "Content-Range", str_fmt(q->a, "bytes %lld-%lld/%lld", (long long)span.from, (long long)(span.from + span.n - 1), (long long)o.size));
    }
    q->ans->offset = span.from;
    q->ans->length = span.n;
    if (!head) {
        q->ans->fd = fd;
        fd = -1;
    }
    return OK;
}

void s3_object_headers(S3Req *q, const ObjectInfo *o)
{
    s3_header(q, "ETag", s3_etag(q->a, o->etag));
    s3_header(q, "Last-Modified", http_date(q->a, o->modified_ms));
    s3_header(q, "Accept-Ranges", S("bytes"));
    s3_version_header(q, o->version);
    if (!props_has(&o->headers, S("content-type")))
        s3_header(q, "Content-Type", S("binary/octet-stream"));
    for vec_each(KeyValue, h, &o->headers)
        if (h->key.p[0] != '-' && !str_starts(h->key, S("x-amz-checksum-")))
            s3_header(q, str_z(q->a, h->key), h->value);
    if (o->tags.n)
        s3_header(q, "x-amz-tagging-count", str_fmt(q->a, "%zu", o->tags.n));
}

Status conditions_check(const Conditions *c, const ObjectInfo *o, int *not_modified, Error *err)
{
    int64_t ms, modified = o->modified_ms / 1000 * 1000;         /* HTTP dates have seconds */
    *not_modified = 0;
    bool failed = c->if_match.n ? !etag_listed(c->if_match, o->etag)
                                : c->unmodified_since.n && http_date_parse(c->unmodified_since, &ms) && modified > ms;
    if (failed)
        return s3_fail(err, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold");
    if (c->if_none_match.n)
        *not_modified = etag_listed(c->if_none_match, o->etag);
    else if (c->modified_since.n && http_date_parse(c->modified_since, &ms))
        *not_modified = modified <= ms;
    return OK;
}

bool etag_listed(Str list, Str etag)
{
    for (Str rest = list, one; rest.n;) {
        str_cut(rest, ',', &one, &rest);
        one = s3_unquote(one);
        if (str_eq(one, S("*")) || str_eq(one, etag))
            return true;
    }
    return false;
}

Status s3_find(S3Req *q, int *fd, ObjectInfo *ret, Error *err)
{
    TRY(store_open_version(q->st, q->a, s3_uri(q), http_arg(q->r, "versionId", (Str){0}), fd, ret, err));
    if (ret->marker)
        return s3_fail(err, "MethodNotAllowed", "The specified method is not allowed against this resource: the version is a delete marker");
    return OK;
}

void s3_version_header(S3Req *q, Str version)
{
    if (version.n)
        s3_header(q, "x-amz-version-id", version);
}

static Status choose_span(S3Req *q, const ObjectInfo *o, Span *ret, Error *err)
{
    Str range = http_header(q->r, "range");
    *ret = (Span){ .n = o->size };
    if (http_has_arg(q->r, "partNumber"))
        return span_of_part(q, o, ret, err);
    if (range.n)
        return span_of_range(range, o->size, ret, err);
    return OK;
}

static Status span_of_part(S3Req *q, const ObjectInfo *o, Span *ret, Error *err)
{
    int64_t number = 0, from = 0, n = 0;
    size_t parts = o->part_sizes.n ? o->part_sizes.n : 1;
    TRY(s3_int_arg(q, "partNumber", 0, &number, err));
    if (number < 1 || number > PART_NUMBER_MAX)
        return s3_fail(err, "InvalidArgument", "Part number must be an integer between 1 and %d, inclusive", PART_NUMBER_MAX);
    if ((size_t)number > parts)
        return s3_fail(err, "InvalidPart", "The requested partnumber is not satisfiable: the object has %zu", parts);
    if (o->part_sizes.n) {
        s3_header(q, "x-amz-mp-parts-count", str_fmt(q->a, "%zu", parts));
        for (int64_t i = 0; i < number; i++) {
            from += n;
            str_to_i64(o->part_sizes.p[i], &n);
        }
        *ret = (Span){ from, n, n > 0, "part", (size_t)number - 1 };
    }
    return OK;
}

/* bytes=a-b | a- | -n. What does not parse, or names several ranges, is as if absent (RFC 9110 14.2). */
static Status span_of_range(Str text, int64_t size, Span *ret, Error *err)
{
    Str first, last;
    int64_t from = 0, to = size - 1;
    if (!str_starts(text, S("bytes=")) || !str_cut(str_trim(str_from(text, 6)), '-', &first, &last))
        return OK;
    bool has_first = first.n > 0, has_last = last.n > 0;
    if ((has_first && !str_to_i64(first, &from)) || (has_last && !str_to_i64(last, &to)) || (!has_first && !has_last) || from < 0 || to < -1)
        return OK;
    if (has_first && has_last && to < from)
        return OK;
    if (!has_first) {
        from = to >= size ? 0 : size - to;
        to = size - 1;
    }
    if (from >= size || from > to)
        return s3_fail(err, "InvalidRange", "The requested range is not satisfiable: the object has %lld bytes", (long long)size);
    to = min_i64(to, size - 1);
    *ret = (Span){ .from = from, .n = to - from + 1, .partial = 1 };
    return OK;
}

/* A checksum is sent for what it is the checksum of: the whole, or one part. */
static void answer_checksum(S3Req *q, const ObjectInfo *o, const Span *span)
{
    if (!str_ieq(http_header(q->r, "x-amz-checksum-mode"), S("ENABLED")))
        return;
    if (!span->partial) {
        checksum_headers(q, &o->headers);
        return;
    }
    const Algo *algo = algo_of_headers(&o->headers);
    Str list = props_get(&o->headers, S(H_PARTSUM), (Str){0});
    StrVec sums = {0};
    str_split(q->a, list, ',', &sums);
    if (!span->part || !algo || span->part_index >= sums.n || !sums.p[span->part_index].n)
        return;
    s3_header(q, algo->header, sums.p[span->part_index]);
    s3_header(q, "x-amz-checksum-type", props_get(&o->headers, S("x-amz-checksum-type"), S("FULL_OBJECT")));
}

static Conditions conditions_of_request(const S3Req *q)
{
    return (Conditions){ http_header(q->r, "if-match"), http_header(q->r, "if-none-match"), http_header(q->r, "if-modified-since"),
                         http_header(q->r, "if-unmodified-since") };
}

/* response-content-type=… and the like; only for signed requests. */
static void overrides(S3Req *q, Props *headers)
{
    static const char *const names[] = { "content-type", "content-language", "expires", "cache-control", "content-disposition", "content-encoding" };
    for (size_t i = 0; q->claim.access_key.n && i < COUNT_OF(names); i++) {
        Str value = props_get(&q->r->args, str_fmt(q->a, "response-%s", names[i]), (Str){0});
        if (value.n)
            props_set(q->a, headers, str_c(names[i]), value);
    }
}

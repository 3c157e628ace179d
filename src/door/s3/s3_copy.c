/* SPDX-License-Identifier: Apache-2.0 */
/* s3_copy.c - CopyObject and UploadPartCopy: the source is asked for by s3:GetObject, the target as for a put. */
#include <errno.h>
#include <unistd.h>

#include "door/s3/s3_int.h"

typedef struct Source { Str bucket, key, version; } Source;

static Status parse_source(S3Req *q, Source *ret, Error *err);
static Status open_source(S3Req *q, const Source *src, int *fd, ObjectInfo *ret, Error *err);
static Status copied_headers(S3Req *q, const ObjectInfo *from, Props *headers, Error *err);
static Status copied_tags(S3Req *q, const ObjectInfo *from, Props *tags, Error *err);
static Status source_range(S3Req *q, int64_t size, int64_t *from, int64_t *n, Error *err);
static Status copy_bytes(S3Req *q, int fd, int64_t from, int64_t n, StoreWriter *w, Error *err);
static void result_xml(S3Req *q, const char *root, int64_t modified_ms, Str etag, const Props *checksums);

Status op_copy(S3Req *q, Error *err)
{
    CLEANUP(file_closep) int fd = -1;
    Source src = {0};
    ObjectInfo from = {0}, to = {0};
    Props headers = {0}, tags = {0};
    PutCondition cond = {0};

    TRY(s3_acl_check(q, err));
    TRY(parse_source(q, &src, err));
    TRY(open_source(q, &src, &fd, &from, err));
    TRY(s3_put_condition(q, &cond, err));
    TRY(copied_headers(q, &from, &headers, err));
    TRY(copied_tags(q, &from, &tags, err));
    bool same = str_eq(src.bucket, q->bucket) && str_eq(src.key, q->key);
    if (same && !src.version.n && !str_eq(http_header(q->r, "x-amz-metadata-directive"), S("REPLACE")) && !http_has_header(q->r, "x-amz-storage-class"))
        return s3_fail(err, "InvalidRequest", "This copy request is illegal because it is trying to copy an object to itself without changing "
                                              "the object's metadata, storage class, website redirect location or encryption attributes.");
    TRY(s3_allow_again(q, err));
    CopyRequest copy = { .from = store_s3_uri(q->a, src.bucket, src.key), .from_version = src.version, .to = s3_uri(q), .headers = &headers,
                         .tags = &tags, .cond = &cond };
    TRY(store_copy(q->st, &copy, q->a, &to, err));
    s3_version_header(q, to.version);
    if (from.version.n)
        s3_header(q, "x-amz-copy-source-version-id", from.version);
    result_xml(q, "CopyObjectResult", to.modified_ms, to.etag, &to.headers);
    return OK;
}

Status op_part_copy(S3Req *q, Error *err)
{
    CLEANUP(file_closep) int fd = -1;
    CLEANUP(store_put_abandonp) StoreWriter *w = NULL;
    Source src = {0};
    ObjectInfo from = {0};
    UploadInfo u = {0};
    PartInfo part = {0};
    Props sums = {0};
    int64_t number = 0, at = 0, n = 0;

    TRY(s3_int_arg(q, "partNumber", 0, &number, err));
    if (number < 1 || number > PART_NUMBER_MAX)
        return s3_fail(err, "InvalidArgument", "Part number must be an integer between 1 and %d, inclusive", PART_NUMBER_MAX);
    TRY(store_upload_get(q->st, q->a, q->bucket, q->key, http_arg(q->r, "uploadId", (Str){0}), &u, err));
    TRY(parse_source(q, &src, err));
    TRY(open_source(q, &src, &fd, &from, err));
    TRY(source_range(q, from.size, &at, &n, err));
    TRY(store_part_open(q->st, u.id, (int)number, &w, err));
    const Algo *algo = algo_by_name(props_get(&u.headers, S(H_ALGO), (Str){0}));
    if (algo)
        store_put_want(w, algo->kind);
    TRY(copy_bytes(q, fd, at, n, w, err));
    if (algo)
        props_set(q->a, &sums, str_c(algo->header), base64_encode(q->a, store_put_hash(w, q->a, algo->kind)));
    TRY(s3_allow_again(q, err));
    StoreWriter *mine = w;
    w = NULL;
    TRY(store_part_commit(mine, &sums, q->a, &part, err));
    result_xml(q, "CopyPartResult", part.modified_ms, part.etag, &part.checksums);
    return OK;
}

/* [/]bucket/key[?versionId=null], URL-encoded. */
static Status parse_source(S3Req *q, Source *ret, Error *err)
{
    Str text = http_header(q->r, "x-amz-copy-source");
    ptrdiff_t at = str_find(text, S("?versionId="));
    if (at >= 0) {
        ret->version = str_from(text, (size_t)at + 11);
        text = str_sub(text, 0, (size_t)at);
    }
    if (url_decode(q->a, text, 0, &text, err) != OK)
        return s3_fail(err, "InvalidArgument", "Invalid copy source encoding");
    if (str_starts(text, S("/")))
        text = str_from(text, 1);
    if (!str_cut(text, '/', &ret->bucket, &ret->key) || !ret->bucket.n || !ret->key.n)
        return s3_fail(err, "InvalidArgument", "Copy Source must mention the source bucket and key: sourcebucket/sourcekey");
    return OK;
}

static Status open_source(S3Req *q, const Source *src, int *fd, ObjectInfo *ret, Error *err)
{
    Conditions c = { http_header(q->r, "x-amz-copy-source-if-match"), http_header(q->r, "x-amz-copy-source-if-none-match"),
                     http_header(q->r, "x-amz-copy-source-if-modified-since"), http_header(q->r, "x-amz-copy-source-if-unmodified-since") };
    int not_modified = 0;
    TRY(s3_allow(q, "s3:GetObject", src->bucket, src->key, err));
    TRY(store_open_version(q->st, q->a, store_s3_uri(q->a, src->bucket, src->key), src->version, fd, ret, err));
    if (ret->marker)
        return s3_fail(err, "InvalidRequest", "The source of a copy request may not specifically refer to a delete marker by version id.");
    TRY(conditions_check(&c, ret, &not_modified, err));
    if (not_modified)
        return s3_fail(err, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold");
    return OK;
}

/* The bytes' own facts (checksums, parts) go along; the rest is copied or replaced as the directive says. */
static Status copied_headers(S3Req *q, const ObjectInfo *from, Props *headers, Error *err)
{
    Str directive = http_header(q->r, "x-amz-metadata-directive");
    bool replace = str_eq(directive, S("REPLACE"));
    if (directive.n && !replace && !str_eq(directive, S("COPY")))
        return s3_fail(err, "InvalidArgument", "Unknown metadata directive.");
    if (replace)
        TRY(s3_headers_of_request(q, headers, err));
    for vec_each(KeyValue, h, &from->headers) {
        bool fact = str_starts(h->key, S("x-amz-checksum-")) || str_eq(h->key, S(H_PARTSUM));
        if (fact || (!replace && h->key.p[0] != '-'))
            props_set(q->a, headers, h->key, h->value);
    }
    return OK;
}

static Status copied_tags(S3Req *q, const ObjectInfo *from, Props *tags, Error *err)
{
    Str directive = http_header(q->r, "x-amz-tagging-directive");
    if (str_eq(directive, S("REPLACE")))
        return s3_tags_of_header(q, tags, err);
    if (directive.n && !str_eq(directive, S("COPY")))
        return s3_fail(err, "InvalidArgument", "Unknown tagging directive.");
    *tags = from->tags;
    return OK;
}

/* bytes=a-b, both given and inside the source. */
static Status source_range(S3Req *q, int64_t size, int64_t *from, int64_t *n, Error *err)
{
    Str text = http_header(q->r, "x-amz-copy-source-range"), first, last;
    int64_t a = 0, b = size - 1;
    if (text.n) {
        if (!str_starts(text, S("bytes=")) || !str_cut(str_from(text, 6), '-', &first, &last) || !str_to_i64(first, &a) ||
            !str_to_i64(last, &b) || a < 0 || b < a)
            return s3_fail(err, "InvalidArgument", "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last "
                                                   "are the zero-based offsets of the first and last bytes to copy");
        if (b >= size)
            return s3_fail(err, "InvalidRange", "Range specified is not valid for source object of size: %lld", (long long)size);
    }
    *from = a;
    *n = b - a + 1;
    return OK;
}

static Status copy_bytes(S3Req *q, int fd, int64_t from, int64_t n, StoreWriter *w, Error *err)
{
    char *buf = arena_alloc(q->a, PUMP_BYTES);
    while (n > 0) {
        ssize_t got = pread(fd, buf, (size_t)min_i64(n, PUMP_BYTES), from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return FAIL_ERRNO(err, "reading the source of a copy");
        TRY(store_put_add(w, str_n(buf, (size_t)got), err));
        from += got;
        n -= got;
    }
    return OK;
}

static void result_xml(S3Req *q, const char *root, int64_t modified_ms, Str etag, const Props *checksums)
{
    XmlWriter w = xw_new(q->a);
    xw_open(&w, root);
    xw_attr(&w, "xmlns", S(S3_NS));
    xw_elem(&w, "LastModified", time_iso8601(q->a, modified_ms));
    xw_elem(&w, "ETag", s3_etag(q->a, etag));
    checksum_xml(&w, checksums, str_eq(str_c(root), S("CopyObjectResult")));
    xw_close(&w);
    s3_xml(q, &w);
}

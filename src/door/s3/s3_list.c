/* SPDX-License-Identifier: Apache-2.0 */
/* s3_list.c - ListObjects, ListObjectsV2 and ListObjectVersions. */
#include "door/s3/s3_int.h"

typedef struct Listing { ListQuery query; ListResult result; int encode, owner; int64_t max; } Listing;

static Status list(S3Req *q, Listing *l, Str after, Error *err);
static Status parse(S3Req *q, Listing *l, Str after, Error *err);
static Str enc(S3Req *q, const Listing *l, Str s);
static void head_xml(S3Req *q, XmlWriter *w, const Listing *l, const char *root, Str prefix);
static void objects_xml(S3Req *q, XmlWriter *w, const Listing *l);
static void object_xml(S3Req *q, XmlWriter *w, const Listing *l, const ObjectInfo *o);
static void version_xml(S3Req *q, XmlWriter *w, const Listing *l, const VersionInfo *v);
static void prefixes_xml(S3Req *q, XmlWriter *w, const Listing *l);

Status op_list_v1(S3Req *q, Error *err)
{
    Listing l = { .owner = 1 };
    Str marker = http_arg(q->r, "marker", (Str){0});
    TRY(list(q, &l, marker, err));
    XmlWriter w = xw_new(q->a);
    head_xml(q, &w, &l, "ListBucketResult", l.query.prefix);     /* version 1 never encodes it: botocore would not decode it */
    xw_elem(&w, "Marker", enc(q, &l, marker));
    if (l.result.truncated && l.query.delimiter.n)
        xw_elem(&w, "NextMarker", enc(q, &l, l.result.next_after));
    objects_xml(q, &w, &l);
    prefixes_xml(q, &w, &l);
    xw_close(&w);
    s3_xml(q, &w);
    return OK;
}

Status op_list_v2(S3Req *q, Error *err)
{
    Listing l = { .owner = str_eq(http_arg(q->r, "fetch-owner", (Str){0}), S("true")) };
    Str token = http_arg(q->r, "continuation-token", (Str){0}), start = http_arg(q->r, "start-after", (Str){0}), after = start;
    if (!str_eq(http_arg(q->r, "list-type", (Str){0}), S("2")))
        return s3_fail(err, "InvalidArgument", "list-type must be 2");
    if (token.n && (base64_decode(q->a, token, &after, err) != OK || !after.n))
        return s3_fail(err, "InvalidArgument", "The continuation token provided is incorrect");
    TRY(list(q, &l, after, err));
    XmlWriter w = xw_new(q->a);
    head_xml(q, &w, &l, "ListBucketResult", enc(q, &l, l.query.prefix));
    xw_int(&w, "KeyCount", (int64_t)(l.result.objects.n + l.result.prefixes.n));
    if (http_has_arg(q->r, "continuation-token"))
        xw_elem(&w, "ContinuationToken", token);
    if (start.n)
        xw_elem(&w, "StartAfter", enc(q, &l, start));
    if (l.result.truncated)
        xw_elem(&w, "NextContinuationToken", base64_encode(q->a, l.result.next_after));
    objects_xml(q, &w, &l);
    prefixes_xml(q, &w, &l);
    xw_close(&w);
    s3_xml(q, &w);
    return OK;
}

Status op_list_versions(S3Req *q, Error *err)
{
    Listing l = { .owner = 1 };
    VersionResult r = {0};
    Str marker = http_arg(q->r, "key-marker", (Str){0}), version = http_arg(q->r, "version-id-marker", (Str){0});
    TRY(parse(q, &l, marker, err));
    TRY(store_list_versions(q->st, q->a, &l.query, version, &r, err));
    l.result.truncated = r.truncated;
    l.result.prefixes = r.prefixes;
    XmlWriter w = xw_new(q->a);
    head_xml(q, &w, &l, "ListVersionsResult", enc(q, &l, l.query.prefix));
    xw_elem(&w, "KeyMarker", enc(q, &l, marker));
    xw_elem(&w, "VersionIdMarker", version);
    if (r.truncated) {
        xw_elem(&w, "NextKeyMarker", enc(q, &l, r.next_after));
        xw_elem(&w, "NextVersionIdMarker", r.next_version);
    }
    for vec_each(VersionInfo, v, &r.versions)
        version_xml(q, &w, &l, v);
    prefixes_xml(q, &w, &l);
    xw_close(&w);
    s3_xml(q, &w);
    return OK;
}

static Status list(S3Req *q, Listing *l, Str after, Error *err)
{
    TRY(parse(q, l, after, err));
    return store_list(q->st, q->a, &l->query, &l->result, err);
}

static Status parse(S3Req *q, Listing *l, Str after, Error *err)
{
    Str encoding = http_arg(q->r, "encoding-type", (Str){0});
    TRY(s3_int_arg(q, "max-keys", MAX_KEYS, &l->max, err));
    if (encoding.n && !str_eq(encoding, S("url")))
        return s3_fail(err, "InvalidArgument", "Invalid Encoding Method specified in Request");
    l->encode = encoding.n > 0;
    l->max = min_i64(l->max, MAX_KEYS);
    l->query = (ListQuery){ .bucket = q->bucket, .prefix = http_arg(q->r, "prefix", (Str){0}), .delimiter = http_arg(q->r, "delimiter", (Str){0}),
                            .after = after, .max = (int)l->max };
    return OK;
}

static Str enc(S3Req *q, const Listing *l, Str s)
{
    return l->encode ? url_encode(q->a, s, 1) : s;
}

static void head_xml(S3Req *q, XmlWriter *w, const Listing *l, const char *root, Str prefix)
{
    xw_open(w, root);
    xw_attr(w, "xmlns", S(S3_NS));
    xw_elem(w, "Name", q->bucket);
    xw_elem(w, "Prefix", prefix);
    xw_int(w, "MaxKeys", l->max);
    if (l->query.delimiter.n)
        xw_elem(w, "Delimiter", enc(q, l, l->query.delimiter));
    if (l->encode)
        xw_elem(w, "EncodingType", S("url"));
    xw_bool(w, "IsTruncated", l->result.truncated);
}

static void objects_xml(S3Req *q, XmlWriter *w, const Listing *l)
{
    for vec_each(ObjectInfo, o, &l->result.objects) {
        xw_open(w, "Contents");
        xw_elem(w, "Key", enc(q, l, o->key));
        object_xml(q, w, l, o);
        xw_close(w);
    }
}

static void version_xml(S3Req *q, XmlWriter *w, const Listing *l, const VersionInfo *v)
{
    xw_open(w, v->o.marker ? "DeleteMarker" : "Version");
    xw_elem(w, "Key", enc(q, l, v->o.key));
    xw_elem(w, "VersionId", v->o.version.n ? v->o.version : S("null"));
    xw_bool(w, "IsLatest", v->latest);
    if (v->o.marker) {
        xw_elem(w, "LastModified", time_iso8601(q->a, v->o.modified_ms));
        s3_owner(q, w, "Owner");
    } else {
        object_xml(q, w, l, &v->o);
    }
    xw_close(w);
}

static void object_xml(S3Req *q, XmlWriter *w, const Listing *l, const ObjectInfo *o)
{
    const Algo *algo = algo_of_headers(&o->headers);
    xw_elem(w, "LastModified", time_iso8601(q->a, o->modified_ms));
    xw_elem(w, "ETag", s3_etag(q->a, o->etag));
    if (algo) {
        xw_elem(w, "ChecksumAlgorithm", str_c(algo->name));
        xw_elem(w, "ChecksumType", props_get(&o->headers, S("x-amz-checksum-type"), S("FULL_OBJECT")));
    }
    xw_int(w, "Size", o->size);
    if (l->owner)
        s3_owner(q, w, "Owner");
    xw_elem(w, "StorageClass", S("STANDARD"));
}

static void prefixes_xml(S3Req *q, XmlWriter *w, const Listing *l)
{
    for vec_each(Str, p, &l->result.prefixes) {
        xw_open(w, "CommonPrefixes");
        xw_elem(w, "Prefix", enc(q, l, *p));
        xw_close(w);
    }
}

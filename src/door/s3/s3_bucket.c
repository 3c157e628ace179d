/* SPDX-License-Identifier: Apache-2.0 */
/* s3_bucket.c - buckets: list, create, look at, delete. */
#include <stdlib.h>

#include "door/s3/s3_int.h"
#include "service/tablebuckets.h"

enum { BUCKET_NAME_MIN = 3, BUCKET_NAME_MAX = 63, BUCKETS_MAX = 10000 };

static Status check_name(Str name, Error *err);
static bool looks_like_ip(Str name);
static Status location_of_body(S3Req *q, Str *ret, Error *err);

Status op_list_buckets(S3Req *q, Error *err)
{
    BucketInfos all = {0};
    int64_t max, n = 0;
    Str prefix = http_arg(q->r, "prefix", (Str){0}), token = http_arg(q->r, "continuation-token", (Str){0}), after = {0}, last = {0};
    TRY(s3_int_arg(q, "max-buckets", BUCKETS_MAX, &max, err));
    if (token.n && base64_decode(q->a, token, &after, err) != OK)
        return s3_fail(err, "InvalidArgument", "The continuation token provided is incorrect");
    TRY(store_bucket_list(q->st, q->a, &all, err));
    XmlWriter w = xw_new(q->a);
    xw_open(&w, "ListAllMyBucketsResult");
    xw_attr(&w, "xmlns", S(S3_NS));
    s3_owner(q, &w, "Owner");
    xw_open(&w, "Buckets");
    bool more = false;
    for vec_each(BucketInfo, b, &all) {
        if (svc_is_table_storage(b->name) || !str_starts(b->name, prefix) || str_cmp(b->name, after) <= 0)
            continue;
        more = n == max;
        if (more)
            break;
        n++;
        last = b->name;
        xw_open(&w, "Bucket");
        xw_elem(&w, "Name", b->name);
        xw_elem(&w, "CreationDate", time_iso8601(q->a, b->created_ms));
        xw_elem(&w, "BucketRegion", b->region.n ? b->region : q->d->o.region);
        xw_close(&w);
    }
    xw_close(&w);
    if (prefix.n)
        xw_elem(&w, "Prefix", prefix);
    if (more && n)
        xw_elem(&w, "ContinuationToken", base64_encode(q->a, last));
    xw_close(&w);
    s3_xml(q, &w);
    return OK;
}

Status op_bucket_create(S3Req *q, Error *err)
{
    BucketInfo b = { .name = q->bucket, .owner = q->d->o.owner_id, .created_ms = clock_ms() }, old = {0};
    TRY(check_name(q->bucket, err));
    TRY(s3_acl_check(q, err));
    TRY(location_of_body(q, &b.region, err));
    if (http_has_header(q->r, "x-amz-bucket-object-lock-enabled") && str_ieq(http_header(q->r, "x-amz-bucket-object-lock-enabled"), S("true")))
        return s3_fail(err, "NotImplemented", "Object lock is not implemented");
    Status st = store_bucket_create(q->st, &b, err);
    if (st == E_EXISTS) {
        TRY(store_bucket_get(q->st, q->a, q->bucket, &old, err));
        if (old.region.n && !str_eq(old.region, S("us-east-1")))     /* us-east-1 answers 200 to its owner, others do not */
            return s3_fail(err, "BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded and you already own it.");
    } else {
        TRY(st);
    }
    s3_header(q, "Location", str_cat(q->a, S("/"), q->bucket));
    return OK;
}

Status op_bucket_head(S3Req *q, Error *err)
{
    BucketInfo b = {0};
    TRY(store_bucket_get(q->st, q->a, q->bucket, &b, err));
    s3_header(q, "x-amz-bucket-region", b.region.n ? b.region : q->d->o.region);
    s3_header(q, "Content-Type", S("application/xml"));
    return OK;
}

Status op_bucket_delete(S3Req *q, Error *err)
{
    TRY(store_bucket_delete(q->st, q->bucket, err));
    q->ans->status = 204;
    return OK;
}

Status op_bucket_location(S3Req *q, Error *err)
{
    BucketInfo b = {0};
    TRY(store_bucket_get(q->st, q->a, q->bucket, &b, err));
    XmlWriter w = xw_new(q->a);
    xw_open(&w, "LocationConstraint");
    xw_attr(&w, "xmlns", S(S3_NS));
    xw_text(&w, b.region);
    xw_close(&w);
    s3_xml(q, &w);
    return OK;
}

/* The rules for general purpose buckets. */
static Status check_name(Str name, Error *err)
{
    bool ok = name.n >= BUCKET_NAME_MIN && name.n <= BUCKET_NAME_MAX && str_find(name, S("..")) < 0 && !looks_like_ip(name);
    for (size_t i = 0; ok && i < name.n; i++) {
        char c = name.p[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'), edge = i == 0 || i + 1 == name.n;
        ok = alnum || (!edge && (c == '-' || c == '.'));
    }
    ok = ok && !str_ends(name, S("-s3alias")) && !str_ends(name, S("--ol-s3")) && !str_ends(name, S("--x-s3")) && !svc_is_table_storage(name);      /* reserved */
    return ok ? OK : s3_fail(err, "InvalidBucketName", "The specified bucket is not valid: '" STR_FMT "'", STR_ARG(name));
}

static bool looks_like_ip(Str name)
{
    int dots = 0;
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] != '.' && (name.p[i] < '0' || name.p[i] > '9'))
            return false;
        dots += name.p[i] == '.';
    }
    return dots == 3;
}

static Status location_of_body(S3Req *q, Str *ret, Error *err)
{
    Xml *x = NULL;
    Str text;
    TRY(s3_body_text(q, XML_BODY_MAX, &text, err));
    if (!str_trim(text).n)
        return OK;
    if (xml_parse(q->a, text, &x, err) != OK || !str_eq(x->name, S("CreateBucketConfiguration")))
        return s3_fail(err, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema");
    *ret = xml_child_text(x, "LocationConstraint", (Str){0});
    return OK;
}

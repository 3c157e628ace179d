/* SPDX-License-Identifier: Apache-2.0 */
/* s3_tags.c - tags of objects, and the access control lists of a bucket whose ACLs are off (the owner has everything). */
#include "door/s3/s3_int.h"

static Status check_tag(Str key, Str value, Error *err);
static Status must_exist(S3Req *q, ObjectInfo *ret, Error *err);
static Status must_be_current(S3Req *q, Error *err);

Status op_tags_get(S3Req *q, Error *err)
{
    ObjectInfo o = {0};
    TRY(must_exist(q, &o, err));
    tags_xml(q, &o.tags);
    return OK;
}

Status op_tags_put(S3Req *q, Error *err)
{
    Xml *x = NULL;
    Props tags = {0};
    TRY(s3_body_xml(q, &x, err));
    TRY(tags_of_xml(q, x, TAGS_MAX, &tags, err));
    TRY(must_be_current(q, err));
    TRY(s3_allow_again(q, err));
    return store_set_tags(q->st, s3_uri(q), &tags, err);
}

Status op_tags_delete(S3Req *q, Error *err)
{
    TRY(must_be_current(q, err));
    q->ans->status = 204;
    return store_set_tags(q->st, s3_uri(q), &(Props){0}, err);
}

Status op_acl_get(S3Req *q, Error *err)
{
    ObjectInfo o = {0};
    TRY(must_exist(q, &o, err));
    XmlWriter w = xw_new(q->a);
    xw_open(&w, "AccessControlPolicy");
    xw_attr(&w, "xmlns", S(S3_NS));
    s3_owner(q, &w, "Owner");
    xw_open(&w, "AccessControlList");
    xw_open(&w, "Grant");
    xw_open(&w, "Grantee");
    xw_attr(&w, "xmlns:xsi", S("http://www.w3.org/2001/XMLSchema-instance"));
    xw_attr(&w, "xsi:type", S("CanonicalUser"));
    xw_elem(&w, "ID", q->d->o.owner_id);
    xw_elem(&w, "DisplayName", q->d->o.owner_name);
    xw_close(&w);
    xw_elem(&w, "Permission", S("FULL_CONTROL"));
    xw_close(&w);
    xw_close(&w);
    xw_close(&w);
    s3_xml(q, &w);
    return OK;
}

Status op_acl_put(S3Req *q, Error *err)
{
    ObjectInfo o = {0};
    TRY(must_exist(q, &o, err));
    TRY(s3_acl_check(q, err));
    Str acl = http_header(q->r, "x-amz-acl");
    if (!str_eq(acl, S("private")) && !str_starts(acl, S("bucket-owner-")))
        return s3_fail(err, "AccessControlListNotSupported", "The bucket does not allow ACLs");
    return OK;
}

/* On a write a canned ACL is taken and has no effect: rights come from policies alone, and what tools send by habit must
 * not make their writes fail.  Nothing becomes more readable by it, and GET ?acl says so. */
Status s3_acl_check(S3Req *q, Error *err)
{
    static const char *const canned[] = { "private", "public-read", "public-read-write", "authenticated-read", "aws-exec-read",
                                          "bucket-owner-read", "bucket-owner-full-control", "log-delivery-write" };
    Str acl = http_header(q->r, "x-amz-acl");
    bool known = !acl.n;
    for (size_t i = 0; i < COUNT_OF(canned); i++)
        known = known || str_eq(acl, str_c(canned[i]));
    return known ? OK : s3_fail(err, "InvalidArgument", "'" STR_FMT "' is not a canned ACL", STR_ARG(acl));
}

Status tags_of_xml(S3Req *q, const Xml *x, size_t max, Props *ret, Error *err)
{
    const Xml *set = xml_child(x, "TagSet");
    if (!str_eq(x->name, S("Tagging")) || !set)
        return s3_fail(err, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema");
    if (set->children.n > max)
        return s3_fail(err, max > TAGS_MAX ? "BadRequest" : "InvalidTag", "Object tags cannot be greater than %zu", max);
    for (size_t i = 0; i < set->children.n; i++) {
        Str key = xml_child_text(set->children.p[i], "Key", (Str){0}), value = xml_child_text(set->children.p[i], "Value", (Str){0});
        TRY(check_tag(key, value, err));
        if (props_has(ret, key))
            return s3_fail(err, "InvalidTag", "Cannot provide multiple Tags with the same key");
        props_set(q->a, ret, key, value);
    }
    return OK;
}

Status s3_tags_of_header(S3Req *q, Props *ret, Error *err)
{
    Str text = http_header(q->r, "x-amz-tagging");
    if (!text.n)
        return OK;
    if (url_query_parse(q->a, text, ret, err) != OK)
        return s3_fail(err, "InvalidArgument", "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.");
    if (ret->n > TAGS_MAX)
        return s3_fail(err, "InvalidTag", "Object tags cannot be greater than %d", TAGS_MAX);
    for vec_each(KeyValue, kv, ret)
        TRY(check_tag(kv->key, kv->value, err));
    return OK;
}

void tags_xml(S3Req *q, const Props *tags)
{
    XmlWriter w = xw_new(q->a);
    xw_open(&w, "Tagging");
    xw_attr(&w, "xmlns", S(S3_NS));
    xw_open(&w, "TagSet");
    for vec_each(KeyValue, kv, tags) {
        xw_open(&w, "Tag");
        xw_elem(&w, "Key", kv->key);
        xw_elem(&w, "Value", kv->value);
        xw_close(&w);
    }
    xw_close(&w);
    xw_close(&w);
    s3_xml(q, &w);
}

static Status check_tag(Str key, Str value, Error *err)
{
    if (!key.n || key.n > TAG_KEY_MAX)
        return s3_fail(err, "InvalidTag", "The TagKey you have provided is invalid");
    if (value.n > TAG_VALUE_MAX)
        return s3_fail(err, "InvalidTag", "The TagValue you have provided is invalid");
    return OK;
}

static Status must_exist(S3Req *q, ObjectInfo *ret, Error *err)
{
    BucketInfo b = {0};
    if (q->key.n)
        return s3_find(q, NULL, ret, err);
    return store_bucket_get(q->st, q->a, q->bucket, &b, err);
}

static Status must_be_current(S3Req *q, Error *err)
{
    Str version = http_arg(q->r, "versionId", (Str){0});
    ObjectInfo o = {0};
    if (!version.n)
        return OK;
    TRY(store_stat(q->st, q->a, s3_uri(q), &o, err));
    if (!str_eq(version, o.version.n ? o.version : S("null")))
        return s3_fail(err, "NotImplemented", "Only the current version's tags can be changed");
    return OK;
}

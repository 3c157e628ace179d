/* SPDX-License-Identifier: Apache-2.0 */
/* s3_delete.c - DeleteObject and DeleteObjects. */
#include "door/s3/s3_int.h"

static Status delete_one(S3Req *q, Str key, Str version, Str etag, Removed *ret, Error *err);
static void one_xml(S3Req *q, XmlWriter *w, const Xml *object, int quiet);
static void error_xml(XmlWriter *w, Str key, const Error *err);

Status op_delete(S3Req *q, Error *err)
{
    Removed gone = {0};
    TRY(delete_one(q, q->key, http_arg(q->r, "versionId", (Str){0}), s3_unquote(http_header(q->r, "if-match")), &gone, err));
    q->ans->status = 204;
    s3_version_header(q, gone.version);
    if (gone.marker)
        s3_header(q, "x-amz-delete-marker", S("true"));
    return OK;
}

Status op_delete_many(S3Req *q, Error *err)
{
    Xml *x = NULL;
    BucketInfo b = {0};
    size_t n = 0;
    TRY(s3_body_xml(q, &x, err));
    if (!str_eq(x->name, S("Delete")))
        return s3_fail(err, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema");
    for (size_t i = 0; i < x->children.n; i++)
        n += str_eq(x->children.p[i]->name, S("Object"));
    if (!n || n > DELETE_MAX)
        return s3_fail(err, "MalformedXML", "A request to delete objects names 1 to %d of them, not %zu", DELETE_MAX, n);
    TRY(store_bucket_get(q->st, q->a, q->bucket, &b, err));
    int quiet = str_eq(xml_child_text(x, "Quiet", (Str){0}), S("true"));
    XmlWriter w = xw_new(q->a);
    xw_open(&w, "DeleteResult");
    xw_attr(&w, "xmlns", S(S3_NS));
    for (size_t i = 0; i < x->children.n; i++)
        if (str_eq(x->children.p[i]->name, S("Object")))
            one_xml(q, &w, x->children.p[i], quiet);
    xw_close(&w);
    s3_xml(q, &w);
    return OK;
}

/* An absent object is deleted already, whatever ETag was expected. */
static Status delete_one(S3Req *q, Str key, Str version, Str etag, Removed *ret, Error *err)
{
    PutCondition cond = { .if_match = etag };
    Status st = store_remove(q->st, q->a, store_s3_uri(q->a, q->bucket, key), version, etag.n ? &cond : NULL, ret, err);
    return st == E_NOT_FOUND && str_eq(str_c(err->kind), S("NoSuchKey")) ? OK : st;
}

static void one_xml(S3Req *q, XmlWriter *w, const Xml *object, int quiet)
{
    Error err = {0};
    Removed gone = {0};
    Str key = xml_child_text(object, "Key", (Str){0}), version = xml_child_text(object, "VersionId", (Str){0});
    Status st = key.n ? s3_allow(q, "s3:DeleteObject", q->bucket, key, &err) : s3_fail(&err, "InvalidArgument", "an object without Key");
    if (st == OK)
        st = delete_one(q, key, version, s3_unquote(xml_child_text(object, "ETag", (Str){0})), &gone, &err);
    if (st != OK) {
        error_xml(w, key, &err);
        return;
    }
    if (quiet)
        return;
    xw_open(w, "Deleted");
    xw_elem(w, "Key", key);
    if (version.n)
        xw_elem(w, "VersionId", version);
    if (gone.marker) {
        xw_bool(w, "DeleteMarker", 1);
        xw_elem(w, "DeleteMarkerVersionId", gone.version);
    }
    xw_close(w);
}

static void error_xml(XmlWriter *w, Str key, const Error *err)
{
    xw_open(w, "Error");
    xw_elem(w, "Key", key);
    xw_elem(w, "Code", str_c(s3_code(err)));
    xw_elem(w, "Message", str_c(err->message));
    xw_close(w);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* s3_uploads.c - ListParts and ListMultipartUploads. */
#include "door/s3/s3_int.h"

typedef struct Page { Str key_marker, id_marker, prefix, delimiter, last_key, last_id; int64_t max, n; int encode, truncated; StrVec prefixes; } Page;

static void part_xml(S3Req *q, XmlWriter *w, const PartInfo *p);
static bool after_marker(const Page *page, const UploadInfo *u);
static Str common_prefix(const Page *page, Str key);
static void upload_xml(S3Req *q, XmlWriter *w, const Page *page, const UploadInfo *u);
static Str enc(S3Req *q, const Page *page, Str s);
static void take(S3Req *q, Page *page, const UploadInfo *u, UploadInfos *taken);

Status op_list_parts(S3Req *q, Error *err)
{
    UploadInfo u = {0};
    PartInfos all = {0}, page = {0};
    int64_t max, marker;
    TRY(s3_int_arg(q, "max-parts", MAX_KEYS, &max, err));
    TRY(s3_int_arg(q, "part-number-marker", 0, &marker, err));
    max = min_i64(max, MAX_KEYS);
    TRY(store_upload_get(q->st, q->a, q->bucket, q->key, http_arg(q->r, "uploadId", (Str){0}), &u, err));
    TRY(store_part_list(q->st, q->a, u.id, &all, err));
    int truncated = 0;
    for vec_each(PartInfo, p, &all) {
        if (p->number <= marker)
            continue;
        truncated = (int64_t)page.n == max;
        if (truncated)
            break;
        vec_push(q->a, &page, *p);
    }
    XmlWriter w = xw_new(q->a);
    xw_open(&w, "ListPartsResult");
    xw_attr(&w, "xmlns", S(S3_NS));
    xw_elem(&w, "Bucket", q->bucket);
    xw_elem(&w, "Key", q->key);
    xw_elem(&w, "UploadId", u.id);
    xw_int(&w, "PartNumberMarker", marker);
    if (page.n)
        xw_int(&w, "NextPartNumberMarker", vec_last(&page).number);
    xw_int(&w, "MaxParts", max);
    xw_bool(&w, "IsTruncated", truncated);
    if (props_has(&u.headers, S(H_ALGO))) {
        xw_elem(&w, "ChecksumAlgorithm", props_get(&u.headers, S(H_ALGO), (Str){0}));
        xw_elem(&w, "ChecksumType", props_get(&u.headers, S(H_TYPE), (Str){0}));
    }
    for vec_each(PartInfo, p, &page)
        part_xml(q, &w, p);
    s3_owner(q, &w, "Initiator");
    s3_owner(q, &w, "Owner");
    xw_elem(&w, "StorageClass", S("STANDARD"));
    xw_close(&w);
    s3_xml(q, &w);
    return OK;
}

Status op_list_uploads(S3Req *q, Error *err)
{
    UploadInfos all = {0}, taken = {0};
    Page page = { .key_marker = http_arg(q->r, "key-marker", (Str){0}), .id_marker = http_arg(q->r, "upload-id-marker", (Str){0}),
                  .prefix = http_arg(q->r, "prefix", (Str){0}), .delimiter = http_arg(q->r, "delimiter", (Str){0}),
                  .encode = str_eq(http_arg(q->r, "encoding-type", (Str){0}), S("url")) };
    TRY(s3_int_arg(q, "max-uploads", MAX_KEYS, &page.max, err));
    page.max = min_i64(page.max, MAX_KEYS);
    TRY(store_upload_list(q->st, q->a, q->bucket, page.prefix, &all, err));
    for vec_each(UploadInfo, u, &all)
        if (!page.truncated && after_marker(&page, u))
            take(q, &page, u, &taken);
    XmlWriter w = xw_new(q->a);
    xw_open(&w, "ListMultipartUploadsResult");
    xw_attr(&w, "xmlns", S(S3_NS));
    xw_elem(&w, "Bucket", q->bucket);
    xw_elem(&w, "KeyMarker", enc(q, &page, page.key_marker));
    xw_elem(&w, "UploadIdMarker", page.id_marker);
    if (page.truncated) {
        xw_elem(&w, "NextKeyMarker", enc(q, &page, page.last_key));
        xw_elem(&w, "NextUploadIdMarker", page.last_id);
    }
    xw_elem(&w, "Prefix", enc(q, &page, page.prefix));
    if (page.delimiter.n)
        xw_elem(&w, "Delimiter", enc(q, &page, page.delimiter));
    if (page.encode)
        xw_elem(&w, "EncodingType", S("url"));
    xw_int(&w, "MaxUploads", page.max);
    xw_bool(&w, "IsTruncated", page.truncated);
    for vec_each(UploadInfo, u, &taken)
        upload_xml(q, &w, &page, u);
    for vec_each(Str, p, &page.prefixes) {
        xw_open(&w, "CommonPrefixes");
        xw_elem(&w, "Prefix", enc(q, &page, *p));
        xw_close(&w);
    }
    xw_close(&w);
    s3_xml(q, &w);
    return OK;
}

static void take(S3Req *q, Page *page, const UploadInfo *u, UploadInfos *taken)
{
    Str cp = common_prefix(page, u->key);
    if (cp.n && strvec_has(&page->prefixes, cp))
        return;
    if (page->n == page->max) {
        page->truncated = page->max > 0;
        return;
    }
    page->n++;
    page->last_key = cp.n ? cp : u->key;
    page->last_id = u->id;
    if (cp.n)
        vec_push(q->a, &page->prefixes, cp);
    else
        vec_push(q->a, taken, *u);
}

static bool after_marker(const Page *page, const UploadInfo *u)
{
    if (!page->key_marker.n)
        return true;
    int c = str_cmp(u->key, page->key_marker);
    bool below = common_prefix(page, u->key).n && str_eq(common_prefix(page, u->key), page->key_marker);
    return !below && (c > 0 || (c == 0 && page->id_marker.n && str_cmp(u->id, page->id_marker) > 0));
}

static Str common_prefix(const Page *page, Str key)
{
    if (!page->delimiter.n)
        return (Str){0};
    ptrdiff_t at = str_find(str_from(key, page->prefix.n), page->delimiter);
    return at < 0 ? (Str){0} : str_sub(key, 0, page->prefix.n + (size_t)at + page->delimiter.n);
}

static void part_xml(S3Req *q, XmlWriter *w, const PartInfo *p)
{
    xw_open(w, "Part");
    xw_int(w, "PartNumber", p->number);
    xw_elem(w, "LastModified", time_iso8601(q->a, p->modified_ms));
    xw_elem(w, "ETag", s3_etag(q->a, p->etag));
    xw_int(w, "Size", p->size);
    checksum_xml(w, &p->checksums, 0);
    xw_close(w);
}

static void upload_xml(S3Req *q, XmlWriter *w, const Page *page, const UploadInfo *u)
{
    xw_open(w, "Upload");
    xw_elem(w, "Key", enc(q, page, u->key));
    xw_elem(w, "UploadId", u->id);
    s3_owner(q, w, "Initiator");
    s3_owner(q, w, "Owner");
    xw_elem(w, "StorageClass", S("STANDARD"));
    xw_elem(w, "Initiated", time_iso8601(q->a, u->started_ms));
    xw_close(w);
}

static Str enc(S3Req *q, const Page *page, Str s)
{
    return page->encode ? url_encode(q->a, s, 1) : s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* s3_attributes.c - GetObjectAttributes. */
#include "door/s3/s3_int.h"

static void parts_xml(S3Req *q, XmlWriter *w, const ObjectInfo *o, int64_t max, int64_t marker);

Status op_attributes(S3Req *q, Error *err)
{
    ObjectInfo o = {0};
    StrVec wanted = {0};
    int64_t max = MAX_KEYS, marker = 0;
    Str max_text = http_header(q->r, "x-amz-max-parts"), marker_text = http_header(q->r, "x-amz-part-number-marker");

    TRY(s3_find(q, NULL, &o, err));
    if ((max_text.n && (!str_to_i64(max_text, &max) || max < 0)) || (marker_text.n && (!str_to_i64(marker_text, &marker) || marker < 0)))
        return s3_fail(err, "InvalidArgument", "x-amz-max-parts and x-amz-part-number-marker must be numbers");
    str_split(q->a, http_header(q->r, "x-amz-object-attributes"), ',', &wanted);
    for vec_each(Str, name, &wanted)
        *name = str_trim(*name);
    XmlWriter w = xw_new(q->a);
    xw_open(&w, "GetObjectAttributesResponse");
    xw_attr(&w, "xmlns", S(S3_NS));
    if (strvec_has(&wanted, S("ETag")))
        xw_elem(&w, "ETag", o.etag);
    if (strvec_has(&wanted, S("Checksum")) && algo_of_headers(&o.headers)) {
        xw_open(&w, "Checksum");
        checksum_xml(&w, &o.headers, 1);
        xw_close(&w);
    }
    if (strvec_has(&wanted, S("ObjectParts")) && o.part_sizes.n)
        parts_xml(q, &w, &o, min_i64(max, MAX_KEYS), marker);
    if (strvec_has(&wanted, S("StorageClass")))
        xw_elem(&w, "StorageClass", S("STANDARD"));
    if (strvec_has(&wanted, S("ObjectSize")))
        xw_int(&w, "ObjectSize", o.size);
    xw_close(&w);
    s3_header(q, "Last-Modified", http_date(q->a, o.modified_ms));
    s3_version_header(q, o.version);
    s3_xml(q, &w);
    return OK;
}

static void parts_xml(S3Req *q, XmlWriter *w, const ObjectInfo *o, int64_t max, int64_t marker)
{
    const Algo *algo = algo_of_headers(&o->headers);
    StrVec sums = {0};
    int64_t total = (int64_t)o->part_sizes.n, end = min_i64(total, marker + max);
    str_split(q->a, props_get(&o->headers, S(H_PARTSUM), (Str){0}), ',', &sums);
    xw_open(w, "ObjectParts");
    xw_int(w, "PartsCount", total);
    xw_int(w, "PartNumberMarker", marker);
    xw_int(w, "NextPartNumberMarker", max_i64(end, marker));
    xw_int(w, "MaxParts", max);
    xw_bool(w, "IsTruncated", end < total);
    for (int64_t i = marker; i < end; i++) {
        xw_open(w, "Part");
        xw_int(w, "PartNumber", i + 1);
        xw_elem(w, "Size", o->part_sizes.p[i]);
        if (algo && (size_t)i < sums.n && sums.p[i].n)
            xw_elem(w, algo->element, sums.p[i]);
        xw_close(w);
    }
    xw_close(w);
}

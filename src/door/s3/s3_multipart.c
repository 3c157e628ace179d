/* SPDX-License-Identifier: Apache-2.0 */
/* s3_multipart.c - multipart uploads: start, part, complete, abort.
 *
 * A completion that is sent again after its answer was lost finds no upload; the object remembers which upload made it and
 * is answered alike. */
#include "door/s3/s3_int.h"

typedef struct Completion { UploadInfo u; PartInfos named; Props sums; const Algo *algo; int whole; } Completion;

static Status checksum_plan(S3Req *q, Props *headers, Error *err);
static Status part_number(S3Req *q, int *ret, Error *err);
static Status parse_parts(S3Req *q, PartInfos *ret, Error *err);
static Status combine(S3Req *q, Completion *c, Props *extra, Error *err);
static const PartInfo *find_part(const PartInfos *parts, int number);
static Status check_named(const PartInfo *named, const PartInfo *stored, Error *err);
static Status check_combined(S3Req *q, const Completion *c, Str sum, Error *err);
static Status completed_before(S3Req *q, Str id, ObjectInfo *ret, Error *err);
static void complete_xml(S3Req *q, const ObjectInfo *o);

Status op_upload_start(S3Req *q, Error *err)
{
    UploadInfo u = { .bucket = q->bucket, .key = q->key, .owner = q->d->o.owner_id };
    Str id = {0};
    TRY(s3_acl_check(q, err));
    TRY(s3_headers_of_request(q, &u.headers, err));
    TRY(s3_tags_of_header(q, &u.tags, err));
    TRY(checksum_plan(q, &u.headers, err));
    TRY(store_upload_start(q->st, q->a, &u, &id, err));
    if (props_has(&u.headers, S(H_ALGO))) {
        s3_header(q, "x-amz-checksum-algorithm", props_get(&u.headers, S(H_ALGO), (Str){0}));
        s3_header(q, "x-amz-checksum-type", props_get(&u.headers, S(H_TYPE), (Str){0}));
    }
    XmlWriter w = xw_new(q->a);
    xw_open(&w, "InitiateMultipartUploadResult");
    xw_attr(&w, "xmlns", S(S3_NS));
    xw_elem(&w, "Bucket", q->bucket);
    xw_elem(&w, "Key", q->key);
    xw_elem(&w, "UploadId", id);
    xw_close(&w);
    s3_xml(q, &w);
    return OK;
}

Status op_upload_part(S3Req *q, Error *err)
{
    CLEANUP(store_put_abandonp) StoreWriter *w = NULL;
    UploadInfo u = {0};
    PartInfo part = {0};
    Checks checks = {0};
    Props sums = {0};
    int number = 0;

    TRY(part_number(q, &number, err));
    TRY(store_upload_get(q->st, q->a, q->bucket, q->key, http_arg(q->r, "uploadId", (Str){0}), &u, err));
    TRY(checks_of_request(q, &checks, err));
    TRY(store_part_open(q->st, u.id, number, &w, err));
    const Algo *algo = algo_by_name(props_get(&u.headers, S(H_ALGO), (Str){0}));
    if (algo)
        store_put_want(w, algo->kind);
    TRY(s3_pump(q, w, &checks, &sums, err));
    if (algo)
        props_set(q->a, &sums, str_c(algo->header), base64_encode(q->a, store_put_hash(w, q->a, algo->kind)));
    props_del(&sums, S("x-amz-checksum-type"));
    TRY(s3_allow_again(q, err));
    StoreWriter *mine = w;
    w = NULL;
    TRY(store_part_commit(mine, &sums, q->a, &part, err));
    s3_header(q, "ETag", s3_etag(q->a, part.etag));
    for vec_each(KeyValue, sum, &part.checksums)
        s3_header(q, str_z(q->a, sum->key), sum->value);
    return OK;
}

Status op_upload_complete(S3Req *q, Error *err)
{
    Completion c = {0};
    ObjectInfo o = {0};
    Props extra = {0};
    PutCondition cond = {0};
    Str id = http_arg(q->r, "uploadId", (Str){0});

    TRY(parse_parts(q, &c.named, err));
    TRY(s3_put_condition(q, &cond, err));
    Status st = store_upload_get(q->st, q->a, q->bucket, q->key, id, &c.u, err);
    if (st == OK) {
        TRY(combine(q, &c, &extra, err));
        props_set(q->a, &extra, S(H_UPLOAD), id);
        TRY(s3_allow_again(q, err));
        st = store_upload_complete(q->st, id, &c.named, &cond, &extra, q->a, &o, err);
    }
    if (st == E_NOT_FOUND && str_eq(str_c(err->kind), S("NoSuchUpload")))
        st = completed_before(q, id, &o, err);
    TRY(st);
    s3_version_header(q, o.version);
    complete_xml(q, &o);
    return OK;
}

Status op_upload_abort(S3Req *q, Error *err)
{
    UploadInfo u = {0};
    TRY(store_upload_get(q->st, q->a, q->bucket, q->key, http_arg(q->r, "uploadId", (Str){0}), &u, err));
    q->ans->status = 204;
    return store_upload_abort(q->st, u.id, err);
}

/* x-amz-checksum-algorithm and -type: remembered with the upload under names that are never sent. */
static Status checksum_plan(S3Req *q, Props *headers, Error *err)
{
    Str name = http_header(q->r, "x-amz-checksum-algorithm"), type = http_header(q->r, "x-amz-checksum-type");
    const Algo *algo = algo_by_name(name);
    if (!name.n)
        return type.n ? s3_fail(err, "InvalidRequest", "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.") : OK;
    if (!algo)
        return s3_fail(err, "InvalidRequest", "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]");
    if (!type.n)
        type = algo->whole ? S("FULL_OBJECT") : S("COMPOSITE");
    bool whole = str_eq(type, S("FULL_OBJECT"));
    if ((whole && !algo->bits) || (!whole && algo->whole) || (!whole && !str_eq(type, S("COMPOSITE"))))
        return s3_fail(err, "InvalidRequest", "The " STR_FMT " checksum type cannot be used with the %s checksum algorithm.", STR_ARG(type), algo->name);
    props_set(q->a, headers, S(H_ALGO), str_c(algo->name));
    props_set(q->a, headers, S(H_TYPE), type);
    return OK;
}

static Status part_number(S3Req *q, int *ret, Error *err)
{
    int64_t number = 0;
    TRY(s3_int_arg(q, "partNumber", 0, &number, err));
    if (number < 1 || number > PART_NUMBER_MAX)
        return s3_fail(err, "InvalidArgument", "Part number must be an integer between 1 and %d, inclusive", PART_NUMBER_MAX);
    *ret = (int)number;
    return OK;
}

static Status parse_parts(S3Req *q, PartInfos *ret, Error *err)
{
    Xml *x = NULL;
    Str text;
    TRY(s3_body_text_unchecked(q, XML_BODY_MAX, &text, err));           /* here a checksum header is the object's */
    if (xml_parse(q->a, text, &x, err) != OK)
        return s3_fail(err, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema");
    for (size_t i = 0; i < x->children.n && ret->n <= PART_NUMBER_MAX; i++) {
        const Xml *p = x->children.p[i];
        PartInfo part = { .etag = s3_unquote(xml_child_text(p, "ETag", (Str){0})) };
        int64_t number;
        if (!str_eq(p->name, S("Part")) || !str_to_i64(xml_child_text(p, "PartNumber", (Str){0}), &number) || number < 1 || number > PART_NUMBER_MAX)
            return s3_fail(err, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema");
        part.number = (int)number;
        for (size_t k = 0; k < ALGO_COUNT; k++)
            if (xml_child(p, ALGOS[k].element))
                props_set(q->a, &part.checksums, str_c(ALGOS[k].header), xml_child_text(p, ALGOS[k].element, (Str){0}));
        if (ret->n && vec_last(ret).number == part.number)
            vec_last(ret) = part;                            /* a part that was sent again: the newer one counts */
        else
            vec_push(q->a, ret, part);
    }
    if (!ret->n || !str_eq(x->name, S("CompleteMultipartUpload")))
        return s3_fail(err, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema");
    return OK;
}

/* Compares what the client says of the parts with what was stored, and makes the object's checksum of theirs. */
static Status combine(S3Req *q, Completion *c, Props *extra, Error *err)
{
    PartInfos stored = {0};
    StrVec sums = {0}, sizes = {0};
    int64_t total = 0, told;
    TRY(store_part_list(q->st, q->a, c->u.id, &stored, err));
    c->algo = algo_by_name(props_get(&c->u.headers, S(H_ALGO), (Str){0}));
    c->whole = str_eq(props_get(&c->u.headers, S(H_TYPE), (Str){0}), S("FULL_OBJECT"));
    for vec_each(PartInfo, named, &c->named) {
        const PartInfo *part = find_part(&stored, named->number);
        if (!part)
            return s3_fail(err, "InvalidPart", "One or more of the specified parts could not be found: part %d was not uploaded", named->number);
        TRY(check_named(named, part, err));
        vec_push(q->a, &sizes, str_fmt(q->a, "%lld", (long long)part->size));
        vec_push(q->a, &sums, c->algo ? props_get(&part->checksums, str_c(c->algo->header), (Str){0}) : (Str){0});
        total += part->size;
    }
    if (str_to_i64(http_header(q->r, "x-amz-mp-object-size"), &told) && told != total)
        return s3_fail(err, "InvalidRequest", "The provided 'x-amz-mp-object-size' header value %lld does not match what was computed: %lld", (long long)told, (long long)total);
    if (!c->algo)
        return OK;
    Str sum = checksum_combined(q->a, c->algo, c->whole, &sums, &sizes);
    TRY(check_combined(q, c, sum, err));
    props_set(q->a, extra, str_c(c->algo->header), sum);
    props_set(q->a, extra, S("x-amz-checksum-type"), c->whole ? S("FULL_OBJECT") : S("COMPOSITE"));
    props_set(q->a, extra, S(H_PARTSUM), str_join(q->a, &sums, S(",")));
    return OK;
}

static const PartInfo *find_part(const PartInfos *parts, int number)
{
    for vec_each(PartInfo, p, parts)
        if (p->number == number)
            return p;
    return NULL;
}

static Status check_named(const PartInfo *named, const PartInfo *stored, Error *err)
{
    for vec_each(KeyValue, sum, &named->checksums)
        if (props_has(&stored->checksums, sum->key) && !str_eq(props_get(&stored->checksums, sum->key, (Str){0}), sum->value))
            return s3_fail(err, "InvalidPart", "One or more of the specified parts could not be found: part %d has another checksum", named->number);
    return OK;
}

/* A composite value may come with or without its "-<parts>". */
static Status check_combined(S3Req *q, const Completion *c, Str sum, Error *err)
{
    Str told = http_header(q->r, c->algo->header), bare = sum;
    ptrdiff_t dash = str_rchr(sum, '-');
    if (!c->whole && dash > 0)
        bare = str_sub(sum, 0, (size_t)dash);
    if (told.n && !str_eq(told, sum) && !str_eq(told, bare))
        return s3_fail(err, "BadDigest", "The %s you specified did not match the calculated checksum.", c->algo->name);
    return OK;
}

static Status completed_before(S3Req *q, Str id, ObjectInfo *ret, Error *err)
{
    Error gone = {0};
    if (store_stat(q->st, q->a, s3_uri(q), ret, &gone) == OK && str_eq(props_get(&ret->headers, S(H_UPLOAD), (Str){0}), id))
        return OK;
    return err->code;
}

static void complete_xml(S3Req *q, const ObjectInfo *o)
{
    XmlWriter w = xw_new(q->a);
    xw_open(&w, "CompleteMultipartUploadResult");
    xw_attr(&w, "xmlns", S(S3_NS));
    xw_elem(&w, "Location", str_fmt(q->a, "http://" STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(http_header(q->r, "host")), STR_ARG(q->bucket),
                                    STR_ARG(url_encode(q->a, q->key, 1))));
    xw_elem(&w, "Bucket", q->bucket);
    xw_elem(&w, "Key", q->key);
    xw_elem(&w, "ETag", s3_etag(q->a, o->etag));
    checksum_xml(&w, &o->headers, 1);
    xw_close(&w);
    s3_xml(q, &w);
}

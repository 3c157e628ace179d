/* SPDX-License-Identifier: Apache-2.0 */
/* store_s3_put.c - writing an object elsewhere: one PUT, or parts when it grows over a part's size.
 *
 * A writer holds the bytes of one part.  What fits there is one PUT at the commit; else an upload begins with the first full part, and the commit completes it.
 * Invariants: (1) nothing is visible before the commit; (2) a commit whose outcome is unknown is looked up: it is done when the object stands there with our bytes;
 * (3) every way out but the commit's success ends the upload. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_s3_int.h"

typedef struct S3Put {
    char *buf;
    size_t n, cap, part_bytes;
    Str upload;                                     /* empty: no parts yet */
    StrVec etags;                                   /* of the parts, as they were given */
    StrBuf md5s;
    const PutCondition *cond;
} S3Put;

static Status upload_begin(StoreWriter *w, Error *err);
static Status part_send(StoreWriter *w, Error *err);
static Status put_one(StoreWriter *w, Arena *a, ObjectInfo *ret, Error *err);
static Status upload_complete(StoreWriter *w, Arena *a, ObjectInfo *ret, Error *err);
static Status look(StoreWriter *w, Arena *a, Str etag, ObjectInfo *ret, Error *err);
static void condition_headers(StoreWriter *w, Arena *a, S3Call *q);
static void free_writer(StoreWriter *w);

Status s3s_put_open(Store *s, Str bucket, Str key, StoreWriter **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Location at;
    TRY(key_check(bucket, key, err));
    TRY(s3s_place(s, a, store_s3_uri(a, bucket, key), &at, err));
    StoreWriter *w = calloc(1, sizeof *w);
    S3Put *p = calloc(1, sizeof *p);
    if (!w || !p)
        abort();
    *w = (StoreWriter){ .s = s, .a = arena_create(), .fd = -1, .s3 = p };
    w->bucket = str_dup(w->a, bucket);
    w->key = str_dup(w->a, key);
    p->part_bytes = S3_PART_BYTES;
    p->md5s = sb_new(w->a);
    hashes_start(&w->hashes);
    *ret = w;
    return OK;
}

Status s3s_put_add(StoreWriter *w, Str bytes, Error *err)
{
    S3Put *p = w->s3;

    hashes_add(&w->hashes, bytes);
    w->size += (int64_t)bytes.n;
    while (bytes.n) {
        if (p->n == p->part_bytes)
            TRY(part_send(w, err));
        size_t n = min_size(bytes.n, p->part_bytes - p->n);
        if (p->n + n > p->cap) {
            p->cap = min_size(p->part_bytes, (p->n + n) * 2);
            p->buf = realloc(p->buf, p->cap);
            if (!p->buf)
                abort();
        }
        memcpy(p->buf + p->n, bytes.p, n);
        p->n += n;
        bytes = str_from(bytes, n);
    }
    return OK;
}

Status s3s_put_commit(StoreWriter *w, const PutCondition *cond, Arena *a, ObjectInfo *ret, Error *err)
{
    S3Put *p = w->s3;
    Status st = OK;

    p->cond = cond;
    *ret = (ObjectInfo){ .bucket = str_dup(a, w->bucket), .key = str_dup(a, w->key), .size = w->size, .modified_ms = clock_ms() };
    ret->sha256 = hex_encode(a, hashes_get(&w->hashes, a, HASH_SHA256));
    if (cond && cond->unless_etag.n)
        st = FAIL(err, E_UNSUPPORTED, "writing to a remote object store unless an ETag is there");
    else if (p->upload.n)
        st = p->n ? part_send(w, err) : OK;
    if (st == OK)
        st = p->upload.n ? upload_complete(w, a, ret, err) : put_one(w, a, ret, err);
    if (st == OK)
        p->upload = (Str){0};
    s3s_put_abandon(w);
    return st;
}

void s3s_put_abandon(StoreWriter *w)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    HttpReply r;
    Error ignored;

    if (w->s3->upload.n) {
        S3Call q = { .method = "DELETE", .bucket = w->bucket, .key = w->key, .query = str_cat(a, S("uploadId="), url_encode(a, w->s3->upload, 0)) };
        if (s3s_call(w->s, a, &q, &r, &ignored) != OK)
            ignored.code = OK;                       /* the bucket's rules for unfinished uploads remain */
    }
    free_writer(w);
}

Status s3s_adopt(Store *s, Str uri, Str local_path, Arena *a, ObjectInfo *ret, Error *err)
{
    CLEANUP(file_closep) int fd = open(str_z(a, local_path), O_RDONLY | O_CLOEXEC);
    CLEANUP(store_put_abandonp) StoreWriter *w = NULL;
    CLEANUP(arena_destroyp) Arena *own = arena_create();
    char *buf = arena_alloc(own, COPY_CHUNK);
    Location at;
    ssize_t n;

    if (fd < 0)
        return FAIL_ERRNO(err, "opening '" STR_FMT "'", STR_ARG(local_path));
    TRY(s3s_place(s, a, uri, &at, err));
    TRY(s3s_put_open(s, at.bucket, at.key, &w, err));
    while ((n = read(fd, buf, COPY_CHUNK)) > 0)
        TRY_CTX(s3s_put_add(w, str_n(buf, (size_t)n), err), err, "storing '" STR_FMT "'", STR_ARG(uri));
    if (n < 0)
        return FAIL_ERRNO(err, "reading '" STR_FMT "'", STR_ARG(local_path));
    StoreWriter *mine = w;
    w = NULL;
    TRY_CTX(s3s_put_commit(mine, NULL, a, ret, err), err, "storing '" STR_FMT "'", STR_ARG(uri));
    unlink(str_z(a, local_path));
    return OK;
}

static void free_writer(StoreWriter *w)
{
    free(w->s3->buf);
    free(w->s3);
    hashes_end(&w->hashes);
    arena_destroy(w->a);
    free(w);
}

/* ---- one PUT ------------------------------------------------------------------------------------------------------ */

static void add_headers(StoreWriter *w, Arena *a, S3Call *q)
{
    for vec_each(KeyValue, h, &w->headers)
        props_set(a, &q->headers, str_lower(a, h->key), h->value);
    if (!props_has(&q->headers, S("content-type")))
        props_set(a, &q->headers, S("content-type"), S("application/octet-stream"));
    if (!w->tags.n)
        return;
    StrBuf b = sb_new(a);
    for vec_each(KeyValue, t, &w->tags) {
        sb_addc(&b, b.n ? "&" : "");
        sb_add(&b, url_encode(a, t->key, 0));
        sb_byte(&b, '=');
        sb_add(&b, url_encode(a, t->value, 0));
    }
    props_set(a, &q->headers, S("x-amz-tagging"), sb_str(&b));
}

static void condition_headers(StoreWriter *w, Arena *a, S3Call *q)
{
    const PutCondition *c = w->s3->cond;

    if (c && c->if_none_match)
        props_set(a, &q->headers, S("if-none-match"), S("*"));
    if (c && c->if_match.n)
        props_set(a, &q->headers, S("if-match"), str_eq(c->if_match, S("*")) ? c->if_match : str_fmt(a, "\"" STR_FMT "\"", STR_ARG(c->if_match)));
    q->once = c && (c->if_none_match || c->if_match.n);
}

static Status put_one(StoreWriter *w, Arena *a, ObjectInfo *ret, Error *err)
{
    Str md5 = hex_encode(a, hashes_get(&w->hashes, a, HASH_MD5));
    S3Call q = { .method = "PUT", .bucket = w->bucket, .key = w->key, .body = str_n(w->s3->buf ? w->s3->buf : "", w->s3->n), .moves_much = w->s3->n > COPY_CHUNK };
    ObjectInfo info = {0};
    HttpReply r;

    add_headers(w, a, &q);
    condition_headers(w, a, &q);
    Status st = s3s_call(w->s, a, &q, &r, err);
    for (int i = 0; i < S3_REFETCH_TRIES && q.once && (st == E_UNKNOWN || st == E_TIMEOUT); i++) {
        Status seen = look(w, a, md5, ret, err);
        if (seen != E_NOT_FOUND)
            return seen;
        st = s3s_call(w->s, a, &q, &r, err);         /* it is not there: not done */
    }
    if (st != OK)
        return st;
    s3s_object_info(a, w->bucket, w->key, &r, &info);
    ret->etag = info.etag.n ? info.etag : md5;
    ret->version = str_dup(a, s3s_header(&r, "x-amz-version-id"));
    return OK;
}

/* (2) OK: the object stands there as we wrote it. E_NOT_FOUND: none. E_CONFLICT: another one. */
static Status look(StoreWriter *w, Arena *a, Str etag, ObjectInfo *ret, Error *err)
{
    ObjectInfo there = {0};

    TRY(s3s_stat(w->s, a, store_s3_uri(a, w->bucket, w->key), &there, err));
    if (there.size != w->size || !str_ieq(there.etag, etag))
        return FAIL(err, E_CONFLICT, "object 's3://" STR_FMT "/" STR_FMT "' was written by somebody else", STR_ARG(w->bucket), STR_ARG(w->key));
    ret->etag = there.etag;
    return OK;
}

/* ---- parts ---------------------------------------------------------------------------------------------------------- */

static Status upload_begin(StoreWriter *w, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    S3Call q = { .method = "POST", .bucket = w->bucket, .key = w->key, .query = S("uploads=") };
    HttpReply r;
    Xml *x = NULL;

    add_headers(w, a, &q);
    TRY(s3s_call(w->s, a, &q, &r, err));
    TRY_CTX(xml_parse(a, r.body, &x, err), err, "the answer to CreateMultipartUpload");
    w->s3->upload = str_dup(w->a, xml_child_text(x, "UploadId", (Str){0}));
    return w->s3->upload.n ? OK : FAIL(err, E_INVALID, "the answer to CreateMultipartUpload names no upload");
}

static Status part_send(StoreWriter *w, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    S3Put *p = w->s3;
    HttpReply r;

    if (!p->upload.n)
        TRY(upload_begin(w, err));
    if (p->etags.n == PARTS_MAX)
        return FAIL(err, E_LIMIT, "an object of more than %d parts", PARTS_MAX);
    Str body = str_n(p->buf, p->n);
    S3Call q = { .method = "PUT", .bucket = w->bucket, .key = w->key, .body = body, .moves_much = 1,
                 .query = str_fmt(a, "partNumber=%zu&uploadId=" STR_FMT, p->etags.n + 1, STR_ARG(url_encode(a, p->upload, 0))) };
    TRY(s3s_call(w->s, a, &q, &r, err));
    Str etag = s3s_header(&r, "etag");
    if (!etag.n)
        return FAIL(err, E_INVALID, "the answer to part %zu has no ETag", p->etags.n + 1);
    vec_push(w->a, &p->etags, str_dup(w->a, etag));
    sb_add(&p->md5s, hash_bytes(a, HASH_MD5, body));
    p->n = 0;
    if (p->etags.n % 1000 == 0)
        p->part_bytes *= 2;
    return OK;
}

static Str complete_body(StoreWriter *w, Arena *a)
{
    XmlWriter x = xw_new(a);

    xw_open(&x, "CompleteMultipartUpload");
    xw_attr(&x, "xmlns", S("http://s3.amazonaws.com/doc/2006-03-01/"));
    for (size_t i = 0; i < w->s3->etags.n; i++) {
        xw_open(&x, "Part");
        xw_int(&x, "PartNumber", (int64_t)i + 1);
        xw_elem(&x, "ETag", w->s3->etags.p[i]);
        xw_close(&x);
    }
    xw_close(&x);
    return xw_done(&x);
}

/* S3 begins to answer 200 before it knows: the body says how it went. */
static Status completed(Arena *a, const HttpReply *r, Str *etag, Error *err)
{
    S3Fault f = s3s_fault(a, r->body);
    Xml *x = NULL;

    if (f.code.n)
        return FAIL(err, E_UNKNOWN, "CompleteMultipartUpload: " STR_FMT ": " STR_FMT, STR_ARG(f.code), STR_ARG(f.message));
    if (xml_parse(a, r->body, &x, err) != OK || !str_eq(x->name, S("CompleteMultipartUploadResult")))
        return FAIL(err, E_UNKNOWN, "the answer to CompleteMultipartUpload is none");
    *etag = xml_child_text(x, "ETag", (Str){0});
    if (etag->n >= 2 && etag->p[0] == '"')
        *etag = str_sub(*etag, 1, etag->n - 1);
    return OK;
}

static Status upload_complete(StoreWriter *w, Arena *a, ObjectInfo *ret, Error *err)
{
    Str expected = str_fmt(a, STR_FMT "-%zu", STR_ARG(hash_hex(a, HASH_MD5, sb_str(&w->s3->md5s))), w->s3->etags.n);
    S3Call q = { .method = "POST", .bucket = w->bucket, .key = w->key, .query = str_cat(a, S("uploadId="), url_encode(a, w->s3->upload, 0)), .body = complete_body(w, a) };
    HttpReply r;
    Status st = OK;

    condition_headers(w, a, &q);
    props_set(a, &q.headers, S("content-type"), S("application/xml"));
    q.once = 1;
    for (int i = 0; i < S3_REFETCH_TRIES; i++) {
        st = s3s_call(w->s, a, &q, &r, err);
        if (st == OK)
            st = completed(a, &r, &ret->etag, err);
        bool gone = i && st == E_NOT_FOUND && str_eq(str_c(err->kind), S("NoSuchUpload"));       /* an earlier try has done it, perhaps */
        if (st != E_UNKNOWN && st != E_TIMEOUT && !gone)
            return st;
        Status seen = look(w, a, expected, ret, err);
        if (seen == OK || gone)
            return seen;
    }
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* store_s3_object.c - objects elsewhere: look, read, read a range, delete, list.
 *
 * An answer that is shorter or longer than it says, of another range than asked for, or with other bytes than its checksum, is an error and never data. */
#include <stdio.h>

#include "store/store_s3_int.h"

typedef struct Whole { Arena *a; HttpReply *reply; S3Check check; StrBuf body; int begun; size_t limit; Str uri; } Whole;

static Status whole_add(void *ctx, Str bytes, Error *err);
static void whole_again(void *ctx);
static Status list_page(Store *s, Arena *a, const Location *top, Str token, ObjectInfos *ret, Str *next, Error *err);

Status s3s_stat(Store *s, Arena *a, Str uri, ObjectInfo *ret, Error *err)
{
    Location at;
    HttpReply r;

    TRY(s3s_place(s, a, uri, &at, err));
    TRY(key_check(at.bucket, at.key, err));
    S3Call q = { .method = "HEAD", .bucket = at.bucket, .key = at.key };
    TRY(s3s_call(s, a, &q, &r, err));
    s3s_object_info(a, at.bucket, at.key, &r, ret);
    return ret->size < 0 ? FAIL(err, E_IO, "the object store does not tell the size of '" STR_FMT "'", STR_ARG(uri)) : OK;
}

Status s3s_read(Store *s, Arena *a, Str uri, size_t limit, Str *ret, Error *err)
{
    Location at;
    HttpReply r = {0};
    Whole w = { .a = a, .reply = &r, .limit = limit, .uri = uri };

    TRY(s3s_place(s, a, uri, &at, err));
    TRY(key_check(at.bucket, at.key, err));
    w.body = sb_new(a);
    S3Call q = { .method = "GET", .bucket = at.bucket, .key = at.key, .moves_much = 1, .max_bytes = limit < SIZE_MAX - S3_FAULT_MAX ? limit + S3_FAULT_MAX : limit,
                 .sink = whole_add, .again = whole_again, .sink_ctx = &w };
    props_set(a, &q.headers, S("x-amz-checksum-mode"), S("ENABLED"));
    Status st = s3s_call(s, a, &q, &r, err);
    if (st == OK)
        st = s3s_check_end(&w.check, a, uri, err);
    if (st == OK)
        st = s3s_whole(&r, (int64_t)w.body.n, uri, err);
    s3s_check_done(&w.check);
    if (st == E_LIMIT)
        return FAIL(err, E_LIMIT, "'" STR_FMT "' has more bytes than the limit of %zu", STR_ARG(uri), limit);
    if (st != OK)
        return error_context(err, "reading '" STR_FMT "'", STR_ARG(uri));
    *ret = sb_str(&w.body);
    return OK;
}

Status s3s_read_range(Store *s, Arena *a, Str uri, int64_t offset, int64_t length, Str *ret, Error *err)
{
    Location at;
    HttpReply r;
    ObjectInfo info = {0};

    if (offset < 0 || length < 0 || length > LIMIT_MANIFEST_BYTES)
        return FAIL(err, E_INVALID, "asked for %lld bytes at %lld of '" STR_FMT "'", (long long)length, (long long)offset, STR_ARG(uri));
    TRY(s3s_place(s, a, uri, &at, err));
    TRY(key_check(at.bucket, at.key, err));
    if (!length) {
        *ret = (Str){0};
        return s3s_stat(s, a, uri, &info, err);
    }
    S3Call q = { .method = "GET", .bucket = at.bucket, .key = at.key, .moves_much = 1, .max_bytes = (size_t)length + S3_FAULT_MAX };
    props_set(a, &q.headers, S("range"), str_fmt(a, "bytes=%lld-%lld", (long long)offset, (long long)(offset + length - 1)));
    TRY(s3s_call(s, a, &q, &r, err));
    Str want = str_fmt(a, "bytes %lld-%lld/", (long long)offset, (long long)(offset + length - 1));
    if (r.status == 206 && str_starts(s3s_header(&r, "content-range"), want) && r.body.n == (size_t)length) {
        *ret = r.body;
        return OK;
    }
    if (r.status == 200 && !offset && r.body.n == (size_t)length) {              /* the whole object was asked for */
        *ret = r.body;
        return OK;
    }
    return FAIL(err, E_INVALID, "'" STR_FMT "': asked for %lld bytes at %lld, got '" STR_FMT "'", STR_ARG(uri), (long long)length, (long long)offset,
                STR_ARG(s3s_header(&r, "content-range")));
}

Status s3s_remove(Store *s, Arena *a, Str uri, Str version, const PutCondition *cond, Removed *ret, Error *err)
{
    Location at;
    HttpReply r;

    *ret = (Removed){0};
    if (version.n || (cond && (cond->if_none_match || cond->unless_etag.n)))
        return FAIL(err, E_UNSUPPORTED, "deleting a version, or on this condition, in a remote object store");
    TRY(s3s_place(s, a, uri, &at, err));
    TRY(key_check(at.bucket, at.key, err));
    S3Call q = { .method = "DELETE", .bucket = at.bucket, .key = at.key, .once = cond && cond->if_match.n };
    if (cond && cond->if_match.n)
        props_set(a, &q.headers, S("if-match"), str_eq(cond->if_match, S("*")) ? cond->if_match : str_fmt(a, "\"" STR_FMT "\"", STR_ARG(cond->if_match)));
    Status st = s3s_call(s, a, &q, &r, err);
    if (st == E_NOT_FOUND && !(cond && cond->if_match.n) && !str_eq(str_c(err->kind), S("NoSuchBucket")))
        return OK;
    TRY(st);
    ret->version = str_dup(a, s3s_header(&r, "x-amz-version-id"));
    ret->marker = str_eq(s3s_header(&r, "x-amz-delete-marker"), S("true"));
    return OK;
}

/* ---- listing --------------------------------------------------------------------------------------------------- */

Status s3s_list_all(Store *s, Arena *a, Str prefix_uri, ObjectInfos *ret, Error *err)
{
    Location top;
    Str token = {0}, next = {0};

    TRY(s3s_place(s, a, prefix_uri, &top, err));
    for (int pages = 0; pages == 0 || token.n; pages++) {
        TRY_CTX(list_page(s, a, &top, token, ret, &next, err), err, "listing '" STR_FMT "'", STR_ARG(prefix_uri));
        if (ret->n > S3_LIST_MAX)
            return FAIL(err, E_LIMIT, "more than %d objects below '" STR_FMT "'", S3_LIST_MAX, STR_ARG(prefix_uri));
        if (next.n && (str_eq(next, token) || pages > S3_PAGES_MAX))
            return FAIL(err, E_IO, "the object store's listing of '" STR_FMT "' does not come to an end", STR_ARG(prefix_uri));
        token = next;
    }
    return OK;
}

static Status list_page(Store *s, Arena *a, const Location *top, Str token, ObjectInfos *ret, Str *next, Error *err)
{
    CLEANUP(arena_destroyp) Arena *page = arena_create();    /* the answer and its tree */
    HttpReply r;
    StrBuf b = sb_new(page);
    ObjectInfos found = {0};

    sb_fmt(&b, "encoding-type=url&list-type=2&max-keys=%d&prefix=", S3_PAGE_KEYS);
    sb_add(&b, url_encode(page, top->key, 0));
    if (token.n) {
        sb_addc(&b, "&continuation-token=");
        sb_add(&b, url_encode(page, token, 0));
    }
    S3Call q = { .method = "GET", .bucket = top->bucket, .below = top->key, .query = sb_str(&b) };
    TRY(s3s_call(s, page, &q, &r, err));
    TRY(s3s_list_parse(page, top->bucket, r.body, &found, next, err));
    *next = str_dup(a, *next);
    for vec_each(ObjectInfo, o, &found) {
        if (!str_starts(o->key, top->key))
            return FAIL(err, E_IO, "the object store lists '" STR_FMT "', which is not below what was asked for", STR_ARG(o->key));
        o->key = str_dup(a, o->key);
        o->etag = str_dup(a, o->etag);
        vec_push(a, ret, *o);
    }
    return OK;
}

static Status list_entry(Arena *a, Str bucket, const Xml *x, int encoded, ObjectInfos *ret, Error *err)
{
    ObjectInfo o = { .bucket = bucket, .key = xml_child_text(x, "Key", (Str){0}), .etag = xml_child_text(x, "ETag", (Str){0}) };

    if (encoded)
        TRY(url_decode(a, o.key, 1, &o.key, err));
    if (!o.key.n || !str_to_i64(xml_child_text(x, "Size", (Str){0}), &o.size) || o.size < 0)
        return FAIL(err, E_INVALID, "an entry of the listing has no key or no size");
    if (!iso8601_parse(xml_child_text(x, "LastModified", (Str){0}), &o.modified_ms))
        return FAIL(err, E_INVALID, "an entry of the listing has no date");
    if (o.etag.n >= 2 && o.etag.p[0] == '"')
        o.etag = str_sub(o.etag, 1, o.etag.n - 1);
    vec_push(a, ret, o);
    return OK;
}

Status s3s_list_parse(Arena *a, Str bucket, Str body, ObjectInfos *ret, Str *next, Error *err)
{
    Xml *x = NULL;

    TRY_CTX(xml_parse(a, body, &x, err), err, "a listing that is no XML");
    if (!str_eq(x->name, S("ListBucketResult")))
        return FAIL(err, E_INVALID, "a listing that is none: <" STR_FMT ">", STR_ARG(x->name));
    int encoded = str_eq(xml_child_text(x, "EncodingType", (Str){0}), S("url"));
    for (size_t i = 0; i < x->children.n; i++)
        if (str_eq(x->children.p[i]->name, S("Contents")))
            TRY(list_entry(a, bucket, x->children.p[i], encoded, ret, err));
    *next = (Str){0};
    if (!str_eq(xml_child_text(x, "IsTruncated", S("false")), S("true")))
        return OK;
    *next = xml_child_text(x, "NextContinuationToken", (Str){0});
    return next->n ? OK : FAIL(err, E_INVALID, "a listing goes on and does not say where");
}

/* ---- a whole object into memory --------------------------------------------------------------------------------- */

static Status whole_add(void *ctx, Str bytes, Error *err)
{
    Whole *w = ctx;

    if (!w->begun) {
        w->begun = 1;
        s3s_check_start(&w->check, w->a, w->reply);
    }
    if (bytes.n > w->limit || w->body.n > w->limit - bytes.n)
        return FAIL(err, E_LIMIT, "'" STR_FMT "' is over the limit", STR_ARG(w->uri));
    if (w->check.h)
        hasher_add(w->check.h, bytes);
    sb_add(&w->body, bytes);
    return OK;
}

static void whole_again(void *ctx)
{
    Whole *w = ctx;
    w->begun = 0;
    w->body.n = 0;
}

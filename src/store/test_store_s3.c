/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_s3.c - the S3 backend against a small object store in this process that can be told to fail: each operation, retries, parts, conditions,
 * lost answers, expired keys, lies, the cache of files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"
#include "test.h"

typedef enum { FAULT_NONE, FAULT_STATUS, FAULT_CUT, FAULT_SHORT, FAULT_AFTER, FAULT_FLIP, FAULT_LONG } FaultKind;
typedef struct Env {
    Arena *a;                     /* the test's */
    Arena *sa;                    /* the server's, under mu */
    pthread_mutex_t mu;
    HttpServer *server;
    Store *s;
    StoreCache *cache;
    Error err;
    Map objects;                  /* path to Str */
    Map parts;
    FaultKind fault;              /* of the next `left` requests */
    int left, status, uploads, requests, gets, puts, key_number, asked, closed, old_keys, ignore_conditions;
    Str error_body, last_key, last_host, home;          /* home: the region that signatures must name; "": any */
    int64_t ahead_s;              /* of the server's clock */
    char dir[64];
} Env;

/* ---- the object store ------------------------------------------------------------------------------------------ */

static Status cut_pull(void *ctx, char *buf, size_t cap, size_t *n, Error *err)
{
    int *calls = ctx;
    (void)cap;
    if ((*calls)++)
        return FAIL(err, E_IO, "cut");
    *n = 1;
    buf[0] = 'x';
    return OK;
}

static void answer_cut(HttpRequest *r, HttpAnswer *ans)
{
    ans->pull = cut_pull;
    ans->ctx = arena_alloc(r->arena, sizeof(int));
    ans->length = 1000;
}

static Str etag_of(Arena *a, Str bytes)
{
    return str_fmt(a, "\"" STR_FMT "\"", STR_ARG(hash_hex(a, HASH_MD5, bytes)));
}

static Str keep(Env *e, Str s)
{
    return str_dup(e->sa, s);
}

static void put_object(Env *e, Str path, Str bytes)
{
    Str *o = arena_new(e->sa, Str);
    *o = keep(e, bytes);
    map_put(&e->objects, keep(e, path), o);
}

static void fault_answer(HttpRequest *r, HttpAnswer *ans, int status, const char *code)
{
    ans->status = status;
    ans->body = str_fmt(r->arena, "<Error><Code>%s</Code><Message>because</Message></Error>", code);
}

static void serve_list(Env *e, HttpRequest *r, HttpAnswer *ans)
{
    XmlWriter w = xw_new(r->arena);
    Str prefix = http_arg(r, "prefix", S("")), after = http_arg(r, "continuation-token", S(""));
    int n = 0;
    Str next = {0};

    Str bucket = r->path;
    bucket.n -= str_ends(bucket, S("/"));
    xw_open(&w, "ListBucketResult");
    xw_elem(&w, "EncodingType", S("url"));
    for (size_t i = 0; i < e->objects.n; i++) {
        MapEntry *o = &e->objects.entries[i];
        Str raw = str_from(o->key, bucket.n + 1), key = {0};
        if (!o->value || !str_starts(o->key, bucket) || url_decode(r->arena, raw, 0, &key, &e->err) != OK || !str_starts(key, prefix))
            continue;
        if (after.n && str_cmp(key, after) <= 0)
            continue;
        if (n++ == 2) {
            xw_elem(&w, "IsTruncated", S("true"));
            xw_elem(&w, "NextContinuationToken", next);
            break;
        }
        next = key;
        xw_open(&w, "Contents");
        xw_elem(&w, "Key", url_encode(r->arena, key, 1));
        xw_elem(&w, "LastModified", S("2026-01-02T03:04:05.000Z"));
        xw_elem(&w, "ETag", etag_of(r->arena, *(Str *)o->value));
        xw_int(&w, "Size", (int64_t)((Str *)o->value)->n);
        xw_close(&w);
    }
    xw_close(&w);
    ans->body = xw_done(&w);
}

static void serve_upload(Env *e, HttpRequest *r, HttpAnswer *ans)
{
    Str id = http_arg(r, "uploadId", S("")), body = {0};
    if (http_has_arg(r, "uploads")) {
        ans->body = str_fmt(r->arena, "<InitiateMultipartUploadResult><UploadId>up/%d</UploadId></InitiateMultipartUploadResult>", ++e->uploads);
    } else if (str_eq(r->method, S("PUT"))) {
        if (http_body_all(r, 64 << 20, &body, &e->err) != OK)
            return;
        Str *o = arena_new(e->sa, Str);
        *o = keep(e, body);
        map_put(&e->parts, keep(e, str_fmt(r->arena, STR_FMT " " STR_FMT, STR_ARG(id), STR_ARG(http_arg(r, "partNumber", S(""))))), o);
        http_answer_header(r, ans, "ETag", etag_of(r->arena, body));
    } else if (str_eq(r->method, S("DELETE"))) {
        e->uploads--;
        ans->status = 204;
    } else {
        StrBuf whole = sb_new(r->arena), md5s = sb_new(r->arena);
        int n = 1;
        for (Str *p; (p = map_get(&e->parts, str_fmt(r->arena, STR_FMT " %d", STR_ARG(id), n))); n++) {
            sb_add(&whole, *p);
            sb_add(&md5s, hash_bytes(r->arena, HASH_MD5, *p));
        }
        if (n == 1) {
            fault_answer(r, ans, 404, "NoSuchUpload");
            return;
        }
        put_object(e, r->path, sb_str(&whole));
        Str etag = str_fmt(r->arena, "%.*s-%d", STR_ARG(hash_hex(r->arena, HASH_MD5, sb_str(&md5s))), n - 1);
        put_object(e, str_cat(r->arena, S("etag "), r->path), etag);
        e->parts = map_new(e->sa);
        e->uploads--;
        ans->body = str_fmt(r->arena, "<CompleteMultipartUploadResult><ETag>&quot;" STR_FMT "&quot;</ETag></CompleteMultipartUploadResult>", STR_ARG(etag));
    }
}

static void serve_get(Env *e, HttpRequest *r, HttpAnswer *ans)
{
    Str *o = map_get(&e->objects, r->path), *etag = map_get(&e->objects, str_cat(r->arena, S("etag "), r->path)), range = http_header(r, "range");
    long long from, to;
    if (!o) {
        fault_answer(r, ans, 404, "NoSuchKey");
        return;
    }
    http_answer_header(r, ans, "ETag", etag ? str_fmt(r->arena, "\"" STR_FMT "\"", STR_ARG(*etag)) : etag_of(r->arena, *o));
    http_answer_header(r, ans, "Last-Modified", S("Sun, 06 Nov 1994 08:49:37 GMT"));
    if (range.n && sscanf(range.p, "bytes=%lld-%lld", &from, &to) == 2) {
        if (to >= (long long)o->n) {
            fault_answer(r, ans, 416, "InvalidRange");
            return;
        }
        ans->status = 206;
        http_answer_header(r, ans, "Content-Range", str_fmt(r->arena, "bytes %lld-%lld/%zu", from, to, o->n));
        ans->body = str_sub(*o, (size_t)from, (size_t)to + 1);
    } else if (str_eq(r->method, S("HEAD"))) {
        ans->length = (int64_t)o->n;
    } else {
        http_answer_header(r, ans, "x-amz-checksum-crc32", base64_encode(r->arena, hash_bytes(r->arena, HASH_CRC32, *o)));
        ans->body = str_dup(r->arena, *o);
        e->gets++;
    }
}

static void serve_put(Env *e, HttpRequest *r, HttpAnswer *ans)
{
    Str body;
    Str *old = map_get(&e->objects, r->path);
    if (http_body_all(r, 64 << 20, &body, &e->err) != OK)
        return;
    if (old && str_eq(http_header(r, "if-none-match"), S("*")) && !e->ignore_conditions) {
        fault_answer(r, ans, 412, "PreconditionFailed");
        return;
    }
    e->puts++;
    put_object(e, r->path, body);
    http_answer_header(r, ans, "ETag", etag_of(r->arena, body));
}

/* Is it signed for this region, at the time that this clock shows? */
static bool of_this_place(Env *e, HttpRequest *r, HttpAnswer *ans, Str auth)
{
    int64_t now = clock_ms() + e->ahead_s * 1000;
    Str iso = time_iso8601(r->arena, now), hour = str_fmt(r->arena, "%.4s%.2s%.2sT%.2s", iso.p, iso.p + 5, iso.p + 8, iso.p + 11);

    if (e->home.n && str_find(auth, str_fmt(r->arena, "/" STR_FMT "/s3/", STR_ARG(e->home))) < 0) {
        fault_answer(r, ans, 400, "AuthorizationHeaderMalformed");
        ans->body = str_fmt(r->arena, "<Error><Code>AuthorizationHeaderMalformed</Code><Message>m</Message><Region>" STR_FMT "</Region></Error>", STR_ARG(e->home));
        http_answer_header(r, ans, "x-amz-bucket-region", e->home);
        return false;
    }
    if (e->ahead_s && !str_starts(http_header(r, "x-amz-date"), hour)) {
        http_answer_header(r, ans, "Date", http_date(r->arena, now));
        fault_answer(r, ans, 403, "RequestTimeTooSkewed");
        return false;
    }
    return true;
}

static void serve_plain(Env *e, HttpRequest *r, HttpAnswer *ans)
{
    Str auth = http_header(r, "authorization");
    ptrdiff_t at = str_find(auth, S("Credential="));
    e->last_host = keep(e, http_header(r, "host"));
    e->last_key = at < 0 ? (Str){0} : keep(e, str_sub(auth, (size_t)at + 11, (size_t)at + 15));
    if (!of_this_place(e, r, ans, auth))
        return;
    if (e->old_keys && str_eq(e->last_key, S("key1")))
        fault_answer(r, ans, 400, "ExpiredToken");
    else if (http_has_arg(r, "list-type"))
        serve_list(e, r, ans);
    else if (http_has_arg(r, "uploads") || http_has_arg(r, "uploadId"))
        serve_upload(e, r, ans);
    else if (str_eq(r->method, S("PUT")))
        serve_put(e, r, ans);
    else if (str_eq(r->method, S("DELETE")))
        map_del(&e->objects, r->path), ans->status = 204;
    else
        serve_get(e, r, ans);
}

static void serve(void *ctx, HttpRequest *r, HttpAnswer *ans)
{
    Env *e = ctx;
    pthread_mutex_lock(&e->mu);
    e->requests++;
    FaultKind fault = e->left > 0 ? e->fault : FAULT_NONE;
    e->left--;
    if (fault == FAULT_STATUS) {
        ans->status = e->status;
        ans->body = e->error_body;
    } else if (fault == FAULT_CUT) {
        answer_cut(r, ans);
    } else {
        serve_plain(e, r, ans);
    }
    if (fault == FAULT_AFTER)
        answer_cut(r, ans);
    if (fault == FAULT_FLIP && ans->body.n)
        ((char *)(uintptr_t)ans->body.p)[0] ^= 1;
    if (fault == FAULT_LONG)
        ans->body = str_cat(r->arena, ans->body, S("more"));
    if (str_eq(r->method, S("HEAD")))
        ans->body = (Str){0};
    pthread_mutex_unlock(&e->mu);
}

/* ---- frame ------------------------------------------------------------------------------------------------------ */

static Status keys(void *ctx, Arena *a, Str bucket, Str key, AwsKeys *ret, Error *err)
{
    Env *e = ctx;
    (void)err, (void)bucket, (void)key;
    __atomic_fetch_add(&e->asked, 1, __ATOMIC_RELAXED);
    *ret = (AwsKeys){ .access_key = str_fmt(a, "key%d", e->key_number), .secret_key = S("secret"), .session_token = S("token") };
    return OK;
}

static void refused(void *ctx) { ((Env *)ctx)->key_number++; }
static void closed(void *ctx) { ((Env *)ctx)->closed++; }

static void open_store(Env *e, const StrVec *within)
{
    StoreS3Options o = { .endpoint = str_fmt(e->a, "http://127.0.0.1:%d/", http_server_port(e->server)), .path_style = 1, .ctx = e, .keys = keys, .refused = refused,
                         .closed = closed, .within = within, .cache = e->cache, .pause_ms = 1, .timeout_ms = 3000, .tries = 4 };
    assert_ok(store_open_s3(&o, &e->s, &e->err), &e->err);
}

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);
    HttpServerOptions o = { .addr = S("127.0.0.1"), .name = "s3" };
    pthread_mutex_init(&e->mu, NULL);
    e->a = arena_create();
    e->sa = arena_create();
    e->objects = map_new(e->sa);
    e->parts = map_new(e->sa);
    e->key_number = 1;
    strcpy(e->dir, "/tmp/firn-test-XXXXXX");
    assert_non_null(mkdtemp(e->dir));
    assert_ok(http_serve(&o, serve, e, &e->server, &e->err), &e->err);
    assert_ok(store_cache_open(str_c(e->dir), 1000, &e->cache, &e->err), &e->err);
    open_store(e, NULL);
    *state = e;
    return 0;
}

static int teardown(void **state)
{
    Env *e = *state;
    store_close(e->s);
    assert_int_equal(e->closed, 1);
    store_cache_free(e->cache);
    http_server_stop(e->server, 1);
    assert_int_equal(rmdir(e->dir), 0);              /* the cache has left nothing behind */
    pthread_mutex_destroy(&e->mu);
    arena_destroy(e->a);
    arena_destroy(e->sa);
    free(e);
    return 0;
}

static void faults(Env *e, FaultKind kind, int left, int status, const char *body)
{
    pthread_mutex_lock(&e->mu);
    e->fault = kind;
    e->left = left;
    e->status = status;
    e->error_body = str_c(body);
    e->requests = 0;
    pthread_mutex_unlock(&e->mu);
}

static void expect(Env *e, const char *uri, const char *text)
{
    Str got;
    assert_ok(store_read(e->s, e->a, str_c(uri), 1 << 20, &got, &e->err), &e->err);
    assert_str(got, text);
}

static Str file_text(Env *e, Str path)
{
    char buf[4096];
    int fd = open(str_z(e->a, path), O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof buf);
    file_closep(&fd);
    return n < 0 ? S("no file") : str_dup(e->a, str_n(buf, (size_t)n));
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

static void test_objects(void **state)
{
    Env *e = *state;
    ObjectInfo o;
    Str got;
    Removed gone;

    assert_ok(store_put(e->s, S("s3://b/a b/ü+%2F//x"), S("hello"), &e->err), &e->err);
    assert_non_null(map_get(&e->objects, S("/b/a%20b/%C3%BC%2B%252F//x")));
    expect(e, "s3://b/a b/ü+%2F//x", "hello");
    assert_ok(store_stat(e->s, e->a, S("s3a://b/a b/ü+%2F//x"), &o, &e->err), &e->err);
    assert_int_equal(o.size, 5);
    assert_str(o.etag, "5d41402abc4b2a76b9719d911017c592");
    assert_int_equal(o.modified_ms, 784111777000);
    assert_ok(store_read_range(e->s, e->a, S("s3://b/a b/ü+%2F//x"), 1, 3, &got, &e->err), &e->err);
    assert_str(got, "ell");
    assert_ok(store_read_range(e->s, e->a, S("s3://b/a b/ü+%2F//x"), 0, 5, &got, &e->err), &e->err);
    assert_status(store_read_range(e->s, e->a, S("s3://b/a b/ü+%2F//x"), 3, 3, &got, &e->err), E_INVALID);
    assert_status(store_read(e->s, e->a, S("s3://b/a b/ü+%2F//x"), 4, &got, &e->err), E_LIMIT);
    assert_ok(store_remove(e->s, e->a, S("s3://b/a b/ü+%2F//x"), (Str){0}, NULL, &gone, &e->err), &e->err);
    assert_ok(store_delete(e->s, S("s3://b/a b/ü+%2F//x"), &e->err), &e->err);
    assert_status(store_read(e->s, e->a, S("s3://b/a b/ü+%2F//x"), 100, &got, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchKey");
    assert_status(store_stat(e->s, e->a, S("s3://b/none"), &o, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchKey");
}

static void test_what_is_not_there(void **state)
{
    Env *e = *state;
    BucketInfo b = { .name = S("b") };
    Str got;
    assert_status(store_bucket_create(e->s, &b, &e->err), E_UNSUPPORTED);
    assert_status(store_probe(e->s, &e->err), E_UNSUPPORTED);
    assert_status(store_read(e->s, e->a, S("file:///etc/hostname"), 100, &got, &e->err), E_UNSUPPORTED);
    assert_status(store_put(e->s, S("file:///tmp/x"), S("x"), &e->err), E_UNSUPPORTED);
    assert_status(store_local_path(e->s, e->a, S("file:///etc/hostname"), &got, &e->err), E_UNSUPPORTED);
}

static void test_list(void **state)
{
    Env *e = *state;
    ObjectInfos all = {0};
    for (int i = 0; i < 5; i++)
        assert_ok(store_put(e->s, str_fmt(e->a, "s3://b/t/%d +", i), S("x"), &e->err), &e->err);
    assert_ok(store_put(e->s, S("s3://b/u/1"), S("x"), &e->err), &e->err);
    assert_ok(store_list_all(e->s, e->a, S("s3://b/t/"), &all, &e->err), &e->err);
    assert_int_equal(all.n, 5);
    assert_str(all.p[4].key, "t/4 +");
    assert_int_equal(all.p[4].size, 1);
    faults(e, FAULT_STATUS, 100, 200, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>same</NextContinuationToken></ListBucketResult>");
    assert_status(store_list_all(e->s, e->a, S("s3://b/t/"), &all, &e->err), E_IO);
    assert_int_equal(e->requests, 2);
    faults(e, FAULT_STATUS, 1, 200, "<ListBucketResult><Contents><Key>../x</Key><Size>1</Size><LastModified>2026-01-02T03:04:05Z</LastModified></Contents></ListBucketResult>");
    assert_status(store_list_all(e->s, e->a, S("s3://b/t/"), &all, &e->err), E_IO);
    faults(e, FAULT_STATUS, 1, 200, "<html>");
    assert_int_not_equal(store_list_all(e->s, e->a, S("s3://b/t/"), &all, &e->err), OK);
}

static void test_retries(void **state)
{
    Env *e = *state;
    Str got;
    put_object(e, S("/b/k"), S("bytes"));
    faults(e, FAULT_STATUS, 3, 503, "<Error><Code>SlowDown</Code><Message>m</Message></Error>");
    expect(e, "s3://b/k", "bytes");
    assert_int_equal(e->requests, 4);
    faults(e, FAULT_STATUS, 4, 503, "");
    assert_status(store_read(e->s, e->a, S("s3://b/k"), 100, &got, &e->err), E_UNAVAILABLE);
    faults(e, FAULT_STATUS, 1, 500, "<Error><Code>InternalError</Code></Error>");
    expect(e, "s3://b/k", "bytes");
    faults(e, FAULT_CUT, 2, 0, "");
    expect(e, "s3://b/k", "bytes");
    assert_int_equal(e->requests, 3);
    faults(e, FAULT_STATUS, 9, 403, "<Error><Code>AccessDenied</Code><Message>not you</Message></Error>");
    assert_status(store_read(e->s, e->a, S("s3://b/k"), 100, &got, &e->err), E_DENIED);
    assert_int_equal(e->requests, 1);
    assert_non_null(strstr(e->err.message, "not you"));
    faults(e, FAULT_STATUS, 9, 301, "<Error><Code>PermanentRedirect</Code><Message>elsewhere</Message><Region>eu-west-1</Region></Error>");
    assert_status(store_read(e->s, e->a, S("s3://b/k"), 100, &got, &e->err), E_IO);
    assert_non_null(strstr(e->err.hint, "eu-west-1"));
    faults(e, FAULT_STATUS, 1, 404, "<Error><Code>NoSuchBucket</Code></Error>");
    assert_status(store_read(e->s, e->a, S("s3://b/k"), 100, &got, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchBucket");
    faults(e, FAULT_AFTER, 1, 0, "");
    assert_ok(store_put(e->s, S("s3://b/k"), S("again"), &e->err), &e->err);
    assert_int_equal(e->requests, 2);
    expect(e, "s3://b/k", "again");
}

static void test_lies(void **state)
{
    Env *e = *state;
    Str got;
    put_object(e, S("/b/k"), S("bytes"));
    faults(e, FAULT_FLIP, 1, 0, "");
    assert_status(store_read(e->s, e->a, S("s3://b/k"), 100, &got, &e->err), E_CORRUPT);
    faults(e, FAULT_FLIP, 1, 0, "");
    assert_status(store_local_path(e->s, e->a, S("s3://b/k"), &got, &e->err), E_CORRUPT);
    faults(e, FAULT_LONG, 1, 0, "");
    assert_int_not_equal(store_read_range(e->s, e->a, S("s3://b/k"), 1, 2, &got, &e->err), OK);
    faults(e, FAULT_STATUS, 1, 206, "byt");
    assert_status(store_read(e->s, e->a, S("s3://b/k"), 100, &got, &e->err), E_IO);
    faults(e, FAULT_STATUS, 1, 206, "byt");
    assert_status(store_local_path(e->s, e->a, S("s3://b/k"), &got, &e->err), E_IO);
    faults(e, FAULT_STATUS, 1, 200, "byt");
    assert_int_not_equal(store_read_range(e->s, e->a, S("s3://b/k"), 1, 3, &got, &e->err), OK);
    assert_ok(store_local_path(e->s, e->a, S("s3://b/k"), &got, &e->err), &e->err);
    assert_str(file_text(e, got), "bytes");
}

static void test_conditions(void **state)
{
    Env *e = *state;
    assert_ok(store_put_new(e->s, S("s3://b/k"), S("one"), &e->err), &e->err);
    assert_status(store_put_new(e->s, S("s3://b/k"), S("two"), &e->err), E_EXISTS);
    faults(e, FAULT_AFTER, 1, 0, "");                /* done, and the answer lost */
    assert_ok(store_put_new(e->s, S("s3://b/l"), S("mine"), &e->err), &e->err);
    expect(e, "s3://b/l", "mine");
    faults(e, FAULT_CUT, 1, 0, "");                  /* not done, and no answer */
    assert_ok(store_put_new(e->s, S("s3://b/m"), S("mine"), &e->err), &e->err);
    faults(e, FAULT_CUT, 1, 0, "");
    assert_status(store_put_new(e->s, S("s3://b/m"), S("other"), &e->err), E_EXISTS);
}

static void test_expired_keys(void **state)
{
    Env *e = *state;
    ObjectInfo o;
    put_object(e, S("/b/k"), S("bytes"));
    e->old_keys = 1;
    expect(e, "s3://b/k", "bytes");
    assert_str(e->last_key, "key2");
    e->key_number = 1;
    assert_ok(store_stat(e->s, e->a, S("s3://b/k"), &o, &e->err), &e->err);      /* HEAD: no body tells why */
    assert_str(e->last_key, "key2");
}

static void test_parts(void **state)
{
    Env *e = *state;
    StoreWriter *w;
    ObjectInfo o;
    size_t n = 40 << 20;
    Str big = { arena_alloc(e->a, n), n };
    memset((char *)(uintptr_t)big.p, 'p', n);
    assert_ok(store_put_open(e->s, S("b"), S("big"), &w, &e->err), &e->err);
    faults(e, FAULT_STATUS, 1, 503, "");
    assert_ok(store_put_add(w, str_sub(big, 0, 1000), &e->err), &e->err);
    assert_ok(store_put_add(w, str_from(big, 1000), &e->err), &e->err);
    assert_null(map_get(&e->objects, S("/b/big")));
    assert_ok(store_put_commit(w, NULL, e->a, &o, &e->err), &e->err);
    assert_int_equal(o.size, n);
    assert_true(str_ends(o.etag, S("-3")));
    assert_int_equal(((Str *)map_get(&e->objects, S("/b/big")))->n, n);
    assert_str(o.sha256, hash_hex(e->a, HASH_SHA256, big).p);
    assert_int_equal(e->uploads, 0);

    assert_ok(store_put_open(e->s, S("b"), S("left"), &w, &e->err), &e->err);
    assert_ok(store_put_add(w, big, &e->err), &e->err);
    assert_int_equal(e->uploads, 1);
    store_put_abandon(w);
    assert_int_equal(e->uploads, 0);

    assert_ok(store_put_open(e->s, S("b"), S("lost"), &w, &e->err), &e->err);
    assert_ok(store_put_add(w, big, &e->err), &e->err);
    StoreWriter *mine = w;
    pthread_mutex_lock(&e->mu);
    e->fault = FAULT_AFTER;
    e->left = 2;                                     /* the last part, sent twice, and the completion */
    pthread_mutex_unlock(&e->mu);
    assert_ok(store_put_commit(mine, NULL, e->a, &o, &e->err), &e->err);
    assert_int_equal(((Str *)map_get(&e->objects, S("/b/lost")))->n, n);
}

static void test_lost_completion(void **state)
{
    Env *e = *state;
    StoreWriter *w;
    ObjectInfo o;
    size_t n = 32 << 20;
    Str big = { arena_alloc(e->a, n), n };
    assert_ok(store_put_open(e->s, S("b"), S("big"), &w, &e->err), &e->err);
    assert_ok(store_put_add(w, str_sub(big, 0, n - 10), &e->err), &e->err);
    assert_ok(store_put_add(w, str_from(big, n - 10), &e->err), &e->err);
    assert_ok(store_put_commit(w, NULL, e->a, &o, &e->err), &e->err);
    /* A completion whose answer says that it failed after all. */
    assert_ok(store_put_open(e->s, S("b"), S("small"), &w, &e->err), &e->err);
    assert_ok(store_put_add(w, S("x"), &e->err), &e->err);
    faults(e, FAULT_STATUS, 100, 500, "");
    assert_status(store_put_commit(w, NULL, e->a, &o, &e->err), E_UNKNOWN);
}

static void test_adopt(void **state)
{
    Env *e = *state;
    ObjectInfo o;
    Str path = str_cat(e->a, store_scratch(e->s), S("/file")), outside = str_fmt(e->a, "%s/out", e->dir);
    int fd = open(path.p, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "data", 4), 4);
    close(fd);
    assert_status(store_adopt(e->s, S("s3://b/x"), outside, e->a, &o, &e->err), E_INVALID);
    assert_ok(store_adopt(e->s, S("s3://b/x"), path, e->a, &o, &e->err), &e->err);
    assert_int_equal(access(path.p, F_OK), -1);
    assert_int_equal(o.size, 4);
    assert_str(o.sha256, hash_hex(e->a, HASH_SHA256, S("data")).p);
    expect(e, "s3://b/x", "data");
}

static void test_cache(void **state)
{
    Env *e = *state;
    Str p1, p2, p3;
    ObjectInfo o;
    CLEANUP(file_closep) int fd = -1;
    put_object(e, S("/b/1"), S("first"));
    put_object(e, S("/b/2"), str_fmt(e->a, "%0600d", 0));
    put_object(e, S("/b/3"), str_fmt(e->a, "%0500d", 0));
    assert_ok(store_local_path(e->s, e->a, S("s3://b/1"), &p1, &e->err), &e->err);
    assert_str(file_text(e, p1), "first");
    e->gets = e->requests = 0;
    assert_ok(store_local_path(e->s, e->a, S("s3://b/1"), &p2, &e->err), &e->err);
    assert_true(str_eq(p1, p2));
    assert_int_equal(e->requests, 0);                /* what a store holds is not asked for again */
    assert_ok(store_local_path(e->s, e->a, S("s3://b/2"), &p2, &e->err), &e->err);
    assert_status(store_local_path(e->s, e->a, S("s3://b/3"), &p3, &e->err), E_LIMIT);     /* both are held */
    store_paths_done(e->s);
    assert_ok(store_local_path(e->s, e->a, S("s3://b/1"), &p1, &e->err), &e->err);
    assert_int_equal(e->gets, 2);                    /* 2 and 3: 1 was still there */
    assert_ok(store_local_path(e->s, e->a, S("s3://b/3"), &p3, &e->err), &e->err);
    assert_int_equal(access(p2.p, F_OK), -1);        /* made room */
    put_object(e, S("/b/1"), S("second"));
    assert_str(file_text(e, p1), "first");
    store_paths_done(e->s);
    assert_ok(store_open_fd(e->s, e->a, S("s3://b/1"), &fd, &o, &e->err), &e->err);
    assert_int_equal(o.size, 6);
    assert_ok(store_local_path(e->s, e->a, S("s3://b/1"), &p1, &e->err), &e->err);
    assert_str(file_text(e, p1), "second");
    store_paths_done(e->s);
    map_del(&e->objects, S("/b/1"));
    assert_status(store_local_path(e->s, e->a, S("s3://b/1"), &p1, &e->err), E_NOT_FOUND);
}

/* What an owner that was killed left behind goes when the next one comes; what belongs to a living one, or to nobody that we know, stays. */
static void test_dead_owner(void **state)
{
    Env *e = *state;
    StoreCache *c = NULL;
    Str dead = str_fmt(e->a, "%s/firn-objects-dead01", e->dir), other = str_fmt(e->a, "%s/something", e->dir), link = str_cat(e->a, dead, S("/link"));
    struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
    assert_int_equal(mkdir(dead.p, 0700), 0);
    assert_int_equal(mkdir(other.p, 0700), 0);
    assert_int_equal(mkdir(str_cat(e->a, dead, S("/scratch")).p, 0700), 0);
    assert_int_equal(symlink(other.p, link.p), 0);
    assert_int_equal(utimensat(AT_FDCWD, dead.p, old, 0), 0);
    assert_ok(store_cache_open(str_c(e->dir), 1000, &c, &e->err), &e->err);
    assert_int_equal(access(dead.p, F_OK), -1);
    assert_int_equal(access(other.p, F_OK), 0);
    assert_int_equal(access(store_scratch(e->s).p, F_OK), 0);
    store_cache_free(c);
    rmdir(other.p);
}

static void test_cache_over_cuts(void **state)
{
    Env *e = *state;
    Str p;
    put_object(e, S("/b/1"), S("first"));
    faults(e, FAULT_CUT, 2, 0, "");
    assert_ok(store_local_path(e->s, e->a, S("s3://b/1"), &p, &e->err), &e->err);
    assert_str(file_text(e, p), "first");
    faults(e, FAULT_CUT, 9, 0, "");
    put_object(e, S("/b/2"), S("second"));
    assert_int_not_equal(store_local_path(e->s, e->a, S("s3://b/2"), &p, &e->err), OK);
    faults(e, FAULT_NONE, 0, 0, "");
    assert_ok(store_local_path(e->s, e->a, S("s3://b/2"), &p, &e->err), &e->err);
    assert_str(file_text(e, p), "second");
}

static void *fetch_one(void *ctx)
{
    Env *e = ctx;
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    Str p;
    assert_ok(store_local_path(e->s, a, S("s3://b/1"), &p, &err), &err);
    return NULL;
}

static void test_cache_together(void **state)
{
    Env *e = *state;
    pthread_t t[8];
    put_object(e, S("/b/1"), S("first"));
    for (size_t i = 0; i < COUNT_OF(t); i++)
        assert_int_equal(pthread_create(&t[i], NULL, fetch_one, e), 0);
    for (size_t i = 0; i < COUNT_OF(t); i++)
        pthread_join(t[i], NULL);
    assert_int_equal(e->gets, 1);
}

static void test_prefetch(void **state)
{
    Env *e = *state;
    StrVec uris = {0};
    Str p;
    for (int i = 0; i < 20; i++) {
        put_object(e, str_fmt(e->a, "/b/%d", i), str_fmt(e->a, "bytes %d", i));
        vec_push(e->a, &uris, str_fmt(e->a, "s3://b/%d", i));
    }
    store_prefetch(e->s, &uris);
    assert_int_equal(e->gets, 20);
    e->requests = 0;
    for (int i = 0; i < 20; i++) {
        assert_ok(store_local_path(e->s, e->a, uris.p[i], &p, &e->err), &e->err);
        assert_str(file_text(e, p), str_fmt(e->a, "bytes %d", i).p);
    }
    assert_int_equal(e->requests, 0);
    vec_push(e->a, &uris, S("s3://b/none"));
    store_prefetch(e->s, &uris);
    assert_status(store_local_path(e->s, e->a, S("s3://b/none"), &p, &e->err), E_NOT_FOUND);
}

/* "b.localhost" is this machine. */
static void test_host_style(void **state)
{
    Env *e = *state;
    Str got;
    store_close(e->s);
    e->closed = 0;
    StoreS3Options o = { .endpoint = str_fmt(e->a, "http://localhost:%d", http_server_port(e->server)), .ctx = e, .keys = keys, .closed = closed, .cache = e->cache, .pause_ms = 1 };
    assert_ok(store_open_s3(&o, &e->s, &e->err), &e->err);
    put_object(e, S("/k%20y"), S("bytes"));
    assert_ok(store_read(e->s, e->a, S("s3://b/k y"), 100, &got, &e->err), &e->err);
    assert_str(got, "bytes");
    assert_true(str_starts(e->last_host, S("b.localhost:")));
    o.endpoint = S("ftp://x");
    o.closed = NULL;
    Store *none = NULL;
    assert_status(store_open_s3(&o, &none, &e->err), E_INVALID);
}

static void test_region_elsewhere(void **state)
{
    Env *e = *state;
    ObjectInfo o;
    Str got;

    put_object(e, S("/b/k"), S("bytes"));
    e->home = S("eu-west-7");
    expect(e, "s3://b/k", "bytes");
    assert_int_equal(e->requests, 2);
    expect(e, "s3://b/k", "bytes");                  /* it knows by now */
    assert_int_equal(e->requests, 3);
    e->home = S("eu-west-8");
    assert_ok(store_stat(e->s, e->a, S("s3://b/k"), &o, &e->err), &e->err);      /* HEAD: a header tells */
    assert_ok(store_put(e->s, S("s3://b/new"), S("x"), &e->err), &e->err);
    e->home = S("not a region");
    assert_status(store_read(e->s, e->a, S("s3://b/k"), 100, &got, &e->err), E_AUTH);
    for (int i = 0; i < 40; i++) {
        e->home = str_fmt(e->a, "r-%d", i);
        if (store_read(e->s, e->a, S("s3://b/k"), 100, &got, &e->err) != OK)
            assert_true(i > 10);                     /* followed for a while */
    }
    assert_status(store_read(e->s, e->a, S("s3://b/k"), 100, &got, &e->err), E_AUTH);
}

static void test_other_clock(void **state)
{
    Env *e = *state;
    ObjectInfo o;
    StoreWriter *w;

    put_object(e, S("/b/k"), S("bytes"));
    e->ahead_s = 5 * 3600;
    expect(e, "s3://b/k", "bytes");
    assert_int_equal(e->requests, 2);
    e->ahead_s = -7 * 3600;
    assert_ok(store_stat(e->s, e->a, S("s3://b/k"), &o, &e->err), &e->err);
    assert_ok(store_put_open(e->s, S("b"), S("new"), &w, &e->err), &e->err);
    assert_ok(store_put_add(w, S("x"), &e->err), &e->err);
    assert_ok(store_put_commit(w, NULL, e->a, &o, &e->err), &e->err);
    assert_int_equal(e->requests, 5);
}

static void test_fence(void **state)
{
    Env *e = *state;
    StrVec within = {0};
    Str got;
    ObjectInfos all = {0};
    vec_push(e->a, &within, S("s3://b/t"));
    vec_push(e->a, &within, S("s3a://c/"));
    store_close(e->s);
    e->closed = 0;
    open_store(e, &within);
    put_object(e, S("/b/t/x"), S("x"));
    put_object(e, S("/b/tt/x"), S("x"));
    put_object(e, S("/c/x"), S("x"));
    expect(e, "s3://b/t/x", "x");
    expect(e, "s3://c/x", "x");
    e->requests = 0;
    assert_status(store_read(e->s, e->a, S("s3://b/tt/x"), 9, &got, &e->err), E_DENIED);
    assert_status(store_put(e->s, S("s3://d/x"), S("x"), &e->err), E_DENIED);
    assert_status(store_delete(e->s, S("s3://b/tt/x"), &e->err), E_DENIED);
    assert_status(store_list_all(e->s, e->a, S("s3://b/"), &all, &e->err), E_DENIED);
    assert_status(store_local_path(e->s, e->a, S("s3://b/tt/x"), &got, &e->err), E_DENIED);
    assert_int_equal(e->requests, 0);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_objects), T(test_what_is_not_there), T(test_list), T(test_retries), T(test_lies), T(test_conditions), T(test_expired_keys), T(test_parts), T(test_lost_completion),
        T(test_adopt), T(test_cache), T(test_dead_owner), T(test_cache_over_cuts), T(test_cache_together), T(test_prefetch), T(test_host_style), T(test_fence), T(test_region_elsewhere), T(test_other_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* test_s3.c - the S3 door over HTTP on a memory store: operations, conditions, checksums, and when rights are asked. */
#include "door/s3/s3door.h"
#include "test.h"

static Arena *a;
static Error err;
static Store *store;
static S3Door *door;
static HttpServer *server;
static Str asked;                       /* actions in the order they were asked for */
static const char *deny;                /* "<n>:<action>": the n-th question for it is refused */
static int64_t deny_count;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static Status secret(void *ctx, Arena *arena, const HttpRequest *r UNUSED, const SigClaim *c, Str *ret, void **principal, Error *e)
{
    (void)arena;
    if (!str_eq(c->access_key, S("AK"))) {
        Status st = FAIL(e, E_AUTH, "The AWS Access Key Id you provided does not exist in our records.");
        strcpy(e->kind, "InvalidAccessKeyId");
        return st;
    }
    *ret = S("SK");
    *principal = ctx;
    return OK;
}

static Status allow(void *ctx, Arena *arena, void *principal, const char *action, Str bucket, Str key, const Props *context UNUSED, Error *e)
{
    (void)ctx, (void)arena;
    Str number, name;
    int64_t n = 0;
    pthread_mutex_lock(&mu);
    asked = str_fmt(a, STR_FMT "%s " STR_FMT "/" STR_FMT ";", STR_ARG(asked), action + 3, STR_ARG(bucket), STR_ARG(key));
    bool refuse = !principal;
    if (deny && str_cut(str_c(deny), ':', &number, &name) && str_to_i64(number, &n) && str_eq(name, str_c(action + 3)))
        refuse = ++deny_count == n;
    pthread_mutex_unlock(&mu);
    return refuse ? FAIL(e, E_PROTECTED, "no: system-managed materialized view") : OK;
}

static void handle(void *d, HttpRequest *r, HttpAnswer *ret)
{
    s3_handle(d, r, ret);
}

static int setup(void **state)
{
    (void)state;
    a = arena_create();
    asked = (Str){0};
    deny = NULL;
    deny_count = 0;
    BucketInfo b = { .name = S("bkt") };
    HttpServerOptions o = { .addr = S("127.0.0.1"), .name = "lake" };
    assert_ok(store_open_memory(&store, &err), &err);
    assert_ok(store_bucket_create(store, &b, &err), &err);
    S3DoorOptions d = { .store = store, .hooks = { .ctx = &store, .secret = secret, .allow = allow }, .region = S("r"), .owner_id = S("me"), .owner_name = S("me") };
    door = s3_door_new(&d);
    assert_ok(http_serve(&o, handle, door, &server, &err), &err);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    http_server_stop(server, 1);
    s3_door_free(door);
    store_close(store);
    arena_destroy(a);
    return 0;
}

/* headers: "name: value\n…" */
static HttpReply call(const char *method, const char *target, const char *headers, const char *body)
{
    static const AwsKeys keys = { { "AK", 2 }, { "SK", 2 }, { NULL, 0 } };
    HttpReply r;
    HttpCall c = { .method = method, .url = str_fmt(a, "http://127.0.0.1:%d%s", http_server_port(server), target), .body = str_c(body),
                   .sign = &keys, .service = S("s3"), .region = S("r") };
    for (Str rest = str_c(headers), line, name, value; str_cut(rest, '\n', &line, &rest) || line.n;) {
        if (str_cut(line, ':', &name, &value))
            props_set(a, &c.headers, name, str_trim(value));
    }
    assert_ok(http_call(a, &c, &r, &err), &err);
    return r;
}

static void expect(HttpReply r, int status, const char *in_body)
{
    if (r.status != status || str_find(r.body, str_c(in_body)) < 0)
        fail_msg("%d " STR_FMT " is not %d %s", r.status, STR_ARG(r.body), status, in_body);
}

static Str header(HttpReply r, const char *name)
{
    return props_get(&r.headers, str_c(name), (Str){0});
}

static void test_object(void **state)
{
    (void)state;
    HttpReply r = call("PUT", "/bkt/a%2Fb%20c", "Content-Type: text/x\nx-amz-meta-m: v\nContent-Encoding: aws-chunked, gzip\n", "hello");
    expect(r, 200, "");
    assert_str(header(r, "etag"), "\"5d41402abc4b2a76b9719d911017c592\"");
    r = call("GET", "/bkt/a%2fb%20c", "", "");
    expect(r, 200, "hello");
    assert_str(header(r, "content-type"), "text/x");
    assert_str(header(r, "x-amz-meta-m"), "v");
    assert_str(header(r, "content-encoding"), "gzip");
    r = call("HEAD", "/bkt/a/b%20c", "", "");
    assert_str(header(r, "content-length"), "5");
    r = call("GET", "/bkt/a/b%20c?response-content-type=x/y", "Range: bytes=1-2\n", "");
    expect(r, 206, "el");
    assert_str(header(r, "content-range"), "bytes 1-2/5");
    assert_str(header(r, "content-type"), "x/y");
    expect(call("GET", "/bkt/a/b%20c", "Range: bytes=-2\n", ""), 206, "lo");
    expect(call("GET", "/bkt/a/b%20c", "Range: bytes=5-\n", ""), 416, "InvalidRange");
    expect(call("GET", "/bkt/a/b%20c", "Range: bytes=3-1\n", ""), 200, "hello");
    expect(call("GET", "/bkt/none", "", ""), 404, "NoSuchKey");
    expect(call("GET", "/none/none", "", ""), 404, "NoSuchBucket");
    expect(call("GET", "/bkt/a?versionId=x", "", ""), 404, "NoSuchVersion");
    expect(call("GET", "/bkt/%ff", "", ""), 400, "InvalidURI");
    expect(call("PATCH", "/bkt/a", "", ""), 405, "MethodNotAllowed");
    expect(call("DELETE", "/bkt/a/b%20c", "", ""), 204, "");
    expect(call("DELETE", "/bkt/a/b%20c", "", ""), 204, "");
}

static void test_conditions(void **state)
{
    (void)state;
    Str etag = header(call("PUT", "/bkt/k", "If-None-Match: *\n", "1"), "etag");
    expect(call("PUT", "/bkt/k", "If-None-Match: *\n", "2"), 412, "PreconditionFailed");
    expect(call("PUT", "/bkt/k", "If-Match: \"x\"\n", "2"), 412, "PreconditionFailed");
    expect(call("PUT", "/bkt/none", "If-Match: \"x\"\n", "2"), 404, "NoSuchKey");
    expect(call("PUT", "/bkt/k", str_fmt(a, "If-Match: " STR_FMT "\n", STR_ARG(etag)).p, "1"), 200, "");
    expect(call("GET", "/bkt/k", str_fmt(a, "If-None-Match: \"y\", " STR_FMT "\n", STR_ARG(etag)).p, ""), 304, "");
    expect(call("GET", "/bkt/k", "If-Match: \"y\"\n", ""), 412, "PreconditionFailed");
    expect(call("GET", "/bkt/k", "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT\n", ""), 304, "");
    expect(call("GET", "/bkt/k", "If-Unmodified-Since: Fri, 01 Jan 2010 00:00:00 GMT\n", ""), 412, "");
    expect(call("DELETE", "/bkt/k", "If-Match: \"y\"\n", ""), 412, "PreconditionFailed");
}

static void test_checksums(void **state)
{
    (void)state;
    expect(call("PUT", "/bkt/k", "Content-MD5: XUFAKrxLKna5cZ2REBfFkg==\nx-amz-checksum-crc32: NhCmhg==\n", "hello"), 200, "");
    assert_str(header(call("HEAD", "/bkt/k", "x-amz-checksum-mode: ENABLED\n", ""), "x-amz-checksum-crc32"), "NhCmhg==");
    expect(call("PUT", "/bkt/k", "Content-MD5: XUFAKrxLKna5cZ2REBfFkg==\n", "hellO"), 400, "BadDigest");
    expect(call("PUT", "/bkt/k", "Content-MD5: abc\n", "hello"), 400, "InvalidDigest");
    expect(call("PUT", "/bkt/k", "x-amz-checksum-crc32c: NhCmhg==\n", "hello"), 400, "BadDigest");
    expect(call("GET", "/bkt/k", "", ""), 200, "hello");
}

static void test_list(void **state)
{
    static const char *const keys[] = { "/bkt/a%2B", "/bkt/d/1", "/bkt/d/2", "/bkt/z" };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        expect(call("PUT", keys[i], "", "x"), 200, "");
    expect(call("GET", "/bkt?list-type=2&delimiter=/&encoding-type=url", "", ""), 200, "<Key>a%2B</Key>");
    HttpReply r = call("GET", "/bkt?list-type=2&delimiter=/&max-keys=2", "", "");
    expect(r, 200, "<CommonPrefixes><Prefix>d/</Prefix></CommonPrefixes>");
    expect(r, 200, "<IsTruncated>true</IsTruncated>");
    expect(r, 200, "<NextContinuationToken>ZC8=</NextContinuationToken>");
    r = call("GET", "/bkt?list-type=2&delimiter=/&max-keys=2&continuation-token=ZC8%3D", "", "");
    expect(r, 200, "<KeyCount>1</KeyCount>");
    expect(r, 200, "<Key>z</Key>");
    expect(call("GET", "/bkt?marker=d/1&max-keys=1", "", ""), 200, "<Key>d/2</Key>");
    expect(call("GET", "/bkt?max-keys=x", "", ""), 400, "InvalidArgument");
    expect(call("GET", "/bkt?versions&prefix=z", "", ""), 200, "<VersionId>null</VersionId>");
    expect(call("POST", "/bkt?delete", "", "<Delete><Object><Key>z</Key></Object><Object><Key>none</Key></Object></Delete>"), 200, "<Deleted><Key>none</Key></Deleted>");
    expect(call("DELETE", "/bkt", "", ""), 409, "BucketNotEmpty");
}

static void test_copy(void **state)
{
    (void)state;
    expect(call("PUT", "/bkt/a%3F", "x-amz-meta-m: v\nx-amz-tagging: t=1\n", "text"), 200, "");
    expect(call("PUT", "/bkt/b", "x-amz-copy-source: bkt/a%3F\n", ""), 200, "<CopyObjectResult");
    HttpReply r = call("GET", "/bkt/b", "", "");
    expect(r, 200, "text");
    assert_str(header(r, "x-amz-meta-m"), "v");
    assert_str(header(r, "x-amz-tagging-count"), "1");
    expect(call("PUT", "/bkt/b", "x-amz-copy-source: /bkt/b\n", ""), 400, "InvalidRequest");
    expect(call("PUT", "/bkt/b", "x-amz-copy-source: /bkt/b\nx-amz-metadata-directive: REPLACE\nx-amz-meta-n: w\n", ""), 200, "");
    r = call("HEAD", "/bkt/b", "", "");
    assert_str(header(r, "x-amz-meta-m"), "");
    assert_str(header(r, "x-amz-meta-n"), "w");
    expect(call("PUT", "/bkt/c", "x-amz-copy-source: /bkt/none\n", ""), 404, "NoSuchKey");
    expect(call("GET", "/bkt/b?tagging", "", ""), 200, "<Key>t</Key><Value>1</Value>");
}

static Str between(Str s, const char *from, const char *to)
{
    ptrdiff_t i = str_find(s, str_c(from));
    assert_true(i >= 0);
    Str rest = str_from(s, (size_t)i + strlen(from));
    return str_dup(a, str_sub(rest, 0, (size_t)str_find(rest, str_c(to))));
}

static void test_multipart(void **state)
{
    (void)state;
    HttpReply r = call("POST", "/bkt/m?uploads", "x-amz-checksum-algorithm: CRC32\nx-amz-checksum-type: FULL_OBJECT\n", "");
    Str id = between(r.body, "<UploadId>", "<");
    const char *part1 = str_fmt(a, "/bkt/m?partNumber=1&uploadId=" STR_FMT, STR_ARG(id)).p, *upload = str_fmt(a, "/bkt/m?uploadId=" STR_FMT, STR_ARG(id)).p;
    char *big = arena_alloc(a, 5 * 1024 * 1024 + 1);
    memset(big, 'p', 5 * 1024 * 1024);
    Str e1 = header(call("PUT", part1, "", big), "etag");
    Str e2 = header(call("PUT", str_fmt(a, "/bkt/m?partNumber=2&uploadId=" STR_FMT, STR_ARG(id)).p, "", "tail"), "etag");
    expect(call("GET", upload, "", ""), 200, "<PartNumber>2</PartNumber>");
    expect(call("GET", "/bkt?uploads", "", ""), 200, id.p);
    const char *parts = str_fmt(a, "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" STR_FMT "</ETag></Part><Part><PartNumber>2</PartNumber><ETag>" STR_FMT
                                   "</ETag></Part></CompleteMultipartUpload>", STR_ARG(e1), STR_ARG(e2)).p;
    expect(call("POST", upload, "x-amz-checksum-crc32: AAAAAA==\n", parts), 400, "BadDigest");
    r = call("POST", upload, "", parts);
    Str whole = str_cat(a, str_n(big, 5 * 1024 * 1024), S("tail"));
    expect(r, 200, str_fmt(a, "<ChecksumCRC32>" STR_FMT "</ChecksumCRC32>", STR_ARG(base64_encode(a, hash_bytes(a, HASH_CRC32, whole)))).p);
    expect(call("POST", upload, "", parts), 200, between(r.body, "<ETag>", "<").p);          /* sent again: the same answer */
    r = call("GET", "/bkt/m?partNumber=2", "", "");
    expect(r, 206, "tail");
    assert_str(header(r, "x-amz-mp-parts-count"), "2");
    expect(call("GET", "/bkt/m?partNumber=3", "", ""), 400, "InvalidPart");
    expect(call("GET", "/bkt/m?attributes", "x-amz-object-attributes: ObjectParts,ObjectSize\n", ""), 200, "<ObjectSize>5242884</ObjectSize>");
    expect(call("PUT", part1, "", "x"), 404, "NoSuchUpload");
}

static void test_bucket(void **state)
{
    (void)state;
    expect(call("PUT", "/new-bucket", "", "<CreateBucketConfiguration><LocationConstraint>eu-x</LocationConstraint></CreateBucketConfiguration>"), 200, "");
    expect(call("GET", "/new-bucket?location", "", ""), 200, ">eu-x</LocationConstraint>");
    expect(call("PUT", "/new-bucket", "", ""), 409, "BucketAlreadyOwnedByYou");
    expect(call("PUT", "/New_Bucket", "", ""), 400, "InvalidBucketName");
    expect(call("PUT", "/127.0.0.1", "", ""), 400, "InvalidBucketName");
    expect(call("GET", "/", "", ""), 200, "<Name>new-bucket</Name>");
    expect(call("GET", "/new-bucket?policy", "", ""), 404, "NoSuchBucketPolicy");
    expect(call("PUT", "/new-bucket?policy", "", "{\"Statement\": []}"), 204, "");
    expect(call("PUT", "/new-bucket?policy", "", "{"), 400, "MalformedPolicy");
    expect(call("GET", "/new-bucket?policy", "", ""), 200, "{\"Statement\": []}");
    expect(call("DELETE", "/new-bucket?policy", "", ""), 204, "");
    expect(call("GET", "/new-bucket?cors", "", ""), 404, "NoSuchCORSConfiguration");
    expect(call("PUT", "/new-bucket?lifecycle", "", "<x/>"), 501, "NotImplemented");
    expect(call("GET", "/new-bucket?acl", "", ""), 200, "FULL_CONTROL");
    expect(call("DELETE", "/new-bucket", "", ""), 204, "");
    expect(call("HEAD", "/new-bucket", "", ""), 404, "");
}

static void test_versions(void **state)
{
    (void)state;
    expect(call("PUT", "/bkt?versioning", "", "<VersioningConfiguration><Status>Maybe</Status></VersioningConfiguration>"), 400, "IllegalVersioning");
    expect(call("PUT", "/bkt?versioning", "", "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"), 200, "");
    expect(call("GET", "/bkt?versioning", "", ""), 200, "<Status>Enabled</Status>");
    Str v1 = header(call("PUT", "/bkt/k", "", "one"), "x-amz-version-id"), v2 = header(call("PUT", "/bkt/k", "", "two"), "x-amz-version-id");
    const char *first = str_fmt(a, "/bkt/k?versionId=" STR_FMT, STR_ARG(v1)).p;
    expect(call("GET", first, "", ""), 200, "one");
    expect(call("PUT", "/bkt/copy", str_fmt(a, "x-amz-copy-source: bkt/k?versionId=" STR_FMT "\n", STR_ARG(v1)).p, ""), 200, "");
    expect(call("GET", "/bkt/copy", "", ""), 200, "one");
    HttpReply r = call("DELETE", "/bkt/k", "", "");
    assert_str(header(r, "x-amz-delete-marker"), "true");
    Str marker = header(r, "x-amz-version-id");
    expect(call("GET", "/bkt/k", "", ""), 404, "NoSuchKey");
    expect(call("GET", str_fmt(a, "/bkt/k?versionId=" STR_FMT, STR_ARG(marker)).p, "", ""), 405, "MethodNotAllowed");
    r = call("GET", "/bkt?versions&prefix=k", "", "");
    expect(r, 200, str_fmt(a, "<DeleteMarker><Key>k</Key><VersionId>" STR_FMT "</VersionId><IsLatest>true</IsLatest>", STR_ARG(marker)).p);
    expect(r, 200, str_fmt(a, "<Version><Key>k</Key><VersionId>" STR_FMT "</VersionId><IsLatest>false</IsLatest>", STR_ARG(v2)).p);
    expect(call("DELETE", str_fmt(a, "/bkt/k?versionId=" STR_FMT, STR_ARG(marker)).p, "", ""), 204, "");
    expect(call("GET", "/bkt/k", "", ""), 200, "two");
    expect(call("GET", "/bkt/k?versionId=none", "", ""), 404, "NoSuchVersion");
}

static void test_rights(void **state)
{
    (void)state;
    expect(call("PUT", "/bkt/k", "", "1"), 200, "");
    assert_str(asked, "PutObject bkt/k;PutObject bkt/k;");
    deny = "2:PutObject";
    expect(call("PUT", "/bkt/k", "", "2"), 403, "system-managed materialized view");
    expect(call("GET", "/bkt/k", "", ""), 200, "1");
    asked = (Str){0};
    expect(call("PUT", "/bkt/c", "x-amz-copy-source: bkt/k\n", ""), 200, "");
    assert_str(asked, "PutObject bkt/c;GetObject bkt/k;PutObject bkt/c;");
    asked = (Str){0};
    expect(call("GET", "/bkt?list-type=2&prefix=a%2Fb/", "", ""), 200, "<Prefix>a/b/</Prefix>");
    expect(call("GET", "/bkt?versions&prefix=k", "", ""), 200, "<Key>k</Key>");
    expect(call("GET", "/bkt?uploads", "", ""), 200, "");
    expect(call("HEAD", "/bkt?prefix=", "", ""), 200, "");
    assert_str(asked, "ListBucket bkt/a/b/;ListBucketVersions bkt/k;ListBucketMultipartUploads bkt/;ListBucket bkt/;");
    deny = "1:DeleteObject";
    deny_count = 0;
    HttpReply r = call("POST", "/bkt?delete", "", "<Delete><Object><Key>k</Key></Object><Object><Key>c</Key></Object></Delete>");
    expect(r, 200, "<Error><Key>k</Key><Code>AccessDenied</Code>");
    expect(r, 200, "<Deleted><Key>c</Key></Deleted>");
    HttpReply plain;
    HttpCall c = { .method = "GET", .url = str_fmt(a, "http://127.0.0.1:%d/bkt/k", http_server_port(server)) };
    assert_ok(http_call(a, &c, &plain, &err), &err);
    expect(plain, 403, "AccessDenied");
    AwsKeys wrong = { S("AK"), S("guess"), (Str){0} }, unknown = { S("XX"), S("SK"), (Str){0} };
    c = (HttpCall){ .method = "GET", .url = c.url, .sign = &wrong, .service = S("s3"), .region = S("r") };
    assert_ok(http_call(a, &c, &plain, &err), &err);
    expect(plain, 403, "SignatureDoesNotMatch");
    c.sign = &unknown;
    assert_ok(http_call(a, &c, &plain, &err), &err);
    expect(plain, 403, "InvalidAccessKeyId");
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = { T(test_object), T(test_conditions), T(test_checksums), T(test_list), T(test_copy), T(test_multipart),
                                        T(test_bucket), T(test_versions), T(test_rights) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

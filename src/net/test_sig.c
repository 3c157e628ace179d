/* SPDX-License-Identifier: Apache-2.0 */
/* test_sig.c - SigV4 against the vectors that AWS publishes, and against changes that must break a signature. */
#include "net/net_int.h"
#include "test.h"

#define SECRET S("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
#define EMPTY  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static Arena *a;
static Error err;

static int setup(void **state) { (void)state; a = arena_create(); return 0; }
static int teardown(void **state) { (void)state; arena_destroy(a); return 0; }

static HttpRequest request(const char *method, const char *path, const char *query)
{
    HttpRequest r = { .arena = a, .method = str_c(method), .path = str_c(path), .query = str_c(query) };
    assert_ok(url_query_parse(a, r.query, &r.args, &err), &err);
    return r;
}

static void header(HttpRequest *r, const char *name, const char *value)
{
    props_set(a, &r->headers, str_c(name), str_c(value));
}

static Status verify(HttpRequest *r, const char *now, const char *body_hash)
{
    SigClaim c;
    int64_t ms;
    assert_true(iso8601_parse(str_c(now), &ms));
    TRY(sig_parse(a, r, &c, &err));
    return sig_verify(a, r, &c, SECRET, ms, str_c(body_hash), &err);
}

#define CRED_S3 "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"

/* Amazon S3 API reference, "Signature Calculations for the Authorization Header", first example. */
static HttpRequest get_object(void)
{
    HttpRequest r = request("GET", "/test.txt", "");
    header(&r, "host", "examplebucket.s3.amazonaws.com");
    header(&r, "range", "bytes=0-9");
    header(&r, "x-amz-content-sha256", EMPTY);
    header(&r, "x-amz-date", "20130524T000000Z");
    header(&r, "authorization", CRED_S3 "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
           "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    return r;
}

static void test_s3_get(void **state)
{
    (void)state;
    HttpRequest r = get_object();
    assert_ok(verify(&r, "20130524T001000Z", ""), &err);
    assert_status(verify(&r, "20130524T001600Z", ""), E_AUTH);
    assert_string_equal(err.kind, "RequestTimeTooSkewed");
    header(&r, "range", "bytes=0-8");
    assert_status(verify(&r, "20130524T001000Z", ""), E_AUTH);
    assert_string_equal(err.kind, "SignatureDoesNotMatch");
}

static void test_s3_put(void **state)
{
    (void)state;
    HttpRequest r = request("PUT", "/test$file.text", "");
    header(&r, "host", "examplebucket.s3.amazonaws.com");
    header(&r, "date", "Fri, 24 May 2013 00:00:00 GMT");
    header(&r, "x-amz-storage-class", "REDUCED_REDUNDANCY");
    header(&r, "x-amz-content-sha256", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
    header(&r, "x-amz-date", "20130524T000000Z");
    header(&r, "authorization", CRED_S3 "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,"
           "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    assert_ok(verify(&r, "20130524T000000Z", ""), &err);
    r.path = S("/test%24file.text");
    assert_ok(verify(&r, "20130524T000000Z", ""), &err);
    header(&r, "x-amz-acl", "public-read");
    assert_status(verify(&r, "20130524T000000Z", ""), E_AUTH);
    assert_non_null(strstr(err.message, "x-amz-acl"));
}

static void test_s3_query(void **state)
{
    (void)state;
    HttpRequest r = request("GET", "/", "max-keys=2&prefix=J");
    header(&r, "host", "examplebucket.s3.amazonaws.com");
    header(&r, "x-amz-content-sha256", EMPTY);
    header(&r, "x-amz-date", "20130524T000000Z");
    header(&r, "authorization", CRED_S3 "SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
           "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
    assert_ok(verify(&r, "20130524T000000Z", ""), &err);
    r.query = S("prefix=%4a&max-keys=2");
    assert_ok(verify(&r, "20130524T000000Z", ""), &err);
    r.query = S("prefix=J&max-keys=3");
    assert_status(verify(&r, "20130524T000000Z", ""), E_AUTH);
    r.query = S("lifecycle");
    header(&r, "authorization", CRED_S3 "SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
           "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    assert_ok(verify(&r, "20130524T000000Z", ""), &err);
}

static void test_presigned(void **state)
{
    (void)state;
    HttpRequest r = request("GET", "/test.txt", "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
        "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
        "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
    header(&r, "host", "examplebucket.s3.amazonaws.com");
    assert_ok(verify(&r, "20130524T235959Z", ""), &err);
    assert_status(verify(&r, "20130525T000001Z", ""), E_AUTH);
    assert_string_equal(err.kind, "AccessDenied");
    assert_string_equal(err.message, "Request has expired");
    r.path = S("/test2.txt");
    assert_status(verify(&r, "20130524T000001Z", ""), E_AUTH);
}

/* Path style, as boto3 makes it for an endpoint of one's own. */
static void test_version2(void **state)
{
    (void)state;
    HttpRequest r = request("GET", "/b/k%20e", "response-content-type=x%2Fy&AWSAccessKeyId=AK&Signature=%2BVbcr%2F8ycx1upQSKzS9rlKNaX%2Bc%3D&Expires=1800000000");
    header(&r, "host", "127.0.0.1:9");
    assert_ok(verify(&r, "20261130T000000Z", ""), &err);
    assert_status(verify(&r, "20290101T000000Z", ""), E_AUTH);
    assert_string_equal(err.message, "Request has expired");
    r.method = S("PUT");
    assert_status(verify(&r, "20261130T000000Z", ""), E_AUTH);
    assert_string_equal(err.kind, "SignatureDoesNotMatch");
}

/* AWS General Reference, "Examples of the complete Signature Version 4 signing process": iam ListUsers. */
static void test_iam(void **state)
{
    (void)state;
    HttpRequest r = request("GET", "/", "Action=ListUsers&Version=2010-05-08");
    header(&r, "host", "iam.amazonaws.com");
    header(&r, "content-type", "application/x-www-form-urlencoded; charset=utf-8");
    header(&r, "x-amz-date", "20150830T123600Z");
    header(&r, "authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
           "SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
    SigClaim c;
    Str secret = S("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");       /* other examples have a slash for the plus */
    assert_ok(sig_parse(a, &r, &c, &err), &err);
    assert_ok(sig_verify(a, &r, &c, secret, c.time_ms, S(EMPTY), &err), &err);
    assert_status(sig_verify(a, &r, &c, secret, c.time_ms, S("00"), &err), E_AUTH);
}

static void test_double_encoding(void **state)
{
    (void)state;
    assert_str(sig_canonical_path(a, S("/buckets/arn%3Aaws:s3/x"), S("s3tables")), "/buckets/arn%253Aaws%3As3/x");
    assert_str(sig_canonical_path(a, S("/buckets/arn%3aaws:s3//x"), S("s3")), "/buckets/arn%3Aaws%3As3//x");
    assert_str(sig_canonical_path(a, S("/a/./b/../c//d/"), S("glue")), "/a/c/d/");
    assert_str(sig_canonical_path(a, S("/a/../b%7e"), S("s3")), "/a/../b~");
    assert_str(sig_canonical_query(a, S("b=2&a=%20+&b=1&c"), (Str){0}), "a=%20%20&b=1&b=2&c=");
}

static void refuse(const char *auth, const char *date, const char *kind)
{
    SigClaim c;
    HttpRequest r = request("GET", "/", "");
    header(&r, "host", "h");
    header(&r, "authorization", auth);
    header(&r, "x-amz-date", date);
    assert_status(sig_parse(a, &r, &c, &err), E_AUTH);
    assert_string_equal(err.kind, kind);
}

static void test_malformed(void **state)
{
    (void)state;
    SigClaim c;
    HttpRequest r = request("GET", "/", "");
    assert_ok(sig_parse(a, &r, &c, &err), &err);
    assert_int_equal(c.access_key.n, 0);
    refuse("AWS4-HMAC-SHA256", "20150830T123600Z", "AuthorizationHeaderMalformed");
    refuse("AWS4-HMAC-SHA256 Credential=A/B, SignedHeaders=host, Signature=0", "20150830T123600Z", "AuthorizationHeaderMalformed");
    refuse(CRED_S3 "SignedHeaders=host,Signature=" EMPTY, "yesterday", "AccessDenied");
    refuse(CRED_S3 "SignedHeaders=host,Signature=" EMPTY, "20150830T123600Z", "AuthorizationHeaderMalformed");
    refuse(CRED_S3 "SignedHeaders=,Signature=" EMPTY, "20130524T123600Z", "AuthorizationHeaderMalformed");
    refuse("AWS key:signature", "20130524T123600Z", "InvalidRequest");
}

static void test_sign_and_verify(void **state)
{
    (void)state;
    AwsKeys k = { S("AK"), SECRET, S("token") };
    Props h = {0};
    int64_t now = 1369353600000;
    SigClaim c;
    assert_ok(sig_sign(a, "POST", S("http://h:80/x%3Ay/z?b=1&a"), &h, S("body"), &k, S("s3tables"), S("r"), now, &err), &err);
    HttpRequest r = request("POST", "/x%3Ay/z", "b=1&a");
    r.headers = h;
    header(&r, "host", "h");
    assert_ok(sig_parse(a, &r, &c, &err), &err);
    assert_str(c.session_token, "token");
    assert_ok(sig_verify(a, &r, &c, SECRET, now, (Str){0}, &err), &err);
    assert_status(sig_verify(a, &r, &c, S("other"), now, (Str){0}, &err), E_AUTH);
}

/* ---- aws-chunked bodies: the S3 API reference's example of 66,560 bytes in two chunks ------------------------------- */

static HttpExchange exchange;

static HttpRequest chunked(const char *hash, Str raw, SigClaim *c)
{
    HttpRequest r = request("PUT", "/examplebucket/chunkObject.txt", "");
    exchange = (HttpExchange){ .mode = BODY_INLINE, .body = str_z(a, raw), .have = raw.n };
    r.x = &exchange;
    header(&r, "host", "s3.amazonaws.com");
    header(&r, "x-amz-date", "20130524T000000Z");
    header(&r, "x-amz-storage-class", "REDUCED_REDUNDANCY");
    header(&r, "x-amz-content-sha256", hash);
    header(&r, "content-encoding", "aws-chunked");
    header(&r, "x-amz-decoded-content-length", "66560");
    header(&r, "content-length", "66824");
    header(&r, "authorization", CRED_S3 "SignedHeaders=content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class,"
           "Signature=4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9");
    assert_ok(sig_parse(a, &r, c, &err), &err);
    return r;
}

static Str example_body(const char *last)
{
    StrBuf b = sb_new(a);
    char *text = arena_alloc(a, 65536);
    memset(text, 'a', 65536);
    sb_addc(&b, "10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n");
    sb_add(&b, str_n(text, 65536));
    sb_addc(&b, "\r\n400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n");
    sb_add(&b, str_n(text, 1024));
    sb_fmt(&b, "\r\n0;chunk-signature=%s\r\n\r\n", last);
    return sb_str(&b);
}

static Status read_body(HttpRequest *r, const SigClaim *c, size_t step, size_t *total, Props *trailers)
{
    CLEANUP(sig_body_closep) SigBody *b = NULL;
    char buf[8192];
    *total = 0;
    TRY(sig_body_open(r, c, SECRET, &b, &err));
    for (size_t n = 1; n;) {
        TRY(sig_body_read(b, buf, step, &n, &err));
        *total += n;
    }
    *trailers = *sig_body_trailers(b);
    return OK;
}

static void test_chunked(void **state)
{
    (void)state;
    SigClaim c;
    size_t total;
    Props trailers;
    Str body = example_body("b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9");
    HttpRequest r = chunked("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", body, &c);
    int64_t ms;
    assert_true(iso8601_parse(S("20130524T000000Z"), &ms));
    assert_ok(sig_verify(a, &r, &c, SECRET, ms, (Str){0}, &err), &err);
    assert_ok(read_body(&r, &c, 8192, &total, &trailers), &err);
    assert_int_equal(total, 66560);

    exchange.at = 0;
    exchange.body[100] = 'b';
    assert_status(read_body(&r, &c, 1000, &total, &trailers), E_AUTH);
    assert_string_equal(err.kind, "SignatureDoesNotMatch");

    Str forged = example_body("0000000000000000000000000000000000000000000000000000000000000000");
    r = chunked("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", forged, &c);
    assert_status(read_body(&r, &c, 8192, &total, &trailers), E_AUTH);

    for (size_t cut = 1; cut < body.n; cut += body.n / 13) {
        r = chunked("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", str_sub(body, 0, body.n - cut), &c);
        Status st = read_body(&r, &c, 8192, &total, &trailers);
        if (cut > 2)
            assert_status(st, E_INVALID);
    }
}

static void test_unsigned_trailer(void **state)
{
    (void)state;
    SigClaim c;
    size_t total;
    Props trailers;
    HttpRequest r = chunked("STREAMING-UNSIGNED-PAYLOAD-TRAILER", S("5\r\nhello\r\nA\r\n0123456789\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"), &c);
    header(&r, "x-amz-decoded-content-length", "15");
    assert_ok(read_body(&r, &c, 3, &total, &trailers), &err);
    assert_int_equal(total, 15);
    assert_str(props_get(&trailers, S("x-amz-checksum-crc32"), S("")), "AAAAAA==");
    header(&r, "x-amz-decoded-content-length", "16");
    exchange.at = 0;
    assert_status(read_body(&r, &c, 8192, &total, &trailers), E_INVALID);
    assert_string_equal(err.kind, "IncompleteBody");
    static const char *const bad[] = { "", "5", "5\r\nhel", "zz\r\n", "-5\r\nhello\r\n0\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "99999999999999\r\nx",
                                       "0\r\nno colon\r\n\r\n", ";\r\n" };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        r = chunked("STREAMING-UNSIGNED-PAYLOAD-TRAILER", str_c(bad[i]), &c);
        header(&r, "x-amz-decoded-content-length", "5");
        assert_status(read_body(&r, &c, 8192, &total, &trailers), E_INVALID);
    }
}

static void test_plain_body(void **state)
{
    (void)state;
    SigClaim c;
    size_t total;
    Props trailers;
    HttpRequest r = chunked("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", S("hello"), &c);
    assert_ok(read_body(&r, &c, 2, &total, &trailers), &err);
    r = chunked("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", S("hellO"), &c);
    assert_status(read_body(&r, &c, 8192, &total, &trailers), E_INVALID);
    assert_string_equal(err.kind, "XAmzContentSHA256Mismatch");
    r = chunked("UNSIGNED-PAYLOAD", S("hellO"), &c);
    assert_ok(read_body(&r, &c, 8192, &total, &trailers), &err);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_s3_get), T(test_s3_put), T(test_s3_query), T(test_presigned), T(test_version2), T(test_iam), T(test_double_encoding), T(test_malformed),
        T(test_sign_and_verify), T(test_chunked), T(test_unsigned_trailer), T(test_plain_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* test_http.c - server and client over loopback: raw targets, bodies small, large, chunked and unread, Expect, streams, limits. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/net.h"
#include "test.h"

static Arena *a;
static Error err;
static HttpServer *server;

typedef struct Countdown { int left; } Countdown;

static Status pull(void *ctx, char *buf, size_t cap, size_t *n, Error *e)
{
    Countdown *c = ctx;
    (void)e;
    *n = c->left ? min_size(cap, 1000) : 0;
    memset(buf, 'p', *n);
    c->left -= c->left > 0;
    return OK;
}

static void echo_length(HttpRequest *r, HttpAnswer *ans)
{
    char buf[3000];
    size_t total = 0;
    uint32_t sum = 0;
    Error e;
    for (size_t n = 1; n; total += n) {
        if (http_body_read(r, buf, sizeof buf, &n, &e) != OK) {
            ans->status = 400;
            return;
        }
        for (size_t i = 0; i < n; i++)
            sum = sum * 31 + (unsigned char)buf[i];
    }
    ans->body = str_fmt(r->arena, "%zu %u", total, sum);
}

static void handle(void *ctx, HttpRequest *r, HttpAnswer *ans)
{
    (void)ctx;
    if (str_starts(r->path, S("/echo"))) {
        echo_length(r, ans);
    } else if (str_eq(r->path, S("/refuse"))) {
        ans->status = 403;
        ans->body = S("no");
    } else if (str_eq(r->path, S("/peer"))) {
        ans->body = r->peer;
    } else if (str_eq(r->path, S("/stream"))) {
        Countdown *c = arena_new(r->arena, Countdown);
        c->left = 100;
        ans->pull = pull;
        ans->ctx = c;
        ans->length = -1;
    } else if (str_eq(r->path, S("/file"))) {
        ans->fd = open("/proc/self/exe", O_RDONLY);
        ans->offset = 1;
        ans->length = 3;
    } else if (str_eq(r->method, S("HEAD"))) {
        ans->length = 12345;
    } else {
        ans->body = str_fmt(r->arena, STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT, STR_ARG(r->method), STR_ARG(r->path), STR_ARG(r->query),
                            STR_ARG(http_header(r, "x-two")));
    }
    http_answer_header(r, ans, "X-Seen", http_arg(r, "a b", S("-")));
}

static int start(void **state)
{
    HttpServerOptions o = { .addr = S("127.0.0.1"), .idle_seconds = 2, .name = "test" };
    (void)state;
    a = arena_create();
    assert_ok(http_serve(&o, handle, NULL, &server, &err), &err);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    http_server_stop(server, 1);
    arena_destroy(a);
    return 0;
}

static HttpReply call(const char *method, const char *target, Str body)
{
    HttpReply reply;
    HttpCall c = { .method = method, .url = str_fmt(a, "http://127.0.0.1:%d%s", http_server_port(server), target), .body = body };
    assert_ok(http_call(a, &c, &reply, &err), &err);
    return reply;
}

static int dial(void)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)http_server_port(server)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval t = { 5, 0 };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
    return fd;
}

static void send_text(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* What arrives until `until` is in it or the connection ends. */
static Str receive(int fd, const char *until)
{
    StrBuf b = sb_new(a);
    char buf[4096];
    ssize_t n;
    while (str_find(sb_str(&b), str_c(until)) < 0 && (n = recv(fd, buf, sizeof buf, 0)) > 0)
        sb_add(&b, str_n(buf, (size_t)n));
    return sb_str(&b);
}

static void test_target(void **state)
{
    (void)state;
    assert_str(call("GET", "/a%2Fb//c/../%1F?x=%41&y", (Str){0}).body, "GET /a%2Fb//c/../%1F x=%41&y ");
    HttpReply r = call("GET", "/x?a+b=1%202", (Str){0});
    assert_str(props_get(&r.headers, S("x-seen"), S("")), "1 2");
    assert_int_equal(props_get(&r.headers, S("x-amz-request-id"), S("")).n, 16);
    assert_int_equal(call("GET", "/x?a=%zz", (Str){0}).status, 400);
    r = call("HEAD", "/x", (Str){0});
    assert_str(props_get(&r.headers, S("content-length"), S("")), "12345");
    int fd = dial();
    send_text(fd, "GET http://h/abs?q HTTP/1.1\r\nHost: h\r\nX-Two: 1\r\nX-Two:  2\r\n\r\n");
    Str got = receive(fd, "1, 2");
    assert_true(str_find(got, S("GET /abs q 1, 2")) > 0);
    assert_true(str_find(got, S("close")) < 0);              /* the connection stays */
    send_text(fd, "GET /next HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_true(str_find(receive(fd, "/next"), S("GET /next")) > 0);
    close(fd);
}

static Str pattern(size_t n)
{
    char *p = arena_alloc(a, n + 1);
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(i * 7);
    return str_n(p, n);
}

static Str expected(Str s)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < s.n; i++)
        sum = sum * 31 + (unsigned char)s.p[i];
    return str_fmt(a, "%zu %u", s.n, sum);
}

static void test_bodies(void **state)
{
    static const size_t sizes[] = { 0, 1, 65536, 65537, 300000, 5000000 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        Str body = pattern(sizes[i]);
        assert_str(call("PUT", "/echo", body).body, expected(body).p);
    }
    int fd = dial();
    send_text(fd, "PUT /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    assert_true(str_find(receive(fd, "5 "), expected(S("abcde"))) > 0);
    send_text(fd, "GET /again HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_true(str_find(receive(fd, "/again"), S("GET /again")) > 0);
    close(fd);
}

static void test_expect(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        int fd = dial();
        Str body = pattern(i ? 100000 : 10);
        send_text(fd, str_fmt(a, "PUT /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: %zu\r\n\r\n", body.n).p);
        assert_true(str_starts(receive(fd, "\r\n\r\n"), S("HTTP/1.1 100 Continue")));
        for (size_t at = 0; at < body.n;)
            at += (size_t)send(fd, body.p + at, body.n - at, 0);
        assert_true(str_find(receive(fd, expected(body).p), S("200 OK")) > 0);
        close(fd);
    }
    static const char *const lengths[] = { "10", "1000000" };
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        int fd = dial();
        send_text(fd, str_fmt(a, "PUT /refuse HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: %s\r\n\r\n", lengths[i]).p);
        assert_true(str_starts(receive(fd, "no"), S("HTTP/1.1 403")));
        close(fd);
    }
}

static void test_unread_body(void **state)
{
    (void)state;
    HttpReply r = call("PUT", "/refuse", pattern(3000000));
    assert_int_equal(r.status, 403);
    assert_str(r.body, "no");
}

static void test_client_leaves(void **state)
{
    (void)state;
    int fd = dial();
    send_text(fd, "PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nabc");
    usleep(50000);
    close(fd);
    fd = dial();
    send_text(fd, "PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nabc");
    assert_int_equal(receive(fd, "never").n, 0);             /* idle_seconds passed */
    close(fd);
    assert_int_equal(call("GET", "/x", (Str){0}).status, 200);
}

static void test_stream_and_file(void **state)
{
    (void)state;
    HttpReply r = call("GET", "/stream", (Str){0});
    assert_int_equal(r.body.n, 100000);
    assert_str(props_get(&r.headers, S("transfer-encoding"), S("")), "chunked");
    assert_str(call("GET", "/file", (Str){0}).body, "ELF");
}

static void test_garbage(void **state)
{
    static const char *const bad[] = { "\r\n\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x02\x00", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "PUT /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        int fd = dial();
        send_text(fd, bad[i]);
        shutdown(fd, SHUT_WR);
        Str got = receive(fd, "\r\n\r\n");
        assert_true(str_find(got, S(" 200 ")) < 0);
        close(fd);
    }
    Str longest = str_cat(a, S("/"), str_lower(a, str_n(memset(arena_alloc(a, 40001), 'A', 40000), 40000)));
    assert_int_equal(call("GET", longest.p, (Str){0}).status, 414);
    assert_int_equal(call("GET", "/x", (Str){0}).status, 200);
}

static void test_client_errors(void **state)
{
    HttpReply r;
    (void)state;
    HttpCall c = { .method = "GET", .url = S("http://127.0.0.1:1/") };
    assert_status(http_call(a, &c, &r, &err), E_UNAVAILABLE);
    c.url = str_fmt(a, "http://127.0.0.1:%d/stream", http_server_port(server));
    c.max_bytes = 1000;
    assert_status(http_call(a, &c, &r, &err), E_LIMIT);
    c.url = S("file:///etc/hostname");
    assert_status(http_call(a, &c, &r, &err), E_INVALID);
    props_set(a, &c.headers, S("x"), S("a\r\nb: c"));
    assert_status(http_call(a, &c, &r, &err), E_INVALID);
    HttpServerOptions o = { .addr = S("127.0.0.1"), .port = http_server_port(server), .name = "second" };
    HttpServer *second;
    assert_status(http_serve(&o, handle, NULL, &second, &err), E_IO);
}

static Status count_bytes(void *ctx, Str bytes, Error *e)
{
    size_t *left = ctx;
    if (bytes.n > *left)
        return FAIL(e, E_FULL, "enough");
    *left -= bytes.n;
    return OK;
}

/* The peer's port tells connections apart. */
static void test_pool_and_sink(void **state)
{
    HttpPool *pool = http_pool_new();
    HttpReply r;
    size_t left = 1000000;
    (void)state;
    HttpCall c = { .method = "GET", .url = str_fmt(a, "http://127.0.0.1:%d/peer", http_server_port(server)), .pool = pool };
    assert_ok(http_call(a, &c, &r, &err), &err);
    Str first = r.body;
    assert_ok(http_call(a, &c, &r, &err), &err);
    assert_true(str_eq(first, r.body));
    c.pool = NULL;
    assert_ok(http_call(a, &c, &r, &err), &err);
    assert_false(str_eq(first, r.body));
    c.url = str_fmt(a, "http://127.0.0.1:%d/stream", http_server_port(server));
    c.pool = pool;
    c.sink = count_bytes;
    c.sink_ctx = &left;
    assert_ok(http_call(a, &c, &r, &err), &err);
    assert_int_equal(left, 1000000 - 100 * 1000);
    assert_int_equal(r.body.n, 0);
    left = 10;
    assert_status(http_call(a, &c, &r, &err), E_FULL);
    c.url = str_fmt(a, "http://127.0.0.1:%d/refuse", http_server_port(server));
    assert_ok(http_call(a, &c, &r, &err), &err);
    assert_str(r.body, "no");
    http_pool_free(pool);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, start, stop)
    const struct CMUnitTest tests[] = {
        T(test_target), T(test_bodies), T(test_expect), T(test_unread_body), T(test_client_leaves), T(test_stream_and_file), T(test_garbage),
        T(test_client_errors), T(test_pool_and_sink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

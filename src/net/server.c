/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - the HTTP server: libmicrohttpd, one thread a connection.
 *
 * libmicrohttpd pushes a body into its callback; our handlers pull.  Three ways bring both together: without a body the
 * handler runs in the last callback; a small body is collected first, then the same; for every other body the handler runs on a
 * thread of its own and the callback lends it one received chunk at a time, so that nothing is copied twice or piles up.
 * Invariants:
 * 1. `chunk` belongs to the callback; the handler reads it only while the callback waits.
 * 2. The arena dies in `completed`, after the worker has ended.
 * 3. An answer is queued at the head (body unread, connection closes) or after the whole body; never in between. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/net_int.h"

struct HttpServer {
    struct MHD_Daemon *daemon;
    HttpHandler handler;
    void *ctx;
    Arena *a;
    int port, active;
    pthread_mutex_t mu;
    pthread_cond_t idle;
};

static Status listen_on(Str addr, int port, int *ret, int *bound, Error *err);
static Status start_daemon(HttpServer *s, const HttpServerOptions *o, int fd, Error *err);
static void *on_uri(void *cls, const char *uri, struct MHD_Connection *conn);
static enum MHD_Result on_request(void *cls, struct MHD_Connection *conn, const char *url, const char *method, const char *version,
                                  const char *data, size_t *size, void **con);
static void on_completed(void *cls, struct MHD_Connection *conn, void **con, enum MHD_RequestTerminationCode why);
static size_t keep_escapes(void *cls, struct MHD_Connection *conn, char *s);
static enum MHD_Result begin(HttpExchange *x, const char *method);
static enum MHD_Result begin_worker(HttpExchange *x);
static enum MHD_Result feed(HttpExchange *x, const char *data, size_t n);
static enum MHD_Result finish(HttpExchange *x);
static void *work(void *arg);
static void run(HttpExchange *x);
static void join_worker(HttpExchange *x);
static void count(HttpServer *s, int by);

Status http_serve(const HttpServerOptions *o, HttpHandler handler, void *ctx, HttpServer **ret, Error *err)
{
    int fd = -1, port = 0;
    TRY(listen_on(o->addr, o->port, &fd, &port, err));
    HttpServer *s = calloc(1, sizeof(*s));
    if (!s)
        abort();
    *s = (HttpServer){ .handler = handler, .ctx = ctx, .a = arena_create(), .port = port };
    pthread_mutex_init(&s->mu, NULL);
    pthread_cond_init(&s->idle, NULL);
    Status st = start_daemon(s, o, fd, err);
    if (st != OK) {
        close(fd);
        arena_destroy(s->a);
        free(s);
        return st;
    }
    *ret = s;
    return OK;
}

int http_server_port(const HttpServer *s)
{
    return s->port;
}

void http_server_stop(HttpServer *s, int grace_seconds)
{
    struct timespec until;
    if (!s)
        return;
    int fd = MHD_quiesce_daemon(s->daemon);
    if (fd >= 0)
        close(fd);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += grace_seconds;
    pthread_mutex_lock(&s->mu);
    while (s->active && pthread_cond_timedwait(&s->idle, &s->mu, &until) == 0)
        ;
    pthread_mutex_unlock(&s->mu);
    MHD_stop_daemon(s->daemon);
    pthread_mutex_destroy(&s->mu);
    pthread_cond_destroy(&s->idle);
    arena_destroy(s->a);
    free(s);
}

Status http_body_read(HttpRequest *r, char *buf, size_t cap, size_t *n, Error *err)
{
    HttpExchange *x = r->x;
    if (x->mode != BODY_WORKER) {
        *n = min_size(cap, x->have - x->at);
        if (*n)
            memcpy(buf, x->body + x->at, *n);
        x->at += *n;
        return OK;
    }
    pthread_mutex_lock(&x->mu);
    x->want = 1;
    pthread_cond_broadcast(&x->changed);
    while (!x->chunk_n && !x->eof && !x->broken)
        pthread_cond_wait(&x->changed, &x->mu);
    bool broken = x->broken;
    *n = min_size(cap, x->chunk_n);
    if (*n) {                                            /* invariant 1: the callback waits for chunk_n to reach 0 */
        memcpy(buf, x->chunk, *n);
        x->chunk += *n;
        x->chunk_n -= *n;
    }
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->mu);
    return broken ? FAIL(err, E_IO, "the client went away or stopped sending its body") : OK;
}

/* ---- callbacks of libmicrohttpd ------------------------------------------------------------------------------------ */

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *conn)
{
    HttpServer *s = cls;
    HttpExchange *x = calloc(1, sizeof(*x));
    if (!x)
        abort();
    x->server = s;
    x->conn = conn;
    x->arena = arena_create();
    x->too_long = strnlen(uri, URI_BYTES_MAX + 1) > URI_BYTES_MAX;
    x->uri = x->too_long ? S("/") : str_dup(x->arena, str_c(uri));
    x->ans = (HttpAnswer){ .status = 200, .fd = -1 };
    pthread_mutex_init(&x->mu, NULL);
    pthread_cond_init(&x->changed, NULL);
    count(s, 1);
    return x;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *conn, const char *url, const char *method, const char *version,
                                  const char *data, size_t *size, void **con)
{
    HttpExchange *x = *con;
    (void)cls, (void)conn, (void)url, (void)version;
    if (!x->begun)
        return begin(x, method);
    if (!*size)
        return finish(x);
    size_t n = *size;
    *size = 0;
    return feed(x, data, n);
}

static void on_completed(void *cls, struct MHD_Connection *conn, void **con, enum MHD_RequestTerminationCode why)
{
    HttpExchange *x = *con;
    HttpServer *s = cls;
    (void)conn, (void)why;
    if (!x)
        return;
    pthread_mutex_lock(&x->mu);
    x->broken = !x->done;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->mu);
    join_worker(x);                                      /* invariant 2 */
    answer_drop(x);
    pthread_mutex_destroy(&x->mu);
    pthread_cond_destroy(&x->changed);
    arena_destroy(x->arena);
    free(x);
    *con = NULL;
    count(s, -1);
}

static size_t keep_escapes(void *cls, struct MHD_Connection *conn, char *s)
{
    (void)cls, (void)conn;
    return strlen(s);
}

/* ---- an exchange, step by step ---------------------------------------------------------------------------------------- */

static enum MHD_Result begin(HttpExchange *x, const char *method)
{
    Error err = {0};
    x->begun = 1;
    Status st = request_fill(x, method, &err);
    if (x->too_long || st != OK) {
        answer_error(x, x->too_long ? 414 : 400, x->too_long ? "URI too long" : err.message);
        return answer_queue(x);
    }
    bool chunked = http_has_header(&x->req, "transfer-encoding");
    if (!chunked && (!x->req.length.has || x->req.length.v == 0))
        return MHD_YES;                                  /* answered at the second call: the connection stays */
    if (chunked || x->req.length.v > INLINE_BODY_MAX || http_has_header(&x->req, "expect"))
        return begin_worker(x);                          /* who expects 100 may be refused before the body is sent */
    x->mode = BODY_INLINE;
    x->body = arena_alloc(x->arena, (size_t)x->req.length.v);
    return MHD_YES;
}

/* Waits until the handler asks for the body or has answered without it. */
static enum MHD_Result begin_worker(HttpExchange *x)
{
    x->mode = BODY_WORKER;
    if (pthread_create(&x->worker, NULL, work, x) != 0) {
        answer_error(x, 503, "no thread for this request, try again");
        x->done = 1;
        return answer_queue(x);
    }
    x->running = 1;
    pthread_mutex_lock(&x->mu);
    while (!x->want && !x->done)
        pthread_cond_wait(&x->changed, &x->mu);
    bool answered = x->done;
    pthread_mutex_unlock(&x->mu);
    bool waits = http_has_header(&x->req, "expect"), large = !x->req.length.has || x->req.length.v > DRAIN_MAX;
    if (!answered || !(waits || large))
        return MHD_YES;
    join_worker(x);
    return answer_queue(x);                              /* invariant 3 */
}

static enum MHD_Result feed(HttpExchange *x, const char *data, size_t n)
{
    if (x->mode != BODY_WORKER) {
        size_t room = x->req.length.has ? (size_t)x->req.length.v - x->have : 0;
        n = min_size(n, room);
        if (n)
            memcpy(x->body + x->have, data, n);
        x->have += n;
        return MHD_YES;
    }
    pthread_mutex_lock(&x->mu);
    x->chunk = data;
    x->chunk_n = x->done ? 0 : n;
    pthread_cond_broadcast(&x->changed);
    while (x->chunk_n && !x->done)
        pthread_cond_wait(&x->changed, &x->mu);
    if (x->done)
        x->drained += (int64_t)n;
    x->chunk_n = 0;
    bool enough = x->drained > DRAIN_MAX;
    pthread_mutex_unlock(&x->mu);
    return enough ? MHD_NO : MHD_YES;
}

static enum MHD_Result finish(HttpExchange *x)
{
    if (x->queued)
        return MHD_YES;
    if (x->mode != BODY_WORKER) {
        run(x);
        return answer_queue(x);
    }
    pthread_mutex_lock(&x->mu);
    x->eof = 1;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->mu);
    join_worker(x);
    return answer_queue(x);
}

static void *work(void *arg)
{
    HttpExchange *x = arg;
    run(x);
    pthread_mutex_lock(&x->mu);
    x->done = 1;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->mu);
    return NULL;
}

static void run(HttpExchange *x)
{
    x->server->handler(x->server->ctx, &x->req, &x->ans);
}

static void join_worker(HttpExchange *x)
{
    if (x->running)
        pthread_join(x->worker, NULL);
    x->running = 0;
}

static void count(HttpServer *s, int by)
{
    pthread_mutex_lock(&s->mu);
    s->active += by;
    if (!s->active)
        pthread_cond_broadcast(&s->idle);
    pthread_mutex_unlock(&s->mu);
}

/* ---- start ------------------------------------------------------------------------------------------------------------ */

static Status listen_on(Str addr, int port, int *ret, int *bound, Error *err)
{
    CLEANUP(file_closep) int fd = -1;
    char host[256], service[16];
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *info = NULL;
    struct sockaddr_storage got;
    socklen_t n = sizeof got;

    snprintf(host, sizeof host, STR_FMT, STR_ARG(addr));
    snprintf(service, sizeof service, "%d", port);
    int rc = getaddrinfo(host, service, &hints, &info);
    if (rc != 0)
        return FAIL(err, E_INVALID, "address '%s': %s", host, gai_strerror(rc));
    fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1, bad = fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
                       bind(fd, info->ai_addr, info->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0 ||
                       getsockname(fd, (struct sockaddr *)&got, &n) < 0;
    int saved = errno;
    freeaddrinfo(info);
    errno = saved;
    if (bad)
        return FAIL_ERRNO(err, "listening on %s:%d", host, port);
    *bound = ntohs(got.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&got)->sin6_port : ((struct sockaddr_in *)&got)->sin_port);
    *ret = fd;
    fd = -1;
    return OK;
}

static Status start_daemon(HttpServer *s, const HttpServerOptions *o, int fd, Error *err)
{
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC;
    if (o->tls_cert.n)
        flags |= MHD_USE_TLS;
    s->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_request, s,
        MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)(o->max_connections ? o->max_connections : CONNECTIONS_DEFAULT),
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(o->idle_seconds ? o->idle_seconds : IDLE_SECONDS),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_URI_LOG_CALLBACK, on_uri, s,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        o->tls_cert.n ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, str_z(s->a, o->tls_cert),
        MHD_OPTION_HTTPS_MEM_KEY, str_z(s->a, o->tls_key),
        MHD_OPTION_END);
    if (!s->daemon)
        return FAIL(err, E_IO, "the HTTP server of '%s' did not start", o->name ? o->name : "?");
    return OK;
}

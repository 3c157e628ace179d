/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - the HTTP client: libcurl, one call at a time, everything bounded.
 *
 * An HTTP status is an answer, never an error.  What matters for commits is whether the other side can have acted: a call
 * that never connected is E_UNAVAILABLE, one that was sent and got no whole answer is E_UNKNOWN. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

#include "net/net_int.h"

enum {
    POOL_IDLE_MAX  = 16,
    STALL_BYTES_S  = 1024,
    TIMEOUT_MS     = 30000,
    CONNECT_MS     = 10000,
    ANSWER_MAX     = 64 * 1024 * 1024,
    ANSWER_HEADERS = 256 * 1024,
};

typedef struct Receiver {
    Arena *a;
    StrBuf body;
    HttpReply *reply;
    const HttpCall *call;
    size_t max, header_bytes, body_bytes;
    int too_large, sink_failed;
    Error sink_error;
} Receiver;

struct HttpPool { pthread_mutex_t mu; CURL *idle[POOL_IDLE_MAX]; size_t n; };
/* A handle in use, and where it goes afterwards. */
typedef struct Handle { CURL *h; HttpPool *pool; } Handle;

static pthread_once_t curl_ready = PTHREAD_ONCE_INIT;

static void curl_start(void);
static Handle handle_take(HttpPool *p);
static void handle_give(Handle *h);
static void slist_freep(struct curl_slist **l);
static Status set_headers(Arena *a, const HttpCall *c, struct curl_slist **ret, Error *err);
static void set_options(CURL *h, Arena *a, const HttpCall *c, Receiver *rx, struct curl_slist *headers);
static void set_body(CURL *h, const HttpCall *c);
static void set_blob(CURL *h, CURLoption option, Str pem);
static size_t on_body(char *p, size_t size, size_t n, void *cls);
static size_t on_header(char *p, size_t size, size_t n, void *cls);
static Status failed(CURL *h, CURLcode rc, const HttpCall *c, const Receiver *rx, Error *err);

Status http_call(Arena *a, const HttpCall *c, HttpReply *ret, Error *err)
{
    CLEANUP(slist_freep) struct curl_slist *headers = NULL;
    CLEANUP(handle_give) Handle h = {0};

    pthread_once(&curl_ready, curl_start);
    TRY(set_headers(a, c, &headers, err));
    h = handle_take(c->pool);
    if (!h.h)
        return FAIL(err, E_UNAVAILABLE, "no HTTP client handle");
    *ret = (HttpReply){0};
    Receiver rx = { .a = a, .body = sb_new(a), .reply = ret, .call = c, .max = c->max_bytes ? c->max_bytes : ANSWER_MAX };
    set_options(h.h, a, c, &rx, headers);
    CURLcode rc = curl_easy_perform(h.h);
    if (rc != CURLE_OK)
        return failed(h.h, rc, c, &rx, err);
    ret->body = sb_str(&rx.body);
    return OK;
}

static void curl_start(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* ---- handles that keep their connections ------------------------------------------------------------------- */

HttpPool *http_pool_new(void)
{
    HttpPool *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    pthread_mutex_init(&p->mu, NULL);
    return p;
}

void http_pool_free(HttpPool *p)
{
    if (!p)
        return;
    while (p->n)
        curl_easy_cleanup(p->idle[--p->n]);
    pthread_mutex_destroy(&p->mu);
    free(p);
}

static Handle handle_take(HttpPool *p)
{
    Handle h = { .pool = p };
    if (p) {
        pthread_mutex_lock(&p->mu);
        h.h = p->n ? p->idle[--p->n] : NULL;
        pthread_mutex_unlock(&p->mu);
    }
    if (!h.h)
        h.h = curl_easy_init();
    return h;
}

/* A reset handle forgets the options and keeps its connections. */
static void handle_give(Handle *h)
{
    if (h->h && h->pool) {
        curl_easy_reset(h->h);
        pthread_mutex_lock(&h->pool->mu);
        if (h->pool->n < POOL_IDLE_MAX) {
            h->pool->idle[h->pool->n++] = h->h;
            h->h = NULL;
        }
        pthread_mutex_unlock(&h->pool->mu);
    }
    if (h->h)
        curl_easy_cleanup(h->h);
}

static void slist_freep(struct curl_slist **l)
{
    curl_slist_free_all(*l);
}

static Status set_headers(Arena *a, const HttpCall *c, struct curl_slist **ret, Error *err)
{
    Props all = {0};
    for vec_each(KeyValue, h, &c->headers)
        props_set(a, &all, h->key, h->value);
    if (c->bearer.n)
        props_set(a, &all, S("authorization"), str_cat(a, S("Bearer "), c->bearer));
    if (c->sign)
        TRY(sig_sign(a, c->method, c->url, &all, c->body, c->sign, c->service, c->region, clock_ms() + c->skew_ms, err));
    for vec_each(KeyValue, h, &all) {
        if (memchr(h->value.p ? h->value.p : "", '\n', h->value.n) || memchr(h->key.p, '\n', h->key.n))
            return FAIL(err, E_INVALID, "header '" STR_FMT "' holds a line break", STR_ARG(h->key));
        Str line = str_fmt(a, STR_FMT "%s" STR_FMT, STR_ARG(h->key), h->value.n ? ": " : ";", STR_ARG(h->value));
        *ret = curl_slist_append(*ret, line.p);
    }
    *ret = curl_slist_append(*ret, "Expect:");           /* our bodies are small: no round trip for a 100 */
    return OK;
}

static void set_options(CURL *h, Arena *a, const HttpCall *c, Receiver *rx, struct curl_slist *headers)
{
    curl_easy_setopt(h, CURLOPT_URL, str_z(a, c->url));
    curl_easy_setopt(h, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, (long)(c->timeout_ms ? c->timeout_ms : TIMEOUT_MS));
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    if (c->stall_s) {
        curl_easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES_S);
        curl_easy_setopt(h, CURLOPT_LOW_SPEED_TIME, (long)c->stall_s);
    }
    curl_easy_setopt(h, CURLOPT_USERAGENT, "firn");
    curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, rx);
    curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(h, CURLOPT_HEADERDATA, rx);
    set_body(h, c);
    set_blob(h, CURLOPT_CAINFO_BLOB, c->tls_ca);
    set_blob(h, CURLOPT_SSLCERT_BLOB, c->tls_cert);
    set_blob(h, CURLOPT_SSLKEY_BLOB, c->tls_key);
}

static void set_blob(CURL *h, CURLoption option, Str pem)
{
    struct curl_blob blob = { .data = (void *)(uintptr_t)pem.p, .len = pem.n, .flags = CURL_BLOB_COPY };
    if (pem.n)
        curl_easy_setopt(h, option, &blob);
}

static void set_body(CURL *h, const HttpCall *c)
{
    bool sends = c->body.n || str_eq(str_c(c->method), S("POST")) || str_eq(str_c(c->method), S("PUT"));
    if (str_eq(str_c(c->method), S("HEAD")))
        curl_easy_setopt(h, CURLOPT_NOBODY, 1L);
    if (sends) {
        curl_easy_setopt(h, CURLOPT_POSTFIELDS, c->body.p ? c->body.p : "");
        curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)c->body.n);
    }
    curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, c->method);
}

static size_t on_body(char *p, size_t size, size_t n, void *cls)
{
    Receiver *rx = cls;
    Str bytes = str_n(p, size * n);
    rx->body_bytes += bytes.n;
    if (rx->body_bytes > rx->max) {
        rx->too_large = 1;
        return 0;
    }
    if (!rx->call->sink || rx->reply->status / 100 != 2) {
        sb_add(&rx->body, bytes);
        return bytes.n;
    }
    rx->sink_failed = rx->call->sink(rx->call->sink_ctx, bytes, &rx->sink_error) != OK;
    return rx->sink_failed ? 0 : bytes.n;
}

/* "HTTP/1.1 200 OK" */
static int status_of(Str line)
{
    int64_t n = 0;
    Str version, rest, code, reason;
    return str_cut(line, ' ', &version, &rest) && (str_cut(rest, ' ', &code, &reason), str_to_i64(code, &n)) && n >= 100 && n <= 999 ? (int)n : 0;
}

/* A new status line (after a 100) starts the headers anew. */
static size_t on_header(char *p, size_t size, size_t n, void *cls)
{
    Receiver *rx = cls;
    Str line = str_trim(str_n(p, size * n)), name, value;
    rx->header_bytes += size * n;
    if (rx->header_bytes > ANSWER_HEADERS) {
        rx->too_large = 1;
        return 0;
    }
    if (str_starts(line, S("HTTP/"))) {
        rx->reply->headers.n = 0;
        rx->reply->status = status_of(line);
    } else if (str_cut(line, ':', &name, &value)) {
        props_set(rx->a, &rx->reply->headers, str_lower(rx->a, str_trim(name)), str_dup(rx->a, str_trim(value)));
    }
    return size * n;
}

static Status failed(CURL *h, CURLcode rc, const HttpCall *c, const Receiver *rx, Error *err)
{
    curl_off_t sent = 0;
    long request_bytes = 0;
    const char *why = curl_easy_strerror(rc);
    curl_easy_getinfo(h, CURLINFO_SIZE_UPLOAD_T, &sent);
    curl_easy_getinfo(h, CURLINFO_REQUEST_SIZE, &request_bytes);
    if (rx->sink_failed) {
        *err = rx->sink_error;
        return err->code;
    }
    if (rx->too_large)
        return FAIL(err, E_LIMIT, "%s " STR_FMT ": the answer is over the limit of %zu bytes", c->method, STR_ARG(c->url), rx->max);
    switch (rc) {
    case CURLE_COULDNT_RESOLVE_HOST: case CURLE_COULDNT_RESOLVE_PROXY: case CURLE_COULDNT_CONNECT:
        return FAIL(err, E_UNAVAILABLE, "%s " STR_FMT ": %s", c->method, STR_ARG(c->url), why);
    case CURLE_OPERATION_TIMEDOUT:
        return FAIL(err, E_TIMEOUT, "%s " STR_FMT ": %s", c->method, STR_ARG(c->url), why);
    case CURLE_URL_MALFORMAT: case CURLE_UNSUPPORTED_PROTOCOL:
        return FAIL(err, E_INVALID, "%s " STR_FMT ": %s", c->method, STR_ARG(c->url), why);
    default:
        return FAIL(err, request_bytes + sent > 0 ? E_UNKNOWN : E_UNAVAILABLE, "%s " STR_FMT ": %s", c->method, STR_ARG(c->url), why);
    }
}

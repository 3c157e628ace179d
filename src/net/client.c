/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - the HTTP client: libcurl, one call at a time, everything bounded.
 *
 * An HTTP status is an answer, never an error.  What matters for commits is whether the other side can have acted: a call
 * that never connected is E_UNAVAILABLE, one that was sent and got no whole answer is E_UNKNOWN. */
#include <curl/curl.h>
#include <stdio.h>

#include "net/net_int.h"

enum {
    TIMEOUT_MS     = 30000,
    CONNECT_MS     = 10000,
    ANSWER_MAX     = 64 * 1024 * 1024,
    ANSWER_HEADERS = 256 * 1024,
};

typedef struct Receiver { Arena *a; StrBuf body; HttpReply *reply; size_t max, header_bytes; int too_large; } Receiver;

static pthread_once_t curl_ready = PTHREAD_ONCE_INIT;

static void curl_start(void);
static void curl_freep(CURL **c);
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
    CLEANUP(curl_freep) CURL *h = NULL;
    CLEANUP(slist_freep) struct curl_slist *headers = NULL;
    long status = 0;

    pthread_once(&curl_ready, curl_start);
    TRY(set_headers(a, c, &headers, err));
    h = curl_easy_init();
    if (!h)
        return FAIL(err, E_UNAVAILABLE, "no HTTP client handle");
    *ret = (HttpReply){0};
    Receiver rx = { .a = a, .body = sb_new(a), .reply = ret, .max = c->max_bytes ? c->max_bytes : ANSWER_MAX };
    set_options(h, a, c, &rx, headers);
    CURLcode rc = curl_easy_perform(h);
    if (rc != CURLE_OK)
        return failed(h, rc, c, &rx, err);
    curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
    ret->status = (int)status;
    ret->body = sb_str(&rx.body);
    return OK;
}

static void curl_start(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void curl_freep(CURL **c)
{
    if (*c)
        curl_easy_cleanup(*c);
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
        TRY(sig_sign(a, c->method, c->url, &all, c->body, c->sign, c->service, c->region, clock_ms(), err));
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
    if (rx->body.n + size * n > rx->max) {
        rx->too_large = 1;
        return 0;
    }
    sb_add(&rx->body, str_n(p, size * n));
    return size * n;
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
    if (str_starts(line, S("HTTP/")))
        rx->reply->headers.n = 0;
    else if (str_cut(line, ':', &name, &value))
        props_set(rx->a, &rx->reply->headers, str_lower(rx->a, str_trim(name)), str_dup(rx->a, str_trim(value)));
    return size * n;
}

static Status failed(CURL *h, CURLcode rc, const HttpCall *c, const Receiver *rx, Error *err)
{
    curl_off_t sent = 0;
    long request_bytes = 0;
    const char *why = curl_easy_strerror(rc);
    curl_easy_getinfo(h, CURLINFO_SIZE_UPLOAD_T, &sent);
    curl_easy_getinfo(h, CURLINFO_REQUEST_SIZE, &request_bytes);
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

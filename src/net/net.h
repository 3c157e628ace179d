/* SPDX-License-Identifier: Apache-2.0 */
/* net.h - HTTP server and client, SigV4 signing and verification.
 *
 * The server runs one thread a connection, bounded; a handler is called once the head has arrived and pulls the
 * body itself, so that a large object streams and memory a connection is bounded.  Paths are raw (undecoded): split before
 * decoding (%2F, %1F).  The client (libcurl) follows no redirects unless told, bounds every answer and every time. */
#ifndef FIRN_NET_H
#define FIRN_NET_H

#include "base/base.h"
#include "codec/codec.h"

/* ---- requests and answers --------------------------------------------------------------------------------- */

typedef struct HttpExchange HttpExchange;      /* one request and its answer; lives until the handler returns */

typedef struct HttpRequest {
    Arena *arena;                 /* freed after the answer is sent */
    Str method, path, query;      /* raw: path without the query; query without '?' */
    Props headers;                /* names lower case; repeated ones joined by ", " in order */
    Props args;                   /* the query decoded; a valueless key has "" */
    OptI64 length;                /* Content-Length */
    Str request_id;               /* made by the server, also sent back in x-amz-request-id and in logs */
    Str peer;                     /* "127.0.0.1:53412" */
    int loopback;
    HttpExchange *x;
} HttpRequest;

Str http_header(const HttpRequest *r, const char *lower_name);      /* "" when absent */
bool http_has_header(const HttpRequest *r, const char *lower_name);
Str http_arg(const HttpRequest *r, const char *name, Str fallback);
bool http_has_arg(const HttpRequest *r, const char *name);

/* Pull the body. *n 0 at its end; sends 100-continue on the first call when the client waits for it.
 * E_IO: the client went away; E_TIMEOUT: it stopped sending. */
NODISCARD Status http_body_read(HttpRequest *r, char *buf, size_t cap, size_t *n, Error *err);
/* The whole body, at most limit bytes: E_LIMIT beyond. */
NODISCARD Status http_body_all(HttpRequest *r, size_t limit, Str *ret, Error *err);

typedef struct HttpAnswer {
    int status;
    Props headers;
    Str body;                     /* when fd < 0 and pull is NULL */
    int fd;                       /* >= 0: send `length` bytes from `offset` of this file; closed by the server */
    int64_t offset, length;
    /* HEAD with no body given: `length` is announced as Content-Length. Streamed: called until it gives *n 0. `length` -1: chunked. */
    Status (*pull)(void *ctx, char *buf, size_t cap, size_t *n, Error *err);
    void (*pull_done)(void *ctx);
    void *ctx;
} HttpAnswer;
/* What a handler fills; starts as {200, fd -1}. */
typedef void (*HttpHandler)(void *ctx, HttpRequest *r, HttpAnswer *ret);
void http_answer_header(HttpRequest *r, HttpAnswer *ans, const char *name, Str value);

typedef struct HttpServer HttpServer;
typedef struct HttpServerOptions {
    Str addr;                     /* "127.0.0.1" */
    int port;                     /* 0: any */
    int max_connections;          /* default 512 */
    int idle_seconds;             /* default 120 */
    Str tls_cert, tls_key;        /* PEM text; empty: plain */
    const char *name;             /* for logs: "lake" */
} HttpServerOptions;
NODISCARD Status http_serve(const HttpServerOptions *o, HttpHandler handler, void *ctx, HttpServer **ret, Error *err);
int http_server_port(const HttpServer *s);
void http_server_stop(HttpServer *s, int grace_seconds);     /* no new connections, waits, then closes and frees */

/* ---- client ------------------------------------------------------------------------------------------------- */

typedef struct AwsKeys { Str access_key, secret_key, session_token; } AwsKeys;

/* Connections that go on after a call. What goes out over a kept one that the other side has closed meanwhile is sent again over a new one: only for
 * requests that may be done twice. Any thread may call. */
typedef struct HttpPool HttpPool;
HttpPool *http_pool_new(void);
void http_pool_free(HttpPool *p);             /* NULL is fine; no call may be under way */

typedef struct HttpCall {
    const char *method;
    Str url;
    Props headers;
    Str body;
    const AwsKeys *sign;          /* not NULL: SigV4 with service and region */
    Str service, region;
    int64_t skew_ms;              /* of the server's clock from ours: the signature has its time */
    int timeout_ms;               /* default 30,000 */
    size_t max_bytes;             /* default 64 MiB: E_LIMIT beyond */
    Str bearer;
    Str tls_ca, tls_cert, tls_key;        /* PEM texts: who is trusted instead of the system's authorities; the client's own certificate */
    HttpPool *pool;               /* takes and leaves a connection there; NULL: one of its own */
    int stall_s;                  /* gives up when less than 1 KiB/s moved for so long; 0: never */
    Status (*sink)(void *ctx, Str bytes, Error *err);     /* not NULL: gets the body of a 2xx answer piece by piece, within max_bytes; reply.body stays empty */
    void *sink_ctx;
} HttpCall;
typedef struct HttpReply { int status; Props headers; Str body; } HttpReply;     /* header names lower case */
/* E_UNAVAILABLE: no connection; E_TIMEOUT; E_UNKNOWN: connection lost after the request was sent. Any HTTP status is OK. */
NODISCARD Status http_call(Arena *a, const HttpCall *c, HttpReply *ret, Error *err);

/* ---- SigV4 (AWS Signature Version 4; traps: spec/aws-wire.md, glue.md 4) ----------------------------------------- */

typedef struct SigClaim {         /* what a request says of itself, before any key is known */
    Str access_key, date, region, service;      /* the credential scope */
    Str signature, amz_date;
    StrVec signed_headers;
    Str session_token;            /* x-amz-security-token header or query */
    Str payload_hash;             /* x-amz-content-sha256 as sent: hex, UNSIGNED-PAYLOAD, STREAMING-…; "" when absent */
    int presigned;
    int64_t expires_s;            /* presigned: seconds it is good for; version2: the second it ends */
    int version2;                 /* a presigned S3 URL of Signature Version 2: no date and region */
    int64_t time_ms;
} SigClaim;

/* OK with ret->access_key empty: the request carries no signature. E_AUTH: a malformed one (err->kind is the AWS code). */
NODISCARD Status sig_parse(Arena *a, const HttpRequest *r, SigClaim *ret, Error *err);
/* E_AUTH with err->kind: SignatureDoesNotMatch, RequestTimeTooSkewed, AccessDenied (expired presigned URL: message "Request has expired"),
 * AuthorizationHeaderMalformed. body_sha256_hex: of the body when the client sent no x-amz-content-sha256 (non-S3 services). */
NODISCARD Status sig_verify(Arena *a, const HttpRequest *r, const SigClaim *c, Str secret, int64_t now_ms, Str body_sha256_hex, Error *err);

/* Decodes an aws-chunked body (STREAMING-AWS4-HMAC-SHA256-PAYLOAD[-TRAILER], STREAMING-UNSIGNED-PAYLOAD-TRAILER), checking each
 * chunk's signature where signed, and hands out trailers. For plain bodies it checks x-amz-content-sha256 as it streams. */
typedef struct SigBody SigBody;
NODISCARD Status sig_body_open(HttpRequest *r, const SigClaim *c, Str secret, SigBody **ret, Error *err);
/* *n 0: end, all checks passed; nothing read before is proven until then.  E_AUTH, E_INVALID with err->kind: SignatureDoesNotMatch,
 * XAmzContentSHA256Mismatch, IncompleteBody, MalformedTrailerError, InvalidRequest. */
NODISCARD Status sig_body_read(SigBody *b, char *buf, size_t cap, size_t *n, Error *err);
void sig_body_close(SigBody *b);
void sig_body_closep(SigBody **b);                           /* for CLEANUP */
OptI64 sig_body_length(const SigBody *b);                    /* decoded length when the client told it */
const Props *sig_body_trailers(const SigBody *b);            /* lower-case names, after the end */

/* Sign: fills authorization, x-amz-date, x-amz-content-sha256 and, with a token, x-amz-security-token in `headers`. */
NODISCARD Status sig_sign(Arena *a, const char *method, Str url, Props *headers, Str body, const AwsKeys *k, Str service, Str region, int64_t now_ms, Error *err);

#endif

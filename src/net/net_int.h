/* SPDX-License-Identifier: Apache-2.0 */
/* net_int.h - what the files of the net room share: one exchange of the server, and the pieces of SigV4. */
#ifndef FIRN_NET_INT_H
#define FIRN_NET_INT_H

#include <microhttpd.h>

#include "net/net.h"

enum {
    CONNECTIONS_DEFAULT = 512,
    IDLE_SECONDS        = 120,
    CONNECTION_MEMORY   = 160 * 1024,        /* MHD's buffer a connection: head and upload chunks */
    INLINE_BODY_MAX     = 64 * 1024,         /* such bodies are read first and need no thread of their own */
    DRAIN_MAX           = 64 * 1024 * 1024,  /* unread body that is read away so that the client sees the answer */
    STREAM_BLOCK        = 64 * 1024,
    URI_BYTES_MAX       = 32 * 1024,
};

typedef enum { BODY_NONE, BODY_INLINE, BODY_WORKER } BodyMode;

struct HttpExchange {
    HttpServer *server;
    struct MHD_Connection *conn;
    Arena *arena;
    HttpRequest req;
    HttpAnswer ans;
    Str uri;                                 /* raw, as in the request line */
    int begun, head_only, queued, too_long;
    BodyMode mode;
    char *body;                              /* BODY_INLINE: the whole of it */
    size_t have, at;
    pthread_t worker;                        /* BODY_WORKER: the rest; under mu */
    pthread_mutex_t mu;
    pthread_cond_t changed;
    const char *chunk;
    size_t chunk_n;
    int running, want, eof, broken, done;
    int64_t drained;
};

/* request.c */
NODISCARD Status request_fill(HttpExchange *x, const char *method, Error *err);
/* answer.c: hands x->ans to MHD. */
enum MHD_Result answer_queue(HttpExchange *x);
void answer_error(HttpExchange *x, int status, const char *text);
void answer_drop(HttpExchange *x);           /* releases what an answer holds that MHD did not take */

/* ---- SigV4 -------------------------------------------------------------------------------------------------- */

Str sig_canonical_path(Arena *a, Str raw_path, Str service);
Str sig_canonical_query(Arena *a, Str raw_query, Str leave_out);
Str sig_canonical_headers(Arena *a, const Props *headers, const StrVec *names);
Str sig_scope(Arena *a, Str date, Str region, Str service);
Str sig_key(Arena *a, Str secret, Str date, Str region, Str service);
Str sig_of_request(Arena *a, Str key, Str amz_date, Str scope, Str canonical_request);
bool sig_v2_present(const HttpRequest *r);
NODISCARD Status sig_v2_parse(const HttpRequest *r, SigClaim *ret, Error *err);
NODISCARD Status sig_v2_verify(Arena *a, const HttpRequest *r, const SigClaim *c, Str secret, int64_t now_ms, Error *err);
NODISCARD Status sig_fail(Error *err, const char *kind, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif

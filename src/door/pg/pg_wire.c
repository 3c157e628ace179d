/* SPDX-License-Identifier: Apache-2.0 */
/* pg_wire.c - the socket of a connection: bytes in, whole messages out of them, buffered bytes out, TLS or not.
 *
 * The socket does not block; waiting is done by poll, so that a deadline holds and a shutdown from another thread wakes.
 * Invariants: (1) memory grows with the bytes that have arrived, never with the length that was claimed; (2) an idle
 * connection holds no buffer; (3) after `dead` nothing is read or written,
 * after `ended` nothing is read. */
#include "door/pg/pg_int.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

void pg_wire_init(PgWire *w, int fd) { *w = (PgWire){ .fd = fd }; }

void pg_wire_done(PgWire *w)
{
    if (w->ssl) {
        if (!w->dead)
            SSL_shutdown(w->ssl);
        SSL_free(w->ssl);
    }
    close(w->fd);
    free(w->in);
    free(w->body);
    pg_out_free(&w->out);
}

static Status gone(PgWire *w, Status s, const char *what, Error *err)
{
    w->dead = 1;
    return FAIL(err, s, "%s", what);
}

static Status wait_for(PgWire *w, short events, Error *err)
{
    struct pollfd p = { .fd = w->fd, .events = events };

    for (;;) {
        int64_t ms = w->deadline_us ? max_i64((w->deadline_us - clock_mono_us()) / 1000 + 1, 0) : -1;
        int n = poll(&p, 1, (int)min_i64(ms, 1000000));
        if (n > 0)
            return OK;
        if (n < 0 && errno != EINTR)
            return gone(w, E_IO, "poll failed", err);
        if (n == 0)
            return gone(w, E_TIMEOUT, "the client was too slow", err);
    }
}

/* ---- in ------------------------------------------------------------------------------------------------------ */

/* One read attempt: > 0 bytes, 0 the end, -1 see *events: to wait for, 0 an error. */
static ssize_t receive(PgWire *w, char *to, size_t n, short *events)
{
    *events = 0;
    if (!w->ssl) {
        ssize_t got = recv(w->fd, to, n, 0);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
            *events = POLLIN;
        return got;
    }
    ERR_clear_error();
    int got = SSL_read(w->ssl, to, (int)min_size(n, 1 << 30));
    if (got > 0)
        return got;
    int why = SSL_get_error(w->ssl, got);
    *events = why == SSL_ERROR_WANT_READ ? POLLIN : why == SSL_ERROR_WANT_WRITE ? POLLOUT : 0;
    return why == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

static Status receive_some(PgWire *w, char *to, size_t n, size_t *got, Error *err)
{
    for (;;) {
        short events;
        ssize_t r = w->dead || w->ended ? 0 : receive(w, to, n, &events);
        if (r > 0) {
            *got = (size_t)r;
            return OK;
        }
        if (r == 0) {                                    /* the other direction may still be open */
            w->ended = 1;
            return FAIL(err, E_IO, "the client is gone");
        }
        if (!events)
            return gone(w, E_IO, "the client is gone", err);
        TRY(wait_for(w, events, err));
    }
}

static bool idle_tls(const PgWire *w) { return w->ssl && SSL_pending(w->ssl) > 0; }

/* Invariant (2): give the buffer back before a wait that may be long. */
static Status fill(PgWire *w, Error *err)
{
    if (w->from == w->to) {
        w->from = w->to = 0;
        if (!w->dead && !w->ended && !idle_tls(w)) {
            struct pollfd p = { .fd = w->fd, .events = POLLIN };
            if (poll(&p, 1, 0) == 0) {
                free(w->in);
                w->in = NULL;
                TRY(wait_for(w, POLLIN, err));
            }
        }
    }
    if (!w->in && !(w->in = malloc(PG_BUFFER_BYTES)))
        abort();
    w->cap = PG_BUFFER_BYTES;
    if (w->from) {
        memmove(w->in, w->in + w->from, w->to - w->from);
        w->to -= w->from;
        w->from = 0;
    }
    size_t got;
    TRY(receive_some(w, w->in + w->to, w->cap - w->to, &got, err));
    w->to += got;
    return OK;
}

static Status need(PgWire *w, size_t n, Error *err)
{
    while (w->to - w->from < n)
        TRY(fill(w, err));
    return OK;
}

static void keep_body(PgWire *w, size_t n)
{
    if (n <= w->body_cap)
        return;
    size_t cap = w->body_cap ? w->body_cap : 512;
    while (cap < n)
        cap *= 2;
    char *p = realloc(w->body, cap);
    if (!p)
        abort();
    w->body = p;
    w->body_cap = cap;
}

static void shrink_body(PgWire *w)
{
    if (w->body_cap <= 4 * PG_BUFFER_BYTES)
        return;
    free(w->body);
    w->body = NULL;
    w->body_cap = 0;
}

static Status read_body(PgWire *w, size_t n, Str *ret, Error *err)
{
    size_t have = min_size(n, w->to - w->from);

    shrink_body(w);
    keep_body(w, min_size(n, PG_BUFFER_BYTES) + 1);
    keep_body(w, have + 1);
    if (have)
        memcpy(w->body, w->in + w->from, have);
    w->from += have;
    while (have < n) {                                    /* invariant (1) */
        size_t got;
        keep_body(w, min_size(n, have + PG_FLUSH_BYTES) + 1);
        TRY(receive_some(w, w->body + have, min_size(n, w->body_cap - 1) - have, &got, err));
        have += got;
    }
    *ret = str_n(w->body, n);
    return OK;
}

static Status skip_body(PgWire *w, size_t n, Error *err)
{
    while (n) {
        TRY(need(w, 1, err));
        size_t part = min_size(n, w->to - w->from);
        w->from += part;
        n -= part;
    }
    return OK;
}

Status pg_wire_startup(PgWire *w, Str *ret, Error *err)
{
    TRY(need(w, 4, err));
    PgIn in = pg_in(str_n(w->in + w->from, 4));
    int32_t n = pg_in_i32(&in);
    if (n < 8 || n > PG_STARTUP_BYTES)
        return gone(w, E_INVALID, "not a start-up packet", err);
    w->from += 4;
    return read_body(w, (size_t)n - 4, ret, err);
}

Status pg_wire_message(PgWire *w, size_t limit, char *type, Str *body, Error *err)
{
    TRY(need(w, 5, err));
    PgIn in = pg_in(str_n(w->in + w->from, 5));
    *type = (char)pg_in_u8(&in);
    int32_t n = pg_in_i32(&in);
    if (n < 4 || n > PG_MESSAGE_MAX) {
        RAISE(err, E_INVALID, "invalid message length %d", n);
        snprintf(err->sqlstate, sizeof err->sqlstate, "08P01");
        return E_INVALID;
    }
    w->from += 5;
    size_t size = (size_t)n - 4;
    if (size <= limit)
        return read_body(w, size, body, err);
    TRY(skip_body(w, size, err));
    return FAIL(err, E_LIMIT, "a message of %zu bytes is longer than the limit of %zu", size, limit);
}

bool pg_wire_peek_tls(PgWire *w)
{
    char first = 0;                                      /* left in the socket: the handshake reads it again */
    Error err;

    if (wait_for(w, POLLIN, &err) != OK)
        return false;
    return recv(w->fd, &first, 1, MSG_PEEK) == 1 && first == 0x16;
}

bool pg_wire_pending(const PgWire *w) { return w->to > w->from; }

/* ---- out ----------------------------------------------------------------------------------------------------- */

static ssize_t transmit(PgWire *w, const char *p, size_t n, short *events)
{
    *events = 0;
    if (!w->ssl) {
        ssize_t put = send(w->fd, p, n, MSG_NOSIGNAL);
        if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
            *events = POLLOUT;
        return put;
    }
    ERR_clear_error();
    int put = SSL_write(w->ssl, p, (int)min_size(n, 1 << 30));
    if (put > 0)
        return put;
    int why = SSL_get_error(w->ssl, put);
    *events = why == SSL_ERROR_WANT_READ ? POLLIN : why == SSL_ERROR_WANT_WRITE ? POLLOUT : 0;
    return -1;
}

void pg_wire_flush(PgWire *w)
{
    Error err;
    size_t at = 0;

    while (at < w->out.start && !w->dead) {
        short events;
        ssize_t put = transmit(w, w->out.p + at, w->out.start - at, &events);
        if (put > 0)
            at += (size_t)put;
        else if (!events || wait_for(w, events, &err) != OK)
            w->dead = 1;
    }
    w->out.n = w->out.start = 0;
    if (w->out.cap > 2 * PG_FLUSH_BYTES)
        pg_out_free(&w->out);
}

void pg_wire_look(PgWire *w)
{
    struct pollfd p = { .fd = w->fd, .events = POLLRDHUP };

    if (poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR))
        w->dead = 1;
}

void pg_wire_flush_if_full(PgWire *w)
{
    if (w->out.start >= PG_FLUSH_BYTES)
        pg_wire_flush(w);
}

/* ---- TLS ----------------------------------------------------------------------------------------------------- */

/* PostgreSQL 17's direct TLS names its protocol; without a name the client came by SSLRequest. */
static int choose_alpn(SSL *ssl UNUSED, const unsigned char **out, unsigned char *n, const unsigned char *in, unsigned in_n,
                       void *ctx UNUSED)
{
    static const unsigned char ours[] = "\012postgresql";
    unsigned char *chosen = NULL;

    if (SSL_select_next_proto(&chosen, n, ours, sizeof ours - 1, in, in_n) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static void ctx_freep(SSL_CTX **c) { SSL_CTX_free(*c); }
static void bio_freep(BIO **b) { BIO_free(*b); }
static void x509_freep(X509 **x) { X509_free(*x); }
static void key_freep(EVP_PKEY **k) { EVP_PKEY_free(*k); }

static Status use_certificate(SSL_CTX *ctx, Str pem, Error *err)
{
    CLEANUP(bio_freep) BIO *b = BIO_new_mem_buf(pem.p, (int)pem.n);
    CLEANUP(x509_freep) X509 *leaf = PEM_read_bio_X509(b, NULL, NULL, NULL);

    if (!leaf || SSL_CTX_use_certificate(ctx, leaf) != 1)
        return FAIL(err, E_INVALID, "the TLS certificate is not a PEM certificate");
    for (X509 *next; (next = PEM_read_bio_X509(b, NULL, NULL, NULL));)
        if (SSL_CTX_add0_chain_cert(ctx, next) != 1) {
            X509_free(next);
            return FAIL(err, E_INVALID, "the TLS certificate's chain cannot be used");
        }
    ERR_clear_error();
    return OK;
}

Status pg_tls_new(Str cert, Str key, SSL_CTX **ret, Error *err)
{
    CLEANUP(ctx_freep) SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    CLEANUP(bio_freep) BIO *b = BIO_new_mem_buf(key.p, (int)key.n);
    CLEANUP(key_freep) EVP_PKEY *k = PEM_read_bio_PrivateKey(b, NULL, NULL, NULL);

    TRY(use_certificate(ctx, cert, err));
    if (!k || SSL_CTX_use_PrivateKey(ctx, k) != 1 || SSL_CTX_check_private_key(ctx) != 1)
        return FAIL(err, E_INVALID, "the TLS key is not a PEM key of the certificate");
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(ctx, choose_alpn, NULL);
    *ret = ctx;
    ctx = NULL;
    return OK;
}

Status pg_wire_accept_tls(PgWire *w, SSL_CTX *ctx, Error *err)
{
    if (pg_wire_pending(w))                              /* plain bytes before the handshake: CVE-2021-23222 */
        return gone(w, E_INVALID, "unencrypted data after the request for TLS", err);
    w->ssl = SSL_new(ctx);
    SSL_set_fd(w->ssl, w->fd);
    for (;;) {
        ERR_clear_error();
        int n = SSL_accept(w->ssl);
        if (n == 1)
            return OK;
        int why = SSL_get_error(w->ssl, n);
        if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
            return gone(w, E_IO, "the TLS handshake failed", err);
        TRY(wait_for(w, why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, err));
    }
}

Str pg_tls_end_point(Arena *a, SSL *ssl)
{
    X509 *cert = SSL_get_certificate(ssl);
    unsigned char *digest = arena_alloc(a, EVP_MAX_MD_SIZE);
    unsigned n = 0;
    int nid = NID_undef;

    if (!cert || !OBJ_find_sigid_algs(X509_get_signature_nid(cert), &nid, NULL))
        return (Str){ 0 };
    if (nid == NID_md5 || nid == NID_sha1)
        nid = NID_sha256;                                /* RFC 5929 section 4.1 */
    const EVP_MD *md = EVP_get_digestbynid(nid);
    if (!md || X509_digest(cert, md, digest, &n) != 1)
        return (Str){ 0 };
    return str_n((const char *)digest, n);
}

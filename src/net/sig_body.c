/* SPDX-License-Identifier: Apache-2.0 */
/* sig_body.c - a request body as the client meant it: aws-chunked framing taken off, every hash and signature checked.
 *
 * Bytes are handed out before their chunk is proven, so a reader must not act on them until *n is 0: only that says that
 * all checks passed.  Each chunk's signature covers the one before (a chain that starts with the request's own), and the
 * trailer's covers the last chunk, so nothing can be cut, moved or repeated.
 * Format: AWS "Signature Calculations: Transferring Payload in Multiple Chunks", with trailers.
 * Invariants: (1) after an error every later read fails; (2) `left` is what remains of the current chunk. */
#include <stdlib.h>

#include "net/net_int.h"

enum {
    LINE_MAX_BYTES   = 4096,              /* a chunk header or a trailer line */
    TRAILERS_MAX     = 16,
    CHUNK_MAX_DIGITS = 10,                /* hex digits of a chunk size */
    RAW_BUFFER       = 64 * 1024,
    SIGNATURE_LEN    = 64,
};

typedef enum { AT_HEADER, IN_DATA, AT_DATA_END, AT_TRAILER, AT_END, BROKEN } State;

struct SigBody {
    HttpRequest *r;
    Arena *a;
    int chunked, chunk_signed, trailer;
    Str want_sha256;                      /* plain body: hex, or empty */
    Hasher *sha;                          /* of the body (plain) or of the chunk (signed) */
    Str key, amz_date, scope;
    char previous[SIGNATURE_LEN], chunk_signature[SIGNATURE_LEN];   /* the chain of signatures, hex */
    State state;
    int64_t left, total;
    OptI64 told;
    char raw[RAW_BUFFER];
    size_t at, have;
    char text[LINE_MAX_BYTES];
    Props trailers;
    StrBuf trailer_text;
    Str trailer_signature;
};

static Status read_plain(SigBody *b, char *buf, size_t cap, size_t *n, Error *err);
static Status read_chunked(SigBody *b, char *buf, size_t cap, size_t *n, Error *err);
static Status step(SigBody *b, Error *err);
static Status chunk_header(SigBody *b, Error *err);
static void copy_signature(char *to, Str from);
static Status chunk_end(SigBody *b, Error *err);
static Status check_chunk(SigBody *b, Error *err);
static Status trailer_line(SigBody *b, Error *err);
static Status check_trailer(SigBody *b, Error *err);
static Status ended(SigBody *b, Error *err);
static Status line(SigBody *b, Str *ret, Error *err);
static Status fill(SigBody *b, Error *err);
static Status bad(Error *err, const char *kind, const char *why);
static Str chain(const SigBody *b, Arena *a, const char *what, Str hash);

Status sig_body_open(HttpRequest *r, const SigClaim *c, Str secret, SigBody **ret, Error *err)
{
    SigBody *b = arena_new(r->arena, SigBody);
    Str hash = c->payload_hash;
    *b = (SigBody){ .r = r, .a = r->arena, .told = r->length, .trailer_text = sb_new(r->arena) };
    b->chunked = str_starts(hash, S("STREAMING-"));
    b->chunk_signed = str_starts(hash, S("STREAMING-AWS4-HMAC-SHA256-PAYLOAD"));
    b->trailer = str_ends(hash, S("-TRAILER"));
    if (b->chunked && !b->chunk_signed && !str_eq(hash, S("STREAMING-UNSIGNED-PAYLOAD-TRAILER")))
        return bad(err, "NotImplemented", "x-amz-content-sha256 names a streaming signature that is not supported");
    if (b->chunked) {
        Str told = http_header(r, "x-amz-decoded-content-length");
        b->told.has = told.n > 0;
        if (b->told.has && (!str_to_i64(told, &b->told.v) || b->told.v < 0))
            return bad(err, "InvalidArgument", "x-amz-decoded-content-length is not a number");
    }
    if (b->chunk_signed) {
        b->key = sig_key(b->a, secret, c->date, c->region, c->service);
        b->scope = sig_scope(b->a, c->date, c->region, c->service);
        b->amz_date = c->amz_date;
        copy_signature(b->previous, c->signature);
    }
    if (!b->chunked && hash.n && !str_eq(hash, S("UNSIGNED-PAYLOAD")))
        b->want_sha256 = hash;
    if (b->want_sha256.n)
        b->sha = hasher_new(HASH_SHA256);
    *ret = b;
    return OK;
}

void sig_body_close(SigBody *b)
{
    if (b)
        hasher_freep(&b->sha);
}

void sig_body_closep(SigBody **b)
{
    sig_body_close(*b);
}

Status sig_body_read(SigBody *b, char *buf, size_t cap, size_t *n, Error *err)
{
    *n = 0;
    if (b->state == BROKEN)
        return FAIL(err, E_INVALID, "the request body was already refused");      /* invariant 1 */
    if (b->state == AT_END)
        return OK;
    Status st = b->chunked ? read_chunked(b, buf, cap, n, err) : read_plain(b, buf, cap, n, err);
    if (st != OK)
        b->state = BROKEN;
    return st;
}

OptI64 sig_body_length(const SigBody *b)
{
    return b->told;
}

const Props *sig_body_trailers(const SigBody *b)
{
    return &b->trailers;
}

static Status read_plain(SigBody *b, char *buf, size_t cap, size_t *n, Error *err)
{
    TRY(http_body_read(b->r, buf, cap, n, err));
    b->total += (int64_t)*n;
    if (b->sha)
        hasher_add(b->sha, str_n(buf, *n));
    if (*n)
        return OK;
    if (b->sha && !str_ieq(hex_encode(b->a, hasher_done(b->sha, b->a)), b->want_sha256))
        return bad(err, "XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match what was computed.");
    return ended(b, err);
}

static Status read_chunked(SigBody *b, char *buf, size_t cap, size_t *n, Error *err)
{
    while (b->state != IN_DATA && b->state != AT_END)
        TRY(step(b, err));
    if (b->state == AT_END)
        return OK;
    if (b->at == b->have)
        TRY(fill(b, err));
    *n = min_size(min_size(cap, b->have - b->at), (size_t)b->left);
    memcpy(buf, b->raw + b->at, *n);
    b->at += *n;
    b->left -= (int64_t)*n;
    b->total += (int64_t)*n;
    if (b->sha)
        hasher_add(b->sha, str_n(buf, *n));
    if (!b->left)
        b->state = AT_DATA_END;
    return OK;
}

static Status step(SigBody *b, Error *err)
{
    switch (b->state) {
    case AT_HEADER:   return chunk_header(b, err);
    case AT_DATA_END: return chunk_end(b, err);
    case AT_TRAILER:  return trailer_line(b, err);
    default:          return FAIL(err, E_INTERNAL, "chunked body in state %d", (int)b->state);
    }
}

/* <hex size>[;chunk-signature=<64 hex>] */
static Status chunk_header(SigBody *b, Error *err)
{
    Str head, size, extension, name, value;
    TRY(line(b, &head, err));
    str_cut(head, ';', &size, &extension);
    size = str_trim(size);
    if (!size.n || size.n > CHUNK_MAX_DIGITS)
        return bad(err, "InvalidRequest", "malformed chunk size in an aws-chunked body");
    b->left = 0;
    for (size_t i = 0; i < size.n; i++) {
        const char *digits = "0123456789abcdef", *at = strchr(digits, size.p[i] | (size.p[i] >= 'A' ? 0x20 : 0));
        if (!size.p[i] || !at)
            return bad(err, "InvalidRequest", "malformed chunk size in an aws-chunked body");
        b->left = b->left * 16 + (at - digits);
    }
    str_cut(str_trim(extension), '=', &name, &value);
    copy_signature(b->chunk_signature, str_eq(name, S("chunk-signature")) ? value : (Str){0});
    if (b->chunk_signed) {
        hasher_freep(&b->sha);
        b->sha = hasher_new(HASH_SHA256);
    }
    if (b->left) {
        b->state = IN_DATA;
        return OK;
    }
    TRY(check_chunk(b, err));
    b->state = AT_TRAILER;
    return OK;
}

static void copy_signature(char *to, Str from)
{
    memset(to, 0, SIGNATURE_LEN);
    if (from.n)
        memcpy(to, from.p, min_size(from.n, SIGNATURE_LEN));
}

static Status chunk_end(SigBody *b, Error *err)
{
    Str empty;
    TRY(line(b, &empty, err));
    if (empty.n)
        return bad(err, "InvalidRequest", "a chunk of an aws-chunked body is longer than its size says");
    b->state = AT_HEADER;
    return check_chunk(b, err);
}

static Status check_chunk(SigBody *b, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();           /* a body has any number of chunks */
    if (!b->chunk_signed)
        return OK;
    Str empty = hash_hex(a, HASH_SHA256, (Str){0}), hash = hex_encode(a, hasher_done(b->sha, a));
    Str want = chain(b, a, "AWS4-HMAC-SHA256-PAYLOAD", str_fmt(a, STR_FMT "\n" STR_FMT, STR_ARG(empty), STR_ARG(hash)));
    if (!str_eq_const_time(want, str_n(b->chunk_signature, SIGNATURE_LEN)))
        return sig_fail(err, "SignatureDoesNotMatch", "The signature of a chunk does not match its bytes.");
    memcpy(b->previous, want.p, SIGNATURE_LEN);
    return OK;
}

/* Lines up to an empty one, or up to the end of the body. */
static Status trailer_line(SigBody *b, Error *err)
{
    Str text, name, value;
    if (b->at == b->have) {
        size_t n = 0;
        TRY(http_body_read(b->r, b->raw, sizeof b->raw, &n, err));
        b->at = 0;
        b->have = n;
        if (!n)
            return check_trailer(b, err);
    }
    TRY(line(b, &text, err));
    if (!text.n)
        return check_trailer(b, err);
    if (!b->trailer || b->trailers.n >= TRAILERS_MAX || !str_cut(text, ':', &name, &value))
        return bad(err, "MalformedTrailerError", "The request contained trailing data that was not well-formed or did not conform to our published schema.");
    name = str_lower(b->a, str_trim(name));
    value = str_dup(b->a, str_trim(value));
    if (str_eq(name, S("x-amz-trailer-signature"))) {
        b->trailer_signature = value;
        return OK;
    }
    props_set(b->a, &b->trailers, name, value);
    sb_fmt(&b->trailer_text, STR_FMT ":" STR_FMT "\n", STR_ARG(name), STR_ARG(value));
    return OK;
}

static Status check_trailer(SigBody *b, Error *err)
{
    if (b->chunk_signed && b->trailer) {
        Str want = chain(b, b->a, "AWS4-HMAC-SHA256-TRAILER", hash_hex(b->a, HASH_SHA256, sb_str(&b->trailer_text)));
        if (!str_eq_const_time(want, b->trailer_signature))
            return sig_fail(err, "SignatureDoesNotMatch", "The signature of the trailer does not match.");
    }
    for (size_t n = 1; n;)                                    /* nothing may follow; the body must be read to its end */
        TRY(http_body_read(b->r, b->raw, sizeof b->raw, &n, err));
    return ended(b, err);
}

static Status ended(SigBody *b, Error *err)
{
    b->state = AT_END;
    if (b->told.has && b->told.v != b->total)
        return bad(err, "IncompleteBody", "You did not provide the number of bytes specified by the Content-Length HTTP header");
    return OK;
}

/* A line without its CRLF; valid until the next line. */
static Status line(SigBody *b, Str *ret, Error *err)
{
    size_t len = 0;
    for (;;) {
        if (b->at == b->have)
            TRY(fill(b, err));
        const char *from = b->raw + b->at, *nl = memchr(from, '\n', b->have - b->at);
        size_t n = nl ? (size_t)(nl - from) : b->have - b->at;
        if (len + n > sizeof b->text)
            return bad(err, "InvalidRequest", "a line of an aws-chunked body is too long");
        memcpy(b->text + len, from, n);
        len += n;
        b->at += n + (nl != NULL);
        if (!nl)
            continue;
        *ret = str_n(b->text, len);
        if (str_ends(*ret, S("\r")))
            ret->n--;
        return OK;
    }
}

static Status fill(SigBody *b, Error *err)
{
    size_t n = 0;
    TRY(http_body_read(b->r, b->raw, sizeof b->raw, &n, err));
    if (!n)
        return bad(err, "IncompleteBody", "The aws-chunked body ends before its last chunk");
    b->at = 0;
    b->have = n;
    return OK;
}

static Status bad(Error *err, const char *kind, const char *why)
{
    (void)FAIL(err, E_INVALID, "%s", why);
    strncpy(err->kind, kind, sizeof err->kind - 1);
    return E_INVALID;
}

static Str chain(const SigBody *b, Arena *a, const char *what, Str hash)
{
    Str text = str_fmt(a, "%s\n" STR_FMT "\n" STR_FMT "\n%.64s\n" STR_FMT, what, STR_ARG(b->amz_date), STR_ARG(b->scope),
                       b->previous, STR_ARG(hash));
    return hex_encode(a, hmac_sha256(a, b->key, text));
}

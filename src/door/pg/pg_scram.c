/* SPDX-License-Identifier: Apache-2.0 */
/* pg_scram.c - SCRAM-SHA-256, the server's side (RFC 5802, RFC 7677), with channel binding over TLS (RFC 5929).
 *
 * The verifier is derived from the plain secret for each exchange.  Invariant: an unknown user's exchange differs from a
 * known one's in nothing but its end. */
#include "door/pg/pg_int.h"

enum { NONCE_BYTES = 18, NONCE_MAX = 512 };

static Status malformed(const char *what, Error *err)
{
    return FAIL(err, E_INVALID, "malformed SCRAM message: %s", what);
}

/* The next comma-separated attribute; its name must be `name`. */
static bool attribute(Str *rest, char name, Str *value)
{
    Str head;

    str_cut(*rest, ',', &head, rest);
    if (head.n < 2 || head.p[0] != name || head.p[1] != '=')
        return false;
    *value = str_from(head, 2);
    return true;
}

static bool nonce_ok(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 0x21 || s.p[i] > 0x7e)
            return false;
    return s.n > 0 && s.n <= NONCE_MAX;
}

/* gs2-header: "n,," "y,," or "p=tls-server-end-point,,". What is not it begins at *bare. */
static Status read_gs2(const PgScram *s, Str message, Str *bare, Error *err)
{
    Str flag, authzid;

    if (!str_cut(message, ',', &flag, bare) || !str_cut(*bare, ',', &authzid, bare))
        return malformed("no GS2 header", err);
    if (authzid.n)
        return FAIL(err, E_UNSUPPORTED, "client uses authorization identity, but it is not supported");
    if (s->plus)
        return str_eq(flag, S("p=tls-server-end-point")) ? OK : malformed("unsupported channel binding", err);
    if (str_eq(flag, S("n")))
        return OK;
    if (!str_eq(flag, S("y")))
        return malformed("unexpected channel binding flag", err);
    if (s->end_point.n)                                  /* we did offer it: somebody in between hid that */
        return malformed("channel binding was offered, the client believes it was not", err);
    return OK;
}

Status pg_scram_first(Arena *a, PgScram *s, Str message, Str *reply, Error *err)
{
    Str bare, rest, user, nonce;
    char random[NONCE_BYTES];

    TRY(read_gs2(s, message, &bare, err));
    rest = bare;
    if (!attribute(&rest, 'n', &user) || !attribute(&rest, 'r', &nonce) || !nonce_ok(nonce))
        return malformed("user or nonce", err);          /* the user is the start-up packet's, as in PostgreSQL */
    rand_bytes(random, sizeof random);
    s->gs2 = str_dup(a, str_sub(message, 0, message.n - bare.n));
    s->client_first_bare = str_dup(a, bare);
    s->nonce = str_cat(a, nonce, base64_encode(a, str_n(random, sizeof random)));
    Str salt = base64_encode(a, s->salt);
    s->server_first = str_fmt(a, "r=" STR_FMT ",s=" STR_FMT ",i=%d", STR_ARG(s->nonce), STR_ARG(salt), PG_SCRAM_ROUNDS);
    *reply = s->server_first;
    return OK;
}

static bool binding_ok(Arena *a, const PgScram *s, Str c)
{
    Error err;
    Str got, want = s->plus ? str_cat(a, s->gs2, s->end_point) : s->gs2;
    return base64_decode(a, c, &got, &err) == OK && str_eq_const_time(got, want);
}

static Str xored(Arena *a, Str x, Str y)
{
    char *p = arena_alloc(a, x.n);
    for (size_t i = 0; i < x.n; i++)
        p[i] = (char)(x.p[i] ^ y.p[i]);
    return str_n(p, x.n);
}

Status pg_scram_final(Arena *a, PgScram *s, Str message, Str *reply, Error *err)
{
    Str rest = message, binding, nonce, proof, signature;
    ptrdiff_t cut = str_rchr(message, ',');
    Error why;

    if (cut < 0 || !attribute(&rest, 'c', &binding) || !attribute(&rest, 'r', &nonce))
        return malformed("no channel binding or nonce", err);
    rest = str_from(message, (size_t)cut + 1);
    if (!attribute(&rest, 'p', &proof) || base64_decode(a, proof, &proof, &why) != OK || proof.n != 32)
        return malformed("no proof", err);
    if (!binding_ok(a, s, binding))
        return malformed("channel binding does not match", err);
    if (!str_eq(nonce, s->nonce))
        return malformed("nonce does not match", err);

    Str salted = pbkdf2_sha256(a, s->secret, s->salt, PG_SCRAM_ROUNDS);
    Str client_key = hmac_sha256(a, salted, S("Client Key")), stored = hash_bytes(a, HASH_SHA256, client_key);
    Str auth = str_fmt(a, STR_FMT "," STR_FMT "," STR_FMT, STR_ARG(s->client_first_bare), STR_ARG(s->server_first),
                       STR_ARG(str_sub(message, 0, (size_t)cut)));
    signature = hmac_sha256(a, stored, auth);
    Str claimed = hash_bytes(a, HASH_SHA256, xored(a, proof, signature));
    if (!str_eq_const_time(claimed, stored) || s->sham)
        return FAIL(err, E_AUTH, "password authentication failed");
    Str server_key = hmac_sha256(a, salted, S("Server Key"));
    *reply = str_cat(a, S("v="), base64_encode(a, hmac_sha256(a, server_key, auth)));
    return OK;
}

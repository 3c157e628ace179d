/* SPDX-License-Identifier: Apache-2.0 */
/* rest_auth.c - who calls: a bearer token, a SigV4 signature, or nobody where that is allowed; and the token endpoint.
 *
 * A bearer token is "<key id>.<access key>.<random>": a session in the catalog and the access key that asked for it.  It ends with the
 * session, and with the access key: deleting that revokes every token.  The payload hash is always taken from the body itself: what
 * clients put into x-amz-content-sha256 differs (hex, base64), what they sign is the hash. */
#include "access/iam.h"
#include "door/rest/rest_int.h"

static Status root_of_loopback(RestCall *c, Error *err)
{
    if (!c->d->o.auth_off)
        return FAIL(err, E_AUTH, "no credentials: sign the request (SigV4) or send a bearer token from /iceberg/v1/oauth/tokens");
    if (!c->r->loopback)
        return FAIL(err, E_AUTH, "requests without credentials are accepted from loopback only");
    c->who = access_root(c->a, c->d->o.svc.access);
    return OK;
}

static Status parent_of(RestCall *c, Str id, CatKey *ret, Error *err)
{
    Status s = cat_key_get(c->d->o.svc.catalog, c->a, id, ret, err);

    if (s == E_NOT_FOUND || (s == OK && (!ret->active || (ret->expires_ms > 0 && ret->expires_ms <= clock_ms()))))
        return FAIL(err, E_AUTH, "the access key that this token was made for is gone");
    return s;
}

Status rest_token_principal(RestCall *c, Str token, Principal *ret, CatKey *parent, Error *err)
{
    Str id = {0}, rest = {0}, secret = {0}, parent_id = {0}, random = {0};

    if (token.n > TOKEN_BYTES_MAX || !str_cut(token, '.', &id, &rest) || !str_cut(rest, '.', &parent_id, &random))
        return FAIL(err, E_AUTH, "the bearer token is malformed");
    TRY(access_by_key(c->d->o.svc.access, c->a, id, rest, &secret, ret, err));
    return parent_of(c, parent_id, parent, err);
}

static Str peer_of(const RestCall *c) { return str_sub(c->r->peer, 0, (size_t)max_i64(0, str_rchr(c->r->peer, ':'))); }

static Status by_signature(RestCall *c, Error *err)
{
    SigClaim claim = {0};
    Str secret = {0};

    TRY(sig_parse(c->a, c->r, &claim, err));
    if (claim.access_key.n == 0)
        return root_of_loopback(c, err);
    if (!str_eq(claim.service, S("s3tables")) && !str_eq(claim.service, S("glue")) && !str_eq(claim.service, S("execute-api")))
        return FAIL(err, E_AUTH, "the request is signed for service '" STR_FMT "', not for s3tables, glue or execute-api", STR_ARG(claim.service));
    TRY(access_by_key(c->d->o.svc.access, c->a, claim.access_key, claim.session_token, &secret, &c->who, err));
    c->who.source_ip = peer_of(c);
    TRY(rest_read(c, err));
    claim.payload_hash = hash_hex(c->a, HASH_SHA256, c->body);
    TRY(sig_verify(c->a, c->r, &claim, secret, clock_ms(), claim.payload_hash, err));
    iam_used(c->d->o.svc.access, &c->who, claim.service, claim.region);
    return OK;
}

Status rest_authenticate(RestCall *c, Error *err)
{
    Str head = http_header(c->r, "authorization"), scheme = {0}, token = {0};
    CatKey parent = {0};

    if (str_cut(head, ' ', &scheme, &token) && str_ieq(scheme, S("bearer"))) {
        if (c->d->o.auth_off && str_chr(token, '.') < 0)      /* a client without a token says "Bearer None" */
            return root_of_loopback(c, err);
        TRY(rest_token_principal(c, str_trim(token), &c->who, &parent, err));
        c->who.source_ip = peer_of(c);
        return OK;
    }
    return by_signature(c, err);
}

/* ---- the token endpoint (OAuth2; its errors are not in the error model's envelope) ---------------------------------------- */

static Status oauth_error(RestCall *c, int status, const char *code, const char *why)
{
    Json *j = json_object(c->a);
    json_set(c->a, j, "error", json_str(c->a, str_c(code)));
    json_set(c->a, j, "error_description", json_str(c->a, str_c(why)));
    rest_json(c, status, j);
    return OK;
}

static Str random_token(Arena *a, size_t bytes)
{
    char *p = arena_alloc(a, bytes);
    rand_bytes(p, bytes);
    return hex_encode(a, str_n(p, bytes));
}

static Status new_session(RestCall *c, const Principal *p, const CatKey *parent, int64_t until_ms, Str *token, Error *err)
{
    Str random = random_token(c->a, 32);
    CatKey k = { .id = str_cat(c->a, S("ASIA"), str_upper(c->a, random_token(c->a, 8))), .secret = random_token(c->a, 20),
                 .token = str_fmt(c->a, STR_FMT "." STR_FMT, STR_ARG(parent->id), STR_ARG(random)), .principal = p->arn, .created_ms = clock_ms(), .expires_ms = until_ms,
                 .scope = principal_scope(c->a, p), .active = 1 };

    TRY(cat_key_put(c->d->o.svc.catalog, &k, err));
    *token = str_fmt(c->a, STR_FMT "." STR_FMT, STR_ARG(k.id), STR_ARG(k.token));
    return OK;
}

static Status give_token(RestCall *c, const Principal *p, const CatKey *parent, Error *err)
{
    Json *j = json_object(c->a);
    Str token = {0};
    int64_t now = clock_ms(), until = now + TOKEN_SECONDS * 1000;

    if (parent->expires_ms > 0)
        until = min_i64(until, parent->expires_ms);
    TRY(new_session(c, p, parent, until, &token, err));
    json_set(c->a, j, "access_token", json_str(c->a, token));
    json_set(c->a, j, "token_type", json_str(c->a, S("bearer")));
    json_set(c->a, j, "expires_in", json_int(c->a, (until - now) / 1000));
    json_set(c->a, j, "issued_token_type", json_str(c->a, S("urn:ietf:params:oauth:token-type:access_token")));
    json_set(c->a, j, "scope", json_str(c->a, S("catalog")));
    rest_header(c, "cache-control", S("no-store"));
    rest_json(c, 200, j);
    return OK;
}

/* Client id and secret: in the form, or by HTTP Basic. */
static void client_of(RestCall *c, const Props *form, Str *id, Str *secret)
{
    Str scheme = {0}, rest = {0}, pair = {0};
    Error ignored;

    *id = props_get(form, S("client_id"), (Str){0});
    *secret = props_get(form, S("client_secret"), (Str){0});
    if (id->n > 0 || !str_cut(http_header(c->r, "authorization"), ' ', &scheme, &rest) || !str_ieq(scheme, S("basic")))
        return;
    if (base64_decode(c->a, str_trim(rest), &pair, &ignored) == OK)
        str_cut(pair, ':', id, secret);
}

static Status by_client(RestCall *c, const Props *form, Error *err)
{
    Str id = {0}, secret = {0}, known = {0};
    Principal p = {0};
    CatKey k = {0};

    client_of(c, form, &id, &secret);
    if (access_by_key(c->d->o.svc.access, c->a, id, (Str){0}, &known, &p, err) != OK || !str_eq_const_time(known, secret))
        return oauth_error(c, 401, "invalid_client", "Credentials given were invalid: client_id is an access key id, client_secret its secret");
    TRY(cat_key_get(c->d->o.svc.catalog, c->a, id, &k, err));
    return give_token(c, &p, &k, err);
}

static Status by_exchange(RestCall *c, const Props *form, Error *err)
{
    Principal p = {0};
    CatKey parent = {0};

    if (rest_token_principal(c, props_get(form, S("subject_token"), (Str){0}), &p, &parent, err) != OK)
        return oauth_error(c, 401, "invalid_grant", "The subject token is not valid");
    return give_token(c, &p, &parent, err);
}

Status rest_post_token(RestCall *c, Error *err)
{
    Props form = {0};

    if (url_query_parse(c->a, c->body, &form, err) != OK)
        return oauth_error(c, 400, "invalid_request", "The body must be form-encoded");
    Str grant = props_get(&form, S("grant_type"), (Str){0});
    if (str_eq(grant, S("client_credentials")))
        return by_client(c, &form, err);
    if (str_eq(grant, S("urn:ietf:params:oauth:grant-type:token-exchange")))
        return by_exchange(c, &form, err);
    return oauth_error(c, 400, "unsupported_grant_type", "grant_type must be client_credentials or token-exchange");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* manage_auth.c - who asks at /api: an access key, proven by a signature or shown as a password. */
#include "door/manage/manage_int.h"

static Status basic(Service *svc, HttpRequest *r, Str credentials, Principal *ret, Error *err)
{
    Str text, id, given, secret;

    if (base64_decode(r->arena, credentials, &text, err) != OK || !str_cut(text, ':', &id, &given))
        return FAIL(err, E_AUTH, "Basic credentials are an access key id and its secret");
    TRY(access_by_key(svc->access, r->arena, id, http_header(r, "x-amz-security-token"), &secret, ret, err));
    return str_eq_const_time(secret, given) ? OK : FAIL(err, E_AUTH, "the secret is not that of access key " STR_FMT, STR_ARG(id));
}

static Status by_signature(Service *svc, HttpRequest *r, Principal *ret, Error *err)
{
    SigClaim claim = {0};
    Str secret;

    TRY(sig_parse(r->arena, r, &claim, err));
    if (!claim.access_key.n)
        return FAIL(err, E_AUTH, "this needs an access key: sign the request, or send Basic credentials");
    TRY(access_by_key(svc->access, r->arena, claim.access_key, claim.session_token, &secret, ret, err));
    if (!claim.payload_hash.n)
        claim.payload_hash = hash_hex(r->arena, HASH_SHA256, (Str){0});
    return sig_verify(r->arena, r, &claim, secret, clock_ms(), claim.payload_hash, err);
}

Status manage_authenticate(Service *svc, HttpRequest *r, Principal *ret, Error *err)
{
    Str auth = http_header(r, "authorization");

    if (str_ieq(str_sub(auth, 0, strlen("Basic ")), S("Basic ")))
        return basic(svc, r, str_from(auth, strlen("Basic ")), ret, err);
    return by_signature(svc, r, ret, err);
}

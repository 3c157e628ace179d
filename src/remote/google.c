/* SPDX-License-Identifier: Apache-2.0 */
/* google.c - how a Google service account asks for a token (RFC 7523): it says who it is in a JSON Web Token that its key has signed.
 *
 * A token of Google's is good for all that the account may do, wherever it is sent.  Invariants: (1) the key's own token_uri is believed only where it leads to Google;
 * (2) nothing of the key is in a message. */
#include "remote/remote_int.h"

#define TOKEN_URI "https://oauth2.googleapis.com/token"
enum { ASSERTION_LIFE_S = 3600, KEY_BYTES_MAX = 65536 };

/* https://googleapis.com/… or below that domain, and no port, no user (1). */
static bool is_google(Str url)
{
    Str host, path;

    if (!str_starts(url, S("https://")) || !remote_is_token(url))
        return false;
    str_cut(str_from(url, strlen("https://")), '/', &host, &path);
    for (size_t i = 0; i < host.n; i++)
        if (!((host.p[i] >= 'a' && host.p[i] <= 'z') || (host.p[i] >= '0' && host.p[i] <= '9') || host.p[i] == '.' || host.p[i] == '-'))
            return false;
    return str_eq(host, S("googleapis.com")) || str_ends(host, S(".googleapis.com"));
}

static Json *claims(Arena *a, const Json *key, Str audience, int64_t now_s)
{
    Json *j = json_object(a);

    json_set(a, j, "iss", json_str(a, json_get_str(key, "client_email", (Str){0})));
    json_set(a, j, "scope", json_str(a, S("https://www.googleapis.com/auth/cloud-platform")));
    json_set(a, j, "aud", json_str(a, audience));
    json_set(a, j, "iat", json_int(a, now_s));
    json_set(a, j, "exp", json_int(a, now_s + ASSERTION_LIFE_S));
    return j;
}

static Status read_key(Arena *a, Str text, Json **ret, Error *err)
{
    static const char *const needed[] = { "client_email", "private_key" };
    Error ignored;                                             /* (2) */

    if (text.n > KEY_BYTES_MAX)
        return FAIL(err, E_LIMIT, "a service account key of %zu bytes, the limit is %d", text.n, KEY_BYTES_MAX);
    if (json_parse(a, text, ret, &ignored) != OK || !str_eq(json_get_str(*ret, "type", (Str){0}), S("service_account")))
        return FAIL(err, E_INVALID, "the service account key is not the JSON of a key of type service_account");
    for (size_t i = 0; i < COUNT_OF(needed); i++)
        if (!json_get_str(*ret, needed[i], (Str){0}).n)
            return FAIL(err, E_INVALID, "the service account key has no %s", needed[i]);
    return OK;
}

Status remote_google_ask(Arena *a, Str key_text, int64_t now_s, Str *url, Str *body, Error *err)
{
    Json *key = NULL;
    Str jwt;

    TRY(read_key(a, key_text, &key, err));
    *url = json_get_str(key, "token_uri", S(TOKEN_URI));
    if (!is_google(*url))
        return FAIL(err, E_DENIED, "the token_uri of a service account key must be https:// of googleapis.com, not '" STR_FMT "'", STR_ARG(remote_words(a, *url)));
    TRY_CTX(jwt_rs256(a, json_get_str(key, "private_key", (Str){0}), json_get_str(key, "private_key_id", (Str){0}), claims(a, key, *url, now_s), &jwt, err), err, "the service account key");
    *body = str_cat(a, S("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="), jwt);
    return OK;
}

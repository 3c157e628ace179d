/* SPDX-License-Identifier: Apache-2.0 */
/* token.c - bearer tokens: given, or got by OAuth2 client credentials and got again before they end.
 *
 * One token a catalog; whoever finds it due asks while the others wait. */
#include "remote/remote_int.h"

static Status ask(RemoteCatalog *c, Arena *a, TokenAnswer *ret, Error *err);
static Str form(RemoteCatalog *c, Arena *a);

Status remote_token(RemoteCatalog *c, Arena *a, Str *ret, Error *err)
{
    if (!c->o.credential.n) {
        *ret = c->o.bearer;
        return OK;
    }
    Status st = OK;
    pthread_mutex_lock(&c->mu);
    int64_t now = clock_ms();
    if (!c->token_due_ms || now >= c->token_due_ms) {
        TokenAnswer t = {0};
        st = ask(c, a, &t, err);
        if (st == OK) {
            arena_destroy(c->token_arena);
            c->token_arena = arena_create();
            c->token = str_dup(c->token_arena, t.token);
            c->token_due_ms = now + max_i64(t.life_ms - TOKEN_EARLY_MS, t.life_ms / 2);
        }
    }
    *ret = st == OK ? str_dup(a, c->token) : (Str){0};
    pthread_mutex_unlock(&c->mu);
    return st;
}

/* Only the one that was refused: another thread may have a new one by now. */
void remote_token_refused(RemoteCatalog *c, Str token)
{
    pthread_mutex_lock(&c->mu);
    if (str_eq(c->token, token))
        c->token_due_ms = 0;
    pthread_mutex_unlock(&c->mu);
}

static Status ask(RemoteCatalog *c, Arena *a, TokenAnswer *ret, Error *err)
{
    HttpReply r = {0};
    HttpCall h = { .method = "POST", .url = c->oauth_url, .body = form(c, a), .max_bytes = SMALL_ANSWER_MAX, .timeout_ms = c->o.timeout_ms ? c->o.timeout_ms : CALL_TIMEOUT_MS };

    props_set(a, &h.headers, S("content-type"), S("application/x-www-form-urlencoded"));
    props_set(a, &h.headers, S("accept"), S("application/json"));
    Status st = http_call(a, &h, &r, err);
    if (st == E_UNKNOWN)
        st = err->code = E_UNAVAILABLE;
    if (st == OK)
        st = r.status / 100 == 2 ? remote_parse_token(a, r.body, ret, err) : remote_judge_token(a, r.status, r.body, err);
    if (st != OK)
        return error_context(err, "token from " STR_FMT, STR_ARG(c->oauth_url)), st;
    return OK;
}

/* A credential without a colon is the secret alone. */
static Str form(RemoteCatalog *c, Arena *a)
{
    Str id = {0}, secret = c->o.credential;
    StrBuf b = sb_new(a);

    if (str_chr(secret, ':') >= 0)
        str_cut(c->o.credential, ':', &id, &secret);
    sb_addc(&b, "grant_type=client_credentials");
    if (id.n) {
        sb_addc(&b, "&client_id=");
        sb_add(&b, url_encode(a, id, 0));
    }
    sb_addc(&b, "&client_secret=");
    sb_add(&b, url_encode(a, secret, 0));
    sb_addc(&b, "&scope=");
    sb_add(&b, url_encode(a, c->o.scope.n ? c->o.scope : S("catalog"), 0));
    return sb_str(&b);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* token.c - bearer tokens: given and exchanged for new ones before they end (RFC 8693), or got by OAuth2 client credentials
 * or a Google service account's signature (RFC 7523) and got again before they end.
 *
 * One token a catalog; whoever finds it due asks while the others wait.  A given token that cannot be exchanged goes on as it is: the catalog says when it is over. */
#include "remote/remote_int.h"

static Status ask(RemoteCatalog *c, Arena *a, Str url, Str body, Str bearer, TokenAnswer *ret, Error *err);
static Status ask_anew(RemoteCatalog *c, Arena *a, int64_t now, TokenAnswer *ret, Error *err);
static Str form(RemoteCatalog *c, Arena *a);
static void exchange(RemoteCatalog *c, Arena *a, int64_t now);
static void keep(RemoteCatalog *c, const TokenAnswer *t, int64_t now);

Status remote_token(RemoteCatalog *c, Arena *a, Str *ret, Error *err)
{
    TokenAnswer t = {0};
    Status st = OK;

    pthread_mutex_lock(&c->mu);
    int64_t now = clock_ms();
    if (!remote_token_anew(c)) {
        exchange(c, a, now);
    } else if (!c->token_due_ms || now >= c->token_due_ms) {
        st = ask_anew(c, a, now, &t, err);
        if (st == OK)
            keep(c, &t, now);
    }
    *ret = st != OK ? (Str){0} : c->token.n ? str_dup(a, c->token) : c->o.bearer;
    pthread_mutex_unlock(&c->mu);
    return st;
}

static void keep(RemoteCatalog *c, const TokenAnswer *t, int64_t now)
{
    arena_destroy(c->token_arena);
    c->token_arena = arena_create();
    c->token = str_dup(c->token_arena, t->token);
    c->token_due_ms = now + max_i64(t->life_ms - TOKEN_EARLY_MS, t->life_ms / 2);
}

/* One that says when it ends is exchanged before; what does not say, or whose exchange the catalog does not want, stays. */
static void exchange(RemoteCatalog *c, Arena *a, int64_t now)
{
    Str token = c->token.n ? c->token : c->o.bearer;
    TokenAnswer t = {0};
    Error ignored;

    if (!c->token_due_ms) {
        int64_t ends = remote_token_ends(a, token);
        bool off = str_ieq(remote_setting(c, "token-refresh-enabled"), S("false")) || str_ieq(remote_setting(c, "token-exchange-enabled"), S("false"));
        c->token_due_ms = !ends || off ? INT64_MAX : now + max_i64(ends - now - TOKEN_EARLY_MS, (ends - now) / 2);
    }
    if (now < c->token_due_ms || (c->token_tried_ms && now - c->token_tried_ms < TOKEN_EXCHANGE_AGAIN_MS))
        return;
    c->token_tried_ms = now;
    Str body = str_cat(a, S("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token&subject_token="),
                       url_encode(a, token, 0));
    body = str_fmt(a, STR_FMT "&scope=" STR_FMT, STR_ARG(body), STR_ARG(url_encode(a, c->o.scope.n ? c->o.scope : S("catalog"), 0)));
    if (ask(c, a, c->oauth_url, body, token, &t, &ignored) != OK)
        return;
    keep(c, &t, now);
    c->token_tried_ms = 0;
}

/* Only the one that was refused: another thread may have a new one by now. */
void remote_token_refused(RemoteCatalog *c, Str token)
{
    pthread_mutex_lock(&c->mu);
    if (str_eq(c->token, token))
        c->token_due_ms = 0;
    pthread_mutex_unlock(&c->mu);
}

bool remote_token_anew(const RemoteCatalog *c) { return c->o.credential.n || c->o.google_key.n; }

static Status ask_anew(RemoteCatalog *c, Arena *a, int64_t now, TokenAnswer *ret, Error *err)
{
    Str url, body;

    if (!c->o.google_key.n)
        return ask(c, a, c->oauth_url, form(c, a), (Str){0}, ret, err);
    TRY(remote_google_ask(a, c->o.google_key, now / 1000, &url, &body, err));
    return ask(c, a, url, body, (Str){0}, ret, err);
}

static Status ask(RemoteCatalog *c, Arena *a, Str url, Str body, Str bearer, TokenAnswer *ret, Error *err)
{
    HttpReply r = {0};
    HttpCall h = { .method = "POST", .url = url, .body = body, .bearer = bearer, .max_bytes = SMALL_ANSWER_MAX, .timeout_ms = c->o.timeout_ms ? c->o.timeout_ms : CALL_TIMEOUT_MS };

    props_set(a, &h.headers, S("content-type"), S("application/x-www-form-urlencoded"));
    props_set(a, &h.headers, S("accept"), S("application/json"));
    Status st = http_call(a, &h, &r, err);
    if (st == E_UNKNOWN)
        st = err->code = E_UNAVAILABLE;
    if (st == OK)
        st = r.status / 100 == 2 ? remote_parse_token(a, r.body, ret, err) : remote_judge_token(a, r.status, r.body, err);
    if (st != OK)
        return error_context(err, "token from " STR_FMT, STR_ARG(url)), st;
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

/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - one request to a catalog: its URL, who it says it is, its repetition.
 *
 * Invariants: (1) a request that changes something goes out once, over a connection of its own: what became of it is for the caller to find out; (2) a token that was refused is
 * got anew once; (3) redirects are not followed, and no answer makes us talk to another host than the options name. */
#include <stdio.h>
#include <unistd.h>

#include "remote/remote_int.h"

typedef struct Outcome { Str token; int http; int64_t again_s; } Outcome;      /* http 0: no answer; again_s: Retry-After */

static Status once(RemoteCatalog *c, Arena *a, const RemoteCall *q, Str token, Str *body, Outcome *out, Error *err);
static Status authenticate(RemoteCatalog *c, Arena *a, HttpCall *h, Str given, AwsKeys *keys, Str *token, Error *err);
static void pause_before(int try, int64_t again_s);

Status remote_call(RemoteCatalog *c, Arena *a, const RemoteCall *q, Str *body, Error *err)
{
    Str token = q->token;
    int renewed = 0;

    for (int i = 1; ; i++) {
        Outcome out = {0};
        Status st = once(c, a, q, token, body, &out, err);
        if (st == E_AUTH && out.http && token.n) {           /* (2): the table's has ended */
            token = (Str){0};
            continue;
        }
        if (st == E_AUTH && out.http && out.token.n && !renewed && remote_token_anew(c)) {        /* (2): refused, so not done */
            renewed = 1;
            remote_token_refused(c, out.token);
            continue;
        }
        if (st == E_UNKNOWN && q->does <= DOES_LIST)
            st = err->code = E_UNAVAILABLE;
        if (st != E_UNAVAILABLE || q->does > DOES_LIST || i >= CALL_TRIES)            /* (1) */
            return st;
        pause_before(i, out.again_s);
    }
}

static Status once(RemoteCatalog *c, Arena *a, const RemoteCall *q, Str token, Str *body, Outcome *out, Error *err)
{
    AwsKeys keys = {0};
    HttpReply r = {0};
    StrBuf url = sb_new(a);

    if (q->url.n) {
        sb_add(&url, q->url);
    } else {
        sb_add(&url, c->base);
        sb_addc(&url, "/v1");
        sb_add(&url, q->bare ? (Str){0} : c->prefix);
        sb_add(&url, q->path);
    }
    sb_addc(&url, q->query.n ? "?" : "");
    sb_add(&url, q->query);
    HttpCall h = { .method = q->method, .url = sb_str(&url), .timeout_ms = c->o.timeout_ms ? c->o.timeout_ms : CALL_TIMEOUT_MS, .max_bytes = q->max ? q->max : SMALL_ANSWER_MAX,
                   .pool = q->does <= DOES_LIST ? c->pool : NULL };
    for vec_each(KeyValue, kv, &c->headers)
        props_set(a, &h.headers, kv->key, kv->value);
    props_set(a, &h.headers, S("accept"), S("application/json"));
    props_set(a, &h.headers, S("x-client-version"), S("firn"));
    if (q->delegates)
        props_set(a, &h.headers, S("x-iceberg-access-delegation"), str_c(q->delegates));
    if (q->unless.n)
        props_set(a, &h.headers, S("if-none-match"), q->unless);
    if (q->body) {
        props_set(a, &h.headers, S("content-type"), S("application/json"));
        h.body = json_text(a, q->body);
    }
    TRY(authenticate(c, a, &h, token, &keys, &out->token, err));
    Status st = http_call(a, &h, &r, err);
    if (st == E_TIMEOUT && q->does > DOES_LIST)
        st = err->code = E_UNKNOWN;
    if (st == E_LIMIT && q->does > DOES_LIST)
        st = err->code = E_UNKNOWN;                          /* done, perhaps, and the answer is beyond us */
    TRY(st);
    out->http = r.status;
    if (!str_to_i64(props_get(&r.headers, S("retry-after"), (Str){0}), &out->again_s))
        out->again_s = 0;
    *body = r.body;
    if (q->etag)
        *q->etag = props_get(&r.headers, S("etag"), (Str){0});
    if (r.status == 304 && q->unless.n)
        return *body = (Str){0}, OK;
    if (r.status / 100 == 2)
        return OK;
    st = remote_judge(a, q->does, r.status, r.body, err);
    return error_context(err, "%s " STR_FMT, q->method, STR_ARG(h.url)), st;
}

/* A signature takes the authorization header; a token beside it goes where Iceberg's clients put it. */
static Status authenticate(RemoteCatalog *c, Arena *a, HttpCall *h, Str given, AwsKeys *keys, Str *token, Error *err)
{
    *token = given;
    if (!given.n && c->o.kind == REMOTE_REST)
        TRY(remote_token(c, a, token, err));
    if (!c->sign_name.n) {
        h->bearer = *token;
        return OK;
    }
    if (!c->o.keys.get)
        return FAIL(err, E_AUTH, "requests to this catalog are signed, and there are no AWS keys");
    TRY_CTX(c->o.keys.get(c->o.keys.ctx, a, keys, err), err, "keys for the catalog");
    if (token->n)
        props_set(a, &h->headers, S("original-authorization"), str_cat(a, S("Bearer "), *token));
    h->sign = keys;
    h->service = c->sign_name;
    h->region = c->sign_region;
    return OK;
}

/* As long as the catalog asks for, within reason. */
static void pause_before(int try, int64_t again_s)
{
    int64_t us = max_i64((int64_t)CALL_PAUSE_MS * 1000 << (try - 1), min_i64(again_s, CALL_AGAIN_MAX_S) * 1000000);
    usleep((useconds_t)(us / 2 + (int64_t)(rand_u64() % (uint64_t)us)));
}

const char *remote_delegates(const RemoteCatalog *c)
{
    return c->o.delegation == REMOTE_VENDED ? "vended-credentials" : c->o.delegation == REMOTE_SIGNING ? DELEGATES_SIGNING : NULL;
}

/* ---- paths ----------------------------------------------------------------------------------------------------- */

Str remote_namespace_path(RemoteCatalog *c, Arena *a, Str ns)
{
    StrVec levels = {0};
    StrBuf b = sb_new(a);

    str_split(a, ns, NS_SEPARATOR, &levels);
    sb_addc(&b, "/namespaces/");
    for vec_each(Str, l, &levels) {
        sb_add(&b, l == levels.p ? (Str){0} : c->separator);
        sb_add(&b, url_encode(a, *l, 0));
    }
    return sb_str(&b);
}

Str remote_table_path(RemoteCatalog *c, Arena *a, Str ns, Str name)
{
    return str_fmt(a, STR_FMT "/tables/" STR_FMT, STR_ARG(remote_namespace_path(c, a, ns)), STR_ARG(url_encode(a, name, 0)));
}

Json *remote_namespace_json(Arena *a, Str ns)
{
    StrVec levels = {0};
    Json *list = json_array(a);

    str_split(a, ns, NS_SEPARATOR, &levels);
    for vec_each(Str, l, &levels)
        json_push(a, list, json_str(a, *l));
    return list;
}

Str remote_endpoint(Arena *a, Str endpoint)
{
    endpoint = str_trim(endpoint);
    while (str_ends(endpoint, S("/")))
        endpoint.n--;
    return !endpoint.n || str_find(endpoint, S("://")) > 0 ? endpoint : str_cat(a, S("http://"), endpoint);
}

Str remote_url_at(Arena *a, Str url, Str endpoint)
{
    ptrdiff_t at = str_find(url, S("://"));
    Str path = {0};

    while (str_ends(url, S("/")))
        url.n--;
    if (!endpoint.n || at < 0)
        return url;
    Str rest = str_from(url, (size_t)at + 3);
    ptrdiff_t slash = str_chr(rest, '/');
    if (slash >= 0)
        path = str_from(rest, (size_t)slash);
    return str_cat(a, remote_endpoint(a, endpoint), path);
}

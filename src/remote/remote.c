/* SPDX-License-Identifier: Apache-2.0 */
/* remote.c - opening a catalog elsewhere: its configuration, its namespaces.
 *
 * What a catalog says of itself in its configuration is used for paths, headers and storage; never for where requests go. */
#include <stdlib.h>

#include "remote/remote_int.h"

static Status copy_options(RemoteCatalog *c, const RemoteOptions *o, Error *err);
static Status configure(RemoteCatalog *c, Error *err);
static Status take_prefix(RemoteCatalog *c, Error *err);
static Status take_signing(RemoteCatalog *c, Error *err);
static void take_headers(RemoteCatalog *c, const Props *from);
static Str region_of(Str url);

Status remote_open(const RemoteOptions *o, RemoteCatalog **ret, Error *err)
{
    CLEANUP(remote_closep) RemoteCatalog *c = calloc(1, sizeof *c);

    if (!c)
        abort();
    c->a = arena_create();
    c->pool = http_pool_new();
    pthread_mutex_init(&c->mu, NULL);
    TRY(copy_options(c, o, err));
    TRY(configure(c, err));
    TRY(store_cache_open(c->o.dir, c->o.cache_bytes, &c->cache, err));
    *ret = c;
    c = NULL;
    return OK;
}

void remote_close(RemoteCatalog *c)
{
    if (!c)
        return;
    store_cache_free(c->cache);
    http_pool_free(c->pool);
    pthread_mutex_destroy(&c->mu);
    arena_destroy(c->token_arena);
    arena_destroy(c->a);
    free(c);
}

void remote_closep(RemoteCatalog **c)
{
    remote_close(*c);
    *c = NULL;
}

static Status copy_options(RemoteCatalog *c, const RemoteOptions *o, Error *err)
{
    Str *texts[] = { &c->o.url, &c->o.warehouse, &c->o.endpoint, &c->o.region, &c->o.credential, &c->o.scope, &c->o.oauth2_url, &c->o.bearer, &c->o.google_key, &c->o.dir, &c->o.sign_name, &c->o.sign_region };

    c->o = *o;
    c->o.storage = (Props){0};
    for vec_each(const KeyValue, kv, &o->storage)
        props_set(c->a, &c->o.storage, str_dup(c->a, kv->key), str_dup(c->a, kv->value));
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        *texts[i] = str_dup(c->a, *texts[i]);
    if (!str_starts(c->o.url, S("http://")) && !str_starts(c->o.url, S("https://")))
        return FAIL(err, E_INVALID, "the catalog's URL '" STR_FMT "' is not http:// or https://", STR_ARG(c->o.url));
    if (!c->o.region.n)
        c->o.region = region_of(c->o.url);
    c->o.endpoint = remote_endpoint(c->a, c->o.endpoint);
    c->base = remote_url_at(c->a, c->o.url, c->o.endpoint);
    c->oauth_url = c->o.oauth2_url.n ? c->o.oauth2_url : str_cat(c->a, c->base, S("/v1/oauth/tokens"));
    c->separator = S("%1F");
    c->sign_name = c->o.kind == REMOTE_GLUE ? S("glue") : c->o.kind == REMOTE_S3TABLES ? S("s3tables") : c->o.sign_name;
    c->sign_region = c->o.kind == REMOTE_REST && c->o.sign_region.n ? c->o.sign_region : c->o.region;
    return OK;
}

Str remote_setting(const RemoteCatalog *c, const char *key)
{
    return props_get(&c->overrides, str_c(key), props_get(&c->defaults, str_c(key), (Str){0}));
}

/* https://s3tables.eu-west-1.amazonaws.com/iceberg */
static Str region_of(Str url)
{
    Str host = str_from(url, (size_t)str_find(url, S("://")) + 3), service, rest, region, domain;

    host = str_sub(host, 0, str_chr(host, '/') < 0 ? host.n : (size_t)str_chr(host, '/'));
    bool aws = str_ends(host, S(".amazonaws.com")) || str_ends(host, S(".amazonaws.com.cn"));
    if (!aws || !str_cut(host, '.', &service, &rest) || !str_cut(rest, '.', &region, &domain) || !str_starts(domain, S("amazonaws.com")))
        return S("us-east-1");
    return region;
}

static Status configure(RemoteCatalog *c, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str body = {0};
    RemoteCall q = { .method = "GET", .path = S("/config"), .bare = 1 };

    if (c->o.warehouse.n)
        q.query = str_cat(a, S("warehouse="), url_encode(a, c->o.warehouse, 0));
    TRY(remote_call(c, a, &q, &body, err));
    TRY_CTX(remote_parse_config(c->a, body, &c->defaults, &c->overrides, err), err, STR_FMT "/v1/config", STR_ARG(c->base));
    take_headers(c, &c->defaults);
    take_headers(c, &c->overrides);
    TRY(take_signing(c, err));
    if (!c->o.bearer.n && !remote_token_anew(c) && remote_is_token(remote_setting(c, "token")))
        c->o.bearer = remote_setting(c, "token");
    Str separator = remote_setting(c, "namespace-separator");
    if (separator.n && separator.n <= 12 && str_chr(separator, '/') < 0 && str_chr(separator, '?') < 0 && str_chr(separator, '#') < 0)
        c->separator = separator;
    return take_prefix(c, err);
}

/* It comes encoded, and may have several segments ("catalogs/x"). */
static Status take_prefix(RemoteCatalog *c, Error *err)
{
    Str p = remote_setting(c, "prefix");
    StrVec segments = {0};

    if (!p.n)
        return OK;
    for (size_t i = 0; i < p.n; i++)
        if (p.p[i] <= 0x20 || p.p[i] >= 0x7f || p.p[i] == '?' || p.p[i] == '#' || p.p[i] == '\\')
            return FAIL(err, E_INVALID, "the catalog's configuration has a prefix that is no path: '" STR_FMT "'", STR_ARG(remote_words(c->a, p)));
    str_split(c->a, p, '/', &segments);
    for vec_each(Str, s, &segments)
        if (!s->n || str_eq(*s, S(".")) || str_eq(*s, S("..")))
            return FAIL(err, E_INVALID, "the catalog's configuration has a prefix that is no path: '" STR_FMT "'", STR_ARG(remote_words(c->a, p)));
    c->prefix = str_cat(c->a, S("/"), p);
    return OK;
}

/* A catalog may want its requests signed from here on. */
static Status take_signing(RemoteCatalog *c, Error *err)
{
    bool wanted = str_ieq(remote_setting(c, "rest.sigv4-enabled"), S("true")) || str_ieq(remote_setting(c, "rest.auth.type"), S("sigv4"));
    Str name = remote_setting(c, "rest.signing-name"), region = remote_setting(c, "rest.signing-region");

    if (!wanted || c->sign_name.n)
        return OK;
    if (!c->o.keys.get) {
        RAISE(err, E_AUTH, "the catalog wants signed requests (rest.sigv4-enabled), and there are no AWS keys to sign with");
        error_hint(err, "Give the connection an AWS CONNECTION and a SIGNING NAME.");
        return E_AUTH;
    }
    c->sign_name = name.n ? name : S("execute-api");
    if (!c->o.sign_region.n && (region.n || remote_setting(c, "client.region").n))
        c->sign_region = region.n ? region : remote_setting(c, "client.region");
    return OK;
}

static bool token_char(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') || ch == '-' || ch == '_';
}

/* Those that say who we are, or how the request is framed, are not for the catalog to set. */
static bool may_be_set(Str name, Str value)
{
    static const char *const OURS[] = { "authorization", "host", "content-length", "content-type", "transfer-encoding", "connection", "expect", "accept", "cookie", "proxy-authorization", "te", "upgrade" };

    for (size_t i = 0; i < COUNT_OF(OURS); i++)
        if (str_eq(name, str_c(OURS[i])))
            return false;
    for (size_t i = 0; i < name.n; i++)
        if (!token_char(name.p[i]))
            return false;
    for (size_t i = 0; i < value.n; i++)
        if ((unsigned char)value.p[i] < 0x20 || value.p[i] == 0x7f)
            return false;
    return name.n && value.n <= 8192 && !str_starts(name, S("x-amz-"));
}

static void take_headers(RemoteCatalog *c, const Props *from)
{
    for vec_each(KeyValue, kv, from) {
        Str name = str_starts(kv->key, S("header.")) ? str_lower(c->a, str_from(kv->key, 7)) : (Str){0};
        if (name.n && c->headers.n < HEADERS_MAX && may_be_set(name, kv->value))
            props_set(c->a, &c->headers, name, kv->value);
    }
}

/* ---- namespaces --------------------------------------------------------------------------------------------------- */

/* Asks for pages until there is no next one; `take` reads one and says what the next one's token is. */
static Status pages(RemoteCatalog *c, Arena *a, Str path, Status (*take)(void *ctx, Arena *a, Str body, Str *next, Error *err), void *ctx, Error *err)
{
    Str token = {0}, next = {0};
    size_t bytes = 0;

    for (int page = 0; page == 0 || token.n; page++) {
        Str body = {0};
        RemoteCall q = { .method = "GET", .path = path, .does = DOES_LIST };
        if (token.n)
            q.query = str_cat(a, S("pageToken="), url_encode(a, token, 0));
        TRY(remote_call(c, a, &q, &body, err));
        bytes += body.n;
        if (bytes > LIMIT_JSON_BYTES)
            return FAIL(err, E_LIMIT, "the catalog's list is over %d bytes", LIMIT_JSON_BYTES);
        TRY(take(ctx, a, body, &next, err));
        if (next.n && (str_eq(next, token) || page > PAGES_MAX))
            return FAIL(err, E_INVALID, "the catalog's list does not come to an end");
        token = next;
    }
    return OK;
}

static Status take_namespaces(void *ctx, Arena *a, Str body, Str *next, Error *err) { return remote_parse_namespaces(a, body, ctx, next, err); }
static Status take_tables(void *ctx, Arena *a, Str body, Str *next, Error *err) { return remote_parse_tables(a, body, ctx, next, err); }

Status remote_namespaces(RemoteCatalog *c, Arena *a, RemoteNamespaces *ret, Error *err)
{
    return pages(c, a, S("/namespaces"), take_namespaces, ret, err);
}

Status remote_tables(RemoteCatalog *c, Arena *a, Str ns, StrVec *names, Error *err)
{
    return pages(c, a, str_cat(a, remote_namespace_path(c, a, ns), S("/tables")), take_tables, names, err);
}

Status remote_namespace_find(RemoteCatalog *c, Str ns, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str body = {0};
    RemoteCall q = { .method = "GET", .path = remote_namespace_path(c, a, ns), .does = DOES_LIST };

    return remote_call(c, a, &q, &body, err);
}

Status remote_namespace_create(RemoteCatalog *c, Str ns, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *j = json_object(a);
    Str body = {0};
    RemoteCall q = { .method = "POST", .path = S("/namespaces"), .body = j, .does = DOES_CREATE };

    json_set(a, j, "namespace", remote_namespace_json(a, ns));
    json_set(a, j, "properties", json_object(a));
    return remote_call(c, a, &q, &body, err);
}

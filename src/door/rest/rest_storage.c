/* SPDX-License-Identifier: Apache-2.0 */
/* rest_storage.c - the config answer, and what a client needs to reach a table's files.
 *
 * Region, endpoint and path style are told always and at every place where some client looks for them (spec/iceberg.md 1.6): one
 * of them missing is a hard error in one client and a request to the real AWS in another. */
#include "door/rest/rest_int.h"

static Str endpoint_of(RestCall *c)
{
    Str host = http_header(c->r, "host");
    if (host.n == 0)
        return c->d->o.lake_url;
    return str_fmt(c->a, "%s://" STR_FMT, c->d->o.tls ? "https" : "http", STR_ARG(host));
}

static void put(RestCall *c, Json *j, const char *key, Str value) { json_set(c->a, j, key, json_str(c->a, value)); }

Json *rest_storage_config(RestCall *c, const CatKey *key)
{
    Json *j = json_object(c->a);
    Str region = cat_region(c->d->o.svc.catalog);

    put(c, j, "client.region", region);
    put(c, j, "s3.region", region);
    put(c, j, "s3.endpoint", endpoint_of(c));
    put(c, j, "s3.path-style-access", S("true"));
    if (!key)
        return j;
    put(c, j, "s3.access-key-id", key->id);
    put(c, j, "s3.secret-access-key", key->secret);
    put(c, j, "s3.session-token", key->token);
    put(c, j, "s3.session-token-expires-at-ms", str_fmt(c->a, "%lld", (long long)key->expires_ms));
    return j;
}

/* A client that names what it wants and does not name credentials has its own. */
bool rest_wants_credentials(const RestCall *c)
{
    Str want = http_header(c->r, "x-iceberg-access-delegation");
    return want.n == 0 || str_find(want, S("vended-credentials")) >= 0;
}

static bool is_managed(RestCall *c, const SvcTable *t)
{
    CatMview v = {0};
    Error ignored;
    return t->relation.kind == REL_MVIEW && t->relation.id != 0
        && cat_mview_get(c->d->o.svc.catalog, c->a, t->relation.id, &v, &ignored) == OK && v.managed;
}

static bool is_object(RestCall *c, Str uri)
{
    Location l = {0};
    Error ignored;
    return store_parse_location(c->a, uri, &l, &ignored) == OK && !l.file;
}

static void merge(RestCall *c, Json *to, const Json *from)
{
    for (size_t i = 0; i < json_len(from); i++)
        json_set_s(c->a, to, from->object.p[i].key, from->object.p[i].value);
}

Status rest_vend(RestCall *c, const SvcTable *t, Json *config, Json **credentials, Error *err)
{
    StrVec all = {0}, objects = {0};
    CatKey key = {0};

    *credentials = json_array(c->a);
    svc_table_prefixes(&c->svc, t, &all);
    for vec_each(Str, p, &all)
        if (is_object(c, *p))
            vec_push(c->a, &objects, *p);
    if (objects.n == 0)
        return OK;
    TRY(access_vend(c->d->o.svc.access, c->a, &c->who, &objects, !is_managed(c, t), VEND_SECONDS, &key, err));
    Json *storage = rest_storage_config(c, &key);
    merge(c, config, storage);
    for vec_each(Str, p, &objects) {
        Json *one = json_object(c->a);
        put(c, one, "prefix", *p);
        json_set(c->a, one, "config", json_copy(c->a, storage));
        json_push(c->a, *credentials, one);
    }
    return OK;
}

/* ---- GET /v1/config -------------------------------------------------------------------------------------------------------- */

static Json *endpoints(RestCall *c)
{
    Json *list = json_array(c->a);
    for (size_t i = 0; i < rest_routes_n; i++)
        if (str_starts(str_c(rest_routes[i].path), S("/v1/{prefix}")) && !(rest_routes[i].flags & ROUTE_ABSENT))
            json_push(c->a, list, json_str(c->a, str_fmt(c->a, "%s %s", rest_routes[i].method, rest_routes[i].path)));
    return list;
}

/* The account's warehouse may also be named by the URI that its tables go to, or below it. */
static Status wanted(RestCall *c, Str name, CatWarehouse *ret, Error *err)
{
    Str base = {0};

    TRY(svc_warehouse_base(&c->svc, &base, err));
    if (str_starts(name, base) && (name.n == base.n || name.p[base.n] == '/'))
        name = (Str){0};
    return cat_warehouse_get(c->d->o.svc.catalog, c->a, name, ret, err);
}

Status rest_get_config(RestCall *c, Error *err)
{
    CatWarehouse w = {0};
    Json *j = json_object(c->a), *overrides = json_object(c->a);

    TRY(wanted(c, http_arg(c->r, "warehouse", (Str){0}), &w, err));
    if (!str_eq(w.kind, S("account")))
        put(c, overrides, "prefix", url_encode(c->a, w.arn, 0));
    json_set(c->a, j, "defaults", rest_storage_config(c, NULL));
    json_set(c->a, j, "overrides", overrides);
    json_set(c->a, j, "endpoints", endpoints(c));
    rest_json(c, 200, j);
    return OK;
}

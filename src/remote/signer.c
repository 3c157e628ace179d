/* SPDX-License-Identifier: Apache-2.0 */
/* signer.c - requests to an object store that the catalog signs: it keeps the keys, we ask for each request.
 *
 * A table says where its signer is ("s3.signer.uri" and "s3.signer.endpoint"; later "signer.*").  Our token goes there, so the host is the catalog's own or nobody's (Iceberg's
 * S3 signer specification, and the sign route of the REST one). */
#include "remote/remote_int.h"

/* scheme://host:port */
static Str origin(Str url)
{
    ptrdiff_t at = str_find(url, S("://"));
    if (at <= 0)
        return (Str){0};
    size_t end = (size_t)at + 3;
    while (end < url.n && url.p[end] != '/' && url.p[end] != '?' && url.p[end] != '#')
        end++;
    return str_sub(url, 0, end);
}

Status remote_signer_url(const RemoteCatalog *c, Arena *a, Str uri, Str endpoint, Str *ret, Error *err)
{
    Str base = uri.n ? uri : c->base, url = endpoint.n ? endpoint : S("v1/aws/s3/sign");

    while (str_ends(base, S("/")))
        base.n--;
    if (!str_starts(url, S("http://")) && !str_starts(url, S("https://")))
        url = str_fmt(a, STR_FMT "%s" STR_FMT, STR_ARG(base), str_starts(url, S("/")) ? "" : "/", STR_ARG(url));
    for (size_t i = 0; i < url.n; i++)
        if (url.p[i] <= 0x20 || url.p[i] >= 0x7f || url.p[i] == '#' || url.p[i] == '\\')
            return FAIL(err, E_INVALID, "the signer of the table's requests has a URL that is none: '" STR_FMT "'", STR_ARG(remote_words(a, url)));
    if (!str_ieq(origin(url), origin(c->base)))
        return FAIL(err, E_DENIED, "the signer of the table's requests is '" STR_FMT "', which is not the catalog's host: it is not asked", STR_ARG(url));
    *ret = url;
    return OK;
}

static Json *headers_json(Arena *a, const Props *headers)
{
    Json *all = json_object(a);

    for vec_each(const KeyValue, h, headers) {
        Json *list = json_array(a);
        json_push(a, list, json_str(a, h->value));
        json_set_s(a, all, h->key, list);
    }
    return all;
}

Status remote_sign(RemoteCatalog *c, Arena *a, Str signer, Str token, StoreS3Request *r, Error *err)
{
    Json *j = json_object(a);
    Str body = {0}, url;
    Props headers = {0};
    RemoteCall q = { .method = "POST", .url = signer, .token = token, .body = j };

    json_set(a, j, "region", json_str(a, r->region));
    json_set(a, j, "uri", json_str(a, r->url));
    json_set(a, j, "method", json_str(a, str_c(r->method)));
    json_set(a, j, "headers", headers_json(a, &r->headers));
    json_set(a, j, "properties", json_object(a));
    json_set(a, j, "provider", json_str(a, S("s3")));
    TRY(remote_call(c, a, &q, &body, err));
    TRY(remote_parse_signed(a, body, &url, &headers, err));
    for vec_each(const KeyValue, h, &r->headers)
        if (!props_has(&headers, str_lower(a, h->key)))
            props_set(a, &headers, h->key, h->value);
    r->url = url;
    r->headers = headers;
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sig_sign.c - signing a request of ours by SigV4. */
#include <stdlib.h>

#include "net/net_int.h"

static Status split_url(Str url, Str *host, Str *path, Str *query, Error *err);
static Str compact_date(Arena *a, int64_t ms);
static void sorted_names(Arena *a, const Props *headers, StrVec *ret);
static bool is_signed(Str name);
static int by_name(const void *x, const void *y);

Status sig_sign(Arena *a, const char *method, Str url, Props *headers, Str body, const AwsKeys *k, Str service, Str region, int64_t now_ms, Error *err)
{
    Str host, path, query, amz_date = compact_date(a, now_ms), date = str_sub(amz_date, 0, 8);
    Str payload = hash_hex(a, HASH_SHA256, body), scope = sig_scope(a, date, region, service);
    StrVec names = {0};
    Props all = {0};

    TRY(split_url(url, &host, &path, &query, err));
    props_set(a, headers, S("x-amz-date"), amz_date);
    props_set(a, headers, S("x-amz-content-sha256"), payload);
    if (k->session_token.n)
        props_set(a, headers, S("x-amz-security-token"), k->session_token);
    for vec_each(KeyValue, h, headers)
        props_set(a, &all, str_lower(a, h->key), h->value);
    props_set(a, &all, S("host"), host);
    sorted_names(a, &all, &names);
    Str joined = str_join(a, &names, S(";"));
    Str canonical = str_fmt(a, "%s\n" STR_FMT "\n" STR_FMT "\n" STR_FMT "\n" STR_FMT "\n" STR_FMT, method,
                            STR_ARG(sig_canonical_path(a, path, service)), STR_ARG(sig_canonical_query(a, query, (Str){0})),
                            STR_ARG(sig_canonical_headers(a, &all, &names)), STR_ARG(joined), STR_ARG(payload));
    Str sig = sig_of_request(a, sig_key(a, k->secret_key, date, region, service), amz_date, scope, canonical);
    props_set(a, headers, S("authorization"),
              str_fmt(a, "AWS4-HMAC-SHA256 Credential=" STR_FMT "/" STR_FMT ", SignedHeaders=" STR_FMT ", Signature=" STR_FMT,
                      STR_ARG(k->access_key), STR_ARG(scope), STR_ARG(joined), STR_ARG(sig)));
    return OK;
}

/* The host keeps its port, but not a default one: that is what clients send. */
static Status split_url(Str url, Str *host, Str *path, Str *query, Error *err)
{
    ptrdiff_t at = str_find(url, S("://"));
    if (at <= 0)
        return FAIL(err, E_INVALID, "'" STR_FMT "' is not a URL", STR_ARG(url));
    Str scheme = str_sub(url, 0, (size_t)at), rest = str_from(url, (size_t)at + 3);
    size_t end = 0;
    while (end < rest.n && rest.p[end] != '/' && rest.p[end] != '?' && rest.p[end] != '#')
        end++;
    *host = str_sub(rest, 0, end);
    Str standard = str_eq(scheme, S("https")) ? S(":443") : S(":80");
    if (str_ends(*host, standard))
        *host = str_sub(*host, 0, host->n - standard.n);
    rest = str_from(rest, end);
    str_cut(rest, '#', &rest, query);
    str_cut(rest, '?', path, query);
    if (!path->n)
        *path = S("/");
    return OK;
}

static Str compact_date(Arena *a, int64_t ms)
{
    Str iso = time_iso8601(a, ms);
    return str_fmt(a, "%.4s%.2s%.2sT%.2s%.2s%.2sZ", iso.p, iso.p + 5, iso.p + 8, iso.p + 11, iso.p + 14, iso.p + 17);
}

static void sorted_names(Arena *a, const Props *headers, StrVec *ret)
{
    for vec_each(KeyValue, h, headers)
        if (is_signed(h->key))
            vec_push(a, ret, h->key);
    qsort(ret->p, ret->n, sizeof *ret->p, by_name);
}

/* Headers that proxies and libraries change or add stay outside. */
static bool is_signed(Str name)
{
    static const char *const skip[] = { "authorization", "user-agent", "expect", "connection", "transfer-encoding", "accept", "accept-encoding" };
    for (size_t i = 0; i < COUNT_OF(skip); i++)
        if (str_eq(name, str_c(skip[i])))
            return false;
    return true;
}

static int by_name(const void *x, const void *y)
{
    return str_cmp(*(const Str *)x, *(const Str *)y);
}

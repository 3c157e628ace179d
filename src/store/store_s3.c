/* SPDX-License-Identifier: Apache-2.0 */
/* store_s3.c - opening and closing a store whose objects lie elsewhere, behind S3's protocol.
 *
 * Such a Store has no index: each call is one request (store_s3_call.c), objects (store_s3_object.c) and writers (store_s3_put.c) are S3's own.  What needs a file on disk gets
 * a copy from the cache (store_s3_cache.c).
 * Invariants: (1) a location that the options do not allow is never asked for; (2) what store_gate guards is not for this backend: it refuses there. */
#include <stdlib.h>

#include "store/store_s3_int.h"

static Status copy_options(S3Side *t, const StoreS3Options *o, Error *err);

Status store_open_s3(const StoreS3Options *o, Store **ret, Error *err)
{
    Store *s = calloc(1, sizeof *s);
    S3Side *t = calloc(1, sizeof *t);
    if (!s || !t)
        abort();
    s->a = t->a = arena_create();
    s->s3 = t;
    t->pool = http_pool_new();
    pthread_mutex_init(&s->mu, NULL);
    pthread_mutex_init(&t->mu, NULL);
    Status st = copy_options(t, o, err);
    if (st == OK && !t->o.cache) {
        st = store_cache_open((Str){0}, 0, &t->own_cache, err);
        t->o.cache = t->own_cache;
    }
    if (st != OK) {
        store_close(s);
        return st;
    }
    s->dir = store_cache_dir(t->o.cache);
    s->scratch = store_cache_scratch(t->o.cache);
    *ret = s;
    return OK;
}

void s3s_close(S3Side *t)
{
    if (t->o.cache)
        s3s_unpin(t);
    free(t->pins.p);
    store_cache_free(t->own_cache);
    http_pool_free(t->pool);
    if (t->o.closed)
        t->o.closed(t->o.ctx);
    pthread_mutex_destroy(&t->mu);
    free(t);
}

void store_prefetch(Store *s, const StrVec *uris)
{
    if (s->s3)
        s3s_prefetch(s, uris);
}

void store_paths_done(Store *s)
{
    if (s->s3)
        s3s_unpin(s->s3);
}

static Status copy_options(S3Side *t, const StoreS3Options *o, Error *err)
{
    t->o = *o;
    t->o.region = o->region.n ? str_dup(t->a, o->region) : S("us-east-1");
    t->o.endpoint = o->endpoint.n ? str_dup(t->a, o->endpoint) : s3s_aws_endpoint(t->a, t->o.region);
    while (str_ends(t->o.endpoint, S("/")))
        t->o.endpoint.n--;
    for (size_t i = 0; o->within && i < o->within->n; i++)
        vec_push(t->a, &t->within, str_dup(t->a, o->within->p[i]));
    t->o.within = o->within ? &t->within : NULL;
    t->own_endpoint = !o->endpoint.n;
    t->region = t->o.region;
    t->endpoint = t->o.endpoint;
    if (!str_starts(t->o.endpoint, S("http://")) && !str_starts(t->o.endpoint, S("https://")))
        return FAIL(err, E_INVALID, "the object store's endpoint '" STR_FMT "' is not an http:// or https:// URL", STR_ARG(t->o.endpoint));
    return OK;
}

Str s3s_aws_endpoint(Arena *a, Str region)
{
    const char *domain = str_starts(region, S("cn-")) ? "amazonaws.com.cn" : "amazonaws.com";
    return str_fmt(a, "https://s3." STR_FMT ".%s", STR_ARG(region), domain);
}

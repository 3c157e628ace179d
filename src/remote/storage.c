/* SPDX-License-Identifier: Apache-2.0 */
/* storage.c - the object store behind a table: where it is, and with whose credentials.
 *
 * Properties come from the table's answer (storage-credentials by the longest prefix, then config), then from the catalog's overrides, the options and the catalog's defaults.
 * Vended credentials go by the object's place: the longest prefix that covers it, else those of the table's location.  They are renewed before they end while the store is open;
 * when that fails, the old ones serve as long as they are good.  Where the catalog signs (signer.c), there are no keys here at all.
 * A Storage belongs to its Store and goes with it. */
#include <stdlib.h>

#include "remote/remote_int.h"

typedef struct Grant { Str prefix; AwsKeys keys; } Grant;
typedef struct Storage {
    RemoteCatalog *c;
    Arena *a;
    Str ns, name, location, signer;
    pthread_mutex_t mu;                             /* the rest */
    Arena *keys_arena;                              /* of what comes next */
    VEC(Grant) grants;                              /* the first: of the table's location, prefix "" */
    Str token;
    int64_t due_ms, ends_ms;                        /* when to renew; when the first of them end, 0: unknown */
    int64_t tried_ms;
} Storage;

typedef struct Found { const TableAnswer *t; const RemoteCatalog *c; const Props *grant; } Found;
typedef enum { BY_OWN_KEYS, BY_VENDED_KEYS, BY_SIGNER, BY_NOTHING } Means;

static Found found_in(const RemoteCatalog *c, const TableAnswer *t, Str location);
static Str look(const Found *f, const char *key);
static Means means_of(const RemoteCatalog *c, const Found *f);
static Status no_means(const RemoteCatalog *c, Str name, Error *err);
static Storage *storage_new(RemoteCatalog *c, Str ns, Str name, const TableAnswer *t);
static void take_keys(Storage *g, const TableAnswer *t);
static Status own_keys(void *ctx, Arena *a, Str bucket, Str key, AwsKeys *ret, Error *err);
static Status vended_keys(void *ctx, Arena *a, Str bucket, Str key, AwsKeys *ret, Error *err);
static void vended_refused(void *ctx);
static Status sign(void *ctx, Arena *a, StoreS3Request *r, Error *err);
static void storage_free(void *ctx);
static Status renew(Storage *g, Error *err);

Status remote_storage_open(RemoteCatalog *c, Str ns, Str name, const TableAnswer *t, Store **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Found f = found_in(c, t, t->meta->location);
    StrVec places = {0};
    Str endpoint = c->o.endpoint.n ? c->o.endpoint : look(&f, "s3.endpoint"), style = look(&f, "s3.path-style-access"), signer = {0};
    Str region = look(&f, "s3.region").n ? look(&f, "s3.region") : look(&f, "client.region");
    Means means = means_of(c, &f);

    TRY(remote_places(a, t->meta, t->metadata_location, &places, err));
    if (means == BY_NOTHING)
        return no_means(c, name, err);
    if (means == BY_SIGNER) {
        Str uri = look(&f, "signer.uri").n ? look(&f, "signer.uri") : look(&f, "s3.signer.uri");
        Str path = look(&f, "signer.endpoint").n ? look(&f, "signer.endpoint") : look(&f, "s3.signer.endpoint");
        TRY(remote_signer_url(c, a, uri, path, &signer, err));
    }
    bool aws = !endpoint.n || str_find(endpoint, S(".amazonaws.com")) > 0;
    Storage *g = storage_new(c, ns, name, t);
    g->signer = str_dup(g->a, signer);
    StoreS3Options o = { .endpoint = remote_endpoint(a, endpoint), .region = region.n ? region : c->o.region, .within = &places, .cache = c->cache, .timeout_ms = c->o.timeout_ms,
                         .path_style = c->o.endpoint.n || str_ieq(style, S("true")) || (!style.n && !aws), .ctx = g, .closed = storage_free,
                         .keys = means == BY_VENDED_KEYS ? vended_keys : own_keys, .refused = means == BY_VENDED_KEYS ? vended_refused : NULL, .sign = means == BY_SIGNER ? sign : NULL };
    return store_open_s3(&o, ret, err);
}

/* ---- what the catalog says ------------------------------------------------------------------------------------------ */

/* s3a and s3n are other words for s3. */
static Str after_scheme(Str uri)
{
    static const char *const SCHEMES[] = { "s3://", "s3a://", "s3n://" };
    for (size_t i = 0; i < COUNT_OF(SCHEMES); i++)
        if (str_starts(uri, str_c(SCHEMES[i])))
            return str_from(uri, strlen(SCHEMES[i]));
    return uri;
}

static bool covers(Str prefix, Str location)
{
    return !prefix.n || str_eq(prefix, S("s3")) || str_starts(after_scheme(location), after_scheme(prefix));
}

/* The grant with the longest prefix that covers the location. */
static Found found_in(const RemoteCatalog *c, const TableAnswer *t, Str location)
{
    Found f = { .t = t, .c = c };
    Str best = {0};

    for vec_each(const StorageGrant, g, &t->grants) {
        if (!covers(g->prefix, location) || (f.grant && g->prefix.n <= best.n))
            continue;
        f.grant = &g->config;
        best = g->prefix;
    }
    return f;
}

static Str look(const Found *f, const char *key)
{
    const Props *places[] = { f->grant, &f->t->config, &f->c->overrides, &f->c->o.storage, &f->c->defaults };
    Str v = {0};

    for (size_t i = 0; i < COUNT_OF(places) && !v.n; i++)
        v = places[i] ? props_get(places[i], str_c(key), (Str){0}) : v;
    return v;
}

static bool has_keys(const Found *f)
{
    return look(f, "s3.access-key-id").n && look(f, "s3.secret-access-key").n;
}

static Means means_of(const RemoteCatalog *c, const Found *f)
{
    bool signs = str_ieq(look(f, "s3.remote-signing-enabled"), S("true")), own = c->o.keys.get;

    if (c->o.delegation == REMOTE_SIGNING)
        return signs ? BY_SIGNER : BY_NOTHING;
    if (has_keys(f) && (c->o.delegation == REMOTE_VENDED || !own))
        return BY_VENDED_KEYS;
    return own ? BY_OWN_KEYS : signs ? BY_SIGNER : BY_NOTHING;
}

static Status no_means(const RemoteCatalog *c, Str name, Error *err)
{
    if (c->o.delegation == REMOTE_SIGNING) {
        RAISE(err, E_AUTH, "the catalog does not sign requests for the files of table " STR_FMT, STR_ARG(name));
        error_hint(err, "Ask for vended credentials, or give the connection AWS keys.");
    } else {
        RAISE(err, E_AUTH, "there are no credentials for the files of table " STR_FMT ": the catalog gave none, and the connection has none", STR_ARG(name));
        error_hint(err, "Ask for vended credentials, or give the connection AWS keys.");
    }
    strcpy(err->kind, "NoCredentials");
    return E_AUTH;
}

/* ---- keys --------------------------------------------------------------------------------------------------------------- */

static Storage *storage_new(RemoteCatalog *c, Str ns, Str name, const TableAnswer *t)
{
    Storage *g = calloc(1, sizeof *g);
    if (!g)
        abort();
    g->c = c;
    g->a = arena_create();
    g->ns = str_dup(g->a, ns);
    g->name = str_dup(g->a, name);
    g->location = str_dup(g->a, t->meta->location);
    pthread_mutex_init(&g->mu, NULL);
    take_keys(g, t);
    return g;
}

static void storage_free(void *ctx)
{
    Storage *g = ctx;
    pthread_mutex_destroy(&g->mu);
    arena_destroy(g->keys_arena);
    arena_destroy(g->a);
    free(g);
}

/* Renewed 15 minutes before the end, or at half of a shorter life; without an end every 5 minutes. */
static int64_t due_of(int64_t ends_ms, int64_t now)
{
    return !ends_ms ? now + VENDED_LIFE_MS : ends_ms - now > 2LL * VENDED_EARLY_MS ? ends_ms - VENDED_EARLY_MS : now + (ends_ms - now) / 2;
}

static void take_grant(Storage *g, const Found *f, Str prefix, int64_t now)
{
    Grant n = { .prefix = str_dup(g->keys_arena, prefix) };
    int64_t ends = 0;

    if (!has_keys(f))
        return;
    n.keys = (AwsKeys){ .access_key = str_dup(g->keys_arena, look(f, "s3.access-key-id")), .secret_key = str_dup(g->keys_arena, look(f, "s3.secret-access-key")),
                        .session_token = str_dup(g->keys_arena, look(f, "s3.session-token")) };
    if (!str_to_i64(look(f, "s3.session-token-expires-at-ms"), &ends) || ends <= now)
        ends = 0;
    if (ends && (!g->ends_ms || ends < g->ends_ms))
        g->ends_ms = ends;
    g->due_ms = g->grants.n ? min_i64(g->due_ms, due_of(ends, now)) : due_of(ends, now);
    vec_push(g->keys_arena, &g->grants, n);
}

static void take_keys(Storage *g, const TableAnswer *t)
{
    int64_t now = clock_ms();
    Found f = found_in(g->c, t, g->location);
    Str token = props_get(&t->config, S("token"), (Str){0});

    arena_destroy(g->keys_arena);
    g->keys_arena = arena_create();
    g->grants.p = NULL;
    g->grants.n = g->grants.cap = 0;
    g->ends_ms = 0;
    g->token = remote_is_token(token) ? str_dup(g->keys_arena, token) : (Str){0};
    take_grant(g, &f, (Str){0}, now);
    for vec_each(const StorageGrant, s, &t->grants) {
        Found one = { .t = t, .c = g->c, .grant = &s->config };
        if (s->prefix.n)
            take_grant(g, &one, s->prefix, now);
    }
}

static Status own_keys(void *ctx, Arena *a, Str bucket, Str key, AwsKeys *ret, Error *err)
{
    const RemoteKeys *k = &((Storage *)ctx)->c->o.keys;
    (void)bucket, (void)key;
    return k->get(k->ctx, a, ret, err);
}

/* Under the lock; there is at least the table's own. */
static const AwsKeys *keys_for(const Storage *g, Str uri)
{
    const Grant *best = g->grants.p;

    for vec_each(const Grant, x, &g->grants)
        if (covers(x->prefix, uri) && x->prefix.n > best->prefix.n)
            best = x;
    return &best->keys;
}

static Status vended_keys(void *ctx, Arena *a, Str bucket, Str key, AwsKeys *ret, Error *err)
{
    Storage *g = ctx;
    Status st = OK;

    pthread_mutex_lock(&g->mu);
    int64_t now = clock_ms();
    bool refused = !g->due_ms, over = refused || (g->ends_ms && now >= g->ends_ms);
    if (over || (now >= g->due_ms && now - g->tried_ms >= TOKEN_AGAIN_MS)) {
        g->tried_ms = now;
        st = renew(g, err);
        if (st != OK && !over)
            st = OK;                                         /* the old ones are still good; the next request tries again */
    }
    if (st == OK) {
        const AwsKeys *k = keys_for(g, store_s3_uri(a, bucket, key));
        *ret = (AwsKeys){ str_dup(a, k->access_key), str_dup(a, k->secret_key), str_dup(a, k->session_token) };
    }
    pthread_mutex_unlock(&g->mu);
    return st;
}

static void vended_refused(void *ctx)
{
    Storage *g = ctx;
    pthread_mutex_lock(&g->mu);
    g->due_ms = 0;
    pthread_mutex_unlock(&g->mu);
}

static Status sign(void *ctx, Arena *a, StoreS3Request *r, Error *err)
{
    Storage *g = ctx;
    return remote_sign(g->c, a, g->signer, g->token, r, err);
}

static bool gave_keys(const Storage *g, const TableAnswer *t)
{
    Found f = found_in(g->c, t, g->location);
    return has_keys(&f);
}

/* By the table's credentials route; by loading the table where the catalog has no such route. */
static Status renew(Storage *g, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    TableAnswer t = {0};
    Str body = {0};
    RemoteCall q = { .method = "GET", .path = str_cat(a, remote_table_path(g->c, a, g->ns, g->name), S("/credentials")), .delegates = "vended-credentials", .token = g->token };

    Status st = remote_call(g->c, a, &q, &body, err);
    if (st == OK)
        st = remote_parse_grants(a, body, &t.grants, err);
    if (st == E_AUTH || st == E_DENIED)
        return st;
    if (st == OK && g->token.n)
        props_set(a, &t.config, S("token"), str_dup(a, g->token));
    if (st != OK || !gave_keys(g, &t)) {
        q.path = remote_table_path(g->c, a, g->ns, g->name);
        q.max = LIMIT_JSON_BYTES;
        q.token = (Str){0};
        TRY(remote_call(g->c, a, &q, &body, err));
        TRY(remote_parse_table(a, body, &t, err));
    }
    if (!gave_keys(g, &t))
        return FAIL(err, E_AUTH, "the catalog gave no new credentials for the files of table " STR_FMT, STR_ARG(g->name));
    take_keys(g, &t);
    return OK;
}

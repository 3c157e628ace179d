/* SPDX-License-Identifier: Apache-2.0 */
/* storage.c - the object store behind a table: where it is, and with whose credentials.
 *
 * Properties come from the table's answer (storage-credentials by the longest prefix, then config), then from the catalog's configuration, then from the options.  Vended credentials are renewed before they
 * end while the store is open; when that fails, the old ones serve as long as they are good.
 * A Storage belongs to its Store and goes with it. */
#include <stdlib.h>

#include "remote/remote_int.h"

typedef struct Storage {
    RemoteCatalog *c;
    Arena *a;
    Str ns, name, location;
    pthread_mutex_t mu;                             /* the rest */
    Arena *keys_arena;
    AwsKeys keys;
    int64_t due_ms, ends_ms;                        /* when to renew; when they end, 0: unknown */
    int64_t tried_ms;
} Storage;

typedef struct Found { const TableAnswer *t; const Props *grant, *config, *ours; } Found;

static Found found_in(RemoteCatalog *c, const TableAnswer *t, Str location);
static Str look(const Found *f, const char *key);
static Storage *storage_new(RemoteCatalog *c, Str ns, Str name, Str location);
static void take_keys(Storage *g, const Found *f);
static Status own_keys(void *ctx, Arena *a, AwsKeys *ret, Error *err);
static Status vended_keys(void *ctx, Arena *a, AwsKeys *ret, Error *err);
static void vended_refused(void *ctx);
static void storage_free(void *ctx);
static Status renew(Storage *g, Error *err);

Status remote_storage_open(RemoteCatalog *c, Str ns, Str name, const TableAnswer *t, Store **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Found f = found_in(c, t, t->meta->location);
    StrVec places = {0};
    Str endpoint = c->o.endpoint.n ? c->o.endpoint : look(&f, "s3.endpoint"), style = look(&f, "s3.path-style-access");
    Str region = look(&f, "s3.region").n ? look(&f, "s3.region") : look(&f, "client.region");
    bool vended = look(&f, "s3.access-key-id").n && look(&f, "s3.secret-access-key").n && (c->o.vended || !c->o.keys.get);

    TRY(remote_places(a, t->meta, t->metadata_location, &places, err));
    if (!vended && !c->o.keys.get) {
        RAISE(err, E_AUTH, "there are no credentials for the files of table " STR_FMT ": the catalog gave none, and the connection has none", STR_ARG(name));
        error_hint(err, "Ask for vended credentials, or give the connection AWS keys.");
        return E_AUTH;
    }
    bool aws = !endpoint.n || str_find(endpoint, S(".amazonaws.com")) > 0;
    StoreS3Options o = { .endpoint = remote_endpoint(a, endpoint), .region = region.n ? region : c->o.region, .within = &places, .cache = c->cache, .timeout_ms = c->o.timeout_ms,
                         .path_style = c->o.endpoint.n || str_ieq(style, S("true")) || (!style.n && !aws), .closed = storage_free, .keys = own_keys };
    Storage *g = storage_new(c, ns, name, t->meta->location);
    o.ctx = g;
    if (vended) {
        take_keys(g, &f);
        o.keys = vended_keys;
        o.refused = vended_refused;
    }
    return store_open_s3(&o, ret, err);
}

/* The grant with the longest prefix that covers the table. */
static Found found_in(RemoteCatalog *c, const TableAnswer *t, Str location)
{
    Found f = { .t = t, .config = &c->config, .ours = &c->o.storage };
    Str best = {0};

    for vec_each(const StorageGrant, g, &t->grants) {
        if (!str_starts(location, g->prefix) || (f.grant && g->prefix.n <= best.n))
            continue;
        f.grant = &g->config;
        best = g->prefix;
    }
    return f;
}

static Str look(const Found *f, const char *key)
{
    Str v = f->grant ? props_get(f->grant, str_c(key), (Str){0}) : (Str){0};
    if (!v.n)
        v = props_get(&f->t->config, str_c(key), (Str){0});
    if (!v.n)
        v = props_get(f->config, str_c(key), (Str){0});
    return v.n ? v : props_get(f->ours, str_c(key), (Str){0});
}

static Storage *storage_new(RemoteCatalog *c, Str ns, Str name, Str location)
{
    Storage *g = calloc(1, sizeof *g);
    if (!g)
        abort();
    g->c = c;
    g->a = arena_create();
    g->ns = str_dup(g->a, ns);
    g->name = str_dup(g->a, name);
    g->location = str_dup(g->a, location);
    pthread_mutex_init(&g->mu, NULL);
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
static void take_keys(Storage *g, const Found *f)
{
    int64_t now = clock_ms();

    arena_destroy(g->keys_arena);
    g->keys_arena = arena_create();
    g->keys = (AwsKeys){ .access_key = str_dup(g->keys_arena, look(f, "s3.access-key-id")), .secret_key = str_dup(g->keys_arena, look(f, "s3.secret-access-key")),
                         .session_token = str_dup(g->keys_arena, look(f, "s3.session-token")) };
    if (!str_to_i64(look(f, "s3.session-token-expires-at-ms"), &g->ends_ms) || g->ends_ms <= now)
        g->ends_ms = 0;
    g->due_ms = !g->ends_ms ? now + VENDED_LIFE_MS : g->ends_ms - now > 2LL * VENDED_EARLY_MS ? g->ends_ms - VENDED_EARLY_MS : now + (g->ends_ms - now) / 2;
}

static Status own_keys(void *ctx, Arena *a, AwsKeys *ret, Error *err)
{
    const RemoteKeys *k = &((Storage *)ctx)->c->o.keys;
    return k->get(k->ctx, a, ret, err);
}

static Status vended_keys(void *ctx, Arena *a, AwsKeys *ret, Error *err)
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
    if (st == OK)
        *ret = (AwsKeys){ str_dup(a, g->keys.access_key), str_dup(a, g->keys.secret_key), str_dup(a, g->keys.session_token) };
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

/* By the table's credentials route; by loading the table where the catalog has no such route. */
static Status renew(Storage *g, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    TableAnswer t = {0};
    Str body = {0};
    RemoteCall q = { .method = "GET", .path = str_cat(a, remote_table_path(g->c, a, g->ns, g->name), S("/credentials")), .delegates = 1 };

    Status st = remote_call(g->c, a, &q, &body, err);
    if (st == OK)
        st = remote_parse_grants(a, body, &t.grants, err);
    Found f = found_in(g->c, &t, g->location);
    if (st == E_AUTH || st == E_DENIED)
        return st;
    if (st != OK || !look(&f, "s3.access-key-id").n) {
        q.path = remote_table_path(g->c, a, g->ns, g->name);
        q.max = LIMIT_JSON_BYTES;
        TRY(remote_call(g->c, a, &q, &body, err));
        TRY(remote_parse_table(a, body, &t, err));
        f = found_in(g->c, &t, g->location);
    }
    if (!look(&f, "s3.access-key-id").n || !look(&f, "s3.secret-access-key").n)
        return FAIL(err, E_AUTH, "the catalog gave no new credentials for the files of table " STR_FMT, STR_ARG(g->name));
    take_keys(g, &f);
    return OK;
}

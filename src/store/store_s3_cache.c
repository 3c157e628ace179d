/* SPDX-License-Identifier: Apache-2.0 */
/* store_s3_cache.c - files of remote objects, for those who open files by path: a bounded folder that several stores share.
 *
 * An entry is one object's bytes as they were at one ETag.  A store that has given out an entry's path holds (pins) it until store_paths_done or its end; what nobody holds goes
 * when space is needed, the longest unused first.
 * Invariants: (1) a path that was given out stays as long as its store holds it; (2) a file that is there is whole: it is written under another name, its length (and
 * checksum, when the server tells one) compared, then renamed; (3) `used` is the bytes of all files, those on their way included. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store_s3_int.h"

enum { CACHE_BUCKETS = 1024 };
static const int64_t CACHE_BYTES = 8LL * 1024 * 1024 * 1024;

typedef enum { ENTRY_COMING, ENTRY_HERE, ENTRY_FAILED } EntryState;
struct CacheEntry {
    CacheEntry *next;                   /* of its bucket */
    char *key, *path, *etag;
    int64_t size, used_us;
    int pins, stale;                    /* stale: in no bucket any more; goes with its last pin */
    EntryState state;
};
struct StoreCache {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    CacheEntry *buckets[CACHE_BUCKETS];
    int64_t max, used;
    uint64_t serial;
    char *dir, *scratch;
    CacheFolder *folder;
};

typedef struct Fetch {
    Arena *a;
    StoreCache *c;
    CacheEntry *e;
    HttpReply reply;
    S3Check check;
    int fd, begun;
    int64_t got;
} Fetch;

static char *copy_z(const char *a, const char *b);
static CacheEntry **find(StoreCache *c, const char *key);
static CacheEntry *entry_new(StoreCache *c, const char *key);
static void entry_drop(StoreCache *c, CacheEntry *e);
static Status reserve(StoreCache *c, CacheEntry *e, int64_t n, Error *err);
static Status entry_for(Store *s, Arena *a, Str uri, CacheEntry **ret, Error *err);
static Status fetch(Store *s, Arena *a, const Location *at, CacheEntry *e, Error *err);
static void pin(S3Side *t, CacheEntry *e);
static CacheEntry *pinned(S3Side *t, const char *key);

Status store_cache_open(Str dir, int64_t max_bytes, StoreCache **ret, Error *err)
{
    StoreCache *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->max = max_bytes ? max_bytes : CACHE_BYTES;
    pthread_mutex_init(&c->mu, NULL);
    pthread_cond_init(&c->changed, NULL);
    Status st = cache_folder_make(dir, &c->folder, err);
    if (st != OK) {
        store_cache_free(c);
        return st;
    }
    c->dir = copy_z(cache_folder_dir(c->folder), "");
    c->scratch = copy_z(c->dir, CACHE_SCRATCH);
    *ret = c;
    return OK;
}

void store_cache_free(StoreCache *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < CACHE_BUCKETS; i++)
        while (c->buckets[i])
            entry_drop(c, c->buckets[i]);
    cache_folder_remove(c->folder);
    free(c->dir);
    free(c->scratch);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->mu);
    free(c);
}

Str store_cache_dir(const StoreCache *c) { return str_c(c->dir); }
Str store_cache_scratch(const StoreCache *c) { return str_c(c->scratch); }

Status s3s_local_path(Store *s, Arena *a, Str uri, Str *ret, Error *err)
{
    CacheEntry *e = NULL;
    TRY(entry_for(s, a, uri, &e, err));
    *ret = str_dup(a, str_c(e->path));
    return OK;
}

Status s3s_open_fd(Store *s, Arena *a, Str uri, int *fd, ObjectInfo *info, Error *err)
{
    CacheEntry *e = NULL;
    Location at;
    TRY(entry_for(s, a, uri, &e, err));
    TRY(store_parse_location(a, uri, &at, err));
    int f = open(e->path, O_RDONLY | O_CLOEXEC);
    if (f < 0)
        return FAIL_ERRNO(err, "opening the copy of '" STR_FMT "'", STR_ARG(uri));
    *info = (ObjectInfo){ .bucket = at.bucket, .key = at.key, .size = e->size, .etag = str_dup(a, str_c(e->etag)) };
    *fd = f;
    return OK;
}

void s3s_unpin(S3Side *t)
{
    StoreCache *c = t->o.cache;
    pthread_mutex_lock(&t->mu);
    pthread_mutex_lock(&c->mu);
    for (size_t i = 0; i < t->pins.n; i++) {
        CacheEntry *e = t->pins.p[i].entry;
        e->used_us = clock_mono_us();
        if (--e->pins == 0 && e->stale)
            entry_drop(c, e);
    }
    t->pins.n = 0;
    pthread_mutex_unlock(&c->mu);
    pthread_mutex_unlock(&t->mu);
}

/* ---- many at once ------------------------------------------------------------------------------------------------- */

typedef struct Fetchers { Store *s; const StrVec *uris; size_t next; int failed; } Fetchers;

static void *fetch_some(void *ctx)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Fetchers *f = ctx;
    CacheEntry *e;
    Error ignored;

    for (size_t i; !__atomic_load_n(&f->failed, __ATOMIC_RELAXED) && (i = __atomic_fetch_add(&f->next, 1, __ATOMIC_RELAXED)) < f->uris->n; )
        if (entry_for(f->s, a, f->uris->p[i], &e, &ignored) != OK)
            __atomic_store_n(&f->failed, 1, __ATOMIC_RELAXED);           /* said again to whoever asks for it */
    return NULL;
}

void s3s_prefetch(Store *s, const StrVec *uris)
{
    Fetchers f = { .s = s, .uris = uris };
    pthread_t threads[S3_FETCHERS];
    size_t n = 0;

    if (uris->n < 2)
        return;
    while (n < S3_FETCHERS - 1 && n + 1 < uris->n && pthread_create(&threads[n], NULL, fetch_some, &f) == 0)
        n++;
    fetch_some(&f);
    while (n)
        pthread_join(threads[--n], NULL);
}

/* ---- entries ---------------------------------------------------------------------------------------------------- */

/* One that is there and whose object has not changed, or a new one. While another thread fetches it, this one waits. */
static Status claim(Store *s, Arena *a, const Location *at, const char *key, CacheEntry **ret, int *mine, Error *err)
{
    StoreCache *c = s->s3->o.cache;
    ObjectInfo now = {0};

    pthread_mutex_lock(&c->mu);
    CacheEntry *e = *find(c, key);
    bool fresh = e && e->state == ENTRY_COMING;              /* fetched while this one waits: as new as can be */
    if (e)
        e->pins++;
    while (e && e->state == ENTRY_COMING)
        pthread_cond_wait(&c->changed, &c->mu);
    pthread_mutex_unlock(&c->mu);
    Status st = e && e->state == ENTRY_HERE && !fresh ? s3s_stat(s, a, store_s3_uri(a, at->bucket, at->key), &now, err) : OK;
    bool good = st == OK && e && e->state == ENTRY_HERE && (fresh || (now.size == e->size && now.etag.n && str_eq(now.etag, str_c(e->etag))));
    pthread_mutex_lock(&c->mu);
    if (good)
        e->used_us = clock_mono_us();
    if (e && !good) {
        CacheEntry **place = find(c, key);
        bool outdated = e->state == ENTRY_HERE && (st == OK || st == E_NOT_FOUND);
        if (outdated && *place == e)
            *place = e->next, e->stale = 1;
        if (--e->pins == 0 && e->stale)
            entry_drop(c, e);
    }
    *mine = st == OK && !good && !*find(c, key);
    *ret = good ? e : *mine ? entry_new(c, key) : NULL;
    pthread_mutex_unlock(&c->mu);
    return st;
}

static Status entry_for(Store *s, Arena *a, Str uri, CacheEntry **ret, Error *err)
{
    S3Side *t = s->s3;
    Location at;
    CacheEntry *e = NULL;

    TRY(s3s_place(s, a, uri, &at, err));
    TRY(key_check(at.bucket, at.key, err));
    Str id = str_fmt(a, STR_FMT "\n" STR_FMT "\n" STR_FMT, STR_ARG(t->o.endpoint), STR_ARG(at.bucket), STR_ARG(at.key));
    const char *key = hash_hex(a, HASH_SHA256, id).p;
    *ret = pinned(t, key);
    if (*ret)
        return OK;
    for (int i = 0; !e && i < S3_REFETCH_TRIES; i++) {
        int mine = 0;
        TRY(claim(s, a, &at, key, &e, &mine, err));
        if (mine)
            TRY_CTX(fetch(s, a, &at, e, err), err, "fetching '" STR_FMT "'", STR_ARG(uri));
    }
    if (!e)
        return FAIL(err, E_UNAVAILABLE, "'" STR_FMT "' is replaced again and again while it is fetched", STR_ARG(uri));
    pin(t, e);
    *ret = e;
    return OK;
}

static void pin(S3Side *t, CacheEntry *e)
{
    pthread_mutex_lock(&t->mu);
    if (t->pins.n == t->pins.cap) {
        t->pins.cap = t->pins.cap ? t->pins.cap * 2 : 16;
        t->pins.p = realloc(t->pins.p, t->pins.cap * sizeof *t->pins.p);
        if (!t->pins.p)
            abort();
    }
    t->pins.p[t->pins.n++] = (S3Pin){ e };
    pthread_mutex_unlock(&t->mu);
}

/* What this store holds it believes in: one store sees an object always the same. */
static CacheEntry *pinned(S3Side *t, const char *key)
{
    CacheEntry *e = NULL;
    pthread_mutex_lock(&t->mu);
    for (size_t i = 0; i < t->pins.n && !e; i++)
        if (!strcmp(t->pins.p[i].entry->key, key))
            e = t->pins.p[i].entry;
    pthread_mutex_unlock(&t->mu);
    return e;
}

static CacheEntry **find(StoreCache *c, const char *key)
{
    uint32_t h = murmur3_32(str_c(key));
    CacheEntry **p = &c->buckets[h % CACHE_BUCKETS];
    while (*p && strcmp((*p)->key, key) != 0)
        p = &(*p)->next;
    return p;
}

/* Pinned once, for its fetcher. */
static CacheEntry *entry_new(StoreCache *c, const char *key)
{
    CacheEntry *e = calloc(1, sizeof *e);
    char name[64];
    if (!e)
        abort();
    snprintf(name, sizeof name, "/%016llx", (unsigned long long)++c->serial);
    e->key = copy_z(key, "");
    e->path = copy_z(c->dir, name);
    e->etag = copy_z("", "");
    e->pins = 1;
    e->used_us = clock_mono_us();
    *find(c, key) = e;
    return e;
}

static void entry_drop(StoreCache *c, CacheEntry *e)
{
    CacheEntry **place = find(c, e->key);
    if (*place == e)
        *place = e->next;
    c->used -= e->size;
    unlink(e->path);
    free(e->key);
    free(e->path);
    free(e->etag);
    free(e);
}

/* Room for n more bytes of e. */
static Status reserve(StoreCache *c, CacheEntry *e, int64_t n, Error *err)
{
    Status st = OK;
    pthread_mutex_lock(&c->mu);
    while (st == OK && c->used + n > c->max) {
        CacheEntry *oldest = NULL;
        for (size_t i = 0; i < CACHE_BUCKETS; i++)
            for (CacheEntry *x = c->buckets[i]; x; x = x->next)
                if (!x->pins && (!oldest || x->used_us < oldest->used_us))
                    oldest = x;
        if (oldest)
            entry_drop(c, oldest);
        else
            st = FAIL(err, E_LIMIT, "the objects that are read at once need more than the %lld bytes of the folder for their copies", (long long)c->max);
    }
    if (st == OK) {
        c->used += n;
        e->size += n;
    }
    pthread_mutex_unlock(&c->mu);
    return st;
}

/* ---- fetching ----------------------------------------------------------------------------------------------------- */

static Status fetch_add(void *ctx, Str bytes, Error *err)
{
    Fetch *f = ctx;

    if (!f->begun) {
        f->begun = 1;
        s3s_check_start(&f->check, f->a, &f->reply);
    }
    TRY(reserve(f->c, f->e, (int64_t)bytes.n, err));
    if (f->check.h)
        hasher_add(f->check.h, bytes);
    f->got += (int64_t)bytes.n;
    return fd_write_all(f->fd, bytes, err);
}

static void fetch_again(void *ctx)
{
    Fetch *f = ctx;
    Error ignored;
    f->begun = 0;
    if (reserve(f->c, f->e, -f->got, &ignored) != OK || ftruncate(f->fd, 0) < 0 || lseek(f->fd, 0, SEEK_SET) < 0)
        return;                                          /* then the length does not come out (2) */
    f->got = 0;
}

static Status receive(Store *s, Fetch *f, const Location *at, Error *err)
{
    S3Call q = { .method = "GET", .bucket = at->bucket, .key = at->key, .moves_much = 1, .max_bytes = (size_t)f->c->max, .sink = fetch_add, .again = fetch_again, .sink_ctx = f };
    ObjectInfo info = {0};
    Str uri = store_s3_uri(f->a, at->bucket, at->key);

    props_set(f->a, &q.headers, S("x-amz-checksum-mode"), S("ENABLED"));
    TRY(s3s_call(s, f->a, &q, &f->reply, err));
    s3s_object_info(f->a, at->bucket, at->key, &f->reply, &info);
    TRY(s3s_whole(&f->reply, f->got, uri, err));
    TRY(s3s_check_end(&f->check, f->a, uri, err));
    free(f->e->etag);
    f->e->etag = copy_z(str_z(f->a, info.etag), "");
    return OK;
}

static Status fetch(Store *s, Arena *a, const Location *at, CacheEntry *e, Error *err)
{
    StoreCache *c = s->s3->o.cache;
    Str temp = str_fmt(a, "%s.part", e->path);
    Fetch f = { .a = a, .c = c, .e = e, .fd = open(temp.p, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) };

    Status st = f.fd < 0 ? FAIL_ERRNO(err, "creating a copy's file") : receive(s, &f, at, err);
    s3s_check_done(&f.check);
    file_closep(&f.fd);
    if (st == OK && rename(temp.p, e->path) < 0)
        st = FAIL_ERRNO(err, "naming a copy's file");
    if (st != OK)
        unlink(temp.p);
    pthread_mutex_lock(&c->mu);
    e->state = st == OK ? ENTRY_HERE : ENTRY_FAILED;
    if (st != OK) {
        CacheEntry **place = find(c, e->key);
        if (*place == e)
            *place = e->next;
        e->stale = 1;
        if (--e->pins == 0)
            entry_drop(c, e);
    }
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->mu);
    return st;
}

static char *copy_z(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    char *z = malloc(n + m + 1);
    if (!z)
        abort();
    memcpy(z, a, n);
    memcpy(z + n, b, m + 1);
    return z;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* put.c - writing an object: bytes go to a new blob and through the hashes; the commit seals the blob and publishes it.
 *
 * A small object's bytes also go into the journal, inside the transaction that publishes its row: then one sync makes it
 * durable, and its file is synced later (journal.c).
 * Invariant: a writer owns its blob until the row is published; every way out before that removes the blob. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_s3_int.h"

static Status commit(StoreWriter *w, const PutCondition *cond, Arena *a, ObjectInfo *ret, Error *err);
static Status put_whole(Store *s, Str uri, Str bytes, const PutCondition *cond, Error *err);
static Status take_file(StoreWriter *w, const char *path, Error *err);

Status store_put_open(Store *s, Str bucket, Str key, StoreWriter **ret, Error *err)
{
    CLEANUP(store_put_abandonp) StoreWriter *w = NULL;
    CLEANUP(reader_give) Reader r = {0};
    if (s->s3)
        return s3s_put_open(s, bucket, key, ret, err);
    TRY(store_gate(s, err));
    TRY(key_check(bucket, key, err));
    TRY(reader_take(s->index, &r, err));
    TRY(bucket_need(r.db, bucket, err));
    TRY(writer_new(s, &w, err));
    w->bucket = str_dup(w->a, bucket);
    w->key = str_dup(w->a, key);
    *ret = w;
    w = NULL;
    return OK;
}

Status store_put_add(StoreWriter *w, Str bytes, Error *err)
{
    if (w->s3)
        return s3s_put_add(w, bytes, err);
    TRY(store_gate(w->s, err));
    hashes_add(&w->hashes, bytes);
    w->size += (int64_t)bytes.n;
    w->large = w->large || w->size > JOURNAL_BYTES_MAX;
    if (!w->large)
        sb_add(&w->small, bytes);
    return fd_write_all(w->fd, bytes, err);
}

void store_put_headers(StoreWriter *w, const Props *headers, const Props *tags)
{
    props_copy(w->a, headers, &w->headers);
    props_copy(w->a, tags, &w->tags);
}

void store_put_want(StoreWriter *w, HashKind kind)
{
    if (!w->hashes.h[kind])
        w->hashes.h[kind] = hasher_new(kind);
}

Str store_put_hash(StoreWriter *w, Arena *a, HashKind kind)
{
    return hashes_get(&w->hashes, a, kind);
}

Status store_put_commit(StoreWriter *w, const PutCondition *cond, Arena *a, ObjectInfo *ret, Error *err)
{
    if (w->s3)
        return s3s_put_commit(w, cond, a, ret, err);
    if (w->path.n)
        return file_put_commit(w, cond, a, ret, err);
    Status st = commit(w, cond, a, ret, err);
    writer_free(w);
    return st;
}

void store_put_abandon(StoreWriter *w)
{
    if (!w)
        return;
    if (w->s3) {
        s3s_put_abandon(w);
        return;
    }
    if (w->temp.n)
        unlink(w->temp.p);
    else
        blob_remove(w->s, w->blob);
    writer_free(w);
}

void store_put_abandonp(StoreWriter **w)
{
    store_put_abandon(*w);
}

Status store_put(Store *s, Str uri, Str bytes, Error *err)
{
    return put_whole(s, uri, bytes, NULL, err);
}

Status store_put_new(Store *s, Str uri, Str bytes, Error *err)
{
    PutCondition cond = { .if_none_match = 1 };
    Status st = put_whole(s, uri, bytes, &cond, err);
    if (st == E_CONFLICT)
        return FAIL(err, E_EXISTS, "'" STR_FMT "' exists", STR_ARG(uri));
    return st;
}

Status store_adopt(Store *s, Str uri, Str local_path, Arena *a, ObjectInfo *ret, Error *err)
{
    CLEANUP(store_put_abandonp) StoreWriter *w = NULL;
    Location loc;
    const char *path = str_z(a, local_path);
    if (!str_starts(local_path, s->scratch))
        return FAIL(err, E_INVALID, "'%s' is not in the scratch folder", path);
    if (s->s3)
        return s3s_adopt(s, uri, local_path, a, ret, err);
    TRY(store_gate(s, err));
    TRY(store_parse_location(a, uri, &loc, err));
    if (loc.file)
        return file_adopt(s, loc.path, local_path, a, ret, err);
    TRY(store_put_open(s, loc.bucket, loc.key, &w, err));
    TRY(take_file(w, path, err));
    TRY_CTX(blob_take(s, path, w->blob, err), err, "storing '" STR_FMT "'", STR_ARG(uri));
    StoreWriter *mine = w;
    w = NULL;
    Status st = commit(mine, NULL, a, ret, err);
    writer_free(mine);
    return st;
}

/* ---- writers and hashes, used by parts and files too -------------------------------------------------------------- */

Status writer_new(Store *s, StoreWriter **ret, Error *err)
{
    BlobId id = blob_new_id();
    int fd = -1;
    TRY(blob_create(s, id, &fd, err));
    StoreWriter *w = calloc(1, sizeof(*w));
    if (!w)
        abort();
    w->s = s;
    w->a = arena_create();
    w->small = sb_new(w->a);
    w->fd = fd;
    w->blob = id;
    hashes_start(&w->hashes);
    *ret = w;
    return OK;
}

void writer_free(StoreWriter *w)
{
    file_closep(&w->fd);
    hashes_end(&w->hashes);
    arena_destroy(w->a);
    free(w);
}

void hashes_start(Hashes *h)
{
    h->h[HASH_MD5] = hasher_new(HASH_MD5);
    h->h[HASH_SHA256] = hasher_new(HASH_SHA256);
}

void hashes_add(Hashes *h, Str bytes)
{
    for (size_t i = 0; i < COUNT_OF(h->h); i++)
        if (h->h[i])
            hasher_add(h->h[i], bytes);
}

/* A hasher ends once; its digest is kept. */
Str hashes_get(Hashes *h, Arena *a, HashKind kind)
{
    Digest *d = &h->done[kind];
    if (h->h[kind] && !d->n) {
        Str raw = hasher_done(h->h[kind], a);
        d->n = min_size(raw.n, sizeof d->p);
        memcpy(d->p, raw.p, d->n);
    }
    return str_dup(a, str_n(d->p, d->n));
}

void hashes_end(Hashes *h)
{
    for (size_t i = 0; i < COUNT_OF(h->h); i++)
        hasher_freep(&h->h[i]);
}

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

static Status commit(StoreWriter *w, const PutCondition *cond, Arena *a, ObjectInfo *ret, Error *err)
{
    Status st = store_gate(w->s, err);
    bool journaled = w->s->sync && !w->large && w->small.n;
    if (st == OK && !journaled)
        st = blob_seal(w->s, w->blob, w->fd, err);
    if (st != OK) {
        blob_remove(w->s, w->blob);
        return st;
    }
    ObjectRow row = { .blob = w->blob, .journal = journaled ? sb_str(&w->small) : (Str){0} };
    row.info = (ObjectInfo){ .bucket = str_dup(a, w->bucket), .key = str_dup(a, w->key), .size = w->size, .modified_ms = clock_ms() };
    row.info.etag = hex_encode(a, hashes_get(&w->hashes, a, HASH_MD5));
    row.info.sha256 = hex_encode(a, hashes_get(&w->hashes, a, HASH_SHA256));
    props_copy(a, &w->headers, &row.info.headers);
    props_copy(a, &w->tags, &row.info.tags);
    TRY(object_publish(w->s, a, &row, cond, err));
    *ret = row.info;
    return OK;
}

static Status put_whole(Store *s, Str uri, Str bytes, const PutCondition *cond, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(store_put_abandonp) StoreWriter *w = NULL;
    ObjectInfo info = {0};
    Location loc;
    TRY(store_parse_location(a, uri, &loc, err));
    if (loc.file)
        TRY(file_put_open(s, loc.path, &w, err));
    else
        TRY_CTX(store_put_open(s, loc.bucket, loc.key, &w, err), err, "storing '" STR_FMT "'", STR_ARG(uri));
    TRY(store_put_add(w, bytes, err));
    StoreWriter *mine = w;
    w = NULL;
    return store_put_commit(mine, cond, a, &info, err);
}

/* The file takes the place of the writer's own; a small one rides in the journal like any other small object. */
static Status take_file(StoreWriter *w, const char *path, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    char *buf = arena_alloc(a, COPY_CHUNK);
    ssize_t n;
    file_closep(&w->fd);
    w->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (w->fd < 0)
        return FAIL_ERRNO(err, "opening '%s'", path);
    while ((n = read(w->fd, buf, COPY_CHUNK)) > 0) {
        Str bytes = str_n(buf, (size_t)n);
        hashes_add(&w->hashes, bytes);
        w->size += n;
        w->large = w->large || w->size > JOURNAL_BYTES_MAX;
        if (!w->large)
            sb_add(&w->small, bytes);
    }
    return n < 0 ? FAIL_ERRNO(err, "reading '%s'", path) : OK;
}

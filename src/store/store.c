/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - opening, closing, emptying and probing a store; the failures that tests ask for.
 *
 * The memory store is a local one on a private folder without syncs, removed at close: the same code runs in tests and in
 * earnest.  A store that was closed in order says so in its index (meta.clean); only after a crash the files are compared
 * with the index at start. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_s3_int.h"

static Store *store_new(Str dir, Str file_root, int sync);
static Status store_start(Store *s, Error *err);
static Status was_clean(Store *s, bool *ret, Error *err);
static Status mark(Db *db, void *value, Error *err);
static Status empty_rows(Db *db, void *arg, Error *err);

Status store_open_local(const StoreOptions *o, Store **ret, Error *err)
{
    Store *s = store_new(o->dir, o->file_root, o->sync);
    Status st = store_start(s, err);
    if (st != OK) {
        store_close(s);
        return st;
    }
    *ret = s;
    return OK;
}

Status store_open_memory(Store **ret, Error *err)
{
    char shm[] = "/dev/shm/firn-store-XXXXXX", tmp[] = "/tmp/firn-store-XXXXXX";
    const char *dir = mkdtemp(shm);
    if (!dir)
        dir = mkdtemp(tmp);
    if (!dir)
        return FAIL_ERRNO(err, "making a folder for a memory store");
    StoreOptions o = { .dir = str_c(dir) };
    TRY(store_open_local(&o, ret, err));
    (*ret)->memory = 1;
    return OK;
}

void store_memory_fail_at(Store *s, int64_t nth_call, Status with)
{
    pthread_mutex_lock(&s->mu);
    s->calls = 0;
    s->fail_at = nth_call;
    s->fail_with = with;
    pthread_mutex_unlock(&s->mu);
}

int64_t store_memory_calls(const Store *s)
{
    return s->calls;
}

Status store_gate(Store *s, Error *err)
{
    if (s->s3)
        return FAIL(err, E_UNSUPPORTED, "the object store lies elsewhere: only its objects are read and written from here");
    if (!s->memory)
        return OK;
    pthread_mutex_lock(&s->mu);
    bool fail = ++s->calls == s->fail_at;
    pthread_mutex_unlock(&s->mu);
    return fail ? FAIL(err, s->fail_with, "store call %lld fails on request", (long long)s->fail_at) : OK;
}

void store_close(Store *s)
{
    Error err;
    if (!s)
        return;
    if (s->s3) {
        s3s_close(s->s3);
        pthread_mutex_destroy(&s->mu);
        arena_destroy(s->a);
        free(s);
        return;
    }
    journal_stop(s);
    if (s->index && index_write(s->index, mark, &(Str){ "1", 1 }, &err) != OK)
        err.code = OK;                                       /* then the next start sweeps */
    index_close(s->index);
    if (s->memory) {
        blob_empty(s->dir.p);
        rmdir(s->dir.p);
    }
    pthread_mutex_destroy(&s->mu);
    arena_destroy(s->a);
    free(s);
}

Str store_scratch(const Store *s)
{
    return s->scratch;
}

Status store_reset(Store *s, Error *err)
{
    TRY(store_gate(s, err));
    TRY(index_write(s->index, empty_rows, NULL, err));
    blob_empty(s->scratch.p);
    return blob_sweep(s, err);
}

Status store_probe(Store *s, Error *err)
{
    BlobId id = blob_new_id();
    CLEANUP(file_closep) int fd = -1;
    TRY(store_gate(s, err));
    TRY(journal_status(s, err));
    TRY(blob_create(s, id, &fd, err));
    Status st = fd_write_all(fd, S("probe"), err);
    if (st == OK)
        st = blob_seal(s, id, fd, err);
    blob_remove(s, id);
    return st == OK ? index_write(s->index, mark, &(Str){ "0", 1 }, err) : st;
}

static Store *store_new(Str dir, Str file_root, int sync)
{
    Store *s = calloc(1, sizeof(*s));
    if (!s)
        abort();
    s->a = arena_create();
    while (dir.n > 1 && str_ends(dir, S("/")))
        dir = str_sub(dir, 0, dir.n - 1);
    while (file_root.n > 1 && str_ends(file_root, S("/")))
        file_root = str_sub(file_root, 0, file_root.n - 1);
    s->dir = str_dup(s->a, dir);
    s->objects = str_cat(s->a, dir, S("/objects"));
    s->scratch = str_cat(s->a, dir, S("/scratch"));
    s->file_root = str_dup(s->a, file_root);
    s->sync = sync;
    pthread_mutex_init(&s->mu, NULL);
    return s;
}

static Status store_start(Store *s, Error *err)
{
    bool clean = false;
    TRY(blob_dirs(s, err));
    blob_empty(s->scratch.p);
    TRY(index_open(str_z(s->a, str_cat(s->a, s->dir, S("/store.db"))), s->sync, &s->index, err));
    TRY(was_clean(s, &clean, err));
    TRY(journal_start(s, err));
    if (!clean)
        TRY(blob_sweep(s, err));
    return index_write(s->index, mark, &(Str){ "0", 1 }, err);
}

static Status was_clean(Store *s, bool *ret, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    TRY(reader_take(s->index, &r, err));
    Q q = q_open(r.db, Q_META_GET);
    q_text(&q, S("clean"));
    if (q_row(&q))
        *ret = str_eq(q_str(&q, 0, s->a), S("1"));
    return q_done(&q, err);
}

static Status mark(Db *db, void *value, Error *err)
{
    Q q = q_open(db, Q_META_PUT);
    q_text(&q, S("clean"));
    q_text(&q, *(const Str *)value);
    return q_run(&q, err);
}

static Status empty_rows(Db *db, void *arg, Error *err)
{
    (void)arg;
    if (sqlite3_exec(db->h, "DELETE FROM journal; DELETE FROM parts; DELETE FROM uploads; DELETE FROM older; DELETE FROM objects; DELETE FROM buckets", NULL, NULL, NULL) != SQLITE_OK)
        return FAIL(err, E_IO, "emptying the store: %s", sqlite3_errmsg(db->h));
    return OK;
}

void store_hide_paths(const Store *s, char *text)
{
    static const char word[] = "a file";
    Str dir = s->dir;

    for (char *at = text; dir.n > sizeof word && (at = strstr(at, dir.p)); at += sizeof word - 1) {
        size_t n = strcspn(at, "\"' \n)],");            /* at least the folder's name: longer than the word */
        memmove(at + sizeof word - 1, at + n, strlen(at + n) + 1);
        memcpy(at, word, sizeof word - 1);
    }
}

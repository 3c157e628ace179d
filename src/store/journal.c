/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c - small objects become durable by the index's commit alone.
 *
 * Syncing a file, its folder and the index costs three waits for the disk.  A small object's bytes are therefore put into
 * the index too, in the transaction that publishes its row; its file is written, but not synced.  Later a thread syncs the
 * file system once for many files and drops their bytes from the index.  After a crash the files are written again from
 * what the index still holds.
 * Invariants:
 * 1. A file is written whole before its journal row is committed.
 * 2. A journal row goes only after a sync that began after its commit: `last` is read before the sync.
 * 3. An empty object has no bytes to lose, but a file that must exist: it is sealed like a large one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "store/store_int.h"

enum { FLUSH_ROWS = 512, FLUSH_BYTES = 8 * 1024 * 1024, RETRY_SECONDS = 5 };

struct Journal {
    pthread_t thread;
    pthread_mutex_t mu;
    pthread_cond_t changed;
    size_t rows, bytes;              /* since the last flush */
    int stop;
    Error failure;                   /* of the last flush; code OK: none */
};

static Status recover(Store *s, Error *err);
static Status write_all_again(Store *s, Arena *a, Error *err);
static Status write_again(Store *s, BlobId id, Str bytes, Error *err);
static void *run(void *arg);
static void wait_for_work(Journal *j);
static Status flush(Store *s, Error *err);
static Status last_seq(Store *s, int64_t *ret, Error *err);
static Status drop_rows(Db *db, void *arg, Error *err);
static Status sync_all(Store *s, Error *err);

Status journal_start(Store *s, Error *err)
{
    if (!s->sync)
        return OK;
    TRY_CTX(recover(s, err), err, "writing small objects again after a crash");
    Journal *j = calloc(1, sizeof(*j));
    if (!j)
        abort();
    pthread_mutex_init(&j->mu, NULL);
    pthread_cond_init(&j->changed, NULL);
    s->journal = j;
    if (pthread_create(&j->thread, NULL, run, s) != 0) {
        free(j);
        s->journal = NULL;
        return FAIL(err, E_UNAVAILABLE, "no thread for the store's journal");
    }
    return OK;
}

void journal_stop(Store *s)
{
    Journal *j = s->journal;
    if (!j)
        return;
    pthread_mutex_lock(&j->mu);
    j->stop = 1;
    pthread_cond_signal(&j->changed);
    pthread_mutex_unlock(&j->mu);
    pthread_join(j->thread, NULL);
    pthread_mutex_destroy(&j->mu);
    pthread_cond_destroy(&j->changed);
    free(j);
    s->journal = NULL;
}

void journal_added(Store *s, size_t bytes)
{
    Journal *j = s->journal;
    pthread_mutex_lock(&j->mu);
    j->rows++;
    j->bytes += bytes;
    if (j->rows >= FLUSH_ROWS || j->bytes >= FLUSH_BYTES)
        pthread_cond_signal(&j->changed);
    pthread_mutex_unlock(&j->mu);
}

Status journal_status(Store *s, Error *err)
{
    Journal *j = s->journal;
    if (!j)
        return OK;
    pthread_mutex_lock(&j->mu);
    Error failure = j->failure;
    pthread_mutex_unlock(&j->mu);
    if (failure.code == OK)
        return OK;
    *err = failure;
    return failure.code;
}

/* ---- after a crash ----------------------------------------------------------------------------------------------- */

static Status recover(Store *s, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    int64_t last = 0;
    TRY(last_seq(s, &last, err));
    if (!last)
        return OK;
    TRY(write_all_again(s, a, err));
    TRY(sync_all(s, err));
    return index_write(s->index, drop_rows, &last, err);
}

static Status write_all_again(Store *s, Arena *a, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    Status st = OK;
    TRY(reader_take(s->index, &r, err));
    Q q = q_open(r.db, Q_JOURNAL_ALL);
    while (st == OK && q_row(&q))
        st = write_again(s, blob_from(q_str(&q, 0, a)), q_str(&q, 1, a), err);
    Error late = {0};
    Status done = q_done(&q, st == OK ? err : &late);
    return st == OK ? done : st;
}

static Status write_again(Store *s, BlobId id, Str bytes, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str path = blob_path(s, a, id), fresh = str_cat(a, path, S(".new"));
    CLEANUP(file_closep) int fd = open(fresh.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return FAIL_ERRNO(err, "writing '%s'", fresh.p);
    TRY(fd_write_all(fd, bytes, err));
    return rename(fresh.p, path.p) < 0 ? FAIL_ERRNO(err, "renaming '%s'", fresh.p) : OK;
}

/* ---- behind the puts ------------------------------------------------------------------------------------------------ */

static void *run(void *arg)
{
    Store *s = arg;
    Journal *j = s->journal;
    for (int stop = 0; !stop;) {
        Error err = {0};
        pthread_mutex_lock(&j->mu);
        wait_for_work(j);
        stop = j->stop;
        bool again = j->failure.code != OK;
        j->rows = j->bytes = 0;
        pthread_mutex_unlock(&j->mu);
        if ((again ? recover(s, &err) : flush(s, &err)) == OK)   /* a sync that failed once may have dropped pages */
            err.code = OK;
        pthread_mutex_lock(&j->mu);
        j->failure = err;
        pthread_mutex_unlock(&j->mu);
    }
    return NULL;
}

static void wait_for_work(Journal *j)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += RETRY_SECONDS;
    while (!j->stop && j->rows < FLUSH_ROWS && j->bytes < FLUSH_BYTES) {
        if (j->failure.code == OK)
            pthread_cond_wait(&j->changed, &j->mu);
        else if (pthread_cond_timedwait(&j->changed, &j->mu, &until) != 0)
            return;
    }
}

static Status flush(Store *s, Error *err)
{
    int64_t last = 0;
    TRY(last_seq(s, &last, err));                            /* invariant 2 */
    if (!last)
        return OK;
    TRY(sync_all(s, err));
    return index_write(s->index, drop_rows, &last, err);
}

static Status last_seq(Store *s, int64_t *ret, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    TRY(reader_take(s->index, &r, err));
    Q q = q_open(r.db, Q_JOURNAL_LAST);
    if (q_row(&q))
        *ret = q_i64(&q, 0);
    return q_done(&q, err);
}

static Status drop_rows(Db *db, void *arg, Error *err)
{
    const int64_t *last = arg;
    Q q = q_open(db, Q_JOURNAL_DEL);
    q_int(&q, *last);
    return q_run(&q, err);
}

/* One commit and one flush of the file system, for any number of files. */
static Status sync_all(Store *s, Error *err)
{
    CLEANUP(file_closep) int fd = open(s->objects.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || syncfs(fd) < 0)
        return FAIL_ERRNO(err, "syncing the object files under '%s'", s->objects.p);
    return OK;
}

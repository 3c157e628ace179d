/* SPDX-License-Identifier: Apache-2.0 */
/* index.c - the store's index: one writing and a few reading connections to store.db.
 *
 * Group commit: writers queue; whoever finds no leader leads, runs all that waits in one transaction (each in a savepoint)
 * and commits once.  A slow disk then costs one sync for many puts, not one for each.
 * Invariants:
 * 1. At most one leader; only the leader touches `writer`.
 * 2. A job's owner waits until `done`; its argument may be used by the leader until then.
 * 3. A job that failed left nothing behind; when the commit fails, all jobs of the batch fail. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/store_int.h"

typedef struct Job { WriteFn fn; void *arg; Error *err; Status status; int done; struct Job *next; } Job;

struct Index {
    char *path;
    int sync;
    Db writer;
    pthread_mutex_t mu;
    pthread_cond_t changed;
    Job *first, *last;
    int leading;
    Db readers[READERS_MAX];
    Db *idle[READERS_MAX];
    int nidle, nopen;
};

static Status db_error(sqlite3 *h, int rc, Error *err);
static Status db_open(const char *path, int sync, Db *ret, Error *err);
static Status db_exec(Db *db, const char *sql, Error *err);
static void db_close(Db *db);
static void lead(Index *x, const Job *own);
static Status run_batch(Index *x, Job *batch, Error *err);
static void run_job(Db *db, Job *j);

Status index_open(const char *path, int sync, Index **ret, Error *err)
{
    Index *x = calloc(1, sizeof(*x));
    if (!x)
        abort();
    x->path = strdup(path);
    x->sync = sync;
    pthread_mutex_init(&x->mu, NULL);
    pthread_cond_init(&x->changed, NULL);
    Status st = db_open(path, sync, &x->writer, err);
    if (st == OK)
        st = db_exec(&x->writer, SCHEMA_TEXT, err);
    if (st != OK) {
        index_close(x);
        return st;
    }
    *ret = x;
    return OK;
}

void index_close(Index *x)
{
    if (!x)
        return;
    for (int i = 0; i < x->nopen; i++)
        db_close(&x->readers[i]);
    db_close(&x->writer);
    pthread_cond_destroy(&x->changed);
    pthread_mutex_destroy(&x->mu);
    free(x->path);
    free(x);
}

Status index_reader(Index *x, Db **ret, Error *err)
{
    Status st = OK;
    pthread_mutex_lock(&x->mu);
    while (!x->nidle && x->nopen == READERS_MAX)
        pthread_cond_wait(&x->changed, &x->mu);
    if (x->nidle)
        *ret = x->idle[--x->nidle];
    else if ((st = db_open(x->path, x->sync, &x->readers[x->nopen], err)) == OK)
        *ret = &x->readers[x->nopen++];
    pthread_mutex_unlock(&x->mu);
    return st;
}

void index_give(Index *x, Db *db)
{
    pthread_mutex_lock(&x->mu);
    x->idle[x->nidle++] = db;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->mu);
}

Status reader_take(Index *x, Reader *ret, Error *err)
{
    TRY(index_reader(x, &ret->db, err));
    ret->x = x;
    return OK;
}

void reader_give(Reader *r)
{
    if (r->x)
        index_give(r->x, r->db);
    r->x = NULL;
}

Status index_write(Index *x, WriteFn fn, void *arg, Error *err)
{
    Job job = { .fn = fn, .arg = arg, .err = err };
    pthread_mutex_lock(&x->mu);
    if (x->last)
        x->last->next = &job;
    else
        x->first = &job;
    x->last = &job;
    while (!job.done && x->leading)
        pthread_cond_wait(&x->changed, &x->mu);
    if (!job.done)
        lead(x, &job);
    pthread_mutex_unlock(&x->mu);
    assert(job.done);                                            /* invariant 2 */
    return job.status;
}

/* ---- statements --------------------------------------------------------------------------------------------- */

Q q_open(Db *db, QueryId id)
{
    Q q = { .db = db, .rc = SQLITE_OK };
    if (!db->st[id])
        q.rc = sqlite3_prepare_v3(db->h, QUERY_TEXT[id], -1, SQLITE_PREPARE_PERSISTENT, &db->st[id], NULL);
    q.st = db->st[id];
    return q;
}

void q_text(Q *q, Str s)
{
    if (q->rc == SQLITE_OK)
        q->rc = sqlite3_bind_text(q->st, ++q->at, s.p ? s.p : "", (int)s.n, SQLITE_STATIC);
}

void q_blob(Q *q, Str s)
{
    if (q->rc == SQLITE_OK)
        q->rc = sqlite3_bind_blob(q->st, ++q->at, s.p ? s.p : "", (int)s.n, SQLITE_STATIC);
}

void q_int(Q *q, int64_t v)
{
    if (q->rc == SQLITE_OK)
        q->rc = sqlite3_bind_int64(q->st, ++q->at, v);
}

bool q_row(Q *q)
{
    if (q->rc == SQLITE_OK || q->rc == SQLITE_ROW)
        q->rc = sqlite3_step(q->st);
    return q->rc == SQLITE_ROW;
}

Str q_str(Q *q, int col, Arena *a)
{
    const void *p = sqlite3_column_blob(q->st, col);
    return str_dup(a, str_n(p, (size_t)sqlite3_column_bytes(q->st, col)));
}

int64_t q_i64(Q *q, int col)
{
    return sqlite3_column_int64(q->st, col);
}

Status q_done(Q *q, Error *err)
{
    Status st = OK;
    if (q->rc != SQLITE_OK && q->rc != SQLITE_ROW && q->rc != SQLITE_DONE)
        st = db_error(q->db->h, q->rc, err);
    if (q->st) {
        sqlite3_reset(q->st);
        sqlite3_clear_bindings(q->st);
    }
    return st;
}

Status q_run(Q *q, Error *err)
{
    while (q_row(q))
        ;
    return q_done(q, err);
}

/* ---- helpers -------------------------------------------------------------------------------------------------- */

/* Called with the lock held; serves the queue until its own job is done, then another waiter leads. */
static void lead(Index *x, const Job *own)
{
    x->leading = 1;                                              /* invariant 1 */
    while (!own->done) {
        Job *batch = x->first, *end = batch;
        for (int n = 1; n < BATCH_MAX && end->next; n++)
            end = end->next;
        x->first = end->next;
        x->last = x->first ? x->last : NULL;
        end->next = NULL;
        pthread_mutex_unlock(&x->mu);
        Error err = {0};
        Status st = run_batch(x, batch, &err);
        pthread_mutex_lock(&x->mu);
        for (Job *j = batch, *next; j; j = next) {
            next = j->next;                                      /* the job may vanish once it is done */
            if (st != OK && j->status == OK) {
                j->status = st;
                *j->err = err;
            }
            j->done = 1;
        }
        pthread_cond_broadcast(&x->changed);
    }
    x->leading = 0;
    pthread_cond_broadcast(&x->changed);
}

static Status run_batch(Index *x, Job *batch, Error *err)
{
    TRY(db_exec(&x->writer, "BEGIN IMMEDIATE", err));
    for (Job *j = batch; j; j = j->next)
        run_job(&x->writer, j);
    Status st = db_exec(&x->writer, "COMMIT", err);
    if (st != OK)
        sqlite3_exec(x->writer.h, "ROLLBACK", NULL, NULL, NULL);
    return st;
}

static void run_job(Db *db, Job *j)
{
    if (sqlite3_get_autocommit(db->h)) {                         /* an earlier job's error ended the transaction */
        j->status = FAIL(j->err, E_IO, "store index: the transaction was rolled back");
        return;
    }
    j->status = db_exec(db, "SAVEPOINT job", j->err);
    if (j->status != OK)
        return;
    j->status = j->fn(db, j->arg, j->err);
    if (j->status != OK)                                         /* invariant 3 */
        sqlite3_exec(db->h, "ROLLBACK TO job", NULL, NULL, NULL);
    Error dropped = {0};
    Status st = db_exec(db, "RELEASE job", &dropped);
    if (j->status == OK && st != OK) {
        j->status = st;
        *j->err = dropped;
    }
}

static Status db_open(const char *path, int sync, Db *ret, Error *err)
{
    int rc = sqlite3_open_v2(path, &ret->h, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    Status st = rc == SQLITE_OK ? OK : db_error(ret->h, rc, err);
    if (st == OK) {
        sqlite3_busy_timeout(ret->h, 10000);
        sqlite3_extended_result_codes(ret->h, 1);
        st = db_exec(ret, "PRAGMA journal_mode = WAL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4096;", err);
    }
    if (st == OK)
        st = db_exec(ret, sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF", err);
    if (st != OK) {
        error_context(err, "opening the index '%s'", path);
        db_close(ret);
    }
    return st;
}

static void db_close(Db *db)
{
    for (int i = 0; i < Q_COUNT; i++)
        sqlite3_finalize(db->st[i]);
    sqlite3_close(db->h);
    memset(db, 0, sizeof(*db));
}

static Status db_exec(Db *db, const char *sql, Error *err)
{
    int rc = sqlite3_exec(db->h, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? OK : db_error(db->h, rc, err);
}

static Status db_error(sqlite3 *h, int rc, Error *err)
{
    Status st = E_INTERNAL;
    switch (rc & 0xff) {
    case SQLITE_FULL:                                                st = E_FULL; break;
    case SQLITE_IOERR: case SQLITE_READONLY: case SQLITE_CANTOPEN: case SQLITE_PERM: st = E_IO; break;
    case SQLITE_CORRUPT: case SQLITE_NOTADB:                         st = E_CORRUPT; break;
    case SQLITE_BUSY: case SQLITE_LOCKED: case SQLITE_PROTOCOL:      st = E_UNAVAILABLE; break;
    case SQLITE_CONSTRAINT:                                          st = E_EXISTS; break;
    default: break;
    }
    return FAIL(err, st, "store index: %s", h ? sqlite3_errmsg(h) : sqlite3_errstr(rc));
}

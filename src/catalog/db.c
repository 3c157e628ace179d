/* SPDX-License-Identifier: Apache-2.0 */
/* db.c - the catalog's connections to SQLite and a small query helper.
 *
 * One connection writes, under a mutex; up to READERS_MAX read.  WAL lets readers go on while the writer commits.
 * Invariants: (1) a writer transaction is open only while write_lock is held; (2) a prepared statement is in use by at
 * most one Query; (3) a Query's bound bytes outlive it: callers declare their arena before it. */
#include "catalog/catalog_int.h"

#include <errno.h>
#include <stdlib.h>

static Status status_of(int rc, int sys_errno)
{
    if (sys_errno == ENOSPC || sys_errno == EDQUOT)
        return E_FULL;
    switch (rc & 0xFF) {
    case SQLITE_FULL: return E_FULL;
    case SQLITE_BUSY: case SQLITE_LOCKED: return E_UNAVAILABLE;
    case SQLITE_CORRUPT: case SQLITE_NOTADB: return E_CORRUPT;
    case SQLITE_IOERR: case SQLITE_CANTOPEN: case SQLITE_READONLY: case SQLITE_PERM: return E_IO;
    case SQLITE_TOOBIG: return E_LIMIT;
    default: return E_INTERNAL;
    }
}

Status cat_db_fail(Db *db, int rc, const char *doing, Error *err)
{
    Status s = status_of(rc, (rc & 0xFF) == SQLITE_IOERR || (rc & 0xFF) == SQLITE_CANTOPEN ? sqlite3_system_errno(db->h) : 0);
    return error_set(err, s, ORIGIN, "catalog: %s: %s", doing, sqlite3_errmsg(db->h));
}

Status cat_db_exec(Db *db, const char *sql, Error *err)
{
    int rc = sqlite3_exec(db->h, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? OK : cat_db_fail(db, rc, "running a statement", err);
}

Status cat_db_open_file(Str path, const char *pragmas, Db *ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;

    int rc = sqlite3_open_v2(str_z(a, path), &ret->h, flags, NULL);
    if (rc != SQLITE_OK)
        return cat_db_fail(ret, rc, "opening the file", err);
    sqlite3_busy_timeout(ret->h, BUSY_MS);
    TRY(cat_db_exec(ret, "PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON", err));
    return cat_db_exec(ret, pragmas, err);
}

Status cat_db_open(Catalog *c, Db *ret, Error *err)
{
    *ret = (Db){ .catalog = c };
    return cat_db_open_file(c->path, "PRAGMA synchronous=FULL", ret, err);
}

void cat_db_close(Db *db)
{
    for (size_t i = 0; i < db->nkept; i++)
        sqlite3_finalize(db->kept[i].st);
    sqlite3_close(db->h);
    *db = (Db){0};
}

/* ---- readers ------------------------------------------------------------------------------------------------ */

Status cat_reader_take(Catalog *c, Db **ret, Error *err)
{
    Db *db = NULL;

    pthread_mutex_lock(&c->pool_lock);
    while (c->nidle == 0 && c->nopen == READERS_MAX)
        pthread_cond_wait(&c->pool_free, &c->pool_lock);
    if (c->nidle > 0)
        db = c->idle[--c->nidle];
    else
        c->nopen++;
    pthread_mutex_unlock(&c->pool_lock);
    if (!db) {
        db = calloc(1, sizeof *db);
        if (!db)
            abort();
        Status s = cat_db_open(c, db, err);
        if (s != OK) {
            cat_db_close(db);
            free(db);
            pthread_mutex_lock(&c->pool_lock);
            c->nopen--;
            pthread_cond_signal(&c->pool_free);
            pthread_mutex_unlock(&c->pool_lock);
            return s;
        }
    }
    *ret = db;
    return OK;
}

void cat_reader_backp(Db **db)
{
    if (!*db)
        return;
    Catalog *c = (*db)->catalog;
    pthread_mutex_lock(&c->pool_lock);
    c->idle[c->nidle++] = *db;
    pthread_cond_signal(&c->pool_free);
    pthread_mutex_unlock(&c->pool_lock);
    *db = NULL;
}

/* ---- the writer ------------------------------------------------------------------------------------------------ */

Status cat_writer_begin(Catalog *c, Db **ret, Error *err)
{
    pthread_mutex_lock(&c->write_lock);
    int rc = sqlite3_exec(c->writer.h, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        Status s = cat_db_fail(&c->writer, rc, "starting a change", err);
        pthread_mutex_unlock(&c->write_lock);
        return s;
    }
    c->writer.in_transaction = 1;
    *ret = &c->writer;
    return OK;
}

Status cat_writer_commit(Db **db, Error *err)
{
    Db *w = *db;
    int rc = sqlite3_exec(w->h, "COMMIT", NULL, NULL, NULL);
    if (rc == SQLITE_IOERR_FSYNC || rc == SQLITE_IOERR_DIR_FSYNC)
        return FAIL(err, E_UNKNOWN, "catalog: the disk did not confirm the change: %s", sqlite3_errmsg(w->h));
    if (rc != SQLITE_OK)
        return cat_db_fail(w, rc, "committing a change", err);
    w->in_transaction = 0;
    cat_writer_endp(db);
    return OK;
}

void cat_writer_endp(Db **db)
{
    if (!*db)
        return;
    Db *w = *db;
    if (w->in_transaction && !sqlite3_get_autocommit(w->h))
        sqlite3_exec(w->h, "ROLLBACK", NULL, NULL, NULL);
    w->in_transaction = 0;
    *db = NULL;
    pthread_mutex_unlock(&w->catalog->write_lock);
}

/* ---- queries ------------------------------------------------------------------------------------------------------ */

static void keep(Db *db, Query *q, const char *sql)
{
    if (db->nkept == STATEMENTS_MAX)
        return;
    q->slot = (int)db->nkept;
    db->kept[db->nkept].sql = sql;
    db->kept[db->nkept].st = q->st;
    db->kept[db->nkept++].busy = 1;
}

Query cq_new(Db *db, const char *sql, Error *err)
{
    Query q = { .db = db, .slot = -1, .err = err };

    for (size_t i = 0; i < db->nkept; i++)
        if (db->kept[i].sql == sql) {
            if (db->kept[i].busy)
                break;
            db->kept[i].busy = 1;
            q.slot = (int)i;
            q.st = db->kept[i].st;
            return q;
        }
    int rc = sqlite3_prepare_v3(db->h, sql, -1, SQLITE_PREPARE_PERSISTENT, &q.st, NULL);
    if (rc != SQLITE_OK)
        q.status = cat_db_fail(db, rc, "preparing a statement", err);
    else
        keep(db, &q, sql);
    return q;
}

void cq_endp(Query *q)
{
    if (q->slot < 0) {
        sqlite3_finalize(q->st);
        return;
    }
    sqlite3_reset(q->st);
    sqlite3_clear_bindings(q->st);
    q->db->kept[q->slot].busy = 0;
}

static void bound(Query *q, int rc)
{
    if (rc != SQLITE_OK)
        q->status = cat_db_fail(q->db, rc, "binding a value", q->err);
}

void cq_text(Query *q, Str s)
{
    if (q->status == OK)
        bound(q, sqlite3_bind_text64(q->st, ++q->nbind, s.p ? s.p : "", s.n, SQLITE_STATIC, SQLITE_UTF8));
}

void cq_blob(Query *q, Str s)
{
    if (q->status == OK)
        bound(q, sqlite3_bind_blob64(q->st, ++q->nbind, s.p ? s.p : "", s.n, SQLITE_STATIC));
}

void cq_int(Query *q, int64_t v)
{
    if (q->status == OK)
        bound(q, sqlite3_bind_int64(q->st, ++q->nbind, v));
}

void cq_json(Query *q, Arena *a, const Json *j)
{
    if (j)
        cq_text(q, json_text(a, j));
    else
        q->nbind++;
}

void cq_props(Query *q, Arena *a, const Props *p)
{
    Json *j = json_object(a);
    for vec_each(KeyValue, kv, p)
        json_set_s(a, j, kv->key, json_str(a, kv->value));
    cq_json(q, a, j);
}

bool cq_next(Query *q)
{
    if (q->status != OK)
        return false;
    q->ncol = 0;
    int rc = sqlite3_step(q->st);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        q->status = cat_db_fail(q->db, rc, "running a statement", q->err);
    return rc == SQLITE_ROW;
}

Status cq_status(const Query *q) { return q->status; }

Status cq_run(Query *q)
{
    while (cq_next(q))
        ;
    return q->status;
}

int64_t cq_changed(const Query *q) { return sqlite3_changes64(q->db->h); }

Str cq_str(Query *q, Arena *a)
{
    int i = q->ncol++;
    const void *p = sqlite3_column_blob(q->st, i);
    return str_dup(a, str_n(p, (size_t)sqlite3_column_bytes(q->st, i)));
}

int64_t cq_i64(Query *q) { return sqlite3_column_int64(q->st, q->ncol++); }

Json *cq_doc(Query *q, Arena *a)
{
    Json *ret = NULL;
    if (sqlite3_column_type(q->st, q->ncol) == SQLITE_NULL) {
        q->ncol++;
        return NULL;
    }
    Str text = cq_str(q, a);
    if (q->status == OK && json_parse(a, text, &ret, q->err) != OK)
        q->status = FAIL(q->err, E_CORRUPT, "catalog: a stored document is not JSON");
    return ret;
}

Props cq_map(Query *q, Arena *a)
{
    Props ret = {0};
    Json *j = cq_doc(q, a);
    for (size_t i = 0; i < json_len(j) && json_is(j, JSON_OBJECT); i++) {
        JsonMember *m = &j->object.p[i];
        if (json_is(m->value, JSON_STRING))
            vec_push(a, &ret, ((KeyValue){ m->key, m->value->string }));
    }
    return ret;
}

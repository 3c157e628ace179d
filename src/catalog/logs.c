/* SPDX-License-Identifier: Apache-2.0 */
/* logs.c - logs.db: its life, log groups and streams.
 *
 * A file of its own, since lines of logs come often and are worth less than the catalog: its commits wait for no disk.
 * Invariants: (1) an event's group_id is its stream's; (2) a group's stored_bytes is the sum over its events of message bytes and the
 * service's overhead of 26; (3) times of a stream cover every event that it ever took. */
#include "catalog/logs_int.h"

#include <stdlib.h>

static const char *const schema =
    "CREATE TABLE IF NOT EXISTS log_group(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, created_ms INTEGER NOT NULL,"
    " retention_days INTEGER NOT NULL, stored_bytes INTEGER NOT NULL, tags TEXT NOT NULL, class TEXT NOT NULL, kms_key TEXT NOT NULL, deletion_protected INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS log_stream(id INTEGER PRIMARY KEY AUTOINCREMENT, group_id INTEGER NOT NULL REFERENCES log_group(id) ON DELETE CASCADE,"
    " name TEXT NOT NULL, created_ms INTEGER NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, last_ingestion_ms INTEGER NOT NULL, UNIQUE(group_id, name));"
    "CREATE INDEX IF NOT EXISTS log_stream_time ON log_stream(group_id, last_ms, name);"
    "CREATE TABLE IF NOT EXISTS log_event(id INTEGER PRIMARY KEY AUTOINCREMENT, group_id INTEGER NOT NULL,"
    " stream_id INTEGER NOT NULL REFERENCES log_stream(id) ON DELETE CASCADE, time_ms INTEGER NOT NULL, ingested_ms INTEGER NOT NULL, message TEXT NOT NULL);"
    "CREATE INDEX IF NOT EXISTS log_event_stream ON log_event(stream_id, time_ms, id);"
    "CREATE INDEX IF NOT EXISTS log_event_group ON log_event(group_id, time_ms, id);"
    "CREATE TABLE IF NOT EXISTS notice(sequence INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS mark(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;";

static const char *const RELAXED = "PRAGMA synchronous=NORMAL";

Status logs_open(Str path, Logs **ret, Error *err)
{
    Logs *l = calloc(1, sizeof *l);
    if (!l)
        abort();
    pthread_mutex_init(&l->write_lock, NULL);
    pthread_mutex_init(&l->read_lock, NULL);
    Status s = cat_db_open_file(path, RELAXED, &l->writer, err);
    if (s == OK)
        s = cat_db_exec(&l->writer, schema, err);
    if (s == OK)
        s = cat_db_open_file(path, RELAXED, &l->reader, err);
    if (s != OK) {
        logs_close(l);
        return error_context(err, "opening logs '" STR_FMT "'", STR_ARG(path));
    }
    *ret = l;
    return OK;
}

void logs_close(Logs *l)
{
    if (!l)
        return;
    cat_db_close(&l->reader);
    cat_db_close(&l->writer);
    pthread_mutex_destroy(&l->read_lock);
    pthread_mutex_destroy(&l->write_lock);
    free(l);
}

Status logs_reset(Logs *l, Error *err)
{
    CLEANUP(logs_tx_endp) Logs *tx = NULL;

    TRY(logs_tx_begin(l, &tx, err));
    TRY(cat_db_exec(&l->writer, "DELETE FROM log_event; DELETE FROM log_stream; DELETE FROM log_group; DELETE FROM notice; DELETE FROM mark", err));
    return logs_tx_commit(&tx, err);
}

/* ---- locks and transactions ------------------------------------------------------------------------------------------ */

pthread_mutex_t *logs_lock(pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
    return m;
}

void logs_unlockp(pthread_mutex_t **m) { pthread_mutex_unlock(*m); }

Status logs_tx_begin(Logs *l, Logs **tx, Error *err)
{
    pthread_mutex_lock(&l->write_lock);
    Status s = cat_db_exec(&l->writer, "BEGIN IMMEDIATE", err);
    if (s != OK) {
        pthread_mutex_unlock(&l->write_lock);
        return s;
    }
    *tx = l;
    return OK;
}

Status logs_tx_commit(Logs **tx, Error *err)
{
    TRY(cat_db_exec(&(*tx)->writer, "COMMIT", err));
    logs_tx_endp(tx);
    return OK;
}

void logs_tx_endp(Logs **tx)
{
    Logs *l = *tx;
    if (!l)
        return;
    if (!sqlite3_get_autocommit(l->writer.h))
        sqlite3_exec(l->writer.h, "ROLLBACK", NULL, NULL, NULL);
    *tx = NULL;
    pthread_mutex_unlock(&l->write_lock);
}

/* ---- groups ------------------------------------------------------------------------------------------------------------ */

#define GROUP_COLUMNS "name, created_ms, retention_days, stored_bytes, tags, class, kms_key, deletion_protected"

static void group_row(Query *q, Arena *a, LogGroup *g)
{
    g->name = cq_str(q, a);
    g->created_ms = cq_i64(q);
    g->retention_days = cq_i64(q);
    g->stored_bytes = cq_i64(q);
    g->tags = cq_map(q, a);
    g->class_ = cq_str(q, a);
    g->kms_key = cq_str(q, a);
    g->deletion_protected = (int)cq_i64(q);
}

Status logs_group_id(Db *db, Str group, int64_t *ret, Error *err)
{
    QUERY(q, db, "SELECT id FROM log_group WHERE name = ?", err);
    cq_text(&q, group);
    if (cq_next(&q))
        *ret = cq_i64(&q);
    else if (cq_status(&q) == OK)
        return FAIL(err, E_NOT_FOUND, "The specified log group does not exist.");
    return cq_status(&q);
}

Status logs_group_insert(Db *db, const LogGroup *g, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    QUERY(q, db, "INSERT INTO log_group(name, created_ms, retention_days, stored_bytes, tags, class, kms_key, deletion_protected)"
                 " VALUES(?, ?, ?, 0, ?, ?, ?, ?) ON CONFLICT(name) DO NOTHING", err);
    cq_text(&q, g->name);
    cq_int(&q, g->created_ms ? g->created_ms : clock_ms());
    cq_int(&q, g->retention_days);
    cq_props(&q, a, &g->tags);
    cq_text(&q, g->class_.n ? g->class_ : S("STANDARD"));
    cq_text(&q, g->kms_key);
    cq_int(&q, g->deletion_protected);
    TRY(cq_run(&q));
    return cq_changed(&q) ? OK : FAIL(err, E_EXISTS, "The specified log group already exists");
}

Status logs_group_create(Logs *l, const LogGroup *g, Error *err)
{
    CLEANUP(logs_tx_endp) Logs *tx = NULL;

    TRY(logs_tx_begin(l, &tx, err));
    TRY(logs_group_insert(&l->writer, g, err));
    return logs_tx_commit(&tx, err);
}

Status logs_group_get(Logs *l, Arena *a, Str name, LogGroup *ret, Error *err)
{
    CLEANUP(logs_unlockp) pthread_mutex_t *lock UNUSED = logs_lock(&l->read_lock);
    QUERY(q, &l->reader, "SELECT " GROUP_COLUMNS " FROM log_group WHERE name = ?", err);
    cq_text(&q, name);
    if (cq_next(&q))
        group_row(&q, a, ret);
    else if (cq_status(&q) == OK)
        return FAIL(err, E_NOT_FOUND, "The specified log group does not exist.");
    return cq_status(&q);
}

Status logs_group_list(Logs *l, Arena *a, Str prefix, Str after, int max, LogGroups *ret, Error *err)
{
    CLEANUP(logs_unlockp) pthread_mutex_t *lock UNUSED = logs_lock(&l->read_lock);

    *ret = (LogGroups){0};
    QUERY(q, &l->reader, "SELECT " GROUP_COLUMNS " FROM log_group WHERE name > ?1 AND name >= ?2 AND substr(name, 1, length(?2)) = ?2 ORDER BY name LIMIT ?3", err);
    cq_text(&q, after);
    cq_text(&q, prefix);
    cq_int(&q, max > 0 ? max : -1);
    while (cq_next(&q)) {
        LogGroup g = {0};
        group_row(&q, a, &g);
        vec_push(a, ret, g);
    }
    return cq_status(&q);
}

Status logs_group_update(Logs *l, const LogGroup *g, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(logs_tx_endp) Logs *tx = NULL;

    TRY(logs_tx_begin(l, &tx, err));
    {
        QUERY(q, &l->writer, "UPDATE log_group SET retention_days = ?, tags = ?, kms_key = ?, deletion_protected = ? WHERE name = ?", err);
        cq_int(&q, g->retention_days);
        cq_props(&q, a, &g->tags);
        cq_text(&q, g->kms_key);
        cq_int(&q, g->deletion_protected);
        cq_text(&q, g->name);
        TRY(cq_run(&q));
        if (!cq_changed(&q))
            return FAIL(err, E_NOT_FOUND, "The specified log group does not exist.");
    }
    return logs_tx_commit(&tx, err);
}

Status logs_group_delete(Logs *l, Str name, Error *err)
{
    CLEANUP(logs_tx_endp) Logs *tx = NULL;

    TRY(logs_tx_begin(l, &tx, err));
    {
        QUERY(q, &l->writer, "DELETE FROM log_group WHERE name = ?", err);
        cq_text(&q, name);
        TRY(cq_run(&q));
        if (!cq_changed(&q))
            return FAIL(err, E_NOT_FOUND, "The specified log group does not exist.");
    }
    return logs_tx_commit(&tx, err);
}

Status logs_group_shrink(Db *db, int64_t group_id, int64_t bytes, Error *err)
{
    QUERY(q, db, "UPDATE log_group SET stored_bytes = stored_bytes - ? WHERE id = ?", err);
    cq_int(&q, bytes);
    cq_int(&q, group_id);
    return cq_run(&q);
}

/* ---- streams ------------------------------------------------------------------------------------------------------------- */

Status logs_stream_id(Db *db, int64_t group_id, Str stream, int64_t *ret, Error *err)
{
    QUERY(q, db, "SELECT id FROM log_stream WHERE group_id = ? AND name = ?", err);
    cq_int(&q, group_id);
    cq_text(&q, stream);
    if (cq_next(&q))
        *ret = cq_i64(&q);
    else if (cq_status(&q) == OK)
        return FAIL(err, E_NOT_FOUND, "The specified log stream does not exist.");
    return cq_status(&q);
}

Status logs_stream_insert(Db *db, int64_t group_id, Str name, Error *err)
{
    QUERY(q, db, "INSERT INTO log_stream(group_id, name, created_ms, first_ms, last_ms, last_ingestion_ms) VALUES(?, ?, ?, 0, 0, 0) ON CONFLICT DO NOTHING", err);
    cq_int(&q, group_id);
    cq_text(&q, name);
    cq_int(&q, clock_ms());
    TRY(cq_run(&q));
    return cq_changed(&q) ? OK : FAIL(err, E_EXISTS, "The specified log stream already exists");
}

Status logs_stream_create(Logs *l, Str group, Str name, Error *err)
{
    CLEANUP(logs_tx_endp) Logs *tx = NULL;
    int64_t id;

    TRY(logs_tx_begin(l, &tx, err));
    TRY(logs_group_id(&l->writer, group, &id, err));
    TRY(logs_stream_insert(&l->writer, id, name, err));
    return logs_tx_commit(&tx, err);
}

#define STREAM_COLUMNS "name, created_ms, first_ms, last_ms, last_ingestion_ms"

static LogStream stream_row(Query *q, Arena *a, Str group)
{
    LogStream s = { .group = group };
    s.name = cq_str(q, a);
    s.created_ms = cq_i64(q);
    s.first_ms = cq_i64(q);
    s.last_ms = cq_i64(q);
    s.last_ingestion_ms = cq_i64(q);
    return s;
}

Status logs_stream_get(Logs *l, Arena *a, Str group, Str name, LogStream *ret, Error *err)
{
    CLEANUP(logs_unlockp) pthread_mutex_t *lock UNUSED = logs_lock(&l->read_lock);
    int64_t group_id;

    TRY(logs_group_id(&l->reader, group, &group_id, err));
    QUERY(q, &l->reader, "SELECT " STREAM_COLUMNS " FROM log_stream WHERE group_id = ? AND name = ?", err);
    cq_int(&q, group_id);
    cq_text(&q, name);
    if (cq_next(&q))
        *ret = stream_row(&q, a, group);
    else if (cq_status(&q) == OK)
        return FAIL(err, E_NOT_FOUND, "The specified log stream does not exist.");
    return cq_status(&q);
}

#define STREAM_QUERY(key, cmp, order) "SELECT " STREAM_COLUMNS " FROM log_stream WHERE group_id = ?1 AND substr(name, 1, length(?2)) = ?2" \
    " AND (?5 = 0 OR " key " " cmp ") ORDER BY " key " " order ", name " order " LIMIT ?6"

/* [by time][descending]; ?3 name, ?4 time, ?5 whether there is a position */
static const char *const stream_queries[2][2] = {
    { STREAM_QUERY("name", "> ?3", "ASC"), STREAM_QUERY("name", "< ?3", "DESC") },
    { STREAM_QUERY("last_ms", "IS NOT NULL AND (last_ms, name) > (?4, ?3)", "ASC"), STREAM_QUERY("last_ms", "IS NOT NULL AND (last_ms, name) < (?4, ?3)", "DESC") },
};

Status logs_stream_list(Logs *l, Arena *a, const LogStreamQuery *q, LogStreams *ret, Error *err)
{
    CLEANUP(logs_unlockp) pthread_mutex_t *lock UNUSED = logs_lock(&l->read_lock);
    int64_t group_id;

    *ret = (LogStreams){0};
    TRY(logs_group_id(&l->reader, q->group, &group_id, err));
    QUERY(c, &l->reader, stream_queries[q->by_time != 0][q->descending != 0], err);
    cq_int(&c, group_id);
    cq_text(&c, q->prefix);
    cq_text(&c, q->after);
    cq_int(&c, q->after_ms);
    cq_int(&c, q->after.n > 0);
    cq_int(&c, q->max > 0 ? q->max : -1);
    while (cq_next(&c))
        vec_push(a, ret, stream_row(&c, a, q->group));
    return cq_status(&c);
}

static Status stream_bytes(Db *db, int64_t stream_id, int64_t *ret, Error *err)
{
    QUERY(q, db, "SELECT coalesce(sum(length(CAST(message AS BLOB)) + 26), 0) FROM log_event WHERE stream_id = ?", err);
    cq_int(&q, stream_id);
    if (cq_next(&q))
        *ret = cq_i64(&q);
    return cq_status(&q);
}

static Status stream_remove(Db *db, int64_t stream_id, Error *err)
{
    QUERY(q, db, "DELETE FROM log_stream WHERE id = ?", err);
    cq_int(&q, stream_id);
    return cq_run(&q);
}

Status logs_stream_delete(Logs *l, Str group, Str name, Error *err)
{
    CLEANUP(logs_tx_endp) Logs *tx = NULL;
    int64_t group_id, id, bytes = 0;

    TRY(logs_tx_begin(l, &tx, err));
    TRY(logs_group_id(&l->writer, group, &group_id, err));
    TRY(logs_stream_id(&l->writer, group_id, name, &id, err));
    TRY(stream_bytes(&l->writer, id, &bytes, err));
    TRY(stream_remove(&l->writer, id, err));
    TRY(logs_group_shrink(&l->writer, group_id, bytes, err));
    return logs_tx_commit(&tx, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - the tables of catalog.db and their migrations.
 *
 * PRAGMA user_version counts the migrations that ran.  A migration is never edited once released: changes are new entries.
 * A file of a newer firn is refused, not guessed at. */
#include "catalog/catalog_int.h"

static const char *const migrations[] = {
    "CREATE TABLE setting(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE warehouse(id TEXT PRIMARY KEY, sql_name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, arn TEXT NOT NULL UNIQUE,"
    " bucket TEXT NOT NULL, created_ms INTEGER NOT NULL, props TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE namespace(catalog TEXT NOT NULL REFERENCES warehouse(id), name TEXT NOT NULL, uuid TEXT NOT NULL,"
    " created_ms INTEGER NOT NULL, owner TEXT NOT NULL, props TEXT NOT NULL, PRIMARY KEY(catalog, name)) WITHOUT ROWID;"
    /* AUTOINCREMENT: an id is never used again, so a run's rights end with its view */
    "CREATE TABLE relation(id INTEGER PRIMARY KEY AUTOINCREMENT, catalog TEXT NOT NULL, namespace TEXT NOT NULL,"
    " name TEXT NOT NULL, kind INTEGER NOT NULL, uuid TEXT NOT NULL, metadata_location TEXT NOT NULL,"
    " version_token TEXT NOT NULL, location TEXT NOT NULL, location_key TEXT NOT NULL, owner TEXT NOT NULL, created_ms INTEGER NOT NULL,"
    " updated_ms INTEGER NOT NULL, extra TEXT, UNIQUE(catalog, namespace, name),"
    " FOREIGN KEY(catalog, namespace) REFERENCES namespace(catalog, name));"
    "CREATE INDEX relation_uuid ON relation(uuid);"
    "CREATE INDEX relation_location ON relation(location_key);"
    "CREATE TABLE mview(relation_id INTEGER PRIMARY KEY REFERENCES relation(id) ON DELETE CASCADE, managed INTEGER NOT NULL,"
    " definition TEXT NOT NULL, dialect TEXT NOT NULL, definer TEXT NOT NULL, comment TEXT NOT NULL, schedule_s INTEGER NOT NULL,"
    " next_due_ms INTEGER NOT NULL, state TEXT NOT NULL, quarantine TEXT NOT NULL, snapshot_id INTEGER NOT NULL,"
    " metadata_location TEXT NOT NULL, view_version INTEGER NOT NULL, sources TEXT, hidden TEXT, columns TEXT,"
    " last_type TEXT NOT NULL, last_reason TEXT NOT NULL, last_run TEXT NOT NULL, last_refresh_ms INTEGER NOT NULL,"
    " created_ms INTEGER NOT NULL, extra TEXT);"
    "CREATE INDEX mview_due ON mview(next_due_ms) WHERE next_due_ms > 0;"
    "CREATE TABLE mview_source(relation_id INTEGER NOT NULL REFERENCES mview(relation_id) ON DELETE CASCADE,"
    " uuid TEXT NOT NULL, PRIMARY KEY(relation_id, uuid)) WITHOUT ROWID;"
    "CREATE INDEX mview_source_uuid ON mview_source(uuid);"
    "CREATE TABLE run(id TEXT PRIMARY KEY, relation_id INTEGER NOT NULL, status TEXT NOT NULL, type TEXT NOT NULL,"
    " reason TEXT NOT NULL, error TEXT NOT NULL, role TEXT NOT NULL, trigger TEXT NOT NULL, created_ms INTEGER NOT NULL,"
    " started_ms INTEGER NOT NULL, finished_ms INTEGER NOT NULL, rows_in INTEGER NOT NULL, rows_changed INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL, snapshot_id INTEGER NOT NULL, full_estimate_us INTEGER NOT NULL);"
    "CREATE INDEX run_relation ON run(relation_id, created_ms);"
    "CREATE INDEX run_open ON run(status) WHERE status IN ('STARTING', 'RUNNING');"
    "CREATE TABLE evidence(relation_id INTEGER NOT NULL REFERENCES relation(id) ON DELETE CASCADE, seq INTEGER NOT NULL,"
    " created_ms INTEGER NOT NULL, hash TEXT NOT NULL, prev_hash TEXT NOT NULL, signature BLOB NOT NULL, body TEXT NOT NULL,"
    " PRIMARY KEY(relation_id, seq)) WITHOUT ROWID;"
    "CREATE TABLE access_key(id TEXT PRIMARY KEY, secret BLOB NOT NULL, token BLOB NOT NULL, principal TEXT NOT NULL,"
    " created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL, scope TEXT, active INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX access_key_end ON access_key(expires_ms) WHERE expires_ms > 0;"
    "CREATE TABLE doc(kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(kind, key)) WITHOUT ROWID;",
    "ALTER TABLE relation ADD COLUMN view_token TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE relation ADD COLUMN resource_id TEXT NOT NULL DEFAULT '';"
    "UPDATE relation SET view_token = version_token, resource_id = uuid;"
    "CREATE INDEX relation_resource ON relation(resource_id);",
    "ALTER TABLE relation ADD COLUMN version INTEGER NOT NULL DEFAULT 0;",
};

static Status version_get(Db *db, int64_t *ret, Error *err)
{
    QUERY(q, db, "PRAGMA user_version", err);
    if (cq_next(&q))
        *ret = cq_i64(&q);
    return cq_status(&q);
}

static Status migrate_one(Db *db, size_t i, Error *err)
{
    char bump[64];

    TRY(cat_db_exec(db, migrations[i], err));
    sqlite3_snprintf(sizeof bump, bump, "PRAGMA user_version=%d", (int)i + 1);
    return cat_db_exec(db, bump, err);
}

Status cat_schema_migrate(Db *db, Error *err)
{
    int64_t at = 0;

    TRY(version_get(db, &at, err));
    if (at > (int64_t)COUNT_OF(migrations))
        return FAIL(err, E_UNSUPPORTED, "catalog.db is of a newer firn (version %lld, this one knows %d)", (long long)at, (int)COUNT_OF(migrations));
    for (size_t i = (size_t)at; i < COUNT_OF(migrations); i++)
        TRY_CTX(migrate_one(db, i, err), err, "migration %d", (int)i + 1);
    return OK;
}

Status cat_setting_get(Db *db, Arena *a, const char *name, Str *ret, Error *err)
{
    QUERY(q, db, "SELECT value FROM setting WHERE name = ?", err);
    cq_text(&q, str_c(name));
    *ret = (Str){0};
    if (cq_next(&q))
        *ret = cq_str(&q, a);
    return cq_status(&q);
}

Status cat_setting_put(Db *db, const char *name, Str value, Error *err)
{
    QUERY(q, db, "INSERT INTO setting(name, value) VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value", err);
    cq_text(&q, str_c(name));
    cq_blob(&q, value);
    return cq_run(&q);
}

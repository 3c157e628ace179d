/* SPDX-License-Identifier: Apache-2.0 */
/* index_sql.c - the index's schema and every statement that the store runs.
 *
 * Keys are BLOBs, so that SQLite orders them by bytes as S3 does and takes any byte. */
#include "store/store_int.h"

const char *const SCHEMA_TEXT =
    "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS buckets (name TEXT PRIMARY KEY, owner TEXT, region TEXT, created INTEGER, config BLOB, versioning INTEGER) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS objects (bucket TEXT, key BLOB, size INTEGER, modified INTEGER, etag TEXT, sha256 TEXT,"
    " headers BLOB, tags BLOB, parts TEXT, blob TEXT, version TEXT, PRIMARY KEY (bucket, key)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS older (bucket TEXT, key BLOB, size INTEGER, modified INTEGER, etag TEXT, sha256 TEXT,"
    " headers BLOB, tags BLOB, parts TEXT, blob TEXT, version TEXT, marker INTEGER, seq INTEGER, PRIMARY KEY (bucket, key, seq)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS uploads (id TEXT PRIMARY KEY, bucket TEXT, key BLOB, started INTEGER, headers BLOB, tags BLOB, owner TEXT) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS uploads_key ON uploads (bucket, key, id);"
    "CREATE TABLE IF NOT EXISTS parts (upload TEXT, number INTEGER, size INTEGER, modified INTEGER, etag TEXT, checksums BLOB, blob TEXT,"
    " PRIMARY KEY (upload, number)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS journal (seq INTEGER PRIMARY KEY AUTOINCREMENT, blob TEXT, bytes BLOB);";

#define OBJECT_COLUMNS "bucket, key, size, modified, etag, sha256, headers, tags, parts, blob, version"
#define NEXT_SEQ "(SELECT coalesce(max(seq), 0) + 1 FROM older WHERE bucket = ?1 AND key = ?2)"
#define THIS_KEY "bucket = ?1 AND key = ?2"

const char *const QUERY_TEXT[Q_COUNT] = {
    [Q_BUCKET_ADD]    = "INSERT INTO buckets (name, owner, region, created, config, versioning) VALUES (?, ?, ?, ?, ?, 0)",
    [Q_BUCKET_GET]    = "SELECT name, owner, region, created, config, versioning FROM buckets WHERE name = ?",
    [Q_BUCKET_CONFIG] = "UPDATE buckets SET config = ? WHERE name = ?",
    [Q_BUCKET_STATE]  = "UPDATE buckets SET versioning = ? WHERE name = ?",
    [Q_BUCKET_DEL]    = "DELETE FROM buckets WHERE name = ?",
    [Q_BUCKET_ALL]    = "SELECT name, owner, region, created, config, versioning FROM buckets ORDER BY name",
    [Q_BUCKET_USED]   = "SELECT EXISTS (SELECT 1 FROM objects WHERE bucket = ?1) OR EXISTS (SELECT 1 FROM older WHERE bucket = ?1)",
    [Q_OBJECT_GET]    = "SELECT " OBJECT_COLUMNS " FROM objects WHERE bucket = ? AND key = ?",
    [Q_OBJECT_PUT]    = "INSERT OR REPLACE INTO objects (" OBJECT_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [Q_OBJECT_DEL]    = "DELETE FROM objects WHERE bucket = ? AND key = ?",
    [Q_OBJECT_TAGS]   = "UPDATE objects SET tags = ? WHERE bucket = ? AND key = ?",
    [Q_OBJECT_FROM]   = "SELECT " OBJECT_COLUMNS " FROM objects WHERE bucket = ? AND key >= ? ORDER BY key",
    [Q_OBJECT_AFTER]  = "SELECT " OBJECT_COLUMNS " FROM objects WHERE bucket = ? AND key > ? ORDER BY key",
    [Q_OLDER_PUSH]    = "INSERT INTO older (" OBJECT_COLUMNS ", marker, seq) SELECT " OBJECT_COLUMNS ", 0, " NEXT_SEQ " FROM objects WHERE " THIS_KEY,
    [Q_OLDER_MARK]    = "INSERT INTO older (bucket, key, version, modified, size, marker, seq) VALUES (?1, ?2, ?3, ?4, 0, 1, " NEXT_SEQ ")",
    [Q_OLDER_GET]     = "SELECT " OBJECT_COLUMNS ", marker, seq FROM older WHERE " THIS_KEY " AND version = ?3",
    [Q_OLDER_NEWEST]  = "SELECT " OBJECT_COLUMNS ", marker, seq FROM older WHERE " THIS_KEY " ORDER BY seq DESC LIMIT 1",
    [Q_OLDER_DEL]     = "DELETE FROM older WHERE " THIS_KEY " AND seq = ?3",
    [Q_OLDER_RAISE]   = "INSERT INTO objects (" OBJECT_COLUMNS ") SELECT " OBJECT_COLUMNS " FROM older WHERE " THIS_KEY " AND seq = ?3",
    [Q_VERSIONS]      = "SELECT " OBJECT_COLUMNS ", 0 AS marker, 9223372036854775807 AS seq FROM objects WHERE bucket = ?1 AND key >= ?2"
                        " UNION ALL SELECT " OBJECT_COLUMNS ", marker, seq FROM older WHERE bucket = ?1 AND key >= ?2 ORDER BY 2, 13 DESC",
    [Q_UPLOAD_ADD]    = "INSERT INTO uploads (id, bucket, key, started, headers, tags, owner) VALUES (?, ?, ?, ?, ?, ?, ?)",
    [Q_UPLOAD_GET]    = "SELECT id, bucket, key, started, headers, tags, owner FROM uploads WHERE id = ?",
    [Q_UPLOAD_DEL]    = "DELETE FROM uploads WHERE id = ?",
    [Q_UPLOAD_ALL]    = "SELECT id, bucket, key, started, headers, tags, owner FROM uploads WHERE bucket = ? AND key >= ? ORDER BY key, id",
    [Q_PART_PUT]      = "INSERT OR REPLACE INTO parts (upload, number, size, modified, etag, checksums, blob) VALUES (?, ?, ?, ?, ?, ?, ?)",
    [Q_PART_GET]      = "SELECT number, size, modified, etag, checksums, blob FROM parts WHERE upload = ? AND number = ?",
    [Q_PART_ALL]      = "SELECT number, size, modified, etag, checksums, blob FROM parts WHERE upload = ? ORDER BY number",
    [Q_PART_DEL]      = "DELETE FROM parts WHERE upload = ?",
    [Q_JOURNAL_ADD]   = "INSERT INTO journal (blob, bytes) VALUES (?, ?)",
    [Q_JOURNAL_ALL]   = "SELECT blob, bytes FROM journal ORDER BY seq",
    [Q_JOURNAL_LAST]  = "SELECT max(seq) FROM journal",
    [Q_JOURNAL_DEL]   = "DELETE FROM journal WHERE seq <= ?",
    [Q_BLOBS]         = "SELECT blob FROM objects UNION ALL SELECT blob FROM older UNION ALL SELECT blob FROM parts",
    [Q_META_GET]      = "SELECT value FROM meta WHERE name = ?",
    [Q_META_PUT]      = "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)",
};

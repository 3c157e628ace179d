/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_int.h - what the files of the catalog room share: connections, a query helper, rows to structs. */
#ifndef FIRN_CATALOG_INT_H
#define FIRN_CATALOG_INT_H

#include <sqlite3.h>

#include "catalog/catalog.h"

enum {
    READERS_MAX    = 8,                /* connections that read at the same time */
    STATEMENTS_MAX = 96,               /* prepared statements kept by a connection */
    BUSY_MS        = 10000,
    KEY_FILE_BYTES = 32,
    LEVEL_SEP      = 0x1F,             /* between the levels of a namespace */
};

/* A connection with its prepared statements, found by the address of their text. */
typedef struct Db {
    Catalog *catalog;
    sqlite3 *h;
    struct { const char *sql; sqlite3_stmt *st; int busy; } kept[STATEMENTS_MAX];
    size_t nkept;
    int in_transaction;
} Db;

struct Catalog {
    Arena *a;                          /* for the strings below; written by cat_open alone */
    Str path, dir, account, region;
    Str seal_key;                      /* 32 bytes of catalog.key */
    Str sign_seed, sign_pub;
    pthread_mutex_t write_lock;        /* held while a writer transaction is open */
    Db writer;
    pthread_mutex_t pool_lock;
    pthread_cond_t pool_free;
    Db *idle[READERS_MAX];
    size_t nidle, nopen;
};

/* ---- db.c: connections --------------------------------------------------------------------------------- */

NODISCARD Status cat_db_open(Catalog *c, Db *ret, Error *err);
/* Any SQLite file of this room (logs.db): WAL, and the given pragmas. */
NODISCARD Status cat_db_open_file(Str path, const char *pragmas, Db *ret, Error *err);
void cat_db_close(Db *db);
NODISCARD Status cat_db_exec(Db *db, const char *sql, Error *err);
Status cat_db_fail(Db *db, int rc, const char *doing, Error *err);

/* CLEANUP(cat_reader_backp) Db *db = NULL; waits when all are in use. */
NODISCARD Status cat_reader_take(Catalog *c, Db **ret, Error *err);
void cat_reader_backp(Db **db);
/* CLEANUP(cat_writer_endp) Db *db = NULL; rolls back unless writer_commit was OK. */
NODISCARD Status cat_writer_begin(Catalog *c, Db **ret, Error *err);
/* E_UNKNOWN when the disk did not say whether the commit is durable. */
NODISCARD Status cat_writer_commit(Db **db, Error *err);
void cat_writer_endp(Db **db);

/* ---- db.c: a query; sticky: after the first error it does nothing, cq_status says which ------------------ */

typedef struct Query { Db *db; sqlite3_stmt *st; int slot, nbind, ncol; Status status; Error *err; } Query;
#define QUERY(name, db, sql, err) CLEANUP(cq_endp) Query name = cq_new((db), (sql), (err))
Query cq_new(Db *db, const char *sql, Error *err);
void cq_endp(Query *q);
void cq_text(Query *q, Str s);          /* bound bytes must live until the query ends */
void cq_blob(Query *q, Str s);
void cq_int(Query *q, int64_t v);
void cq_json(Query *q, Arena *a, const Json *j);          /* NULL binds NULL */
void cq_props(Query *q, Arena *a, const Props *p);
bool cq_next(Query *q);
NODISCARD Status cq_status(const Query *q);
NODISCARD Status cq_run(Query *q);      /* to the end */
int64_t cq_changed(const Query *q);     /* rows that the last cq_run of this connection changed */
/* Columns, in order. */
Str cq_str(Query *q, Arena *a);
int64_t cq_i64(Query *q);
Json *cq_doc(Query *q, Arena *a);       /* NULL for NULL */
Props cq_map(Query *q, Arena *a);

/* ---- key_file.c ------------------------------------------------------------------------------------------- */

/* 32 secret bytes in a file of mode 0600; made when absent. `fresh` says whether it was made now. */
NODISCARD Status cat_key_file(Arena *a, Str path, Str *ret, int *fresh, Error *err);

/* ---- schema.c ----------------------------------------------------------------------------------------------- */

NODISCARD Status cat_schema_migrate(Db *db, Error *err);
NODISCARD Status cat_setting_get(Db *db, Arena *a, const char *name, Str *ret, Error *err);   /* empty: none */
NODISCARD Status cat_setting_put(Db *db, const char *name, Str value, Error *err);

/* ---- shared pieces ----------------------------------------------------------------------------------------- */

Str cat_trimmed_location(Str uri);                           /* without slashes at the end */
Str cat_location_key(Arena *a, Str uri);                     /* one spelling of a location: s3a is s3, file:///x is file:/x */
Str cat_parent_location(Str key);                        /* "" above s3://bucket or file:/x */
/* The error's protocol name, such as NoSuchTableException. Returns err->code. */
Status cat_error_kind(Error *err, const char *kind);
NODISCARD Status cat_namespace_must_exist(Db *db, Str catalog, Str name, Error *err);

#define RELATION_COLUMNS "r.id, r.catalog, r.namespace, r.name, r.kind, r.uuid, r.metadata_location, r.version_token, " \
    "r.location, r.owner, r.created_ms, r.updated_ms, r.extra, r.view_token, r.resource_id, r.version"
void cat_relation_row(Query *q, Arena *a, CatRelation *r);

/* Parts of a commit, one file each kind. `last_id`: the relation created before in this transaction. */
NODISCARD Status cat_mview_write(Db *db, CatMview *v, int64_t last_id, Error *err);
NODISCARD Status cat_run_write(Db *db, CatRun *r, int64_t last_id, Error *err);
NODISCARD Status cat_evidence_write(Db *db, CatEvidence *e, int64_t last_id, Error *err);
NODISCARD Status cat_doc_write(Db *db, Str kind, Str key, const Json *value, Error *err);

#endif

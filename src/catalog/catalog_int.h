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

NODISCARD Status db_open(Catalog *c, Db *ret, Error *err);
void db_close(Db *db);
NODISCARD Status db_exec(Db *db, const char *sql, Error *err);
Status db_fail(Db *db, int rc, const char *doing, Error *err);

/* CLEANUP(reader_backp) Db *db = NULL; waits when all are in use. */
NODISCARD Status reader_take(Catalog *c, Db **ret, Error *err);
void reader_backp(Db **db);
/* CLEANUP(writer_endp) Db *db = NULL; rolls back unless writer_commit was OK. */
NODISCARD Status writer_begin(Catalog *c, Db **ret, Error *err);
/* E_UNKNOWN when the disk did not say whether the commit is durable. */
NODISCARD Status writer_commit(Db **db, Error *err);
void writer_endp(Db **db);

/* ---- db.c: a query; sticky: after the first error it does nothing, q_status says which ------------------ */

typedef struct Query { Db *db; sqlite3_stmt *st; int slot, nbind, ncol; Status status; Error *err; } Query;
#define QUERY(name, db, sql, err) CLEANUP(q_endp) Query name = q_new((db), (sql), (err))
Query q_new(Db *db, const char *sql, Error *err);
void q_endp(Query *q);
void q_text(Query *q, Str s);          /* bound bytes must live until the query ends */
void q_blob(Query *q, Str s);
void q_int(Query *q, int64_t v);
void q_json(Query *q, Arena *a, const Json *j);          /* NULL binds NULL */
void q_props(Query *q, Arena *a, const Props *p);
bool q_next(Query *q);
NODISCARD Status q_status(const Query *q);
NODISCARD Status q_run(Query *q);      /* to the end */
int64_t q_changed(const Query *q);     /* rows that the last q_run of this connection changed */
/* Columns, in order. */
Str q_str(Query *q, Arena *a);
int64_t q_i64(Query *q);
Json *q_doc(Query *q, Arena *a);       /* NULL for NULL */
Props q_map(Query *q, Arena *a);

/* ---- key_file.c ------------------------------------------------------------------------------------------- */

/* 32 secret bytes in a file of mode 0600; made when absent. `fresh` says whether it was made now. */
NODISCARD Status key_file(Arena *a, Str path, Str *ret, int *fresh, Error *err);

/* ---- schema.c ----------------------------------------------------------------------------------------------- */

NODISCARD Status schema_migrate(Db *db, Error *err);
NODISCARD Status setting_get(Db *db, Arena *a, const char *name, Str *ret, Error *err);   /* empty: none */
NODISCARD Status setting_put(Db *db, const char *name, Str value, Error *err);

/* ---- shared pieces ----------------------------------------------------------------------------------------- */

Str display_name(Arena *a, Str ns, Str name);            /* a.b.t; name may be empty */
Str trimmed_location(Str uri);                           /* without slashes at the end */
Str location_key(Arena *a, Str uri);                     /* one spelling of a location: s3a is s3, file:///x is file:/x */
/* The error's protocol name, such as NoSuchTableException. Returns err->code. */
Status cat_error_kind(Error *err, const char *kind);
NODISCARD Status namespace_must_exist(Db *db, Str catalog, Str name, Error *err);

#define RELATION_COLUMNS "r.id, r.catalog, r.namespace, r.name, r.kind, r.uuid, r.metadata_location, r.version_token, " \
    "r.location, r.owner, r.created_ms, r.updated_ms, r.extra"
void relation_row(Query *q, Arena *a, CatRelation *r);

/* Parts of a commit, one file each kind. `last_id`: the relation created before in this transaction. */
NODISCARD Status mview_write(Db *db, CatMview *v, int64_t last_id, Error *err);
NODISCARD Status run_write(Db *db, CatRun *r, int64_t last_id, Error *err);
NODISCARD Status evidence_write(Db *db, CatEvidence *e, int64_t last_id, Error *err);
NODISCARD Status doc_write(Db *db, Str kind, Str key, const Json *value, Error *err);

#endif

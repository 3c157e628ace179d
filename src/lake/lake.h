/* SPDX-License-Identifier: Apache-2.0 */
/* lake.h - Iceberg tables as relations of the engine: scan at a snapshot, changes between two snapshots, write and commit.
 *
 * A scan is text: a query over Parquet files of the store, with deletes applied and columns resolved by field id.  What
 * the text needs beside files (positions of deleted rows) is lent to the connection it is made for, so
 * a relation is good on that connection only, until lake_relation_drop or the connection's end.
 * Column names in the text are the `engine` names of lake_columns(). */
#ifndef FIRN_LAKE_H
#define FIRN_LAKE_H

#include "base/base.h"
#include "catalog/catalog.h"
#include "duck/duck.h"
#include "iceberg/iceberg.h"
#include "sql/sql.h"
#include "store/store.h"

typedef struct Lake Lake;
typedef struct LakeHooks {
    void *ctx;
    /* Called before a file is read whose object belongs to a managed view: E_QUARANTINED stops the query. NULL: none. */
    Status (*before_read)(void *ctx, Arena *a, Str uri, Error *err);
} LakeHooks;
/* hooks may be NULL. c NULL: a table of another catalog, whose LakeTable the caller makes of its metadata alone (see test_rest_remote.c); it is read and written, and committed there. */
Lake *lake_new(Catalog *c, Store *s, const LakeHooks *hooks);
void lake_free(Lake *l);
Catalog *lake_catalog(Lake *l);
Store *lake_store(Lake *l);

/* ---- tables ---------------------------------------------------------------------------------------------------------- */

typedef struct LakeTable {
    CatRelation relation;
    IceMetadata *meta;
    const struct LakeExternal *external;       /* see below; NULL for Iceberg */
    const struct LakeRights *rights;           /* who reads: asked for files outside of the table's storage; NULL: the system, which reads none in other storage */
} LakeTable;
NODISCARD Status lake_open(Lake *l, Arena *a, Str catalog, Str ns, Str name, LakeTable *ret, Error *err);
NODISCARD Status lake_open_relation(Lake *l, Arena *a, const CatRelation *r, LakeTable *ret, Error *err);
/* A table that is named by its metadata file alone (fixtures, register checks). */
NODISCARD Status lake_open_location(Lake *l, Arena *a, Str metadata_location, LakeTable *ret, Error *err);

/* Tables of the Glue catalog that are not Iceberg (REL_EXTERNAL): Parquet, CSV and JSON files at a place, partitions registered or by path.
 * The files are listed as they are now, each asked for (rights NULL: they are not), and stand behind a made-up snapshot whose id is a fingerprint
 * of their names, sizes and ETags; such a table is scanned as any other, and never written.  E_UNSUPPORTED with the reason for other formats. */
typedef enum { LAKE_MAY_LIST, LAKE_MAY_READ } LakeMay;
typedef struct LakeRights LakeRights;
struct LakeRights { void *ctx; Status (*may)(void *ctx, Arena *a, LakeMay what, Str bucket, Str key, Error *err); };
NODISCARD Status lake_open_external(Lake *l, Arena *a, const CatRelation *r, const LakeRights *rights, LakeTable *ret, Error *err);
/* Its columns, partition keys last, without a look at files. */
NODISCARD Status lake_external_schema(Arena *a, const CatRelation *r, IceSchema **ret, Error *err);
/* HIVE_PARQUET, HIVE_CSV, HIVE_JSON, ICEBERG */
Str lake_source_type(const LakeTable *t);
/* "array<struct<a:int,b:decimal(10,2)>>". Nested fields get ids from *next_id on. E_INVALID: not a type, E_UNSUPPORTED: union types. */
NODISCARD Status hive_type_parse(Arena *a, Str text, int32_t *next_id, IceType **ret, Error *err);
Str hive_type_text(Arena *a, const IceType *t);

/* Iceberg's types and the engine's. E_UNSUPPORTED for types that the engine cannot hold (geometry, timestamptz_ns …). */
NODISCARD Status lake_type(Arena *a, const IceType *t, DataType *ret, Error *err);
NODISCARD Status lake_ice_type(Arena *a, const DataType *t, int32_t *next_id, IceType **ret, Error *err);
NODISCARD Status lake_columns(Arena *a, const IceSchema *s, BoundColumns *ret, Error *err);
Value lake_value(Arena *a, const DataType *t, const IceValue *v);

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

typedef struct LakeScan {
    const IceSnapshot *snapshot;      /* NULL: no rows */
    const IceSchema *schema;          /* as which the rows are seen */
    const IceFields *hidden;          /* more fields to read by id, engine name = field name; NULL: none */
    const uint8_t *reads;             /* one a field of schema, 0: nobody reads this column, the text may be without it; NULL: all are read */
    const IcePredicates *where;       /* for pruning only */
    int positions;                    /* add __file VARCHAR (the file's local path) and __pos BIGINT, as lake_delete_rows takes them */
    const StrVec *only_files;         /* NULL: all; else just these data files (object locations) */
    int hot;                          /* few rows of it are looked up, again and again: its files may be kept decoded, see lake_keep_hot */
} LakeScan;
typedef struct LakeRelation { Str sql; StrVec temp_tables; VEC(int64_t) row_sets, holds; int64_t rows_upper, files, files_skipped, bytes; } LakeRelation;
/* Files of hot scans are kept as tables of the engine, of the columns that were read, up to so many bytes by estimate; 0, and until this is called: none are.
 * Before the first scan. */
void lake_keep_hot(Lake *l, DuckEngine *e, int64_t bytes);
NODISCARD Status lake_scan(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const LakeScan *s, LakeRelation *ret, Error *err);
void lake_relation_drop(DuckConn *c, const LakeRelation *r);
/* The rows of a snapshot (NULL: none) where metadata and deletes by position tell their number; else ret->has is 0. */
NODISCARD Status lake_count(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const IceSnapshot *s, OptI64 *ret, Error *err);

/* Rows with __w (BIGINT, +1 or -1 each, not consolidated) that lead from one snapshot to the other, seen as `schema`.
 * By difference of the two live file sets: nothing of the log between is needed, and rewrites cancel out.
 * whole: they are all rows of some files, rows_upper of them, and the engine knows how many. */
typedef struct LakeChanges { LakeRelation relation; int nothing; int has_deletes, has_inserts; int64_t rows_upper; bool whole; int64_t files; } LakeChanges;
/* reads: as in LakeScan. */
NODISCARD Status lake_changes(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const IceSnapshot *from, const IceSnapshot *to, const IceSchema *schema, const uint8_t *reads, LakeChanges *ret,
                              Error *err);

/* Metadata tables: snapshots history files data_files delete_files manifests all_manifests refs partitions entries metadata_log_entries.
 * Columns as Spark's. E_NOT_FOUND: no such metadata table. The relation's text is a temporary table. */
bool lake_is_metadata_table(Str name);
NODISCARD Status lake_metadata_columns(Arena *a, const LakeTable *t, Str which, BoundColumns *ret, Error *err);
NODISCARD Status lake_metadata_table(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, Str which, const IceSnapshot *snapshot, LakeRelation *ret, Error *err);

/* ---- for the binder ---------------------------------------------------------------------------------------------------------- */

typedef struct LakeName {
    Str catalog_name, namespace, name;      /* for messages and BoundTable.display */
    Str metadata_table;                     /* "snapshots" …; empty: the table itself */
    OptI64 version, timestamp_ms;           /* time travel */
    Str ref;                                /* branch, tag, or a snapshot id as text */
} LakeName;
/* hidden: fields read after the schema's own, or NULL. */
typedef struct LakeSource { LakeTable table; const IceSnapshot *snapshot; const IceSchema *schema; Str metadata_table; const IceFields *hidden; } LakeSource;
/* The BoundTable's `user` is a LakeSource. Equal ids: same table, snapshot and schema. */
NODISCARD Status lake_bind_table(Lake *l, Arena *a, const LakeTable *t, const LakeName *n, BoundTable **ret, Error *err);
NODISCARD Status lake_source_relation(Lake *l, Arena *a, DuckConn *c, const LakeSource *s, const IcePredicates *where, LakeRelation *ret, Error *err);

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

typedef struct LakeFile { IceFile file; Str sha256; } LakeFile;
typedef VEC(LakeFile) LakeFiles;
/* KEPT: files that stay; FRESH: made with less effort, since maintenance will write them anew. */
typedef enum { LAKE_STYLE_KEPT, LAKE_STYLE_FRESH } LakeStyle;
typedef struct LakeWrite {
    const LakeTable *table;
    const IceSchema *schema;          /* the columns of `sql`, in order, by name = engine name */
    const IceFields *hidden;          /* after them */
    int validate_required;            /* a null in a required field: E_INVALID, sqlstate 23502 */
    Str order_by;                     /* engine text or empty */
    Str prefix;                       /* of the files' names; empty: none */
    LakeStyle style;
    struct { const int32_t *p; size_t n; } equality;      /* field ids of top-level columns: equality delete files that hold these alone, by the partitions of `sql`'s rows */
} LakeWrite;
/* Runs `sql` and writes its rows as data files (or equality delete files) into the table's location: durable, not committed. */
NODISCARD Status lake_write(Lake *l, Arena *a, DuckConn *c, const LakeWrite *w, Str sql, LakeFiles *files, int64_t *rows, Error *err);
/* `sql` gives (__file, __pos) of rows to delete: position deletes (v2) or deletion vectors merged with what is there (v3). Puts what it needs
 * into ch: add_deletes, remove_deletes; a file with no row left goes whole (remove_data). */
NODISCARD Status lake_delete_rows(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, Str sql, IceChange *ch, LakeFiles *files, int64_t *rows, Error *err);

/* Commits `ch` on top of the newest state: bounded retries; loses nothing and leaves no file behind. `also` goes into the same catalog
 * transaction (a run, evidence). *ret: the table after the commit. E_CONFLICT, E_UNKNOWN. */
NODISCARD Status lake_commit(Lake *l, Arena *a, const LakeTable *t, IceChange *ch, CatChange *also, size_t nalso, LakeTable *ret, Error *err);
/* Commits metadata updates that need no files (ALTER TABLE …), checked against what t was. */
NODISCARD Status lake_update(Lake *l, Arena *a, const LakeTable *t, const IceUpdates *ups, CatChange *also, size_t nalso, LakeTable *ret, Error *err);
/* Called with the base of each try to fill `ups` and `rqs`; for callers whose change must be decided anew on a retry. */
typedef Status (*LakePrepare)(void *ctx, Arena *a, const LakeTable *base, IceUpdates *ups, IceRequirements *rqs, StrVec *written, Error *err);
/* `late` (may be NULL) is called after the new metadata is known, before the catalog transaction, to complete `also`. */
typedef Status (*LakeLate)(void *ctx, Arena *a, const LakeTable *next, CatChange *also, size_t nalso, Error *err);
NODISCARD Status lake_commit_with(Lake *l, Arena *a, const LakeTable *t, LakePrepare prepare, LakeLate late, void *ctx, CatChange *also, size_t nalso, LakeTable *ret, Error *err);

/* Removes files that were written and then not committed. Errors are swallowed: the next start finds what is left. */
void lake_discard(Lake *l, const LakeFiles *files);
void lake_discard_written(Lake *l, const StrVec *written);       /* the same for manifests, lists and metadata files, by location */

#endif

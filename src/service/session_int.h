/* SPDX-License-Identifier: Apache-2.0 */
/* session_int.h - shared by the files that carry out SQL statements. */
#ifndef FIRN_SESSION_INT_H
#define FIRN_SESSION_INT_H

#include "service/service.h"

struct Session {
    Service *svc;
    Arena *arena;                     /* lives as long as the session */
    Principal principal;
    Dialect dialect;
    Str database, application;
    Props settings;
    Str catalog_name, namespace;      /* current */
    char tx;
    int32_t backend;                  /* pg_backend_pid() */
    int tx_wrote;
    struct LiveTx *live_tx;           /* inserts of this transaction on the live side */
    struct LiveBlock *live_block;     /* statements of this transaction that change names: they wait for COMMIT; NULL: none */
    int live_committing;              /* COMMIT carries them out */
    struct { int64_t *p; size_t n, cap; } live_made;       /* objects of the live side that this COMMIT created: dropped when it fails */
    Str live_temp;                    /* schema of its temporary objects; empty: it has none */
    pthread_mutex_t lock;             /* guards conn and cancelled */
    DuckConn *conn;                   /* of the statement that runs now */
    int cancelled;
    struct SqlCursor *cursors;        /* DECLAREd */
    struct PgObjects *pg_objects;     /* read for pg_catalog, NULL: nothing yet */
    struct { Notice *p; size_t n, cap; } notices;
    size_t notices_read;
};

struct Batch { Arena *arena; Str text; StmtVec stmts; Dialect dialect; };

/* Conjuncts that let a scan skip files (prune.c). */
typedef struct Prune { const TableRef *table; IcePredicates where; } Prune;

/* What a table's scan reads, for EXPLAIN. */
typedef struct Scanned { Str name; int64_t files, skipped, bytes, rows; } Scanned;

/* A name of the live side in the text that is bound: where, of how many parts, which object. */
typedef struct LiveRef { int position; size_t parts; int64_t id; Str as; } LiveRef;      /* as: the name that columns may be qualified with; empty: it has an alias */

/* One statement under way. */
typedef struct Run {
    Session *ss;
    Service *svc;
    Arena *a;                         /* freed by rows_close */
    DuckConn *c;
    const Stmt *st;
    Dialect dialect;                  /* of the statement: the session's, PostgreSQL's for questions to pg_catalog */
    const Value *params;
    size_t nparams;
    int64_t now_us, deadline_us;      /* the statement's fixed time; when it must be over (monotonic), 0: never */
    Str text;                         /* the whole text that it is part of */
    int catalogs_filled, view_depth;
    struct MzWorld *mz;               /* mz_catalog: read for this statement; NULL: not yet */
    struct { int64_t *p; size_t n, cap; } live_used;       /* objects of the live side that the statement names */
    struct { int64_t *p; size_t n, cap; } live_types;      /* types that it names */
    struct { LiveRef *p; size_t n, cap; } live_refs;
    Str live_as;                      /* whose rights count: the role that owns the view whose definition is bound; empty: the session's */
    OptI64 live_as_of;                /* relations of the live side are read as of this time */
    int live_returning;               /* RETURNING is bound: it reads what the statement itself has staged */
    int live_staged;                  /* what it wrote waits for COMMIT */
    struct LiveDraft *draft;          /* it is only tried (live_block.c): svc has drafts of the names */
    struct LiveExclusive *live_exclusive;                  /* held: nothing is written there meanwhile */
    VEC(LakeRelation) relations;
    VEC(Prune) prunes;
    VEC(Scanned) scanned;
    StrVec written;                   /* data files that the statement committed */
} Run;

struct Rows {
    Run run;
    RowColumns columns;
    DuckResult *result;               /* streamed; or */
    struct { Value **p; size_t n, cap; } memory;       /* rows made here */
    size_t at, chunk_rows, chunk_at;
    int64_t sent, sent_max;           /* bytes of rows, and how many may be; 0: any number */
    Str sent_why;                     /* the error when there are more */
    const char *tag;                  /* "SELECT", "INSERT 0", "CREATE TABLE" */
    int64_t changed;                  /* -1: the number of rows sent */
    int tag_counts;                   /* the tag ends in a number */
    const Stmt *copy;
    struct CopyIn *copy_in;
    struct Subscribe *subscribe;      /* rows are changes as they come */
    struct SqlCursor *cursor;         /* FETCH: rows come from it, */
    int64_t left;                     /* so many still; -1: all */
    int64_t fetched, fetch_until_us;  /* rows of this FETCH; when it gives up waiting for the first, 0: never */
};

/* ---- cursors ----------------------------------------------------------------------------------------------------------- */

typedef struct SqlCursor SqlCursor;
typedef enum { CURSORS_OF_TRANSACTION, CURSORS_ALL } CursorsEnd;
void cursors_end(Session *ss, CursorsEnd how);
void cursor_release(SqlCursor *c);
NODISCARD Status cursor_next(Rows *rows, Arena *a, Value *cells, int *has, Error *err);
void run_live_end(Run *r);                                /* gives live_exclusive back */
void run_attach(Session *ss, DuckConn *c);                /* what a cancel stops */

/* ---- names ------------------------------------------------------------------------------------------------------------- */

typedef struct Name { Str catalog_id, catalog_name, namespace, name; Str metadata_table; Str ref; } Name;
/* A relation's full name by the session's rules; the relation need not exist. */
NODISCARD Status name_resolve(Run *r, const StrVec *parts, Name *ret, Error *err);
NODISCARD Status name_catalog(Run *r, Str sql_name, Str *id, Error *err);
/* catalog and namespace of SHOW TABLES IN x.y, CREATE NAMESPACE x.y, USE. */
NODISCARD Status name_namespace(Run *r, const StrVec *parts, Name *ret, Error *err);
NODISCARD Status open_table(Run *r, const StrVec *parts, Name *name, LakeTable *ret, Error *err);
Str name_display(Arena *a, const Name *n);
/* Lake Formation's column permissions (columns.c): takes from a bound table what the session's principal may not select. */
NODISCARD Status run_limit_columns(Run *r, Arena *a, const CatRelation *rel, const Name *n, BoundTable *t, Error *err);
/* E_DENIED when that is not every column. */
NODISCARD Status run_every_column(Run *r, const Name *n, const CatRelation *rel, const char *what, Error *err);
/* The schema that DESCRIBE shows: `s` itself when no column is hidden. */
NODISCARD Status run_seen_schema(Run *r, const CatRelation *rel, const IceSchema *s, const IceSchema **ret, Error *err);
/* Messages in the dialect's words: E_NOT_FOUND for a table. */
NODISCARD Status table_not_found(Run *r, const StrVec *parts, int position, Error *err);

void run_binder(Run *r, Binder *b);
/* pg_catalog's functions look at this connection's objects: they must be there when the engine's text calls one. */
NODISCARD Status run_fill_pg_catalog(Run *r, Error *err);
void pg_objects_free(struct PgObjects *o);
NODISCARD Status run_need_pg_catalog(Run *r, Str engine_sql, Error *err);
Printer run_printer(Run *r);

/* compat.c: the bookkeeping columns of a managed view where aws_compat shows them; NULL: none. */
NODISCARD Status compat_columns(Run *r, Arena *a, const CatRelation *rel, const IceFields **ret, Error *err);
NODISCARD Status compat_bind(Run *r, Arena *a, const CatRelation *rel, BoundTable *t, Error *err);

NODISCARD Status run_ask(Run *r, Action action, const char *api, const CatRelation *rel, Error *err);

/* ---- statements: each fills rows ------------------------------------------------------------------------------------------ */

typedef Status (*StmtHandler)(Run *r, Rows *rows, Error *err);
NODISCARD Status watched(Run *r, Rows *rows, StmtHandler work, Error *err);       /* under the statement's timeout, errors in the dialect's words */
NODISCARD Status do_query(Run *r, Rows *rows, Error *err);
NODISCARD Status do_insert(Run *r, Rows *rows, Error *err);
NODISCARD Status do_delete(Run *r, Rows *rows, Error *err);
NODISCARD Status do_update(Run *r, Rows *rows, Error *err);
NODISCARD Status do_merge(Run *r, Rows *rows, Error *err);
NODISCARD Status do_truncate(Run *r, Rows *rows, Error *err);
NODISCARD Status do_create_table(Run *r, Rows *rows, Error *err);
NODISCARD Status do_drop_table(Run *r, Rows *rows, Error *err);
NODISCARD Status do_alter_table(Run *r, Rows *rows, Error *err);
NODISCARD Status do_create_view(Run *r, Rows *rows, Error *err);
NODISCARD Status do_drop_view(Run *r, Rows *rows, Error *err);
NODISCARD Status do_create_namespace(Run *r, Rows *rows, Error *err);
NODISCARD Status do_drop_namespace(Run *r, Rows *rows, Error *err);
NODISCARD Status do_alter_namespace(Run *r, Rows *rows, Error *err);
NODISCARD Status do_use(Run *r, Rows *rows, Error *err);
NODISCARD Status do_create_mv(Run *r, Rows *rows, Error *err);
NODISCARD Status do_drop_mv(Run *r, Rows *rows, Error *err);
NODISCARD Status do_refresh_mv(Run *r, Rows *rows, Error *err);
NODISCARD Status do_alter_mv(Run *r, Rows *rows, Error *err);
NODISCARD Status do_show(Run *r, Rows *rows, Error *err);
NODISCARD Status do_describe(Run *r, Rows *rows, Error *err);
NODISCARD Status do_explain(Run *r, Rows *rows, Error *err);
NODISCARD Status do_call(Run *r, Rows *rows, Error *err);
NODISCARD Status do_set(Run *r, Rows *rows, Error *err);
NODISCARD Status do_copy(Run *r, Rows *rows, Error *err);
NODISCARD Status do_comment(Run *r, Rows *rows, Error *err);
NODISCARD Status do_declare(Run *r, Rows *rows, Error *err);
NODISCARD Status do_fetch(Run *r, Rows *rows, Error *err);
NODISCARD Status do_close(Run *r, Rows *rows, Error *err);

/* ---- rows made here -------------------------------------------------------------------------------------------------------- */

void rows_column(Rows *rows, const char *name, DataTypeKind kind);
Value *rows_row(Rows *rows);                              /* a new row of nulls */
void cell_str(Rows *rows, Value *row, size_t i, Str s);
void cell_int(Rows *rows, Value *row, size_t i, int64_t v);
void cell_bool(Rows *rows, Value *row, size_t i, int truth);
void copy_abandon(Rows *rows);                            /* an unfinished COPY FROM STDIN */
void rows_command(Rows *rows, const char *tag);           /* a statement without rows */

void session_note(Session *ss, const char *severity, const char *sqlstate, const char *fmt, ...) PRINTF_LIKE(4, 5);
bool setting_bytes(Str v, int64_t *ret);                  /* "500MB" */
void session_note_detail(Session *ss, const char *fmt, ...) PRINTF_LIKE(2, 3);              /* of the last note */
Str setting_get(const Session *ss, Str key, Str fallback);
bool setting_on(const Session *ss, Str key);

/* live_type.c: types that CREATE TYPE made, for the binder; and those of the statement's own columns and options. */
NODISCARD Status live_resolve_type(void *run, Arena *a, const MadeType *name, DataType *ret, Error *err);
NODISCARD Status live_resolve_types(Run *r, Error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* athena_int.h - what the files of the Athena door share: records, workgroups, query executions, the pool that runs them. */
#ifndef FIRN_ATHENA_INT_H
#define FIRN_ATHENA_INT_H

#include "door/athena/athenadoor.h"

#include <pthread.h>

#define ATH_DIALECT DIALECT_TRINO
#define ATH_ENGINE "Athena engine version 3"

enum {
    ATH_WORKERS        = 4,                   /* queries that run at once */
    ATH_QUEUE_MAX      = 200,                 /* and that wait: more are refused (TooManyRequestsException) */
    ATH_HISTORY_DAYS   = 45,
    ATH_HISTORY_MAX    = 20000,               /* query executions that are remembered */
    ATH_PRUNE_EVERY    = 256,                 /* starts between two looks for executions to forget */
    ATH_RECORDS_MAX    = 10000,               /* workgroups, named queries … of a kind */
    ATH_START_WAIT_MS  = 100,                 /* a short statement is done when StartQueryExecution returns: no poll is lost */
    ATH_STOP_WAIT_MS   = 5000,
    ATH_DML_MINUTES    = 30,                  /* Athena's timeouts */
    ATH_DDL_MINUTES    = 600,
    ATH_PARAMS_MAX     = 1000,
    ATH_TAGS_MAX       = 50,
    ATH_PAGE_ROWS      = 1000,                /* of GetQueryResults */
    ATH_PAGE_BYTES     = 4 * 1024 * 1024,
    ATH_ROW_BYTES      = 32 * 1024 * 1024,    /* one row of a result */
    ATH_PIECE_BYTES    = 256 * 1024,          /* result text is written and read in pieces of about this size */
};

/* ---- records: documents of the catalog ---------------------------------------------------------------------------------- */

#define K_WORKGROUP "athena.workgroup"        /* name */
#define K_CATALOG   "athena.catalog"          /* name */
#define K_NAMED     "athena.named"            /* id */
#define K_PREPARED  "athena.prepared"         /* workgroup/name */
#define K_CAPACITY  "athena.capacity"         /* name */
#define K_ASSIGN    "athena.assignments"      /* capacity reservation's name */
#define K_QUERY     "athena.query"            /* id */
#define K_INDEX     "athena.index"            /* workgroup/inverted time/id: newest first */
#define K_TOKEN     "athena.token"            /* of client request tokens */
#define K_REUSE     "athena.reuse"            /* of what was asked: the newest result */

typedef struct AthDoor AthDoor;
static inline AthDoor *ath_door(const AwsCall *c) { return c->door; }
Service *ath_service(const AwsCall *c);

/* NULL value deletes. */
NODISCARD Status rec_put(Service *svc, const char *kind, Str key, const Json *value, Error *err);
NODISCARD Status rec_get(Service *svc, Arena *a, const char *kind, Str key, Json **ret, Error *err);    /* *ret NULL: none */
NODISCARD Status rec_count_below(AwsCall *c, const char *kind, Error *err);                            /* E_LIMIT at ATH_RECORDS_MAX */
/* Tags of a create call as an object of strings; E_INVALID: too many, or a key twice. */
NODISCARD Status rec_tags(AwsCall *c, const Json *list, Json *into, Error *err);
/* Of `value` the members named. */
void rec_copy_members(Arena *a, Json *to, const Json *from, const char *const *names, size_t n);

/* InvalidRequestException with its AthenaErrorCode. */
#define ATH_INVALID(err, code, ...) \
    (error_set((err), E_INVALID, ORIGIN, __VA_ARGS__), aws_code((err), "InvalidRequestException"), ath_error_code((err), (code)), E_INVALID)
void ath_error_code(Error *err, const char *code);

Str ath_arn(const AwsCall *c, const char *type, Str name);          /* arn:aws:athena:<region>:<account>:<type>/<name> */
/* The operation's own action on athena's <type>/<name>. */
NODISCARD Status ath_allow(AwsCall *c, const char *type, Str name, Error *err);
bool ath_name_ok(Str name, const char *more);                       /* letters, digits and these */

/* ---- workgroups ------------------------------------------------------------------------------------------------------------ */

/* The workgroup's record; `primary` always exists. E_INVALID "WorkGroup x is not found." */
NODISCARD Status wg_get(Service *svc, Arena *a, Str name, Json **ret, Error *err);
Str wg_of(const AwsCall *c);                                        /* WorkGroup member, "primary" when absent */

/* ---- catalogs and names ------------------------------------------------------------------------------------------------------ */

/* What QueryExecutionContext.Catalog and CatalogName say: AwsDataCatalog, [<account>:]s3tablescatalog/<bucket>, a registered catalog.
 * E_NOT_FOUND. Empty: AwsDataCatalog. */
NODISCARD Status cat_resolve(Service *svc, Arena *a, Str name, CatWarehouse *ret, Error *err);
/* Session settings by which SQL finds all of these names. */
NODISCARD Status cat_settings(Service *svc, Arena *a, Str current, Props *ret, Error *err);
bool pattern_match(Str pattern, Str text);                          /* letters, '.', '*' and '|' of regular expressions; the whole text */
NODISCARD Status pattern_check(Str pattern, Error *err);

/* ---- statements ----------------------------------------------------------------------------------------------------------------- */

typedef enum { OUT_CSV, OUT_TXT, OUT_NONE } OutKind;                /* <id>.csv, <id>.txt, <id> */
typedef struct AthStmt {
    StmtKind kind;
    Str type, substatement;           /* "DML", "SELECT" */
    Str what;                         /* of SHOW and DESCRIBE */
    OutKind out;
    int nparams;
    int door;                         /* a PrepKind: PREPARE, EXECUTE, DEALLOCATE are carried out here */
} AthStmt;
/* E_SYNTAX as Athena refuses it. */
NODISCARD Status stmt_classify(Arena *a, Str text, AthStmt *ret, Error *err);
Str stmt_column_name(const AthStmt *st, size_t i, Str own);         /* as Athena names the columns of SHOW and DESCRIBE */
bool stmt_pads(const AthStmt *st);                                  /* cells are padded to 20 */

/* PREPARE name FROM …, EXECUTE name [USING …], DEALLOCATE PREPARE name. `*ret` false: none of these. */
typedef enum { PREP_NONE, PREP_PREPARE, PREP_EXECUTE, PREP_DEALLOCATE } PrepKind;
typedef struct Prep { PrepKind kind; Str name, query; StrVec params; } Prep;
NODISCARD Status prep_parse(Arena *a, Str text, Prep *ret, Error *err);
NODISCARD Status prep_find(Service *svc, Arena *a, Str workgroup, Str name, Json **ret, Error *err);
NODISCARD Status prep_store(Service *svc, Arena *a, Str workgroup, Str name, Str query, Str description, Error *err);

/* ---- values as Athena writes them --------------------------------------------------------------------------------------------- */

void value_as(Value *v, const DataType *t);                         /* with the column's type, all the way down */
void value_text(StrBuf *b, const Value *v);                         /* not NULL */
const char *value_type(const DataType *t, int *precision, int *scale, int *case_sensitive);
Json *column_info(Arena *a, Str name, const DataType *t);
Str columns_proto(Arena *a, const Json *columns, int64_t update_count);            /* <id>.csv.metadata */
void csv_cell(StrBuf *b, Str text);
/* The cells of one line of a result file; *n 0: no whole line. `used` bytes were read. NULL cells have p NULL. */
typedef struct CsvLine { StrVec cells; size_t used; int has; } CsvLine;
NODISCARD Status csv_line(Arena *a, Str text, CsvLine *ret, Error *err);

/* ---- query executions --------------------------------------------------------------------------------------------------------- */

/* How a query ended. */
typedef struct AthEnd {
    const char *state;                /* "SUCCEEDED", "FAILED", "CANCELLED" */
    Str reason;
    int category, type, retryable;    /* AthenaError; category 0: none */
    Json *columns;
    Str manifest;
    int64_t queue_ms, plan_ms, engine_ms, service_ms, total_ms, scanned, rows_in, rows_out, bytes_out, update_count;
    int has_update_count;
} AthEnd;

/* A query that waits or runs. Fields after the comment are guarded by the door's lock. */
typedef struct Exec {
    Arena *a;
    AthDoor *door;
    Str id, workgroup;
    Json *record;                     /* as started; never changed */
    Str text;                         /* what runs: the query, or the prepared statement that it executes */
    StrVec params;                    /* expressions for its parameters */
    Str catalog, namespace, output;
    int64_t cutoff;                   /* bytes that it may read; 0: any */
    Principal who;
    AthStmt stmt;
    int64_t started_us;               /* monotonic, of the submission */
    /* guarded */
    int running, cancel;
    Session *session;
    struct Exec *next;                /* of the queue */
    struct Exec *live;                /* of all */
} Exec;

struct AthDoor {
    Service *svc;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    Exec *queue, **queue_end, *live;
    int queued, nthreads, stop, starts;
    int64_t opened_ms;
    pthread_t threads[ATH_WORKERS];
};

/* Records the execution, then lets it wait for a worker. Takes x over. E_UNAVAILABLE: too many wait. */
NODISCARD Status pool_submit(AthDoor *d, Exec *x, CatChange *also, size_t nalso, Error *err);
/* Waits until the execution has ended, at most so long. */
void pool_wait(AthDoor *d, Str id, int64_t ms);
/* false: it neither waits nor runs. */
bool pool_cancel(AthDoor *d, Str id);
bool pool_is_cancelled(Exec *x);
/* The session that a cancel is to stop; NULL: none. false: it is cancelled already. */
bool pool_session(Exec *x, Session *ss);
/* The record of an execution that lives, with its state; NULL: it does not. */
Json *pool_look(AthDoor *d, Arena *a, Str id);
void pool_close(AthDoor *d);
void pool_prune(AthDoor *d);

/* Runs it. Fills everything but times of waiting and the total. */
void exec_run(Exec *x, Arena *a, AthEnd *end);
/* How an error of ours looks at Athena. */
void end_error(const Exec *x, Arena *a, const Error *err, AthEnd *end);
void end_output(Arena *a, Str uri, const Error *err, AthEnd *end);       /* writing the result to its place failed */

/* The record when it has ended. */
Json *record_ended(Arena *a, const Json *record, const AthEnd *end);
/* By id, ended or not. E_INVALID "QueryExecution x was not found". */
NODISCARD Status record_find(AwsCall *c, Str id, Json **ret, Error *err);
Json *record_shape(AwsCall *c, const Json *record);                 /* QueryExecution */
Str record_index_key(Arena *a, Str workgroup, int64_t ms, Str id);

/* Where an object goes and whether the principal may put it there. */
NODISCARD Status out_allowed(Service *svc, Arena *a, const Principal *who, Str uri, Error *err);
typedef struct OutFile OutFile;
NODISCARD Status out_open(Service *svc, Arena *a, const Principal *who, Str uri, const char *content_type, OutFile **ret, Error *err);
StrBuf *out_text(OutFile *f);                                       /* append here, then */
NODISCARD Status out_flush(OutFile *f, size_t above, Error *err);   /* hand over what is there when it is more than this */
NODISCARD Status out_commit(OutFile *f, int64_t *bytes, Error *err);
void out_closep(OutFile **f);                                       /* for CLEANUP: abandons */

/* ---- operations ------------------------------------------------------------------------------------------------------------------ */

#define ATH_OPS(X) \
    X(BatchGetNamedQuery) X(BatchGetPreparedStatement) X(BatchGetQueryExecution) X(CancelCapacityReservation) X(CreateCapacityReservation) \
    X(CreateDataCatalog) X(CreateNamedQuery) X(CreatePreparedStatement) X(CreateWorkGroup) X(DeleteCapacityReservation) X(DeleteDataCatalog) \
    X(DeleteNamedQuery) X(DeletePreparedStatement) X(DeleteWorkGroup) X(GetCapacityAssignmentConfiguration) X(GetCapacityReservation) \
    X(GetDataCatalog) X(GetDatabase) X(GetNamedQuery) X(GetPreparedStatement) X(GetQueryExecution) X(GetQueryResults) X(GetQueryRuntimeStatistics) \
    X(GetTableMetadata) X(GetWorkGroup) X(ListCapacityReservations) X(ListDataCatalogs) X(ListDatabases) X(ListEngineVersions) X(ListNamedQueries) \
    X(ListPreparedStatements) X(ListQueryExecutions) X(ListTableMetadata) X(ListTagsForResource) X(ListWorkGroups) X(PutCapacityAssignmentConfiguration) \
    X(StartQueryExecution) X(StopQueryExecution) X(TagResource) X(UntagResource) X(UpdateCapacityReservation) X(UpdateDataCatalog) X(UpdateNamedQuery) \
    X(UpdatePreparedStatement) X(UpdateWorkGroup)
#define ATH_DECLARE(name) Status ath_##name(AwsCall *c, Error *err);
ATH_OPS(ATH_DECLARE)
#undef ATH_DECLARE
void ath_error_members(const Error *err, Arena *a, Json *body);

#endif

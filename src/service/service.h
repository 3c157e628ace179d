/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - the verbs that all doors share, each with its access check.
 *
 * A Service is the opened data folder: catalog, store, engine, lake, refresher, scheduler.  Doors decode a request, call one verb and
 * encode the reply; two doors never do the same thing in two ways.  A Session is one client's SQL: settings, prepared
 * statements, transaction state.  A Service may be used by any thread, a Session by one at a time (but for session_cancel). */
#ifndef FIRN_SERVICE_H
#define FIRN_SERVICE_H

#include "access/access.h"
#include "base/base.h"
#include "catalog/catalog.h"
#include "lake/lake.h"
#include "refresh/refresh.h"
#include "service/tables.h"
#include "sql/sql.h"
#include "store/store.h"

typedef struct ServiceOptions {
    Str dir;                          /* the data folder */
    Str account, region;
    Str warehouse_bucket;             /* of the account's catalog; default "warehouse" */
    Str memory_limit;
    int threads;
    Str file_root;                    /* iceberg.file_root */
    Str root_key_id, root_secret;     /* fixed root credentials; empty: made at first start */
    int64_t statement_timeout_ms;     /* default of sessions; 0: none */
    int64_t scrub_bytes_s;            /* background re-reading of managed views' files; 0: off */
    int64_t schedule_minimum_s;
    int64_t upkeep_s;                 /* between rounds of maintenance of table buckets; 0: off */
    int aws_compat;                   /* reproduce AWS's own behaviour (spec/glue.md 7) */
    int managed_anywhere;             /* managed.general_purpose: managed views in buckets of users too */
    Str lake_domain;                  /* lake.domain: buckets as hosts below it */
    Str lf_defaults;                  /* lakeformation.default_permissions */
    Str webhook;                      /* events.webhook; empty: none */
    Str aws_endpoint;                 /* aws.endpoint: of AWS connections that name none; "own": this server; empty: AWS */
    Str aws_role;                     /* aws.connection_role_arn; empty: role/MaterializeConnection of this account */
    Str aws_key, aws_secret, aws_token;         /* what firn itself signs with elsewhere; empty: nothing */
    RefresherOptions refresher;
    int64_t hot_bytes;                /* of files that refreshes look rows up in; 0: none are kept */
} ServiceOptions;

typedef struct Service {
    ServiceOptions options;
    Catalog *catalog;
    Store *store;
    Access *access;
    DuckEngine *engine;
    Lake *lake;
    Refresher *refresher;
    struct Scheduler *scheduler;      /* NULL in tools that only look */
    struct Watch *watch;              /* statement timeouts */
    struct Realm *realm;              /* databases, schemas, clusters and roles of the live side */
    struct Objects *objects;          /* names of the live side */
    struct LiveClock *live_clock;     /* what it does by the clock */
    struct Live *live;                /* its rows: internal tables, continuous views */
    struct Sources *sources;          /* what writes into them from outside */
    struct Logs *logs;                /* CloudWatch Logs and notices */
    struct Jobs *jobs;                /* Glue jobs: opened and closed by main/; NULL: none */
    struct Notices *notices;          /* runs told to the logs, the event list and the webhook */
    struct Connections *connections;  /* keys of the live side's connections, and where the doors are */
    struct MzLag *mz_lag;             /* how far behind the wall clock objects are, sampled */
    struct MzAudit *mz_audit;         /* fills the audit log's relation */
    struct MzSessions *mz_sessions;   /* who is connected */
    int64_t started_ms;
    struct Sinks *sinks;              /* what flows out of the live side; NULL: nothing can */
    struct Guard *guard;              /* files of managed views: checked when changed, scrubbed */
} Service;

/* Opens the folder: makes what is absent, removes what is half-done. Takes the folder's lock: E_CONFLICT names the other process. */
NODISCARD Status service_open(const ServiceOptions *o, Service **ret, Error *err);
void service_close(Service *s);
SvcCtx service_ctx(Service *s);                        /* for the verbs of tables.h */
/* Scheduler, scrub and timeouts begin to run. */
NODISCARD Status service_start(Service *s, Error *err);
/* The doors are open at these addresses ("http://127.0.0.1:9090"); what connects to this very server may begin. */
void service_reach(Service *s, Str lake, Str manage);
bool service_lake_url(Service *s, Arena *a, int64_t wait_ms, Str *ret);      /* false: not open yet */
bool service_manage_url(Service *s, Arena *a, int64_t wait_ms, Str *ret);

/* ---- sessions ------------------------------------------------------------------------------------------------------- */

typedef struct Session Session;
/* namespace: where names without one are looked up; empty: the dialect's own (Trino sessions alone). */
typedef struct SessionOptions { Principal principal; Dialect dialect; Str database, namespace, application; const Props *settings; int32_t backend; Str peer; } SessionOptions;
NODISCARD Status session_open(Service *s, const SessionOptions *o, Session **ret, Error *err);
void session_close(Session *ss);
void session_cancel(Session *ss);                       /* any thread */
char session_tx(const Session *ss);                     /* 'I', 'T', 'E' */
void session_failed(Session *ss);                       /* a statement failed: inside a transaction the rest is refused */

/* Rows of a running statement. */
typedef struct RowColumn { Str name; DataType type; } RowColumn;
typedef VEC(RowColumn) RowColumns;
typedef struct Rows Rows;
size_t rows_ncols(const Rows *r);
const RowColumn *rows_col(const Rows *r, size_t i);
/* *has 0 at the end, 2 when nothing is at hand now and more may come (SUBSCRIBE); cells live until the next call. */
NODISCARD Status rows_next(Rows *r, Arena *a, Value *cells, int *has, Error *err);
Str rows_tag(Rows *r, Arena *a, int64_t nrows);         /* the command tag */
/* What the statement read (known when it has begun) and, when it has ended, wrote: rows changed (-1: it changes none) and data files committed. */
typedef struct RowsWork { int64_t bytes, rows, files, changed; const StrVec *written; } RowsWork;
RowsWork rows_work(const Rows *r);
const Stmt *rows_copy(const Rows *r);                   /* the COPY statement, NULL for others */
/* DEALLOCATE, DISCARD: prepared statements are the door's, which drops the one of that name, all when it is empty. */
bool rows_forgets(const Rows *r, Str *name);
NODISCARD Status rows_copy_row(Rows *r, const Str *fields, const int *nulls, size_t n, Error *err);      /* COPY FROM STDIN */
NODISCARD Status rows_copy_done(Rows *r, int64_t *nrows, Error *err);
void rows_close(Rows *r);

typedef struct Batch Batch;
NODISCARD Status session_parse(Session *ss, Arena *a, Str text, Batch **ret, size_t *n, Error *err);
int batch_nparams(const Batch *b);                       /* the highest $n of its first statement */
/* Runs statement i of the batch; params may be NULL. rows_close ends it. */
NODISCARD Status session_run(Session *ss, Batch *b, size_t i, const Value *params, size_t nparams, Rows **ret, Error *err);
/* Columns and parameter types of a batch of one statement, without running it. types: in and out, DT_INVALID is inferred. */
/* The columns of a cursor that a statement declared. E_NOT_FOUND. */
NODISCARD Status session_cursor_columns(Session *ss, Arena *a, Str name, RowColumns *ret, Error *err);
NODISCARD Status session_describe(Session *ss, Arena *a, Batch *b, DataType *types, size_t ntypes, RowColumns *ret, int *returns_rows, Error *err);

typedef struct Notice { char severity[16], sqlstate[6], message[1024], detail[512], hint[512]; } Notice;
int session_notice(Session *ss, Notice *ret);           /* 0: none left */
void session_parameters(Session *ss, Arena *a, Props *ret);
NODISCARD Status session_set(Session *ss, Str key, Str value, Error *err);
Service *session_service(Session *ss);

#endif

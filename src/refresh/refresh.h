/* SPDX-License-Identifier: Apache-2.0 */
/* refresh.h - materialized views: made, refreshed, proven.
 *
 * A refresh pins the sources, decides between full, incremental and nothing, computes on one engine connection, and publishes
 * rows, record and evidence in one catalog transaction.  Who may ask for it is decided above (service/, access/).
 * Any thread may call; one run a view at a time (a second one waits, or fails with E_CONFLICT when it may not wait). */
#ifndef FIRN_REFRESH_H
#define FIRN_REFRESH_H

#include "base/base.h"
#include "ivm/ivm.h"
#include "lake/lake.h"

typedef struct Refresher Refresher;
typedef struct RefresherOptions {
    double full_share;                /* changed rows as a share of the sources' rows beyond which full is chosen; for large sources it scales the cost check (cost.c); default 0.5 */
    int64_t rewrite_rows;             /* views up to this many rows are rewritten whole when they are very small or much of them changed; default 50,000 */
    int full_keeps_broken;            /* as at AWS: a full refresh of a view whose integrity check fails, fails */
    int max_files;                    /* more data files than this in a view: rewritten whole; default 32 */
} RefresherOptions;
Refresher *refresher_new(Lake *l, DuckEngine *e, const RefresherOptions *o);      /* o NULL: defaults */
void refresher_free(Refresher *r);

/* What upper rooms want to know of every run, whoever asked for it. */
typedef struct RefreshHooks {
    void *ctx;
    /* Before a run reads anything: may the view's definer still do this? An error ends the run as FAILED with its words. May be NULL. */
    Status (*authorize)(void *ctx, Arena *a, const CatRelation *view, const CatMview *v, Error *err);
    /* Before a file of a source that is not Iceberg is read: may the definer list or read it? NULL: nobody is asked. */
    Status (*may_read)(void *ctx, Arena *a, Str definer, LakeMay what, Str bucket, Str key, Error *err);
    /* The run is now RUNNING, SUCCEEDED, FAILED or STOPPED, and recorded so. May be NULL. */
    void (*told)(void *ctx, const CatRelation *view, const CatMview *v, const CatRun *run);
} RefreshHooks;
void refresher_hooks(Refresher *r, const RefreshHooks *h);             /* before the first run */

/* ---- definitions --------------------------------------------------------------------------------------------------- */

/* SQL catalog names as they stood when the view was made: name to catalog id. */
typedef struct ViewSpec {
    Str catalog, namespace, name;     /* where the view goes (catalog id) */
    Str definition;
    Dialect dialect;
    Props catalogs;                   /* SQL catalog name to catalog id, for the definition's names */
    int managed, or_replace;
    Str comment, location, definer;
    StrVec column_names;              /* CREATE … v (a, b) */
    PartitionFields partitions;
    Props properties;
    Schedule schedule;
    Str run_trigger;                  /* "CREATE" */
    DuckConn *conn;                   /* the asker's, who may interrupt it; NULL: one of its own */
    const CatChange *also;            /* committed together with a new view (not with one replaced): documents of upper rooms */
    size_t nalso;
} ViewSpec;

typedef struct RefreshReport {
    Str run_id, type, reason;         /* FULL INCREMENTAL NONE */
    int64_t rows_in, rows_changed, snapshot_id, started_ms, duration_us;
    StrVec constructs;
} RefreshReport;

/* Makes the view with its first rows in one commit. E_EXISTS; E_INVALID for what the definition rules forbid; on failure nothing is left.
 * With or_replace an existing materialized view keeps its identity (uuid, ARN, schedule) and gets new columns and rows. */
NODISCARD Status refresh_create(Refresher *r, Arena *a, const ViewSpec *spec, RefreshReport *ret, Error *err);

/* run_id: given by the caller or empty; conn: as in ViewSpec; given_up (may be NULL): asked while the run waits for another one of the view. */
typedef struct RefreshRequest { int full, no_wait; Str trigger, role; Str run_id; DuckConn *conn; int (*given_up)(void *ctx); void *ctx; } RefreshRequest;
NODISCARD Status refresh_run(Refresher *r, Arena *a, int64_t relation_id, const RefreshRequest *q, RefreshReport *ret, Error *err);
/* Stops a running refresh: E_NOT_FOUND when none runs. */
NODISCARD Status refresh_stop(Refresher *r, int64_t relation_id, Error *err);
typedef struct RefreshCounts { int64_t full, incremental, none, failed, us; } RefreshCounts;
RefreshCounts refresh_counts(Refresher *r);              /* since start */
/* At start: runs that a dead server left become FAILED. */
NODISCARD Status refresh_recover(Refresher *r, Error *err);

/* The bookkeeping fields that stand in a view's files beside its own. */
NODISCARD Status refresh_hidden_fields(Arena *a, const CatMview *v, IceFields **ret, Error *err);

/* FRESH or STALE by the sources' snapshots, and which source is ahead. Never reads data. */
typedef struct Staleness { int stale; Str reason; } Staleness;
NODISCARD Status refresh_staleness(Refresher *r, Arena *a, const CatMview *v, Staleness *ret, Error *err);
/* How the view is kept, and the plan for a change of every source, as text (EXPLAIN). */
NODISCARD Status refresh_explain(Refresher *r, Arena *a, const CatMview *v, Str *ret, Error *err);

/* ---- evidence (design idea 2) ----------------------------------------------------------------------------------------- */

typedef struct VerifyOptions {
    int deep;
    int files_only;                   /* rows are not counted and hashed */
    int metadata_only;                /* data and delete files are not read */
    int quarantine;                   /* mark a managed view whose evidence does not match */
    int (*known)(void *ctx, Arena *a, Str path);      /* NULL, or: this file was proven and has not changed since */
    void *known_ctx;
} VerifyOptions;
typedef struct VerifyReport { int proven; int drifted; Str what; int64_t files, bytes; } VerifyReport;   /* what: "file s3://… : SHA-256 differs", empty when proven */
/* Checks, in order: the version token, hash chain and signatures, pointer, metadata and manifest hashes, file hashes, row count and row hash; deep: the query again on
 * the pinned sources. OK with ret->proven 0 for a mismatch; an error: could not check. Works without a running server. */
NODISCARD Status refresh_verify(Refresher *r, Arena *a, int64_t relation_id, const VerifyOptions *o, VerifyReport *ret, Error *err);

#endif

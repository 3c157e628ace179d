/* SPDX-License-Identifier: Apache-2.0 */
/* refresh_int.h - shared inside refresh/ only. */
#ifndef FIRN_REFRESH_INT_H
#define FIRN_REFRESH_INT_H

#include "refresh/refresh.h"

typedef struct Running { int64_t relation_id; DuckConn *conn; int stopped; struct Running *next; } Running;

struct Refresher {
    Lake *lake;
    DuckEngine *engine;
    RefresherOptions options;
    pthread_mutex_t lock;
    pthread_cond_t done;
    Running *running;                 /* one node a view that runs now */
    RefreshCounts counts;
};

/* A definition bound against the sources as they are now. */
typedef struct BoundView {
    Query *query;
    IvmView *view;
    VEC(LakeSource *) sources;        /* as ivm_source() numbers them */
} BoundView;

/* Where a definition's names lead. */
typedef struct ViewNames { Refresher *r; const Props *catalogs; int64_t self_relation; } ViewNames;
NODISCARD Status view_bind(Refresher *r, Arena *a, DuckConn *probe, Str definition, Dialect d, const Props *catalogs, int64_t self, BoundView *ret, Error *err);
Props catalogs_of(Arena *a, const CatMview *v);

typedef enum { RUN_NONE, RUN_INCREMENTAL, RUN_FULL } RunType;

/* What the last refresh pinned for one source; has 0: nothing known. */
typedef struct Pinned { int has; Str uuid; int64_t snapshot_id; } Pinned;
Pinned pinned_source(const CatMview *v, Str uuid);

typedef struct Job {
    Refresher *r;
    Arena *a;
    DuckConn *c;
    CatMview mview;
    LakeTable table;                  /* the view's own */
    BoundView bound;
    const IceFields *hidden;
    RunType type;
    Str reason;
    IvmChange *changes;               /* one a source */
    LakeChanges *deltas;
    int64_t rows_in, rows_changed, started_ms;
    IceChange change;
    LakeFiles files;                  /* written by this run */
    StrVec temp;                      /* engine objects to drop are left to the connection's end */
    __int128 hash_delta;
    int64_t count_delta;
    int rewrite;                      /* everything the view holds is written anew */
    CatRun run;
    CatEvidence evidence;
    int schema_changes;
    IceUpdates schema_updates;
} Job;

NODISCARD Status job_decide(Job *j, int force_full, Error *err);
NODISCARD Status job_full(Job *j, Error *err);
NODISCARD Status job_incremental(Job *j, Error *err);
NODISCARD Status job_source_views(Job *j, Error *err);          /* s<i>_new, s<i>_old, s<i>_chg, v */
/* Completes run, mview and evidence for the snapshot that `next` holds. */
NODISCARD Status job_publish(Job *j, CatChange *also, size_t *nalso, Error *err);
NODISCARD Status job_late(void *ctx, Arena *a, const LakeTable *next, CatChange *also, size_t nalso, Error *err);
Str job_refresh_state(Job *j);

/* Rows as a number: the sum of the engine's hash over the visible columns. */
Str row_hash_sql(Arena *a, const BoundColumns *visible, Str from);
extern const char *const ROW_HASH_ALGORITHM;
NODISCARD Status scalar_wide(DuckConn *c, Arena *a, Str sql, __int128 *hash, int64_t *count, Error *err);
Str wide_text(Arena *a, __int128 v);
bool wide_parse(Str s, __int128 *ret);

/* The evidence of a state: body, hash and signature. */
NODISCARD Status evidence_make(Job *j, const LakeTable *next, CatEvidence *ret, Error *err);
Str evidence_text(Arena *a, const Json *body, Str prev_hash);

NODISCARD Status hidden_fields(Arena *a, const CatMview *v, IceFields **ret, Error *err);
Json *hidden_json(Arena *a, const IceFields *fields);

#endif

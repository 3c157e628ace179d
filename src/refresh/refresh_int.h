/* SPDX-License-Identifier: Apache-2.0 */
/* refresh_int.h - shared inside refresh/ only. */
#ifndef FIRN_REFRESH_INT_H
#define FIRN_REFRESH_INT_H

#include "refresh/refresh.h"

typedef struct Running { int64_t relation_id; DuckConn *conn; int stopped; struct Running *next; } Running;

struct Refresher {
    RefreshHooks hooks;
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
typedef struct ViewNames { Refresher *r; const Props *catalogs; int64_t self_relation; Str definer; } ViewNames;
NODISCARD Status view_bind(Refresher *r, Arena *a, DuckConn *probe, Str definition, Dialect d, const Props *catalogs, Str definer, int64_t self, BoundView *ret, Error *err);
Props catalogs_of(Arena *a, const CatMview *v);

typedef enum { RUN_NONE, RUN_INCREMENTAL, RUN_FULL } RunType;

/* What the last refresh pinned for one source; has 0: nothing known. */
typedef struct Pinned { int has; Str uuid; int64_t snapshot_id; } Pinned;
Pinned pinned_source(const CatMview *v, Str uuid);

typedef struct SourceState { Str is, was, change; } SourceState;      /* as text; empty: nobody asked yet. change: of one that is no table */

typedef struct Job {
    Refresher *r;
    Running *me;                      /* NULL while the view is made */
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
    IvmPlan *plan;                    /* of an incremental run */
    SourceState *states;              /* one a source */
    Str stored;                       /* the same of the view */
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
    int mend;                         /* the view's own state is not what evidence says: nothing of it is used (repair.c) */
    IceUpdates schema_updates;
} Job;

NODISCARD Status job_decide(Job *j, int force_full, Error *err);
NODISCARD Status job_full(Job *j, Error *err);
NODISCARD Status job_incremental(Job *j, Error *err);

/* ---- states.c ---- */
const uint8_t *job_source_reads(Job *j, size_t i);              /* which fields of the source any plan reads; NULL: all */
NODISCARD Status job_changes(Job *j, Error *err);               /* s<i>_chg of what changed, and the plan */
NODISCARD Status job_with_states(Job *j, Str sql, Str *ret, Error *err);       /* sql that may name relations of a plan (ivm.h), for the engine */

/* Completes run, mview and evidence for the snapshot that `next` holds. */
NODISCARD Status job_publish(Job *j, CatChange *also, size_t *nalso, Error *err);
NODISCARD Status job_late(void *ctx, Arena *a, const LakeTable *next, CatChange *also, size_t nalso, Error *err);
Str job_refresh_state(Job *j);
void job_tell(Job *j);                                           /* the upper rooms: the run as it is recorded now */

/* Rows as a number: the sum of the engine's hash over the visible columns, with their count. */
Str row_hash_sql(Arena *a, const BoundColumns *visible, Str from);
extern const char *const ROW_HASH_ALGORITHM;
NODISCARD Status scalar_wide(DuckConn *c, Arena *a, Str sql, __int128 *hash, int64_t *count, Error *err);
Str wide_text(Arena *a, __int128 v);
bool wide_parse(Str s, __int128 *ret);

/* The evidence of a state: body, hash and signature. */
NODISCARD Status evidence_make(Job *j, const LakeTable *next, CatEvidence *ret, Error *err);
Str evidence_text(Arena *a, const Json *body, Str prev_hash);

/* Is this record as the server signed it? Its place in the chain is another question. */
bool evidence_sound(Arena *a, Str public_key, const CatEvidence *e);
/* What the catalog says about the view, against the record: empty when they agree, else what differs. */
Str evidence_differs(Arena *a, const CatMview *v, const CatEvidence *e);
NODISCARD Status object_sha256(Arena *a, Store *st, Str uri, Str *hex, int64_t *size, Error *err);

/* ---- cost.c ---- */
/* A total of the snapshot's summary ("total-records"); 0: not known. */
int64_t snapshot_total(const IceSnapshot *s, Str key);
/* With j->changes set. *why: the reason to give. */
NODISCARD Status job_full_is_cheaper(Job *j, int64_t changed, int *ret, Str *why, Error *err);

/* ---- create.c ---- */
NODISCARD Status job_new_table(Job *j, const ViewSpec *spec, Error *err);

/* ---- repair.c ---- */
/* E_QUARANTINED: the definition is not the one that was refreshed. Sets j->mend when a full refresh must not build on what is there. */
NODISCARD Status job_examine(Job *j, int full, Error *err);
NODISCARD Status job_mend(Job *j, Error *err);                   /* j->table.meta: the newest metadata that can be trusted, without snapshots */
NODISCARD Status job_mend_publish(Job *j, Error *err);

Json *hidden_json(Arena *a, const IceFields *fields);

#endif

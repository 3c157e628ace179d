/* SPDX-License-Identifier: Apache-2.0 */
/* sink.h - a relation's changes into an Iceberg table, exactly once (design idea 7; spec/materialize.md 2 and 4.4).
 *
 * A sink reads the change log of one live relation and commits it in batches [lower, upper) of time.  What it has done stands in the table: each snapshot
 * carries mz-frontier, mz-sink-id, mz-sink-version; a local note mirrors it and is believed only where it agrees with the table or the table's snapshots
 * have expired.  An unknown outcome is resolved by reading.  When it is not certain that a batch is new, nothing is written and the sink stalls with what to do.
 * Every sink has a thread of its own: a slow catalog delays nobody else.  Nothing here knows names, rights or SQL: service/ hands over what is resolved. */
#ifndef FIRN_SINK_H
#define FIRN_SINK_H

#include "base/base.h"
#include "lake/lake.h"
#include "live/live.h"
#include "remote/remote.h"

typedef enum { SINK_UPSERT, SINK_APPEND } SinkMode;
typedef enum { SINK_DELETES_EQUALITY, SINK_DELETES_POSITION, SINK_DELETES_VECTOR } SinkDeletes;         /* VECTOR: format v3 */
typedef enum { SINK_POISON_FAIL, SINK_POISON_NULL, SINK_POISON_TEXT } SinkPoison;                       /* a value that the column's type cannot hold */
typedef struct SinkColumn { Str name, engine; DataType type; int not_null; Str sql_type; } SinkColumn;     /* sql_type: as SQL names it: "uint8", "numeric(38,2)", "interval" … */
typedef struct SinkPartition { Str transform; int width; Str column; } SinkPartition;                       /* as PartitionField */
typedef struct SinkOrder { Str column; int descending, nulls_first; } SinkOrder;

typedef struct SinkSpec {
    int64_t id;                       /* of the object: u<id> is mz-sink-id */
    int64_t version;                  /* mz-sink-version: one more with each ALTER */
    int64_t relation;                 /* the live relation it reads */
    VEC(SinkColumn) columns;
    SinkMode mode;
    StrVec key;                       /* column names; UPSERT */
    Str ns, table;
    int64_t interval_ms;              /* COMMIT INTERVAL, at least 1,000 */
    int64_t size_bytes;               /* COMMIT SIZE: a batch that has grown so large is committed early; 0: 128 MiB */
    int snapshot;                     /* begin with the relation's rows */
    SinkDeletes deletes;
    SinkPoison poison;
    VEC(SinkPartition) partitions;
    VEC(SinkOrder) order;
    Props props;                      /* table properties at creation; "sink.…": the policy of sink_maintain.c */
    int64_t rebuild;                  /* the version that asked for it, 0: none: the table's rows are replaced by the relation's, once, whatever was there (the explicit repair) */
    int paused;                       /* begins so: sink_resume lets it go */
    int64_t log_limit;                /* rows of change log kept for it; beyond it pauses visibly. 0: 10,000,000 */
} SinkSpec;

/* What CREATE SINK checks of columns, partitions and order, in Materialize's words. */
NODISCARD Status sink_check(Arena *a, const SinkSpec *s, Error *err);
/* Iceberg's type for a column (spec/materialize.md 2.9). E_UNSUPPORTED "Cannot encode the following columns/types: [...]" names all that have none. */
NODISCARD Status sink_schema(Arena *a, const SinkSpec *s, IceSchema **ret, Error *err);
/* May a column of this type be part of a key? */
bool sink_key_type(const SinkColumn *c);

typedef struct Sinks Sinks;
typedef struct SinksOptions {
    Live *live;
    DuckEngine *engine;
    Str scratch;                      /* a folder for files on their way */
    void *ctx;
    /* The catalog of a sink, opened anew each time the sink starts: connections change, keys expire. The sink closes it. */
    Status (*catalog)(void *ctx, int64_t sink, RemoteCatalog **ret, Error *err);
    int (*ended)(void *ctx, int64_t relation);        /* no change will ever come any more, and all that came are in its log; NULL: never */
    int64_t retry_ms;                 /* the first pause after an error that may pass; it doubles up to 60 s. 0: 1,000 */
} SinksOptions;
Sinks *sinks_new(const SinksOptions *o);
void sinks_free(Sinks *s);            /* stops all, waits some seconds for batches under way */

/* Planning only: returns at once; what goes wrong is a status. The log's reader "sink u<id>" has begun when this returns, so no change is missed. */
NODISCARD Status sink_start(Sinks *s, const SinkSpec *spec, Error *err);
/* Stops the thread, and waits a moment for it; one that hangs in its catalog's answer does nothing any more. The log stays. */
void sink_stop(Sinks *s, int64_t id);
/* Stops it for good: gives the log back, forgets its note. The table stays as it is. */
void sink_drop(Sinks *s, int64_t id);
void sink_pause(Sinks *s, int64_t id);        /* no replica: status paused */
void sink_resume(Sinks *s, int64_t id);       /* one catch-up commit, then the interval again */

typedef struct SinkReport {
    int64_t id, frontier;             /* all changes before this time are in the table */
    int sealed;
    int64_t messages_staged, messages_committed, bytes_staged, bytes_committed;
    int64_t backlog_rows, oldest_ms, last_commit_us, last_snapshot, conflicts, failures, snapshots, data_files, delete_files;
    int64_t commit_us, write_us;      /* sums: commit_duration, writer_close_duration */
} SinkReport;
bool sink_report(Sinks *s, int64_t id, SinkReport *ret);         /* false: no such sink */

#endif

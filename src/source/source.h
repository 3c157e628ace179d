/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - what comes from outside and lives on as relations: load generators, PostgreSQL, Kafka, webhooks, Iceberg tables.
 *
 * A source has outputs, each a live relation.  Its thread reads from outside and commits batches: rows and the place up to which they came (offsets, LSN) go
 * into one tick, so a restart goes on exactly there.  A record that cannot be read is counted as an error with its place, and the rest goes on; a source that
 * cannot go on at all stalls with a status and tries again with growing pauses.
 * Connectors are tables of functions; nothing here knows names, rights or SQL. */
#ifndef FIRN_SOURCE_H
#define FIRN_SOURCE_H

#include "base/base.h"
#include "codec/codec.h"
#include "live/live.h"

struct RemoteCatalog;                 /* remote/remote.h */

/* ---- what a connector is told and says ------------------------------------------------------------------------------------------- */

typedef struct SourceColumn { Str name; DataType type; int not_null; Str sql_type; } SourceColumn;      /* sql_type: as PostgreSQL names it */
typedef struct SourceOutput {
    Str name;                         /* "bids"; the source's own output: "" */
    Str external;                     /* of the table outside: "public.orders" */
    Str pinned;                       /* the connector's own: what must stay as it was when the source was made (schemas); kept with the object and given back at each start */
    VEC(SourceColumn) columns;
    StrVec key;                       /* columns that are unique, empty: none known */
    int64_t relation;                 /* its live relation, once made */
} SourceOutput;
typedef VEC(SourceOutput) SourceOutputs;

/* Options are resolved by service/: secrets are text, connections are objects of their own options. {"type": "kafka", "connection": {"broker": …}, "topic": …} */
typedef struct SourceSpec {
    int64_t id;
    Str type;
    const Json *options;
    const SourceOutputs *outputs;
    void *ctx;
    /* Opens the Iceberg catalog of a connection (the option "connection_id"); the connector closes it. NULL: there is none. */
    Status (*catalog)(void *ctx, int64_t connection, struct RemoteCatalog **ret, Error *err);
} SourceSpec;

typedef struct SourceRun SourceRun;
typedef struct SourceConnector {
    const char *type;                 /* "load-generator", "postgres", "kafka", "webhook", "iceberg" as mz_sources.type has them */
    /* Which outputs it has; may ask outside. Errors are those of CREATE SOURCE. */
    Status (*discover)(Arena *a, const SourceSpec *s, SourceOutputs *ret, Error *err);
    /* On the source's thread until source_stopping; an error is a stall, and it is called again later. NULL: driven from outside (webhook). */
    Status (*run)(SourceRun *r, Error *err);
    /* Is the connection good? For VALIDATE CONNECTION; options are the connection's. NULL: cannot be asked. */
    Status (*validate)(Arena *a, const Json *connection, Error *err);
    /* The source was dropped: what was made for it outside (a replication slot) goes. NULL: nothing was. */
    Status (*forget)(Arena *a, const SourceSpec *s, Error *err);
} SourceConnector;
/* Does a Confluent schema registry answer, and to these credentials? Options of the connection. */
NODISCARD Status source_validate_registry(Arena *a, const Json *connection, Error *err);
extern const SourceConnector source_load_generator, source_postgres, source_kafka, source_webhooks, source_iceberg;
const SourceConnector *source_connector(Str type);        /* NULL: none of this type */

/* ---- for connectors -------------------------------------------------------------------------------------------------------------- */

const SourceSpec *source_spec(const SourceRun *r);
bool source_stopping(const SourceRun *r);
bool source_wait(SourceRun *r, int64_t us);               /* sleeps; false: it is to stop */
Str source_offsets(const SourceRun *r, Arena *a);         /* what the last durable batch noted; "" at first */
void source_status(SourceRun *r, const char *status, Str error, Str hint);       /* starting, running, stalled, paused; errors kept with the object */
void source_error(SourceRun *r, Str place, Str error);    /* a record that could not be read: counted, the newest ones kept */
/* An output that nothing comes into any more, since what stands outside is not what it was made for: reads of it fail with this, the other outputs go on.
 * To be said again at each start. */
void source_output_broken(SourceRun *r, size_t output, Str error, Str hint);
/* Reads of an output fail with this, though rows go on coming; empty: it is well again, and what reads it is made anew. */
void source_output_error(SourceRun *r, size_t output, Str error);
void source_snapshot_done(SourceRun *r);
void source_sealed(SourceRun *r);                         /* nothing will come any more */
void source_progress(SourceRun *r, int64_t known, int64_t committed);            /* offset_known, offset_committed of mz_source_statistics */
void source_received(SourceRun *r, int64_t messages, int64_t bytes);

/* One batch under way: rows of any output, in the order of their arrival. Nothing is visible before the commit. */
typedef struct SourceBatch SourceBatch;
NODISCARD Status source_batch(SourceRun *r, SourceBatch **ret, Error *err);
/* Cells in the order of the output's columns. weight +1: it comes; -1: one equal row goes. An output is written by source_row or source_upsert in one batch. */
void source_row(SourceBatch *b, size_t output, int weight, const Value *cells);
/* By the output's key: takes the place of the row of this key (cells NULL: it goes). key: the cells of the key's columns in their order. */
void source_upsert(SourceBatch *b, size_t output, const Value *key, const Value *cells);
void source_truncate(SourceBatch *b, size_t output);      /* every row that stands before goes */
int64_t source_batch_rows(const SourceBatch *b);
/* Where the source stands with this batch: the row of its progress relation (the output whose external name is SOURCE_PROGRESS), when there is one. */
#define SOURCE_PROGRESS "mz_progress"
void source_batch_at(SourceBatch *b, uint64_t offset);
/* Rows and offsets in one tick, then the batch is free. On an error nothing of it happened. The relations' engine columns are c1, c2, … in the outputs' order. */
NODISCARD Status source_commit(SourceBatch *b, Str offsets, Error *err);
void source_abandon(SourceBatch *b);

/* ---- for service/ ------------------------------------------------------------------------------------------------------------------ */

typedef struct Sources Sources;
typedef struct SourcesOptions {
    Live *live;
    DuckEngine *engine;
    void *ctx;
    /* The source's options as they are now (secrets and connections resolved), in `a`. */
    Status (*options)(void *ctx, Arena *a, int64_t source, Json **ret, Error *err);
    Status (*catalog)(void *ctx, int64_t connection, struct RemoteCatalog **ret, Error *err);      /* as in SourceSpec */
} SourcesOptions;
Sources *sources_new(const SourcesOptions *o);
void sources_free(Sources *s);
/* Until then sources that were started only wait: a program that just looks at the folder runs none. */
void sources_wake(Sources *s);
void sources_stop_all(Sources *s);                         /* each is stopped and forgotten here; notes stay */
/* Planning only: returns at once; what goes wrong is a status. One that runs is stopped first: new outputs, new options. */
NODISCARD Status source_start(Sources *s, int64_t id, Str type, const SourceOutputs *outputs, Error *err);
void source_stop(Sources *s, int64_t id);
/* Forgets its offsets too, and what was made for it outside: when that cannot be done, the error says what is left to do by hand; the source is gone all the same. */
NODISCARD Status source_drop(Sources *s, int64_t id, Error *err);
void source_pause(Sources *s, int64_t id);
void source_resume(Sources *s, int64_t id);

typedef struct SourceReport {
    int64_t id, messages_received, bytes_received, updates_staged, updates_committed, records_indexed, errors;
    OptI64 offset_known, offset_committed;
    int64_t frontier;
    int snapshot_done, sealed;        /* sealed: nothing will come any more (UP TO reached) */
} SourceReport;
bool source_report(Sources *s, int64_t id, SourceReport *ret);
typedef struct SourceError { int64_t at_ms; Str place, error; } SourceError;
typedef VEC(SourceError) SourceErrors;
void source_errors(Sources *s, Arena *a, int64_t id, SourceErrors *ret);     /* newest first, bounded */

/* ---- webhooks: POSTs become rows ------------------------------------------------------------------------------------------------------ */

/* Options: {"body": "text" | "bytes" | "json" | "json array", "headers": true, "only": [names], "not": [names], "mapped": [{"name", "column", "bytes"}], "check": SQL,
 * "with": [{"kind": "headers" | "body" | "secret", "name", "bytes", "secret"}]}.  Names of headers are in lower case, those of a request too.
 * The rows are durable when this returns. E_INVALID: the body is not of the format; E_DENIED: CHECK said no; E_NOT_FOUND: it does not run. */
typedef struct WebhookRequest { Str body; const Props *headers; } WebhookRequest;
NODISCARD Status source_webhook(Sources *s, int64_t id, const WebhookRequest *q, Error *err);
/* Can CHECK be evaluated? For CREATE SOURCE. */
NODISCARD Status webhook_check_bind(Arena *a, DuckConn *probe, const Json *options, Error *err);

#endif

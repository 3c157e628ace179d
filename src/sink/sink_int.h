/* SPDX-License-Identifier: Apache-2.0 */
/* sink_int.h - inside of sink/: how columns are encoded, what is known of progress, a batch under way. */
#ifndef FIRN_SINK_INT_H
#define FIRN_SINK_INT_H

#include "sink/sink.h"

/* ---- columns (sink_type.c, sink_schema.c) ------------------------------------------------------------------------------ */

typedef enum { CONV_SAME, CONV_CAST, CONV_DECIMAL, CONV_JSON, CONV_FINITE, CONV_UUID16, CONV_LIST, CONV_ARRAY, CONV_MAP, CONV_STRUCT, CONV_RANGE } Conv;
typedef struct Encoding Encoding;
struct Encoding {                     /* from the engine's value of a SQL type to the one that is written */
    Conv conv;
    IceType *ice;
    DataType from;                    /* as the relation has it */
    Str target;                       /* engine type that is written: CAST, DECIMAL */
    Encoding **parts;                 /* LIST, ARRAY: the element; MAP: the value; STRUCT: its fields; RANGE: the bound */
    size_t nparts;
    int dimensions;                   /* ARRAY */
};
/* NULL: there is no Iceberg type for it. Nested fields get ids from *next_id on. */
Encoding *sink_encoding(Arena *a, const SinkSpec *s, Str sql_type, const DataType *t, int32_t *next_id);
/* The engine text that gives the encoded value of `x`. */
Str sink_encode(Arena *a, const SinkSpec *s, const Encoding *e, Str x);
/* A uuid as 16 bytes, where a table of older days has fixed[16]; in lists too. */
void sink_encoding_fit(Arena *a, Encoding *e, const IceType *table);

typedef VEC(Encoding *) Encodings;
NODISCARD Status sink_encodings(Arena *a, const SinkSpec *s, Encodings *ret, IceSchema **schema, Error *err);
NODISCARD Status sink_spec(Arena *a, const SinkSpec *s, const IceSchema *schema, IceSpec **ret, Error *err);
NODISCARD Status sink_order(Arena *a, const SinkSpec *s, const IceSchema *schema, IceSortOrder **ret, Error *err);

/* ---- progress (sink_progress.c) -------------------------------------------------------------------------------------------- */

typedef struct Progress { int has; int64_t sink, version, frontier, snapshot, sequence; int sealed; } Progress;
/* What the table's snapshots say. E_CORRUPT: they cannot be believed. */
NODISCARD Status progress_read(const IceMetadata *m, Progress *ret, Error *err);
void progress_write(Arena *a, const SinkSpec *s, int64_t frontier, Props *summary);

#define SEALED INT64_MAX                              /* the frontier of an input that has ended: every time is before it */

/* A commit that was sent: it may yet arrive as long as `base` is the table's current snapshot (0: none). ANY_BASE: several were sent, on one after the other. */
enum { ANY_BASE = -1 };
typedef struct Intent { int64_t base, upper; } Intent;
typedef struct Note {                 /* what this server remembers of a sink, in live.notes */
    int64_t relation, frontier, snapshot, sequence, version;      /* frontier 0: nothing was ever committed */
    int64_t from;                     /* the relation's changes after this time are not in the table yet */
    int64_t cut_relation, cut_upto;   /* SET FROM: first the changes of this one up to then. 0: none */
    int64_t gap;                      /* changes up to then were lost: the log was given up. 0: none */
    int64_t rebuilt;                  /* version whose rebuild was done last */
    Str uuid;                         /* of the table */
    VEC(Intent) intents;
} Note;
NODISCARD Status note_read(Live *l, Arena *a, int64_t sink, Note *ret, Error *err);
NODISCARD Status note_write(Live *l, int64_t sink, const Note *n, Error *err);
NODISCARD Status note_forget(Live *l, int64_t sink, Error *err);
Str note_text(Arena *a, const Note *n);
NODISCARD Status note_parse(Arena *a, Str text, Note *ret, Error *err);

/* ---- a sink --------------------------------------------------------------------------------------------------------------- */

typedef enum { WANT_RUN, WANT_PAUSE, WANT_STOP } Want;

typedef struct Sink {
    Sinks *all;
    Arena *a;                         /* holds spec */
    SinkSpec spec;
    Str name;                         /* of the log's reader */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Want want;
    int done;                         /* the thread has ended */
    pthread_mutex_t keep;             /* held while what is durable changes */
    int orphan;                       /* nobody waits for it any more: it changes nothing durable, and sends nothing */
    SinkReport report;
    DuckConn *conn;                   /* all below: the thread's */
    Note note;
    Arena *note_arena;
    RemoteCatalog *catalog;
    int64_t batch_due_us, maintain_due_us;
    int looked;                       /* the log was looked at since the start, and was empty */
    int fatal;                        /* the last error will not pass by itself */
    int ended;                        /* the input has, as seen before the log was looked at */
    int fresh;                        /* checked against the table since the start */
    int32_t schema_id, spec_id;       /* as found then */
    struct Sink *next;
} Sink;

struct Sinks { SinksOptions o; pthread_mutex_t lock; Sink *first, *orphans; };

/* sink_keep.c: what a sink makes durable, unless it is an orphan: E_CANCELLED. */
NODISCARD Status sink_note(Sink *s, Error *err);
NODISCARD Status sink_log_done(Sink *s, int64_t relation, int64_t upto, Error *err);
NODISCARD Status sink_log_end(Sink *s, int64_t relation, Error *err);
void sink_status(Sink *s, const char *status, Str error, Str hint);
NODISCARD Status sink_still(Sink *s, Error *err);     /* asked before a commit is sent */

/* A table as one load found it. */
typedef struct Table { RemoteTable remote; Lake *lake; LakeTable lt; int open; } Table;
NODISCARD Status table_load(Sink *s, Arena *a, Table *ret, Error *err);
void table_close(Table *t);
/* Creates, adopts or resumes: everything that is checked before the first batch of a start. */
NODISCARD Status table_begin(Sink *s, Arena *a, Table *ret, Error *err);
/* Is the progress what this sink has made? *landed: one of its commits whose answer was lost. Moves the note on. */
NODISCARD Status table_agree(Sink *s, const Table *t, Error *err);
void note_uuid(Sink *s, Str uuid);
bool sink_rebuilds(const Sink *s);    /* an explicit rebuild was asked for and is not done */

typedef struct Batch {
    Arena *a;
    int64_t lower, upper;             /* frontiers in the table before and after */
    int64_t relation, from, to;       /* changes with from < t <= to */
    int first, rows_whole;            /* the first of this table; the relation's rows, not changes */
    int replace;                      /* everything that was there goes: an explicit rebuild */
    int finishes_cut;
    int seals;                        /* the input had ended before the log was read: nothing comes after this batch */
    Str inserts, deletes;             /* engine text: encoded rows to come; encoded old rows whose keys go. Empty: none */
    int64_t ninserts, ndeletes;
    Encodings encodings;
    LakeFiles files, position_files;
    IceChange change;
    int64_t positions_of;             /* snapshot that the positions were found in */
} Batch;
NODISCARD Status batch_plan(Sink *s, const Table *t, Batch *b, Error *err);          /* reads the log */
NODISCARD Status batch_write(Sink *s, Table *t, Batch *b, Error *err);               /* files */
void batch_drop(Sink *s, Batch *b);                                                 /* temporary tables */
NODISCARD Status batch_positions(Sink *s, Table *t, Batch *b, Error *err);           /* of the rows that go, in t as it is now */
NODISCARD Status batch_commit(Sink *s, Table *t, Batch *b, Error *err);

NODISCARD Status maintain(Sink *s, Arena *a, Table *t, Error *err);
Str policy_get(const SinkSpec *s, const char *key, Str fallback);
int64_t policy_i64(const SinkSpec *s, const char *key, int64_t fallback);

void *sink_thread(void *arg);
bool sink_stopping(Sink *s);
bool sink_wait(Sink *s, int64_t ms);              /* false: it stops */
bool sink_ended(Sink *s, int64_t ms);             /* has the thread ended, at the latest then? */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* source_int.h - inside of source/: a source under way, a batch, the generators. */
#ifndef FIRN_SOURCE_INT_H
#define FIRN_SOURCE_INT_H

#include "source/source.h"

enum {
    SOURCE_ERRORS_KEPT = 100,         /* the newest records that could not be read */
    SOURCE_OUTPUTS_MAX = 10000,
    SOURCE_PAUSE_MIN_US = 1000000,    /* after the first stall */
    SOURCE_PAUSE_MAX_US = 60000000,
    SOURCE_ERROR_TEXT = 500,
};

typedef struct KeptError { int64_t at_ms; char place[128], error[SOURCE_ERROR_TEXT]; } KeptError;

struct SourceRun {
    Sources *owner;
    int64_t id;
    const SourceConnector *c;
    Arena *a;                         /* as long as the run: type, outputs */
    Str type;
    SourceOutputs outputs;
    int *broken;                      /* by output; the thread's */
    SourceSpec spec;                  /* of the attempt under way, in its arena */
    DuckConn *conn;                   /* the thread's */
    pthread_t thread;
    int has_thread;
    pthread_mutex_t lock;             /* what follows */
    pthread_cond_t wake;
    int stop, pause, users;           /* users: requests under way */
    SourceReport report;
    KeptError *errors;                /* a ring */
    size_t nerrors, next_error;
    int64_t commits;
    char *options;                    /* those of the last attempt, with their secrets; of connectors that have something to forget outside */
    SourceRun *next;
};

struct Sources {
    SourcesOptions o;
    pthread_mutex_t lock;             /* the list */
    SourceRun *runs;
    int awake;
};

/* source_batch.c: on a connection of the caller's. */
NODISCARD Status batch_on(SourceRun *r, DuckConn *conn, SourceBatch **ret, Error *err);
Str source_note_key(Arena *a, int64_t id);
/* Counts a record that could not be read; lock not held. */
void source_counted(SourceRun *r, int64_t messages, int64_t bytes, int64_t staged, int64_t committed, int64_t t);

/* source.c: found and locked in the list's sense: it is not freed while `fn` runs. */
/* For requests of other threads: it is not freed until it is released. NULL: it does not run. */
SourceRun *source_hold(Sources *s, int64_t id);
void source_releasep(SourceRun **r);
NODISCARD Status source_with(Sources *s, int64_t id, Status (*fn)(SourceRun *r, void *ctx, Error *err), void *ctx, Error *err);

/* "10s", "5 minutes", "500ms" to microseconds; false: none of these, or more than a thousand hours. */
bool source_interval(Str text, int64_t *us);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* pg_stream.h - a PostgreSQL source under way: what its snapshot and its stream share. */
#ifndef FIRN_SOURCE_PG_STREAM_H
#define FIRN_SOURCE_PG_STREAM_H

#include "source/pg_int.h"

typedef struct PgStreamTable {
    PgTable t;                        /* as it was when the source was made */
    Str place;                        /* "public.t" */
    size_t output;
    int has_rows, broken;             /* has_rows: its snapshot is durable */
    uint64_t from;                    /* changes that committed before are in its rows already */
    Str why;                          /* broken */
    int *map;                         /* by output column: where it stands in a tuple; NULL: no relation message yet */
    size_t width;                     /* columns of a tuple */
} PgStreamTable;

typedef struct PgStream {
    SourceRun *r;
    Arena *a;                         /* as long as the attempt */
    Arena *message;                   /* values of the messages at hand */
    const Json *options;
    Str slot, publication, system;
    int64_t timeline;
    Pg repl;
    int has_note, in_tx, skip, dirty; /* skip: this transaction is in our rows; dirty: the note must be written though no row comes */
    uint64_t lsn;                     /* durable: every transaction that ended before is in our rows */
    uint64_t tx;                      /* where the transaction under way commits */
    uint64_t seen, acked;             /* end of the last transaction in the batch; what the server was told */
    int64_t pending_us, feedback_us, check_us;
    SourceBatch *b;
    struct { PgStreamTable *p; size_t n, cap; } tables;
} PgStream;

/* pg_apply.c */
NODISCARD Status pg_apply(PgStream *s, const PgMessage *m, Error *err);
bool pg_has_pending(const PgStream *s);                                        /* rows, or a note, that are not durable yet */
/* A row of plain cells, in the order of the output's columns. One that cannot be read is counted and left out. */
NODISCARD Status pg_put_row(PgStream *s, const PgStreamTable *t, const PgTuple *cells, int weight, Error *err);
void pg_break(PgStream *s, PgStreamTable *t, Str why);
/* Compares the tables with what they were. */
NODISCARD Status pg_check_tables(PgStream *s, const Pg *p, Error *err);

/* source_postgres.c */
NODISCARD Status pg_open_batch(PgStream *s, Error *err);
NODISCARD Status pg_commit(PgStream *s, Error *err);                          /* rows and note */
void pg_fresh_message(PgStream *s);

/* pg_snapshot.c: the rows of every table that has none yet, and the note, in one tick. */
NODISCARD Status pg_snapshot(PgStream *s, Error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* subscribe_int.h - a subscription under way. */
#ifndef FIRN_SUBSCRIBE_INT_H
#define FIRN_SUBSCRIBE_INT_H

#include "live/live.h"
#include "service/live_sql.h"

typedef enum { ENV_NONE, ENV_UPSERT, ENV_DEBEZIUM } Envelope;
typedef enum { SUB_FIRST, SUB_SNAPSHOT, SUB_PAST, SUB_CHANGES, SUB_DONE } SubPhase;

/* A change with cells of its own; what comes out of a batch are output rows. */
typedef struct SubChange { Value *cells; int64_t weight; } SubChange;
typedef VEC(SubChange) SubChanges;

typedef struct Subscribe {
    Live *live;
    int64_t id, view;                 /* what is watched; the view made for it, 0: none */
    LiveWatch *watch;
    DuckResult *snapshot;
    DuckResult *past;                 /* changes between AS OF and now, NULL: none any more */
    size_t past_rows, past_at;
    int64_t as_of;                    /* INT64_MAX: now */
    size_t snap_rows, snap_at;
    int snap_done;
    SubPhase phase;
    int with_snapshot, progress;
    int64_t start, told, up_to;       /* told: the last progress given */
    Envelope envelope;
    size_t ncols;                     /* of the relation */
    const DataType *types;
    struct { size_t *p; size_t n, cap; } keys, values;      /* columns of the relation, by position */
    struct { size_t col; int descending, nulls_first; } *order;
    size_t norder;
    LiveChange pending;               /* of the next batch */
    int has_pending;
    Arena *batch;                     /* of `out` */
    struct { Value **p; size_t n, cap; } out;
    size_t out_at;
    int64_t idle_since_us;
    Service *svc;
    int64_t ticket;                   /* of mz_subscriptions; 0: not begun */
} Subscribe;

/* Cells of a row before the relation's own: mz_timestamp, [mz_progressed], mz_diff or mz_state. */
size_t sub_head(const Subscribe *s);
size_t sub_width(const Subscribe *s);
void sub_put_head(const Subscribe *s, Value *row, int64_t t, int progressed);

/* Changes of one timestamp become output rows. */
void sub_batch(Subscribe *s, SubChanges *changes, int64_t t);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - internal tables and continuous views: the tick (design idea 6).
 *
 * Owns live.db, a database file of the engine with its own write-ahead log.  Rows of a relation stand in live.r<id>; a relation is known by
 * the number of its object (names are the matter of the rooms above).  Writes are staged by their writers and applied in ticks: one engine transaction
 * applies them, runs the delta plans of every view that depends on them, in order, appends the change logs, and moves the clock.  So a view is
 * never behind the tables that it reads, and a crash loses all of a tick or none.  A writer is answered when its tick is durable; writes that come
 * while a tick runs share the next one.
 * A view whose query fails on the new rows (a division by zero) does not fail the write: it is left out, reads of it fail with that error, and it is made
 * anew by the first tick after which its query works again.
 * Any thread may call.  Multisets throughout: a row may stand several times. */
#ifndef FIRN_LIVE_H
#define FIRN_LIVE_H

#include "base/base.h"
#include "duck/duck.h"
#include "ivm/ivm.h"

typedef struct Live Live;

/* Opens or makes the file; leaves out, and drops, relations that `keep` does not know (half-done creations). E_CORRUPT, E_IO. */
typedef struct LiveSetup { DuckEngine *engine; Str path; int (*keep)(void *ctx, int64_t id); void *ctx; } LiveSetup;
NODISCARD Status live_open(const LiveSetup *o, Live **ret, Error *err);
void live_close(Live *l);
NODISCARD Status live_reset(Live *l, Error *err);

/* Notes: small texts by key that are written with the rows of a tick, or alone: where a source stands, what a sink has done.  An empty value forgets the key. */
typedef struct LiveNote { Str key, value; } LiveNote;

/* ---- relations ------------------------------------------------------------------------------------------------------- */

typedef struct LiveColumn { Str engine; DataType type; int not_null; } LiveColumn;
typedef VEC(LiveColumn) LiveColumns;
NODISCARD Status live_table_create(Live *l, int64_t id, const LiveColumns *cols, Error *err);          /* E_EXISTS */

/* A view over live relations, compiled by the caller: the id of each of its sources' BoundTable is live_source_id of the relation.  With `fill` its rows are
 * computed now, in a tick of their own (creation); without, they are those of the file (start).  The arena goes over to the view on success. */
typedef enum { LIVE_FILL, LIVE_KEEP } LiveFill;
NODISCARD Status live_view_add(Live *l, int64_t id, Arena *owned, IvmView *view, LiveFill fill, Error *err);
/* The same with more to say: columns that must not be NULL (a row with one is the view's error, as in the engine's text of `message`), and what an error of the first rows means:
 * the view is made all the same, reads say what it is, and it heals like any other. */
typedef struct LiveAssert { Str engine, message; } LiveAssert;
typedef struct LiveViewOptions { LiveFill fill; const LiveAssert *asserts; size_t nasserts; int errors_stay; } LiveViewOptions;
NODISCARD Status live_view_add_with(Live *l, int64_t id, Arena *owned, IvmView *view, const LiveViewOptions *o, Error *err);
/* Another query stands behind a view's rows from now on: columns of the same engine names and types. Its change is the difference, so what reads it follows as ever; all of it, with
 * the note, or nothing.  The arena goes over on success.  At start, too: of a relation that is no view yet. E_INVALID: the columns differ; the query's own errors. */
NODISCARD Status live_view_replace(Live *l, int64_t id, Arena *owned, IvmView *view, const LiveViewOptions *o, const LiveNote *note, Error *err);
Str live_source_id(Arena *a, int64_t id);                                      /* "live:12" */
/* Drops relations together; E_CONFLICT when a view that stays reads one of them. */
NODISCARD Status live_drop(Live *l, const int64_t *ids, size_t n, Error *err);
bool live_has(Live *l, int64_t id);
/* A column behind the others; rows that stand have NULL there. */
NODISCARD Status live_table_add_column(Live *l, int64_t id, const LiveColumn *c, Error *err);
/* A view is left out of ticks from now on. Reads fail with `why`; NULL: they see it as it is. Not kept over a restart. */
void live_view_pause(Live *l, int64_t id, const Error *why);
NODISCARD Status live_view_resume(Live *l, int64_t id, Error *err);             /* computed anew, then it follows again */
NODISCARD Status live_view_refresh(Live *l, int64_t id, Error *err);            /* computed anew; a paused one stays so */
/* The engine's text of a relation's rows, for a printer: (SELECT …). With the view's own error when it has one. */
NODISCARD Status live_relation_sql(Live *l, Arena *a, int64_t id, Str *ret, Error *err);
/* Before a read: a view that reads mz_now(), itself or by what it reads, is brought to this moment. */
NODISCARD Status live_freshen(Live *l, int64_t id, Error *err);
/* ---- states of the past (live_history.c) --------------------------------------------------------------------------------------- */

/* Keeps the changes of so many milliseconds; 0: none any more. Survives a restart; live_retain_prune forgets what is older. */
NODISCARD Status live_retain(Live *l, int64_t id, int64_t ms, Error *err);
NODISCARD Status live_retain_prune(Live *l, int64_t id, int64_t ms, Error *err);
/* The text of a relation's rows as of time t; the caller has the lead (live_exclusive) until its query has begun. E_INVALID "Timestamp (t) is not valid for all inputs: …" */
NODISCARD Status live_state_sql(Live *l, Arena *a, int64_t id, int64_t t, Str *ret, Error *err);
int64_t live_oldest(Live *l, int64_t id);                                       /* the earliest time of which live_state_sql knows */
/* Reads of a table, and of the views over it, fail with this from now on: what should come into it comes no more. NULL: it is well again. Not kept over a restart. */
void live_table_fail(Live *l, int64_t id, const Error *why);

/* ---- writing ----------------------------------------------------------------------------------------------------------- */

/* A set of staged rows: those to come, and the stored ones to go.  `stage` stands behind FROM: a table's name, or the rows themselves when they are few: then `cells`
 * has them too, row by row, as long as the arena lives that they were staged with. */
typedef struct LiveWrite { int64_t relation; Str stage; int64_t rows; int deletes, as_text; const Value *cells; size_t ncells; } LiveWrite;

/* Stages the rows of a query that gives the table's columns in order; `conn` is the writer's. */
NODISCARD Status live_stage_inserts(Live *l, Arena *a, DuckConn *conn, int64_t id, Str sql, LiveWrite *ret, Error *err);
/* The same for a query of at most LIVE_VALUES rows that costs nothing and may be run twice: VALUES. */
enum { LIVE_VALUES = 16 };
NODISCARD Status live_stage_values(Live *l, Arena *a, DuckConn *conn, int64_t id, Str sql, LiveWrite *ret, Error *err);
/* Stages the rows of a query that gives __rid of stored rows (live_rows_sql names it), and, when new_sql is not empty, the rows that take their place.
 * Only between live_exclusive and its end: what was read must not change before it is written. */
NODISCARD Status live_stage_changes(Live *l, Arena *a, DuckConn *conn, int64_t id, Str rids_sql, Str new_sql, LiveWrite *ret, Error *err);
Str live_rows_sql(Arena *a, int64_t id);                                        /* the columns and __rid */
/* Applies writes in one tick; *t is its timestamp (milliseconds since 1970, ascending). */
NODISCARD Status live_commit(Live *l, const LiveWrite *w, size_t n, int64_t *t, Error *err);
/* Read, then write, with nothing in between. live_exclusive_commit may be called once; the end forgets what was staged and not committed. */
typedef struct LiveExclusive LiveExclusive;
NODISCARD Status live_exclusive(Live *l, LiveExclusive **ret, Error *err);
NODISCARD Status live_exclusive_commit(LiveExclusive *x, const LiveWrite *w, size_t n, int64_t *t, Error *err);
void live_exclusive_end(LiveExclusive *x);
void live_exclusive_endp(LiveExclusive **x);
void live_unstage(Live *l, const LiveWrite *w);                                 /* rows that are not wanted any more */

/* Notes are written with the rows of a tick, or alone. */
NODISCARD Status live_commit_noted(Live *l, const LiveWrite *w, size_t n, const LiveNote *notes, size_t nnotes, int64_t *t, Error *err);
NODISCARD Status live_exclusive_commit_noted(LiveExclusive *x, const LiveWrite *w, size_t n, const LiveNote *notes, size_t nnotes, int64_t *t, Error *err);
NODISCARD Status live_note_get(Live *l, Arena *a, Str key, Str *ret, Error *err);           /* "" when there is none */

/* Time goes on where nothing is written: no tick will have a timestamp below *ret. */
int64_t live_advance(Live *l);
int64_t live_now(Live *l);                                                      /* timestamp of the last tick; reads see just that */

/* ---- watching ------------------------------------------------------------------------------------------------------------ */

/* The changes of one relation from now on. `snapshot` streams its rows as of ret's time on the caller's connection. */
typedef struct LiveWatch LiveWatch;
typedef struct LiveChange { int64_t t; const Value *cells; int64_t weight; } LiveChange;      /* cells: one a visible column; valid until the next call */
NODISCARD Status live_watch(Live *l, int64_t id, DuckConn *conn, DuckResult **snapshot, LiveWatch **ret, Error *err);
/* From a time that has passed: the snapshot is as of then, *past has what changed since, in order of time (__t, __w, the columns); NULL: nothing did.
 * E_INVALID "Timestamp (t) is not valid for all inputs: …" when that is not known any more. */
NODISCARD Status live_watch_from(Live *l, int64_t id, int64_t as_of, DuckConn *conn, DuckResult **snapshot, DuckResult **past, LiveWatch **ret, Error *err);
int64_t live_watch_start(const LiveWatch *w);
/* The next change, or *has 0 after wait_ms without one: then *progress says up to which time (exclusive) all were given.
 * E_LIMIT: the reader was too slow, more than the limit of changes wait; E_NOT_FOUND: the relation was dropped. */
NODISCARD Status live_watch_next(LiveWatch *w, int wait_ms, LiveChange *ret, int *has, int64_t *progress, Error *err);
void live_watch_wake(LiveWatch *w);                                             /* ends a wait: another thread's cancel */
void live_watch_end(LiveWatch *w);

/* ---- change logs, for those that must not lose a change over a restart (sinks) ------------------------------------------------ */

/* From now on the relation's changes are kept, until everyone who asked for the log has said that it is done with them. */
NODISCARD Status live_log_begin(Live *l, int64_t id, Str reader, int64_t *from, Error *err);
/* The engine's text of the changes with from < t <= to: __t, __w and the visible columns; of one time they are netted: no row comes and goes. E_NOT_FOUND: they are not kept. */
NODISCARD Status live_log_sql(Live *l, Arena *a, int64_t id, int64_t from, int64_t to, Str *ret, Error *err);
/* Everyone who asked for a log and has not ended: who is not there any more is ended by whoever knows. */
typedef struct LiveLogReader { int64_t relation; Str reader; } LiveLogReader;
typedef VEC(LiveLogReader) LiveLogReaders;
void live_log_readers(Live *l, Arena *a, LiveLogReaders *ret);
/* Time of the newest change in the log, told without the engine; INT64_MAX: not known. */
int64_t live_log_last(Live *l, int64_t id);
NODISCARD Status live_log_done(Live *l, int64_t id, Str reader, int64_t upto, Error *err);
NODISCARD Status live_log_end(Live *l, int64_t id, Str reader, Error *err);

/* ---- what happened to sources and sinks: kept with the rows, the newest LIVE_STATUSES of an object -------------------------------- */

enum { LIVE_STATUSES = 1000 };
typedef struct LiveStatus { int64_t object, at_ms; Str status, error, hint; } LiveStatus;
typedef VEC(LiveStatus) LiveStatuses;
/* One that says the same as the object's last is not recorded again. Durable soon, not at once. */
void live_status_put(Live *l, int64_t object, const char *status, Str error, Str hint);
NODISCARD Status live_status_list(Live *l, Arena *a, LiveStatuses *ret, Error *err);        /* oldest first */
void live_status_forget(Live *l, int64_t object);

typedef struct LiveCounts { int64_t ticks, writes, rows, us, views, broken; } LiveCounts;
LiveCounts live_counts(Live *l);

#endif

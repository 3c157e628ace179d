/* SPDX-License-Identifier: Apache-2.0 */
/* live_int.h - inside of live/: relations, the queue of writers, a tick under way.
 *
 * One thread at a time leads: it alone runs ticks, changes the registry and uses `conn`.  The lock guards the registry for readers, the queue and the
 * watches; it is never held while the engine works. */
#ifndef FIRN_LIVE_INT_H
#define FIRN_LIVE_INT_H

#include "live/live.h"

#define CONTRADICTION "XX001"         /* SQLSTATE of a stored state that cannot be */

enum {
    FEW_ROWS = 1000,                  /* a tick of more is worth statements that are planned for it */
    WATCH_CHANGES_MAX = 1000000,      /* changes that wait for one slow reader */
    RELATIONS_MAX = 100000,
    RELATION_READERS_MAX = 1000,      /* views that one table's failure reaches */
    CLOCK_RESERVE_MS = 1000,          /* how far ahead the clock's end is written */
    NOTE_KEY_MAX = 256,
    NOTE_VALUE_MAX = 1024 * 1024,
};

typedef struct Chunk { int64_t t; Arena *a; size_t rows, cols; Value *cells; int64_t *weights; int refs; } Chunk;

struct LiveWatch {
    Live *l;
    int64_t id, start, progress;
    pthread_cond_t heard;             /* its own: a tick wakes those alone who get something */
    struct { Chunk **p; size_t n, cap; } chunks;      /* oldest first; heap */
    size_t at, waiting;               /* row of the first chunk; changes that wait */
    int dropped, overflowed, woken;
    LiveWatch *next;
};

typedef struct LogReader { char name[128]; int64_t done, last; } LogReader;      /* last: time of the newest change in the log */

typedef enum { WHOLE_NO, WHOLE_ONCE, WHOLE_ALWAYS } Whole;

typedef struct Relation {
    int64_t id;
    Arena *a;
    LiveColumns cols;                 /* visible */
    IvmView *view;                    /* NULL: a table */
    Arena *view_arena;
    struct { int64_t *p; size_t n, cap; } sources;
    Error *error;                     /* of a view that is left out; heap; NULL: it is well */
    int paused;                       /* a view that takes no part in ticks */
    int timed;                        /* a view that reads mz_now(), itself or by what it reads */
    int64_t changed;                  /* no later tick has changed it */
    VEC(LiveAssert) asserts;          /* columns of a view that must not be NULL */
    Whole whole;                      /* a view whose delta plan failed where its query does not */
    int64_t time, time_next;          /* of a view that reads mz_now(): of its rows (0: unknown), and of the tick under way */
    struct { LogReader *p; size_t n, cap; } readers;  /* of its change log */
} Relation;

typedef struct Note { char *key, *text; size_t nkey, ntext; struct Note *next; } Note;            /* heap */
typedef struct StatusLine { Arena *a; int64_t seq; LiveStatus s; struct StatusLine *next; } StatusLine;      /* a: its own */

typedef struct Waiter {
    const LiveWrite *writes;
    size_t n;
    const LiveNote *notes;
    size_t nnotes;
    int done;
    int64_t t;
    Status status;
    Error err;
    struct Waiter *next;
} Waiter;

struct Live {
    DuckEngine *engine;
    DuckConn *conn;                   /* the leader's */
    Arena *a;
    pthread_mutex_t lock;
    pthread_cond_t changed;           /* the queue, the lead, the watches */
    int leading;
    Waiter *queue;                    /* oldest first */
    struct { Relation **p; size_t n, cap; } rels;     /* by id */
    struct { Relation **p; size_t n, cap; } order;    /* the views, each behind those that it reads: the leader's (live_order) */
    int ordered;                      /* `order` is that of `rels` */
    LiveWatch *watches;
    Note *notes;
    StatusLine *statuses;             /* newest first */
    int64_t status_seq, status_saved; /* of the newest, and of the newest on disk */
    int64_t now, clock_end;           /* last tick; time up to which the clock is reserved on disk */
    int64_t stages;                   /* numbers of stage tables */
    Map views;                        /* temporary views of `conn` by name: their texts, in views_arena */
    Arena *views_arena;
    LiveCounts counts;
    pthread_t clock;                  /* live_time.c */
    int clock_runs, closing;
};

/* What a tick does to one relation: names of engine relations. */
typedef struct Delta {
    Relation *rel;
    Str ins, del, chg;                /* columns (hidden too); rid; visible columns and __w. Empty: none */
    int has_deletes, unit;            /* unit: every __w of chg is 1 */
    int64_t rows;                     /* of chg; -1: not counted */
    struct { const LiveWrite **p; size_t n, cap; } few;       /* of a table: the writes that `ins` is made of, when all of them have cells */
    Chunk *chunk;                     /* for watches */
} Delta;

typedef struct Tick {
    Live *l;
    Arena *a;
    int64_t t;
    const Waiter *waiters;            /* whose writes; with `only` the first of them alone */
    int only;
    const LiveWrite *extra;           /* of an exclusive writer */
    size_t nextra;
    const LiveNote *extra_notes;
    size_t nextra_notes;
    int64_t rows;                     /* staged for this attempt */
    struct { Delta *p; size_t n, cap; } deltas;
    struct { Relation **p; size_t n, cap; } skipped;  /* views left out of this attempt */
    Relation *fill;                   /* a new view to compute */
    Relation *refresh;                /* one that is computed anew, paused or not */
    Relation *replace;                /* the same, and its table is another one */
    Str replaced;                     /* the statement that makes it */
} Tick;

/* live.c */
Relation *live_find(Live *l, int64_t id);             /* lock held, or as the leader */
size_t live_rel_place(const Live *l, int64_t id);               /* where it stands in rels, or would */
NODISCARD Status live_exec(Live *l, Str sql, Error *err);
NODISCARD Status live_together(Live *l, Str statements, Error *err);      /* in one transaction: all or none */
void live_lead(Live *l);                              /* waits for the lead */
void live_unlead(Live *l);
Str live_columns_sql(Arena *a, const LiveColumns *cols, const char *prefix);
Str live_table(Arena *a, int64_t id);                 /* live.r12 */
Str live_log_table(Arena *a, int64_t id);
bool relation_reads(const Relation *r, int64_t id);    /* is it a view over this one? */
bool live_is_timed(Live *l, const Relation *r);       /* as the leader: by its view, and what is known of its sources */
void live_order(Live *l);                             /* as the leader, before `order` is used (live_replace.c) */
Str live_create_sql(Arena *a, const Relation *r);     /* CREATE TABLE of its columns, the hidden ones too */
NODISCARD Status live_find_sources(Live *l, Relation *r, Error *err);     /* of its view, into r->sources */
void live_set_asserts(Relation *r, const LiveViewOptions *o);
void relation_error(Live *l, Relation *r, const Error *why);        /* NULL: none any more */

NODISCARD Status live_add_led(Live *l, int64_t id, Arena *owned, IvmView *view, const LiveViewOptions *o, Error *err);      /* as the leader: one view, just as it is */
NODISCARD Status live_drop_led(Live *l, const int64_t *ids, size_t n, Error *err);

/* live_inner.c, as the leader: the inner views of a view. */
typedef VEC(int64_t) Inners;
bool live_is_inner(int64_t id);
int64_t live_owner(int64_t id);                       /* whose it is; of another relation: itself */
void live_inners_of(Live *l, Arena *a, int64_t owner, Inners *ret);
/* Makes or finds them; NULL: the view has none, or they cannot be made. What is there then and not needed is live_inners_keep's. */
IvmView *live_inners_make(Live *l, int64_t owner, Arena *owned, const IvmView *view);
void live_inners_keep(Live *l, int64_t owner, const IvmView *v);      /* those of v stay, others go */

/* live_tick.c: as the leader. Fills t->t. */
NODISCARD Status tick_run(Tick *t, Error *err);
NODISCARD Status tick_delete(Tick *t, const Delta *d, Error *err);      /* the stored rows of `del` go */

/* live_view.c: one view's part of a tick. */
Delta *tick_delta(Tick *t, int64_t id);               /* NULL: unchanged */
NODISCARD Status tick_view(Tick *t, Relation *r, Error *err);
/* Made only when another text stands under the name. After a rollback none of them is certain: tick_forget_views. */
NODISCARD Status tick_temp_view(Tick *t, Str name, Str sql, Error *err);
void tick_forget_views(Live *l);
bool tick_heard(const Tick *t, const Relation *r);    /* does anybody read what changes in it? */
/* d->chg becomes a table of that name: what `ins` and `del` amount to. */
NODISCARD Status tick_difference(Tick *t, Delta *d, Str name, Error *err);

/* live_rows.c: the rows of a query as a stage of text; *fit false: they are not such. */
NODISCARD Status stage_text(Arena *a, DuckConn *conn, Str sql, Str columns, LiveWrite *ret, bool *fit, Error *err);
NODISCARD Status rows_append(Tick *t, const Delta *d, Error *err);      /* d->few into their table */
bool rows_are_plain(const Relation *r);               /* its columns, hidden ones too, pass through C as they are */
NODISCARD Status rows_groups(Tick *t, const Relation *r, Str sql, Error *err);      /* IvmPlan's groups_sql, applied; E_INVALID with CONTRADICTION */

/* live_time.c: while a view reads mz_now(), a tick a second. */
void time_begin(Live *l);                             /* as the leader; once is enough */
void time_end(Live *l);

/* live_watch.c */
bool watch_wants(Live *l, int64_t id);               /* is it watched? */
NODISCARD Status watch_collect(Tick *t, Error *err);  /* chunks of the deltas that somebody watches */
void watch_publish(Tick *t);                          /* after the commit */
void watch_forget(Live *l, int64_t id);               /* lock held */
void chunk_release(Chunk *c);

/* live_log.c */
NODISCARD Status log_append(Tick *t, Error *err);
NODISCARD Status log_open(Live *l, Error *err);

/* live_note.c */
NODISCARD Status notes_open(Live *l, Error *err);
NODISCARD Status notes_write(Tick *t, Error *err);    /* in the tick's transaction */
void notes_settle(Tick *t);                           /* after the commit */
NODISCARD Status notes_reset(Live *l, Error *err);
void notes_free(Live *l);                             /* lock held, or nobody else there */

/* live_status.c */
NODISCARD Status statuses_open(Live *l, Error *err);
void statuses_flush(Live *l);                         /* as the leader */
void statuses_reset(Live *l);
void statuses_free(Live *l);

#endif

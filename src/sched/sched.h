/* SPDX-License-Identifier: Apache-2.0 */
/* sched.h - when: refreshes that fall due.
 *
 * Owns one thread that looks for due views and a small pool of workers that refresh them.  A view is refreshed only when a source
 * changed; after a failure it is tried again after 5, 10, 20 … seconds, at most its schedule; a view over views comes after those that are
 * queued or running.  One run a view at a time (refresh/).  What is due is in the catalog, so a restart forgets nothing: a view stays due until
 * its run has ended. */
#ifndef FIRN_SCHED_H
#define FIRN_SCHED_H

#include "refresh/refresh.h"

typedef struct Scheduler Scheduler;
typedef struct SchedulerOptions { int workers; int64_t tick_ms; } SchedulerOptions;        /* defaults: one a processor, 2 to 8; 1,000 */
NODISCARD Status sched_start(Refresher *r, Catalog *c, const SchedulerOptions *o, Scheduler **ret, Error *err);
void sched_wake(Scheduler *s);                        /* a schedule changed; NULL is fine */
void sched_stop(Scheduler *s);                        /* cancels what runs (it stays due), joins, frees; NULL is fine */
/* done: runs that ended well; failed; skipped: due, and no source had changed; cancelled: the schedule went while the view was queued; stopped: by refresh_stop.
 * late_ms: of the run that began last, how long after its time. */
typedef struct SchedulerState { int64_t queued, running, done, failed, skipped, cancelled, stopped, late_ms; } SchedulerState;
SchedulerState sched_state(Scheduler *s);

#endif

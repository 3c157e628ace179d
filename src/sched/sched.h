/* SPDX-License-Identifier: Apache-2.0 */
/* sched.h - when: refreshes that fall due.
 *
 * Owns one thread that looks for due views and a small pool of workers that refresh them.  A view is refreshed only when a source
 * changed; after a failure it waits longer each time; a view over views comes after them.  One run a view at a time (refresh/). */
#ifndef FIRN_SCHED_H
#define FIRN_SCHED_H

#include "refresh/refresh.h"

typedef struct Scheduler Scheduler;
typedef struct SchedulerOptions { int workers; int64_t tick_ms; } SchedulerOptions;        /* defaults 2, 1,000 */
NODISCARD Status sched_start(Refresher *r, Catalog *c, const SchedulerOptions *o, Scheduler **ret, Error *err);
void sched_wake(Scheduler *s);                        /* a schedule changed; NULL is fine */
void sched_stop(Scheduler *s);                        /* cancels what runs, joins, frees; NULL is fine */
typedef struct SchedulerState { int64_t queued, running, done, failed; } SchedulerState;
SchedulerState sched_state(Scheduler *s);

#endif

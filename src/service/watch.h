/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - statement timeouts: a thread that cancels sessions whose statement has run too long. */
#ifndef FIRN_WATCH_H
#define FIRN_WATCH_H

#include "service/service.h"

typedef struct Watch Watch;
Watch *watch_new(void);                               /* its thread starts with the first statement that has a timeout */
void watch_free(Watch *w);
/* When a statement of this session that begins now must be over (monotonic microseconds); 0: never. */
int64_t watch_deadline(const Session *ss);
/* From here to watch_end the session is cancelled at the deadline (0: nothing is watched). */
uint64_t watch_begin(Watch *w, Session *ss, int64_t deadline_us);
int watch_end(Watch *w, uint64_t ticket);             /* 1: it fired */

#endif

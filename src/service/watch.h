/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - statement timeouts: a thread that cancels sessions whose statement has run too long. */
#ifndef FIRN_WATCH_H
#define FIRN_WATCH_H

#include "service/service.h"

typedef struct Watch Watch;
Watch *watch_new(void);                               /* its thread starts with the first statement that has a timeout */
void watch_free(Watch *w);
/* The session's statement_timeout begins to count; 0: there is none. */
uint64_t watch_begin(Watch *w, Session *ss);
int watch_end(Watch *w, uint64_t ticket);             /* 1: it fired */

#endif

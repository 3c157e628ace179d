/* SPDX-License-Identifier: Apache-2.0 */
/* manage_int.h - inside the manage door: who asks, and the calls below /api that need to know. */
#ifndef FIRN_MANAGE_INT_H
#define FIRN_MANAGE_INT_H

#include "door/manage/managedoor.h"

#include <stdatomic.h>

/* By SigV4 (any service, no body), or by Basic with an access key id and its secret; a session's token in x-amz-security-token. E_AUTH. */
NODISCARD Status manage_authenticate(Service *svc, HttpRequest *r, Principal *ret, Error *err);
/* GET /api/events?after=SEQUENCE&max=N */
void manage_events(Service *svc, HttpRequest *r, HttpAnswer *ret);
bool manage_is_webhook(const HttpRequest *r);
void manage_webhook(Service *svc, atomic_int *under_way, HttpRequest *r, HttpAnswer *ret);

/* manage_sinks.c: a line a sink and metric. */
void manage_sink_metrics(Service *s, Arena *a, StrBuf *b);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* prune.h - what a bound query says of the files that its scans need, if any. */
#ifndef FIRN_SERVICE_PRUNE_H
#define FIRN_SERVICE_PRUNE_H

#include "service/session_int.h"

void prune_query(Run *r, const Query *q);                                   /* after binding, before printing */
/* count.c: *ret is what the engine is to be asked instead, or q. */
NODISCARD Status count_query(Run *r, const Query *q, const Query **ret, Error *err);
const IcePredicates *prune_of(const Run *r, const TableRef *t);             /* NULL: nothing known */

#endif

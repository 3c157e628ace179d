/* SPDX-License-Identifier: Apache-2.0 */
/* refreshes.h - the metadata table <view>.refreshes: a row for each run (docs: "What a refresh did"). */
#ifndef FIRN_SERVICE_REFRESHES_H
#define FIRN_SERVICE_REFRESHES_H

#include "lake/lake.h"
#include "service/service.h"

NODISCARD Status refreshes_columns(Arena *a, BoundColumns *ret, Error *err);
/* Filled now, newest run first; good on this connection, as every LakeRelation. */
NODISCARD Status refreshes_relation(Service *s, Arena *a, DuckConn *c, int64_t relation_id, LakeRelation *ret, Error *err);

#endif

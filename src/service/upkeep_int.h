/* SPDX-License-Identifier: Apache-2.0 */
/* upkeep_int.h - between the rounds of upkeep and their work. */
#ifndef FIRN_SERVICE_UPKEEP_INT_H
#define FIRN_SERVICE_UPKEEP_INT_H

#include "service/upkeep.h"

/* One table in a round. */
typedef struct UpkeepJob {
    Service *svc;
    Arena *a;
    DuckConn *conn;
    LakeTable table;
    CatMview view;                    /* of a materialized view */
    const Json *settings;             /* of the type at work */
} UpkeepJob;

/* What a type does. *skipped: why nothing was done, to be told as the status. */
typedef Status (*UpkeepWork)(UpkeepJob *j, Str *skipped, Error *err);
NODISCARD Status upkeep_compact(UpkeepJob *j, Str *skipped, Error *err);
NODISCARD Status upkeep_expire(UpkeepJob *j, Str *skipped, Error *err);
NODISCARD Status upkeep_remove_unreferenced(UpkeepJob *j, Str *skipped, Error *err);
/* Storage that was staged for a table which never came. */
void upkeep_remove_staged(Service *s, Arena *a);

#endif

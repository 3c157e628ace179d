/* SPDX-License-Identifier: Apache-2.0 */
/* upkeep.h - tables of table buckets, kept in shape in the background: S3 Tables' maintenance.
 *
 * One thread goes round all table buckets each `maintenance.interval` and when it is woken.  It works as the system, by the same commits as the
 * procedures of SQL (lake/maintain.h); what is wished for lies in the buckets' and tables' documents.  A job that fails is
 * recorded with its reason and tried again in the next round. */
#ifndef FIRN_SERVICE_UPKEEP_H
#define FIRN_SERVICE_UPKEEP_H

#include "service/service.h"

#define UPKEEP_COMPACTION "icebergCompaction"
#define UPKEEP_SNAPSHOTS "icebergSnapshotManagement"
#define UPKEEP_UNREFERENCED "icebergUnreferencedFileRemoval"

typedef struct Upkeep Upkeep;
NODISCARD Status upkeep_start(Service *s, Upkeep **ret, Error *err);      /* no thread when options.upkeep_s is 0 */
void upkeep_wake(Upkeep *u);
void upkeep_stop(Upkeep *u);                                               /* interrupts what runs, joins, frees; NULL is fine */

/* {"status", "settings": {type: {…}}} of one type: what the document (DOC_S3TABLES_CONFIG) says, filled up with S3 Tables' defaults. */
Json *upkeep_wanted(Arena *a, const Json *config, const char *type);
/* May this be asked for? E_INVALID, E_UNSUPPORTED. */
NODISCARD Status upkeep_check(Arena *a, const char *type, const Json *value, Error *err);
NODISCARD Status upkeep_check_table(Service *s, Arena *a, const CatRelation *r, const Json *value, Error *err);

/* How the jobs of the table with this ARN went: {type: {"status": Successful | Failed | Disabled, "last-run-ms", "message"}}; {} before the first. */
NODISCARD Status upkeep_status(Service *s, Arena *a, Str arn, Json **ret, Error *err);

/* Snapshots that incremental views last read of the table, and the one that a view's own refresh left: they must stay. */
typedef VEC(int64_t) SnapshotIds;
NODISCARD Status upkeep_pinned(Service *s, Arena *a, const LakeTable *t, SnapshotIds *ret, Error *err);

#endif

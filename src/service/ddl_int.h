/* SPDX-License-Identifier: Apache-2.0 */
/* ddl_int.h - shared by the files that carry out CREATE, ALTER and DROP. */
#ifndef FIRN_DDL_INT_H
#define FIRN_DDL_INT_H

#include "service/session_int.h"
#include "service/tables.h"

SvcCall ddl_call(Run *r, SvcCtx *ctx, const char *api);
const IceField *ddl_field(const IceSchema *s, Str name);          /* top level, exact case first */
NODISCARD Status ddl_transform(Run *r, const PartitionField *p, IceTransform *t, Str *name, Error *err);
NODISCARD Status ddl_bind_query(Run *r, Error *err);                /* the statement's own query */
NODISCARD Status ddl_schema_of_query(Run *r, const Query *q, IceSchema **ret, Error *err);
/* IF EXISTS forgives E_NOT_FOUND; else it is told in the dialect's words. */
NODISCARD Status ddl_absent_is_fine(Run *r, Status s, Error *err, const StrVec *name);
NODISCARD Status ddl_create_updates(Arena *a, const IceMetadata *m, IceUpdates *ups);
NODISCARD Status ddl_replace_table(Run *r, const SvcCall *call, SvcNewTable *nt, Error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* external.h - tables and views of the Glue catalog that are not Iceberg, for SQL. */
#ifndef FIRN_SERVICE_EXTERNAL_H
#define FIRN_SERVICE_EXTERNAL_H

#include "service/session_int.h"

/* Any table: Iceberg, or files of an external one, listed and read by the caller's own rights. */
NODISCARD Status external_open(Run *r, Arena *a, const CatRelation *rel, LakeTable *ret, Error *err);
/* For LakeTable.rights: the session's principal. */
const LakeRights *external_rights(Run *r);
/* Is it a Glue view? Its text then, as a version of an Iceberg view. E_UNSUPPORTED: no dialect that is run here. */
bool external_is_view(const CatRelation *rel);
NODISCARD Status external_view(Arena *a, const CatRelation *rel, const IceViewVersion **ret, Error *err);
/* For the reader's rights of a principal. */
NODISCARD Status external_may(Access *x, Arena *a, const Principal *p, LakeMay what, Str bucket, Str key, Error *err);

#endif

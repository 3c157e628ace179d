/* SPDX-License-Identifier: Apache-2.0 */
/* hive.h - tables of the Glue catalog that are not Iceberg: their types, and how SQL reads them.
 *
 * The definition is CatRelation.extra "glue", in the shape of Glue's TableInput; partitions are documents DOC_PARTITION. */
#ifndef FIRN_SERVICE_HIVE_H
#define FIRN_SERVICE_HIVE_H

#include "base/base.h"
#include "iceberg/iceberg.h"

/* "array<struct<a:int,b:decimal(10,2)>>". Nested fields get ids from *next_id on. E_INVALID: not a type, E_UNSUPPORTED: union types. */
NODISCARD Status hive_type_parse(Arena *a, Str text, int32_t *next_id, IceType **ret, Error *err);
Str hive_type_text(Arena *a, const IceType *t);

#endif

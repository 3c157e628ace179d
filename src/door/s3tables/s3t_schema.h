/* SPDX-License-Identifier: Apache-2.0 */
/* s3t_schema.h - the metadata of CreateTable as Iceberg's own structures. */
#ifndef FIRN_S3T_SCHEMA_H
#define FIRN_S3T_SCHEMA_H

#include "service/tables.h"

/* Fills schema, spec, order and properties from {schema | schemaV2, partitionSpec, writeOrder, properties}. E_INVALID. */
NODISCARD Status s3t_schema(Arena *a, const Json *iceberg, SvcNewTable *ret, Error *err);

#endif

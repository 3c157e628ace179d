/* SPDX-License-Identifier: Apache-2.0 */
/* tablebuckets.h - what tables of table buckets have beyond other tables.
 *
 * A table bucket is a catalog of kind "table_bucket".  Each of its tables keeps its files in a private bucket of the object store, named by the table's id
 * and ending in "--table-s3", and nowhere else.  A table may exist before it has metadata (s3tables:CreateTable without a schema): then its
 * metadata_location is empty until svc_table_point.  Names follow S3 Tables' rules at every door. */
#ifndef FIRN_SERVICE_TABLEBUCKETS_H
#define FIRN_SERVICE_TABLEBUCKETS_H

#include "service/tables.h"

/* Documents by ARN of a bucket or table. POLICY: {"policy": text}; CONFIG: what S3 Tables stores and returns. They go with their table. */
#define DOC_S3TABLES_POLICY "s3tables.policy"
#define DOC_S3TABLES_CONFIG "s3tables.config"
#define DOC_S3TABLES_STATUS "s3tables.status"         /* of maintenance (upkeep.h) */

bool svc_is_table_bucket(Str catalog_id);
/* A private bucket of a table, by its name. */
bool svc_is_table_storage(Str bucket);
/* With all that is in it, unless a relation keeps its files there. What cannot be removed now is found by the next round of maintenance. */
void svc_table_storage_remove(Catalog *c, Store *st, Arena *a, Str bucket);
/* "": the name may stand in a table bucket, else what is wrong. */
Str svc_table_bucket_name_problem(Str name);

#endif

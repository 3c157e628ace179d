/* SPDX-License-Identifier: Apache-2.0 */
/* external_int.h - a table that is not Iceberg, as external.c finds it and external_read.c reads it. */
#ifndef FIRN_LAKE_EXTERNAL_INT_H
#define FIRN_LAKE_EXTERNAL_INT_H

#include "lake/lake_int.h"

typedef enum { EXT_PARQUET, EXT_TEXT, EXT_CSV, EXT_JSON } ExternalFormat;       /* TEXT: LazySimpleSerDe, CSV: OpenCSVSerde */

typedef struct ExternalFile { Str uri, etag; int64_t size; size_t partition; } ExternalFile;
typedef struct LakeExternal {
    ExternalFormat format;
    const Json *serde;                                 /* its parameters */
    const Json *parameters;                            /* the table's */
    size_t ncolumns;                                   /* of the files; the schema's fields after them are partition keys */
    VEC(StrVec) partitions;                            /* values, one for each key; one without values for a table without keys */
    VEC(ExternalFile) files;
} LakeExternal;

/* The rows as engine text, columns by the schema's engine names. */
NODISCARD Status external_scan(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const LakeScan *s, LakeRelation *ret, Error *err);

#endif

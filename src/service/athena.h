/* SPDX-License-Identifier: Apache-2.0 */
/* athena.h - the trino dialect's own statements and the columns of its SHOW; private to service/. */
#ifndef FIRN_SERVICE_ATHENA_H
#define FIRN_SERVICE_ATHENA_H

#include "service/session_int.h"

NODISCARD Status do_optimize(Run *r, Rows *rows, Error *err);
NODISCARD Status do_vacuum(Run *r, Rows *rows, Error *err);
NODISCARD Status do_repair_table(Run *r, Rows *rows, Error *err);
NODISCARD Status do_unload(Run *r, Rows *rows, Error *err);
/* A query's rows as a file below a place that holds nothing; binds the statement's query. format: PARQUET (or empty), JSON. */
typedef struct Unload { Str location, format, compression; } Unload;
NODISCARD Status unload_query(Run *r, const Unload *u, int64_t *n, Error *err);
/* One more file below a place: the rows of engine text, columns by its names. */
NODISCARD Status unload_add(Run *r, const Unload *u, Str select, int64_t *n, Error *err);
/* CREATE EXTERNAL TABLE; CREATE TABLE AS that is not Iceberg. */
NODISCARD Status do_create_external(Run *r, Rows *rows, const Name *n, Error *err);

const char *athena_column(const Run *r, const char *spark, const char *athena);      /* a column's name in the session's dialect */
NODISCARD Status athena_type(Run *r, const IceType *type, Str *ret, Error *err);      /* Hive's name of a type */
NODISCARD Status athena_create_text(Run *r, const Name *n, const LakeTable *t, Str *ret, Error *err);
void athena_lines(Run *r, Rows *rows, Str text);                                     /* a row a line */
/* information_schema.<table>: constant rows. E_NOT_FOUND: no such table of it. */
bool athena_is_schema_table(const StrVec *name);
NODISCARD Status athena_schema_table(Run *r, Arena *a, const StrVec *name, BoundTable **ret, Error *err);
NODISCARD Status athena_show_view(Run *r, Rows *rows, Error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* athena.h - the trino dialect's own statements and the columns of its SHOW; private to service/. */
#ifndef FIRN_SERVICE_ATHENA_H
#define FIRN_SERVICE_ATHENA_H

#include "service/session_int.h"

NODISCARD Status do_optimize(Run *r, Rows *rows, Error *err);
NODISCARD Status do_vacuum(Run *r, Rows *rows, Error *err);
NODISCARD Status do_repair_table(Run *r, Rows *rows, Error *err);
NODISCARD Status do_unload(Run *r, Rows *rows, Error *err);

const char *athena_column(const Run *r, const char *spark, const char *athena);      /* a column's name in the session's dialect */
NODISCARD Status athena_type(Run *r, const IceType *type, Str *ret, Error *err);      /* Hive's name of a type */
NODISCARD Status athena_create_text(Run *r, const Name *n, const LakeTable *t, Str *ret, Error *err);
void athena_lines(Run *r, Rows *rows, Str text);                                     /* a row a line */
NODISCARD Status athena_show_view(Run *r, Rows *rows, Error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* live_show_int.h - shared by the files of SHOW. */
#ifndef FIRN_LIVE_SHOW_INT_H
#define FIRN_LIVE_SHOW_INT_H

#include "service/live_sql.h"

bool show_wants(const Run *r, Str name);              /* LIKE */
void show_objects(Run *r, ObjectVec *ret);            /* all of them, by name */
/* live_show_realm.c: databases, schemas, clusters, replicas, roles, rights. 1: done, 0: something else, -1: failed. */
int show_realm(Run *r, Rows *rows, Error *err);
NODISCARD Status show_create_cluster(Run *r, Rows *rows, Error *err);
/* live_show_where.c: the rows made so far, those for which the statement's WHERE holds. */
NODISCARD Status show_where(Run *r, Rows *rows, Error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* live_sql.h - internal tables and continuous views as SQL sees them: names, DDL, what DML needs of them.
 *
 * A session that speaks PostgreSQL's dialect and is connected to database `materialize` has its names there: one part is looked up along search_path, two are
 * schema.name, three materialize.schema.name.  What is not found there may be a table of the lake. */
#ifndef FIRN_LIVE_SQL_H
#define FIRN_LIVE_SQL_H

#include "ivm/ivm.h"
#include "live/live.h"
#include "service/objects.h"
#include "service/session_int.h"

#define LIVE_DATABASE "materialize"

typedef struct LiveName { Str database, schema, name; } LiveName;
/* Where an object of this name would be made; false: not on the live side. */
bool live_name_new(Run *r, const StrVec *parts, LiveName *ret);
/* The object of this name. E_NOT_FOUND: none. */
NODISCARD Status live_find_object(Run *r, Arena *a, const StrVec *parts, Object *ret, Error *err);
/* For the binder. E_NOT_FOUND: no name of the live side. */
NODISCARD Status live_resolve(Run *r, Arena *a, const TableRef *ref, BoundTable **ret, Error *err);
bool live_is_table(const BoundTable *t, int64_t *id);
/* What stands on the live side is for the account root. */
NODISCARD Status live_ask(Run *r, const char *api, const Object *o, Error *err);

/* false: the statement's name is not on the live side, and it was not carried out. */
typedef struct LiveDone { int done; } LiveDone;
NODISCARD Status live_create_table(Run *r, LiveDone *ret, Error *err);
NODISCARD Status live_create_view(Run *r, LiveDone *ret, Error *err);
NODISCARD Status live_create_mv(Run *r, LiveDone *ret, Error *err);
NODISCARD Status live_drop_object(Run *r, ObjKind kind, LiveDone *ret, Error *err);

/* A definition bound and compiled in an arena of its own. */
NODISCARD Status live_compile(Run *r, Arena *own, Str definition, Query **q, IvmView **ret, Error *err);

/* live_statement.c: every statement passes here first; done 0: it is not about the live side. */
NODISCARD Status live_statement(Run *r, Rows *rows, LiveDone *ret, Error *err);

/* live_tx.c: writes that wait for COMMIT. */
bool live_tx_open(const Session *ss);
void live_tx_add(Session *ss, const LiveWrite *w, size_t n);
NODISCARD Status live_tx_commit(Session *ss, Error *err);
void live_tx_forget(Session *ss);
NODISCARD Status live_tx_may_read(const Session *ss, Error *err);
NODISCARD Status live_tx_may_change(const Session *ss, const char *what, Error *err);

/* live_show.c: SHOW of the live side; done 0: the lake's. */
NODISCARD Status live_show(Run *r, Rows *rows, LiveDone *ret, Error *err);

/* subscribe.c */
NODISCARD Status do_subscribe(Run *r, Rows *rows, Error *err);
/* *has 2: nothing is at hand. */
NODISCARD Status subscribe_next(Rows *rows, Arena *a, Value *cells, int *has, Error *err);
void subscribe_end(struct Subscribe *s);

/* At start: the views of the file are compiled and follow from then on. */
NODISCARD Status live_start_views(Service *s, Error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* live_sink.h - sinks of the live side: planned, altered, started.
 *
 * An Object of kind OBJ_SINK; what it does stands in create_sql, whose names follow renames.  detail is {"from": <id>, "connection": <id>, "aws": <id, 0: none>,
 * "rebuild": <version that asked for it, 0: none>}. */
#ifndef FIRN_LIVE_SINK_H
#define FIRN_LIVE_SINK_H

#include "service/live_sql.h"
#include "sink/sink.h"

extern const LiveHooks sink_hooks;                    /* OBJ_SINK's */
struct Sinks *live_sinks_new(Service *s);

/* live_sink_spec.c: the statement that makes it, read again; and the sink as its room takes it. */
NODISCARD Status sink_statement(Arena *a, const Object *o, Stmt **ret, Error *err);
NODISCARD Status sink_spec_of(Arena *a, const Object *sink, const LiveStmt *l, const Object *from, const Object *connection, SinkSpec *ret, Error *err);
/* Starts it as it is stored; one that runs is stopped first. */
NODISCARD Status sink_restart(Service *s, const Object *o, Error *err);
/* Around a change of a relation's columns: its sinks stand still, then go on with the columns that it has now. */
void sinks_hold(Service *s, int64_t relation);
void sinks_go(Service *s, int64_t relation);

/* live_keys.c: sets of columns that are surely unique, by name. */
typedef VEC(StrVec) LiveKeys;
void live_unique_keys(Run *r, const Object *o, LiveKeys *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* live_later.c - statements whose files are not there yet: whoever brings one takes its line from here. */
#include "service/live_sql.h"

#define LATER(function, what) \
    Status function(Run *r UNUSED, Rows *rows UNUSED, LiveDone *ret UNUSED, Error *err) { return FAIL(err, E_UNSUPPORTED, what " not yet supported"); }

LATER(live_create_sink, "CREATE SINK")
LATER(live_alter_sink, "ALTER SINK")
LATER(live_alter, "ALTER")
LATER(live_comment, "COMMENT")
LATER(live_create_database, "CREATE DATABASE")
LATER(live_create_schema, "CREATE SCHEMA")
LATER(live_create_cluster, "CREATE CLUSTER")
LATER(live_create_replica, "CREATE CLUSTER REPLICA")
LATER(live_alter_cluster, "ALTER CLUSTER")
LATER(live_create_role, "CREATE ROLE")
LATER(live_alter_role, "ALTER ROLE")
LATER(live_create_index, "CREATE INDEX")
LATER(live_create_type, "CREATE TYPE")
LATER(live_alter_system, "ALTER SYSTEM")
LATER(live_grant, "GRANT and REVOKE")
LATER(live_owned, "DROP OWNED and REASSIGN OWNED")

Status live_drop_place(Run *r UNUSED, LiveKind kind, LiveDone *ret UNUSED, Error *err) { return FAIL(err, E_UNSUPPORTED, "DROP %s not yet supported", live_kind_words(kind)); }
void live_pause_view(Service *s UNUSED, const Object *o UNUSED) {}
void live_resume_view(Service *s UNUSED, const Object *o UNUSED) {}

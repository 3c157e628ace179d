/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog_int.h - private to mzcatalog*.c: relations, what they are filled from, cells. */
#ifndef FIRN_MZCATALOG_INT_H
#define FIRN_MZCATALOG_INT_H

#include "service/live_connection.h"
#include "service/live_sql.h"
#include "service/mzcatalog.h"
#include "service/pgcatalog.h"

/* Columns are "name:letter name:letter! …"; `!`: never NULL.  s text, o oid, b boolean, i int4, l int8, u uint8, w uint4, n numeric, d float8, t timestamptz, v interval,
 * j jsonb, U uuid, B bytea, m mz_timestamp, S text list, A mz_aclitem array, L uint8 list. */
typedef struct MzFill MzFill;
typedef Status (*MzFiller)(MzFill *f);
typedef struct MzRelation {
    const char *schema, *name, *columns;
    MzFiller fill;                        /* NULL and no sql: always empty */
    const char *needs, *sql;              /* a view over others: "mz_objects mz_schemas", their text SELECT … FROM firn_mz_objects */
} MzRelation;
extern const MzRelation mz_relations[];
size_t mz_nrelations(void);
const MzRelation *mz_relation(Str schema, Str name);         /* schema empty: mz_catalog, or mz_internal for what is defined over it */
bool mz_next_column(Str *rest, Str *name, char *letter, bool *not_null);
DataType mz_letter_type(char letter);
const char *mz_letter_name(char letter);                     /* as mz_columns.type has it */
Str mz_system_id(Arena *a, size_t relation);                  /* s1000 … */
uint32_t mz_system_oid(size_t relation);

/* What the live side consists of, read once a statement. */
typedef struct MzWorld {
    RealmDatabases databases;
    RealmSchemas schemas;
    RealmClusters clusters;
    RealmRoles roles;
    ObjectVec objects;
    Map made;                             /* relations that the connection has */
    Map statements;                       /* number of an object: its parsed create_sql */
    Map frontiers;                        /* number of an object: its MzFrontier */
    Str environment;
} MzWorld;
MzWorld *mz_world(Run *r);
const RealmSchema *mz_schema_of(MzWorld *w, const Object *o);         /* NULL: none */
const RealmDatabase *mz_database_by_id(MzWorld *w, Str id);
const Object *mz_object_by_id(MzWorld *w, int64_t id);
const Object *mz_object_by_name(MzWorld *w, const StrVec *name);      /* three parts, as in create_sql */
Str mz_id(Arena *a, int64_t id);                                       /* "u12" */
Str mz_create_sql(MzFill *f, const Object *o, LiveTextHow how);
const Stmt *mz_statement(MzFill *f, const Object *o);                  /* its create_sql parsed; NULL: it has none */
Str mz_acl(Arena *a, const RealmGrant *g);                             /* "u2=r/u1" */
void mz_acls(Arena *a, Str owner, const char *all, const RealmGrants *g, StrVec *ret);
const char *mz_all_letters(ObjKind k);

void mz_object_head(MzFill *f, const Object *o);                       /* id, oid, schema_id, name */
void mz_object_acls(MzFill *f, const Object *o);
void mz_object_tail(MzFill *f, const Object *o);                       /* create_sql, redacted_create_sql, and the row's end */

struct MzFill { Run *r; Arena *a; MzWorld *w; DuckAppender *ap; Error *err; int64_t now_ms; };
/* Cells, in the order of the columns. */
void mz_str(MzFill *f, Str s);                               /* empty stays empty */
void mz_opt(MzFill *f, Str s);                               /* empty: NULL */
void mz_null(MzFill *f);
void mz_ident(MzFill *f, int64_t id);                        /* "u12"; 0: NULL */
void mz_bool(MzFill *f, int truth);
void mz_int(MzFill *f, int64_t v);
void mz_u64(MzFill *f, uint64_t v);
void mz_time(MzFill *f, int64_t ms);                         /* negative: NULL */
void mz_interval(MzFill *f, int64_t ms);                     /* negative: NULL */
void mz_json(MzFill *f, Str json);                           /* empty: NULL */
void mz_uuid(MzFill *f, Str text);
void mz_list(MzFill *f, const StrVec *v);                    /* NULL pointer: NULL */
void mz_real(MzFill *f, double v);
void mz_cents(MzFill *f, int64_t hundredths);                /* numeric */
void mz_end(MzFill *f);

/* How far an object is: all before `write` is there. */
typedef struct MzFrontier { int64_t write; int known, sealed, hydrated; } MzFrontier;
MzFrontier mz_frontier(Service *s, const Object *o);
int64_t mz_lag_last(struct MzLag *l, int64_t object);                    /* the frontier that was seen last; 0: none */

/* Fillers by file. mzcatalog_realm.c: */
Status mzf_databases(MzFill *f);
Status mzf_schemas(MzFill *f);
Status mzf_clusters(MzFill *f);
Status mzf_replicas(MzFill *f);
Status mzf_replica_sizes(MzFill *f);
Status mzf_roles(MzFill *f);
Status mzf_role_members(MzFill *f);
Status mzf_role_parameters(MzFill *f);
Status mzf_default_privileges(MzFill *f);
Status mzf_system_privileges(MzFill *f);
Status mzf_audit_events(MzFill *f);
Status mzf_comments(MzFill *f);
Status mzf_schedules(MzFill *f);
Status mzf_workloads(MzFill *f);
Status mzf_replica_statuses(MzFill *f);
Status mzf_show_privileges(MzFill *f);
/* mzcatalog_objects.c */
Status mzf_objects(MzFill *f);
Status mzf_columns(MzFill *f);
Status mzf_tables(MzFill *f);
Status mzf_views(MzFill *f);
Status mzf_mviews(MzFill *f);
Status mzf_replacements(MzFill *f);
Status mzf_secrets(MzFill *f);
Status mzf_connections(MzFill *f);
Status mzf_indexes(MzFill *f);
Status mzf_index_columns(MzFill *f);
Status mzf_dependencies(MzFill *f);
Status mzf_global_ids(MzFill *f);
Status mzf_refresh_strategies(MzFill *f);
Status mzf_refreshes(MzFill *f);
Status mzf_retention(MzFill *f);
/* mzcatalog_types.c */
Status mzf_types(MzFill *f);
Status mzf_list_types(MzFill *f);
Status mzf_map_types(MzFill *f);
/* mzcatalog_flow.c: what flows in and out */
Status mzf_sources(MzFill *f);
Status mzf_sinks(MzFill *f);
Status mzf_iceberg_sinks(MzFill *f);
Status mzf_kafka_sinks(MzFill *f);
Status mzf_kafka_sources(MzFill *f);
Status mzf_kafka_connections(MzFill *f);
Status mzf_aws_connections(MzFill *f);
Status mzf_postgres(MzFill *f);
Status mzf_webhooks(MzFill *f);
Status mzf_postgres_tables(MzFill *f);
Status mzf_kafka_tables(MzFill *f);
/* mzcatalog_state.c */
Status mzf_frontiers(MzFill *f);
Status mzf_replica_frontiers(MzFill *f);
Status mzf_materialization_lag(MzFill *f);
Status mzf_hydration(MzFill *f);
Status mzf_compute_hydration(MzFill *f);
Status mzf_sink_statuses(MzFill *f);
Status mzf_source_statuses(MzFill *f);
Status mzf_sink_history(MzFill *f);
Status mzf_source_history(MzFill *f);
Status mzf_sink_statistics(MzFill *f);
Status mzf_source_statistics(MzFill *f);
Status mzf_source_error_counts(MzFill *f);
Status mzf_source_errors(MzFill *f);
/* mzcatalog_lag.c */
Status mzf_lag(MzFill *f);
Status mzf_lag_history(MzFill *f);
Status mzf_lag_recent(MzFill *f);
Status mzf_lag_replicas(MzFill *f);
Status mzf_lag_histogram(MzFill *f);
void mz_audit_bind(Arena *a, BoundTable *t);                 /* mzcatalog_audit.c: the relation that a definition reads */
/* mzcatalog_sessions.c */
Status mzf_sessions(MzFill *f);
Status mzf_session_history(MzFill *f);
Status mzf_subscriptions(MzFill *f);

#endif

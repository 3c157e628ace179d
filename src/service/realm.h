/* SPDX-License-Identifier: Apache-2.0 */
/* realm.h - what objects of the live side live in and belong to: databases, schemas, clusters with their replicas, roles, privileges.
 *
 * Durable as documents of the catalog (kind "live.realm"), held in memory.  Ids are texts: u<N> and s<N>, PUBLIC is "p".  At first start there are database
 * materialize (u1), schema public (u3), the system schemas, cluster quickstart (u1, size 25cc, one replica r1), system clusters, roles mz_system (s1) and
 * materialize (u1).  A role is the SQL name of who signs in: the account root is materialize, a superuser; an IAM user or role that signs in by its key gets the role of its
 * name (made at first use).
 * Privileges are Materialize's letters: a INSERT, r SELECT, w UPDATE, d DELETE, U USAGE, C CREATE, R CREATEROLE, B CREATEDB, N CREATECLUSTER, P CREATENETWORKPOLICY.
 * Any thread may call; results live in the arena. (Materialize's manual: access control, clusters; spec/materialize.md 1.7, 1.11a.) */
#ifndef FIRN_REALM_H
#define FIRN_REALM_H

#include "service/objects.h"

#define REALM_SUPERUSER "u1"
#define REALM_SYSTEM_ROLE "s1"
#define REALM_PUBLIC "p"

typedef ObjGrant RealmGrant;                                                        /* role ids */
typedef ObjGrants RealmGrants;

typedef struct RealmDatabase { Str id, name, owner; RealmGrants grants; Str comment; } RealmDatabase;
typedef struct RealmSchema { Str id, database, name, owner; RealmGrants grants; Str comment; } RealmSchema;    /* database: its id; "" system schemas */
typedef struct RealmReplica { Str id, name, size, owner, zone, comment; } RealmReplica;
typedef VEC(RealmReplica) RealmReplicas;
typedef struct RealmCluster {
    Str id, name, owner, size, schedule, workload, comment;                         /* schedule: "manual", "on-refresh" */
    int managed, introspection_debugging;
    int64_t replication_factor, introspection_ms;
    int64_t hydration_ms;                                                           /* "on-refresh": it begins to run so long before a refresh */
    StrVec zones;
    RealmReplicas replicas;
    RealmGrants grants;
} RealmCluster;
typedef struct RealmMember { Str role, grantor; } RealmMember;
typedef struct RealmRole {
    Str id, name, comment;
    Str principal;                                                                  /* ARN of who signs in as it; empty: nobody has yet */
    int inherit, login, superuser, system;
    Props settings;
    VEC(RealmMember) member_of;
} RealmRole;
typedef struct RealmDefault { Str role, database, schema, kind, grantee, letters; } RealmDefault;    /* default privileges; role "p": of all; kind as obj_kind_name, or "database", "schema", "cluster" */

typedef struct Realm Realm;
NODISCARD Status realm_open(Catalog *c, Realm **ret, Error *err);
void realm_close(Realm *r);
NODISCARD Status realm_reset(Realm *r, Error *err);

/* Statements that change names run one after another: what they looked up stays so until they are done.  May be nested in one thread. */
void realm_ddl_begin(Realm *r);
void realm_ddl_end(Realm *r);

typedef VEC(RealmDatabase) RealmDatabases;
typedef VEC(RealmSchema) RealmSchemas;
typedef VEC(RealmCluster) RealmClusters;
typedef VEC(RealmRole) RealmRoles;
typedef VEC(RealmDefault) RealmDefaults;
void realm_databases(Realm *r, Arena *a, RealmDatabases *ret);
void realm_schemas(Realm *r, Arena *a, RealmSchemas *ret);
void realm_clusters(Realm *r, Arena *a, RealmClusters *ret);
void realm_roles(Realm *r, Arena *a, RealmRoles *ret);
void realm_defaults(Realm *r, Arena *a, RealmDefaults *ret);
NODISCARD Status realm_database(Realm *r, Arena *a, Str name, RealmDatabase *ret, Error *err);            /* E_NOT_FOUND in Materialize's words */
NODISCARD Status realm_schema(Realm *r, Arena *a, Str database, Str name, RealmSchema *ret, Error *err);  /* database: its name; system schemas are in each */
NODISCARD Status realm_cluster(Realm *r, Arena *a, Str name, RealmCluster *ret, Error *err);
NODISCARD Status realm_cluster_by_id(Realm *r, Arena *a, Str id, RealmCluster *ret, Error *err);
NODISCARD Status realm_role(Realm *r, Arena *a, Str name, RealmRole *ret, Error *err);
NODISCARD Status realm_role_by_id(Realm *r, Arena *a, Str id, RealmRole *ret, Error *err);
bool realm_cluster_scheduled(Realm *r, Str id);                                                          /* SCHEDULE = ON REFRESH */
bool realm_has_database(Realm *r, Str name);
bool realm_has_schema(Realm *r, Str database, Str name);
Str realm_role_name(Realm *r, Arena *a, Str id);                                                         /* "" when there is none; PUBLIC */
Str realm_cluster_name(Realm *r, Arena *a, Str id);

/* New ones get an id when theirs is empty, replicas of clusters too; known ids are changed.  E_EXISTS by name. */
NODISCARD Status realm_put_database(Realm *r, RealmDatabase *d, Error *err);
NODISCARD Status realm_put_schema(Realm *r, RealmSchema *s, Error *err);
NODISCARD Status realm_put_cluster(Realm *r, RealmCluster *c, Error *err);
NODISCARD Status realm_put_role(Realm *r, RealmRole *role, Error *err);
NODISCARD Status realm_put_default(Realm *r, const RealmDefault *d, Error *err);                          /* letters "": gone */
NODISCARD Status realm_swap(Realm *r, Str id_kind, Str x, Str y, Error *err);                             /* names of two clusters, or of two schemas, change places */
NODISCARD Status realm_delete(Realm *r, Str id_kind, Str id, Error *err);                                 /* id_kind: "database", "schema", "cluster", "role" */
void realm_system_grants(Realm *r, Arena *a, RealmGrants *ret);
NODISCARD Status realm_put_system_grants(Realm *r, const RealmGrants *g, Error *err);
void realm_settings(Realm *r, Arena *a, Props *ret);                                                      /* ALTER SYSTEM SET */
NODISCARD Status realm_put_setting(Realm *r, Str key, Str value, Error *err);                             /* value.p NULL: gone */

/* A copy whose changes stay in it (realm_draft.c): to try what they would do.  Closed like any other.  What it would have stored is stored by the caller and then adopted:
 * names of databases, schemas and clusters. */
typedef VEC(CatChange) RealmChanges;
Realm *realm_draft(Realm *of);
const RealmChanges *realm_draft_changes(const Realm *draft);
void realm_adopt(Realm *r, const RealmChanges *stored);
int64_t realm_revision(Realm *r);                                                                         /* another one after each change, but those of roles */

/* Has a cluster a replica now? Without one its objects make no progress.  An id that is not known, the empty one too: yes. */
bool realm_cluster_runs(Realm *r, Str id);
/* Does `role` (id) hold the privilege, by itself, by a role that it is a member of, or as PUBLIC? Superusers and owners do. */
bool realm_holds(Realm *r, Str role, Str owner, const RealmGrants *grants, char letter);
bool realm_is_superuser(Realm *r, Str role);
/* May the role use a cluster of this name, and does it run? Without copies: asked by every read. */
typedef enum { CLUSTER_USABLE, CLUSTER_UNKNOWN, CLUSTER_DENIED, CLUSTER_PAUSED } RealmUse;
RealmUse realm_may_use(Realm *r, Str cluster, Str role);
bool realm_is_member(Realm *r, Str role, Str of);                                                        /* of itself too */
/* The role of who signs in, made when there is none.  The SQL names of an IAM user and of an IAM role never fall together. */
NODISCARD Status realm_role_of_principal(Realm *r, Arena *a, Str arn, Str name, Str prefix, RealmRole *ret, Error *err);

/* ---- the audit log (realm_audit.c): what mz_audit_events shows -------------------------------------------------------------------------- */

typedef struct RealmEvent { int64_t id; Str event, type; Json *details; Str user; int64_t at_ms; } RealmEvent;     /* event: create, drop, alter, grant, revoke, comment; user: a role's name */
typedef VEC(RealmEvent) RealmEvents;
NODISCARD Status realm_audit(Realm *r, const RealmEvent *e, Error *err);                                  /* its id is given here */
NODISCARD Status realm_events_after(Realm *r, Arena *a, int64_t after, RealmEvents *ret, Error *err);     /* those with a greater id */
NODISCARD Status realm_events(Realm *r, Arena *a, RealmEvents *ret, Error *err);                          /* oldest first; the newest 100,000 are kept */

/* Grants: letters are added or taken away; an entry without letters goes. */
void realm_grant(Arena *a, RealmGrants *g, Str grantee, Str grantor, Str letters);
void realm_revoke(Arena *a, RealmGrants *g, Str grantee, Str letters);
Str realm_grant_text(Realm *r, Arena *a, const RealmGrant *g);                                            /* "joe=ar/materialize": mz_aclitem by names of roles */
const char *realm_privilege_word(char letter);                                                            /* "SELECT" */
char realm_privilege_letter(Str word);                                                                    /* 0: none */

#endif

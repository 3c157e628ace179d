/* SPDX-License-Identifier: Apache-2.0 */
/* realm.h - what objects of the live side live in and belong to: databases, schemas, clusters with their replicas, roles, privileges.
 *
 * Durable as documents of the catalog (kind "live.realm"), held in memory.  Ids are texts: u<N> and s<N>, PUBLIC is "p".  At first start there are database
 * materialize (u1), schema public (u3 …), cluster quickstart (u1, size 25cc, one replica r1), system clusters, role mz_system (s1) and materialize (u1).
 * A role is the SQL name of who signs in: the account root is superuser; an IAM user or role that signs in by its key gets the role of its name (made at first use).
 * Privileges are Materialize's letters: a INSERT, r SELECT, w UPDATE, d DELETE, U USAGE, C CREATE, R CREATEROLE, B CREATEDB, N CREATECLUSTER, P CREATENETWORKPOLICY.
 * Any thread may call; results live in the arena. (Materialize's manual: access control, clusters; spec/materialize.md 1.7, 1.11a.) */
#ifndef FIRN_REALM_H
#define FIRN_REALM_H

#include "service/objects.h"

typedef struct RealmGrant { Str grantee, grantor, letters; } RealmGrant;              /* role ids */
typedef VEC(RealmGrant) RealmGrants;

typedef struct RealmDatabase { Str id, name, owner; RealmGrants grants; Str comment; } RealmDatabase;
typedef struct RealmSchema { Str id, database, name, owner; RealmGrants grants; Str comment; } RealmSchema;    /* database: its id; "" system schemas */
typedef struct RealmReplica { Str id, name, size, owner, zone; } RealmReplica;
typedef struct RealmCluster {
    Str id, name, owner, size, schedule, workload, comment;
    int managed, introspection_debugging;
    int64_t replication_factor, introspection_ms;
    VEC(RealmReplica) replicas;
    RealmGrants grants;
} RealmCluster;
typedef struct RealmRole { Str id, name, comment; int inherit, login, superuser, system; Props settings; VEC(Str) member_of; } RealmRole;
typedef struct RealmDefault { Str role, database, schema, kind, grantee, letters; } RealmDefault;    /* default privileges; role "p": of all */

typedef struct Realm Realm;
NODISCARD Status realm_open(Catalog *c, Realm **ret, Error *err);
void realm_close(Realm *r);
NODISCARD Status realm_reset(Realm *r, Error *err);

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
NODISCARD Status realm_schema(Realm *r, Arena *a, Str database, Str name, RealmSchema *ret, Error *err);
NODISCARD Status realm_cluster(Realm *r, Arena *a, Str name, RealmCluster *ret, Error *err);
NODISCARD Status realm_role(Realm *r, Arena *a, Str name, RealmRole *ret, Error *err);
/* New ones get an id when theirs is empty; known ids are changed. */
NODISCARD Status realm_put_database(Realm *r, RealmDatabase *d, Error *err);
NODISCARD Status realm_put_schema(Realm *r, RealmSchema *s, Error *err);
NODISCARD Status realm_put_cluster(Realm *r, RealmCluster *c, Error *err);
NODISCARD Status realm_put_role(Realm *r, RealmRole *role, Error *err);
NODISCARD Status realm_put_default(Realm *r, const RealmDefault *d, Error *err);                          /* letters "": gone */
NODISCARD Status realm_delete(Realm *r, Str id_kind, Str id, Error *err);                                 /* id_kind: "database", "schema", "cluster", "role" */
/* Has a cluster a replica now? Without one its objects make no progress. */
bool realm_cluster_runs(Realm *r, Str id);
/* Does `role` (id) hold the privilege, by itself, by a role that it is a member of, or as PUBLIC? Superusers and owners do. */
bool realm_holds(Realm *r, Str role, Str owner, const RealmGrants *grants, char letter);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* realm_int.h - shared by the files of the realm: what is held in memory, and its documents. */
#ifndef FIRN_REALM_INT_H
#define FIRN_REALM_INT_H

#include "service/realm.h"

#define REALM_KIND "live.realm"

typedef enum { RC_DATABASE, RC_SCHEMA, RC_CLUSTER, RC_ROLE, RC_REPLICA, RC_CLASSES } RealmClass;

struct Realm {
    Catalog *catalog;
    pthread_mutex_t lock;              /* of what follows */
    pthread_mutex_t ddl;               /* recursive */
    Arena *a;                          /* of the entries; forgotten ones stay until reset: names are few */
    RealmDatabases databases;
    RealmSchemas schemas;
    RealmClusters clusters;
    RealmRoles roles;
    RealmDefaults defaults;
    RealmGrants system;
    Props settings;
    int64_t next[RC_CLASSES];
    int64_t next_event;
    int64_t revision;                  /* one more with each change but those of roles */
    RealmChanges changes;              /* a draft: what would have been stored */
};

Realm *realm_new(Catalog *c);          /* empty; NULL: a draft */
/* realm.c: with the lock held. */
extern const char *const realm_class_names[RC_CLASSES];
RealmDatabase *realm_database_named(Realm *r, Str name);                 /* NULL: none */
RealmDatabase *realm_database_of_id(Realm *r, Str id);
RealmSchema *realm_schema_of_id(Realm *r, Str id);
RealmSchema *realm_schema_in(Realm *r, Str database_id, Str name);
RealmCluster *realm_cluster_named(Realm *r, Str name);
RealmCluster *realm_cluster_of_id(Realm *r, Str id);
RealmRole *realm_role_named(Realm *r, Str name);
RealmRole *realm_role_of_id(Realm *r, Str id);
RealmRole *realm_role_of_arn(Realm *r, Str arn);
CatChange realm_doc(Arena *a, RealmClass class, Str id, Json *value);
CatChange realm_single(const char *key, Json *value);
Json *realm_next_json(Arena *a, const Realm *r);
NODISCARD Status realm_coded(Error *err, Status s, const char *sqlstate);
NODISCARD Status realm_unknown(Error *err, RealmClass class, Str name);

/* realm_doc.c */
Json *realm_database_json(Arena *a, const RealmDatabase *d);
Json *realm_schema_json(Arena *a, const RealmSchema *s);
Json *realm_cluster_json(Arena *a, const RealmCluster *c);
Json *realm_role_json(Arena *a, const RealmRole *r);
Json *realm_defaults_json(Arena *a, const RealmDefaults *d);
Json *realm_grants_json(Arena *a, const RealmGrants *g);
Json *realm_props_json(Arena *a, const Props *p);
RealmDatabase realm_database_of(Arena *a, const Json *j);
RealmSchema realm_schema_of(Arena *a, const Json *j);
RealmCluster realm_cluster_of(Arena *a, const Json *j);
RealmRole realm_role_of(Arena *a, const Json *j);
void realm_defaults_of(Arena *a, const Json *j, RealmDefaults *ret);
void realm_grants_of(Arena *a, const Json *j, RealmGrants *ret);
void realm_props_of(Arena *a, const Json *j, Props *ret);

/* realm_draft.c */
NODISCARD Status realm_commit(Realm *r, CatChange *ch, size_t n, Error *err);        /* with the lock held */

/* realm_audit.c */
NODISCARD Status realm_events_open(Realm *r, Error *err);

/* realm_first.c: what is there at first start, in memory; the caller stores it. */
void realm_first(Realm *r);

#endif

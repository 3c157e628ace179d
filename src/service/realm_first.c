/* SPDX-License-Identifier: Apache-2.0 */
/* realm_first.c - what a new data folder has: the database, schemas, clusters and roles that Materialize's clients expect. */
#include "service/realm_int.h"

static RealmGrant grant(const char *grantee, const char *grantor, const char *letters) { return (RealmGrant){ str_c(grantee), str_c(grantor), str_c(letters) }; }

static void add_role(Realm *r, const char *id, const char *name, int superuser, int system)
{
    RealmRole role = { .id = str_c(id), .name = str_c(name), .inherit = 1, .login = 1, .superuser = superuser, .system = system };
    vec_push(r->a, &r->roles, role);
}

static void add_schema(Realm *r, const char *id, const char *database, const char *name)
{
    RealmSchema s = { .id = str_c(id), .database = str_c(database), .name = str_c(name), .owner = S(REALM_SYSTEM_ROLE) };

    vec_push(r->a, &s.grants, grant(REALM_SYSTEM_ROLE, REALM_SYSTEM_ROLE, "UC"));
    vec_push(r->a, &s.grants, grant(REALM_PUBLIC, REALM_SYSTEM_ROLE, "U"));
    if (*database)
        vec_push(r->a, &s.grants, grant(REALM_SUPERUSER, REALM_SYSTEM_ROLE, "UC"));
    vec_push(r->a, &r->schemas, s);
}

static void add_cluster(Realm *r, const char *id, const char *replica, const char *name)
{
    RealmCluster c = { .id = str_c(id), .name = str_c(name), .owner = S(REALM_SYSTEM_ROLE), .size = S("25cc"), .schedule = S("manual"), .managed = 1, .replication_factor = 1, .introspection_ms = 1000 };
    RealmReplica one = { .id = str_c(replica), .name = S("r1"), .size = c.size, .owner = c.owner };

    vec_push(r->a, &c.replicas, one);
    vec_push(r->a, &c.grants, grant(REALM_SYSTEM_ROLE, REALM_SYSTEM_ROLE, "UC"));
    if (id[0] == 'u') {
        vec_push(r->a, &c.grants, grant(REALM_PUBLIC, REALM_SYSTEM_ROLE, "U"));
        vec_push(r->a, &c.grants, grant(REALM_SUPERUSER, REALM_SYSTEM_ROLE, "UC"));
    }
    vec_push(r->a, &r->clusters, c);
}

static void add_database(Realm *r)
{
    RealmDatabase d = { .id = S("u1"), .name = S("materialize"), .owner = S(REALM_SYSTEM_ROLE) };

    vec_push(r->a, &d.grants, grant(REALM_SYSTEM_ROLE, REALM_SYSTEM_ROLE, "UC"));
    vec_push(r->a, &d.grants, grant(REALM_PUBLIC, REALM_SYSTEM_ROLE, "U"));
    vec_push(r->a, &d.grants, grant(REALM_SUPERUSER, REALM_SYSTEM_ROLE, "UC"));
    vec_push(r->a, &r->databases, d);
}

void realm_first(Realm *r)
{
    static const char *const system_schemas[][2] = {
        { "s1", "mz_catalog" }, { "s2", "pg_catalog" }, { "s3", "mz_internal" }, { "s4", "information_schema" }, { "s5", "mz_unsafe" }, { "s6", "mz_introspection" },
    };
    static const char *const system_clusters[][3] = { { "s1", "s1", "mz_system" }, { "s2", "s2", "mz_catalog_server" }, { "s3", "s3", "mz_probe" }, { "s4", "s4", "mz_support" } };
    RealmDefault types = { .role = S(REALM_PUBLIC), .kind = S("type"), .grantee = S(REALM_PUBLIC), .letters = S("U") };

    add_role(r, REALM_SYSTEM_ROLE, "mz_system", 1, 1);
    add_role(r, "s2", "mz_support", 0, 1);
    add_role(r, REALM_SUPERUSER, "materialize", 1, 0);
    add_database(r);
    add_schema(r, "u3", "u1", "public");
    for (size_t i = 0; i < COUNT_OF(system_schemas); i++)
        add_schema(r, system_schemas[i][0], "", system_schemas[i][1]);
    add_cluster(r, "u1", "u1", "quickstart");
    for (size_t i = 0; i < COUNT_OF(system_clusters); i++)
        add_cluster(r, system_clusters[i][0], system_clusters[i][1], system_clusters[i][2]);
    vec_push(r->a, &r->defaults, types);
    vec_push(r->a, &r->system, grant(REALM_SYSTEM_ROLE, REALM_SYSTEM_ROLE, "RBNP"));
    vec_push(r->a, &r->system, grant(REALM_SUPERUSER, REALM_SYSTEM_ROLE, "RBNP"));
    for (int i = 0; i < RC_CLASSES; i++)
        r->next[i] = 2;
    r->next[RC_SCHEMA] = 4;
}

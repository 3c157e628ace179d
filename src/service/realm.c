/* SPDX-License-Identifier: Apache-2.0 */
/* realm.c - the realm in memory: read from its documents, asked for (realm_change.c changes it).
 *
 * Invariants: (1) memory changes after the catalog has; (2) entries are never changed in place by readers: they get copies. */
#include "service/realm_int.h"

#include <stdlib.h>

const char *const realm_class_names[RC_CLASSES] = { "database", "schema", "cluster", "role", "replica" };

/* ---- messages ---------------------------------------------------------------------------------------------------------- */

Status realm_coded(Error *err, Status s, const char *sqlstate)
{
    memcpy(err->sqlstate, sqlstate, 6);
    return s;
}

Status realm_unknown(Error *err, RealmClass class, Str name)
{
    static const char *const codes[RC_CLASSES] = { "3D000", "3F000", "42704", "42704", "42704" };
    RAISE(err, E_NOT_FOUND, "unknown %s '" STR_FMT "'", realm_class_names[class], STR_ARG(name));
    return realm_coded(err, E_NOT_FOUND, codes[class]);
}

/* ---- finding: the lock is held -------------------------------------------------------------------------------------------- */

#define FIND_BY(function, kind, list, field) \
    Realm##kind *function(Realm *r, Str v) \
    { \
        for (size_t i = 0; i < r->list.n; i++) \
            if (str_eq(r->list.p[i].field, v)) \
                return &r->list.p[i]; \
        return NULL; \
    }
FIND_BY(realm_database_named, Database, databases, name)
FIND_BY(realm_database_of_id, Database, databases, id)
FIND_BY(realm_schema_of_id, Schema, schemas, id)
FIND_BY(realm_cluster_named, Cluster, clusters, name)
FIND_BY(realm_cluster_of_id, Cluster, clusters, id)
FIND_BY(realm_role_named, Role, roles, name)
FIND_BY(realm_role_of_id, Role, roles, id)
FIND_BY(realm_role_of_arn, Role, roles, principal)

RealmSchema *realm_schema_in(Realm *r, Str database_id, Str name)
{
    for (size_t i = 0; i < r->schemas.n; i++)
        if (str_eq(r->schemas.p[i].name, name) && (!r->schemas.p[i].database.n || str_eq(r->schemas.p[i].database, database_id)))
            return &r->schemas.p[i];
    return NULL;
}

static RealmSchema *find_schema(Realm *r, Str database, Str name)
{
    const RealmDatabase *d = realm_database_named(r, database);
    return d ? realm_schema_in(r, d->id, name) : NULL;
}

/* ---- reading ------------------------------------------------------------------------------------------------------------------ */

#define LIST(kind, list, json, of) \
    void realm_##list(Realm *r, Arena *a, Realm##kind##s *ret) \
    { \
        pthread_mutex_lock(&r->lock); \
        for (size_t i = 0; i < r->list.n; i++) { \
            Realm##kind e = of(a, json(a, &r->list.p[i])); \
            vec_push(a, ret, e); \
        } \
        pthread_mutex_unlock(&r->lock); \
    }
LIST(Database, databases, realm_database_json, realm_database_of)
LIST(Schema, schemas, realm_schema_json, realm_schema_of)
LIST(Cluster, clusters, realm_cluster_json, realm_cluster_of)
LIST(Role, roles, realm_role_json, realm_role_of)

void realm_defaults(Realm *r, Arena *a, RealmDefaults *ret)
{
    pthread_mutex_lock(&r->lock);
    realm_defaults_of(a, realm_defaults_json(a, &r->defaults), ret);
    pthread_mutex_unlock(&r->lock);
}

void realm_system_grants(Realm *r, Arena *a, RealmGrants *ret)
{
    pthread_mutex_lock(&r->lock);
    realm_grants_of(a, realm_grants_json(a, &r->system), ret);
    pthread_mutex_unlock(&r->lock);
}

void realm_settings(Realm *r, Arena *a, Props *ret)
{
    pthread_mutex_lock(&r->lock);
    realm_props_of(a, realm_props_json(a, &r->settings), ret);
    pthread_mutex_unlock(&r->lock);
}

#define ONE(function, kind, find, json, of, class) \
    Status function(Realm *r, Arena *a, Str v, Realm##kind *ret, Error *err) \
    { \
        pthread_mutex_lock(&r->lock); \
        const Realm##kind *e = find(r, v); \
        if (e) \
            *ret = of(a, json(a, e)); \
        pthread_mutex_unlock(&r->lock); \
        return e ? OK : realm_unknown(err, class, v); \
    }
ONE(realm_database, Database, realm_database_named, realm_database_json, realm_database_of, RC_DATABASE)
ONE(realm_cluster, Cluster, realm_cluster_named, realm_cluster_json, realm_cluster_of, RC_CLUSTER)
ONE(realm_cluster_by_id, Cluster, realm_cluster_of_id, realm_cluster_json, realm_cluster_of, RC_CLUSTER)
ONE(realm_role, Role, realm_role_named, realm_role_json, realm_role_of, RC_ROLE)
ONE(realm_role_by_id, Role, realm_role_of_id, realm_role_json, realm_role_of, RC_ROLE)

Status realm_schema(Realm *r, Arena *a, Str database, Str name, RealmSchema *ret, Error *err)
{
    pthread_mutex_lock(&r->lock);
    bool known = realm_database_named(r, database) != NULL;
    const RealmSchema *e = find_schema(r, database, name);
    if (e)
        *ret = realm_schema_of(a, realm_schema_json(a, e));
    pthread_mutex_unlock(&r->lock);
    if (e)
        return OK;
    return known ? realm_unknown(err, RC_SCHEMA, name) : realm_unknown(err, RC_DATABASE, database);
}

bool realm_has_database(Realm *r, Str name)
{
    pthread_mutex_lock(&r->lock);
    bool has = realm_database_named(r, name) != NULL;
    pthread_mutex_unlock(&r->lock);
    return has;
}

bool realm_has_schema(Realm *r, Str database, Str name)
{
    pthread_mutex_lock(&r->lock);
    bool has = find_schema(r, database, name) != NULL;
    pthread_mutex_unlock(&r->lock);
    return has;
}

Str realm_role_name(Realm *r, Arena *a, Str id)
{
    if (str_eq(id, S(REALM_PUBLIC)))
        return S("PUBLIC");
    pthread_mutex_lock(&r->lock);
    const RealmRole *e = realm_role_of_id(r, id);
    Str name = e ? str_dup(a, e->name) : (Str){0};
    pthread_mutex_unlock(&r->lock);
    return name;
}

Str realm_cluster_name(Realm *r, Arena *a, Str id)
{
    pthread_mutex_lock(&r->lock);
    const RealmCluster *e = realm_cluster_of_id(r, id);
    Str name = e ? str_dup(a, e->name) : (Str){0};
    pthread_mutex_unlock(&r->lock);
    return name;
}

bool realm_cluster_runs(Realm *r, Str id)
{
    pthread_mutex_lock(&r->lock);
    const RealmCluster *c = realm_cluster_of_id(r, id);
    bool runs = !c || c->replicas.n > 0;
    pthread_mutex_unlock(&r->lock);
    return runs;
}

bool realm_cluster_scheduled(Realm *r, Str id)
{
    pthread_mutex_lock(&r->lock);
    const RealmCluster *c = realm_cluster_of_id(r, id);
    bool scheduled = c && str_eq(c->schedule, S("on-refresh"));
    pthread_mutex_unlock(&r->lock);
    return scheduled;
}

/* ---- documents ------------------------------------------------------------------------------------------------------------------- */

CatChange realm_doc(Arena *a, RealmClass class, Str id, Json *value)
{
    return (CatChange){ .kind = CH_DOC, .doc_kind = S(REALM_KIND), .doc_key = str_fmt(a, "%s/" STR_FMT, realm_class_names[class], STR_ARG(id)), .doc = value };
}

CatChange realm_single(const char *key, Json *value) { return (CatChange){ .kind = CH_DOC, .doc_kind = S(REALM_KIND), .doc_key = str_c(key), .doc = value }; }

Json *realm_next_json(Arena *a, const Realm *r)
{
    Json *j = json_object(a);
    for (int i = 0; i < RC_CLASSES; i++)
        json_set(a, j, realm_class_names[i], json_int(a, r->next[i]));
    return j;
}

typedef VEC(CatChange) Changes;

static void all_docs(Arena *a, const Realm *r, Changes *ch)
{
    for (size_t i = 0; i < r->databases.n; i++)
        vec_push(a, ch, realm_doc(a, RC_DATABASE, r->databases.p[i].id, realm_database_json(a, &r->databases.p[i])));
    for (size_t i = 0; i < r->schemas.n; i++)
        vec_push(a, ch, realm_doc(a, RC_SCHEMA, r->schemas.p[i].id, realm_schema_json(a, &r->schemas.p[i])));
    for (size_t i = 0; i < r->clusters.n; i++)
        vec_push(a, ch, realm_doc(a, RC_CLUSTER, r->clusters.p[i].id, realm_cluster_json(a, &r->clusters.p[i])));
    for (size_t i = 0; i < r->roles.n; i++)
        vec_push(a, ch, realm_doc(a, RC_ROLE, r->roles.p[i].id, realm_role_json(a, &r->roles.p[i])));
    vec_push(a, ch, realm_single("defaults", realm_defaults_json(a, &r->defaults)));
    vec_push(a, ch, realm_single("system", realm_grants_json(a, &r->system)));
    vec_push(a, ch, realm_single("next", realm_next_json(a, r)));
}

static void read_next(Realm *r, const Json *j)
{
    for (int i = 0; i < RC_CLASSES; i++)
        r->next[i] = max_i64(r->next[i], json_get_int(j, realm_class_names[i], 1));
}

static void read_one(Realm *r, const CatDoc *d)
{
    Arena *a = r->a;

    if (str_starts(d->key, S("database/")))
        vec_push(a, &r->databases, realm_database_of(a, d->value));
    else if (str_starts(d->key, S("schema/")))
        vec_push(a, &r->schemas, realm_schema_of(a, d->value));
    else if (str_starts(d->key, S("cluster/")))
        vec_push(a, &r->clusters, realm_cluster_of(a, d->value));
    else if (str_starts(d->key, S("role/")))
        vec_push(a, &r->roles, realm_role_of(a, d->value));
    else if (str_eq(d->key, S("defaults")))
        realm_defaults_of(a, d->value, &r->defaults);
    else if (str_eq(d->key, S("system")))
        realm_grants_of(a, d->value, &r->system);
    else if (str_eq(d->key, S("settings")))
        realm_props_of(a, d->value, &r->settings);
    else if (str_eq(d->key, S("next")))
        read_next(r, d->value);
}

static Status begin(Realm *r, Arena *a, Error *err)
{
    Changes ch = {0};

    realm_first(r);
    all_docs(a, r, &ch);
    return cat_commit(r->catalog, ch.p, ch.n, err);
}

static Status read_all(Realm *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatDocs docs = {0};

    TRY(realm_events_open(r, err));
    TRY(cat_doc_list(r->catalog, a, S(REALM_KIND), (Str){0}, &docs, err));
    if (!docs.n)
        return begin(r, a, err);
    for (size_t i = 0; i < docs.n; i++)
        read_one(r, &docs.p[i]);
    return OK;
}

/* ---- life -------------------------------------------------------------------------------------------------------------------------- */

Realm *realm_new(Catalog *c)
{
    Realm *r = calloc(1, sizeof *r);
    pthread_mutexattr_t nested;

    if (!r)
        abort();
    r->catalog = c;
    r->a = arena_create();
    pthread_mutex_init(&r->lock, NULL);
    pthread_mutexattr_init(&nested);
    pthread_mutexattr_settype(&nested, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&r->ddl, &nested);
    pthread_mutexattr_destroy(&nested);
    return r;
}

Status realm_open(Catalog *c, Realm **ret, Error *err)
{
    Realm *r = realm_new(c);
    Status s = read_all(r, err);

    if (s != OK) {
        realm_close(r);
        return s;
    }
    *ret = r;
    return OK;
}

void realm_close(Realm *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    pthread_mutex_destroy(&r->ddl);
    arena_destroy(r->a);
    free(r);
}

Status realm_reset(Realm *r, Error *err)
{
    pthread_mutex_lock(&r->lock);
    arena_destroy(r->a);
    r->a = arena_create();
    memset(&r->databases, 0, sizeof r->databases);
    memset(&r->schemas, 0, sizeof r->schemas);
    memset(&r->clusters, 0, sizeof r->clusters);
    memset(&r->roles, 0, sizeof r->roles);
    memset(&r->defaults, 0, sizeof r->defaults);
    memset(&r->system, 0, sizeof r->system);
    memset(&r->settings, 0, sizeof r->settings);
    Status s = read_all(r, err);
    pthread_mutex_unlock(&r->lock);
    return s;
}

void realm_ddl_begin(Realm *r) { pthread_mutex_lock(&r->ddl); }
void realm_ddl_end(Realm *r) { pthread_mutex_unlock(&r->ddl); }

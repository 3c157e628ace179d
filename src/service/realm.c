/* SPDX-License-Identifier: Apache-2.0 */
/* realm.c - the realm in memory, and how it changes.
 *
 * Invariants: (1) memory changes after the catalog has; (2) entries are never changed in place by readers: they get copies. */
#include "service/realm_int.h"

#include <stdlib.h>

static const char *const CLASS_NAMES[RC_CLASSES] = { "database", "schema", "cluster", "role", "replica" };

/* ---- messages ---------------------------------------------------------------------------------------------------------- */

static Status coded(Error *err, Status s, const char *sqlstate)
{
    memcpy(err->sqlstate, sqlstate, 6);
    return s;
}

static Status unknown(Error *err, RealmClass class, Str name)
{
    static const char *const codes[RC_CLASSES] = { "3D000", "3F000", "42704", "42704", "42704" };
    RAISE(err, E_NOT_FOUND, "unknown %s '" STR_FMT "'", CLASS_NAMES[class], STR_ARG(name));
    return coded(err, E_NOT_FOUND, codes[class]);
}

static Status taken(Error *err, RealmClass class, Str name)
{
    static const char *const codes[RC_CLASSES] = { "42P04", "42P06", "42710", "42710", "42710" };
    RAISE(err, E_EXISTS, "%s '" STR_FMT "' already exists", CLASS_NAMES[class], STR_ARG(name));
    return coded(err, E_EXISTS, codes[class]);
}

/* ---- finding: the lock is held -------------------------------------------------------------------------------------------- */

#define FIND_BY(kind, list, field) \
    static Realm##kind *find_##list##_by_##field(Realm *r, Str v) \
    { \
        for (size_t i = 0; i < r->list.n; i++) \
            if (str_eq(r->list.p[i].field, v)) \
                return &r->list.p[i]; \
        return NULL; \
    }
FIND_BY(Database, databases, name)
FIND_BY(Database, databases, id)
FIND_BY(Schema, schemas, id)
FIND_BY(Cluster, clusters, name)
FIND_BY(Cluster, clusters, id)
FIND_BY(Role, roles, name)
FIND_BY(Role, roles, id)
FIND_BY(Role, roles, principal)

static RealmSchema *schema_in(Realm *r, Str database_id, Str name)
{
    for (size_t i = 0; i < r->schemas.n; i++)
        if (str_eq(r->schemas.p[i].name, name) && (!r->schemas.p[i].database.n || str_eq(r->schemas.p[i].database, database_id)))
            return &r->schemas.p[i];
    return NULL;
}

static RealmSchema *find_schema(Realm *r, Str database, Str name)
{
    const RealmDatabase *d = find_databases_by_name(r, database);
    return d ? schema_in(r, d->id, name) : NULL;
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
        return e ? OK : unknown(err, class, v); \
    }
ONE(realm_database, Database, find_databases_by_name, realm_database_json, realm_database_of, RC_DATABASE)
ONE(realm_cluster, Cluster, find_clusters_by_name, realm_cluster_json, realm_cluster_of, RC_CLUSTER)
ONE(realm_cluster_by_id, Cluster, find_clusters_by_id, realm_cluster_json, realm_cluster_of, RC_CLUSTER)
ONE(realm_role, Role, find_roles_by_name, realm_role_json, realm_role_of, RC_ROLE)
ONE(realm_role_by_id, Role, find_roles_by_id, realm_role_json, realm_role_of, RC_ROLE)

Status realm_schema(Realm *r, Arena *a, Str database, Str name, RealmSchema *ret, Error *err)
{
    pthread_mutex_lock(&r->lock);
    bool known = find_databases_by_name(r, database) != NULL;
    const RealmSchema *e = find_schema(r, database, name);
    if (e)
        *ret = realm_schema_of(a, realm_schema_json(a, e));
    pthread_mutex_unlock(&r->lock);
    if (e)
        return OK;
    return known ? unknown(err, RC_SCHEMA, name) : unknown(err, RC_DATABASE, database);
}

bool realm_has_database(Realm *r, Str name)
{
    pthread_mutex_lock(&r->lock);
    bool has = find_databases_by_name(r, name) != NULL;
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
    const RealmRole *e = find_roles_by_id(r, id);
    Str name = e ? str_dup(a, e->name) : (Str){0};
    pthread_mutex_unlock(&r->lock);
    return name;
}

Str realm_cluster_name(Realm *r, Arena *a, Str id)
{
    pthread_mutex_lock(&r->lock);
    const RealmCluster *e = find_clusters_by_id(r, id);
    Str name = e ? str_dup(a, e->name) : (Str){0};
    pthread_mutex_unlock(&r->lock);
    return name;
}

bool realm_cluster_runs(Realm *r, Str id)
{
    pthread_mutex_lock(&r->lock);
    const RealmCluster *c = find_clusters_by_id(r, id);
    bool runs = !c || c->replicas.n > 0;
    pthread_mutex_unlock(&r->lock);
    return runs;
}

/* ---- documents ------------------------------------------------------------------------------------------------------------------- */

static CatChange doc(Arena *a, RealmClass class, Str id, Json *value)
{
    return (CatChange){ .kind = CH_DOC, .doc_kind = S(REALM_KIND), .doc_key = str_fmt(a, "%s/" STR_FMT, CLASS_NAMES[class], STR_ARG(id)), .doc = value };
}

static CatChange single(const char *key, Json *value) { return (CatChange){ .kind = CH_DOC, .doc_kind = S(REALM_KIND), .doc_key = str_c(key), .doc = value }; }

static Json *next_json(Arena *a, const Realm *r)
{
    Json *j = json_object(a);
    for (int i = 0; i < RC_CLASSES; i++)
        json_set(a, j, CLASS_NAMES[i], json_int(a, r->next[i]));
    return j;
}

typedef VEC(CatChange) Changes;

static void all_docs(Arena *a, const Realm *r, Changes *ch)
{
    for (size_t i = 0; i < r->databases.n; i++)
        vec_push(a, ch, doc(a, RC_DATABASE, r->databases.p[i].id, realm_database_json(a, &r->databases.p[i])));
    for (size_t i = 0; i < r->schemas.n; i++)
        vec_push(a, ch, doc(a, RC_SCHEMA, r->schemas.p[i].id, realm_schema_json(a, &r->schemas.p[i])));
    for (size_t i = 0; i < r->clusters.n; i++)
        vec_push(a, ch, doc(a, RC_CLUSTER, r->clusters.p[i].id, realm_cluster_json(a, &r->clusters.p[i])));
    for (size_t i = 0; i < r->roles.n; i++)
        vec_push(a, ch, doc(a, RC_ROLE, r->roles.p[i].id, realm_role_json(a, &r->roles.p[i])));
    vec_push(a, ch, single("defaults", realm_defaults_json(a, &r->defaults)));
    vec_push(a, ch, single("system", realm_grants_json(a, &r->system)));
    vec_push(a, ch, single("next", next_json(a, r)));
}

static void read_next(Realm *r, const Json *j)
{
    for (int i = 0; i < RC_CLASSES; i++)
        r->next[i] = max_i64(r->next[i], json_get_int(j, CLASS_NAMES[i], 1));
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

Status realm_open(Catalog *c, Realm **ret, Error *err)
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

/* ---- changing: the lock is held ------------------------------------------------------------------------------------------------------ */

static Str new_id(Realm *r, RealmClass class) { return str_fmt(r->a, "u%lld", (long long)r->next[class]++); }

static Status store(Realm *r, RealmClass class, Str id, Json *value, Arena *a, Error *err)
{
    CatChange ch[2] = { doc(a, class, id, value), single("next", next_json(a, r)) };
    return cat_commit(r->catalog, ch, COUNT_OF(ch), err);
}

#define PUT(kind, list, class, other) \
    static Status put_##list(Realm *r, Arena *a, Realm##kind *v, Error *err) \
    { \
        const Realm##kind *there = other; \
        if (there && !str_eq(there->id, v->id)) \
            return taken(err, class, v->name); \
        if (!v->id.n) \
            v->id = new_id(r, class); \
        TRY(store(r, class, v->id, realm_##list##_to_json(a, v), a, err)); \
        Realm##kind *old = find_##list##_by_id(r, v->id); \
        Realm##kind mine = realm_##list##_from_json(r->a, realm_##list##_to_json(a, v));          /* (1) */ \
        if (old) \
            *old = mine; \
        else \
            vec_push(r->a, &r->list, mine); \
        return OK; \
    }
#define realm_databases_to_json realm_database_json
#define realm_databases_from_json realm_database_of
#define realm_schemas_to_json realm_schema_json
#define realm_schemas_from_json realm_schema_of
#define realm_clusters_to_json realm_cluster_json
#define realm_clusters_from_json realm_cluster_of
#define realm_roles_to_json realm_role_json
#define realm_roles_from_json realm_role_of
PUT(Database, databases, RC_DATABASE, find_databases_by_name(r, v->name))
PUT(Schema, schemas, RC_SCHEMA, schema_in(r, v->database, v->name))
PUT(Cluster, clusters, RC_CLUSTER, find_clusters_by_name(r, v->name))
PUT(Role, roles, RC_ROLE, find_roles_by_name(r, v->name))

Status realm_put_database(Realm *r, RealmDatabase *d, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    pthread_mutex_lock(&r->lock);
    Status s = put_databases(r, a, d, err);
    pthread_mutex_unlock(&r->lock);
    return s;
}

Status realm_put_schema(Realm *r, RealmSchema *v, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    pthread_mutex_lock(&r->lock);
    Status s = put_schemas(r, a, v, err);
    pthread_mutex_unlock(&r->lock);
    return s;
}

Status realm_put_cluster(Realm *r, RealmCluster *c, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < c->replicas.n; i++)
        if (!c->replicas.p[i].id.n)
            c->replicas.p[i].id = new_id(r, RC_REPLICA);
    Status s = put_clusters(r, a, c, err);
    pthread_mutex_unlock(&r->lock);
    return s;
}

Status realm_put_role(Realm *r, RealmRole *role, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    pthread_mutex_lock(&r->lock);
    Status s = put_roles(r, a, role, err);
    pthread_mutex_unlock(&r->lock);
    return s;
}

static Status swap(Realm *r, Arena *a, RealmClass class, Str *x, Str *y, Str xid, Str yid, Error *err)
{
    Str keep = *x;

    *x = *y;
    *y = keep;
    Json *one = class == RC_CLUSTER ? realm_cluster_json(a, find_clusters_by_id(r, xid)) : realm_schema_json(a, find_schemas_by_id(r, xid));
    Json *two = class == RC_CLUSTER ? realm_cluster_json(a, find_clusters_by_id(r, yid)) : realm_schema_json(a, find_schemas_by_id(r, yid));
    CatChange ch[2] = { doc(a, class, xid, one), doc(a, class, yid, two) };
    Status s = cat_commit(r->catalog, ch, COUNT_OF(ch), err);
    if (s != OK) {
        *y = *x;
        *x = keep;
    }
    return s;
}

Status realm_swap(Realm *r, Str id_kind, Str x, Str y, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Status s = E_NOT_FOUND;

    pthread_mutex_lock(&r->lock);
    RealmCluster *cx = find_clusters_by_id(r, x), *cy = find_clusters_by_id(r, y);
    RealmSchema *sx = find_schemas_by_id(r, x), *sy = find_schemas_by_id(r, y);
    if (str_eq(id_kind, S("cluster")) && cx && cy)
        s = swap(r, a, RC_CLUSTER, &cx->name, &cy->name, x, y, err);
    else if (str_eq(id_kind, S("schema")) && sx && sy)
        s = swap(r, a, RC_SCHEMA, &sx->name, &sy->name, x, y, err);
    else
        s = unknown(err, RC_CLUSTER, x);
    pthread_mutex_unlock(&r->lock);
    return s;
}

#define REMOVE(list, key) do { \
        size_t k = 0; \
        for (size_t i = 0; i < r->list.n; i++) \
            if (!str_eq(r->list.p[i].id, key)) \
                r->list.p[k++] = r->list.p[i]; \
        r->list.n = k; \
    } while (0)

static void forget(Realm *r, RealmClass class, Str id)
{
    switch (class) {
    case RC_DATABASE: REMOVE(databases, id); break;
    case RC_SCHEMA: REMOVE(schemas, id); break;
    case RC_CLUSTER: REMOVE(clusters, id); break;
    case RC_ROLE: REMOVE(roles, id); break;
    case RC_REPLICA: case RC_CLASSES: break;
    }
}

Status realm_delete(Realm *r, Str id_kind, Str id, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    RealmClass class = RC_DATABASE;

    while (class < RC_REPLICA && !str_eq(id_kind, str_c(CLASS_NAMES[class])))
        class++;
    if (class >= RC_REPLICA)
        return FAIL(err, E_INTERNAL, "the realm has no " STR_FMT, STR_ARG(id_kind));
    pthread_mutex_lock(&r->lock);
    CatChange ch = doc(a, class, id, NULL);
    Status s = cat_commit(r->catalog, &ch, 1, err);
    if (s == OK)
        forget(r, class, id);
    pthread_mutex_unlock(&r->lock);
    return s;
}

static bool same_default(const RealmDefault *x, const RealmDefault *y)
{
    return str_eq(x->role, y->role) && str_eq(x->database, y->database) && str_eq(x->schema, y->schema) && str_eq(x->kind, y->kind) && str_eq(x->grantee, y->grantee);
}

Status realm_put_default(Realm *r, const RealmDefault *d, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    RealmDefaults next = {0};

    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->defaults.n; i++)
        if (!same_default(&r->defaults.p[i], d))
            vec_push(a, &next, r->defaults.p[i]);
    if (d->letters.n)
        vec_push(a, &next, *d);
    CatChange ch = single("defaults", realm_defaults_json(a, &next));
    Status s = cat_commit(r->catalog, &ch, 1, err);
    if (s == OK) {
        memset(&r->defaults, 0, sizeof r->defaults);
        realm_defaults_of(r->a, realm_defaults_json(a, &next), &r->defaults);
    }
    pthread_mutex_unlock(&r->lock);
    return s;
}

Status realm_put_system_grants(Realm *r, const RealmGrants *g, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatChange ch = single("system", realm_grants_json(a, g));

    pthread_mutex_lock(&r->lock);
    Status s = cat_commit(r->catalog, &ch, 1, err);
    if (s == OK) {
        memset(&r->system, 0, sizeof r->system);
        realm_grants_of(r->a, realm_grants_json(a, g), &r->system);
    }
    pthread_mutex_unlock(&r->lock);
    return s;
}

Status realm_put_setting(Realm *r, Str key, Str value, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Props next = {0};

    pthread_mutex_lock(&r->lock);
    realm_props_of(a, realm_props_json(a, &r->settings), &next);
    if (value.p)
        props_set(a, &next, key, value);
    else
        props_del(&next, key);
    CatChange ch = single("settings", realm_props_json(a, &next));
    Status s = cat_commit(r->catalog, &ch, 1, err);
    if (s == OK) {
        memset(&r->settings, 0, sizeof r->settings);
        realm_props_of(r->a, realm_props_json(a, &next), &r->settings);
    }
    pthread_mutex_unlock(&r->lock);
    return s;
}

/* ---- who signs in ---------------------------------------------------------------------------------------------------------------------- */

/* A name is this principal's when its role is tied to it, or when nobody has signed in as a role that SQL made. */
static RealmRole *fitting(Realm *r, Str name, Str arn)
{
    RealmRole *e = find_roles_by_name(r, name);
    return e && !e->principal.n && !e->superuser && !e->system && !str_eq(arn, (Str){0}) ? e : NULL;
}

static Status role_of(Realm *r, Arena *a, Str arn, Str name, Str prefix, RealmRole *ret, Error *err)
{
    RealmRole *e = find_roles_by_principal(r, arn);
    RealmRole role = { .inherit = 1, .login = 1 };

    if (!e) {
        RealmRole *free_one = fitting(r, name, arn);
        if (free_one)
            role = realm_role_of(a, realm_role_json(a, free_one));
        role.principal = arn;
        if (!free_one)
            role.name = find_roles_by_name(r, name) ? str_fmt(a, STR_FMT "/" STR_FMT, STR_ARG(prefix), STR_ARG(name)) : name;
        TRY(put_roles(r, a, &role, err));
        e = find_roles_by_principal(r, arn);
    }
    *ret = realm_role_of(a, realm_role_json(a, e));
    return OK;
}

Status realm_role_of_principal(Realm *r, Arena *a, Str arn, Str name, Str prefix, RealmRole *ret, Error *err)
{
    pthread_mutex_lock(&r->lock);
    Status s = role_of(r, a, arn, name, prefix, ret, err);
    pthread_mutex_unlock(&r->lock);
    return s;
}

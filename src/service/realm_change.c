/* SPDX-License-Identifier: Apache-2.0 */
/* realm_change.c - how the realm changes: each change is one step of the catalog, then of memory. */
#include "service/realm_int.h"

static Status taken(Error *err, RealmClass class, Str name)
{
    static const char *const codes[RC_CLASSES] = { "42P04", "42P06", "42710", "42710", "42710" };
    RAISE(err, E_EXISTS, "%s '" STR_FMT "' already exists", realm_class_names[class], STR_ARG(name));
    return realm_coded(err, E_EXISTS, codes[class]);
}

/* ---- changing: the lock is held ------------------------------------------------------------------------------------------------------ */

static Str new_id(Realm *r, RealmClass class) { return str_fmt(r->a, "u%lld", (long long)r->next[class]++); }

static Status store(Realm *r, RealmClass class, Str id, Json *value, Arena *a, Error *err)
{
    CatChange ch[2] = { realm_doc(a, class, id, value), realm_single("next", realm_next_json(a, r)) };
    return realm_commit(r, ch, COUNT_OF(ch), err);
}

#define PUT(kind, list, class, other, byid) \
    static Status put_##list(Realm *r, Arena *a, Realm##kind *v, Error *err) \
    { \
        const Realm##kind *there = other; \
        if (there && !str_eq(there->id, v->id)) \
            return taken(err, class, v->name); \
        if (!v->id.n) \
            v->id = new_id(r, class); \
        TRY(store(r, class, v->id, realm_##list##_to_json(a, v), a, err)); \
        Realm##kind *old = byid(r, v->id); \
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
PUT(Database, databases, RC_DATABASE, realm_database_named(r, v->name), realm_database_of_id)
PUT(Schema, schemas, RC_SCHEMA, realm_schema_in(r, v->database, v->name), realm_schema_of_id)
PUT(Cluster, clusters, RC_CLUSTER, realm_cluster_named(r, v->name), realm_cluster_of_id)
PUT(Role, roles, RC_ROLE, realm_role_named(r, v->name), realm_role_of_id)

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
    Json *one = class == RC_CLUSTER ? realm_cluster_json(a, realm_cluster_of_id(r, xid)) : realm_schema_json(a, realm_schema_of_id(r, xid));
    Json *two = class == RC_CLUSTER ? realm_cluster_json(a, realm_cluster_of_id(r, yid)) : realm_schema_json(a, realm_schema_of_id(r, yid));
    CatChange ch[2] = { realm_doc(a, class, xid, one), realm_doc(a, class, yid, two) };
    Status s = realm_commit(r, ch, COUNT_OF(ch), err);
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
    RealmCluster *cx = realm_cluster_of_id(r, x), *cy = realm_cluster_of_id(r, y);
    RealmSchema *sx = realm_schema_of_id(r, x), *sy = realm_schema_of_id(r, y);
    if (str_eq(id_kind, S("cluster")) && cx && cy)
        s = swap(r, a, RC_CLUSTER, &cx->name, &cy->name, x, y, err);
    else if (str_eq(id_kind, S("schema")) && sx && sy)
        s = swap(r, a, RC_SCHEMA, &sx->name, &sy->name, x, y, err);
    else
        s = realm_unknown(err, RC_CLUSTER, x);
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

    while (class < RC_REPLICA && !str_eq(id_kind, str_c(realm_class_names[class])))
        class++;
    if (class >= RC_REPLICA)
        return FAIL(err, E_INTERNAL, "the realm has no " STR_FMT, STR_ARG(id_kind));
    pthread_mutex_lock(&r->lock);
    CatChange ch = realm_doc(a, class, id, NULL);
    Status s = realm_commit(r, &ch, 1, err);
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
    CatChange ch = realm_single("defaults", realm_defaults_json(a, &next));
    Status s = realm_commit(r, &ch, 1, err);
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
    CatChange ch = realm_single("system", realm_grants_json(a, g));

    pthread_mutex_lock(&r->lock);
    Status s = realm_commit(r, &ch, 1, err);
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
    CatChange ch = realm_single("settings", realm_props_json(a, &next));
    Status s = realm_commit(r, &ch, 1, err);
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
    RealmRole *e = realm_role_named(r, name);
    return e && !e->principal.n && !e->superuser && !e->system && !str_eq(arn, (Str){0}) ? e : NULL;
}

static Status role_of(Realm *r, Arena *a, Str arn, Str name, Str prefix, RealmRole *ret, Error *err)
{
    RealmRole *e = realm_role_of_arn(r, arn);
    RealmRole role = { .inherit = 1, .login = 1 };

    if (!e) {
        RealmRole *free_one = fitting(r, name, arn);
        if (free_one)
            role = realm_role_of(a, realm_role_json(a, free_one));
        role.principal = arn;
        if (!free_one)
            role.name = realm_role_named(r, name) ? str_fmt(a, STR_FMT "/" STR_FMT, STR_ARG(prefix), STR_ARG(name)) : name;
        TRY(put_roles(r, a, &role, err));
        e = realm_role_of_arn(r, arn);
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

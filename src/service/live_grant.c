/* SPDX-License-Identifier: Apache-2.0 */
/* live_grant.c - GRANT and REVOKE of privileges, ALTER DEFAULT PRIVILEGES, DROP OWNED and REASSIGN OWNED.
 *
 * Whoever grants is the object's owner (or a superuser for it): so the owner is the grantor, as Materialize has it. */
#include "service/live_sql.h"

/* ---- letters ---------------------------------------------------------------------------------------------------------------------- */

const char *live_letters(ObjKind k)
{
    switch (k) {
    case OBJ_TABLE: return "arwd";
    case OBJ_VIEW: case OBJ_MVIEW: case OBJ_SOURCE: return "r";
    case OBJ_CONNECTION: case OBJ_SECRET: case OBJ_TYPE: return "U";
    case OBJ_SINK: case OBJ_INDEX: case OBJ_KINDS: break;
    }
    return "";
}

static const char *letters_of_kind(LiveKind k)
{
    switch (k) {
    case LK_DATABASE: case LK_SCHEMA: case LK_CLUSTER: return "UC";
    case LK_TABLE: return "arwd";
    case LK_CONNECTION: case LK_SECRET: case LK_TYPE: return "U";
    case LK_SYSTEM: return "RBNP";
    default: return "";
    }
}

/* The letters that the statement names, those that this kind can have; ALL takes what fits. */
static Status letters_for(Run *r, const char *can, Str what, Str *ret, Error *err)
{
    const LiveStmt *l = r->st->live;
    StrVec wrong = {0};
    StrBuf b = sb_new(r->a);

    for (size_t i = 0; i < l->privileges.n; i++) {
        char letter = realm_privilege_letter(l->privileges.p[i]);
        if (str_eq(l->privileges.p[i], S("ALL")))
            sb_addc(&b, can);
        else if (!letter || !strchr(can, letter))
            vec_push(r->a, &wrong, l->privileges.p[i]);
        else
            sb_byte(&b, letter);
    }
    if (wrong.n)
        return live_refuse(FAIL(err, E_INVALID, "invalid privilege types " STR_FMT " for " STR_FMT, STR_ARG(str_join(r->a, &wrong, S(", "))), STR_ARG(what)), "22023", err);
    *ret = sb_str(&b);
    return OK;
}

static Status role_id(Run *r, Str name, Str *ret, Error *err)
{
    RealmRole role;

    if (str_ieq(name, S("public"))) {
        *ret = S(REALM_PUBLIC);
        return OK;
    }
    if (str_ieq(name, S("current_user")) || str_ieq(name, S("session_user")) || str_ieq(name, S("current_role")))
        return live_role(r, ret, err);
    TRY(realm_role(r->svc->realm, r->a, name, &role, err));
    if (role.system)
        return live_refuse(FAIL(err, E_DENIED, "role name \"" STR_FMT "\" is reserved", STR_ARG(name)), "42939", err);
    *ret = role.id;
    return OK;
}

/* ---- one target ------------------------------------------------------------------------------------------------------------------------ */

typedef struct Target { const char *kind; Str id, name, owner; const char *can; RealmGrants *grants; } Target;

static Str described(Arena *a, const Target *t)
{
    return t->name.n ? str_fmt(a, STR_FMT " \"" STR_FMT "\"", STR_ARG(str_upper(a, str_c(t->kind))), STR_ARG(t->name)) : S("SYSTEM");
}

static Json *details(Run *r, const Target *t, Str grantee, Str letters)
{
    Json *j = json_object(r->a);

    json_set(r->a, j, "object_id", json_str(r->a, t->id));
    json_set(r->a, j, "grantee_id", json_str(r->a, grantee));
    json_set(r->a, j, "grantor_id", json_str(r->a, t->owner));
    json_set(r->a, j, "privileges", json_str(r->a, letters));
    return j;
}

static Status change_grants(Run *r, const Target *t, Error *err)
{
    const LiveStmt *l = r->st->live;
    Str letters, grantee;

    TRY(letters_for(r, t->can, described(r->a, t), &letters, err));
    for (size_t i = 0; i < l->grantees.n; i++) {
        TRY(role_id(r, l->grantees.p[i], &grantee, err));
        if (r->st->kind == ST_GRANT && letters.n)
            realm_grant(r->a, t->grants, grantee, t->owner, letters);
        else if (r->st->kind == ST_REVOKE)
            realm_revoke(r->a, t->grants, grantee, letters);
    }
    return OK;
}

/* After it is stored. */
static Status tell(Run *r, const Target *t, Status stored, Error *err)
{
    const LiveStmt *l = r->st->live;
    Str letters, grantee;

    TRY(stored);
    TRY(letters_for(r, t->can, described(r->a, t), &letters, err));
    for (size_t i = 0; i < l->grantees.n; i++) {
        TRY(role_id(r, l->grantees.p[i], &grantee, err));
        live_audit(r, r->st->kind == ST_GRANT ? "grant" : "revoke", t->kind, NULL, details(r, t, grantee, letters));
    }
    return OK;
}

static Status on_database(Run *r, RealmDatabase *d, Error *err)
{
    Target t = { "database", d->id, d->name, d->owner, "UC", &d->grants };

    TRY(live_ask_owner_of(r, "DATABASE", d->name, d->owner, err));
    TRY(change_grants(r, &t, err));
    return tell(r, &t, realm_put_database(r->svc->realm, d, err), err);
}

static Status on_schema(Run *r, RealmSchema *s, Error *err)
{
    Target t = { "schema", s->id, s->name, s->owner, "UC", &s->grants };

    TRY(live_ask_owner_of(r, "SCHEMA", s->name, s->owner, err));
    TRY(change_grants(r, &t, err));
    return tell(r, &t, realm_put_schema(r->svc->realm, s, err), err);
}

static Status on_cluster(Run *r, RealmCluster *c, Error *err)
{
    Target t = { "cluster", c->id, c->name, c->owner, "UC", &c->grants };

    TRY(live_ask_owner_of(r, "CLUSTER", c->name, c->owner, err));
    TRY(change_grants(r, &t, err));
    return tell(r, &t, realm_put_cluster(r->svc->realm, c, err), err);
}

static Status on_system(Run *r, Error *err)
{
    RealmGrants g = {0};
    Target t = { "system", S("SYSTEM"), (Str){0}, S(REALM_SYSTEM_ROLE), "RBNP", &g };

    TRY(live_ask_superuser(r, "grant system privileges", err));
    realm_system_grants(r->svc->realm, r->a, &g);
    TRY(change_grants(r, &t, err));
    return tell(r, &t, realm_put_system_grants(r->svc->realm, &g, err), err);
}

static Status on_object(Run *r, Object *o, Error *err)
{
    Target t = { obj_kind_name(o->kind), str_fmt(r->a, "u%lld", (long long)o->id), live_full(r->a, o), o->owner, live_letters(o->kind), &o->grants };

    TRY(live_ask_owner(r, o, err));
    TRY(change_grants(r, &t, err));
    return tell(r, &t, objects_put(r->svc->objects, o, err), err);
}

/* ---- what is named ----------------------------------------------------------------------------------------------------------------------- */

static int kinds_of(LiveKind k)
{
    switch (k) {
    case LK_TABLE: return 1 << OBJ_TABLE | 1 << OBJ_VIEW | 1 << OBJ_MVIEW | 1 << OBJ_SOURCE;
    case LK_CONNECTION: return 1 << OBJ_CONNECTION;
    case LK_SECRET: return 1 << OBJ_SECRET;
    case LK_TYPE: return 1 << OBJ_TYPE;
    default: return 0;
    }
}

static Status find_schema(Run *r, const StrVec *name, RealmSchema *ret, Error *err)
{
    return realm_schema(r->svc->realm, r->a, name->n > 1 ? name->p[name->n - 2] : live_database(r), vec_last(name), ret, err);
}

static Status on_named(Run *r, const StrVec *name, Error *err)
{
    RealmDatabase d;
    RealmSchema s;
    RealmCluster c;
    Object o;

    switch (r->st->live->kind) {
    case LK_DATABASE:
        TRY(realm_database(r->svc->realm, r->a, vec_last(name), &d, err));
        return on_database(r, &d, err);
    case LK_SCHEMA:
        TRY(find_schema(r, name, &s, err));
        return on_schema(r, &s, err);
    case LK_CLUSTER:
        TRY(realm_cluster(r->svc->realm, r->a, vec_last(name), &c, err));
        return on_cluster(r, &c, err);
    default:
        TRY(live_need(r, name, kinds_of(r->st->live->kind), 0, &o, err));
        return on_object(r, &o, err);
    }
}

/* Is a place among the containers of ON ALL … IN? */
static Status inside(Run *r, Str database, Str schema, int *ret, Error *err)
{
    const LiveStmt *l = r->st->live;
    RealmSchema s;

    *ret = l->in_kind == LK_NONE;
    for (size_t i = 0; i < l->containers.n; i++) {
        const StrVec *name = &l->containers.p[i];
        if (l->in_kind == LK_DATABASE)
            *ret |= str_eq(vec_last(name), database);
        else {
            TRY(find_schema(r, name, &s, err));
            *ret |= str_eq(vec_last(name), schema) && str_eq(name->n > 1 ? name->p[name->n - 2] : live_database(r), database);
        }
    }
    return OK;
}

static Str database_name(const RealmDatabases *all, Str id)
{
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->p[i].id, id))
            return all->p[i].name;
    return (Str){0};
}

static Status on_all_places(Run *r, Error *err)
{
    LiveKind kind = r->st->live->kind;
    RealmDatabases databases = {0};
    RealmSchemas schemas = {0};
    RealmClusters clusters = {0};
    int in;

    realm_databases(r->svc->realm, r->a, &databases);
    realm_schemas(r->svc->realm, r->a, &schemas);
    realm_clusters(r->svc->realm, r->a, &clusters);
    for (size_t i = 0; kind == LK_DATABASE && i < databases.n; i++)
        TRY(on_database(r, &databases.p[i], err));
    for (size_t i = 0; kind == LK_SCHEMA && i < schemas.n; i++) {
        TRY(inside(r, database_name(&databases, schemas.p[i].database), (Str){0}, &in, err));
        if (in && schemas.p[i].database.n)
            TRY(on_schema(r, &schemas.p[i], err));
    }
    for (size_t i = 0; kind == LK_CLUSTER && i < clusters.n; i++)
        if (clusters.p[i].id.p[0] == 'u')
            TRY(on_cluster(r, &clusters.p[i], err));
    return OK;
}

static Status on_all(Run *r, Error *err)
{
    LiveKind kind = r->st->live->kind;
    ObjectVec all = {0};
    int in;

    if (kind == LK_DATABASE || kind == LK_SCHEMA || kind == LK_CLUSTER)
        return on_all_places(r, err);
    objects_list(r->svc->objects, r->a, &all);
    for (size_t i = 0; i < all.n; i++) {
        TRY(inside(r, all.p[i].database, all.p[i].schema, &in, err));
        if (in && kinds_of(kind) & 1 << all.p[i].kind)
            TRY(on_object(r, &all.p[i], err));
    }
    return OK;
}

/* ---- default privileges --------------------------------------------------------------------------------------------------------------------- */

static Status change_default(Run *r, const RealmDefault *as, Str letters, Error *err)
{
    RealmDefaults all = {0};
    RealmGrants g = {0};
    RealmDefault d = *as;

    realm_defaults(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++) {
        const RealmDefault *x = &all.p[i];
        if (str_eq(x->role, d.role) && str_eq(x->database, d.database) && str_eq(x->schema, d.schema) && str_eq(x->kind, d.kind) && str_eq(x->grantee, d.grantee))
            realm_grant(r->a, &g, d.grantee, d.role, x->letters);
    }
    if (r->st->kind == ST_GRANT)
        realm_grant(r->a, &g, d.grantee, d.role, letters);
    else
        realm_revoke(r->a, &g, d.grantee, letters);
    d.letters = g.n ? g.p[0].letters : (Str){0};
    return realm_put_default(r->svc->realm, &d, err);
}

static Status in_place(Run *r, RealmDefault *d, const StrVec *container, Error *err)
{
    RealmDatabase db;
    RealmSchema s;

    if (!container)
        return OK;
    if (r->st->live->in_kind == LK_DATABASE) {
        TRY(realm_database(r->svc->realm, r->a, vec_last(container), &db, err));
        d->database = db.id;
        return OK;
    }
    TRY(find_schema(r, container, &s, err));
    d->database = s.database;
    d->schema = s.id;
    return OK;
}

static Status defaults_of(Run *r, Str role, Error *err)
{
    const LiveStmt *l = r->st->live;
    Str letters, kind = str_lower(r->a, str_c(live_kind_words(l->kind)));

    TRY(letters_for(r, letters_of_kind(l->kind), str_c(live_kind_words(l->kind)), &letters, err));
    for (size_t i = 0; i < (l->containers.n ? l->containers.n : 1); i++)
        for (size_t k = 0; k < l->grantees.n; k++) {
            RealmDefault d = { .role = role, .kind = kind };
            TRY(in_place(r, &d, l->containers.n ? &l->containers.p[i] : NULL, err));
            TRY(role_id(r, l->grantees.p[k], &d.grantee, err));
            TRY(change_default(r, &d, letters, err));
        }
    return OK;
}

static Status alter_defaults(Run *r, Error *err)
{
    const LiveStmt *l = r->st->live;
    Str id;

    if (l->for_all_roles) {
        TRY(live_ask_superuser(r, "alter default privileges of all roles", err));
        return defaults_of(r, S(REALM_PUBLIC), err);
    }
    if (!l->for_roles.n)
        return live_refuse(FAIL(err, E_INVALID, "ALTER DEFAULT PRIVILEGES needs a target: FOR ROLE <role> or FOR ALL ROLES"), "42601", err);
    for (size_t i = 0; i < l->for_roles.n; i++) {
        TRY(role_id(r, l->for_roles.p[i], &id, err));
        if (str_eq(id, S(REALM_PUBLIC)))
            TRY(live_ask_superuser(r, "alter default privileges of all roles", err));
        else
            TRY(live_ask_member(r, id, err));
        TRY(defaults_of(r, id, err));
    }
    return OK;
}

Status live_grant(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    const LiveStmt *l = r->st->live;

    ret->done = 1;
    if (l->default_privileges)
        return alter_defaults(r, err);
    if (!l->privileges.n)
        return live_grant_roles(r, err);
    if (l->kind == LK_SYSTEM)
        return on_system(r, err);
    if (l->kind == LK_VIEW || l->kind == LK_MVIEW || l->kind == LK_SOURCE)
        return live_refuse(FAIL(err, E_INVALID, "For object type %s, you must specify 'TABLE'", live_kind_words(l->kind)), "42601", err);
    if (!*letters_of_kind(l->kind))
        return live_refuse(FAIL(err, E_INVALID, "a %s has no privileges", live_kind_words(l->kind)), "42601", err);
    if (l->all_in)
        return on_all(r, err);
    for (size_t i = 0; i < l->objects.n; i++)
        TRY(on_named(r, &l->objects.p[i], err));
    return OK;
}

/* ---- owners --------------------------------------------------------------------------------------------------------------------------------- */

void live_grants_follow(Arena *a, RealmGrants *g, Str from, Str to)
{
    RealmGrants old = *g;

    memset(g, 0, sizeof *g);
    for (size_t i = 0; i < old.n; i++)
        realm_grant(a, g, str_eq(old.p[i].grantee, from) ? to : old.p[i].grantee, str_eq(old.p[i].grantor, from) ? to : old.p[i].grantor, old.p[i].letters);
}

static Status drop_grants(Run *r, Str role, Error *err)
{
    ObjectVec all = {0};

    objects_list(r->svc->objects, r->a, &all);
    for (size_t i = 0; i < all.n; i++) {
        size_t before = all.p[i].grants.n;
        realm_revoke(r->a, &all.p[i].grants, role, S("arwdUCRBNP"));
        if (all.p[i].grants.n != before)
            TRY(objects_put(r->svc->objects, &all.p[i], err));
    }
    return OK;
}

static void owned_by(Run *r, Str role, ObjectVec *ret)
{
    ObjectVec all = {0};

    objects_list(r->svc->objects, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        if (str_eq(all.p[i].owner, role))
            vec_push(r->a, ret, all.p[i]);
}

static bool owns_places(Run *r, Str role)
{
    RealmDatabases databases = {0};
    RealmSchemas schemas = {0};
    RealmClusters clusters = {0};

    realm_databases(r->svc->realm, r->a, &databases);
    realm_schemas(r->svc->realm, r->a, &schemas);
    realm_clusters(r->svc->realm, r->a, &clusters);
    for (size_t i = 0; i < databases.n; i++)
        if (str_eq(databases.p[i].owner, role))
            return true;
    for (size_t i = 0; i < schemas.n; i++)
        if (str_eq(schemas.p[i].owner, role))
            return true;
    for (size_t i = 0; i < clusters.n; i++)
        if (str_eq(clusters.p[i].owner, role))
            return true;
    return false;
}

static Status drop_owned(Run *r, Str role, Error *err)
{
    ObjectVec mine = {0};

    if (owns_places(r, role))
        return live_refuse(FAIL(err, E_UNSUPPORTED, "DROP OWNED of databases, schemas and clusters not yet supported: drop them by their names"), "0A000", err);
    owned_by(r, role, &mine);
    if (mine.n && !r->st->cascade)
        TRY(live_check_users(r, &mine, err));
    if (mine.n)
        TRY(live_drop_all(r, &mine, err));
    return drop_grants(r, role, err);
}

#define REASSIGN(List, list, Kind, put) do { \
        List all_ = {0}; \
        list(r->svc->realm, r->a, &all_); \
        for (size_t i = 0; i < all_.n; i++) \
            if (str_eq(all_.p[i].owner, from)) { \
                all_.p[i].owner = to; \
                live_grants_follow(r->a, &all_.p[i].grants, from, to); \
                TRY(put(r->svc->realm, &all_.p[i], err)); \
            } \
    } while (0)

static Status reassign(Run *r, Str from, Str to, Error *err)
{
    ObjectVec mine = {0};

    owned_by(r, from, &mine);
    for (size_t i = 0; i < mine.n; i++) {
        mine.p[i].owner = to;
        live_grants_follow(r->a, &mine.p[i].grants, from, to);
    }
    if (mine.n)
        TRY(live_store(r, mine.p, mine.n, LIVE_ALTERED, err));
    REASSIGN(RealmDatabases, realm_databases, RealmDatabase, realm_put_database);
    REASSIGN(RealmSchemas, realm_schemas, RealmSchema, realm_put_schema);
    REASSIGN(RealmClusters, realm_clusters, RealmCluster, realm_put_cluster);
    return OK;
}

Status live_owned(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    const LiveStmt *l = r->st->live;
    Str from, to = {0};

    ret->done = 1;
    if (l->verb == LV_REASSIGN_OWNED) {
        TRY(role_id(r, l->to.p[0], &to, err));
        TRY(live_ask_member(r, to, err));
    }
    for (size_t i = 0; i < l->roles.n; i++) {
        TRY(role_id(r, l->roles.p[i], &from, err));
        TRY(live_ask_member(r, from, err));
        if (str_eq(from, S(REALM_PUBLIC)) || str_eq(to, S(REALM_PUBLIC)))
            return live_refuse(FAIL(err, E_INVALID, "PUBLIC owns nothing"), "22023", err);
        TRY(l->verb == LV_REASSIGN_OWNED ? reassign(r, from, to, err) : drop_owned(r, from, err));
    }
    return OK;
}

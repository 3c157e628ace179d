/* SPDX-License-Identifier: Apache-2.0 */
/* live_schema.c - databases and schemas of the live side made and dropped.
 *
 * A database is never named as a catalog of the lake is: three-part names would mean two things.  A new one has a schema `public` that everybody may use. */
#include "service/live_sql.h"

static Status reserved(const char *kind, Str name, Error *err)
{
    if (!str_starts(name, S("mz_")) && !str_starts(name, S("pg_")))
        return OK;
    RAISE(err, E_INVALID, "unacceptable %s name '" STR_FMT "'", kind, STR_ARG(name));
    error_detail(err, "The prefixes \"mz_\" and \"pg_\" are reserved for system %ss.", kind);
    return live_refuse(E_INVALID, "42939", err);
}

static Status not_of_the_lake(Run *r, Str name, Error *err)
{
    CatWarehouse w;
    Error absent;

    if (cat_warehouse_get(r->svc->catalog, r->a, name, &w, &absent) != OK)
        return OK;
    return live_refuse(FAIL(err, E_EXISTS, "database '" STR_FMT "' already exists: it is a catalog of the lake", STR_ARG(name)), "42P04", err);
}

static Json *place_details(Arena *a, Str id, Str name, Str database)
{
    Json *j = json_object(a);

    json_set(a, j, "id", json_str(a, id));
    json_set(a, j, "name", json_str(a, name));
    if (database.n)
        json_set(a, j, "database_name", json_str(a, database));
    return j;
}

/* ---- making ------------------------------------------------------------------------------------------------------------------------ */

static void owners_grants(Arena *a, RealmGrants *g, Str owner) { realm_grant(a, g, owner, owner, S("UC")); }

/* Default privileges for what is no object: kind "database" or "schema". */
static void default_grants(Run *r, const char *kind, Str database_id, Str owner, RealmGrants *g)
{
    RealmDefaults all = {0};

    realm_defaults(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++) {
        const RealmDefault *d = &all.p[i];
        bool mine = str_eq(d->role, owner) || str_eq(d->role, S(REALM_PUBLIC));
        if (mine && str_eq(d->kind, str_c(kind)) && (!d->database.n || str_eq(d->database, database_id)))
            realm_grant(r->a, g, d->grantee, owner, d->letters);
    }
}

static Status make_schema(Run *r, const RealmDatabase *d, Str name, Str owner, const char *everybody, Error *err)
{
    RealmSchema s = { .database = d->id, .name = name, .owner = owner };
    RealmSchemas all = {0};
    size_t n = 0;

    TRY(live_check_ident(name, err));
    realm_schemas(r->svc->realm, r->a, &all);
    for vec_each(RealmSchema, x, &all)
        n += str_eq(x->database, d->id);
    TRY(live_limit(r->svc, LIMIT_SCHEMAS, n, 1, err));
    owners_grants(r->a, &s.grants, owner);
    if (*everybody)
        realm_grant(r->a, &s.grants, S(REALM_PUBLIC), owner, str_c(everybody));
    default_grants(r, "schema", d->id, owner, &s.grants);
    TRY(realm_put_schema(r->svc->realm, &s, err));
    live_audit(r, "create", "schema", NULL, place_details(r->a, s.id, s.name, d->name));
    return OK;
}

Status live_create_database(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    Str name = vec_last(&r->st->name), owner;
    RealmDatabase d = { .name = name };
    RealmDatabases all = {0};

    ret->done = 1;
    if (r->st->name.n != 1)
        return live_refuse(FAIL(err, E_INVALID, "a database's name has one part"), "42601", err);
    TRY(live_ask_system(r, 'B', err));
    if (realm_has_database(r->svc->realm, name) && r->st->if_not_exists) {
        session_note(r->ss, "NOTICE", "42P04", "database \"%s\" already exists, skipping", str_z(r->a, name));
        return OK;
    }
    TRY(not_of_the_lake(r, name, err));
    TRY(live_check_ident(name, err));
    realm_databases(r->svc->realm, r->a, &all);
    TRY(live_limit(r->svc, LIMIT_DATABASES, all.n, 1, err));
    TRY(live_role(r, &owner, err));
    d.owner = owner;
    owners_grants(r->a, &d.grants, owner);
    default_grants(r, "database", (Str){0}, owner, &d.grants);
    TRY(realm_put_database(r->svc->realm, &d, err));
    live_audit(r, "create", "database", NULL, place_details(r->a, d.id, d.name, (Str){0}));
    return make_schema(r, &d, S("public"), owner, "U", err);
}

/* x, or database.x; what is in no database of the realm is a namespace of the lake. */
static int schema_name(Run *r, const StrVec *parts, LiveName *ret)
{
    if (parts->n < 1 || parts->n > 2)
        return 0;
    *ret = (LiveName){ .database = parts->n == 2 ? parts->p[0] : live_database(r), .schema = vec_last(parts) };
    return realm_has_database(r->svc->realm, ret->database);
}

Status live_create_schema(Run *r, Rows *rows, LiveDone *ret, Error *err)
{
    RealmDatabase d;
    LiveName n;
    Str owner;

    if (r->st->live && r->st->live->kind == LK_DATABASE)
        return live_create_database(r, rows, ret, err);
    ret->done = schema_name(r, &r->st->name, &n);
    if (!ret->done)
        return OK;
    TRY(live_ask_database(r, 'C', n.database, err));
    TRY(reserved("schema", n.schema, err));
    if (realm_has_schema(r->svc->realm, n.database, n.schema) && r->st->if_not_exists) {
        session_note(r->ss, "NOTICE", "42P06", "schema \"%s\" already exists, skipping", str_z(r->a, n.schema));
        return OK;
    }
    TRY(realm_database(r->svc->realm, r->a, n.database, &d, err));
    TRY(live_role(r, &owner, err));
    return make_schema(r, &d, n.schema, owner, "", err);
}

/* ---- dropping ------------------------------------------------------------------------------------------------------------------------ */

static void objects_of(Run *r, Str database, Str schema, ObjectVec *ret)
{
    ObjectVec all = {0};

    objects_list(r->svc->objects, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        if (str_eq(all.p[i].database, database) && (!schema.n || str_eq(all.p[i].schema, schema)))
            vec_push(r->a, ret, all.p[i]);
}

static Status drop_schema(Run *r, Str database, const RealmSchema *s, Error *err)
{
    ObjectVec inside = {0};

    objects_of(r, database, s->name, &inside);
    if (inside.n)
        TRY(live_drop_all(r, &inside, err));
    TRY(realm_delete(r->svc->realm, S("schema"), s->id, err));
    live_audit(r, "drop", "schema", NULL, place_details(r->a, s->id, s->name, database));
    return OK;
}

static Status drop_one_schema(Run *r, const StrVec *name, LiveDone *ret, Error *err)
{
    RealmSchema s;
    LiveName n;
    Error absent;

    ret->done = schema_name(r, name, &n);
    if (!ret->done)
        return OK;
    if (realm_schema(r->svc->realm, r->a, n.database, n.schema, &s, &absent) != OK) {
        if (r->st->if_exists) {
            live_note_absent(r, "schema", name);
            return OK;
        }
        return live_refuse(FAIL(err, E_NOT_FOUND, "unknown schema '" STR_FMT "'", STR_ARG(str_join(r->a, name, S(".")))), "3F000", err);
    }
    if (!s.database.n)
        return live_refuse(FAIL(err, E_DENIED, "cannot drop schema " STR_FMT " because it is required by the database system", STR_ARG(s.name)), "42501", err);
    Str full = str_fmt(r->a, STR_FMT "." STR_FMT, STR_ARG(n.database), STR_ARG(n.schema));
    TRY(live_ask_owner_of(r, "SCHEMA", full, s.owner, err));
    if (!r->st->cascade && objects_in_schema(r->svc->objects, n.database, n.schema))
        return live_refuse(FAIL(err, E_NOT_EMPTY, "schema '" STR_FMT "' cannot be dropped without CASCADE while it contains objects", STR_ARG(full)), "2BP01", err);
    return drop_schema(r, n.database, &s, err);
}

static Status drop_database(Run *r, const RealmDatabase *d, Error *err)
{
    RealmSchemas all = {0};

    realm_schemas(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        if (str_eq(all.p[i].database, d->id))
            TRY(drop_schema(r, d->name, &all.p[i], err));
    TRY(realm_delete(r->svc->realm, S("database"), d->id, err));
    live_audit(r, "drop", "database", NULL, place_details(r->a, d->id, d->name, (Str){0}));
    return OK;
}

static bool has_schemas(Run *r, const RealmDatabase *d)
{
    RealmSchemas all = {0};

    realm_schemas(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        if (str_eq(all.p[i].database, d->id))
            return true;
    return false;
}

/* CASCADE is the default, as Materialize has it. */
static Status drop_one_database(Run *r, const StrVec *name, Error *err)
{
    RealmDatabase d;
    Error absent;

    if (realm_database(r->svc->realm, r->a, vec_last(name), &d, &absent) != OK) {
        if (!r->st->if_exists)
            return realm_database(r->svc->realm, r->a, vec_last(name), &d, err);
        live_note_absent(r, "database", name);
        return OK;
    }
    TRY(live_ask_owner_of(r, "DATABASE", d.name, d.owner, err));
    if (r->st->live->restrict_ && has_schemas(r, &d))
        return live_refuse(FAIL(err, E_NOT_EMPTY, "database '" STR_FMT "' cannot be dropped with RESTRICT while it contains schemas", STR_ARG(d.name)), "2BP01", err);
    return drop_database(r, &d, err);
}

Status live_drop_schemas(Run *r, LiveDone *ret, Error *err)
{
    const LiveStmt *l = r->st->live;
    bool databases = l && l->kind == LK_DATABASE;

    ret->done = 1;
    for (size_t i = 0; i < 1 + (l ? l->also.n : 0); i++) {
        const StrVec *name = i ? &l->also.p[i - 1] : &r->st->name;
        TRY(databases ? drop_one_database(r, name, err) : drop_one_schema(r, name, ret, err));
        if (!ret->done && i)
            return FAIL(err, E_UNSUPPORTED, "schemas here and namespaces of the lake cannot be dropped in one statement");
        if (!ret->done)
            return OK;
    }
    return OK;
}

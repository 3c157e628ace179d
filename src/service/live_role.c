/* SPDX-License-Identifier: Apache-2.0 */
/* live_role.c - roles made, changed, dropped; who is a member of whom.
 *
 * Who signs in is a user or role of IAM, by its key; its role here is made at its first statement, or before by CREATE ROLE with its name. */
#include "service/live_sql.h"

#define ROLE_DOCS "for more information consult the documentation at https://materialize.com/docs/sql/create-role/#details"

static Status check_name(Str name, Error *err)
{
    if (!str_starts(name, S("mz_")) && !str_starts(name, S("pg_")) && !str_ieq(name, S("public")))
        return OK;
    RAISE(err, E_INVALID, "role name \"" STR_FMT "\" is reserved", STR_ARG(name));
    error_detail(err, "The role \"PUBLIC\" and the prefixes \"mz_\" and \"pg_\" are reserved for system roles.");
    return live_refuse(E_INVALID, "42939", err);
}

static Status set_superuser(Run *r, RealmRole *role, int on, Error *err)
{
    TRY(live_ask_superuser(r, on ? "create superuser role" : "alter superuser role", err));
    if (!on && str_eq(role->id, S(REALM_SUPERUSER)))
        return live_refuse(FAIL(err, E_DENIED, "role '" STR_FMT "' stays a superuser", STR_ARG(role->name)), "42501", err);
    role->superuser = on;
    return OK;
}

static Status read_option(Run *r, const LiveOption *o, RealmRole *role, Error *err)
{
    if (str_eq(o->name, S("INHERIT")) || str_eq(o->name, S("NOCREATEDB")) || str_eq(o->name, S("NOCREATEROLE")) || str_eq(o->name, S("NOCREATECLUSTER")))
        return OK;
    if (str_eq(o->name, S("NOINHERIT")))
        return live_refuse(FAIL(err, E_UNSUPPORTED, "non inherit roles not yet supported"), "0A000", err);
    if (str_eq(o->name, S("LOGIN")) || str_eq(o->name, S("NOLOGIN"))) {
        role->login = str_eq(o->name, S("LOGIN"));
        return OK;
    }
    if (str_eq(o->name, S("SUPERUSER")) || str_eq(o->name, S("NOSUPERUSER")))
        return (role->superuser != 0) == str_eq(o->name, S("SUPERUSER")) ? OK : set_superuser(r, role, str_eq(o->name, S("SUPERUSER")), err);
    if (str_eq(o->name, S("PASSWORD"))) {
        RAISE(err, E_UNSUPPORTED, "PASSWORD attribute is not supported");
        error_hint(err, "Make an IAM user of this name: its access key and secret are user name and password.");
        return live_refuse(E_UNSUPPORTED, "0A000", err);
    }
    RAISE(err, E_UNSUPPORTED, STR_FMT " attribute is not supported, " ROLE_DOCS, STR_ARG(o->name));
    error_hint(err, "Use system privileges instead: GRANT " STR_FMT " ON SYSTEM TO <role>.", STR_ARG(o->name));
    return live_refuse(E_UNSUPPORTED, "0A000", err);
}

static Json *details(Arena *a, const RealmRole *role)
{
    Json *j = json_object(a);
    json_set(a, j, "id", json_str(a, role->id));
    json_set(a, j, "name", json_str(a, role->name));
    return j;
}

/* Those that the system brings do not count. */
static size_t users(const RealmRoles *all)
{
    size_t n = 0;

    for vec_each(const RealmRole, x, all)
        n += !x->system;
    return n;
}

Status live_create_role(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    const LiveStmt *l = r->st->live;
    RealmRole role = { .name = vec_last(&r->st->name), .inherit = 1 }, there;
    Error absent;

    ret->done = 1;
    TRY(live_ask_system(r, 'R', err));
    TRY(check_name(role.name, err));
    TRY(live_check_ident(role.name, err));
    if (r->st->if_not_exists && realm_role(r->svc->realm, r->a, role.name, &there, &absent) == OK) {
        session_note(r->ss, "NOTICE", "42710", "role \"%s\" already exists, skipping", str_z(r->a, role.name));
        return OK;
    }
    for (size_t i = 0; i < l->options.n; i++)
        TRY(read_option(r, &l->options.p[i], &role, err));
    RealmRoles all = {0};
    realm_roles(r->svc->realm, r->a, &all);
    TRY(live_limit(r->svc, LIMIT_ROLES, users(&all), 1, err));
    TRY(realm_put_role(r->svc->realm, &role, err));
    live_audit(r, "create", "role", NULL, details(r->a, &role));
    return OK;
}

static void set_default(Run *r, RealmRole *role)
{
    const LiveStmt *l = r->st->live;

    if (l->setting_reset)
        props_del(&role->settings, l->setting);
    else
        props_set(r->a, &role->settings, l->setting, l->setting_value);
}

/* A role may change its own settings; the rest needs CREATEROLE. */
static Status ask_alter(Run *r, const RealmRole *role, Error *err)
{
    Str mine;

    TRY(live_role(r, &mine, err));
    if (r->st->live->alter == ALTER_ROLE_SET && str_eq(mine, role->id))
        return OK;
    return live_ask_system(r, 'R', err);
}

Status live_alter_role(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    const LiveStmt *l = r->st->live;
    RealmRole role;

    ret->done = 1;
    TRY(realm_role(r->svc->realm, r->a, vec_last(&r->st->name), &role, err));
    TRY(ask_alter(r, &role, err));
    if (role.system)
        return live_refuse(FAIL(err, E_DENIED, "role '" STR_FMT "' is a system role and cannot be modified", STR_ARG(role.name)), "42501", err);
    if (l->alter == ALTER_RENAME || l->alter == ALTER_OWNER)
        return live_refuse(FAIL(err, E_UNSUPPORTED, "ALTER ROLE ... %s not yet supported", l->alter == ALTER_RENAME ? "RENAME TO" : "OWNER TO"), "0A000", err);
    if (l->alter == ALTER_ROLE_SET)
        set_default(r, &role);
    for (size_t i = 0; i < l->options.n; i++)
        TRY(read_option(r, &l->options.p[i], &role, err));
    TRY(realm_put_role(r->svc->realm, &role, err));
    live_audit(r, "alter", "role", NULL, details(r->a, &role));
    return OK;
}

/* ---- DROP ROLE ------------------------------------------------------------------------------------------------------------------------ */

typedef struct Ties { Run *r; Str role; StrBuf text; size_t n; } Ties;

static void tie(Ties *t, const char *how, const char *kind, Str name)
{
    if (t->n++ < 10)                                      /* a message, not a report */
        sb_fmt(&t->text, "%s%s %s " STR_FMT, t->text.n ? "\n" : "", how, kind, STR_ARG(name));
}

static void tied_by_grants(Ties *t, const char *kind, Str name, Str owner, const RealmGrants *g)
{
    if (str_eq(owner, t->role))
        tie(t, "owner of", kind, name);
    for (size_t i = 0; i < g->n; i++)
        if (!str_eq(owner, t->role) && (str_eq(g->p[i].grantee, t->role) || str_eq(g->p[i].grantor, t->role)))
            tie(t, "privileges on", kind, name);
}

static void find_ties(Ties *t)
{
    Run *r = t->r;
    ObjectVec objects = {0};
    RealmDatabases databases = {0};
    RealmSchemas schemas = {0};
    RealmClusters clusters = {0};
    RealmGrants system = {0};
    RealmDefaults defaults = {0};

    objects_list(r->svc->objects, r->a, &objects);
    for (size_t i = 0; i < objects.n; i++)
        tied_by_grants(t, obj_kind_words(objects.p[i].kind), live_full(r->a, &objects.p[i]), objects.p[i].owner, &objects.p[i].grants);
    realm_databases(r->svc->realm, r->a, &databases);
    for (size_t i = 0; i < databases.n; i++)
        tied_by_grants(t, "database", databases.p[i].name, databases.p[i].owner, &databases.p[i].grants);
    realm_schemas(r->svc->realm, r->a, &schemas);
    for (size_t i = 0; i < schemas.n; i++)
        tied_by_grants(t, "schema", schemas.p[i].name, schemas.p[i].owner, &schemas.p[i].grants);
    realm_clusters(r->svc->realm, r->a, &clusters);
    for (size_t i = 0; i < clusters.n; i++)
        tied_by_grants(t, "cluster", clusters.p[i].name, clusters.p[i].owner, &clusters.p[i].grants);
    realm_system_grants(r->svc->realm, r->a, &system);
    tied_by_grants(t, "system", (Str){0}, (Str){0}, &system);
    realm_defaults(r->svc->realm, r->a, &defaults);
    for (size_t i = 0; i < defaults.n; i++)
        if (str_eq(defaults.p[i].role, t->role) || str_eq(defaults.p[i].grantee, t->role))
            tie(t, "default privileges on", str_z(r->a, defaults.p[i].kind), S("objects"));
}

static Status leave_others(Run *r, Str id, Error *err)
{
    RealmRoles all = {0};

    realm_roles(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++) {
        size_t k = 0, n = all.p[i].member_of.n;
        for (size_t m = 0; m < n; m++)
            if (!str_eq(all.p[i].member_of.p[m].role, id))
                all.p[i].member_of.p[k++] = all.p[i].member_of.p[m];
        all.p[i].member_of.n = k;
        if (k != n)
            TRY(realm_put_role(r->svc->realm, &all.p[i], err));
    }
    return OK;
}

static Status drop_one(Run *r, const StrVec *name, Error *err)
{
    Ties t = { .r = r, .text = sb_new(r->a) };
    RealmRole role;
    Error absent;
    Str mine;

    if (r->st->if_exists && realm_role(r->svc->realm, r->a, vec_last(name), &role, &absent) != OK) {
        live_note_absent(r, "role", name);
        return OK;
    }
    TRY(realm_role(r->svc->realm, r->a, vec_last(name), &role, err));
    TRY(live_role(r, &mine, err));
    if (role.system || str_eq(role.id, S(REALM_SUPERUSER)))
        return live_refuse(FAIL(err, E_DENIED, "role '" STR_FMT "' is required by the system and cannot be dropped", STR_ARG(role.name)), "42501", err);
    if (str_eq(mine, role.id))
        return live_refuse(FAIL(err, E_INVALID, "current role cannot be dropped"), "55006", err);
    t.role = role.id;
    find_ties(&t);
    if (t.n) {
        RAISE(err, E_CONFLICT, "role \"" STR_FMT "\" cannot be dropped because some objects depend on it", STR_ARG(role.name));
        error_detail(err, STR_FMT, STR_ARG(sb_str(&t.text)));
        return live_refuse(E_CONFLICT, "2BP01", err);
    }
    TRY(leave_others(r, role.id, err));
    TRY(realm_delete(r->svc->realm, S("role"), role.id, err));
    live_audit(r, "drop", "role", NULL, details(r->a, &role));
    return OK;
}

Status live_drop_roles(Run *r, Error *err)
{
    TRY(live_ask_system(r, 'R', err));
    TRY(drop_one(r, &r->st->name, err));
    for (size_t i = 0; i < r->st->live->also.n; i++)
        TRY(drop_one(r, &r->st->live->also.p[i], err));
    return OK;
}

/* ---- GRANT role TO role ------------------------------------------------------------------------------------------------------------------ */

static bool is_direct(const RealmRole *member, Str of)
{
    for (size_t i = 0; i < member->member_of.n; i++)
        if (str_eq(member->member_of.p[i].role, of))
            return true;
    return false;
}

static Status join(Run *r, RealmRole *member, const RealmRole *of, Str grantor, Error *err)
{
    RealmMember m = { .role = of->id, .grantor = grantor };

    if (is_direct(member, of->id)) {
        session_note(r->ss, "NOTICE", "00000", "role \"%s\" is already a member of role \"%s\"", str_z(r->a, member->name), str_z(r->a, of->name));
        return OK;
    }
    if (realm_is_member(r->svc->realm, of->id, member->id))
        return live_refuse(FAIL(err, E_INVALID, "role \"" STR_FMT "\" is a member of role \"" STR_FMT "\"", STR_ARG(of->name), STR_ARG(member->name)), "0LP01", err);
    vec_push(r->a, &member->member_of, m);
    return realm_put_role(r->svc->realm, member, err);
}

static Status part(Run *r, RealmRole *member, const RealmRole *of, Error *err)
{
    size_t k = 0;

    if (!is_direct(member, of->id)) {
        session_note(r->ss, "NOTICE", "00000", "role \"%s\" is not a member of role \"%s\"", str_z(r->a, member->name), str_z(r->a, of->name));
        return OK;
    }
    for (size_t i = 0; i < member->member_of.n; i++)
        if (!str_eq(member->member_of.p[i].role, of->id))
            member->member_of.p[k++] = member->member_of.p[i];
    member->member_of.n = k;
    return realm_put_role(r->svc->realm, member, err);
}

static Status usable_role(Run *r, Str name, RealmRole *ret, Error *err)
{
    TRY(check_name(name, err));
    return realm_role(r->svc->realm, r->a, name, ret, err);
}

Status live_grant_roles(Run *r, Error *err)
{
    const LiveStmt *l = r->st->live;
    RealmRole of, member;
    Str mine;

    TRY(live_ask_system(r, 'R', err));
    TRY(live_role(r, &mine, err));
    for (size_t i = 0; i < l->roles.n; i++)
        for (size_t k = 0; k < l->grantees.n; k++) {
            TRY(usable_role(r, l->roles.p[i], &of, err));
            TRY(usable_role(r, l->grantees.p[k], &member, err));
            if (of.superuser)
                TRY(live_ask_superuser(r, "grant membership of a superuser role", err));
            TRY(r->st->kind == ST_GRANT ? join(r, &member, &of, mine, err) : part(r, &member, &of, err));
            Json *j = details(r->a, &of);
            json_set(r->a, j, "member_id", json_str(r->a, member.id));
            live_audit(r, r->st->kind == ST_GRANT ? "grant" : "revoke", "role", NULL, j);
        }
    return OK;
}

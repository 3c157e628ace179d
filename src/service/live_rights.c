/* SPDX-License-Identifier: Apache-2.0 */
/* live_rights.c - who may do what on the live side, in Materialize's words (its manual: access control).
 *
 * The session's principal is a role: the account root is `materialize`, a superuser; a user or role of IAM is the role of its name. Rights of a view's definition are
 * its owner's (r->live_as).  Vended credentials of one table's storage are no role at all. */
#include "service/live_sql.h"

static Str last_part(Str arn)
{
    ptrdiff_t at = str_rchr(arn, '/');
    return at < 0 ? arn : str_from(arn, (size_t)at + 1);
}

static Status role_of_principal(Run *r, RealmRole *ret, Error *err)
{
    const Principal *p = &r->ss->principal;

    if (p->kind == PR_ROLE)
        return realm_role_of_principal(r->svc->realm, r->a, p->role_arn, last_part(p->role_arn), S("role"), ret, err);
    Str prefix = str_find(p->arn, S(":federated-user/")) >= 0 ? S("federated") : S("user");
    return realm_role_of_principal(r->svc->realm, r->a, p->arn, last_part(p->arn), prefix, ret, err);
}

Status live_role(Run *r, Str *id, Error *err)
{
    RealmRole role;

    if (r->ss->principal.scope)
        return live_refuse(FAIL(err, E_DENIED, "permission denied: these credentials are for the files of some tables"), "42501", err);
    if (r->live_as.n) {
        *id = r->live_as;
        return OK;
    }
    if (r->ss->principal.kind == PR_ROOT || r->ss->principal.kind == PR_SYSTEM) {
        *id = r->ss->principal.kind == PR_ROOT ? S(REALM_SUPERUSER) : S(REALM_SYSTEM_ROLE);
        return OK;
    }
    TRY(role_of_principal(r, &role, err));
    *id = role.id;
    return OK;
}

/* ---- refusals -------------------------------------------------------------------------------------------------------------- */

static Status denied(Run *r, Str role, char letter, Str what, Error *err)
{
    RAISE(err, E_DENIED, "permission denied for " STR_FMT, STR_ARG(what));
    error_detail(err, "The '" STR_FMT "' role needs %s privileges on " STR_FMT, STR_ARG(realm_role_name(r->svc->realm, r->a, role)), realm_privilege_word(letter), STR_ARG(what));
    return live_refuse(E_DENIED, "42501", err);
}

static Status ask(Run *r, char letter, Str owner, const RealmGrants *grants, Str what, Error *err)
{
    Str role;

    TRY(live_role(r, &role, err));
    return realm_holds(r->svc->realm, role, owner, grants, letter) ? OK : denied(r, role, letter, what, err);
}

static Str upper_words(Arena *a, ObjKind k) { return str_upper(a, str_c(obj_kind_words(k))); }

/* ---- questions ---------------------------------------------------------------------------------------------------------------- */

Status live_ask_database(Run *r, char letter, Str database, Error *err)
{
    RealmDatabase d;

    TRY(realm_database(r->svc->realm, r->a, database, &d, err));
    return ask(r, letter, d.owner, &d.grants, str_fmt(r->a, "DATABASE \"" STR_FMT "\"", STR_ARG(database)), err);
}

Status live_ask_schema(Run *r, char letter, Str database, Str schema, Error *err)
{
    RealmSchema s;

    if (str_starts(schema, S(LIVE_TEMP_SCHEMA)))
        return OK;
    TRY(realm_schema(r->svc->realm, r->a, database, schema, &s, err));
    Str what = s.database.n ? str_fmt(r->a, "SCHEMA \"" STR_FMT "." STR_FMT "\"", STR_ARG(database), STR_ARG(schema)) : str_fmt(r->a, "SCHEMA \"" STR_FMT "\"", STR_ARG(schema));
    return ask(r, letter, s.owner, &s.grants, what, err);
}

Status live_ask_cluster(Run *r, char letter, const RealmCluster *c, Error *err)
{
    return ask(r, letter, c->owner, &c->grants, str_fmt(r->a, "CLUSTER \"" STR_FMT "\"", STR_ARG(c->name)), err);
}

/* The session's cluster, which would do the reading. */
Status live_ask_session_cluster(Run *r, Error *err)
{
    Str name = setting_get(r->ss, S("cluster"), S("quickstart")), role;
    RealmCluster c;

    TRY(live_role(r, &role, err));
    switch (realm_may_use(r->svc->realm, name, role)) {
    case CLUSTER_USABLE: return OK;
    case CLUSTER_PAUSED:
        RAISE(err, E_UNAVAILABLE, "CLUSTER \"" STR_FMT "\" has no replicas available to service request", STR_ARG(name));
        error_hint(err, "Use ALTER CLUSTER " STR_FMT " SET (REPLICATION FACTOR 1), or SET cluster to another one.", STR_ARG(sql_ident_str(r->a, name)));
        return live_refuse(E_UNAVAILABLE, "55000", err);
    case CLUSTER_UNKNOWN: return live_refuse(FAIL(err, E_INVALID, "unknown cluster '" STR_FMT "'", STR_ARG(name)), "42704", err);
    case CLUSTER_DENIED: break;
    }
    TRY(realm_cluster(r->svc->realm, r->a, name, &c, err));
    return live_ask_cluster(r, 'U', &c, err);
}

Status live_ask_system(Run *r, char letter, Error *err)
{
    RealmGrants g = {0};
    realm_system_grants(r->svc->realm, r->a, &g);
    return ask(r, letter, (Str){0}, &g, S("SYSTEM"), err);
}

Status live_ask(Run *r, char letter, const Object *o, Error *err)
{
    TRY(live_ask_schema(r, 'U', o->database, o->schema, err));
    if (!letter)
        return OK;
    return ask(r, letter, o->owner, &o->grants, str_fmt(r->a, STR_FMT " \"" STR_FMT "\"", STR_ARG(upper_words(r->a, o->kind)), STR_ARG(live_full(r->a, o))), err);
}

Status live_ask_superuser(Run *r, const char *to_what, Error *err)
{
    Str role;

    TRY(live_role(r, &role, err));
    if (realm_is_superuser(r->svc->realm, role))
        return OK;
    RAISE(err, E_DENIED, "permission denied to %s", to_what);
    error_detail(err, "You must be a superuser");
    return live_refuse(E_DENIED, "42501", err);
}

Status live_ask_owner_of(Run *r, const char *kind, Str name, Str owner, Error *err)
{
    Str role;

    TRY(live_role(r, &role, err));
    if (realm_is_superuser(r->svc->realm, role) || realm_is_member(r->svc->realm, role, owner))
        return OK;
    return live_refuse(FAIL(err, E_DENIED, "must be owner of %s " STR_FMT, kind, STR_ARG(name)), "42501", err);
}

Status live_ask_owner(Run *r, const Object *o, Error *err)
{
    return live_ask_owner_of(r, str_z(r->a, upper_words(r->a, o->kind)), live_full(r->a, o), o->owner, err);
}

Status live_ask_member(Run *r, Str role, Error *err)
{
    Str mine;

    TRY(live_role(r, &mine, err));
    if (realm_is_superuser(r->svc->realm, mine) || realm_is_member(r->svc->realm, mine, role))
        return OK;
    return live_refuse(FAIL(err, E_DENIED, "must be a member of \"" STR_FMT "\"", STR_ARG(realm_role_name(r->svc->realm, r->a, role))), "42501", err);
}

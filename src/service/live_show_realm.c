/* SPDX-License-Identifier: Apache-2.0 */
/* live_show_realm.c - SHOW of what is no object: databases, schemas, clusters, replicas, roles, memberships, privileges. */
#include "service/live_show_int.h"

#include <stdlib.h>

static void columns(Rows *rows, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rows_column(rows, names[i], DT_STRING);
}

static void named(Rows *rows, Str name, Str comment)
{
    Value *row = rows_row(rows);
    cell_str(rows, row, 0, name);
    cell_str(rows, row, 1, comment);
}

/* ---- places ---------------------------------------------------------------------------------------------------------------------- */

static Status show_databases(Run *r, Rows *rows, Error *err UNUSED)
{
    static const char *const names[] = { "name", "comment" };
    RealmDatabases all = {0};

    columns(rows, names, COUNT_OF(names));
    realm_databases(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        if (show_wants(r, all.p[i].name))
            named(rows, all.p[i].name, all.p[i].comment);
    return OK;
}

static Status show_schemas(Run *r, Rows *rows, Error *err)
{
    static const char *const names[] = { "name", "comment" };
    RealmSchemas all = {0};
    RealmDatabase d;

    TRY(realm_database(r->svc->realm, r->a, r->st->name.n ? vec_last(&r->st->name) : live_database(r), &d, err));
    columns(rows, names, COUNT_OF(names));
    realm_schemas(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        if ((!all.p[i].database.n || str_eq(all.p[i].database, d.id)) && show_wants(r, all.p[i].name))
            named(rows, all.p[i].name, all.p[i].comment);
    return OK;
}

/* ---- clusters ------------------------------------------------------------------------------------------------------------------------ */

static Str replicas_text(Arena *a, const RealmCluster *c)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; i < c->replicas.n; i++)
        sb_fmt(&b, "%s" STR_FMT " (" STR_FMT ")", i ? ", " : "", STR_ARG(c->replicas.p[i].name), STR_ARG(c->replicas.p[i].size));
    return sb_str(&b);
}

static int by_cluster(const void *x, const void *y) { return str_cmp(((const RealmCluster *)x)->name, ((const RealmCluster *)y)->name); }

static void clusters_by_name(Run *r, RealmClusters *ret)
{
    realm_clusters(r->svc->realm, r->a, ret);
    if (ret->n)
        qsort(ret->p, ret->n, sizeof *ret->p, by_cluster);
}

static Status show_clusters(Run *r, Rows *rows, Error *err UNUSED)
{
    static const char *const names[] = { "name", "replicas", "comment" };
    RealmClusters all = {0};

    columns(rows, names, COUNT_OF(names));
    clusters_by_name(r, &all);
    for (size_t i = 0; i < all.n; i++) {
        if (!show_wants(r, all.p[i].name))
            continue;
        Value *row = rows_row(rows);
        cell_str(rows, row, 0, all.p[i].name);
        cell_str(rows, row, 1, replicas_text(r->a, &all.p[i]));
        cell_str(rows, row, 2, all.p[i].comment);
    }
    return OK;
}

static Status show_replicas(Run *r, Rows *rows, Error *err UNUSED)
{
    static const char *const names[] = { "cluster", "replica", "size" };
    RealmClusters all = {0};

    columns(rows, names, COUNT_OF(names));
    rows_column(rows, "ready", DT_BOOL);
    rows_column(rows, "comment", DT_STRING);
    clusters_by_name(r, &all);
    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; show_wants(r, all.p[i].name) && k < all.p[i].replicas.n; k++) {
            Value *row = rows_row(rows);
            cell_str(rows, row, 0, all.p[i].name);
            cell_str(rows, row, 1, all.p[i].replicas.p[k].name);
            cell_str(rows, row, 2, all.p[i].replicas.p[k].size);
            cell_bool(rows, row, 3, 1);
            cell_str(rows, row, 4, all.p[i].replicas.p[k].comment);
        }
    return OK;
}

static LiveOption option(const char *name, OptionKind kind, Str text) { return (LiveOption){ .name = str_c(name), .kind = kind, .text = text }; }

static Str interval_text(Arena *a, int64_t ms) { return ms % 1000 ? str_fmt(a, "%lld ms", (long long)ms) : str_fmt(a, "%lld s", (long long)(ms / 1000)); }

static void cluster_options(Arena *a, const RealmCluster *c, LiveStmt *l)
{
    if (!c->managed) {
        l->has_replicas = 1;
        for (size_t i = 0; i < c->replicas.n; i++) {
            LiveReplica one = { .name = c->replicas.p[i].name };
            vec_push(a, &one.options, option("SIZE", OPT_STRING, c->replicas.p[i].size));
            vec_push(a, &l->replicas, one);
        }
        return;
    }
    vec_push(a, &l->options, option("INTROSPECTION DEBUGGING", OPT_BOOL, c->introspection_debugging ? S("true") : S("false")));
    vec_push(a, &l->options, option("INTROSPECTION INTERVAL", OPT_STRING, interval_text(a, c->introspection_ms)));
    vec_push(a, &l->options, option("MANAGED", OPT_BOOL, S("true")));
    bool scheduled = str_eq(c->schedule, S("on-refresh"));
    if (!scheduled)                                       /* else it is the schedule's matter */
        vec_push(a, &l->options, option("REPLICATION FACTOR", OPT_NUMBER, str_fmt(a, "%lld", (long long)c->replication_factor)));
    vec_push(a, &l->options, option("SIZE", OPT_STRING, c->size));
    LiveOption schedule = scheduled ? option("SCHEDULE", OPT_GROUP, S("ON REFRESH")) : option("SCHEDULE", OPT_NAME, S("manual"));
    if (scheduled && c->hydration_ms)
        vec_push(a, &schedule.list, option("HYDRATION TIME ESTIMATE", OPT_STRING, interval_text(a, c->hydration_ms)));
    vec_push(a, &l->options, schedule);
    if (c->workload.n)
        vec_push(a, &l->options, option("WORKLOAD CLASS", OPT_STRING, c->workload));
}

Status show_create_cluster(Run *r, Rows *rows, Error *err)
{
    static const char *const names[] = { "name", "create_sql" };
    LiveStmt l = { .verb = LV_CREATE, .kind = LK_CLUSTER };
    Stmt st = { .kind = ST_LIVE, .live = &l };
    RealmCluster c;

    TRY(realm_cluster(r->svc->realm, r->a, r->st->name.p[0], &c, err));
    columns(rows, names, COUNT_OF(names));
    vec_push(r->a, &st.name, c.name);
    cluster_options(r->a, &c, &l);
    named(rows, c.name, str_cat(r->a, sql_live_text(r->a, &st, LIVE_TEXT_WHOLE), S(";")));
    return OK;
}

/* ---- roles ---------------------------------------------------------------------------------------------------------------------------- */

static Status show_roles(Run *r, Rows *rows, Error *err UNUSED)
{
    static const char *const names[] = { "name", "comment" };
    RealmRoles all = {0};

    columns(rows, names, COUNT_OF(names));
    realm_roles(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        if (show_wants(r, all.p[i].name))
            named(rows, all.p[i].name, all.p[i].comment);
    return OK;
}

static Str role_name(Run *r, Str id) { return str_eq(id, S(REALM_PUBLIC)) ? S("PUBLIC") : realm_role_name(r->svc->realm, r->a, id); }

/* FOR role: what it holds, by its memberships too. */
static Status for_role(Run *r, Str *id, Error *err)
{
    RealmRole role;

    *id = (Str){0};
    if (!r->st->live || !r->st->live->roles.n)
        return OK;
    TRY(realm_role(r->svc->realm, r->a, r->st->live->roles.p[0], &role, err));
    *id = role.id;
    return OK;
}

static Status show_members(Run *r, Rows *rows, Error *err)
{
    static const char *const names[] = { "role", "member", "grantor" };
    RealmRoles all = {0};
    Str only;

    TRY(for_role(r, &only, err));
    columns(rows, names, COUNT_OF(names));
    realm_roles(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < all.p[i].member_of.n; k++) {
            const RealmMember *m = &all.p[i].member_of.p[k];
            if (only.n && !realm_is_member(r->svc->realm, only, all.p[i].id))
                continue;
            Value *row = rows_row(rows);
            cell_str(rows, row, 0, role_name(r, m->role));
            cell_str(rows, row, 1, all.p[i].name);
            cell_str(rows, row, 2, role_name(r, m->grantor));
        }
    return OK;
}

/* ---- privileges -------------------------------------------------------------------------------------------------------------------------- */

typedef struct Shown { Run *r; Rows *rows; Str only; LiveKind kind; } Shown;

static void privilege_rows(const Shown *s, Str database, Str schema, Str name, const char *kind, const RealmGrants *g)
{
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->p[i].letters.n; k++) {
            if (s->only.n && !realm_is_member(s->r->svc->realm, s->only, g->p[i].grantee))
                continue;
            Value *row = rows_row(s->rows);
            cell_str(s->rows, row, 0, role_name(s->r, g->p[i].grantor));
            cell_str(s->rows, row, 1, role_name(s->r, g->p[i].grantee));
            if (database.n)
                cell_str(s->rows, row, 2, database);
            if (schema.n)
                cell_str(s->rows, row, 3, schema);
            if (name.n)
                cell_str(s->rows, row, 4, name);
            cell_str(s->rows, row, 5, str_c(kind));
            cell_str(s->rows, row, 6, str_c(realm_privilege_word(g->p[i].letters.p[k])));
        }
}

static bool kind_wanted(const Shown *s, LiveKind is) { return s->kind == LK_NONE || s->kind == is; }

static LiveKind live_kind(ObjKind k)
{
    return k == OBJ_CONNECTION ? LK_CONNECTION : k == OBJ_SECRET ? LK_SECRET : k == OBJ_TYPE ? LK_TYPE : LK_TABLE;
}

static void objects_privileges(const Shown *s)
{
    ObjectVec all = {0};

    show_objects(s->r, &all);
    for (size_t i = 0; i < all.n; i++)
        if (kind_wanted(s, live_kind(all.p[i].kind)))
            privilege_rows(s, all.p[i].database, all.p[i].schema, all.p[i].name, obj_kind_name(all.p[i].kind), &all.p[i].grants);
}

static void places_privileges(const Shown *s)
{
    RealmDatabases databases = {0};
    RealmSchemas schemas = {0};
    RealmClusters clusters = {0};
    RealmGrants system = {0};

    realm_databases(s->r->svc->realm, s->r->a, &databases);
    for (size_t i = 0; kind_wanted(s, LK_DATABASE) && i < databases.n; i++)
        privilege_rows(s, (Str){0}, (Str){0}, databases.p[i].name, "database", &databases.p[i].grants);
    realm_schemas(s->r->svc->realm, s->r->a, &schemas);
    for (size_t i = 0; kind_wanted(s, LK_SCHEMA) && i < schemas.n; i++)
        for (size_t k = 0; k < databases.n; k++)
            if (str_eq(databases.p[k].id, schemas.p[i].database))
                privilege_rows(s, databases.p[k].name, (Str){0}, schemas.p[i].name, "schema", &schemas.p[i].grants);
    clusters_by_name(s->r, &clusters);
    for (size_t i = 0; kind_wanted(s, LK_CLUSTER) && i < clusters.n; i++)
        privilege_rows(s, (Str){0}, (Str){0}, clusters.p[i].name, "cluster", &clusters.p[i].grants);
    realm_system_grants(s->r->svc->realm, s->r->a, &system);
    if (kind_wanted(s, LK_SYSTEM))
        privilege_rows(s, (Str){0}, (Str){0}, (Str){0}, "system", &system);
}

static Status show_privileges(Run *r, Rows *rows, Error *err)
{
    static const char *const names[] = { "grantor", "grantee", "database", "schema", "name", "object_type", "privilege_type" };
    Shown s = { .r = r, .rows = rows, .kind = r->st->live ? r->st->live->kind : LK_NONE };

    TRY(for_role(r, &s.only, err));
    columns(rows, names, COUNT_OF(names));
    places_privileges(&s);
    objects_privileges(&s);
    return OK;
}

static Str place_name(Run *r, Str database, Str schema, int which)
{
    RealmDatabases databases = {0};
    RealmSchemas schemas = {0};

    realm_databases(r->svc->realm, r->a, &databases);
    for (size_t i = 0; !which && i < databases.n; i++)
        if (str_eq(databases.p[i].id, database))
            return databases.p[i].name;
    realm_schemas(r->svc->realm, r->a, &schemas);
    for (size_t i = 0; which && i < schemas.n; i++)
        if (str_eq(schemas.p[i].id, schema))
            return schemas.p[i].name;
    return (Str){0};
}

static Status show_defaults(Run *r, Rows *rows, Error *err)
{
    static const char *const names[] = { "object_owner", "database", "schema", "object_type", "grantee", "privilege_type" };
    RealmDefaults all = {0};
    Str only;

    TRY(for_role(r, &only, err));
    columns(rows, names, COUNT_OF(names));
    realm_defaults(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < all.p[i].letters.n; k++) {
            const RealmDefault *d = &all.p[i];
            if (only.n && !realm_is_member(r->svc->realm, only, d->role))
                continue;
            Value *row = rows_row(rows);
            cell_str(rows, row, 0, role_name(r, d->role));
            if (d->database.n)
                cell_str(rows, row, 1, place_name(r, d->database, d->schema, 0));
            if (d->schema.n)
                cell_str(rows, row, 2, place_name(r, d->database, d->schema, 1));
            cell_str(rows, row, 3, d->kind);
            cell_str(rows, row, 4, role_name(r, d->grantee));
            cell_str(rows, row, 5, str_c(realm_privilege_word(d->letters.p[k])));
        }
    return OK;
}

static Status show_policies(Run *r UNUSED, Rows *rows, Error *err UNUSED)
{
    static const char *const names[] = { "name", "rules", "comment" };
    columns(rows, names, COUNT_OF(names));
    return OK;
}

/* ---- which --------------------------------------------------------------------------------------------------------------------------------- */

static bool is_namespaces(const Run *r, LiveKind kind)
{
    bool live = str_eq(r->st->what, S("namespaces")) && (r->st->live ? r->st->live->kind : LK_SCHEMA) == kind;
    if (!live || kind == LK_DATABASE)
        return live;
    return !r->st->name.n || (r->st->name.n == 1 && realm_has_database(r->svc->realm, r->st->name.p[0]));
}

int show_realm(Run *r, Rows *rows, Error *err)
{
    static const struct { const char *what; Status (*show)(Run *r, Rows *rows, Error *err); } table[] = {
        { "clusters", show_clusters }, { "cluster replicas", show_replicas }, { "roles", show_roles }, { "role membership", show_members },
        { "privileges", show_privileges }, { "default privileges", show_defaults }, { "network policies", show_policies },
    };

    if (is_namespaces(r, LK_DATABASE))
        return show_databases(r, rows, err) == OK ? 1 : -1;
    if (is_namespaces(r, LK_SCHEMA))
        return show_schemas(r, rows, err) == OK ? 1 : -1;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (str_eq(r->st->what, str_c(table[i].what)))
            return table[i].show(r, rows, err) == OK ? 1 : -1;
    return 0;
}

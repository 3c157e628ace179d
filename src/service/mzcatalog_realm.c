/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog_realm.c - databases, schemas, clusters, roles and their privileges; comments; the audit log. */
#include "service/mzcatalog_int.h"

static void acls(MzFill *f, Str owner, const char *all, const RealmGrants *g)
{
    StrVec v = {0};
    mz_acls(f->a, owner, all, g, &v);
    mz_list(f, &v);
}

Status mzf_databases(MzFill *f)
{
    for vec_each(RealmDatabase, d, &f->w->databases) {
        mz_str(f, d->id);
        mz_int(f, mz_realm_oid('d', d->id));
        mz_str(f, d->name);
        mz_str(f, d->owner);
        acls(f, d->owner, "UC", &d->grants);
        mz_end(f);
    }
    return OK;
}

Status mzf_schemas(MzFill *f)
{
    for vec_each(RealmSchema, s, &f->w->schemas) {
        mz_str(f, s->id);
        mz_int(f, mz_realm_oid('s', s->id));
        mz_opt(f, s->database);
        mz_str(f, s->name);
        mz_str(f, s->owner);
        acls(f, s->owner, "UC", &s->grants);
        mz_end(f);
    }
    return OK;
}

/* ---- clusters --------------------------------------------------------------------------------------------------------------------- */

Status mzf_clusters(MzFill *f)
{
    for vec_each(RealmCluster, c, &f->w->clusters) {
        mz_str(f, c->id);
        mz_str(f, c->name);
        mz_str(f, c->owner);
        acls(f, c->owner, "UC", &c->grants);
        mz_bool(f, c->managed);
        mz_opt(f, c->managed ? c->size : (Str){0});
        if (c->managed)
            mz_int(f, c->replication_factor), mz_bool(f, 1);
        else
            mz_null(f), mz_null(f);
        mz_list(f, c->managed && c->zones.n ? &c->zones : NULL);
        mz_bool(f, c->introspection_debugging);
        mz_interval(f, c->introspection_ms);
        mz_end(f);
    }
    return OK;
}

Status mzf_replicas(MzFill *f)
{
    for vec_each(RealmCluster, c, &f->w->clusters)
        for vec_each(RealmReplica, p, &c->replicas) {
            mz_str(f, p->id);
            mz_str(f, p->name);
            mz_str(f, c->id);
            mz_opt(f, p->size);
            mz_opt(f, p->zone);
            mz_str(f, p->owner);
            mz_bool(f, 1);
            mz_end(f);
        }
    return OK;
}

/* The sizes of Materialize's manual; here each is a share of the one machine, so the numbers are those of the manual, not of what runs. */
Status mzf_replica_sizes(MzFill *f)
{
    static const struct { const char *size; int workers; int64_t millicores, memory_mb, cents; } SIZES[] = {
        { "25cc", 1, 500, 3814, 25 }, { "50cc", 1, 1000, 7629, 50 }, { "100cc", 2, 2000, 15259, 100 }, { "200cc", 4, 4000, 30518, 200 }, { "300cc", 6, 6000, 45776, 300 },
        { "400cc", 8, 8000, 61035, 400 }, { "600cc", 12, 12000, 91553, 600 }, { "800cc", 16, 16000, 122070, 800 }, { "1200cc", 24, 24000, 183105, 1200 },
        { "1600cc", 31, 31000, 236511, 1600 }, { "3200cc", 62, 62000, 473022, 3200 }, { "6400cc", 62, 62000, 473022, 6400 }, { "128C", 62, 62000, 473022, 12800 },
        { "256C", 62, 62000, 473022, 25600 }, { "512C", 62, 62000, 473022, 51200 }, { "M.1-nano", 1, 500, 13351, 75 }, { "M.1-micro", 2, 1000, 26703, 150 },
        { "M.1-xsmall", 4, 2000, 53406, 300 }, { "M.1-small", 8, 4000, 106812, 600 },
    };

    for (size_t i = 0; i < COUNT_OF(SIZES); i++) {
        mz_str(f, str_c(SIZES[i].size));
        mz_u64(f, 1);
        mz_u64(f, (uint64_t)SIZES[i].workers);
        mz_u64(f, (uint64_t)SIZES[i].millicores * 1000000);
        mz_u64(f, (uint64_t)SIZES[i].memory_mb << 20);
        mz_u64(f, (uint64_t)SIZES[i].memory_mb << 20);
        mz_cents(f, SIZES[i].cents);
        mz_end(f);
    }
    return OK;
}

Status mzf_replica_statuses(MzFill *f)
{
    for vec_each(RealmCluster, c, &f->w->clusters)
        for vec_each(RealmReplica, p, &c->replicas) {
            mz_str(f, p->id);
            mz_u64(f, 0);
            mz_str(f, S("online"));
            mz_null(f);
            mz_time(f, f->r->svc->started_ms);
            mz_end(f);
        }
    return OK;
}

Status mzf_schedules(MzFill *f)
{
    for vec_each(RealmCluster, c, &f->w->clusters) {
        mz_str(f, c->id);
        mz_str(f, c->schedule.n ? c->schedule : S("manual"));
        mz_interval(f, str_eq(c->schedule, S("on-refresh")) ? c->hydration_ms : -1);
        mz_end(f);
    }
    return OK;
}

Status mzf_workloads(MzFill *f)
{
    for vec_each(RealmCluster, c, &f->w->clusters) {
        mz_str(f, c->id);
        mz_opt(f, c->workload);
        mz_end(f);
    }
    return OK;
}

/* ---- roles -------------------------------------------------------------------------------------------------------------------------- */

Status mzf_roles(MzFill *f)
{
    for vec_each(RealmRole, x, &f->w->roles) {
        mz_str(f, x->id);
        mz_int(f, mz_realm_oid('r', x->id));
        mz_str(f, x->name);
        mz_bool(f, x->inherit);
        mz_bool(f, x->login);
        mz_bool(f, x->superuser);
        mz_end(f);
    }
    return OK;
}

Status mzf_role_members(MzFill *f)
{
    for vec_each(RealmRole, x, &f->w->roles)
        for (size_t i = 0; i < x->member_of.n; i++) {
            mz_str(f, x->member_of.p[i].role);
            mz_str(f, x->id);
            mz_str(f, x->member_of.p[i].grantor);
            mz_end(f);
        }
    return OK;
}

Status mzf_role_parameters(MzFill *f)
{
    for vec_each(RealmRole, x, &f->w->roles)
        for vec_each(KeyValue, kv, &x->settings) {
            mz_str(f, x->id);
            mz_str(f, kv->key);
            mz_str(f, kv->value);
            mz_end(f);
        }
    return OK;
}

Status mzf_default_privileges(MzFill *f)
{
    RealmDefaults all = {0};

    realm_defaults(f->r->svc->realm, f->a, &all);
    for vec_each(RealmDefault, d, &all) {
        mz_str(f, d->role);
        mz_opt(f, d->database);
        mz_opt(f, d->schema);
        mz_str(f, d->kind);
        mz_str(f, d->grantee);
        mz_str(f, d->letters);
        mz_end(f);
    }
    return OK;
}

Status mzf_system_privileges(MzFill *f)
{
    RealmGrants g = {0};

    realm_system_grants(f->r->svc->realm, f->a, &g);
    for vec_each(RealmGrant, x, &g) {
        mz_str(f, mz_acl(f->a, x));
        mz_end(f);
    }
    return OK;
}

/* ---- privileges by name, one a row ---------------------------------------------------------------------------------------------------- */

typedef struct On { Str database, schema, name; const char *type; } On;

static void privilege_rows(MzFill *f, const RealmGrants *g, On on)
{
    Realm *realm = f->r->svc->realm;

    for vec_each(const RealmGrant, x, g)
        for (size_t i = 0; i < x->letters.n; i++) {
            mz_str(f, realm_role_name(realm, f->a, x->grantor));
            mz_str(f, realm_role_name(realm, f->a, x->grantee));
            mz_opt(f, on.database);
            mz_opt(f, on.schema);
            mz_opt(f, on.name);
            mz_str(f, str_c(on.type));
            mz_str(f, str_c(realm_privilege_word(x->letters.p[i])));
            mz_end(f);
        }
}

Status mzf_show_privileges(MzFill *f)
{
    RealmGrants system = {0};

    realm_system_grants(f->r->svc->realm, f->a, &system);
    privilege_rows(f, &system, (On){ .type = "system" });
    for vec_each(RealmCluster, c, &f->w->clusters)
        privilege_rows(f, &c->grants, (On){ .name = c->name, .type = "cluster" });
    for vec_each(RealmDatabase, d, &f->w->databases)
        privilege_rows(f, &d->grants, (On){ .name = d->name, .type = "database" });
    for vec_each(RealmSchema, s, &f->w->schemas) {
        const RealmDatabase *d = mz_database_by_id(f->w, s->database);
        privilege_rows(f, &s->grants, (On){ .database = d ? d->name : (Str){0}, .name = s->name, .type = "schema" });
    }
    for vec_each(Object, o, &f->w->objects)
        privilege_rows(f, &o->grants, (On){ o->database, o->schema, o->name, obj_kind_name(o->kind) });
    return OK;
}

/* ---- comments, the audit log ------------------------------------------------------------------------------------------------------------ */

static void comment(MzFill *f, Str id, const char *type, size_t column, Str text)
{
    if (!text.n)
        return;
    mz_str(f, id);
    mz_str(f, str_c(type));
    if (column)
        mz_int(f, (int64_t)column);
    else
        mz_null(f);
    mz_str(f, text);
    mz_end(f);
}

Status mzf_comments(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        comment(f, mz_id(f->a, o->id), obj_kind_name(o->kind), 0, o->comment);
        for (size_t i = 0; i < o->columns.n; i++)
            comment(f, mz_id(f->a, o->id), obj_kind_name(o->kind), i + 1, props_get(&o->column_comments, o->columns.p[i].name, (Str){0}));
    }
    for vec_each(RealmDatabase, d, &f->w->databases)
        comment(f, d->id, "database", 0, d->comment);
    for vec_each(RealmSchema, s, &f->w->schemas)
        comment(f, s->id, "schema", 0, s->comment);
    for vec_each(RealmCluster, c, &f->w->clusters)
        comment(f, c->id, "cluster", 0, c->comment);
    for vec_each(RealmCluster, c, &f->w->clusters)
        for vec_each(RealmReplica, p, &c->replicas)
            comment(f, p->id, "cluster-replica", 0, p->comment);
    for vec_each(RealmRole, x, &f->w->roles)
        comment(f, x->id, "role", 0, x->comment);
    return OK;
}

Status mzf_audit_events(MzFill *f)
{
    RealmEvents all = {0};

    TRY(realm_events(f->r->svc->realm, f->a, &all, f->err));
    for vec_each(RealmEvent, e, &all) {
        mz_u64(f, (uint64_t)e->id);
        mz_str(f, e->event);
        mz_str(f, e->type);
        mz_json(f, e->details ? json_text(f->a, e->details) : S("{}"));
        mz_opt(f, e->user);
        mz_time(f, e->at_ms);
        mz_end(f);
    }
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* live_cluster_alter.c - clusters and replicas changed, renamed, given to another role, dropped. */
#include "service/live_cluster_int.h"

/* ---- ALTER -------------------------------------------------------------------------------------------------------------------------------- */

static bool changes_shape(const LiveOptions *o)
{
    return live_option(o, "SIZE") || live_option(o, "AVAILABILITY ZONES") || live_option(o, "INTROSPECTION INTERVAL") || live_option(o, "INTROSPECTION DEBUGGING");
}

/* New replicas are ready at once: there is nothing to wait for, but what is asked must make sense. */
static Status check_wait(Run *r, const LiveStmt *l, Error *err)
{
    const LiveOption *w = live_option(&l->with, "WAIT"), *timeout;
    int64_t ms;

    if (!w)
        return OK;
    if (!changes_shape(&l->options))
        return cluster_bail(err, "ALTER CLUSTER ... WITH (WAIT ...) needs a change of SIZE, AVAILABILITY ZONES or INTROSPECTION options");
    if (str_eq(w->text, S("FOR")))
        return live_opt_interval(r->a, live_option(&w->list, "FOR"), &ms, err);
    timeout = live_option(&w->list, "TIMEOUT");
    if (!timeout)
        return cluster_bail(err, "TIMEOUT=<duration> option is required for ALTER CLUSTER ... WITH (WAIT UNTIL READY ( ... ))");
    const LiveOption *then = live_option(&w->list, "ON TIMEOUT");
    if (then && !str_ieq(then->text, S("commit")) && !str_ieq(then->text, S("rollback")))
        return cluster_bail(err, "invalid ON TIMEOUT option value: it is COMMIT or ROLLBACK");
    return live_opt_interval(r->a, timeout, &ms, err);
}

static Status reset_option(RealmCluster *c, Str name, Error *err)
{
    if (str_eq(name, S("REPLICATION FACTOR")))
        c->replication_factor = 1;
    else if (str_eq(name, S("MANAGED")))
        c->managed = 1;
    else if (str_eq(name, S("SCHEDULE")))
        c->schedule = S("manual"), c->hydration_ms = 0;
    else if (str_eq(name, S("INTROSPECTION INTERVAL")))
        c->introspection_ms = 1000;
    else if (str_eq(name, S("INTROSPECTION DEBUGGING")))
        c->introspection_debugging = 0;
    else if (str_eq(name, S("AVAILABILITY ZONES")))
        c->zones.n = 0;
    else if (str_eq(name, S("WORKLOAD CLASS")))
        c->workload = (Str){0};
    else if (str_eq(name, S("SIZE")))
        return cluster_bail(err, "SIZE cannot be reset: a managed cluster has one");
    return OK;
}

/* An unmanaged cluster becomes a managed one when its replicas look like one's. */
static Status adopt_replicas(const LiveStmt *l, RealmCluster *c, Error *err)
{
    for (size_t i = 0; i < c->replicas.n; i++) {
        if (!cluster_managed_name(c->replicas.p[i].name))
            return live_refuse(FAIL(err, E_INVALID, "cannot convert unmanaged cluster to managed: replica name '" STR_FMT "' is not of the form r1, r2, …", STR_ARG(c->replicas.p[i].name)), "0A000", err);
        if (!live_option(&l->options, "SIZE") && !str_eq(c->replicas.p[i].size, c->replicas.p[0].size))
            return cluster_bail(err, "cannot convert unmanaged cluster to managed, non-unique replica sizes");
    }
    if (!c->size.n && c->replicas.n)
        c->size = c->replicas.p[0].size;
    if (!c->size.n)
        return cluster_bail(err, "SIZE must be specified for managed clusters");
    if (!live_option(&l->options, "REPLICATION FACTOR"))
        c->replication_factor = (int64_t)c->replicas.n;
    return OK;
}

static Status plan_alter(Run *r, const LiveStmt *l, RealmCluster *c, Error *err)
{
    int was_managed = c->managed;

    for (size_t i = 0; i < l->options.n; i++)
        TRY(cluster_read_option(r, &l->options.p[i], c, err));
    for (size_t i = 0; i < l->drop.n; i++)
        TRY(reset_option(c, l->drop.p[i].name, err));
    if (!c->managed) {
        if (l->with.n)
            return cluster_bail(err, "ALTER... WITH not supported for unmanaged clusters");
        TRY(cluster_only_managed(&l->options, err));
        c->size = (Str){0};
        return OK;
    }
    if (!was_managed)
        TRY(adopt_replicas(l, c, err));
    if (str_eq(c->schedule, S("on-refresh")) && live_option(&l->options, "REPLICATION FACTOR"))
        return cluster_bail(err, "REPLICATION FACTOR cannot be set if the cluster SCHEDULE is anything other than MANUAL");
    TRY(check_wait(r, l, err));
    TRY(cluster_check_factor(r, c, err));
    cluster_fit_replicas(r->a, c);
    return OK;
}

static Status alter_name(Run *r, const LiveStmt *l, RealmCluster *c, Error *err)
{
    RealmCluster other;

    if (l->alter == ALTER_RENAME) {
        c->name = vec_last(&l->to);
        TRY(cluster_check_name(c->name, err));
        TRY(realm_put_cluster(r->svc->realm, c, err));
    } else {
        TRY(realm_cluster(r->svc->realm, r->a, vec_last(&l->to), &other, err));
        TRY(live_ask_owner_of(r, "CLUSTER", other.name, other.owner, err));
        TRY(realm_swap(r->svc->realm, S("cluster"), c->id, other.id, err));
    }
    live_audit(r, "alter", "cluster", NULL, cluster_details(r->a, c, (Str){0}));
    return OK;
}

/* Who gets it must be a role that this one is a member of. */
static Status new_owner(Run *r, Str *ret, Error *err)
{
    RealmRole role;

    TRY(realm_role(r->svc->realm, r->a, r->st->live->to.p[0], &role, err));
    TRY(live_ask_member(r, role.id, err));
    *ret = role.id;
    return OK;
}

static Status alter_owner(Run *r, RealmCluster *c, Error *err)
{
    Str old = c->owner;

    TRY(new_owner(r, &c->owner, err));
    live_grants_follow(r->a, &c->grants, old, c->owner);
    for (size_t i = 0; i < c->replicas.n; i++)
        c->replicas.p[i].owner = c->owner;
    TRY(realm_put_cluster(r->svc->realm, c, err));
    live_audit(r, "alter", "cluster", NULL, cluster_details(r->a, c, (Str){0}));
    return OK;
}

/* RENAME, OWNER */
static Status alter_replica(Run *r, RealmCluster *c, Error *err)
{
    const LiveStmt *l = r->st->live;
    Str name = vec_last(&r->st->name);
    ptrdiff_t at = cluster_replica_at(c, name);

    if (at < 0)
        return live_refuse(FAIL(err, E_NOT_FOUND, "unknown cluster replica '" STR_FMT "'", STR_ARG(name)), "42704", err);
    if (c->managed)
        return live_refuse(FAIL(err, E_INVALID, "cannot modify managed cluster " STR_FMT, STR_ARG(c->name)), "0A000", err);
    if (l->alter == ALTER_OWNER)
        TRY(new_owner(r, &c->replicas.p[at].owner, err));
    else if (cluster_replica_at(c, vec_last(&l->to)) >= 0)
        return live_refuse(FAIL(err, E_EXISTS, "cannot create multiple replicas named '" STR_FMT "' on cluster '" STR_FMT "'", STR_ARG(vec_last(&l->to)), STR_ARG(c->name)), "42710", err);
    else
        c->replicas.p[at].name = vec_last(&l->to);
    TRY(realm_put_cluster(r->svc->realm, c, err));
    live_audit(r, "alter", "cluster-replica", NULL, cluster_details(r->a, c, c->replicas.p[at].name));
    return OK;
}

/* Views that stood still for want of a replica wait for their refresh from now on, and may be read. */
static void free_views(Run *r, const RealmCluster *c)
{
    ObjectVec all = {0};

    if (!str_eq(c->schedule, S("on-refresh")) || c->replicas.n)
        return;
    objects_list(r->svc->objects, r->a, &all);
    for vec_each(const Object, o, &all)
        if (o->kind == OBJ_MVIEW && str_eq(o->cluster, c->id) && json_get(o->detail, "refresh"))
            live_resume_view(r->svc, o);
}

Status live_alter_cluster(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    const LiveStmt *l = r->st->live;
    Error absent;
    RealmCluster c;

    ret->done = 1;
    if (r->st->if_exists && realm_cluster(r->svc->realm, r->a, r->st->name.p[0], &c, &absent) != OK) {
        live_note_absent(r, "cluster", &r->st->name);
        return OK;
    }
    TRY(realm_cluster(r->svc->realm, r->a, r->st->name.p[0], &c, err));
    if (c.id.p[0] == 's')
        return live_refuse(FAIL(err, E_DENIED, "system cluster '" STR_FMT "' cannot be modified", STR_ARG(c.name)), "42501", err);
    TRY(live_ask_owner_of(r, "CLUSTER", c.name, c.owner, err));
    if (l->kind == LK_REPLICA)
        return alter_replica(r, &c, err);
    if (l->alter == ALTER_RENAME || l->alter == ALTER_SWAP)
        return alter_name(r, l, &c, err);
    if (l->alter == ALTER_OWNER)
        return alter_owner(r, &c, err);
    bool ran = c.replicas.n > 0;
    TRY(plan_alter(r, l, &c, err));
    TRY(cluster_store(r->svc, r->a, &c, ran, err));
    free_views(r, &c);
    live_audit(r, "alter", "cluster", NULL, cluster_details(r->a, &c, (Str){0}));
    live_clock_wake(r->svc->live_clock);
    return OK;
}

/* ---- DROP --------------------------------------------------------------------------------------------------------------------------------- */

static Status check_empty(Run *r, const RealmCluster *c, const ObjectVec *inside, Error *err)
{
    StrBuf b = sb_new(r->a);

    if (!inside->n || r->st->cascade)
        return OK;
    for (size_t i = 0; i < inside->n; i++)
        sb_fmt(&b, "%s%s \"" STR_FMT "\"", i ? ", " : "", obj_kind_words(inside->p[i].kind), STR_ARG(inside->p[i].name));
    RAISE(err, E_CONFLICT, "cannot drop cluster \"" STR_FMT "\": still depended upon by " STR_FMT, STR_ARG(c->name), STR_ARG(sb_str(&b)));
    error_hint(err, "Use DROP ... CASCADE to drop the dependent objects too.");
    return live_refuse(E_CONFLICT, "2BP01", err);
}

static Status drop_cluster(Run *r, const StrVec *name, Error *err)
{
    ObjectVec all = {0}, inside = {0};
    RealmCluster c;
    Error absent;

    if (r->st->if_exists && realm_cluster(r->svc->realm, r->a, vec_last(name), &c, &absent) != OK) {
        live_note_absent(r, "cluster", name);
        return OK;
    }
    TRY(realm_cluster(r->svc->realm, r->a, vec_last(name), &c, err));
    if (c.id.p[0] == 's')
        return live_refuse(FAIL(err, E_DENIED, "system cluster '" STR_FMT "' cannot be modified", STR_ARG(c.name)), "42501", err);
    TRY(live_ask_owner_of(r, "CLUSTER", c.name, c.owner, err));
    objects_list(r->svc->objects, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        if (str_eq(all.p[i].cluster, c.id))
            vec_push(r->a, &inside, all.p[i]);
    TRY(check_empty(r, &c, &inside, err));
    if (inside.n)
        TRY(live_drop_all(r, &inside, err));
    TRY(realm_delete(r->svc->realm, S("cluster"), c.id, err));
    live_audit(r, "drop", "cluster", NULL, cluster_details(r->a, &c, (Str){0}));
    return OK;
}

static Status drop_replica(Run *r, const StrVec *name, Error *err)
{
    RealmCluster c;

    if (name->n != 2)
        return live_refuse(FAIL(err, E_INVALID, "a replica is named by its cluster and itself: c.r1"), "42601", err);
    TRY(cluster_unmanaged(r, name->p[0], &c, err));
    ptrdiff_t at = cluster_replica_at(&c, name->p[1]);
    if (at < 0 && r->st->if_exists) {
        live_note_absent(r, "cluster replica", name);
        return OK;
    }
    if (at < 0)
        return live_refuse(FAIL(err, E_NOT_FOUND, "unknown cluster replica '" STR_FMT "'", STR_ARG(name->p[1])), "42704", err);
    memmove(&c.replicas.p[at], &c.replicas.p[at + 1], (c.replicas.n - (size_t)at - 1) * sizeof *c.replicas.p);
    c.replicas.n--;
    c.replication_factor = (int64_t)c.replicas.n;
    TRY(cluster_store(r->svc, r->a, &c, 1, err));
    live_audit(r, "drop", "cluster-replica", NULL, cluster_details(r->a, &c, name->p[1]));
    return OK;
}

Status live_drop_clusters(Run *r, Error *err)
{
    const LiveStmt *l = r->st->live;

    for (size_t i = 0; i < 1 + l->also.n; i++) {
        const StrVec *name = i ? &l->also.p[i - 1] : &r->st->name;
        TRY(l->kind == LK_REPLICA ? drop_replica(r, name, err) : drop_cluster(r, name, err));
    }
    return OK;
}

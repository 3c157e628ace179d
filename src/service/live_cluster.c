/* SPDX-License-Identifier: Apache-2.0 */
/* live_cluster.c - clusters and their replicas made, changed and dropped (Materialize's manual: CREATE CLUSTER; spec/materialize.md 1.7).
 *
 * This server's objects share one engine: a cluster is who may run what, and whether it runs.  A cluster without a replica pauses what is in it.  Sizes are names, checked
 * against those of the manual, without an effect of their own.  With SCHEDULE = ON REFRESH the replica comes and goes (live_schedule.c). */
#include "service/live_cluster_int.h"

/* ---- sizes ---------------------------------------------------------------------------------------------------------------------- */

static const char *const sizes[] = {
    "25cc", "50cc", "100cc", "200cc", "300cc", "400cc", "600cc", "800cc", "1200cc", "1600cc", "3200cc", "6400cc", "128C", "256C", "512C",
    "M.1-nano", "M.1-micro", "M.1-xsmall", "M.1-small", "M.1-medium", "M.1-large", "M.1-1.5xlarge", "M.1-2xlarge", "M.1-3xlarge", "M.1-4xlarge", "M.1-8xlarge", "M.1-16xlarge",
    "M.1-32xlarge", "M.1-64xlarge", "M.1-128xlarge", "mz_probe", "bootstrap",
};

const char *const *live_cluster_sizes(size_t *n)
{
    *n = COUNT_OF(sizes);
    return sizes;
}

/* Local installations: 1, 2, 4-4, scale=1,workers=2 */
static bool is_local_size(Str s)
{
    if (str_starts(s, S("scale=")))
        return str_find(s, S(",workers=")) > 0 && s.n <= 64;
    for (size_t i = 0; i < s.n; i++)
        if ((s.p[i] < '0' || s.p[i] > '9') && (s.p[i] != '-' || i == 0))
            return false;
    return s.n > 0 && s.n <= 16 && s.p[s.n - 1] != '-';
}

static Status check_size(Arena *a, Str size, Error *err)
{
    StrVec all = {0};

    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        if (str_eq(size, str_c(sizes[i])))
            return OK;
        vec_push(a, &all, str_c(sizes[i]));
    }
    if (is_local_size(size))
        return OK;
    RAISE(err, E_INVALID, "unknown cluster replica size " STR_FMT, STR_ARG(size));
    error_hint(err, "Valid cluster replica sizes are: " STR_FMT, STR_ARG(str_join(a, &all, S(", "))));
    return live_refuse(E_INVALID, "22023", err);
}

#define HYDRATION_MAX_MS (366ll * 86400 * 1000)

/* ---- rules of options ---------------------------------------------------------------------------------------------------------------- */

Status cluster_bail(Error *err, const char *text) { return live_refuse(FAIL(err, E_INVALID, "%s", text), "22023", err); }

static Status read_schedule(Run *r, const LiveOption *o, RealmCluster *c, Error *err)
{
    if (o->kind == OPT_NAME) {
        c->schedule = S("manual");
        c->hydration_ms = 0;
        return OK;
    }
    c->schedule = S("on-refresh");
    c->hydration_ms = 0;
    const LiveOption *estimate = live_option(&o->list, "HYDRATION TIME ESTIMATE");
    if (estimate)
        TRY(live_opt_interval(r->a, estimate, &c->hydration_ms, err));
    return c->hydration_ms >= 0 && c->hydration_ms <= HYDRATION_MAX_MS ? OK : cluster_bail(err, "HYDRATION TIME ESTIMATE must be non-negative, and a year at most");
}

static Status read_introspection(Run *r, const LiveOption *o, RealmCluster *c, Error *err)
{
    if (str_eq(o->text, S("0"))) {
        c->introspection_ms = 0;
        return OK;
    }
    return live_opt_interval(r->a, o, &c->introspection_ms, err);
}

Status cluster_read_option(Run *r, const LiveOption *o, RealmCluster *c, Error *err)
{
    int disk;

    if (str_eq(o->name, S("SIZE"))) {
        TRY(live_opt_text(o, &c->size, err));
        return check_size(r->a, c->size, err);
    }
    if (str_eq(o->name, S("REPLICATION FACTOR")))
        return live_opt_int(o, 0, INT32_MAX, &c->replication_factor, err);
    if (str_eq(o->name, S("MANAGED")))
        return live_opt_bool(o, &c->managed, err);
    if (str_eq(o->name, S("SCHEDULE")))
        return read_schedule(r, o, c, err);
    if (str_eq(o->name, S("INTROSPECTION INTERVAL")))
        return read_introspection(r, o, c, err);
    if (str_eq(o->name, S("INTROSPECTION DEBUGGING")))
        return live_opt_bool(o, &c->introspection_debugging, err);
    if (str_eq(o->name, S("AVAILABILITY ZONES"))) {
        c->zones = (StrVec){0};
        return live_opt_list(r->a, o, &c->zones, err);
    }
    if (str_eq(o->name, S("WORKLOAD CLASS")))
        return str_ieq(o->text, S("null")) ? (c->workload = (Str){0}, OK) : live_opt_text(o, &c->workload, err);
    if (str_eq(o->name, S("DISK")))
        return live_opt_bool(o, &disk, err);
    return FAIL(err, E_UNSUPPORTED, STR_FMT " not yet supported", STR_ARG(o->name));
}

Status cluster_only_managed(const LiveOptions *o, Error *err)
{
    static const char *const no[] = { "SIZE", "REPLICATION FACTOR", "AVAILABILITY ZONES", "INTROSPECTION INTERVAL", "INTROSPECTION DEBUGGING", "DISK" };

    for (size_t i = 0; i < COUNT_OF(no); i++)
        if (live_option(o, no[i]))
            return live_refuse(FAIL(err, E_INVALID, "%s not supported for unmanaged clusters", no[i]), "22023", err);
    const LiveOption *schedule = live_option(o, "SCHEDULE");
    return schedule && schedule->kind == OPT_GROUP ? cluster_bail(err, "cluster schedules other than MANUAL not supported for unmanaged clusters") : OK;
}

Status cluster_check_factor(Run *r, const RealmCluster *c, Error *err)
{
    size_t wanted = (size_t)max_i64(c->replication_factor, 0);
    return live_limit(r->svc, LIMIT_REPLICAS, c->replicas.n, wanted > c->replicas.n ? wanted - c->replicas.n : 0, err);
}

/* ---- replicas ------------------------------------------------------------------------------------------------------------------------ */

bool cluster_managed_name(Str name)
{
    int64_t n;
    return name.n > 1 && name.p[0] == 'r' && str_to_i64(str_from(name, 1), &n) && n > 0;
}

/* A managed cluster has r1 … rN of its size: those that stay keep their numbers, another size makes all of them anew. */
void cluster_fit_replicas(Arena *a, RealmCluster *c)
{
    RealmReplicas next = {0};

    for (int64_t i = 1; i <= c->replication_factor; i++) {
        RealmReplica one = { .name = str_fmt(a, "r%lld", (long long)i), .size = c->size, .owner = c->owner };
        for (size_t k = 0; k < c->replicas.n; k++)
            if (str_eq(c->replicas.p[k].name, one.name) && str_eq(c->replicas.p[k].size, c->size))
                one = c->replicas.p[k];
        vec_push(a, &next, one);
    }
    c->replicas = next;
}

static Status read_replica(Run *r, const LiveOptions *o, RealmReplica *ret, Error *err)
{
    const LiveOption *size = live_option(o, "SIZE"), *zone = live_option(o, "AVAILABILITY ZONE");

    if (!size)
        return cluster_bail(err, "SIZE option must be specified");
    TRY(live_opt_text(size, &ret->size, err));
    TRY(check_size(r->a, ret->size, err));
    return zone ? live_opt_text(zone, &ret->zone, err) : OK;
}

static Status given_replicas(Run *r, const LiveStmt *l, RealmCluster *c, Error *err)
{
    for (size_t i = 0; i < l->replicas.n; i++) {
        RealmReplica one = { .name = l->replicas.p[i].name, .owner = c->owner };
        TRY_CTX(read_replica(r, &l->replicas.p[i].options, &one, err), err, "cluster replica " STR_FMT, STR_ARG(one.name));
        for (size_t k = 0; k < i; k++)
            if (str_eq(l->replicas.p[k].name, one.name))
                return live_refuse(FAIL(err, E_EXISTS, "cannot create multiple replicas named '" STR_FMT "' on cluster '" STR_FMT "'", STR_ARG(one.name), STR_ARG(c->name)), "42710", err);
        vec_push(r->a, &c->replicas, one);
    }
    c->replication_factor = (int64_t)c->replicas.n;
    return live_limit(r->svc, LIMIT_REPLICAS, 0, c->replicas.n, err);
}

/* ---- what pauses and goes on ------------------------------------------------------------------------------------------------------------ */

static void tell(Service *s, const Object *o, bool runs)
{
    const LiveHooks *h = live_hooks(o->kind);

    if (runs && h->resume)
        h->resume(s, o);
    if (!runs && h->pause)
        h->pause(s, o);
}

Status cluster_store(Service *s, Arena *a, RealmCluster *c, int ran, Error *err)
{
    ObjectVec all = {0};

    TRY(realm_put_cluster(s->realm, c, err));
    if ((ran != 0) == (c->replicas.n > 0))
        return OK;
    objects_list(s->objects, a, &all);
    for (size_t i = 0; i < all.n; i++)
        if (str_eq(all.p[i].cluster, c->id))
            tell(s, &all.p[i], !ran);
    live_clock_wake(s->live_clock);                       /* what is due in it has waited */
    return OK;
}

Json *cluster_details(Arena *a, const RealmCluster *c, Str replica)
{
    Json *j = json_object(a);

    json_set(a, j, replica.n ? "cluster_id" : "id", json_str(a, c->id));
    json_set(a, j, replica.n ? "cluster_name" : "name", json_str(a, c->name));
    if (replica.n)
        json_set(a, j, "replica_name", json_str(a, replica));
    return j;
}

/* ---- CREATE ------------------------------------------------------------------------------------------------------------------------------- */

Status cluster_check_name(Str name, Error *err)
{
    if (str_starts(name, S("mz_")) || str_starts(name, S("pg_"))) {
        RAISE(err, E_INVALID, "cluster name \"" STR_FMT "\" is reserved", STR_ARG(name));
        error_detail(err, "The prefixes \"mz_\" and \"pg_\" are reserved for system clusters.");
        return live_refuse(E_INVALID, "42939", err);
    }
    return OK;
}

static Status check_room(Run *r, Error *err)
{
    RealmClusters all = {0};
    size_t own = 0;

    realm_clusters(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        own += all.p[i].id.p[0] == 'u';
    return live_limit(r->svc, LIMIT_CLUSTERS, own, 1, err);
}

static Status plan_managed(Run *r, const LiveStmt *l, RealmCluster *c, Error *err)
{
    if (l->has_replicas)
        return cluster_bail(err, "REPLICAS not supported for managed clusters");
    if (!c->size.n)
        return cluster_bail(err, "SIZE must be specified for managed clusters");
    if (str_eq(c->schedule, S("on-refresh")) && live_option(&l->options, "REPLICATION FACTOR"))
        return cluster_bail(err, "REPLICATION FACTOR cannot be given together with any SCHEDULE other than MANUAL");
    if (str_eq(c->schedule, S("on-refresh")))
        c->replication_factor = 0;
    TRY(cluster_check_factor(r, c, err));
    cluster_fit_replicas(r->a, c);
    return OK;
}

static Status plan_unmanaged(Run *r, const LiveStmt *l, RealmCluster *c, Error *err)
{
    if (!l->has_replicas)
        return cluster_bail(err, "REPLICAS must be specified for unmanaged clusters");
    TRY(cluster_only_managed(&l->options, err));
    c->size = (Str){0};
    return given_replicas(r, l, c, err);
}

static void default_grants(Run *r, RealmCluster *c)
{
    RealmDefaults all = {0};

    realm_grant(r->a, &c->grants, c->owner, c->owner, S("UC"));
    realm_defaults(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        if (str_eq(all.p[i].kind, S("cluster")) && (str_eq(all.p[i].role, c->owner) || str_eq(all.p[i].role, S(REALM_PUBLIC))))
            realm_grant(r->a, &c->grants, all.p[i].grantee, c->owner, all.p[i].letters);
}

Status live_create_cluster(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    const LiveStmt *l = r->st->live;
    RealmCluster c = { .name = vec_last(&r->st->name), .schedule = S("manual"), .replication_factor = 1, .introspection_ms = 1000, .managed = !l->has_replicas }, there;
    Error absent;

    ret->done = 1;
    TRY(live_ask_system(r, 'N', err));
    if (r->st->if_not_exists && realm_cluster(r->svc->realm, r->a, c.name, &there, &absent) == OK) {
        session_note(r->ss, "NOTICE", "42710", "cluster \"%s\" already exists, skipping", str_z(r->a, c.name));
        return OK;
    }
    TRY(cluster_check_name(c.name, err));
    TRY(live_check_ident(c.name, err));
    TRY(check_room(r, err));
    TRY(live_role(r, &c.owner, err));
    for (size_t i = 0; i < l->options.n; i++)
        TRY(cluster_read_option(r, &l->options.p[i], &c, err));
    TRY(c.managed ? plan_managed(r, l, &c, err) : plan_unmanaged(r, l, &c, err));
    default_grants(r, &c);
    TRY(realm_put_cluster(r->svc->realm, &c, err));
    live_audit(r, "create", "cluster", NULL, cluster_details(r->a, &c, (Str){0}));
    return OK;
}

Status cluster_unmanaged(Run *r, Str name, RealmCluster *c, Error *err)
{
    TRY(realm_cluster(r->svc->realm, r->a, name, c, err));
    TRY(live_ask_owner_of(r, "CLUSTER", c->name, c->owner, err));
    return c->managed ? live_refuse(FAIL(err, E_INVALID, "cannot modify managed cluster " STR_FMT, STR_ARG(name)), "0A000", err) : OK;
}

ptrdiff_t cluster_replica_at(const RealmCluster *c, Str name)
{
    for (size_t i = 0; i < c->replicas.n; i++)
        if (str_eq(c->replicas.p[i].name, name))
            return (ptrdiff_t)i;
    return -1;
}

Status live_create_replica(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    RealmReplica one = { .name = vec_last(&r->st->name) };
    RealmCluster c;

    ret->done = 1;
    TRY(realm_cluster(r->svc->realm, r->a, r->st->name.p[0], &c, err));
    if (c.managed && cluster_managed_name(one.name))
        return live_refuse(FAIL(err, E_INVALID, STR_FMT " is reserved for replicas of managed clusters", STR_ARG(one.name)), "42939", err);
    TRY(cluster_unmanaged(r, c.name, &c, err));
    if (cluster_replica_at(&c, one.name) >= 0 && r->st->if_not_exists) {
        session_note(r->ss, "NOTICE", "42710", "cluster replica \"%s\" already exists, skipping", str_z(r->a, one.name));
        return OK;
    }
    if (cluster_replica_at(&c, one.name) >= 0)
        return live_refuse(FAIL(err, E_EXISTS, "cannot create multiple replicas named '" STR_FMT "' on cluster '" STR_FMT "'", STR_ARG(one.name), STR_ARG(c.name)), "42710", err);
    TRY(read_replica(r, &r->st->live->options, &one, err));
    TRY(live_limit(r->svc, LIMIT_REPLICAS, c.replicas.n, 1, err));
    bool ran = c.replicas.n > 0;
    one.owner = c.owner;
    vec_push(r->a, &c.replicas, one);
    c.replication_factor = (int64_t)c.replicas.n;
    TRY(cluster_store(r->svc, r->a, &c, ran, err));
    live_audit(r, "create", "cluster-replica", NULL, cluster_details(r->a, &c, one.name));
    return OK;
}

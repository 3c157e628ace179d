/* SPDX-License-Identifier: Apache-2.0 */
/* live_schedule.c - clusters with SCHEDULE = ON REFRESH: they run around the refreshes of their views, from HYDRATION TIME ESTIMATE before one is due until it is done.
 *
 * Asked by the clock (live_clock.c), before and after each of its rounds.  What else is in such a cluster runs while it does. */
#include "service/live_cluster_int.h"

/* When it has to run next; INT64_MAX: never. */
static int64_t needed_at(Service *s, Arena *a, const RealmCluster *c, const ObjectVec *all)
{
    int64_t next = INT64_MAX;

    for vec_each(const Object, o, all) {
        if (o->kind != OBJ_MVIEW || !str_eq(o->cluster, c->id) || !json_get(o->detail, "refresh"))
            continue;
        int64_t due = live_next_refresh(o, max_i64(o->created_ms, live_refreshed(s, a, o->id)));
        if (due != INT64_MAX)
            next = min_i64(next, due - c->hydration_ms);
    }
    return next;
}

static void tell_log(Service *s, Arena *a, const RealmCluster *c, bool on)
{
    RealmEvent e = { .event = on ? S("create") : S("drop"), .type = S("cluster-replica"), .details = cluster_details(a, c, S("r1")), .at_ms = clock_ms() };
    Error why;

    json_set(a, e.details, "reason", json_str(a, S("schedule")));
    if (realm_audit(s->realm, &e, &why) != OK)
        log_error(&why, "the audit log of the live side was not written", "event", "schedule", NULL);
}

/* As it is now: whoever altered it meanwhile is right. */
static Status turn(Service *s, Arena *a, Str id, bool on, Error *err)
{
    RealmCluster c;

    TRY(realm_cluster_by_id(s->realm, a, id, &c, err));
    if (!str_eq(c.schedule, S("on-refresh")) || (c.replicas.n > 0) == on)
        return OK;
    c.replication_factor = on;
    cluster_fit_replicas(a, &c);
    TRY(cluster_store(s, a, &c, !on, err));
    tell_log(s, a, &c, on);
    return OK;
}

static void turn_alone(Service *s, Arena *a, const RealmCluster *c, bool on)
{
    Error why;

    realm_ddl_begin(s->realm);
    Status st = turn(s, a, c->id, on, &why);
    realm_ddl_end(s->realm);
    if (st != OK)
        log_error(&why, "a cluster does not follow its schedule", "cluster", str_z(a, c->name), NULL);
}

int64_t live_schedule(Service *s, Arena *a)
{
    int64_t next = INT64_MAX, now = clock_ms();
    RealmClusters clusters = {0};
    ObjectVec all = {0};

    realm_clusters(s->realm, a, &clusters);
    objects_list(s->objects, a, &all);
    for vec_each(RealmCluster, c, &clusters) {
        if (!c->managed || !str_eq(c->schedule, S("on-refresh")))
            continue;
        int64_t at = needed_at(s, a, c, &all);
        if ((at <= now) != (c->replicas.n > 0))
            turn_alone(s, a, c, at <= now);
        if (at > now)                                      /* else it runs until its views have been refreshed, which is their own time's matter */
            next = min_i64(next, at);
    }
    return next;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* live_pause.c - materialized views whose cluster has no replica: they stand still, and reads say why.
 *
 * A note in the rows' file says that a view stood still: a start that finds its cluster running computes it anew, whatever a crash has cut off. */
#include "live/live.h"
#include "service/live_sql.h"

static Str note_key(Arena *a, int64_t id) { return str_fmt(a, "paused/%lld", (long long)id); }

static Status note(Service *s, Arena *a, int64_t id, Str value, Error *err)
{
    LiveNote n = { note_key(a, id), value };
    int64_t t;
    return live_commit_noted(s->live, NULL, 0, &n, 1, &t, err);
}

static bool stood_still(Service *s, Arena *a, int64_t id)
{
    Str was = {0};
    Error ignored;

    return live_note_get(s->live, a, note_key(a, id), &was, &ignored) == OK && was.n;
}

void live_pause_view(Service *s, const Object *o)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str cluster = realm_cluster_name(s->realm, a, o->cluster);
    bool scheduled = realm_cluster_scheduled(s->realm, o->cluster);
    Error why, failed;

    if (scheduled && json_get(o->detail, "refresh"))      /* it stands still anyway, as its last refresh has left it, be that an error */
        return;
    RAISE(&why, E_UNAVAILABLE, "materialized view \"" STR_FMT "\" makes no progress: cluster \"" STR_FMT "\" has no replicas", STR_ARG(live_full(a, o)), STR_ARG(cluster));
    if (scheduled)
        error_hint(&why, "The cluster runs around the refreshes of its views alone: ALTER CLUSTER " STR_FMT " SET (SCHEDULE = MANUAL, REPLICATION FACTOR 1)", STR_ARG(sql_ident_str(a, cluster)));
    else
        error_hint(&why, "ALTER CLUSTER " STR_FMT " SET (REPLICATION FACTOR 1)", STR_ARG(sql_ident_str(a, cluster)));
    memcpy(why.sqlstate, "55000", 6);
    if (note(s, a, o->id, S("1"), &failed) != OK)
        log_error(&failed, "a view's pause was not noted", "view", str_z(a, live_full(a, o)), NULL);
    live_view_pause(s->live, o->id, &why);
}

void live_resume_view(Service *s, const Object *o)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error failed;

    if (json_get(o->detail, "refresh") && !stood_still(s, a, o->id))
        return;
    bool held = live_hold_view(s, a, o);                  /* one that is refreshed at its times waits for the next */
    Status st = held ? OK : live_view_resume(s->live, o->id, &failed);
    if (st == OK)
        st = note(s, a, o->id, (Str){0}, &failed);
    if (st != OK)
        log_error(&failed, "a view did not go on", "view", str_z(a, live_full(a, o)), NULL);
}

void live_start_view_pause(Service *s, Arena *a, const Object *o)
{
    if (!live_runs(s, o))
        live_pause_view(s, o);
    else if (stood_still(s, a, o->id))
        live_resume_view(s, o);
}

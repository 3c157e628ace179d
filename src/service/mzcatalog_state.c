/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog_state.c - how objects are doing: frontiers, hydration, statuses and counters of sources and sinks.
 *
 * Relations of ticks are as far as the clock; a source is as far as what it has committed, a sink as far as its table.  What stands still because its cluster has no
 * replica is as far as it was (mzcatalog_lag.c remembers). */
#include "service/mzcatalog_int.h"
#include "sink/sink.h"
#include "source/source.h"

static bool has_frontier(ObjKind k) { return k == OBJ_TABLE || k == OBJ_VIEW || k == OBJ_MVIEW || k == OBJ_SOURCE || k == OBJ_SINK || k == OBJ_INDEX; }

/* All before it has been applied; while a tick is on its way, that is what the one before has come to. */
static int64_t live_frontier(Service *s)
{
    int64_t t = live_advance(s->live);
    return t ? t : live_now(s->live) + 1;
}

/* ---- frontiers --------------------------------------------------------------------------------------------------------------------- */

static MzFrontier of_sink(Service *s, const Object *o)
{
    SinkReport r;

    if (!s->sinks || !sink_report(s->sinks, o->id, &r))
        return (MzFrontier){0};
    return (MzFrontier){ .write = r.sealed ? live_frontier(s) : r.frontier, .known = 1, .sealed = r.sealed, .hydrated = r.frontier > 0 || r.sealed };
}

static MzFrontier of_source(Service *s, const Object *o)
{
    SourceReport r;

    if (!s->sources || !source_report(s->sources, o->id, &r))
        return (MzFrontier){ .write = live_frontier(s), .known = 1, .hydrated = 1 };        /* a subsource, a webhook: a relation that is written */
    return (MzFrontier){ .write = r.frontier ? r.frontier : live_frontier(s), .known = 1, .sealed = r.sealed, .hydrated = r.snapshot_done };
}

/* One that is refreshed at its times is as it will be until the next of them. */
static MzFrontier of_timed(const Object *o)
{
    int64_t following = live_next_refresh(o, clock_ms());
    return (MzFrontier){ .write = following, .known = 1, .sealed = following == INT64_MAX, .hydrated = 1 };
}

MzFrontier mz_frontier(Service *s, const Object *o)
{
    if (o->kind == OBJ_SINK)
        return of_sink(s, o);
    if (!has_frontier(o->kind))
        return (MzFrontier){0};
    if (!live_runs(s, o))
        return (MzFrontier){ .write = mz_lag_last(s->mz_lag, o->id), .known = 1 };
    if (o->kind == OBJ_SOURCE)
        return of_source(s, o);
    if (o->kind == OBJ_MVIEW && json_get(o->detail, "refresh"))
        return of_timed(o);
    return (MzFrontier){ .write = live_frontier(s), .known = 1, .hydrated = 1 };
}

static MzFrontier frontier(MzFill *f, const Object *o)
{
    Str key = mz_id(f->a, o->id);
    MzFrontier *x = map_get(&f->w->frontiers, key);

    if (!x) {
        x = arena_new(f->a, MzFrontier);
        *x = mz_frontier(f->r->svc, o);
        map_put(&f->w->frontiers, key, x);
    }
    return *x;
}

/* What was before the last second has been forgotten. */
enum { KEPT_MS = 1000 };

static void write_cell(MzFill *f, MzFrontier x)
{
    if (x.sealed)
        mz_null(f);
    else
        mz_u64(f, (uint64_t)x.write);
}

Status mzf_frontiers(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        MzFrontier x = frontier(f, o);
        if (!x.known || o->kind == OBJ_VIEW)
            continue;
        mz_ident(f, o->id);
        if (o->kind == OBJ_SINK)
            mz_null(f);
        else
            mz_u64(f, x.write > KEPT_MS ? (uint64_t)(x.write - KEPT_MS) : 0);
        write_cell(f, x);
        mz_end(f);
    }
    return OK;
}

static const RealmCluster *cluster_of(MzFill *f, const Object *o)
{
    for vec_each(RealmCluster, c, &f->w->clusters)
        if (o->cluster.n && str_eq(c->id, o->cluster))
            return c;
    return NULL;
}

typedef void (*PerReplica)(MzFill *f, const Object *o, const RealmReplica *p);

static Status per_replica(MzFill *f, int kinds, PerReplica row)
{
    for vec_each(Object, o, &f->w->objects) {
        const RealmCluster *c = kinds & 1 << o->kind ? cluster_of(f, o) : NULL;
        for (size_t i = 0; c && i < c->replicas.n; i++)
            row(f, o, &c->replicas.p[i]);
    }
    return OK;
}

static void replica_frontier(MzFill *f, const Object *o, const RealmReplica *p)
{
    mz_ident(f, o->id);
    mz_str(f, p->id);
    write_cell(f, frontier(f, o));
    mz_end(f);
}

Status mzf_replica_frontiers(MzFill *f) { return per_replica(f, 1 << OBJ_MVIEW | 1 << OBJ_INDEX | 1 << OBJ_SOURCE | 1 << OBJ_SINK, replica_frontier); }

static void hydration(MzFill *f, const Object *o, const RealmReplica *p)
{
    mz_ident(f, o->id);
    mz_str(f, p->id);
    mz_bool(f, frontier(f, o).hydrated);
    mz_end(f);
}

static void compute_hydration(MzFill *f, const Object *o, const RealmReplica *p)
{
    mz_ident(f, o->id);
    mz_str(f, p->id);
    mz_bool(f, frontier(f, o).hydrated);
    mz_null(f);
    mz_end(f);
}

Status mzf_hydration(MzFill *f) { return per_replica(f, 1 << OBJ_MVIEW | 1 << OBJ_INDEX | 1 << OBJ_SOURCE | 1 << OBJ_SINK, hydration); }
Status mzf_compute_hydration(MzFill *f) { return per_replica(f, 1 << OBJ_MVIEW | 1 << OBJ_INDEX, compute_hydration); }

/* ---- lag behind inputs ---------------------------------------------------------------------------------------------------------------- */

typedef struct Slowest { int64_t write, id; int sealed; } Slowest;

static void slower(MzFill *f, const Object *in, Slowest *s)
{
    MzFrontier x = frontier(f, in);

    if (!x.known || x.sealed || (s->id && x.write >= s->write))
        return;
    *s = (Slowest){ .write = x.write, .id = in->id };
}

/* Depth is bounded by the objects: a definition uses older ones alone. */
static void roots(MzFill *f, const Object *o, Slowest *s)
{
    for (size_t i = 0; i < o->uses.n; i++) {
        const Object *in = mz_object_by_id(f->w, o->uses.p[i]);
        if (!in || in->id >= o->id)
            continue;
        if (in->kind == OBJ_TABLE || in->kind == OBJ_SOURCE)
            slower(f, in, s);
        else
            roots(f, in, s);
    }
}

static void lag_cell(MzFill *f, MzFrontier own, const Slowest *s)
{
    if (own.sealed)
        mz_interval(f, 0);
    else if (!s->id)
        mz_null(f);
    else
        mz_interval(f, max_i64(0, s->write - own.write));
}

Status mzf_materialization_lag(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        Slowest local = {0}, global = {0};
        if (o->kind != OBJ_MVIEW && o->kind != OBJ_INDEX && o->kind != OBJ_SINK)
            continue;
        for (size_t i = 0; i < o->uses.n; i++) {
            const Object *in = mz_object_by_id(f->w, o->uses.p[i]);
            if (in)
                slower(f, in, &local);
        }
        roots(f, o, &global);
        mz_ident(f, o->id);
        lag_cell(f, frontier(f, o), &local);
        lag_cell(f, frontier(f, o), &global);
        mz_ident(f, local.id);
        mz_ident(f, global.id);
        mz_end(f);
    }
    return OK;
}

/* ---- statuses -------------------------------------------------------------------------------------------------------------------------- */

static Str details(MzFill *f, const LiveStatus *s)
{
    Json *j = json_object(f->a), *hints = json_array(f->a);

    if (!s->hint.n)
        return (Str){0};
    json_push(f->a, hints, json_str(f->a, s->hint));
    json_set(f->a, j, "hints", hints);
    return json_text(f->a, j);
}

/* Of a sink or source: the newest, or that there is none yet. */
static void status_row(MzFill *f, const Object *o, const LiveStatus *s)
{
    mz_ident(f, o->id);
    mz_str(f, o->name);
    mz_str(f, o->type);
    mz_time(f, s ? s->at_ms : -1);
    mz_str(f, s ? s->status : S("created"));
    mz_opt(f, s ? s->error : (Str){0});
    mz_json(f, s ? details(f, s) : (Str){0});
    mz_end(f);
}

static Status statuses(MzFill *f, ObjKind kind)
{
    LiveStatuses all = {0};

    TRY(live_status_list(f->r->svc->live, f->a, &all, f->err));
    for vec_each(Object, o, &f->w->objects) {
        const LiveStatus *last = NULL;
        if (o->kind != kind)
            continue;
        for vec_each(LiveStatus, s, &all)
            if (s->object == o->id)
                last = s;
        status_row(f, o, last);
    }
    return OK;
}

Status mzf_sink_statuses(MzFill *f) { return statuses(f, OBJ_SINK); }
Status mzf_source_statuses(MzFill *f) { return statuses(f, OBJ_SOURCE); }

/* The first replica's: there is one that works. */
static Str replica_of(MzFill *f, const Object *o)
{
    const RealmCluster *c = cluster_of(f, o);
    return c && c->replicas.n ? c->replicas.p[0].id : (Str){0};
}

static Status history(MzFill *f, ObjKind kind)
{
    LiveStatuses all = {0};

    TRY(live_status_list(f->r->svc->live, f->a, &all, f->err));
    for vec_each(LiveStatus, s, &all) {
        const Object *o = mz_object_by_id(f->w, s->object);
        if (!o || o->kind != kind)
            continue;
        mz_time(f, s->at_ms);
        mz_ident(f, o->id);
        mz_str(f, s->status);
        mz_opt(f, s->error);
        mz_json(f, details(f, s));
        mz_opt(f, replica_of(f, o));
        mz_end(f);
    }
    return OK;
}

Status mzf_sink_history(MzFill *f) { return history(f, OBJ_SINK); }
Status mzf_source_history(MzFill *f) { return history(f, OBJ_SOURCE); }

/* ---- counters ---------------------------------------------------------------------------------------------------------------------------- */

Status mzf_sink_statistics(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        SinkReport r;
        if (o->kind != OBJ_SINK || !f->r->svc->sinks || !sink_report(f->r->svc->sinks, o->id, &r))
            continue;
        mz_ident(f, o->id);
        mz_opt(f, replica_of(f, o));
        mz_u64(f, (uint64_t)r.messages_staged);
        mz_u64(f, (uint64_t)r.messages_committed);
        mz_u64(f, (uint64_t)r.bytes_staged);
        mz_u64(f, (uint64_t)r.bytes_committed);
        mz_end(f);
    }
    return OK;
}

static void opt_u64(MzFill *f, OptI64 v)
{
    if (v.has && v.v >= 0)
        mz_u64(f, (uint64_t)v.v);
    else
        mz_null(f);
}

static void source_statistics(MzFill *f, const Object *o, const SourceReport *r)
{
    mz_ident(f, o->id);
    mz_opt(f, replica_of(f, o));
    mz_u64(f, (uint64_t)r->messages_received);
    mz_u64(f, (uint64_t)r->bytes_received);
    mz_u64(f, (uint64_t)r->updates_staged);
    mz_u64(f, (uint64_t)r->updates_committed);
    mz_u64(f, (uint64_t)r->records_indexed);
    mz_u64(f, 0);
    mz_null(f);
    mz_null(f);
    mz_null(f);
    mz_bool(f, r->snapshot_done);
    opt_u64(f, r->offset_known);
    opt_u64(f, r->offset_committed);
    mz_end(f);
}

Status mzf_source_statistics(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        SourceReport r;
        if (o->kind == OBJ_SOURCE && f->r->svc->sources && source_report(f->r->svc->sources, o->id, &r))
            source_statistics(f, o, &r);
    }
    return OK;
}

/* Records that could not be read: how many since the start, and the newest with their places. */
Status mzf_source_error_counts(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        SourceReport r;
        if (o->kind != OBJ_SOURCE || !f->r->svc->sources || !source_report(f->r->svc->sources, o->id, &r))
            continue;
        mz_ident(f, o->id);
        mz_u64(f, (uint64_t)r.errors);
        mz_end(f);
    }
    return OK;
}

Status mzf_source_errors(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        SourceErrors all = {0};
        if (o->kind == OBJ_SOURCE && f->r->svc->sources)
            source_errors(f->r->svc->sources, f->a, o->id, &all);
        for vec_each(SourceError, e, &all) {
            mz_ident(f, o->id);
            mz_time(f, e->at_ms);
            mz_str(f, e->place);
            mz_str(f, e->error);
            mz_end(f);
        }
    }
    return OK;
}

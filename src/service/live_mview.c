/* SPDX-License-Identifier: Apache-2.0 */
/* live_mview.c - continuous materialized views made, and started again with the server.
 *
 * Order: the relation is made in live/, then its name in the catalog; dropping goes the other way.  A view that is refreshed at its times stands still between them: it is
 * paused in live/, and live_clock.c refreshes it. */
#include "live/live.h"
#include "service/live_sql.h"

/* Bound in an arena of the view's own: the compiled view points into it. */
Status live_compile(Run *r, Arena *own, Str definition, Query **q, IvmView **ret, Error *err)
{
    Binder b;

    TRY(sql_parse_query(own, DIALECT_POSTGRES, str_dup(own, definition), q, err));
    run_binder(r, &b);
    b.text = str_dup(own, definition);
    b.now_has = 0;                                        /* a view's result does not depend on when it was made */
    TRY(sql_bind_query(own, &b, *q, err));
    return ivm_compile_for(own, *q, IVM_LIVE, ret, err);
}

/* ---- making ----------------------------------------------------------------------------------------------------------------------- */

bool live_hold_view(Service *s, Arena *a, const Object *o)
{
    if (!json_get(o->detail, "refresh"))
        return false;
    int64_t next = live_next_refresh(o, clock_ms());
    Error why;
    if (live_refreshed(s, a, o->id)) {
        live_view_pause(s->live, o->id, NULL);
        return true;
    }
    Str when = next == INT64_MAX ? S("never") : time_iso8601(a, next);
    RAISE(&why, E_UNAVAILABLE, "materialized view \"" STR_FMT "\" has not been refreshed yet: its first refresh is at " STR_FMT, STR_ARG(live_full(a, o)), STR_ARG(when));
    memcpy(why.sqlstate, "55000", 6);
    live_view_pause(s->live, o->id, &why);
    return true;
}

/* What is due at its creation has happened by it. */
static Status begin_refreshes(Run *r, const Object *o, Error *err)
{
    if (!json_get(o->detail, "refresh"))
        return OK;
    if (live_next_refresh(o, o->created_ms - 1000) <= clock_ms())
        TRY(live_note_refreshed(r->svc, r->a, o->id, clock_ms(), err));
    (void)live_hold_view(r->svc, r->a, o);
    live_clock_wake(r->svc->live_clock);
    return OK;
}

Status live_settle_view(Run *r, const Object *o, Error *err)
{
    int64_t retain = json_get_int(o->detail, "retain-ms", 0);

    if (retain)
        TRY(live_retain(r->svc->live, o->id, retain, err));
    TRY(begin_refreshes(r, o, err));
    if (!live_runs(r->svc, o))
        live_pause_view(r->svc, o);
    return OK;
}

static Status make_mv(Run *r, Object *o, const LivePlace *p, Arena *own, IvmView *v, Error *err)
{
    LiveAsserts asserts = {0};
    ObjectVec old = {0};
    Error ignored;

    Status s = live_asserts(r, o, &asserts, err);
    LiveViewOptions how = { .fill = LIVE_FILL, .asserts = asserts.p, .nasserts = asserts.n, .errors_stay = 1 };
    if (s == OK)
        s = live_view_add_with(r->svc->live, o->id, own, v, &how, err);
    if (s != OK) {
        arena_destroy(own);
        return s;
    }
    if (p->taken)
        vec_push(r->a, &old, p->there);
    s = p->taken ? live_replace(r, &old, o, 1, err) : live_store(r, o, 1, LIVE_CREATED, err);
    if (s == OK)
        return live_settle_view(r, o, err);
    (void)!live_drop(r->svc->live, &o->id, 1, &ignored);
    return s;
}

static Str text_of(Run *r, const Object *o, Str cluster)
{
    Object of;
    Error absent;
    LiveStmt l = r->st->live ? *r->st->live : (LiveStmt){ .verb = LV_CREATE, .kind = LK_MVIEW };
    Stmt st = *r->st;

    st.live = &l;
    st.name = live_parts(r->a, o);
    st.query_text = o->definition;
    l.cluster = (StrVec){0};
    vec_push(r->a, &l.cluster, cluster);
    if (live_replaces(o) && objects_get(r->svc->objects, r->a, live_replaces(o), &of, &absent) == OK)
        l.from = live_parts(r->a, &of);
    return sql_live_text(r->a, &st, LIVE_TEXT_WHOLE);
}

static bool is_replacement(const Run *r) { return r->st->live && r->st->live->replacement; }

static Status plan_mv(Run *r, Object *o, Arena *own, IvmView **v, Error *err)
{
    Query *q;

    TRY(live_read_options(r, o, err));
    TRY(sql_check_materializable(r->st->query, err));
    TRY(live_settle_names(r, r->st->query_text, &o->definition, o, err));
    TRY(live_compile(r, own, o->definition, &q, v, err));
    return live_name_columns(r, q, &o->columns, err);
}

Status live_create_mv(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    LivePlace p = {0};
    RealmCluster cluster = {0};
    IvmView *v;

    TRY(live_place_or_lake(r, OBJ_MVIEW, &p, ret, err));
    if (!ret->done || p.done)
        return OK;
    if (p.taken)
        TRY(live_check_unused(r, &p.there, err));
    TRY(live_need_cluster(r, r->st->live ? &r->st->live->cluster : &(StrVec){0}, &cluster, err));
    Object o = live_object(r, OBJ_MVIEW, &p.name);
    o.comment = r->st->comment;
    o.cluster = cluster.id;
    Arena *own = arena_create();
    Status s = plan_mv(r, &o, own, &v, err);
    if (s == OK && is_replacement(r))
        s = live_plan_replacement(r, &o, err);
    if (s != OK) {
        arena_destroy(own);
        return s;
    }
    if (ivm_shape(v) == IVM_FULL_ONLY)
        session_note(r->ss, "NOTICE", "00000", "the view is computed anew at each change: %s", str_z(r->a, ivm_reason(v)));
    o.create_sql = text_of(r, &o, cluster.name);
    return make_mv(r, &o, &p, own, v, err);
}

/* ---- starting ------------------------------------------------------------------------------------------------------------------------ */

static Status start_view(Session *ss, DuckConn *c, const Object *o, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Run r = { .ss = ss, .svc = ss->svc, .a = a, .c = c, .dialect = DIALECT_POSTGRES, .now_us = clock_us(), .live_as = S(REALM_SYSTEM_ROLE) };
    Arena *own = arena_create();
    IvmView *v;
    Query *q;

    LiveAsserts asserts = {0};

    Status s = live_compile(&r, own, o->definition, &q, &v, err);
    if (s == OK)
        s = live_asserts(&r, o, &asserts, err);
    LiveViewOptions how = { .fill = LIVE_KEEP, .asserts = asserts.p, .nasserts = asserts.n };
    if (s == OK)
        s = live_start_replaced(ss->svc, a, o, own, v, &how, err);
    if (s != OK)
        arena_destroy(own);
    return s;
}

static void start_mv(Service *s, Arena *a, const Object *o)
{
    live_start_view_pause(s, a, o);
    if (live_runs(s, o) || realm_cluster_scheduled(s->realm, o->cluster))
        (void)live_hold_view(s, a, o);
}

/* What a kind does at start; a failure is its object's own. */
static void start_one(Service *s, Arena *a, const Object *o)
{
    const LiveHooks *h = live_hooks(o->kind);
    Error failed;

    if (h->start && h->start(s, o, &failed) != OK)
        log_error(&failed, "an object of the live side did not start", "object", str_z(a, live_full(a, o)), NULL);
    else if (o->kind == OBJ_MVIEW)
        start_mv(s, a, o);
    else if (!live_runs(s, o) && h->pause)
        h->pause(s, o);
}

/* One that cannot be compiled any more keeps its rows and says why to who reads it. */
static void start_or_fail(Session *ss, DuckConn *c, const Object *o)
{
    Error why;

    if (start_view(ss, c, o, &why) == OK)
        return;
    error_context(&why, "materialized view \"" STR_FMT "\"", STR_ARG(o->name));
    log_error(&why, "a continuous view does not follow", NULL);
    live_table_fail(ss->svc->live, o->id, &why);
}

Status live_start_views(Service *s, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(duck_disconnectp) DuckConn *c = NULL;
    SessionOptions so = { .principal = access_root(a, s->access), .dialect = DIALECT_POSTGRES, .database = S(LIVE_DATABASE) };
    ObjectVec all = {0};
    Session *ss;

    objects_list(s->objects, a, &all);
    TRY(duck_connect(s->engine, &c, err));
    TRY(session_open(s, &so, &ss, err));
    for (size_t i = 0; i < all.n; i++)
        if (all.p[i].kind == OBJ_MVIEW)
            start_or_fail(ss, c, &all.p[i]);
    session_close(ss);
    for (size_t i = 0; i < all.n; i++)
        start_one(s, a, &all.p[i]);
    return OK;
}

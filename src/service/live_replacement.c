/* SPDX-License-Identifier: Apache-2.0 */
/* live_replacement.c - CREATE REPLACEMENT MATERIALIZED VIEW r FOR mv, ALTER MATERIALIZED VIEW mv APPLY REPLACEMENT r.
 *
 * A replacement is a materialized view of its own, with detail "replaces": the number of the view that it is for.  It is kept like any other and may be read, but nothing depends on
 * it.  Applied, its definition, cluster and options become those of the other view, whose rows change by the difference: what reads it goes on.  The replacement is gone.
 *
 * Invariant: the note "view/<id>" has the version of the query that the rows in live/ are of.  Names change first; where live/ did not follow before a crash, the start makes it. */
#include "live/live.h"
#include "service/live_sql.h"

int64_t live_replaces(const Object *o) { return o->kind == OBJ_MVIEW ? json_get_int(o->detail, "replaces", 0) : 0; }

Status live_check_replacements(Run *r, const Object *o, Error *err)
{
    Object used;
    Error absent;

    for (size_t i = 0; i < o->uses.n; i++)
        if (objects_get(r->svc->objects, r->a, o->uses.p[i], &used, &absent) == OK && live_replaces(&used))
            return live_refuse(FAIL(err, E_INVALID, "replacement \"" STR_FMT "\" cannot be depended upon", STR_ARG(live_full(r->a, &used))), "0A000", err);
    return OK;
}

/* ---- does it fit? --------------------------------------------------------------------------------------------------------------- */

static void say_column(StrBuf *b, const Object *of, const Object *o, size_t i)
{
    const ObjColumn *x = i < of->columns.n ? &of->columns.p[i] : NULL, *y = i < o->columns.n ? &o->columns.p[i] : NULL;
    const char *sep = b->n ? "\n" : "";

    if (!y)
        sb_fmt(b, "%smissing column \"" STR_FMT "\" at position %zu", sep, STR_ARG(x->name), i + 1);
    else if (!x)
        sb_fmt(b, "%sextra column \"" STR_FMT "\" at position %zu", sep, STR_ARG(y->name), i + 1);
    else if (!str_eq(x->name, y->name))
        sb_fmt(b, "%scolumn at position %zu: name mismatch (target: \"" STR_FMT "\", replacement: \"" STR_FMT "\")", sep, i + 1, STR_ARG(x->name), STR_ARG(y->name));
    else if (!data_type_equal(&x->type, &y->type))
        sb_fmt(b, "%scolumn \"" STR_FMT "\" at position %zu: type mismatch (target: " STR_FMT ", replacement: " STR_FMT ")", sep, STR_ARG(x->name), i + 1, STR_ARG(x->type_name), STR_ARG(y->type_name));
}

static Status same_schema(Run *r, const Object *of, const Object *o, Error *err)
{
    StrBuf why = sb_new(r->a);

    for (size_t i = 0; i < of->columns.n || i < o->columns.n; i++)
        say_column(&why, of, o, i);
    if (!why.n)
        return OK;
    RAISE(err, E_INVALID, "replacement schema differs from target schema");
    error_detail(err, STR_FMT, STR_ARG(sb_str(&why)));
    return live_refuse(E_INVALID, "0A000", err);
}

/* What it reads must not read the view that it is for. */
static Status no_circle(Run *r, const Object *of, const Object *o, Error *err)
{
    ObjectVec users = {0};

    objects_users(r->svc->objects, r->a, of->id, &users);
    vec_push(r->a, &users, *of);
    for (size_t k = 0; k < users.n; k++)
        for (size_t i = 0; i < o->uses.n; i++)
            if (o->uses.p[i] == users.p[k].id && !(users.p[k].id == of->id && live_replaces(o)))
                return live_refuse(FAIL(err, E_INVALID, "cannot replace materialized view \"" STR_FMT "\" with \"" STR_FMT "\", which depends on it", STR_ARG(live_full(r->a, of)),
                                        STR_ARG(live_full(r->a, o))), "0A000", err);
    return OK;
}

static Status only_one(Run *r, const Object *of, Error *err)
{
    ObjectVec all = {0};

    objects_direct_users(r->svc->objects, r->a, of->id, &all);
    for vec_each(Object, o, &all)
        if (live_replaces(o) == of->id)
            return live_refuse(FAIL(err, E_EXISTS, "materialized view \"" STR_FMT "\" already has a replacement", STR_ARG(live_full(r->a, of))), "42710", err);
    return OK;
}

Status live_plan_replacement(Run *r, Object *o, Error *err)
{
    Object of;

    if (r->st->or_replace)
        return live_refuse(FAIL(err, E_INVALID, "CREATE OR REPLACE REPLACEMENT MATERIALIZED VIEW: drop the replacement, then create it"), "0A000", err);
    TRY(live_need(r, &r->st->live->from, 1 << OBJ_MVIEW, 0, &of, err));
    TRY(live_ask_owner(r, &of, err));
    if (live_replaces(&of))
        return live_refuse(FAIL(err, E_INVALID, "replacement \"" STR_FMT "\" cannot be depended upon", STR_ARG(live_full(r->a, &of))), "0A000", err);
    TRY(only_one(r, &of, err));
    TRY(same_schema(r, &of, o, err));
    TRY(no_circle(r, &of, o, err));
    if (!o->detail)
        o->detail = json_object(r->a);
    json_set(r->a, o->detail, "replaces", json_int(r->a, of.id));
    live_use(r->a, o, of.id);
    return OK;
}

/* ---- APPLY ---------------------------------------------------------------------------------------------------------------------- */

static Str note_key(Arena *a, int64_t id) { return str_fmt(a, "view/%lld", (long long)id); }

static Status check_apply(Run *r, const Object *o, const Object *by, Error *err)
{
    if (live_replaces(by) != o->id)
        return live_refuse(FAIL(err, E_INVALID, "cannot replace materialized view \"" STR_FMT "\" with \"" STR_FMT "\": it was not created as its replacement", STR_ARG(live_full(r->a, o)),
                                STR_ARG(live_full(r->a, by))), "0A000", err);
    if (json_get(o->detail, "refresh") && live_next_refresh(o, clock_ms()) == INT64_MAX)
        return live_refuse(FAIL(err, E_INVALID, "materialized view " STR_FMT " is sealed and thus cannot be replaced", STR_ARG(live_full(r->a, o))), "55000", err);
    TRY(same_schema(r, o, by, err));
    return no_circle(r, o, by, err);
}

/* The replacement's statement under the view's name. */
static Status text_of(Run *r, const Object *o, const Object *by, Str *ret, Error *err)
{
    StmtVec all = {0};

    TRY(sql_parse(r->a, DIALECT_POSTGRES, by->create_sql, &all, err));
    if (all.n != 1 || !all.p[0]->live)
        return FAIL(err, E_INTERNAL, "the statement of a replacement is none any more");
    Stmt *st = all.p[0];
    st->name = live_parts(r->a, o);
    st->live->replacement = 0;
    st->live->from = (StrVec){0};
    *ret = sql_live_text(r->a, st, LIVE_TEXT_WHOLE);
    return OK;
}

static Status replaced(Run *r, const Object *o, const Object *by, Object *ret, Error *err)
{
    *ret = *o;
    ret->definition = by->definition;
    ret->cluster = by->cluster;
    ret->version = o->version + 1;
    ret->detail = json_copy(r->a, by->detail);
    json_del(ret->detail, S("replaces"));
    memset(&ret->uses, 0, sizeof ret->uses);
    for (size_t i = 0; i < by->uses.n; i++)
        if (by->uses.p[i] != o->id)
            live_use(r->a, ret, by->uses.p[i]);
    return text_of(r, o, by, &ret->create_sql, err);
}

static Status rows_follow(Run *r, const Object *next, Error *err)
{
    Arena *own = arena_create();
    LiveAsserts asserts = {0};
    LiveNote note = { note_key(r->a, next->id), str_fmt(r->a, "%lld", (long long)next->version) };
    IvmView *v;
    Query *q;

    Status s = live_compile(r, own, next->definition, &q, &v, err);
    if (s == OK)
        s = live_asserts(r, next, &asserts, err);
    LiveViewOptions how = { .asserts = asserts.p, .nasserts = asserts.n };
    if (s == OK)
        s = live_view_replace(r->svc->live, next->id, own, v, &how, &note, err);
    if (s != OK)
        arena_destroy(own);
    return s;
}

/* Its definition is read with the rights of who owns it, as at every start. */
static Status rows_follow_as_system(Run *r, const Object *next, Error *err)
{
    Str as = r->live_as;

    r->live_as = S(REALM_SYSTEM_ROLE);
    Status s = rows_follow(r, next, err);
    r->live_as = as;
    return s;
}

static Status settle(Run *r, const Object *old, const Object *next, Error *err)
{
    bool held = json_get(old->detail, "refresh") || !live_runs(r->svc, old);

    TRY(live_retain(r->svc->live, next->id, json_get_int(next->detail, "retain-ms", 0), err));
    if (held && !json_get(next->detail, "refresh") && live_runs(r->svc, next)) {
        live_view_pause(r->svc->live, next->id, NULL);
        TRY(live_view_resume(r->svc->live, next->id, err));
    }
    return live_settle_view(r, next, err);
}

Status live_apply_replacement(Run *r, Object *o, Error *err)
{
    Object by, next;
    Error ignored;

    TRY(live_need(r, &r->st->live->to, 1 << OBJ_MVIEW, 0, &by, err));
    TRY(live_ask_owner(r, &by, err));
    TRY(check_apply(r, o, &by, err));
    TRY(replaced(r, o, &by, &next, err));
    ObjChanges ch = { .puts = &next, .nputs = 1, .deletes = &by.id, .ndeletes = 1 };
    TRY(objects_change(r->svc->objects, &ch, err));
    Status s = rows_follow_as_system(r, &next, err);
    if (s != OK) {
        Object back[2] = { *o, by };
        ObjChanges undo = { .puts = back, .nputs = 2 };
        if (objects_change(r->svc->objects, &undo, &ignored) != OK)
            log_error(&ignored, "a replacement that was not applied stays applied by name", NULL);
        return s;
    }
    live_audit(r, "alter", obj_kind_name(o->kind), &next, NULL);
    live_audit(r, "drop", obj_kind_name(by.kind), &by, NULL);
    TRY(live_drop(r->svc->live, &by.id, 1, err));
    return settle(r, o, &next, err);
}

/* ---- start ------------------------------------------------------------------------------------------------------------------------ */

Status live_start_replaced(Service *s, Arena *a, const Object *o, Arena *own, IvmView *v, const LiveViewOptions *how, Error *err)
{
    LiveNote note = { note_key(a, o->id), str_fmt(a, "%lld", (long long)o->version) };
    Str version = {0};

    if (o->version)
        TRY(live_note_get(s->live, a, note.key, &version, err));
    if (!o->version || str_eq(version, note.value))
        return live_view_add_with(s->live, o->id, own, v, how, err);
    return live_view_replace(s->live, o->id, own, v, how, &note, err);
}

void live_forget_version(Service *s, const Object *o)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    LiveNote note = { .key = note_key(a, o->id) };
    Error why;
    int64_t t;

    if (o->version && live_commit_noted(s->live, NULL, 0, &note, 1, &t, &why) != OK)
        log_error(&why, "the version of a view that is gone is kept", NULL);
}

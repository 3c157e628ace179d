/* SPDX-License-Identifier: Apache-2.0 */
/* staleness.c - is a view behind its sources?
 *
 * By snapshot ids alone (of a source that is not Iceberg: by the fingerprint of its files): a source whose current snapshot is not the one that the last refresh pinned makes the view STALE, and
 * so does an upstream view that is itself stale (its rows will change). */
#include "refresh/refresh_int.h"

static Status source_state(Refresher *r, Arena *a, const Json *source, int depth, Staleness *ret, Error *err);

static Status view_state(Refresher *r, Arena *a, const CatMview *v, int depth, Staleness *ret, Error *err)
{
    *ret = (Staleness){0};
    if (!v->snapshot_id && !json_len(v->sources)) {
        *ret = (Staleness){ 1, S("never refreshed") };
        return OK;
    }
    for (size_t i = 0; i < json_len(v->sources) && !ret->stale; i++)
        TRY(source_state(r, a, json_at(v->sources, i), depth, ret, err));
    return OK;
}

static Status open_now(Refresher *r, Arena *a, const Json *source, LakeTable *t, Error *err)
{
    Str catalog = json_get_str(source, "catalog", (Str){0}), ns = json_get_str(source, "namespace", (Str){0}), name = json_get_str(source, "name", (Str){0});
    CatRelation rel;

    TRY(cat_relation_get(lake_catalog(r->lake), a, catalog, ns, name, &rel, err));
    return rel.kind == REL_EXTERNAL ? lake_open_external(r->lake, a, &rel, NULL, t, err) : lake_open(r->lake, a, catalog, ns, name, t, err);
}

static Status source_state(Refresher *r, Arena *a, const Json *source, int depth, Staleness *ret, Error *err)
{
    Str name = json_get_str(source, "name", (Str){0}), ns = json_get_str(source, "namespace", (Str){0});
    LakeTable t;
    Error gone;
    CatMview up;

    Status s = open_now(r, a, source, &t, &gone);
    if (s == E_NOT_FOUND || (s == OK && !str_eq(t.meta->uuid, json_get_str(source, "uuid", (Str){0})))) {
        *ret = (Staleness){ 1, str_fmt(a, "source " STR_FMT "." STR_FMT " is gone or was created anew", STR_ARG(ns), STR_ARG(name)) };
        return OK;
    }
    if (s != OK)
        return error_set(err, s, gone.origin, "%s", gone.message);
    const IceSnapshot *now = ice_current_snapshot(t.meta);
    if ((now ? now->id : -1) != json_get_int(source, "snapshot-id", -1)) {
        *ret = (Staleness){ 1, str_fmt(a, "source " STR_FMT "." STR_FMT " has a newer snapshot", STR_ARG(ns), STR_ARG(name)) };
        return OK;
    }
    if (t.relation.kind == REL_MVIEW && depth < 32 && cat_mview_get(lake_catalog(r->lake), a, t.relation.id, &up, &gone) == OK)
        return view_state(r, a, &up, depth + 1, ret, err);
    return OK;
}

Status refresh_staleness(Refresher *r, Arena *a, const CatMview *v, Staleness *ret, Error *err)
{
    return view_state(r, a, v, 0, ret, err);
}

Status refresh_explain(Refresher *r, Arena *a, const CatMview *v, Str *ret, Error *err)
{
    CLEANUP(duck_disconnectp) DuckConn *c = NULL;
    Props catalogs = catalogs_of(a, v);
    BoundView b = {0};
    IvmPlan *p;

    TRY(duck_connect(r->engine, &c, err));
    TRY(view_bind(r, a, c, v->definition, str_eq(v->dialect, S("spark")) ? DIALECT_SPARK : DIALECT_POSTGRES, &catalogs, v->definer, v->relation_id, &b, err));
    if (ivm_shape(b.view) == IVM_FULL_ONLY) {
        *ret = str_fmt(a, "refreshed in full: " STR_FMT, STR_ARG(ivm_reason(b.view)));
        return OK;
    }
    IvmChange *all = arena_array(a, IvmChange, b.sources.n + 1);
    for (size_t i = 0; i < b.sources.n; i++)
        all[i] = (IvmChange){ .changed = 1, .has_deletes = 1 };
    TRY(ivm_plan(a, b.view, all, &p, err));
    *ret = ivm_plan_text(a, b.view, p);
    return OK;
}

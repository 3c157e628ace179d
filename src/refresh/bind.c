/* SPDX-License-Identifier: Apache-2.0 */
/* bind.c - a view's definition bound to its sources as they are now.
 *
 * Definitions name every table in full (catalog.namespace.table); what the catalog's name meant is kept with the view, so
 * that a session's settings can never lead a refresh elsewhere.  A materialized view may be read by another one: it is a table.
 *
 * Invariant: a view never reads itself, however far round. */
#include "refresh/refresh_int.h"

#include <stdlib.h>

static Status catalog_id(const ViewNames *n, Arena *a, Str sql_name, Str *ret, Error *err)
{
    CatWarehouse w;

    *ret = props_get(n->catalogs, sql_name, (Str){0});
    if (ret->n)
        return OK;
    TRY(cat_warehouse_get(lake_catalog(n->r->lake), a, sql_name, &w, err));
    *ret = w.id;
    return OK;
}

enum { NESTING_MAX = 32 };

static Status check_cycle(Refresher *r, Arena *a, int64_t self, const CatRelation *source, int depth, Error *err)
{
    CatMview v;
    Error ignored;

    if (source->id == self)
        return FAIL(err, E_INVALID, "the view would read itself: " STR_FMT "." STR_FMT " depends on it", STR_ARG(source->namespace), STR_ARG(source->name));
    if (depth > NESTING_MAX)
        return FAIL(err, E_LIMIT, "views are nested deeper than %d levels", NESTING_MAX);
    if (source->kind != REL_MVIEW || cat_mview_get(lake_catalog(r->lake), a, source->id, &v, &ignored) != OK)
        return OK;
    for (size_t i = 0; i < json_len(v.sources); i++) {
        CatRelation next;
        Str uuid = json_get_str(json_at(v.sources, i), "uuid", (Str){0});
        if (cat_relation_by_uuid(lake_catalog(r->lake), a, uuid, &next, &ignored) == OK)
            TRY(check_cycle(r, a, self, &next, depth + 1, err));
    }
    return OK;
}

/* Files of a source that is not Iceberg, and those outside of an Iceberg source's storage, are asked for as the definer. While a view is made its maker was asked already. */
typedef struct Asker { Refresher *r; Str definer; } Asker;

static Status definer_may(void *ctx, Arena *a, LakeMay what, Str bucket, Str key, Error *err)
{
    const Asker *asker = ctx;
    const RefreshHooks *h = &asker->r->hooks;
    return h->may_read ? h->may_read(h->ctx, a, asker->definer, what, bucket, key, err) : OK;
}

static Status open_source(const ViewNames *n, Arena *a, Str catalog, const TableRef *ref, LakeTable *t, Error *err)
{
    Asker *asker = arena_new(a, Asker);
    LakeRights *rights = arena_new(a, LakeRights);
    CatRelation rel;
    CatMview self;
    Error none;

    TRY(cat_relation_get(lake_catalog(n->r->lake), a, catalog, ref->name.p[1], ref->name.p[2], &rel, err));
    bool made = n->self_relation && cat_mview_get(lake_catalog(n->r->lake), a, n->self_relation, &self, &none) == OK;
    *asker = (Asker){ .r = n->r, .definer = made ? self.definer : n->definer };
    *rights = (LakeRights){ .ctx = asker, .may = definer_may };
    if (rel.kind == REL_EXTERNAL)
        return lake_open_external(n->r->lake, a, &rel, made ? rights : NULL, t, err);
    TRY(lake_open(n->r->lake, a, catalog, ref->name.p[1], ref->name.p[2], t, err));
    t->rights = asker->definer.n ? rights : NULL;
    return OK;
}

static Status resolve(void *ctx, Arena *a, const TableRef *ref, BoundTable **ret, Error *err)
{
    ViewNames *n = ctx;
    LakeTable *t = arena_new(a, LakeTable);
    Str id;

    if (ref->name.n != 3)
        return FAIL(err, E_INVALID, "[MATERIALIZED_VIEW_REQUIRES_FULLY_QUALIFIED_TABLES] table '" STR_FMT "' must be named catalog.namespace.table",
                    STR_ARG(str_join(a, &ref->name, S("."))));
    if (ref->as_of.has)
        return FAIL(err, E_INVALID, "a materialized view cannot read '" STR_FMT "' at a fixed version", STR_ARG(str_join(a, &ref->name, S("."))));
    TRY(catalog_id(n, a, ref->name.p[0], &id, err));
    TRY(open_source(n, a, id, ref, t, err));
    TRY(check_cycle(n->r, a, n->self_relation, &t->relation, 0, err));
    TRY(cat_intact_check(&t->relation, err));
    LakeName name = { .catalog_name = ref->name.p[0], .namespace = ref->name.p[1], .name = ref->name.p[2] };
    return lake_bind_table(n->r->lake, a, t, &name, ret, err);
}

Status view_bind(Refresher *r, Arena *a, DuckConn *probe, Str definition, Dialect d, const Props *catalogs, Str definer, int64_t self, BoundView *ret, Error *err)
{
    ViewNames names = { r, catalogs, self, definer };
    Binder b = { .dialect = d, .ctx = &names, .resolve = resolve, .probe = probe, .now_has = 1, .now_us = clock_us() };

    TRY(sql_parse_query(a, d, definition, &ret->query, err));
    TRY(sql_bind_query(a, &b, ret->query, err));
    TRY(ivm_compile(a, ret->query, &ret->view, err));
    for (size_t i = 0; i < ivm_nsources(ret->view); i++)
        vec_push(a, &ret->sources, (LakeSource *)ivm_source(ret->view, i)->user);
    return OK;
}

Props catalogs_of(Arena *a, const CatMview *v)
{
    Props p = {0};
    const Json *j = json_get(v->extra, "catalogs");
    for (size_t i = 0; j && j->kind == JSON_OBJECT && i < j->object.n; i++)
        props_set(a, &p, j->object.p[i].key, j->object.p[i].value->string);
    return p;
}

Pinned pinned_source(const CatMview *v, Str uuid)
{
    for (size_t i = 0; i < json_len(v->sources); i++) {
        const Json *s = json_at(v->sources, i);
        if (str_eq(json_get_str(s, "uuid", (Str){0}), uuid))
            return (Pinned){ 1, uuid, json_get_int(s, "snapshot-id", -1) };
    }
    return (Pinned){0};
}

/* ---- hidden fields in the record ----------------------------------------------------------------------------------- */

Status refresh_hidden_fields(Arena *a, const CatMview *v, IceFields **ret, Error *err)
{
    IceFields *fields = arena_new(a, IceFields);

    for (size_t i = 0; i < json_len(v->hidden); i++) {
        const Json *h = json_at(v->hidden, i);
        IceField f = { .id = (int32_t)json_get_int(h, "id", -1), .name = json_get_str(h, "name", (Str){0}) };
        TRY(ice_type_parse(a, json_get(h, "type"), &f.type, err));
        vec_push(a, fields, f);
    }
    *ret = fields;
    return OK;
}

Json *hidden_json(Arena *a, const IceFields *fields)
{
    Json *list = json_array(a);
    for (size_t i = 0; i < fields->n; i++) {
        Json *h = json_object(a);
        json_set(a, h, "id", json_int(a, fields->p[i].id));
        json_set(a, h, "name", json_str(a, fields->p[i].name));
        json_set(a, h, "type", ice_type_json(a, fields->p[i].type));
        json_push(a, list, h);
    }
    return list;
}

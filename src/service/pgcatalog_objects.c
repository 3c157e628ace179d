/* SPDX-License-Identifier: Apache-2.0 */
/* pgcatalog_objects.c - what a session may know of, gathered for pg_catalog.
 *
 * Relations that the principal may not describe are left out, as if they were not there.  Namespaces of the account's catalog
 * have their own names, those of other catalogs are catalog.namespace. */
#include "service/session_int.h"
#include "service/pgcatalog.h"

#include <unistd.h>

enum { OBJECTS_READ = 2000 };                              /* relations whose metadata is read: the rest are listed without columns */

static OptI64 summary_number(const IceMetadata *m, const char *key)
{
    const IceSnapshot *s = ice_current_snapshot(m);
    int64_t n;

    if (!s || !str_to_i64(props_get(&s->summary, str_c(key), S("")), &n))
        return (OptI64){ 0 };
    return SOME_I64(n);
}

static void add_columns(Run *r, PgCatRelation *o, const IceSchema *s)
{
    BoundColumns cols = { 0 };
    Error unreadable;

    if (!s || lake_columns(r->a, s, &cols, &unreadable) != OK)
        return;
    for (size_t i = 0; i < cols.n; i++) {
        PgCatColumn c = { .name = cols.p[i].name, .type = cols.p[i].type, .not_null = !cols.p[i].nullable };
        for vec_each(IceField, f, &s->fields)
            if (f->id == cols.p[i].field_id)
                c.comment = f->doc;
        vec_push(r->a, &o->columns, c);
    }
}

/* What cannot be read is listed without columns: the catalog stays usable. */
static void describe_view(Run *r, const CatRelation *rel, PgCatRelation *o)
{
    IceView *view;
    Error unreadable;

    if (ice_view_read(r->a, r->svc->store, rel->metadata_location, &view, &unreadable) != OK)
        return;
    const IceViewVersion *v = ice_view_current(view);
    if (v && v->reprs.n)
        o->definition = v->reprs.p[0].sql;
    for (size_t i = 0; v && i < view->schemas.n; i++)
        if (view->schemas.p[i]->id == v->schema_id)
            add_columns(r, o, view->schemas.p[i]);
    o->comment = props_get(&view->properties, S("comment"), S(""));
}

static void describe_table(Run *r, const CatRelation *rel, PgCatRelation *o)
{
    CatMview mv;
    LakeTable t;
    Error unreadable;

    if (lake_open_relation(r->svc->lake, r->a, rel, &t, &unreadable) != OK)
        return;
    add_columns(r, o, ice_current_schema(t.meta));
    o->comment = props_get(&t.meta->properties, S("comment"), S(""));
    o->rows = summary_number(t.meta, "total-records");
    o->bytes = summary_number(t.meta, "total-files-size");
    if (rel->kind == REL_MVIEW && cat_mview_get(r->svc->catalog, r->a, rel->id, &mv, &unreadable) == OK) {
        o->definition = mv.definition;
        if (mv.comment.n)
            o->comment = mv.comment;
    }
}

static void add_relation(Run *r, PgCatObjects *objects, Str schema, const CatRelation *rel)
{
    PgCatRelation o = { .namespace = schema, .name = rel->name, .owner = rel->owner,
                        .kind = rel->kind == REL_VIEW ? 'v' : rel->kind == REL_MVIEW ? 'm' : 'r' };
    Error denied;

    if (run_ask(r, ACT_READ_METADATA, "pg_catalog", rel, &denied) != OK)
        return;
    if (objects->relations.n < OBJECTS_READ) {
        if (rel->kind == REL_VIEW)
            describe_view(r, rel, &o);
        else
            describe_table(r, rel, &o);
    }
    vec_push(r->a, &objects->relations, o);
}

static Status add_catalog(Run *r, PgCatObjects *objects, const CatWarehouse *w, Error *err)
{
    CatNamespaces nss = { 0 };
    bool mine = str_eq(w->id, cat_account(r->svc->catalog));

    TRY(cat_namespace_list(r->svc->catalog, r->a, w->id, (Str){ 0 }, (CatPage){ 0 }, &nss, err));
    for (size_t i = 0; i < nss.n; i++) {
        CatRelations rels = { 0 };
        Str schema = mine ? nss.p[i].name : str_fmt(r->a, STR_FMT "." STR_FMT, STR_ARG(w->sql_name), STR_ARG(nss.p[i].name));
        vec_push(r->a, &objects->namespaces, schema);
        TRY(cat_relation_list(r->svc->catalog, r->a, w->id, nss.p[i].name, 7, (CatPage){ 0 }, &rels, err));
        for (size_t k = 0; k < rels.n; k++)
            add_relation(r, objects, schema, &rels.p[k]);
    }
    return OK;
}

Status run_fill_pg_catalog(Run *r, Error *err)
{
    PgCatObjects objects = { .database = r->ss->database, .user = r->ss->principal.key_id, .current_schema = r->ss->namespace,
                             .backend_pid = getpid() };
    CatWarehouses ws = { 0 };

    if (r->catalogs_filled++)
        return OK;
    vec_push(r->a, &objects.databases, S("materialize"));
    vec_push(r->a, &objects.databases, S("spark"));
    session_parameters(r->ss, r->a, &objects.settings);
    TRY(cat_warehouse_list(r->svc->catalog, r->a, &ws, err));
    for (size_t i = 0; i < ws.n; i++)
        TRY(add_catalog(r, &objects, &ws.p[i], err));
    return pgcat_fill(r->c, &objects, err);
}

Status run_need_pg_catalog(Run *r, Str engine_sql, Error *err)
{
    return str_find(engine_sql, S("firn_pg_")) >= 0 ? run_fill_pg_catalog(r, err) : OK;
}

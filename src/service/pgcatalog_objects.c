/* SPDX-License-Identifier: Apache-2.0 */
/* pgcatalog_objects.c - what a session may know of, gathered for pg_catalog.
 *
 * Relations that the principal may not describe are left out, as if they were not there.  Namespaces of the account's catalog
 * have their own names, those of other catalogs are catalog.namespace. */
#include "access/lakeformation.h"
#include "service/live_sql.h"
#include "service/session_int.h"
#include "service/mzcatalog.h"
#include "service/pgcatalog.h"

enum {
    OBJECTS_READ = 2000,                                   /* relations whose metadata is read: the rest are listed without columns */
    CACHE_SLACK = 100,                                     /* entries of relations that are no more, before all is forgotten */
};

/* What was read, by relation and version token: a session asks the same again and again. */
struct PgObjects { Arena *a; Map relations; };

typedef struct Gather { Run *r; Arena *keep; PgCatObjects *objects; } Gather;

void pg_objects_free(struct PgObjects *o)
{
    if (!o)
        return;
    arena_destroy(o->a);
}

static struct PgObjects *cache_of(Session *ss)
{
    if (!ss->pg_objects) {
        Arena *a = arena_create();
        ss->pg_objects = arena_new(a, struct PgObjects);
        *ss->pg_objects = (struct PgObjects){ .a = a, .relations = map_new(a) };
    }
    return ss->pg_objects;
}

static void forget_much(Session *ss, size_t live)
{
    if (!ss->pg_objects || ss->pg_objects->relations.n <= 2 * live + CACHE_SLACK)
        return;
    pg_objects_free(ss->pg_objects);
    ss->pg_objects = NULL;
}

/* ---- one relation ---------------------------------------------------------------------------------------------------------- */

static OptI64 summary_number(const IceMetadata *m, const char *key)
{
    const IceSnapshot *s = ice_current_snapshot(m);
    int64_t n;

    if (!s || !str_to_i64(props_get(&s->summary, str_c(key), S("")), &n))
        return (OptI64){ 0 };
    return SOME_I64(n);
}

/* A type as far as pg_attribute tells it: what is in a record or a map does not show. */
static DataType keep_type(Arena *a, const DataType *t)
{
    DataType r = { .kind = t->kind, .precision = t->precision, .scale = t->scale, .length = t->length };

    if (t->kind == DT_LIST) {
        r.nchildren = 1;
        r.children = arena_new(a, DataType);
        r.children[0] = keep_type(a, &t->children[0]);
    }
    return r;
}

static void add_columns(Gather *g, Arena *scratch, PgCatRelation *o, const IceSchema *s)
{
    BoundColumns cols = { 0 };
    Error unreadable;

    if (!s || lake_columns(scratch, s, &cols, &unreadable) != OK)
        return;
    for (size_t i = 0; i < cols.n; i++) {
        PgCatColumn c = { .name = str_dup(g->keep, cols.p[i].name), .type = keep_type(g->keep, &cols.p[i].type), .not_null = !cols.p[i].nullable };
        for vec_each(IceField, f, &s->fields)
            if (f->id == cols.p[i].field_id)
                c.comment = str_dup(g->keep, f->doc);
        vec_push(g->keep, &o->columns, c);
    }
}

/* What cannot be read is listed without columns: the catalog stays usable. */
static void describe_view(Gather *g, Arena *scratch, const CatRelation *rel, PgCatRelation *o)
{
    IceView *view;
    Error unreadable;

    if (ice_view_read(scratch, g->r->svc->store, rel->metadata_location, &view, &unreadable) != OK)
        return;
    const IceViewVersion *v = ice_view_current(view);
    if (v && v->reprs.n)
        o->definition = str_dup(g->keep, v->reprs.p[0].sql);
    for (size_t i = 0; v && i < view->schemas.n; i++)
        if (view->schemas.p[i]->id == v->schema_id)
            add_columns(g, scratch, o, view->schemas.p[i]);
    o->comment = str_dup(g->keep, props_get(&view->properties, S("comment"), S("")));
}

static void describe_table(Gather *g, Arena *scratch, const CatRelation *rel, PgCatRelation *o)
{
    CatMview mv;
    LakeTable t;
    Error unreadable;

    if (lake_open_relation(g->r->svc->lake, scratch, rel, &t, &unreadable) != OK)
        return;
    add_columns(g, scratch, o, ice_current_schema(t.meta));
    o->comment = str_dup(g->keep, props_get(&t.meta->properties, S("comment"), S("")));
    o->rows = summary_number(t.meta, "total-records");
    o->bytes = summary_number(t.meta, "total-files-size");
    if (rel->kind == REL_MVIEW && cat_mview_get(g->r->svc->catalog, scratch, rel->id, &mv, &unreadable) == OK) {
        o->definition = str_dup(g->keep, mv.definition);
        if (mv.comment.n)
            o->comment = str_dup(g->keep, mv.comment);
    }
}

static void describe_external(Gather *g, Arena *scratch, const CatRelation *rel, PgCatRelation *o)
{
    IceSchema *s;
    Error unreadable;

    if (lake_external_schema(scratch, rel, &s, &unreadable) == OK)
        add_columns(g, scratch, o, s);
    o->comment = str_dup(g->keep, json_get_str(json_get(rel->extra, "glue"), "Description", S("")));
}

static PgCatRelation *described(Gather *g, const CatRelation *rel)
{
    CLEANUP(arena_destroyp) Arena *scratch = arena_create();
    struct PgObjects *cache = cache_of(g->r->ss);
    Str key = str_fmt(g->r->a, "%lld " STR_FMT " %lld", (long long)rel->id, STR_ARG(rel->version_token), (long long)rel->version);
    PgCatRelation *o = map_get(&cache->relations, key);

    if (o)
        return o;
    g->keep = cache->a;
    o = arena_new(cache->a, PgCatRelation);
    if (rel->kind == REL_VIEW)
        describe_view(g, scratch, rel, o);
    else if (rel->kind == REL_EXTERNAL)
        describe_external(g, scratch, rel, o);
    else
        describe_table(g, scratch, rel, o);
    if (o->columns.n)                                      /* else it could not be read: next time, perhaps */
        map_put(&cache->relations, str_dup(cache->a, key), o);
    return o;
}

/* Columns that Lake Formation hides are not listed, nor statistics of the table. */
static void hide_columns(Gather *g, const CatRelation *rel, PgCatRelation *o)
{
    Run *r = g->r;
    PgCatRelation seen = *o;
    LfColumns may;
    Error ignored;

    if (lf_columns(r->svc->access, r->a, &r->ss->principal, rel->catalog, rel->namespace, rel->name, &may, &ignored) == OK && (may.all || (!may.only.n && !may.has_but)))
        return;
    memset(&seen.columns, 0, sizeof seen.columns);
    for (size_t i = 0; i < o->columns.n; i++)
        if (lf_column_allowed(&may, o->columns.p[i].name))
            vec_push(r->a, &seen.columns, o->columns.p[i]);
    seen.definition = (Str){ 0 };
    seen.bytes = (OptI64){ 0 };
    *o = seen;
}

static void add_relation(Gather *g, Str schema, const CatRelation *rel)
{
    PgCatRelation o = { 0 };
    Error denied;
    Ask ask = { .action = ACT_READ_METADATA, .api = "pg_catalog", .relation = rel, .quiet = 1 };

    if (access_check(g->r->svc->access, g->r->a, &g->r->ss->principal, &ask, &denied) != OK)
        return;
    if (g->objects->relations.n < OBJECTS_READ)
        o = *described(g, rel);
    hide_columns(g, rel, &o);
    o.namespace = schema;
    o.name = rel->name;
    o.owner = rel->owner;
    o.kind = rel->kind == REL_VIEW ? 'v' : rel->kind == REL_MVIEW ? 'm' : 'r';
    vec_push(g->r->a, &g->objects->relations, o);
}

/* ---- all of them -------------------------------------------------------------------------------------------------------------- */

static Status add_catalog(Gather *g, const CatWarehouse *w, Error *err)
{
    Run *r = g->r;
    CatNamespaces nss = { 0 };
    bool mine = str_eq(w->id, cat_account(r->svc->catalog));

    TRY(cat_namespace_list(r->svc->catalog, r->a, w->id, (Str){ 0 }, (CatPage){ 0 }, &nss, err));
    TRY(lf_filter_namespaces(r->svc->access, r->a, &r->ss->principal, &nss, err));
    for (size_t i = 0; i < nss.n; i++) {
        CatRelations rels = { 0 };
        Str schema = mine ? nss.p[i].name : str_fmt(r->a, STR_FMT "." STR_FMT, STR_ARG(w->sql_name), STR_ARG(nss.p[i].name));
        vec_push(r->a, &g->objects->namespaces, schema);
        TRY(cat_relation_list(r->svc->catalog, r->a, w->id, nss.p[i].name, 15, (CatPage){ 0 }, &rels, err));
        for (size_t k = 0; k < rels.n; k++)
            add_relation(g, schema, &rels.p[k]);
    }
    return OK;
}

Status run_fill_pg_catalog(Run *r, Error *err)
{
    PgCatObjects objects = { .database = r->ss->database, .user = r->ss->principal.key_id, .current_schema = r->ss->namespace,
                             .backend_pid = r->ss->backend };
    Gather g = { .r = r, .objects = &objects };
    CatWarehouses ws = { 0 };

    if (r->catalogs_filled++)
        return OK;
    if (live_speaks(r))
        pgcat_live(r, &objects);
    else
        vec_push(r->a, &objects.databases, S("materialize"));
    vec_push(r->a, &objects.databases, S("spark"));
    session_parameters(r->ss, r->a, &objects.settings);
    TRY(cat_warehouse_list(r->svc->catalog, r->a, &ws, err));
    for (size_t i = 0; i < ws.n; i++)
        TRY(add_catalog(&g, &ws.p[i], err));
    TRY(pgcat_fill(r->c, &objects, err));
    forget_much(r->ss, objects.relations.n);
    return OK;
}

Status run_need_pg_catalog(Run *r, Str engine_sql, Error *err)
{
    return str_find(engine_sql, S("firn_pg_")) >= 0 ? run_fill_pg_catalog(r, err) : OK;
}

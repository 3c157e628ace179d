/* SPDX-License-Identifier: Apache-2.0 */
/* show.c - SHOW … in Spark's columns. */
#include "access/lakeformation.h"
#include "service/ddl_int.h"
#include "service/athena.h"
#include "service/describe_int.h"
#include "service/external.h"

static bool wanted(const Run *r, Str name)
{
    Arena *a = r->a;
    Str p = r->st->pattern;

    if (!p.n)
        return true;
    StrVec choices = {0};                              /* Spark's patterns: * and |, without regard to case */
    str_split(a, str_lower(a, p), '|', &choices);
    for (size_t i = 0; i < choices.n; i++) {
        StrBuf like = sb_new(a);
        for (size_t k = 0; k < choices.p[i].n; k++)
            sb_byte(&like, choices.p[i].p[k] == '*' ? '%' : choices.p[i].p[k]);
        if (str_like(str_lower(a, name), sb_str(&like)))
            return true;
    }
    return false;
}

static Status show_namespaces(Run *r, Rows *rows, Error *err)
{
    CatNamespaces list = {0};
    Str id;

    rows_column(rows, athena_column(r, "namespace", "database_name"), DT_STRING);
    TRY(name_catalog(r, r->st->name.n ? r->st->name.p[0] : setting_get(r->ss, S("spark.sql.defaultCatalog"), r->ss->catalog_name), &id, err));
    TRY(cat_namespace_list(r->svc->catalog, r->a, id, (Str){0}, (CatPage){0}, &list, err));
    TRY(lf_filter_namespaces(r->svc->access, r->a, &r->ss->principal, &list, err));
    for (size_t i = 0; i < list.n; i++)
        if (wanted(r, list.p[i].name))
            cell_str(rows, rows_row(rows), 0, cat_display_name(r->a, list.p[i].name, (Str){0}));
    return OK;
}

static Status list_relations(Run *r, int kinds, Name *n, CatRelations *ret, Error *err)
{
    CatNamespace ns;

    TRY(name_namespace(r, &r->st->name, n, err));
    Status s = cat_namespace_get(r->svc->catalog, r->a, n->catalog_id, n->namespace, &ns, err);
    if (s == E_NOT_FOUND) {
        RAISE(err, E_NOT_FOUND, "[SCHEMA_NOT_FOUND] The schema `" STR_FMT "`.`" STR_FMT "` cannot be found.", STR_ARG(n->catalog_name), STR_ARG(n->namespace));
        memcpy(err->sqlstate, "42704", 6);
        return E_NOT_FOUND;
    }
    TRY(s);
    TRY(cat_relation_list(r->svc->catalog, r->a, n->catalog_id, n->namespace, kinds, (CatPage){0}, ret, err));
    return lf_filter_relations(r->svc->access, r->a, &r->ss->principal, ret, err);
}

/* Names alone, of tables and views together. */
static Status show_names(Run *r, Rows *rows, const char *column, int kinds, Error *err)
{
    CatRelations list = {0};
    Name n;

    rows_column(rows, column, DT_STRING);
    TRY(list_relations(r, kinds, &n, &list, err));
    for (size_t i = 0; i < list.n; i++)
        if (wanted(r, list.p[i].name))
            cell_str(rows, rows_row(rows), 0, list.p[i].name);
    return OK;
}

static Status show_tables(Run *r, Rows *rows, Error *err)
{
    CatRelations list = {0};
    Name n;

    rows_column(rows, "namespace", DT_STRING);
    rows_column(rows, "tableName", DT_STRING);
    rows_column(rows, "isTemporary", DT_BOOL);
    TRY(list_relations(r, 1 << REL_TABLE | 1 << REL_MVIEW | 1 << REL_EXTERNAL, &n, &list, err));
    for (size_t i = 0; i < list.n; i++)
        if (wanted(r, list.p[i].name)) {
            Value *row = rows_row(rows);
            cell_str(rows, row, 0, cat_display_name(r->a, n.namespace, (Str){0}));
            cell_str(rows, row, 1, list.p[i].name);
            cell_bool(rows, row, 2, 0);
        }
    return OK;
}

static Status staleness_text(Run *r, const CatRelation *rel, Str *ret, Error *err)
{
    CatMview v;
    Staleness st;

    *ret = (Str){0};
    if (rel->kind != REL_MVIEW)
        return OK;
    TRY(cat_mview_get(r->svc->catalog, r->a, rel->id, &v, err));
    TRY(refresh_staleness(r->svc->refresher, r->a, &v, &st, err));
    *ret = st.stale ? S("STALE") : S("FRESH");
    return OK;
}

/* glue.md 2.5: namespace, viewName, isTemporary, stalenessStatus, by name. */
static Status show_views(Run *r, Rows *rows, int kinds, Error *err)
{
    CatRelations list = {0};
    Name n;

    rows_column(rows, "namespace", DT_STRING);
    rows_column(rows, "viewName", DT_STRING);
    rows_column(rows, "isTemporary", DT_BOOL);
    rows_column(rows, "stalenessStatus", DT_STRING);
    TRY(list_relations(r, kinds, &n, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        Str stale;
        if (!wanted(r, list.p[i].name))
            continue;
        TRY(staleness_text(r, &list.p[i], &stale, err));
        Value *row = rows_row(rows);
        cell_str(rows, row, 0, cat_display_name(r->a, n.namespace, (Str){0}));
        cell_str(rows, row, 1, list.p[i].name);
        cell_bool(rows, row, 2, 0);
        if (stale.n)
            cell_str(rows, row, 3, stale);
    }
    return OK;
}

static Status show_columns(Run *r, Rows *rows, Error *err)
{
    const IceSchema *seen;
    BoundColumns cols = {0};
    CatRelation rel;
    LakeTable t;
    Name n;

    rows_column(rows, athena_column(r, "col_name", "field"), DT_STRING);
    TRY(name_resolve(r, &r->st->name, &n, err));
    Status s = cat_relation_get(r->svc->catalog, r->a, n.catalog_id, n.namespace, n.name, &rel, err);
    if (s == E_NOT_FOUND)
        return table_not_found(r, &r->st->name, r->st->position, err);
    TRY(s);
    TRY(external_open(r, r->a, &rel, &t, err));
    TRY(run_ask(r, ACT_READ_METADATA, "SHOW COLUMNS", &t.relation, err));
    TRY(run_seen_schema(r, &t.relation, ice_current_schema(t.meta), &seen, err));
    TRY(lake_columns(r->a, seen, &cols, err));
    for (size_t i = 0; i < cols.n; i++)
        cell_str(rows, rows_row(rows), 0, cols.p[i].name);
    return OK;
}

static Status all_properties(Run *r, const CatRelation *rel, Props *ret, Error *err)
{
    LakeTable t;
    IceView *v;

    if (rel->kind == REL_VIEW) {
        TRY(ice_view_read(r->a, r->svc->store, rel->metadata_location, &v, err));
        *ret = v->properties;
        return OK;
    }
    TRY(lake_open_relation(r->svc->lake, r->a, rel, &t, err));
    TRY(describe_properties(r, &t, ret, err));
    return rel->kind == REL_MVIEW ? describe_view_properties(r, rel, ret, err) : OK;
}

static void property(Rows *rows, Str key, Str value)
{
    Value *row = rows_row(rows);
    cell_str(rows, row, 0, key);
    cell_str(rows, row, 1, value);
}

static Status show_properties(Run *r, Rows *rows, Error *err)
{
    Props props = {0};
    CatRelation rel;
    Name n;

    rows_column(rows, athena_column(r, "key", "prpt_name"), DT_STRING);
    rows_column(rows, athena_column(r, "value", "prpt_value"), DT_STRING);
    TRY(name_resolve(r, &r->st->name, &n, err));
    Status s = cat_relation_get(r->svc->catalog, r->a, n.catalog_id, n.namespace, n.name, &rel, err);
    if (s == E_NOT_FOUND)
        return table_not_found(r, &r->st->name, r->st->position, err);
    TRY(s);
    TRY(run_ask(r, ACT_READ_METADATA, "SHOW TBLPROPERTIES", &rel, err));
    TRY(all_properties(r, &rel, &props, err));
    for (size_t i = 0; i < props.n && !r->st->props.n; i++)
        property(rows, props.p[i].key, props.p[i].value);
    for (size_t i = 0; i < r->st->props.n; i++) {             /* asked for by name */
        Str key = r->st->props.p[i].key;
        property(rows, key, props_get(&props, key, str_fmt(r->a, "Table " STR_FMT " does not have property: " STR_FMT, STR_ARG(name_display(r->a, &n)), STR_ARG(key))));
    }
    return OK;
}

static Status show_create(Run *r, Rows *rows, Error *err)
{
    const IceSchema *seen;
    LakeTable t;
    Name n;
    Str text;

    rows_column(rows, "createtab_stmt", DT_STRING);
    TRY(open_table(r, &r->st->name, &n, &t, err));
    TRY(run_ask(r, ACT_READ_METADATA, "SHOW CREATE TABLE", &t.relation, err));
    TRY(run_seen_schema(r, &t.relation, ice_current_schema(t.meta), &seen, err));
    if (seen != ice_current_schema(t.meta))
        TRY(run_every_column(r, &n, &t.relation, "SHOW CREATE TABLE", err));
    if (r->ss->dialect == DIALECT_TRINO) {
        TRY(athena_create_text(r, &n, &t, &text, err));
        athena_lines(r, rows, text);
        return OK;
    }
    TRY(describe_create_text(r, &n, &t, &text, err));
    cell_str(rows, rows_row(rows), 0, text);
    return OK;
}

static Status show_catalogs(Run *r, Rows *rows, Error *err)
{
    CatWarehouses list = {0};

    rows_column(rows, "catalog", DT_STRING);
    TRY(cat_warehouse_list(r->svc->catalog, r->a, &list, err));
    for (size_t i = 0; i < list.n; i++)
        if (wanted(r, list.p[i].sql_name))
            cell_str(rows, rows_row(rows), 0, r->ss->dialect == DIALECT_TRINO && str_eq(list.p[i].sql_name, S("glue_catalog")) ? S("awsdatacatalog") : list.p[i].sql_name);
    return OK;
}

static Status show_current(Run *r, Rows *rows, Error *err UNUSED)
{
    rows_column(rows, "catalog", DT_STRING);
    rows_column(rows, "namespace", DT_STRING);
    Value *row = rows_row(rows);
    cell_str(rows, row, 0, setting_get(r->ss, S("spark.sql.defaultCatalog"), r->ss->catalog_name));
    cell_str(rows, row, 1, r->ss->namespace);
    return OK;
}

Status do_show(Run *r, Rows *rows, Error *err)
{
    Str what = r->st->what;

    rows->tag = "SHOW";
    if (r->st->where)
        return FAIL(err, E_UNSUPPORTED, "SHOW … WHERE is not supported here; use LIKE");
    if (r->ss->dialect == DIALECT_TRINO && str_eq(what, S("tables")))
        return show_names(r, rows, "tab_name", 1 << REL_TABLE | 1 << REL_MVIEW | 1 << REL_VIEW | 1 << REL_EXTERNAL, err);
    if (r->ss->dialect == DIALECT_TRINO && str_eq(what, S("views")))
        return show_names(r, rows, "views", 1 << REL_VIEW, err);
    if (str_eq(what, S("create view")))
        return athena_show_view(r, rows, err);
    if (str_eq(what, S("namespaces")) || str_eq(what, S("databases")) || str_eq(what, S("schemas")))
        return show_namespaces(r, rows, err);
    if (str_eq(what, S("tables")))
        return show_tables(r, rows, err);
    if (str_eq(what, S("views")))
        return show_views(r, rows, 1 << REL_VIEW | 1 << REL_MVIEW, err);
    if (str_eq(what, S("materialized views")))
        return show_views(r, rows, 1 << REL_MVIEW, err);
    if (str_eq(what, S("columns")))
        return show_columns(r, rows, err);
    if (str_eq(what, S("tblproperties")))
        return show_properties(r, rows, err);
    if (str_eq(what, S("create table")))
        return show_create(r, rows, err);
    if (str_eq(what, S("catalogs")))
        return show_catalogs(r, rows, err);
    if (str_eq(what, S("current namespace")))
        return show_current(r, rows, err);
    return FAIL(err, E_UNSUPPORTED, "SHOW " STR_FMT " is not supported", STR_ARG(str_upper(r->a, what)));
}

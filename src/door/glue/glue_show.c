/* SPDX-License-Identifier: Apache-2.0 */
/* glue_show.c - relations as Glue's Table.
 *
 * What Iceberg metadata says (columns, location, pointer, properties) is shown from there, whoever wrote it; what only Glue knows (owner, retention, own
 * parameters, comments of columns without a doc) from the relation's `extra`.  Metadata that cannot be read leaves columns out, not the table. */
#include "access/lakeformation.h"
#include "door/glue/glue_int.h"
#include "lake/lake.h"
#include "service/tablebuckets.h"

static Json *str_json(Arena *a, Str s) { return json_str(a, s); }

Str glue_version_id(AwsCall *c, const CatRelation *r)
{
    if (svc_is_table_bucket(r->catalog))
        return r->version_token;
    return str_fmt(c->a, "%lld", (long long)r->version + 1);
}

/* ---- columns ------------------------------------------------------------------------------------------------------------ */

static Json *column(Arena *a, const IceField *f, const char *current)
{
    Json *col = json_object(a), *params = json_object(a);

    json_set(a, col, "Name", str_json(a, f->name));
    json_set(a, col, "Type", str_json(a, hive_type_text(a, f->type)));
    if (f->doc.n > 0)
        json_set(a, col, "Comment", str_json(a, f->doc));
    json_set(a, params, "iceberg.field.id", str_json(a, str_fmt(a, "%d", f->id)));
    json_set(a, params, "iceberg.field.optional", str_json(a, f->required ? S("false") : S("true")));
    json_set(a, params, "iceberg.field.current", str_json(a, str_c(current)));
    json_set(a, col, "Parameters", params);
    return col;
}

static void add_columns(Arena *a, const IceSchema *s, const char *current, Map *seen, Json *list)
{
    for vec_each(IceField, f, &s->fields) {
        if (map_has(seen, f->name))
            continue;
        map_put(seen, f->name, seen);
        json_push(a, list, column(a, f, current));
    }
}

/* The current schema's columns; then, as Iceberg's own Glue client writes them, those of older schemas. */
Json *glue_columns(Arena *a, const IceMetadata *m, int all_schemas)
{
    const IceSchema *now = ice_current_schema(m);
    Json *list = json_array(a);
    Map seen = map_new(a);

    if (now)
        add_columns(a, now, "true", &seen, list);
    for (size_t i = 0; all_schemas && i < m->schemas.n; i++)
        if (m->schemas.p[i]->id != m->current_schema_id)
            add_columns(a, m->schemas.p[i], "false", &seen, list);
    return list;
}

static void add_comments(Arena *a, Json *columns, const Json *comments)
{
    for (size_t i = 0; i < json_len(columns); i++) {
        Json *col = json_at(columns, i), *comment = json_get_s(comments, json_get_str(col, "Name", (Str){0}));
        if (comment && !json_get(col, "Comment"))
            json_set(a, col, "Comment", comment);
    }
}

/* ---- parts of a Table --------------------------------------------------------------------------------------------------------- */

static void copy_members(Arena *a, Json *to, const Json *from)
{
    for (size_t i = 0; i < json_len(from); i++)
        json_set_s(a, to, from->object.p[i].key, from->object.p[i].value);
}

/* What Glue keeps, then what every table has. */
static Json *base_of(AwsCall *c, const CatRelation *r)
{
    Json *t = json_object(c->a);

    json_set(c->a, t, "Name", str_json(c->a, r->name));
    json_set(c->a, t, "DatabaseName", str_json(c->a, r->namespace));
    copy_members(c->a, t, json_get(r->extra, "glue"));
    json_del(t, S("Comments"));
    json_set(c->a, t, "Name", str_json(c->a, r->name));
    json_set(c->a, t, "CreateTime", aws_time(c, r->created_ms));
    json_set(c->a, t, "UpdateTime", aws_time(c, r->updated_ms));
    if (!json_get(t, "Retention"))
        json_set(c->a, t, "Retention", json_int(c->a, 0));
    json_set(c->a, t, "CreatedBy", str_json(c->a, r->owner));
    json_set(c->a, t, "CatalogId", str_json(c->a, r->catalog));
    json_set(c->a, t, "VersionId", str_json(c->a, glue_version_id(c, r)));
    json_set(c->a, t, "IsMultiDialectView", json_bool(c->a, r->kind == REL_EXTERNAL && json_get(t, "ViewDefinition")));
    json_set(c->a, t, "IsMaterializedView", json_bool(c->a, r->kind == REL_MVIEW));
    return t;
}

static Json *parameters(AwsCall *c, const CatRelation *r, const IceMetadata *m)
{
    Json *p = json_object(c->a);

    copy_members(c->a, p, json_get(json_get(r->extra, "glue"), "Parameters"));
    if (m)
        for vec_each(KeyValue, kv, &m->properties)
            json_set_s(c->a, p, kv->key, str_json(c->a, kv->value));
    json_set(c->a, p, "table_type", str_json(c->a, S("ICEBERG")));
    if (r->metadata_location.n > 0)
        json_set(c->a, p, "metadata_location", str_json(c->a, r->metadata_location));
    if (m && m->metadata_log.n > 0)
        json_set(c->a, p, "previous_metadata_location", str_json(c->a, vec_last(&m->metadata_log).file));
    return p;
}

static Json *storage(AwsCall *c, const CatRelation *r, const IceMetadata *m)
{
    const Json *kept = json_get(r->extra, "glue");
    Json *sd = json_object(c->a);

    copy_members(c->a, sd, json_get(kept, "StorageDescriptor"));
    if (m) {
        Json *columns = glue_columns(c->a, m, r->kind == REL_TABLE);
        add_comments(c->a, columns, json_get(kept, "Comments"));
        json_set(c->a, sd, "Columns", columns);
    }
    json_set(c->a, sd, "Location", str_json(c->a, m ? m->location : r->location));
    return sd;
}

static Json *federated(AwsCall *c, const CatRelation *r)
{
    Json *f = json_object(c->a);
    json_set(c->a, f, "Identifier", str_json(c->a, cat_relation_arn(glue_catalog(c), c->a, r)));
    json_set(c->a, f, "ConnectionName", str_json(c->a, S("aws:s3tables")));
    json_set(c->a, f, "ConnectionType", str_json(c->a, S("aws:s3tables")));
    return f;
}

static void show_table(AwsCall *c, const CatRelation *r, int flags, Json *t)
{
    bool bucket = svc_is_table_bucket(r->catalog);
    IceMetadata *m = NULL;
    Error unreadable;

    if (r->metadata_location.n > 0 && ice_metadata_read(c->a, GLUE_DOOR(c)->svc->store, r->metadata_location, &m, &unreadable) != OK)
        m = NULL;
    json_set(c->a, t, "TableType", str_json(c->a, bucket ? S("customer") : S("EXTERNAL_TABLE")));
    json_set(c->a, t, "Parameters", parameters(c, r, m));
    json_set(c->a, t, "StorageDescriptor", storage(c, r, m));
    if (bucket)
        json_set(c->a, t, "FederatedTable", federated(c, r));
    if (m && !json_get(t, "Description") && props_has(&m->properties, S("comment")))
        json_set(c->a, t, "Description", str_json(c->a, props_get(&m->properties, S("comment"), (Str){0})));
    if (m && (flags & SHOW_ICEBERG))
        json_set(c->a, t, "IcebergTableMetadata", glue_iceberg_metadata(c, m));
}

/* ---- Iceberg views ---------------------------------------------------------------------------------------------------------------- */

static void show_view(AwsCall *c, const CatRelation *r, Json *t)
{
    Json *sd = json_object(c->a), *list = json_array(c->a), *params = json_object(c->a);
    IceView *v = NULL;
    Map seen = map_new(c->a);
    Error unreadable;

    json_set(c->a, t, "TableType", str_json(c->a, S("VIRTUAL_VIEW")));
    json_set(c->a, params, "metadata_location", str_json(c->a, r->metadata_location));
    json_set(c->a, t, "Parameters", params);
    json_set(c->a, sd, "Columns", list);
    json_set(c->a, t, "StorageDescriptor", sd);
    if (ice_view_read(c->a, GLUE_DOOR(c)->svc->store, r->metadata_location, &v, &unreadable) != OK)
        return;
    const IceViewVersion *now = ice_view_current(v);
    const IceSchema *s = now ? ice_view_schema(v, now->schema_id) : NULL;
    if (s)
        add_columns(c->a, s, "true", &seen, list);
    if (now && now->reprs.n > 0) {
        json_set(c->a, t, "ViewOriginalText", str_json(c->a, now->reprs.p[0].sql));
        json_set(c->a, t, "ViewExpandedText", str_json(c->a, now->reprs.p[0].sql));
    }
    if (props_has(&v->properties, S("comment")))
        json_set(c->a, t, "Description", str_json(c->a, props_get(&v->properties, S("comment"), (Str){0})));
}

/* ---- whole ------------------------------------------------------------------------------------------------------------------------------ */

static Str short_type(AwsCall *c UNUSED, const CatRelation *r)
{
    if (r->kind == REL_VIEW)
        return S("VIRTUAL_VIEW");
    if (r->kind == REL_EXTERNAL)
        return json_get_str(json_get(r->extra, "glue"), "TableType", (Str){0});
    return svc_is_table_bucket(r->catalog) ? S("customer") : S("EXTERNAL_TABLE");
}

static Json *show_short(AwsCall *c, const CatRelation *r, int flags)
{
    Json *t = json_object(c->a);

    json_set(c->a, t, "Name", str_json(c->a, r->name));
    json_set(c->a, t, "DatabaseName", str_json(c->a, r->namespace));
    json_set(c->a, t, "CatalogId", str_json(c->a, r->catalog));
    if (flags & SHOW_TYPES)
        json_set(c->a, t, "TableType", str_json(c->a, short_type(c, r)));
    return t;
}

/* Columns that Lake Formation hides from the caller are not shown. */
static Json *allowed(AwsCall *c, const Json *columns, const LfColumns *may)
{
    Json *list = json_array(c->a);

    for (size_t i = 0; i < json_len(columns); i++)
        if (lf_column_allowed(may, json_get_str(json_at(columns, i), "Name", (Str){0})))
            json_push(c->a, list, json_at(columns, i));
    return list;
}

static Status hide_columns(AwsCall *c, const CatRelation *r, Json *t, Error *err)
{
    Json *sd = json_copy(c->a, json_get(t, "StorageDescriptor"));
    LfColumns may;

    TRY(lf_columns(c->access, c->a, &c->who, r->catalog, r->namespace, r->name, &may, err));
    if (may.all || !json_is(sd, JSON_OBJECT) || !json_get(sd, "Columns"))
        return OK;
    json_set(c->a, sd, "Columns", allowed(c, json_get(sd, "Columns"), &may));
    json_set(c->a, t, "StorageDescriptor", sd);
    json_del(t, S("IcebergTableMetadata"));
    return OK;
}

static Status by_lake_formation(AwsCall *c, const CatRelation *r, Json *t, Error *err)
{
    LfResource table = { .kind = LF_TABLE, .catalog = r->catalog, .database = r->namespace, .table = r->name };
    int governed = 0;

    TRY(lf_governs(c->access, c->a, &table, &governed, err));
    json_set(c->a, t, "IsRegisteredWithLakeFormation", json_bool(c->a, governed));
    return hide_columns(c, r, t, err);
}

Status glue_show(AwsCall *c, const CatRelation *r, int flags, Json **ret, Error *err)
{
    CatMview v = {0};

    if (flags & (SHOW_NAMES | SHOW_TYPES)) {
        *ret = show_short(c, r, flags);
        return OK;
    }
    *ret = base_of(c, r);
    if (r->kind == REL_VIEW)
        show_view(c, r, *ret);
    else if (r->kind != REL_EXTERNAL)
        show_table(c, r, flags, *ret);
    TRY(by_lake_formation(c, r, *ret, err));
    if (r->kind != REL_MVIEW)
        return OK;
    TRY(cat_mview_get(glue_catalog(c), c->a, r->id, &v, err));
    glue_show_view(c, r, &v, flags, *ret);
    return OK;
}

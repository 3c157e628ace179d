/* SPDX-License-Identifier: Apache-2.0 */
/* metadata.c - GetDatabase, ListDatabases, GetTableMetadata, ListTableMetadata: the catalog as Athena shows it. */
#include "door/athena/athena_int.h"
#include "lake/lake.h"

enum { SHOWN_ROWS_MAX = 100000, PATTERN_MAX = 256 };

static Status metadata_error(Status s, const char *what, Str name, Error *err)
{
    if (s == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "MetadataException", "EntityNotFoundException: %s " STR_FMT " not found.", what, STR_ARG(name));
    return s;
}

static Status open_catalog(AwsCall *c, CatWarehouse *ret, Error *err)
{
    Str name = aws_str(c, "CatalogName");
    Json *w;

    TRY(ath_allow(c, "datacatalog", name, err));
    if (aws_has(c, "WorkGroup"))
        TRY(wg_get(ath_service(c), c->a, wg_of(c), &w, err));
    Status s = cat_resolve(ath_service(c), c->a, name, ret, err);
    if (s == E_NOT_FOUND)
        aws_code(err, "MetadataException");
    return s;
}

static SvcCall metadata_call(AwsCall *c, SvcCtx *ctx, const char *api)
{
    *ctx = service_ctx(ath_service(c));
    return (SvcCall){ .ctx = ctx, .a = c->a, .who = &c->who, .api = api };
}

/* ---- databases ---------------------------------------------------------------------------------------------------------------- */

static Json *database_shape(AwsCall *c, const CatNamespace *n)
{
    Json *v = json_object(c->a), *params = json_object(c->a);

    json_set(c->a, v, "Name", json_str(c->a, n->name));
    for (size_t i = 0; i < n->props.n; i++) {
        if (str_eq(n->props.p[i].key, S("comment")))
            json_set(c->a, v, "Description", json_str(c->a, n->props.p[i].value));
        else if (!str_eq(n->props.p[i].key, S("location")))
            json_set_s(c->a, params, n->props.p[i].key, json_str(c->a, n->props.p[i].value));
    }
    json_set(c->a, v, "Parameters", params);
    return v;
}

/* Athena's names have no case; firn's do: as given when it exists, else in lower case. */
static Str database_name(AwsCall *c, const CatWarehouse *w)
{
    Str name = aws_str(c, "DatabaseName");
    CatNamespace n;
    Error ignored;

    return cat_namespace_get(ath_service(c)->catalog, c->a, w->id, name, &n, &ignored) == OK ? name : str_lower(c->a, name);
}

Status ath_GetDatabase(AwsCall *c, Error *err)
{
    SvcCtx ctx;
    SvcCall call = metadata_call(c, &ctx, "glue:GetDatabase");
    CatWarehouse w;
    CatNamespace n;

    TRY(open_catalog(c, &w, err));
    Str name = database_name(c, &w);
    TRY(metadata_error(svc_namespace_get(&call, w.id, name, &n, err), "Database", name, err));
    aws_put(c, "Database", database_shape(c, &n));
    return OK;
}

Status ath_ListDatabases(AwsCall *c, Error *err)
{
    SvcCtx ctx;
    SvcCall call = metadata_call(c, &ctx, "glue:GetDatabases");
    Json *list = json_array(c->a);
    CatNamespaces all = {0};
    CatWarehouse w;

    TRY(open_catalog(c, &w, err));
    TRY(svc_namespace_list(&call, w.id, (Str){0}, (CatPage){ .max = SHOWN_ROWS_MAX }, &all, err));
    for vec_each(CatNamespace, n, &all)
        json_push(c->a, list, database_shape(c, n));
    return aws_page(c, "DatabaseList", list, "NextToken", "MaxResults", 50, "NextToken", err);
}

/* ---- patterns ------------------------------------------------------------------------------------------------------------------ */

Status pattern_check(Str pattern, Error *err)
{
    for (size_t i = 0; i < pattern.n; i++)
        if (!ath_name_ok(str_sub(pattern, i, i + 1), "_-.*|") || (pattern.p[i] == '*' && (i == 0 || pattern.p[i - 1] == '|' || pattern.p[i - 1] == '*')))
            return ATH_INVALID(err, "INVALID_INPUT", "Expression '" STR_FMT "' is not supported: names, '.', '*' after a character, and '|' are", STR_ARG(pattern));
    return OK;
}

/* One alternative against the whole text: reach[k] says that the pattern so far fits the first k characters. */
static bool fits(Str pattern, Str text)
{
    bool reach[PATTERN_MAX + 1] = { true };

    if (text.n > PATTERN_MAX)
        return false;
    for (size_t i = 0; i < pattern.n; i++) {
        bool star = i + 1 < pattern.n && pattern.p[i + 1] == '*';
        bool next[PATTERN_MAX + 1] = { star && reach[0] };
        for (size_t k = 0; k < text.n; k++) {
            bool same = pattern.p[i] == '.' || pattern.p[i] == text.p[k];
            next[k + 1] = (same && (reach[k] || (star && next[k]))) || (star && reach[k + 1]);
        }
        memcpy(reach, next, sizeof reach);
        i += star;
    }
    return reach[text.n];
}

bool pattern_match(Str pattern, Str text)
{
    Str one, rest = pattern;

    for (bool more = true; more; ) {
        more = str_cut(rest, '|', &one, &rest);
        if (fits(one, text))
            return true;
    }
    return false;
}

/* ---- tables ---------------------------------------------------------------------------------------------------------------------- */

static Json *column_of(AwsCall *c, const IceField *f)
{
    Json *v = json_object(c->a);

    json_set(c->a, v, "Name", json_str(c->a, f->name));
    json_set(c->a, v, "Type", json_str(c->a, hive_type_text(c->a, f->type)));
    if (f->has_doc)
        json_set(c->a, v, "Comment", json_str(c->a, f->doc));
    return v;
}

static Json *table_shape(AwsCall *c, const CatRelation *r, const char *type, const IceSchema *s, const Props *params)
{
    Json *v = json_object(c->a), *cols = json_array(c->a), *p = json_object(c->a);

    for (size_t i = 0; s && i < s->fields.n; i++)
        json_push(c->a, cols, column_of(c, &s->fields.p[i]));
    for (size_t i = 0; i < params->n; i++)
        json_set_s(c->a, p, params->p[i].key, json_str(c->a, params->p[i].value));
    json_set(c->a, v, "Name", json_str(c->a, r->name));
    json_set(c->a, v, "CreateTime", aws_time(c, r->created_ms));
    json_set(c->a, v, "LastAccessTime", json_int(c->a, 0));
    json_set(c->a, v, "TableType", json_str(c->a, str_c(type)));
    json_set(c->a, v, "Columns", cols);
    json_set(c->a, v, "PartitionKeys", json_array(c->a));
    json_set(c->a, v, "Parameters", p);
    return v;
}

static Status table_metadata(AwsCall *c, const SvcName *name, Json **ret, Error *err)
{
    SvcCtx ctx;
    SvcCall call = metadata_call(c, &ctx, "glue:GetTable");
    Props params = {0};
    SvcTable t;

    TRY(svc_table_load(&call, name, &t, err));
    props_set(c->a, &params, S("EXTERNAL"), S("TRUE"));
    props_set(c->a, &params, S("location"), t.metadata->location);
    props_set(c->a, &params, S("metadata_location"), t.relation.metadata_location);
    props_set(c->a, &params, S("table_type"), S("ICEBERG"));
    *ret = table_shape(c, &t.relation, "EXTERNAL_TABLE", ice_current_schema(t.metadata), &params);
    return OK;
}

static Status view_metadata(AwsCall *c, const SvcName *name, Json **ret, Error *err)
{
    SvcCtx ctx;
    SvcCall call = metadata_call(c, &ctx, "glue:GetTable");
    Props params = {0};
    SvcView v;

    TRY(svc_view_load(&call, name, &v, err));
    props_set(c->a, &params, S("presto_view"), S("true"));
    *ret = table_shape(c, &v.relation, "VIRTUAL_VIEW", ice_view_schema(v.view, ice_view_current(v.view)->schema_id), &params);
    return OK;
}

static Json *hive_columns(AwsCall *c, const Json *list)
{
    static const char *const members[] = { "Name", "Type", "Comment" };
    Json *cols = json_array(c->a);

    for (size_t i = 0; i < json_len(list); i++) {
        Json *one = json_object(c->a);
        rec_copy_members(c->a, one, json_at(list, i), members, COUNT_OF(members));
        json_push(c->a, cols, one);
    }
    return cols;
}

/* A table that is not Iceberg: as its definition in the Glue catalog says. */
static Json *external_metadata(AwsCall *c, const CatRelation *r)
{
    const Json *def = json_get(r->extra, "glue"), *storage = json_get(def, "StorageDescriptor");
    Json *v = json_object(c->a), *params = json_get(def, "Parameters") ? json_copy(c->a, json_get(def, "Parameters")) : json_object(c->a);

    if (json_get(storage, "Location"))
        json_set(c->a, params, "location", json_get(storage, "Location"));
    json_set(c->a, v, "Name", json_str(c->a, r->name));
    json_set(c->a, v, "CreateTime", aws_time(c, r->created_ms));
    json_set(c->a, v, "LastAccessTime", json_int(c->a, 0));
    json_set(c->a, v, "TableType", json_str(c->a, json_get_str(def, "TableType", S("EXTERNAL_TABLE"))));
    json_set(c->a, v, "Columns", hive_columns(c, json_get(storage, "Columns")));
    json_set(c->a, v, "PartitionKeys", hive_columns(c, json_get(def, "PartitionKeys")));
    json_set(c->a, v, "Parameters", params);
    return v;
}

static Status relation_metadata(AwsCall *c, const SvcName *name, Json **ret, Error *err)
{
    SvcCtx ctx;
    SvcCall call = metadata_call(c, &ctx, "glue:GetTable");
    CatRelation rel;

    TRY(svc_relation_get(&call, name, &rel, err));
    if (rel.kind == REL_VIEW)
        return view_metadata(c, name, ret, err);
    if (rel.kind != REL_EXTERNAL && rel.metadata_location.n)
        return table_metadata(c, name, ret, err);
    *ret = external_metadata(c, &rel);
    return OK;
}

Status ath_GetTableMetadata(AwsCall *c, Error *err)
{
    CatWarehouse w;
    Json *v;

    TRY(open_catalog(c, &w, err));
    SvcName name = { w.id, database_name(c, &w), aws_str(c, "TableName") };
    Status s = relation_metadata(c, &name, &v, err);
    if (s == E_NOT_FOUND) {
        name.name = str_lower(c->a, name.name);
        s = relation_metadata(c, &name, &v, err);
    }
    TRY(metadata_error(s, "Table", name.name, err));
    aws_put(c, "TableMetadata", v);
    return OK;
}

/* Names first, then the metadata of one page: the list of a database is long and each table's file is read. */
static Status page_of_names(AwsCall *c, Json *names, const CatWarehouse *w, Str ns, Error *err)
{
    Json *list = json_array(c->a), *v;

    TRY(aws_page(c, "TableMetadataList", names, "NextToken", "MaxResults", 50, "NextToken", err));
    const Json *page = json_get(c->out, "TableMetadataList");
    for (size_t i = 0; i < json_len(page); i++) {
        const Json *one = json_at(page, i);
        SvcName name = { w->id, ns, one->string };
        Status s = relation_metadata(c, &name, &v, err);
        if (s == OK)
            json_push(c->a, list, v);
        else if (s != E_NOT_FOUND && s != E_DENIED && s != E_QUARANTINED)
            return s;
    }
    aws_put(c, "TableMetadataList", list);
    return OK;
}

Status ath_ListTableMetadata(AwsCall *c, Error *err)
{
    SvcCtx ctx;
    SvcCall call = metadata_call(c, &ctx, "glue:GetTables");
    Str pattern = aws_str(c, "Expression");
    Json *names = json_array(c->a);
    CatRelations all = {0};
    CatNamespace n;
    CatWarehouse w;

    TRY(pattern_check(pattern, err));
    TRY(open_catalog(c, &w, err));
    Str ns = database_name(c, &w);
    TRY(metadata_error(svc_namespace_get(&call, w.id, ns, &n, err), "Database", ns, err));
    TRY(svc_relation_list(&call, w.id, ns, (CatPage){ .max = SHOWN_ROWS_MAX }, &all, err));
    for vec_each(CatRelation, r, &all)
        if (!pattern.n || pattern_match(pattern, r->name))
            json_push(c->a, names, json_str(c->a, r->name));
    return page_of_names(c, names, &w, ns, err);
}

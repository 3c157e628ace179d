/* SPDX-License-Identifier: Apache-2.0 */
/* s3t_table.c - tables: made, shown, listed, renamed, deleted; the metadata location and its version token. */
#include "door/s3tables/s3t_int.h"
#include "door/s3tables/s3t_schema.h"

#define WRONG_TOKEN "Provided version token does not match the table version token."

/* ---- create ----------------------------------------------------------------------------------------------------------- */

static Status create_with_schema(AwsCall *c, const SvcName *name, const Json *iceberg, CatRelation *ret, Error *err)
{
    SvcNewTable t = { .name = *name };
    SvcCall call = s3t_call(c);
    SvcTable made = {0};

    TRY(s3t_schema(c->a, iceberg, &t, err));
    TRY(svc_table_create(&call, &t, &made, err));
    *ret = made.relation;
    return OK;
}

Status s3t_create_table(AwsCall *c, Error *err)
{
    const Json *iceberg = json_get(aws_get(c, "metadata"), "iceberg");
    SvcCall call = s3t_call(c);
    CatWarehouse w;
    CatNamespace ns;
    CatRelation r = {0};

    TRY(s3t_bucket(c, &w, err));
    if (svc_table_bucket_name_problem(aws_str(c, "name")).n)
        return FAIL(err, E_INVALID, "The specified table name is not valid.");
    TRY(s3t_namespace(c, &w, &ns, err));
    TRY(s3t_encryption_check(c, err));
    TRY(s3t_tags_check(aws_get(c, "tags"), err));
    SvcName name = { w.id, ns.name, aws_str(c, "name") };
    Status s = iceberg ? create_with_schema(c, &name, iceberg, &r, err) : svc_table_reserve(&call, &name, (Str){0}, NULL, &r, err);
    if (s == E_EXISTS)
        return FAIL(err, E_EXISTS, "A table with an identical name already exists in the namespace.");
    TRY(s);
    Str arn = s3t_table_arn_of(c, &r);
    TRY(s3t_config_new(c, arn, err));
    aws_put_str(c, "tableARN", arn);
    aws_put_str(c, "versionToken", r.version_token);
    return OK;
}

/* ---- show --------------------------------------------------------------------------------------------------------------- */

static void put(AwsCall *c, Json *o, const char *key, Str v)
{
    if (v.n)
        json_set(c->a, o, key, json_str(c->a, v));
}

/* What GetTable and ListTables both say. */
static Json *summary(AwsCall *c, const CatWarehouse *w, const CatNamespace *ns, const CatRelation *r)
{
    Json *o = json_object(c->a);

    json_set(c->a, o, "namespace", s3t_levels(c, r->namespace));
    put(c, o, "name", r->name);
    put(c, o, "type", S("customer"));
    put(c, o, "tableARN", s3t_table_arn_of(c, r));
    json_set(c->a, o, "createdAt", aws_time(c, r->created_ms));
    json_set(c->a, o, "modifiedAt", aws_time(c, r->updated_ms));
    put(c, o, "namespaceId", ns->uuid);
    put(c, o, "tableBucketId", props_get(&w->props, S("id"), (Str){0}));
    if (s3t_is_managed(c, r))
        put(c, o, "managedByService", S("glue.amazonaws.com"));
    return o;
}

static Status find(AwsCall *c, CatWarehouse *w, CatNamespace *ns, CatRelation *r, Error *err)
{
    Str arn = aws_str(c, "tableArn");

    if (arn.n && (aws_has(c, "tableBucketARN") || aws_has(c, "name")))
        return FAIL(err, E_INVALID, "Either tableArn or tableBucketARN, namespace and name must be given.");
    if (!arn.n && !(aws_has(c, "tableBucketARN") && aws_has(c, "namespace") && aws_has(c, "name")))
        return FAIL(err, E_INVALID, "Either tableArn or tableBucketARN, namespace and name must be given.");
    if (arn.n)
        TRY(s3t_table_arn(c, arn, r, err));
    else
        TRY(s3t_table(c, w, r, err));
    TRY(cat_warehouse_get(s3t_catalog(c), c->a, r->catalog, w, err));
    return cat_namespace_get(s3t_catalog(c), c->a, r->catalog, r->namespace, ns, err);
}

Status s3t_get_table(AwsCall *c, Error *err)
{
    CatWarehouse w = {0};
    CatNamespace ns = {0};
    CatRelation r = {0};

    TRY(find(c, &w, &ns, &r, err));
    c->out = summary(c, &w, &ns, &r);
    aws_put_str(c, "versionToken", r.version_token);
    aws_put_str(c, "metadataLocation", r.metadata_location);
    aws_put_str(c, "warehouseLocation", r.location);
    aws_put_str(c, "createdBy", cat_account(s3t_catalog(c)));
    aws_put_str(c, "modifiedBy", cat_account(s3t_catalog(c)));
    aws_put_str(c, "ownerAccountId", cat_account(s3t_catalog(c)));
    aws_put_str(c, "format", S("ICEBERG"));
    return OK;
}

static Status list_namespace(AwsCall *c, const CatWarehouse *w, const CatNamespace *ns, S3tItems *items, Error *err)
{
    CatRelations all = {0};

    TRY(cat_relation_list(s3t_catalog(c), c->a, w->id, ns->name, 1 << REL_TABLE | 1 << REL_MVIEW, (CatPage){0}, &all, err));
    for vec_each(CatRelation, r, &all)
        if (str_starts(r->name, aws_str(c, "prefix")))
            vec_push(c->a, items, ((S3tItem){ str_fmt(c->a, STR_FMT "\x1f" STR_FMT, STR_ARG(ns->name), STR_ARG(r->name)), summary(c, w, ns, r) }));
    return OK;
}

Status s3t_list_tables(AwsCall *c, Error *err)
{
    CatNamespaces all = {0};
    S3tItems items = {0};
    CatWarehouse w;
    CatNamespace one;

    TRY(s3t_bucket(c, &w, err));
    if (aws_has(c, "namespace")) {
        TRY(s3t_namespace(c, &w, &one, err));
        vec_push(c->a, &all, one);
    } else {
        TRY(cat_namespace_list(s3t_catalog(c), c->a, w.id, (Str){0}, (CatPage){0}, &all, err));
    }
    for vec_each(CatNamespace, ns, &all)
        TRY(list_namespace(c, &w, ns, &items, err));
    return s3t_page(c, "tables", &items, "maxTables", err);
}

/* ---- delete, rename -------------------------------------------------------------------------------------------------------- */

static Status token_fits(AwsCall *c, const CatRelation *r, Error *err)
{
    if (!aws_has(c, "versionToken") || str_eq(aws_str(c, "versionToken"), r->version_token))
        return OK;
    return FAIL(err, E_CONFLICT, WRONG_TOKEN);
}

Status s3t_delete_table(AwsCall *c, Error *err)
{
    SvcCall call = s3t_call(c);
    CatWarehouse w;
    CatRelation r;
    Error ignored;

    TRY(s3t_table(c, &w, &r, err));
    TRY(token_fits(c, &r, err));
    if (r.kind == REL_MVIEW && refresh_stop(s3t_door(c)->svc->refresher, r.id, &ignored) == OK)
        log_event(LOG_INFO, "a running refresh was stopped: its view is deleted", "view", str_z(c->a, r.name), NULL);
    SvcName name = { r.catalog, r.namespace, r.name };
    return svc_table_drop(&call, &name, SVC_PURGE_FILES, err);
}

static Status destination(AwsCall *c, const CatWarehouse *w, const CatRelation *r, SvcName *ret, Error *err)
{
    CatNamespace ns;

    *ret = (SvcName){ w->id, aws_has(c, "newNamespaceName") ? aws_str(c, "newNamespaceName") : r->namespace, aws_has(c, "newName") ? aws_str(c, "newName") : r->name };
    Status s = cat_namespace_get(s3t_catalog(c), c->a, w->id, ret->namespace, &ns, err);
    if (s == E_NOT_FOUND)
        return FAIL(err, E_NOT_FOUND, "The specified destination namespace does not exist.");
    TRY(s);
    if (svc_table_bucket_name_problem(ret->name).n)
        return FAIL(err, E_INVALID, "The specified table name is not valid.");
    return OK;
}

Status s3t_rename_table(AwsCall *c, Error *err)
{
    SvcCall call = s3t_call(c);
    CatWarehouse w;
    CatRelation r;
    SvcName to;

    TRY(s3t_table(c, &w, &r, err));
    if (s3t_is_managed(c, &r))
        return s3t_protected(c, &r, err);
    if (!aws_has(c, "newNamespaceName") && !aws_has(c, "newName"))
        return FAIL(err, E_INVALID, "Neither a new namespace name nor a new table name is specified.");
    TRY(token_fits(c, &r, err));
    TRY(destination(c, &w, &r, &to, err));
    SvcName from = { r.catalog, r.namespace, r.name };
    Status s = svc_table_rename(&call, &from, &to, err);
    return s == E_EXISTS ? FAIL(err, E_EXISTS, "A table with an identical name already exists in the namespace.") : s;
}

/* ---- the metadata location ------------------------------------------------------------------------------------------------- */

Status s3t_get_pointer(AwsCall *c, Error *err)
{
    CatWarehouse w;
    CatRelation r;

    TRY(s3t_table(c, &w, &r, err));
    aws_put_str(c, "versionToken", r.version_token);
    aws_put_str(c, "metadataLocation", r.metadata_location);
    aws_put_str(c, "warehouseLocation", r.location);
    return OK;
}

static Status not_valid(Error *err, const char *why)
{
    char because[LIMIT_ERROR_TEXT];

    memcpy(because, why, strlen(why) + 1);
    return FAIL(err, E_INVALID, "The specified metadata location is not valid: %s", because);
}

static Status location_fits(AwsCall *c, const CatRelation *r, Error *err)
{
    Str file = aws_str(c, "metadataLocation");

    if (!str_starts(file, str_cat(c->a, r->location, S("/"))))
        return not_valid(err, "it must begin with the table's warehouse location");
    if (!str_ends(file, S(".metadata.json")) && !str_ends(file, S(".metadata.json.gz")))
        return not_valid(err, "it must end with .metadata.json, or with .metadata.json.gz");
    return OK;
}

Status s3t_put_pointer(AwsCall *c, Error *err)
{
    SvcCall call = s3t_call(c);
    CatWarehouse w;
    CatRelation r;
    SvcTable t = {0};

    TRY(s3t_table(c, &w, &r, err));
    if (s3t_is_managed(c, &r))
        return s3t_protected(c, &r, err);
    TRY(location_fits(c, &r, err));
    SvcPoint p = { .name = { r.catalog, r.namespace, r.name }, .token = aws_str(c, "versionToken"), .next = aws_str(c, "metadataLocation"), .how = SVC_POINT_PAST_CATALOG };
    Status s = svc_table_point(&call, &p, &t, err);
    if (s == E_PROTECTED)                             /* it became managed meanwhile */
        return s3t_protected(c, &r, err);
    if (s == E_CONFLICT)
        return FAIL(err, E_CONFLICT, WRONG_TOKEN);
    if (s == E_NOT_FOUND || s == E_SYNTAX || s == E_CORRUPT || (s == E_INVALID && !str_starts(str_c(err->message), S("The specified"))))
        return not_valid(err, err->message);
    TRY(s);
    aws_put_str(c, "name", t.relation.name);
    aws_put_str(c, "tableARN", s3t_table_arn_of(c, &t.relation));
    aws_put(c, "namespace", s3t_levels(c, t.relation.namespace));
    aws_put_str(c, "versionToken", t.relation.version_token);
    aws_put_str(c, "metadataLocation", t.relation.metadata_location);
    return OK;
}

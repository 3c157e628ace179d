/* SPDX-License-Identifier: Apache-2.0 */
/* glue_catalog.c - catalogs: the account's, `s3tablescatalog` (the federation of all table buckets) and one a table bucket.
 *
 * Table buckets are catalogs from their creation, so `s3tablescatalog` is there without CreateCatalog; what CreateCatalog says of it
 * (description, parameters, default permissions) is kept as a document.  Other catalogs cannot be made. */
#include "door/glue/glue_int.h"

#define FEDERATION "s3tablescatalog"
#define DOC_KIND "glue.catalog"

static Json *str_json(AwsCall *c, Str s) { return json_str(c->a, s); }

static Json *federated(AwsCall *c, Str identifier)
{
    Json *f = json_object(c->a);
    json_set(c->a, f, "Identifier", str_json(c, identifier));
    json_set(c->a, f, "ConnectionName", str_json(c, S("aws:s3tables")));
    json_set(c->a, f, "ConnectionType", str_json(c, S("aws:s3tables")));
    return f;
}

static Str bucket_arns(AwsCall *c)
{
    return str_fmt(c->a, "arn:aws:s3tables:" STR_FMT ":" STR_FMT ":bucket/*", STR_ARG(cat_region(glue_catalog(c))), STR_ARG(cat_account(glue_catalog(c))));
}

/* What CreateCatalog or UpdateCatalog said; an empty object when nothing was. */
static Json *kept(AwsCall *c, Str name, bool *there)
{
    Json *doc = NULL;
    Error absent;
    *there = cat_doc_get(glue_catalog(c), c->a, S(DOC_KIND), name, &doc, &absent) == OK;
    return *there ? doc : json_object(c->a);
}

static void take(AwsCall *c, Json *out, const Json *from, const char *key)
{
    Json *v = json_get(from, key);
    if (v)
        json_set(c->a, out, key, v);
}

static void take_input(AwsCall *c, Json *out, const Json *input)
{
    static const char *const keys[] = { "Description", "Parameters", "CreateTableDefaultPermissions", "CreateDatabaseDefaultPermissions",
                                        "AllowFullTableExternalDataAccess", "CatalogProperties" };
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        take(c, out, input, keys[i]);
}

static Json *show(AwsCall *c, Str id, Str name, Str arn, int64_t created_ms, Str identifier, Str doc_name)
{
    Json *o = json_object(c->a);
    bool there;

    json_set(c->a, o, "CatalogId", str_json(c, id));
    json_set(c->a, o, "Name", str_json(c, name));
    json_set(c->a, o, "ResourceArn", str_json(c, arn));
    const Json *doc = kept(c, doc_name, &there);
    take_input(c, o, doc);
    int64_t made = json_get_int(doc, "created_ms", created_ms), changed = json_get_int(doc, "updated_ms", made);
    if (made) {
        json_set(c->a, o, "CreateTime", aws_time(c, made));
        json_set(c->a, o, "UpdateTime", aws_time(c, changed));
    }
    if (identifier.n > 0)
        json_set(c->a, o, "FederatedCatalog", federated(c, identifier));
    if (identifier.n > 0 && !json_get(o, "AllowFullTableExternalDataAccess"))
        json_set(c->a, o, "AllowFullTableExternalDataAccess", str_json(c, S("True")));
    return o;
}

static Str catalog_arn(AwsCall *c, Str nested)
{
    return str_fmt(c->a, "arn:aws:glue:" STR_FMT ":" STR_FMT ":catalog%s" STR_FMT, STR_ARG(cat_region(glue_catalog(c))), STR_ARG(cat_account(glue_catalog(c))),
                   nested.n > 0 ? "/" : "", STR_ARG(nested));
}

static Json *show_federation(AwsCall *c)
{
    Str id = str_fmt(c->a, STR_FMT ":" FEDERATION, STR_ARG(cat_account(glue_catalog(c))));
    return show(c, id, S(FEDERATION), catalog_arn(c, S(FEDERATION)), 0, bucket_arns(c), S(FEDERATION));
}

static Json *show_warehouse(AwsCall *c, const CatWarehouse *w)
{
    if (!str_eq(w->kind, S("table_bucket")))
        return show(c, w->id, w->id, catalog_arn(c, (Str){0}), w->created_ms, (Str){0}, w->id);
    return show(c, w->id, w->bucket, catalog_arn(c, str_fmt(c->a, FEDERATION "/" STR_FMT, STR_ARG(w->bucket))), w->created_ms, w->arn, w->id);
}

static bool names_federation(AwsCall *c, Str id)
{
    return str_eq(id, S(FEDERATION)) || str_eq(id, str_fmt(c->a, STR_FMT ":" FEDERATION, STR_ARG(cat_account(glue_catalog(c)))))
        || str_eq(id, catalog_arn(c, S(FEDERATION)));
}

Status glue_get_catalog(AwsCall *c, Error *err)
{
    CatWarehouse w = {0};
    Str id = aws_str(c, "CatalogId");

    if (names_federation(c, id)) {
        TRY(glue_allow(c, catalog_arn(c, S(FEDERATION)), err));
        aws_put(c, "Catalog", show_federation(c));
        return OK;
    }
    TRY(glue_warehouse(c, id, &w, err));
    TRY(glue_allow(c, glue_arn(c, &w, "catalog", (Str){0}, (Str){0}), err));
    aws_put(c, "Catalog", show_warehouse(c, &w));
    return OK;
}

static Status list_buckets(AwsCall *c, Json *list, Error *err)
{
    CatWarehouses all = {0};

    TRY(cat_warehouse_list(glue_catalog(c), c->a, &all, err));
    for vec_each(CatWarehouse, w, &all)
        if (str_eq(w->kind, S("table_bucket")))
            json_push(c->a, list, show_warehouse(c, w));
    return OK;
}

/* Children of the parent: of the root by default; all generations with Recursive. */
Status glue_get_catalogs(AwsCall *c, Error *err)
{
    Str parent = aws_str(c, "ParentCatalogId");
    bool recursive = aws_bool(c, "Recursive", false), below_federation = names_federation(c, parent);
    Json *list = json_array(c->a);
    CatWarehouse root = {0};

    TRY(glue_allow(c, catalog_arn(c, (Str){0}), err));
    TRY(glue_warehouse(c, below_federation ? (Str){0} : parent, &root, err));
    bool at_root = !below_federation && str_eq(root.id, cat_account(glue_catalog(c)));
    if (at_root && aws_bool(c, "IncludeRoot", false))
        json_push(c->a, list, show_warehouse(c, &root));
    if (at_root && !aws_bool(c, "HasDatabases", false))
        json_push(c->a, list, show_federation(c));
    if (below_federation || (at_root && recursive))
        TRY(list_buckets(c, list, err));
    return aws_page(c, "CatalogList", list, "NextToken", "MaxResults", PAGE_TABLES, "NextToken", err);
}

/* ---- made, changed, forgotten ------------------------------------------------------------------------------------------------ */

static Status put_doc(AwsCall *c, Str name, Json *doc, Error *err)
{
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_KIND), .doc_key = name, .doc = doc };
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

static Status write_input(AwsCall *c, Str name, int64_t created_ms, Error *err)
{
    Json *doc = json_object(c->a);

    take_input(c, doc, aws_get(c, "CatalogInput"));
    json_set(c->a, doc, "created_ms", json_int(c->a, created_ms));
    json_set(c->a, doc, "updated_ms", json_int(c->a, clock_ms()));
    return put_doc(c, name, doc, err);
}

Status glue_create_catalog(AwsCall *c, Error *err)
{
    Str name = glue_fold(c, aws_str(c, "Name"));
    const Json *fed = json_get(aws_get(c, "CatalogInput"), "FederatedCatalog");
    bool there;

    TRY(glue_allow(c, catalog_arn(c, name), err));
    if (!str_eq(json_get_str(fed, "ConnectionName", json_get_str(fed, "ConnectionType", (Str){0})), S("aws:s3tables")))
        return FAIL(err, E_UNSUPPORTED, "firn federates S3 Tables alone: FederatedCatalog needs ConnectionName aws:s3tables");
    if (!str_eq(name, S(FEDERATION)))
        return FAIL(err, E_INVALID, "The catalog of S3 Tables must be named " FEDERATION ".");
    if (!str_eq(json_get_str(fed, "Identifier", (Str){0}), bucket_arns(c)))
        return FAIL(err, E_INVALID, "FederatedCatalog.Identifier must be " STR_FMT, STR_ARG(bucket_arns(c)));
    kept(c, name, &there);
    if (there)
        return FAIL(err, E_EXISTS, "Catalog " STR_FMT " already exists.", STR_ARG(name));
    TRY(write_input(c, name, clock_ms(), err));
    return glue_tag_put(c, catalog_arn(c, name), aws_get(c, "Tags"), err);
}

Status glue_update_catalog(AwsCall *c, Error *err)
{
    Str id = aws_str(c, "CatalogId"), name = S(FEDERATION), arn = catalog_arn(c, S(FEDERATION));
    CatWarehouse w = {0};
    bool there;

    if (!names_federation(c, id)) {
        TRY(glue_warehouse(c, id, &w, err));
        name = w.id;
        arn = glue_arn(c, &w, "catalog", (Str){0}, (Str){0});
    }
    TRY(glue_allow(c, arn, err));
    const Json *old = kept(c, name, &there);
    return write_input(c, name, json_get_int(old, "created_ms", w.created_ms ? w.created_ms : clock_ms()), err);
}

Status glue_delete_catalog(AwsCall *c, Error *err)
{
    Str id = aws_str(c, "CatalogId");
    CatWarehouse w = {0};
    bool there;

    if (!names_federation(c, id)) {
        TRY(glue_warehouse(c, id, &w, err));
        TRY(glue_allow(c, glue_arn(c, &w, "catalog", (Str){0}, (Str){0}), err));
        return FAIL(err, E_UNSUPPORTED, "the catalog of the account stays, and that of a table bucket goes with its bucket (s3tables:DeleteTableBucket)");
    }
    TRY(glue_allow(c, catalog_arn(c, S(FEDERATION)), err));
    kept(c, S(FEDERATION), &there);
    if (!there)
        return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Catalog " FEDERATION " not found: it was not created, table buckets are catalogs without it.");
    return put_doc(c, S(FEDERATION), NULL, err);
}

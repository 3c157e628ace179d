/* SPDX-License-Identifier: Apache-2.0 */
/* catalogs.c - data catalogs: Athena's names for the catalogs that there are.
 *
 * AwsDataCatalog is the account's.  Table buckets are [<account>:]s3tablescatalog/<bucket>.  A registered catalog is a record {"Name", "Type", "Description",
 * "Parameters", "Tags"}; of type GLUE it is another name for the catalog that its parameter catalog-id tells; the other types
 * need connectors, which are not here, so they cannot be made. */
#include "door/athena/athena_int.h"


#define FEDERATED "s3tablescatalog/"

static Status no_catalog(Str name, Error *err)
{
    return FAIL(err, E_NOT_FOUND, "DataCatalog " STR_FMT " was not found", STR_ARG(name));
}

static Status registered(Service *svc, Arena *a, Str name, CatWarehouse *ret, Error *err)
{
    Json *rec;

    TRY(rec_get(svc, a, K_CATALOG, name, &rec, err));
    if (!rec)
        return no_catalog(name, err);
    Str id = json_get_str(json_get(rec, "Parameters"), "catalog-id", (Str){0});
    if (!id.n)
        return FAIL(err, E_NOT_FOUND, "DataCatalog " STR_FMT " has no parameter catalog-id", STR_ARG(name));
    if (str_starts(id, S(FEDERATED)))
        id = str_fmt(a, STR_FMT ":" STR_FMT, STR_ARG(cat_account(svc->catalog)), STR_ARG(id));
    if (cat_warehouse_get(svc->catalog, a, id, ret, err) == OK)
        return OK;
    return FAIL(err, E_NOT_FOUND, "DataCatalog " STR_FMT " points to catalog '" STR_FMT "', which does not exist", STR_ARG(name), STR_ARG(id));
}

Status cat_resolve(Service *svc, Arena *a, Str name, CatWarehouse *ret, Error *err)
{
    Str account = cat_account(svc->catalog);

    if (!name.n || str_ieq(name, S("AwsDataCatalog")))
        return cat_warehouse_get(svc->catalog, a, account, ret, err);
    if (str_starts(name, S(FEDERATED)))
        name = str_fmt(a, STR_FMT ":" STR_FMT, STR_ARG(account), STR_ARG(name));
    else if (!str_starts(name, str_fmt(a, STR_FMT ":" FEDERATED, STR_ARG(account))))
        return registered(svc, a, name, ret, err);
    Status s = cat_warehouse_get(svc->catalog, a, name, ret, err);
    return s == E_NOT_FOUND ? no_catalog(name, err) : s;
}

static void name_setting(Arena *a, Props *ret, Str name, Str id)
{
    props_set(a, ret, str_fmt(a, "spark.sql.catalog." STR_FMT ".glue.id", STR_ARG(name)), id);
}

Status cat_settings(Service *svc, Arena *a, Str current, Props *ret, Error *err)
{
    Str account = cat_account(svc->catalog);
    CatWarehouses all = {0};
    CatWarehouse w;
    CatDocs docs;
    Error ignored;

    name_setting(a, ret, S("awsdatacatalog"), account);
    name_setting(a, ret, S("AwsDataCatalog"), account);
    TRY(cat_warehouse_list(svc->catalog, a, &all, err));
    for vec_each(CatWarehouse, one, &all) {
        ptrdiff_t at = str_find(one->id, S(":" FEDERATED));
        if (at < 0)
            continue;
        name_setting(a, ret, str_from(one->id, (size_t)at + 1), one->id);
        name_setting(a, ret, one->id, one->id);
    }
    TRY(cat_doc_list(svc->catalog, a, S(K_CATALOG), (Str){0}, &docs, err));
    for vec_each(CatDoc, d, &docs)
        if (registered(svc, a, d->key, &w, &ignored) == OK)
            name_setting(a, ret, str_lower(a, d->key), w.id);
    bool account_is = !current.n || str_ieq(current, S("AwsDataCatalog"));
    props_set(a, ret, S("spark.sql.defaultCatalog"), account_is ? S("awsdatacatalog") : str_lower(a, current));
    return OK;
}

/* ---- operations ----------------------------------------------------------------------------------------------------------- */

static Json *catalog_shape(AwsCall *c, const Json *r)
{
    static const char *const members[] = { "Name", "Description", "Type", "Parameters" };
    Json *v = json_object(c->a);

    rec_copy_members(c->a, v, r, members, COUNT_OF(members));
    return v;
}

static Json *aws_data_catalog(AwsCall *c)
{
    Json *v = json_object(c->a), *params = json_object(c->a);

    json_set(c->a, params, "catalog-id", json_str(c->a, cat_account(ath_service(c)->catalog)));
    json_set(c->a, v, "Name", json_str(c->a, S("AwsDataCatalog")));
    json_set(c->a, v, "Type", json_str(c->a, S("GLUE")));
    json_set(c->a, v, "Parameters", params);
    return v;
}

static Status check_catalog(AwsCall *c, Str name, Error *err)
{
    Str type = aws_str(c, "Type");

    if (!ath_name_ok(name, "._-@") || name.n > 127)
        return ATH_INVALID(err, "INVALID_INPUT", "DataCatalog name must consist of letters, digits, '_', '.', '@' and '-'");
    if (str_ieq(name, S("AwsDataCatalog")))
        return ATH_INVALID(err, "INVALID_INPUT", "DataCatalog name AwsDataCatalog is reserved");
    if (!str_eq(type, S("GLUE")))
        return ATH_INVALID(err, "INVALID_INPUT", "DataCatalog type " STR_FMT " needs a connector and is not supported: GLUE is", STR_ARG(type));
    return OK;
}

static Status catalog_get(AwsCall *c, Json **ret, Error *err)
{
    TRY(ath_allow(c, "datacatalog", aws_str(c, "Name"), err));
    TRY(rec_get(ath_service(c), c->a, K_CATALOG, aws_str(c, "Name"), ret, err));
    if (!*ret)
        return ATH_INVALID(err, "INVALID_INPUT", "DataCatalog " STR_FMT " was not found", STR_ARG(aws_str(c, "Name")));
    return OK;
}

Status ath_CreateDataCatalog(AwsCall *c, Error *err)
{
    static const char *const members[] = { "Name", "Type", "Description", "Parameters" };
    Str name = aws_str(c, "Name");
    Json *r = json_object(c->a), *tags = json_object(c->a), *old;

    TRY(ath_allow(c, "datacatalog", name, err));
    TRY(check_catalog(c, name, err));
    TRY(rec_tags(c, aws_get(c, "Tags"), tags, err));
    TRY(rec_get(ath_service(c), c->a, K_CATALOG, name, &old, err));
    if (old)
        return ATH_INVALID(err, "INVALID_INPUT", "DataCatalog already exists");
    TRY(rec_count_below(c, K_CATALOG, err));
    rec_copy_members(c->a, r, c->in, members, COUNT_OF(members));
    json_set(c->a, r, "Tags", tags);
    TRY(rec_put(ath_service(c), K_CATALOG, name, r, err));
    aws_put(c, "DataCatalog", catalog_shape(c, r));
    return OK;
}

Status ath_GetDataCatalog(AwsCall *c, Error *err)
{
    CatWarehouse w;
    Json *r;

    if (str_ieq(aws_str(c, "Name"), S("AwsDataCatalog"))) {
        TRY(ath_allow(c, "datacatalog", S("AwsDataCatalog"), err));
        aws_put(c, "DataCatalog", aws_data_catalog(c));
        return OK;
    }
    if (str_find(aws_str(c, "Name"), S(FEDERATED)) >= 0 && cat_resolve(ath_service(c), c->a, aws_str(c, "Name"), &w, err) == OK) {
        TRY(ath_allow(c, "datacatalog", aws_str(c, "Name"), err));
        r = aws_data_catalog(c);
        json_set(c->a, r, "Name", json_str(c->a, aws_str(c, "Name")));
        json_set(c->a, json_get(r, "Parameters"), "catalog-id", json_str(c->a, w.id));
        aws_put(c, "DataCatalog", r);
        return OK;
    }
    TRY(catalog_get(c, &r, err));
    aws_put(c, "DataCatalog", catalog_shape(c, r));
    return OK;
}

Status ath_UpdateDataCatalog(AwsCall *c, Error *err)
{
    static const char *const members[] = { "Type", "Description", "Parameters" };
    Json *r;

    TRY(catalog_get(c, &r, err));
    TRY(check_catalog(c, aws_str(c, "Name"), err));
    json_del(r, S("Description"));
    json_del(r, S("Parameters"));
    rec_copy_members(c->a, r, c->in, members, COUNT_OF(members));
    return rec_put(ath_service(c), K_CATALOG, aws_str(c, "Name"), r, err);
}

Status ath_DeleteDataCatalog(AwsCall *c, Error *err)
{
    Json *r;

    TRY(catalog_get(c, &r, err));
    TRY(rec_put(ath_service(c), K_CATALOG, aws_str(c, "Name"), NULL, err));
    aws_put(c, "DataCatalog", catalog_shape(c, r));
    return OK;
}

static Json *summary(AwsCall *c, const Json *r)
{
    Json *v = json_object(c->a);

    json_set(c->a, v, "CatalogName", json_get(r, "Name"));
    json_set(c->a, v, "Type", json_get(r, "Type"));
    return v;
}

Status ath_ListDataCatalogs(AwsCall *c, Error *err)
{
    Json *list = json_array(c->a);
    CatDocs docs;

    TRY(ath_allow(c, "datacatalog", S("*"), err));
    json_push(c->a, list, summary(c, aws_data_catalog(c)));
    TRY(cat_doc_list(ath_service(c)->catalog, c->a, S(K_CATALOG), (Str){0}, &docs, err));
    for vec_each(CatDoc, d, &docs)
        json_push(c->a, list, summary(c, d->value));
    return aws_page(c, "DataCatalogsSummary", list, "NextToken", "MaxResults", 50, "NextToken", err);
}

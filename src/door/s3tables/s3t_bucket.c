/* SPDX-License-Identifier: Apache-2.0 */
/* s3t_bucket.c - table buckets and their namespaces.
 *
 * A table bucket is a catalog (warehouse) of kind "table_bucket"; its id for S3 Tables lies in the catalog's properties.  Lists go by creation time. */
#include "door/s3tables/s3t_int.h"

#include <stdlib.h>

enum { BUCKET_NAME_MIN = 3, BUCKET_NAME_MAX = 63 };

/* ---- pages -------------------------------------------------------------------------------------------------------------- */

static int by_key(const void *x, const void *y) { return str_cmp(((const S3tItem *)x)->key, ((const S3tItem *)y)->key); }

Status s3t_page(AwsCall *c, const char *list, S3tItems *items, const char *size_field, Error *err)
{
    int64_t max = aws_int(c, size_field, PAGE_DEFAULT), n = 0;
    Json *page = json_array(c->a);
    Str after, last = {0};

    TRY(aws_page_start(c, "continuationToken", &after, err));
    if (items->n)
        qsort(items->p, items->n, sizeof *items->p, by_key);
    for vec_each(S3tItem, it, items) {
        if (after.n && str_cmp(it->key, after) <= 0)
            continue;
        if (n == max) {
            aws_put_str(c, "continuationToken", aws_page_token(c, last));
            break;
        }
        json_push(c->a, page, it->value);
        last = it->key;
        n++;
    }
    aws_put(c, list, page);
    return OK;
}

static Str by_time(AwsCall *c, int64_t ms, Str name) { return str_fmt(c->a, "%015lld/" STR_FMT, (long long)ms, STR_ARG(name)); }

/* ---- buckets -------------------------------------------------------------------------------------------------------------- */

static bool bucket_name_ok(Str n)
{
    static const char *const starts[] = { "xn--", "sthree-", "amzn-s3-demo-", "aws" }, *const ends[] = { "-s3alias", "--ol-s3", "--x-s3", "--table-s3" };

    if (n.n < BUCKET_NAME_MIN || n.n > BUCKET_NAME_MAX || n.p[0] == '-' || n.p[n.n - 1] == '-')
        return false;
    for (size_t i = 0; i < n.n; i++)
        if (!((n.p[i] >= 'a' && n.p[i] <= 'z') || (n.p[i] >= '0' && n.p[i] <= '9') || n.p[i] == '-'))
            return false;
    for (size_t i = 0; i < COUNT_OF(starts); i++)
        if (str_starts(n, str_c(starts[i])))
            return false;
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        if (str_ends(n, str_c(ends[i])))
            return false;
    return true;
}

Status s3t_create_bucket(AwsCall *c, Error *err)
{
    Catalog *cat = s3t_catalog(c);
    Str name = aws_str(c, "name");
    CatWarehouse w = { .kind = S("table_bucket"), .sql_name = name, .bucket = name, .created_ms = clock_ms() };

    w.arn = str_fmt(c->a, "arn:aws:s3tables:" STR_FMT ":" STR_FMT ":bucket/" STR_FMT, STR_ARG(cat_region(cat)), STR_ARG(cat_account(cat)), STR_ARG(name));
    w.id = str_fmt(c->a, STR_FMT ":s3tablescatalog/" STR_FMT, STR_ARG(cat_account(cat)), STR_ARG(name));
    TRY(aws_allow(c, s3t_action(c), w.arn, NULL, err));
    if (!bucket_name_ok(name))
        return FAIL(err, E_INVALID, "The specified bucket name is not valid.");
    TRY(s3t_encryption_check(c, err));
    TRY(s3t_tags_check(aws_get(c, "tags"), err));
    props_set(c->a, &w.props, S("id"), uuid_v4(c->a));
    props_set(c->a, &w.props, S("owner"), principal_owner(&c->who));
    Status s = cat_warehouse_create(cat, &w, err);
    if (s == E_EXISTS)
        return FAIL(err, E_EXISTS, "The bucket that you tried to create already exists, and you own it.");
    TRY(s);
    TRY(s3t_config_new(c, w.arn, err));
    aws_put_str(c, "arn", w.arn);
    return OK;
}

static Json *bucket_json(AwsCall *c, const CatWarehouse *w)
{
    Json *o = json_object(c->a);
    Str id = props_get(&w->props, S("id"), (Str){0});

    json_set(c->a, o, "arn", json_str(c->a, w->arn));
    json_set(c->a, o, "name", json_str(c->a, w->bucket));
    json_set(c->a, o, "ownerAccountId", json_str(c->a, cat_account(s3t_catalog(c))));
    json_set(c->a, o, "createdAt", aws_time(c, w->created_ms));
    if (id.n)
        json_set(c->a, o, "tableBucketId", json_str(c->a, id));
    json_set(c->a, o, "type", json_str(c->a, S("customer")));
    return o;
}

Status s3t_list_buckets(AwsCall *c, Error *err)
{
    CatWarehouses all = {0};
    S3tItems items = {0};
    Str prefix = aws_str(c, "prefix");
    bool none = str_eq(aws_str(c, "type"), S("aws"));      /* those that AWS makes of its own */

    TRY(aws_allow(c, s3t_action(c), S("*"), NULL, err));
    TRY(cat_warehouse_list(s3t_catalog(c), c->a, &all, err));
    for vec_each(CatWarehouse, w, &all)
        if (!none && str_eq(w->kind, S("table_bucket")) && str_starts(w->bucket, prefix))
            vec_push(c->a, &items, ((S3tItem){ by_time(c, w->created_ms, w->bucket), bucket_json(c, w) }));
    return s3t_page(c, "tableBuckets", &items, "maxBuckets", err);
}

Status s3t_get_bucket(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    c->out = bucket_json(c, &w);
    return OK;
}

Status s3t_delete_bucket(AwsCall *c, Error *err)
{
    CatWarehouse w;

    TRY(s3t_bucket(c, &w, err));
    Status s = cat_warehouse_delete(s3t_catalog(c), w.id, err);
    if (s == E_NOT_EMPTY)
        return FAIL(err, E_NOT_EMPTY, "The bucket that you tried to delete is not empty.");
    TRY(s);
    CatChange docs[] = { { .kind = CH_DOC, .doc_kind = S(DOC_S3TABLES_POLICY), .doc_key = w.arn }, { .kind = CH_DOC, .doc_kind = S(DOC_S3TABLES_CONFIG), .doc_key = w.arn } };
    return cat_commit(s3t_catalog(c), docs, COUNT_OF(docs), err);
}

/* ---- namespaces ------------------------------------------------------------------------------------------------------------- */

Status s3t_create_namespace(AwsCall *c, Error *err)
{
    const Json *levels = aws_get(c, "namespace");
    SvcCall call = s3t_call(c);
    CatWarehouse w;
    CatNamespace ns;
    Props none = {0};

    TRY(s3t_bucket(c, &w, err));
    Str name = json_at(levels, 0)->string;
    if (svc_table_bucket_name_problem(name).n || str_starts(name, S("aws")))
        return FAIL(err, E_INVALID, "The specified namespace name is not valid.");
    Status s = svc_namespace_create(&call, w.id, name, &none, &ns, err);
    if (s == E_EXISTS)
        return FAIL(err, E_EXISTS, "A namespace with an identical name already exists in the bucket.");
    TRY(s);
    aws_put_str(c, "tableBucketARN", w.arn);
    aws_put(c, "namespace", s3t_levels(c, name));
    return OK;
}

static Json *namespace_json(AwsCall *c, const CatWarehouse *w, const CatNamespace *ns)
{
    Json *o = json_object(c->a);
    Str account = cat_account(s3t_catalog(c)), id = props_get(&w->props, S("id"), (Str){0});

    json_set(c->a, o, "namespace", s3t_levels(c, ns->name));
    json_set(c->a, o, "createdAt", aws_time(c, ns->created_ms));
    json_set(c->a, o, "createdBy", json_str(c->a, account));
    json_set(c->a, o, "ownerAccountId", json_str(c->a, account));
    json_set(c->a, o, "namespaceId", json_str(c->a, ns->uuid));
    if (id.n)
        json_set(c->a, o, "tableBucketId", json_str(c->a, id));
    return o;
}

Status s3t_list_namespaces(AwsCall *c, Error *err)
{
    CatNamespaces all = {0};
    S3tItems items = {0};
    CatWarehouse w;

    TRY(s3t_bucket(c, &w, err));
    TRY(cat_namespace_list(s3t_catalog(c), c->a, w.id, (Str){0}, (CatPage){0}, &all, err));
    for vec_each(CatNamespace, ns, &all)
        if (str_starts(ns->name, aws_str(c, "prefix")))
            vec_push(c->a, &items, ((S3tItem){ by_time(c, ns->created_ms, ns->name), namespace_json(c, &w, ns) }));
    return s3t_page(c, "namespaces", &items, "maxNamespaces", err);
}

Status s3t_get_namespace(AwsCall *c, Error *err)
{
    CatWarehouse w;
    CatNamespace ns;

    TRY(s3t_bucket(c, &w, err));
    TRY(s3t_namespace(c, &w, &ns, err));
    c->out = namespace_json(c, &w, &ns);
    return OK;
}

Status s3t_delete_namespace(AwsCall *c, Error *err)
{
    SvcCall call = s3t_call(c);
    CatWarehouse w;
    CatNamespace ns;

    TRY(s3t_bucket(c, &w, err));
    TRY(s3t_namespace(c, &w, &ns, err));
    Status s = svc_namespace_drop(&call, w.id, ns.name, err);
    return s == E_NOT_EMPTY ? FAIL(err, E_NOT_EMPTY, "The namespace that you tried to delete is not empty.") : s;
}

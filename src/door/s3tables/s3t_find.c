/* SPDX-License-Identifier: Apache-2.0 */
/* s3t_find.c - buckets, namespaces and tables that a request names, and whether the caller may use them for what it asks.
 *
 * Rights are asked before existence is told.  A table that does not exist is asked for as any table of its bucket. */
#include "door/s3tables/s3t_int.h"

/* ---- rights ------------------------------------------------------------------------------------------------------------- */

static Status policy_of(AwsCall *c, Str arn, Str *ret, Error *err)
{
    Json *doc = NULL;
    Status s = cat_doc_get(s3t_catalog(c), c->a, S(DOC_S3TABLES_POLICY), arn, &doc, err);

    *ret = s == OK ? json_get_str(doc, "policy", (Str){0}) : (Str){0};
    return s == E_NOT_FOUND ? OK : s;
}

/* Condition keys: what the request names, or what it leads to. */
static Props context_of(AwsCall *c, const CatRelation *r)
{
    Props p = {0};
    Str ns = r ? r->namespace : aws_str(c, "namespace"), name = r ? r->name : aws_str(c, "name");

    if (ns.n)                                              /* CreateNamespace names a list: no key */
        props_set(c->a, &p, S("s3tables:namespace"), ns);
    if (ns.n && name.n)
        props_set(c->a, &p, S("s3tables:tableName"), name);
    return p;
}

/* r: the table when it was found; table: its ARN, or that of any table; empty: the bucket is asked for. */
static Status allowed(AwsCall *c, Str bucket, Str table, const CatRelation *r, Error *err)
{
    Props context = context_of(c, r);
    IamAsk ask = { .action = s3t_action(c), .resource = table.n ? table : bucket, .context = &context };

    TRY(policy_of(c, bucket, table.n ? &ask.resource_policy_2 : &ask.resource_policy, err));
    if (table.n)
        TRY(policy_of(c, table, &ask.resource_policy, err));
    return iam_allowed(c->access, c->a, &c->who, &ask, err);
}

/* ---- buckets ------------------------------------------------------------------------------------------------------------ */

/* arn:<partition>:s3tables:<region>:<account>:bucket/<name> */
static bool bucket_name_of(AwsCall *c, Str arn, Str *account, Str *name)
{
    StrVec p = {0};

    str_split(c->a, arn, ':', &p);
    if (p.n != 6 || !str_eq(p.p[0], S("arn")) || !str_eq(p.p[2], S("s3tables")) || !str_starts(p.p[5], S("bucket/")))
        return false;
    *account = p.p[4];
    *name = str_from(p.p[5], strlen("bucket/"));
    for (size_t i = 0; i < name->n; i++)
        if (!((name->p[i] >= 'a' && name->p[i] <= 'z') || (name->p[i] >= '0' && name->p[i] <= '9') || name->p[i] == '-' || name->p[i] == '_'))
            return false;
    return name->n >= 3 && name->n <= 63;
}

static Status foreign(AwsCall *c, Str arn, Error *err)
{
    const char *action = s3t_action(c);
    return FAIL(err, E_DENIED, "User: " STR_FMT " is not authorized to perform: %s on resource: " STR_FMT " because no resource-based policy allows the %s action",
                STR_ARG(c->who.arn), action, STR_ARG(arn), action);
}

Status s3t_bucket_arn(AwsCall *c, Str arn, CatWarehouse *ret, Error *err)
{
    Str account, name;

    if (!bucket_name_of(c, arn, &account, &name))
        return FAIL(err, E_INVALID, "The specified bucket ARN is not valid.");
    if (!str_eq(account, cat_account(s3t_catalog(c))))
        return foreign(c, arn, err);
    TRY(allowed(c, arn, (Str){0}, NULL, err));
    Status s = cat_warehouse_get(s3t_catalog(c), c->a, arn, ret, err);
    if (s == E_NOT_FOUND)
        return FAIL(err, E_NOT_FOUND, "The specified table bucket does not exist.");
    return s;
}

Status s3t_bucket(AwsCall *c, CatWarehouse *ret, Error *err) { return s3t_bucket_arn(c, aws_str(c, "tableBucketARN"), ret, err); }

/* ---- namespaces, tables ------------------------------------------------------------------------------------------------- */

Status s3t_namespace(AwsCall *c, const CatWarehouse *w, CatNamespace *ret, Error *err)
{
    Status s = cat_namespace_get(s3t_catalog(c), c->a, w->id, aws_str(c, "namespace"), ret, err);
    return s == E_NOT_FOUND ? FAIL(err, E_NOT_FOUND, "The specified namespace does not exist.") : s;
}

Str s3t_table_arn_of(AwsCall *c, const CatRelation *r) { return cat_relation_arn(s3t_catalog(c), c->a, r); }

static Status no_table(Error *err) { return FAIL(err, E_NOT_FOUND, "The specified table does not exist."); }

Status s3t_table(AwsCall *c, CatWarehouse *w, CatRelation *ret, Error *err)
{
    Str arn = aws_str(c, "tableBucketARN"), account, name;
    CatNamespace ns;
    Error absent;

    if (!bucket_name_of(c, arn, &account, &name))
        return FAIL(err, E_INVALID, "The specified bucket ARN is not valid.");
    if (!str_eq(account, cat_account(s3t_catalog(c))))
        return foreign(c, arn, err);
    Status bucket = cat_warehouse_get(s3t_catalog(c), c->a, arn, w, &absent);
    Status s = bucket == OK ? cat_relation_get(s3t_catalog(c), c->a, w->id, aws_str(c, "namespace"), aws_str(c, "name"), ret, &absent) : bucket;
    bool found = s == OK && ret->kind != REL_VIEW;
    TRY(allowed(c, arn, found ? s3t_table_arn_of(c, ret) : str_cat(c->a, arn, S("/table/*")), found ? ret : NULL, err));
    if (bucket == E_NOT_FOUND)
        return FAIL(err, E_NOT_FOUND, "The specified table bucket does not exist.");
    if (s != OK && s != E_NOT_FOUND)
        return error_set(err, s, absent.origin, "%s", absent.message);
    if (found)
        return OK;
    TRY(s3t_namespace(c, w, &ns, err));
    return no_table(err);
}

Status s3t_table_arn(AwsCall *c, Str arn, CatRelation *ret, Error *err)
{
    ptrdiff_t at = str_find(arn, S("/table/"));
    Str bucket = at < 0 ? arn : str_sub(arn, 0, (size_t)at), account, name;
    Error absent;

    if (at < 0 || !bucket_name_of(c, bucket, &account, &name))
        return FAIL(err, E_INVALID, "The specified table ARN is not valid.");
    if (!str_eq(account, cat_account(s3t_catalog(c))))
        return foreign(c, arn, err);
    Status s = cat_relation_by_arn(s3t_catalog(c), c->a, arn, ret, &absent);
    bool found = s == OK && ret->kind != REL_VIEW;
    TRY(allowed(c, bucket, arn, found ? ret : NULL, err));
    if (s != OK && s != E_NOT_FOUND)
        return error_set(err, s, absent.origin, "%s", absent.message);
    return found ? OK : no_table(err);
}

/* ---- managed views ------------------------------------------------------------------------------------------------------ */

bool s3t_is_managed(AwsCall *c, const CatRelation *r)
{
    CatMview v;
    Error ignored;
    return r->kind == REL_MVIEW && cat_mview_get(s3t_catalog(c), c->a, r->id, &v, &ignored) == OK && v.managed;
}

Status s3t_protected(AwsCall *c, const CatRelation *r, Error *err)
{
    const char *action = s3t_action(c);
    Str why = access_protected_text(c->a, r, action);
    return FAIL(err, E_PROTECTED, "User: " STR_FMT " is not authorized to perform: %s on resource: " STR_FMT " with an explicit deny in a resource-based policy. " STR_FMT,
                STR_ARG(c->who.arn), action, STR_ARG(s3t_table_arn_of(c, r)), STR_ARG(why));
}

/* ---- small ---------------------------------------------------------------------------------------------------------------- */

Json *s3t_levels(AwsCall *c, Str ns)
{
    Json *list = json_array(c->a);
    json_push(c->a, list, json_str(c->a, ns));
    return list;
}

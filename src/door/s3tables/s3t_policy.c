/* SPDX-License-Identifier: Apache-2.0 */
/* s3t_policy.c - resource policies of table buckets and tables.
 *
 * Kept as given, and asked for every action (access/).  A managed view has the system's own policy instead: it denies what protection denies, so that
 * the reason of a refusal can be read; it can neither be replaced nor removed.  aws_compat hides it, as AWS does. */
#include "access/policy.h"
#include "door/s3tables/s3t_int.h"

static Status stored(AwsCall *c, Str arn, const char *what, Error *err)
{
    Json *doc = NULL;
    Status s = cat_doc_get(s3t_catalog(c), c->a, S(DOC_S3TABLES_POLICY), arn, &doc, err);

    if (s == E_NOT_FOUND)
        return FAIL(err, E_NOT_FOUND, "The specified %s policy does not exist.", what);
    TRY(s);
    aws_put_str(c, "resourcePolicy", json_get_str(doc, "policy", (Str){0}));
    return OK;
}

/* text empty: no policy any more. */
static Status store(AwsCall *c, Str arn, Str text, Error *err)
{
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_S3TABLES_POLICY), .doc_key = arn };
    Policy *parsed;

    if (text.n) {
        if (policy_parse(c->a, text, POLICY_RESOURCE, &parsed, err) != OK) {
            aws_code(err, "BadRequestException");
            return error_context(err, "The specified resource policy is not valid");
        }
        ch.doc = json_object(c->a);
        json_set(c->a, ch.doc, "policy", json_str(c->a, text));
    }
    return cat_commit(s3t_catalog(c), &ch, 1, err);
}

/* ---- buckets -------------------------------------------------------------------------------------------------------------- */

Status s3t_get_bucket_policy(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    return stored(c, w.arn, "table bucket", err);
}

Status s3t_put_bucket_policy(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    return store(c, w.arn, aws_str(c, "resourcePolicy"), err);
}

Status s3t_delete_bucket_policy(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    return store(c, w.arn, (Str){0}, err);
}

/* ---- tables ----------------------------------------------------------------------------------------------------------------- */

static Str system_policy(AwsCall *c, const CatRelation *r)
{
    static const char *const denied[] = { "s3tables:UpdateTableMetadataLocation", "s3tables:RenameTable", "s3tables:PutTableData", "s3tables:PutTablePolicy", "s3tables:DeleteTablePolicy" };
    Json *p = json_object(c->a), *st = json_object(c->a), *list = json_array(c->a), *actions = json_array(c->a);

    for (size_t i = 0; i < COUNT_OF(denied); i++)
        json_push(c->a, actions, json_str(c->a, str_c(denied[i])));
    json_set(c->a, st, "Sid", json_str(c->a, S("GlueSystemManagedMaterializedView")));
    json_set(c->a, st, "Effect", json_str(c->a, S("Deny")));
    json_set(c->a, st, "Principal", json_str(c->a, S("*")));
    json_set(c->a, st, "Action", actions);
    json_set(c->a, st, "Resource", json_str(c->a, s3t_table_arn_of(c, r)));
    json_push(c->a, list, st);
    json_set(c->a, p, "Version", json_str(c->a, S("2012-10-17")));
    json_set(c->a, p, "Statement", list);
    return json_text(c->a, p);
}

Status s3t_get_table_policy(AwsCall *c, Error *err)
{
    CatWarehouse w;
    CatRelation r;

    TRY(s3t_table(c, &w, &r, err));
    if (s3t_is_managed(c, &r) && !s3t_door(c)->svc->options.aws_compat) {
        aws_put_str(c, "resourcePolicy", system_policy(c, &r));
        return OK;
    }
    return stored(c, s3t_table_arn_of(c, &r), "table", err);
}

Status s3t_put_table_policy(AwsCall *c, Error *err)
{
    CatWarehouse w;
    CatRelation r;

    TRY(s3t_table(c, &w, &r, err));
    if (s3t_is_managed(c, &r))
        return s3t_protected(c, &r, err);
    return store(c, s3t_table_arn_of(c, &r), aws_str(c, "resourcePolicy"), err);
}

Status s3t_delete_table_policy(AwsCall *c, Error *err)
{
    CatWarehouse w;
    CatRelation r;

    TRY(s3t_table(c, &w, &r, err));
    if (s3t_is_managed(c, &r))
        return s3t_protected(c, &r, err);
    return store(c, s3t_table_arn_of(c, &r), (Str){0}, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* glue_version.c - old versions of tables.
 *
 * UpdateTable keeps the state that it replaces, as it was shown, unless SkipArchive.  Commits by other doors make versions too (VersionId counts
 * them) but archive nothing: Iceberg's own history has them. */
#include "access/lakeformation.h"
#include "door/glue/glue_int.h"

static Str key_of(AwsCall *c, int64_t id, int64_t version) { return str_fmt(c->a, "%lld/%012lld", (long long)id, (long long)version); }

Status glue_archive(AwsCall *c, const CatRelation *r, CatChange *ret, Error *err)
{
    Json *shown = NULL;

    TRY(glue_show(c, r, 0, &shown, err));
    *ret = (CatChange){ .kind = CH_DOC, .doc_kind = S(DOC_VERSION), .doc_key = key_of(c, r->id, r->version), .doc = shown };
    return OK;
}

static Json *version(AwsCall *c, Json *table)
{
    Json *o = json_object(c->a);
    json_set(c->a, o, "Table", table);
    json_set(c->a, o, "VersionId", json_str(c->a, json_get_str(table, "VersionId", (Str){0})));
    return o;
}

/* Oldest first, the present one last. */
static Status all_versions(AwsCall *c, const CatRelation *r, Json **ret, Error *err)
{
    CatDocs docs = {0};
    Json *now = NULL;

    *ret = json_array(c->a);
    TRY(cat_doc_list(glue_catalog(c), c->a, S(DOC_VERSION), str_fmt(c->a, "%lld/", (long long)r->id), &docs, err));
    for vec_each(CatDoc, d, &docs)
        json_push(c->a, *ret, version(c, d->value));
    TRY(glue_show(c, r, 0, &now, err));
    json_push(c->a, *ret, version(c, now));
    return OK;
}

/* Who may select some columns would read in older versions how the others were called. */
static Status may_see_versions(AwsCall *c, const CatRelation *r, Error *err)
{
    LfColumns may;

    TRY(lf_columns(c->access, c->a, &c->who, r->catalog, r->namespace, r->name, &may, err));
    return may.all || (!may.only.n && !may.has_but) ? OK : lf_whole_table(c->access, c->a, &c->who, r, err);
}

Status glue_get_table_versions(AwsCall *c, Error *err)
{
    CatRelation r = {0};
    Json *list = NULL;
    GlueName n = {0};

    TRY(glue_table(c, aws_str(c, "DatabaseName"), aws_str(c, "TableName"), &n, &r, err));
    TRY(may_see_versions(c, &r, err));
    TRY(all_versions(c, &r, &list, err));
    return aws_page(c, "TableVersions", list, "NextToken", "MaxResults", PAGE_TABLES, "NextToken", err);
}

static Status check_id(const CatRelation *r, Str id, Error *err)
{
    int64_t n;
    if (str_eq(id, r->version_token) || (str_to_i64(id, &n) && n >= 0))
        return OK;
    return FAIL(err, E_INVALID, "\"" STR_FMT "\" is not an integer.", STR_ARG(id));
}

Status glue_get_table_version(AwsCall *c, Error *err)
{
    Str id = aws_str(c, "VersionId");
    CatRelation r = {0};
    Json *list = NULL;
    GlueName n = {0};

    TRY(glue_table(c, aws_str(c, "DatabaseName"), aws_str(c, "TableName"), &n, &r, err));
    TRY(may_see_versions(c, &r, err));
    if (id.n > 0)
        TRY(check_id(&r, id, err));
    TRY(all_versions(c, &r, &list, err));
    for (size_t i = json_len(list); i-- > 0;)
        if (id.n == 0 || str_eq(json_get_str(json_at(list, i), "VersionId", (Str){0}), id)) {
            aws_put(c, "TableVersion", json_at(list, i));
            return OK;
        }
    return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Version not found.");
}

/* ---- forgotten -------------------------------------------------------------------------------------------------------------- */

static Status forget(AwsCall *c, const CatRelation *r, Str id, Error *err)
{
    Json *doc = NULL;
    int64_t version;

    TRY(check_id(r, id, err));
    if (str_eq(id, glue_version_id(c, r)))
        return FAIL(err, E_INVALID, "The current version of a table cannot be deleted.");
    if (!str_to_i64(id, &version))
        version = -1;
    Str key = key_of(c, r->id, version - 1);
    if (cat_doc_get(glue_catalog(c), c->a, S(DOC_VERSION), key, &doc, err) != OK)
        return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Version not found.");
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_VERSION), .doc_key = key };
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

Status glue_delete_table_version(AwsCall *c, Error *err)
{
    CatRelation r = {0};
    GlueName n = {0};

    TRY(glue_table(c, aws_str(c, "DatabaseName"), aws_str(c, "TableName"), &n, &r, err));
    return forget(c, &r, aws_str(c, "VersionId"), err);
}

Status glue_batch_delete_table_version(AwsCall *c, Error *err)
{
    const Json *ids = aws_get(c, "VersionIds");
    Json *errors = json_array(c->a);
    CatRelation r = {0};
    GlueName n = {0};

    TRY(glue_table(c, aws_str(c, "DatabaseName"), aws_str(c, "TableName"), &n, &r, err));
    for (size_t i = 0; i < json_len(ids); i++) {
        Json *one = json_object(c->a);
        Error why = {0};
        if (forget(c, &r, json_at(ids, i)->string, &why) == OK)
            continue;
        json_set(c->a, one, "TableName", json_str(c->a, r.name));
        json_set(c->a, one, "VersionId", json_at(ids, i));
        json_set(c->a, one, "ErrorDetail", glue_error_detail(c, &why));
        json_push(c->a, errors, one);
    }
    if (json_len(errors))
        aws_put(c, "Errors", errors);
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* glue_statistics.c - column statistics of tables and partitions: kept as they come, a document a column. */
#include "access/lakeformation.h"
#include "door/glue/glue_int.h"

/* "<id>/t/" for the table's own, "<id>/p/<values>" for a partition's; the column's name follows. */
static Status prefix_of(AwsCall *c, const CatRelation *r, Str *ret, Error *err)
{
    const Json *values = aws_get(c, "PartitionValues");
    Json *there = NULL;

    *ret = str_fmt(c->a, "%lld/t/", (long long)r->id);
    if (!values)
        return OK;
    Str key = glue_values_key(c->a, r->id, values);
    if (cat_doc_get(glue_catalog(c), c->a, S(DOC_PARTITION), key, &there, err) != OK)
        return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Cannot find partition.");
    *ret = str_fmt(c->a, "%lld/p/" STR_FMT, (long long)r->id, STR_ARG(str_from(key, (size_t)str_chr(key, '/') + 1)));
    return OK;
}

static Status find(AwsCall *c, CatRelation *r, Str *prefix, Error *err)
{
    GlueName n = {0};
    TRY(glue_partitioned(c, &n, r, err));
    return prefix_of(c, r, prefix, err);
}

static void add_error(AwsCall *c, Json *errors, const char *key, Json *value, const Error *why)
{
    Json *one = json_object(c->a);
    json_set(c->a, one, key, value);
    json_set(c->a, one, "Error", glue_error_detail(c, why));
    json_push(c->a, errors, one);
}

Status glue_get_statistics(AwsCall *c, Error *err)
{
    const Json *names = aws_get(c, "ColumnNames");
    Json *list = json_array(c->a), *errors = json_array(c->a);
    CatRelation r = {0};
    LfColumns may;
    Str prefix;

    TRY(find(c, &r, &prefix, err));
    TRY(lf_columns(c->access, c->a, &c->who, r.catalog, r.namespace, r.name, &may, err));
    for (size_t i = 0; i < json_len(names); i++) {
        Json *doc = NULL;
        Error why = {0};
        if (!lf_column_allowed(&may, json_at(names, i)->string))
            add_error(c, errors, "ColumnName", json_at(names, i), (RAISE(&why, E_NOT_FOUND, "Column " STR_FMT " not found.", STR_ARG(json_at(names, i)->string)), &why));
        else if (cat_doc_get(glue_catalog(c), c->a, S(DOC_STATISTICS), str_cat(c->a, prefix, glue_fold(c, json_at(names, i)->string)), &doc, &why) == OK)
            json_push(c->a, list, doc);
        else
            add_error(c, errors, "ColumnName", json_at(names, i), &why);
    }
    aws_put(c, "ColumnStatisticsList", list);
    aws_put(c, "Errors", errors);
    return OK;
}

static Status put_one(AwsCall *c, Str prefix, Json *statistics, Error *err)
{
    Str name = glue_fold(c, json_get_str(statistics, "ColumnName", (Str){0}));
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_STATISTICS), .doc_key = str_cat(c->a, prefix, name), .doc = statistics };
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

static Status ask_alter(AwsCall *c, const CatRelation *r, Error *err)
{
    const char *api = str_fmt(c->a, "glue:%s", c->op->name).p;
    Ask ask = { .action = ACT_ALTER_PROPERTIES, .api = api, .iam = api, .relation = r, .catalog = r->catalog, .namespace = r->namespace, .name = r->name };
    return access_check(c->access, c->a, &c->who, &ask, err);
}

Status glue_update_statistics(AwsCall *c, Error *err)
{
    const Json *list = aws_get(c, "ColumnStatisticsList");
    Json *errors = json_array(c->a);
    CatRelation r = {0};
    Str prefix;

    TRY(find(c, &r, &prefix, err));
    TRY(ask_alter(c, &r, err));
    for (size_t i = 0; i < json_len(list); i++) {
        Error why = {0};
        if (put_one(c, prefix, json_at(list, i), &why) != OK)
            add_error(c, errors, "ColumnStatistics", json_at(list, i), &why);
    }
    aws_put(c, "Errors", errors);
    return OK;
}

Status glue_delete_statistics(AwsCall *c, Error *err)
{
    Str name = aws_str(c, "ColumnName"), prefix;
    CatRelation r = {0};
    Json *doc = NULL;

    TRY(find(c, &r, &prefix, err));
    TRY(ask_alter(c, &r, err));
    Str key = str_cat(c->a, prefix, glue_fold(c, name));
    if (cat_doc_get(glue_catalog(c), c->a, S(DOC_STATISTICS), key, &doc, err) != OK)
        return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "There are no statistics of column " STR_FMT ".", STR_ARG(name));
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_STATISTICS), .doc_key = key };
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

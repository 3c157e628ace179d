/* SPDX-License-Identifier: Apache-2.0 */
/* glue_partition_batch.c - many partitions in one call, each on its own; and the indexes over partition keys.
 *
 * Partitions are found by their values in order anyway, so an index is a record: it is ACTIVE from its making. */
#include "door/glue/glue_int.h"

enum { INDEXES_MAX = 3 };

static void add_error(AwsCall *c, Json *errors, const char *values_name, const Json *values, const Error *why)
{
    Json *one = json_object(c->a);

    json_set(c->a, one, values_name, values ? (Json *)values : json_array(c->a));
    json_set(c->a, one, "ErrorDetail", glue_error_detail(c, why));
    json_push(c->a, errors, one);
}

static void put_errors(AwsCall *c, Json *errors)
{
    if (json_len(errors))
        aws_put(c, "Errors", errors);
}

typedef struct Failures { AwsCall *c; Json *errors; } Failures;

static void not_created(void *ctx, const Json *values, const Error *why)
{
    const Failures *f = ctx;
    add_error(f->c, f->errors, "PartitionValues", values, why);
}

Status glue_batch_create_partition(AwsCall *c, Error *err)
{
    Failures f = { c, json_array(c->a) };
    CatRelation r = {0};
    GlueName n = {0};

    TRY(glue_partition_writer(c, &n, &r, err));
    TRY(glue_partitions_create(c, &r, aws_get(c, "PartitionInputList"), not_created, &f, err));
    put_errors(c, f.errors);
    return OK;
}

Status glue_batch_update_partition(AwsCall *c, Error *err)
{
    const Json *list = aws_get(c, "Entries");
    Json *errors = json_array(c->a);
    CatRelation r = {0};
    GlueName n = {0};

    TRY(glue_partition_writer(c, &n, &r, err));
    for (size_t i = 0; i < json_len(list); i++) {
        const Json *values = json_get(json_at(list, i), "PartitionValueList");
        Error why = {0};
        if (glue_partition_update(c, &r, values, json_get(json_at(list, i), "PartitionInput"), &why) != OK)
            add_error(c, errors, "PartitionValueList", values, &why);
    }
    put_errors(c, errors);
    return OK;
}

Status glue_batch_delete_partition(AwsCall *c, Error *err)
{
    const Json *list = aws_get(c, "PartitionsToDelete");
    Json *errors = json_array(c->a);
    CatRelation r = {0};
    GlueName n = {0};

    TRY(glue_partition_writer(c, &n, &r, err));
    for (size_t i = 0; i < json_len(list); i++) {
        const Json *values = json_get(json_at(list, i), "Values");
        Error why = {0};
        if (glue_partition_delete(c, &r, values, &why) != OK)
            add_error(c, errors, "PartitionValues", values, &why);
    }
    put_errors(c, errors);
    return OK;
}

/* What is not there is left out. */
Status glue_batch_get_partition(AwsCall *c, Error *err)
{
    const Json *list = aws_get(c, "PartitionsToGet");
    Json *found = json_array(c->a);
    CatRelation r = {0};
    GlueName n = {0};

    TRY(glue_partitioned(c, &n, &r, err));
    for (size_t i = 0; i < json_len(list); i++) {
        Json *doc = NULL;
        Status s = cat_doc_get(glue_catalog(c), c->a, S(DOC_PARTITION), glue_values_key(c->a, r.id, json_get(json_at(list, i), "Values")), &doc, err);
        if (s == OK)
            json_push(c->a, found, glue_show_partition(c, &r, doc));
        else if (s != E_NOT_FOUND)
            return s;
    }
    aws_put(c, "Partitions", found);
    aws_put(c, "UnprocessedKeys", json_array(c->a));
    return OK;
}

/* ---- indexes ---------------------------------------------------------------------------------------------------------------- */

static Str index_prefix(AwsCall *c, const CatRelation *r) { return str_fmt(c->a, "%lld/", (long long)r->id); }

static const Json *key_column(const CatRelation *r, Str name)
{
    const Json *keys = glue_partition_keys(r);
    for (size_t i = 0; i < json_len(keys); i++)
        if (str_ieq(json_get_str(json_at(keys, i), "Name", (Str){0}), name))
            return json_at(keys, i);
    return NULL;
}

static Status check_index(const CatRelation *r, const Json *index, const CatDocs *docs, Error *err)
{
    const Json *keys = json_get(index, "Keys");

    for (size_t i = 0; i < json_len(keys); i++)
        if (!key_column(r, json_at(keys, i)->string))
            return FAIL(err, E_INVALID, "'" STR_FMT "' is not a partition key of the table.", STR_ARG(json_at(keys, i)->string));
    for vec_each(CatDoc, d, docs)
        if (str_eq(json_get_str(d->value, "IndexName", (Str){0}), json_get_str(index, "IndexName", (Str){0})))
            return AWS_FAIL(err, E_EXISTS, "AlreadyExistsException", "Index " STR_FMT " already exists.", STR_ARG(json_get_str(index, "IndexName", (Str){0})));
    if (docs->n >= INDEXES_MAX)
        return AWS_FAIL(err, E_LIMIT, "ResourceNumberLimitExceededException", "A table has %d partition indexes at most.", INDEXES_MAX);
    return OK;
}

Status glue_create_partition_index(AwsCall *c, Error *err)
{
    Json *index = (Json *)aws_get(c, "PartitionIndex");
    CatRelation r = {0};
    CatDocs docs = {0};
    GlueName n = {0};

    TRY(glue_partition_writer(c, &n, &r, err));
    TRY(cat_doc_list(glue_catalog(c), c->a, S(DOC_PARTITION_INDEX), index_prefix(c, &r), &docs, err));
    TRY(check_index(&r, index, &docs, err));
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_PARTITION_INDEX), .doc = index,
                     .doc_key = str_cat(c->a, index_prefix(c, &r), json_get_str(index, "IndexName", (Str){0})) };
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

static Json *show_index(AwsCall *c, const CatRelation *r, const Json *doc)
{
    const Json *names = json_get(doc, "Keys");
    Json *o = json_object(c->a), *keys = json_array(c->a);

    json_set(c->a, o, "IndexName", json_str(c->a, json_get_str(doc, "IndexName", (Str){0})));
    for (size_t i = 0; i < json_len(names); i++) {
        Json *key = json_object(c->a);
        json_set(c->a, key, "Name", json_at(names, i));
        json_set(c->a, key, "Type", json_str(c->a, json_get_str(key_column(r, json_at(names, i)->string), "Type", S("string"))));
        json_push(c->a, keys, key);
    }
    json_set(c->a, o, "Keys", keys);
    json_set(c->a, o, "IndexStatus", json_str(c->a, S("ACTIVE")));
    return o;
}

Status glue_get_partition_indexes(AwsCall *c, Error *err)
{
    Json *list = json_array(c->a);
    CatRelation r = {0};
    CatDocs docs = {0};
    GlueName n = {0};

    TRY(glue_partitioned(c, &n, &r, err));
    TRY(cat_doc_list(glue_catalog(c), c->a, S(DOC_PARTITION_INDEX), index_prefix(c, &r), &docs, err));
    for vec_each(CatDoc, d, &docs)
        json_push(c->a, list, show_index(c, &r, d->value));
    return aws_page(c, "PartitionIndexDescriptorList", list, "NextToken", "", PAGE_TABLES, "NextToken", err);
}

Status glue_delete_partition_index(AwsCall *c, Error *err)
{
    Str name = aws_str(c, "IndexName");
    CatRelation r = {0};
    Json *doc = NULL;
    GlueName n = {0};

    TRY(glue_partition_writer(c, &n, &r, err));
    Str key = str_cat(c->a, index_prefix(c, &r), name);
    if (cat_doc_get(glue_catalog(c), c->a, S(DOC_PARTITION_INDEX), key, &doc, err) != OK)
        return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Index with the given indexName : " STR_FMT " does not exist", STR_ARG(name));
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_PARTITION_INDEX), .doc_key = key };
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

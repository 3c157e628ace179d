/* SPDX-License-Identifier: Apache-2.0 */
/* glue_table.c - tables made, shown, listed, dropped.
 *
 * What CreateTable makes: an Iceberg table when Parameters.table_type says so (its metadata file exists: it is registered; it does not yet: a
 * name and a place) or with OpenTableFormatInput; in a table bucket nothing else; otherwise an external table or a Glue view. */
#include "door/glue/glue_int.h"

/* ---- CreateTable --------------------------------------------------------------------------------------------------------- */

static Status taken(const GlueName *n, Status s, Error *err)
{
    if (s == E_EXISTS)
        return AWS_FAIL(err, E_EXISTS, "AlreadyExistsException", "Table already exists: " STR_FMT, STR_ARG(n->table));
    return s;
}

static Status register_iceberg(AwsCall *c, const GlueName *n, const Json *input, Error *err)
{
    SvcCall call = glue_call(c);
    SvcName name = glue_svc_name(n);
    SvcTable t = {0};

    TRY(svc_table_register(&call, &name, glue_parameter(input, "metadata_location"), SVC_REGISTER_NEW, &t, err));
    return cat_relation_extra(glue_catalog(c), t.relation.id, glue_keep(c->a, input, NULL), err);
}

static Status reserve(AwsCall *c, const GlueName *n, const Json *input, Error *err)
{
    Str location = glue_is_bucket(n) ? (Str){0} : json_get_str(json_get(input, "StorageDescriptor"), "Location", (Str){0});
    SvcCall call = glue_call(c);
    SvcName name = glue_svc_name(n);
    CatRelation r = {0};

    return svc_table_reserve(&call, &name, location, glue_keep(c->a, input, NULL), &r, err);
}

static Status check_view(const Json *input, Error *err)
{
    const Json *v = json_get(input, "ViewDefinition"), *reps = json_get(v, "Representations");

    if (!v)
        return OK;
    if (json_get(v, "IsManaged") || json_get(v, "RefreshSeconds") || json_len(json_get(v, "SubObjectVersionIds")))
        return FAIL(err, E_UNSUPPORTED, "a materialized view is made by CREATE [MANAGED] MATERIALIZED VIEW, not by CreateTable");
    for (size_t i = 0; i < json_len(reps); i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(json_get_str(json_at(reps, i), "Dialect", (Str){0}), json_get_str(json_at(reps, k), "Dialect", (Str){0})))
                return FAIL(err, E_INVALID, "ViewDefinition has two representations of one dialect.");
    return OK;
}

static Status create_external(AwsCall *c, const GlueName *n, const Json *input, Error *err)
{
    SvcCall call = glue_call(c);
    SvcName name = glue_svc_name(n);
    CatRelation r = {0};

    if (glue_is_bucket(n))
        return FAIL(err, E_INVALID, "a table bucket holds Iceberg tables alone: Parameters needs format = ICEBERG or table_type = ICEBERG");
    TRY(check_view(input, err));
    TRY(svc_external_create(&call, &name, glue_keep(c->a, input, NULL), NULL, &r, err));
    return OK;
}

static Status create(AwsCall *c, const GlueName *n, const Json *input, Error *err)
{
    bool iceberg = glue_is_iceberg(input) || (glue_is_bucket(n) && str_ieq(glue_parameter(input, "format"), S("ICEBERG")));

    if (aws_has(c, "OpenTableFormatInput"))
        return glue_iceberg_create(c, n, input, err);
    if (!input)
        return FAIL(err, E_INVALID, "CreateTable needs TableInput or OpenTableFormatInput");
    if (iceberg && glue_parameter(input, "metadata_location").n > 0)
        return register_iceberg(c, n, input, err);
    return iceberg ? reserve(c, n, input, err) : create_external(c, n, input, err);
}

static Status put_indexes(AwsCall *c, const GlueName *n, Error *err)
{
    const Json *list = aws_get(c, "PartitionIndexes");
    CatRelation r = {0};

    if (!json_len(list))
        return OK;
    TRY(cat_relation_get(glue_catalog(c), c->a, n->w.id, n->db, n->table, &r, err));
    for (size_t i = 0; i < json_len(list); i++) {
        Str key = str_fmt(c->a, "%lld/" STR_FMT, (long long)r.id, STR_ARG(json_get_str(json_at(list, i), "IndexName", (Str){0})));
        CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_PARTITION_INDEX), .doc_key = key, .doc = json_at(list, i) };
        TRY(cat_commit(glue_catalog(c), &ch, 1, err));
    }
    return OK;
}

Status glue_create_table(AwsCall *c, Error *err)
{
    const Json *input = aws_get(c, "TableInput");
    Str name = json_get_str(input, "Name", aws_str(c, "Name"));
    CatNamespace ns = {0};
    GlueName n = {0};

    if (name.n == 0)
        return FAIL(err, E_INVALID, "CreateTable needs the table's name");
    TRY(glue_name(c, aws_str(c, "DatabaseName"), glue_fold(c, name), &n, err));
    if (cat_namespace_get(glue_catalog(c), c->a, n.w.id, n.db, &ns, err) == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Database " STR_FMT " not found.", STR_ARG(n.db));
    TRY(taken(&n, create(c, &n, input, err), err));
    return put_indexes(c, &n, err);
}

/* ---- shown ------------------------------------------------------------------------------------------------------------------ */

static int flags_of(AwsCall *c)
{
    const Json *attributes = aws_get(c, "AttributesToGet");
    int flags = aws_bool(c, "IncludeStatusDetails", false) ? SHOW_STATUS : 0, all = json_len(attributes) == 0;

    for (size_t i = 0; i < json_len(attributes); i++) {
        Str a = json_at(attributes, i)->string;
        flags |= str_eq(a, S("NAME")) ? SHOW_NAMES : str_eq(a, S("TABLE_TYPE")) ? SHOW_TYPES : str_eq(a, S("LATEST_ICEBERG_METADATA")) ? SHOW_ICEBERG : 0;
        all |= str_eq(a, S("DEFAULT")) || str_eq(a, S("LATEST_ICEBERG_METADATA"));
    }
    return all ? flags & ~(SHOW_NAMES | SHOW_TYPES) : flags;
}

Status glue_get_table(AwsCall *c, Error *err)
{
    CatRelation r = {0};
    Json *shown = NULL;
    GlueName n = {0};

    TRY(glue_table(c, aws_str(c, "DatabaseName"), aws_str(c, "Name"), &n, &r, err));
    TRY(glue_show(c, &r, flags_of(c), &shown, err));
    aws_put(c, "Table", shown);
    return OK;
}

static Status show_page(AwsCall *c, const CatRelations *all, const GluePattern *p, int64_t max, Error *err)
{
    Json *list = json_array(c->a);
    Str last = {0};

    for vec_each(CatRelation, r, all) {
        Json *shown = NULL;
        if (p && !glue_matches(c->a, p, r->name))
            continue;
        if ((int64_t)json_len(list) == max) {
            aws_put_str(c, "NextToken", aws_page_token(c, last));
            break;
        }
        TRY(glue_show(c, r, flags_of(c), &shown, err));
        json_push(c->a, list, shown);
        last = r->name;
    }
    aws_put(c, "TableList", list);
    return OK;
}

Status glue_get_tables(AwsCall *c, Error *err)
{
    Str after = {0}, expression = aws_str(c, "Expression");
    GluePattern *p = NULL;
    SvcCall call = glue_call(c);
    CatRelations all = {0};
    CatNamespace ns = {0};
    GlueName n = {0};

    TRY(glue_database(c, aws_str(c, "DatabaseName"), &n, &ns, err));
    if (expression.n > 0)
        TRY(glue_pattern(c->a, expression, &p, err));
    TRY(aws_page_start(c, "NextToken", &after, err));
    TRY(svc_relation_list(&call, n.w.id, n.db, (CatPage){ .after = after }, &all, err));
    return show_page(c, &all, p, aws_int(c, "MaxResults", PAGE_TABLES), err);
}

/* ---- dropped ------------------------------------------------------------------------------------------------------------------ */

Status glue_drop(AwsCall *c, const CatRelation *r, Error *err)
{
    SvcName name = { r->catalog, r->namespace, r->name };
    SvcCall call = glue_call(c);
    Error idle;

    if (r->kind == REL_VIEW)
        return svc_view_drop(&call, &name, err);
    if (r->kind == REL_EXTERNAL)
        return svc_external_drop(&call, &name, err);
    if (r->kind == REL_TABLE)
        return svc_table_drop(&call, &name, SVC_KEEP_FILES, err);
    (void)!refresh_stop(GLUE_DOOR(c)->svc->refresher, r->id, &idle);
    return svc_table_drop(&call, &name, SVC_PURGE_FILES, err);
}

Status glue_delete_table(AwsCall *c, Error *err)
{
    CatRelation r = {0};
    GlueName n = {0};

    TRY(glue_table(c, aws_str(c, "DatabaseName"), aws_str(c, "Name"), &n, &r, err));
    return glue_drop(c, &r, err);
}

static Status delete_one(AwsCall *c, GlueName *n, Str name, Error *err)
{
    CatRelation r = {0};

    TRY(glue_name(c, n->db, name, n, err));
    TRY(glue_find_table(c, n, &r, err));
    return glue_drop(c, &r, err);
}

Status glue_batch_delete_table(AwsCall *c, Error *err)
{
    const Json *names = aws_get(c, "TablesToDelete");
    Json *errors = json_array(c->a);
    CatNamespace ns = {0};
    GlueName n = {0};

    TRY(glue_database(c, aws_str(c, "DatabaseName"), &n, &ns, err));
    for (size_t i = 0; i < json_len(names); i++) {
        Json *one = json_object(c->a);
        Error why = {0};
        if (delete_one(c, &n, json_at(names, i)->string, &why) == OK)
            continue;
        json_set(c->a, one, "TableName", json_at(names, i));
        json_set(c->a, one, "ErrorDetail", glue_error_detail(c, &why));
        json_push(c->a, errors, one);
    }
    if (json_len(errors))
        aws_put(c, "Errors", errors);
    return OK;
}

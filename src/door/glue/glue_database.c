/* SPDX-License-Identifier: Apache-2.0 */
/* glue_database.c - databases: namespaces in Glue's words.
 *
 * LocationUri is the namespace's property `location`, Description its `comment`, Parameters the others.  Glue may have a parameter `comment` beside the
 * description: then that is the property.  What only Glue has is a document under the namespace's UUID. */
#include "door/glue/glue_int.h"

#define DOC_KIND "glue.database"

static const char *const glue_only[] = { "CreateTableDefaultPermissions", "TargetDatabase", "FederatedDatabase" };

static void props_of(AwsCall *c, const Json *input, Props *ret)
{
    const Json *params = json_get(input, "Parameters");
    Str location = json_get_str(input, "LocationUri", (Str){0}), comment = json_get_str(input, "Description", (Str){0});

    for (size_t i = 0; i < json_len(params); i++)
        props_set(c->a, ret, params->object.p[i].key, params->object.p[i].value->string);
    if (location.n > 0)
        props_set(c->a, ret, S("location"), location);
    if (comment.n > 0 && !props_has(ret, S("comment")))
        props_set(c->a, ret, S("comment"), comment);
}

static Status keep_glue_only(AwsCall *c, const CatNamespace *ns, const Json *input, Error *err)
{
    Json *doc = json_object(c->a);

    for (size_t i = 0; i < COUNT_OF(glue_only); i++)
        if (json_get(input, glue_only[i]))
            json_set(c->a, doc, glue_only[i], json_get(input, glue_only[i]));
    if (json_get(json_get(input, "Parameters"), "comment"))            /* shown as the parameter that it was */
        json_set(c->a, doc, "description", json_str(c->a, json_get_str(input, "Description", (Str){0})));
    if (!json_len(doc))
        doc = NULL;
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_KIND), .doc_key = ns->uuid, .doc = doc };
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

static Json *federation(AwsCall *c, const CatWarehouse *w, Str ns)
{
    Json *f = json_object(c->a);
    json_set(c->a, f, "Identifier", json_str(c->a, str_fmt(c->a, STR_FMT "|" STR_FMT, STR_ARG(w->arn), STR_ARG(ns))));
    json_set(c->a, f, "ConnectionName", json_str(c->a, S("aws:s3tables")));
    json_set(c->a, f, "ConnectionType", json_str(c->a, S("aws:s3tables")));
    return f;
}

static Json *default_permissions(AwsCall *c)
{
    Json *list = json_array(c->a), *one = json_object(c->a), *who = json_object(c->a), *all = json_array(c->a);

    if (str_eq(GLUE_DOOR(c)->svc->options.lf_defaults, S("none")))
        return list;
    json_set(c->a, who, "DataLakePrincipalIdentifier", json_str(c->a, S("IAM_ALLOWED_PRINCIPALS")));
    json_push(c->a, all, json_str(c->a, S("ALL")));
    json_set(c->a, one, "Principal", who);
    json_set(c->a, one, "Permissions", all);
    json_push(c->a, list, one);
    return list;
}

static Json *show(AwsCall *c, const CatWarehouse *w, const CatNamespace *ns)
{
    Json *o = json_object(c->a), *params = json_object(c->a), *doc = NULL;
    Error absent;

    bool known = cat_doc_get(glue_catalog(c), c->a, S(DOC_KIND), ns->uuid, &doc, &absent) == OK;
    const Json *description = json_get(doc, "description");
    json_set(c->a, o, "Name", json_str(c->a, ns->name));
    if (description && description->string.n > 0)
        json_set(c->a, o, "Description", (Json *)description);
    for vec_each(KeyValue, kv, &ns->props) {
        const char *key = str_eq(kv->key, S("location")) ? "LocationUri" : str_eq(kv->key, S("comment")) && !description ? "Description" : NULL;
        if (key)
            json_set(c->a, o, key, json_str(c->a, kv->value));
        else
            json_set_s(c->a, params, kv->key, json_str(c->a, kv->value));
    }
    json_set(c->a, o, "Parameters", params);
    json_set(c->a, o, "CreateTime", aws_time(c, ns->created_ms));
    json_set(c->a, o, "CreateTableDefaultPermissions", default_permissions(c));
    json_set(c->a, o, "CatalogId", json_str(c->a, w->id));
    if (str_eq(w->kind, S("table_bucket")))
        json_set(c->a, o, "FederatedDatabase", federation(c, w, ns->name));
    if (known)
        for (size_t i = 0; i < COUNT_OF(glue_only); i++)
            if (json_get(doc, glue_only[i]))
                json_set(c->a, o, glue_only[i], json_get(doc, glue_only[i]));
    return o;
}

Status glue_create_database(AwsCall *c, Error *err)
{
    const Json *input = aws_get(c, "DatabaseInput");
    SvcCall call = glue_call(c);
    CatNamespace ns = {0};
    Props props = {0};
    GlueName n = {0};

    TRY(glue_name(c, json_get_str(input, "Name", (Str){0}), (Str){0}, &n, err));
    props_of(c, input, &props);
    Status s = svc_namespace_create(&call, n.w.id, n.db, &props, &ns, err);
    if (s == E_EXISTS)
        return AWS_FAIL(err, E_EXISTS, "AlreadyExistsException", "Database already exists.");
    TRY(s);
    TRY(keep_glue_only(c, &ns, input, err));
    return glue_tag_put(c, glue_arn(c, &n.w, "database", n.db, (Str){0}), aws_get(c, "Tags"), err);
}

Status glue_get_database(AwsCall *c, Error *err)
{
    SvcCall call = glue_call(c);
    CatNamespace ns = {0};
    GlueName n = {0};

    TRY(glue_database(c, aws_str(c, "Name"), &n, &ns, err));
    TRY(svc_namespace_get(&call, n.w.id, n.db, &ns, err));
    aws_put(c, "Database", show(c, &n.w, &ns));
    return OK;
}

Status glue_get_databases(AwsCall *c, Error *err)
{
    const Json *attributes = aws_get(c, "AttributesToGet");
    Json *list = json_array(c->a);
    SvcCall call = glue_call(c);
    CatNamespaces all = {0};
    GlueName n = {0};

    TRY(glue_name(c, (Str){0}, (Str){0}, &n, err));
    TRY(svc_namespace_list(&call, n.w.id, (Str){0}, (CatPage){0}, &all, err));
    for vec_each(CatNamespace, ns, &all) {
        Json *o = json_object(c->a);
        json_set(c->a, o, "Name", json_str(c->a, ns->name));
        json_push(c->a, list, json_len(attributes) ? o : show(c, &n.w, ns));
    }
    if (str_eq(aws_str(c, "ResourceShareType"), S("FOREIGN")))
        list = json_array(c->a);                       /* nothing is shared with us */
    return aws_page(c, "DatabaseList", list, "NextToken", "MaxResults", PAGE_TABLES, "NextToken", err);
}

Status glue_update_database(AwsCall *c, Error *err)
{
    const Json *input = aws_get(c, "DatabaseInput");
    SvcCall call = glue_call(c);
    SvcPropsChange ch = {0};
    CatNamespace ns = {0};
    GlueName n = {0};

    TRY(glue_database(c, aws_str(c, "Name"), &n, &ns, err));
    if (!str_eq(glue_fold(c, json_get_str(input, "Name", n.db)), glue_fold(c, n.db)))
        return FAIL(err, E_INVALID, "a database cannot be renamed: DatabaseInput.Name must be " STR_FMT, STR_ARG(n.db));
    props_of(c, input, &ch.set);
    for vec_each(KeyValue, kv, &ns.props)
        if (!props_has(&ch.set, kv->key))
            vec_push(c->a, &ch.remove, kv->key);
    TRY(svc_namespace_alter(&call, n.w.id, n.db, &ch, err));
    return keep_glue_only(c, &ns, input, err);
}

/* As on AWS, a database takes its tables along; a managed view among them is dropped like any other table, by who may. */
static Status drop_tables(AwsCall *c, const GlueName *n, Error *err)
{
    SvcCall call = glue_call(c);
    CatRelations all = {0};

    TRY(svc_relation_list(&call, n->w.id, n->db, (CatPage){0}, &all, err));
    for vec_each(CatRelation, r, &all)
        TRY(glue_drop(c, r, err));
    return OK;
}

Status glue_delete_database(AwsCall *c, Error *err)
{
    SvcCall call = glue_call(c);
    CatNamespace ns = {0};
    GlueName n = {0};

    TRY(glue_database(c, aws_str(c, "Name"), &n, &ns, err));
    if (!glue_is_bucket(&n))                           /* S3 Tables refuses a namespace that has tables */
        TRY(drop_tables(c, &n, err));
    TRY(svc_namespace_drop(&call, n.w.id, n.db, err));
    TRY(glue_tag_drop(c, glue_arn(c, &n.w, "database", n.db, (Str){0}), err));
    return keep_glue_only(c, &ns, NULL, err);
}

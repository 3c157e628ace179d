/* SPDX-License-Identifier: Apache-2.0 */
/* glue_function.c - user-defined functions: records of what other engines can load.  firn itself runs none of them. */
#include "door/glue/glue_int.h"

#define DOC_KIND "glue.function"

static Str key_of(AwsCall *c, const CatNamespace *ns, Str name) { return str_fmt(c->a, STR_FMT "/" STR_FMT, STR_ARG(ns->uuid), STR_ARG(glue_fold(c, name))); }

static Status not_found(Str name, Error *err)
{
    return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Cannot find function. " STR_FMT, STR_ARG(name));
}

static Status find(AwsCall *c, GlueName *n, CatNamespace *ns, Str name, Json **ret, Error *err)
{
    TRY(glue_database(c, aws_str(c, "DatabaseName"), n, ns, err));
    TRY(glue_allow(c, glue_arn(c, &n->w, "userDefinedFunction", n->db, glue_fold(c, name)), err));
    Status s = cat_doc_get(glue_catalog(c), c->a, S(DOC_KIND), key_of(c, ns, name), ret, err);
    return s == E_NOT_FOUND ? not_found(name, err) : s;
}

static Status put(AwsCall *c, const CatNamespace *ns, Str name, const Json *input, int64_t created_ms, Error *err)
{
    Json *doc = json_object(c->a), *kept = json_copy(c->a, input);

    json_set(c->a, kept, "FunctionName", json_str(c->a, glue_fold(c, name)));
    json_set(c->a, doc, "input", kept);
    json_set(c->a, doc, "created_ms", json_int(c->a, created_ms));
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_KIND), .doc_key = key_of(c, ns, name), .doc = doc };
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

static Json *show(AwsCall *c, const GlueName *n, Str db, const Json *doc)
{
    Json *o = json_copy(c->a, json_get(doc, "input"));
    json_set(c->a, o, "DatabaseName", json_str(c->a, db));
    json_set(c->a, o, "CreateTime", aws_time(c, json_get_int(doc, "created_ms", 0)));
    json_set(c->a, o, "CatalogId", json_str(c->a, n->w.id));
    return o;
}

Status glue_create_function(AwsCall *c, Error *err)
{
    const Json *input = aws_get(c, "FunctionInput");
    Str name = json_get_str(input, "FunctionName", (Str){0});
    CatNamespace ns = {0};
    Json *old = NULL;
    GlueName n = {0};

    if (name.n == 0)
        return FAIL(err, E_INVALID, "FunctionInput.FunctionName is missing");
    Status s = find(c, &n, &ns, name, &old, err);
    if (s == OK)
        return AWS_FAIL(err, E_EXISTS, "AlreadyExistsException", "Function already exists: " STR_FMT, STR_ARG(name));
    if (s != E_NOT_FOUND || ns.uuid.n == 0)
        return s;
    return put(c, &ns, name, input, clock_ms(), err);
}

Status glue_get_function(AwsCall *c, Error *err)
{
    CatNamespace ns = {0};
    Json *doc = NULL;
    GlueName n = {0};

    TRY(find(c, &n, &ns, aws_str(c, "FunctionName"), &doc, err));
    aws_put(c, "UserDefinedFunction", show(c, &n, ns.name, doc));
    return OK;
}

Status glue_update_function(AwsCall *c, Error *err)
{
    Str name = aws_str(c, "FunctionName");
    CatNamespace ns = {0};
    Json *old = NULL;
    GlueName n = {0};

    TRY(find(c, &n, &ns, name, &old, err));
    return put(c, &ns, name, aws_get(c, "FunctionInput"), json_get_int(old, "created_ms", 0), err);
}

Status glue_delete_function(AwsCall *c, Error *err)
{
    Str name = aws_str(c, "FunctionName");
    CatNamespace ns = {0};
    Json *old = NULL;
    GlueName n = {0};

    TRY(find(c, &n, &ns, name, &old, err));
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_KIND), .doc_key = key_of(c, &ns, name) };
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

static Status add_functions(AwsCall *c, const GlueName *n, const CatNamespace *ns, const GluePattern *p, Json *list, Error *err)
{
    Str type = aws_str(c, "FunctionType");
    CatDocs docs = {0};

    TRY(cat_doc_list(glue_catalog(c), c->a, S(DOC_KIND), str_cat(c->a, ns->uuid, S("/")), &docs, err));
    for vec_each(CatDoc, d, &docs) {
        const Json *input = json_get(d->value, "input");
        bool typed = type.n == 0 || str_eq(type, json_get_str(input, "FunctionType", S("REGULAR_FUNCTION")));
        if (typed && glue_matches(c->a, p, json_get_str(input, "FunctionName", (Str){0})))
            json_push(c->a, list, show(c, n, ns->name, d->value));
    }
    return OK;
}

Status glue_get_functions(AwsCall *c, Error *err)
{
    Str db = aws_str(c, "DatabaseName");
    Json *list = json_array(c->a);
    SvcCall call = glue_call(c);
    CatNamespaces all = {0};
    CatNamespace ns = {0};
    GluePattern *p = NULL;
    GlueName n = {0};

    TRY(db.n > 0 ? glue_database(c, db, &n, &ns, err) : glue_name(c, (Str){0}, (Str){0}, &n, err));
    TRY(glue_pattern(c->a, aws_str(c, "Pattern"), &p, err));
    if (db.n > 0)
        vec_push(c->a, &all, ns);
    else
        TRY(svc_namespace_list(&call, n.w.id, (Str){0}, (CatPage){0}, &all, err));
    for vec_each(CatNamespace, one, &all)
        TRY(add_functions(c, &n, one, p, list, err));
    return aws_page(c, "UserDefinedFunctions", list, "NextToken", "MaxResults", PAGE_TABLES, "NextToken", err);
}

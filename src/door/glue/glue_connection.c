/* SPDX-License-Identifier: Apache-2.0 */
/* glue_connection.c - connections: records alone.  Nothing in firn connects through them; properties whose names say PASSWORD or SECRET lie sealed in the catalog. */
#include "door/glue/glue_int.h"

#define DOC_KIND "glue.connection"

static Status put_doc(AwsCall *c, Str name, Json *doc, Error *err)
{
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_KIND), .doc_key = name, .doc = doc };
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

static Str arn_of(AwsCall *c, Str name)
{
    return str_fmt(c->a, "arn:aws:glue:" STR_FMT ":" STR_FMT ":connection/" STR_FMT, STR_ARG(cat_region(glue_catalog(c))), STR_ARG(cat_account(glue_catalog(c))), STR_ARG(name));
}

static Status find(AwsCall *c, Str name, Json **ret, Error *err)
{
    CatWarehouse w = {0};

    TRY(glue_warehouse(c, aws_str(c, "CatalogId"), &w, err));
    TRY(glue_allow(c, arn_of(c, name), err));
    Status s = cat_doc_get(glue_catalog(c), c->a, S(DOC_KIND), name, ret, err);
    if (s == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Connection " STR_FMT " not found.", STR_ARG(name));
    return s;
}

static bool is_secret(Arena *a, Str key)
{
    Str k = str_upper(a, key);
    return str_find(k, S("PASSWORD")) >= 0 || str_find(k, S("SECRET")) >= 0;
}

typedef Status (*Sealing)(Catalog *cat, Arena *a, Str text, Str *ret, Error *err);

static Status each_secret(AwsCall *c, Json *input, Sealing how, Error *err)
{
    Json *props = json_get(input, "ConnectionProperties");

    for (size_t i = 0; json_is(props, JSON_OBJECT) && i < props->object.n; i++) {
        JsonMember *m = &props->object.p[i];
        Str text;
        if (!is_secret(c->a, m->key) || !json_is(m->value, JSON_STRING))
            continue;
        TRY_CTX(how(glue_catalog(c), c->a, m->value->string, &text, err), err, "connection property " STR_FMT, STR_ARG(m->key));
        m->value = json_str(c->a, text);
    }
    return OK;
}

static Status put(AwsCall *c, Str name, const Json *input, int64_t created_ms, Error *err)
{
    Json *doc = json_object(c->a), *kept = json_copy(c->a, input);

    TRY(each_secret(c, kept, cat_seal, err));
    json_set(c->a, doc, "input", kept);
    json_set(c->a, doc, "created_ms", json_int(c->a, created_ms));
    json_set(c->a, doc, "updated_ms", json_int(c->a, clock_ms()));
    json_set(c->a, doc, "updated_by", json_str(c->a, c->who.arn));
    return put_doc(c, name, doc, err);
}

static Status show(AwsCall *c, const Json *doc, Json **ret, Error *err)
{
    Json *o = json_copy(c->a, json_get(doc, "input")), *props = json_get(o, "ConnectionProperties");

    TRY(each_secret(c, o, cat_unseal, err));
    if (aws_bool(c, "HidePassword", false)) {
        json_del(props, S("PASSWORD"));
        json_del(props, S("ENCRYPTED_PASSWORD"));
    }
    json_del(o, S("ValidateCredentials"));
    json_del(o, S("ValidateForComputeEnvironments"));
    json_set(c->a, o, "CreationTime", aws_time(c, json_get_int(doc, "created_ms", 0)));
    json_set(c->a, o, "LastUpdatedTime", aws_time(c, json_get_int(doc, "updated_ms", 0)));
    json_set(c->a, o, "LastUpdatedBy", json_str(c->a, json_get_str(doc, "updated_by", (Str){0})));
    json_set(c->a, o, "Status", json_str(c->a, S("READY")));
    *ret = o;
    return OK;
}

Status glue_create_connection(AwsCall *c, Error *err)
{
    const Json *input = aws_get(c, "ConnectionInput");
    Str name = json_get_str(input, "Name", (Str){0});
    Json *old = NULL;

    Status s = find(c, name, &old, err);
    if (s == OK)
        return AWS_FAIL(err, E_EXISTS, "AlreadyExistsException", "Connection already exists: " STR_FMT, STR_ARG(name));
    if (s != E_NOT_FOUND)
        return s;
    TRY(put(c, name, input, clock_ms(), err));
    aws_put_str(c, "CreateConnectionStatus", S("READY"));
    return glue_tag_put(c, arn_of(c, name), aws_get(c, "Tags"), err);
}

Status glue_get_connection(AwsCall *c, Error *err)
{
    Json *doc = NULL, *shown;

    TRY(find(c, aws_str(c, "Name"), &doc, err));
    TRY(show(c, doc, &shown, err));
    aws_put(c, "Connection", shown);
    return OK;
}

static bool has_all(const Json *have, const Json *wanted)
{
    for (size_t i = 0; i < json_len(wanted); i++) {
        bool found = false;
        for (size_t k = 0; k < json_len(have); k++)
            found |= str_eq(json_at(have, k)->string, json_at(wanted, i)->string);
        if (!found)
            return false;
    }
    return true;
}

Status glue_get_connections(AwsCall *c, Error *err)
{
    const Json *filter = aws_get(c, "Filter");
    Json *list = json_array(c->a);
    CatWarehouse w = {0};
    CatDocs docs = {0};

    TRY(glue_warehouse(c, aws_str(c, "CatalogId"), &w, err));
    TRY(glue_allow(c, glue_arn(c, &w, "catalog", (Str){0}, (Str){0}), err));
    TRY(cat_doc_list(glue_catalog(c), c->a, S(DOC_KIND), (Str){0}, &docs, err));
    for vec_each(CatDoc, d, &docs) {
        const Json *input = json_get(d->value, "input");
        Str type = json_get_str(filter, "ConnectionType", (Str){0});
        if ((type.n == 0 || str_eq(type, json_get_str(input, "ConnectionType", (Str){0}))) && has_all(json_get(input, "MatchCriteria"), json_get(filter, "MatchCriteria"))) {
            Json *shown;
            TRY(show(c, d->value, &shown, err));
            json_push(c->a, list, shown);
        }
    }
    return aws_page(c, "ConnectionList", list, "NextToken", "MaxResults", PAGE_TABLES, "NextToken", err);
}

Status glue_update_connection(AwsCall *c, Error *err)
{
    Str name = aws_str(c, "Name");
    Json *old = NULL;

    TRY(find(c, name, &old, err));
    return put(c, name, aws_get(c, "ConnectionInput"), json_get_int(old, "created_ms", 0), err);
}

static Status drop(AwsCall *c, Str name, Error *err)
{
    Json *old = NULL;

    TRY(find(c, name, &old, err));
    TRY(put_doc(c, name, NULL, err));
    return glue_tag_drop(c, arn_of(c, name), err);
}

Status glue_delete_connection(AwsCall *c, Error *err) { return drop(c, aws_str(c, "ConnectionName"), err); }

Status glue_batch_delete_connection(AwsCall *c, Error *err UNUSED)
{
    const Json *names = aws_get(c, "ConnectionNameList");
    Json *done = json_array(c->a), *errors = json_object(c->a);

    for (size_t i = 0; i < json_len(names); i++) {
        Error why = {0};
        if (drop(c, json_at(names, i)->string, &why) == OK)
            json_push(c->a, done, json_at(names, i));
        else
            json_set_s(c->a, errors, json_at(names, i)->string, glue_error_detail(c, &why));
    }
    aws_put(c, "Succeeded", done);
    aws_put(c, "Errors", errors);
    return OK;
}

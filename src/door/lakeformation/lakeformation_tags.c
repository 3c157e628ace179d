/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_tags.c - LF-tags: made, changed, put on databases, tables and columns, and searched by. */
#include "door/lakeformation/lakeformation_door_int.h"

/* ---- who may ------------------------------------------------------------------------------------------------------------- */

static Status begin(AwsCall *c, const char *action, Str *catalog, Str *key, Error *err)
{
    TRY(aws_allow(c, action, S("*"), NULL, err));
    *key = str_lower(c->a, aws_str(c, "TagKey"));
    return door_catalog(c, aws_str(c, "CatalogId"), catalog, err);
}

static Status ask_tag(AwsCall *c, Str catalog, Str key, uint32_t need, Error *err)
{
    LfResource r = { .kind = LF_TAG, .catalog = catalog, .tag = { .catalog = catalog, .key = key } };

    if (lf_is_admin(c->access, c->a, &c->who))
        return OK;
    return lf_allowed(c->access, c->a, &c->who, &r, need, err);
}

/* ---- definitions ------------------------------------------------------------------------------------------------------------ */

static void lower_strings(AwsCall *c, const Json *list, StrVec *ret)
{
    for (size_t i = 0; i < json_len(list); i++) {
        Str s = str_lower(c->a, json_at(list, i)->string);
        if (!strvec_has(ret, s))
            vec_push(c->a, ret, s);
    }
}

Status door_create_tag(AwsCall *c, Error *err)
{
    LfResource account = { .kind = LF_CATALOG };
    StrVec values = {0}, there = {0};
    Str key;

    TRY(begin(c, "lakeformation:CreateLFTag", &account.catalog, &key, err));
    TRY(lf_allowed(c->access, c->a, &c->who, &account, LF_CREATE_TAG, err));
    if (lf_tag_get(c->access, c->a, account.catalog, key, &there, err) == OK)
        return AWS_FAIL(err, E_INVALID, "InvalidInputException", "Tag key already exists");
    lower_strings(c, aws_get(c, "TagValues"), &values);
    return lf_tag_put(c->access, c->a, account.catalog, key, &values, err);
}

Status door_update_tag(AwsCall *c, Error *err)
{
    StrVec values = {0}, gone = {0}, next = {0};
    Str catalog, key;

    TRY(begin(c, "lakeformation:UpdateLFTag", &catalog, &key, err));
    TRY(lf_tag_get(c->access, c->a, catalog, key, &values, err));
    TRY(ask_tag(c, catalog, key, LF_ALTER, err));
    lower_strings(c, aws_get(c, "TagValuesToDelete"), &gone);
    for vec_each(Str, v, &values)
        if (!strvec_has(&gone, *v))
            vec_push(c->a, &next, *v);
    lower_strings(c, aws_get(c, "TagValuesToAdd"), &next);
    return lf_tag_put(c->access, c->a, catalog, key, &next, err);
}

Status door_get_tag(AwsCall *c, Error *err)
{
    StrVec values = {0};
    Str catalog, key;

    TRY(begin(c, "lakeformation:GetLFTag", &catalog, &key, err));
    TRY(lf_tag_get(c->access, c->a, catalog, key, &values, err));
    TRY(ask_tag(c, catalog, key, LF_DESCRIBE, err));
    aws_put_str(c, "CatalogId", catalog);
    aws_put_str(c, "TagKey", key);
    aws_put(c, "TagValues", door_strings_json(c, &values));
    return OK;
}

Status door_delete_tag(AwsCall *c, Error *err)
{
    StrVec values = {0};
    Str catalog, key;

    TRY(begin(c, "lakeformation:DeleteLFTag", &catalog, &key, err));
    TRY(lf_tag_get(c->access, c->a, catalog, key, &values, err));
    TRY(ask_tag(c, catalog, key, LF_DROP, err));
    return lf_tag_delete(c->access, c->a, catalog, key, err);
}

Status door_list_tags(AwsCall *c, Error *err)
{
    LfTagPairs all = {0}, seen = {0};
    Str catalog, key;
    Error ignored;

    TRY(begin(c, "lakeformation:ListLFTags", &catalog, &key, err));
    TRY(lf_tag_list(c->access, c->a, catalog, &all, err));
    for vec_each(LfTagPair, t, &all)
        if (ask_tag(c, catalog, t->key, LF_DESCRIBE, &ignored) == OK)
            vec_push(c->a, &seen, *t);
    return aws_page(c, "LFTags", door_pairs_json(c, &seen), "NextToken", "MaxResults", 1000, "NextToken", err);
}

/* ---- on resources --------------------------------------------------------------------------------------------------------------- */

static Json *failure(AwsCall *c, const LfTagPair *t, const Error *why)
{
    LfTagPairs one = {0};
    Json *o = json_object(c->a), *e = json_object(c->a);

    vec_push(c->a, &one, *t);
    json_set(c->a, e, "ErrorCode", json_str(c->a, str_dup(c->a, str_c(door_error_code(why)))));
    json_set(c->a, e, "ErrorMessage", json_str(c->a, str_dup(c->a, str_c(why->message))));
    json_set(c->a, o, "LFTag", json_at(door_pairs_json(c, &one), 0));
    json_set(c->a, o, "Error", e);
    return o;
}

static Status there(AwsCall *c, const LfResource *r, Error *err)
{
    Catalog *catalog = door_service(c)->catalog;
    CatNamespace ns;
    CatRelation rel;

    if (r->kind == LF_DATABASE && cat_namespace_get(catalog, c->a, r->catalog, r->database, &ns, err) == OK)
        return OK;
    if ((r->kind == LF_TABLE || r->kind == LF_COLUMNS) && !r->wildcard && cat_relation_get(catalog, c->a, r->catalog, r->database, r->table, &rel, err) == OK)
        return OK;
    if (r->kind != LF_DATABASE && r->kind != LF_TABLE && r->kind != LF_COLUMNS)
        return AWS_FAIL(err, E_INVALID, "InvalidInputException", "LF-tags can be put on databases, tables and columns");
    return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "%s not found.", r->kind == LF_DATABASE ? "Database" : "Table");
}

/* One value a tag; the tag must be one that the caller may put on things. */
static Status assign(AwsCall *c, const LfResource *r, const LfTagPair *t, bool add, Error *err)
{
    StrVec values = {0};

    if (lf_tag_get(c->access, c->a, r->catalog, t->key, &values, err) == OK)
        TRY(ask_tag(c, r->catalog, t->key, LF_ASSOCIATE, err));
    if (t->values.n != 1)
        return AWS_FAIL(err, E_INVALID, "InvalidInputException", "Exactly one value of a tag can be on a resource");
    return lf_tag_assign(c->access, c->a, r, t->key, add ? t->values.p[0] : (Str){0}, err);
}

static Status assign_all(AwsCall *c, const char *action, bool add, Error *err)
{
    LfResource r;
    LfTagPairs tags = {0};
    Json *failures = json_array(c->a);

    TRY(aws_allow(c, action, S("*"), NULL, err));
    TRY(door_resource(c, aws_get(c, "Resource"), &r, err));
    TRY(there(c, &r, err));
    TRY(door_expression(c, r.catalog, aws_get(c, "LFTags"), &tags, err));
    for vec_each(LfTagPair, t, &tags) {
        Error why = {0};
        if (assign(c, &r, t, add, &why) != OK)
            json_push(c->a, failures, failure(c, t, &why));
    }
    aws_put(c, "Failures", failures);
    return OK;
}

Status door_add_tags(AwsCall *c, Error *err) { return assign_all(c, "lakeformation:AddLFTagsToResource", true, err); }
Status door_remove_tags(AwsCall *c, Error *err) { return assign_all(c, "lakeformation:RemoveLFTagsFromResource", false, err); }

/* ---- read ---------------------------------------------------------------------------------------------------------------------------- */

static Status tags_json(AwsCall *c, const LfResource *r, Str column, bool own, Json **ret, Error *err)
{
    LfTagPairs tags = {0};

    if (own)
        TRY(lf_tags_of(c->access, c->a, r, column, &tags, err));
    else
        TRY(lf_tags_effective(c->access, c->a, r, column, &tags, err));
    *ret = tags.n ? door_pairs_json(c, &tags) : NULL;
    return OK;
}

static Status columns_json(AwsCall *c, const LfResource *table, const StrVec *names, bool own, Json **ret, Error *err)
{
    Json *list = json_array(c->a), *tags = NULL;

    for vec_each(Str, name, names) {
        Json *o = json_object(c->a);
        TRY(tags_json(c, table, *name, own, &tags, err));
        if (!tags)
            continue;
        json_set(c->a, o, "Name", json_str(c->a, *name));
        json_set(c->a, o, "LFTags", tags);
        json_push(c->a, list, o);
    }
    *ret = json_len(list) ? list : NULL;
    return OK;
}

/* Tags of a database, of a table with its columns' own ones. */
static Status put_tags(AwsCall *c, const LfResource *r, Json *o, bool own, Error *err)
{
    LfResource db = { .kind = LF_DATABASE, .catalog = r->catalog, .database = r->database }, table = *r;
    StrVec names = r->columns;
    Json *tags = NULL;

    TRY(tags_json(c, &db, (Str){0}, true, &tags, err));
    if (tags)
        json_set(c->a, o, "LFTagOnDatabase", tags);
    if (r->kind == LF_DATABASE)
        return OK;
    table.kind = LF_TABLE;
    TRY(tags_json(c, &table, (Str){0}, own, &tags, err));
    if (tags)
        json_set(c->a, o, "LFTagsOnTable", tags);
    if (!names.n)
        TRY(lf_tagged_columns(c->access, c->a, &table, &names, err));
    TRY(columns_json(c, &table, &names, own, &tags, err));
    if (tags)
        json_set(c->a, o, "LFTagsOnColumns", tags);
    return OK;
}

static Status may_see(AwsCall *c, const LfResource *r, Error *err)
{
    LfResource whole = *r;

    if (whole.kind == LF_COLUMNS)
        whole.kind = LF_TABLE;
    return lf_allowed(c->access, c->a, &c->who, &whole, LF_DESCRIBE, err);
}

Status door_resource_tags(AwsCall *c, Error *err)
{
    LfResource r;

    TRY(aws_allow(c, "lakeformation:GetResourceLFTags", S("*"), NULL, err));
    TRY(door_resource(c, aws_get(c, "Resource"), &r, err));
    TRY(may_see(c, &r, err));
    TRY(there(c, &r, err));
    return put_tags(c, &r, c->out, aws_bool(c, "ShowAssignedLFTags", false), err);
}

/* ---- search ------------------------------------------------------------------------------------------------------------------------------ */

static Status matches(AwsCall *c, const LfResource *r, const LfTagPairs *want, bool *ret, Error *err)
{
    LfTagPairs tags = {0};
    Error hidden;

    TRY(lf_tags_effective(c->access, c->a, r, (Str){0}, &tags, err));
    *ret = lf_tags_match(&tags, want) && may_see(c, r, &hidden) == OK;
    return OK;
}

static Json *database_json(AwsCall *c, const LfResource *r, Json *tags)
{
    Json *o = json_object(c->a);

    json_set(c->a, o, "Database", json_get(door_resource_json(c, r), "Database"));
    json_set(c->a, o, "LFTags", tags);
    return o;
}

static Status search_tables(AwsCall *c, const LfResource *db, const LfTagPairs *want, Json *items, Error *err)
{
    CatRelations all = {0};

    TRY(cat_relation_list(door_service(c)->catalog, c->a, db->catalog, db->database, 1 << REL_TABLE | 1 << REL_VIEW | 1 << REL_MVIEW, (CatPage){0}, &all, err));
    for vec_each(CatRelation, rel, &all) {
        LfResource r = { .kind = LF_TABLE, .catalog = db->catalog, .database = db->database, .table = rel->name };
        Json *o = json_object(c->a);
        bool ok;
        TRY(matches(c, &r, want, &ok, err));
        if (!ok)
            continue;
        json_set(c->a, o, "Table", json_get(door_resource_json(c, &r), "Table"));
        TRY(put_tags(c, &r, o, false, err));
        json_push(c->a, items, o);
    }
    return OK;
}

static Status search(AwsCall *c, LfKind kind, const char *list, Error *err)
{
    CatNamespaces all = {0};
    LfTagPairs want = {0};
    Json *items = json_array(c->a), *tags = NULL;
    Str catalog;
    bool ok;

    TRY(door_catalog(c, aws_str(c, "CatalogId"), &catalog, err));
    TRY(door_expression(c, catalog, aws_get(c, "Expression"), &want, err));
    TRY(cat_namespace_list(door_service(c)->catalog, c->a, catalog, (Str){0}, (CatPage){0}, &all, err));
    for vec_each(CatNamespace, ns, &all) {
        LfResource db = { .kind = LF_DATABASE, .catalog = catalog, .database = ns->name };
        if (kind == LF_TABLE) {
            TRY(search_tables(c, &db, &want, items, err));
            continue;
        }
        TRY(matches(c, &db, &want, &ok, err));
        if (!ok)
            continue;
        TRY(tags_json(c, &db, (Str){0}, true, &tags, err));
        json_push(c->a, items, database_json(c, &db, tags));
    }
    return aws_page(c, list, items, "NextToken", "MaxResults", 100, "NextToken", err);
}

Status door_search_databases(AwsCall *c, Error *err)
{
    TRY(aws_allow(c, "lakeformation:SearchDatabasesByLFTags", S("*"), NULL, err));
    return search(c, LF_DATABASE, "DatabaseList", err);
}

Status door_search_tables(AwsCall *c, Error *err)
{
    TRY(aws_allow(c, "lakeformation:SearchTablesByLFTags", S("*"), NULL, err));
    return search(c, LF_TABLE, "TableList", err);
}

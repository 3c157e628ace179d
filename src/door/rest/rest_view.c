/* SPDX-License-Identifier: Apache-2.0 */
/* rest_view.c - views: list, create, load, exists, replace, drop, rename, register. */
#include "door/rest/rest_int.h"

Status rest_list_views(RestCall *c, Error *err)
{
    CatPage page = {0};
    CatRelations all = {0};
    size_t size = 0;
    Json *j = json_object(c->a), *list = json_array(c->a);

    TRY(rest_page(c, &page, &size, err));
    TRY(svc_view_list(&c->svc, c->warehouse.id, c->ns, page, &all, err));
    size_t n = rest_page_end(c, j, all.n, size, size > 0 && all.n > size ? all.p[size - 1].name : (Str){0});
    for (size_t i = 0; i < n; i++)
        json_push(c->a, list, rest_identifier(c->a, all.p[i].namespace, all.p[i].name));
    json_set(c->a, j, "identifiers", list);
    rest_json(c, 200, j);
    return OK;
}

static void answer_view(RestCall *c, const SvcView *v)
{
    Json *j = json_object(c->a);
    json_set(c->a, j, "metadata-location", json_str(c->a, v->relation.metadata_location));
    json_set(c->a, j, "metadata", ice_view_json(c->a, v->view));
    json_set(c->a, j, "config", json_object(c->a));
    rest_json(c, 200, j);
}

static Status parse_representation(RestCall *c, const Json *j, IceViewVersion *v, Error *err)
{
    IceViewRepr r = {0};

    if (!str_ieq(json_get_str(j, "type", (Str){0}), S("sql")))
        return FAIL(err, E_INVALID, "Invalid view version: a representation must be of type sql");
    TRY(json_need_str(j, "sql", &r.sql, err));
    TRY(json_need_str(j, "dialect", &r.dialect, err));
    vec_push(c->a, &v->reprs, r);
    return OK;
}

static Status parse_version(RestCall *c, const Json *j, IceViewVersion *v, Error *err)
{
    int64_t id = 1;
    Json *reprs = NULL;

    TRY(json_need_int(j, "version-id", &id, err));
    v->id = (int32_t)id;
    v->schema_id = (int32_t)json_get_int(j, "schema-id", 0);
    v->timestamp_ms = json_get_int(j, "timestamp-ms", clock_ms());
    v->default_catalog = json_get_str(j, "default-catalog", (Str){0});
    TRY(rest_parse_props(c, j, "summary", &v->summary, err));
    TRY(rest_parse_strings(c, j, "default-namespace", &v->default_namespace, err));
    TRY(json_need(j, "representations", JSON_ARRAY, &reprs, err));
    for (size_t i = 0; i < json_len(reprs); i++)
        TRY(parse_representation(c, json_at(reprs, i), v, err));
    v->storage_table = json_get(j, "storage-table");
    return OK;
}

static Status parse_new(RestCall *c, const Json *body, SvcNewView *v, Error *err)
{
    Json *schema = NULL, *version = NULL;

    v->name = rest_name(c);
    v->version = arena_new(c->a, IceViewVersion);
    TRY(json_need_str(body, "name", &v->name.name, err));
    TRY(json_need(body, "schema", JSON_OBJECT, &schema, err));
    TRY(ice_schema_parse(c->a, schema, &v->schema, err));
    TRY(json_need(body, "view-version", JSON_OBJECT, &version, err));
    TRY_CTX(parse_version(c, version, v->version, err), err, "view-version");
    v->location = json_get_str(body, "location", (Str){0});
    return rest_parse_props(c, body, "properties", &v->properties, err);
}

/* The reference names wrong definitions so, and clients look at it. */
static Status argument(Status s, Error *err)
{
    if (s == E_INVALID && !err->kind[0])
        memcpy(err->kind, "IllegalArgumentException", sizeof "IllegalArgumentException");
    return s;
}

Status rest_create_view(RestCall *c, Error *err)
{
    Json *body = NULL;
    SvcNewView n = {0};
    SvcView v = {0};

    TRY(rest_body(c, &body, err));
    TRY(argument(parse_new(c, body, &n, err), err));
    TRY(argument(svc_view_create(&c->svc, &n, &v, err), err));
    answer_view(c, &v);
    return OK;
}

Status rest_load_view(RestCall *c, Error *err)
{
    SvcName name = rest_name(c);
    SvcView v = {0};
    TRY(svc_view_load(&c->svc, &name, &v, err));
    answer_view(c, &v);
    return OK;
}

Status rest_head_view(RestCall *c, Error *err)
{
    SvcName name = rest_name(c);
    TRY(svc_view_exists(&c->svc, &name, err));
    rest_empty(c, 204);
    return OK;
}

Status rest_commit_view(RestCall *c, Error *err)
{
    Json *body = NULL;
    SvcName name = rest_name(c);
    SvcView v = {0};

    TRY(rest_body(c, &body, err));
    TRY(argument(svc_view_commit(&c->svc, &name, json_get(body, "requirements"), json_get(body, "updates"), &v, err), err));
    answer_view(c, &v);
    return OK;
}

Status rest_drop_view(RestCall *c, Error *err)
{
    SvcName name = rest_name(c);
    TRY(svc_view_drop(&c->svc, &name, err));
    rest_empty(c, 204);
    return OK;
}

Status rest_rename_view(RestCall *c, Error *err)
{
    Json *body = NULL;
    SvcName from = {0}, to = {0};

    TRY(rest_body(c, &body, err));
    TRY_CTX(rest_parse_identifier(c, json_get(body, "source"), &from, err), err, "source");
    TRY_CTX(rest_parse_identifier(c, json_get(body, "destination"), &to, err), err, "destination");
    TRY(svc_view_rename(&c->svc, &from, &to, err));
    rest_empty(c, 204);
    return OK;
}

Status rest_register_view(RestCall *c, Error *err)
{
    Json *body = NULL;
    SvcName name = rest_name(c);
    SvcView v = {0};
    Str location = {0};

    TRY(rest_body(c, &body, err));
    TRY(json_need_str(body, "name", &name.name, err));
    TRY(json_need_str(body, "metadata-location", &location, err));
    TRY(svc_view_register(&c->svc, &name, location, &v, err));
    answer_view(c, &v);
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* rest_namespace.c - namespaces: list, create, load, exists, drop, properties. */
#include "door/rest/rest_int.h"

static Json *namespace_json(RestCall *c, Str ns, const Props *props)
{
    Json *j = json_object(c->a);
    json_set(c->a, j, "namespace", rest_levels(c->a, ns));
    json_set(c->a, j, "properties", rest_props(c->a, props));
    return j;
}

Status rest_list_namespaces(RestCall *c, Error *err)
{
    CatPage page = {0};
    CatNamespaces all = {0};
    size_t size = 0;
    Json *j = json_object(c->a), *list = json_array(c->a);

    TRY(rest_page(c, &page, &size, err));
    TRY(svc_namespace_list(&c->svc, c->warehouse.id, http_arg(c->r, "parent", (Str){0}), page, &all, err));
    size_t n = rest_page_end(c, j, all.n, size, size > 0 && all.n > size ? all.p[size - 1].name : (Str){0});
    for (size_t i = 0; i < n; i++)
        json_push(c->a, list, rest_levels(c->a, all.p[i].name));
    json_set(c->a, j, "namespaces", list);
    rest_json(c, 200, j);
    return OK;
}

Status rest_create_namespace(RestCall *c, Error *err)
{
    Json *body = NULL;
    Str name = {0};
    Props props = {0};
    CatNamespace n = {0};

    TRY(rest_body(c, &body, err));
    TRY(rest_parse_namespace(c, json_get(body, "namespace"), &name, err));
    TRY(rest_parse_props(c, body, "properties", &props, err));
    TRY(svc_namespace_create(&c->svc, c->warehouse.id, name, &props, &n, err));
    rest_json(c, 200, namespace_json(c, n.name, &n.props));
    return OK;
}

Status rest_load_namespace(RestCall *c, Error *err)
{
    CatNamespace n = {0};
    TRY(svc_namespace_get(&c->svc, c->warehouse.id, c->ns, &n, err));
    rest_json(c, 200, namespace_json(c, n.name, &n.props));
    return OK;
}

Status rest_head_namespace(RestCall *c, Error *err)
{
    CatNamespace n = {0};
    TRY(svc_namespace_get(&c->svc, c->warehouse.id, c->ns, &n, err));
    rest_empty(c, 204);
    return OK;
}

Status rest_drop_namespace(RestCall *c, Error *err)
{
    TRY(svc_namespace_drop(&c->svc, c->warehouse.id, c->ns, err));
    rest_empty(c, 204);
    return OK;
}

static Json *strings(RestCall *c, const StrVec *v)
{
    Json *list = json_array(c->a);
    for vec_each(Str, s, v)
        json_push(c->a, list, json_str(c->a, *s));
    return list;
}

static Status not_both(const SvcPropsChange *ch, Error *err)
{
    for vec_each(Str, key, &ch->remove)
        if (props_has(&ch->set, *key)) {
            (void)FAIL(err, E_INVALID, "Invalid namespace update: cannot set and remove the same key: " STR_FMT, STR_ARG(*key));
            memcpy(err->kind, "UnprocessableEntityException", sizeof "UnprocessableEntityException");
            return E_INVALID;
        }
    return OK;
}

Status rest_alter_namespace(RestCall *c, Error *err)
{
    Json *body = NULL, *j = json_object(c->a);
    SvcPropsChange ch = {0};
    StrVec updated = {0};

    TRY(rest_body(c, &body, err));
    TRY(rest_parse_props(c, body, "updates", &ch.set, err));
    TRY(rest_parse_strings(c, body, "removals", &ch.remove, err));
    TRY(not_both(&ch, err));
    TRY(svc_namespace_alter(&c->svc, c->warehouse.id, c->ns, &ch, err));
    for vec_each(KeyValue, kv, &ch.set)
        vec_push(c->a, &updated, kv->key);
    json_set(c->a, j, "updated", strings(c, &updated));
    json_set(c->a, j, "removed", strings(c, &ch.removed));
    json_set(c->a, j, "missing", strings(c, &ch.missing));
    rest_json(c, 200, j);
    return OK;
}

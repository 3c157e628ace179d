/* SPDX-License-Identifier: Apache-2.0 */
/* rest_names.c - identifiers, properties and pages between JSON and the catalog's own form. */
#include "door/rest/rest_int.h"

SvcName rest_name(const RestCall *c)
{
    return (SvcName){ .catalog = c->warehouse.id, .namespace = c->ns, .name = c->name };
}

Json *rest_levels(Arena *a, Str ns)
{
    StrVec parts = {0};
    Json *ret = json_array(a);

    str_split(a, ns, 0x1F, &parts);
    for vec_each(Str, p, &parts)
        json_push(a, ret, json_str(a, *p));
    return ret;
}

Json *rest_identifier(Arena *a, Str ns, Str name)
{
    Json *ret = json_object(a);
    json_set(a, ret, "namespace", rest_levels(a, ns));
    json_set(a, ret, "name", json_str(a, name));
    return ret;
}

Status rest_parse_namespace(RestCall *c, const Json *levels, Str *ret, Error *err)
{
    StrVec parts = {0};

    if (!json_is(levels, JSON_ARRAY) || json_len(levels) == 0)
        return FAIL(err, E_INVALID, "Invalid namespace: it must be an array of one or more names");
    for (size_t i = 0; i < json_len(levels); i++) {
        const Json *p = json_at(levels, i);
        if (!json_is(p, JSON_STRING) || str_chr(p->string, 0x1F) >= 0)
            return FAIL(err, E_INVALID, "Invalid namespace: each level must be a name");
        vec_push(c->a, &parts, p->string);
    }
    *ret = str_join(c->a, &parts, S("\x1f"));
    return OK;
}

Status rest_parse_identifier(RestCall *c, const Json *j, SvcName *ret, Error *err)
{
    if (!json_is(j, JSON_OBJECT))
        return FAIL(err, E_INVALID, "Invalid identifier: it must be an object with namespace and name");
    ret->catalog = c->warehouse.id;
    TRY(rest_parse_namespace(c, json_get(j, "namespace"), &ret->namespace, err));
    return json_need_str(j, "name", &ret->name, err);
}

Status rest_parse_props(RestCall *c, const Json *object, const char *key, Props *ret, Error *err)
{
    const Json *j = json_get(object, key);

    *ret = (Props){0};
    if (!j || json_is(j, JSON_NULL))
        return OK;
    if (!json_is(j, JSON_OBJECT))
        return FAIL(err, E_INVALID, "Malformed request: '%s' must be an object of strings", key);
    for (size_t i = 0; i < json_len(j); i++) {
        const JsonMember *m = &j->object.p[i];
        if (!json_is(m->value, JSON_STRING))
            return FAIL(err, E_INVALID, "Malformed request: '%s." STR_FMT "' must be a string", key, STR_ARG(m->key));
        vec_push(c->a, ret, ((KeyValue){ m->key, m->value->string }));
    }
    return OK;
}

Status rest_parse_strings(RestCall *c, const Json *object, const char *key, StrVec *ret, Error *err)
{
    const Json *j = json_get(object, key);

    *ret = (StrVec){0};
    if (!j || json_is(j, JSON_NULL))
        return OK;
    if (!json_is(j, JSON_ARRAY))
        return FAIL(err, E_INVALID, "Malformed request: '%s' must be an array of strings", key);
    for (size_t i = 0; i < json_len(j); i++) {
        if (!json_is(json_at(j, i), JSON_STRING))
            return FAIL(err, E_INVALID, "Malformed request: '%s' must be an array of strings", key);
        vec_push(c->a, ret, json_at(j, i)->string);
    }
    return OK;
}

Json *rest_props(Arena *a, const Props *p)
{
    Json *ret = json_object(a);
    for vec_each(KeyValue, kv, p)
        json_set_s(a, ret, kv->key, json_str(a, kv->value));
    return ret;
}

/* ---- pages: only when pageToken is there, an empty one asks for the first -------------------------------------------- */

Status rest_page(RestCall *c, CatPage *ret, size_t *size, Error *err)
{
    int64_t n = PAGE_DEFAULT;
    Str given = http_arg(c->r, "pageSize", (Str){0});

    *ret = (CatPage){0};
    *size = 0;
    if (given.n > 0 && (!str_to_i64(given, &n) || n < 1))
        return FAIL(err, E_INVALID, "Invalid pageSize: " STR_FMT, STR_ARG(given));
    if (!http_has_arg(c->r, "pageToken"))
        return OK;
    TRY_CTX(base64_decode(c->a, http_arg(c->r, "pageToken", (Str){0}), &ret->after, err), err, "Invalid pageToken");
    *size = (size_t)min_i64(n, PAGE_MAX);
    ret->max = (int)*size + 1;
    return OK;
}

size_t rest_page_end(RestCall *c, Json *answer, size_t n, size_t size, Str last_name)
{
    if (size == 0 || n <= size) {
        json_set(c->a, answer, "next-page-token", json_null(c->a));
        return n;
    }
    json_set(c->a, answer, "next-page-token", json_str(c->a, base64_encode(c->a, last_name)));
    return size;
}

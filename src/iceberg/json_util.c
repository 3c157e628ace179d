/* SPDX-License-Identifier: Apache-2.0 */
/* json_util.c - the small readings of JSON that metadata, updates and views share.
 *
 * Members that we do not know are kept, so that a newer writer's data survives our rewrite. */
#include "iceberg/iceberg_int.h"

Status ice_need_id(const Json *o, const char *key, int64_t *ret, int *above, Error *err)
{
    TRY(json_need_int(o, key, ret, err));
    if (json_get(o, key)->above_i64)
        *above = 1;
    return OK;
}

OptI64 ice_opt_i64(const Json *o, const char *key)
{
    const Json *v = json_get(o, key);
    return json_is(v, JSON_INT) ? SOME_I64(v->integer) : (OptI64){ 0 };
}

OptI32 ice_opt_i32(const Json *o, const char *key)
{
    OptI64 v = ice_opt_i64(o, key);
    return v.has && v.v >= INT32_MIN && v.v <= INT32_MAX ? SOME_I32((int32_t)v.v) : (OptI32){ 0 };
}

Status ice_need_i32(const Json *o, const char *key, int32_t *ret, Error *err)
{
    int64_t v;

    TRY(json_need_int(o, key, &v, err));
    if (v < INT32_MIN || v > INT32_MAX)
        return FAIL(err, E_INVALID, "field '%s' is out of range: %lld", key, (long long)v);
    *ret = (int32_t)v;
    return OK;
}

Status ice_props_parse(Arena *a, const Json *o, const char *what, Props *ret, Error *err)
{
    if (!o || json_is(o, JSON_NULL))
        return OK;
    if (!json_is(o, JSON_OBJECT))
        return FAIL(err, E_INVALID, "%s must be an object", what);
    for (size_t i = 0; i < o->object.n; i++) {
        const JsonMember *m = &o->object.p[i];
        if (json_is(m->value, JSON_NULL))
            continue;
        Str v = json_is(m->value, JSON_STRING) ? m->value->string : json_text(a, m->value);
        vec_push(a, ret, ((KeyValue){ m->key, v }));
    }
    return OK;
}

Json *ice_props_json(Arena *a, const Props *p)
{
    Json *o = json_object(a);
    for vec_each(const KeyValue, kv, p)
        json_set_s(a, o, kv->key, json_str(a, kv->value));
    return o;
}

static bool named(const char *const *names, Str s)
{
    for (; *names; names++)
        if (str_eq(s, str_c(*names)))
            return true;
    return false;
}

Json *ice_unknown_members(Arena *a, const Json *o, const char *const *known)
{
    Json *rest = NULL;

    for (size_t i = 0; json_is(o, JSON_OBJECT) && i < o->object.n; i++) {
        const JsonMember *m = &o->object.p[i];
        if (named(known, m->key))
            continue;
        if (!rest)
            rest = json_object(a);
        vec_push(a, &rest->object, *m);
    }
    return rest;
}

void ice_add_members(Arena *a, Json *o, const Json *extra)
{
    for (size_t i = 0; json_is(extra, JSON_OBJECT) && i < extra->object.n; i++)
        json_set_s(a, o, extra->object.p[i].key, extra->object.p[i].value);
}

void ice_set_opt(Arena *a, Json *o, const char *key, OptI64 v)
{
    if (v.has)
        json_set(a, o, key, json_int(a, v.v));
}

bool ice_json_same(const Json *x, const Json *y)
{
    return x && y ? json_equal(x, y) : x == y;
}

int64_t ice_prop_i64(const Props *p, const char *key, int64_t fallback)
{
    int64_t v;
    return str_to_i64(props_get(p, str_c(key), S("")), &v) ? v : fallback;
}

bool ice_prop_is(const Props *p, const char *key, const char *value, const char *fallback)
{
    return str_ieq(props_get(p, str_c(key), str_c(fallback)), str_c(value));
}

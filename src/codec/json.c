/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - the JSON tree: making, changing, looking up, comparing.
 *
 * Objects are short arrays searched in order: metadata objects have few keys, and order is kept for those who
 * read the text.  Lookups accept NULL and wrong kinds, so that a chain of them needs one check at its end. */
#include "codec/codec.h"

static Json *make(Arena *a, JsonKind kind)
{
    Json *v = arena_new(a, Json);
    v->kind = kind;
    return v;
}

Json *json_null(Arena *a) { return make(a, JSON_NULL); }
Json *json_array(Arena *a) { return make(a, JSON_ARRAY); }
Json *json_object(Arena *a) { return make(a, JSON_OBJECT); }

Json *json_bool(Arena *a, bool v)
{
    Json *j = make(a, JSON_BOOL);
    j->boolean = v;
    return j;
}

Json *json_int(Arena *a, int64_t v)
{
    Json *j = make(a, JSON_INT);
    j->integer = v;
    return j;
}

Json *json_real(Arena *a, double v)
{
    Json *j = make(a, JSON_REAL);
    j->real = v;
    return j;
}

Json *json_str(Arena *a, Str v)
{
    Json *j = make(a, JSON_STRING);
    j->string = v;
    return j;
}

static JsonMember *member(const Json *object, Str key)
{
    if (!json_is(object, JSON_OBJECT))
        return NULL;
    for (size_t i = 0; i < object->object.n; i++)
        if (str_eq(object->object.p[i].key, key))
            return &object->object.p[i];
    return NULL;
}

void json_push(Arena *a, Json *array, Json *v)
{
    vec_push(a, &array->array, v);
}

void json_set_s(Arena *a, Json *object, Str key, Json *v)
{
    JsonMember *m = member(object, key);
    if (m)
        m->value = v;
    else
        vec_push(a, &object->object, ((JsonMember){ key, v }));
}

void json_set(Arena *a, Json *object, const char *key, Json *v) { json_set_s(a, object, str_c(key), v); }

bool json_del(Json *object, Str key)
{
    JsonMember *m = member(object, key);
    if (!m)
        return false;
    memmove(m, m + 1, (size_t)(object->object.p + --object->object.n - m) * sizeof *m);
    return true;
}

/* ---- lookups ------------------------------------------------------------------------------------------- */

bool json_is(const Json *v, JsonKind kind) { return v && v->kind == kind; }

Json *json_get_s(const Json *object, Str key)
{
    JsonMember *m = member(object, key);
    return m ? m->value : NULL;
}

Json *json_get(const Json *object, const char *key) { return json_get_s(object, str_c(key)); }

Str json_get_str(const Json *object, const char *key, Str fallback)
{
    const Json *v = json_get(object, key);
    return json_is(v, JSON_STRING) ? v->string : fallback;
}

int64_t json_get_int(const Json *object, const char *key, int64_t fallback)
{
    const Json *v = json_get(object, key);
    return json_is(v, JSON_INT) ? v->integer : fallback;
}

bool json_get_bool(const Json *object, const char *key, bool fallback)
{
    const Json *v = json_get(object, key);
    return json_is(v, JSON_BOOL) ? v->boolean : fallback;
}

size_t json_len(const Json *v)
{
    if (json_is(v, JSON_ARRAY))
        return v->array.n;
    return json_is(v, JSON_OBJECT) ? v->object.n : 0;
}

Json *json_at(const Json *array, size_t i)
{
    return json_is(array, JSON_ARRAY) && i < array->array.n ? array->array.p[i] : NULL;
}

Status json_need(const Json *object, const char *key, JsonKind kind, Json **ret, Error *err)
{
    static const char *const names[] = { "null", "a boolean", "an integer", "a number", "a string", "an array",
                                         "an object" };
    Json *v = json_get(object, key);

    if (!json_is(object, JSON_OBJECT))
        return FAIL(err, E_INVALID, "an object with the field '%s' was expected", key);
    if (!v)
        return FAIL(err, E_INVALID, "missing field '%s'", key);
    if (v->kind != kind)
        return FAIL(err, E_INVALID, "field '%s' must be %s", key, names[kind]);
    *ret = v;
    return OK;
}

Status json_need_str(const Json *object, const char *key, Str *ret, Error *err)
{
    Json *v = NULL;
    TRY(json_need(object, key, JSON_STRING, &v, err));
    *ret = v->string;
    return OK;
}

Status json_need_int(const Json *object, const char *key, int64_t *ret, Error *err)
{
    Json *v = NULL;
    TRY(json_need(object, key, JSON_INT, &v, err));
    *ret = v->integer;
    return OK;
}

/* ---- whole trees --------------------------------------------------------------------------------------- */

Json *json_copy(Arena *a, const Json *v)
{
    if (!v)
        return NULL;
    Json *c = arena_new(a, Json);
    *c = (Json){ .kind = v->kind };
    switch (v->kind) {
    case JSON_STRING: c->string = str_dup(a, v->string); break;
    case JSON_ARRAY:
        for (size_t i = 0; i < v->array.n; i++)
            json_push(a, c, json_copy(a, v->array.p[i]));
        break;
    case JSON_OBJECT:
        for (size_t i = 0; i < v->object.n; i++)
            vec_push(a, &c->object, ((JsonMember){ str_dup(a, v->object.p[i].key), json_copy(a, v->object.p[i].value) }));
        break;
    default: *c = *v;
    }
    return c;
}

static bool arrays_equal(const Json *x, const Json *y)
{
    if (x->array.n != y->array.n)
        return false;
    for (size_t i = 0; i < x->array.n; i++)
        if (!json_equal(x->array.p[i], y->array.p[i]))
            return false;
    return true;
}

static bool objects_equal(const Json *x, const Json *y)
{
    if (x->object.n != y->object.n)
        return false;
    for (size_t i = 0; i < x->object.n; i++) {
        const Json *other = json_get_s(y, x->object.p[i].key);
        if (!other || !json_equal(x->object.p[i].value, other))
            return false;
    }
    return true;
}

bool json_equal(const Json *x, const Json *y)
{
    if (!x || !y || x->kind != y->kind)
        return x == y;
    switch (x->kind) {
    case JSON_NULL: return true;
    case JSON_BOOL: return x->boolean == y->boolean;
    case JSON_INT: return x->integer == y->integer && x->above_i64 == y->above_i64;
    case JSON_REAL: return x->real == y->real;
    case JSON_STRING: return str_eq(x->string, y->string);
    case JSON_ARRAY: return arrays_equal(x, y);
    case JSON_OBJECT: return objects_equal(x, y);
    }
    return false;
}

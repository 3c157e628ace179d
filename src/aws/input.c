/* SPDX-License-Identifier: Apache-2.0 */
/* input.c - a request's input held against its operation's fields.
 *
 * A value of another kind is a SerializationException, as the protocols have it; a value of the right kind beyond its limits is the service's
 * validation error, in the words that AWS's front ends use, all problems in one message.  Unknown members are dropped. */
#include "aws/aws_int.h"

#include <math.h>

typedef struct Check { Arena *a; const AwsService *service; int texts; StrVec problems; int depth; } Check;

static Status check_value(Check *k, const AwsType *t, const Json *v, Str path, Json **ret, Error *err);

static void problem(Check *k, const Json *v, Str path, Str constraint)
{
    if (k->problems.n >= AWS_PROBLEMS_MAX)
        return;
    Str value = S("null");
    if (v) {
        value = json_is(v, JSON_STRING) ? v->string : json_text(k->a, v);
        value = str_fmt(k->a, "'" STR_FMT "'", STR_ARG(str_sub(value, 0, 200)));
    }
    Str text = str_fmt(k->a, "Value " STR_FMT " at '" STR_FMT "' failed to satisfy constraint: " STR_FMT, STR_ARG(value), STR_ARG(path), STR_ARG(constraint));
    vec_push(k->a, &k->problems, text);
}

static Status mistyped(Str path, const char *wanted, Error *err)
{
    return AWS_FAIL(err, E_INVALID, "SerializationException", "member '" STR_FMT "' must be %s", STR_ARG(path), wanted);
}

/* "TableInput" is written tableInput in AWS's messages. */
static Str step(Arena *a, Str path, Str name)
{
    Str low = str_dup(a, name);
    if (low.n && low.p[0] >= 'A' && low.p[0] <= 'Z')
        ((char *)low.p)[0] = (char)(low.p[0] + 32);
    return path.n ? str_fmt(a, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(low)) : low;
}

static size_t characters(Str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

static void check_length(Check *k, const AwsType *t, const Json *v, size_t n, Str path)
{
    if (!t->ranged)
        return;
    if ((int64_t)n < t->min)
        problem(k, v, path, str_fmt(k->a, "Member must have length greater than or equal to %lld", (long long)t->min));
    if ((int64_t)n > t->max)
        problem(k, v, path, str_fmt(k->a, "Member must have length less than or equal to %lld", (long long)t->max));
}

static Status check_string(Check *k, const AwsType *t, const Json *v, Str path, Error *err)
{
    if (!json_is(v, JSON_STRING))
        return mistyped(path, "a string", err);
    check_length(k, t, v, characters(v->string), path);
    if (t->kind == T_ENUM && !strvec_has(&t->choices, v->string))
        problem(k, v, path, str_fmt(k->a, "Member must satisfy enum value set: [" STR_FMT "]", STR_ARG(str_join(k->a, &t->choices, S(", ")))));
    return OK;
}

static Status check_int(Check *k, const AwsType *t, const Json *v, Str path, Json **ret, Error *err)
{
    if (json_is(v, JSON_REAL) && v->real == floor(v->real) && fabs(v->real) < 9e18)      /* 5.0, and numbers that passed through a double */
        *ret = json_int(k->a, (int64_t)v->real);
    else if (!json_is(v, JSON_INT) || v->above_i64)
        return mistyped(path, "an integer", err);
    int64_t n = (*ret)->integer;
    if (t->ranged && n < t->min)
        problem(k, v, path, str_fmt(k->a, "Member must have value greater than or equal to %lld", (long long)t->min));
    if (t->ranged && n > t->max)
        problem(k, v, path, str_fmt(k->a, "Member must have value less than or equal to %lld", (long long)t->max));
    return OK;
}

static Status check_time(Check *k, const Json *v, Str path, Json **ret, Error *err)
{
    int64_t ms;

    if (json_is(v, JSON_INT))
        *ret = json_real(k->a, (double)v->integer);
    else if (json_is(v, JSON_STRING) && iso8601_parse(v->string, &ms))
        *ret = json_real(k->a, (double)ms / 1000);
    else if (!json_is(v, JSON_REAL))
        return mistyped(path, "a timestamp", err);
    return OK;
}

static Status check_list(Check *k, const AwsType *t, const Json *v, Str path, Json **ret, Error *err)
{
    Json *list = json_array(k->a);

    if (!json_is(v, JSON_ARRAY))
        return mistyped(path, "a list", err);
    check_length(k, t, v, json_len(v), path);
    for (size_t i = 0; i < json_len(v); i++) {
        Json *item = NULL;
        TRY(check_value(k, t->item, json_at(v, i), str_fmt(k->a, STR_FMT ".%zu.member", STR_ARG(path), i + 1), &item, err));
        json_push(k->a, list, item);
    }
    *ret = list;
    return OK;
}

static Status check_map(Check *k, const AwsType *t, const Json *v, Str path, Json **ret, Error *err)
{
    Json *map = json_object(k->a);

    if (!json_is(v, JSON_OBJECT))
        return mistyped(path, "a map", err);
    check_length(k, t, v, json_len(v), path);
    for (size_t i = 0; i < v->object.n; i++) {
        Json *item = NULL;
        if (json_is(v->object.p[i].value, JSON_NULL))
            continue;
        TRY(check_value(k, t->item, v->object.p[i].value, step(k->a, path, v->object.p[i].key), &item, err));
        json_set_s(k->a, map, v->object.p[i].key, item);
    }
    *ret = map;
    return OK;
}

static Status check_members(Check *k, const AwsMembers *m, const Json *in, Str path, Json **ret, Error *err)
{
    Json *out = json_object(k->a);

    if (!json_is(in, JSON_OBJECT))
        return mistyped(path.n ? path : S("the input"), "a structure", err);
    for (size_t i = 0; i < m->n; i++) {
        const AwsMember *f = &m->p[i];
        const Json *v = json_get_s(in, f->name);
        Json *checked = NULL;
        if (!v || json_is(v, JSON_NULL)) {
            if (f->required)
                problem(k, NULL, step(k->a, path, f->name), S("Member must not be null"));
            continue;
        }
        TRY(check_value(k, f->type, v, step(k->a, path, f->name), &checked, err));
        json_set_s(k->a, out, f->name, checked);
    }
    *ret = out;
    return OK;
}

static Status check_struct(Check *k, const AwsType *t, const Json *v, Str path, Json **ret, Error *err)
{
    AwsMembers m = {0};

    for (size_t i = 0; i < k->service->nshapes; i++)
        if (str_eq(t->shape, str_c(k->service->shapes[i].name)))
            TRY(aws_fields(k->a, str_c(k->service->shapes[i].fields), &m, err));
    return check_members(k, &m, v, path, ret, err);
}

Json *aws_from_text(Arena *a, const AwsType *t, Str text)
{
    int64_t n;
    double d;

    if (t->kind == T_INT && str_to_i64(text, &n))
        return json_int(a, n);
    if (t->kind == T_REAL && str_to_f64(text, &d))
        return json_real(a, d);
    if (t->kind == T_BOOL && (str_ieq(text, S("true")) || str_ieq(text, S("false"))))
        return json_bool(a, str_ieq(text, S("true")));
    if (t->kind == T_TIME && str_to_f64(text, &d))
        return json_real(a, d);
    return json_str(a, text);
}

static Status check_value(Check *k, const AwsType *t, const Json *v, Str path, Json **ret, Error *err)
{
    Status s = OK;

    bool empty = k->texts && json_is(v, JSON_STRING) && !v->string.n;
    if (empty && (t->kind == T_LIST || t->kind == T_MAP))          /* "Tags=" is a form's empty list */
        v = t->kind == T_LIST ? json_array(k->a) : json_object(k->a);
    else if (k->texts && json_is(v, JSON_STRING))
        v = aws_from_text(k->a, t, v->string);
    *ret = (Json *)v;
    if (++k->depth > AWS_SHAPE_DEPTH)
        return AWS_FAIL(err, E_LIMIT, "SerializationException", "the input is nested more than %d levels deep", AWS_SHAPE_DEPTH);
    switch (t->kind) {
    case T_STR: case T_ENUM: case T_BLOB: s = check_string(k, t, v, path, err); break;
    case T_INT: s = check_int(k, t, v, path, ret, err); break;
    case T_REAL: s = json_is(v, JSON_REAL) || json_is(v, JSON_INT) ? OK : mistyped(path, "a number", err); break;
    case T_BOOL: s = json_is(v, JSON_BOOL) ? OK : mistyped(path, "true or false", err); break;
    case T_TIME: s = check_time(k, v, path, ret, err); break;
    case T_LIST: s = check_list(k, t, v, path, ret, err); break;
    case T_MAP: s = check_map(k, t, v, path, ret, err); break;
    case T_STRUCT: s = check_struct(k, t, v, path, ret, err); break;
    case T_ANY: break;
    }
    k->depth--;
    return s;
}

Status aws_check_input(Arena *a, const AwsService *s, const AwsMembers *m, const Json *in, int texts, Json **ret, Error *err)
{
    Check k = { .a = a, .service = s, .texts = texts };

    TRY(check_members(&k, m, in, (Str){0}, ret, err));
    if (!k.problems.n)
        return OK;
    Str all = str_join(a, &k.problems, S("; "));
    return AWS_FAIL(err, E_INVALID, s->validation ? s->validation : "ValidationException", "%zu validation error%s detected: " STR_FMT, k.problems.n, k.problems.n == 1 ? "" : "s", STR_ARG(all));
}

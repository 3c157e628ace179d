/* SPDX-License-Identifier: Apache-2.0 */
/* policy_parse.c - a policy's JSON into statements.
 *
 * Everything that is refused here is IAM's "Syntax errors in policy.": what does not parse, unknown elements, elements of the wrong type,
 * elements that exclude each other, unknown operators.  What is well formed but wrong is policy_check.c's. */
#include "access/policy_int.h"

static const struct { const char *name; ConditionOp op; int negated; } operators[] = {
    { "StringEquals", OP_STRING_EQUALS, 0 }, { "StringNotEquals", OP_STRING_EQUALS, 1 }, { "StringEqualsIgnoreCase", OP_STRING_EQUALS_NOCASE, 0 },
    { "StringNotEqualsIgnoreCase", OP_STRING_EQUALS_NOCASE, 1 }, { "StringLike", OP_STRING_LIKE, 0 }, { "StringNotLike", OP_STRING_LIKE, 1 },
    { "NumericEquals", OP_NUMERIC_EQUALS, 0 }, { "NumericNotEquals", OP_NUMERIC_EQUALS, 1 }, { "NumericLessThan", OP_NUMERIC_LT, 0 },
    { "NumericLessThanEquals", OP_NUMERIC_LE, 0 }, { "NumericGreaterThan", OP_NUMERIC_GT, 0 }, { "NumericGreaterThanEquals", OP_NUMERIC_GE, 0 },
    { "DateEquals", OP_DATE_EQUALS, 0 }, { "DateNotEquals", OP_DATE_EQUALS, 1 }, { "DateLessThan", OP_DATE_LT, 0 },
    { "DateLessThanEquals", OP_DATE_LE, 0 }, { "DateGreaterThan", OP_DATE_GT, 0 }, { "DateGreaterThanEquals", OP_DATE_GE, 0 },
    { "Bool", OP_BOOL, 0 }, { "BinaryEquals", OP_BINARY_EQUALS, 0 }, { "IpAddress", OP_IP_ADDRESS, 0 }, { "NotIpAddress", OP_IP_ADDRESS, 1 },
    { "ArnEquals", OP_ARN_EQUALS, 0 }, { "ArnNotEquals", OP_ARN_EQUALS, 1 }, { "ArnLike", OP_ARN_LIKE, 0 }, { "ArnNotLike", OP_ARN_LIKE, 1 },
    { "Null", OP_NULL, 0 },
};

bool policy_operator(Str name, Condition *ret)
{
    static const struct { const char *prefix; ConditionSet set; } sets[] = { { "ForAllValues:", SET_ALL }, { "ForAnyValue:", SET_ANY } };

    for (size_t i = 0; i < COUNT_OF(sets); i++)
        if (str_starts(name, str_c(sets[i].prefix))) {
            ret->set = sets[i].set;
            name = str_from(name, strlen(sets[i].prefix));
            break;
        }
    if (str_ends(name, S("IfExists"))) {
        ret->if_exists = 1;
        name = str_sub(name, 0, name.n - sizeof "IfExists" + 1);
    }
    for (size_t i = 0; i < COUNT_OF(operators); i++)
        if (str_eq(name, str_c(operators[i].name))) {
            ret->op = operators[i].op;
            ret->negated = operators[i].negated;
            return ret->op != OP_NULL || !ret->if_exists;
        }
    return false;
}

/* ---- values: a text or a list of texts ------------------------------------------------------------------------------------ */

static bool scalar(Arena *a, const Json *v, StrVec *ret)
{
    if (json_is(v, JSON_STRING))
        vec_push(a, ret, v->string);
    else if (json_is(v, JSON_BOOL) || json_is(v, JSON_INT) || json_is(v, JSON_REAL))
        vec_push(a, ret, json_text(a, v));
    else
        return false;
    return true;
}

typedef enum { TEXTS, TEXTS_OR_NULL, SCALARS } ValueKind;

static bool value_fits(const Json *v, ValueKind kind)
{
    return json_is(v, JSON_STRING) || (kind == SCALARS && !json_is(v, JSON_NULL));
}

static bool values(Arena *a, const Json *v, ValueKind kind, StrVec *ret)
{
    if (!json_is(v, JSON_ARRAY))
        return value_fits(v, kind) && scalar(a, v, ret);
    if (json_len(v) > POLICY_VALUES_MAX)
        return false;
    for (size_t i = 0; i < json_len(v); i++) {
        const Json *one = json_at(v, i);
        if (kind == TEXTS_OR_NULL && json_is(one, JSON_NULL))
            continue;
        if (!value_fits(one, kind) || !scalar(a, one, ret))
            return false;
    }
    return true;
}

/* ---- elements ------------------------------------------------------------------------------------------------------------- */

static bool read_operator(Arena *a, Statement *st, Str name, const Json *keys)
{
    if (!json_is(keys, JSON_OBJECT))
        return false;
    for (size_t i = 0; i < json_len(keys); i++) {
        Condition c = { .key = keys->object.p[i].key };
        if (!policy_operator(name, &c) || !values(a, keys->object.p[i].value, SCALARS, &c.values))
            return false;
        vec_push(a, &st->conditions, c);
    }
    return st->conditions.n <= POLICY_VALUES_MAX;
}

static bool read_conditions(Arena *a, Statement *st, const Json *v)
{
    if (!json_is(v, JSON_OBJECT))
        return false;
    for (size_t i = 0; i < json_len(v); i++)
        if (!read_operator(a, st, v->object.p[i].key, v->object.p[i].value))
            return false;
    return true;
}

static bool known_type(Str t)
{
    return str_eq(t, S("AWS")) || str_eq(t, S("Service")) || str_eq(t, S("Federated")) || str_eq(t, S("CanonicalUser"));
}

static bool read_principals(Arena *a, Statement *st, const Json *v)
{
    if (json_is(v, JSON_STRING)) {
        vec_push(a, &st->principals, ((PolicyPrincipal){ S("AWS"), v->string }));
        return str_eq(v->string, S("*"));
    }
    if (!json_is(v, JSON_OBJECT))
        return false;
    for (size_t i = 0; i < json_len(v); i++) {
        StrVec names = {0};
        Str type = v->object.p[i].key;
        if (!known_type(type) || !values(a, v->object.p[i].value, TEXTS, &names))
            return false;
        for vec_each(Str, n, &names)
            vec_push(a, &st->principals, ((PolicyPrincipal){ type, *n }));
    }
    return st->principals.n <= POLICY_VALUES_MAX;
}

static bool once(int *has, int *negated, bool is_not)
{
    if (*has)
        return false;
    *has = 1;
    *negated = is_not;
    return true;
}

static bool read_element(Arena *a, Statement *st, Str name, const Json *v)
{
    bool is_not = str_starts(name, S("Not"));
    Str base = is_not ? str_from(name, 3) : name;

    if (str_eq(base, S("Action")))
        return once(&st->has_actions, &st->not_action, is_not) && values(a, v, TEXTS, &st->actions);
    if (str_eq(base, S("Resource")))
        return once(&st->has_resources, &st->not_resource, is_not) && values(a, v, TEXTS_OR_NULL, &st->resources);
    if (str_eq(base, S("Principal")))
        return once(&st->has_principals, &st->not_principal, is_not) && read_principals(a, st, v);
    if (str_eq(name, S("Condition")))
        return read_conditions(a, st, v);
    if (!json_is(v, JSON_STRING))
        return false;
    if (str_eq(name, S("Sid")))
        st->sid = v->string;
    else if (str_eq(name, S("Effect")))
        st->effect = v->string;
    else
        return false;
    return true;
}

static bool read_statement(Arena *a, Policy *p, const Json *v)
{
    Statement st = {0};

    if (!json_is(v, JSON_OBJECT) || p->statements.n >= POLICY_STATEMENTS_MAX)
        return false;
    for (size_t i = 0; i < json_len(v); i++)
        if (!read_element(a, &st, v->object.p[i].key, v->object.p[i].value))
            return false;
    st.deny = str_ieq(st.effect, S("Deny"));
    if (!st.deny && !str_ieq(st.effect, S("Allow")))
        return false;
    vec_push(a, &p->statements, st);
    return true;
}

static bool read_statements(Arena *a, Policy *p, const Json *v)
{
    if (json_is(v, JSON_OBJECT))
        return read_statement(a, p, v);
    if (!json_is(v, JSON_ARRAY) || json_len(v) == 0)
        return false;
    for (size_t i = 0; i < json_len(v); i++)
        if (!read_statement(a, p, json_at(v, i)))
            return false;
    return true;
}

static bool read_top(Arena *a, Policy *p, const Json *doc)
{
    bool statements = false;
    for (size_t i = 0; i < json_len(doc); i++) {
        Str key = doc->object.p[i].key;
        const Json *v = doc->object.p[i].value;
        if (str_eq(key, S("Statement")))
            statements = read_statements(a, p, v);
        else if (!json_is(v, JSON_STRING))
            return false;
        else if (str_eq(key, S("Version")))
            p->version = v->string;
        else if (!str_eq(key, S("Id")))
            return false;
    }
    return statements;
}

bool policy_read(Arena *a, Str text, Policy *ret)
{
    Json *doc = NULL;
    Error ignored;

    if (json_parse(a, text, &doc, &ignored) != OK || !json_is(doc, JSON_OBJECT) || !read_top(a, ret, doc))
        return false;
    ret->variables = str_eq(ret->version, S("2012-10-17"));
    return ret->variables || ret->version.n == 0 || str_eq(ret->version, S("2008-10-17"));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* iam_simulator.c - SimulatePrincipalPolicy, SimulateCustomPolicy and the context keys of policies: what would be decided, and by which statement. */
#include "door/iam/iam_door_int.h"

enum { ANSWERS_MAX = 1000 };

static void add_given(AwsCall *c, const char *field, StrVec *texts, StrVec *ids, const char *prefix)
{
    const Json *l = aws_get(c, field);
    for (size_t i = 0; i < json_len(l); i++) {
        vec_push(c->a, texts, json_at(l, i)->string);
        if (ids)
            vec_push(c->a, ids, str_fmt(c->a, "%s.%zu", prefix, i + 1));
    }
}

/* user/…, role/…, group/… of this account. */
static Status source_of(AwsCall *c, IamKind *kind, Str *name, Error *err)
{
    static const IamKind kinds[] = { IAM_USER, IAM_ROLE, IAM_GROUP };
    Str arn = aws_str(c, "PolicySourceArn");

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        Str prefix = str_fmt(c->a, "arn:aws:iam::" STR_FMT ":%s/", STR_ARG(door_account(c)), door_entities[kinds[i]].arn);
        if (str_starts(arn, prefix)) {
            *kind = kinds[i];
            *name = str_from(arn, (size_t)str_rchr(arn, '/') + 1);
            return OK;
        }
    }
    return AWS_FAIL(err, E_INVALID, "InvalidInput", "Invalid Entity Arn: " STR_FMT " does not clearly define entity type and name.", STR_ARG(arn));
}

static void add_context(AwsCall *c, Props *ret)
{
    const Json *entries = aws_get(c, "ContextEntries");
    for (size_t i = 0; i < json_len(entries); i++) {
        const Json *e = json_at(entries, i), *values = json_get(e, "ContextKeyValues");
        for (size_t k = 0; k < json_len(values); k++)
            vec_push(c->a, ret, ((KeyValue){ json_get_str(e, "ContextKeyName", (Str){0}), json_at(values, k)->string }));
    }
}

static const char *decision_name(const IamDecision *d) { return d->allowed ? "allowed" : d->explicit_deny ? "explicitDeny" : "implicitDeny"; }

static Str text_of(const IamSimulation *q, const IamDecision *d)
{
    for (size_t i = 0; i < q->identity_ids.n; i++)
        if (str_eq(q->identity_ids.p[i], d->policy))
            return q->identity.p[i];
    return strcmp(d->by, "resource-based policy") == 0 ? q->ask.resource_policy : (Str){0};
}

/* Lines count from 1, columns from 0. */
static void put_position(AwsCall *c, Json *to, const char *name, Str text, size_t at)
{
    int64_t line = 1, column = 0;
    Json *o = json_object(c->a);

    for (size_t i = 0; i < at; i++) {
        column = text.p[i] == '\n' ? 0 : column + 1;
        line += text.p[i] == '\n';
    }
    json_set(c->a, o, "Line", json_int(c->a, line));
    json_set(c->a, o, "Column", json_int(c->a, column));
    json_set(c->a, to, name, o);
}

static Json *matched(AwsCall *c, const IamSimulation *q, const IamDecision *d)
{
    size_t from, to;
    Str text = d->by ? text_of(q, d) : (Str){0};
    Json *l = json_array(c->a), *o = json_object(c->a);
    if (!d->allowed && !d->explicit_deny)
        return l;
    json_set(c->a, o, "SourcePolicyId", json_str(c->a, d->policy));
    json_set(c->a, o, "SourcePolicyType", json_str(c->a, strcmp(d->by, "resource-based policy") == 0 ? S("Resource") : S("IAM Policy")));
    if (policy_place(text, d->statement, &from, &to)) {
        put_position(c, o, "StartPosition", text, from);
        put_position(c, o, "EndPosition", text, to);
    }
    json_push(c->a, l, o);
    return l;
}

static Json *answer(AwsCall *c, const IamSimulation *q, const IamDecision *d, const StrVec *missing)
{
    Json *o = json_object(c->a), *keys = json_array(c->a);

    json_set(c->a, o, "EvalActionName", json_str(c->a, str_c(q->ask.action)));
    json_set(c->a, o, "EvalResourceName", json_str(c->a, q->ask.resource));
    json_set(c->a, o, "EvalDecision", json_str(c->a, str_c(decision_name(d))));
    json_set(c->a, o, "MatchedStatements", matched(c, q, d));
    for vec_each(Str, k, missing)
        json_push(c->a, keys, json_str(c->a, *k));
    json_set(c->a, o, "MissingContextValues", keys);
    if (q->boundary.n) {
        Json *b = json_object(c->a);
        json_set(c->a, b, "AllowedByPermissionsBoundary", json_bool(c->a, d->allowed || strcmp(d->by, "permissions boundary") != 0));
        json_set(c->a, o, "PermissionsBoundaryDecisionDetail", b);
    }
    return o;
}

static Status simulate(AwsCall *c, IamSimulation *q, Error *err)
{
    const Json *actions = aws_get(c, "ActionNames"), *resources = aws_get(c, "ResourceArns");
    size_t nresources = json_len(resources) ? json_len(resources) : 1;
    Json *items = json_array(c->a);
    Props context = {0};

    if (json_len(actions) * nresources > ANSWERS_MAX)
        return AWS_FAIL(err, E_LIMIT, "InvalidInput", "at most %d pairs of action and resource are simulated", ANSWERS_MAX);
    add_context(c, &context);
    add_given(c, "PermissionsBoundaryPolicyInputList", &q->boundary, NULL, "");
    q->ask.context = &context;
    q->ask.resource_policy = aws_str(c, "ResourcePolicy");
    for (size_t i = 0; i < json_len(actions); i++)
        for (size_t k = 0; k < nresources; k++) {
            IamDecision d;
            StrVec missing = {0};
            q->ask.action = str_z(c->a, json_at(actions, i)->string);
            q->ask.resource = json_len(resources) ? json_at(resources, k)->string : S("*");
            if (!strchr(q->ask.action, ':'))
                return AWS_FAIL(err, E_INVALID, "InvalidInput", "Invalid action name: %s", q->ask.action);
            TRY(iam_simulate(c->access, c->a, q, &d, &missing, err));
            json_push(c->a, items, answer(c, q, &d, &missing));
        }
    return door_page(c, "EvaluationResults", items, err);
}

IAM_OP(SimulateCustomPolicy)
{
    IamSimulation q = { .caller = aws_str(c, "CallerArn") };

    TRY(door_allow(c, S("*"), err));
    add_given(c, "PolicyInputList", &q.identity, &q.identity_ids, "PolicyInputList");
    return simulate(c, &q, err);
}

IAM_OP(SimulatePrincipalPolicy)
{
    IamSimulation q = { .caller = aws_has(c, "CallerArn") ? aws_str(c, "CallerArn") : aws_str(c, "PolicySourceArn") };
    Str name, boundary;
    IamKind kind;

    TRY(door_allow(c, aws_str(c, "PolicySourceArn"), err));
    TRY(source_of(c, &kind, &name, err));
    TRY(iam_policies_of(c->access, c->a, kind, name, &q.identity, &q.identity_ids, &boundary, err));
    add_given(c, "PolicyInputList", &q.identity, &q.identity_ids, "PolicyInputList");
    if (boundary.n && !aws_has(c, "PermissionsBoundaryPolicyInputList"))
        vec_push(c->a, &q.boundary, boundary);
    return simulate(c, &q, err);
}

static Status keys_of(AwsCall *c, const StrVec *texts, Error *err)
{
    StrVec keys = {0};
    Json *l = json_array(c->a);

    for vec_each(Str, t, texts) {
        Policy *p;
        TRY(policy_parse(c->a, *t, POLICY_IDENTITY, &p, err));
        policy_context_keys(c->a, p, &keys);
    }
    for (size_t i = 0; i < keys.n; i++)
        if (!door_holds(l, keys.p[i]))
            json_push(c->a, l, json_str(c->a, keys.p[i]));
    aws_put(c, "ContextKeyNames", l);
    return OK;
}

IAM_OP(GetContextKeysForCustomPolicy)
{
    StrVec texts = {0};

    TRY(door_allow(c, S("*"), err));
    add_given(c, "PolicyInputList", &texts, NULL, "");
    return keys_of(c, &texts, err);
}

IAM_OP(GetContextKeysForPrincipalPolicy)
{
    StrVec texts = {0}, names = {0};
    Str name, boundary;
    IamKind kind;

    TRY(door_allow(c, aws_str(c, "PolicySourceArn"), err));
    TRY(source_of(c, &kind, &name, err));
    TRY(iam_policies_of(c->access, c->a, kind, name, &texts, &names, &boundary, err));
    add_given(c, "PolicyInputList", &texts, NULL, "");
    return keys_of(c, &texts, err);
}

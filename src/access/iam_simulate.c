/* SPDX-License-Identifier: Apache-2.0 */
/* iam_simulate.c - what given policies would answer, for SimulatePrincipalPolicy and SimulateCustomPolicy; and which policies an entity has. */
#include "access/iam_int.h"

typedef struct Simulate { Arena *a; const IamSimulation *q; PolicyAsk ask; IamDecision *d; StrVec keys; } Simulate;

static void decided(Simulate *s, int allowed, const char *by, Str policy, const PolicyMatch *m)
{
    *s->d = (IamDecision){ .allowed = allowed, .explicit_deny = !allowed, .by = by, .policy = policy, .sid = m->sid, .statement = m->statement };
}

static Status ask_one(Simulate *s, Str text, PolicyKind kind, PolicyAnswer *ret, PolicyMatch *m, Error *err)
{
    Policy *p;
    TRY(policy_parse(s->a, text, kind, &p, err));
    policy_context_keys(s->a, p, &s->keys);
    *ret = policy_decide(p, &s->ask, m);
    return OK;
}

/* All are read, for their keys. */
static Status ask_all(Simulate *s, const StrVec *texts, const StrVec *ids, const char *by, int *allow, int *deny, Error *err)
{
    for (size_t i = 0; i < texts->n; i++) {
        PolicyAnswer answer;
        PolicyMatch m;
        Str id = ids && i < ids->n ? ids->p[i] : str_fmt(s->a, "PolicyInputList.%zu", i + 1);
        TRY(ask_one(s, texts->p[i], POLICY_IDENTITY, &answer, &m, err));
        if (answer == POLICY_DENY && !*deny)
            decided(s, 0, by, id, &m);
        else if (answer == POLICY_ALLOW && !*allow && !s->d->by)
            decided(s, 1, by, id, &m);
        *deny |= answer == POLICY_DENY;
        *allow |= answer == POLICY_ALLOW;
    }
    return OK;
}

static Status ask_resource(Simulate *s, int *allow, int *deny, Error *err)
{
    PolicyAnswer answer;
    PolicyMatch m;

    if (!s->q->ask.resource_policy.n)
        return OK;
    TRY(ask_one(s, s->q->ask.resource_policy, POLICY_RESOURCE, &answer, &m, err));
    if (answer == POLICY_DENY)
        decided(s, 0, "resource-based policy", S("ResourcePolicy"), &m);
    else if (answer == POLICY_ALLOW && m.named != NAMED_ACCOUNT && !s->d->by)
        decided(s, 1, "resource-based policy", S("ResourcePolicy"), &m);
    *deny |= answer == POLICY_DENY;
    *allow |= answer == POLICY_ALLOW && m.named != NAMED_ACCOUNT;
    return OK;
}

static bool given(const Props *context, Str key)
{
    for (size_t i = 0; context && i < context->n; i++)
        if (str_ieq(context->p[i].key, key))
            return true;
    return false;
}

Status iam_simulate(Access *x, Arena *a, const IamSimulation *q, IamDecision *ret, StrVec *missing, Error *err)
{
    Simulate s = { .a = a, .q = q, .d = ret };
    int identity = 0, boundary = q->boundary.n == 0, resource = 0, deny = 0;

    *ret = (IamDecision){0};
    s.ask = (PolicyAsk){ .action = str_c(q->ask.action), .resource = q->ask.resource, .principal = q->caller, .account = cat_account(x->catalog), .context = q->ask.context };
    TRY(ask_all(&s, &q->identity, &q->identity_ids, "identity-based policy", &identity, &deny, err));
    TRY(ask_all(&s, &q->boundary, NULL, "permissions boundary", &boundary, &deny, err));
    TRY(ask_resource(&s, &resource, &deny, err));
    if (!deny && !resource && !(identity && boundary))
        *ret = (IamDecision){ .by = identity ? "permissions boundary" : "identity-based policy" };
    for vec_each(Str, k, &s.keys)
        if (!given(q->ask.context, *k))
            vec_push(a, missing, *k);
    return OK;
}

/* ---- the policies of an entity ----------------------------------------------------------------------------------------------- */

static Status add_all(Access *x, Arena *a, const Json *record, StrVec *texts, StrVec *names, Error *err)
{
    const Json *inline_ = json_get(record, "Inline"), *attached = json_get(record, "Attached");

    for (size_t i = 0; i < json_len(inline_); i++) {
        vec_push(a, texts, inline_->object.p[i].value->string);
        vec_push(a, names, inline_->object.p[i].key);
    }
    for (size_t i = 0; i < json_len(attached); i++) {
        Str text;
        Status s = iam_policy_text(x, a, json_at(attached, i)->string, &text, err);
        if (s == E_NOT_FOUND)
            continue;
        TRY(s);
        vec_push(a, texts, text);
        vec_push(a, names, iam_name_of(json_at(attached, i)->string));
    }
    return OK;
}

Status iam_policies_of(Access *x, Arena *a, IamKind kind, Str name, StrVec *texts, StrVec *names, Str *boundary, Error *err)
{
    Json *record, *group;

    TRY(iam_get(x, a, kind, name, &record, err));
    TRY(add_all(x, a, record, texts, names, err));
    const Json *groups = json_get(record, "Groups");
    for (size_t i = 0; i < json_len(groups); i++)
        if (iam_get(x, a, IAM_GROUP, json_at(groups, i)->string, &group, err) == OK)
            TRY(add_all(x, a, group, texts, names, err));
    Str arn = json_get_str(record, "PermissionsBoundary", (Str){0});
    *boundary = (Str){0};
    return arn.n ? iam_policy_text(x, a, arn, boundary, err) : OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c - a parsed policy, asked.
 *
 * Every statement is looked at: a deny ends it, of the allows the one that names the caller most closely is kept (who is named decides in iam_decide.c
 * what else must agree).  Invariant: an element that cannot be judged (an unknown variable) makes its statement not match. */
#include "access/policy_int.h"

Status policy_parse(Arena *a, Str text, PolicyKind kind, Policy **ret, Error *err)
{
    Policy *p = arena_new(a, Policy);

    p->kind = kind;
    if (text.n > POLICY_BYTES_MAX)
        return policy_malformed(err, "The policy is %zu bytes, the limit is %d", text.n, POLICY_BYTES_MAX);
    if (!policy_read(a, text, p))
        return policy_malformed(err, "Syntax errors in policy.");
    TRY(policy_check(a, p, err));
    *ret = p;
    return OK;
}

/* ---- who is named ------------------------------------------------------------------------------------------------------- */

static bool is_account(Str value, Str account)
{
    Str rest;
    if (account.n == 0)
        return false;
    if (str_eq(value, account))
        return true;
    if (!str_starts(value, S("arn:aws:iam::")))
        return false;
    rest = str_from(value, sizeof "arn:aws:iam::" - 1);
    return str_starts(rest, account) && str_eq(str_from(rest, account.n), S(":root"));
}

static PolicyNamed named_by(const PolicyPrincipal *w, const PolicyAsk *ask)
{
    bool service = str_eq(w->type, S("Service"));

    if (str_eq(w->value, S("*")))
        return NAMED_ANYBODY;
    if (str_eq(w->value, ask->principal))
        return service == str_ends(ask->principal, S(".amazonaws.com")) ? NAMED_ITSELF : NAMED_NOT;
    if (service || !str_eq(w->type, S("AWS")))
        return NAMED_NOT;
    if (ask->principal_role.n && str_eq(w->value, ask->principal_role))
        return NAMED_ROLE;
    return is_account(w->value, ask->account) ? NAMED_ACCOUNT : NAMED_NOT;
}

static PolicyNamed named(const Statement *st, const PolicyAsk *ask)
{
    PolicyNamed best = NAMED_NOT;
    for vec_each(PolicyPrincipal, w, &st->principals) {
        PolicyNamed n = named_by(w, ask);
        best = n > best ? n : best;
    }
    if (!st->not_principal)
        return best;
    return best == NAMED_NOT ? NAMED_ANYBODY : NAMED_NOT;
}

void policy_principals(Arena *a, const Policy *p, StrVec *ret)
{
    for vec_each(Statement, st, &p->statements)
        for vec_each(PolicyPrincipal, w, &st->principals)
            if (str_eq(w->type, S("AWS")) && !strvec_has(ret, w->value))
                vec_push(a, ret, w->value);
}

void policy_rename_principal(Policy *p, Str from, Str to)
{
    for vec_each(Statement, st, &p->statements)
        for vec_each(PolicyPrincipal, w, &st->principals)
            if (str_eq(w->type, S("AWS")) && str_eq(w->value, from))
                w->value = to;
}

/* ---- does a statement speak of it ------------------------------------------------------------------------------------------ */

static bool action_fits(const Statement *st, Str action)
{
    bool hit = false;
    for (size_t i = 0; i < st->actions.n && !hit; i++)
        hit = policy_match_nocase(action, st->actions.p[i]);
    return hit != (st->not_action != 0);
}

static bool resource_fits(Eval *e, const Statement *st)
{
    Str resource = e->ask->resource.n ? e->ask->resource : S("*");
    bool hit = false;

    if (!st->has_resources)
        return true;
    for (size_t i = 0; i < st->resources.n && !hit; i++)
        hit = policy_match(e, resource, st->resources.p[i]);
    return hit != (st->not_resource != 0);
}

static bool conditions_hold(Eval *e, const Statement *st)
{
    for vec_each(Condition, c, &st->conditions)
        if (!policy_condition(e, c))
            return false;
    return true;
}

static PolicyNamed speaks(Eval *e, const Policy *p, const Statement *st)
{
    bool by_name = p->kind == POLICY_RESOURCE || p->kind == POLICY_TRUST;
    PolicyNamed who = by_name ? named(st, e->ask) : NAMED_ITSELF;

    if (who == NAMED_NOT || !action_fits(st, e->ask->action) || !resource_fits(e, st) || !conditions_hold(e, st))
        return NAMED_NOT;
    return who;
}

PolicyAnswer policy_decide(const Policy *p, const PolicyAsk *ask, PolicyMatch *match)
{
    CLEANUP(arena_destroyp) Arena *a = NULL;
    Eval e = { .ask = ask, .variables = p->variables };
    PolicyAnswer answer = POLICY_SILENT;

    *match = (PolicyMatch){ .statement = -1 };
    for (size_t i = 0; i < p->statements.n && answer != POLICY_DENY; i++) {
        const Statement *st = &p->statements.p[i];
        PolicyNamed who = speaks(&e, p, st);
        if (who == NAMED_NOT || (!st->deny && who <= match->named))
            continue;
        *match = (PolicyMatch){ .sid = st->sid, .statement = (int)i, .named = who };
        answer = st->deny ? POLICY_DENY : POLICY_ALLOW;
    }
    a = e.a;
    return answer;
}

/* ---- keys ---------------------------------------------------------------------------------------------------------------------- */

static void add_key(Arena *a, StrVec *ret, Str key)
{
    for vec_each(Str, k, ret)
        if (str_ieq(*k, key))
            return;
    vec_push(a, ret, key);
}

static void add_variables(Arena *a, StrVec *ret, Str text)
{
    Str inside, rest;
    for (ptrdiff_t at; (at = str_find(text, S("${"))) >= 0; text = rest) {
        if (!str_cut(str_from(text, (size_t)at + 2), '}', &inside, &rest))
            return;
        str_cut(inside, ',', &inside, &(Str){0});
        inside = str_trim(inside);
        if (inside.n > 1)
            add_key(a, ret, inside);
    }
}

void policy_context_keys(Arena *a, const Policy *p, StrVec *ret)
{
    for vec_each(Statement, st, &p->statements) {
        for vec_each(Condition, c, &st->conditions) {
            add_key(a, ret, c->key);
            for (size_t i = 0; p->variables && i < c->values.n; i++)
                add_variables(a, ret, c->values.p[i]);
        }
        for (size_t i = 0; p->variables && i < st->resources.n; i++)
            add_variables(a, ret, st->resources.p[i]);
    }
}

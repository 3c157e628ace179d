/* SPDX-License-Identifier: Apache-2.0 */
/* iam_decide.c - one question for IAM (IAM User Guide, "Policy evaluation logic", one account).
 *
 * An explicit deny anywhere decides.  Then a resource policy that names the caller itself is enough; one that names its role or everybody needs the boundary and
 * the session policies to agree; one that names the account hands the question to the identity policies.  Else identity, boundary and session policies
 * must all allow.  Root is not asked, but for a resource policy's explicit deny, and may always take that policy away.
 * Invariant: a session is judged by its role as it is now. */
#include "access/iam_int.h"

typedef struct Decide {
    Access *x;
    Arena *a;
    const Principal *p;
    Entity *e;                         /* NULL: root stands behind */
    PolicyAsk ask;
    Str resource_policies[2];
    Props context;
    IamDecision d;
} Decide;

/* ---- who stands behind ---------------------------------------------------------------------------------------------------- */

bool iam_session_over(const Principal *p, const Entity *e, const char **why)
{
    int64_t expires = json_get_int(p->session, "expires_ms", 0);

    if (expires > 0 && expires <= clock_ms())
        *why = "the session has expired";
    else if (e && !e->exists)
        *why = p->kind == PR_ROLE ? "the role of this session no longer exists" : "the user no longer exists";
    else if (e && p->kind == PR_ROLE && !str_eq(json_get_str(p->session, "role_id", (Str){0}), e->id))
        *why = "the role of this session no longer exists";
    else
        return false;
    return true;
}

static Status find_entity(Decide *d, Error *err)
{
    Str issuer = json_get_str(d->p->session, "issuer", (Str){0});

    if (d->p->kind == PR_ROLE)
        return iam_entity(d->x, IAM_ROLE, iam_name_of(d->p->role_arn), &d->e, err);
    if (d->p->kind == PR_ROOT || (issuer.n && str_ends(issuer, S(":root"))))
        return OK;
    return iam_entity(d->x, IAM_USER, iam_name_of(issuer.n ? issuer : d->p->arn), &d->e, err);
}

/* A key that was made inactive ends what was opened with it. */
static Status over(Decide *d, bool *ret, const char **why, Error *err)
{
    bool active = true;

    *ret = iam_session_over(d->p, d->e, why);
    if (*ret || d->p->kind != PR_USER || !str_starts(d->p->key_id, S("AKIA")))
        return OK;
    TRY(iam_key_is_active(d->x, d->p->key_id, &active, err));
    *ret = !active;
    *why = "the access key is not active";
    return OK;
}

/* ---- policies, one after the other ------------------------------------------------------------------------------------------- */

static void decided(Decide *d, int allowed, const char *by, Str policy, const PolicyMatch *m)
{
    d->d = (IamDecision){ .allowed = allowed, .explicit_deny = !allowed, .by = by, .policy = str_dup(d->a, policy), .sid = str_dup(d->a, m->sid), .statement = m->statement };
}

/* true: an explicit deny, and d->d says which. *allow: some policy allows; d->d says which when `by` is told. */
static bool denied_by(Decide *d, const NamedPolicies *of, const char *by, bool *allow)
{
    PolicyMatch m;
    for vec_each(NamedPolicy, n, of) {
        PolicyAnswer answer = n->policy ? policy_decide(n->policy, &d->ask, &m) : POLICY_SILENT;
        if (answer == POLICY_DENY) {
            decided(d, 0, by, n->name, &m);
            return true;
        }
        if (answer == POLICY_ALLOW && !*allow) {
            *allow = true;
            if (!d->d.by)
                decided(d, 1, by, n->name, &m);
        }
    }
    return false;
}

static Status session_policies(Decide *d, NamedPolicies *ret, Error *err)
{
    Str text = json_get_str(d->p->session, "policy", (Str){0});
    const Json *arns = json_get(d->p->session, "policy_arns");
    NamedPolicy n = { .name = S("session") };

    if (text.n) {
        TRY(iam_text_policy(d->x, text, POLICY_SESSION, &n.policy, err));
        vec_push(d->a, ret, n);
    }
    for (size_t i = 0; i < json_len(arns); i++) {
        n.name = json_at(arns, i)->string;
        TRY(iam_managed_policy(d->x, n.name, &n.policy, err));
        vec_push(d->a, ret, n);
    }
    return OK;
}

/* The strongest naming by a resource policy that allows; *deny: an explicit deny. */
static void resource_policies(Decide *d, PolicyNamed *named, bool *deny)
{
    for (size_t i = 0; i < COUNT_OF(d->resource_policies); i++) {
        PolicyMatch m = {0};
        Error ignored;
        Policy *p;
        if (!d->resource_policies[i].n)
            continue;
        PolicyAnswer answer = POLICY_DENY;                     /* a policy that does not parse denies all, until it is replaced */
        if (iam_text_policy(d->x, d->resource_policies[i], POLICY_RESOURCE, &p, &ignored) == OK)
            answer = policy_decide(p, &d->ask, &m);
        if (answer == POLICY_DENY) {
            decided(d, 0, "resource-based policy", S("resource"), &m);
            *deny = true;
            return;
        }
        if (answer == POLICY_ALLOW && m.named > *named)
            *named = m.named;
    }
}

/* ---- the whole -------------------------------------------------------------------------------------------------------------------- */

static bool removes_policy(Str action)
{
    static const char *const names[] = { "s3:DeleteBucketPolicy", "s3:PutBucketPolicy", "s3:GetBucketPolicy", "s3tables:DeleteTablePolicy", "s3tables:PutTablePolicy", "s3tables:GetTablePolicy",
                                         "s3tables:DeleteTableBucketPolicy", "s3tables:PutTableBucketPolicy", "s3tables:GetTableBucketPolicy", "glue:DeleteResourcePolicy", "glue:PutResourcePolicy" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_ieq(action, str_c(names[i])))
            return true;
    return false;
}

static void silent(Decide *d, const char *by) { d->d = (IamDecision){ .by = by }; }

static Status decide_root(Decide *d, bool denied)
{
    if (!denied || removes_policy(d->ask.action))
        d->d = (IamDecision){ .allowed = 1, .by = "account root" };
    return OK;
}

static void conclude(Decide *d, PolicyNamed named, bool identity, bool boundary, bool session)
{
    bool limits = boundary && session;

    if (named == NAMED_ITSELF || ((named == NAMED_ROLE || named == NAMED_ANYBODY) && limits))
        d->d = (IamDecision){ .allowed = 1, .by = "resource-based policy", .policy = S("resource") };
    else if (!identity)
        silent(d, "identity-based policy");
    else if (!boundary)
        silent(d, "permissions boundary");
    else if (!session)
        silent(d, "session policy");
    d->d.within_limits = limits;
}

static Status decide(Decide *d, Error *err)
{
    NamedPolicies session = {0};
    PolicyNamed named = NAMED_NOT;
    bool deny = false, identity = !d->e, boundary = !d->e || d->e->boundary.n == 0;

    if (d->e && denied_by(d, &d->e->identity, "identity-based policy", &identity))
        return OK;
    IamDecision allowed = d->d;
    if (d->e && denied_by(d, &d->e->boundary, "permissions boundary", &boundary))
        return OK;
    TRY(session_policies(d, &session, err));
    bool in_session = session.n == 0;
    if (denied_by(d, &session, "session policy", &in_session))
        return OK;
    resource_policies(d, &named, &deny);
    if (d->p->kind == PR_ROOT && in_session)
        return decide_root(d, deny);
    if (deny)
        return OK;
    d->d = d->e ? allowed : (IamDecision){ .allowed = 1, .by = "account root" };
    conclude(d, named, identity, boundary, in_session);
    return OK;
}

static bool token_forbids(const Principal *p, Str action)
{
    return str_eq(json_get_str(p->session, "kind", (Str){0}), S("token")) && str_starts(action, S("iam:"));
}

static Status under_lock(Decide *d, const IamAsk *ask, Error *err)
{
    const char *why;
    bool is_over;

    TRY(find_entity(d, err));
    TRY(over(d, &is_over, &why, err));
    if (is_over) {
        d->d = (IamDecision){ .by = why };
        return OK;
    }
    if (token_forbids(d->p, d->ask.action)) {
        d->d = (IamDecision){ .by = "a session of GetSessionToken without MFA cannot call IAM" };
        return OK;
    }
    d->context = iam_context(d->x, d->a, d->p, d->e, ask);
    d->ask.context = &d->context;
    return decide(d, err);
}

Status iam_decide(Access *x, Arena *a, const Principal *p, const IamAsk *ask, IamDecision *ret, Error *err)
{
    Decide d = { .x = x, .a = a, .p = p, .resource_policies = { ask->resource_policy, ask->resource_policy_2 },
                 .ask = { .action = str_c(ask->action), .resource = ask->resource, .principal = p->arn, .principal_role = p->role_arn, .account = cat_account(x->catalog) } };

    if (p->kind == PR_SYSTEM || (p->kind == PR_ROOT && !p->session && !ask->resource_policy.n && !ask->resource_policy_2.n)) {
        *ret = (IamDecision){ .allowed = 1, .by = p->kind == PR_ROOT ? "account root" : "system" };
        return OK;
    }
    pthread_mutex_lock(&x->iam->lock);
    Status s = under_lock(&d, ask, err);
    pthread_mutex_unlock(&x->iam->lock);
    *ret = d.d;
    return s;
}

/* ---- as a refusal -------------------------------------------------------------------------------------------------------------------- */

static bool has_resource(const IamAsk *ask)
{
    return ask->resource.n && !str_eq(ask->resource, S("*"));
}

/* AWS names no resource when a refresh run is refused (spec/glue.md 2.9 E16). */
static bool without_resource(const IamAsk *ask) { return strstr(ask->action, "MaterializedViewRefreshTaskRun") != NULL; }

static bool is_policy(const char *by) { return strstr(by, "policy") || strcmp(by, "permissions boundary") == 0; }

static const char *article(const char *by) { return by[0] == 'i' ? "an" : "a"; }

static void add_reason(StrBuf *b, const IamAsk *ask, const IamDecision *d)
{
    if (!is_policy(d->by)) {
        sb_fmt(b, " because %s", d->by);
    } else if (!d->explicit_deny) {
        sb_fmt(b, " because no %s allows the %s action", d->by, ask->action);
    } else {
        sb_fmt(b, " with an explicit deny in %s %s", article(d->by), d->by);
        if (d->sid.n || d->policy.n)
            sb_fmt(b, " (policy " STR_FMT ", statement " STR_FMT ")", STR_ARG(d->policy), STR_ARG(d->sid.n ? d->sid : S("without a Sid")));
    }
}

static Status refuse(Arena *a, const Principal *p, const IamAsk *ask, const IamDecision *d, Error *err)
{
    StrBuf b = sb_new(a);

    sb_fmt(&b, "User: " STR_FMT " is not authorized to perform: %s", STR_ARG(p->arn), ask->action);
    if (has_resource(ask) && !without_resource(ask))
        sb_fmt(&b, " on resource: " STR_FMT, STR_ARG(ask->resource));
    add_reason(&b, ask, d);
    if (has_resource(ask) && without_resource(ask))
        sb_fmt(&b, " (on resource " STR_FMT ")", STR_ARG(ask->resource));
    return FAIL(err, E_DENIED, STR_FMT, STR_ARG(sb_str(&b)));
}

static void log_denial(Arena *a, const Principal *p, const IamAsk *ask, const IamDecision *d)
{
    log_event(LOG_INFO, "access denied", "principal", str_z(a, p->arn), "action", ask->action, "resource", str_z(a, ask->resource.n ? ask->resource : S("*")),
              "how", d->explicit_deny ? "explicit deny" : "not allowed", "by", d->by, "policy", str_z(a, d->policy), "statement", str_z(a, d->sid), NULL);
}

static Status allowed(Access *x, Arena *a, const Principal *p, const IamAsk *ask, bool quiet, Error *err)
{
    IamDecision d = {0};

    TRY(iam_decide(x, a, p, ask, &d, err));
    if (d.allowed)
        return OK;
    if (!quiet)
        log_denial(a, p, ask, &d);
    return refuse(a, p, ask, &d, err);
}

Status iam_allowed(Access *x, Arena *a, const Principal *p, const IamAsk *ask, Error *err) { return allowed(x, a, p, ask, false, err); }

Status iam_allowed_quietly(Access *x, Arena *a, const Principal *p, const IamAsk *ask, Error *err) { return allowed(x, a, p, ask, true, err); }

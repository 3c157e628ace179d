/* SPDX-License-Identifier: Apache-2.0 */
/* iam_session.c - sessions: a role taken, a token got, a role handed to a service.
 *
 * A session is a key of the catalog whose scope says what it is a session of; its rights are the role's as they are when it is used.
 * A role is assumed when its trust policy allows the caller: naming it directly is enough, naming its account asks the caller's own policies as well. */
#include "access/iam_int.h"

#include <stdio.h>

typedef struct Assume {
    Access *x;
    Arena *a;
    const Principal *by;               /* NULL: a service of ours */
    const char *service;
    const IamAssume *q;
    Str name;                          /* of the role */
    Str arn, id;
    int64_t max_s;
    Props context;
} Assume;

/* ---- what is asked for ------------------------------------------------------------------------------------------------------- */

static Status invalid(Error *err, const char *message)
{
    RAISE(err, E_INVALID, "%s", message);
    snprintf(err->kind, sizeof err->kind, "ValidationError");
    return E_INVALID;
}

static Status check_seconds(const Assume *s, Error *err)
{
    bool chained = s->by && s->by->kind == PR_ROLE;

    if (s->q->seconds > s->max_s)
        return invalid(err, "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.");
    if (chained && s->q->seconds > CHAINED_SECONDS_MAX)
        return invalid(err, "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining");
    return OK;
}

static Status check_policies(Access *x, Arena *a, Str text, const StrVec *arns, Error *err)
{
    Policy *p;
    Str ignored;

    if (text.n)
        TRY(policy_parse(a, text, POLICY_SESSION, &p, err));
    for vec_each(Str, arn, arns)
        TRY(iam_policy_text(x, a, *arn, &ignored, err));
    return OK;
}

static void add_context(Assume *s)
{
    Arena *a = s->a;
    const IamAssume *q = s->q;

    if (q->external_id.n)
        props_set(a, &s->context, S("sts:ExternalId"), q->external_id);
    if (q->session_name.n)
        props_set(a, &s->context, S("sts:RoleSessionName"), q->session_name);
    if (q->source_identity.n)
        props_set(a, &s->context, S("sts:SourceIdentity"), q->source_identity);
    for vec_each(KeyValue, kv, &q->tags) {
        vec_push(a, &s->context, ((KeyValue){ str_cat(a, S("aws:RequestTag/"), kv->key), kv->value }));
        vec_push(a, &s->context, ((KeyValue){ S("aws:TagKeys"), kv->key }));
    }
    for vec_each(Str, k, &q->transitive)
        vec_push(a, &s->context, ((KeyValue){ S("sts:TransitiveTagKeys"), *k }));
}

/* ---- may it ------------------------------------------------------------------------------------------------------------------------ */

static Status refuse(const Assume *s, const char *action, Error *err)
{
    Str who = s->by ? s->by->arn : str_c(s->service);

    log_event(LOG_INFO, "access denied", "principal", str_z(s->a, who), "action", action, "resource", str_z(s->a, s->q->role_arn), "by", "trust policy", NULL);
    return FAIL(err, E_DENIED, "User: " STR_FMT " is not authorized to perform: %s on resource: " STR_FMT, STR_ARG(who), action, STR_ARG(s->q->role_arn));
}

/* What the trust policy says of the caller; under the lock. */
static PolicyAnswer trust_says(const Assume *s, const Entity *role, const Entity *caller, const char *action, PolicyMatch *m)
{
    IamAsk none = { .context = &s->context };
    Principal service = { .kind = PR_ROLE, .arn = str_c(s->service) };
    Props context = s->by ? iam_context(s->x, s->a, s->by, caller, &none) : s->context;
    PolicyAsk ask = { .action = str_c(action), .principal = s->by ? s->by->arn : service.arn, .principal_role = s->by ? s->by->role_arn : (Str){0},
                      .account = !s->by ? (Str){0} : s->by->role_arn.n ? iam_account_of(s->by->role_arn) : cat_account(s->x->catalog), .context = &context };

    return role->trust ? policy_decide(role->trust, &ask, m) : POLICY_SILENT;
}

static Status caller_entity(const Assume *s, Entity **ret, Error *err)
{
    *ret = NULL;
    if (!s->by || s->by->kind == PR_ROOT)
        return OK;
    return iam_entity(s->x, s->by->kind == PR_ROLE ? IAM_ROLE : IAM_USER, iam_name_of(s->by->kind == PR_ROLE ? s->by->role_arn : s->by->arn), ret, err);
}

static Status trust_locked(Assume *s, const char *action, PolicyAnswer *ret, PolicyMatch *m, Error *err)
{
    Entity *role, *caller;

    TRY(caller_entity(s, &caller, err));
    TRY(iam_entity(s->x, IAM_ROLE, s->name, &role, err));
    *ret = POLICY_SILENT;
    if (!role->exists || !str_eq(role->arn, s->q->role_arn))
        return OK;
    s->arn = str_dup(s->a, role->arn);
    s->id = str_dup(s->a, role->id);
    s->max_s = role->max_session_s;
    *ret = trust_says(s, role, caller, action, m);
    return OK;
}

/* Policies said so, not that the caller is gone. */
static bool by_policies(const char *by)
{
    return strcmp(by, "identity-based policy") == 0 || strcmp(by, "permissions boundary") == 0 || strcmp(by, "session policy") == 0;
}

static Status may(Assume *s, const char *action, Error *err)
{
    PolicyAnswer answer;
    PolicyMatch m = {0};
    IamDecision d = {0};
    IamAsk own = { .action = action, .resource = s->q->role_arn, .context = &s->context };

    pthread_mutex_lock(&s->x->iam->lock);
    Status st = trust_locked(s, action, &answer, &m, err);
    pthread_mutex_unlock(&s->x->iam->lock);
    TRY(st);
    if (answer != POLICY_ALLOW)
        return refuse(s, action, err);
    if (!s->by)
        return OK;
    TRY(iam_decide(s->x, s->a, s->by, &own, &d, err));
    bool named = m.named == NAMED_ITSELF ? by_policies(d.by) : m.named == NAMED_ROLE && d.within_limits;
    return d.allowed || (named && !d.explicit_deny) ? OK : refuse(s, action, err);
}

static Status may_all(Assume *s, Error *err)
{
    TRY(may(s, "sts:AssumeRole", err));
    if (s->q->tags.n)
        TRY(may(s, "sts:TagSession", err));
    if (s->q->source_identity.n && s->by)
        TRY(may(s, "sts:SetSourceIdentity", err));
    return OK;
}

/* ---- the session ------------------------------------------------------------------------------------------------------------------- */

static void put(Arena *a, Json *o, const char *key, Str v)
{
    if (v.n)
        json_set(a, o, key, json_str(a, v));
}

static Json *list(Arena *a, const StrVec *v)
{
    Json *l = json_array(a);
    for vec_each(Str, s, v)
        json_push(a, l, json_str(a, *s));
    return l;
}

static Json *session_of(Arena *a, const char *kind, int64_t seconds)
{
    Json *o = json_object(a);
    int64_t now = clock_ms();
    put(a, o, "kind", str_c(kind));
    json_set(a, o, "issued_ms", json_int(a, now));
    json_set(a, o, "expires_ms", json_int(a, now + seconds * 1000));
    return o;
}

/* Tags of this call; those of the session before that were passed on come first. */
static Json *session_tags(const Assume *s)
{
    Json *tags = json_object(s->a);
    const Json *before = s->by ? json_get(s->by->session, "tags") : NULL, *passed = s->by ? json_get(s->by->session, "transitive") : NULL;

    for vec_each(KeyValue, kv, &s->q->tags)
        json_set_s(s->a, tags, kv->key, json_str(s->a, kv->value));
    for (size_t i = 0; i < json_len(passed); i++) {
        Json *v = json_get_s(before, json_at(passed, i)->string);
        if (v)
            json_set_s(s->a, tags, json_at(passed, i)->string, v);
    }
    return tags;
}

static Json *session_transitive(const Assume *s)
{
    Json *l = list(s->a, &s->q->transitive);
    const Json *passed = s->by ? json_get(s->by->session, "transitive") : NULL;
    for (size_t i = 0; i < json_len(passed); i++)
        json_push(s->a, l, json_at(passed, i));
    return l;
}

static Json *role_session(const Assume *s)
{
    Arena *a = s->a;
    Json *o = session_of(a, "role", s->q->seconds);
    Str identity = s->q->source_identity.n || !s->by ? s->q->source_identity : json_get_str(s->by->session, "source_identity", (Str){0});

    put(a, o, "role_arn", s->arn);
    put(a, o, "role_id", s->id);
    put(a, o, "name", s->q->session_name);
    put(a, o, "policy", s->q->policy);
    put(a, o, "source_identity", identity);
    if (s->q->policy_arns.n)
        json_set(a, o, "policy_arns", list(a, &s->q->policy_arns));
    json_set(a, o, "tags", session_tags(s));
    json_set(a, o, "transitive", session_transitive(s));
    return o;
}

static Principal role_principal(const Assume *s)
{
    Str account = iam_account_of(s->arn);
    return (Principal){ .kind = PR_ROLE, .role_arn = s->arn, .session = role_session(s),
                        .arn = str_fmt(s->a, "arn:aws:sts::" STR_FMT ":assumed-role/" STR_FMT "/" STR_FMT, STR_ARG(account), STR_ARG(s->name), STR_ARG(s->q->session_name)),
                        .user_id = str_fmt(s->a, STR_FMT ":" STR_FMT, STR_ARG(s->id), STR_ARG(s->q->session_name)) };
}

static Status keep(Access *x, Arena *a, Principal *p, int64_t seconds, CatKey *key, Error *err)
{
    *key = session_key(a, p->arn, principal_scope(a, p), seconds);
    p->key_id = key->id;
    return cat_key_put(x->catalog, key, err);
}

static Status assume(Assume *s, Principal *ret, Error *err)
{
    s->name = iam_name_of(s->q->role_arn);
    add_context(s);
    TRY(may_all(s, err));
    TRY(check_policies(s->x, s->a, s->q->policy, &s->q->policy_arns, err));
    TRY(check_seconds(s, err));
    *ret = role_principal(s);
    return OK;
}

Status iam_assume(Access *x, Arena *a, const Principal *p, const IamAssume *q, CatKey *key, Principal *ret, Error *err)
{
    Assume s = { .x = x, .a = a, .by = p, .q = q, .service = "" };

    if (p->scope || str_eq(json_get_str(p->session, "kind", (Str){0}), S("federated")))
        return refuse(&s, "sts:AssumeRole", err);
    TRY(assume(&s, ret, err));
    ret->source_ip = p->source_ip;
    return keep(x, a, ret, q->seconds, key, err);
}

Status iam_assume_service(Access *x, Arena *a, Str role_arn, const char *service, Str session_name, Principal *ret, Error *err)
{
    IamAssume q = { .role_arn = role_arn, .session_name = session_name, .seconds = 3600 };
    Assume s = { .x = x, .a = a, .q = &q, .service = service };

    TRY(assume(&s, ret, err));
    json_set(a, ret->session, "expires_ms", json_int(a, clock_ms() + KEYLESS_SECONDS * 1000LL));      /* without a key nobody can take it elsewhere */
    return OK;
}

Status iam_assume_service_key(Access *x, Arena *a, Str role_arn, const char *service, Str session_name, int64_t seconds, CatKey *key, Error *err)
{
    IamAssume q = { .role_arn = role_arn, .session_name = session_name, .seconds = 3600 };
    Assume s = { .x = x, .a = a, .q = &q, .service = service };
    Principal p;

    TRY(assume(&s, &p, err));
    json_set(a, p.session, "expires_ms", json_int(a, clock_ms() + seconds * 1000));      /* a job may outlast the role's own limit */
    return keep(x, a, &p, seconds, key, err);
}

/* ---- tokens --------------------------------------------------------------------------------------------------------------------------- */

Status iam_session_token(Access *x, Arena *a, const Principal *p, int64_t seconds, CatKey *key, Error *err)
{
    Principal q = *p;

    if (p->session || p->scope || p->kind == PR_ROLE || p->kind == PR_SYSTEM)
        return FAIL(err, E_DENIED, "Cannot call GetSessionToken with session credentials");
    q.session = session_of(a, "token", seconds);
    return keep(x, a, &q, seconds, key, err);
}

Status iam_federation_token(Access *x, Arena *a, const Principal *p, const IamFederate *q, CatKey *key, Principal *ret, Error *err)
{
    IamAsk ask = { .action = "sts:GetFederationToken", .resource = str_fmt(a, "arn:aws:sts::" STR_FMT ":federated-user/" STR_FMT, STR_ARG(cat_account(x->catalog)), STR_ARG(q->name)) };

    if (p->session || p->scope || p->kind == PR_ROLE)
        return FAIL(err, E_DENIED, "Cannot call GetFederationToken with session credentials");
    TRY(iam_allowed(x, a, p, &ask, err));
    TRY(check_policies(x, a, q->policy, &q->policy_arns, err));
    Json *s = session_of(a, "federated", q->seconds);
    put(a, s, "issuer", p->arn);
    put(a, s, "policy", q->policy);
    json_set(a, s, "policy_arns", list(a, &q->policy_arns));
    json_set(a, s, "tags", json_object(a));
    for vec_each(KeyValue, kv, &q->tags)
        json_set_s(a, json_get(s, "tags"), kv->key, json_str(a, kv->value));
    if (!q->policy.n && !q->policy_arns.n)                      /* without a policy a federated user may do nothing of its own */
        put(a, s, "policy", S("{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Deny\",\"NotAction\":\"sts:GetCallerIdentity\",\"Resource\":\"*\"}]}"));
    *ret = (Principal){ .kind = PR_USER, .arn = ask.resource, .session = s, .user_id = str_fmt(a, STR_FMT ":" STR_FMT, STR_ARG(cat_account(x->catalog)), STR_ARG(q->name)) };
    return keep(x, a, ret, q->seconds, key, err);
}

/* ---- PassRole --------------------------------------------------------------------------------------------------------------------------- */

Status iam_pass_role(Access *x, Arena *a, const Principal *p, Str role_arn, const char *service, Error *err)
{
    Json *role;
    Props context = {0};
    IamAsk ask = { .action = "iam:PassRole", .resource = role_arn, .context = &context };

    props_set(a, &context, S("iam:PassedToService"), str_c(service));
    TRY(iam_allowed(x, a, p, &ask, err));
    TRY(iam_get(x, a, IAM_ROLE, iam_name_of(role_arn), &role, err));
    if (str_eq(json_get_str(role, "Arn", (Str){0}), role_arn))
        return OK;
    RAISE(err, E_NOT_FOUND, "The role with ARN " STR_FMT " cannot be found.", STR_ARG(role_arn));
    snprintf(err->kind, sizeof err->kind, "NoSuchEntity");
    return E_NOT_FOUND;
}

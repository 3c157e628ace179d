/* SPDX-License-Identifier: Apache-2.0 */
/* iam_context.c - the global condition keys of a request (IAM User Guide, "AWS global condition context keys").
 *
 * aws:SecureTransport is not among them: the lake door is plain HTTP on loopback or behind a proxy that ends TLS, and cannot say. */
#include "access/iam_int.h"

static void add(Arena *a, Props *c, const char *key, Str value)
{
    vec_push(a, c, ((KeyValue){ str_c(key), value }));
}

static void add_given(Arena *a, Props *c, const char *key, Str value)
{
    if (value.n)
        add(a, c, key, value);
}

static Str seconds(Arena *a, int64_t ms)
{
    Str t = time_iso8601(a, ms);                       /* 2026-11-30T10:22:17.123Z */
    return str_cat(a, str_sub(t, 0, 19), S("Z"));
}

static const char *type_of(const Principal *p)
{
    switch (p->kind) {
    case PR_ROOT: return "Account";
    case PR_ROLE: return "AssumedRole";
    default: return str_find(p->arn, S(":federated-user/")) >= 0 ? "FederatedUser" : "User";
    }
}

static void add_tags(Arena *a, Props *c, const Principal *p, const Entity *e)
{
    Props tags = {0};
    const Json *session = json_get(p->session, "tags");

    for (size_t i = 0; e && i < e->tags.n; i++)
        props_set(a, &tags, e->tags.p[i].key, e->tags.p[i].value);
    for (size_t i = 0; i < json_len(session); i++)
        if (json_is(session->object.p[i].value, JSON_STRING))
            props_set(a, &tags, session->object.p[i].key, session->object.p[i].value->string);
    for vec_each(KeyValue, kv, &tags)
        vec_push(a, c, ((KeyValue){ str_cat(a, S("aws:PrincipalTag/"), kv->key), kv->value }));
}

static void add_session(Arena *a, Props *c, const Principal *p)
{
    int64_t issued = json_get_int(p->session, "issued_ms", 0);

    if (!p->session)
        return;
    add(a, c, "aws:TokenIssueTime", seconds(a, issued));
    add(a, c, "aws:MultiFactorAuthPresent", S("false"));
    add_given(a, c, "sts:RoleSessionName", json_get_str(p->session, "name", (Str){0}));
    add_given(a, c, "aws:SourceIdentity", json_get_str(p->session, "source_identity", (Str){0}));
}

static void add_time(Arena *a, Props *c)
{
    int64_t now = clock_ms();
    add(a, c, "aws:CurrentTime", seconds(a, now));
    add(a, c, "aws:EpochTime", str_fmt(a, "%lld", (long long)(now / 1000)));
}

Props iam_context(Access *x, Arena *a, const Principal *p, const Entity *e, const IamAsk *ask)
{
    Props c = {0};
    Str account = cat_account(x->catalog);

    add(a, &c, "aws:PrincipalArn", p->role_arn.n ? p->role_arn : p->arn);
    add(a, &c, "aws:PrincipalAccount", account);
    add(a, &c, "aws:PrincipalType", str_c(type_of(p)));
    add(a, &c, "aws:PrincipalIsAWSService", S("false"));
    add(a, &c, "aws:ViaAWSService", S("false"));
    add(a, &c, "aws:ResourceAccount", account);
    add(a, &c, "aws:RequestedRegion", cat_region(x->catalog));
    add_given(a, &c, "aws:userid", p->user_id.n || !e ? p->user_id : e->id);
    if (p->kind == PR_USER && str_find(p->arn, S(":user/")) >= 0)
        add(a, &c, "aws:username", iam_name_of(p->arn));
    add_given(a, &c, "aws:SourceIp", p->source_ip);
    add_time(a, &c);
    add_session(a, &c, p);
    add_tags(a, &c, p, e);
    for (size_t i = 0; ask->context && i < ask->context->n; i++)
        vec_push(a, &c, ask->context->p[i]);
    return c;
}

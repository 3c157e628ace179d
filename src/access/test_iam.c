/* SPDX-License-Identifier: Apache-2.0 */
/* test_iam.c - who decides: identity, boundary, session and resource policies; sessions that end; roles that are taken. */
#include "base/test.h"
#include "access/iam.h"

#include <stdlib.h>
#include <unistd.h>

#define ACCOUNT "123456789012"
#define DOC(statements) "{\"Version\":\"2012-10-17\",\"Statement\":[" statements "]}"
#define ALLOW(action, resource) "{\"Effect\":\"Allow\",\"Action\":\"" action "\",\"Resource\":\"" resource "\"}"
#define DENY(action) "{\"Sid\":\"No\",\"Effect\":\"Deny\",\"Action\":\"" action "\",\"Resource\":\"*\"}"
#define ANY_TRUST DOC("{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"" ACCOUNT "\"},\"Action\":\"sts:AssumeRole\"}")

typedef struct Env { Arena *a; char dir[64]; Catalog *c; Access *x; Error err; Principal root; } Env;

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);

    e->a = arena_create();
    strcpy(e->dir, "/tmp/firn-iam-XXXXXX");
    if (!mkdtemp(e->dir))
        return -1;
    *state = e;
    assert_ok(cat_open(str_fmt(e->a, "%s/catalog.db", e->dir), S(ACCOUNT), S("us-east-1"), &e->c, &e->err), &e->err);
    e->x = access_new(e->c);
    e->root = access_root(e->a, e->x);
    return 0;
}

static int teardown(void **state)
{
    Env *e = *state;
    const char *names[] = { "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.key", "evidence.key" };

    access_free(e->x);
    cat_close(e->c);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(str_z(e->a, str_fmt(e->a, "%s/%s", e->dir, names[i])));
    rmdir(e->dir);
    arena_destroy(e->a);
    free(e);
    return 0;
}

/* ---- records ------------------------------------------------------------------------------------------------------------ */

static Json *text(Env *e, const char *z) { return json_str(e->a, str_c(z)); }

static Json *record(Env *e, const char *kind, const char *name, const char *inline_policy)
{
    Json *o = json_object(e->a), *texts = json_object(e->a);
    json_set(e->a, o, "Arn", json_str(e->a, str_fmt(e->a, "arn:aws:iam::" ACCOUNT ":%s/%s", kind, name)));
    json_set(e->a, o, strcmp(kind, "role") == 0 ? "RoleId" : "UserId", json_str(e->a, iam_new_id(e->a, "AXXX")));
    if (inline_policy)
        json_set(e->a, texts, "inline", text(e, inline_policy));
    json_set(e->a, o, "Inline", texts);
    return o;
}

static Principal user(Env *e, const char *name, const char *inline_policy)
{
    Json *r = record(e, "user", name, inline_policy);
    assert_ok(iam_create(e->x, IAM_USER, str_c(name), r, &e->err), &e->err);
    return (Principal){ .kind = PR_USER, .arn = json_get_str(r, "Arn", (Str){0}) };
}

static Str role(Env *e, const char *name, const char *inline_policy, const char *trust)
{
    Json *r = record(e, "role", name, inline_policy);
    json_set(e->a, r, "AssumeRolePolicyDocument", text(e, trust));
    assert_ok(iam_create(e->x, IAM_ROLE, str_c(name), r, &e->err), &e->err);
    return json_get_str(r, "Arn", (Str){0});
}

static void change(Env *e, IamKind kind, const char *name, const char *key, Json *v)
{
    Json *r;
    assert_ok(iam_get(e->x, e->a, kind, str_c(name), &r, &e->err), &e->err);
    json_set(e->a, r, key, v);
    assert_ok(iam_update(e->x, kind, str_c(name), r, &e->err), &e->err);
}

static void policy(Env *e, const char *arn, const char *doc)
{
    Json *r = json_object(e->a), *versions = json_array(e->a), *v = json_object(e->a);
    json_set(e->a, v, "VersionId", text(e, "v1"));
    json_set(e->a, v, "Document", text(e, doc));
    json_push(e->a, versions, v);
    json_set(e->a, r, "Arn", text(e, arn));
    json_set(e->a, r, "DefaultVersionId", text(e, "v1"));
    json_set(e->a, r, "Versions", versions);
    assert_ok(iam_create(e->x, IAM_POLICY, str_c(arn), r, &e->err), &e->err);
}

static IamDecision ask(Env *e, const Principal *p, const char *action, const char *resource_policy)
{
    IamDecision d = {0};
    IamAsk q = { .action = action, .resource = S("arn:aws:s3:::b/k"), .resource_policy = str_c(resource_policy) };
    assert_ok(iam_decide(e->x, e->a, p, &q, &d, &e->err), &e->err);
    return d;
}

static bool allows(Env *e, const Principal *p, const char *action) { return ask(e, p, action, NULL).allowed; }

/* ---- tests ----------------------------------------------------------------------------------------------------------------- */

static void test_identity_policies(void **state)
{
    Env *e = *state;
    Principal p = user(e, "u", DOC(ALLOW("s3:Get*", "*")));

    assert_true(allows(e, &p, "s3:GetObject"));
    IamDecision d = ask(e, &p, "s3:PutObject", NULL);
    assert_false(d.allowed || d.explicit_deny);
    assert_string_equal(d.by, "identity-based policy");
    Json *arns = json_array(e->a);
    json_push(e->a, arns, text(e, "arn:aws:iam::aws:policy/AmazonS3FullAccess"));
    change(e, IAM_USER, "u", "Attached", arns);
    assert_true(allows(e, &p, "s3:PutObject"));
    Json *groups = json_array(e->a), *g = record(e, "group", "g", DOC(DENY("s3:PutObject")));
    assert_ok(iam_create(e->x, IAM_GROUP, S("g"), g, &e->err), &e->err);
    json_push(e->a, groups, text(e, "g"));
    change(e, IAM_USER, "u", "Groups", groups);
    d = ask(e, &p, "s3:PutObject", NULL);
    assert_true(d.explicit_deny);
    assert_str(d.sid, "No");
    assert_true(allows(e, &p, "s3:GetObject"));
}

static void test_boundary(void **state)
{
    Env *e = *state;
    Principal p = user(e, "u", DOC(ALLOW("*", "*")));

    change(e, IAM_USER, "u", "PermissionsBoundary", text(e, "arn:aws:iam::" ACCOUNT ":policy/gone"));
    assert_false(allows(e, &p, "s3:GetObject"));                       /* a boundary that is gone forbids all */
    policy(e, "arn:aws:iam::" ACCOUNT ":policy/b", DOC(ALLOW("s3:Get*", "*")));
    change(e, IAM_USER, "u", "PermissionsBoundary", text(e, "arn:aws:iam::" ACCOUNT ":policy/b"));
    assert_true(allows(e, &p, "s3:GetObject"));
    assert_string_equal(ask(e, &p, "s3:PutObject", NULL).by, "permissions boundary");
}

#define FOR(who) DOC("{\"Effect\":\"Allow\",\"Principal\":" who ",\"Action\":\"s3:GetObject\",\"Resource\":\"*\"}")

static void test_resource_policies(void **state)
{
    Env *e = *state;
    Principal p = user(e, "u", NULL);

    assert_true(ask(e, &p, "s3:GetObject", FOR("{\"AWS\":\"arn:aws:iam::" ACCOUNT ":user/u\"}")).allowed);
    assert_true(ask(e, &p, "s3:GetObject", FOR("\"*\"")).allowed);
    assert_false(ask(e, &p, "s3:GetObject", FOR("{\"AWS\":\"" ACCOUNT "\"}")).allowed);          /* the account's own policies must say so */
    assert_false(ask(e, &p, "s3:GetObject", FOR("{\"AWS\":\"arn:aws:iam::" ACCOUNT ":user/v\"}")).allowed);
    const char *deny = DOC("{\"Effect\":\"Deny\",\"Principal\":\"*\",\"Action\":\"*\",\"Resource\":\"*\"}");
    assert_true(ask(e, &e->root, "s3:GetObject", deny).explicit_deny);
    assert_true(ask(e, &e->root, "s3:DeleteBucketPolicy", deny).allowed);
    assert_true(ask(e, &e->root, "s3:GetObject", "not a policy").explicit_deny);
    assert_true(allows(e, &e->root, "s3:GetObject"));
}

static Principal take(Env *e, Str arn, const char *session_policy, CatKey *k)
{
    Principal p = {0};
    IamAssume q = { .role_arn = arn, .session_name = S("s1"), .seconds = 900, .policy = str_c(session_policy) };
    assert_ok(iam_assume(e->x, e->a, &e->root, &q, k, &p, &e->err), &e->err);
    return p;
}

static void test_sessions(void **state)
{
    Env *e = *state;
    CatKey k;
    Str arn = role(e, "r", DOC(ALLOW("s3:*", "*")), ANY_TRUST), secret;
    Principal p = take(e, arn, DOC(ALLOW("s3:GetObject", "*")), &k), again;

    assert_str(p.arn, "arn:aws:sts::" ACCOUNT ":assumed-role/r/s1");
    assert_true(allows(e, &p, "s3:GetObject"));
    assert_string_equal(ask(e, &p, "s3:PutObject", NULL).by, "session policy");
    assert_false(ask(e, &p, "s3:PutObject", NULL).explicit_deny);
    /* a policy that names the role is held to the session's policy; one that names the session is not */
    assert_false(ask(e, &p, "s3:PutObject", DOC("{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"arn:aws:iam::" ACCOUNT ":role/r\"},\"Action\":\"s3:*\",\"Resource\":\"*\"}")).allowed);
    assert_true(ask(e, &p, "s3:PutObject", DOC("{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"arn:aws:sts::" ACCOUNT ":assumed-role/r/s1\"},\"Action\":\"s3:*\",\"Resource\":\"*\"}")).allowed);
    assert_ok(access_by_key(e->x, e->a, k.id, k.token, &secret, &again, &e->err), &e->err);
    assert_str(again.role_arn, "arn:aws:iam::" ACCOUNT ":role/r");
    assert_false(allows(e, &again, "s3:PutObject"));
    assert_str(again.user_id, str_z(e->a, p.user_id));
    json_set(e->a, p.session, "expires_ms", json_int(e->a, clock_ms() - 1));
    assert_string_equal(ask(e, &p, "s3:GetObject", NULL).by, "the session has expired");
}

static void test_role_that_goes(void **state)
{
    Env *e = *state;
    CatKey k;
    Str arn = role(e, "r", DOC(ALLOW("s3:*", "*")), ANY_TRUST), secret;
    Principal p = take(e, arn, NULL, &k), again;

    assert_true(allows(e, &p, "s3:GetObject"));
    assert_ok(iam_delete(e->x, IAM_ROLE, S("r"), &e->err), &e->err);
    assert_false(allows(e, &p, "s3:GetObject"));
    assert_status(access_by_key(e->x, e->a, k.id, k.token, &secret, &again, &e->err), E_AUTH);
    (void)role(e, "r", DOC(ALLOW("s3:*", "*")), ANY_TRUST);
    assert_false(allows(e, &p, "s3:GetObject"));                       /* the new one has another id */
    assert_status(access_by_key(e->x, e->a, k.id, k.token, &secret, &again, &e->err), E_AUTH);
}

static Status assume_as(Env *e, const Principal *p, Str arn)
{
    Principal got;
    CatKey k;
    IamAssume q = { .role_arn = arn, .session_name = S("s1"), .seconds = 900 };
    return iam_assume(e->x, e->a, p, &q, &k, &got, &e->err);
}

static void test_trust(void **state)
{
    Env *e = *state;
    Str arn = role(e, "r", NULL, ANY_TRUST), service = role(e, "s", NULL, DOC("{\"Effect\":\"Allow\",\"Principal\":{\"Service\":\"glue.amazonaws.com\"},\"Action\":\"sts:AssumeRole\"}"));
    Principal bare = user(e, "bare", NULL), able = user(e, "able", DOC(ALLOW("sts:AssumeRole", "*"))), barred = user(e, "barred", DOC(ALLOW("*", "*") "," DENY("sts:*"))), got;
    Str named = role(e, "n", NULL, DOC("{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":[\"arn:aws:iam::" ACCOUNT ":user/bare\",\"arn:aws:iam::" ACCOUNT ":user/barred\"]},\"Action\":\"sts:AssumeRole\"}"));

    assert_status(assume_as(e, &bare, arn), E_DENIED);
    assert_ok(assume_as(e, &able, arn), &e->err);
    assert_ok(assume_as(e, &bare, named), &e->err);
    assert_status(assume_as(e, &able, named), E_DENIED);
    assert_status(assume_as(e, &barred, named), E_DENIED);
    assert_status(assume_as(e, &e->root, service), E_DENIED);
    assert_status(assume_as(e, &e->root, S("arn:aws:iam::" ACCOUNT ":role/path/r")), E_DENIED);       /* the name alone is not the role */
    assert_ok(iam_assume_service(e->x, e->a, service, "glue.amazonaws.com", S("run"), &got, &e->err), &e->err);
    assert_status(iam_assume_service(e->x, e->a, service, "ec2.amazonaws.com", S("run"), &got, &e->err), E_DENIED);
    assert_status(iam_assume_service(e->x, e->a, arn, "glue.amazonaws.com", S("run"), &got, &e->err), E_DENIED);
    assert_ok(iam_pass_role(e->x, e->a, &e->root, service, "glue.amazonaws.com", &e->err), &e->err);
    assert_status(iam_pass_role(e->x, e->a, &bare, service, "glue.amazonaws.com", &e->err), E_DENIED);
}

static void test_role_chains(void **state)
{
    Env *e = *state;
    CatKey k;
    Str first = role(e, "first", NULL, ANY_TRUST), second = role(e, "second", NULL, DOC("{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"arn:aws:iam::" ACCOUNT ":role/first\"},\"Action\":\"sts:AssumeRole\"}"));
    Principal free_ = take(e, first, NULL, &k), bound = take(e, first, DOC(ALLOW("s3:*", "*")), &k);

    assert_ok(assume_as(e, &free_, second), &e->err);
    assert_status(assume_as(e, &bound, second), E_DENIED);             /* its session policy does not allow it */
    json_set(e->a, free_.session, "expires_ms", json_int(e->a, 1));
    assert_status(assume_as(e, &free_, second), E_DENIED);
}

static void test_tokens(void **state)
{
    Env *e = *state;
    Principal p = user(e, "u", DOC(ALLOW("*", "*"))), t = {0};
    CatKey k;
    Str secret;

    assert_ok(iam_session_token(e->x, e->a, &p, 900, &k, &e->err), &e->err);
    assert_ok(access_by_key(e->x, e->a, k.id, k.token, &secret, &t, &e->err), &e->err);
    assert_true(allows(e, &t, "s3:GetObject"));
    assert_false(allows(e, &t, "iam:CreateUser"));
    assert_status(iam_session_token(e->x, e->a, &t, 900, &k, &e->err), E_DENIED);
    assert_status(access_by_key(e->x, e->a, k.id, S("other"), &secret, &t, &e->err), E_AUTH);
    assert_ok(access_by_key_alone(e->x, e->a, k.id, &secret, &t, &e->err), &e->err);
}

static void test_keys_take_effect_at_once(void **state)
{
    Env *e = *state;
    Principal p = user(e, "u", DOC(ALLOW("*", "*"))), got;
    CatKey k;
    Str secret;

    assert_ok(iam_key_create(e->x, e->a, p.arn, &k, &e->err), &e->err);
    assert_ok(access_by_key(e->x, e->a, k.id, (Str){0}, &secret, &got, &e->err), &e->err);
    assert_true(allows(e, &got, "s3:GetObject"));
    assert_ok(iam_key_activate(e->x, k.id, 0, &e->err), &e->err);
    assert_false(allows(e, &got, "s3:GetObject"));
    assert_ok(iam_key_activate(e->x, k.id, 1, &e->err), &e->err);
    assert_true(allows(e, &got, "s3:GetObject"));
    assert_ok(iam_key_delete(e->x, k.id, &e->err), &e->err);
    assert_false(allows(e, &got, "s3:GetObject"));
    iam_used(e->x, &got, S("s3"), S("eu-west-1"));
    IamUsed used;
    assert_ok(iam_last_used(e->x, e->a, k.id, &used, &e->err), &e->err);
    assert_str(used.service, "s3");
}

static void test_vended_keys_carry_the_session(void **state)
{
    Env *e = *state;
    Str arn = role(e, "r", DOC(ALLOW("s3:*", "*")), ANY_TRUST), secret;
    CatKey k, v;
    Principal p = take(e, arn, NULL, &k), got;
    StrVec prefixes = {0};

    vec_push(e->a, &prefixes, S("s3://b/t/"));
    assert_ok(access_vend(e->x, e->a, &p, &prefixes, 0, 900, &v, &e->err), &e->err);
    assert_ok(access_by_key(e->x, e->a, v.id, v.token, &secret, &got, &e->err), &e->err);
    assert_non_null(got.scope);
    assert_str(got.role_arn, "arn:aws:iam::" ACCOUNT ":role/r");
    Ask get = { .action = ACT_OBJECT_GET, .api = "s3:GetObject", .bucket = S("b"), .key = S("t/x") };
    assert_ok(access_check(e->x, e->a, &got, &get, &e->err), &e->err);
    change(e, IAM_ROLE, "r", "Inline", json_object(e->a));
    assert_status(access_check(e->x, e->a, &got, &get, &e->err), E_DENIED);       /* its rights are the role's, now */
}

static void test_words_of_a_refusal(void **state)
{
    Env *e = *state;
    Principal p = user(e, "u", DOC(DENY("s3:PutObject")));
    IamAsk q = { .action = "s3:GetObject", .resource = S("arn:aws:s3:::b/k") }, none = { .action = "sts:GetAccessKeyInfo", .resource = S("*") };
    IamAsk run = { .action = "glue:StartMaterializedViewRefreshTaskRun", .resource = S("arn:aws:glue:us-east-1:1:table/d/t") };

    assert_status(iam_allowed(e->x, e->a, &p, &q, &e->err), E_DENIED);
    assert_string_equal(e->err.message, "User: arn:aws:iam::" ACCOUNT ":user/u is not authorized to perform: s3:GetObject on resource: arn:aws:s3:::b/k because no identity-based policy allows the s3:GetObject action");
    q.action = "s3:PutObject";
    assert_status(iam_allowed(e->x, e->a, &p, &q, &e->err), E_DENIED);
    assert_string_equal(e->err.message, "User: arn:aws:iam::" ACCOUNT ":user/u is not authorized to perform: s3:PutObject on resource: arn:aws:s3:::b/k with an explicit deny in an identity-based policy (policy inline, statement No)");
    assert_status(iam_allowed(e->x, e->a, &p, &none, &e->err), E_DENIED);
    assert_null(strstr(e->err.message, "on resource"));
    assert_status(iam_allowed(e->x, e->a, &p, &run, &e->err), E_DENIED);
    assert_non_null(strstr(e->err.message, "is not authorized to perform: glue:StartMaterializedViewRefreshTaskRun because no identity-based policy allows the glue:StartMaterializedViewRefreshTaskRun action"));
}

static void test_managed_policies_parse(void **state)
{
    Env *e = *state;
    const Json *all = iam_managed_list(e->a);
    Str doc;

    assert_true(json_len(all) > 15);
    for (size_t i = 0; i < json_len(all); i++) {
        Principal p = user(e, str_fmt(e->a, "m%zu", i).p, NULL);
        Str arn = json_get_str(json_at(all, i), "Arn", (Str){0});
        assert_ok(iam_policy_text(e->x, e->a, arn, &doc, &e->err), &e->err);
        IamSimulation q = { .caller = p.arn, .ask = { .action = "firn:Nothing", .resource = S("*") } };
        IamDecision d;
        StrVec missing = {0};
        vec_push(e->a, &q.identity, doc);
        assert_ok(iam_simulate(e->x, e->a, &q, &d, &missing, &e->err), &e->err);
    }
}

typedef struct Race { Env *e; Principal p; int wrong; } Race;

static void *decide_often(void *arg)
{
    Race *r = arg;
    for (int i = 0; i < 300; i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        IamDecision d = {0};
        Error err;
        IamAsk q = { .action = "s3:GetObject", .resource = S("arn:aws:s3:::b/k") }, other = { .action = "s3:PutObject", .resource = S("*") };
        r->wrong += iam_decide(r->e->x, a, &r->p, &q, &d, &err) != OK || !d.allowed;
        r->wrong += iam_decide(r->e->x, a, &r->p, &other, &d, &err) != OK || d.allowed;
    }
    return NULL;
}

/* Decisions while records change: always one that some state gives. */
static void test_threads(void **state)
{
    Env *e = *state;
    Race r[4];
    pthread_t t[4];

    for (size_t i = 0; i < COUNT_OF(r); i++)
        r[i] = (Race){ .e = e, .p = user(e, str_fmt(e->a, "u%zu", i).p, DOC(ALLOW("s3:Get*", "*"))) };
    for (size_t i = 0; i < COUNT_OF(r); i++)
        assert_int_equal(pthread_create(&t[i], NULL, decide_often, &r[i]), 0);
    for (int i = 0; i < 60; i++)
        change(e, IAM_USER, "u0", "Touched", json_int(e->a, i));
    for (size_t i = 0; i < COUNT_OF(r); i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(r[i].wrong, 0);
    }
}

/* A decision is microseconds: policies are parsed once. */
static void test_cost(void **state)
{
    Env *e = *state;
    Principal p = user(e, "u", DOC(ALLOW("s3:Get*", "arn:aws:s3:::b/*")));
    int64_t from = clock_mono_us();

    for (int i = 0; i < 2000; i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        IamDecision d;
        IamAsk q = { .action = "s3:GetObject", .resource = S("arn:aws:s3:::b/k") };
        assert_ok(iam_decide(e->x, a, &p, &q, &d, &e->err), &e->err);
    }
    int64_t each = (clock_mono_us() - from) / 2000;
    print_message("a decision: %lld us\n", (long long)each);
    assert_true(each < 500);                                           /* a sanitizer's build on a busy machine included */
}

/* The role of firn's own connections: trust policies name it, nobody changes it, and only what trusts it with the right external id can be assumed. */
static Status connect_as(Env *e, Str target, const char *external_id, Principal *ret)
{
    CatKey jump, k;
    Principal by;
    Str secret;
    IamAssume q = { .role_arn = target, .session_name = S("s"), .external_id = str_c(external_id), .seconds = 3600 };

    TRY(iam_assume_service_key(e->x, e->a, iam_connection_role(e->x, e->a), IAM_CONNECTION_SERVICE, S("s"), 3600, &jump, &e->err));
    TRY(access_by_key(e->x, e->a, jump.id, jump.token, &secret, &by, &e->err));
    return iam_assume(e->x, e->a, &by, &q, &k, ret, &e->err);
}

#define CONNECTION_TRUST(arn, id) DOC("{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"" arn "\"},\"Action\":\"sts:AssumeRole\",\"Condition\":{\"StringEquals\":{\"sts:ExternalId\":\"" id "\"}}}")

static void test_role_of_connections(void **state)
{
    Env *e = *state;
    Principal p;
    Json *r;
    Str mine = iam_connection_role(e->x, e->a);

    assert_str(mine, "arn:aws:iam::" ACCOUNT ":role/MaterializeConnection");
    Str target = role(e, "target", NULL, CONNECTION_TRUST("arn:aws:iam::" ACCOUNT ":role/MaterializeConnection", "mz_1_u5"));
    Str open = role(e, "other", NULL, ANY_TRUST);
    assert_ok(connect_as(e, target, "mz_1_u5", &p), &e->err);
    assert_str(p.arn, "arn:aws:sts::" ACCOUNT ":assumed-role/target/s");
    assert_status(connect_as(e, target, "mz_1_u6", &p), E_DENIED);
    assert_status(connect_as(e, target, "", &p), E_DENIED);
    assert_status(connect_as(e, open, "", &p), E_DENIED);              /* it trusts the account, which is not to trust who may make a connection */

    assert_ok(iam_get(e->x, e->a, IAM_ROLE, S("MaterializeConnection"), &r, &e->err), &e->err);
    assert_str(json_get_str(r, "Arn", (Str){0}), "arn:aws:iam::" ACCOUNT ":role/MaterializeConnection");
    assert_status(iam_create(e->x, IAM_ROLE, S("MaterializeConnection"), r, &e->err), E_EXISTS);
    assert_status(iam_update(e->x, IAM_ROLE, S("MaterializeConnection"), r, &e->err), E_INVALID);
    assert_status(iam_delete(e->x, IAM_ROLE, S("MaterializeConnection"), &e->err), E_INVALID);
    assert_ok(iam_list(e->x, e->a, IAM_ROLE, S("/"), &r, &e->err), &e->err);
    assert_int_equal(json_len(r), 2);
}

/* A principal of another account, as the guide has it. */
static void test_connections_from_elsewhere(void **state)
{
    Env *e = *state;
    Principal p;

    assert_status(iam_set_connection_role(e->x, S("arn:aws:iam::1:user/u"), &e->err), E_INVALID);
    assert_ok(iam_set_connection_role(e->x, S("arn:aws:iam::664411391173:role/MaterializeConnection"), &e->err), &e->err);
    Str target = role(e, "target", NULL, CONNECTION_TRUST("arn:aws:iam::664411391173:role/MaterializeConnection", "x"));
    Str here = role(e, "here", NULL, CONNECTION_TRUST("arn:aws:iam::" ACCOUNT ":root", "x"));
    Str account = role(e, "account", NULL, CONNECTION_TRUST("664411391173", "x"));
    assert_ok(connect_as(e, target, "x", &p), &e->err);
    assert_status(connect_as(e, account, "x", &p), E_DENIED);
    assert_status(connect_as(e, target, "y", &p), E_DENIED);
    assert_status(connect_as(e, here, "x", &p), E_DENIED);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_identity_policies), T(test_boundary), T(test_resource_policies), T(test_sessions), T(test_role_that_goes), T(test_trust), T(test_role_chains), T(test_tokens),
        T(test_keys_take_effect_at_once), T(test_vended_keys_carry_the_session), T(test_words_of_a_refusal), T(test_managed_policies_parse), T(test_cost), T(test_threads), T(test_role_of_connections), T(test_connections_from_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

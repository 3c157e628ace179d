/* SPDX-License-Identifier: Apache-2.0 */
/* test_policy.c - what parses, what IAM says of what does not, and what a policy answers. */
#include "base/test.h"
#include "access/policy.h"

#define STMT(body) "{\"Version\":\"2012-10-17\",\"Statement\":{" body "}}"
#define ALLOW(action, resource, more) STMT("\"Effect\":\"Allow\",\"Action\":\"" action "\",\"Resource\":\"" resource "\"" more)
#define COND(text) ",\"Condition\":{" text "}"

static void refused(PolicyKind kind, const char *text, const char *message)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Policy *p;
    Error err;
    if (policy_parse(a, str_c(text), kind, &p, &err) != E_INVALID)
        fail_msg("accepted: %s", text);
    assert_string_equal(err.kind, "MalformedPolicyDocument");
    if (strcmp(err.message, message) != 0)
        fail_msg("%s: '%s' instead of '%s'", text, err.message, message);
}

static PolicyAnswer answer(PolicyKind kind, const char *text, const PolicyAsk *ask, PolicyMatch *m)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Policy *p;
    Error err;
    Status s = policy_parse(a, str_c(text), kind, &p, &err);
    if (s != OK)
        fail_msg("%s: %s", text, err.message);
    PolicyAnswer r = policy_decide(p, ask, m);
    m->sid = (Str){0};                                /* it lived in the arena */
    return r;
}

static bool allows(const char *text, const char *action, const char *resource, const Props *context)
{
    PolicyMatch m;
    PolicyAsk ask = { .action = str_c(action), .resource = str_c(resource), .context = context };
    return answer(POLICY_IDENTITY, text, &ask, &m) == POLICY_ALLOW;
}

static void test_messages(void **state UNUSED)
{
    refused(POLICY_IDENTITY, "not json", "Syntax errors in policy.");
    refused(POLICY_IDENTITY, "{\"Version\":\"2012-10-17\"}", "Syntax errors in policy.");
    refused(POLICY_IDENTITY, "{\"Statement\":{\"Effect\":\"denY\",\"Action\":\"s3:x\",\"Resource\":\"*\"}}", "Policy document must be version 2012-10-17 or greater.");
    refused(POLICY_IDENTITY, ALLOW("s3:x", "*", COND("\"x\":{\"a\":\"1\"}")), "Syntax errors in policy.");
    refused(POLICY_IDENTITY, ALLOW("invalid", "*", ""), "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.");
    refused(POLICY_IDENTITY, ALLOW("a a:x", "*", ""), "Vendor a a is not valid");
    refused(POLICY_IDENTITY, ALLOW("s3:List:x", "*", ""), "Actions/Condition can contain only one colon.");
    refused(POLICY_IDENTITY, ALLOW("s3:x", "nothing", ""), "Resource nothing must be in ARN format or \"*\".");
    refused(POLICY_IDENTITY, ALLOW("s3:x", "aws:s3:::b", ""), "Partition \"s3\" is not valid for resource \"arn:s3:::b:*\".");
    refused(POLICY_IDENTITY, ALLOW("s3:x", "arn:aws:s3::b", ""), "The policy failed legacy parsing");
    refused(POLICY_IDENTITY, ALLOW("s3:x", "arn:aws:s3:us-east-1::b", ""), "Resource arn:aws:s3:us-east-1::b can not contain region information.");
    refused(POLICY_IDENTITY, ALLOW("s3:x", "*", COND("\"DateLessThan\":{\"a\":\"sdf\"}")), "The policy failed legacy parsing");
    refused(POLICY_IDENTITY, ALLOW("s3:x", "*", ",\"Principal\":\"*\""), "Policy document should not specify a principal.");
    refused(POLICY_IDENTITY, STMT("\"Effect\":\"Allow\",\"Action\":\"s3:x\""), "Policy statement must contain resources.");
    refused(POLICY_TRUST, STMT("\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"sts:AssumeRole\",\"Resource\":\"*\""), "Has prohibited field Resource.");
    refused(POLICY_TRUST, STMT("\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"s3:GetObject\""), "AssumeRole policy may only specify STS AssumeRole actions.");
    refused(POLICY_TRUST, STMT("\"Effect\":\"Allow\",\"Action\":\"sts:AssumeRole\""), "Missing required field Principal cannot be empty!");
}

static void test_limits(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrBuf b = sb_new(a);
    Policy *p;
    Error err;
    sb_addc(&b, "{\"Version\":\"2012-10-17\",\"Statement\":[");
    for (int i = 0; i < 501; i++)
        sb_addc(&b, i ? ",{}" : "{}");
    sb_addc(&b, "]}");
    assert_status(policy_parse(a, sb_str(&b), POLICY_IDENTITY, &p, &err), E_INVALID);
    char *big = arena_alloc(a, 20481);
    memset(big, ' ', 20481);
    assert_status(policy_parse(a, str_n(big, 20481), POLICY_IDENTITY, &p, &err), E_INVALID);
    assert_non_null(strstr(err.message, "20480"));
}

static void test_wildcards(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    assert_true(policy_like(S("a/b/c"), S("a*c")));
    assert_true(policy_like(S(""), S("*")));
    assert_true(policy_like(S("äx"), S("?x")));
    assert_false(policy_like(S("abc"), S("a?")));
    assert_false(policy_like(S("abc"), S("")));
    char *long_text = arena_alloc(a, 2000);
    memset(long_text, 'a', 2000);
    assert_false(policy_like(str_n(long_text, 2000), S("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b")));
    assert_true(allows(ALLOW("S3:get*", "arn:aws:s3:::b/*", ""), "s3:GetObject", "arn:aws:s3:::b/k", NULL));
    assert_false(allows(ALLOW("s3:Get*", "arn:aws:s3:::b/*", ""), "s3:PutObject", "arn:aws:s3:::b/k", NULL));
    assert_false(allows(ALLOW("s3:*", "arn:aws:s3:::b", ""), "s3:PutObject", "arn:aws:s3:::B", NULL));
    assert_false(allows(STMT("\"Effect\":\"Allow\",\"NotAction\":\"s3:*\",\"Resource\":\"*\""), "s3:GetObject", "*", NULL));
    assert_true(allows(STMT("\"Effect\":\"Allow\",\"NotAction\":\"s3:*\",\"NotResource\":\"arn:aws:glue:*:*:catalog\""), "glue:GetTable", "arn:aws:glue:us-east-1:1:database/x", NULL));
}

static void test_variables(void **state UNUSED)
{
    KeyValue kv[] = { { S("aws:username"), S("bob") }, { S("aws:PrincipalTag/team"), S("*") } };
    Props ctx = { kv, 2, 2 };
    const char *home = ALLOW("s3:*", "arn:aws:s3:::home/${aws:username}/*", "");
    assert_true(allows(home, "s3:GetObject", "arn:aws:s3:::home/bob/k", &ctx));
    assert_false(allows(home, "s3:GetObject", "arn:aws:s3:::home/eve/k", &ctx));
    assert_false(allows(home, "s3:GetObject", "arn:aws:s3:::home/${aws:username}/k", NULL));
    assert_false(allows(ALLOW("s3:*", "arn:aws:s3:::${aws:PrincipalTag/team}/k", ""), "s3:GetObject", "arn:aws:s3:::any/k", &ctx));     /* a value is no wildcard */
    assert_true(allows(ALLOW("s3:*", "arn:aws:s3:::${aws:PrincipalTag/x, 'none'}/k", ""), "s3:GetObject", "arn:aws:s3:::none/k", &ctx));
    assert_true(allows(ALLOW("s3:*", "arn:aws:s3:::b/${*}", ""), "s3:GetObject", "arn:aws:s3:::b/*", &ctx));
    assert_false(allows(ALLOW("s3:*", "arn:aws:s3:::b/${*}", ""), "s3:GetObject", "arn:aws:s3:::b/x", &ctx));
}

typedef struct Case { const char *condition; const char *key, *value, *value2; bool yes; } Case;

static void test_conditions(void **state UNUSED)
{
    static const Case cases[] = {
        { "\"StringEquals\":{\"k\":[\"a\",\"b\"]}", "K", "b", NULL, true }, { "\"StringEquals\":{\"k\":\"a*\"}", "k", "ab", NULL, false },
        { "\"StringLike\":{\"k\":\"a*\"}", "k", "ab", NULL, true }, { "\"StringNotLike\":{\"k\":\"a*\"}", "k", "ab", NULL, false },
        { "\"StringEqualsIgnoreCase\":{\"k\":\"AB\"}", "k", "ab", NULL, true }, { "\"StringNotEquals\":{\"k\":\"a\"}", NULL, NULL, NULL, true },
        { "\"StringEquals\":{\"k\":\"a\"}", NULL, NULL, NULL, false }, { "\"StringEqualsIfExists\":{\"k\":\"a\"}", NULL, NULL, NULL, true },
        { "\"NumericLessThanEquals\":{\"k\":10}", "k", "10", NULL, true }, { "\"NumericGreaterThan\":{\"k\":10}", "k", "10", NULL, false },
        { "\"NumericEquals\":{\"k\":\"1e1\"}", "k", "10", NULL, true }, { "\"NumericLessThan\":{\"k\":10}", "k", "x", NULL, false },
        { "\"DateLessThan\":{\"k\":\"2026-11-30T12:00:00Z\"}", "k", "2026-11-30T11:59:59Z", NULL, true },
        { "\"DateLessThan\":{\"k\":\"2026-11-30T12:00:00+02:00\"}", "k", "2026-11-30T11:59:59Z", NULL, false },
        { "\"DateGreaterThan\":{\"k\":\"1700000000\"}", "k", "2023-11-14T22:13:21Z", NULL, true },
        { "\"Bool\":{\"k\":true}", "k", "TRUE", NULL, true }, { "\"BoolIfExists\":{\"k\":\"false\"}", NULL, NULL, NULL, true },
        { "\"IpAddress\":{\"k\":\"10.1.0.0/15\"}", "k", "10.0.255.1", NULL, true }, { "\"IpAddress\":{\"k\":\"10.1.0.0/16\"}", "k", "10.2.0.1", NULL, false },
        { "\"NotIpAddress\":{\"k\":\"10.1.0.0/16\"}", "k", "10.2.0.1", NULL, true }, { "\"IpAddress\":{\"k\":\"2001:db8::/33\"}", "k", "2001:db8:7fff::1", NULL, true },
        { "\"ArnLike\":{\"k\":\"arn:aws:s3:::b*\"}", "k", "arn:aws:s3:::bucket/key", NULL, true }, { "\"ArnLike\":{\"k\":\"arn:aws:*b\"}", "k", "arn:aws:s3:::b", NULL, false },
        { "\"ArnNotEquals\":{\"k\":\"arn:aws:iam::1:role/x\"}", "k", "arn:aws:iam::1:role/x", NULL, false },
        { "\"Null\":{\"k\":\"true\"}", NULL, NULL, NULL, true }, { "\"Null\":{\"k\":\"true\"}", "k", "v", NULL, false }, { "\"Null\":{\"k\":false}", "k", "v", NULL, true },
        { "\"ForAllValues:StringEquals\":{\"k\":[\"a\",\"b\"]}", "k", "a", "c", false }, { "\"ForAllValues:StringEquals\":{\"k\":[\"a\",\"b\"]}", "k", "a", "b", true },
        { "\"ForAllValues:StringEquals\":{\"k\":\"a\"}", NULL, NULL, NULL, true }, { "\"ForAnyValue:StringEquals\":{\"k\":\"a\"}", "k", "x", "a", true },
        { "\"ForAnyValue:StringEquals\":{\"k\":\"a\"}", NULL, NULL, NULL, false }, { "\"ForAnyValue:StringNotEquals\":{\"k\":\"a\"}", NULL, NULL, NULL, false },
        { "\"BinaryEquals\":{\"k\":\"YQ==\"}", "k", "YQ==", NULL, true },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        const Case *c = &cases[i];
        Props ctx = {0};
        if (c->key)
            vec_push(a, &ctx, ((KeyValue){ str_c(c->key), str_c(c->value) }));
        if (c->value2)
            vec_push(a, &ctx, ((KeyValue){ str_c(c->key), str_c(c->value2) }));
        Str text = str_fmt(a, STMT("\"Effect\":\"Allow\",\"Action\":\"*\",\"Resource\":\"*\",\"Condition\":{%s}"), c->condition);
        if (allows(text.p, "s3:GetObject", "*", &ctx) != c->yes)
            fail_msg("%s with %s", c->condition, c->value ? c->value : "nothing");
    }
}

static void test_deny_wins_and_says_which(void **state UNUSED)
{
    const char *text = "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Sid\":\"A\",\"Effect\":\"Allow\",\"Action\":\"*\",\"Resource\":\"*\"},"
                       "{\"Sid\":\"D\",\"Effect\":\"Deny\",\"Action\":\"s3:DeleteObject\",\"Resource\":\"*\"}]}";
    PolicyMatch m;
    PolicyAsk ask = { .action = S("s3:DeleteObject"), .resource = S("arn:aws:s3:::b/k") };
    assert_int_equal(answer(POLICY_IDENTITY, text, &ask, &m), POLICY_DENY);
    assert_int_equal(m.statement, 1);
    ask.action = S("s3:GetObject");
    assert_int_equal(answer(POLICY_IDENTITY, text, &ask, &m), POLICY_ALLOW);
    assert_int_equal(m.statement, 0);
}

static void test_principals(void **state UNUSED)
{
    static const struct { const char *principal; PolicyNamed named; } cases[] = {
        { "\"*\"", NAMED_ANYBODY }, { "{\"AWS\":\"1\"}", NAMED_ACCOUNT }, { "{\"AWS\":\"arn:aws:iam::1:root\"}", NAMED_ACCOUNT }, { "{\"AWS\":[\"2\",\"arn:aws:iam::1:role/r\"]}", NAMED_ROLE },
        { "{\"AWS\":\"arn:aws:sts::1:assumed-role/r/s\"}", NAMED_ITSELF }, { "{\"AWS\":\"arn:aws:iam::11:root\"}", NAMED_NOT }, { "{\"Service\":\"glue.amazonaws.com\"}", NAMED_NOT },
        { "{\"Federated\":\"1\"}", NAMED_NOT },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        PolicyMatch m;
        PolicyAsk ask = { .action = S("s3:GetObject"), .resource = S("arn:aws:s3:::b/k"), .account = S("1"), .principal = S("arn:aws:sts::1:assumed-role/r/s"), .principal_role = S("arn:aws:iam::1:role/r") };
        Str text = str_fmt(a, STMT("\"Effect\":\"Allow\",\"Principal\":%s,\"Action\":\"s3:*\",\"Resource\":\"*\""), cases[i].principal);
        PolicyAnswer r = answer(POLICY_RESOURCE, text.p, &ask, &m);
        assert_int_equal(r, cases[i].named == NAMED_NOT ? POLICY_SILENT : POLICY_ALLOW);
        assert_int_equal(m.named, cases[i].named);
    }
    PolicyMatch m;
    PolicyAsk glue = { .action = S("sts:AssumeRole"), .principal = S("glue.amazonaws.com") };
    assert_int_equal(answer(POLICY_TRUST, STMT("\"Effect\":\"Allow\",\"Principal\":{\"Service\":\"glue.amazonaws.com\"},\"Action\":\"sts:AssumeRole\""), &glue, &m), POLICY_ALLOW);
    assert_int_equal(answer(POLICY_TRUST, STMT("\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"glue.amazonaws.com\"},\"Action\":\"sts:AssumeRole\""), &glue, &m), POLICY_SILENT);
}

static void test_context_keys(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrVec keys = {0};
    Policy *p;
    Error err;
    assert_ok(policy_parse(a, S(ALLOW("s3:*", "arn:aws:s3:::b/${aws:username}", COND("\"StringEquals\":{\"s3:prefix\":\"${aws:userid}\",\"S3:Prefix\":\"x\"}"))), POLICY_IDENTITY, &p, &err), &err);
    policy_context_keys(a, p, &keys);
    assert_int_equal(keys.n, 3);
    assert_str(keys.p[0], "s3:prefix");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages), cmocka_unit_test(test_limits), cmocka_unit_test(test_wildcards), cmocka_unit_test(test_variables), cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_deny_wins_and_says_which), cmocka_unit_test(test_principals), cmocka_unit_test(test_context_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sts_ops.c - the operations of STS.  Whether a role may be assumed is access/'s matter; here requests are read and answers filled. */
#include "door/iam/iam_door_int.h"

#include <ctype.h>

enum { TOKEN_SECONDS_MAX = 129600, ROOT_TOKEN_SECONDS_MAX = 3600, PACKED_MAX = 2048 };

static Status check_session_name(Str name, const char *field, Error *err)
{
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)name.p[i]) && !strchr("+=,.@_-", name.p[i]))
            return AWS_FAIL(err, E_INVALID, "ValidationError", "1 validation error detected: Value '" STR_FMT "' at '%s' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\w+=,.@-]*", STR_ARG(name), field);
    return OK;
}

static void put_credentials(AwsCall *c, const CatKey *k)
{
    Json *o = json_object(c->a);
    json_set(c->a, o, "AccessKeyId", json_str(c->a, k->id));
    json_set(c->a, o, "SecretAccessKey", json_str(c->a, k->secret));
    json_set(c->a, o, "SessionToken", json_str(c->a, k->token));
    json_set(c->a, o, "Expiration", aws_time(c, k->expires_ms));
    aws_put(c, "Credentials", o);
}

static void put_who(AwsCall *c, const char *member, const char *id_field, const Principal *p)
{
    Json *o = json_object(c->a);
    json_set(c->a, o, id_field, json_str(c->a, p->user_id));
    json_set(c->a, o, "Arn", json_str(c->a, p->arn));
    aws_put(c, member, o);
}

/* Tags, and the managed policies of a session. */
static Status read_tags(AwsCall *c, Props *ret, Error *err)
{
    const Json *tags = aws_get(c, "Tags");

    TRY(door_tags_check(c, tags, err));
    for (size_t i = 0; i < json_len(tags); i++)
        props_set(c->a, ret, json_get_str(json_at(tags, i), "Key", (Str){0}), json_get_str(json_at(tags, i), "Value", (Str){0}));
    return OK;
}

static Status read_policies(AwsCall *c, StrVec *ret, Error *err)
{
    const Json *arns = aws_get(c, "PolicyArns");

    if (json_len(arns) > 10)
        return AWS_FAIL(err, E_LIMIT, "PackedPolicyTooLarge", "at most 10 managed session policies");
    for (size_t i = 0; i < json_len(arns); i++)
        vec_push(c->a, ret, json_get_str(json_at(arns, i), "arn", (Str){0}));
    return OK;
}

static void put_packed(AwsCall *c)
{
    if (aws_has(c, "Policy"))
        aws_put(c, "PackedPolicySize", json_int(c->a, door_size(aws_str(c, "Policy")) * 100 / PACKED_MAX));
}

Status sts_op_AssumeRole(AwsCall *c, Error *err)
{
    IamAssume q = { .role_arn = aws_str(c, "RoleArn"), .session_name = aws_str(c, "RoleSessionName"), .external_id = aws_str(c, "ExternalId"), .source_identity = aws_str(c, "SourceIdentity"),
                    .policy = aws_str(c, "Policy"), .seconds = aws_int(c, "DurationSeconds", 3600) };
    const Json *transitive = aws_get(c, "TransitiveTagKeys");
    Principal p;
    CatKey k;

    TRY(check_session_name(q.session_name, "roleSessionName", err));
    TRY(check_session_name(q.source_identity, "sourceIdentity", err));
    TRY(read_tags(c, &q.tags, err));
    TRY(read_policies(c, &q.policy_arns, err));
    for (size_t i = 0; i < json_len(transitive); i++)
        vec_push(c->a, &q.transitive, json_at(transitive, i)->string);
    TRY(iam_assume(c->access, c->a, &c->who, &q, &k, &p, err));
    put_credentials(c, &k);
    put_who(c, "AssumedRoleUser", "AssumedRoleId", &p);
    put_packed(c);
    aws_put_str(c, "SourceIdentity", json_get_str(p.session, "source_identity", (Str){0}));
    return OK;
}

/* Needs no permission: whoever signs may know who it is. */
Status sts_op_GetCallerIdentity(AwsCall *c, Error *err UNUSED)
{
    aws_put_str(c, "UserId", c->who.user_id);
    aws_put_str(c, "Account", door_account(c));
    aws_put_str(c, "Arn", c->who.arn);
    return OK;
}

static Status token_seconds(AwsCall *c, int64_t *ret, Error *err)
{
    int64_t most = c->who.kind == PR_ROOT ? ROOT_TOKEN_SECONDS_MAX : TOKEN_SECONDS_MAX;

    *ret = aws_int(c, "DurationSeconds", min_i64(most, 43200));
    if (*ret >= 900 && *ret <= TOKEN_SECONDS_MAX) {
        *ret = min_i64(*ret, most);
        return OK;
    }
    return AWS_FAIL(err, E_INVALID, "ValidationError", "1 validation error detected: Value '%lld' at 'durationSeconds' failed to satisfy constraint: Member must have value between 900 and %d", (long long)*ret, TOKEN_SECONDS_MAX);
}

Status sts_op_GetSessionToken(AwsCall *c, Error *err)
{
    int64_t seconds;
    CatKey k;

    if (aws_has(c, "SerialNumber"))
        return AWS_FAIL(err, E_DENIED, "AccessDenied", "MultiFactorAuthentication failed with invalid MFA one time pass code: MFA devices are records only here.");
    TRY(token_seconds(c, &seconds, err));
    TRY(iam_session_token(c->access, c->a, &c->who, seconds, &k, err));
    put_credentials(c, &k);
    return OK;
}

Status sts_op_GetFederationToken(AwsCall *c, Error *err)
{
    IamFederate q = { .name = aws_str(c, "Name"), .policy = aws_str(c, "Policy") };
    Principal p;
    CatKey k;

    TRY(check_session_name(q.name, "name", err));
    TRY(token_seconds(c, &q.seconds, err));
    TRY(read_tags(c, &q.tags, err));
    TRY(read_policies(c, &q.policy_arns, err));
    TRY(iam_federation_token(c->access, c->a, &c->who, &q, &k, &p, err));
    put_credentials(c, &k);
    put_who(c, "FederatedUser", "FederatedUserId", &p);
    put_packed(c);
    return OK;
}

Status sts_op_GetAccessKeyInfo(AwsCall *c, Error *err)
{
    const IamDoor *d = c->door;
    CatKey k;

    TRY(aws_allow(c, "sts:GetAccessKeyInfo", S("*"), NULL, err));
    Status s = cat_key_get(d->svc->catalog, c->a, aws_str(c, "AccessKeyId"), &k, err);
    if (s == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "ValidationError", "Access key " STR_FMT " is of no account here", STR_ARG(aws_str(c, "AccessKeyId")));
    TRY(s);
    aws_put_str(c, "Account", door_account(c));
    return OK;
}

/* Refusals here are in plain words: nothing is encoded that this could decode. */
Status sts_op_DecodeAuthorizationMessage(AwsCall *c, Error *err)
{
    TRY(aws_allow(c, "sts:DecodeAuthorizationMessage", S("*"), NULL, err));
    return AWS_FAIL(err, E_INVALID, "InvalidAuthorizationMessageException", "Message is not valid: firn encodes no authorization messages, its refusals say what was decided");
}

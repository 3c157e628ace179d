/* SPDX-License-Identifier: Apache-2.0 */
/* iam_inline.c - policies in and on users, groups and roles: written into the record ("Inline"), or attached by ARN ("Attached"). */
#include "door/iam/iam_door_int.h"

enum { ATTACHED_MAX = 10 };

static int64_t inline_quota(IamKind kind) { return kind == IAM_USER ? 2048 : kind == IAM_ROLE ? 10240 : 5120; }

static Json *texts_of(AwsCall *c, Json *record)
{
    Json *o = json_get(record, "Inline");
    if (!o) {
        o = json_object(c->a);
        json_set(c->a, record, "Inline", o);
    }
    return o;
}

static Status check_quota(AwsCall *c, IamKind kind, const Json *record, Error *err)
{
    const Json *texts = json_get(record, "Inline");
    int64_t size = 0, quota = inline_quota(kind);

    for (size_t i = 0; i < json_len(texts); i++)
        size += door_size(texts->object.p[i].value->string);
    if (size <= quota)
        return OK;
    return AWS_FAIL(err, E_LIMIT, "LimitExceeded", "Maximum policy size of %lld bytes exceeded for %s " STR_FMT, (long long)quota, door_entities[kind].arn, STR_ARG(aws_str(c, door_entities[kind].name)));
}

static Status put(AwsCall *c, IamKind kind, Error *err)
{
    Str text = aws_str(c, "PolicyDocument");
    Json *record;

    TRY(door_check_name(aws_str(c, "PolicyName"), "policyName", err));
    TRY(door_entity(c, kind, &record, err));
    TRY(door_policy_check(c, text, POLICY_IDENTITY, err));
    json_set_s(c->a, texts_of(c, record), aws_str(c, "PolicyName"), json_str(c->a, text));
    TRY(check_quota(c, kind, record, err));
    return door_save(c, kind, record, err);
}

static Status missing(AwsCall *c, IamKind kind, Error *err)
{
    return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "The %s policy with name " STR_FMT " cannot be found.", door_entities[kind].arn, STR_ARG(aws_str(c, "PolicyName")));
}

static Status get(AwsCall *c, IamKind kind, Error *err)
{
    const char *field = door_entities[kind].name;
    Json *record;

    TRY(door_entity(c, kind, &record, err));
    const Json *text = json_get_s(json_get(record, "Inline"), aws_str(c, "PolicyName"));
    if (!text)
        return missing(c, kind, err);
    aws_put_str(c, field, aws_str(c, field));
    aws_put_str(c, "PolicyName", aws_str(c, "PolicyName"));
    aws_put(c, "PolicyDocument", door_doc_text(c, text->string));
    return OK;
}

static Status drop(AwsCall *c, IamKind kind, Error *err)
{
    Json *record;

    TRY(door_entity(c, kind, &record, err));
    Json *texts = json_get(record, "Inline");
    if (!texts || !json_del(texts, aws_str(c, "PolicyName")))
        return missing(c, kind, err);
    return door_save(c, kind, record, err);
}

static Status list(AwsCall *c, IamKind kind, Error *err)
{
    Json *record, *names = json_array(c->a);

    TRY(door_entity(c, kind, &record, err));
    const Json *texts = json_get(record, "Inline");
    for (size_t i = 0; i < json_len(texts); i++)
        json_push(c->a, names, json_str(c->a, texts->object.p[i].key));
    return door_page(c, "PolicyNames", names, err);
}

IAM_OP(PutUserPolicy) { return put(c, IAM_USER, err); }
IAM_OP(GetUserPolicy) { return get(c, IAM_USER, err); }
IAM_OP(DeleteUserPolicy) { return drop(c, IAM_USER, err); }
IAM_OP(ListUserPolicies) { return list(c, IAM_USER, err); }
IAM_OP(PutRolePolicy) { return put(c, IAM_ROLE, err); }
IAM_OP(GetRolePolicy) { return get(c, IAM_ROLE, err); }
IAM_OP(DeleteRolePolicy) { return drop(c, IAM_ROLE, err); }
IAM_OP(ListRolePolicies) { return list(c, IAM_ROLE, err); }
IAM_OP(PutGroupPolicy) { return put(c, IAM_GROUP, err); }
IAM_OP(GetGroupPolicy) { return get(c, IAM_GROUP, err); }
IAM_OP(DeleteGroupPolicy) { return drop(c, IAM_GROUP, err); }
IAM_OP(ListGroupPolicies) { return list(c, IAM_GROUP, err); }

/* ---- attached -------------------------------------------------------------------------------------------------------------------- */

static Status attach(AwsCall *c, IamKind kind, Error *err)
{
    Str arn = aws_str(c, "PolicyArn"), text;
    Json *record;

    TRY(door_entity(c, kind, &record, err));
    Status s = iam_policy_text(c->access, c->a, arn, &text, err);
    if (s == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "Policy " STR_FMT " does not exist or is not attachable.", STR_ARG(arn));
    TRY(s);
    Json *arns = door_list_of(c, record, "Attached");
    if (door_holds(arns, arn))
        return OK;
    if (json_len(arns) >= ATTACHED_MAX)
        return AWS_FAIL(err, E_LIMIT, "LimitExceeded", "Cannot exceed quota for PoliciesPer%s: %d", door_entities[kind].title, ATTACHED_MAX);
    json_push(c->a, arns, json_str(c->a, arn));
    return door_save(c, kind, record, err);
}

static Status detach(AwsCall *c, IamKind kind, Error *err)
{
    Json *record;

    TRY(door_entity(c, kind, &record, err));
    if (!door_remove(json_get(record, "Attached"), aws_str(c, "PolicyArn")))
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "Policy " STR_FMT " was not found.", STR_ARG(aws_str(c, "PolicyArn")));
    return door_save(c, kind, record, err);
}

static Status list_attached(AwsCall *c, IamKind kind, Error *err)
{
    Json *record, *policy, *items = json_array(c->a);

    TRY(door_entity(c, kind, &record, err));
    const Json *arns = json_get(record, "Attached");
    for (size_t i = 0; i < json_len(arns); i++) {
        Json *o = json_object(c->a);
        if (iam_get(c->access, c->a, IAM_POLICY, json_at(arns, i)->string, &policy, err) != OK || !str_starts(json_get_str(policy, "Path", S("/")), aws_str(c, "PathPrefix")))
            continue;
        json_set(c->a, o, "PolicyName", json_get(policy, "PolicyName"));
        json_set(c->a, o, "PolicyArn", json_at(arns, i));
        json_push(c->a, items, o);
    }
    return door_page(c, "AttachedPolicies", items, err);
}

IAM_OP(AttachUserPolicy) { return attach(c, IAM_USER, err); }
IAM_OP(DetachUserPolicy) { return detach(c, IAM_USER, err); }
IAM_OP(ListAttachedUserPolicies) { return list_attached(c, IAM_USER, err); }
IAM_OP(AttachRolePolicy) { return attach(c, IAM_ROLE, err); }
IAM_OP(DetachRolePolicy) { return detach(c, IAM_ROLE, err); }
IAM_OP(ListAttachedRolePolicies) { return list_attached(c, IAM_ROLE, err); }
IAM_OP(AttachGroupPolicy) { return attach(c, IAM_GROUP, err); }
IAM_OP(DetachGroupPolicy) { return detach(c, IAM_GROUP, err); }
IAM_OP(ListAttachedGroupPolicies) { return list_attached(c, IAM_GROUP, err); }

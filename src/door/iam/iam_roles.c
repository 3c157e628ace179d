/* SPDX-License-Identifier: Apache-2.0 */
/* iam_roles.c - roles, instance profiles, and the roles that services make for themselves. */
#include "door/iam/iam_door_int.h"

enum { TRUST_MAX = 2048 };

static Status conflict(Error *err, const char *what)
{
    return AWS_FAIL(err, E_NOT_EMPTY, "DeleteConflict", "Cannot delete entity, must %s first.", what);
}

/* Users and roles of this account that a trust policy names must be there; their ids are kept with it. */
static Status name_principals(AwsCall *c, const Policy *p, Json *record, Error *err)
{
    static const IamKind kinds[] = { IAM_USER, IAM_ROLE };
    Json *ids = json_object(c->a), *found;
    StrVec names = {0};

    policy_principals(c->a, p, &names);
    for vec_each(Str, n, &names)
        for (size_t k = 0; k < COUNT_OF(kinds); k++) {
            Str prefix = str_fmt(c->a, "arn:aws:iam::" STR_FMT ":%s/", STR_ARG(door_account(c)), door_entities[kinds[k]].arn);
            if (!str_starts(*n, prefix))
                continue;
            Status s = iam_get(c->access, c->a, kinds[k], str_from(*n, (size_t)str_rchr(*n, '/') + 1), &found, err);
            if (s == E_NOT_FOUND || (s == OK && !str_eq(json_get_str(found, "Arn", (Str){0}), *n)))
                return AWS_FAIL(err, E_INVALID, "MalformedPolicyDocument", "Invalid principal in policy: \"AWS\":\"" STR_FMT "\"", STR_ARG(*n));
            TRY(s);
            json_set_s(c->a, ids, *n, json_get(found, door_entities[kinds[k]].id));
        }
    json_set(c->a, record, "TrustIds", ids);
    return OK;
}

static Status put_trust(AwsCall *c, Json *record, Str text, Error *err)
{
    Policy *p;

    TRY(policy_parse(c->a, text, POLICY_TRUST, &p, err));
    if (door_size(text) > TRUST_MAX)
        return AWS_FAIL(err, E_LIMIT, "LimitExceeded", "Cannot exceed quota for ACLSizePerRole: %d", TRUST_MAX);
    json_set(c->a, record, "AssumeRolePolicyDocument", json_str(c->a, text));
    return name_principals(c, p, record, err);
}

static Status insert_role(AwsCall *c, Json *record, Error *err)
{
    TRY(door_insert(c, IAM_ROLE, json_get_str(record, "RoleName", (Str){0}), record, err));
    aws_put(c, "Role", door_show(c, IAM_ROLE, record, SHOW_ALL));
    (void)!json_del(json_get(c->out, "Role"), S("RoleLastUsed"));
    return OK;
}

IAM_OP(CreateRole)
{
    Json *record;

    TRY(door_new(c, IAM_ROLE, &record, err));
    TRY(put_trust(c, record, aws_str(c, "AssumeRolePolicyDocument"), err));
    TRY(door_boundary(c, record, err));
    if (aws_has(c, "Description"))
        json_set(c->a, record, "Description", json_str(c->a, aws_str(c, "Description")));
    json_set(c->a, record, "MaxSessionDuration", json_int(c->a, aws_int(c, "MaxSessionDuration", 3600)));
    return insert_role(c, record, err);
}

IAM_OP(GetRole)
{
    Json *record;

    TRY(door_entity(c, IAM_ROLE, &record, err));
    aws_put(c, "Role", door_show(c, IAM_ROLE, record, SHOW_ALL));
    return OK;
}

/* A description that is left out goes (IAM API Reference, UpdateRole). */
static void describe(AwsCall *c, Json *record)
{
    if (aws_has(c, "Description"))
        json_set(c->a, record, "Description", json_str(c->a, aws_str(c, "Description")));
    else
        (void)!json_del(record, S("Description"));
}

IAM_OP(UpdateRole)
{
    Json *record;

    TRY(door_entity(c, IAM_ROLE, &record, err));
    describe(c, record);
    json_set(c->a, record, "MaxSessionDuration", json_int(c->a, aws_int(c, "MaxSessionDuration", 3600)));
    return door_save(c, IAM_ROLE, record, err);
}

IAM_OP(UpdateRoleDescription)
{
    Json *record;

    TRY(door_entity(c, IAM_ROLE, &record, err));
    describe(c, record);
    TRY(door_save(c, IAM_ROLE, record, err));
    aws_put(c, "Role", door_show(c, IAM_ROLE, record, SHOW_ALL));
    return OK;
}

IAM_OP(UpdateAssumeRolePolicy)
{
    Json *record;

    TRY(door_entity(c, IAM_ROLE, &record, err));
    TRY(put_trust(c, record, aws_str(c, "PolicyDocument"), err));
    return door_save(c, IAM_ROLE, record, err);
}

static Status profiles_with(AwsCall *c, Str role, Json **ret, Error *err)
{
    Json *all;

    *ret = json_array(c->a);
    TRY(iam_list(c->access, c->a, IAM_PROFILE, (Str){0}, &all, err));
    for (size_t i = 0; i < json_len(all); i++)
        if (door_holds(json_get(json_at(all, i), "Roles"), role))
            json_push(c->a, *ret, json_at(all, i));
    return OK;
}

static bool is_service_role(const Json *record) { return str_starts(json_get_str(record, "Path", (Str){0}), S("/aws-service-role/")); }

IAM_OP(DeleteRole)
{
    Json *record, *profiles;

    TRY(door_entity(c, IAM_ROLE, &record, err));
    if (is_service_role(record))
        return AWS_FAIL(err, E_INVALID, "UnmodifiableEntity", "Cannot perform the operation on the protected role '" STR_FMT "' - this role is only modifiable by AWS", STR_ARG(aws_str(c, "RoleName")));
    TRY(profiles_with(c, aws_str(c, "RoleName"), &profiles, err));
    if (json_len(profiles))
        return conflict(err, "remove roles from instance profile");
    if (json_len(json_get(record, "Attached")))
        return conflict(err, "detach all policies");
    if (json_len(json_get(record, "Inline")))
        return conflict(err, "delete policies");
    return iam_delete(c->access, IAM_ROLE, aws_str(c, "RoleName"), err);
}

static Status list(AwsCall *c, IamKind kind, const char *member, Error *err)
{
    Json *records, *items = json_array(c->a);

    TRY(door_allow(c, door_arn(c, door_entities[kind].arn, (Str){0}, (Str){0}), err));
    TRY(iam_list(c->access, c->a, kind, aws_str(c, "PathPrefix"), &records, err));
    for (size_t i = 0; i < json_len(records); i++)
        json_push(c->a, items, door_show(c, kind, json_at(records, i), SHOW_LIST));
    return door_page(c, member, items, err);
}

IAM_OP(ListRoles) { return list(c, IAM_ROLE, "Roles", err); }

/* ---- of services ----------------------------------------------------------------------------------------------------------------- */

static Str service_title(Str service)
{
    static const struct { const char *service, *title; } titles[] = {
        { "autoscaling", "AutoScaling" }, { "elasticbeanstalk", "ElasticBeanstalk" }, { "lakeformation", "LakeFormationDataAccess" }, { "elasticloadbalancing", "ElasticLoadBalancing" },
        { "custom-resource.application-autoscaling", "ApplicationAutoScaling_CustomResource" }, { "organizations", "Organizations" }, { "support", "Support" }, { "athena", "AmazonAthena" },
    };
    for (size_t i = 0; i < COUNT_OF(titles); i++)
        if (str_eq(service, str_c(titles[i].service)))
            return str_c(titles[i].title);
    return service;
}

static Str service_trust(AwsCall *c, Str service)
{
    Json *doc = json_object(c->a), *st = json_object(c->a), *who = json_object(c->a), *actions = json_array(c->a), *services = json_array(c->a), *list_ = json_array(c->a);

    json_push(c->a, actions, json_str(c->a, S("sts:AssumeRole")));
    json_push(c->a, services, json_str(c->a, service));
    json_set(c->a, who, "Service", services);
    json_set(c->a, st, "Action", actions);
    json_set(c->a, st, "Effect", json_str(c->a, S("Allow")));
    json_set(c->a, st, "Principal", who);
    json_push(c->a, list_, st);
    json_set(c->a, doc, "Version", json_str(c->a, S("2012-10-17")));
    json_set(c->a, doc, "Statement", list_);
    return json_text(c->a, doc);
}

IAM_OP(CreateServiceLinkedRole)
{
    Str service = aws_str(c, "AWSServiceName"), suffix = aws_str(c, "CustomSuffix"), trust = service_trust(c, service);
    ptrdiff_t end = str_find(service, S(".amazonaws.com"));
    Json *record;

    if (end <= 0)
        return AWS_FAIL(err, E_INVALID, "InvalidInput", "Service name " STR_FMT " is not valid", STR_ARG(service));
    Str name = str_fmt(c->a, "AWSServiceRoleFor" STR_FMT "%s" STR_FMT, STR_ARG(service_title(str_sub(service, 0, (size_t)end))), suffix.n ? "_" : "", STR_ARG(suffix));
    json_set(c->a, c->in, "RoleName", json_str(c->a, name));
    json_set(c->a, c->in, "Path", json_str(c->a, str_fmt(c->a, "/aws-service-role/" STR_FMT "/", STR_ARG(service))));
    TRY(door_new(c, IAM_ROLE, &record, err));
    TRY(put_trust(c, record, trust, err));
    json_set(c->a, record, "MaxSessionDuration", json_int(c->a, 3600));
    if (aws_has(c, "Description"))
        json_set(c->a, record, "Description", json_str(c->a, aws_str(c, "Description")));
    Status s = insert_role(c, record, err);
    if (s == E_EXISTS)
        return AWS_FAIL(err, E_INVALID, "InvalidInput", "Service role name " STR_FMT " has been taken in this account, please try a different suffix.", STR_ARG(name));
    return s;
}

IAM_OP(DeleteServiceLinkedRole)
{
    Json *record;

    TRY(door_entity(c, IAM_ROLE, &record, err));
    if (!is_service_role(record))
        return AWS_FAIL(err, E_INVALID, "InvalidInput", "The role " STR_FMT " is not a service-linked role", STR_ARG(aws_str(c, "RoleName")));
    TRY(iam_delete(c->access, IAM_ROLE, aws_str(c, "RoleName"), err));
    aws_put_str(c, "DeletionTaskId", str_fmt(c->a, "task" STR_FMT STR_FMT "/" STR_FMT, STR_ARG(json_get_str(record, "Path", (Str){0})), STR_ARG(aws_str(c, "RoleName")), STR_ARG(uuid_v4(c->a))));
    return OK;
}

IAM_OP(GetServiceLinkedRoleDeletionStatus)
{
    TRY(door_allow(c, S("*"), err));
    if (!str_starts(aws_str(c, "DeletionTaskId"), S("task/aws-service-role/")))
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "Deletion task " STR_FMT " cannot be found.", STR_ARG(aws_str(c, "DeletionTaskId")));
    aws_put_str(c, "Status", S("SUCCEEDED"));
    return OK;
}

/* ---- instance profiles -------------------------------------------------------------------------------------------------------------- */

IAM_OP(CreateInstanceProfile)
{
    Json *record;

    TRY(door_new(c, IAM_PROFILE, &record, err));
    TRY(door_insert(c, IAM_PROFILE, aws_str(c, "InstanceProfileName"), record, err));
    aws_put(c, "InstanceProfile", door_show(c, IAM_PROFILE, record, SHOW_ALL));
    return OK;
}

IAM_OP(GetInstanceProfile)
{
    Json *record;

    TRY(door_entity(c, IAM_PROFILE, &record, err));
    aws_put(c, "InstanceProfile", door_show(c, IAM_PROFILE, record, SHOW_ALL));
    return OK;
}

IAM_OP(DeleteInstanceProfile)
{
    Json *record;

    TRY(door_entity(c, IAM_PROFILE, &record, err));
    if (json_len(json_get(record, "Roles")))
        return conflict(err, "remove roles from instance profile");
    return iam_delete(c->access, IAM_PROFILE, aws_str(c, "InstanceProfileName"), err);
}

IAM_OP(ListInstanceProfiles) { return list(c, IAM_PROFILE, "InstanceProfiles", err); }

IAM_OP(ListInstanceProfilesForRole)
{
    Json *role, *profiles, *items = json_array(c->a);

    TRY(door_entity(c, IAM_ROLE, &role, err));
    TRY(profiles_with(c, aws_str(c, "RoleName"), &profiles, err));
    for (size_t i = 0; i < json_len(profiles); i++)
        json_push(c->a, items, door_show(c, IAM_PROFILE, json_at(profiles, i), SHOW_LIST));
    return door_page(c, "InstanceProfiles", items, err);
}

IAM_OP(AddRoleToInstanceProfile)
{
    Json *record, *role;

    TRY(door_entity(c, IAM_PROFILE, &record, err));
    TRY(iam_get(c->access, c->a, IAM_ROLE, aws_str(c, "RoleName"), &role, err));
    TRY(iam_pass_role(c->access, c->a, &c->who, json_get_str(role, "Arn", (Str){0}), "ec2.amazonaws.com", err));
    Json *roles = door_list_of(c, record, "Roles");
    if (json_len(roles))
        return AWS_FAIL(err, E_LIMIT, "LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1");
    json_push(c->a, roles, json_str(c->a, aws_str(c, "RoleName")));
    return door_save(c, IAM_PROFILE, record, err);
}

IAM_OP(RemoveRoleFromInstanceProfile)
{
    Json *record;

    TRY(door_entity(c, IAM_PROFILE, &record, err));
    if (!door_remove(json_get(record, "Roles"), aws_str(c, "RoleName")))
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "Role with name " STR_FMT " cannot be found in instance profile.", STR_ARG(aws_str(c, "RoleName")));
    return door_save(c, IAM_PROFILE, record, err);
}

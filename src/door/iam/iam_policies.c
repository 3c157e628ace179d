/* SPDX-License-Identifier: Apache-2.0 */
/* iam_policies.c - managed policies and their versions.  AWS's own (iam_managed.c of access/) are read only. */
#include "door/iam/iam_door_int.h"

enum { VERSIONS_MAX = 5, POLICY_SIZE_MAX = 6144 };

Status door_policy_check(AwsCall *c, Str text, PolicyKind kind, Error *err)
{
    Policy *ignored;
    return policy_parse(c->a, text, kind, &ignored, err);
}

static Status check_text(AwsCall *c, Str text, Error *err)
{
    TRY(door_policy_check(c, text, POLICY_IDENTITY, err));
    if (door_size(text) > POLICY_SIZE_MAX)
        return AWS_FAIL(err, E_LIMIT, "LimitExceeded", "Cannot exceed quota for PolicySize: %d", POLICY_SIZE_MAX);
    return OK;
}

/* ---- who has them ------------------------------------------------------------------------------------------------------------- */

static void count(AwsCall *c, Map *m, Str arn)
{
    int64_t *n = map_get(m, arn);
    if (!n) {
        n = arena_new(c->a, int64_t);
        map_put(m, arn, n);
    }
    ++*n;
}

static Status count_kind(AwsCall *c, IamKind kind, Attachments *ret, Error *err)
{
    Json *all;

    TRY(iam_list(c->access, c->a, kind, (Str){0}, &all, err));
    for (size_t i = 0; i < json_len(all); i++) {
        const Json *arns = json_get(json_at(all, i), "Attached");
        Str boundary = json_get_str(json_at(all, i), "PermissionsBoundary", (Str){0});
        for (size_t k = 0; k < json_len(arns); k++)
            count(c, &ret->counts, json_at(arns, k)->string);
        if (boundary.n)
            count(c, &ret->boundaries, boundary);
    }
    return OK;
}

Status door_attachments(AwsCall *c, Attachments *ret, Error *err)
{
    *ret = (Attachments){ .counts = map_new(c->a), .boundaries = map_new(c->a) };
    TRY(count_kind(c, IAM_USER, ret, err));
    TRY(count_kind(c, IAM_ROLE, ret, err));
    return count_kind(c, IAM_GROUP, ret, err);
}

static int64_t counted(const Map *m, Str arn)
{
    const int64_t *n = map_get(m, arn);
    return n ? *n : 0;
}

Json *door_show_policy(AwsCall *c, const Json *record, const Attachments *at, ShowKind show)
{
    static const char *const names[] = { "PolicyName", "PolicyId", "Arn", "Path", "DefaultVersionId" };
    static const char *const more[] = { "Description" };
    Str arn = json_get_str(record, "Arn", (Str){0});
    Json *o = json_object(c->a);

    door_copy(c, o, record, names, COUNT_OF(names));
    json_set(c->a, o, "AttachmentCount", json_int(c->a, counted(&at->counts, arn)));
    json_set(c->a, o, "PermissionsBoundaryUsageCount", json_int(c->a, counted(&at->boundaries, arn)));
    json_set(c->a, o, "IsAttachable", json_bool(c->a, true));
    door_set_time(c, o, "CreateDate", json_get_int(record, "CreateDate", 0));
    door_set_time(c, o, "UpdateDate", json_get_int(record, "UpdateDate", 0));
    if (show == SHOW_ALL) {
        door_copy(c, o, record, more, COUNT_OF(more));
        json_set(c->a, o, "Tags", door_show_tags(c, json_get(record, "Tags")));
    }
    return o;
}

/* ---- policies -------------------------------------------------------------------------------------------------------------------- */

static Json *new_version(AwsCall *c, Json *record, Str text)
{
    int64_t n = json_get_int(record, "LastVersion", 0) + 1, now = clock_ms();
    Json *v = json_object(c->a);

    json_set(c->a, v, "VersionId", json_str(c->a, str_fmt(c->a, "v%lld", (long long)n)));
    json_set(c->a, v, "Document", json_str(c->a, text));
    json_set(c->a, v, "CreateDate", json_int(c->a, now));
    json_set(c->a, record, "LastVersion", json_int(c->a, n));
    json_set(c->a, record, "UpdateDate", json_int(c->a, now));
    json_push(c->a, door_list_of(c, record, "Versions"), v);
    return v;
}

IAM_OP(CreatePolicy)
{
    Attachments at = { .counts = map_new(c->a), .boundaries = map_new(c->a) };
    Json *record;

    TRY(door_new(c, IAM_POLICY, &record, err));
    TRY(check_text(c, aws_str(c, "PolicyDocument"), err));
    Json *v = new_version(c, record, aws_str(c, "PolicyDocument"));
    json_set(c->a, record, "DefaultVersionId", json_get(v, "VersionId"));
    door_set_str(c, record, "Description", aws_str(c, "Description"));
    Status s = iam_create(c->access, IAM_POLICY, json_get_str(record, "Arn", (Str){0}), record, err);
    if (s == E_EXISTS)
        return AWS_FAIL(err, E_EXISTS, "EntityAlreadyExists", "A policy called " STR_FMT " already exists. Duplicate names are not allowed.", STR_ARG(aws_str(c, "PolicyName")));
    TRY(s);
    Json *shown = door_show_policy(c, record, &at, SHOW_ALL);
    if (!json_len(json_get(record, "Tags")))
        (void)!json_del(shown, S("Tags"));
    (void)!json_del(shown, S("Description"));                    /* CreatePolicy alone leaves it out */
    aws_put(c, "Policy", shown);
    return OK;
}

IAM_OP(GetPolicy)
{
    Attachments at;
    Json *record;

    TRY(door_entity(c, IAM_POLICY, &record, err));
    TRY(door_attachments(c, &at, err));
    aws_put(c, "Policy", door_show_policy(c, record, &at, SHOW_ALL));
    return OK;
}

static Status changeable(Str arn, Error *err)
{
    if (!str_starts(arn, S("arn:aws:iam::aws:")))
        return OK;
    return AWS_FAIL(err, E_DENIED, "AccessDenied", "Policy " STR_FMT " is managed by AWS and cannot be changed", STR_ARG(arn));
}

IAM_OP(DeletePolicy)
{
    Attachments at;
    Json *record;
    Str arn = aws_str(c, "PolicyArn");

    TRY(door_entity(c, IAM_POLICY, &record, err));
    TRY(changeable(arn, err));
    TRY(door_attachments(c, &at, err));
    if (counted(&at.counts, arn) || counted(&at.boundaries, arn))
        return AWS_FAIL(err, E_NOT_EMPTY, "DeleteConflict", "Cannot delete a policy attached to entities.");
    if (json_len(json_get(record, "Versions")) > 1)
        return AWS_FAIL(err, E_NOT_EMPTY, "DeleteConflict", "This policy has more than one version. Before you delete a policy, you must delete the policy's versions. The default version is deleted with the policy.");
    return iam_delete(c->access, IAM_POLICY, arn, err);
}

static bool wanted(AwsCall *c, const Json *record, const Attachments *at)
{
    Str arn = json_get_str(record, "Arn", (Str){0}), usage = aws_str(c, "PolicyUsageFilter");
    int64_t policies = counted(&at->counts, arn), boundaries = counted(&at->boundaries, arn);

    if (!str_starts(json_get_str(record, "Path", S("/")), aws_str(c, "PathPrefix")))
        return false;
    if (str_eq(usage, S("PermissionsBoundary")) && !boundaries)
        return false;
    return !aws_bool(c, "OnlyAttached", false) || policies > 0 || (boundaries > 0 && !str_eq(usage, S("PermissionsPolicy")));
}

static void add_wanted(AwsCall *c, Json *to, const Json *records, const Attachments *at)
{
    for (size_t i = 0; i < json_len(records); i++)
        if (wanted(c, json_at(records, i), at))
            json_push(c->a, to, door_show_policy(c, json_at(records, i), at, SHOW_LIST));
}

IAM_OP(ListPolicies)
{
    Str scope = aws_str(c, "Scope");
    Json *local, *items = json_array(c->a);
    Attachments at;

    TRY(door_allow(c, door_arn(c, "policy", (Str){0}, (Str){0}), err));
    TRY(door_attachments(c, &at, err));
    TRY(iam_list(c->access, c->a, IAM_POLICY, (Str){0}, &local, err));
    if (!str_eq(scope, S("AWS")))
        add_wanted(c, items, local, &at);
    if (!str_eq(scope, S("Local")))
        add_wanted(c, items, iam_managed_list(c->a), &at);
    return door_page(c, "Policies", items, err);
}

/* ---- versions ---------------------------------------------------------------------------------------------------------------------- */

static Json *show_version(AwsCall *c, const Json *record, const Json *v, ShowKind show)
{
    Json *o = json_object(c->a);
    Str id = json_get_str(v, "VersionId", (Str){0});

    if (show == SHOW_ALL)
        json_set(c->a, o, "Document", door_doc_text(c, json_get_str(v, "Document", (Str){0})));
    json_set(c->a, o, "VersionId", json_str(c->a, id));
    json_set(c->a, o, "IsDefaultVersion", json_bool(c->a, str_eq(id, json_get_str(record, "DefaultVersionId", (Str){0}))));
    door_set_time(c, o, "CreateDate", json_get_int(v, "CreateDate", 0));
    return o;
}

static bool version_id_ok(Str id)
{
    if (id.n < 2 || id.p[0] != 'v' || id.p[1] < '1' || id.p[1] > '9')
        return false;
    for (size_t i = 2; i < id.n; i++)
        if (id.p[i] < '0' || id.p[i] > '9')
            return false;
    return true;
}

static Status find_version(AwsCall *c, const Json *record, size_t *ret, Error *err)
{
    const Json *versions = json_get(record, "Versions");
    Str id = aws_str(c, "VersionId");

    if (!version_id_ok(id))
        return AWS_FAIL(err, E_INVALID, "ValidationError", "Value '" STR_FMT "' at 'versionId' failed to satisfy constraint: Member must satisfy regular expression pattern: v[1-9][0-9]*(\\.[A-Za-z0-9-]*)?", STR_ARG(id));
    for (*ret = 0; *ret < json_len(versions); ++*ret)
        if (str_eq(json_get_str(json_at(versions, *ret), "VersionId", (Str){0}), id))
            return OK;
    return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "Policy " STR_FMT " version " STR_FMT " does not exist or is not attachable.", STR_ARG(aws_str(c, "PolicyArn")), STR_ARG(id));
}

IAM_OP(CreatePolicyVersion)
{
    Json *record;

    TRY(door_entity(c, IAM_POLICY, &record, err));
    TRY(changeable(aws_str(c, "PolicyArn"), err));
    TRY(check_text(c, aws_str(c, "PolicyDocument"), err));
    if (json_len(json_get(record, "Versions")) >= VERSIONS_MAX)
        return AWS_FAIL(err, E_LIMIT, "LimitExceeded", "A managed policy can have up to %d versions. Before you create a new version, you must delete an existing version.", VERSIONS_MAX);
    Json *v = new_version(c, record, aws_str(c, "PolicyDocument"));
    if (aws_bool(c, "SetAsDefault", false))
        json_set(c->a, record, "DefaultVersionId", json_get(v, "VersionId"));
    TRY(door_save(c, IAM_POLICY, record, err));
    aws_put(c, "PolicyVersion", show_version(c, record, v, SHOW_LIST));
    return OK;
}

IAM_OP(GetPolicyVersion)
{
    Json *record;
    size_t i;

    TRY(door_entity(c, IAM_POLICY, &record, err));
    TRY(find_version(c, record, &i, err));
    aws_put(c, "PolicyVersion", show_version(c, record, json_at(json_get(record, "Versions"), i), SHOW_ALL));
    return OK;
}

IAM_OP(DeletePolicyVersion)
{
    Json *record;
    size_t at;

    TRY(door_entity(c, IAM_POLICY, &record, err));
    TRY(changeable(aws_str(c, "PolicyArn"), err));
    TRY(find_version(c, record, &at, err));
    if (str_eq(aws_str(c, "VersionId"), json_get_str(record, "DefaultVersionId", (Str){0})))
        return AWS_FAIL(err, E_NOT_EMPTY, "DeleteConflict", "Cannot delete the default version of a policy.");
    Json *versions = json_get(record, "Versions"), *kept = json_array(c->a);
    for (size_t i = 0; i < json_len(versions); i++)
        if (i != at)
            json_push(c->a, kept, json_at(versions, i));
    json_set(c->a, record, "Versions", kept);
    return door_save(c, IAM_POLICY, record, err);
}

IAM_OP(ListPolicyVersions)
{
    Json *record, *items = json_array(c->a);

    TRY(door_entity(c, IAM_POLICY, &record, err));
    const Json *versions = json_get(record, "Versions");
    for (size_t i = json_len(versions); i > 0; i--)
        json_push(c->a, items, show_version(c, record, json_at(versions, i - 1), SHOW_LIST));
    return door_page(c, "Versions", items, err);
}

IAM_OP(SetDefaultPolicyVersion)
{
    Json *record;
    size_t at;

    TRY(door_entity(c, IAM_POLICY, &record, err));
    TRY(changeable(aws_str(c, "PolicyArn"), err));
    TRY(find_version(c, record, &at, err));
    json_set(c->a, record, "DefaultVersionId", json_str(c->a, aws_str(c, "VersionId")));
    json_set(c->a, record, "UpdateDate", json_int(c->a, clock_ms()));
    return door_save(c, IAM_POLICY, record, err);
}

/* ---- entities ------------------------------------------------------------------------------------------------------------------------ */

static bool uses(AwsCall *c, const Json *record, Str arn)
{
    Str usage = aws_str(c, "PolicyUsageFilter");
    bool policy = door_holds(json_get(record, "Attached"), arn), boundary = str_eq(json_get_str(record, "PermissionsBoundary", (Str){0}), arn);
    return (policy && !str_eq(usage, S("PermissionsBoundary"))) || (boundary && !str_eq(usage, S("PermissionsPolicy")));
}

static Status add_users_of(AwsCall *c, IamKind kind, const char *member, Error *err)
{
    const EntityName *e = &door_entities[kind];
    Str filter = aws_str(c, "EntityFilter");
    bool all = !filter.n || str_ends(filter, S("ManagedPolicy"));
    Json *records, *items = json_array(c->a);

    TRY(iam_list(c->access, c->a, kind, aws_str(c, "PathPrefix"), &records, err));
    for (size_t i = 0; i < json_len(records); i++) {
        const char *const names[] = { e->name, e->id };
        Json *o = json_object(c->a);
        if ((!all && !str_eq(filter, str_c(e->title))) || !uses(c, json_at(records, i), aws_str(c, "PolicyArn")))
            continue;
        door_copy(c, o, json_at(records, i), names, COUNT_OF(names));
        json_push(c->a, items, o);
    }
    aws_put(c, member, items);
    return OK;
}

IAM_OP(ListEntitiesForPolicy)
{
    Json *record;

    TRY(door_entity(c, IAM_POLICY, &record, err));
    TRY(add_users_of(c, IAM_GROUP, "PolicyGroups", err));
    TRY(add_users_of(c, IAM_USER, "PolicyUsers", err));
    TRY(add_users_of(c, IAM_ROLE, "PolicyRoles", err));
    json_set(c->a, c->out, "IsTruncated", json_bool(c->a, false));
    return OK;
}

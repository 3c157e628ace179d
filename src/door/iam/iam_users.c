/* SPDX-License-Identifier: Apache-2.0 */
/* iam_users.c - users and groups.  A user's record names its groups; a group's members are found by them. */
#include "door/iam/iam_door_int.h"

static Status conflict(Error *err, const char *what)
{
    return AWS_FAIL(err, E_NOT_EMPTY, "DeleteConflict", "Cannot delete entity, must %s first.", what);
}

static Status list_entities(AwsCall *c, IamKind kind, const char *member, Error *err)
{
    Json *records, *items = json_array(c->a);

    TRY(door_allow(c, door_arn(c, door_entities[kind].arn, (Str){0}, (Str){0}), err));
    TRY(iam_list(c->access, c->a, kind, aws_str(c, "PathPrefix"), &records, err));
    for (size_t i = 0; i < json_len(records); i++)
        json_push(c->a, items, door_show(c, kind, json_at(records, i), SHOW_LIST));
    return door_page(c, member, items, err);
}

/* ---- users ------------------------------------------------------------------------------------------------------------------- */

IAM_OP(CreateUser)
{
    Json *record;

    TRY(door_new(c, IAM_USER, &record, err));
    TRY(door_boundary(c, record, err));
    TRY(door_insert(c, IAM_USER, aws_str(c, "UserName"), record, err));
    aws_put(c, "User", door_show(c, IAM_USER, record, SHOW_ALL));
    return OK;
}

/* The root has no record: GetUser says what it is. */
static Status get_root(AwsCall *c, Error *err)
{
    Json *o = json_object(c->a);

    TRY(door_allow(c, c->who.arn, err));
    json_set(c->a, o, "UserId", json_str(c->a, door_account(c)));
    json_set(c->a, o, "Arn", json_str(c->a, c->who.arn));
    json_set(c->a, o, "CreateDate", aws_time(c, 1));
    aws_put(c, "User", o);
    return OK;
}

IAM_OP(GetUser)
{
    Json *record;

    if (!aws_has(c, "UserName") && c->who.kind == PR_ROOT)
        return get_root(c, err);
    TRY(door_entity(c, IAM_USER, &record, err));
    aws_put(c, "User", door_show(c, IAM_USER, record, SHOW_ALL));
    return OK;
}

static Status move_keys(AwsCall *c, const Json *record, Str arn, Error *err)
{
    const Json *keys = json_get(record, "AccessKeys");
    for (size_t i = 0; i < json_len(keys); i++)
        TRY(iam_key_move(c->access, json_get_str(json_at(keys, i), "AccessKeyId", (Str){0}), arn, err));
    return OK;
}

/* New path or name, and the ARN that follows from them; the old document goes last. */
static Status rename_entity(AwsCall *c, IamKind kind, Json *record, Str new_name, Error *err)
{
    const EntityName *e = &door_entities[kind];
    Str old = door_name(kind, record), path = aws_has(c, "NewPath") ? aws_str(c, "NewPath") : json_get_str(record, "Path", S("/"));
    Str name = new_name.n ? new_name : old;

    if (aws_has(c, "NewPath"))
        TRY(door_check_path(path, err));
    TRY(door_check_name(name, "the new name", err));
    json_set(c->a, record, "Path", json_str(c->a, path));
    json_set(c->a, record, e->name, json_str(c->a, name));
    json_set(c->a, record, "Arn", json_str(c->a, door_arn(c, e->arn, path, name)));
    if (str_eq(name, old))
        return iam_update(c->access, kind, name, record, err);
    TRY(door_insert(c, kind, name, record, err));
    return iam_delete(c->access, kind, old, err);
}

static Str replaced(AwsCall *c, Str text, Str from, Str to)
{
    StrBuf b = sb_new(c->a);
    for (ptrdiff_t at; (at = str_find(text, from)) >= 0; text = str_from(text, (size_t)at + from.n)) {
        sb_add(&b, str_sub(text, 0, (size_t)at));
        sb_add(&b, to);
    }
    sb_add(&b, text);
    return sb_str(&b);
}

/* Trust policies name a user by what it is, not by what it was called: they follow. */
static Status follow_trust(AwsCall *c, Str old, Str arn, Error *err)
{
    Json *roles;
    Str from = str_fmt(c->a, "\"" STR_FMT "\"", STR_ARG(old)), to = str_fmt(c->a, "\"" STR_FMT "\"", STR_ARG(arn));

    TRY(iam_list(c->access, c->a, IAM_ROLE, (Str){0}, &roles, err));
    for (size_t i = 0; i < json_len(roles); i++) {
        Json *role = json_at(roles, i), *ids = json_get(role, "TrustIds"), *id = json_get_s(ids, old);
        if (!id)
            continue;
        json_set(c->a, role, "AssumeRolePolicyDocument", json_str(c->a, replaced(c, json_get_str(role, "AssumeRolePolicyDocument", (Str){0}), from, to)));
        (void)!json_del(ids, old);
        json_set_s(c->a, ids, arn, id);
        TRY(door_save(c, IAM_ROLE, role, err));
    }
    return OK;
}

IAM_OP(UpdateUser)
{
    Json *record;

    TRY(door_entity(c, IAM_USER, &record, err));
    Str old = json_get_str(record, "Arn", (Str){0});
    TRY(rename_entity(c, IAM_USER, record, aws_str(c, "NewUserName"), err));
    Str arn = json_get_str(record, "Arn", (Str){0});
    TRY(move_keys(c, record, arn, err));
    return str_eq(old, arn) ? OK : follow_trust(c, old, arn, err);
}

IAM_OP(DeleteUser)
{
    Json *record;

    TRY(door_entity(c, IAM_USER, &record, err));
    if (json_len(json_get(record, "Attached")))
        return conflict(err, "detach all policies");
    if (json_len(json_get(record, "Inline")))
        return conflict(err, "delete policies");
    if (json_len(json_get(record, "AccessKeys")))
        return conflict(err, "delete access keys");
    if (json_len(json_get(record, "Groups")))
        return conflict(err, "remove users from group");
    if (json_get(record, "LoginProfile"))
        return conflict(err, "delete login profile");
    if (json_len(json_get(record, "MFADevices")))
        return conflict(err, "delete MFA device");
    if (json_len(json_get(record, "SigningCertificates")))
        return conflict(err, "delete signing certificates");
    return iam_delete(c->access, IAM_USER, aws_str(c, "UserName"), err);
}

IAM_OP(ListUsers) { return list_entities(c, IAM_USER, "Users", err); }

static Status put_boundary(AwsCall *c, IamKind kind, Error *err)
{
    Json *record;

    TRY(door_entity(c, kind, &record, err));
    TRY(door_boundary(c, record, err));
    return door_save(c, kind, record, err);
}

static Status drop_boundary(AwsCall *c, IamKind kind, Error *err)
{
    Json *record;

    TRY(door_entity(c, kind, &record, err));
    if (!json_del(record, S("PermissionsBoundary")))
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "%s " STR_FMT " has no permissions boundary", door_entities[kind].title, STR_ARG(door_name(kind, record)));
    return door_save(c, kind, record, err);
}

IAM_OP(PutUserPermissionsBoundary) { return put_boundary(c, IAM_USER, err); }
IAM_OP(DeleteUserPermissionsBoundary) { return drop_boundary(c, IAM_USER, err); }
IAM_OP(PutRolePermissionsBoundary) { return put_boundary(c, IAM_ROLE, err); }
IAM_OP(DeleteRolePermissionsBoundary) { return drop_boundary(c, IAM_ROLE, err); }

/* ---- groups -------------------------------------------------------------------------------------------------------------------- */

IAM_OP(CreateGroup)
{
    Json *record;

    TRY(door_new(c, IAM_GROUP, &record, err));
    TRY(door_insert(c, IAM_GROUP, aws_str(c, "GroupName"), record, err));
    aws_put(c, "Group", door_show(c, IAM_GROUP, record, SHOW_ALL));
    return OK;
}

/* Users whose record names the group. */
static Status members(AwsCall *c, Str group, Json **ret, Error *err)
{
    Json *users;

    *ret = json_array(c->a);
    TRY(iam_list(c->access, c->a, IAM_USER, (Str){0}, &users, err));
    for (size_t i = 0; i < json_len(users); i++)
        if (door_holds(json_get(json_at(users, i), "Groups"), group))
            json_push(c->a, *ret, json_at(users, i));
    return OK;
}

IAM_OP(GetGroup)
{
    Json *record, *users, *items = json_array(c->a);

    TRY(door_entity(c, IAM_GROUP, &record, err));
    TRY(members(c, aws_str(c, "GroupName"), &users, err));
    for (size_t i = 0; i < json_len(users); i++)
        json_push(c->a, items, door_show(c, IAM_USER, json_at(users, i), SHOW_LIST));
    aws_put(c, "Group", door_show(c, IAM_GROUP, record, SHOW_ALL));
    return door_page(c, "Users", items, err);
}

static Status follow_name(AwsCall *c, Str old, Str name, Error *err)
{
    Json *users;

    TRY(members(c, old, &users, err));
    for (size_t i = 0; i < json_len(users); i++) {
        Json *groups = json_get(json_at(users, i), "Groups");
        door_remove(groups, old);
        json_push(c->a, groups, json_str(c->a, name));
        TRY(door_save(c, IAM_USER, json_at(users, i), err));
    }
    return OK;
}

IAM_OP(UpdateGroup)
{
    Json *record;
    Str old = aws_str(c, "GroupName"), name = aws_str(c, "NewGroupName");

    TRY(door_entity(c, IAM_GROUP, &record, err));
    TRY(rename_entity(c, IAM_GROUP, record, name, err));
    return name.n && !str_eq(name, old) ? follow_name(c, old, name, err) : OK;
}

IAM_OP(DeleteGroup)
{
    Json *record, *users;

    TRY(door_entity(c, IAM_GROUP, &record, err));
    TRY(members(c, aws_str(c, "GroupName"), &users, err));
    if (json_len(users))
        return conflict(err, "remove users from group");
    if (json_len(json_get(record, "Attached")))
        return conflict(err, "detach all policies");
    if (json_len(json_get(record, "Inline")))
        return conflict(err, "delete policies");
    return iam_delete(c->access, IAM_GROUP, aws_str(c, "GroupName"), err);
}

IAM_OP(ListGroups) { return list_entities(c, IAM_GROUP, "Groups", err); }

IAM_OP(AddUserToGroup)
{
    Json *group, *user;

    TRY(door_allow(c, door_arn(c, "group", (Str){0}, aws_str(c, "GroupName")), err));
    TRY(iam_get(c->access, c->a, IAM_USER, aws_str(c, "UserName"), &user, err));
    TRY(iam_get(c->access, c->a, IAM_GROUP, aws_str(c, "GroupName"), &group, err));
    Json *groups = door_list_of(c, user, "Groups");
    if (door_holds(groups, aws_str(c, "GroupName")))
        return OK;
    if (json_len(groups) >= 10)
        return AWS_FAIL(err, E_LIMIT, "LimitExceeded", "Cannot exceed quota for GroupsPerUser: 10");
    json_push(c->a, groups, json_str(c->a, aws_str(c, "GroupName")));
    return door_save(c, IAM_USER, user, err);
}

IAM_OP(RemoveUserFromGroup)
{
    Json *group, *user;

    TRY(door_entity(c, IAM_GROUP, &group, err));
    TRY(iam_get(c->access, c->a, IAM_USER, aws_str(c, "UserName"), &user, err));
    if (!door_remove(json_get(user, "Groups"), aws_str(c, "GroupName")))
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "User " STR_FMT " not in group " STR_FMT, STR_ARG(aws_str(c, "UserName")), STR_ARG(aws_str(c, "GroupName")));
    return door_save(c, IAM_USER, user, err);
}

IAM_OP(ListGroupsForUser)
{
    Json *user, *group, *items = json_array(c->a);

    TRY(door_entity(c, IAM_USER, &user, err));
    const Json *names = json_get(user, "Groups");
    for (size_t i = 0; i < json_len(names); i++)
        if (iam_get(c->access, c->a, IAM_GROUP, json_at(names, i)->string, &group, err) == OK)
            json_push(c->a, items, door_show(c, IAM_GROUP, group, SHOW_LIST));
    return door_page(c, "Groups", items, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* iam_show.c - records as answers show them: lists show less than a single one (IAM API Reference, notes of the List operations). */
#include "door/iam/iam_door_int.h"

Json *door_show_tags(AwsCall *c, const Json *tags)
{
    Json *l = json_array(c->a);
    for (size_t i = 0; i < json_len(tags); i++) {
        Json *t = json_object(c->a);
        json_set(c->a, t, "Key", json_str(c->a, tags->object.p[i].key));
        json_set(c->a, t, "Value", tags->object.p[i].value);
        json_push(c->a, l, t);
    }
    return l;
}

static void show_boundary(AwsCall *c, Json *o, const Json *record)
{
    Str arn = json_get_str(record, "PermissionsBoundary", (Str){0});
    Json *b = json_object(c->a);

    if (!arn.n)
        return;
    json_set(c->a, b, "PermissionsBoundaryType", json_str(c->a, S("PermissionsBoundaryPolicy")));
    json_set(c->a, b, "PermissionsBoundaryArn", json_str(c->a, arn));
    json_set(c->a, o, "PermissionsBoundary", b);
}

static void show_last_used(AwsCall *c, Json *o, const Json *record)
{
    IamUsed used = {0};
    Error ignored;
    Json *l = json_object(c->a);

    (void)!iam_last_used(c->access, c->a, json_get_str(record, "RoleId", (Str){0}), &used, &ignored);
    door_set_time(c, l, "LastUsedDate", used.ms);
    door_set_str(c, l, "Region", used.region);
    json_set(c->a, o, "RoleLastUsed", l);
}

static void show_role(AwsCall *c, Json *o, const Json *record, ShowKind show)
{
    static const char *const names[] = { "Description", "MaxSessionDuration" };

    json_set(c->a, o, "AssumeRolePolicyDocument", door_doc_text(c, json_get_str(record, "AssumeRolePolicyDocument", (Str){0})));
    door_copy(c, o, record, names, COUNT_OF(names));
    if (show == SHOW_ALL) {
        show_boundary(c, o, record);
        show_last_used(c, o, record);
    }
}

static void show_profile(AwsCall *c, Json *o, const Json *record)
{
    const Json *names = json_get(record, "Roles");
    Json *roles = json_array(c->a), *role;
    Error ignored;

    for (size_t i = 0; i < json_len(names); i++)
        if (iam_get(c->access, c->a, IAM_ROLE, json_at(names, i)->string, &role, &ignored) == OK)
            json_push(c->a, roles, door_show(c, IAM_ROLE, role, SHOW_LIST));
    json_set(c->a, o, "Roles", roles);
}

Json *door_show(AwsCall *c, IamKind kind, const Json *record, ShowKind show)
{
    const EntityName *e = &door_entities[kind];
    const char *const names[] = { "Path", e->name, e->id, "Arn" };
    const Json *tags = json_get(record, "Tags");
    Json *o = json_object(c->a);

    door_copy(c, o, record, names, COUNT_OF(names));
    door_set_time(c, o, "CreateDate", json_get_int(record, "CreateDate", 0));
    if (kind == IAM_ROLE)
        show_role(c, o, record, show);
    if (kind == IAM_USER && show == SHOW_ALL)
        show_boundary(c, o, record);
    if (kind == IAM_PROFILE)
        show_profile(c, o, record);
    if ((show == SHOW_ALL && json_len(tags)) || kind == IAM_PROFILE)
        json_set(c->a, o, "Tags", door_show_tags(c, tags));
    return o;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* iam_common.c - names, ARNs, permission and paging, the same for every operation.
 *
 * Invariant: whether the caller may is asked before anything is said of the entity, its existence included. */
#include "door/iam/iam_door_int.h"

#include <ctype.h>

const EntityName door_entities[] = {
    [IAM_USER] = { "User", "UserName", "UserId", "user", "AIDA" },
    [IAM_ROLE] = { "Role", "RoleName", "RoleId", "role", "AROA" },
    [IAM_GROUP] = { "Group", "GroupName", "GroupId", "group", "AGPA" },
    [IAM_POLICY] = { "Policy", "PolicyName", "PolicyId", "policy", "ANPA" },
    [IAM_PROFILE] = { "InstanceProfile", "InstanceProfileName", "InstanceProfileId", "instance-profile", "AIPA" },
};

Status door_locked(AwsCall *c, AwsHandler body, Error *err)
{
    IamDoor *d = c->door;

    pthread_mutex_lock(&d->lock);
    Status s = body(c, err);
    pthread_mutex_unlock(&d->lock);
    return s;
}

Str door_account(const AwsCall *c)
{
    const IamDoor *d = c->door;
    return cat_account(d->svc->catalog);
}

/* A path may lack its slashes in old records: the ARN has them once. */
Str door_arn(AwsCall *c, const char *type, Str path, Str name)
{
    while (path.n && path.p[0] == '/')
        path = str_from(path, 1);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    return str_fmt(c->a, "arn:aws:iam::" STR_FMT ":%s/" STR_FMT "%s" STR_FMT, STR_ARG(door_account(c)), type, STR_ARG(path), path.n ? "/" : "", STR_ARG(name));
}

Status door_allow(AwsCall *c, Str arn, Error *err)
{
    Props context = {0};
    const Json *tags = aws_get(c, "Tags"), *keys = aws_get(c, "TagKeys");

    for (size_t i = 0; i < json_len(tags); i++) {
        Str key = json_get_str(json_at(tags, i), "Key", (Str){0});
        vec_push(c->a, &context, ((KeyValue){ str_cat(c->a, S("aws:RequestTag/"), key), json_get_str(json_at(tags, i), "Value", (Str){0}) }));
        vec_push(c->a, &context, ((KeyValue){ S("aws:TagKeys"), key }));
    }
    for (size_t i = 0; i < json_len(keys); i++)
        vec_push(c->a, &context, ((KeyValue){ S("aws:TagKeys"), json_at(keys, i)->string }));
    if (aws_has(c, "PolicyArn"))
        props_set(c->a, &context, S("iam:PolicyARN"), aws_str(c, "PolicyArn"));
    if (aws_has(c, "PermissionsBoundary"))
        props_set(c->a, &context, S("iam:PermissionsBoundary"), aws_str(c, "PermissionsBoundary"));
    return aws_allow(c, str_fmt(c->a, "iam:%s", c->op->name).p, arn, &context, err);
}

Status door_caller_user(AwsCall *c, Str *ret, Error *err)
{
    ptrdiff_t at = str_find(c->who.arn, S(":user/"));

    if (at < 0)
        return AWS_FAIL(err, E_INVALID, "ValidationError", "Must specify userName when calling with non-User credentials");
    *ret = str_from(c->who.arn, (size_t)str_rchr(c->who.arn, '/') + 1);
    return OK;
}

Str door_name(IamKind kind, const Json *record)
{
    return json_get_str(record, kind == IAM_POLICY ? "Arn" : door_entities[kind].name, (Str){0});
}

Status door_named(AwsCall *c, IamKind kind, Str name, Json **ret, Error *err)
{
    Error missing;
    Status s = iam_get(c->access, c->a, kind, name, ret, &missing);
    Str arn = kind == IAM_POLICY ? name : s == OK ? json_get_str(*ret, "Arn", (Str){0}) : door_arn(c, door_entities[kind].arn, (Str){0}, name);

    TRY(door_allow(c, arn, err));
    if (s != OK)
        *err = missing;
    return s;
}

Status door_entity(AwsCall *c, IamKind kind, Json **ret, Error *err)
{
    Str name = aws_str(c, kind == IAM_POLICY ? "PolicyArn" : door_entities[kind].name);

    if (!name.n && kind == IAM_USER)
        TRY(door_caller_user(c, &name, err));
    return door_named(c, kind, name, ret, err);
}

Status door_save(AwsCall *c, IamKind kind, const Json *record, Error *err)
{
    return iam_update(c->access, kind, door_name(kind, record), record, err);
}

/* ---- new ones ---------------------------------------------------------------------------------------------------------------- */

Status door_check_path(Str path, Error *err)
{
    bool ok = path.n >= 1 && path.p[0] == '/' && path.p[path.n - 1] == '/' && str_find(path, S("//")) < 0;

    for (size_t i = 0; ok && i < path.n; i++)
        ok = (unsigned char)path.p[i] > 0x20 && (unsigned char)path.p[i] < 0x7F;
    return ok ? OK : AWS_FAIL(err, E_INVALID, "ValidationError", "The specified value for path is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters.");
}

Status door_check_name(Str name, const char *field, Error *err)
{
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)name.p[i]) && !strchr("+=,.@_-", name.p[i]))
            return AWS_FAIL(err, E_INVALID, "ValidationError", "The specified value for %s is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-", field);
    return OK;
}

static const char *field_name(AwsCall *c, const char *name)          /* UserName is userName in messages */
{
    char *p = str_z(c->a, str_c(name));
    p[0] = (char)tolower((unsigned char)p[0]);
    return p;
}

Status door_new(AwsCall *c, IamKind kind, Json **ret, Error *err)
{
    const EntityName *e = &door_entities[kind];
    Str name = aws_str(c, e->name), path = aws_has(c, "Path") ? aws_str(c, "Path") : S("/");
    Json *o = json_object(c->a);

    TRY(door_check_name(name, field_name(c, e->name), err));
    TRY(door_check_path(path, err));
    Str arn = door_arn(c, e->arn, path, name);
    TRY(door_allow(c, arn, err));
    json_set(c->a, o, "Path", json_str(c->a, path));
    json_set(c->a, o, e->name, json_str(c->a, name));
    json_set(c->a, o, e->id, json_str(c->a, iam_new_id(c->a, e->prefix)));
    json_set(c->a, o, "Arn", json_str(c->a, arn));
    json_set(c->a, o, "CreateDate", json_int(c->a, clock_ms()));
    TRY(door_tags_add(c, o, err));
    *ret = o;
    return OK;
}

Status door_insert(AwsCall *c, IamKind kind, Str name, const Json *record, Error *err)
{
    Status s = iam_create(c->access, kind, name, record, err);

    if (s == E_EXISTS && kind == IAM_PROFILE)
        return AWS_FAIL(err, E_EXISTS, "EntityAlreadyExists", "Instance Profile " STR_FMT " already exists.", STR_ARG(name));
    if (s == E_EXISTS)
        return AWS_FAIL(err, E_EXISTS, "EntityAlreadyExists", "%s with name " STR_FMT " already exists.", door_entities[kind].title, STR_ARG(name));
    return s;
}

Status door_boundary(AwsCall *c, Json *record, Error *err)
{
    Str arn = aws_str(c, "PermissionsBoundary"), text;

    if (!aws_has(c, "PermissionsBoundary"))
        return OK;
    if (!str_starts(arn, S("arn:")) || str_find(arn, S(":policy/")) < 0)
        return AWS_FAIL(err, E_INVALID, "ValidationError", "Value (" STR_FMT ") for parameter PermissionsBoundary is invalid.", STR_ARG(arn));
    Status s = iam_policy_text(c->access, c->a, arn, &text, err);
    if (s == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "Scope ARN: " STR_FMT " does not exist or is not attachable.", STR_ARG(arn));
    TRY(s);
    json_set(c->a, record, "PermissionsBoundary", json_str(c->a, arn));
    return OK;
}

/* ---- small things --------------------------------------------------------------------------------------------------------------- */

Status door_page(AwsCall *c, const char *list, Json *items, Error *err)
{
    TRY(aws_page(c, list, items, "Marker", "MaxItems", 100, "Marker", err));
    json_set(c->a, c->out, "IsTruncated", json_bool(c->a, json_get(c->out, "Marker") != NULL));
    return OK;
}

Json *door_doc_text(AwsCall *c, Str document) { return json_str(c->a, url_encode(c->a, document, 0)); }

void door_copy(AwsCall *c, Json *to, const Json *from, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        Json *v = json_get(from, names[i]);
        if (v)
            json_set(c->a, to, names[i], v);
    }
}

void door_set_str(AwsCall *c, Json *o, const char *key, Str v)
{
    if (v.n)
        json_set(c->a, o, key, json_str(c->a, v));
}

void door_set_time(AwsCall *c, Json *o, const char *key, int64_t ms)
{
    Json *t = aws_time(c, ms);
    if (t)
        json_set(c->a, o, key, t);
}

size_t door_remove(Json *array, Str v)
{
    size_t kept = 0, n = json_len(array);
    for (size_t i = 0; i < n; i++)
        if (!str_eq(array->array.p[i]->string, v))
            array->array.p[kept++] = array->array.p[i];
    if (n)
        array->array.n = kept;
    return n - kept;
}

bool door_holds(const Json *array, Str v)
{
    for (size_t i = 0; i < json_len(array); i++)
        if (json_is(json_at(array, i), JSON_STRING) && str_eq(json_at(array, i)->string, v))
            return true;
    return false;
}

Json *door_list_of(AwsCall *c, Json *record, const char *key)
{
    Json *l = json_get(record, key);
    if (!l) {
        l = json_array(c->a);
        json_set(c->a, record, key, l);
    }
    return l;
}

int64_t door_size(Str text)
{
    int64_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += !isspace((unsigned char)text.p[i]) && ((unsigned char)text.p[i] & 0xC0) != 0x80;
    return n;
}

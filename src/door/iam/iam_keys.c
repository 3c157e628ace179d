/* SPDX-License-Identifier: Apache-2.0 */
/* iam_keys.c - access keys and passwords of users.
 *
 * A user's keys stand in its record ("AccessKeys"), the root's in a document of the account; the secrets are the catalog's.  A password is not kept: there is no
 * console to sign in to, the profile is a record. */
#include "door/iam/iam_door_int.h"

enum { KEYS_MAX = 2 };

/* Whose keys: a user's record, or the root's. */
typedef struct Owner { int root; Json *record; Str name, arn; } Owner;

static Status owner_of(AwsCall *c, Owner *ret, Error *err)
{
    *ret = (Owner){0};
    if (!aws_has(c, "UserName") && c->who.kind == PR_ROOT) {
        ret->root = 1;
        ret->arn = c->who.arn;
        TRY(door_allow(c, c->who.arn, err));
        Status s = iam_doc_get(c->access, c->a, S("account"), S("root"), &ret->record, err);
        if (s == E_NOT_FOUND)
            ret->record = json_object(c->a);
        return s == E_NOT_FOUND ? OK : s;
    }
    TRY(door_entity(c, IAM_USER, &ret->record, err));
    ret->name = json_get_str(ret->record, "UserName", (Str){0});
    ret->arn = json_get_str(ret->record, "Arn", (Str){0});
    return OK;
}

static Status save(AwsCall *c, const Owner *o, Error *err)
{
    return o->root ? iam_doc_put(c->access, S("account"), S("root"), o->record, err) : door_save(c, IAM_USER, o->record, err);
}

static Json *key_record(AwsCall *c, const Owner *o, const CatKey *k)
{
    Json *r = json_object(c->a);
    door_set_str(c, r, "UserName", o->name);
    json_set(c->a, r, "AccessKeyId", json_str(c->a, k->id));
    json_set(c->a, r, "Status", json_str(c->a, S("Active")));
    json_set(c->a, r, "CreateDate", json_int(c->a, k->created_ms));
    return r;
}

static Json *show_key(AwsCall *c, const Owner *o, const Json *k)
{
    static const char *const names[] = { "AccessKeyId", "Status" };
    Json *r = json_object(c->a);
    json_set(c->a, r, "UserName", json_str(c->a, o->root ? door_account(c) : o->name));
    door_copy(c, r, k, names, COUNT_OF(names));
    door_set_time(c, r, "CreateDate", json_get_int(k, "CreateDate", 0));
    return r;
}

IAM_OP(CreateAccessKey)
{
    Owner o;
    CatKey k = {0};

    TRY(owner_of(c, &o, err));
    Json *keys = door_list_of(c, o.record, "AccessKeys");
    if (json_len(keys) >= KEYS_MAX)
        return AWS_FAIL(err, E_LIMIT, "LimitExceeded", "Cannot exceed quota for AccessKeysPerUser: %d", KEYS_MAX);
    TRY(iam_key_create(c->access, c->a, o.arn, &k, err));
    Json *record = key_record(c, &o, &k);
    json_push(c->a, keys, record);
    Status s = save(c, &o, err);
    if (s != OK) {
        Error ignored;
        (void)!iam_key_delete(c->access, k.id, &ignored);
        return s;
    }
    Json *shown = show_key(c, &o, record);
    json_set(c->a, shown, "SecretAccessKey", json_str(c->a, k.secret));
    aws_put(c, "AccessKey", shown);
    return OK;
}

static Status find_key(AwsCall *c, const Owner *o, Json **ret, Error *err)
{
    const Json *keys = json_get(o->record, "AccessKeys");
    for (size_t i = 0; i < json_len(keys); i++)
        if (str_eq(json_get_str(json_at(keys, i), "AccessKeyId", (Str){0}), aws_str(c, "AccessKeyId"))) {
            *ret = json_at(keys, i);
            return OK;
        }
    return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "The Access Key with id " STR_FMT " cannot be found.", STR_ARG(aws_str(c, "AccessKeyId")));
}

IAM_OP(UpdateAccessKey)
{
    Owner o;
    Json *key;
    Str status = aws_str(c, "Status");

    TRY(owner_of(c, &o, err));
    TRY(find_key(c, &o, &key, err));
    json_set(c->a, key, "Status", json_str(c->a, status));
    TRY(iam_key_activate(c->access, aws_str(c, "AccessKeyId"), str_eq(status, S("Active")), err));
    return save(c, &o, err);
}

IAM_OP(DeleteAccessKey)
{
    Owner o;
    Json *key, *kept = json_array(c->a);

    TRY(owner_of(c, &o, err));
    TRY(find_key(c, &o, &key, err));
    const Json *keys = json_get(o.record, "AccessKeys");
    for (size_t i = 0; i < json_len(keys); i++)
        if (json_at(keys, i) != key)
            json_push(c->a, kept, json_at(keys, i));
    json_set(c->a, o.record, "AccessKeys", kept);
    TRY(iam_key_delete(c->access, aws_str(c, "AccessKeyId"), err));
    return save(c, &o, err);
}

IAM_OP(ListAccessKeys)
{
    Owner o;
    Json *items = json_array(c->a);

    TRY(owner_of(c, &o, err));
    const Json *keys = json_get(o.record, "AccessKeys");
    for (size_t i = 0; i < json_len(keys); i++)
        json_push(c->a, items, show_key(c, &o, json_at(keys, i)));
    if (o.name.n)
        aws_put_str(c, "UserName", o.name);
    return door_page(c, "AccessKeyMetadata", items, err);
}

IAM_OP(GetAccessKeyLastUsed)
{
    Str id = aws_str(c, "AccessKeyId");
    Json *o = json_object(c->a);
    IamUsed used;
    CatKey k = {0};
    IamDoor *d = c->door;

    Status s = cat_key_get(d->svc->catalog, c->a, id, &k, err);
    TRY(door_allow(c, s == OK && str_find(k.principal, S(":user/")) >= 0 ? k.principal : S("*"), err));
    if (s == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "The Access Key with id " STR_FMT " cannot be found", STR_ARG(id));
    TRY(s);
    TRY(iam_last_used(c->access, c->a, id, &used, err));
    door_set_time(c, o, "LastUsedDate", used.ms);
    json_set(c->a, o, "ServiceName", json_str(c->a, used.ms ? used.service : S("N/A")));
    json_set(c->a, o, "Region", json_str(c->a, used.ms ? used.region : S("N/A")));
    if (str_find(k.principal, S(":user/")) >= 0)
        aws_put_str(c, "UserName", str_from(k.principal, (size_t)str_rchr(k.principal, '/') + 1));
    aws_put(c, "AccessKeyLastUsed", o);
    return OK;
}

/* ---- login profiles ---------------------------------------------------------------------------------------------------------------- */

static Json *show_profile(AwsCall *c, const Json *user)
{
    const Json *p = json_get(user, "LoginProfile");
    Json *o = json_object(c->a);
    json_set(c->a, o, "UserName", json_get(user, "UserName"));
    door_set_time(c, o, "CreateDate", json_get_int(p, "CreateDate", 0));
    json_set(c->a, o, "PasswordResetRequired", json_bool(c->a, json_get_bool(p, "PasswordResetRequired", false)));
    return o;
}

static Status need_profile(const Json *user, Error *err)
{
    if (json_get(user, "LoginProfile"))
        return OK;
    return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "Login Profile for User " STR_FMT " cannot be found.", STR_ARG(json_get_str(user, "UserName", (Str){0})));
}

static void put_profile(AwsCall *c, Json *user, int64_t created_ms)
{
    Json *p = json_object(c->a);
    json_set(c->a, p, "CreateDate", json_int(c->a, created_ms));
    json_set(c->a, p, "PasswordResetRequired", json_bool(c->a, aws_bool(c, "PasswordResetRequired", false)));
    json_set(c->a, user, "LoginProfile", p);
}

IAM_OP(CreateLoginProfile)
{
    Json *user;

    TRY(door_entity(c, IAM_USER, &user, err));
    if (json_get(user, "LoginProfile"))
        return AWS_FAIL(err, E_EXISTS, "EntityAlreadyExists", "Login Profile for User " STR_FMT " already exists.", STR_ARG(json_get_str(user, "UserName", (Str){0})));
    put_profile(c, user, clock_ms());
    TRY(door_save(c, IAM_USER, user, err));
    aws_put(c, "LoginProfile", show_profile(c, user));
    return OK;
}

IAM_OP(GetLoginProfile)
{
    Json *user;

    TRY(door_entity(c, IAM_USER, &user, err));
    TRY(need_profile(user, err));
    aws_put(c, "LoginProfile", show_profile(c, user));
    return OK;
}

IAM_OP(UpdateLoginProfile)
{
    Json *user;

    TRY(door_entity(c, IAM_USER, &user, err));
    TRY(need_profile(user, err));
    put_profile(c, user, json_get_int(json_get(user, "LoginProfile"), "CreateDate", 0));
    return door_save(c, IAM_USER, user, err);
}

IAM_OP(DeleteLoginProfile)
{
    Json *user;

    TRY(door_entity(c, IAM_USER, &user, err));
    TRY(need_profile(user, err));
    (void)!json_del(user, S("LoginProfile"));
    return door_save(c, IAM_USER, user, err);
}

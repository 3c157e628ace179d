/* SPDX-License-Identifier: Apache-2.0 */
/* iam_devices.c - MFA devices, SSH keys and certificates: records that are kept and given back.  Nothing signs in with them: codes are not verified, and
 * aws:MultiFactorAuthPresent is never true. */
#include "door/iam/iam_door_int.h"

/* ---- virtual MFA devices: documents "mfa" by serial number ------------------------------------------------------------------------ */

static Status invalid(Error *err, Str message) { return AWS_FAIL(err, E_INVALID, "ValidationError", STR_FMT, STR_ARG(message)); }

static Json *blob(AwsCall *c, size_t bytes)
{
    return json_str(c->a, base64_encode(c->a, iam_new_id(c->a, bytes > 32 ? "otpauth://totp/" : "")));
}

IAM_OP(CreateVirtualMFADevice)
{
    Str path = aws_has(c, "Path") ? aws_str(c, "Path") : S("/"), name = aws_str(c, "VirtualMFADeviceName");
    Json *known, *record = json_object(c->a), *shown = json_object(c->a);

    if (path.n > 512)
        return invalid(err, str_fmt(c->a, "1 validation error detected: Value \"" STR_FMT "\" at \"path\" failed to satisfy constraint: Member must have length less than or equal to 512", STR_ARG(path)));
    TRY(door_check_path(path, err));
    TRY(door_check_name(name, "virtualMFADeviceName", err));
    Str serial = door_arn(c, "mfa", path, name);
    TRY(door_allow(c, serial, err));
    if (iam_doc_get(c->access, c->a, S("mfa"), serial, &known, err) == OK)
        return AWS_FAIL(err, E_EXISTS, "EntityAlreadyExists", "MFADevice entity at the same path and name already exists.");
    TRY(door_tags_add(c, record, err));
    json_set(c->a, record, "SerialNumber", json_str(c->a, serial));
    json_set(c->a, record, "CreateDate", json_int(c->a, clock_ms()));
    TRY(iam_doc_put(c->access, S("mfa"), serial, record, err));
    json_set(c->a, shown, "SerialNumber", json_str(c->a, serial));
    json_set(c->a, shown, "Base32StringSeed", blob(c, 20));
    json_set(c->a, shown, "QRCodePNG", blob(c, 64));
    aws_put(c, "VirtualMFADevice", shown);
    return OK;
}

static Status devices(AwsCall *c, Json **ret, Error *err) { return iam_doc_list(c->access, c->a, S("mfa"), ret, err); }

/* Which user has the device: NULL nobody. */
static Status holder(AwsCall *c, Str serial, Json **ret, Json **device, Error *err)
{
    Json *users;

    *ret = NULL;
    TRY(iam_list(c->access, c->a, IAM_USER, (Str){0}, &users, err));
    for (size_t i = 0; i < json_len(users); i++) {
        const Json *have = json_get(json_at(users, i), "MFADevices");
        for (size_t k = 0; k < json_len(have); k++)
            if (str_eq(json_get_str(json_at(have, k), "SerialNumber", (Str){0}), serial)) {
                *ret = json_at(users, i);
                *device = json_at(have, k);
                return OK;
            }
    }
    return OK;
}

IAM_OP(DeleteVirtualMFADevice)
{
    Str serial = aws_str(c, "SerialNumber");
    Json *known, *user, *device;

    TRY(door_allow(c, serial, err));
    if (iam_doc_get(c->access, c->a, S("mfa"), serial, &known, err) == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "VirtualMFADevice with serial number " STR_FMT " doesn't exist.", STR_ARG(serial));
    TRY(holder(c, serial, &user, &device, err));
    if (user)
        return AWS_FAIL(err, E_NOT_EMPTY, "DeleteConflict", "MFA VirtualDevice in use. Must deactivate first.");
    return iam_doc_put(c->access, S("mfa"), serial, NULL, err);
}

IAM_OP(ListVirtualMFADevices)
{
    Str status = aws_str(c, "AssignmentStatus");
    Json *all, *items = json_array(c->a);

    TRY(door_allow(c, door_arn(c, "mfa", (Str){0}, (Str){0}), err));
    TRY(devices(c, &all, err));
    for (size_t i = 0; i < json_len(all); i++) {
        Str serial = json_get_str(json_at(all, i), "SerialNumber", (Str){0});
        Json *user, *device, *o = json_object(c->a);
        TRY(holder(c, serial, &user, &device, err));
        if ((str_eq(status, S("Assigned")) && !user) || (str_eq(status, S("Unassigned")) && user))
            continue;
        json_set(c->a, o, "SerialNumber", json_str(c->a, serial));
        if (user) {
            json_set(c->a, o, "User", door_show(c, IAM_USER, user, SHOW_ALL));
            door_set_time(c, o, "EnableDate", json_get_int(device, "EnableDate", 0));
        }
        json_push(c->a, items, o);
    }
    return door_page(c, "VirtualMFADevices", items, err);
}

IAM_OP(EnableMFADevice)
{
    Str serial = aws_str(c, "SerialNumber");
    Json *user, *held, *device, *record = json_object(c->a);

    TRY(door_entity(c, IAM_USER, &user, err));
    TRY(holder(c, serial, &held, &device, err));
    if (held)
        return AWS_FAIL(err, E_EXISTS, "EntityAlreadyExists", "MFA Device " STR_FMT " is already in use.", STR_ARG(serial));
    if (str_starts(serial, S("arn:")) && iam_doc_get(c->access, c->a, S("mfa"), serial, &device, err) == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "VirtualMFADevice with serial number " STR_FMT " doesn't exist.", STR_ARG(serial));
    json_set(c->a, record, "SerialNumber", json_str(c->a, serial));
    json_set(c->a, record, "EnableDate", json_int(c->a, clock_ms()));
    json_push(c->a, door_list_of(c, user, "MFADevices"), record);
    return door_save(c, IAM_USER, user, err);
}

/* Removes the member of `list` whose `field` is `value`. */
static bool take_out(AwsCall *c, Json *record, const char *list, const char *field, Str value)
{
    Json *l = json_get(record, list), *kept = json_array(c->a);
    for (size_t i = 0; i < json_len(l); i++)
        if (!str_eq(json_get_str(json_at(l, i), field, (Str){0}), value))
            json_push(c->a, kept, json_at(l, i));
    bool gone = json_len(kept) < json_len(l);
    json_set(c->a, record, list, kept);
    return gone;
}

static Json *member_of(const Json *record, const char *list, const char *field, Str value)
{
    const Json *l = json_get(record, list);
    for (size_t i = 0; i < json_len(l); i++)
        if (str_eq(json_get_str(json_at(l, i), field, (Str){0}), value))
            return json_at(l, i);
    return NULL;
}

IAM_OP(DeactivateMFADevice)
{
    Json *user;

    TRY(door_entity(c, IAM_USER, &user, err));
    if (!take_out(c, user, "MFADevices", "SerialNumber", aws_str(c, "SerialNumber")))
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "MFA Device invalid for user.");
    return door_save(c, IAM_USER, user, err);
}

IAM_OP(ListMFADevices)
{
    Json *user, *items = json_array(c->a);

    if (!aws_has(c, "UserName") && c->who.kind == PR_ROOT) {
        TRY(door_allow(c, c->who.arn, err));
        return door_page(c, "MFADevices", items, err);
    }
    TRY(door_entity(c, IAM_USER, &user, err));
    const Json *have = json_get(user, "MFADevices");
    for (size_t i = 0; i < json_len(have); i++) {
        Json *o = json_object(c->a);
        json_set(c->a, o, "UserName", json_get(user, "UserName"));
        json_set(c->a, o, "SerialNumber", json_get(json_at(have, i), "SerialNumber"));
        door_set_time(c, o, "EnableDate", json_get_int(json_at(have, i), "EnableDate", 0));
        json_push(c->a, items, o);
    }
    return door_page(c, "MFADevices", items, err);
}

static Status get_device(AwsCall *c, Json **ret, Error *err)
{
    Str serial = aws_str(c, "SerialNumber");

    TRY(door_allow(c, serial, err));
    Status s = iam_doc_get(c->access, c->a, S("mfa"), serial, ret, err);
    return s == E_NOT_FOUND ? AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "VirtualMFADevice with serial number " STR_FMT " doesn't exist.", STR_ARG(serial)) : s;
}

IAM_OP(GetMFADevice)
{
    Json *r, *user, *device;

    TRY(get_device(c, &r, err));
    TRY(holder(c, aws_str(c, "SerialNumber"), &user, &device, err));
    aws_put_str(c, "SerialNumber", aws_str(c, "SerialNumber"));
    if (user) {
        aws_put(c, "UserName", json_get(user, "UserName"));
        aws_put(c, "EnableDate", aws_time(c, json_get_int(device, "EnableDate", 0)));
    }
    return OK;
}

IAM_OP(TagMFADevice)
{
    Json *r;

    TRY(get_device(c, &r, err));
    TRY(door_tags_add(c, r, err));
    return iam_doc_put(c->access, S("mfa"), aws_str(c, "SerialNumber"), r, err);
}

IAM_OP(UntagMFADevice)
{
    Json *r;

    TRY(get_device(c, &r, err));
    TRY(door_tags_remove(c, r, err));
    return iam_doc_put(c->access, S("mfa"), aws_str(c, "SerialNumber"), r, err);
}

IAM_OP(ListMFADeviceTags)
{
    Json *r;

    TRY(get_device(c, &r, err));
    return door_page(c, "Tags", door_show_tags(c, json_get(r, "Tags")), err);
}

/* ---- what is uploaded for a user: lists in its record ----------------------------------------------------------------------------------- */

typedef struct Upload { const char *list, *id, *body, *what, *member; int max; } Upload;

static const Upload SSH = { "SSHPublicKeys", "SSHPublicKeyId", "SSHPublicKeyBody", "Public Key", "SSHPublicKey", 5 };
static const Upload SIGNING = { "SigningCertificates", "CertificateId", "CertificateBody", "Certificate", "Certificate", 2 };

static Json *show_upload(AwsCall *c, const Upload *u, const Json *user, const Json *r, ShowKind show)
{
    const char *const names[] = { u->id, "Status", "Fingerprint" };
    Json *o = json_object(c->a);

    json_set(c->a, o, "UserName", json_get(user, "UserName"));
    door_copy(c, o, r, names, COUNT_OF(names));
    if (show == SHOW_ALL)
        door_copy(c, o, r, &u->body, 1);
    door_set_time(c, o, "UploadDate", json_get_int(r, "UploadDate", 0));
    return o;
}

static Status upload(AwsCall *c, const Upload *u, const char *id_prefix, Error *err)
{
    Str body = aws_str(c, u->body);
    Json *user, *r = json_object(c->a);

    TRY(door_entity(c, IAM_USER, &user, err));
    Json *list = door_list_of(c, user, u->list);
    if ((int)json_len(list) >= u->max)
        return AWS_FAIL(err, E_LIMIT, "LimitExceeded", "Cannot exceed quota for %ssPerUser: %d", u == &SSH ? "SSHPublicKey" : "Certificate", u->max);
    Str id = str_cat(c->a, iam_new_id(c->a, id_prefix), iam_new_id(c->a, ""));
    json_set(c->a, r, u->id, json_str(c->a, str_sub(id, 0, u == &SSH ? 20 : 32)));
    json_set(c->a, r, u->body, json_str(c->a, body));
    json_set(c->a, r, "Status", json_str(c->a, S("Active")));
    json_set(c->a, r, "UploadDate", json_int(c->a, clock_ms()));
    if (u == &SSH)
        json_set(c->a, r, "Fingerprint", json_str(c->a, hash_hex(c->a, HASH_MD5, body)));
    json_push(c->a, list, r);
    TRY(door_save(c, IAM_USER, user, err));
    aws_put(c, u->member, show_upload(c, u, user, r, SHOW_ALL));
    return OK;
}

static Status missing(AwsCall *c, const Upload *u, Error *err)
{
    return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "The %s with id " STR_FMT " cannot be found.", u->what, STR_ARG(aws_str(c, u->id)));
}

static Status set_status(AwsCall *c, const Upload *u, Error *err)
{
    Json *user;

    TRY(door_entity(c, IAM_USER, &user, err));
    Json *r = member_of(user, u->list, u->id, aws_str(c, u->id));
    if (!r)
        return missing(c, u, err);
    json_set(c->a, r, "Status", json_str(c->a, aws_str(c, "Status")));
    return door_save(c, IAM_USER, user, err);
}

static Status drop(AwsCall *c, const Upload *u, Error *err)
{
    Json *user;

    TRY(door_entity(c, IAM_USER, &user, err));
    if (!take_out(c, user, u->list, u->id, aws_str(c, u->id)))
        return missing(c, u, err);
    return door_save(c, IAM_USER, user, err);
}

static Status list(AwsCall *c, const Upload *u, const char *member, ShowKind show, Error *err)
{
    Json *user, *items = json_array(c->a);

    TRY(door_entity(c, IAM_USER, &user, err));
    const Json *l = json_get(user, u->list);
    for (size_t i = 0; i < json_len(l); i++)
        json_push(c->a, items, show_upload(c, u, user, json_at(l, i), show));
    return door_page(c, member, items, err);
}

IAM_OP(UploadSSHPublicKey) { return upload(c, &SSH, "APKA", err); }
IAM_OP(UpdateSSHPublicKey) { return set_status(c, &SSH, err); }
IAM_OP(DeleteSSHPublicKey) { return drop(c, &SSH, err); }
IAM_OP(ListSSHPublicKeys) { return list(c, &SSH, "SSHPublicKeys", SHOW_LIST, err); }

IAM_OP(GetSSHPublicKey)
{
    Json *user;

    TRY(door_entity(c, IAM_USER, &user, err));
    const Json *r = member_of(user, SSH.list, SSH.id, aws_str(c, SSH.id));
    if (!r)
        return missing(c, &SSH, err);
    aws_put(c, SSH.member, show_upload(c, &SSH, user, r, SHOW_ALL));
    return OK;
}

IAM_OP(UploadSigningCertificate)
{
    if (str_find(aws_str(c, "CertificateBody"), S("-----BEGIN CERTIFICATE-----")) < 0)
        return AWS_FAIL(err, E_INVALID, "MalformedCertificate", "Certificate " STR_FMT " is malformed", STR_ARG(str_sub(aws_str(c, "CertificateBody"), 0, 200)));
    return upload(c, &SIGNING, "", err);
}

IAM_OP(UpdateSigningCertificate) { return set_status(c, &SIGNING, err); }
IAM_OP(DeleteSigningCertificate) { return drop(c, &SIGNING, err); }
IAM_OP(ListSigningCertificates) { return list(c, &SIGNING, "Certificates", SHOW_ALL, err); }

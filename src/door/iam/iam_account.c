/* SPDX-License-Identifier: Apache-2.0 */
/* iam_account.c - what the account has as a whole: its alias, its password policy, sums, everything at once, the credential report. */
#include "door/iam/iam_door_int.h"

/* ---- alias ------------------------------------------------------------------------------------------------------------------- */

static Status alias_of(AwsCall *c, Str *ret, Error *err)
{
    Json *doc;
    Status s = iam_doc_get(c->access, c->a, S("account"), S("alias"), &doc, err);

    *ret = s == OK && json_is(doc, JSON_STRING) ? doc->string : (Str){0};
    return s == E_NOT_FOUND ? OK : s;
}

IAM_OP(CreateAccountAlias)
{
    Str alias = aws_str(c, "AccountAlias");

    TRY(door_allow(c, S("*"), err));
    for (size_t i = 0; i < alias.n; i++)
        if (!(alias.p[i] >= 'a' && alias.p[i] <= 'z') && !(alias.p[i] >= '0' && alias.p[i] <= '9') && alias.p[i] != '-')
            return AWS_FAIL(err, E_INVALID, "ValidationError", "1 validation error detected: Value '" STR_FMT "' at 'accountAlias' failed to satisfy constraint: Member must satisfy regular expression pattern: ^[a-z0-9]([a-z0-9]|-(?!-)){1,61}[a-z0-9]$", STR_ARG(alias));
    return iam_doc_put(c->access, S("account"), S("alias"), json_str(c->a, alias), err);
}

IAM_OP(DeleteAccountAlias)
{
    Str alias;

    TRY(door_allow(c, S("*"), err));
    TRY(alias_of(c, &alias, err));
    if (!str_eq(alias, aws_str(c, "AccountAlias")))
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "The account alias with name " STR_FMT " cannot be found.", STR_ARG(aws_str(c, "AccountAlias")));
    return iam_doc_put(c->access, S("account"), S("alias"), NULL, err);
}

IAM_OP(ListAccountAliases)
{
    Json *items = json_array(c->a);
    Str alias;

    TRY(door_allow(c, S("*"), err));
    TRY(alias_of(c, &alias, err));
    if (alias.n)
        json_push(c->a, items, json_str(c->a, alias));
    return door_page(c, "AccountAliases", items, err);
}

/* ---- password policy ------------------------------------------------------------------------------------------------------------ */

typedef struct Range { const char *field, *shown; int64_t min, max; } Range;

static Status check_ranges(AwsCall *c, Error *err)
{
    static const Range ranges[] = { { "MinimumPasswordLength", "minimumPasswordLength", 6, 128 }, { "PasswordReusePrevention", "passwordReusePrevention", 1, 24 }, { "MaxPasswordAge", "maxPasswordAge", 1, 1095 } };
    StrVec problems = {0};

    for (size_t i = 0; i < COUNT_OF(ranges); i++) {
        int64_t v = aws_int(c, ranges[i].field, ranges[i].min);
        if (v > ranges[i].max || v < ranges[i].min)
            vec_push(c->a, &problems, str_fmt(c->a, "Value \"%lld\" at \"%s\" failed to satisfy constraint: Member must have value %s than or equal to %lld", (long long)v, ranges[i].shown,
                                              v > ranges[i].max ? "less" : "greater", (long long)(v > ranges[i].max ? ranges[i].max : ranges[i].min)));
    }
    if (!problems.n)
        return OK;
    return AWS_FAIL(err, E_INVALID, "ValidationError", "%zu validation error%s detected: " STR_FMT, problems.n, problems.n > 1 ? "s" : "", STR_ARG(str_join(c->a, &problems, S("; "))));
}

IAM_OP(UpdateAccountPasswordPolicy)
{
    static const char *const flags[] = { "RequireSymbols", "RequireNumbers", "RequireUppercaseCharacters", "RequireLowercaseCharacters", "AllowUsersToChangePassword", "HardExpiry" };
    Json *o = json_object(c->a);
    int64_t age = aws_int(c, "MaxPasswordAge", 0), reuse = aws_int(c, "PasswordReusePrevention", 0);

    TRY(door_allow(c, S("*"), err));
    TRY(check_ranges(c, err));
    json_set(c->a, o, "MinimumPasswordLength", json_int(c->a, aws_int(c, "MinimumPasswordLength", 6)));
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        json_set(c->a, o, flags[i], json_bool(c->a, aws_bool(c, flags[i], false)));
    json_set(c->a, o, "ExpirePasswords", json_bool(c->a, age > 0));
    json_set(c->a, o, "MaxPasswordAge", json_int(c->a, age));
    if (reuse)
        json_set(c->a, o, "PasswordReusePrevention", json_int(c->a, reuse));
    return iam_doc_put(c->access, S("account"), S("password-policy"), o, err);
}

IAM_OP(GetAccountPasswordPolicy)
{
    Json *o;

    TRY(door_allow(c, S("*"), err));
    Status s = iam_doc_get(c->access, c->a, S("account"), S("password-policy"), &o, err);
    if (s == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "The Password Policy with domain name " STR_FMT " cannot be found.", STR_ARG(door_account(c)));
    TRY(s);
    aws_put(c, "PasswordPolicy", o);
    return OK;
}

IAM_OP(DeleteAccountPasswordPolicy)
{
    Json *o;

    TRY(door_allow(c, S("*"), err));
    if (iam_doc_get(c->access, c->a, S("account"), S("password-policy"), &o, err) == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "The account policy with name PasswordPolicy cannot be found.");
    return iam_doc_put(c->access, S("account"), S("password-policy"), NULL, err);
}

/* ---- sums -------------------------------------------------------------------------------------------------------------------------- */

static void entry(AwsCall *c, Json *entries, const char *key, int64_t n)
{
    Json *o = json_object(c->a);
    json_set(c->a, o, "key", json_str(c->a, str_c(key)));
    json_set(c->a, o, "value", json_int(c->a, n));
    json_push(c->a, entries, o);
}

static Status number_of(AwsCall *c, const char *kind, int64_t *ret, Error *err)
{
    Json *l;
    TRY(iam_doc_list(c->access, c->a, str_c(kind), &l, err));
    *ret += (int64_t)json_len(l);
    return OK;
}

typedef struct Sums { int64_t users, groups, roles, policies, profiles, providers, certificates, devices, devices_used, in_use; } Sums;

static Status add_users(AwsCall *c, Sums *s, Error *err)
{
    Json *users;
    TRY(iam_list(c->access, c->a, IAM_USER, (Str){0}, &users, err));
    s->users = (int64_t)json_len(users);
    for (size_t i = 0; i < json_len(users); i++)
        s->devices_used += (int64_t)json_len(json_get(json_at(users, i), "MFADevices"));
    return OK;
}

static Status gather(AwsCall *c, Sums *s, Error *err)
{
    Attachments at;

    TRY(add_users(c, s, err));
    TRY(number_of(c, "group", &s->groups, err));
    TRY(number_of(c, "role", &s->roles, err));
    TRY(number_of(c, "policy", &s->policies, err));
    TRY(number_of(c, "profile", &s->profiles, err));
    TRY(number_of(c, "saml", &s->providers, err));
    TRY(number_of(c, "oidc", &s->providers, err));
    TRY(number_of(c, "server-certificate", &s->certificates, err));
    TRY(number_of(c, "mfa", &s->devices, err));
    TRY(door_attachments(c, &at, err));
    for (size_t i = 0; i < at.counts.n; i++)
        s->in_use += *(int64_t *)at.counts.entries[i].value;
    return OK;
}

IAM_OP(GetAccountSummary)
{
    static const struct { const char *key; int64_t n; } quotas[] = {
        { "UsersQuota", 5000 }, { "GroupsQuota", 300 }, { "RolesQuota", 1000 }, { "PoliciesQuota", 1500 }, { "InstanceProfilesQuota", 1000 }, { "ServerCertificatesQuota", 20 },
        { "GroupsPerUserQuota", 10 }, { "AccessKeysPerUserQuota", 2 }, { "SigningCertificatesPerUserQuota", 2 }, { "VersionsPerPolicyQuota", 5 }, { "PolicyVersionsInUseQuota", 10000 },
        { "PolicySizeQuota", 6144 }, { "UserPolicySizeQuota", 2048 }, { "GroupPolicySizeQuota", 5120 }, { "RolePolicySizeQuota", 10240 }, { "AssumeRolePolicySizeQuota", 2048 },
        { "AttachedPoliciesPerUserQuota", 10 }, { "AttachedPoliciesPerGroupQuota", 10 }, { "AttachedPoliciesPerRoleQuota", 10 }, { "GlobalEndpointTokenVersion", 1 },
        { "AccountMFAEnabled", 0 }, { "AccountAccessKeysPresent", 0 }, { "AccountSigningCertificatesPresent", 0 },
    };
    Json *map = json_object(c->a), *entries = json_array(c->a);
    Sums s = {0};

    TRY(door_allow(c, S("*"), err));
    TRY(gather(c, &s, err));
    for (size_t i = 0; i < COUNT_OF(quotas); i++)
        entry(c, entries, quotas[i].key, quotas[i].n);
    entry(c, entries, "Users", s.users);
    entry(c, entries, "Groups", s.groups);
    entry(c, entries, "Roles", s.roles);
    entry(c, entries, "Policies", s.policies);
    entry(c, entries, "PolicyVersionsInUse", s.in_use);
    entry(c, entries, "InstanceProfiles", s.profiles);
    entry(c, entries, "Providers", s.providers);
    entry(c, entries, "ServerCertificates", s.certificates);
    entry(c, entries, "MFADevices", s.devices);
    entry(c, entries, "MFADevicesInUse", s.devices_used);
    json_set(c->a, map, "entry", entries);
    aws_put(c, "SummaryMap", map);
    return OK;
}

/* ---- everything at once ------------------------------------------------------------------------------------------------------------- */

static Json *inline_list(AwsCall *c, const Json *record)
{
    const Json *texts = json_get(record, "Inline");
    Json *l = json_array(c->a);
    for (size_t i = 0; i < json_len(texts); i++) {
        Json *o = json_object(c->a);
        json_set(c->a, o, "PolicyName", json_str(c->a, texts->object.p[i].key));
        json_set(c->a, o, "PolicyDocument", door_doc_text(c, texts->object.p[i].value->string));
        json_push(c->a, l, o);
    }
    return l;
}

static Json *attached_list(AwsCall *c, const Json *record)
{
    const Json *arns = json_get(record, "Attached");
    Json *l = json_array(c->a);
    for (size_t i = 0; i < json_len(arns); i++) {
        Json *o = json_object(c->a);
        Str arn = json_at(arns, i)->string;
        json_set(c->a, o, "PolicyName", json_str(c->a, str_from(arn, (size_t)(str_rchr(arn, '/') + 1))));
        json_set(c->a, o, "PolicyArn", json_str(c->a, arn));
        json_push(c->a, l, o);
    }
    return l;
}

static Json *profiles_of(AwsCall *c, const Json *profiles, Str role)
{
    Json *l = json_array(c->a);
    for (size_t i = 0; i < json_len(profiles); i++)
        if (door_holds(json_get(json_at(profiles, i), "Roles"), role))
            json_push(c->a, l, door_show(c, IAM_PROFILE, json_at(profiles, i), SHOW_LIST));
    return l;
}

static Json *detail(AwsCall *c, IamKind kind, const Json *record, const Json *profiles)
{
    static const char *const lists[] = { [IAM_USER] = "UserPolicyList", [IAM_ROLE] = "RolePolicyList", [IAM_GROUP] = "GroupPolicyList" };
    Json *o = door_show(c, kind, record, SHOW_ALL);

    json_set(c->a, o, lists[kind], inline_list(c, record));
    json_set(c->a, o, "AttachedManagedPolicies", attached_list(c, record));
    if (kind == IAM_USER)
        json_set(c->a, o, "GroupList", json_get(record, "Groups") ? json_get(record, "Groups") : json_array(c->a));
    if (kind != IAM_GROUP && !json_get(o, "Tags"))
        json_set(c->a, o, "Tags", json_array(c->a));
    if (kind == IAM_ROLE)
        json_set(c->a, o, "InstanceProfileList", profiles_of(c, profiles, json_get_str(record, "RoleName", (Str){0})));
    return o;
}

static bool asked(const AwsCall *c, const char *what)
{
    const Json *filter = aws_get(c, "Filter");
    return !json_len(filter) || door_holds(filter, str_c(what));
}

static Status add_details(AwsCall *c, IamKind kind, const char *filter, const char *member, Error *err)
{
    Json *records, *profiles = NULL, *items = json_array(c->a);

    TRY(iam_list(c->access, c->a, kind, (Str){0}, &records, err));
    if (kind == IAM_ROLE)
        TRY(iam_list(c->access, c->a, IAM_PROFILE, (Str){0}, &profiles, err));
    for (size_t i = 0; asked(c, filter) && i < json_len(records); i++)
        json_push(c->a, items, detail(c, kind, json_at(records, i), profiles));
    aws_put(c, member, items);
    return OK;
}

static Json *policy_detail(AwsCall *c, const Json *record, const Attachments *at)
{
    Json *o = door_show_policy(c, record, at, SHOW_ALL), *l = json_array(c->a);
    const Json *versions = json_get(record, "Versions");

    (void)!json_del(o, S("Tags"));
    for (size_t i = 0; i < json_len(versions); i++) {
        const Json *v = json_at(versions, i);
        Json *shown = json_object(c->a);
        Str id = json_get_str(v, "VersionId", (Str){0});
        json_set(c->a, shown, "Document", door_doc_text(c, json_get_str(v, "Document", (Str){0})));
        json_set(c->a, shown, "VersionId", json_str(c->a, id));
        json_set(c->a, shown, "IsDefaultVersion", json_bool(c->a, str_eq(id, json_get_str(record, "DefaultVersionId", (Str){0}))));
        door_set_time(c, shown, "CreateDate", json_get_int(v, "CreateDate", 0));
        json_push(c->a, l, shown);
    }
    json_set(c->a, o, "PolicyVersionList", l);
    return o;
}

IAM_OP(GetAccountAuthorizationDetails)
{
    Json *local, *items = json_array(c->a);
    Attachments at;

    TRY(door_allow(c, S("*"), err));
    TRY(door_attachments(c, &at, err));
    TRY(add_details(c, IAM_USER, "User", "UserDetailList", err));
    TRY(add_details(c, IAM_GROUP, "Group", "GroupDetailList", err));
    TRY(add_details(c, IAM_ROLE, "Role", "RoleDetailList", err));
    TRY(iam_list(c->access, c->a, IAM_POLICY, (Str){0}, &local, err));
    for (size_t i = 0; asked(c, "LocalManagedPolicy") && i < json_len(local); i++)
        json_push(c->a, items, policy_detail(c, json_at(local, i), &at));
    const Json *managed = iam_managed_list(c->a);
    for (size_t i = 0; asked(c, "AWSManagedPolicy") && i < json_len(managed); i++)
        if (map_has(&at.counts, json_get_str(json_at(managed, i), "Arn", (Str){0})) || aws_has(c, "Filter"))
            json_push(c->a, items, policy_detail(c, json_at(managed, i), &at));
    aws_put(c, "Policies", items);
    json_set(c->a, c->out, "IsTruncated", json_bool(c->a, false));
    return OK;
}

/* ---- credential report ----------------------------------------------------------------------------------------------------------------- */

static void add_date(AwsCall *c, StrBuf *b, int64_t ms)
{
    if (ms)
        sb_fmt(b, ",%.19s+00:00", time_iso8601(c->a, ms).p);
    else
        sb_addc(b, ",N/A");
}

static void add_key(AwsCall *c, StrBuf *b, const Json *key)
{
    IamUsed used = {0};
    Error ignored;

    if (key)
        (void)!iam_last_used(c->access, c->a, json_get_str(key, "AccessKeyId", (Str){0}), &used, &ignored);
    sb_fmt(b, ",%s", str_eq(json_get_str(key, "Status", (Str){0}), S("Active")) ? "true" : "false");
    add_date(c, b, json_get_int(key, "CreateDate", 0));
    add_date(c, b, used.ms);
    sb_fmt(b, "," STR_FMT "," STR_FMT, STR_ARG(used.ms ? used.region : S("N/A")), STR_ARG(used.ms ? used.service : S("N/A")));
}

static void add_certificate(AwsCall *c, StrBuf *b, const Json *cert)
{
    sb_fmt(b, ",%s", str_eq(json_get_str(cert, "Status", (Str){0}), S("Active")) ? "true" : "false");
    add_date(c, b, json_get_int(cert, "UploadDate", 0));
}

static void add_user(AwsCall *c, StrBuf *b, const Json *user)
{
    const Json *keys = json_get(user, "AccessKeys"), *certs = json_get(user, "SigningCertificates"), *login = json_get(user, "LoginProfile");

    sb_byte(b, '\n');
    sb_add(b, json_get_str(user, "UserName", (Str){0}));
    sb_byte(b, ',');
    sb_add(b, json_get_str(user, "Arn", (Str){0}));
    add_date(c, b, json_get_int(user, "CreateDate", 0));
    sb_addc(b, login ? ",true,no_information" : ",false,N/A");
    add_date(c, b, json_get_int(login, "CreateDate", 0));
    sb_fmt(b, ",not_supported,%s", json_len(json_get(user, "MFADevices")) ? "true" : "false");
    for (size_t i = 0; i < 2; i++)
        add_key(c, b, i < json_len(keys) ? json_at(keys, i) : NULL);
    for (size_t i = 0; i < 2; i++)
        add_certificate(c, b, i < json_len(certs) ? json_at(certs, i) : NULL);
}

IAM_OP(GenerateCredentialReport)
{
    Json *doc, *users;
    StrBuf b = sb_new(c->a);

    TRY(door_allow(c, S("*"), err));
    bool first = iam_doc_get(c->access, c->a, S("account"), S("report"), &doc, err) == E_NOT_FOUND;
    sb_addc(&b, "user,arn,user_creation_time,password_enabled,password_last_used,password_last_changed,password_next_rotation,mfa_active,access_key_1_active,access_key_1_last_rotated,"
                "access_key_1_last_used_date,access_key_1_last_used_region,access_key_1_last_used_service,access_key_2_active,access_key_2_last_rotated,access_key_2_last_used_date,"
                "access_key_2_last_used_region,access_key_2_last_used_service,cert_1_active,cert_1_last_rotated,cert_2_active,cert_2_last_rotated");
    TRY(iam_list(c->access, c->a, IAM_USER, (Str){0}, &users, err));
    for (size_t i = 0; i < json_len(users); i++)
        add_user(c, &b, json_at(users, i));
    doc = json_object(c->a);
    json_set(c->a, doc, "text", json_str(c->a, sb_str(&b)));
    json_set(c->a, doc, "ms", json_int(c->a, clock_ms()));
    TRY(iam_doc_put(c->access, S("account"), S("report"), doc, err));
    aws_put_str(c, "State", first ? S("STARTED") : S("COMPLETE"));
    if (first)
        aws_put_str(c, "Description", S("No report exists. Starting a new report generation task"));
    return OK;
}

IAM_OP(GetCredentialReport)
{
    Json *doc;

    TRY(door_allow(c, S("*"), err));
    Status s = iam_doc_get(c->access, c->a, S("account"), S("report"), &doc, err);
    if (s == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "ReportNotPresent", "No report exists. You must first call GenerateCredentialReport.");
    TRY(s);
    aws_put_str(c, "Content", base64_encode(c->a, json_get_str(doc, "text", (Str){0})));
    aws_put_str(c, "ReportFormat", S("text/csv"));
    aws_put(c, "GeneratedTime", aws_time(c, json_get_int(doc, "ms", 0)));
    return OK;
}

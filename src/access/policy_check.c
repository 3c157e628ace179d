/* SPDX-License-Identifier: Apache-2.0 */
/* policy_check.c - what IAM says of a policy that is well formed, in IAM's words and in IAM's order.
 *
 * Order (seen from which of two mistakes is reported): version; letters of Effect and dates; form of the ARNs; parts of the ARNs; statement ids;
 * actions; resources.  What a kind forbids or demands comes in its place among the elements. */
#include "access/policy_int.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

enum { RESOURCE_TEXT = 2048 };

Status policy_malformed(Error *err, const char *fmt, ...)
{
    char text[RESOURCE_TEXT];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    RAISE(err, E_INVALID, "%s", text);
    snprintf(err->kind, sizeof err->kind, "MalformedPolicyDocument");
    return E_INVALID;
}

static Status legacy(Error *err) { return policy_malformed(err, "The policy failed legacy parsing"); }

/* ---- effect, dates ------------------------------------------------------------------------------------------------------- */

static bool dates_parse(const Condition *c)
{
    int64_t ms;
    if (c->op < OP_DATE_EQUALS || c->op > OP_DATE_GE)
        return true;
    for vec_each(Str, v, &c->values)
        if (str_find(*v, S("${")) < 0 && !policy_date(*v, &ms))
            return false;
    return true;
}

static Status check_first(const Statement *st, Error *err)
{
    if (!str_eq(st->effect, S("Allow")) && !str_eq(st->effect, S("Deny")))
        return legacy(err);
    for vec_each(Condition, c, &st->conditions)
        if (!dates_parse(c))
            return legacy(err);
    return OK;
}

/* ---- ARNs ------------------------------------------------------------------------------------------------------------------ */

/* As the message shows it: the first part read as arn, missing parts as stars. */
static Str padded(Arena *a, Str after_arn)
{
    StrVec parts = {0};
    str_split(a, after_arn, ':', &parts);
    while (parts.n < 5)
        vec_push(a, &parts, S("*"));
    return str_cat(a, S("arn:"), str_join(a, &parts, S(":")));
}

static bool known_partition(Str p)
{
    static const char *const names[] = { "aws", "aws-cn", "aws-us-gov", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f", "*" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_eq(p, str_c(names[i])))
            return true;
    return false;
}

static bool starts_with_any(Str s, const char *const *prefixes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_starts(s, str_c(prefixes[i])))
            return true;
    return false;
}

static Status check_iam_path(Str path, Error *err)
{
    static const char *const paths[] = { "user/", "federated-user/", "role/", "group/", "instance-profile/", "mfa/", "server-certificate/",
                                         "policy/", "sms-mfa/", "saml-provider/", "oidc-provider/", "report/", "access-report/" };
    if (str_eq(path, S("*")) || str_eq(path, S("root")) || starts_with_any(path, paths, COUNT_OF(paths)))
        return OK;
    return policy_malformed(err, "IAM resource path must either be \"*\" or start with user/, federated-user/, role/, group/, instance-profile/, mfa/, "
                                 "server-certificate/, policy/, sms-mfa/, saml-provider/, oidc-provider/, report/, access-report/.");
}

static Status check_service(Str resource, Str vendor, Str rest, Error *err)
{
    Str region, account, path, after;

    if (vendor.n && (str_chr(vendor, '*') >= 0 || str_chr(vendor, '?') >= 0))
        return policy_malformed(err, "Resource vendor must be fully qualified and cannot contain regexes.");
    str_cut(rest, ':', &region, &after);
    str_cut(after, ':', &account, &path);
    if (str_eq(vendor, S("iam")) && region.n && after.n)
        return policy_malformed(err, "IAM resource " STR_FMT " cannot contain region information.", STR_ARG(resource));
    if (str_eq(vendor, S("iam")) && path.n)
        return check_iam_path(path, err);
    if (str_eq(vendor, S("s3")) && region.n && after.n && !str_eq(region, S("*")) && !str_starts(path, S("accesspoint")))
        return policy_malformed(err, "Resource " STR_FMT " can not contain region information.", STR_ARG(resource));
    return OK;
}

static Status check_form(Arena *a, Str resource, Error *err)
{
    Str head, rest, partition, vendor, after;

    if (str_eq(resource, S("*")))
        return OK;
    if (!str_cut(resource, ':', &head, &rest))
        return policy_malformed(err, "Resource " STR_FMT " must be in ARN format or \"*\".", STR_ARG(resource));
    bool more = str_cut(rest, ':', &partition, &after);
    if (!known_partition(partition))
        return policy_malformed(err, "Partition \"" STR_FMT "\" is not valid for resource \"" STR_FMT "\".", STR_ARG(partition), STR_ARG(padded(a, rest)));
    if (!more)
        return policy_malformed(err, "Resource vendor must be fully qualified and cannot contain regexes.");
    str_cut(after, ':', &vendor, &rest);
    return check_service(resource, vendor, rest, err);
}

static size_t colons(Str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == ':';
    return n;
}

static Status check_parts(Str resource, Error *err)
{
    Str head, rest, vendor;
    if (str_eq(resource, S("*")))
        return OK;
    str_cut(resource, ':', &head, &rest);
    str_cut(rest, ':', &head, &rest);
    str_cut(rest, ':', &vendor, &rest);
    bool whole = colons(resource) >= 5 || str_find(resource, S("::")) < 0;
    return whole && vendor.n ? OK : legacy(err);
}

/* ---- statement ids, actions, elements --------------------------------------------------------------------------------------- */

static Status check_sids(Arena *a, const Policy *p, Error *err)
{
    Map seen = map_new(a);
    for vec_each(Statement, st, &p->statements) {
        if (st->sid.n && map_has(&seen, st->sid))
            return policy_malformed(err, "Statement IDs (SID) in a single policy must be unique.");
        if (st->sid.n)
            map_put(&seen, st->sid, st);
    }
    return OK;
}

static bool vendor_ok(Str v)
{
    for (size_t i = 0; i < v.n; i++)
        if (!isalnum((unsigned char)v.p[i]) && v.p[i] != '-' && v.p[i] != '.')
            return false;
    return v.n > 0;
}

static Status check_action(Str action, Error *err)
{
    Str vendor, name;
    if (str_eq(action, S("*")))
        return OK;
    if (!str_cut(action, ':', &vendor, &name))
        return policy_malformed(err, "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.");
    if (str_chr(name, ':') >= 0)
        return policy_malformed(err, "Actions/Condition can contain only one colon.");
    if (!vendor_ok(vendor))
        return policy_malformed(err, "Vendor " STR_FMT " is not valid", STR_ARG(vendor));
    return OK;
}

static Status check_actions(const Statement *st, Error *err)
{
    if (st->actions.n == 0)
        return policy_malformed(err, "Policy statement must contain actions.");
    for vec_each(Str, s, &st->actions)
        TRY(check_action(*s, err));
    return OK;
}

static Status check_trust_action(Str action, Error *err)
{
    static const char *const known[] = { "sts:AssumeRole", "sts:AssumeRoleWithSAML", "sts:AssumeRoleWithWebIdentity", "sts:TagSession", "sts:SetSourceIdentity", "sts:SetContext" };
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (policy_match_nocase(str_c(known[i]), action))
            return OK;
    return policy_malformed(err, "AssumeRole policy may only specify STS AssumeRole actions.");
}

static Status check_trust(const Statement *st, Error *err)
{
    if (st->has_resources)
        return policy_malformed(err, "Has prohibited field %s.", st->not_resource ? "NotResource" : "Resource");
    if (st->not_principal)
        return policy_malformed(err, "Has prohibited field NotPrincipal.");
    if (st->principals.n == 0)
        return policy_malformed(err, "Missing required field Principal cannot be empty!");
    if (st->not_action)
        return OK;
    for vec_each(Str, s, &st->actions)
        TRY(check_trust_action(*s, err));
    return OK;
}

static Status check_elements(const Policy *p, const Statement *st, Error *err)
{
    bool named = p->kind == POLICY_RESOURCE || p->kind == POLICY_TRUST;

    TRY(check_actions(st, err));
    if (p->kind == POLICY_TRUST)
        return check_trust(st, err);
    if (st->resources.n == 0)
        return policy_malformed(err, "Policy statement must contain resources.");
    if (named && st->principals.n == 0)
        return policy_malformed(err, "Missing required field Principal cannot be empty!");
    if (!named && st->has_principals)
        return policy_malformed(err, "Policy document should not specify a principal.");
    return OK;
}

/* ---- all of it ---------------------------------------------------------------------------------------------------------------- */

static Status check_arns(Arena *a, const Policy *p, Error *err)
{
    for vec_each(Statement, st, &p->statements)
        for vec_each(Str, r, &st->resources)
            TRY(check_form(a, *r, err));
    for vec_each(Statement, st, &p->statements)
        for vec_each(Str, r, &st->resources)
            TRY(check_parts(*r, err));
    return OK;
}

Status policy_check(Arena *a, const Policy *p, Error *err)
{
    if (p->kind == POLICY_IDENTITY && !p->variables)
        return policy_malformed(err, "Policy document must be version 2012-10-17 or greater.");
    for vec_each(Statement, st, &p->statements)
        TRY(check_first(st, err));
    TRY(check_arns(a, p, err));
    TRY(check_sids(a, p, err));
    for vec_each(Statement, st, &p->statements)
        TRY(check_elements(p, st, err));
    return OK;
}

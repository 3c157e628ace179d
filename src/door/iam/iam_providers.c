/* SPDX-License-Identifier: Apache-2.0 */
/* iam_providers.c - SAML and OpenID Connect providers: records by ARN.  STS takes no sessions from them (sts_ops.c says so). */
#include "door/iam/iam_door_int.h"

enum { CLIENTS_MAX = 100, THUMBPRINTS_MAX = 5, URL_MAX = 255 };

/* ---- SAML ---------------------------------------------------------------------------------------------------------------------- */

IAM_OP(CreateSAMLProvider)
{
    Str name = aws_str(c, "Name"), arn = door_arn(c, "saml-provider", (Str){0}, name);
    Json *known, *r = json_object(c->a);

    TRY(door_check_name(name, "name", err));
    TRY(door_allow(c, arn, err));
    if (iam_doc_get(c->access, c->a, S("saml"), arn, &known, err) == OK)
        return AWS_FAIL(err, E_EXISTS, "EntityAlreadyExists", "SAMLProvider with name " STR_FMT " already exists.", STR_ARG(name));
    json_set(c->a, r, "Arn", json_str(c->a, arn));
    json_set(c->a, r, "SAMLMetadataDocument", json_str(c->a, aws_str(c, "SAMLMetadataDocument")));
    json_set(c->a, r, "CreateDate", json_int(c->a, clock_ms()));
    TRY(door_tags_add(c, r, err));
    TRY(iam_doc_put(c->access, S("saml"), arn, r, err));
    aws_put_str(c, "SAMLProviderArn", arn);
    if (json_len(json_get(r, "Tags")))
        aws_put(c, "Tags", door_show_tags(c, json_get(r, "Tags")));
    return OK;
}

static Status get_saml(AwsCall *c, Json **ret, Error *err)
{
    Str arn = aws_str(c, "SAMLProviderArn");

    TRY(door_allow(c, arn, err));
    Status s = iam_doc_get(c->access, c->a, S("saml"), arn, ret, err);
    return s == E_NOT_FOUND ? AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "Manifest not found for arn " STR_FMT, STR_ARG(arn)) : s;
}

static int64_t valid_until(const Json *r) { return json_get_int(r, "CreateDate", 0) + 100LL * 365 * 86400000; }

IAM_OP(GetSAMLProvider)
{
    Json *r;

    TRY(get_saml(c, &r, err));
    aws_put(c, "SAMLMetadataDocument", json_get(r, "SAMLMetadataDocument"));
    aws_put(c, "CreateDate", aws_time(c, json_get_int(r, "CreateDate", 0)));
    aws_put(c, "ValidUntil", aws_time(c, valid_until(r)));
    if (json_len(json_get(r, "Tags")))
        aws_put(c, "Tags", door_show_tags(c, json_get(r, "Tags")));
    return OK;
}

IAM_OP(UpdateSAMLProvider)
{
    Json *r;

    TRY(get_saml(c, &r, err));
    if (aws_has(c, "SAMLMetadataDocument"))
        json_set(c->a, r, "SAMLMetadataDocument", json_str(c->a, aws_str(c, "SAMLMetadataDocument")));
    aws_put_str(c, "SAMLProviderArn", aws_str(c, "SAMLProviderArn"));
    return iam_doc_put(c->access, S("saml"), aws_str(c, "SAMLProviderArn"), r, err);
}

IAM_OP(DeleteSAMLProvider)
{
    Json *r;

    TRY(get_saml(c, &r, err));
    return iam_doc_put(c->access, S("saml"), aws_str(c, "SAMLProviderArn"), NULL, err);
}

IAM_OP(ListSAMLProviders)
{
    Json *all, *items = json_array(c->a);

    TRY(door_allow(c, S("*"), err));
    TRY(iam_doc_list(c->access, c->a, S("saml"), &all, err));
    for (size_t i = 0; i < json_len(all); i++) {
        Json *o = json_object(c->a);
        json_set(c->a, o, "Arn", json_get(json_at(all, i), "Arn"));
        door_set_time(c, o, "CreateDate", json_get_int(json_at(all, i), "CreateDate", 0));
        door_set_time(c, o, "ValidUntil", valid_until(json_at(all, i)));
        json_push(c->a, items, o);
    }
    aws_put(c, "SAMLProviderList", items);
    return OK;
}

static Status put_saml(AwsCall *c, Json *r, Error *err) { return iam_doc_put(c->access, S("saml"), aws_str(c, "SAMLProviderArn"), r, err); }

IAM_OP(TagSAMLProvider)
{
    Json *r;

    TRY(get_saml(c, &r, err));
    TRY(door_tags_add(c, r, err));
    return put_saml(c, r, err);
}

IAM_OP(UntagSAMLProvider)
{
    Json *r;

    TRY(get_saml(c, &r, err));
    TRY(door_tags_remove(c, r, err));
    return put_saml(c, r, err);
}

IAM_OP(ListSAMLProviderTags)
{
    Json *r;

    TRY(get_saml(c, &r, err));
    return door_page(c, "Tags", door_show_tags(c, json_get(r, "Tags")), err);
}

/* ---- OpenID Connect -------------------------------------------------------------------------------------------------------------- */

static Status check_lists(AwsCall *c, Error *err)
{
    const Json *clients = aws_get(c, "ClientIDList"), *prints = aws_get(c, "ThumbprintList");
    StrVec problems = {0};

    if (aws_str(c, "Url").n > URL_MAX)
        vec_push(c->a, &problems, str_fmt(c->a, "Value \"" STR_FMT "\" at \"url\" failed to satisfy constraint: Member must have length less than or equal to 255", STR_ARG(aws_str(c, "Url"))));
    for (size_t i = 0; i < json_len(clients); i++)
        if (json_at(clients, i)->string.n > 255) {
            vec_push(c->a, &problems, S("Value at \"clientIDList\" failed to satisfy constraint: Member must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 1]"));
            break;
        }
    for (size_t i = 0; i < json_len(prints); i++)
        if (json_at(prints, i)->string.n != 40) {
            vec_push(c->a, &problems, S("Value at \"thumbprintList\" failed to satisfy constraint: Member must satisfy constraint: [Member must have length less than or equal to 40, Member must have length greater than or equal to 40]"));
            break;
        }
    if (problems.n)
        return AWS_FAIL(err, E_INVALID, "ValidationError", "%zu validation error%s detected: " STR_FMT, problems.n, problems.n > 1 ? "s" : "", STR_ARG(str_join(c->a, &problems, S("; "))));
    if (json_len(prints) > THUMBPRINTS_MAX)
        return AWS_FAIL(err, E_INVALID, "InvalidInput", "Thumbprint list must contain fewer than 5 entries.");
    if (json_len(clients) > CLIENTS_MAX)
        return AWS_FAIL(err, E_LIMIT, "LimitExceeded", "Cannot exceed quota for ClientIdsPerOpenIdConnectProvider: %d", CLIENTS_MAX);
    return OK;
}

/* Host and path, without scheme and query. */
static Status provider_path(AwsCall *c, Str *ret, Error *err)
{
    Str url = aws_str(c, "Url");
    ptrdiff_t at = str_find(url, S("://"));

    if (!(str_starts(url, S("https://")) || str_starts(url, S("http://"))) || str_from(url, (size_t)at + 3).n == 0)
        return AWS_FAIL(err, E_INVALID, "ValidationError", "Invalid Open ID Connect Provider URL");
    str_cut(str_from(url, (size_t)at + 3), '?', ret, &(Str){0});
    while (ret->n && ret->p[ret->n - 1] == '/')
        ret->n--;
    return OK;
}

static Json *copy_list(AwsCall *c, const char *name)
{
    const Json *l = aws_get(c, name);
    return l ? json_copy(c->a, l) : json_array(c->a);
}

IAM_OP(CreateOpenIDConnectProvider)
{
    Str path;
    Json *known, *r = json_object(c->a);

    TRY(check_lists(c, err));
    TRY(provider_path(c, &path, err));
    Str arn = str_fmt(c->a, "arn:aws:iam::" STR_FMT ":oidc-provider/" STR_FMT, STR_ARG(door_account(c)), STR_ARG(path));
    TRY(door_allow(c, arn, err));
    if (iam_doc_get(c->access, c->a, S("oidc"), arn, &known, err) == OK)
        return AWS_FAIL(err, E_EXISTS, "EntityAlreadyExists", "Provider with url " STR_FMT " already exists.", STR_ARG(aws_str(c, "Url")));
    json_set(c->a, r, "Arn", json_str(c->a, arn));
    json_set(c->a, r, "Url", json_str(c->a, path));
    json_set(c->a, r, "CreateDate", json_int(c->a, clock_ms()));
    json_set(c->a, r, "ClientIDList", copy_list(c, "ClientIDList"));
    json_set(c->a, r, "ThumbprintList", copy_list(c, "ThumbprintList"));
    TRY(door_tags_add(c, r, err));
    TRY(iam_doc_put(c->access, S("oidc"), arn, r, err));
    aws_put_str(c, "OpenIDConnectProviderArn", arn);
    if (json_len(json_get(r, "Tags")))
        aws_put(c, "Tags", door_show_tags(c, json_get(r, "Tags")));
    return OK;
}

static Status get_oidc(AwsCall *c, Json **ret, Error *err)
{
    Str arn = aws_str(c, "OpenIDConnectProviderArn");

    TRY(door_allow(c, arn, err));
    Status s = iam_doc_get(c->access, c->a, S("oidc"), arn, ret, err);
    return s == E_NOT_FOUND ? AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "OpenIDConnect Provider not found for arn " STR_FMT, STR_ARG(arn)) : s;
}

static Status put_oidc(AwsCall *c, Json *r, Error *err) { return iam_doc_put(c->access, S("oidc"), aws_str(c, "OpenIDConnectProviderArn"), r, err); }

IAM_OP(GetOpenIDConnectProvider)
{
    static const char *const names[] = { "Url", "ClientIDList", "ThumbprintList" };
    Json *r;

    TRY(get_oidc(c, &r, err));
    door_copy(c, c->out, r, names, COUNT_OF(names));
    aws_put(c, "CreateDate", aws_time(c, json_get_int(r, "CreateDate", 0)));
    aws_put(c, "Tags", door_show_tags(c, json_get(r, "Tags")));
    return OK;
}

IAM_OP(UpdateOpenIDConnectProviderThumbprint)
{
    Json *r;

    TRY(get_oidc(c, &r, err));
    TRY(check_lists(c, err));
    json_set(c->a, r, "ThumbprintList", copy_list(c, "ThumbprintList"));
    return put_oidc(c, r, err);
}

IAM_OP(AddClientIDToOpenIDConnectProvider)
{
    Json *r;

    TRY(get_oidc(c, &r, err));
    Json *l = door_list_of(c, r, "ClientIDList");
    if (door_holds(l, aws_str(c, "ClientID")))
        return OK;
    if (json_len(l) >= CLIENTS_MAX)
        return AWS_FAIL(err, E_LIMIT, "LimitExceeded", "Cannot exceed quota for ClientIdsPerOpenIdConnectProvider: %d", CLIENTS_MAX);
    json_push(c->a, l, json_str(c->a, aws_str(c, "ClientID")));
    return put_oidc(c, r, err);
}

IAM_OP(RemoveClientIDFromOpenIDConnectProvider)
{
    Json *r;

    TRY(get_oidc(c, &r, err));
    (void)door_remove(json_get(r, "ClientIDList"), aws_str(c, "ClientID"));
    return put_oidc(c, r, err);
}

IAM_OP(DeleteOpenIDConnectProvider)
{
    Json *r;

    TRY(door_allow(c, aws_str(c, "OpenIDConnectProviderArn"), err));
    if (iam_doc_get(c->access, c->a, S("oidc"), aws_str(c, "OpenIDConnectProviderArn"), &r, err) == E_NOT_FOUND)
        return OK;                                        /* idempotent (IAM API Reference) */
    return put_oidc(c, NULL, err);
}

IAM_OP(ListOpenIDConnectProviders)
{
    Json *all, *items = json_array(c->a);

    TRY(door_allow(c, S("*"), err));
    TRY(iam_doc_list(c->access, c->a, S("oidc"), &all, err));
    for (size_t i = 0; i < json_len(all); i++) {
        Json *o = json_object(c->a);
        json_set(c->a, o, "Arn", json_get(json_at(all, i), "Arn"));
        json_push(c->a, items, o);
    }
    aws_put(c, "OpenIDConnectProviderList", items);
    return OK;
}

IAM_OP(TagOpenIDConnectProvider)
{
    Json *r;

    TRY(get_oidc(c, &r, err));
    TRY(door_tags_add(c, r, err));
    return put_oidc(c, r, err);
}

IAM_OP(UntagOpenIDConnectProvider)
{
    Json *r;

    TRY(get_oidc(c, &r, err));
    TRY(door_tags_remove(c, r, err));
    return put_oidc(c, r, err);
}

IAM_OP(ListOpenIDConnectProviderTags)
{
    Json *r;

    TRY(get_oidc(c, &r, err));
    return door_page(c, "Tags", door_show_tags(c, json_get(r, "Tags")), err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* answer_sts.c - what AWS STS answers (query protocol): XML to values. */
#include <stdio.h>

#include "remote/remote_int.h"

static Status result_of(Arena *a, Str body, const char *name, Xml **ret, Error *err)
{
    Xml *x = NULL;

    if (xml_parse(a, body, &x, err) != OK)
        return FAIL(err, E_INVALID, "the answer of STS is no XML");
    *ret = xml_child(x, name);
    return *ret ? OK : FAIL(err, E_INVALID, "the answer of STS has no %s", name);
}

Status remote_parse_role(Arena *a, Str body, RemoteRole *ret, Error *err)
{
    Xml *x = NULL;

    TRY(result_of(a, body, "AssumeRoleResult", &x, err));
    x = xml_child(x, "Credentials");
    *ret = (RemoteRole){ .keys = { .access_key = xml_child_text(x, "AccessKeyId", (Str){0}), .secret_key = xml_child_text(x, "SecretAccessKey", (Str){0}),
                                   .session_token = xml_child_text(x, "SessionToken", (Str){0}) } };
    if (!ret->keys.access_key.n || !ret->keys.secret_key.n || !ret->keys.session_token.n)
        return FAIL(err, E_INVALID, "the answer of STS has no credentials");
    if (!iso8601_parse(xml_child_text(x, "Expiration", (Str){0}), &ret->expires_ms))
        return FAIL(err, E_INVALID, "the answer of STS does not say when the credentials expire");
    return OK;
}

Status remote_parse_caller(Arena *a, Str body, Str *arn, Error *err)
{
    Xml *x = NULL;

    TRY(result_of(a, body, "GetCallerIdentityResult", &x, err));
    *arn = remote_words(a, xml_child_text(x, "Arn", (Str){0}));
    return arn->n ? OK : FAIL(err, E_INVALID, "the answer of STS names no caller");
}

static Status by_code(Str code, int http)
{
    static const char *const AUTH[] = { "InvalidClientTokenId", "SignatureDoesNotMatch", "ExpiredToken", "ExpiredTokenException", "IncompleteSignature", "MissingAuthenticationToken",
                                        "UnrecognizedClientException", "InvalidAccessKeyId" };
    for (size_t i = 0; i < COUNT_OF(AUTH); i++)
        if (str_eq(code, str_c(AUTH[i])))
            return E_AUTH;
    if (str_eq(code, S("Throttling")) || http == 429 || http >= 500)
        return E_UNAVAILABLE;
    if (str_eq(code, S("AccessDenied")) || http == 403)
        return E_DENIED;
    return http == 401 ? E_AUTH : http >= 300 && http < 400 ? E_UNAVAILABLE : E_INVALID;
}

Status remote_judge_sts(Arena *a, int http, Str body, Error *err)
{
    Xml *x = NULL;
    Error ignored;
    Str code = {0}, message = {0};

    if (xml_parse(a, body, &x, &ignored) == OK) {
        x = str_eq(x->name, S("Error")) ? x : xml_child(x, "Error");
        code = remote_words(a, xml_child_text(x, "Code", (Str){0}));
        message = remote_words(a, xml_child_text(x, "Message", (Str){0}));
    }
    Status st = by_code(code, http);
    if (!message.n)
        message = str_fmt(a, "HTTP status %d", http);
    RAISE(err, st, STR_FMT "%s" STR_FMT, STR_ARG(code), code.n ? ": " : "", STR_ARG(message));
    snprintf(err->kind, sizeof err->kind, STR_FMT, STR_ARG(code));
    return st;
}

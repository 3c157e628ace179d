/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - answers and errors as each protocol writes them.
 *
 * A code is chosen in this order: the one that the handler named (when the service has it, or every service has), the service's default for the Status, the
 * protocol's default for it.  The request id goes into the header that each SDK reads. */
#include "aws/aws_int.h"

#include <stdio.h>

/* Codes that every service has: name in JSON protocols, in awsQuery, HTTP of awsJson, HTTP of the others. */
static const struct { const char *json, *query; int http_json, http; } COMMON[] = {
    { "AccessDeniedException", "AccessDenied", 400, 403 },
    { "UnrecognizedClientException", "InvalidClientTokenId", 400, 403 },
    { "InvalidSignatureException", "SignatureDoesNotMatch", 400, 403 },
    { "ExpiredTokenException", "ExpiredToken", 400, 403 },
    { "MissingAuthenticationTokenException", "MissingAuthenticationToken", 400, 403 },
    { "IncompleteSignatureException", "IncompleteSignature", 400, 400 },
    { "UnknownOperationException", "InvalidAction", 400, 404 },
    { "SerializationException", "MalformedQueryString", 400, 400 },
    { "ValidationException", "ValidationError", 400, 400 },
    { "MissingAction", "MissingAction", 400, 400 },
    { "MalformedQueryString", "MalformedQueryString", 400, 400 },
    { "RequestEntityTooLarge", "RequestEntityTooLarge", 413, 413 },
    { "UnsupportedOperationException", "UnsupportedOperation", 400, 400 },
    { "InternalServerException", "InternalFailure", 500, 500 },
    { "ServiceUnavailableException", "ServiceUnavailable", 503, 503 },
    { "ThrottlingException", "Throttling", 400, 400 },
};

int aws_code_http(const AwsService *s, const char *code)
{
    for (size_t i = 0; i < s->ncodes; i++)
        if (strcmp(s->codes[i].name, code) == 0)
            return s->codes[i].http;
    return 0;
}

void aws_code(Error *err, const char *code) { snprintf(err->kind, sizeof err->kind, "%s", code); }

typedef struct Coded { const char *name; int http; } Coded;

static bool common_code(const AwsService *s, const char *code, Coded *ret)
{
    for (size_t i = 0; i < COUNT_OF(COMMON); i++)
        if (strcmp(COMMON[i].json, code) == 0 || strcmp(COMMON[i].query, code) == 0) {
            *ret = s->protocol == AWS_QUERY ? (Coded){ COMMON[i].query, COMMON[i].http } : (Coded){ COMMON[i].json, s->protocol == AWS_JSON ? COMMON[i].http_json : COMMON[i].http };
            return true;
        }
    return false;
}

/* What signatures and keys go wrong with, by the kind that net/ and access/ give. */
static const char *auth_code(const Error *err)
{
    static const struct { const char *kind, *code; } table[] = {
        { "InvalidAccessKeyId", "UnrecognizedClientException" }, { "InvalidToken", "UnrecognizedClientException" }, { "ExpiredToken", "ExpiredTokenException" },
        { "SignatureDoesNotMatch", "InvalidSignatureException" }, { "RequestTimeTooSkewed", "InvalidSignatureException" }, { "AuthorizationHeaderMalformed", "IncompleteSignatureException" },
        { "AccessDenied", "InvalidSignatureException" }, { "MissingAuthenticationToken", "MissingAuthenticationTokenException" },
    };
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (strcmp(err->kind, table[i].kind) == 0)
            return table[i].code;
    return "IncompleteSignatureException";
}

static const char *default_code(const AwsService *s, const Error *err)
{
    if (err->code < STATUS_COUNT && s->code_of[err->code])
        return s->code_of[err->code];
    switch (err->code) {
    case E_AUTH: return auth_code(err);
    case E_DENIED: case E_PROTECTED: case E_QUARANTINED: return "AccessDeniedException";
    case E_UNAVAILABLE: case E_TIMEOUT: case E_FULL: return "ServiceUnavailableException";
    case E_INVALID: case E_SYNTAX: case E_LIMIT: case E_UNSUPPORTED: case E_NOT_FOUND: case E_EXISTS: case E_NOT_EMPTY: case E_CONFLICT: case E_OVERFLOW: case E_DIVISION:
        return s->validation ? s->validation : "ValidationException";
    default: return "InternalServerException";
    }
}

static Coded code_for(const AwsService *s, const Error *err)
{
    Coded c;
    const char *name = err->kind;
    int http = name[0] ? aws_code_http(s, name) : 0;

    if (http)
        return (Coded){ name, http };
    if (name[0] && err->code != E_AUTH && common_code(s, name, &c))
        return c;
    name = default_code(s, err);
    http = aws_code_http(s, name);
    if (http)
        return (Coded){ name, http };
    return common_code(s, name, &c) ? c : (Coded){ name, 400 };
}

static Str message_of(Arena *a, const Error *err)
{
    if (err->code == E_AUTH && strcmp(err->kind, "InvalidAccessKeyId") == 0)
        return S("The security token included in the request is invalid.");
    Str m = str_dup(a, str_c(err->message));
    if (err->hint[0])
        m = str_fmt(a, "%s%s %s", err->message, str_ends(m, S(".")) ? "" : ".", err->hint);
    return m;
}

/* ---- XML --------------------------------------------------------------------------------------------------------------- */

static void xml_value(Arena *a, XmlWriter *w, const char *name, const Json *v);

static void xml_members(Arena *a, XmlWriter *w, const Json *o)
{
    for (size_t i = 0; i < o->object.n; i++)
        xml_value(a, w, str_z(a, o->object.p[i].key), o->object.p[i].value);
}

static void xml_value(Arena *a, XmlWriter *w, const char *name, const Json *v)
{
    if (json_is(v, JSON_ARRAY) && strcmp(name, "entry") == 0) {
        for (size_t i = 0; i < json_len(v); i++)
            xml_value(a, w, "entry", json_at(v, i));
        return;
    }
    if (!v || json_is(v, JSON_NULL))
        return;
    xw_open(w, name);
    if (json_is(v, JSON_ARRAY))
        for (size_t i = 0; i < json_len(v); i++)
            xml_value(a, w, "member", json_at(v, i));
    else if (json_is(v, JSON_OBJECT))
        xml_members(a, w, v);
    else
        xw_text(w, json_is(v, JSON_STRING) ? v->string : json_text(a, v));
    xw_close(w);
}

static Str xml_answer(const AwsCall *c, const HttpRequest *r)
{
    XmlWriter w = xw_new(c->a);

    xw_open(&w, str_fmt(c->a, "%sResponse", c->op->name).p);
    xw_attr(&w, "xmlns", str_c(c->service->xmlns));
    xml_value(c->a, &w, str_fmt(c->a, "%sResult", c->op->name).p, c->out);
    xw_open(&w, "ResponseMetadata");
    xw_elem(&w, "RequestId", r->request_id);
    xw_close(&w);
    xw_close(&w);
    return xw_done(&w);
}

static Str xml_error(const AwsService *s, HttpRequest *r, Coded code, Str message)
{
    XmlWriter w = xw_new(r->arena);

    xw_open(&w, "ErrorResponse");
    xw_attr(&w, "xmlns", str_c(s->xmlns));
    xw_open(&w, "Error");
    xw_elem(&w, "Type", code.http < 500 ? S("Sender") : S("Receiver"));
    xw_elem(&w, "Code", str_c(code.name));
    xw_elem(&w, "Message", message);
    xw_close(&w);
    xw_elem(&w, "RequestId", r->request_id);
    xw_close(&w);
    return xw_done(&w);
}

/* ---- whole answers -------------------------------------------------------------------------------------------------------- */

static Str content_type(const AwsService *s)
{
    if (s->protocol == AWS_QUERY)
        return S("text/xml");
    return s->protocol == AWS_JSON ? S("application/x-amz-json-1.1") : S("application/json");
}

static void head(const AwsService *s, HttpRequest *r, HttpAnswer *ret, int status)
{
    ret->status = status;
    http_answer_header(r, ret, "x-amzn-requestid", r->request_id);
    http_answer_header(r, ret, "content-type", content_type(s));
}

void aws_answer(const AwsCall *c, HttpRequest *r, HttpAnswer *ret)
{
    int status = c->status ? c->status : c->op->status ? c->op->status : 200;

    if (status == 204) {
        ret->status = 204;
        http_answer_header(r, ret, "x-amzn-requestid", r->request_id);
        return;
    }
    head(c->service, r, ret, status);
    ret->body = c->service->protocol == AWS_QUERY ? xml_answer(c, r) : json_text(c->a, c->out);
}

void aws_answer_error(const AwsService *s, HttpRequest *r, HttpAnswer *ret, const Error *err)
{
    Coded code = code_for(s, err);
    Str message = message_of(r->arena, err);

    head(s, r, ret, code.http);
    if (s->protocol == AWS_QUERY) {
        ret->body = xml_error(s, r, code, message);
        return;
    }
    Json *body = json_object(r->arena);
    http_answer_header(r, ret, "x-amzn-errortype", str_c(code.name));
    json_set(r->arena, body, "__type", json_str(r->arena, str_c(code.name)));
    json_set(r->arena, body, s->message_key ? s->message_key : "Message", json_str(r->arena, message));
    if (s->error_members)
        s->error_members(err, r->arena, body);
    ret->body = json_text(r->arena, body);
}

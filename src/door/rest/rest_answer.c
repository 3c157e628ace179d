/* SPDX-License-Identifier: Apache-2.0 */
/* rest_answer.c - answers and the specification's error model.
 *
 * A commit that surely failed must never look like one whose outcome is unknown: clients take 500, 502, 503 and 504 for that. */
#include "door/rest/rest_int.h"

void rest_header(RestCall *c, const char *name, Str value) { http_answer_header(c->r, c->ret, name, value); }

void rest_json(RestCall *c, int status, const Json *body)
{
    c->ret->status = status;
    rest_header(c, "content-type", S("application/json"));
    c->ret->body = json_text(c->a, body);
}

void rest_empty(RestCall *c, int status) { c->ret->status = status; }

Status rest_read(RestCall *c, Error *err)
{
    if (!c->has_body)
        TRY(http_body_all(c->r, LIMIT_REQUEST_BYTES, &c->body, err));
    c->has_body = 1;
    return OK;
}

Status rest_body(RestCall *c, Json **ret, Error *err)
{
    TRY_CTX(json_parse(c->a, c->body, ret, err), err, "Malformed request");
    if (!json_is(*ret, JSON_OBJECT))
        return FAIL(err, E_INVALID, "Malformed request: the body must be a JSON object");
    return OK;
}

/* E_UNSUPPORTED: clients that asked for the endpoints do not come here. */
Status rest_absent(RestCall *c, Error *err)
{
    return FAIL(err, E_UNSUPPORTED, "%s is not supported by this catalog", c->svc.api);
}

static bool is_commit(const RestRoute *route) { return route && (route->flags & ROUTE_COMMIT); }

static int status_of(const RestRoute *route, const Error *err)
{
    if (str_eq(str_c(err->kind), S("UnprocessableEntityException")))
        return 422;
    if (is_commit(route) && (err->code == E_UNAVAILABLE || err->code == E_TIMEOUT))
        return 429;
    if (is_commit(route) && err->code == E_IO)
        return 507;
    if (err->code == E_QUARANTINED)
        return 403;
    return status_http(err->code);
}

static Str type_of(int status, const Error *err)
{
    if (status == 429)
        return S("SlowDownException");
    if (err->code == E_AUTH)                                /* the AWS name of the reason is in the message's place */
        return S("NotAuthorizedException");
    if (err->code == E_QUARANTINED)
        return S("ForbiddenException");
    return str_c(err->kind[0] ? err->kind : status_iceberg(err->code));
}

static Str message_of(Arena *a, const Error *err)
{
    if (!err->hint[0])
        return str_dup(a, str_c(err->message));
    return str_fmt(a, "%s. %s", err->message, err->hint);
}

void rest_fail(RestCall *c, const RestRoute *route, const Error *err)
{
    int status = status_of(route, err);
    Json *e = json_object(c->a), *body = json_object(c->a);

    json_set(c->a, e, "message", json_str(c->a, message_of(c->a, err)));
    json_set(c->a, e, "type", json_str(c->a, type_of(status, err)));
    json_set(c->a, e, "code", json_int(c->a, status));
    json_set(c->a, body, "error", e);
    if (status == 429 || status == 503)
        rest_header(c, "retry-after", S("1"));
    if (status >= 500)
        log_error(err, "rest request failed", "request", str_z(c->a, c->r->request_id), NULL);
    rest_json(c, status, body);
    if (str_eq(c->r->method, S("HEAD")))
        c->ret->body = (Str){0};
}

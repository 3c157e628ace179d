/* SPDX-License-Identifier: Apache-2.0 */
/* manage_webhook.c - POST /api/webhook/<database>/<schema>/<source>: what webhook sources take.
 *
 * No credentials: a source's CHECK says who may.  Each part of the path is decoded by itself.  200 when the rows are durable; 400: the body is not of the format, or
 * CHECK said no; 404: no such source, or it does not run; 413: too large; 429: too many at once. */
#include "door/manage/manage_int.h"
#include "service/live_source.h"

#include <stdatomic.h>

enum { BODY_MAX = 2 * 1024 * 1024, PARTS = 3, AT_ONCE_MAX = 500 };

bool manage_is_webhook(const HttpRequest *r) { return str_starts(r->path, S("/api/webhook/")); }

static Status parts_of(HttpRequest *r, Str *parts, Error *err)
{
    StrVec raw = {0};

    str_split(r->arena, str_from(r->path, sizeof "/api/webhook/" - 1), '/', &raw);
    if (raw.n != PARTS)
        return FAIL(err, E_NOT_FOUND, "a webhook is called by /api/webhook/<database>/<schema>/<source>");
    for (size_t i = 0; i < PARTS; i++)
        TRY(url_decode(r->arena, raw.p[i], 0, &parts[i], err));
    return OK;
}

static Status take(Service *svc, HttpRequest *r, Error *err)
{
    WebhookRequest q = { .headers = &r->headers };
    Str parts[PARTS];

    TRY(parts_of(r, parts, err));
    TRY(http_body_all(r, BODY_MAX, &q.body, err));
    return svc_webhook(svc, parts[0], parts[1], parts[2], &q, err);
}

static int status_of(Status s)
{
    switch (s) {
    case E_INVALID: case E_SYNTAX: case E_DENIED: return 400;
    case E_NOT_FOUND: return 404;
    case E_LIMIT: return 413;
    default: return status_http(s);
    }
}

void manage_webhook(Service *svc, atomic_int *under_way, HttpRequest *r, HttpAnswer *ret)
{
    Error err;

    if (!str_eq(r->method, S("POST"))) {
        ret->status = 405;
        ret->body = S("webhooks are called by POST\n");
        return;
    }
    if (atomic_fetch_add(under_way, 1) >= AT_ONCE_MAX) {
        ret->status = 429;
        ret->body = S("too many requests at once\n");
    } else if (take(svc, r, &err) != OK) {
        ret->status = status_of(err.code);
        ret->body = str_fmt(r->arena, "%s\n", err.message);
    }
    atomic_fetch_sub(under_way, 1);
    http_answer_header(r, ret, "content-type", S("text/plain; charset=utf-8"));
}

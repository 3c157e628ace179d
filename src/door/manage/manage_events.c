/* SPDX-License-Identifier: Apache-2.0 */
/* manage_events.c - the list of notices: {"events": […], "next": SEQUENCE}; ask again with after=next. */
#include "access/iam.h"
#include "catalog/logs.h"
#include "door/manage/manage_int.h"

enum { EVENTS_DEFAULT = 100, EVENTS_MAX = 1000 };

static void answer(HttpRequest *r, HttpAnswer *ret, int status, const Json *body)
{
    ret->status = status;
    ret->body = json_text(r->arena, body);
    http_answer_header(r, ret, "content-type", S("application/json"));
    http_answer_header(r, ret, "cache-control", S("no-store"));
    if (status == 401)
        http_answer_header(r, ret, "www-authenticate", S("Basic realm=\"firn\""));
}

static Status number(HttpRequest *r, const char *name, int64_t fallback, int64_t max, int64_t *ret, Error *err)
{
    *ret = fallback;
    if (http_has_arg(r, name) && (!str_to_i64(http_arg(r, name, (Str){0}), ret) || *ret < 0 || *ret > max))
        return FAIL(err, E_INVALID, "%s is a number from 0 to %lld", name, (long long)max);
    return OK;
}

static Status list(Service *svc, HttpRequest *r, Json *out, Error *err)
{
    IamAsk ask = { .action = "glue:ListMaterializedViewRefreshTaskRuns", .resource = S("*") };
    int64_t after, max;
    Principal who;
    Json *events;

    TRY(manage_authenticate(svc, r, &who, err));
    TRY(iam_allowed(svc->access, r->arena, &who, &ask, err));
    TRY(number(r, "after", 0, INT64_MAX, &after, err));
    TRY(number(r, "max", EVENTS_DEFAULT, EVENTS_MAX, &max, err));
    TRY(logs_notices(svc->logs, r->arena, after, (int)max_i64(1, max), &events, err));
    if (json_len(events))
        after = json_get_int(json_at(events, json_len(events) - 1), "sequence", after);
    json_set(r->arena, out, "events", events);
    json_set(r->arena, out, "next", json_int(r->arena, after));
    return OK;
}

void manage_events(Service *svc, HttpRequest *r, HttpAnswer *ret)
{
    Json *out = json_object(r->arena);
    Error err;

    if (list(svc, r, out, &err) == OK) {
        answer(r, ret, 200, out);
        return;
    }
    Json *o = json_object(r->arena);
    json_set(r->arena, o, "error", json_str(r->arena, str_c(err.message)));
    answer(r, ret, err.code == E_AUTH ? 401 : status_http(err.code), o);
}

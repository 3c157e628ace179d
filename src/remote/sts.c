/* SPDX-License-Identifier: Apache-2.0 */
/* sts.c - AWS STS, as far as connections need it: AssumeRole and GetCallerIdentity, by the query protocol. */
#include "remote/remote_int.h"

static Status sts_call(const RemoteSts *s, Arena *a, Str form, Str *body, Error *err);
static void add_field(StrBuf *b, const char *name, Str value);

Status remote_assume_role(const RemoteSts *s, Arena *a, Str role_arn, Str session_name, Str external_id, RemoteRole *ret, Error *err)
{
    StrBuf b = sb_new(a);
    Str body = {0};

    sb_addc(&b, "Action=AssumeRole&Version=2011-06-15");
    add_field(&b, "RoleArn", role_arn);
    add_field(&b, "RoleSessionName", session_name);
    if (external_id.n)
        add_field(&b, "ExternalId", external_id);
    TRY_CTX(sts_call(s, a, sb_str(&b), &body, err), err, "assuming role " STR_FMT, STR_ARG(role_arn));
    return remote_parse_role(a, body, ret, err);
}

Status remote_caller(const RemoteSts *s, Arena *a, Str *arn, Error *err)
{
    Str body = {0};

    TRY_CTX(sts_call(s, a, S("Action=GetCallerIdentity&Version=2011-06-15"), &body, err), err, "asking who the credentials belong to (sts:GetCallerIdentity)");
    return remote_parse_caller(a, body, arn, err);
}

static Status sts_call(const RemoteSts *s, Arena *a, Str form, Str *body, Error *err)
{
    Str region = s->region.n ? s->region : S("us-east-1"), endpoint = remote_endpoint(a, s->endpoint);
    HttpReply r = {0};
    HttpCall h = { .method = "POST", .body = form, .sign = &s->keys, .service = S("sts"), .region = region, .max_bytes = LIMIT_XML_BYTES, .timeout_ms = s->timeout_ms ? s->timeout_ms : CALL_TIMEOUT_MS };

    if (!s->keys.access_key.n)
        return FAIL(err, E_AUTH, "there are no AWS keys to sign with");
    if (!endpoint.n)
        endpoint = str_fmt(a, "https://sts." STR_FMT ".%s", STR_ARG(region), str_starts(region, S("cn-")) ? "amazonaws.com.cn" : "amazonaws.com");
    h.url = str_cat(a, endpoint, S("/"));
    props_set(a, &h.headers, S("content-type"), S("application/x-www-form-urlencoded; charset=utf-8"));
    Status st = http_call(a, &h, &r, err);
    if (st == E_UNKNOWN)
        st = err->code = E_UNAVAILABLE;
    TRY(st);
    *body = r.body;
    return r.status == 200 ? OK : remote_judge_sts(a, r.status, r.body, err);
}

static void add_field(StrBuf *b, const char *name, Str value)
{
    sb_byte(b, '&');
    sb_addc(b, name);
    sb_byte(b, '=');
    sb_add(b, url_encode(b->a, value, 0));
}

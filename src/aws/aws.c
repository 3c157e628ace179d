/* SPDX-License-Identifier: Apache-2.0 */
/* aws.c - the life of a call: whose it is, who calls, what is asked, the answer.
 *
 * Order: the operation is known, then the signature proven, then the input decoded.  So an unknown caller learns which operations exist (they are
 * public) and nothing else; and no handler runs for a caller that is not proven. */
#include "aws/aws_int.h"

#include "access/iam.h"

bool aws_is_for(const AwsMount *m, const HttpRequest *r, const SigClaim *claim)
{
    const AwsService *s = m->service;
    StrVec ignored = {0};

    if (claim->access_key.n)
        return str_eq(claim->service, str_c(s->scope));
    switch (s->protocol) {
    case AWS_JSON: {
        Str target = http_header(r, "x-amz-target"), service, op;
        return str_cut(target, '.', &service, &op) && str_eq(service, str_c(s->target));
    }
    case AWS_QUERY:                                      /* of the unsigned forms only STS has operations */
        return str_eq(str_c(s->scope), S("sts")) && str_eq(r->method, S("POST")) && str_eq(r->path, S("/"))
            && str_starts(http_header(r, "content-type"), S("application/x-www-form-urlencoded"));
    case AWS_REST_JSON: {                                /* "/GrantPermissions" is no bucket: those have no capitals */
        const AwsOp *op = aws_rest_op(s, r, &ignored);
        return op && op->path[1] >= 'A' && op->path[1] <= 'Z';
    }
    }
    return false;
}

static Str address_of(const HttpRequest *r)
{
    ptrdiff_t colon = str_rchr(r->peer, ':');
    return colon < 0 ? r->peer : str_sub(r->peer, 0, (size_t)colon);
}

static Status unsigned_call(AwsCall *c, Error *err)
{
    if (!c->op->unsigned_too)
        return AWS_FAIL(err, E_AUTH, "MissingAuthenticationToken", "Request is missing Authentication Token");
    c->who = (Principal){ .kind = PR_USER, .arn = S("anonymous") };
    return OK;
}

/* The payload's hash is taken from the body itself; a header that says another is refused by the signature. */
static Status authenticate(AwsCall *c, HttpRequest *r, Str body, Error *err)
{
    SigClaim claim = {0};
    Str secret = {0};

    TRY(sig_parse(c->a, r, &claim, err));
    if (!claim.access_key.n)
        return unsigned_call(c, err);
    TRY(access_by_key(c->access, c->a, claim.access_key, claim.session_token, &secret, &c->who, err));
    if (!claim.presigned || !str_eq(claim.payload_hash, S("UNSIGNED-PAYLOAD")))
        claim.payload_hash = hash_hex(c->a, HASH_SHA256, body);
    TRY(sig_verify(c->a, r, &claim, secret, clock_ms(), claim.payload_hash, err));
    c->who.source_ip = address_of(r);
    iam_used(c->access, &c->who, str_c(c->service->scope), claim.region);
    return OK;
}

static Status not_supported(AwsCall *c, Error *err)
{
    return AWS_FAIL(err, E_UNSUPPORTED, "UnsupportedOperationException", "%s %s is known but not supported by firn%s%s", c->service->title, c->op->name,
                    c->op->note ? ": " : "", c->op->note ? c->op->note : "");
}

static Status run(const AwsMount *m, AwsCall *c, HttpRequest *r, Error *err)
{
    AwsRequest q;

    TRY(aws_read_request(m, r, &q, err));
    c->op = q.op;
    TRY(authenticate(c, r, q.body, err));
    if (!c->op->handler)
        return not_supported(c, err);
    TRY(aws_decode_input(m, r, &q, err));
    c->in = q.in;
    return c->op->handler(c, err);
}

void aws_handle(const AwsMount *m, Access *access, HttpRequest *r, HttpAnswer *ret)
{
    AwsCall c = { .a = r->arena, .service = m->service, .door = m->ctx, .access = access, .http = r, .in = json_object(r->arena), .out = json_object(r->arena) };
    Error err = {0};
    int64_t from = clock_mono_us();
    Status s = run(m, &c, r, &err);

    if (s == OK)
        aws_answer(&c, r, ret);
    else
        aws_answer_error(m->service, r, ret, &err);
    if (log_enabled(LOG_DEBUG) || (s != OK && err.code == E_INTERNAL))
        log_event(s == OK ? LOG_DEBUG : err.code == E_INTERNAL ? LOG_ERROR : LOG_DEBUG, "aws call", "service", m->service->scope, "operation", c.op ? c.op->name : "?", "request", str_z(r->arena, r->request_id), "who", str_z(r->arena, c.who.arn),
                  "us", str_fmt(r->arena, "%lld", (long long)(clock_mono_us() - from)).p, "error", s == OK ? "" : err.message, NULL);
}

/* ---- for handlers ------------------------------------------------------------------------------------------------------ */

Status aws_allow(AwsCall *c, const char *action, Str resource, const Props *context, Error *err)
{
    IamAsk ask = { .action = action, .resource = resource, .context = context };
    return iam_allowed(c->access, c->a, &c->who, &ask, err);
}

const Json *aws_get(const AwsCall *c, const char *name) { return json_get(c->in, name); }
bool aws_has(const AwsCall *c, const char *name) { return json_get(c->in, name) != NULL; }
Str aws_str(const AwsCall *c, const char *name) { return json_get_str(c->in, name, (Str){0}); }
int64_t aws_int(const AwsCall *c, const char *name, int64_t fallback) { return json_get_int(c->in, name, fallback); }
bool aws_bool(const AwsCall *c, const char *name, bool fallback) { return json_get_bool(c->in, name, fallback); }

void aws_put(AwsCall *c, const char *name, Json *v)
{
    if (v)
        json_set(c->a, c->out, name, v);
}

void aws_put_str(AwsCall *c, const char *name, Str v)
{
    if (v.n)
        json_set(c->a, c->out, name, json_str(c->a, v));
}

Json *aws_time(AwsCall *c, int64_t ms)
{
    if (!ms)
        return NULL;
    return c->service->iso_times ? json_str(c->a, time_iso8601(c->a, ms)) : json_real(c->a, (double)ms / 1000);
}

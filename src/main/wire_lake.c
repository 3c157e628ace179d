/* SPDX-License-Identifier: Apache-2.0 */
/* wire_lake.c - S3's questions answered by access/. */
#include "access/iam.h"
#include "access/policy.h"
#include "main/wire.h"

static Status s3_secret(void *ctx, Arena *a, const HttpRequest *r, const SigClaim *c, Str *secret, void **principal, Error *err)
{
    LakeDoor *d = ctx;
    Principal *p = arena_new(a, Principal);

    *principal = p;
    TRY(access_by_key(d->svc->access, a, c->access_key, c->session_token, secret, p, err));
    p->source_ip = str_sub(r->peer, 0, (size_t)max_i64(0, str_rchr(r->peer, ':')));
    return OK;
}

static Action action_of(const char *name)
{
    static const struct { const char *prefix; Action action; } table[] = {
        { "s3:CreateBucket", ACT_BUCKET_CREATE }, { "s3:DeleteBucketPolicy", ACT_BUCKET_CONFIG }, { "s3:DeleteBucket", ACT_BUCKET_DELETE },
        { "s3:ListAllMyBuckets", ACT_BUCKET_LIST }, { "s3:ListBucket", ACT_OBJECT_LIST }, { "s3:GetBucket", ACT_OBJECT_LIST },
        { "s3:HeadBucket", ACT_BUCKET_LIST }, { "s3:PutBucket", ACT_BUCKET_CONFIG }, { "s3:DeleteObject", ACT_OBJECT_DELETE },
        { "s3:GetObject", ACT_OBJECT_GET }, { "s3:ListMultipartUploadParts", ACT_OBJECT_GET }, { "s3:Put", ACT_OBJECT_PUT },
        { "s3:AbortMultipartUpload", ACT_OBJECT_PUT }, { "s3:Get", ACT_OBJECT_LIST }, { "s3:List", ACT_OBJECT_LIST },
    };
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (strncmp(name, table[i].prefix, strlen(table[i].prefix)) == 0)
            return table[i].action;
    return ACT_OBJECT_PUT;                            /* what nobody listed is asked as the stricter thing */
}

static Status s3_allow(void *ctx, Arena *a, void *principal, const char *action, Str bucket, Str key, const Props *context, Error *err)
{
    LakeDoor *d = ctx;
    Ask ask = { .action = action_of(action), .api = action, .context = context, .bucket = bucket, .key = key };

    if (!principal)
        return FAIL(err, E_DENIED, "Access Denied: the request is not signed");
    iam_used(d->svc->access, principal, S("s3"), cat_region(d->svc->catalog));          /* its signature is proven by now */
    return access_check(d->svc->access, a, principal, &ask, err);
}

static Status s3_policy(void *ctx UNUSED, Arena *a, Str text, Error *err)
{
    Policy *ignored;
    return policy_parse(a, text, POLICY_RESOURCE, &ignored, err);
}

static Status bucket_policy(void *ctx, Arena *a, Str bucket, Str *ret, Error *err)
{
    Service *svc = ctx;
    BucketInfo b = {0};
    Status s = store_bucket_get(svc->store, a, bucket, &b, err);

    *ret = s == OK ? s3_bucket_policy(a, b.config) : (Str){0};
    return s == E_NOT_FOUND ? OK : s;
}

Status lake_open_door(LakeDoor *d, Service *svc, int auth_off, Error *err)
{
    S3DoorOptions so = { .store = svc->store, .region = cat_region(svc->catalog), .owner_id = cat_account(svc->catalog), .owner_name = cat_account(svc->catalog), .domain = svc->options.lake_domain };
    RestOptions ro = { .svc = service_ctx(svc), .auth_off = auth_off };

    *d = (LakeDoor){ .svc = svc };
    access_set_bucket_policy(svc->access, bucket_policy, svc);
    so.hooks = (S3Hooks){ .ctx = d, .secret = s3_secret, .allow = s3_allow, .policy = s3_policy };
    d->s3 = s3_door_new(&so);
    d->rest = rest_new(&ro);
    if (!d->s3 || !d->rest)
        return FAIL(err, E_INTERNAL, "the lake door cannot be made");
    return aws_open_doors(d, err);
}

void lake_close_door(LakeDoor *d)
{
    s3_door_free(d->s3);
    rest_free(d->rest);
    aws_close_doors(d);
}

void lake_handle(void *ctx, HttpRequest *r, HttpAnswer *ret)
{
    LakeDoor *d = ctx;

    if (s3_host_bucket(r, d->svc->options.lake_domain).n)
        s3_handle(d->s3, r, ret);
    else if (str_eq(r->path, S("/iceberg")) || str_starts(r->path, S("/iceberg/")))
        rest_handle(d->rest, r, ret);
    else if (!aws_doors_handle(d, r, ret))
        s3_handle(d->s3, r, ret);
}

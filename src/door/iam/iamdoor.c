/* SPDX-License-Identifier: Apache-2.0 */
/* iamdoor.c - the tables of IAM and STS: operations, shapes, error codes. */
#include "door/iam/iam_door_int.h"

#include <stdlib.h>

static const AwsOp iam_ops[] = {
#define OP(op, text) { .name = #op, .handler = iam_op_##op, .fields = text },
#define RECORD(op, text) { .name = #op, .handler = iam_op_##op, .fields = text, .note = "a record: nothing signs in with it" },
#define NONE(op, why) { .name = #op, .fields = "", .note = why },
#include "door/iam/iam_ops.h"
#undef OP
#undef RECORD
#undef NONE
};

static const AwsShape shapes[] = {
    { "Tag", "Key! s, Value! s" },
    { "ContextEntry", "ContextKeyName s5-256, ContextKeyValues [s], ContextKeyType s" },
    { "PolicyDescriptorType", "arn s20-2048" },
};

static const AwsCode iam_codes[] = {
    { "NoSuchEntity", 404 }, { "EntityAlreadyExists", 409 }, { "DeleteConflict", 409 }, { "LimitExceeded", 409 }, { "MalformedPolicyDocument", 400 }, { "InvalidInput", 400 },
    { "UnmodifiableEntity", 400 }, { "MalformedCertificate", 400 }, { "ReportNotPresent", 410 }, { "ServiceFailure", 500 },
};

const AwsService iam_service = {
    .scope = "iam", .title = "AWS IAM", .protocol = AWS_QUERY, .version = "2010-05-08", .xmlns = "https://iam.amazonaws.com/doc/2010-05-08/", .iso_times = 1, .ops = iam_ops, .nops = COUNT_OF(iam_ops),
    .shapes = shapes, .nshapes = COUNT_OF(shapes), .codes = iam_codes, .ncodes = COUNT_OF(iam_codes), .validation = "ValidationError",
    .code_of = { [E_NOT_FOUND] = "NoSuchEntity", [E_EXISTS] = "EntityAlreadyExists", [E_NOT_EMPTY] = "DeleteConflict", [E_LIMIT] = "LimitExceeded" },
};

#define SESSION ", PolicyArns [{PolicyDescriptorType}], Policy s1-2048, Tags [{Tag}]"

static const AwsOp sts_ops[] = {
    { .name = "AssumeRole", .handler = sts_op_AssumeRole,
      .fields = "RoleArn! s20-2048, RoleSessionName! s2-64, DurationSeconds i900-43200, ExternalId s2-1224, SourceIdentity s2-64, TransitiveTagKeys [s], SerialNumber s9-256, TokenCode s6-6" SESSION },
    { .name = "GetCallerIdentity", .handler = sts_op_GetCallerIdentity, .fields = "" },
    { .name = "GetSessionToken", .handler = sts_op_GetSessionToken, .fields = "DurationSeconds i, SerialNumber s9-256, TokenCode s6-6" },
    { .name = "GetFederationToken", .handler = sts_op_GetFederationToken, .fields = "Name! s2-32, DurationSeconds i" SESSION },
    { .name = "GetAccessKeyInfo", .handler = sts_op_GetAccessKeyInfo, .fields = "AccessKeyId! s16-128" },
    { .name = "DecodeAuthorizationMessage", .handler = sts_op_DecodeAuthorizationMessage, .fields = "EncodedMessage! s1-10240" },
    { .name = "AssumeRoleWithWebIdentity", .unsigned_too = 1, .fields = "", .note = "identities of OpenID Connect providers are not verified here: sign with an access key and call AssumeRole" },
    { .name = "AssumeRoleWithSAML", .unsigned_too = 1, .fields = "", .note = "SAML assertions are not verified here: sign with an access key and call AssumeRole" },
    { .name = "AssumeRoot", .fields = "", .note = "there are no organizations" },
};

static const AwsCode sts_codes[] = {
    { "ExpiredTokenException", 400 }, { "MalformedPolicyDocument", 400 }, { "PackedPolicyTooLarge", 400 }, { "RegionDisabledException", 403 }, { "InvalidAuthorizationMessageException", 400 },
    { "IDPRejectedClaim", 403 }, { "InvalidIdentityToken", 400 }, { "NoSuchEntity", 404 },
};

const AwsService sts_service = {
    .scope = "sts", .title = "AWS STS", .protocol = AWS_QUERY, .version = "2011-06-15", .xmlns = "https://sts.amazonaws.com/doc/2011-06-15/", .iso_times = 1, .ops = sts_ops, .nops = COUNT_OF(sts_ops),
    .shapes = shapes, .nshapes = COUNT_OF(shapes), .codes = sts_codes, .ncodes = COUNT_OF(sts_codes), .validation = "ValidationError",
};

static void close_door(void *ctx)
{
    IamDoor *d = ctx;
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static Status open_door(Service *svc, const AwsService *service, AwsMount *ret, Error *err)
{
    IamDoor *d = calloc(1, sizeof *d);

    if (!d)
        return FAIL(err, E_INTERNAL, "out of memory");
    d->svc = svc;
    pthread_mutex_init(&d->lock, NULL);
    *ret = (AwsMount){ .service = service, .ctx = d, .close = close_door };
    return OK;
}

Status iam_open(Service *svc, AwsMount *ret, Error *err) { return open_door(svc, &iam_service, ret, err); }
Status sts_open(Service *svc, AwsMount *ret, Error *err) { return open_door(svc, &sts_service, ret, err); }

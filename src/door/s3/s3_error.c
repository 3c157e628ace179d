/* SPDX-License-Identifier: Apache-2.0 */
/* s3_error.c - S3's error codes with their HTTP status, and the XML that carries one.
 *
 * An Error that names an S3 code in `kind` is answered with it; every other one by its Status. */
#include <stdio.h>

#include "door/s3/s3_int.h"

typedef struct CodeRow { const char *code; int http; } CodeRow;

static const CodeRow codes[] = {
    { "BadRequest", 400 }, { "AccessControlListNotSupported", 400 }, { "AccessDenied", 403 }, { "AuthorizationHeaderMalformed", 400 },
    { "AuthorizationQueryParametersError", 400 }, { "BadDigest", 400 }, { "BucketAlreadyExists", 409 },
    { "BucketAlreadyOwnedByYou", 409 }, { "BucketNotEmpty", 409 }, { "EntityTooLarge", 400 }, { "EntityTooSmall", 400 },
    { "ExpiredToken", 400 }, { "IllegalVersioningConfigurationException", 400 }, { "IncompleteBody", 400 }, { "InternalError", 500 }, { "InvalidAccessKeyId", 403 },
    { "InvalidArgument", 400 }, { "InvalidBucketName", 400 }, { "InvalidDigest", 400 }, { "InvalidPart", 400 },
    { "InvalidPartOrder", 400 }, { "InvalidPolicyDocument", 400 }, { "InvalidRange", 416 }, { "InvalidRequest", 400 },
    { "InvalidTag", 400 }, { "InvalidToken", 400 }, { "InvalidURI", 400 }, { "KeyTooLongError", 400 },
    { "MalformedPOSTRequest", 400 }, { "MalformedPolicy", 400 }, { "MalformedTrailerError", 400 }, { "MalformedXML", 400 },
    { "MetadataTooLarge", 400 }, { "MethodNotAllowed", 405 }, { "MissingContentLength", 411 }, { "NoSuchBucket", 404 },
    { "NoSuchBucketPolicy", 404 }, { "NoSuchCORSConfiguration", 404 }, { "NoSuchConfiguration", 404 }, { "NoSuchKey", 404 },
    { "NoSuchLifecycleConfiguration", 404 }, { "NoSuchPublicAccessBlockConfiguration", 404 }, { "NoSuchTagSet", 404 },
    { "NoSuchUpload", 404 }, { "NoSuchVersion", 404 }, { "NoSuchWebsiteConfiguration", 404 }, { "NotImplemented", 501 },
    { "ObjectLockConfigurationNotFoundError", 404 }, { "OwnershipControlsNotFoundError", 404 }, { "PreconditionFailed", 412 },
    { "ReplicationConfigurationNotFoundError", 404 }, { "RequestTimeTooSkewed", 403 }, { "RequestTimeout", 400 },
    { "ServerSideEncryptionConfigurationNotFoundError", 404 }, { "ServiceUnavailable", 503 }, { "SignatureDoesNotMatch", 403 },
    { "XAmzContentSHA256Mismatch", 400 },
};

static const char *const by_status[STATUS_COUNT] = {
    [E_INVALID] = "InvalidArgument", [E_SYNTAX] = "InvalidRequest", [E_NOT_FOUND] = "NoSuchKey", [E_EXISTS] = "BucketAlreadyExists",
    [E_NOT_EMPTY] = "BucketNotEmpty", [E_CONFLICT] = "PreconditionFailed", [E_DENIED] = "AccessDenied", [E_AUTH] = "AccessDenied",
    [E_PROTECTED] = "AccessDenied", [E_QUARANTINED] = "AccessDenied", [E_LIMIT] = "InvalidRequest", [E_UNSUPPORTED] = "NotImplemented",
    [E_TIMEOUT] = "RequestTimeout", [E_UNAVAILABLE] = "ServiceUnavailable", [E_FULL] = "ServiceUnavailable",
};

static const CodeRow *row_of(const char *code);

Status s3_fail(Error *err, const char *code, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)FAIL(err, E_INVALID, "%s", text);
    snprintf(err->kind, sizeof err->kind, "%s", code);
    return E_INVALID;
}

void s3_answer_error(HttpRequest *r, HttpAnswer *ret, const Error *err)
{
    s3_error_answer(r, ret, err);
}

void s3_error_answer(HttpRequest *r, HttpAnswer *ans, const Error *err)
{
    const CodeRow *row = row_of(s3_code(err));
    if (row->http >= 500 && row->http != 501)
        log_error(err, "S3 request failed", "request_id", str_z(r->arena, r->request_id), "path", str_z(r->arena, r->path), NULL);
    file_closep(&ans->fd);
    *ans = (HttpAnswer){ .status = row->http, .fd = -1 };
    http_answer_header(r, ans, "Content-Type", S("application/xml"));
    XmlWriter w = xw_new(r->arena);
    xw_open(&w, "Error");
    xw_elem(&w, "Code", str_c(row->code));
    xw_elem(&w, "Message", str_c(err->message));
    xw_elem(&w, "Resource", r->path);
    xw_elem(&w, "RequestId", r->request_id);
    xw_elem(&w, "HostId", r->request_id);
    xw_close(&w);
    if (!str_eq(r->method, S("HEAD")))
        ans->body = xw_done(&w);
}

const char *s3_code(const Error *err)
{
    if (row_of(err->kind))
        return row_of(err->kind)->code;
    return by_status[err->code] ? by_status[err->code] : "InternalError";
}

static const CodeRow *row_of(const char *code)
{
    for (size_t i = 0; i < COUNT_OF(codes); i++)
        if (str_eq(str_c(codes[i].code), str_c(code)))
            return &codes[i];
    return NULL;
}

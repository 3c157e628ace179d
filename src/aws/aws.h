/* SPDX-License-Identifier: Apache-2.0 */
/* aws.h - AWS's request protocols: one way to write an operation, whatever its wire.
 *
 * An AwsService is a table of operations.  aws_handle proves the signature, finds the operation (X-Amz-Target, Action=, or method and path),
 * decodes its input into one Json object, holds it against the operation's fields, calls the handler, and encodes the answer
 * or the error as that service's protocol wants it.  So a handler sees no HTTP: it reads c->in and fills c->out.
 * Facts: Smithy's awsJson1.1, restJson1 and awsQuery protocols; spec/glue.md 4.  Any thread may call. */
#ifndef FIRN_AWS_H
#define FIRN_AWS_H

#include "access/access.h"
#include "base/base.h"
#include "codec/codec.h"
#include "net/net.h"

typedef enum { AWS_JSON, AWS_REST_JSON, AWS_QUERY } AwsProtocol;

typedef struct AwsService AwsService;
typedef struct AwsOp AwsOp;

typedef struct AwsCall {
    Arena *a;
    const AwsService *service;
    const AwsOp *op;
    void *door;                       /* AwsMount.ctx */
    Access *access;
    const HttpRequest *http;
    Principal who;
    Json *in;                         /* an object, never NULL: members are of the kinds that the operation's fields say, unknown ones are dropped */
    Json *out;                        /* an object to fill; it stays empty for an operation without output */
    int status;                       /* of success; 0: the operation's own */
} AwsCall;
typedef Status (*AwsHandler)(AwsCall *c, Error *err);

/* Fields in one line of text, a comma between them: NAME[!] TYPE.  "!" is required.
 *   s, s1-255        string and its length in characters        e(A|B)         string of a set
 *   i, i1-100, l     integer and its range                       d              number
 *   b                boolean                                     t              timestamp (epoch seconds or ISO 8601; c->in has a real of seconds)
 *   x                base64 text, left as text                   *              anything
 *   [TYPE], [TYPE]1-10   list and its length                     <TYPE>, <TYPE>0-50   map of strings to TYPE
 *   {Name}           a structure of the service's shapes; it may be recursive
 * "DatabaseName! s1-255, CatalogId s1-255, TableInput! {TableInput}, Tags <s0-256>0-50". A mistake in the text aborts at start. */
struct AwsOp {
    const char *name;
    AwsHandler handler;               /* NULL: known, not supported: an error that says so */
    const char *fields;
    const char *method, *path;        /* AWS_REST_JSON: "PUT", "/tables/{tableBucketARN}/{namespace}"; segments are split raw, then decoded into members */
    int status;                       /* of success; 0: 200 */
    int unsigned_too;                 /* may be called without a signature (AssumeRoleWithWebIdentity) */
    const char *note;                 /* for docs/: what is special here; NULL: nothing */
};

typedef struct AwsShape { const char *name, *fields; } AwsShape;
/* What an own error code of the service is on the wire. */
typedef struct AwsCode { const char *name; int http; } AwsCode;

struct AwsService {
    const char *scope;                /* service in the credential scope: "glue" */
    const char *title;                /* for docs/: "AWS Glue" */
    AwsProtocol protocol;
    const char *target;               /* AWS_JSON: "AWSGlue" */
    const char *version;              /* AWS_QUERY: "2010-05-08" */
    const char *xmlns;
    const char *message_key;          /* of JSON errors: "Message", "message" */
    int iso_times;                    /* timestamps of answers: 1 ISO 8601 text, 0 epoch seconds */
    const AwsOp *ops;
    size_t nops;
    const AwsShape *shapes;
    size_t nshapes;
    const AwsCode *codes;             /* every code that the service may answer */
    size_t ncodes;
    const char *code_of[STATUS_COUNT];/* default code of a Status: { [E_NOT_FOUND] = "EntityNotFoundException" … }; NULL: the protocol's own */
    const char *validation;           /* code for input that breaks its fields: "InvalidInputException" */
    void (*error_members)(const Error *err, Arena *a, Json *body);      /* JSON: more members beside the message; may be NULL */
};

/* A service with what its handlers work on. */
typedef struct AwsMount { const AwsService *service; void *ctx; void (*close)(void *ctx); } AwsMount;

/* Is this request the service's? By credential scope; unsigned requests by target, Action and Version. The body is not read for others. */
bool aws_is_for(const AwsMount *m, const HttpRequest *r, const SigClaim *claim);
/* Always fills an answer. */
void aws_handle(const AwsMount *m, Access *access, HttpRequest *r, HttpAnswer *ret);
/* Aborts with a message when a field text does not parse; a test of each door calls it. */
void aws_check_service(const AwsService *s);
/* The table for docs/: a Markdown row for each operation. */
void aws_describe(const AwsService *s, StrBuf *ret);

/* ---- for handlers ------------------------------------------------------------------------------------------------- */

/* Fail with a code of the service's own. The Status is for logs; the code is kept in err->kind. */
#define AWS_FAIL(err, status, code, ...) (error_set((err), (status), ORIGIN, __VA_ARGS__), aws_code((err), (code)), (status))
void aws_code(Error *err, const char *code);

/* IAM's answer for one action on one resource ("*" where the action has none); `context` may be NULL. E_DENIED with AWS's words (spec/glue.md 2.9 E16). */
NODISCARD Status aws_allow(AwsCall *c, const char *action, Str resource, const Props *context, Error *err);

Str aws_str(const AwsCall *c, const char *name);                     /* "" when absent */
int64_t aws_int(const AwsCall *c, const char *name, int64_t fallback);
bool aws_bool(const AwsCall *c, const char *name, bool fallback);
const Json *aws_get(const AwsCall *c, const char *name);             /* NULL when absent */
bool aws_has(const AwsCall *c, const char *name);
void aws_put(AwsCall *c, const char *name, Json *v);                 /* into c->out; NULL is left out */
void aws_put_str(AwsCall *c, const char *name, Str v);               /* empty is left out */
Json *aws_time(AwsCall *c, int64_t ms);                              /* as the service writes times; NULL for 0 */

/* Paging.  A token holds a position, is bound to the operation and to the members of `c->in` other than the token and the page size, and is
 * sealed: others are refused (E_INVALID, with the service's validation code).
 * AWS_QUERY answers a list as <Name><member>…; an array named "entry" repeats its own name (maps of IAM). */
NODISCARD Status aws_page_start(AwsCall *c, const char *token_field, Str *position, Error *err);      /* "" without a token */
Str aws_page_token(AwsCall *c, Str position);
/* The usual case whole: puts items [from, from+max) of `items` into out.`list`, and the token when more remain. `max` 0: all. */
NODISCARD Status aws_page(AwsCall *c, const char *list, Json *items, const char *token_field, const char *size_field, int64_t default_size, const char *token_out, Error *err);

#endif

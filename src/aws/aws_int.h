/* SPDX-License-Identifier: Apache-2.0 */
/* aws_int.h - inside of aws/: fields compiled from their text, and the steps of a call. */
#ifndef FIRN_AWS_INT_H
#define FIRN_AWS_INT_H

#include "aws/aws.h"

enum {
    AWS_BODY_MAX = 16 * 1024 * 1024,
    AWS_FORM_DEPTH = 16, AWS_FORM_MEMBERS = 20000, AWS_FORM_INDEX = 10000,
    AWS_SHAPE_DEPTH = 64,             /* nesting of a value, recursive structures too */
    AWS_PROBLEMS_MAX = 10,            /* that one error names */
};

typedef enum { T_STR, T_ENUM, T_INT, T_REAL, T_BOOL, T_TIME, T_BLOB, T_ANY, T_LIST, T_MAP, T_STRUCT } AwsKind;
typedef struct AwsType AwsType;
struct AwsType { AwsKind kind; int ranged; int64_t min, max; StrVec choices; AwsType *item; Str shape; };
typedef struct AwsMember { Str name; int required; AwsType *type; } AwsMember;
typedef VEC(AwsMember) AwsMembers;

/* Compiles a field text. E_SYNTAX with the rest of the text that was not understood. */
NODISCARD Status aws_fields(Arena *a, Str text, AwsMembers *ret, Error *err);
const AwsMember *aws_member(const AwsMembers *m, Str name);
/* Holds `in` against the members: kinds, ranges, required ones. `texts` 1: numbers and booleans come as text (forms). E_INVALID names every problem. */
NODISCARD Status aws_check_input(Arena *a, const AwsService *s, const AwsMembers *m, const Json *in, int texts, Json **ret, Error *err);
/* One value that came as text in a URL. */
Json *aws_from_text(Arena *a, const AwsType *t, Str text);

/* aws_decode.c: the operation and its raw input. E_NOT_FOUND: no such operation. */
typedef struct AwsRequest { const AwsOp *op; Json *in; Str body; } AwsRequest;
NODISCARD Status aws_read_request(const AwsMount *m, HttpRequest *r, AwsRequest *ret, Error *err);
NODISCARD Status aws_decode_input(const AwsMount *m, HttpRequest *r, AwsRequest *q, Error *err);
const AwsOp *aws_rest_op(const AwsService *s, const HttpRequest *r, StrVec *values);
NODISCARD Status aws_form(Arena *a, Str text, Json **ret, Error *err);

/* aws_answer.c */
void aws_answer(const AwsCall *c, HttpRequest *r, HttpAnswer *ret);
void aws_answer_error(const AwsService *s, HttpRequest *r, HttpAnswer *ret, const Error *err);
int aws_code_http(const AwsService *s, const char *code);      /* 0: not one of the service's */

#endif

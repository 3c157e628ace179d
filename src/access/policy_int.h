/* SPDX-License-Identifier: Apache-2.0 */
/* policy_int.h - a parsed policy, as the files of the policy language share it. */
#ifndef FIRN_POLICY_INT_H
#define FIRN_POLICY_INT_H

#include "access/policy.h"
#include "codec/codec.h"

enum {
    POLICY_BYTES_MAX      = 20480,
    POLICY_STATEMENTS_MAX = 500,
    POLICY_VALUES_MAX     = 500,       /* of one element */
};

typedef enum {
    OP_STRING_EQUALS, OP_STRING_EQUALS_NOCASE, OP_STRING_LIKE, OP_NUMERIC_EQUALS, OP_NUMERIC_LT, OP_NUMERIC_LE, OP_NUMERIC_GT, OP_NUMERIC_GE,
    OP_DATE_EQUALS, OP_DATE_LT, OP_DATE_LE, OP_DATE_GT, OP_DATE_GE, OP_BOOL, OP_BINARY_EQUALS, OP_IP_ADDRESS, OP_ARN_EQUALS, OP_ARN_LIKE, OP_NULL
} ConditionOp;
typedef enum { SET_NONE, SET_ALL, SET_ANY } ConditionSet;

typedef struct Condition { ConditionOp op; int negated, if_exists; ConditionSet set; Str key; StrVec values; } Condition;
typedef struct PolicyPrincipal { Str type, value; } PolicyPrincipal;      /* AWS, Service, Federated, CanonicalUser */

typedef struct Statement {
    Str sid, effect;
    int deny;
    StrVec actions, resources;
    int has_actions, not_action, has_resources, not_resource, has_principals, not_principal;
    VEC(PolicyPrincipal) principals;
    VEC(Condition) conditions;
} Statement;

struct Policy {
    PolicyKind kind;
    int variables;                     /* version 2012-10-17: ${…} is a variable */
    Str version;
    VEC(Statement) statements;
};

/* One question while it is asked: the memory for expanded variables is made when the first is met. */
typedef struct Eval { const PolicyAsk *ask; int variables; Arena *a; } Eval;

/* ---- policy_parse.c: JSON to statements; false: "Syntax errors in policy." */
bool policy_read(Arena *a, Str text, Policy *ret);
bool policy_operator(Str name, Condition *ret);

/* ---- policy_check.c: what IAM says of a policy that is well formed */
NODISCARD Status policy_check(Arena *a, const Policy *p, Error *err);
Status policy_malformed(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- policy_condition.c */
bool policy_condition(Eval *e, const Condition *c);
bool policy_date(Str text, int64_t *ms);               /* ISO 8601 as IAM reads it, or epoch seconds */

/* ---- policy_match.c */
/* Wildcards and variables against a whole text; an unknown variable matches nothing. */
bool policy_match(Eval *e, Str text, Str pattern);
bool policy_match_nocase(Str text, Str pattern);
/* Variables replaced, wildcards as text. false: an unknown variable. */
bool policy_expand(Eval *e, Str text, Str *ret);
bool policy_match_arn(Eval *e, Str arn, Str pattern);  /* part by part */

#endif

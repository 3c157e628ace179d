/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h - the IAM policy language: parsed, and asked. Pure: no catalog, no clock.
 *
 * Version 2012-10-17 and 2008-10-17: Effect, Action, NotAction, Resource, NotResource, Principal, NotPrincipal, Condition with every operator of the
 * IAM User Guide ("IAM JSON policy elements: Condition operators"), …IfExists, ForAllValues:, ForAnyValue:, Null, policy variables with defaults. */
#ifndef FIRN_POLICY_H
#define FIRN_POLICY_H

#include "base/base.h"

typedef enum { POLICY_IDENTITY, POLICY_RESOURCE, POLICY_TRUST, POLICY_SESSION } PolicyKind;
typedef struct Policy Policy;
/* E_INVALID, err->kind MalformedPolicyDocument, in IAM's words: not JSON, unknown elements, missing ones, an element that the kind forbids, bad ARNs,
 * more than 20,480 bytes, more than 500 statements or values. Matching is linear in the text: no pattern makes it blow up. */
NODISCARD Status policy_parse(Arena *a, Str text, PolicyKind kind, Policy **ret, Error *err);

/* Values of condition keys; several of one key are several entries. Keys compare without case. */
typedef struct PolicyAsk {
    Str action;                       /* "glue:GetTable" */
    Str resource;                     /* an ARN; "" or "*": the action has none */
    Str principal;                    /* resource and trust policies: the caller's ARN, or "glue.amazonaws.com" */
    Str principal_role;               /* the role's ARN behind an assumed-role session, or empty */
    Str account;
    const Props *context;
} PolicyAsk;

typedef enum { POLICY_SILENT, POLICY_ALLOW, POLICY_DENY } PolicyAnswer;
/* How a resource or trust policy named the caller, weakest first: its account, everybody, the role behind the session, just it. */
typedef enum { NAMED_NOT, NAMED_ACCOUNT, NAMED_ANYBODY, NAMED_ROLE, NAMED_ITSELF } PolicyNamed;
typedef struct PolicyMatch { Str sid; int statement; PolicyNamed named; } PolicyMatch;      /* the statement that decided; -1: none */
PolicyAnswer policy_decide(const Policy *p, const PolicyAsk *ask, PolicyMatch *match);
/* Keys that conditions name, for SimulatePrincipalPolicy's MissingContextValues and GetContextKeysForCustomPolicy. */
void policy_context_keys(Arena *a, const Policy *p, StrVec *ret);

/* The AWS principals that statements name, each once; and one of them replaced by another text. */
void policy_principals(Arena *a, const Policy *p, StrVec *ret);
void policy_rename_principal(Policy *p, Str from, Str to);

/* Where statement number i stands in the text that was parsed: bytes [from, to). false: it has no such statement. */
bool policy_place(Str text, int i, size_t *from, size_t *to);

/* '*' and '?' against a whole text; never more than text times pattern. */
bool policy_like(Str text, Str pattern);

#endif

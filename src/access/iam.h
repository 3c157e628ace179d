/* SPDX-License-Identifier: Apache-2.0 */
/* iam.h - users, groups, roles, policies and sessions, as records and as decisions.
 *
 * Records are documents of the catalog, kept in AWS's own shape (JSON, names as in the IAM API), so doors hand them on.  Changing them is
 * not checked here: callers ask first (iam_allowed).  Everything takes effect at once, for sessions that exist too: a decision
 * reads the role as it is now; a session of a role that is gone, or that was issued before its revocation (the AWSRevokeOlderSessions
 * condition, or the deny of a date), is refused. */
#ifndef FIRN_IAM_H
#define FIRN_IAM_H

#include "access/access.h"

typedef enum { IAM_USER, IAM_ROLE, IAM_GROUP, IAM_POLICY, IAM_PROFILE } IamKind;

/* ---- decisions ------------------------------------------------------------------------------------------------------------ */

/* One question for IAM. Root passes everything but resource policies' explicit deny (of which it can remove the policy). */
typedef struct IamAsk {
    const char *action;               /* "glue:GetTable" */
    Str resource;                     /* an ARN or "*" */
    Str resource_policy;              /* text of the policy on the resource; empty: none */
    Str resource_policy_2;            /* of what holds it (the table bucket of a table); empty: none */
    const Props *context;             /* keys beyond the principal's own; NULL: none */
} IamAsk;
/* How it was decided: explicit deny anywhere > boundary, session policy and identity all needed > allow by a resource policy that names the principal.
 * within_limits: boundary and session policies would allow it. */
typedef struct IamDecision { int allowed, explicit_deny; const char *by; Str policy, sid; int statement, within_limits; } IamDecision;      /* by: "identity-based policy", "permissions boundary" … */
NODISCARD Status iam_decide(Access *x, Arena *a, const Principal *p, const IamAsk *ask, IamDecision *ret, Error *err);
/* What given policies would answer (the simulators): identity policies, and a boundary when its list is not empty. missing: context keys that were named, not given. */
typedef struct IamSimulation { StrVec identity, identity_ids, boundary; Str caller; IamAsk ask; } IamSimulation;
NODISCARD Status iam_simulate(Access *x, Arena *a, const IamSimulation *q, IamDecision *ret, StrVec *missing, Error *err);
/* Texts of all policies of a user, role or group (groups of a user too), with their names; and of its boundary ("" none). */
NODISCARD Status iam_policies_of(Access *x, Arena *a, IamKind kind, Str name, StrVec *texts, StrVec *names, Str *boundary, Error *err);
/* The same as a Status. E_DENIED in AWS's words, naming principal, action, resource and which kind of policy (spec/glue.md 2.9 E14, E16). */
NODISCARD Status iam_allowed(Access *x, Arena *a, const Principal *p, const IamAsk *ask, Error *err);

/* ---- records ---------------------------------------------------------------------------------------------------------------- */

/* {"Path", "UserName"|"RoleName"|…, "UserId"|…, "Arn", "CreateDate" (epoch ms), "AssumeRolePolicyDocument", "Description", "MaxSessionDuration",
 *  "PermissionsBoundary", "Tags": {…}, "Inline": {name: text}, "Attached": [arn], "Groups": [name], "Versions": […], …}.  E_NOT_FOUND, kind NoSuchEntity. */
NODISCARD Status iam_get(Access *x, Arena *a, IamKind kind, Str name, Json **ret, Error *err);      /* policies by ARN */
NODISCARD Status iam_list(Access *x, Arena *a, IamKind kind, Str path_prefix, Json **ret, Error *err);
/* Insert (E_EXISTS), replace (E_NOT_FOUND), delete. */
NODISCARD Status iam_create(Access *x, IamKind kind, Str name, const Json *record, Error *err);
NODISCARD Status iam_update(Access *x, IamKind kind, Str name, const Json *record, Error *err);
NODISCARD Status iam_delete(Access *x, IamKind kind, Str name, Error *err);
Str iam_new_id(Arena *a, const char *prefix);                          /* "AROA" and 17 more of [A-Z2-7] */
/* Policies that AWS manages, as records: by ARN (iam_get gives them too), and all. */
NODISCARD Status iam_managed_get(Arena *a, Str arn, Json **ret, Error *err);
Json *iam_managed_list(Arena *a);
/* Text of a policy's default version. E_NOT_FOUND. */
NODISCARD Status iam_policy_text(Access *x, Arena *a, Str arn, Str *ret, Error *err);
/* Documents of the door that are no entities (the account's alias, providers, devices): kind "iam.<kind>"; value NULL deletes. */
NODISCARD Status iam_doc_put(Access *x, Str kind, Str key, Json *value, Error *err);
NODISCARD Status iam_doc_get(Access *x, Arena *a, Str kind, Str key, Json **ret, Error *err);
NODISCARD Status iam_doc_list(Access *x, Arena *a, Str kind, Json **ret, Error *err);
/* Everything remembered is read anew (records were changed behind this room: a reset). */
void iam_forget(Access *x);

/* ---- access keys of users and of the root -------------------------------------------------------------------------------- */

NODISCARD Status iam_key_create(Access *x, Arena *a, Str principal_arn, CatKey *ret, Error *err);
NODISCARD Status iam_key_activate(Access *x, Str id, int active, Error *err);
NODISCARD Status iam_key_delete(Access *x, Str id, Error *err);
NODISCARD Status iam_key_move(Access *x, Str id, Str principal_arn, Error *err);      /* its user was renamed */
/* A request was made with the principal's key, for a service in a region; kept within a quarter of an hour. */
void iam_used(Access *x, const Principal *p, Str service, Str region);
typedef struct IamUsed { int64_t ms; Str service, region; } IamUsed;                  /* ms 0: never */
NODISCARD Status iam_last_used(Access *x, Arena *a, Str key_or_role_id, IamUsed *ret, Error *err);

/* ---- sessions --------------------------------------------------------------------------------------------------------------- */

typedef struct IamAssume {
    Str role_arn, session_name, external_id, source_identity;
    Str policy;                       /* inline session policy, or empty */
    StrVec policy_arns;
    Props tags;
    StrVec transitive;
    int64_t seconds;
} IamAssume;
/* sts:AssumeRole by a principal: its own policies and the role's trust must allow it. E_DENIED "User: … is not authorized to perform: sts:AssumeRole on resource: …".
 * The key outlives a restart and ends at its time. */
NODISCARD Status iam_assume(Access *x, Arena *a, const Principal *p, const IamAssume *q, CatKey *key, Principal *ret, Error *err);
/* A service of ours takes a role for work of its own, without a key: the role's trust must name it ("glue.amazonaws.com"). */
NODISCARD Status iam_assume_service(Access *x, Arena *a, Str role_arn, const char *service, Str session_name, Principal *ret, Error *err);
/* firn's own connections act as this role (iam_connection.c): by default role/MaterializeConnection of the account. Any ARN of a role; E_INVALID: it is none. */
#define IAM_CONNECTION_SERVICE "connections.firn.amazonaws.com"
NODISCARD Status iam_set_connection_role(Access *x, Str arn, Error *err);            /* at start */
Str iam_connection_role(const Access *x, Arena *a);
/* The same with a key for a child process (a Glue job). */
NODISCARD Status iam_assume_service_key(Access *x, Arena *a, Str role_arn, const char *service, Str session_name, int64_t seconds, CatKey *key, Error *err);
/* GetSessionToken of a user or root. */
NODISCARD Status iam_session_token(Access *x, Arena *a, const Principal *p, int64_t seconds, CatKey *key, Error *err);
/* GetFederationToken: what the caller may do and `policy` (with the managed ones) allows; arn:aws:sts::<account>:federated-user/<name>. */
typedef struct IamFederate { Str name, policy; StrVec policy_arns; Props tags; int64_t seconds; } IamFederate;
NODISCARD Status iam_federation_token(Access *x, Arena *a, const Principal *p, const IamFederate *q, CatKey *key, Principal *ret, Error *err);
/* May the principal hand this role to a service (iam:PassRole)? E_DENIED; E_NOT_FOUND. */
NODISCARD Status iam_pass_role(Access *x, Arena *a, const Principal *p, Str role_arn, const char *service, Error *err);

#endif

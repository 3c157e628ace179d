/* SPDX-License-Identifier: Apache-2.0 */
/* access.h - who may do what: principals, sessions, protection.  One question, one answer with its reason.
 *
 * The rule of managed views (design idea 1): the data, metadata and definition of a managed view may be changed by
 * the system principal alone, for one run.  Every door asks here, so each refusal carries the same words and names the view and
 * the remedy.  Order of checks: spec/glue.md section 3.  Reads the catalog; changes nothing but sessions. */
#ifndef FIRN_ACCESS_H
#define FIRN_ACCESS_H

#include "base/base.h"
#include "catalog/catalog.h"

typedef struct Access Access;
Access *access_new(Catalog *c);
void access_free(Access *x);
/* Text of a bucket's policy, "" when it has none or does not exist. Set once, before the first question. */
typedef Status (*AccessBucketPolicy)(void *ctx, Arena *a, Str bucket, Str *ret, Error *err);
void access_set_bucket_policy(Access *x, AccessBucketPolicy of, void *ctx);

typedef enum { PR_ROOT, PR_USER, PR_ROLE, PR_SYSTEM } PrincipalKind;
typedef struct Principal {
    PrincipalKind kind;
    Str arn;                          /* as GetCallerIdentity says: arn:aws:iam::<account>:root, …:user/u, arn:aws:sts::<account>:assumed-role/r/session; PR_SYSTEM: arn:aws:iam::<account>:system */
    Str role_arn;                     /* PR_ROLE: arn:aws:iam::<account>:role/<path>r */
    Str user_id;                      /* AIDA…, AROA…:session; the account for root */
    Str key_id;
    Json *scope;                      /* a vended session: {"prefixes": ["s3://b/t/"], "write": true}; NULL: the principal's own rights */
    Json *session;                    /* an STS session: {"kind": "role"|"token"|"federated", "role_arn", "role_id", "name", "policy", "policy_arns", "tags", "transitive",
                                         "source_identity", "issuer", "issued_ms", "expires_ms"}; NULL: none */
    Str source_ip;                    /* filled by the door; empty: unknown */
    int64_t system_relation;          /* PR_SYSTEM: the one view that this run may write */
} Principal;
/* Who a view or table is made by, for records: the role behind a session, else the principal itself. */
Str principal_owner(const Principal *p);
Principal principal_dup(Arena *a, const Principal *p);
/* What a key made for this principal carries in CatKey.scope; NULL: nothing. */
Json *principal_scope(Arena *a, const Principal *p);

Principal access_root(Arena *a, const Access *x);
Principal access_system(Arena *a, const Access *x, int64_t relation_id);

/* Who signs with this key: its secret and principal. E_AUTH, err->kind InvalidAccessKeyId | ExpiredToken | InvalidToken (the token is not the key's). */
NODISCARD Status access_by_key(Access *x, Arena *a, Str key_id, Str session_token, Str *secret, Principal *ret, Error *err);
/* The same where the protocol has no place for a token: the secret alone proves who it is (SQL). */
NODISCARD Status access_by_key_alone(Access *x, Arena *a, Str key_id, Str *secret, Principal *ret, Error *err);

/* Credentials for the objects under these prefixes, until `seconds` from now. */
NODISCARD Status access_vend(Access *x, Arena *a, const Principal *p, const StrVec *prefixes, int write_too, int64_t seconds, CatKey *ret, Error *err);

/* What one wants to do. */
typedef enum {
    ACT_READ_DATA, ACT_WRITE_DATA, ACT_READ_METADATA, ACT_ALTER, ACT_ALTER_PROPERTIES, ACT_SCHEDULE, ACT_REFRESH, ACT_DROP, ACT_RENAME, ACT_CREATE,
    ACT_REGISTER, ACT_OBJECT_GET, ACT_OBJECT_LIST, ACT_OBJECT_PUT, ACT_OBJECT_DELETE, ACT_BUCKET_CREATE, ACT_BUCKET_DELETE, ACT_BUCKET_CONFIG, ACT_BUCKET_LIST,
    ACT_NAMESPACE_CREATE, ACT_NAMESPACE_ALTER, ACT_NAMESPACE_DROP, ACT_ADMIN
} Action;

typedef struct Ask {
    Action action;
    const char *api;                  /* the operation's own name for messages: "s3:PutObject", "INSERT", "glue:UpdateTable" */
    const char *iam;                  /* the IAM action to ask for; NULL: what `action` on this subject means (glue:GetTable, s3tables:PutTableData, s3:PutObject …) */
    uint32_t lf;                      /* Lake Formation's permissions to ask for (lakeformation.h); 0: what `action` means */
    const Props *context;             /* more condition keys: "s3:prefix"; NULL: none */
    const CatRelation *relation;      /* for tables and views */
    Str catalog, namespace, name;     /* for namespaces, and for names that do not exist yet */
    Str bucket, key;                  /* for objects: as resolved, never as text of a path */
    int storage;                      /* 1: firn itself reads or writes the relation's files for the caller (SQL), who needs rights on them as well */
    int quiet;                        /* 1: a refusal is no event (what a listing leaves out) */
} Ask;

/* One evaluator for all doors, in this order: the scope of vended credentials; protection of managed views; IAM (iam.h: identity, boundary, session,
 * resource policies); Lake Formation (lakeformation.h), for relations and namespaces.
 * OK | E_DENIED | E_PROTECTED: message contains "system-managed materialized view" and <namespace>.<view>, err->hint the remedy
 * | E_QUARANTINED: a read of a view whose evidence does not match.
 * An object under a relation's storage prefix is asked as that relation's data; objects of a managed view may be read by who may read
 * the view, and written by nobody but its run.  Storage of a dropped name protects nothing. */
NODISCARD Status access_check(Access *x, Arena *a, const Principal *p, const Ask *ask, Error *err);

/* The text of the refusal for a view, for doors that must put AWS's own words in front. */
Str access_protected_text(Arena *a, const CatRelation *r, const char *api);

#endif

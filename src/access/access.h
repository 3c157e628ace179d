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

typedef enum { PR_ROOT, PR_USER, PR_ROLE, PR_SESSION, PR_SYSTEM } PrincipalKind;
typedef struct Principal {
    PrincipalKind kind;
    Str arn;                          /* arn:aws:iam::<account>:root … ; PR_SYSTEM: arn:aws:iam::<account>:system */
    Str key_id;
    Json *scope;                      /* a vended session: {"prefixes": ["s3://b/t/"], "write": true}; NULL: the principal's own rights */
    int64_t system_relation;          /* PR_SYSTEM: the one view that this run may write */
} Principal;

Principal access_root(Arena *a, const Access *x);
Principal access_system(Arena *a, const Access *x, int64_t relation_id);

/* Who signs with this key: its secret and principal. E_AUTH, err->kind InvalidAccessKeyId | ExpiredToken | InvalidToken (the token is not the key's). */
NODISCARD Status access_by_key(Access *x, Arena *a, Str key_id, Str session_token, Str *secret, Principal *ret, Error *err);

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
    const char *api;                  /* the operation's own name for messages and policies: "s3:PutObject", "INSERT", "glue:UpdateTable" */
    const CatRelation *relation;      /* for tables and views */
    Str catalog, namespace, name;     /* for namespaces, and for names that do not exist yet */
    Str bucket, key;                  /* for objects: as resolved, never as text of a path */
} Ask;

/* OK | E_DENIED | E_PROTECTED: message contains "system-managed materialized view" and <namespace>.<view>, err->hint the remedy
 * | E_QUARANTINED: a read of a view whose evidence does not match.
 * An object under a relation's storage prefix is asked as that relation's data; objects of a managed view may be read by who may read
 * the view, and written by nobody but its run.  Storage of a dropped name protects nothing. */
NODISCARD Status access_check(Access *x, Arena *a, const Principal *p, const Ask *ask, Error *err);

/* The text of the refusal for a view, for doors that must put AWS's own words in front. */
Str access_protected_text(Arena *a, const CatRelation *r, const char *api);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* iam_int.h - what the files of IAM share: entities as they are remembered, and the questions put to them. */
#ifndef FIRN_IAM_INT_H
#define FIRN_IAM_INT_H

#include "access/access_int.h"
#include "access/iam.h"
#include "access/policy.h"

enum {
    IAM_CACHE_BYTES   = 64 << 20,      /* what is remembered of policies; beyond, it is read anew */
    USED_MAX          = 4096,          /* keys whose last use waits to be written */
    USED_FLUSH_MS     = 15 * 60 * 1000,
    SESSION_NAME_MAX  = 64,
    ASSUME_SECONDS_MIN = 900,
    CHAINED_SECONDS_MAX = 3600,
    KEYLESS_SECONDS     = 12 * 3600,
};

typedef struct NamedPolicy { Str name; Policy *policy; } NamedPolicy;
typedef VEC(NamedPolicy) NamedPolicies;

/* A user or role with its policies parsed. */
typedef struct Entity {
    int exists;
    Str arn, id;
    NamedPolicies identity;            /* inline, attached, of groups */
    NamedPolicies boundary;            /* none or one; `policy` NULL: it is gone, so nothing is allowed */
    Props tags;
    Policy *trust;
    int64_t max_session_s;
} Entity;

typedef struct Iam {
    pthread_mutex_t lock;              /* held while a decision is made: some microseconds */
    Arena *a;
    Map users, roles, keys;            /* Entity; by name. keys: "1" an active access key */
    Map managed;                       /* Policy by ARN; a missing one is not remembered */
    Map texts[4];                      /* Policy by its text, for each kind */
    Map used;                          /* in `used_arena` */
    Arena *used_arena;
} Iam;

Iam *iam_new(void);
void iam_free(Iam *i);

/* ---- iam_cache.c: under the lock */
NODISCARD Status iam_entity(Access *x, IamKind kind, Str name, Entity **ret, Error *err);       /* exists 0: there is none */
NODISCARD Status iam_managed_policy(Access *x, Str arn, Policy **ret, Error *err);              /* NULL: there is none */
NODISCARD Status iam_text_policy(Access *x, Str text, PolicyKind kind, Policy **ret, Error *err);
NODISCARD Status iam_key_is_active(Access *x, Str id, bool *ret, Error *err);
/* Takes the lock. The root is judged by no policy, but what was opened with a key of it ends with the key. E_DENIED. */
NODISCARD Status iam_root_key(Access *x, const Principal *p, Error *err);
Str iam_name_of(Str arn);                                              /* the last part of a path */

Str iam_account_of(Str arn);

/* ---- iam_connection.c: the role that is no document. NULL: it has another name. */
Json *iam_own_role(const Access *x, Arena *a, Str name);
bool iam_is_own_role(const Access *x, IamKind kind, Str name);
NODISCARD Status iam_own_role_refuse(Str name, Error *err);

/* ---- iam_context.c */
/* The keys that every request has, then the asker's own. `e` may be NULL. */
Props iam_context(Access *x, Arena *a, const Principal *p, const Entity *e, const IamAsk *ask);

/* ---- iam_decide.c */
/* The session has ended, its role is gone or is another of the same name. `e` NULL: root stands behind it. */
bool iam_session_over(const Principal *p, const Entity *e, const char **why);
/* As iam_allowed, and no line in the log. */
NODISCARD Status iam_allowed_quietly(Access *x, Arena *a, const Principal *p, const IamAsk *ask, Error *err);

#endif

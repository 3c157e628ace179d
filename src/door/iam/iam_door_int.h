/* SPDX-License-Identifier: Apache-2.0 */
/* iam_door_int.h - what the files of the IAM door share.
 *
 * Every operation runs under the door's lock: a record is read, changed and written by one at a time, and IAM's calls are few. */
#ifndef FIRN_IAM_DOOR_INT_H
#define FIRN_IAM_DOOR_INT_H

#include "access/iam.h"
#include "access/policy.h"
#include "door/iam/iamdoor.h"

typedef struct IamDoor { Service *svc; pthread_mutex_t lock; } IamDoor;

/* IAM_OP(CreateUser) { … } defines iam_op_CreateUser, which takes the lock around its body. */
Status door_locked(AwsCall *c, AwsHandler body, Error *err);
#define IAM_OP(name) \
    static Status name##_body(AwsCall *c, Error *err); \
    Status iam_op_##name(AwsCall *c, Error *err) { return door_locked(c, name##_body, err); } \
    static Status name##_body(AwsCall *c, Error *err)

#define OP(name, fields) Status iam_op_##name(AwsCall *c, Error *err);
#define RECORD(name, fields) Status iam_op_##name(AwsCall *c, Error *err);
#define NONE(name, why)
#include "door/iam/iam_ops.h"
#undef OP
#undef RECORD
#undef NONE

typedef struct EntityName { const char *title, *name, *id, *arn, *prefix; } EntityName;      /* "User", "UserName", "UserId", "user", "AIDA" */
extern const EntityName door_entities[];

/* ---- iam_common.c */
Str door_account(const AwsCall *c);
/* arn:aws:iam::<account>:user/<path>name */
Str door_arn(AwsCall *c, const char *type, Str path, Str name);
/* May the caller do this operation on it? */
NODISCARD Status door_allow(AwsCall *c, Str arn, Error *err);
/* The entity that the input names (a user: the caller without a name), after the question whether the caller may. */
NODISCARD Status door_entity(AwsCall *c, IamKind kind, Json **ret, Error *err);
NODISCARD Status door_named(AwsCall *c, IamKind kind, Str name, Json **ret, Error *err);
Str door_name(IamKind kind, const Json *record);
NODISCARD Status door_save(AwsCall *c, IamKind kind, const Json *record, Error *err);
/* A new record: checks path and name, asks, fills Path, name, id, ARN, CreateDate. */
NODISCARD Status door_new(AwsCall *c, IamKind kind, Json **ret, Error *err);
/* Users, groups, roles, profiles: E_EXISTS in IAM's words. */
NODISCARD Status door_insert(AwsCall *c, IamKind kind, Str name, const Json *record, Error *err);
NODISCARD Status door_check_path(Str path, Error *err);
NODISCARD Status door_check_name(Str name, const char *field, Error *err);
NODISCARD Status door_boundary(AwsCall *c, Json *record, Error *err);                        /* PermissionsBoundary of the input into the record */

/* Paging as IAM has it: Marker, MaxItems, IsTruncated. */
NODISCARD Status door_page(AwsCall *c, const char *list, Json *items, Error *err);
Json *door_doc_text(AwsCall *c, Str document);                                               /* URL-encoded, as answers carry policies */
void door_copy(AwsCall *c, Json *to, const Json *from, const char *const *names, size_t n);
void door_set_str(AwsCall *c, Json *o, const char *key, Str v);                              /* empty is left out */
void door_set_time(AwsCall *c, Json *o, const char *key, int64_t ms);
/* Removes every string `v` from an array; how many went. */
size_t door_remove(Json *array, Str v);
bool door_holds(const Json *array, Str v);
Json *door_list_of(AwsCall *c, Json *record, const char *key);                               /* the array under this key, made when absent */
NODISCARD Status door_caller_user(AwsCall *c, Str *ret, Error *err);                         /* name of the user that calls */
int64_t door_size(Str text);                                                                 /* characters but white space: what quotas count */

/* ---- iam_show.c: records as answers show them */
typedef enum { SHOW_LIST, SHOW_ALL } ShowKind;
Json *door_show(AwsCall *c, IamKind kind, const Json *record, ShowKind show);
Json *door_show_tags(AwsCall *c, const Json *tags);

/* ---- iam_tags.c */
NODISCARD Status door_tags_check(AwsCall *c, const Json *tags, Error *err);
NODISCARD Status door_tags_add(AwsCall *c, Json *record, Error *err);                        /* of the input's Tags; the record's Tags is an object */
NODISCARD Status door_tags_remove(AwsCall *c, Json *record, Error *err);

/* ---- iam_policies.c */
NODISCARD Status door_policy_check(AwsCall *c, Str text, PolicyKind kind, Error *err);
typedef struct Attachments { Map counts, boundaries; } Attachments;                          /* int64_t by policy ARN */
NODISCARD Status door_attachments(AwsCall *c, Attachments *ret, Error *err);
Json *door_show_policy(AwsCall *c, const Json *record, const Attachments *at, ShowKind show);

/* ---- sts_ops.c */
Status sts_op_AssumeRole(AwsCall *c, Error *err);
Status sts_op_GetCallerIdentity(AwsCall *c, Error *err);
Status sts_op_GetSessionToken(AwsCall *c, Error *err);
Status sts_op_GetFederationToken(AwsCall *c, Error *err);
Status sts_op_GetAccessKeyInfo(AwsCall *c, Error *err);
Status sts_op_DecodeAuthorizationMessage(AwsCall *c, Error *err);


#endif

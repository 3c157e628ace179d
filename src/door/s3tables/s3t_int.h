/* SPDX-License-Identifier: Apache-2.0 */
/* s3t_int.h - what the files of the S3 Tables door share. */
#ifndef FIRN_S3T_INT_H
#define FIRN_S3T_INT_H

#include "access/iam.h"
#include "door/s3tables/s3tablesdoor.h"
#include "service/tablebuckets.h"
#include "service/upkeep.h"

enum {
    POLICY_BYTES_MAX = 20480,
    TAGS_MAX = 50, TAG_KEY_MAX = 128, TAG_VALUE_MAX = 256,
    PAGE_DEFAULT = 1000,
};

typedef struct S3tDoor {
    Service *svc;
    SvcCtx ctx;
    Upkeep *upkeep;
    pthread_mutex_t config_lock;       /* a stored document is read, changed and written under it */
} S3tDoor;

S3tDoor *s3t_door(const AwsCall *c);
Catalog *s3t_catalog(const AwsCall *c);
/* The verbs' call, with this operation's own IAM action. */
SvcCall s3t_call(AwsCall *c);
const char *s3t_action(AwsCall *c);                                   /* "s3tables:GetTable" */

/* ---- s3t_find.c: what a request names, with the right to use it for this operation --------------------------------------------- */

/* The bucket of tableBucketARN. E_DENIED before E_NOT_FOUND: who may not ask learns nothing. */
NODISCARD Status s3t_bucket(AwsCall *c, CatWarehouse *ret, Error *err);
NODISCARD Status s3t_bucket_arn(AwsCall *c, Str arn, CatWarehouse *ret, Error *err);
/* And its table `namespace`, `name`; or the one of tableArn. */
NODISCARD Status s3t_table(AwsCall *c, CatWarehouse *w, CatRelation *ret, Error *err);
NODISCARD Status s3t_table_arn(AwsCall *c, Str arn, CatRelation *ret, Error *err);
NODISCARD Status s3t_namespace(AwsCall *c, const CatWarehouse *w, CatNamespace *ret, Error *err);
Str s3t_table_arn_of(AwsCall *c, const CatRelation *r);
bool s3t_is_managed(AwsCall *c, const CatRelation *r);
/* The refusal of a write to a managed view, as AWS words it, with our reason behind. */
Status s3t_protected(AwsCall *c, const CatRelation *r, Error *err);

/* ---- s3t_config.c: documents ------------------------------------------------------------------------------------------------------ */

NODISCARD Status s3t_config(AwsCall *c, Str arn, Json **ret, Error *err);                                     /* {} when there is none */
NODISCARD Status s3t_config_put(AwsCall *c, Str arn, const char *key, const Json *value, Error *err);         /* NULL: the key goes */
NODISCARD Status s3t_config_merge(AwsCall *c, Str arn, const char *key, const Json *set, const Json *remove, size_t limit, Error *err);
NODISCARD Status s3t_encryption_check(AwsCall *c, Error *err);
/* What a create request says of encryption, storage class and tags. */
NODISCARD Status s3t_config_new(AwsCall *c, Str arn, Error *err);
NODISCARD Status s3t_tags_check(const Json *tags, Error *err);

/* ---- small ---------------------------------------------------------------------------------------------------------------------------- */

Json *s3t_levels(AwsCall *c, Str ns);
/* Items with a sort key each, in its order: those after the token's, as many as `size_field` says. */
typedef struct S3tItem { Str key; Json *value; } S3tItem;
typedef VEC(S3tItem) S3tItems;
NODISCARD Status s3t_page(AwsCall *c, const char *list, S3tItems *items, const char *size_field, Error *err);

/* ---- operations --------------------------------------------------------------------------------------------------------------------- */

#define S3T_OP(name) NODISCARD Status s3t_##name(AwsCall *c, Error *err)
S3T_OP(create_bucket); S3T_OP(list_buckets); S3T_OP(get_bucket); S3T_OP(delete_bucket);
S3T_OP(create_namespace); S3T_OP(list_namespaces); S3T_OP(get_namespace); S3T_OP(delete_namespace);
S3T_OP(create_table); S3T_OP(get_table); S3T_OP(list_tables); S3T_OP(delete_table); S3T_OP(rename_table);
S3T_OP(get_pointer); S3T_OP(put_pointer);
S3T_OP(get_bucket_policy); S3T_OP(put_bucket_policy); S3T_OP(delete_bucket_policy);
S3T_OP(get_table_policy); S3T_OP(put_table_policy); S3T_OP(delete_table_policy);
S3T_OP(get_bucket_encryption); S3T_OP(put_bucket_encryption); S3T_OP(delete_bucket_encryption); S3T_OP(get_table_encryption);
S3T_OP(get_bucket_storage); S3T_OP(put_bucket_storage); S3T_OP(get_table_storage);
S3T_OP(get_metrics); S3T_OP(put_metrics); S3T_OP(delete_metrics);
S3T_OP(get_bucket_upkeep); S3T_OP(put_bucket_upkeep); S3T_OP(get_table_upkeep); S3T_OP(put_table_upkeep); S3T_OP(get_upkeep_status);
S3T_OP(no_bucket_replication); S3T_OP(refuse_bucket_replication); S3T_OP(no_table_replication); S3T_OP(refuse_table_replication);
S3T_OP(get_expiration); S3T_OP(put_expiration); S3T_OP(get_expiration_status);
S3T_OP(list_tags); S3T_OP(tag); S3T_OP(untag);

#endif

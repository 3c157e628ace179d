/* SPDX-License-Identifier: Apache-2.0 */
/* s3_config.c - what a bucket carries besides objects: policy and tags are kept; everything else is answered as S3 answers
 * for a bucket where it was never configured, and refuses to be configured.
 *
 * A bucket's configuration is one JSON object in the store: {"policy": text, "tags": [[key, value], …]}. */
#include <stdio.h>

#include "door/s3/s3_int.h"

typedef struct ConfigRow { const char *arg, *error, *body; } ConfigRow;

/* error: the answer to a GET; without one, the empty document. */
static const ConfigRow rows[] = {
    { "cors", "NoSuchCORSConfiguration", NULL },
    { "lifecycle", "NoSuchLifecycleConfiguration", NULL },
    { "encryption", "ServerSideEncryptionConfigurationNotFoundError", NULL },
    { "website", "NoSuchWebsiteConfiguration", NULL },
    { "replication", "ReplicationConfigurationNotFoundError", NULL },
    { "object-lock", "ObjectLockConfigurationNotFoundError", NULL },
    { "publicAccessBlock", "NoSuchPublicAccessBlockConfiguration", NULL },
    { "ownershipControls", "OwnershipControlsNotFoundError", NULL },
    { "policyStatus", "NoSuchBucketPolicy", NULL },
    { "analytics", "NoSuchConfiguration", NULL },
    { "inventory", "NoSuchConfiguration", NULL },
    { "metrics", "NoSuchConfiguration", NULL },
    { "intelligent-tiering", "NoSuchConfiguration", NULL },
    { "notification", NULL, "NotificationConfiguration" },
    { "logging", NULL, "BucketLoggingStatus" },
    { "accelerate", NULL, "AccelerateConfiguration" },
    { "requestPayment", NULL, "RequestPaymentConfiguration" },
};

static Status load(S3Req *q, Json **ret, Error *err);
static Status save(S3Req *q, const Json *config, Error *err);
static Status drop(S3Req *q, Str key, Error *err);

Str s3_bucket_policy(Arena *a, Str config)
{
    Json *j = NULL;
    Error err;
    if (!config.n || json_parse(a, config, &j, &err) != OK)
        return (Str){0};
    return json_get_str(j, "policy", (Str){0});
}

Status op_policy_get(S3Req *q, Error *err)
{
    Json *config = NULL;
    TRY(load(q, &config, err));
    Str policy = json_get_str(config, "policy", (Str){0});
    if (!policy.n)
        return s3_fail(err, "NoSuchBucketPolicy", "The bucket policy does not exist");
    q->ans->body = policy;
    s3_header(q, "Content-Type", S("application/json"));
    return OK;
}

Status op_policy_put(S3Req *q, Error *err)
{
    Json *config = NULL, *policy = NULL;
    Str text;
    TRY(load(q, &config, err));
    TRY(s3_body_text(q, POLICY_MAX, &text, err));
    if (json_parse(q->a, text, &policy, err) != OK)
        return s3_fail(err, "MalformedPolicy", "Policies must be valid JSON and the first byte must be '{'");
    if (!json_is(json_get(policy, "Statement"), JSON_ARRAY) && !json_is(json_get(policy, "Statement"), JSON_OBJECT))
        return s3_fail(err, "MalformedPolicy", "Missing required field Statement");
    if (q->d->o.hooks.policy && q->d->o.hooks.policy(q->d->o.hooks.ctx, q->a, text, err) != OK)
        return s3_fail(err, "MalformedPolicy", "%s", str_z(q->a, str_c(err->message)));
    json_set(q->a, config, "policy", json_str(q->a, text));
    TRY(s3_allow_again(q, err));
    q->ans->status = 204;
    return save(q, config, err);
}

Status op_policy_delete(S3Req *q, Error *err)
{
    return drop(q, S("policy"), err);
}

Status op_bucket_tags_get(S3Req *q, Error *err)
{
    Json *config = NULL;
    Props tags = {0};
    TRY(load(q, &config, err));
    const Json *list = json_get(config, "tags");
    for (size_t i = 0; i < json_len(list); i++)
        props_set(q->a, &tags, json_get_str(json_at(list, i), "k", (Str){0}), json_get_str(json_at(list, i), "v", (Str){0}));
    if (!list)
        return s3_fail(err, "NoSuchTagSet", "The TagSet does not exist");
    tags_xml(q, &tags);
    return OK;
}

Status op_bucket_tags_put(S3Req *q, Error *err)
{
    Json *config = NULL, *list = json_array(q->a);
    Xml *x = NULL;
    Props tags = {0};
    TRY(load(q, &config, err));
    TRY(s3_body_xml(q, &x, err));
    TRY(tags_of_xml(q, x, 50, &tags, err));
    for vec_each(KeyValue, kv, &tags) {
        Json *tag = json_object(q->a);
        json_set(q->a, tag, "k", json_str(q->a, kv->key));
        json_set(q->a, tag, "v", json_str(q->a, kv->value));
        json_push(q->a, list, tag);
    }
    json_set(q->a, config, "tags", list);
    TRY(s3_allow_again(q, err));
    q->ans->status = 204;
    return save(q, config, err);
}

Status op_bucket_tags_delete(S3Req *q, Error *err)
{
    return drop(q, S("tags"), err);
}

Status op_versioning_get(S3Req *q, Error *err)
{
    BucketInfo b = {0};
    TRY(store_bucket_get(q->st, q->a, q->bucket, &b, err));
    XmlWriter w = xw_new(q->a);
    xw_open(&w, "VersioningConfiguration");
    xw_attr(&w, "xmlns", S(S3_NS));
    if (b.versioning != VERSIONING_OFF)
        xw_elem(&w, "Status", b.versioning == VERSIONING_ON ? S("Enabled") : S("Suspended"));
    xw_close(&w);
    s3_xml(q, &w);
    return OK;
}

Status op_versioning_put(S3Req *q, Error *err)
{
    Xml *x = NULL;
    TRY(s3_body_xml(q, &x, err));
    Str state = xml_child_text(x, "Status", (Str){0});
    bool on = str_eq(state, S("Enabled"));
    if (!on && !str_eq(state, S("Suspended")))
        return s3_fail(err, "IllegalVersioningConfigurationException", "The Versioning element must be specified");
    if (str_eq(xml_child_text(x, "MfaDelete", (Str){0}), S("Enabled")))
        return s3_fail(err, "NotImplemented", "MFA delete is not implemented");
    TRY(s3_allow_again(q, err));
    return store_bucket_versioning(q->st, q->bucket, on ? VERSIONING_ON : VERSIONING_SUSPENDED, err);
}

Status op_config_get(S3Req *q, Error *err)
{
    Json *config = NULL;
    TRY(load(q, &config, err));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (!http_has_arg(q->r, rows[i].arg))
            continue;
        if (rows[i].error)
            return s3_fail(err, rows[i].error, "The %s configuration does not exist", rows[i].arg);
        XmlWriter w = xw_new(q->a);
        xw_open(&w, rows[i].body);
        xw_attr(&w, "xmlns", S(S3_NS));
        if (str_eq(str_c(rows[i].arg), S("requestPayment")))
            xw_elem(&w, "Payer", S("BucketOwner"));
        xw_close(&w);
        s3_xml(q, &w);
        return OK;
    }
    return s3_fail(err, "NotImplemented", "A header you provided implies functionality that is not implemented");
}

Status op_config_put(S3Req *q, Error *err)
{
    return s3_fail(err, "NotImplemented", "This configuration is not implemented: " STR_FMT, STR_ARG(q->r->query));
}

/* There is nothing to remove. */
Status op_config_delete(S3Req *q, Error *err)
{
    Json *config = NULL;
    TRY(load(q, &config, err));
    q->ans->status = 204;
    return OK;
}

static Status load(S3Req *q, Json **ret, Error *err)
{
    BucketInfo b = {0};
    TRY(store_bucket_get(q->st, q->a, q->bucket, &b, err));
    if (!b.config.n)
        *ret = json_object(q->a);
    else
        TRY_CTX(json_parse(q->a, b.config, ret, err), err, "configuration of bucket '" STR_FMT "'", STR_ARG(q->bucket));
    return OK;
}

static Status save(S3Req *q, const Json *config, Error *err)
{
    return store_bucket_config(q->st, q->bucket, json_text(q->a, config), err);
}

static Status drop(S3Req *q, Str key, Error *err)
{
    Json *config = NULL;
    TRY(load(q, &config, err));
    json_del(config, key);
    q->ans->status = 204;
    return save(q, config, err);
}

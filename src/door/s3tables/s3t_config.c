/* SPDX-License-Identifier: Apache-2.0 */
/* s3t_config.c - what S3 Tables stores with buckets and tables: encryption, storage class, metrics, replication, record expiration, tags.
 *
 * One document an ARN: {"encryption", "storageClass", "metrics", "maintenance": {type: value}, "expiration", "tags"}.  What cannot be honoured is refused:
 * KMS keys, replication to another place. */
#include "door/s3tables/s3t_int.h"

/* ---- the document --------------------------------------------------------------------------------------------------------- */

Status s3t_config(AwsCall *c, Str arn, Json **ret, Error *err)
{
    Status s = cat_doc_get(s3t_catalog(c), c->a, S(DOC_S3TABLES_CONFIG), arn, ret, err);
    if (s == E_NOT_FOUND) {
        *ret = json_object(c->a);
        return OK;
    }
    return s;
}

static Status put_locked(AwsCall *c, Str arn, const char *key, const Json *value, Error *err)
{
    Json *doc = NULL;

    TRY(s3t_config(c, arn, &doc, err));
    if (value)
        json_set(c->a, doc, key, json_copy(c->a, value));
    else
        (void)json_del(doc, str_c(key));
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_S3TABLES_CONFIG), .doc_key = arn, .doc = doc };
    return cat_commit(s3t_catalog(c), &ch, 1, err);
}

Status s3t_config_put(AwsCall *c, Str arn, const char *key, const Json *value, Error *err)
{
    pthread_mutex_lock(&s3t_door(c)->config_lock);
    Status s = put_locked(c, arn, key, value, err);
    pthread_mutex_unlock(&s3t_door(c)->config_lock);
    return s;
}

/* Members of the object `key`: those of `set` are put, the names in `remove` go. */
static Status merge_locked(AwsCall *c, Str arn, const char *key, const Json *set, const Json *remove, size_t limit, Error *err)
{
    Json *doc = NULL;

    TRY(s3t_config(c, arn, &doc, err));
    Json *o = json_get(doc, key) ? json_get(doc, key) : json_object(c->a);
    for (size_t i = 0; i < json_len(set); i++)
        json_set_s(c->a, o, set->object.p[i].key, json_copy(c->a, set->object.p[i].value));
    for (size_t i = 0; i < json_len(remove); i++)
        (void)json_del(o, json_at(remove, i)->string);
    if (json_len(o) > limit)
        return FAIL(err, E_LIMIT, "The resource would have %zu %s, the limit is %zu.", json_len(o), key, limit);
    return put_locked(c, arn, key, json_len(o) ? o : NULL, err);
}

Status s3t_config_merge(AwsCall *c, Str arn, const char *key, const Json *set, const Json *remove, size_t limit, Error *err)
{
    pthread_mutex_lock(&s3t_door(c)->config_lock);
    Status s = merge_locked(c, arn, key, set, remove, limit, err);
    pthread_mutex_unlock(&s3t_door(c)->config_lock);
    return s;
}

Status s3t_config_new(AwsCall *c, Str arn, Error *err)
{
    const Json *encryption = aws_get(c, "encryptionConfiguration"), *storage = aws_get(c, "storageClassConfiguration"), *tags = aws_get(c, "tags");

    if (encryption)
        TRY(s3t_config_put(c, arn, "encryption", encryption, err));
    if (storage)
        TRY(s3t_config_put(c, arn, "storageClass", storage, err));
    return json_len(tags) ? s3t_config_put(c, arn, "tags", tags, err) : OK;
}

/* A table's own value, else its bucket's, else the default {key: value}. */
static Status answer_with(AwsCall *c, const char *out, const char *key, Str table, Str bucket, const char *member, const char *fallback, Error *err)
{
    Json *doc = NULL, *v = NULL;

    if (table.n) {
        TRY(s3t_config(c, table, &doc, err));
        v = json_get(doc, key);
    }
    if (!v) {
        TRY(s3t_config(c, bucket, &doc, err));
        v = json_get(doc, key);
    }
    if (!v) {
        v = json_object(c->a);
        json_set(c->a, v, member, json_str(c->a, str_c(fallback)));
    }
    aws_put(c, out, v);
    return OK;
}

/* ---- encryption ------------------------------------------------------------------------------------------------------------ */

Status s3t_encryption_check(AwsCall *c, Error *err)
{
    const Json *e = aws_get(c, "encryptionConfiguration");

    if (!e)
        return OK;
    if (str_eq(json_get_str(e, "sseAlgorithm", (Str){0}), S("aws:kms")))
        return FAIL(err, E_UNSUPPORTED, "The specified encryption configuration is not supported: there is no KMS here; only AES256 can be chosen.");
    if (json_get(e, "kmsKeyArn"))
        return FAIL(err, E_INVALID, "The specified encryption configuration is not valid: AES256 takes no kmsKeyArn.");
    return OK;
}

Status s3t_get_bucket_encryption(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    return answer_with(c, "encryptionConfiguration", "encryption", (Str){0}, w.arn, "sseAlgorithm", "AES256", err);
}

Status s3t_put_bucket_encryption(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    TRY(s3t_encryption_check(c, err));
    return s3t_config_put(c, w.arn, "encryption", aws_get(c, "encryptionConfiguration"), err);
}

Status s3t_delete_bucket_encryption(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    return s3t_config_put(c, w.arn, "encryption", NULL, err);
}

Status s3t_get_table_encryption(AwsCall *c, Error *err)
{
    CatWarehouse w;
    CatRelation r;
    TRY(s3t_table(c, &w, &r, err));
    return answer_with(c, "encryptionConfiguration", "encryption", s3t_table_arn_of(c, &r), w.arn, "sseAlgorithm", "AES256", err);
}

/* ---- storage class ------------------------------------------------------------------------------------------------------------ */

Status s3t_get_bucket_storage(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    return answer_with(c, "storageClassConfiguration", "storageClass", (Str){0}, w.arn, "storageClass", "STANDARD", err);
}

Status s3t_put_bucket_storage(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    return s3t_config_put(c, w.arn, "storageClass", aws_get(c, "storageClassConfiguration"), err);
}

Status s3t_get_table_storage(AwsCall *c, Error *err)
{
    CatWarehouse w;
    CatRelation r;
    TRY(s3t_table(c, &w, &r, err));
    return answer_with(c, "storageClassConfiguration", "storageClass", s3t_table_arn_of(c, &r), w.arn, "storageClass", "STANDARD", err);
}

/* ---- metrics --------------------------------------------------------------------------------------------------------------------- */

Status s3t_get_metrics(AwsCall *c, Error *err)
{
    CatWarehouse w;
    Json *doc = NULL;

    TRY(s3t_bucket(c, &w, err));
    TRY(s3t_config(c, w.arn, &doc, err));
    aws_put_str(c, "tableBucketARN", w.arn);
    aws_put_str(c, "id", json_get_str(doc, "metrics", (Str){0}));
    return OK;
}

Status s3t_put_metrics(AwsCall *c, Error *err)
{
    CatWarehouse w;
    Json *doc = NULL;

    TRY(s3t_bucket(c, &w, err));
    TRY(s3t_config(c, w.arn, &doc, err));
    return json_get(doc, "metrics") ? OK : s3t_config_put(c, w.arn, "metrics", json_str(c->a, uuid_v4(c->a)), err);
}

Status s3t_delete_metrics(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    return s3t_config_put(c, w.arn, "metrics", NULL, err);
}

/* ---- replication: there is no other place ------------------------------------------------------------------------------------------ */

Status s3t_no_bucket_replication(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    return FAIL(err, E_NOT_FOUND, "The specified table bucket has no replication configuration.");
}

Status s3t_refuse_bucket_replication(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    return FAIL(err, E_UNSUPPORTED, "The specified replication configuration is not supported: this server does not replicate to another place.");
}

Status s3t_no_table_replication(AwsCall *c, Error *err)
{
    CatRelation r;
    TRY(s3t_table_arn(c, aws_str(c, "tableArn"), &r, err));
    return FAIL(err, E_NOT_FOUND, "The specified table has no replication configuration.");
}

Status s3t_refuse_table_replication(AwsCall *c, Error *err)
{
    CatRelation r;
    TRY(s3t_table_arn(c, aws_str(c, "tableArn"), &r, err));
    return FAIL(err, E_UNSUPPORTED, "The specified replication configuration is not supported: this server does not replicate to another place.");
}

/* ---- record expiration ---------------------------------------------------------------------------------------------------------------- */

static Status expiration_of(AwsCall *c, Json **ret, Error *err)
{
    CatRelation r;
    Json *doc = NULL;

    TRY(s3t_table_arn(c, aws_str(c, "tableArn"), &r, err));
    TRY(s3t_config(c, s3t_table_arn_of(c, &r), &doc, err));
    *ret = json_get(doc, "expiration");
    if (!*ret) {
        *ret = json_object(c->a);
        json_set(c->a, *ret, "status", json_str(c->a, S("disabled")));
    }
    return OK;
}

Status s3t_get_expiration(AwsCall *c, Error *err)
{
    Json *v = NULL;
    TRY(expiration_of(c, &v, err));
    aws_put(c, "configuration", v);
    return OK;
}

Status s3t_put_expiration(AwsCall *c, Error *err)
{
    const Json *value = aws_get(c, "value");
    CatRelation r;

    TRY(s3t_table_arn(c, aws_str(c, "tableArn"), &r, err));
    if (str_eq(json_get_str(value, "status", (Str){0}), S("enabled")) && !json_get(json_get(value, "settings"), "days"))
        return FAIL(err, E_INVALID, "Record expiration needs settings.days to be enabled.");
    return s3t_config_put(c, s3t_table_arn_of(c, &r), "expiration", value, err);
}

/* AWS expires the records of its own journal tables; those of others carry no time to go by. */
Status s3t_get_expiration_status(AwsCall *c, Error *err)
{
    Json *v = NULL;

    TRY(expiration_of(c, &v, err));
    bool on = str_eq(json_get_str(v, "status", (Str){0}), S("enabled"));
    aws_put_str(c, "status", on ? S("Failed") : S("Disabled"));
    if (on)
        aws_put_str(c, "failureMessage", S("Nothing is expired: the records of this table carry no time of their own. Use DELETE."));
    return OK;
}

/* ---- tags ------------------------------------------------------------------------------------------------------------------------------ */

Status s3t_tags_check(const Json *tags, Error *err)
{
    for (size_t i = 0; i < json_len(tags); i++) {
        Str key = tags->object.p[i].key;
        if (!key.n || key.n > TAG_KEY_MAX)
            return FAIL(err, E_INVALID, "The specified tag key is not valid: it must have 1 to %d characters.", TAG_KEY_MAX);
        if (str_starts(str_sub(key, 0, 4), S("aws:")))
            return FAIL(err, E_INVALID, "The specified tag key is not valid: the prefix aws: is reserved.");
    }
    return OK;
}

/* The resource, a table bucket or a table, and its tags. */
static Status tagged(AwsCall *c, Str *arn, Json **tags, Error *err)
{
    CatWarehouse w;
    CatRelation r;
    Json *doc = NULL;

    *arn = aws_str(c, "resourceArn");
    if (str_find(*arn, S("/table/")) >= 0)
        TRY(s3t_table_arn(c, *arn, &r, err));
    else
        TRY(s3t_bucket_arn(c, *arn, &w, err));
    TRY(s3t_config(c, *arn, &doc, err));
    *tags = json_get(doc, "tags");
    if (!*tags)
        *tags = json_object(c->a);
    return OK;
}

Status s3t_list_tags(AwsCall *c, Error *err)
{
    Json *tags = NULL;
    Str arn;
    TRY(tagged(c, &arn, &tags, err));
    aws_put(c, "tags", tags);
    return OK;
}

Status s3t_tag(AwsCall *c, Error *err)
{
    Json *tags = NULL;
    Str arn;

    TRY(tagged(c, &arn, &tags, err));
    TRY(s3t_tags_check(aws_get(c, "tags"), err));
    return s3t_config_merge(c, arn, "tags", aws_get(c, "tags"), NULL, TAGS_MAX, err);
}

Status s3t_untag(AwsCall *c, Error *err)
{
    Json *tags = NULL;
    Str arn;

    TRY(tagged(c, &arn, &tags, err));
    return s3t_config_merge(c, arn, "tags", NULL, aws_get(c, "tagKeys"), TAGS_MAX, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* glue_tag.c - tags of Glue's resources, and the resource policies of the catalog.
 *
 * Both are documents under an ARN.  A policy is asked by every operation (glue_names.c): the one of the catalog, and the one of the very resource. */
#include "access/policy.h"
#include "door/glue/glue_int.h"

#define TAGS_KIND "glue.tags"
enum { TAGS_MAX = 50, POLICY_BYTES_MAX = 10240 };

static Status put_doc(AwsCall *c, const char *kind, Str key, Json *doc, Error *err)
{
    CatChange ch = { .kind = CH_DOC, .doc_kind = str_c(kind), .doc_key = key, .doc = doc };
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

static Json *get_doc(AwsCall *c, const char *kind, Str key)
{
    Json *doc = NULL;
    Error absent;
    return cat_doc_get(glue_catalog(c), c->a, str_c(kind), key, &doc, &absent) == OK ? doc : NULL;
}

/* ---- tags ---------------------------------------------------------------------------------------------------------------- */

static Status check_arn(AwsCall *c, Str arn, Error *err)
{
    Str prefix = str_fmt(c->a, "arn:aws:glue:" STR_FMT ":" STR_FMT ":", STR_ARG(cat_region(glue_catalog(c))), STR_ARG(cat_account(glue_catalog(c))));
    StrVec parts = {0};

    str_split(c->a, arn, ':', &parts);
    if (parts.n < 6 || !str_eq(parts.p[0], S("arn")) || !str_eq(parts.p[2], S("glue")))
        return FAIL(err, E_INVALID, "'" STR_FMT "' is not an ARN of Glue", STR_ARG(str_sub(arn, 0, 200)));
    if (!str_eq(parts.p[4], cat_account(glue_catalog(c))))
        return AWS_FAIL(err, E_DENIED, "AccessDeniedException", "'" STR_FMT "' is of another account, not " STR_FMT, STR_ARG(str_sub(arn, 0, 200)), STR_ARG(prefix));
    return glue_allow(c, arn, err);
}

static Status change_tags(AwsCall *c, Str arn, const Json *add, const Json *remove, Error *err)
{
    const Json *old = get_doc(c, TAGS_KIND, arn);
    Json *tags = old ? json_copy(c->a, old) : json_object(c->a);

    for (size_t i = 0; i < json_len(add); i++)
        json_set_s(c->a, tags, add->object.p[i].key, add->object.p[i].value);
    for (size_t i = 0; i < json_len(remove); i++)
        json_del(tags, json_at(remove, i)->string);
    if (json_len(tags) > TAGS_MAX)
        return FAIL(err, E_INVALID, "a resource has %d tags at most", TAGS_MAX);
    return put_doc(c, TAGS_KIND, arn, json_len(tags) ? tags : NULL, err);
}

static Status change_tags_locked(AwsCall *c, Str arn, const Json *add, const Json *remove, Error *err)
{
    pthread_mutex_lock(&GLUE_DOOR(c)->docs);
    Status s = change_tags(c, arn, add, remove, err);
    pthread_mutex_unlock(&GLUE_DOOR(c)->docs);
    return s;
}

Status glue_tag_put(AwsCall *c, Str arn, const Json *tags, Error *err)
{
    return json_len(tags) ? change_tags_locked(c, arn, tags, NULL, err) : OK;
}

Status glue_tag_drop(AwsCall *c, Str arn, Error *err) { return put_doc(c, TAGS_KIND, arn, NULL, err); }

Json *glue_tags(AwsCall *c, Str arn)
{
    Json *tags = get_doc(c, TAGS_KIND, arn);
    return tags ? tags : json_object(c->a);
}

Status glue_tag_resource(AwsCall *c, Error *err)
{
    TRY(check_arn(c, aws_str(c, "ResourceArn"), err));
    return change_tags_locked(c, aws_str(c, "ResourceArn"), aws_get(c, "TagsToAdd"), NULL, err);
}

Status glue_untag_resource(AwsCall *c, Error *err)
{
    TRY(check_arn(c, aws_str(c, "ResourceArn"), err));
    return change_tags_locked(c, aws_str(c, "ResourceArn"), NULL, aws_get(c, "TagsToRemove"), err);
}

Status glue_get_tags(AwsCall *c, Error *err)
{
    TRY(check_arn(c, aws_str(c, "ResourceArn"), err));
    aws_put(c, "Tags", glue_tags(c, aws_str(c, "ResourceArn")));
    return OK;
}

/* ---- resource policies ------------------------------------------------------------------------------------------------------- */

/* Without an ARN: of the whole catalog. */
static Str policy_key(AwsCall *c)
{
    Str arn = aws_str(c, "ResourceArn");
    return arn.n > 0 ? arn : S("catalog");
}

Str glue_policy_text(AwsCall *c, Str key)
{
    return json_get_str(get_doc(c, GLUE_POLICY_KIND, key), "PolicyInJson", (Str){0});
}

static Json *show_policy(AwsCall *c, const Json *doc)
{
    Json *o = json_object(c->a);
    json_set(c->a, o, "PolicyInJson", json_str(c->a, json_get_str(doc, "PolicyInJson", (Str){0})));
    json_set(c->a, o, "PolicyHash", json_str(c->a, json_get_str(doc, "PolicyHash", (Str){0})));
    json_set(c->a, o, "CreateTime", aws_time(c, json_get_int(doc, "created_ms", 0)));
    json_set(c->a, o, "UpdateTime", aws_time(c, json_get_int(doc, "updated_ms", 0)));
    return o;
}

static Status check_hash(AwsCall *c, const Json *old, Error *err)
{
    Str wanted = aws_str(c, "PolicyHashCondition");
    if (wanted.n == 0 || str_eq(wanted, json_get_str(old, "PolicyHash", (Str){0})))
        return OK;
    return AWS_FAIL(err, E_INVALID, "ConditionCheckFailureException", "The policy's hash is not PolicyHashCondition.");
}

static Status check_conditions(AwsCall *c, const Json *old, Error *err)
{
    Str exists = aws_str(c, "PolicyExistsCondition");

    if (str_eq(exists, S("MUST_EXIST")) && !old)
        return AWS_FAIL(err, E_INVALID, "ConditionCheckFailureException", "There is no policy, PolicyExistsCondition says MUST_EXIST.");
    if (str_eq(exists, S("NOT_EXIST")) && old)
        return AWS_FAIL(err, E_INVALID, "ConditionCheckFailureException", "There is a policy, PolicyExistsCondition says NOT_EXIST.");
    return check_hash(c, old, err);
}

static Status put_policy_locked(AwsCall *c, Str text, Str hash, Error *err)
{
    const Json *old = get_doc(c, GLUE_POLICY_KIND, policy_key(c));
    Json *doc = json_object(c->a);
    int64_t now = clock_ms();

    TRY(check_conditions(c, old, err));
    json_set(c->a, doc, "PolicyInJson", json_str(c->a, text));
    json_set(c->a, doc, "PolicyHash", json_str(c->a, hash));
    json_set(c->a, doc, "created_ms", json_int(c->a, json_get_int(old, "created_ms", now)));
    json_set(c->a, doc, "updated_ms", json_int(c->a, now));
    return put_doc(c, GLUE_POLICY_KIND, policy_key(c), doc, err);
}

Status glue_put_policy(AwsCall *c, Error *err)
{
    Str text = aws_str(c, "PolicyInJson"), hash = base64_encode(c->a, str_sub(hash_bytes(c->a, HASH_SHA256, text), 0, 16));
    Policy *parsed = NULL;

    TRY(glue_allow(c, S("*"), err));
    if (text.n > POLICY_BYTES_MAX)
        return FAIL(err, E_INVALID, "a resource policy of %zu bytes, limit is %d", text.n, POLICY_BYTES_MAX);
    if (policy_parse(c->a, text, POLICY_RESOURCE, &parsed, err) != OK) {
        aws_code(err, "InvalidInputException");
        return err->code;
    }
    pthread_mutex_lock(&GLUE_DOOR(c)->docs);
    Status s = put_policy_locked(c, text, hash, err);
    pthread_mutex_unlock(&GLUE_DOOR(c)->docs);
    TRY(s);
    aws_put_str(c, "PolicyHash", hash);
    return OK;
}

Status glue_get_policy(AwsCall *c, Error *err)
{
    TRY(glue_allow(c, S("*"), err));
    const Json *doc = get_doc(c, GLUE_POLICY_KIND, policy_key(c));
    if (doc)
        c->out = show_policy(c, doc);
    return OK;
}

Status glue_get_policies(AwsCall *c, Error *err)
{
    Json *list = json_array(c->a);
    CatDocs docs = {0};

    TRY(glue_allow(c, S("*"), err));
    TRY(cat_doc_list(glue_catalog(c), c->a, S(GLUE_POLICY_KIND), (Str){0}, &docs, err));
    for vec_each(CatDoc, d, &docs)
        json_push(c->a, list, show_policy(c, d->value));
    return aws_page(c, "GetResourcePoliciesResponseList", list, "NextToken", "MaxResults", PAGE_TABLES, "NextToken", err);
}

Status glue_delete_policy(AwsCall *c, Error *err)
{
    TRY(glue_allow(c, S("*"), err));
    const Json *old = get_doc(c, GLUE_POLICY_KIND, policy_key(c));
    if (!old)
        return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Policy not found");
    TRY(check_hash(c, old, err));
    return put_doc(c, GLUE_POLICY_KIND, policy_key(c), NULL, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* iam_tags.c - tags of every kind of entity: at most 50, keys that differ in more than case. */
#include "door/iam/iam_door_int.h"

#include <ctype.h>

enum { TAGS_MAX = 50, KEY_MAX = 128, VALUE_MAX = 256 };

static Status broken(const char *at, Str value, const char *rule, Error *err)
{
    return AWS_FAIL(err, E_INVALID, "ValidationError", "1 validation error detected: Value '" STR_FMT "' at '%s' failed to satisfy constraint: Member must %s", STR_ARG(str_sub(value, 0, 300)), at, rule);
}

static bool letters_ok(Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char ch = (unsigned char)s.p[i];
        if (ch < 0x80 && !isalnum(ch) && !strchr(" _.:/=+-@", ch))
            return false;
    }
    return true;
}

static Status check_text(AwsCall *c, const char *list, size_t i, const char *what, Str s, size_t max, Error *err)
{
    const char *at = str_fmt(c->a, "%s.%zu.member%s%s", list, i + 1, *what ? "." : "", what).p;

    if (s.n > max)
        return broken(at, s, str_fmt(c->a, "have length less than or equal to %zu.", max).p, err);
    if (!letters_ok(s))
        return broken(at, s, "satisfy regular expression pattern: [\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]+", err);
    return OK;
}

Status door_tags_check(AwsCall *c, const Json *tags, Error *err)
{
    if (json_len(tags) > TAGS_MAX)
        return broken("tags", json_text(c->a, tags), "have length less than or equal to 50.", err);
    for (size_t i = 0; i < json_len(tags); i++) {
        Str key = json_get_str(json_at(tags, i), "Key", (Str){0});
        TRY(check_text(c, "tags", i, "key", key, KEY_MAX, err));
        TRY(check_text(c, "tags", i, "value", json_get_str(json_at(tags, i), "Value", (Str){0}), VALUE_MAX, err));
        for (size_t k = 0; k < i; k++)
            if (str_ieq(json_get_str(json_at(tags, k), "Key", (Str){0}), key))
                return AWS_FAIL(err, E_INVALID, "InvalidInput", "Duplicate tag keys found. Please note that Tag keys are case insensitive.");
    }
    return OK;
}

static void drop(Json *tags, Str key)
{
    for (size_t i = 0; i < json_len(tags); i++)
        if (str_ieq(tags->object.p[i].key, key)) {
            (void)!json_del(tags, tags->object.p[i].key);
            return;
        }
}

/* A key that is there keeps its place. */
static void set(AwsCall *c, Json *tags, Str key, Str value)
{
    if (!json_get_s(tags, key))
        drop(tags, key);
    json_set_s(c->a, tags, key, json_str(c->a, value));
}

Status door_tags_add(AwsCall *c, Json *record, Error *err)
{
    const Json *given = aws_get(c, "Tags");
    Json *tags = json_get(record, "Tags");

    if (!given)
        return OK;
    TRY(door_tags_check(c, given, err));
    if (!tags) {
        tags = json_object(c->a);
        json_set(c->a, record, "Tags", tags);
    }
    for (size_t i = 0; i < json_len(given); i++)
        set(c, tags, json_get_str(json_at(given, i), "Key", (Str){0}), json_get_str(json_at(given, i), "Value", (Str){0}));
    if (json_len(tags) > TAGS_MAX)
        return AWS_FAIL(err, E_LIMIT, "LimitExceeded", "Cannot exceed quota for TagsPerResource: %d", TAGS_MAX);
    return OK;
}

Status door_tags_remove(AwsCall *c, Json *record, Error *err)
{
    const Json *keys = aws_get(c, "TagKeys");

    if (json_len(keys) > TAGS_MAX)
        return broken("tagKeys", json_text(c->a, keys), "have length less than or equal to 50.", err);
    for (size_t i = 0; i < json_len(keys); i++)
        TRY(check_text(c, "tagKeys", i, "", json_at(keys, i)->string, KEY_MAX, err));
    for (size_t i = 0; i < json_len(keys); i++)
        drop(json_get(record, "Tags"), json_at(keys, i)->string);
    return OK;
}

/* ---- operations: the same for each kind --------------------------------------------------------------------------------------- */

static Status tag(AwsCall *c, IamKind kind, Error *err)
{
    Json *record;
    TRY(door_entity(c, kind, &record, err));
    TRY(door_tags_add(c, record, err));
    return door_save(c, kind, record, err);
}

static Status untag(AwsCall *c, IamKind kind, Error *err)
{
    Json *record;
    TRY(door_entity(c, kind, &record, err));
    TRY(door_tags_remove(c, record, err));
    return door_save(c, kind, record, err);
}

static Status list(AwsCall *c, IamKind kind, Error *err)
{
    Json *record;
    TRY(door_entity(c, kind, &record, err));
    return door_page(c, "Tags", door_show_tags(c, json_get(record, "Tags")), err);
}

IAM_OP(TagUser) { return tag(c, IAM_USER, err); }
IAM_OP(UntagUser) { return untag(c, IAM_USER, err); }
IAM_OP(ListUserTags) { return list(c, IAM_USER, err); }
IAM_OP(TagRole) { return tag(c, IAM_ROLE, err); }
IAM_OP(UntagRole) { return untag(c, IAM_ROLE, err); }
IAM_OP(ListRoleTags) { return list(c, IAM_ROLE, err); }
IAM_OP(TagPolicy) { return tag(c, IAM_POLICY, err); }
IAM_OP(UntagPolicy) { return untag(c, IAM_POLICY, err); }
IAM_OP(ListPolicyTags) { return list(c, IAM_POLICY, err); }
IAM_OP(TagInstanceProfile) { return tag(c, IAM_PROFILE, err); }
IAM_OP(UntagInstanceProfile) { return untag(c, IAM_PROFILE, err); }
IAM_OP(ListInstanceProfileTags) { return list(c, IAM_PROFILE, err); }

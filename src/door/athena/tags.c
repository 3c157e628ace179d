/* SPDX-License-Identifier: Apache-2.0 */
/* tags.c - tags of workgroups, data catalogs and capacity reservations; they live in the records. */
#include "door/athena/athena_int.h"

typedef struct Tagged { const char *kind; Str key; Json *record; } Tagged;

static Status not_there(Str arn, Error *err)
{
    RAISE(err, E_INVALID, "Athena Resource, " STR_FMT " Does Not Exist", STR_ARG(arn));
    aws_code(err, "InvalidRequestException");
    return E_INVALID;
}

/* arn:aws:athena:<region>:<account>:workgroup/<name> to its record. Other accounts' ARNs name nothing here. */
static Status tagged_find(AwsCall *c, Tagged *ret, Error *err)
{
    static const struct { const char *type, *kind; } types[] = { { "workgroup", K_WORKGROUP }, { "datacatalog", K_CATALOG }, { "capacity-reservation", K_CAPACITY } };
    Str arn = aws_str(c, "ResourceARN");

    TRY(aws_allow(c, str_fmt(c->a, "athena:%s", c->op->name).p, arn, NULL, err));
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        Str head = ath_arn(c, types[i].type, S(""));
        if (!str_starts(arn, head))
            continue;
        *ret = (Tagged){ .kind = types[i].kind, .key = str_from(arn, head.n) };
        if (i == 0 && wg_get(ath_service(c), c->a, ret->key, &ret->record, err) != OK)
            return not_there(arn, err);
        if (i > 0)
            TRY(rec_get(ath_service(c), c->a, ret->kind, ret->key, &ret->record, err));
        return ret->record ? OK : not_there(arn, err);
    }
    return not_there(arn, err);
}

static Json *tags_of(Arena *a, Json *record)
{
    Json *v = json_get(record, "Tags");
    if (!v) {
        v = json_object(a);
        json_set(a, record, "Tags", v);
    }
    return v;
}

Status ath_TagResource(AwsCall *c, Error *err)
{
    Tagged t;

    TRY(tagged_find(c, &t, err));
    TRY(rec_tags(c, aws_get(c, "Tags"), tags_of(c->a, t.record), err));
    return rec_put(ath_service(c), t.kind, t.key, t.record, err);
}

Status ath_UntagResource(AwsCall *c, Error *err)
{
    const Json *keys = aws_get(c, "TagKeys");
    Tagged t;

    TRY(tagged_find(c, &t, err));
    for (size_t i = 0; i < json_len(keys); i++)
        json_del(tags_of(c->a, t.record), json_at(keys, i)->string);
    return rec_put(ath_service(c), t.kind, t.key, t.record, err);
}

Status ath_ListTagsForResource(AwsCall *c, Error *err)
{
    Json *list = json_array(c->a);
    Tagged t;

    TRY(tagged_find(c, &t, err));
    const Json *tags = json_get(t.record, "Tags");
    for (size_t i = 0; tags && i < tags->object.n; i++) {
        Json *v = json_object(c->a);
        json_set(c->a, v, "Key", json_str(c->a, tags->object.p[i].key));
        json_set(c->a, v, "Value", tags->object.p[i].value);
        json_push(c->a, list, v);
    }
    return aws_page(c, "Tags", list, "NextToken", "MaxResults", 75, "NextToken", err);
}

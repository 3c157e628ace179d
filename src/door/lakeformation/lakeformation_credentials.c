/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_credentials.c - temporary keys for the storage of a table or of a registered place.
 *
 * Invariants: (1) who may select some columns only gets none: files hold every column; (2) of a managed view one gets keys that read;
 * (3) the keys' requests are judged again when they come, by the grants and the protection of that moment. */
#include "door/lakeformation/lakeformation_door_int.h"

enum { DEFAULT_SECONDS = 3600, LF_WRITES = LF_INSERT | LF_DELETE | LF_ALTER | LF_DROP };

static SvcCall call_of(AwsCall *c, SvcCtx *ctx)
{
    *ctx = service_ctx(door_service(c));
    return (SvcCall){ .ctx = ctx, .a = c->a, .who = &c->who, .api = str_fmt(c->a, "lakeformation:%s", c->op->name).p };
}

/* arn:aws:glue:<region>:<account>:table/[s3tablescatalog/<bucket>/]<database>/<table> */
static Status parse_table_arn(AwsCall *c, SvcName *ret, Error *err)
{
    Str arn = aws_str(c, "TableArn"), account = cat_account(door_service(c)->catalog);
    StrVec parts = {0}, path = {0};

    str_split(c->a, arn, ':', &parts);
    if (parts.n == 6 && str_eq(parts.p[0], S("arn")) && str_eq(parts.p[2], S("glue")) && str_eq(parts.p[4], account))
        str_split(c->a, parts.p[5], '/', &path);
    if ((path.n != 3 && path.n != 5) || !str_eq(path.p[0], S("table")))
        return AWS_FAIL(err, E_INVALID, "InvalidInputException", "Invalid table ARN: " STR_FMT, STR_ARG(arn));
    ret->catalog = path.n == 3 ? account : str_fmt(c->a, STR_FMT ":" STR_FMT "/" STR_FMT, STR_ARG(account), STR_ARG(path.p[1]), STR_ARG(path.p[2]));
    ret->namespace = path.p[path.n - 2];
    ret->name = path.p[path.n - 1];
    return OK;
}

static void put_key(AwsCall *c, Json *o, const CatKey *k)
{
    json_set(c->a, o, "AccessKeyId", json_str(c->a, k->id));
    json_set(c->a, o, "SecretAccessKey", json_str(c->a, k->secret));
    json_set(c->a, o, "SessionToken", json_str(c->a, k->token));
    json_set(c->a, o, "Expiration", aws_time(c, k->expires_ms));
}

static Status ask_write(AwsCall *c, const SvcTable *t, uint32_t need, Error *err)
{
    Ask ask = { .action = ACT_WRITE_DATA, .api = str_fmt(c->a, "lakeformation:%s for", c->op->name).p, .lf = need, .relation = &t->relation, .catalog = t->relation.catalog, .namespace = t->relation.namespace, .name = t->relation.name };

    return access_check(c->access, c->a, &c->who, &ask, err);                                              /* (2) */
}

/* S3Path narrows the keys to a part of the table's storage. */
static Status prefixes_of(AwsCall *c, const SvcCall *call, const SvcTable *t, StrVec *ret, Error *err)
{
    Str path = aws_str(c, "S3Path");
    StrVec all = {0};

    svc_table_prefixes(call, t, &all);
    for vec_each(Str, p, &all) {
        Str whole = str_ends(*p, S("/")) ? *p : str_cat(c->a, *p, S("/"));
        if (!path.n)
            vec_push(c->a, ret, whole);
        else if (str_eq(path, *p) || str_starts(path, whole))
            vec_push(c->a, ret, path);
    }
    return ret->n ? OK : AWS_FAIL(err, E_INVALID, "InvalidInputException", "S3Path " STR_FMT " is not within the table's storage", STR_ARG(path));
}

Status door_table_credentials(AwsCall *c, Error *err)
{
    SvcCtx ctx;
    SvcCall call = call_of(c, &ctx);
    SvcName name;
    SvcTable t = {0};
    StrVec prefixes = {0};
    uint32_t asked;
    CatKey key;

    TRY(aws_allow(c, "lakeformation:GetDataAccess", S("*"), NULL, err));
    TRY(parse_table_arn(c, &name, err));
    TRY(door_permissions(c, aws_get(c, "Permissions"), &asked, err));
    TRY(svc_table_load(&call, &name, &t, err));                                                             /* (1) */
    uint32_t writes = asked & LF_ALL ? LF_INSERT | LF_DELETE : asked & LF_WRITES;
    if (writes)
        TRY(ask_write(c, &t, writes, err));
    TRY(prefixes_of(c, &call, &t, &prefixes, err));
    TRY(access_vend(c->access, c->a, &c->who, &prefixes, writes != 0, aws_int(c, "DurationSeconds", DEFAULT_SECONDS), &key, err));
    put_key(c, c->out, &key);
    aws_put(c, "VendedS3Path", door_strings_json(c, &prefixes));
    return OK;
}

Status door_location_credentials(AwsCall *c, Error *err)
{
    const Json *places = aws_get(c, "DataLocations");
    bool write = str_eq(aws_str(c, "CredentialsScope"), S("READWRITE"));
    StrVec prefixes = {0};
    Json *key_json = json_object(c->a);
    CatKey key;

    TRY(aws_allow(c, "lakeformation:GetDataAccess", S("*"), NULL, err));
    for (size_t i = 0; i < json_len(places); i++) {
        Str place = json_at(places, i)->string, uri;
        Str arn = str_starts(place, S("s3://")) ? str_cat(c->a, S("arn:aws:s3:::"), str_from(place, 5)) : place;
        TRY(door_location_uri(c, arn, &uri, err));
        TRY(door_registered(c, arn, err));
        TRY(lf_location_granted(c->access, c->a, &c->who, arn, err));
        vec_push(c->a, &prefixes, str_cat(c->a, uri, S("/")));
    }
    if (!prefixes.n)
        return AWS_FAIL(err, E_INVALID, "InvalidInputException", "DataLocations is empty");
    TRY(access_vend(c->access, c->a, &c->who, &prefixes, write, aws_int(c, "DurationSeconds", DEFAULT_SECONDS), &key, err));
    put_key(c, key_json, &key);
    aws_put(c, "Credentials", key_json);
    aws_put(c, "AccessibleDataLocations", door_strings_json(c, &prefixes));
    aws_put_str(c, "CredentialsScope", write ? S("READWRITE") : S("READ"));
    return OK;
}

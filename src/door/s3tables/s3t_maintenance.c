/* SPDX-License-Identifier: Apache-2.0 */
/* s3t_maintenance.c - maintenance: what is wished for, and how the last run went.  The work is done by service/upkeep. */
#include "door/s3tables/s3t_int.h"

static const char *const bucket_types[] = { UPKEEP_UNREFERENCED }, *const table_types[] = { UPKEEP_COMPACTION, UPKEEP_SNAPSHOTS },
                  *const all_types[] = { UPKEEP_COMPACTION, UPKEEP_SNAPSHOTS, UPKEEP_UNREFERENCED };

/* {type: {status, settings: {type: {…}}}} with the defaults where nothing is stored. */
static Status configuration(AwsCall *c, Str arn, const char *const *types, size_t n, Error *err)
{
    Json *doc = NULL, *all = json_object(c->a);

    TRY(s3t_config(c, arn, &doc, err));
    for (size_t i = 0; i < n; i++)
        json_set(c->a, all, types[i], upkeep_wanted(c->a, doc, types[i]));
    aws_put(c, "configuration", all);
    return OK;
}

static Status store(AwsCall *c, Str arn, const CatRelation *table, Error *err)
{
    const Json *value = aws_get(c, "value");
    Str type = aws_str(c, "type");
    Json *set = json_object(c->a);

    TRY(upkeep_check(c->a, str_z(c->a, type), value, err));
    if (table)
        TRY(upkeep_check_table(s3t_door(c)->svc, c->a, table, value, err));
    json_set_s(c->a, set, type, json_copy(c->a, value));
    return s3t_config_merge(c, arn, "maintenance", set, NULL, COUNT_OF(all_types), err);
}

Status s3t_get_bucket_upkeep(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    aws_put_str(c, "tableBucketARN", w.arn);
    return configuration(c, w.arn, bucket_types, COUNT_OF(bucket_types), err);
}

Status s3t_put_bucket_upkeep(AwsCall *c, Error *err)
{
    CatWarehouse w;
    TRY(s3t_bucket(c, &w, err));
    TRY(store(c, w.arn, NULL, err));
    upkeep_wake(s3t_door(c)->upkeep);
    return OK;
}

Status s3t_get_table_upkeep(AwsCall *c, Error *err)
{
    CatWarehouse w;
    CatRelation r;
    TRY(s3t_table(c, &w, &r, err));
    aws_put_str(c, "tableARN", s3t_table_arn_of(c, &r));
    return configuration(c, s3t_table_arn_of(c, &r), table_types, COUNT_OF(table_types), err);
}

Status s3t_put_table_upkeep(AwsCall *c, Error *err)
{
    CatWarehouse w;
    CatRelation r;
    TRY(s3t_table(c, &w, &r, err));
    TRY(store(c, s3t_table_arn_of(c, &r), &r, err));
    upkeep_wake(s3t_door(c)->upkeep);
    return OK;
}

/* A type that is switched off is Disabled now, whatever its last run did. */
static Json *status_of(AwsCall *c, const Json *record, const Json *wanted)
{
    Json *o = json_object(c->a), *ran = json_get(record, "last-run-ms");
    Str status = json_get_str(record, "status", S("Not_Yet_Run")), why = json_get_str(record, "message", (Str){0});

    if (str_eq(json_get_str(wanted, "status", (Str){0}), S("disabled")))
        status = S("Disabled");
    json_set(c->a, o, "status", json_str(c->a, status));
    if (ran)
        json_set(c->a, o, "lastRunTimestamp", aws_time(c, ran->integer));
    if (why.n)
        json_set(c->a, o, "failureMessage", json_str(c->a, why));
    return o;
}

Status s3t_get_upkeep_status(AwsCall *c, Error *err)
{
    Json *table_doc = NULL, *bucket_doc = NULL, *record = NULL, *all = json_object(c->a);
    CatWarehouse w;
    CatRelation r;

    TRY(s3t_table(c, &w, &r, err));
    Str arn = s3t_table_arn_of(c, &r);
    TRY(s3t_config(c, arn, &table_doc, err));
    TRY(s3t_config(c, w.arn, &bucket_doc, err));
    TRY(upkeep_status(s3t_door(c)->svc, c->a, arn, &record, err));
    for (size_t i = 0; i < COUNT_OF(all_types); i++) {
        const Json *doc = str_eq(str_c(all_types[i]), S(UPKEEP_UNREFERENCED)) ? bucket_doc : table_doc;
        json_set(c->a, all, all_types[i], status_of(c, json_get(record, all_types[i]), upkeep_wanted(c->a, doc, all_types[i])));
    }
    aws_put_str(c, "tableARN", arn);
    aws_put(c, "status", all);
    return OK;
}

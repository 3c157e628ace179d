/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - query executions looked at, listed and stopped.
 *
 * A record is {"Id", "Query", "StatementType", "SubstatementType", "WorkGroup", "Output", "Catalog", "Database", "Parameters", "State", "Reason",
 * "SubmittedMs", "CompletedMs", "AthenaError", "Statistics", "Rows", "Columns", "UpdateCount", "Reuse", "Reused", "Owner", "TokenKey", "ReuseKey", …}. */
#include "door/athena/athena_int.h"

Str record_index_key(Arena *a, Str workgroup, int64_t ms, Str id)
{
    return str_fmt(a, STR_FMT "/%016llx/" STR_FMT, STR_ARG(workgroup), (unsigned long long)(INT64_MAX - ms), STR_ARG(id));
}

/* Left by a server that died (pool.c, (2)). */
static void lost(AwsCall *c, Json *r)
{
    Json *e = json_object(c->a);
    Str why = S("INTERNAL_ERROR: The server was stopped while the query waited or ran.");

    json_set(c->a, e, "ErrorCategory", json_int(c->a, 1));
    json_set(c->a, e, "ErrorType", json_int(c->a, 100));
    json_set(c->a, e, "Retryable", json_bool(c->a, true));
    json_set(c->a, e, "ErrorMessage", json_str(c->a, why));
    json_set(c->a, r, "State", json_str(c->a, S("FAILED")));
    json_set(c->a, r, "Reason", json_str(c->a, why));
    json_set(c->a, r, "AthenaError", e);
    json_set(c->a, r, "CompletedMs", json_int(c->a, max_i64(ath_door(c)->opened_ms, json_get_int(r, "SubmittedMs", 0))));
}

Status record_find(AwsCall *c, Str id, Json **ret, Error *err)
{
    *ret = pool_look(ath_door(c), c->a, id);
    if (!*ret)
        TRY(rec_get(ath_service(c), c->a, K_QUERY, id, ret, err));
    if (!*ret)
        return ATH_INVALID(err, "INVALID_INPUT", "QueryExecution " STR_FMT " was not found", STR_ARG(id));
    if (str_eq(json_get_str(*ret, "State", (Str){0}), S("QUEUED")) && !json_get(*ret, "ElapsedMs"))
        lost(c, *ret);
    return ath_allow(c, "workgroup", json_get_str(*ret, "WorkGroup", S("primary")), err);
}

/* ---- QueryExecution ------------------------------------------------------------------------------------------------------------ */

static Json *status_shape(AwsCall *c, const Json *r)
{
    Json *v = json_object(c->a);
    int64_t done = json_get_int(r, "CompletedMs", 0);

    json_set(c->a, v, "State", json_get(r, "State"));
    if (json_get(r, "Reason"))
        json_set(c->a, v, "StateChangeReason", json_get(r, "Reason"));
    json_set(c->a, v, "SubmissionDateTime", aws_time(c, json_get_int(r, "SubmittedMs", 0)));
    if (done)
        json_set(c->a, v, "CompletionDateTime", aws_time(c, done));
    if (json_get(r, "AthenaError"))
        json_set(c->a, v, "AthenaError", json_get(r, "AthenaError"));
    return v;
}

static Json *statistics_shape(AwsCall *c, const Json *r)
{
    Json *v = json_get(r, "Statistics") ? json_copy(c->a, json_get(r, "Statistics")) : json_object(c->a), *reuse = json_object(c->a);

    if (json_get(r, "ElapsedMs")) {
        json_set(c->a, v, "TotalExecutionTimeInMillis", json_get(r, "ElapsedMs"));
        json_set(c->a, v, "DataScannedInBytes", json_int(c->a, 0));
    }
    json_set(c->a, reuse, "ReusedPreviousResult", json_bool(c->a, json_get_bool(r, "Reused", false)));
    json_set(c->a, v, "ResultReuseInformation", reuse);
    return v;
}

static Json *reuse_shape(AwsCall *c, const Json *r)
{
    Json *v = json_object(c->a), *off = json_object(c->a);

    json_set(c->a, off, "Enabled", json_bool(c->a, false));
    json_set(c->a, v, "ResultReuseByAgeConfiguration", json_get(r, "Reuse") ? json_get(r, "Reuse") : off);
    return v;
}

static Json *context_shape(AwsCall *c, const Json *r)
{
    static const char *const members[] = { "Database", "Catalog" };
    Json *v = json_object(c->a);

    rec_copy_members(c->a, v, r, members, COUNT_OF(members));
    return v;
}

static Json *results_shape(AwsCall *c, const Json *r)
{
    static const char *const members[] = { "EncryptionConfiguration", "ExpectedBucketOwner", "AclConfiguration" };
    Json *v = json_object(c->a);

    json_set(c->a, v, "OutputLocation", json_get(r, "Output"));
    rec_copy_members(c->a, v, r, members, COUNT_OF(members));
    return v;
}

Json *record_shape(AwsCall *c, const Json *r)
{
    static const char *const members[] = { "Query", "StatementType", "SubstatementType", "WorkGroup" };
    Json *v = json_object(c->a), *engine = json_object(c->a);

    json_set(c->a, v, "QueryExecutionId", json_get(r, "Id"));
    rec_copy_members(c->a, v, r, members, COUNT_OF(members));
    json_set(c->a, v, "ResultConfiguration", results_shape(c, r));
    json_set(c->a, v, "ResultReuseConfiguration", reuse_shape(c, r));
    json_set(c->a, v, "QueryExecutionContext", context_shape(c, r));
    json_set(c->a, v, "Status", status_shape(c, r));
    json_set(c->a, v, "Statistics", statistics_shape(c, r));
    json_set(c->a, engine, "SelectedEngineVersion", json_str(c->a, S(ATH_ENGINE)));
    json_set(c->a, engine, "EffectiveEngineVersion", json_str(c->a, S(ATH_ENGINE)));
    json_set(c->a, v, "EngineVersion", engine);
    if (json_len(json_get(r, "Parameters")))
        json_set(c->a, v, "ExecutionParameters", json_get(r, "Parameters"));
    return v;
}

Status ath_GetQueryExecution(AwsCall *c, Error *err)
{
    Json *r;

    TRY(record_find(c, aws_str(c, "QueryExecutionId"), &r, err));
    aws_put(c, "QueryExecution", record_shape(c, r));
    return OK;
}

Status ath_BatchGetQueryExecution(AwsCall *c, Error *err UNUSED)
{
    const Json *ids = aws_get(c, "QueryExecutionIds");
    Json *found = json_array(c->a), *rest = json_array(c->a), *r;
    Error why;

    for (size_t i = 0; i < json_len(ids); i++) {
        if (record_find(c, json_at(ids, i)->string, &r, &why) == OK) {
            json_push(c->a, found, record_shape(c, r));
            continue;
        }
        Json *v = json_object(c->a);
        json_set(c->a, v, "QueryExecutionId", json_at(ids, i));
        json_set(c->a, v, "ErrorCode", json_str(c->a, why.code == E_DENIED ? S("ACCESS_DENIED") : S("INVALID_QUERY_EXECUTION_ID")));
        json_set(c->a, v, "ErrorMessage", json_str(c->a, str_dup(c->a, str_c(why.message))));
        json_push(c->a, rest, v);
    }
    aws_put(c, "QueryExecutions", found);
    aws_put(c, "UnprocessedQueryExecutionIds", rest);
    return OK;
}

/* A token holds the last key of the page, so queries that start meanwhile move nothing. */
Status ath_ListQueryExecutions(AwsCall *c, Error *err)
{
    int64_t max = aws_int(c, "MaxResults", 50);
    Json *list = json_array(c->a), *w;
    CatDocs docs;
    Str after, last = {0};

    TRY(ath_allow(c, "workgroup", wg_of(c), err));
    TRY(wg_get(ath_service(c), c->a, wg_of(c), &w, err));
    TRY(aws_page_start(c, "NextToken", &after, err));
    TRY(cat_doc_list(ath_service(c)->catalog, c->a, S(K_INDEX), str_fmt(c->a, STR_FMT "/", STR_ARG(wg_of(c))), &docs, err));
    for vec_each(CatDoc, d, &docs) {
        if (after.n && str_cmp(d->key, after) <= 0)
            continue;
        if ((int64_t)json_len(list) >= (max > 0 ? max : 50)) {
            aws_put_str(c, "NextToken", aws_page_token(c, last));
            break;
        }
        json_push(c->a, list, json_get(d->value, "id"));
        last = d->key;
    }
    aws_put(c, "QueryExecutionIds", list);
    return OK;
}

/* A statement that is about to begin is told again until it has heard. */
Status ath_StopQueryExecution(AwsCall *c, Error *err)
{
    Str id = aws_str(c, "QueryExecutionId");
    Json *r;

    TRY(record_find(c, id, &r, err));
    for (int ms = 0; ms < ATH_STOP_WAIT_MS && pool_cancel(ath_door(c), id); ms += 50)
        pool_wait(ath_door(c), id, 50);
    return OK;
}

/* ---- runtime statistics ------------------------------------------------------------------------------------------------------------ */

static Json *stage_shape(AwsCall *c, const Json *r)
{
    static const char *const members[] = { "InputRows", "InputBytes", "OutputRows", "OutputBytes" };
    Json *v = json_object(c->a);

    json_set(c->a, v, "StageId", json_int(c->a, 0));
    json_set(c->a, v, "State", json_str(c->a, str_eq(json_get_str(r, "State", (Str){0}), S("SUCCEEDED")) ? S("FINISHED") : json_get_str(r, "State", (Str){0})));
    rec_copy_members(c->a, v, json_get(r, "Rows"), members, COUNT_OF(members));
    json_set(c->a, v, "ExecutionTime", json_int(c->a, json_get_int(json_get(r, "Statistics"), "EngineExecutionTimeInMillis", 0)));
    return v;
}

Status ath_GetQueryRuntimeStatistics(AwsCall *c, Error *err)
{
    static const char *const times[] = { "QueryQueueTimeInMillis", "ServicePreProcessingTimeInMillis", "QueryPlanningTimeInMillis", "EngineExecutionTimeInMillis",
                                         "ServiceProcessingTimeInMillis", "TotalExecutionTimeInMillis" };
    Json *r, *v = json_object(c->a), *timeline = json_object(c->a);

    TRY(record_find(c, aws_str(c, "QueryExecutionId"), &r, err));
    rec_copy_members(c->a, timeline, json_get(r, "Statistics"), times, COUNT_OF(times));
    json_set(c->a, v, "Timeline", timeline);
    if (json_get(r, "Rows")) {
        json_set(c->a, v, "Rows", json_get(r, "Rows"));
        json_set(c->a, v, "OutputStage", stage_shape(c, r));
    }
    aws_put(c, "QueryRuntimeStatistics", v);
    return OK;
}

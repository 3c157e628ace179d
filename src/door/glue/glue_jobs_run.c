/* SPDX-License-Identifier: Apache-2.0 */
/* glue_jobs_run.c - runs of jobs: started, looked at, stopped. */
#include "door/glue/glue_jobs.h"
#include "door/glue/glue_jobs_int.h"

static Json *show_run(AwsCall *c, Json *run)
{
    static const char *const times[] = { "StartedOn", "LastModifiedOn", "CompletedOn" };
    glue_show_times(c, run, times, COUNT_OF(times));
    return run;
}

Status glue_start_job_run(AwsCall *c, Error *err)
{
    JobStart s = { .job = aws_str(c, "JobName"), .arguments = aws_get(c, "Arguments"), .overrides = c->in, .run_id = aws_str(c, "JobRunId"), .timeout_minutes = aws_int(c, "Timeout", 0) };
    Json *job;
    Jobs *room;
    Str id;

    TRY(glue_job_named(c, s.job, &room, &job, err));
    if (aws_has(c, "ExecutionRoleSessionPolicy"))
        return FAIL(err, E_UNSUPPORTED, "ExecutionRoleSessionPolicy is not supported");
    TRY(jobs_start(room, c->a, &s, &id, err));
    aws_put_str(c, "JobRunId", id);
    return OK;
}

Status glue_get_job_run(AwsCall *c, Error *err)
{
    Json *job, *run;
    Jobs *room;

    TRY(glue_job_named(c, aws_str(c, "JobName"), &room, &job, err));
    TRY(jobs_run_get(room, c->a, aws_str(c, "JobName"), aws_str(c, "RunId"), &run, err));
    aws_put(c, "JobRun", show_run(c, run));
    return OK;
}

Status glue_get_job_runs(AwsCall *c, Error *err)
{
    Json *job, *runs;
    Jobs *room;

    TRY(glue_job_named(c, aws_str(c, "JobName"), &room, &job, err));
    TRY(jobs_run_list(room, c->a, aws_str(c, "JobName"), &runs, err));
    for (size_t i = 0; i < json_len(runs); i++)
        show_run(c, json_at(runs, i));
    return aws_page(c, "JobRuns", runs, "NextToken", "MaxResults", 200, "NextToken", err);
}

static Json *outcome(AwsCall *c, Str job, const Json *id, const Error *why)
{
    Json *o = json_object(c->a), *detail;

    json_set(c->a, o, "JobName", json_str(c->a, job));
    json_set(c->a, o, "JobRunId", json_copy(c->a, id));
    if (why) {
        detail = glue_error_detail(c, why);
        json_set(c->a, o, "ErrorDetail", detail);
    }
    return o;
}

Status glue_batch_stop_job_run(AwsCall *c, Error *err)
{
    Str name = aws_str(c, "JobName");
    const Json *ids = aws_get(c, "JobRunIds");
    Json *job, *good = json_array(c->a), *bad = json_array(c->a);
    Jobs *room;
    Error why;

    TRY(glue_job_named(c, name, &room, &job, err));
    for (size_t i = 0; i < json_len(ids); i++) {
        if (jobs_stop(room, name, json_at(ids, i)->string, &why) == OK)
            json_push(c->a, good, outcome(c, name, json_at(ids, i), NULL));
        else
            json_push(c->a, bad, outcome(c, name, json_at(ids, i), &why));
    }
    aws_put(c, "SuccessfulSubmissions", good);
    aws_put(c, "Errors", bad);
    return OK;
}

/* Runs keep no bookmarks, so there is nothing to forget; the answer is that of a job without one. */
Status glue_reset_job_bookmark(AwsCall *c, Error *err)
{
    Json *job, *entry = json_object(c->a);
    Jobs *room;

    TRY(glue_job_named(c, aws_str(c, "JobName"), &room, &job, err));
    json_set(c->a, entry, "JobName", json_str(c->a, aws_str(c, "JobName")));
    json_set(c->a, entry, "Version", json_int(c->a, 0));
    json_set(c->a, entry, "Run", json_int(c->a, 0));
    json_set(c->a, entry, "Attempt", json_int(c->a, 0));
    json_set(c->a, entry, "JobBookmark", json_str(c->a, S("{}")));
    aws_put(c, "JobBookmarkEntry", entry);
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* glue_jobs.c - jobs as records: made, changed, listed, deleted. Runs are in glue_jobs_run.c.
 *
 * Whoever makes or changes a job hands its role to Glue: iam:PassRole is asked then.  A role that is not there yet is found missing by the run. */
#include "door/glue/glue_jobs.h"
#include "access/iam.h"
#include "door/glue/glue_jobs_int.h"

Status glue_jobs_room(AwsCall *c, Jobs **ret, Error *err)
{
    *ret = GLUE_DOOR(c)->jobs;
    return *ret ? OK : FAIL(err, E_UNSUPPORTED, "jobs are off here (glue.jobs = off)");
}

static Str job_arn(AwsCall *c, Str name)
{
    const Catalog *cat = glue_catalog(c);
    return str_fmt(c->a, "arn:aws:glue:" STR_FMT ":" STR_FMT ":job/" STR_FMT, STR_ARG(cat_region(cat)), STR_ARG(cat_account(cat)), STR_ARG(name));
}

Status glue_job_named(AwsCall *c, Str name, Jobs **room, Json **job, Error *err)
{
    TRY(glue_jobs_room(c, room, err));
    TRY(glue_allow(c, job_arn(c, name), err));
    return jobs_get(*room, c->a, name, job, err);
}

/* ---- making ------------------------------------------------------------------------------------------------------------------ */

static Status pass_role(AwsCall *c, Str role, Error *err)
{
    Str arn = role;

    if (!str_starts(role, S("arn:")))
        arn = str_fmt(c->a, "arn:aws:iam::" STR_FMT ":role/" STR_FMT, STR_ARG(cat_account(glue_catalog(c))), STR_ARG(role));
    Status s = iam_pass_role(c->access, c->a, &c->who, arn, "glue.amazonaws.com", err);
    return s == E_NOT_FOUND ? OK : s;
}

/* Workers to capacity, as GetJob shows it. */
static void set_capacity(AwsCall *c, Json *job)
{
    int64_t workers = json_get_int(job, "NumberOfWorkers", 0);

    if (workers && !json_get(job, "MaxCapacity"))
        json_set(c->a, job, "MaxCapacity", json_real(c->a, (double)workers));
    if (workers && !json_get(job, "AllocatedCapacity"))
        json_set(c->a, job, "AllocatedCapacity", json_int(c->a, workers));
}

static void set_default(AwsCall *c, Json *job, const char *key, Json *v)
{
    if (!json_get(job, key))
        json_set(c->a, job, key, v);
}

static Json *job_of(AwsCall *c, const Json *in, Str name, int64_t created_ms)
{
    Json *job = json_copy(c->a, in), *property = json_object(c->a);

    json_del(job, S("Tags"));
    json_set(c->a, job, "Name", json_str(c->a, name));
    json_set(c->a, job, "CreatedOn", json_int(c->a, created_ms));
    json_set(c->a, job, "LastModifiedOn", json_int(c->a, clock_ms()));
    json_set(c->a, property, "MaxConcurrentRuns", json_int(c->a, 1));
    set_default(c, job, "ExecutionProperty", property);
    set_default(c, job, "MaxRetries", json_int(c->a, 0));
    set_default(c, job, "Timeout", json_int(c->a, 480));
    set_capacity(c, job);
    return job;
}

Status glue_create_job(AwsCall *c, Error *err)
{
    Str name = aws_str(c, "Name");
    Jobs *room;

    TRY(glue_jobs_room(c, &room, err));
    TRY(glue_allow(c, job_arn(c, name), err));
    TRY(pass_role(c, aws_str(c, "Role"), err));
    TRY(jobs_put(room, name, job_of(c, c->in, name, clock_ms()), 1, err));
    if (aws_has(c, "Tags"))
        TRY(glue_tag_put(c, job_arn(c, name), aws_get(c, "Tags"), err));
    aws_put_str(c, "Name", name);
    return OK;
}

/* The update takes the definition's place: what it leaves out is gone, but role and command. */
Status glue_update_job(AwsCall *c, Error *err)
{
    Str name = aws_str(c, "JobName");
    const Json *update = aws_get(c, "JobUpdate");
    Json *old, *job;
    Jobs *room;

    TRY(glue_job_named(c, name, &room, &old, err));
    if (json_get(update, "Role"))
        TRY(pass_role(c, json_get_str(update, "Role", (Str){0}), err));
    job = job_of(c, update, name, json_get_int(old, "CreatedOn", 0));
    if (!json_get(job, "Role"))
        json_set(c->a, job, "Role", json_get(old, "Role"));
    if (!json_get(job, "Command"))
        json_set(c->a, job, "Command", json_get(old, "Command"));
    TRY(jobs_put(room, name, job, 0, err));
    aws_put_str(c, "JobName", name);
    return OK;
}

Status glue_delete_job(AwsCall *c, Error *err)
{
    Str name = aws_str(c, "JobName");
    Jobs *room;

    TRY(glue_jobs_room(c, &room, err));
    TRY(glue_allow(c, job_arn(c, name), err));
    Status s = jobs_delete(room, name, err);
    if (s != OK && s != E_NOT_FOUND)                  /* deleting what is not there is no error */
        return s;
    TRY(glue_tag_drop(c, job_arn(c, name), err));
    aws_put_str(c, "JobName", name);
    return OK;
}

/* ---- showing ------------------------------------------------------------------------------------------------------------------- */

void glue_show_times(AwsCall *c, Json *o, const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (json_get(o, keys[i]))
            json_set(c->a, o, keys[i], aws_time(c, json_get_int(o, keys[i], 0)));
}

static Json *show_job(AwsCall *c, Json *job)
{
    static const char *const times[] = { "CreatedOn", "LastModifiedOn" };
    glue_show_times(c, job, times, COUNT_OF(times));
    return job;
}

Status glue_get_job(AwsCall *c, Error *err)
{
    Json *job;
    Jobs *room;

    TRY(glue_job_named(c, aws_str(c, "JobName"), &room, &job, err));
    aws_put(c, "Job", show_job(c, job));
    return OK;
}

static Status all_jobs(AwsCall *c, Json **ret, Error *err)
{
    Jobs *room;

    TRY(glue_jobs_room(c, &room, err));
    TRY(glue_allow(c, job_arn(c, S("*")), err));
    return jobs_list(room, c->a, ret, err);
}

Status glue_get_jobs(AwsCall *c, Error *err)
{
    Json *jobs;

    TRY(all_jobs(c, &jobs, err));
    for (size_t i = 0; i < json_len(jobs); i++)
        show_job(c, json_at(jobs, i));
    return aws_page(c, "Jobs", jobs, "NextToken", "MaxResults", 100, "NextToken", err);
}

static bool has_tags(const Json *tags, const Json *wanted)
{
    for (size_t i = 0; i < json_len(wanted); i++)
        if (!json_equal(json_get_s(tags, wanted->object.p[i].key), wanted->object.p[i].value))
            return false;
    return true;
}

Status glue_list_jobs(AwsCall *c, Error *err)
{
    Json *jobs, *names = json_array(c->a);

    TRY(all_jobs(c, &jobs, err));
    for (size_t i = 0; i < json_len(jobs); i++) {
        Str name = json_get_str(json_at(jobs, i), "Name", (Str){0});
        if (!json_len(aws_get(c, "Tags")) || has_tags(glue_tags(c, job_arn(c, name)), aws_get(c, "Tags")))
            json_push(c->a, names, json_str(c->a, name));
    }
    return aws_page(c, "JobNames", names, "NextToken", "MaxResults", 100, "NextToken", err);
}

Status glue_batch_get_jobs(AwsCall *c, Error *err)
{
    const Json *names = aws_get(c, "JobNames");
    Json *jobs = json_array(c->a), *missing = json_array(c->a);

    for (size_t i = 0; i < json_len(names); i++) {
        Json *job;
        Jobs *room;
        Status s = glue_job_named(c, json_at(names, i)->string, &room, &job, err);
        if (s == E_NOT_FOUND)
            json_push(c->a, missing, json_at(names, i));
        else if (s != OK)
            return s;
        else
            json_push(c->a, jobs, show_job(c, job));
    }
    aws_put(c, "Jobs", jobs);
    aws_put(c, "JobsNotFound", missing);
    return OK;
}

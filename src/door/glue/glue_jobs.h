/* SPDX-License-Identifier: Apache-2.0 */
/* glue_jobs.h - the part of the operation table that is about jobs. */
#ifndef FIRN_GLUE_JOBS_H
#define FIRN_GLUE_JOBS_H

#include "door/glue/glue_int.h"

Status glue_create_job(AwsCall *c, Error *err);
Status glue_update_job(AwsCall *c, Error *err);
Status glue_get_job(AwsCall *c, Error *err);
Status glue_get_jobs(AwsCall *c, Error *err);
Status glue_list_jobs(AwsCall *c, Error *err);
Status glue_batch_get_jobs(AwsCall *c, Error *err);
Status glue_delete_job(AwsCall *c, Error *err);
Status glue_start_job_run(AwsCall *c, Error *err);
Status glue_get_job_run(AwsCall *c, Error *err);
Status glue_get_job_runs(AwsCall *c, Error *err);
Status glue_batch_stop_job_run(AwsCall *c, Error *err);
Status glue_reset_job_bookmark(AwsCall *c, Error *err);

#define GLUE_JOB_MEMBERS \
    "JobMode e(SCRIPT|VISUAL|NOTEBOOK), JobRunQueuingEnabled b, Description s0-2048, LogUri s, ExecutionProperty {ExecutionProperty}, " \
    "DefaultArguments <s>, NonOverridableArguments <s>, Connections {ConnectionsList}, MaxRetries i0-10, AllocatedCapacity i, Timeout i1-10080, MaxCapacity d, " \
    "SecurityConfiguration s1-255, NotificationProperty {NotificationProperty}, GlueVersion s1-255, NumberOfWorkers i1-299, " \
    "WorkerType e(Standard|G.1X|G.2X|G.025X|G.4X|G.8X|Z.2X|G.12X|G.16X|R.1X|R.2X|R.4X|R.8X), CodeGenConfigurationNodes *, ExecutionClass e(FLEX|STANDARD), SourceControlDetails *, MaintenanceWindow s"

#define GLUE_JOB_OPS \
    { .name = "CreateJob", .handler = glue_create_job, .fields = "Name! s1-255, Role! s, Command! {JobCommand}, Tags <s0-256>0-50, " GLUE_JOB_MEMBERS }, \
    { .name = "UpdateJob", .handler = glue_update_job, .fields = "JobName! s1-255, JobUpdate! {JobUpdate}" }, \
    { .name = "GetJob", .handler = glue_get_job, .fields = "JobName! s1-255" }, \
    { .name = "GetJobs", .handler = glue_get_jobs, .fields = "NextToken s, MaxResults i1-1000" }, \
    { .name = "ListJobs", .handler = glue_list_jobs, .fields = "NextToken s, MaxResults i1-1000, Tags <s0-256>0-50" }, \
    { .name = "BatchGetJobs", .handler = glue_batch_get_jobs, .fields = "JobNames! [s1-255]0-100" }, \
    { .name = "DeleteJob", .handler = glue_delete_job, .fields = "JobName! s1-255" }, \
    { .name = "StartJobRun", .handler = glue_start_job_run, .fields = "JobName! s1-255, JobRunQueuingEnabled b, JobRunId s1-255, Arguments <s>, AllocatedCapacity i, Timeout i1-10080, MaxCapacity d, " \
      "SecurityConfiguration s1-255, NotificationProperty {NotificationProperty}, WorkerType e(Standard|G.1X|G.2X|G.025X|G.4X|G.8X|Z.2X|G.12X|G.16X|R.1X|R.2X|R.4X|R.8X), NumberOfWorkers i1-299, " \
      "ExecutionClass e(FLEX|STANDARD), ExecutionRoleSessionPolicy s0-2048", .note = "glueetl (with Spark) and pythonshell; workers are one process on this machine" }, \
    { .name = "GetJobRun", .handler = glue_get_job_run, .fields = "JobName! s1-255, RunId! s1-255, PredecessorsIncluded b" }, \
    { .name = "GetJobRuns", .handler = glue_get_job_runs, .fields = "JobName! s1-255, NextToken s, MaxResults i1-200" }, \
    { .name = "BatchStopJobRun", .handler = glue_batch_stop_job_run, .fields = "JobName! s1-255, JobRunIds! [s1-255]1-25" }, \
    { .name = "ResetJobBookmark", .handler = glue_reset_job_bookmark, .fields = "JobName! s, RunId s", .note = "runs keep no bookmarks" }, \
    { .name = "GetJobBookmark", .note = "runs keep no bookmarks" }
#define GLUE_JOB_SHAPES \
    { "JobCommand", "Name s, ScriptLocation s0-400000, PythonVersion s, Runtime s1-64" }, \
    { "ExecutionProperty", "MaxConcurrentRuns i1-1000" }, \
    { "ConnectionsList", "Connections [s]" }, \
    { "NotificationProperty", "NotifyDelayAfter i1-2147483647" }, \
    { "JobUpdate", "Role s, Command {JobCommand}, " GLUE_JOB_MEMBERS }

#endif

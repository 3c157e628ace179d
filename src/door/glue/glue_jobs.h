/* SPDX-License-Identifier: Apache-2.0 */
/* glue_jobs.h - the part of the operation table that is about jobs. */
#ifndef FIRN_GLUE_JOBS_H
#define FIRN_GLUE_JOBS_H

#define GLUE_JOB_OPS \
    { .name = "CreateJob", .note = "jobs" }, { .name = "UpdateJob", .note = "jobs" }, { .name = "GetJob", .note = "jobs" }, { .name = "GetJobs", .note = "jobs" }, \
    { .name = "ListJobs", .note = "jobs" }, { .name = "BatchGetJobs", .note = "jobs" }, { .name = "DeleteJob", .note = "jobs" }, { .name = "StartJobRun", .note = "jobs" }, \
    { .name = "GetJobRun", .note = "jobs" }, { .name = "GetJobRuns", .note = "jobs" }, { .name = "BatchStopJobRun", .note = "jobs" }, \
    { .name = "ResetJobBookmark", .note = "jobs" }, { .name = "GetJobBookmark", .note = "jobs" }
#define GLUE_JOB_SHAPES \
    { "JobCommand", "Name s, ScriptLocation s0-400000, PythonVersion s, Runtime s1-64" }

#endif

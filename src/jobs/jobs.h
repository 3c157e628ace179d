/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - Glue jobs: a script run by a real Spark (or plain Python), as somebody who cannot see the data folder.
 *
 * A run is a child process (spark-submit of glue.spark_home, or the pyspark that `make setup-spark` installed; python3 for jobs of kind pythonshell) in
 * a folder of its own, with the role's temporary credentials, the catalogs of its --conf chain pointed at firn's doors, and Python modules awsglue.*
 * beside it.  The script is somebody's code: it runs as `glue.job_user`, or in namespaces in which the data folder is not there, under limits of
 * memory, processes and time; where neither is possible the run is refused unless `glue.jobs = unsafe`.  Output goes to the logs line by line as it
 * comes: groups /aws-glue/jobs/output and /aws-glue/jobs/error, stream = run id.  Any thread may call. */
#ifndef FIRN_JOBS_H
#define FIRN_JOBS_H

#include "catalog/logs.h"
#include "service/service.h"

#define JOB_OUTPUT_GROUP "/aws-glue/jobs/output"
#define JOB_ERROR_GROUP "/aws-glue/jobs/error"

typedef struct Jobs Jobs;
typedef struct JobsOptions {
    Str spark_home, python, jars;     /* empty: looked for beside the program (make setup-spark), python3 in the usual places */
    Str user;                         /* glue.job_user */
    Str mode;                         /* glue.jobs: "on", "off", "unsafe" */
    Str support;                      /* folder with the Python package awsglue; empty: looked for */
    int64_t memory_bytes; int max_running;
} JobsOptions;
/* Runs that a dead server left become FAILED. */
NODISCARD Status jobs_open(Service *svc, const JobsOptions *o, Jobs **ret, Error *err);
/* What a child reaches us by. No run starts before. */
void jobs_reach(Jobs *j, Str lake_url, Str sql_url);
void jobs_close(Jobs *j);             /* stops what runs; NULL is fine */

/* Jobs are documents in the API's own shape (Job), times in epoch ms. E_EXISTS; E_NOT_FOUND. A job that is deleted takes its runs along. */
NODISCARD Status jobs_put(Jobs *j, Str name, const Json *job, int must_be_new, Error *err);
NODISCARD Status jobs_get(Jobs *j, Arena *a, Str name, Json **ret, Error *err);
NODISCARD Status jobs_list(Jobs *j, Arena *a, Json **ret, Error *err);
NODISCARD Status jobs_delete(Jobs *j, Str name, Error *err);

/* Runs too (JobRun). `arguments` override the job's; `overrides` are other members of the run (WorkerType, Timeout …); run_id not empty: that run again. */
typedef struct JobStart { Str job; const Json *arguments, *overrides; Str run_id; int64_t timeout_minutes; } JobStart;
/* iam:PassRole was checked when the job was made; the role is taken (trust of glue.amazonaws.com) as the run begins.
 * E_NOT_FOUND; E_LIMIT, kind ConcurrentRunsExceededException or ResourceNumberLimitExceededException; E_UNSUPPORTED: jobs are off, or a script cannot be shut off
 * here.  Without a Spark the run is recorded FAILED with the words of how to get one. */
NODISCARD Status jobs_start(Jobs *j, Arena *a, const JobStart *s, Str *run_id, Error *err);
NODISCARD Status jobs_run_get(Jobs *j, Arena *a, Str job, Str run_id, Json **ret, Error *err);
NODISCARD Status jobs_run_list(Jobs *j, Arena *a, Str job, Json **ret, Error *err);                     /* newest first */
NODISCARD Status jobs_stop(Jobs *j, Str job, Str run_id, Error *err);                                   /* E_NOT_FOUND; E_INVALID: it has ended */

#endif

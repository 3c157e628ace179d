/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - Glue jobs: a script run by a real Spark, as somebody who cannot see the data folder.
 *
 * A run is a child process (spark-submit of glue.spark_home, or the pyspark that `make setup-spark` installed) in a folder of its own, with the role's
 * temporary credentials, the catalogs of its --conf chain pointed at firn's doors, and Python modules awsglue.* beside it.  The script is somebody's
 * code: it runs as `glue.job_user`, or in a user namespace in which the data folder is not there, under limits of memory, processes and time; where neither is
 * possible the run is refused unless `glue.jobs = unsafe`.  Output goes to the logs line by line as it comes.  Any thread may call. */
#ifndef FIRN_JOBS_H
#define FIRN_JOBS_H

#include "catalog/logs.h"
#include "service/service.h"

typedef struct Jobs Jobs;
typedef struct JobsOptions {
    Str spark_home, python, jars;     /* empty: looked for */
    Str user;                         /* glue.job_user */
    Str mode;                         /* glue.jobs: "on", "off", "unsafe" */
    Str lake_url, sql_url;            /* what a child reaches us by */
    Str support;                      /* folder with the Python package awsglue and the Spark extension's jar */
    int64_t memory_bytes; int max_running;
} JobsOptions;
NODISCARD Status jobs_open(Service *svc, Logs *logs, const JobsOptions *o, Jobs **ret, Error *err);
void jobs_close(Jobs *j);             /* stops what runs */

/* Jobs and runs are documents in the API's own shape (Job, JobRun), times in epoch ms. */
typedef struct JobStart { Str job; Json *arguments; Str run_id; int64_t timeout_minutes; Principal who; } JobStart;
/* Checks the job, iam:PassRole was checked at its making; takes the role (trust of glue.amazonaws.com), queues. E_NOT_FOUND; E_LIMIT ConcurrentRunsExceeded; E_UNSUPPORTED no Spark:
 * the run is then recorded FAILED with the words of how to get one. */
NODISCARD Status jobs_start(Jobs *j, Arena *a, const JobStart *s, Str *run_id, Error *err);
NODISCARD Status jobs_run_get(Jobs *j, Arena *a, Str job, Str run_id, Json **ret, Error *err);
NODISCARD Status jobs_run_list(Jobs *j, Arena *a, Str job, Json **ret, Error *err);                     /* newest first */
NODISCARD Status jobs_stop(Jobs *j, Str job, Str run_id, Error *err);

#endif

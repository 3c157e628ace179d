/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_int.h - inside of jobs/: a run, its command, its child process. */
#ifndef FIRN_JOBS_INT_H
#define FIRN_JOBS_INT_H

#include "jobs/jobs.h"

#include <sys/types.h>

enum {
    RUNNING_DEFAULT = 4, QUEUED_MAX = 100, RUNS_KEPT = 1000,
    TIMEOUT_MINUTES = 480,            /* Glue 5's default; 2,880 before */
    SCRIPT_BYTES_MAX = 64 * 1024 * 1024,
    OUTPUT_BYTES_MAX = 64 * 1024 * 1024,          /* of one run's stream; what comes after is counted and dropped */
    CONF_MAX = 500, ARGUMENTS_MAX = 500,
};

/* ---- conf.c: arguments, pure ---------------------------------------------------------------------------------------------- */

/* DefaultArguments, overridden by the run's, overridden by NonOverridableArguments. */
Props job_arguments(Arena *a, const Json *job, const Json *run_arguments);
/* "a=b --conf c=d" as Glue splits it. E_INVALID. */
NODISCARD Status job_conf(Arena *a, Str text, Props *ret, Error *err);
/* What the script sees after its own name: --JOB_NAME, --JOB_RUN_ID, --JOB_ID, then the arguments but those that the runner takes itself. */
void job_script_arguments(Arena *a, Str job, Str run_id, const Props *arguments, StrVec *ret);
/* Endpoints and region for every Iceberg catalog of the chain, and the extension, where the chain does not say so itself. */
typedef struct JobReach { Str lake_url, sql_url, region, glue_version; int has_extension; } JobReach;
void job_complete_conf(Arena *a, const JobReach *r, Props *conf);

/* ---- child.c ----------------------------------------------------------------------------------------------------------------- */

typedef enum { SHUT_UNKNOWN, SHUT_NAMESPACES, SHUT_USER, SHUT_OPEN } JobShut;

typedef struct JobChild {
    char **argv, **envp;
    const char *dir;                  /* the run's folder; in namespaces it is /tmp */
    const char *cover;                /* the data folder, which a script must not see */
    JobShut shut;
    int change_user; uid_t uid; gid_t gid;
    int64_t memory_bytes;             /* of each process; 0: no limit */
} JobChild;
/* Pipes of its output and errors; the child leads a process group of its own. */
NODISCARD Status job_child_start(const JobChild *c, pid_t *pid, int *out, int *errors, Error *err);
void job_child_kill(pid_t pid);
/* filter.c; in the child, after no_new_privs. 0: done. */
int job_filter_calls(void);
/* Which way of shutting off works here: tried once with /bin/true. */
JobShut job_child_probe(const char *cover, int change_user, uid_t uid, gid_t gid);

/* ---- tools.c: what there is on this machine ------------------------------------------------------------------------------------ */

typedef struct JobTools { Str spark_home, python, spark_python, jars, support; int has_extension; } JobTools;      /* jars: comma-separated; empty members: not found */
void job_tools(Arena *a, const JobsOptions *o, int other_user, JobTools *ret);      /* other_user: scripts are run by another user than the server */

/* ---- a run ------------------------------------------------------------------------------------------------------------------------ */

typedef struct JobRun {
    Jobs *jobs;
    Arena *a;
    Str job, id;
    Json *record;                     /* the JobRun document */
    Json *definition;                 /* the Job as it was at the start */
    Props arguments;
    Str dir;
    CatKey key;
    int64_t timeout_ms, started_mono_us;
    pid_t pid;
    int stop;                         /* under jobs->lock, as pid is */
    int out, errors;
    Str last_error;                   /* a line of the error stream that says what happened */
    struct JobRun *next;
} JobRun;

struct Jobs {
    Service *svc;
    Arena *a;
    JobsOptions options;
    JobTools tools;
    Str lake_url, sql_url, data;      /* data: the folder's real path */
    JobShut shut;
    int change_user; uid_t uid; gid_t gid;
    pthread_mutex_t lock;
    pthread_cond_t ended;             /* a run ended, a place is free, or the server stops */
    JobRun *runs;                     /* queued and running */
    int running, closing;
};

/* record.c: documents. A run's record is saved with LastModifiedOn set. */
NODISCARD Status job_run_save(Jobs *j, JobRun *r, Error *err);
void job_run_state(JobRun *r, const char *state);
NODISCARD Status job_recover(Jobs *j, Error *err);
NODISCARD Status job_runs_prune(Jobs *j, Str job, Error *err);

/* prepare.c: role, folder, script, command. */
NODISCARD Status job_prepare(JobRun *r, JobChild *c, Error *err);
void job_clean(JobRun *r);
void job_clean_old(Jobs *j);          /* folders that a dead server on this data folder left */
/* E_UNSUPPORTED, with the way to get one, when the job needs a Spark that is not there. */
NODISCARD Status job_runnable(Jobs *j, const Json *job, Error *err);
bool job_is_python(const Json *job);
/* The role is there and lets glue.amazonaws.com take it. E_INVALID in the service's words. */
NODISCARD Status job_role_trusts_us(Jobs *j, Arena *a, const Json *job, Error *err);

/* output.c: until both pipes are closed, the time is over, or the run is stopped. */
typedef enum { PUMP_ENDED, PUMP_STOPPED, PUMP_TIMEOUT } PumpEnd;
PumpEnd job_pump(JobRun *r);
void job_say(JobRun *r, const char *group, Str text);

/* run.c */
void *job_run_thread(void *run);
NODISCARD Status job_begin(Jobs *j, Str job, Json *definition, const Json *arguments, const Json *overrides, Str id, int64_t attempt, Str previous, int64_t timeout_minutes, Error *err);

#endif

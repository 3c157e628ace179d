/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - the life of a run: recorded, queued, prepared, executed, recorded again; tried again when the job says so.
 *
 * Invariants: (1) a run is in the list of the room from its record STARTING until its last record is written; (2) its last record is
 * SUCCEEDED, FAILED, STOPPED or TIMEOUT, with CompletedOn and ExecutionTime; (3) its folder and its credentials are gone when it has ended. */
#include "jobs/jobs_int.h"
#include "service/notices.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

static void set_text(JobRun *r, const char *key, Str v) { json_set(r->a, r->record, key, json_str(r->a, str_dup(r->a, v))); }
static void set_int(JobRun *r, const char *key, int64_t v) { json_set(r->a, r->record, key, json_int(r->a, v)); }

static void copy_member(JobRun *r, const Json *from, const char *key)
{
    Json *v = json_get(from, key);
    if (v)
        json_set(r->a, r->record, key, json_copy(r->a, v));
}

/* ---- records ------------------------------------------------------------------------------------------------------------------ */

static void make_record(JobRun *r, const Json *run_arguments, const Json *overrides, int64_t attempt, Str previous, int64_t timeout_minutes)
{
    static const char *const same[] = { "JobMode", "JobRunQueuingEnabled", "AllocatedCapacity", "MaxCapacity", "WorkerType", "NumberOfWorkers", "GlueVersion", "ExecutionClass", "SecurityConfiguration",
                                        "NotificationProperty", "MaintenanceWindow" };
    int64_t now = clock_ms();

    r->record = json_object(r->a);
    set_text(r, "Id", r->id);
    set_int(r, "Attempt", attempt);
    if (previous.n)
        set_text(r, "PreviousRunId", previous);
    set_text(r, "JobName", r->job);
    set_int(r, "StartedOn", now);
    set_int(r, "LastModifiedOn", now);
    json_set(r->a, r->record, "Arguments", run_arguments ? json_copy(r->a, run_arguments) : json_object(r->a));
    json_set(r->a, r->record, "PredecessorRuns", json_array(r->a));
    set_int(r, "ExecutionTime", 0);
    set_int(r, "Timeout", timeout_minutes);
    set_text(r, "LogGroupName", S("/aws-glue/jobs"));
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        copy_member(r, r->definition, same[i]);
        copy_member(r, overrides, same[i]);
    }
    job_run_state(r, "STARTING");
}

static void save(JobRun *r)
{
    Error err;
    if (job_run_save(r->jobs, r, &err) != OK)
        log_error(&err, "a job run could not be recorded", "run", str_z(r->a, r->id), NULL);
}

/* EventBridge's "Glue Job State Change". */
static void tell(JobRun *r, const char *state, Str message)
{
    Json *d = json_object(r->a);
    bool good = strcmp(state, "SUCCEEDED") == 0;

    json_set(r->a, d, "jobName", json_str(r->a, r->job));
    json_set(r->a, d, "severity", json_str(r->a, good ? S("INFO") : strcmp(state, "STOPPED") == 0 ? S("WARN") : S("ERROR")));
    json_set(r->a, d, "state", json_str(r->a, str_c(state)));
    json_set(r->a, d, "jobRunId", json_str(r->a, r->id));
    json_set(r->a, d, "message", json_str(r->a, good ? S("Job run succeeded") : message.n ? message : S("Job run stopped")));
    notices_post(r->jobs->svc->notices, r->a, S("Glue Job State Change"), (Str){0}, d, clock_ms());
}

static void end_record(JobRun *r, const char *state, Str message)
{
    int64_t seconds = r->started_mono_us ? (clock_mono_us() - r->started_mono_us) / 1000000 : 0;

    job_run_state(r, state);
    set_int(r, "CompletedOn", clock_ms());
    set_int(r, "ExecutionTime", seconds);
    json_set(r->a, r->record, "DPUSeconds", json_real(r->a, (double)seconds));
    if (message.n)
        set_text(r, "ErrorMessage", message);
    save(r);
    tell(r, state, message);
}

/* ---- the list ------------------------------------------------------------------------------------------------------------------ */

static void unlink_run(JobRun *r)
{
    Jobs *j = r->jobs;
    JobRun **at = &j->runs;

    pthread_mutex_lock(&j->lock);
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    pthread_cond_broadcast(&j->ended);
    pthread_mutex_unlock(&j->lock);
}

/* Waits for a place; false: stopped before it began. */
static bool take_place(JobRun *r)
{
    Jobs *j = r->jobs;

    pthread_mutex_lock(&j->lock);
    while (!r->stop && !j->closing && j->running >= j->options.max_running)
        pthread_cond_wait(&j->ended, &j->lock);
    bool ok = !r->stop && !j->closing;
    j->running += ok;
    pthread_mutex_unlock(&j->lock);
    return ok;
}

static void leave_place(JobRun *r)
{
    Jobs *j = r->jobs;

    pthread_mutex_lock(&j->lock);
    j->running--;
    pthread_cond_broadcast(&j->ended);
    pthread_mutex_unlock(&j->lock);
}

/* ---- executing ------------------------------------------------------------------------------------------------------------------ */

static int collect(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static Str failure_text(JobRun *r, int code)
{
    enum { SIGNALS = 128, SETUP = 126 };
    if (r->last_error.n)
        return r->last_error;
    if (code > SIGNALS)
        return str_fmt(r->a, "the script was ended by signal %d (%s)", code - SIGNALS, code - SIGNALS == SIGKILL ? "out of memory, or killed" : "see the error log");
    return str_fmt(r->a, "the script ended with exit status %d", code);
}

static Status start_child(JobRun *r, Error *err)
{
    JobChild c;
    pid_t pid;

    TRY(job_prepare(r, &c, err));
    r->started_mono_us = clock_mono_us();
    TRY(job_child_start(&c, &pid, &r->out, &r->errors, err));
    pthread_mutex_lock(&r->jobs->lock);
    r->pid = pid;
    pthread_mutex_unlock(&r->jobs->lock);
    return OK;
}

/* true: it failed, and may be tried again. */
static bool execute(JobRun *r)
{
    Error err;

    if (start_child(r, &err) != OK) {
        job_say(r, JOB_ERROR_GROUP, str_c(err.message));
        end_record(r, "FAILED", str_c(err.message));
        return true;
    }
    job_run_state(r, "RUNNING");
    save(r);
    PumpEnd end = job_pump(r);
    pthread_mutex_lock(&r->jobs->lock);
    pid_t pid = r->pid;
    r->pid = 0;                                       /* nobody kills a number that may be another's by then */
    pthread_mutex_unlock(&r->jobs->lock);
    int code = collect(pid);
    if (end == PUMP_STOPPED)
        end_record(r, "STOPPED", (Str){0});
    else if (end == PUMP_TIMEOUT)
        end_record(r, "TIMEOUT", S("Job run timed out"));
    else if (code == 0)
        end_record(r, "SUCCEEDED", (Str){0});
    else
        end_record(r, "FAILED", failure_text(r, code));
    return end == PUMP_ENDED && code != 0;
}

/* ---- again ------------------------------------------------------------------------------------------------------------------------ */

static void try_again(JobRun *r)
{
    int64_t attempt = json_get_int(r->record, "Attempt", 0);
    ptrdiff_t suffix = str_find(r->id, S("_attempt_"));
    Str base = suffix > 0 ? str_sub(r->id, 0, (size_t)suffix) : r->id;
    Error err;

    if (attempt >= json_get_int(r->definition, "MaxRetries", 0))
        return;
    if (job_begin(r->jobs, r->job, r->definition, json_get(r->record, "Arguments"), r->record, str_fmt(r->a, STR_FMT "_attempt_%lld", STR_ARG(base), (long long)attempt + 1), attempt + 1, r->id,
                  r->timeout_ms / 60000, &err) != OK)
        log_error(&err, "a job could not be tried again", "run", str_z(r->a, r->id), NULL);
}

void *job_run_thread(void *run)
{
    JobRun *r = run;
    Jobs *j = r->jobs;
    Arena *a = r->a;
    bool again = false;

    if (take_place(r)) {
        again = execute(r);
        leave_place(r);
    } else {
        end_record(r, "STOPPED", j->closing ? S("the server stopped before the run began") : (Str){0});
    }
    job_clean(r);
    file_closep(&r->out);
    file_closep(&r->errors);
    if (again)
        try_again(r);
    unlink_run(r);
    arena_destroy(a);
    return NULL;
}

/* ---- begin -------------------------------------------------------------------------------------------------------------------------- */

static Status enlist(JobRun *r, int64_t most, Error *err)
{
    Jobs *j = r->jobs;
    int64_t of_job = 0, all = 0;

    pthread_mutex_lock(&j->lock);
    for (JobRun *o = j->runs; o; o = o->next) {
        all++;
        of_job += str_eq(o->job, r->job) && !o->stop;
    }
    bool closing = j->closing, full = all >= QUEUED_MAX, busy = of_job >= most;
    if (!closing && !full && !busy) {
        r->next = j->runs;
        j->runs = r;
    }
    pthread_mutex_unlock(&j->lock);
    if (closing)
        return FAIL(err, E_UNAVAILABLE, "the server is stopping");
    if (busy) {
        RAISE(err, E_LIMIT, "Concurrent runs exceeded for " STR_FMT, STR_ARG(r->job));
        strcpy(err->kind, "ConcurrentRunsExceededException");
        return E_LIMIT;
    }
    if (full) {
        RAISE(err, E_LIMIT, "%d job runs are queued already", QUEUED_MAX);
        strcpy(err->kind, "ResourceNumberLimitExceededException");
        return E_LIMIT;
    }
    return OK;
}

Status job_begin(Jobs *j, Str job, Json *definition, const Json *arguments, const Json *overrides, Str id, int64_t attempt, Str previous, int64_t timeout_minutes, Error *err)
{
    Arena *a = arena_create();
    JobRun *r = arena_new(a, JobRun);
    int64_t most = json_get_int(json_get(definition, "ExecutionProperty"), "MaxConcurrentRuns", 1);
    pthread_t thread;
    Error why;

    *r = (JobRun){ .jobs = j, .a = a, .job = str_dup(a, job), .id = str_dup(a, id), .definition = json_copy(a, definition), .timeout_ms = timeout_minutes * 60000, .out = -1, .errors = -1 };
    if (arguments)
        arguments = json_copy(a, arguments);          /* the caller's go with its request */
    r->arguments = job_arguments(a, r->definition, arguments);
    make_record(r, arguments, overrides, attempt, previous, timeout_minutes);
    Status s = enlist(r, attempt ? most + 1 : most, err);       /* the failed attempt is still in the list */
    if (s != OK) {
        arena_destroy(a);
        return s;
    }
    s = job_run_save(j, r, err);
    if (s == OK && job_runnable(j, definition, &why) != OK) {
        job_say(r, JOB_ERROR_GROUP, str_c(why.message));
        end_record(r, "FAILED", str_c(why.message));
        s = E_UNSUPPORTED;
    } else if (s == OK && pthread_create(&thread, NULL, job_run_thread, r) != 0) {
        end_record(r, "FAILED", S("a thread for the run cannot be started"));
        s = E_UNSUPPORTED;
    } else if (s == OK) {
        pthread_detach(thread);
        return OK;
    }
    unlink_run(r);
    arena_destroy(a);
    return s == E_UNSUPPORTED ? OK : s;
}

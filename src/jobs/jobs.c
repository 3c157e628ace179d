/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - the room's life, and runs started and stopped. */
#include "jobs/jobs_int.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- life --------------------------------------------------------------------------------------------------------------------- */

/* A server that is root gives a script to glue.job_user, else to nobody. */
static Status choose_user(Jobs *j, Error *err)
{
    const char *name = j->options.user.n ? str_z(j->a, j->options.user) : "nobody";
    struct passwd pw, *found = NULL;
    char buf[16384];

    if (geteuid() != 0)
        return j->options.user.n ? FAIL(err, E_INVALID, "glue.job_user needs a server that runs as root") : OK;
    getpwnam_r(name, &pw, buf, sizeof buf, &found);
    if (!found)
        return FAIL(err, E_INVALID, "glue.job_user: there is no user '%s'", name);
    if (found->pw_uid == 0)
        return FAIL(err, E_INVALID, "glue.job_user may not be root");
    j->change_user = 1;
    j->uid = found->pw_uid;
    j->gid = found->pw_gid;
    return OK;
}

static Status open_all(Jobs *j, Error *err)
{
    char real[4096];

    if (j->options.max_running <= 0)
        j->options.max_running = RUNNING_DEFAULT;
    if (!realpath(str_z(j->a, j->svc->options.dir), real))
        return FAIL_ERRNO(err, "finding the data folder");
    j->data = str_dup(j->a, str_c(real));
    TRY(choose_user(j, err));
    job_tools(j->a, &j->options, j->change_user, &j->tools);
    job_clean_old(j);
    return job_recover(j, err);
}

Status jobs_open(Service *svc, const JobsOptions *o, Jobs **ret, Error *err)
{
    Arena *a = arena_create();
    Jobs *j = arena_new(a, Jobs);

    *j = (Jobs){ .svc = svc, .a = a, .options = *o };
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->ended, NULL);
    Status s = open_all(j, err);
    if (s != OK) {
        jobs_close(j);
        return s;
    }
    *ret = j;
    return OK;
}

void jobs_reach(Jobs *j, Str lake_url, Str sql_url)
{
    pthread_mutex_lock(&j->lock);
    j->lake_url = str_dup(j->a, lake_url);
    j->sql_url = str_dup(j->a, sql_url);
    pthread_mutex_unlock(&j->lock);
}

void jobs_close(Jobs *j)
{
    if (!j)
        return;
    pthread_mutex_lock(&j->lock);
    j->closing = 1;
    for (JobRun *r = j->runs; r; r = r->next) {
        r->stop = 1;
        job_child_kill(r->pid);
    }
    pthread_cond_broadcast(&j->ended);
    while (j->runs)
        pthread_cond_wait(&j->ended, &j->lock);
    pthread_mutex_unlock(&j->lock);
    pthread_mutex_destroy(&j->lock);
    pthread_cond_destroy(&j->ended);
    arena_destroy(j->a);
}

/* ---- starting --------------------------------------------------------------------------------------------------------------------- */

/* Tried once, at the first run. */
static JobShut way_of_shutting_off(Jobs *j)
{
    pthread_mutex_lock(&j->lock);
    if (j->shut == SHUT_UNKNOWN) {
        j->shut = job_child_probe(j->data.p, j->change_user, j->uid, j->gid);
        if (j->shut == SHUT_USER && !j->options.user.n)
            j->shut = SHUT_OPEN;                      /* nobody is shared with others */
    }
    JobShut s = j->shut;
    pthread_mutex_unlock(&j->lock);
    return s;
}

static Status may_run(Jobs *j, Error *err)
{
    if (str_eq(j->options.mode, S("off")))
        return FAIL(err, E_UNSUPPORTED, "jobs are off here (glue.jobs = off)");
    if (!j->lake_url.n)
        return FAIL(err, E_UNAVAILABLE, "the server is starting");
    if (way_of_shutting_off(j) != SHUT_OPEN || str_eq(j->options.mode, S("unsafe")))
        return OK;
    RAISE(err, E_UNSUPPORTED, "a script cannot be shut off from the data folder on this machine: neither may namespaces be made nor is glue.job_user set");
    error_hint(err, "Run firn as root with glue.job_user, allow user namespaces, or, where every script is trusted, set glue.jobs = unsafe.");
    return E_UNSUPPORTED;
}

static Str new_run_id(Arena *a)
{
    unsigned char raw[32];
    rand_bytes(raw, sizeof raw);
    return str_cat(a, S("jr_"), hex_encode(a, str_n((const char *)raw, sizeof raw)));
}

Status jobs_start(Jobs *j, Arena *a, const JobStart *s, Str *run_id, Error *err)
{
    Json *job, *previous;
    int64_t timeout = s->timeout_minutes;
    Error ignored;

    TRY(jobs_get(j, a, s->job, &job, err));
    if (s->run_id.n)
        TRY(jobs_run_get(j, a, s->job, s->run_id, &previous, err));
    TRY(may_run(j, err));
    TRY(job_role_trusts_us(j, a, job, err));
    if (timeout <= 0)
        timeout = json_get_int(job, "Timeout", TIMEOUT_MINUTES);
    *run_id = new_run_id(a);
    TRY(job_begin(j, s->job, job, s->arguments, s->overrides, *run_id, 0, s->run_id, timeout > 0 ? timeout : TIMEOUT_MINUTES, err));
    if (job_runs_prune(j, s->job, &ignored) != OK)
        log_error(&ignored, "old job runs could not be removed", NULL);
    return OK;
}

Status jobs_stop(Jobs *j, Str job, Str run_id, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *run;
    bool there = false;

    TRY(jobs_run_get(j, a, job, run_id, &run, err));
    pthread_mutex_lock(&j->lock);
    for (JobRun *r = j->runs; r; r = r->next)
        if (str_eq(r->job, job) && str_eq(r->id, run_id)) {
            there = true;
            r->stop = 1;
            job_child_kill(r->pid);
        }
    pthread_cond_broadcast(&j->ended);
    pthread_mutex_unlock(&j->lock);
    return there ? OK : FAIL(err, E_INVALID, "JobRun " STR_FMT " of Job " STR_FMT " has ended: its state is " STR_FMT, STR_ARG(run_id), STR_ARG(job), STR_ARG(json_get_str(run, "JobRunState", (Str){0})));
}

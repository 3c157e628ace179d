/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - jobs and runs as documents of the catalog.
 *
 * Kinds glue.job (key: name) and glue.job-run (key: name, 0x1F, run id), in the API's own shape, times in epoch ms. */
#include "jobs/jobs_int.h"

#include <stdlib.h>

static const char *const JOB = "glue.job", *const RUN = "glue.job-run";

static Str run_key(Arena *a, Str job, Str id) { return str_fmt(a, STR_FMT "\x1F" STR_FMT, STR_ARG(job), STR_ARG(id)); }

static CatChange change(const char *kind, Str key, const Json *value)
{
    return (CatChange){ .kind = CH_DOC, .doc_kind = str_c(kind), .doc_key = key, .doc = (Json *)value };
}

/* ---- jobs ----------------------------------------------------------------------------------------------------------------- */

static Status no_job(Str name, Error *err) { return FAIL(err, E_NOT_FOUND, "Job " STR_FMT " not found.", STR_ARG(name)); }

Status jobs_get(Jobs *j, Arena *a, Str name, Json **ret, Error *err)
{
    Status s = cat_doc_get(j->svc->catalog, a, str_c(JOB), name, ret, err);
    return s == E_NOT_FOUND ? no_job(name, err) : s;
}

Status jobs_put(Jobs *j, Str name, const Json *job, int must_be_new, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatChange ch = change(JOB, name, job);
    Json *old;

    pthread_mutex_lock(&j->lock);                     /* from looking until writing */
    Status there = cat_doc_get(j->svc->catalog, a, str_c(JOB), name, &old, err), s = there;
    if (must_be_new && there == OK)
        s = FAIL(err, E_EXISTS, "Job already exists: " STR_FMT, STR_ARG(name));
    else if (!must_be_new && there == E_NOT_FOUND)
        s = no_job(name, err);
    else if (there == OK || there == E_NOT_FOUND)
        s = cat_commit(j->svc->catalog, &ch, 1, err);
    pthread_mutex_unlock(&j->lock);
    return s;
}

Status jobs_list(Jobs *j, Arena *a, Json **ret, Error *err)
{
    CatDocs docs = {0};

    TRY(cat_doc_list(j->svc->catalog, a, str_c(JOB), (Str){0}, &docs, err));
    *ret = json_array(a);
    for (size_t i = 0; i < docs.n; i++)
        json_push(a, *ret, docs.p[i].value);
    return OK;
}

static Status run_docs(Jobs *j, Arena *a, Str job, CatDocs *ret, Error *err)
{
    return cat_doc_list(j->svc->catalog, a, str_c(RUN), run_key(a, job, (Str){0}), ret, err);
}

Status jobs_delete(Jobs *j, Str name, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatDocs docs = {0};
    Json *job;

    TRY(jobs_get(j, a, name, &job, err));
    TRY(run_docs(j, a, name, &docs, err));
    CatChange *ch = arena_array(a, CatChange, docs.n + 1);
    ch[0] = change(JOB, name, NULL);
    for (size_t i = 0; i < docs.n; i++)
        ch[i + 1] = change(RUN, docs.p[i].key, NULL);
    return cat_commit(j->svc->catalog, ch, docs.n + 1, err);
}

/* ---- runs ------------------------------------------------------------------------------------------------------------------ */

static int newer(const void *x, const void *y)
{
    int64_t a = json_get_int(*(Json *const *)x, "StartedOn", 0), b = json_get_int(*(Json *const *)y, "StartedOn", 0);
    return a < b ? 1 : a > b ? -1 : 0;
}

/* A run that is asked to stop and has not ended. */
static void show_stopping(Jobs *j, Arena *a, Json *run)
{
    Str id = json_get_str(run, "Id", (Str){0});

    if (!str_eq(json_get_str(run, "JobRunState", (Str){0}), S("RUNNING")))
        return;
    pthread_mutex_lock(&j->lock);
    for (JobRun *r = j->runs; r; r = r->next)
        if (r->stop && str_eq(r->id, id))
            json_set(a, run, "JobRunState", json_str(a, S("STOPPING")));
    pthread_mutex_unlock(&j->lock);
}

Status jobs_run_list(Jobs *j, Arena *a, Str job, Json **ret, Error *err)
{
    CatDocs docs = {0};

    TRY(run_docs(j, a, job, &docs, err));
    *ret = json_array(a);
    for (size_t i = 0; i < docs.n; i++) {
        show_stopping(j, a, docs.p[i].value);
        json_push(a, *ret, docs.p[i].value);
    }
    if (docs.n)
        qsort((*ret)->array.p, (*ret)->array.n, sizeof(Json *), newer);
    return OK;
}

Status jobs_run_get(Jobs *j, Arena *a, Str job, Str run_id, Json **ret, Error *err)
{
    Status s = cat_doc_get(j->svc->catalog, a, str_c(RUN), run_key(a, job, run_id), ret, err);
    if (s == OK)
        show_stopping(j, a, *ret);
    return s == E_NOT_FOUND ? FAIL(err, E_NOT_FOUND, "JobRun with id: " STR_FMT " not found for Job: " STR_FMT, STR_ARG(run_id), STR_ARG(job)) : s;
}

void job_run_state(JobRun *r, const char *state) { json_set(r->a, r->record, "JobRunState", json_str(r->a, str_c(state))); }

Status job_run_save(Jobs *j, JobRun *r, Error *err)
{
    CatChange ch = change(RUN, run_key(r->a, r->job, r->id), r->record);

    json_set(r->a, r->record, "LastModifiedOn", json_int(r->a, clock_ms()));
    return cat_commit(j->svc->catalog, &ch, 1, err);
}

/* ---- upkeep ---------------------------------------------------------------------------------------------------------------- */

static bool has_ended(const Json *run)
{
    static const char *const ends[] = { "SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT", "ERROR", "EXPIRED" };
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        if (str_eq(json_get_str(run, "JobRunState", (Str){0}), str_c(ends[i])))
            return true;
    return false;
}

Status job_recover(Jobs *j, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatDocs docs = {0};

    TRY(cat_doc_list(j->svc->catalog, a, str_c(RUN), (Str){0}, &docs, err));
    for (size_t i = 0; i < docs.n; i++) {
        Json *run = docs.p[i].value;
        CatChange ch = change(RUN, docs.p[i].key, run);
        if (has_ended(run))
            continue;
        json_set(a, run, "JobRunState", json_str(a, S("FAILED")));
        json_set(a, run, "ErrorMessage", json_str(a, S("the server stopped during the run")));
        json_set(a, run, "CompletedOn", json_int(a, clock_ms()));
        TRY(cat_commit(j->svc->catalog, &ch, 1, err));
    }
    return OK;
}

Status job_runs_prune(Jobs *j, Str job, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *runs;

    TRY(jobs_run_list(j, a, job, &runs, err));
    for (size_t i = RUNS_KEPT; i < json_len(runs); i++) {
        CatChange ch = change(RUN, run_key(a, job, json_get_str(json_at(runs, i), "Id", (Str){0})), NULL);
        if (has_ended(json_at(runs, i)))
            TRY(cat_commit(j->svc->catalog, &ch, 1, err));
    }
    return OK;
}

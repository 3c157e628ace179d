/* SPDX-License-Identifier: Apache-2.0 */
/* glue_refresh.c - materialized view refresh task runs: started, stopped, shown.
 *
 * Start records the run and answers; a thread of the door carries it out, as the view's definer.  Runs of SQL and of the schedule are shown and
 * stopped here too.
 * Invariants: (1) a run that was answered is in the catalog before the answer; (2) whatever becomes of its thread, the run ends as
 * SUCCEEDED, FAILED or STOPPED; (3) the door does not close before its threads are done. */
#include "door/glue/glue_int.h"

#include <stdlib.h>
#include <time.h>

enum { RUNS_MAX = 32, STOP_TRIES = 100, STOP_PAUSE_NS = 10 * 1000000 };

typedef struct GlueRun {
    struct GlueRuns *all;
    int64_t relation_id;
    int full, stopping;
    char id[40];
    struct GlueRun *next;
} GlueRun;

struct GlueRuns {
    Service *svc;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    GlueRun *list;
    int n, closing;
};

struct GlueRuns *glue_runs_new(Service *svc)
{
    struct GlueRuns *r = calloc(1, sizeof *r);

    if (!r)
        abort();
    r->svc = svc;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->ended, NULL);
    return r;
}

static void pause_a_little(void) { nanosleep(&(struct timespec){ .tv_nsec = STOP_PAUSE_NS }, NULL); }

void glue_runs_free(struct GlueRuns *r)
{
    Error idle;

    pthread_mutex_lock(&r->lock);
    r->closing = 1;
    while (r->n > 0) {
        for (GlueRun *run = r->list; run; run = run->next) {
            run->stopping = 1;
            (void)!refresh_stop(r->svc->refresher, run->relation_id, &idle);
        }
        pthread_mutex_unlock(&r->lock);
        pause_a_little();
        pthread_mutex_lock(&r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    pthread_cond_destroy(&r->ended);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* ---- a run's thread ---------------------------------------------------------------------------------------------------- */

static int is_stopping(void *ctx)
{
    GlueRun *run = ctx;

    pthread_mutex_lock(&run->all->lock);
    int s = run->stopping;
    pthread_mutex_unlock(&run->all->lock);
    return s;
}

static void leave(GlueRun *run)
{
    struct GlueRuns *all = run->all;

    pthread_mutex_lock(&all->lock);
    GlueRun **at = &all->list;
    while (*at != run)
        at = &(*at)->next;
    *at = run->next;
    all->n--;
    pthread_cond_broadcast(&all->ended);
    pthread_mutex_unlock(&all->lock);
    free(run);
}

/* (2): refresh_run records what it began; what it never began is recorded here. */
static void end_unbegun(GlueRun *run, Arena *a, const Error *why)
{
    Catalog *c = run->all->svc->catalog;
    CatRun r = {0};
    Error err;

    if (cat_run_get(c, a, str_c(run->id), &r, &err) != OK || !str_eq(r.status, S("STARTING")))
        return;
    r.status = is_stopping(run) ? S("STOPPED") : S("FAILED");
    r.error = str_c(why->message);
    r.finished_ms = clock_ms();
    CatChange ch = { .kind = CH_RUN, .run = &r };
    if (cat_commit(c, &ch, 1, &err) != OK)
        log_error(&err, "the end of a refresh run could not be recorded", "run", run->id, NULL);
}

static void carry_out(GlueRun *run)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    RefreshRequest q = { .full = run->full, .trigger = S("ON_DEMAND"), .run_id = str_c(run->id), .given_up = is_stopping, .ctx = run };
    RefreshReport report;
    Error err = {0};
    CatMview v;

    Status s = cat_mview_get(run->all->svc->catalog, a, run->relation_id, &v, &err);
    if (s == OK && is_stopping(run))
        s = FAIL(&err, E_CANCELLED, "the refresh was stopped before it began");
    if (s == OK) {
        q.role = v.definer;
        s = refresh_run(run->all->svc->refresher, a, run->relation_id, &q, &report, &err);
    }
    if (s != OK)
        end_unbegun(run, a, &err);
}

static void *run_thread(void *arg)
{
    GlueRun *run = arg;

    carry_out(run);
    leave(run);
    return NULL;
}

/* ---- start ------------------------------------------------------------------------------------------------------------------ */

static Status still_running(AwsCall *c, const CatRelation *r, Error *err)
{
    CatRuns runs = {0};

    TRY(cat_run_list(glue_catalog(c), c->a, r->id, 10, &runs, err));
    for vec_each(CatRun, run, &runs)
        if (str_eq(run->status, S("STARTING")) || str_eq(run->status, S("RUNNING")))
            return AWS_FAIL(err, E_UNAVAILABLE, "MaterializedViewRefreshTaskRunningException", "A refresh of materialized view " STR_FMT " is already running: "
                            STR_FMT, STR_ARG(r->name), STR_ARG(run->id));
    return OK;
}

static Status record_start(AwsCall *c, const GlueRun *run, const CatMview *v, Error *err)
{
    CatRun r = { .id = str_c(run->id), .relation_id = run->relation_id, .status = S("STARTING"), .role = v->definer, .trigger = S("ON_DEMAND"), .created_ms = clock_ms() };
    CatChange ch = { .kind = CH_RUN, .run = &r };
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

static Status begin_thread(GlueRun *run, Error *err)
{
    pthread_attr_t attr;
    pthread_t t;

    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int rc = pthread_create(&t, &attr, run_thread, run);
    pthread_attr_destroy(&attr);
    return rc == 0 ? OK : error_errno(err, rc, ORIGIN, "a thread for the refresh could not be started");
}

/* Under the lock of all runs: looks, records (1), begins. */
static Status start_locked(AwsCall *c, struct GlueRuns *all, GlueRun *run, const CatRelation *r, const CatMview *v, Error *err)
{
    if (all->closing)
        return FAIL(err, E_UNAVAILABLE, "the server is stopping");
    if (all->n >= RUNS_MAX)
        return AWS_FAIL(err, E_UNAVAILABLE, "ResourceNumberLimitExceededException", "%d refresh runs are under way, more are not started at once", RUNS_MAX);
    TRY(still_running(c, r, err));
    TRY(record_start(c, run, v, err));
    run->next = all->list;
    all->list = run;
    all->n++;
    return OK;
}

static Status start(AwsCall *c, const CatRelation *r, const CatMview *v, Error *err)
{
    struct GlueRuns *all = GLUE_DOOR(c)->runs;
    GlueRun *run = calloc(1, sizeof *run);
    Str id = uuid_v4(c->a);

    if (!run)
        abort();
    *run = (GlueRun){ .all = all, .relation_id = r->id, .full = aws_bool(c, "FullRefresh", false) };
    memcpy(run->id, id.p, min_size(id.n, sizeof run->id - 1));
    pthread_mutex_lock(&all->lock);
    Status s = start_locked(c, all, run, r, v, err);
    pthread_mutex_unlock(&all->lock);
    if (s != OK) {
        free(run);
        return s;
    }
    s = begin_thread(run, err);
    if (s != OK) {
        end_unbegun(run, c->a, err);
        leave(run);
        return s;
    }
    aws_put_str(c, "MaterializedViewRefreshTaskRunId", id);
    return OK;
}

/* AWS names no resource when an identity policy lacks these actions. */
static Status without_resource(AwsCall *c, Status s, Error *err)
{
    if (s != E_DENIED || !strstr(err->message, "no identity-based policy"))
        return s;
    return AWS_FAIL(err, E_DENIED, "AccessDeniedException", "User: " STR_FMT " is not authorized to perform: glue:%s because no identity-based policy allows the glue:%s action",
                    STR_ARG(c->who.arn), c->op->name, c->op->name);
}

static Status find_view(AwsCall *c, CatRelation *r, CatMview *v, Error *err)
{
    GlueName n = {0};

    TRY(without_resource(c, glue_table(c, aws_str(c, "DatabaseName"), aws_str(c, "TableName"), &n, r, err), err));
    if (r->kind != REL_MVIEW)
        return FAIL(err, E_INVALID, "Table " STR_FMT " is not a materialized view.", STR_ARG(r->name));
    TRY(cat_mview_get(glue_catalog(c), c->a, r->id, v, err));
    Ask ask = { .action = ACT_REFRESH, .api = str_fmt(c->a, "glue:%s", c->op->name).p, .iam = str_fmt(c->a, "glue:%s", c->op->name).p, .relation = r,
                .catalog = r->catalog, .namespace = r->namespace, .name = r->name };
    return without_resource(c, access_check(c->access, c->a, &c->who, &ask, err), err);
}

Status glue_start_refresh(AwsCall *c, Error *err)
{
    CatRelation r = {0};
    CatMview v = {0};

    TRY(find_view(c, &r, &v, err));
    return start(c, &r, &v, err);
}

/* ---- stop --------------------------------------------------------------------------------------------------------------------- */

/* Marks the door's own run. 1: marked now; 0: none; -1: it was marked before. */
static int mark(struct GlueRuns *all, int64_t relation_id)
{
    int ret = 0;

    pthread_mutex_lock(&all->lock);
    for (GlueRun *run = all->list; run; run = run->next)
        if (run->relation_id == relation_id) {
            ret = run->stopping ? -1 : 1;
            run->stopping = 1;
        }
    pthread_mutex_unlock(&all->lock);
    return ret;
}

static bool is_listed(struct GlueRuns *all, int64_t relation_id)
{
    bool ret = false;

    pthread_mutex_lock(&all->lock);
    for (GlueRun *run = all->list; run; run = run->next)
        ret |= run->relation_id == relation_id;
    pthread_mutex_unlock(&all->lock);
    return ret;
}

Status glue_stop_refresh(AwsCall *c, Error *err)
{
    struct GlueRuns *all = GLUE_DOOR(c)->runs;
    CatRelation r = {0};
    CatMview v = {0};
    Error idle;

    TRY(find_view(c, &r, &v, err));
    int marked = mark(all, r.id);
    if (marked < 0)
        return AWS_FAIL(err, E_UNAVAILABLE, "MaterializedViewRefreshTaskStoppingException", "The refresh of materialized view " STR_FMT " is already stopping.", STR_ARG(r.name));
    Status s = refresh_stop(GLUE_DOOR(c)->svc->refresher, r.id, &idle);
    for (int i = 0; s != OK && marked && is_listed(all, r.id) && i < STOP_TRIES; i++) {       /* it is about to begin, or about to end */
        pause_a_little();
        s = refresh_stop(GLUE_DOOR(c)->svc->refresher, r.id, &idle);
    }
    if (s != OK && !marked)
        return AWS_FAIL(err, E_UNAVAILABLE, "MaterializedViewRefreshTaskNotRunningException", "No refresh of materialized view " STR_FMT " is running.", STR_ARG(r.name));
    return OK;
}

/* ---- shown ---------------------------------------------------------------------------------------------------------------------- */

static Json *show(AwsCall *c, const CatRun *run, const CatRelation *r)
{
    int64_t updated = run->finished_ms ? run->finished_ms : run->started_ms ? run->started_ms : run->created_ms;
    int64_t worked = run->started_ms && run->finished_ms ? run->finished_ms - run->started_ms : 0;
    const struct { const char *key; Str text; } texts[] = {
        { "CustomerId", cat_account(glue_catalog(c)) }, { "MaterializedViewRefreshTaskRunId", run->id }, { "DatabaseName", r->namespace }, { "TableName", r->name },
        { "CatalogId", r->catalog }, { "Role", run->role }, { "Status", run->status }, { "ErrorMessage", run->error },
        { "RefreshType", str_eq(run->type, S("NONE")) ? (Str){0} : run->type },
    };
    const struct { const char *key; int64_t ms; } times[] = {
        { "CreationTime", run->created_ms }, { "LastUpdated", updated }, { "StartTime", run->started_ms }, { "EndTime", run->finished_ms },
    };
    Json *o = json_object(c->a);

    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (texts[i].text.n > 0)
            json_set(c->a, o, texts[i].key, json_str(c->a, texts[i].text));
    for (size_t i = 0; i < COUNT_OF(times); i++)
        if (times[i].ms)
            json_set(c->a, o, times[i].key, aws_time(c, times[i].ms));
    json_set(c->a, o, "DPUSeconds", json_real(c->a, (double)worked / 1000));      /* one unit works on it */
    json_set(c->a, o, "ProcessedBytes", json_int(c->a, run->bytes));
    return o;
}

Status glue_get_refresh(AwsCall *c, Error *err)
{
    Str id = aws_str(c, "MaterializedViewRefreshTaskRunId");
    CatRelation r = {0};
    CatRun run = {0};
    GlueName n = {0};
    Error gone;

    TRY(without_resource(c, glue_name(c, (Str){0}, (Str){0}, &n, err), err));
    if (cat_run_get(glue_catalog(c), c->a, id, &run, &gone) != OK || cat_relation_by_id(glue_catalog(c), c->a, run.relation_id, &r, &gone) != OK
        || !str_eq(r.catalog, n.w.id))
        return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Materialized view refresh task run " STR_FMT " not found.", STR_ARG(id));
    TRY(without_resource(c, glue_name(c, r.namespace, r.name, &n, err), err));
    aws_put(c, "MaterializedViewRefreshTaskRun", show(c, &run, &r));
    return OK;
}

/* The run that made a view is its creation (Table.Status), not a refresh of it. */
static Status add_runs(AwsCall *c, int64_t relation_id, const GlueName *n, Json *list, Error *err)
{
    Map relations = map_new(c->a);
    CatRuns runs = {0};
    Error gone;

    TRY(cat_run_list(glue_catalog(c), c->a, relation_id, 0, &runs, err));
    for vec_each(CatRun, run, &runs) {
        Str key = str_fmt(c->a, "%lld", (long long)run->relation_id);
        CatRelation *r = map_get(&relations, key);
        if (!r) {
            r = arena_new(c->a, CatRelation);
            if (cat_relation_by_id(glue_catalog(c), c->a, run->relation_id, r, &gone) != OK)
                continue;
            map_put(&relations, key, r);
        }
        if (!str_eq(run->trigger, S("CREATE")) && str_eq(r->catalog, n->w.id) && (n->db.n == 0 || str_eq(r->namespace, n->db)))
            json_push(c->a, list, show(c, run, r));
    }
    return OK;
}

Status glue_list_refreshes(AwsCall *c, Error *err)
{
    Json *list = json_array(c->a);
    CatRelation r = {0};
    GlueName n = {0};
    Error absent;

    TRY(without_resource(c, glue_name(c, aws_str(c, "DatabaseName"), aws_str(c, "TableName"), &n, err), err));
    bool known = n.table.n == 0 || cat_relation_get(glue_catalog(c), c->a, n.w.id, n.db, n.table, &r, &absent) == OK;
    if (known)
        TRY(add_runs(c, n.table.n > 0 ? r.id : 0, &n, list, err));
    return aws_page(c, "MaterializedViewRefreshTaskRuns", list, "NextToken", "MaxResults", PAGE_RUNS, "NextToken", err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* refresh.c - the life of a run: recorded, executed, published or failed.
 *
 * Invariants: (1) one run a view at a time in this process, and one process a data folder; (2) rows, record and evidence
 * become visible in one catalog transaction; (3) a failed run leaves the view as it was and says why in its record. */
#include "refresh/refresh_int.h"

#include <stdlib.h>
#include <time.h>

Refresher *refresher_new(Lake *l, DuckEngine *e, const RefresherOptions *o)
{
    Refresher *r = calloc(1, sizeof *r);
    *r = (Refresher){ .lake = l, .engine = e };
    if (o)
        r->options = *o;
    if (r->options.full_share <= 0)
        r->options.full_share = 0.5;
    if (!r->options.rewrite_rows)
        r->options.rewrite_rows = 50000;
    if (!r->options.max_files)
        r->options.max_files = 32;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->done, NULL);
    return r;
}

void refresher_hooks(Refresher *r, const RefreshHooks *h) { r->hooks = *h; }

void refresher_free(Refresher *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->done);
    free(r);
}

/* ---- one at a time (1) ------------------------------------------------------------------------------------------------- */

static Running *find_running(Refresher *r, int64_t id)
{
    Running *n = r->running;
    while (n && n->relation_id != id)
        n = n->next;
    return n;
}

enum { ASK_EVERY_NS = 100 * 1000000 };

/* Until another run ends, or it is time to ask whether the asker still wants this one. */
static void wait_a_little(Refresher *r)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += ASK_EVERY_NS;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&r->done, &r->lock, &ts);
}

static Status enter(Refresher *r, Running *me, const RefreshRequest *q, Error *err)
{
    pthread_mutex_lock(&r->lock);
    while (find_running(r, me->relation_id)) {
        if (q->no_wait || (q->given_up && q->given_up(q->ctx))) {
            pthread_mutex_unlock(&r->lock);
            return q->no_wait ? FAIL(err, E_CONFLICT, "a refresh of the view is running already")
                              : FAIL(err, E_CANCELLED, "canceling statement due to user request, while it waited for another refresh of the view");
        }
        wait_a_little(r);
    }
    me->next = r->running;
    r->running = me;
    pthread_mutex_unlock(&r->lock);
    return OK;
}

static void leave(Refresher *r, Running *me)
{
    pthread_mutex_lock(&r->lock);
    Running **at = &r->running;
    while (*at != me)
        at = &(*at)->next;
    *at = me->next;
    pthread_cond_broadcast(&r->done);
    pthread_mutex_unlock(&r->lock);
}

Status refresh_stop(Refresher *r, int64_t relation_id, Error *err)
{
    pthread_mutex_lock(&r->lock);
    Running *n = find_running(r, relation_id);
    if (n) {
        n->stopped = 1;
        if (n->conn)
            duck_interrupt(n->conn);
    }
    pthread_mutex_unlock(&r->lock);
    return n ? OK : FAIL(err, E_NOT_FOUND, "no refresh of the view is running");
}

RefreshCounts refresh_counts(Refresher *r)
{
    pthread_mutex_lock(&r->lock);
    RefreshCounts c = r->counts;
    pthread_mutex_unlock(&r->lock);
    return c;
}

static void count(Refresher *r, Status s, RunType type, int64_t us)
{
    pthread_mutex_lock(&r->lock);
    int64_t *n = s != OK ? &r->counts.failed : type == RUN_FULL ? &r->counts.full : type == RUN_NONE ? &r->counts.none : &r->counts.incremental;
    ++*n;
    r->counts.us += us;
    pthread_mutex_unlock(&r->lock);
}

static int was_stopped(Refresher *r, Running *me)
{
    pthread_mutex_lock(&r->lock);
    int s = me->stopped;
    pthread_mutex_unlock(&r->lock);
    return s;
}

/* Asked between the steps: an interrupt reaches the engine only while it works. */
static Status go_on(Job *j, Error *err)
{
    return j->me && was_stopped(j->r, j->me) ? FAIL(err, E_CANCELLED, "the refresh was stopped") : OK;
}

static void attach(Refresher *r, Running *me, DuckConn *c)
{
    pthread_mutex_lock(&r->lock);
    me->conn = c;
    pthread_mutex_unlock(&r->lock);
}

/* ---- records -------------------------------------------------------------------------------------------------------------- */

void job_tell(Job *j)
{
    const RefreshHooks *h = &j->r->hooks;
    if (h->told)
        h->told(h->ctx, &j->table.relation, &j->mview, &j->run);
}

static Status authorize(Job *j, Error *err)
{
    const RefreshHooks *h = &j->r->hooks;
    return h->authorize ? h->authorize(h->ctx, j->a, &j->table.relation, &j->mview, err) : OK;
}

static Status save_run(Refresher *r, CatRun *run, Error *err)
{
    CatChange ch = { .kind = CH_RUN, .run = run };
    return cat_commit(lake_catalog(r->lake), &ch, 1, err);
}

static const char *const type_names[] = { [RUN_NONE] = "NONE", [RUN_INCREMENTAL] = "INCREMENTAL", [RUN_FULL] = "FULL" };

Str job_refresh_state(Job *j)
{
    Json *state = json_object(j->a), *list = json_array(j->a);

    json_set(j->a, state, "view-version-id", json_int(j->a, j->mview.view_version));
    json_set(j->a, state, "refresh-start-timestamp-ms", json_int(j->a, j->started_ms));
    json_set(j->a, state, "source-states", list);
    for (size_t i = 0; i < j->bound.sources.n; i++) {
        const LakeSource *s = j->bound.sources.p[i];
        Json *o = json_object(j->a), *ns = json_array(j->a);
        StrVec levels = {0};
        str_split(j->a, s->table.relation.namespace, 0x1F, &levels);
        for (size_t k = 0; k < levels.n; k++)
            json_push(j->a, ns, json_str(j->a, levels.p[k]));
        json_set(j->a, o, "type", json_str(j->a, S("table")));
        json_set(j->a, o, "name", json_str(j->a, s->table.relation.name));
        json_set(j->a, o, "namespace", ns);
        json_set(j->a, o, "catalog", json_str(j->a, s->table.relation.catalog));
        json_set(j->a, o, "uuid", json_str(j->a, s->table.meta->uuid));
        json_set(j->a, o, "snapshot-id", json_int(j->a, s->snapshot ? s->snapshot->id : -1));
        json_push(j->a, list, o);
    }
    return json_text(j->a, state);
}

static Json *sources_record(Job *j)
{
    Json *list = json_array(j->a);
    for (size_t i = 0; i < j->bound.sources.n; i++) {
        const LakeSource *s = j->bound.sources.p[i];
        Json *o = json_object(j->a);
        json_set(j->a, o, "catalog", json_str(j->a, s->table.relation.catalog));
        json_set(j->a, o, "namespace", json_str(j->a, s->table.relation.namespace));
        json_set(j->a, o, "name", json_str(j->a, s->table.relation.name));
        json_set(j->a, o, "uuid", json_str(j->a, s->table.meta->uuid));
        json_set(j->a, o, "snapshot-id", json_int(j->a, s->snapshot ? s->snapshot->id : -1));
        json_set(j->a, o, "metadata-location", json_str(j->a, s->table.relation.metadata_location));
        json_set(j->a, o, "source-type", json_str(j->a, lake_source_type(&s->table)));
        json_push(j->a, list, o);
    }
    return list;
}

/* What the catalog transaction holds beside the pointer; completed in job_late when the snapshot is known. */
Status job_publish(Job *j, CatChange *also, size_t *nalso, Error *err UNUSED)
{
    also[0] = (CatChange){ .kind = CH_MVIEW, .mview = &j->mview };
    also[1] = (CatChange){ .kind = CH_RUN, .run = &j->run };
    also[2] = (CatChange){ .kind = CH_EVIDENCE, .evidence = &j->evidence };
    *nalso = j->type == RUN_NONE ? 2 : 3;            /* nothing new to prove: the last record stands */
    return OK;
}

/* Bytes of what the run read of its sources and of what it wrote. */
static int64_t bytes_processed(const Job *j)
{
    int64_t sum = 0, size;

    for (size_t i = 0; i < j->bound.sources.n; i++) {
        const IceSnapshot *s = j->bound.sources.p[i]->snapshot;
        if (j->type == RUN_INCREMENTAL)
            sum += j->deltas[i].relation.bytes;
        else if (j->type == RUN_FULL && s && str_to_i64(props_get(&s->summary, S("total-files-size"), (Str){0}), &size))
            sum += size;
    }
    for (size_t i = 0; i < j->files.n; i++)
        sum += j->files.p[i].file.size;
    return sum;
}

Status job_late(void *ctx, Arena *a, const LakeTable *next, CatChange *also UNUSED, size_t nalso UNUSED, Error *err)
{
    Job *j = ctx;
    const IceSnapshot *s = ice_current_snapshot(next->meta);

    j->run.status = S("SUCCEEDED");
    j->run.type = str_c(type_names[j->type]);
    j->run.reason = j->reason;
    j->run.rows_in = j->rows_in;
    j->run.rows_changed = j->rows_changed;
    j->run.bytes = bytes_processed(j);
    j->run.finished_ms = clock_ms();
    j->run.snapshot_id = s ? s->id : 0;
    j->mview.state = S("ACTIVE");
    j->mview.quarantine = (Str){0};
    j->mview.snapshot_id = s ? s->id : 0;
    j->mview.metadata_location = next->relation.metadata_location;
    j->mview.sources = sources_record(j);
    j->mview.last_type = j->run.type;
    j->mview.last_reason = j->reason;
    j->mview.last_run = j->run.id;
    j->mview.last_refresh_ms = j->run.finished_ms;
    (void)a;
    return j->type == RUN_NONE ? OK : evidence_make(j, next, &j->evidence, err);
}

/* ---- committing ----------------------------------------------------------------------------------------------------------------- */

/* The view may have moved under us only for a regular view: then the run's base is gone and the rows are decided anew by the caller. */
static Status prepare(void *ctx, Arena *a, const LakeTable *base, IceUpdates *ups, IceRequirements *rqs, StrVec *written, Error *err)
{
    Job *j = ctx;
    const IceSnapshot *now = ice_current_snapshot(base->meta), *was = ice_current_snapshot(j->table.meta);

    if ((now ? now->id : 0) != (was ? was->id : 0))
        return FAIL(err, E_CONFLICT, "the view was written by someone else while it was refreshed");
    for (size_t i = 0; i < j->schema_updates.n; i++)
        vec_push(a, ups, j->schema_updates.p[i]);
    return ice_change_prepare(a, lake_store(j->r->lake), base->meta, &j->change, clock_ms(), ups, rqs, written, err);
}

static Status no_prepare(void *ctx UNUSED, Arena *a UNUSED, const LakeTable *base UNUSED, IceUpdates *ups UNUSED, IceRequirements *rqs UNUSED, StrVec *written UNUSED, Error *err UNUSED)
{
    return OK;
}

static Status publish(Job *j, Error *err)
{
    CatChange also[3];
    size_t nalso;
    LakeTable next;
    bool files = j->change.replace_all || j->change.add_data.n || j->change.add_deletes.n || j->change.remove_data.n;

    if (j->mend)
        return job_mend_publish(j, err);
    TRY(job_publish(j, also, &nalso, err));
    if (files) {
        props_set(j->a, &j->change.summary, S("refresh-state"), job_refresh_state(j));
        props_set(j->a, &j->change.summary, S("firn.refresh-type"), str_c(type_names[j->type]));
        props_set(j->a, &j->change.summary, S("firn.run-id"), j->run.id);
    }
    Status s = lake_commit_with(j->r->lake, j->a, &j->table, files ? prepare : no_prepare, job_late, j, also, nalso, &next, err);
    if (s != OK)
        lake_discard(j->r->lake, &j->files);
    return s;
}

static Status check_columns(Job *j, Error *err);

static Status execute(Job *j, const RefreshRequest *q, Error *err)
{
    Props catalogs = catalogs_of(j->a, &j->mview);
    IceFields *hidden;

    TRY(refresh_hidden_fields(j->a, &j->mview, &hidden, err));
    j->hidden = hidden;
    TRY(view_bind(j->r, j->a, j->c, j->mview.definition, str_eq(j->mview.dialect, S("spark")) ? DIALECT_SPARK : DIALECT_POSTGRES, &catalogs, j->mview.definer,
                  j->mview.relation_id, &j->bound, err));
    if (j->mend)
        TRY(job_mend(j, err));
    TRY(check_columns(j, err));
    TRY(job_decide(j, q->full, err));
    TRY(go_on(j, err));
    if (j->type == RUN_NONE)
        return publish(j, err);
    Status s = j->type == RUN_FULL ? job_full(j, err) : job_incremental(j, err);
    if (s == OK)
        s = go_on(j, err);
    if (s != OK) {
        lake_discard(j->r->lake, &j->files);
        return s;
    }
    return publish(j, err);
}

/* ---- columns that grew ------------------------------------------------------------------------------------------------------------- */

static Status widen(Job *j, const IceField *f, const IceType *to, IceSchema *next, Error *err)
{
    if (!ice_type_promotes(f->type, to, j->table.meta->format_version))
        return FAIL(err, E_INVALID, "column '" STR_FMT "' of the view would change from %s to %s: create the view anew", STR_ARG(f->name),
                    json_text(j->a, ice_type_json(j->a, f->type)).p, json_text(j->a, ice_type_json(j->a, to)).p);
    for (size_t i = 0; i < next->fields.n; i++)
        if (next->fields.p[i].id == f->id) {
            next->fields.p[i].type = arena_new(j->a, IceType);
            *next->fields.p[i].type = *to;
        }
    j->schema_changes = 1;
    return OK;
}

/* Nested types keep their field ids: only their shape is compared. */
static bool same_types(const IceType *x, const IceType *y)
{
    if (x->kind != y->kind || x->precision != y->precision || x->scale != y->scale || x->fields.n != y->fields.n)
        return false;
    for (size_t i = 0; i < x->fields.n; i++)
        if (!same_types(x->fields.p[i].type, y->fields.p[i].type))
            return false;
    return true;
}

static Status check_columns(Job *j, Error *err)
{
    const IceSchema *now = ice_current_schema(j->table.meta);
    const IvmColumns *cols = ivm_visible(j->bound.view);
    IceSchema *next = arena_new(j->a, IceSchema);

    if (now->fields.n != cols->n)
        return FAIL(err, E_INVALID, "the view has %zu columns, its definition gives %zu: create the view anew", now->fields.n, cols->n);
    *next = (IceSchema){ .id = -1 };
    for (size_t i = 0; i < now->fields.n; i++)
        vec_push(j->a, &next->fields, now->fields.p[i]);
    for (size_t i = 0; i < cols->n; i++) {
        IceType *t;
        int32_t ids = 1;
        TRY(lake_ice_type(j->a, &cols->p[i].type, &ids, &t, err));
        if (!same_types(now->fields.p[i].type, t))
            TRY(widen(j, &now->fields.p[i], t, next, err));
    }
    if (!j->schema_changes)
        return OK;
    int changed;
    IceMetadata *meta;
    vec_push(j->a, &j->schema_updates, ((IceUpdate){ .kind = UP_ADD_SCHEMA, .schema = next }));
    vec_push(j->a, &j->schema_updates, ((IceUpdate){ .kind = UP_SET_CURRENT_SCHEMA, .number = -1 }));
    TRY(ice_metadata_apply(j->a, j->table.meta, j->table.relation.metadata_location, &j->schema_updates, clock_ms(), &meta, &changed, err));
    j->table.meta = meta;                            /* rows are written as the widened schema */
    j->change.schema_id = SOME_I32(meta->current_schema_id);
    return OK;
}

/* ---- a run --------------------------------------------------------------------------------------------------------------------------- */

static void fail_run(Job *j, Running *me, const Error *why)
{
    Error ignored;

    char *text = str_z(j->a, str_c(why->message));

    store_hide_paths(lake_store(j->r->lake), text);
    j->run.status = was_stopped(j->r, me) ? S("STOPPED") : S("FAILED");
    j->run.error = str_c(text);
    j->run.finished_ms = clock_ms();
    j->run.type = (Str){0};
    if (save_run(j->r, &j->run, &ignored) != OK)
        log_error(&ignored, "a refresh run could not be recorded", "run", str_z(j->a, j->run.id), NULL);
    else if (j->mview.relation_id)
        job_tell(j);
}

static Status load(Job *j, int64_t relation_id, int full, Error *err)
{
    CatRelation rel;

    TRY(cat_relation_by_id(lake_catalog(j->r->lake), j->a, relation_id, &rel, err));
    TRY(cat_mview_get(lake_catalog(j->r->lake), j->a, relation_id, &j->mview, err));
    j->table.relation = rel;
    TRY(job_examine(j, full, err));
    return j->mend ? OK : lake_open_relation(j->r->lake, j->a, &rel, &j->table, err);
}

static Status run_loaded(Job *j, Running *me, const RefreshRequest *q, Error *err)
{
    CLEANUP(duck_disconnectp) DuckConn *c = NULL;

    TRY(load(j, j->run.relation_id, q->full, err));
    TRY(authorize(j, err));                          /* a run that may not begin never was RUNNING */
    j->run.status = S("RUNNING");
    j->run.started_ms = clock_ms();
    TRY(save_run(j->r, &j->run, err));
    job_tell(j);
    if (!q->conn)
        TRY(duck_connect(j->r->engine, &c, err));
    j->c = q->conn ? q->conn : c;
    attach(j->r, me, j->c);
    Status s = execute(j, q, err);
    attach(j->r, me, NULL);
    return s;
}

Status refresh_run(Refresher *r, Arena *a, int64_t relation_id, const RefreshRequest *q, RefreshReport *ret, Error *err)
{
    Running me = { .relation_id = relation_id };
    int64_t begun = clock_mono_us();

    TRY(enter(r, &me, q, err));
    Job j = { .r = r, .me = &me, .a = a, .started_ms = clock_ms() };
    j.run = (CatRun){ .id = q->run_id.n ? q->run_id : uuid_v4(a), .relation_id = relation_id, .status = S("STARTING"), .role = q->role,
                      .trigger = q->trigger, .created_ms = j.started_ms };
    Status s = run_loaded(&j, &me, q, err);
    if (s != OK) {
        if (was_stopped(r, &me))
            s = FAIL(err, E_CANCELLED, "the refresh was stopped");
        fail_run(&j, &me, err);
    } else {
        job_tell(&j);
    }
    leave(r, &me);
    count(r, s, j.type, clock_mono_us() - begun);
    if (s != OK)
        return s;
    *ret = (RefreshReport){ .run_id = j.run.id, .type = j.run.type, .reason = j.reason, .rows_in = j.rows_in, .rows_changed = j.rows_changed,
                            .snapshot_id = j.run.snapshot_id, .started_ms = j.started_ms, .duration_us = clock_mono_us() - begun,
                            .constructs = *ivm_constructs(j.bound.view) };
    return OK;
}

Status refresh_recover(Refresher *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatRuns runs = {0};

    TRY(cat_run_recover(lake_catalog(r->lake), a, &runs, err));
    for (size_t i = 0; i < runs.n; i++)
        log_event(LOG_WARN, "a refresh did not survive the last stop", "run", str_z(a, runs.p[i].id), NULL);
    return OK;
}

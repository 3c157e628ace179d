/* SPDX-License-Identifier: Apache-2.0 */
/* upkeep.c - the rounds of maintenance, what is wished for, and how it went.
 *
 * A round visits each table of each table bucket and runs the types that are enabled.  A type is passed over while the table and what is wished for are as
 * its last success left them and less than an interval has gone by, so a round costs a look per table.
 * Invariants: (1) the record of a job is written by the thread alone; (2) a view whose integrity check fails is left alone until it is repaired. */
#include "service/tablebuckets.h"
#include "service/upkeep_int.h"

#include <stdlib.h>
#include <time.h>

struct Upkeep {
    Service *svc;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    DuckConn *conn;                   /* of the job that runs; NULL: none */
    int started, stop, woken;
};

/* ---- what is wished for --------------------------------------------------------------------------------------------------- */

static void put_int(Arena *a, Json *o, const char *key, int64_t n)
{
    if (!json_get(o, key))
        json_set(a, o, key, json_int(a, n));
}

Json *upkeep_wanted(Arena *a, const Json *config, const char *type)
{
    const Json *stored = json_get(json_get(config, "maintenance"), type), *given = json_get(json_get(stored, "settings"), type);
    Json *o = json_object(a), *all = json_object(a), *s = given ? json_copy(a, given) : json_object(a);

    if (strcmp(type, UPKEEP_COMPACTION) == 0) {
        put_int(a, s, "targetFileSizeMB", 512);
        if (!json_get(s, "strategy"))
            json_set(a, s, "strategy", json_str(a, S("auto")));
    } else if (strcmp(type, UPKEEP_SNAPSHOTS) == 0) {
        put_int(a, s, "minSnapshotsToKeep", 1);
        put_int(a, s, "maxSnapshotAgeHours", 120);
    } else {
        put_int(a, s, "unreferencedDays", 3);
        put_int(a, s, "nonCurrentDays", 10);
    }
    json_set(a, o, "status", json_str(a, json_get_str(stored, "status", S("enabled"))));
    json_set(a, all, type, s);
    json_set(a, o, "settings", all);
    return o;
}

Status upkeep_check(Arena *a UNUSED, const char *type, const Json *value, Error *err)
{
    const Json *settings = json_get(value, "settings"), *mine = json_get(settings, type);

    if (settings && (!mine || json_len(settings) != 1))
        return FAIL(err, E_INVALID, "The specified settings are not those of %s.", type);
    if (str_eq(json_get_str(mine, "strategy", (Str){0}), S("z-order")))
        return FAIL(err, E_UNSUPPORTED, "The specified strategy is not supported: files are compacted by binpack or sort, not by z-order.");
    return OK;
}

Status upkeep_check_table(Service *s, Arena *a, const CatRelation *r, const Json *value, Error *err)
{
    const Json *mine = json_get(json_get(value, "settings"), UPKEEP_COMPACTION);
    LakeTable t;

    if (!str_eq(json_get_str(mine, "strategy", (Str){0}), S("sort")) || !r->metadata_location.n)
        return OK;
    TRY(lake_open_relation(s->lake, a, r, &t, err));
    for (size_t i = 0; i < t.meta->orders.n; i++)
        if (t.meta->orders.p[i]->id == t.meta->default_order_id && t.meta->orders.p[i]->fields.n)
            return OK;
    return FAIL(err, E_INVALID, "The specified strategy is not valid: the table has no sort order.");
}

/* ---- records ------------------------------------------------------------------------------------------------------------------ */

Status upkeep_status(Service *s, Arena *a, Str arn, Json **ret, Error *err)
{
    Status st = cat_doc_get(s->catalog, a, S(DOC_S3TABLES_STATUS), arn, ret, err);
    if (st != E_NOT_FOUND)
        return st;
    *ret = json_object(a);
    return OK;
}

static Json *outcome(Arena *a, Status st, Str skipped, const Error *why, Str seen)
{
    Json *o = json_object(a);

    json_set(a, o, "status", json_str(a, st != OK ? S("Failed") : skipped.n ? S("Disabled") : S("Successful")));
    json_set(a, o, "last-run-ms", json_int(a, clock_ms()));
    if (st != OK || skipped.n)
        json_set(a, o, "message", json_str(a, st != OK ? str_dup(a, str_c(why->message)) : skipped));
    else
        json_set(a, o, "seen", json_str(a, seen));
    return o;
}

/* ---- one table ------------------------------------------------------------------------------------------------------------------ */

static const struct { const char *type; UpkeepWork work; bool by_bucket; } jobs[] = {
    { UPKEEP_SNAPSHOTS, upkeep_expire, false },
    { UPKEEP_COMPACTION, upkeep_compact, false },
    { UPKEEP_UNREFERENCED, upkeep_remove_unreferenced, true },
};

static bool is_due(Upkeep *u, const Json *record, Str now)
{
    int64_t age = clock_ms() - json_get_int(record, "last-run-ms", 0);
    return !str_eq(json_get_str(record, "seen", (Str){0}), now) || age >= u->svc->options.upkeep_s * 1000;
}

static void attach(Upkeep *u, DuckConn *conn)
{
    pthread_mutex_lock(&u->lock);
    u->conn = conn;
    pthread_mutex_unlock(&u->lock);
}

/* Maintenance copies rows: what lies outside of the table's storage is not the table's to copy. */
static Status nothing_outside(void *ctx UNUSED, Arena *a UNUSED, LakeMay what UNUSED, Str bucket UNUSED, Str key UNUSED, Error *err)
{
    return FAIL(err, E_DENIED, "maintenance reads no files outside of a table's storage");
}

static const LakeRights inside_only = { .may = nothing_outside };

static Status run_job(Upkeep *u, UpkeepJob *j, UpkeepWork work, Str *skipped, Error *err)
{
    CLEANUP(duck_disconnectp) DuckConn *conn = NULL;

    TRY(cat_relation_by_id(u->svc->catalog, j->a, j->table.relation.id, &j->table.relation, err));      /* the job before may have moved it */
    TRY(cat_intact_check(&j->table.relation, err));                                                    /* (2) */
    TRY(lake_open_relation(u->svc->lake, j->a, &j->table.relation, &j->table, err));
    j->table.rights = &inside_only;
    TRY(duck_connect(u->svc->engine, &conn, err));
    j->conn = conn;
    attach(u, conn);
    Status s = work(j, skipped, err);
    attach(u, NULL);
    return s;
}

static bool stopped(Upkeep *u)
{
    pthread_mutex_lock(&u->lock);
    bool stop = u->stop;
    pthread_mutex_unlock(&u->lock);
    return stop;
}

static Str seen_now(Arena *a, const CatRelation *r, const Json *wanted)
{
    return str_fmt(a, STR_FMT " " STR_FMT, STR_ARG(r->metadata_location), STR_ARG(hash_hex(a, HASH_SHA256, json_text(a, wanted))));
}

static Status visit(Upkeep *u, Arena *a, const CatRelation *r, const Json *bucket_config, Error *err)
{
    Str arn = cat_relation_arn(u->svc->catalog, a, r);
    UpkeepJob j = { .svc = u->svc, .a = a, .table = { .relation = *r } };
    Json *config = NULL, *record = NULL;
    bool changed = false;

    Status s = cat_doc_get(u->svc->catalog, a, S(DOC_S3TABLES_CONFIG), arn, &config, err);
    if (s != OK && s != E_NOT_FOUND)
        return s;
    TRY(upkeep_status(u->svc, a, arn, &record, err));
    for (size_t i = 0; i < COUNT_OF(jobs) && !stopped(u); i++) {
        const Json *wanted = upkeep_wanted(a, jobs[i].by_bucket ? bucket_config : config, jobs[i].type);
        Str skipped = {0}, was = seen_now(a, &j.table.relation, wanted);
        Error why;
        if (str_eq(json_get_str(wanted, "status", (Str){0}), S("disabled")) || !is_due(u, json_get(record, jobs[i].type), was))
            continue;
        j.settings = json_get(json_get(wanted, "settings"), jobs[i].type);
        s = run_job(u, &j, jobs[i].work, &skipped, &why);
        if (stopped(u))
            break;
        if (s == OK && cat_relation_by_id(u->svc->catalog, a, r->id, &j.table.relation, &why) == OK)
            was = seen_now(a, &j.table.relation, wanted);
        json_set(a, record, jobs[i].type, outcome(a, s, skipped, &why, was));
        changed = true;
    }
    CatChange ch = { .kind = CH_DOC, .doc_kind = S(DOC_S3TABLES_STATUS), .doc_key = arn, .doc = record };
    return changed ? cat_commit(u->svc->catalog, &ch, 1, err) : OK;
}

/* ---- rounds ----------------------------------------------------------------------------------------------------------------------- */

static Status visit_namespace(Upkeep *u, Arena *a, const CatNamespace *ns, const Json *bucket_config, Error *err)
{
    CatRelations all = {0};
    Error why;

    TRY(cat_relation_list(u->svc->catalog, a, ns->catalog, ns->name, 1 << REL_TABLE | 1 << REL_MVIEW, (CatPage){0}, &all, err));
    for vec_each(CatRelation, r, &all) {
        CLEANUP(arena_destroyp) Arena *one = arena_create();
        if (stopped(u))
            return OK;
        if (r->metadata_location.n && visit(u, one, r, bucket_config, &why) != OK && why.code != E_NOT_FOUND)      /* dropped meanwhile */
            log_error(&why, "maintenance of a table could not be recorded", "table", str_z(a, r->name), NULL);
    }
    return OK;
}

static Status visit_bucket(Upkeep *u, Arena *a, const CatWarehouse *w, Error *err)
{
    CatNamespaces all = {0};
    Json *config = NULL;

    Status s = cat_doc_get(u->svc->catalog, a, S(DOC_S3TABLES_CONFIG), w->arn, &config, err);
    if (s != OK && s != E_NOT_FOUND)
        return s;
    TRY(cat_namespace_list(u->svc->catalog, a, w->id, (Str){0}, (CatPage){0}, &all, err));
    for vec_each(CatNamespace, ns, &all)
        TRY(visit_namespace(u, a, ns, config, err));
    return OK;
}

static Status go_round(Upkeep *u, Arena *a, Error *err)
{
    CatWarehouses all = {0};
    Error why;

    TRY(cat_warehouse_list(u->svc->catalog, a, &all, err));
    for vec_each(CatWarehouse, w, &all)
        if (str_eq(w->kind, S("table_bucket")) && visit_bucket(u, a, w, &why) != OK && why.code != E_NOT_FOUND)
            log_error(&why, "maintenance of a table bucket failed", "bucket", str_z(a, w->bucket), NULL);
    upkeep_remove_staged(u->svc, a);
    return OK;
}

/* Until the interval is over or someone wakes the thread. false: the end. */
static bool wait_for_round(Upkeep *u)
{
    int64_t until = clock_mono_us() + u->svc->options.upkeep_s * 1000000;
    struct timespec ts = { .tv_sec = until / 1000000, .tv_nsec = until % 1000000 * 1000 };

    pthread_mutex_lock(&u->lock);
    while (!u->stop && !u->woken && clock_mono_us() < until)
        pthread_cond_timedwait(&u->wake, &u->lock, &ts);
    u->woken = 0;
    bool stop = u->stop;
    pthread_mutex_unlock(&u->lock);
    return !stop;
}

static void *work(void *arg)
{
    Upkeep *u = arg;

    while (wait_for_round(u)) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        Error err;
        if (go_round(u, a, &err) != OK)
            log_error(&err, "a round of maintenance failed", NULL);
    }
    return NULL;
}

/* ---- life --------------------------------------------------------------------------------------------------------------------------- */

Status upkeep_start(Service *s, Upkeep **ret, Error *err)
{
    Upkeep *u = calloc(1, sizeof *u);
    pthread_condattr_t attr;

    if (!u)
        abort();
    *u = (Upkeep){ .svc = s };
    pthread_mutex_init(&u->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&u->wake, &attr);
    pthread_condattr_destroy(&attr);
    *ret = u;
    if (s->options.upkeep_s <= 0)
        return OK;
    if (pthread_create(&u->thread, NULL, work, u) != 0)
        return FAIL(err, E_IO, "the thread of maintenance cannot be started");
    u->started = 1;
    return OK;
}

void upkeep_wake(Upkeep *u)
{
    pthread_mutex_lock(&u->lock);
    u->woken = 1;
    pthread_cond_broadcast(&u->wake);
    pthread_mutex_unlock(&u->lock);
}

void upkeep_stop(Upkeep *u)
{
    if (!u)
        return;
    pthread_mutex_lock(&u->lock);
    u->stop = 1;
    if (u->conn)
        duck_interrupt(u->conn);
    pthread_cond_broadcast(&u->wake);
    pthread_mutex_unlock(&u->lock);
    if (u->started)
        pthread_join(u->thread, NULL);
    pthread_mutex_destroy(&u->lock);
    pthread_cond_destroy(&u->wake);
    free(u);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - sources under way: a thread each, started, stalled and tried again, paused, stopped.
 *
 * The thread calls its connector's run until it is told to stop.  An error is a stall: the status says it, and the pause before the next attempt doubles up to a minute;
 * an attempt that committed something begins anew.  What the connector left of a batch never happened, so the next attempt goes on from the last note.
 * Invariants: (1) a run is freed by whoever took it out of the list, after its thread has ended; (2) the list's lock is never held while a thread is waited for. */
#include "source/source_int.h"

#include <stdlib.h>
#include <time.h>

enum { INTERVAL_NUMBER_MAX = 3600000 };

static const SourceConnector *const connectors[] = { &source_load_generator, &source_postgres, &source_kafka, &source_webhooks, &source_iceberg };

const SourceConnector *source_connector(Str type)
{
    for (size_t i = 0; i < COUNT_OF(connectors); i++)
        if (str_eq(type, str_c(connectors[i]->type)))
            return connectors[i];
    return NULL;
}

bool source_interval(Str text, int64_t *us)
{
    static const struct { const char *unit; int64_t us; } units[] = { { "ms", 1000 }, { "milli", 1000 }, { "s", 1000000 }, { "m", 60000000 }, { "h", INT64_C(3600000000) } };
    size_t n = 0;
    int64_t v;

    while (n < text.n && text.p[n] >= '0' && text.p[n] <= '9')
        n++;
    Str unit = str_trim(str_from(text, n));
    for (size_t i = 0; str_to_i64(str_sub(text, 0, n), &v) && v <= INTERVAL_NUMBER_MAX && i < COUNT_OF(units); i++)
        if (str_starts(unit, str_c(units[i].unit))) {
            *us = v * units[i].us;
            return true;
        }
    return false;
}

/* ---- the thread --------------------------------------------------------------------------------------------------------- */

static bool stopped(SourceRun *r)
{
    pthread_mutex_lock(&r->lock);
    bool stop = r->stop;
    pthread_mutex_unlock(&r->lock);
    return stop;
}

bool source_stopping(const SourceRun *run)
{
    SourceRun *r = (SourceRun *)(uintptr_t)run;
    pthread_mutex_lock(&r->lock);
    bool stop = r->stop || r->pause;
    pthread_mutex_unlock(&r->lock);
    return stop;
}

static struct timespec after_us(int64_t us)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    int64_t ns = ts.tv_nsec + us % 1000000 * 1000;
    ts.tv_sec += us / 1000000 + ns / 1000000000;
    ts.tv_nsec = ns % 1000000000;
    return ts;
}

bool source_wait(SourceRun *r, int64_t us)
{
    struct timespec until = after_us(max_i64(us, 0));
    int late = 0;

    pthread_mutex_lock(&r->lock);
    while (!r->stop && !r->pause && !late)
        late = pthread_cond_timedwait(&r->wake, &r->lock, &until);
    bool go_on = !r->stop && !r->pause;
    pthread_mutex_unlock(&r->lock);
    return go_on;
}

static void wait_paused(SourceRun *r)
{
    pthread_mutex_lock(&r->lock);
    bool pause = r->pause && !r->stop;
    pthread_mutex_unlock(&r->lock);
    if (!pause)
        return;
    source_status(r, "paused", (Str){0}, (Str){0});
    pthread_mutex_lock(&r->lock);
    while (r->pause && !r->stop)
        pthread_cond_wait(&r->wake, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

/* For the time when the object is gone and what was made outside must go too. */
static void keep_options(SourceRun *r, const Json *options)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    if (!r->c->forget)
        return;
    free(r->options);
    r->options = strdup(str_z(a, json_text(a, options)));
}

static Status attempt(SourceRun *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(duck_disconnectp) DuckConn *conn = NULL;
    Json *options = NULL;

    TRY(duck_connect(r->owner->o.engine, &conn, err));
    TRY(r->owner->o.options(r->owner->o.ctx, a, r->id, &options, err));
    keep_options(r, options);
    r->conn = conn;
    r->spec = (SourceSpec){ .id = r->id, .type = r->type, .options = options, .outputs = &r->outputs, .ctx = r->owner->o.ctx, .catalog = r->owner->o.catalog };
    Status s = r->c->run(r, err);
    r->spec.options = NULL;
    r->conn = NULL;
    return s;
}

static int64_t commits_of(SourceRun *r)
{
    pthread_mutex_lock(&r->lock);
    int64_t n = r->commits;
    pthread_mutex_unlock(&r->lock);
    return n;
}

static void wait_for_stop(SourceRun *r)
{
    pthread_mutex_lock(&r->lock);
    while (!r->stop)
        pthread_cond_wait(&r->wake, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

static void *thread_main(void *ctx)
{
    SourceRun *r = ctx;
    int64_t pause = SOURCE_PAUSE_MIN_US;

    source_status(r, "starting", (Str){0}, (Str){0});
    for (wait_paused(r); !stopped(r); wait_paused(r)) {
        Error err = {0};
        int64_t before = commits_of(r);
        Status s = attempt(r, &err);
        if (s == OK && !source_stopping(r)) {
            wait_for_stop(r);
            break;
        }
        if (s == OK || source_stopping(r))
            continue;
        source_status(r, "stalled", str_c(err.message), str_c(err.hint));
        pause = commits_of(r) > before ? SOURCE_PAUSE_MIN_US : pause;
        source_wait(r, pause);
        pause = min_i64(pause * 2, SOURCE_PAUSE_MAX_US);
    }
    return NULL;
}

/* ---- the list ------------------------------------------------------------------------------------------------------------------- */

Sources *sources_new(const SourcesOptions *o)
{
    Sources *s = calloc(1, sizeof *s);

    if (!s)
        abort();
    s->o = *o;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

static SourceRun *find(Sources *s, int64_t id)
{
    SourceRun *r = s->runs;
    while (r && r->id != id)
        r = r->next;
    return r;
}

static SourceRun *take(Sources *s, int64_t id)
{
    pthread_mutex_lock(&s->lock);
    SourceRun **at = &s->runs;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    SourceRun *r = *at;
    if (r)
        *at = r->next;
    pthread_mutex_unlock(&s->lock);
    return r;
}

static void run_free(SourceRun *r)
{
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->wake);
    free(r->errors);
    free(r->options);
    arena_destroy(r->a);
    free(r);
}

static void tell(SourceRun *r, int stop, int pause)
{
    pthread_mutex_lock(&r->lock);
    r->stop |= stop;
    r->pause = pause;
    pthread_cond_broadcast(&r->wake);
    pthread_mutex_unlock(&r->lock);
}

/* Nobody uses it any more: it is out of the list, its thread has ended, requests that were under way are done. */
static void stop_thread(SourceRun *r)
{
    tell(r, 1, 0);
    if (r->has_thread)
        pthread_join(r->thread, NULL);
    r->has_thread = 0;
    pthread_mutex_lock(&r->lock);
    while (r->users)
        pthread_cond_wait(&r->wake, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

static void end(SourceRun *r)
{
    stop_thread(r);
    run_free(r);
}

SourceRun *source_hold(Sources *s, int64_t id)
{
    pthread_mutex_lock(&s->lock);
    SourceRun *r = find(s, id);
    if (r) {
        pthread_mutex_lock(&r->lock);
        r->users++;
        pthread_mutex_unlock(&r->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return r;
}

void source_releasep(SourceRun **r)
{
    if (!*r)
        return;
    pthread_mutex_lock(&(*r)->lock);
    (*r)->users--;
    pthread_cond_broadcast(&(*r)->wake);
    pthread_mutex_unlock(&(*r)->lock);
}

void source_stop(Sources *s, int64_t id)
{
    SourceRun *r = take(s, id);
    if (r)
        end(r);
}

static int64_t first_run(Sources *s)
{
    pthread_mutex_lock(&s->lock);
    int64_t id = s->runs ? s->runs->id : -1;
    pthread_mutex_unlock(&s->lock);
    return id;
}

/* All are told first: they end together. */
void sources_stop_all(Sources *s)
{
    pthread_mutex_lock(&s->lock);
    for (SourceRun *r = s->runs; r; r = r->next)
        tell(r, 1, 0);
    pthread_mutex_unlock(&s->lock);
    for (int64_t id; (id = first_run(s)) >= 0;)
        source_stop(s, id);
}

void sources_free(Sources *s)
{
    if (!s)
        return;
    sources_stop_all(s);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void copy_output(Arena *a, const SourceOutput *from, SourceOutput *to)
{
    *to = (SourceOutput){ .name = str_dup(a, from->name), .external = str_dup(a, from->external), .pinned = str_dup(a, from->pinned), .relation = from->relation };
    for (size_t i = 0; i < from->columns.n; i++) {
        const SourceColumn *c = &from->columns.p[i];
        SourceColumn copy = { .name = str_dup(a, c->name), .type = data_type_copy(a, &c->type), .not_null = c->not_null, .sql_type = str_dup(a, c->sql_type) };
        vec_push(a, &to->columns, copy);
    }
    for (size_t i = 0; i < from->key.n; i++)
        vec_push(a, &to->key, str_dup(a, from->key.p[i]));
}

static SourceRun *run_new(Sources *s, int64_t id, const SourceConnector *c, const SourceOutputs *outputs)
{
    SourceRun *r = calloc(1, sizeof *r);
    pthread_condattr_t mono;

    if (!r || !(r->errors = calloc(SOURCE_ERRORS_KEPT, sizeof *r->errors)))
        abort();
    r->owner = s;
    r->id = id;
    r->c = c;
    r->a = arena_create();
    r->type = str_c(c->type);
    r->report.id = id;
    r->spec = (SourceSpec){ .id = id, .type = r->type, .outputs = &r->outputs };
    for (size_t i = 0; i < outputs->n; i++) {
        SourceOutput o;
        copy_output(r->a, &outputs->p[i], &o);
        vec_push(r->a, &r->outputs, o);
    }
    r->broken = arena_array(r->a, int, r->outputs.n + 1);
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&mono);
    pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
    pthread_cond_init(&r->wake, &mono);
    pthread_condattr_destroy(&mono);
    return r;
}

static Status begin(SourceRun *r, Error *err)
{
    if (!r->c->run)
        live_status_put(r->owner->o.live, r->id, "running", (Str){0}, (Str){0});
    else if (pthread_create(&r->thread, NULL, thread_main, r) == 0)
        r->has_thread = 1;
    else
        return FAIL(err, E_LIMIT, "no thread for source %lld", (long long)r->id);
    return OK;
}

static Status put(Sources *s, SourceRun *r, Error *err)
{
    pthread_mutex_lock(&s->lock);
    Status st = s->awake ? begin(r, err) : OK;
    if (st == OK) {
        r->next = s->runs;
        s->runs = r;
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

Status source_start(Sources *s, int64_t id, Str type, const SourceOutputs *outputs, Error *err)
{
    const SourceConnector *c = source_connector(type);

    if (!c)
        return FAIL(err, E_UNSUPPORTED, "there are no sources of type " STR_FMT, STR_ARG(type));
    if (outputs->n > SOURCE_OUTPUTS_MAX)
        return FAIL(err, E_LIMIT, "a source has at most %d outputs", SOURCE_OUTPUTS_MAX);
    source_stop(s, id);
    SourceRun *r = run_new(s, id, c, outputs);
    Status st = put(s, r, err);
    if (st != OK)
        run_free(r);
    return st;
}

void sources_wake(Sources *s)
{
    Error err;

    pthread_mutex_lock(&s->lock);
    s->awake = 1;
    for (SourceRun *r = s->runs; r; r = r->next)
        if (begin(r, &err) != OK)
            live_status_put(s->o.live, r->id, "stalled", str_c(err.message), (Str){0});
    pthread_mutex_unlock(&s->lock);
}

static Status forget_outside(const SourceRun *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    SourceSpec spec = r->spec;
    Json *options;

    TRY(json_parse(a, str_c(r->options), &options, err));
    spec.options = options;
    return r->c->forget(a, &spec, err);
}

Status source_drop(Sources *s, int64_t id, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    SourceRun *r = take(s, id);
    LiveNote note = { .key = source_note_key(a, id) };
    Status outside = OK;
    Error why;
    int64_t t;

    if (r) {
        stop_thread(r);
        outside = r->options ? forget_outside(r, &why) : OK;
        run_free(r);
    }
    TRY(live_commit_noted(s->o.live, NULL, 0, &note, 1, &t, err));
    if (outside != OK) {
        *err = why;
        error_context(err, "what was made outside for a source that was dropped may still be there");
    }
    return outside;
}

static Status set_pause(SourceRun *r, void *ctx, Error *err UNUSED)
{
    tell(r, 0, *(int *)ctx);
    return OK;
}

static void pause_to(Sources *s, int64_t id, int pause)
{
    Error ignored;
    (void)!source_with(s, id, set_pause, &pause, &ignored);
}

void source_pause(Sources *s, int64_t id) { pause_to(s, id, 1); }
void source_resume(Sources *s, int64_t id) { pause_to(s, id, 0); }

Status source_with(Sources *s, int64_t id, Status (*fn)(SourceRun *r, void *ctx, Error *err), void *ctx, Error *err)
{
    pthread_mutex_lock(&s->lock);
    SourceRun *r = find(s, id);
    Status st = r ? fn(r, ctx, err) : FAIL(err, E_NOT_FOUND, "source %lld does not run", (long long)id);
    pthread_mutex_unlock(&s->lock);
    return st;
}

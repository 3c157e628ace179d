/* SPDX-License-Identifier: Apache-2.0 */
/* sink_run.c - the thread of a sink: start, a batch when it is due and there is something, pauses after errors.
 *
 * A batch takes all that has come since the last one, so a catalog that is slower than the interval makes batches larger and lag stays bounded.  Between two commits the
 * log is looked at for its size: enough of it commits early, too much of it pauses the sink.
 * Invariant: while the sink is stopped, paused or stalled its log's reader stays, so nothing is missed; only the log's limit gives it up, with a status. */
#include "sink/sink_int.h"

#include <time.h>

enum { RETRY_MS = 1000, RETRY_MAX_MS = 60000, LOOK_MS = 1000, LOG_LIMIT = 10000000, MAINTAIN_MS = 600000 };
#define COMMIT_SIZE (128ll << 20)

/* ---- waiting ------------------------------------------------------------------------------------------------------------------ */

bool sink_stopping(Sink *s)
{
    pthread_mutex_lock(&s->lock);
    bool stop = s->want != WANT_RUN;
    pthread_mutex_unlock(&s->lock);
    return stop;
}

static struct timespec in_ms(int64_t ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

bool sink_ended(Sink *s, int64_t ms)
{
    struct timespec until = in_ms(ms);
    int rc = 0;

    pthread_mutex_lock(&s->lock);
    while (!s->done && rc == 0)
        rc = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    bool done = s->done;
    pthread_mutex_unlock(&s->lock);
    return done;
}

/* false: something else is wanted. */
static bool wait_while(Sink *s, Want want, int64_t ms)
{
    struct timespec until = in_ms(ms);
    int rc = 0;

    pthread_mutex_lock(&s->lock);
    while (s->want == want && rc == 0)
        rc = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    bool still = s->want == want;
    pthread_mutex_unlock(&s->lock);
    return still;
}

bool sink_wait(Sink *s, int64_t ms) { return wait_while(s, WANT_RUN, ms); }

static Want want_of(Sink *s)
{
    pthread_mutex_lock(&s->lock);
    Want w = s->want;
    pthread_mutex_unlock(&s->lock);
    return w;
}

/* ---- the backlog ------------------------------------------------------------------------------------------------------------------ */

static int64_t relation_of(const Sink *s) { return s->note.cut_relation ? s->note.cut_relation : s->spec.relation; }

/* About what a row takes: the fixed parts by type, and some for each text. */
static int64_t row_bytes(const Sink *s)
{
    int64_t n = 16;
    for (size_t i = 0; i < s->spec.columns.n; i++)
        n += s->spec.columns.p[i].type.kind <= DT_DOUBLE ? 8 : s->spec.columns.p[i].type.kind == DT_STRING || s->spec.columns.p[i].type.nchildren ? 32 : 16;
    return n;
}

static Status backlog(Sink *s, int64_t *rows, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    int64_t oldest = 0;
    size_t n = 0;
    Str log;

    *rows = 0;
    int64_t now = live_now(s->all->o.live);           /* before the log is looked at: what comes meanwhile is not said to be written */
    int64_t last = live_log_last(s->all->o.live, relation_of(s));
    if (last > s->note.from && !(last == INT64_MAX && s->looked)) {
        TRY(live_log_sql(s->all->o.live, a, relation_of(s), max_i64(s->note.from, s->note.gap), INT64_MAX, &log, err));
        TRY(duck_query_held(s->conn, str_fmt(a, "SELECT count(*), coalesce(min(__t), 0) FROM " STR_FMT " q", STR_ARG(log)), &r, err));
        TRY(duck_next(r, &n, err));
        *rows = n ? duck_value(a, r, 0, 0).integer : 0;
        oldest = n ? duck_value(a, r, 1, 0).integer : 0;
        s->looked = !*rows;
    }
    pthread_mutex_lock(&s->lock);
    s->report.backlog_rows = *rows;
    s->report.oldest_ms = oldest;
    int64_t reached = s->note.frontier == SEALED || sink_rebuilds(s) ? 0 : s->note.frontier;
    s->report.frontier = max_i64(s->report.frontier, reached);
    if (!*rows && reached)
        s->report.frontier = max_i64(s->report.frontier, now + 1);      /* nothing has changed up to now */
    pthread_mutex_unlock(&s->lock);
    return OK;
}

static int64_t log_limit(const Sink *s) { return s->spec.log_limit > 0 ? s->spec.log_limit : LOG_LIMIT; }

/* More is kept than may be: the log goes, and the sink waits for an explicit rebuild. */
static Status over_limit(Sink *s, int64_t rows, Error *err)
{
    if (rows <= log_limit(s))
        return OK;
    TRY(sink_log_end(s, relation_of(s), err));
    s->fatal = 1;
    RAISE(err, E_LIMIT, "%lld changes waited for sink u%lld, more than its limit of %lld: they are not kept any longer, and the sink is paused", (long long)rows, (long long)s->spec.id, (long long)log_limit(s));
    error_hint(err, "When the catalog can be written again, ALTER SINK ... SET (SNAPSHOT = true) writes the relation anew.");
    return E_LIMIT;
}

/* While nothing can be committed. */
static Status watch_limit(Sink *s, Error *err)
{
    int64_t rows = 0;

    TRY(backlog(s, &rows, err));
    return over_limit(s, rows, err);
}

/* ---- a batch --------------------------------------------------------------------------------------------------------------------- */

static void staged(Sink *s, const Batch *b, int64_t us)
{
    pthread_mutex_lock(&s->lock);
    s->report.messages_staged += b->ninserts + b->ndeletes;
    for vec_each(const LakeFile, f, &b->files)
        s->report.bytes_staged += f->file.size;
    for vec_each(const LakeFile, f, &b->position_files)
        s->report.bytes_staged += f->file.size;
    s->report.write_us += us;
    pthread_mutex_unlock(&s->lock);
}

/* Changes that amount to nothing are behind us without a commit. */
static Status skip_span(Sink *s, const Batch *b, Error *err)
{
    int64_t old = s->note.cut_relation;

    s->note.from = b->to;
    if (b->finishes_cut)
        s->note.cut_relation = s->note.cut_upto = 0;
    TRY(sink_note(s, err));
    return old ? sink_log_end(s, old, err) : sink_log_done(s, b->relation, b->to, err);
}

static Status write_and_commit(Sink *s, Table *t, Batch *b, Error *err)
{
    int64_t begun = clock_mono_us();

    Status st = batch_write(s, t, b, err);
    if (st != OK) {
        lake_discard(t->lake, &b->files);
        lake_discard(t->lake, &b->position_files);
        return st;
    }
    staged(s, b, clock_mono_us() - begun);
    if (b->rows_whole)
        TRY(duck_exec(s->conn, S("COMMIT"), err));
    return batch_commit(s, t, b, err);
}

static Status run_batch(Sink *s, Table *t, Batch *b, Error *err)
{
    Status st = batch_plan(s, t, b, err);

    if (st == OK && !b->first && !b->replace && !b->seals && !b->ninserts && !b->ndeletes)
        st = b->to > b->from || b->finishes_cut ? skip_span(s, b, err) : OK;
    else if (st == OK)
        st = write_and_commit(s, t, b, err);
    batch_drop(s, b);
    return st;
}

/* One commit of all that waits, if anything does. */
static Status batch(Sink *s, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Table t = {0};
    Batch b = { .a = a };

    Status st = s->fresh ? table_load(s, a, &t, err) : table_begin(s, a, &t, err);
    if (st == OK && s->fresh)
        st = table_agree(s, &t, err);
    if (st == OK)
        sink_status(s, "running", (Str){0}, (Str){0});
    if (st == OK && !s->report.sealed)
        st = run_batch(s, &t, &b, err);
    if (st == OK && s->maintain_due_us <= clock_mono_us() && !sink_stopping(s))
        st = maintain(s, a, &t, err);
    table_close(&t);
    return st == E_CANCELLED && !sink_stopping(s) ? batch(s, err) : st;      /* begun anew from where the table is */
}

/* ---- the life of a start ------------------------------------------------------------------------------------------------------------ */

static bool is_due(Sink *s, int64_t rows)
{
    int64_t size = s->spec.size_bytes > 0 ? s->spec.size_bytes : COMMIT_SIZE;

    if (!s->fresh || !s->note.frontier || sink_rebuilds(s) || s->note.cut_relation)
        return true;
    if (!rows && (!s->ended || s->report.sealed))
        return s->maintain_due_us <= clock_mono_us();
    return s->batch_due_us <= clock_mono_us() || rows >= size / row_bytes(s);
}

static int64_t until_next(const Sink *s)
{
    int64_t ms = (s->batch_due_us - clock_mono_us()) / 1000;
    if (ms <= 0)                                      /* idle: the next boundary of the interval */
        ms = s->spec.interval_ms;
    return max_i64(1, min_i64(ms, LOOK_MS));
}

static Status step(Sink *s, Error *err)
{
    int64_t rows = 0;

    s->ended = s->all->o.ended && s->all->o.ended(s->all->o.ctx, s->spec.relation);       /* before the log is looked at: all that came by then is seen there */
    TRY(backlog(s, &rows, err));
    if (is_due(s, rows)) {
        int64_t begun = clock_mono_us();
        TRY(batch(s, err));
        s->batch_due_us = begun + s->spec.interval_ms * 1000;
    }
    return OK;
}

static Status recall(Sink *s, Error *err)
{
    if (!s->conn)
        TRY(duck_connect(s->all->o.engine, &s->conn, err));
    s->fresh = s->looked = 0;
    if (!s->maintain_due_us)
        s->maintain_due_us = clock_mono_us() + policy_i64(&s->spec, "sink.maintenance.interval-ms", MAINTAIN_MS) * 1000;
    arena_destroy(s->note_arena);
    s->note_arena = arena_create();
    return note_read(s->all->o.live, s->note_arena, s->spec.id, &s->note, err);
}

static Status begin(Sink *s, Error *err)
{
    TRY(recall(s, err));
    TRY(watch_limit(s, err));
    return s->all->o.catalog(s->all->o.ctx, s->spec.id, &s->catalog, err);
}

static Status run(Sink *s, Error *err)
{
    TRY(begin(s, err));
    while (!sink_stopping(s)) {
        TRY(step(s, err));
        (void)!sink_wait(s, until_next(s));
    }
    return OK;
}

static void end(Sink *s)
{
    remote_closep(&s->catalog);
}

/* ---- pauses --------------------------------------------------------------------------------------------------------------------------- */

static void stalled(Sink *s, const Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str text = err->detail[0] ? str_fmt(a, "%s (%s)", err->message, err->detail) : str_c(err->message);
    const char *status = err->code == E_LIMIT && s->fatal ? "paused" : "stalled";

    sink_status(s, status, text, str_c(err->hint));
}

/* For ms, while nothing else is wanted; the log's limit holds meanwhile. */
static void rest(Sink *s, Want want, int64_t ms)
{
    Error err;

    for (int64_t left = ms; left > 0; left -= LOOK_MS) {
        if (!wait_while(s, want, min_i64(left, LOOK_MS)))
            return;
        if (!s->fatal && s->conn && s->note_arena && watch_limit(s, &err) == E_LIMIT)
            stalled(s, &err);
    }
}

static void take_pause(Sink *s)
{
    Error ignored;

    (void)!recall(s, &ignored);                       /* what it needs to watch the log's limit */
    sink_status(s, "paused", (Str){0}, S("The cluster of the sink has no replica."));
    while (want_of(s) == WANT_PAUSE)
        rest(s, WANT_PAUSE, RETRY_MAX_MS);
}

void *sink_thread(void *arg)
{
    Sink *s = arg;
    int64_t pause = 0, first = s->all->o.retry_ms > 0 ? s->all->o.retry_ms : RETRY_MS;
    Error err;

    while (want_of(s) != WANT_STOP) {
        if (want_of(s) == WANT_PAUSE) {
            take_pause(s);
            continue;
        }
        int64_t snapshots = s->report.snapshots;
        Status st = run(s, &err);
        end(s);
        if (st == OK || sink_stopping(s))
            continue;
        stalled(s, &err);
        pause = snapshots != s->report.snapshots || !pause ? first : min_i64(pause * 2, RETRY_MAX_MS);
        do
            rest(s, WANT_RUN, s->fatal ? RETRY_MAX_MS : pause);
        while (s->fatal && want_of(s) == WANT_RUN);
    }
    pthread_mutex_lock(&s->lock);
    s->done = 1;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* source_report.c - what a source says of itself while it runs: statuses, counts, the newest records that could not be read. */
#include "source/source_int.h"

/* ---- what a connector says --------------------------------------------------------------------------------------------------- */

const SourceSpec *source_spec(const SourceRun *r) { return &r->spec; }

Str source_offsets(const SourceRun *r, Arena *a)
{
    Str note = {0};
    Error ignored;
    (void)!live_note_get(r->owner->o.live, a, source_note_key(a, r->id), &note, &ignored);
    return note;
}

/* Its parts are as it is, but for those that are broken. */
void source_status(SourceRun *r, const char *status, Str error, Str hint)
{
    live_status_put(r->owner->o.live, r->id, status, error, hint);
    for (size_t i = 0; i < r->outputs.n; i++)
        if (r->outputs.p[i].relation != r->id && !r->broken[i])
            live_status_put(r->owner->o.live, r->outputs.p[i].relation, status, error, hint);
}

void source_output_broken(SourceRun *r, size_t output, Str error, Str hint)
{
    Error err = {0};

    RAISE(&err, E_INVALID, "Source error: " STR_FMT, STR_ARG(error));
    if (hint.n)
        error_hint(&err, STR_FMT, STR_ARG(hint));
    r->broken[output] = 1;
    live_status_put(r->owner->o.live, r->outputs.p[output].relation, "stalled", error, hint);
    live_table_fail(r->owner->o.live, r->outputs.p[output].relation, &err);
}

void source_output_error(SourceRun *r, size_t output, Str error)
{
    int64_t relation = r->outputs.p[output].relation;
    Error err = {0};

    if (error.n) {
        RAISE(&err, E_INVALID, STR_FMT, STR_ARG(error));
        error_hint(&err, "Produce a value that can be decoded, or a tombstone, for the key.");
        memcpy(err.sqlstate, "XX000", 6);
    }
    live_table_fail(r->owner->o.live, relation, error.n ? &err : NULL);
}

static void copy_text(char *to, size_t size, Str s)
{
    size_t n = min_size(s.n, size - 1);
    if (n)
        memcpy(to, s.p, n);
    to[n] = 0;
}

void source_error(SourceRun *r, Str place, Str error)
{
    pthread_mutex_lock(&r->lock);
    KeptError *e = &r->errors[r->next_error];
    e->at_ms = clock_ms();
    copy_text(e->place, sizeof e->place, place);
    copy_text(e->error, sizeof e->error, error);
    r->next_error = (r->next_error + 1) % SOURCE_ERRORS_KEPT;
    r->nerrors = min_size(r->nerrors + 1, SOURCE_ERRORS_KEPT);
    r->report.errors++;
    pthread_mutex_unlock(&r->lock);
}

void source_snapshot_done(SourceRun *r)
{
    pthread_mutex_lock(&r->lock);
    r->report.snapshot_done = 1;
    pthread_mutex_unlock(&r->lock);
}

void source_sealed(SourceRun *r)
{
    pthread_mutex_lock(&r->lock);
    r->report.sealed = 1;
    pthread_mutex_unlock(&r->lock);
}

void source_progress(SourceRun *r, int64_t known, int64_t committed)
{
    pthread_mutex_lock(&r->lock);
    r->report.offset_known = SOME_I64(known);
    r->report.offset_committed = SOME_I64(committed);
    pthread_mutex_unlock(&r->lock);
}

void source_received(SourceRun *r, int64_t messages, int64_t bytes) { source_counted(r, messages, bytes, 0, 0, 0); }

void source_counted(SourceRun *r, int64_t messages, int64_t bytes, int64_t staged, int64_t committed, int64_t t)
{
    pthread_mutex_lock(&r->lock);
    r->report.messages_received += messages;
    r->report.bytes_received += bytes;
    r->report.updates_staged += staged;
    r->report.updates_committed += committed;
    r->report.frontier = max_i64(r->report.frontier, t ? t + 1 : 0);
    r->commits += t != 0;
    pthread_mutex_unlock(&r->lock);
}

/* ---- reports ------------------------------------------------------------------------------------------------------------------------ */

static Status copy_report(SourceRun *r, void *ctx, Error *err UNUSED)
{
    pthread_mutex_lock(&r->lock);
    *(SourceReport *)ctx = r->report;
    pthread_mutex_unlock(&r->lock);
    return OK;
}

bool source_report(Sources *s, int64_t id, SourceReport *ret)
{
    Error ignored;
    return source_with(s, id, copy_report, ret, &ignored) == OK;
}

typedef struct ErrorsTo { Arena *a; SourceErrors *ret; } ErrorsTo;

static Status copy_errors(SourceRun *r, void *ctx, Error *err UNUSED)
{
    ErrorsTo *to = ctx;

    pthread_mutex_lock(&r->lock);
    for (size_t i = 1; i <= r->nerrors; i++) {
        const KeptError *e = &r->errors[(r->next_error + SOURCE_ERRORS_KEPT - i) % SOURCE_ERRORS_KEPT];
        SourceError copy = { .at_ms = e->at_ms, .place = str_dup(to->a, str_c(e->place)), .error = str_dup(to->a, str_c(e->error)) };
        vec_push(to->a, to->ret, copy);
    }
    pthread_mutex_unlock(&r->lock);
    return OK;
}

void source_errors(Sources *s, Arena *a, int64_t id, SourceErrors *ret)
{
    ErrorsTo to = { a, ret };
    Error ignored;
    (void)!source_with(s, id, copy_errors, &to, &ignored);
}

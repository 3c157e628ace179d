/* SPDX-License-Identifier: Apache-2.0 */
/* sink_commit.c - one batch becomes one snapshot, exactly once (design idea 7; spec/materialize.md 2.5).
 *
 * Each try: the table as it is now; is its progress still where this batch begins; manifests; the intent noted, durable; the commit with assert-ref-snapshot-id.  After any
 * answer but yes the table is read again: if its newest progress is where this batch ends, an answer was lost.  Nothing is rebased, nothing is sent twice blindly.
 * Invariants: (1) a commit is sent only after its intent is durable; (2) files are removed only when no commit that names them can land any more: its snapshot is not in
 * the table, and the snapshot it was made on is not current; (3) the log is given back after the commit is known to have landed, never before. */
#include "sink/sink_int.h"

enum { TRIES = 100, FIRST_WAIT_MS = 10, CONFLICT_WAIT_MS = 80, LONGEST_WAIT_MS = 1000, UNKNOWN_TRIES = 8 };

typedef struct Attempt { int64_t snapshot, base; StrVec written; } Attempt;
typedef VEC(Attempt) Attempts;

/* ---- what is committed ------------------------------------------------------------------------------------------------------ */

static Str operation(const Batch *b)
{
    const IceChange *ch = &b->change;
    bool adds = ch->add_data.n, removes = ch->add_deletes.n || ch->remove_data.n || ch->replace_all;

    return removes && adds ? S("overwrite") : removes && !ch->replace_all ? S("delete") : removes ? S("overwrite") : S("append");
}

static int64_t current_id(const Table *t)
{
    const IceSnapshot *s = ice_current_snapshot(t->remote.meta);
    return s ? s->id : 0;
}

static int64_t snapshot_of(const IceUpdates *ups)
{
    for (size_t i = 0; i < ups->n; i++)
        if (ups->p[i].kind == UP_ADD_SNAPSHOT)
            return ups->p[i].snapshot->id;
    return 0;
}

/* (1) A second try of the same batch is noted once more, for whatever snapshot it is made on; further ones are no news. */
static Status note_intent(Sink *s, const Batch *b, const Attempt *at, Error *err)
{
    Note *n = &s->note;

    for (size_t i = 0; i < n->intents.n; i++) {
        if (n->intents.p[i].upper != b->upper)
            continue;
        if (n->intents.p[i].base == at->base || n->intents.p[i].base == ANY_BASE)
            return OK;
        n->intents.p[i].base = ANY_BASE;
        return sink_note(s, err);
    }
    vec_push(s->note_arena, &n->intents, ((Intent){ .base = at->base, .upper = b->upper }));
    return sink_note(s, err);
}

static Status send(Sink *s, Table *t, Batch *b, Attempt *at, Error *err)
{
    IceRequirements rqs = {0};
    IceUpdates ups = {0};

    b->change.operation = operation(b);
    b->change.replace_all = b->replace;
    b->change.summary = (Props){0};
    progress_write(b->a, &s->spec, b->upper, &b->change.summary);
    at->base = current_id(t);
    TRY(ice_change_prepare(b->a, t->remote.store, t->remote.meta, &b->change, clock_ms(), &ups, &rqs, &at->written, err));
    at->snapshot = snapshot_of(&ups);
    TRY(note_intent(s, b, at, err));
    TRY(sink_still(s, err));
    return remote_table_commit(&t->remote, b->a, &ups, &rqs, err);
}

/* ---- what became of it -------------------------------------------------------------------------------------------------------- */

static bool is_dead(const Table *t, const Attempt *at)
{
    return !at->snapshot || (!ice_snapshot(t->remote.meta, at->snapshot) && current_id(t) != at->base);
}

/* (2) */
static void discard_dead(Table *t, Attempts *all)
{
    for vec_each(Attempt, at, all)
        if (is_dead(t, at)) {
            lake_discard_written(t->lake, &at->written);
            at->written.n = 0;
        }
}

static bool all_dead(const Table *t, const Attempts *all)
{
    for vec_each(const Attempt, at, all)
        if (!is_dead(t, at))
            return false;
    return true;
}

static Status same_shape(Sink *s, const Table *t, Error *err)
{
    const IceMetadata *m = t->remote.meta;

    if (m->current_schema_id != s->schema_id)
        return FAIL(err, E_CONFLICT, "Iceberg table '" STR_FMT "' schema changed during operation but schema evolution isn't supported, expected schema ID %d, got %d", STR_ARG(s->spec.table),
                    s->schema_id, m->current_schema_id);
    if (m->default_spec_id != s->spec_id)
        return FAIL(err, E_CONFLICT, "Iceberg table '" STR_FMT "' partition spec changed during operation but partition spec evolution isn't supported, expected spec ID %d, got %d", STR_ARG(s->spec.table),
                    s->spec_id, m->default_spec_id);
    return OK;
}

/* The table again, and whether the batch has landed. *landed; E_CANCELLED: another progress of ours, so the batch must be made anew from there. */
static Status look(Sink *s, Table *t, Batch *b, int *landed, Error *err)
{
    int rebuilds = b->replace;

    table_close(t);
    TRY_CTX(table_load(s, b->a, t, err), err, "Failed to load Iceberg table '" STR_FMT "." STR_FMT "'", STR_ARG(s->spec.ns), STR_ARG(s->spec.table));
    TRY(same_shape(s, t, err));
    TRY(table_agree(s, t, err));
    *landed = rebuilds ? !sink_rebuilds(s) : s->note.frontier == b->upper;
    if (*landed || rebuilds || s->note.frontier == b->lower)
        return OK;
    return FAIL(err, E_CANCELLED, "a commit of an earlier start has arrived");
}

/* Who lost a race tries again soon: waiting longer makes the next one no easier. */
static void wait_ms(Sink *s, int n, Status why)
{
    int64_t ms = min_i64(why == E_CONFLICT ? CONFLICT_WAIT_MS : LONGEST_WAIT_MS, (int64_t)FIRST_WAIT_MS << (n < 10 ? n : 10));
    (void)!sink_wait(s, ms / 2 + (int64_t)(rand_u64() % (uint64_t)ms));
}

static bool is_unknown(Status s) { return s == E_UNKNOWN || s == E_TIMEOUT || s == E_UNAVAILABLE || s == E_IO; }

static void count_failure(Sink *s, Status st)
{
    pthread_mutex_lock(&s->lock);
    if (st == E_CONFLICT)
        s->report.conflicts++;
    else
        s->report.failures++;
    pthread_mutex_unlock(&s->lock);
}

/* Reads until it can be read, for a while: what is not known must be known before anything else is done. */
static Status look_again(Sink *s, Table *t, Batch *b, int *landed, Error *err)
{
    Status st = look(s, t, b, landed, err);

    for (int n = 0; st != OK && is_unknown(st) && n < UNKNOWN_TRIES && !sink_stopping(s); n++) {
        wait_ms(s, n + 2, st);
        st = look(s, t, b, landed, err);
    }
    return st;
}

static Status try_all(Sink *s, Table *t, Batch *b, Attempts *all, Error *err)
{
    int landed = 0;

    for (int n = 0; ; n++) {
        Attempt at = {0};
        if (b->positions_of != current_id(t) && b->ndeletes && s->spec.deletes != SINK_DELETES_EQUALITY)
            TRY(batch_positions(s, t, b, err));
        Status st = send(s, t, b, &at, err);
        vec_push(b->a, all, at);
        if (st == OK)
            return OK;
        count_failure(s, st);
        if ((st != E_CONFLICT && !is_unknown(st)) || n + 1 >= (st == E_CONFLICT ? TRIES : UNKNOWN_TRIES) || sink_stopping(s))
            return st;
        Error why = *err;
        wait_ms(s, n, st);
        TRY(look_again(s, t, b, &landed, err));
        discard_dead(t, all);
        if (landed)
            return OK;
        *err = why;
    }
}

/* ---- before and after ------------------------------------------------------------------------------------------------------------ */

static void count_success(Sink *s, const Table *t, const Batch *b, int64_t us)
{
    SinkReport *r = &s->report;

    pthread_mutex_lock(&s->lock);
    r->frontier = b->upper;
    r->sealed = b->seals;
    r->messages_committed += b->ninserts + b->ndeletes;
    for vec_each(const LakeFile, f, &b->files)
        r->bytes_committed += f->file.size;
    r->data_files += (int64_t)b->change.add_data.n;
    r->delete_files += (int64_t)b->change.add_deletes.n;
    r->snapshots++;
    r->backlog_rows = r->oldest_ms = 0;               /* until the log is looked at again */
    r->last_commit_us = us;
    r->commit_us += us;
    r->last_snapshot = current_id(t);
    pthread_mutex_unlock(&s->lock);
}

/* The note after the table has this batch. When the answer was lost, table_agree has done most of it. */
static Status landed(Sink *s, const Table *t, const Batch *b, Error *err)
{
    const IceSnapshot *now = ice_current_snapshot(t->remote.meta);
    Note *n = &s->note;
    int64_t old = n->cut_relation;

    n->frontier = b->upper;
    n->from = b->to;
    n->version = s->spec.version;
    n->snapshot = now ? now->id : 0;
    n->sequence = now ? now->sequence_number : 0;
    note_uuid(s, t->remote.meta->uuid);
    n->intents.n = 0;
    if (b->replace) {
        n->rebuilt = s->spec.rebuild;
        n->gap = 0;
    }
    if (b->finishes_cut || b->replace)
        n->cut_relation = n->cut_upto = 0;
    TRY(sink_note(s, err));
    if (old && !n->cut_relation)
        TRY(sink_log_end(s, old, err));
    return old && !b->replace ? OK : sink_log_done(s, b->relation, b->to, err);      /* (3) */
}

Status batch_commit(Sink *s, Table *t, Batch *b, Error *err)
{
    int64_t begun = clock_mono_us();
    Attempts all = {0};

    Status st = same_shape(s, t, err);
    if (st == OK)
        st = try_all(s, t, b, &all, err);
    if (st != OK) {
        if (t->open && all_dead(t, &all)) {
            discard_dead(t, &all);
            lake_discard(t->lake, &b->files);
            lake_discard(t->lake, &b->position_files);
        }
        return st == E_CANCELLED ? st : error_context(err, "failed to commit batch to Iceberg table '" STR_FMT "." STR_FMT "'", STR_ARG(s->spec.ns), STR_ARG(s->spec.table));
    }
    count_success(s, t, b, clock_mono_us() - begun);
    return landed(s, t, b, err);
}

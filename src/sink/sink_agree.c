/* SPDX-License-Identifier: Apache-2.0 */
/* sink_agree.c - is what the table says of its progress what this sink has done?
 *
 * The note has the frontier that is known to be in the table, and every commit that was sent since.  A commit can still arrive while the snapshot that it was made on is
 * current; when the table has moved on, it never will.  Whatever else the table says was written by somebody else, and nothing is written on top of it. */
#include "sink/sink_int.h"

static Status fenced(Sink *s, const Progress *p, Error *err)
{
    s->fatal = 1;
    if (!s->fresh)
        RAISE(err, E_CONFLICT, "Fenced off by newer sink version: resume_version %lld, sink_version %lld", (long long)p->version, (long long)s->spec.version);
    else
        RAISE(err, E_CONFLICT, "Iceberg table '" STR_FMT "' has been modified by another writer with version %lld. Current sink version: %lld. Frontiers may be out of sync, aborting to avoid data loss.",
              STR_ARG(s->spec.table), (long long)p->version, (long long)s->spec.version);
    error_hint(err, "Another sink writes this table. Drop one of the two; then ALTER SINK ... SET (SNAPSHOT = true) writes the relation anew.");
    return E_CONFLICT;
}

static Status another_writer(Sink *s, const Progress *p, Error *err)
{
    s->fatal = 1;
    RAISE(err, E_CONFLICT, "Iceberg table '" STR_FMT "' has been modified by another writer. Current frontier: [%lld], last frontier: [%lld].", STR_ARG(s->spec.table),
          (long long)s->note.frontier, (long long)p->frontier);
    error_detail(err, "The table's newest progress, of sink u%lld, was not made by this server.", (long long)p->sink);
    error_hint(err, "Find out who writes the table. ALTER SINK ... SET (SNAPSHOT = true) writes the relation anew.");
    return E_CONFLICT;
}

static Status compacted(Sink *s, int64_t as_of, const Progress *p, Error *err)
{
    RAISE(err, E_CONFLICT, "u%lld-iceberg-mint: input compacted past resume upper: as_of %lld, resume_upper: %lld", (long long)s->spec.id, (long long)as_of, (long long)p->frontier);
    if (p->sink != s->spec.id)
        error_hint(err, "The table carries the progress of sink u%lld: choose another table, or drop that one.", (long long)p->sink);
    else
        error_hint(err, s->note.gap ? "The changes in between are not kept any more. Write the relation anew with ALTER SINK ... SET (SNAPSHOT = true)."
                                    : "The table was rolled back or restored. Bring it forward again, or write the relation anew with ALTER SINK ... SET (SNAPSHOT = true).");
    return E_CONFLICT;
}

static Status no_progress(Sink *s, const IceMetadata *m, Error *err)
{
    bool history = m->snapshots.n || m->last_sequence_number > 0 || m->snapshot_log.n;

    if (!history && !s->note.frontier)
        return OK;
    if (history && s->note.frontier && !s->note.intents.n && s->note.sequence <= m->last_sequence_number && m->snapshots.n)
        return OK;                                    /* our snapshots have expired; what is left are replacements */
    RAISE(err, E_CONFLICT, "Iceberg table has prior snapshot history but no retained Materialize progress ('mz-frontier' and 'mz-sink-version'). Cannot safely recover or commit.");
    error_hint(err, "Write into an empty table, or write the relation anew with ALTER SINK ... SET (SNAPSHOT = true).");
    return E_CONFLICT;
}

static const Intent *intent_of(const Note *n, int64_t upper)
{
    for (size_t i = 0; i < n->intents.n; i++)
        if (n->intents.p[i].upper == upper)
            return &n->intents.p[i];
    return NULL;
}

/* Commits that cannot arrive any more are forgotten. */
static bool prune(Note *n, const IceMetadata *m)
{
    int64_t now = m->current_snapshot_id.has ? m->current_snapshot_id.v : 0;
    size_t k = 0, before = n->intents.n;

    for (size_t i = 0; i < n->intents.n; i++)
        if (n->intents.p[i].base == now || (n->intents.p[i].base == ANY_BASE && n->intents.p[i].upper > n->frontier))
            n->intents.p[k++] = n->intents.p[i];
    n->intents.n = k;
    return k != before;
}

void note_uuid(Sink *s, Str uuid)
{
    if (!str_eq(s->note.uuid, uuid))
        s->note.uuid = str_dup(s->note_arena, uuid);
}

static Status remember(Sink *s, const IceMetadata *m, const Progress *p, Error *err)
{
    bool moved = s->note.frontier != p->frontier || !str_eq(s->note.uuid, m->uuid);       /* somebody's copy of our progress is no news */

    s->note.frontier = p->frontier;
    if (!p->sealed)                                   /* nothing is read after that, unless it is written anew */
        s->note.from = max_i64(s->note.from, p->frontier - 1);
    s->note.snapshot = p->snapshot;
    s->note.sequence = p->sequence;
    s->note.version = p->version;
    note_uuid(s, m->uuid);
    if (moved || !s->fresh)                           /* between the tries of a batch its intent stays */
        moved |= prune(&s->note, m);
    return moved ? sink_note(s, err) : OK;
}

bool sink_rebuilds(const Sink *s) { return s->note.rebuilt < s->spec.rebuild; }

/* Everything that is there goes, whoever wrote it; unless it has gone already and the answer was lost. */
static Status rebuilt(Sink *s, const IceMetadata *m, Error *err)
{
    Error ignored;
    Progress p;

    if (progress_read(m, &p, &ignored) != OK || !p.has || p.sink != s->spec.id || p.version < s->spec.rebuild || !intent_of(&s->note, p.frontier))
        return OK;
    s->note.rebuilt = s->spec.rebuild;
    return remember(s, m, &p, err);
}

Status table_agree(Sink *s, const Table *t, Error *err)
{
    const IceMetadata *m = t->remote.meta;
    Progress p;

    if (sink_rebuilds(s))
        return rebuilt(s, m, err);
    if (s->note.uuid.n && !str_eq(s->note.uuid, m->uuid))
        return FAIL(err, E_CONFLICT, "Iceberg table '" STR_FMT "' is another one than the sink has written: it was dropped and made anew", STR_ARG(s->spec.table));
    TRY(progress_read(m, &p, err));
    if (!p.has)
        return no_progress(s, m, err);
    if (p.version > s->spec.version)
        return fenced(s, &p, err);
    if (p.sink != s->spec.id)
        return s->note.frontier ? another_writer(s, &p, err) : compacted(s, s->note.from + 1, &p, err);
    pthread_mutex_lock(&s->lock);
    s->report.sealed = p.sealed;
    pthread_mutex_unlock(&s->lock);
    if (s->note.gap)
        return compacted(s, s->note.gap + 1, &p, err);
    if (p.sealed || (s->note.frontier && p.frontier == s->note.frontier) || intent_of(&s->note, p.frontier))
        return remember(s, m, &p, err);
    if (p.frontier <= s->note.from)
        return compacted(s, s->note.from + 1, &p, err);
    return another_writer(s, &p, err);                /* (2) */
}

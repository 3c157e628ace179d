/* SPDX-License-Identifier: Apache-2.0 */
/* sink_keep.c - what a sink makes durable: its note, what it gives back of the log, its status.
 *
 * Whoever stops a sink waits a moment for it, no longer: a catalog that hangs holds up no ALTER and no DROP.  A thread that is still under way then is an orphan: it
 * changes nothing durable and sends no commit.  What it has sent before stands in its note, where its successor finds it. */
#include "sink/sink_int.h"

static Status orphaned(const Sink *s, Error *err)
{
    return s->orphan ? FAIL(err, E_CANCELLED, "sink u%lld was stopped", (long long)s->spec.id) : OK;
}

Status sink_still(Sink *s, Error *err)
{
    pthread_mutex_lock(&s->keep);
    Status st = orphaned(s, err);
    pthread_mutex_unlock(&s->keep);
    return st;
}

Status sink_note(Sink *s, Error *err)
{
    pthread_mutex_lock(&s->keep);
    Status st = orphaned(s, err);
    if (st == OK)
        st = note_write(s->all->o.live, s->spec.id, &s->note, err);
    pthread_mutex_unlock(&s->keep);
    return st;
}

Status sink_log_done(Sink *s, int64_t relation, int64_t upto, Error *err)
{
    pthread_mutex_lock(&s->keep);
    Status st = orphaned(s, err);
    if (st == OK)
        st = live_log_done(s->all->o.live, relation, s->name, upto, err);
    pthread_mutex_unlock(&s->keep);
    return st;
}

Status sink_log_end(Sink *s, int64_t relation, Error *err)
{
    pthread_mutex_lock(&s->keep);
    Status st = orphaned(s, err);
    if (st == OK)
        st = live_log_end(s->all->o.live, relation, s->name, err);
    pthread_mutex_unlock(&s->keep);
    return st;
}

void sink_status(Sink *s, const char *status, Str error, Str hint)
{
    pthread_mutex_lock(&s->keep);
    if (!s->orphan)
        live_status_put(s->all->o.live, s->spec.id, status, error, hint);
    pthread_mutex_unlock(&s->keep);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* live_note.c - notes: small texts that stand or fall with the rows of a tick.
 *
 * What a source has read up to, what a sink has done: it must be true exactly when the rows are there.  live.notes holds them; memory mirrors it, so a note is read
 * without the engine and a tick knows whether it updates or inserts.
 * Invariant: the mirror changes after the commit only, by the leader. */
#include "live/live_int.h"

#include <stdlib.h>

static Note *find(Live *l, Str key)
{
    for (Note *n = l->notes; n; n = n->next)
        if (str_eq(key, str_n(n->key, n->nkey)))
            return n;
    return NULL;
}

static char *own(Str s)
{
    char *p = malloc(s.n + 1);

    if (!p)
        abort();
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return p;
}

static void set(Live *l, Str key, Str text)
{
    Note *n = find(l, key);

    if (!n) {
        n = calloc(1, sizeof *n);
        if (!n)
            abort();
        *n = (Note){ .key = own(key), .nkey = key.n, .next = l->notes };
        l->notes = n;
    }
    free(n->text);
    n->text = own(text);
    n->ntext = text.n;
}

static void note_free(Note *n)
{
    free(n->key);
    free(n->text);
    free(n);
}

static void unset(Live *l, Str key)
{
    for (Note **at = &l->notes; *at; at = &(*at)->next) {
        Note *n = *at;
        if (!str_eq(key, str_n(n->key, n->nkey)))
            continue;
        *at = n->next;
        note_free(n);
        return;
    }
}

void notes_free(Live *l)
{
    for (Note *n = l->notes, *next; n; n = next) {
        next = n->next;
        note_free(n);
    }
    l->notes = NULL;
}

Status notes_open(Live *l, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    size_t n;

    TRY(live_exec(l, S("CREATE TABLE IF NOT EXISTS live.notes (key VARCHAR, note VARCHAR)"), err));
    TRY(duck_query_held(l->conn, S("SELECT key, note FROM live.notes"), &r, err));
    do {
        TRY(duck_next(r, &n, err));
        for (size_t i = 0; i < n; i++)
            set(l, duck_value(a, r, 0, i).string, duck_value(a, r, 1, i).string);
    } while (n);
    return OK;
}

/* ---- in a tick --------------------------------------------------------------------------------------------------------- */

typedef Status (*Each)(Tick *t, const LiveNote *n, Error *err);

static Status each(Tick *t, Each f, Error *err)
{
    for (size_t i = 0; i < t->nextra_notes; i++)
        TRY(f(t, &t->extra_notes[i], err));
    for (const Waiter *w = t->waiters; w; w = t->only ? NULL : w->next)
        for (size_t i = 0; i < w->nnotes; i++)
            TRY(f(t, &w->notes[i], err));
    return OK;
}

/* Updated where it stands: a row that is deleted and inserted by each tick would leave a hole by each tick. */
static Status write_one(Tick *t, const LiveNote *n, Error *err)
{
    Str key = sql_lit_str(t->a, n->key), value = sql_lit_str(t->a, n->value);

    if (n->key.n > NOTE_KEY_MAX || n->value.n > NOTE_VALUE_MAX)
        return FAIL(err, E_LIMIT, "a note of %zu bytes under a key of %zu is too long: limits are %d and %d", n->value.n, n->key.n, NOTE_VALUE_MAX, NOTE_KEY_MAX);
    if (n->value.n && find(t->l, n->key))
        return live_exec(t->l, str_fmt(t->a, "UPDATE live.notes SET note = " STR_FMT " WHERE key = " STR_FMT, STR_ARG(value), STR_ARG(key)), err);
    TRY(live_exec(t->l, str_fmt(t->a, "DELETE FROM live.notes WHERE key = " STR_FMT, STR_ARG(key)), err));
    return n->value.n ? live_exec(t->l, str_fmt(t->a, "INSERT INTO live.notes VALUES (" STR_FMT ", " STR_FMT ")", STR_ARG(key), STR_ARG(value)), err) : OK;
}

static Status settle_one(Tick *t, const LiveNote *n, Error *err UNUSED)
{
    if (n->value.n)
        set(t->l, n->key, n->value);
    else
        unset(t->l, n->key);
    return OK;
}

Status notes_write(Tick *t, Error *err) { return each(t, write_one, err); }

void notes_settle(Tick *t)
{
    Error ignored;

    pthread_mutex_lock(&t->l->lock);
    (void)!each(t, settle_one, &ignored);
    pthread_mutex_unlock(&t->l->lock);
}

/* ---- for others ---------------------------------------------------------------------------------------------------------- */

Status live_note_get(Live *l, Arena *a, Str key, Str *ret, Error *err UNUSED)
{
    pthread_mutex_lock(&l->lock);
    const Note *n = find(l, key);
    *ret = n ? str_dup(a, str_n(n->text, n->ntext)) : (Str){0};
    pthread_mutex_unlock(&l->lock);
    return OK;
}

Status notes_reset(Live *l, Error *err)
{
    live_lead(l);
    Status s = live_exec(l, S("DELETE FROM live.notes"), err);
    pthread_mutex_lock(&l->lock);
    if (s == OK)
        notes_free(l);
    pthread_mutex_unlock(&l->lock);
    live_unlead(l);
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* live_status.c - how sources and sinks are: the newest statuses of each, kept with the rows.
 *
 * live.statuses holds them; memory mirrors it and is what is read.  A status that says nothing new is not recorded, so a retry each second is one line.  Lines reach the
 * disk by whoever leads next, at the latest when the file is closed: nobody waits for a status.
 * Invariants: (1) at most LIVE_STATUSES lines of one object; (2) lines not on disk are the first of the list. */
#include "live/live_int.h"

static StatusLine *push(Live *l, int64_t seq, const LiveStatus *s)
{
    Arena *a = arena_create();
    StatusLine *line = arena_new(a, StatusLine);

    *line = (StatusLine){ .a = a, .seq = seq, .next = l->statuses };
    line->s = (LiveStatus){ .object = s->object, .at_ms = s->at_ms, .status = str_dup(a, s->status), .error = str_dup(a, s->error), .hint = str_dup(a, s->hint) };
    l->statuses = line;
    return line;
}

/* (1) */
static void trim(Live *l, int64_t id)
{
    size_t n = 0;

    for (StatusLine **at = &l->statuses; *at;) {
        StatusLine *s = *at;
        if (s->s.object == id && ++n > LIVE_STATUSES) {
            *at = s->next;
            arena_destroy(s->a);
        } else
            at = &s->next;
    }
}

static const StatusLine *newest(const Live *l, int64_t id)
{
    const StatusLine *s = l->statuses;
    while (s && s->s.object != id)
        s = s->next;
    return s;
}

static void forget(Live *l, int64_t id)
{
    for (StatusLine **at = &l->statuses; *at;) {
        StatusLine *s = *at;
        if (s->s.object == id || !id) {
            *at = s->next;
            arena_destroy(s->a);
        } else
            at = &s->next;
    }
}

void statuses_free(Live *l) { forget(l, 0); }

Status statuses_open(Live *l, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    size_t n;

    TRY(live_exec(l, S("CREATE TABLE IF NOT EXISTS live.statuses (seq BIGINT, id BIGINT, at_ms BIGINT, status VARCHAR, error VARCHAR, hint VARCHAR)"), err));
    TRY(duck_query_held(l->conn, S("SELECT seq, id, at_ms, status, error, hint FROM live.statuses ORDER BY seq"), &r, err));
    do {
        TRY(duck_next(r, &n, err));
        for (size_t i = 0; i < n; i++) {
            LiveStatus s = { .object = duck_value(a, r, 1, i).integer, .at_ms = duck_value(a, r, 2, i).integer, .status = duck_value(a, r, 3, i).string,
                             .error = duck_value(a, r, 4, i).string, .hint = duck_value(a, r, 5, i).string };
            l->status_seq = l->status_saved = duck_value(a, r, 0, i).integer;
            push(l, l->status_seq, &s);
        }
    } while (n);
    return OK;
}

/* ---- to the disk ------------------------------------------------------------------------------------------------------------ */

static void insert_sql(StrBuf *b, const StatusLine *s)
{
    sb_fmt(b, "INSERT INTO live.statuses VALUES (%lld, %lld, %lld, ", (long long)s->seq, (long long)s->s.object, (long long)s->s.at_ms);
    sql_lit(b, s->s.status);
    sb_addc(b, ", ");
    sql_lit(b, s->s.error);
    sb_addc(b, ", ");
    sql_lit(b, s->s.hint);
    sb_fmt(b, "); DELETE FROM live.statuses WHERE id = %lld AND seq NOT IN (SELECT seq FROM live.statuses WHERE id = %lld ORDER BY seq DESC LIMIT %d); ", (long long)s->s.object,
           (long long)s->s.object, LIVE_STATUSES);
}

/* As the leader. What cannot be written now is tried again by the next. */
void statuses_flush(Live *l)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrBuf b = sb_new(a);
    Error ignored;

    pthread_mutex_lock(&l->lock);
    int64_t upto = l->status_seq;
    for (const StatusLine *s = l->statuses; s && s->seq > l->status_saved; s = s->next)      /* (2) */
        insert_sql(&b, s);
    pthread_mutex_unlock(&l->lock);
    if (b.n && live_together(l, str_sub(sb_str(&b), 0, b.n - 2), &ignored) != OK)
        return;
    pthread_mutex_lock(&l->lock);
    l->status_saved = upto;
    pthread_mutex_unlock(&l->lock);
}

static bool lead_if_nobody_does(Live *l)
{
    pthread_mutex_lock(&l->lock);
    bool free_ = !l->leading;
    l->leading = 1;
    pthread_mutex_unlock(&l->lock);
    return free_;
}

/* ---- for others ---------------------------------------------------------------------------------------------------------------- */

static bool record(Live *l, const LiveStatus *s)
{
    pthread_mutex_lock(&l->lock);
    const StatusLine *last = newest(l, s->object);
    bool known = last && str_eq(last->s.status, s->status) && str_eq(last->s.error, s->error) && str_eq(last->s.hint, s->hint);
    if (!known) {
        push(l, ++l->status_seq, s);
        trim(l, s->object);
    }
    pthread_mutex_unlock(&l->lock);
    return !known;
}

void live_status_put(Live *l, int64_t object, const char *status, Str error, Str hint)
{
    LiveStatus s = { .object = object, .at_ms = clock_ms(), .status = str_c(status), .error = str_sub(error, 0, LIMIT_ERROR_TEXT), .hint = str_sub(hint, 0, LIMIT_ERROR_TEXT) };

    if (!record(l, &s) || !lead_if_nobody_does(l))
        return;
    statuses_flush(l);
    live_unlead(l);
}

Status live_status_list(Live *l, Arena *a, LiveStatuses *ret, Error *err UNUSED)
{
    pthread_mutex_lock(&l->lock);
    for (const StatusLine *s = l->statuses; s; s = s->next) {
        LiveStatus c = { .object = s->s.object, .at_ms = s->s.at_ms, .status = str_dup(a, s->s.status), .error = str_dup(a, s->s.error), .hint = str_dup(a, s->s.hint) };
        vec_push(a, ret, c);
    }
    pthread_mutex_unlock(&l->lock);
    for (size_t i = 0, k = ret->n; i + 1 < k; i++) {
        LiveStatus x = ret->p[i];
        ret->p[i] = ret->p[--k];
        ret->p[k] = x;
    }
    return OK;
}

static void erase(Live *l, int64_t object)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error ignored;                                    /* lines of an object that is gone harm nobody */

    live_lead(l);
    (void)!live_exec(l, object ? str_fmt(a, "DELETE FROM live.statuses WHERE id = %lld", (long long)object) : S("DELETE FROM live.statuses"), &ignored);
    pthread_mutex_lock(&l->lock);
    forget(l, object);
    pthread_mutex_unlock(&l->lock);
    live_unlead(l);
}

void live_status_forget(Live *l, int64_t object)
{
    if (object)
        erase(l, object);
}

void statuses_reset(Live *l) { erase(l, 0); }

/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog_sessions.c - the sessions that are open, for mz_sessions: each under an id of its own and the number that pg_backend_pid() gives it; and what they subscribe to. */
#include "service/live_sql.h"
#include "service/mzcatalog_int.h"

#include <stdlib.h>

enum { INNER_SESSIONS = 1 << 30 };                           /* numbers of sessions that came by no door of PostgreSQL's */

typedef struct Open { Session *ss; char id[40], peer[64]; int32_t pid; int64_t at_ms; } Open;
typedef struct Sub { int64_t ticket, at_ms; Session *ss; int64_t *objects; size_t n; } Sub;
struct MzSessions {
    pthread_mutex_t lock;
    Open *p;
    size_t n, cap;
    int32_t next;
    Sub *subs;
    size_t nsubs, subs_cap;
    int64_t tickets;
};

struct MzSessions *mz_sessions_new(void)
{
    struct MzSessions *s = calloc(1, sizeof *s);

    if (!s)
        abort();
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void mz_sessions_free(struct MzSessions *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->nsubs; i++)
        free(s->subs[i].objects);
    free(s->subs);
    pthread_mutex_destroy(&s->lock);
    free(s->p);
    free(s);
}

static void room_for_one(struct MzSessions *m)
{
    if (m->n < m->cap)
        return;
    m->cap = m->cap ? m->cap * 2 : 16;
    m->p = realloc(m->p, m->cap * sizeof *m->p);
    if (!m->p)
        abort();
}

void mz_session_begin(Service *s, Session *ss, Str peer)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    struct MzSessions *m = s->mz_sessions;
    Open o = { .ss = ss, .at_ms = clock_ms() };
    Str id = uuid_v4(a);

    if (!m)
        return;
    memcpy(o.id, id.p, min_size(id.n, sizeof o.id - 1));
    if (peer.n)
        memcpy(o.peer, peer.p, min_size(peer.n, sizeof o.peer - 1));
    pthread_mutex_lock(&m->lock);
    room_for_one(m);
    if (!ss->backend)
        ss->backend = INNER_SESSIONS + ++m->next;
    o.pid = ss->backend;
    m->p[m->n++] = o;
    pthread_mutex_unlock(&m->lock);
}

Status mz_session_room(Service *s, const Principal *p, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    struct MzSessions *m = s->mz_sessions;
    int64_t limit;
    size_t n = 0;

    if (!m || p->kind == PR_ROOT || !str_to_i64(setting_system(s, a, S("max_connections")), &limit))
        return OK;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n; i++)
        n += m->p[i].pid < INNER_SESSIONS;
    pthread_mutex_unlock(&m->lock);
    if ((int64_t)n < limit)
        return OK;
    RAISE(err, E_UNAVAILABLE, "creating connection would violate max_connections limit (desired: %zu, limit: %lld, current: %zu)", n + 1, (long long)limit, n);
    return live_refuse(E_UNAVAILABLE, "53300", err);
}

void mz_session_end(Service *s, Session *ss)
{
    struct MzSessions *m = s->mz_sessions;

    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n; i++)
        if (m->p[i].ss == ss) {
            m->p[i] = m->p[--m->n];
            break;
        }
    pthread_mutex_unlock(&m->lock);
}

bool mz_session_find(Service *s, Arena *a, int64_t pid, MzBackend *ret)
{
    struct MzSessions *m = s->mz_sessions;
    bool found = false;

    if (!m)
        return false;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n && !found; i++)
        if ((found = m->p[i].pid == pid))
            *ret = (MzBackend){ str_dup(a, str_c(m->p[i].id)), principal_dup(a, &m->p[i].ss->principal) };
    pthread_mutex_unlock(&m->lock);
    return found;
}

/* Under the lock: a session takes itself off the list before it goes. */
bool mz_session_cancel(Service *s, Str id)
{
    struct MzSessions *m = s->mz_sessions;
    bool found = false;

    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n && !found; i++)
        if ((found = str_eq(str_c(m->p[i].id), id)))
            session_cancel(m->p[i].ss);
    pthread_mutex_unlock(&m->lock);
    return found;
}

/* ---- subscriptions ------------------------------------------------------------------------------------------------------------------ */

static Sub *room_for_sub(struct MzSessions *m)
{
    if (m->nsubs == m->subs_cap) {
        m->subs_cap = m->subs_cap ? m->subs_cap * 2 : 16;
        m->subs = realloc(m->subs, m->subs_cap * sizeof *m->subs);
        if (!m->subs)
            abort();
    }
    return &m->subs[m->nsubs++];
}

int64_t mz_subscription_begin(Service *s, Session *ss, const int64_t *objects, size_t n)
{
    struct MzSessions *m = s->mz_sessions;
    int64_t *copy = calloc(n + 1, sizeof *copy);

    if (!copy)
        abort();
    for (size_t i = 0; i < n; i++)
        copy[i] = objects[i];
    pthread_mutex_lock(&m->lock);
    int64_t ticket = ++m->tickets;
    *room_for_sub(m) = (Sub){ .ticket = ticket, .at_ms = clock_ms(), .ss = ss, .objects = copy, .n = n };
    pthread_mutex_unlock(&m->lock);
    return ticket;
}

void mz_subscription_end(Service *s, int64_t ticket)
{
    struct MzSessions *m = s ? s->mz_sessions : NULL;

    if (!m || !ticket)
        return;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->nsubs; i++)
        if (m->subs[i].ticket == ticket) {
            free(m->subs[i].objects);
            m->subs[i] = m->subs[--m->nsubs];
            break;
        }
    pthread_mutex_unlock(&m->lock);
}

/* ---- the relations ------------------------------------------------------------------------------------------------------------------ */

/* What of a session never changes: copied under the lock, so it cannot end meanwhile. */
typedef struct Seen { Str id, arn, user, application, peer; int64_t pid, at_ms; } Seen;
typedef VEC(Seen) SeenVec;

static void copy(MzFill *f, SeenVec *ret)
{
    struct MzSessions *m = f->r->svc->mz_sessions;

    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n; i++) {
        Session *ss = m->p[i].ss;
        Seen x = { .id = str_dup(f->a, str_c(m->p[i].id)), .arn = str_dup(f->a, ss->principal.arn), .user = str_dup(f->a, ss->principal.key_id),
                   .application = str_dup(f->a, ss->application), .peer = str_dup(f->a, str_c(m->p[i].peer)), .pid = m->p[i].pid, .at_ms = m->p[i].at_ms };
        vec_push(f->a, ret, x);
    }
    pthread_mutex_unlock(&m->lock);
}

/* The role of who signed in; the superuser's when it has made none yet. */
static Str role_of(MzFill *f, const Seen *x)
{
    for vec_each(RealmRole, r, &f->w->roles)
        if (r->principal.n && str_eq(r->principal, x->arn))
            return r->id;
    return S(REALM_SUPERUSER);
}

/* Without the port. */
static Str address(Str peer)
{
    ptrdiff_t colon = str_rchr(peer, ':');
    return colon > 0 ? str_sub(peer, 0, (size_t)colon) : peer;
}

Status mzf_sessions(MzFill *f)
{
    SeenVec all = {0};

    copy(f, &all);
    for vec_each(Seen, x, &all) {
        mz_uuid(f, x->id);
        mz_int(f, x->pid);
        mz_str(f, role_of(f, x));
        mz_opt(f, address(x->peer));
        mz_time(f, x->at_ms);
        mz_end(f);
    }
    return OK;
}

Status mzf_session_history(MzFill *f)
{
    SeenVec all = {0};

    copy(f, &all);
    for vec_each(Seen, x, &all) {
        mz_uuid(f, x->id);
        mz_time(f, x->at_ms);
        mz_str(f, x->application);
        mz_str(f, x->user);
        mz_end(f);
    }
    return OK;
}

typedef struct SeenSub { int64_t ticket, at_ms; Str session; StrVec objects; } SeenSub;
typedef VEC(SeenSub) SeenSubs;

static void copy_subs(MzFill *f, SeenSubs *ret)
{
    struct MzSessions *m = f->r->svc->mz_sessions;

    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->nsubs; i++) {
        SeenSub x = { .ticket = m->subs[i].ticket, .at_ms = m->subs[i].at_ms };
        for (size_t k = 0; k < m->n; k++)
            if (m->p[k].ss == m->subs[i].ss)
                x.session = str_dup(f->a, str_c(m->p[k].id));
        for (size_t k = 0; k < m->subs[i].n; k++)
            vec_push(f->a, &x.objects, mz_id(f->a, m->subs[i].objects[k]));
        vec_push(f->a, ret, x);
    }
    pthread_mutex_unlock(&m->lock);
}

/* They run beside the clusters: the first one is told. */
Status mzf_subscriptions(MzFill *f)
{
    SeenSubs all = {0};

    copy_subs(f, &all);
    for vec_each(SeenSub, x, &all) {
        mz_str(f, str_fmt(f->a, "t%lld", (long long)x->ticket));
        mz_uuid(f, x->session);
        mz_str(f, f->w->clusters.n ? f->w->clusters.p[0].id : S(""));
        mz_time(f, x->at_ms);
        mz_list(f, &x->objects);
        mz_end(f);
    }
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog_audit.c - the audit log as a relation of ticks, so that continuous views, subscriptions and sinks can read it.
 *
 * The log itself is the realm's (documents of the catalog); a query reads it there.  A definition, which is to follow it, reads a table of live.db that a thread of its own
 * fills from the log, behind the statements that write it: within a moment, in their order, each event once.  What a crash leaves out is found at the next start.
 * Invariant: the table holds the events up to the greatest id in it. */
#include "service/mzcatalog_int.h"

#include <stdlib.h>

struct MzAudit {
    Service *svc;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    int running, stop, dirty;
};

static const MzRelation *log_relation(void) { return mz_relation(S("mz_catalog"), S("mz_audit_events")); }

/* ---- the table ---------------------------------------------------------------------------------------------------------------------- */

static Str engine_column(Arena *a, size_t i) { return str_fmt(a, "c%zu", i + 1); }

Status mz_audit_open(Service *s, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    LiveColumns cols = {0};
    bool not_null;
    char letter;
    Str name;

    if (live_has(s->live, MZ_AUDIT_RELATION))
        return OK;
    for (Str rest = str_c(log_relation()->columns); mz_next_column(&rest, &name, &letter, &not_null);) {
        LiveColumn c = { .engine = engine_column(a, cols.n), .type = mz_letter_type(letter), .not_null = not_null };
        vec_push(a, &cols, c);
    }
    return live_table_create(s->live, MZ_AUDIT_RELATION, &cols, err);
}

void mz_audit_bind(Arena *a, BoundTable *t)
{
    t->id = live_source_id(a, MZ_AUDIT_RELATION);
    for (size_t i = 0; i < t->columns.n; i++)
        t->columns.p[i].engine = engine_column(a, i);
}

/* ---- filling it ------------------------------------------------------------------------------------------------------------------------ */

static Status greatest(Service *s, Arena *a, DuckConn *c, int64_t *ret, Error *err)
{
    bool has;
    Str rows;

    TRY(live_relation_sql(s->live, a, MZ_AUDIT_RELATION, &rows, err));
    TRY(duck_scalar_i64(c, str_fmt(a, "SELECT CAST(coalesce(max(c1), 0) AS BIGINT) FROM " STR_FMT, STR_ARG(rows)), ret, &has, err));
    return OK;
}

static void add_text(Arena *a, StrBuf *b, Str text, char letter)
{
    DataType t = mz_letter_type(letter);

    sb_addc(b, "CAST(");
    sb_add(b, sql_lit_str(a, text));
    sb_addc(b, " AS ");
    sb_add(b, data_type_sql(a, &t));
    sb_byte(b, ')');
}

static void add_event(Arena *a, StrBuf *b, const RealmEvent *e)
{
    sb_addc(b, b->n ? ", (" : "SELECT * FROM (VALUES (");
    sb_fmt(b, "CAST(%lld AS UBIGINT), ", (long long)e->id);
    add_text(a, b, e->event, 's');
    sb_addc(b, ", ");
    add_text(a, b, e->type, 's');
    sb_addc(b, ", ");
    add_text(a, b, e->details ? json_text(a, e->details) : S("{}"), 'j');
    sb_addc(b, ", ");
    if (e->user.n)
        add_text(a, b, e->user, 's');
    else
        sb_addc(b, "NULL");
    sb_fmt(b, ", make_timestamptz(%lld))", (long long)e->at_ms * 1000);
}

static Status fill(Service *s, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(duck_disconnectp) DuckConn *c = NULL;
    StrBuf b = sb_new(a);
    RealmEvents all = {0};
    LiveWrite w = {0};
    int64_t last, t;

    TRY(duck_connect(s->engine, &c, err));
    TRY(greatest(s, a, c, &last, err));
    TRY(realm_events_after(s->realm, a, last, &all, err));
    for vec_each(RealmEvent, e, &all)
        add_event(a, &b, e);
    if (!b.n)
        return OK;
    sb_addc(&b, ") AS e");
    TRY(live_stage_inserts(s->live, a, c, MZ_AUDIT_RELATION, sb_str(&b), &w, err));
    return live_commit(s->live, &w, 1, &t, err);
}

/* ---- the thread -------------------------------------------------------------------------------------------------------------------------- */

static bool next(struct MzAudit *m)
{
    pthread_mutex_lock(&m->lock);
    while (!m->stop && !m->dirty)
        pthread_cond_wait(&m->wake, &m->lock);
    m->dirty = 0;
    bool go = !m->stop;
    pthread_mutex_unlock(&m->lock);
    return go;
}

static void *run(void *arg)
{
    struct MzAudit *m = arg;
    Error err;

    while (next(m))
        if (fill(m->svc, &err) != OK)
            log_error(&err, "the audit log's relation was not written", NULL);
    return NULL;
}

struct MzAudit *mz_audit_start(Service *s)
{
    struct MzAudit *m = calloc(1, sizeof *m);

    if (!m)
        abort();
    m->svc = s;
    m->dirty = 1;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->wake, NULL);
    m->running = pthread_create(&m->thread, NULL, run, m) == 0;
    return m;
}

void mz_audit_wake(struct MzAudit *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->dirty = 1;
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&m->lock);
}

void mz_audit_stop(struct MzAudit *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->stop = 1;
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&m->lock);
    if (m->running)
        pthread_join(m->thread, NULL);
    pthread_cond_destroy(&m->wake);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

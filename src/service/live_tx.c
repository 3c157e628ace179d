/* SPDX-License-Identifier: Apache-2.0 */
/* live_tx.c - transactions on the live side: their inserts become one tick at COMMIT.
 *
 * A transaction inserts or reads, as Materialize has it: the first statement decides.  UPDATE, DELETE, and INSERT of a query stand alone. */
#include "live/live.h"
#include "service/live_sql.h"

typedef struct LiveTx { Arena *a; VEC(LiveWrite) writes; } LiveTx;

static Status sqlstate(Status s, const char *code, Error *err)
{
    memcpy(err->sqlstate, code, 6);
    return s;
}

bool live_tx_open(const Session *ss) { return ss->tx == 'T'; }

void live_tx_add(Session *ss, const LiveWrite *w, size_t n)
{
    if (!ss->live_tx) {
        Arena *a = arena_create();
        ss->live_tx = arena_new(a, LiveTx);
        ss->live_tx->a = a;
    }
    for (size_t i = 0; i < n; i++) {
        LiveWrite mine = w[i];
        mine.stage = str_dup(ss->live_tx->a, w[i].stage);
        mine.cells = NULL;                             /* they are the statement's */
        mine.ncells = 0;
        vec_push(ss->live_tx->a, &ss->live_tx->writes, mine);
    }
}

static void end(Session *ss)
{
    arena_destroy(ss->live_tx->a);
    ss->live_tx = NULL;
}

void live_tx_forget(Session *ss)
{
    if (!ss->live_tx)
        return;
    for (size_t i = 0; i < ss->live_tx->writes.n; i++)
        live_unstage(ss->svc->live, &ss->live_tx->writes.p[i]);
    end(ss);
}

Status live_tx_commit(Session *ss, Error *err)
{
    int64_t t;

    if (!ss->live_tx)
        return OK;
    Status s = live_commit(ss->svc->live, ss->live_tx->writes.p, ss->live_tx->writes.n, &t, err);
    if (s != OK)
        live_tx_forget(ss);
    else
        end(ss);
    return s;
}

Status live_tx_may_read(const Session *ss, Error *err)
{
    if (!ss->live_tx)
        return OK;
    RAISE(err, E_INVALID, "transaction in write-only mode");
    error_hint(err, "A transaction inserts or reads: read after COMMIT.");
    return sqlstate(E_INVALID, "25000", err);
}

Status live_tx_may_change(const Session *ss, const char *what, Error *err)
{
    if (ss->tx != 'T')
        return OK;
    RAISE(err, E_INVALID, "%s cannot be run inside a transaction block", what);
    return sqlstate(E_INVALID, "25001", err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* pg_conn.c - one connection on its own thread: sign in, then a message at a time until the client leaves.
 *
 * Invariants: (1) every message is answered or the connection ends; (2) after an error in the extended protocol all is
 * skipped up to Sync; (3) `busy` is set from a command's first message to its ReadyForQuery: only then a cancel reaches the
 * session. */
#include "door/pg/pg_int.h"

#include <signal.h>
#include <stdio.h>

static bool stopping(PgConn *c) { return __atomic_load_n(&c->door->stopping, __ATOMIC_ACQUIRE); }

static void fatal(PgConn *c, Error *err)
{
    pg_send_error(c, "FATAL", err);
    pg_wire_flush(&c->wire);
}

static void say_goodbye(PgConn *c)
{
    Error err;
    RAISE(&err, E_UNAVAILABLE, "terminating connection due to administrator command");
    snprintf(err.sqlstate, sizeof err.sqlstate, "57P01");
    fatal(c, &err);
}

/* ---- busy or idle ---------------------------------------------------------------------------------------------------- */

static void set_busy(PgConn *c, int busy)
{
    if (c->busy == busy)
        return;
    pthread_mutex_lock(&c->door->lock);
    c->busy = busy;
    c->gone_us = 0;
    if (busy)
        __atomic_store_n(&c->cancelled, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&c->door->lock);
}

static void ready(PgConn *c)
{
    set_busy(c, 0);
    c->text = (Str){ 0 };
    pg_send_ready(c);
}

/* ---- messages ------------------------------------------------------------------------------------------------------------ */

static void extended_failed(PgConn *c, const Error *err)
{
    pg_send_notices(c);
    pg_send_error(c, "ERROR", err);
    c->text = (Str){ 0 };
    c->skip = 1;
    pg_drop_portals(c);
}

static void on_sync(PgConn *c)
{
    PgHooks *h = &c->door->hooks;

    c->skip = 0;
    if (h->sync)
        h->sync(c->session);
    if (!h->tx_status || h->tx_status(c->session) != 'T')
        pg_drop_portals(c);
    ready(c);
}

static void on_query(PgConn *c, Str body)
{
    PgIn in = pg_in(body);
    Str text = pg_in_cstr(&in);
    Error err;

    pg_drop_unnamed(c);
    if (!pg_in_done(&in)) {
        RAISE(&err, E_INVALID, "invalid Query message");
        snprintf(err.sqlstate, sizeof err.sqlstate, "08P01");
        pg_send_error(c, "ERROR", &err);
    } else {
        pg_simple_query(c, text);
    }
    if (!c->door->hooks.tx_status || c->door->hooks.tx_status(c->session) != 'T')
        pg_drop_portals(c);
    ready(c);
}

/* false: the connection ends. */
static bool on_message(PgConn *c, char type, Str body)
{
    Error err;

    switch (type) {
    case 'Q':
        set_busy(c, 1);
        c->skip = 0;
        on_query(c, body);
        return true;
    case 'P': case 'B': case 'D': case 'E': case 'C':
        set_busy(c, 1);
        if (!c->skip && pg_extended(c, type, body, &err) != OK)
            extended_failed(c, &err);
        pg_wire_flush_if_full(&c->wire);
        return true;
    case 'H':
        pg_wire_flush(&c->wire);
        return true;
    case 'S':
        on_sync(c);
        return true;
    case 'd': case 'c': case 'f':                         /* the rest of a COPY that failed */
        return true;
    case 'F':
        RAISE(&err, E_UNSUPPORTED, "function call messages are not supported: use SELECT");
        pg_send_error(c, "ERROR", &err);
        ready(c);
        return true;
    case 'X':
        return false;
    default:
        RAISE(&err, E_INVALID, "invalid frontend message type %d", (unsigned char)type);
        snprintf(err.sqlstate, sizeof err.sqlstate, "08P01");
        fatal(c, &err);
        return false;
    }
}

/* A message that was too long has been skipped: it fails as it would have by another error. */
static bool on_too_long(PgConn *c, char type, const Error *err)
{
    if (type == 'd' || type == 'c' || type == 'f')
        return true;
    set_busy(c, 1);
    if (type == 'Q') {
        pg_send_error(c, "ERROR", err);
        ready(c);
    } else if (!c->skip) {
        extended_failed(c, err);
    }
    return true;
}

static bool next_message(PgConn *c)
{
    char type = 0;
    Str body;
    Error err;

    Status s = pg_wire_message(&c->wire, c->door->max_message, &type, &body, &err);
    if (s == E_LIMIT)
        return on_too_long(c, type, &err);
    if (s == OK)
        return on_message(c, type, body);
    if (s == E_INVALID)
        fatal(c, &err);
    return false;
}

static void serve(PgConn *c)
{
    while ((c->busy || !stopping(c)) && !c->wire.dead && next_message(c))
        ;
    if (stopping(c))
        say_goodbye(c);
}

/* ---- sign in and out ------------------------------------------------------------------------------------------------------- */

static Status count_in(PgConn *c, Error *err)
{
    pthread_mutex_lock(&c->door->lock);
    int full = c->door->nsessions >= c->door->max_connections;
    if (!full) {
        c->door->nsessions++;
        c->counted = 1;
    }
    pthread_mutex_unlock(&c->door->lock);
    return full ? FAIL(err, E_UNAVAILABLE, "sorry, too many clients already: the limit is %d", c->door->max_connections) : OK;
}

static Status sign_in(PgConn *c, int *proceed, Error *err)
{
    PgHooks *h = &c->door->hooks;
    void *session = NULL;

    TRY(pg_startup(c, proceed, err));
    if (!*proceed)
        return OK;
    TRY(pg_authenticate(c, err));
    TRY(count_in(c, err));
    c->login.id = c->id;
    TRY(h->open(h->ctx, &c->login, &session, err));
    pthread_mutex_lock(&c->door->lock);
    c->session = session;
    pthread_mutex_unlock(&c->door->lock);
    c->wire.deadline_us = 0;
    pg_send_parameters(c);
    pg_out_begin(&c->wire.out, 'K');
    pg_out_i32(&c->wire.out, c->id);
    pg_out_i32(&c->wire.out, c->key);
    pg_out_end(&c->wire.out);
    pg_send_notices(c);
    pg_send_ready(c);
    return OK;
}

static void sign_out(PgConn *c)
{
    void *session = c->session;

    pg_drop_portals(c);
    if (session)
        pg_drop_statements(c);
    pthread_mutex_lock(&c->door->lock);
    c->session = NULL;                                   /* no cancel reaches it from here on */
    c->door->nsessions -= c->counted;
    pthread_mutex_unlock(&c->door->lock);
    if (session)
        c->door->hooks.close(session);
}

void *pg_conn_main(void *conn)
{
    PgConn *c = conn;
    PgDoor *d = c->door;
    int proceed = 0;
    sigset_t set;
    Error err;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);                            /* TLS writes do not say MSG_NOSIGNAL */
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    c->wire.deadline_us = clock_mono_us() + PG_STARTUP_SECONDS * INT64_C(1000000);
    if (sign_in(c, &proceed, &err) != OK) {
        if (!c->wire.dead)
            fatal(c, &err);
    } else if (proceed) {
        serve(c);
    }
    sign_out(c);
    pg_wire_flush(&c->wire);
    pthread_mutex_lock(&d->lock);
    pg_wire_done(&c->wire);
    c->wire.fd = -1;
    c->finished = 1;
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog.h - mz_catalog and mz_internal: what the live side consists of and how it is doing, as Materialize's clients ask it (spec/materialize.md 1.11).
 *
 * A relation that a query names becomes a temporary table of the statement's own connection, filled at that moment; relations that are defined over others become
 * temporary views.  Unqualified mz_… names are found too: mz_catalog is part of every search path.  Sessions of the live side alone. */
#ifndef FIRN_MZCATALOG_H
#define FIRN_MZCATALOG_H

#include "service/session_int.h"

/* E_NOT_FOUND without a message: no name of the two schemas. */
NODISCARD Status mzcat_resolve(Run *r, Arena *a, const TableRef *ref, BoundTable **ret, Error *err);

/* Object ids of PostgreSQL's kind: the same wherever they are shown. */
uint32_t mz_object_oid(int64_t id);
uint32_t mz_realm_oid(char kind, Str id);                    /* 'd' database, 's' schema, 'r' role */

/* mzcatalog_pg.c: the live side's part of pg_catalog: its schemas, roles, relations, by the same numbers. */
struct PgCatObjects;
void pgcat_live(Run *r, struct PgCatObjects *ret);

/* mzcatalog_lag.c: how far behind the wall clock each object is, sampled once a minute and kept for a day. */
struct MzLag *mz_lag_start(Service *s);
void mz_lag_stop(struct MzLag *l);
void mz_lag_forget(struct MzLag *l);                         /* a reset */

/* mzcatalog_audit.c: the audit log as a relation of ticks. */
#define MZ_AUDIT_RELATION ((int64_t)0)                       /* before every object: a view reads what is older than it */
NODISCARD Status mz_audit_open(Service *s, Error *err);      /* makes its table */
struct MzAudit *mz_audit_start(Service *s);
void mz_audit_wake(struct MzAudit *m);                       /* there are new events; NULL is fine */
void mz_audit_stop(struct MzAudit *m);

/* mzcatalog_sessions.c: who is connected. */
/* E_UNAVAILABLE (53300): max_connections are open; root comes in. */
NODISCARD Status mz_session_room(Service *s, const Principal *p, Error *err);
struct MzSessions *mz_sessions_new(void);
void mz_sessions_free(struct MzSessions *s);
void mz_session_begin(Service *s, Session *ss, Str peer);
void mz_session_end(Service *s, Session *ss);
typedef struct MzBackend { Str id; Principal who; } MzBackend;
bool mz_session_find(Service *s, Arena *a, int64_t pid, MzBackend *ret);                      /* the session that pg_backend_pid() gives this number */
bool mz_session_cancel(Service *s, Str id);                                                   /* what it runs; false: it has gone */
NODISCARD Status run_cancel_backend(Run *r, Error *err);     /* backend_cancel.c: does it, when the query is a call of pg_cancel_backend, and leaves the answer in its place */
int64_t mz_subscription_begin(Service *s, Session *ss, const int64_t *objects, size_t n);      /* a ticket for its end */
void mz_subscription_end(Service *s, int64_t ticket);

#endif

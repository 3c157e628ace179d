/* SPDX-License-Identifier: Apache-2.0 */
/* pgdoor.h - the SQL door: PostgreSQL wire protocol v3 on a socket, one thread a connection.
 *
 * Knows messages, portals, formats, SCRAM, TLS and COPY framing; knows nothing of tables.  Statements go to a session behind the
 * PgHooks, which the program wires to service/.  Sources: PostgreSQL 15 documentation chapter 55; traps: spec/materialize.md 6. */
#ifndef FIRN_PGDOOR_H
#define FIRN_PGDOOR_H

#include "base/base.h"
#include "duck/duck.h"

typedef struct PgColumn { Str name; DataType type; int32_t pg_oid; int32_t typmod; } PgColumn;    /* pg_oid, typmod 0: by type */
typedef VEC(PgColumn) PgColumns;

/* A statement that has been parsed and described; lives in the session until closed. */
typedef struct PgPrepared { void *impl; PgColumns columns; int returns_rows; int nparams; const DataType *param_types; } PgPrepared;

/* Rows of one running statement, pulled. */
typedef struct PgCursor PgCursor;
struct PgCursor {
    void *impl;
    PgColumns columns;                /* empty: a statement without rows */
    /* Next row into `cells` (columns.n of them), *has 0 at the end, 2 when none is at hand: what was sent is flushed, and it is asked again. Cells live until the next call, which may come with
     * another arena. NULL: no rows. */
    Status (*next)(PgCursor *c, Arena *a, Value *cells, int *has, Error *err);
    /* "SELECT 5", "INSERT 0 3", "CREATE TABLE". Empty text: the query was empty. NULL: "SELECT n", "COPY n". */
    Str (*tag)(PgCursor *c, Arena *a, int64_t nrows);
    void (*close)(PgCursor *c);       /* called once for every cursor that was given; NULL: nothing to do */
    /* DEALLOCATE of a name that the session does not know itself: the door drops the protocol-level statement of that
     * name (26000 if it has none either), or all of them. */
    Str forget;
    int forget_all;
    int copy_out, copy_in;            /* COPY: the door frames rows; `columns` are the columns sent or expected */
    Props copy_options;               /* format text|csv|binary, header, delimiter, null, quote, escape */
    /* COPY FROM STDIN: one row at a time, its fields as text (nulls[i] set: no field), then done. A failed COPY is
     * closed without it. */
    Status (*copy_row)(PgCursor *c, Arena *a, const Str *fields, const int *nulls, size_t n, Error *err);
    Status (*copy_done)(PgCursor *c, Arena *a, int64_t *nrows, Error *err);
};

typedef struct PgNotice { char severity[16]; char sqlstate[6]; char message[1024]; char detail[512]; char hint[512]; } PgNotice;

typedef struct PgLogin { Str user, database, application, peer; Props options; int loopback, tls; int32_t id; } PgLogin;    /* options: -c key=value and start-up parameters; id: what a cancel names */

typedef struct PgHooks {
    void *ctx;
    /* The secret that SCRAM proves for this user. trust 1: let in without a password. E_AUTH: unknown user (answered after a sham exchange). */
    Status (*secret)(void *ctx, Arena *a, const PgLogin *l, Str *secret, int *trust, Error *err);
    Status (*open)(void *ctx, const PgLogin *l, void **session, Error *err);
    void (*close)(void *session);
    void (*cancel)(void *session);                          /* any thread, any moment while a command runs; must not wait */
    char (*tx_status)(void *session);                       /* 'I' idle, 'T' in a transaction, 'E' failed */
    /* Split a simple query into statements and run each: the door calls prepare_text for the whole text, then run for each index. */
    Status (*split)(void *session, Arena *a, Str text, size_t *n, void **batch, Error *err);
    Status (*run)(void *session, Arena *a, void *batch, size_t i, PgCursor *ret, Error *err);
    /* Extended protocol. Declared types may hold DT_INVALID entries. */
    Status (*prepare)(void *session, Str text, const DataType *declared, size_t n, PgPrepared *ret, Error *err);
    void (*unprepare)(void *session, PgPrepared *p);
    /* Columns of a cursor that a statement declared, for Describe of a portal of that name. E_NOT_FOUND. May be NULL. */
    Status (*cursor)(void *session, Arena *a, Str name, PgColumns *ret, Error *err);
    Status (*execute)(void *session, Arena *a, PgPrepared *p, const Value *params, size_t n, PgCursor *ret, Error *err);
    /* Notices since the last call (REFRESH's report, warnings). 0: none left. */
    int (*notice)(void *session, PgNotice *ret);
    /* ParameterStatus values: server_version, TimeZone, DateStyle …; asked at start and after each statement for changes. */
    void (*parameters)(void *session, Arena *a, Props *ret);
    /* At Sync, and after the last statement or the error of a simple query: the end of an implicit transaction. */
    void (*sync)(void *session);
} PgHooks;

typedef struct PgDoor PgDoor;
typedef struct PgDoorOptions {
    Str addr;                         /* empty: 127.0.0.1 */
    int port;                         /* 0: any */
    int max_connections;              /* 0: 256; one more is answered with SQLSTATE 53300 */
    Str tls_cert, tls_key;            /* TLS when both PEM texts are set */
    size_t max_message;               /* 0: 64 MiB; a longer message is skipped and answered with SQLSTATE 54000 */
} PgDoorOptions;
/* Copies options and hooks, binds, starts to accept. E_INVALID: certificate or key; E_IO: the address. */
NODISCARD Status pgdoor_open(const PgDoorOptions *o, const PgHooks *h, PgDoor **ret, Error *err);
int pgdoor_port(const PgDoor *d);
int64_t pgdoor_connections(const PgDoor *d);          /* signed in */
/* Stop accepting, end idle connections, let running commands finish for the grace, then cancel them; joins every thread
 * and frees. NULL is fine. */
void pgdoor_close(PgDoor *d, int grace_seconds);

/* PostgreSQL's text and binary forms of a value, shared with COPY. oid 0: by type.  A NULL value has no form: the caller
 * asks first.  Times are in UTC, dates in ISO style, bytea in hex.  E_UNSUPPORTED: no binary form; E_INVALID (22P02,
 * 22P03, 22007), E_OVERFLOW: input that is no value of the type. */
int32_t pg_type_oid(const DataType *t);
NODISCARD Status pg_value_text(Arena *a, const Value *v, Str *ret, Error *err);
NODISCARD Status pg_value_binary(Arena *a, const Value *v, int32_t oid, Str *ret, Error *err);
/* format 0 text, 1 binary; oid: the wire type of binary input. A DECIMAL without precision takes the input's own. */
NODISCARD Status pg_value_parse(Arena *a, const DataType *t, int32_t oid, int format, Str bytes, Value *ret, Error *err);

#endif

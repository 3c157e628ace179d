/* SPDX-License-Identifier: Apache-2.0 */
/* pg_int.h - PostgreSQL as a source: its stream decoded, its values, its tables, its connections. libpq is seen here alone. */
#ifndef FIRN_SOURCE_PG_INT_H
#define FIRN_SOURCE_PG_INT_H

#include "source/source_int.h"

#include <libpq-fe.h>

enum {
    PG_MESSAGE_MAX = 1024 * 1024 * 1024,     /* what the server sends at most */
    PG_COLUMNS_MAX = 1664,
    PG_TABLES_MAX = SOURCE_OUTPUTS_MAX,
    PG_ARRAY_MAX = 10 * 1024 * 1024,         /* elements */
    PG_NUMERIC_SCALE = 10,                   /* of a numeric that says none */
    PG_CONNECT_S = 15,
    PG_ASK_S = 30,                           /* for all that a statement of ours asks */
};

/* ---- pg_decode.c: the messages of pgoutput, version 1. Pure; texts point into the bytes. ------------------------------------------------- */

typedef struct PgCell { char kind; Str text; } PgCell;               /* 'n' null, 'u' unchanged and not sent, 't' text */
typedef VEC(PgCell) PgTuple;
typedef struct PgRelColumn { Str name; uint32_t type; int32_t mod; } PgRelColumn;
typedef struct PgMessage {
    char kind;                               /* 'B' begin, 'C' commit, 'R' relation, 'I' insert, 'U' update, 'D' delete, 'T' truncate; others are passed over */
    uint64_t final_lsn, end_lsn;             /* B: of the commit; C: behind the commit */
    uint32_t relation;
    Str ns, name;
    char identity;                           /* R: 'f' full, 'd' default, 'n' nothing, 'i' an index */
    VEC(PgRelColumn) columns;
    char old_kind;                           /* 'O' whole, 'K' the key alone, 0 none */
    PgTuple before, after;
    VEC(uint32_t) truncated;
} PgMessage;
NODISCARD Status pg_message(Arena *a, Str bytes, PgMessage *ret, Error *err);       /* E_CORRUPT */

/* What comes in the copy stream: 'w' with a message, 'k' a sign of life. */
typedef struct PgFrame { char kind; uint64_t start, end; int reply; Str body; } PgFrame;
NODISCARD Status pg_frame(Str bytes, PgFrame *ret, Error *err);
/* A line of COPY's text form to cells; unescaped texts live in `a`. */
NODISCARD Status pg_copy_line(Arena *a, Str line, PgTuple *ret, Error *err);

/* ---- pg_value.c: a value's text, as ISO dates, postgres intervals and hexadecimal bytea have it ------------------------------------------- */

/* The type of a column; false: we have none for it. */
bool pg_type(Arena *a, uint32_t oid, int32_t mod, DataType *ret, Str *sql_type);
NODISCARD Status pg_value(Arena *a, uint32_t oid, const DataType *t, Str text, Value *ret, Error *err);      /* E_INVALID, E_OVERFLOW */

typedef struct Pg { PGconn *c; SourceRun *r; int64_t until_us; } Pg;      /* r: may be NULL; its stop ends every wait, as does until_us when it is not 0 */

/* ---- pg_table.c: the tables of a publication ----------------------------------------------------------------------------------------------- */

typedef struct PgColumn { int num; Str name; uint32_t type; int32_t mod; int not_null, as_text; } PgColumn;
typedef struct PgTable { uint32_t oid; Str ns, name; char identity; VEC(PgColumn) columns; StrVec key; } PgTable;
typedef VEC(PgTable) PgTables;
NODISCARD Status pg_tables(Arena *a, const Pg *p, Str publication, PgTables *ret, Error *err);
/* Those that the options ask for, in their order, with TEXT COLUMNS and EXCLUDE COLUMNS carried out; the errors of CREATE SOURCE. */
NODISCARD Status pg_choose(Arena *a, const Json *options, const PgTables *all, PgTables *ret, Error *err);
NODISCARD Status pg_output(Arena *a, const PgTable *t, SourceOutput *ret, Error *err);
NODISCARD Status pg_pinned(Arena *a, const SourceOutput *o, PgTable *ret, Error *err);

/* ---- pg_conn.c ----------------------------------------------------------------------------------------------------------------------------------- */

typedef enum { PG_PLAIN, PG_REPLICATION } PgHow;
NODISCARD Status pg_connect(const Json *connection, PgHow how, SourceRun *r, Pg *ret, Error *err);      /* r NULL: until_us is PG_ASK_S from now */
void pg_close(Pg *p);
void pg_clearp(PGresult **r);
NODISCARD Status pg_query(const Pg *p, Str sql, PGresult **ret, Error *err);      /* E_IO and the server's words; rows, or COPY's beginning */
NODISCARD Status pg_do(const Pg *p, Str sql, Error *err);
NODISCARD Status pg_failed(const Pg *p, const PGresult *r, Error *err);
/* The next piece of a COPY: *n -1 at its end, 0: nothing within wait_ms. Free with PQfreemem. */
NODISCARD Status pg_copied(const Pg *p, int wait_ms, char **bytes, int *n, Error *err);
static inline Str pg_cell(const PGresult *r, int row, int col) { return str_n(PQgetvalue(r, row, col), (size_t)PQgetlength(r, row, col)); }
bool pg_lsn(Str text, uint64_t *ret);                /* 16/B374D848 */
Str pg_lsn_text(Arena *a, uint64_t lsn);
void pg_ident(StrBuf *b, Str name);
void pg_literal(StrBuf *b, Str text);                /* standard_conforming_strings */

#endif

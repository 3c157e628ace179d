/* SPDX-License-Identifier: Apache-2.0 */
/* duck.h - the SQL engine: open, run, typed rows in and out, quoting.
 *
 * Alone sees duckdb.h.  Knows no socket, no catalog, no object store: it is given SQL text that this program made
 * and local file paths.  Users' text never comes here: see sql/.
 * An engine is one in-memory database shared by all threads; a connection belongs to one thread at a time, except
 * duck_interrupt, which any thread may call at any moment. */
#ifndef FIRN_DUCK_H
#define FIRN_DUCK_H

#include "base/base.h"

/* ---- types --------------------------------------------------------------------------------------------- */

typedef enum {
    DT_INVALID, DT_NULL, DT_BOOL, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_INT128, DT_UINT8, DT_UINT16, DT_UINT32,
    DT_UINT64, DT_UINT128, DT_FLOAT, DT_DOUBLE, DT_DECIMAL, DT_STRING, DT_BINARY, DT_DATE, DT_TIME, DT_TIMESTAMP,
    DT_TIMESTAMPTZ, DT_TIMESTAMP_NS, DT_TIMETZ, DT_INTERVAL, DT_UUID, DT_JSON, DT_LIST, DT_STRUCT, DT_MAP, DT_ENUM, DT_OTHER
} DataTypeKind;
/* What the engine's type does not say of PostgreSQL's and Materialize's types.  Marks change no value: data_type_equal does not see them, and a type that
 * the engine gives back has none.  So whoever shows a value takes the type that was declared, beside the value's own. */
typedef enum {
    MARK_NONE,
    MARK_LIST,                                    /* DT_LIST: `T list`, not `T[]` */
    MARK_MAP,                                     /* DT_MAP: map[text=>T], shown as {a=>1}; not marked: JSON */
    MARK_NUMERIC,                                 /* DT_DECIMAL: numeric without modifiers, 38 digits of which 10 are behind the point */
    MARK_MZ_TIMESTAMP,                            /* DT_UINT64: milliseconds */
    MARK_BPCHAR,                                  /* DT_STRING: char(n), kept without the blanks at its end */
    MARK_REG,                                     /* DT_UINT32: regtype, regclass, regproc; `length` is the type's number in pg_type */
    MARK_NAMED                                    /* DT_OTHER: a type by a name that only the resolver knows; `made` has it */
} TypeMark;
/* A type that CREATE TYPE made, or the name of one that has not been looked up (oid 0). */
typedef struct MadeType { Str name; uint32_t oid; StrVec parts; int position; } MadeType;
enum { MADE_ARRAY_OFFSET = 1600000 };              /* the number of its array in pg_type, behind its own */
typedef struct DataType DataType;
struct DataType {
    DataTypeKind kind;
    int precision, scale;                         /* DT_DECIMAL */
    int length;                                   /* DT_BINARY: Iceberg fixed(L) when > 0; DT_STRING: varchar(n) when > 0; DT_LIST of INT16: 22 marks pg_catalog's int2vector */
    size_t nchildren;                             /* LIST: 1; MAP: key, value; STRUCT: its fields */
    DataType *children;
    Str *names;                                   /* STRUCT */
    TypeMark mark;
    const MadeType *made;                         /* NULL: no name of its own */
};

/* Ranges.  A range is a STRUCT of five fields in the order in which PostgreSQL compares ranges, so that the engine's own equality, order and hash of structs
 * are those of ranges and nothing (GROUP BY, joins, DISTINCT, the live side's deltas, min and max) has to know that there are ranges:
 *   1 <the range's type>  TINYINT   0 empty (sorts first), 1 no lower bound, 2 a lower bound
 *   2 lo  the lower bound, NULL when there is none   3 lx  BOOLEAN, the lower bound is exclusive
 *   4 hi  the upper bound, NULL (sorts last) when there is none   5 hi_in  BOOLEAN, the upper bound is inclusive
 * Every maker of one makes it canonical: empty is (0, NULL, false, NULL, false); whole numbers and dates are [lo, hi); a bound that is not there is exclusive.
 * The name of the first field is the type's and tells it: it comes back from the engine, from files and from documents, without any mark. */
typedef enum { RANGE_NONE, RANGE_INT4, RANGE_INT8, RANGE_NUM, RANGE_DATE, RANGE_TS, RANGE_TSTZ, RANGE_KINDS } RangeKind;
enum { RANGE_STATE, RANGE_LO, RANGE_LO_EXCLUSIVE, RANGE_HI, RANGE_HI_INCLUSIVE, RANGE_FIELDS };
enum { RANGE_IS_EMPTY, RANGE_NO_LOWER, RANGE_HAS_LOWER };
RangeKind data_type_range(const DataType *t);     /* RANGE_NONE: it is none */
const DataType *data_type_of_range(RangeKind k);
const char *range_name(RangeKind k);              /* "int4range" */

/* The engine's own spelling: DECIMAL(10,2), STRUCT("a" INTEGER), INTEGER[], MAP(VARCHAR, BIGINT). */
Str data_type_sql(Arena *a, const DataType *t);
bool data_type_equal(const DataType *x, const DataType *y);
DataType data_type_copy(Arena *a, const DataType *t);                          /* whole, in `a` */

/* ---- values -------------------------------------------------------------------------------------------- */

typedef struct Value Value;
struct Value {
    DataTypeKind kind;                            /* DT_NULL: null, whatever the column */
    const DataType *type;
    union {
        bool boolean;
        int64_t integer;                          /* INT8..INT64, UINT8..UINT32; DATE days; TIME, TIMESTAMP[TZ] micros; TIMESTAMP_NS nanos */
        __int128 wide;                            /* INT128, UINT64, UINT128; DECIMAL: the unscaled value, any precision */
        double real;                              /* FLOAT, DOUBLE */
        Str string;                               /* STRING, BINARY, JSON, ENUM, OTHER as text; UUID: 16 bytes big-endian; TIMETZ as text */
        struct { int32_t months, days; int64_t micros; } interval;
        struct { Value *p; size_t n; } items;     /* LIST; STRUCT: one a field; MAP: key, value, key, value … */
    };
};

/* A value that lives in `a` whole; its type and its parts' types are `t` and its children. */
Value value_copy(Arena *a, const Value *v, const DataType *t);

/* ---- engine and connections ----------------------------------------------------------------------------- */

typedef struct DuckEngine DuckEngine;
typedef struct DuckConn DuckConn;

typedef struct DuckOptions {
    Str path;                                     /* empty: in memory */
    Str memory_limit;                             /* "4GB"; empty: 60 % of the machine's memory */
    Str temp_dir;                                 /* spill files; made if absent */
    int threads;                                  /* 0: as many as processors */
} DuckOptions;

/* Opens with extension loading, external remote access and configuration changes locked, TimeZone UTC, and our own
 * scalar functions registered: firn_bucket, firn_truncate and kin (duck_functions.c), exact decimals and checked division
 * (duck_decimal.c), strict and narrowing casts (duck_strict.c), text of floating point numbers (duck_real.c). */
NODISCARD Status duck_open(const DuckOptions *o, DuckEngine **ret, Error *err);
void duck_close(DuckEngine *e);
const char *duck_version(void);

NODISCARD Status duck_connect(DuckEngine *e, DuckConn **ret, Error *err);
void duck_disconnect(DuckConn *c);
void duck_disconnectp(DuckConn **c);
/* `release` is called with `what` when it is let go of, at the latest by duck_disconnect: for what the connection's statements name. */
int64_t duck_hold(DuckConn *c, void (*release)(void *what), void *what);
void duck_let_go(DuckConn *c, int64_t hold);
void duck_interrupt(DuckConn *c);                 /* the running call on c returns E_CANCELLED soon */

/* Errors of the engine become ours by its error type, never by its text: E_CANCELLED, E_OVERFLOW, E_DIVISION,
 * E_INVALID (conversion), E_SYNTAX and E_INTERNAL (generated SQL that does not bind is our defect), E_LIMIT (memory), E_IO.
 * Generated text may raise: error('[DIVIDE_BY_ZERO] … SQLSTATE: 22012') keeps its text and gives err->sqlstate. */
NODISCARD Status duck_exec(DuckConn *c, Str sql, Error *err);                /* may hold several statements */

/* ---- results: pulled chunk by chunk, memory bounded by the engine --------------------------------------- */

typedef struct DuckColumn { Str name; DataType type; } DuckColumn;
typedef struct DuckResult DuckResult;
/* Streaming: computed while it is read; ended by the next statement on the same connection.  What reads files is planned twice: the engine
 * trusts no prepared plan of those. */
NODISCARD Status duck_query(DuckConn *c, Str sql, DuckResult **ret, Error *err);
/* Computed whole before it returns, planned once: for small results. They outlive other statements on the connection. */
NODISCARD Status duck_query_held(DuckConn *c, Str sql, DuckResult **ret, Error *err);
void duck_result_free(DuckResult *r);
void duck_result_freep(DuckResult **r);
size_t duck_ncols(const DuckResult *r);
const DuckColumn *duck_col(const DuckResult *r, size_t i);
int64_t duck_changed(const DuckResult *r);        /* rows changed by a COPY, INSERT, DELETE … */
/* Next chunk of up to 2,048 rows; *nrows 0 at the end. Values read from the chunk before die with it. */
NODISCARD Status duck_next(DuckResult *r, size_t *nrows, Error *err);
bool duck_is_null(const DuckResult *r, size_t col, size_t row);
const int64_t *duck_i64s(const DuckResult *r, size_t col);        /* the chunk's cells of a BIGINT column, where they are not null */
/* One cell. Strings point into the chunk (valid until the next duck_next) except nested ones, which live in `a`. */
Value duck_value(Arena *a, const DuckResult *r, size_t col, size_t row);

/* CREATE OR REPLACE TEMP TABLE name AS sql; rows: how many it holds, may be NULL. */
NODISCARD Status duck_table_as(DuckConn *c, Str name, Str sql, int64_t *rows, Error *err);
/* The first cell of the first row; *has false when there is no row or it is null. */
NODISCARD Status duck_scalar_i64(DuckConn *c, Str sql, int64_t *ret, bool *has, Error *err);
NODISCARD Status duck_scalar_str(DuckConn *c, Arena *a, Str sql, Str *ret, bool *has, Error *err);

/* Names and types of a query's columns without running it. */
typedef VEC(DuckColumn) DuckColumns;
const DuckColumn *duck_column_named(const DuckColumns *cols, Str name);      /* of just that spelling, else of that name in other letters; NULL: none */
NODISCARD Status duck_describe(DuckConn *c, Arena *a, Str sql, DuckColumns *ret, Error *err);

/* ---- rows in --------------------------------------------------------------------------------------------- */

/* A temporary table of this connection filled from C; dropped by duck_exec("DROP TABLE …") or with the connection. */
typedef struct DuckAppender DuckAppender;
NODISCARD Status duck_temp_table(DuckConn *c, Str name, const DuckColumn *cols, size_t ncols, DuckAppender **ret, Error *err);
/* The same into a table that is there, within the connection's transaction: all of its columns in order. */
NODISCARD Status duck_table_append(DuckConn *c, Str database, Str table, const DuckColumn *cols, size_t ncols, DuckAppender **ret, Error *err);
void duck_append(DuckAppender *ap, const Value *v);          /* next cell; sticky error */
void duck_append_null(DuckAppender *ap);
void duck_append_i64(DuckAppender *ap, int64_t v);
void duck_append_str(DuckAppender *ap, Str v);
void duck_end_row(DuckAppender *ap);
NODISCARD Status duck_append_done(DuckAppender *ap, Error *err);             /* flushes and frees, also on error */

/* ---- sets of row numbers ----------------------------------------------------------------------------------- */

/* The condition firn_in_rows(<number>, row) holds for the rows of the set that was lent under the number.  A set belongs to one thread until it is lent,
 * and is not changed afterwards; then any thread may read it. */
typedef struct RowSet RowSet;
#define ROWSET_MAX (UINT64_C(1) << 38)            /* rows of a file */
RowSet *rowset_new(void);
RowSet *rowset_ref(RowSet *s);
void rowset_free(RowSet *s);                      /* gives one reference back */
void rowset_freep(RowSet **s);
NODISCARD Status rowset_add(RowSet *s, uint64_t row, Error *err);         /* twice is once; E_LIMIT */
void rowset_join(RowSet *s, const RowSet *other);
RowSet *rowset_minus(const RowSet *x, const RowSet *y);
size_t rowset_count(const RowSet *s);             /* of NULL, none; so with all that read */
size_t rowset_bytes(const RowSet *s);
bool rowset_has(const RowSet *s, uint64_t row);
uint64_t rowset_last(const RowSet *s);            /* 0: none */
bool rowset_next(const RowSet *s, uint64_t from, uint64_t *row);          /* the first one from there on; false: none */
int64_t duck_rows_lend(DuckConn *c, RowSet *s);   /* until it is returned, or the connection ends */
void duck_rows_return(DuckConn *c, int64_t id);

/* ---- text that is safe inside SQL ------------------------------------------------------------------------ */

void sql_ident(StrBuf *b, Str name);              /* "na""me" */
void sql_lit(StrBuf *b, Str text);                /* 'te''xt'; NUL bytes are an error upstream: they are dropped here */
void sql_value(StrBuf *b, const Value *v);        /* a literal with a cast that gives exactly this value */
Str sql_ident_str(Arena *a, Str name);
Str sql_lit_str(Arena *a, Str text);

#endif

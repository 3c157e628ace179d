/* SPDX-License-Identifier: Apache-2.0 */
/* bind_int.h - what the files of the binder and the printer share; private to bind_*.c, func_*.c and print_*.c. */
#ifndef FIRN_SQL_BIND_INT_H
#define FIRN_SQL_BIND_INT_H

#include "sql/sql.h"

/* ---- names in sight ---------------------------------------------------------------------------------------- */

/* A column that a name may mean. `merged`: the value of a USING column; `hidden`: reachable by its qualifier only. */
typedef struct Visible { Str name; TableRef *rel; int col; Expr *merged; int hidden; } Visible;
typedef VEC(Visible) Visibles;

typedef enum { CL_FROM, CL_WHERE, CL_ITEM, CL_GROUP, CL_HAVING, CL_ORDER } Clause;

/* One query level: what its FROM offers, and its output names for ORDER BY and HAVING. */
typedef struct Level Level;
struct Level {
    Level *outer;
    Visibles visible;
    Clause clause;
    Select *select;                     /* NULL while a set operation's ORDER BY is bound */
    size_t nitems;                      /* select items bound so far: later ones may use their aliases */
    BoundColumns *output;               /* set operation: output columns */
    int in_aggregate;
    int aggregates, windows;            /* seen so far */
    StrVec windows_bound;               /* names of the WINDOW clause that are bound */
};

typedef struct CteScope CteScope;
struct CteScope { CteScope *outer; Cte *cte; Query *query; BoundColumns *columns; int recursive; };

typedef struct Bind {
    Arena *a;
    Binder *b;
    Error *err;
    int spark, trino;                   /* neither: PostgreSQL */
    int next_alias, next_cte;
    int depth;
    CteScope *ctes;
    Map probes;                         /* probe text -> DataType * */
} Bind;

/* Raise at a position; in the spark dialect " SQLSTATE: xxxxx" is put behind the text. */
Status bind_fail(Bind *b, int position, const char *sqlstate, const char *origin, const char *fmt, ...) PRINTF_LIKE(5, 6);
#define BIND_FAIL(b, position, sqlstate, ...) bind_fail((b), (position), (sqlstate), ORIGIN, __VA_ARGS__)

NODISCARD Status bind_query(Bind *b, Level *outer, Query *q);
NODISCARD Status bind_loop(Bind *b, Level *outer, Query *q);
NODISCARD Status bind_select(Bind *b, Level *outer, Query *q);
NODISCARD Status bind_order(Bind *b, Level *l, Query *q);
NODISCARD Status bind_limit(Bind *b, Query *q);
NODISCARD Status bind_from(Bind *b, Level *l, TableRef *t, Visibles *ret);
NODISCARD Status bind_table_function(Bind *b, Level *l, TableRef *t);
NODISCARD Status bind_expr(Bind *b, Level *l, Expr **e);
NODISCARD Status bind_column(Bind *b, Level *l, Expr **e);
NODISCARD Status bind_field(Bind *b, Expr *base, Str field, int position, Expr **ret);
NODISCARD Status bind_star(Bind *b, Level *l, const SelectItem *item, SelectItems *ret);
NODISCARD Status bind_binary(Bind *b, Expr **e);
bool bind_is_row_in(const Bind *b, const Expr *e);      /* (a, b) IN ((1, 2), …): field by field, as = of rows */
NODISCARD Status bind_row_in(Bind *b, Expr **e);
NODISCARD Status bind_unary(Bind *b, Expr **e);
NODISCARD Status bind_cast(Bind *b, Expr **e);
NODISCARD Status bind_function(Bind *b, Level *l, Expr **e);
NODISCARD Status bind_over(Bind *b, Level *l, Expr *e);
NODISCARD Status bind_lambda(Bind *b, Level *l, Expr *e, const DataType *list);
NODISCARD Status bind_lambda_typed(Bind *b, Level *l, Expr *e, const DataType *types);      /* one a parameter */
void bind_order_nulls(Bind *b, OrderVec *order);
/* Casts around a query whose columns are not of these types. */
void bind_cast_query(Bind *b, Query **q, const BoundColumns *to);
/* bind_text.c: an unbound expression as Spark names it. */
Str bind_text_name(Bind *b, const Expr *e);
NODISCARD Status bind_grouping_check(Bind *b, Level *l, Query *q);
NODISCARD Status bind_rows(Bind *b, Level *l, ExprVec *rows, size_t n, BoundColumns *ret, int position);

/* The name of an output column that has no alias. */
Str bind_auto_name(Bind *b, const Expr *e);
/* Give every column an engine name that is unique without regard to case. */
void bind_engine_names(Bind *b, BoundColumns *cols);
Str bind_new_alias(Bind *b);
bool bind_name_eq(const Bind *b, Str x, Str y);
bool expr_equal(const Expr *x, const Expr *y);

/* bind_jsonb.c: PostgreSQL's jsonb. */
bool bind_is_jsonb_op(const Expr *e);
NODISCARD Status bind_jsonb_op(Bind *b, Expr **pe);
bool bind_jsonb_may_cast(const DataType *from, const DataType *to);
Expr *bind_jsonb_in(Bind *b, Expr *text);
NODISCARD Status bind_jsonb_value(Bind *b, Expr *literal);      /* a parameter's text as the one text of its value */
Expr *bind_jsonb_scalar(Bind *b, Expr *x, const DataType *to);

/* bind_trino.c */
Str trino_error_text(Bind *b, int position, const char *sqlstate, const char *text);
bool trino_common(Bind *b, const DataType *x, const DataType *y, DataType *ret);
bool trino_may_coerce(Bind *b, const DataType *from, const DataType *to);
DataType trino_decimal_of(const DataType *t);
Str trino_type_of(Bind *b, const Expr *e);
NODISCARD Status trino_binary(Bind *b, Expr **pe);
NODISCARD Status trino_unary(Bind *b, Expr **pe);
NODISCARD Status trino_index(Bind *b, Expr **pe);
NODISCARD Status trino_lambda(Bind *b, Level *l, Expr *call, size_t i);
/* bind_trino_cast.c: CAST and TRY_CAST as written, and the casts that nobody wrote. */
NODISCARD Status trino_cast(Bind *b, Expr **pe);
Expr *trino_implicit_cast(Bind *b, Expr *x, DataType t);
/* A TIMESTAMP WITH TIME ZONE is an instant; its zone is known where AT TIME ZONE stands, else it is UTC.  Such an instant has `scale` set in its type. */
bool trino_zone(const Expr *e, Str *ret);
bool trino_is_zoned(const DataType *t);                /* or holds one that is */
/* The clock's reading: TIMESTAMPTZ to TIMESTAMP in its zone. Others stay. */
NODISCARD Status trino_local(Bind *b, Expr **pe);

/* ---- types --------------------------------------------------------------------------------------------------- */

DataType ty(DataTypeKind k);
DataType ty_decimal(int precision, int scale);
DataType ty_bounded(int precision, int scale);          /* Spark's adjustPrecisionScale */
DataType ty_list(Arena *a, DataType element);
bool ty_is_integer(const DataType *t);
bool ty_is_numeric(const DataType *t);
bool ty_is_real(const DataType *t);
bool ty_is_text(const DataType *t);
bool ty_is_time(const DataType *t);                      /* DATE, TIMESTAMP … */
bool ty_unknown(const DataType *t);                      /* NULL, or a parameter without a type yet */
DataType ty_as_decimal(const DataType *t);               /* the decimal that holds an integer type */
DataType ty_of_literal(const Expr *e);                   /* integers as the smallest decimal (Spark's fromLiteral) */
/* The type that both can be cast to without being asked; false: there is none. */
bool ty_common(Bind *b, const DataType *x, const DataType *y, DataType *ret);
/* Wrap *e in a cast to t, unless it has it; literals and parameters take the type directly. */
void bind_to(Bind *b, Expr **e, DataType t);
Expr *bind_cast_source(Bind *b, Expr *x, const DataType *to);
/* bind_nested.c: a text as a value with parts, one as a text; records (and lists and maps of them) as others, field by field by place: what bind_by_place says needs it. */
Expr *bind_nested_in(Bind *b, Expr *x, const DataType *to);
/* An array of arrays is one of several dimensions: as functions of its elements see it, all of them in a row. Materialize's lists are not. */
void bind_flatten(Bind *b, Expr **x);
Expr *bind_nested_out(Bind *b, Expr *x);
Expr *bind_nested_as(Bind *b, Expr *x, const DataType *to);
bool bind_by_place(const DataType *from, const DataType *to);
Expr *regex_unicode(Bind *b, Expr *pattern);                            /* func_regex.c: \\w and its kin are Unicode's */
/* func_list.c: || of lists, -> ? ?& ?| @> <@ of maps. */
bool bind_is_collection_op(const Expr *e);
NODISCARD Status bind_collection_op(Bind *b, Expr **pe);
/* bind_range.c */
bool ty_is_range(const DataType *t);
bool ty_range_clash(const DataType *x, const DataType *y);              /* one is a range and the other is none of its kind */
bool bind_is_range_op(const Expr *e);
NODISCARD Status bind_range_op(Bind *b, Expr **pe);
/* The same as a checked implicit cast: E_INVALID when Spark's ANSI rules forbid it. */
NODISCARD Status bind_coerce(Bind *b, Expr **e, DataType t, const char *what);
/* All of them to their common type. */
NODISCARD Status bind_unify(Bind *b, Expr **const *es, size_t n, int position, DataType *ret);
void bind_now_compared(Bind *b, Expr **const *es, size_t n);
NODISCARD Status bind_unify_compared(Bind *b, Expr **const *es, size_t n, int position, DataType *ret);
Str bind_type_name(Bind *b, const DataType *t);

Expr *bx_new(Arena *a, ExprKind kind, int position);
Expr *bx_int(Arena *a, int64_t v);
Expr *bx_str(Arena *a, Str s);
Expr *bx_bool(Arena *a, int v);
Expr *bx_column(Arena *a, TableRef *rel, int col);
Expr *bx_binary(Arena *a, Op op, Expr *l, Expr *r, DataType t);
/* A bound call of an engine function by name. */
Expr *bx_call(Arena *a, const char *canonical, const char *engine, DataType t, Expr *x, Expr *y);

/* ---- the list of functions ------------------------------------------------------------------------------------- */

enum { FD_SPARK = 1, FD_POSTGRES = 2, FD_BOTH = 3, FD_TRINO = 4 };      /* BOTH: the first two; Trino has a list of its own */
enum { FF_VOLATILE = 1, FF_NO_CAST = 2, FF_ANY_SPECIAL = 4 };

/* args, one letter an argument, `*` repeats the last: s string, i int, l bigint, d double, b boolean, D date, t timestamp,
 *   B binary, n numeric, x anything, c common type of all c, a array, m map, j JSON text.  Lower bound in `min`.
 * ret: the same letters, or 1 2 3 the type of that argument, e element of argument 1, A array of c, T timestamptz,
 *   V interval, ? asked from the engine, ! decided in func_special.c by `canonical`.
 * engine: NULL the same name; with `$`: a template ($1 … an argument, $* all). */
typedef struct FuncSpec {
    const char *name;
    unsigned char dialects, class;       /* FuncClass */
    signed char min, max;                /* max -1: any number */
    const char *args, *ret, *engine;
    int flags;
    const char *canonical;               /* NULL: the same name */
} FuncSpec;

/* The entry for a lower-case name, NULL: not on the list. */
const FuncSpec *func_find(Str name, Dialect d);
const FuncSpec *trino_func_find(Str name);
size_t trino_func_count(void);
const FuncSpec *trino_func_at(size_t i);
int func_dialect(const Bind *b);                        /* FD_… */
size_t func_count(void);
const FuncSpec *func_at(size_t i);
/* func_special.c: result types (and rewriting) of the entries marked `!`. */
NODISCARD Status func_special(Bind *b, Level *l, Expr **e, const FuncSpec *spec);
NODISCARD Status bind_probe(Bind *b, const Expr *e, Str engine, DataType *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* print_int.h - what the printer's files share; private to print_*.c. */
#ifndef FIRN_SQL_PRINT_INT_H
#define FIRN_SQL_PRINT_INT_H

#include "sql/bind_int.h"

enum { PRINT_MAX_BYTES = 16 * 1024 * 1024 };

typedef struct CteName { const Query *query; Str engine; } CteName;

/* Sticky: after the first failure nothing is written; the entry points look at `status`. */
typedef struct Print {
    Arena *a;
    const Printer *p;
    StrBuf out;
    VEC(CteName) ctes;               /* in scope */
    int nested;                      /* queries that are being written */
    Status status;
    Error *err;
} Print;

void print_loop(Print *p, const Query *q);        /* WITH MUTUALLY RECURSIVE … */
void print_expr(Print *p, const Expr *e);
void print_exprs(Print *p, const ExprVec *v, size_t from);
void print_query(Print *p, const Query *q);
void print_table(Print *p, const TableRef *t);
void print_order(Print *p, const OrderVec *v);             /* without ORDER BY */
void print_in_query(Print *p, const Expr *e);
void print_call(Print *p, const Expr *e);
void print_binary(Print *p, const Expr *e);
void print_cast(Print *p, const Expr *e);
/* A template of the function list over args; e gives $T, its own type. */
void print_template(Print *p, Str text, const ExprVec *args, const Expr *e);
void print_type(Print *p, const DataType *t);
void print_values(Print *p, const ExprVec *rows, size_t n);
void print_names(Print *p, const BoundColumns *cols);      /* ("a", "b") */
bool print_is_nonzero(const Expr *e);                      /* a literal other than 0 */

/* print_narrow.c: a sum of e may be split into the rows that fit 18 digits and the rest. */
bool print_can_narrow(const Expr *e);
void print_fitting(Print *p, const Expr *e);               /* e in 18 digits, NULL where it does not fit */
void print_rest(Print *p, const Expr *e);                  /* e where it does not fit, else NULL */
void print_presence(Print *p, const Expr *e);              /* 1 where e is not NULL, else NULL */

#define PRINT_FAIL(p, code, ...) do { if ((p)->status == OK) (p)->status = FAIL((p)->err, (code), __VA_ARGS__); } while (0)

#endif

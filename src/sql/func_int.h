/* SPDX-License-Identifier: Apache-2.0 */
/* func_int.h - the workers behind the list's entries marked `!`; private to func_*.c.
 *
 * A worker sets the call's type, and may change its engine text or replace the node. */
#ifndef FIRN_SQL_FUNC_INT_H
#define FIRN_SQL_FUNC_INT_H

#include "sql/bind_int.h"

typedef struct FuncArgs { Bind *b; Level *l; Expr **pe; Expr *e; const FuncSpec *spec; } FuncArgs;
typedef Status (*FuncWorker)(FuncArgs *c);
typedef struct FuncRow { const char *canonical; int dialects; FuncWorker worker; } FuncRow;

DataType *func_arg(FuncArgs *c, size_t i);                             /* its type */
Status func_done(FuncArgs *c, DataType t);
Status func_with(FuncArgs *c, const char *engine, DataType t);         /* another engine text */
NODISCARD Status func_lag(FuncArgs *c);                                 /* lag and lead: the default and the value share a type */
Status func_fail(FuncArgs *c, const char *needs);
NODISCARD Status func_operator(FuncArgs *c, Op op);                    /* f(x, y) becomes x op y */
NODISCARD Status func_constant(FuncArgs *c, size_t i, Str *ret);       /* the string literal that argument i must be */
FuncWorker func_row(const FuncRow *rows, size_t n, Str canonical, int dialect);

static inline int func_min(int x, int y) { return x < y ? x : y; }
NODISCARD Status func_unsupported(FuncArgs *c);                         /* these arguments are refused */

/* NULL: not in that file. */
FuncWorker func_agg(Str canonical, int dialect);
FuncWorker func_text(Str canonical, int dialect);
FuncWorker func_number(Str canonical, int dialect);
FuncWorker func_time(Str canonical, int dialect);
FuncWorker func_regex(Str canonical, int dialect);
FuncWorker func_nested(Str canonical, int dialect);
FuncWorker func_jsonb(Str canonical, int dialect);
FuncWorker func_range(Str canonical, int dialect);
FuncWorker func_list(Str canonical, int dialect);
FuncWorker func_trino(Str canonical, int dialect);
FuncWorker func_trino_text(Str canonical, int dialect);
FuncWorker func_trino_regex(Str canonical, int dialect);
FuncWorker func_trino_json(Str canonical, int dialect);
FuncWorker func_trino_time(Str canonical, int dialect);
FuncWorker func_trino_number(Str canonical, int dialect);
FuncWorker func_trino_nested(Str canonical, int dialect);
FuncWorker func_trino_agg(Str canonical, int dialect);
Status trino_bad(FuncArgs *c, const char *fmt, ...) PRINTF_LIKE(2, 3);      /* INVALID_FUNCTION_ARGUMENT, at the call */
Status trino_refuse(FuncArgs *c, const char *fmt, ...) PRINTF_LIKE(2, 3);   /* NOT_SUPPORTED, at the call */
Status trino_mismatch(FuncArgs *c);                                         /* Unexpected parameters (…) for function f */
bool trino_text_arg(FuncArgs *c, size_t i, Str *ret);                       /* the string literal that argument i is */

#endif

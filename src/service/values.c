/* SPDX-License-Identifier: Apache-2.0 */
/* values.c - a long VALUES list of constants as a table of rows: the engine would parse, bind and plan each of its cells.
 *
 * Only what is exactly the value that the engine would have: literals of the column's own type, whole and decimal numbers that fit into it, and their
 * negatives.  Any other cell, and everything else is left as it is. */
#include "service/dml_int.h"

enum { ROWS_MIN = 16, DIGITS_MAX = 38 };

typedef struct Number { __int128 n; int scale; } Number;

static bool is_whole(DataTypeKind k) { return (k >= DT_INT8 && k <= DT_INT128) || (k >= DT_UINT8 && k <= DT_UINT32); }

static bool number_of(const Value *v, const DataType *t, Number *ret)
{
    bool wide = v->kind == DT_INT128 || v->kind == DT_DECIMAL;

    if (!is_whole(v->kind) && v->kind != DT_DECIMAL)
        return false;
    *ret = (Number){ wide ? v->wide : v->integer, v->kind == DT_DECIMAL ? t->scale : 0 };
    return true;
}

static __int128 power_of_ten(int n)
{
    __int128 p = 1;
    for (int i = 0; i < n; i++)
        p *= 10;
    return p;
}

static bool in_range(__int128 n, __int128 limit) { return n < limit && n > -limit; }

static bool whole_fits(__int128 n, DataTypeKind k)
{
    switch (k) {
    case DT_INT16: return n >= INT16_MIN && n <= INT16_MAX;
    case DT_INT32: return n >= INT32_MIN && n <= INT32_MAX;
    case DT_INT64: return n >= INT64_MIN && n <= INT64_MAX;
    default: return false;
    }
}

static bool fit_number(Number x, const DataType *t, Value *ret)
{
    *ret = (Value){ .kind = t->kind, .type = t };
    if (t->kind == DT_DECIMAL) {
        if (x.scale > t->scale || t->precision > DIGITS_MAX || !in_range(x.n, power_of_ten(t->precision - (t->scale - x.scale))))
            return false;
        ret->wide = x.n * power_of_ten(t->scale - x.scale);
        return true;
    }
    ret->integer = (int64_t)x.n;
    return x.scale == 0 && whole_fits(x.n, t->kind);
}

static bool plain_kind(DataTypeKind k) { return k == DT_BOOL || k == DT_STRING || k == DT_DATE || k == DT_TIMESTAMP || k == DT_TIMESTAMPTZ || k == DT_DOUBLE; }

/* Below its signs and the cast to the column's type. */
static const Expr *bare_literal(const Expr *e, const DataType *t, bool *negative)
{
    for (*negative = false;; e = e->args.p[0])
        if (e->kind == EX_UNARY && e->op == OP_NEG)
            *negative = !*negative;
        else if (e->kind != EX_CAST || e->try_cast || !data_type_equal(&e->type, t))
            return e;
}

/* The cell's value in the column's type. */
static bool cell_value(const Expr *e, const DataType *t, Value *ret)
{
    bool negative;
    Number x;

    e = bare_literal(e, t, &negative);
    if (e->kind != EX_LITERAL || t->kind == DT_NULL)
        return false;
    if (e->value.kind == DT_NULL) {
        *ret = (Value){ .kind = DT_NULL };
        return true;
    }
    if (number_of(&e->value, &e->type, &x)) {
        x.n = negative ? -x.n : x.n;
        return fit_number(x, t, ret);
    }
    *ret = e->value;
    ret->type = t;
    return !negative && plain_kind(t->kind) && e->value.kind == t->kind && !t->length;
}

static bool all_cells(const Query *q, Value *cells)
{
    for (size_t i = 0; i < q->rows.n; i++)
        for (size_t c = 0; c < q->columns.n; c++)
            if (!cell_value(q->rows.p[i].p[c], &q->columns.p[c].type, &cells[i * q->columns.n + c]))
                return false;
    return true;
}

static Str select_all(Arena *a, const Query *q, Str table)
{
    StrBuf b = sb_new(a);

    for (size_t c = 0; c < q->columns.n; c++) {
        sb_addc(&b, c ? ", " : "SELECT ");
        sql_ident(&b, q->columns.p[c].engine);
    }
    sb_fmt(&b, " FROM " STR_FMT, STR_ARG(table));
    return sb_str(&b);
}

Status values_stage(Run *r, const Query *q, Str *ret, int *done, Error *err)
{
    size_t n = q->columns.n;
    DuckAppender *ap;

    *done = 0;
    if (q->body != BODY_VALUES || q->rows.n < ROWS_MIN || q->order.n || q->limit || q->offset || q->ctes.n)
        return OK;
    Value *cells = arena_array(r->a, Value, q->rows.n * n + 1);
    if (!all_cells(q, cells))
        return OK;
    DuckColumn *cols = arena_array(r->a, DuckColumn, n + 1);
    for (size_t c = 0; c < n; c++)
        cols[c] = (DuckColumn){ q->columns.p[c].engine, q->columns.p[c].type };
    TRY(duck_exec(r->c, S("DROP TABLE IF EXISTS temp.firn_values"), err));
    TRY(duck_temp_table(r->c, S("firn_values"), cols, n, &ap, err));
    for (size_t i = 0; i < q->rows.n; i++) {
        for (size_t c = 0; c < n; c++)
            duck_append(ap, &cells[i * n + c]);
        duck_end_row(ap);
    }
    TRY(duck_append_done(ap, err));
    *ret = select_all(r->a, q, S("temp.firn_values"));
    *done = 1;
    return OK;
}

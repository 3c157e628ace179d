/* SPDX-License-Identifier: Apache-2.0 */
/* live_rows.c - few rows, by hand.
 *
 * A tick of one row costs what its statements cost to plan.  So few rows do without: a stage is not a table that is made, read and dropped but VALUES, each a literal
 * that is exactly the value (sql_value), standing wherever a stage is named; rows go into their tables by the engine's appender, and go by their numbers.
 * Only plain types pass through C: what is read and appended again is the same to the bit. */
#include "live/live_int.h"

#include <stdlib.h>

enum {
    TEXT_BYTES = 8 * 1024,
    PLAIN_DAYS = 3000000,             /* dates that adding days to 1970 reaches without meeting infinity */
};
static const int64_t PLAIN_MICROS = PLAIN_DAYS * 86400000000LL;

static bool is_plain_kind(DataTypeKind k)
{
    return k == DT_NULL || (k >= DT_BOOL && k <= DT_TIMESTAMPTZ && k != DT_INT128 && k != DT_UINT128) || k == DT_UUID;
}

static bool is_plain(const Value *v)
{
    if (v->kind == DT_STRING)
        return !v->string.n || !memchr(v->string.p, 0, v->string.n);
    if (v->kind == DT_DATE)
        return llabs(v->integer) <= PLAIN_DAYS;
    if (v->kind == DT_TIME)                            /* 24:00:00 is a time that no sum gives */
        return v->integer < 86400000000LL;
    if (v->kind == DT_TIMESTAMP || v->kind == DT_TIMESTAMPTZ)
        return llabs(v->integer) <= PLAIN_MICROS;
    return is_plain_kind(v->kind);
}

bool rows_are_plain(const Relation *r)
{
    for (size_t i = 0; i < r->cols.n; i++)
        if (!is_plain_kind(r->cols.p[i].type.kind))
            return false;
    for (size_t i = 0; r->view && i < ivm_hidden(r->view)->n; i++)
        if (!is_plain_kind(ivm_hidden(r->view)->p[i].type.kind))
            return false;
    return true;
}

/* ---- staging ----------------------------------------------------------------------------------------------------------------- */

static bool row_text(StrBuf *b, const DuckResult *r, size_t row, const DataType *types, Value *cells)
{
    for (size_t i = 0; i < duck_ncols(r); i++) {
        Value v = duck_value(b->a, r, i, row);
        if (!is_plain_kind(types[i].kind) || !is_plain(&v) || b->n > TEXT_BYTES)
            return false;
        sb_addc(b, i ? ", " : "(");
        v.type = &types[i];
        sql_value(b, &v);
        cells[i] = value_copy(b->a, &v, &types[i]);
    }
    sb_addc(b, ")");
    return true;
}

/* Every row, or false: they are too many, too long, or not plain. */
static Status rows_text(StrBuf *b, DuckResult *r, Value *cells, int64_t *rows, bool *fit, Error *err)
{
    DataType *types = arena_array(b->a, DataType, duck_ncols(r));
    size_t n;

    for (size_t i = 0; i < duck_ncols(r); i++)
        types[i] = data_type_copy(b->a, &duck_col(r, i)->type);
    *rows = 0;
    *fit = false;
    do {
        TRY(duck_next(r, &n, err));
        for (size_t i = 0; i < n; i++) {
            sb_addc(b, *rows ? ", " : "VALUES ");
            if (*rows >= LIVE_VALUES || !row_text(b, r, i, types, cells + (size_t)*rows * duck_ncols(r)))
                return OK;
            (*rows)++;
        }
    } while (n);
    *fit = *rows > 0;
    return OK;
}

Status stage_text(Arena *a, DuckConn *conn, Str sql, Str columns, LiveWrite *ret, bool *fit, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    StrBuf b = sb_new(a);

    TRY(duck_query_held(conn, sql, &r, err));
    Value *cells = arena_array(a, Value, LIVE_VALUES * duck_ncols(r));
    TRY(rows_text(&b, r, cells, &ret->rows, fit, err));
    if (!*fit)
        return OK;
    ret->as_text = 1;
    ret->cells = cells;
    ret->ncells = (size_t)ret->rows * duck_ncols(r);
    ret->stage = str_fmt(a, "(SELECT * FROM (" STR_FMT ") q(" STR_FMT "))", STR_ARG(sb_str(&b)), STR_ARG(columns));
    return OK;
}

/* ---- applying ---------------------------------------------------------------------------------------------------------------- */

static Status open_appender(Tick *t, const Relation *r, const DuckColumn *cols, size_t n, DuckAppender **ret, Error *err)
{
    return duck_table_append(t->l->conn, S("live"), str_from(live_table(t->a, r->id), 5), cols, n, ret, err);
}

Status rows_append(Tick *t, const Delta *d, Error *err)
{
    const LiveColumns *have = &d->rel->cols;
    DuckColumn *cols = arena_array(t->a, DuckColumn, have->n);
    DuckAppender *ap = NULL;

    for (size_t i = 0; i < have->n; i++)
        cols[i] = (DuckColumn){ have->p[i].engine, have->p[i].type };
    TRY(open_appender(t, d->rel, cols, have->n, &ap, err));
    for (size_t k = 0; k < d->few.n; k++)
        for (size_t i = 0; i < d->few.p[k]->ncells; i++) {
            duck_append(ap, &d->few.p[k]->cells[i]);
            if (i % have->n == have->n - 1)
                duck_end_row(ap);
        }
    return duck_append_done(ap, err);
}

/* Columns of groups_sql behind those that are stored. */
enum { AT_POS, AT_GONE, AT_BAD, MARKS };

typedef struct Groups { Tick *t; DuckResult *r; size_t ncols; DuckAppender *ap; StrBuf gone; } Groups;

static Status group_row(Groups *g, size_t row, Error *err)
{
    Arena *a = g->t->a;

    if (duck_value(a, g->r, g->ncols + AT_BAD, row).boolean) {
        RAISE(err, E_INVALID, "the stored state contradicts itself");
        memcpy(err->sqlstate, CONTRADICTION, 6);
        return E_INVALID;
    }
    Value pos = duck_value(a, g->r, g->ncols + AT_POS, row);
    if (pos.kind != DT_NULL)
        sb_fmt(&g->gone, "%s%lld", g->gone.n ? ", " : "", (long long)pos.integer);
    if (duck_value(a, g->r, g->ncols + AT_GONE, row).boolean)
        return OK;
    for (size_t i = 0; i < g->ncols; i++) {
        Value v = duck_value(a, g->r, i, row);
        v.type = &duck_col(g->r, i)->type;
        duck_append(g->ap, &v);
    }
    duck_end_row(g->ap);
    return OK;
}

static Status group_rows(Groups *g, Error *err)
{
    size_t n;

    do {
        TRY(duck_next(g->r, &n, err));
        for (size_t i = 0; i < n; i++)
            TRY(group_row(g, i, err));
    } while (n);
    return OK;
}

Status rows_groups(Tick *t, const Relation *r, Str sql, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *res = NULL;
    Error ignored;

    TRY(duck_query_held(t->l->conn, sql, &res, err));
    Groups g = { .t = t, .r = res, .ncols = duck_ncols(res) - MARKS, .gone = sb_new(t->a) };
    TRY(open_appender(t, r, duck_col(res, 0), g.ncols, &g.ap, err));
    Status s = group_rows(&g, err);
    Status done = duck_append_done(g.ap, s == OK ? err : &ignored);
    if (s != OK || done != OK)
        return s != OK ? s : done;
    return g.gone.n ? live_exec(t->l, str_fmt(t->a, "DELETE FROM " STR_FMT " WHERE rowid IN (" STR_FMT ")", STR_ARG(live_table(t->a, r->id)), STR_ARG(sb_str(&g.gone))), err) : OK;
}

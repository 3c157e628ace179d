/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - COPY … FROM STDIN and TO STDOUT.
 *
 * The door frames and splits rows; here fields go as text into an engine table and from there, cast to the columns' types, into
 * one commit.  No path and no program can be named: the parser refuses them. */
#include "service/dml_int.h"
#include "service/live_sql.h"

struct CopyIn { Dml dml; DuckAppender *appender; size_t ncols; ptrdiff_t *columns; int64_t rows; };

static Expr *star(Arena *a)
{
    Expr *e = arena_new(a, Expr);
    e->kind = EX_STAR;
    return e;
}

static Query *whole_table(Run *r)
{
    Query *q = arena_new(r->a, Query);
    TableRef *t = arena_new(r->a, TableRef);

    q->body = BODY_SELECT;
    q->select = arena_new(r->a, Select);
    *t = (TableRef){ .kind = TR_TABLE, .name = r->st->name, .position = r->st->position };
    q->select->from = t;
    for (size_t i = 0; i < r->st->column_names.n; i++) {
        Expr *e = arena_new(r->a, Expr);
        e->kind = EX_COLUMN;
        vec_push(r->a, &e->name, r->st->column_names.p[i]);
        vec_push(r->a, &q->select->items, ((SelectItem){ .expr = e }));
    }
    if (!r->st->column_names.n)
        vec_push(r->a, &q->select->items, ((SelectItem){ .expr = star(r->a) }));
    return q;
}

static Status copy_to(Run *r, Rows *rows, Error *err)
{
    Stmt *st = arena_new(r->a, Stmt);

    *st = *r->st;
    if (st->inner) {
        r->st = st->inner;
        TRY(do_subscribe(r, rows, err));
        rows->copy = st;
        rows->tag = "COPY";
        rows->tag_counts = 1;
        return OK;
    }
    if (!st->query)
        st->query = whole_table(r);
    r->st = st;
    TRY(do_query(r, rows, err));
    rows->copy = st;
    rows->tag = "COPY";
    rows->tag_counts = 1;
    return OK;
}

static Status start_copy(Run *r, struct CopyIn *in, Error *err)
{
    const StrVec *names = &r->st->column_names;

    TRY(dml_open(&in->dml, r, "COPY into", err));
    in->ncols = names->n ? names->n : in->dml.columns.n;
    in->columns = arena_array(r->a, ptrdiff_t, in->ncols + 1);
    DuckColumn *cols = arena_array(r->a, DuckColumn, in->ncols + 1);
    for (size_t i = 0; i < in->ncols; i++) {
        in->columns[i] = names->n ? dml_column(&in->dml, names->p[i]) : (ptrdiff_t)i;
        if (in->columns[i] < 0)
            return dml_unknown_column(&in->dml, names->p[i], err);
        cols[i] = (DuckColumn){ str_fmt(r->a, "f%zu", i), { .kind = DT_STRING } };
    }
    return duck_temp_table(r->c, S("copy_in"), cols, in->ncols, &in->appender, err);
}

Status do_copy(Run *r, Rows *rows, Error *err)
{
    if (str_eq(r->st->what, S("to")))
        return copy_to(r, rows, err);
    struct CopyIn *in = arena_new(r->a, struct CopyIn);
    TRY(start_copy(r, in, err));
    rows->copy_in = in;
    rows->copy = r->st;
    for (size_t i = 0; i < in->ncols; i++) {                /* what the door expects: rows in binary form need the types */
        const BoundColumn *c = &in->dml.columns.p[in->columns[i]];
        vec_push(r->a, &rows->columns, ((RowColumn){ c->name, c->type }));
    }
    rows->tag = "COPY";
    rows->tag_counts = 1;
    return OK;
}

Status rows_copy_row(Rows *rows, const Str *fields, const int *nulls, size_t n, Error *err)
{
    struct CopyIn *in = rows->copy_in;

    if (n != in->ncols) {
        RAISE(err, E_INVALID, "COPY row %lld has %zu fields instead of %zu", (long long)in->rows + 1, n, in->ncols);
        memcpy(err->sqlstate, "22P04", 6);
        return E_INVALID;
    }
    for (size_t i = 0; i < n; i++)
        if (nulls[i])
            duck_append_null(in->appender);
        else
            duck_append_str(in->appender, fields[i]);
    duck_end_row(in->appender);
    in->rows++;
    return OK;
}

/* A field of the text format as the value of its column: cast as a statement casts a text. */
static Status copy_value(Arena *a, size_t field, const BoundColumn *c, Str *ret, Error *err)
{
    Printer plain = { 0 };
    Expr *e = arena_new(a, Expr);

    e->kind = EX_FUNCTION;
    e->type.kind = DT_STRING;
    e->nullable = 1;
    e->func = arena_new(a, FuncCall);
    e->func->class = FN_SCALAR;
    e->func->canonical = S("copied");
    e->func->engine = str_fmt(a, "f%zu$*", field);                /* a template of no arguments: the name alone */
    TRY(sql_assign_cast(a, DIALECT_POSTGRES, &e, &c->type, c->name, err));
    return sql_print_expr(a, &plain, e, ret, err);
}

static Status copy_select(struct CopyIn *in, Str *ret, Error *err)
{
    Arena *a = in->dml.r->a;
    StrBuf b = sb_new(a);

    sb_addc(&b, "SELECT ");
    for (size_t i = 0; i < in->dml.columns.n; i++) {
        const BoundColumn *c = &in->dml.columns.p[i];
        ptrdiff_t from = -1;
        for (size_t k = 0; k < in->ncols; k++)
            if (in->columns[k] == (ptrdiff_t)i)
                from = (ptrdiff_t)k;
        Str value = dml_default_text(&in->dml, i);
        if (from >= 0 && c->type.kind == DT_MAP && c->type.mark != MARK_MAP)      /* shown as JSON: the engine's own form */
            value = str_fmt(a, "f%td", from);
        else if (from >= 0)
            TRY(copy_value(a, (size_t)from, c, &value, err));
        sb_fmt(&b, "%sCAST(" STR_FMT " AS " STR_FMT ") AS ", i ? ", " : "", STR_ARG(value), STR_ARG(data_type_sql(a, &c->type)));
        sql_ident(&b, c->engine);
    }
    sb_addc(&b, " FROM temp.copy_in");
    *ret = sb_str(&b);
    return OK;
}

Status rows_copy_done(Rows *rows, int64_t *nrows, Error *err)
{
    struct CopyIn *in = rows->copy_in;
    DuckAppender *ap = in->appender;
    Str sql;

    in->appender = NULL;
    TRY(duck_append_done(ap, err));
    TRY(copy_select(in, &sql, err));
    Status s = dml_write(&in->dml, sql, nrows, err);
    TRY(dml_finish(&in->dml, s, err));
    rows->changed = *nrows;
    return OK;
}

void copy_abandon(Rows *rows)
{
    Error ignored;
    if (rows->copy_in && rows->copy_in->appender && duck_append_done(rows->copy_in->appender, &ignored) != OK)
        return;                                       /* the connection's end drops the table */
}

/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - COPY … FROM STDIN and TO STDOUT.
 *
 * The door frames and splits rows; here fields go as text into an engine table and from there, cast to the columns' types, into
 * one commit.  No path and no program can be named: the parser refuses them.  Files in buckets are copy_files.c's. */
#include "service/dml_int.h"
#include "service/live_sql.h"

struct CopyIn { Dml dml; DuckAppender *appender; CopyColumns columns; int64_t rows; };

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

Status copy_columns(Dml *d, CopyColumns *ret, Error *err)
{
    const StrVec *names = &d->r->st->column_names;

    for (size_t i = 0; i < (names->n ? names->n : d->columns.n); i++) {
        ptrdiff_t at = names->n ? dml_column(d, names->p[i]) : (ptrdiff_t)i;
        if (at < 0)
            return dml_unknown_column(d, names->p[i], err);
        vec_push(d->r->a, ret, at);
    }
    return OK;
}

static Status start_copy(Run *r, struct CopyIn *in, Error *err)
{
    TRY(dml_open(&in->dml, r, "COPY into", err));
    TRY(copy_columns(&in->dml, &in->columns, err));
    DuckColumn *cols = arena_array(r->a, DuckColumn, in->columns.n + 1);
    for (size_t i = 0; i < in->columns.n; i++)
        cols[i] = (DuckColumn){ str_fmt(r->a, "f%zu", i), { .kind = DT_STRING } };
    return duck_temp_table(r->c, S("copy_in"), cols, in->columns.n, &in->appender, err);
}

Status do_copy(Run *r, Rows *rows, Error *err)
{
    if (str_eq(r->st->what, S("to")))
        return copy_to(r, rows, err);
    if (r->st->location.n)
        return do_copy_files(r, rows, err);
    struct CopyIn *in = arena_new(r->a, struct CopyIn);
    TRY(start_copy(r, in, err));
    rows->copy_in = in;
    rows->copy = r->st;
    for (size_t i = 0; i < in->columns.n; i++) {            /* what the door expects: rows in binary form need the types */
        const BoundColumn *c = &in->dml.columns.p[in->columns.p[i]];
        vec_push(r->a, &rows->columns, ((RowColumn){ c->name, c->type }));
    }
    rows->tag = "COPY";
    rows->tag_counts = 1;
    return OK;
}

Status rows_copy_row(Rows *rows, const Str *fields, const int *nulls, size_t n, Error *err)
{
    struct CopyIn *in = rows->copy_in;

    if (n != in->columns.n) {
        RAISE(err, E_INVALID, "COPY row %lld has %zu fields instead of %zu", (long long)in->rows + 1, n, in->columns.n);
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

/* A name in engine text as an expression. */
static Expr *operand(Arena *a, Str name, const DataType *t)
{
    Expr *e = arena_new(a, Expr);

    e->kind = EX_FUNCTION;
    e->type = *t;
    e->nullable = 1;
    e->func = arena_new(a, FuncCall);
    e->func->class = FN_SCALAR;
    e->func->canonical = S("copied");
    e->func->engine = str_cat(a, name, S("$*"));                  /* a template of no arguments: the name alone */
    return e;
}

static const DataType *field_of(const DataType *t, Str name)
{
    for (size_t i = 0; i < t->nchildren && t->kind == DT_STRUCT && t->names; i++)
        if (str_eq(t->names[i], name))
            return &t->children[i];
    return NULL;
}

/* A range as sinks and others write it: a struct of bounds and of what they are; without a word of that, [lower, upper). */
static Str range_of_struct(Arena *a, Str x, const DataType *t, RangeKind k)
{
    Str bound = data_type_sql(a, &data_type_of_range(k)->children[RANGE_LO]);
    Str low = field_of(t, S("lower_inclusive")) ? str_fmt(a, "CASE WHEN " STR_FMT ".lower_inclusive THEN '[' ELSE '(' END", STR_ARG(x)) : S("'['");
    Str high = field_of(t, S("upper_inclusive")) ? str_fmt(a, "CASE WHEN " STR_FMT ".upper_inclusive THEN ']' ELSE ')' END", STR_ARG(x)) : S("')'");
    Str empty = field_of(t, S("empty")) ? str_fmt(a, "WHEN " STR_FMT ".empty THEN firn_%s_in('empty') ", STR_ARG(x), range_name(k)) : (Str){0};

    return str_fmt(a, "CASE WHEN " STR_FMT " IS NULL THEN NULL " STR_FMT "ELSE firn_%s_of(CAST(" STR_FMT ".lower AS " STR_FMT "), CAST(" STR_FMT ".upper AS " STR_FMT "), " STR_FMT " || " STR_FMT ") END",
                   STR_ARG(x), STR_ARG(empty), range_name(k), STR_ARG(x), STR_ARG(bound), STR_ARG(x), STR_ARG(bound), STR_ARG(low), STR_ARG(high));
}

static Status value(Arena *a, Str x, const DataType *t, const DataType *to, Str column, Str *ret, Error *err);

/* Element by element. */
static Status list_value(Arena *a, Str x, const DataType *t, const DataType *to, Str column, Str *ret, Error *err)
{
    Str name = str_fmt(a, "firn_c%zu", x.n), item;                 /* longer than any around it: another name */

    TRY(value(a, name, &t->children[0], &to->children[0], column, &item, err));
    *ret = str_fmt(a, "list_transform(" STR_FMT ", lambda " STR_FMT ": CAST(" STR_FMT " AS " STR_FMT "))", STR_ARG(x), STR_ARG(name), STR_ARG(item), STR_ARG(data_type_sql(a, &to->children[0])));
    return OK;
}

/* An array as sinks write it: its elements in a row, and how many dimensions it has. */
static Status array_value(Arena *a, Str x, const DataType *t, const DataType *to, Str column, Str *ret, Error *err)
{
    const DataType *items = field_of(t, S("items"));
    Str list;

    TRY(list_value(a, str_fmt(a, "(" STR_FMT ").items", STR_ARG(x)), items, to, column, &list, err));
    *ret = str_fmt(a, "CASE WHEN (" STR_FMT ").dimensions > 1 THEN error(" STR_FMT ") ELSE " STR_FMT " END", STR_ARG(x),
                   STR_ARG(sql_lit_str(a, str_fmt(a, "column \"" STR_FMT "\": an array of several dimensions cannot be copied SQLSTATE: 0A000", STR_ARG(column)))), STR_ARG(list));
    return OK;
}

/* A value as that of its column: cast as a statement casts a value of its type. */
static Status value(Arena *a, Str x, const DataType *t, const DataType *to, Str column, Str *ret, Error *err)
{
    Printer plain = { 0 };
    Expr *e = operand(a, x, t);
    RangeKind k = data_type_range(to);
    const DataType *items = field_of(t, S("items"));

    if (k && field_of(t, S("lower")) && field_of(t, S("upper"))) {
        *ret = range_of_struct(a, x, t, k);
        return OK;
    }
    if (to->kind == DT_MAP && to->mark != MARK_MAP && t->kind == DT_STRING) {      /* shown as JSON: the engine's own form */
        *ret = x;
        return OK;
    }
    if (to->kind == DT_LIST && t->kind == DT_LIST && !data_type_equal(t, to))
        return list_value(a, x, t, to, column, ret, err);
    if (to->kind == DT_LIST && items && items->kind == DT_LIST && field_of(t, S("dimensions")))
        return array_value(a, x, t, to, column, ret, err);
    TRY(sql_assign_cast(a, DIALECT_POSTGRES, &e, to, column, err));
    return sql_print_expr(a, &plain, e, ret, err);
}

Status copy_columns_sql(Dml *d, const CopyColumns *columns, const DataType *types, Str from, Str *ret, Error *err)
{
    Arena *a = d->r->a;
    StrBuf b = sb_new(a);

    sb_addc(&b, "SELECT ");
    for (size_t i = 0; i < d->columns.n; i++) {
        const BoundColumn *c = &d->columns.p[i];
        Str v = dml_default_text(d, i);
        for (size_t k = 0; k < columns->n; k++)
            if (columns->p[k] == (ptrdiff_t)i)
                TRY(value(a, str_fmt(a, "f%zu", k), &types[k], &c->type, c->name, &v, err));
        sb_fmt(&b, "%sCAST(" STR_FMT " AS " STR_FMT ") AS ", i ? ", " : "", STR_ARG(v), STR_ARG(data_type_sql(a, &c->type)));
        sql_ident(&b, c->engine);
    }
    sb_fmt(&b, " FROM " STR_FMT, STR_ARG(from));
    *ret = sb_str(&b);
    return OK;
}

Status rows_copy_done(Rows *rows, int64_t *nrows, Error *err)
{
    struct CopyIn *in = rows->copy_in;
    DuckAppender *ap = in->appender;
    DataType *texts = arena_array(in->dml.r->a, DataType, in->columns.n + 1);
    Str sql;

    in->appender = NULL;
    TRY(duck_append_done(ap, err));
    for (size_t i = 0; i < in->columns.n; i++)
        texts[i] = (DataType){ .kind = DT_STRING };
    TRY(copy_columns_sql(&in->dml, &in->columns, texts, S("temp.copy_in"), &sql, err));
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

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

static Expr *field(Arena *a, size_t i, const DataType *t)
{
    Expr *e = arena_new(a, Expr);

    e->kind = EX_FUNCTION;
    e->type = *t;
    e->nullable = 1;
    e->func = arena_new(a, FuncCall);
    e->func->class = FN_SCALAR;
    e->func->canonical = S("copied");
    e->func->engine = str_fmt(a, "f%zu$*", i);                    /* a template of no arguments: the name alone */
    return e;
}

static bool has_field(const DataType *t, Str name)
{
    for (size_t i = 0; i < t->nchildren && t->names; i++)
        if (str_eq(t->names[i], name))
            return true;
    return false;
}

/* A range as sinks and others write it: a struct of bounds and of what they are; without a word of that, [lower, upper). */
static Str range_of_struct(Arena *a, size_t i, const DataType *t, RangeKind k)
{
    Str bound = data_type_sql(a, &data_type_of_range(k)->children[RANGE_LO]);
    Str low = has_field(t, S("lower_inclusive")) ? str_fmt(a, "CASE WHEN f%zu.lower_inclusive THEN '[' ELSE '(' END", i) : S("'['");
    Str high = has_field(t, S("upper_inclusive")) ? str_fmt(a, "CASE WHEN f%zu.upper_inclusive THEN ']' ELSE ')' END", i) : S("')'");
    Str empty = has_field(t, S("empty")) ? str_fmt(a, "WHEN f%zu.empty THEN firn_%s_in('empty') ", i, range_name(k)) : (Str){0};

    return str_fmt(a, "CASE WHEN f%zu IS NULL THEN NULL " STR_FMT "ELSE firn_%s_of(CAST(f%zu.lower AS " STR_FMT "), CAST(f%zu.upper AS " STR_FMT "), " STR_FMT " || " STR_FMT ") END", i, STR_ARG(empty),
                   range_name(k), i, STR_ARG(bound), i, STR_ARG(bound), STR_ARG(low), STR_ARG(high));
}

/* A field as the value of its column: cast as a statement casts a value of its type. */
static Status value(Arena *a, size_t i, const DataType *t, const BoundColumn *c, Str *ret, Error *err)
{
    Printer plain = { 0 };
    Expr *e = field(a, i, t);
    RangeKind k = data_type_range(&c->type);

    if (k && has_field(t, S("lower")) && has_field(t, S("upper"))) {
        *ret = range_of_struct(a, i, t, k);
        return OK;
    }
    if (c->type.kind == DT_MAP && c->type.mark != MARK_MAP && t->kind == DT_STRING) {      /* shown as JSON: the engine's own form */
        *ret = str_fmt(a, "f%zu", i);
        return OK;
    }
    TRY(sql_assign_cast(a, DIALECT_POSTGRES, &e, &c->type, c->name, err));
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
                TRY(value(a, k, &types[k], c, &v, err));
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

/* SPDX-License-Identifier: Apache-2.0 */
/* exec.c - one query execution, on a worker's thread: a session of the principal that asked, the statement, its result files.
 *
 * Rows stream from the engine into the object; nothing is visible before all of it is there.  The right to put the result is asked before the statement
 * runs, and once more before the file is published. */
#include "door/athena/athena_int.h"

/* The run's parts that its steps share. */
typedef struct Running {
    Exec *x;
    Service *svc;
    Arena *a;
    AthEnd *end;
    Session *ss;
    Rows *rows;
    int output_failed;                /* the error is of the result file */
} Running;

static void rows_closep(Rows **r) { rows_close(*r); }

/* ---- result files ------------------------------------------------------------------------------------------------------------- */

/* Everything but the suffix: <location><id>. */
static Str output_base(const Exec *x)
{
    static const Str suffixes[] = { [OUT_CSV] = { ".csv", 4 }, [OUT_TXT] = { ".txt", 4 }, [OUT_NONE] = { "", 0 } };
    return str_sub(x->output, 0, x->output.n - suffixes[x->stmt.out].n);
}

static Status write_small(Running *r, Str uri, const char *type, Str text, Error *err)
{
    CLEANUP(out_closep) OutFile *f = NULL;
    int64_t bytes;

    r->output_failed = 1;
    TRY(out_open(r->svc, r->a, &r->x->who, uri, type, &f, err));
    sb_add(out_text(f), text);
    TRY(out_commit(f, &bytes, err));
    r->output_failed = 0;
    return OK;
}

static void columns_of(Running *r)
{
    r->end->columns = json_array(r->a);
    for (size_t i = 0; i < rows_ncols(r->rows); i++) {
        const RowColumn *c = rows_col(r->rows, i);
        Str name = stmt_column_name(&r->x->stmt, i, c->name);
        json_push(r->a, r->end->columns, column_info(r->a, name, r->x->stmt.out == OUT_CSV ? &c->type : NULL));
    }
}

static void header(Running *r, StrBuf *b)
{
    for (size_t i = 0; i < rows_ncols(r->rows); i++) {
        sb_addc(b, i ? "," : "");
        csv_cell(b, rows_col(r->rows, i)->name);
    }
    sb_byte(b, '\n');
}

static void csv_row(StrBuf *b, Arena *a, const Value *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        StrBuf cell = sb_new(a);
        sb_addc(b, i ? "," : "");
        if (cells[i].kind == DT_NULL)
            continue;
        value_text(&cell, &cells[i]);
        csv_cell(b, sb_str(&cell));
    }
    sb_byte(b, '\n');
}

static void txt_row(StrBuf *b, const Value *cells, size_t n, bool pad)
{
    for (size_t i = 0; i < n; i++) {
        sb_addc(b, i ? "\t" : "");
        size_t from = b->n;
        value_text(b, &cells[i]);
        while (pad && b->n - from < 20)
            sb_byte(b, ' ');
    }
    sb_byte(b, '\n');
}

static Status pump(Running *r, OutFile *f, Error *err)
{
    CLEANUP(arena_destroyp) Arena *piece = arena_create();
    size_t n = rows_ncols(r->rows);
    Value *cells = arena_array(r->a, Value, n + 1);
    bool csv = r->x->stmt.out == OUT_CSV, pad = stmt_pads(&r->x->stmt);
    int has = 1;

    for (;;) {
        TRY(rows_next(r->rows, piece, cells, &has, err));
        if (!has)
            return OK;
        for (size_t i = 0; i < n; i++)
            value_as(&cells[i], &rows_col(r->rows, i)->type);
        size_t before = out_text(f)->n;
        if (csv)
            csv_row(out_text(f), piece, cells, n);
        else
            txt_row(out_text(f), cells, n, pad);
        if (out_text(f)->n - before > ATH_ROW_BYTES)
            return FAIL(err, E_LIMIT, "a row of the result is longer than %d bytes", ATH_ROW_BYTES);
        r->end->rows_out++;
        TRY(out_flush(f, ATH_PIECE_BYTES, err));
        if (arena_used(piece) > 4 * ATH_PIECE_BYTES) {
            arena_destroy(piece);
            piece = arena_create();
        }
        if (r->end->rows_out % 1024 == 0 && pool_is_cancelled(r->x))
            return FAIL(err, E_CANCELLED, "Query cancelled by user");
    }
}

static Status write_rows(Running *r, Error *err)
{
    CLEANUP(out_closep) OutFile *f = NULL;
    bool csv = r->x->stmt.out == OUT_CSV;

    columns_of(r);
    r->output_failed = 1;
    TRY(out_open(r->svc, r->a, &r->x->who, r->x->output, csv ? "application/octet-stream" : "text/plain", &f, err));
    r->output_failed = 0;
    if (csv)
        header(r, out_text(f));
    TRY(pump(r, f, err));
    r->output_failed = 1;
    TRY(out_commit(f, &r->end->bytes_out, err));
    TRY(write_small(r, str_cat(r->a, r->x->output, S(".metadata")), "application/octet-stream", columns_proto(r->a, r->end->columns, -1), err));
    return OK;
}

/* What a write made: the list of its files, and a message with the count. */
static Status write_manifest(Running *r, const RowsWork *w, Error *err)
{
    StrBuf list = sb_new(r->a);
    Str base = output_base(r->x);

    r->end->rows_out = w->changed > 0 ? w->changed : 0;
    r->end->update_count = w->changed;
    r->end->has_update_count = w->changed >= 0;
    for (size_t i = 0; i < w->written->n; i++) {
        sb_add(&list, w->written->p[i]);
        sb_byte(&list, '\n');
    }
    if (w->written->n) {
        r->end->manifest = str_cat(r->a, base, S("-manifest.csv"));
        TRY(write_small(r, r->end->manifest, "text/csv", sb_str(&list), err));
    }
    return write_small(r, str_cat(r->a, base, S(".metadata")), "application/octet-stream", columns_proto(r->a, NULL, w->changed), err);
}

static Status write_result(Running *r, Error *err)
{
    if (r->x->stmt.out == OUT_NONE) {
        RowsWork w = rows_work(r->rows);
        return write_manifest(r, &w, err);
    }
    if (r->rows && rows_ncols(r->rows))
        return write_rows(r, err);
    r->end->columns = json_array(r->a);
    TRY(write_small(r, r->x->output, "text/plain", (Str){0}, err));
    return write_small(r, str_cat(r->a, r->x->output, S(".metadata")), "application/octet-stream", (Str){0}, err);
}

/* ---- parameters --------------------------------------------------------------------------------------------------------------- */

/* A constant: nothing of tables, nothing that asks. */
static int is_constant(void *ctx, Expr *e)
{
    bool *ok = ctx;
    if (e->kind == EX_COLUMN || e->kind == EX_STAR || e->kind == EX_PARAM || e->query)
        *ok = false;
    return *ok;
}

static Status parameter(Running *r, size_t i, Value *ret, Error *err)
{
    CLEANUP(rows_closep) Rows *rows = NULL;
    Str text = r->x->params.p[i];
    bool ok = true;
    Expr *e;
    Batch *b;
    size_t n;
    int has;

    TRY_CTX(sql_parse_expr(r->a, ATH_DIALECT, text, &e, err), err, "parameter %zu", i + 1);
    sql_walk_expr(e, is_constant, &ok);
    if (!ok)
        return FAIL(err, E_INVALID, "parameter %zu is not a constant: text must be in quotes", i + 1);
    TRY(session_parse(r->ss, r->a, str_cat(r->a, S("SELECT "), text), &b, &n, err));
    if (n != 1)
        return FAIL(err, E_INVALID, "parameter %zu is not one expression", i + 1);
    TRY_CTX(session_run(r->ss, b, 0, NULL, 0, &rows, err), err, "parameter %zu", i + 1);
    TRY(rows_next(rows, r->a, ret, &has, err));
    if (ret->kind == DT_LIST || ret->kind == DT_MAP || ret->kind == DT_STRUCT)
        return FAIL(err, E_UNSUPPORTED, "parameter %zu: arrays, maps and rows are not supported as parameters", i + 1);
    if (ret->kind == DT_STRING || ret->kind == DT_BINARY || ret->kind == DT_UUID || ret->kind == DT_JSON)
        ret->string = str_dup(r->a, ret->string);
    DataType *type = arena_new(r->a, DataType);
    *type = ret->type ? *ret->type : (DataType){ .kind = ret->kind };
    ret->type = type;
    return OK;
}

static Status parameters(Running *r, size_t want, Value **ret, Error *err)
{
    if (r->x->params.n != want)
        return FAIL(err, E_INVALID, "Incorrect number of parameters: expected %zu but found %zu", want, r->x->params.n);
    *ret = arena_array(r->a, Value, want + 1);
    for (size_t i = 0; i < want; i++)
        TRY(parameter(r, i, &(*ret)[i], err));
    return OK;
}

/* ---- the statement ------------------------------------------------------------------------------------------------------------ */

static Status open_session(Running *r, Error *err)
{
    Props settings = {0};
    SessionOptions o = { .principal = r->x->who, .dialect = ATH_DIALECT, .database = S("athena"), .namespace = r->x->namespace, .application = S("Athena"), .settings = &settings };
    bool ddl = str_eq(r->x->stmt.type, S("DDL"));

    TRY(cat_settings(r->svc, r->a, r->x->catalog, &settings, err));
    props_set(r->a, &settings, S("statement_timeout"), str_fmt(r->a, "%dmin", ddl ? ATH_DDL_MINUTES : ATH_DML_MINUTES));
    return session_open(r->svc, &o, &r->ss, err);
}

/* The key that signed may have gone while the query waited. */
static Status still_known(Running *r, Error *err)
{
    CatKey k = {0};

    if (!r->x->who.key_id.n || r->x->who.kind == PR_SYSTEM)
        return OK;
    Status s = cat_key_get(r->svc->catalog, r->a, r->x->who.key_id, &k, err);
    if (s != OK && s != E_NOT_FOUND)
        return s;
    if (s == E_NOT_FOUND || !k.active || (k.expires_ms > 0 && k.expires_ms <= clock_ms()))
        return FAIL(err, E_DENIED, "The credentials that started this query are not valid any more.");
    return OK;
}

static Status scan_limit(Running *r, Error *err)
{
    RowsWork w = rows_work(r->rows);

    r->end->scanned = w.bytes;
    r->end->rows_in = w.rows;
    if (r->x->cutoff && w.bytes > r->x->cutoff)
        return FAIL(err, E_CANCELLED, "Bytes scanned limit was exceeded");
    return OK;
}

static Status run_statement(Running *r, Error *err)
{
    int64_t begun = clock_mono_us();
    Value *params = NULL;
    Batch *b;
    size_t n;

    TRY(session_parse(r->ss, r->a, r->x->text, &b, &n, err));
    if (n != 1)
        return FAIL(err, E_SYNTAX, "Only one sql statement is allowed");
    TRY(parameters(r, (size_t)batch_nparams(b), &params, err));
    r->end->plan_ms = (clock_mono_us() - begun) / 1000;
    TRY(session_run(r->ss, b, 0, params, r->x->params.n, &r->rows, err));
    return scan_limit(r, err);
}

static Status run_prepare(Running *r, Error *err)
{
    const Exec *x = r->x;
    Prep prep;
    Json *old;

    TRY(prep_parse(r->a, x->text, &prep, err));
    if (prep.kind == PREP_PREPARE)
        return prep_store(r->svc, r->a, x->workgroup, prep.name, prep.query, (Str){0}, err);
    TRY(prep_find(r->svc, r->a, x->workgroup, prep.name, &old, err));
    return rec_put(r->svc, K_PREPARED, str_fmt(r->a, STR_FMT "/" STR_FMT, STR_ARG(x->workgroup), STR_ARG(prep.name)), NULL, err);
}

static Status run_all(Running *r, Error *err)
{
    TRY(still_known(r, err));
    r->output_failed = 1;
    TRY(out_allowed(r->svc, r->a, &r->x->who, r->x->output, err));
    r->output_failed = 0;
    if (r->x->stmt.door) {
        TRY(run_prepare(r, err));
        return write_result(r, err);
    }
    TRY(open_session(r, err));
    if (!pool_session(r->x, r->ss))
        return FAIL(err, E_CANCELLED, "Query cancelled by user");
    TRY(run_statement(r, err));
    return write_result(r, err);
}

void exec_run(Exec *x, Arena *a, AthEnd *end)
{
    Running r = { .x = x, .svc = x->door->svc, .a = a, .end = end };
    int64_t begun = clock_mono_us();
    Error err = {0};

    *end = (AthEnd){ .state = "SUCCEEDED" };
    Status s = run_all(&r, &err);
    rows_close(r.rows);
    pool_session(x, NULL);
    session_close(r.ss);
    end->engine_ms = (clock_mono_us() - begun) / 1000 - end->plan_ms;
    if (s == OK)
        return;
    if (s != E_CANCELLED && pool_is_cancelled(x))         /* whatever broke: it was stopped */
        err.code = E_CANCELLED;
    if (r.output_failed && err.code != E_CANCELLED)
        end_output(a, x->output, &err, end);
    else
        end_error(x, a, &err, end);
    if (s == E_CANCELLED && !pool_is_cancelled(x))
        end->reason = str_dup(a, str_c(err.message));
    log_event(LOG_DEBUG, "athena query ended", "id", x->id.p, "state", end->state, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - one client's SQL: statements parsed, run, cancelled; settings; notices.
 *
 * Each statement runs on an engine connection of its own, so open cursors never disturb each other and whatever a statement
 * leaves behind in the engine dies with it.
 *
 * Invariants: (1) ss->conn is set only while its statement runs, under the lock; (2) every statement is one commit of its own:
 * BEGIN groups statements for the client, not for the tables, and says so when it matters. */
#include "service/live_sql.h"
#include "service/mzcatalog.h"
#include "service/session_int.h"
#include "service/athena.h"
#include "service/watch.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- life --------------------------------------------------------------------------------------------------------------- */

Status session_open(Service *s, const SessionOptions *o, Session **ret, Error *err)
{
    Arena *a = arena_create();
    Session *ss = arena_new(a, Session);

    *ss = (Session){ .svc = s, .arena = a, .dialect = o->dialect, .tx = 'I' };
    pthread_mutex_init(&ss->lock, NULL);
    ss->principal = principal_dup(a, &o->principal);
    ss->database = str_dup(a, o->database);
    ss->application = str_dup(a, o->application);
    ss->catalog_name = o->dialect == DIALECT_TRINO ? S("awsdatacatalog") : S("glue_catalog");
    ss->namespace = o->dialect == DIALECT_POSTGRES ? S("public") : S("default");
    if (o->dialect == DIALECT_TRINO && o->namespace.n)
        ss->namespace = str_dup(a, o->namespace);
    ss->backend = o->backend;
    if (o->backend) {
        Status full = mz_session_room(s, &ss->principal, err);
        if (full != OK) {
            session_close(ss);
            return full;
        }
    }
    live_session_begin(ss);
    for (size_t i = 0; o->settings && i < o->settings->n; i++) {
        Status st = session_set(ss, o->settings->p[i].key, o->settings->p[i].value, err);
        if (st != OK) {
            session_close(ss);
            return st;
        }
    }
    mz_session_begin(s, ss, o->peer);
    *ret = ss;
    return OK;
}

void session_close(Session *ss)
{
    if (!ss)
        return;
    mz_session_end(ss->svc, ss);
    cursors_end(ss, CURSORS_ALL);
    live_tx_forget(ss);
    live_block_forget(ss);
    live_session_end(ss);
    pg_objects_free(ss->pg_objects);
    Arena *a = ss->arena;
    pthread_mutex_destroy(&ss->lock);
    arena_destroy(a);
}

Service *session_service(Session *ss) { return ss->svc; }

void session_cancel(Session *ss)
{
    pthread_mutex_lock(&ss->lock);
    ss->cancelled = 1;
    if (ss->conn)
        duck_interrupt(ss->conn);
    pthread_mutex_unlock(&ss->lock);
}

void run_attach(Session *ss, DuckConn *c)
{
    pthread_mutex_lock(&ss->lock);
    ss->conn = c;
    if (c)
        ss->cancelled = 0;
    pthread_mutex_unlock(&ss->lock);
}

char session_tx(const Session *ss) { return ss->tx; }

void session_failed(Session *ss)
{
    if (ss->tx == 'T')
        ss->tx = 'E';
}

/* ---- notices --------------------------------------------------------------------------------------------------------------- */

void session_note(Session *ss, const char *severity, const char *sqlstate, const char *fmt, ...)
{
    Notice n = {0};
    va_list ap;

    if (ss->notices_read == ss->notices.n)
        ss->notices.n = ss->notices_read = 0;
    snprintf(n.severity, sizeof n.severity, "%s", severity);
    snprintf(n.sqlstate, sizeof n.sqlstate, "%s", sqlstate);
    va_start(ap, fmt);
    vsnprintf(n.message, sizeof n.message, fmt, ap);
    va_end(ap);
    vec_push(ss->arena, &ss->notices, n);
}

void session_note_detail(Session *ss, const char *fmt, ...)
{
    Notice *n = &vec_last(&ss->notices);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(n->detail, sizeof n->detail, fmt, ap);
    va_end(ap);
}

int session_notice(Session *ss, Notice *ret)
{
    if (ss->notices_read >= ss->notices.n)
        return 0;
    *ret = ss->notices.p[ss->notices_read++];
    return 1;
}

/* ---- parsing ------------------------------------------------------------------------------------------------------------------ */

/* psql and drivers ask pg_catalog in PostgreSQL's words whatever the session speaks. */
static Dialect dialect_of(const Session *ss, Str text)
{
    if (ss->dialect != DIALECT_POSTGRES && (str_find(text, S("pg_catalog.")) >= 0 || str_find(text, S("pg_type")) >= 0 || (ss->dialect == DIALECT_SPARK && str_find(text, S("information_schema.")) >= 0)))
        return DIALECT_POSTGRES;
    return ss->dialect;
}

Status session_parse(Session *ss, Arena *a, Str text, Batch **ret, size_t *n, Error *err)
{
    Batch *b = arena_new(a, Batch);

    *b = (Batch){ .arena = a, .text = str_dup(a, text), .dialect = dialect_of(ss, text) };
    TRY(sql_parse(a, b->dialect, b->text, &b->stmts, err));
    *n = b->stmts.n;
    *ret = b;
    return OK;
}

int batch_nparams(const Batch *b) { return b->stmts.n ? b->stmts.p[0]->nparams : 0; }

/* ---- dispatch --------------------------------------------------------------------------------------------------------------------- */

static Status do_transaction(Run *r, Rows *rows, Error *err)
{
    Session *ss = r->ss;

    if (r->st->kind == ST_BEGIN) {
        if (ss->tx == 'T')
            session_note(ss, "WARNING", "25001", "there is already a transaction in progress");
        ss->tx = 'T';
        ss->tx_wrote = 0;
        rows_command(rows, "BEGIN");
        return OK;
    }
    if (r->st->kind == ST_ROLLBACK && ss->tx_wrote)
        session_note(ss, "WARNING", "01000", "statements of this transaction that changed tables were committed one by one and stay");
    bool commit = r->st->kind == ST_COMMIT && ss->tx != 'E';
    rows_command(rows, commit ? "COMMIT" : "ROLLBACK");
    ss->tx = 'I';
    cursors_end(ss, CURSORS_OF_TRANSACTION);
    if (commit)
        TRY(live_block_commit(r, err));
    if (commit)
        return live_tx_commit(ss, err);
    live_block_forget(ss);
    live_tx_forget(ss);
    return OK;
}

static Status do_noop(Run *r, Rows *rows, Error *err UNUSED)
{
    rows_command(rows, r->st->kind == ST_DISCARD ? "DISCARD ALL" : "OK");
    return OK;
}

static Status do_prepare(Run *r, Rows *rows, Error *err)
{
    if (r->st->kind == ST_DEALLOCATE) {
        rows_command(rows, r->st->stmt_name.n ? "DEALLOCATE" : "DEALLOCATE ALL");
        return OK;
    }
    return FAIL(err, E_UNSUPPORTED, "PREPARE and EXECUTE as statements are not supported: use the driver's prepared statements");
}

static void limit_result(Rows *r);

static const StmtHandler handlers[] = {
    [ST_QUERY] = do_query, [ST_INSERT] = do_insert, [ST_UPDATE] = do_update, [ST_DELETE] = do_delete, [ST_MERGE] = do_merge,
    [ST_TRUNCATE] = do_truncate, [ST_CREATE_TABLE] = do_create_table, [ST_DROP_TABLE] = do_drop_table, [ST_ALTER_TABLE] = do_alter_table,
    [ST_CREATE_VIEW] = do_create_view, [ST_DROP_VIEW] = do_drop_view, [ST_CREATE_NAMESPACE] = do_create_namespace,
    [ST_DROP_NAMESPACE] = do_drop_namespace, [ST_ALTER_NAMESPACE] = do_alter_namespace, [ST_USE] = do_use, [ST_CREATE_MV] = do_create_mv,
    [ST_DROP_MV] = do_drop_mv, [ST_REFRESH_MV] = do_refresh_mv, [ST_ALTER_MV] = do_alter_mv, [ST_SHOW] = do_show, [ST_DESCRIBE] = do_describe,
    [ST_EXPLAIN] = do_explain, [ST_CALL] = do_call, [ST_SET] = do_set, [ST_RESET] = do_set, [ST_SHOW_SETTING] = do_set,
    [ST_BEGIN] = do_transaction, [ST_COMMIT] = do_transaction, [ST_ROLLBACK] = do_transaction, [ST_PREPARE] = do_prepare,
    [ST_EXECUTE] = do_prepare, [ST_DEALLOCATE] = do_prepare, [ST_COPY] = do_copy, [ST_DISCARD] = do_noop, [ST_DECLARE] = do_declare, [ST_FETCH] = do_fetch,
    [ST_CLOSE] = do_close, [ST_SUBSCRIBE] = do_subscribe, [ST_NOOP] = do_noop, [ST_OPTIMIZE] = do_optimize, [ST_VACUUM] = do_vacuum, [ST_REPAIR_TABLE] = do_repair_table, [ST_UNLOAD] = do_unload,
};

static bool changes_something(StmtKind k)
{
    return k == ST_INSERT || k == ST_UPDATE || k == ST_DELETE || k == ST_MERGE || k == ST_TRUNCATE || (k >= ST_CREATE_TABLE && k <= ST_ALTER_MV && k != ST_USE) || k == ST_LIVE || k == ST_GRANT || k == ST_REVOKE;
}

static Status refuse_in_failed(Session *ss, const Stmt *st, Error *err)
{
    if (ss->tx != 'E' || st->kind == ST_ROLLBACK || st->kind == ST_COMMIT)
        return OK;
    RAISE(err, E_INVALID, "current transaction is aborted, commands ignored until end of transaction block");
    memcpy(err->sqlstate, "25P02", 6);
    return E_INVALID;
}

static Status dispatch(Run *r, Rows *rows, Error *err)
{
    LiveDone live;
    StmtHandler h = (size_t)r->st->kind < COUNT_OF(handlers) ? handlers[r->st->kind] : NULL;
    if (r->st->returning.n && r->st->kind != ST_INSERT)
        return FAIL(err, E_UNSUPPORTED, "RETURNING is not supported but by INSERT");
    TRY(live_resolve_types(r, err));
    TRY(live_statement(r, rows, &live, err));
    if (live.done)
        return OK;
    return h ? h(r, rows, err) : FAIL(err, E_UNSUPPORTED, "this statement is not supported");
}

/* The engine names local files in its words: where they lie is nobody's business. */
static void hide_paths(char *text, Str dir)
{
    static const char word[] = "a file";

    for (char *at = text; dir.n > sizeof word && (at = strstr(at, dir.p)); at += sizeof word - 1) {
        size_t n = strcspn(at, "\"' \n)],");            /* at least the folder's name: longer than the word */
        memmove(at + sizeof word - 1, at + n, strlen(at + n) + 1);
        memcpy(at, word, sizeof word - 1);
    }
}

/* A stretch of a statement's work under its timeout; the engine's errors are put into the dialect's words. */
Status watched(Run *r, Rows *rows, StmtHandler work, Error *err)
{
    uint64_t ticket = watch_begin(r->svc->watch, r->ss, r->deadline_us);
    Status s = work(r, rows, err);

    if (watch_end(r->svc->watch, ticket) && s == E_CANCELLED)
        return FAIL(err, E_TIMEOUT, "canceling statement due to statement timeout");
    if (s == OK)
        return OK;
    sql_engine_error(r->dialect, err);
    hide_paths(err->message, r->svc->options.dir);
    hide_paths(err->detail, r->svc->options.dir);
    return s;
}

Status session_run(Session *ss, Batch *b, size_t i, const Value *params, size_t nparams, Rows **ret, Error *err)
{
    Arena *a = arena_create();
    Rows *rows = arena_new(a, Rows);
    StmtVec again = {0};
    const Stmt *st = b->stmts.p[i];

    rows->run = (Run){ .ss = ss, .svc = ss->svc, .a = a, .dialect = b->dialect, .params = params, .nparams = nparams, .now_us = clock_us() };
    rows->changed = -1;
    Status s = refuse_in_failed(ss, st, err);
    /* binding changes the tree: every run has a tree of its own, with positions as in the whole text */
    if (s == OK)
        s = sql_parse(a, b->dialect, b->text, &again, err);
    if (s == OK)
        s = duck_connect(ss->svc->engine, &rows->run.c, err);
    if (s == OK) {
        rows->run.st = again.p[i];
        run_attach(ss, rows->run.c);
        rows->run.text = str_sub(b->text, 0, (size_t)again.p[i]->end);        /* positions count from the text's beginning */
        rows->run.deadline_us = watch_deadline(ss);
        s = watched(&rows->run, rows, dispatch, err);
        if (s == OK && changes_something(st->kind))
            ss->tx_wrote |= ss->tx != 'I' && !rows->run.live_staged;
    }
    if (s != OK) {
        session_failed(ss);
        rows_close(rows);
        return s;
    }
    limit_result(rows);
    *ret = rows;
    return OK;
}

/* ---- rows ----------------------------------------------------------------------------------------------------------------------------- */

size_t rows_ncols(const Rows *r) { return r->columns.n; }
const RowColumn *rows_col(const Rows *r, size_t i) { return &r->columns.p[i]; }
const Stmt *rows_copy(const Rows *r) { return r->copy; }

RowsWork rows_work(const Rows *r)
{
    RowsWork w = { .changed = r->changed, .written = &r->run.written };

    for (size_t i = 0; i < r->run.scanned.n; i++) {
        w.bytes += r->run.scanned.p[i].bytes;
        w.rows += r->run.scanned.p[i].rows;
        w.files += r->run.scanned.p[i].files;
    }
    return w;
}

bool rows_forgets(const Rows *r, Str *name)
{
    const Stmt *st = r->run.st;

    *name = st && st->kind == ST_DEALLOCATE ? st->stmt_name : (Str){ 0 };
    return st && (st->kind == ST_DEALLOCATE || st->kind == ST_DISCARD);
}

static Status next_chunk(Run *run UNUSED, Rows *r, Error *err)
{
    r->chunk_at = r->chunk_rows = 0;
    return duck_next(r->result, &r->chunk_rows, err);
}

/* ---- how much of it ------------------------------------------------------------------------------------------------------------------- */

/* A SELECT of the live side: COPY and cursors are for what is larger. */
static void limit_result(Rows *r)
{
    Session *ss = r->run.ss;
    Str own = setting_get(ss, S("max_query_result_size"), S("1GB"));
    int64_t bytes;

    if (!r->result || r->copy || r->run.st->kind != ST_QUERY || ss->dialect != DIALECT_POSTGRES || !live_speaks(&r->run))
        return;
    if (setting_bytes(own, &r->sent_max))
        r->sent_why = str_fmt(r->run.a, "total result exceeds max size of " STR_FMT, STR_ARG(own));
    Str all = setting_system(ss->svc, r->run.a, S("max_result_size"));
    if (setting_bytes(all, &bytes) && bytes < r->sent_max) {
        r->sent_max = bytes;
        r->sent_why = str_fmt(r->run.a, "result exceeds max size of " STR_FMT, STR_ARG(all));
    }
}

static int64_t value_bytes(const Value *v)
{
    int64_t n = 8;

    if (v->kind == DT_LIST || v->kind == DT_STRUCT || v->kind == DT_MAP)
        for (size_t i = 0; i < v->items.n; i++)
            n += value_bytes(&v->items.p[i]);
    else if (v->kind == DT_STRING || v->kind == DT_BINARY)
        n += (int64_t)v->string.n;
    return n;
}

static Status count_sent(Rows *r, const Value *cells, Error *err)
{
    for (size_t i = 0; i < r->columns.n; i++)
        r->sent += value_bytes(&cells[i]);
    if (r->sent <= r->sent_max)
        return OK;
    RAISE(err, E_LIMIT, STR_FMT, STR_ARG(r->sent_why));
    memcpy(err->sqlstate, "53200", 6);
    return E_LIMIT;
}

static Status next_streamed(Rows *r, Arena *a, Value *cells, int *has, Error *err)
{
    if (r->chunk_at == r->chunk_rows)
        TRY(watched(&r->run, r, next_chunk, err));
    *has = r->chunk_rows > 0;
    for (size_t i = 0; *has && i < r->columns.n; i++)
        cells[i] = duck_value(a, r->result, i, r->chunk_at);
    r->chunk_at += (size_t)*has;
    return *has && r->sent_max ? count_sent(r, cells, err) : OK;
}

Status rows_next(Rows *r, Arena *a, Value *cells, int *has, Error *err)
{
    if (r->subscribe) {
        Status s = subscribe_next(r, a, cells, has, err);
        if (s != OK)
            session_failed(r->run.ss);
        return s;
    }
    if (r->cursor)
        return cursor_next(r, a, cells, has, err);
    if (r->result) {
        Status s = next_streamed(r, a, cells, has, err);
        if (s != OK)
            session_failed(r->run.ss);
        return s;
    }
    *has = r->at < r->memory.n;
    if (*has)
        memcpy(cells, r->memory.p[r->at++], sizeof(Value) * r->columns.n);
    return OK;
}

Str rows_tag(Rows *r, Arena *a, int64_t nrows)
{
    if (!r->tag)
        return str_fmt(a, "SELECT %lld", (long long)nrows);
    if (!r->tag_counts)
        return str_c(r->tag);
    return str_fmt(a, "%s %lld", r->tag, (long long)(r->changed >= 0 ? r->changed : nrows));
}

void rows_close(Rows *r)
{
    if (!r)
        return;
    Session *ss = r->run.ss;
    copy_abandon(r);
    subscribe_end(r->subscribe);
    run_live_end(&r->run);
    cursor_release(r->cursor);
    duck_result_free(r->result);
    pthread_mutex_lock(&ss->lock);
    if (ss->conn == r->run.c)
        ss->conn = NULL;
    pthread_mutex_unlock(&ss->lock);
    duck_disconnect(r->run.c);
    arena_destroy(r->run.a);                          /* r itself lives there */
}

void rows_column(Rows *rows, const char *name, DataTypeKind kind)
{
    vec_push(rows->run.a, &rows->columns, ((RowColumn){ str_c(name), { .kind = kind } }));
}

Value *rows_row(Rows *rows)
{
    Value *row = arena_array(rows->run.a, Value, rows->columns.n + 1);
    for (size_t i = 0; i < rows->columns.n; i++)
        row[i].kind = DT_NULL;
    vec_push(rows->run.a, &rows->memory, row);
    return row;
}

void cell_str(Rows *rows, Value *row, size_t i, Str s)
{
    row[i] = (Value){ .kind = DT_STRING, .type = &rows->columns.p[i].type, .string = str_dup(rows->run.a, s) };
}

void cell_int(Rows *rows, Value *row, size_t i, int64_t v)
{
    row[i] = (Value){ .kind = rows->columns.p[i].type.kind, .type = &rows->columns.p[i].type, .integer = v };
}

void cell_bool(Rows *rows, Value *row, size_t i, int truth)
{
    row[i] = (Value){ .kind = DT_BOOL, .type = &rows->columns.p[i].type, .boolean = truth != 0 };
}

void rows_command(Rows *rows, const char *tag)
{
    rows->tag = tag;
    rows->tag_counts = 0;
}

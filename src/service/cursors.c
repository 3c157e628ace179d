/* SPDX-License-Identifier: Apache-2.0 */
/* cursors.c - DECLARE, FETCH, MOVE and CLOSE.
 *
 * A cursor is a running query that the session keeps; each has an engine connection of its own, so several may be open beside
 * other statements, and all see what was there when they were declared.  Invariant: a FETCH that is still being read holds its
 * cursor, whatever is closed meanwhile. */
#include "service/session_int.h"

enum { CURSORS = 100 };                                    /* open in one session */

struct SqlCursor {
    SqlCursor *next;
    Arena *a;
    Str name;
    int hold, refs;
    Status failed;
    Rows *rows;
};

static Status fail_state(Error *err, Status s, const char *sqlstate)
{
    memcpy(err->sqlstate, sqlstate, 6);
    return s;
}

static SqlCursor *find(const Session *ss, Str name)
{
    for (SqlCursor *c = ss->cursors; c; c = c->next)
        if (str_eq(c->name, name))
            return c;
    return NULL;
}

static Status find_named(const Session *ss, Str name, SqlCursor **ret, Error *err)
{
    *ret = find(ss, name);
    if (*ret)
        return OK;
    RAISE(err, E_NOT_FOUND, "cursor \"" STR_FMT "\" does not exist", STR_ARG(str_sub(name, 0, 100)));
    return fail_state(err, E_NOT_FOUND, "34000");
}

void cursor_release(SqlCursor *c)
{
    if (!c || --c->refs)
        return;
    rows_close(c->rows);
    arena_destroy(c->a);
}

static void drop(Session *ss, SqlCursor *c)
{
    SqlCursor **at = &ss->cursors;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    cursor_release(c);
}

void cursors_end(Session *ss, CursorsEnd how)
{
    for (SqlCursor *c = ss->cursors, *next; c; c = next) {
        next = c->next;
        if (how == CURSORS_ALL || !c->hold)
            drop(ss, c);
    }
}

/* ---- DECLARE --------------------------------------------------------------------------------------------------------------- */

static Status check_declare(const Run *r, Error *err)
{
    const Session *ss = r->ss;
    size_t n = 0;

    for (const SqlCursor *c = ss->cursors; c; c = c->next)
        n++;
    if (n >= CURSORS)
        return FAIL(err, E_LIMIT, "more than %d open cursors", CURSORS);
    if (find(ss, r->st->stmt_name)) {
        RAISE(err, E_EXISTS, "cursor \"" STR_FMT "\" already exists", STR_ARG(r->st->stmt_name));
        return fail_state(err, E_EXISTS, "42P03");
    }
    if (ss->tx == 'I' && !r->st->what.n) {
        RAISE(err, E_INVALID, "DECLARE CURSOR can only be used in transaction blocks");
        return fail_state(err, E_INVALID, "25P01");
    }
    return OK;
}

static Status open_query(Run *r, SqlCursor *c, Error *err)
{
    Batch *b;
    size_t n;

    TRY(session_parse(r->ss, c->a, r->st->query_text, &b, &n, err));
    if (n != 1)
        return FAIL(err, E_SYNTAX, "a cursor is for one query");
    return session_run(r->ss, b, 0, r->params, r->nparams, &c->rows, err);
}

Status do_declare(Run *r, Rows *rows, Error *err)
{
    TRY(check_declare(r, err));
    Arena *a = arena_create();
    SqlCursor *c = arena_new(a, SqlCursor);
    *c = (SqlCursor){ .a = a, .name = str_dup(a, r->st->stmt_name), .hold = r->st->what.n > 0, .refs = 1 };
    Status s = open_query(r, c, err);
    if (s != OK) {
        cursor_release(c);
        return s;
    }
    c->next = r->ss->cursors;
    r->ss->cursors = c;
    rows_command(rows, "DECLARE CURSOR");
    return OK;
}

/* ---- FETCH, MOVE, CLOSE ----------------------------------------------------------------------------------------------------- */

static Status next_row(SqlCursor *c, Arena *a, Value *cells, int *has, Error *err)
{
    if (c->failed)
        return FAIL(err, c->failed, "cursor \"" STR_FMT "\" has failed before", STR_ARG(c->name));
    Status s = rows_next(c->rows, a, cells, has, err);
    if (s != OK)
        c->failed = s;
    return s;
}

/* FETCH gives what is ready, and waits for a first row as long as its timeout says. */
static Status nothing_yet(Rows *rows, int *has, Error *err)
{
    Session *ss = rows->run.ss;

    pthread_mutex_lock(&ss->lock);
    int cancelled = ss->cancelled;
    pthread_mutex_unlock(&ss->lock);
    if (cancelled)
        return FAIL(err, E_CANCELLED, "canceling statement due to user request");
    if (rows->fetched || (rows->fetch_until_us && clock_mono_us() >= rows->fetch_until_us))
        *has = 0;
    return OK;
}

Status cursor_next(Rows *rows, Arena *a, Value *cells, int *has, Error *err)
{
    *has = 0;
    if (rows->left == 0)
        return OK;
    TRY(next_row(rows->cursor, a, cells, has, err));
    if (*has == 2)
        return nothing_yet(rows, has, err);
    rows->fetched += *has;
    if (*has && rows->left > 0)
        rows->left--;
    return OK;
}

static Status move(Run *r, SqlCursor *c, Rows *rows, Error *err)
{
    Value *cells = arena_array(r->a, Value, rows_ncols(c->rows) + 1);

    rows->changed = 0;
    for (int has = 1; r->st->fetch < 0 || rows->changed < r->st->fetch; rows->changed += has) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        TRY(next_row(c, a, cells, &has, err));
        if (!has)
            break;
    }
    rows_command(rows, "MOVE");
    rows->tag_counts = 1;
    return OK;
}

/* WITH (timeout = '1s'): an interval, or seconds. */
static Status fetch_timeout(Run *r, Rows *rows, Error *err)
{
    Str t = props_get(&r->st->props, S("timeout"), (Str){0});
    double seconds = 0;
    int64_t us = 0;
    bool has = false;

    if (!t.n)
        return OK;
    if (str_to_f64(t, &seconds))
        us = (int64_t)(seconds * 1000000);
    else if (duck_scalar_i64(r->c, str_fmt(r->a, "SELECT epoch_us(CAST(" STR_FMT " AS INTERVAL))", STR_ARG(sql_lit_str(r->a, t))), &us, &has, err) != OK)
        return FAIL(err, E_INVALID, "invalid FETCH option value: timeout '" STR_FMT "' is no interval", STR_ARG(t));
    rows->fetch_until_us = max_i64(1, clock_mono_us() + max_i64(0, us));
    return OK;
}

Status do_fetch(Run *r, Rows *rows, Error *err)
{
    SqlCursor *c;

    TRY(find_named(r->ss, r->st->stmt_name, &c, err));
    run_attach(r->ss, c->rows->run.c);                     /* a cancel stops the cursor's query */
    if (r->st->what.n)
        return move(r, c, rows, err);
    for (size_t i = 0; i < rows_ncols(c->rows); i++)
        vec_push(r->a, &rows->columns, *rows_col(c->rows, i));
    c->refs++;
    rows->cursor = c;
    rows->left = r->st->fetch;
    TRY(fetch_timeout(r, rows, err));
    rows->tag = "FETCH";
    rows->tag_counts = 1;
    return OK;
}

Status do_close(Run *r, Rows *rows, Error *err)
{
    SqlCursor *c;

    if (r->st->what.n) {
        cursors_end(r->ss, CURSORS_ALL);
        rows_command(rows, "CLOSE CURSOR ALL");
        return OK;
    }
    TRY(find_named(r->ss, r->st->stmt_name, &c, err));
    drop(r->ss, c);
    rows_command(rows, "CLOSE CURSOR");
    return OK;
}

Status session_cursor_columns(Session *ss, Arena *a, Str name, RowColumns *ret, Error *err)
{
    SqlCursor *c;

    TRY(find_named(ss, name, &c, err));
    for (size_t i = 0; i < rows_ncols(c->rows); i++) {
        RowColumn col = *rows_col(c->rows, i);
        col.name = str_dup(a, col.name);
        vec_push(a, ret, col);
    }
    return OK;
}

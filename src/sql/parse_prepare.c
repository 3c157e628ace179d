/* SPDX-License-Identifier: Apache-2.0 */
/* parse_prepare.c - prepared statements, cursors, COPY.
 *
 * COPY knows STDIN, STDOUT and objects of a bucket by a connection (parse_live_copy.c): a path or a program never parses. */
#include "sql/parse_live_int.h"

/* ---- prepared statements, cursors ----------------------------------------------------------------------------------------- */

/* PREPARE name [(types)] AS statement; the types go to `columns`. */
Stmt *p_prepare(Parser *p)
{
    Stmt *s = s_new(p, ST_PREPARE);

    p_need(p, K_PREPARE);
    if (p_is(p, K_TRANSACTION))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "two-phase commit is not supported");
    s->stmt_name = p_ident(p);
    if (p_take_op(p, '(')) {
        do {
            ColumnDef c = { .position = p_pos(p) };
            c.type = p_type(p);
            vec_push(p->a, &s->columns, c);
        } while (p_take_op(p, ','));
        p_need_op(p, ')');
    }
    p_need(p, K_AS);
    int from = p_pos(p) - 1;
    if (!p_query_starts(p, 0) && !p_is_op(p, '(') && !p_is(p, K_INSERT) && !p_is(p, K_UPDATE) && !p_is(p, K_DELETE) && !p_is(p, K_MERGE))
        p_syntax(p);
    s->inner = p_stmt(p);
    s->inner->start = from;
    s->inner->end = p_last_end(p);
    s->inner->nparams = p->nparams;
    s->query_text = p_text(p, from, p_last_end(p));
    return s;
}

Stmt *p_execute(Parser *p)
{
    Stmt *s = s_new(p, ST_EXECUTE);

    p_need(p, K_EXECUTE);
    if (p_is(p, K_IMMEDIATE))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "EXECUTE IMMEDIATE is not supported");
    s->stmt_name = p_ident(p);
    if (!p_take_op(p, '('))
        return s;
    do {
        Assign x = { .value = p_expr(p) };
        vec_push(p->a, &s->call_args, x);
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
    return s;
}

Stmt *p_deallocate(Parser *p)
{
    Stmt *s = s_new(p, ST_DEALLOCATE);

    p_need(p, K_DEALLOCATE);
    p_take(p, K_PREPARE);
    if (p_take(p, K_ALL))
        s->what = S("all");
    else
        s->stmt_name = p_ident(p);
    return s;
}

/* DECLARE name [BINARY] [INSENSITIVE] [NO SCROLL] CURSOR [WITH|WITHOUT HOLD] FOR query */
Stmt *p_declare(Parser *p)
{
    Stmt *s = s_new(p, ST_DECLARE);

    p_need(p, K_DECLARE);
    s->stmt_name = p_ident(p);
    if (p_is(p, K_BINARY))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "binary cursors are not supported");
    if (!p_take(p, K_INSENSITIVE))
        p_take(p, K_ASENSITIVE);
    if (p_is(p, K_SCROLL))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "scrollable cursors are not supported");
    p_take2(p, K_NO, K_SCROLL);
    p_need(p, K_CURSOR);
    s->what = p_take2(p, K_WITH, K_HOLD) ? S("hold") : S("");
    p_take2(p, K_WITHOUT, K_HOLD);
    p_need(p, K_FOR);
    int from = p_pos(p) - 1;
    if (!p_is_subscribe(p)) {
        p_query_as_text(p, s);
        return s;
    }
    s->inner = p_subscribe(p);
    s->query_text = p_text(p, from, p_last_end(p));
    return s;
}

/* FETCH [NEXT | FORWARD | n | ALL | FORWARD n | FORWARD ALL] [FROM|IN] name */
Stmt *p_fetch(Parser *p)
{
    Stmt *s = s_new(p, ST_FETCH);

    s->what = p_is(p, K_MOVE) ? S("move") : S("");
    p_next(p);
    s->fetch = 1;
    if (p_is(p, K_PRIOR) || p_is(p, K_FIRST) || p_is(p, K_LAST) || p_is(p, K_ABSOLUTE) || p_is(p, K_RELATIVE) ||
        p_is(p, K_BACKWARD) || p_is_op(p, '-'))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "cursors move forward only");
    if (!p_take(p, K_NEXT)) {
        p_take(p, K_FORWARD);
        if (p_take(p, K_ALL))
            s->fetch = -1;
        else if (p_is_kind(p, TK_NUMBER))
            s->fetch = p_integer(p);
    }
    if (!p_take(p, K_FROM))
        p_take(p, K_IN);
    s->stmt_name = p_ident(p);
    if (p_postgres(p) && p_take(p, K_WITH)) {                    /* Materialize: WITH (timeout = '1s') */
        p_need_op(p, '(');
        Str key = str_lower(p->a, p_label(p));
        p_take_op(p, '=');
        props_set(p->a, &s->props, key, p_setting_value(p));
        p_need_op(p, ')');
        if (!str_eq(key, S("timeout")))
            P_FAIL(p, E_SYNTAX, p_pos(p), "FETCH has no option \"" STR_FMT "\"", STR_ARG(key));
    }
    return s;
}

Stmt *p_close(Parser *p)
{
    Stmt *s = s_new(p, ST_CLOSE);

    p_need(p, K_CLOSE);
    if (p_take(p, K_ALL))
        s->what = S("all");
    else
        s->stmt_name = p_ident(p);
    return s;
}

/* ---- COPY -------------------------------------------------------------------------------------------------------------------- */

static void copy_option(Parser *p, Stmt *s)
{
    Str key = str_lower(p->a, p_label(p)), value = S("true");

    if (p_take_op(p, '(')) {                                     /* force_quote (a, b) */
        StrVec names = {0};
        do
            vec_push(p->a, &names, p_ident(p));
        while (p_take_op(p, ','));
        p_need_op(p, ')');
        value = str_join(p->a, &names, S(","));
    } else if (p_take_op(p, '*')) {
        value = S("*");
    } else if (!p_is_op(p, ',') && !p_is_op(p, ')')) {
        value = p_setting_value(p);
    }
    props_set(p->a, &s->copy_options, key, value);
}

/* The old spelling: CSV HEADER DELIMITER ',' NULL 'x' */
static void copy_old_options(Parser *p, Stmt *s)
{
    while (!p_at_end(p) && !p->status) {
        Str key = str_lower(p->a, p_label(p));
        p_take(p, K_AS);
        if (str_eq(key, S("csv")) || str_eq(key, S("binary")) || str_eq(key, S("text")))
            props_set(p->a, &s->copy_options, S("format"), key);
        else if (str_eq(key, S("header")))
            props_set(p->a, &s->copy_options, key, S("true"));
        else if (str_eq(key, S("delimiter")) || str_eq(key, S("null")) || str_eq(key, S("quote")) || str_eq(key, S("escape")) ||
                 str_eq(key, S("encoding")))
            props_set(p->a, &s->copy_options, key, p_string(p));
        else
            p_syntax(p);
    }
}

/* true: all of the statement has been read. */
static bool copy_endpoint(Parser *p, Stmt *s)
{
    int from = p_is(p, K_FROM), at;

    s->what = from ? S("from") : S("to");
    if (!p_take(p, K_FROM))
        p_need(p, K_TO);
    at = p_pos(p);
    if (from && (s->query || s->inner))
        p_syntax(p);
    if (from && !p->status && lp_copy_files(p, s))
        return true;
    if (!p->status && !p_take(p, from ? K_STDIN : K_STDOUT)) {
        if (!p_is(p, K_STDIN) && !p_is(p, K_STDOUT))
            P_FAIL(p, E_DENIED, at, "COPY reads and writes only STDIN and STDOUT");
        p_next(p);                                               /* COPY TO STDIN is the same as STDOUT in PostgreSQL */
    }
    return false;
}

Stmt *p_copy(Parser *p)
{
    Stmt *s = s_new(p, ST_COPY);

    p_need(p, K_COPY);
    if (p_take_op(p, '(')) {
        if (p_is_subscribe(p))
            s->inner = p_subscribe(p);
        else
            p_query_as_text(p, s);
        p_need_op(p, ')');
    } else {
        p_take(p, K_INTO);
        p_stmt_name(p, s);
        if (p_is_op(p, '('))
            p_ident_list(p, &s->column_names);
    }
    if (copy_endpoint(p, s))
        return s;
    bool with = p_take(p, K_WITH);
    if (p_take_op(p, '(')) {
        do
            copy_option(p, s);
        while (p_take_op(p, ','));
        p_need_op(p, ')');
    } else if (with || !p_at_end(p)) {
        copy_old_options(p, s);
    }
    if (p_take(p, K_WHERE))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "COPY … WHERE is not supported");
    return s;
}

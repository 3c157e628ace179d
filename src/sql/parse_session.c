/* SPDX-License-Identifier: Apache-2.0 */
/* parse_session.c - SET and RESET, transactions, prepared statements, cursors, COPY, DISCARD, and statements that do
 * nothing here.
 *
 * Spark's SET a.b=value takes the rest of the line as it stands; it is read from the text, not from tokens.
 * COPY knows STDIN and STDOUT only: a path or a program never parses. */
#include "sql/parse_int.h"

static Stmt *set_spark(Parser *p, Stmt *s);
static Stmt *set_postgres(Parser *p, Stmt *s);

/* ---- settings -------------------------------------------------------------------------------------------------------- */

Stmt *p_set(Parser *p)
{
    Stmt *s = s_new(p, ST_SET);

    p_need(p, K_SET);
    s->position = p_pos(p);
    return p_spark(p) ? set_spark(p, s) : set_postgres(p, s);
}

/* a.b-c.d: Spark's keys may hold dashes */
static Str setting_key(Parser *p)
{
    if (p_is_kind(p, TK_STRING))
        return p_string(p);
    int from = p_pos(p) - 1;
    p_label(p);
    while (p_take_op(p, '.') || p_take_op(p, '-')) {
        if (!p_is_kind(p, TK_NUMBER))
            p_label(p);
        else
            p_next(p);
    }
    Str key = p_text(p, from, p_last_end(p));
    return key.n > 1 && key.p[0] == '`' && key.p[key.n - 1] == '`' ? str_sub(key, 1, key.n - 1) : key;
}

static Str unquote(Parser *p, Str s)
{
    Lexer l = { .a = p->a, .dialect = p->dialect, .text = s };

    if (s.n < 2 || (s.p[0] != '\'' && s.p[0] != '"'))
        return s;
    Token t = lex_next(&l);
    return t.kind == TK_STRING && (size_t)t.end == s.n ? t.text : s;
}

static Stmt *set_spark(Parser *p, Stmt *s)
{
    if (p_at_end(p) || (p_is_op(p, '-') && p_is_at(p, 1, K_V))) {          /* SET; SET -v: list them */
        s->kind = ST_SHOW_SETTING;
        s->what = s->setting = S("all");
        p_raw_rest(p);
        return s;
    }
    if (p_take2(p, K_TIME, K_ZONE)) {
        s->setting = S("spark.sql.session.timeZone");
        s->setting_value = p_take(p, K_LOCAL) ? S("UTC") : p_string(p);
        return s;
    }
    if (p_is(p, K_CATALOG) && p_is_ident(p, 1)) {
        p_next(p);
        s->kind = ST_USE;
        s->what = S("catalog");
        p_stmt_name(p, s);
        return s;
    }
    s->setting = setting_key(p);
    if (p_at_end(p)) {
        s->kind = ST_SHOW_SETTING;
        return s;
    }
    if (p_is(p, K_TO))
        p_next(p);
    else
        p_need_op(p, '=');
    s->setting_value = unquote(p, p_raw_rest(p));
    return s;
}

static Str postgres_value(Parser *p)
{
    Str s = p_peek(p, 0)->text;

    if (p_is_kind(p, TK_STRING))
        return p_string(p);
    if (p_is_op(p, '-') && p_peek(p, 1)->kind == TK_NUMBER) {
        p_next(p);
        s = str_cat(p->a, S("-"), p_peek(p, 0)->text);
    } else if (!p_is_kind(p, TK_WORD) && !p_is_kind(p, TK_NUMBER) && !p_is_kind(p, TK_QUOTED)) {
        p_syntax(p);
        return S("");
    }
    p_next(p);
    return s;
}

static Stmt *set_transaction(Parser *p, Stmt *s)
{
    Stmt *noop = s_noop(p, S("SET"));
    noop->position = s->position;
    return noop;
}

static Stmt *set_list(Parser *p, Stmt *s)
{
    StrVec values = {0};

    if (p_take(p, K_DEFAULT)) {
        s->kind = ST_RESET;
        return s;
    }
    do
        vec_push(p->a, &values, postgres_value(p));
    while (p_take_op(p, ','));
    s->setting_value = str_join(p->a, &values, S(", "));
    return s;
}

static Stmt *set_postgres(Parser *p, Stmt *s)
{
    if (p_is(p, K_TRANSACTION) || p_is2(p, K_SESSION, K_CHARACTERISTICS))
        return set_transaction(p, s);
    if (p_is2(p, K_SESSION, K_AUTHORIZATION) || (p_is(p, K_ROLE) && !p_is_op_at(p, 1, '=')) || p_is(p, K_CONSTRAINTS))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "SET ROLE and SET SESSION AUTHORIZATION are not supported");
    if (p_is(p, K_SESSION) || p_is(p, K_LOCAL)) {
        s->what = p_is(p, K_LOCAL) ? S("local") : S("session");
        p_next(p);
    }
    if (p_take2(p, K_TIME, K_ZONE)) {
        s->setting = S("timezone");
        s->setting_value = p_take(p, K_LOCAL) ? S("UTC") : postgres_value(p);
        return s;
    }
    if (p_take(p, K_NAMES)) {
        s->setting = S("client_encoding");
        return set_list(p, s);
    }
    StrVec parts = {0};
    p_name(p, &parts);
    s->setting = str_join(p->a, &parts, S("."));
    if (!p_take(p, K_TO))
        p_need_op(p, '=');
    return set_list(p, s);
}

Stmt *p_reset(Parser *p)
{
    Stmt *s = s_new(p, ST_RESET);

    p_need(p, K_RESET);
    s->position = p_pos(p);
    if (p_at_end(p) || p_take(p, K_ALL)) {
        s->what = S("all");
        return s;
    }
    if (!p_spark(p) && p_take2(p, K_SESSION, K_AUTHORIZATION)) {
        s->setting = S("session_authorization");
        return s;
    }
    s->setting = p_take2(p, K_TIME, K_ZONE) ? S("timezone") : setting_key(p);
    if (s->setting.n > 1 && s->setting.p[0] == '"')
        s->setting = str_sub(s->setting, 1, s->setting.n - 1);
    return s;
}

/* ---- transactions ------------------------------------------------------------------------------------------------------- */

/* Isolation levels and access modes are accepted: every transaction here is a snapshot of its own. */
static void transaction_modes(Parser *p)
{
    while (p_is(p, K_ISOLATION) || p_is(p, K_READ) || p_is(p, K_DEFERRABLE) || p_is(p, K_NOT) || p_is_op(p, ',')) {
        if (p_take2(p, K_ISOLATION, K_LEVEL)) {
            if (!p_take(p, K_SERIALIZABLE) && !p_take2(p, K_REPEATABLE, K_READ) && !p_take2(p, K_READ, K_COMMITTED))
                if (!p_take2(p, K_READ, K_UNCOMMITTED))
                    p_syntax(p);
        } else if (!p_take2(p, K_READ, K_ONLY) && !p_take2(p, K_READ, K_WRITE) && !p_take2(p, K_NOT, K_DEFERRABLE) && !p_take(p, K_DEFERRABLE)) {
            if (!p_take_op(p, ','))
                p_syntax(p);
        }
    }
}

Stmt *p_transaction(Parser *p)
{
    Stmt *s = s_new(p, ST_BEGIN);

    if (p_take(p, K_COMMIT) || p_take(p, K_END))
        s->kind = ST_COMMIT;
    else if (p_take(p, K_ROLLBACK) || p_take(p, K_ABORT))
        s->kind = ST_ROLLBACK;
    else if (p_take(p, K_START))
        p_need(p, K_TRANSACTION);
    else
        p_need(p, K_BEGIN);
    if (!p_take(p, K_WORK))
        p_take(p, K_TRANSACTION);
    if (s->kind == ST_BEGIN)
        transaction_modes(p);
    if (p_is(p, K_TO) || p_is(p, K_PREPARED))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "%s is not supported", p_is(p, K_TO) ? "ROLLBACK TO SAVEPOINT" : "two-phase commit");
    if (s->kind != ST_BEGIN && p_take(p, K_AND)) {
        if (p_is(p, K_CHAIN))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "AND CHAIN is not supported");
        p_need(p, K_NO);
        p_need(p, K_CHAIN);
    }
    return s;
}

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
    p_query_as_text(p, s);
    return s;
}

/* FETCH [NEXT | FORWARD | n | ALL | FORWARD n | FORWARD ALL] [FROM|IN] name */
Stmt *p_fetch(Parser *p)
{
    Stmt *s = s_new(p, ST_FETCH);

    s->what = p_is(p, K_MOVE) ? S("move") : S("");
    p_next(p);
    s->fetch = 1;
    if (p_is(p, K_PRIOR) || p_is(p, K_FIRST) || p_is(p, K_LAST) || p_is(p, K_ABSOLUTE) || p_is(p, K_RELATIVE) || p_is(p, K_BACKWARD) || p_is_op(p, '-'))
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
        value = postgres_value(p);
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
        else if (str_eq(key, S("delimiter")) || str_eq(key, S("null")) || str_eq(key, S("quote")) || str_eq(key, S("escape")) || str_eq(key, S("encoding")))
            props_set(p->a, &s->copy_options, key, p_string(p));
        else
            p_syntax(p);
    }
}

static void copy_endpoint(Parser *p, Stmt *s)
{
    int from = p_is(p, K_FROM), at = p_pos(p) + 0;

    s->what = from ? S("from") : S("to");
    if (!p_take(p, K_FROM))
        p_need(p, K_TO);
    at = p_pos(p);
    if (from && s->query)
        p_syntax(p);
    if (!p->status && !p_take(p, from ? K_STDIN : K_STDOUT)) {
        if (!p_is(p, K_STDIN) && !p_is(p, K_STDOUT))
            P_FAIL(p, E_DENIED, at, "COPY reads and writes only STDIN and STDOUT");
        p_next(p);                                               /* COPY TO STDIN is the same as STDOUT in PostgreSQL */
    }
}

Stmt *p_copy(Parser *p)
{
    Stmt *s = s_new(p, ST_COPY);

    p_need(p, K_COPY);
    if (p_take_op(p, '(')) {
        p_query_as_text(p, s);
        p_need_op(p, ')');
    } else {
        p_stmt_name(p, s);
        if (p_is_op(p, '('))
            p_ident_list(p, &s->column_names);
    }
    copy_endpoint(p, s);
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

/* ---- what has no effect here ---------------------------------------------------------------------------------------------------- */

Stmt *p_discard(Parser *p)
{
    Stmt *s = s_new(p, ST_DISCARD);

    p_need(p, K_DISCARD);
    s->what = str_lower(p->a, p_label(p));
    if (!str_eq(s->what, S("all")) && !str_eq(s->what, S("plans")) && !str_eq(s->what, S("sequences")) && !str_eq(s->what, S("temp")) &&
        !str_eq(s->what, S("temporary")))
        p_syntax(p);
    return s;
}

Stmt *p_noop_stmt(Parser *p)
{
    if (p_is(p, K_COMMENT)) {
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "COMMENT ON is not supported; use ALTER TABLE … SET TBLPROPERTIES ('comment' = …)");
        return s_new(p, ST_NOOP);
    }
    /* SAVEPOINT and RELEASE are harmless as long as nothing is rolled back to: drivers send them around their own
     * catalog queries. ROLLBACK TO is refused. */
    Str what = str_upper(p->a, p_peek(p, 0)->text);
    return s_noop(p, what);
}

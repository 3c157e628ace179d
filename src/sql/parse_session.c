/* SPDX-License-Identifier: Apache-2.0 */
/* parse_session.c - SET and RESET, transactions, DISCARD, and statements that do nothing here.
 *
 * Spark's SET a.b=value takes the rest of the line as it stands; it is read from the text, not from tokens. */
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

/* A word, number or string as text. */
Str p_setting_value(Parser *p)
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
        vec_push(p->a, &values, p_setting_value(p));
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
        s->setting_value = p_take(p, K_LOCAL) ? S("UTC") : p_setting_value(p);
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
            if (p_postgres(p) && p_is_word_like(p, "STRICT"))
                p_next(p);
            else if (p_postgres(p) && p_is_word_like(p, "STRONG") && p_is_at(p, 1, K_SESSION))
                p->at += 2;
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

/* CACHE TABLE t: nothing to do; CACHE TABLE t AS query would make a view. */
static Stmt *cache(Parser *p)
{
    StrVec ignored = {0};
    Stmt *s = s_new(p, ST_NOOP);

    s->what = S("CACHE");
    p_need(p, K_CACHE);
    p_take(p, K_LAZY);
    p_need(p, K_TABLE);
    p_name(p, &ignored);
    if (p_take(p, K_OPTIONS)) {
        Props options = {0};
        p_props(p, &options);
    }
    if (!p_at_end(p))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "CACHE TABLE … AS is not supported");
    return s;
}

Stmt *p_noop_stmt(Parser *p)
{
    if (p_is(p, K_CACHE))
        return cache(p);
    /* SAVEPOINT and RELEASE are harmless as long as nothing is rolled back to: drivers send them around their own
     * catalog queries. ROLLBACK TO is refused. */
    Str what = str_upper(p->a, p_peek(p, 0)->text);
    return s_noop(p, what);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* parse_subscribe.c - SUBSCRIBE [TO] name | (query) [ENVELOPE …] [WITHIN TIMESTAMP ORDER BY …] [WITH (SNAPSHOT, PROGRESS)] [AS OF [AT LEAST] t] [UP TO t].
 *
 * Materialize's statement (its manual, "SUBSCRIBE"); in the postgres dialect only. */
#include "sql/parse_int.h"

static bool take_word(Parser *p, const char *word)
{
    if (!p_is_word_like(p, word))
        return false;
    p_next(p);
    return true;
}

bool p_is_subscribe(Parser *p) { return p_postgres(p) && p_is_word_like(p, "SUBSCRIBE"); }

/* TABLE name: every column of it. */
static Query *whole_relation(Parser *p)
{
    Query *q = arena_new(p->a, Query);
    TableRef *t = arena_new(p->a, TableRef);
    Expr *star = arena_new(p->a, Expr);

    star->kind = EX_STAR;
    *t = (TableRef){ .kind = TR_TABLE, .position = p_pos(p) };
    q->position = p_pos(p);
    p_name(p, &t->name);
    q->body = BODY_SELECT;
    q->select = arena_new(p->a, Select);
    q->select->from = t;
    vec_push(p->a, &q->select->items, ((SelectItem){ .expr = star }));
    q->end = p_last_end(p);
    return q;
}

static void what(Parser *p, Stmt *s)
{
    int from = p_pos(p) - 1;

    p_take(p, K_TO);
    if (!p_take_op(p, '(')) {
        s->position = p_pos(p);
        s->query = whole_relation(p);
        s->name = s->query->select->from->name;
        return;
    }
    from = p_pos(p) - 1;
    s->query = p_query(p);
    s->query_text = p_text(p, from, p_last_end(p));
    p_need_op(p, ')');
}

/* ENVELOPE UPSERT (KEY (a, b)) | DEBEZIUM (KEY (a, b)) */
static void envelope(Parser *p, Stmt *s)
{
    if (take_word(p, "UPSERT"))
        s->what = S("upsert");
    else if (take_word(p, "DEBEZIUM"))
        s->what = S("debezium");
    else
        p_syntax(p);
    p_need_op(p, '(');
    if (!take_word(p, "KEY"))
        p_syntax(p);
    p_ident_list(p, &s->column_names);
    p_need_op(p, ')');
}

static void option(Parser *p, Stmt *s)
{
    Str key = str_lower(p->a, p_label(p)), value = S("true");

    if (!str_eq(key, S("snapshot")) && !str_eq(key, S("progress")))
        P_FAIL(p, E_SYNTAX, p_pos(p), "SUBSCRIBE has no option \"" STR_FMT "\"", STR_ARG(key));
    p_take_op(p, '=');
    if (!p_is_op(p, ',') && !p_is_op(p, ')'))
        value = p_setting_value(p);
    props_set(p->a, &s->props, key, value);
}

static void options(Parser *p, Stmt *s)
{
    if (!p_take_op(p, '(')) {
        option(p, s);
        return;
    }
    do
        option(p, s);
    while (p_take_op(p, ','));
    p_need_op(p, ')');
}

static void order_within(Parser *p, Stmt *s)
{
    if (!take_word(p, "TIMESTAMP"))
        p_syntax(p);
    p_need(p, K_ORDER);
    p_need(p, K_BY);
    s->query->order.n = 0;
    p_order_items(p, &s->within);
}

/* AS OF and a time: an alias "of" is followed by no value. */
bool p_as_of_starts(Parser *p)
{
    const Token *t = p_peek(p, 2);

    if (!p_postgres(p) || !p_is(p, K_AS) || !p_is_at(p, 1, K_OF))
        return false;
    if (t->kind == TK_STRING || t->kind == TK_NUMBER || t->kind == TK_PARAM)
        return true;
    return t->kind == TK_WORD && (str_eq(t->text, S("at")) || p_is_at(p, 2, K_TIMESTAMP) || p_is_at(p, 2, K_DATE) || p_is_at(p, 2, K_CAST) || p_is_op_at(p, 3, '('));
}

/* At AS OF [AT LEAST] t. */
void p_as_of_live(Parser *p, AsOf *ret)
{
    p_next(p);
    p_next(p);
    if (take_word(p, "AT")) {
        if (!take_word(p, "LEAST"))
            p_syntax(p);
        ret->branch = S("at least");
    }
    ret->has = 1;
    ret->timestamp = p_expr(p);
}

Stmt *p_subscribe(Parser *p)
{
    Stmt *s = s_new(p, ST_SUBSCRIBE);

    p_next(p);
    what(p, s);
    for (;;) {
        if (take_word(p, "ENVELOPE"))
            envelope(p, s);
        else if (p_is_word_like(p, "WITHIN") || p_is(p, K_WITHIN))
            p_next(p), order_within(p, s);
        else if (p_take(p, K_WITH))
            options(p, s);
        else if (p_is(p, K_AS) && p_peek(p, 1)->kind == TK_WORD && str_ieq(p_peek(p, 1)->text, S("of")))
            p_as_of_live(p, &s->as_of);
        else if (take_word(p, "UP")) {
            p_need(p, K_TO);
            s->where = p_expr(p);
        } else
            return s;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* parse_select.c - one SELECT block: its list, GROUP BY in all forms, HAVING, WINDOW, QUALIFY. */
#include "sql/parse_int.h"

static void distinct(Parser *p, Select *s);
static void group_by(Parser *p, Select *s);
static void windows(Parser *p, Select *s);
static bool items_end(Parser *p);

Select *p_select(Parser *p)
{
    Select *s = arena_new(p->a, Select);

    p_need(p, K_SELECT);
    distinct(p, s);
    if (!items_end(p))
        p_select_items(p, &s->items);
    if (p_is(p, K_INTO))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "SELECT INTO is not supported; use CREATE TABLE AS");
    if (p_take(p, K_FROM))
        s->from = p_from(p);
    if (p_take(p, K_WHERE))
        s->where = p_expr(p);
    if (p_take2(p, K_GROUP, K_BY))
        group_by(p, s);
    if (p_take(p, K_HAVING))
        s->having = p_expr(p);
    if (p_take(p, K_WINDOW))
        windows(p, s);
    if (p_take(p, K_QUALIFY))
        s->qualify = p_expr(p);
    if (!s->windows.n && p_take(p, K_WINDOW))
        windows(p, s);
    return s;
}

/* PostgreSQL's SELECT FROM t: no columns. */
static bool items_end(Parser *p) { return p_postgres(p) && p_is(p, K_FROM); }

static void distinct(Parser *p, Select *s)
{
    if (p_take(p, K_ALL))
        return;
    if (!p_take(p, K_DISTINCT))
        return;
    s->distinct = 1;
    if (!p_postgres(p) || !p_take(p, K_ON))
        return;
    s->distinct = 0;
    p_need_op(p, '(');
    p_expr_list(p, &s->distinct_on);
    p_need_op(p, ')');
}

bool p_alias(Parser *p, Str *ret)
{
    const Token *t = p_peek(p, 0);

    if (p_take(p, K_AS)) {
        if (p_spark(p) && p_is_op(p, '('))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "several aliases for one expression are not supported");
        *ret = p_label(p);
        return true;
    }
    if (t->kind != TK_QUOTED && (t->kind != TK_WORD || (lex_keyword_flags((Keyword)t->id) & (KW_RESERVED | KW_NO_ALIAS))))
        return false;
    *ret = p_label(p);
    return true;
}

void p_select_items(Parser *p, SelectItems *ret)
{
    do {
        SelectItem item = { .expr = p_expr(p) };
        if (item.expr->kind != EX_STAR)
            p_alias(p, &item.alias);
        vec_push(p->a, ret, item);
    } while (p_take_op(p, ','));
}

/* ---- GROUP BY --------------------------------------------------------------------------------------------------- */

/* ( a, b ) or ( ) or a */
static void grouping_set(Parser *p, ExprVec *ret)
{
    if (!p_is_op(p, '(')) {
        vec_push(p->a, ret, p_expr(p));
        return;
    }
    if (p_is_op_at(p, 1, ')')) {
        p->at += 2;
        return;
    }
    Expr *e = p_expr(p);                              /* (a, b) reads as a row */
    if (e->kind == EX_STRUCT)
        *ret = e->args;
    else
        vec_push(p->a, ret, e);
}

static void grouping_sets(Parser *p, Select *s)
{
    s->grouping = GROUP_SETS;
    p_need_op(p, '(');
    do {
        ExprVec set = {0};
        if (p_is(p, K_ROLLUP) || p_is(p, K_CUBE) || p_is2(p, K_GROUPING, K_SETS))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "nested grouping sets are not supported");
        grouping_set(p, &set);
        vec_push(p->a, &s->group_sets, set);
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}

static void rollup_list(Parser *p, Select *s, GroupKind kind)
{
    s->grouping = kind;
    p_need_op(p, '(');
    p_expr_list(p, &s->group_by);
    p_need_op(p, ')');
    for (size_t i = 0; i < s->group_by.n; i++)
        if (s->group_by.p[i]->kind == EX_STRUCT)
            P_FAIL(p, E_UNSUPPORTED, s->group_by.p[i]->position, "composite columns in ROLLUP and CUBE are not supported");
}

/* A plain list, and Spark's WITH ROLLUP, WITH CUBE, GROUPING SETS after it. */
static void plain_list(Parser *p, Select *s)
{
    s->grouping = GROUP_PLAIN;
    do {
        if (p_is_op_at(p, 1, '(') && (p_is(p, K_ROLLUP) || p_is(p, K_CUBE)))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "ROLLUP and CUBE beside other grouping expressions are not supported");
        vec_push(p->a, &s->group_by, p_expr(p));
    } while (p_take_op(p, ','));
    if (p_take2(p, K_WITH, K_ROLLUP))
        s->grouping = GROUP_ROLLUP;
    else if (p_take2(p, K_WITH, K_CUBE))
        s->grouping = GROUP_CUBE;
    else if (p_take2(p, K_GROUPING, K_SETS))
        grouping_sets(p, s);
}

static void group_by(Parser *p, Select *s)
{
    int at = p_pos(p);

    if (p_is(p, K_ALL) && !p_is_op_at(p, 1, '.')) {
        p->at++;
        s->grouping = GROUP_ALL;
        return;
    }
    if (p_take2(p, K_GROUPING, K_SETS)) {
        grouping_sets(p, s);
    } else if (p_is(p, K_ROLLUP) && p_is_op_at(p, 1, '(')) {
        p->at++;
        rollup_list(p, s, GROUP_ROLLUP);
    } else if (p_is(p, K_CUBE) && p_is_op_at(p, 1, '(')) {
        p->at++;
        rollup_list(p, s, GROUP_CUBE);
    } else if (p_is_op(p, '(') && p_is_op_at(p, 1, ')')) {
        ExprVec none = {0};
        p->at += 2;
        s->grouping = GROUP_SETS;
        vec_push(p->a, &s->group_sets, none);
    } else {
        plain_list(p, s);
        return;
    }
    if (p_is_op(p, ','))
        P_FAIL(p, E_UNSUPPORTED, at, "grouping sets beside other grouping expressions are not supported");
}

static void windows(Parser *p, Select *s)
{
    do {
        vec_push(p->a, &s->windows.names, p_ident(p));
        p_need(p, K_AS);
        vec_push(p->a, &s->windows, p_window_spec(p));
    } while (p_take_op(p, ','));
}

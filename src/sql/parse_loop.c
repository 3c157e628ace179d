/* SPDX-License-Identifier: Apache-2.0 */
/* parse_loop.c - WITH MUTUALLY RECURSIVE [(options)] name (column type, …) AS (query), … */
#include "sql/parse_int.h"

enum { LOOP_LIMIT = 10000, LOOP_CTES_MAX = 100 };

bool p_loop_here(Parser *p) { return p_postgres(p) && p_is_word_like(p, "mutually") && p_is_at(p, 1, K_RECURSIVE); }

static bool take_word(Parser *p, const char *word)
{
    if (!p_is_word_like(p, word))
        return false;
    p->at++;
    return true;
}

static void need_word(Parser *p, const char *word)
{
    if (!take_word(p, word))
        p_syntax(p);
}

/* RECURSION LIMIT n, ERROR AT RECURSION LIMIT n, RETURN AT RECURSION LIMIT n */
static void option(Parser *p, Loop *loop)
{
    int at = p_pos(p);

    if (take_word(p, "return")) {
        loop->end = LOOP_RETURN_AT;
        p_need(p, K_AT);
    } else if (take_word(p, "error")) {
        p_need(p, K_AT);
    }
    need_word(p, "recursion");
    p_need(p, K_LIMIT);
    p_take_op(p, '=');
    loop->limit = p_integer(p);
    if (!p->status && loop->limit < 1)
        P_FAIL(p, E_INVALID, at, "the recursion limit must be greater than zero");
    if (!p->status && loop->limit > LOOP_LIMIT)
        P_FAIL(p, E_LIMIT, at, "the recursion limit is at most %d", LOOP_LIMIT);
}

static void columns(Parser *p, Cte *c, DataTypes *types)
{
    p_need_op(p, '(');
    do {
        vec_push(p->a, &c->columns, p_ident(p));
        vec_push(p->a, types, p_type(p));
    } while (!p->status && p_take_op(p, ','));
    p_need_op(p, ')');
}

static void binding(Parser *p, Query *q)
{
    Cte c = { .position = p_pos(p) };
    DataTypes types = {0};

    c.name = p_ident(p);
    columns(p, &c, &types);
    p_need(p, K_AS);
    p_need_op(p, '(');
    if (!p_enter(p))
        return;
    c.query = p_query(p);
    p_leave(p);
    p_need_op(p, ')');
    vec_push(p->a, &q->ctes, c);
    vec_push(p->a, &q->loop->types, types);
    if (q->ctes.n > LOOP_CTES_MAX)
        P_FAIL(p, E_LIMIT, c.position, "more than %d mutually recursive queries", LOOP_CTES_MAX);
}

void p_loop(Parser *p, Query *q)
{
    q->loop = arena_new(p->a, Loop);
    q->loop->position = p_pos(p);
    q->loop->limit = LOOP_LIMIT;
    p->at += 2;
    if (p_take_op(p, '(')) {
        option(p, q->loop);
        p_need_op(p, ')');
    }
    do
        binding(p, q);
    while (!p->status && p_take_op(p, ','));
}

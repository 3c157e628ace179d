/* SPDX-License-Identifier: Apache-2.0 */
/* parse_expr.c - expressions by precedence climbing.
 *
 * One table says how tightly each operator binds in each dialect; Trino's bind as PostgreSQL's.  They differ: Spark's comparisons bind tighter than
 * its predicates (a = b IS NULL is (a = b) IS NULL in both, but Spark's LIKE sees a comparison on its left), || is an
 * addition in Spark and an "other operator" in PostgreSQL, ^ is XOR in Spark and power in PostgreSQL.
 * A chain of AND or OR longer than PARSE_CHAIN_PLAIN becomes a balanced tree: same meaning, small height. */
#include "sql/parse_int.h"

typedef struct OpRule { int token; Op op; Level spark, postgres; } OpRule;

static const OpRule OPERATORS[] = {
    { '=', OP_EQ, LV_COMPARE, LV_COMPARE },            { O_EQ2, OP_EQ, LV_COMPARE, LV_NONE },
    { O_NE, OP_NE, LV_COMPARE, LV_COMPARE },           { '<', OP_LT, LV_COMPARE, LV_COMPARE },
    { O_LE, OP_LE, LV_COMPARE, LV_COMPARE },           { '>', OP_GT, LV_COMPARE, LV_COMPARE },
    { O_GE, OP_GE, LV_COMPARE, LV_COMPARE },           { O_NULLSAFE, OP_NULLSAFE_EQ, LV_COMPARE, LV_NONE },
    { '|', OP_BIT_OR, LV_BIT_OR, LV_OTHER },           { '^', OP_BIT_XOR, LV_BIT_XOR, LV_NONE },
    { '#', OP_BIT_XOR, LV_NONE, LV_OTHER },            { '&', OP_BIT_AND, LV_BIT_AND, LV_OTHER },
    { O_SHL, OP_SHL, LV_SHIFT, LV_OTHER },             { O_SHR, OP_SHR, LV_SHIFT, LV_OTHER },
    { O_CONCAT, OP_CONCAT, LV_ADD, LV_OTHER },         { '+', OP_ADD, LV_ADD, LV_ADD },
    { '-', OP_SUB, LV_ADD, LV_ADD },                   { '*', OP_MUL, LV_MUL, LV_MUL },
    { '/', OP_DIV, LV_MUL, LV_MUL },                   { '%', OP_MOD, LV_MUL, LV_MUL },
    { '^', OP_POW, LV_NONE, LV_POW },                  { O_ARROW, OP_JSON_GET, LV_NONE, LV_OTHER },
    { O_ARROW2, OP_JSON_GET_TEXT, LV_NONE, LV_OTHER }, { O_HASH_ARROW, OP_JSON_PATH, LV_NONE, LV_OTHER },
    { O_HASH_ARROW2, OP_JSON_PATH_TEXT, LV_NONE, LV_OTHER },
    { O_CONTAINS, OP_CONTAINS, LV_NONE, LV_OTHER },    { O_CONTAINED, OP_CONTAINED, LV_NONE, LV_OTHER },
    { O_OVERLAP, OP_OVERLAP, LV_NONE, LV_OTHER },      { O_OTHER, OP_OTHER, LV_NONE, LV_OTHER },
    { '?', OP_OTHER, LV_NONE, LV_OTHER },
};

static Expr *prefix(Parser *p, Level min);
static Expr *infix(Parser *p, Expr *left, Level min);
static Expr *logic(Parser *p, Expr *left, Keyword k, Op op, Level level);
static Expr *operator(Parser *p, Expr *left, Level min);

Expr *p_expr(Parser *p)
{
    Expr *e = p_expr_level(p, LV_OR);
    if (!p->depth && !p->status && tree_height_expr(e) > PARSE_TREE_DEPTH)
        P_FAIL(p, E_LIMIT, e->position, "an expression is more than %d levels high", PARSE_TREE_DEPTH);
    return e;
}

Expr *p_expr_level(Parser *p, Level min)
{
    if (!p_enter(p))
        return e_null(p, 0);
    Expr *e = p_expr_from(p, prefix(p, min), min);
    p_leave(p);
    return e;
}

Expr *p_expr_from(Parser *p, Expr *left, Level min)
{
    for (Expr *next; (next = infix(p, left, min)); left = next)
        ;
    return left;
}

void p_expr_list(Parser *p, ExprVec *ret)
{
    do
        vec_push(p->a, ret, p_expr(p));
    while (p_take_op(p, ','));
}

void p_order_items(Parser *p, OrderVec *ret)
{
    do {
        OrderItem o = { .expr = p_expr(p), .nulls_first = -1 };
        if (p_postgres(p) && p_take(p, K_USING)) {               /* ORDER BY x USING > */
            o.descending = p_take_op(p, '>');
            if (!o.descending)
                p_need_op(p, '<');
        } else if (p_take(p, K_DESC)) {
            o.descending = 1;
        } else {
            p_take(p, K_ASC);
        }
        if (p_take2(p, K_NULLS, K_FIRST))
            o.nulls_first = 1;
        else if (p_take2(p, K_NULLS, K_LAST))
            o.nulls_first = 0;
        vec_push(p->a, ret, o);
    } while (p_take_op(p, ','));
}

/* ---- prefix operators ---------------------------------------------------------------------------------------- */

static Expr *not(Parser *p, int at)
{
    Expr *x = p_expr_level(p, LV_NOT);
    if (x->kind != EX_EXISTS || x->negated)
        return e_unary(p, OP_NOT, x, at);
    x->negated = 1;
    x->position = at;
    return x;
}

static Expr *minus(Parser *p, int at)
{
    if (p_spark(p) && p_is_kind(p, TK_NUMBER))                  /* -1 is one literal: -2147483648 is an INT */
        return p_postfix(p, p_number(p, 1));
    Expr *x = p_expr_level(p, LV_UNARY);
    return e_negate(p, x) ? x : e_unary(p, OP_NEG, x, at);
}

static Expr *prefix(Parser *p, Level min)
{
    int at = p_pos(p);

    if (min <= LV_NOT && p_take(p, K_NOT))
        return not(p, at);
    if (p_take_op(p, '-'))
        return minus(p, at);
    if (p_take_op(p, '+'))
        return e_unary(p, OP_PLUS, p_expr_level(p, LV_UNARY), at);
    if (!p_trino(p) && p_take_op(p, '~'))
        return e_unary(p, OP_BIT_NOT, p_expr_level(p, p_spark(p) ? LV_UNARY : LV_OTHER + 1), at);      /* PostgreSQL: an operator like others, ~1 + 1 is ~(1 + 1) */
    if (p_spark(p) && p_take_op(p, '!'))
        return e_unary(p, OP_NOT, p_expr_level(p, LV_NOT), at);
    return p_postfix(p, p_primary(p));
}

/* ---- infix operators ----------------------------------------------------------------------------------------- */

/* The expression that goes on after `left`, or NULL when nothing at this level or tighter follows. */
static Expr *infix(Parser *p, Expr *left, Level min)
{
    Expr *e;

    if (min <= LV_OR && p_is(p, K_OR))
        return logic(p, left, K_OR, OP_OR, LV_AND);
    if (min <= LV_AND && p_is(p, K_AND))
        return logic(p, left, K_AND, OP_AND, LV_NOT);
    e = p_predicate(p, left, min);
    return e ? e : operator(p, left, min);
}

static Expr *balance(Parser *p, const ExprVec *v, size_t from, size_t to, Op op)
{
    if (to - from == 1)
        return v->p[from];
    size_t mid = from + (to - from + 1) / 2;
    return e_binary(p, op, balance(p, v, from, mid, op), balance(p, v, mid, to, op), v->p[from]->position);
}

static Expr *logic(Parser *p, Expr *left, Keyword k, Op op, Level level)
{
    ExprVec v = {0};

    vec_push(p->a, &v, left);
    while (p_take(p, k))
        vec_push(p->a, &v, p_expr_level(p, level));
    if (v.n > PARSE_CHAIN_PLAIN)
        return balance(p, &v, 0, v.n, op);
    for (size_t i = 1; i < v.n; i++)
        left = e_binary(p, op, left, v.p[i], left->position);
    return left;
}

/* The lexer knows more operators than Trino has. */
static bool is_trino(int token)
{
    static const int has[] = { '=', O_NE, '<', O_LE, '>', O_GE, O_CONCAT, '+', '-', '*', '/', '%' };
    for (size_t i = 0; i < COUNT_OF(has); i++)
        if (has[i] == token)
            return true;
    return false;
}

static const OpRule *rule_here(Parser *p, size_t ahead, Level *level)
{
    const Token *t = p_peek(p, ahead);

    if (p_spark(p) && p_is_at(p, ahead, K_DIV)) {
        static const OpRule div = { 0, OP_INT_DIV, LV_MUL, LV_NONE };
        *level = LV_MUL;
        return &div;
    }
    for (size_t i = 0; t->kind == TK_OP && i < COUNT_OF(OPERATORS); i++) {
        *level = p_spark(p) ? OPERATORS[i].spark : OPERATORS[i].postgres;
        if (OPERATORS[i].token == t->id && *level && (!p_trino(p) || is_trino(t->id)))
            return &OPERATORS[i];
    }
    return NULL;
}

static bool quantifier_follows(Parser *p)
{
    return (p_is(p, K_ANY) || p_is(p, K_SOME) || p_is(p, K_ALL)) && p_is_op_at(p, 1, '(');
}

/* OPERATOR(pg_catalog.+): only PostgreSQL's own operators exist. The cursor stays on the operator; false: it is none. */
static bool named_operator(Parser *p)
{
    if (!p_postgres(p) || !p_is(p, K_OPERATOR) || !p_is_op_at(p, 1, '('))
        return false;
    p->at += 2;
    if (p_is_word_like(p, "pg_catalog")) {
        p_next(p);
        p_need_op(p, '.');
    }
    return true;
}

static Expr *apply(Parser *p, const OpRule *r, Level level, Expr *left, int at, Str text)
{
    if (quantifier_follows(p))
        return p_quantified(p, r->op, left, at);
    Expr *e = e_binary(p, r->op, left, p_expr_level(p, level + 1), at);
    if (r->op == OP_OTHER)
        vec_push(p->a, &e->name, text);
    return e;
}

static Expr *operator(Parser *p, Expr *left, Level min)
{
    Level level;
    int at = p_pos(p);
    bool named = min <= LV_OTHER && named_operator(p);
    const OpRule *r = rule_here(p, 0, &level);

    if (!r || (level < min && !named)) {
        if (named)
            p_syntax(p);
        return NULL;
    }
    Str text = p_peek(p, 0)->text;
    p_next(p);
    if (named) {
        p_need_op(p, ')');
        level = LV_OTHER;
    }
    Expr *e = apply(p, r, level, left, at, text);
    Level again;
    if (!p_spark(p) && level == LV_COMPARE && min <= LV_COMPARE && rule_here(p, 0, &again) && again == LV_COMPARE)
        p_syntax(p);                                            /* PostgreSQL's comparisons do not chain */
    return e;
}

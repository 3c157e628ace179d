/* SPDX-License-Identifier: Apache-2.0 */
/* parse_predicate.c - what follows an expression and asks about it: IS, BETWEEN, IN, LIKE and its kin, ANY and ALL;
 * and PostgreSQL's AT TIME ZONE and COLLATE.
 *
 * Invariant: when NULL is returned nothing was consumed. */
#include "sql/parse_int.h"

enum { COPIES_MAX = 20000 };

static Level predicate_level(const Parser *p) { return p_spark(p) ? LV_IS : LV_PREDICATE; }
static Level operand_level(const Parser *p) { return p_spark(p) ? LV_COMPARE : LV_OTHER; }

static Expr *is(Parser *p, Expr *left, int at);
static Expr *between(Parser *p, Expr *left, int at);
static Expr *in(Parser *p, Expr *left, int at);
static Expr *like(Parser *p, Expr *left, Op op, int negated, int at);
static Op like_word(Parser *p, size_t ahead, size_t *words);
static Expr *match_operator(Parser *p, Expr *left);
static Expr *postgres_suffix(Parser *p, Expr *left, Level min);
static Expr *trino_zone(Parser *p, Expr *left, Level min);

Expr *p_predicate(Parser *p, Expr *left, Level min)
{
    int at = p_pos(p);
    size_t not = p_is(p, K_NOT), words;
    Op op;
    Expr *e = NULL;

    if (min <= LV_IS && !not && p_take(p, K_IS))
        return is(p, left, at);
    if (p_trino(p) && (e = trino_zone(p, left, min)))
        return e;
    if (p_postgres(p) && (e = postgres_suffix(p, left, min)))
        return e;
    if (min > predicate_level(p))
        return min <= LV_OTHER ? match_operator(p, left) : NULL;
    if (p_is_at(p, not, K_BETWEEN)) {
        p->at += not + 1;
        e = between(p, left, at);
        e->negated = not ? 1 : 0;
    } else if (p_is_at(p, not, K_IN)) {
        p->at += not + 1;
        e = in(p, left, at);
        e->negated = not ? 1 : 0;
    } else if ((op = like_word(p, not, &words))) {
        p->at += not + words;
        e = like(p, left, op, not ? 1 : 0, at);
    }
    return e ? e : match_operator(p, left);
}

/* ---- IS ---------------------------------------------------------------------------------------------------- */

static Expr *is(Parser *p, Expr *left, int at)
{
    static const struct { Keyword k; Op op; } TESTS[] = {
        { K_NULL, OP_IS_NULL }, { K_TRUE, OP_IS_TRUE }, { K_FALSE, OP_IS_FALSE }, { K_UNKNOWN, OP_IS_UNKNOWN },
    };
    Expr *e = e_new(p, EX_IS, at);

    e->negated = p_take(p, K_NOT);
    vec_push(p->a, &e->args, left);
    for (size_t i = 0; i < COUNT_OF(TESTS); i++)
        if (p_take(p, TESTS[i].k)) {
            e->op = TESTS[i].op;
            return e;
        }
    p_need(p, K_DISTINCT);
    p_need(p, K_FROM);
    e->op = OP_IS_DISTINCT;
    vec_push(p->a, &e->args, p_expr_level(p, operand_level(p)));
    return e;
}

/* ---- BETWEEN, IN --------------------------------------------------------------------------------------------- */

static Expr *between(Parser *p, Expr *left, int at)
{
    bool symmetric = p_take(p, K_SYMMETRIC);
    Expr *e = e_new(p, EX_BETWEEN, at);

    if (!symmetric)
        p_take(p, K_ASYMMETRIC);
    Expr *low = p_expr_level(p, operand_level(p));
    p_need(p, K_AND);
    Expr *high = p_expr_level(p, operand_level(p));
    vec_push(p->a, &e->args, left);
    vec_push(p->a, &e->args, low);
    vec_push(p->a, &e->args, high);
    if (symmetric)
        P_FAIL(p, E_UNSUPPORTED, at, "BETWEEN SYMMETRIC is not supported");
    return e;
}

static Expr *in(Parser *p, Expr *left, int at)
{
    Expr *e = e_new(p, EX_IN_LIST, at);

    p_need_op(p, '(');
    Expr *first = p_paren_from(p, &e->query);
    if (e->query) {
        e->kind = EX_IN_QUERY;
        if (left->kind == EX_STRUCT)
            e->args = left->args;
        else
            vec_push(p->a, &e->args, left);
    } else {
        vec_push(p->a, &e->args, left);
        vec_push(p->a, &e->args, first);
        while (p_take_op(p, ','))
            vec_push(p->a, &e->args, p_expr(p));
    }
    p_need_op(p, ')');
    return e;
}

/* ---- LIKE and its kin ------------------------------------------------------------------------------------------ */

static Op like_word(Parser *p, size_t ahead, size_t *words)
{
    *words = 1;
    if (p_is_at(p, ahead, K_LIKE))
        return OP_LIKE;
    if (!p_trino(p) && p_is_at(p, ahead, K_ILIKE))
        return OP_ILIKE;
    if (p_spark(p) && (p_is_at(p, ahead, K_RLIKE) || p_is_at(p, ahead, K_REGEXP)))
        return OP_RLIKE;
    *words = 2;
    return !p_trino(p) && p_is_at(p, ahead, K_SIMILAR) && p_is_at(p, ahead + 1, K_TO) ? OP_SIMILAR : OP_NONE;
}

static Expr *like_new(Parser *p, Expr *left, Expr *pattern, Op op, int negated, int at)
{
    Expr *e = e_new(p, EX_LIKE, at);

    e->op = op;
    e->negated = negated;
    vec_push(p->a, &e->args, left);
    vec_push(p->a, &e->args, pattern);
    return e;
}

static int count_node(void *ctx, Expr *e)
{
    (void)e;
    ++*(size_t *)ctx;
    return 1;
}

/* Spark's x LIKE ANY ('a', 'b'): x LIKE 'a' OR x LIKE 'b'; ALL: AND. The copies of x are bounded. */
static Expr *like_list(Parser *p, Expr *left, Op op, int negated, int at)
{
    bool all = p_is(p, K_ALL);
    Expr *whole = NULL;
    size_t nodes = 0, copied = 0;

    sql_walk_expr(left, count_node, &nodes);

    p->at++;
    p_need_op(p, '(');
    do {
        if ((copied += nodes) > COPIES_MAX) {
            P_FAIL(p, E_LIMIT, at, "LIKE ANY and LIKE ALL have too many patterns");
            return left;
        }
        Expr *x = whole ? sql_copy_expr(p->a, left) : left;
        Expr *e = like_new(p, x, p_expr(p), op, negated, at);
        whole = whole ? e_binary(p, all ? OP_AND : OP_OR, whole, e, at) : e;
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
    return whole;
}

static bool quantifier_here(Parser *p)
{
    return (p_is(p, K_ANY) || p_is(p, K_SOME) || p_is(p, K_ALL)) && p_is_op_at(p, 1, '(');
}

static Expr *like(Parser *p, Expr *left, Op op, int negated, int at)
{
    if (quantifier_here(p)) {
        if (p_spark(p))
            return like_list(p, left, op, negated, at);
        Expr *q = p_quantified(p, op, left, at);
        q->negated = negated;
        return q;
    }
    Expr *e = like_new(p, left, p_expr_level(p, operand_level(p)), op, negated, at);
    if (p_take(p, K_ESCAPE))
        vec_push(p->a, &e->args, p_expr_level(p, operand_level(p)));
    return e;
}

/* PostgreSQL's ~ ~* !~ !~* ~~ !~~ ~~* !~~*, also as OPERATOR(pg_catalog.~). */
static Expr *match_operator(Parser *p, Expr *left)
{
    static const struct { int token; Op op; int negated; } MATCHES[] = {
        { '~', OP_REGEX_MATCH, 0 },   { O_MATCH_I, OP_REGEX_IMATCH, 0 }, { O_NOT_MATCH, OP_REGEX_MATCH, 1 },
        { O_NOT_MATCH_I, OP_REGEX_IMATCH, 1 }, { O_LIKE, OP_LIKE, 0 }, { O_NOT_LIKE, OP_LIKE, 1 },
        { O_ILIKE, OP_ILIKE, 0 }, { O_NOT_ILIKE, OP_ILIKE, 1 },
    };
    size_t named = 0;
    int at = p_pos(p);

    if (!p_postgres(p))
        return NULL;
    if (p_is(p, K_OPERATOR) && p_is_op_at(p, 1, '('))
        named = p_is_op_at(p, 3, '.') && str_eq(p_peek(p, 2)->text, S("pg_catalog")) ? 4 : 2;
    for (size_t i = 0; i < COUNT_OF(MATCHES); i++)
        if (p_is_op_at(p, named, MATCHES[i].token)) {
            p->at += named + 1;
            if (named)
                p_need_op(p, ')');
            if (quantifier_here(p)) {
                Expr *q = p_quantified(p, MATCHES[i].op, left, at);
                q->negated = MATCHES[i].negated;
                return q;
            }
            return like_new(p, left, p_expr_level(p, LV_ADD), MATCHES[i].op, MATCHES[i].negated, at);
        }
    return NULL;
}

/* x op ANY (query | array) */
Expr *p_quantified(Parser *p, Op op, Expr *left, int position)
{
    Expr *e = e_new(p, EX_QUANTIFIED, position);

    e->op = op;
    e->all = p_is(p, K_ALL);
    p->at++;
    p_need_op(p, '(');
    vec_push(p->a, &e->args, left);
    Expr *x = p_paren_from(p, &e->query);
    if (x)
        vec_push(p->a, &e->args, x);
    p_need_op(p, ')');
    return e;
}

/* ---- PostgreSQL's AT TIME ZONE, COLLATE, ISNULL, NOTNULL, OVERLAPS ------------------------------------------------ */

/* Text is compared byte by byte here: a collation that says otherwise is refused. */
static void collation(Parser *p)
{
    static const char *const KNOWN[] = { "default", "C", "POSIX", "ucs_basic" };
    StrVec name = {0};
    int at = p_pos(p);

    do
        vec_push(p->a, &name, p_label(p));
    while (p_take_op(p, '.'));
    for (size_t i = 0; i < COUNT_OF(KNOWN); i++)
        if (str_eq(vec_last(&name), str_c(KNOWN[i])))
            return;
    P_FAIL(p, E_UNSUPPORTED, at, "collation \"" STR_FMT "\" is not supported", STR_ARG(vec_last(&name)));
}

static Expr *postgres_suffix(Parser *p, Expr *left, Level min)
{
    int at = p_pos(p);
    Expr *e;

    if (min <= LV_COLLATE && p_take(p, K_COLLATE)) {
        collation(p);
        return left;
    }
    if (min <= LV_ZONE && p_take3(p, K_AT, K_TIME, K_ZONE)) {
        e = e_call(p, "timezone", at);
        vec_push(p->a, &e->args, p_expr_level(p, LV_ZONE + 1));
        vec_push(p->a, &e->args, left);
        return e;
    }
    if (min > LV_IS || !(p_is(p, K_ISNULL) || p_is(p, K_NOTNULL)))
        return NULL;
    e = e_new(p, EX_IS, at);
    e->op = OP_IS_NULL;
    e->negated = p_is(p, K_NOTNULL);
    p->at++;
    vec_push(p->a, &e->args, left);
    return e;
}

/* Trino's x AT TIME ZONE 'z': at_timezone(x, 'z') */
static Expr *trino_zone(Parser *p, Expr *left, Level min)
{
    int at = p_pos(p);

    if (min > LV_ZONE || !p_take3(p, K_AT, K_TIME, K_ZONE))
        return NULL;
    Expr *e = e_call(p, "at_timezone", at);
    vec_push(p->a, &e->args, left);
    vec_push(p->a, &e->args, p_expr_level(p, LV_ZONE + 1));
    return e;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* parse_query.c - queries: WITH, set operations, SELECT, VALUES, ORDER BY, LIMIT.
 *
 * INTERSECT binds tighter than UNION and EXCEPT.  A query in parentheses that gets clauses of its own a second time
 * ((SELECT … LIMIT 1) ORDER BY x) becomes SELECT * FROM (…). */
#include "sql/parse_int.h"

enum { SETOPS_MAX = 500 };

static Query *query_new(Parser *p, BodyKind body, int position);
static Query *union_chain(Parser *p, Query *left);
static Query *intersect_chain(Parser *p, Query *left);
static Query *term(Parser *p);
static void tail(Parser *p, Query *q);
static bool tail_here(Parser *p);
static Query *wrap(Parser *p, Query *q);
static Query *with_tail(Parser *p, Query *q);

bool p_query_starts(Parser *p, size_t ahead)
{
    if (p_is_at(p, ahead, K_SELECT))
        return true;
    if (p_is_at(p, ahead, K_WITH))
        return true;
    const Token *next = p_peek(p, ahead + 1);
    if (p_is_at(p, ahead, K_VALUES))
        return p_trino(p) || p_is_op_at(p, ahead + 1, '(') || next->kind == TK_NUMBER || next->kind == TK_STRING || p_is_at(p, ahead + 1, K_NULL);
    return p_is_at(p, ahead, K_TABLE) && p_is_ident(p, ahead + 1);
}

bool p_query_in_parens(Parser *p, size_t ahead)
{
    size_t n = ahead;

    while (n < ahead + LIMIT_SQL_DEPTH && p_is_op_at(p, n, '('))
        n++;
    return n > ahead && p_query_starts(p, n);
}

/* WITH … SELECT …: the CTEs belong to the whole query. */
Query *p_query(Parser *p)
{
    Query head = {0};
    int at = p_pos(p);

    p_ctes(p, &head);
    return p_query_after(p, &head, at);
}

Query *p_query_after(Parser *p, Query *head, int at)
{
    if (!p_enter(p))
        return query_new(p, BODY_VALUES, at);
    Query *first = term(p);
    Query *q = with_tail(p, union_chain(p, intersect_chain(p, first)));
    if (head->ctes.n) {
        if (q->ctes.n)
            q = wrap(p, q);
        q->ctes = head->ctes;
        q->loop = head->loop;
    }
    q->position = at;
    q->end = p_last_end(p) + 1;
    p_leave(p);
    if (!p->depth && !p->status && tree_height_query(q) > PARSE_TREE_DEPTH)
        P_FAIL(p, E_LIMIT, at, "the query is more than %d levels high", PARSE_TREE_DEPTH);
    return q;
}

Query *p_query_rest(Parser *p, Query *first)
{
    if (!p_enter(p))
        return first;
    Query *q = with_tail(p, union_chain(p, intersect_chain(p, first)));
    p_leave(p);
    return q;
}

static Query *query_new(Parser *p, BodyKind body, int position)
{
    Query *q = arena_new(p->a, Query);
    q->body = body;
    q->position = position;
    return q;
}

/* ---- WITH ---------------------------------------------------------------------------------------------------- */

static void cte(Parser *p, Query *q, int recursive)
{
    Cte c = { .position = p_pos(p), .recursive = recursive };

    c.name = p_ident(p);
    if (p_is_op(p, '('))
        p_ident_list(p, &c.columns);
    if (p_spark(p))
        p_take(p, K_AS);
    else
        p_need(p, K_AS);
    if (!p_take(p, K_MATERIALIZED))
        p_take2(p, K_NOT, K_MATERIALIZED);
    p_need_op(p, '(');
    if (!p_enter(p))
        return;
    if (p_is(p, K_INSERT) || p_is(p, K_UPDATE) || p_is(p, K_DELETE) || p_is(p, K_MERGE))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "data-modifying statements in WITH are not supported");
    c.query = p_query(p);
    p_leave(p);
    p_need_op(p, ')');
    vec_push(p->a, &q->ctes, c);
}

void p_ctes(Parser *p, Query *q)
{
    if (!p_take(p, K_WITH))
        return;
    if (p_loop_here(p)) {
        p_loop(p, q);
        return;
    }
    int recursive = p_take(p, K_RECURSIVE);
    do
        cte(p, q, recursive);
    while (p_take_op(p, ','));
}

/* ---- set operations ------------------------------------------------------------------------------------------- */

static Query *setop(Parser *p, SetOp op, Query *left)
{
    Query *q = query_new(p, BODY_SETOP, left->position);

    q->setop = op;
    q->all = p_take(p, K_ALL);
    if (!q->all)
        p_take(p, K_DISTINCT);
    q->by_name = p_take2(p, K_BY, K_NAME);
    q->left = left;
    Query *right = term(p);
    q->right = op == SETOP_INTERSECT ? right : intersect_chain(p, right);
    q->end = p_last_end(p) + 1;
    return q;
}

static Query *intersect_chain(Parser *p, Query *left)
{
    for (int n = 0; p_take(p, K_INTERSECT); n++) {
        if (n >= SETOPS_MAX)
            P_FAIL(p, E_LIMIT, p_pos(p), "more than %d set operations", SETOPS_MAX);
        left = setop(p, SETOP_INTERSECT, left);
    }
    return left;
}

static Query *union_chain(Parser *p, Query *left)
{
    for (int n = 0;; n++) {
        if (n >= SETOPS_MAX)
            P_FAIL(p, E_LIMIT, p_pos(p), "more than %d set operations", SETOPS_MAX);
        if (p_take(p, K_UNION))
            left = setop(p, SETOP_UNION, left);
        else if (p_take(p, K_EXCEPT) || (p_spark(p) && p_take(p, K_MINUS)))
            left = setop(p, SETOP_EXCEPT, left);
        else
            return left;
    }
}

/* SELECT * FROM (q) */
static Query *wrap(Parser *p, Query *q)
{
    Query *outer = query_new(p, BODY_SELECT, q->position);
    SelectItem star = { .expr = e_new(p, EX_STAR, q->position) };

    outer->select = arena_new(p->a, Select);
    vec_push(p->a, &outer->select->items, star);
    outer->select->from = arena_new(p->a, TableRef);
    outer->select->from->kind = TR_QUERY;
    outer->select->from->position = q->position;
    outer->select->from->query = q;
    return outer;
}

static bool has_tail(const Query *q) { return q->order.n || q->limit || q->offset || q->spark_sort; }

static Query *with_tail(Parser *p, Query *q)
{
    if (!tail_here(p))
        return q;
    if (has_tail(q) || q->ctes.n)
        q = wrap(p, q);
    tail(p, q);
    q->end = p_last_end(p) + 1;
    return q;
}

/* ---- ORDER BY, LIMIT ------------------------------------------------------------------------------------------- */

static bool tail_here(Parser *p)
{
    return p_is2(p, K_ORDER, K_BY) || p_is(p, K_LIMIT) || p_is(p, K_OFFSET) || p_is(p, K_FETCH) || p_is(p, K_FOR) ||
           (p_spark(p) && (p_is2(p, K_SORT, K_BY) || p_is2(p, K_CLUSTER, K_BY) || p_is2(p, K_DISTRIBUTE, K_BY)));
}

/* Spark's SORT BY, CLUSTER BY, DISTRIBUTE BY only say how work is spread: noted, and otherwise without effect. */
static void spark_sort(Parser *p, Query *q)
{
    OrderVec ignored = {0};

    if (p_take2(p, K_SORT, K_BY))
        q->spark_sort = 1;
    else if (p_take2(p, K_CLUSTER, K_BY))
        q->spark_sort = 2;
    else if (p_take2(p, K_DISTRIBUTE, K_BY))
        q->spark_sort = 3;
    else
        return;
    p_order_items(p, &ignored);
}

/* FETCH FIRST [n] ROWS ONLY */
static void fetch_first(Parser *p, Query *q)
{
    int at = p_pos(p);

    if (!p_take(p, K_FIRST))
        p_need(p, K_NEXT);
    q->limit = p_is(p, K_ROW) || p_is(p, K_ROWS) ? e_int(p, 1, at) : p_primary(p);
    if (!p_take(p, K_ROW))
        p_need(p, K_ROWS);
    if (p_is2(p, K_WITH, K_TIES))
        P_FAIL(p, E_UNSUPPORTED, at, "WITH TIES is not supported");
    p_need(p, K_ONLY);
}

static void limits(Parser *p, Query *q)
{
    for (;;) {
        int at = p_pos(p);
        if (!q->limit && p_take(p, K_LIMIT)) {
            if (!p_take(p, K_ALL))
                q->limit = p_expr(p);
        } else if (!q->offset && p_take(p, K_OFFSET)) {
            q->offset = p_expr_level(p, LV_OTHER);
            if (!p_take(p, K_ROWS))
                p_take(p, K_ROW);
        } else if (!q->limit && p_take(p, K_FETCH)) {
            fetch_first(p, q);
        } else if (p_is(p, K_FOR)) {
            P_FAIL(p, E_UNSUPPORTED, at, "row locking (FOR UPDATE, FOR SHARE) is not supported");
        } else {
            return;
        }
    }
}

static void tail(Parser *p, Query *q)
{
    if (p_spark(p))
        spark_sort(p, q);
    if (p_take2(p, K_ORDER, K_BY)) {
        if (p_spark(p) && p_is(p, K_ALL)) {
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "ORDER BY ALL is not supported");
            return;
        }
        p_order_items(p, &q->order);
    }
    if (p_spark(p))
        spark_sort(p, q);
    limits(p, q);
}

/* ---- SELECT, VALUES, TABLE ---------------------------------------------------------------------------------------- */

static Query *table_query(Parser *p)
{
    Query *q = query_new(p, BODY_SELECT, p_pos(p));
    SelectItem star = { .expr = e_new(p, EX_STAR, p_pos(p)) };

    p_need(p, K_TABLE);
    q->select = arena_new(p->a, Select);
    vec_push(p->a, &q->select->items, star);
    q->select->from = p_table_name(p);
    return q;
}

static Query *term(Parser *p)
{
    Query *q;
    int at = p_pos(p);

    if (p_take_op(p, '(')) {
        q = p_query(p);
        p_need_op(p, ')');
        return q;
    }
    if (p_is(p, K_TABLE))
        return table_query(p);
    if (p_take(p, K_VALUES)) {
        q = query_new(p, BODY_VALUES, at);
        p_values_rows(p, q);
    } else {
        q = query_new(p, BODY_SELECT, at);
        q->select = p_select(p);
    }
    q->end = p_last_end(p) + 1;
    return q;
}

/* (1, 'a'), (2, 'b'); Spark and Trino also take 1, 2 */
void p_values_rows(Parser *p, Query *q)
{
    p->values++;
    do {
        ExprVec row = {0};
        if (!p_postgres(p) && !p_is_op(p, '(')) {
            vec_push(p->a, &row, p_expr(p));
        } else if (!p_postgres(p)) {
            Expr *e = p_expr(p);                      /* a row constructor, or one value in parentheses */
            if (e->kind == EX_STRUCT)
                row = e->args;
            else
                vec_push(p->a, &row, e);
        } else {
            p_need_op(p, '(');
            do
                vec_push(p->a, &row, p_expr(p));
            while (p_take_op(p, ','));
            p_need_op(p, ')');
        }
        if (q->rows.n && row.n != q->rows.p[0].n)
            P_FAIL(p, E_INVALID, p_pos(p), "VALUES lists must all be the same length");
        vec_push(p->a, &q->rows, row);
    } while (p_take_op(p, ','));
    p->values--;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* print_query.c - bound queries as the engine's text, and the printer's doors.
 *
 * Each output column is written `expr AS "engine name"`.  A set operation or VALUES with ORDER BY or LIMIT is wrapped,
 * so that its ORDER BY may hold any expression over its output. */
#include "sql/print_int.h"

static void add(Print *p, const char *z) { sb_addc(&p->out, z); }

void print_names(Print *p, const BoundColumns *cols)
{
    add(p, "(");
    for (size_t i = 0; i < cols->n; i++) {
        if (i)
            add(p, ", ");
        sql_ident(&p->out, cols->p[i].engine);
    }
    add(p, ")");
}

void print_values(Print *p, const ExprVec *rows, size_t n)
{
    add(p, "VALUES ");
    for (size_t i = 0; i < n; i++) {
        add(p, i ? ", (" : "(");
        print_exprs(p, &rows[i], 0);
        add(p, ")");
    }
}

/* ---- SELECT ------------------------------------------------------------------------------------------------------ */

static void print_items(Print *p, const Query *q)
{
    const Select *s = q->select;

    add(p, "SELECT ");
    if (s->distinct_on.n) {
        add(p, "DISTINCT ON (");
        print_exprs(p, &s->distinct_on, 0);
        add(p, ") ");
    } else if (s->distinct) {
        add(p, "DISTINCT ");
    }
    for (size_t i = 0; i < s->items.n; i++) {
        if (i)
            add(p, ", ");
        print_expr(p, s->items.p[i].expr);
        add(p, " AS ");
        sql_ident(&p->out, q->columns.p[i].engine);
    }
}

static void print_group_sets(Print *p, const Select *s)
{
    add(p, "GROUPING SETS (");
    for (size_t i = 0; i < s->group_sets.n; i++) {
        add(p, i ? ", (" : "(");
        print_exprs(p, &s->group_sets.p[i], 0);
        add(p, ")");
    }
    add(p, ")");
}

static void print_group(Print *p, const Select *s)
{
    if (s->grouping == GROUP_NONE && !s->group_by.n && !s->group_sets.n)
        return;
    add(p, " GROUP BY ");
    if (s->grouping == GROUP_SETS) {
        print_group_sets(p, s);
        return;
    }
    if (s->grouping == GROUP_ROLLUP)
        add(p, "ROLLUP (");
    else if (s->grouping == GROUP_CUBE)
        add(p, "CUBE (");
    print_exprs(p, &s->group_by, 0);
    if (s->grouping == GROUP_ROLLUP || s->grouping == GROUP_CUBE)
        add(p, ")");
}

static void print_clause(Print *p, const char *word, const Expr *e)
{
    if (!e)
        return;
    add(p, word);
    print_expr(p, e);
}

static void print_select(Print *p, const Query *q)
{
    const Select *s = q->select;

    print_items(p, q);
    if (s->from) {
        add(p, " FROM ");
        print_table(p, s->from);
    }
    print_clause(p, " WHERE ", s->where);
    print_group(p, s);
    print_clause(p, " HAVING ", s->having);
    print_clause(p, " QUALIFY ", s->qualify);
}

/* ---- queries ------------------------------------------------------------------------------------------------------- */

static void print_ctes(Print *p, const Query *q)
{
    int recursive = 0;

    for (size_t i = 0; i < q->ctes.n; i++)
        recursive |= q->ctes.p[i].recursive;
    for (size_t i = 0; i < q->ctes.n; i++) {
        const Cte *c = &q->ctes.p[i];
        if (c->recursive)
            vec_push(p->a, &p->ctes, ((CteName){ c->query, c->engine }));
        add(p, i ? ", " : recursive ? "WITH RECURSIVE " : "WITH ");
        sb_add(&p->out, c->engine);
        print_names(p, &c->query->columns);
        add(p, " AS (");
        print_query(p, c->query);
        add(p, ")");
        if (!c->recursive)
            vec_push(p->a, &p->ctes, ((CteName){ c->query, c->engine }));
    }
    if (q->ctes.n)
        add(p, " ");
}

static void print_setop(Print *p, const Query *q)
{
    static const char *const words[] = { "UNION", "INTERSECT", "EXCEPT" };

    add(p, "(");
    print_query(p, q->left);
    add(p, ") ");
    add(p, words[q->setop]);
    add(p, q->all ? " ALL (" : " (");
    print_query(p, q->right);
    add(p, ")");
}

static void print_body(Print *p, const Query *q)
{
    if (q->body == BODY_SELECT) {
        print_select(p, q);
    } else if (q->body == BODY_SETOP) {
        print_setop(p, q);
    } else {
        add(p, "SELECT * FROM (");
        print_values(p, q->rows.p, q->rows.n);
        add(p, ") AS firn_v");
        print_names(p, &q->columns);
    }
}

static int see_outer(void *ctx, Expr *e)
{
    *(int *)ctx |= e->kind == EX_COLUMN && e->outer > 0;
    return 1;
}

/* The engine lets a join's values filter what is below a LIMIT, so that other rows than the first ones are taken.  What is materialized is not reached.
 * A correlated query becomes a window, which is not concerned. */
static int needs_barrier(const Print *p, const Query *q)
{
    int correlated = 0;

    if (!p->nested || (!q->limit && !q->offset))
        return 0;
    (void)sql_walk_query((Query *)q, see_outer, &correlated);
    return !correlated;
}

static void print_whole(Print *p, const Query *q);

void print_query(Print *p, const Query *q)
{
    int barrier = needs_barrier(p, q);

    if (p->status != OK)
        return;
    p->nested++;
    add(p, barrier ? "WITH firn_m AS MATERIALIZED (" : "");
    print_whole(p, q);
    add(p, barrier ? ") SELECT * FROM firn_m" : "");
    p->nested--;
}

static void print_whole(Print *p, const Query *q)
{
    size_t scope = p->ctes.n;
    int wrap = q->body == BODY_SETOP && (q->order.n || q->limit || q->offset);

    if (q->loop)
        print_loop(p, q);
    else
        print_ctes(p, q);
    if (wrap)
        add(p, "SELECT * FROM (");
    print_body(p, q);
    if (wrap) {
        add(p, ") AS firn_q");
    }
    if (q->order.n) {
        add(p, " ORDER BY ");
        print_order(p, &q->order);
    }
    print_clause(p, " LIMIT ", q->limit);
    print_clause(p, " OFFSET ", q->offset);
    p->ctes.n = scope;
}

/* ---- doors ------------------------------------------------------------------------------------------------------------ */

static Status finish(Print *p, Str *ret)
{
    if (p->status == OK)
        *ret = sb_str(&p->out);
    return p->status;
}

Status sql_print_query(Arena *a, const Printer *printer, const Query *q, Str *ret, Error *err)
{
    Print p = { .a = a, .p = printer, .out = sb_new(a), .err = err };
    print_query(&p, q);
    return finish(&p, ret);
}

Status sql_print_expr(Arena *a, const Printer *printer, const Expr *e, Str *ret, Error *err)
{
    Print p = { .a = a, .p = printer, .out = sb_new(a), .err = err };
    print_expr(&p, e);
    return finish(&p, ret);
}

Status sql_print_table(Arena *a, const Printer *printer, const TableRef *t, Str *ret, Error *err)
{
    Print p = { .a = a, .p = printer, .out = sb_new(a), .err = err };
    print_table(&p, t);
    return finish(&p, ret);
}

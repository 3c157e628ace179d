/* SPDX-License-Identifier: Apache-2.0 */
/* print_in.c - IN and NOT IN of a subquery.
 *
 * The engine takes any NULL among the subquery's values for "unknown".  With one column that is right; with several, only a row that
 * agrees in all other columns is unknown: (1, 4) NOT IN (SELECT 2, NULL) is true.  Such a NOT IN is written out as the three values of
 * the comparison with every row.  IN itself stays the engine's: false and unknown drop a row alike. */
#include "sql/print_int.h"

static void add(Print *p, const char *s) { sb_addc(&p->out, s); }

static int see_aggregate(void *ctx, Expr *e)
{
    *(bool *)ctx |= e->kind == EX_FUNCTION && e->func->class == FN_AGGREGATE;
    return 1;
}

/* Aggregates cannot move into the subquery that the comparison becomes. */
static bool movable(const Expr *e)
{
    bool aggregates = false;
    for (size_t i = 0; i < e->args.n; i++)
        (void)sql_walk_expr(e->args.p[i], see_aggregate, &aggregates);
    return !aggregates;
}

static bool partly_unknown(const Expr *e)
{
    bool nullable = false;
    for (size_t i = 0; i < e->args.n; i++)
        nullable |= e->args.p[i]->nullable || e->query->columns.p[i].nullable;
    return e->negated && e->args.n > 1 && e->query->columns.n == e->args.n && nullable && movable(e);
}

static void print_three_values(Print *p, const Expr *e)
{
    add(p, "(SELECT CASE WHEN bool_or(firn_m) THEN false WHEN bool_or(firn_m IS NULL) THEN NULL ELSE true END FROM (SELECT (");
    for (size_t i = 0; i < e->args.n; i++) {
        add(p, i ? " AND " : "");
        print_expr(p, e->args.p[i]);
        sb_fmt(&p->out, " = firn_in.firn_c%zu", i);
    }
    add(p, ") AS firn_m FROM (");
    print_query(p, e->query);
    add(p, ") firn_in(");
    for (size_t i = 0; i < e->args.n; i++)
        sb_fmt(&p->out, "%sfirn_c%zu", i ? ", " : "", i);
    add(p, ")) firn_rows)");
}

void print_in_query(Print *p, const Expr *e)
{
    if (partly_unknown(e)) {
        print_three_values(p, e);
        return;
    }
    add(p, e->args.n > 1 ? "((" : "(");
    print_exprs(p, &e->args, 0);
    add(p, e->args.n > 1 ? ")" : "");
    add(p, e->negated ? " NOT IN (" : " IN (");
    print_query(p, e->query);
    add(p, "))");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* parse_select.c - one SELECT block: its list, GROUP BY in all forms, HAVING, WINDOW, QUALIFY. */
#include "sql/parse_int.h"

static void distinct(Parser *p, Select *s);
static void group_by(Parser *p, Select *s);
static void windows(Parser *p, Select *s);
static bool items_end(Parser *p);

static void hint(Parser *p)
{
    static const char *const known[] = { "aggregate input group size", "distinct on input group size", "limit input group size", "expected group size" };
    StrBuf b = sb_new(p->a);
    int at = p_pos(p);

    while (!p->status && !p_is_op(p, '=') && !p_is_op(p, ')')) {
        Str word = str_lower(p->a, p_label(p));
        sb_fmt(&b, "%s" STR_FMT, b.n ? " " : "", STR_ARG(word));
    }
    p_need_op(p, '=');
    (void)p_integer(p);
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (str_eq(sb_str(&b), str_c(known[i])))
            return;
    P_FAIL(p, E_SYNTAX, at, "unknown query hint \"" STR_FMT "\"", STR_ARG(sb_str(&b)));
}

/* OPTIONS (AGGREGATE INPUT GROUP SIZE = n, …): hints that change no result, and here nothing else. */
static void hints(Parser *p)
{
    p->at += 2;
    do
        hint(p);
    while (!p->status && p_take_op(p, ','));
    p_need_op(p, ')');
}

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
    if (p_postgres(p) && p_is_word_like(p, "options") && p_is_op_at(p, 1, '('))
        hints(p);
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

    if (p_as_of_starts(p))
        return false;
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

/* ---- GROUP BY ---------------------------------------------------------------------------------------------------
 *
 * A list of plain expressions, one ROLLUP, CUBE or GROUPING SETS, or a mixture: then the sets of all are multiplied out. */

enum { SETS_MAX = 4096, CUBE_MAX = 12 };

/* units: of ROLLUP and CUBE, each one or more expressions; sets: of GROUPING SETS; plain: one unit. */
typedef struct GroupItem { GroupKind kind; ExprRows units, sets; int position; } GroupItem;
typedef VEC(GroupItem) GroupItems;

static void group_item(Parser *p, GroupItem *ret);

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

static void append(Parser *p, ExprVec *to, const ExprVec *from)
{
    for (size_t i = 0; i < from->n; i++)
        vec_push(p->a, to, sql_copy_expr(p->a, from->p[i]));
}

static void push_set(Parser *p, ExprRows *sets, ExprVec set, int position)
{
    if (sets->n >= SETS_MAX)
        P_FAIL(p, E_LIMIT, position, "more than %d grouping sets", SETS_MAX);
    else
        vec_push(p->a, sets, set);
}

/* What an item stands for. */
static void sets_of(Parser *p, const GroupItem *g, ExprRows *ret)
{
    size_t n = g->units.n;

    if (g->kind == GROUP_SETS) {
        *ret = g->sets;
        return;
    }
    if (g->kind == GROUP_CUBE && n > CUBE_MAX) {
        P_FAIL(p, E_LIMIT, g->position, "CUBE of more than %d expressions", CUBE_MAX);
        return;
    }
    size_t count = g->kind == GROUP_CUBE ? (size_t)1 << n : g->kind == GROUP_ROLLUP ? n + 1 : 1;
    for (size_t k = 0; k < count; k++) {
        ExprVec set = {0};
        for (size_t i = 0; i < n; i++)
            if (g->kind == GROUP_PLAIN || (g->kind == GROUP_CUBE ? !(k >> i & 1) : i + k < n))
                append(p, &set, &g->units.p[i]);
        push_set(p, ret, set, g->position);
    }
}

static void multiply(Parser *p, ExprRows *sets, const ExprRows *by, int position)
{
    ExprRows out = {0};

    for (size_t i = 0; i < sets->n && !p->status; i++)
        for (size_t k = 0; k < by->n && !p->status; k++) {
            ExprVec set = {0};
            append(p, &set, &sets->p[i]);
            append(p, &set, &by->p[k]);
            push_set(p, &out, set, position);
        }
    *sets = out;
}

static void grouping_sets(Parser *p, ExprRows *ret)
{
    p_need_op(p, '(');
    if (!p_enter(p))
        return;
    do {
        GroupItem g = {0};
        ExprRows sets = {0};
        group_item(p, &g);
        sets_of(p, &g, &sets);
        for (size_t i = 0; i < sets.n; i++)
            push_set(p, ret, sets.p[i], g.position);
    } while (p_take_op(p, ','));
    p_leave(p);
    p_need_op(p, ')');
}

static void units(Parser *p, GroupItem *ret)
{
    p_need_op(p, '(');
    do {
        ExprVec unit = {0};
        grouping_set(p, &unit);
        vec_push(p->a, &ret->units, unit);
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}

/* At an item that is no plain expression. */
static bool special_here(Parser *p)
{
    return p_is2(p, K_GROUPING, K_SETS) || (p_is_op_at(p, 1, '(') && (p_is(p, K_ROLLUP) || p_is(p, K_CUBE))) || (p_is_op(p, '(') && p_is_op_at(p, 1, ')'));
}

static void group_item(Parser *p, GroupItem *ret)
{
    ExprVec unit = {0};

    *ret = (GroupItem){ .kind = GROUP_PLAIN, .position = p_pos(p) };
    if (p_take2(p, K_GROUPING, K_SETS)) {
        ret->kind = GROUP_SETS;
        grouping_sets(p, &ret->sets);
    } else if (special_here(p) && !p_is_op(p, '(')) {
        ret->kind = p_is(p, K_ROLLUP) ? GROUP_ROLLUP : GROUP_CUBE;
        p->at++;
        units(p, ret);
    } else {
        grouping_set(p, &unit);
        vec_push(p->a, &ret->units, unit);
    }
}

/* One ROLLUP or CUBE of single expressions stays what it is. */
static bool is_simple(const GroupItem *g)
{
    for (size_t i = 0; i < g->units.n; i++)
        if (g->units.p[i].n != 1)
            return false;
    return g->kind == GROUP_ROLLUP || g->kind == GROUP_CUBE;
}

static void mixture(Parser *p, Select *s, const GroupItems *items)
{
    ExprVec none = {0};
    ExprRows sets = {0};

    if (items->n == 1 && is_simple(&items->p[0])) {
        s->grouping = items->p[0].kind;
        for (size_t i = 0; i < items->p[0].units.n; i++)
            vec_push(p->a, &s->group_by, items->p[0].units.p[i].p[0]);
        return;
    }
    vec_push(p->a, &sets, none);
    for (size_t i = 0; i < items->n && !p->status; i++) {
        ExprRows one = {0};
        sets_of(p, &items->p[i], &one);
        multiply(p, &sets, &one, items->p[i].position);
    }
    s->grouping = GROUP_SETS;
    s->group_sets = sets;
}

/* Trino's GROUP BY (a, b) names two columns; elsewhere it is one row. */
static void plain_item(Parser *p, Select *s)
{
    Expr *e = p_expr(p);

    if (!p_trino(p) || e->kind != EX_STRUCT)
        vec_push(p->a, &s->group_by, e);
    for (size_t i = 0; p_trino(p) && e->kind == EX_STRUCT && i < e->args.n; i++)
        vec_push(p->a, &s->group_by, e->args.p[i]);
}

/* Spark's WITH ROLLUP, WITH CUBE, GROUPING SETS behind a plain list. */
static void behind_list(Parser *p, Select *s)
{
    if (p_take2(p, K_WITH, K_ROLLUP)) {
        s->grouping = GROUP_ROLLUP;
    } else if (p_take2(p, K_WITH, K_CUBE)) {
        s->grouping = GROUP_CUBE;
    } else if (p_take2(p, K_GROUPING, K_SETS)) {
        s->grouping = GROUP_SETS;
        grouping_sets(p, &s->group_sets);
    }
}

static void group_by(Parser *p, Select *s)
{
    GroupItems items = {0};

    if (p_is(p, K_ALL) && !p_is_op_at(p, 1, '.')) {
        p->at++;
        s->grouping = GROUP_ALL;
        return;
    }
    s->grouping = GROUP_PLAIN;
    do {
        if (!special_here(p) && !items.n) {
            plain_item(p, s);
            continue;
        }
        for (size_t i = 0; i < s->group_by.n; i++) {                  /* the plain ones before; empty afterwards */
            GroupItem g = { .kind = GROUP_PLAIN, .position = s->group_by.p[i]->position };
            ExprVec unit = {0};
            vec_push(p->a, &unit, s->group_by.p[i]);
            vec_push(p->a, &g.units, unit);
            vec_push(p->a, &items, g);
        }
        GroupItem g = {0};
        group_item(p, &g);
        vec_push(p->a, &items, g);
        s->group_by = (ExprVec){0};
    } while (p_take_op(p, ','));
    if (items.n)
        mixture(p, s, &items);
    else
        behind_list(p, s);
}

static void windows(Parser *p, Select *s)
{
    do {
        vec_push(p->a, &s->windows.names, p_ident(p));
        p_need(p, K_AS);
        vec_push(p->a, &s->windows, p_window_spec(p));
    } while (p_take_op(p, ','));
}

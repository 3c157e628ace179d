/* SPDX-License-Identifier: Apache-2.0 */
/* parse_call.c - function calls: arguments, DISTINCT, ORDER BY, IGNORE NULLS, FILTER, OVER; windows and frames.
 *
 * Some calls are nodes of their own from the start: Spark's array(…), struct(…), named_struct(…). */
#include "sql/parse_int.h"

static void arguments(Parser *p, Expr *e);
static void suffixes(Parser *p, Expr *e);
static Expr *as_node(Parser *p, Expr *e, const StrVec *aliases);

Expr *p_call(Parser *p, const StrVec *name, int position)
{
    Expr *e = e_call(p, "", position);

    e->func->name = *name;
    p_need_op(p, '(');
    arguments(p, e);
    p_need_op(p, ')');
    suffixes(p, e);
    return as_node(p, e, &e->name);
}

/* Aliases of arguments (Spark's struct(a AS x)) are kept in e->name until as_node. */
static void argument(Parser *p, Expr *e)
{
    int at = p_pos(p);
    Str alias = S("");

    if (p_is_ident(p, 0) && (p_is_op_at(p, 1, O_FAT_ARROW) || (p_is_op_at(p, 1, ':') && p_is_op_at(p, 2, '='))))
        P_FAIL(p, E_UNSUPPORTED, at, "named arguments are not supported here");
    if (p_is(p, K_VARIADIC))
        P_FAIL(p, E_UNSUPPORTED, at, "VARIADIC is not supported");
    vec_push(p->a, &e->args, p_expr(p));
    if (p_spark(p) && p_take(p, K_AS))
        alias = p_label(p);
    vec_push(p->a, &e->name, alias);
}

static void arguments(Parser *p, Expr *e)
{
    if (p_is_op(p, '*') && p_is_op_at(p, 1, ')')) {
        p->at++;
        e->func->star = 1;
        return;
    }
    if (p_take(p, K_DISTINCT))
        e->func->distinct = 1;
    else
        p_take(p, K_ALL);
    if (p_is_op(p, ')'))
        return;
    if (p_query_starts(p, 0)) {                              /* f(SELECT …): one scalar subquery */
        Expr *q = e_new(p, EX_SUBQUERY, p_pos(p));
        q->query = p_query(p);
        vec_push(p->a, &e->args, q);
        vec_push(p->a, &e->name, S(""));
        return;
    }
    do
        argument(p, e);
    while (p_take_op(p, ','));
    if (p_take2(p, K_ORDER, K_BY))
        p_order_items(p, &e->func->order);
    if (p_take2(p, K_IGNORE, K_NULLS))
        e->func->ignore_nulls = 1;
    else
        p_take2(p, K_RESPECT, K_NULLS);
}

static void suffixes(Parser *p, Expr *e)
{
    FuncCall *f = e->func;

    if (p_take2(p, K_WITHIN, K_GROUP)) {
        p_need_op(p, '(');
        p_need(p, K_ORDER);
        p_need(p, K_BY);
        p_order_items(p, &f->order);
        p_need_op(p, ')');
        f->within_group = 1;
    }
    if (p_is(p, K_FILTER) && p_is_op_at(p, 1, '(')) {
        p->at += 2;
        p_need(p, K_WHERE);
        f->filter = p_expr(p);
        p_need_op(p, ')');
    }
    if (p_take2(p, K_IGNORE, K_NULLS))
        f->ignore_nulls = 1;
    else
        p_take2(p, K_RESPECT, K_NULLS);
    if (p_take(p, K_OVER))
        f->over = p_window_spec(p);
}

/* ---- calls that are nodes ------------------------------------------------------------------------------------- */

static bool plain(const Expr *e)
{
    const FuncCall *f = e->func;
    return f->name.n == 1 && !f->distinct && !f->star && !f->filter && !f->order.n && !f->over;
}

/* struct(a, t.b, 1, x AS y): names a, b, col3, y */
static Expr *struct_node(Parser *p, Expr *e, const StrVec *aliases)
{
    Expr *x = e_new(p, EX_STRUCT, e->position);

    x->args = e->args;
    for (size_t i = 0; i < e->args.n; i++) {
        const Expr *arg = e->args.p[i];
        Str name = str_fmt(p->a, "col%zu", i + 1);
        if (aliases->p[i].n)
            name = aliases->p[i];
        else if (arg->kind == EX_COLUMN || arg->kind == EX_FIELD)
            name = vec_last(&arg->name);
        vec_push(p->a, &x->name, name);
    }
    return x;
}

/* named_struct('a', 1, 'b', 2); left as a call when the names are no literals: the binder refuses it. */
static Expr *named_struct(Parser *p, Expr *e)
{
    Expr *x = e_new(p, EX_STRUCT, e->position);

    for (size_t i = 0; i + 1 < e->args.n; i += 2) {
        const Expr *name = e->args.p[i];
        if (name->kind != EX_LITERAL || name->value.kind != DT_STRING)
            return e;
        vec_push(p->a, &x->name, name->value.string);
        vec_push(p->a, &x->args, e->args.p[i + 1]);
    }
    return e->args.n && e->args.n % 2 == 0 ? x : e;
}

static Expr *as_node(Parser *p, Expr *e, const StrVec *aliases)
{
    StrVec names = *aliases;
    Str f = e->func->name.p[0];

    e->name = (StrVec){0};
    if (!p_spark(p) && str_ieq(f, S("row")) && plain(e)) {
        e->kind = EX_STRUCT;
        for (size_t i = 0; i < e->args.n; i++)
            vec_push(p->a, &e->name, S(""));
        return e;
    }
    if (p_spark(p) && plain(e) && str_ieq(f, S("struct")))
        return struct_node(p, e, &names);
    for (size_t i = 0; i < names.n; i++)
        if (names.p[i].n)
            P_FAIL(p, E_UNSUPPORTED, e->args.p[i]->position, "an alias of an argument is allowed in struct() only");
    if (!p_spark(p) || !plain(e))
        return e;
    if (str_ieq(f, S("named_struct")))
        return named_struct(p, e);
    if (str_ieq(f, S("array")))
        e->kind = EX_ARRAY;
    return e;
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

static Str frame_bound(Parser *p, Expr **n)
{
    if (p_take2(p, K_UNBOUNDED, K_PRECEDING))
        return S("unbounded preceding");
    if (p_take2(p, K_UNBOUNDED, K_FOLLOWING))
        return S("unbounded following");
    if (p_take2(p, K_CURRENT, K_ROW))
        return S("current row");
    *n = p_expr_level(p, LV_OTHER);
    if (p_take(p, K_PRECEDING))
        return S("preceding");
    p_need(p, K_FOLLOWING);
    return S("following");
}

static Str frame_exclude(Parser *p)
{
    if (p_take2(p, K_CURRENT, K_ROW))
        return S("current row");
    if (p_take(p, K_GROUP))
        return S("group");
    if (p_take(p, K_TIES))
        return S("ties");
    p_need(p, K_NO);
    p_need(p, K_OTHERS);
    return S("no others");
}

static void frame(Parser *p, WindowFrame *f)
{
    if (p_take(p, K_ROWS))
        f->mode = S("rows");
    else if (p_take(p, K_RANGE))
        f->mode = S("range");
    else if (p_take(p, K_GROUPS))
        f->mode = S("groups");
    else
        return;
    if (p_take(p, K_BETWEEN)) {
        f->from = frame_bound(p, &f->from_n);
        p_need(p, K_AND);
        f->to = frame_bound(p, &f->to_n);
    } else {
        f->from = frame_bound(p, &f->from_n);
        f->to = S("current row");
    }
    if (p_take(p, K_EXCLUDE))
        f->exclude = frame_exclude(p);
}

/* w | ( [w] [PARTITION BY …] [ORDER BY …] [frame] ); Spark also says DISTRIBUTE BY and SORT BY. */
WindowSpec *p_window_spec(Parser *p)
{
    WindowSpec *w = arena_new(p->a, WindowSpec);

    if (!p_is_op(p, '(')) {
        w->base = p_ident(p);
        return w;
    }
    p->at++;
    if (p_is_ident(p, 0) && !p_is2(p, K_PARTITION, K_BY) && !p_is2(p, K_ORDER, K_BY) && !p_is(p, K_ROWS) && !p_is(p, K_RANGE) &&
        !p_is(p, K_GROUPS) && !p_is2(p, K_DISTRIBUTE, K_BY) && !p_is2(p, K_SORT, K_BY))
        w->base = p_ident(p);
    if (p_take2(p, K_PARTITION, K_BY) || (p_spark(p) && p_take2(p, K_DISTRIBUTE, K_BY)))
        p_expr_list(p, &w->partition);
    if (p_take2(p, K_ORDER, K_BY) || (p_spark(p) && p_take2(p, K_SORT, K_BY)))
        p_order_items(p, &w->order);
    frame(p, &w->frame);
    p_need_op(p, ')');
    return w;
}

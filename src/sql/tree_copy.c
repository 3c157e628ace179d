/* SPDX-License-Identifier: Apache-2.0 */
/* tree_copy.c - deep copies of trees that are not yet bound.
 *
 * A bound query inside a copied expression is shared: bound trees are never changed. */
#include "sql/sql.h"

static Select *copy_select(Arena *a, const Select *s);
static TableRef *copy_table(Arena *a, const TableRef *t);

static ExprVec copy_list(Arena *a, const ExprVec *v)
{
    ExprVec ret = {0};
    for (size_t i = 0; i < v->n; i++)
        vec_push(a, &ret, sql_copy_expr(a, v->p[i]));
    return ret;
}

static StrVec copy_names(Arena *a, const StrVec *v)
{
    StrVec ret = {0};
    for (size_t i = 0; i < v->n; i++)
        vec_push(a, &ret, v->p[i]);
    return ret;
}

static OrderVec copy_order(Arena *a, const OrderVec *v)
{
    OrderVec ret = {0};
    for (size_t i = 0; i < v->n; i++) {
        OrderItem o = v->p[i];
        o.expr = sql_copy_expr(a, o.expr);
        vec_push(a, &ret, o);
    }
    return ret;
}

static WindowSpec *copy_window(Arena *a, const WindowSpec *w)
{
    WindowSpec *ret = arena_new(a, WindowSpec);

    *ret = *w;
    ret->partition = copy_list(a, &w->partition);
    ret->order = copy_order(a, &w->order);
    ret->frame.from_n = sql_copy_expr(a, w->frame.from_n);
    ret->frame.to_n = sql_copy_expr(a, w->frame.to_n);
    return ret;
}

static FuncCall *copy_func(Arena *a, const FuncCall *f)
{
    FuncCall *ret = arena_new(a, FuncCall);

    *ret = *f;
    ret->name = copy_names(a, &f->name);
    ret->filter = sql_copy_expr(a, f->filter);
    ret->order = copy_order(a, &f->order);
    ret->over = f->over ? copy_window(a, f->over) : NULL;
    return ret;
}

Expr *sql_copy_expr(Arena *a, const Expr *e)
{
    if (!e)
        return NULL;
    Expr *ret = arena_new(a, Expr);
    *ret = *e;
    if (e->value.type == &e->type)
        ret->value.type = &ret->type;
    ret->name = copy_names(a, &e->name);
    ret->args = copy_list(a, &e->args);
    ret->else_ = sql_copy_expr(a, e->else_);
    ret->except = copy_names(a, &e->except);
    ret->func = e->func ? copy_func(a, e->func) : NULL;
    if (e->query && !e->query->columns.n)
        ret->query = sql_copy_query(a, e->query);
    return ret;
}

static ExprRows copy_rows(Arena *a, const ExprRows *v)
{
    ExprRows ret = {0};
    for (size_t i = 0; i < v->n; i++)
        vec_push(a, &ret, copy_list(a, &v->p[i]));
    return ret;
}

static TableRef *copy_table(Arena *a, const TableRef *t)
{
    if (!t)
        return NULL;
    TableRef *ret = arena_new(a, TableRef);
    *ret = *t;
    ret->name = copy_names(a, &t->name);
    ret->column_aliases = copy_names(a, &t->column_aliases);
    ret->as_of.version = sql_copy_expr(a, t->as_of.version);
    ret->as_of.timestamp = sql_copy_expr(a, t->as_of.timestamp);
    ret->query = t->query ? sql_copy_query(a, t->query) : NULL;
    ret->args = copy_list(a, &t->args);
    ret->rows = copy_rows(a, &t->rows);
    ret->left = copy_table(a, t->left);
    ret->right = copy_table(a, t->right);
    ret->using_ = copy_names(a, &t->using_);
    ret->on = sql_copy_expr(a, t->on);
    return ret;
}

static Select *copy_select(Arena *a, const Select *s)
{
    Select *ret = arena_new(a, Select);

    *ret = *s;
    ret->distinct_on = copy_list(a, &s->distinct_on);
    ret->items = (SelectItems){0};
    for (size_t i = 0; i < s->items.n; i++) {
        SelectItem item = { sql_copy_expr(a, s->items.p[i].expr), s->items.p[i].alias };
        vec_push(a, &ret->items, item);
    }
    ret->from = copy_table(a, s->from);
    ret->where = sql_copy_expr(a, s->where);
    ret->group_by = copy_list(a, &s->group_by);
    ret->group_sets = copy_rows(a, &s->group_sets);
    ret->having = sql_copy_expr(a, s->having);
    ret->qualify = sql_copy_expr(a, s->qualify);
    ret->windows.p = arena_array(a, WindowSpec *, s->windows.n);
    ret->windows.cap = s->windows.n;
    for (size_t i = 0; i < s->windows.n; i++)
        ret->windows.p[i] = copy_window(a, s->windows.p[i]);
    ret->windows.names = copy_names(a, &s->windows.names);
    return ret;
}

Query *sql_copy_query(Arena *a, const Query *q)
{
    if (!q)
        return NULL;
    Query *ret = arena_new(a, Query);
    *ret = *q;
    ret->ctes.p = arena_array(a, Cte, q->ctes.n);
    ret->ctes.cap = q->ctes.n;
    for (size_t i = 0; i < q->ctes.n; i++) {
        ret->ctes.p[i] = q->ctes.p[i];
        ret->ctes.p[i].columns = copy_names(a, &q->ctes.p[i].columns);
        ret->ctes.p[i].query = sql_copy_query(a, q->ctes.p[i].query);
    }
    ret->select = q->select ? copy_select(a, q->select) : NULL;
    ret->left = sql_copy_query(a, q->left);
    ret->right = sql_copy_query(a, q->right);
    ret->rows = copy_rows(a, &q->rows);
    ret->order = copy_order(a, &q->order);
    ret->limit = sql_copy_expr(a, q->limit);
    ret->offset = sql_copy_expr(a, q->offset);
    return ret;
}

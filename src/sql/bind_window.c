/* SPDX-License-Identifier: Apache-2.0 */
/* bind_window.c - OVER: partitions, order and frame of a window, written in place or named in the WINDOW clause. */
#include "sql/bind_int.h"

static Status bind_frame_bound(Bind *b, Level *l, Expr **e, Str mode)
{
    if (!*e)
        return OK;
    TRY(bind_expr(b, l, e));
    if (!str_eq(mode, S("range")))
        return bind_coerce(b, e, ty(DT_INT64), "window frame bound");
    return OK;
}

static Status bind_spec(Bind *b, Level *l, WindowSpec *w)
{
    Clause clause = l->clause;

    for (size_t i = 0; i < w->partition.n; i++)
        TRY(bind_expr(b, l, &w->partition.p[i]));
    for (size_t i = 0; i < w->order.n; i++)
        TRY(bind_expr(b, l, &w->order.p[i].expr));
    bind_order_nulls(b, &w->order);
    TRY(bind_frame_bound(b, l, &w->frame.from_n, w->frame.mode));
    TRY(bind_frame_bound(b, l, &w->frame.to_n, w->frame.mode));
    l->clause = clause;
    return OK;
}

/* A named window is bound at its first use; each use shares it, or adds its ORDER BY and frame. */
static Status named_window(Bind *b, Level *l, Expr *e, WindowSpec *w, WindowSpec **ret)
{
    size_t i = 0;

    while (l->select && i < l->select->windows.n && !bind_name_eq(b, l->select->windows.names.p[i], w->base))
        i++;
    if (!l->select || i == l->select->windows.n)
        return BIND_FAIL(b, e->position, b->spark ? "42P20" : "42704", b->spark
                         ? "[MISSING_WINDOW_SPECIFICATION] Window specification is not defined in the WINDOW clause for `" STR_FMT "`."
                         : "window \"" STR_FMT "\" does not exist", STR_ARG(w->base));
    WindowSpec *named = l->select->windows.p[i];
    if (!strvec_has(&l->windows_bound, w->base)) {
        TRY(bind_spec(b, l, named));
        vec_push(b->a, &l->windows_bound, w->base);
    }
    if (!w->order.n && !w->frame.mode.n && !w->partition.n) {
        *ret = named;
        return OK;
    }
    TRY(bind_spec(b, l, w));
    WindowSpec *joined = arena_new(b->a, WindowSpec);
    *joined = *w;
    joined->base = S("");
    joined->partition = named->partition;
    if (!w->order.n)
        joined->order = named->order;
    *ret = joined;
    return OK;
}

Status bind_over(Bind *b, Level *l, Expr *e)
{
    WindowSpec *w = e->func->over;

    l->windows++;
    if (!w->base.n)
        return bind_spec(b, l, w);
    return named_window(b, l, e, w, &e->func->over);
}

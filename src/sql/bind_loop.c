/* SPDX-License-Identifier: Apache-2.0 */
/* bind_loop.c - WITH MUTUALLY RECURSIVE: every CTE's columns are declared, so that all are in sight while each is bound. */
#include "sql/bind_int.h"

static Status declare(Bind *b, Cte *c, const DataTypes *types)
{
    CteScope *scope = arena_new(b->a, CteScope);

    *scope = (CteScope){ .outer = b->ctes, .cte = c, .query = c->query, .columns = arena_new(b->a, BoundColumns) };
    c->engine = str_fmt(b->a, "c%d", ++b->next_cte);
    for (size_t i = 0; i < c->columns.n; i++) {
        for (size_t k = 0; k < i; k++)
            if (bind_name_eq(b, c->columns.p[i], c->columns.p[k]))
                return BIND_FAIL(b, c->position, "42701", "column \"" STR_FMT "\" specified more than once", STR_ARG(c->columns.p[i]));
        TRY(sql_resolve_type(b->a, b->b, &types->p[i], b->err));
        vec_push(b->a, scope->columns, ((BoundColumn){ .name = c->columns.p[i], .type = types->p[i], .nullable = 1 }));
    }
    bind_engine_names(b, scope->columns);
    b->ctes = scope;
    return OK;
}

static const BoundColumns *declared(Bind *b, const Cte *c)
{
    for (CteScope *s = b->ctes; s; s = s->outer)
        if (s->cte == c)
            return s->columns;
    return NULL;
}

/* The query gets the declared types; its node stays the same, as references point to it. */
static Status fit(Bind *b, Cte *c)
{
    const BoundColumns *want = declared(b, c);
    Query *q = c->query, *inner = arena_new(b->a, Query);
    DataType t;

    if (q->columns.n != want->n)
        return BIND_FAIL(b, c->position, "42P10", "WITH MUTUALLY RECURSIVE query \"" STR_FMT "\" declared types (%zu columns), but its query returns %zu columns",
                         STR_ARG(c->name), want->n, q->columns.n);
    for (size_t i = 0; i < want->n; i++)
        if (!ty_common(b, &q->columns.p[i].type, &want->p[i].type, &t))
            return BIND_FAIL(b, c->position, "42804", "WITH MUTUALLY RECURSIVE query \"" STR_FMT "\" declared column \"" STR_FMT "\" as " STR_FMT ", but its query returns " STR_FMT,
                             STR_ARG(c->name), STR_ARG(want->p[i].name), STR_ARG(bind_type_name(b, &want->p[i].type)), STR_ARG(bind_type_name(b, &q->columns.p[i].type)));
    *inner = *q;
    *q = (Query){ .body = BODY_SELECT, .position = inner->position, .end = inner->end, .select = arena_new(b->a, Select) };
    TableRef *from = arena_new(b->a, TableRef);
    from->kind = TR_QUERY;
    from->query = inner;
    from->engine = bind_new_alias(b);
    q->select->from = from;
    for (size_t i = 0; i < want->n; i++) {
        vec_push(b->a, &from->columns, inner->columns.p[i]);
        vec_push(b->a, &q->columns, want->p[i]);
    }
    for (size_t i = 0; i < want->n; i++) {
        Expr *e = bx_column(b->a, from, (int)i);
        bind_to(b, &e, want->p[i].type);
        vec_push(b->a, &q->select->items, ((SelectItem){ e, want->p[i].name }));
    }
    return OK;
}

Status bind_loop(Bind *b, Level *outer, Query *q)
{
    for (size_t i = 0; i < q->ctes.n; i++)
        TRY(declare(b, &q->ctes.p[i], &q->loop->types.p[i]));
    for (size_t i = 0; i < q->ctes.n; i++) {
        TRY(bind_query(b, outer, q->ctes.p[i].query));
        TRY(fit(b, &q->ctes.p[i]));
    }
    return OK;
}

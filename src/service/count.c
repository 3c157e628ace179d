/* SPDX-License-Identifier: Apache-2.0 */
/* count.c - SELECT count(*) FROM a table of the lake: answered by metadata where that tells it.
 *
 * Invariant: the query is bound as any other, so names, rights and types have been seen to; only what the engine is asked is another query. */
#include "service/prune.h"

#include "service/live_sql.h"

static bool counts_all(const Expr *e)
{
    const FuncCall *f = e->func;
    return e->kind == EX_FUNCTION && str_eq(f->canonical, S("count")) && f->star && !e->args.n && !f->distinct && !f->filter && !f->over && e->type.kind == DT_INT64;
}

static const LakeSource *whole_table(const TableRef *t)
{
    int64_t live;

    if (!t || t->kind != TR_TABLE || !t->table || t->table->view || !t->table->user || live_is_table(t->table, &live))
        return NULL;
    const LakeSource *s = t->table->user;
    return s->metadata_table.n ? NULL : s;
}

static bool nothing_else(const Query *q)
{
    const Select *s = q->select;
    return !q->ctes.n && !q->order.n && !q->limit && !q->offset && s->items.n == 1 && !s->distinct && !s->distinct_on.n && !s->where && s->grouping == GROUP_NONE &&
           !s->group_by.n && !s->group_sets.n && !s->having && !s->qualify;
}

static Query *constant(Arena *a, const Query *q, int64_t n)
{
    Query *copy = arena_new(a, Query);
    Select *s = arena_new(a, Select);
    Expr *e = arena_new(a, Expr);

    *e = (Expr){ .kind = EX_LITERAL, .type = q->select->items.p[0].expr->type };
    e->value = (Value){ .kind = DT_INT64, .type = &e->type, .integer = n };
    *s = (Select){0};
    vec_push(a, &s->items, ((SelectItem){ e, q->select->items.p[0].alias }));
    *copy = *q;
    copy->select = s;
    return copy;
}

Status count_query(Run *r, const Query *q, const Query **ret, Error *err)
{
    OptI64 n;

    *ret = q;
    if (q->body != BODY_SELECT || !nothing_else(q) || !counts_all(q->select->items.p[0].expr))
        return OK;
    const LakeSource *s = whole_table(q->select->from);
    if (!s)
        return OK;
    TRY(lake_count(r->svc->lake, r->a, r->c, &s->table, s->snapshot, &n, err));
    if (n.has)
        *ret = constant(r->a, q, n.v);
    return OK;
}

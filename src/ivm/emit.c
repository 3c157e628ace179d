/* SPDX-License-Identifier: Apache-2.0 */
/* emit.c - what all writers of SQL share: steps, column lists, conditions, NULL-safe equality. */
#include "ivm/ivm_int.h"

Emit emit_new(Arena *a, const IvmView *v, const IvmChange *changes, IvmPlan *plan)
{
    Emit e = { .a = a, .v = v, .changes = changes, .plan = plan };
    e.tables = arena_array(a, Str, v->nodes.n + 1);
    return e;
}

int emit_time_moved(const Emit *e) { return e->v->uses_now && (!e->changes || e->changes[e->v->tables.n].changed); }

int emit_changed(const Emit *e, const Node *n)
{
    if ((n->sources >> IVM_TIME & 1) && emit_time_moved(e))
        return 1;
    for (size_t i = 0; i < e->v->tables.n; i++)
        if ((n->sources >> i & 1) && (!e->changes || e->changes[i].changed))
            return 1;
    return 0;
}

int emit_deletes(const Emit *e, const Node *n)
{
    if (!emit_changed(e, n))
        return 0;
    if (!n->monotone || !e->changes)
        return 1;
    for (size_t i = 0; i < e->v->tables.n; i++)
        if ((n->sources >> i & 1) && e->changes[i].changed && e->changes[i].has_deletes)
            return 1;
    return 0;
}

int is_pass(const Node *n)
{
    while (n->kind == NODE_FILTER || n->kind == NODE_PROJECT)
        n = n->in.p[0];
    return n->kind == NODE_SCAN;
}

static int inputs_unit(const Emit *e, const Node *n)
{
    for vec_each(Node *, in, &n->in)
        if (emit_changed(e, *in) && !emit_unit(e, *in))
            return 0;
    return 1;
}

int emit_unit(const Emit *e, const Node *n)
{
    if (!e->changes)
        return 0;
    switch (n->kind) {
    case NODE_SCAN:
        return e->changes[n->source].unit;
    case NODE_FILTER:
    case NODE_PROJECT:
    case NODE_UNION:
    case NODE_JOIN:
    case NODE_FLAT:
        return inputs_unit(e, n);
    default:
        return 0;
    }
}

enum { SMALL_ROWS = 20000 };

int emit_small(const Emit *e, const Node *n)
{
    int64_t rows = 0;
    if (!e->changes || n->sources >> IVM_TIME & 1)
        return 0;
    for (size_t i = 0; i < e->v->tables.n; i++) {
        if (!(n->sources >> i & 1))
            continue;
        if (e->changes[i].rows <= 0)
            return 0;
        rows += e->changes[i].rows;
    }
    return rows <= SMALL_ROWS;
}

Status emit_step(Emit *e, Str name, Str sql, Error *err)
{
    IvmStep step = { .name = name, .sql = sql };
    for vec_each(const IvmStep, s, &e->plan->steps)
        if (str_eq(s->name, name) && str_eq(s->sql, sql))
            return OK;                                  /* asked for twice */
    if (sql.n > IVM_MAX_TEXT)
        return FAIL(err, E_LIMIT, "a statement of the plan is %zu bytes, limit is %d", sql.n, IVM_MAX_TEXT);
    vec_push(e->a, &e->plan->steps, step);
    return OK;
}

void put_columns(StrBuf *b, const Node *n, const char *alias)
{
    int any = 0;
    for (size_t i = 0; i < node_ncols(n); i++) {
        if (!n->used[i])
            continue;
        sb_addc(b, any++ ? ", " : "");
        sb_fmt(b, "%s.c%zu", alias, i + 1);
    }
    if (!any)
        sb_addc(b, "1 AS c0");
}

void put_names(StrBuf *b, const Node *n)
{
    int any = 0;
    for (size_t i = 0; i < node_ncols(n); i++) {
        if (!n->used[i])
            continue;
        sb_addc(b, any++ ? ", " : "");
        sb_fmt(b, "c%zu", i + 1);
    }
    if (!any)
        sb_addc(b, "c0");
}

Status put_expr(StrBuf *b, const Expr *x, Error *err)
{
    Str text = {0};
    TRY(expr_text(b->a, x, &text, err));
    sb_add(b, text);
    return OK;
}

Status put_conjuncts(StrBuf *b, const ExprVec *preds, Error *err)
{
    if (!preds->n)
        sb_addc(b, "TRUE");
    for (size_t i = 0; i < preds->n; i++) {
        sb_addc(b, i ? " AND (" : "(");
        TRY(put_expr(b, preds->p[i], err));
        sb_addc(b, ")");
    }
    return OK;
}

void put_same(StrBuf *b, Str l, Str r, const DataType *t, int nullable)
{
    sb_add(b, l);
    sb_addc(b, nullable || t->nchildren ? " IS NOT DISTINCT FROM " : " = ");
    sb_add(b, r);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* prune.c - conjuncts of WHERE that say which files a scan may skip.
 *
 * Only comparisons of a table's own column with a constant, IN lists and IS NOT NULL: all of them reject null, so a file without a fitting
 * row may be left out of any side of any join (a row padded with nulls would be rejected by the same conjunct).
 *
 * Invariant: a predicate here only skips files; the engine still evaluates the whole WHERE. */
#include "service/prune.h"

static const struct { Op op, turned; IcePredOp pred; } comparisons[] = {
    { OP_EQ, OP_EQ, PRED_EQ }, { OP_LT, OP_GT, PRED_LT }, { OP_LE, OP_GE, PRED_LE }, { OP_GT, OP_LT, PRED_GT }, { OP_GE, OP_LE, PRED_GE },
};

static IcePredicates *of_table(Run *r, const TableRef *t)
{
    for (size_t i = 0; i < r->prunes.n; i++)
        if (r->prunes.p[i].table == t)
            return &r->prunes.p[i].where;
    vec_push(r->a, &r->prunes, ((Prune){ .table = t }));
    return &vec_last(&r->prunes).where;
}

static const IceField *column_field(const Expr *e)
{
    if (e->kind != EX_COLUMN || e->outer || !e->rel || e->rel->kind != TR_TABLE || !e->rel->table || !e->rel->table->user)
        return NULL;
    const LakeSource *s = e->rel->table->user;
    const BoundColumn *c = &e->rel->columns.p[e->col];
    return s->metadata_table.n || c->field_id <= 0 ? NULL : ice_field_by_id(s->schema, c->field_id);
}

/* The constant as a value of the column's own type; false: it cannot be compared as it stands. */
static bool constant(const Expr *e, const IceType *t, IceValue *ret)
{
    const Value *v = &e->value;

    if (e->kind != EX_LITERAL || v->kind == DT_NULL)
        return false;
    *ret = (IceValue){ .kind = t->kind, .scale = t->scale };
    switch (t->kind) {
    case ICE_INT: case ICE_LONG:
        ret->integer = v->integer;
        return v->kind == DT_INT8 || v->kind == DT_INT16 || v->kind == DT_INT32 || v->kind == DT_INT64;
    case ICE_DATE: ret->integer = v->integer; return v->kind == DT_DATE;
    case ICE_TIMESTAMP: ret->integer = v->integer; return v->kind == DT_TIMESTAMP;
    case ICE_TIMESTAMPTZ: ret->integer = v->integer; return v->kind == DT_TIMESTAMPTZ;
    case ICE_STRING: ret->bytes = v->string; return v->kind == DT_STRING;
    case ICE_DECIMAL: ret->decimal = v->wide; return v->kind == DT_DECIMAL && e->type.scale == t->scale;
    case ICE_DOUBLE: ret->real = v->real; return v->kind == DT_DOUBLE && v->real == v->real;
    default: return false;
    }
}

static void add(Run *r, const Expr *column, IcePredOp op, const IceValue *values, size_t n)
{
    IceValue *copy = arena_array(r->a, IceValue, n + 1);
    if (n)
        memcpy(copy, values, n * sizeof *copy);
    IcePredicate p = { .field_id = column->rel->columns.p[column->col].field_id, .op = op, .values = copy, .n = n };
    vec_push(r->a, of_table(r, column->rel), p);
}

static void comparison(Run *r, const Expr *e)
{
    for (size_t i = 0; i < COUNT_OF(comparisons); i++)
        for (int side = 0; side < 2; side++) {
            if (e->op != (side ? comparisons[i].turned : comparisons[i].op))
                continue;
            const Expr *col = e->args.p[side], *lit = e->args.p[1 - side];
            const IceField *f = column_field(col);
            IceValue v;
            if (f && constant(lit, f->type, &v)) {
                add(r, col, comparisons[i].pred, &v, 1);
                return;
            }
        }
}

static void in_list(Run *r, const Expr *e)
{
    const IceField *f = column_field(e->args.p[0]);
    IceValue *values = arena_array(r->a, IceValue, e->args.n);

    if (!f || e->negated)
        return;
    for (size_t i = 1; i < e->args.n; i++)
        if (!constant(e->args.p[i], f->type, &values[i - 1]))
            return;
    add(r, e->args.p[0], PRED_IN, values, e->args.n - 1);
}

static void conjunct(Run *r, const Expr *e)
{
    if (e->kind == EX_BINARY && e->op == OP_AND) {
        conjunct(r, e->args.p[0]);
        conjunct(r, e->args.p[1]);
    } else if (e->kind == EX_BINARY) {
        comparison(r, e);
    } else if (e->kind == EX_IN_LIST) {
        in_list(r, e);
    } else if (e->kind == EX_BETWEEN && !e->negated) {
        const IceField *f = column_field(e->args.p[0]);
        IceValue lo, hi;
        if (f && constant(e->args.p[1], f->type, &lo) && constant(e->args.p[2], f->type, &hi)) {
            add(r, e->args.p[0], PRED_GE, &lo, 1);
            add(r, e->args.p[0], PRED_LE, &hi, 1);
        }
    } else if (e->kind == EX_IS && e->op == OP_IS_NULL && e->negated && column_field(e->args.p[0])) {
        add(r, e->args.p[0], PRED_NOT_NULL, NULL, 0);
    }
}

static void from_item(Run *r, const TableRef *t);

void prune_query(Run *r, const Query *q)
{
    for (size_t i = 0; i < q->ctes.n; i++)
        prune_query(r, q->ctes.p[i].query);
    if (q->body == BODY_SETOP) {
        prune_query(r, q->left);
        prune_query(r, q->right);
    }
    if (q->body != BODY_SELECT)
        return;
    if (q->select->where)
        conjunct(r, q->select->where);
    if (q->select->from)
        from_item(r, q->select->from);
}

static void from_item(Run *r, const TableRef *t)
{
    if (t->kind == TR_JOIN) {
        from_item(r, t->left);
        from_item(r, t->right);
    } else if (t->kind == TR_QUERY) {
        prune_query(r, t->query);
    }
}

const IcePredicates *prune_of(const Run *r, const TableRef *t)
{
    for (size_t i = 0; i < r->prunes.n; i++)
        if (r->prunes.p[i].table == t)
            return &r->prunes.p[i].where;
    return NULL;
}

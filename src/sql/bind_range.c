/* SPDX-License-Identifier: Apache-2.0 */
/* bind_range.c - operators on ranges; comparisons are those of structs (duck/duck.h). */
#include "sql/bind_int.h"

bool ty_is_range(const DataType *t) { return data_type_range(t) != RANGE_NONE; }
bool ty_range_clash(const DataType *x, const DataType *y) { return data_type_range(x) != data_type_range(y); }

/* The function of an operator, $1 and $2 swapped for those that are the other way round; `ranges`: its result is a range. */
typedef struct RangeOp { Op op; const char *text, *function; bool swapped, ranges; } RangeOp;

static const RangeOp OPS[] = {
    { OP_CONTAINS, "@>", "contains", false, false }, { OP_CONTAINED, "<@", "contains", true, false }, { OP_OVERLAP, "&&", "overlaps", false, false },
    { OP_SHL, "<<", "before", false, false },        { OP_SHR, ">>", "before", true, false },         { OP_OTHER, "&<", "no_right", false, false },
    { OP_OTHER, "&>", "no_left", false, false },     { OP_OTHER, "-|-", "adjacent", false, false },   { OP_ADD, "+", "union", false, true },
    { OP_SUB, "-", "minus", false, true },           { OP_MUL, "*", "intersect", false, true },
};

static const RangeOp *find(const Expr *e)
{
    for (size_t i = 0; i < COUNT_OF(OPS); i++)
        if (OPS[i].op == e->op && (e->op != OP_OTHER || (e->name.n && str_eq(e->name.p[0], str_c(OPS[i].text)))))
            return &OPS[i];
    return NULL;
}

static bool is_open(const Expr *e) { return ty_unknown(&e->type) || (e->kind == EX_LITERAL && ty_is_text(&e->type)); }

bool bind_is_range_op(const Expr *e)
{
    return find(e) && (ty_is_range(&e->args.p[0]->type) || ty_is_range(&e->args.p[1]->type));
}

static Status no_operator(Bind *b, const Expr *e, const RangeOp *o)
{
    return BIND_FAIL(b, e->position, "42883", "operator does not exist: " STR_FMT " %s " STR_FMT, STR_ARG(bind_type_name(b, &e->args.p[0]->type)), o->text,
                     STR_ARG(bind_type_name(b, &e->args.p[1]->type)));
}

/* r @> value */
static Status has(Bind *b, Expr **pe, Expr *r, Expr *x, const RangeOp *o)
{
    DataType bound = r->type.children[RANGE_LO];
    bool fits = x->type.kind == bound.kind || (ty_is_integer(&x->type) && ty_is_numeric(&bound)) || (x->type.kind == DT_DECIMAL && bound.kind == DT_DECIMAL);

    if (!fits)
        return no_operator(b, *pe, o);
    bind_to(b, &x, bound);
    int position = (*pe)->position;
    *pe = bx_call(b->a, "range_has", str_fmt(b->a, "firn_%s_has($1, $2)", range_name(data_type_range(&r->type))).p, ty(DT_BOOL), r, x);
    (*pe)->position = position;
    return OK;
}

Status bind_range_op(Bind *b, Expr **pe)
{
    Expr *e = *pe, *l = e->args.p[0], *r = e->args.p[1];
    const RangeOp *o = find(e);

    if (is_open(l))
        bind_to(b, &l, r->type);
    if (is_open(r))
        bind_to(b, &r, l->type);
    if (o->op == OP_CONTAINS && ty_is_range(&l->type) && !ty_is_range(&r->type))
        return has(b, pe, l, r, o);
    if (o->op == OP_CONTAINED && ty_is_range(&r->type) && !ty_is_range(&l->type))
        return has(b, pe, r, l, o);
    if (ty_range_clash(&l->type, &r->type))
        return no_operator(b, e, o);
    Str engine = str_fmt(b->a, "firn_%s_%s(%s)", range_name(data_type_range(&l->type)), o->function, o->swapped ? "$2, $1" : "$1, $2");
    *pe = bx_call(b->a, "range", engine.p, o->ranges ? l->type : ty(DT_BOOL), l, r);
    (*pe)->position = e->position;
    return OK;
}

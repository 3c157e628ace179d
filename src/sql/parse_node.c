/* SPDX-License-Identifier: Apache-2.0 */
/* parse_node.c - makers of expression nodes. */
#include "sql/parse_int.h"

Expr *e_new(Parser *p, ExprKind kind, int position)
{
    Expr *e = arena_new(p->a, Expr);
    e->kind = kind;
    e->position = position;
    return e;
}

Expr *e_binary(Parser *p, Op op, Expr *l, Expr *r, int position)
{
    Expr *e = e_new(p, EX_BINARY, position);
    e->op = op;
    vec_push(p->a, &e->args, l);
    vec_push(p->a, &e->args, r);
    return e;
}

Expr *e_unary(Parser *p, Op op, Expr *x, int position)
{
    Expr *e = e_new(p, EX_UNARY, position);
    e->op = op;
    vec_push(p->a, &e->args, x);
    return e;
}

Expr *e_call(Parser *p, const char *name, int position)
{
    Expr *e = e_new(p, EX_FUNCTION, position);
    e->func = arena_new(p->a, FuncCall);
    vec_push(p->a, &e->func->name, str_c(name));
    return e;
}

/* A literal: the value's type is the node's own. */
static Expr *literal(Parser *p, DataTypeKind kind, int position)
{
    Expr *e = e_new(p, EX_LITERAL, position);
    e->type.kind = kind;
    e->value.kind = kind;
    e->value.type = &e->type;
    return e;
}

Expr *e_string(Parser *p, Str s, int position)
{
    Expr *e = literal(p, DT_STRING, position);
    e->value.string = s;
    return e;
}

Expr *e_int(Parser *p, int64_t v, int position)
{
    Expr *e = literal(p, v >= INT32_MIN && v <= INT32_MAX ? DT_INT32 : DT_INT64, position);
    e->value.integer = v;
    return e;
}

Expr *e_bool(Parser *p, int v, int position)
{
    Expr *e = literal(p, DT_BOOL, position);
    e->value.boolean = v;
    return e;
}

Expr *e_null(Parser *p, int position) { return literal(p, DT_NULL, position); }

Expr *e_cast(Parser *p, Expr *x, DataType t, int position)
{
    Expr *e = e_new(p, EX_CAST, position);
    e->type = t;
    vec_push(p->a, &e->args, x);
    return e;
}

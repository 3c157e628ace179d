/* SPDX-License-Identifier: Apache-2.0 */
/* bind_expr.c - expressions: children first, then a type for the node itself. */
#include "sql/bind_int.h"

static Status bind_args(Bind *b, Level *l, Expr *e)
{
    for (size_t i = 0; i < e->args.n; i++)
        TRY(bind_expr(b, l, &e->args.p[i]));
    if (e->else_)
        TRY(bind_expr(b, l, &e->else_));
    return OK;
}

static int any_nullable(const Expr *e)
{
    int n = e->else_ ? e->else_->nullable : 0;
    for (size_t i = 0; i < e->args.n; i++)
        n |= e->args.p[i]->nullable;
    return n;
}

static Status unify_args(Bind *b, Expr *e, size_t from, size_t step, Expr **extra, DataType *ret)
{
    Expr ***es = arena_array(b->a, Expr **, e->args.n + 2);
    size_t n = 0;

    for (size_t i = from; i < e->args.n; i += step)
        es[n++] = &e->args.p[i];
    if (extra && *extra)
        es[n++] = extra;
    return bind_unify(b, es, n, e->position, ret);
}

/* ---- leaves -------------------------------------------------------------------------------------------------------- */

static Status bind_literal(Expr *e)
{
    e->nullable = e->value.kind == DT_NULL;
    if (ty_unknown(&e->type) && e->value.kind != DT_NULL)
        e->type.kind = e->value.kind;
    return OK;
}

static Status bind_param(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    Binder *o = b->b;

    if (e->param < 1 || (size_t)e->param > o->nparams)
        return BIND_FAIL(b, e->position, "42P02", "there is no parameter $%d", e->param);
    e->nullable = 1;
    if (!o->params) {
        e->type = o->param_types ? o->param_types[e->param - 1] : ty(DT_NULL);
        return OK;
    }
    Expr *lit = bx_new(b->a, EX_LITERAL, e->position);
    lit->value = o->params[e->param - 1];
    lit->type = lit->value.type ? *lit->value.type : ty(lit->value.kind);
    lit->nullable = lit->value.kind == DT_NULL;
    if (lit->nullable && o->param_types && !lit->value.type)
        lit->type = o->param_types[e->param - 1];
    if (!b->spark && !b->trino && lit->value.kind == DT_JSON)
        TRY(bind_jsonb_value(b, lit));
    *pe = lit;
    return OK;
}

/* ---- conditions ------------------------------------------------------------------------------------------------------ */

static Status bind_case(Bind *b, Expr *e)
{
    size_t first = e->has_operand ? 1 : 0;
    DataType t;

    if (e->has_operand) {
        Expr ***es = arena_array(b->a, Expr **, e->args.n);
        size_t n = 0;
        es[n++] = &e->args.p[0];
        for (size_t i = first; i < e->args.n; i += 2)
            es[n++] = &e->args.p[i];
        TRY(bind_unify(b, es, n, e->position, &t));
    }
    for (size_t i = first; i < e->args.n && !e->has_operand; i += 2)
        TRY(bind_coerce(b, &e->args.p[i], ty(DT_BOOL), "CASE WHEN"));
    TRY(unify_args(b, e, first + 1, 2, &e->else_, &e->type));
    e->nullable = !e->else_;
    for (size_t i = first + 1; i < e->args.n; i += 2)
        e->nullable |= e->args.p[i]->nullable;
    if (e->else_)
        e->nullable |= e->else_->nullable;
    return OK;
}

static Status bind_compare_all(Bind *b, Expr *e)
{
    DataType t;
    Expr ***es = arena_array(b->a, Expr **, e->args.n + 1);

    for (size_t i = 0; i < e->args.n; i++)
        es[i] = &e->args.p[i];
    bind_now_compared(b, es, e->args.n);
    TRY(bind_unify_compared(b, es, e->args.n, e->position, &t));
    e->type = ty(DT_BOOL);
    e->nullable = any_nullable(e);
    return OK;
}

static Status bind_like(Bind *b, Expr *e)
{
    e->all = b->trino && e->args.n < 3;                            /* no escape character unless one is given */
    for (size_t i = 0; i < e->args.n; i++) {
        if (b->trino && !ty_unknown(&e->args.p[i]->type) && !ty_is_text(&e->args.p[i]->type))
            return BIND_FAIL(b, e->args.p[i]->position, "42K09", "Left side of LIKE expression must evaluate to a varchar (actual: " STR_FMT ")",
                             STR_ARG(bind_type_name(b, &e->args.p[i]->type)));
        if (!b->spark && !ty_unknown(&e->args.p[i]->type) && !ty_is_text(&e->args.p[i]->type))
            return BIND_FAIL(b, e->position, "42883", "operator does not exist: " STR_FMT " ~~ text", STR_ARG(bind_type_name(b, &e->args.p[i]->type)));
        TRY(bind_coerce(b, &e->args.p[i], ty(DT_STRING), "LIKE"));
    }
    if ((e->op == OP_REGEX_MATCH || e->op == OP_REGEX_IMATCH) && !b->spark && !b->trino)
        e->args.p[1] = regex_unicode(b, e->args.p[1]);
    e->type = ty(DT_BOOL);
    e->nullable = any_nullable(e);
    return OK;
}

static Status bind_is(Bind *b, Expr *e)
{
    DataType t;

    if (e->op == OP_IS_DISTINCT)
        TRY(unify_args(b, e, 0, 1, NULL, &t));
    else if (e->op != OP_IS_NULL)
        TRY(bind_coerce(b, &e->args.p[0], ty(DT_BOOL), "IS TRUE"));
    if (ty_unknown(&e->args.p[0]->type) && e->args.p[0]->kind == EX_PARAM)
        bind_to(b, &e->args.p[0], ty(DT_STRING));
    e->type = ty(DT_BOOL);
    e->nullable = 0;
    return OK;
}

/* ---- subqueries ---------------------------------------------------------------------------------------------------------- */

static Status fail_arity(Bind *b, const Expr *e, size_t want, size_t have)
{
    if (b->spark && e->kind == EX_SUBQUERY)
        return BIND_FAIL(b, e->position, "42823", "[INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN] Invalid subquery: Scalar "
                         "subquery must return only one column, but got %zu.", have);
    if (b->spark)
        return BIND_FAIL(b, e->position, "42K09", "[DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH] The number of columns in the left hand side of an IN "
                         "subquery does not match the number of columns in the output of subquery (%zu, %zu).", want, have);
    return BIND_FAIL(b, e->position, "42601", have > want ? "subquery has too many columns" : "subquery has too few columns");
}

static Status bind_scalar_query(Bind *b, Level *l, Expr *e)
{
    TRY(bind_query(b, l, e->query));
    if (e->query->columns.n != 1)
        return fail_arity(b, e, 1, e->query->columns.n);
    e->type = e->query->columns.p[0].type;
    e->nullable = 1;
    return OK;
}

/* Both sides of IN to their common types. */
static Status bind_in_query(Bind *b, Level *l, Expr *e)
{
    BoundColumns to = { 0 };

    TRY(bind_query(b, l, e->query));
    if (e->query->columns.n != e->args.n && e->kind == EX_IN_QUERY)
        return fail_arity(b, e, e->args.n, e->query->columns.n);
    for (size_t i = 0; i < e->args.n; i++) {
        BoundColumn c = e->query->columns.p[i];
        if (!ty_common(b, &e->args.p[i]->type, &c.type, &c.type))
            return BIND_FAIL(b, e->position, b->spark ? "42K09" : "42883", b->spark
                             ? "[DATATYPE_MISMATCH.IN_SUBQUERY_DATA_TYPE_MISMATCH] \"" STR_FMT "\" and \"" STR_FMT "\" cannot be compared."
                             : "operator does not exist: " STR_FMT " = " STR_FMT, STR_ARG(bind_type_name(b, &e->args.p[i]->type)),
                             STR_ARG(bind_type_name(b, &e->query->columns.p[i].type)));
        bind_to(b, &e->args.p[i], c.type);
        vec_push(b->a, &to, c);
    }
    bind_cast_query(b, &e->query, &to);
    e->type = ty(DT_BOOL);
    e->nullable = 1;
    return OK;
}

static Status bind_quantified(Bind *b, Level *l, Expr *e)
{
    e->type = ty(DT_BOOL);
    e->nullable = 1;
    TRY(bind_expr(b, l, &e->args.p[0]));
    if (e->query) {
        TRY(bind_query(b, l, e->query));
        if (e->query->columns.n != 1)
            return fail_arity(b, e, 1, e->query->columns.n);
        BoundColumns to = { 0 };
        BoundColumn c = e->query->columns.p[0];
        if (ty_common(b, &e->args.p[0]->type, &c.type, &c.type)) {
            bind_to(b, &e->args.p[0], c.type);
            vec_push(b->a, &to, c);
            bind_cast_query(b, &e->query, &to);
        }
        return OK;
    }
    TRY(bind_expr(b, l, &e->args.p[1]));
    if (e->args.p[0]->type.kind != DT_LIST)
        bind_flatten(b, &e->args.p[1]);
    DataType list = ty_list(b->a, e->args.p[0]->type);
    if (e->args.p[1]->type.kind != DT_LIST)
        bind_to(b, &e->args.p[1], list);
    if (e->args.p[1]->type.kind == DT_LIST && ty_unknown(&e->args.p[0]->type))
        bind_to(b, &e->args.p[0], e->args.p[1]->type.children[0]);
    else if (e->args.p[1]->type.kind == DT_LIST && !data_type_equal(&e->args.p[1]->type, &list))
        bind_to(b, &e->args.p[1], list);
    return OK;
}

/* ---- nested values ----------------------------------------------------------------------------------------------------------- */

/* Rows of an array are of one length: as far as they are written out. */
static Status check_dimensions(Bind *b, const Expr *e)
{
    for (size_t i = 1; i < e->args.n; i++) {
        const Expr *x = e->args.p[0], *y = e->args.p[i];
        bool written = x->kind == EX_ARRAY && y->kind == EX_ARRAY && !x->query && !y->query;
        if (written && x->args.n != y->args.n)
            return BIND_FAIL(b, y->position, "2202E", "multidimensional arrays must have array expressions with matching dimensions");
    }
    return OK;
}

static Status bind_array(Bind *b, Expr *e)
{
    DataType t = ty(DT_NULL);

    TypeMark mark = e->type.mark;                        /* LIST[…] */

    if (!b->spark && !b->trino && mark != MARK_LIST)
        TRY(check_dimensions(b, e));
    TRY(unify_args(b, e, 0, 1, NULL, &t));
    e->type = ty_list(b->a, t);
    e->type.mark = mark;
    e->nullable = 0;
    return OK;
}

static Status bind_struct(Bind *b, Expr *e)
{
    DataType t = { .kind = DT_STRUCT, .nchildren = e->args.n };

    t.children = arena_array(b->a, DataType, e->args.n + 1);
    t.names = arena_array(b->a, Str, e->args.n + 1);
    for (size_t i = 0; i < e->args.n; i++) {
        Str name = i < e->name.n ? e->name.p[i] : S("");
        if (ty_unknown(&e->args.p[i]->type) && (!b->spark || e->args.p[i]->kind == EX_PARAM))      /* Spark: void, which fits every type */
            bind_to(b, &e->args.p[i], ty(DT_STRING));
        t.children[i] = e->args.p[i]->type;
        t.names[i] = name.n ? name : str_fmt(b->a, b->trino ? "field%zu" : b->spark ? "col%zu" : "f%zu", b->trino ? i : i + 1);
    }
    e->name = (StrVec){ 0 };
    for (size_t i = 0; i < e->args.n; i++)
        vec_push(b->a, &e->name, t.names[i]);
    e->type = t;
    e->nullable = 0;
    return OK;
}

/* Spark counts array elements from 0 and raises outside of them; PostgreSQL and the engine count from 1 and give NULL. */
static Status bind_index(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    DataType *t = &e->args.p[0]->type;

    e->nullable = 1;
    if (t->kind == DT_MAP) {
        TRY(bind_coerce(b, &e->args.p[1], t->children[0], "map key"));
        e->type = t->children[1];
        return OK;
    }
    if (!b->spark && !b->trino && t->kind == DT_JSON && e->args.n == 2) {
        e->kind = EX_BINARY;                                     /* json['key'], json[0] */
        e->op = OP_JSON_GET;
        return bind_jsonb_op(b, pe);
    }
    if (t->kind != DT_LIST)
        return BIND_FAIL(b, e->position, b->spark ? "42000" : "42804", b->spark
                         ? "[INVALID_EXTRACT_BASE_FIELD_TYPE] Can't extract a value from a value of type \"" STR_FMT "\"."
                         : "cannot subscript type " STR_FMT " because it does not support subscripting", STR_ARG(bind_type_name(b, t)));
    for (size_t i = 1; i < e->args.n; i++)
        TRY(bind_coerce(b, &e->args.p[i], ty(DT_INT64), "array index"));
    e->type = e->args.n > 2 ? *t : t->children[0];
    if (b->spark)
        *pe = bx_call(b->a, "array_index", "list_extract($1, firn_array_index($2, len($1)))", e->type, e->args.p[0], e->args.p[1]);
    else if (e->args.n == 2 && !t->length && (e->args.p[1]->kind != EX_LITERAL || e->args.p[1]->value.integer < 1))
        *pe = bx_call(b->a, "array_index", "list_extract($1, CASE WHEN $2 > 0 THEN $2 END)", e->type, e->args.p[0], e->args.p[1]);      /* the engine counts from the end below 0 */
    return OK;
}

static Status bind_nested(Bind *b, Level *l, Expr **pe)
{
    Expr *e = *pe;

    TRY(bind_args(b, l, e));
    if (e->kind == EX_FIELD)
        return bind_field(b, e->args.p[0], e->name.p[0], e->position, pe);
    if (e->kind == EX_INDEX)
        return b->trino ? trino_index(b, pe) : bind_index(b, pe);
    return e->kind == EX_ARRAY ? bind_array(b, e) : bind_struct(b, e);
}

/* ---- dispatch -------------------------------------------------------------------------------------------------------------------- */

static Status bind_plain(Bind *b, Level *l, Expr **pe)
{
    Expr *e = *pe;

    TRY(bind_args(b, l, e));
    switch (e->kind) {
    case EX_UNARY: return bind_unary(b, pe);
    case EX_BINARY: return bind_binary(b, pe);
    case EX_CAST: return bind_cast(b, pe);
    case EX_CASE: return bind_case(b, e);
    case EX_BETWEEN: case EX_IN_LIST: return bind_is_row_in(b, e) ? bind_row_in(b, pe) : bind_compare_all(b, e);
    case EX_LIKE: return bind_like(b, e);
    case EX_IS: return bind_is(b, e);
    case EX_IN_QUERY: return bind_in_query(b, l, e);
    default: return FAIL(b->err, E_INTERNAL, "unknown kind of expression");
    }
}

Status bind_expr(Bind *b, Level *l, Expr **pe)
{
    Expr *e = *pe;
    DataType list;

    switch (e->kind) {
    case EX_LITERAL: return bind_literal(e);
    case EX_COLUMN: return e->rel ? OK : bind_column(b, l, pe);
    case EX_PARAM: return bind_param(b, pe);
    case EX_STAR:
        return BIND_FAIL(b, e->position, "42601", "%s", b->spark ? "[INVALID_USAGE_OF_STAR_OR_REGEX] Invalid usage of '*' in expression." : "row expansion via \"*\" is not supported here");
    case EX_FUNCTION: return bind_function(b, l, pe);
    case EX_EXISTS:
        TRY(bind_query(b, l, e->query));
        e->type = ty(DT_BOOL);
        return OK;
    case EX_SUBQUERY: return bind_scalar_query(b, l, e);
    case EX_QUANTIFIED: return bind_quantified(b, l, e);
    case EX_ARRAY:
        if (!e->query)
            return bind_nested(b, l, pe);
        TRY(bind_query(b, l, e->query));
        if (e->query->columns.n != 1)
            return fail_arity(b, e, 1, e->query->columns.n);
        list = ty_list(b->a, e->query->columns.p[0].type);
        list.mark = e->type.mark;
        e->type = list;
        return OK;
    case EX_FIELD: case EX_INDEX: case EX_STRUCT: return bind_nested(b, l, pe);
    case EX_LAMBDA:
        return BIND_FAIL(b, e->position, "42601", "a lambda function is not expected here");
    default: return bind_plain(b, l, pe);
    }
}

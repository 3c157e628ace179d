/* SPDX-License-Identifier: Apache-2.0 */
/* parse_primary.c - the smallest expressions: literals, names, parentheses, CASE, arrays, rows, lambdas; and what may
 * be glued to them: .field, [index], ::type.
 *
 * A parenthesis may hold a query, an expression or a row, and more parentheses may stand before it is known which:
 * p_paren_from decides without going back, so that nesting costs linear time. */
#include "sql/parse_int.h"

static Expr *word(Parser *p);
static Expr *paren(Parser *p);
static Expr *parameter(Parser *p);
static Expr *bytes(Parser *p);
static Expr *star(Parser *p, int at);
static Expr *array(Parser *p, int at);
static Expr *as_list(Expr *e);
static Expr *map_items(Parser *p, int at);
static Expr *case_(Parser *p, int at);
static Expr *lambda(Parser *p);
static bool lambda_here(Parser *p);
static Expr *name_or_call(Parser *p);

Expr *p_primary(Parser *p)
{
    int at = p_pos(p);

    switch (p_peek(p, 0)->kind) {
    case TK_NUMBER: return p_number(p, 0);
    case TK_STRING: return p_string_literal(p);
    case TK_PARAM: return parameter(p);
    case TK_BYTES: return bytes(p);
    case TK_WORD: case TK_QUOTED: return word(p);
    case TK_OP:
        if (lambda_here(p))
            return lambda(p);
        if (p_is_op(p, '('))
            return paren(p);
        if (p_take_op(p, '*'))
            return star(p, at);
        if (p_trino(p) && p_take_op(p, '?')) {
            Expr *e = e_new(p, EX_PARAM, at);
            e->param = ++p->nparams;
            if (e->param > PARSE_PARAMS)
                P_FAIL(p, E_LIMIT, at, "more than %d parameters", PARSE_PARAMS);
            return e;
        }
        break;
    default: break;
    }
    p_expecting(p, "<expression>");
    return e_null(p, at);
}

static Expr *parameter(Parser *p)
{
    Expr *e = e_new(p, EX_PARAM, p_pos(p));
    e->param = p_peek(p, 0)->id;
    p->nparams = e->param > p->nparams ? e->param : p->nparams;
    p_next(p);
    return e;
}

static Expr *bytes(Parser *p)
{
    Expr *e = e_string(p, p_peek(p, 0)->text, p_pos(p));
    if (p_postgres(p))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "bit strings are not supported");
    e->value.kind = e->type.kind = DT_BINARY;
    p_next(p);
    return e;
}

/* At a word or quoted identifier. */
static Expr *word(Parser *p)
{
    int at = p_pos(p);
    Expr *e;

    if (p_is_kind(p, TK_QUOTED))
        return lambda_here(p) ? lambda(p) : name_or_call(p);
    if (p_take(p, K_NULL))
        return e_null(p, at);
    if (p_is(p, K_TRUE) || p_is(p, K_FALSE)) {
        bool v = p_take(p, K_TRUE);
        p->at += !v;
        return e_bool(p, v, at);
    }
    if (p_take(p, K_CASE))
        return case_(p, at);
    if (p->values && p_is(p, K_DEFAULT) && !p_is_op_at(p, 1, '.') && !p_is_op_at(p, 1, '(')) {
        p->at++;
        return e_call(p, "default", at);
    }
    if (p_postgres(p) && str_ieq(p_peek(p, 0)->text, S("list")) && (p_is_op_at(p, 1, '[') || (p_is_op_at(p, 1, '(') && p_query_starts(p, 2))))
        return as_list(array(p, at));                    /* Materialize: LIST[…] */
    if (p_postgres(p) && str_ieq(p_peek(p, 0)->text, S("map")) && p_is_op_at(p, 1, '['))
        return map_items(p, at);                         /* Materialize: MAP[k => v, …] */
    if (p_is(p, K_ARRAY) && (p_is_op_at(p, 1, '[') || (p_is_op_at(p, 1, '(') && p_query_starts(p, 2))))
        return array(p, at);
    if (lambda_here(p))
        return lambda(p);
    if ((e = p_typed_literal(p)) || (e = p_special_form(p)))
        return e;
    return name_or_call(p);
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

static Expr *star(Parser *p, int at)
{
    Expr *e = e_new(p, EX_STAR, at);
    if ((p_is(p, K_EXCEPT) || p_is(p, K_EXCLUDE)) && p_is_op_at(p, 1, '(') && !p_query_starts(p, 2)) {
        p->at++;
        p_ident_list(p, &e->except);
    }
    return e;
}

/* Words that are functions without parentheses. */
static bool niladic(Parser *p)
{
    if (p_trino(p))
        return p_is(p, K_CURRENT_DATE) || p_is(p, K_CURRENT_TIMESTAMP) || p_is(p, K_CURRENT_TIME) || p_is(p, K_CURRENT_USER) ||
               p_is(p, K_CURRENT_CATALOG) || p_is(p, K_CURRENT_SCHEMA) || p_is(p, K_LOCALTIME) || p_is(p, K_LOCALTIMESTAMP);
    if (p_spark(p))
        return p_is(p, K_CURRENT_DATE) || p_is(p, K_CURRENT_TIMESTAMP) || p_is(p, K_CURRENT_USER) || p_is(p, K_LOCALTIMESTAMP);
    return p_is(p, K_CURRENT_DATE) || p_is(p, K_CURRENT_TIMESTAMP) || p_is(p, K_CURRENT_TIME) || p_is(p, K_CURRENT_USER) ||
           p_is(p, K_CURRENT_ROLE) || p_is(p, K_CURRENT_CATALOG) || p_is(p, K_CURRENT_SCHEMA) || p_is(p, K_LOCALTIME) ||
           p_is(p, K_LOCALTIMESTAMP) || p_is(p, K_SESSION_USER) || p_is(p, K_USER);
}

static bool starts_call(Parser *p)
{
    const Token *t = p_peek(p, 0);
    if (!p_is_op_at(p, 1, '(') || t->kind != TK_WORD)
        return false;
    return t->id == K_LIKE || !(lex_keyword_flags((Keyword)t->id) & KW_RESERVED);      /* Spark has a function like() */
}

static Expr *name_or_call(Parser *p)
{
    int at = p_pos(p);
    StrVec name = {0};

    if (niladic(p) && !p_is_op_at(p, 1, '(') && !p_is_op_at(p, 1, '.')) {
        Str word_ = p_label(p);
        return e_call(p, str_z(p->a, str_lower(p->a, word_)), at);
    }
    vec_push(p->a, &name, starts_call(p) ? p_label(p) : p_ident(p));
    while (p_take_op(p, '.')) {
        if (p_take_op(p, '*')) {
            Expr *e = star(p, at);
            e->name = name;
            return e;
        }
        vec_push(p->a, &name, p_label(p));
    }
    if (name.n > PARSE_NAME_PARTS)
        P_FAIL(p, E_LIMIT, at, "a name of more than %d parts", PARSE_NAME_PARTS);
    if (p_is_op(p, '('))
        return p_call(p, &name, at);
    Expr *e = e_new(p, EX_COLUMN, at);
    e->name = name;
    return e;
}

/* ---- parentheses ------------------------------------------------------------------------------------------------- */

static Expr *subquery(Parser *p, Query *q, int at)
{
    Expr *e = e_new(p, EX_SUBQUERY, at);
    e->query = q;
    return e;
}

/* After the first expression in parentheses: the rest of a row, and the closing parenthesis. */
static Expr *close_paren(Parser *p, Expr *first, int at)
{
    if (p_take_op(p, ')'))
        return first;
    Expr *row = e_new(p, EX_STRUCT, at);
    vec_push(p->a, &row->args, first);
    while (p_take_op(p, ','))
        vec_push(p->a, &row->args, p_expr(p));
    p_need_op(p, ')');
    for (size_t i = 0; i < row->args.n; i++)
        vec_push(p->a, &row->name, S(""));
    return row;
}

static bool query_goes_on(Parser *p)
{
    return p_is(p, K_UNION) || p_is(p, K_EXCEPT) || p_is(p, K_INTERSECT) || p_is(p, K_MINUS) || p_is(p, K_ORDER) ||
           p_is(p, K_LIMIT) || p_is(p, K_OFFSET) || p_is(p, K_FETCH);
}

Expr *p_paren_from(Parser *p, Query **query)
{
    Query *inner = NULL;
    int at = p_pos(p);

    *query = NULL;
    if (p_query_starts(p, 0)) {
        *query = p_query(p);
        return NULL;
    }
    if (!p_query_in_parens(p, 0) || !p_enter(p))
        return p_expr(p);
    p->at++;
    Expr *e = p_paren_from(p, &inner);
    p_leave(p);
    if (inner) {
        p_need_op(p, ')');
        if (query_goes_on(p) || p_is_op(p, ')')) {
            *query = p_query_rest(p, inner);
            return NULL;
        }
        e = subquery(p, inner, at);
    } else {
        e = close_paren(p, e, at);
    }
    return p_expr_from(p, p_postfix(p, e), LV_OR);
}

static Expr *paren(Parser *p)
{
    int at = p_pos(p);
    Query *q;

    p_need_op(p, '(');
    Expr *e = p_paren_from(p, &q);
    if (q) {
        p_need_op(p, ')');
        e = subquery(p, q, at);
    } else {
        e = close_paren(p, e, at);
    }
    return e;
}

/* ---- arrays, CASE, lambdas ------------------------------------------------------------------------------------------ */

static Expr *array_items(Parser *p, int at)
{
    Expr *e = e_new(p, EX_ARRAY, at);

    if (!p_enter(p))
        return e;
    p_need_op(p, '[');
    while (!p_is_op(p, ']')) {
        int inner = p_pos(p);
        vec_push(p->a, &e->args, p_is_op(p, '[') ? array_items(p, inner) : p_expr(p));
        if (!p_take_op(p, ','))
            break;
    }
    p_need_op(p, ']');
    p_leave(p);
    return e;
}

/* Behind the word, [ … ] or (query): the query of an EX_ARRAY is its `query`. */
static Expr *array(Parser *p, int at)
{
    p_next(p);
    if (p_is_op(p, '['))
        return array_items(p, at);
    Expr *e = e_new(p, EX_ARRAY, at);
    p_need_op(p, '(');
    e->query = p_query(p);
    p_need_op(p, ')');
    return e;
}

/* MAP['a' => 1, 'b' => 2] is map_build(ARRAY[ROW('a', 1), ROW('b', 2)]); brackets as a value are another map. */
static Expr *map_entries(Parser *p, int at)
{
    Expr *call = e_call(p, "map_build", at), *all = e_new(p, EX_ARRAY, at);

    if (!p_enter(p))
        return call;
    p_need_op(p, '[');
    do {
        Expr *entry = e_new(p, EX_STRUCT, p_pos(p));
        vec_push(p->a, &entry->args, p_expr(p));
        p_need_op(p, O_FAT_ARROW);
        vec_push(p->a, &entry->args, p_is_op(p, '[') ? map_entries(p, p_pos(p)) : p_expr(p));
        vec_push(p->a, &all->args, entry);
    } while (!p->status && p_take_op(p, ','));
    p_need_op(p, ']');
    p_leave(p);
    vec_push(p->a, &call->args, all);
    return call;
}

static Expr *map_items(Parser *p, int at)
{
    p_next(p);
    return map_entries(p, at);
}

/* What the brackets inside of it make are lists too. */
static Expr *as_list(Expr *e)
{
    e->type.mark = MARK_LIST;
    for (size_t i = 0; i < e->args.n; i++)
        if (e->args.p[i]->kind == EX_ARRAY && !e->args.p[i]->query)
            as_list(e->args.p[i]);
    return e;
}

static Expr *case_(Parser *p, int at)
{
    Expr *e = e_new(p, EX_CASE, at);

    if (!p_is(p, K_WHEN)) {
        e->has_operand = 1;
        vec_push(p->a, &e->args, p_expr(p));
    }
    do {
        p_need(p, K_WHEN);
        vec_push(p->a, &e->args, p_expr(p));
        p_need(p, K_THEN);
        vec_push(p->a, &e->args, p_expr(p));
    } while (p_is(p, K_WHEN));
    if (p_take(p, K_ELSE))
        e->else_ = p_expr(p);
    p_need(p, K_END);
    return e;
}

/* x -> … or (x, y) -> … */
static bool lambda_here(Parser *p)
{
    size_t i = 1;

    if (p_postgres(p))
        return false;
    if (p_trino(p) && p_is_op(p, '(') && p_is_op_at(p, 1, ')') && p_is_op_at(p, 2, O_ARROW))      /* () -> x */
        return true;
    if (!p_is_op(p, '('))
        return p_is_ident(p, 0) && p_is_op_at(p, 1, O_ARROW);
    for (; i < 2 * PARSE_NAME_PARTS && p_is_ident(p, i); i += 2)
        if (!p_is_op_at(p, i + 1, ','))
            return p_is_op_at(p, i + 1, ')') && p_is_op_at(p, i + 2, O_ARROW);
    return false;
}

static Expr *lambda(Parser *p)
{
    Expr *e = e_new(p, EX_LAMBDA, p_pos(p));

    if (p_is_op(p, '(') && p_is_op_at(p, 1, ')'))
        p->at += 2;
    else if (p_is_op(p, '('))
        p_ident_list(p, &e->name);
    else
        vec_push(p->a, &e->name, p_ident(p));
    p_need_op(p, O_ARROW);
    vec_push(p->a, &e->args, p_expr(p));
    return e;
}

/* ---- what is glued on ------------------------------------------------------------------------------------------------ */

static Expr *field(Parser *p, Expr *e, int at)
{
    Expr *x = e_new(p, p_is_op(p, '*') ? EX_STAR : EX_FIELD, at);     /* (row).*: an EX_STAR with an argument */
    vec_push(p->a, &x->args, e);
    if (!p_take_op(p, '*'))
        vec_push(p->a, &x->name, p_label(p));
    return x;
}

static Expr *subscript(Parser *p, Expr *e, int at)
{
    Expr *x = e_new(p, EX_INDEX, at);

    vec_push(p->a, &x->args, e);
    vec_push(p->a, &x->args, p_is_op(p, ':') ? e_null(p, at) : p_expr(p));
    if (p_postgres(p) && p_take_op(p, ':'))
        vec_push(p->a, &x->args, p_is_op(p, ']') ? e_null(p, at) : p_expr(p));
    p_need_op(p, ']');
    return x;
}

static Expr *cast(Parser *p, Expr *e, int at)
{
    int from = p_pos(p) - 1;
    DataType t = p_cast_type(p);
    Expr *x = e_cast(p, e, t, at);
    vec_push(p->a, &x->name, p_text(p, from, p_last_end(p)));
    return x;
}

Expr *p_postfix(Parser *p, Expr *e)
{
    for (;;) {
        int at = p_pos(p);
        if (p_take_op(p, '.'))
            e = field(p, e, at);
        else if (p_take_op(p, '['))
            e = subscript(p, e, at);
        else if (p_take_op(p, O_CAST))
            e = cast(p, e, at);
        else
            return e;
    }
}

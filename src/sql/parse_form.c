/* SPDX-License-Identifier: Apache-2.0 */
/* parse_form.c - functions with a grammar of their own; each becomes a plain node, so that nothing behind the parser
 * knows of the special spelling:
 *   CAST(x AS t)  EX_CAST        EXTRACT(year FROM x)        extract('year', x)
 *   POSITION(a IN b)  position(a, b)                         TRIM(BOTH c FROM x)  trim_both|trim_leading|trim_trailing(x[, c])
 *   SUBSTRING(x FROM a FOR b)  substring(x, a, b)            OVERLAY(x PLACING y FROM a FOR b)  overlay(x, y, a[, b])
 *   DATEADD(day, 1, x) and its kin: the unit becomes a string literal. */
#include "sql/parse_int.h"

static Expr *cast(Parser *p, int try_cast);
static Expr *extract(Parser *p);
static Expr *position(Parser *p);
static Expr *trim(Parser *p);
static Expr *substring(Parser *p);
static Expr *overlay(Parser *p);
static Expr *date_function(Parser *p);
static Expr *exists(Parser *p);

Expr *p_special_form(Parser *p)
{
    const Token *t = p_peek(p, 0);

    if (t->kind != TK_WORD || !p_is_op_at(p, 1, '('))
        return NULL;
    switch (t->id) {
    case K_CAST: return cast(p, 0);
    case K_TRY_CAST: return cast(p, 1);
    case K_EXTRACT: return extract(p);
    case K_POSITION: return position(p);
    case K_TRIM: return trim(p);
    case K_SUBSTRING: case K_SUBSTR: return substring(p);
    case K_OVERLAY: return overlay(p);
    case K_EXISTS: return exists(p);
    case K_DATEADD: case K_DATE_ADD: case K_DATEDIFF: case K_DATE_DIFF: case K_TIMESTAMPADD: case K_TIMESTAMPDIFF:
        return date_function(p);
    default: return NULL;
    }
}

/* At name and parenthesis: both are read. */
static Expr *open_form(Parser *p, const char *name)
{
    Expr *e = e_call(p, name, p_pos(p));
    p->at += 2;
    return e;
}

static void add(Parser *p, Expr *e, Expr *arg) { vec_push(p->a, &e->args, arg); }

/* Not a special spelling after all: the rest of plain arguments. */
static Expr *plain_rest(Parser *p, Expr *e)
{
    while (p_take_op(p, ','))
        add(p, e, p_expr(p));
    p_need_op(p, ')');
    return e;
}

static Expr *cast(Parser *p, int try_cast)
{
    int at = p_pos(p);

    p->at += 2;
    Expr *x = p_expr(p);
    p_need(p, K_AS);
    int from = p_pos(p) - 1;
    DataType t = p_cast_type(p);
    Expr *e = e_cast(p, x, t, at);
    e->try_cast = try_cast;
    vec_push(p->a, &e->name, p_text(p, from, p_last_end(p)));
    p_need_op(p, ')');
    return e;
}

static Expr *extract(Parser *p)
{
    Expr *e = open_form(p, "extract");
    int at = p_pos(p);

    Str unit = p_is_kind(p, TK_STRING) ? p_string(p) : p_label(p);
    add(p, e, e_string(p, str_lower(p->a, unit), at));
    p_need(p, K_FROM);
    add(p, e, p_expr(p));
    p_need_op(p, ')');
    return e;
}

static Expr *position(Parser *p)
{
    Expr *e = open_form(p, "position");

    add(p, e, p_expr_level(p, LV_OTHER));
    if (!p_take(p, K_IN))
        return plain_rest(p, e);
    add(p, e, p_expr(p));
    p_need_op(p, ')');
    return e;
}

static Expr *trim(Parser *p)
{
    Expr *e = open_form(p, "trim");
    const char *name = "trim_both";
    bool special = true, from;

    if (p_take(p, K_LEADING))
        name = "trim_leading";
    else if (p_take(p, K_TRAILING))
        name = "trim_trailing";
    else if (!p_take(p, K_BOTH))
        special = false;
    from = p_take(p, K_FROM);
    Expr *first = p_expr(p), *second = NULL;
    if (!from && p_take(p, K_FROM)) {
        second = first;
        first = p_expr(p);
        special = true;
    }
    if (special)
        e->func->name.p[0] = str_c(name);
    add(p, e, first);
    if (second)
        add(p, e, second);
    return plain_rest(p, e);
}

static Expr *substring(Parser *p)
{
    Expr *e = open_form(p, "substring");

    add(p, e, p_expr(p));
    if (p_take(p, K_FROM)) {
        add(p, e, p_expr(p));
        if (p_take(p, K_FOR))
            add(p, e, p_expr(p));
    } else if (p_take(p, K_FOR)) {
        add(p, e, e_int(p, 1, 0));
        add(p, e, p_expr(p));
    }
    return plain_rest(p, e);
}

static Expr *overlay(Parser *p)
{
    Expr *e = open_form(p, "overlay");

    add(p, e, p_expr(p));
    if (!p_take(p, K_PLACING))
        return plain_rest(p, e);
    add(p, e, p_expr(p));
    p_need(p, K_FROM);
    add(p, e, p_expr(p));
    if (p_take(p, K_FOR))
        add(p, e, p_expr(p));
    p_need_op(p, ')');
    return e;
}

/* Of the two forms date_add(x, 1) and dateadd(day, 1, x) the second's first argument is a bare unit. */
static Expr *date_function(Parser *p)
{
    int at = p_pos(p);
    Str name = p_label(p);
    Expr *e = e_call(p, str_z(p->a, str_lower(p->a, name)), at);

    p_need_op(p, '(');
    add(p, e, p_expr(p));
    plain_rest(p, e);
    Expr *unit = e->args.p[0];
    if (e->args.n == 3 && unit->kind == EX_COLUMN && unit->name.n == 1)
        e->args.p[0] = e_string(p, str_lower(p->a, unit->name.p[0]), unit->position);
    return e;
}

/* EXISTS (query); Spark's exists(array, lambda) is a function. */
static Expr *exists(Parser *p)
{
    if (!p_query_in_parens(p, 1))
        return NULL;
    Expr *e = e_new(p, EX_EXISTS, p_pos(p));
    p->at += 2;
    e->query = p_query(p);
    p_need_op(p, ')');
    return e;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* parse_from.c - what stands after FROM: names with time travel, files, derived tables, functions, joins, lateral views.
 *
 * A comma is a cross join.  In PostgreSQL a join may wait for its ON behind a nested one (a JOIN b JOIN c ON x ON y);
 * in Spark it may have none. */
#include "sql/parse_int.h"

enum { JOINS_MAX = 500 };

static TableRef *table_new(Parser *p, TableRefKind kind);
static TableRef *joined(Parser *p, TableRef *left);
static TableRef *join_step(Parser *p, TableRef *left);
static bool join_here(Parser *p);
static TableRef *primary(Parser *p);
static TableRef *lateral_view(Parser *p, TableRef *left);
static void as_of(Parser *p, AsOf *ret);
static void alias(Parser *p, TableRef *t);

TableRef *p_from(Parser *p)
{
    TableRef *t = joined(p, primary(p));

    for (int n = 0; p_take_op(p, ','); n++) {
        TableRef *cross = table_new(p, TR_JOIN);
        if (n >= JOINS_MAX)
            P_FAIL(p, E_LIMIT, p_pos(p), "more than %d tables in one FROM", JOINS_MAX);
        cross->join = JOIN_CROSS;
        cross->left = t;
        cross->right = joined(p, primary(p));
        t = cross;
    }
    for (int n = 0; p_spark(p) && p_is2(p, K_LATERAL, K_VIEW); n++) {
        if (n >= JOINS_MAX)
            P_FAIL(p, E_LIMIT, p_pos(p), "more than %d tables in one FROM", JOINS_MAX);
        t = lateral_view(p, t);
    }
    if ((p_is(p, K_PIVOT) && p_is_op_at(p, 1, '(')) || p_is(p, K_UNPIVOT))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "PIVOT and UNPIVOT are not supported");
    return t;
}

static TableRef *table_new(Parser *p, TableRefKind kind)
{
    TableRef *t = arena_new(p->a, TableRef);
    t->kind = kind;
    t->position = p_pos(p);
    return t;
}

/* ---- joins ------------------------------------------------------------------------------------------------------ */

static TableRef *joined(Parser *p, TableRef *left)
{
    for (int n = 0; join_here(p); n++) {
        if (n >= JOINS_MAX)
            P_FAIL(p, E_LIMIT, p_pos(p), "more than %d tables in one FROM", JOINS_MAX);
        left = join_step(p, left);
    }
    return left;
}

static bool join_here(Parser *p)
{
    if (p_is(p, K_JOIN) || p_is(p, K_INNER) || p_is(p, K_CROSS) || p_is(p, K_NATURAL) || p_is(p, K_LEFT) || p_is(p, K_RIGHT) || p_is(p, K_FULL))
        return true;
    return p_spark(p) && (p_is2(p, K_SEMI, K_JOIN) || p_is2(p, K_ANTI, K_JOIN));
}

static JoinKind join_kind(Parser *p)
{
    if (p_take(p, K_CROSS))
        return JOIN_CROSS;
    if (p_spark(p) && (p_take2(p, K_LEFT, K_SEMI) || p_take(p, K_SEMI)))
        return JOIN_SEMI;
    if (p_spark(p) && (p_take2(p, K_LEFT, K_ANTI) || p_take(p, K_ANTI)))
        return JOIN_ANTI;
    JoinKind kind = p_take(p, K_LEFT) ? JOIN_LEFT : p_take(p, K_RIGHT) ? JOIN_RIGHT : p_take(p, K_FULL) ? JOIN_FULL : JOIN_INNER;
    if (kind == JOIN_INNER)
        p_take(p, K_INNER);
    else
        p_take(p, K_OUTER);
    return kind;
}

static TableRef *join_step(Parser *p, TableRef *left)
{
    TableRef *t = table_new(p, TR_JOIN);

    t->left = left;
    if (!p_enter(p))
        return t;
    t->natural = p_take(p, K_NATURAL);
    t->join = join_kind(p);
    p_need(p, K_JOIN);
    t->right = primary(p);
    bool waits = t->join != JOIN_CROSS && !t->natural;
    while (waits && !p_spark(p) && !p_is(p, K_ON) && !p_is(p, K_USING) && join_here(p))
        t->right = join_step(p, t->right);
    if (waits && p_take(p, K_ON))
        t->on = p_expr(p);
    else if (waits && p_take(p, K_USING))
        p_ident_list(p, &t->using_);
    else if (waits && !p_spark(p))
        p_syntax(p);
    if (p_postgres(p) && t->using_.n && p_take(p, K_AS))
        t->alias = p_ident(p);
    p_leave(p);
    return t;
}

/* LATERAL VIEW [OUTER] f(…) [t] [AS a, b]: a cross join with a lateral function; OUTER is the function's. */
static TableRef *lateral_view(Parser *p, TableRef *left)
{
    TableRef *join = table_new(p, TR_JOIN), *f = table_new(p, TR_FUNCTION);

    p_take2(p, K_LATERAL, K_VIEW);
    f->lateral = 1;
    f->outer = p_take(p, K_OUTER);
    p_name(p, &f->name);
    p_need_op(p, '(');
    if (!p_is_op(p, ')'))
        p_expr_list(p, &f->args);
    p_need_op(p, ')');
    if (p_is_ident(p, 0) && !p_is(p, K_AS) && !p_is2(p, K_LATERAL, K_VIEW))
        p_alias(p, &f->alias);
    if (p_take(p, K_AS)) {
        do
            vec_push(p->a, &f->column_aliases, p_ident(p));
        while (p_take_op(p, ','));
    }
    join->join = JOIN_CROSS;
    join->left = left;
    join->right = f;
    return join;
}

/* ---- one table ---------------------------------------------------------------------------------------------------- */

static TableRef *derived(Parser *p, Query *q, int at)
{
    TableRef *t = table_new(p, TR_QUERY);
    t->position = at;
    t->query = q;
    return t;
}

static bool setop_here(Parser *p)
{
    return p_is(p, K_UNION) || p_is(p, K_EXCEPT) || p_is(p, K_INTERSECT) || (p_spark(p) && p_is(p, K_MINUS)) ||
           p_is2(p, K_ORDER, K_BY) || p_is(p, K_LIMIT);
}

/* After `(`: to its `)`. A query gives *query, anything else a table. As in expressions, nothing is read twice. */
static TableRef *paren(Parser *p, Query **query)
{
    TableRef *t;
    Query *inner = NULL;
    int at = p_pos(p);

    *query = NULL;
    if (!p_enter(p))
        return table_new(p, TR_TABLE);
    if (p_query_starts(p, 0)) {
        *query = p_query(p);
        t = NULL;
    } else if (p_query_in_parens(p, 0)) {
        p->at++;
        t = paren(p, &inner);
        if (inner && (setop_here(p) || p_is_op(p, ')'))) {
            *query = p_query_rest(p, inner);
        } else {
            if (inner)
                t = derived(p, inner, at);
            alias(p, t);
            t = joined(p, t);
        }
    } else {
        t = joined(p, primary(p));
    }
    p_need_op(p, ')');
    p_leave(p);
    return t;
}

/* The words of a file's format, followed by a path in backticks. */
static bool is_file(Parser *p)
{
    static const char *const FORMATS[] = { "parquet", "csv", "json", "orc", "avro", "text", "binaryfile" };
    const Token *format = p_peek(p, 0);

    if (!p_spark(p) || format->kind != TK_WORD || !p_is_op_at(p, 1, '.') || p_peek(p, 2)->kind != TK_QUOTED || p_is_op_at(p, 3, '.'))
        return false;
    for (size_t i = 0; i < COUNT_OF(FORMATS); i++)
        if (str_ieq(format->text, str_c(FORMATS[i])))
            return true;
    return false;
}

TableRef *p_table_name(Parser *p)
{
    TableRef *t = table_new(p, is_file(p) ? TR_FILE : TR_TABLE);

    p_name(p, &t->name);
    as_of(p, &t->as_of);
    return p_trino(p) && !p->status ? p_metadata_table(p, t) : t;
}

static TableRef *function(Parser *p)
{
    TableRef *t = table_new(p, TR_FUNCTION);

    p_name(p, &t->name);
    p_need_op(p, '(');
    if (p_query_starts(p, 0) || p_is(p, K_TABLE))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "table arguments of functions are not supported");
    if (p_is_ident(p, 0) && p_is_op_at(p, 1, O_FAT_ARROW))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "named arguments are not supported here");
    if (!p_is_op(p, ')'))
        p_expr_list(p, &t->args);
    p_need_op(p, ')');
    t->ordinality = p_take2(p, K_WITH, K_ORDINALITY);
    return t;
}

/* ROWS FROM (f(x), g(y)) [WITH ORDINALITY]: the calls stand as arguments of a function that no text can name. */
static TableRef *rows_from(Parser *p)
{
    TableRef *t = table_new(p, TR_FUNCTION);

    vec_push(p->a, &t->name, S(ROWS_FROM));
    p_need_op(p, '(');
    do {
        int at = p_pos(p);
        Expr *e = p_expr_level(p, LV_OTHER);
        if (!p->status && e->kind != EX_FUNCTION)
            P_FAIL(p, E_SYNTAX, at, "ROWS FROM takes calls of functions");
        vec_push(p->a, &t->args, e);
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
    t->ordinality = p_take2(p, K_WITH, K_ORDINALITY);
    return t;
}

static bool function_here(Parser *p)
{
    size_t n = 1;
    while (n < 2 * PARSE_NAME_PARTS && p_is_op_at(p, n, '.'))
        n += 2;
    return p_is_op_at(p, n, '(');
}

static TableRef *values(Parser *p)
{
    TableRef *t = table_new(p, TR_VALUES);
    Query q = {0};

    p_need(p, K_VALUES);
    p_values_rows(p, &q);
    t->rows = q.rows;
    return t;
}

/* VALUES of its own without ORDER BY or LIMIT is a table, not a query. */
static TableRef *primary_body(Parser *p)
{
    Query *q;
    int at = p_pos(p);

    if (p_take_op(p, '(')) {
        TableRef *t = paren(p, &q);
        return q ? derived(p, q, at) : t;
    }
    if (p_spark(p) && p_is(p, K_VALUES) && p_query_starts(p, 0))
        return values(p);
    if (p_take2(p, K_ROWS, K_FROM))
        return rows_from(p);
    if (p_postgres(p))
        p_take(p, K_ONLY);
    return function_here(p) ? function(p) : p_table_name(p);
}

TableRef *p_table_primary(Parser *p) { return primary(p); }

static TableRef *primary(Parser *p)
{
    int lateral = p_is2(p, K_LATERAL, K_VIEW) ? 0 : p_take(p, K_LATERAL);
    TableRef *t = primary_body(p);

    t->lateral = t->lateral || lateral;
    alias(p, t);
    if (p_is(p, K_TABLESAMPLE))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "TABLESAMPLE is not supported");
    if ((p_is(p, K_PIVOT) && p_is_op_at(p, 1, '(')) || p_is(p, K_UNPIVOT))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "PIVOT and UNPIVOT are not supported");
    return t;
}

/* A joined table in parentheses may have an alias too; then it is a derived table: refused, it would need a star. */
static void alias(Parser *p, TableRef *t)
{
    Str name = S("");
    int at = p_pos(p);

    if (!p_alias(p, &name)) {
        if (!(t->kind == TR_FUNCTION && p_take(p, K_AS)))
            return;
    }
    if (t->kind == TR_JOIN)
        P_FAIL(p, E_UNSUPPORTED, at, "an alias of a joined table in parentheses is not supported");
    t->alias = name;
    if (!p_take_op(p, '('))
        return;
    do {
        vec_push(p->a, &t->column_aliases, p_ident(p));
        if (!p_is_op(p, ',') && !p_is_op(p, ')'))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "a column definition list is not supported");
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}

/* ---- time travel -------------------------------------------------------------------------------------------------- */

/* A version is a snapshot id, or the name of a branch or tag. */
static void version(Parser *p, AsOf *ret)
{
    int at = p_pos(p);
    int64_t id;

    if (!p_is_kind(p, TK_STRING)) {
        ret->version = p_expr_level(p, LV_OTHER);
        return;
    }
    Str s = p_string(p);
    if (str_to_i64(s, &id))
        ret->version = e_int(p, id, at);
    else
        ret->branch = s;
}

/* [FOR] VERSION|SYSTEM_VERSION|TIMESTAMP|SYSTEM_TIME AS OF x; the postgres dialect wants the FOR */
static void as_of(Parser *p, AsOf *ret)
{
    size_t for_ = p_is(p, K_FOR);
    bool by_version = p_is_at(p, for_, K_VERSION) || p_is_at(p, for_, K_SYSTEM_VERSION);
    bool by_time = p_is_at(p, for_, K_TIMESTAMP) || p_is_at(p, for_, K_SYSTEM_TIME);

    if ((!p_spark(p) && !for_) || (!by_version && !by_time) || !p_is_at(p, for_ + 1, K_AS) || !p_is_at(p, for_ + 2, K_OF))
        return;
    p->at += for_ + 3;
    ret->has = 1;
    if (by_version)
        version(p, ret);
    else
        ret->timestamp = p_expr_level(p, LV_OTHER);
}

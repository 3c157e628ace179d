/* SPDX-License-Identifier: Apache-2.0 */
/* parse_dml.c - INSERT, UPDATE, DELETE, MERGE, TRUNCATE. */
#include "sql/parse_int.h"

static void insert_target(Parser *p, Stmt *s);
static void insert_source(Parser *p, Stmt *s);
static void returning(Parser *p, Stmt *s);
static void target_alias(Parser *p, Stmt *s);
static void merge_clause(Parser *p, Stmt *s);

Stmt *p_insert(Parser *p)
{
    Stmt *s = s_new(p, ST_INSERT);

    p_need(p, K_INSERT);
    s->overwrite = p_spark(p) && p_take(p, K_OVERWRITE);
    if (s->overwrite) {
        p_take(p, K_INTO);
        if (p_is(p, K_DIRECTORY) || p_is2(p, K_LOCAL, K_DIRECTORY))
            P_FAIL(p, E_DENIED, p_pos(p), "INSERT OVERWRITE DIRECTORY is not allowed: statements do not write files");
    } else {
        p_need(p, K_INTO);
    }
    if (p_spark(p))
        p_take(p, K_TABLE);
    insert_target(p, s);
    insert_source(p, s);
    if (p_is2(p, K_ON, K_CONFLICT))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "ON CONFLICT is not supported; use MERGE INTO");
    returning(p, s);
    return s;
}

/* PARTITION (a = 1, b) */
static void static_partition(Parser *p, Stmt *s)
{
    p_need_op(p, '(');
    do {
        Assign x = {0};
        p_name(p, &x.column);
        if (p_take_op(p, '='))
            x.value = p_expr(p);
        vec_push(p->a, &s->static_partition, x);
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}

static void insert_target(Parser *p, Stmt *s)
{
    p_stmt_name(p, s);
    if (p_postgres(p) && p_take(p, K_AS))
        s->alias = p_ident(p);
    if (p_spark(p) && p_is(p, K_PARTITION) && p_is_op_at(p, 1, '(')) {
        p->at++;
        static_partition(p, s);
        p_if_not_exists(p, s);
    }
    if (p_spark(p) && p_is2(p, K_REPLACE, K_WHERE))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "INSERT … REPLACE WHERE is not supported");
    s->by_name = p_spark(p) && p_take2(p, K_BY, K_NAME);
    if (!s->by_name && p_is_op(p, '(') && !p_query_in_parens(p, 0))
        p_ident_list(p, &s->column_names);
    if (p_postgres(p) && p_is(p, K_OVERRIDING))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "OVERRIDING is not supported");
}

static void insert_source(Parser *p, Stmt *s)
{
    if (p_postgres(p) && !s->column_names.n && p_take2(p, K_DEFAULT, K_VALUES)) {
        ExprVec row = {0};
        vec_push(p->a, &row, e_null(p, p_pos(p)));
        s->what = S("default values");
        s->query = arena_new(p->a, Query);
        s->query->body = BODY_VALUES;
        vec_push(p->a, &s->query->rows, row);
        return;
    }
    p_query_as_text(p, s);
}

static void returning(Parser *p, Stmt *s)
{
    if (p_postgres(p) && p_take(p, K_RETURNING))
        p_select_items(p, &s->returning);
}

static void target_alias(Parser *p, Stmt *s)
{
    if (!p_is(p, K_SET) && !p_is(p, K_USING))
        p_alias(p, &s->alias);
}

Stmt *p_update(Parser *p)
{
    Stmt *s = s_new(p, ST_UPDATE);

    p_need(p, K_UPDATE);
    if (p_postgres(p))
        p_take(p, K_ONLY);
    p_stmt_name(p, s);
    target_alias(p, s);
    p_need(p, K_SET);
    p_assigns(p, &s->set);
    if (p_postgres(p) && p_take(p, K_FROM))
        s->from = p_from(p);
    if (p_take(p, K_WHERE))
        s->where = p_expr(p);
    returning(p, s);
    return s;
}

Stmt *p_delete(Parser *p)
{
    Stmt *s = s_new(p, ST_DELETE);

    p_need(p, K_DELETE);
    p_need(p, K_FROM);
    if (p_postgres(p))
        p_take(p, K_ONLY);
    p_stmt_name(p, s);
    target_alias(p, s);
    if (p_postgres(p) && p_take(p, K_USING))
        s->from = p_from(p);
    if (p_take(p, K_WHERE))
        s->where = p_expr(p);
    returning(p, s);
    return s;
}

Stmt *p_truncate(Parser *p)
{
    Stmt *s = s_new(p, ST_TRUNCATE);

    p_need(p, K_TRUNCATE);
    if (p_spark(p))
        p_need(p, K_TABLE);
    else
        p_take(p, K_TABLE);
    p_stmt_name(p, s);
    if (p_is(p, K_PARTITION))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "TRUNCATE of a partition is not supported; use DELETE");
    return s;
}

/* ---- MERGE --------------------------------------------------------------------------------------------------------- */

Stmt *p_merge(Parser *p)
{
    Stmt *s = s_new(p, ST_MERGE);

    p_need(p, K_MERGE);
    if (p_is2(p, K_WITH, K_SCHEMA))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "MERGE WITH SCHEMA EVOLUTION is not supported");
    p_need(p, K_INTO);
    p_stmt_name(p, s);
    target_alias(p, s);
    p_need(p, K_USING);
    s->from = p_table_primary(p);
    p_need(p, K_ON);
    s->on = p_expr(p);
    do
        merge_clause(p, s);
    while (p_is(p, K_WHEN));
    return s;
}

static MergeMatch match_kind(Parser *p)
{
    if (p_take(p, K_MATCHED))
        return MERGE_MATCHED;
    p_need(p, K_NOT);
    p_need(p, K_MATCHED);
    if (p_take2(p, K_BY, K_SOURCE))
        return MERGE_NOT_MATCHED_BY_SOURCE;
    p_take2(p, K_BY, K_TARGET);
    return MERGE_NOT_MATCHED;
}

static void merge_update(Parser *p, MergeClause *c)
{
    p_need(p, K_SET);
    c->action = MERGE_UPDATE;
    if (c->match == MERGE_MATCHED && p_take_op(p, '*'))
        c->action = MERGE_UPDATE_ALL;
    else
        p_assigns(p, &c->set);
}

static void merge_insert(Parser *p, MergeClause *c)
{
    c->action = MERGE_INSERT;
    if (p_take_op(p, '*')) {
        c->action = MERGE_INSERT_ALL;
        return;
    }
    if (p_is_op(p, '(')) {
        p->at++;
        do {
            StrVec name = {0};
            p_name(p, &name);
            vec_push(p->a, &c->columns, vec_last(&name));
        } while (p_take_op(p, ','));
        p_need_op(p, ')');
    }
    int at = p_pos(p);
    p_need(p, K_VALUES);
    p_need_op(p, '(');
    p->values++;
    p_expr_list(p, &c->values);
    p->values--;
    p_need_op(p, ')');
    if (c->columns.n && c->columns.n != c->values.n)
        P_FAIL(p, E_INVALID, at, "INSERT has %zu columns but %zu values", c->columns.n, c->values.n);
}

static void merge_action(Parser *p, MergeClause *c)
{
    if (c->match != MERGE_NOT_MATCHED && p_take(p, K_UPDATE))
        merge_update(p, c);
    else if (c->match != MERGE_NOT_MATCHED && p_take(p, K_DELETE))
        c->action = MERGE_DELETE;
    else if (c->match == MERGE_NOT_MATCHED && p_take(p, K_INSERT))
        merge_insert(p, c);
    else if (p_postgres(p) && p_take2(p, K_DO, K_NOTHING))
        c->action = MERGE_NOTHING;
    else
        p_syntax(p);
}

static void merge_clause(Parser *p, Stmt *s)
{
    MergeClause c = {0};

    p_need(p, K_WHEN);
    c.match = match_kind(p);
    if (p_take(p, K_AND))
        c.cond = p_expr(p);
    p_need(p, K_THEN);
    merge_action(p, &c);
    vec_push(p->a, &s->merges, c);
}

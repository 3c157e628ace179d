/* SPDX-License-Identifier: Apache-2.0 */
/* parse_create.c - CREATE TABLE, VIEW, NAMESPACE; REPLACE TABLE; DROP. */
#include "sql/parse_live_int.h"

static Stmt *create_table(Parser *p, Stmt *s);
static Stmt *create_view(Parser *p, Stmt *s);
static Stmt *create_namespace(Parser *p, Stmt *s);
static void unknown_object(Parser *p, const char *verb);

Stmt *p_create(Parser *p)
{
    Stmt *s = s_new(p, ST_CREATE_TABLE);

    p_need(p, K_CREATE);
    s->or_replace = p_take2(p, K_OR, K_REPLACE);
    if (p_is2(p, K_MANAGED, K_MATERIALIZED)) {
        p->at++;
        s->managed = 1;
    }
    if (p_postgres(p) && lp_take(p, "REPLACEMENT MATERIALIZED VIEW")) {
        lp_live(p, s, LV_CREATE, LK_MVIEW)->replacement = 1;
        return p_create_mv(p, s);
    }
    if (p_take2(p, K_MATERIALIZED, K_VIEW))
        return p_create_mv(p, s);
    p_take(p, K_GLOBAL);
    s->temporary = p_take(p, K_TEMPORARY) || p_take(p, K_TEMP);
    if (p_spark(p) && p_is2(p, K_EXTERNAL, K_TABLE))
        p_next(p);
    if (p_postgres(p) && lp_create(p, s))
        return s;
    if (p_take(p, K_TABLE))
        return create_table(p, s);
    if (p_take(p, K_VIEW))
        return create_view(p, s);
    if (!s->or_replace && !s->temporary && (p_is(p, K_NAMESPACE) || p_is(p, K_DATABASE) || p_is(p, K_SCHEMA)))
        return create_namespace(p, s);
    unknown_object(p, "CREATE");
    return s;
}

static bool is_other_object(Parser *p)
{
    static const char *const OTHERS[] = { "CLUSTER", "SOURCE", "SINK", "CONNECTION", "SECRET", "INDEX", "ROLE", "USER", "FUNCTION", "PROCEDURE",
        "MACRO", "TYPE", "SEQUENCE", "TRIGGER", "EXTENSION", "SERVER", "FOREIGN", "PUBLICATION", "SUBSCRIPTION", "POLICY", "RULE", "AGGREGATE",
        "OPERATOR", "CAST", "DOMAIN", "COLLATION", "CONVERSION", "LANGUAGE", "TABLESPACE", "EVENT", "STATISTICS", "ACCESS", "TEXT", "TRANSFORM",
        "UNIQUE", "UNLOGGED", "NETWORK", "SETTING", "GROUP", "REPLICA", "CONTINUAL", "CATALOG", "VARIABLE" };
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++)
        if (p_is_word_like(p, OTHERS[i]))
            return true;
    return false;
}

static void unknown_object(Parser *p, const char *verb)
{
    const Token *t = p_peek(p, 0);
    if (is_other_object(p))
        P_FAIL(p, E_UNSUPPORTED, t->start + 1, "%s " STR_FMT " is not supported", verb, STR_ARG(str_upper(p->a, t->text)));
    p_syntax(p);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* NOT NULL, DEFAULT, COMMENT in any order; constraints that Iceberg cannot keep are refused. */
static bool column_option(Parser *p, ColumnDef *c)
{
    if (p_take2(p, K_NOT, K_NULL)) {
        c->not_null = 1;
    } else if (p_take(p, K_COMMENT)) {
        c->comment = p_string(p);
    } else if (p_take(p, K_DEFAULT)) {
        int from = p_pos(p) - 1;
        c->default_ = p_expr_level(p, LV_OTHER);
        c->default_text = p_text(p, from, p_last_end(p));
    } else if (p_is(p, K_PRIMARY) || p_is(p, K_UNIQUE) || p_is(p, K_REFERENCES) || p_is(p, K_CHECK) || p_is(p, K_GENERATED) ||
               p_is(p, K_CONSTRAINT)) {
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "constraints other than NOT NULL are not supported");
        return false;
    } else {
        return !p_spark(p) && p_take(p, K_NULL);
    }
    return true;
}

void p_column_def(Parser *p, ColumnDefs *ret)
{
    ColumnDef c = { .position = p_pos(p) };

    c.name = p_ident(p);
    c.type = p_type(p);
    while (column_option(p, &c))
        ;
    vec_push(p->a, ret, c);
}

static void column_list(Parser *p, Stmt *s)
{
    p_need_op(p, '(');
    do {
        if (p_is(p, K_CONSTRAINT) || p_is2(p, K_PRIMARY, K_KEY) || p_is2(p, K_FOREIGN, K_KEY) || (p_is(p, K_UNIQUE) && p_is_op_at(p, 1, '(')) ||
            (p_is(p, K_CHECK) && p_is_op_at(p, 1, '(')))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "table constraints are not supported");
        p_column_def(p, &s->columns);
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}

static bool table_clause(Parser *p, Stmt *s)
{
    if (p_take(p, K_USING)) {
        s->provider = p_label(p);
    } else if (p_take2(p, K_PARTITIONED, K_BY)) {
        p_partition_fields(p, &s->partitions);
    } else if (p_take(p, K_COMMENT)) {
        p_comment(p, s);
    } else if (p_take(p, K_LOCATION)) {
        s->location = p_string(p);
    } else if (p_take(p, K_TBLPROPERTIES) || p_take(p, K_OPTIONS)) {
        p_props(p, &s->props);
    } else if (p_postgres(p) && p_is(p, K_WITH) && p_is_op_at(p, 1, '(') && lp_option_starts(p, 2, LIVE_OPT_TABLE)) {
        lp_with(p, LIVE_OPT_TABLE, &lp_live(p, s, LV_CREATE, LK_TABLE)->with);
    } else if (!p_spark(p) && p_is(p, K_WITH) && p_is_op_at(p, 1, '(')) {
        p->at++;
        p_props(p, &s->props);
    } else {
        if (p_is(p, K_CLUSTERED) || p_is(p, K_SKEWED) || p_is(p, K_STORED) || p_is2(p, K_ROW, K_FORMAT) || p_is(p, K_INHERITS))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "the clause %s of CREATE TABLE is not supported", lex_keyword_name((Keyword)p_peek(p, 0)->id));
        return false;
    }
    return true;
}

static void with_data(Parser *p)
{
    if (!p_spark(p) && p_is(p, K_WITH) && (p_is_at(p, 1, K_DATA) || p_is_at(p, 1, K_NO))) {
        if (p_is_at(p, 1, K_NO))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "WITH NO DATA is not supported");
        p->at += 2;
    }
}

static Stmt *create_table(Parser *p, Stmt *s)
{
    p_if_not_exists(p, s);
    p_stmt_name(p, s);
    if (p_postgres(p) && p_is_op(p, '(') && p_is_ident(p, 1) && (p_is_op_at(p, 2, ',') || p_is_op_at(p, 2, ')')))     /* t (a, b) FROM SOURCE s */
        p_ident_list(p, &s->column_names);
    if (p_postgres(p) && lp_table_from(p, s))
        return s;
    if (p_take(p, K_LIKE)) {
        p_name(p, &s->target);
    } else if (p_is_op(p, '(') && !p_query_starts(p, 1)) {
        if (p_is_at(p, 1, K_LIKE))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "LIKE inside of a column list is not supported; use CREATE TABLE a LIKE b");
        column_list(p, s);
    }
    while (table_clause(p, s))
        ;
    if (p_take(p, K_AS) || (p_spark(p) && p_query_starts(p, 0) && !p_is(p, K_TABLE))) {
        p_query_as_text(p, s);
        with_data(p);
    } else if (!s->columns.n && !s->target.n && !p_spark(p)) {
        p_syntax(p);
    }
    return s;
}

/* REPLACE TABLE t …: CREATE OR REPLACE that needs the table to exist. */
Stmt *p_replace_table(Parser *p)
{
    Stmt *s = s_new(p, ST_CREATE_TABLE);

    p_need(p, K_REPLACE);
    p_need(p, K_TABLE);
    s->or_replace = 1;
    s->if_exists = 1;
    return create_table(p, s);
}

/* ---- views, namespaces ---------------------------------------------------------------------------------------------- */

/* (a, b COMMENT 'x') */
static void view_columns(Parser *p, Stmt *s)
{
    p_need_op(p, '(');
    do {
        ColumnDef c = { .position = p_pos(p) };
        c.name = p_ident(p);
        if (p_spark(p) && p_take(p, K_COMMENT))
            c.comment = p_string(p);
        vec_push(p->a, &s->column_names, c.name);
        vec_push(p->a, &s->columns, c);
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}

static Stmt *create_view(Parser *p, Stmt *s)
{
    s->kind = ST_CREATE_VIEW;
    if (p_postgres(p))
        lp_live(p, s, LV_CREATE, LK_VIEW);
    p_if_not_exists(p, s);
    p_stmt_name(p, s);
    if (p_is_op(p, '('))
        view_columns(p, s);
    for (;;) {
        if (p_take(p, K_COMMENT))
            p_comment(p, s);
        else if (p_take(p, K_TBLPROPERTIES))
            p_props(p, &s->props);
        else
            break;
    }
    p_need(p, K_AS);
    p_query_as_text(p, s);
    return s;
}

static Stmt *create_namespace(Parser *p, Stmt *s)
{
    bool database = p_is(p, K_DATABASE);

    s->kind = ST_CREATE_NAMESPACE;
    if (p_postgres(p) && !p_is(p, K_NAMESPACE))
        lp_live(p, s, LV_CREATE, database ? LK_DATABASE : LK_SCHEMA);
    p_next(p);
    p_if_not_exists(p, s);
    p_stmt_name(p, s);
    for (;;) {
        if (p_take(p, K_COMMENT))
            p_comment(p, s);
        else if (p_take(p, K_LOCATION))
            s->location = p_string(p);
        else if (p_take2(p, K_WITH, K_DBPROPERTIES) || p_take2(p, K_WITH, K_PROPERTIES))
            p_props(p, &s->props);
        else
            return s;
    }
}

/* ---- DROP -------------------------------------------------------------------------------------------------------------- */

static void cascade(Parser *p, Stmt *s)
{
    s->cascade = p_take(p, K_CASCADE);
    bool restricted = !s->cascade && p_take(p, K_RESTRICT);
    if (s->live)
        s->live->restrict_ = restricted;
}

/* What is dropped, as both sides say it. */
static LiveKind drop_kind(Parser *p, Stmt *s)
{
    if (p_take2(p, K_MATERIALIZED, K_VIEW)) {
        s->kind = ST_DROP_MV;
        return LK_MVIEW;
    }
    if (p_take(p, K_VIEW)) {
        s->kind = ST_DROP_VIEW;
        return LK_VIEW;
    }
    if (p_is(p, K_NAMESPACE) || p_is(p, K_DATABASE) || p_is(p, K_SCHEMA)) {
        s->kind = ST_DROP_NAMESPACE;
        LiveKind kind = p_is(p, K_DATABASE) ? LK_DATABASE : LK_SCHEMA;
        p_next(p);
        return kind;
    }
    if (!p_take(p, K_TABLE))
        unknown_object(p, "DROP");
    return LK_TABLE;
}

Stmt *p_drop(Parser *p)
{
    Stmt *s = s_new(p, ST_DROP_TABLE), *live;

    p_need(p, K_DROP);
    if (p_postgres(p) && (live = lp_drop(p)))
        return live;
    s->temporary = p_take(p, K_TEMPORARY) || p_take(p, K_TEMP);
    LiveKind kind = drop_kind(p, s);
    p_if_exists(p, s);
    p_stmt_name(p, s);
    if (p_postgres(p))
        lp_drop_rest(p, s, kind);
    if (p_is_op(p, ','))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "dropping several objects with one statement is not supported");
    if (s->kind == ST_DROP_TABLE)
        s->purge = p_take(p, K_PURGE);
    cascade(p, s);
    return s;
}

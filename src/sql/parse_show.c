/* SPDX-License-Identifier: Apache-2.0 */
/* parse_show.c - SHOW, DESCRIBE, EXPLAIN, CALL, USE.
 *
 * SHOW of an object list fills `what` in lower case; SHOW of anything else is a setting (ST_SHOW_SETTING). */
#include "sql/parse_live_int.h"

static bool show_list(Parser *p, Stmt *s);
static bool show_object(Parser *p, Stmt *s);
static Stmt *show_setting(Parser *p, Stmt *s);

Stmt *p_show(Parser *p)
{
    Stmt *s = s_new(p, ST_SHOW);

    p_need(p, K_SHOW);
    if (p_postgres(p) && lp_show(p, s))
        return s;
    if (show_list(p, s) || show_object(p, s))
        return s;
    return show_setting(p, s);
}

/* [IN|FROM ns] [[LIKE] 'pattern'] */
void p_show_scope(Parser *p, Stmt *s)
{
    if (p_take(p, K_IN) || p_take(p, K_FROM))
        p_stmt_name(p, s);
    if (p_take(p, K_LIKE) || p_is_kind(p, TK_STRING))
        s->pattern = p_string(p);
}

static bool show_list(Parser *p, Stmt *s)
{
    static const struct { Keyword k; const char *what; } LISTS[] = {
        { K_NAMESPACES, "namespaces" }, { K_DATABASES, "namespaces" }, { K_SCHEMAS, "namespaces" }, { K_TABLES, "tables" },
        { K_VIEWS, "views" }, { K_CATALOGS, "catalogs" }, { K_FUNCTIONS, "functions" },
    };

    if (p_take2(p, K_MATERIALIZED, K_VIEWS)) {
        s->what = S("materialized views");
        p_show_scope(p, s);
        return true;
    }
    if (p_spark(p) && (p_is2(p, K_USER, K_FUNCTIONS) || p_is2(p, K_SYSTEM, K_FUNCTIONS) || p_is2(p, K_ALL, K_FUNCTIONS)))
        p_next(p);
    for (size_t i = 0; i < COUNT_OF(LISTS); i++)
        if (p_take(p, LISTS[i].k)) {
            s->what = str_c(LISTS[i].what);
            p_show_scope(p, s);
            return true;
        }
    if (p_take2(p, K_TABLE, K_EXTENDED)) {
        s->what = S("table extended");
        s->extended = 1;
        p_show_scope(p, s);
        if (p_is(p, K_PARTITION))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "SHOW TABLE EXTENDED … PARTITION is not supported");
        return true;
    }
    return false;
}

static bool show_object(Parser *p, Stmt *s)
{
    if (p_take2(p, K_CURRENT, K_NAMESPACE)) {
        s->what = S("current namespace");
    } else if (p_take2(p, K_CREATE, K_TABLE) || p_take2(p, K_CREATE, K_VIEW)) {
        s->what = S("create table");
        p_stmt_name(p, s);
        if (p_take2(p, K_AS, K_SERDE))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "AS SERDE is not supported");
    } else if (p_take3(p, K_CREATE, K_MATERIALIZED, K_VIEW)) {
        s->what = S("create materialized view");
        p_stmt_name(p, s);
    } else if (p_take(p, K_TBLPROPERTIES)) {
        s->what = S("tblproperties");
        p_stmt_name(p, s);
        if (p_is_op(p, '('))
            p_prop_keys(p, &s->props);
    } else if (p_take(p, K_COLUMNS)) {
        s->what = S("columns");
        if (!p_take(p, K_IN))
            p_need(p, K_FROM);
        p_stmt_name(p, s);
        if (p_take(p, K_IN) || p_take(p, K_FROM))            /* SHOW COLUMNS IN t IN ns */
            p_name(p, &s->target);
    } else if (p_take(p, K_PARTITIONS)) {
        s->what = S("partitions");
        p_stmt_name(p, s);
        if (p_is(p, K_PARTITION))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "SHOW PARTITIONS … PARTITION is not supported");
    } else {
        return false;
    }
    return true;
}

static Stmt *show_setting(Parser *p, Stmt *s)
{
    StrVec parts = {0};

    s->kind = ST_SHOW_SETTING;
    if (p_take3(p, K_TRANSACTION, K_ISOLATION, K_LEVEL)) {
        s->setting = S("transaction_isolation");
        return s;
    }
    if (p_take2(p, K_TIME, K_ZONE)) {
        s->setting = S("timezone");
        return s;
    }
    if (p_take2(p, K_SESSION, K_AUTHORIZATION)) {
        s->setting = S("session_authorization");
        return s;
    }
    do
        vec_push(p->a, &parts, p_label(p));
    while (p_take_op(p, '.'));
    s->setting = str_join(p->a, &parts, S("."));
    if (str_ieq(s->setting, S("all")))
        s->what = S("all");
    return s;
}

/* ---- DESCRIBE, EXPLAIN --------------------------------------------------------------------------------------------- */

Stmt *p_describe(Parser *p)
{
    Stmt *s = s_new(p, ST_DESCRIBE);

    p_next(p);
    if (p_take(p, K_QUERY) || (!p_is(p, K_TABLE) && p_query_starts(p, 0))) {
        s->what = S("query");
        p_query_as_text(p, s);
        return s;
    }
    if (p_take(p, K_NAMESPACE) || p_take(p, K_DATABASE) || p_take(p, K_SCHEMA)) {
        s->what = S("namespace");
    } else if (p_take(p, K_FUNCTION)) {
        s->what = S("function");
    } else if (p_take2(p, K_MATERIALIZED, K_VIEW)) {
        s->what = S("materialized view");
    } else {
        s->what = S("table");
        p_take(p, K_TABLE);
    }
    if ((p_is(p, K_EXTENDED) || p_is(p, K_FORMATTED)) && !p_is_op_at(p, 1, '.')) {
        p_next(p);
        s->extended = 1;
    }
    s->position = p_pos(p);
    TableRef *t = p_table_name(p);
    s->name = t->name;
    s->as_of = t->as_of;
    if (str_eq(s->what, S("table")) && p_is_ident(p, 0) && !p_is(p, K_PARTITION) && !p_is(p, K_AS)) {   /* one column: its path */
        if (p_take2(p, K_AS, K_JSON))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "AS JSON is not supported");
        p_name(p, &s->column_names);
    }
    return s;
}

/* ( ANALYZE, FORMAT json, COSTS off ) */
static void explain_options(Parser *p, Stmt *s)
{
    if (!p_take_op(p, '('))
        return;
    do {
        Str option = p_label(p), value = S("true");
        if (!p_is_op(p, ',') && !p_is_op(p, ')')) {
            value = p_is_kind(p, TK_STRING) || p_is_kind(p, TK_NUMBER) ? p_peek(p, 0)->text : str_lower(p->a, p_peek(p, 0)->text);
            p_next(p);
        }
        if (str_ieq(option, S("analyze")))
            s->analyze = !str_eq(value, S("false")) && !str_eq(value, S("off"));
        else if (str_ieq(option, S("verbose")))
            s->extended = 1;
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}

static bool explainable(StmtKind k)
{
    return k == ST_QUERY || k == ST_INSERT || k == ST_UPDATE || k == ST_DELETE || k == ST_MERGE || k == ST_CREATE_TABLE ||
           k == ST_CREATE_VIEW || k == ST_CREATE_MV || k == ST_REFRESH_MV || k == ST_EXECUTE || k == ST_DECLARE;
}

Stmt *p_explain(Parser *p)
{
    Stmt *s = s_new(p, ST_EXPLAIN);

    p_need(p, K_EXPLAIN);
    if (p_postgres(p) && lp_explain(p, s))
        return s;
    if (!p_spark(p) && p_is_op(p, '(') && !p_query_starts(p, 1) && !p_is_op_at(p, 1, '('))
        explain_options(p, s);
    for (;;) {
        if (p_take(p, K_EXTENDED) || p_take(p, K_VERBOSE))
            s->extended = 1;
        else if (p_take(p, K_ANALYZE))
            s->analyze = 1;
        else if (p_is(p, K_FORMATTED) || p_is(p, K_COST) || p_is(p, K_CODEGEN) || p_is(p, K_LOGICAL) || p_is(p, K_PLAN))
            p_next(p);
        else
            break;
    }
    if (!p_enter(p))
        return s;
    if (p_is(p, K_EXPLAIN))
        p_syntax(p);
    int from = p_pos(p) - 1;
    s->inner = p_stmt(p);
    s->inner->start = from;
    s->inner->end = p_last_end(p);
    if (!explainable(s->inner->kind))
        P_FAIL(p, E_UNSUPPORTED, from + 1, "EXPLAIN takes a query or a statement that changes data");
    p_leave(p);
    return s;
}

/* ---- CALL, USE ------------------------------------------------------------------------------------------------------ */

/* CALL cat.system.proc(a => 1, 'x') */
Stmt *p_call_stmt(Parser *p)
{
    Stmt *s = s_new(p, ST_CALL);

    p_need(p, K_CALL);
    p_stmt_name(p, s);
    p_need_op(p, '(');
    while (!p_is_op(p, ')')) {
        Assign x = {0};
        if ((p_is_kind(p, TK_WORD) || p_is_kind(p, TK_QUOTED)) && p_is_op_at(p, 1, O_FAT_ARROW)) {
            vec_push(p->a, &x.column, p_label(p));
            p->at++;
        }
        x.value = p_expr(p);
        vec_push(p->a, &s->call_args, x);
        if (!p_take_op(p, ','))
            break;
    }
    p_need_op(p, ')');
    return s;
}

Stmt *p_use(Parser *p)
{
    Stmt *s = s_new(p, ST_USE);

    p_need(p, K_USE);
    s->what = S("namespace");
    if (p_is(p, K_CATALOG) && p_is_ident(p, 1)) {
        p_next(p);
        s->what = S("catalog");
    } else if ((p_is(p, K_NAMESPACE) || p_is(p, K_DATABASE) || p_is(p, K_SCHEMA)) && p_is_ident(p, 1)) {
        p_next(p);
    }
    p_stmt_name(p, s);
    return s;
}

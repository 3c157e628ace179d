/* SPDX-License-Identifier: Apache-2.0 */
/* parse_live_show.c - SHOW of the live side's objects, EXPLAIN's stages and objects. */
#include "sql/parse_live_int.h"

/* [FROM schema] [IN CLUSTER c] [ON relation] [LIKE 'p' | WHERE cond] */
static void scope(Parser *p, Stmt *s)
{
    LiveStmt *l = s->live;

    for (;;) {
        if (lp_is(p, "IN CLUSTER") && !l->cluster.n)
            lp_in_cluster(p, l);
        else if (!s->name.n && (p_is(p, K_FROM) || p_is(p, K_IN)))
            p_next(p), p_stmt_name(p, s);
        else if (!l->from.n && p_is(p, K_ON))
            p_next(p), p_name(p, &l->from);
        else
            break;
    }
    if (p_take(p, K_LIKE) || p_is_kind(p, TK_STRING))
        s->pattern = p_string(p);
    else if (p_take(p, K_WHERE))
        s->where = p_expr(p);
}

/* The words of the statement and what they become; those of the lake keep its words, the kind says the rest. */
static const struct { const char *words, *what; LiveKind kind; } LISTS[] = {
    { "SECRETS", "secrets", LK_SECRET }, { "CONNECTIONS", "connections", LK_CONNECTION }, { "SINKS", "sinks", LK_SINK }, { "SOURCES", "sources", LK_SOURCE },
    { "SUBSOURCES", "subsources", LK_SOURCE }, { "CLUSTER REPLICAS", "cluster replicas", LK_REPLICA }, { "CLUSTERS", "clusters", LK_CLUSTER }, { "INDEXES", "indexes", LK_INDEX },
    { "INDEX", "indexes", LK_INDEX }, { "KEYS", "indexes", LK_INDEX }, { "ROLES", "roles", LK_ROLE }, { "TYPES", "types", LK_TYPE }, { "OBJECTS", "objects", LK_NONE },
    { "DATABASES", "namespaces", LK_DATABASE }, { "SCHEMAS", "namespaces", LK_SCHEMA }, { "NAMESPACES", "namespaces", LK_SCHEMA }, { "TABLES", "tables", LK_TABLE },
    { "VIEWS", "views", LK_VIEW }, { "MATERIALIZED VIEWS", "materialized views", LK_MVIEW }, { "NETWORK POLICIES", "network policies", LK_NONE },
};

static bool list(Parser *p, Stmt *s)
{
    for (size_t i = 0; i < COUNT_OF(LISTS); i++)
        if (lp_take(p, LISTS[i].words)) {
            s->what = str_c(LISTS[i].what);
            lp_live(p, s, LV_ALTER, LISTS[i].kind)->redacted = 0;
            scope(p, s);
            return true;
        }
    return false;
}

/* PRIVILEGES [ON kind] [FOR role], DEFAULT PRIVILEGES …, ROLE MEMBERSHIP [FOR role] */
static bool rights(Parser *p, Stmt *s)
{
    static const char *const RIGHTS[] = { "PRIVILEGES", "DEFAULT PRIVILEGES", "ROLE MEMBERSHIP" };
    LiveStmt *l;

    for (size_t i = 0; i < COUNT_OF(RIGHTS); i++)
        if (lp_take(p, RIGHTS[i])) {
            s->what = str_lower(p->a, str_c(RIGHTS[i]));
            l = lp_live(p, s, LV_ALTER, LK_NONE);
            if (p_take(p, K_ON) && (l->kind = lp_kind_plural(p)) == LK_NONE && (l->kind = lp_kind(p)) == LK_NONE)
                p_syntax(p);
            if (p_take(p, K_FOR))
                lp_roles(p, &l->roles);
            scope(p, s);
            return true;
        }
    return false;
}

/* [REDACTED] CREATE kind name */
static bool create(Parser *p, Stmt *s)
{
    bool redacted = lp_is(p, "REDACTED CREATE");

    if (!redacted && !p_is(p, K_CREATE))
        return false;
    p->at += redacted ? 2 : 1;
    LiveKind kind = lp_kind(p);
    if (kind == LK_NONE)
        p_syntax(p);
    s->what = kind == LK_TABLE || kind == LK_VIEW ? S("create table") : kind == LK_MVIEW ? S("create materialized view") : S("create");
    lp_live(p, s, LV_ALTER, kind)->redacted = redacted;
    p_stmt_name(p, s);
    return true;
}

static bool columns(Parser *p, Stmt *s)
{
    if (!lp_take(p, "COLUMNS"))
        return false;
    s->what = S("columns");
    lp_live(p, s, LV_ALTER, LK_COLUMN);
    if (!p_take(p, K_IN))
        p_need(p, K_FROM);
    p_stmt_name(p, s);
    if (p_take(p, K_IN) || p_take(p, K_FROM))            /* SHOW COLUMNS IN t IN ns */
        p_name(p, &s->target);
    scope(p, s);
    return true;
}

bool lp_show(Parser *p, Stmt *s)
{
    if (lp_is(p, "EXTENDED FULL") || (lp_is(p, "EXTENDED") && !p_at_end(p) && p_peek(p, 1)->kind == TK_WORD))
        s->extended = lp_take(p, "EXTENDED");
    if (lp_is(p, "FULL") && p_peek(p, 1)->kind == TK_WORD)
        s->full = lp_take(p, "FULL");
    return list(p, s) || rights(p, s) || create(p, s) || columns(p, s);
}

/* ---- EXPLAIN ------------------------------------------------------------------------------------------------------------------------ */

static void stage(Parser *p, Stmt *s)
{
    static const struct { const char *words, *what; } STAGES[] = {
        { "RAW PLAN", "raw plan" }, { "DECORRELATED PLAN", "decorrelated plan" }, { "LOCALLY OPTIMIZED PLAN", "locally optimized plan" }, { "OPTIMIZED PLAN", "optimized plan" },
        { "PHYSICAL PLAN", "physical plan" }, { "PLAN INSIGHTS", "plan insights" }, { "PLAN", "" }, { "TIMESTAMP", "timestamp" }, { "FILTER PUSHDOWN", "filter pushdown" },
        { "KEY SCHEMA", "key schema" }, { "VALUE SCHEMA", "value schema" }, { "ANALYZE CPU, MEMORY", "" },
    };

    for (size_t i = 0; i < COUNT_OF(STAGES); i++)
        if (lp_take(p, STAGES[i].words)) {
            s->what = str_c(STAGES[i].what);
            break;
        }
}

/* ANALYZE CPU|MEMORY [, …] [WITH SKEW] FOR INDEX|MATERIALIZED VIEW x */
static bool analyze(Parser *p, Stmt *s)
{
    if (!lp_is(p, "ANALYZE CPU") && !lp_is(p, "ANALYZE MEMORY") && !lp_is(p, "ANALYZE CLUSTER") && !lp_is(p, "ANALYZE HINTS"))
        return false;
    p_next(p);
    s->what = str_cat(p->a, S("analyze "), str_lower(p->a, p_label(p)));
    if (p_take_op(p, ','))
        s->what = str_cat(p->a, str_cat(p->a, s->what, S(", ")), str_lower(p->a, p_label(p)));
    lp_take(p, "WITH SKEW");
    return true;
}

/* The object's name, when an object is explained. */
static bool object(Parser *p, Stmt *s)
{
    static const LiveKind KINDS[] = { LK_MVIEW, LK_VIEW, LK_INDEX };

    lp_take(p, "REPLAN");
    for (size_t i = 0; i < COUNT_OF(KINDS); i++)
        if (lp_take(p, live_kind_words(KINDS[i]))) {
            lp_live(p, s, LV_ALTER, KINDS[i]);
            p_stmt_name(p, s);
            return true;
        }
    return false;
}

bool lp_explain(Parser *p, Stmt *s)
{
    if (!analyze(p, s))
        stage(p, s);
    LiveStmt x = {0};
    if (p_is(p, K_WITH) && p_is_op_at(p, 1, '(') && lp_option_starts(p, 2, LIVE_OPT_EXPLAIN))
        lp_with(p, LIVE_OPT_EXPLAIN, &x.with);
    if (lp_is(p, "AS TEXT") || lp_is(p, "AS JSON") || lp_is(p, "AS VERBOSE TEXT")) {
        p_next(p);
        lp_take(p, "VERBOSE");
        x.format.kind = p_label(p);
    }
    if (s->what.n || x.with.n || x.format.kind.n)
        p_take(p, K_FOR);
    else if (p_is(p, K_FOR))
        p_next(p);
    if (s->what.n || x.with.n || x.format.kind.n)
        *lp_live(p, s, LV_ALTER, LK_NONE) = x;
    return object(p, s);
}

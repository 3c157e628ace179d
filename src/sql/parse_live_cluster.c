/* SPDX-License-Identifier: Apache-2.0 */
/* parse_live_cluster.c - CREATE CLUSTER, CLUSTER REPLICA, INDEX, ROLE, TYPE; the clauses of CREATE MATERIALIZED VIEW that the live side has. */
#include "sql/parse_live_int.h"

/* ---- clusters ------------------------------------------------------------------------------------------------------------------- */

/* REPLICAS ( r1 (SIZE = 's'), … ) */
static void replicas(Parser *p, LiveStmt *l)
{
    l->has_replicas = 1;
    p_take_op(p, '=');
    p_need_op(p, '(');
    if (p_take_op(p, ')'))
        return;
    do {
        LiveReplica r = { .name = p_ident(p) };
        lp_options(p, LIVE_OPT_REPLICA, &r.options);
        lp_room(p, l->replicas.n);
        vec_push(p->a, &l->replicas, r);
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}

/* Options with or without parentheses, REPLICAS among them. */
void lp_create_cluster(Parser *p, Stmt *s)
{
    p_if_not_exists(p, s);
    p_stmt_name(p, s);
    bool list = p_take_op(p, '(');
    do {
        if (!s->live->has_replicas && lp_take(p, "REPLICAS"))
            replicas(p, s->live);
        else
            lp_options_bare(p, LIVE_OPT_CLUSTER, &s->live->options);
    } while (!p->status && (p_take_op(p, ',') || lp_is(p, "REPLICAS")));
    if (list)
        p_need_op(p, ')');
}

void lp_create_replica(Parser *p, Stmt *s)
{
    p_if_not_exists(p, s);
    p_stmt_name(p, s);
    if (s->name.n != 2)
        p_syntax(p);
    lp_options_any(p, LIVE_OPT_REPLICA, &s->live->options);
}

/* ---- indexes ---------------------------------------------------------------------------------------------------------------------- */

static void index_keys(Parser *p, LiveStmt *l)
{
    p_need_op(p, '(');
    do {
        int from = p_pos(p) - 1;
        lp_room(p, l->exprs.n);
        vec_push(p->a, &l->exprs, p_expr(p));
        vec_push(p->a, &l->expr_texts, p_text(p, from, p_last_end(p)));
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}

/* [name] [IN CLUSTER c] ON relation [USING ARRANGEMENT] (…) [WITH (…)]; a default index has no keys. */
void lp_create_index(Parser *p, Stmt *s)
{
    LiveStmt *l = s->live;

    p_if_not_exists(p, s);
    if (!lp_is(p, "IN CLUSTER") && !p_is(p, K_ON))
        p_stmt_name(p, s);
    lp_in_cluster(p, l);
    p_need(p, K_ON);
    p_name(p, &l->from);
    if (p_take(p, K_USING))
        lp_need(p, "ARRANGEMENT");
    if (!l->is_default)
        index_keys(p, l);
    lp_with(p, LIVE_OPT_INDEX, &l->with);
}

/* ---- roles, types -------------------------------------------------------------------------------------------------------------------- */

/* [WITH] INHERIT NOLOGIN … : no commas */
void lp_create_role(Parser *p, Stmt *s)
{
    p_if_not_exists(p, s);
    p_stmt_name(p, s);
    if (s->name.n > 1)
        p_syntax(p);
    p_take(p, K_WITH);
    while (!p_at_end(p) && !p->status)
        lp_options_bare(p, LIVE_OPT_ROLE, &s->live->options);
}

/* AS LIST ( … ) | MAP ( … ) | ( a int, … ) */
void lp_create_type(Parser *p, Stmt *s)
{
    p_stmt_name(p, s);
    p_need(p, K_AS);
    if (lp_take(p, "LIST")) {
        s->live->type = S("list");
        lp_options(p, LIVE_OPT_LIST_TYPE, &s->live->options);
    } else if (lp_take(p, "MAP")) {
        s->live->type = S("map");
        lp_options(p, LIVE_OPT_MAP_TYPE, &s->live->options);
    } else {
        s->live->type = S("record");
        p_need_op(p, '(');
        do {
            lp_room(p, s->columns.n);
            p_column_def(p, &s->columns);
        } while (p_take_op(p, ','));
        p_need_op(p, ')');
    }
}

/* ---- materialized views ------------------------------------------------------------------------------------------------------------------ */

void lp_mview_clause(Parser *p, Stmt *s)
{
    LiveStmt *l = lp_live(p, s, LV_CREATE, LK_MVIEW);

    if (l->replacement) {
        p_need(p, K_FOR);
        p_name(p, &l->from);
    }
    if (p_is_op(p, '('))
        p_ident_list(p, &s->column_names);
    lp_in_cluster(p, l);
    if (p_is(p, K_WITH) && p_is_op_at(p, 1, '('))
        lp_with(p, LIVE_OPT_MVIEW, &l->with);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* parse_live_alter.c - ALTER of the live side's objects, of relations where only the live side has the form, ALTER SYSTEM, COMMENT ON. */
#include "sql/parse_live_int.h"

static void to_name(Parser *p, LiveStmt *l, LiveAlter alter)
{
    l->alter = alter;
    p_name(p, &l->to);
}

/* RENAME TO x | OWNER TO r | SWAP WITH x */
static bool common(Parser *p, LiveStmt *l)
{
    if (lp_take(p, "RENAME TO")) {
        to_name(p, l, ALTER_RENAME);
    } else if (lp_take(p, "OWNER TO")) {
        l->alter = ALTER_OWNER;
        vec_push(p->a, &l->to, lp_role(p));
    } else if ((l->kind == LK_CLUSTER || l->kind == LK_SCHEMA) && lp_take(p, "SWAP WITH")) {
        to_name(p, l, ALTER_SWAP);
    } else {
        return false;
    }
    return true;
}

/* SET ( … ) | RESET ( … ) | DROP ( … ), several by commas */
static bool set_options(Parser *p, LiveStmt *l, LiveOptionNames known)
{
    bool any = false;

    do {
        if (p_is(p, K_SET) && p_is_op_at(p, 1, '(')) {
            p_next(p);
            lp_options(p, known, &l->options);
            l->alter = ALTER_SET;
        } else if (p_is(p, K_SET) && lp_option_starts(p, 1, known) && l->kind == LK_CONNECTION) {      /* SET HOST = 'x' */
            p_next(p);
            LiveOptions one = {0};
            lp_options_bare(p, known, &one);
            for vec_each(LiveOption, o, &one)
                lp_push(p, &l->options, *o);
            l->alter = ALTER_SET;
        } else if (p_is(p, K_RESET) || p_is(p, K_DROP)) {
            p_next(p);
            lp_option_names(p, known, &l->drop);
            l->alter = l->options.n ? ALTER_SET : ALTER_RESET;
        } else {
            if (any)
                p_syntax(p);
            return any;
        }
        any = true;
    } while (p_take_op(p, ','));
    return true;
}

static void secret(Parser *p, LiveStmt *l)
{
    l->alter = ALTER_SECRET_AS;
    p_need(p, K_AS);
    l->value = p_expr(p);
}

static void connection(Parser *p, LiveStmt *l)
{
    if (lp_take(p, "ROTATE KEYS"))
        l->alter = ALTER_ROTATE_KEYS;
    else if (!set_options(p, l, LIVE_OPT_CONNECTION))
        p_syntax(p);
    lp_with(p, LIVE_OPT_VALIDATE, &l->with);
}

static void sink(Parser *p, LiveStmt *l)
{
    if (lp_take(p, "SET FROM")) {
        l->alter = ALTER_SET_FROM;
        p_name(p, &l->from);
    } else if (!set_options(p, l, LIVE_OPT_SINK)) {
        p_syntax(p);
    }
}

/* ADD SUBSOURCE|TABLE a.b AS c, … [WITH (…)] | DROP SUBSOURCE|TABLE a, … | REFRESH REFERENCES | SET (…) */
static void source(Parser *p, Stmt *s)
{
    LiveStmt *l = s->live;

    if (lp_take(p, "ADD SUBSOURCE") || lp_take(p, "ADD TABLE")) {
        l->alter = ALTER_ADD_REFERENCES;
        lp_references(p, l);
        lp_with(p, LIVE_OPT_TABLE, &l->with);
    } else if (lp_take(p, "DROP SUBSOURCE") || lp_take(p, "DROP TABLE")) {
        l->alter = ALTER_DROP_REFERENCES;
        p_if_exists(p, s);
        lp_names(p, &l->also);
        s->cascade = p_take(p, K_CASCADE);
        if (!s->cascade)
            p_take(p, K_RESTRICT);
    } else if (lp_take(p, "REFRESH REFERENCES")) {
        l->alter = ALTER_REFRESH_REFERENCES;
    } else if (!set_options(p, l, LIVE_OPT_SOURCE)) {
        p_syntax(p);
    }
}

static void cluster(Parser *p, LiveStmt *l)
{
    if (!set_options(p, l, LIVE_OPT_CLUSTER))
        p_syntax(p);
    lp_with(p, LIVE_OPT_CLUSTER_WITH, &l->with);
}

/* x = v | x TO v | x TO DEFAULT */
static void setting(Parser *p, LiveStmt *l)
{
    StrVec parts = {0}, values = {0};

    p_name(p, &parts);
    l->setting = str_join(p->a, &parts, S("."));
    if (!p_take(p, K_TO))
        p_need_op(p, '=');
    if (p_take(p, K_DEFAULT)) {
        l->setting_reset = 1;
        return;
    }
    do
        vec_push(p->a, &values, p_setting_value(p));
    while (p_take_op(p, ','));
    l->setting_value = str_join(p->a, &values, S(", "));
}

static void role(Parser *p, LiveStmt *l)
{
    if (p_take(p, K_SET)) {
        l->alter = ALTER_ROLE_SET;
        setting(p, l);
        return;
    }
    if (p_take(p, K_RESET)) {
        l->alter = ALTER_ROLE_SET;
        l->setting = p_label(p);
        l->setting_reset = 1;
        return;
    }
    l->alter = ALTER_ROLE_OPTIONS;
    p_take(p, K_WITH);
    do
        lp_options_bare(p, LIVE_OPT_ROLE, &l->options);
    while (!p_at_end(p) && !p->status);
}

static Stmt *alter_system(Parser *p)
{
    Stmt *s = lp_new(p, LV_ALTER, LK_SYSTEM);
    LiveStmt *l = s->live;

    if (p_take(p, K_SET)) {
        l->alter = ALTER_SYSTEM_SET;
        setting(p, l);
    } else {
        p_need(p, K_RESET);
        l->alter = ALTER_SYSTEM_RESET;
        l->setting = p_take(p, K_ALL) ? S("all") : p_label(p);
    }
    return s;
}

static void by_kind(Parser *p, Stmt *s)
{
    switch (s->live->kind) {
    case LK_SECRET: secret(p, s->live); break;
    case LK_CONNECTION: connection(p, s->live); break;
    case LK_SINK: sink(p, s->live); break;
    case LK_SOURCE: source(p, s); break;
    case LK_CLUSTER: cluster(p, s->live); break;
    case LK_ROLE: role(p, s->live); break;
    case LK_INDEX:
        if (set_options(p, s->live, LIVE_OPT_INDEX))
            break;
        /* fall through */
    default: p_syntax(p);
    }
}

Stmt *lp_alter(Parser *p)
{
    static const LiveKind ALTERS[] = { LK_REPLICA, LK_CLUSTER, LK_ROLE, LK_SECRET, LK_CONNECTION, LK_SOURCE, LK_SINK, LK_INDEX, LK_TYPE };

    if (lp_take(p, "SYSTEM"))
        return alter_system(p);
    if (lp_take(p, "DEFAULT PRIVILEGES"))
        return lp_default_privileges(p);
    for (size_t i = 0; i < COUNT_OF(ALTERS); i++)
        if (lp_take(p, live_kind_words(ALTERS[i])) || (ALTERS[i] == LK_ROLE && lp_take(p, "USER"))) {
            Stmt *s = lp_new(p, LV_ALTER, ALTERS[i]);
            p_if_exists(p, s);
            p_stmt_name(p, s);
            if (!common(p, s->live))
                by_kind(p, s);
            return s;
        }
    return NULL;
}

/* ---- relations and schemas ---------------------------------------------------------------------------------------------------------- */

/* SET (…), RESET (…), SET CLUSTER, SET SCHEMA, SWAP WITH, APPLY REPLACEMENT */
bool lp_alter_relation(Parser *p, Stmt *s, LiveKind kind)
{
    LiveStmt x = { .verb = LV_ALTER, .kind = kind };

    if (lp_take(p, "SET CLUSTER")) {
        p_take_op(p, '=');
        to_name(p, &x, ALTER_SET_CLUSTER);
    } else if (kind != LK_SCHEMA && kind != LK_DATABASE && lp_take(p, "SET SCHEMA")) {
        to_name(p, &x, ALTER_SET_SCHEMA);
    } else if (kind == LK_SCHEMA && lp_take(p, "SWAP WITH")) {
        to_name(p, &x, ALTER_SWAP);
    } else if (kind == LK_MVIEW && lp_take(p, "APPLY REPLACEMENT")) {
        to_name(p, &x, ALTER_APPLY_REPLACEMENT);
    } else if (!((p_is(p, K_SET) && p_is_op_at(p, 1, '(')) || p_is(p, K_RESET)) || !set_options(p, &x, kind == LK_MVIEW ? LIVE_OPT_MVIEW : LIVE_OPT_TABLE)) {
        return false;
    }
    s->kind = ST_LIVE;
    *lp_live(p, s, LV_ALTER, kind) = x;
    return true;
}

void lp_alter_noted(Parser *p, Stmt *s, LiveKind kind)
{
    LiveStmt *l = lp_live(p, s, LV_ALTER, kind);
    const AlterAction *x = s->actions.n ? &s->actions.p[0] : NULL;

    if (!x)
        return;
    if (x->kind == AT_RENAME)
        l->alter = ALTER_RENAME;
    else if (x->kind == AT_SET_OWNER)
        l->alter = ALTER_OWNER;
    else if (x->kind == AT_ADD_COLUMNS)
        l->alter = ALTER_ADD_COLUMN;
    l->to = x->new_name;
    s->if_not_exists = x->if_not_exists;
    s->columns = x->columns;
}

/* ---- COMMENT ON of what the lake has not ----------------------------------------------------------------------------------------------- */

Stmt *lp_comment(Parser *p)
{
    static const LiveKind KINDS[] = { LK_REPLICA, LK_CLUSTER, LK_ROLE, LK_SECRET, LK_CONNECTION, LK_SOURCE, LK_SINK, LK_INDEX, LK_TYPE };

    for (size_t i = 0; i < COUNT_OF(KINDS); i++)
        if (lp_take(p, live_kind_words(KINDS[i]))) {
            Stmt *s = lp_new(p, LV_COMMENT, KINDS[i]);
            p_stmt_name(p, s);
            p_need(p, K_IS);
            if (!p_take(p, K_NULL))
                p_comment(p, s);
            return s;
        }
    return NULL;
}

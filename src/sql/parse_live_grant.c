/* SPDX-License-Identifier: Apache-2.0 */
/* parse_live_grant.c - GRANT and REVOKE of privileges and roles, ALTER DEFAULT PRIVILEGES.
 *
 * GRANT a, b … may name privileges or roles: what ON follows are privileges. */
#include "sql/parse_live_int.h"

static const char *const PRIVILEGES[] = { "SELECT", "INSERT", "UPDATE", "DELETE", "USAGE", "CREATEROLE", "CREATEDB", "CREATECLUSTER", "CREATENETWORKPOLICY", "CREATE" };

static void privileges(Parser *p, StrVec *ret)
{
    if (lp_take(p, "ALL")) {
        lp_take(p, "PRIVILEGES");
        vec_push(p->a, ret, S("ALL"));
        return;
    }
    do {
        size_t n = ret->n;
        for (size_t i = 0; i < COUNT_OF(PRIVILEGES) && ret->n == n; i++)
            if (lp_take(p, PRIVILEGES[i]))
                vec_push(p->a, ret, str_c(PRIVILEGES[i]));
        if (ret->n == n)
            p_syntax(p);
        lp_room(p, ret->n);
    } while (p_take_op(p, ','));
}

/* Privileges stand here, not roles: the list ends in ON. */
static bool is_privileges(Parser *p)
{
    size_t i = 0;

    while (p_peek(p, i)->kind == TK_WORD || p_peek(p, i)->kind == TK_QUOTED || p_is_op_at(p, i, ',')) {
        if (p_is_at(p, i, K_ON))
            return i > 0;
        if (p_is_at(p, i, K_TO) || p_is_at(p, i, K_FROM))
            return false;
        if (i++ > 4 * LIVE_LIST_MAX)
            return false;
    }
    return p_is_op_at(p, i, '(');                          /* SELECT (a): of columns */
}

/* IN SCHEMA a, b | IN DATABASE a, b */
static void containers(Parser *p, LiveStmt *l)
{
    if (lp_take(p, "IN SCHEMA"))
        l->in_kind = LK_SCHEMA;
    else if (lp_take(p, "IN DATABASE"))
        l->in_kind = LK_DATABASE;
    else
        return;
    lp_names(p, &l->containers);
}

static void on(Parser *p, LiveStmt *l)
{
    p_need(p, K_ON);
    if (p_take(p, K_ALL)) {
        l->all_in = 1;
        l->kind = lp_kind_plural(p);
        if (l->kind == LK_NONE || l->kind == LK_SYSTEM)
            p_syntax(p);
        containers(p, l);
        return;
    }
    l->kind = lp_kind(p);
    if (l->kind == LK_SYSTEM)
        return;
    if (l->kind == LK_NONE)
        l->kind = LK_TABLE;
    lp_names(p, &l->objects);
}

static void to_or_from(Parser *p, bool revoke, LiveStmt *l)
{
    if (revoke)
        p_need(p, K_FROM);
    else
        p_need(p, K_TO);
    lp_roles(p, &l->grantees);
}

Stmt *lp_grant(Parser *p)
{
    bool revoke = p_is_word_like(p, "REVOKE");
    Stmt *s = s_new(p, revoke ? ST_REVOKE : ST_GRANT);
    LiveStmt *l = lp_live(p, s, LV_ALTER, LK_NONE);

    p_next(p);
    if (is_privileges(p)) {
        privileges(p, &l->privileges);
        if (p_is_op(p, '('))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "column privileges are not supported");
        on(p, l);
    } else {
        l->kind = LK_ROLE;
        lp_roles(p, &l->roles);
    }
    to_or_from(p, revoke, l);
    if (p_is2(p, K_WITH, K_GRANT) || lp_is(p, "WITH ADMIN"))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "WITH GRANT OPTION and WITH ADMIN OPTION are not supported");
    if (!p_take(p, K_CASCADE))
        p_take(p, K_RESTRICT);
    return s;
}

/* FOR ROLE a, b | FOR ALL ROLES */
static void for_roles(Parser *p, LiveStmt *l)
{
    if (lp_take(p, "FOR ALL ROLES")) {
        l->for_all_roles = 1;
    } else if (p_take(p, K_FOR)) {
        if (!lp_take(p, "ROLE"))
            lp_need(p, "USER");
        lp_roles(p, &l->for_roles);
    }
}

Stmt *lp_default_privileges(Parser *p)
{
    Stmt *s = s_new(p, ST_GRANT);
    LiveStmt *l = lp_live(p, s, LV_ALTER, LK_NONE);

    l->default_privileges = 1;
    for_roles(p, l);
    containers(p, l);
    bool revoke = p_is_word_like(p, "REVOKE");
    if (revoke) {
        s->kind = ST_REVOKE;
        p_next(p);
    } else {
        p_need(p, K_GRANT);
    }
    privileges(p, &l->privileges);
    p_need(p, K_ON);
    l->kind = lp_kind_plural(p);
    if (l->kind == LK_NONE || l->kind == LK_SYSTEM)
        p_syntax(p);
    to_or_from(p, revoke, l);
    return s;
}

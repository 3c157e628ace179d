/* SPDX-License-Identifier: Apache-2.0 */
/* pg_named.c - a connection's prepared statements and portals by name.
 *
 * Lists, as there are few of each.  Invariant: a portal keeps its statement's session handle only while the statement lives:
 * freeing a statement frees its portals. */
#include "door/pg/pg_int.h"

#include <stdio.h>

Status pg_fail_state(Error *err, Status s, const char *sqlstate)
{
    snprintf(err->sqlstate, sizeof err->sqlstate, "%s", sqlstate);
    return s;
}

Status pg_violation(const char *message, Error *err)
{
    RAISE(err, E_INVALID, "invalid %s message", message);
    return pg_fail_state(err, E_INVALID, "08P01");
}

PgStatement *pg_statement_of(const PgConn *c, Str name)
{
    for (PgStatement *s = c->statements; s; s = s->next)
        if (str_eq(s->name, name))
            return s;
    return NULL;
}

PgPortal *pg_portal_of(const PgConn *c, Str name)
{
    for (PgPortal *p = c->portals; p; p = p->next)
        if (str_eq(p->name, name))
            return p;
    return NULL;
}

void pg_portal_free(PgConn *c, PgPortal *p)
{
    PgPortal **at = &c->portals;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    c->nportals--;
    pg_cursor_close(&p->cursor);
    arena_destroy(p->arena);
}

void pg_statement_free(PgConn *c, PgStatement *s)
{
    PgStatement **at = &c->statements;

    for (PgPortal *p = c->portals, *next; p; p = next) {
        next = p->next;
        if (p->statement == s)
            pg_portal_free(c, p);
    }
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    c->nstatements--;
    if (!s->empty && c->door->hooks.unprepare)
        c->door->hooks.unprepare(c->session, &s->prepared);
    arena_destroy(s->arena);
}

void pg_drop_portals(PgConn *c)
{
    while (c->portals)
        pg_portal_free(c, c->portals);
}

void pg_drop_statements(PgConn *c)
{
    while (c->statements)
        pg_statement_free(c, c->statements);
}

void pg_drop_unnamed(PgConn *c)
{
    PgStatement *s = pg_statement_of(c, S(""));
    PgPortal *p = pg_portal_of(c, S(""));

    if (p)
        pg_portal_free(c, p);                               /* the statement may be another, and live on */
    if (s)
        pg_statement_free(c, s);
}

Status pg_forget(PgConn *c, const PgCursor *cur, Error *err)
{
    PgStatement *s = pg_statement_of(c, cur->forget);

    c->text = (Str){ 0 };                                /* may be the statement's */
    if (cur->forget_all)
        pg_drop_statements(c);
    else if (s)
        pg_statement_free(c, s);
    if (cur->forget_all || s)
        return OK;
    RAISE(err, E_NOT_FOUND, "prepared statement \"" STR_FMT "\" does not exist", STR_ARG(str_sub(cur->forget, 0, 100)));
    return pg_fail_state(err, E_NOT_FOUND, "26000");
}

Status pg_find_statement(PgConn *c, Str name, PgStatement **ret, Error *err)
{
    *ret = pg_statement_of(c, name);
    if (*ret)
        return OK;
    if (name.n)
        RAISE(err, E_NOT_FOUND, "prepared statement \"" STR_FMT "\" does not exist", STR_ARG(str_sub(name, 0, 100)));
    else
        RAISE(err, E_NOT_FOUND, "unnamed prepared statement does not exist");
    return pg_fail_state(err, E_NOT_FOUND, "26000");
}

Status pg_no_portal(Str name, Error *err)
{
    RAISE(err, E_NOT_FOUND, "portal \"" STR_FMT "\" does not exist", STR_ARG(str_sub(name, 0, 100)));
    return pg_fail_state(err, E_NOT_FOUND, "34000");
}

Status pg_find_portal(PgConn *c, Str name, PgPortal **ret, Error *err)
{
    *ret = pg_portal_of(c, name);
    return *ret ? OK : pg_no_portal(name, err);
}

void pg_keep_statement(PgConn *c, PgStatement *s)
{
    s->next = c->statements;
    c->statements = s;
    c->nstatements++;
}

void pg_keep_portal(PgConn *c, PgPortal *p)
{
    p->next = c->portals;
    c->portals = p;
    c->nportals++;
}

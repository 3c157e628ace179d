/* SPDX-License-Identifier: Apache-2.0 */
/* live_text.c - the statement that makes an object as it is now: for SHOW CREATE, create_sql of the catalog's relations.
 *
 * What is kept (Object.create_sql) is read again, and names that may have changed since are put in: the object's own, its cluster's, a definition's.  Objects of earlier versions
 * have no text: theirs is made from their columns. */
#include "service/live_sql.h"

static StrVec one_name(Arena *a, Str name)
{
    StrVec v = {0};
    vec_push(a, &v, name);
    return v;
}

static void column_defs(Arena *a, const Object *o, ColumnDefs *ret)
{
    for vec_each(ObjColumn, c, &o->columns) {
        ColumnDef d = { .name = c->name, .type = c->type, .not_null = c->not_null, .default_text = c->default_sql.n || !c->default_.n ? c->default_sql : sql_lit_str(a, c->default_) };
        vec_push(a, ret, d);
    }
}

static void from_columns(Service *s, Arena *a, const Object *o, Stmt *st, LiveStmt *l)
{
    st->live = l;
    l->verb = LV_CREATE;
    st->name = live_parts(a, o);
    st->query_text = o->definition;
    st->kind = o->kind == OBJ_TABLE ? ST_CREATE_TABLE : o->kind == OBJ_VIEW ? ST_CREATE_VIEW : ST_CREATE_MV;
    if (o->kind == OBJ_MVIEW && o->cluster.n)
        l->cluster = one_name(a, realm_cluster_name(s->realm, a, o->cluster));
    if (o->kind == OBJ_TABLE)
        column_defs(a, o, &st->columns);
}

static Status from_text(Service *s, Arena *a, const Object *o, Stmt **ret, Error *err)
{
    StmtVec all = {0};

    TRY_CTX(sql_parse(a, DIALECT_POSTGRES, o->create_sql, &all, err), err, "the statement of \"" STR_FMT "\"", STR_ARG(o->name));
    if (all.n != 1)
        return FAIL(err, E_CORRUPT, "the statement of \"" STR_FMT "\" is not one statement", STR_ARG(o->name));
    Stmt *st = all.p[0];
    st->name = live_parts(a, o);
    if (o->definition.n)
        st->query_text = o->definition;
    if (st->live && o->cluster.n)
        st->live->cluster = one_name(a, realm_cluster_name(s->realm, a, o->cluster));
    *ret = st;
    return OK;
}

Status live_text(Service *s, Arena *a, const Object *o, LiveTextHow how, Str *ret, Error *err)
{
    LiveStmt *l = arena_new(a, LiveStmt);
    Stmt *st = arena_new(a, Stmt);

    if (live_hooks(o->kind)->text)
        return live_hooks(o->kind)->text(s, a, o, how, ret, err);
    if (o->create_sql.n)
        TRY(from_text(s, a, o, &st, err));
    else
        from_columns(s, a, o, st, l);
    *ret = sql_live_text(a, st, how);
    return OK;
}

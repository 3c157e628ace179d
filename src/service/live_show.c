/* SPDX-License-Identifier: Apache-2.0 */
/* live_show.c - SHOW in a session of database materialize, in Materialize's columns, by name. */
#include "live/live.h"
#include "service/live_sql.h"

#include <stdlib.h>

typedef struct ShowWhat { const char *what; int kinds; int with_type; } ShowWhat;

static const ShowWhat lists[] = {
    { "tables", 1 << OBJ_TABLE, 0 }, { "views", 1 << OBJ_VIEW, 0 }, { "materialized views", 1 << OBJ_MVIEW, 0 }, { "objects", 1 << OBJ_TABLE | 1 << OBJ_VIEW | 1 << OBJ_MVIEW, 1 },
};

/* FROM schema, or the first of the search path; false: it is a place of the lake. */
static bool schema_of(Run *r, Str *ret)
{
    StrVec path = {0};

    if (r->st->name.n) {
        *ret = vec_last(&r->st->name);
        return realm_has_schema(r->svc->realm, r->st->name.n == 1 ? live_database(r) : r->st->name.p[0], *ret);
    }
    live_search_path(r, &path);
    *ret = path.n ? path.p[0] : (Str){0};
    return path.n > 0;
}

static int by_name(const void *x, const void *y) { return str_cmp(((const Object *)x)->name, ((const Object *)y)->name); }

static Status show_list(Run *r, Rows *rows, const ShowWhat *w, Str schema, Error *err)
{
    ObjectVec all = {0};

    TRY(live_ask_schema(r, 'U', live_database(r), schema, err));
    rows_column(rows, "name", DT_STRING);
    rows_column(rows, w->with_type ? "type" : "comment", DT_STRING);
    objects_list(r->svc->objects, r->a, &all);
    if (all.n)
        qsort(all.p, all.n, sizeof *all.p, by_name);
    for (size_t i = 0; i < all.n; i++) {
        const Object *o = &all.p[i];
        if (!(w->kinds & 1 << o->kind) || !str_eq(o->schema, schema) || (r->st->pattern.n && !str_like(o->name, r->st->pattern)))
            continue;
        Value *row = rows_row(rows);
        cell_str(rows, row, 0, o->name);
        cell_str(rows, row, 1, w->with_type ? str_c(obj_kind_name(o->kind)) : o->comment);
    }
    return OK;
}

static Status show_columns(Run *r, Rows *rows, const Object *o, Error *err)
{
    TRY(live_ask(r, 0, o, err));
    rows_column(rows, "name", DT_STRING);
    rows_column(rows, "nullable", DT_BOOL);
    rows_column(rows, "type", DT_STRING);
    for (size_t i = 0; i < o->columns.n; i++) {
        Value *row = rows_row(rows);
        cell_str(rows, row, 0, o->columns.p[i].name);
        cell_bool(rows, row, 1, !o->columns.p[i].not_null);
        cell_str(rows, row, 2, o->columns.p[i].type_name);
    }
    return OK;
}

static Str create_text(Run *r, const Object *o)
{
    StrBuf b = sb_new(r->a);
    Str full = str_fmt(r->a, STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(o->database), STR_ARG(o->schema), STR_ARG(o->name));

    if (o->kind != OBJ_TABLE) {
        sb_fmt(&b, "CREATE %sVIEW " STR_FMT " AS " STR_FMT ";", o->kind == OBJ_MVIEW ? "MATERIALIZED " : "", STR_ARG(full), STR_ARG(o->definition));
        return sb_str(&b);
    }
    sb_fmt(&b, "CREATE TABLE " STR_FMT " (", STR_ARG(full));
    for (size_t i = 0; i < o->columns.n; i++) {
        const ObjColumn *c = &o->columns.p[i];
        sb_addc(&b, i ? ", " : "");
        sql_ident(&b, c->name);
        sb_fmt(&b, " " STR_FMT "%s", STR_ARG(c->type_name), c->not_null ? " NOT NULL" : "");
        if (c->default_.n)
            sb_fmt(&b, " DEFAULT " STR_FMT, STR_ARG(sql_lit_str(r->a, c->default_)));
    }
    sb_addc(&b, ");");
    return sb_str(&b);
}

static Status show_create(Run *r, Rows *rows, const Object *o, Error *err)
{
    TRY(live_ask(r, 0, o, err));
    rows_column(rows, "name", DT_STRING);
    rows_column(rows, "create_sql", DT_STRING);
    Value *row = rows_row(rows);
    cell_str(rows, row, 0, str_fmt(r->a, STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(o->database), STR_ARG(o->schema), STR_ARG(o->name)));
    cell_str(rows, row, 1, create_text(r, o));
    return OK;
}

Status live_show(Run *r, Rows *rows, LiveDone *ret, Error *err)
{
    Str what = r->st->what, schema;
    Object o;
    Error absent;

    ret->done = 0;
    if (!live_speaks(r))
        return OK;
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        if (str_eq(what, str_c(lists[i].what)) && schema_of(r, &schema)) {
            ret->done = 1;
            return show_list(r, rows, &lists[i], schema, err);
        }
    bool columns = str_eq(what, S("columns")), create = str_starts(what, S("create "));
    if ((!columns && !create) || live_find_object(r, r->a, &r->st->name, &o, &absent) != OK)
        return OK;
    ret->done = 1;
    return columns ? show_columns(r, rows, &o, err) : show_create(r, rows, &o, err);
}

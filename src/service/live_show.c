/* SPDX-License-Identifier: Apache-2.0 */
/* live_show.c - SHOW on the live side, in Materialize's columns, by name: lists of objects, columns, SHOW CREATE. */
#include "service/live_show_int.h"

#include <stdlib.h>

/* ---- where it looks ------------------------------------------------------------------------------------------------------------- */

/* FROM schema, or the first of the search path; false: it is a place of the lake. */
static bool place_of(Run *r, LiveName *ret)
{
    StrVec path = {0};
    const StrVec *name = &r->st->name;

    *ret = (LiveName){ .database = live_database(r) };
    if (name->n) {
        ret->database = name->n > 1 ? name->p[name->n - 2] : ret->database;
        ret->schema = vec_last(name);
        return name->n <= 2 && realm_has_schema(r->svc->realm, ret->database, ret->schema);
    }
    live_search_path(r, &path);
    for vec_each(Str, s, &path)
        if (realm_has_schema(r->svc->realm, ret->database, *s)) {
            ret->schema = *s;
            return true;
        }
    return false;
}

bool show_wants(const Run *r, Str name) { return !r->st->pattern.n || str_like(name, r->st->pattern); }

/* ---- lists of objects -------------------------------------------------------------------------------------------------------------- */

enum { WITH_TYPE = 1, WITH_CLUSTER = 2 };
typedef struct ShowWhat { const char *what; int kinds, with; } ShowWhat;

static const ShowWhat lists[] = {
    { "tables", 1 << OBJ_TABLE, 0 }, { "views", 1 << OBJ_VIEW, 0 }, { "materialized views", 1 << OBJ_MVIEW, WITH_CLUSTER }, { "sources", 1 << OBJ_SOURCE, WITH_TYPE | WITH_CLUSTER },
    { "sinks", 1 << OBJ_SINK, WITH_TYPE | WITH_CLUSTER }, { "connections", 1 << OBJ_CONNECTION, WITH_TYPE }, { "secrets", 1 << OBJ_SECRET, 0 }, { "types", 1 << OBJ_TYPE, 0 },
    { "objects", (1 << OBJ_KINDS) - 1, WITH_TYPE },
};

static int by_name(const void *x, const void *y) { return str_cmp(((const Object *)x)->name, ((const Object *)y)->name); }

void show_objects(Run *r, ObjectVec *ret)
{
    objects_list(r->svc->objects, r->a, ret);
    if (ret->n)
        qsort(ret->p, ret->n, sizeof *ret->p, by_name);
}

static Status wanted_cluster(Run *r, Str *id, Error *err)
{
    const LiveStmt *l = r->st->live;
    RealmCluster c;

    *id = (Str){0};
    if (!l || !l->cluster.n)
        return OK;
    TRY(realm_cluster(r->svc->realm, r->a, l->cluster.p[0], &c, err));
    *id = c.id;
    return OK;
}

static void object_row(Run *r, Rows *rows, const Object *o, const ShowWhat *w)
{
    Value *row = rows_row(rows);
    size_t at = 0;

    cell_str(rows, row, at++, o->name);
    if (w->with & WITH_TYPE)
        cell_str(rows, row, at++, w->kinds == (1 << OBJ_KINDS) - 1 ? str_c(obj_kind_name(o->kind)) : o->type);
    if (w->with & WITH_CLUSTER) {
        if (o->cluster.n)
            cell_str(rows, row, at, realm_cluster_name(r->svc->realm, r->a, o->cluster));
        at++;
    }
    cell_str(rows, row, at, o->comment);
}

static Status show_list(Run *r, Rows *rows, const ShowWhat *w, const LiveName *in, Error *err)
{
    ObjectVec all = {0};
    Str cluster;

    TRY(live_ask_schema(r, 'U', in->database, in->schema, err));
    TRY(wanted_cluster(r, &cluster, err));
    rows_column(rows, "name", DT_STRING);
    if (w->with & WITH_TYPE)
        rows_column(rows, "type", DT_STRING);
    if (w->with & WITH_CLUSTER)
        rows_column(rows, "cluster", DT_STRING);
    rows_column(rows, "comment", DT_STRING);
    show_objects(r, &all);
    for (size_t i = 0; i < all.n; i++) {
        const Object *o = &all.p[i];
        bool here = str_eq(o->schema, in->schema) && str_eq(o->database, in->database);
        if (here && w->kinds & 1 << o->kind && (!cluster.n || str_eq(o->cluster, cluster)) && show_wants(r, o->name))
            object_row(r, rows, o, w);
    }
    return OK;
}

/* ---- subsources, indexes ---------------------------------------------------------------------------------------------------------------- */

static Status show_subsources(Run *r, Rows *rows, const LiveName *in, Error *err)
{
    const LiveStmt *l = r->st->live;
    ObjectVec all = {0};
    Object of = {0};

    if (l && l->from.n)
        TRY(live_need(r, &l->from, 1 << OBJ_SOURCE, 0, &of, err));
    rows_column(rows, "name", DT_STRING);
    rows_column(rows, "type", DT_STRING);
    show_objects(r, &all);
    for (size_t i = 0; i < all.n; i++) {
        const Object *o = &all.p[i];
        bool part = of.id ? live_is_part(o, &of) : str_eq(o->type, S("subsource")) || str_eq(o->type, S("progress"));
        if (o->kind != OBJ_SOURCE || !part || (!of.id && (!str_eq(o->schema, in->schema) || !str_eq(o->database, in->database))) || !show_wants(r, o->name))
            continue;
        Value *row = rows_row(rows);
        cell_str(rows, row, 0, o->name);
        cell_str(rows, row, 1, o->type);
    }
    return OK;
}

static Str key_array(Arena *a, const Object *index)
{
    const Json *keys = json_get(index->detail, "keys");
    StrBuf b = sb_new(a);

    sb_byte(&b, '{');
    for (size_t i = 0; i < json_len(keys); i++) {
        Str key = json_get_str(json_at(keys, i), "text", (Str){0});
        if (i)
            sb_byte(&b, ',');
        bool plain = key.n > 0;
        for (size_t k = 0; k < key.n; k++)
            plain &= key.p[k] == '_' || (key.p[k] >= 'a' && key.p[k] <= 'z') || (key.p[k] >= '0' && key.p[k] <= '9');
        if (plain)
            sb_add(&b, key);
        else
            sql_ident(&b, key);
    }
    sb_byte(&b, '}');
    return sb_str(&b);
}

static Status show_indexes(Run *r, Rows *rows, const LiveName *in, Error *err)
{
    const LiveStmt *l = r->st->live;
    ObjectVec all = {0};
    Object on = {0}, of;
    Error absent;
    Str cluster;

    TRY(wanted_cluster(r, &cluster, err));
    if (l && l->from.n)
        TRY(live_need(r, &l->from, 1 << OBJ_TABLE | 1 << OBJ_VIEW | 1 << OBJ_MVIEW | 1 << OBJ_SOURCE, 0, &on, err));
    static const char *const columns[] = { "name", "on", "cluster", "key", "comment" };
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        rows_column(rows, columns[i], DT_STRING);
    show_objects(r, &all);
    for (size_t i = 0; i < all.n; i++) {
        const Object *o = &all.p[i];
        bool here = on.id ? live_is_part(o, &on) : str_eq(o->schema, in->schema) && str_eq(o->database, in->database);
        if (o->kind != OBJ_INDEX || !here || (cluster.n && !str_eq(o->cluster, cluster)) || !show_wants(r, o->name))
            continue;
        Value *row = rows_row(rows);
        cell_str(rows, row, 0, o->name);
        if (objects_get(r->svc->objects, r->a, json_get_int(o->detail, "on", 0), &of, &absent) == OK)
            cell_str(rows, row, 1, of.name);
        cell_str(rows, row, 2, realm_cluster_name(r->svc->realm, r->a, o->cluster));
        cell_str(rows, row, 3, key_array(r->a, o));
        cell_str(rows, row, 4, o->comment);
    }
    return OK;
}

/* ---- one object ---------------------------------------------------------------------------------------------------------------------------- */

static Status show_columns(Run *r, Rows *rows, const Object *o, Error *err)
{
    TRY(live_ask(r, 0, o, err));
    rows_column(rows, "name", DT_STRING);
    rows_column(rows, "nullable", DT_BOOL);
    rows_column(rows, "type", DT_STRING);
    rows_column(rows, "comment", DT_STRING);
    for (size_t i = 0; i < o->columns.n; i++) {
        const ObjColumn *c = &o->columns.p[i];
        if (!show_wants(r, c->name))
            continue;
        Value *row = rows_row(rows);
        cell_str(rows, row, 0, c->name);
        cell_bool(rows, row, 1, !c->not_null);
        cell_str(rows, row, 2, c->type_name);
        cell_str(rows, row, 3, props_get(&o->column_comments, c->name, (Str){0}));
    }
    return OK;
}

static ObjKind wanted_kind(const Run *r)
{
    static const ObjKind kinds[LK_KINDS] = {
        [LK_TABLE] = OBJ_TABLE, [LK_VIEW] = OBJ_VIEW, [LK_MVIEW] = OBJ_MVIEW, [LK_SOURCE] = OBJ_SOURCE, [LK_SINK] = OBJ_SINK, [LK_INDEX] = OBJ_INDEX,
        [LK_CONNECTION] = OBJ_CONNECTION, [LK_SECRET] = OBJ_SECRET, [LK_TYPE] = OBJ_TYPE,
    };
    LiveKind k = r->st->live ? r->st->live->kind : LK_NONE;
    return k == LK_TABLE || (k < LK_KINDS && kinds[k]) ? kinds[k] : OBJ_KINDS;
}

static Status show_create(Run *r, Rows *rows, const Object *o, Error *err)
{
    ObjKind wanted = wanted_kind(r);
    LiveTextHow how = r->st->live && r->st->live->redacted ? LIVE_TEXT_REDACTED : LIVE_TEXT_WHOLE;
    Str text;

    if (wanted != OBJ_KINDS && wanted != o->kind)
        return live_wrong_kind(r, o, "SHOW CREATE", wanted, err);
    TRY(live_ask(r, 0, o, err));
    TRY(live_text(r->svc, r->a, o, how, &text, err));
    rows_column(rows, "name", DT_STRING);
    rows_column(rows, "create_sql", DT_STRING);
    Value *row = rows_row(rows);
    cell_str(rows, row, 0, live_full(r->a, o));
    cell_str(rows, row, 1, str_cat(r->a, text, S(";")));
    return OK;
}

static Status show_one(Run *r, Rows *rows, LiveDone *ret, Error *err)
{
    bool columns = str_eq(r->st->what, S("columns"));
    Object o;
    Error absent;

    if (!columns && !str_starts(r->st->what, S("create")))
        return OK;
    if (!columns && r->st->live && r->st->live->kind == LK_CLUSTER) {
        ret->done = 1;
        return show_create_cluster(r, rows, err);
    }
    ret->done = live_find_object(r, r->a, &r->st->name, &o, &absent) == OK;
    if (!ret->done && str_eq(r->st->what, S("create"))) {         /* the lake has no such kinds */
        ret->done = 1;
        return live_refuse(FAIL(err, E_NOT_FOUND, "unknown catalog item '" STR_FMT "'", STR_ARG(str_join(r->a, &r->st->name, S(".")))), "42704", err);
    }
    if (!ret->done)
        return OK;
    return columns ? show_columns(r, rows, &o, err) : show_create(r, rows, &o, err);
}

/* ---- the statement ---------------------------------------------------------------------------------------------------------------------------- */

static Status show(Run *r, Rows *rows, LiveDone *ret, Error *err)
{
    LiveName in;

    ret->done = show_realm(r, rows, err);
    if (ret->done)
        return ret->done < 0 ? err->code : OK;
    bool here = place_of(r, &in);
    for (size_t i = 0; here && i < COUNT_OF(lists); i++)
        if (str_eq(r->st->what, str_c(lists[i].what))) {
            ret->done = 1;
            return show_list(r, rows, &lists[i], &in, err);
        }
    if (here && (str_eq(r->st->what, S("subsources")) || str_eq(r->st->what, S("indexes")))) {
        ret->done = 1;
        return str_eq(r->st->what, S("indexes")) ? show_indexes(r, rows, &in, err) : show_subsources(r, rows, &in, err);
    }
    return show_one(r, rows, ret, err);
}

Status live_show(Run *r, Rows *rows, LiveDone *ret, Error *err)
{
    ret->done = 0;
    if (!live_speaks(r))
        return OK;
    TRY(show(r, rows, ret, err));
    return ret->done && r->st->where ? show_where(r, rows, err) : OK;
}

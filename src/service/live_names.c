/* SPDX-License-Identifier: Apache-2.0 */
/* live_names.c - names of the live side, bound: tables and materialized views are relations of live/, plain views are bound in their place. */
#include "live/live.h"
#include "service/live_sql.h"

static bool speaks_live(const Run *r) { return r->ss->dialect == DIALECT_POSTGRES && str_eq(r->ss->database, S(LIVE_DATABASE)); }

static void search_path(Run *r, StrVec *ret)
{
    StrVec parts = {0};

    str_split(r->a, setting_get(r->ss, S("search_path"), S("public")), ',', &parts);
    for vec_each(Str, p, &parts) {
        Str one = str_trim(*p);
        if (one.n >= 2 && one.p[0] == '"')
            one = str_sub(one, 1, one.n - 1);
        if (one.n && !str_eq(one, S("$user")))
            vec_push(r->a, ret, one);
    }
}

bool live_name_new(Run *r, const StrVec *parts, LiveName *ret)
{
    StrVec path = {0};

    if (!speaks_live(r) || !parts->n || parts->n > 3)
        return false;
    *ret = (LiveName){ .database = S(LIVE_DATABASE), .name = vec_last(parts) };
    if (parts->n == 3 && !str_eq(parts->p[0], ret->database))
        return false;
    if (parts->n >= 2) {
        ret->schema = parts->p[parts->n - 2];
        return parts->n == 3 || str_eq(ret->schema, S("public"));
    }
    search_path(r, &path);
    ret->schema = path.n ? path.p[0] : S("public");
    return true;
}

static Status find_along(Run *r, Arena *a, const StrVec *path, Str name, Object *ret, Error *err)
{
    for vec_each(Str, schema, path)
        if (objects_find(r->svc->objects, a, S(LIVE_DATABASE), *schema, name, ret, err) == OK)
            return OK;
    return FAIL(err, E_NOT_FOUND, "relation \"" STR_FMT "\" does not exist", STR_ARG(name));
}

Status live_find_object(Run *r, Arena *a, const StrVec *parts, Object *ret, Error *err)
{
    StrVec path = {0};

    if (!speaks_live(r) || !parts->n || parts->n > 3 || (parts->n == 3 && !str_eq(parts->p[0], S(LIVE_DATABASE))))
        return FAIL(err, E_NOT_FOUND, "no such name");
    if (parts->n > 1)
        return objects_find(r->svc->objects, a, S(LIVE_DATABASE), parts->p[parts->n - 2], vec_last(parts), ret, err);
    search_path(r, &path);
    return find_along(r, a, &path, vec_last(parts), ret, err);
}

Status live_ask(Run *r, const char *api, const Object *o, Error *err)
{
    if (r->ss->principal.kind == PR_ROOT && !r->ss->principal.scope)
        return OK;
    RAISE(err, E_DENIED, "permission denied for %s \"" STR_FMT "." STR_FMT "." STR_FMT "\": %s on database " LIVE_DATABASE " is the account root's", obj_kind_name(o->kind), STR_ARG(o->database),
          STR_ARG(o->schema), STR_ARG(o->name), api);
    memcpy(err->sqlstate, "42501", 6);
    return E_DENIED;
}

/* ---- binding ---------------------------------------------------------------------------------------------------------- */

static Str display_of(Arena *a, const Object *o) { return str_fmt(a, STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(o->database), STR_ARG(o->schema), STR_ARG(o->name)); }

static void bind_relation(Arena *a, const Object *o, BoundTable **ret)
{
    BoundTable *t = arena_new(a, BoundTable);

    *t = (BoundTable){ .id = live_source_id(a, o->id), .display = display_of(a, o) };
    for (size_t i = 0; i < o->columns.n; i++) {
        const ObjColumn *c = &o->columns.p[i];
        BoundColumn b = { .name = c->name, .engine = c->engine, .type = c->type, .nullable = !c->not_null, .field_id = (int32_t)i + 1 };
        vec_push(a, &t->columns, b);
    }
    *ret = t;
}

enum { VIEW_DEPTH = 32 };

/* In its own place, with its own parameters: none. */
static Status bind_definition(Run *r, Arena *a, const Object *o, Query **q, Error *err)
{
    Binder b;

    TRY(sql_parse_query(a, DIALECT_POSTGRES, o->definition, q, err));
    run_binder(r, &b);
    b.dialect = DIALECT_POSTGRES;
    b.params = NULL;
    b.text = o->definition;
    return sql_bind_query(a, &b, *q, err);
}

static Status bind_view(Run *r, Arena *a, const Object *o, BoundTable **ret, Error *err)
{
    BoundTable *t = arena_new(a, BoundTable);

    if (++r->view_depth > VIEW_DEPTH)
        return FAIL(err, E_LIMIT, "views are nested deeper than %d levels", VIEW_DEPTH);
    Status s = bind_definition(r, a, o, &t->view, err);
    r->view_depth--;
    if (s != OK)
        return error_context(err, "view \"" STR_FMT "\"", STR_ARG(o->name)), s;
    t->id = live_source_id(a, o->id);
    t->display = display_of(a, o);
    t->columns = t->view->columns;
    for (size_t i = 0; i < t->columns.n && i < o->columns.n; i++)
        t->columns.p[i].name = o->columns.p[i].name;
    *ret = t;
    return OK;
}

static void note_use(Run *r, int64_t id)
{
    for (size_t i = 0; i < r->live_used.n; i++)
        if (r->live_used.p[i] == id)
            return;
    vec_push(r->a, &r->live_used, id);
}

Status live_resolve(Run *r, Arena *a, const TableRef *ref, BoundTable **ret, Error *err)
{
    Object o;

    TRY(live_find_object(r, a, &ref->name, &o, err));
    TRY(live_ask(r, "SELECT", &o, err));
    TRY(live_tx_may_read(r->ss, err));
    if (ref->as_of.has)
        return FAIL(err, E_UNSUPPORTED, "\"" STR_FMT "\" keeps no history: AS OF is for tables of the lake", STR_ARG(o.name));
    if (!r->view_depth)
        note_use(r, o.id);
    if (o.kind == OBJ_VIEW)
        return bind_view(r, a, &o, ret, err);
    bind_relation(a, &o, ret);
    return OK;
}

bool live_is_table(const BoundTable *t, int64_t *id) { return str_starts(t->id, S("live:")) && str_to_i64(str_from(t->id, 5), id); }

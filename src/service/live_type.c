/* SPDX-License-Identifier: Apache-2.0 */
/* live_type.c - CREATE TYPE: names for lists, maps and records, and what those names mean in later statements.
 *
 * detail: {"category": "list"|"map"|"record", "type": what it stands for, "data-type": the same as objects_type.c keeps it; older ones have no "data-type"}.
 * A column of such a type has all of it in its own document: it needs the type's name for show and its number for pg_type, nothing else. */
#include "service/live_sql.h"
#include "service/mzcatalog_int.h"
#include "service/objects_int.h"

/* ---- names -------------------------------------------------------------------------------------------------------- */

static void note_type(Run *r, const MadeType *name, const Object *o)
{
    LiveRef at = { .position = name->position, .parts = name->parts.n, .id = o->id };

    if (r->view_depth)
        return;
    vec_push(r->a, &r->live_types, o->id);
    for (size_t i = 0; i < r->live_refs.n; i++)
        if (r->live_refs.p[i].position == at.position)
            return;
    vec_push(r->a, &r->live_refs, at);
}

static Status meaning(Arena *a, const Object *o, DataType *ret, Error *err)
{
    const Json *kept = json_get(o->detail, "data-type");

    if (kept)
        return object_type_of(a, kept, ret, err);
    return sql_parse_type(a, DIALECT_POSTGRES, json_get_str(o->detail, "type", (Str){0}), ret, err);
}

Status live_resolve_type(void *run, Arena *a, const MadeType *name, DataType *ret, Error *err)
{
    MadeType *m = arena_new(a, MadeType);
    Run *r = run;
    Object o;

    TRY(live_find_object(r, a, &name->parts, &o, err));
    if (o.kind != OBJ_TYPE)
        return E_NOT_FOUND;
    TRY(live_ask(r, 'U', &o, err));
    note_type(r, name, &o);
    TRY(meaning(a, &o, ret, err));
    *m = (MadeType){ .name = live_full(a, &o), .oid = mz_object_oid(o.id), .parts = live_parts(a, &o) };
    ret->made = m;
    return OK;
}

static Status resolve_options(Run *r, const Binder *b, LiveOptions *options, Error *err)
{
    for (size_t i = 0; i < options->n; i++)
        if (options->p[i].kind == OPT_TYPE) {
            TRY(sql_resolve_type(r->a, b, &options->p[i].type, err));
            if (options->p[i].type.made)
                options->p[i].names = options->p[i].type.made->parts;
        }
    return OK;
}

Status live_resolve_types(Run *r, Error *err)
{
    const Stmt *st = r->st;
    Binder b;

    if (r->dialect != DIALECT_POSTGRES)
        return OK;
    run_binder(r, &b);
    for (size_t i = 0; i < st->columns.n; i++)
        TRY(sql_resolve_type(r->a, &b, &st->columns.p[i].type, err));
    for (size_t i = 0; i < st->actions.n; i++)
        for (size_t k = 0; k < st->actions.p[i].columns.n; k++)
            TRY(sql_resolve_type(r->a, &b, &st->actions.p[i].columns.p[k].type, err));
    return st->live ? resolve_options(r, &b, &st->live->options, err) : OK;
}

/* ---- CREATE TYPE ------------------------------------------------------------------------------------------------------ */

static Status option_type(Run *r, const char *name, DataType *ret, Error *err)
{
    const LiveOption *o = live_option(&r->st->live->options, name);

    if (!o)
        return live_refuse(FAIL(err, E_INVALID, "%s must be specified", name), "22023", err);
    *ret = o->type;
    return OK;
}

static DataType *one(Arena *a, DataType t)
{
    DataType *p = arena_new(a, DataType);
    *p = t;
    return p;
}

static Status list_type(Run *r, DataType *ret, Error *err)
{
    DataType element = {0};

    TRY(option_type(r, "ELEMENT TYPE", &element, err));
    *ret = (DataType){ .kind = DT_LIST, .nchildren = 1, .children = one(r->a, element), .mark = MARK_LIST };
    return OK;
}

static Status map_type(Run *r, DataType *ret, Error *err)
{
    DataType key, value;

    TRY(option_type(r, "KEY TYPE", &key, err));
    TRY(option_type(r, "VALUE TYPE", &value, err));
    if (key.kind != DT_STRING)
        return live_refuse(FAIL(err, E_INVALID, "CREATE TYPE ... AS MAP: KEY TYPE must be text"), "22023", err);
    DataType *both = arena_array(r->a, DataType, 2);
    both[0] = key;
    both[1] = value;
    *ret = (DataType){ .kind = DT_MAP, .nchildren = 2, .children = both, .mark = MARK_MAP };
    return OK;
}

static Status record_type(Run *r, Object *o, DataType *ret, Error *err)
{
    const ColumnDefs *c = &r->st->columns;
    DataType *parts = arena_array(r->a, DataType, c->n + 1);
    Str *names = arena_array(r->a, Str, c->n + 1);

    for (size_t i = 0; i < c->n; i++) {
        ObjColumn column = { .name = c->p[i].name, .type = c->p[i].type, .type_name = sql_type_name(r->a, DIALECT_POSTGRES, &c->p[i].type) };
        parts[i] = c->p[i].type;
        names[i] = c->p[i].name;
        vec_push(r->a, &o->columns, column);
    }
    *ret = (DataType){ .kind = DT_STRUCT, .nchildren = c->n, .children = parts, .names = names };
    (void)err;
    return OK;
}

static Str text_of(Run *r, const Object *o)
{
    LiveStmt l = *r->st->live;
    Stmt st = { .kind = ST_LIVE, .live = &l, .name = live_parts(r->a, o), .columns = r->st->columns };
    return sql_live_text(r->a, &st, LIVE_TEXT_WHOLE);
}

Status live_create_type(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    Str category = r->st->live->type;
    LivePlace p;
    DataType t;

    ret->done = 1;
    TRY(live_place(r, OBJ_TYPE, &p, err));
    if (p.done)
        return OK;
    Object o = live_object(r, OBJ_TYPE, &p.name);
    TRY(str_eq(category, S("list")) ? list_type(r, &t, err) : str_eq(category, S("map")) ? map_type(r, &t, err) : record_type(r, &o, &t, err));
    o.type = category;
    o.detail = json_object(r->a);
    json_set(r->a, o.detail, "category", json_str(r->a, category));
    json_set(r->a, o.detail, "type", json_str(r->a, sql_type_name(r->a, DIALECT_POSTGRES, &t)));
    json_set(r->a, o.detail, "data-type", object_type_json(r->a, &t));
    o.create_sql = text_of(r, &o);
    return live_store(r, &o, 1, LIVE_CREATED, err);
}

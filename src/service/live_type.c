/* SPDX-License-Identifier: Apache-2.0 */
/* live_type.c - CREATE TYPE: names for lists, maps and records.  detail: {"category": "list"|"map"|"record", "type": what it stands for}. */
#include "service/live_sql.h"

static Status option_type(Run *r, const char *name, DataType *ret, Error *err)
{
    const LiveOption *o = live_option(&r->st->live->options, name);

    if (!o)
        return live_refuse(FAIL(err, E_INVALID, "%s must be specified", name), "22023", err);
    if (o->names.n)
        return live_refuse(FAIL(err, E_UNSUPPORTED, "a type of types that were created is not yet supported: type \"" STR_FMT "\"", STR_ARG(str_join(r->a, &o->names, S(".")))), "0A000", err);
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
    DataType element;

    TRY(option_type(r, "ELEMENT TYPE", &element, err));
    *ret = (DataType){ .kind = DT_LIST, .nchildren = 1, .children = one(r->a, element) };
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
    *ret = (DataType){ .kind = DT_MAP, .nchildren = 2, .children = both };
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
    o.create_sql = text_of(r, &o);
    return live_store(r, &o, 1, LIVE_CREATED, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* objects_doc.c - objects as documents and back, and copied.  What earlier versions did not write is empty. */
#include "service/objects_int.h"
#include "service/realm_int.h"
#include "sql/sql.h"

static void set_text(Arena *a, Json *j, const char *key, Str text)
{
    if (text.n)
        json_set(a, j, key, json_str(a, text));
}

static Json *column_json(Arena *a, const ObjColumn *c)
{
    Json *j = json_object(a);
    json_set(a, j, "name", json_str(a, c->name));
    json_set(a, j, "engine", json_str(a, c->engine));
    json_set(a, j, "type", json_str(a, c->type_name));
    json_set(a, j, "data-type", object_type_json(a, &c->type));
    json_set(a, j, "not-null", json_bool(a, c->not_null));
    if (c->default_.n)
        json_set(a, j, "default", json_str(a, c->default_));
    set_text(a, j, "default-sql", c->default_sql);
    return j;
}

Json *object_json(Arena *a, const Object *o)
{
    Json *j = json_object(a), *cols = json_array(a), *uses = json_array(a);

    json_set(a, j, "id", json_int(a, o->id));
    json_set(a, j, "kind", json_str(a, str_c(obj_kind_name(o->kind))));
    json_set(a, j, "database", json_str(a, o->database));
    json_set(a, j, "schema", json_str(a, o->schema));
    json_set(a, j, "name", json_str(a, o->name));
    json_set(a, j, "owner", json_str(a, o->owner));
    json_set(a, j, "definition", json_str(a, o->definition));
    json_set(a, j, "comment", json_str(a, o->comment));
    json_set(a, j, "created-ms", json_int(a, o->created_ms));
    for (size_t i = 0; i < o->columns.n; i++)
        json_push(a, cols, column_json(a, &o->columns.p[i]));
    for (size_t i = 0; i < o->uses.n; i++)
        json_push(a, uses, json_int(a, o->uses.p[i]));
    json_set(a, j, "columns", cols);
    json_set(a, j, "uses", uses);
    set_text(a, j, "create-sql", o->create_sql);
    set_text(a, j, "cluster", o->cluster);
    set_text(a, j, "type", o->type);
    if (o->version)
        json_set(a, j, "version", json_int(a, o->version));
    if (o->detail)
        json_set(a, j, "detail", json_copy(a, o->detail));
    if (o->grants.n)
        json_set(a, j, "grants", realm_grants_json(a, &o->grants));
    if (o->column_comments.n)
        json_set(a, j, "column-comments", realm_props_json(a, &o->column_comments));
    return j;
}

static Str own(Arena *a, const Json *j, const char *key) { return str_dup(a, json_get_str(j, key, (Str){0})); }

static Status column_of(Arena *a, const Json *j, ObjColumn *ret, Error *err)
{
    const Json *type = json_get(j, "data-type");
    Error unknown;

    *ret = (ObjColumn){ .name = own(a, j, "name"), .engine = own(a, j, "engine"), .type_name = own(a, j, "type"), .default_ = own(a, j, "default"), .default_sql = own(a, j, "default-sql"), .not_null = json_get_bool(j, "not-null", false) };
    if (type)
        return object_type_of(a, type, &ret->type, err);
    if (sql_parse_type(a, DIALECT_POSTGRES, ret->type_name, &ret->type, &unknown) != OK)     /* of an earlier version, a name that is not read: no reason not to start */
        ret->type = (DataType){ .kind = DT_OTHER };
    return OK;
}

/* Earlier versions had the account root's ARN here: nobody else could make anything. */
static Str owner_of(Str owner) { return str_starts(owner, S("arn:")) || !owner.n ? S("u1") : owner; }

static void comments_of(Arena *a, const Json *j, const ObjColumns *cols, Props *ret)
{
    for vec_each(ObjColumn, c, cols) {
        Json *text = json_get_s(j, c->name);
        if (json_is(text, JSON_STRING))
            props_set(a, ret, c->name, str_dup(a, text->string));
    }
}

static void more_of(Arena *a, const Json *j, Object *ret)
{
    const Json *detail = json_get(j, "detail");

    ret->create_sql = own(a, j, "create-sql");
    ret->cluster = own(a, j, "cluster");
    ret->type = own(a, j, "type");
    ret->version = json_get_int(j, "version", 0);
    ret->detail = detail ? json_copy(a, detail) : NULL;
    realm_grants_of(a, json_get(j, "grants"), &ret->grants);
    comments_of(a, json_get(j, "column-comments"), &ret->columns, &ret->column_comments);
}

Status object_of(Arena *a, const Json *j, Object *ret, Error *err)
{
    Str kind = json_get_str(j, "kind", (Str){0});
    const Json *cols = json_get(j, "columns"), *uses = json_get(j, "uses");

    *ret = (Object){ .id = json_get_int(j, "id", 0), .kind = OBJ_KINDS, .database = own(a, j, "database"), .schema = own(a, j, "schema"), .name = own(a, j, "name"),
                     .owner = owner_of(own(a, j, "owner")), .definition = own(a, j, "definition"), .comment = own(a, j, "comment"), .created_ms = json_get_int(j, "created-ms", 0) };
    for (int k = 0; k < OBJ_KINDS; k++)
        if (str_eq(kind, str_c(obj_kind_name((ObjKind)k))))
            ret->kind = (ObjKind)k;
    if (ret->kind == OBJ_KINDS || ret->id <= 0)
        return FAIL(err, E_CORRUPT, "object '" STR_FMT "' is of unknown kind '" STR_FMT "'", STR_ARG(ret->name), STR_ARG(kind));
    for (size_t i = 0; i < json_len(cols); i++) {
        ObjColumn c;
        TRY_CTX(column_of(a, json_at(cols, i), &c, err), err, "object '" STR_FMT "'", STR_ARG(ret->name));
        vec_push(a, &ret->columns, c);
    }
    for (size_t i = 0; i < json_len(uses); i++)
        if (json_is(json_at(uses, i), JSON_INT))
            vec_push(a, &ret->uses, json_at(uses, i)->integer);
    more_of(a, j, ret);
    return OK;
}

Object object_copy(Arena *a, const Object *o)
{
    Object r = { .id = o->id, .kind = o->kind, .database = str_dup(a, o->database), .schema = str_dup(a, o->schema), .name = str_dup(a, o->name), .owner = str_dup(a, o->owner),
                 .definition = str_dup(a, o->definition), .comment = str_dup(a, o->comment), .created_ms = o->created_ms, .create_sql = str_dup(a, o->create_sql),
                 .cluster = str_dup(a, o->cluster), .type = str_dup(a, o->type), .version = o->version, .detail = o->detail ? json_copy(a, o->detail) : NULL };
    for vec_each(ObjGrant, g, &o->grants) {
        ObjGrant mine = { .grantee = str_dup(a, g->grantee), .grantor = str_dup(a, g->grantor), .letters = str_dup(a, g->letters) };
        vec_push(a, &r.grants, mine);
    }
    for vec_each(KeyValue, c, &o->column_comments)
        props_set(a, &r.column_comments, str_dup(a, c->key), str_dup(a, c->value));
    for (size_t i = 0; i < o->columns.n; i++) {
        const ObjColumn *c = &o->columns.p[i];
        ObjColumn mine = { .name = str_dup(a, c->name), .engine = str_dup(a, c->engine), .type_name = str_dup(a, c->type_name), .default_ = str_dup(a, c->default_), .default_sql = str_dup(a, c->default_sql),
                           .type = data_type_copy(a, &c->type), .not_null = c->not_null };
        vec_push(a, &r.columns, mine);
    }
    for (size_t i = 0; i < o->uses.n; i++)
        vec_push(a, &r.uses, o->uses.p[i]);
    return r;
}

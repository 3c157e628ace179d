/* SPDX-License-Identifier: Apache-2.0 */
/* duck_type.c - our types and the engine's, both ways, and their spelling in SQL. */
#include "duck/duck_int.h"

#include <stdlib.h>

/* ---- spelling --------------------------------------------------------------------------------------------- */

static const char *const simple[] = {
    [DT_INVALID] = "\"NULL\"", [DT_NULL] = "\"NULL\"", [DT_BOOL] = "BOOLEAN", [DT_INT8] = "TINYINT", [DT_INT16] = "SMALLINT",
    [DT_INT32] = "INTEGER", [DT_INT64] = "BIGINT", [DT_INT128] = "HUGEINT", [DT_UINT8] = "UTINYINT",
    [DT_UINT16] = "USMALLINT", [DT_UINT32] = "UINTEGER", [DT_UINT64] = "UBIGINT", [DT_UINT128] = "UHUGEINT",
    [DT_FLOAT] = "FLOAT", [DT_DOUBLE] = "DOUBLE", [DT_STRING] = "VARCHAR", [DT_BINARY] = "BLOB", [DT_DATE] = "DATE",
    [DT_TIME] = "TIME", [DT_TIMESTAMP] = "TIMESTAMP", [DT_TIMESTAMPTZ] = "TIMESTAMP WITH TIME ZONE",
    [DT_TIMESTAMP_NS] = "TIMESTAMP_NS", [DT_TIMETZ] = "TIME WITH TIME ZONE", [DT_INTERVAL] = "INTERVAL",
    [DT_UUID] = "UUID", [DT_JSON] = "JSON", [DT_ENUM] = "VARCHAR", [DT_OTHER] = "VARCHAR",
};

static void spell(StrBuf *b, const DataType *t)
{
    switch (t->kind) {
    case DT_DECIMAL:
        sb_fmt(b, "DECIMAL(%d,%d)", t->precision, t->scale);
        return;
    case DT_OTHER:                                                /* a name that nobody has looked up must not become a text */
        sb_addc(b, t->mark == MARK_NAMED ? "\"a type without a meaning\"" : simple[t->kind]);
        return;
    case DT_LIST:
        spell(b, &t->children[0]);
        sb_addc(b, "[]");
        return;
    case DT_MAP:
        sb_addc(b, "MAP(");
        spell(b, &t->children[0]);
        sb_addc(b, ", ");
        spell(b, &t->children[1]);
        sb_byte(b, ')');
        return;
    case DT_STRUCT:
        sb_addc(b, "STRUCT(");
        for (size_t i = 0; i < t->nchildren; i++) {
            if (i)
                sb_addc(b, ", ");
            sql_ident(b, t->names[i]);
            sb_byte(b, ' ');
            spell(b, &t->children[i]);
        }
        sb_byte(b, ')');
        return;
    default:
        sb_addc(b, simple[t->kind]);
    }
}

Str data_type_sql(Arena *a, const DataType *t)
{
    StrBuf b = sb_new(a);
    spell(&b, t);
    return sb_str(&b);
}

bool data_type_equal(const DataType *x, const DataType *y)
{
    if (x->kind != y->kind || x->nchildren != y->nchildren)
        return false;
    if (x->kind == DT_DECIMAL && (x->precision != y->precision || x->scale != y->scale))
        return false;
    for (size_t i = 0; i < x->nchildren; i++) {
        if (!data_type_equal(&x->children[i], &y->children[i]))
            return false;
        if (x->kind == DT_STRUCT && !str_eq(x->names[i], y->names[i]))
            return false;
    }
    return true;
}

/* ---- from the engine -------------------------------------------------------------------------------------- */

static const DataTypeKind kinds[] = {
    [DUCKDB_TYPE_BOOLEAN] = DT_BOOL, [DUCKDB_TYPE_TINYINT] = DT_INT8, [DUCKDB_TYPE_SMALLINT] = DT_INT16,
    [DUCKDB_TYPE_INTEGER] = DT_INT32, [DUCKDB_TYPE_BIGINT] = DT_INT64, [DUCKDB_TYPE_UTINYINT] = DT_UINT8,
    [DUCKDB_TYPE_USMALLINT] = DT_UINT16, [DUCKDB_TYPE_UINTEGER] = DT_UINT32, [DUCKDB_TYPE_UBIGINT] = DT_UINT64,
    [DUCKDB_TYPE_FLOAT] = DT_FLOAT, [DUCKDB_TYPE_DOUBLE] = DT_DOUBLE, [DUCKDB_TYPE_TIMESTAMP] = DT_TIMESTAMP,
    [DUCKDB_TYPE_DATE] = DT_DATE, [DUCKDB_TYPE_TIME] = DT_TIME, [DUCKDB_TYPE_INTERVAL] = DT_INTERVAL,
    [DUCKDB_TYPE_HUGEINT] = DT_INT128, [DUCKDB_TYPE_VARCHAR] = DT_STRING, [DUCKDB_TYPE_BLOB] = DT_BINARY,
    [DUCKDB_TYPE_DECIMAL] = DT_DECIMAL, [DUCKDB_TYPE_TIMESTAMP_S] = DT_TIMESTAMP, [DUCKDB_TYPE_TIMESTAMP_MS] = DT_TIMESTAMP,
    [DUCKDB_TYPE_TIMESTAMP_NS] = DT_TIMESTAMP_NS, [DUCKDB_TYPE_ENUM] = DT_ENUM, [DUCKDB_TYPE_LIST] = DT_LIST,
    [DUCKDB_TYPE_STRUCT] = DT_STRUCT, [DUCKDB_TYPE_MAP] = DT_MAP, [DUCKDB_TYPE_UUID] = DT_UUID,
    [DUCKDB_TYPE_UNION] = DT_OTHER, [DUCKDB_TYPE_BIT] = DT_OTHER, [DUCKDB_TYPE_TIME_TZ] = DT_TIMETZ,
    [DUCKDB_TYPE_TIMESTAMP_TZ] = DT_TIMESTAMPTZ, [DUCKDB_TYPE_UHUGEINT] = DT_UINT128, [DUCKDB_TYPE_ARRAY] = DT_LIST,
    [DUCKDB_TYPE_ANY] = DT_OTHER, [DUCKDB_TYPE_BIGNUM] = DT_OTHER, [DUCKDB_TYPE_SQLNULL] = DT_NULL,
    [DUCKDB_TYPE_STRING_LITERAL] = DT_STRING, [DUCKDB_TYPE_INTEGER_LITERAL] = DT_INT32, [DUCKDB_TYPE_TIME_NS] = DT_TIME,
    [DUCKDB_TYPE_GEOMETRY] = DT_OTHER, [DUCKDB_TYPE_VARIANT] = DT_OTHER,
};

static DataTypeKind string_kind(duckdb_logical_type t)
{
    char *alias = duckdb_logical_type_get_alias(t);
    DataTypeKind k = alias && str_eq(str_c(alias), S("JSON")) ? DT_JSON : DT_STRING;
    duckdb_free(alias);
    return k;
}

static void read_child(Arena *a, duckdb_logical_type child, Shape *shape, DataType *type, size_t i)
{
    duck_shape_read(a, child, &shape->children[i], &type->children[i]);
    duckdb_destroy_logical_type(&child);
}

static void make_children(Arena *a, Shape *shape, DataType *type, size_t n)
{
    shape->nchildren = type->nchildren = n;
    shape->children = arena_array(a, Shape, n + 1);
    type->children = arena_array(a, DataType, n + 1);
}

static void read_struct(Arena *a, duckdb_logical_type t, Shape *shape, DataType *type)
{
    size_t n = duckdb_struct_type_child_count(t);

    make_children(a, shape, type, n);
    type->names = arena_array(a, Str, n + 1);
    for (size_t i = 0; i < n; i++) {
        char *name = duckdb_struct_type_child_name(t, i);
        type->names[i] = str_dup(a, str_c(name));
        duckdb_free(name);
        read_child(a, duckdb_struct_type_child_type(t, i), shape, type, i);
    }
}

static void read_enum(Arena *a, duckdb_logical_type t, Shape *shape)
{
    shape->internal = duckdb_enum_internal_type(t);
    for (uint32_t i = 0, n = duckdb_enum_dictionary_size(t); i < n; i++) {
        char *label = duckdb_enum_dictionary_value(t, i);
        vec_push(a, &shape->labels, str_dup(a, str_c(label)));
        duckdb_free(label);
    }
}

void duck_shape_read(Arena *a, duckdb_logical_type t, Shape *shape, DataType *type)
{
    duckdb_type id = duckdb_get_type_id(t);

    *type = (DataType){ .kind = (size_t)id < COUNT_OF(kinds) ? kinds[id] : DT_OTHER };
    *shape = (Shape){ .id = id, .type = type };
    switch (id) {
    case DUCKDB_TYPE_VARCHAR:
        type->kind = string_kind(t);
        break;
    case DUCKDB_TYPE_DECIMAL:
        type->precision = duckdb_decimal_width(t);
        type->scale = duckdb_decimal_scale(t);
        shape->internal = duckdb_decimal_internal_type(t);
        break;
    case DUCKDB_TYPE_ENUM:
        read_enum(a, t, shape);
        break;
    case DUCKDB_TYPE_LIST:
        make_children(a, shape, type, 1);
        read_child(a, duckdb_list_type_child_type(t), shape, type, 0);
        break;
    case DUCKDB_TYPE_ARRAY:
        make_children(a, shape, type, 1);
        shape->array_size = duckdb_array_type_array_size(t);
        read_child(a, duckdb_array_type_child_type(t), shape, type, 0);
        break;
    case DUCKDB_TYPE_MAP:
        make_children(a, shape, type, 2);
        read_child(a, duckdb_map_type_key_type(t), shape, type, 0);
        read_child(a, duckdb_map_type_value_type(t), shape, type, 1);
        break;
    case DUCKDB_TYPE_STRUCT:
        read_struct(a, t, shape, type);
        break;
    default:
        break;
    }
}

/* ---- to the engine ---------------------------------------------------------------------------------------- */

static const duckdb_type ids[] = {
    [DT_INVALID] = DUCKDB_TYPE_SQLNULL, [DT_NULL] = DUCKDB_TYPE_SQLNULL, [DT_BOOL] = DUCKDB_TYPE_BOOLEAN,
    [DT_INT8] = DUCKDB_TYPE_TINYINT, [DT_INT16] = DUCKDB_TYPE_SMALLINT, [DT_INT32] = DUCKDB_TYPE_INTEGER,
    [DT_INT64] = DUCKDB_TYPE_BIGINT, [DT_INT128] = DUCKDB_TYPE_HUGEINT, [DT_UINT8] = DUCKDB_TYPE_UTINYINT,
    [DT_UINT16] = DUCKDB_TYPE_USMALLINT, [DT_UINT32] = DUCKDB_TYPE_UINTEGER, [DT_UINT64] = DUCKDB_TYPE_UBIGINT,
    [DT_UINT128] = DUCKDB_TYPE_UHUGEINT, [DT_FLOAT] = DUCKDB_TYPE_FLOAT, [DT_DOUBLE] = DUCKDB_TYPE_DOUBLE,
    [DT_STRING] = DUCKDB_TYPE_VARCHAR, [DT_BINARY] = DUCKDB_TYPE_BLOB, [DT_DATE] = DUCKDB_TYPE_DATE,
    [DT_TIME] = DUCKDB_TYPE_TIME, [DT_TIMESTAMP] = DUCKDB_TYPE_TIMESTAMP, [DT_TIMESTAMPTZ] = DUCKDB_TYPE_TIMESTAMP_TZ,
    [DT_TIMESTAMP_NS] = DUCKDB_TYPE_TIMESTAMP_NS, [DT_TIMETZ] = DUCKDB_TYPE_TIME_TZ, [DT_INTERVAL] = DUCKDB_TYPE_INTERVAL,
    [DT_UUID] = DUCKDB_TYPE_UUID, [DT_JSON] = DUCKDB_TYPE_VARCHAR, [DT_ENUM] = DUCKDB_TYPE_VARCHAR,
    [DT_OTHER] = DUCKDB_TYPE_VARCHAR,
};

static duckdb_logical_type struct_type(const DataType *t)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    duckdb_logical_type *types = arena_array(a, duckdb_logical_type, t->nchildren + 1);
    const char **names = arena_array(a, const char *, t->nchildren + 1);

    for (size_t i = 0; i < t->nchildren; i++) {
        types[i] = duck_logical_type(&t->children[i]);
        names[i] = str_z(a, t->names[i]);
    }
    duckdb_logical_type r = duckdb_create_struct_type(types, names, t->nchildren);
    for (size_t i = 0; i < t->nchildren; i++)
        duckdb_destroy_logical_type(&types[i]);
    return r;
}

duckdb_logical_type duck_logical_type(const DataType *t)
{
    if (t->kind == DT_DECIMAL)
        return duckdb_create_decimal_type((uint8_t)t->precision, (uint8_t)t->scale);
    if (t->kind == DT_STRUCT)
        return struct_type(t);
    if (t->kind == DT_LIST) {
        CLEANUP(duck_logical_type_done) duckdb_logical_type child = duck_logical_type(&t->children[0]);
        return duckdb_create_list_type(child);
    }
    if (t->kind == DT_MAP) {
        CLEANUP(duck_logical_type_done) duckdb_logical_type k = duck_logical_type(&t->children[0]);
        CLEANUP(duck_logical_type_done) duckdb_logical_type v = duck_logical_type(&t->children[1]);
        return duckdb_create_map_type(k, v);
    }
    return duckdb_create_logical_type(ids[t->kind]);
}

void duck_logical_type_done(duckdb_logical_type *t) { duckdb_destroy_logical_type(t); }

static const MadeType *made_copy(Arena *a, const MadeType *m)
{
    MadeType *r = m ? arena_new(a, MadeType) : NULL;

    if (!m)
        return NULL;
    *r = (MadeType){ .name = str_dup(a, m->name), .oid = m->oid, .position = m->position };
    for vec_each(const Str, s, &m->parts)
        vec_push(a, &r->parts, str_dup(a, *s));
    return r;
}

DataType data_type_copy(Arena *a, const DataType *t)
{
    DataType r = *t;

    r.made = made_copy(a, t->made);
    if (!t->nchildren)
        return r;
    r.children = arena_array(a, DataType, t->nchildren);
    r.names = t->names ? arena_array(a, Str, t->nchildren) : NULL;
    for (size_t i = 0; i < t->nchildren; i++) {
        r.children[i] = data_type_copy(a, &t->children[i]);
        if (t->names)
            r.names[i] = str_dup(a, t->names[i]);
    }
    return r;
}

/* ---- values ------------------------------------------------------------------------------------------------ */

static const DataType *part_type(const DataType *t, size_t i)
{
    if (t->kind == DT_MAP)
        return &t->children[i % 2];
    return t->kind == DT_STRUCT ? &t->children[i] : &t->children[0];
}

static Value copy_parts(Arena *a, const Value *v, const DataType *t)
{
    Value r = *v;

    r.type = t;
    r.items.p = arena_array(a, Value, v->items.n + 1);
    for (size_t i = 0; i < v->items.n; i++)
        r.items.p[i] = value_copy(a, &v->items.p[i], part_type(t, i));
    return r;
}

Value value_copy(Arena *a, const Value *v, const DataType *t)
{
    Value r = *v;

    r.type = t;
    switch (v->kind) {
    case DT_STRING: case DT_BINARY: case DT_JSON: case DT_ENUM: case DT_OTHER: case DT_UUID: case DT_TIMETZ:
        r.string = str_dup(a, v->string);
        return r;
    case DT_LIST: case DT_STRUCT: case DT_MAP: return copy_parts(a, v, t);
    default: return r;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* objects_type.c - a column's type as its document keeps it: a name is what a user reads (numeric, uint8, map[text=>text]) and does not say it all.
 *
 * {"kind": "decimal", "precision": 15, "scale": 2}, {"kind": "list", "of": [{…}]}. The words are for good: documents of earlier versions have them. */
#include "service/objects_int.h"

enum { TYPE_DEPTH = 100 };

static const char *const marks[] = { [MARK_NONE] = NULL, [MARK_LIST] = "list", [MARK_MAP] = "map", [MARK_NUMERIC] = "numeric", [MARK_MZ_TIMESTAMP] = "mz-timestamp", [MARK_BPCHAR] = "bpchar",
                                     [MARK_REG] = "reg", [MARK_NAMED] = NULL };

static const char *const words[] = {
    [DT_INVALID] = NULL, [DT_NULL] = "null", [DT_BOOL] = "bool", [DT_INT8] = "int8", [DT_INT16] = "int16", [DT_INT32] = "int32", [DT_INT64] = "int64", [DT_INT128] = "int128", [DT_UINT8] = "uint8",
    [DT_UINT16] = "uint16", [DT_UINT32] = "uint32", [DT_UINT64] = "uint64", [DT_UINT128] = "uint128", [DT_FLOAT] = "float", [DT_DOUBLE] = "double", [DT_DECIMAL] = "decimal", [DT_STRING] = "string",
    [DT_BINARY] = "binary", [DT_DATE] = "date", [DT_TIME] = "time", [DT_TIMESTAMP] = "timestamp", [DT_TIMESTAMPTZ] = "timestamptz", [DT_TIMESTAMP_NS] = "timestamp-ns", [DT_TIMETZ] = "timetz",
    [DT_INTERVAL] = "interval", [DT_UUID] = "uuid", [DT_JSON] = "json", [DT_LIST] = "list", [DT_STRUCT] = "struct", [DT_MAP] = "map", [DT_ENUM] = "enum", [DT_OTHER] = "other",
};

Json *object_type_json(Arena *a, const DataType *t)
{
    Json *j = json_object(a), *of = json_array(a), *names = json_array(a);

    json_set(a, j, "kind", json_str(a, str_c(words[t->kind])));
    if (t->kind == DT_DECIMAL || t->precision) {           /* of an integer: that it is no oid */
        json_set(a, j, "precision", json_int(a, t->precision));
        json_set(a, j, "scale", json_int(a, t->scale));
    }
    if (t->length)
        json_set(a, j, "length", json_int(a, t->length));
    if (marks[t->mark])
        json_set(a, j, "mark", json_str(a, str_c(marks[t->mark])));
    if (t->made) {
        json_set(a, j, "made", json_str(a, t->made->name));
        json_set(a, j, "made-oid", json_int(a, t->made->oid));
    }
    for (size_t i = 0; i < t->nchildren; i++) {
        json_push(a, of, object_type_json(a, &t->children[i]));
        if (t->kind == DT_STRUCT)
            json_push(a, names, json_str(a, t->names[i]));
    }
    if (t->nchildren)
        json_set(a, j, "of", of);
    if (t->nchildren && t->kind == DT_STRUCT)
        json_set(a, j, "names", names);
    return j;
}

static DataTypeKind kind_of(Str word)
{
    for (size_t i = 1; i < COUNT_OF(words); i++)
        if (words[i] && str_eq(word, str_c(words[i])))
            return (DataTypeKind)i;
    return DT_INVALID;
}

static TypeMark mark_of(Str word)
{
    for (size_t i = 1; i < COUNT_OF(marks); i++)
        if (marks[i] && str_eq(word, str_c(marks[i])))
            return (TypeMark)i;
    return MARK_NONE;
}

static const MadeType *made_of(Arena *a, const Json *j)
{
    Str name = json_get_str(j, "made", (Str){0});
    MadeType *m = name.n ? arena_new(a, MadeType) : NULL;

    if (m)
        *m = (MadeType){ .name = str_dup(a, name), .oid = (uint32_t)json_get_int(j, "made-oid", 0) };
    return m;
}

static Status children(Arena *a, const Json *j, int depth, DataType *ret, Error *err);

static Status type_of(Arena *a, const Json *j, int depth, DataType *ret, Error *err)
{
    *ret = (DataType){ .kind = kind_of(json_get_str(j, "kind", (Str){0})), .precision = (int)json_get_int(j, "precision", 0), .scale = (int)json_get_int(j, "scale", 0),
                       .length = (int)json_get_int(j, "length", 0), .mark = mark_of(json_get_str(j, "mark", (Str){0})), .made = made_of(a, j) };
    if (ret->kind == DT_INVALID || depth > TYPE_DEPTH)
        return FAIL(err, E_CORRUPT, "the type of a column is kept in words that nobody knows");
    return children(a, j, depth, ret, err);
}

static Status children(Arena *a, const Json *j, int depth, DataType *ret, Error *err)
{
    const Json *of = json_get(j, "of"), *names = json_get(j, "names");

    if (!of || of->kind != JSON_ARRAY)
        return OK;
    ret->nchildren = of->array.n;
    ret->children = arena_array(a, DataType, of->array.n + 1);
    ret->names = names ? arena_array(a, Str, of->array.n + 1) : NULL;
    for (size_t i = 0; i < of->array.n; i++) {
        TRY(type_of(a, of->array.p[i], depth + 1, &ret->children[i], err));
        if (names && names->kind == JSON_ARRAY && i < names->array.n)
            ret->names[i] = str_dup(a, names->array.p[i]->string);
    }
    return OK;
}

Status object_type_of(Arena *a, const Json *j, DataType *ret, Error *err) { return type_of(a, j, 0, ret, err); }

/* SPDX-License-Identifier: Apache-2.0 */
/* pg_oid.c - PostgreSQL's type numbers: ours to theirs and back, arrays, lengths, type modifiers.
 *
 * The numbers are those of pg_type.dat and never change; those of unsigned integers are Materialize's.  An unsigned 32-bit integer is `oid` when it is not marked: the
 * catalog relations have that type. */
#include "door/pg/pg_int.h"

typedef struct { int32_t oid, array; int len; DataTypeKind kind; } OidRow;

static const OidRow rows[] = {
    { OID_BOOL, 1000, 1, DT_BOOL },            { OID_BYTEA, 1001, -1, DT_BINARY },         { OID_CHAR, 1002, 1, DT_STRING },
    { OID_NAME, 1003, 64, DT_STRING },         { OID_INT8, 1016, 8, DT_INT64 },            { OID_INT2, 1005, 2, DT_INT16 },
    { OID_INT2VECTOR, 1006, -1, DT_STRING },   { OID_INT4, 1007, 4, DT_INT32 },            { OID_REGPROC, 1008, 4, DT_STRING },
    { OID_TEXT, 1009, -1, DT_STRING },         { OID_OID, 1028, 4, DT_UINT32 },            { OID_JSON, 199, -1, DT_JSON },
    { OID_FLOAT4, 1021, 4, DT_FLOAT },         { OID_FLOAT8, 1022, 8, DT_DOUBLE },         { OID_UNKNOWN, 0, -2, DT_INVALID },
    { OID_BPCHAR, 1014, -1, DT_STRING },       { OID_VARCHAR, 1015, -1, DT_STRING },       { OID_DATE, 1182, 4, DT_DATE },
    { OID_TIME, 1183, 8, DT_TIME },            { OID_TIMESTAMP, 1115, 8, DT_TIMESTAMP },   { OID_TIMESTAMPTZ, 1185, 8, DT_TIMESTAMPTZ },
    { OID_INTERVAL, 1187, 16, DT_INTERVAL },   { OID_TIMETZ, 1270, 12, DT_TIMETZ },        { OID_NUMERIC, 1231, -1, DT_DECIMAL },
    { OID_RECORD, OID_RECORD_ARRAY, -1, DT_INVALID }, { OID_UUID, 2951, 16, DT_UUID },     { OID_JSONB, 3807, -1, DT_JSON },
    { OID_INT4RANGE, 3905, -1, DT_STRUCT },    { OID_NUMRANGE, 3907, -1, DT_STRUCT },      { OID_TSRANGE, 3909, -1, DT_STRUCT },
    { OID_TSTZRANGE, 3911, -1, DT_STRUCT },    { OID_DATERANGE, 3913, -1, DT_STRUCT },     { OID_INT8RANGE, 3927, -1, DT_STRUCT },
    { OID_MZ_TIMESTAMP, 16553, 8, DT_UINT64 }, { OID_MAP, 0, -1, DT_STRING },
    { OID_UINT2, 16461, 2, DT_UINT16 },        { OID_UINT4, 16463, 4, DT_UINT32 },          { OID_UINT8, 16465, 8, DT_UINT64 },
};

static const int32_t by_kind[] = {
    [DT_INVALID] = OID_TEXT, [DT_NULL] = OID_TEXT, [DT_BOOL] = OID_BOOL, [DT_INT8] = OID_INT2, [DT_INT16] = OID_INT2,
    [DT_INT32] = OID_INT4, [DT_INT64] = OID_INT8, [DT_INT128] = OID_NUMERIC, [DT_UINT8] = OID_INT2, [DT_UINT16] = OID_UINT2,
    [DT_UINT32] = OID_OID, [DT_UINT64] = OID_UINT8, [DT_UINT128] = OID_NUMERIC, [DT_FLOAT] = OID_FLOAT4,
    [DT_DOUBLE] = OID_FLOAT8, [DT_DECIMAL] = OID_NUMERIC, [DT_STRING] = OID_TEXT, [DT_BINARY] = OID_BYTEA,
    [DT_DATE] = OID_DATE, [DT_TIME] = OID_TIME, [DT_TIMESTAMP] = OID_TIMESTAMP, [DT_TIMESTAMPTZ] = OID_TIMESTAMPTZ,
    [DT_TIMESTAMP_NS] = OID_TIMESTAMP, [DT_TIMETZ] = OID_TIMETZ, [DT_INTERVAL] = OID_INTERVAL, [DT_UUID] = OID_UUID,
    [DT_JSON] = OID_JSON, [DT_STRUCT] = OID_RECORD, [DT_MAP] = OID_JSON, [DT_ENUM] = OID_TEXT, [DT_OTHER] = OID_TEXT,
};

static const OidRow *find(int32_t oid)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].oid == oid)
            return &rows[i];
    return NULL;
}

/* The array of a type that was made: its number is that of pg_type (service/mzcatalog_cell.c). */
static int32_t pg_made_array(uint32_t oid) { return (int32_t)oid + MADE_ARRAY_OFFSET; }

int32_t pg_type_oid(const DataType *t)
{
    if (t->kind == DT_LIST && t->length == OID_INT2VECTOR)     /* a list of the catalog's, marked by its length */
        return OID_INT2VECTOR;
    while (t->kind == DT_LIST) {                       /* dimensions are not part of an array's type */
        const DataType *e = &t->children[0];
        if (e->kind != DT_LIST)
            return e->kind == DT_STRUCT && e->made ? pg_made_array(e->made->oid) : pg_array_oid(pg_type_oid(e));
        t = e;
    }
    if (t->kind == DT_STRUCT && data_type_range(t))
        return pg_oid_of_range(data_type_range(t));
    if (t->kind == DT_STRUCT && t->made)
        return (int32_t)t->made->oid;
    if (t->mark == MARK_MAP || t->mark == MARK_MZ_TIMESTAMP || t->mark == MARK_BPCHAR)
        return t->mark == MARK_MAP ? OID_MAP : t->mark == MARK_BPCHAR ? OID_BPCHAR : OID_MZ_TIMESTAMP;
    if (t->mark == MARK_REG && t->length > 0)
        return t->length;
    if (t->kind == DT_STRING && t->length > 0)
        return OID_VARCHAR;
    if (t->kind == DT_STRING && t->precision == 1)     /* "char", of the catalog's */
        return OID_CHAR;
    if (t->kind == DT_UINT32 && t->precision > 0)      /* marked by the parser */
        return OID_UINT4;
    return by_kind[t->kind];
}

int32_t pg_typmod(const DataType *t)
{
    if (t->kind == DT_DECIMAL && t->precision > 0 && t->mark != MARK_NUMERIC)
        return (t->precision << 16 | t->scale) + 4;
    return t->kind == DT_STRING && t->length > 0 ? t->length + 4 : -1;
}

int pg_type_len(int32_t oid)
{
    const OidRow *r = find(oid);
    return r ? r->len : -1;
}

int32_t pg_array_oid(int32_t element)
{
    const OidRow *r = find(element);
    return r ? r->array : 0;
}

int32_t pg_element_oid(int32_t array)
{
    for (size_t i = 0; array && i < COUNT_OF(rows); i++)
        if (rows[i].array == array)
            return rows[i].oid;
    return 0;
}

DataType pg_oid_type(int32_t oid)
{
    static const DataType elements[] = {               /* indexed by kind: what a list points at */
        [DT_BOOL] = { .kind = DT_BOOL }, [DT_INT16] = { .kind = DT_INT16 }, [DT_INT32] = { .kind = DT_INT32 },
        [DT_INT64] = { .kind = DT_INT64 }, [DT_UINT32] = { .kind = DT_UINT32 }, [DT_FLOAT] = { .kind = DT_FLOAT },
        [DT_DOUBLE] = { .kind = DT_DOUBLE }, [DT_DECIMAL] = { .kind = DT_DECIMAL }, [DT_STRING] = { .kind = DT_STRING },
        [DT_BINARY] = { .kind = DT_BINARY }, [DT_DATE] = { .kind = DT_DATE }, [DT_TIME] = { .kind = DT_TIME },
        [DT_TIMESTAMP] = { .kind = DT_TIMESTAMP }, [DT_TIMESTAMPTZ] = { .kind = DT_TIMESTAMPTZ },
        [DT_TIMETZ] = { .kind = DT_TIMETZ }, [DT_INTERVAL] = { .kind = DT_INTERVAL }, [DT_UUID] = { .kind = DT_UUID },
        [DT_JSON] = { .kind = DT_JSON }, [DT_UINT16] = { .kind = DT_UINT16 }, [DT_UINT64] = { .kind = DT_UINT64 },
    };
    const OidRow *r = find(oid);

    if (pg_range_of_oid(oid))
        return *data_type_of_range(pg_range_of_oid(oid));
    if (r)
        return (DataType){ .kind = r->kind, .mark = oid == OID_MZ_TIMESTAMP ? MARK_MZ_TIMESTAMP : MARK_NONE };
    r = find(pg_element_oid(oid));
    if (pg_range_of_oid(pg_element_oid(oid)))
        return (DataType){ .kind = DT_LIST, .nchildren = 1, .children = (DataType *)data_type_of_range(pg_range_of_oid(pg_element_oid(oid))) };
    if (!r || r->kind == DT_INVALID)
        return (DataType){ .kind = DT_INVALID };
    return (DataType){ .kind = DT_LIST, .nchildren = 1, .children = (DataType *)&elements[r->kind] };
}

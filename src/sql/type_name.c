/* SPDX-License-Identifier: Apache-2.0 */
/* type_name.c - a type's name as a user of each dialect reads it: Spark's catalog string, PostgreSQL's format_type, Trino's typeof(). */
#include "sql/sql.h"

typedef struct NameRow { const char *spark, *postgres; } NameRow;

static const NameRow NAMES[] = {
    [DT_NULL] = { "void", "unknown" },             [DT_BOOL] = { "boolean", "boolean" },
    [DT_INT8] = { "tinyint", "smallint" },         [DT_INT16] = { "smallint", "smallint" },
    [DT_INT32] = { "int", "integer" },             [DT_INT64] = { "bigint", "bigint" },
    [DT_INT128] = { "decimal(38,0)", "numeric" },  [DT_UINT8] = { "smallint", "smallint" },
    [DT_UINT16] = { "int", "uint2" },              [DT_UINT32] = { "bigint", "oid" },
    [DT_UINT64] = { "decimal(20,0)", "uint8" },    [DT_UINT128] = { "decimal(38,0)", "numeric" },
    [DT_FLOAT] = { "float", "real" },              [DT_DOUBLE] = { "double", "double precision" },
    [DT_STRING] = { "string", "text" },            [DT_BINARY] = { "binary", "bytea" },
    [DT_DATE] = { "date", "date" },                [DT_TIME] = { "time", "time without time zone" },
    [DT_TIMESTAMP] = { "timestamp_ntz", "timestamp without time zone" },
    [DT_TIMESTAMPTZ] = { "timestamp", "timestamp with time zone" },
    [DT_TIMESTAMP_NS] = { "timestamp_ntz", "timestamp without time zone" },
    [DT_TIMETZ] = { "time", "time with time zone" }, [DT_INTERVAL] = { "interval", "interval" },
    [DT_UUID] = { "string", "uuid" },              [DT_JSON] = { "string", "jsonb" },
    [DT_ENUM] = { "string", "text" },
};

static void add_spark(StrBuf *b, const DataType *t);
static void add_postgres(StrBuf *b, const DataType *t);
static void add_trino(StrBuf *b, const DataType *t);

Str sql_type_name(Arena *a, Dialect d, const DataType *t)
{
    StrBuf b = sb_new(a);

    if (d == DIALECT_SPARK)
        add_spark(&b, t);
    else if (d == DIALECT_TRINO)
        add_trino(&b, t);
    else
        add_postgres(&b, t);
    return sb_str(&b);
}

static bool plain_name(Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return s.n > 0;
}

static void add_field_name(StrBuf *b, Str name)
{
    if (plain_name(name)) {
        sb_add(b, name);
        return;
    }
    sb_byte(b, '`');
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '`')
            sb_byte(b, '`');
        sb_byte(b, name.p[i]);
    }
    sb_byte(b, '`');
}

static void add_struct(StrBuf *b, const DataType *t)
{
    sb_addc(b, "struct<");
    for (size_t i = 0; i < t->nchildren; i++) {
        if (i)
            sb_byte(b, ',');
        add_field_name(b, t->names[i]);
        sb_byte(b, ':');
        add_spark(b, &t->children[i]);
    }
    sb_byte(b, '>');
}

static void add_spark(StrBuf *b, const DataType *t)
{
    switch (t->kind) {
    case DT_DECIMAL:
        sb_fmt(b, "decimal(%d,%d)", t->precision, t->scale);
        break;
    case DT_LIST:
        sb_addc(b, "array<");
        add_spark(b, &t->children[0]);
        sb_byte(b, '>');
        break;
    case DT_MAP:
        sb_addc(b, "map<");
        add_spark(b, &t->children[0]);
        sb_byte(b, ',');
        add_spark(b, &t->children[1]);
        sb_byte(b, '>');
        break;
    case DT_STRUCT:
        add_struct(b, t);
        break;
    case DT_STRING:
        if (t->length > 0)
            sb_fmt(b, "varchar(%d)", t->length);
        else
            sb_addc(b, "string");
        break;
    default:
        sb_addc(b, (size_t)t->kind < COUNT_OF(NAMES) && NAMES[t->kind].spark ? NAMES[t->kind].spark : "unknown");
    }
}

static void add_record(StrBuf *b, const DataType *t)
{
    sb_addc(b, "record");
    for (size_t i = 0; i < t->nchildren; i++) {
        sb_addc(b, i ? ", " : "(");
        if (t->names && plain_name(t->names[i]))
            sb_add(b, t->names[i]);
        else
            sql_ident(b, t->names ? t->names[i] : (Str){0});
        sb_byte(b, ' ');
        add_postgres(b, &t->children[i]);
    }
    sb_addc(b, t->nchildren ? ")" : "");
}

static void add_postgres(StrBuf *b, const DataType *t)
{
    if (t->made) {
        sb_add(b, t->made->name);
        return;
    }
    switch (t->kind) {
    case DT_DECIMAL:
        sb_addc(b, "numeric");
        if (t->precision && t->mark != MARK_NUMERIC)
            sb_fmt(b, "(%d,%d)", t->precision, t->scale);
        break;
    case DT_LIST:
        add_postgres(b, &t->children[0]);
        if (t->mark == MARK_LIST)
            sb_addc(b, " list");
        else if (t->children[0].kind != DT_LIST || t->children[0].mark == MARK_LIST)      /* all dimensions are one in PostgreSQL */
            sb_addc(b, "[]");
        break;
    case DT_MAP:
        sb_addc(b, "map[");
        add_postgres(b, &t->children[0]);
        sb_addc(b, "=>");
        add_postgres(b, &t->children[1]);
        sb_byte(b, ']');
        break;
    case DT_STRUCT:
        if (data_type_range(t))
            sb_addc(b, range_name(data_type_range(t)));
        else
            add_record(b, t);
        break;
    case DT_UINT64:
        sb_addc(b, t->mark == MARK_MZ_TIMESTAMP ? "mz_timestamp" : "uint8");
        break;
    case DT_UINT32:
        sb_addc(b, t->precision ? "uint4" : "oid");
        break;
    case DT_STRING:
        if (t->mark == MARK_BPCHAR && t->length <= 0)
            sb_addc(b, "bpchar");
        else if (t->length > 0)
            sb_fmt(b, t->mark == MARK_BPCHAR ? "character(%d)" : "character varying(%d)", t->length);
        else
            sb_addc(b, "text");
        break;
    default:
        sb_addc(b, (size_t)t->kind < COUNT_OF(NAMES) && NAMES[t->kind].postgres ? NAMES[t->kind].postgres : "unknown");
    }
}

/* ---- Trino ------------------------------------------------------------------------------------------------------- */

static const char *trino_plain(DataTypeKind k)
{
    switch (k) {
    case DT_NULL: return "unknown";
    case DT_BOOL: return "boolean";
    case DT_INT8: return "tinyint";
    case DT_INT16: case DT_UINT8: return "smallint";
    case DT_INT32: case DT_UINT16: return "integer";
    case DT_INT64: case DT_UINT32: return "bigint";
    case DT_FLOAT: return "real";
    case DT_DOUBLE: return "double";
    case DT_BINARY: return "varbinary";
    case DT_DATE: return "date";
    case DT_INTERVAL: return "interval day to second";
    case DT_UUID: return "uuid";
    case DT_JSON: return "json";
    case DT_STRING: case DT_ENUM: return "varchar";
    default: return "decimal(38,0)";
    }
}

static void add_trino_row(StrBuf *b, const DataType *t)
{
    sb_addc(b, "row(");
    for (size_t i = 0; i < t->nchildren; i++) {
        sb_addc(b, i ? ", " : "");
        if (plain_name(t->names[i]))
            sb_add(b, t->names[i]);
        else
            sql_ident(b, t->names[i]);
        sb_byte(b, ' ');
        add_trino(b, &t->children[i]);
    }
    sb_byte(b, ')');
}

static void add_trino(StrBuf *b, const DataType *t)
{
    switch (t->kind) {
    case DT_DECIMAL:
        sb_fmt(b, "decimal(%d,%d)", t->precision, t->scale);
        break;
    case DT_TIME: case DT_TIMESTAMP: case DT_TIMESTAMPTZ: case DT_TIMESTAMP_NS:
        sb_fmt(b, "%s(%d)%s", t->kind == DT_TIME ? "time" : "timestamp", sql_time_digits(t), t->kind == DT_TIMESTAMPTZ ? " with time zone" : "");
        break;
    case DT_LIST:
        sb_addc(b, "array(");
        add_trino(b, &t->children[0]);
        sb_byte(b, ')');
        break;
    case DT_MAP:
        sb_addc(b, "map(");
        add_trino(b, &t->children[0]);
        sb_addc(b, ", ");
        add_trino(b, &t->children[1]);
        sb_byte(b, ')');
        break;
    case DT_STRUCT: add_trino_row(b, t); break;
    default:
        sb_addc(b, trino_plain(t->kind));
        if (t->kind == DT_STRING && t->length > 0)
            sb_fmt(b, "(%d)", t->length);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* parse_type.c - type names of both dialects.
 *
 * Spark's TIMESTAMP is a point in time (DT_TIMESTAMPTZ), TIMESTAMP_NTZ is not; PostgreSQL's timestamp is the latter.
 * DECIMAL alone is DECIMAL(10,0) in Spark; PostgreSQL's numeric without modifiers has precision 0, any, as the target of a cast, else 38 digits (MARK_NUMERIC).
 * A word that is no type may be the name of one that was made (MARK_NAMED): whoever binds the statement looks it up.
 * oid and the reg… types are DT_UINT32; a cast keeps the type's name as written beside it. */
#include "sql/parse_int.h"

enum { SPARK = 1, POSTGRES = 2, BOTH = 3, DECIMAL_MAX = 38, NUMERIC_SCALE = 10, LENGTH_MAX = 10 * 1024 * 1024, FIELDS_MAX = 10000, UINT4_MARK = 4 };
/* What may follow the word. */
enum { F_NONE, F_LENGTH, F_DECIMAL, F_PRECISION, F_ZONE, F_FLOAT, F_UINT4, F_MILLIS };

typedef struct TypeRow { const char *name; int dialects; DataTypeKind kind; int follows; } TypeRow;

static const TypeRow TYPES[] = {
    { "boolean", BOTH, DT_BOOL, 0 },            { "bool", POSTGRES, DT_BOOL, 0 },
    { "tinyint", SPARK, DT_INT8, 0 },           { "byte", SPARK, DT_INT8, 0 },
    { "smallint", BOTH, DT_INT16, 0 },          { "short", SPARK, DT_INT16, 0 },
    { "int2", POSTGRES, DT_INT16, 0 },          { "int", BOTH, DT_INT32, 0 },
    { "integer", BOTH, DT_INT32, 0 },           { "int4", POSTGRES, DT_INT32, 0 },
    { "bigint", BOTH, DT_INT64, 0 },            { "long", SPARK, DT_INT64, 0 },
    { "int8", POSTGRES, DT_INT64, 0 },          { "float", SPARK, DT_FLOAT, 0 },
    { "float", POSTGRES, DT_DOUBLE, F_FLOAT },  { "real", BOTH, DT_FLOAT, 0 },
    { "float4", POSTGRES, DT_FLOAT, 0 },        { "double", BOTH, DT_DOUBLE, 0 },
    { "float8", POSTGRES, DT_DOUBLE, 0 },       { "decimal", BOTH, DT_DECIMAL, F_DECIMAL },
    { "dec", BOTH, DT_DECIMAL, F_DECIMAL },     { "numeric", BOTH, DT_DECIMAL, F_DECIMAL },
    { "string", BOTH, DT_STRING, 0 },           { "text", POSTGRES, DT_STRING, 0 },
    { "varchar", BOTH, DT_STRING, F_LENGTH },   { "char", BOTH, DT_STRING, F_LENGTH },
    { "character", BOTH, DT_STRING, F_LENGTH }, { "bpchar", POSTGRES, DT_STRING, F_LENGTH },
    { "name", POSTGRES, DT_STRING, 0 },         { "sql_identifier", POSTGRES, DT_STRING, 0 },
    { "character_data", POSTGRES, DT_STRING, 0 }, { "yes_or_no", POSTGRES, DT_STRING, 0 },
    { "cardinal_number", POSTGRES, DT_INT32, 0 }, { "binary", SPARK, DT_BINARY, 0 },
    { "bytea", POSTGRES, DT_BINARY, 0 },        { "date", BOTH, DT_DATE, 0 },
    { "time", POSTGRES, DT_TIME, F_ZONE },      { "time", SPARK, DT_TIME, F_PRECISION },
    { "timetz", POSTGRES, DT_TIMETZ, F_PRECISION }, { "timestamp", SPARK, DT_TIMESTAMPTZ, 0 },
    { "timestamp_ltz", SPARK, DT_TIMESTAMPTZ, 0 }, { "timestamp_ntz", SPARK, DT_TIMESTAMP, 0 },
    { "timestamp", POSTGRES, DT_TIMESTAMP, F_ZONE }, { "timestamptz", POSTGRES, DT_TIMESTAMPTZ, F_PRECISION },
    { "interval", BOTH, DT_INTERVAL, F_PRECISION }, { "uuid", BOTH, DT_UUID, 0 },
    { "json", POSTGRES, DT_JSON, 0 },           { "jsonb", POSTGRES, DT_JSON, 0 },
    { "void", SPARK, DT_NULL, 0 },              { "unknown", POSTGRES, DT_STRING, 0 },
    { "oid", POSTGRES, DT_UINT32, 0 },          { "regclass", POSTGRES, DT_UINT32, 0 },
    { "regtype", POSTGRES, DT_UINT32, 0 },      { "regproc", POSTGRES, DT_UINT32, 0 },
    { "regprocedure", POSTGRES, DT_UINT32, 0 }, { "regnamespace", POSTGRES, DT_UINT32, 0 },
    { "regrole", POSTGRES, DT_UINT32, 0 },      { "regoper", POSTGRES, DT_UINT32, 0 },
    { "regoperator", POSTGRES, DT_UINT32, 0 },  { "xid", POSTGRES, DT_UINT32, 0 },
    { "cid", POSTGRES, DT_UINT32, 0 },          { "int2vector", POSTGRES, DT_LIST, 0 },
    { "oidvector", POSTGRES, DT_LIST, 0 },
    { "uint2", POSTGRES, DT_UINT16, 0 },        { "uint4", POSTGRES, DT_UINT32, F_UINT4 },
    { "uint8", POSTGRES, DT_UINT64, 0 },         { "mz_timestamp", POSTGRES, DT_UINT64, F_MILLIS },
    { "int4range", POSTGRES, DT_STRUCT, RANGE_INT4 }, { "int8range", POSTGRES, DT_STRUCT, RANGE_INT8 },
    { "numrange", POSTGRES, DT_STRUCT, RANGE_NUM }, { "daterange", POSTGRES, DT_STRUCT, RANGE_DATE },
    { "tsrange", POSTGRES, DT_STRUCT, RANGE_TS }, { "tstzrange", POSTGRES, DT_STRUCT, RANGE_TSTZ },
};

static DataType scalar(Parser *p);
static DataType nested(Parser *p);
static DataType array_suffix(Parser *p, DataType t);
static const TypeRow *type_row(Parser *p, Str word);
static DataType bracket_map(Parser *p);
static DataType record_of(Parser *p);

typedef struct Fields { VEC(DataType) types; StrVec names; } Fields;

/* numeric without modifiers, where it is not the target of a cast: the digits that the engine has. */
static DataType settled(DataType t)
{
    if (t.kind == DT_DECIMAL && !t.precision)
        t = (DataType){ .kind = DT_DECIMAL, .precision = DECIMAL_MAX, .scale = NUMERIC_SCALE, .mark = MARK_NUMERIC };
    return t;
}

DataType p_type(Parser *p) { return settled(p_cast_type(p)); }

DataType p_cast_type(Parser *p)
{
    DataType t = { .kind = DT_NULL };

    if (!p_enter(p))
        return t;
    if (p_trino(p))
        t = p_type_trino(p);
    else if (p_spark(p) && (p_is(p, K_ARRAY) || p_is(p, K_MAP) || p_is(p, K_STRUCT)))
        t = nested(p);
    else
        t = scalar(p);
    if (p_postgres(p))
        t = array_suffix(p, t);
    p_leave(p);
    return t;
}

bool p_type_is(Parser *p)
{
    if (p_trino(p))
        return p_type_is_trino(p);
    return p_is_kind(p, TK_WORD) && type_row(p, p_peek(p, 0)->text);
}

static const TypeRow *type_row(Parser *p, Str word)
{
    int dialect = p_spark(p) ? SPARK : POSTGRES;
    for (size_t i = 0; i < COUNT_OF(TYPES); i++)
        if ((TYPES[i].dialects & dialect) && str_ieq(word, str_c(TYPES[i].name)))
            return &TYPES[i];
    return NULL;
}

static DataType list_of(Parser *p, DataType item)
{
    DataType t = { .kind = DT_LIST, .nchildren = 1, .children = arena_new(p->a, DataType) };
    t.children[0] = settled(item);
    return t;
}

/* ---- what follows the word ------------------------------------------------------------------------------------ */

/* ( n ) when it stands here, else `absent`. */
static int64_t modifier(Parser *p, int64_t absent, int64_t min, int64_t max)
{
    if (!p_take_op(p, '('))
        return absent;
    int at = p_pos(p);
    int64_t n = p_integer(p);
    if (n < min || n > max)
        P_FAIL(p, E_INVALID, at, "the modifier %lld of the type is not between %lld and %lld", (long long)n, (long long)min, (long long)max);
    p_need_op(p, ')');
    return n;
}

static void decimal(Parser *p, DataType *t)
{
    t->precision = p_spark(p) ? 10 : 0;
    if (!p_take_op(p, '('))
        return;
    int at = p_pos(p);
    int64_t precision = p_integer(p), scale = 0;
    if (p_take_op(p, ','))
        scale = p_integer(p);
    p_need_op(p, ')');
    if (precision < 1 || precision > DECIMAL_MAX)
        P_FAIL(p, E_INVALID, at, "DECIMAL precision %lld must be between 1 and %d", (long long)precision, DECIMAL_MAX);
    else if (scale < 0 || scale > precision)
        P_FAIL(p, E_INVALID, at, "DECIMAL scale %lld must be between 0 and the precision %lld", (long long)scale, (long long)precision);
    t->precision = (int)precision;
    t->scale = (int)scale;
}

static void zone(Parser *p, DataType *t)
{
    modifier(p, 6, 0, 6);
    if (p_take3(p, K_WITH, K_TIME, K_ZONE))
        t->kind = t->kind == DT_TIME ? DT_TIMETZ : DT_TIMESTAMPTZ;
    else
        p_take3(p, K_WITHOUT, K_TIME, K_ZONE);
}

static void length(Parser *p, DataType *t, const TypeRow *r)
{
    bool varying = !p_spark(p) && p_take(p, K_VARYING);
    bool one = !p_spark(p) && !varying && r->name[0] == 'c';      /* char is char(1) */
    t->length = (int)modifier(p, one && r->follows == F_LENGTH && str_ieq(str_c(r->name), S("bpchar")) ? 0 : one ? 1 : 0, 1, LENGTH_MAX);
    if (p_postgres(p) && !varying && r->name[0] != 'v')
        t->mark = MARK_BPCHAR;
}

/* INTERVAL DAY TO SECOND: the fields only restrict input */
static void interval_fields(Parser *p)
{
    static const Keyword FIELDS[] = { K_YEAR, K_MONTH, K_DAY, K_HOUR, K_MINUTE, K_SECOND };

    for (size_t i = 0; i < COUNT_OF(FIELDS); i++) {
        if (!p_take(p, FIELDS[i]))
            continue;
        for (size_t j = i + 1; j < COUNT_OF(FIELDS); j++)
            if (p_take2(p, K_TO, FIELDS[j]))
                return;
        return;
    }
}

static DataType vector_type(Parser *p, const TypeRow *r)
{
    return list_of(p, (DataType){ .kind = r->name[0] == 'i' ? DT_INT16 : DT_UINT32 });
}

static void follow(Parser *p, DataType *t, const TypeRow *r)
{
    switch (r->follows) {
    case F_LENGTH: length(p, t, r); break;
    case F_DECIMAL: decimal(p, t); break;
    case F_PRECISION: modifier(p, 6, 0, 6); break;
    case F_ZONE: zone(p, t); break;
    case F_UINT4: t->precision = UINT4_MARK; break;      /* otherwise it is an oid */
    case F_MILLIS: t->mark = MARK_MZ_TIMESTAMP; break;
    case F_FLOAT:
        if (modifier(p, 53, 1, 53) <= 24)
            t->kind = DT_FLOAT;
        break;
    default: break;
    }
    if (t->kind == DT_INTERVAL)
        interval_fields(p);
    if (t->kind == DT_DOUBLE && !p_spark(p))
        p_take(p, K_PRECISION);
}

/* The words of other statements' grammar are no types. */
static bool may_be_named(Parser *p, int at)
{
    const Token *t = &p->tokens.p[p->at - 1];
    return p_postgres(p) && !p->status && t->start + 1 == at && (t->kind == TK_QUOTED || !(lex_keyword_flags((Keyword)t->id) & (KW_RESERVED | KW_RESERVED_PG)));
}

static DataType named(Parser *p, Str word, int at)
{
    MadeType *m = arena_new(p->a, MadeType);

    m->position = at;
    vec_push(p->a, &m->parts, word);
    while (m->parts.n < 3 && p_take_op(p, '.'))
        vec_push(p->a, &m->parts, p_label(p));
    m->name = str_join(p->a, &m->parts, S("."));
    return (DataType){ .kind = DT_OTHER, .mark = MARK_NAMED, .made = m };
}

static DataType unknown(Parser *p, Str word, int at)
{
    if (p_spark(p))
        P_FAIL(p, E_UNSUPPORTED, at, "[UNSUPPORTED_DATATYPE] Unsupported data type \"" STR_FMT "\". SQLSTATE: 0A000",
               STR_ARG(str_upper(p->a, word)));
    else
        P_FAIL(p, E_INVALID, at, "type \"" STR_FMT "\" does not exist", STR_ARG(word));
    if (!p_spark(p) && p->err->position == at)
        memcpy(p->err->sqlstate, "42704", 6);
    return (DataType){ .kind = DT_NULL };
}

static DataType scalar(Parser *p)
{
    int at = p_pos(p);
    bool quoted = p_is_kind(p, TK_QUOTED);
    Str word = p_label(p);

    if (!p_spark(p) && (str_eq(word, S("pg_catalog")) || str_eq(word, S("information_schema"))) && p_take_op(p, '.')) {
        quoted = p_is_kind(p, TK_QUOTED);
        word = p_label(p);
    }
    if (quoted && str_eq(word, S("char")))                      /* PostgreSQL's one-byte "char" */
        return (DataType){ .kind = DT_STRING };
    if (p_postgres(p) && !quoted && str_ieq(word, S("map")) && p_is_op(p, '['))
        return bracket_map(p);
    if (p_postgres(p) && !quoted && str_ieq(word, S("record")) && p_is_op(p, '('))
        return record_of(p);
    const TypeRow *r = quoted && p_spark(p) ? NULL : type_row(p, word);
    if (!r)
        return may_be_named(p, at) ? named(p, word, at) : unknown(p, word, at);
    if (r->kind == DT_LIST)
        return vector_type(p, r);
    if (r->kind == DT_STRUCT)
        return *data_type_of_range((RangeKind)r->follows);
    DataType t = { .kind = r->kind };
    follow(p, &t, r);
    return t;
}

/* map[text=>int] */
static DataType bracket_map(Parser *p)
{
    DataType t = { .kind = DT_MAP, .nchildren = 2, .children = arena_array(p->a, DataType, 2), .mark = MARK_MAP };

    p_need_op(p, '[');
    t.children[0] = p_type(p);
    p_need_op(p, O_FAT_ARROW);
    t.children[1] = p_type(p);
    p_need_op(p, ']');
    return t;
}

/* record(a integer, b text) */
static DataType record_of(Parser *p)
{
    DataType t = { .kind = DT_STRUCT };
    Fields f = {0};

    p_need_op(p, '(');
    do {
        vec_push(p->a, &f.names, p_label(p));
        vec_push(p->a, &f.types, p_type(p));
        if (f.names.n > FIELDS_MAX)
            P_FAIL(p, E_LIMIT, p_pos(p), "a record of more than %d fields", FIELDS_MAX);
    } while (!p->status && p_take_op(p, ','));
    p_need_op(p, ')');
    t.nchildren = f.names.n;
    t.children = f.types.p;
    t.names = f.names.p;
    return t;
}

/* int[], int[3][], int ARRAY, int LIST */
static DataType array_suffix(Parser *p, DataType t)
{
    for (int n = 0;; n++) {
        bool bracket = p_is_op(p, '['), is_list = p_is_kind(p, TK_WORD) && str_ieq(p_peek(p, 0)->text, S("list"));
        if (!bracket && !p_is(p, K_ARRAY) && !is_list)
            return t;
        if (n >= 6)
            P_FAIL(p, E_LIMIT, p_pos(p), "number of array dimensions exceeds the maximum allowed (6)");
        p->at++;
        if (bracket) {
            if (p_is_kind(p, TK_NUMBER))
                p_integer(p);
            p_need_op(p, ']');
        }
        t = list_of(p, t);
        t.mark = is_list ? MARK_LIST : MARK_NONE;
        if (p->status)
            return t;
    }
}

/* ---- Spark's nested types --------------------------------------------------------------------------------------- */

/* One > of >> or >>>. */
void p_type_close(Parser *p)
{
    Token *t = (Token *)p_peek(p, 0);

    if (p_is_op(p, O_SHR) || p_is_op(p, O_USHR)) {
        t->id = t->id == O_USHR ? O_SHR : '>';
        t->start++;
        return;
    }
    p_need_op(p, '>');
}

static void struct_field(Parser *p, Fields *f)
{
    vec_push(p->a, &f->names, p_label(p));
    p_take_op(p, ':');
    vec_push(p->a, &f->types, p_type(p));
    p_take2(p, K_NOT, K_NULL);
    if (p_take(p, K_COMMENT))
        p_string(p);
    if (f->names.n > FIELDS_MAX)
        P_FAIL(p, E_LIMIT, p_pos(p), "a struct of more than %d fields", FIELDS_MAX);
}

static DataType struct_type(Parser *p)
{
    DataType t = { .kind = DT_STRUCT };
    Fields f = {0};

    if (p_take_op(p, O_NE))                                      /* STRUCT<> */
        return t;
    p_need_op(p, '<');
    if (!p_is_op(p, '>')) {
        do
            struct_field(p, &f);
        while (p_take_op(p, ','));
    }
    p_type_close(p);
    t.nchildren = f.names.n;
    t.children = f.types.p;
    t.names = f.names.p;
    return t;
}

static DataType map_type(Parser *p)
{
    DataType t = { .kind = DT_MAP, .nchildren = 2, .children = arena_array(p->a, DataType, 2) };

    p_need_op(p, '<');
    t.children[0] = p_type(p);
    p_need_op(p, ',');
    t.children[1] = p_type(p);
    p_type_close(p);
    return t;
}

static DataType nested(Parser *p)
{
    if (p_take(p, K_STRUCT))
        return struct_type(p);
    if (p_take(p, K_MAP))
        return map_type(p);
    p_need(p, K_ARRAY);
    p_need_op(p, '<');
    DataType t = list_of(p, p_type(p));
    p_type_close(p);
    return t;
}

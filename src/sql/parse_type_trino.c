/* SPDX-License-Identifier: Apache-2.0 */
/* parse_type_trino.c - type names as Athena reads them: Trino's in queries, Hive's beside them in its DDL.
 *
 * TIMESTAMP alone has three digits behind the second in queries, six in DDL (Iceberg's).  Digits are kept in `length`, one too many,
 * so that 0 stays "not said" (sql_time_digits).  DECIMAL alone is DECIMAL(38,0) in Trino, DECIMAL(10,0) in Hive.
 * CHAR(n), whose comparisons ignore blanks, and more than six digits are refused. */
#include "sql/parse_int.h"

enum { LENGTH_MAX = 2147483646, DIGITS_MAX = 6, DIGITS_PLAIN = 3, DECIMAL_MAX = 38, FIELDS_MAX = 10000 };
enum { F_NONE, F_LENGTH, F_DECIMAL, F_TIME, F_PRECISION, F_INTERVAL };
enum { TRINO = 1, HIVE = 2, BOTH = 3 };

typedef struct TypeRow { const char *name; int where; DataTypeKind kind; int follows; } TypeRow;

static const TypeRow TYPES[] = {
    { "boolean", BOTH, DT_BOOL, 0 },          { "tinyint", BOTH, DT_INT8, 0 },         { "smallint", BOTH, DT_INT16, 0 },
    { "integer", BOTH, DT_INT32, 0 },         { "int", BOTH, DT_INT32, 0 },            { "bigint", BOTH, DT_INT64, 0 },
    { "real", TRINO, DT_FLOAT, 0 },           { "float", HIVE, DT_FLOAT, 0 },          { "double", BOTH, DT_DOUBLE, F_PRECISION },
    { "decimal", BOTH, DT_DECIMAL, F_DECIMAL }, { "dec", TRINO, DT_DECIMAL, F_DECIMAL }, { "varchar", BOTH, DT_STRING, F_LENGTH },
    { "string", HIVE, DT_STRING, 0 },         { "varbinary", TRINO, DT_BINARY, 0 },    { "binary", HIVE, DT_BINARY, 0 },
    { "date", BOTH, DT_DATE, 0 },             { "time", BOTH, DT_TIME, F_TIME },       { "timestamp", BOTH, DT_TIMESTAMP, F_TIME },
    { "timestamptz", HIVE, DT_TIMESTAMPTZ, 0 }, { "interval", TRINO, DT_INTERVAL, F_INTERVAL }, { "json", TRINO, DT_JSON, 0 },
    { "uuid", BOTH, DT_UUID, 0 },             { "long", HIVE, DT_INT64, 0 },           { "unknown", TRINO, DT_NULL, 0 },
};

static const TypeRow *row_of(const Parser *p, Str word)
{
    for (size_t i = 0; i < COUNT_OF(TYPES); i++)
        if ((TYPES[i].where & (p->hive ? HIVE : TRINO)) && str_ieq(word, str_c(TYPES[i].name)))
            return &TYPES[i];
    return NULL;
}

bool p_type_is_trino(Parser *p)
{
    return p_is_kind(p, TK_WORD) && row_of(p, p_peek(p, 0)->text);
}

int sql_time_digits(const DataType *t) { return t->length ? t->length - 1 : DIGITS_MAX; }

/* ---- what follows the word ------------------------------------------------------------------------------------ */

static int64_t modifier(Parser *p, int64_t absent, int64_t min, int64_t max)
{
    if (!p_take_op(p, '('))
        return absent;
    int at = p_pos(p);
    int64_t n = p_integer(p);
    if (n < min || n > max)
        P_FAIL(p, E_UNSUPPORTED, at, "NOT_SUPPORTED: line %d:%d: the type's parameter %lld is not between %lld and %lld", p_line(p, at), p_column(p, at),
               (long long)n, (long long)min, (long long)max);
    p_need_op(p, ')');
    return n;
}

static void decimal(Parser *p, DataType *t)
{
    int at = p_pos(p);
    int64_t precision = p->hive ? 10 : DECIMAL_MAX, scale = 0;

    if (p_take_op(p, '(')) {
        precision = p_integer(p);
        if (p_take_op(p, ','))
            scale = p_integer(p);
        p_need_op(p, ')');
    }
    if (precision < 1 || precision > DECIMAL_MAX)
        P_FAIL(p, E_INVALID, at, "line %d:%d: DECIMAL precision must be in range [1, 38]: %lld", p_line(p, at), p_column(p, at), (long long)precision);
    else if (scale < 0 || scale > precision)
        P_FAIL(p, E_INVALID, at, "line %d:%d: DECIMAL scale must be in range [0, precision (%lld)]: %lld", p_line(p, at), p_column(p, at),
               (long long)precision, (long long)scale);
    t->precision = (int)precision;
    t->scale = (int)scale;
}

static void time_digits(Parser *p, DataType *t)
{
    int at = p_pos(p);
    int64_t digits = modifier(p, p->hive ? DIGITS_MAX : DIGITS_PLAIN, 0, DIGITS_MAX);

    t->length = (int)digits + 1;
    if (p_take3(p, K_WITH, K_TIME, K_ZONE)) {
        if (t->kind == DT_TIME)
            P_FAIL(p, E_UNSUPPORTED, at, "NOT_SUPPORTED: line %d:%d: TIME WITH TIME ZONE is not supported", p_line(p, at), p_column(p, at));
        t->kind = DT_TIMESTAMPTZ;
    } else {
        p_take3(p, K_WITHOUT, K_TIME, K_ZONE);
    }
}

/* YEAR TO MONTH, DAY TO SECOND */
static void interval(Parser *p)
{
    if (p_take(p, K_YEAR)) {
        p_need(p, K_TO);
        p_need(p, K_MONTH);
    } else {
        p_need(p, K_DAY);
        p_need(p, K_TO);
        p_need(p, K_SECOND);
    }
}

static void follow(Parser *p, DataType *t, int follows)
{
    switch (follows) {
    case F_LENGTH: t->length = (int)modifier(p, 0, 1, LENGTH_MAX); break;
    case F_DECIMAL: decimal(p, t); break;
    case F_TIME: time_digits(p, t); break;
    case F_INTERVAL: interval(p); break;
    case F_PRECISION: p_take(p, K_PRECISION); break;
    default: break;
    }
}

static DataType unknown(Parser *p, Str word, int at)
{
    static const char *const OTHERS[] = { "char", "ipaddress", "hyperloglog", "p4hyperloglog", "qdigest", "tdigest", "setdigest", "geometry", "sphericalgeography",
                                          "bingtile", "function" };
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++)
        if (str_ieq(word, str_c(OTHERS[i])))
            P_FAIL(p, E_UNSUPPORTED, at, "NOT_SUPPORTED: line %d:%d: type %s is not supported", p_line(p, at), p_column(p, at), OTHERS[i]);
    P_FAIL(p, E_INVALID, at, "TYPE_NOT_FOUND: line %d:%d: Unknown type: " STR_FMT, p_line(p, at), p_column(p, at), STR_ARG(word));
    return (DataType){ .kind = DT_NULL };
}

/* ---- nested types: array(x) and array<x>, map(k, v), row(a x, b y) and struct<a:x> ------------------------------- */

typedef struct Fields { VEC(DataType) types; StrVec names; } Fields;

static bool open(Parser *p, bool *angle)
{
    *angle = p_take_op(p, '<');
    if (!*angle)
        p_need_op(p, '(');
    return *angle;
}

static void close(Parser *p, bool angle)
{
    if (angle)
        p_type_close(p);
    else
        p_need_op(p, ')');
}

/* A row's field may lack a name: row(integer, varchar). */
static void field(Parser *p, Fields *f, bool angle)
{
    bool named = angle || !(p_is_op_at(p, 1, ',') || p_is_op_at(p, 1, ')') || p_is_op_at(p, 1, '(')) || p_is_kind(p, TK_QUOTED);

    Str name = named ? p_label(p) : str_fmt(p->a, "field%zu", f->names.n);

    vec_push(p->a, &f->names, name);
    if (angle)
        p_need_op(p, ':');
    vec_push(p->a, &f->types, p_type(p));
    if (angle && p_take(p, K_COMMENT))
        p_string(p);
    if (f->names.n > FIELDS_MAX)
        P_FAIL(p, E_LIMIT, p_pos(p), "a row of more than %d fields", FIELDS_MAX);
}

static DataType row_type(Parser *p)
{
    DataType t = { .kind = DT_STRUCT };
    Fields f = { 0 };
    bool angle;

    open(p, &angle);
    do
        field(p, &f, angle);
    while (p_take_op(p, ','));
    close(p, angle);
    t.nchildren = f.names.n;
    t.children = f.types.p;
    t.names = f.names.p;
    return t;
}

static DataType list_or_map(Parser *p, DataTypeKind kind)
{
    DataType t = { .kind = kind, .nchildren = kind == DT_MAP ? 2 : 1, .children = arena_array(p->a, DataType, 2) };
    bool angle;

    open(p, &angle);
    t.children[0] = p_type(p);
    if (kind == DT_MAP) {
        p_need_op(p, ',');
        t.children[1] = p_type(p);
    }
    close(p, angle);
    return t;
}

DataType p_type_trino(Parser *p)
{
    int at = p_pos(p);
    Str word = p_label(p);

    if (str_ieq(word, S("array")))
        return list_or_map(p, DT_LIST);
    if (str_ieq(word, S("map")))
        return list_or_map(p, DT_MAP);
    if (str_ieq(word, S("row")) || (p->hive && str_ieq(word, S("struct"))))
        return row_type(p);
    const TypeRow *r = row_of(p, word);
    if (!r)
        return unknown(p, word, at);
    DataType t = { .kind = r->kind };
    follow(p, &t, r->follows);
    return t;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sink_type.c - SQL types as Iceberg's, and the engine text that encodes a value (spec/materialize.md 2.9).
 *
 * The type is told by its SQL name where that says more than the engine's type (uint8, mz_timestamp, arrays beside lists, ranges), else by the engine's.
 * What a column's type cannot hold is poison: it fails the batch, becomes NULL, or, for numeric columns with SINK_POISON_TEXT, the column is text.
 * Invariant: ids are given depth first, a column before its parts. */
#include "sink/sink_int.h"

enum { NUMERIC_SCALE = 10, NUMERIC_PRECISION = 38, ARRAY_DEPTH = 16 };

static Encoding *encoding_new(Arena *a, Conv conv, IceTypeKind kind, const DataType *from)
{
    Encoding *e = arena_new(a, Encoding);

    e->conv = conv;
    e->from = *from;
    e->ice = arena_new(a, IceType);
    e->ice->kind = kind;
    return e;
}

static Encoding *cast_to(Arena *a, IceTypeKind kind, const DataType *from, const char *target)
{
    Encoding *e = encoding_new(a, CONV_CAST, kind, from);
    e->target = str_c(target);
    return e;
}

static Encoding *decimal_20(Arena *a, const DataType *from)
{
    Encoding *e = cast_to(a, ICE_DECIMAL, from, "DECIMAL(20,0)");
    e->ice->precision = 20;
    return e;
}

/* ---- names -------------------------------------------------------------------------------------------------------------- */

/* "numeric(38,2)" to "numeric" and its modifiers. */
static Str base_name(Arena *a, Str type, Str *modifiers)
{
    ptrdiff_t open = str_chr(type, '(');

    *modifiers = (Str){0};
    if (open < 0)
        return str_lower(a, str_trim(type));
    ptrdiff_t close = str_chr(type, ')');
    if (close > open)
        *modifiers = str_sub(type, (size_t)open + 1, (size_t)close);
    return str_lower(a, str_trim(str_sub(type, 0, (size_t)open)));
}

static bool is_one_of(Str name, const char *const *list)
{
    for (; *list; list++)
        if (str_eq(name, str_c(*list)))
            return true;
    return false;
}

typedef struct RangeRow { const char *name, *bound; DataTypeKind kind; } RangeRow;
static const RangeRow RANGES[] = {
    { "int4range", "integer", DT_INT32 }, { "int8range", "bigint", DT_INT64 }, { "numrange", "numeric", DT_DECIMAL },
    { "daterange", "date", DT_DATE }, { "tsrange", "timestamp", DT_TIMESTAMP }, { "tstzrange", "timestamptz", DT_TIMESTAMPTZ },
};

static const RangeRow *range_row(Str name)
{
    for (size_t i = 0; i < COUNT_OF(RANGES); i++)
        if (str_eq(name, str_c(RANGES[i].name)))
            return &RANGES[i];
    return NULL;
}

/* ---- numeric ------------------------------------------------------------------------------------------------------------- */

/* Does every value of a decimal type fit another? */
static bool fits(const DataType *t, int scale)
{
    return t->kind == DT_DECIMAL && t->scale <= scale && t->precision - t->scale <= NUMERIC_PRECISION - scale;
}

static Encoding *numeric(Arena *a, const SinkSpec *s, Str modifiers, const DataType *t)
{
    StrVec parts = {0};
    int64_t scale = NUMERIC_SCALE;

    if (modifiers.n) {
        str_split(a, modifiers, ',', &parts);
        scale = 0;
        if (parts.n > 1 && (!str_to_i64(str_trim(parts.p[1]), &scale) || scale < 0 || scale > NUMERIC_PRECISION))
            return NULL;                              /* "Numeric max scale 39 out of range" */
    }
    if (!fits(t, (int)scale) && s->poison == SINK_POISON_TEXT)
        return cast_to(a, ICE_STRING, t, "VARCHAR");
    Encoding *e = encoding_new(a, fits(t, (int)scale) ? CONV_CAST : CONV_DECIMAL, ICE_DECIMAL, t);
    e->ice->precision = NUMERIC_PRECISION;
    e->ice->scale = (int)scale;
    e->target = str_fmt(a, "DECIMAL(%d,%d)", NUMERIC_PRECISION, (int)scale);
    return e;
}

/* ---- nested --------------------------------------------------------------------------------------------------------------- */

static void add_field(Arena *a, Encoding *e, Str name, int required, int32_t *next_id)
{
    vec_push(a, &e->ice->fields, ((IceField){ .id = (*next_id)++, .name = name, .required = required }));
}

static Encoding *add_part(Arena *a, Encoding *e, const SinkSpec *s, Str sql_type, const DataType *t, int32_t *next_id)
{
    Encoding *part = sink_encoding(a, s, sql_type, t, next_id);
    Encoding **parts = arena_array(a, Encoding *, e->nparts + 1);

    if (!part)
        return NULL;
    for (size_t i = 0; i < e->nparts; i++)
        parts[i] = e->parts[i];
    parts[e->nparts++] = part;
    e->parts = parts;
    return part;
}

static Encoding *list(Arena *a, const SinkSpec *s, Str element, const DataType *t, int32_t *next_id)
{
    Encoding *e = encoding_new(a, CONV_LIST, ICE_LIST, t);

    add_field(a, e, S("element"), 0, next_id);
    Encoding *part = add_part(a, e, s, element, &t->children[0], next_id);
    if (!part)
        return NULL;
    e->ice->fields.p[0].type = part->ice;
    return e;
}

/* struct{items: list<T>, dimensions: int}; more dimensions are flattened. */
static Encoding *array(Arena *a, const SinkSpec *s, Str element, const DataType *t, int32_t *next_id)
{
    Encoding *e = encoding_new(a, CONV_ARRAY, ICE_STRUCT, t);
    const DataType *inner = &t->children[0];
    IceType *items = arena_new(a, IceType);

    for (e->dimensions = 1; inner->kind == DT_LIST && inner->nchildren == 1 && e->dimensions < ARRAY_DEPTH; e->dimensions++)
        inner = &inner->children[0];
    while (str_ends(element, S("[]")))
        element = str_sub(element, 0, element.n - 2);
    add_field(a, e, S("items"), 1, next_id);
    items->kind = ICE_LIST;
    e->ice->fields.p[0].type = items;
    vec_push(a, &items->fields, ((IceField){ .id = (*next_id)++, .name = S("element") }));
    Encoding *part = add_part(a, e, s, element, inner, next_id);
    if (!part)
        return NULL;
    items->fields.p[0].type = part->ice;
    add_field(a, e, S("dimensions"), 1, next_id);
    e->ice->fields.p[1].type = arena_new(a, IceType);
    e->ice->fields.p[1].type->kind = ICE_INT;
    return e;
}

static Encoding *map(Arena *a, const SinkSpec *s, Str value, const DataType *t, int32_t *next_id)
{
    Encoding *e = encoding_new(a, CONV_MAP, ICE_MAP, t);

    add_field(a, e, S("key"), 1, next_id);
    e->ice->fields.p[0].type = arena_new(a, IceType);
    e->ice->fields.p[0].type->kind = ICE_STRING;
    add_field(a, e, S("value"), 0, next_id);
    Encoding *part = add_part(a, e, s, value, &t->children[1], next_id);
    if (!part)
        return NULL;
    e->ice->fields.p[1].type = part->ice;
    return e;
}

static Encoding *record(Arena *a, const SinkSpec *s, const DataType *t, int32_t *next_id)
{
    Encoding *e = encoding_new(a, CONV_STRUCT, ICE_STRUCT, t);

    for (size_t i = 0; i < t->nchildren; i++) {
        add_field(a, e, t->names[i], 0, next_id);
        Encoding *part = add_part(a, e, s, (Str){0}, &t->children[i], next_id);
        if (!part)
            return NULL;
        e->ice->fields.p[i].type = part->ice;
    }
    return e->nparts ? e : NULL;
}

static Encoding *range(Arena *a, const SinkSpec *s, const RangeRow *row, const DataType *t, int32_t *next_id)
{
    static const char *const flags[] = { "lower_inclusive", "upper_inclusive", "empty" };
    Encoding *e = encoding_new(a, CONV_RANGE, ICE_STRUCT, t);
    DataType bound = { .kind = row->kind, .precision = NUMERIC_PRECISION, .scale = NUMERIC_SCALE };

    if (t->kind != DT_STRING && !data_type_range(t))
        return NULL;
    if (data_type_range(t))
        bound = t->children[RANGE_LO];
    for (size_t i = 0; i < 2; i++) {
        add_field(a, e, i ? S("upper") : S("lower"), 0, next_id);
        Encoding *part = add_part(a, e, s, str_c(row->bound), &bound, next_id);
        if (!part)
            return NULL;
        e->ice->fields.p[i].type = part->ice;
    }
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        add_field(a, e, str_c(flags[i]), 0, next_id);
        vec_last(&e->ice->fields).type = arena_new(a, IceType);
    }
    return e;
}

/* ---- all of them ------------------------------------------------------------------------------------------------------------ */

static Encoding *by_engine(Arena *a, const SinkSpec *s, const DataType *t, int32_t *next_id)
{
    switch (t->kind) {
    case DT_BOOL: return encoding_new(a, CONV_SAME, ICE_BOOLEAN, t);
    case DT_INT8: case DT_INT16: case DT_UINT8: case DT_UINT16: return cast_to(a, ICE_INT, t, "INTEGER");
    case DT_INT32: return encoding_new(a, CONV_SAME, ICE_INT, t);
    case DT_UINT32: return cast_to(a, ICE_LONG, t, "BIGINT");
    case DT_INT64: return encoding_new(a, CONV_SAME, ICE_LONG, t);
    case DT_UINT64: return decimal_20(a, t);
    case DT_INT128: case DT_UINT128: return numeric(a, s, S("38,0"), t);
    case DT_FLOAT: return encoding_new(a, CONV_SAME, ICE_FLOAT, t);
    case DT_DOUBLE: return encoding_new(a, CONV_SAME, ICE_DOUBLE, t);
    case DT_DECIMAL: return numeric(a, s, str_fmt(a, "38,%d", t->scale), t);
    case DT_DATE: return encoding_new(a, CONV_FINITE, ICE_DATE, t);
    case DT_TIME: return encoding_new(a, CONV_SAME, ICE_TIME, t);
    case DT_TIMESTAMP: return encoding_new(a, CONV_FINITE, ICE_TIMESTAMP, t);
    case DT_TIMESTAMPTZ: return encoding_new(a, CONV_FINITE, ICE_TIMESTAMPTZ, t);
    case DT_INTERVAL: case DT_UUID: case DT_ENUM: return cast_to(a, ICE_STRING, t, "VARCHAR");
    case DT_STRING: return encoding_new(a, CONV_SAME, ICE_STRING, t);
    case DT_BINARY: return encoding_new(a, CONV_SAME, ICE_BINARY, t);
    case DT_JSON: return encoding_new(a, CONV_JSON, ICE_STRING, t);
    case DT_LIST: return t->nchildren == 1 ? list(a, s, (Str){0}, t, next_id) : NULL;
    case DT_MAP: return t->nchildren == 2 && t->children[0].kind == DT_STRING ? map(a, s, (Str){0}, t, next_id) : NULL;
    case DT_STRUCT: return data_type_range(t) ? range(a, s, range_row(str_c(range_name(data_type_range(t)))), t, next_id) : record(a, s, t, next_id);
    default: return NULL;
    }
}

static Encoding *by_name(Arena *a, const SinkSpec *s, Str name, Str modifiers, const DataType *t, int32_t *next_id)
{
    static const char *const twenty[] = { "uint8", "mz_timestamp", NULL };
    static const char *const numerics[] = { "numeric", "decimal", "dec", NULL };
    static const char *const none[] = { "oid", "regproc", "regtype", "regclass", "int2vector", "oidvector", "aclitem", "mz_aclitem", "timetz", NULL };
    const RangeRow *row = range_row(name);

    if (is_one_of(name, none))
        return NULL;
    if (row)
        return range(a, s, row, t, next_id);
    if (is_one_of(name, twenty))
        return decimal_20(a, t);
    if (is_one_of(name, numerics))
        return numeric(a, s, modifiers, t);
    return by_engine(a, s, t, next_id);
}

Encoding *sink_encoding(Arena *a, const SinkSpec *s, Str sql_type, const DataType *t, int32_t *next_id)
{
    Str type = str_trim(sql_type), modifiers, name = base_name(a, type, &modifiers);
    bool is_list = t->kind == DT_LIST && t->nchildren == 1;

    if (is_list && str_ends(type, S("[]")))
        return array(a, s, str_sub(type, 0, type.n - 2), t, next_id);
    if (is_list && str_ends(type, S(" list")))
        return list(a, s, str_sub(type, 0, type.n - 5), t, next_id);
    if (t->kind == DT_MAP && t->nchildren == 2 && str_starts(type, S("map[")) && str_ends(type, S("]"))) {
        ptrdiff_t arrow = str_find(type, S("=>"));
        return arrow > 0 ? map(a, s, str_sub(type, (size_t)arrow + 2, type.n - 1), t, next_id) : NULL;
    }
    return by_name(a, s, name, modifiers, t, next_id);
}

void sink_encoding_fit(Arena *a, Encoding *e, const IceType *table)
{
    if (e->from.kind == DT_UUID && table->kind == ICE_FIXED && table->length == 16) {
        e->conv = CONV_UUID16;
        e->ice = arena_new(a, IceType);
        *e->ice = *table;
    }
    if (e->conv == CONV_LIST && table->kind == ICE_LIST && table->fields.n == 1)
        sink_encoding_fit(a, e->parts[0], table->fields.p[0].type);
}

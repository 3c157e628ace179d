/* SPDX-License-Identifier: Apache-2.0 */
/* format_avro_type.c - the columns and types of an Avro schema, and the values that its defaults stand for.
 *
 * As Materialize has it: a union of null and one type is that type, nullable; a field whose union has several others becomes one column for each, numbered from 1.
 * A recursive record has no type here.  A record type that is used twice is one shape; the types are counted, since shared ones multiply. */
#include "source/format_int.h"

enum { MAX_TYPES = 20 * 1000, MAX_DECIMAL = 38 };

static Status plain_type(AvroShapes *s, const AvroSchema *t, DataType *ret, Error *err);

static bool is(Str s, const char *z) { return str_eq(s, str_c(z)); }

const AvroSchema *avro_not_null(const AvroSchema *t)
{
    const AvroSchema *found = NULL;

    if (t->kind != AVRO_UNION)
        return t->kind == AVRO_NULL ? NULL : t;
    for (size_t i = 0; i < t->branches.n; i++) {
        if (t->branches.p[i]->kind == AVRO_NULL)
            continue;
        if (found)
            return NULL;
        found = t->branches.p[i];
    }
    return found;
}

/* ---- logical types ------------------------------------------------------------------------------------------------------------------------ */

static const struct { AvroKind kind; const char *logical, *connect; DataTypeKind type; } meanings[] = {
    { AVRO_INT, "date", "io.debezium.time.Date", DT_DATE },
    { AVRO_INT, "time-millis", "io.debezium.time.Time", DT_TIME },
    { AVRO_LONG, "time-micros", "io.debezium.time.MicroTime", DT_TIME },
    { AVRO_LONG, "timestamp-millis", "io.debezium.time.Timestamp", DT_TIMESTAMP },
    { AVRO_LONG, "timestamp-micros", "io.debezium.time.MicroTimestamp", DT_TIMESTAMP },
    { AVRO_LONG, "timestamp-nanos", "io.debezium.time.NanoTimestamp", DT_TIMESTAMP },
    { AVRO_LONG, "local-timestamp-millis", "", DT_TIMESTAMP },
    { AVRO_LONG, "local-timestamp-micros", "", DT_TIMESTAMP },
    { AVRO_LONG, "local-timestamp-nanos", "", DT_TIMESTAMP },
    { AVRO_STRING, "uuid", "", DT_UUID },
    { AVRO_STRING, "", "io.debezium.data.Json", DT_JSON },
};

static const DataTypeKind simple[] = {
    [AVRO_BOOL] = DT_BOOL, [AVRO_INT] = DT_INT32, [AVRO_LONG] = DT_INT64, [AVRO_FLOAT] = DT_FLOAT, [AVRO_DOUBLE] = DT_DOUBLE,
    [AVRO_BYTES] = DT_BINARY, [AVRO_FIXED] = DT_BINARY, [AVRO_STRING] = DT_STRING, [AVRO_ENUM] = DT_STRING,
};

static DataType scalar_type(const AvroSchema *t)
{
    for (size_t i = 0; i < COUNT_OF(meanings); i++)
        if (t->kind == meanings[i].kind && ((t->logical.n && is(t->logical, meanings[i].logical)) || (t->connect.n && is(t->connect, meanings[i].connect))))
            return type_of(meanings[i].type);
    if (t->kind == AVRO_FIXED && t->size == 12 && is(t->logical, "duration"))
        return type_of(DT_INTERVAL);
    if (t->kind == AVRO_FIXED && t->size == 16 && is(t->logical, "uuid"))
        return type_of(DT_UUID);
    return type_of(simple[t->kind]);
}

static Status decimal_type(const AvroSchema *t, DataType *ret, Error *err)
{
    if (t->precision > MAX_DECIMAL)
        return FAIL(err, E_UNSUPPORTED, "Avro: decimals with precision greater than %d are not supported, this one has %d", MAX_DECIMAL, t->precision);
    *ret = type_decimal(t->precision, t->scale);
    return OK;
}

/* ---- types ---------------------------------------------------------------------------------------------------------------------------------- */

/* Of an element of an array or map. */
static Status element_type(AvroShapes *s, const AvroSchema *t, DataType *ret, Error *err)
{
    const AvroSchema *plain = avro_not_null(t);

    if (!plain)
        return FAIL(err, E_UNSUPPORTED, "Avro: %s in arrays and maps are not supported", t->kind == AVRO_UNION ? "unions of several types" : "nulls");
    return plain_type(s, plain, ret, err);
}

static Status record_type(AvroShapes *s, const AvroSchema *t, DataType *ret, Error *err)
{
    AvroShape *shape;

    TRY(avro_shape(s, t, &shape, err));
    if (!shape->types.n)
        return FAIL(err, E_UNSUPPORTED, "Avro: record '" STR_FMT "' has no fields", STR_ARG(t->name));
    *ret = (DataType){ .kind = DT_STRUCT, .nchildren = shape->types.n, .children = shape->types.p, .names = shape->names.p };
    return OK;
}

static Status plain_type(AvroShapes *s, const AvroSchema *t, DataType *ret, Error *err)
{
    DataType element;

    if (++s->types > MAX_TYPES)
        return FAIL(err, E_LIMIT, "Avro: the schema has more than %d types", MAX_TYPES);
    switch (t->kind) {
    case AVRO_ARRAY:
        TRY(element_type(s, t->element, &element, err));
        *ret = type_list(s->a, element);
        return OK;
    case AVRO_MAP:
        TRY(element_type(s, t->element, &element, err));
        *ret = type_map(s->a, type_of(DT_STRING), element);
        return OK;
    case AVRO_RECORD: return record_type(s, t, ret, err);
    case AVRO_NULL: case AVRO_UNION: return FAIL(err, E_UNSUPPORTED, "Avro: a column that can only be null");
    default: break;
    }
    if (is(t->logical, "decimal") && (t->kind == AVRO_BYTES || t->kind == AVRO_FIXED))
        return decimal_type(t, ret, err);
    *ret = scalar_type(t);
    return OK;
}

Status avro_type(AvroShapes *s, const AvroSchema *t, DataType *ret, int *nullable, Error *err)
{
    const AvroSchema *plain = avro_not_null(t);

    *nullable = t->kind == AVRO_UNION && t->branches.n > 1;
    if (!plain)
        return FAIL(err, E_UNSUPPORTED, "Avro: a union of several types is not supported here");
    return plain_type(s, plain, ret, err);
}

/* ---- shapes of records ------------------------------------------------------------------------------------------------------------------------ */

static Status add_slot(AvroShapes *s, AvroShape *shape, AvroSlot slot, Str name, int not_null, Error *err)
{
    DataType type;

    if (shape->slots.n >= FORMAT_MAX_COLUMNS)
        return FAIL(err, E_LIMIT, "Avro: record '" STR_FMT "' has more than %d columns", STR_ARG(shape->record->name), FORMAT_MAX_COLUMNS);
    TRY_CTX(plain_type(s, slot.type, &type, err), err, "field '" STR_FMT "'", STR_ARG(str_sub(name, 0, 100)));
    vec_push(s->a, &shape->slots, slot);
    vec_push(s->a, &shape->names, name);
    vec_push(s->a, &shape->types, type);
    vec_push(s->a, &shape->not_null, not_null);
    return OK;
}

static Status add_split(AvroShapes *s, AvroShape *shape, size_t i, Error *err)
{
    const AvroField *f = &shape->record->fields.p[i];
    size_t n = 0;

    for (size_t k = 0; f->type->kind == AVRO_UNION && k < f->type->branches.n; k++) {
        if (f->type->branches.p[k]->kind == AVRO_NULL)
            continue;
        AvroSlot slot = { .field = i, .type = f->type->branches.p[k], .split = 1, .branch = k };
        TRY(add_slot(s, shape, slot, str_fmt(s->a, STR_FMT "%zu", STR_ARG(f->name), ++n), 0, err));
    }
    return n ? OK : FAIL(err, E_UNSUPPORTED, "Avro: field '" STR_FMT "' can only be null", STR_ARG(str_sub(f->name, 0, 100)));
}

/* The default comes last: by then it is known that the type does not hold itself. */
static Status add_field(AvroShapes *s, AvroShape *shape, size_t i, Error *err)
{
    const AvroField *f = &shape->record->fields.p[i];
    const AvroSchema *plain = avro_not_null(f->type);

    if (plain)
        TRY(add_slot(s, shape, (AvroSlot){ .field = i, .type = plain }, f->name, f->type->kind != AVRO_UNION || f->type->branches.n == 1, err));
    else
        TRY(add_split(s, shape, i, err));
    if (f->fallback)
        TRY_CTX(avro_default(s->a, f->type, f->fallback, &shape->fallbacks[i], err), err, "Avro: the default of field '" STR_FMT "'", STR_ARG(str_sub(f->name, 0, 100)));
    return OK;
}

/* A shape that is known but has no record yet is being made: the record holds itself. */
Status avro_shape(AvroShapes *s, const AvroSchema *record, AvroShape **ret, Error *err)
{
    AvroShape *shape = map_get(&s->by_name, record->name);

    if (shape && !shape->record)
        return FAIL(err, E_UNSUPPORTED, "Avro: recursive types are not supported: '" STR_FMT "'", STR_ARG(record->name));
    if (shape) {
        s->types += shape->weight;
        *ret = shape;
        return OK;
    }
    if (s->depth >= FORMAT_MAX_DEPTH)
        return FAIL(err, E_LIMIT, "Avro: records nested deeper than %d", FORMAT_MAX_DEPTH);
    s->depth++;
    size_t before = s->types;
    AvroShape *open = arena_new(s->a, AvroShape);
    map_put(&s->by_name, record->name, open);
    shape = arena_new(s->a, AvroShape);
    shape->record = record;
    shape->fallbacks = arena_array(s->a, AvroValue, record->fields.n + 1);
    for (size_t i = 0; i < record->fields.n; i++)
        TRY(add_field(s, shape, i, err));
    s->depth--;
    shape->weight = s->types - before;
    map_put(&s->by_name, record->name, shape);
    *ret = shape;
    return OK;
}

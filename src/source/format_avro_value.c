/* SPDX-License-Identifier: Apache-2.0 */
/* format_avro_value.c - an Avro value, decoded by its writer's schema, to the cells that the reader's schema asks for (Avro 1.11, "Schema Resolution").
 *
 * Fields go by name or the reader's aliases, missing ones take the reader's default, numbers widen, enums go by symbol.  A logical type is taken from the writer
 * where it has one, so a change from milliseconds to microseconds is seen. */
#include "source/format_int.h"

static const int64_t US_A_SECOND = 1000 * 1000, US_A_DAY = 86400LL * 1000 * 1000;
/* What PostgreSQL's and the engine's types both hold. */
static const int64_t TIMESTAMP_MIN = -210866803200000000, TIMESTAMP_MAX = 9223371331200000000 - 1;
static const int64_t DATE_MIN = -2440588, DATE_MAX = 106751991;

static bool is(Str s, const char *z) { return str_eq(s, str_c(z)); }

static Status wrong(AvroConvert *c, const AvroValue *v, const char *wanted)
{
    static const char *const names[] = { "null", "boolean", "int", "long", "float", "double", "bytes", "string", "fixed", "enum", "array", "map", "record", "union" };
    return FAIL(c->err, E_INVALID, "Avro: the writer has %s where the reader's schema has %s", names[v->kind], wanted);
}

/* ---- scalars ---------------------------------------------------------------------------------------------------------------------------- */

static Str unit_of(const AvroValue *v, const AvroSchema *reader)
{
    if (v->schema && v->schema->logical.n)
        return v->schema->logical;
    if (v->schema && v->schema->connect.n)
        return v->schema->connect;
    return reader->logical.n ? reader->logical : reader->connect;
}

/* Of a time or timestamp. */
static Status micros(AvroConvert *c, const AvroValue *v, const AvroSchema *reader, int64_t low, int64_t high, int64_t *ret)
{
    Str unit = unit_of(v, reader);
    __int128 us = v->integer;

    if (str_ends(unit, S("millis")) || is(unit, "io.debezium.time.Timestamp") || is(unit, "io.debezium.time.Time"))
        us *= 1000;
    else if (str_ends(unit, S("nanos")) || is(unit, "io.debezium.time.NanoTimestamp"))
        us = us / 1000 - (us % 1000 < 0);
    if (us < low || us > high)
        return FAIL(c->err, E_OVERFLOW, "Avro: a time that is out of range: %lld", (long long)v->integer);
    *ret = (int64_t)us;
    return OK;
}

static Status temporal(AvroConvert *c, const AvroValue *v, const AvroSchema *reader, const DataType *t, Value *ret)
{
    if (v->kind != AVRO_INT && v->kind != AVRO_LONG)
        return wrong(c, v, "a date or time");
    *ret = value_int(t, v->integer);
    if (t->kind == DT_TIMESTAMP)
        return micros(c, v, reader, TIMESTAMP_MIN, TIMESTAMP_MAX, &ret->integer);
    if (t->kind == DT_TIME)
        return micros(c, v, reader, 0, US_A_DAY - 1, &ret->integer);
    if (v->integer < DATE_MIN || v->integer > DATE_MAX)
        return FAIL(c->err, E_OVERFLOW, "Avro: a date that is out of range: %lld", (long long)v->integer);
    return OK;
}

static Status integer(AvroConvert *c, const AvroValue *v, const DataType *t, Value *ret)
{
    if (v->kind != AVRO_INT && (v->kind != AVRO_LONG || t->kind == DT_INT32))
        return wrong(c, v, t->kind == DT_INT32 ? "an int" : "a long");
    *ret = value_int(t, v->integer);
    return OK;
}

static Status real(AvroConvert *c, const AvroValue *v, const DataType *t, Value *ret)
{
    *ret = (Value){ .kind = t->kind, .type = t };
    if (v->kind == AVRO_INT || v->kind == AVRO_LONG)
        ret->real = t->kind == DT_FLOAT ? (double)(float)v->integer : (double)v->integer;
    else if (v->kind == AVRO_FLOAT || (v->kind == AVRO_DOUBLE && t->kind == DT_DOUBLE))
        ret->real = v->real;
    else
        return wrong(c, v, t->kind == DT_FLOAT ? "a float" : "a double");
    return OK;
}

/* Two's complement, the most significant byte first; superfluous leading bytes are allowed. */
static bool wide_of(Str bytes, __int128 *ret)
{
    bool negative = bytes.n && (bytes.p[0] & 0x80);
    unsigned __int128 v = negative ? ~(unsigned __int128)0 : 0;

    for (size_t i = 0; i < bytes.n; i++) {
        if (i + 16 < bytes.n && (unsigned char)bytes.p[i] != (negative ? 0xFF : 0))
            return false;
        v = v << 8 | (unsigned char)bytes.p[i];
    }
    *ret = (__int128)v;
    return bytes.n < 17 || (*ret < 0) == negative;
}

static Status decimal(AvroConvert *c, const AvroValue *v, const DataType *t, Value *ret)
{
    __int128 limit = 1;

    if (v->kind != AVRO_BYTES && v->kind != AVRO_FIXED)
        return wrong(c, v, "a decimal");
    if (v->schema && is(v->schema->logical, "decimal") && v->schema->scale != t->scale)
        return FAIL(c->err, E_INVALID, "Avro: a decimal of scale %d where the reader's schema has %d", v->schema->scale, t->scale);
    for (int i = 0; i < t->precision; i++)
        limit *= 10;
    *ret = (Value){ .kind = DT_DECIMAL, .type = t };
    if (!wide_of(v->bytes, &ret->wide) || ret->wide >= limit || ret->wide <= -limit)
        return FAIL(c->err, E_OVERFLOW, "Avro: a decimal that does not fit numeric(%d,%d)", t->precision, t->scale);
    return OK;
}

static bool uuid_bytes(Arena *a, Str text, Str *ret)
{
    StrBuf hex = sb_new(a);

    for (size_t i = 0; i < text.n && text.n == 36; i++) {
        if ((i == 8 || i == 13 || i == 18 || i == 23) != (text.p[i] == '-'))
            return false;
        if (text.p[i] != '-')
            sb_byte(&hex, text.p[i]);
    }
    return hex.n == 32 && hex_decode(a, sb_str(&hex), ret);
}

static Status uuid(AvroConvert *c, const AvroValue *v, const DataType *t, Value *ret)
{
    *ret = (Value){ .kind = DT_UUID, .type = t, .string = v->bytes };
    if (v->kind == AVRO_FIXED && v->bytes.n == 16)
        return OK;
    if (v->kind != AVRO_STRING)
        return wrong(c, v, "a uuid");
    return uuid_bytes(c->a, v->bytes, &ret->string) ? OK : FAIL(c->err, E_INVALID, "Avro: '" STR_FMT "' is no uuid", STR_ARG(str_sub(v->bytes, 0, 50)));
}

/* Months, days, milliseconds, each an unsigned little-endian integer. */
static Status interval(AvroConvert *c, const AvroValue *v, const DataType *t, Value *ret)
{
    uint32_t part[3] = {0};

    if (v->kind != AVRO_FIXED || v->bytes.n != 12)
        return wrong(c, v, "a duration");
    for (int i = 0; i < 12; i++)
        part[i / 4] |= (uint32_t)(unsigned char)v->bytes.p[i] << i % 4 * 8;
    if (part[0] > INT32_MAX || part[1] > INT32_MAX)
        return FAIL(c->err, E_OVERFLOW, "Avro: a duration of %u months and %u days is out of range", part[0], part[1]);
    *ret = (Value){ .kind = DT_INTERVAL, .type = t };
    ret->interval.months = (int32_t)part[0];
    ret->interval.days = (int32_t)part[1];
    ret->interval.micros = (int64_t)part[2] * (US_A_SECOND / 1000);
    return OK;
}

static Status symbol(AvroConvert *c, const AvroValue *v, const AvroSchema *reader, const DataType *t, Value *ret)
{
    if (v->kind != AVRO_ENUM)
        return wrong(c, v, "an enum");
    Str s = v->schema->symbols.p[v->integer];
    if (!strvec_has(&reader->symbols, s)) {
        if (!reader->symbol_default.n)
            return FAIL(c->err, E_INVALID, "Avro: enum symbol '" STR_FMT "' is unknown to the reader's schema", STR_ARG(str_sub(s, 0, 100)));
        s = reader->symbol_default;
    }
    return format_text_value(s, t, ret, c->err);
}

static Status text(AvroConvert *c, const AvroValue *v, const AvroSchema *reader, const DataType *t, Value *ret)
{
    if (reader->kind == AVRO_ENUM)
        return symbol(c, v, reader, t, ret);
    if (v->kind != AVRO_STRING && v->kind != AVRO_BYTES)
        return wrong(c, v, "a string");
    return format_text_value(v->bytes, t, ret, c->err);
}

static Status bytes(AvroConvert *c, const AvroValue *v, const AvroSchema *reader, const DataType *t, Value *ret)
{
    bool fits = reader->kind == AVRO_FIXED ? v->kind == AVRO_FIXED && v->bytes.n == (size_t)reader->size : v->kind == AVRO_BYTES || v->kind == AVRO_STRING;

    if (!fits)
        return wrong(c, v, reader->kind == AVRO_FIXED ? "a fixed of its size" : "bytes");
    *ret = (Value){ .kind = DT_BINARY, .type = t, .string = v->bytes };
    return OK;
}

static Status json(AvroConvert *c, const AvroValue *v, const DataType *t, Value *ret)
{
    if (v->kind != AVRO_STRING && v->kind != AVRO_BYTES)
        return wrong(c, v, "a string");
    *ret = (Value){ .kind = DT_JSON, .type = t };
    return format_json_text(c->a, v->bytes, &ret->string, c->err);
}

/* ---- arrays, maps, records ---------------------------------------------------------------------------------------------------------------- */

static Status element(AvroConvert *c, const AvroValue *v, const AvroSchema *reader, const DataType *t, Value *ret)
{
    const AvroSchema *plain = avro_not_null(reader);

    if (v->kind != AVRO_NULL)
        return avro_convert(c, v, plain, t, ret);
    if (plain == reader)
        return wrong(c, v, "a value");
    *ret = value_null(t);
    return OK;
}

static Status room_for(AvroConvert *c, size_t n, Value **ret)
{
    c->items += n;
    if (c->items > FORMAT_MAX_ITEMS)
        return FAIL(c->err, E_LIMIT, "Avro: more than %d values in a message", FORMAT_MAX_ITEMS);
    *ret = arena_array(c->a, Value, n + 1);
    return OK;
}

static Status list(AvroConvert *c, const AvroValue *v, const AvroSchema *reader, const DataType *t, Value *ret)
{
    if (v->kind != AVRO_ARRAY)
        return wrong(c, v, "an array");
    *ret = (Value){ .kind = DT_LIST, .type = t };
    TRY(room_for(c, v->items.n, &ret->items.p));
    ret->items.n = v->items.n;
    for (size_t i = 0; i < v->items.n; i++)
        TRY(element(c, &v->items.p[i], reader->element, &t->children[0], &ret->items.p[i]));
    return OK;
}

/* Later entries of a key win. */
static size_t place_of(Map *seen, Str key, size_t next)
{
    void *at = map_get(seen, key);
    if (!at)
        map_put(seen, key, (void *)(uintptr_t)(next + 1));
    return at ? (size_t)(uintptr_t)at - 1 : next;
}

static Status map(AvroConvert *c, const AvroValue *v, const AvroSchema *reader, const DataType *t, Value *ret)
{
    Map seen = map_new(c->a);

    if (v->kind != AVRO_MAP)
        return wrong(c, v, "a map");
    *ret = (Value){ .kind = DT_MAP, .type = t };
    TRY(room_for(c, v->map.n * 2, &ret->items.p));
    for (size_t i = 0; i < v->map.n; i++) {
        size_t at = place_of(&seen, v->map.keys[i], ret->items.n / 2);
        TRY(format_text_value(v->map.keys[i], &t->children[0], &ret->items.p[2 * at], c->err));
        TRY(element(c, &v->map.p[i], reader->element, &t->children[1], &ret->items.p[2 * at + 1]));
        if (2 * at == ret->items.n)
            ret->items.n += 2;
    }
    return OK;
}

static Status record(AvroConvert *c, const AvroValue *v, const AvroSchema *reader, const DataType *t, Value *ret)
{
    const AvroShape *shape = map_get(&c->shapes->by_name, reader->name);

    *ret = (Value){ .kind = DT_STRUCT, .type = t };
    TRY(room_for(c, t->nchildren, &ret->items.p));
    ret->items.n = t->nchildren;
    return avro_cells(c, v, shape, t->children, sizeof *t->children, ret->items.p);
}

static bool named(const AvroField *f, Str name)
{
    return str_eq(f->name, name) || strvec_has(&f->aliases, name);
}

/* The writer's value of a field of the reader; most often it stands at the same place. NULL: it has none. */
static const AvroValue *field_of(const AvroValue *v, const AvroField *f, size_t i)
{
    const AvroSchema *w = v->schema;

    if (i < v->items.n && str_eq(w->fields.p[i].name, f->name))
        return &v->items.p[i];
    for (i = 0; i < v->items.n; i++)
        if (named(f, w->fields.p[i].name))
            return &v->items.p[i];
    return NULL;
}

static Str last_name(Str s)
{
    return str_from(s, (size_t)(str_rchr(s, '.') + 1));
}

/* 2: of this very type, 1: it widens to it, 0: not. */
static int match(const AvroValue *v, const AvroSchema *t)
{
    if (v->kind == t->kind)
        return !t->name.n || !v->schema || str_eq(last_name(v->schema->name), last_name(t->name)) ? 2 : 0;
    switch (t->kind) {
    case AVRO_LONG: return v->kind == AVRO_INT;
    case AVRO_FLOAT: return v->kind == AVRO_INT || v->kind == AVRO_LONG;
    case AVRO_DOUBLE: return v->kind == AVRO_INT || v->kind == AVRO_LONG || v->kind == AVRO_FLOAT;
    case AVRO_STRING: return v->kind == AVRO_BYTES;
    case AVRO_BYTES: return v->kind == AVRO_STRING;
    default: return 0;
    }
}

/* Which branch of the reader's union takes the value; n: none. */
static size_t branch_of(const AvroValue *v, const AvroSchema *u)
{
    size_t best = u->branches.n;
    for (size_t i = 0; i < u->branches.n; i++) {
        int m = match(v, u->branches.p[i]);
        if (m == 2)
            return i;
        if (m && best == u->branches.n)
            best = i;
    }
    return best;
}

static Status cell(AvroConvert *c, const AvroValue *v, const AvroField *f, const AvroSlot *slot, const DataType *t, Value *ret)
{
    *ret = value_null(t);
    if (v->kind == AVRO_NULL)
        return f->type->kind == AVRO_UNION && branch_of(v, f->type) < f->type->branches.n ? OK : wrong(c, v, "a value");
    if (!slot->split)
        return avro_convert(c, v, slot->type, t, ret);
    size_t branch = branch_of(v, f->type);
    if (branch == f->type->branches.n)
        return wrong(c, v, "a union without such a type");
    return branch == slot->branch ? avro_convert(c, v, slot->type, t, ret) : OK;
}

/* `types` are `stride` bytes apart: the children of a type, or within columns. */
Status avro_cells(AvroConvert *c, const AvroValue *v, const AvroShape *shape, const DataType *types, size_t stride, Value *ret)
{
    if (v->kind != AVRO_RECORD)
        return wrong(c, v, "a record");
    for (size_t i = 0; i < shape->slots.n; i++) {
        const AvroSlot *slot = &shape->slots.p[i];
        const AvroField *f = &shape->record->fields.p[slot->field];
        const AvroValue *from = field_of(v, f, slot->field);
        if (!from && !f->fallback)
            return FAIL(c->err, E_INVALID, "Avro: the writer's schema has no field '" STR_FMT "', and there is no default for it", STR_ARG(str_sub(f->name, 0, 100)));
        if (!from)
            from = &shape->fallbacks[slot->field];
        TRY_CTX(cell(c, from, f, slot, (const DataType *)((const char *)types + i * stride), &ret[i]), c->err, "field '" STR_FMT "'", STR_ARG(str_sub(f->name, 0, 100)));
    }
    return OK;
}

static Status nested(AvroConvert *c, const AvroValue *v, const AvroSchema *reader, const DataType *t, Value *ret)
{
    Status s;

    if (++c->depth > FORMAT_MAX_DEPTH)
        return FAIL(c->err, E_LIMIT, "Avro: values nested deeper than %d", FORMAT_MAX_DEPTH);
    s = t->kind == DT_LIST ? list(c, v, reader, t, ret) : t->kind == DT_MAP ? map(c, v, reader, t, ret) : record(c, v, reader, t, ret);
    c->depth--;
    return s;
}

Status avro_convert(AvroConvert *c, const AvroValue *v, const AvroSchema *reader, const DataType *t, Value *ret)
{
    switch (t->kind) {
    case DT_BOOL:
        *ret = (Value){ .kind = DT_BOOL, .type = t, .boolean = v->boolean };
        return v->kind == AVRO_BOOL ? OK : wrong(c, v, "a boolean");
    case DT_INT32: case DT_INT64: return integer(c, v, t, ret);
    case DT_FLOAT: case DT_DOUBLE: return real(c, v, t, ret);
    case DT_DECIMAL: return decimal(c, v, t, ret);
    case DT_DATE: case DT_TIME: case DT_TIMESTAMP: return temporal(c, v, reader, t, ret);
    case DT_UUID: return uuid(c, v, t, ret);
    case DT_INTERVAL: return interval(c, v, t, ret);
    case DT_STRING: return text(c, v, reader, t, ret);
    case DT_BINARY: return bytes(c, v, reader, t, ret);
    case DT_JSON: return json(c, v, t, ret);
    case DT_LIST: case DT_MAP: case DT_STRUCT: return nested(c, v, reader, t, ret);
    default: return FAIL(c->err, E_INTERNAL, "Avro: a column of type %d", (int)t->kind);
    }
}

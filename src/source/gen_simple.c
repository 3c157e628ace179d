/* SPDX-License-Identifier: Apache-2.0 */
/* gen_simple.c - COUNTER, CLOCK, DATUMS, KEY VALUE. */
#include "source/gen_int.h"

#include <float.h>
#include <math.h>

static Status open_nothing(Gen *g UNUSED, const Json *state UNUSED, Error *err UNUSED) { return OK; }

/* ---- COUNTER: value n at offset n - 1; MAX CARDINALITY m: value n - m goes when n comes --------------------------------------------- */

static const GenColumn counter_columns[] = { { "counter", DT_INT64, "bigint", 0 } };
static const GenTable counter_tables[] = { { "", counter_columns, 1, 0 } };

static Status counter_check(const Json *o, Error *err)
{
    if (json_get_int(o, "max_cardinality", 0) < 0)
        return FAIL(err, E_INVALID, "unsupported negative max cardinality");
    return OK;
}

static Status counter_step(Gen *g, SourceBatch *b, Error *err UNUSED)
{
    int64_t max = json_get_int(g->options, "max_cardinality", INT64_MAX);
    Value comes = gen_i64(g->offset + 1), goes = gen_i64(g->offset + 1 - max);

    if (g->offset >= max)
        gen_row(g, b, 0, -1, &goes);
    gen_row(g, b, 0, 1, &comes);
    return OK;
}

const GenKind gen_counter = { .name = "counter", .tables = counter_tables, .ntables = 1, .options = " MAX CARDINALITY,", .tick_us = 1000000, .check = counter_check, .open = open_nothing,
                              .step = counter_step };

/* ---- CLOCK: one row, the time ------------------------------------------------------------------------------------------------------------ */

static const GenColumn clock_columns[] = { { "time", DT_TIMESTAMPTZ, "timestamp with time zone", 0 } };
static const GenTable clock_tables[] = { { "", clock_columns, 1, 0 } };

static Status clock_step(Gen *g, SourceBatch *b, Error *err UNUSED)
{
    Value now = gen_time(clock_us() / 1000 * 1000);

    if (g->emit[0])
        source_truncate(b, (size_t)g->emit[0] - 1);
    gen_row(g, b, 0, 1, &now);
    return OK;
}

const GenKind gen_clock = { .name = "clock", .tables = clock_tables, .ntables = 1, .options = "", .tick_us = 1000000, .open = open_nothing, .step = clock_step };

/* ---- DATUMS: values of each type that are worth a test, once ---------------------------------------------------------------------------- */

enum { DATUMS_ROWS = 7 };
static const DataType datums_decimal = { .kind = DT_DECIMAL, .precision = GEN_DECIMAL_PRECISION, .scale = GEN_DECIMAL_SCALE };
static const GenColumn datums_columns[] = {
    { "rowid", DT_INT64, "bigint", 0 },          { "_bool", DT_BOOL, "boolean", 1 },          { "_int16", DT_INT16, "smallint", 1 },
    { "_int32", DT_INT32, "integer", 1 },        { "_int64", DT_INT64, "bigint", 1 },         { "_uint16", DT_UINT16, "uint2", 1 },
    { "_uint32", DT_UINT32, "uint4", 1 },        { "_uint64", DT_UINT64, "uint8", 1 },        { "_float32", DT_FLOAT, "real", 1 },
    { "_float64", DT_DOUBLE, "double precision", 1 }, { "_numeric", DT_DECIMAL, "numeric", 1 }, { "_date", DT_DATE, "date", 1 },
    { "_time", DT_TIME, "time", 1 },             { "_timestamp", DT_TIMESTAMP, "timestamp", 1 }, { "_timestamptz", DT_TIMESTAMPTZ, "timestamp with time zone", 1 },
    { "_interval", DT_INTERVAL, "interval", 1 }, { "_bytes", DT_BINARY, "bytea", 1 },         { "_string", DT_STRING, "text", 1 },
    { "_jsonb", DT_JSON, "jsonb", 1 },           { "_uuid", DT_UUID, "uuid", 1 },
};
static const GenTable datums_tables[] = { { "", datums_columns, COUNT_OF(datums_columns), 1 } };
enum { DATUMS_COLUMNS = COUNT_OF(datums_columns) };

/* Row r of an integer column of this range; beyond the list NULL. */
static Value datum_int(DataTypeKind kind, size_t r, __int128 least, __int128 most)
{
    const __int128 list[] = { 0, 1, least < 0 ? -1 : 2, least, most };
    Value v = { .kind = r < COUNT_OF(list) ? kind : DT_NULL };

    if (v.kind == DT_UINT64)
        v.wide = list[r];
    else if (v.kind != DT_NULL)
        v.integer = (int64_t)list[r];
    return v;
}

static Value datum_real(DataTypeKind kind, size_t r)
{
    const double least = kind == DT_FLOAT ? -FLT_MAX : -DBL_MAX, tiny = kind == DT_FLOAT ? FLT_MIN : DBL_MIN, list[] = { 0, 1, -1, least, tiny, INFINITY, NAN };
    return (Value){ .kind = kind, .real = list[r] };
}

static Value datum_text(DataTypeKind kind, size_t r)
{
    static const Str text[] = { S(""), S(" "), S("'"), S("\""), S("."), S("0"), S("\xe2\x98\x83 na\xc3\xafve") };
    static const Str json[] = { S("null"), S("true"), S("0"), S("\"\""), S("[1,\"two\",null]"), S("{}"), S("{\"a\":{\"b\":[]}}") };
    static const Str bytes[] = { S(""), S("\0"), S("\xff\xff"), S("abc"), S("'"), S("\\"), S("\x00\x01\x02") };
    return (Value){ .kind = kind, .string = kind == DT_STRING ? text[r] : kind == DT_JSON ? json[r] : bytes[r] };
}

static Value datum_time(DataTypeKind kind, size_t r)
{
    static const int64_t day[] = { 0, -719162, 2932896, 18262, 11016 }, us = 86400000000;      /* 1970, 0001, 9999-12-31, 2020, 2000-02-29 */
    Value v = { .kind = r < COUNT_OF(day) ? kind : DT_NULL };

    if (kind == DT_TIME)
        v.integer = (const int64_t[]){ 0, us - 1, us / 2, 1, 12345678901 }[r < 5 ? r : 0];
    else
        v.integer = r < COUNT_OF(day) ? kind == DT_DATE ? day[r] : day[r] * us + (int64_t)r * 1001 : 0;
    return v;
}

static Value datum_other(DataTypeKind kind, size_t r)
{
    static const Str uuid[] = { S("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), S("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), S("\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef") };
    Value v = { .kind = kind };

    if (kind == DT_BOOL && r < 2)
        v.boolean = r == 0;
    else if (kind == DT_UUID && r < COUNT_OF(uuid))
        v.string = uuid[r];
    else if (kind == DT_DECIMAL && r < 5)
        return (Value){ .kind = kind, .type = &datums_decimal, .wide = (const int64_t[]){ 0, 100, -100, 999999999999999, -999999999999999 }[r] };
    else if (kind == DT_INTERVAL && r < 4) {
        v.interval.months = (const int32_t[]){ 0, 1, 0, -12 }[r];
        v.interval.days = (const int32_t[]){ 0, 1, 1, 0 }[r];
        v.interval.micros = (const int64_t[]){ 0, 1, 3600000000, -1 }[r];
    } else
        v.kind = DT_NULL;
    return v;
}

static Value datum(DataTypeKind kind, size_t r)
{
    switch (kind) {
    case DT_INT16: return datum_int(kind, r, INT16_MIN, INT16_MAX);
    case DT_INT32: return datum_int(kind, r, INT32_MIN, INT32_MAX);
    case DT_INT64: return datum_int(kind, r, INT64_MIN, INT64_MAX);
    case DT_UINT16: return datum_int(kind, r, 0, UINT16_MAX);
    case DT_UINT32: return datum_int(kind, r, 0, UINT32_MAX);
    case DT_UINT64: return datum_int(kind, r, 0, (__int128)UINT64_MAX);
    case DT_FLOAT: case DT_DOUBLE: return datum_real(kind, r);
    case DT_STRING: case DT_JSON: case DT_BINARY: return datum_text(kind, r);
    case DT_DATE: case DT_TIME: case DT_TIMESTAMP: case DT_TIMESTAMPTZ: return datum_time(kind, r);
    default: return datum_other(kind, r);
    }
}

static Status datums_step(Gen *g, SourceBatch *b, Error *err UNUSED)
{
    Value cells[DATUMS_COLUMNS];

    for (size_t r = 0; r < DATUMS_ROWS && g->offset == 0; r++) {
        cells[0] = gen_i64((int64_t)r + 1);
        for (size_t c = 1; c < DATUMS_COLUMNS; c++)
            cells[c] = datum(datums_columns[c].kind, r);
        gen_row(g, b, 0, 1, cells);
    }
    return OK;
}

const GenKind gen_datums = { .name = "datums", .tables = datums_tables, .ntables = 1, .options = "", .tick_us = 0, .open = open_nothing, .step = datums_step };

/* ---- KEY VALUE: every key in rounds, then batches of keys in turn -------------------------------------------------------------------------- */

enum { VALUE_SIZE_MAX = 16 * 1024 * 1024 };
static const GenColumn kv_columns[] = { { "key", DT_UINT64, "uint8", 0 }, { "partition", DT_UINT64, "uint8", 0 }, { "value", DT_BINARY, "bytea", 0 }, { "offset", DT_UINT64, "uint8", 0 } };
static const GenTable kv_tables[] = { { "", kv_columns, 4, 1 } };

static Status kv_check(const Json *o, Error *err)
{
    static const char *const needed[] = { "keys", "snapshot_rounds", "value_size", "seed", "partitions", "batch_size" };

    for (size_t i = 0; i < COUNT_OF(needed); i++)
        if (json_get_int(o, needed[i], -1) < (i == 3 ? INT64_MIN : i == 1 ? 0 : 1) || !json_get(o, needed[i]))
            return FAIL(err, E_INVALID, "LOAD GENERATOR KEY VALUE requires KEYS, SNAPSHOT ROUNDS, VALUE SIZE, SEED, PARTITIONS and BATCH SIZE; %s is missing or too small", needed[i]);
    if (json_get_int(o, "keys", 0) % json_get_int(o, "partitions", 1))
        return FAIL(err, E_INVALID, "LOAD GENERATOR KEY VALUE PARTITIONS must divide KEYS");
    if (json_get_int(o, "keys", 0) / json_get_int(o, "partitions", 1) % json_get_int(o, "batch_size", 1))
        return FAIL(err, E_INVALID, "LOAD GENERATOR KEY VALUE BATCH SIZE must divide KEYS / PARTITIONS");
    if (json_get_int(o, "value_size", 0) > VALUE_SIZE_MAX)
        return FAIL(err, E_LIMIT, "VALUE SIZE is at most %d", VALUE_SIZE_MAX);
    return OK;
}

static Str random_bytes(Arena *a, GenRand *r, int64_t n)
{
    char *p = arena_alloc(a, (size_t)n + 8);
    for (int64_t i = 0; i < n; i += 8) {
        uint64_t x = gen_next(r);
        memcpy(p + i, &x, 8);
    }
    return str_n(p, (size_t)n);
}

static void kv_row(Gen *g, SourceBatch *b, int64_t key)
{
    GenRand r = gen_rand(g->seed, (uint64_t)g->offset, (uint64_t)key);
    int64_t partitions = json_get_int(g->options, "partitions", 1);
    Value cells[4] = { gen_u64((uint64_t)key), gen_u64((uint64_t)(key % partitions)), gen_bytes(random_bytes(g->step, &r, json_get_int(g->options, "value_size", 1))), gen_u64((uint64_t)g->offset) };

    if (!g->emit[0])
        return;
    if (str_eq(json_get_str(g->options, "envelope", S("none")), S("upsert")))
        source_upsert(b, (size_t)g->emit[0] - 1, cells, cells);
    else
        source_row(b, (size_t)g->emit[0] - 1, 1, cells);
}

static Status kv_step(Gen *g, SourceBatch *b, Error *err UNUSED)
{
    const Json *o = g->options;
    int64_t keys = json_get_int(o, "keys", 1), rounds = json_get_int(o, "snapshot_rounds", 1), n = json_get_int(o, "batch_size", 1) * json_get_int(o, "partitions", 1);

    if (g->offset < rounds)
        for (int64_t k = 0; k < keys; k++)
            kv_row(g, b, k);
    for (int64_t i = 0; g->offset >= rounds && i < n; i++)
        kv_row(g, b, ((g->offset - rounds) * n + i) % keys);
    return OK;
}

const GenKind gen_key_value = { .name = "key value", .tables = kv_tables, .ntables = 1, .tick_us = 0, .check = kv_check, .open = open_nothing, .step = kv_step,
                                .options = " KEYS, SNAPSHOT ROUNDS, TRANSACTIONAL SNAPSHOT, VALUE SIZE, SEED, PARTITIONS, BATCH SIZE," };

/* SPDX-License-Identifier: Apache-2.0 */
/* duck_result.c - queries and their rows, pulled chunk by chunk.
 *
 * A streaming result computes as it is read, so its memory is bounded whatever the query yields.  The engine's
 * streaming calls are marked deprecated in its header since 1.0, but 1.5 has nothing in their place: they are
 * confined to this file (one call), everything else is compiled without the deprecated surface.
 * Invariants: (1) at most one streaming result is open on a connection: the next statement ends it;
 * (2) a cell's strings point into the current chunk, which lives until duck_next. */
#define DUCK_STREAMING
#include "duck/duck_int.h"

#include <stdio.h>
#include <stdlib.h>

struct DuckResult {
    Arena *arena;
    duckdb_prepared_statement prepared;
    duckdb_pending_result pending;
    duckdb_result result;
    duckdb_data_chunk chunk;
    size_t ncols, nrows;
    DuckColumn *cols;
    Shape *shapes;
    duckdb_vector *vectors;
    uint64_t **valid;
};

static void prepared_done(duckdb_prepared_statement *p) { duckdb_destroy_prepare(p); }
static void result_done(duckdb_result *r) { duckdb_destroy_result(r); }
static void logical_done(duckdb_logical_type *t) { duckdb_destroy_logical_type(t); }

static Value cell(Arena *a, const Shape *s, duckdb_vector v, size_t row);

/* ---- running ---------------------------------------------------------------------------------------------- */

static Status sql_text(Arena *a, Str sql, const char **ret, Error *err)
{
    if (memchr(sql.p ? sql.p : "", 0, sql.n))
        return FAIL(err, E_INTERNAL, "generated SQL holds a NUL byte");
    *ret = str_z(a, sql);
    return OK;
}

/* A statement that cannot be prepared is run as it stands: it fails again, and this time with the error's type. */
static Status run_plain(DuckConn *c, const char *sql, DuckResult *r, Error *err)
{
    if (duckdb_query(c->con, sql, &r->result) != DuckDBSuccess)
        return DUCK_FAIL(err, duckdb_result_error_type(&r->result), duckdb_result_error(&r->result));
    return OK;
}

static Status run_streaming(DuckConn *c, const char *sql, DuckResult *r, Error *err)
{
    if (duckdb_prepare(c->con, sql, &r->prepared) != DuckDBSuccess)
        return run_plain(c, sql, r, err);
    if (duckdb_execute_prepared_streaming(r->prepared, &r->result) != DuckDBSuccess)
        return DUCK_FAIL(err, duckdb_result_error_type(&r->result), duckdb_result_error(&r->result));
    return OK;
}

static void read_columns(DuckResult *r)
{
    r->ncols = duckdb_column_count(&r->result);
    r->cols = arena_array(r->arena, DuckColumn, r->ncols + 1);
    r->shapes = arena_array(r->arena, Shape, r->ncols + 1);
    r->vectors = arena_array(r->arena, duckdb_vector, r->ncols + 1);
    r->valid = arena_array(r->arena, uint64_t *, r->ncols + 1);
    for (size_t i = 0; i < r->ncols; i++) {
        CLEANUP(logical_done) duckdb_logical_type t = duckdb_column_logical_type(&r->result, i);
        r->cols[i].name = str_dup(r->arena, str_c(duckdb_column_name(&r->result, i)));
        duck_shape_read(r->arena, t, &r->shapes[i], &r->cols[i].type);
    }
}

static DuckResult *result_new(void)
{
    Arena *a = arena_create();
    DuckResult *r = arena_new(a, DuckResult);
    r->arena = a;
    return r;
}

Status duck_query(DuckConn *c, Str sql, DuckResult **ret, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = result_new();
    const char *text;

    TRY(sql_text(r->arena, sql, &text, err));
    TRY(run_streaming(c, text, r, err));
    read_columns(r);
    *ret = r;
    r = NULL;
    return OK;
}

Status duck_query_held(DuckConn *c, Str sql, DuckResult **ret, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = result_new();
    const char *text;

    TRY(sql_text(r->arena, sql, &text, err));
    TRY(run_plain(c, text, r, err));
    read_columns(r);
    *ret = r;
    r = NULL;
    return OK;
}

void duck_result_free(DuckResult *r)
{
    if (!r)
        return;
    duckdb_destroy_data_chunk(&r->chunk);
    duckdb_destroy_result(&r->result);
    duckdb_destroy_prepare(&r->prepared);
    arena_destroy(r->arena);
}

void duck_result_freep(DuckResult **r)
{
    duck_result_free(*r);
    *r = NULL;
}

size_t duck_ncols(const DuckResult *r) { return r->ncols; }
const DuckColumn *duck_col(const DuckResult *r, size_t i) { return &r->cols[i]; }

int64_t duck_changed(const DuckResult *r)
{
    duckdb_result copy = r->result;
    return duckdb_result_return_type(copy) == DUCKDB_RESULT_TYPE_CHANGED_ROWS ? (int64_t)duckdb_rows_changed(&copy) : 0;
}

Status duck_next(DuckResult *r, size_t *nrows, Error *err)
{
    duckdb_destroy_data_chunk(&r->chunk);
    r->nrows = *nrows = 0;
    r->chunk = duckdb_fetch_chunk(r->result);
    if (!r->chunk) {
        const char *why = duckdb_result_error(&r->result);
        return why && *why ? DUCK_FAIL(err, duckdb_result_error_type(&r->result), why) : OK;
    }
    r->nrows = *nrows = duckdb_data_chunk_get_size(r->chunk);
    for (size_t i = 0; i < r->ncols; i++) {
        r->vectors[i] = duckdb_data_chunk_get_vector(r->chunk, i);
        r->valid[i] = duckdb_vector_get_validity(r->vectors[i]);
    }
    return OK;
}

/* ---- cells ------------------------------------------------------------------------------------------------ */

static bool is_valid(const uint64_t *mask, size_t row) { return !mask || (mask[row / 64] >> (row % 64) & 1); }

const int64_t *duck_i64s(const DuckResult *r, size_t col) { return duckdb_vector_get_data(r->vectors[col]); }

bool duck_is_null(const DuckResult *r, size_t col, size_t row) { return !is_valid(r->valid[col], row); }

Value duck_value(Arena *a, const DuckResult *r, size_t col, size_t row)
{
    return cell(a, &r->shapes[col], r->vectors[col], row);
}

static __int128 wide(duckdb_hugeint h) { return (__int128)(((unsigned __int128)(uint64_t)h.upper << 64) | h.lower); }

static __int128 integer_of(duckdb_type physical, const void *data, size_t row)
{
    switch (physical) {
    case DUCKDB_TYPE_TINYINT: return ((const int8_t *)data)[row];
    case DUCKDB_TYPE_UTINYINT: return ((const uint8_t *)data)[row];
    case DUCKDB_TYPE_SMALLINT: return ((const int16_t *)data)[row];
    case DUCKDB_TYPE_USMALLINT: return ((const uint16_t *)data)[row];
    case DUCKDB_TYPE_INTEGER: case DUCKDB_TYPE_DATE: return ((const int32_t *)data)[row];
    case DUCKDB_TYPE_UINTEGER: return ((const uint32_t *)data)[row];
    case DUCKDB_TYPE_UBIGINT: return ((const uint64_t *)data)[row];
    case DUCKDB_TYPE_HUGEINT: case DUCKDB_TYPE_UHUGEINT: return wide(((const duckdb_hugeint *)data)[row]);
    default: return ((const int64_t *)data)[row];
    }
}

static Str string_of(const void *data, size_t row)
{
    duckdb_string_t *s = (duckdb_string_t *)data + row;
    return str_n(duckdb_string_t_data(s), duckdb_string_t_length(*s));
}

static Str uuid_of(Arena *a, duckdb_hugeint h)
{
    uint64_t parts[2] = { (uint64_t)h.upper ^ (UINT64_C(1) << 63), h.lower };   /* the engine flips the top bit to sort */
    char *p = arena_alloc(a, 16);

    for (int i = 0; i < 16; i++)
        p[i] = (char)(parts[i / 8] >> (56 - 8 * (i % 8)));
    return str_n(p, 16);
}

static Str timetz_of(Arena *a, duckdb_time_tz v)
{
    duckdb_time_tz_struct t = duckdb_from_time_tz(v);
    int off = t.offset < 0 ? -t.offset : t.offset;
    Str s = str_fmt(a, "%02d:%02d:%02d", t.time.hour, t.time.min, t.time.sec);

    if (t.time.micros)
        s = str_fmt(a, "%s.%06d", s.p, t.time.micros);
    return str_fmt(a, "%s%c%02d:%02d", s.p, t.offset < 0 ? '-' : '+', off / 3600, off / 60 % 60);
}

/* A cell inside a nested value: its string is copied, so that the whole value outlives the chunk. */
static Value inner(Arena *a, const Shape *s, duckdb_vector v, size_t row)
{
    Value r = cell(a, s, v, row);
    if (r.kind == DT_STRING || r.kind == DT_BINARY || r.kind == DT_JSON || r.kind == DT_OTHER)
        r.string = str_dup(a, r.string);
    return r;
}

static Value list_of(Arena *a, const Shape *s, duckdb_vector v, size_t row)
{
    Value r = { .kind = s->type->kind, .type = s->type };
    int is_array = s->id == DUCKDB_TYPE_ARRAY, is_map = s->id == DUCKDB_TYPE_MAP;
    duckdb_list_entry e = { row * s->array_size, s->array_size };
    duckdb_vector child = is_array ? duckdb_array_vector_get_child(v) : duckdb_list_vector_get_child(v);

    if (!is_array)
        e = ((duckdb_list_entry *)duckdb_vector_get_data(v))[row];
    r.items.n = e.length * (is_map ? 2 : 1);
    r.items.p = arena_array(a, Value, r.items.n + 1);
    for (size_t i = 0; i < e.length; i++) {
        if (!is_map) {
            r.items.p[i] = inner(a, &s->children[0], child, e.offset + i);
            continue;
        }
        r.items.p[2 * i] = inner(a, &s->children[0], duckdb_struct_vector_get_child(child, 0), e.offset + i);
        r.items.p[2 * i + 1] = inner(a, &s->children[1], duckdb_struct_vector_get_child(child, 1), e.offset + i);
    }
    return r;
}

static Value struct_of(Arena *a, const Shape *s, duckdb_vector v, size_t row)
{
    Value r = { .kind = DT_STRUCT, .type = s->type };

    r.items.n = s->nchildren;
    r.items.p = arena_array(a, Value, s->nchildren + 1);
    for (size_t i = 0; i < s->nchildren; i++)
        r.items.p[i] = inner(a, &s->children[i], duckdb_struct_vector_get_child(v, i), row);
    return r;
}

static Value enum_of(const Shape *s, const void *data, size_t row)
{
    size_t i = (size_t)integer_of(s->internal, data, row);
    return (Value){ .kind = DT_ENUM, .type = s->type, .string = i < s->labels.n ? s->labels.p[i] : S("") };
}

static int64_t micros_of(duckdb_type id, int64_t v)
{
    int64_t r = v;
    if (id == DUCKDB_TYPE_TIME_NS)
        return v / 1000;
    if (id == DUCKDB_TYPE_TIMESTAMP_S)
        return __builtin_mul_overflow(v, 1000000, &r) ? v : r;
    if (id == DUCKDB_TYPE_TIMESTAMP_MS)
        return __builtin_mul_overflow(v, 1000, &r) ? v : r;
    return v;
}

static Value cell(Arena *a, const Shape *s, duckdb_vector v, size_t row)
{
    Value r = { .kind = s->type->kind, .type = s->type };
    void *data = duckdb_vector_get_data(v);

    if (!is_valid(duckdb_vector_get_validity(v), row) || s->id == DUCKDB_TYPE_SQLNULL)
        return (Value){ .kind = DT_NULL, .type = s->type };
    switch (r.kind) {
    case DT_BOOL: r.boolean = ((bool *)data)[row]; return r;
    case DT_FLOAT: r.real = (double)((float *)data)[row]; return r;
    case DT_DOUBLE: r.real = ((double *)data)[row]; return r;
    case DT_DECIMAL: r.wide = integer_of(s->internal, data, row); return r;
    case DT_INT128: case DT_UINT64: case DT_UINT128: r.wide = integer_of(s->id, data, row); return r;
    case DT_STRING: case DT_BINARY: case DT_JSON: r.string = string_of(data, row); return r;
    case DT_UUID: r.string = uuid_of(a, ((duckdb_hugeint *)data)[row]); return r;
    case DT_ENUM: return enum_of(s, data, row);
    case DT_LIST: case DT_MAP: return list_of(a, s, v, row);
    case DT_STRUCT: return struct_of(a, s, v, row);
    case DT_TIMETZ: r.string = timetz_of(a, ((duckdb_time_tz *)data)[row]); return r;
    case DT_INTERVAL: {
        duckdb_interval i = ((duckdb_interval *)data)[row];
        r.interval.months = i.months;
        r.interval.days = i.days;
        r.interval.micros = i.micros;
        return r;
    }
    case DT_OTHER:
        r.string = s->id == DUCKDB_TYPE_BIT || s->id == DUCKDB_TYPE_GEOMETRY || s->id == DUCKDB_TYPE_BIGNUM
                       ? string_of(data, row) : S("");
        return r;
    default: r.integer = micros_of(s->id, (int64_t)integer_of(s->id, data, row)); return r;
    }
}

/* ---- one cell --------------------------------------------------------------------------------------------- */

static Status first_cell(DuckConn *c, Arena *a, Str sql, Value *ret, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    size_t n;

    *ret = (Value){ .kind = DT_NULL };
    TRY(duck_query_held(c, sql, &r, err));
    TRY(duck_next(r, &n, err));
    if (!n || !r->ncols)
        return OK;
    *ret = duck_value(a, r, 0, 0);
    if (ret->kind == DT_STRING || ret->kind == DT_BINARY || ret->kind == DT_JSON || ret->kind == DT_ENUM)
        ret->string = str_dup(a, ret->string);
    ret->type = NULL;
    return OK;
}

static bool is_wide(DataTypeKind k) { return k == DT_INT128 || k == DT_UINT64 || k == DT_UINT128; }

Status duck_scalar_i64(DuckConn *c, Str sql, int64_t *ret, bool *has, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Value v;

    TRY(first_cell(c, a, sql, &v, err));
    *has = v.kind != DT_NULL;
    if (!*has)
        return OK;
    if (is_wide(v.kind) && (v.wide > INT64_MAX || v.wide < INT64_MIN))
        return FAIL(err, E_OVERFLOW, "the value does not fit 64 bits");
    if (v.kind == DT_BOOL)
        *ret = v.boolean;
    else if (is_wide(v.kind))
        *ret = (int64_t)v.wide;
    else if (v.kind >= DT_INT8 && v.kind <= DT_UINT32)
        *ret = v.integer;
    else if (v.kind == DT_DATE || v.kind == DT_TIME || v.kind == DT_TIMESTAMP || v.kind == DT_TIMESTAMPTZ)
        *ret = v.integer;
    else
        return FAIL(err, E_INTERNAL, "the query does not give an integer");
    return OK;
}

Status duck_scalar_str(DuckConn *c, Arena *a, Str sql, Str *ret, bool *has, Error *err)
{
    Value v;

    TRY(first_cell(c, a, sql, &v, err));
    *has = v.kind != DT_NULL;
    if (!*has)
        return OK;
    if (v.kind != DT_STRING && v.kind != DT_BINARY && v.kind != DT_JSON && v.kind != DT_ENUM)
        return FAIL(err, E_INTERNAL, "the query does not give text");
    *ret = v.string;
    return OK;
}

Status duck_table_as(DuckConn *c, Str name, Str sql, int64_t *rows, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    int64_t made = 0;
    bool has;

    TRY(duck_scalar_i64(c, str_fmt(a, "CREATE OR REPLACE TEMP TABLE " STR_FMT " AS " STR_FMT, STR_ARG(name), STR_ARG(sql)), &made, &has, err));
    if (rows)
        *rows = made;
    return OK;
}

/* ---- types without running -------------------------------------------------------------------------------- */

/* Prepare has no error type; EXPLAIN fails in the same way and has. */
static Status prepare_failed(DuckConn *c, Arena *a, const char *sql, const char *why, Error *err)
{
    CLEANUP(result_done) duckdb_result r = { 0 };

    if (duckdb_query(c->con, str_fmt(a, "EXPLAIN %s", sql).p, &r) != DuckDBSuccess)
        return DUCK_FAIL(err, duckdb_result_error_type(&r), duckdb_result_error(&r));
    return FAIL(err, E_INTERNAL, "the engine cannot prepare the statement: %s", why ? why : "");
}

const DuckColumn *duck_column_named(const DuckColumns *cols, Str name)
{
    for vec_each(const DuckColumn, c, cols)
        if (str_eq(c->name, name))
            return c;
    for vec_each(const DuckColumn, c, cols)
        if (str_ieq(c->name, name))
            return c;
    return NULL;
}

Status duck_describe(DuckConn *c, Arena *a, Str sql, DuckColumns *ret, Error *err)
{
    CLEANUP(prepared_done) duckdb_prepared_statement p = NULL;
    const char *text;
    DuckColumns cols = { 0 };

    TRY(sql_text(a, sql, &text, err));
    if (duckdb_prepare(c->con, text, &p) != DuckDBSuccess)
        return prepare_failed(c, a, text, duckdb_prepare_error(p), err);
    for (size_t i = 0, n = duckdb_prepared_statement_column_count(p); i < n; i++) {
        CLEANUP(logical_done) duckdb_logical_type t = duckdb_prepared_statement_column_logical_type(p, i);
        const char *name = duckdb_prepared_statement_column_name(p, i);
        DuckColumn col = { .name = str_dup(a, str_c(name)) };
        Shape shape;
        duck_shape_read(a, t, &shape, &col.type);
        duckdb_free((void *)(uintptr_t)name);
        vec_push(a, &cols, col);
    }
    *ret = cols;
    return OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* duck_append.c - rows from C into a table.
 *
 * Sticky: after the first failure appending does nothing; duck_append_done tells. */
#include "duck/duck_int.h"

#include <stdio.h>
#include <stdlib.h>

struct DuckAppender {
    Arena *arena;
    duckdb_appender ap;
    const DuckColumn *cols;
    size_t ncols, next;
    bool failed;
    Error err;
};

static void appender_done(DuckAppender **ap)
{
    if (!*ap)
        return;
    duckdb_appender_destroy(&(*ap)->ap);
    arena_destroy((*ap)->arena);
    *ap = NULL;
}

static Status fail_append(DuckAppender *ap, Error *err)
{
    duckdb_error_data d = duckdb_appender_error_data(ap->ap);
    Status s = DUCK_FAIL(err, duckdb_error_data_error_type(d), duckdb_error_data_message(d));
    duckdb_destroy_error_data(&d);
    return s;
}

static void check(DuckAppender *ap, duckdb_state state)
{
    if (state == DuckDBSuccess || ap->failed)
        return;
    ap->failed = true;
    (void)!fail_append(ap, &ap->err);
}

static Str create_text(Arena *a, Str name, const DuckColumn *cols, size_t n)
{
    StrBuf b = sb_new(a);

    sb_addc(&b, "CREATE OR REPLACE TEMP TABLE ");
    sql_ident(&b, name);
    sb_addc(&b, " (");
    for (size_t i = 0; i < n; i++) {
        if (i)
            sb_addc(&b, ", ");
        sql_ident(&b, cols[i].name);
        sb_byte(&b, ' ');
        sb_add(&b, data_type_sql(a, &cols[i].type));
    }
    sb_byte(&b, ')');
    return sb_str(&b);
}

Status duck_table_append(DuckConn *c, Str database, Str table, const DuckColumn *cols, size_t ncols, DuckAppender **ret, Error *err)
{
    Arena *a = arena_create();
    CLEANUP(appender_done) DuckAppender *ap = arena_new(a, DuckAppender);
    DuckColumn *copy = arena_array(a, DuckColumn, ncols + 1);

    ap->arena = a;
    for (size_t i = 0; i < ncols; i++)
        copy[i] = cols[i];
    ap->cols = copy;
    ap->ncols = ncols;
    if (duckdb_appender_create_ext(c->con, str_z(a, database), "main", str_z(a, table), &ap->ap) != DuckDBSuccess)
        return fail_append(ap, err);
    *ret = ap;
    ap = NULL;
    return OK;
}

Status duck_temp_table(DuckConn *c, Str name, const DuckColumn *cols, size_t ncols, DuckAppender **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    TRY_CTX(duck_exec(c, create_text(a, name, cols, ncols), err), err, "making temporary table '" STR_FMT "'", STR_ARG(name));
    return duck_table_append(c, S("temp"), name, cols, ncols, ret, err);
}

/* ---- values ----------------------------------------------------------------------------------------------- */

static duckdb_hugeint huge(__int128 v)
{
    return (duckdb_hugeint){ .lower = (uint64_t)v, .upper = (int64_t)(v >> 64) };
}

static duckdb_uhugeint uuid_number(Str s)
{
    unsigned __int128 v = 0;
    for (size_t i = 0; i < 16; i++)
        v = v << 8 | (i < s.n ? (unsigned char)s.p[i] : 0);
    return (duckdb_uhugeint){ .lower = (uint64_t)v, .upper = (uint64_t)(v >> 64) };
}

static duckdb_value engine_value(const Value *v, const DataType *t);

static duckdb_value *children(Arena *a, const Value *v, const DataType *t, size_t from, size_t step, size_t *n)
{
    duckdb_value *r = arena_array(a, duckdb_value, v->items.n + 1);

    *n = 0;
    for (size_t i = from; i < v->items.n; i += step) {
        const DataType *ct = t->kind == DT_LIST ? &t->children[0] : t->kind == DT_MAP ? &t->children[i % 2] : &t->children[i];
        r[(*n)++] = engine_value(&v->items.p[i], ct);
    }
    return r;
}

static void destroy_all(duckdb_value *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        duckdb_destroy_value(&v[i]);
}

static duckdb_value nested_value(const Value *v, const DataType *t)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(duck_logical_type_done) duckdb_logical_type type = duck_logical_type(t);
    duckdb_value r;
    size_t n, m = 0;
    duckdb_value *first = children(a, v, t, 0, t->kind == DT_MAP ? 2 : 1, &n), *second = NULL;

    if (t->kind == DT_MAP) {
        second = children(a, v, t, 1, 2, &m);
        r = duckdb_create_map_value(type, first, second, n);
    } else if (t->kind == DT_STRUCT) {
        r = duckdb_create_struct_value(type, first);
    } else {
        CLEANUP(duck_logical_type_done) duckdb_logical_type child = duck_logical_type(&t->children[0]);
        r = duckdb_create_list_value(child, first, n);
    }
    destroy_all(first, n);
    destroy_all(second, m);
    return r;
}

static duckdb_value text_value(Arena *a, const Value *v)
{
    StrBuf b = sb_new(a);
    Value bare = *v;

    bare.type = NULL;
    if (v->kind == DT_STRING || v->kind == DT_JSON || v->kind == DT_ENUM || v->kind == DT_OTHER || v->kind == DT_TIMETZ)
        sb_add(&b, v->string);
    else
        sql_value(&b, &bare);
    return duckdb_create_varchar_length(sb_str(&b).p, b.n);
}

static duckdb_value engine_value(const Value *v, const DataType *t)
{
    switch (v->kind) {
    case DT_NULL: case DT_INVALID: return duckdb_create_null_value();
    case DT_BOOL: return duckdb_create_bool(v->boolean);
    case DT_INT8: return duckdb_create_int8((int8_t)v->integer);
    case DT_INT16: return duckdb_create_int16((int16_t)v->integer);
    case DT_INT32: return duckdb_create_int32((int32_t)v->integer);
    case DT_INT64: return duckdb_create_int64(v->integer);
    case DT_UINT8: return duckdb_create_uint8((uint8_t)v->integer);
    case DT_UINT16: return duckdb_create_uint16((uint16_t)v->integer);
    case DT_UINT32: return duckdb_create_uint32((uint32_t)v->integer);
    case DT_UINT64: return duckdb_create_uint64((uint64_t)v->wide);
    case DT_INT128: return duckdb_create_hugeint(huge(v->wide));
    case DT_UINT128: return duckdb_create_uhugeint((duckdb_uhugeint){ (uint64_t)v->wide, (uint64_t)(v->wide >> 64) });
    case DT_FLOAT: return duckdb_create_float((float)v->real);
    case DT_DOUBLE: return duckdb_create_double(v->real);
    case DT_DECIMAL: {
        const DataType *d = v->type && v->type->kind == DT_DECIMAL ? v->type : t;
        return duckdb_create_decimal((duckdb_decimal){ (uint8_t)d->precision, (uint8_t)d->scale, huge(v->wide) });
    }
    case DT_BINARY: return duckdb_create_blob((const uint8_t *)(v->string.p ? v->string.p : ""), v->string.n);
    case DT_DATE: return duckdb_create_date((duckdb_date){ (int32_t)v->integer });
    case DT_TIME: return duckdb_create_time((duckdb_time){ v->integer });
    case DT_TIMESTAMP: return duckdb_create_timestamp((duckdb_timestamp){ v->integer });
    case DT_TIMESTAMPTZ: return duckdb_create_timestamp_tz((duckdb_timestamp){ v->integer });
    case DT_TIMESTAMP_NS: return duckdb_create_timestamp_ns((duckdb_timestamp_ns){ v->integer });
    case DT_INTERVAL:
        return duckdb_create_interval((duckdb_interval){ v->interval.months, v->interval.days, v->interval.micros });
    case DT_UUID: return duckdb_create_uuid(uuid_number(v->string));
    case DT_LIST: case DT_STRUCT: case DT_MAP:
        if (t->kind == v->kind)
            return nested_value(v, t);
        break;
    default:
        break;
    }
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    return text_value(a, v);
}

/* ---- appending -------------------------------------------------------------------------------------------- */

/* The next cell's type; past the row's end is an error that sticks. */
static const DataType *next_type(DuckAppender *ap)
{
    if (ap->failed)
        return NULL;
    if (ap->next >= ap->ncols) {
        ap->failed = true;
        (void)!FAIL(&ap->err, E_INTERNAL, "a row has more than its %zu cells", ap->ncols);
        return NULL;
    }
    return &ap->cols[ap->next++].type;
}

void duck_append(DuckAppender *ap, const Value *v)
{
    const DataType *t = next_type(ap);

    if (!t)
        return;
    duckdb_value x = engine_value(v, t);
    if (!x) {
        ap->failed = true;
        (void)!FAIL(&ap->err, E_INVALID, "cell %zu cannot be made an engine value", ap->next);
        return;
    }
    check(ap, duckdb_append_value(ap->ap, x));
    duckdb_destroy_value(&x);
}

void duck_append_null(DuckAppender *ap)
{
    if (next_type(ap))
        check(ap, duckdb_append_null(ap->ap));
}

void duck_append_i64(DuckAppender *ap, int64_t v)
{
    if (next_type(ap))
        check(ap, duckdb_append_int64(ap->ap, v));
}

void duck_append_str(DuckAppender *ap, Str v)
{
    const DataType *t = next_type(ap);

    if (!t)
        return;
    if (t->kind == DT_BINARY)
        check(ap, duckdb_append_blob(ap->ap, v.p ? v.p : "", v.n));
    else
        check(ap, duckdb_append_varchar_length(ap->ap, v.p ? v.p : "", v.n));
}

void duck_end_row(DuckAppender *ap)
{
    if (!ap->failed && ap->next != ap->ncols) {
        ap->failed = true;
        (void)!FAIL(&ap->err, E_INTERNAL, "a row has %zu of its %zu cells", ap->next, ap->ncols);
    }
    ap->next = 0;
    if (!ap->failed)
        check(ap, duckdb_appender_end_row(ap->ap));
}

Status duck_append_done(DuckAppender *appender, Error *err)
{
    CLEANUP(appender_done) DuckAppender *ap = appender;

    if (!ap->failed)
        check(ap, duckdb_appender_close(ap->ap));
    if (!ap->failed)
        return OK;
    *err = ap->err;
    return err->code;
}

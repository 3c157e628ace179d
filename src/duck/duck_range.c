/* SPDX-License-Identifier: Apache-2.0 */
/* duck_range.c - ranges: their types, and the functions that make, read and compare them (the struct is described in duck.h).  For each range type R, int4range to tstzrange:
 *
 *   firn_R_of(lo, hi, flags VARCHAR)   the range of these bounds, flags '[)' and its kin       firn_R_in(text VARCHAR)   the range that a text says
 *   firn_R_text(r)                     '[1,11)'                                               firn_R_has(r, x)          does it contain the value
 *   firn_R_contains, _overlaps, _before, _no_right (&<), _no_left (&>), _adjacent (r, r)       BOOLEAN
 *   firn_R_union, _intersect, _minus (r, r)
 * Null in, null out.
 *
 * All bounds are whole numbers to the engine (numeric is DECIMAL(38,10)), so one code does them all in 128 bits (duck_range_math.c).  Invariant: every range that leaves is
 * canonical. */
#include "duck/duck_range.h"
#include "duck/duck_scalar.h"

#include <stdio.h>

/* ---- types ------------------------------------------------------------------------------------------------------ */

static const char *const NAMES_OF[RANGE_KINDS] = { [RANGE_INT4] = "int4range", [RANGE_INT8] = "int8range", [RANGE_NUM] = "numrange", [RANGE_DATE] = "daterange", [RANGE_TS] = "tsrange",
                                                   [RANGE_TSTZ] = "tstzrange" };

#define BOUND(k) { .kind = k, .precision = k == DT_DECIMAL ? RANGE_NUM_WIDTH : 0, .scale = k == DT_DECIMAL ? RANGE_NUM_SCALE : 0, .mark = k == DT_DECIMAL ? MARK_NUMERIC : MARK_NONE }
#define FIELDS(k) (DataType[]){ { .kind = DT_INT8 }, BOUND(k), { .kind = DT_BOOL }, BOUND(k), { .kind = DT_BOOL } }
#define NAMES(name) (Str[]){ { name, sizeof name - 1 }, { "lo", 2 }, { "lx", 2 }, { "hi", 2 }, { "hi_in", 5 } }
#define TYPE(name, k) { .kind = DT_STRUCT, .nchildren = RANGE_FIELDS, .children = FIELDS(k), .names = NAMES(name) }

static const DataType TYPE_OF[RANGE_KINDS] = {
    [RANGE_INT4] = TYPE("int4range", DT_INT32), [RANGE_INT8] = TYPE("int8range", DT_INT64), [RANGE_NUM] = TYPE("numrange", DT_DECIMAL),
    [RANGE_DATE] = TYPE("daterange", DT_DATE),  [RANGE_TS] = TYPE("tsrange", DT_TIMESTAMP), [RANGE_TSTZ] = TYPE("tstzrange", DT_TIMESTAMPTZ),
};

const DataType *data_type_of_range(RangeKind k) { return &TYPE_OF[k]; }
const char *range_name(RangeKind k) { return k == RANGE_NONE ? "" : NAMES_OF[k]; }

RangeKind data_type_range(const DataType *t)
{
    if (t->kind != DT_STRUCT || t->nchildren != RANGE_FIELDS || !t->names)
        return RANGE_NONE;
    for (RangeKind k = RANGE_INT4; k < RANGE_KINDS; k++)
        if (str_eq(t->names[0], str_c(NAMES_OF[k])) && data_type_equal(t, data_type_of_range(k)))
            return k;
    return RANGE_NONE;
}

/* ---- cells --------------------------------------------------------------------------------------------------------------- */

/* A column of ranges: the data of its fields. */
typedef struct Column { RangeKind kind; duckdb_vector field[RANGE_FIELDS]; void *data[RANGE_FIELDS]; } Column;

static Column column_of(RangeKind k, duckdb_vector v)
{
    Column c = { .kind = k };

    for (int i = 0; i < RANGE_FIELDS; i++) {
        c.field[i] = duckdb_struct_vector_get_child(v, (idx_t)i);
        c.data[i] = duckdb_vector_get_data(c.field[i]);
    }
    return c;
}

static __int128 number_at(RangeKind k, const void *data, size_t row)
{
    if (k == RANGE_INT4 || k == RANGE_DATE)
        return ((const int32_t *)data)[row];
    return k == RANGE_NUM ? scalar_hugeint(((const duckdb_hugeint *)data)[row]) : ((const int64_t *)data)[row];
}

static void set_number(RangeKind k, void *data, size_t row, __int128 v)
{
    if (k == RANGE_INT4 || k == RANGE_DATE)
        ((int32_t *)data)[row] = (int32_t)v;
    else if (k == RANGE_NUM)
        ((duckdb_hugeint *)data)[row] = (duckdb_hugeint){ .lower = (uint64_t)v, .upper = (int64_t)(v >> 64) };
    else
        ((int64_t *)data)[row] = (int64_t)v;
}

static bool valid_at(duckdb_vector v, size_t row)
{
    uint64_t *valid = duckdb_vector_get_validity(v);
    return !valid || (valid[row / 64] >> (row % 64) & 1);
}

static Range range_at(const Column *c, size_t row)
{
    Range r = { .state = ((const int8_t *)c->data[RANGE_STATE])[row], .lo_ex = ((const bool *)c->data[RANGE_LO_EXCLUSIVE])[row], .hi_in = ((const bool *)c->data[RANGE_HI_INCLUSIVE])[row] };

    r.has_hi = r.state != RANGE_IS_EMPTY && valid_at(c->field[RANGE_HI], row);
    if (r.state == RANGE_HAS_LOWER)
        r.lo = number_at(c->kind, c->data[RANGE_LO], row);
    if (r.has_hi)
        r.hi = number_at(c->kind, c->data[RANGE_HI], row);
    return r;
}

static void set_range(Column *c, size_t row, const Range *r)
{
    ((int8_t *)c->data[RANGE_STATE])[row] = (int8_t)r->state;
    ((bool *)c->data[RANGE_LO_EXCLUSIVE])[row] = r->lo_ex;
    ((bool *)c->data[RANGE_HI_INCLUSIVE])[row] = r->hi_in;
    if (r->state == RANGE_HAS_LOWER)
        set_number(c->kind, c->data[RANGE_LO], row, r->lo);
    else
        scalar_null(c->field[RANGE_LO], row);
    if (r->has_hi)
        set_number(c->kind, c->data[RANGE_HI], row, r->hi);
    else
        scalar_null(c->field[RANGE_HI], row);
}

/* A struct that is NULL has fields that are. */
static void set_null(duckdb_vector out, const Column *c, size_t row)
{
    scalar_null(out, row);
    for (int i = 0; i < RANGE_FIELDS; i++)
        scalar_null(c->field[i], row);
}

/* ---- from bounds ---------------------------------------------------------------------------------------------------------- */

static Str text_at(duckdb_vector v, size_t row)
{
    duckdb_string_t *s = (duckdb_string_t *)duckdb_vector_get_data(v) + row;
    return str_n(duckdb_string_t_data(s), duckdb_string_t_length(*s));
}

static const char *flags_of(duckdb_vector v, size_t row, Range *r)
{
    if (!valid_at(v, row))
        return "range constructor flags argument must not be null SQLSTATE: 22000";
    Str f = text_at(v, row);
    if (f.n != 2 || (f.p[0] != '[' && f.p[0] != '(') || (f.p[1] != ']' && f.p[1] != ')'))
        return "invalid range bound flags SQLSTATE: 42601";
    r->lo_ex = f.p[0] == '(';
    r->hi_in = f.p[1] == ']';
    return NULL;
}

static RangeKind kind_of(duckdb_function_info info) { return (RangeKind)(uintptr_t)duckdb_scalar_function_get_extra_info(info); }

static void run_of(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    RangeKind k = kind_of(info);
    Column c = column_of(k, out);
    duckdb_vector lo = duckdb_data_chunk_get_vector(in, 0), hi = duckdb_data_chunk_get_vector(in, 1), flags = duckdb_data_chunk_get_vector(in, 2);

    for (size_t i = 0; i < duckdb_data_chunk_get_size(in); i++) {
        Range r = { .state = valid_at(lo, i) ? RANGE_HAS_LOWER : RANGE_NO_LOWER, .has_hi = valid_at(hi, i) };
        const char *wrong = flags_of(flags, i, &r);
        if (r.state == RANGE_HAS_LOWER)
            r.lo = number_at(k, duckdb_vector_get_data(lo), i);
        if (r.has_hi)
            r.hi = number_at(k, duckdb_vector_get_data(hi), i);
        if (wrong || (wrong = range_canonical(k, &r))) {
            duckdb_scalar_function_set_error(info, wrong);
            return;
        }
        set_range(&c, i, &r);
    }
}

static void run_in(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    RangeKind k = kind_of(info);
    Column c = column_of(k, out);
    duckdb_vector text = duckdb_data_chunk_get_vector(in, 0);

    for (size_t i = 0; i < duckdb_data_chunk_get_size(in); i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        Range r;
        if (!valid_at(text, i)) {
            set_null(out, &c, i);
            continue;
        }
        const char *wrong = range_of_text(a, k, text_at(text, i), &r);
        if (wrong) {
            duckdb_scalar_function_set_error(info, wrong);
            return;
        }
        set_range(&c, i, &r);
    }
}

static void run_text(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    RangeKind k = kind_of(info);
    duckdb_vector from = duckdb_data_chunk_get_vector(in, 0);
    Column c = column_of(k, from);

    for (size_t i = 0; i < duckdb_data_chunk_get_size(in); i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        if (!valid_at(from, i)) {
            scalar_null(out, i);
            continue;
        }
        Range r = range_at(&c, i);
        Str s = range_to_text(a, k, &r);
        duckdb_vector_assign_string_element_len(out, i, s.p, s.n);
    }
}

/* ---- two of them ---------------------------------------------------------------------------------------------------------------- */

typedef bool (*Test)(const Range *a, const Range *b);
typedef const char *(*Combine)(const Range *a, const Range *b, Range *ret);
typedef struct Pair { size_t n; duckdb_vector v[2]; Column c[2]; } Pair;

static Pair pair_of(RangeKind k, duckdb_data_chunk in)
{
    Pair p = { .n = duckdb_data_chunk_get_size(in) };

    for (int i = 0; i < 2; i++) {
        p.v[i] = duckdb_data_chunk_get_vector(in, (idx_t)i);
        p.c[i] = column_of(k, p.v[i]);
    }
    return p;
}

static void test_cells(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out, Test test)
{
    Pair p = pair_of(kind_of(info), in);
    bool *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < p.n; i++) {
        if (!valid_at(p.v[0], i) || !valid_at(p.v[1], i)) {
            scalar_null(out, i);
            continue;
        }
        Range x = range_at(&p.c[0], i), y = range_at(&p.c[1], i);
        to[i] = test(&x, &y);
    }
}

static void combine_cells(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out, Combine combine)
{
    RangeKind k = kind_of(info);
    Pair p = pair_of(k, in);
    Column c = column_of(k, out);

    for (size_t i = 0; i < p.n; i++) {
        if (!valid_at(p.v[0], i) || !valid_at(p.v[1], i)) {
            set_null(out, &c, i);
            continue;
        }
        Range x = range_at(&p.c[0], i), y = range_at(&p.c[1], i), r = { .state = RANGE_IS_EMPTY };
        const char *wrong = combine(&x, &y, &r);
        if (wrong || (wrong = range_canonical(k, &r))) {
            duckdb_scalar_function_set_error(info, wrong);
            return;
        }
        set_range(&c, i, &r);
    }
}

static void run_contains(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { test_cells(i, in, out, range_contains); }
static void run_overlaps(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { test_cells(i, in, out, range_overlaps); }
static void run_before(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { test_cells(i, in, out, range_before); }
static void run_no_right(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { test_cells(i, in, out, range_no_right); }
static void run_no_left(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { test_cells(i, in, out, range_no_left); }
static void run_adjacent(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { test_cells(i, in, out, range_adjacent); }
static void run_union(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { combine_cells(i, in, out, range_union); }
static void run_intersect(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { combine_cells(i, in, out, range_intersect); }
static void run_minus(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { combine_cells(i, in, out, range_minus); }

static void run_has(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    RangeKind k = kind_of(info);
    duckdb_vector ranges = duckdb_data_chunk_get_vector(in, 0), values = duckdb_data_chunk_get_vector(in, 1);
    Column c = column_of(k, ranges);
    bool *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < duckdb_data_chunk_get_size(in); i++) {
        if (!valid_at(ranges, i) || !valid_at(values, i)) {
            scalar_null(out, i);
            continue;
        }
        Range r = range_at(&c, i);
        to[i] = range_has(&r, number_at(k, duckdb_vector_get_data(values), i));
    }
}

/* ---- registration ------------------------------------------------------------------------------------------------------------------ */

/* args and result by letter: R the range, E its bound's type, T text, B boolean. */
typedef struct Function { const char *suffix, *args; char result; duckdb_scalar_function_t run; } Function;

static const Function FUNCTIONS[] = {
    { "of", "EET", 'R', run_of }, { "in", "T", 'R', run_in }, { "text", "R", 'T', run_text }, { "has", "RE", 'B', run_has }, { "contains", "RR", 'B', run_contains },
    { "overlaps", "RR", 'B', run_overlaps }, { "before", "RR", 'B', run_before }, { "no_right", "RR", 'B', run_no_right }, { "no_left", "RR", 'B', run_no_left },
    { "adjacent", "RR", 'B', run_adjacent }, { "union", "RR", 'R', run_union }, { "intersect", "RR", 'R', run_intersect }, { "minus", "RR", 'R', run_minus },
};

static duckdb_logical_type type_of(RangeKind k, char letter)
{
    static const DataType text = { .kind = DT_STRING }, truth = { .kind = DT_BOOL };
    const DataType *r = data_type_of_range(k);
    return duck_logical_type(letter == 'R' ? r : letter == 'E' ? &r->children[RANGE_LO] : letter == 'T' ? &text : &truth);
}

static void function_done(duckdb_scalar_function *f) { duckdb_destroy_scalar_function(f); }

static Status add(duckdb_connection con, RangeKind k, const Function *spec, Error *err)
{
    CLEANUP(function_done) duckdb_scalar_function f = duckdb_create_scalar_function();
    CLEANUP(duck_logical_type_done) duckdb_logical_type result = type_of(k, spec->result);
    char name[64];

    snprintf(name, sizeof name, "firn_%s_%s", NAMES_OF[k], spec->suffix);
    duckdb_scalar_function_set_name(f, name);
    for (const char *c = spec->args; *c; c++) {
        CLEANUP(duck_logical_type_done) duckdb_logical_type t = type_of(k, *c);
        duckdb_scalar_function_add_parameter(f, t);
    }
    duckdb_scalar_function_set_return_type(f, result);
    duckdb_scalar_function_set_special_handling(f);
    duckdb_scalar_function_set_extra_info(f, (void *)(uintptr_t)k, NULL);
    duckdb_scalar_function_set_function(f, spec->run);
    return duckdb_register_scalar_function(con, f) == DuckDBSuccess ? OK : FAIL(err, E_INTERNAL, "cannot register function '%s'", name);
}

Status duck_range_register(duckdb_connection con, Error *err)
{
    for (RangeKind k = RANGE_INT4; k < RANGE_KINDS; k++)
        for (size_t i = 0; i < COUNT_OF(FUNCTIONS); i++)
            TRY(add(con, k, &FUNCTIONS[i], err));
    return OK;
}

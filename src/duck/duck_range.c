/* SPDX-License-Identifier: Apache-2.0 */
/* duck_range.c - ranges: their types, and the functions that make, read and compare them (the struct is described in duck.h).  For each range type R, int4range to tstzrange:
 *
 *   firn_R_of(lo, hi, flags VARCHAR)   the range of these bounds, flags '[)' and its kin       firn_R_in(text VARCHAR)   the range that a text says
 *   firn_R_text(r)                     '[1,11)'                                               firn_R_has(r, x)          does it contain the value
 *   firn_R_contains, _overlaps, _before, _no_right (&<), _no_left (&>), _adjacent (r, r)       BOOLEAN
 *   firn_R_union, _intersect, _minus (r, r)
 * Null in, null out.
 *
 * All bounds are whole numbers to the engine (numeric is DECIMAL(38,10)), so one code does them all in 128 bits.  Invariant: every range that leaves is canonical. */
#include "duck/duck_scalar.h"

#include "codec/codec.h"

#include <stdio.h>

enum { NUM_WIDTH = 38, NUM_SCALE = 10 };

/* ---- types ------------------------------------------------------------------------------------------------------ */

typedef struct RangeRow { const char *name; DataTypeKind kind; const char *bound; bool whole; } RangeRow;

static const RangeRow RANGES[RANGE_KINDS] = {
    [RANGE_INT4] = { "int4range", DT_INT32, "integer", true },   [RANGE_INT8] = { "int8range", DT_INT64, "bigint", true },
    [RANGE_NUM] = { "numrange", DT_DECIMAL, "numeric", false },  [RANGE_DATE] = { "daterange", DT_DATE, "date", true },
    [RANGE_TS] = { "tsrange", DT_TIMESTAMP, "timestamp", false }, [RANGE_TSTZ] = { "tstzrange", DT_TIMESTAMPTZ, "timestamp with time zone", false },
};

#define BOUND(k) { .kind = k, .precision = k == DT_DECIMAL ? NUM_WIDTH : 0, .scale = k == DT_DECIMAL ? NUM_SCALE : 0, .mark = k == DT_DECIMAL ? MARK_NUMERIC : MARK_NONE }
#define FIELDS(k) (DataType[]){ { .kind = DT_INT8 }, BOUND(k), { .kind = DT_BOOL }, BOUND(k), { .kind = DT_BOOL } }
#define NAMES(name) (Str[]){ { name, sizeof name - 1 }, { "lo", 2 }, { "lx", 2 }, { "hi", 2 }, { "hi_in", 5 } }
#define TYPE(name, k) { .kind = DT_STRUCT, .nchildren = RANGE_FIELDS, .children = FIELDS(k), .names = NAMES(name) }

static const DataType TYPE_OF[RANGE_KINDS] = {
    [RANGE_INT4] = TYPE("int4range", DT_INT32), [RANGE_INT8] = TYPE("int8range", DT_INT64), [RANGE_NUM] = TYPE("numrange", DT_DECIMAL),
    [RANGE_DATE] = TYPE("daterange", DT_DATE),  [RANGE_TS] = TYPE("tsrange", DT_TIMESTAMP), [RANGE_TSTZ] = TYPE("tstzrange", DT_TIMESTAMPTZ),
};

const DataType *data_type_of_range(RangeKind k) { return &TYPE_OF[k]; }
const char *range_name(RangeKind k) { return k == RANGE_NONE ? "" : RANGES[k].name; }

RangeKind data_type_range(const DataType *t)
{
    if (t->kind != DT_STRUCT || t->nchildren != RANGE_FIELDS || !t->names)
        return RANGE_NONE;
    for (RangeKind k = RANGE_INT4; k < RANGE_KINDS; k++)
        if (str_eq(t->names[0], str_c(RANGES[k].name)) && data_type_equal(t, data_type_of_range(k)))
            return k;
    return RANGE_NONE;
}

/* ---- one range ---------------------------------------------------------------------------------------------------- */

typedef struct Range { int state; bool lo_ex, has_hi, hi_in; __int128 lo, hi; } Range;

static const Range EMPTY = { .state = RANGE_IS_EMPTY };

static int sign(__int128 x, __int128 y) { return (x > y) - (x < y); }

static int cmp_lower(const Range *a, const Range *b)
{
    if (a->state != b->state || a->state == RANGE_NO_LOWER)
        return sign(a->state, b->state);
    int c = sign(a->lo, b->lo);
    return c ? c : (int)a->lo_ex - (int)b->lo_ex;
}

static int cmp_upper(const Range *a, const Range *b)
{
    if (!a->has_hi || !b->has_hi)
        return (int)b->has_hi - (int)a->has_hi;
    int c = sign(a->hi, b->hi);
    return c ? c : (int)a->hi_in - (int)b->hi_in;
}

/* Every value of a is below every value of b; both are not empty. */
static bool before(const Range *a, const Range *b)
{
    if (!a->has_hi || b->state != RANGE_HAS_LOWER)
        return false;
    return a->hi < b->lo || (a->hi == b->lo && (!a->hi_in || b->lo_ex));
}

static bool is_empty(const Range *r) { return r->state == RANGE_IS_EMPTY; }
static bool overlaps(const Range *a, const Range *b) { return !is_empty(a) && !is_empty(b) && !before(a, b) && !before(b, a); }
static bool touches(const Range *a, const Range *b) { return a->has_hi && b->state == RANGE_HAS_LOWER && a->hi == b->lo && a->hi_in == b->lo_ex; }
static bool adjacent(const Range *a, const Range *b) { return !is_empty(a) && !is_empty(b) && (touches(a, b) || touches(b, a)); }
static bool contains(const Range *a, const Range *b) { return is_empty(b) || (!is_empty(a) && cmp_lower(a, b) <= 0 && cmp_upper(a, b) >= 0); }
static bool all_before(const Range *a, const Range *b) { return !is_empty(a) && !is_empty(b) && before(a, b); }
static bool no_right(const Range *a, const Range *b) { return !is_empty(a) && !is_empty(b) && cmp_upper(a, b) <= 0; }
static bool no_left(const Range *a, const Range *b) { return !is_empty(a) && !is_empty(b) && cmp_lower(a, b) >= 0; }

static bool has(const Range *r, __int128 x)
{
    if (is_empty(r))
        return false;
    if (r->state == RANGE_HAS_LOWER && (x < r->lo || (x == r->lo && r->lo_ex)))
        return false;
    return !r->has_hi || x < r->hi || (x == r->hi && r->hi_in);
}

/* ---- canonical ------------------------------------------------------------------------------------------------------ */

static __int128 most_of(RangeKind k) { return k == RANGE_INT8 ? INT64_MAX : INT32_MAX; }

/* Infinite dates are values of their own: nothing follows them. */
static bool steps(RangeKind k, __int128 v) { return RANGES[k].whole && (k != RANGE_DATE || (v != INT32_MAX && v != -INT32_MAX)); }

static const char *step(RangeKind k, __int128 *v)
{
    if (*v >= most_of(k) - (k == RANGE_DATE))
        return k == RANGE_INT4 ? "integer out of range SQLSTATE: 22003" : k == RANGE_INT8 ? "bigint out of range SQLSTATE: 22003" : "date out of range SQLSTATE: 22008";
    ++*v;
    return NULL;
}

/* NULL, or what is wrong. */
static const char *canonical(RangeKind k, Range *r)
{
    const char *wrong = NULL;

    if (is_empty(r)) {
        *r = EMPTY;
        return NULL;
    }
    bool finite = r->state == RANGE_HAS_LOWER && r->has_hi;
    if (finite && r->lo > r->hi)
        return "range lower bound must be less than or equal to range upper bound SQLSTATE: 22000";
    if (finite && r->lo == r->hi && (r->lo_ex || !r->hi_in)) {
        *r = EMPTY;
        return NULL;
    }
    if (r->state == RANGE_HAS_LOWER && r->lo_ex && steps(k, r->lo)) {
        wrong = step(k, &r->lo);
        r->lo_ex = false;
    }
    if (!wrong && r->has_hi && r->hi_in && steps(k, r->hi)) {
        wrong = step(k, &r->hi);
        r->hi_in = false;
    }
    if (r->state == RANGE_NO_LOWER)
        *r = (Range){ .state = RANGE_NO_LOWER, .lo_ex = true, .has_hi = r->has_hi, .hi_in = r->hi_in, .hi = r->hi };
    if (!r->has_hi)
        *r = (Range){ .state = r->state, .lo_ex = r->lo_ex, .lo = r->lo };
    if (!wrong && finite && r->lo >= r->hi && !(r->lo == r->hi && r->hi_in && !r->lo_ex))
        *r = EMPTY;
    return wrong;
}

/* ---- sets ------------------------------------------------------------------------------------------------------------- */

static void take_lower(Range *r, const Range *from) { r->state = from->state, r->lo = from->lo, r->lo_ex = from->lo_ex; }
static void take_upper(Range *r, const Range *from) { r->has_hi = from->has_hi, r->hi = from->hi, r->hi_in = from->hi_in; }

static const char *unite(const Range *a, const Range *b, Range *ret)
{
    if (is_empty(a) || is_empty(b)) {
        *ret = is_empty(a) ? *b : *a;
        return NULL;
    }
    if (!overlaps(a, b) && !adjacent(a, b))
        return "result of range union would not be contiguous SQLSTATE: 22000";
    take_lower(ret, cmp_lower(a, b) <= 0 ? a : b);
    take_upper(ret, cmp_upper(a, b) >= 0 ? a : b);
    return NULL;
}

static const char *intersect(const Range *a, const Range *b, Range *ret)
{
    *ret = EMPTY;
    if (!overlaps(a, b))
        return NULL;
    take_lower(ret, cmp_lower(a, b) >= 0 ? a : b);
    take_upper(ret, cmp_upper(a, b) <= 0 ? a : b);
    return NULL;
}

static const char *minus(const Range *a, const Range *b, Range *ret)
{
    *ret = *a;
    if (!overlaps(a, b))
        return NULL;
    bool left = cmp_lower(a, b) < 0, right = cmp_upper(a, b) > 0;
    if (left && right)
        return "result of range difference would not be contiguous SQLSTATE: 22000";
    if (!left && !right)
        *ret = EMPTY;
    else if (left)
        ret->has_hi = true, ret->hi = b->lo, ret->hi_in = b->lo_ex;
    else
        ret->state = RANGE_HAS_LOWER, ret->lo = b->hi, ret->lo_ex = b->hi_in;
    return NULL;
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
        if (wrong || (wrong = canonical(k, &r))) {
            duckdb_scalar_function_set_error(info, wrong);
            return;
        }
        set_range(&c, i, &r);
    }
}

/* ---- from text --------------------------------------------------------------------------------------------------------------- */

static bool whole_of(RangeKind k, Str s, __int128 *ret)
{
    int64_t v;

    if (!str_to_i64(str_trim(s), &v) || (k == RANGE_INT4 && (v > INT32_MAX || v < INT32_MIN)))
        return false;
    *ret = v;
    return true;
}

/* By the engine's own casts, which give these where there is no value. */
static bool time_of(RangeKind k, Str s, __int128 *ret)
{
    duckdb_value v = duckdb_create_varchar_length(s.p ? s.p : "", s.n);
    int64_t none = k == RANGE_DATE ? INT32_MIN : INT64_MIN;

    *ret = k == RANGE_DATE ? duckdb_get_date(v).days : k == RANGE_TS ? duckdb_get_timestamp(v).micros : duckdb_get_timestamp_tz(v).micros;
    duckdb_destroy_value(&v);
    return *ret != none;
}

/* Digits with a point, and no more than fit; rounded half up, away from zero. */
static bool decimal_of(Str s, __int128 *ret)
{
    static const unsigned __int128 MOST = (unsigned __int128)10000000000000000000ULL * 10000000000000000000ULL - 1;      /* 38 digits */
    unsigned __int128 v = 0;
    int behind = -1, round = 0, digits = 0;

    s = str_trim(s);
    bool negative = s.n && s.p[0] == '-';
    for (size_t i = negative || (s.n && s.p[0] == '+'); i < s.n; i++) {
        if (s.p[i] == '.' && behind < 0) {
            behind = 0;
            continue;
        }
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        digits++;
        if (behind >= NUM_SCALE) {
            round = behind == NUM_SCALE ? s.p[i] >= '5' : round;
            behind++;
            continue;
        }
        if (v > MOST / 10)
            return false;
        v = v * 10 + (unsigned)(s.p[i] - '0');
        behind += behind >= 0;
    }
    for (int i = behind < 0 ? 0 : behind; i < NUM_SCALE; i++) {
        if (v > MOST / 10)
            return false;
        v *= 10;
    }
    v += (unsigned)round;
    *ret = negative ? -(__int128)v : (__int128)v;
    return digits > 0 && v <= MOST;
}

static bool bound_of(RangeKind k, Str s, __int128 *ret)
{
    if (k == RANGE_NUM)
        return decimal_of(s, ret);
    return k == RANGE_INT4 || k == RANGE_INT8 ? whole_of(k, s, ret) : time_of(k, s, ret);
}

enum { SHOWN_BYTES = 200 };

static Str shown(Str s)
{
    size_t n = min_size(s.n, SHOWN_BYTES);
    while (n < s.n && n && ((unsigned char)s.p[n] & 0xC0) == 0x80)
        n--;
    return str_sub(s, 0, n);
}

static const char *range_of_text(Arena *a, RangeKind k, Str text, Range *r)
{
    RangeText t;

    if (!range_parts(a, text, &t))
        return str_fmt(a, "malformed range literal: \"" STR_FMT "\" SQLSTATE: 22P02", STR_ARG(shown(text))).p;
    *r = EMPTY;
    if (t.empty)
        return NULL;
    *r = (Range){ .state = t.lower.n ? RANGE_HAS_LOWER : RANGE_NO_LOWER, .has_hi = t.upper.n > 0, .lo_ex = !t.lower_inclusive, .hi_in = t.upper_inclusive };
    for (int i = 0; i < 2; i++) {
        const StrVec *b = i ? &t.upper : &t.lower;
        if (b->n && !bound_of(k, b->p[0], i ? &r->hi : &r->lo))
            return str_fmt(a, "invalid input syntax for type %s: \"" STR_FMT "\" SQLSTATE: 22P02", RANGES[k].bound, STR_ARG(shown(b->p[0]))).p;
    }
    return canonical(k, r);
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

/* ---- to text ------------------------------------------------------------------------------------------------------------------ */

static void decimal_text(StrBuf *b, __int128 v)
{
    char digits[48];
    size_t n = 0;
    unsigned __int128 u = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;

    for (; u || n <= NUM_SCALE; u /= 10)
        digits[n++] = (char)('0' + (int)(u % 10));
    size_t keep = 0;                                       /* zeros behind the last digit are not shown */
    while (keep < NUM_SCALE && digits[keep] == '0')
        keep++;
    if (v < 0)
        sb_byte(b, '-');
    while (n > NUM_SCALE)
        sb_byte(b, digits[--n]);
    if (keep < NUM_SCALE)
        sb_byte(b, '.');
    while (n > keep)
        sb_byte(b, digits[--n]);
}

static void moment_text(Arena *a, StrBuf *b, RangeKind k, __int128 v)
{
    duckdb_value x = k == RANGE_DATE ? duckdb_create_date((duckdb_date){ (int32_t)v })
                   : k == RANGE_TS ? duckdb_create_timestamp((duckdb_timestamp){ (int64_t)v }) : duckdb_create_timestamp_tz((duckdb_timestamp){ (int64_t)v });
    char *text = duckdb_get_varchar(x);

    nested_quote(b, NESTED_RANGE, str_dup(a, str_c(text)));
    duckdb_free(text);
    duckdb_destroy_value(&x);
}

static void bound_text(Arena *a, StrBuf *b, RangeKind k, __int128 v)
{
    if (k == RANGE_NUM)
        decimal_text(b, v);
    else if (k == RANGE_INT4 || k == RANGE_INT8)
        sb_fmt(b, "%lld", (long long)v);
    else
        moment_text(a, b, k, v);
}

static void run_text(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    RangeKind k = kind_of(info);
    duckdb_vector from = duckdb_data_chunk_get_vector(in, 0);
    Column c = column_of(k, from);

    for (size_t i = 0; i < duckdb_data_chunk_get_size(in); i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        StrBuf b = sb_new(a);
        if (!valid_at(from, i)) {
            scalar_null(out, i);
            continue;
        }
        Range r = range_at(&c, i);
        if (is_empty(&r))
            sb_addc(&b, "empty");
        else
            sb_byte(&b, r.lo_ex ? '(' : '[');
        if (r.state == RANGE_HAS_LOWER)
            bound_text(a, &b, k, r.lo);
        if (!is_empty(&r))
            sb_byte(&b, ',');
        if (r.has_hi)
            bound_text(a, &b, k, r.hi);
        if (!is_empty(&r))
            sb_byte(&b, r.hi_in ? ']' : ')');
        duckdb_vector_assign_string_element_len(out, i, sb_str(&b).p, b.n);
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
        Range x = range_at(&p.c[0], i), y = range_at(&p.c[1], i), r = EMPTY;
        const char *wrong = combine(&x, &y, &r);
        if (wrong || (wrong = canonical(k, &r))) {
            duckdb_scalar_function_set_error(info, wrong);
            return;
        }
        set_range(&c, i, &r);
    }
}

static void run_contains(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { test_cells(i, in, out, contains); }
static void run_overlaps(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { test_cells(i, in, out, overlaps); }
static void run_before(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { test_cells(i, in, out, all_before); }
static void run_no_right(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { test_cells(i, in, out, no_right); }
static void run_no_left(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { test_cells(i, in, out, no_left); }
static void run_adjacent(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { test_cells(i, in, out, adjacent); }
static void run_union(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { combine_cells(i, in, out, unite); }
static void run_intersect(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { combine_cells(i, in, out, intersect); }
static void run_minus(duckdb_function_info i, duckdb_data_chunk in, duckdb_vector out) { combine_cells(i, in, out, minus); }

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
        to[i] = has(&r, number_at(k, duckdb_vector_get_data(values), i));
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

    snprintf(name, sizeof name, "firn_%s_%s", RANGES[k].name, spec->suffix);
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

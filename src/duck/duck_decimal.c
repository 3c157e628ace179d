/* SPDX-License-Identifier: Apache-2.0 */
/* duck_decimal.c - exact decimal arithmetic for generated SQL, in 256 bits, rounded half up.
 *
 *   firn_mul_sN(x, y)    x * y as DECIMAL(38,N)          firn_round_sN(x)    x as DECIMAL(38,N), range checked
 *   firn_div_sN(x, y)    x / y as DECIMAL(38,N)          firn_nonzero_sN(x)  x, or the error for a division by zero
 *   firn_fit_sN(x, p)    x as DECIMAL(38,N), with at most p digits
 *   firn_times_sN(x, y)  x * y of scale N as DECIMAL(18,N), NULL when 18 digits do not do: fast, for sums (sql/print_narrow.c)
 *   firn_nonzero(x)      the same for integers and floating point numbers
 * x and y are DECIMAL or integers.  Null in, null out.  Results over 38 digits raise 22003, a zero divisor 22012.
 * The engine itself divides decimals as DOUBLE and lets a sum silently pass 38 digits. */
#include "duck/duck_int.h"
#include "duck/duck_scalar.h"

#include <stdio.h>

typedef unsigned __int128 u128;
typedef struct Wide { uint64_t w[4]; } Wide;                 /* little end first */
typedef struct Number { duckdb_type physical; int scale; } Number;

enum { DIGITS = 38 };

static const char DIVIDE_BY_ZERO[] = "[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead. SQLSTATE: 22012";
static const char OUT_OF_RANGE[] = "[NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION] The result cannot be represented with 38 digits. SQLSTATE: 22003";
static const char TOO_WIDE[] = "[NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION] The value cannot be represented as a decimal of that precision and scale. SQLSTATE: 22003";
static const char SUM_OVERFLOW[] = "[ARITHMETIC_OVERFLOW] Overflow in sum of decimals. Use 'try_sum' to tolerate overflow and return NULL instead. SQLSTATE: 22003";

/* ---- 256 bits ---------------------------------------------------------------------------------------------------- */

static Wide wide_of(u128 v) { return (Wide){ { (uint64_t)v, (uint64_t)(v >> 64), 0, 0 } }; }

static bool fits_128(const Wide *x) { return !x->w[2] && !x->w[3]; }
static u128 low_128(const Wide *x) { return (u128)x->w[1] << 64 | x->w[0]; }

/* x *= m; false when it does not fit. */
static bool times(Wide *x, uint64_t m)
{
    u128 carry = 0;
    for (int i = 0; i < 4; i++) {
        carry += (u128)x->w[i] * m;
        x->w[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return carry == 0;
}

static bool times_ten(Wide *x, int power)
{
    for (; power >= 18; power -= 18)
        if (!times(x, UINT64_C(1000000000000000000)))
            return false;
    uint64_t m = 1;
    for (; power > 0; power--)
        m *= 10;
    return times(x, m);
}

static Wide product(u128 x, u128 y)
{
    uint64_t a[2] = { (uint64_t)x, (uint64_t)(x >> 64) }, b[2] = { (uint64_t)y, (uint64_t)(y >> 64) };
    Wide r = { { 0 } };

    for (int i = 0; i < 2; i++) {
        u128 carry = 0;
        for (int j = 0; j < 2; j++) {
            carry += (u128)a[i] * b[j] + r.w[i + j];
            r.w[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
        r.w[i + 2] += (uint64_t)carry;
    }
    return r;
}

static int bit(const Wide *x, int i) { return (int)(x->w[i / 64] >> (i % 64) & 1); }

/* x / d rounded half up; false when the quotient does not fit 128 bits. */
static bool divide(const Wide *x, u128 d, u128 *ret)
{
    u128 q = 0, rest = 0;

    if (fits_128(x)) {
        q = low_128(x) / d;
        rest = low_128(x) % d;
    } else {
        for (int i = 255; i >= 0; i--) {
            if (q >> 127)
                return false;
            int top = (int)(rest >> 127);
            rest = rest << 1 | (u128)bit(x, i);
            q <<= 1;
            if (top || rest >= d) {
                rest -= d;
                q |= 1;
            }
        }
    }
    *ret = q + (rest >= d - rest ? 1 : 0);
    return true;
}

static u128 ten_to(int n)
{
    u128 r = 1;
    while (n-- > 0)
        r *= 10;
    return r;
}

/* ---- numbers of the engine ------------------------------------------------------------------------------------------ */

static Number number_of(duckdb_vector v)
{
    CLEANUP(duck_logical_type_done) duckdb_logical_type t = duckdb_vector_get_column_type(v);
    Number n = { .physical = duckdb_get_type_id(t) };

    if (n.physical == DUCKDB_TYPE_DECIMAL) {
        n.scale = duckdb_decimal_scale(t);
        n.physical = duckdb_decimal_internal_type(t);
    }
    return n;
}

static __int128 read(duckdb_type physical, const void *data, size_t row)
{
    switch (physical) {
    case DUCKDB_TYPE_TINYINT: return ((const int8_t *)data)[row];
    case DUCKDB_TYPE_SMALLINT: return ((const int16_t *)data)[row];
    case DUCKDB_TYPE_INTEGER: return ((const int32_t *)data)[row];
    case DUCKDB_TYPE_BIGINT: return ((const int64_t *)data)[row];
    default: return scalar_hugeint(((const duckdb_hugeint *)data)[row]);
    }
}

static u128 magnitude(__int128 v) { return v < 0 ? -(u128)v : (u128)v; }

/* ---- the functions ------------------------------------------------------------------------------------------------------ */

/* Raises, or stores the signed result of an operation. */
static bool store(duckdb_function_info info, duckdb_hugeint *to, bool ok, u128 v, int negative, const char *message)
{
    if (!ok || v >= ten_to(DIGITS)) {
        duckdb_scalar_function_set_error(info, message);
        return false;
    }
    __int128 s = negative ? -(__int128)v : (__int128)v;
    *to = (duckdb_hugeint){ .lower = (uint64_t)(u128)s, .upper = (int64_t)(s >> 64) };
    return true;
}

static bool mul(__int128 x, __int128 y, int shift, u128 *ret)
{
    Wide p = product(magnitude(x), magnitude(y));

    if (shift <= 0)
        return times_ten(&p, -shift) && divide(&p, 1, ret);
    if (shift <= DIGITS)
        return divide(&p, ten_to(shift), ret);
    u128 q;
    return divide(&p, ten_to(DIGITS), &q) && divide(&(Wide){ { (uint64_t)q, (uint64_t)(q >> 64), 0, 0 } }, ten_to(shift - DIGITS), ret);
}

/* x * 10^shift / y */
static bool quotient(__int128 x, __int128 y, int shift, u128 *ret)
{
    Wide n = wide_of(magnitude(x));

    if (shift >= 0)
        return times_ten(&n, shift) && divide(&n, magnitude(y), ret);
    Wide d = product(magnitude(y), ten_to(-shift));
    if (!fits_128(&d)) {
        *ret = 0;
        return true;
    }
    return divide(&n, low_128(&d), ret);
}

static int scale_of(duckdb_function_info info) { return (int)(intptr_t)duckdb_scalar_function_get_extra_info(info); }

typedef bool (*Operation)(__int128 x, __int128 y, int shift, u128 *ret);

static void two(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out, Operation op, int is_div)
{
    ScalarArgs a = scalar_args(in);
    Number x = number_of(a.v[0]), y = number_of(a.v[1]);
    int n = scale_of(info), shift = is_div ? n + y.scale - x.scale : x.scale + y.scale - n;
    duckdb_hugeint *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        u128 r = 0;
        if (!scalar_has(&a, 0, i) || !scalar_has(&a, 1, i)) {
            scalar_null(out, i);
            continue;
        }
        __int128 p = read(x.physical, a.data[0], i), q = read(y.physical, a.data[1], i);
        if (is_div && !q) {
            duckdb_scalar_function_set_error(info, DIVIDE_BY_ZERO);
            return;
        }
        bool ok = op(p, q, shift, &r);
        if (!store(info, &to[i], ok, r, (p < 0) != (q < 0), OUT_OF_RANGE))
            return;
    }
}

static void run_mul(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { two(info, in, out, mul, 0); }
static void run_div(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { two(info, in, out, quotient, 1); }

static void run_round(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    Number x = number_of(a.v[0]);
    duckdb_hugeint *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        u128 r = 0;
        if (!scalar_has(&a, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        __int128 v = read(x.physical, a.data[0], i);
        bool ok = mul(v, 1, x.scale - scale_of(info), &r);
        if (!store(info, &to[i], ok, r, v < 0, SUM_OVERFLOW))
            return;
    }
}

static const int64_t EIGHTEEN = INT64_C(1000000000000000000);

static bool times_64(int64_t x, int64_t y, int64_t *ret)
{
    return !__builtin_mul_overflow(x, y, ret) && *ret < EIGHTEEN && *ret > -EIGHTEEN;
}

static void run_times(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    Number x = number_of(a.v[0]), y = number_of(a.v[1]);
    int both_64 = x.physical == DUCKDB_TYPE_BIGINT && y.physical == DUCKDB_TYPE_BIGINT;
    const int64_t *p = a.data[0], *q = a.data[1];
    int64_t *to = duckdb_vector_get_data(out);

    (void)info;
    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i) || !scalar_has(&a, 1, i)) {
            scalar_null(out, i);
            continue;
        }
        __int128 v = both_64 ? p[i] : read(x.physical, a.data[0], i), w = both_64 ? q[i] : read(y.physical, a.data[1], i);
        if (!times_64((int64_t)v, (int64_t)w, &to[i]))
            scalar_null(out, i);
    }
}

static void run_fit(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    Number x = number_of(a.v[0]);
    int32_t *precision = a.data[1];
    duckdb_hugeint *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        u128 r = 0;
        if (!scalar_has(&a, 0, i) || !scalar_has(&a, 1, i)) {
            scalar_null(out, i);
            continue;
        }
        __int128 v = read(x.physical, a.data[0], i);
        bool ok = mul(v, 1, x.scale - scale_of(info), &r) && r < ten_to(precision[i] > DIGITS ? DIGITS : precision[i]);
        if (!store(info, &to[i], ok, r, v < 0, TOO_WIDE))
            return;
    }
}

/* Copies fixed-size values, and raises at a zero. */
static void nonzero(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out, size_t size)
{
    ScalarArgs a = scalar_args(in);
    static const char zero[16];
    const char *from = a.data[0];
    char *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i))
            scalar_null(out, i);
        else if (memcmp(from + i * size, zero, size) == 0) {
            duckdb_scalar_function_set_error(info, DIVIDE_BY_ZERO);
            return;
        }
    }
    memcpy(to, from, a.n * size);
}

static void nonzero_1(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { nonzero(info, in, out, 1); }
static void nonzero_2(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { nonzero(info, in, out, 2); }
static void nonzero_4(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { nonzero(info, in, out, 4); }
static void nonzero_8(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { nonzero(info, in, out, 8); }
static void nonzero_16(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { nonzero(info, in, out, 16); }

/* +0.0 and -0.0 */
static void nonzero_double(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    double *from = a.data[0], *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i))
            scalar_null(out, i);
        else if (from[i] == 0) {
            duckdb_scalar_function_set_error(info, DIVIDE_BY_ZERO);
            return;
        }
        to[i] = from[i];
    }
}

static void nonzero_float(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    float *from = a.data[0], *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i))
            scalar_null(out, i);
        else if (from[i] == 0) {
            duckdb_scalar_function_set_error(info, DIVIDE_BY_ZERO);
            return;
        }
        to[i] = from[i];
    }
}

/* ---- registration --------------------------------------------------------------------------------------------------------- */

static Status add_scaled(duckdb_connection con, const char *name, int scale, int nargs, duckdb_scalar_function_t run, Error *err)
{
    char full[32];
    snprintf(full, sizeof full, "firn_%s_s%d", name, scale);
    ScalarSpec s = { .name = full, .nargs = nargs, .args = { DUCKDB_TYPE_ANY, DUCKDB_TYPE_ANY }, .result = DUCKDB_TYPE_DECIMAL, .result_scale = scale,
                     .run = run, .extra = (void *)(intptr_t)scale };
    if (run == run_times)
        s.result_width = 18;
    if (run == run_fit)
        s.args[1] = DUCKDB_TYPE_INTEGER;
    if (run == nonzero_16) {
        s.args[0] = DUCKDB_TYPE_DECIMAL;
        s.arg_scale = scale;
    }
    return scalar_register(con, &s, 1, err);
}

Status duck_decimal_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec plain[] = {
        { .name = "firn_nonzero", .nargs = 1, .args = { DUCKDB_TYPE_TINYINT }, .result = DUCKDB_TYPE_TINYINT, .run = nonzero_1 },
        { .name = "firn_nonzero", .nargs = 1, .args = { DUCKDB_TYPE_SMALLINT }, .result = DUCKDB_TYPE_SMALLINT, .run = nonzero_2 },
        { .name = "firn_nonzero", .nargs = 1, .args = { DUCKDB_TYPE_INTEGER }, .result = DUCKDB_TYPE_INTEGER, .run = nonzero_4 },
        { .name = "firn_nonzero", .nargs = 1, .args = { DUCKDB_TYPE_BIGINT }, .result = DUCKDB_TYPE_BIGINT, .run = nonzero_8 },
        { .name = "firn_nonzero", .nargs = 1, .args = { DUCKDB_TYPE_HUGEINT }, .result = DUCKDB_TYPE_HUGEINT, .run = nonzero_16 },
        { .name = "firn_nonzero", .nargs = 1, .args = { DUCKDB_TYPE_FLOAT }, .result = DUCKDB_TYPE_FLOAT, .run = nonzero_float },
        { .name = "firn_nonzero", .nargs = 1, .args = { DUCKDB_TYPE_DOUBLE }, .result = DUCKDB_TYPE_DOUBLE, .run = nonzero_double },
    };

    TRY(scalar_register(con, plain, COUNT_OF(plain), err));
    for (int n = 0; n <= DIGITS; n++) {
        TRY(add_scaled(con, "mul", n, 2, run_mul, err));
        TRY(add_scaled(con, "div", n, 2, run_div, err));
        TRY(add_scaled(con, "round", n, 1, run_round, err));
        if (n <= 18)
            TRY(add_scaled(con, "times", n, 2, run_times, err));
        TRY(add_scaled(con, "fit", n, 2, run_fit, err));
        TRY(add_scaled(con, "nonzero", n, 1, nonzero_16, err));
    }
    return OK;
}

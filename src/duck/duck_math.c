/* SPDX-License-Identifier: Apache-2.0 */
/* duck_math.c - functions over DOUBLE that PostgreSQL refuses outside of their domain, where the engine gives NaN, infinity or words of its own:
 * firn_math_sqrt, _ln, _log10, _asin, _acos, _acosh, _atanh(x), firn_math_log(base, x), firn_math_pow(x, y).  firn_shift_left(SMALLINT | INTEGER | BIGINT, places): modulo the width, bits go out on the left.
 *
 * Null in, null out; NaN in, NaN out. */
#include "duck/duck_scalar.h"

#include <math.h>

/* The value, or why there is none (with its SQLSTATE). */
typedef struct Outcome { double v; const char *error; } Outcome;
typedef Outcome (*Math)(double x, double y);

static Outcome value(double v) { return (Outcome){ v, NULL }; }
static Outcome refused(const char *why) { return (Outcome){ 0, why }; }

static Outcome root(double x, double y UNUSED) { return x < 0 ? refused("cannot take square root of a negative number SQLSTATE: 2201F") : value(sqrt(x)); }

static Outcome ln_(double x, double y UNUSED)
{
    if (x == 0)
        return refused("function ln is not defined for zero SQLSTATE: 2201E");
    return x < 0 ? refused("function ln is not defined for negative numbers SQLSTATE: 2201E") : value(log(x));
}

static Outcome log10_(double x, double y UNUSED)
{
    if (x == 0)
        return refused("function log10 is not defined for zero SQLSTATE: 2201E");
    return x < 0 ? refused("function log10 is not defined for negative numbers SQLSTATE: 2201E") : value(log10(x));
}

/* log(base, x): whole powers come out whole, which the quotient alone does not promise. */
static Outcome log_(double base, double x)
{
    if (base == 0 || x == 0)
        return refused("function log is not defined for zero SQLSTATE: 2201E");
    if (base < 0 || x < 0)
        return refused("function log is not defined for negative numbers SQLSTATE: 2201E");
    if (base == 1)
        return refused("division by zero SQLSTATE: 22012");
    double v = log(x) / log(base), whole = round(v);
    return value(fabs(v - whole) < 1e-9 && pow(base, whole) == x ? whole : v);
}

static Outcome asin_(double x, double y UNUSED) { return fabs(x) > 1 ? refused("function asin is defined for numbers between -1 and 1 inclusive SQLSTATE: 22003") : value(asin(x)); }
static Outcome acos_(double x, double y UNUSED) { return fabs(x) > 1 ? refused("function acos is defined for numbers between -1 and 1 inclusive SQLSTATE: 22003") : value(acos(x)); }
static Outcome atanh_(double x, double y UNUSED) { return fabs(x) > 1 ? refused("function atanh is defined for numbers between -1 and 1 inclusive SQLSTATE: 22003") : value(atanh(x)); }
static Outcome acosh_(double x, double y UNUSED) { return x < 1 ? refused("function acosh is defined for numbers greater than or equal to 1 SQLSTATE: 22003") : value(acosh(x)); }

static Outcome pow_(double x, double y)
{
    if (x == 0 && y < 0)
        return refused("zero raised to a negative power is undefined SQLSTATE: 2201F");
    if (x < 0 && isfinite(x) && isfinite(y) && y != trunc(y))
        return refused("function pow cannot return complex numbers SQLSTATE: 2201F");
    double v = pow(x, y);
    if (isinf(v) && isfinite(x) && isfinite(y))
        return refused("value out of range: overflow SQLSTATE: 22003");
    return v == 0 && x != 0 && isfinite(x) && isfinite(y) ? refused("value out of range: underflow SQLSTATE: 22003") : value(v);
}

static void run(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out, Math f)
{
    ScalarArgs a = scalar_args(in);
    double *to = duckdb_vector_get_data(out);
    int nargs = a.v[1] ? 2 : 1;

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i) || (nargs > 1 && !scalar_has(&a, 1, i))) {
            scalar_null(out, i);
            continue;
        }
        Outcome o = f(((double *)a.data[0])[i], nargs > 1 ? ((double *)a.data[1])[i] : 0);
        if (o.error) {
            duckdb_scalar_function_set_error(info, o.error);
            return;
        }
        to[i] = o.v;
    }
}

#define RUNNER(name, f) static void name(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { run(info, in, out, f); }
RUNNER(run_sqrt, root)
RUNNER(run_ln, ln_)
RUNNER(run_log10, log10_)
RUNNER(run_log, log_)
RUNNER(run_asin, asin_)
RUNNER(run_acos, acos_)
RUNNER(run_acosh, acosh_)
RUNNER(run_atanh, atanh_)
RUNNER(run_pow, pow_)

/* SMALLINT is shifted in 32 bits. */
static void run_shift(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    CLEANUP(duck_logical_type_done) duckdb_logical_type t = duckdb_vector_get_column_type(a.v[0]);
    duckdb_type id = duckdb_get_type_id(t);
    void *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i) || !scalar_has(&a, 1, i)) {
            scalar_null(out, i);
            continue;
        }
        uint32_t places = (uint32_t)((int32_t *)a.data[1])[i];
        if (id == DUCKDB_TYPE_BIGINT)
            ((uint64_t *)to)[i] = ((uint64_t *)a.data[0])[i] << (places & 63);
        else if (id == DUCKDB_TYPE_INTEGER)
            ((uint32_t *)to)[i] = ((uint32_t *)a.data[0])[i] << (places & 31);
        else
            ((uint16_t *)to)[i] = (uint16_t)((uint32_t)((uint16_t *)a.data[0])[i] << (places & 31));
    }
}

Status duck_math_register(duckdb_connection con, Error *err)
{
    static const struct { const char *name; int nargs; duckdb_scalar_function_t run; } functions[] = {
        { "firn_math_sqrt", 1, run_sqrt }, { "firn_math_ln", 1, run_ln }, { "firn_math_log10", 1, run_log10 }, { "firn_math_log", 2, run_log },
        { "firn_math_asin", 1, run_asin }, { "firn_math_acos", 1, run_acos }, { "firn_math_acosh", 1, run_acosh }, { "firn_math_atanh", 1, run_atanh },
        { "firn_math_pow", 2, run_pow },
    };

    static const duckdb_type widths[] = { DUCKDB_TYPE_SMALLINT, DUCKDB_TYPE_INTEGER, DUCKDB_TYPE_BIGINT };
    ScalarSpec shifts[COUNT_OF(widths)];

    for (size_t i = 0; i < COUNT_OF(widths); i++)
        shifts[i] = (ScalarSpec){ .name = "firn_shift_left", .nargs = 2, .args = { widths[i], DUCKDB_TYPE_INTEGER }, .result = widths[i], .run = run_shift };
    TRY(scalar_register(con, shifts, COUNT_OF(shifts), err));
    for (size_t i = 0; i < COUNT_OF(functions); i++) {
        ScalarSpec s = { .name = functions[i].name, .nargs = functions[i].nargs, .args = { DUCKDB_TYPE_DOUBLE, DUCKDB_TYPE_DOUBLE }, .result = DUCKDB_TYPE_DOUBLE, .run = functions[i].run };
        TRY(scalar_register(con, &s, 1, err));
    }
    return OK;
}

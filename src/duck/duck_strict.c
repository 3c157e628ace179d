/* SPDX-License-Identifier: Apache-2.0 */
/* duck_strict.c - text to integers as Spark (ANSI) and PostgreSQL read it: blanks around, a sign, digits, nothing else.
 *
 *   firn_tinyint(s) firn_smallint(s) firn_integer(s) firn_bigint(s)     raise [CAST_INVALID_INPUT] 22018
 *   firn_try_tinyint(s) …                                               give NULL
 *   the same names over BIGINT, HUGEINT and DOUBLE: narrowing, raises [CAST_OVERFLOW] 22003 or gives NULL
 *   firn_array_index(i, n)   Spark's index i (from 0) into an array of n as the engine's (from 1); 22003 when outside
 * The engine's own cast rounds '12.7' and takes '1e3' and '0x1F', and does not tell bad text from overflow. */
#include "duck/duck_scalar.h"

#include <math.h>
#include <stdio.h>

typedef struct Target { const char *name, *spark; duckdb_type type; int64_t min, max; } Target;

static const Target targets[] = {
    { "tinyint", "TINYINT", DUCKDB_TYPE_TINYINT, INT8_MIN, INT8_MAX },
    { "smallint", "SMALLINT", DUCKDB_TYPE_SMALLINT, INT16_MIN, INT16_MAX },
    { "integer", "INT", DUCKDB_TYPE_INTEGER, INT32_MIN, INT32_MAX },
    { "bigint", "BIGINT", DUCKDB_TYPE_BIGINT, INT64_MIN, INT64_MAX },
};

static Str trim(Str s)
{
    while (s.n && (unsigned char)s.p[0] <= ' ')
        s = str_from(s, 1);
    while (s.n && (unsigned char)s.p[s.n - 1] <= ' ')
        s.n--;
    return s;
}

static bool parse(Str s, const Target *t, int64_t *ret)
{
    s = trim(s);
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+');
    int negative = s.n && s.p[0] == '-';
    int64_t v = 0;

    if (i == s.n)
        return false;
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(v, 10, &v)
            || __builtin_sub_overflow(v, (int64_t)(s.p[i] - '0'), &v))          /* kept negative: its range is one wider */
            return false;
    }
    if (!negative && __builtin_sub_overflow((int64_t)0, v, &v))
        return false;
    *ret = v;
    return v >= t->min && v <= t->max;
}

static void put(const Target *t, void *to, size_t i, int64_t v)
{
    switch (t->type) {
    case DUCKDB_TYPE_TINYINT: ((int8_t *)to)[i] = (int8_t)v; return;
    case DUCKDB_TYPE_SMALLINT: ((int16_t *)to)[i] = (int16_t)v; return;
    case DUCKDB_TYPE_INTEGER: ((int32_t *)to)[i] = (int32_t)v; return;
    default: ((int64_t *)to)[i] = v;
    }
}

static void raise(duckdb_function_info info, Str s, const Target *t)
{
    char text[512];
    Str shown = str_sub(s, 0, 100);

    snprintf(text, sizeof text, "[CAST_INVALID_INPUT] The value '" STR_FMT "' of the type \"STRING\" cannot be cast to \"%s\" because it is malformed. Correct the "
             "value as per the syntax, or change its target type. Use `try_cast` to tolerate malformed input and return NULL instead. SQLSTATE: 22018",
             STR_ARG(shown), t->spark);
    duckdb_scalar_function_set_error(info, text);
}

/* extra: 1 + index of the target, negative to give NULL. */
static void run(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    intptr_t extra = (intptr_t)duckdb_scalar_function_get_extra_info(info);
    const Target *t = &targets[(extra < 0 ? -extra : extra) - 1];
    void *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        int64_t v = 0;
        if (!scalar_has(&a, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        Str text = scalar_text(&a, 0, i);
        if (parse(text, t, &v)) {
            put(t, to, i, v);
        } else if (extra < 0) {
            scalar_null(out, i);
        } else {
            raise(info, text, t);
            return;
        }
    }
}

/* ---- numbers ------------------------------------------------------------------------------------------------ */

static bool from_double(double v, const Target *t, int64_t *ret)
{
    if (!(v >= (double)t->min && v < (t->max == INT64_MAX ? 9223372036854775808.0 : (double)t->max + 1)))     /* NaN fails */
        return false;
    *ret = (int64_t)v;
    return true;
}

/* Reads a number of the argument's type; false when it does not fit the target. `shown` is for the message. */
static bool narrow(duckdb_type type, const void *data, size_t i, const Target *t, int64_t *ret, char shown[48])
{
    if (type == DUCKDB_TYPE_DOUBLE) {
        double v = rint(((const double *)data)[i]);              /* PostgreSQL rounds half to even; Spark has truncated already */
        snprintf(shown, 48, "%.17gD", v);
        return from_double(v, t, ret);
    }
    __int128 v = type == DUCKDB_TYPE_BIGINT ? ((const int64_t *)data)[i] : scalar_hugeint(((const duckdb_hugeint *)data)[i]);
    if (v < INT64_MIN || v > INT64_MAX)
        snprintf(shown, 48, "%.17g", (double)v);
    else
        snprintf(shown, 48, "%lld", (long long)v);
    *ret = (int64_t)v;
    return v >= t->min && v <= t->max;
}

static void raise_overflow(duckdb_function_info info, const char *shown, const Target *t)
{
    char text[512];

    snprintf(text, sizeof text, "[CAST_OVERFLOW] The value %s cannot be cast to \"%s\" due to an overflow. Use `try_cast` to tolerate overflow and return NULL "
             "instead. SQLSTATE: 22003", shown, t->spark);
    duckdb_scalar_function_set_error(info, text);
}

static void run_number(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    intptr_t extra = (intptr_t)duckdb_scalar_function_get_extra_info(info);
    const Target *t = &targets[(extra < 0 ? -extra : extra) - 1];
    CLEANUP(duck_logical_type_done) duckdb_logical_type lt = duckdb_vector_get_column_type(a.v[0]);
    duckdb_type type = duckdb_get_type_id(lt);
    void *to = duckdb_vector_get_data(out);
    char shown[48];

    for (size_t i = 0; i < a.n; i++) {
        int64_t v = 0;
        if (!scalar_has(&a, 0, i)) {
            scalar_null(out, i);
        } else if (narrow(type, a.data[0], i, t, &v, shown)) {
            put(t, to, i, v);
        } else if (extra < 0) {
            scalar_null(out, i);
        } else {
            raise_overflow(info, shown, t);
            return;
        }
    }
}

static void run_index(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    ScalarArgs a = scalar_args(in);
    int64_t *index = a.data[0], *n = a.data[1], *to = duckdb_vector_get_data(out);
    char text[256];

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i) || !scalar_has(&a, 1, i)) {
            scalar_null(out, i);
        } else if (index[i] < 0 || index[i] >= n[i]) {
            snprintf(text, sizeof text, "[INVALID_ARRAY_INDEX] The index %lld is out of bounds. The array has %lld elements. Use the SQL function `get()` to tolerate "
                     "accessing element at invalid index and return NULL instead. SQLSTATE: 22003", (long long)index[i], (long long)n[i]);
            duckdb_scalar_function_set_error(info, text);
            return;
        } else {
            to[i] = index[i] + 1;
        }
    }
}

Status duck_strict_register(duckdb_connection con, Error *err)
{
    for (size_t i = 0; i < COUNT_OF(targets); i++)
        for (int lenient = 0; lenient < 2; lenient++) {
            char name[40];
            snprintf(name, sizeof name, "firn_%s%s", lenient ? "try_" : "", targets[i].name);
            void *extra = (void *)(lenient ? -(intptr_t)(i + 1) : (intptr_t)(i + 1));
            ScalarSpec s[] = {
                { .name = name, .nargs = 1, .args = { DUCKDB_TYPE_VARCHAR }, .result = targets[i].type, .run = run, .extra = extra },
                { .name = name, .nargs = 1, .args = { DUCKDB_TYPE_BIGINT }, .result = targets[i].type, .run = run_number, .extra = extra },
                { .name = name, .nargs = 1, .args = { DUCKDB_TYPE_HUGEINT }, .result = targets[i].type, .run = run_number, .extra = extra },
                { .name = name, .nargs = 1, .args = { DUCKDB_TYPE_DOUBLE }, .result = targets[i].type, .run = run_number, .extra = extra },
            };
            TRY(scalar_register(con, s, COUNT_OF(s), err));
        }
    ScalarSpec index = { .name = "firn_array_index", .nargs = 2, .args = { DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_BIGINT }, .result = DUCKDB_TYPE_BIGINT, .run = run_index };
    return scalar_register(con, &index, 1, err);
}

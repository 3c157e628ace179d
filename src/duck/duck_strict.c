/* SPDX-License-Identifier: Apache-2.0 */
/* duck_strict.c - text to integers as Spark (ANSI) and PostgreSQL read it: blanks around, a sign, digits, nothing else.
 *
 *   firn_tinyint(s) firn_smallint(s) firn_integer(s) firn_bigint(s)     raise [CAST_INVALID_INPUT] 22018
 *   firn_try_tinyint(s) …                                               give NULL
 * The engine's own cast rounds '12.7' and takes '1e3' and '0x1F'. */
#include "duck/duck_scalar.h"

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
        duckdb_string_t *s = (duckdb_string_t *)a.data[0] + i;
        Str text = str_n(duckdb_string_t_data(s), duckdb_string_t_length(*s));
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

Status duck_strict_register(duckdb_connection con, Error *err)
{
    for (size_t i = 0; i < COUNT_OF(targets); i++)
        for (int lenient = 0; lenient < 2; lenient++) {
            char name[40];
            snprintf(name, sizeof name, "firn_%s%s", lenient ? "try_" : "", targets[i].name);
            ScalarSpec s = { .name = name, .nargs = 1, .args = { DUCKDB_TYPE_VARCHAR }, .result = targets[i].type, .run = run,
                             .extra = (void *)(lenient ? -(intptr_t)(i + 1) : (intptr_t)(i + 1)) };
            TRY(scalar_register(con, &s, 1, err));
        }
    return OK;
}

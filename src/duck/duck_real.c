/* SPDX-License-Identifier: Apache-2.0 */
/* duck_real.c - floating point numbers as text.
 *
 *   firn_double_text(x)   as Spark (Java) writes them: 100.0, 1.0E7, 1.0E-5, NaN, Infinity
 *   firn_float8_text(x)   as PostgreSQL: 100, 1e+20, 1e-05, NaN, Infinity
 * Both over FLOAT and DOUBLE, with the fewest digits that give the number back. */
#include "duck/duck_scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 64 };

/* Decimal digits (no point) and the exponent of the first one. */
static void shortest(double v, int is_float, char digits[32], int *exponent)
{
    char text[TEXT_MAX];

    for (int n = 1; n <= 17; n++) {
        snprintf(text, sizeof text, "%.*e", n - 1, v);
        if (is_float ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v)
            break;
    }
    char *e = strchr(text, 'e');
    size_t n = 0;
    for (char *p = text; p < e; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    digits[n] = 0;
    *exponent = atoi(e + 1);
}

static bool special(double v, char *to)
{
    if (isnan(v))
        strcpy(to, "NaN");
    else if (isinf(v))
        strcpy(to, v > 0 ? "Infinity" : "-Infinity");
    else
        return false;
    return true;
}

/* digits and exponent without one: 0.00123, 123.0, 12.3 */
static void plain(char *to, const char *digits, int exponent, int keep_point)
{
    int n = (int)strlen(digits);

    if (exponent < 0) {
        to += sprintf(to, "0.");
        for (int i = -1; i > exponent; i--)
            *to++ = '0';
        strcpy(to, digits);
        return;
    }
    for (int i = 0; i <= exponent; i++)
        *to++ = i < n ? digits[i] : '0';
    if (n > exponent + 1)
        to += sprintf(to, ".%s", digits + exponent + 1);
    else if (keep_point)
        to += sprintf(to, ".0");
    *to = 0;
}

static void java_text(double v, int is_float, char to[TEXT_MAX])
{
    char digits[32];
    int exponent;

    if (special(v, to))
        return;
    if (signbit(v))
        *to++ = '-';
    if (v == 0) {
        strcpy(to, "0.0");
        return;
    }
    shortest(fabs(v), is_float, digits, &exponent);
    if (exponent >= -3 && exponent < 7)
        plain(to, digits, exponent, 1);
    else
        sprintf(to, "%c.%sE%d", digits[0], digits[1] ? digits + 1 : "0", exponent);
}

static void float8_text(double v, int is_float, char to[TEXT_MAX])
{
    char digits[32];
    int exponent;

    if (special(v, to))
        return;
    if (signbit(v))
        *to++ = '-';
    if (v == 0) {
        strcpy(to, "0");
        return;
    }
    shortest(fabs(v), is_float, digits, &exponent);
    if (exponent >= -4 && exponent < (is_float ? 6 : 15))
        plain(to, digits, exponent, 0);
    else
        sprintf(to, "%c%s%se%c%02d", digits[0], digits[1] ? "." : "", digits + 1, exponent < 0 ? '-' : '+', abs(exponent));
}

typedef void (*Writer)(double v, int is_float, char to[TEXT_MAX]);

static void run(duckdb_data_chunk in, duckdb_vector out, Writer w)
{
    ScalarArgs a = scalar_args(in);
    CLEANUP(duck_logical_type_done) duckdb_logical_type t = duckdb_vector_get_column_type(a.v[0]);
    int is_float = duckdb_get_type_id(t) == DUCKDB_TYPE_FLOAT;
    char text[TEXT_MAX];

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        w(is_float ? (double)((float *)a.data[0])[i] : ((double *)a.data[0])[i], is_float, text);
        duckdb_vector_assign_string_element(out, i, text);
    }
}

static void run_java(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    (void)info;
    run(in, out, java_text);
}

static void run_float8(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    (void)info;
    run(in, out, float8_text);
}

Status duck_real_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec java[] = {
        { .name = "firn_double_text", .nargs = 1, .args = { DUCKDB_TYPE_FLOAT }, .result = DUCKDB_TYPE_VARCHAR, .run = run_java },
        { .name = "firn_double_text", .nargs = 1, .args = { DUCKDB_TYPE_DOUBLE }, .result = DUCKDB_TYPE_VARCHAR, .run = run_java },
    };
    static const ScalarSpec float8[] = {
        { .name = "firn_float8_text", .nargs = 1, .args = { DUCKDB_TYPE_FLOAT }, .result = DUCKDB_TYPE_VARCHAR, .run = run_float8 },
        { .name = "firn_float8_text", .nargs = 1, .args = { DUCKDB_TYPE_DOUBLE }, .result = DUCKDB_TYPE_VARCHAR, .run = run_float8 },
    };

    TRY(scalar_register(con, java, COUNT_OF(java), err));
    return scalar_register(con, float8, COUNT_OF(float8), err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* duck_interval.c - firn_justify_days, firn_justify_hours, firn_justify_interval(INTERVAL): 30 days as a month, 24 hours as a day, or both,
 * with fields of one sign, as PostgreSQL documents them.  Beyond 32 bits of days or months: 22008.  firn_interval_text(INTERVAL): as PostgreSQL
 * writes it, 1 year 2 mons -3 days +04:05:06.7, and firn_interval_in(VARCHAR) from such texts (codec, interval_text.c); firn_time_text(VARCHAR): a date
 * or a point in time as the engine reads it (instant_text.c).  Null in, null out.
 *
 * The work is done in 64 bits, so that only the result can be out of range. */
#include "duck/duck_scalar.h"

#include "codec/codec.h"

#include <stdio.h>

enum { DAYS_A_MONTH = 30 };
static const int64_t DAY_US = INT64_C(86400000000);

typedef struct Span { int64_t months, days, micros; } Span;
typedef Span (*Justify)(Span s);

/* Whole units of `small` go into `large`. */
static void carry(int64_t *large, int64_t *small, int64_t unit)
{
    *large += *small / unit;
    *small %= unit;
}

/* `small`, less than a unit, gets the sign of `large`; `sign` is what is below it when it is 0. */
static void same_sign(int64_t *large, int64_t *small, int64_t sign, int64_t unit)
{
    int64_t own = *small ? *small : sign;

    if (*large > 0 && own < 0) {
        *small += unit;
        --*large;
    } else if (*large < 0 && own > 0) {
        *small -= unit;
        ++*large;
    }
}

static Span days(Span s)
{
    carry(&s.months, &s.days, DAYS_A_MONTH);
    same_sign(&s.months, &s.days, 0, DAYS_A_MONTH);
    return s;
}

static Span hours(Span s)
{
    carry(&s.days, &s.micros, DAY_US);
    same_sign(&s.days, &s.micros, 0, DAY_US);
    return s;
}

static Span both(Span s)
{
    carry(&s.days, &s.micros, DAY_US);
    carry(&s.months, &s.days, DAYS_A_MONTH);
    same_sign(&s.months, &s.days, s.micros, DAYS_A_MONTH);
    same_sign(&s.days, &s.micros, 0, DAY_US);
    return s;
}

static bool fits(int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; }

static void justify_cells(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out, Justify justify)
{
    ScalarArgs a = scalar_args(in);
    const duckdb_interval *from = a.data[0];
    duckdb_interval *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        Span s = justify((Span){ from[i].months, from[i].days, from[i].micros });
        if (!fits(s.months) || !fits(s.days)) {
            duckdb_scalar_function_set_error(info, "interval out of range SQLSTATE: 22008");
            return;
        }
        to[i] = (duckdb_interval){ .months = (int32_t)s.months, .days = (int32_t)s.days, .micros = s.micros };
    }
}

static void run_days(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { justify_cells(info, in, out, days); }
static void run_hours(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { justify_cells(info, in, out, hours); }
static void run_both(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { justify_cells(info, in, out, both); }

/* ---- text ----------------------------------------------------------------------------------------------------- */

/* A field that is not 0, with its sign when one before it was negative. */
static void field(StrBuf *b, int64_t n, const char *unit, int *minus)
{
    if (!n)
        return;
    sb_fmt(b, "%s%s%lld %s%s", b->n ? " " : "", *minus && n > 0 ? "+" : "", (long long)n, unit, n == 1 ? "" : "s");
    *minus = n < 0;
}

static void clock_field(StrBuf *b, int64_t micros, int minus)
{
    uint64_t us = micros < 0 ? 0 - (uint64_t)micros : (uint64_t)micros, fraction = us % 1000000;
    int digits = 6;

    if (!micros && b->n)
        return;
    sb_fmt(b, "%s%s%02llu:%02u:%02u", b->n ? " " : "", micros < 0 ? "-" : minus ? "+" : "", (unsigned long long)(us / 3600000000u), (unsigned)(us / 60000000 % 60), (unsigned)(us / 1000000 % 60));
    for (; fraction && fraction % 10 == 0; fraction /= 10)
        digits--;
    if (fraction)
        sb_fmt(b, ".%0*llu", digits, (unsigned long long)fraction);
}

static void run_text(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out)
{
    CLEANUP(arena_destroyp) Arena *arena = arena_create();
    ScalarArgs a = scalar_args(in);
    const duckdb_interval *from = a.data[0];

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        StrBuf b = sb_new(arena);
        int minus = 0;
        field(&b, from[i].months / 12, "year", &minus);
        field(&b, from[i].months % 12, "mon", &minus);
        field(&b, from[i].days, "day", &minus);
        clock_field(&b, from[i].micros, minus);
        duckdb_vector_assign_string_element_len(out, i, sb_str(&b).p, b.n);
    }
}

static void run_in(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    CLEANUP(arena_destroyp) Arena *arena = arena_create();
    ScalarArgs a = scalar_args(in);
    duckdb_interval *to = duckdb_vector_get_data(out);

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        Str text = scalar_text(&a, 0, i);
        Interval v = { 0 };
        IntervalParse how = interval_parse(arena, text, NULL, &v);
        if (how != INTERVAL_PARSED) {
            const char *fmt = how == INTERVAL_MALFORMED ? "invalid input syntax for type interval: \"" STR_FMT "\" SQLSTATE: 22007" : "interval field value out of range: \"" STR_FMT "\" SQLSTATE: 22015";
            duckdb_scalar_function_set_error(info, str_fmt(arena, fmt, STR_ARG(str_sub(text, 0, 60))).p);
            return;
        }
        to[i] = (duckdb_interval){ v.months, v.days, v.micros };
    }
}

/* Texts of other forms stay, for the engine to judge. */
static void run_time_text(duckdb_function_info info UNUSED, duckdb_data_chunk in, duckdb_vector out)
{
    CLEANUP(arena_destroyp) Arena *arena = arena_create();
    ScalarArgs a = scalar_args(in);

    for (size_t i = 0; i < a.n; i++) {
        if (!scalar_has(&a, 0, i)) {
            scalar_null(out, i);
            continue;
        }
        Str text = scalar_text(&a, 0, i), plain;
        if (!instant_text(arena, text, &plain))
            plain = text;
        duckdb_vector_assign_string_element_len(out, i, plain.p, plain.n);
    }
}

Status duck_interval_register(duckdb_connection con, Error *err)
{
    static const ScalarSpec specs[] = {
        { .name = "firn_justify_days", .nargs = 1, .args = { DUCKDB_TYPE_INTERVAL }, .result = DUCKDB_TYPE_INTERVAL, .run = run_days },
        { .name = "firn_justify_hours", .nargs = 1, .args = { DUCKDB_TYPE_INTERVAL }, .result = DUCKDB_TYPE_INTERVAL, .run = run_hours },
        { .name = "firn_justify_interval", .nargs = 1, .args = { DUCKDB_TYPE_INTERVAL }, .result = DUCKDB_TYPE_INTERVAL, .run = run_both },
        { .name = "firn_interval_text", .nargs = 1, .args = { DUCKDB_TYPE_INTERVAL }, .result = DUCKDB_TYPE_VARCHAR, .run = run_text },
        { .name = "firn_time_text", .nargs = 1, .args = { DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_VARCHAR, .run = run_time_text },
        { .name = "firn_interval_in", .nargs = 1, .args = { DUCKDB_TYPE_VARCHAR }, .result = DUCKDB_TYPE_INTERVAL, .run = run_in },
    };

    return scalar_register_each(con, specs, COUNT_OF(specs), err);
}

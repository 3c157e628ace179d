/* SPDX-License-Identifier: Apache-2.0 */
/* interval_text.c - PostgreSQL's texts of intervals: '1-2 3 4:5:6.7', '1 year 2 mons -3 days', 'P1Y2M3DT4H5M6S', '… ago', with the fields that a literal names
 * behind it (YEAR TO MONTH): a number without a unit has the last of them, what is smaller than it is cut off, what is larger than the first too.
 *
 * Invariants: (1) a field may be said once; (2) sums are made in 128 bits and must fit at the end: months and days 32 bits, microseconds 64. */
#include "codec/codec.h"

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define FRACTION INT64_C(1000000000000)                       /* twelve digits behind the point count */

enum { DAYS_A_MONTH = 30, MONTHS_A_YEAR = 12 };

enum { SAID_YEAR = 1, SAID_MONTH = 2, SAID_DAY = 4, SAID_HOUR = 8, SAID_MINUTE = 16, SAID_SECOND = 32, SAID_CLOCK = SAID_HOUR | SAID_MINUTE | SAID_SECOND };

/* The bit of a unit, in the order of TimeUnitKind. */
static unsigned said_bit(const TimeUnit *u) { return 1u << (u - time_units); }

typedef struct Number { int64_t whole, fraction; bool negative; } Number;
typedef struct Sum { __int128 months, days, micros; unsigned said; } Sum;
typedef struct Words { VEC(Str) v; } Words;

IntervalField interval_field(Str word)
{
    static const char *const names[] = { "year", "month", "day", "hour", "minute", "second" };

    if (word.n > 1 && (word.p[word.n - 1] | 0x20) == 's')
        word.n--;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_ieq(word, str_c(names[i])))
            return (IntervalField)(i + INTERVAL_YEAR);
    return INTERVAL_ANY;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------------- */

static bool all_digits(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return true;
}

/* "-12.5"; the digits may be missing on one side of the point. */
static bool number(Str s, Number *ret)
{
    Str whole, fraction;

    *ret = (Number){ .negative = s.n && s.p[0] == '-' };
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_from(s, 1);
    str_cut(s, '.', &whole, &fraction);
    if (!(whole.n + fraction.n) || !all_digits(whole) || !all_digits(fraction))
        return false;
    fraction = str_sub(fraction, 0, 12);
    if ((whole.n && !str_to_i64(whole, &ret->whole)) || (fraction.n && !str_to_i64(fraction, &ret->fraction)))
        return false;
    for (size_t n = fraction.n; n < 12; n++)
        ret->fraction *= 10;
    return true;
}

static __int128 rounded(__int128 v, int64_t by) { return (v + (v < 0 ? -by : by) / 2) / by; }

/* A part of a month is days of 1/30 and a part of a day time; a part of a year is whole months. */
static void add_number(Sum *sum, const Number *n, const TimeUnit *u)
{
    int sign = n->negative ? -1 : 1;
    __int128 part;

    if (u->months) {
        part = (__int128)n->fraction * u->months;
        sum->months += sign * ((__int128)n->whole * u->months + part / FRACTION);
        if (u->months >= MONTHS_A_YEAR)
            return;
        part = part % FRACTION * DAYS_A_MONTH;
        sum->days += sign * (part / FRACTION);
        sum->micros += sign * rounded(part % FRACTION * DAY, FRACTION);
    } else if (u->days) {
        part = (__int128)n->fraction * u->days;
        sum->days += sign * ((__int128)n->whole * u->days + part / FRACTION);
        sum->micros += sign * rounded(part % FRACTION * DAY, FRACTION);
    } else {
        sum->micros += sign * ((__int128)n->whole * u->micros + rounded((__int128)n->fraction * u->micros, FRACTION));
    }
}

static bool said(Sum *sum, unsigned what)
{
    if (sum->said & what)
        return false;
    sum->said |= what;
    return true;
}

static bool add(Sum *sum, Str text, const TimeUnit *u)
{
    Number n;

    if (!u || !number(text, &n) || !said(sum, said_bit(u)))
        return false;
    add_number(sum, &n, u);
    return true;
}

/* ---- forms ---------------------------------------------------------------------------------------------------------------- */

static bool clock_part(Sum *sum, Str text, const TimeUnit *u, int64_t most)
{
    Number n = { 0 };

    if (text.n && (!number(text, &n) || text.p[0] == '-' || text.p[0] == '+'))
        return false;
    if (n.whole > most || (n.fraction && u != &time_units[UNIT_SECOND]))
        return false;
    add_number(sum, &n, u);
    return true;
}

/* h:m[:s[.f]], or m:s where the fields or a fraction say so; a part may be missing. */
static bool add_clock(Sum *sum, Str text, bool minutes_first)
{
    bool negative = text.p[0] == '-';
    Str rest = negative || text.p[0] == '+' ? str_from(text, 1) : text, part[3];
    Sum one = { 0 };
    size_t n = 0;

    for (bool more = true; more; n++) {
        if (n == COUNT_OF(part))
            return false;
        more = str_cut(rest, ':', &part[n], &rest);
    }
    size_t first = n == 2 && (minutes_first || str_chr(part[1], '.') >= 0) ? 1 : 0;
    for (size_t i = 0; i < n; i++)
        if (!clock_part(&one, part[i], &time_units[UNIT_HOUR + first + i], i ? (first + i == 2 ? 60 : 59) : INT64_MAX))
            return false;
    if (!said(sum, SAID_CLOCK))
        return false;
    sum->micros += negative ? -one.micros : one.micros;
    return true;
}

/* years-months */
static bool add_years_months(Sum *sum, Str text)
{
    bool negative = text.p[0] == '-';
    Str years, months;
    int64_t y, m;

    str_cut(negative || text.p[0] == '+' ? str_from(text, 1) : text, '-', &years, &months);
    if (!all_digits(years) || !all_digits(months) || !str_to_i64(years, &y) || !str_to_i64(months, &m) || m > MONTHS_A_YEAR || !said(sum, SAID_YEAR | SAID_MONTH))
        return false;
    sum->months += (negative ? -1 : 1) * ((__int128)y * MONTHS_A_YEAR + m);
    return true;
}

/* P1Y2M3DT4H5M6S */
static bool add_iso(Sum *sum, Str text)
{
    bool time = false;

    while (text.n) {
        size_t n = 0;
        if (!time && (text.p[0] == 'T' || text.p[0] == 't')) {
            time = true;
            text = str_from(text, 1);
            continue;
        }
        while (n < text.n && strchr("+-.0123456789", text.p[n]))
            n++;
        Str letter = str_sub(text, n, n + 1);
        if (!add(sum, str_sub(text, 0, n), str_ieq(letter, S("m")) && !time ? &time_units[UNIT_MONTH] : time_unit(letter)))
            return false;
        text = str_from(text, n + 1);
    }
    return sum->said != 0;
}

/* ---- words ------------------------------------------------------------------------------------------------------------------ */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void split(Arena *a, Str text, Words *ret)
{
    for (size_t i = 0; i < text.n;) {
        size_t from = i;
        while (i < text.n && !is_blank(text.p[i]))
            i++;
        if (i > from && !str_eq(str_sub(text, from, i), S("@")))
            vec_push(a, &ret->v, str_sub(text, from, i));
        i++;
    }
}

static bool is_clock(Str w) { return str_chr(w, ':') >= 0; }

/* A number without a unit: days before a clock, else in the literal's fields, else seconds. */
static const TimeUnit *unit_alone(const Words *w, size_t at, IntervalField from, IntervalField to)
{
    if (at + 1 < w->v.n && is_clock(w->v.p[at + 1]))
        return &time_units[UNIT_DAY];
    if (from == INTERVAL_ANY && to == INTERVAL_ANY)
        return at + 1 == w->v.n ? &time_units[UNIT_SECOND] : NULL;
    if (at + 1 < w->v.n)
        return from == INTERVAL_ANY || from == to ? NULL : &time_units[from - INTERVAL_YEAR];
    return &time_units[to - INTERVAL_YEAR];
}

/* One word, or a number and its unit: how many were taken, 0: malformed. */
static size_t add_word(Sum *sum, const Words *w, size_t at, IntervalField from, IntervalField to)
{
    Str word = w->v.p[at];
    size_t n = 0;

    if (is_clock(word))
        return add_clock(sum, word, from == INTERVAL_MINUTE && to == INTERVAL_SECOND);
    if (str_rchr(word, '-') > 0)
        return add_years_months(sum, word);
    while (n < word.n && strchr("+-.0123456789", word.p[n]))
        n++;
    if (n < word.n)
        return add(sum, str_sub(word, 0, n), time_unit(str_from(word, n)));
    const TimeUnit *u = at + 1 < w->v.n ? time_unit(w->v.p[at + 1]) : NULL;
    if (u)
        return add(sum, word, u) ? 2 : 0;
    return add(sum, word, unit_alone(w, at, from, to));
}

static bool add_words(Sum *sum, Words *w, IntervalField from, IntervalField to)
{
    bool ago = w->v.n > 1 && str_ieq(w->v.p[w->v.n - 1], S("ago"));

    w->v.n -= ago;
    for (size_t at = 0, taken; at < w->v.n; at += taken)
        if (!(taken = add_word(sum, w, at, from, to)))
            return false;
    if (ago)
        *sum = (Sum){ -sum->months, -sum->days, -sum->micros, sum->said };
    return w->v.n > 0;
}

/* ---- fields ----------------------------------------------------------------------------------------------------------------- */

/* Smaller than the last field. */
static void cut_below(Sum *s, IntervalField to)
{
    if (to == INTERVAL_YEAR)
        s->months -= s->months % MONTHS_A_YEAR;
    if (to <= INTERVAL_MONTH)
        s->days = 0;
    if (to <= INTERVAL_DAY)
        s->micros = 0;
    if (to == INTERVAL_HOUR)
        s->micros -= s->micros % HOUR;
    if (to == INTERVAL_MINUTE)
        s->micros -= s->micros % MINUTE;
}

/* Larger than the first one, where two are named. */
static void cut_above(Sum *s, IntervalField from)
{
    if (from == INTERVAL_MONTH)
        s->months %= MONTHS_A_YEAR;
    if (from >= INTERVAL_DAY)
        s->months = 0;
    if (from >= INTERVAL_HOUR)
        s->days = 0;
    if (from == INTERVAL_MINUTE)
        s->micros %= HOUR;
}

static void round_seconds(Sum *s, int digits)
{
    int64_t unit = 1;

    for (; digits < 6; digits++)
        unit *= 10;
    s->micros = rounded(s->micros, unit) * unit;
}

IntervalParse interval_parse(Arena *a, Str text, const IntervalFields *f, Interval *ret)
{
    IntervalField from = f ? f->from : INTERVAL_ANY, to = f && f->to != INTERVAL_ANY ? f->to : from;
    Sum sum = { 0 };
    Words words = { 0 };

    text = str_trim(text);
    bool iso = text.n > 1 && (text.p[0] == 'P' || text.p[0] == 'p');
    if (!iso)
        split(a, text, &words);
    if (iso ? !add_iso(&sum, str_from(text, 1)) : !add_words(&sum, &words, from, to))
        return INTERVAL_MALFORMED;
    if (to != INTERVAL_ANY)
        cut_below(&sum, to);
    if (from != to)
        cut_above(&sum, from);
    if (f && f->digits >= 0)
        round_seconds(&sum, f->digits);
    if (sum.months != (int32_t)sum.months || sum.days != (int32_t)sum.days || sum.micros != (int64_t)sum.micros)
        return INTERVAL_TOO_LARGE;
    *ret = (Interval){ (int32_t)sum.months, (int32_t)sum.days, (int64_t)sum.micros };
    return INTERVAL_PARSED;
}

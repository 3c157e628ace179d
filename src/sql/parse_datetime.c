/* SPDX-License-Identifier: Apache-2.0 */
/* parse_datetime.c - the text of Spark's DATE'…' and TIMESTAMP'…' literals to days and microseconds since 1970.
 *
 * Spark's forms: [+-]yyyy[-m[-d]], then ' ' or 'T', then h:m[:s[.ffffff]] and a zone Z, UTC, GMT, +hh[:mm[:ss]].
 * Without a zone the session's is meant, which is UTC.  Zone names of regions are refused. */
#include "codec/codec.h"
#include "sql/parse_int.h"

enum { YEAR_MAX = 9999 };
#define DAY_MICROS INT64_C(86400000000)

typedef struct Reader { Str s; bool bad; } Reader;

static bool skip(Reader *r, char c)
{
    if (!r->s.n || r->s.p[0] != c)
        return false;
    r->s = str_from(r->s, 1);
    return true;
}

/* Between min and max digits. */
static int64_t number(Reader *r, size_t min, size_t max)
{
    int64_t v = 0;
    size_t n = 0;

    for (; n < max && r->s.n && r->s.p[0] >= '0' && r->s.p[0] <= '9'; n++) {
        v = v * 10 + (r->s.p[0] - '0');
        r->s = str_from(r->s, 1);
    }
    r->bad = r->bad || n < min;
    return v;
}

static int64_t date(Reader *r)
{
    bool negative = skip(r, '-');
    int64_t m = 1, d = 1;

    if (!negative)
        skip(r, '+');
    int64_t y = number(r, 4, 7);
    if (skip(r, '-')) {
        m = number(r, 1, 2);
        if (skip(r, '-'))
            d = number(r, 1, 2);
    }
    if (r->bad || m < 1 || m > 12 || d < 1 || y > YEAR_MAX || d > calendar_month_length(y, m)) {
        r->bad = true;
        return 0;
    }
    return calendar_days(negative ? -y : y, m, d);
}

static int64_t time_of_day(Reader *r)
{
    int64_t h = number(r, 1, 2), m = 0, s = 0, fraction = 0;

    if (!skip(r, ':'))
        r->bad = true;
    m = number(r, 1, 2);
    if (skip(r, ':')) {
        s = number(r, 1, 2);
        if (skip(r, '.')) {
            size_t before = r->s.n;
            fraction = number(r, 0, 6);
            for (size_t n = before - r->s.n; n < 6; n++)
                fraction *= 10;
            number(r, 0, 3);                       /* nanoseconds are cut */
        }
    }
    r->bad = r->bad || h > 23 || m > 59 || s > 59;
    return ((h * 60 + m) * 60 + s) * 1000000 + fraction;
}

static int64_t zone(Reader *r)
{
    bool negative;
    int64_t m = 0, s = 0;

    if (skip(r, 'Z'))
        return 0;
    if (str_starts(r->s, S("UTC")) || str_starts(r->s, S("GMT")))
        r->s = str_from(r->s, 3);
    if (!r->s.n)
        return 0;
    negative = skip(r, '-');
    if (!negative && !skip(r, '+'))
        r->bad = true;
    int64_t h = number(r, 1, 2);
    if (skip(r, ':')) {
        m = number(r, 1, 2);
        if (skip(r, ':'))
            s = number(r, 1, 2);
    }
    r->bad = r->bad || h > 18 || m > 59 || s > 59;
    int64_t us = ((h * 60 + m) * 60 + s) * 1000000;
    return negative ? -us : us;
}

bool datetime_date(Str text, int64_t *days)
{
    Reader r = { .s = str_trim(text) };

    *days = date(&r);
    if (r.s.n && (r.s.p[0] == ' ' || r.s.p[0] == 'T'))
        r.s = S("");                               /* Spark ignores what follows */
    return !r.bad && !r.s.n;
}

bool datetime_timestamp(Str text, int64_t *micros, bool *zoned)
{
    Reader r = { .s = str_trim(text) };
    int64_t us = date(&r) * DAY_MICROS;

    *zoned = false;
    if (skip(&r, ' ') || skip(&r, 'T')) {
        us += time_of_day(&r);
        r.s = str_trim(r.s);
        *zoned = r.s.n > 0;
        if (*zoned)
            us -= zone(&r);
    }
    *micros = us;
    return !r.bad && !r.s.n;
}

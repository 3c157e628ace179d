/* SPDX-License-Identifier: Apache-2.0 */
/* dates.c - days, times and their ISO texts.
 *
 * Days count from 1970-01-01 in the proleptic Gregorian calendar. All divisions round down, so that moments before
 * 1970 fall into the right day, month and year. */
#include "iceberg/iceberg_int.h"

int64_t ice_floor_div(int64_t x, int64_t by)
{
    return x / by - (x % by != 0 && (x % by < 0) != (by < 0));
}

int64_t ice_floor_mod(int64_t x, int64_t by)
{
    int64_t r = x % by;
    return r && (r < 0) != (by < 0) ? r + by : r;
}

/* Takes `min` to `max` digits off the front. */
static bool take_number(Str *s, size_t min, size_t max, int64_t *ret)
{
    size_t n = 0;

    *ret = 0;
    while (n < s->n && n < max && s->p[n] >= '0' && s->p[n] <= '9')
        *ret = *ret * 10 + (s->p[n++] - '0');
    if (n < min)
        return false;
    *s = str_from(*s, n);
    return true;
}

static bool take(Str *s, char c)
{
    if (!s->n || s->p[0] != c)
        return false;
    *s = str_from(*s, 1);
    return true;
}

bool ice_date_read(Str *s, int64_t *days)
{
    bool negative = take(s, '-');
    int64_t y, m, d;

    if (!take_number(s, 4, 9, &y) || !take(s, '-') || !take_number(s, 2, 2, &m) || !take(s, '-') || !take_number(s, 2, 2, &d))
        return false;
    CalendarDay date = { negative ? -y : y, (int)m, (int)d };
    *days = calendar_days(date.year, date.month, date.day);
    CalendarDay back = calendar_day(*days);
    return m >= 1 && m <= 12 && back.month == date.month && back.day == date.day;
}

bool ice_time_read(Str *s, int64_t *nanos)
{
    int64_t h, m, sec = 0, frac = 0;

    if (!take_number(s, 2, 2, &h) || !take(s, ':') || !take_number(s, 2, 2, &m) || h > 23 || m > 59)
        return false;
    if (take(s, ':') && (!take_number(s, 2, 2, &sec) || sec > 59))
        return false;
    if (take(s, '.')) {
        size_t before = s->n;
        if (!take_number(s, 1, 9, &frac))
            return false;
        for (size_t n = before - s->n; n < 9; n++)
            frac *= 10;
    }
    *nanos = ((h * 60 + m) * 60 + sec) * 1000000000 + frac;
    return true;
}

void ice_date_write(StrBuf *b, int64_t days)
{
    CalendarDay d = calendar_day(days);

    if (d.year < 0)
        sb_byte(b, '-');
    sb_fmt(b, "%04lld-%02d-%02d", (long long)(d.year < 0 ? -d.year : d.year), d.month, d.day);
}

void ice_time_write(StrBuf *b, int64_t of_day, int digits, IceFraction f)
{
    int64_t unit = digits == 9 ? 1000000000 : 1000000;
    int64_t s = of_day / unit, frac = of_day % unit;

    sb_fmt(b, "%02d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    if (f == FRACTION_NEEDED && !frac)
        return;
    while (f == FRACTION_NEEDED && frac % 10 == 0)
        frac /= 10, digits--;
    sb_fmt(b, ".%0*lld", digits, (long long)frac);
}

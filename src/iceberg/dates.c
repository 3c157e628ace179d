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

/* Years are counted from 1 March, so that the leap day is the last of its year. */
IceDate ice_date_of(int64_t days)
{
    int64_t z = days + 719468;
    int64_t era = ice_floor_div(z, 146097), of_era = z - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t m = (5 * of_year + 2) / 153;
    int month = (int)(m < 10 ? m + 3 : m - 9);

    return (IceDate){ year + era * 400 + (month <= 2), month, (int)(of_year - (153 * m + 2) / 5 + 1) };
}

int64_t ice_days_of(IceDate d)
{
    int64_t y = d.year - (d.month <= 2);
    int64_t era = ice_floor_div(y, 400), of_era = y - era * 400;
    int64_t of_year = (153 * (d.month + (d.month > 2 ? -3 : 9)) + 2) / 5 + d.day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
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
    IceDate date = { negative ? -y : y, (int)m, (int)d };
    *days = ice_days_of(date);
    IceDate back = ice_date_of(*days);
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
    IceDate d = ice_date_of(days);

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

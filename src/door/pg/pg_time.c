/* SPDX-License-Identifier: Apache-2.0 */
/* pg_time.c - dates, times and intervals as PostgreSQL writes them (ISO style, UTC) and as clients send them.
 *
 * Days and microseconds count from Unix's epoch in the proleptic Gregorian calendar.  The engine's infinities are the
 * largest and the negated largest integer of the type. */
#include "door/pg/pg_int.h"

#include <stdio.h>

/* ---- out ----------------------------------------------------------------------------------------------------- */

static int64_t date_out_civil(PgOut *o, int64_t days)
{
    CalendarDay d = calendar_day(days);

    pg_out_fmt(o, "%04lld-%02d-%02d", (long long)(d.year > 0 ? d.year : 1 - d.year), d.month, d.day);
    return d.year;
}

void pg_date_out(PgOut *o, int64_t days)
{
    if (days == INT32_MAX || days == -INT32_MAX) {
        pg_out_z(o, days > 0 ? "infinity" : "-infinity");
        return;
    }
    if (date_out_civil(o, days) <= 0)
        pg_out_z(o, " BC");
}

static void fraction_out(PgOut *o, int64_t us)
{
    char digits[8];

    if (!us)
        return;
    int n = snprintf(digits, sizeof digits, "%06d", (int)(us % 1000000));
    while (n > 1 && digits[n - 1] == '0')
        n--;
    pg_out_u8(o, '.');
    pg_out_bytes(o, str_n(digits, (size_t)n));
}

void pg_time_out(PgOut *o, int64_t us)
{
    pg_out_fmt(o, "%02lld:%02d:%02d", (long long)(us / 3600000000), (int)(us / 60000000 % 60), (int)(us / 1000000 % 60));
    fraction_out(o, us % 1000000);
}

void pg_timestamp_out(PgOut *o, int64_t us, int kind)
{
    if (us == INT64_MAX || us == -INT64_MAX) {
        pg_out_z(o, us > 0 ? "infinity" : "-infinity");
        return;
    }
    int64_t days = us / US_PER_DAY - (us % US_PER_DAY < 0);
    int64_t year = date_out_civil(o, days);
    pg_out_u8(o, ' ');
    pg_time_out(o, us - days * US_PER_DAY);
    if (kind == DT_TIMESTAMPTZ)
        pg_out_z(o, "+00");
    if (year <= 0)
        pg_out_z(o, " BC");
}

/* One unit of the `postgres` interval style: a positive one after a negative one gets its sign. */
static void unit_out(PgOut *o, int64_t n, const char *unit, int *any, int *minus)
{
    if (!n)
        return;
    pg_out_fmt(o, "%s%s%lld %s%s", *any ? " " : "", *minus && n > 0 ? "+" : "", (long long)n, unit, n == 1 ? "" : "s");
    *any = 1;
    *minus = n < 0;
}

int64_t pg_floor_micros(int64_t nanos) { return nanos / 1000 - (nanos % 1000 < 0); }

void pg_interval_out(PgOut *o, const Value *v)
{
    int64_t us = v->interval.micros;
    int any = 0, minus = 0;

    unit_out(o, v->interval.months / 12, "year", &any, &minus);
    unit_out(o, v->interval.months % 12, "mon", &any, &minus);
    unit_out(o, v->interval.days, "day", &any, &minus);
    if (!us && any)
        return;
    pg_out_fmt(o, "%s%s", any ? " " : "", us < 0 ? "-" : minus ? "+" : "");
    uint64_t abs = us < 0 ? 0 - (uint64_t)us : (uint64_t)us;
    pg_out_fmt(o, "%02llu:%02u:%02u", (unsigned long long)(abs / 3600000000), (unsigned)(abs / 60000000 % 60),
               (unsigned)(abs / 1000000 % 60));
    fraction_out(o, (int64_t)(abs % 1000000));
}

/* ---- in: a small scanner --------------------------------------------------------------------------------------- */

typedef struct { const char *p, *end; } Scan;

static void skip_blanks(Scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
        s->p++;
}

static bool scan_uint(Scan *s, int max_digits, int64_t *ret)
{
    int n = 0;
    for (*ret = 0; s->p < s->end && *s->p >= '0' && *s->p <= '9' && n < max_digits; n++)
        *ret = *ret * 10 + (*s->p++ - '0');
    return n > 0;
}

static bool scan_char(Scan *s, char c)
{
    if (s->p >= s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

static bool scan_word(Scan *s, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(s->end - s->p) < n || !str_ieq(str_n(s->p, n), str_c(word)))
        return false;
    s->p += n;
    return true;
}

/* Digits after the point as microseconds, rounded. */
static int64_t scan_fraction(Scan *s)
{
    int64_t us = 0, unit = 100000;
    bool up = false;

    if (!scan_char(s, '.') && !scan_char(s, ','))
        return 0;
    for (int i = 0; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++, i++, unit /= 10) {
        us += (*s->p - '0') * unit;
        if (i == 6)
            up = *s->p >= '5';
    }
    return us + up;
}

static bool scan_date(Scan *s, int64_t *days)
{
    int64_t y, m, d;

    skip_blanks(s);
    if (!scan_uint(s, 7, &y) || !scan_char(s, '-') || !scan_uint(s, 2, &m) || !scan_char(s, '-') || !scan_uint(s, 2, &d))
        return false;
    if (y < 1 || m < 1 || m > 12 || d < 1)
        return false;
    Scan t = *s;                                       /* an era may follow, behind a time too */
    while (t.p < t.end && *t.p != 'B' && *t.p != 'b')
        t.p++;
    if (scan_word(&t, "BC"))
        y = 1 - y;
    if (d > calendar_month_length(y, (int)m))
        return false;
    *days = calendar_days(y, (int)m, (int)d);
    return true;
}

static bool scan_time(Scan *s, int64_t *us)
{
    int64_t h, m, sec = 0;

    if (!scan_uint(s, 2, &h) || !scan_char(s, ':') || !scan_uint(s, 2, &m))
        return false;
    if (scan_char(s, ':') && !scan_uint(s, 2, &sec))
        return false;
    int64_t f = scan_fraction(s);
    if (h > 24 || m > 59 || sec > 60 || (h == 24 && (m || sec || f)))
        return false;
    *us = ((h * 60 + m) * 60 + sec) * 1000000 + f;
    return true;
}

/* Z, UTC, ±hh[:mm[:ss]] or ±hhmm; absent gives 0. */
static bool scan_zone(Scan *s, int *seconds)
{
    int64_t h, m = 0, sec = 0;

    *seconds = 0;
    skip_blanks(s);
    if (scan_word(s, "UTC") || scan_word(s, "GMT") || scan_word(s, "Z"))
        return true;
    int sign = scan_char(s, '+') ? 1 : scan_char(s, '-') ? -1 : 0;
    if (!sign)
        return true;
    if (!scan_uint(s, 2, &h))
        return false;
    bool colon = scan_char(s, ':');
    if (!scan_uint(s, 2, &m) && colon)
        return false;
    if (scan_char(s, ':') && !scan_uint(s, 2, &sec))
        return false;
    *seconds = sign * (int)((h * 60 + m) * 60 + sec);
    return h < 16 && m < 60 && sec < 60;
}

static bool scan_era_end(Scan *s)
{
    skip_blanks(s);
    if (scan_word(s, "BC") || scan_word(s, "AD"))
        skip_blanks(s);
    return s->p == s->end;
}

static int infinity_of(Str s)
{
    if (str_ieq(s, S("infinity")) || str_ieq(s, S("+infinity")))
        return 1;
    return str_ieq(s, S("-infinity")) ? -1 : 0;
}

bool pg_date_parse(Str text, int64_t *days)
{
    Scan s = { text.p, text.p + text.n };
    int inf = infinity_of(str_trim(text)), zone;
    int64_t us;

    if (inf) {
        *days = inf * (int64_t)INT32_MAX;
        return true;
    }
    if (!scan_date(&s, days))
        return false;
    if (s.p < s.end && (*s.p == ' ' || *s.p == 'T')) {   /* a time and a zone are passed over, as PostgreSQL does */
        Scan t = { s.p + 1, s.end };
        if (t.p < t.end && *t.p >= '0' && *t.p <= '9' && !scan_time(&t, &us))
            return false;
        if (!scan_zone(&t, &zone))
            return false;
        s = t;
    }
    return scan_era_end(&s) && *days < INT32_MAX && *days > -INT32_MAX;
}

bool pg_timestamp_parse(Str text, int64_t *us)
{
    Scan s = { text.p, text.p + text.n };
    int inf = infinity_of(str_trim(text)), zone = 0;
    int64_t days, day_us = 0;

    if (inf) {
        *us = inf * INT64_MAX;
        return true;
    }
    if (!scan_date(&s, &days))
        return false;
    if (!scan_char(&s, 'T'))
        skip_blanks(&s);
    if (s.p < s.end && *s.p >= '0' && *s.p <= '9' && !scan_time(&s, &day_us))
        return false;
    if (!scan_zone(&s, &zone) || !scan_era_end(&s))
        return false;
    if (days > INT64_MAX / US_PER_DAY - 1 || days < -(INT64_MAX / US_PER_DAY - 1))
        return false;
    *us = days * US_PER_DAY + day_us - (int64_t)zone * 1000000;
    return true;
}

bool pg_time_parse(Str text, int64_t *us, int *zone)
{
    text = str_trim(text);
    Scan s = { text.p, text.p + text.n };
    return scan_time(&s, us) && scan_zone(&s, zone) && s.p == s.end;
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

typedef struct { const char *name; int months, days; int64_t us; } Unit;

static const Unit units[] = {
    { "years", 12, 0, 0 }, { "year", 12, 0, 0 }, { "yrs", 12, 0, 0 }, { "yr", 12, 0, 0 }, { "y", 12, 0, 0 },
    { "months", 1, 0, 0 }, { "month", 1, 0, 0 }, { "mons", 1, 0, 0 }, { "mon", 1, 0, 0 },
    { "weeks", 0, 7, 0 }, { "week", 0, 7, 0 }, { "w", 0, 7, 0 }, { "days", 0, 1, 0 }, { "day", 0, 1, 0 }, { "d", 0, 1, 0 },
    { "hours", 0, 0, 3600000000 }, { "hour", 0, 0, 3600000000 }, { "hrs", 0, 0, 3600000000 }, { "hr", 0, 0, 3600000000 },
    { "h", 0, 0, 3600000000 }, { "minutes", 0, 0, 60000000 }, { "minute", 0, 0, 60000000 }, { "mins", 0, 0, 60000000 },
    { "min", 0, 0, 60000000 }, { "m", 0, 0, 60000000 }, { "seconds", 0, 0, 1000000 }, { "second", 0, 0, 1000000 },
    { "secs", 0, 0, 1000000 }, { "sec", 0, 0, 1000000 }, { "s", 0, 0, 1000000 }, { "milliseconds", 0, 0, 1000 },
    { "millisecond", 0, 0, 1000 }, { "ms", 0, 0, 1000 }, { "microseconds", 0, 0, 1 }, { "microsecond", 0, 0, 1 },
    { "us", 0, 0, 1 },
};

static const Unit *scan_unit(Scan *s)
{
    const char *from = s->p;

    while (s->p < s->end && ((*s->p | 32) >= 'a' && (*s->p | 32) <= 'z'))
        s->p++;
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (str_ieq(str_n(from, (size_t)(s->p - from)), str_c(units[i].name)))
            return &units[i];
    return NULL;
}

typedef struct { __int128 months, days, us; } Sum;

static void sum_unit(Sum *sum, const Unit *u, int sign, int64_t whole, int64_t millionths)
{
    sum->months += (__int128)sign * whole * u->months + (__int128)sign * millionths * u->months / 1000000;
    sum->days += (__int128)sign * whole * u->days;
    sum->us += (__int128)sign * whole * u->us + (__int128)sign * millionths * u->us / 1000000;
    sum->us += (__int128)sign * millionths * u->days * (US_PER_DAY / 1000000);
}

/* [±]hh:mm[:ss[.f]], or a number with a unit. */
static bool scan_interval_part(Scan *s, Sum *sum)
{
    int sign = scan_char(s, '-') ? -1 : (scan_char(s, '+'), 1);
    Scan at = *s;
    int64_t whole, m, sec = 0;

    skip_blanks(s);
    if (!scan_uint(s, 12, &whole))
        return false;
    if (scan_char(s, ':')) {
        if (!scan_uint(s, 2, &m) || m > 59 || (scan_char(s, ':') && (!scan_uint(s, 2, &sec) || sec > 60)))
            return false;
        sum->us += sign * (((__int128)whole * 60 + m) * 60 + sec) * 1000000 + sign * scan_fraction(s);
        return at.p < s->p;
    }
    int64_t f = scan_fraction(s);
    skip_blanks(s);
    const Unit *u = s->p == s->end ? &units[25] : scan_unit(s);        /* a bare number is seconds */
    if (u)
        sum_unit(sum, u, sign, whole, f);
    return u != NULL;
}

/* ISO 8601: P1Y2M3DT4H5M6S. */
static bool scan_iso_interval(Scan *s, Sum *sum)
{
    static const Unit date[] = { { "Y", 12, 0, 0 }, { "M", 1, 0, 0 }, { "W", 0, 7, 0 }, { "D", 0, 1, 0 } };
    static const Unit time[] = { { "H", 0, 0, 3600000000 }, { "M", 0, 0, 60000000 }, { "S", 0, 0, 1000000 } };
    const Unit *set = date;
    size_t n = COUNT_OF(date), i;

    while (s->p < s->end) {
        int64_t whole;
        if (scan_char(s, 'T')) {
            set = time;
            n = COUNT_OF(time);
            continue;
        }
        int sign = scan_char(s, '-') ? -1 : (scan_char(s, '+'), 1);
        if (!scan_uint(s, 12, &whole))
            return false;
        int64_t f = scan_fraction(s);
        for (i = 0; i < n && !scan_char(s, set[i].name[0]); i++)
            ;
        if (i == n)
            return false;
        sum_unit(sum, &set[i], sign, whole, f);
    }
    return true;
}

bool pg_interval_parse(Str text, Value *ret)
{
    text = str_trim(text);
    Scan s = { text.p, text.p + text.n };
    Sum sum = { 0, 0, 0 };

    if (s.p == s.end)
        return false;
    if (scan_char(&s, 'P')) {
        if (s.p == s.end || !scan_iso_interval(&s, &sum))
            return false;
    } else {
        for (skip_blanks(&s), (void)scan_char(&s, '@'); s.p < s.end; skip_blanks(&s)) {
            skip_blanks(&s);
            if (scan_word(&s, "ago")) {
                sum = (Sum){ -sum.months, -sum.days, -sum.us };
                break;
            }
            if (!scan_interval_part(&s, &sum))
                return false;
        }
    }
    *ret = (Value){ .kind = DT_INTERVAL };
    ret->interval.months = (int32_t)sum.months;
    ret->interval.days = (int32_t)sum.days;
    ret->interval.micros = (int64_t)sum.us;
    return sum.months == ret->interval.months && sum.days == ret->interval.days && sum.us == ret->interval.micros;
}

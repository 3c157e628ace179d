/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - base64, percent encoding and the date forms of HTTP and ISO 8601.
 *
 * Decoders take the whole text or refuse it.  Dates are computed here, without the C library's calendar, so that
 * neither time zone nor locale plays a part. */
#include "codec/codec.h"

#include <stdio.h>

/* ---- base64 (RFC 4648) --------------------------------------------------------------------------------- */

Str base64_encode(Arena *a, Str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = (bytes.n + 2) / 3 * 4, to = 0;
    char *p = arena_alloc(a, n + 1);

    for (size_t i = 0; i < bytes.n; i += 3) {
        uint32_t v = 0;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (i + k < bytes.n ? (unsigned char)bytes.p[i + k] : 0);
        for (int k = 18; k >= 0; k -= 6)
            p[to++] = digits[v >> k & 63];
    }
    for (size_t k = 0; k < (3 - bytes.n % 3) % 3; k++)
        p[n - 1 - k] = '=';
    return str_n(p, n);
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    return c == '/' || c == '_' ? 63 : -1;
}

Status base64_decode(Arena *a, Str text, Str *ret, Error *err)
{
    size_t n = text.n, to = 0;
    uint32_t v = 0;

    while (n && text.n - n < 2 && text.p[n - 1] == '=')
        n--;
    if (n % 4 == 1 || (n < text.n && text.n % 4))
        return FAIL(err, E_SYNTAX, "base64 text of %zu characters has a wrong length", text.n);
    char *p = arena_alloc(a, n / 4 * 3 + 4);
    for (size_t i = 0; i < n; i++) {
        int d = base64_digit(text.p[i]);
        if (d < 0)
            return FAIL(err, E_SYNTAX, "not a base64 character at byte %zu", i);
        v = v << 6 | (uint32_t)d;
        if (i % 4)
            p[to++] = (char)(v >> (6 - i % 4 * 2));
    }
    p[to] = 0;
    *ret = str_n(p, to);
    return OK;
}

/* ---- percent encoding (RFC 3986) ----------------------------------------------------------------------- */

static bool unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'
        || c == '.' || c == '~';
}

Str url_encode(Arena *a, Str s, int keep_slash)
{
    static const char digits[] = "0123456789ABCDEF";
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (unreserved((char)c) || (c == '/' && keep_slash)) {
            sb_byte(&b, (char)c);
            continue;
        }
        sb_byte(&b, '%');
        sb_byte(&b, digits[c >> 4]);
        sb_byte(&b, digits[c & 15]);
    }
    return sb_str(&b);
}

Status url_decode(Arena *a, Str s, int plus_is_space, Str *ret, Error *err)
{
    char *p = arena_alloc(a, s.n + 1);
    size_t to = 0;
    Str byte;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '+' && plus_is_space)
            c = ' ';
        if (c == '%') {
            if (s.n - i < 3 || !hex_decode(a, str_sub(s, i + 1, i + 3), &byte))
                return FAIL(err, E_SYNTAX, "'%%' without two hex digits at byte %zu", i);
            c = byte.p[0];
            i += 2;
        }
        p[to++] = c;
    }
    *ret = str_n(p, to);
    return OK;
}

Status url_query_parse(Arena *a, Str query, Props *ret, Error *err)
{
    Props props = {0};

    while (query.n) {
        Str part, key, value;
        KeyValue kv;
        str_cut(query, '&', &part, &query);
        if (!part.n)
            continue;
        str_cut(part, '=', &key, &value);
        TRY(url_decode(a, key, 1, &kv.key, err));
        TRY(url_decode(a, value, 1, &kv.value, err));
        vec_push(a, &props, kv);
    }
    *ret = props;
    return OK;
}

/* ---- dates --------------------------------------------------------------------------------------------- */

typedef struct { int year, month, day, hour, minute, second; } Civil;

static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec", weekdays[] = "SunMonTueWedThuFriSat";

/* False: no such day or time. A second of 60 is taken as the next minute. */
static bool civil_to_ms(const Civil *c, int64_t *ms)
{
    if (c->month < 1 || c->month > 12 || c->day < 1 || c->day > calendar_month_length(c->year, c->month) || c->hour > 23 || c->minute > 59 || c->second > 60)
        return false;
    *ms = ((calendar_days(c->year, c->month, c->day) * 24 + c->hour) * 60 + c->minute) * 60000 + (int64_t)c->second * 1000;
    return true;
}

Str http_date(Arena *a, int64_t ms)
{
    int64_t s = (ms - ((ms % 1000) + 1000) % 1000) / 1000, rest = ((s % 86400) + 86400) % 86400, days = (s - rest) / 86400;
    CalendarDay c = calendar_day(days);
    int weekday = (int)(((days + 4) % 7 + 7) % 7);

    return str_fmt(a, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", weekdays + (ptrdiff_t)3 * weekday, c.day,
                   months + (ptrdiff_t)3 * (c.month - 1), (int)c.year, (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60));
}

/* Takes exactly `n` digits. */
static bool take_digits(Str *s, size_t n, int *ret)
{
    *ret = 0;
    if (s->n < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
        *ret = *ret * 10 + s->p[i] - '0';
    }
    *s = str_from(*s, n);
    return true;
}

static bool take_text(Str *s, Str text)
{
    if (!str_starts(*s, text))
        return false;
    *s = str_from(*s, text.n);
    return true;
}

static bool take_month(Str *s, int *ret)
{
    for (int m = 0; m < 12; m++)
        if (take_text(s, str_n(months + (ptrdiff_t)3 * m, 3))) {
            *ret = m + 1;
            return true;
        }
    return false;
}

bool http_date_parse(Str s, int64_t *ms)
{
    Civil c = {0};
    Str day_name, rest;

    if (!str_cut(s, ',', &day_name, &rest) || day_name.n != 3)
        return false;
    return take_text(&rest, S(" ")) && take_digits(&rest, 2, &c.day) && take_text(&rest, S(" "))
        && take_month(&rest, &c.month) && take_text(&rest, S(" ")) && take_digits(&rest, 4, &c.year)
        && take_text(&rest, S(" ")) && take_digits(&rest, 2, &c.hour) && take_text(&rest, S(":"))
        && take_digits(&rest, 2, &c.minute) && take_text(&rest, S(":")) && take_digits(&rest, 2, &c.second)
        && (str_eq(rest, S(" GMT")) || str_eq(rest, S(" UTC")) || str_eq(rest, S(" +0000"))) && civil_to_ms(&c, ms);
}

/* Takes a fraction ".123…", if there is one, as milliseconds; further digits are cut. */
static bool take_fraction(Str *s, int *ms)
{
    int digit, scale = 100;

    *ms = 0;
    if (!take_text(s, S(".")))
        return true;
    if (!take_digits(s, 1, &digit))
        return false;
    do {
        *ms += digit * scale;
        scale /= 10;
    } while (take_digits(s, 1, &digit));
    return true;
}

/* "Z", "+hh:mm" or "+hhmm", as minutes east of UTC. */
static bool take_zone(Str *s, int *east)
{
    int hours, minutes;
    bool minus = str_starts(*s, S("-"));

    *east = 0;
    if (take_text(s, S("Z")))
        return true;
    if (!take_text(s, S("+")) && !take_text(s, S("-")))
        return false;
    if (!take_digits(s, 2, &hours))
        return false;
    take_text(s, S(":"));
    if (!take_digits(s, 2, &minutes) || hours > 18 || minutes > 59)
        return false;
    *east = (hours * 60 + minutes) * (minus ? -1 : 1);
    return true;
}

bool iso8601_parse(Str s, int64_t *ms)
{
    Civil c;
    int fraction, east;
    int64_t whole;
    Str dash, colon;

    if (!take_digits(&s, 4, &c.year))
        return false;
    bool extended = str_starts(s, S("-"));
    dash = extended ? S("-") : S("");
    colon = extended ? S(":") : S("");
    if (!take_text(&s, dash) || !take_digits(&s, 2, &c.month) || !take_text(&s, dash) || !take_digits(&s, 2, &c.day)
        || !take_text(&s, S("T")) || !take_digits(&s, 2, &c.hour) || !take_text(&s, colon)
        || !take_digits(&s, 2, &c.minute) || !take_text(&s, colon) || !take_digits(&s, 2, &c.second)
        || !take_fraction(&s, &fraction) || !take_zone(&s, &east) || s.n || !civil_to_ms(&c, &whole))
        return false;
    *ms = whole + fraction - (int64_t)east * 60000;
    return true;
}

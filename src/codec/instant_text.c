/* SPDX-License-Identifier: Apache-2.0 */
/* instant_text.c - texts of dates and points in time in the forms that PostgreSQL reads beside the plain one: 20000102, 2000-1-2T3:04, a zone of z, UTC, +5, +0530, BC behind
 * it all; to the one form that the engine reads.
 *
 * Invariants: (1) a text that is not of these forms is left as it is: whether it is a time is the engine's to say; (2) no field's range is checked here. */
#include "codec/codec.h"

typedef struct Cursor { const char *p, *end; } Cursor;

static void blanks(Cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
        c->p++;
}

static bool take(Cursor *c, char what)
{
    if (c->p >= c->end || *c->p != what)
        return false;
    c->p++;
    return true;
}

static bool digits(Cursor *c, size_t least, size_t most, Str *ret)
{
    const char *from = c->p;

    while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
        c->p++;
    *ret = str_n(from, (size_t)(c->p - from));
    return ret->n >= least && ret->n <= most;
}

/* A word of letters, whatever its case, that ends there. */
static bool word(Cursor *c, const char *what)
{
    size_t n = strlen(what);
    Str rest = str_n(c->p, (size_t)(c->end - c->p));

    if (rest.n < n || !str_ieq(str_sub(rest, 0, n), str_c(what)))
        return false;
    if (rest.n > n && ((rest.p[n] | 0x20) >= 'a' && (rest.p[n] | 0x20) <= 'z'))
        return false;
    c->p += n;
    return true;
}

static void padded(StrBuf *b, Str number, size_t width)
{
    for (size_t i = number.n; i < width; i++)
        sb_byte(b, '0');
    sb_add(b, number);
}

static bool date(Cursor *c, StrBuf *out)
{
    Str year, month, day;

    if (!digits(c, 1, 8, &year))
        return false;
    if (year.n == 8) {
        month = str_sub(year, 4, 6);
        day = str_sub(year, 6, 8);
        year = str_sub(year, 0, 4);
    } else if (!take(c, '-') || !digits(c, 1, 2, &month) || !take(c, '-') || !digits(c, 1, 2, &day)) {
        return false;
    }
    padded(out, year, 4);
    sb_byte(out, '-');
    padded(out, month, 2);
    sb_byte(out, '-');
    padded(out, day, 2);
    return true;
}

/* h:m[:s[.f]] */
static bool time_of_day(Cursor *c, StrBuf *out)
{
    Str part;

    if (!digits(c, 1, 2, &part))
        return false;
    padded(out, part, 2);
    for (int i = 0; i < 2; i++) {
        if (!take(c, ':')) {
            sb_addc(out, ":00");
            if (!i)
                return false;                                   /* an hour alone */
            continue;
        }
        if (!digits(c, 1, 2, &part))
            return false;
        sb_byte(out, ':');
        padded(out, part, 2);
    }
    if (take(c, '.') && digits(c, 0, 30, &part) && part.n) {
        sb_byte(out, '.');
        sb_add(out, part);
    }
    return true;
}

/* +5 +05 +0530 +05:30[:00] */
static bool offset(Cursor *c, StrBuf *out)
{
    Str hours, minutes = S("00");

    sb_byte(out, *c->p++);
    if (!digits(c, 1, 4, &hours) || hours.n == 3)
        return false;
    if (hours.n == 4) {
        minutes = str_from(hours, 2);
        hours = str_sub(hours, 0, 2);
    } else if (take(c, ':') && !digits(c, 1, 2, &minutes)) {
        return false;
    }
    padded(out, hours, 2);
    sb_byte(out, ':');
    padded(out, minutes, 2);
    return true;
}

static bool zone(Cursor *c, StrBuf *out)
{
    if (word(c, "z") || word(c, "utc") || word(c, "gmt")) {
        sb_addc(out, "+00:00");
        return true;
    }
    return c->p >= c->end || (*c->p != '+' && *c->p != '-') || offset(c, out);
}

bool instant_text(Arena *a, Str text, Str *ret)
{
    Cursor c = { text.p, text.p + text.n };
    StrBuf day = sb_new(a), rest = sb_new(a);

    blanks(&c);
    if (!date(&c, &day))
        return false;
    const char *behind = c.p;
    if (!take(&c, 'T') && !take(&c, 't'))
        blanks(&c);
    if (c.p > behind && c.p < c.end && *c.p >= '0' && *c.p <= '9') {
        sb_byte(&rest, ' ');
        if (!time_of_day(&c, &rest))
            return false;
        blanks(&c);
        if (!zone(&c, &rest))
            return false;
    }
    blanks(&c);
    bool before = word(&c, "bc");
    if (!before)
        (void)word(&c, "ad");
    blanks(&c);
    if (c.p != c.end)
        return false;
    sb_addc(&day, before ? " (BC)" : "");
    if (rest.n)
        sb_add(&day, sb_str(&rest));
    *ret = sb_str(&day);
    return true;
}

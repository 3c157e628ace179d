/* SPDX-License-Identifier: Apache-2.0 */
/* time_char.c - a point in time by a pattern, as PostgreSQL's to_char writes it (its manual, table 9.26).
 *
 * A pattern is a row of words (YYYY, Month, HH24 …), each perhaps behind FM (no padding; TM: none of names) and before TH or th (an ordinal's ending); everything else stands for itself, in double quotes
 * anything.  Words are in one case or the other, names of days and months in three. */
#include "codec/codec.h"

#include <stdlib.h>

typedef enum {
    W_HH12, W_HH24, W_MI, W_SS, W_MS, W_US, W_FF, W_SSSS, W_AM, W_A_M, W_TZ, W_TZH, W_TZM, W_OF, W_BC, W_B_C, W_MONTH, W_MON, W_MM, W_DAY, W_DY, W_DDD, W_IDDD, W_DD, W_D, W_ID, W_WW, W_IW,
    W_W, W_Q, W_CC, W_Y_YYY, W_YEAR, W_ISO_YEAR, W_RM, W_J, W_FX
} WordKind;

/* Those that begin like another one, longer, come behind it. digits: of the year, of a fraction. */
static const struct { const char *word; WordKind kind; int digits; } words[] = {
    { "A.D.", W_B_C, 0 }, { "A.M.", W_A_M, 0 }, { "AD", W_BC, 0 }, { "AM", W_AM, 0 }, { "B.C.", W_B_C, 0 }, { "BC", W_BC, 0 }, { "CC", W_CC, 0 }, { "DAY", W_DAY, 0 }, { "DDD", W_DDD, 0 },
    { "DD", W_DD, 0 }, { "DY", W_DY, 0 }, { "D", W_D, 0 }, { "FF1", W_FF, 1 }, { "FF2", W_FF, 2 }, { "FF3", W_FF, 3 }, { "FF4", W_FF, 4 }, { "FF5", W_FF, 5 }, { "FF6", W_FF, 6 },
    { "FX", W_FX, 0 }, { "HH24", W_HH24, 0 }, { "HH12", W_HH12, 0 }, { "HH", W_HH12, 0 }, { "IDDD", W_IDDD, 0 }, { "ID", W_ID, 0 }, { "IW", W_IW, 0 }, { "IYYY", W_ISO_YEAR, 4 },
    { "IYY", W_ISO_YEAR, 3 }, { "IY", W_ISO_YEAR, 2 }, { "I", W_ISO_YEAR, 1 }, { "J", W_J, 0 }, { "MI", W_MI, 0 }, { "MM", W_MM, 0 }, { "MONTH", W_MONTH, 0 }, { "MON", W_MON, 0 },
    { "MS", W_MS, 0 }, { "OF", W_OF, 0 }, { "P.M.", W_A_M, 0 }, { "PM", W_AM, 0 }, { "Q", W_Q, 0 }, { "RM", W_RM, 0 }, { "SSSSS", W_SSSS, 0 }, { "SSSS", W_SSSS, 0 }, { "SS", W_SS, 0 },
    { "TZH", W_TZH, 0 }, { "TZM", W_TZM, 0 }, { "TZ", W_TZ, 0 }, { "US", W_US, 0 }, { "WW", W_WW, 0 }, { "W", W_W, 0 }, { "Y,YYY", W_Y_YYY, 0 }, { "YYYY", W_YEAR, 4 }, { "YYY", W_YEAR, 3 },
    { "YY", W_YEAR, 2 }, { "Y", W_YEAR, 1 },
};

static const char *const months[] = { "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December" };
static const char *const days[] = { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday" };
static const char *const romans[] = { "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII" };

typedef enum { CASE_UPPER, CASE_FIRST, CASE_LOWER } Letters;
typedef struct Moment { int64_t day, year, iso_year; int month, mday, yday, wday, iso_week, hour, minute, second, micros; } Moment;       /* wday: 0 Sunday; yday: 1 the first */
typedef struct Writer { Arena *a; StrBuf out; const Moment *m; const char *zone; bool bare, bare_name; const char *ending; } Writer;      /* bare: FM, of names TM too; ending: "TH", "th" or NULL */

/* ---- the calendar ------------------------------------------------------------------------------------------------------ */

static int64_t floor_div(int64_t x, int64_t y) { return x / y - (x % y < 0); }

static int64_t first_of(int64_t year) { return calendar_days(year, 1, 1); }

static void calendar(Moment *m)
{
    CalendarDay d = calendar_day(m->day);

    m->year = d.year;
    m->month = d.month - 1;
    m->mday = d.day;
    m->yday = (int)(m->day - first_of(d.year)) + 1;
    m->wday = (int)(((m->day + 4) % 7 + 7) % 7);
}

/* ISO 8601: a week belongs to the year of its Thursday. */
static void iso_week(Moment *m)
{
    int64_t thursday = m->day - (m->wday + 6) % 7 + 3;

    m->iso_year = m->year;
    if (thursday < first_of(m->year))
        m->iso_year--;
    else if (thursday >= first_of(m->year + 1))
        m->iso_year++;
    m->iso_week = (int)((thursday - first_of(m->iso_year)) / 7) + 1;
}

static Moment moment_of(int64_t micros)
{
    const int64_t day_us = INT64_C(86400000000);
    Moment m = { .day = floor_div(micros, day_us) };
    int64_t rest = micros - m.day * day_us;

    m.micros = (int)(rest % 1000000);
    m.second = (int)(rest / 1000000 % 60);
    m.minute = (int)(rest / 60000000 % 60);
    m.hour = (int)(rest / 3600000000);
    calendar(&m);
    iso_week(&m);
    return m;
}

/* ---- words ----------------------------------------------------------------------------------------------------------------- */

static const char *ending_of(int64_t n)
{
    static const char *const some[] = { "th", "st", "nd", "rd", "th", "th", "th", "th", "th", "th" };
    return llabs(n) / 10 % 10 == 1 ? "th" : some[llabs(n) % 10];
}

static void number(Writer *w, int64_t n, int width)
{
    sb_fmt(&w->out, "%0*lld", w->bare ? 0 : width, (long long)n);
    if (!w->ending)
        return;
    Str ending = str_c(ending_of(n));
    sb_add(&w->out, w->ending[0] == 'T' ? str_upper(w->a, ending) : ending);
}

static void name(Writer *w, const char *text, size_t cut, Letters l, size_t width)
{
    Str s = str_c(text);

    s.n = cut && s.n > cut ? cut : s.n;
    sb_add(&w->out, l == CASE_UPPER ? str_upper(w->a, s) : l == CASE_LOWER ? str_lower(w->a, s) : s);
    for (size_t i = s.n; i < width; i++)
        sb_byte(&w->out, ' ');
}

/* Years before 1 are counted backwards: 0 is 1 BC. */
static int64_t shown_year(int64_t y) { return y > 0 ? y : 1 - y; }

static void year(Writer *w, int64_t y, int digits)
{
    static const int64_t of[] = { 0, 10, 100, 1000 };
    int64_t n = shown_year(y);

    number(w, digits < 4 ? n % of[digits] : n, digits);
}

static void century(Writer *w)
{
    int64_t y = w->m->year, n = y > 0 ? (y - 1) / 100 + 1 : y / 100 - 1;
    number(w, n, n < 0 ? 3 : 2);
}

static void fraction(Writer *w, int digits)
{
    int n = w->m->micros;
    for (int i = digits; i < 6; i++)
        n /= 10;
    sb_fmt(&w->out, "%0*d", digits, n);
    if (w->ending)
        sb_add(&w->out, w->ending[0] == 'T' ? str_upper(w->a, str_c(ending_of(n))) : str_c(ending_of(n)));
}

static void half(Writer *w, const char *first, const char *second, bool is_second, Letters l)
{
    Str s = str_c(is_second ? second : first);
    sb_add(&w->out, l == CASE_LOWER ? str_lower(w->a, s) : s);
}

static void write_word(Writer *w, WordKind k, int digits, Letters l)
{
    const Moment *m = w->m;

    switch (k) {
    case W_HH12: number(w, m->hour % 12 ? m->hour % 12 : 12, 2); break;
    case W_HH24: number(w, m->hour, 2); break;
    case W_MI: number(w, m->minute, 2); break;
    case W_SS: number(w, m->second, 2); break;
    case W_MS: fraction(w, 3); break;
    case W_US: fraction(w, 6); break;
    case W_FF: fraction(w, digits); break;
    case W_SSSS: number(w, m->hour * 3600 + m->minute * 60 + m->second, 0); break;
    case W_AM: half(w, "AM", "PM", m->hour >= 12, l); break;
    case W_A_M: half(w, "A.M.", "P.M.", m->hour >= 12, l); break;
    case W_BC: half(w, "AD", "BC", m->year <= 0, l); break;
    case W_B_C: half(w, "A.D.", "B.C.", m->year <= 0, l); break;
    case W_TZ: half(w, w->zone, "", false, l); break;
    case W_TZH: case W_OF: sb_addc(&w->out, "+00"); break;
    case W_TZM: sb_addc(&w->out, "00"); break;
    case W_MONTH: name(w, months[m->month], 0, l, w->bare_name ? 0 : 9); break;
    case W_MON: name(w, months[m->month], 3, l, 0); break;
    case W_MM: number(w, m->month + 1, 2); break;
    case W_RM: name(w, romans[m->month], 0, l, w->bare ? 0 : 4); break;
    case W_DAY: name(w, days[m->wday], 0, l, w->bare_name ? 0 : 9); break;
    case W_DY: name(w, days[m->wday], 3, l, 0); break;
    case W_DDD: number(w, m->yday, 3); break;
    case W_IDDD: number(w, (m->iso_week - 1) * 7 + (m->wday + 6) % 7 + 1, 3); break;
    case W_DD: number(w, m->mday, 2); break;
    case W_D: number(w, m->wday + 1, 0); break;
    case W_ID: number(w, (m->wday + 6) % 7 + 1, 0); break;
    case W_WW: number(w, (m->yday - 1) / 7 + 1, 2); break;
    case W_IW: number(w, m->iso_week, 2); break;
    case W_W: number(w, (m->mday - 1) / 7 + 1, 0); break;
    case W_Q: number(w, m->month / 3 + 1, 0); break;
    case W_CC: century(w); break;
    case W_Y_YYY: sb_fmt(&w->out, "%lld,", (long long)shown_year(m->year) / 1000); w->bare = false; number(w, shown_year(m->year) % 1000, 3); break;
    case W_YEAR: year(w, m->year, digits); break;
    case W_ISO_YEAR: year(w, m->iso_year, digits); break;
    case W_J: number(w, m->day + 2440588, 0); break;
    case W_FX: break;
    }
}

/* ---- the pattern --------------------------------------------------------------------------------------------------------------- */

/* In capitals, small letters, or (names) the first in capitals. */
static bool stands(Str rest, const char *word, WordKind k, Letters *l)
{
    size_t n = strlen(word);
    bool named = k == W_MONTH || k == W_MON || k == W_DAY || k == W_DY, upper = true, lower = true, first = true;

    if (rest.n < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char up = word[i], low = up >= 'A' && up <= 'Z' ? (char)(up + 32) : up;
        upper = upper && rest.p[i] == up;
        lower = lower && rest.p[i] == low;
        first = first && rest.p[i] == (i ? low : up);
    }
    *l = upper ? CASE_UPPER : lower ? CASE_LOWER : CASE_FIRST;
    return upper || lower || (named && first);
}

static bool take(Str *rest, const char *text)
{
    if (!str_starts(*rest, str_c(text)))
        return false;
    *rest = str_from(*rest, strlen(text));
    return true;
}

static bool word(Writer *w, Str *rest)
{
    Letters l;

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (!stands(*rest, words[i].word, words[i].kind, &l))
            continue;
        *rest = str_from(*rest, strlen(words[i].word));
        w->ending = take(rest, "TH") ? "TH" : take(rest, "th") ? "th" : NULL;
        if (!w->ending)
            (void)take(rest, "SP");
        write_word(w, words[i].kind, words[i].digits, l);
        return true;
    }
    return false;
}

static void literal(Writer *w, Str *rest)
{
    if (rest->p[0] != '"') {
        size_t skip = rest->n > 1 && rest->p[0] == '\\' && rest->p[1] == '"';
        sb_byte(&w->out, rest->p[skip]);
        *rest = str_from(*rest, skip + 1);
        return;
    }
    *rest = str_from(*rest, 1);
    while (rest->n && rest->p[0] != '"') {
        size_t skip = rest->n > 1 && rest->p[0] == '\\';
        sb_byte(&w->out, rest->p[skip]);
        *rest = str_from(*rest, skip + 1);
    }
    *rest = str_from(*rest, rest->n > 0);
}

Str time_char(Arena *a, int64_t micros, const char *zone, Str pattern)
{
    Moment m = moment_of(micros);
    Writer w = { .a = a, .out = sb_new(a), .m = &m, .zone = zone };

    while (pattern.n) {
        w.bare = take(&pattern, "FM") || take(&pattern, "fm");
        w.bare_name = w.bare || take(&pattern, "TM") || take(&pattern, "tm");
        if (pattern.n && !word(&w, &pattern))
            literal(&w, &pattern);
    }
    return sb_str(&w.out);
}

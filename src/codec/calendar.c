/* SPDX-License-Identifier: Apache-2.0 */
/* calendar.c - days and dates of the proleptic Gregorian calendar, in eras of 400 years.
 *
 * Years are counted from 1 March, so that the leap day is the last of its year; divisions round down, so that days before 1970 fall into the right year. */
#include "codec/codec.h"

enum { DAYS_OF_ERA = 146097, MARCH_1_OF_0 = 719468 };      /* before 1970-01-01 */

int64_t calendar_days(int64_t year, int64_t month, int64_t day)
{
    int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * DAYS_OF_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - MARCH_1_OF_0;
}

CalendarDay calendar_day(int64_t days)
{
    int64_t z = days + MARCH_1_OF_0, era = (z >= 0 ? z : z - (DAYS_OF_ERA - 1)) / DAYS_OF_ERA, of_era = z - era * DAYS_OF_ERA;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100), m = (5 * of_year + 2) / 153;
    int month = (int)(m < 10 ? m + 3 : m - 9);

    return (CalendarDay){ year + era * 400 + (month <= 2), month, (int)(of_year - (153 * m + 2) / 5 + 1) };
}

int calendar_month_length(int64_t year, int64_t month)
{
    static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month == 2 && leap ? 29 : lengths[month - 1];
}

/* SPDX-License-Identifier: Apache-2.0 */
/* time_unit.c - the names of units of time, as PostgreSQL's and Spark's texts of intervals write them. */
#include "codec/codec.h"

#define SECOND INT64_C(1000000)

const TimeUnit time_units[TIME_UNITS] = {
    [UNIT_YEAR] = { "year", " year years yr yrs y ", 12, 0, 0 },
    [UNIT_MONTH] = { "month", " month months mon mons ", 1, 0, 0 },
    [UNIT_DAY] = { "day", " day days d ", 0, 1, 0 },
    [UNIT_HOUR] = { "hour", " hour hours hr hrs h ", 0, 0, 3600 * SECOND },
    [UNIT_MINUTE] = { "minute", " minute minutes min mins m ", 0, 0, 60 * SECOND },
    [UNIT_SECOND] = { "second", " second seconds sec secs s ", 0, 0, SECOND },
    [UNIT_MILLISECOND] = { "millisecond", " millisecond milliseconds ms msec msecs msecond mseconds ", 0, 0, 1000 },
    [UNIT_MICROSECOND] = { "microsecond", " microsecond microseconds us usec usecs usecond useconds ", 0, 0, 1 },
    [UNIT_WEEK] = { "week", " week weeks w ", 0, 7, 0 },
    [UNIT_QUARTER] = { "quarter", " quarter quarters qtr ", 3, 0, 0 },
    [UNIT_DECADE] = { "decade", " decade decades dec decs ", 120, 0, 0 },
    [UNIT_CENTURY] = { "century", " century centuries cent c ", 1200, 0, 0 },
    [UNIT_MILLENNIUM] = { "millennium", " millennium millennia millenniums mil mils ", 12000, 0, 0 },
};

const TimeUnit *time_unit(Str word)
{
    char key[24] = " ";

    if (!word.n || word.n > sizeof key - 3)
        return NULL;
    for (size_t i = 0; i < word.n; i++)
        key[i + 1] = word.p[i] >= 'A' && word.p[i] <= 'Z' ? (char)(word.p[i] + 32) : word.p[i];
    key[word.n + 1] = ' ';
    for (size_t i = 0; i < TIME_UNITS; i++)
        if (strstr(time_units[i].names, key))
            return &time_units[i];
    return NULL;
}

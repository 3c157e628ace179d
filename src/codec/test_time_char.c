/* SPDX-License-Identifier: Apache-2.0 */
/* test_time_char.c - what PostgreSQL 15 gives for the same points in time and patterns. */
#include "codec/codec.h"
#include "test.h"

static void patterns(void **state UNUSED)
{
    static const struct { int64_t micros; const char *zone, *pattern, *want; } cases[] = {
        { 1709211909123456, "", "YYYY-MM-DD HH24:MI:SS", "2024-02-29 13:05:09" }, { 1709211909123456, "", "YYYY-MM-DD HH12:MI:SS.MS am", "2024-02-29 01:05:09.123 pm" },
        { 1709211909123456, "", "Day, DD Month YYYY", "Thursday , 29 February  2024" }, { 1709211909123456, "", "FMDay, FMDDth FMMonth YYYY", "Thursday, 29th February 2024" },
        { 1709211909123456, "", "DAY|Day|day|DY|Dy|dy", "THURSDAY |Thursday |thursday |THU|Thu|thu" },
        { 1709211909123456, "", "MONTH|Month|month|MON|Mon|mon|RM|rm|FMRM|FMrm", "FEBRUARY |February |february |FEB|Feb|feb|II  |ii  |II|ii" },
        { 1709211909123456, "", "MS US FF1 FF3 FF6 SSSS SSSSS", "123 123456 1 123 123456 47109 47109" },
        { 1709211909123456, "", "Y YY YYY YYYY Y,YYY I IY IYY IYYY CC FMCC", "4 24 024 2024 2,024 4 24 024 2024 21 21" },
        { 1709211909123456, "", "BC AD B.C. a.d. bc", "AD AD A.D. a.d. ad" }, { 1709211909123456, "", "DDD DD D ID IDDD FMDDD FMDD", "060 29 5 4 060 60 29" },
        { 1709211909123456, "", "WW IW W Q J", "09 09 5 1 2460370" }, { 1709211909123456, "", "HH HH12 HH24 FMHH FMHH24:FMMI:FMSS", "01 01 13 1 13:5:9" },
        { 1709211909123456, "", "Hh24 hh24 Mi mi yyyy-mm-dd", "Hh24 13 M4 05 2024-02-29" },
        { 1709211909123456, "", "\"quoted YYYY\" YYYY \\\"x\\\" \"a\\\"b\" \\n 'q'", "quoted YYYY 2024 \"x\" a\"b \\n '1'" },
        { 1709211909123456, "", "DDth DDTH MMth HH24TH YYYYth FMDDTH Qth MSth", "29th 29TH 02nd 13TH 2024th 29TH 1st 123rd" },
        { 1709211909123456, "", "AM PM am p.m. A.M.", "PM PM pm p.m. P.M." }, { 1709211909123456, "", "TZ tz TZH TZM OF", "  +00 00 +00" },
        { 1709211909123456, "", "FXYYYY FX", "2024 " }, { 1709211909123456, "", "TMMonth TMDay fmMonth FM", "February Thursday February " },
        { 1709211909123456, "", "DDSP MonthSP", "29 February " }, { 1709211909123456, "", "ÿYYYYé—DD", "ÿ2024é—29" },
        { 1709211909123456, "", "YYYYMMDDHH24MISSUS", "20240229130509123456" }, { 1709211909123456, "", "IYYY-\"W\"IW-ID", "2024-W09-4" },
        { 1709211909123456, "", "MONDAY", "FEBTHURSDAY " }, { 1709211909123456, "", "x", "x" },
        { 946598400000000, "", "Y YY YYY YYYY Y,YYY I IY IYY IYYY CC FMCC", "9 99 999 1999 1,999 9 99 999 1999 20 20" },
        { 946598400000000, "", "BC AD B.C. a.d. bc", "AD AD A.D. a.d. ad" }, { 946598400000000, "", "DDD DD D ID IDDD FMDDD FMDD", "365 31 6 5 362 365 31" },
        { 946598400000000, "", "WW IW W Q J", "53 52 5 4 2451544" }, { 946598400000000, "", "IYYY-\"W\"IW-ID", "1999-W52-5" },
        { -62135553600000000, "", "Y YY YYY YYYY Y,YYY I IY IYY IYYY CC FMCC", "1 01 001 0001 0,001 1 01 001 0001 01 1" },
        { -62135553600000000, "", "BC AD B.C. a.d. bc", "AD AD A.D. a.d. ad" }, { -62135553600000000, "", "DDD DD D ID IDDD FMDDD FMDD", "001 01 2 1 001 1 1" },
        { -62135553600000000, "", "WW IW W Q J", "01 01 1 1 1721426" }, { -62135553600000000, "", "IYYY-\"W\"IW-ID", "0001-W01-1" },
        { -63517812955000000, "", "Y YY YYY YYYY Y,YYY I IY IYY IYYY CC FMCC", "4 44 044 0044 0,044 4 44 044 0044 -01 -1" },
        { -63517812955000000, "", "BC AD B.C. a.d. bc", "BC BC B.C. b.c. bc" }, { -63517812955000000, "", "DDD DD D ID IDDD FMDDD FMDD", "074 15 6 5 075 74 15" },
        { -63517812955000000, "", "WW IW W Q J", "11 11 3 1 1705428" }, { -63517812955000000, "", "IYYY-\"W\"IW-ID", "0044-W11-5" },
        { 1609718399999999, "", "Y YY YYY YYYY Y,YYY I IY IYY IYYY CC FMCC", "1 21 021 2021 2,021 0 20 020 2020 21 21" },
        { 1609718399999999, "", "BC AD B.C. a.d. bc", "AD AD A.D. a.d. ad" }, { 1609718399999999, "", "DDD DD D ID IDDD FMDDD FMDD", "003 03 1 7 371 3 3" },
        { 1609718399999999, "", "WW IW W Q J", "01 53 1 1 2459218" }, { 1609718399999999, "", "IYYY-\"W\"IW-ID", "2020-W53-7" },
        { 1609153871000000, "", "Y YY YYY YYYY Y,YYY I IY IYY IYYY CC FMCC", "0 20 020 2020 2,020 0 20 020 2020 21 21" },
        { 1609153871000000, "", "BC AD B.C. a.d. bc", "AD AD A.D. a.d. ad" }, { 1609153871000000, "", "DDD DD D ID IDDD FMDDD FMDD", "363 28 2 1 365 363 28" },
        { 1609153871000000, "", "WW IW W Q J", "52 53 4 4 2459212" }, { 1609153871000000, "", "IYYY-\"W\"IW-ID", "2020-W53-1" },
        { 327416976550000000, "", "Y YY YYY YYYY Y,YYY I IY IYY IYYY CC FMCC", "5 45 345 12345 12,345 5 45 345 12345 124 124" },
        { 327416976550000000, "", "BC AD B.C. a.d. bc", "AD AD A.D. a.d. ad" }, { 327416976550000000, "", "DDD DD D ID IDDD FMDDD FMDD", "158 07 5 4 158 158 7" },
        { 327416976550000000, "", "WW IW W Q J", "23 23 1 2 6230136" }, { 327416976550000000, "", "IYYY-\"W\"IW-ID", "12345-W23-4" },
        { -12219291000000000, "", "Y YY YYY YYYY Y,YYY I IY IYY IYYY CC FMCC", "2 82 582 1582 1,582 2 82 582 1582 16 16" },
        { -12219291000000000, "", "BC AD B.C. a.d. bc", "AD AD A.D. a.d. ad" }, { -12219291000000000, "", "DDD DD D ID IDDD FMDDD FMDD", "288 15 6 5 285 288 15" },
        { -12219291000000000, "", "WW IW W Q J", "42 41 3 4 2299161" }, { -12219291000000000, "", "IYYY-\"W\"IW-ID", "1582-W41-5" },
        { 1262469600000000, "", "Y YY YYY YYYY Y,YYY I IY IYY IYYY CC FMCC", "0 10 010 2010 2,010 9 09 009 2009 21 21" },
        { 1262469600000000, "", "BC AD B.C. a.d. bc", "AD AD A.D. a.d. ad" }, { 1262469600000000, "", "DDD DD D ID IDDD FMDDD FMDD", "002 02 7 6 370 2 2" },
        { 1262469600000000, "", "WW IW W Q J", "01 53 1 1 2455199" }, { 1262469600000000, "", "IYYY-\"W\"IW-ID", "2009-W53-6" },
        { -62135683200000000, "", "Y YY YYY YYYY Y,YYY I IY IYY IYYY CC FMCC", "1 01 001 0001 0,001 1 01 001 0001 -01 -1" },
        { -62135683200000000, "", "BC AD B.C. a.d. bc", "BC BC B.C. b.c. bc" }, { -62135683200000000, "", "DDD DD D ID IDDD FMDDD FMDD", "366 31 1 7 364 366 31" },
        { -62135683200000000, "", "WW IW W Q J", "53 52 5 4 1721425" }, { -62135683200000000, "", "IYYY-\"W\"IW-ID", "0001-W52-7" },
        { 974031180000000, "", "Y YY YYY YYYY Y,YYY I IY IYY IYYY CC FMCC", "0 00 000 2000 2,000 0 00 000 2000 20 20" },
        { 974031180000000, "", "BC AD B.C. a.d. bc", "AD AD A.D. a.d. ad" }, { 974031180000000, "", "DDD DD D ID IDDD FMDDD FMDD", "317 12 1 7 315 317 12" },
        { 974031180000000, "", "WW IW W Q J", "46 45 2 4 2451861" }, { 974031180000000, "", "IYYY-\"W\"IW-ID", "2000-W45-7" },
        { 1709211909123456, "UTC", "TZ tz TZH TZM OF", "UTC utc +00 00 +00" },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_str(time_char(a, cases[i].micros, cases[i].zone, str_c(cases[i].pattern)), cases[i].want);
}

/* Whatever a pattern is, it ends. */
static void broken_patterns(void **state UNUSED)
{
    static const char *const all[] = { "\"", "\\", "\"\\", "FM", "FMFM", "TH", "FMTH", "Y,", "\"x" };
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(all); i++)
        assert_true(time_char(a, 0, "", str_c(all[i])).n <= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(patterns), cmocka_unit_test(broken_patterns) };
    return cmocka_run_group_tests_name("time_char", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

static void texts(void **state UNUSED)
{
    static const struct { const char *text, *want; } cases[] = {                     /* NULL: left as it is */
        { "2000-01-02", "2000-01-02" }, { " 2000-1-2 ", "2000-01-02" }, { "20000102", "2000-01-02" }, { "44-3-15 BC", "0044-03-15 (BC)" }, { "12000-01-01", "12000-01-01" },
        { "2000-01-02T3:04", "2000-01-02 03:04:00" }, { "20000102 03:04:05.678901234", "2000-01-02 03:04:05.678901234" }, { "2000-01-02 03:04:05z", "2000-01-02 03:04:05+00:00" },
        { "2000-01-02 03:04:05 UTC", "2000-01-02 03:04:05+00:00" }, { "2000-01-02 03:04:05-6", "2000-01-02 03:04:05-06:00" }, { "2000-01-02 03:04+0530", "2000-01-02 03:04:00+05:30" },
        { "2000-01-02 03:04:05 +05:30 bc", "2000-01-02 (BC) 03:04:05+05:30" }, { "2000-01-02 03:04:05 AD", "2000-01-02 03:04:05" }, { "2000-01-02 24:00:00.", "2000-01-02 24:00:00" },
        { "", NULL }, { "epoch", NULL }, { "2000-01", NULL }, { "2000-01-02 3", NULL }, { "2000-01-02 03:04:05 Europe/Berlin", NULL }, { "2000-01-0203:04", NULL }, { "2000-01-02X03:04", NULL },
        { "2000-01-02 03:04:05+123", NULL }, { "2000-01-02 03:04:05zulu", NULL }, { "2000/01/02", NULL }, { "123456789", NULL }, { "-2000-01-01", NULL },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str s;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(instant_text(a, str_c(cases[i].text), &s), cases[i].want != NULL);
        if (cases[i].want)
            assert_str(s, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts) };
    return cmocka_run_group_tests_name("instant_text", tests, NULL, NULL);
}

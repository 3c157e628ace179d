/* SPDX-License-Identifier: Apache-2.0 */
/* test_iamdoor.c - the tables of IAM and STS are sound. */
#include "base/test.h"
#include "door/iam/iam_door_int.h"

static void test_tables(void **state UNUSED)
{
    aws_check_service(&iam_service);
    aws_check_service(&sts_service);
}

static void test_names_are_unique(void **state UNUSED)
{
    for (size_t i = 0; i < iam_service.nops; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(iam_service.ops[i].name, iam_service.ops[k].name);
}

static void test_what_is_not_supported_says_why(void **state UNUSED)
{
    for (size_t i = 0; i < iam_service.nops; i++)
        if (!iam_service.ops[i].handler)
            assert_non_null(iam_service.ops[i].note);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_tables), cmocka_unit_test(test_names_are_unique), cmocka_unit_test(test_what_is_not_supported_says_why) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* test_lakeformationdoor.c - the table of operations holds together. */
#include "base/test.h"
#include "door/lakeformation/lakeformation_door_int.h"

static void test_fields(void **state UNUSED)
{
    aws_check_service(&lakeformation_service);
    for (size_t i = 0; i < lakeformation_service.nops; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(lakeformation_service.ops[i].name, lakeformation_service.ops[k].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_fields) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

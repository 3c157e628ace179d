/* SPDX-License-Identifier: Apache-2.0 */
/* test_logsdoor.c - the table of operations compiles; the wire is tested by real clients in tests/e2e/test_logs.py. */
#include "base/test.h"
#include "door/logs/logsdoor.h"

static void table(void **state UNUSED)
{
    AwsMount m;
    Error err;

    assert_ok(logsdoor_open(NULL, &m, &err), &err);
    aws_check_service(m.service);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(table) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

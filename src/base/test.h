/* SPDX-License-Identifier: Apache-2.0 */
/* test.h - what every unit test includes: cmocka, and asserts for Str and Status. */
#ifndef FIRN_TEST_H
#define FIRN_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"

/* A Str equals a C string. */
#define assert_str(s, z) do { Str s_ = (s); const char *z_ = (z); \
    if (!str_eq(s_, str_c(z_))) fail_msg("'" STR_FMT "' is not '%s'", STR_ARG(s_), z_); } while (0)
/* An expression returns OK; prints the error otherwise. `err` is the Error that the expression fills. */
#define assert_ok(expr, err) do { Status s_ = (expr); \
    if (s_ != OK) fail_msg("%s: %s (%s)", status_name(s_), (err)->message, (err)->origin); } while (0)
/* An expression fails with just this status. */
#define assert_status(expr, status) do { Status s_ = (expr), w_ = (status); \
    if (s_ != w_) fail_msg("%s instead of %s", status_name(s_), status_name(w_)); } while (0)

#endif

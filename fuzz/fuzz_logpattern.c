/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_logpattern.c - a filter pattern and a message, split at the first newline: no crash, and the same answer twice. */
#include "door/logs/logs_pattern.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str pattern, message;
    LogPattern *p;
    Error err;

    str_cut(str_n((const char *)data, size), '\n', &pattern, &message);
    if (log_pattern_parse(a, pattern, &p, &err) != OK)
        return 0;
    if (log_pattern_matches(p, a, message) != log_pattern_matches(p, a, message))
        abort();
    return 0;
}

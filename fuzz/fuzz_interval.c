/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_interval.c - two bytes for the fields, then a text: what is parsed keeps to its fields. */
#include "codec/codec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Interval v;

    if (size < 2)
        return 0;
    IntervalFields f = { data[0] % 7, data[1] % 7, data[0] / 7 % 8 - 1 };
    Str text = str_n((const char *)data + 2, size - 2);
    (void)interval_parse(a, text, NULL, &v);
    if (f.from == INTERVAL_ANY || f.to < f.from)
        return 0;
    if (interval_parse(a, text, &f, &v) != INTERVAL_PARSED)
        return 0;
    if ((f.to <= INTERVAL_DAY && f.digits < 0 && v.micros) || (f.to <= INTERVAL_MONTH && v.days) || (f.from != f.to && f.from >= INTERVAL_DAY && v.months))
        abort();
    return 0;
}

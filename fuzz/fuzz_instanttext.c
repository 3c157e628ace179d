/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_instanttext.c - what a text of a time becomes is one itself, and stays as it is. */
#include "codec/codec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str once, twice;

    if (!instant_text(a, str_n((const char *)data, size), &once) || str_ends(once, S(")")) || str_find(once, S("(BC)")) >= 0)
        return 0;
    if (!instant_text(a, once, &twice) || !str_eq(once, twice))
        abort();
    return 0;
}

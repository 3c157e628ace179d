/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_jsonwalk.c - a line with a path, then any text: what is found is UTF-8 when the text is, and sorting twice is sorting once. */
#include "codec/codec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str all = str_n((const char *)data, size), path, text, found, once, twice;

    if (!str_cut(all, '\n', &path, &text))
        return 0;
    if (json_scalar_at(a, text, path, &found) && str_is_utf8(text) && !str_is_utf8(found))
        abort();
    if (json_sorted(a, text, &once) && (!json_sorted(a, once, &twice) || !str_eq(once, twice)))
        abort();
    if (json_without_nulls(a, text, &once) && (!json_without_nulls(a, once, &twice) || !str_eq(once, twice)))
        abort();
    return 0;
}

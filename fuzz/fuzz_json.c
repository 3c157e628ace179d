/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_json.c - what parses is written and parses again to the same tree. */
#include "codec/codec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *v, *again;
    Error err;

    if (json_parse(a, str_n((const char *)data, size), &v, &err) != OK)
        return 0;
    if (json_parse(a, json_text(a, v), &again, &err) != OK || !json_equal(v, again))
        abort();
    return 0;
}

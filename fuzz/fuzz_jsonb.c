/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_jsonb.c - two texts, a line between them: the one text of a value is its own one text, and a value contains itself; no operator reads beyond them. */
#include "codec/codec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str all = str_n((const char *)data, size), left, right, once, twice;
    bool yes;

    if (!str_cut(all, '\n', &left, &right))
        return 0;
    if (jsonb_text(a, right, JSONB_LENIENT, &once)) {
        if (!jsonb_text(a, once, JSONB_STRICT, &twice) || !str_eq(once, twice) || !str_is_utf8(once))
            abort();
        if (!jsonb_contains(a, once, once, &yes) || !yes)
            abort();
    }
    (void)jsonb_contains(a, right, left, &yes);
    (void)jsonb_has_key(a, right, left, &yes);
    (void)jsonb_without_key(a, right, left, &once);
    (void)jsonb_without_item(a, right, (int64_t)left.n, &once);
    (void)jsonb_path(a, right, left, JSONB_AS_TEXT, &once);
    if (jsonb_concat(a, left, right, &once) && (!jsonb_text(a, once, JSONB_STRICT, &twice) || !str_eq(once, twice)))
        abort();
    return 0;
}

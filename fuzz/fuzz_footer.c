/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_footer.c - the list of columns in a Parquet footer.  What is read is one tree, and every text lies within the input. */
#include "lake/lake_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void within(Str whole, Str s)
{
    if (s.n && (s.p < whole.p || s.p + s.n > whole.p + whole.n))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_create();
    Str in = str_dup(a, str_n((const char *)data, size));
    FileElements els = {0};
    int64_t children = 1;

    if (lake_footer_elements(a, in, &els)) {
        for (size_t i = 0; i < els.n; i++) {
            within(in, els.p[i].name);
            within(in, els.p[i].raw);
            children += els.p[i].children - 1;
        }
        if (children)
            abort();
    }
    arena_destroy(a);
    return 0;
}

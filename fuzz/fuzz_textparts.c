/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_textparts.c - a byte with the number of columns, then any text, as a qualified name and as CSV: what comes is UTF-8 when the text is, every
 * record has that many fields, and the parts of a name, quoted, are the same name. */
#include "codec/codec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fields(const Json *fields)
{
    for (size_t i = 0; i < json_len(fields); i++)
        if (!str_is_utf8(json_at(fields, i)->string))
            abort();
}

static Str quoted(Arena *a, const Json *parts)
{
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < json_len(parts); i++) {
        Str part = json_at(parts, i)->string;
        sb_addc(&b, i ? ".\"" : "\"");
        for (size_t k = 0; k < part.n; k++) {
            sb_addc(&b, part.p[k] == '"' ? "\"" : "");
            sb_byte(&b, part.p[k]);
        }
        sb_byte(&b, '"');
    }
    return sb_str(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *parts, *again;

    if (size < 1)
        return 0;
    size_t n = data[0] % 8 + 1;
    Str text = str_n((const char *)data + 1, size - 1);
    if (!str_is_utf8(text))
        return 0;
    if (ident_parts(a, text, IDENT_THEN_ANYTHING, &parts)) {
        check_fields(parts);
        if (!ident_parts(a, quoted(a, parts), IDENT_ALONE, &again) || !str_eq(json_text(a, parts), json_text(a, again)))
            abort();
    }
    Json *records = csv_records(a, text, n);
    for (size_t i = 0; i < json_len(records); i++) {
        if (json_len(json_at(records, i)) != n)
            abort();
        check_fields(json_at(records, i));
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_nestedtext.c - any text as an array, a record, a map and a range: what comes is UTF-8, and its parts, quoted and put together, give the same parts. */
#include "codec/codec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_part(StrBuf *b, NestedText in, const Json *part, const char *null)
{
    if (json_is(part, JSON_NULL)) {
        sb_addc(b, null);
        return;
    }
    if (!str_is_utf8(part->string))
        abort();
    nested_quote(b, in, part->string);
}

static Str joined(Arena *a, NestedText in, const Json *parts, const char *ends, const char *null)
{
    StrBuf b = sb_new(a);

    sb_byte(&b, ends[0]);
    for (size_t i = 0; i < json_len(parts); i++) {
        sb_addc(&b, i ? "," : "");
        add_part(&b, in, json_at(parts, i), null);
    }
    sb_byte(&b, ends[1]);
    return sb_str(&b);
}

static void same(Arena *a, bool ok, const Json *x, const Json *y)
{
    if (!ok || !str_eq(json_text(a, x), json_text(a, y)))
        abort();
}

static void check_map(Arena *a, Str text)
{
    Json *keys, *values, *keys2, *values2;
    StrBuf b = sb_new(a);

    if (!map_items(a, text, &keys, &values))
        return;
    sb_byte(&b, '{');
    for (size_t i = 0; i < json_len(keys); i++) {
        sb_addc(&b, i ? "," : "");
        add_part(&b, NESTED_MAP, json_at(keys, i), "");
        sb_addc(&b, "=>");
        add_part(&b, NESTED_MAP, json_at(values, i), "NULL");
    }
    sb_byte(&b, '}');
    bool ok = map_items(a, sb_str(&b), &keys2, &values2);
    same(a, ok, keys, keys2);
    same(a, ok, values, values2);
}

static void check_range(Arena *a, Str text)
{
    RangeText r, again;
    StrBuf b = sb_new(a);

    if (!range_parts(a, text, &r) || r.empty)
        return;
    sb_byte(&b, r.lower_inclusive ? '[' : '(');
    if (r.lower.n)
        nested_quote(&b, NESTED_RANGE, r.lower.p[0]);
    sb_byte(&b, ',');
    if (r.upper.n)
        nested_quote(&b, NESTED_RANGE, r.upper.p[0]);
    sb_byte(&b, r.upper_inclusive ? ']' : ')');
    if (!range_parts(a, sb_str(&b), &again) || again.lower.n != r.lower.n || again.upper.n != r.upper.n)
        abort();
    if ((r.lower.n && !str_eq(r.lower.p[0], again.lower.p[0])) || (r.upper.n && !str_eq(r.upper.p[0], again.upper.p[0])))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str text = str_n((const char *)data, size);
    Json *parts, *again;

    if (!str_is_utf8(text))
        return 0;
    if (array_items(a, text, &parts)) {
        bool ok = array_items(a, joined(a, NESTED_ARRAY, parts, "{}", "NULL"), &again);
        same(a, ok, parts, again);
    }
    if (record_fields(a, text, &parts)) {
        bool ok = record_fields(a, joined(a, NESTED_RECORD, parts, "()", ""), &again);
        same(a, ok, parts, again);
    }
    check_map(a, text);
    check_range(a, text);
    return 0;
}

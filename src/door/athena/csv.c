/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - the text of result files, and the small message that describes its columns.
 *
 * Every value stands in double quotes, quotes inside are doubled, NULL is nothing at all.  Facts of the .metadata file (a Protocol Buffers message, known
 * from clients that read it): 3 the update count, 4 a column with 1 catalog, 2 schema, 3 table, 4 name, 5 label, 6 type,
 * 7 precision, 8 scale, 9 nullable (3: unknown), 10 case-sensitive. */
#include "door/athena/athena_int.h"

void csv_cell(StrBuf *b, Str text)
{
    sb_byte(b, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"')
            sb_byte(b, '"');
        sb_byte(b, text.p[i]);
    }
    sb_byte(b, '"');
}

/* A quoted cell from after its first quote; false: its end is not in the text. */
static bool quoted(Arena *a, Str text, size_t *at, Str *ret)
{
    StrBuf b = sb_new(a);

    while (*at < text.n) {
        char c = text.p[(*at)++];
        if (c != '"')
            sb_byte(&b, c);
        else if (*at < text.n && text.p[*at] == '"')
            sb_byte(&b, text.p[(*at)++]);
        else {
            *ret = sb_str(&b);
            return *at < text.n;                        /* a line ends in a newline */
        }
    }
    return false;
}

Status csv_line(Arena *a, Str text, CsvLine *ret, Error *err)
{
    size_t at = 0;

    *ret = (CsvLine){0};
    for (;;) {
        Str cell = {0};
        if (at < text.n && text.p[at] == '"') {
            at++;
            if (!quoted(a, text, &at, &cell))
                return OK;
        }
        if (at >= text.n)
            return OK;
        char end = text.p[at++];
        if (end != ',' && end != '\n')
            return FAIL(err, E_CORRUPT, "the result file is not as it was written: byte %zu of a line is '%c'", at - 1, end);
        vec_push(a, &ret->cells, cell);
        if (end == '\n')
            break;
    }
    ret->used = at;
    ret->has = 1;
    return OK;
}

/* ---- the columns' message ------------------------------------------------------------------------------------------------------ */

static void varint(StrBuf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        sb_byte(b, (char)(v | 0x80));
    sb_byte(b, (char)v);
}

static void field_int(StrBuf *b, unsigned field, uint64_t v)
{
    varint(b, field << 3);
    varint(b, v);
}

static void field_bytes(StrBuf *b, unsigned field, Str v)
{
    varint(b, field << 3 | 2);
    varint(b, v.n);
    sb_add(b, v);
}

Str columns_proto(Arena *a, const Json *columns, int64_t update_count)
{
    static const char *const texts[] = { "CatalogName", "SchemaName", "TableName", "Name", "Label", "Type" };
    StrBuf b = sb_new(a);

    if (update_count >= 0)
        field_int(&b, 3, (uint64_t)update_count);
    for (size_t i = 0; i < json_len(columns); i++) {
        const Json *c = json_at(columns, i);
        StrBuf one = sb_new(a);
        for (size_t k = 0; k < COUNT_OF(texts); k++)
            field_bytes(&one, (unsigned)k + 1, json_get_str(c, texts[k], S("")));
        field_int(&one, 7, (uint64_t)json_get_int(c, "Precision", 0));
        field_int(&one, 8, (uint64_t)json_get_int(c, "Scale", 0));
        field_int(&one, 9, 3);
        field_int(&one, 10, json_get_bool(c, "CaseSensitive", false));
        field_bytes(&b, 4, sb_str(&one));
    }
    return sb_str(&b);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* pg_json.c - maps, and what is nested in them, as JSON text: numbers and booleans bare, the rest as strings. */
#include "door/pg/pg_int.h"

#include <math.h>

static void string_out(PgOut *o, Str s)
{
    pg_out_u8(o, '"');
    for (size_t i = 0; i < s.n && !o->bad; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '"' || c == '\\')
            pg_out_u8(o, '\\');
        if (c < 0x20)
            pg_out_fmt(o, "\\u%04x", c);
        else
            pg_out_u8(o, c);
    }
    pg_out_u8(o, '"');
}

static void quoted_text_out(PgOut *o, const Value *v)
{
    PgOut text = { 0 };

    pg_text_out(&text, v);
    string_out(o, str_n(text.p, text.n));
    o->bad |= text.bad;
    pg_out_free(&text);
}

static void list_out(PgOut *o, const Value *v)
{
    pg_out_u8(o, '[');
    for (size_t i = 0; i < v->items.n; i++) {
        if (i)
            pg_out_u8(o, ',');
        pg_json_out(o, &v->items.p[i]);
    }
    pg_out_u8(o, ']');
}

static void struct_out(PgOut *o, const Value *v)
{
    pg_out_u8(o, '{');
    for (size_t i = 0; i < v->items.n; i++) {
        if (i)
            pg_out_u8(o, ',');
        string_out(o, v->type && v->type->names ? v->type->names[i] : S(""));
        pg_out_u8(o, ':');
        pg_json_out(o, &v->items.p[i]);
    }
    pg_out_u8(o, '}');
}

static void map_out(PgOut *o, const Value *v)
{
    pg_out_u8(o, '{');
    for (size_t i = 0; i + 1 < v->items.n; i += 2) {
        if (i)
            pg_out_u8(o, ',');
        quoted_text_out(o, &v->items.p[i]);
        pg_out_u8(o, ':');
        pg_json_out(o, &v->items.p[i + 1]);
    }
    pg_out_u8(o, '}');
}

void pg_json_out(PgOut *o, const Value *v)
{
    switch (v->kind) {
    case DT_NULL: case DT_INVALID: pg_out_z(o, "null"); return;
    case DT_BOOL: pg_out_z(o, v->boolean ? "true" : "false"); return;
    case DT_INT8: case DT_INT16: case DT_INT32: case DT_INT64: case DT_UINT8: case DT_UINT16: case DT_UINT32:
    case DT_INT128: case DT_UINT64: case DT_UINT128: case DT_DECIMAL: case DT_JSON:
        pg_text_out(o, v);
        return;
    case DT_FLOAT: case DT_DOUBLE:
        if (isfinite(v->real))
            pg_text_out(o, v);
        else
            quoted_text_out(o, v);
        return;
    case DT_LIST: list_out(o, v); return;
    case DT_STRUCT: struct_out(o, v); return;
    case DT_MAP: map_out(o, v); return;
    default: quoted_text_out(o, v); return;
    }
}

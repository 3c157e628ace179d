/* SPDX-License-Identifier: Apache-2.0 */
/* pg_nested.c - ranges, records and maps on the wire: their texts, their binary forms, and what is received of them.
 *
 * What is received becomes a text that the statement casts to the type it wants (sql/bind_nested.c): so there is one reader of each form's text, and a range becomes
 * canonical in one place.  Invariant: of bytes received every length is checked and none is left over. */
#include "door/pg/pg_int.h"

#include <stdio.h>

enum { RANGE_EMPTY_FLAG = 1, RANGE_LOWER_INC = 2, RANGE_UPPER_INC = 4, RANGE_LOWER_INF = 8, RANGE_UPPER_INF = 16, RECORD_FIELDS_MAX = 10000 };

/* ---- which is which ------------------------------------------------------------------------------------------------ */

static const int32_t range_oids[RANGE_KINDS] = { [RANGE_INT4] = OID_INT4RANGE, [RANGE_INT8] = OID_INT8RANGE, [RANGE_NUM] = OID_NUMRANGE,
                                                 [RANGE_DATE] = OID_DATERANGE, [RANGE_TS] = OID_TSRANGE, [RANGE_TSTZ] = OID_TSTZRANGE };

int32_t pg_oid_of_range(RangeKind k) { return range_oids[k]; }

RangeKind pg_range_of_oid(int32_t oid)
{
    for (RangeKind k = RANGE_INT4; k < RANGE_KINDS; k++)
        if (range_oids[k] == oid)
            return k;
    return RANGE_NONE;
}

bool pg_is_nested_oid(int32_t oid) { return oid == OID_RECORD || pg_range_of_oid(oid); }

bool pg_has_fields(const DataType *t)
{
    while (t->kind == DT_LIST)
        t = &t->children[0];
    return t->kind == DT_STRUCT || t->kind == DT_MAP;
}

static int32_t bound_oid(RangeKind k) { return pg_type_oid(&data_type_of_range(k)->children[RANGE_LO]); }

/* ---- text ------------------------------------------------------------------------------------------------------------ */

static void part_out(PgOut *o, const Value *v, const DataType *t, NestedText in)
{
    size_t from = o->n;

    pg_text_as(o, v, t);
    pg_quote_from(o, from, in);
}

void pg_range_out(PgOut *o, const Value *v, const DataType *t UNUSED)
{
    const DataType *bound = &data_type_of_range(data_type_range(v->type))->children[RANGE_LO];
    const Value *p = v->items.p;

    if (p[RANGE_STATE].integer == RANGE_IS_EMPTY) {
        pg_out_z(o, "empty");
        return;
    }
    pg_out_u8(o, p[RANGE_LO_EXCLUSIVE].boolean ? '(' : '[');
    if (p[RANGE_LO].kind != DT_NULL)
        part_out(o, &p[RANGE_LO], bound, NESTED_RANGE);
    pg_out_u8(o, ',');
    if (p[RANGE_HI].kind != DT_NULL)
        part_out(o, &p[RANGE_HI], bound, NESTED_RANGE);
    pg_out_u8(o, p[RANGE_HI_INCLUSIVE].boolean ? ']' : ')');
}

void pg_map_out(PgOut *o, const Value *v, const DataType *t)
{
    const DataType *value = v->items.n ? pg_part_type(v, t, 1) : NULL;
    bool bare = value && (value->kind == DT_LIST || (value->kind == DT_MAP && value->mark == MARK_MAP));

    pg_out_u8(o, '{');
    for (size_t i = 0; i + 1 < v->items.n && !o->bad; i += 2) {
        if (i)
            pg_out_u8(o, ',');
        part_out(o, &v->items.p[i], pg_part_type(v, t, 0), NESTED_MAP);
        pg_out_z(o, "=>");
        if (v->items.p[i + 1].kind == DT_NULL)
            pg_out_z(o, "NULL");
        else if (bare)
            pg_text_as(o, &v->items.p[i + 1], value);
        else
            part_out(o, &v->items.p[i + 1], value, NESTED_MAP);
    }
    pg_out_u8(o, '}');
}

/* ---- binary ------------------------------------------------------------------------------------------------------------ */

static Status sized_out(PgOut *o, const Value *v, const DataType *t, int32_t oid, Error *err)
{
    size_t at = pg_out_len_begin(o);

    TRY(pg_binary_as(o, v, t, oid, err));
    pg_out_len_end(o, at);
    return OK;
}

Status pg_range_binary(PgOut *o, const Value *v, int32_t oid, Error *err)
{
    RangeKind k = v->type ? data_type_range(v->type) : RANGE_NONE;
    const Value *p = v->items.p;
    int flags = 0;

    if (!k || k != pg_range_of_oid(oid) || v->items.n != RANGE_FIELDS)
        return FAIL(err, E_UNSUPPORTED, "no binary form of type %d for this value", oid);
    const DataType *bound = &data_type_of_range(k)->children[RANGE_LO];
    if (p[RANGE_STATE].integer == RANGE_IS_EMPTY) {
        pg_out_u8(o, RANGE_EMPTY_FLAG);
        return OK;
    }
    flags |= p[RANGE_LO].kind == DT_NULL ? RANGE_LOWER_INF : p[RANGE_LO_EXCLUSIVE].boolean ? 0 : RANGE_LOWER_INC;
    flags |= p[RANGE_HI].kind == DT_NULL ? RANGE_UPPER_INF : p[RANGE_HI_INCLUSIVE].boolean ? RANGE_UPPER_INC : 0;
    pg_out_u8(o, flags);
    if (p[RANGE_LO].kind != DT_NULL)
        TRY(sized_out(o, &p[RANGE_LO], bound, bound_oid(k), err));
    return p[RANGE_HI].kind != DT_NULL ? sized_out(o, &p[RANGE_HI], bound, bound_oid(k), err) : OK;
}

Status pg_record_binary(PgOut *o, const Value *v, const DataType *t, Error *err)
{
    pg_out_i32(o, (int64_t)v->items.n);
    for (size_t i = 0; i < v->items.n; i++) {
        const DataType *part = pg_part_type(v, t, i);
        int32_t oid = part ? pg_type_oid(part) : OID_TEXT;
        pg_out_i32(o, oid);
        if (v->items.p[i].kind == DT_NULL)
            pg_out_i32(o, -1);
        else
            TRY(sized_out(o, &v->items.p[i], part, oid, err));
    }
    return OK;
}

/* ---- received ------------------------------------------------------------------------------------------------------------ */

static Status malformed(int32_t oid, Error *err)
{
    RAISE(err, E_INVALID, "incorrect binary data format for a value of type %d", oid);
    snprintf(err->sqlstate, sizeof err->sqlstate, "22P03");
    return E_INVALID;
}

/* A part of `size` bytes as its text, quoted. */
static Status part_in(Arena *a, PgIn *in, const DataType *t, int32_t oid, int32_t size, NestedText how, StrBuf *b, Error *err)
{
    Str bytes = pg_in_bytes(in, size < 0 ? SIZE_MAX : (size_t)size), text;
    DataType plain = pg_oid_type(oid);
    Value v;

    if (in->bad)
        return malformed(oid, err);
    if (plain.kind == DT_INVALID)
        plain.kind = DT_STRING;
    TRY(pg_binary_parse(a, t ? t : &plain, oid, bytes, &v, err));
    TRY(pg_value_text(a, &v, &text, err));
    nested_quote(b, how, text);
    return OK;
}

static Status range_in(Arena *a, RangeKind k, PgIn *in, StrBuf *b, Error *err)
{
    const DataType *bound = &data_type_of_range(k)->children[RANGE_LO];
    int flags = pg_in_u8(in);

    if (flags & RANGE_EMPTY_FLAG) {
        sb_addc(b, "empty");
        return OK;
    }
    sb_byte(b, flags & RANGE_LOWER_INC ? '[' : '(');
    if (!(flags & RANGE_LOWER_INF))
        TRY(part_in(a, in, bound, bound_oid(k), pg_in_i32(in), NESTED_RANGE, b, err));
    sb_byte(b, ',');
    if (!(flags & RANGE_UPPER_INF))
        TRY(part_in(a, in, bound, bound_oid(k), pg_in_i32(in), NESTED_RANGE, b, err));
    sb_byte(b, flags & RANGE_UPPER_INC ? ']' : ')');
    return OK;
}

static Status record_in(Arena *a, const DataType *t, int32_t oid, PgIn *in, StrBuf *b, Error *err)
{
    int32_t n = pg_in_i32(in);

    if (in->bad || n < 0 || n > RECORD_FIELDS_MAX)
        return malformed(oid, err);
    sb_byte(b, '(');
    for (int32_t i = 0; i < n; i++) {
        int32_t field = pg_in_i32(in), size = pg_in_i32(in);
        bool known = t->kind == DT_STRUCT && (size_t)i < t->nchildren && pg_has_fields(&t->children[i]);
        if (i)
            sb_byte(b, ',');
        if (in->bad || size == -1)
            continue;
        TRY(part_in(a, in, known ? &t->children[i] : NULL, field, size, NESTED_RECORD, b, err));
    }
    sb_byte(b, ')');
    return OK;
}

Status pg_nested_unbinary(Arena *a, const DataType *t, int32_t oid, Str bytes, Value *ret, Error *err)
{
    static const DataType text = { .kind = DT_STRING };
    RangeKind k = pg_range_of_oid(oid);
    PgIn in = pg_in(bytes);
    StrBuf b = sb_new(a);

    TRY(k ? range_in(a, k, &in, &b, err) : record_in(a, t, oid, &in, &b, err));
    *ret = (Value){ .kind = DT_STRING, .type = &text, .string = sb_str(&b) };
    return pg_in_done(&in) ? OK : malformed(oid, err);
}

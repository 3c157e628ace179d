/* SPDX-License-Identifier: Apache-2.0 */
/* sink_encode.c - the engine text that encodes one value.
 *
 * Every text gives NULL for NULL.  Names inside of lambdas are told apart by the length of the text that they stand in. */
#include "sink/sink_int.h"

static Str field_of(Arena *a, Str x, Str name)
{
    return str_fmt(a, "struct_extract(" STR_FMT ", " STR_FMT ")", STR_ARG(x), STR_ARG(sql_lit_str(a, name)));
}

/* The value, or what the policy makes of one that does not fit. `fits` is a condition; `says` an engine text. */
static Str guarded(Arena *a, const SinkSpec *s, Str x, Str fits, Str value, Str says)
{
    Str otherwise = s->poison == SINK_POISON_NULL ? S("NULL") : str_fmt(a, "error(" STR_FMT ")", STR_ARG(says));
    return str_fmt(a, "CASE WHEN " STR_FMT " IS NULL THEN NULL WHEN " STR_FMT " THEN " STR_FMT " ELSE " STR_FMT " END", STR_ARG(x), STR_ARG(fits), STR_ARG(value), STR_ARG(otherwise));
}

static Str decimal(Arena *a, const SinkSpec *s, const Encoding *e, Str x)
{
    Str back = data_type_sql(a, &e->from), text = str_fmt(a, "CAST(" STR_FMT " AS VARCHAR)", STR_ARG(x));
    Str value = str_fmt(a, "TRY_CAST(" STR_FMT " AS " STR_FMT ")", STR_ARG(x), STR_ARG(e->target));
    Str fits = str_fmt(a, "TRY_CAST(" STR_FMT " AS " STR_FMT ") = " STR_FMT, STR_ARG(value), STR_ARG(back), STR_ARG(x));
    Str says = str_fmt(a, "CASE WHEN lower(trim(leading '-' from " STR_FMT ")) IN ('nan', 'inf', 'infinity') THEN 'Cannot represent special numeric value ' || " STR_FMT " || ' in parquet' "
                       "WHEN " STR_FMT " IS NULL THEN 'Decimal value ' || " STR_FMT " || ' out of range for column with precision %d' "
                       "ELSE 'cannot represent decimal value ' || " STR_FMT " || ' in column with scale %d' END",
                       STR_ARG(text), STR_ARG(text), STR_ARG(value), STR_ARG(text), e->ice->precision, STR_ARG(text), e->ice->scale);

    if (e->from.kind == DT_STRING)                    /* numbers that are kept as text: 1.50 and 1.5 are one */
        fits = str_fmt(a, STR_FMT " IS NOT NULL AND length(rtrim(regexp_extract(" STR_FMT ", '\\.([0-9]*)', 1), '0')) <= %d", STR_ARG(value), STR_ARG(x), e->ice->scale);
    return guarded(a, s, x, fits, value, says);
}

static Str finite_only(Arena *a, const SinkSpec *s, Str x)
{
    Str fits = str_fmt(a, "isfinite(" STR_FMT ")", STR_ARG(x));
    Str says = str_fmt(a, "'Cannot represent special value ' || CAST(" STR_FMT " AS VARCHAR) || ' in parquet'", STR_ARG(x));
    return guarded(a, s, x, fits, x, says);
}

static Str elements(Arena *a, const SinkSpec *s, const Encoding *part, Str list)
{
    Str v = str_fmt(a, "e%zu", list.n);
    Str each = sink_encode(a, s, part, v);

    if (str_eq(each, v))
        return list;
    return str_fmt(a, "list_transform(" STR_FMT ", lambda " STR_FMT ": " STR_FMT ")", STR_ARG(list), STR_ARG(v), STR_ARG(each));
}

static Str array(Arena *a, const SinkSpec *s, const Encoding *e, Str x)
{
    Str items = x;

    for (int i = 1; i < e->dimensions; i++)
        items = str_fmt(a, "flatten(" STR_FMT ")", STR_ARG(items));
    return str_fmt(a, "CASE WHEN " STR_FMT " IS NULL THEN NULL ELSE struct_pack(items := " STR_FMT ", dimensions := CASE WHEN len(" STR_FMT ") = 0 THEN 0 ELSE %d END) END", STR_ARG(x),
                   STR_ARG(elements(a, s, e->parts[0], items)), STR_ARG(items), e->dimensions);
}

static Str map(Arena *a, const SinkSpec *s, const Encoding *e, Str x)
{
    Str values = str_fmt(a, "map_values(" STR_FMT ")", STR_ARG(x));
    Str encoded = elements(a, s, e->parts[0], values);

    if (str_eq(values, encoded))
        return x;
    return str_fmt(a, "CASE WHEN " STR_FMT " IS NULL THEN NULL ELSE map(map_keys(" STR_FMT "), " STR_FMT ") END", STR_ARG(x), STR_ARG(x), STR_ARG(encoded));
}

static Str record(Arena *a, const SinkSpec *s, const Encoding *e, Str x)
{
    StrBuf b = sb_new(a);

    sb_fmt(&b, "CASE WHEN " STR_FMT " IS NULL THEN NULL ELSE struct_pack(", STR_ARG(x));
    for (size_t i = 0; i < e->nparts; i++) {
        sb_addc(&b, i ? ", " : "");
        sql_ident(&b, e->from.names[i]);
        sb_fmt(&b, " := " STR_FMT, STR_ARG(sink_encode(a, s, e->parts[i], field_of(a, x, e->from.names[i]))));
    }
    sb_addc(&b, ") END");
    return sb_str(&b);
}

/* '[1,11)', '(,"2020-01-01 00:00:00"]', 'empty'. */
static Str bound_of(Arena *a, const Encoding *e, Str x, int upper)
{
    Str text = str_fmt(a, "nullif(trim(regexp_extract(" STR_FMT ", '^[\\[(](\"[^\"]*\"|[^,]*),(\"[^\"]*\"|[^,]*)[\\])]$', %d), '\"'), '')", STR_ARG(x), upper + 1);
    return str_fmt(a, "CAST(" STR_FMT " AS " STR_FMT ")", STR_ARG(text), STR_ARG(data_type_sql(a, &e->parts[upper]->from)));
}

static Str range(Arena *a, const SinkSpec *s, const Encoding *e, Str x)
{
    static const char *const names[] = { "lower", "upper", "lower_inclusive", "upper_inclusive", "empty" };
    StrBuf b = sb_new(a);
    Str parts[5];

    if (e->from.kind == DT_STRUCT) {                  /* as duck/duck.h describes it */
        parts[0] = field_of(a, x, e->from.names[RANGE_LO]);
        parts[1] = field_of(a, x, e->from.names[RANGE_HI]);
        parts[4] = str_fmt(a, "(" STR_FMT " = %d)", STR_ARG(field_of(a, x, e->from.names[RANGE_STATE])), RANGE_IS_EMPTY);
        parts[2] = str_fmt(a, "(" STR_FMT " = %d AND NOT " STR_FMT ")", STR_ARG(field_of(a, x, e->from.names[RANGE_STATE])), RANGE_HAS_LOWER,
                           STR_ARG(field_of(a, x, e->from.names[RANGE_LO_EXCLUSIVE])));
        parts[3] = field_of(a, x, e->from.names[RANGE_HI_INCLUSIVE]);
    } else {
        parts[0] = bound_of(a, e, x, 0);
        parts[1] = bound_of(a, e, x, 1);
        parts[2] = str_fmt(a, "starts_with(" STR_FMT ", '[')", STR_ARG(x));
        parts[3] = str_fmt(a, "suffix(" STR_FMT ", ']')", STR_ARG(x));
        parts[4] = str_fmt(a, "(" STR_FMT " = 'empty')", STR_ARG(x));
    }
    sb_fmt(&b, "CASE WHEN " STR_FMT " IS NULL THEN NULL ELSE struct_pack(", STR_ARG(x));
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        sb_fmt(&b, "%s\"%s\" := " STR_FMT, i ? ", " : "", names[i], STR_ARG(i < 2 ? sink_encode(a, s, e->parts[i], parts[i]) : parts[i]));
    sb_addc(&b, ") END");
    return sb_str(&b);
}

Str sink_encode(Arena *a, const SinkSpec *s, const Encoding *e, Str x)
{
    switch (e->conv) {
    case CONV_SAME: return x;
    case CONV_CAST: return str_fmt(a, "CAST(" STR_FMT " AS " STR_FMT ")", STR_ARG(x), STR_ARG(e->target));
    case CONV_DECIMAL: return decimal(a, s, e, x);
    case CONV_JSON: return str_fmt(a, "CAST(json(" STR_FMT ") AS VARCHAR)", STR_ARG(x));
    case CONV_FINITE: return finite_only(a, s, x);
    case CONV_UUID16: return str_fmt(a, "unhex(replace(CAST(" STR_FMT " AS VARCHAR), '-', ''))", STR_ARG(x));
    case CONV_LIST: return elements(a, s, e->parts[0], x);
    case CONV_ARRAY: return array(a, s, e, x);
    case CONV_MAP: return map(a, s, e, x);
    case CONV_STRUCT: return record(a, s, e, x);
    case CONV_RANGE: return range(a, s, e, x);
    }
    return x;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* transform.c - partition transforms (Iceberg spec "Partition Transforms", Appendix B).
 *
 * Hashes: every integer type is hashed as 8 little-endian bytes, dates too; nanosecond moments are first rounded down
 * to microseconds.  Times are UTC always; divisions round down. */
#include "iceberg/iceberg_int.h"

static const struct { const char *name; TransformKind kind; } NAMES[] = {
    { "identity", TRANSFORM_IDENTITY }, { "bucket", TRANSFORM_BUCKET }, { "truncate", TRANSFORM_TRUNCATE },
    { "year", TRANSFORM_YEAR },         { "month", TRANSFORM_MONTH },   { "day", TRANSFORM_DAY },
    { "hour", TRANSFORM_HOUR },         { "void", TRANSFORM_VOID },
};

/* "bucket[16]" */
static bool has_width(TransformKind k) { return k == TRANSFORM_BUCKET || k == TRANSFORM_TRUNCATE; }

IceTransform ice_transform_parse(Str text)
{
    IceTransform unknown = { .kind = TRANSFORM_UNKNOWN, .text = text };
    Str name, rest;
    int64_t width = 0;

    str_cut(text, '[', &name, &rest);
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        if (!str_ieq(name, str_c(NAMES[i].name)))
            continue;
        if (!has_width(NAMES[i].kind))
            return rest.n ? unknown : (IceTransform){ .kind = NAMES[i].kind, .text = text };
        if (!str_ends(rest, S("]")) || !str_to_i64(str_sub(rest, 0, rest.n - 1), &width) || width < 1 || width > INT32_MAX)
            return unknown;
        return (IceTransform){ .kind = NAMES[i].kind, .width = (int)width, .text = text };
    }
    return unknown;
}

Str ice_transform_text(Arena *a, const IceTransform *t)
{
    if (t->kind == TRANSFORM_UNKNOWN)
        return t->text;
    return has_width(t->kind) ? str_fmt(a, "%s[%d]", NAMES[t->kind].name, t->width) : str_c(NAMES[t->kind].name);
}

IceType *ice_transform_result(Arena *a, const IceTransform *t, const IceType *source)
{
    switch (t->kind) {
    case TRANSFORM_BUCKET:
    case TRANSFORM_YEAR:
    case TRANSFORM_MONTH:
    case TRANSFORM_HOUR: return ice_type_new(a, ICE_INT);
    case TRANSFORM_DAY: return ice_type_new(a, ICE_DATE);
    case TRANSFORM_UNKNOWN: return ice_type_new(a, ICE_STRING);
    default: break;
    }
    IceType *same = arena_new(a, IceType);
    *same = *source;
    return same;
}

/* ---- bucket ----------------------------------------------------------------------------------------------------- */

static uint32_t hash_long(int64_t v)
{
    char b[8];
    for (int i = 0; i < 8; i++)
        b[i] = (char)((uint64_t)v >> (8 * i) & 0xff);
    return murmur3_32(str_n(b, 8));
}

static bool hash_value(Arena *a, const IceType *t, const IceValue *v, uint32_t *h)
{
    switch (t->kind) {
    case ICE_INT:
    case ICE_LONG:
    case ICE_DATE:
    case ICE_TIME:
    case ICE_TIMESTAMP:
    case ICE_TIMESTAMPTZ: *h = hash_long(v->integer); return true;
    case ICE_TIMESTAMP_NS:
    case ICE_TIMESTAMPTZ_NS: *h = hash_long(ice_floor_div(v->integer, 1000)); return true;
    case ICE_DECIMAL: *h = murmur3_32(ice_decimal_bytes(a, v->decimal)); return true;
    case ICE_STRING:
    case ICE_UUID:
    case ICE_FIXED:
    case ICE_BINARY: *h = murmur3_32(v->bytes); return true;
    default: return false;
    }
}

/* ---- truncate ---------------------------------------------------------------------------------------------------- */

Str ice_utf8_prefix(Str s, int64_t code_points)
{
    size_t i = 0;

    while (i < s.n && ((s.p[i] & 0xc0) == 0x80 || code_points-- > 0))
        i++;
    return str_sub(s, 0, i);
}

static __int128 cut_down(__int128 v, int width)
{
    return v - ((v % width) + width) % width;
}

static bool truncate_value(const IceTransform *t, const IceType *source, IceValue *v)
{
    switch (source->kind) {
    case ICE_INT: v->integer = (int32_t)(uint32_t)(uint64_t)cut_down(v->integer, t->width); return true;
    case ICE_LONG: v->integer = (int64_t)(uint64_t)cut_down(v->integer, t->width); return true;
    case ICE_DECIMAL: v->decimal = cut_down(v->decimal, t->width); return true;
    case ICE_STRING: v->bytes = ice_utf8_prefix(v->bytes, t->width); return true;
    case ICE_BINARY: v->bytes = str_sub(v->bytes, 0, (size_t)t->width); return true;
    default: return false;
    }
}

/* ---- year, month, day, hour ------------------------------------------------------------------------------------------ */

static bool day_and_hour(const IceType *source, int64_t v, int64_t *days, int64_t *hours)
{
    switch (source->kind) {
    case ICE_DATE: *days = v; *hours = 0; return true;
    case ICE_TIMESTAMP:
    case ICE_TIMESTAMPTZ: *hours = ice_floor_div(v, 3600000000); break;
    case ICE_TIMESTAMP_NS:
    case ICE_TIMESTAMPTZ_NS: *hours = ice_floor_div(v, 3600000000000); break;
    default: return false;
    }
    *days = ice_floor_div(*hours, 24);
    return true;
}

static bool calendar_value(TransformKind kind, const IceType *source, IceValue *v)
{
    int64_t days, hours;

    if (!day_and_hour(source, v->integer, &days, &hours) || (kind == TRANSFORM_HOUR && source->kind == ICE_DATE))
        return false;
    CalendarDay d = calendar_day(days);
    switch (kind) {
    case TRANSFORM_YEAR: v->integer = d.year - 1970; break;
    case TRANSFORM_MONTH: v->integer = (d.year - 1970) * 12 + d.month - 1; break;
    case TRANSFORM_DAY: v->integer = days; break;
    default: v->integer = hours; break;
    }
    return true;
}

/* ---- apply ------------------------------------------------------------------------------------------------------------- */

static bool compute(Arena *a, const IceTransform *t, const IceType *source, IceValue *v)
{
    uint32_t h = 0;

    switch (t->kind) {
    case TRANSFORM_IDENTITY: return source->kind < ICE_UNKNOWN;
    case TRANSFORM_VOID: v->null = 1; return true;
    case TRANSFORM_BUCKET:
        if (!hash_value(a, source, v, &h))
            return false;
        v->integer = (int64_t)(h & 0x7fffffff) % t->width;
        return true;
    case TRANSFORM_TRUNCATE: return truncate_value(t, source, v);
    case TRANSFORM_UNKNOWN: return false;
    default: return calendar_value(t->kind, source, v);
    }
}

Status ice_transform_apply(Arena *a, const IceTransform *t, const IceType *source, const IceValue *v, IceValue *ret, Error *err)
{
    IceValue out = *v, probe = { .kind = source->kind, .bytes = S("") };
    IceType *result = ice_transform_result(a, t, source);

    if (v->null) {
        probe.null = 0;
        out = probe;
    }
    if (!compute(a, t, source, &out)) {
        Str name = ice_transform_text(a, t), type = ice_type_text(a, source);
        return FAIL(err, E_INVALID, "Invalid source type " STR_FMT " for transform: " STR_FMT, STR_ARG(type), STR_ARG(name));
    }
    out.null |= v->null;
    out.kind = result->kind;
    out.scale = result->scale;
    *ret = out;
    return OK;
}

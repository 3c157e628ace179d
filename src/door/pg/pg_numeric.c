/* SPDX-License-Identifier: Apache-2.0 */
/* pg_numeric.c - numeric: text, and the binary form of base-10000 digits with a weight (PostgreSQL's numeric.c).
 *
 * A value is a 128-bit integer with a scale; 38 digits fit.  What does not fit is E_OVERFLOW, NaN and the infinities
 * are E_INVALID: no DECIMAL can hold them. */
#include "door/pg/pg_int.h"

#include <stdio.h>

enum { DIGITS = 38, NUMERIC_NEG = 0x4000, NUMERIC_SPECIAL = 0xC000, GROUPS = 32, SCALE_MAX = 1000 };

/* The digits of |v|, most significant first, without leading zeros ("" for 0). */
static Str digits_of(unsigned __int128 v, char buf[48])
{
    int at = 48;
    while (v) {
        buf[--at] = (char)('0' + (int)(v % 10));
        v /= 10;
    }
    return str_n(buf + at, (size_t)(48 - at));
}

void pg_numeric_out(PgOut *o, __int128 v, int scale)
{
    char buf[48];
    Str d = digits_of(v < 0 ? -(unsigned __int128)v : (unsigned __int128)v, buf);
    size_t places = (size_t)scale, whole = d.n > places ? d.n - places : 0;

    if (v < 0)
        pg_out_u8(o, '-');
    pg_out_bytes(o, whole ? str_n(d.p, whole) : S("0"));
    if (!places)
        return;
    pg_out_u8(o, '.');
    for (size_t i = d.n; i < places; i++)
        pg_out_u8(o, '0');
    pg_out_bytes(o, str_from(d, whole));
}

void pg_unsigned_out(PgOut *o, unsigned __int128 v)
{
    char buf[48];
    pg_out_bytes(o, v ? digits_of(v, buf) : S("0"));
}

void pg_numeric_pack(PgOut *o, __int128 v, int scale)
{
    unsigned __int128 abs = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
    int16_t groups[GROUPS];
    int n = 0, pad = (4 - scale % 4) % 4, low = 0;
    unsigned __int128 first = abs;

    /* groups of four digits, least significant first; the lowest is filled up to a whole group of fraction digits */
    static const int tens[] = { 1, 10, 100, 1000 };
    if (scale % 4) {
        groups[n++] = (int16_t)((int)(first % (unsigned)tens[scale % 4]) * tens[pad]);
        first /= (unsigned)tens[scale % 4];
    }
    for (; first; first /= 10000)
        groups[n++] = (int16_t)(first % 10000);
    int weight = n - 1 - (scale + 3) / 4;
    while (low < n && !groups[low])
        low++;
    while (n > low && !groups[n - 1]) {
        n--;
        weight--;
    }
    pg_out_i16(o, n - low);
    pg_out_i16(o, n > low ? weight : 0);
    pg_out_i16(o, v < 0 ? NUMERIC_NEG : 0);
    pg_out_i16(o, scale);
    for (int i = n - 1; i >= low; i--)
        pg_out_i16(o, groups[i]);
}

/* ---- in ------------------------------------------------------------------------------------------------------- */

/* Fixed-point accumulation with a limit of digits. */
typedef struct { unsigned __int128 v; int digits, scale, negative, lost; } Acc;

static void add_digit(Acc *a, int d, int fraction)
{
    if (a->v || d)
        a->digits++;
    if (a->digits > DIGITS) {                            /* digits behind the point beyond 38 are rounded off below */
        if (!fraction)
            a->lost = 1;
        return;
    }
    a->v = a->v * 10 + (unsigned)d;
    a->scale += fraction;
}

static Status too_large(Error *err)
{
    return FAIL(err, E_OVERFLOW, "numeric value does not fit into %d digits", DIGITS);
}

static Value made(Arena *a, __int128 v, int scale)
{
    DataType *t = arena_new(a, DataType);
    *t = (DataType){ .kind = DT_DECIMAL, .precision = DIGITS, .scale = scale };
    return (Value){ .kind = DT_DECIMAL, .type = t, .wide = v };
}

static Status ten_power(Acc *acc, int64_t exponent, Error *err)
{
    if (exponent > 4 * DIGITS || exponent < -4 * DIGITS)
        return too_large(err);
    for (; exponent > 0; exponent--) {
        if (acc->scale > 0)
            acc->scale--;
        else
            add_digit(acc, 0, 0);
    }
    acc->scale -= (int)exponent;
    for (; acc->scale > DIGITS; acc->scale--)
        acc->v /= 10;
    return OK;
}

static Status syntax(Str text, Error *err)
{
    RAISE(err, E_INVALID, "invalid input syntax for type numeric: \"" STR_FMT "\"", STR_ARG(str_sub(text, 0, 80)));
    snprintf(err->sqlstate, sizeof err->sqlstate, "22P02");
    return E_INVALID;
}

static Status scan_number(Str text, Acc *acc, Error *err)
{
    Str s = str_trim(text);
    size_t i = 0, seen = 0;
    int fraction = 0;
    int64_t exponent = 0;

    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
        acc->negative = s.p[i++] == '-';
    for (; i < s.n; i++) {
        if (s.p[i] >= '0' && s.p[i] <= '9')
            seen++, add_digit(acc, s.p[i] - '0', fraction);
        else if (s.p[i] == '.' && !fraction)
            fraction = 1;
        else
            break;
    }
    if (!seen)
        return syntax(text, err);
    if (i < s.n && (s.p[i] | 32) == 'e') {
        size_t from = i + 1 + (i + 1 < s.n && s.p[i + 1] == '+');
        if (!str_to_i64(str_from(s, from), &exponent))
            return syntax(text, err);
        i = s.n;
    }
    return i == s.n ? ten_power(acc, exponent, err) : syntax(text, err);
}

Status pg_numeric_parse(Arena *a, const DataType *t, Str text, Value *ret, Error *err)
{
    Acc acc = { 0 };

    TRY(scan_number(text, &acc, err));
    if (acc.lost)
        return too_large(err);
    *ret = made(a, acc.negative ? -(__int128)acc.v : (__int128)acc.v, acc.scale);
    return pg_numeric_rescale(t, ret, err);
}

Status pg_numeric_unpack(Arena *a, Str bytes, Value *ret, Error *err)
{
    PgIn in = pg_in(bytes);
    int n = (uint16_t)pg_in_i16(&in), weight = pg_in_i16(&in), sign = (uint16_t)pg_in_i16(&in), scale = (uint16_t)pg_in_i16(&in);
    Acc acc = { 0 };

    if (in.bad || (size_t)n * 2 != pg_in_left(&in) || scale > SCALE_MAX)
        return FAIL(err, E_INVALID, "malformed binary numeric");
    if (sign & 0x8000)
        return FAIL(err, E_INVALID, "numeric NaN and infinity cannot be stored");
    acc.negative = sign == NUMERIC_NEG;
    int last = -(scale + 3) / 4;                         /* the weight of the last group that the scale shows */
    int top = weight > last ? weight : last;
    if (top > GROUPS || last < -SCALE_MAX)
        return too_large(err);
    if (n && weight < -1)                                /* zeros between the point and the first group */
        acc.scale = 4 * (-1 - weight);
    for (int i = 0; i < n; i++, weight--) {
        int g = (uint16_t)pg_in_i16(&in);
        if (g > 9999)
            return FAIL(err, E_INVALID, "malformed binary numeric");
        for (int k = 1000; k; k /= 10)
            if (weight >= 0 || acc.scale < scale)
                add_digit(&acc, g / k % 10, weight < 0);
    }
    for (; n && weight >= 0; weight--)
        for (int k = 0; k < 4; k++)
            add_digit(&acc, 0, 0);
    if (acc.lost)
        return too_large(err);
    while (acc.scale < scale && acc.scale < DIGITS && acc.digits < DIGITS)
        add_digit(&acc, 0, 1);
    for (; acc.scale > DIGITS || acc.scale > scale; acc.scale--)
        acc.v /= 10;
    *ret = made(a, acc.negative ? -(__int128)acc.v : (__int128)acc.v, acc.scale);
    return OK;
}

/* Half away from zero, as PostgreSQL rounds. */
Status pg_numeric_rescale(const DataType *t, Value *v, Error *err)
{
    __int128 x = v->wide, limit = 1;

    if (t->kind != DT_DECIMAL || t->precision <= 0)
        return OK;
    for (int i = 0; i < t->precision; i++)
        limit *= 10;
    int from = v->type->scale;
    for (; from < t->scale; from++) {
        if (x >= limit / 10 || x <= -limit / 10)         /* the product would not fit */
            break;
        x *= 10;
    }
    for (; from > t->scale + 1; from--)
        x /= 10;
    if (from == t->scale + 1)
        x = (x + (x < 0 ? -5 : 5)) / 10;
    if (from < t->scale || x >= limit || x <= -limit) {
        RAISE(err, E_OVERFLOW, "numeric field overflow: a value does not fit into numeric(%d,%d)", t->precision, t->scale);
        return E_OVERFLOW;
    }
    v->wide = x;
    v->type = t;
    return OK;
}

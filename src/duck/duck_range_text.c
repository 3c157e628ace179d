/* SPDX-License-Identifier: Apache-2.0 */
/* duck_range_text.c - ranges from texts and to them; the form is codec's (nested_text.c), the bounds' texts are read here. */
#include "duck/duck_range.h"

#include "codec/codec.h"

static const char *bound_word(RangeKind k)
{
    static const char *const words[RANGE_KINDS] = { [RANGE_INT4] = "integer", [RANGE_INT8] = "bigint", [RANGE_NUM] = "numeric", [RANGE_DATE] = "date", [RANGE_TS] = "timestamp",
                                                    [RANGE_TSTZ] = "timestamp with time zone" };
    return words[k];
}

/* ---- from text --------------------------------------------------------------------------------------------------------------- */

static bool whole_of(RangeKind k, Str s, __int128 *ret)
{
    int64_t v;

    if (!str_to_i64(str_trim(s), &v) || (k == RANGE_INT4 && (v > INT32_MAX || v < INT32_MIN)))
        return false;
    *ret = v;
    return true;
}

/* By the engine's own casts, which give these where there is no value. */
static bool time_of(RangeKind k, Str s, __int128 *ret)
{
    duckdb_value v = duckdb_create_varchar_length(s.p ? s.p : "", s.n);
    int64_t none = k == RANGE_DATE ? INT32_MIN : INT64_MIN;

    *ret = k == RANGE_DATE ? duckdb_get_date(v).days : k == RANGE_TS ? duckdb_get_timestamp(v).micros : duckdb_get_timestamp_tz(v).micros;
    duckdb_destroy_value(&v);
    return *ret != none;
}

/* Digits with a point, and no more than fit; rounded half up, away from zero. */
static bool decimal_of(Str s, __int128 *ret)
{
    static const unsigned __int128 MOST = (unsigned __int128)10000000000000000000ULL * 10000000000000000000ULL - 1;      /* 38 digits */
    unsigned __int128 v = 0;
    int behind = -1, round = 0, digits = 0;

    s = str_trim(s);
    bool negative = s.n && s.p[0] == '-';
    for (size_t i = negative || (s.n && s.p[0] == '+'); i < s.n; i++) {
        if (s.p[i] == '.' && behind < 0) {
            behind = 0;
            continue;
        }
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        digits++;
        if (behind >= RANGE_NUM_SCALE) {
            round = behind == RANGE_NUM_SCALE ? s.p[i] >= '5' : round;
            behind++;
            continue;
        }
        if (v > MOST / 10)
            return false;
        v = v * 10 + (unsigned)(s.p[i] - '0');
        behind += behind >= 0;
    }
    for (int i = behind < 0 ? 0 : behind; i < RANGE_NUM_SCALE; i++) {
        if (v > MOST / 10)
            return false;
        v *= 10;
    }
    v += (unsigned)round;
    *ret = negative ? -(__int128)v : (__int128)v;
    return digits > 0 && v <= MOST;
}

static bool bound_of(RangeKind k, Str s, __int128 *ret)
{
    if (k == RANGE_NUM)
        return decimal_of(s, ret);
    return k == RANGE_INT4 || k == RANGE_INT8 ? whole_of(k, s, ret) : time_of(k, s, ret);
}

enum { SHOWN_BYTES = 200 };

static Str shown(Str s)
{
    size_t n = min_size(s.n, SHOWN_BYTES);
    while (n < s.n && n && ((unsigned char)s.p[n] & 0xC0) == 0x80)
        n--;
    return str_sub(s, 0, n);
}

const char *range_of_text(Arena *a, RangeKind k, Str text, Range *r)
{
    RangeText t;

    if (!range_parts(a, text, &t))
        return str_fmt(a, "malformed range literal: \"" STR_FMT "\" SQLSTATE: 22P02", STR_ARG(shown(text))).p;
    *r = (Range){ .state = RANGE_IS_EMPTY };
    if (t.empty)
        return NULL;
    *r = (Range){ .state = t.lower.n ? RANGE_HAS_LOWER : RANGE_NO_LOWER, .has_hi = t.upper.n > 0, .lo_ex = !t.lower_inclusive, .hi_in = t.upper_inclusive };
    for (int i = 0; i < 2; i++) {
        const StrVec *b = i ? &t.upper : &t.lower;
        if (b->n && !bound_of(k, b->p[0], i ? &r->hi : &r->lo))
            return str_fmt(a, "invalid input syntax for type %s: \"" STR_FMT "\" SQLSTATE: 22P02", bound_word(k), STR_ARG(shown(b->p[0]))).p;
    }
    return range_canonical(k, r);
}

/* ---- to text ------------------------------------------------------------------------------------------------------------------ */

static void decimal_text(StrBuf *b, __int128 v)
{
    char digits[48];
    size_t n = 0;
    unsigned __int128 u = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;

    for (; u || n <= RANGE_NUM_SCALE; u /= 10)
        digits[n++] = (char)('0' + (int)(u % 10));
    size_t keep = 0;                                       /* zeros behind the last digit are not shown */
    while (keep < RANGE_NUM_SCALE && digits[keep] == '0')
        keep++;
    if (v < 0)
        sb_byte(b, '-');
    while (n > RANGE_NUM_SCALE)
        sb_byte(b, digits[--n]);
    if (keep < RANGE_NUM_SCALE)
        sb_byte(b, '.');
    while (n > keep)
        sb_byte(b, digits[--n]);
}

static void moment_text(Arena *a, StrBuf *b, RangeKind k, __int128 v)
{
    duckdb_value x = k == RANGE_DATE ? duckdb_create_date((duckdb_date){ (int32_t)v })
                   : k == RANGE_TS ? duckdb_create_timestamp((duckdb_timestamp){ (int64_t)v }) : duckdb_create_timestamp_tz((duckdb_timestamp){ (int64_t)v });
    char *text = duckdb_get_varchar(x);

    nested_quote(b, NESTED_RANGE, str_dup(a, str_c(text)));
    duckdb_free(text);
    duckdb_destroy_value(&x);
}

static void bound_text(Arena *a, StrBuf *b, RangeKind k, __int128 v)
{
    if (k == RANGE_NUM)
        decimal_text(b, v);
    else if (k == RANGE_INT4 || k == RANGE_INT8)
        sb_fmt(b, "%lld", (long long)v);
    else
        moment_text(a, b, k, v);
}

Str range_to_text(Arena *a, RangeKind k, const Range *r)
{
    StrBuf b = sb_new(a);

    if (range_is_empty(r))
        return S("empty");
    sb_byte(&b, r->lo_ex ? '(' : '[');
    if (r->state == RANGE_HAS_LOWER)
        bound_text(a, &b, k, r->lo);
    sb_byte(&b, ',');
    if (r->has_hi)
        bound_text(a, &b, k, r->hi);
    sb_byte(&b, r->hi_in ? ']' : ')');
    return sb_str(&b);
}

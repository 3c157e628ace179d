/* SPDX-License-Identifier: Apache-2.0 */
/* duck_range_math.c - ranges compared and combined as PostgreSQL does it.
 *
 * Invariant: what range_canonical has passed is the one form of its set of values; comparing and combining take and leave such. */
#include "duck/duck_range.h"

/* ---- one range ---------------------------------------------------------------------------------------------------- */

static bool is_whole(RangeKind k) { return k == RANGE_INT4 || k == RANGE_INT8 || k == RANGE_DATE; }

static const Range EMPTY = { .state = RANGE_IS_EMPTY };

static int sign(__int128 x, __int128 y) { return (x > y) - (x < y); }

static int cmp_lower(const Range *a, const Range *b)
{
    if (a->state != b->state || a->state == RANGE_NO_LOWER)
        return sign(a->state, b->state);
    int c = sign(a->lo, b->lo);
    return c ? c : (int)a->lo_ex - (int)b->lo_ex;
}

static int cmp_upper(const Range *a, const Range *b)
{
    if (!a->has_hi || !b->has_hi)
        return (int)b->has_hi - (int)a->has_hi;
    int c = sign(a->hi, b->hi);
    return c ? c : (int)a->hi_in - (int)b->hi_in;
}

/* Every value of a is below every value of b; both are not empty. */
static bool before(const Range *a, const Range *b)
{
    if (!a->has_hi || b->state != RANGE_HAS_LOWER)
        return false;
    return a->hi < b->lo || (a->hi == b->lo && (!a->hi_in || b->lo_ex));
}

bool range_is_empty(const Range *r) { return r->state == RANGE_IS_EMPTY; }
bool range_overlaps(const Range *a, const Range *b) { return !range_is_empty(a) && !range_is_empty(b) && !before(a, b) && !before(b, a); }
static bool touches(const Range *a, const Range *b) { return a->has_hi && b->state == RANGE_HAS_LOWER && a->hi == b->lo && a->hi_in == b->lo_ex; }
bool range_adjacent(const Range *a, const Range *b) { return !range_is_empty(a) && !range_is_empty(b) && (touches(a, b) || touches(b, a)); }
bool range_contains(const Range *a, const Range *b) { return range_is_empty(b) || (!range_is_empty(a) && cmp_lower(a, b) <= 0 && cmp_upper(a, b) >= 0); }
bool range_before(const Range *a, const Range *b) { return !range_is_empty(a) && !range_is_empty(b) && before(a, b); }
bool range_no_right(const Range *a, const Range *b) { return !range_is_empty(a) && !range_is_empty(b) && cmp_upper(a, b) <= 0; }
bool range_no_left(const Range *a, const Range *b) { return !range_is_empty(a) && !range_is_empty(b) && cmp_lower(a, b) >= 0; }

bool range_has(const Range *r, __int128 x)
{
    if (range_is_empty(r))
        return false;
    if (r->state == RANGE_HAS_LOWER && (x < r->lo || (x == r->lo && r->lo_ex)))
        return false;
    return !r->has_hi || x < r->hi || (x == r->hi && r->hi_in);
}

/* ---- canonical ------------------------------------------------------------------------------------------------------ */

static __int128 most_of(RangeKind k) { return k == RANGE_INT8 ? INT64_MAX : INT32_MAX; }

/* Infinite dates are values of their own: nothing follows them. */
static bool steps(RangeKind k, __int128 v) { return is_whole(k) && (k != RANGE_DATE || (v != INT32_MAX && v != -INT32_MAX)); }

static const char *step(RangeKind k, __int128 *v)
{
    if (*v >= most_of(k) - (k == RANGE_DATE))
        return k == RANGE_INT4 ? "integer out of range SQLSTATE: 22003" : k == RANGE_INT8 ? "bigint out of range SQLSTATE: 22003" : "date out of range SQLSTATE: 22008";
    ++*v;
    return NULL;
}

/* NULL, or what is wrong. */
const char *range_canonical(RangeKind k, Range *r)
{
    const char *wrong = NULL;

    if (range_is_empty(r)) {
        *r = EMPTY;
        return NULL;
    }
    bool finite = r->state == RANGE_HAS_LOWER && r->has_hi;
    if (finite && r->lo > r->hi)
        return "range lower bound must be less than or equal to range upper bound SQLSTATE: 22000";
    if (finite && r->lo == r->hi && (r->lo_ex || !r->hi_in)) {
        *r = EMPTY;
        return NULL;
    }
    if (r->state == RANGE_HAS_LOWER && r->lo_ex && steps(k, r->lo)) {
        wrong = step(k, &r->lo);
        r->lo_ex = false;
    }
    if (!wrong && r->has_hi && r->hi_in && steps(k, r->hi)) {
        wrong = step(k, &r->hi);
        r->hi_in = false;
    }
    if (r->state == RANGE_NO_LOWER)
        *r = (Range){ .state = RANGE_NO_LOWER, .lo_ex = true, .has_hi = r->has_hi, .hi_in = r->hi_in, .hi = r->hi };
    if (!r->has_hi)
        *r = (Range){ .state = r->state, .lo_ex = r->lo_ex, .lo = r->lo };
    if (!wrong && finite && r->lo >= r->hi && !(r->lo == r->hi && r->hi_in && !r->lo_ex))
        *r = EMPTY;
    return wrong;
}

/* ---- sets ------------------------------------------------------------------------------------------------------------- */

static void take_lower(Range *r, const Range *from) { r->state = from->state, r->lo = from->lo, r->lo_ex = from->lo_ex; }
static void take_upper(Range *r, const Range *from) { r->has_hi = from->has_hi, r->hi = from->hi, r->hi_in = from->hi_in; }

const char *range_union(const Range *a, const Range *b, Range *ret)
{
    if (range_is_empty(a) || range_is_empty(b)) {
        *ret = range_is_empty(a) ? *b : *a;
        return NULL;
    }
    if (!range_overlaps(a, b) && !range_adjacent(a, b))
        return "result of range union would not be contiguous SQLSTATE: 22000";
    take_lower(ret, cmp_lower(a, b) <= 0 ? a : b);
    take_upper(ret, cmp_upper(a, b) >= 0 ? a : b);
    return NULL;
}

const char *range_intersect(const Range *a, const Range *b, Range *ret)
{
    *ret = EMPTY;
    if (!range_overlaps(a, b))
        return NULL;
    take_lower(ret, cmp_lower(a, b) >= 0 ? a : b);
    take_upper(ret, cmp_upper(a, b) <= 0 ? a : b);
    return NULL;
}

const char *range_minus(const Range *a, const Range *b, Range *ret)
{
    *ret = *a;
    if (!range_overlaps(a, b))
        return NULL;
    bool left = cmp_lower(a, b) < 0, right = cmp_upper(a, b) > 0;
    if (left && right)
        return "result of range difference would not be contiguous SQLSTATE: 22000";
    if (!left && !right)
        *ret = EMPTY;
    else if (left)
        ret->has_hi = true, ret->hi = b->lo, ret->hi_in = b->lo_ex;
    else
        ret->state = RANGE_HAS_LOWER, ret->lo = b->hi, ret->lo_ex = b->hi_in;
    return NULL;
}

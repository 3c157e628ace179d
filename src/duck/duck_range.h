/* SPDX-License-Identifier: Apache-2.0 */
/* duck_range.h - one range outside of the engine; private to duck_range*.c.  Bounds are whole numbers: of integers, days, microseconds, 10^-10. */
#ifndef FIRN_DUCK_RANGE_H
#define FIRN_DUCK_RANGE_H

#include "duck/duck_int.h"

enum { RANGE_NUM_WIDTH = 38, RANGE_NUM_SCALE = 10 };

typedef struct Range { int state; bool lo_ex, has_hi, hi_in; __int128 lo, hi; } Range;

/* duck_range_math.c. What may fail gives NULL, or the text of its error. */
const char *range_canonical(RangeKind k, Range *r);
bool range_is_empty(const Range *r);
bool range_has(const Range *r, __int128 x);
bool range_overlaps(const Range *a, const Range *b);
bool range_adjacent(const Range *a, const Range *b);
bool range_contains(const Range *a, const Range *b);
bool range_before(const Range *a, const Range *b);
bool range_no_right(const Range *a, const Range *b);
bool range_no_left(const Range *a, const Range *b);
const char *range_union(const Range *a, const Range *b, Range *ret);
const char *range_intersect(const Range *a, const Range *b, Range *ret);
const char *range_minus(const Range *a, const Range *b, Range *ret);

/* duck_range_text.c */
const char *range_of_text(Arena *a, RangeKind k, Str text, Range *r);
Str range_to_text(Arena *a, RangeKind k, const Range *r);

#endif

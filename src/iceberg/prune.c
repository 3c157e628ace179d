/* SPDX-License-Identifier: Apache-2.0 */
/* prune.c - may a file or a manifest hold a row that a predicate accepts?
 *
 * The answer no must be certain.  What writers say of bounds is often wrong (spec/iceberg.md 3.6), so:
 * 1. a bound that does not decode, NaN bounds and inverted bounds count as absent; 2. uuids are never compared (writers
 * disagree on their order); 3. NaN is above every number and outside of all bounds; 4. only top-level columns have
 * usable null counts; 5. a column that a file has no statistics for is unknown: it may have been added later. */
#include "iceberg/iceberg_int.h"

#include <math.h>

static bool is_real(IceTypeKind k) { return k == ICE_FLOAT || k == ICE_DOUBLE; }
static bool is_text(IceTypeKind k) { return k == ICE_STRING || k == ICE_BINARY || k == ICE_FIXED; }

/* Kinds of which values can be compared with each other. */
static bool comparable(const IceValue *x, const IceValue *y)
{
    if (x->kind == ICE_UUID || y->kind == ICE_UUID)
        return false;
    if (is_text(x->kind) || is_text(y->kind))
        return is_text(x->kind) && is_text(y->kind);
    if (is_real(x->kind) || is_real(y->kind))
        return is_real(x->kind) && is_real(y->kind);
    return (x->kind == ICE_DECIMAL) == (y->kind == ICE_DECIMAL);
}

/* ---- one range ------------------------------------------------------------------------------------------------- */

static bool has_lower(const IceRange *r, const IceValue *v) { return r->has_lower && comparable(&r->lower, v); }
static bool has_upper(const IceRange *r, const IceValue *v) { return r->has_upper && comparable(&r->upper, v); }

static bool is_nan(const IceValue *v) { return is_real(v->kind) && isnan(v->real); }

static bool may_equal(const IceRange *r, const IceValue *v)
{
    if (v->null)
        return false;
    if (is_nan(v))
        return r->may_nan;
    if (!r->may_value)
        return false;
    if (has_lower(r, v) && ice_value_cmp(v, &r->lower) < 0)
        return false;
    return !has_upper(r, v) || ice_value_cmp(v, &r->upper) <= 0;
}

static bool may_be_below(const IceRange *r, const IceValue *v, int or_equal)
{
    if (v->null)
        return false;
    if (is_nan(v))
        return r->may_value || (or_equal && r->may_nan);
    return r->may_value && (!has_lower(r, v) || ice_value_cmp(&r->lower, v) < (or_equal ? 1 : 0));
}

static bool may_be_above(const IceRange *r, const IceValue *v, int or_equal)
{
    if (v->null)
        return false;
    if (is_nan(v))
        return or_equal && r->may_nan;
    return r->may_nan || (r->may_value && (!has_upper(r, v) || ice_value_cmp(&r->upper, v) > (or_equal ? -1 : 0)));
}

/* Texts that start with the prefix lie between the prefix and the last text that starts with it. */
static bool may_start(const IceRange *r, const IceValue *v)
{
    if (v->null || !r->may_value)
        return false;
    if (!is_text(v->kind))
        return true;
    if (has_lower(r, v) && str_cmp(str_sub(r->lower.bytes, 0, v->bytes.n), v->bytes) > 0)
        return false;
    return !has_upper(r, v) || str_cmp(str_sub(r->upper.bytes, 0, v->bytes.n), v->bytes) >= 0;
}

static bool any_of(const IcePredicate *p, const IceRange *r)
{
    for (size_t i = 0; i < p->n; i++)
        if (may_equal(r, &p->values[i]))
            return true;
    return false;
}

bool ice_range_may_match(const IcePredicate *p, const IceRange *r)
{
    switch (p->op) {
    case PRED_IS_NULL: return r->may_null;
    case PRED_NOT_NULL: return r->may_value || r->may_nan;
    case PRED_IN: return any_of(p, r);
    default: break;
    }
    if (!p->n)
        return true;
    switch (p->op) {
    case PRED_EQ: return may_equal(r, &p->values[0]);
    case PRED_LT: return may_be_below(r, &p->values[0], 0);
    case PRED_LE: return may_be_below(r, &p->values[0], 1);
    case PRED_GT: return may_be_above(r, &p->values[0], 0);
    case PRED_GE: return may_be_above(r, &p->values[0], 1);
    case PRED_STARTS: return may_start(r, &p->values[0]);
    default: return r->may_value || r->may_nan;
    }
}

static void drop_bad_bounds(IceRange *r)
{
    if (r->has_lower && is_nan(&r->lower))
        r->has_lower = 0;
    if (r->has_upper && is_nan(&r->upper))
        r->has_upper = 0;
    if (r->has_lower && r->has_upper && ice_value_cmp(&r->lower, &r->upper) > 0)
        r->has_lower = r->has_upper = 0;
}

/* ---- column statistics of a file ------------------------------------------------------------------------------------ */

typedef VEC(IceCount) Counts;
typedef VEC(IceBound) Bounds;

static OptI64 count_of(const void *list, int32_t id)
{
    const Counts *counts = list;
    for vec_each(const IceCount, c, counts)
        if (c->id == id)
            return SOME_I64(c->n);
    return (OptI64){ 0 };
}

static int bound_of(Arena *a, const void *list, int32_t id, const IceType *t, IceValue *ret)
{
    const Bounds *bounds = list;
    for vec_each(const IceBound, b, bounds)
        if (b->id == id)
            return ice_value_decode(a, t, b->bytes, ret);
    return 0;
}

static IceRange column_range(Arena *a, const IceField *col, const IceFile *f)
{
    OptI64 values = count_of(&f->value_counts, col->id), nulls = count_of(&f->null_counts, col->id);
    OptI64 nans = count_of(&f->nan_counts, col->id);
    IceRange r = { .may_null = 1, .may_nan = is_real(col->type->kind), .may_value = 1 };

    if (nulls.has && nulls.v == 0)
        r.may_null = 0;
    if (nulls.has && values.has && values.v > 0 && nulls.v == values.v)
        r.may_value = r.may_nan = 0;
    if (nans.has && nans.v == 0)
        r.may_nan = 0;
    r.has_lower = bound_of(a, &f->lower, col->id, col->type, &r.lower);
    r.has_upper = bound_of(a, &f->upper, col->id, col->type, &r.upper);
    drop_bad_bounds(&r);
    return r;
}

/* ---- through a transform ------------------------------------------------------------------------------------------------- */

static bool keeps_order(TransformKind k)
{
    return k == TRANSFORM_IDENTITY || k == TRANSFORM_TRUNCATE || (k >= TRANSFORM_YEAR && k <= TRANSFORM_HOUR);
}

/* Before 1970 old writers rounded times towards zero: partitions of such moments cannot be trusted to a unit. */
static bool transformed(Arena *a, const IcePredicate *p, const IceTransform *t, const IceType *source, IcePredicate *out)
{
    bool calendar = t->kind >= TRANSFORM_YEAR && t->kind <= TRANSFORM_HOUR;
    Error ignored;

    *out = *p;
    out->values = arena_array(a, IceValue, p->n + 1);
    for (size_t i = 0; i < p->n; i++) {
        if (ice_transform_apply(a, t, source, &p->values[i], &out->values[i], &ignored) != OK)
            return false;
        if (calendar && !out->values[i].null && out->values[i].integer <= 0)
            return false;
    }
    return true;
}

/* The predicate on the partition value that every row accepted by p fulfils. false: none. */
static bool project(Arena *a, const IcePredicate *p, const IceTransform *t, const IceType *source, IcePredicate *out)
{
    bool ordered = keeps_order(t->kind), identity = t->kind == TRANSFORM_IDENTITY;

    if (!ordered && t->kind != TRANSFORM_BUCKET)
        return false;
    switch (p->op) {
    case PRED_IS_NULL:
    case PRED_NOT_NULL: *out = *p; return true;
    case PRED_NE: return false;
    case PRED_EQ:
    case PRED_IN: return transformed(a, p, t, source, out);
    case PRED_STARTS:
        if (t->kind == TRANSFORM_TRUNCATE && ice_utf8_prefix(p->values[0].bytes, t->width).n < p->values[0].bytes.n) {
            bool good = transformed(a, p, t, source, out);
            out->op = PRED_EQ;
            return good;
        }
        *out = *p;
        return identity || t->kind == TRANSFORM_TRUNCATE;
    default: break;
    }
    if (!ordered || !transformed(a, p, t, source, out))
        return false;
    if (!identity)
        out->op = p->op == PRED_LT ? PRED_LE : p->op == PRED_GT ? PRED_GE : p->op;
    return true;
}

/* Does the predicate look at the values in the kind that the column has now? */
static bool well_typed(const IcePredicate *p, const IceType *t)
{
    for (size_t i = 0; i < p->n; i++)
        if (!p->values[i].null && p->values[i].kind != t->kind)
            return false;
    return true;
}

static IceRange value_range(const IceValue *v)
{
    bool real = is_real(v->kind);
    IceRange r = { .may_null = v->null, .may_nan = !v->null && real && isnan(v->real) };

    r.may_value = !v->null && !r.may_nan;
    r.has_lower = r.has_upper = r.may_value;
    r.lower = r.upper = *v;
    return r;
}

static IceRange summary_range(Arena *a, const IceSummary *s, const IceType *t)
{
    IceRange r = { .may_null = s->contains_null, .may_value = 1 };

    r.may_nan = is_real(t->kind) && (s->contains_nan || !s->has_nan);
    r.has_lower = s->has_lower && ice_value_decode(a, t, s->lower, &r.lower);
    r.has_upper = s->has_upper && ice_value_decode(a, t, s->upper, &r.upper);
    drop_bad_bounds(&r);
    return r;
}

/* ---- files and manifests --------------------------------------------------------------------------------------------------- */

typedef struct PartitionView { const IceSpec *spec; const IceFile *file; const IceManifest *manifest; } PartitionView;

static IceRange partition_range(Arena *a, const PartitionView *v, size_t i, const IceType *result)
{
    return v->file ? value_range(&v->file->partition[i]) : summary_range(a, &v->manifest->partitions.p[i], result);
}

static bool partition_may_match(Arena *a, const IceField *col, const PartitionView *v, const IcePredicate *p)
{
    size_t known = v->file ? v->file->npartition : v->manifest->partitions.n;

    for (size_t i = 0; v->spec && i < v->spec->fields.n && i < known; i++) {
        const IcePartitionField *f = &v->spec->fields.p[i];
        IcePredicate q;
        if (f->source_id != col->id || f->source_ids.n > 1 || !project(a, p, &f->transform, col->type, &q))
            continue;
        IceRange r = partition_range(a, v, i, ice_transform_result(a, &f->transform, col->type));
        if (!ice_range_may_match(&q, &r))
            return false;
    }
    return true;
}

/* The top-level column of a predicate that can be used at all. */
static const IceField *usable(const IceMetadata *m, const IcePredicate *p)
{
    const IceSchema *s = ice_current_schema(m);
    const IceField *col = s ? ice_top_field(s, p->field_id) : NULL;

    return col && !ice_is_nested(col->type) && well_typed(p, col->type) ? col : NULL;
}

bool ice_file_may_match(Arena *a, const IceMetadata *m, const IceFile *f, const IcePredicates *where)
{
    PartitionView view = { .spec = ice_spec(m, f->spec_id), .file = f };

    for (size_t i = 0; where && i < where->n; i++) {
        const IceField *col = usable(m, &where->p[i]);
        if (!col)
            continue;
        IceRange r = column_range(a, col, f);
        if (!ice_range_may_match(&where->p[i], &r) || !partition_may_match(a, col, &view, &where->p[i]))
            return false;
    }
    return true;
}

bool ice_manifest_may_match(Arena *a, const IceMetadata *m, const IceManifest *mf, const IcePredicates *where)
{
    PartitionView view = { .spec = ice_spec(m, mf->spec_id), .manifest = mf };

    for (size_t i = 0; where && i < where->n; i++) {
        const IceField *col = usable(m, &where->p[i]);
        if (col && !partition_may_match(a, col, &view, &where->p[i]))
            return false;
    }
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* spec_order.c - partition specs and sort orders, and the path of a partition.
 *
 * A field id of 0 means: not given (format v1, or a request that leaves it to us). */
#include "iceberg/iceberg_int.h"

#define READ_SOURCES(j, f, err) do {                                                     \
    const Json *many_ = json_get((j), "source-ids");                                     \
    for (size_t i_ = 0; i_ < json_len(many_); i_++)                                      \
        if (json_is(json_at(many_, i_), JSON_INT))                                       \
            vec_push(a, &(f)->source_ids, (int32_t)json_at(many_, i_)->integer);         \
    if (!(f)->source_ids.n)                                                              \
        TRY(ice_need_i32((j), "source-id", &(f)->source_id, (err)));                     \
    else                                                                                 \
        (f)->source_id = (f)->source_ids.p[0];                                           \
} while (0)

static Status partition_field(Arena *a, const Json *j, IcePartitionField *f, Error *err)
{
    Str transform;

    READ_SOURCES(j, f, err);
    f->field_id = ice_opt_i32(j, "field-id").v;
    TRY(json_need_str(j, "name", &f->name, err));
    TRY(json_need_str(j, "transform", &transform, err));
    f->transform = ice_transform_parse(transform);
    return OK;
}

static Status partition_fields(Arena *a, const Json *list, IceSpec *s, Error *err)
{
    Map names = map_new(a);

    for (size_t i = 0; i < json_len(list); i++) {
        IcePartitionField f = { 0 };
        TRY_CTX(partition_field(a, json_at(list, i), &f, err), err, "partition spec %d", (int)s->id);
        if (map_has(&names, f.name))
            return FAIL(err, E_INVALID, "Cannot use partition name more than once: " STR_FMT, STR_ARG(f.name));
        map_put(&names, f.name, (void *)1);
        vec_push(a, &s->fields, f);
    }
    return OK;
}

/* An object with `fields`, or the bare array that format v1 and manifest headers have. */
Status ice_spec_parse(Arena *a, const Json *j, IceSpec **ret, Error *err)
{
    IceSpec *s = arena_new(a, IceSpec);
    const Json *list = json_is(j, JSON_ARRAY) ? j : json_get(j, "fields");

    if (!json_is(list, JSON_ARRAY))
        return FAIL(err, E_INVALID, "Cannot parse partition spec: no fields");
    s->id = ice_opt_i32(j, "spec-id").v;
    TRY(partition_fields(a, list, s, err));
    *ret = s;
    return OK;
}

static Status sort_field(Arena *a, const Json *j, IceSortField *f, Error *err)
{
    Str transform;
    Str direction = json_get_str(j, "direction", S("asc"));

    READ_SOURCES(j, f, err);
    TRY(json_need_str(j, "transform", &transform, err));
    f->transform = ice_transform_parse(transform);
    f->descending = str_ieq(direction, S("desc"));
    if (!f->descending && !str_ieq(direction, S("asc")))
        return FAIL(err, E_INVALID, "Invalid sort direction: " STR_FMT, STR_ARG(direction));
    Str nulls = json_get_str(j, "null-order", f->descending ? S("nulls-last") : S("nulls-first"));
    f->nulls_last = str_ieq(nulls, S("nulls-last"));
    if (!f->nulls_last && !str_ieq(nulls, S("nulls-first")))
        return FAIL(err, E_INVALID, "Invalid null order: " STR_FMT, STR_ARG(nulls));
    return OK;
}

Status ice_order_parse(Arena *a, const Json *j, IceSortOrder **ret, Error *err)
{
    IceSortOrder *o = arena_new(a, IceSortOrder);
    Json *list;

    o->id = ice_opt_i32(j, "order-id").v;
    TRY_CTX(json_need(j, "fields", JSON_ARRAY, &list, err), err, "sort order");
    for (size_t i = 0; i < list->array.n; i++) {
        IceSortField f = { 0 };
        TRY_CTX(sort_field(a, list->array.p[i], &f, err), err, "sort order %d", (int)o->id);
        vec_push(a, &o->fields, f);
    }
    if (!o->id && o->fields.n)
        return FAIL(err, E_INVALID, "Sort order ID 0 is reserved for unsorted order");
    *ret = o;
    return OK;
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

static void set_sources(Arena *a, Json *o, int32_t source, const int32_t *ids, size_t n)
{
    if (n < 2) {
        json_set(a, o, "source-id", json_int(a, source));
        return;
    }
    Json *many = json_array(a);
    for (size_t i = 0; i < n; i++)
        json_push(a, many, json_int(a, ids[i]));
    json_set(a, o, "source-ids", many);
}

Json *ice_spec_json(Arena *a, const IceSpec *s)
{
    Json *o = json_object(a), *list = json_array(a);

    for vec_each(const IcePartitionField, f, &s->fields) {
        Json *j = json_object(a);
        json_set(a, j, "name", json_str(a, f->name));
        json_set(a, j, "transform", json_str(a, ice_transform_text(a, &f->transform)));
        set_sources(a, j, f->source_id, f->source_ids.p, f->source_ids.n);
        json_set(a, j, "field-id", json_int(a, f->field_id));
        json_push(a, list, j);
    }
    json_set(a, o, "spec-id", json_int(a, s->id));
    json_set(a, o, "fields", list);
    return o;
}

Json *ice_order_json(Arena *a, const IceSortOrder *s)
{
    Json *o = json_object(a), *list = json_array(a);

    for vec_each(const IceSortField, f, &s->fields) {
        Json *j = json_object(a);
        json_set(a, j, "transform", json_str(a, ice_transform_text(a, &f->transform)));
        set_sources(a, j, f->source_id, f->source_ids.p, f->source_ids.n);
        json_set(a, j, "direction", json_str(a, f->descending ? S("desc") : S("asc")));
        json_set(a, j, "null-order", json_str(a, f->nulls_last ? S("nulls-last") : S("nulls-first")));
        json_push(a, list, j);
    }
    json_set(a, o, "order-id", json_int(a, s->id));
    json_set(a, o, "fields", list);
    return o;
}

/* ---- comparing ------------------------------------------------------------------------------------------------------ */

static bool transform_same(const IceTransform *x, const IceTransform *y)
{
    return x->kind == y->kind && x->width == y->width && (x->kind != TRANSFORM_UNKNOWN || str_eq(x->text, y->text));
}

bool ice_spec_compatible(const IceSpec *x, const IceSpec *y)
{
    if (x->fields.n != y->fields.n)
        return false;
    for (size_t i = 0; i < x->fields.n; i++) {
        const IcePartitionField *f = &x->fields.p[i], *g = &y->fields.p[i];
        if (f->source_id != g->source_id || !str_eq(f->name, g->name) || !transform_same(&f->transform, &g->transform))
            return false;
    }
    return true;
}

bool ice_order_same(const IceSortOrder *x, const IceSortOrder *y)
{
    if (x->fields.n != y->fields.n)
        return false;
    for (size_t i = 0; i < x->fields.n; i++) {
        const IceSortField *f = &x->fields.p[i], *g = &y->fields.p[i];
        if (f->source_id != g->source_id || f->descending != g->descending || f->nulls_last != g->nulls_last
            || !transform_same(&f->transform, &g->transform))
            return false;
    }
    return true;
}

/* ---- partitions ----------------------------------------------------------------------------------------------------------- */

int32_t ice_partition_source(const IcePartitionField *f) { return f->source_id; }

IceType *ice_partition_type(Arena *a, const IceMetadata *m, const IcePartitionField *f)
{
    const IceField *source = ice_field_any(m, f->source_id);
    return source ? ice_transform_result(a, &f->transform, source->type) : NULL;
}

bool ice_is_unpartitioned(const IceSpec *s)
{
    for vec_each(const IcePartitionField, f, &s->fields)
        if (f->transform.kind != TRANSFORM_VOID)
            return false;
    return true;
}

int32_t ice_spec_last_id(const IceSpec *s)
{
    int32_t last = FIRST_PARTITION_ID - 1;
    for vec_each(const IcePartitionField, f, &s->fields)
        last = f->field_id > last ? f->field_id : last;
    return last;
}

static Str hour_text(Arena *a, int64_t hours)
{
    StrBuf b = sb_new(a);
    ice_date_write(&b, ice_floor_div(hours, 24));
    sb_fmt(&b, "-%02d", (int)ice_floor_mod(hours, 24));
    return sb_str(&b);
}

static Str segment_text(Arena *a, const IceTransform *t, const IceType *source, const IceValue *v)
{
    if (v->null)
        return S("null");
    switch (t->kind) {
    case TRANSFORM_YEAR: return str_fmt(a, "%04lld", (long long)v->integer + 1970);
    case TRANSFORM_MONTH:
        return str_fmt(a, "%04lld-%02d", (long long)ice_floor_div(v->integer, 12) + 1970, (int)ice_floor_mod(v->integer, 12) + 1);
    case TRANSFORM_HOUR: return hour_text(a, v->integer);
    default: return ice_value_text(a, ice_transform_result(a, t, source), v);
    }
}

Str ice_partition_path(Arena *a, const IceSpec *spec, const IceSchema *s, const IceValue *values)
{
    StrBuf b = sb_new(a);
    IceType text = { .kind = ICE_STRING };

    for (size_t i = 0; i < spec->fields.n; i++) {
        const IcePartitionField *f = &spec->fields.p[i];
        const IceField *source = ice_field_by_id(s, f->source_id);
        if (i)
            sb_byte(&b, '/');
        sb_add(&b, url_encode(a, f->name, 0));
        sb_byte(&b, '=');
        sb_add(&b, url_encode(a, segment_text(a, &f->transform, source ? source->type : &text, &values[i]), 0));
    }
    return sb_str(&b);
}

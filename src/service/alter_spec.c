/* SPDX-License-Identifier: Apache-2.0 */
/* alter_spec.c - partition fields, write order, identifier fields, branches and tags.
 *
 * The rules and names are those of the reference's UpdatePartitionSpec, ReplaceSortOrder and ManageSnapshots. */
#include "service/alter_int.h"

/* ---- partition fields ------------------------------------------------------------------------------------------------------------ */

static IceSpec *spec_to_edit(Alter *x)
{
    const IceSpec *now = ice_spec(x->table.meta, x->table.meta->default_spec_id);

    if (x->spec)
        return x->spec;
    x->spec = arena_new(x->r->a, IceSpec);
    x->spec->id = -1;
    for (size_t i = 0; now && i < now->fields.n; i++)
        vec_push(x->r->a, &x->spec->fields, now->fields.p[i]);
    return x->spec;
}

/* identity: the column; bucket: c_bucket_16; truncate: c_trunc_4; times: c_day */
static Str default_name(Arena *a, const PartitionField *p, const IceTransform *t, Str plain)
{
    if (p->alias.n || t->kind == TRANSFORM_IDENTITY || !p->width)
        return plain;
    return str_fmt(a, STR_FMT "_%d", STR_ARG(plain), p->width);
}

static Status partition_of(Alter *x, const PartitionField *p, IcePartitionField *ret, Error *err)
{
    const IceField *f = alter_field_named(x->r->a, alter_see(x), p->column);
    IceValue null = { .null = 1 }, out;

    *ret = (IcePartitionField){0};
    TRY(ddl_transform(x->r, p, &ret->transform, &ret->name, err));
    ret->name = default_name(x->r->a, p, &ret->transform, ret->name);
    if (!f)
        return alter_no_column(x->r, &x->name, p->column, err);
    ret->source_id = f->id;
    return ice_transform_apply(x->r->a, &ret->transform, f->type, &null, &out, err);
}

static bool is_time(TransformKind k) { return k == TRANSFORM_YEAR || k == TRANSFORM_MONTH || k == TRANSFORM_DAY || k == TRANSFORM_HOUR; }

static bool same_transform(const IcePartitionField *x, const IcePartitionField *y)
{
    return x->source_id == y->source_id && x->transform.kind == y->transform.kind && x->transform.width == y->transform.width;
}

static Status add_partition(Alter *x, const PartitionField *p, Error *err)
{
    IceSpec *spec = spec_to_edit(x);
    IcePartitionField f;

    TRY(partition_of(x, p, &f, err));
    for (size_t i = 0; i < spec->fields.n; i++) {
        const IcePartitionField *old = &spec->fields.p[i];
        if (same_transform(old, &f))
            return FAIL(err, E_EXISTS, "Cannot add duplicate partition field " STR_FMT ", conflicts with " STR_FMT, STR_ARG(f.name), STR_ARG(old->name));
        if (old->source_id == f.source_id && is_time(old->transform.kind) && is_time(f.transform.kind))
            return FAIL(err, E_INVALID, "Cannot add redundant partition field: " STR_FMT ", conflicts with " STR_FMT, STR_ARG(f.name), STR_ARG(old->name));
        if (str_eq(old->name, f.name))
            return FAIL(err, E_EXISTS, "Cannot add partition field with name '" STR_FMT "': it is used by another field; give one by AS", STR_ARG(f.name));
    }
    const IceField *column = ice_field_by_name(alter_see(x), f.name);
    if (column && (column->id != f.source_id || f.transform.kind != TRANSFORM_IDENTITY))
        return FAIL(err, E_INVALID, "Cannot create partition field named '" STR_FMT "': a column has that name", STR_ARG(f.name));
    vec_push(x->r->a, &spec->fields, f);
    return OK;
}

/* By the field's own name, or by transform and column. */
static ptrdiff_t find_partition(Alter *x, const IceSpec *spec, const PartitionField *p)
{
    const IceField *source = alter_field_named(x->r->a, alter_see(x), p->column);
    IcePartitionField want = { .source_id = source ? source->id : -1 };
    Error ignored;
    Str name;

    for (size_t i = 0; str_eq(p->transform, S("identity")) && i < spec->fields.n; i++)
        if (str_ieq(spec->fields.p[i].name, p->column) && spec->fields.p[i].transform.kind != TRANSFORM_VOID)
            return (ptrdiff_t)i;
    if (!source || ddl_transform(x->r, p, &want.transform, &name, &ignored) != OK)
        return -1;
    for (size_t i = 0; i < spec->fields.n; i++)
        if (same_transform(&spec->fields.p[i], &want))
            return (ptrdiff_t)i;
    return -1;
}

/* Format 1 knows fields by their place: a dropped one becomes void. */
static Status drop_partition(Alter *x, const PartitionField *p, Error *err)
{
    IceSpec *spec = spec_to_edit(x);
    ptrdiff_t at = find_partition(x, spec, p);

    if (at < 0)
        return FAIL(err, E_INVALID, "Cannot find partition field to remove: " STR_FMT "(" STR_FMT ")", STR_ARG(p->transform), STR_ARG(p->column));
    if (x->table.meta->format_version == 1 && x->format_version < 2) {
        spec->fields.p[at].transform = ice_transform_parse(S("void"));
        return OK;
    }
    for (size_t i = (size_t)at; i + 1 < spec->fields.n; i++)
        spec->fields.p[i] = spec->fields.p[i + 1];
    spec->fields.n--;
    return OK;
}

Status alter_partition(Alter *x, const AlterAction *act, Error *err)
{
    switch (act->kind) {
    case AT_ADD_PARTITION: return add_partition(x, &act->partitions.p[0], err);
    case AT_DROP_PARTITION: return drop_partition(x, &act->partitions.p[0], err);
    default:
        TRY(drop_partition(x, &act->partitions.p[0], err));
        return add_partition(x, &act->partitions.p[1], err);
    }
}

/* ---- write order -------------------------------------------------------------------------------------------------------------------- */

static Str transform_of_function(Str name)
{
    static const char *const names[][2] = { { "bucket", "bucket" }, { "truncate", "truncate" }, { "year", "year" }, { "years", "year" }, { "month", "month" },
                                            { "months", "month" }, { "day", "day" }, { "days", "day" }, { "date", "day" }, { "hour", "hour" },
                                            { "hours", "hour" }, { "date_hour", "hour" } };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_ieq(name, str_c(names[i][0])))
            return str_c(names[i][1]);
    return (Str){0};
}

static bool literal_int(const Expr *e, int64_t *ret)
{
    bool is = e->kind == EX_LITERAL && e->value.kind >= DT_INT8 && e->value.kind <= DT_INT64;
    if (is)
        *ret = e->value.integer;
    return is;
}

/* column, or transform(column), transform(n, column), transform(column, n) */
static Status order_field(Run *r, const Name *table, const IceSchema *s, const Expr *e, IceSortField *ret, Error *err)
{
    const Expr *column = e;
    int64_t width = 0;
    Str text = S("identity");

    if (e->kind == EX_FUNCTION) {
        Str name = vec_last(&e->func->name);
        text = transform_of_function(name);
        if (str_ieq(name, S("zorder")))
            return FAIL(err, E_UNSUPPORTED, "zorder is not supported");
        for (size_t i = 0; i < e->args.n; i++)
            if (!literal_int(e->args.p[i], &width))
                column = e->args.p[i];
        if (width > 0 && width <= INT32_MAX && text.n)
            text = str_fmt(r->a, STR_FMT "[%d]", STR_ARG(text), (int)width);
    }
    if (column->kind != EX_COLUMN || !text.n)
        return FAIL(err, E_INVALID, "a write order is made of columns and of bucket, truncate, year, month, day and hour over columns");
    const IceField *f = alter_field(s, &column->name);
    if (!f)
        return alter_no_column(r, table, str_join(r->a, &column->name, S(".")), err);
    if (f->type->fields.n)
        return FAIL(err, E_INVALID, "Cannot sort by '" STR_FMT "': it is of a nested type", STR_ARG(f->name));
    ret->source_id = f->id;
    ret->transform = ice_transform_parse(text);
    IceValue null = { .null = 1 }, out;
    return ice_transform_apply(r->a, &ret->transform, f->type, &null, &out, err);
}

Status alter_order_of(Run *r, const Name *table, const IceSchema *s, const OrderVec *items, IceSortOrder **ret, Error *err)
{
    IceSortOrder *o = arena_new(r->a, IceSortOrder);

    for (size_t i = 0; i < items->n; i++) {
        IceSortField f = { .descending = items->p[i].descending };
        TRY(order_field(r, table, s, items->p[i].expr, &f, err));
        f.nulls_last = items->p[i].nulls_first < 0 ? f.descending : !items->p[i].nulls_first;
        vec_push(r->a, &o->fields, f);
    }
    o->id = -1;
    *ret = o;
    return OK;
}

Status alter_write_order(Alter *x, const AlterAction *act, Error *err)
{
    for (size_t i = 0; i < act->props.n; i++)
        props_set(x->r->a, &x->set, act->props.p[i].key, act->props.p[i].value);
    return alter_order_of(x->r, &x->name, alter_see(x), &act->order, &x->order, err);
}

/* ---- identifier fields ---------------------------------------------------------------------------------------------------------------- */

/* Every field on the way must be a required struct field: identifiers are never null and never many. */
static Status check_identifier(Alter *x, const IceSchema *s, Str name, const IceField **ret, Error *err)
{
    StrVec path = {0};
    const IceField *f = alter_field_named(x->r->a, s, name);

    *ret = f;
    if (!f)
        return alter_no_column(x->r, &x->name, name, err);
    if (f->type->fields.n)
        return FAIL(err, E_INVALID, "Cannot add field " STR_FMT " as an identifier field: not a primitive type field", STR_ARG(name));
    if (f->type->kind == ICE_FLOAT || f->type->kind == ICE_DOUBLE)
        return FAIL(err, E_INVALID, "Cannot add field " STR_FMT " as an identifier field: must not be float or double field", STR_ARG(name));
    if (!f->required)
        return FAIL(err, E_INVALID, "Cannot add field " STR_FMT " as an identifier field: not a required field", STR_ARG(name));
    str_split(x->r->a, name, '.', &path);
    for (size_t n = 1; n < path.n && !ddl_field(s, name); n++) {
        StrVec prefix = { .p = path.p, .n = n };
        const IceField *outer = alter_field(s, &prefix);
        if (!outer || outer->type->kind != ICE_STRUCT || !outer->required)
            return FAIL(err, E_INVALID, "Cannot add field " STR_FMT " as an identifier field: must not be nested in an optional field, a list or a map", STR_ARG(name));
    }
    return OK;
}

Status alter_identifiers(Alter *x, const AlterAction *act, Error *err)
{
    IceSchema *s = alter_schema(x);

    if (act->kind == AT_SET_IDENTIFIER)
        s->identifiers.n = 0;
    for (size_t i = 0; i < act->names.n; i++) {
        const IceField *f = alter_field_named(x->r->a, s, act->names.p[i]);
        bool gone = false;
        if (act->kind == AT_SET_IDENTIFIER) {
            TRY(check_identifier(x, s, act->names.p[i], &f, err));
            vec_push(x->r->a, &s->identifiers, f->id);
            continue;
        }
        for (size_t k = 0; f && k < s->identifiers.n && !gone; k++)
            if (s->identifiers.p[k] == f->id) {
                s->identifiers.p[k] = vec_last(&s->identifiers);
                s->identifiers.n--;
                gone = true;
            }
        if (!gone)
            return FAIL(err, E_INVALID, "Cannot complete drop identifier fields operation: " STR_FMT " is not an identifier field", STR_ARG(act->names.p[i]));
    }
    return OK;
}

/* ---- branches and tags ------------------------------------------------------------------------------------------------------------------ */

static void expect_ref(Alter *x, Str name, const IceRef *now)
{
    OptI64 at = now ? SOME_I64(now->snapshot_id) : (OptI64){0};
    vec_push(x->r->a, &x->ref_requirements, ((IceRequirement){ .kind = RQ_REF_SNAPSHOT, .text = name, .number = at }));
}

static Status wrong_kind(const IceRef *now, const AlterAction *act, Error *err)
{
    if (!now || str_eq(now->type, act->ref_kind))
        return OK;
    return FAIL(err, E_INVALID, "Ref " STR_FMT " is a " STR_FMT " not a " STR_FMT, STR_ARG(act->ref), STR_ARG(now->type), STR_ARG(act->ref_kind));
}

static Status no_ref(const AlterAction *act, Error *err)
{
    return FAIL(err, E_NOT_FOUND, "%s does not exist: " STR_FMT, str_eq(act->ref_kind, S("tag")) ? "Tag" : "Branch", STR_ARG(act->ref));
}

static Status ref_snapshot(Alter *x, const AlterAction *act, int64_t *ret, Error *err)
{
    const IceMetadata *m = x->table.meta;

    if (!act->version.has && !m->current_snapshot_id.has)
        return FAIL(err, E_INVALID, "Cannot complete create or replace " STR_FMT " operation on " STR_FMT ", main has no snapshot", STR_ARG(act->ref_kind), STR_ARG(name_display(x->r->a, &x->name)));
    *ret = act->version.has ? act->version.v : m->current_snapshot_id.v;
    if (!ice_snapshot(m, *ret))
        return FAIL(err, E_NOT_FOUND, "Cannot set " STR_FMT " to unknown snapshot: %lld", STR_ARG(act->ref), (long long)*ret);
    return OK;
}

static Status create_ref(Alter *x, const AlterAction *act, const IceRef *now, Error *err)
{
    IceRef ref = now ? *now : (IceRef){ .name = act->ref, .type = act->ref_kind };

    if (now && act->if_not_exists)
        return OK;
    if (now && !act->replace)
        return FAIL(err, E_EXISTS, "Ref " STR_FMT " already exists", STR_ARG(act->ref));
    if (!now && act->if_exists)                            /* REPLACE BRANCH */
        return no_ref(act, err);
    TRY(ref_snapshot(x, act, &ref.snapshot_id, err));
    if (act->retain_ms.has)
        ref.max_ref_age_ms = act->retain_ms;
    if (act->snapshot_retain_ms.has)
        ref.max_snapshot_age_ms = act->snapshot_retain_ms;
    if (act->min_snapshots.has && (act->min_snapshots.v < 1 || act->min_snapshots.v > INT32_MAX))
        return FAIL(err, E_INVALID, "Min snapshots to keep must be greater than 0");
    if (act->min_snapshots.has)
        ref.min_snapshots = SOME_I32((int32_t)act->min_snapshots.v);
    expect_ref(x, act->ref, now);
    vec_push(x->r->a, &x->refs, ((IceUpdate){ .kind = UP_SET_REF, .text = act->ref, .ref = ref }));
    return OK;
}

Status alter_ref(Alter *x, const AlterAction *act, Error *err)
{
    const IceRef *now = ice_ref(x->table.meta, act->ref);

    TRY(wrong_kind(now, act, err));
    if (act->kind == AT_CREATE_REF)
        return create_ref(x, act, now, err);
    if (str_eq(act->ref, S("main")))
        return FAIL(err, E_INVALID, "Cannot remove main branch");
    if (!now)
        return act->if_exists ? OK : no_ref(act, err);
    expect_ref(x, act->ref, now);
    vec_push(x->r->a, &x->refs, ((IceUpdate){ .kind = UP_REMOVE_REF, .text = act->ref }));
    return OK;
}

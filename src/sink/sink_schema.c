/* SPDX-License-Identifier: Apache-2.0 */
/* sink_schema.c - the table that a sink writes: schema, partitions, order.
 *
 * Field ids are given depth first from 1; a catalog may give others, so a table is always met by name.  Identifier fields are set where every key column is NOT NULL. */
#include "sink/sink_int.h"

static bool among(const StrVec *names, Str name)
{
    for vec_each(const Str, s, names)
        if (str_eq(*s, name))
            return true;
    return false;
}

/* Equal names get a number: a, a2. */
static Str unique_name(Arena *a, const IceSchema *s, Str name)
{
    Str try = name;

    for (int n = 2; ice_field_by_name(s, try); n++)
        try = str_fmt(a, STR_FMT "%d", STR_ARG(name), n);
    return try;
}

static void append_column(Arena *a, IceSchema *s, const char *name, IceTypeKind kind, int32_t *id)
{
    IceField f = { .id = (*id)++, .name = str_c(name), .required = 1, .type = arena_new(a, IceType) };

    f.type->kind = kind;
    vec_push(a, &s->fields, f);
}

static void identifiers(Arena *a, const SinkSpec *s, IceSchema *schema)
{
    for vec_each(const Str, k, &s->key) {
        const IceField *f = ice_field_by_name(schema, *k);
        if (!f || !f->required || f->type->fields.n) {
            schema->identifiers.n = 0;
            return;
        }
        vec_push(a, &schema->identifiers, f->id);
    }
}

Status sink_encodings(Arena *a, const SinkSpec *s, Encodings *ret, IceSchema **schema, Error *err)
{
    IceSchema *r = arena_new(a, IceSchema);
    StrBuf bad = sb_new(a);
    int32_t id = 1;

    for vec_each(const SinkColumn, c, &s->columns) {
        IceField f = { .id = id++, .name = unique_name(a, r, c->name), .required = c->not_null };
        Encoding *e = sink_encoding(a, s, c->sql_type, &c->type, &id);
        if (!e) {
            sb_fmt(&bad, "%s\"" STR_FMT "\": " STR_FMT, bad.n ? ", " : "", STR_ARG(c->name), STR_ARG(c->sql_type.n ? c->sql_type : data_type_sql(a, &c->type)));
            continue;
        }
        f.type = e->ice;
        if (s->poison == SINK_POISON_NULL && (e->conv == CONV_DECIMAL || e->conv == CONV_FINITE) && !among(&s->key, c->name))
            f.required = 0;
        vec_push(a, &r->fields, f);
        vec_push(a, ret, e);
    }
    if (bad.n)
        return FAIL(err, E_UNSUPPORTED, "Cannot encode the following columns/types: [" STR_FMT "]", STR_ARG(sb_str(&bad)));
    if (s->mode == SINK_APPEND) {
        append_column(a, r, "_mz_diff", ICE_INT, &id);
        append_column(a, r, "_mz_timestamp", ICE_LONG, &id);
    } else
        identifiers(a, s, r);
    *schema = r;
    return OK;
}

Status sink_schema(Arena *a, const SinkSpec *s, IceSchema **ret, Error *err)
{
    Encodings e = {0};
    return sink_encodings(a, s, &e, ret, err);
}

bool sink_key_type(const SinkColumn *c)
{
    switch (c->type.kind) {
    case DT_FLOAT: case DT_DOUBLE: case DT_LIST: case DT_MAP: case DT_STRUCT: case DT_NULL: case DT_INVALID: case DT_OTHER:
        return false;
    default:
        return !str_ends(c->sql_type, S("range"));
    }
}

/* ---- partitions ------------------------------------------------------------------------------------------------------------ */

static Str partition_name(Arena *a, Str column, const IceTransform *t)
{
    static const char *const suffix[] = { [TRANSFORM_BUCKET] = "bucket", [TRANSFORM_TRUNCATE] = "trunc", [TRANSFORM_YEAR] = "year", [TRANSFORM_MONTH] = "month",
                                          [TRANSFORM_DAY] = "day", [TRANSFORM_HOUR] = "hour" };
    return t->kind == TRANSFORM_IDENTITY ? column : str_fmt(a, STR_FMT "_%s", STR_ARG(column), suffix[t->kind]);
}

static Status transform_of(Arena *a, const SinkPartition *p, IceTransform *ret, Error *err)
{
    Str text = p->width > 0 ? str_fmt(a, STR_FMT "[%d]", STR_ARG(p->transform), p->width) : p->transform.n ? p->transform : S("identity");

    *ret = ice_transform_parse(text);
    bool sized = ret->kind == TRANSFORM_BUCKET || ret->kind == TRANSFORM_TRUNCATE;
    if (ret->kind == TRANSFORM_UNKNOWN || ret->kind == TRANSFORM_VOID || (sized && ret->width <= 0))
        return FAIL(err, E_INVALID, "PARTITION BY transform \"" STR_FMT "\" is not supported: identity, bucket(n, c), truncate(n, c), year, month, day and hour are", STR_ARG(text));
    return OK;
}

static bool takes(TransformKind k, const IceType *t)
{
    bool date = t->kind == ICE_DATE, time = t->kind == ICE_TIMESTAMP || t->kind == ICE_TIMESTAMPTZ;

    if (t->fields.n)
        return false;
    switch (k) {
    case TRANSFORM_IDENTITY: return true;
    case TRANSFORM_BUCKET: return t->kind != ICE_BOOLEAN && t->kind != ICE_FLOAT && t->kind != ICE_DOUBLE;
    case TRANSFORM_TRUNCATE: return t->kind == ICE_INT || t->kind == ICE_LONG || t->kind == ICE_DECIMAL || t->kind == ICE_STRING || t->kind == ICE_BINARY;
    case TRANSFORM_HOUR: return time;
    default: return date || time;
    }
}

static Status partition_field(Arena *a, const SinkPartition *p, const IceSchema *schema, IcePartitionField *ret, Error *err)
{
    const IceField *f = ice_field_by_name(schema, p->column);
    IceTransform t = {0};

    if (!f)
        return FAIL(err, E_INVALID, "column referenced in PARTITION BY does not exist: " STR_FMT, STR_ARG(p->column));
    TRY(transform_of(a, p, &t, err));
    if (!takes(t.kind, f->type))
        return FAIL(err, E_INVALID, "PARTITION BY transform \"" STR_FMT "\" cannot be applied to column \"" STR_FMT "\" of its type", STR_ARG(ice_transform_text(a, &t)), STR_ARG(p->column));
    *ret = (IcePartitionField){ .source_id = f->id, .name = partition_name(a, p->column, &t), .transform = t };
    const IceField *clash = ice_field_by_name(schema, ret->name);
    if (clash && (t.kind != TRANSFORM_IDENTITY || clash != f))
        return FAIL(err, E_INVALID, "PARTITION BY field \"" STR_FMT "\" conflicts with schema field \"" STR_FMT "\"", STR_ARG(ret->name), STR_ARG(clash->name));
    return OK;
}

Status sink_spec(Arena *a, const SinkSpec *s, const IceSchema *schema, IceSpec **ret, Error *err)
{
    IceSpec *r = arena_new(a, IceSpec);

    for (size_t i = 0; i < s->partitions.n; i++) {
        IcePartitionField f;
        TRY(partition_field(a, &s->partitions.p[i], schema, &f, err));
        for (size_t k = 0; k < r->fields.n; k++)
            if (str_eq(r->fields.p[k].name, f.name))
                return FAIL(err, E_INVALID, "PARTITION BY names \"" STR_FMT "\" twice", STR_ARG(f.name));
        f.field_id = 1000 + (int32_t)i;
        vec_push(a, &r->fields, f);
    }
    *ret = r;
    return OK;
}

Status sink_order(Arena *a, const SinkSpec *s, const IceSchema *schema, IceSortOrder **ret, Error *err)
{
    IceSortOrder *r = arena_new(a, IceSortOrder);

    for (size_t i = 0; i < s->order.n; i++) {
        const IceField *f = ice_field_by_name(schema, s->order.p[i].column);
        if (!f)
            return FAIL(err, E_INVALID, "column referenced in ORDER BY does not exist: " STR_FMT, STR_ARG(s->order.p[i].column));
        IceSortField sort = { .source_id = f->id, .transform = ice_transform_parse(S("identity")), .descending = s->order.p[i].descending, .nulls_last = !s->order.p[i].nulls_first };
        vec_push(a, &r->fields, sort);
    }
    r->id = r->fields.n ? 1 : 0;
    *ret = r;
    return OK;
}

Status sink_check(Arena *a, const SinkSpec *s, Error *err)
{
    IceSchema *schema = NULL;
    IceSortOrder *order;
    IceSpec *spec;

    TRY(sink_schema(a, s, &schema, err));
    TRY(sink_spec(a, s, schema, &spec, err));
    return sink_order(a, s, schema, &order, err);
}

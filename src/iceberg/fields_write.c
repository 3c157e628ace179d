/* SPDX-License-Identifier: Apache-2.0 */
/* fields_write.c - records and their Avro schema text, from the same tables that drive reading. */
#include "iceberg/fields_int.h"

static const AvroValue NOTHING = { .kind = AVRO_NULL };

static AvroValue list_value(Arena *a, size_t n)
{
    AvroValue v = { .kind = AVRO_ARRAY };
    v.items.n = n;
    v.items.p = arena_array(a, AvroValue, n + 1);
    return v;
}

static AvroValue pair_value(Arena *a, int32_t key, AvroValue value)
{
    AvroValue v = list_value(a, 2);
    v.kind = AVRO_RECORD;
    v.items.p[0] = (AvroValue){ .kind = AVRO_INT, .integer = key };
    v.items.p[1] = value;
    return v;
}

static AvroValue long_value(int64_t n) { return (AvroValue){ .kind = AVRO_LONG, .integer = n }; }

static AvroValue counts_value(Arena *a, const Counts *c)
{
    AvroValue v = list_value(a, c->n);
    for (size_t i = 0; i < c->n; i++)
        v.items.p[i] = pair_value(a, c->p[i].id, long_value(c->p[i].n));
    return c->n ? v : NOTHING;
}

static AvroValue bounds_value(Arena *a, const Bounds *b)
{
    AvroValue v = list_value(a, b->n);
    for (size_t i = 0; i < b->n; i++)
        v.items.p[i] = pair_value(a, b->p[i].id, (AvroValue){ .kind = AVRO_BYTES, .bytes = b->p[i].bytes });
    return b->n ? v : NOTHING;
}

static AvroValue longs_value(Arena *a, const Longs *l)
{
    AvroValue v = list_value(a, l->n);
    for (size_t i = 0; i < l->n; i++)
        v.items.p[i] = long_value(l->p[i]);
    return l->n ? v : NOTHING;
}

static AvroValue ints_value(Arena *a, const Ints *l)
{
    AvroValue v = list_value(a, l->n);
    for (size_t i = 0; i < l->n; i++)
        v.items.p[i] = (AvroValue){ .kind = AVRO_INT, .integer = l->p[i] };
    return l->n ? v : NOTHING;
}

static AvroValue summaries_value(Arena *a, const IceManifest *mf)
{
    AvroValue v = list_value(a, mf->partitions.n);
    for (size_t i = 0; i < mf->partitions.n; i++)
        v.items.p[i] = ice_record_value(a, &SUMMARY_FIELDS, FORMAT_VERSION_MAX, NULL, &mf->partitions.p[i]);
    return v;
}

static AvroValue partition_value(Arena *a, const PartitionShape *shape, const IceFile *file)
{
    AvroValue v = list_value(a, shape->spec->fields.n);
    v.kind = AVRO_RECORD;
    for (size_t i = 0; i < v.items.n; i++)
        v.items.p[i] = i < file->npartition ? ice_avro_value(a, shape->types[i], &file->partition[i]) : NOTHING;
    return v;
}

static AvroValue opt_text(AvroKind kind, Str s)
{
    return s.n ? (AvroValue){ .kind = kind, .bytes = s } : NOTHING;
}

static AvroValue field_value(Arena *a, const FieldDef *f, int version, const PartitionShape *shape, const char *obj)
{
    const void *at = obj + f->offset;
    const OptI64 *opt = at;

    switch (f->kind) {
    case F_I32: return (AvroValue){ .kind = AVRO_INT, .integer = *(const int32_t *)at };
    case F_I64: return long_value(*(const int64_t *)at);
    case F_OPT_I32:
        return ((const OptI32 *)at)->has ? (AvroValue){ .kind = AVRO_INT, .integer = ((const OptI32 *)at)->v } : NOTHING;
    case F_OPT_I64: return opt->has ? long_value(opt->v) : NOTHING;
    case F_REQ_I64: return long_value(opt->has ? opt->v : 0);
    case F_COUNT_I32: return (AvroValue){ .kind = AVRO_INT, .integer = opt->has ? opt->v : 0 };
    case F_TEXT: return (AvroValue){ .kind = AVRO_STRING, .bytes = *(const Str *)at };
    case F_OPT_TEXT: return opt_text(AVRO_STRING, *(const Str *)at);
    case F_OPT_BYTES: return opt_text(AVRO_BYTES, *(const Str *)at);
    case F_HAS_BYTES:
        return *(const int *)(obj + f->has) ? (AvroValue){ .kind = AVRO_BYTES, .bytes = *(const Str *)at } : NOTHING;
    case F_BOOL: return (AvroValue){ .kind = AVRO_BOOL, .boolean = *(const int *)at };
    case F_HAS_BOOL: return *(const int *)(obj + f->has) ? (AvroValue){ .kind = AVRO_BOOL, .boolean = *(const int *)at } : NOTHING;
    case F_COUNTS: return counts_value(a, at);
    case F_BOUNDS: return bounds_value(a, at);
    case F_LONGS: return longs_value(a, at);
    case F_INTS: return ints_value(a, at);
    case F_FILE: return ice_record_value(a, &FILE_FIELDS, version, shape, at);
    case F_PARTITION: return partition_value(a, shape, (const IceFile *)obj);
    case F_SUMMARIES: return summaries_value(a, (const IceManifest *)obj);
    }
    return NOTHING;
}

AvroValue ice_record_value(Arena *a, const FieldTable *t, int version, const PartitionShape *shape, const void *obj)
{
    AvroValue v = list_value(a, t->n);
    size_t n = 0;

    for (const FieldDef *f = t->p; f < t->p + t->n; f++)
        if (f->since <= version)
            v.items.p[n++] = field_value(a, f, version, shape, obj);
    v.kind = AVRO_RECORD;
    v.items.n = n;
    return v;
}

/* ---- schema text ------------------------------------------------------------------------------------------------------- */

static Json *text(Arena *a, const char *s) { return json_str(a, str_c(s)); }

static Json *record_json(Arena *a, Str name)
{
    Json *o = json_object(a);
    json_set(a, o, "type", text(a, "record"));
    json_set(a, o, "name", json_str(a, name));
    json_set(a, o, "fields", json_array(a));
    return o;
}

static void add_field(Arena *a, Json *record, Str name, Json *type, int32_t id)
{
    Json *o = json_object(a);

    json_set(a, o, "name", json_str(a, name));
    json_set(a, o, "type", type);
    if (json_is(type, JSON_ARRAY))
        json_set(a, o, "default", json_null(a));
    json_set(a, o, "field-id", json_int(a, id));
    json_push(a, json_get(record, "fields"), o);
}

static Json *optional(Arena *a, Json *type)
{
    Json *list = json_array(a);
    json_push(a, list, text(a, "null"));
    json_push(a, list, type);
    return list;
}

static Json *array_json(Arena *a, Json *items)
{
    Json *o = json_object(a);
    json_set(a, o, "type", text(a, "array"));
    json_set(a, o, "items", items);
    return o;
}

static Json *map_json(Arena *a, const FieldDef *f, const char *value)
{
    Json *pair = record_json(a, str_fmt(a, "k%d_v%d", (int)f->key_id, (int)f->value_id));
    add_field(a, pair, S("key"), text(a, "int"), f->key_id);
    add_field(a, pair, S("value"), text(a, value), f->value_id);
    Json *o = array_json(a, pair);
    json_set(a, o, "logicalType", text(a, "map"));
    return o;
}

static Json *list_json(Arena *a, const FieldDef *f, Json *items)
{
    Json *o = array_json(a, items);
    json_set(a, o, "element-id", json_int(a, f->key_id));
    return o;
}

static Json *partition_json(Arena *a, const PartitionShape *shape)
{
    Json *o = record_json(a, S("r102"));

    for (size_t i = 0; i < shape->spec->fields.n; i++) {
        const IcePartitionField *f = &shape->spec->fields.p[i];
        Json *type = ice_avro_type(a, shape->types[i], str_fmt(a, "t%d", (int)f->field_id));
        add_field(a, o, ice_avro_name(a, f->name), optional(a, type), f->field_id);
    }
    return o;
}

static Json *field_schema(Arena *a, const FieldDef *f, int version, const PartitionShape *shape)
{
    switch (f->kind) {
    case F_I32:
    case F_COUNT_I32: return text(a, "int");
    case F_I64:
    case F_REQ_I64: return text(a, "long");
    case F_OPT_I32: return optional(a, text(a, "int"));
    case F_OPT_I64: return optional(a, text(a, "long"));
    case F_TEXT: return text(a, "string");
    case F_OPT_TEXT: return optional(a, text(a, "string"));
    case F_OPT_BYTES:
    case F_HAS_BYTES: return optional(a, text(a, "bytes"));
    case F_BOOL: return text(a, "boolean");
    case F_HAS_BOOL: return optional(a, text(a, "boolean"));
    case F_COUNTS: return optional(a, map_json(a, f, "long"));
    case F_BOUNDS: return optional(a, map_json(a, f, "bytes"));
    case F_LONGS: return optional(a, list_json(a, f, text(a, "long")));
    case F_INTS: return optional(a, list_json(a, f, text(a, "int")));
    case F_FILE: return ice_record_schema(a, &FILE_FIELDS, version, shape);
    case F_PARTITION: return partition_json(a, shape);
    case F_SUMMARIES: return optional(a, list_json(a, f, ice_record_schema(a, &SUMMARY_FIELDS, version, NULL)));
    }
    return NULL;
}

Json *ice_record_schema(Arena *a, const FieldTable *t, int version, const PartitionShape *shape)
{
    Json *o = record_json(a, str_c(t->record));

    for (const FieldDef *f = t->p; f < t->p + t->n; f++)
        if (f->since <= version)
            add_field(a, o, str_c(f->name), field_schema(a, f, version, shape), f->id);
    return o;
}

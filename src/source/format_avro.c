/* SPDX-License-Identifier: Apache-2.0 */
/* format_avro.c - Avro messages: the reader's schema is pinned when the source is made, the writer's comes with each message's id.
 *
 * Schemas of writers are fetched once and kept.  An id that the registry does not know is the message's fault; it is asked for again after a while, since a
 * registry may be behind.  Without a registry the messages are bare Avro of the reader's schema. */
#include "source/format_int.h"

typedef struct {
    Registry *registry;                   /* NULL: bare messages */
    const AvroSchema *reader, *row;       /* of the whole message; of what the columns are made from */
    AvroShapes shapes;
    AvroShape *shape;                     /* of `row`; NULL: it is no record, there is one column */
    FormatPart part;
    bool framed;                          /* no registry, but its frame stands before the data */
    int nullable;
    RegistryIds writers;
} Avro;

/* ---- the reader's schema -------------------------------------------------------------------------------------------------------------------- */

static Status read_schema(Format *f, Avro *v, const FormatOptions *o, Error *err)
{
    Str given = json_get_str(o->options, "schema", S("")), schema;
    StrVec references = {0};
    AvroSchema *reader;

    if (o->pinned.n)
        f->pinned = str_dup(f->a, o->pinned);
    else if (given.n)
        f->pinned = registry_pin_text(f->a, given);
    else if (v->registry)
        TRY(registry_pin(v->registry, f->a, o->subject, "AVRO", &f->pinned, err));
    else
        return FAIL(err, E_INVALID, "FORMAT AVRO requires a schema registry or a schema");
    TRY(registry_unpin(f->a, f->pinned, &schema, &references, err));
    TRY(avro_schema_parse_with(f->a, &references, schema, &reader, err));
    v->reader = reader;
    return OK;
}

/* ---- columns -------------------------------------------------------------------------------------------------------------------------------- */

static const AvroField *field_named(const AvroSchema *record, const char *name)
{
    for vec_each(AvroField, f, &record->fields)
        if (str_eq(f->name, str_c(name)))
            return f;
    return NULL;
}

static Status choose_row(Avro *v, Error *err)
{
    v->row = avro_not_null(v->reader);
    if (v->part == FORMAT_WHOLE)
        return v->row ? OK : FAIL(err, E_UNSUPPORTED, "Avro: a union of several types is not supported at the top");
    if (!v->row || v->row->kind != AVRO_RECORD || !field_named(v->row, "before"))
        return FAIL(err, E_INVALID, "'before' column missing: ENVELOPE DEBEZIUM needs the schema of Debezium's envelope");
    const AvroField *after = field_named(v->row, "after");
    if (!after)
        return FAIL(err, E_INVALID, "'after' column missing: ENVELOPE DEBEZIUM needs the schema of Debezium's envelope");
    v->row = avro_not_null(after->type);
    return v->row && v->row->kind == AVRO_RECORD ? OK : FAIL(err, E_INVALID, "'after' column must be of type record");
}

static Status add_columns(Format *f, Avro *v, Error *err)
{
    DataType type;

    v->shapes = (AvroShapes){ .a = f->a, .by_name = map_new(f->a) };
    TRY(choose_row(v, err));
    if (v->row->kind != AVRO_RECORD) {
        TRY(avro_type(&v->shapes, v->reader, &type, &v->nullable, err));
        return format_column(f, S("data"), type, !v->nullable, err);
    }
    TRY(avro_shape(&v->shapes, v->row, &v->shape, err));
    f->composite = 1;
    for (size_t i = 0; i < v->shape->slots.n; i++)
        TRY(format_column(f, v->shape->names.p[i], v->shape->types.p[i], v->shape->not_null.p[i], err));
    return f->columns.n ? OK : FAIL(err, E_INVALID, "Avro: the record has no fields");
}

static Status open_avro(Format *f, const FormatOptions *o, Error *err)
{
    Avro *v = arena_new(f->a, Avro);
    const Json *registry = json_get(o->options, "registry");

    f->state = v;
    v->part = o->part;
    if (registry)
        TRY(registry_open(f->a, registry, &v->registry, err));
    else if (!format_option_bool(o->options, "confluent_wire_format", true, &v->framed))
        return FAIL(err, E_INVALID, "CONFLUENT WIRE FORMAT must be true or false");
    TRY(read_schema(f, v, o, err));
    return add_columns(f, v, err);
}

/* ---- the writer's schema ------------------------------------------------------------------------------------------------------------------------ */

static Status fetch_writer(Format *f, Avro *v, Arena *a, int32_t id, AvroSchema **ret, Error *err)
{
    RegistrySchema s;

    TRY(registry_ids_ask(&v->writers, v->registry, a, id, "AVRO", &s, err));
    Status parsed = avro_schema_parse_with(f->a, &s.references, s.text, ret, err);
    return parsed == OK ? registry_ids_put(&v->writers, f->a, id, *ret, err) : registry_ids_refuse(&v->writers, id, parsed, err);
}

static Status writer_of(Format *f, Avro *v, Arena *a, int32_t id, const AvroSchema **ret, Error *err)
{
    AvroSchema *fresh;

    *ret = registry_ids_find(&v->writers, id);
    if (*ret)
        return OK;
    TRY(fetch_writer(f, v, a, id, &fresh, err));
    *ret = fresh;
    return OK;
}

/* ---- messages --------------------------------------------------------------------------------------------------------------------------------------- */

static Status row_of(Avro *v, AvroConvert *c, const AvroValue *message, const FormatColumns *columns, Value *cells)
{
    if (v->shape)
        return avro_cells(c, message, v->shape, &columns->p[0].type, sizeof *columns->p, cells);
    if (message->kind == AVRO_NULL && v->nullable) {
        cells[0] = value_null(&columns->p[0].type);
        return OK;
    }
    return avro_convert(c, message, v->row, &columns->p[0].type, &cells[0]);
}

static Status after_of(const AvroValue *message, const AvroValue **ret, Error *err)
{
    *ret = avro_field(message, -1, "after");
    if (!*ret)
        return FAIL(err, E_INVALID, "Avro: the message has no field 'after'");
    const AvroValue *op = avro_field(message, -1, "op");
    if (op && op->kind == AVRO_STRING && str_eq(op->bytes, S("t")))
        return FAIL(err, E_UNSUPPORTED, "Debezium says that the table was truncated, which its messages by key cannot carry out");
    return OK;
}

static Status decode_avro(Format *f, Arena *a, Str bytes, Value *cells, int *gone, Error *err)
{
    Avro *v = f->state;
    const AvroSchema *writer = v->reader;
    AvroConvert c = { .a = a, .shapes = &v->shapes, .err = err };
    AvroValue message;
    const AvroValue *row = &message;
    int32_t id;

    if (v->registry || v->framed)
        TRY(registry_frame(bytes, &id, &bytes, err));
    if (v->registry)
        TRY(writer_of(f, v, a, id, &writer, err));
    TRY(avro_value_read(a, writer, bytes, &message, err));
    if (v->part == FORMAT_AFTER)
        TRY(after_of(&message, &row, err));
    if (v->part == FORMAT_AFTER && row->kind == AVRO_NULL) {
        *gone = 1;
        return OK;
    }
    return row_of(v, &c, row, &f->columns, cells);
}

const FormatKind format_avro = { "avro", open_avro, decode_avro };

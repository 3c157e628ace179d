/* SPDX-License-Identifier: Apache-2.0 */
/* format_avro.c - Avro messages: the reader's schema is pinned when the source is made, the writer's comes with each message's id.
 *
 * Schemas of writers are fetched once and kept.  An id that the registry does not know is the message's fault; it is asked for again after a while, since a
 * registry may be behind.  Without a registry the messages are bare Avro of the reader's schema. */
#include "source/format_int.h"

enum { UNKNOWN_IDS = 64, UNKNOWN_MS = 30 * 1000, MAX_WRITERS = 10 * 1000 };

typedef struct { int32_t id; AvroSchema *schema; } Writer;
typedef struct { int32_t id; int64_t until_ms; char why[200]; } Unknown;
typedef struct {
    Registry *registry;                   /* NULL: bare messages */
    const AvroSchema *reader, *row;       /* of the whole message; of what the columns are made from */
    AvroShapes shapes;
    AvroShape *shape;                     /* of `row`; NULL: it is no record, there is one column */
    FormatPart part;
    int nullable;
    VEC(Writer) writers;
    size_t recent;
    Unknown unknown[UNKNOWN_IDS];
    size_t next_unknown;
} Avro;

/* ---- the reader's schema -------------------------------------------------------------------------------------------------------------------- */

static Str pin(Arena *a, Str schema, const StrVec *references)
{
    Json *j = json_object(a), *list = json_array(a);

    for vec_each(Str, r, references)
        json_push(a, list, json_str(a, *r));
    json_set(a, j, "schema", json_str(a, schema));
    json_set(a, j, "references", list);
    return json_text(a, j);
}

static Status unpin(Arena *a, Str pinned, Str *schema, StrVec *references, Error *err)
{
    Json *j, *list;

    TRY_CTX(json_parse(a, pinned, &j, err), err, "the schema that was pinned");
    TRY_CTX(json_need_str(j, "schema", schema, err), err, "the schema that was pinned");
    list = json_get(j, "references");
    for (size_t i = 0; i < json_len(list); i++)
        if (json_is(json_at(list, i), JSON_STRING))
            vec_push(a, references, json_at(list, i)->string);
    return OK;
}

static Status newest(Avro *v, Arena *a, Str subject, Str *schema, StrVec *references, Error *err)
{
    RegistrySchema s;

    TRY(registry_latest(v->registry, a, subject, &s, err));
    if (!str_eq(s.type, S("AVRO")))
        return FAIL(err, E_INVALID, "the schema of subject '" STR_FMT "' is " STR_FMT ", not AVRO", STR_ARG(subject), STR_ARG(str_sub(s.type, 0, 40)));
    *schema = s.text;
    *references = s.references;
    return OK;
}

static Status read_schema(Format *f, Avro *v, const FormatOptions *o, Error *err)
{
    Str schema = json_get_str(o->options, "schema", S(""));
    StrVec references = {0};
    AvroSchema *reader;

    if (o->pinned.n)
        TRY(unpin(f->a, o->pinned, &schema, &references, err));
    else if (!schema.n && v->registry)
        TRY(newest(v, f->a, o->subject, &schema, &references, err));
    else if (!schema.n)
        return FAIL(err, E_INVALID, "FORMAT AVRO requires a schema registry or a schema");
    TRY(avro_schema_parse_with(f->a, &references, schema, &reader, err));
    v->reader = reader;
    f->pinned = o->pinned.n ? str_dup(f->a, o->pinned) : pin(f->a, schema, &references);
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
    TRY(read_schema(f, v, o, err));
    return add_columns(f, v, err);
}

/* ---- the writer's schema ------------------------------------------------------------------------------------------------------------------------ */

static Status known_as_unknown(const Avro *v, int32_t id, Error *err)
{
    for (size_t i = 0; i < UNKNOWN_IDS; i++)
        if (v->unknown[i].why[0] && v->unknown[i].id == id && clock_ms() < v->unknown[i].until_ms)
            return FAIL(err, E_INVALID, "%s", v->unknown[i].why);
    return OK;
}

static Status remember_unknown(Avro *v, int32_t id, Status s, const Error *err)
{
    Unknown *u = &v->unknown[v->next_unknown++ % UNKNOWN_IDS];

    u->id = id;
    u->until_ms = clock_ms() + UNKNOWN_MS;
    memcpy(u->why, err->message, sizeof u->why - 1);
    u->why[sizeof u->why - 1] = 0;
    return s;
}

static Status fetch_writer(Format *f, Avro *v, Arena *a, int32_t id, AvroSchema **ret, Error *err)
{
    RegistrySchema s;

    TRY(registry_by_id(v->registry, a, id, &s, err));
    if (!str_eq(s.type, S("AVRO")))
        return FAIL(err, E_INVALID, "schema %d of the registry is " STR_FMT ", not AVRO", id, STR_ARG(str_sub(s.type, 0, 40)));
    if (v->writers.n >= MAX_WRITERS)
        return FAIL(err, E_LIMIT, "more than %d schemas of writers", MAX_WRITERS);
    return avro_schema_parse_with(f->a, &s.references, s.text, ret, err);
}

static Status writer_of(Format *f, Avro *v, Arena *a, int32_t id, const AvroSchema **ret, Error *err)
{
    Writer w = { .id = id };
    Status s;

    if (v->recent < v->writers.n && v->writers.p[v->recent].id == id) {
        *ret = v->writers.p[v->recent].schema;
        return OK;
    }
    for (size_t i = 0; i < v->writers.n; i++)
        if (v->writers.p[i].id == id) {
            v->recent = i;
            *ret = v->writers.p[i].schema;
            return OK;
        }
    TRY(known_as_unknown(v, id, err));
    s = fetch_writer(f, v, a, id, &w.schema, err);
    if (s != OK)
        return format_is_poison(s) ? remember_unknown(v, id, s, err) : s;
    v->recent = v->writers.n;
    vec_push(f->a, &v->writers, w);
    *ret = w.schema;
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

    if (v->registry) {
        TRY(registry_frame(bytes, &id, &bytes, err));
        TRY(writer_of(f, v, a, id, &writer, err));
    }
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

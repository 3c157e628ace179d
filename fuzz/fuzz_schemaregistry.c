/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_schemaregistry.c - what a schema registry says: 'r' an answer, 'a' an Avro schema, 'p' a .proto text, 'd' a descriptor set; 'o' the places of a Kafka source.
 *
 * A schema that is taken has columns, each with a type that has a name; a failure has a message. */
#include "source/format_proto.h"
#include "source/source_kafka_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(Arena *a, Str text, Error *err)
{
    RegistrySchema s;
    Json *references;
    (void)!registry_answer(a, text, &s, &references, err);
}

static void avro(Arena *a, Str text, Error *err)
{
    Json *o = json_object(a);
    FormatOptions options = { .options = o };
    Format *f;

    json_set(a, o, "format", json_str(a, S("avro")));
    json_set(a, o, "schema", json_str(a, text));
    if (!str_is_utf8(text) || format_open(a, &options, &f, err) != OK)
        return;
    if (!format_columns(f)->n)
        abort();
    for vec_each(SourceColumn, c, format_columns(f))
        if (!c->sql_type.n || !data_type_sql(a, &c->type).n)
            abort();
}

static void proto(Arena *a, Str text, int descriptors, Error *err)
{
    ProtoSchema *s = proto_schema(a);
    Status st = descriptors ? proto_add_descriptors(s, text, err) : proto_add_text(s, text, err);

    if (st == OK)
        st = proto_resolve(s, err);
    for (size_t i = 0; st == OK && i < s->messages.n; i++) {
        const ProtoMessage *m;
        if (proto_message(s, s->messages.entries[i].key, &m, err) != OK || m != s->messages.entries[i].value)
            abort();
        for vec_each(ProtoField, f, &m->fields)
            if ((f->kind == PROTO_MESSAGE && !f->message) || (f->kind == PROTO_ENUM && !f->symbols))
                abort();
    }
    if (st != OK && !err->message[0])
        abort();
}

static void places(Arena *a, Str text, Error *err)
{
    KafkaPlaces p, again;

    StrBuf b = sb_new(a);

    if (kafka_places_read(a, text, 7, &p, err) != OK)
        return;
    kafka_places_write(&b, 7, &p);
    if (kafka_places_read(a, kafka_places_end(&b, NULL), 7, &again, err) != OK || again.n != p.n)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err = {0};

    if (size < 1 || size > 65536)
        return 0;
    Str text = str_n((const char *)data + 1, size - 1);
    if (data[0] == 'r')
        answer(a, text, &err);
    else if (data[0] == 'a')
        avro(a, text, &err);
    else if (data[0] == 'p' || data[0] == 'd')
        proto(a, text, data[0] == 'd', &err);
    else if (data[0] == 'o')
        places(a, text, &err);
    return 0;
}

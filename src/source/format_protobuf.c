/* SPDX-License-Identifier: Apache-2.0 */
/* format_protobuf.c - Protobuf messages: the columns are the fields of one message, by a descriptor set or by the registry's schema of the subject.
 *
 * With a registry a message names its schema and, by indexes, its type in it.  Fields are known by number, so the pinned type reads what later schemas write; a
 * message of an unknown schema or of another type is the message's fault. */
#include "source/format_proto.h"

enum { MAX_INDEXES = 64, MAX_TYPES = 20 * 1000 };

typedef struct {
    Registry *registry;                   /* NULL: bare messages */
    const ProtoMessage *message;
    RegistryIds writers;
} Protobuf;

/* ---- types of fields -------------------------------------------------------------------------------------------------------------------- */

typedef struct { Format *f; size_t types; int depth; Error *err; } Typing;

static Status type_of_field(Typing *y, const ProtoField *f, DataType *ret);

static Status message_type(Typing *y, const ProtoMessage *m, DataType *ret)
{
    Arena *a = y->f->a;

    if (++y->depth > FORMAT_MAX_DEPTH)
        return FAIL(y->err, E_UNSUPPORTED, "Recursive types are not supported: '" STR_FMT "'", STR_ARG(m->name));
    if (!m->fields.n)
        return FAIL(y->err, E_UNSUPPORTED, "Protobuf: message '" STR_FMT "' has no fields", STR_ARG(m->name));
    *ret = (DataType){ .kind = DT_STRUCT, .nchildren = m->fields.n, .children = arena_array(a, DataType, m->fields.n), .names = arena_array(a, Str, m->fields.n) };
    for (size_t i = 0; i < m->fields.n; i++) {
        ret->names[i] = m->fields.p[i].name;
        TRY(type_of_field(y, &m->fields.p[i], &ret->children[i]));
    }
    y->depth--;
    return OK;
}

static Status single_type(Typing *y, const ProtoField *f, DataType *ret)
{
    static const DataTypeKind scalars[] = {
        [PROTO_DOUBLE] = DT_DOUBLE, [PROTO_FLOAT] = DT_FLOAT, [PROTO_INT64] = DT_INT64, [PROTO_UINT64] = DT_UINT64, [PROTO_INT32] = DT_INT32, [PROTO_FIXED64] = DT_UINT64,
        [PROTO_FIXED32] = DT_UINT32, [PROTO_BOOL] = DT_BOOL, [PROTO_STRING] = DT_STRING, [PROTO_BYTES] = DT_BINARY, [PROTO_UINT32] = DT_UINT32, [PROTO_ENUM] = DT_STRING,
        [PROTO_SFIXED32] = DT_INT32, [PROTO_SFIXED64] = DT_INT64, [PROTO_SINT32] = DT_INT32, [PROTO_SINT64] = DT_INT64,
    };
    if (f->kind == PROTO_MESSAGE)
        return message_type(y, f->message, ret);
    *ret = type_of(scalars[f->kind]);
    return OK;
}

static Status type_of_field(Typing *y, const ProtoField *f, DataType *ret)
{
    DataType key, value;

    if (++y->types > MAX_TYPES)
        return FAIL(y->err, E_LIMIT, "Protobuf: the message has more than %d types, or holds itself", MAX_TYPES);
    if (f->message && f->message->is_map) {
        TRY(single_type(y, &f->message->fields.p[0], &key));
        TRY(type_of_field(y, &f->message->fields.p[1], &value));
        *ret = type_map(y->f->a, key, value);
        return OK;
    }
    TRY(single_type(y, f, ret));
    if (f->repeated)
        *ret = type_list(y->f->a, *ret);
    return OK;
}

static Status add_columns(Format *f, const ProtoMessage *m, Error *err)
{
    Typing y = { .f = f, .err = err };

    for vec_each(ProtoField, field, &m->fields) {
        DataType t;
        TRY_CTX(type_of_field(&y, field, &t), err, "field '" STR_FMT "'", STR_ARG(str_sub(field->name, 0, 100)));
        TRY(format_column(f, field->name, t, !field->presence, err));
    }
    f->composite = 1;
    return m->fields.n ? OK : FAIL(err, E_INVALID, "Protobuf: message '" STR_FMT "' has no fields", STR_ARG(m->name));
}

/* ---- the reader's type ---------------------------------------------------------------------------------------------------------------------- */

static Status open_descriptors(Format *f, Protobuf *v, const Json *options, Error *err)
{
    Str hex = json_get_str(options, "schema", S("")), message = json_get_str(options, "message", S("")), bytes;
    ProtoSchema *s = proto_schema(f->a);

    if (!message.n || !hex.n)
        return FAIL(err, E_INVALID, "FORMAT PROTOBUF requires MESSAGE … USING SCHEMA, or a schema registry");
    if (str_starts(hex, S("\\x")))
        hex = str_from(hex, 2);
    if (!hex_decode(f->a, hex, &bytes))
        return FAIL(err, E_INVALID, "Protobuf: the schema is no text of hexadecimal digits");
    TRY_CTX(proto_add_descriptors(s, bytes, err), err, "the file descriptor set");
    TRY(proto_resolve(s, err));
    return proto_message(s, message, &v->message, err);
}

static Status parse_text(Arena *a, const StrVec *references, Str text, ProtoSchema **ret, Error *err)
{
    ProtoSchema *s = proto_schema(a);

    for vec_each(Str, r, references)
        TRY(proto_add_text(s, *r, err));
    TRY(proto_add_text(s, text, err));
    TRY(proto_resolve(s, err));
    *ret = s;
    return OK;
}

static Status open_registry(Format *f, Protobuf *v, const FormatOptions *o, Error *err)
{
    Str message = json_get_str(o->options, "message", S("")), text;
    StrVec references = {0};
    ProtoSchema *s;

    f->pinned = str_dup(f->a, o->pinned);
    if (!o->pinned.n)
        TRY(registry_pin(v->registry, f->a, o->subject, "PROTOBUF", &f->pinned, err));
    TRY(registry_unpin(f->a, f->pinned, &text, &references, err));
    TRY(parse_text(f->a, &references, text, &s, err));
    if (message.n)
        return proto_message(s, message, &v->message, err);
    if (!s->top.n)
        return FAIL(err, E_INVALID, "the schema of subject '" STR_FMT "' has no message", STR_ARG(o->subject));
    v->message = s->top.p[0];
    return OK;
}

static Status open_protobuf(Format *f, const FormatOptions *o, Error *err)
{
    Protobuf *v = arena_new(f->a, Protobuf);
    const Json *registry = json_get(o->options, "registry");

    f->state = v;
    if (registry) {
        TRY(registry_open(f->a, registry, &v->registry, err));
        TRY(open_registry(f, v, o, err));
    } else {
        TRY(open_descriptors(f, v, o->options, err));
    }
    return add_columns(f, v->message, err);
}

/* ---- the writer's type --------------------------------------------------------------------------------------------------------------------------- */

static Status writer_of(Format *f, Protobuf *v, Arena *a, int32_t id, const ProtoSchema **ret, Error *err)
{
    RegistrySchema s;
    ProtoSchema *fresh;

    *ret = registry_ids_find(&v->writers, id);
    if (*ret)
        return OK;
    TRY(registry_ids_ask(&v->writers, v->registry, a, id, "PROTOBUF", &s, err));
    Status parsed = parse_text(f->a, &s.references, s.text, &fresh, err);
    if (parsed != OK)
        return registry_ids_refuse(&v->writers, id, parsed, err);
    *ret = fresh;
    return registry_ids_put(&v->writers, f->a, id, fresh, err);
}

static int64_t zigzag(uint64_t v) { return (int64_t)(v >> 1 ^ (0 - (v & 1))); }

/* A count and as many indexes, from the file's messages inwards; a count of 0 stands for the first one. */
static Status message_index(const ProtoSchema *s, ProtoWire *w, const ProtoMessage **ret, Error *err)
{
    int64_t count = zigzag(proto_varint(w));
    const ProtoMessage *m = NULL;

    if (count < 0 || count > MAX_INDEXES)
        return FAIL(err, E_CORRUPT, "Protobuf: %lld message indexes", (long long)count);
    for (int64_t i = 0; i < max_i64(count, 1); i++) {
        int64_t at = count ? zigzag(proto_varint(w)) : 0;
        size_t n = m ? m->nested.n : s->top.n;
        if (at < 0 || (uint64_t)at >= n)
            return FAIL(err, E_INVALID, "Protobuf: message index %lld of %zu", (long long)at, n);
        m = m ? m->nested.p[at] : s->top.p[at];
    }
    *ret = m;
    return w->status;
}

static Status unframe(Format *f, Protobuf *v, Arena *a, Str *bytes, Error *err)
{
    const ProtoSchema *writer;
    const ProtoMessage *m;
    int32_t id;

    TRY(registry_frame(*bytes, &id, bytes, err));
    TRY(writer_of(f, v, a, id, &writer, err));
    ProtoWire w = proto_wire(*bytes, err);
    TRY(message_index(writer, &w, &m, err));
    if (!str_eq(m->name, v->message->name))
        return FAIL(err, E_INVALID, "Protobuf: a message of type '" STR_FMT "', the source is of '" STR_FMT "'", STR_ARG(m->name), STR_ARG(v->message->name));
    *bytes = str_n((const char *)w.p, (size_t)(w.end - w.p));
    return OK;
}

static Status decode_protobuf(Format *f, Arena *a, Str bytes, Value *cells, int *gone UNUSED, Error *err)
{
    Protobuf *v = f->state;
    ProtoDecode d = { .a = a, .err = err };

    if (v->registry)
        TRY(unframe(f, v, a, &bytes, err));
    return proto_cells(&d, v->message, bytes, &f->columns.p[0].type, sizeof *f->columns.p, cells);
}

const FormatKind format_protobuf = { "protobuf", open_protobuf, decode_protobuf };

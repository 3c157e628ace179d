/* SPDX-License-Identifier: Apache-2.0 */
/* format_proto_descriptor.c - a FileDescriptorSet, as protoc writes it with --include_imports, to types (google/protobuf/descriptor.proto). */
#include "source/format_proto.h"

enum { MAX_NESTING = 64 };

typedef struct { ProtoSchema *s; int proto3, depth; Error *err; } File;

/* FieldDescriptorProto: name 1, number 3, label 4, type 5, type_name 6, oneof_index 9, proto3_optional 17. */
static Status field(File *f, ProtoMessage *m, Str bytes)
{
    ProtoWire w = proto_wire(bytes, f->err);
    ProtoField r = {0};
    ProtoTag t;
    int label = 1, optional = 0;

    while (proto_next(&w, &t)) {
        switch (t.number) {
        case 1: r.name = t.bytes; break;
        case 3: r.number = (int32_t)t.value; break;
        case 4: label = (int)t.value; break;
        case 5: r.kind = (int)t.value; break;
        case 6: r.type_name = t.bytes; break;
        case 9: r.oneof = (int32_t)min_i64((int64_t)(t.value & INT32_MAX), PROTO_MAX_FIELDS) + 1; break;
        case 17: optional = t.value != 0; break;
        default: break;
        }
    }
    TRY(w.status);
    if (r.kind < PROTO_DOUBLE || r.kind > PROTO_SINT64 || label < 1 || label > 3 || !str_is_utf8(r.name))
        return FAIL(f->err, E_CORRUPT, "Protobuf: a field descriptor of message '" STR_FMT "' is none", STR_ARG(m->name));
    r.repeated = label == 3;
    r.required = label == 2;
    r.presence = !r.repeated && !r.required && (!f->proto3 || r.oneof || optional);
    return proto_push_field(f->s, m, r, f->err);
}

static Status symbol(File *f, ProtoEnum *e, Str bytes)
{
    ProtoWire w = proto_wire(bytes, f->err);
    ProtoSymbol y = {0};
    ProtoTag t;

    while (proto_next(&w, &t)) {
        if (t.number == 1)
            y.name = t.bytes;
        else if (t.number == 2)
            y.number = (int32_t)t.value;
    }
    TRY(w.status);
    return str_is_utf8(y.name) ? proto_push_symbol(f->s, e, y, f->err) : FAIL(f->err, E_CORRUPT, "Protobuf: an enum's value is not UTF-8");
}

/* Of a descriptor whose field 1 is its name. */
static Status name_of(File *f, Str scope, Str bytes, Str *ret)
{
    ProtoWire w = proto_wire(bytes, f->err);
    ProtoTag t;
    Str name = S("");

    while (proto_next(&w, &t))
        if (t.number == 1 && t.wire == 2)
            name = t.bytes;
    TRY(w.status);
    if (!name.n || !str_is_utf8(name) || str_chr(name, '.') >= 0)
        return FAIL(f->err, E_CORRUPT, "Protobuf: a descriptor without a name");
    *ret = proto_join(f->s->a, scope, name);
    return OK;
}

static Status enumeration(File *f, Str scope, Str bytes)
{
    ProtoWire w = proto_wire(bytes, f->err);
    ProtoEnum *e;
    ProtoTag t;
    Str name;

    TRY(name_of(f, scope, bytes, &name));
    TRY(proto_new_enum(f->s, name, &e, f->err));
    while (proto_next(&w, &t))
        if (t.number == 2)
            TRY(symbol(f, e, t.bytes));
    return w.status;
}

/* MessageOptions: map_entry 7. */
static Status message_options(File *f, ProtoMessage *m, Str bytes)
{
    ProtoWire w = proto_wire(bytes, f->err);
    ProtoTag t;

    while (proto_next(&w, &t))
        if (t.number == 7)
            m->is_map = t.value != 0;
    return w.status;
}

static Status message(File *f, Str scope, Str bytes, ProtoMessage **ret);

/* DescriptorProto: name 1, field 2, nested_type 3, enum_type 4, options 7. */
static Status message_part(File *f, ProtoMessage *m, const ProtoTag *t)
{
    ProtoMessage *nested;

    switch (t->number) {
    case 2: return field(f, m, t->bytes);
    case 3:
        TRY(message(f, m->name, t->bytes, &nested));
        if (!nested->is_map)
            vec_push(f->s->a, &m->nested, nested);
        return OK;
    case 4: return enumeration(f, m->name, t->bytes);
    case 7: return message_options(f, m, t->bytes);
    default: return OK;
    }
}

static Status message(File *f, Str scope, Str bytes, ProtoMessage **ret)
{
    ProtoWire w = proto_wire(bytes, f->err);
    ProtoTag t;
    Str name;

    if (++f->depth > MAX_NESTING)
        return FAIL(f->err, E_LIMIT, "Protobuf: message types nested deeper than %d", MAX_NESTING);
    TRY(name_of(f, scope, bytes, &name));
    TRY(proto_new_message(f->s, name, ret, f->err));
    while (proto_next(&w, &t))
        TRY(message_part(f, *ret, &t));
    f->depth--;
    return w.status;
}

/* FileDescriptorProto: package 2, message_type 4, enum_type 5, syntax 12. */
static Status file_head(File *f, Str bytes, Str *package)
{
    ProtoWire w = proto_wire(bytes, f->err);
    ProtoTag t;

    while (proto_next(&w, &t)) {
        if (t.number == 2)
            *package = t.bytes;
        else if (t.number == 12)
            f->proto3 = str_eq(t.bytes, S("proto3"));
    }
    return w.status;
}

static Status file(ProtoSchema *s, Str bytes, Error *err)
{
    File f = { .s = s, .err = err };
    ProtoWire w = proto_wire(bytes, err);
    Str package = S("");
    ProtoMessage *m;
    ProtoTag t;

    TRY(file_head(&f, bytes, &package));
    s->top.n = 0;
    while (proto_next(&w, &t)) {
        if (t.number == 4) {
            TRY(message(&f, package, t.bytes, &m));
            vec_push(s->a, &s->top, m);
        } else if (t.number == 5) {
            TRY(enumeration(&f, package, t.bytes));
        }
    }
    return w.status;
}

Status proto_add_descriptors(ProtoSchema *s, Str set, Error *err)
{
    Str bytes = str_dup(s->a, str_sub(set, 0, PROTO_MAX_BYTES));
    ProtoWire w = proto_wire(bytes, err);
    ProtoTag t;

    if (set.n > PROTO_MAX_BYTES)
        return FAIL(err, E_LIMIT, "Protobuf: a schema of %zu bytes, the limit is %d", set.n, PROTO_MAX_BYTES);
    while (proto_next(&w, &t))
        if (t.number == 1)
            TRY(file(s, t.bytes, err));
    return w.status;
}

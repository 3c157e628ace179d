/* SPDX-License-Identifier: Apache-2.0 */
/* format_proto.h - Protobuf's types as far as messages need them, from a FileDescriptorSet or from .proto text. */
#ifndef FIRN_SOURCE_FORMAT_PROTO_H
#define FIRN_SOURCE_FORMAT_PROTO_H

#include "source/format_int.h"

enum {
    PROTO_MAX_TYPES  = 20 * 1000,         /* messages and enums of a schema */
    PROTO_MAX_FIELDS = 10 * 1000,         /* of one message or enum */
    PROTO_MAX_BYTES  = 8 * 1024 * 1024,   /* a schema */
};

/* As descriptor.proto numbers them. */
typedef enum {
    PROTO_DOUBLE = 1, PROTO_FLOAT, PROTO_INT64, PROTO_UINT64, PROTO_INT32, PROTO_FIXED64, PROTO_FIXED32, PROTO_BOOL, PROTO_STRING, PROTO_GROUP, PROTO_MESSAGE,
    PROTO_BYTES, PROTO_UINT32, PROTO_ENUM, PROTO_SFIXED32, PROTO_SFIXED64, PROTO_SINT32, PROTO_SINT64
} ProtoKind;

typedef struct ProtoMessage ProtoMessage;
typedef struct ProtoSymbol { Str name; int32_t number; } ProtoSymbol;
typedef struct ProtoEnum { Str name; VEC(ProtoSymbol) symbols; } ProtoEnum;
typedef struct ProtoField {
    Str name, type_name;                  /* type_name: of a message or an enum; ".pkg.M" is whole, "M" is looked up from the inside out */
    int32_t number;
    int kind;                             /* ProtoKind; 0: a message or an enum, not known which before it is resolved */
    int repeated, required, presence;     /* presence: an absent one is null, not the type's zero */
    int32_t oneof;                        /* 1 and up; 0: none */
    const ProtoMessage *message;
    const ProtoEnum *symbols;
} ProtoField;
struct ProtoMessage {
    Str name;                             /* "pkg.Outer.Inner" */
    int is_map;                           /* the entry of a map field: key, value */
    VEC(ProtoField) fields;
    VEC(ProtoMessage *) nested;           /* in the order of the schema, as message indexes count; entries of maps are none */
};
typedef struct ProtoSchema {
    Arena *a;
    Map messages, enums;                  /* by whole name */
    VEC(ProtoMessage *) top;              /* of the file that was read last */
} ProtoSchema;

ProtoSchema *proto_schema(Arena *a);
/* Each adds to the schema; proto_resolve comes last. E_CORRUPT, E_SYNTAX, E_LIMIT, E_UNSUPPORTED. */
NODISCARD Status proto_add_descriptors(ProtoSchema *s, Str file_descriptor_set, Error *err);
NODISCARD Status proto_add_text(ProtoSchema *s, Str text, Error *err);
NODISCARD Status proto_resolve(ProtoSchema *s, Error *err);
/* With or without a dot in front; a last part alone is taken when only one message has it. E_NOT_FOUND. */
NODISCARD Status proto_message(const ProtoSchema *s, Str name, const ProtoMessage **ret, Error *err);
NODISCARD Status proto_new_message(ProtoSchema *s, Str name, ProtoMessage **ret, Error *err);        /* for the readers; E_INVALID: it is there already */
NODISCARD Status proto_new_enum(ProtoSchema *s, Str name, ProtoEnum **ret, Error *err);
NODISCARD Status proto_push_field(ProtoSchema *s, ProtoMessage *m, ProtoField f, Error *err);
NODISCARD Status proto_push_symbol(ProtoSchema *s, ProtoEnum *e, ProtoSymbol y, Error *err);
Str proto_join(Arena *a, Str scope, Str name);

/* ---- the wire (format_proto_wire.c) ----------------------------------------------------------------------------------------------------- */

typedef struct ProtoWire { const unsigned char *p, *start, *end; Status status; Error *err; } ProtoWire;      /* sticky */
typedef struct ProtoTag { int32_t number; int wire; uint64_t value; Str bytes; } ProtoTag;       /* wire 0, 1, 5: value; 2: bytes; groups are passed over */
ProtoWire proto_wire(Str bytes, Error *err);
bool proto_next(ProtoWire *w, ProtoTag *ret);         /* false: the end, or w->status */
uint64_t proto_varint(ProtoWire *w);

/* Cells in the order of the message's fields. */
typedef struct ProtoDecode { Arena *a; size_t items; int depth; Error *err; } ProtoDecode;
NODISCARD Status proto_cells(ProtoDecode *d, const ProtoMessage *m, Str bytes, const DataType *types, size_t stride, Value *ret);

#endif

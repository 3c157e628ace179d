/* SPDX-License-Identifier: Apache-2.0 */
/* format_int.h - what the files of the formats share. */
#ifndef FIRN_SOURCE_FORMAT_INT_H
#define FIRN_SOURCE_FORMAT_INT_H

#include "source/format.h"

typedef struct FormatKind {
    const char *name;
    Status (*open)(Format *f, const FormatOptions *o, Error *err);       /* fills columns, pinned, state */
    Status (*decode)(Format *f, Arena *a, Str bytes, Value *cells, int *gone, Error *err);
} FormatKind;

struct Format {
    const FormatKind *kind;
    Arena *a;                     /* as long as the format */
    FormatColumns columns;
    Str pinned;
    int composite;
    void *state;
};

extern const FormatKind format_csv, format_avro, format_protobuf;

/* A column, named and typed as PostgreSQL does. */
NODISCARD Status format_column(Format *f, Str name, DataType type, int not_null, Error *err);
/* Text as the database holds it: UTF-8 and no NUL. */
NODISCARD Status format_text_value(Str s, const DataType *t, Value *ret, Error *err);
/* A type's name as Materialize has it: PostgreSQL's, and "integer list", "map[text=>integer]", "record(a: integer)". */
Str format_type_name(Arena *a, const DataType *t);

/* The registry's frame: a zero byte, the schema's id in four bytes, the data. */
NODISCARD Status registry_frame(Str bytes, int32_t *id, Str *data, Error *err);

/* What writers' ids stand for, each asked for once. Ids that are the message's fault are remembered for a while only: a registry may be behind. */
typedef struct RegistryKnown { int32_t id; const void *schema; } RegistryKnown;
typedef struct RegistryUnknown { int32_t id; int64_t until_ms; char why[200]; } RegistryUnknown;
typedef struct RegistryIds { VEC(RegistryKnown) known; size_t recent, next_unknown; RegistryUnknown unknown[64]; } RegistryIds;
const void *registry_ids_find(RegistryIds *ids, int32_t id);
/* E_INVALID while the id is known to be unknown; else the schema, which must be of `type`. */
NODISCARD Status registry_ids_ask(RegistryIds *ids, Registry *r, Arena *a, int32_t id, const char *type, RegistrySchema *ret, Error *err);
NODISCARD Status registry_ids_put(RegistryIds *ids, Arena *keep, int32_t id, const void *schema, Error *err);
/* Remembers an id whose schema cannot be used, when that is the message's fault; returns s. */
Status registry_ids_refuse(RegistryIds *ids, int32_t id, Status s, const Error *err);

/* The newest schema of a subject as a text to keep, and back. */
NODISCARD Status registry_pin(Registry *r, Arena *a, Str subject, const char *type, Str *ret, Error *err);
Str registry_pin_text(Arena *a, Str schema);
NODISCARD Status registry_unpin(Arena *a, Str pinned, Str *schema, StrVec *references, Error *err);

/* ---- Avro (format_avro*.c) --------------------------------------------------------------------------------------------------------------- */

/* A record's columns: which field each comes from, and of which branch when its union has several. */
typedef struct AvroSlot { size_t field; const AvroSchema *type; int split; size_t branch; } AvroSlot;
typedef struct AvroShape {
    const AvroSchema *record;     /* the reader's */
    AvroValue *fallbacks;         /* by field; meaningful where the field has a default */
    VEC(AvroSlot) slots;
    StrVec names;
    VEC(DataType) types;
    VEC(int) not_null;
    size_t weight;                /* types below it, each time that one is used */
} AvroShape;
typedef struct AvroShapes { Arena *a; Map by_name; size_t types; int depth; } AvroShapes;

NODISCARD Status avro_shape(AvroShapes *s, const AvroSchema *record, AvroShape **ret, Error *err);
NODISCARD Status avro_type(AvroShapes *s, const AvroSchema *t, DataType *ret, int *nullable, Error *err);
const AvroSchema *avro_not_null(const AvroSchema *t);          /* the one branch of a union that is not null; NULL: there are several, or none */
NODISCARD Status avro_default(Arena *a, const AvroSchema *t, const Json *j, AvroValue *ret, Error *err);

typedef struct AvroConvert { Arena *a; const AvroShapes *shapes; size_t items; int depth; Error *err; } AvroConvert;
NODISCARD Status avro_cells(AvroConvert *c, const AvroValue *record, const AvroShape *shape, const DataType *types, size_t stride, Value *ret);
NODISCARD Status avro_convert(AvroConvert *c, const AvroValue *v, const AvroSchema *reader, const DataType *t, Value *ret);

static inline Value value_null(const DataType *t) { return (Value){ .kind = DT_NULL, .type = t }; }
static inline Value value_int(const DataType *t, int64_t v) { return (Value){ .kind = t->kind, .type = t, .integer = v }; }
static inline DataType type_of(DataTypeKind kind) { return (DataType){ .kind = kind }; }
static inline DataType type_decimal(int precision, int scale) { return (DataType){ .kind = DT_DECIMAL, .precision = precision, .scale = scale }; }
static inline DataType type_list(Arena *a, DataType element)
{
    DataType t = { .kind = DT_LIST, .nchildren = 1, .children = arena_new(a, DataType) };
    t.children[0] = element;
    return t;
}

static inline DataType type_map(Arena *a, DataType key, DataType value)
{
    DataType t = { .kind = DT_MAP, .nchildren = 2, .children = arena_array(a, DataType, 2) };
    t.children[0] = key;
    t.children[1] = value;
    return t;
}

#endif

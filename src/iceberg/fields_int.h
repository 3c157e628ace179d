/* SPDX-License-Identifier: Apache-2.0 */
/* fields_int.h - Avro records of the format as tables: one line a field drives reading, writing and the schema text. */
#ifndef FIRN_ICEBERG_FIELDS_INT_H
#define FIRN_ICEBERG_FIELDS_INT_H

#include "iceberg/iceberg_int.h"

typedef enum {
    F_I32, F_I64, F_OPT_I32, F_OPT_I64,          /* int32_t or an enum; int64_t; OptI32; OptI64 */
    F_REQ_I64, F_COUNT_I32,                      /* OptI64 in memory, written as 0 when absent: a long; an int */
    F_TEXT, F_OPT_TEXT, F_OPT_BYTES,             /* Str; absent is empty */
    F_BOOL, F_HAS_BOOL, F_HAS_BYTES,             /* int; int or Str with an int at `has` */
    F_COUNTS, F_BOUNDS,                          /* maps by column id: int to long, int to bytes */
    F_LONGS, F_INTS,                             /* lists */
    F_FILE, F_PARTITION, F_SUMMARIES             /* IceFile; the partition tuple of an IceFile; IceSummary list */
} FieldKind;

typedef struct FieldDef {
    int32_t id;
    const char *name;
    FieldKind kind;
    size_t offset, has;
    int since;                                   /* first format version that writes it */
    int32_t key_id, value_id;                    /* of a map; key_id also of a list's element */
} FieldDef;

typedef struct FieldTable { const FieldDef *p; size_t n; const char *record; } FieldTable;
extern const FieldTable ENTRY_FIELDS, FILE_FIELDS, MANIFEST_FIELDS, SUMMARY_FIELDS;

typedef VEC(IceCount) Counts;
typedef VEC(IceBound) Bounds;
typedef VEC(int64_t) Longs;
typedef VEC(int32_t) Ints;

/* What one spec's partition tuple is made of. `types` has one for each field; NULL: the source column is unknown. */
typedef struct PartitionShape { const IceSpec *spec; IceType **types; } PartitionShape;

/* obj is the struct that the table describes. Missing optional fields keep what obj has. E_CORRUPT: wrong kinds, no path. */
NODISCARD Status ice_record_read(Arena *a, const FieldTable *t, const PartitionShape *shape, const AvroValue *v, void *obj, Error *err);
AvroValue ice_record_value(Arena *a, const FieldTable *t, int version, const PartitionShape *shape, const void *obj);
Json *ice_record_schema(Arena *a, const FieldTable *t, int version, const PartitionShape *shape);

Json *ice_avro_type(Arena *a, const IceType *t, Str name);
AvroValue ice_avro_value(Arena *a, const IceType *t, const IceValue *v);
NODISCARD Status ice_avro_read_value(Arena *a, const IceType *t, const AvroValue *v, IceValue *ret, Error *err);
Str ice_avro_name(Arena *a, Str name);           /* only letters, digits and _ */

#endif
